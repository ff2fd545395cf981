"""The statement of a certificate about keys, against what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from headwright.certificates.exact.certificate import CERTAIN, KeyStatement, Spread
from headwright.certificates.exact.values import read_fraction
from headwright.certificates.exact.words import six_digits
from headwright.query_design.statement import (
    digest_of_keys,
    rounded_deviations,
    uncertainty_entries,
)
from headwright.verification.comparison import (
    Expected,
    StatementComparison,
    is_short,
    number_for_people,
)

if TYPE_CHECKING:
    from headwright.uncertainty import Uncertainty

NEARBY = 1e-12  # covariances are rounded when they are written as E E^T: relative to their largest entry
MOST_SHOWN = 3  # keys whose differences are told one by one
COVARIANCE_BITS = 256  # of the enclosures in which covariances are compared


def compare_keys(statement: KeyStatement, asked: Expected) -> StatementComparison:
    """All that was asked, part by part."""
    comparison = StatementComparison()
    if asked.scale is not None and asked.scale != statement.scale:
        comparison.differences.append(
            f"its scores have the scale {number_for_people(statement.scale)}, "
            f"and {number_for_people(asked.scale)} was asked for"
        )
    if asked.uncertainty is not None:
        _compare_scenarios(statement, asked.uncertainty, comparison)
        _compare_scales(statement, asked.uncertainty, comparison)
        _compare_spreads(statement, asked.uncertainty, comparison)
    if asked.targets is not None:
        _compare_targets(statement, asked.targets.least, comparison)
    if asked.confidence is not None:
        _compare_confidence(statement, asked.confidence, comparison)
    has_bound = statement.claim == "designed" and statement.none_shorter > 0
    if comparison.notes and has_bound:
        comparison.notes.append(
            "that no shorter query does it is said of the statement's question, not of the one asked"
        )
    comparison.unasked += _unasked(statement, asked)
    return comparison


def _unasked(statement: KeyStatement, asked: Expected) -> Iterator[str]:
    """What the statement speaks of and the question does not, though the answer may depend on it."""
    if asked.targets is None:
        yield "its targets"
    if asked.uncertainty is None and (statement.uncertainty or len(statement.keys) > 1):
        yield "what its keys may be (--uncertainty)"
    if asked.confidence is None and statement.confidence != 1:
        yield f"its probability, {number_for_people(statement.confidence)} (--confidence)"
    if asked.scale is None and statement.scale != 1:
        yield f"the scale of its scores, {number_for_people(statement.scale)} (--scale)"
    if statement.heads > 1:
        yield f"that it is about {statement.heads} heads together"


def _compare_targets(
    statement: KeyStatement,
    asked: Mapping[int, Fraction],
    comparison: StatementComparison,
) -> None:
    """More is a higher weight, or a further target; where nothing meets the targets, a lower one, or a target fewer."""
    for key in sorted({*statement.targets, *asked}):
        stated_weight = statement.targets.get(key)
        asked_weight = asked.get(key)
        if stated_weight == asked_weight:
            continue
        is_higher = (stated_weight or 0) > (asked_weight or 0)
        comparison.add(
            f"it gives key {key} {_least(stated_weight)}, and {_least(asked_weight)} was asked for",
            says_more=is_higher == (statement.claim == "designed"),
        )


def _least(p: Fraction | None) -> str:
    if p is None:
        return "nothing"
    return f"at least {p}" if is_short(p) else f"at least {six_digits(p)}"


def _compare_confidence(
    statement: KeyStatement, asked: Fraction, comparison: StatementComparison
) -> None:
    if statement.confidence == 1:
        comparison.notes.append("in it nothing is random: what it says is certain")
        return
    if statement.confidence == asked:
        return
    is_higher = statement.confidence > asked
    comparison.add(
        f"it has the confidence {number_for_people(statement.confidence)}, "
        f"and {number_for_people(asked)} was asked for",
        says_more=is_higher == (statement.claim == "designed"),
    )


def _compare_scenarios(
    statement: KeyStatement, uncertainty: Uncertainty, comparison: StatementComparison
) -> None:
    """Where the uncertainty is a list of key matrices, the statement must be about the same."""
    asked_digests = [digest_of_keys(scenario) for scenario in uncertainty.scenarios]
    stated_digests = [name.digest for name in statement.keys]
    if not asked_digests and len(stated_digests) == 1:
        return
    if Counter(asked_digests) == Counter(stated_digests):
        return
    sentence = (
        f"it is about {_scenarios_in_words(len(stated_digests))}, "
        f"and the uncertainty about {_scenarios_in_words(max(1, len(asked_digests)))}"
    )
    if len(asked_digests) == len(stated_digests):
        sentence += ", which differ"
    comparison.differences.append(sentence)


def _scenarios_in_words(matrices: int) -> str:
    return "one matrix of keys" if matrices == 1 else f"{matrices} scenarios"


def _compare_scales(
    statement: KeyStatement, uncertainty: Uncertainty, comparison: StatementComparison
) -> None:
    """A list of scales is less than the range that a statement is about: too little for a bound."""
    one_realization = statement.heads > 1 or statement.has_random_keys()
    if not uncertainty.lists_scales or not one_realization:
        return
    has_bound = statement.claim != "designed" or statement.none_shorter > 0
    comparison.add(
        "it is about every scale in a range, and the uncertainty lists a few, which is less",
        says_more=not has_bound,
    )


def _compare_spreads(
    statement: KeyStatement, uncertainty: Uncertainty, comparison: StatementComparison
) -> None:
    """What each key may be, key by key; the first few that differ are told."""
    if rounded_deviations(uncertainty):
        comparison.notes.append(
            "a standard deviation of the uncertainty is no ratio of whole numbers, and is the next float above"
        )
    n = statement.keys[0].n
    entries = uncertainty_entries(uncertainty, n, statement.keys[0].d)
    stated, stated_of_others = _spread_of_each_key(statement.uncertainty)
    asked, asked_of_others = _spread_of_each_key(map(_spread_of_entry, entries))

    named = sorted({*stated, *asked})
    pairs = []
    for key in named:
        stated_spread = stated.get(key, stated_of_others)
        pairs.append((f"key {key}", stated_spread, asked.get(key, asked_of_others)))
    if len(named) < n:
        others = "every other key" if named else "every key"
        pairs.append((others, stated_of_others, asked_of_others))

    different = 0
    for who, stated_spread, asked_spread in pairs:
        if _is_same_spread(who, stated_spread, asked_spread, comparison):
            continue
        different += 1
        if different <= MOST_SHOWN:
            sentence = _difference_of_spreads(who, stated_spread, asked_spread)
            comparison.differences.append(sentence)
    if different > MOST_SHOWN:
        comparison.differences.append(
            f"and its uncertainty differs for {different - MOST_SHOWN} keys more"
        )


def _difference_of_spreads(who: str, stated: Spread, asked: Spread) -> str:
    stated_words = _spread_in_words(stated)
    asked_words = _spread_in_words(asked)
    sentence = f"for {who} its uncertainty says: {stated_words}, and the one asked for: {asked_words}"
    if stated_words == asked_words:
        sentence += " (with other numbers)"
    return sentence


def _spread_in_words(spread: Spread) -> str:
    """What one key may be."""
    clauses = []
    low = number_for_people(spread.low)
    if spread.low < spread.high:
        clauses.append(f"scale {low} to {number_for_people(spread.high)}")
    elif spread.low != 1:
        clauses.append(f"scale {low}")
    if spread.ball:
        size = "standard deviation" if spread.random else "radius"
        clauses.append(f"{size} {number_for_people(spread.ball)} around its place")
    if spread.stretch:
        stretch = number_for_people(spread.stretch)
        clauses.append(f"standard deviation {stretch} of its scale")
    if spread.factor:
        clauses.append(f"a factor of {len(spread.factor)} columns")
    return ", ".join(clauses) or "certain"


def _is_same_spread(
    who: str, stated: Spread, asked: Spread, comparison: StatementComparison
) -> bool:
    """The same numbers; or covariances that differ by rounding alone, which is noted."""
    if stated == asked:
        return True
    without_numbers = replace(stated, factor=()) == replace(asked, factor=())
    same_columns = len(stated.factor) == len(asked.factor)
    if not (without_numbers and same_columns and stated.random):
        return False
    apart, largest = _covariances_apart(stated, asked)
    if not apart <= NEARBY * largest:
        return False
    from headwright.numerics.enclosure import shown_above

    comparison.notes.append(
        f"the covariance of {who} is within {shown_above(apart, 2)} of the one asked for, by rounding"
    )
    return True


def _covariances_apart(stated: Spread, asked: Spread) -> tuple[float, float]:
    """How far two covariances E E^T are apart at most, and the largest entry of the second at least."""
    from flint import arb, arb_mat, ctx, fmpq

    from headwright.numerics.enclosure import Enclosure

    def covariance(spread: Spread) -> arb_mat:
        columns = []
        for column in spread.factor:
            columns.append([arb(fmpq(x.numerator, x.denominator)) for x in column])
        E_transposed = arb_mat(columns)
        return E_transposed.transpose() * E_transposed

    with ctx.workprec(COVARIANCE_BITS):
        stated_covariance = covariance(stated)
        asked_covariance = covariance(asked)
        gaps = (stated_covariance - asked_covariance).entries()
        apart = max(Enclosure.of(abs(gap)).upper for gap in gaps)
        sizes = asked_covariance.entries()
        largest = max(Enclosure.of(abs(size)).lower for size in sizes)
    return apart, largest


def _spread_of_each_key(
    uncertainty: Iterable[Spread],
) -> tuple[dict[int, Spread], Spread]:
    """What each named key may be, and what the others may be."""
    named: dict[int, Spread] = {}
    others = CERTAIN
    for spread in uncertainty:
        nameless = replace(spread, keys=frozenset())
        if spread.keys is None:
            others = nameless
        else:
            named.update(dict.fromkeys(spread.keys, nameless))
    return named, others


def _spread_of_entry(entry: dict[str, Any]) -> Spread:
    """An entry of an uncertainty as it is written in statements, as the checker reads it."""
    low, high = map(read_fraction, entry["scale"])
    keys = None if entry["keys"] == "*" else frozenset(entry["keys"])
    return Spread(
        keys=keys,
        low=low,
        high=high,
        ball=read_fraction(entry["ball"]),
        stretch=read_fraction(entry["stretch"]),
        factor=tuple(tuple(map(read_fraction, column)) for column in entry["factor"]),
        random=entry["random"],
    )
