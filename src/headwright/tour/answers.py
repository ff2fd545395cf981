"""A chapter about answers: one right, one wrong."""

from __future__ import annotations

from pathlib import Path

from headwright import pictures
from headwright.check import check
from headwright.errors import HeadwrightError
from headwright.files import write_whole
from headwright.tour.chapter import Chapter

RIGHT, WRONG = r"q = \lambda(k_a + k_b)", r"q = \frac{1}{\sqrt{2}}(k_a + k_b)"


def right_and_wrong(out: Path) -> Chapter:
    """Two answers to one exercise, and a picture of why one of them fails."""
    sheet = f"## averaging-two\n\n$${RIGHT}$$\n\n## averaging-two\n\n$${WRONG}$$\n"
    write_whole(out / "answers.md", sheet.encode())
    good, bad = (check("averaging-two", answer) for answer in (RIGHT, WRONG))
    if bad.curve is None:
        raise HeadwrightError("the wrong answer has no picture of its failure")
    return Chapter(
        "Is this answer right?",
        f"To 'average two of n orthonormal keys', one student writes {RIGHT} and another {WRONG}. The first is "
        f"{good.word}, for all n and epsilon, from {good.threshold}. The second is {bad.word}: {bad.reason}. "
        f"What a teacher would add: {bad.suggestion}.",
        pictures.curve_picture(bad.curve, "The wrong answer, as there are more keys"),
        "answers",
        f"headwright check {out}/answers.md",
    )
