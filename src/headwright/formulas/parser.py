"""Words into a tree: sums and products, brackets, functions, indices; statements.py joins what is said of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal, NoReturn, TypeVar, cast

from headwright.formulas import tree as t
from headwright.formulas.dots import written_out
from headwright.formulas.errors import DEEPEST, FormulaError
from headwright.formulas.lexer import Word, partners
from headwright.formulas.spellings import FUNCTIONS, NAMES
from headwright.formulas.statements import (
    Interval,
    Part,
    assembled,
    both,
    chain,
    fits,
    otherwise,
)

Read = TypeVar("Read")
# ("top", None), ("prime", None), ("star", None), ("index", node), ("power", exponent)
Raise = tuple[str, t.Node | None]
_TAGS: Final = {",": "comma", ";": "semi", ":": "colon"}
_MOST_CASES: Final = 50
_ONE: Final = t.Number(Fraction(1))
_STARTS: Final = (
    "number",
    "name",
    "function",
    "open",
    "command",
    "domain",
)  # the kinds of words that begin a factor


class Parser:
    """Reads words into a tree, from left to right; what cannot be read is an error that points at the place."""

    def __init__(self, found: list[Word], source: str) -> None:
        """Begin at the first word."""
        self.found = found
        self.source = source
        self.pairs = partners(found, source)
        self.at = 0
        self.next = found[0]  # the word that is read next
        self.last = Word("start", "", t.Span(0, 0))  # the word that was read last
        self.depth = 0
        self.bars: list[
            str
        ] = []  # the bars that are open; "" for a bracket, inside which they cannot close
        self.aside: t.Node | None = (
            None  # a statement in brackets after a term: x = 1 (i != j)
        )
        self.labels: list[Part] = []  # conditions upon an arrow, which end a statement

    # The words

    def take(self, count: int = 1) -> Word:
        """The next word, and go on to the one after it, or after several."""
        word = self.next
        if word.kind != "end":
            self.at += count
            self.last, self.next = self.found[self.at - 1 : self.at + 1]
        return word

    def takes(self, *signs: str) -> bool:
        """Whether one of these signs comes next; then it is taken."""
        found = self.next.is_sign(*signs)
        if found:
            self.take()
        return found

    def since(self, start: int) -> t.Span:
        """From a place of the source to the end of the last word."""
        return t.Span(start, max(start, self.last.span.stop))

    def shown(self, word: Word) -> str:
        """A word as it was written."""
        return self.source[word.span.start : word.span.stop] or "the end of the formula"

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
        if self.aside is not None:
            message = "a statement in brackets stands where a factor was expected"
            self.fail(message, self.aside.span, "move it to the end")
        if self.next.kind != "close":
            self.unexpected()
        self.take()

    # What is wrong

    def fail(self, message: str, span: t.Span, fix: str) -> NoReturn:
        """Say what is wrong, and where."""
        raise FormulaError(message, self.source, span, fix=fix)

    def unexpected(self) -> NoReturn:
        """A word that cannot come after what was read."""
        fix = "write an operation between the two parts, or put a statement in brackets of its own"
        self.fail(f"{self.shown(self.next)} was not expected here", self.next.span, fix)

    def missing(self) -> NoReturn:
        """A number or a name was expected, and something else came."""
        word, last = self.next, self.last
        if word.kind == "dots":
            self.fail(
                "dots leave open what is meant",
                word.span,
                "write the sum with \\sum, or list every term",
            )
        fix = "add what is missing, or remove what comes before it"
        if last.is_sign("+", "-", "*", "/", ".", "⊙"):
            fix = "add what comes after the sign, or remove the sign"
        elif last.kind in ("relation", "function"):
            fix = (
                "add the other side"
                if last.kind == "relation"
                else "add the argument in brackets"
            )
        begins, ends = last.kind == "start", word.kind == "end"
        after = "" if begins else f" after {self.shown(last)}"
        came = "the formula is empty" if begins else f"the formula ends{after}"
        came = came if ends else f"{self.shown(word)} came{after}"
        place = last.span if ends and not begins else word.span
        self.fail(
            f"{came}, where a number, a name or a bracket was expected", place, fix
        )

    # Statements

    def inside(self) -> t.Node:
        """A statement, a list or an expression, up to where the bracket or the source ends.

        A source that begins with a relation or an arrow continues the formula before it.
        """
        parts: list[Part] = []
        begins = all(
            before.kind == "open" and before.text != "cases"
            for before in self.found[: self.at]
        )
        is_denied = self.next.kind == "logic" and self.next.text == "not"
        if begins and is_denied and self.found[self.at + 1].kind == "relation":
            denial = self.take()  # not = b
            parts.append(Part("not", denial.span, denial.text))
        word = self.next
        leads = word.kind in ("relation", "logic") and word.text not in (
            "and",
            "or",
            "not",
        )
        if begins and leads:
            parts.append(
                Part(
                    "term",
                    word.span,
                    node=t.Gap(span=t.Span(word.span.start, word.span.start)),
                )
            )
            self.joined(parts)
        while True:
            self.operand(parts)
            if not self.joined(parts):
                return assembled(parts)

    def operand(self, parts: list[Part]) -> None:
        """Read up to and with the next term."""
        integer: Word | None = None
        while True:
            word = self.next
            if word.kind in ("condition", "logic") and word.text not in (
                "and",
                "or",
                "implies",
                "iff",
            ):
                parts.append(
                    Part(
                        "not" if word.kind == "logic" else "condition",
                        word.span,
                        word.text,
                    )
                )
            elif (word.kind, word.text) == ("command", "lim"):
                parts.append(self.limit())
                continue
            elif word.kind == "integer":  # for some integer k
                integer = word
            elif word.kind != "then" or parts:
                break
            self.take()
        quad = bool(parts) and parts[-1].tag == "quad"
        node = self.expression()
        if quad and isinstance(node, t.STATEMENTS):
            parts[-1] = Part("aside", node.span, node=node)
        else:
            parts.append(Part("term", node.span, node=node))
        if self.aside is not None:
            parts.append(Part("aside", self.aside.span, node=self.aside))
            self.aside = None
        if integer is not None:
            domain = t.Domain("Z", span=integer.span)
            parts += [
                Part("relation", integer.span, "in"),
                Part("term", integer.span, node=domain),
            ]

    def limit(self) -> Part:
        r"""\lim_{x \to a}."""
        word = self.take()
        ranges = self.ranges() if self.takes("_") else []
        if [part.comparisons for part in ranges if isinstance(part, t.Relation)] != [
            ("->",)
        ] or len(ranges) != 1:
            place = ranges[0].span if ranges else word.span
            self.fail(
                "a limit needs what tends to what",
                place,
                "write \\lim_{x \\to a} y = z",
            )
        return Part("limit", self.since(word.span.start), node=ranges[0])

    def joined(self, parts: list[Part]) -> bool:
        """Read what joins the next term to this one; False where the statement ends."""
        continued = False
        if self.next.kind != "relation":
            parts += self.labels
            self.labels = []
        if self.next.kind == "line" and not self.bars:
            line = self.take()
            continued = self.next.kind == "relation"
            if not continued and (
                self.next.kind not in ("logic", "condition", "then")
                or self.next.text == "not"
            ):
                parts.append(Part("line", line.span))
                return True
        word = self.next
        if word.is_sign(",", ";", ":"):
            self.take()
            follows = self.next
            if word.text != ":" and follows.kind in ("close", "end", "amp", "line"):
                return False
            joins = follows.kind == "then" or (
                follows.kind == "logic" and follows.text != "not"
            )
            if word.text != ":" and (
                joins or (word.text == "," and follows.kind == "condition")
            ):
                return self.joined(parts)
            parts.append(Part(_TAGS[word.text], word.span))
            return True
        if word.kind == "logic" and word.text != "not":
            parts.append(Part(word.text, word.span))
        elif word.kind in ("relation", "condition", "then", "quad"):
            parts.append(
                Part("continued" if continued else word.kind, word.span, word.text)
            )
        else:
            return False
        self.take()
        while self.next.kind == "open" and self.next.text == "label":
            self.label()
        return True

    def label(self) -> None:
        """What an arrow is said for, which is written upon it."""
        waiting, self.labels = self.labels, []
        start = self.next.span.start
        with self.enclosed():
            node = self.inside()
        if isinstance(node, t.Quantified) and isinstance(node.body, t.Gap):
            node = both(node.conditions)  # \\text{as } x \\to 0
        self.labels = [*waiting, Part("aside", self.since(start), node=node)]

    # Sums and products

    def expression(self) -> t.Node:
        """A sum of terms, with + and - before them."""
        start = self.next.span.start
        terms: list[t.Node] = []
        while not terms or (self.aside is None and self.next.is_sign("+", "-")):
            sign = self.take() if self.next.is_sign("+", "-") else None
            node = self.below(self.term)
            again = (
                isinstance(node, t.Dots) and terms and isinstance(terms[-1], t.Negative)
            )  # - x_1 - ... - x_n
            terms.append(signed(sign, node) if sign and not again else node)
        if len(terms) == 1:
            return terms[0]
        span = self.since(start)
        return (
            written_out(terms, span)
            if t.has_dots(terms)
            else t.Sum(tuple(terms), span=span)
        )

    def term(self) -> t.Node:
        """Products and quotients from left to right; a dot joins what is on its two sides, and so does ⊙."""
        start = self.next.span.start
        dotted: t.Node | None = None
        entrywise = False
        factors = [self.factor()]
        while True:
            if self.takes("*"):
                factors.append(self.factor())
            elif self.takes("/"):
                over, under = _product(factors), self.factor()
                factors = [_quotient(over, under, over.span.to(under.span))]
            elif (
                self.next.is_sign(".", "⊙")
                or not self.starts()
                or not self.beside(factors)
            ):
                right = _product(factors)
                if dotted is None:
                    dotted = right
                elif entrywise:
                    dotted = t.Call(t.HADAMARD, (dotted, right), span=self.since(start))
                else:
                    dotted = t.Inner(dotted, right, span=self.since(start))
                entrywise = self.next.is_sign("⊙")
                if self.aside is not None or not self.takes(".", "⊙"):
                    return dotted
                factors = [self.factor()]

    def starts(self) -> bool:
        """Whether the next word begins a factor."""
        word = self.next
        if word.kind == "bar":
            return not self.bars or self.bars[-1] not in (
                word.text,
                self.shown(word)[:1],
            )
        if word.kind == "dots":
            self.missing()
        return word.kind in _STARTS and word.text != "lim"

    def beside(self, factors: list[t.Node]) -> bool:
        """Read a factor that is written next to the others; False where it turns out to be a statement in brackets."""
        before, word = self.last, self.next
        if (word.kind, word.text, word.spaced, before.kind) == (
            "open",
            "[",
            False,
            "name",
        ):
            inside = self.found[self.at + 1]
            if self.pairs[self.at] == self.at + 2 and inside.kind in ("number", "name"):
                fix = "write k_{1} for the index, or k (1) for the product"
                self.fail(
                    "a single entry in [ ] can mean an index or a product",
                    before.span.to(word.span),
                    fix,
                )
        node = self.factor()
        if isinstance(node, t.STATEMENTS) and word.kind == "open":
            self.aside = node
            return False
        if before.kind == "number" and isinstance(factors[-1], t.Number):
            if word.kind == "number":
                fix = "write * between them, or remove the space"
                self.fail(
                    "two numbers stand side by side", before.span.to(word.span), fix
                )
            match node:
                case t.Quotient(t.Number(), t.Number()) if word.text == "frac":
                    fix = "write + or \\cdot between them"
                    self.fail(
                        "a number before a fraction can mean a sum or a product",
                        before.span.to(node.span),
                        fix,
                    )
        factors.append(node)
        return True

    def factor(self) -> t.Node:
        """A number, name, bracket or call, with its index, primes and exponents."""
        first = self.next
        if self.takes("+", "-"):
            return signed(first, self.below(self.factor))
        base = self.primary()
        if self.next.is_sign("_", "^", "**") or self.next.kind in (
            "prime",
            "transposed",
        ):
            return self.attached(base, first)
        return base

    def primary(self) -> t.Node:
        """What stands at the beginning of a factor."""
        word = self.next
        match word.kind, word.text:
            case "number", text:
                node: t.Node = t.Number(Fraction(text), span=word.span)
            case "name", text:
                node = t.Name(text, span=word.span)
            case "domain", text:
                node = t.Domain(cast("Literal['R', 'Z', 'N']", text), span=word.span)
            case "dots", _:
                node = t.Dots(span=word.span)
            case "function", _:
                return self.call()
            case "command", "frac":
                self.take()
                over = self.argument(word, "a numerator and a denominator")
                under = self.argument(word, "a denominator after its numerator")
                return _quotient(over, under, self.since(word.span.start))
            case "command", "partial":
                return self.differential()
            case "command", "nabla":
                return self.gradient()
            case "command", "lim":
                self.fail(
                    "a limit stands at the beginning of a side only",
                    word.span,
                    "write \\lim_{x \\to a} y = z",
                )
            case "command", _:
                return self.big(self.take())
            case "open", _:
                return self.bracket()
            case "bar", _:
                return self.norm()
            case _:
                self.missing()
        self.take()
        return node

    # Brackets

    def bracket(self) -> t.Node:
        """( ), [ ], { }, cases, <a, b>, or \\left| \\right|."""
        word, start = self.next, self.next.span.start
        if word.text == "cases":
            return self.cases()
        if word.text == "matrix":
            return self.matrix()
        if self.begins_rows():
            rows = self.listed(lambda: _row(self.listed(self.expression)))
            return self.in_rows(rows, self.since(start))
        if self.pairs[self.at] == self.at + 1:
            place = word.span.to(self.found[self.at + 1].span)
            self.fail(
                "nothing stands inside the bracket", place, "fill it, or remove it"
            )
        if word.text == "<":
            sides = self.listed(self.expression)
            if len(sides) != 2:
                message = "an inner product has two sides with a comma between them"
                self.fail(message, word.span, "write \\langle a, b \\rangle")
            return t.Inner(*sides, span=self.since(start))
        if word.text in "([" and (self.last.kind, self.last.text[-2:]) == (
            "relation",
            "in",
        ):
            ends = self.listed(self.expression)
            if len(ends) != 2:
                return (
                    t.Listing(tuple(ends), span=self.since(start))
                    if len(ends) > 2
                    else ends[0]
                )
            low: t.Comparison = "<=" if word.text == "[" else "<"
            high: t.Comparison = "<=" if self.shown(self.last)[-1:] == "]" else "<"
            return Interval(ends[0], (low, high), ends[1], span=self.since(start))
        with self.enclosed():
            node = self.expression() if word.text in ("|", "||") else self.inside()
        return (
            t.Norm(node, span=self.since(start))
            if word.text in ("|", "||")
            else replace(node, span=self.since(start))
        )

    def listed(self, read: Callable[[], Read]) -> list[Read]:
        """What stands in a bracket with commas between it."""
        with self.enclosed():
            found = [read()]
            while self.takes(","):
                found.append(read())
        return found

    def norm(self) -> t.Node:
        """|x|, ||x||."""
        opener = self.take()
        self.bars.append(opener.text)
        node = self.expression()
        self.bars.pop()
        if (self.next.kind, self.next.text) != (
            "bar",
            opener.text,
        ) or self.aside is not None:
            fix = "close it with the same bar; a condition in a probability is written with 'given'"
            self.fail(f"the bar {self.shown(opener)} is never closed", opener.span, fix)
        self.take()
        return t.Norm(node, span=self.since(opener.span.start))

    def cases(self) -> t.Node:
        r"""\begin{cases} a & c = 1 \\ b & \text{otherwise} \end{cases}."""
        start = self.next.span.start
        rows: list[list[t.Node | None]] = [[]]
        with self.enclosed():
            while self.next.kind != "close":
                word = self.next
                if word.kind in ("line", "amp") or word.text == "otherwise":
                    self.take()
                if word.kind == "line":
                    rows.append([])
                elif word.kind != "amp":
                    rows[-1].append(None if word.text == "otherwise" else self.inside())
                    if self.next.kind not in ("line", "amp", "close"):
                        self.unexpected()
        branches: list[t.Quantified] = []
        for first, *others in filter(None, rows):
            body, found = (
                (first.body, [*first.conditions])
                if isinstance(first, t.Quantified)
                else (first, [])
            )
            for part in others:
                match part:
                    case None:
                        found += otherwise(branches)
                    case t.Quantified(t.Gap(), conditions):  # if i = j
                        found += conditions
                    case _:
                        found += t.conjuncts(part)
            if (
                body is None
                or isinstance(body, t.STATEMENTS)
                or not found
                or len(branches) >= _MOST_CASES
            ):
                message = (
                    f"each of up to {_MOST_CASES} cases needs a value and its condition"
                )
                self.fail(
                    message, self.since(start), "write 1 & i = j \\\\ 0 & i \\ne j"
                )
            branches.append(t.Quantified(body, tuple(found), span=body.span))
        if not branches:
            self.fail(
                "there are no cases",
                self.since(start),
                "write 1 & i = j \\\\ 0 & i \\ne j",
            )
        return t.Cases(tuple(branches), span=self.since(start))

    def matrix(self) -> t.Node:
        r"""\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}."""
        start = self.next.span.start
        rows: list[list[t.Node]] = [[]]
        with self.enclosed():
            while self.next.kind != "close":
                if self.next.kind == "line":
                    self.take()
                    rows.append([])
                    continue
                if rows[-1]:
                    if self.next.kind != "amp":
                        self.unexpected()
                    self.take()
                rows[-1].append(self.expression())
        rows = [row for row in rows if row]  # a line may end with \\ too
        if not rows:
            self.fail("the matrix is empty", self.since(start), "write its entries")
        return self.in_rows([_row(row) for row in rows], self.since(start))

    def begins_rows(self) -> bool:
        """Whether rows come next: [[1, 2], [3, 4]]."""
        first = self.found[self.at + 1]
        if self.next.text != "[" or (first.kind, first.text) != ("open", "["):
            return False
        after = self.pairs[self.at + 1] + 1
        return after == self.pairs[self.at] or self.found[after].is_sign(",")

    def in_rows(self, rows: list[t.Listing], span: t.Span) -> t.Matrix:
        """A matrix, whose rows must have one length."""
        if len({len(row.items) for row in rows}) > 1:
            fix = "write as many entries in each row"
            self.fail("the rows of a matrix have different lengths", span, fix)
        return t.Matrix(tuple(rows), span=span)

    # Derivatives

    def differential(self) -> t.Node:
        r"""\partial L, a side of \partial L/\partial z; alone, as in \frac{\partial}{\partial z} L, without the L."""
        word = self.take()
        if not self.starts():
            return t.Call("partial", (), span=word.span)
        body = self.below(self.factor)
        return t.Call("partial", (body,), span=self.since(word.span.start))

    def gradient(self) -> t.Node:
        r"""\nabla_z L."""
        word = self.take()
        if not self.takes("_"):
            self.fail("by what is not said", word.span, "write \\nabla_z L")
        by = self.index()
        body = self.below(self.factor)
        return t.Derivative(body, by, span=self.since(word.span.start))

    # Indices, primes and exponents

    def attached(self, base: t.Node, first: Word, *, raised: bool = True) -> t.Node:
        """The base with what follows it: _a, ^2, ', .T, in any order that TeX or Python allow."""
        index: t.Node | None = None
        raises: list[Raise] = []
        caret = False
        while True:
            word = self.next
            if word.is_sign("_"):
                named = isinstance(base, t.Name) and (
                    first.kind == "name" or (first.kind, first.text) == ("open", "{")
                )
                if index is not None or (
                    isinstance(base, t.Name) and base.index is not None
                ):
                    self.fail(
                        "a second index on the same name",
                        word.span,
                        "write both in one pair of braces: x_{i,j}",
                    )
                if isinstance(base, t.Domain):
                    self.fail(
                        "a part of the numbers is not read",
                        word.span,
                        "write x > 0, or x \\ge 0",
                    )
                if not named and not isinstance(base, t.Norm):
                    fix = "give the expression a name of its own; the vector of ones is \\mathbf{1}_n"
                    self.fail(
                        "only a name or a norm can carry an index", word.span, fix
                    )
                self.take()
                index = self.index()
            elif raised and word.is_sign("^", "**"):
                if caret:
                    self.fail(
                        "a second exponent",
                        word.span,
                        "write braces: x^{a^b} or (x^a)^b",
                    )
                caret = True
                raises.extend(self.exponent(base, index))
            elif word.kind == "prime" and (raised or isinstance(base, t.Name)):
                raises.extend([("prime", None)] * len(self.take().text))
            elif raised and word.kind == "transposed":
                self.take()
                raises.append(("top", None))
            else:
                return self.raised(base, index, raises, first.span.start)

    def raised(
        self, base: t.Node, index: t.Node | None, raises: list[Raise], start: int
    ) -> t.Node:
        """Put a base and what follows it together."""
        span = self.since(start)
        if isinstance(base, t.Norm):
            base = self.normed(base, index)
        elif isinstance(base, t.Name):
            primes = next(
                (place for place, part in enumerate(raises) if part[0] != "prime"),
                len(raises),
            )
            upper = [
                node
                for kind, node in raises[primes:]
                if kind == "index" and node is not None
            ]
            stars = sum(kind == "star" for kind, _ in raises)
            raises = [
                part for part in raises[primes:] if part[0] not in ("index", "star")
            ]
            if index is not None or primes or upper or stars:
                index = base.index if index is None else index
                if upper:  # q^{(1)} is q_1, and alpha_a^{(1)} is alpha_{1,a}
                    items = (*upper, *(t.listed(index) if index else ()))
                    index = items[0] if len(items) == 1 else t.Listing(items, span=span)
                base = t.Name(
                    base.base + "star" * stars, index, base.primes + primes, span=span
                )
        for kind, exponent in raises:
            if exponent is None:
                base = t.Transpose(base, span=span)
            elif kind == "power" and base == t.Name("e"):
                base = t.Call("exp", (exponent,), span=span)
            else:
                base = t.Power(base, exponent, span=span)
        return base

    def exponent(self, base: t.Node, index: t.Node | None) -> list[Raise]:
        r"""Read what comes after ^ or **: an exponent, a transpose, primes, an upper index: q^{(1)}, Z^{\text{new}}."""
        mark, word = self.take(), self.next
        after = self.pairs.get(self.at, self.at) + 1
        inside = (
            self.found[self.at + 1 : after - 1]
            if (word.kind, word.text) == ("open", "{")
            else [word]
        )
        found: list[Raise] = []
        named = isinstance(base, t.Name) and base != t.Name(
            "e"
        )  # only those can have an upper index
        match [(word.kind, word.text) for word in inside]:
            case [("sign", "+" | "-")] if isinstance(base, t.Domain):
                self.fail(
                    "a part of the numbers is not read",
                    inside[0].span,
                    "write x > 0, or x \\ge 0",
                )
            case [("open", "("), ("number" | "name" as kind, text), ("close", "(")] if (
                named and text != "T"
            ):
                upper = t.Number(Fraction(text)) if kind == "number" else t.Name(text)
                found = [("index", replace(upper, span=inside[1].span))]
            case [("name", text)] if (
                named and self.shown(inside[0])[0] == "\\" and _is_word(text)
            ):
                found = [("index", t.Name(text, span=inside[0].span))]
            case [("sign" | "star", "*")] if named:
                found = [("star", None)]
            case [("prime", _), *_] if all(part.kind == "prime" for part in inside):
                found = [("prime", None)] * sum(len(part.text) for part in inside)
            case [("name", "T") | ("top" | "transposed", _) as only] if (
                mark.text == "^"
            ):
                if only[0] == "name" and base == t.Name("e") and index is None:
                    message = "e^T can mean the exponential of T or the transpose of e"
                    fix = "write \\exp(T) for the exponential, or e^\\top for the transpose"
                    self.fail(message, mark.span.to(inside[0].span), fix)
                found = (
                    [("top", None)]
                    if only[0] != "name" or self.found[after].text != "**"
                    else []
                )
        if not found:
            return [("power", self.upper(base, index))]
        self.take(after - self.at)
        return found

    def upper(self, base: t.Node, index: t.Node | None) -> t.Node:
        """An exponent: in brackets, or one word, with the exponents upon it."""
        start = self.next
        if self.takes("+", "-"):
            return signed(start, self.below(lambda: self.upper(base, index)))
        node = self.primary()
        if (
            self.next.is_sign("_")
            and isinstance(node, t.Name)
            and node.index is None
            and start.kind == "name"
        ):
            if isinstance(base, t.Name) and index is None and base != t.Name("e"):
                fix = f"write braces: {base.base}^{{{node.base}_i}} or {base.base}_i^{node.base}"
                self.fail(
                    "an index after an exponent can belong to either",
                    self.next.span,
                    fix,
                )
            node = self.attached(node, start, raised=False)
        if self.next.is_sign("^", "**"):
            raises = self.below(lambda: self.exponent(node, None))
            node = self.raised(node, None, raises, start.span.start)
        return node

    def index(self) -> t.Node:
        """Read what comes after _: i, 1, max, or in braces: {i}, {k-1}, {i,j}, {ij}, {max}."""
        word = self.next
        braced = (word.kind, word.text) == ("open", "{")
        only = (
            self.found[self.at + 1]
            if braced and self.pairs[self.at] == self.at + 2
            else word
        )
        if only.kind == "function":  # where it is only a label, as in k_max
            label = re.sub(
                r"^\\[A-Za-z]+\*?\s*\{\s*|\s*\}$|^\\", "", self.shown(only)
            )  # without a \\text{ } around it
            if label in FUNCTIONS:
                self.take(3 if braced else 1)
                return t.Name(label, span=only.span)
        if braced:
            items: list[t.Node] = []
            for node in self.listed(self.expression):
                letters = isinstance(node, t.Product) and all(
                    t.is_letter(part) for part in node.factors
                )
                items.extend(
                    node.factors if isinstance(node, t.Product) and letters else [node]
                )
            return (
                items[0]
                if len(items) == 1
                else t.Listing(tuple(items), span=self.since(word.span.start))
            )
        if word.kind in ("name", "number", "open"):
            return self.primary()
        message = f"{self.shown(word)} came after _, where an index was expected"
        return self.fail(
            message, self.last.span.to(word.span), "write the index in braces: x_{i}"
        )

    def normed(self, base: t.Norm, index: t.Node | None) -> t.Norm:
        """A norm with its kind."""
        match index:
            case None:
                return base
            case t.Number(2) | t.Name("op", None):
                return t.Norm(base.body, "2", span=base.span)
            case t.Name("F" | "Fro" | "fro", None):
                return t.Norm(base.body, "F", span=base.span)
        return self.fail(
            "only the norms 2 and F are read",
            index.span,
            "write \\|x\\|_2 or \\|A\\|_F",
        )

    # Functions

    def argument(self, command: Word, what: str) -> t.Node:
        """An argument of a TeX command: in braces, or a single sign."""
        word = self.next
        if (
            word.kind == "number" and len(word.text) > 1
        ):  # \frac12: the rest becomes a word of its own
            if not word.text.isdigit():
                message = "a number without braces after \\frac can be read in two ways"
                self.fail(message, word.span, "write \\frac{a}{b}")
            middle = word.span.start + 1
            self.next = self.found[self.at] = replace(
                word, text=word.text[1:], span=t.Span(middle, word.span.stop)
            )
            return t.Number(
                Fraction(word.text[0]), span=t.Span(word.span.start, middle)
            )
        if word.kind not in ("number", "name", "function", "command", "open"):
            shown = self.shown(command)
            self.fail(f"{shown} needs {what}", command.span, f"write {shown}{{a}}{{b}}")
        return (
            self.primary() if word.kind == "open" else self.below(self.primary)
        )  # a bracket counts itself

    def scripts(
        self, under: Callable[[], Read], again: str, fix: str
    ) -> tuple[Read | None, t.Node | None]:
        r"""What stands under and over a sign, in any order: \sum_{i=1}^{n}, \log_2^2."""
        low: Read | None = None
        high: t.Node | None = None
        while self.next.is_sign("_", "^", "**"):
            if (low if self.next.text == "_" else high) is not None:
                self.fail(again, self.next.span, fix)
            if self.take().text == "_":
                low = under()
            else:
                high = self.upper(_ONE, None)
        return low, high

    def call(self) -> t.Node:
        """A function with its exponent, its index and its arguments."""
        word = self.take()
        if word.text in ("max", "min") and self.next.is_sign("_"):
            return self.big(word)
        index, power = self.scripts(
            self.index, "a second index or exponent on a function", "use brackets"
        )
        if isinstance(power, t.Negative):
            self.fail(
                "a negative exponent on a function can mean its inverse",
                power.span,
                "write 1/f(x)",
            )
        basic = isinstance(index, t.Number) or (
            isinstance(index, t.Name) and index.base not in FUNCTIONS
        )
        if (
            index is not None
            and word.text != "norm"
            and not (word.text == "ln" and basic)
        ):
            self.fail(
                f"an index on {self.shown(word)} is not read",
                index.span,
                "write all arguments in brackets",
            )
        arguments = self.arguments(word)
        span = self.since(word.span.start)
        if len(arguments) != 1 and word.text not in (
            "max",
            "min",
            "diag",
            "N",
            "Cov",
            "inner",
        ):
            message = (
                f"{self.shown(word)} takes one argument, and here are {len(arguments)}"
            )
            self.fail(message, span, "remove the others")
        node: t.Node = t.Call(word.text, arguments, span=span)
        if word.text == "inner" and len(arguments) == 2:
            node = t.Inner(*arguments, span=span)
        elif word.text == "norm":
            node = self.normed(t.Norm(arguments[0], span=span), index)
        elif index is not None:
            node = t.Quotient(node, t.Call("ln", (index,), span=index.span), span=span)
        return node if power is None else t.Power(node, power, span=span)

    def arguments(self, word: Word) -> tuple[t.Node, ...]:
        """What the function is applied to."""
        opener = self.next
        if opener.kind != "open" or opener.text not in ("(", "[", "{", "\\{"):
            return (self.below(lambda: self.bare(word)),)
        if self.pairs[self.at] == self.at + 1 or (word.text, opener.text) == (
            "sqrt",
            "[",
        ):
            place = word.span.to(self.found[self.pairs[self.at]].span)
            self.fail(
                f"{self.shown(word)} has no argument that is read",
                place,
                "write it in round brackets",
            )
        if word.text == "P":
            with self.enclosed():
                return (self.inside(),)
        return tuple(self.listed(self.expression))

    def bare(self, word: Word) -> t.Node:
        """An argument without brackets: one factor; for sin and cos the whole product of names and numbers."""
        first = self.next
        if word.text == "sqrt":
            node = self.primary()
            if first.kind == "name" and (
                self.next.is_sign("_") or self.next.kind == "prime"
            ):
                node = self.attached(node, first, raised=False)
            return node
        factors = [self.factor()]
        while first.kind in ("number", "name") and self.next.kind in ("number", "name"):
            if word.text not in ("sin", "cos"):
                shown, written = (
                    self.shown(word),
                    self.source[factors[0].span.start : factors[0].span.stop],
                )
                fix = f"write {shown}({written}) {self.shown(self.next)}, or put all of the argument in the brackets"
                self.fail(
                    f"the argument of {shown} may end in two places",
                    word.span.to(self.next.span),
                    fix,
                )
            factors.append(self.factor())
        return _product(factors)

    # Sums over an index

    def big(self, word: Word) -> t.Node:
        r"""\sum_{i=1}^{n} x_i, \max_{i \ne j} x_i: the body is the product that follows."""
        ranges, top = self.scripts(
            self.ranges, "a second bound on the same sum", "write \\sum_{i=1}^{n}"
        )
        if not ranges:
            self.fail("a sum needs its index", word.span, "write \\sum_{i=1}^{n} x_i")
        body = self.below(self.term)
        span = self.since(word.span.start)
        match ranges:
            case [t.Bond("in", t.Name(index, None, 0), t.Listing(values))] if (
                word.text == "sum" and top is None
            ):
                if not t.has_dots(values) and fits([body], len(values)):
                    return t.Sum(
                        tuple(t.put(body, index, part) for part in values), span=span
                    )
        fix = "write \\sum_{i=1}^{n} or \\sum_{i \\neq j}"
        lower: t.Node | None = None
        indices: list[str] = []
        conditions: list[t.Node] = []
        for part in ranges:
            is_set = isinstance(part, t.Relation) and part.comparisons == ("=",)
            if isinstance(part, t.Relation) and is_set and t.is_letter(part.terms[0]):
                if lower is not None:
                    self.fail(
                        "two lower bounds on one sum", part.span, "write two sums"
                    )
                lower = part.terms[1]
            elif isinstance(part, t.STATEMENTS):
                match (
                    part.items[0]
                    if isinstance(part, t.Logic) and part.word == "not"
                    else part
                ):
                    case t.Relation() | t.Bond(
                        "in", t.Name(_, None), t.Name(_, None)
                    ):  # i in S
                        conditions.append(part)
                    case _:
                        self.fail("this is not read under a sum", part.span, fix)
            found = next(candidates(part), None)
            if found is None:
                self.fail("a sum needs an index here", part.span, fix)
            if found not in indices and (
                not isinstance(part, t.Relation) or is_set or not indices
            ):
                indices.append(found)
        if (lower is None) != (top is None) or (lower is not None and len(indices) > 1):
            self.fail(
                "a sum with one bound only",
                span,
                "write \\sum_{i=1}^{n}, or \\sum_i for all values",
            )
        own = tuple(conditions)  # they are said of the innermost index
        for name in reversed(indices):
            if word.text == "sum":
                body = t.BigSum(name, body, lower, top, own, span=span)
            else:
                body = t.BigCall(
                    cast("Literal['max', 'min']", word.text),
                    name,
                    body,
                    lower,
                    top,
                    own,
                    span=span,
                )
            own = ()
        return body

    def ranges(self) -> list[t.Node]:
        """What is written under the sign: i, i=1, i != j, or several with commas."""
        if (self.next.kind, self.next.text) != ("open", "{"):
            return [self.index()]
        found: list[t.Node] = []
        for terms, signs in self.listed(self.chain):
            last = found[-1] if found else None
            if (
                not signs
                and isinstance(last, t.Relation)
                and last.comparisons == ("!=",)
            ):  # i != a, b
                terms, signs = [last.terms[0], *terms], ["!="]
            bound = (
                [
                    t.Relation(
                        tuple(terms), ("=",), span=terms[0].span.to(terms[-1].span)
                    )
                ]
                if signs == ["="]
                else []
            )
            found += bound or (chain(terms, signs) if signs else terms)
        return found

    def chain(self) -> tuple[list[t.Node], list[str]]:
        """a <= b < c, under a sign."""
        terms, signs = [self.expression()], []
        while self.next.kind == "relation":
            signs.append(self.take().text)
            terms.append(self.expression())
        return terms, signs


