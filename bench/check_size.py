"""The size of `check`: its lines and files, and how many of its functions one answer calls.

Counted are the functions of the package that a profiler sees entered while one answer becomes a verdict (those without
a name, comprehensions and lambdas, apart: which comprehensions are functions depends on Python's version; imports, the
command line and loading the exercises are not counted), the formulas parsed, and the questions put to z3. CPU time is
told, since other work on the machine does not change it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from types import CodeType, FrameType

import headwright
from bench.measure import Contender

TITLE = "The size of check: lines and files, and the functions that one answer calls"
PACKAGE = Path(headwright.__file__).parent
PACKAGES = ("grading", "formulas")
FIRST = "averaging-two"
ANSWERS = {  # a short answer of each setting
    FIRST: r"q = \lambda (k_a + k_b)",
    "self-attention-route": r"Q = u_d u_a^\top, K = I, V = \frac{1}{\beta^2}(u_b u_b^\top - u_c u_c^\top)",
    "positions-unique": r"\Phi_t \ne \Phi_{t'}",
    "taking-apart": r"M = A A^\top",
}
CONTENDERS = [
    Contender("lines and files", "size", repeats=1),
    *(
        Contender(f"an answer to {name}", "passed", {"name": name}, repeats=1)
        for name in ANSWERS
    ),
    Contender("the first verdict of a command", "first"),
    Contender("a sheet of twenty, one after the other", "twenty"),
]


def size() -> Callable[[], str]:
    files = [path for package in PACKAGES for path in (PACKAGE / package).rglob("*.py")]
    return lambda: (
        f"{sum(len(path.read_text().splitlines()) for path in files)} lines in {len(files)} files"
    )


def passed(name: str) -> Callable[[], str]:
    import z3

    from headwright.grading.exercise import load_exercises
    from headwright.grading.grade import grade
    from headwright.grading.markdown import of_formulas

    exercise, formulas = load_exercises()[name], of_formulas([ANSWERS[name]])
    grade(exercise, formulas)  # what is imported when it is needed is here now

    def work() -> str:
        entered: set[CodeType] = set()
        parses = questions = 0

        def seen(frame: FrameType, event: str, _: object) -> None:
            nonlocal parses, questions
            code = frame.f_code
            if event != "call":
                return
            if code.co_filename.startswith(str(PACKAGE)):
                entered.add(code)
                parses += code.co_name == "parse" and code.co_filename.endswith(
                    "formulas/parse.py"
                )
            questions += code is z3.Solver.check.__code__

        sys.setprofile(seen)
        grade(exercise, formulas)
        sys.setprofile(None)
        cpu = _cpu(lambda: grade(exercise, formulas))
        files = {code.co_filename for code in entered}
        named = sum(not code.co_name.startswith("<") for code in entered)
        functions = f"{named} functions (and {len(entered) - named} without a name)"
        return (
            f"{functions}, {len(files)} files, parses {parses}, z3 {questions}, {cpu}"
        )

    return work


def first() -> Callable[[], str]:
    command = [
        sys.executable,
        "-m",
        "headwright",
        "check",
        "--exercise",
        FIRST,
        "--formula",
        ANSWERS[FIRST],
    ]

    def work() -> str:
        before = getrusage(RUSAGE_CHILDREN)
        word = subprocess.run(command, capture_output=True, text=True).stdout.split()[0]
        after = getrusage(RUSAGE_CHILDREN)
        return f"{word}, {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.2f} s CPU"

    return work


def twenty() -> Callable[[], str]:
    from bench.check import one_by_one

    work = one_by_one()
    return lambda: _cpu(work)


def _cpu(work: Callable[[], object]) -> str:
    start = time.process_time()
    work()
    return f"{time.process_time() - start:.2f} s CPU"
