r"""What is said and claims nothing of the answer: facts that hold in every exercise, and steps that are announced.

'relu works on each entry' is so whatever was answered, and 'subtract $PX$ from both sides' only says where the next
formula comes from, which is judged itself. Both are passed over. Facts are patterns in lexicon.toml, in which `<name>`
stands for a phrase of a table of the grammar, and `<name>?` for one that may be missing.
"""

from __future__ import annotations

import re

from headwright.check.reading.given import Given
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.things import UnfitError, sides

_PART = re.compile(r"<(?P<table>[^>]+)>(?P<maybe>\??)|\$(?P<term>[^$]+)\$|(?P<word>\S+)")


class Facts(Given):
    """Hears what is so in every exercise, and what is only announced."""

    def is_fact(self) -> bool:
        """'relu is applied entry by entry', 'exponentials are positive', '$\\pi$ is irrational'."""
        back = self.at
        for fact in lexicon().facts:
            if self._fits(fact) and self.ends():
                return True
            self.at = back
        return False

    def _fits(self, fact: str) -> bool:
        for part in _PART.finditer(fact):
            if part["table"]:
                found = bool(self.take_from(part["table"])) or bool(part["maybe"])
            elif part["term"]:
                found = self.kind() == "term" and self.text().strip() == part["term"] and self.passed()
            else:
                found = bool(self.take(part["word"]))
            if not found:
                return False
        return True

    def is_step(self) -> bool:
        """'subtract $PX$ from both sides', 'divide by $k$', 'plug in the svd': what follows from it is a formula."""
        back = self.at
        for step in (self._on_both_sides, self._scaling, self._inserting):
            try:
                self.take_from("who")
                step()
                self.need(self.ends() or self.word() in ("gives", "yields", "we"))
            except UnfitError:
                self.at = back
            else:
                return True
        return False

    def _on_both_sides(self) -> None:
        """'add $x$ to both sides' is a step; 'add $x$' alone may be another answer."""
        self.need(self.take("subtract", "subtracting", "add", "adding"))
        self.next("term")
        self.need(self.take("from both sides", "to both sides", "on both sides"))

    def _scaling(self) -> None:
        """'divide by $k$', of a relation that was stated; of the object that is asked for, it would be another one."""
        self.need(self.take("divide", "dividing", "multiply", "multiplying"))
        if not self.take("both sides", "everything", "the inequality", "the equation"):
            stated = [*self.before, *(one.text for one in self.out if one.kind == "formula")][-1:]
            self.need(stated and self.objects.asked not in (sides(stated[0])[0], sides(stated[0])[0].lstrip("\\")))
        self.need(self.take("by", "with"))
        self.next("term")
        self.take("from the left", "from the right", "on both sides")

    def _inserting(self) -> None:
        self.need(self.take_from("inserting"))
        self.need(self.take_from("inserted"))
