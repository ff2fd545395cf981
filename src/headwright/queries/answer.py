"""One query for one question: solved in floating point, then certified and given to the checker."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.enclosure import float_below
from headwright.queries.certify import Bound, Exact, certificate
from headwright.queries.checking import Checker
from headwright.queries.guard import Guard, guards
from headwright.queries.phases import Phases
from headwright.queries.program import program, solved
from headwright.queries.proving.anyquery import Search
from headwright.queries.proving.places import Table, bound_at
from headwright.queries.solving.problem import Problem, Solution
from headwright.queries.solving.solver import dual_bound, violation
from headwright.queries.statement import Question

ROOM = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7)  # what is given away, until rounding does no harm
SHRINKS = (1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)  # of a bound, until the checker takes it; 1: nothing is claimed
SILENT = Phases()
CLOSE = 1e-6  # how far a query may miss the wish in floating point and still be worth a try


@dataclass(frozen=True, eq=False)
class Attempt:
    """What the solver says of a question, with the guard that leads to the shortest query."""

    guard: Guard | None
    problem: Problem
    solution: Solution

    @property
    def violation(self) -> float:
        """Floating-point: ln of how far the best query misses the slack."""
        return violation(self.problem, self.solution.best)


@dataclass(frozen=True, eq=False)
class Answer:
    """The attempt, and the certificate if the checker accepted one."""

    attempt: Attempt
    lower_bound: float = 0.0  # proven, about any query
    certificate: str | None = None
    words: str = ""


def answer(question: Question, checker: Checker, phases: Phases = SILENT) -> Answer:
    """The shortest query, verified, with the best bound that can be; or what the solver had, without a certificate.

    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))
    >>> answer(question, Checker(question)).words
    'For these 2 keys in R^2 (sha256 ...), the query ... gives key 0 a weight of at least 0.990099 ...; no query ...'
    """
    for room in ROOM:
        found = attempt(question, room, phases.solving)
        if found.solution.status == "impossible" and found.violation > CLOSE:
            break
        bound, least = best_bound(question, found)
        if least == math.inf:
            break
        least = 0.0 if question.wider else least * (1 - room)
        verified = _verified(question, checker, phases, found, bound, least)
        if verified is not None:
            return verified
    return Answer(found)


def attempt(question: Question, room: float = 0.0, progress: Callable[[float], None] | None = None) -> Attempt:
    """The solver's best, with either guard where keys are random; a little more is asked for than need be.

    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> attempt(Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))).solution.status
    'solved'
    """
    found = []
    for guard in guards(question) or (None,):
        problem = program(question, guard)
        asked = problem if question.granted_by_nothing else problem.tightened(room)
        found.append(Attempt(guard, problem, solved(asked, progress)))
    return min(found, key=lambda one: (one.solution.status == "impossible", math.hypot(*one.solution.query.tolist())))


def best_bound(question: Question, found: Attempt) -> tuple[Bound, float]:
    """Evidence that no query is shorter, and its bound in floating point; inf if it says that there is none.

    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.array([[1.0], [-1.0]]),), copy(0), World(), Fraction(1), Fraction(1))
    >>> round(best_bound(question, attempt(question))[1], 9) == round(math.log(100) / 2, 9)
    True
    """
    solution = found.solution
    if question.random:
        search = Search(question)
        enough = float(np.linalg.norm(solution.query)) if solution.status == "solved" else math.inf
        value = search.best(solution.witness, solution.multipliers[0], solution.smoothing, enough)
        return search.evidence(value)
    # Where keys are certain the query is its own witness, and the checker needs each exponential only once.
    witness = solution.query if solution.smoothing == 0 else solution.witness
    return bound_at(question, witness, multipliers(question, solution), solution.smoothing), dual_bound(
        found.problem, solution
    )


def _verified(
    question: Question, checker: Checker, phases: Phases, found: Attempt, bound: Bound, least: float
) -> Answer | None:
    """With the bound if the checker takes it; a query that grants the wish is not given up for its bound."""
    queries, guard = found.solution.query[None], found.guard
    for shrink in (0.0, *SHRINKS):
        claimed = _fraction(least * (1 - shrink))
        text = certificate(
            question, "designed", bound if claimed else None, queries=queries, none_shorter=claimed, guard=guard
        )
        verdict = checker.verify(text, phases.checking)
        if verdict.word == "verified":
            return Answer(found, float_below(claimed), text, verdict.words)
        if shrink == 0.0 and claimed and not granted(question, checker, queries, guard):
            return None
    return None


def multipliers(question: Question, solution: Solution) -> Table:
    """The solver's multipliers, by scenario and target; exactly where they are given in two parts.

    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))
    >>> multipliers(question, attempt(question).solution)
    {(0, 0): 1.0}
    """
    targets = question.wish.targets
    found: dict[tuple[int, int], Exact] = {}
    for w in range(len(question.keys)):
        for k, a in enumerate(targets):
            found[w, a] = float(solution.multipliers[w, k])
            if solution.shares is not None and solution.leans is not None:
                share, lean = (Fraction(float(x)) for x in (solution.shares[w], solution.leans[w, k]))
                found[w, a] = share * question.wish.least[a] + lean
    return {place: x for place, x in found.items() if x > 0}


def granted(
    question: Question, checker: Checker, queries: Float[np.ndarray, "heads d"], guard: Guard | None = None
) -> bool:
    """These queries grant this wish: verified.

    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.eye(2),), copy(0, eps=0.5), World(), Fraction(1), Fraction(1))
    >>> granted(question, Checker(question), np.array([[9.0, 0.0]]))
    True
    """
    return checker.verify(certificate(question, "designed", queries=queries, guard=guard)).word == "verified"


def _fraction(least: float) -> Fraction:
    return Fraction(f"{least:.15g}") if 0 < least < math.inf else Fraction(0)
