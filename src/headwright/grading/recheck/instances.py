"""Explicit instances: a value for every name, and whether a statement holds there.

Everything is from the definitions. Whether a statement holds is True or False only where that is certain. What an
instance of keys, tokens, integers or matrices is, is said in the `recheck` of that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import ClassVar, Self

from flint import arb, arb_mat, ctx

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.evaluate import (
    Budget,
    Undefined,
    ball,
    compare,
    evaluate,
)
from headwright.formulas.shapes import SCALAR, Shape, typed
from headwright.grading.answer import comparisons, full_name

FAR = arb("0.05")  # what is farther apart is not 'about' the same
FINE = 3000  # bits of a closer look
EQUAL = arb(
    "1e-25"
)  # what is nearer than that at 128 bits is taken to be equal: evidence, no proof
MOST = 100_000  # operations on one side of a statement
DEEPEST = 20  # definitions inside definitions
NONE = (InputError, ValueError, OverflowError)  # it has no value here
Value = Fraction | int | arb


def number(x: Value) -> arb_mat:
    """A number as a value."""
    return arb_mat([[x if isinstance(x, arb) else ball(Fraction(x))]])


def unit(size: int, place: int, length: arb | int = 1) -> arb_mat:
    """A multiple of one of the axes."""
    return arb_mat([[length if k == place else 0] for k in range(size)])


@dataclass
class ExplicitInstance:
    """Explicit values for all names: numbers, and names that are defined by formulas."""

    definitions: Mapping[str, t.Node]
    numbers: Mapping[str, Value]
    much: Fraction = Fraction(1000)  # how much larger 'much larger' is here
    tends: bool = False  # whether it is one of a sequence: then sides may come close without being equal
    _values: dict[str, arb_mat] = field(default_factory=dict)
    _depth: int = 0

    closer_bits: ClassVar[int] = FINE  # where numbers are too close to compare

    def value(self, node: t.Node, bits: int = 128) -> arb_mat:
        """The value of a term; InputError where it has none."""
        known = typed(node, self.shape_of)
        return evaluate(
            known, self.value_of, budget=Budget(MOST), bits=bits, range_of=self.range_of
        )

    def value_of(self, name: t.Name) -> arb_mat | None:
        """The value of a name: a number, or what a formula comes to."""
        full = full_name(name)
        if full in self.numbers:
            return number(self.numbers[full])
        if (
            full not in self._values
            and full in self.definitions
            and self._depth <= DEEPEST
        ):
            self._depth += 1
            try:
                bits = max(
                    128, int(ctx.prec)
                )  # a closer look is one at what is defined, too
                self._values[full] = self.value(self.definitions[full], bits)
            finally:
                self._depth -= 1
        return self._values.get(full)

    def shape_of(self, name: t.Name) -> Shape | None:
        """Read off the value."""
        found = self.value_of(name)
        return SCALAR if found is None else Shape(found.nrows(), found.ncols())

    def range_of(self, index: str) -> tuple[int, int] | None:
        """Where the index of a sum runs that has no bounds."""
        del index
        return None

    def moved(self, **other: object) -> Self:
        """The same with something else in it, and nothing computed yet."""
        return replace(self, _values={}, **other)  # type: ignore[arg-type]


def holds(node: t.Node, instance: ExplicitInstance) -> bool | None:
    """Whether a statement is true there: certain, or None."""
    match node:
        case t.Logic("and" | "or" as word, items):
            said = [holds(item, instance) for item in items]
        case t.Logic("not", (item,)):
            found = holds(item, instance)
            return None if found is None else not found
        case t.Logic("implies", (condition, conclusion)):
            return holds(
                t.Logic("or", (t.Logic("not", (condition,)), conclusion)), instance
            )
        case t.Quantified(body, conditions):
            given = t.Logic(
                "and", tuple(one for one in conditions if not isinstance(one, t.Name))
            )
            return holds(t.Logic("implies", (given, body)), instance)
        case t.Logic("iff", (left, right)):
            a, b = holds(left, instance), holds(right, instance)
            return None if a is None or b is None else a == b
        case t.Relation() if node.comparisons:
            word, said = (
                "and",
                [_compared(link, instance) for link in comparisons(node)],
            )
        case _:
            return None
    decisive = (
        word == "or"
    )  # one that is true decides 'or', one that is false decides 'and'
    return decisive if decisive in said else None if None in said else not decisive


def _compared(link: t.Relation, instance: ExplicitInstance) -> bool | None:
    (a, b), (sign,) = link.terms, link.comparisons
    try:
        left, right = instance.value(a), instance.value(b)
        if sign in ("~", "->"):
            apart = gap(left, right)
            return True if apart < FAR else False if apart > FAR else None
        if sign in (">>", "<<"):
            more, less = (left, right) if sign == ">>" else (right, left)
            much = ball(instance.much)
            if any(
                isinstance(part, t.Call) and part.function == "exp"
                for part in t.walk(link)
            ):
                return compare(
                    more, ">=", less * much.exp()
                )  # of exponentials the ratio is meant
            return compare(more - less, ">=", number(much))
        said = compare(left, sign, right)
        if said is None and sign in (
            "<",
            ">",
            "<=",
            ">=",
        ):  # the two may differ by e^(-lambda)
            fresh = instance.moved()
            left, right = (fresh.value(side, fresh.closer_bits) for side in (a, b))
            said = compare(left, sign, right)
        alike = sign == "=" or (sign in ("<=", ">=") and not instance.tends)
        return True if said is None and alike and gap(left, right) < EQUAL else said
    except NONE:
        return None


def gap(left: arb_mat, right: arb_mat) -> arb:
    """How far two values are apart: the largest difference of entries."""
    one, other = left.entries(), right.entries()
    if len(one) != len(other):
        one, other = one * len(other), other * len(one)
    return reduce(
        arb.max, (abs(x - y) for x, y in zip(one, other, strict=True)), arb(0)
    )


def undefined(node: t.Relation, instance: ExplicitInstance) -> bool:
    """Whether a side has no value there, however closely it is looked at: the logarithm of 0, a division by 0."""
    for term in node.terms:
        try:
            instance.moved().value(term, FINE)
        except Undefined:
            return True
        except NONE:  # too large, or not known here
            continue
    return False
