"""Brackets, bars and angles: (x), |x|, <a, b>; and fractions."""

from __future__ import annotations

from dataclasses import replace

from headwright.formula.reading.matrices import Matrices
from headwright.formula.reading.numerals import value
from headwright.formula.reading.scanner import Word
from headwright.formula.tree import Inner, Node, Norm, Number, Quotient, Span


class Brackets(Matrices):
    """What has an opening and a closing side."""

    def bracket(self) -> Node:
        """( ), [ ], { }, a matrix, or \\left| \\right|."""
        opener = self.at
        word = self.next
        if word.text == "matrix":
            return self.matrix()
        if word.text == "<":
            return self.angle()
        if word.text == "[" and self.is_rows():
            return self.rows()
        self.take()
        if self.pairs[opener] == self.at:
            self.fail("nothing stands inside the bracket", word.span.to(self.next.span), "fill it, or remove it")
        self.bars.append("")
        node = self.expression() if word.text in ("|", "||") else self.inside()
        self.bars.pop()
        self.close(opener)
        if word.text in ("|", "||"):
            self.no_aside()
            return self.new(Norm(node, span=self.since(word.span.start)))
        return replace(node, span=self.since(word.span.start))

    def norm(self) -> Node:
        """|x|, ||x||."""
        opener = self.take()
        self.bars.append(opener.text)
        node = self.expression()
        self.no_aside()
        self.bars.pop()
        if opener.text == "|" and self.shown(self.next) == "||":  # |a||b|: the first half closes
            middle = self.next.span.start + 1
            self.found[self.at] = Word("bar", "|", Span(middle, middle + 1))
            return self.new(Norm(node, span=Span(opener.span.start, middle)))
        if (self.next.kind, self.next.text) != ("bar", opener.text):
            fix = "close it with the same bar; a condition in a probability is written with 'given'"
            self.fail(f"the bar {self.shown(opener)} is never closed", opener.span, fix)
        self.take()
        return self.new(Norm(node, span=self.since(opener.span.start)))

    def angle(self) -> Node:
        """<a, b>, however the angles are written."""
        opener = self.take()
        place = self.at - 1
        self.bars.append("")
        left = self.expression()
        if not self.sees(","):
            self.fail(
                "an inner product has two sides with a comma between them", opener.span, "write \\langle a, b \\rangle"
            )
        self.take()
        right = self.expression()
        self.no_aside()
        self.bars.pop()
        if opener.kind == "open":
            self.close(place)
        else:
            self.close_angle(opener)
        return self.new(Inner(left, right, span=self.since(opener.span.start)))

    def close_angle(self, opener: Word) -> None:
        """A > that closes <; it may be glued to a following = or >."""
        word = self.next
        if word.kind != "relation" or word.text not in (">", ">=", ">>") or self.shown(word)[0] != ">":
            self.fail("the bracket < is never closed", opener.span, "add > where the inner product ends")
        if word.text != ">":
            middle = word.span.start + 1
            self.found[self.at] = Word("relation", "=" if word.text == ">=" else ">", Span(middle, word.span.stop))
        else:
            self.take()

    # -- fractions

    def fraction(self) -> Node:
        r"""\frac{a}{b}, \frac12."""
        word = self.take()
        over = self.argument(word, "a numerator and a denominator")
        under = self.argument(word, "a denominator after its numerator")
        return self.new(Quotient(over, under, span=self.since(word.span.start)))

    def argument(self, command: Word, what: str) -> Node:
        """An argument of a TeX command: in braces, or a single sign."""
        word = self.next
        if word.kind == "number" and len(word.text) > 1:
            if not word.text.isdigit():
                self.fail(
                    "a number without braces after \\frac can be read in two ways", word.span, "write \\frac{a}{b}"
                )
            middle = word.span.start + 1
            self.found[self.at] = Word("number", word.text[1:], Span(middle, word.span.stop))
            return self.new(Number(value(word.text[0]), span=Span(word.span.start, middle)))
        if word.kind not in ("number", "name", "function", "command", "open"):
            shown = self.shown(command)
            self.fail(f"{shown} needs {what}", command.span, f"write {shown}{{a}}{{b}}")
        if word.kind == "open":  # a bracket counts itself
            return self.primary()
        self.deeper()
        node = self.primary()
        self.shallower()
        return node
