"""Verdicts in words: the only place where sentences about them are made."""

from __future__ import annotations

import math

from headwright.conformance.bound import Vacuity
from headwright.conformance.judging import Element
from headwright.conformance.verdict import (
    ConformanceVerdict,
    GradientVerdict,
    VerdictWord,
)


def summarise(verdict: ConformanceVerdict) -> str:
    """A verdict in two lines: the word with its number, and the reasons."""
    first = f"{verdict.word}: "
    if verdict.gradients:
        first += f"the output is {verdict.output_word}, "
    if verdict.unjudged_elements == verdict.elements:
        first += "nothing is judged"
    else:
        first += f"{ratio_in_words(verdict.ratio)} of the bound"
    first += f" ({verdict.contract}, {verdict.number_type}"
    if len(verdict.rows) < verdict.total_rows:
        first += f", {len(verdict.rows)} of {verdict.total_rows} rows"
    lines = [f"{first})", verdict.explanation]
    lines.extend(str(gradient) for gradient in verdict.gradients)
    return "\n".join(lines)


def summarise_gradient(gradient: GradientVerdict) -> str:
    """A gradient in one line."""
    line = f"{gradient.name}: {gradient.word}, {ratio_in_words(gradient.ratio)} of the "
    line += f"bound ({gradient.contract})"
    if gradient.word is VerdictWord.OUTSIDE:
        worst = gradient.worst
        line += f": at batch {worst.batch}, head {worst.head}, token {worst.row}, "
        line += f"column {worst.column} {worst.value:.6g} instead of {worst.exact:.6g}"
    if gradient.unjudged:
        elements = _count(gradient.unjudged, "element", "elements")
        line += f"; nothing is proved about {elements}, where numbers may overflow"
    if gradient.insensitive:
        share = _percent(gradient.insensitive / gradient.elements)
        line += f"; {share} are so small that zero would be within"
    return line


def explain(verdict: ConformanceVerdict) -> str:
    """Why the word is what it is, and which mistake would explain the output."""
    sentences = []
    if verdict.output_word is VerdictWord.WITHIN:
        sentences.append(_within(verdict))
    elif verdict.output_word is VerdictWord.OUTSIDE:
        sentences.append(f"{_place(verdict.worst)}.")
    else:
        sentences.append(_undecided(verdict))
    sentences.extend(_suspicion(verdict))
    if verdict.empty_rows:
        rows = _count(verdict.empty_rows, "row sees", "rows see")
        sentences.append(f"{rows} no key and cannot be judged.")
    return " ".join(sentences)


def ratio_in_words(ratio: float) -> str:
    """A ratio, rounded up: one that is read as at most 1 is at most 1.

    >>> ratio_in_words(0.61234), ratio_in_words(164.2), ratio_in_words(1.00001)
    ('0.613', '165', '1.01')
    """
    if not math.isfinite(ratio):
        return "an infinite multiple"
    if ratio == 0:
        return "0"
    digits = 2 - math.floor(math.log10(ratio))
    if digits < 0:
        return f"{math.ceil(ratio):,}"
    step = 10.0**-digits
    return f"{math.ceil(ratio / step) * step:.{digits}f}"


def _within(verdict: ConformanceVerdict) -> str:
    stricter = []
    for result in verdict.results:
        if result.contract == verdict.contract:
            break
        stricter.append(f"{result.contract} ({ratio_in_words(result.ratio)})")
    sentence = "Every difference is explained by rounding"
    if stricter:
        sentence += f" under this contract, not under {' or '.join(stricter)}"
    return (
        f"{sentence}; a mistake that changes less than the bound, on average "
        f"{_percent(verdict.margin)} of the weighted |v|, would be as well."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%"


REASONS = {
    Vacuity.SCORE_OVERFLOW: (
        "a score may overflow its type",
        "use smaller queries, keys or scale",
    ),
    Vacuity.OUTPUT_OVERFLOW: (
        "the output, or a sum of which it is made, may overflow its type",
        "use smaller values",
    ),
    Vacuity.TINY_VALUES: (
        "values are so small that they may be flushed to zero",
        "use larger values",
    ),
    Vacuity.TINY_WEIGHTS: (
        "nearly all weight is on a sink, or on keys whose values are zero, and the "
        "other weights are so small that their type may lose them",
        "use a smaller sink, or scores that differ by less",
    ),
    Vacuity.LARGE_BIAS: (
        "the bias is so large that scores lose their digits beside it",
        "hide keys by a bias of -inf or by mask=, or use a smaller bias",
    ),
    Vacuity.LARGE_SCORES: (
        "scores are so large that the bound is no smaller than the values, and zeros "
        "would be within it",
        "use smaller scores, or name a stricter contract",
    ),
}


def _undecided(verdict: ConformanceVerdict) -> str:
    sentences = []
    for reason, number in verdict.unjudged.items():
        why, advice = REASONS[reason]
        elements = _count(number, "element", "elements")
        sentences.append(f"Nothing is proved about {elements}: {why}; {advice}.")
    outside = []
    for result in verdict.results:
        if result.word is VerdictWord.OUTSIDE:
            outside.append(f"{result.contract} ({ratio_in_words(result.ratio)})")
    if outside:
        sentences.append(f"It is outside {' and '.join(outside)}.")
    return " ".join(sentences)


def _place(worst: Element) -> str:
    place = f"batch {worst.batch}, head {worst.head}, row {worst.row}, "
    place += f"column {worst.column}"
    if not math.isfinite(worst.value):
        return f"The output is {worst.value} at {place}; exact is {worst.exact:.6g}"
    return (
        f"The worst element is at {place}: {worst.value:.6g} instead of "
        f"{worst.exact:.6g}, an error of {worst.error:.3g} where rounding explains "
        f"{worst.bound:.3g}"
    )


def _suspicion(verdict: ConformanceVerdict) -> list[str]:
    if not verdict.hypotheses:
        if verdict.output_word is VerdictWord.OUTSIDE:
            return ["No known mistake explains it."]
        return []
    best = verdict.hypotheses[0]
    start = "It is consistent with"
    if verdict.output_word is VerdictWord.WITHIN:
        start = f"It is also consistent with {best.contract} and"
    sentence = f"{start} {best.sentence} ({ratio_in_words(best.ratio)} of the bound"
    if verdict.output_word is VerdictWord.OUTSIDE and best.contract != verdict.contract:
        sentence += f" of {best.contract}"
    sentence += ")"
    if best.lenient:
        sentence += ", which widens the bound, so that other mistakes fit it as well"
    others = [f"'{hypothesis.name}'" for hypothesis in verdict.hypotheses[1:4]]
    if others:
        sentence += f"; {', '.join(others)} would explain it too"
    return [f"{sentence}."]


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"
