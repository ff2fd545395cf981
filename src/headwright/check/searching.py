"""Counterexamples beyond the plainest: huge integers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import islice

from flint import arb

from headwright.check.scalars import Instance, Scalar, Where, eventually
from headwright.check.scalars.instances import certain, choices
from headwright.check.scalars.large import sign_of_large
from headwright.check.scalars.where import OPPOSITE
from headwright.formula.tree import Comparison

MOST_FAR = 12  # choices of the other names, when a huge integer is sought
HUGE = 10**5  # decimal digits of an integer


def far_out(left: Scalar, comparison: Comparison, right: Scalar, where: Where) -> Instance | None:
    """A counterexample with a huge integer: where the opposite holds from some number on, a power of ten beyond it.

    >>> from headwright.check.scalars import exp, number
    >>> where = Where({"n": Range(1, integer=True)})
    >>> far_out(where.name("n"), "<=", exp(number(50)), where).values
    {'n': Fraction(10000000000000000000000, 1)}
    """
    if comparison not in OPPOSITE or comparison == "!=":
        return None
    opposite = OPPOSITE[comparison]
    names = sorted(left.names() | right.names())
    if set().union(*(a.names() | b.names() for a, _, b in where.all_hypotheses())) - set(names):
        return None  # a condition ties these names to others: values for them would have to be found too
    for name in names:
        if not where.range(name).integer or where.range(name).upper is not None:
            continue
        for values in islice(choices([other for other in names if other != name], where), MOST_FAR):
            sides = left.put(values), opposite, right.put(values)
            if sign_of_large(*sides, where.put(values), (name,)) is None:
                continue  # quickly told, where a whole proof that fails takes long
            found = eventually(*sides, where.put(values), (name,))
            if found is None or name not in found.threshold:
                continue
            border = found.threshold[name].value({})
            digits = int(float(border.log() / arb(10).log()) + 1) if border > 1 else 1
            if digits >= HUGE:
                continue
            far = {**values, name: Fraction(10) ** digits}
            if allowed(far, where) and certain(left, opposite, right, far):
                return Instance(far, left.value(far), right.value(far))
    return None


def fails_far(
    left: Scalar, comparison: Comparison, right: Scalar, where: Where
) -> tuple[str, dict[str, Fraction]] | None:
    """An integer and values of the other names for which the opposite is proved from some (unwritten) number on."""
    if comparison not in OPPOSITE or comparison == "!=" or where.all_hypotheses():
        return None
    names = sorted(left.names() | right.names())
    for name in names:
        if not where.range(name).integer or where.range(name).upper is not None:
            continue
        for values in islice(choices([other for other in names if other != name], where), MOST_FAR):
            sides = left.put(values), OPPOSITE[comparison], right.put(values)
            if sign_of_large(*sides, where.put(values), (name,)) is not None:
                return name, values
    return None


def allowed(values: Mapping[str, Fraction], where: Where) -> bool:
    """Whether the values certainly satisfy the hypotheses about them.

    >>> where = Where({"x": Range()})
    >>> allowed({"x": Fraction(1)}, where.given((where.name("x"), ">", 2)))
    False
    """
    return all(
        certain(left, comparison, right, values)
        for left, comparison, right in where.all_hypotheses()
        if left.names() | right.names() <= set(values)
    )
