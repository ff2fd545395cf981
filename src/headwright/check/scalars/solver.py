"""z3 asked whether a comparison can fail; only its 'no' is used."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

from headwright.check.scalars.encode import FINEST_ROOT, Encoder, all_atoms
from headwright.check.scalars.facts import order_facts, plain_facts, sign_facts, size_facts
from headwright.check.scalars.scalar import Scalar
from headwright.check.scalars.where import OPPOSITE, Comparison, Hypothesis

STEPS_PER_SECOND = 200_000  # of z3's own counting, which does not depend on the machine's load
HIGHEST = 64  # power of one variable
LONGEST_SUM = 60  # terms; longer ones are not worth the wait

Sign = tuple[Scalar, Comparison]  # a whole scalar compared with 0


def cannot_fail(goal: Sign, hypotheses: Sequence[Hypothesis], seconds: float) -> bool:
    """Whether z3 proves the goal for all values of the names.

    >>> from headwright.check.scalars import parameter
    >>> x = parameter("x")
    >>> cannot_fail((x**2 - 2 * x + 2, ">"), (), 2.0), cannot_fail((x**2 - 2 * x, ">"), (), 2.0)
    (True, False)
    """
    if len(goal[0].over) > LONGEST_SUM or _degree(goal[0]) > HIGHEST:
        return False
    for facts in ((plain_facts, sign_facts), (plain_facts, sign_facts, order_facts, size_facts)):
        if _unsatisfiable(goal, hypotheses, facts, seconds / 2):
            return True
    return False


def _degree(value: Scalar) -> Fraction:
    roots = all_atoms([value])
    return max(
        (
            abs(exponent) * roots[atom]
            for monomial in value.over
            for atom, exponent in monomial
            if roots[atom] <= FINEST_ROOT
        ),
        default=Fraction(0),
    )


def _unsatisfiable(goal: Sign, hypotheses: Sequence[Hypothesis], facts: Sequence[Any], seconds: float) -> bool:
    z3: Any = import_module("z3")  # heavy, and not needed for what exact algebra decides
    context = z3.Context()
    solver = z3.SolverFor("QF_NRA", ctx=context)
    solver.set("rlimit", int(STEPS_PER_SECOND * seconds))
    solver.set("timeout", int(4_000 * seconds))  # a last resort: it depends on the load
    differences = [(left - right, comparison) for left, comparison, right in hypotheses]
    encoder = Encoder(z3, context, [goal[0], *(difference for difference, _ in differences)])
    for difference, comparison in differences:
        under = encoder.terms(difference.under)
        if not difference.whole:
            solver.add(under != 0)
        solver.add(encoder.compared(encoder.terms(difference.over) * under, comparison))
    value = encoder.terms(goal[0].over) * encoder.terms(goal[0].under)
    solver.add(encoder.compared(value, OPPOSITE[goal[1]]))
    for kind in facts:
        for fact in kind(encoder):
            solver.add(fact)
    for fact in encoder.facts:
        solver.add(fact)
    return bool(solver.check() == z3.unsat)
