"""Whether a statement holds in a world: True or False only where that is certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Protocol, Self

from flint import arb, arb_mat

from headwright.errors import InputError
from headwright.formula.evaluate import Budget, Undefined, compare, evaluate
from headwright.formula.shapes import Shape, typed
from headwright.formula.tree import Comparison, Listing, Logic, Name, Node, Quantified, Relation

FAR = arb("0.05")  # what is farther apart is not 'about' the same
FINE = 3000  # bits of a closer look
EQUAL = arb("1e-25")  # what is nearer than that at 128 bits is taken to be equal: evidence, no proof
MOST = 100_000  # operations on one side of a statement


class World(Protocol):
    """Explicit values for all names."""

    much: arb  # how much larger 'much larger' is here
    numbers: Mapping[str, Fraction | int | arb]  # names that are numbers
    tends: bool  # whether it is one of a sequence: then sides may come close without being equal

    def value_of(self, name: Name) -> arb_mat | None:
        """The value of a name."""

    def afresh(self) -> Self:
        """The same, with nothing computed yet."""

    def shape_of(self, name: Name) -> Shape | None:
        """Its shape."""

    def range_of(self, index: str) -> tuple[int, int] | None:
        """Where the index of a sum runs that has no bounds."""


def value(node: Node, world: World, bits: int = 128) -> arb_mat:
    """The value of a term; InputError where it has none."""
    known = typed(node, world.shape_of)
    return evaluate(known, world.value_of, budget=Budget(MOST), bits=bits, range_of=world.range_of)


def holds(node: Node, world: World) -> bool | None:
    """Whether a statement is true there.

    What follows may speak of an integer that exists ('t = t' + 2 pi k'): see `worlds`.
    """
    match node:
        case Logic("and", items):
            return _all([holds(item, world) for item in items])
        case Logic("or", items):
            return _not(_all([_not(holds(item, world)) for item in items]))
        case Logic("not", (item,)):
            return _not(holds(item, world))
        case Logic("implies", (condition, conclusion)):
            return _not(_all([holds(condition, world), _not(holds(conclusion, world))]))
        case Logic("iff", (left, right)):
            a, b = holds(left, world), holds(right, world)
            return None if a is None or b is None else a == b
        case Quantified(body, conditions):
            given = [holds(one, world) for one in conditions if not isinstance(one, Name)]
            return _not(_all([*given, _not(holds(body, world))]))
        case Relation():
            return _all([_link(a, sign, b, world) for a, sign, b in _links(node)])
        case _:
            return None


def undefined(node: Relation, world: World) -> bool:
    """Whether a side has no value there: the logarithm of 0, a division by 0."""
    for term in node.terms:
        for bits in (128, FINE):
            try:
                value(term, world.afresh(), bits)
                break
            except Undefined:
                if bits == FINE:
                    return True
            except (InputError, ValueError, OverflowError):  # too large, or not known here
                break
    return False


def _all(said: list[bool | None]) -> bool | None:
    return False if False in said else None if None in said else True


def _not(said: bool | None) -> bool | None:
    return None if said is None else not said


def _links(chain: Relation) -> Iterator[tuple[Node, Comparison, Node]]:
    for a, sign, b in zip(chain.terms[:-1], chain.comparisons, chain.terms[1:], strict=True):
        left = a.items if isinstance(a, Listing) else (a,)
        right = b.items if isinstance(b, Listing) else (b,)
        if len(left) != len(right):
            left, right = left * len(right), right * len(left)
        yield from ((x, sign, y) for x, y in zip(left, right, strict=True))


def _link(a: Node, sign: Comparison, b: Node, world: World) -> bool | None:
    try:
        left, right = value(a, world), value(b, world)
        if sign in ("~", "->"):
            apart = gap(left, right)
            return True if apart < FAR else False if apart > FAR else None
        if sign in (">>", "<<"):
            more, less = (left, right) if sign == ">>" else (right, left)
            return compare(more - less, ">=", arb_mat([[world.much]]))
        said = compare(left, sign, right)
        if said is None and sign in ("<", ">", "<=", ">="):  # the two may differ by e^(-lambda)
            fresh = world.afresh()
            left, right = value(a, fresh, FINE), value(b, fresh, FINE)
            said = compare(left, sign, right)
        alike = sign == "=" or (sign in ("<=", ">=") and not world.tends)
        return True if said is None and alike and gap(left, right) < EQUAL else said
    except (InputError, ValueError, OverflowError):  # it has no value here
        return None


def difference(node: Relation, world: World) -> arb | None:
    """The difference of the two sides of a comparison of numbers, closely; None where there is none."""
    try:
        left, right = (value(term, world, FINE) for term in node.terms)
    except (InputError, ValueError, OverflowError):  # it has no value here
        return None
    return left[0, 0] - right[0, 0] if left.nrows() == left.ncols() == right.nrows() == right.ncols() == 1 else None


def distance(node: Relation, world: World) -> arb | None:
    """How far the two sides of a comparison are apart; None where one of them has no value."""
    try:
        left, right = (value(term, world) for term in node.terms)
    except (InputError, ValueError, OverflowError):  # it has no value here
        return None
    return gap(left, right)


def gap(left: arb_mat, right: arb_mat) -> arb:
    """How far two values are apart: the largest difference of entries."""
    one, other = left.entries(), right.entries()
    if len(one) != len(other):
        one, other = one * len(other), other * len(one)
    found = arb(0)
    for x, y in zip(one, other, strict=True):
        found = found.max(abs(x - y))
    return found
