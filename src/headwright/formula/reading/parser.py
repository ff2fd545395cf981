"""Words into a tree: terms, sums and products, brackets, functions, and statements around them.

The words of a statement are first read into one flat list of parts, then put together from the loosest join to the
tightest: lines, implications, 'or', conditions, 'and' and commas, relations. Nothing here calls itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, NoReturn, Protocol, TypeVar, cast

from headwright.formula.errors import DEEPEST, LARGEST, MOST_PRIMES, FormulaError
from headwright.formula.reading.lexer import Word, partners, value
from headwright.formula.reading.spellings import FUNCTIONS
from headwright.formula.tree import (
    BigSum,
    Call,
    Comparison,
    Inner,
    Listing,
    Logic,
    Matrix,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quantified,
    Quotient,
    Relation,
    Span,
    Sum,
    Transpose,
    walk,
)

_SAID: Final = (Relation, Logic, Quantified)
_SPREAD: Final = ("!=", "<", ">", "<=", ">=", "<<", ">>")
_RISING: Final = ("<", "<=", "<<")
_FALLING: Final = (">", ">=", ">>")


class Fail(Protocol):
    """How to say what is wrong."""

    def __call__(self, message: str, span: Span, fix: str = "") -> NoReturn:
        """Raise a FormulaError."""


@dataclass(frozen=True)
class Item:
    """Terms with signs between them; the sides that are limits; how often 'not' came first; what came before."""

    terms: list[Node]
    signs: list[Comparison]
    limits: list[tuple[int, Node]]
    negated: int
    joint: str

    @property
    def is_bare(self) -> bool:
        """A term alone, which may be part of a list."""
        return not self.signs and not self.negated and not self.limits and not isinstance(self.terms[0], _SAID)


@dataclass(frozen=True)
class Part:
    """A term, or what stands between terms."""

    tag: str
    span: Span
    text: str = ""
    node: Node | None = None


Joined = list[Part]


@dataclass
class _Chunk:
    """A statement with its conditions, as parts."""

    body: Joined
    conditions: list[tuple[str, Joined]]


Made = TypeVar("Made", bound=Node)
Raise = tuple[str, Node | None]  # ("top", None), ("prime", None) or ("power", exponent)
STATEMENTS = (Relation, Logic, Quantified)
_TAGS: Final = {",": "comma", ";": "semi", ":": "colon"}


class Parser:
    """Reads words into a tree; what cannot be read is an error that points at the place."""

    aside: Node | None = None  # a statement in brackets after a term: x = 1 (i != j)
    parts_read: list[Part] | None = None

    def no_aside(self) -> None:
        """A statement in brackets is no factor."""
        if self.aside is not None:
            self.fail(
                "a statement in brackets stands where a factor was expected", self.aside.span, "move it to the end"
            )

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

    def close(self, opener: int) -> None:
        """The bracket that was opened there ends here."""
        if self.at != self.pairs[opener]:
            self.unexpected()
        self.take()

    def __init__(self, found: list[Word], source: str) -> None:
        """Begin at the first word."""
        self.found = found
        self.source = source
        self.at = 0
        self.depth = 0
        self.made = 0
        self.pairs = partners(found, source)
        self.bars: list[str] = []  # the bars that are open; "" for a bracket, inside which they cannot close

    @property
    def next(self) -> Word:
        """The word under the finger."""
        return self.found[self.at]

    @property
    def last(self) -> Word:
        """The word before it."""
        return self.found[self.at - 1] if self.at else Word("start", "", Span(0, 0))

    def take(self) -> Word:
        """The word under the finger, which moves on."""
        word = self.found[self.at]
        if word.kind != "end":
            self.at += 1
        return word

    def sees(self, *signs: str) -> bool:
        """Whether one of these signs comes next."""
        word = self.found[self.at]
        return word.kind == "sign" and word.text in signs

    def new(self, node: Made) -> Made:
        """Count a node."""
        self.made += 1
        if self.made > LARGEST:
            self.fail(f"the formula has more than {LARGEST} parts", node.span, "split it into several statements")
        return node

    def deeper(self) -> None:
        """One level down; `shallower` comes back up."""
        self.depth += 1
        if self.depth > DEEPEST + 1:
            message = f"the formula is nested more than {DEEPEST} deep"
            self.fail(message, self.next.span, "give a part of it a name of its own")

    def shallower(self) -> None:
        """One level up."""
        self.depth -= 1

    def since(self, start: int) -> Span:
        """From a place of the source to the end of the last word."""
        return Span(start, max(start, self.last.span.stop))

    def shown(self, word: Word) -> str:
        """A word as it was written."""
        return self.source[word.span.start : word.span.stop] or "the end of the formula"

    def fail(self, message: str, span: Span, fix: str = "") -> NoReturn:
        """Say what is wrong, and where."""
        raise FormulaError(message, self.source, span, fix=fix)

    def missing(self) -> NoReturn:
        """A number or a name was expected, and something else came."""
        word, last = self.next, self.last
        if word.kind == "dots":
            self.fail("dots leave open what is meant", word.span, "write the sum with \\sum, or list every term")
        if word.kind == "top":
            self.fail(f"{self.shown(word)} stands only in an exponent, as in K^\\top", word.span, "write ^ before it")
        if self.sees("_", "^", "**"):
            before = "an index" if word.text == "_" else "an exponent"
            self.fail(f"{before} needs something to stand on", word.span, "write a name before it")
        after = f" after {self.shown(last)}" if last.kind != "start" else ""
        if word.kind == "end":
            place = last.span if last.kind != "start" else word.span
            self.fail(
                f"the formula ends{after}, where a number, a name or a bracket was expected", place, _remedy(last)
            )
        message = f"{self.shown(word)} came{after}, where a number, a name or a bracket was expected"
        self.fail(message, word.span, _remedy(last))

    def matrix(self) -> Node:
        r"""\begin{pmatrix} a & b \\ c & d \end{pmatrix}."""
        opener = self.at
        word = self.take()
        self.bars.append("")
        rows: list[list[Node]] = [[]]
        while self.at != self.pairs[opener]:
            if self.next.kind == "line":
                self.take()
                rows.append([])
                continue
            if rows[-1]:
                if self.next.kind != "amp":
                    self.unexpected()
                self.take()
            rows[-1].append(self.expression())
            self.no_aside()
        self.bars.pop()
        self.take()
        return self.table([row for row in rows if row], self.since(word.span.start))

    def is_rows(self) -> bool:
        """Whether a bracket holds nothing but brackets: [[1, 0], [0, 1]]."""
        place, end = self.at + 1, self.pairs[self.at]
        while place < end:
            if (self.found[place].kind, self.found[place].text) != ("open", "["):
                return False
            place = self.pairs[place] + 1
            if place == end:
                return True
            if (self.found[place].kind, self.found[place].text) != ("sign", ","):
                return False
            place += 1
        return False

    def rows(self) -> Node:
        """[[1, 0], [0, 1]]."""
        opener = self.at
        word = self.take()
        self.bars.append("")
        rows: list[list[Node]] = []
        while self.at != self.pairs[opener]:
            start = self.at
            self.take()
            row = [self.expression()]
            while self.sees(","):
                self.take()
                row.append(self.expression())
            self.no_aside()
            self.close(start)
            rows.append(row)
            if self.sees(","):
                self.take()
        self.bars.pop()
        self.take()
        return self.table(rows, self.since(word.span.start))

    def table(self, rows: list[list[Node]], span: Span) -> Node:
        """Rows of one length."""
        if not rows or len({len(row) for row in rows}) != 1:
            lengths = ", ".join(str(len(row)) for row in rows[:9]) or "no"
            self.fail(f"the rows of a matrix have {lengths} entries", span, "give every row the same number of entries")
        made = [self.new(Listing(tuple(row), span=row[0].span.to(row[-1].span))) for row in rows]
        return self.new(Matrix(tuple(made), span=span))

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

    def call(self) -> Node:
        """A function with its exponent, its index and its arguments."""
        word = self.take()
        power: Node | None = None
        index: Node | None = None
        while self.sees("^", "**", "_"):
            if self.sees("_") and index is None:
                self.take()
                index = self.index()
            elif not self.sees("_") and power is None:
                self.take()
                power = self.upper(Number(value("1")), None)
            else:
                self.fail("a second index or exponent on a function", self.next.span, "use brackets")
        if isinstance(power, Negative):
            self.fail("a negative exponent on a function can mean its inverse", power.span, "write 1/f(x)")
        basic = isinstance(index, Number) or (isinstance(index, Name) and index.base not in FUNCTIONS)
        if index is not None and word.text != "norm" and not (word.text == "ln" and basic):
            self.fail(f"an index on {self.shown(word)} is not read", index.span, "write all arguments in brackets")
        arguments, root = self.arguments(word)
        node = self.applied(word, index, arguments)
        if root is not None:
            one = Number(value("1"), span=root.span)
            node = self.new(Power(arguments[0], Quotient(one, root, span=root.span), span=node.span))
        return node if power is None else self.new(Power(node, power, span=node.span))

    def applied(self, word: Word, index: Node | None, arguments: tuple[Node, ...]) -> Node:
        """A function of its arguments."""
        span = self.since(word.span.start)
        if word.text == "inner" and len(arguments) == 2:
            return self.new(Inner(*arguments, span=span))
        if len(arguments) != 1 and word.text not in ("max", "min"):
            self.fail(
                f"{self.shown(word)} takes one argument, and here are {len(arguments)}", span, "remove the others"
            )
        if word.text == "norm":
            return self.normed(self.new(Norm(arguments[0], span=span)), index)
        if word.text == "transpose":
            return self.new(Transpose(arguments[0], span=span))
        node: Node = self.new(Call(word.text, arguments, span=span))
        if index is not None:
            base = self.new(Call("ln", (index,), span=index.span))
            node = self.new(Quotient(node, base, span=span))
        return node

    def arguments(self, word: Word) -> tuple[tuple[Node, ...], Node | None]:
        r"""What the function is applied to, and n for \sqrt[n]{x}."""
        opener = self.at
        if self.next.kind != "open" or self.next.text not in ("(", "[", "{", "\\{"):
            self.deeper()
            node = self.bare(word)
            self.shallower()
            return (node,), None
        text = self.take().text
        self.bars.append("")
        if self.at == self.pairs[opener]:
            self.fail(f"{self.shown(word)} has no argument", word.span.to(self.next.span), "write it in the brackets")
        if word.text == "P":
            found = [self.inside()]
        else:
            found = [self.expression()]
            while self.sees(","):
                self.take()
                found.append(self.expression())
            self.no_aside()
        self.bars.pop()
        self.close(opener)
        if word.text == "sqrt" and text == "[" and self.next.kind == "open" and self.next.text == "{":
            return (self.bracket(),), found[0]
        return tuple(found), None

    def bare(self, word: Word) -> Node:
        """An argument without brackets: one factor; for sin and cos the whole product of names and numbers."""
        first = self.next
        if word.text == "sqrt":
            node = self.primary()
            if first.kind == "name" and (self.sees("_") or self.next.kind == "prime"):
                node = self.attached(node, first, raised=False)
            return node
        node = self.factor()
        if first.kind not in ("number", "name"):
            return node
        if word.text in ("sin", "cos"):
            factors = [node]
            while self.next.kind in ("number", "name"):
                factors.append(self.factor())
            if len(factors) == 1:
                return node
            return self.new(Product(tuple(factors), span=factors[0].span.to(factors[-1].span)))
        if self.next.kind in ("number", "name"):
            shown, written = self.shown(word), self.source[node.span.start : node.span.stop]
            fix = f"write {shown}({written}) {self.shown(self.next)}, or put all of the argument in the brackets"
            self.fail(f"the argument of {shown} may end in two places", word.span.to(self.next.span), fix)
        return node

    def big_sum(self) -> Node:
        r"""\sum_{i=1}^{n} x_i: the body is the product that follows."""
        word = self.take()
        ranges: list[Node] | None = None
        top: Node | None = None
        while self.sees("_", "^", "**"):
            if self.sees("_") and ranges is None:
                self.take()
                ranges = self.ranges()
            elif not self.sees("_") and top is None:
                self.take()
                top = self.upper(Number(value("1")), None)
            else:
                self.fail("a second bound on the same sum", self.next.span, "write \\sum_{i=1}^{n}")
        self.deeper()
        body = self.term()
        self.shallower()
        span = self.since(word.span.start)
        if ranges is None:
            ranges = [Name(self.guessed(body, word))]
        return self.summed(ranges, top, body, span)

    def guessed(self, body: Node, word: Word) -> str:
        """The index of a sum that names none: that of the first name with a letter for an index."""
        for node in walk(body):
            index = node.index if isinstance(node, Name) else None
            if isinstance(index, Name) and index == Name(index.base) and index.base not in FUNCTIONS:
                return index.base
        return self.fail("a sum needs its index", word.span, "write \\sum_{i=1}^{n} x_i")

    def ranges(self) -> list[Node]:
        """What is written under the sign: i, i=1, i != j, or several with commas."""
        if self.next.kind != "open" or self.next.text != "{":
            return [self.index()]
        opener = self.at
        self.take()
        self.bars.append("")
        found = [self.chain()]
        while self.sees(","):
            self.take()
            further, last = self.chain(), found[-1]
            if isinstance(last, Relation) and last.comparisons == ("!=",) and not isinstance(further, Relation):
                further = self.new(Relation((last.terms[0], further), ("!=",), span=further.span))  # i != a, b
            found.append(further)
        self.bars.pop()
        self.close(opener)
        return found

    def chain(self) -> Node:
        """a <= b < c, under a sign."""
        terms = [self.expression()]
        signs: list[Comparison] = []
        while self.next.kind == "relation":
            signs.append(cast("Comparison", self.take().text))
            terms.append(self.expression())
        self.no_aside()
        if not signs:
            return terms[0]
        return self.new(Relation(tuple(terms), tuple(signs), span=terms[0].span.to(terms[-1].span)))

    def summed(self, ranges: list[Node], top: Node | None, body: Node, span: Span) -> Node:
        """The sum, or sums inside one another where several indices were written."""
        lower: Node | None = None
        indices: list[str] = []
        conditions: list[Relation] = []
        for part in ranges:
            if isinstance(part, Relation) and part.comparisons == ("=",) and _is_index(part.terms[0]):
                if lower is not None:
                    self.fail("two lower bounds on one sum", part.span, "write two sums")
                lower = part.terms[1]
            elif isinstance(part, Relation):
                conditions.append(part)
            found = next(candidates(part), None)
            if found is None:
                self.fail("a sum needs an index here", part.span, "write \\sum_{i=1}^{n} or \\sum_{i \\neq j}")
            if found not in indices and (not isinstance(part, Relation) or part.comparisons == ("=",) or not indices):
                indices.append(found)
        if (lower is None) != (top is None) or (lower is not None and len(indices) > 1):
            self.fail("a sum with one bound only", span, "write \\sum_{i=1}^{n}, or \\sum_i for all values")
        for place, index in reversed(list(enumerate(indices))):
            own = tuple(conditions) if place == len(indices) - 1 else ()
            body = self.new(BigSum(index, body, lower, top, own, span=span))
        return body

    def primary(self) -> Node:
        """What stands at the beginning of a factor."""
        word = self.next
        if word.kind == "number":
            self.take()
            return self.new(Number(value(word.text), span=word.span))
        if word.kind == "name":
            self.take()
            return self.new(Name(word.text, span=word.span))
        if word.kind == "function":
            return self.call()
        if word.kind == "command" and word.text == "frac":
            return self.fraction()
        if word.kind == "command" and word.text == "sum":
            return self.big_sum()
        if word.kind == "command":
            self.fail("a limit stands at the beginning of a side only", word.span, "write \\lim_{x \\to a} y = z")
        if word.kind == "open":
            return self.bracket()
        if word.kind == "bar":
            return self.norm()
        if word.kind == "relation" and word.text == "<":
            return self.angle()
        return self.missing()

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
            self.fail("the formula is empty", self.next.span, "write a formula, ... = ...")
        node = self.inside()
        if self.next.kind != "end":
            self.unexpected()
        return node

    def terms_read(self) -> list[Part]:
        """The parts of the outermost level that were read so far."""
        return self.parts_read or []


def related(items: list[Item], fail: Fail) -> list[Node]:
    """The statements that the items make; one list where they make none."""
    found: list[Node] = []
    bare: list[Node] = []
    place = 0
    while place < len(items):
        item = items[place]
        place += 1
        if bare and item.joint != "comma":
            found.append(_listed(bare))
            bare = []
        if item.is_bare:
            bare.append(item.terms[0])
            continue
        terms, signs = list(item.terms), list(item.signs)
        if bare and signs:
            terms[0] = _listed([*bare, terms[0]])
            bare = []
        if not bare and place < len(items) and _brackets(item, items[place], terms):
            other = items[place]
            terms[-1] = _listed([terms[-1], other.terms[0]])
            terms += other.terms[1:]
            signs += other.signs
            place += 1
        follow, ends = _following(items, place)
        if len(follow) and signs and (count := _taken(terms[0], len(follow), ends)):
            found.extend(_with_list(terms, signs, follow[:count], item))
            place += count
        else:
            found.append(_one(terms, signs, item, fail))
    if bare:
        found.append(_listed(bare))
    return [part for node in found for part in _separate(node)]


def index_conditions(items: list[Item], start: int) -> tuple[int, int] | None:
    """In 'x_i = 0, i != a, b' the places of i != a, b: they say for which i the statement before them is meant.

    Only an index of that statement counts, and only after a comma: otherwise i != a is a statement as good as any.
    """
    for place in range(start + 1, len(items)):
        if not _is_apart(items[place]) or not items[place - 1].signs:
            continue
        before = (node for term in items[place - 1].terms for node in walk(term))
        indices = {part for node in before if isinstance(node, Name) and node.index for part in walk(node.index)}
        if items[place].terms[0] in indices:
            stop = place + 1
            while stop < len(items) and _is_apart(items[stop]):
                stop += 1
            more, ends = _following(items, stop)
            return place, stop + len(more) * ends
    return None


def _is_apart(item: Item) -> bool:
    """i != a after a comma, with a letter on the left."""
    first = item.terms[0]
    named = isinstance(first, Name) and first == Name(first.base)
    simple = item.signs == ["!="] and isinstance(item.terms[1], Name | Number | Listing)
    return named and simple and item.joint in ("comma", "quad") and not item.negated


def _listed(items: list[Node]) -> Node:
    if len(items) == 1:
        return items[0]
    return Listing(tuple(items), span=items[0].span.to(items[-1].span))


def _following(items: list[Item], place: int) -> tuple[list[Node], bool]:
    """The bare terms that follow with commas, and whether nothing comes after them."""
    stop = place
    while stop < len(items) and items[stop].is_bare and items[stop].joint == "comma":
        stop += 1
    return [item.terms[0] for item in items[place:stop]], stop == len(items)


def _taken(left: Node, available: int, ends: bool) -> int:
    """How many of the terms that follow belong to the right side: as many as the left side has, or all."""
    wanted = len(left.items) - 1 if isinstance(left, Listing) else 0
    if wanted:
        return wanted if available >= wanted else 0
    return available if ends else 0


def _with_list(terms: list[Node], signs: list[Comparison], more: list[Node], item: Item) -> list[Node]:
    """'a, b = c, d' compares lists; 'i != a, b' says the same of a and of b."""
    if signs[-1] in _SPREAD and not isinstance(terms[0], Listing) and not item.negated:
        first = _relation(terms, signs)
        return [first, *(_relation([terms[-2], other], [signs[-1]]) for other in more)]
    return [_negated(_relation([*terms[:-1], _listed([terms[-1], *more])], signs), item.negated)]


def _brackets(item: Item, other: Item, terms: list[Node]) -> bool:
    """0 <= s, t < 1: both lie between, when a number is on the left and the signs point the same way."""
    return (
        other.joint == "comma"
        and len(item.signs) == 1
        and bool(other.signs)
        and not (item.limits or other.limits or item.negated or other.negated)
        and isinstance(terms[0], Number)
        and isinstance(terms[-1], Name)
        and isinstance(other.terms[0], Name)
        and terms[-1] != other.terms[0]
        and any(item.signs[0] in signs and other.signs[0] in signs for signs in (_RISING, _FALLING))
    )


def _one(terms: list[Node], signs: list[Comparison], item: Item, fail: Fail) -> Node:
    node = terms[0] if not signs else _relation(terms, signs)
    if item.limits:
        node = _limit(terms, signs, item.limits, fail)
    return _negated(node, item.negated)


def _negated(node: Node, times: int) -> Node:
    for _ in range(times):
        node = Logic("not", (node,), span=node.span)
    return node


def _limit(terms: list[Node], signs: list[Comparison], limits: list[tuple[int, Node]], fail: Fail) -> Node:
    """lim x = y says x -> y under the condition."""
    side, condition = limits[0]
    if len(limits) != 1 or len(terms) != 2 or signs[0] not in ("=", "->", "~"):
        fail("a limit is read as one side of one equation", condition.span, "write \\lim_{x \\to a} y = z")
    relation = _relation([terms[side], terms[1 - side]], ["->"])
    return Quantified(relation, (condition,), span=condition.span.to(terms[-1].span))


def _relation(terms: list[Node], signs: list[Comparison]) -> Relation:
    return Relation(tuple(terms), tuple(signs), span=terms[0].span.to(terms[-1].span))


def _separate(node: Node) -> list[Node]:
    """i != {a, b} says that i is neither."""
    if isinstance(node, Relation) and node.comparisons == ("!=",):
        left, right = node.terms
        if isinstance(right, Listing) and not isinstance(left, Listing):
            return [_relation([left, other], ["!="]) for other in right.items]
    return [node]


def assembled(parts: Joined, fail: Fail) -> Node:
    """All parts as one node: several statements become one 'and'."""
    statements: list[Node] = []
    for statement, _ in _split(parts, ("semi", "line")):
        node = _implied(statement, fail)
        # items joined by commas are already one 'and': the whole is one list of statements
        plain = isinstance(node, Logic) and node.word == "and" and len(statement) > 1
        statements.extend(node.children() if plain else [node])
    return _both(statements)


def _both(items: list[Node]) -> Node:
    if len(items) == 1:
        return items[0]
    return Logic("and", tuple(items), span=items[0].span.to(items[-1].span))


def _split(parts: Joined, tags: Collection[str]) -> Iterator[tuple[Joined, Part | None]]:
    """The runs between parts of these tags, each with the part that ends it."""
    run: Joined = []
    for part in parts:
        if part.tag in tags:
            yield run, part
            run = []
        else:
            run.append(part)
    yield run, None


def _implied(parts: Joined, fail: Fail) -> Node:
    """A => B <=> C: each step is a statement; A => B, C => D are two implications."""
    cut = _between_arrows(parts)
    if cut is not None:
        return _both([_implied(parts[:cut], fail), _implied(parts[cut + 1 :], fail)])
    sides: list[Node] = []
    signs: list[Part] = []
    for run, sign in _split(parts, ("implies", "iff")):
        sides.append(_either(run, fail))
        if sign is not None:
            signs.append(sign)
    if not signs:
        return sides[0]
    steps: list[Node] = []
    for place, sign in enumerate(signs):
        left, right = sides[place], sides[place + 1]
        word = cast("Literal['implies', 'iff']", sign.tag)
        steps.append(Logic(word, (left, right), span=left.span.to(right.span)))
    return _both(steps)


def _between_arrows(parts: Joined) -> int | None:
    """The last comma between the first two arrows: there a new implication begins."""
    arrows = [place for place, part in enumerate(parts) if part.tag in ("implies", "iff")]
    if len(arrows) < 2:
        return None
    cut = _last_join(parts[arrows[0] : arrows[1]])
    return None if cut is None else arrows[0] + cut


def _either(parts: Joined, fail: Fail) -> Node:
    items = [_said(run, fail) for run, _ in _split(parts, ("or",))]
    if len(items) == 1:
        return items[0]
    return Logic("or", tuple(items), span=items[0].span.to(items[-1].span))


def _said(parts: Joined, fail: Fail) -> Node:
    """Statements, each with what it is said for."""
    nodes: list[Node] = []
    for chunk in _chunks(parts, fail):
        nodes.extend(_quantified(chunk, fail))
    return _both(nodes)


def _chunks(parts: Joined, fail: Fail) -> list[_Chunk]:
    """Where one statement's conditions end and the next statement begins.

    'x = 1 for c = 3/2, x = 2 for c = 1/2' are two: the same word comes again, so the item before it is new.
    """
    chunks = [_Chunk([], [])]
    for part in parts:
        chunk = chunks[-1]
        if part.tag == "condition":
            words = [word for word, _ in chunk.conditions]
            if part.text in words and (cut := _last_join(chunk.conditions[-1][1])) is not None:
                run = chunk.conditions[-1][1]
                chunks.append(_Chunk(run[cut + 1 :], []))
                del run[cut:]
            chunks[-1].conditions.append((part.text, []))
        elif part.tag == "aside":
            chunk.conditions.append(("(", [Part("term", part.span, node=part.node)]))
        elif chunk.conditions and chunk.conditions[-1][0] == "(":
            if part.tag not in ("comma", "and", "quad"):
                fail("a condition in brackets ends a statement", part.span, "write the condition at the end")
            chunks.append(_Chunk([], []))
        elif chunk.conditions:
            if part.tag == "continued":
                fail(
                    "this line continues a chain that ended with a condition",
                    part.span,
                    "move the condition to the end",
                )
            chunk.conditions[-1][1].append(part)
        else:
            chunk.body.append(part)
    return [chunk for chunk in chunks if chunk.body or chunk.conditions]


def _last_join(parts: Joined) -> int | None:
    return next((place for place in reversed(range(len(parts))) if parts[place].tag in ("comma", "and", "quad")), None)


def _quantified(chunk: _Chunk, fail: Fail) -> list[Node]:
    """The statement with its conditions; several statements where it has none."""
    body, conditions = chunk.body, chunk.conditions
    if not body:
        body, conditions = _prefixed(conditions, fail)
    items = _items(body, fail)
    if not conditions:
        return _with_indices(items, fail)
    nodes = related(items, fail)
    found: list[Node] = []
    for word, run in conditions:
        for node in related(_items(run, fail), fail):
            inner = isinstance(node, Logic) and node.word == "and" and word == "("
            for part in node.children() if inner else (node,):
                found.extend(part.items if isinstance(part, Listing) else (part,))
    whole = _both(nodes)
    if isinstance(whole, Quantified) and len(nodes) == 1 and len(body) > 1:  # a limit that has further conditions
        found = [*whole.conditions, *found]
        whole = whole.body
    return [Quantified(whole, tuple(found), span=nodes[0].span.to(found[-1].span))]


def _with_indices(items: list[Item], fail: Fail) -> list[Node]:
    """Statements, where 'x_i = 0, i != a' says for which i it is meant."""
    nodes: list[Node] = []
    start = 0
    while (found := index_conditions(items, start)) is not None:
        *others, last = related(items[start : found[0]], fail)
        named = related(items[found[0] : found[1]], fail)
        nodes += [*others, Quantified(last, tuple(named), span=last.span.to(named[-1].span))]
        start = found[1]
    return nodes + related(items[start:], fail)


def _prefixed(conditions: list[tuple[str, Joined]], fail: Fail) -> tuple[Joined, list[tuple[str, Joined]]]:
    """'for all i != j: x > 0', 'if c = 1 then x > 0', 'for all i != j, x > 0': the statement comes last."""
    word, run = conditions[0]
    cut = next((place for place, part in enumerate(run) if part.tag in ("colon", "then")), None)
    if cut is None:
        cut = _last_join(run)
    if cut is None or not run[:cut] or not run[cut + 1 :]:
        place = run[0].span if run else Span(0, 0)
        fail("a condition stands here without the statement it belongs to", place, "write 'x > 0 for all i != j'")
    return run[cut + 1 :], [(word, run[:cut]), *conditions[1:]]


def _items(parts: Joined, fail: Fail) -> list[Item]:
    """The items between commas, each a term or a relation."""
    items: list[Item] = []
    joint = ""
    for run, end in _split(parts, ("comma", "and", "quad")):
        items.append(_item(run, joint, fail))
        joint = end.tag if end is not None else ""
    return items


def _item(run: Joined, joint: str, fail: Fail) -> Item:
    terms: list[Node] = []
    signs: list[Comparison] = []
    limits: list[tuple[int, Node]] = []
    negated = 0
    for part in run:
        if part.tag == "term" and part.node is not None:
            terms.append(part.node)
        elif part.tag in ("relation", "continued"):
            signs.append(cast("Comparison", part.text))
        elif part.tag == "limit" and part.node is not None:
            limits.append((len(terms), part.node))
        elif part.tag == "not" and not terms:
            negated += 1
        else:
            fail(f"{part.tag if part.tag != 'colon' else ':'} cannot stand here", part.span, "write two statements")
    if len(terms) != len(signs) + 1:
        fail("a statement is not complete", run[0].span if run else Span(0, 0), "write both sides")
    return Item(terms, signs, limits, negated, joint)


def _remedy(last: Word) -> str:
    if last.kind == "sign" and last.text in "+-*/.":
        return "add what comes after the sign, or remove the sign"
    if last.kind == "relation":
        return "add the other side"
    if last.kind == "function":
        return "add the argument in brackets"
    return "add what is missing, or remove what comes before it"


def _is_index(node: Node) -> bool:
    return isinstance(node, Name) and node.index is None


def candidates(part: Node) -> Iterator[str]:
    """The names that can be the index of a sum; in 1 <= i <= n, the one in the middle first."""
    terms: tuple[Node, ...] = (part,)
    if isinstance(part, Relation):
        terms = (part.terms[1], *part.terms) if len(part.terms) == 3 else part.terms
    for term in terms:
        if isinstance(term, Name) and term.index is None and term.base not in FUNCTIONS:
            yield term.base + "'" * term.primes


def _literal(node: Node) -> bool:
    return isinstance(node, Number)
