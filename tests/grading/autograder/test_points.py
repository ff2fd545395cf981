"""Points for the object and for the formulas; the grader runs the Headwright that its teacher packed."""

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
from headwright.errors import InputError
from headwright.grading.assignment import (
    Assignment,
    read_assignment,
    with_known_ids,
)
from headwright.grading.autograder import make_autograder, pack_wheel, requirements
from headwright.grading.autograder.points import awards
from headwright.grading.classroom.room import classroom, marked
from headwright.grading.classroom.tables import grades
from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written, of_formulas
from headwright.grading.sheets.sheet import AnswerText, Checked
from headwright.grading.verdict import (
    WORST_FIRST,
    AskedPart,
    Formula,
    Status,
    ToRead,
    Verdict,
    Word,
    overall,
)

EXERCISES = load_exercises()
FIVE = Assignment(points={"averaging-two": 5.0}, formulas=0.4)
WORDS = st.sampled_from(WORST_FIRST)
STATUSES: tuple[Status, ...] = ("true", "false", "open", "quoted")


def _earned(name: str, *formulas: str) -> list[float]:
    verdict = grade(EXERCISES[name], of_formulas(formulas))
    return [award.points for award in awards([verdict], "averaging-two", FIVE)]


@pytest.mark.parametrize(
    ("formulas", "points"),
    [
        ([r"q = \lambda(k_a + k_b)"], [3, 2]),
        (
            [r"q = \lambda(k_a + k_b)", r"\alpha_a = 1"],
            [3, 1],
        ),  # the object is right, one of two formulas is false
        (["q = k_a"], [0, 0]),
        ([r"\alpha_a = 2"], [0, 0]),
        (["q = "], [0, 0]),
    ],
)
def test_object_and_formulas_are_earned_apart(
    formulas: list[str], points: list[float]
) -> None:
    assert _earned("averaging-two", *formulas) == points


def test_of_several_parts_those_that_are_proved_count() -> None:
    asked = (
        AskedPart("q_1", "proved", 1, "", ""),
        AskedPart("q_2", "missing", 0, "", ""),
    )
    (award, _) = awards([Verdict("undecided", "", asked)], "averaging-two", FIVE)
    assert (award.points, award.why) == (1.5, "1 of 2 parts proved")


@given(
    st.lists(
        st.tuples(
            st.lists(WORDS, min_size=1, max_size=3),
            st.lists(st.tuples(st.sampled_from(STATUSES), st.booleans())),
        ),
        min_size=1,
        max_size=3,
    ),
    st.floats(0.1, 10),
    st.floats(0, 0.9),
)
def test_points_stay_in_bounds_and_a_right_object_is_never_worth_nothing(
    given_words: list[tuple[list[Word], list[tuple[Status, bool]]]],
    points: float,
    share: float,
) -> None:
    assignment = Assignment(points={"copying": points}, formulas=share)
    verdicts = []
    for words, formulas in given_words:
        asked = tuple(AskedPart("q", word, 1, "", "") for word in words)
        listed = tuple(
            Formula(1, "x", status, "claim", counts) for status, counts in formulas
        )
        verdicts.append(Verdict(overall(asked), "", asked, listed))
    found = awards(verdicts, "copying", assignment)
    assert 0 <= sum(award.points for award in found) <= points * (1 + 1e-9)
    for verdict in verdicts:
        alone = awards([verdict], "copying", assignment)
        assert all(
            ours.points <= its.points for ours, its in zip(found, alone, strict=True)
        )
        assert (
            verdict.word != "proved"
            or sum(award.points for award in alone)
            >= points * (1 - share) * (1 - 1e-9)
            > 0
        )


def test_grades_of_a_class_are_a_table_with_gaps_where_a_person_decides() -> None:
    right, open_ = (
        Verdict("proved", ""),
        Verdict("undecided", "", to_read=(ToRead(1, "so"),)),
    )
    answers = [
        ("ada.md", "copying", right),
        ("=ben.md", "copying", open_),
        ("ada.md", "energy", Verdict("missing", "")),
        ("cyd.md", "energy", Verdict("missing", "", to_read=(ToRead(1, "in words"),))),
    ]
    checked = [
        Checked(AnswerText(file, 1, name, Written("")), verdict)
        for file, name, verdict in answers
    ]
    rows = marked(classroom(checked, ["eve"]), Assignment())
    assert grades(rows).splitlines() == [
        "student,copying object,copying formulas,copying,energy object,energy formulas,energy,"
        "total,so far,still open,sentences to read",
        "'=ben,,0,,0,0,0,,0,1,1",
        "cyd,0,0,0,,,,,0,1,1",  # words alone
        "ada,0.75,0.25,1,0,0,0,1,1,0,0",
        "eve,,,,,,,,0,2,0",  # nothing was read
    ]


