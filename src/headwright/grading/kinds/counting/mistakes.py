"""Which mistake a wrong count is: a sum over the same pieces with something forgotten or counted twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations

from headwright.grading.kinds.counting.counts import OPERATIONS, Counts
from headwright.grading.scalars import Scalar

LARGEST_FACTOR = 1024  # that is told
MOST_LEFT_OUT = 3  # pieces that are forgotten together


def name_mistake(
    wrong: Scalar,
    counts: Counts,
    declared: Mapping[str, Scalar],
    *,
    operations: bool,
    one_term: bool = False,
    within: Fraction | None = None,
) -> str:
    """The mistake in words; '' where none of those that are tried gives this number."""
    for words, value in declared.items():
        if is_same(wrong, value, within):
            return words
    if one_term:
        return _other_term(wrong, counts)
    for left_out in range(1, min(MOST_LEFT_OUT, len(counts.pieces) - 1) + 1):
        for factor, words in factors_forgotten(operations=operations):
            if (
                left_out == 1
                and factor != 1
                and is_same(wrong * factor, counts.total, within)
            ):
                return f"this {words}"
            named = _left_out(wrong * factor, counts, left_out, within)
            if named:
                more = f", and {words}" if words else ""
                return f"this leaves out {named}{more}"
    for name, piece in counts.pieces.items():
        if is_same(wrong, counts.total + piece, within):
            return f"this counts {counts.titles[name]} twice"
    return _factor(wrong, counts.total)


def factors_forgotten(*, operations: bool) -> Iterator[tuple[int, str]]:
    """Factors that a whole count may lack, and what that is called."""
    yield 1, ""
    if operations:
        yield OPERATIONS, "forgets the factor 2 of a multiply-add"


def _other_term(wrong: Scalar, counts: Counts) -> str:
    for name, piece in counts.pieces.items():
        if wrong == piece:
            return f"this is what {counts.titles[name]} take, which is outgrown"
    return ""


def is_same(wrong: Scalar, value: Scalar, within: Fraction | None) -> bool:
    """Whether a mistake gives this count; numbers that are written out may be rounded."""
    if within is None or wrong.rational is None or value.rational is None:
        return wrong == value
    return abs(wrong.rational - value.rational) <= within * abs(value.rational)


def _left_out(
    wrong: Scalar, counts: Counts, number: int, within: Fraction | None
) -> str:
    """The pieces without which the sum is this; 'a, or b' where they count the same."""
    alternatives = []
    for chosen in combinations(counts.pieces, number):
        value = counts.total
        for name in chosen:
            value = value - counts.pieces[name]
        if is_same(wrong, value, within):
            alternatives.append(listed([counts.titles[name] for name in chosen]))
    return ", or ".join(alternatives[:2])


def listed(words: list[str]) -> str:
    """'a, b and c'."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _factor(wrong: Scalar, total: Scalar) -> str:
    """By which factor it is wrong, where that is a number or a single parameter."""
    if wrong == 0:
        return ""
    ratio = total / wrong
    if ratio.rational is not None:
        times = ratio.rational
        if max(times.numerator, times.denominator) > LARGEST_FACTOR:
            return ""
        if times > 1:
            return f"the true count is {times} times this"
        return f"this is {1 / times} times the true count"
    if ratio.whole and len(ratio.over) == 1 and len(str(ratio)) <= 12:
        return f"the true count is {ratio} times this"
    return ""
