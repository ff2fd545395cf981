"""Numbers, vectors and matrices told apart; products given their meaning.

typed(tree, shape_of) checks that sizes agree and gives back a tree that says what was meant: a dot between a number and
a vector is a product, 1 b is ones b where a number does not fit, I is an I of a known size, and the softmax of a column
is written as that of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from headwright.formulas import tree as t
from headwright.formulas.dots import written_out
from headwright.formulas.errors import FormulaError, ShapeError
from headwright.formulas.show import plain


def spelt(node: t.Node) -> str:
    """A name, an index or a size as exercises spell it: k_a, W_1, sigma_{k-1}, x', k-1."""
    match node:
        case t.Number(value):
            return str(value)
        case t.Name(base, index, primes):
            inner = "" if index is None else spelt(index)
            return (
                base
                + (
                    f"_{inner if inner.isalnum() else '{' + inner + '}'}"
                    if inner
                    else ""
                )
                + "'" * primes
            )
        case t.Negative(body):
            return f"-{spelt(body)}"
        case t.Sum(terms):
            return "+".join(spelt(term) for term in terms).replace("+-", "-")
        case t.Listing(items):
            return ",".join(spelt(item) for item in items)
        case _:
            return plain(node)


Size = int | str  # 3, or the name of a dimension: "d"


@dataclass(frozen=True)
class Shape:
    """Rows and columns. Vectors are columns; numbers are 1 x 1; a size may be a name."""

    rows: Size
    columns: Size


SCALAR = Shape(1, 1)
ONE = t.Number(Fraction(1))
ShapeOf = Callable[[t.Name], Shape | None]


@dataclass(frozen=True)
class Hole(t.Node):
    """The size of one I, as long as it is not known. Stands as the index of that I."""

    number: int


@dataclass
class Sizes:
    """What has been found out about holes; two sizes are made the same, or cannot be."""

    found: dict[int, Size | Hole] = field(default_factory=dict)
    _count: int = 0

    def hole(self) -> Hole:
        """A size that nothing is known about, but that it is not 1: an I is not a number."""
        self._count += 1
        return Hole(self._count)

    def known(self, size: Size | Hole) -> Size | Hole:
        """The size that a hole has turned out to be, or the hole that now speaks for it."""
        while isinstance(size, Hole) and size.number in self.found:
            size = self.found[size.number]
        return size

    def same(self, left: Size | Hole, right: Size | Hole) -> bool:
        """Make two sizes the same; False, with nothing changed, if they are not and cannot be."""
        left, right = self.known(left), self.known(right)
        if left == right:
            return True
        if not isinstance(left, Hole):
            left, right = right, left
        if not isinstance(left, Hole) or right == 1:
            return False
        self.found[left.number] = right
        return True


@dataclass(frozen=True)
class Term:
    """A typed node and its sizes, as far as they are known."""

    node: t.Node
    rows: Size | Hole
    columns: Size | Hole


def misfit(
    message: str, span: t.Span, fix: str = "", *, certain: bool = False
) -> FormulaError:
    """What is wrong and where; certain if sizes contradict each other, whatever the matrices are."""
    return (ShapeError if certain else FormulaError)(message, "", span, fix=fix)


def agreed(terms: list[Term], how: str, typer: Typer) -> list[Term]:
    """The terms, all of one shape; 0 fits any."""
    first, *others = [term for term in terms if term.node != t.ZERO] or terms[:1]
    known = typer.sizes.known
    for other in others:
        if typer.sizes.same(first.rows, other.rows) and typer.sizes.same(
            first.columns, other.columns
        ):
            continue
        # A number beside a matrix may be short for a multiple of I; two other shapes cannot be mended.
        number = typer.is_scalar(first) or typer.is_scalar(other)
        fix = "write c I if the identity is meant" if number else ""
        if not number and known(first.rows) == known(other.columns):
            fix = r"is a transpose missing? write x^\top"
        said = f"{typer.text(other)} cannot be {how} {typer.text(first)}"
        raise misfit(said, other.node.span, fix, certain=not number)
    return terms


