"""Numbers, vectors and matrices told apart; products given their meaning.

typed(tree, shape_of) checks that sizes agree and gives back a tree that says what was meant: a dot between a number and
a vector is a product, x' is a transpose where x is a vector, 1 b next to a matrix of T rows is ones b, I is an I of a
known size, and the softmax of a column is written as that of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import takewhile

from headwright.formula import tree as t
from headwright.formula.dots import written_out
from headwright.formula.errors import FormulaError, ShapeError
from headwright.formula.show import plain


def spelt(node: t.Node) -> str:
    """A name, an index or a size as exercises spell it: k_a, W_1, sigma_{k-1}, x', k-1."""
    match node:
        case t.Number(value):
            return str(value)
        case t.Name(base, index, primes):
            inner = "" if index is None else spelt(index)
            return base + (f"_{inner if inner.isalnum() else '{' + inner + '}'}" if inner else "") + "'" * primes
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

    def __str__(self) -> str:
        """As said aloud."""
        return f"{self.rows} x {self.columns}"


SCALAR = Shape(1, 1)
ONE = t.Number(Fraction(1))
ShapeOf = Callable[[t.Name], Shape | None]


@dataclass(frozen=True)
class Hole(t.Node):
    """The size of one I, as long as it is not known. Stands as the index of that I."""

    number: int


def shown(node: t.Node) -> str:
    """A typed node for messages; an I whose size is not known yet is I."""

    def bare(part: t.Node) -> t.Node:
        unknown = isinstance(part, t.Name) and isinstance(part.index, Hole)
        return t.Name(part.base) if unknown else t.mapped(part, bare)  # type: ignore[attr-defined]

    return plain(bare(node))


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


def misfit(message: str, span: t.Span, fix: str = "") -> FormulaError:
    """What is wrong and where; shapes.typed adds the source."""
    return FormulaError(message, "", span, fix=fix)


def unfit(message: str, span: t.Span, fix: str = "") -> ShapeError:
    """Sizes that contradict each other, whatever the matrices are."""
    return ShapeError(message, "", span, fix=fix)


def agreed(terms: list[Term], how: str, typer: Typer) -> list[Term]:
    """The terms, all of one shape: 0 fits any, and 1 b becomes ones b next to a matrix."""
    kept = [term for term in terms if not is_zero(term.node)]
    tall = next((term for term in kept if typer.sizes.known(term.rows) != 1), None)
    if tall is not None:
        terms = [with_ones(term, tall, typer) for term in terms]
        kept = [term for term in terms if not is_zero(term.node)]
    for other in kept[1:]:
        first = kept[0]
        if not (typer.sizes.same(first.rows, other.rows) and typer.sizes.same(first.columns, other.columns)):
            # A number beside a matrix may be short for a multiple of I; two other shapes cannot be mended.
            wrong = misfit if typer.is_scalar(first) or typer.is_scalar(other) else unfit
            said = f"{typer.text(other)} cannot be {how} {typer.text(first)}"
            raise wrong(said, other.node.span, _remedy(typer, first, other))
    return terms


def _remedy(typer: Typer, first: Term, other: Term) -> str:
    if typer.is_scalar(first) or typer.is_scalar(other):
        return "write c I if the identity is meant"
    low = next((term for term in (first, other) if term.rows == 1), None)
    if low is not None and typer.sizes.known(first.columns) == typer.sizes.known(other.columns):
        return f"write 1 {shown(low.node)} to add it to every row"
    if typer.sizes.known(first.rows) == typer.sizes.known(other.columns):
        return r"is a transpose missing? write x^\top"
    return ""


def with_ones(term: Term, tall: Term, typer: Typer) -> Term:
    """1 b next to a matrix of T rows is ones b: b in each row."""
    sizes, new = typer.sizes, _ones_first(term.node)
    if new is None or sizes.known(term.rows) != 1 or typer.is_scalar(term):
        return term
    ones = typer.known(t.Name("ones")) if sizes.known(term.columns) == sizes.known(tall.columns) else None
    if ones is None or ones.columns != 1 or not sizes.same(ones.rows, tall.rows):
        return term
    return Term(new, ones.rows, term.columns)