def _read(tmp_path: Path, text: str) -> object:
    (tmp_path / "assignment.toml").write_text(text)
    return with_known_ids(read_assignment(tmp_path / "assignment.toml"), EXERCISES)


def test_reads_an_assignment(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        'hints = "none"\nformulas = 0.5\n[points]\nAveraging-Two = 3\nenergy = 4\n',
    )
    assert isinstance(found, Assignment)
    assert (found.hints, found.points) == (
        "none",
        {"averaging-two": 3.0, "energy": 4.0},
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('hints = "some"', "hints"),
        ("formulas = 2", "formulas"),
        ("[points]\naveraging-two = 0", "expected a number above 0"),
        ("[points]\naveraging-two = nan", "is nan"),
        ("[points]\naveraging-two = { style = 1 }", "points"),
        ("[points]\nno-such = 1", "no exercise"),
    ],
)
def test_rejects_an_assignment_that_makes_no_sense(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        _read(tmp_path, text)


WHEEL = f"headwright-{__version__}-py3-none-any.whl"


def test_the_wheel_holds_every_file_and_no_other(tmp_path: Path) -> None:
    home = Path(headwright.__file__).parent
    there = {
        path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()
    }
    with zipfile.ZipFile(tmp_path / pack_wheel(tmp_path)) as wheel:
        names = wheel.namelist()
        packed = {
            name.removeprefix("headwright/")
            for name in names
            if name.startswith("headwright/")
        }
        assert packed == {name for name in there if "__pycache__" not in name}
        assert (
            wheel.read("headwright/grading/exercises/copying.toml")
            == (home / "grading" / "exercises" / "copying.toml").read_bytes()
        )
        assert any(name.endswith(".dist-info/entry_points.txt") for name in names)


def test_the_same_headwright_makes_the_same_wheel(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    pack_wheel(tmp_path)
    pack_wheel(tmp_path / "again")
    assert (tmp_path / WHEEL).read_bytes() == (tmp_path / "again" / WHEEL).read_bytes()


def test_headwright_is_not_among_what_it_needs() -> None:
    assert all(
        re.fullmatch(r"[a-z0-9.-]+==[\w.]+", line) for line in requirements()
    )  # every version is pinned
    names = [line.partition("==")[0] for line in requirements()]
    assert "headwright" not in names
    assert {"numpy", "pydantic", "python-flint", "z3-solver", "pydantic-core"} <= set(
        names
    )


def test_a_zip_has_the_scripts_at_its_root_and_names_no_index_for_headwright(
    tmp_path: Path,
) -> None:
    make_autograder(tmp_path / "autograder.zip", points="copying=2")
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        assert {
            "setup.sh",
            "run_autograder",
            "assignment.toml",
            f"wheels/{WHEEL}",
        } <= set(archive.namelist())
        for script in ("setup.sh", "run_autograder"):
            assert archive.getinfo(script).external_attr >> 16 & 0o111
        setup = archive.read("setup.sh").decode()
    installs = [line for line in setup.splitlines() if line.startswith("pip install")]
    named = [line for line in installs if f"headwright=={__version__}" in line]
    assert len(named) == 1
    assert all(
        option in named[0] for option in ("--no-index", "--no-deps", "--find-links")
    )
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
    links = "".join(
        f'<a href="{path.name}">{path.name}</a>' for path in index.glob("*.whl")
    )
    (index / "index.html").write_text(f"<html><body>{links}</body></html>")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "HEADWRIGHT_AUTOGRADER": str(tmp_path),
        "PIP_INDEX_URL": index.parent.as_uri(),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    ran = subprocess.run(
        [tmp_path / "source" / "setup.sh"],
        env=environment,
        text=True,
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert f"Successfully installed headwright-{__version__}" in ran.stdout, ran.stderr
    found = list((tmp_path / "venv").rglob("site-packages/headwright"))
    assert len(found) == 1
    assert not (found[0] / "pretended.py").exists()
    assert (found[0] / "grading" / "autograder" / "gradescope.py").exists()


def _pretend(path: Path, version: str) -> None:
    about = f"headwright-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("headwright/__init__.py", "")
        wheel.writestr("headwright/pretended.py", "")
        wheel.writestr(
            f"{about}/METADATA",
            f"Metadata-Version: 2.1\nName: headwright\nVersion: {version}\n",
        )
        wheel.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{about}/RECORD", "")


def test_an_autograder_has_the_settings_of_the_assignment(tmp_path: Path) -> None:
    chosen = Assignment(
        exercises=("Energy",), points={"copying": 3}, hints="none", timeout=9
    )
    make_autograder(tmp_path / "made", assignment=chosen)
    again = read_assignment(tmp_path / "made" / "assignment.toml")
    assert again.points == {"energy": 1.0, "copying": 3.0}
    assert (again.hints, again.timeout) == ("none", 9.0)
