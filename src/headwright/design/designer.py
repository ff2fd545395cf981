"""From a wish to a verdict: solve, certify, and let the checker decide. What it does not verify is undecided."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.design.answer import Answer, Files, answer, granted, proof
from headwright.design.chance import Chance, chance
from headwright.design.heads import Share, share_out
from headwright.design.statement import Question
from headwright.design.wish import Number, Wish, exact
from headwright.errors import InputError
from headwright.files import finite
from headwright.noise.world import World
from headwright.trusted.numbers import sqrt_above

FIXED = World()
MOST_HEADS = 64


@dataclass(frozen=True, eq=False)
class Design:
    """What `design` found. All numbers are proven by the certificate, but for those that say otherwise.

    >>> from headwright.design import copy
    >>> found = design(np.eye(3), copy(0))
    >>> found.verdict, found.certificate is not None
    ('designed', True)
    """

    question: Question
    verdict: str  # "designed", "impossible" or "undecided"
    words: str  # what was proved, or why nothing was
    certificate: str | None = None  # JSON, as the checker accepted it
    queries: Float[np.ndarray, "heads d"] = field(default_factory=lambda: np.empty((0, 0)))  # none unless designed
    norm: float = math.inf  # the length of the longest query, rounded up
    norm_lower_bound: float = 0.0  # no query shorter than this grants the wish; inf if none does
    shares: tuple[Share, ...] = ()  # which head serves which targets
    best_eps: tuple[float, float] | None = None  # if impossible: what can be granted instead lies between; proven
    probability: Chance | None = None  # if keys are random: how often the wish is granted, sampled

    @property
    def gap(self) -> float:
        """How much longer than the bound the longest query is, relatively."""
        if self.norm == 0:
            return 0.0
        return self.norm / self.norm_lower_bound - 1 if 0 < self.norm_lower_bound < math.inf else math.inf

    @property
    def pattern(self) -> dict[int, float]:
        """The weight that each target gets at least, in every admissible world; nothing unless designed."""
        if self.verdict != "designed":
            return {}
        return {a: math.nextafter(float(p), 0.0) for a, p in self.question.wish.least.items()}

    def picture(self) -> object:
        """The design as a chart: keys and queries in the plane where there are two dimensions, else the pattern."""
        from headwright.design.drawing import picture

        return picture(self.question, self.queries.reshape(-1, self.question.keys[0].shape[1]), self.words)


def design(
    keys: Float[np.ndarray, "n d"],
    wish: Wish,
    *,
    world: World = FIXED,
    scale: Number = 1,
    heads: int = 1,
    confidence: Number = Fraction(19, 20),
    progress: Callable[[float], None] | None = None,
) -> Design:
    """The shortest query that grants a wish in every admissible world, or a proof that none does.

    With several heads the targets are shared out among them, so that the mean of the patterns grants the wish and
    the longest query is as short as was found; the proven bound then holds for any way of sharing.

    >>> from headwright.design import average
    >>> found = design(np.eye(4), average([0, 1]))
    >>> found.verdict, found.gap < 1e-9
    ('designed', True)
    >>> print(found.words)
    For these 4 keys in R^4 (sha256 ...), this query gives key 0 a weight of at least 0.497512 and ...
    """
    question = ask(keys, wish, world, scale, confidence, heads)
    files = Files(question)
    if heads > 1:
        return _with_chance(_several(question, files, progress))
    found = answer(question, files, progress)
    if found.certificate is None:
        return _without(question, files, found)
    query = found.solution.query
    share = Share(0, tuple(wish.targets))
    return _with_chance(
        Design(
            question, "designed", found.words, found.certificate, query[None], _norm(query), found.lower_bound, (share,)
        )
    )


def ask(
    keys: Float[np.ndarray, "n d"],
    wish: Wish,
    world: World = FIXED,
    scale: Number = 1,
    confidence: Number = Fraction(19, 20),
    heads: int = 1,
) -> Question:
    """The question, checked.

    >>> from headwright.design.wish import copy
    >>> ask(np.eye(2), copy(0), scale=0)
    Traceback (most recent call last):
    headwright.errors.InputError: scale is 0: expected another number
    """
    keys = finite(np.asarray(keys), "keys", axes=2)
    world.check_fits(keys)
    wish.check_fits(len(keys))
    factor, sure = exact(scale, "scale"), exact(confidence, "confidence")
    if factor == 0:
        raise InputError("scale is 0: expected another number")
    if not 0 < sure < 1:
        raise InputError(f"confidence is {float(sure):g}: expected a number between 0 and 1")
    if not 1 <= heads <= MOST_HEADS:
        raise InputError(f"{heads} heads: expected from 1 to {MOST_HEADS}")
    return Question(world.scenarios or (keys,), wish, world, factor, sure, heads)


def _several(question: Question, files: Files, progress: Callable[[float], None] | None) -> Design:
    shared = share_out(question, files, progress)
    if shared is None:
        return Design(question, "undecided", "no way of sharing the targets out among the heads was found")
    return Design(
        question, "designed", shared.words, shared.certificate, shared.queries,
        max(_norm(query) for query in shared.queries), shared.lower_bound, shared.shares,
    )  # fmt: skip


def _with_chance(found: Design) -> Design:
    """The same, with the probability that was sampled where keys are random: what is proven is only a lower bound."""
    if found.verdict != "designed" or not found.question.random:
        return found
    return replace(found, probability=chance(found.question, found.queries))


def _without(question: Question, files: Files, found: Answer) -> Design:
    impossible = proof(question, files, found)
    if impossible is None:
        why = f"neither a query nor a proof that there is none was found (the solver says: {found.solution.status})"
        return Design(question, "undecided", why, norm_lower_bound=0.0)
    best = _best_eps(question, files, found)
    return Design(question, "impossible", impossible[1], impossible[0], norm_lower_bound=math.inf, best_eps=best)


def _best_eps(question: Question, files: Files, found: Answer) -> tuple[float, float] | None:
    """The least eps that can be granted, from both sides, for a wish that treats its targets alike."""
    slacks = {1 / p - 1 for p in question.wish.least.values()}
    if len(slacks) > 1:
        return None
    others = len(question.wish.least) - 1
    best = Fraction(math.exp(found.best_violation)) * slacks.pop()  # a guess at the least common slack

    def with_slack(slack: Fraction) -> Question:
        return replace(question, wish=Wish(dict.fromkeys(question.wish.targets, 1 / (1 + slack))))

    high = next(
        (s for room in (9, 7, 5) if granted(with_slack(s := best * (1 + Fraction(1, 10**room))), files, found)), None
    )
    low = next(
        (s for room in (8, 6, 4, 2, 1) if proof(with_slack(s := best * (1 - Fraction(1, 10**room))), files, found)),
        None,
    )
    if high is None or low is None:
        return None
    return math.nextafter(float(low - others), -math.inf), math.nextafter(float(high - others), math.inf)


def _norm(query: Float[np.ndarray, " d"]) -> float:
    """The length of a query, rounded up."""
    length = sqrt_above(sum((Fraction(x) ** 2 for x in query.tolist()), Fraction(0)))
    nearest = float(length)
    return nearest if nearest >= length else math.nextafter(nearest, math.inf)
