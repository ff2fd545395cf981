"""Words into a tree: terms, sums and products, brackets, functions; statements.py joins what is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal, NoReturn, TypeVar, cast

from headwright.formula.errors import DEEPEST, LARGEST, MOST_PRIMES, FormulaError
from headwright.formula.reading.dots import written_out
from headwright.formula.reading.lexer import Word, value
from headwright.formula.reading.lines import partners
from headwright.formula.reading.spellings import FUNCTIONS, NAMES
from headwright.formula.reading.statements import Interval, Part, assembled, both, chain, fits, otherwise, said_for
from headwright.formula.tree import (
    STATEMENTS,
    BigCall,
    BigSum,
    Bond,
    Call,
    Cases,
    Comparison,
    Domain,
    Dots,
    Gap,
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
    put,
    walk,
)

Made = TypeVar("Made", bound=Node)
Raise = tuple[str, Node | None]  # ("top", None), ("prime", None), ("star", None), ("index", node), ("power", exponent)
_TAGS: Final = {",": "comma", ";": "semi", ":": "colon"}
_OVER: Final = ("max", "min", "argmax", "argmin", "prod")
_MOST_CASES: Final = 50


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
        if word.kind == "much":
            self.fail(f"{self.shown(word)} needs a name beside it", word.span, "write t \\gg n, or t \\to \\infty")
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

    def cases(self) -> Node:
        r"""\begin{cases} a & c = 1 \\ b & \text{otherwise} \end{cases}; without conditions, statements side by side."""
        opener = self.at
        word = self.take()
        self.bars.append("")
        rows: list[Quantified] = []
        while self.at != self.pairs[opener]:
            if self.next.kind == "line":
                self.take()
            else:
                rows.append(self.branch(rows))
        self.bars.pop()
        self.take()
        span = self.since(word.span.start)
        if not 0 < len(rows) <= _MOST_CASES:
            self.fail(f"there are {len(rows)} cases", span, f"write 1 to {_MOST_CASES} values with their conditions")
        if all(isinstance(row.body, STATEMENTS) for row in rows):
            found = [part for row in rows for part in said_for([row.body], row.conditions, row.span)]
            return replace(both(found), span=span)
        if any(isinstance(row.body, STATEMENTS) or not row.conditions for row in rows):
            self.fail("every case needs a value and its condition", span, "write 1 & i = j \\\\ 0 & i \\ne j")
        return self.new(Cases(tuple(rows), span=span))

    def plain_cases(self) -> Node:
        """cases(1 for i = j; 0 for i != j)."""
        word = self.take()
        node = self.bracket() if self.next.kind == "open" else self.missing()
        rows = node.items if isinstance(node, Logic) and node.word == "and" else (node,)
        branches = tuple(row for row in rows if isinstance(row, Quantified))
        if len(branches) != len(rows) or len(rows) > _MOST_CASES:
            self.fail("every case needs a value and its condition", node.span, "write cases(1 for i = j; 0 for i != j)")
        return self.new(Cases(branches, span=self.since(word.span.start)))

    def branch(self, others: list[Quantified]) -> Quantified:
        """One row of the cases."""
        start = self.next.span.start
        body = self.inside()
        conditions: list[Node] = []
        if isinstance(body, Quantified) and not isinstance(body.body, STATEMENTS):
            conditions, body = list(body.conditions), body.body
        while self.next.kind in ("amp", "condition"):
            if self.next.kind == "amp":
                self.take()
                continue
            if self.next.text == "otherwise":
                self.take()
                conditions += otherwise(others)
                break
            conditions += self.case_condition()
        if self.last.kind == "amp" and self.next.kind not in ("line", "close"):
            conditions += self.case_condition()
        if self.next.kind not in ("line", "close"):
            self.unexpected()
        return self.new(Quantified(body, tuple(conditions), span=self.since(start)))

    def case_condition(self) -> tuple[Node, ...]:
        """'i = j', or 'if i = j'."""
        node = self.inside()
        if isinstance(node, Quantified) and isinstance(node.body, Gap):
            return node.conditions
        return node.items if isinstance(node, Logic) and node.word == "and" else (node,)

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
        start = self.take().span.start
        self.bars.append("")
        rows: list[list[Node]] = []
        while self.at != self.pairs[opener]:
            self.take()
            rows.append(self.listed())
            if self.sees(","):
                self.take()
        self.bars.pop()
        self.take()
        return self.table(rows, self.since(start))

    def listed(self) -> list[Node]:
        """Expressions with commas between them, up to the end of the bracket that was just opened."""
        opener = self.at - 1
        self.bars.append("")
        found = [self.expression()]
        while self.sees(","):
            self.take()
            found.append(self.expression())
        self.no_aside()
        self.bars.pop()
        self.close(opener)
        return found

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
        if word.text == "cases":
            return self.cases()
        if word.text == "<":
            return self.angle()
        if word.text in "([" and (self.last.kind, self.last.text[-2:]) == ("relation", "in"):
            return self.interval()
        if word.text == "[" and self.is_rows():
            return self.rows()
        self.take()
        if self.pairs[opener] == self.at:
            self.fail("nothing stands inside the bracket", word.span.to(self.next.span), "fill it, or remove it")
        self.bars.append("")
        node = self.expression() if word.text in ("|", "||") else self.inside(goes_on=self.goes_on())
        self.bars.pop()
        self.close(opener)
        if word.text in ("|", "||"):
            self.no_aside()
            return self.new(Norm(node, span=self.since(word.span.start)))
        return replace(node, span=self.since(word.span.start))

    def interval(self) -> Node:
        """[0, 1) after 'in'; several numbers in round brackets are a list."""
        word = self.take()
        ends = self.listed()
        span = self.since(word.span.start)
        if len(ends) != 2:
            return self.new(Listing(tuple(ends), span=span)) if len(ends) > 2 else ends[0]
        low: Comparison = "<=" if word.text == "[" else "<"
        high: Comparison = "<=" if self.shown(self.last)[-1:] == "]" else "<"
        return self.new(Interval(ends[0], (low, high), ends[1], span=span))

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
        if word.text in _OVER and self.sees("_"):
            return self.big(word)
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
        if len(arguments) != 1 and word.text not in ("max", "min", "diag", "N"):
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
        if self.at == self.pairs[opener]:
            self.fail(f"{self.shown(word)} has no argument", word.span.to(self.next.span), "write it in the brackets")
        if word.text == "P":
            self.bars.append("")
            found = [self.inside()]
            self.bars.pop()
            self.close(opener)
        else:
            found = self.listed()
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

    def big(self, word: Word) -> Node:
        r"""\sum_{i=1}^{n} x_i, \max_{i \ne j} x_i: the body is the product that follows."""
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
        return self.summed(word, ranges, top, body, span)

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
        found = self.chain()
        while self.sees(","):
            self.take()
            further, last = self.chain(), found[-1]
            if isinstance(last, Relation) and last.comparisons == ("!=",) and not isinstance(further[0], Relation):
                further = [self.new(Relation((last.terms[0], further[0]), ("!=",), span=further[0].span))]  # i != a, b
            found += further
        self.bars.pop()
        self.close(opener)
        return found

    def chain(self) -> list[Node]:
        """a <= b < c, under a sign."""
        terms = [self.expression()]
        signs: list[str] = []
        while self.next.kind == "relation":
            signs.append(self.take().text)
            terms.append(self.expression())
        self.no_aside()
        if signs == ["="]:
            return [self.new(Relation((terms[0], terms[1]), ("=",), span=terms[0].span.to(terms[1].span)))]
        return [self.new(node) for node in chain(terms, signs)] if signs else terms

    def summed(self, word: Word, ranges: list[Node], top: Node | None, body: Node, span: Span) -> Node:
        """The sum, or sums inside one another where several indices were written."""
        match ranges:
            case [Bond("in", Name(index, None, 0), Listing(values))] if word.text == "sum" and top is None:
                if not any(isinstance(part, Dots) for part in values) and fits([body], len(values)):
                    return self.new(Sum(tuple(put(body, index, part) for part in values), span=span))
        lower: Node | None = None
        indices: list[str] = []
        conditions: list[Node] = []
        for part in ranges:
            if isinstance(part, Relation) and part.comparisons == ("=",) and _is_index(part.terms[0]):
                if lower is not None:
                    self.fail("two lower bounds on one sum", part.span, "write two sums")
                lower = part.terms[1]
            elif isinstance(part, Relation) or _of_a_set(part):
                conditions.append(part)
            elif isinstance(part, STATEMENTS):
                self.fail("this is not read under a sum", part.span, "write \\sum_{i=1}^{n} or \\sum_{i \\neq j}")
            found = next(candidates(part), None)
            if found is None:
                self.fail("a sum needs an index here", part.span, "write \\sum_{i=1}^{n} or \\sum_{i \\neq j}")
            if found not in indices and (not isinstance(part, Relation) or part.comparisons == ("=",) or not indices):
                indices.append(found)
        if (lower is None) != (top is None) or (lower is not None and len(indices) > 1):
            self.fail("a sum with one bound only", span, "write \\sum_{i=1}^{n}, or \\sum_i for all values")
        for place, index in reversed(list(enumerate(indices))):
            own = tuple(conditions) if place == len(indices) - 1 else ()
            if word.text == "sum":
                body = self.new(BigSum(index, body, lower, top, own, span=span))
            else:
                over = cast("Literal['max', 'min', 'argmax', 'argmin', 'prod']", word.text)
                body = self.new(BigCall(over, index, body, lower, top, own, span=span))
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
        if word.kind == "command" and word.text == "cases":
            return self.plain_cases()
        if word.kind == "command" and word.text != "lim":
            return self.big(self.take())
        if word.kind == "domain":
            self.take()
            return self.new(Domain(cast("Literal['R', 'Z', 'N']", word.text), span=word.span))
        if word.kind == "dots":
            self.take()
            return self.new(Dots(span=word.span))
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
        self.refuse_part(base)
        if isinstance(base, Number):
            fix = "write \\mathbf{1}_n for the vector of ones" if base.value == 1 else "remove the index"
            self.fail("a number has an index", mark.span, fix)
        if not isinstance(base, Norm) and not (isinstance(base, Name) and (first.kind == "name" or braced)):
            self.fail("only a name or a norm can carry an index", mark.span, "give the expression a name of its own")
        self.take()
        return self.index()

    def refuse_part(self, base: Node) -> None:
        """Refuse R_+, which holds 0 for some and not for others."""
        if isinstance(base, Domain):
            self.fail("a part of the numbers is not read", self.next.span, "write x > 0, or x \\ge 0")

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
            upper = [node for kind, node in raises if kind == "index" and node is not None]
            stars = sum(kind == "star" for kind, _ in raises)
            raises = [part for part in raises if part[0] not in ("index", "star")]
            if index is not None or primes or upper or stars:
                index = base.index if index is None else index
                lower = index.items if isinstance(index, Listing) else () if index is None else (index,)
                if upper:  # q^{(1)} is q_1, and alpha_a^{(1)} is alpha_{1,a}
                    both_ = (*upper, *lower)
                    index = both_[0] if len(both_) == 1 else self.new(Listing(both_, span=self.since(start)))
                base = Name(base.base + "star" * stars, index, base.primes + primes, span=self.since(start))
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
        if len(inside) == 1 and (inside[0].kind, inside[0].text) in (("sign", "+"), ("sign", "-")):
            self.refuse_part(base)
        if isinstance(base, Name) and base != Name("e") and (upper := self.upper_index(inside)):
            self.at = self.pairs.get(start, start) + 1
            return upper
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

    def upper_index(self, inside: list[Word]) -> list[Raise]:
        r"""What q^{(1)}, q^{(1)\top}, Z^{\text{perm}} and q^* carry; nothing for an exponent."""
        found: list[Raise] = []
        if len(inside) > 3 and (inside[-1].kind, inside[-1].text) in (("top", "top"), ("name", "T")):
            found, inside = [("top", None)], inside[:-1]
        match [(word.kind, word.text) for word in inside]:
            case [("open", "("), ("number" | "name", text), ("close", "(")] if text != "T":
                node = Number(value(text)) if inside[1].kind == "number" else Name(text)
                return [("index", replace(self.new(node), span=inside[1].span)), *found]
            case [("name", text)] if len(text) > 1 and self.shown(inside[0]).startswith("\\") and _is_word(text):
                return [("index", self.new(Name(text, span=inside[0].span)))]
            case [("sign" | "star", "*")]:
                return [("star", None)]
        return []

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
        if len(terms) > 1 and any(isinstance(term, Dots) for term in terms):
            return self.new(written_out(terms, self.since(start)))
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
        if word.kind == "command":
            return word.text != "lim"
        return word.kind in ("number", "name", "function", "open", "domain")

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

    def inside(self, *, goes_on: bool = False) -> Node:
        """A statement, a list or an expression, up to where the bracket or the source ends."""
        parts: list[Part] = []
        if self.parts_read is None:
            self.parts_read = parts  # of the outermost level: told in an error as what was understood
        if goes_on:
            parts.append(
                Part("term", self.next.span, node=self.new(Gap(span=Span(self.next.span.start, self.next.span.start))))
            )
            self.joined(parts)
        while True:
            self.operand(parts)
            while self.next.kind in ("much", "kind"):  # t large, k integer
                self.qualified(parts, self.take())
            if not self.joined(parts):
                return self.new(assembled(parts))

    def operand(self, parts: list[Part]) -> None:
        """Read up to and with the next term."""
        before: Word | None = None
        while True:
            word = self.next
            if word.kind in ("condition", "logic") and word.text not in ("and", "or", "implies", "iff"):
                self.take()
                parts.append(Part("not" if word.kind == "logic" else "condition", word.span, word.text))
            elif word.kind == "command" and word.text == "lim":
                self.take()
                parts.append(self.limit(word.span.start))
            elif word.kind in ("much", "kind") and before is None:  # for large t, for some integer k
                before = self.take()
            elif word.kind == "reason" or (word.kind == "then" and not parts):
                self.take()
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
        if before is not None:
            term = parts[-1]
            self.qualified(parts, before)
            if self.next.kind == "relation":  # for large t > n
                parts += [Part("and", term.span), term]

    def qualified(self, parts: list[Part], word: Word) -> None:
        """'t large' says that t tends to infinity, 'k integer' that it is in Z."""
        node: Node = Name("infinity", span=word.span) if word.text == "large" else Number(value("0"), span=word.span)
        if word.kind == "kind":
            node = Domain(cast("Literal['R', 'Z', 'N']", word.text), span=word.span)
        parts.append(Part("relation", word.span, "->" if word.kind == "much" else "in"))
        parts.append(Part("term", word.span, node=self.new(node)))

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
        if word.kind == "sign" and word.text in _TAGS:
            self.take()
            follows = self.next
            if word.text in ",;" and follows.kind in ("close", "end", "amp", "line"):
                return False
            if word.text in ",;" and follows.text != "not" and follows.kind in ("logic", "then", "reason"):
                return self.joined(parts)
            if word.text == "," and follows.kind == "condition":
                return self.joined(parts)
            parts.append(Part(_TAGS[word.text], word.span))
            return True
        if word.kind == "relation":
            parts.append(Part("continued" if continued else "relation", word.span, word.text))
        elif word.kind == "logic":
            parts.append(Part(word.text if word.text != "not" else "relation", word.span, "!="))
        elif word.kind in ("condition", "then", "quad"):
            parts.append(Part(word.kind, word.span, word.text))
        elif word.kind == "reason":
            self.take()
            if self.next.kind in ("end", "close", "line", "amp", "quad", "reason") or self.sees(",", ";"):
                return self.joined(parts)
            parts.append(Part("reason", word.span))
            return True
        else:
            return False
        self.take()
        return True

    def whole(self) -> Node:
        """The whole source."""
        if self.next.kind == "end":
            self.fail("the formula is empty", self.next.span, "write a formula, ... = ...")
        node = self.inside(goes_on=self.goes_on())
        if self.next.kind != "end":
            self.unexpected()
        return node

    def goes_on(self) -> bool:
        """Whether the source begins here, with a relation or an arrow: it continues the formula before."""
        word = self.next
        if word.kind not in ("relation", "logic") or word.text in ("and", "or", "not"):
            return False
        if any(before.kind != "open" for before in self.found[: self.at]):
            return False
        if word.text != "<":
            return True
        rest = self.found[self.at + 1 :]
        tight = not rest[0].spaced and any((other.kind, other.text) == ("sign", ",") for other in rest)
        return not tight and not any(other.kind == "relation" and self.shown(other)[0] == ">" for other in rest)


def _remedy(last: Word) -> str:
    if last.kind == "sign" and last.text in "+-*/.":
        return "add what comes after the sign, or remove the sign"
    if last.kind == "relation":
        return "add the other side"
    if last.kind == "function":
        return "add the argument in brackets"
    return "add what is missing, or remove what comes before it"


def _is_word(text: str) -> bool:
    """perm, new: no Greek letter, and none with an accent."""
    return text.isalpha() and text not in NAMES and not text.endswith(("hat", "tilde", "bar", "star"))


def _is_index(node: Node) -> bool:
    return isinstance(node, Name) and node.index is None


def _of_a_set(node: Node) -> bool:
    """i in S, or i not in S, where S is a name."""
    match node:
        case Logic("not", (Bond("in", Name(_, None), Name(_, None)),)) | Bond("in", Name(_, None), Name(_, None)):
            return True
        case _:
            return False


def candidates(part: Node) -> Iterator[str]:
    """The names that can be the index of a sum; in 1 <= i <= n, the one in the middle first."""
    terms: tuple[Node, ...] = (part,)
    if isinstance(part, Logic) and part.word == "not":
        part = part.items[0]
    if isinstance(part, Bond):
        terms = (part.left,)
    if isinstance(part, Relation):
        terms = (part.terms[1], *part.terms) if len(part.terms) == 3 else part.terms
    for term in terms:
        if isinstance(term, Name) and term.index is None and term.base not in FUNCTIONS:
            yield term.base + "'" * term.primes


def _literal(node: Node) -> bool:
    return isinstance(node, Number)
