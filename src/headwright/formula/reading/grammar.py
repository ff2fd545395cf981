"""What the parts of the grammar know of one another, and what all of them need."""

from __future__ import annotations

from abc import abstractmethod

from headwright.formula.reading.reader import Reader
from headwright.formula.reading.scanner import Word
from headwright.formula.tree import Node, Norm


class Grammar(Reader):
    """The rules by name; the classes below say what they are."""

    aside: Node | None = None

    @abstractmethod
    def inside(self) -> Node:
        """All that is inside a bracket: an expression, a list, a statement."""

    @abstractmethod
    def expression(self) -> Node:
        """A sum of terms."""

    @abstractmethod
    def term(self) -> Node:
        """A product."""

    @abstractmethod
    def factor(self) -> Node:
        """A factor with its exponents."""

    @abstractmethod
    def index(self) -> Node:
        """What comes after _."""

    @abstractmethod
    def upper(self, base: Node, index: Node | None) -> Node:
        """What comes after ^."""

    @abstractmethod
    def attached(self, base: Node, first: Word, *, raised: bool = True) -> Node:
        """The base with its index."""

    @abstractmethod
    def normed(self, base: Norm, index: Node | None) -> Norm:
        """A norm with its kind."""

    @abstractmethod
    def starts(self) -> bool:
        """Whether the next word begins a factor."""

    @abstractmethod
    def primary(self) -> Node:
        """What stands at the beginning of a factor."""

    @abstractmethod
    def bracket(self) -> Node:
        """A bracket with what is inside."""

    def close(self, opener: int) -> None:
        """The bracket that was opened there ends here."""
        if self.at != self.pairs[opener]:
            self.unexpected()
        self.take()

    def unexpected(self) -> None:
        """A word that cannot come after what was read."""
        word = self.next
        if word.kind in ("dots", "top"):
            self.missing()
        if word.kind == "bar":
            self.fail(
                f"{self.shown(word)} closes nothing here", word.span, "write \\left| and \\right| to show the pairs"
            )
        if word.kind == "relation":
            self.fail(f"{self.shown(word)} cannot stand here", word.span, "put the statement in brackets of its own")
        self.fail(f"{self.shown(word)} was not expected here", word.span, "write an operation between the two parts")

    def no_aside(self) -> None:
        """A statement in brackets is no factor."""
        if self.aside is not None:
            self.fail(
                "a statement in brackets stands where a factor was expected", self.aside.span, "move it to the end"
            )
