"""Check a certificate: it is accepted only if the statement is certainly true; any doubt or exception rejects it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from jaxtyping import Float

from headwright.certificates.exact.certificate import (
    Certificate,
    KeyStatement,
    about_heads,
    choose_keys,
    read_certificate,
    read_document,
)
from headwright.certificates.exact.cost import BUDGET, check_cost, keys_cost
from headwright.certificates.exact.keys import Excluded, KeyMatrix, Malformed, Reject
from headwright.certificates.exact.values import Vector
from headwright.certificates.exact.words import in_words
from headwright.certificates.floating.bound import check_bound
from headwright.certificates.floating.distractors import KeyPlaces, key_sums
from headwright.certificates.floating.exact_numbers import (
    ball,
    doubles,
    precision,
)
from headwright.certificates.floating.key_products import inner_products, sharp_products
from headwright.certificates.floating.parts import PartOfBound, PartSums
from headwright.certificates.floating.score_bounds import NOTHING, KeySpreads, ScoreView
from headwright.certificates.floating.targets_met import check_guard, check_targets_met
from headwright.numerics.balls import ImprecisionError

LONGEST_REASON = 300  # characters, of an error of the checker's own
MORE_BITS = 768  # for the second look
FEW = 2**10  # keys that are all looked at in Arb then
Matrix = Float[np.ndarray, "n d"]


def excluded(statement: KeyStatement, views: list[ScoreView]) -> bool:
    """The heads certainly give some target less than its weight in this scenario; a view for each head, none random."""
    weights_of_heads = [_weights_above(view) for view in views]
    for target, least in statement.targets.items():
        together = sum((weights[target] for weights in weights_of_heads), arb(0))
        if together < statement.heads * ball(least):
            return True
    return False


def _weights_above(view: ScoreView) -> dict[int, arb]:
    """For each target, not below its weight where keys stand at the scales nearest to 1."""
    statement = view.statement
    places = KeyPlaces(view, {}, {}, one_place=True)
    no_lifts = [NOTHING] * len(statement.uncertainty)
    others = key_sums(places, no_lifts, set(statement.targets), None)
    powers: dict[int, arb] = {}
    for target in statement.targets:
        x = view.score(target)
        moved = x + ball(places.of_rival(target) - 1) * (x + view.reference)
        powers[target] = (moved - others.top).exp()
    everything = others.mass + sum(powers.values(), arb(0))
    return {target: power / everything for target, power in powers.items()}


@dataclass(frozen=True)
class FloatVerdict:
    """'verified', 'rejected' or 'unreadable'; in words what was proved or why not; and whether the claim is false.

    >>> FloatVerdict("rejected", "it is not certain").excluded
    False
    """

    word: str
    words: str
    excluded: bool = False  # certainly false, and not only unproved
    stopped: bool = False  # rejected because the checker failed: an error of its own


def verify(
    text: str, files: Sequence[bytes] = (), budget: float = BUDGET
) -> FloatVerdict:
    """The verdict on a certificate about keys; each of the files, .npy contents of float64, must be keys it names.

    What would take the exact checker longer than the budget, in estimated seconds, is rejected.

    >>> verify("{}").word
    'unreadable'
    """
    try:
        proved = _prove(text, files, budget)
    except Exception as error:  # noqa: BLE001  (a doubt of any kind rejects)
        return _refusal(error)
    return FloatVerdict("verified", proved)


def _prove(text: str, files: Sequence[bytes], budget: float) -> str:
    """What is proved, in words; any exception is a refusal."""
    statement, evidence = read_document(text)
    if about_heads(statement):
        raise Reject(
            "it is about whole heads, which the floating-point checker does not cover"
        )
    certificate = read_certificate(statement, evidence)
    keys = choose_keys(certificate.statement.keys, files)
    check_cost(keys_cost(certificate), budget)
    _check(certificate, _matrices(keys))
    return in_words(certificate.statement)


def _refusal(error: Exception) -> FloatVerdict:
    """Any doubt and any accident is a refusal; only an unknown exception is a failure of our own."""
    if isinstance(error, Malformed):
        return FloatVerdict("unreadable", str(error))
    if isinstance(error, ImprecisionError | Reject):
        is_false = isinstance(error, Excluded)
        return FloatVerdict("rejected", str(error), excluded=is_false)
    if isinstance(error, MemoryError):
        return FloatVerdict("rejected", "there is not enough memory to check it")
    if isinstance(error, ArithmeticError):
        return FloatVerdict(
            "rejected",
            "a number in it, or one that follows from it, is too large or too small to be checked in floats",
        )
    accident = f"{type(error).__name__} {error}"
    reason = f"the checker stopped: {accident}"
    return FloatVerdict("rejected", reason[:LONGEST_REASON], stopped=True)


def _matrices(keys: Sequence[KeyMatrix]) -> list[Matrix]:
    """The keys of each scenario, as NumPy has them: the same numbers."""
    return [
        np.asarray(scenario.numbers, np.float64).reshape(scenario.n, scenario.d)
        for scenario in keys
    ]


def _check(certificate: Certificate, scenarios: list[Matrix]) -> None:
    """Refuse unless the statement is certainly true: a look in floats, and if that leaves a doubt a sharper one."""
    bits = precision(certificate.statement)
    try:
        try:
            with ctx.workprec(bits):
                _look(certificate, scenarios, sharp=False)
        except ImprecisionError:
            with ctx.workprec(bits + MORE_BITS):
                _look(certificate, scenarios, sharp=True)
    except (ImprecisionError, Reject) as refused:
        with ctx.workprec(bits):
            if _is_excluded(certificate.statement, scenarios):
                raise Excluded(str(refused)) from refused
        raise


def _is_excluded(statement: KeyStatement, scenarios: list[Matrix]) -> bool:
    """The queries certainly do not meet the targets, in some scenario."""
    uncertainty = KeySpreads.of(statement)
    if uncertainty.chance or not statement.queries:
        return False
    try:
        for keys in scenarios:
            views = _views(statement, uncertainty, keys, statement.queries, sharp=True)
            if excluded(statement, views):
                return True
    except ImprecisionError:  # scores are beyond the range of doubles
        return False
    return False


def _look(certificate: Certificate, scenarios: list[Matrix], *, sharp: bool) -> None:
    """Refuse unless the statement is certainly true; scenario by scenario, with one pass for all scores."""
    statement = certificate.statement
    uncertainty = KeySpreads.of(statement)
    check_guard(statement, uncertainty, certificate.guard)
    parts = []
    if certificate.bound is not None:
        for evidence in certificate.bound.parts:
            parts.append(
                PartOfBound(statement, uncertainty, certificate.bound, evidence)
            )
    sums_of_parts: dict[int, PartSums] = {}
    for number, keys in enumerate(scenarios):
        parts_here = {}
        queries = list(statement.queries)
        for i, part in enumerate(parts):
            if number in part.scenarios:
                parts_here[i] = part
                queries += part.queries
        views = _views(statement, uncertainty, keys, queries, sharp=sharp)
        view_of_query = dict(zip(queries, views, strict=True))
        if statement.queries:
            views_of_heads = [view_of_query[query] for query in statement.queries]
            check_targets_met(statement, views_of_heads, certificate.guard, number)
        for i, part in parts_here.items():
            sums = part.sums(number, *(view_of_query[q] for q in part.queries))
            sums_of_parts[i] = (
                sums_of_parts[i].plus(sums) if i in sums_of_parts else sums
            )
    if parts:
        in_order = [sums_of_parts[i] for i in range(len(parts))]
        check_bound(statement, parts, in_order)


def _views(
    statement: KeyStatement,
    uncertainty: KeySpreads,
    keys: Matrix,
    queries: Sequence[Vector],
    *,
    sharp: bool,
) -> list[ScoreView]:
    """The keys through each of some queries; the same query is looked through once."""
    centre = next(iter(statement.targets))
    different = {query: doubles(query) for query in queries}
    numbers = list(different.values())
    centred, products = inner_products(keys, centre, [] if sharp else numbers)
    if sharp:
        products = [sharp_products(keys, centre, query) for query in numbers]
    closely = sharp and len(keys) <= FEW
    view_of_query = {}
    for (query, as_doubles), product in zip(different.items(), products, strict=True):
        view_of_query[query] = ScoreView(
            statement, uncertainty, centred, product, as_doubles, closely
        )
    return [view_of_query[query] for query in queries]
