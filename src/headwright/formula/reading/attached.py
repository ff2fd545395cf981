"""What is attached to a base: an index, primes, exponents, a transpose."""

from __future__ import annotations

import re

from headwright.formula.bounds import MOST_PRIMES
from headwright.formula.reading.atoms import Atoms
from headwright.formula.reading.scanner import Word
from headwright.formula.reading.spellings import FUNCTIONS
from headwright.formula.tree import Call, Listing, Name, Negative, Node, Norm, Number, Power, Product, Transpose

Raise = tuple[str, Node | None]  # ("top", None), ("prime", None) or ("power", exponent)


class Attached(Atoms):
    """k_a^\\top, x_{i,j}', e^{-t}."""

    def attached(self, base: Node, first: Word, *, raised: bool = True) -> Node:
        """The base with what follows it: _a, ^2, ', .T, in any order that TeX or Python allow."""
        index: Node | None = None
        raises: list[Raise] = []
        caret = False
        while True:
            word = self.next
            if self.sees("_"):
                index = self.indexed(base, first, index)
            elif raised and self.sees("^", "**"):
                if caret:
                    self.fail("a second exponent", word.span, "write braces: x^{a^b} or (x^a)^b")
                caret = True
                raises.extend(self.exponent(base, index))
            elif word.kind == "prime" and (raised or isinstance(base, Name)):
                self.take()
                raises.extend([("prime", None)] * len(word.text))
            elif raised and word.kind == "transposed":
                self.take()
                raises.append(("top", None))
            else:
                break
        return self.raised(base, index, raises, first.span.start)

    def indexed(self, base: Node, first: Word, index: Node | None) -> Node:
        """Read _a after a base that can have it."""
        mark = self.next
        if index is not None or (isinstance(base, Name) and base.index is not None):
            self.fail("a second index on the same name", mark.span, "write both in one pair of braces: x_{i,j}")
        braced = first.kind == "open" and first.text == "{"
        if isinstance(base, Number):
            fix = "write \\mathbf{1}_n for the vector of ones" if base.value == 1 else "remove the index"
            self.fail("a number has an index", mark.span, fix)
        if not isinstance(base, Norm) and not (isinstance(base, Name) and (first.kind == "name" or braced)):
            self.fail("only a name or a norm can carry an index", mark.span, "give the expression a name of its own")
        self.take()
        return self.index()

    def raised(self, base: Node, index: Node | None, raises: list[Raise], start: int) -> Node:
        """Put a base and what follows it together."""
        if isinstance(base, Norm):
            base = self.normed(base, index)
        elif isinstance(base, Name):
            primes = 0
            while primes < len(raises) and raises[primes][0] == "prime":
                primes += 1
            raises = raises[primes:]
            if primes > MOST_PRIMES:
                self.fail(
                    f"a name has {primes} primes, and at most {MOST_PRIMES} are read", self.since(start), "use an index"
                )
            if index is not None or primes:
                index = base.index if index is None else index
                base = Name(base.base, index, base.primes + primes, span=self.since(start))
        for kind, exponent in raises:
            if exponent is None:
                base = self.new(Transpose(base, span=self.since(start)))
            elif kind == "power" and base == Name("e"):
                base = self.new(Call("exp", (exponent,), span=self.since(start)))
            else:
                base = self.new(Power(base, exponent, span=self.since(start)))
        return base

    def exponent(self, base: Node, index: Node | None) -> list[Raise]:
        """Read what comes after ^ or **: an exponent, a transpose, or primes."""
        mark = self.take()
        start = self.at
        word = self.next
        inside = self.found[start + 1 : self.pairs[start]] if word.kind == "open" and word.text == "{" else [word]
        if inside and all(part.kind == "prime" for part in inside):
            self.at = self.pairs.get(start, start) + 1
            return [("prime", None)] * sum(len(part.text) for part in inside)
        if len(inside) == 1 and inside[0].kind in ("name", "top") and inside[0].text in ("T", "top"):
            follows = self.found[self.pairs.get(start, start) + 1]
            if mark.text == "^" and not (inside[0].kind == "name" and follows.kind == "sign" and follows.text == "**"):
                if inside[0].kind == "name" and base == Name("e") and index is None:
                    fix = "write \\exp(T) for the exponential, or e^\\top for the transpose"
                    self.fail(
                        "e^T can mean the exponential of T or the transpose of e", mark.span.to(inside[0].span), fix
                    )
                self.at = self.pairs.get(start, start) + 1
                return [("top", None)]
        return [("power", self.upper(base, index))]

    def upper(self, base: Node, index: Node | None) -> Node:
        """An exponent: in brackets, or one word, with the exponents upon it."""
        start = self.next
        if self.sees("+", "-"):
            self.take()
            self.deeper()
            node = self.upper(base, index)
            self.shallower()
            return self.new(Negative(node, span=start.span.to(node.span))) if start.text == "-" else node
        node = self.primary()
        if self.sees("_") and isinstance(node, Name) and node.index is None and start.kind == "name":
            if isinstance(base, Name) and index is None and base != Name("e"):
                fix = f"write braces: {base.base}^{{{node.base}_i}} or {base.base}_i^{node.base}"
                self.fail("an index after an exponent can belong to either", self.next.span, fix)
            node = self.attached(node, start, raised=False)
        if self.sees("^", "**"):
            self.deeper()
            raises = self.exponent(node, None)
            self.shallower()
            node = self.raised(node, None, raises, start.span.start)
        return node

    def index(self) -> Node:
        """Read what comes after _."""
        word = self.next
        if word.kind == "open" and word.text == "{":
            return self.braced_index()
        if word.kind == "name":
            self.take()
            return self.new(Name(word.text, span=word.span))
        if word.kind == "function" and self.label(word):
            self.take()
            return self.new(Name(self.label(word), span=word.span))
        if word.kind in ("number", "open"):
            return self.primary()
        return self.fail(
            f"{self.shown(word)} came after _, where an index was expected",
            self.last.span.to(word.span),
            "write the index in braces: x_{i}",
        )

    def label(self, word: Word) -> str:
        """The word of a function where it is only a label, as in k_max; nothing where it is not a word."""
        text = re.sub(r"^\\[A-Za-z]+\*?\s*\{\s*|\s*\}$|^\\", "", self.shown(word))  # without a \\text{ } around it
        return text if text in FUNCTIONS else ""

    def braced_index(self) -> Node:
        """_{i}, _{k-1}, _{i,j}, _{ij}, _{max}."""
        opener = self.at
        closer = self.pairs[opener]
        start = self.take().span.start
        if closer == opener + 2 and self.next.kind == "function" and self.label(self.next):
            word = self.take()
            self.take()
            return self.new(Name(self.label(word), span=word.span))
        self.bars.append("")
        items: list[Node] = []
        while True:
            node = self.expression()
            if isinstance(node, Product) and all(
                isinstance(part, Name) and part.index is None for part in node.factors
            ):
                items.extend(node.factors)
            else:
                items.append(node)
            if not self.sees(","):
                break
            self.take()
        self.bars.pop()
        self.close(opener)
        return items[0] if len(items) == 1 else self.new(Listing(tuple(items), span=self.since(start)))

    def normed(self, base: Norm, index: Node | None) -> Norm:
        """A norm with its kind."""
        if index is None:
            return base
        if isinstance(index, Number) and index.value == 2:
            return Norm(base.body, "2", span=base.span)
        if isinstance(index, Name) and index.base in ("F", "op", "Fro", "fro") and index.index is None:
            return Norm(base.body, "2" if index.base == "op" else "F", span=base.span)
        return self.fail("only the norms 2 and F are read", index.span, "write \\|x\\|_2 or \\|A\\|_F")
