"""eventually(): comparisons that hold for all large values, and from where on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwright.check.scalars.large import grown, sign_of_large
from headwright.check.scalars.proving import SOLVER, prove
from headwright.check.scalars.scalar import Number, Scalar
from headwright.check.scalars.threshold import threshold_of
from headwright.check.scalars.where import Comparison, Hypothesis, Where, checked


@dataclass(frozen=True)
class Eventually:
    """That a comparison holds for all large enough values, for every choice of the other names.

    threshold: for a large name, the value from which on it holds, as a formula in the other names (empty: not known, or
    always). It applies where the condition holds; elsewhere the comparison holds always. always: it holds for all
    values. exact: below the threshold the comparison is proved to fail.
    """

    reason: str
    used: str
    threshold: Mapping[str, Scalar] = field(default_factory=dict)
    condition: Hypothesis | None = None
    exact: bool = False
    always: bool = False


def eventually(
    left: Scalar | Number, comparison: str, right: Scalar | Number, where: Where, large: Sequence[str]
) -> Eventually | None:
    """A proof that the comparison holds for all large enough values of the large names; None where none was found.

    >>> from headwright.check.scalars import POSITIVE, Range, exp, parameter
    >>> n, eps, x = parameter("n"), parameter("epsilon"), parameter("lambda")
    >>> where = Where({"n": Range(2, integer=True), "epsilon": Range(0, 1, True, True), "lambda": POSITIVE})
    >>> found = eventually(exp(x) / (2 * exp(x) + n - 2), ">=", 1 / (2 + eps), where, ("lambda",))
    >>> found.threshold["lambda"], found.condition, found.exact
    (<ln((n - 2)/epsilon)>, (<n - 2>, '>', <0>), True)
    """
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    proof = prove(left, comparison, right, where)
    if proof is not None:
        return Eventually(f"it holds for all values: {proof.reason}", proof.used, always=True)
    names = tuple(name for name in grown(large, where) if name in left.names() | right.names())
    if not names:
        return None
    if len(names) == 1:
        found = threshold_of(left, comparison, right, where, names[0])
        if found is not None:
            return Eventually(found.reason, SOLVER, {names[0]: found.value}, found.condition, exact=True)
    if sign_of_large(left, comparison, right, where, names) is None:
        return None
    reason = f"for large {', '.join(names)} one term outgrows all others, and it has the right sign"
    return Eventually(reason, f"dominant terms, {SOLVER}", _enough(left, comparison, right, where, names))


def _enough(
    left: Scalar, comparison: Comparison, right: Scalar, where: Where, names: Sequence[str]
) -> Mapping[str, Scalar]:
    """A value that is enough for all large names together: the threshold if they were one name, and then proved."""
    one = where.name(names[0])
    same = dict.fromkeys(names[1:], one)
    if not same or any(where.range(name) != where.range(names[0]) for name in same):
        return {}
    found = threshold_of(left.put(same), comparison, right.put(same), where, names[0])
    if found is None or found.condition is not None:
        return {}
    enough = where.given(*((where.name(name), comparison_to(comparison), found.value) for name in names))
    return dict.fromkeys(names, found.value) if prove(left, comparison, right, enough) else {}


def comparison_to(comparison: Comparison) -> Comparison:
    """From a threshold on, or only beyond it."""
    return ">" if comparison in ("<", ">") else ">="
