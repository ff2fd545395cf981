"""Is a statement about keys true? The weights are recomputed; a bound is false if a query below it is exhibited."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np

from tests.referee.answer import TRUE, Answer, together
from tests.referee.chance import failing
from tests.referee.numbers import Vector, as_float, digest, is_float, number, vector
from tests.referee.problem import Problem, problem_of, targets_met
from tests.referee.search import directions, shortest, surely_none_below

ASKED = ("heads", "keys", "scale", "targets", "uncertainty", "confidence")
ROUNDING = 1e-12  # of lengths below which the search knows that there is nothing
OPEN = Answer("unknown", "no queries were found that make it false")
# Of scores: queries and their squares are then floats with all of their digits.
FLOAT_SCALES = (Fraction(1, 10**100), Fraction(10**100))


def judge(statement: Any, hints: list[list[str]] | None = None) -> Answer:
    """The answer; hints are queries to begin a search with."""
    problem = problem_of(statement)
    answers = [_named(statement)]
    queries = [vector(q) for q in statement["queries"]]
    if statement["claim"] == "designed":
        answers.append(_designed(problem, queries))
    length = number(statement["none_shorter"])
    if answers[-1].word != "false" and (
        statement["claim"] == "impossible" or length > 0
    ):
        answers.append(
            _none_shorter(statement, problem, queries or _first(hints), length)
        )
    return together(answers)


def _first(hints: list[list[str]] | None) -> list[Vector]:
    return [vector(q) for q in (hints or [])[:1]]


def _named(statement: Any) -> Answer:
    """The keys have the digest that the statement names, and are floats."""
    for k in statement["keys"]:
        if not all(is_float(number(x)) for row in k["rows"] for x in row):
            return Answer("false", "a key is no float64")
        if digest(k["rows"]) != k["sha256"]:
            return Answer("false", "the digest is of other keys")
    return TRUE


def _designed(problem: Problem, queries: list[Vector]) -> Answer:
    if len(queries) != problem.heads:
        return Answer("false", "there are not as many queries as heads")
    if not problem.is_random:
        return targets_met(problem, queries)
    low, high = failing(problem, [np.array([as_float(x) for x in q]) for q in queries])
    allowed = as_float(1 - problem.confidence)
    if low > allowed:
        return Answer("false", f"it fails with a probability of at least {low}")
    return TRUE if high <= allowed else Answer("unknown", "by chance")


def _none_shorter(
    statement: Any, problem: Problem, begin: list[Vector], length: Fraction
) -> Answer:
    if _hopeless(problem):
        return TRUE
    if any(float(np.abs(K).max()) > 1e150 for K in problem.keys):
        return Answer("unknown", "keys are too large to search with")
    asked = json.dumps([statement[name] for name in ASKED])
    limit = None if statement["claim"] == "impossible" else length
    if problem.is_random:
        if not FLOAT_SCALES[0] < abs(problem.scale) < FLOAT_SCALES[1]:
            return Answer("unknown", "the scale is beyond what is drawn in floats")
        return (
            _none_by_chance(problem, directions(problem, asked, begin), limit)
            if problem.heads == 1
            else OPEN
        )
    if limit is not None and problem.heads == 1 and problem.n > 1:
        for q in begin:
            if surely_none_below(problem, q) * (1 - ROUNDING) >= as_float(length):
                return TRUE
    queries, bound = shortest(problem, asked, begin)
    if not queries or (
        limit is not None and max(_square(q) for q in queries) >= limit**2
    ):
        sure = (
            bound * (1 - ROUNDING) >= as_float(length)
            if limit is not None
            else bound == math.inf
        )
        return TRUE if sure else OPEN
    if targets_met(problem, queries).word != "true":
        return OPEN
    return Answer(
        "false", f"these meet it: {[[as_float(x) for x in q] for q in queries]}"
    )


def _none_by_chance(
    problem: Problem, tried: list[Vector], limit: Fraction | None
) -> Answer:
    """Queries just below the limit, or of any length, that meet the targets more often than chance can explain."""
    for q in tried:
        size = math.sqrt(as_float(_square(q)))
        lengths = (
            [size * t for t in (1, 3, 10, 100, 10_000)]
            if limit is None
            else [as_float(limit) * t for t in (1 - 1e-9, 0.9, 0.7)]
        )
        for length in lengths:
            query = np.array([as_float(x) for x in q]) * (length / size)
            if all(
                failing(problem, [query], draws)[1] <= as_float(1 - problem.confidence)
                for draws in (1000, 20_000)
            ):
                return Answer("false", f"this meets it often enough: {query.tolist()}")
    return OPEN


def _square(q: Vector) -> Fraction:
    return sum((x * x for x in q), Fraction(0))


def _hopeless(problem: Problem) -> bool:
    """Nothing can give these weights together: they are more than there is."""
    total = sum(problem.targets.values())
    return total > 1 or (total == 1 and len(problem.targets) < problem.n)
