"""Verdicts in words: the only place where sentences about them are made."""

from __future__ import annotations

import math

from headwright.conformance.judging import Element
from headwright.conformance.verdict import ConformanceVerdict, Word


def summarise(verdict: ConformanceVerdict) -> str:
    """A verdict in two lines: the word with its number, and the reasons."""
    first = f"{verdict.word}: {ratio_in_words(verdict.ratio)} of the bound"
    first += f" ({verdict.contract}, {verdict.number_type}"
    if len(verdict.rows) < verdict.total_rows:
        first += f", {len(verdict.rows)} of {verdict.total_rows} rows"
    return f"{first})\n{verdict.explanation}"


def explain(verdict: ConformanceVerdict) -> str:
    """Why the word is what it is, and which mistake would explain the output."""
    sentences = []
    if verdict.word is Word.WITHIN:
        sentences.append(_within(verdict))
    elif verdict.word is Word.OUTSIDE:
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
        return "infinitely many times"
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
    return f"{sentence}."


def _undecided(verdict: ConformanceVerdict) -> str:
    elements = _count(verdict.unjudged, "element", "elements")
    sentence = (
        f"Nothing is proved about {elements}: a score may overflow its type, or the "
        "bound is no smaller than the values, so that zeros would be within it"
    )
    outside = []
    for result in verdict.results:
        if result.word is Word.OUTSIDE:
            outside.append(f"{result.contract} ({ratio_in_words(result.ratio)})")
    if outside:
        sentence += f"; it is outside {' and '.join(outside)}"
    return f"{sentence}: use smaller scores, or name a stricter contract."


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
        if verdict.word is Word.OUTSIDE:
            return ["No known mistake explains it."]
        return []
    best = verdict.hypotheses[0]
    start = "It is consistent with"
    if verdict.word is Word.WITHIN:
        start = f"It is also consistent with {best.contract} and"
    sentence = f"{start} {best.sentence} ({ratio_in_words(best.ratio)} of the bound"
    if verdict.word is Word.OUTSIDE and best.contract != verdict.contract:
        sentence += f" of {best.contract}"
    sentence += ")"
    others = [f"'{hypothesis.name}'" for hypothesis in verdict.hypotheses[1:4]]
    if others:
        sentence += f"; {', '.join(others)} would explain it too"
    return [f"{sentence}."]


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"
