"""Where there may be a query but none of any use: every query that grants the wish is longer than this."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headwright.enclosure import float_below
from headwright.queries.answer import Attempt, multipliers
from headwright.queries.certify import Bound, certificate
from headwright.queries.checking import Checker
from headwright.queries.proving.anyquery import Search
from headwright.queries.proving.nearest import nearest
from headwright.queries.proving.places import bound_at
from headwright.queries.solving.problem import Solution
from headwright.queries.solving.solver import dual_bound
from headwright.queries.statement import Question

BEYOND_USE = 1e6  # the proven length times the spread of the keys: a key that moves by its inverse changes a score by 1
SHRINKS = (1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99, 0.999)  # of a bound, until the checker takes it


@dataclass(frozen=True)
class Longer:
    """Verified: no query shorter than this grants the wish.

    Useless: a key that moves by a millionth of the keys' spread, along the query, changes its score by more than 1.

    >>> Longer("{}", "...", 1e15, useless=True).least
    1000000000000000.0
    """

    certificate: str
    words: str
    least: float
    useless: bool


def prove_longer(question: Question, checker: Checker, attempt: Attempt) -> Longer | None:
    """The best such bound that was verified, or None.

    >>> from headwright.queries.answer import attempt
    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> middle = np.array([[0.1, 0.3], [0.2, 0.7], [0.15, 0.5]])        # 0.15 is not the float half way
    >>> question = Question((middle,), copy(2), World(), Fraction(1), Fraction(1))
    >>> prove_longer(question, Checker(question), attempt(question)).useless
    True
    """
    candidates = sorted(_candidates(question, attempt), key=lambda candidate: -candidate[1])
    for bound, least in candidates:
        for shrink in SHRINKS if least > 0 else ():
            claimed = Fraction(f"{min(least, 1e300) * (1 - shrink):.15g}")
            text = certificate(question, "longer", bound, none_shorter=claimed)
            verdict = checker.verify(text)
            if verdict.word == "verified":
                proven = float_below(claimed)
                return Longer(text, verdict.words, proven, useless=proven * _spread(question) > BEYOND_USE)
    return None


def _candidates(question: Question, attempt: Attempt) -> list[tuple[Bound, float]]:
    solution, problem = attempt.solution, attempt.problem
    if question.random:
        search = Search(question)
        value = search.best(solution.witness, solution.multipliers[0], solution.smoothing)
        return [search.evidence(value)]
    found = []
    size = max(float(np.abs(keys).max()) for keys in question.keys) * abs(float(question.scale)) or 1.0
    smoothing = 0.0 if problem.certain else 1e-7
    start = solution.best if float(np.abs(solution.best).max()) * size < 1e3 else 0 * solution.best
    close = nearest(problem, start, smoothing, 1e3)
    lam = close.multipliers.reshape(solution.multipliers.shape)
    there = Solution(close.query, lam, "stalled", 0, witness=close.query, best=close.query, smoothing=smoothing)
    for at in (solution, there):
        least = dual_bound(problem, at)
        bound = bound_at(question, at.witness, multipliers(question, at), at.smoothing)
        # where the slopes cancel but for rounding, the exact sum is about as small as rounding
        found.append((bound, least if math.isfinite(least) else 1e17 / size))
    return found


def _spread(question: Question) -> float:
    """How far a key is from the first target at most, times the scale."""
    a = question.wish.targets[0]
    far = max(float(np.abs(keys - keys[a]).max()) for keys in question.keys)
    return far * abs(float(question.scale))
