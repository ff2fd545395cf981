"""One query for one question: solved in floating point, certified, and checked.

Where no query is found, `prove_longer` bounds the length of every query that meets the targets from below, and
`best_eps` finds the smallest tolerance that an impossible target can be given, with bounds from both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.errors import ContradictionError
from headwright.numerics.enclosure import float_below, shown_above, shown_below
from headwright.query_design.certify import (
    BoundEvidence,
    Checker,
    GuardEvidence,
    certificate,
    guards,
)
from headwright.query_design.program import program, solved
from headwright.query_design.proving.impossible import prove_impossible
from headwright.query_design.proving.key_placement import Table, bound_at
from headwright.query_design.proving.least_violation import nearest
from headwright.query_design.proving.random_keys import BoundSearch
from headwright.query_design.solving.problem import QueryProblem, QuerySolution
from headwright.query_design.solving.solver import dual_bound, violation
from headwright.query_design.statement import DesignQuestion
from headwright.query_design.targets import Targets

# The part of the time that solving takes, measured at 2e4, 1e5 and 3e5 keys; checking takes the rest.
SOLVED = 0.1
SOLVED_FAST = 0.5
# The proven length times the spread of the keys: a key that moves by its inverse changes a score by 1.
BEYOND_USE = 1e6
# Of a bound on all queries, until the checker takes it.
LENGTH_SHRINKS = (1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99, 0.999)
# What is given away, until rounding does no harm.
ROOM = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
# Of the bound of a design, until the checker takes it; 1: nothing is claimed.
SHRINKS = (1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)
CLOSE = 1e-6  # how far a query may miss the targets in floating point and still be worth a try
FAR = 1e3  # scores beyond this are no good start
# Digits to which a guess at the least slack is tried, above it and below it.
DIGITS_ABOVE = (9, 7, 5, 3, 2)
DIGITS_BELOW = (8, 6, 4, 3, 2, 1)
HALVINGS = 6


class Phases:
    """Tells progress as a number from 0 to 1 that never goes back."""

    def __init__(
        self, progress: Callable[[float], None] | None = None, solved: float = SOLVED
    ) -> None:
        """Solving is done at the fraction `solved`. Without a function nothing is reported."""
        self.progress = progress
        self.solved = solved
        self.reached = 0.0

    def solving(self, part: float) -> None:
        """So much of the solving is done."""
        self._tell(self.solved * part)

    def checking(self, part: float) -> None:
        """So much of the checking is done."""
        self._tell(self.solved + (1 - self.solved) * part * 0.999)

    def done(self) -> None:
        """All of it."""
        self._tell(1.0)

    def _tell(self, reached: float) -> None:
        if self.progress is not None and reached > self.reached:
            self.reached = reached
            self.progress(reached)


SILENT = Phases()


@dataclass(frozen=True, eq=False)
class Attempt:
    """What the solver says of a question, with the guard that leads to the shortest query."""

    guard: GuardEvidence | None
    problem: QueryProblem
    solution: QuerySolution

    @property
    def violation(self) -> float:
        """Floating-point: ln of how far the best query misses the slack."""
        return violation(self.problem, self.solution.best)


@dataclass(frozen=True, eq=False)
class QueryResult:
    """The attempt, and the certificate if the checker accepted one."""

    attempt: Attempt
    lower_bound: float = 0.0  # proven, about any query
    certificate: str | None = None
    words: str = ""


def shortest_query(
    question: DesignQuestion, checker: Checker, phases: Phases = SILENT
) -> QueryResult:
    """The shortest query, verified, with the best bound that can be; or what the solver had, without a certificate."""
    for room in ROOM:
        trial = attempt(question, room, phases.solving)
        if trial.solution.status == "impossible" and trial.violation > CLOSE:
            break
        bound, least = _best_bound(question, trial)
        if least == math.inf:
            break
        least = 0.0 if question.wider else least * (1 - room)
        verified = _verified(question, checker, phases, trial, bound, least)
        if verified is not None:
            return verified
    return QueryResult(trial)


def attempt(
    question: DesignQuestion,
    room: float = 0.0,
    progress: Callable[[float], None] | None = None,
) -> Attempt:
    """The solver's best, with either guard where keys are random; a little more is asked for than need be."""
    attempts = []
    for guard in guards(question) or (None,):
        problem = program(question, guard)
        asked = problem if question.met_by_nothing else problem.tightened(room)
        attempts.append(Attempt(guard, problem, solved(asked, progress)))
    return min(attempts, key=_preference)


def _preference(attempt: Attempt) -> tuple[bool, float]:
    """Possible ones first, then the shortest."""
    solution = attempt.solution
    return solution.status == "impossible", math.hypot(*solution.query.tolist())