_OPERATOR: Final = t.Call("partial", ())  # what is still to be differentiated


def _quotient(over: t.Node, under: t.Node, span: t.Span) -> t.Node:
    """A quotient, or a derivative where both sides are differentials."""
    match over, under:
        case t.Call("partial", arguments), t.Call("partial", (by,)):
            body = arguments[0] if arguments else _OPERATOR
            return t.Derivative(body, by, span=span)
        case _:
            return t.Quotient(over, under, span=span)


def _row(entries: list[t.Node]) -> t.Listing:
    return t.Listing(tuple(entries), span=entries[0].span.to(entries[-1].span))


def _product(factors: list[t.Node]) -> t.Node:
    for place, factor in enumerate(factors[:-1]):
        if isinstance(factor, t.Derivative) and factor.body == _OPERATOR:
            body = _product(factors[place + 1 :])
            applied = replace(factor, body=body, span=factor.span.to(body.span))
            factors = [*factors[:place], applied]
            break
    return (
        factors[0]
        if len(factors) == 1
        else t.Product(tuple(factors), span=factors[0].span.to(factors[-1].span))
    )


def signed(sign: Word, node: t.Node) -> t.Node:
    """A term with the sign before it."""
    return t.Negative(node, span=sign.span.to(node.span)) if sign.text == "-" else node


def _is_word(text: str) -> bool:
    """perm, new: no Greek letter, and none with an accent."""
    accented = text.endswith(("hat", "tilde", "bar", "star"))
    return len(text) > 1 and text.isalpha() and text not in NAMES and not accented


def candidates(part: t.Node) -> Iterator[str]:
    """The names that can be the index of a sum; in 1 <= i <= n, the one in the middle first."""
    terms: tuple[t.Node, ...] = (part,)
    match part:
        case t.Bond(_, left) | t.Logic("not", (t.Bond(_, left),)):
            terms = (left,)
        case t.Relation((_, middle, _)):
            terms = (middle, *part.terms)
        case t.Relation(terms):
            pass
    for term in terms:
        if (
            isinstance(term, t.Name)
            and term.index is None
            and term.base not in FUNCTIONS
        ):
            yield term.base + "'" * term.primes
