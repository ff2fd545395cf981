"""The words under a finger that moves on, and what is attached to a term: indices, primes and exponents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import NoReturn, TypeVar

from headwright.formula import tree as t
from headwright.formula.errors import DEEPEST, MOST_PRIMES, FormulaError
from headwright.formula.lexer import Word, partners
from headwright.formula.spellings import FUNCTIONS, NAMES
from headwright.formula.statements import Part

Read = TypeVar("Read")
# ("top", None), ("prime", None), ("star", None), ("index", node), ("power", exponent)
Raise = tuple[str, t.Node | None]


class Scripts:
    """Words, and indices and exponents; what cannot be read is an error that points at the place."""

    def __init__(self, found: list[Word], source: str) -> None:
        """Begin at the first word."""
        self.found = found
        self.source = source
        self.pairs = partners(found, source)
        self.at = 0
        self.depth = 0
        self.bars: list[str] = []  # the bars that are open; "" for a bracket, inside which they cannot close
        self.aside: t.Node | None = None  # a statement in brackets after a term: x = 1 (i != j)
        self.at_arrow: t.Node | None = None  # what stands over the arrow before the next term
        self.parts_read: list[Part] | None = None  # of the outermost level: told in an error as what was understood

    # The words

    @property
    def next(self) -> Word:
        """The word under the finger."""
        return self.found[self.at]

    @property
    def last(self) -> Word:
        """The word before it."""
        return self.found[self.at - 1] if self.at else Word("start", "", t.Span(0, 0))

    def take(self) -> Word:
        """The word under the finger, which moves on."""
        word = self.found[self.at]
        self.at += word.kind != "end"
        return word

    def sees(self, *signs: str) -> bool:
        """Whether one of these signs comes next."""
        word = self.found[self.at]
        return word.kind == "sign" and word.text in signs

    def takes(self, *signs: str) -> bool:
        """Whether one of these signs comes next; then the finger moves on."""
        found = self.sees(*signs)
        self.at += found
        return found

    def cut(self, kind: str, rest: str) -> t.Span:
        """Take the first character of the next word; the rest becomes a word of its own."""
        start, stop = self.next.span.start, self.next.span.stop
        self.found[self.at] = Word(kind, rest, t.Span(start + 1, stop))
        return t.Span(start, start + 1)

    def since(self, start: int) -> t.Span:
        """From a place of the source to the end of the last word."""
        return t.Span(start, max(start, self.last.span.stop))

    def shown(self, word: Word) -> str:
        """A word as it was written."""
        return self.source[word.span.start : word.span.stop] or "the end of the formula"

    # Levels

    def below(self, read: Callable[[], Read]) -> Read:
        """What is read one level down."""
        self.depth += 1
        if self.depth > DEEPEST + 1:
            message = f"the formula is nested more than {DEEPEST} deep"
            self.fail(message, self.next.span, "give a part of it a name of its own")
        found = read()
        self.depth -= 1
        return found

    @contextmanager
    def enclosed(self) -> Iterator[None]:
        """What is read between the bracket that comes next and its partner."""
        self.take()
        self.bars.append("")
        yield
        self.bars.pop()
        if self.next.kind != "close":
            self.unexpected()
        self.take()

    # What is wrong

    def fail(self, message: str, span: t.Span, fix: str = "") -> NoReturn:
        """Say what is wrong, and where."""
        raise FormulaError(message, self.source, span, fix=fix)

    def no_aside(self) -> None:
        """A statement in brackets is no factor."""
        if self.aside is not None:
            message = "a statement in brackets stands where a factor was expected"
            self.fail(message, self.aside.span, "move it to the end")

    def unexpected(self) -> NoReturn:
        """A word that cannot come after what was read."""
        word, shown = self.next, self.shown(self.next)
        if word.kind in ("dots", "top"):
            self.missing()
        if word.kind == "bar":
            self.fail(f"{shown} closes nothing here", word.span, "write \\left| and \\right| to show the pairs")
        if word.kind == "relation":
            self.fail(f"{shown} cannot stand here", word.span, "put the statement in brackets of its own")
        self.fail(f"{shown} was not expected here", word.span, "write an operation between the two parts")

    def missing(self) -> NoReturn:
        """A number or a name was expected, and something else came."""
        word, last = self.next, self.last
        shown = self.shown(word)
        if word.kind == "dots":
            self.fail("dots leave open what is meant", word.span, "write the sum with \\sum, or list every term")
        if word.kind == "much":
            self.fail(f"{shown} needs a name beside it", word.span, "write t \\gg n, or t \\to \\infty")
        if word.kind == "top":
            self.fail(f"{shown} stands only in an exponent, as in K^\\top", word.span, "write ^ before it")
        if self.sees("_", "^", "**"):
            before = "an index" if word.text == "_" else "an exponent"
            self.fail(f"{before} needs something to stand on", word.span, "write a name before it")
        fix = "add what is missing, or remove what comes before it"
        if last.is_sign("+-*/."):
            fix = "add what comes after the sign, or remove the sign"
        elif last.kind in ("relation", "function"):
            fix = "add the other side" if last.kind == "relation" else "add the argument in brackets"
        begins, ends = last.kind == "start", word.kind == "end"
        after = "" if begins else f" after {self.shown(last)}"
        came = f"the formula ends{after}" if ends else f"{shown} came{after}"
        place = last.span if ends and not begins else word.span
        self.fail(f"{came}, where a number, a name or a bracket was expected", place, fix)

    # Indices, primes and exponents

    def attached(self, base: t.Node, first: Word, *, raised: bool = True) -> t.Node:
        """The base with what follows it: _a, ^2, ', .T, in any order that TeX or Python allow."""
        index: t.Node | None = None
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
            elif word.kind == "prime" and (raised or isinstance(base, t.Name)):
                raises.extend([("prime", None)] * len(self.take().text))
            elif raised and word.kind == "transposed":
                self.take()
                raises.append(("top", None))
            else:
                return self.raised(base, index, raises, first.span.start)

    def indexed(self, base: t.Node, first: Word, index: t.Node | None) -> t.Node:
        """Read _a after a base that can have it."""
        mark = self.next.span
        if index is not None or (isinstance(base, t.Name) and base.index is not None):
            self.fail("a second index on the same name", mark, "write both in one pair of braces: x_{i,j}")
        self.refuse_part(base)
        if isinstance(base, t.Number):
            fix = "write \\mathbf{1}_n for the vector of ones" if base.value == 1 else "remove the index"
            self.fail("a number has an index", mark, fix)
        named = isinstance(base, t.Name) and (first.kind == "name" or (first.kind, first.text) == ("open", "{"))
        if not named and not isinstance(base, t.Norm):
            self.fail("only a name or a norm can carry an index", mark, "give the expression a name of its own")
        self.take()
        return self.index()

    def refuse_part(self, base: t.Node) -> None:
        """Refuse R_+, which holds 0 for some and not for others."""
        if isinstance(base, t.Domain):
            self.fail("a part of the numbers is not read", self.next.span, "write x > 0, or x \\ge 0")

    def raised(self, base: t.Node, index: t.Node | None, raises: list[Raise], start: int) -> t.Node:
        """Put a base and what follows it together."""
        span = self.since(start)
        if isinstance(base, t.Norm):
            base = self.normed(base, index)
        elif isinstance(base, t.Name):
            primes = next((place for place, part in enumerate(raises) if part[0] != "prime"), len(raises))
            if primes > MOST_PRIMES:
                self.fail(f"a name has {primes} primes, and at most {MOST_PRIMES} are read", span, "use an index")
            upper = [node for kind, node in raises[primes:] if kind == "index" and node is not None]
            stars = sum(kind == "star" for kind, _ in raises)
            raises = [part for part in raises[primes:] if part[0] not in ("index", "star")]
            if index is not None or primes or upper or stars:
                index = base.index if index is None else index
                if upper:  # q^{(1)} is q_1, and alpha_a^{(1)} is alpha_{1,a}
                    items = (*upper, *(index.items if isinstance(index, t.Listing) else [index] if index else ()))
                    index = items[0] if len(items) == 1 else t.Listing(items, span=span)
                base = t.Name(base.base + "star" * stars, index, base.primes + primes, span=span)
        for kind, exponent in raises:
            if exponent is None:
                base = t.Transpose(base, span=span)
            elif kind == "power" and base == t.Name("e"):
                base = t.Call("exp", (exponent,), span=span)
            else:
                base = t.Power(base, exponent, span=span)
        return base

    def exponent(self, base: t.Node, index: t.Node | None) -> list[Raise]:
        """Read what comes after ^ or **: an exponent, a transpose, or primes."""
        mark, start, word = self.take(), self.at, self.next
        after = self.pairs.get(start, start) + 1
        inside = self.found[start + 1 : after - 1] if (word.kind, word.text) == ("open", "{") else [word]
        one = inside[0] if len(inside) == 1 else word
        if len(inside) == 1 and one.is_sign("+-"):
            self.refuse_part(base)
        found: list[Raise] = []
        if isinstance(base, t.Name) and base != t.Name("e"):
            found = self.upper_index(inside)
        if not found and inside and all(part.kind == "prime" for part in inside):
            found = [("prime", None)] * sum(len(part.text) for part in inside)
        if not found and len(inside) == 1 and one.kind in ("name", "top") and one.text in ("T", "top"):
            follows = self.found[after]
            if mark.text == "^" and not (one.kind == "name" and follows.text == "**"):
                if one.kind == "name" and base == t.Name("e") and index is None:
                    message = "e^T can mean the exponential of T or the transpose of e"
                    fix = "write \\exp(T) for the exponential, or e^\\top for the transpose"
                    self.fail(message, mark.span.to(one.span), fix)
                found = [("top", None)]
        if not found:
            return [("power", self.upper(base, index))]
        self.at = after
        return found

    def upper_index(self, inside: list[Word]) -> list[Raise]:
        r"""What q^{(1)}, q^{(1)\top}, Z^{\text{perm}} and q^* carry; nothing for an exponent."""
        found: list[Raise] = []
        if len(inside) > 3 and (inside[-1].kind, inside[-1].text) in (("top", "top"), ("name", "T")):
            found, inside = [("top", None)], inside[:-1]
        match [(word.kind, word.text) for word in inside]:
            case [("open", "("), ("number", text), ("close", "(")]:
                return [("index", t.Number(Fraction(text), span=inside[1].span)), *found]
            case [("open", "("), ("name", text), ("close", "(")] if text != "T":
                return [("index", t.Name(text, span=inside[1].span)), *found]
            case [("name", text)] if len(text) > 1 and self.shown(inside[0]).startswith("\\") and _is_word(text):
                return [("index", t.Name(text, span=inside[0].span))]
            case [("sign" | "star", "*")]:
                return [("star", None)]
        return []

    def upper(self, base: t.Node, index: t.Node | None) -> t.Node:
        """An exponent: in brackets, or one word, with the exponents upon it."""
        start = self.next
        if self.takes("+", "-"):
            return signed(start, self.below(lambda: self.upper(base, index)))
        node = self.primary()
        if self.sees("_") and isinstance(node, t.Name) and node.index is None and start.kind == "name":
            if isinstance(base, t.Name) and index is None and base != t.Name("e"):
                fix = f"write braces: {base.base}^{{{node.base}_i}} or {base.base}_i^{node.base}"
                self.fail("an index after an exponent can belong to either", self.next.span, fix)
            node = self.attached(node, start, raised=False)
        if self.sees("^", "**"):
            raises = self.below(lambda: self.exponent(node, None))
            node = self.raised(node, None, raises, start.span.start)
        return node

    def index(self) -> t.Node:
        """Read what comes after _: i, 1, max, or in braces."""
        word = self.next
        label = self.label(word)
        if (word.kind, word.text) == ("open", "{"):
            return self.braced_index()
        if word.kind == "name" or label:
            self.take()
            return t.Name(label or word.text, span=word.span)
        if word.kind in ("number", "open"):
            return self.primary()
        message = f"{self.shown(word)} came after _, where an index was expected"
        return self.fail(message, self.last.span.to(word.span), "write the index in braces: x_{i}")

    def label(self, word: Word) -> str:
        """The word of a function where it is only a label, as in k_max; nothing where it is not a word."""
        text = re.sub(r"^\\[A-Za-z]+\*?\s*\{\s*|\s*\}$|^\\", "", self.shown(word))  # without a \\text{ } around it
        return text if word.kind == "function" and text in FUNCTIONS else ""

    def braced_index(self) -> t.Node:
        """_{i}, _{k-1}, _{i,j}, _{ij}, _{max}."""
        start = self.next.span.start
        word = self.found[self.at + 1]
        if self.pairs[self.at] == self.at + 2 and (label := self.label(word)):
            self.at += 3
            return t.Name(label, span=word.span)
        items: list[t.Node] = []
        for node in self.listed():
            letters = isinstance(node, t.Product) and all(t.is_letter(part) for part in node.factors)
            items.extend(node.factors if isinstance(node, t.Product) and letters else [node])
        return items[0] if len(items) == 1 else t.Listing(tuple(items), span=self.since(start))

    def normed(self, base: t.Norm, index: t.Node | None) -> t.Norm:
        """A norm with its kind."""
        match index:
            case None:
                return base
            case t.Number(2) | t.Name("op", None):
                return t.Norm(base.body, "2", span=base.span)
            case t.Name("F" | "Fro" | "fro", None):
                return t.Norm(base.body, "F", span=base.span)
        return self.fail("only the norms 2 and F are read", index.span, "write \\|x\\|_2 or \\|A\\|_F")

    # What terms are

    def primary(self) -> t.Node:
        """A term without what is attached to it."""
        raise NotImplementedError

    def listed(self) -> list[t.Node]:
        """Terms with commas between them."""
        raise NotImplementedError


def _is_word(text: str) -> bool:
    """perm, new: no Greek letter, and none with an accent."""
    return text.isalpha() and text not in NAMES and not text.endswith(("hat", "tilde", "bar", "star"))


def signed(sign: Word, node: t.Node) -> t.Node:
    """A term with the sign before it."""
    return t.Negative(node, span=sign.span.to(node.span)) if sign.text == "-" else node