def _ones_first(node: t.Node) -> t.Node | None:
    """The same with the vector of ones for a 1 at its beginning; None where there is no such 1."""
    match node:
        case t.Negative(body) if (inner := _ones_first(body)) is not None:
            return t.Negative(inner, span=node.span)
        case t.Quotient(over, under) if (inner := _ones_first(over)) is not None:
            return t.Quotient(inner, under, span=node.span)
        case t.Product((t.Number(1) as one, *others)):
            return t.Product((t.Name("ones", span=one.span), *others), span=node.span)
    return None


def _all_ones(node: t.Node) -> t.Node:
    """The same with the vector of ones for every 1 that is a factor, a side of a comparison, or transposed."""
    if isinstance(node, t.Product | t.Relation | t.Transpose):
        node = t.mapped(node, lambda part: t.Name("ones", span=part.span) if part == ONE else part)
    return t.mapped(node, _all_ones)


def is_zero(node: t.Node) -> bool:
    """A written 0, which fits any shape."""
    return isinstance(node, t.Number) and node.value == 0


def product(factors: Sequence[Term], typer: Typer, node: t.Node) -> Term:
    """The product from left to right; where that fails, an inner product such as x^T y is the number it is."""
    terms = list(factors)
    while True:
        saved = dict(typer.sizes.found)
        whole = _chained(terms, typer)
        if isinstance(whole, Term):
            new = t.Product(tuple(term.node for term in terms), span=node.span)
            return Term(new, whole.rows, whole.columns)
        typer.sizes.found = saved
        closed = _with_a_number_closed(terms, typer)
        if closed is None:
            raise _mismatch(terms, whole, typer)
        terms = closed


def _chained(terms: Sequence[Term], typer: Typer) -> Term | int:
    """The product of all, or the place of the first factor that does not fit what is on its left."""
    whole = terms[0]
    for place, term in enumerate(terms[1:], start=1):
        if typer.is_scalar(whole):
            whole = term
        elif not typer.is_scalar(term):
            if not typer.sizes.same(whole.columns, term.rows):
                return place
            whole = Term(whole.node, whole.rows, term.columns)
    return whole


def _with_a_number_closed(terms: list[Term], typer: Typer) -> list[Term] | None:
    for start in range(1, len(terms)):
        if typer.sizes.known(terms[start].rows) != 1 or typer.is_scalar(terms[start]):
            continue
        for stop in range(start + 2, len(terms) + 1):
            saved = dict(typer.sizes.found)
            whole = _chained(terms[start:stop], typer)
            if isinstance(whole, Term) and typer.is_scalar(whole):
                inside = t.Product(tuple(term.node for term in terms[start:stop]), span=terms[start].node.span)
                return [*terms[:start], Term(inside, 1, 1), *terms[stop:]]
            typer.sizes.found = saved
    return None


def _mismatch(terms: Sequence[Term], place: Term | int, typer: Typer) -> FormulaError:
    at = place if isinstance(place, int) else len(terms) - 1
    left, right = next(term for term in reversed(terms[:at]) if not typer.is_scalar(term)), terms[at]
    known = typer.sizes.known
    said, fix = "the sizes that meet differ", ""
    if left.columns == right.columns == 1 and known(left.rows) == known(right.rows):
        said = "two columns have no product"
        one, other = (
            shown(term.node) if isinstance(term.node, t.Name) else name for term, name in ((left, "k_i"), (right, "q"))
        )
        fix = rf"write {one}^\top {other} for the inner product"
    elif known(left.rows) == known(right.rows):
        fix = f"is {_turned(left.node)} meant?"
    elif known(left.columns) == known(right.columns):
        fix = f"is {_turned(right.node)} meant?"
    said = f"{typer.text(left)} times {typer.text(right)}: {said}"
    return unfit(said, left.node.span.to(right.node.span), fix)


