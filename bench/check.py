"""Answers: a sheet of twenty from start to verdicts; and formulas read, beside the LaTeX reader of SymPy."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bench.measure import Contender

TITLE = "Twenty answers from sheet to verdicts (processes included), and formulas read"
SHEETS = Path(__file__).parents[1] / "examples" / "answers"
TWO, READ = (
    "headwright check, 20 answers, all cores",
    "headwright.formulas, three formulas",
)
CONTENDERS = [
    Contender(TWO, "twenty"),
    Contender(
        "the same in one process, one after the other",
        "one_by_one",
        peer_of=TWO,
        kind="ours",
    ),
    Contender(READ, "read"),
    Contender(
        "sympy, parse_latex (lark), the same three", "read_by_sympy", peer_of=READ
    ),
]
FORMULAS = [
    r"q = \log(t)(u_a+u_b)",
    r"Q = (1/\beta^2)(u_c u_d^\top + u_d u_a^\top)",
    r"q = \lambda(\mu_a+\mu_b)",
]


def _sheet() -> str:
    """The first twenty answers of the example sheets, as one."""
    parts = "\n".join(path.read_text() for path in sorted(SHEETS.glob("*.md"))).split(
        "\n## "
    )
    return "\n## ".join(["", *parts[1:21]])


def twenty() -> Callable[[], str]:
    folder = Path(tempfile.mkdtemp())
    (folder / "sheet.md").write_text(_sheet())

    def work() -> str:
        command = [sys.executable, "-m", "headwright", "check", "sheet.md"]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        return ran.stdout.splitlines()[-1]

    return work


def one_by_one() -> Callable[[], str]:
    from headwright.grading.exercise import load_exercises
    from headwright.grading.grade import grade
    from headwright.grading.sheets.document import read_document

    path = Path(tempfile.mkdtemp()) / "sheet.md"
    path.write_text(_sheet())

    def work() -> str:
        exercises = load_exercises()
        answers = read_document(path, exercises).answers
        words = Counter(
            grade(exercises[each.exercise_id], each.written).word for each in answers
        )
        return f"{len(answers)} answers: {dict(words)}"

    return work


def read() -> Callable[[], str]:
    from headwright.formulas import parse
    from headwright.formulas.show import plain

    return lambda: "; ".join(plain(parse(source)) for source in FORMULAS)


def read_by_sympy() -> Callable[[], str]:
    from sympy.parsing.latex import parse_latex

    def work() -> str:
        said = []
        for source in FORMULAS:
            try:
                said.append(str(parse_latex(source, backend="lark")))
            except Exception as error:  # noqa: BLE001 - whatever it raises is what it says
                said.append(type(error).__name__)
        return "; ".join(said)

    return work
