"""Many answers in parallel: in order, within time and memory, and nothing left behind."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headwright.errors import InputError
from headwright.grading.markdown import Written
from headwright.grading.running import run
from headwright.grading.sheets.sheet import AnswerText, Checked
from headwright.grading.verdict import Verdict

STAND_IN = (sys.executable, str(Path(__file__).with_name("standin.py")))


def _run(
    *formulas: str, timeout: float = 20.0, workers: int = 2, within: float = math.inf
) -> list[Checked]:
    answers = [
        AnswerText("sheet.md", n, "copying", Written(text, n + 1))
        for n, text in enumerate(formulas)
    ]
    return run(
        answers,
        seed=3,
        timeout=timeout,
        workers=workers,
        within=within,
        command=STAND_IN,
        memory=2**30,
    )


def _one(formula: str, timeout: float = 20.0) -> Verdict:
    return _run(formula, timeout=timeout)[0].verdict


def test_verdicts_come_in_the_order_of_the_answers() -> None:
    checked = _run("sleep 0.5", "b", "c", "d")
    assert [each.answer.line for each in checked] == [0, 1, 2, 3]
    assert [each.verdict.reason for each in checked][1:] == [
        f"copying {x} line {n} seed 3" for n, x in zip((2, 3, 4), "bcd", strict=True)
    ]
    assert checked[0].seconds >= 0.5


def test_a_verdict_arrives_whole() -> None:
    verdict = _one("full")
    assert verdict.curve is not None
    assert verdict.curve.values == (2.0, 3.0)
    assert math.isnan(verdict.curve.series["a"][1])
    assert verdict.asked[0].counterexample == {"n": 10, "x": "nan"}
    assert (verdict.formulas[0].line, verdict.formulas[0].used) == (2, "z3")
    assert (verdict.threshold, verdict.suggestion, verdict.hint) == (
        "t >= 1",
        "do",
        "why",
    )


@pytest.mark.parametrize("wild", ["sleep 100", "spin"])
def test_a_check_that_takes_too_long_is_stopped(wild: str) -> None:
    checked = _run(wild, "b", "c", timeout=2.0, workers=1)
    assert [each.verdict.word for each in checked] == ["undecided", "proved", "proved"]
    assert checked[0].verdict.reason == "the check was stopped: no verdict within 2 s"
    assert not checked[0].failed


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="memory is limited where the platform can"
)
@pytest.mark.parametrize("wild", ["eat", "eat slowly"])
def test_a_check_that_eats_memory_is_stopped(wild: str) -> None:
    checked = _run(wild, "b", workers=1)
    assert checked[0].verdict == Verdict(
        "undecided", "the check was stopped: it ran out of memory"
    )
    assert not checked[0].failed
    assert checked[1].verdict.word == "proved"


@pytest.mark.parametrize(
    ("wild", "said"),
    [
        ("crash", "the process ended by signal 11"),
        ("exit", "the process ended with code 7"),
        (
            "raise",
            "the check failed (ZeroDivisionError: oops): please report this answer",
        ),
        ("garble", "the checker's reply cannot be read"),
        ("huge", "the reply is too long"),
    ],
)
def test_a_check_that_fails_says_so_and_spoils_nothing(wild: str, said: str) -> None:
    checked = _run(wild, "b", workers=1)
    assert checked[0].verdict.word == "undecided"
    assert said in checked[0].verdict.reason
    assert checked[0].failed  # an internal error
    assert checked[1].verdict.word == "proved"


def test_what_a_library_prints_does_no_harm() -> None:
    assert _one("print").word == "proved"


def test_a_worker_is_used_again() -> None:
    assert (
        len({each.verdict.reason for each in _run("pid", "pid", "pid", workers=1)}) == 1
    )


def test_a_worker_that_cannot_start_is_told() -> None:
    answers = [AnswerText("sheet.md", 1, "copying", Written("a"))]
    (checked,) = run(
        answers, command=(sys.executable, "-c", "raise SystemExit('no engine')")
    )
    assert checked.verdict.word == "undecided"
    assert "did not start" in checked.verdict.reason
    assert "no engine" in checked.verdict.reason


def test_time_for_all_answers_together_is_bounded() -> None:
    checked = _run("sleep 100", "b", "c", workers=1, within=2.0)
    assert [each.verdict.word for each in checked] == ["undecided"] * 3
    assert checked[2].verdict.reason == "no time was left for this answer"


def test_progress_ends_at_one() -> None:
    seen: list[float] = []
    answers = [AnswerText("sheet.md", n, "copying", Written("a")) for n in range(3)]
    run(answers, command=STAND_IN, progress=seen.append)
    assert sorted(seen)[-1] == 1.0


@pytest.mark.parametrize("timeout", [0.0, -1.0, math.nan])
def test_rejects_a_timeout_that_is_none(timeout: float) -> None:
    with pytest.raises(InputError, match="expected more than 0"):
        _run("a", timeout=timeout)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind(ending: signal.Signals, tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    code = (
        "import signal\n"
        "from headwright.grading.sheets.sheet import AnswerText\n"
        "from headwright.grading.markdown import Written\n"
        "from headwright.grading.running import run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored by what a shell starts in the background
        "answers = [AnswerText('s', n, 'copying', Written('spin')) for n in range(4)]\n"
        f"run(answers, command={(*STAND_IN,)!r}, workers=2, memory={2**31}, folder={mark!r})\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    _until(
        lambda: len(_with(mark)) >= 3
    )  # the parent, whose code holds it, and two workers
    parent.send_signal(ending)
    parent.wait()
    _until(lambda: not _with(mark))


def _with(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


def _until(true: object) -> None:
    for _ in range(300):
        if callable(true) and true():
            return
        time.sleep(0.1)
    pytest.fail("it never came true")
