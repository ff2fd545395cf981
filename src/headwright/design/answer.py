"""One query for one question: solved in floating point, then certified and given to the checker."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from jaxtyping import Float

from headwright.design.certify import designed
from headwright.design.impossible import prove_impossible
from headwright.design.problem import Problem, Solution
from headwright.design.program import program
from headwright.design.solver import dual_bound, solve, violation
from headwright.design.statement import INLINE_NUMBERS, Question
from headwright.trusted.verify import verify

ROOM = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7)  # what is given away, until rounding does no harm


@dataclass(frozen=True)
class Files:
    """The keys as the checker takes them, made when first asked for."""

    question: Question

    @cached_property
    def contents(self) -> list[bytes]:
        """A .npy file for each scenario; none where the keys are written into the certificate."""
        return [as_npy(keys) for keys in self.question.keys if keys.size > INLINE_NUMBERS]


@dataclass(frozen=True, eq=False)
class Answer:
    """The solution, and the certificate if the checker accepted one."""

    solution: Solution
    lower_bound: float  # proven if there is a certificate
    best_violation: float  # floating-point: ln of how far the best query misses the slack
    certificate: str | None
    words: str


def answer(question: Question, files: Files, progress: Callable[[float], None] | None = None) -> Answer:
    """The shortest query, verified; or what the solver had, without a certificate.

    >>> from headwright.design.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))
    >>> answer(question, Files(question)).words
    'For these 2 keys in R^2 (sha256 ...), this query gives key 0 a weight of at least 0.990099; no query ...'
    """
    problem = program(question)
    for room in ROOM:
        solution = solve(_tightened(problem, room), progress=progress)
        bound = dual_bound(problem, solution)
        if solution.status == "impossible" or not math.isfinite(bound):
            break
        none_shorter = Fraction(f"{bound * (1 - room):.15g}") if bound > 0 else Fraction(0)
        certificate = _certificate(question, solution, none_shorter)
        verdict = verify(certificate, files.contents)
        if verdict.word == "verified":
            lower = math.nextafter(float(none_shorter), 0.0) if none_shorter else 0.0
            return Answer(solution, lower, violation(problem, solution.best), certificate, verdict.words)
    return Answer(solution, 0.0, violation(problem, solution.best), None, "")


def granted(question: Question, files: Files, found: Answer) -> bool:
    """The best query that was found grants this wish: verified.

    >>> from headwright.design.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.eye(2),), copy(0, eps=0.5), World(), Fraction(1), Fraction(1))
    >>> granted(question, Files(question), answer(question, Files(question)))
    True
    """
    solution = found.solution
    text = designed(question, solution.best[None], solution.best, solution.multipliers, Fraction(0))
    return verify(text, files.contents).word == "verified"


def proof(question: Question, files: Files, found: Answer) -> tuple[str, str] | None:
    """A verified certificate that no query grants this wish, and its words; None where none was found.

    >>> from headwright.design.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.zeros((2, 1)),), copy(0), World(), Fraction(1), Fraction(1))
    >>> proof(question, Files(question), answer(question, Files(question)))[1]
    'For these 2 keys in R^1 (sha256 ...), no query whatever gives key 0 a weight of at least 0.990099.'
    """
    text = prove_impossible(question, found.solution.best, found.solution.multipliers, files.contents)
    return (text, verify(text, files.contents).words) if text is not None else None


def as_npy(matrix: Float[np.ndarray, "n d"]) -> bytes:
    """The content of a .npy file, which is how the checker takes keys.

    >>> as_npy(np.eye(2))[1:6]
    b'NUMPY'
    """
    content = io.BytesIO()
    np.save(content, np.ascontiguousarray(matrix, "<f8"))
    return content.getvalue()


def _tightened(problem: Problem, room: float) -> Problem:
    """A little more is asked for, so that rounding does no harm: a part of what the wish leaves to others."""
    left = max(0.0, 1 - float(problem.floors.sum()))
    less = np.minimum(problem.slacks, left or 1.0) * room
    return replace(problem, slacks=np.minimum(problem.slacks - less, problem.slacks * (1 - 4e-16)))


def _inside(question: Question, scales: dict[int, float]) -> dict[int, float]:
    """The scales strictly inside their range; the checker takes an end of the range by itself."""
    problem = program(question)
    if problem.scale_low is None or problem.scale_high is None:
        return {}
    low, high = problem.scale_low, problem.scale_high
    hair = 1e-12 * (abs(low) + abs(high))
    return {i: c for i, c in scales.items() if low[i] + hair[i] < c < high[i] - hair[i]}


def _certificate(question: Question, solution: Solution, none_shorter: Fraction) -> str:
    scales: dict[int, float] = {}
    own: dict[int, float] = {}
    if solution.scales is not None and solution.own_scales is not None:
        scales = _inside(question, dict(enumerate(solution.scales[0].tolist())))
        own = _inside(question, dict(zip(question.wish.targets, solution.own_scales[0].tolist(), strict=True)))
    # Where keys are certain the query is its own witness, and the checker needs each exponential only once.
    witness = solution.query if solution.smoothing == 0 else solution.witness
    return designed(
        question, solution.query[None], witness, solution.multipliers, none_shorter, scales=scales, own_scales=own
    )
