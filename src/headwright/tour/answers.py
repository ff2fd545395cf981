"""A chapter about checking answers: one correct, one wrong."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from headwright import attention, pictures
from headwright.check import check
from headwright.check.verdict import Curve
from headwright.errors import HeadwrightError
from headwright.files import write_whole
from headwright.tour.chapter import Chapter

RIGHT, WRONG = r"q = \lambda(k_a + k_b)", r"q = \frac{1}{\sqrt{2}}(k_a + k_b)"


def right_and_wrong(out: Path) -> Chapter:
    """Two answers to one exercise, and a picture of where one fails."""
    sheet = f"## averaging-two\n\n$${RIGHT}$$\n\n## averaging-two\n\n$${WRONG}$$\n"
    write_whole(out / "answers.md", sheet.encode())
    good, bad = (check("averaging-two", answer) for answer in (RIGHT, WRONG))
    where = bad.counterexample or {}
    if bad.curve is None:
        raise HeadwrightError("the wrong answer has no picture of its failure")
    return Chapter(
        "Check two answers",
        f"The exercise: average the values of two of n orthonormal keys. The answer ${RIGHT}|q = lambda (k_a "
        f"+ k_b)$ is "
        f"{good.word}, for all n and epsilon. It is valid from {good.threshold}."
        "\n\n"
        f"The answer ${WRONG}|q = (k_a + k_b)/sqrt(2)$ is {bad.word}. For n = «{where['n']}» and epsilon = "
        f"{where['epsilon']} key a has weight «{where['left']}», and at least «{where['right']}» is required. "
        f"Suggestion: {bad.suggestion}.",
        pictures.curve_picture(_beside(bad.curve), "A published answer, and the same direction long enough"),
        "answers",
        (f"headwright check {out}/answers.md",),
    )


def _beside(curve: Curve) -> Curve:
    """The curve of the wrong answer, and that of the same direction at the smallest sufficient length."""
    (name,), eps = curve.series, 1 / curve.levels["wanted"] - 2
    repaired = tuple(_weight(int(n), eps) for n in curve.values)
    return replace(curve, series={"q = (k_a + k_b)/√2": curve.series[name], "q = ln((n−2)/ε) (k_a + k_b)": repaired})


def _weight(n: int, eps: float) -> float:
    """The weight of key a for the query ln((n - 2)/eps)(k_a + k_b), for n orthonormal keys."""
    keys = np.eye(n)
    query = math.log((n - 2) / eps) * (keys[0] + keys[1]) if n > 2 else keys[0] + keys[1]
    return float(attention.attend(keys, query).pattern[0, 0])
