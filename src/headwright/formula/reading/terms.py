"""Sums, products, powers and what they are made of: the part of the grammar without statements.

Written by hand, by recursive descent: carets, implicit products and bars are easier to get right so. Nothing goes
deeper than the bound on nesting, and no word is read twice.
"""

from __future__ import annotations

from headwright.formula.reading.attached import Attached
from headwright.formula.reading.scanner import Word
from headwright.formula.tree import (
    Inner,
    Logic,
    Negative,
    Node,
    Number,
    Product,
    Quantified,
    Quotient,
    Relation,
    Sum,
)

STATEMENTS = (Relation, Logic, Quantified)


class Terms(Attached):
    """Sums down to powers."""

    aside: Node | None = None  # a statement in brackets after a term: x = 1 (i != j)

    def expression(self) -> Node:
        """A sum of terms."""
        self.deeper()
        start = self.next.span.start
        terms: list[Node] = []
        while True:
            sign = self.take() if self.sees("+", "-") else None
            node = self.term()
            if sign is not None and sign.text == "-":
                node = self.new(Negative(node, span=sign.span.to(node.span)))
            terms.append(node)
            if self.aside is not None or not self.sees("+", "-"):
                break
        self.shallower()
        return terms[0] if len(terms) == 1 else self.new(Sum(tuple(terms), span=self.since(start)))

    def term(self) -> Node:
        """Products and quotients from left to right; a dot joins what is on its two sides."""
        start = self.next.span.start
        dotted: Node | None = None
        factors = [self.factor()]
        while True:
            if self.sees("*"):
                self.take()
                factors.append(self.factor())
            elif self.sees("/"):
                over = self.product(factors)
                self.take()
                under = self.factor()
                factors = [self.new(Quotient(over, under, span=over.span.to(under.span)))]
            elif self.sees("."):
                self.take()
                dotted = self.dot(dotted, self.product(factors), start)
                factors = [self.factor()]
            elif self.starts():
                if not self.beside(factors):
                    break
            else:
                break
        return self.dot(dotted, self.product(factors), start)

    def beside(self, factors: list[Node]) -> bool:
        """Read a factor that is written next to the others; False where it turns out to be a statement in brackets."""
        word = self.next
        first = self.at
        self.refuse_entry(word)
        node = self.factor()
        if isinstance(node, STATEMENTS) and word.kind == "open":
            self.aside = node
            return False
        before = self.found[first - 1]
        if before.kind == "number" and isinstance(factors[-1], Number):
            if word.kind == "number":
                fix = "write * between them, or remove the space"
                self.fail("two numbers stand side by side", before.span.to(word.span), fix)
            if word.text == "frac" and isinstance(node, Quotient) and _literal(node.over) and _literal(node.under):
                fix = "write + or \\cdot between them"
                self.fail("a number before a fraction can mean a sum or a product", before.span.to(node.span), fix)
        factors.append(node)
        return True

    def refuse_entry(self, word: Word) -> None:
        """Refuse k[1], which Python reads as an index."""
        if (word.kind, word.text, word.spaced, self.last.kind) != ("open", "[", False, "name"):
            return
        inside = self.found[self.at + 1]
        if self.pairs[self.at] == self.at + 2 and inside.kind in ("number", "name"):
            name, index = self.shown(self.last), self.shown(inside)
            fix = f"write {name}_{{{index}}} for the index, or {name} ({index}) for the product"
            self.fail("a single entry in [ ] can mean an index or a product", self.last.span.to(word.span), fix)

    def product(self, factors: list[Node]) -> Node:
        """The factors as one node."""
        if len(factors) == 1:
            return factors[0]
        return self.new(Product(tuple(factors), span=factors[0].span.to(factors[-1].span)))

    def dot(self, left: Node | None, right: Node, start: int) -> Node:
        """The inner product with what is left of the dot, if there is one."""
        return right if left is None else self.new(Inner(left, right, span=self.since(start)))

    def starts(self) -> bool:
        """Whether the next word begins a factor."""
        word = self.next
        if word.kind == "bar":
            return not self.bars or self.bars[-1] not in (word.text, self.shown(word)[:1])
        if word.kind == "relation":
            return word.text == "<" and self.is_angle()
        if word.kind == "dots":
            self.missing()
        return word.kind in ("number", "name", "function", "open") or (word.kind == "command" and word.text != "lim")

    def is_angle(self) -> bool:
        """Whether < after an operand opens <a, b>: tight inside, with a comma, and nothing glued to its end."""
        place = self.at + 1
        if self.found[place].spaced:
            return False
        comma = False
        while True:
            word = self.found[place]
            if word.kind == "relation":
                after = self.found[place + 1]
                glued = not after.spaced and after.kind in ("number", "name", "function", "open", "command")
                return comma and word.text in (">", ">=", ">>") and not word.spaced and not glued
            if word.kind in ("end", "line", "logic", "condition", "close", "quad"):
                return False
            comma = comma or (word.kind == "sign" and word.text == ",")
            place = self.pairs.get(place, place) + 1

    def factor(self) -> Node:
        """A number, name, bracket or call, with its index, primes and exponents."""
        if self.sees("+", "-"):
            sign = self.take()
            self.deeper()
            node = self.factor()
            self.shallower()
            return self.new(Negative(node, span=sign.span.to(node.span))) if sign.text == "-" else node
        first = self.next
        base = self.primary()
        if not (self.sees("_", "^", "**") or self.next.kind in ("prime", "transposed")):
            return base
        return self.attached(base, first)


def _literal(node: Node) -> bool:
    return isinstance(node, Number)