def _best_bound(
    question: DesignQuestion, attempt: Attempt
) -> tuple[BoundEvidence, float]:
    """Evidence that no query is shorter, and its bound in floating point; inf if it says that there is none."""
    solution = attempt.solution
    if question.random:
        search = BoundSearch(question)
        # No bound is above the length of a query that does it.
        enough = math.inf
        if solution.status == "solved":
            enough = float(np.linalg.norm(solution.query))
        value = search.best(
            solution.witness, solution.multipliers[0], solution.smoothing, enough
        )
        return search.evidence(value)
    # Where keys are certain the query is its own witness, and the checker needs each exponential only once.
    witness = solution.query if solution.smoothing == 0 else solution.witness
    multipliers = _multipliers(question, solution)
    evidence = bound_at(question, witness, multipliers, solution.smoothing)
    return evidence, dual_bound(attempt.problem, solution)


def _verified(
    question: DesignQuestion,
    checker: Checker,
    phases: Phases,
    attempt: Attempt,
    bound: BoundEvidence,
    least: float,
) -> QueryResult | None:
    """With the bound if the checker takes it; a query that meets the targets is not given up for its bound."""
    queries = attempt.solution.query[None]
    guard = attempt.guard
    for shrink in (0.0, *SHRINKS):
        claimed = _fraction(least * (1 - shrink))
        text = certificate(
            question,
            "designed",
            bound if claimed else None,
            queries=queries,
            none_shorter=claimed,
            guard=guard,
        )
        verdict = checker.verify(text, phases.checking)
        if verdict.word == "verified":
            return QueryResult(attempt, float_below(claimed), text, verdict.words)
        if shrink == 0.0 and claimed and not met(question, checker, queries, guard):
            return None
    return None


def _multipliers(question: DesignQuestion, solution: QuerySolution) -> Table:
    """The solver's multipliers that are above 0, by scenario and target."""
    multipliers = {}
    for scenario, of_scenario in enumerate(solution.multipliers.tolist()):
        for target, x in zip(question.targets.indices, of_scenario, strict=True):
            if x > 0:
                multipliers[scenario, target] = x
    return multipliers


def met(
    question: DesignQuestion,
    checker: Checker,
    queries: Float[np.ndarray, "heads d"],
    guard: GuardEvidence | None = None,
) -> bool:
    """These queries meet this target: verified.

    >>> from headwright.query_design.targets import copy
    >>> from headwright.uncertainty import Uncertainty
    >>> question = DesignQuestion((np.eye(2),), copy(0, eps=0.5), Uncertainty(), Fraction(1), Fraction(1))
    >>> met(question, Checker(question), np.array([[9.0, 0.0]]))
    True
    """
    text = certificate(question, "designed", queries=queries, guard=guard)
    return checker.verify(text).word == "verified"


def _fraction(least: float) -> Fraction:
    return Fraction(f"{least:.15g}") if 0 < least < math.inf else Fraction(0)


@dataclass(frozen=True)
class Longer:
    """Verified: no query shorter than this meets the targets.

    Useless: a key that moves by a millionth of the keys' spread, along the query, changes its score by more than 1.
    """

    certificate: str
    words: str
    least: float
    useless: bool


def prove_longer(
    question: DesignQuestion, checker: Checker, attempt: Attempt
) -> Longer | None:
    """The best such bound that was verified, or None."""
    return first_verified_length(question, checker, length_bounds(question, attempt))


def first_verified_length(
    question: DesignQuestion,
    checker: Checker,
    candidates: Iterable[tuple[BoundEvidence, float]],
) -> Longer | None:
    """The largest of these bounds that the checker takes, made a little smaller where that helps; or None."""
    possible = [candidate for candidate in candidates if candidate[1] > 0]
    for bound, least in sorted(possible, key=lambda candidate: -candidate[1]):
        for shrink in LENGTH_SHRINKS:
            claimed = Fraction(f"{min(least, 1e300) * (1 - shrink):.15g}")
            text = certificate(question, "longer", bound, none_shorter=claimed)
            verdict = checker.verify(text)
            if verdict.word == "verified":
                proven = float_below(claimed)
                useless = proven * _spread(question) > BEYOND_USE
                return Longer(text, verdict.words, proven, useless)
    return None