def _all_ones(node: t.Node) -> t.Node:
    """The same with the vector of ones for every 1 that is a factor, a side of a comparison, or transposed."""
    if isinstance(node, t.Product | t.Relation | t.Transpose):
        node = t.mapped(
            node, lambda part: t.Name("ones", span=part.span) if part == ONE else part
        )
    return t.mapped(node, _all_ones)


def product(factors: Sequence[Term], typer: Typer, node: t.Node) -> Term:
    """The product from left to right."""
    known = typer.sizes.known
    whole = left = factors[0]
    for term in factors[1:]:
        if typer.is_scalar(whole):
            whole = left = term
        elif not typer.is_scalar(term):
            if not typer.sizes.same(whole.columns, term.rows):
                said, fix = (
                    f"{typer.text(left)} times {typer.text(term)}: the sizes that meet differ",
                    "",
                )
                if known(left.rows) == known(term.rows) or known(left.columns) == known(
                    term.columns
                ):
                    turned = (
                        left.node if known(left.rows) == known(term.rows) else term.node
                    )
                    fix = f"is {plain(turned.body if isinstance(turned, t.Transpose) else t.Transpose(turned))} meant?"
                rows = any(
                    known(one.rows) == 1 and not typer.is_scalar(one)
                    for one in factors[1:]
                )  # A k^T q: A times a number
                raise misfit(
                    said, left.node.span.to(term.node.span), fix, certain=not rows
                )
            whole, left = Term(whole.node, whole.rows, term.columns), term
    return Term(
        t.Product(tuple(term.node for term in factors), span=node.span),
        whole.rows,
        whole.columns,
    )


_OF_NUMBERS = ("exp", "ln", "sqrt", "sin", "cos", "abs", "Var")


def typed_call(node: t.Call, typer: Typer) -> Term:
    """A call with its arguments typed; P(X) is a product where P is a known matrix."""
    name = t.Name(node.function, span=node.span)
    match node:
        case t.Call("P" | "E", (argument,)) if typer.known(name) is not None:
            return product([typer.name(name), typer.term(argument)], typer, node)
        case t.Call("diag", (t.BigSum(), t.Name("I", size))) if (
            size is not None
        ):  # it is typed already
            return Term(node, spelt(size), spelt(size))
        case t.Call("diag", arguments) if t.has_dots(arguments):
            return _run(node, typer)
    terms = [typer.term(part) for part in node.arguments]
    new = t.Call(node.function, tuple(term.node for term in terms), span=node.span)
    if (
        node.function in ("max", "min", "diag")
        and terms
        and all(typer.is_scalar(term) for term in terms)
    ):
        return (
            Term(new, len(terms), len(terms))
            if node.function == "diag"
            else Term(new, 1, 1)
        )
    if len(terms) != 1:
        raise misfit(
            f"{node.function} of {len(terms)} arguments is not read here", node.span
        )
    body = terms[0]
    scalar = typer.is_scalar(body)
    vector = 1 in (body.rows, body.columns)
    match node.function:
        case function if function in _OF_NUMBERS and not scalar:
            fix = "write softmax(...) if that is meant" if function == "exp" else ""
            raise misfit(
                f"{function} takes a number, not {typer.text(body)}", node.span, fix
            )
        case "softmax" if scalar:
            raise misfit("softmax takes a vector or a matrix, not a number", node.span)
        case "softmax" if (
            body.columns == 1
        ):  # over the entries of a column; a matrix of one column goes row by row
            row = t.Transpose(body.node, span=body.node.span)
            return Term(
                t.Transpose(t.Call("softmax", (row,), span=node.span), span=node.span),
                body.rows,
                1,
            )
        case "softmax" | "relu" | "E":
            return Term(new, body.rows, body.columns)
        case "trace" if not typer.sizes.same(body.rows, body.columns):
            sure = isinstance(body.rows, int) and isinstance(
                body.columns, int
            )  # of n and d it is not known
            square = f"{'is not' if sure else 'need not be'} square, and only a square matrix has a trace"
            raise misfit(f"{typer.text(body)} {square}", node.span, certain=True)
        case "diag" | "max" | "min" if not vector:
            raise misfit(
                f"{node.function} takes numbers or a vector, not {typer.text(body)}",
                node.span,
            )
        case "diag":
            return Term(new, typer.length(body), typer.length(body))
    return Term(new, 1, 1)


