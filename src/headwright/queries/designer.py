"""From a wish to a verdict: solve, certify, and let the checkers decide. What they do not verify is undecided."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from headwright.cards import card, lines
from headwright.enclosure import float_above, shown_above, shown_below
from headwright.errors import InputError, check_type
from headwright.files import finite
from headwright.noise.world import World
from headwright.queries.answer import Answer, answer
from headwright.queries.chance import Chance, chance
from headwright.queries.checking import Checker
from headwright.queries.heads import Share, gather, share_out
from headwright.queries.instances import try_out
from headwright.queries.least import best_eps
from headwright.queries.longer import prove_longer
from headwright.queries.phases import SOLVED, SOLVED_FAST, Phases
from headwright.queries.proving.impossible import prove_impossible
from headwright.queries.proving.oneworld import prove_impossible_for_heads
from headwright.queries.sizes import check_sizes
from headwright.queries.statement import Question
from headwright.queries.wish import Number, Wish, exact
from headwright.trusted.numbers import sqrt_above
from headwright.verification import in_words

if TYPE_CHECKING:
    from headwright.pictures import Chart

LOG = logging.getLogger(__name__)
FIXED = World()
MOST_HEADS = 64
SURE = Fraction(19, 20)  # the confidence, unless given
LISTED = (
    "no query was found that does it for the whole range of the listed scales, and nothing is proven about the list "
    "alone: with several heads, or random keys, give the scenarios themselves"
)
SEEMS = {  # what floating point makes of it is no verdict, and is not told in the words of one
    "solved": "there is one, which the checker does not take",
    "impossible": "there seems to be none",
    "stalled": "the search stalled",
}

KINDS = {  # of the numbers in JSON; the norm and the interval of best_eps are rounded outward
    "queries": "exact",
    "norm": "proven",
    "norm_lower_bound": "proven",
    "gap": "floating-point",
    "pattern": "proven",
    "best_eps": "proven",
    "best_eps_interval": "proven",
    "probability": "sampled",
    "probability.proven_at_least": "proven",
    "probability.exact_enclosure": "proven",
}


@dataclass(frozen=True, eq=False)
class Design:
    """What `design` found. All numbers are proven by the certificate, but for those that say otherwise.

    >>> from headwright.queries import copy
    >>> found = design(np.eye(3), copy(0))
    >>> found.word, found.certificate is not None
    ('designed', True)
    """

    question: Question
    word: str  # "designed", "impossible", "longer" (than any use) or "undecided"
    words: str  # what was proved, or why nothing was
    certificate: str | None = None  # JSON, as the checker accepted it
    queries: Float[np.ndarray, "heads d"] = field(default_factory=lambda: np.empty((0, 0)))  # none unless designed
    norm: float = math.inf  # the length of the longest query, rounded up
    norm_lower_bound: float = 0.0  # no query shorter than this grants the wish, of any kind; inf if none does
    shares: tuple[Share, ...] = ()  # which head serves which targets
    best_eps: tuple[float, float] | None = None  # if impossible: what can be granted instead lies between; proven
    probability: Chance | None = None  # if keys are random: how often the wish is granted, sampled
    checkers: tuple[str, ...] = ()  # who verified the certificate: "exact", "float" or "proved"; none without one

    @property
    def gap(self) -> float:
        """How much longer than the bound the longest query is, relatively."""
        if self.norm == 0:
            return 0.0
        return self.norm / self.norm_lower_bound - 1 if 0 < self.norm_lower_bound < math.inf else math.inf

    @property
    def pattern(self) -> dict[int, float]:
        """The weight that each target gets at least, in every admissible world; nothing unless designed."""
        if self.word != "designed":
            return {}
        return {a: math.nextafter(float(p), 0.0) for a, p in self.question.wish.least.items()}

    def to_json(self, certificate: str | None = None) -> dict[str, Any]:
        """All of it in JSON's own types; `certificate` is where the certificate is, or the certificate itself."""
        finite = math.isfinite(self.norm)
        return {
            "verdict": self.word,
            "queries": self.queries.tolist(),
            "norm": self.norm if finite else None,
            "norm_lower_bound": self.norm_lower_bound if math.isfinite(self.norm_lower_bound) else None,
            "gap": self.gap if finite and math.isfinite(self.gap) else None,
            "pattern": {str(key): least for key, least in self.pattern.items()},
            "heads": [{"head": share.head, "targets": list(share.targets)} for share in self.shares],
            "best_eps": self.best_eps[1] if self.best_eps else None,
            "best_eps_interval": list(self.best_eps) if self.best_eps else None,
            "probability": _probability(self),
            "checkers": list(self.checkers),
            "certificate": certificate,
            "words": self.words,
            "kinds": KINDS,
        }

    @property
    def _facts(self) -> list[tuple[str, str]]:
        n, d = self.question.keys[0].shape
        facts = [("keys", f"{n} in R^{d}")]
        if self.word == "designed":
            facts.append(("length, at most", shown_above(self.norm, 4)))
            if self.norm_lower_bound:
                facts.append(("none shorter than", shown_below(self.norm_lower_bound, 4)))
            facts += [(f"weight of key {a}, at least", shown_below(p, 4)) for a, p in self.pattern.items()]
        if self.best_eps is not None:
            low, high = self.best_eps
            facts.append(("smallest tolerance eps", f"{shown_below(low, 4)} to {shown_above(high, 4)}"))
        if self.certificate is not None:
            facts.insert(0, ("certificate", f"verified by the {in_words(self.checkers)}"))
        return facts

    def __repr__(self) -> str:
        """The verdict and its numbers in a few lines, never the keys."""
        return lines(self.word, self.words, self._facts)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card, with the picture."""
        from headwright.pictures import render, told

        chart = self.picture()
        return card(self.word, self.words, self._facts, render(chart, ".svg"), told(chart))

    def picture(self) -> Chart:
        """The design as a chart: keys and queries in the plane where there are two dimensions, else the pattern."""
        from headwright.queries.drawing import picture

        queries = self.queries.reshape(-1, self.question.keys[0].shape[1])
        return picture(self.question, queries, self.word, self.gap)


def design(
    keys: Float[np.ndarray, "n d"],
    wish: Wish,
    *,
    world: World = FIXED,
    scale: Number = 1,
    heads: int = 1,
    confidence: Number | None = None,
    checker: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Design:
    """The shortest query that grants a wish in every admissible world, or a proof that none does.

    With several heads the targets are shared out among them, so that the mean of the patterns grants the wish and
    the longest query is as short as was found; the proven bound then holds for any way of sharing. Where keys are
    random the wish is granted with the probability `confidence`, 19/20 unless given. `checker` says who must accept
    the certificate: 'both', 'exact', 'float' or 'proved'; None means both up to 10^6 key entries, and above that the
    exact one. Progress is told a number that grows from 0 to 1.

    >>> from headwright.queries import average
    >>> found = design(np.eye(4), average([0, 1]))
    >>> found.word, found.gap < 1e-9
    ('designed', True)
    >>> print(found.words)
    For these 4 keys in R^4 (sha256 ...), the query ... gives each of keys 0, 1 a weight of at least 0.497512 ...
    """
    question = ask(keys, wish, world, scale, confidence, heads)
    checks = Checker(question, checker)
    phases = Phases(progress, SOLVED if "exact" in checks.names else SOLVED_FAST)
    # Floats that overflow on the way prove nothing, and neither do the others: the checker decides.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = _several(question, checks, phases) if heads > 1 else _one(question, checks, phases)
    phases.done()
    if found.certificate is not None:
        found = replace(found, checkers=checks.names)
    elif checks.unconfirmed:
        found = replace(found, words=f"{found.words}. Not confirmed: {checks.unconfirmed[0]}")
    LOG.info("%s, for %d keys", found.word, len(question.keys[0]))
    return _with_chance(found)


def ask(
    keys: Float[np.ndarray, "n d"],
    wish: Wish,
    world: World = FIXED,
    scale: Number = 1,
    confidence: Number | None = None,
    heads: int = 1,
) -> Question:
    """The question, checked. The confidence is 19/20 unless given, which it may be only where a key is random.

    >>> from headwright.queries.wish import copy
    >>> ask(np.eye(2), copy(0), scale=0)
    Traceback (most recent call last):
    headwright.errors.InputError: scale is 0: expected another number
    """
    keys = finite(keys, "keys", axes=2)
    if not isinstance(world, World):
        raise InputError(f"the world is {world!r}: expected one such as read_world(path) gives")
    world.check_fits(keys)
    if not isinstance(wish, Wish):
        raise InputError(f"the wish is {wish!r}: expected one such as copy(3), average([0, 1]) or at_least({{0: 0.9}})")
    wish.check_fits(len(keys))
    factor, sure = exact(scale, "scale"), SURE if confidence is None else exact(confidence, "confidence")
    if factor == 0:
        raise InputError("scale is 0: expected another number")
    if not 0 < sure < 1:
        raise InputError(f"confidence is {float(sure):g}: expected a number between 0 and 1")
    if sure < Fraction(1, 2):
        raise InputError(f"confidence is {float(sure):g}: expected at least 1/2, below which the problem is not convex")
    check_type(heads, "heads", "a whole number")
    if not 1 <= heads <= MOST_HEADS:
        raise InputError(f"{heads} heads: expected from 1 to {MOST_HEADS}")
    check_sizes(world.scenarios or (keys,), world)
    question = Question(world.scenarios or (keys,), wish, world, factor, sure, heads)
    if confidence is not None and not question.random:
        raise InputError(f"confidence is {float(sure):g}, and every key is certain: leave it out, or give a world in "
                         "which a key is random")  # fmt: skip
    return question


def _one(question: Question, checker: Checker, phases: Phases) -> Design:
    found = answer(question, checker, phases)
    if found.certificate is None:
        return _without(question, checker, found)
    query, share = found.attempt.solution.query, Share(0, tuple(question.wish.targets))
    return Design(
        question, "designed", found.words, found.certificate, query[None], _norm(query), found.lower_bound, (share,)
    )


def _several(question: Question, checker: Checker, phases: Phases) -> Design:
    shared = share_out(question, checker, phases)
    if shared is None:
        proof = None if question.wider else prove_impossible_for_heads(question, checker)
        if proof is not None:
            return Design(question, "impossible", proof.words, proof.certificate, norm_lower_bound=math.inf)
        shared = gather(question, checker)
    if shared is None:
        why = LISTED if question.wider else "no way of sharing the targets out among the heads was found"
        return Design(question, "undecided", why)
    return Design(
        question, "designed", shared.words, shared.certificate, shared.queries,
        max(_norm(query) for query in shared.queries), shared.lower_bound, shared.shares,
    )  # fmt: skip


def _with_chance(found: Design) -> Design:
    """The same, tried out; where keys are random with the probability that was sampled: a lower bound is proven."""
    if found.word == "designed":
        try_out(found.question, found.queries, found.norm, found.norm_lower_bound)
    if found.word != "designed" or not found.question.random:
        return found
    return replace(found, probability=chance(found.question, found.queries))


def _without(question: Question, checker: Checker, found: Answer) -> Design:
    """No query was verified: is there a proof that there is none, or none of any use?"""
    if question.wider:
        return Design(question, "undecided", LISTED)
    proof = prove_impossible(question, checker, found.attempt.problem, found.attempt.solution)
    if proof is not None:
        best = best_eps(question, checker, found.attempt)
        return Design(question, "impossible", proof.words, proof.certificate, norm_lower_bound=math.inf, best_eps=best)
    longer = prove_longer(question, checker, found.attempt)
    seems = SEEMS[found.attempt.solution.status]
    why = f"neither a query nor a proof that there is none was found (in floating point {seems})"
    if longer is None:
        return Design(question, "undecided", why)
    if longer.useless:
        return Design(question, "longer", longer.words, longer.certificate, norm_lower_bound=longer.least)
    return Design(
        question, "undecided", f"{why}. What is proven: {longer.words}", longer.certificate,
        norm_lower_bound=longer.least,
    )  # fmt: skip


def _norm(query: Float[np.ndarray, " d"]) -> float:
    """The length of a query, rounded up."""
    return float_above(sqrt_above(sum((Fraction(x) ** 2 for x in query.tolist()), Fraction(0))))


def _probability(found: Design) -> dict[str, Any] | None:
    chance = found.probability
    if chance is None:
        return None
    return {
        "proven_at_least": float(found.question.confidence),
        "probability": chance.probability,
        "interval": list(chance.interval),
        "samples": chance.samples,
        "conservative": chance.conservative,
        "exact_enclosure": [chance.exact.lower, chance.exact.upper] if chance.exact else None,
        "drawn_evenly": chance.evenly,
    }