def length_bounds(
    question: DesignQuestion, attempt: Attempt
) -> list[tuple[BoundEvidence, float]]:
    """Evidence that every query is long, with its bound in floating point: nothing is verified yet."""
    solution = attempt.solution
    problem = attempt.problem
    if question.random:
        search = BoundSearch(question)
        value = search.best(
            solution.witness, solution.multipliers[0], solution.smoothing
        )
        return [search.evidence(value)]
    largest = max(float(np.abs(keys).max()) for keys in question.keys)
    size = largest * abs(float(question.scale)) or 1.0
    smoothing = 0.0 if problem.certain else 1e-7
    start = _near_start(solution.best, size)
    close = nearest(problem, start, smoothing, 1e3)
    at_nearest = QuerySolution(
        close.query,
        close.multipliers.reshape(solution.multipliers.shape),
        "stalled",
        0,
        witness=close.query,
        best=close.query,
        smoothing=smoothing,
    )
    bounds = []
    for at in (solution, at_nearest):
        least = dual_bound(problem, at)
        if not math.isfinite(least):
            # Where the slopes cancel but for rounding, the exact sum is about as small as rounding.
            least = 1e17 / size
        multipliers = _multipliers(question, at)
        bounds.append(
            (bound_at(question, at.witness, multipliers, at.smoothing), least)
        )
    return bounds


def _near_start(query: np.ndarray, size: float) -> np.ndarray:
    """The query to start from, or 0 where scores are far beyond all that matters."""
    if float(np.abs(query).max()) * size < FAR:
        return query
    return np.zeros_like(query)


def _spread(question: DesignQuestion) -> float:
    """How far a key is from the first target at most, times the scale."""
    a = question.targets.indices[0]
    far = max(float(np.abs(keys - keys[a]).max()) for keys in question.keys)
    return far * abs(float(question.scale))


def best_eps(
    question: DesignQuestion, checker: Checker, attempt: Attempt
) -> tuple[float, float] | None:
    """The least eps that can be met lies between; None for a target that does not treat its targets alike.

    Both are verified: a query that meets the upper one, and a proof that no query whatever meets the lower one.
    """
    slacks = {1 / p - 1 for p in question.targets.least.values()}
    if len(slacks) > 1:
        return None
    asked = slacks.pop()
    close = _closest(attempt)
    high = _targets_met_above(question, checker, attempt, close, asked)
    if high is None:
        return None
    low = _impossible_below(question, checker, attempt, high, asked)
    if high <= low:
        raise ContradictionError(
            f"{shown_above(high)} is met by a query that was verified, and {shown_below(low)} by none, "
            "as was proved"
        )
    # Each of m targets gets 1 / (m + eps): its slack is m - 1 + eps.
    others = len(question.targets.least) - 1
    low_eps = math.nextafter(float(low - others), -math.inf)
    high_eps = math.nextafter(float(high - others), math.inf)
    return low_eps, high_eps


def _with_slack(question: DesignQuestion, slack: Fraction) -> DesignQuestion:
    """The same targets with 1/(1 + slack) for each target."""
    least = dict.fromkeys(question.targets.indices, 1 / (1 + slack))
    return replace(question, targets=Targets(least))


def _closest(attempt: Attempt) -> np.ndarray:
    """The query that misses the targets least, of those that were found."""
    problem = attempt.problem
    query = attempt.solution.best
    queries = [query]
    query = _near_start(query, abs(problem.scale))
    levels = (0.0,) if problem.certain else (1e-3, 1e-6, 1e-9)
    for level in levels:
        steepness = 100.0 if level == 0 else 1 / level
        query = nearest(problem, query, level, steepness).query
        queries.append(query)
    return min(queries, key=lambda query: violation(problem, query))


def _targets_met_above(
    question: DesignQuestion,
    checker: Checker,
    attempt: Attempt,
    close: np.ndarray,
    asked: Fraction,
) -> Fraction | None:
    guess = asked * Fraction(math.exp(min(violation(attempt.problem, close), 700.0)))
    for digits in DIGITS_ABOVE:
        slack = guess * (1 + Fraction(1, 10**digits))
        if met(_with_slack(question, slack), checker, close[None], attempt.guard):
            return slack
    return None


def _impossible_below(
    question: DesignQuestion,
    checker: Checker,
    attempt: Attempt,
    high: Fraction,
    asked: Fraction,
) -> Fraction:
    """The largest slack that a proof was verified for; at least the one asked for, which is known to be impossible."""

    def is_impossible(slack: Fraction) -> bool:
        less = _with_slack(question, slack)
        problem = program(less, attempt.guard)
        proof = prove_impossible(less, checker, problem, attempt.solution)
        return proof is not None

    if not question.random:  # what is met and what is impossible meet
        for digits in DIGITS_BELOW:
            slack = high * (1 - Fraction(1, 10**digits))
            if slack > asked and is_impossible(slack):
                return slack
    low = asked
    above = high
    for _ in range(HALVINGS):
        middle = Fraction(math.sqrt(float(low) * float(above)))
        if is_impossible(middle):
            low = middle
        else:
            above = middle
    return low