def _run(node: t.Call, typer: Typer) -> Term:
    """diag(s_1, ..., s_m, 0, ..., 0) as diag of the sum over s_i, whose terms are the entries, and an I of its size."""
    place = next(
        place for place, part in enumerate(node.arguments) if isinstance(part, t.Dots)
    )
    run, rest = (
        written_out(node.arguments[: place + 2], node.span),
        node.arguments[place + 2 :],
    )
    entries = typer.term(run)
    zeros = all(part == t.ZERO or isinstance(part, t.Dots) for part in rest) and (
        not rest or rest[0] == t.ZERO
    )
    total = entries.node
    if (
        not isinstance(total, t.BigSum)
        or total.upper is None
        or not typer.is_scalar(entries)
        or not zeros
    ):
        raise misfit("what stands on the diagonal is not understood", node.span)
    size: Size | Hole = typer.sizes.hole() if rest else spelt(total.upper)
    index = size if isinstance(size, Hole) else total.upper
    return Term(t.Call("diag", (total, t.Name("I", index)), span=node.span), size, size)


CONSTANTS = ("pi", "e", "oo", "infinity", "infty")


@dataclass
class Typer:
    """Reads trees bottom up; sizes of I are found on the way."""

    shape_of: ShapeOf
    sizes: Sizes = field(default_factory=Sizes)
    bound: frozenset[str] = frozenset()

    def within(self, *names: str) -> Typer:
        """The same, inside a sum over an index or a statement for all values of a name: those are numbers."""
        return Typer(self.shape_of, self.sizes, self.bound | set(names))

    def known(self, name: t.Name) -> Shape | None:
        """The shape of a name, if it has one."""
        if name.index is None and not name.primes and name.base in self.bound:
            return SCALAR
        shape = self.shape_of(name)
        constant = name.index is None and not name.primes and name.base in CONSTANTS
        return SCALAR if shape is None and constant else shape

    # Statements

    def statement(self, node: t.Node) -> t.Node:
        """A comparison, a listing or a term, typed."""
        match node:
            case t.Relation():
                return self.relation(node)
            case t.Listing():
                return t.mapped(node, self.statement)
            case _:
                return self.term(node).node

    def new_names(self, conditions: Sequence[t.Node]) -> list[str]:
        """The letters in some conditions that nothing is known of: labels, which are numbers."""
        letters = [
            name
            for name in t.every_name(*conditions)
            if t.is_letter(name) and not name.primes
        ]
        return [
            name.base
            for name in letters
            if name.base != "I" and self.known(name) is None
        ]

    def relation(self, node: t.Relation) -> t.Relation:
        """A chain of comparisons: all terms of one shape."""
        same = agreed([self.term(part) for part in node.terms], "compared with", self)
        tall = next((term for term in same if not self.is_scalar(term)), None)
        if tall is not None and any(
            sign not in ("=", "!=", "~", "->") for sign in node.comparisons
        ):
            raise misfit(
                f"{self.text(tall)} has no order: only numbers are larger or smaller",
                node.span,
            )
        return t.Relation(
            tuple(term.node for term in same), node.comparisons, span=node.span
        )

    # Terms

    def term(self, node: t.Node) -> Term:
        """Anything that has a shape."""
        match node:
            case t.Number():
                return Term(node, 1, 1)
            case t.Name():
                return self.name(node)
            case t.Sum(terms):
                parts = agreed([self.term(part) for part in terms], "added to", self)
                kept = next((part for part in parts if part.node != t.ZERO), parts[0])
                return Term(
                    t.Sum(tuple(part.node for part in parts), span=node.span),
                    kept.rows,
                    kept.columns,
                )
            case t.Negative(body):
                inside = self.term(body)
                return Term(
                    t.Negative(inside.node, span=node.span), inside.rows, inside.columns
                )
            case t.Transpose(body):
                inside = self.term(body)
                return Term(
                    t.Transpose(inside.node, span=node.span),
                    inside.columns,
                    inside.rows,
                )
            case t.Product(factors):
                return product([self.term(part) for part in factors], self, node)
            case t.Inner(left, right):
                return self.inner(self.term(left), self.term(right), node)
            case t.Quotient(over, under):
                above, below = self.term(over), self.scalar(under, "what is divided by")
                return Term(
                    t.Quotient(above.node, below, span=node.span),
                    above.rows,
                    above.columns,
                )
            case t.Power(base, exponent):
                return self.power(self.term(base), exponent, node)
            case t.Norm(body, kind):
                return self.norm(self.term(body), kind, node)
            case t.Call():
                return typed_call(node, self)
            case t.BigSum() | t.BigCall():
                return self.big(node)
            case t.Listing(items) if len(items) == 1:
                return self.term(items[0])
            case _:
                raise misfit(
                    f"{t.called(node)} stands where a number, a vector or a matrix is needed",
                    node.span,
                )

    def name(self, node: t.Name) -> Term:
        """A known name; I; a prime that means a transpose."""
        shape = self.known(node)
        if shape is not None:
            return Term(node, shape.rows, shape.columns)
        if node.base == "I" and not node.primes:
            if node.index is None:
                hole = self.sizes.hole()
                return Term(t.Name("I", hole, span=node.span), hole, hole)
            if (
                isinstance(node.index, t.Number)
                and node.index.value.denominator == 1
                and node.index.value >= 1
            ):
                return Term(node, int(node.index.value), int(node.index.value))
            return Term(node, spelt(node.index), spelt(node.index))
        raise misfit(
            f"{plain(node)} is not known", node.span, "use the names that are given"
        )

    def inner(self, left: Term, right: Term, node: t.Node) -> Term:
        """<a, b> of two vectors; an ordinary product if one of them is a number, or a matrix meets a vector."""
        vectors = [1 in (term.rows, term.columns) for term in (left, right)]
        if (
            self.is_scalar(left)
            or self.is_scalar(right)
            or vectors in ([True, False], [False, True])
        ):
            return product([left, right], self, node)
        if not all(vectors):
            fix = r"write A B for the product, or trace(A^\top B)"
            raise misfit(
                "an inner product of two matrices may mean two things", node.span, fix
            )
        if not self.sizes.same(self.length(left), self.length(right)):
            said = f"{self.text(left)} and {self.text(right)} differ in length: they have no inner product"
            raise misfit(said, node.span)
        return Term(t.Inner(left.node, right.node, span=node.span), 1, 1)

    def power(self, base: Term, exponent: t.Node, node: t.Node) -> Term:
        """Numbers to any power; square matrices to whole ones, -1 being the inverse."""
        if self.is_scalar(base):
            return Term(
                t.Power(
                    base.node, self.scalar(exponent, "an exponent"), span=node.span
                ),
                1,
                1,
            )
        size = exponent.body if isinstance(exponent, t.Negative) else exponent
        if not (isinstance(size, t.Number) and size.value.denominator == 1):
            raise misfit(
                f"{self.text(base)} is raised to what is not a whole number", node.span
            )
        if not self.sizes.same(base.rows, base.columns):
            vector = 1 in (base.rows, base.columns)
            fix = (
                r"write \|v\|^2 or v^\top v"
                if vector
                else "only square matrices have powers"
            )
            raise misfit(
                f"{self.text(base)} has no powers", node.span, fix, certain=True
            )
        return Term(
            t.Power(base.node, exponent, span=node.span), base.rows, base.columns
        )

    def norm(self, body: Term, kind: str, node: t.Node) -> Term:
        """|v|, |A|_F, |A|_2: a number."""
        if kind == "" and 1 not in (body.rows, body.columns):
            raise misfit(
                f"a norm of {self.text(body)} may mean two things",
                node.span,
                r"write \|A\|_F or \|A\|_2",
            )
        return Term(t.mapped(node, lambda _: body.node), 1, 1)

    def big(self, node: t.BigSum | t.BigCall) -> Term:
        """The index is a number inside."""
        lower = (
            None
            if node.lower is None
            else self.scalar(node.lower, "the lower end of a sum")
        )
        upper = (
            None
            if node.upper is None
            else self.scalar(node.upper, "the upper end of a sum")
        )
        inside = self.within(node.index)
        labelled = inside.within(*inside.new_names(node.conditions))
        conditions = tuple(
            labelled.statement(condition) for condition in node.conditions
        )
        body = inside.term(node.body)
        if isinstance(node, t.BigSum):
            new = t.BigSum(
                node.index, body.node, lower, upper, conditions, span=node.span
            )
            return Term(new, body.rows, body.columns)
        if not self.is_scalar(body):
            raise misfit(
                f"{node.word} is taken of numbers, not of {self.text(body)}", node.span
            )
        return Term(
            t.BigCall(
                node.word,
                node.index,
                body.node,
                lower,
                upper,
                conditions,
                span=node.span,
            ),
            1,
            1,
        )

    # What they share

    def scalar(self, node: t.Node, what: str) -> t.Node:
        """A number, or the error that says what should have been one."""
        term = self.term(node)
        if not self.is_scalar(term):
            raise misfit(
                f"{what} must be a number, and {self.text(term)} is not", node.span
            )
        return term.node

    def is_scalar(self, term: Term) -> bool:
        """1 x 1, for certain."""
        return self.sizes.known(term.rows) == 1 and self.sizes.known(term.columns) == 1

    def length(self, term: Term) -> Size | Hole:
        """Of a vector, lying or standing."""
        return term.columns if term.rows == 1 else term.rows

    def text(self, term: Term) -> str:
        """What it is called and its shape."""
        rows, columns = (self.sizes.known(size) for size in (term.rows, term.columns))
        if self.is_scalar(term):
            return f"the number {plain(term.node)}"
        sizes = " x ".join(
            "?" if isinstance(size, Hole) else str(size) for size in (rows, columns)
        )
        return f"{plain(term.node)} ({sizes})"