def _turned(node: t.Node) -> str:
    return shown(node.body if isinstance(node, t.Transpose) else t.Transpose(node))


_OF_NUMBERS = ("exp", "ln", "sqrt", "sin", "cos", "abs", "ceil", "floor", "Var")


def typed_call(node: t.Call, typer: Typer) -> Term:
    """A call with its arguments typed; P(X) is a product where P is a known matrix."""
    name = t.Name(node.function, span=node.span)
    if node.function in ("P", "E") and typer.known(name) is not None and len(node.arguments) == 1:
        return product([typer.name(name), typer.term(node.arguments[0])], typer, node)
    if node.function == "P":
        return Term(t.Call("P", tuple(typer.statement(part) for part in node.arguments), span=node.span), 1, 1)
    match node:
        case t.Call("diag", (t.BigSum(), t.Name("I", size))) if size is not None:  # it is typed already
            return Term(node, spelt(size), spelt(size))
        case t.Call("diag", arguments) if t.has_dots(arguments):
            behind = _behind_zeros(node)
            return _run(node, typer) if behind is None else typer.term(behind)
    terms = [typer.term(part) for part in node.arguments]
    if node.function in ("max", "min") or (node.function == "diag" and len(terms) > 1):
        return _several(node, terms, typer)
    if len(terms) != 1:
        raise misfit(f"{node.function} takes one argument, {len(terms)} given", node.span)
    return _single(node, terms[0], typer)


def _behind_zeros(node: t.Call) -> t.Node | None:
    """diag(0, ..., 0, s_k, ..., s_d) as diag(s_1, ..., s_d) - diag(s_1, ..., s_{k-1}, 0, ..., 0); None for others."""
    zeros = list(takewhile(lambda part: is_zero(part) or isinstance(part, t.Dots), node.arguments))
    match node.arguments[len(zeros) :]:
        case (t.Name(base, t.Node() as index, 0) as start, t.Dots() as dots, t.Name(other, t.Node(), 0) as end):
            if base != other or not zeros or not is_zero(zeros[0]) or not is_zero(zeros[-1]):
                return None
        case _:
            return None
    match index:
        case t.Sum((k, t.Number(value))) if value == 1:
            before = k
        case t.Name():
            before = t.Sum((index, t.Negative(ONE)), span=index.span)
        case _:
            return None
    first = replace(start, index=ONE)
    whole = (first, dots, end)
    head = (first, dots, replace(start, index=before), zeros[0], dots, zeros[0])
    return t.Sum((replace(node, arguments=whole), t.Negative(replace(node, arguments=head))), span=node.span)


def _run(node: t.Call, typer: Typer) -> Term:
    """diag(s_1, ..., s_m, 0, ..., 0) as diag of the sum over s_i, whose terms are the entries, and an I of its size."""
    place = next(place for place, part in enumerate(node.arguments) if isinstance(part, t.Dots))
    run, rest = written_out(node.arguments[: place + 2], node.span), node.arguments[place + 2 :]
    entries = typer.term(run)
    if not isinstance(entries.node, t.BigSum) or entries.node.upper is None or not typer.is_scalar(entries):
        raise misfit("diag takes numbers, or one vector", node.span)
    if rest and not (all(is_zero(part) or isinstance(part, t.Dots) for part in rest) and is_zero(rest[0])):
        raise misfit("what stands after the dots of a diagonal matrix is not understood", node.span)
    size: Size | Hole = typer.sizes.hole() if rest else spelt(entries.node.upper)
    index = size if isinstance(size, Hole) else entries.node.upper
    return Term(t.Call("diag", (entries.node, t.Name("I", index)), span=node.span), size, size)


