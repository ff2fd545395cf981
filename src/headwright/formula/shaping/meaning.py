"""What each part of a formula means, from the shapes of its names. shapes.typed is the way in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from headwright.formula.shaping.agreement import agreed, is_zero
from headwright.formula.shaping.calls import typed_call
from headwright.formula.shaping.products import product
from headwright.formula.shaping.rewrite import mapped, plain
from headwright.formula.shaping.sizes import SCALAR, Hole, Shape, ShapeOf, Size, Sizes, Term, misfit, unfit
from headwright.formula.tree import (
    BigSum,
    Call,
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
    Sum,
    Transpose,
    walk,
)  # fmt: skip

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

    def known(self, name: Name) -> Shape | None:
        """The shape of a name, if it has one."""
        if name.index is None and not name.primes and name.base in self.bound:
            return SCALAR
        shape = self.shape_of(name)
        if shape is None and name.index is None and not name.primes and name.base in CONSTANTS:
            return SCALAR
        return shape

    # Statements

    def statement(self, node: Node) -> Node:
        """A statement, a listing or a term, typed."""
        match node:
            case Relation():
                return self.relation(node)
            case Logic():
                return mapped(node, self.statement)
            case Quantified(body, conditions):
                inner = self.within(*(name for part in conditions for name in self._new_names(part)))
                said = tuple(part if isinstance(part, Name) else inner.statement(part) for part in conditions)
                return Quantified(inner.statement(body), said, span=node.span)
            case Listing():
                return mapped(node, self.statement)
            case _:
                return self.term(node).node

    def _new_names(self, condition: Node) -> list[str]:
        names = [part for part in walk(condition) if isinstance(part, Name) and part.index is None and not part.primes]
        return [name.base for name in names if name.base != "I" and self.known(name) is None]

    def relation(self, node: Relation) -> Relation:
        """A chain of comparisons: all terms of one shape, listings item by item."""
        columns = [[self.term(item) for item in (t.items if isinstance(t, Listing) else (t,))] for t in node.terms]
        count = max(len(items) for items in columns)
        for items, term in zip(columns, node.terms, strict=True):
            if len(items) not in (1, count):
                said = f"{len(items)} things are compared with {count}"
                raise misfit(said, span=term.span, fix="give one for each, or one for all")
        for place in range(count):
            across = [items[place if len(items) > 1 else 0] for items in columns]
            same = agreed(across, "compared with", self)
            for items, new in zip(columns, same, strict=True):
                items[place if len(items) > 1 else 0] = new
            tall = next((term for term in same if not self.is_scalar(term)), None)
            if tall is not None and any(sign not in ("=", "!=", "~", "->") for sign in node.comparisons):
                raise misfit(f"{self.text(tall)} has no order: only numbers are larger or smaller", span=node.span)
        terms = tuple(
            Listing(tuple(item.node for item in items), span=term.span) if isinstance(term, Listing) else items[0].node
            for items, term in zip(columns, node.terms, strict=True)
        )
        return Relation(terms, node.comparisons, span=node.span)

    # Terms

    def term(self, node: Node) -> Term:
        """Anything that has a shape."""
        match node:
            case Number():
                return Term(node, 1, 1)
            case Name():
                return self.name(node)
            case Sum(terms):
                parts = agreed([self.term(part) for part in terms], "added to", self)
                kept = next((part for part in parts if not is_zero(part.node)), parts[0])
                return Term(Sum(tuple(part.node for part in parts), span=node.span), kept.rows, kept.columns)
            case Negative(body):
                inside = self.term(body)
                return Term(Negative(inside.node, span=node.span), inside.rows, inside.columns)
            case Transpose(body):
                inside = self.term(body)
                return Term(Transpose(inside.node, span=node.span), inside.columns, inside.rows)
            case Product(factors):
                return product([self.term(part) for part in factors], self, node)
            case Inner(left, right):
                return self.inner(self.term(left), self.term(right), node)
            case Quotient(over, under):
                above, below = self.term(over), self.scalar(under, "what is divided by")
                return Term(Quotient(above.node, below, span=node.span), above.rows, above.columns)
            case Power(base, exponent):
                return self.power(self.term(base), exponent, node)
            case Norm(body, kind):
                return self.norm(self.term(body), kind, node)
            case Call():
                return typed_call(node, self)
            case BigSum():
                return self.big_sum(node)
            case Matrix(rows):
                return self.matrix([[self.term(entry) for entry in row.items] for row in rows], node)
            case Listing(items) if len(items) == 1:
                return self.term(items[0])
            case _:
                what = "a list" if isinstance(node, Listing) else "a statement"
                raise misfit(f"{what} stands where a number, a vector or a matrix is needed", span=node.span)

    def name(self, node: Name) -> Term:
        """A known name; I; a prime that means a transpose."""
        shape = self.known(node)
        if shape is not None:
            return Term(node, shape.rows, shape.columns)
        if node.base == "I" and not node.primes:
            if node.index is None:
                hole = self.sizes.hole()
                return Term(Name("I", hole, span=node.span), hole, hole)
            if isinstance(node.index, Number) and node.index.value.denominator == 1 and node.index.value >= 1:
                return Term(node, int(node.index.value), int(node.index.value))
            return Term(node, plain(node.index), plain(node.index))
        if node.primes == 1:
            shape = self.known(Name(node.base, node.index))
            if shape is not None and shape != SCALAR:
                inside = Name(node.base, node.index, span=node.span)
                return Term(Transpose(inside, span=node.span), shape.columns, shape.rows)
        raise misfit(f"{plain(node)} is not known", span=node.span, fix="use the names that are given")

    def inner(self, left: Term, right: Term, node: Node) -> Term:
        """<a, b> of two vectors; an ordinary product if one of them is a number, or a matrix meets a vector."""
        if self.is_scalar(left) or self.is_scalar(right):
            return product([left, right], self, node)
        vectors = [1 in (term.rows, term.columns) for term in (left, right)]
        if all(vectors):
            if not self.sizes.same(self.length(left), self.length(right)):
                said = f"{self.text(left)} and {self.text(right)} differ in length: they have no inner product"
                raise misfit(said, span=node.span)
            return Term(Inner(left.node, right.node, span=node.span), 1, 1)
        if any(vectors):
            return product([left, right], self, node)
        fix = r"write A B for the product, or trace(A^\top B)"
        raise misfit("a dot between two matrices may mean two things", span=node.span, fix=fix)

    def power(self, base: Term, exponent: Node, node: Node) -> Term:
        """Numbers to any power; square matrices to 0, 1, 2, ..."""
        if self.is_scalar(base):
            return Term(Power(base.node, self.scalar(exponent, "an exponent"), span=node.span), 1, 1)
        minus = exponent.body if isinstance(exponent, Negative) else None
        if isinstance(minus, Number) or (isinstance(exponent, Number) and exponent.value < 0):
            raise misfit("the inverse of a matrix is not supported", span=node.span)
        if not (isinstance(exponent, Number) and exponent.value.denominator == 1):
            raise misfit(f"{self.text(base)} is raised to what is not a whole number", span=node.span)
        if not self.sizes.same(base.rows, base.columns):
            vector = 1 in (base.rows, base.columns)
            fix = r"write \|v\|^2 or v^\top v" if vector else "only square matrices have powers"
            raise unfit(f"{self.text(base)} has no powers", span=node.span, fix=fix)
        return Term(Power(base.node, exponent, span=node.span), base.rows, base.columns)

    def norm(self, body: Term, kind: str, node: Node) -> Term:
        """|v|, |A|_F, |A|_2: a number."""
        if kind == "" and 1 not in (body.rows, body.columns):
            raise misfit(
                f"a norm of {self.text(body)} may mean two things", span=node.span, fix=r"write \|A\|_F or \|A\|_2"
            )
        return Term(mapped(node, lambda _: body.node), 1, 1)

    def big_sum(self, node: BigSum) -> Term:
        """The index is a number inside."""
        lower = None if node.lower is None else self.scalar(node.lower, "the lower end of a sum")
        upper = None if node.upper is None else self.scalar(node.upper, "the upper end of a sum")
        inside = self.within(node.index)
        labels = [name for condition in node.conditions for name in inside._new_names(condition)]
        conditions = tuple(inside.within(*labels).relation(condition) for condition in node.conditions)
        body = inside.term(node.body)
        return Term(BigSum(node.index, body.node, lower, upper, conditions, span=node.span), body.rows, body.columns)

    def matrix(self, rows: Sequence[Sequence[Term]], node: Node) -> Term:
        """Numbers in rows, columns side by side, or rows one below the other."""
        width = len(rows[0]) if rows else 0
        if not width or any(len(row) != width for row in rows):
            raise misfit("the rows of a matrix differ in length", span=node.span)
        entries = [entry for row in rows for entry in row]
        new = Matrix(tuple(Listing(tuple(e.node for e in row)) for row in rows), span=node.span)
        if all(self.is_scalar(entry) for entry in entries):
            return Term(new, len(rows), width)
        if len(rows) == 1 and all(entry.columns == 1 for entry in entries):
            agreed(entries, "next to", self)
            return Term(new, entries[0].rows, width)
        if width == 1 and all(entry.rows == 1 for entry in entries):
            agreed(entries, "above", self)
            return Term(new, len(rows), entries[0].columns)
        raise misfit("a matrix is written with numbers, or as columns side by side", span=node.span)

    # What they share

    def scalar(self, node: Node, what: str) -> Node:
        """A number, or the error that says what should have been one."""
        term = self.term(node)
        if not self.is_scalar(term):
            raise misfit(f"{what} must be a number, and {self.text(term)} is not", span=node.span)
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
        sizes = " x ".join("?" if isinstance(size, Hole) else str(size) for size in (rows, columns))
        return f"{plain(term.node)} ({sizes})"
