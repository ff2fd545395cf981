"""The smallest tolerance that an impossible wish can be given: bounds from both sides."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from headwright.errors import ContradictionError
from headwright.queries.certify import Checker
from headwright.queries.program import program
from headwright.queries.proving.impossible import prove_impossible
from headwright.queries.proving.least_violation import nearest
from headwright.queries.single_query import Attempt, granted
from headwright.queries.solving.solver import violation
from headwright.queries.statement import Question
from headwright.queries.wish import Wish

MORE, LESS = (9, 7, 5, 3, 2), (8, 6, 4, 3, 2, 1)  # digits to which a guess at the least slack is tried
HALVINGS = 6


def best_eps(question: Question, checker: Checker, attempt: Attempt) -> tuple[float, float] | None:
    """The least eps that can be granted lies between; None for a wish that does not treat its targets alike.

    Both are verified: a query that grants the upper one, and a proof that no query whatever grants the lower one.
    """
    slacks = {1 / p - 1 for p in question.wish.least.values()}
    if len(slacks) > 1:
        return None
    asked, others = slacks.pop(), len(question.wish.least) - 1
    close = _closest(attempt)
    high = _granted_above(question, checker, attempt, close, asked)
    if high is None:
        return None
    low = _impossible_below(question, checker, attempt, high, asked)
    if high <= low:
        raise ContradictionError(
            f"{float(high):.6g} is granted by a query that was verified, and {float(low):.6g} by none, as was proved"
        )
    return math.nextafter(float(low - others), -math.inf), math.nextafter(float(high - others), math.inf)


def _with_slack(question: Question, slack: Fraction) -> Question:
    """The same wish with 1/(1 + slack) for each target."""
    return replace(question, wish=Wish(dict.fromkeys(question.wish.targets, 1 / (1 + slack))))


def _closest(attempt: Attempt) -> np.ndarray:
    """The query that misses the wish least, of those that were found."""
    problem, best = attempt.problem, attempt.solution.best
    found = [best]
    start = best if float(np.abs(best).max()) * abs(problem.scale) < 1e3 else np.zeros_like(best)
    for level in (0.0,) if problem.certain else (1e-3, 1e-6, 1e-9):
        start = nearest(problem, start, level, 100.0 if level == 0 else 1 / level).query
        found.append(start)
    return min(found, key=lambda query: violation(problem, query))


def _granted_above(
    question: Question, checker: Checker, attempt: Attempt, close: np.ndarray, asked: Fraction
) -> Fraction | None:
    guess = asked * Fraction(math.exp(min(violation(attempt.problem, close), 700.0)))
    for digits in MORE:
        slack = guess * (1 + Fraction(1, 10**digits))
        if granted(_with_slack(question, slack), checker, close[None], attempt.guard):
            return slack
    return None


def _impossible_below(
    question: Question, checker: Checker, attempt: Attempt, high: Fraction, asked: Fraction
) -> Fraction:
    """The largest slack that a proof was verified for; at least the one asked for, which is known to be impossible."""

    def impossible(slack: Fraction) -> bool:
        less = _with_slack(question, slack)
        return prove_impossible(less, checker, program(less, attempt.guard), attempt.solution) is not None

    if not question.random:  # what is granted and what is impossible meet
        for digits in LESS:
            slack = high * (1 - Fraction(1, 10**digits))
            if slack > asked and impossible(slack):
                return slack
    low, above = asked, high
    for _ in range(HALVINGS):
        middle = Fraction(math.sqrt(float(low) * float(above)))
        low, above = (middle, above) if impossible(middle) else (low, middle)
    return low
