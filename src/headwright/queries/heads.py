"""Several heads: the targets are shared out, so that the mean of the patterns grants the wish.

A head that serves a group of targets alone, one of c such heads among h, must give each of its targets h/c times the
wished weight. All ways of splitting few targets into groups are tried; the way with the shortest longest query is
taken, and improved by a descent over all queries at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.enclosure import float_below
from headwright.queries.certify import certificate
from headwright.queries.checking import Checker
from headwright.queries.descend import descended, gathered
from headwright.queries.guard import Guard, guards
from headwright.queries.phases import Phases
from headwright.queries.program import program, solved
from headwright.queries.proving.oneworld import best_common_bound
from headwright.queries.statement import Question
from headwright.queries.wish import Wish

FEW = 6  # targets up to which all groupings are tried: 203 of them
LONGER = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)  # how much longer queries are made until the checker takes them
SHRINKS = (1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1.0)  # of a bound, until the checker takes it; 1: nothing is claimed
Group = tuple[int, ...]
Heads = list[tuple[Group, Float[np.ndarray, " d"]]]


@dataclass(frozen=True)
class Share:
    """Which targets a head serves.

    >>> Share(0, (1, 4))
    Share(head=0, targets=(1, 4))
    """

    head: int
    targets: Group


@dataclass(frozen=True, eq=False)
class Shared:
    """A verified design for several heads."""

    queries: Float[np.ndarray, "heads d"]
    shares: tuple[Share, ...]
    lower_bound: float
    certificate: str
    words: str


def share_out(question: Question, checker: Checker, phases: Phases) -> Shared | None:
    """The best way of sharing that was found, verified; None if there is none.

    >>> from headwright.queries.wish import average
    >>> from headwright.noise import World
    >>> question = Question((np.eye(8),), average([0, 1]), World(), Fraction(1), Fraction(1), heads=2)
    >>> [share.targets for share in share_out(question, Checker(question), Phases()).shares]
    [(0,), (1,)]
    """
    found = [(guard, heads) for guard in guards(question) or (None,) if (heads := _split(question, guard, phases))]
    for guard, heads in sorted(found, key=lambda one: _longest(_queries(one[1]))):
        queries = _queries(heads)
        better = descended(question, guard, queries) if queries.any() else None  # nothing is shorter than 0
        for candidate in (better, queries) if better is not None else (queries,):
            shared = _certified(question, checker, guard, heads, candidate)
            if shared is not None:
                return shared
    return None


def gather(question: Question, checker: Checker) -> Shared | None:
    """Where no way of sharing works: heads that grant the wish together all the same, verified; None if none are found.

    >>> from headwright.queries.wish import at_least
    >>> from headwright.noise import World
    >>> thirds = at_least({0: "0.3", 1: "0.3", 2: "0.3"})
    >>> question = Question((np.eye(4),), thirds, World(), Fraction(1), Fraction(1), heads=2)
    >>> gather(question, Checker(question)).queries.shape
    (2, 4)
    """
    everybody = tuple(question.wish.targets)
    for guard in guards(question) or (None,):
        together = gathered(question, guard)
        if together is not None:
            shared = _certified(question, checker, guard, [(everybody, query) for query in together], together)
            if shared is not None:
                return shared
    return None


def _split(question: Question, guard: Guard | None, phases: Phases) -> Heads:
    """The way of sharing with the shortest longest query; empty if there is none."""
    if question.granted_by_nothing:
        return [(tuple(question.wish.targets), np.zeros(question.d))] * question.heads
    known: dict[tuple[Group, Fraction], Float[np.ndarray, " d"] | None] = {}
    best: tuple[float, Heads] | None = None
    ways = list(_ways(tuple(question.wish.targets), question.heads))
    for number, way in enumerate(ways):
        heads: Heads = []
        for group, count in way:
            factor = Fraction(question.heads, count)
            if (group, factor) not in known:
                known[group, factor] = _served(question, guard, group, factor)
            query = known[group, factor]
            if query is None:
                break
            heads += [(group, query)] * count
        else:
            length = _longest(_queries(heads))
            if best is None or length < best[0]:
                best = length, heads
        phases.solving((number + 1) / len(ways))
    return [] if best is None else best[1]


def _served(question: Question, guard: Guard | None, group: Group, factor: Fraction) -> Float[np.ndarray, " d"] | None:
    least = {a: question.wish.least[a] * factor for a in group}
    total = sum(least.values())
    if total > 1 or (total == 1 and len(group) < question.n):
        return None
    solution = solved(program(replace(question, wish=Wish(least)), guard))
    return None if solution.status == "impossible" else solution.query


def _certified(
    question: Question, checker: Checker, guard: Guard | None, heads: Heads, queries: Float[np.ndarray, "heads d"]
) -> Shared | None:
    for longer in LONGER:
        mine = queries * (1 + longer)
        verdict = checker.verify(text := certificate(question, "designed", queries=mine, guard=guard))
        if verdict.word == "verified":
            break
    else:
        return None
    claimed, words = Fraction(0), verdict.words
    bound, least = best_common_bound(question, mine.mean(axis=0))
    for shrink in SHRINKS if bound is not None and least > 0 and not question.wider else ():
        none_shorter = Fraction(f"{min(least, 1e300) * (1 - shrink):.15g}")
        stronger = certificate(question, "designed", bound, queries=mine, none_shorter=none_shorter, guard=guard)
        verdict = checker.verify(stronger)
        if verdict.word == "verified":
            claimed, text, words = none_shorter, stronger, verdict.words
            break
    shares = tuple(Share(h, group) for h, (group, _) in enumerate(heads))
    return Shared(mine, shares, float_below(claimed), text, words)


def _queries(heads: Heads) -> Float[np.ndarray, "heads d"]:
    return np.stack([query for _, query in heads])


def _longest(queries: Float[np.ndarray, "heads d"]) -> float:
    return float(np.linalg.norm(queries, axis=1).max())


def _ways(targets: Group, heads: int) -> Iterator[list[tuple[Group, int]]]:
    """Groups of targets with the number of heads that serve each; all together with all heads comes first."""
    yield [(targets, heads)]
    groupings = _partitions(list(targets)) if len(targets) <= FEW else [_even(targets, heads)]
    for groups in groupings:
        if 1 < len(groups) <= heads:
            spare = heads - len(groups)
            counts = [1 + spare // len(groups) + (g < spare % len(groups)) for g in range(len(groups))]
            yield list(zip(sorted(groups), counts, strict=True))


def _partitions(targets: list[int]) -> Iterator[list[Group]]:
    if not targets:
        yield []
        return
    first, rest = targets[0], targets[1:]
    for smaller in _partitions(rest):
        yield [(first,), *smaller]
        for g, group in enumerate(smaller):
            yield [*smaller[:g], (first, *group), *smaller[g + 1 :]]


def _even(targets: Group, heads: int) -> list[Group]:
    return [tuple(part.tolist()) for part in np.array_split(np.array(targets), min(heads, len(targets)))]
