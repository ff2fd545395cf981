"""Several heads: the targets are shared out, so that the mean of the patterns grants the wish.

A head that serves a group of targets alone, one of c such heads among h, must give each of its targets h/c times the
wished weight. All ways of splitting few targets into groups are tried; the way with the shortest longest query is
taken. For any h heads and any one world, some head gives target a at least p_a: so the longest query is at least as
long as the shortest one that grants {a: p_a} in that world, which is the bound that is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.design.answer import Answer, Files, answer
from headwright.design.certify import designed
from headwright.design.statement import Question
from headwright.design.wish import Wish
from headwright.trusted.verify import verify

FEW = 6  # targets up to which all groupings are tried: 203 of them
Group = tuple[int, ...]


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


def share_out(question: Question, files: Files, progress: Callable[[float], None] | None = None) -> Shared | None:
    """The best way of sharing that was found, verified; None if there is none.

    >>> from headwright.design.wish import average
    >>> from headwright.noise import World
    >>> question = Question((np.eye(8),), average([0, 1]), World(), Fraction(1), Fraction(1), heads=2)
    >>> [share.targets for share in share_out(question, Files(question)).shares]
    [(0,), (1,)]
    """
    known: dict[tuple[Group, Fraction], Answer] = {}

    def serve(group: Group, factor: Fraction) -> Answer | None:
        least = {a: question.wish.least[a] * factor for a in group}
        if sum(least.values()) >= 1 and not (len(group) == question.n and sum(least.values()) == 1):
            return None
        if (group, factor) not in known:
            part = replace(question, wish=Wish(least), guard=question.deviations)
            known[group, factor] = answer(part, files)
        return known[group, factor] if known[group, factor].certificate is not None else None

    best: tuple[float, list[tuple[Group, Float[np.ndarray, " d"]]]] | None = None
    ways = list(_ways(tuple(question.wish.targets), question.heads))
    for number, way in enumerate(ways):
        served = [(group, count, serve(group, Fraction(question.heads, count))) for group, count in way]
        if all(found is not None for _, _, found in served):
            heads = [
                (group, found.solution.query)
                for group, count, found in served
                if found is not None
                for _ in range(count)
            ]
            length = max(float(np.linalg.norm(query)) for _, query in heads)
            if best is None or length < best[0]:
                best = length, heads
        if progress is not None:
            progress((number + 1) / (len(ways) + 1))
    return None if best is None else _certified(question, files, best[1], serve)


def _certified(
    question: Question,
    files: Files,
    heads: list[tuple[Group, Float[np.ndarray, " d"]]],
    serve: Callable[[Group, Fraction], Answer | None],
) -> Shared | None:
    singles = [(a, found) for a in question.wish.targets if (found := serve((a,), Fraction(1))) is not None]
    target, longest = max(singles, key=lambda single: single[1].lower_bound, default=(question.wish.targets[0], None))
    multipliers = np.zeros((len(question.keys), len(question.wish.targets)))
    multipliers[0, question.wish.targets.index(target)] = 1.0
    lower = 0.0 if longest is None or len(question.keys) > 1 else longest.lower_bound * (1 - 1e-12)
    witness = heads[0][1] if longest is None else longest.solution.witness
    queries = np.stack([query for _, query in heads])
    for bound in (lower, 0.0):
        certificate = designed(question, queries, witness, multipliers, Fraction(f"{bound:.15g}"))
        verdict = verify(certificate, files.contents)
        if verdict.word == "verified":
            shares = tuple(Share(h, group) for h, (group, _) in enumerate(heads))
            return Shared(queries, shares, bound * (1 - 1e-14), certificate, verdict.words)
    return None


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