def _several(node: t.Call, terms: list[Term], typer: Typer) -> Term:
    new = t.Call(node.function, tuple(term.node for term in terms), span=node.span)
    vector = len(terms) == 1 and 1 in (terms[0].rows, terms[0].columns)
    if not terms or not (vector or all(typer.is_scalar(term) for term in terms)):
        raise misfit(f"{node.function} takes numbers, or one vector", node.span)
    return Term(new, len(terms), len(terms)) if node.function == "diag" else Term(new, 1, 1)


def _single(node: t.Call, body: Term, typer: Typer) -> Term:
    new = t.Call(node.function, (body.node,), span=node.span)
    scalar = typer.is_scalar(body)
    vector = 1 in (body.rows, body.columns)
    match node.function:
        case "abs" if vector and not scalar:
            return Term(t.Norm(body.node, span=node.span), 1, 1)
        case function if function in _OF_NUMBERS:
            if not scalar:
                fix = "write softmax(...) if that is meant" if function == "exp" else ""
                raise misfit(f"{function} takes a number, not {typer.text(body)}", node.span, fix)
        case "softmax":
            if scalar:
                raise misfit("softmax takes a vector or a matrix, not a number", node.span)
            if body.columns == 1:  # over the entries of a column; a matrix of one column would be taken row by row
                row = t.Transpose(body.node, span=body.node.span)
                return Term(t.Transpose(t.Call("softmax", (row,), span=node.span), span=node.span), body.rows, 1)
            return Term(new, body.rows, body.columns)
        case "relu" | "E":
            return Term(new, body.rows, body.columns)
        case "trace":
            if not typer.sizes.same(body.rows, body.columns):
                sure = isinstance(body.rows, int) and isinstance(body.columns, int)  # of n and d it is not known
                square = f"{'is not' if sure else 'need not be'} square, and only a square matrix has a trace"
                raise unfit(f"{typer.text(body)} {square}", node.span)
        case "diag":
            if not vector:
                raise misfit(f"diag takes a vector, not {typer.text(body)}", node.span)
            return Term(new, typer.length(body), typer.length(body))
    return Term(new, 1, 1)


