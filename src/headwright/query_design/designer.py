"""Design a query for a target: solve, certify, and let the checkers decide. What they do not verify is undecided."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.certificates.exact.numbers import sqrt_above
from headwright.errors import InputError
from headwright.extras import require
from headwright.files import finite
from headwright.numerics.enclosure import (
    TOLERANCE,
    Enclosure,
    assert_within,
    float_above,
)
from headwright.query_design.certify import Checker, ways_to_fail
from headwright.query_design.proving.impossible import prove_impossible
from headwright.query_design.proving.several_heads import prove_impossible_for_heads
from headwright.query_design.rendering import (
    design_as_json,
    design_card,
    design_lines,
    design_picture,
)
from headwright.query_design.result import DesignResult, EstimatedProbability
from headwright.query_design.several_heads import (
    Share,
    divide_targets,
    prove_longer_for_heads,
)
from headwright.query_design.single_query import (
    SOLVED,
    SOLVED_FAST,
    Longer,
    Phases,
    QueryResult,
    best_eps,
    prove_longer,
    shortest_query,
)
from headwright.query_design.statement import DesignQuestion
from headwright.query_design.targets import Number, Targets, exact
from headwright.simulation.intervals import check_probability
from headwright.simulation.sampling import sample_weights
from headwright.simulation.targets_met import targets_met
from headwright.uncertainty.uncertainty import Uncertainty

if TYPE_CHECKING:
    from headwright.pictures import Chart

LOG = logging.getLogger(__name__)
# Of the keys' largest number, or 1 over it; under uncertainty squares are taken.
LARGEST = 1e300
LARGEST_IN_UNCERTAINTIES = 1e100
FARTHEST = 1e50  # times that: what keys may be off their places; and the largest scale
SAMPLES = 100_000  # draws; fewer if they would take ...
NUMBERS = 2 * 10**8  # ... more scores than this in all
DRAWS = 8  # of an uncertainty that is not fixed; and four for each scenario
FIXED = Uncertainty()
MOST_HEADS = 64
# By several targets to the other keys: below, floats cannot tell queries apart.
LEAST_LEFT = Fraction(1, 10**9)
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


def _check_sizes(
    keys: Sequence[Float[np.ndarray, "n d"]], uncertainty: Uncertainty
) -> None:
    """Refuse keys of the size of the largest and smallest floats, and uncertainty that dwarfs the keys."""
    size = max(float(np.abs(matrix).max()) for matrix in keys)
    most = (
        LARGEST
        if uncertainty.fixed or uncertainty.scenarios
        else LARGEST_IN_UNCERTAINTIES
    )
    if size > most:
        raise InputError(
            f"the keys hold a number of size {size:g}: expected at most {most:g}; divide all of them "
            "by a common number"
        )
    if 0 < size < 1 / most:
        raise InputError(
            f"the largest number of the keys is {size:g}: expected at least {1 / most:g}, or 0; multiply "
            "all of them by a common number"
        )
    for noise in uncertainty.noises:
        if noise.scale is not None:
            largest = max(*map(abs, noise.scale.ends), math.sqrt(noise.scale.variance))
            if largest > FARTHEST:
                raise InputError(
                    f"the uncertainty has a scale of {largest:g}: expected at most {FARTHEST:g}"
                )
        if noise.spread is not None and (far := noise.spread.reach) > FARTHEST * (
            size or 1.0
        ):
            raise InputError(
                f"the uncertainty has keys {far:g} off their places, which are of size {size:g}: expected at "
                f"most {FARTHEST:g} times as much"
            )


def chance(
    question: DesignQuestion, queries: Float[np.ndarray, "heads d"], seed: int = 0
) -> EstimatedProbability:
    """Draw the keys many times and count how often the mean of the patterns meets the targets."""
    keys = question.keys[0]
    uncertainty = question.uncertainty
    samples = max(100, min(SAMPLES, NUMBERS // (len(keys) * len(queries))))
    met = targets_met(
        keys,
        queries,
        uncertainty,
        question.targets.least,
        samples=samples,
        scale=question.scale,
        seed=seed,
    )
    # However what is not random is drawn, the targets are met as often as was proved.
    check_probability(
        met.counts.nearly,
        0,
        samples,
        Enclosure(float(question.confidence), 1.0),
        "how often it is met",
    )
    evenly = bool(uncertainty.sampled_sets) or uncertainty.lists_scales
    return EstimatedProbability(
        met.probability,
        met.interval,
        samples,
        conservative=min(ways_to_fail(question, kind) for kind in ("keys", "pairs"))
        > 1,
        exact=None if evenly else met.exact,
        evenly=evenly,
    )


def _check_floats(
    question: DesignQuestion,
    queries: Float[np.ndarray, "heads d"],
    norm: float,
    lower_bound: float,
) -> None:
    """Raise a ContradictionError unless verified queries do in floating point what was proved.

    The longest is not shorter than the bound, and every target gets its least weight in every draw. What
    is drawn where keys are random is held against the proof in `chance`.
    """
    assert_within(
        norm, "the longest query", least=lower_bound, tolerance=TOLERANCE * norm
    )
    if question.random:
        return
    ends = [abs(float(end)) for entry in question.entries for end in entry.ends]
    with np.errstate(over="ignore", invalid="ignore"):
        longest = max(
            float(np.linalg.norm(keys, axis=1).max()) for keys in question.keys
        ) * max([1.0, *ends])
        room = (
            TOLERANCE
            + 8 * question.d * 2.0**-53 * abs(float(question.scale)) * norm * longest
        )
    # Scores are so large that floating point says nothing of the pattern.
    if not room < 1:
        return
    least = question.targets.least
    scale = float(question.scale)
    draws = 1 if question.uncertainty.fixed else max(DRAWS, 4 * len(question.keys))
    for block in sample_weights(
        question.keys[0], queries, question.uncertainty, list(least), draws, scale=scale
    ):
        for target, weight in zip(least, block.min(axis=0).tolist(), strict=True):
            assert_within(
                weight,
                f"the weight of key {target}",
                least=float(least[target]),
                tolerance=room,
            )


class Design(DesignResult):
    """What `design` found. All numbers are proven by the certificate, but for those that say otherwise.

    >>> from headwright.query_design import copy
    >>> found = design(np.eye(3), copy(0))
    >>> found.word, found.certificate is not None
    ('designed', True)
    """

    def to_json(self, certificate: str | None = None) -> dict[str, Any]:
        """All of it in JSON's own types; `certificate` is where the certificate is, or the certificate itself."""
        return design_as_json(self, certificate)

    def picture(self) -> Chart:
        """The design as a chart: keys and queries in the plane where there are two dimensions, else the pattern."""
        return design_picture(self)

    def __repr__(self) -> str:
        """The verdict and its numbers in a few lines, never the keys."""
        return design_lines(self)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card, with the picture."""
        return design_card(self)


def design(
    keys: Float[np.ndarray, "n d"],
    targets: Targets,
    *,
    uncertainty: Uncertainty = FIXED,
    scale: Number = 1,
    heads: int = 1,
    confidence: Number | None = None,
    checker: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Design:
    """The shortest query that meets targets in every admissible realization, or a proof that none does.

    With several heads the targets are shared out among them, so that the mean of the patterns meets the targets and
    the longest query is as short as was found; the proven bound then holds for any way of sharing. Where keys are
    random the targets are met with the probability `confidence`, 19/20 unless given. `checker` says who must accept
    the certificate: 'both', 'exact', 'float' or 'proved'; None means both up to 10^6 key entries, and above that the
    exact one. Progress is told a number that grows from 0 to 1.

    >>> from headwright.query_design import average
    >>> found = design(np.eye(4), average([0, 1]))
    >>> found.word, found.gap < 1e-9
    ('designed', True)
    >>> print(found.words)
    For these 4 keys in R^4 (sha256 ...), the query ... gives each of keys 0, 1 a weight of at least 0.497512 ...
    """
    require("design", "design")
    check_argument("checker", checker, str | None)
    question = _question(keys, targets, uncertainty, scale, confidence, heads)
    checks = Checker(question, checker)
    phases = Phases(progress, SOLVED if "exact" in checks.names else SOLVED_FAST)
    # Floats that overflow on the way prove nothing, and neither do the others: the checker decides.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        result = (
            _several(question, checks, phases)
            if heads > 1
            else _one(question, checks, phases)
        )
    phases.done()
    if result.certificate is not None:
        result = replace(result, checkers=checks.names)
    elif checks.unconfirmed:
        result = replace(
            result, words=f"{result.words}. Not confirmed: {checks.unconfirmed[0]}"
        )
    LOG.info("%s, for %d keys", result.word, len(question.keys[0]))
    return _with_probability(result)


def _question(
    keys: Float[np.ndarray, "n d"],
    targets: Targets,
    uncertainty: Uncertainty = FIXED,
    scale: Number = 1,
    confidence: Number | None = None,
    heads: int = 1,
) -> DesignQuestion:
    """The question, checked. The confidence is 19/20 unless given, which it may be only where a key is random."""
    keys = finite(keys, "keys", axes=2)
    if not isinstance(uncertainty, Uncertainty):
        raise InputError(
            f"the uncertainty is {uncertainty!r}: expected one such as read_uncertainty(path) gives"
        )
    uncertainty.check_fits(keys)
    if not isinstance(targets, Targets):
        raise InputError(
            f"the targets are {targets!r}: expected one such as copy(3), average([0, 1]) or at_least({{0: 0.9}})"
        )
    targets.check_fits(len(keys))
    left = 1 - sum(targets.least.values())
    if len(targets.least) > 1 and 0 < left < LEAST_LEFT:
        raise InputError(
            f"the targets leave {float(left):g} to the other keys: expected {float(LEAST_LEFT):g} or more"
            ", by a larger eps"
        )
    factor = exact(scale, "scale")
    sure = SURE if confidence is None else exact(confidence, "confidence")
    if factor == 0:
        raise InputError("scale is 0: expected another number", field="scale")
    if not 0 < sure < 1:
        raise InputError(
            f"confidence is {float(sure):g}: expected a number between 0 and 1",
            field="confidence",
        )
    if sure < Fraction(1, 2):
        raise InputError(
            f"confidence is {float(sure):g}: expected at least 1/2, below which the problem is not convex",
            field="confidence",
        )
    check_argument("heads", heads, int)
    if not 1 <= heads <= MOST_HEADS:
        raise InputError(
            f"{heads} heads: expected from 1 to {MOST_HEADS}", field="heads"
        )
    _check_sizes(uncertainty.scenarios or (keys,), uncertainty)
    question = DesignQuestion(
        uncertainty.scenarios or (keys,), targets, uncertainty, factor, sure, heads
    )
    if confidence is not None and not question.random:
        raise InputError(
            f"confidence is {float(sure):g}, and every key is certain: leave it out, or give an uncertainty in "
            "which a key is random",
            field="confidence",
        )
    return question


def _one(question: DesignQuestion, checker: Checker, phases: Phases) -> Design:
    searched = shortest_query(question, checker, phases)
    if searched.certificate is None:
        return _without_query(question, checker, searched)
    query = searched.attempt.solution.query
    share = Share(0, tuple(question.targets.indices))
    return Design(
        question,
        "designed",
        searched.words,
        searched.certificate,
        query[None],
        _norm(query),
        searched.lower_bound,
        (share,),
    )


def _several(question: DesignQuestion, checker: Checker, phases: Phases) -> Design:
    shared = divide_targets(question, checker, phases)
    if shared is None:
        proof = (
            None if question.wider else prove_impossible_for_heads(question, checker)
        )
        if proof is not None:
            return Design(
                question,
                "impossible",
                proof.words,
                proof.certificate,
                norm_lower_bound=math.inf,
            )
        if question.wider:
            return Design(question, "undecided", LISTED)
        longer = prove_longer_for_heads(question, checker)
        return _at_least_longer(
            question,
            longer,
            "no way of sharing the targets out among the heads was found",
        )
    return Design(
        question,
        "designed",
        shared.words,
        shared.certificate,
        shared.queries,
        max(_norm(query) for query in shared.queries),
        shared.lower_bound,
        shared.shares,
    )


def _with_probability(result: Design) -> Design:
    """The same, tried out; where keys are random with the probability that was sampled: a lower bound is proven."""
    if result.word == "designed":
        _check_floats(
            result.question, result.queries, result.norm, result.norm_lower_bound
        )
    if result.word != "designed" or not result.question.random:
        return result
    return replace(result, probability=chance(result.question, result.queries))


def _without_query(
    question: DesignQuestion, checker: Checker, searched: QueryResult
) -> Design:
    """No query was verified: is there a proof that there is none, or none of any use?"""
    if question.wider:
        return Design(question, "undecided", LISTED)
    proof = prove_impossible(
        question, checker, searched.attempt.problem, searched.attempt.solution
    )
    if proof is not None:
        best = best_eps(question, checker, searched.attempt)
        return Design(
            question,
            "impossible",
            proof.words,
            proof.certificate,
            norm_lower_bound=math.inf,
            best_eps=best,
        )
    longer = prove_longer(question, checker, searched.attempt)
    seems = SEEMS[searched.attempt.solution.status]
    why = f"neither a query nor a proof that there is none was found (in floating point {seems})"
    return _at_least_longer(question, longer, why)


def _at_least_longer(
    question: DesignQuestion, longer: Longer | None, why: str
) -> Design:
    """Nothing was designed: with a bound on the length of any query, if one was verified; `longer` if it is useless."""
    if longer is None:
        return Design(question, "undecided", why)
    if longer.useless:
        return Design(
            question,
            "longer",
            longer.words,
            longer.certificate,
            norm_lower_bound=longer.least,
        )
    return Design(
        question,
        "undecided",
        f"{why}. What is proven: {longer.words}",
        longer.certificate,
        norm_lower_bound=longer.least,
    )


def _norm(query: Float[np.ndarray, " d"]) -> float:
    """The length of a query, rounded up."""
    return float_above(
        sqrt_above(sum((Fraction(x) ** 2 for x in query.tolist()), Fraction(0)))
    )
