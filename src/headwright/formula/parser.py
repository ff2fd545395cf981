"""Words into a tree: statements, sums and products, brackets, functions; statements.py joins what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal, cast

from headwright.formula import tree as t
from headwright.formula.dots import written_out
from headwright.formula.lexer import Word
from headwright.formula.scripts import Read, Scripts, signed
from headwright.formula.spellings import FUNCTIONS
from headwright.formula.statements import (
    Interval,
    Part,
    assembled,
    both,
    chain,
    fits,
    otherwise,
    said_for,
    spanned,
)

_TAGS: Final = {",": "comma", ";": "semi", ":": "colon"}
_OVER: Final = ("max", "min", "argmax", "argmin", "prod")
_MOST_CASES: Final = 50
_ONE: Final = t.Number(Fraction(1))
_STARTS: Final = ("number", "name", "function", "open", "command")  # the kinds of words that begin a factor
_ENDS_ANGLE: Final = ("end", "line", "logic", "condition", "close", "quad", "relation")
_ENDS_REASON: Final = ("end", "close", "line", "amp", "quad", "reason")


_ARROWS = ("\\xrightarrow", "\\underset", "\\overset", "\\stackrel")


class Parser(Scripts):
    """Reads words into a tree, from left to right; what cannot be read is an error that points at the place."""

    # Statements

    def whole(self) -> t.Node:
        """The whole source."""
        if self.next.kind == "end":
            self.fail("the formula is empty", self.next.span, "write a formula, ... = ...")
        node = self.inside()
        if self.next.kind != "end":
            self.unexpected()
        return node

    def inside(self) -> t.Node:
        """A statement, a list or an expression, up to where the bracket or the source ends."""
        parts: list[Part] = []
        if self.parts_read is None:
            self.parts_read = parts
        if self.goes_on():
            start = self.next.span.start
            parts.append(Part("term", self.next.span, node=t.Gap(span=t.Span(start, start))))
            self.joined(parts)
        while True:
            self.operand(parts)
            while self.next.kind in ("much", "kind"):  # t large, k integer
                self.qualified(parts, self.take())
            if not self.joined(parts):
                return assembled(parts)

    def goes_on(self) -> bool:
        """Whether the source begins here, with a relation or an arrow: it continues the formula before."""
        word = self.next
        if word.kind not in ("relation", "logic") or word.text in ("and", "or", "not"):
            return False
        if any(before.kind != "open" or before.text == "cases" for before in self.found[: self.at]):
            return False
        if word.text != "<":
            return True
        rest = self.found[self.at + 1 :]
        tight = not rest[0].spaced and any(other.is_sign(",") for other in rest)
        return not tight and not any(other.kind == "relation" and self.shown(other)[0] == ">" for other in rest)

    def operand(self, parts: list[Part]) -> None:
        """Read up to and with the next term."""
        before: Word | None = None
        while True:
            word = self.next
            if word.kind in ("condition", "logic") and word.text not in ("and", "or", "implies", "iff"):
                parts.append(Part("not" if word.kind == "logic" else "condition", word.span, word.text))
            elif (word.kind, word.text) == ("command", "lim"):
                parts.append(self.limit())
                continue
            elif word.kind in ("much", "kind") and before is None:  # for large t, for some integer k
                before = word
            elif word.kind != "reason" and (word.kind != "then" or parts):
                break
            self.take()
        quad = bool(parts) and parts[-1].tag == "quad"
        node = self.expression()
        if quad and isinstance(node, t.STATEMENTS):
            parts[-1] = Part("aside", node.span, node=node)
        else:
            parts.append(Part("term", node.span, node=node))
        if self.at_arrow is not None:
            parts.append(Part("aside", self.at_arrow.span, node=self.at_arrow))
            self.at_arrow = None
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
        node: t.Node = (
            t.Name("infinity", span=word.span) if word.text == "large" else t.Number(Fraction(0), span=word.span)
        )
        if word.kind == "kind":
            node = _domain(word)
        parts.append(Part("relation", word.span, "->" if word.kind == "much" else "in"))
        parts.append(Part("term", word.span, node=node))

    def limit(self) -> Part:
        r"""\lim_{x \to a}; where x tends to a from one side only, two statements stand under it."""
        word = self.take()
        ranges = self.ranges() if self.takes("_") else []
        signs = [part.comparisons if isinstance(part, t.Relation) else () for part in ranges]
        if signs not in ([("->",)], [("->",), (">",)], [("->",), ("<",)]):
            place = ranges[0].span if ranges else word.span
            self.fail("a limit needs what tends to what", place, "write \\lim_{x \\to a} y = z")
        return Part("limit", self.since(word.span.start), node=both(ranges))

    def joined(self, parts: list[Part]) -> bool:
        """Read what joins the next term to this one; False where the statement ends."""
        continued = False
        if self.next.kind == "line" and not self.bars:
            line, follows = self.take(), self.next
            continued = follows.kind == "relation"
            if not continued and (follows.kind not in ("logic", "condition", "then") or follows.text == "not"):
                parts.append(Part("line", line.span))
                return True
        word = self.next
        if word.is_sign(",;:"):
            follows = self.found[self.at + 1]
            self.take()
            if word.text != ":" and follows.kind in ("close", "end", "amp", "line"):
                return False
            joins = follows.kind in ("then", "reason") or (follows.kind == "logic" and follows.text != "not")
            if word.text != ":" and (joins or (word.text == "," and follows.kind == "condition")):
                return self.joined(parts)
            parts.append(Part(_TAGS[word.text], word.span))
            return True
        if word.kind == "logic":
            parts.append(Part("relation" if word.text == "not" else word.text, word.span, "!="))
        elif word.kind in ("relation", "condition", "then", "quad", "reason"):
            parts.append(Part("continued" if continued else word.kind, word.span, word.text))
        else:
            return False
        self.take()
        if self.source.startswith(_ARROWS, word.span.start):
            self.over_arrow()
        if word.kind == "reason" and (self.next.kind in _ENDS_REASON or self.sees(",", ";")):
            parts.pop()
            return self.joined(parts)
        return True

    def over_arrow(self) -> None:
        r"""x \xrightarrow{t \to 0} y: what stands at the arrow says for which the statement is meant."""
        found: list[t.Node] = []
        while self.next.kind == "open" and self.next.text in ("{", "["):
            if self.pairs[self.at] == self.at + 1:
                self.take()
                self.take()
                continue
            with self.enclosed():
                found += self.chain()
        if any(not isinstance(part, t.Relation) for part in found):
            self.fail(
                "what stands at an arrow is no condition", spanned(found), "write 'as x \\to a' after the statement"
            )
        self.at_arrow = both(found) if found else None

    # Sums and products

    def expression(self) -> t.Node:
        """A sum of terms."""
        start = self.next.span.start
        terms = self.below(self.terms)
        if len(terms) == 1:
            return terms[0]
        if t.has_dots(terms):
            return written_out(terms, self.since(start))
        return t.Sum(tuple(terms), span=self.since(start))

    def terms(self) -> list[t.Node]:
        """Terms with + and - before them."""
        found: list[t.Node] = []
        while not found or (self.aside is None and self.sees("+", "-")):
            sign = self.take() if self.sees("+", "-") else None
            node = self.term()
            again = isinstance(node, t.Dots) and found and isinstance(found[-1], t.Negative)  # - x_1 - ... - x_n
            found.append(signed(sign, node) if sign and not again else node)
        return found

    def term(self) -> t.Node:
        """Products and quotients from left to right; a dot joins what is on its two sides."""
        start = self.next.span.start
        dotted: t.Node | None = None
        factors = [self.factor()]
        while True:
            if self.takes("*"):
                factors.append(self.factor())
            elif self.takes("/"):
                over, under = _product(factors), self.factor()
                factors = [t.Quotient(over, under, span=over.span.to(under.span))]
            elif self.takes("."):
                dotted = self.dot(dotted, _product(factors), start)
                factors = [self.factor()]
            elif not self.starts() or not self.beside(factors):
                return self.dot(dotted, _product(factors), start)

    def dot(self, left: t.Node | None, right: t.Node, start: int) -> t.Node:
        """The inner product with what is left of the dot, if there is one."""
        return right if left is None else t.Inner(left, right, span=self.since(start))

    def beside(self, factors: list[t.Node]) -> bool:
        """Read a factor that is written next to the others; False where it turns out to be a statement in brackets."""
        before, word = self.last, self.next
        if (word.kind, word.text, word.spaced, before.kind) == ("open", "[", False, "name"):
            self.refuse_entry()
        node = self.factor()
        if isinstance(node, t.STATEMENTS) and word.kind == "open":
            self.aside = node
            return False
        if before.kind == "number" and isinstance(factors[-1], t.Number):
            if word.kind == "number":
                fix = "write * between them, or remove the space"
                self.fail("two numbers stand side by side", before.span.to(word.span), fix)
            match node:
                case t.Quotient(t.Number(), t.Number()) if word.text == "frac":
                    fix = "write + or \\cdot between them"
                    self.fail("a number before a fraction can mean a sum or a product", before.span.to(node.span), fix)
        factors.append(node)
        return True

    def refuse_entry(self) -> None:
        """Refuse k[1], which Python reads as an index."""
        inside = self.found[self.at + 1]
        if self.pairs[self.at] == self.at + 2 and inside.kind in ("number", "name"):
            name, index = self.shown(self.last), self.shown(inside)
            fix = f"write {name}_{{{index}}} for the index, or {name} ({index}) for the product"
            place = self.last.span.to(self.next.span)
            self.fail("a single entry in [ ] can mean an index or a product", place, fix)

    def starts(self) -> bool:
        """Whether the next word begins a factor."""
        word = self.next
        if word.kind == "bar":
            return not self.bars or self.bars[-1] not in (word.text, self.shown(word)[:1])
        if word.kind == "relation":
            return word.text == "<" and self.is_angle()
        if word.kind == "dots":
            self.missing()
        return word.kind in (*_STARTS, "domain") and word.text != "lim"

    def is_angle(self) -> bool:
        """Whether < after an operand opens <a, b>: tight inside, with a comma, and nothing glued to its end."""
        place, comma = self.at + 1, False
        if self.found[place].spaced:
            return False
        while (word := self.found[place]).kind not in _ENDS_ANGLE:
            comma = comma or word.is_sign(",")
            place = self.pairs.get(place, place) + 1
        glued = any(not after.spaced and after.kind in _STARTS for after in self.found[place + 1 : place + 2])
        return comma and word.text in (">", ">=", ">>") and not word.spaced and not glued

    def factor(self) -> t.Node:
        """A number, name, bracket or call, with its index, primes and exponents."""
        first = self.next
        if self.takes("+", "-"):
            return signed(first, self.below(self.factor))
        base = self.primary()
        if self.sees("_", "^", "**") or self.next.kind in ("prime", "transposed"):
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
            case "domain", _:
                node = _domain(word)
            case "dots", _:
                node = t.Dots(span=word.span)
            case "function", _:
                return self.call()
            case "command", "frac":
                return self.fraction()
            case "command", "cases":
                return self.plain_cases()
            case "command", "lim":
                self.fail("a limit stands at the beginning of a side only", word.span, "write \\lim_{x \\to a} y = z")
            case "command", _:
                return self.big(self.take())
            case "open", _:
                return self.bracket()
            case "bar", _:
                return self.norm()
            case "relation", "<":
                return self.angle()
            case _:
                self.missing()
        self.take()
        return node

    # Brackets

    def bracket(self) -> t.Node:
        """( ), [ ], { }, a matrix, \\lceil \\rceil, or \\left| \\right|."""
        word, start = self.next, self.next.span.start
        special = {"matrix": self.matrix, "cases": self.cases, "<": self.angle}
        if word.text in special:
            return special[word.text]()
        if word.text in "([" and (self.last.kind, self.last.text[-2:]) == ("relation", "in"):
            return self.interval()
        if word.text == "[" and self.is_rows():
            with self.enclosed():
                rows = self.separated(self.listed)
            return self.table(rows, self.since(start))
        if self.pairs[self.at] == self.at + 1:
            place = word.span.to(self.found[self.at + 1].span)
            self.fail("nothing stands inside the bracket", place, "fill it, or remove it")
        is_norm = word.text in ("|", "||")
        rounded = word.text in ("ceil", "floor")
        with self.enclosed():
            node = self.expression() if is_norm or rounded else self.inside()
        self.no_aside()
        if rounded:
            return t.Call(word.text, (node,), span=self.since(start))
        return t.Norm(node, span=self.since(start)) if is_norm else replace(node, span=self.since(start))

    def is_rows(self) -> bool:
        """Whether a bracket holds nothing but brackets: [[1, 0], [0, 1]]."""
        place, end = self.at + 1, self.pairs[self.at]
        while (self.found[place].kind, self.found[place].text) == ("open", "["):
            place = self.pairs[place] + 1
            if place == end or not self.found[place].is_sign(","):
                return place == end
            place += 1
        return False

    def separated(self, read: Callable[[], Read]) -> list[Read]:
        """What has commas between it."""
        found = [read()]
        while self.takes(","):
            found.append(read())
        self.no_aside()
        return found

    def listed(self) -> list[t.Node]:
        """Expressions with commas between them, in brackets."""
        with self.enclosed():
            return self.separated(self.expression)

    def interval(self) -> t.Node:
        """[0, 1) after 'in'; several numbers in round brackets are a list."""
        word = self.next
        ends = self.listed()
        span = self.since(word.span.start)
        if len(ends) != 2:
            return t.Listing(tuple(ends), span=span) if len(ends) > 2 else ends[0]
        low: t.Comparison = "<=" if word.text == "[" else "<"
        high: t.Comparison = "<=" if self.shown(self.last)[-1:] == "]" else "<"
        return Interval(ends[0], (low, high), ends[1], span=span)

    def norm(self) -> t.Node:
        """|x|, ||x||."""
        opener = self.take()
        self.bars.append(opener.text)
        node = self.expression()
        self.no_aside()
        self.bars.pop()
        if opener.text == "|" and self.shown(self.next) == "||":  # |a||b|: the first half closes
            return t.Norm(node, span=opener.span.to(self.cut("bar", "|")))
        if (self.next.kind, self.next.text) != ("bar", opener.text):
            fix = "close it with the same bar; a condition in a probability is written with 'given'"
            self.fail(f"the bar {self.shown(opener)} is never closed", opener.span, fix)
        self.take()
        return t.Norm(node, span=self.since(opener.span.start))

    def angle(self) -> t.Node:
        """<a, b>, however the angles are written."""
        opener = self.take()
        self.bars.append("")
        left = self.expression()
        if not self.takes(","):
            message = "an inner product has two sides with a comma between them"
            self.fail(message, opener.span, "write \\langle a, b \\rangle")
        right = self.expression()
        self.no_aside()
        self.bars.pop()
        word = self.next
        if opener.kind == "open" and word.kind != "close":
            self.unexpected()
        if opener.kind != "open" and (word.kind != "relation" or self.shown(word)[0] != ">" or word.text == "->"):
            self.fail("the bracket < is never closed", opener.span, "add > where the inner product ends")
        if word.text in (">=", ">>"):  # the > is glued to what follows
            self.cut("relation", word.text[1:])
        else:
            self.take()
        return t.Inner(left, right, span=self.since(opener.span.start))

    def matrix(self) -> t.Node:
        r"""\begin{pmatrix} a & b \\ c & d \end{pmatrix}."""
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
                self.no_aside()
        return self.table([row for row in rows if row], self.since(start))

    def table(self, rows: list[list[t.Node]], span: t.Span) -> t.Node:
        """Rows of one length."""
        if not rows or len({len(row) for row in rows}) != 1:
            lengths = ", ".join(str(len(row)) for row in rows[:9]) or "no"
            self.fail(f"the rows of a matrix have {lengths} entries", span, "give every row the same number of entries")
        return t.Matrix(tuple(t.Listing(tuple(row), span=row[0].span.to(row[-1].span)) for row in rows), span=span)

    def cases(self) -> t.Node:
        r"""\begin{cases} a & c = 1 \\ b & \text{otherwise} \end{cases}; without conditions, statements side by side."""
        start = self.next.span.start
        rows: list[t.Quantified] = []
        with self.enclosed():
            while self.next.kind != "close":
                if self.next.kind == "line":
                    self.take()
                else:
                    rows.append(self.branch(rows))
        span = self.since(start)
        if not 0 < len(rows) <= _MOST_CASES:
            self.fail(f"there are {len(rows)} cases", span, f"write 1 to {_MOST_CASES} values with their conditions")
        if all(isinstance(row.body, t.STATEMENTS) for row in rows):
            found = [part for row in rows for part in said_for([row.body], row.conditions, row.span)]
            return replace(both(found), span=span)
        if any(isinstance(row.body, t.STATEMENTS) or not row.conditions for row in rows):
            self.fail("every case needs a value and its condition", span, "write 1 & i = j \\\\ 0 & i \\ne j")
        return t.Cases(tuple(rows), span=span)

    def branch(self, others: list[t.Quantified]) -> t.Quantified:
        """One row of the cases."""
        start = self.next.span.start
        body = self.inside()
        conditions: list[t.Node] = []
        if isinstance(body, t.Quantified) and not isinstance(body.body, t.STATEMENTS):
            conditions, body = list(body.conditions), body.body
        while self.next.kind in ("amp", "condition"):
            if self.next.kind == "amp":
                self.take()
            elif self.next.text == "otherwise":
                self.take()
                conditions += otherwise(others)
                break
            else:
                conditions += self.case_condition()
        if self.last.kind == "amp" and self.next.kind not in ("line", "close"):
            conditions += self.case_condition()
        if self.next.kind not in ("line", "close"):
            self.unexpected()
        return t.Quantified(body, tuple(conditions), span=self.since(start))

    def case_condition(self) -> tuple[t.Node, ...]:
        """'i = j', or 'if i = j'."""
        node = self.inside()
        if isinstance(node, t.Quantified) and isinstance(node.body, t.Gap):
            return node.conditions
        return t.conjuncts(node)

    def plain_cases(self) -> t.Node:
        """cases(1 for i = j; 0 for i != j)."""
        word = self.take()
        node = self.bracket() if self.next.kind == "open" else self.missing()
        rows = t.conjuncts(node)
        branches = tuple(row for row in rows if isinstance(row, t.Quantified))
        if len(branches) != len(rows) or len(rows) > _MOST_CASES:
            self.fail("every case needs a value and its condition", node.span, "write cases(1 for i = j; 0 for i != j)")
        return t.Cases(branches, span=self.since(word.span.start))

    # Functions

    def fraction(self) -> t.Node:
        r"""\frac{a}{b}, \frac12."""
        word = self.take()
        over = self.argument(word, "a numerator and a denominator")
        under = self.argument(word, "a denominator after its numerator")
        return t.Quotient(over, under, span=self.since(word.span.start))

    def argument(self, command: Word, what: str) -> t.Node:
        """An argument of a TeX command: in braces, or a single sign."""
        word = self.next
        if word.kind == "number" and len(word.text) > 1:
            if not word.text.isdigit():
                message = "a number without braces after \\frac can be read in two ways"
                self.fail(message, word.span, "write \\frac{a}{b}")
            return t.Number(Fraction(word.text[0]), span=self.cut("number", word.text[1:]))
        if word.kind not in ("number", "name", "function", "command", "open"):
            shown = self.shown(command)
            self.fail(f"{shown} needs {what}", command.span, f"write {shown}{{a}}{{b}}")
        return self.primary() if word.kind == "open" else self.below(self.primary)  # a bracket counts itself

    def scripts(self, under: Callable[[], Read], again: str, fix: str) -> tuple[Read | None, t.Node | None]:
        r"""What stands under and over a sign, in any order: \sum_{i=1}^{n}, \log_2^2."""
        low: Read | None = None
        high: t.Node | None = None
        while self.sees("_", "^", "**"):
            if (low if self.sees("_") else high) is not None:
                self.fail(again, self.next.span, fix)
            if self.take().text == "_":
                low = under()
            else:
                high = self.upper(_ONE, None)
        return low, high

    def call(self) -> t.Node:
        """A function with its exponent, its index and its arguments."""
        word = self.take()
        if word.text in _OVER and self.sees("_"):
            return self.big(word)
        index, power = self.scripts(self.index, "a second index or exponent on a function", "use brackets")
        if isinstance(power, t.Negative):
            self.fail("a negative exponent on a function can mean its inverse", power.span, "write 1/f(x)")
        basic = isinstance(index, t.Number) or (isinstance(index, t.Name) and index.base not in FUNCTIONS)
        if index is not None and word.text != "norm" and not (word.text == "ln" and basic):
            self.fail(f"an index on {self.shown(word)} is not read", index.span, "write all arguments in brackets")
        arguments, root = self.arguments(word)
        node = self.applied(word, index, arguments)
        if root is not None:
            one = replace(_ONE, span=root.span)
            node = t.Power(arguments[0], t.Quotient(one, root, span=root.span), span=node.span)
        return node if power is None else t.Power(node, power, span=node.span)

    def applied(self, word: Word, index: t.Node | None, arguments: tuple[t.Node, ...]) -> t.Node:
        """A function of its arguments."""
        span = self.since(word.span.start)
        if word.text == "inner" and len(arguments) == 2:
            return t.Inner(*arguments, span=span)
        if len(arguments) != 1 and word.text not in ("max", "min", "diag", "N", "Cov"):
            message = f"{self.shown(word)} takes one argument, and here are {len(arguments)}"
            self.fail(message, span, "remove the others")
        if word.text == "norm":
            return self.normed(t.Norm(arguments[0], span=span), index)
        if word.text == "transpose":
            return t.Transpose(arguments[0], span=span)
        node = t.Call(word.text, arguments, span=span)
        return node if index is None else t.Quotient(node, t.Call("ln", (index,), span=index.span), span=span)

    def arguments(self, word: Word) -> tuple[tuple[t.Node, ...], t.Node | None]:
        r"""What the function is applied to, and n for \sqrt[n]{x}."""
        opener = self.next
        if opener.kind != "open" or opener.text not in ("(", "[", "{", "\\{"):
            return (self.below(lambda: self.bare(word)),), None
        if self.pairs[self.at] == self.at + 1:
            place = word.span.to(self.found[self.at + 1].span)
            self.fail(f"{self.shown(word)} has no argument", place, "write it in the brackets")
        if word.text == "P":
            with self.enclosed():
                return (self.inside(),), None
        found = self.listed()
        if word.text == "sqrt" and opener.text == "[" and (self.next.kind, self.next.text) == ("open", "{"):
            return (self.bracket(),), found[0]
        return tuple(found), None

    def bare(self, word: Word) -> t.Node:
        """An argument without brackets: one factor; for sin and cos the whole product of names and numbers."""
        first = self.next
        if word.text == "sqrt":
            node = self.primary()
            if first.kind == "name" and (self.sees("_") or self.next.kind == "prime"):
                node = self.attached(node, first, raised=False)
            return node
        node = self.factor()
        if first.kind not in ("number", "name") or self.next.kind not in ("number", "name"):
            return node
        if word.text not in ("sin", "cos"):
            shown, written = self.shown(word), self.source[node.span.start : node.span.stop]
            fix = f"write {shown}({written}) {self.shown(self.next)}, or put all of the argument in the brackets"
            self.fail(f"the argument of {shown} may end in two places", word.span.to(self.next.span), fix)
        factors = [node]
        while self.next.kind in ("number", "name"):
            factors.append(self.factor())
        return _product(factors)

    # Sums over an index

    def big(self, word: Word) -> t.Node:
        r"""\sum_{i=1}^{n} x_i, \max_{i \ne j} x_i: the body is the product that follows."""
        ranges, top = self.scripts(self.ranges, "a second bound on the same sum", "write \\sum_{i=1}^{n}")
        body = self.below(self.term)
        span = self.since(word.span.start)
        return self.summed(word, ranges or [t.Name(self.guessed(body, word))], top, body, span)

    def guessed(self, body: t.Node, word: Word) -> str:
        """The index of a sum that names none: that of the first name with a letter for an index."""
        for node in t.walk(body):
            index = node.index if isinstance(node, t.Name) else None
            if isinstance(index, t.Name) and index == t.Name(index.base) and index.base not in FUNCTIONS:
                return index.base
        return self.fail("a sum needs its index", word.span, "write \\sum_{i=1}^{n} x_i")

    def ranges(self) -> list[t.Node]:
        """What is written under the sign: i, i=1, i != j, or several with commas."""
        if (self.next.kind, self.next.text) != ("open", "{"):
            return [self.index()]
        with self.enclosed():
            found, *others = self.separated(self.chain)
        for further in others:
            last = found[-1]
            if isinstance(last, t.Relation) and last.comparisons == ("!=",) and not isinstance(further[0], t.Relation):
                further = [t.Relation((last.terms[0], further[0]), ("!=",), span=further[0].span)]  # i != a, b
            found += further
        return found

    def chain(self) -> list[t.Node]:
        """a <= b < c, under a sign."""
        terms = [self.expression()]
        signs: list[str] = []
        while self.next.kind == "relation":
            signs.append(self.take().text)
            terms.append(self.expression())
        self.no_aside()
        if signs == ["="]:
            return [t.Relation(tuple(terms), ("=",), span=terms[0].span.to(terms[1].span))]
        return chain(terms, signs) if signs else terms

    def summed(self, word: Word, ranges: list[t.Node], top: t.Node | None, body: t.Node, span: t.Span) -> t.Node:
        """The sum, or sums inside one another where several indices were written."""
        match ranges:
            case [t.Bond("in", t.Name(index, None, 0), t.Listing(values))] if word.text == "sum" and top is None:
                if not t.has_dots(values) and fits([body], len(values)):
                    return t.Sum(tuple(t.put(body, index, part) for part in values), span=span)
        fix = "write \\sum_{i=1}^{n} or \\sum_{i \\neq j}"
        lower: t.Node | None = None
        indices: list[str] = []
        conditions: list[t.Node] = []
        for part in ranges:
            is_set = isinstance(part, t.Relation) and part.comparisons == ("=",)
            if isinstance(part, t.Relation) and is_set and t.is_letter(part.terms[0]):
                if lower is not None:
                    self.fail("two lower bounds on one sum", part.span, "write two sums")
                lower = part.terms[1]
            elif isinstance(part, t.Relation) or _of_a_set(part):
                conditions.append(part)
            elif isinstance(part, t.STATEMENTS):
                self.fail("this is not read under a sum", part.span, fix)
            found = next(candidates(part), None)
            if found is None:
                self.fail("a sum needs an index here", part.span, fix)
            if found not in indices and (not isinstance(part, t.Relation) or is_set or not indices):
                indices.append(found)
        if (lower is None) != (top is None) or (lower is not None and len(indices) > 1):
            self.fail("a sum with one bound only", span, "write \\sum_{i=1}^{n}, or \\sum_i for all values")
        own = tuple(conditions)  # they are said of the innermost index
        for index in reversed(indices):
            if word.text == "sum":
                body = t.BigSum(index, body, lower, top, own, span=span)
            else:
                over = cast("Literal['max', 'min', 'argmax', 'argmin', 'prod']", word.text)
                body = t.BigCall(over, index, body, lower, top, own, span=span)
            own = ()
        return body


def _product(factors: list[t.Node]) -> t.Node:
    return factors[0] if len(factors) == 1 else t.Product(tuple(factors), span=factors[0].span.to(factors[-1].span))


def _domain(word: Word) -> t.Domain:
    return t.Domain(cast("Literal['R', 'Z', 'N']", word.text), span=word.span)


def _of_a_set(node: t.Node) -> bool:
    """i in S, or i not in S, where S is a name."""
    match node:
        case t.Logic("not", (t.Bond("in", t.Name(_, None), t.Name(_, None)),)) | t.Bond(
            "in", t.Name(_, None), t.Name(_, None)
        ):
            return True
        case _:
            return False


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
        if isinstance(term, t.Name) and term.index is None and term.base not in FUNCTIONS:
            yield term.base + "'" * term.primes
