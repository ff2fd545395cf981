"""Gradescope: the autograder as it runs there, with submissions that mean harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headwright import __version__
from headwright.errors import InputError
from headwright.grading.assignment import Assignment
from headwright.grading.autograder import make_autograder
from headwright.grading.autograder.gradescope import as_bytes, grade
from headwright.grading.markdown import Written
from headwright.grading.sheets.sheet import AnswerText, Checked
from headwright.grading.verdict import AskedPart, Formula, Verdict, Word

MEGABYTES = 768  # what Gradescope gives by default
RIGHT = "## averaging-two\n\n$q = \\lambda (k_a + k_b)$ for $\\lambda$ large\n"
WRONG = "## averaging-two\n\n$q = \\frac{1}{\\sqrt 2}(k_a + k_b)$\n"


def check_schema(results: dict[str, Any]) -> None:
    """What Gradescope documents of results.json, and nothing else."""
    kinds = {
        "score": float,
        "output": str,
        "output_format": str,
        "stdout_visibility": str,
        "tests": list,
    }
    assert set(results) <= set(kinds)
    for name, value in results.items():
        assert isinstance(value, kinds[name]), name
    assert "score" in results or results["tests"]
    assert results["output_format"] == "text"
    of_test = {
        "name": str,
        "score": float,
        "max_score": float,
        "status": str,
        "output": str,
        "output_format": str,
        "tags": list,
    }
    for test in results["tests"]:
        assert set(test) == set(of_test)
        for name, value in test.items():
            assert isinstance(value, of_test[name]), name
        assert 0 <= test["score"] <= test["max_score"]
        assert test["status"] in ("passed", "failed")
        assert test["output_format"] == "text"
        assert test["output"]
        assert all(isinstance(tag, str) for tag in test["tags"])


def _refuse(constant: str) -> None:
    raise AssertionError(constant)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A machine of Gradescope's: source/ with the autograder, submission/ empty."""
    make_autograder(tmp_path / "source", points="averaging-two=5,copying=2.5")
    (tmp_path / "submission").mkdir()
    return tmp_path


