"""Statements: relations, lists, 'and', 'implies', and what a statement is said for.

The words of a statement are first read into one flat list of parts, then put together from the loosest join to the
tightest: lines, implications, 'or', conditions, 'and' and commas, relations. Nothing here calls itself.
"""

from __future__ import annotations

from typing import Final

from headwright.formula.reading.assemble import Part, assembled
from headwright.formula.reading.terms import STATEMENTS, Terms
from headwright.formula.tree import Node

_TAGS: Final = {",": "comma", ";": "semi", ":": "colon"}


class Statements(Terms):
    """All of the grammar."""

    parts_read: list[Part] | None = None

    def inside(self) -> Node:
        """A statement, a list or an expression, up to where the bracket or the source ends."""
        parts: list[Part] = []
        if self.parts_read is None:
            self.parts_read = parts  # of the outermost level: told in an error as what was understood
        while True:
            self.operand(parts)
            if not self.joined(parts):
                return self.new(assembled(parts, self.fail))

    def operand(self, parts: list[Part]) -> None:
        """Read up to and with the next term."""
        while True:
            word = self.next
            if word.kind in ("condition", "logic") and word.text not in ("and", "or", "implies", "iff"):
                self.take()
                parts.append(Part("not" if word.kind == "logic" else "condition", word.span, word.text))
            elif word.kind == "command" and word.text == "lim":
                self.take()
                parts.append(self.limit(word.span.start))
            else:
                break
        quad = bool(parts) and parts[-1].tag == "quad"
        node = self.expression()
        if quad and isinstance(node, STATEMENTS):
            parts[-1] = Part("aside", node.span, node=node)
        else:
            parts.append(Part("term", node.span, node=node))
        if self.aside is not None:
            parts.append(Part("aside", self.aside.span, node=self.aside))
            self.aside = None

    def limit(self, start: int) -> Part:
        r"""\lim_{x \to a}."""
        if not self.sees("_"):
            self.fail("a limit needs what tends to what", self.last.span, "write \\lim_{x \\to a} y = z")
        self.take()
        ranges = self.ranges()
        if len(ranges) != 1 or getattr(ranges[0], "comparisons", None) != ("->",):
            self.fail("a limit needs what tends to what", ranges[0].span, "write \\lim_{x \\to a} y = z")
        return Part("limit", self.since(start), node=ranges[0])

    def joined(self, parts: list[Part]) -> bool:
        """Read what joins the next term to this one; False where the statement ends."""
        continued = False
        if self.next.kind == "line" and not self.bars:
            follows = self.found[self.at + 1]
            line = self.take()
            if follows.kind == "relation":
                continued = True
            elif follows.kind not in ("logic", "condition", "then") or follows.text == "not":
                parts.append(Part("line", line.span))
                return True
        word = self.next
        if word.kind == "relation":
            parts.append(Part("continued" if continued else "relation", word.span, word.text))
        elif word.kind == "logic" and word.text == "not":
            parts.append(Part("relation", word.span, "!="))
        elif word.kind == "logic":
            parts.append(Part(word.text, word.span))
        elif word.kind == "sign" and word.text in _TAGS:
            self.take()
            follows = self.next
            if word.text in ",;" and follows.kind in ("logic", "condition", "close", "then", "end"):
                if follows.kind in ("close", "end") or (follows.kind == "condition" and word.text == ","):
                    return self.next.kind not in ("close", "end") and self.conditioned(parts)
                if follows.kind in ("logic", "then") and follows.text != "not":
                    return self.joined(parts)
            parts.append(Part(_TAGS[word.text], word.span))
            return True
        elif word.kind == "condition":
            return self.conditioned(parts)
        elif word.kind in ("then", "quad"):
            parts.append(Part(word.kind, word.span))
        else:
            return False
        self.take()
        return True

    def conditioned(self, parts: list[Part]) -> bool:
        """Read 'for', 'when', ..."""
        word = self.take()
        parts.append(Part("condition", word.span, word.text))
        return True

    def whole(self) -> Node:
        """The whole source."""
        if self.next.kind == "end":
            self.fail("the formula is empty", self.next.span, "write a formula, such as q = \\lambda(k_a + k_b)")
        node = self.inside()
        if self.next.kind != "end":
            self.unexpected()
        return node

    def terms_read(self) -> list[Part]:
        """The parts of the outermost level that were read so far."""
        return self.parts_read or []
