"""Points, for the whole of an answer or part by part; the grader runs the Headwright that its teacher packed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headwright
from headwright import __version__
from headwright.check.autograder import make_autograder
from headwright.check.autograder.assignment import Worth, awards, most, pack_wheel, read_assignment, requirements
from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Formula
from headwright.check.verdict import WORST_FIRST, Part, Verdict, Word
from headwright.errors import InputError

EXERCISES = load_exercises()
PARTS: Worth = {"object": 3.0, "claims": 2.0}
WORDS = st.sampled_from(WORST_FIRST)
ROLES = st.sampled_from(["goal", "statement", "step", "condition"])


def _earned(name: str, *formulas: str, worth: Worth = PARTS, least_steps: int = 0) -> list[float]:
    verdict = check_answer(EXERCISES[name], [Formula(text, line) for line, text in enumerate(formulas, 1)])
    return [award.points for award in awards([verdict], worth, least_steps=least_steps)]


@pytest.mark.parametrize(
    ("formulas", "points"),
    [
        ([r"q = \lambda(k_a + k_b)"], [3, 2]),
        ([r"q = \lambda(k_a + k_b)", "c = v_a"], [3, 0]),  # the object is right, a claim is false
        (["q = k_a", r"\alpha_a \le 1"], [0, 0]),  # something true besides earns nothing
        ([r"\alpha_a \ge 0"], [0, 0]),
        (["q = "], [0, 0]),
    ],
)
def test_parts_are_earned_apart(formulas: list[str], points: list[float]) -> None:
    assert _earned("averaging-two", *formulas) == points


def test_an_argument_needs_its_steps() -> None:
    worth: Worth = {"claims": 1.0, "argument": 4.0}
    whole = r"\|A\|_F^2 = \operatorname{tr}(A^\top A) = \operatorname{tr}(V S^2 V^\top) = \operatorname{tr}(S^2) = "
    whole += r"\sum_i \sigma_i^2"
    assert _earned("energy", whole, worth=worth, least_steps=4) == [1, 4]
    assert _earned("energy", whole, worth=worth, least_steps=5) == [1, 0]
    assert _earned("energy", whole, whole, worth=worth, least_steps=5) == [1, 0]  # said twice is said once
    assert _earned("energy", whole, worth=5.0, least_steps=5) == [0]
    assert _earned("energy", r"\|A\|_F^2 = \sum_i \sigma_i^2", worth=worth) == [0, 0]


@given(
    st.lists(st.tuples(WORDS, st.lists(st.tuples(WORDS, ROLES), max_size=4)), min_size=1, max_size=3),
    st.floats(0, 1),
    st.sampled_from([1.0, 0.0, {"object": 2.0, "claims": 1.0}, {"claims": 1.0, "argument": 2.0}]),
)
def test_points_stay_in_bounds_and_the_worst_answer_counts(
    given_words: list[tuple[Word, list[tuple[Word, str]]]], holds: float, worth: Worth
) -> None:
    verdicts = [
        Verdict(word, "", tuple(Part("x", role, inner, "") for inner, role in parts))  # type: ignore[arg-type]
        for word, parts in given_words
    ]
    found = awards(verdicts, worth, holds=holds)
    assert 0 <= sum(award.points for award in found) <= most(worth)
    for verdict in verdicts:
        for ours, alone in zip(found, awards([verdict], worth, holds=holds), strict=True):
            assert ours.points <= alone.points
    if any(verdict.word in ("unreadable", "undecided") for verdict in verdicts):
        assert sum(award.points for award in found) == 0


def _read(tmp_path: Path, text: str) -> object:
    (tmp_path / "assignment.toml").write_text(text)
    return read_assignment(tmp_path / "assignment.toml", EXERCISES)


def test_reads_an_assignment(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        'hints = "none"\nafter_deadline = "direction"\nholds = 0.5\nvisibility = "after_published"\n'
        "[least_steps]\nEnergy = 3\n[points]\nAveraging-Two = { object = 3, claims = 2 }\nenergy = 4\n",
    )
    assert found.points == {"averaging-two": {"object": 3.0, "claims": 2.0}, "energy": 4.0}  # type: ignore[attr-defined]
    assert found.least_steps == {"energy": 3}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('hints = "some"', "hints"),
        ("holds = 2", "holds"),
        ('visibility = "perhaps"', "visibility"),
        ("[points]\nenergy = { object = 1 }", "energy has no part object, expected claims and argument"),
        ("[points]\naveraging-two = { argument = 1 }", "no part argument"),
        ("[points]\naveraging-two = { claims = -1 }", "expected 0 to"),
        ("[points]\naveraging-two = { claims = nan }", "expected 0 to"),
        ("[points]\naveraging-two = { style = 1 }", "points"),
        ("[least_steps]\nenergy = -1", "expected 0 or more"),
        ("[least_steps]\nno-such = 1", "no exercise"),
    ],
)
def test_rejects_an_assignment_that_makes_no_sense(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        _read(tmp_path, text)


WHEEL = f"headwright-{__version__}-py3-none-any.whl"


def test_the_wheel_holds_every_file_and_no_other(tmp_path: Path) -> None:
    home = Path(headwright.__file__).parent
    there = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
    with zipfile.ZipFile(tmp_path / pack_wheel(tmp_path)) as wheel:
        names = wheel.namelist()
        packed = {name.removeprefix("headwright/") for name in names if name.startswith("headwright/")}
        assert packed == {name for name in there if "__pycache__" not in name}
        assert (
            wheel.read("headwright/check/exercises/copying.toml")
            == (home / "check" / "exercises" / "copying.toml").read_bytes()
        )
        assert any(name.endswith(".dist-info/entry_points.txt") for name in names)


def test_the_same_headwright_makes_the_same_wheel(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    pack_wheel(tmp_path)
    pack_wheel(tmp_path / "again")
    assert (tmp_path / WHEEL).read_bytes() == (tmp_path / "again" / WHEEL).read_bytes()


def test_headwright_is_not_among_what_it_needs() -> None:
    names = [re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for line in requirements()]
    assert "headwright" not in names
    assert {"numpy", "pydantic", "python-flint", "z3-solver"} <= set(names)


def test_a_zip_has_the_scripts_at_its_root_and_names_no_index_for_headwright(tmp_path: Path) -> None:
    make_autograder(tmp_path / "autograder.zip", points="copying=2")
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        assert {"setup.sh", "run_autograder", "assignment.toml", f"wheels/{WHEEL}"} <= set(archive.namelist())
        for script in ("setup.sh", "run_autograder"):
            assert archive.getinfo(script).external_attr >> 16 & 0o111
        setup = archive.read("setup.sh").decode()
    installs = [line for line in setup.splitlines() if line.startswith("pip install")]
    named = [line for line in installs if f"headwright=={__version__}" in line]
    assert len(named) == 1
    assert all(option in named[0] for option in ("--no-index", "--no-deps", "--find-links"))
    assert [line for line in installs if line not in named] == [
        'pip install --no-cache-dir --find-links "$base/source/wheels" -r "$base/source/requirements.txt"'
    ]


def test_rejects_a_zip_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("precious")
    with pytest.raises(InputError, match="is there already"):
        make_autograder(tmp_path / "a.zip")
    with pytest.raises(InputError, match="there is no folder"):
        make_autograder(tmp_path / "nowhere" / "a.zip")


@pytest.mark.slow
def test_a_package_of_that_name_in_the_index_is_not_installed(tmp_path: Path) -> None:
    make_autograder(tmp_path / "source", points="copying")
    (tmp_path / "source" / "requirements.txt").write_text("")
    index = tmp_path / "index" / "headwright"
    index.mkdir(parents=True)
    for version in (__version__, "99.0"):
        _pretend(index / f"headwright-{version}-py3-none-any.whl", version)
    links = "".join(f'<a href="{path.name}">{path.name}</a>' for path in index.glob("*.whl"))
    (index / "index.html").write_text(f"<html><body>{links}</body></html>")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "HEADWRIGHT_AUTOGRADER": str(tmp_path),
        "PIP_INDEX_URL": index.parent.as_uri(),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    ran = subprocess.run(
        [tmp_path / "source" / "setup.sh"], env=environment, text=True, capture_output=True, timeout=240, check=False
    )
    assert f"Successfully installed headwright-{__version__}" in ran.stdout, ran.stderr
    found = list((tmp_path / "venv").rglob("site-packages/headwright"))
    assert len(found) == 1
    assert not (found[0] / "pretended.py").exists()
    assert (found[0] / "check" / "autograder" / "gradescope.py").exists()


def _pretend(path: Path, version: str) -> None:
    about = f"headwright-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("headwright/__init__.py", "")
        wheel.writestr("headwright/pretended.py", "")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: headwright\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