def is_kronecker(name: t.Name) -> bool:
    """delta_{i,j}: 1 where the two are the same, 0 elsewhere."""
    return name.base == "delta" and isinstance(name.index, t.Listing) and len(name.index.items) == 2


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
        return SCALAR if shape is None and (constant or is_kronecker(name)) else shape

    # Statements

    def statement(self, node: t.Node) -> t.Node:
        """A statement, a listing or a term, typed."""
        match node:
            case t.Relation():
                return self.relation(node)
            case t.Logic():
                return t.mapped(node, self.statement)
            case t.Quantified(body, conditions) | t.Exists(body, conditions):
                inner = self.within(*(name for part in conditions for name in self._new_names(part)))
                said = tuple(part if isinstance(part, t.Name) else inner.statement(part) for part in conditions)
                return type(node)(inner.statement(body), said, span=node.span)
            case t.Bond(word, left, right):
                return self.bond(word, self.statement(left), right, node)
            case t.Listing():
                return t.mapped(node, self.statement)
            case _:
                return self.term(node).node

    def bond(self, word: str, left: t.Node, right: t.Node, node: t.Node) -> t.Node:
        """q in R^d, with what is said of it; for a proportion both sides have one shape."""
        base = right.base if isinstance(right, t.Power) else right
        if word == "in" and isinstance(base, t.Domain):
            return t.mapped(node, lambda part: left if part is not right else part)
        if word == "propto":
            terms = agreed([self.term(left), self.term(right)], "compared with", self)
            return t.Bond("propto", terms[0].node, terms[1].node, span=node.span)
        if word == "drawn" and isinstance(right, t.Call):
            mean, spread = (self.term(part) for part in right.arguments) if len(right.arguments) == 2 else (None, None)
            if mean is None or spread is None:
                raise misfit("a normal distribution has a mean and a covariance", right.span)
            agreed([self.term(left), mean], "compared with", self)
            if not (self.sizes.same(mean.rows, spread.rows) and self.sizes.same(mean.rows, spread.columns)):
                said = f"{self.text(spread)} is no covariance of {self.text(mean)}"
                raise unfit(said, spread.node.span, "write \\sigma^2 I for the same variance in all directions")
            return t.Bond("drawn", left, t.Call("N", (mean.node, spread.node), span=right.span), span=node.span)
        items = right.items if isinstance(right, t.Listing) else (right,)
        return t.Bond(
            "in", left, t.Listing(tuple(self.term(item).node for item in items), span=right.span), span=node.span
        )

    def _new_names(self, condition: t.Node) -> list[str]:
        names = [
            part for part in t.walk(condition) if isinstance(part, t.Name) and part.index is None and not part.primes
        ]
        return [name.base for name in names if name.base != "I" and self.known(name) is None]

    def relation(self, node: t.Relation) -> t.Relation:
        """A chain of comparisons: all terms of one shape, listings item by item."""
        columns = [
            [self.term(item) for item in (part.items if isinstance(part, t.Listing) else (part,))]
            for part in node.terms
        ]
        count = max(len(items) for items in columns)
        for items, term in zip(columns, node.terms, strict=True):
            if len(items) not in (1, count):
                said = f"{len(items)} things are compared with {count}"
                raise misfit(said, term.span, "give one for each, or one for all")
        for place in range(count):
            across = [items[place if len(items) > 1 else 0] for items in columns]
            same = agreed(across, "compared with", self)
            for items, new in zip(columns, same, strict=True):
                items[place if len(items) > 1 else 0] = new
            tall = next((term for term in same if not self.is_scalar(term)), None)
            if tall is not None and any(sign not in ("=", "!=", "~", "->") for sign in node.comparisons):
                raise misfit(f"{self.text(tall)} has no order: only numbers are larger or smaller", node.span)
        terms = tuple(
            t.Listing(tuple(item.node for item in items), span=term.span)
            if isinstance(term, t.Listing)
            else items[0].node
            for items, term in zip(columns, node.terms, strict=True)
        )
        return t.Relation(terms, node.comparisons, span=node.span)

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
                kept = next((part for part in parts if not is_zero(part.node)), parts[0])
                return Term(t.Sum(tuple(part.node for part in parts), span=node.span), kept.rows, kept.columns)
            case t.Negative(body):
                inside = self.term(body)
                return Term(t.Negative(inside.node, span=node.span), inside.rows, inside.columns)
            case t.Transpose(body):
                inside = self.term(body)
                return Term(t.Transpose(inside.node, span=node.span), inside.columns, inside.rows)
            case t.Product(factors):
                return product([self.term(part) for part in factors], self, node)
            case t.Inner(left, right):
                return self.inner(self.term(left), self.term(right), node)
            case t.Quotient(over, under):
                above, below = self.term(over), self.scalar(under, "what is divided by")
                return Term(t.Quotient(above.node, below, span=node.span), above.rows, above.columns)
            case t.Power(base, exponent):
                return self.power(self.term(base), exponent, node)
            case t.Norm(body, kind):
                return self.norm(self.term(body), kind, node)
            case t.Call():
                return typed_call(node, self)
            case t.BigSum() | t.BigCall():
                return self.big(node)
            case t.Cases(branches):
                return self.cases(branches, node)
            case t.Matrix(rows):
                return self.matrix([[self.term(entry) for entry in row.items] for row in rows], node)
            case t.Listing(items) if len(items) == 1:
                return self.term(items[0])
            case _:
                raise misfit(f"{t.called(node)} stands where a number, a vector or a matrix is needed", node.span)

    def name(self, node: t.Name) -> Term:
        """A known name; I; a prime that means a transpose."""
        shape = self.known(node)
        if shape is not None:
            return Term(node, shape.rows, shape.columns)
        if node.base == "I" and not node.primes:
            if node.index is None:
                hole = self.sizes.hole()
                return Term(t.Name("I", hole, span=node.span), hole, hole)
            if isinstance(node.index, t.Number) and node.index.value.denominator == 1 and node.index.value >= 1:
                return Term(node, int(node.index.value), int(node.index.value))
            return Term(node, spelt(node.index), spelt(node.index))
        if node.primes == 1:
            shape = self.known(t.Name(node.base, node.index))
            if shape is not None and shape != SCALAR:
                inside = t.Name(node.base, node.index, span=node.span)
                return Term(t.Transpose(inside, span=node.span), shape.columns, shape.rows)
        raise misfit(f"{shown(node)} is not known", node.span, "use the names that are given")

    def inner(self, left: Term, right: Term, node: t.Node) -> Term:
        """<a, b> of two vectors; an ordinary product if one of them is a number, or a matrix meets a vector."""
        if self.is_scalar(left) or self.is_scalar(right):
            return product([left, right], self, node)
        vectors = [1 in (term.rows, term.columns) for term in (left, right)]
        if all(vectors):
            if not self.sizes.same(self.length(left), self.length(right)):
                said = f"{self.text(left)} and {self.text(right)} differ in length: they have no inner product"
                raise misfit(said, node.span)
            return Term(t.Inner(left.node, right.node, span=node.span), 1, 1)
        if any(vectors):
            return product([left, right], self, node)
        written = node.span.source[node.span.start :].lstrip("( ")
        if written.startswith((r"\langle", "<")):  # of matrices, the sum over all entries
            both = self.sizes.same(left.rows, right.rows) and self.sizes.same(left.columns, right.columns)
            if not both:
                raise misfit(f"{self.text(left)} and {self.text(right)} differ in shape", node.span)
            inside = t.Product((t.Transpose(left.node), right.node), span=node.span)
            return Term(t.Call("trace", (inside,), span=node.span), 1, 1)
        fix = r"write A B for the product, or trace(A^\top B)"
        raise misfit("a dot between two matrices may mean two things", node.span, fix)

    def power(self, base: Term, exponent: t.Node, node: t.Node) -> Term:
        """Numbers to any power; square matrices to whole ones, -1 being the inverse."""
        if self.is_scalar(base):
            return Term(t.Power(base.node, self.scalar(exponent, "an exponent"), span=node.span), 1, 1)
        size = exponent.body if isinstance(exponent, t.Negative) else exponent
        if not (isinstance(size, t.Number) and size.value.denominator == 1):
            raise misfit(f"{self.text(base)} is raised to what is not a whole number", node.span)
        if not self.sizes.same(base.rows, base.columns):
            vector = 1 in (base.rows, base.columns)
            fix = r"write \|v\|^2 or v^\top v" if vector else "only square matrices have powers"
            raise unfit(f"{self.text(base)} has no powers", node.span, fix)
        return Term(t.Power(base.node, exponent, span=node.span), base.rows, base.columns)

    def norm(self, body: Term, kind: str, node: t.Node) -> Term:
        """|v|, |A|_F, |A|_2: a number."""
        if kind == "" and 1 not in (body.rows, body.columns):
            raise misfit(f"a norm of {self.text(body)} may mean two things", node.span, r"write \|A\|_F or \|A\|_2")
        return Term(t.mapped(node, lambda _: body.node), 1, 1)

    def big(self, node: t.BigSum | t.BigCall) -> Term:
        """The index is a number inside."""
        lower = None if node.lower is None else self.scalar(node.lower, "the lower end of a sum")
        upper = None if node.upper is None else self.scalar(node.upper, "the upper end of a sum")
        inside = self.within(node.index)
        labels = [name for condition in node.conditions for name in inside._new_names(condition)]
        conditions = tuple(inside.within(*labels).statement(condition) for condition in node.conditions)
        body = inside.term(node.body)
        if isinstance(node, t.BigSum):
            new = t.BigSum(node.index, body.node, lower, upper, conditions, span=node.span)
            return Term(new, body.rows, body.columns)
        if not self.is_scalar(body):
            raise misfit(f"{node.word} is taken of numbers, not of {self.text(body)}", node.span)
        return Term(t.BigCall(node.word, node.index, body.node, lower, upper, conditions, span=node.span), 1, 1)

    def cases(self, branches: tuple[t.Quantified, ...], node: t.Node) -> Term:
        """All values of one shape."""
        labels = [name for row in branches for part in row.conditions for name in self._new_names(part)]
        inside = self.within(*labels)
        values = agreed([inside.term(row.body) for row in branches], "an alternative to", self)
        rows = [
            t.Quantified(value.node, tuple(inside.statement(part) for part in row.conditions), span=row.span)
            for value, row in zip(values, branches, strict=True)
        ]
        kept = next((value for value in values if not is_zero(value.node)), values[0])
        return Term(t.Cases(tuple(rows), span=node.span), kept.rows, kept.columns)

    def matrix(self, rows: Sequence[Sequence[Term]], node: t.Node) -> Term:
        """Numbers in rows, columns side by side, or rows one below the other."""
        width = len(rows[0]) if rows else 0
        if not width or any(len(row) != width for row in rows):
            raise misfit("the rows of a matrix differ in length", node.span)
        entries = [entry for row in rows for entry in row]
        new = t.Matrix(tuple(t.Listing(tuple(e.node for e in row)) for row in rows), span=node.span)
        if all(self.is_scalar(entry) for entry in entries):
            return Term(new, len(rows), width)
        if len(rows) == 1 and all(entry.columns == 1 for entry in entries):
            agreed(entries, "next to", self)
            return Term(new, entries[0].rows, width)
        if width == 1 and all(entry.rows == 1 for entry in entries):
            agreed(entries, "above", self)
            return Term(new, len(rows), entries[0].columns)
        raise misfit("a matrix is written with numbers, or as columns side by side", node.span)

    # What they share

    def scalar(self, node: t.Node, what: str) -> t.Node:
        """A number, or the error that says what should have been one."""
        term = self.term(node)
        if not self.is_scalar(term):
            raise misfit(f"{what} must be a number, and {self.text(term)} is not", node.span)
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
            return f"the number {shown(term.node)}"
        sizes = " x ".join("?" if isinstance(size, Hole) else str(size) for size in (rows, columns))
        return f"{shown(term.node)} ({sizes})"


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
        except FormulaError as other:
            raise (other if isinstance(error, ShapeError) and isinstance(other, ShapeError) else placed) from error


def shape(node: t.Node, shape_of: ShapeOf) -> Shape:
    """The shape of what a tree stands for, typed or not."""
    typer = Typer(shape_of)
    term = typer.term(node)
    rows, columns = typer.sizes.known(term.rows), typer.sizes.known(term.columns)
    if isinstance(rows, Hole) or isinstance(columns, Hole):
        raise _unknown_identity(node)
    return Shape(rows, columns)


def _filled(node: t.Node, typer: Typer) -> t.Node:
    if isinstance(node, t.Name) and isinstance(node.index, Hole):
        size = typer.sizes.known(node.index)
        if isinstance(size, Hole):
            raise _unknown_identity(node)
        index: t.Node = t.Name(size) if isinstance(size, str) else t.Number(Fraction(size))
        return t.Name(node.base, index, node.primes, span=node.span)
    return t.mapped(node, lambda part: _filled(part, typer))


def _unknown_identity(node: t.Node) -> FormulaError:
    return misfit("nothing here says how large I is", node.span, "write I_d for the d x d identity")