def _run(base: Path) -> tuple[dict[str, Any], float]:
    """The results, and the megabytes that the run took at most, all processes together."""
    environment = {
        **os.environ,
        "HEADWRIGHT_AUTOGRADER": str(base),
        "HEADWRIGHT_PYTHON": sys.executable,
    }
    code = (
        "import resource, subprocess, sys\n"
        "ran = subprocess.run([sys.argv[1]], timeout=300)\n"
        "sys.stdout.write(f'{ran.returncode} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}')\n"
    )
    script = str(base / "source" / "run_autograder")
    ran = subprocess.run(
        [sys.executable, "-c", code, script],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    returned, kilobytes = ran.stdout.split()[-2:]
    assert returned == "0"
    results = json.loads(
        (base / "results" / "results.json").read_text(), parse_constant=_refuse
    )
    check_schema(results)
    # The largest process counts once for the grader and once for its one worker: more than both together.
    return results, 2 * int(kilobytes) / 1024


def _scores(results: dict[str, Any]) -> list[float]:
    return [test["score"] for test in results["tests"]]


def test_a_right_answer_earns_its_points_and_a_missing_one_none(base: Path) -> None:
    (base / "submission" / "answers.md").write_text(RIGHT)
    results, megabytes = _run(base)
    assert _scores(results) == [5.0, 0.0]
    assert results["tests"][0]["tags"] == ["proved"]
    assert "write a heading '## copying'" in results["tests"][1]["output"]
    assert megabytes < MEGABYTES


def test_a_wrong_answer_earns_none_and_shows_the_counterexample_and_the_direction_alone(
    base: Path,
) -> None:
    (base / "submission" / "answers.md").write_text(WRONG)
    results, _ = _run(base)
    assert _scores(results) == [0.0, 0.0]
    assert "for instance with n = " in results["tests"][0]["output"]
    assert "the direction is right, the length is not" in results["tests"][0]["output"]
    assert "lambda" not in json.dumps(results)


def test_a_file_that_was_not_read_is_named(base: Path) -> None:
    (base / "submission" / "answers.md").write_text(RIGHT)
    (base / "submission" / "scan.pdf").write_bytes(b"%PDF")
    results, _ = _run(base)
    assert "scan.pdf: not read" in results["output"]
    assert "Every answer was read" not in results["output"]


def test_a_right_object_keeps_its_points_beside_a_false_formula(base: Path) -> None:
    (base / "submission" / "answers.md").write_text(RIGHT + "\n$$\\alpha_a = 1$$\n")
    results, _ = _run(base)
    assert _scores(results) == [3.75 + 0.625, 0.0]
    assert "object: 3.75 of 3.75 points" in results["tests"][0]["output"]
    assert (
        "formulas: 0.625 of 1.25 points (1 of 2 is false)"
        in results["tests"][0]["output"]
    )


def test_guessing_does_not_pay(base: Path) -> None:
    (base / "submission" / "a.md").write_text(RIGHT)
    (base / "submission" / "b.txt").write_text(WRONG)
    results, _ = _run(base)
    assert _scores(results) == [0.0, 0.0]
    assert "the worst of them counts" in results["tests"][0]["output"]


def _binary(folder: Path) -> None:
    (folder / "answers.md").write_bytes(bytes(range(256)) * 100)


def _huge(folder: Path) -> None:
    with (folder / "answers.md").open("wb") as file:
        file.truncate(100 * 2**20)


def _links(folder: Path) -> None:
    (folder / "secret.md").symlink_to("/etc/passwd")
    (folder / "zero.md").symlink_to("/dev/zero")
    (folder / "round").symlink_to(folder)
    (folder.parent / "outside.md").write_text(RIGHT)
    (folder / "outside.md").symlink_to(folder.parent / "outside.md")
    os.mkfifo(folder / "pipe.md")


def _deep(folder: Path) -> None:
    for depth in range(60):
        folder = folder / f"d{depth}"
    folder.mkdir(parents=True)
    (folder / "answers.md").write_text(RIGHT)


def _many(folder: Path) -> None:
    for number in range(3000):
        (folder / f"{number}.md").write_text("# copying\n")


def _towers(folder: Path) -> None:
    formulas = [
        "9^{9^{9^9}}",
        r"\sum_{i=1}^{10^{12}} i",
        "{" * 10_000,
        "q = " + "k_a + " * 5_000 + "k_b",
        "$$",
    ]
    (folder / "answers.md").write_text(
        "\n".join(f"# averaging-two\n$$q = {formula} k_a$$\n" for formula in formulas)
    )


def _names(folder: Path) -> None:
    (folder / "\x1b[2J<b>\n.md").write_text(RIGHT)


def _modules(folder: Path) -> None:
    for name in ("json", "sympy", "headwright", "sitecustomize", "numpy"):
        (folder / f"{name}.py").write_text("raise SystemExit('owned')")
        (folder.parent / f"{name}.py").write_text("raise SystemExit('owned')")


def _nested(folder: Path) -> None:
    (folder / "answers.md").write_text("# copying\n" + ">- " * 300_000)


def _unreadable(folder: Path) -> None:
    (folder / "answers.md").write_text(RIGHT)
    (folder / "answers.md").chmod(0)


HOSTILE = [
    _binary,
    _huge,
    _links,
    _deep,
    _many,
    _towers,
    _names,
    _modules,
    _nested,
    _unreadable,
]


@pytest.mark.parametrize("hostile", [lambda folder: None, *HOSTILE])
def test_results_are_valid_whatever_is_handed_in(
    hostile: Callable[[Path], None], base: Path
) -> None:
    hostile(base / "submission")
    results, megabytes = _run(base)
    assert megabytes < MEGABYTES
    assert len(_scores(results)) == 2
    assert "root:" not in json.dumps(results)
    if hostile not in (_names, _unreadable):
        assert sum(_scores(results)) == 0
    if hostile is _names:
        assert _scores(results) == [5.0, 0.0]
        assert "\x1b" not in results["tests"][0]["output"]


@pytest.mark.parametrize(
    "broken",
    [
        lambda base: (base / "source" / "assignment.toml").write_text(
            "[points]\nno-such-exercise = 3"
        ),
        lambda base: (base / "source" / "assignment.toml").write_text("not toml"),
        lambda base: (base / "source" / "assignment.toml").write_text(
            "[points]\ncopying = -1"
        ),
        lambda base: (base / "source" / "assignment.toml").unlink(),
        lambda base: (base / "submission").rmdir(),
    ],
)
def test_a_mistake_in_the_set_up_is_told(
    broken: Callable[[Path], None], base: Path
) -> None:
    broken(base)
    results, _ = _run(base)
    assert results["tests"] == [] or sum(_scores(results)) == 0
    assert results["output"]


def test_results_are_there_even_without_headwright(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    environment = {
        **os.environ,
        "HEADWRIGHT_AUTOGRADER": str(base),
        "HEADWRIGHT_PYTHON": "/bin/false",
    }
    subprocess.run([base / "source" / "run_autograder"], env=environment, check=True)
    assert json.loads((base / "results" / "results.json").read_text())["score"] == 0.0


def _checked(word: Word, exercise: str = "copying") -> Checked:
    return Checked(
        AnswerText("sheet.md", 1, exercise, Written("$q = k_a$")),
        Verdict(word, "so"),
        0.1,
    )


@pytest.mark.parametrize(
    ("word", "score", "note"),
    [
        ("proved", 3.0, "proved"),
        ("missing", 0.0, "missing"),
        ("refuted", 0.0, "refuted"),
        ("undecided", 0.0, "ask your teacher"),
    ],
)
def test_points_follow_the_verdict(word: Word, score: float, note: str) -> None:
    results = grade([_checked(word)], assignment=Assignment(points={"copying": 3.0}))
    check_schema(results)
    assert _scores(results) == [score]
    assert note in results["tests"][0]["output"]


def test_without_points_each_answered_exercise_is_worth_one() -> None:
    results = grade([_checked("proved"), _checked("refuted", "energy")])
    assert [(test["score"], test["max_score"]) for test in results["tests"][:2]] == [
        (1.0, 1.0),
        (0.0, 1.0),
    ]
    check_schema(grade([]))


def test_what_was_not_asked_for_is_mentioned() -> None:
    results = grade(
        [_checked("proved", "energy")], assignment=Assignment(points={"copying": 1})
    )
    assert "energy: answered, but not asked for" in results["output"]


def test_results_stay_small() -> None:
    false = Formula(1, "x" * 10**6, "false", "claim", True, "y" * 10**6)
    verdict = Verdict(
        "refuted",
        "y" * 10**6,
        (AskedPart("q", "refuted", 1, "z" * 10**6, ""),),
        (false,),
    )
    long = Checked(AnswerText("s", 1, "copying", Written("")), verdict)
    assert len(as_bytes(grade([long] * 20))) < 2**20


def test_the_folder_is_complete_and_pinned(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    exercise = (
        Path(__file__).parents[3] / "src/headwright/grading/exercises/copying.toml"
    )
    (own / "mine.toml").write_text(
        exercise.read_text().replace('id = "copying"', 'id = "my-copying"')
    )
    make_autograder(tmp_path / "made", own, "my-copying=4, energy")
    names = {path.name for path in (tmp_path / "made").iterdir()}
    more = {"assignment.toml", "requirements.txt", "wheels", "exercises"}
    assert names == {"setup.sh", "run_autograder", "README.md", *more}
    assert os.access(tmp_path / "made" / "run_autograder", os.X_OK)
    assert (
        f"'headwright=={__version__}'" in (tmp_path / "made" / "setup.sh").read_text()
    )
    assert (
        "my-copying = 4\nenergy = 1\n"
        in (tmp_path / "made" / "assignment.toml").read_text()
    )
    assert (tmp_path / "made" / "exercises" / "mine.toml").exists()
    for script in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", tmp_path / "made" / script], check=True)


@pytest.mark.parametrize(
    "points", ["nothing=1", "copying=x", "copying=-1", "copying=nan", ""]
)
def test_rejects_points_that_make_no_sense(points: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        make_autograder(tmp_path / "made", points=points)
    assert not (tmp_path / "made").exists()


def test_rejects_a_folder_that_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    with pytest.raises(InputError, match="not empty"):
        make_autograder(tmp_path)