def typed(node: t.Node, shape_of: ShapeOf, *, source: str = "") -> t.Node:
    """The tree with its products given their meaning; FormulaError, with the place, where shapes do not fit.

    The source, if given, is shown in errors.
    """
    typer = Typer(shape_of)
    try:
        return _filled(typer.statement(node), typer)
    except FormulaError as error:
        placed = error.moved(replace(error.span, source=error.source or source))
        meant = _all_ones(node) if typer.known(t.Name("ones")) is not None else node
        if meant == node:
            raise placed from error
        try:  # P 1 b, P 1 = 1: what does not fit as a number may as the vector
            return typed(meant, shape_of, source=source)
        except FormulaError as other:  # with only some of them the vector it may fit: it is not certainly wrong
            raise FormulaError(
                placed.message, placed.source, placed.span, fix=placed.fix
            ) from other


def shape(node: t.Node, shape_of: ShapeOf) -> Shape:
    """The shape of what a tree stands for, typed or not."""
    typer = Typer(shape_of)
    term = typer.term(typed(node, shape_of))
    rows, columns = typer.sizes.known(term.rows), typer.sizes.known(term.columns)
    if isinstance(rows, Hole) or isinstance(columns, Hole):
        raise _unknown_identity(node)
    return Shape(rows, columns)


def _filled(node: t.Node, typer: Typer) -> t.Node:
    if isinstance(node, t.Name) and isinstance(node.index, Hole):
        size = typer.sizes.known(node.index)
        if isinstance(size, Hole):
            raise _unknown_identity(node)
        index: t.Node = (
            t.Name(size) if isinstance(size, str) else t.Number(Fraction(size))
        )
        return t.Name(node.base, index, node.primes, span=node.span)
    return t.mapped(node, lambda part: _filled(part, typer))


def _unknown_identity(node: t.Node) -> FormulaError:
    return misfit(
        "nothing here says how large I is",
        node.span,
        "write I_d for the d x d identity",
    )
