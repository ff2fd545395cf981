"""headwright check, as students and teachers run it."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.cli.running import INTERRUPTED, Headwright
from tests.grading.autograder.test_gradescope import check_schema

RIGHT = "## 1. averaging-two\n\nAny $\\lambda$ that is large enough:\n\n$$q = \\lambda (k_a + k_b)$$\n"
WRONG = "## 2. averaging-two (5 points)\n\n$$q = \\frac{1}{\\sqrt 2}(k_a + k_b)$$\n"
WORDS = "## averaging-two\n\nTake the sum of both keys, scaled up.\n"
BAD = "## 3. averaging-two\n\n$$q = \\frac{1}{$$\n"


@pytest.fixture(autouse=True)
def sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("right.md").write_text(RIGHT)
    Path("wrong.md").write_text(WRONG)
    Path("bad.md").write_text(BAD)


def test_a_right_answer_is_proved(headwright: Headwright) -> None:
    ran = headwright("check", "right.md")
    assert ran.code == 0
    assert ran.out.startswith(
        "averaging-two (line 1)\n  proved     q = lambda (k_a + k_b) (line 5): "
    )
    assert "             from lambda >= " in ran.out


@pytest.mark.parametrize(
    "step",
    [
        r"\operatorname{relu}(x + y) = \operatorname{relu}(x) + \operatorname{relu}(y)",
        r"Q_p K_p^\top = P Q K^\top",
    ],
)
def test_a_false_step_of_a_derivation_has_exit_1_and_is_named(
    step: str, headwright: Headwright
) -> None:
    Path("derived.md").write_text(
        f"## permutation\n\n$${step}$$\n\n"
        r"$H_p = \operatorname{softmax}(P Q K^\top P^\top/\sqrt d) P V = P H$, so $Z_p = P Z$."
    )
    ran = headwright("check", "derived.md")
    assert ran.code == 1
    assert (
        "undecided  Z_p = P Z (line 5): line 3 is false as it stands, among the steps"
        in ran.out
    )


def test_a_wrong_answer_is_refuted_with_a_counterexample(
    headwright: Headwright,
) -> None:
    ran = headwright("check", "wrong.md")
    assert ran.code == 1
    assert "  refuted    q = (1/sqrt(2)) (k_a + k_b) (line 3): with n = 3" in ran.out
    assert "suggestion: " in ran.out


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_hints_hold_back_the_remedy(
    how: tuple[str, ...], headwright: Headwright
) -> None:
    full, less = (
        headwright("check", "wrong.md", *how),
        headwright("check", "wrong.md", "--hints", "direction", *how),
    )
    assert (full.code, less.code) == (1, 1)
    assert "lambda" in full.out
    assert "lambda" not in less.out
    assert headwright("check", "wrong.md", "--hints", "some").code == 2


def test_an_error_in_a_formula_is_shown_with_its_caret(headwright: Headwright) -> None:
    ran = headwright(
        "check", "--formula", r"q = \frac{1}{", "--exercise", "averaging-two"
    )
    assert ran.code in (1, 3)
    lines = ran.out.splitlines()
    at = next(
        number
        for number, line in enumerate(lines)
        if line.startswith("  undecided  q = ")
    )
    assert lines[at + 1].strip() == "^"
    assert lines[at][lines[at + 1].index("^")] == "{"


def test_several_answers_end_in_a_table_with_counts(headwright: Headwright) -> None:
    ran = headwright("check", "right.md", "wrong.md", "bad.md")
    assert ran.code == 1
    assert ran.out.splitlines()[-1].startswith("3 answers: 1 proved, ")
    assert "averaging-two (right.md:1)" in ran.out
    assert "\x1b" not in ran.out


def test_json_has_every_field(headwright: Headwright) -> None:
    found = headwright("check", "wrong.md", "--json", "--seed", "7")
    assert found.code == 1
    assert found.json["seed"] == 7
    (answer,) = found.json["answers"]
    assert (answer["file"], answer["line"], answer["exercise"]) == (
        "wrong.md",
        1,
        "averaging-two",
    )
    assert answer["verdict"] == "refuted"
    (part,) = answer["asked"]
    assert (part["part"], part["verdict"], part["line"]) == ("q", "refuted", 3)
    assert part["counterexample"]["n"] >= 2
    assert {
        "reason",
        "formulas",
        "to_read",
        "threshold",
        "suggestion",
        "seconds",
    } <= set(answer)
    assert found.json["version"] == 2
    assert found.json["counts"]["refuted"] == 1


def test_all_that_can_be_written_is_written(headwright: Headwright) -> None:
    ran = headwright(
        "check",
        "wrong.md",
        "right.md",
        "--out",
        "r.html",
        "--gradescope",
        "g.json",
        "--plot",
        "p.svg",
    )
    assert ran.code == 1
    check_schema(json.loads(Path("g.json").read_text()))
    assert "<svg" in Path("r.html").read_text()
    assert Path("p.svg").read_text().startswith("<svg")


def test_several_formulas_make_one_answer(headwright: Headwright) -> None:
    formulas = (
        "--formula",
        r"q_1 = \lambda \mu_a",
        "--formula",
        r"q_2 = \lambda \mu_b",
    )
    ran = headwright("check", *formulas, "--exercise", "two-heads", "--json")
    assert len(ran.json["answers"]) == 1
    assert ran.json["answers"][0]["verdict"] == "proved"


def test_with_an_exercise_a_sheet_needs_no_heading(headwright: Headwright) -> None:
    Path("bare.md").write_text("Take\n$q = \\lambda (k_a + k_b)$.\n")
    assert headwright("check", "bare.md", "--exercise", "Averaging-Two").code == 0
    assert "matched    by similarity" in headwright("check", "bare.md").out


def test_standard_input_is_a_sheet_too(
    headwright: Headwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RIGHT.encode())))
    assert "averaging-two (line 1)" in headwright("check", "-").out


def test_a_sheet_that_cannot_be_read_does_not_hide_the_others(
    headwright: Headwright,
) -> None:
    Path("binary.md").write_bytes(b"\0\1\2")
    ran = headwright("check", "binary.md", "missing.md", "right.md")
    assert ran.code == 2
    assert "proved" in ran.out
    assert "binary.md: is not text" in ran.err
    assert "missing.md: there is no such file" in ran.err


def test_no_verdict_in_time_has_exit_3(headwright: Headwright) -> None:
    ran = headwright("check", "right.md", "--timeout", "0.001")
    assert ran.code == 3
    assert "  undecided  the check was stopped: no verdict within 0.001 s" in ran.out
    assert headwright("check", "right.md", "wrong.md", "--timeout", "0.001").code == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected answer sheets"),
        (["right.md", "--formula", "q = k_a"], "expected answer sheets, or --formula"),
        (["--formula", "q = k_a"], "--formula needs --exercise"),
        (
            ["--formula", "q = k_a", "--exercise", "avraging-two"],
            "did you mean averaging-two?",
        ),
        (["right.md", "--exercises", "nowhere"], "nowhere"),
        (["right.md", "--out", "no/where.html"], "there is no folder no"),
        (["right.md", "--out", "class.pdf"], "expected a name that ends in .html"),
        (["right.md", "--gradescope", "no/where.json"], "there is no folder no"),
        (["right.md", "--plot", "p.bmp"], "expected one of .svg"),
        (["right.md", "--timeout", "0"], "expected more than 0"),
        (["right.md", "--points", "copying=1"], "goes with --make-autograder"),
        (
            ["--make-autograder", "made", "--points", "coping=1"],
            "did you mean copying?",
        ),
    ],
)
def test_what_cannot_be_used_is_told(
    arguments: list[str], said: str, headwright: Headwright
) -> None:
    ran = headwright("check", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_an_autograder_is_made(headwright: Headwright) -> None:
    ran = headwright(
        "check", "--make-autograder", "made", "--points", "averaging-two=5"
    )
    assert ran.code == 0
    assert "made" in ran.err
    assert "averaging-two = 5" in Path("made/assignment.toml").read_text()


def test_exercises_of_ones_own_are_checked(headwright: Headwright) -> None:
    own = (
        Path(__file__).parents[2]
        / "src/headwright/grading/exercises/averaging-two.toml"
    )
    Path("own").mkdir()
    Path("own/mine.toml").write_text(
        own.read_text().replace('id = "averaging-two"', 'id = "my-own"')
    )
    Path("mine.md").write_text(RIGHT.replace("averaging-two", "my-own"))
    assert headwright("check", "mine.md", "--exercises", "own").code == 0


def test_modules_that_lie_about_are_not_imported(headwright: Headwright) -> None:
    for name in ("json", "sympy", "headwright", "z3"):
        Path(f"{name}.py").write_text("raise SystemExit('owned')")
    assert headwright("check", "right.md").code == 0


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc")
def test_ctrl_c_ends_it_in_one_sentence() -> None:
    Path("many.md").write_text(
        "## two-heads\n\n$$q_1 = \\log(s) u_a, q_2 = \\log(t) u_b$$\n" * 400
    )  # minutes of work
    command = [sys.executable, "-m", "headwright", "check", "many.md"]
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # it may be ignored where the tests run
    )
    started = Path(f"/proc/{running.pid}/task")
    while not any(
        each.read_text() for each in started.glob("*/children")
    ):  # until it has workers
        assert running.poll() is None
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode in INTERRUPTED
    assert said.strip() == "error: interrupted; nothing was written"


def test_a_restated_question_is_missing_and_exits_1(headwright: Headwright) -> None:
    ran = headwright(
        "check", "--exercise", "energy", "--formula", r"\|A\|_F^2 = \sum_i \sigma_i^2"
    )
    assert ran.code == 1
    assert "  missing    derivation: this restates what is to be shown" in ran.out


def test_a_right_object_beside_a_false_formula_is_proved_and_exits_1(
    headwright: Headwright,
) -> None:
    Path("both.md").write_text(RIGHT + "\nThen\n\n$$\\alpha_a = 1$$\n")
    ran = headwright("check", "both.md")
    assert ran.code == 1
    assert "  proved     q = " in ran.out
    assert "  formulas   1 true, 1 false\n    line 9   false   alpha_a = 1: " in ran.out


def test_words_are_listed_to_read_and_decide_nothing(headwright: Headwright) -> None:
    Path("words.md").write_text(
        RIGHT + "\nThis is as easy as pie, and a naive idea would be $q = k_a$.\n"
    )
    ran = headwright("check", "words.md")
    assert ran.code == 0
    assert "quoted  q = k_a" not in ran.out
    assert "  to read    line 7: this is as easy as pie" in ran.out
    assert "quoted  q = k_a" in headwright("check", "words.md", "-v").out


def test_a_class_is_sorted_by_false_formulas_then_by_what_there_is_to_read(
    headwright: Headwright,
) -> None:
    Path("class/ada").mkdir(parents=True)
    Path("class/ada/answers.md").write_text(RIGHT)
    Path("class/ben.md").write_text(WRONG)
    Path("class/cleo.md").write_text(RIGHT + "\n$$\\alpha_a = 1$$\n")
    Path("class/dan.md").write_text(RIGHT + "\nThis is as easy as pie.\n")
    Path("class/eve.md").write_text("## Zebras\n\nstripes\n")
    ran = headwright("check", "class", "--class", "--out", "class.html")
    assert [line.split()[0] for line in ran.out.splitlines()[1:6]] == [
        "cleo",
        "dan",
        "ada",
        "ben",
        "eve",
    ]
    page = Path("class.html").read_text()
    assert page.index(">cleo<") < page.index(">dan<") < page.index(">ada<")
    assert headwright("check", "right.md", "--class").code == 2


def test_a_file_that_holds_a_formula_alone_is_read_where_the_exercise_is_given(
    headwright: Headwright,
) -> None:
    Path("mine.txt").write_text("q = 2(k_a + k_b)\n")
    ran = headwright("check", "--exercise", "averaging-two", "mine.txt")
    assert ran.code == 1
    assert "the direction is right, the length is not" in ran.out


def test_nobody_of_a_class_is_passed_over_in_silence(headwright: Headwright) -> None:
    Path("class/finn").mkdir(parents=True)
    Path("class/finn/photo.jpg").write_bytes(b"")
    Path("class/gil").mkdir()
    Path("class/ada.md").write_text(RIGHT)
    Path("class/dan.txt").write_text("nothing to see\n")
    Path("class/kim.pdf").write_bytes(b"%PDF-1.4")
    Path("class/marks.csv").write_text("1,2\n")
    ran = headwright("check", "class", "--class")
    assert ran.code == 2
    assert {line.split()[0] for line in ran.out.splitlines()[1:6]} == {
        "ada",
        "dan",
        "finn",
        "gil",
        "kim",
    }
    assert (
        "kim.pdf  not read: expected text, Markdown, LaTeX, HTML or a notebook"
        in ran.out
    )
    assert "finn/photo.jpg  not read" in ran.out
    assert "gil: no answer sheet" in ran.err


def test_a_file_that_is_no_text_is_named(headwright: Headwright) -> None:
    Path("answers.pdf").write_bytes(b"%PDF-1.4 text all the same")
    ran = headwright("check", "answers.pdf", "right.md")
    assert ran.code == 2
    assert "answers.pdf: not read: expected text" in ran.err
    assert "  proved  " in ran.out


def test_a_folder_stands_for_its_sheets_in_the_order_of_their_numbers(
    headwright: Headwright,
) -> None:
    Path("class").mkdir()
    for number in (10, 2, 1):
        Path(f"class/student {number}.md").write_text(WRONG)
    Path("class/marks.csv").write_text("1,2\n")
    ran = headwright("check", "class", "--json")
    assert ran.code == 1
    assert [each["file"] for each in ran.json["answers"]] == [
        f"class/student {number}.md" for number in (1, 2, 10)
    ]


def test_a_folder_without_sheets_says_what_was_expected(headwright: Headwright) -> None:
    Path("empty").mkdir()
    ran = headwright("check", "empty", "right.md")
    assert ran.code == 2
    assert (
        "empty: no answer sheet in this folder: expected files that end in .md"
        in ran.err
    )
    assert "  proved  " in ran.out


def test_tables_have_no_spaces_at_the_end_of_a_line(headwright: Headwright) -> None:
    ran = headwright("check", "right.md", "wrong.md", "bad.md")
    Path("class").mkdir()
    Path("class/ada.md").write_text(WRONG)
    Path("class/ben.md").write_text(RIGHT)
    room = headwright("check", "class", "--class")
    assert [
        line for line in (ran.out + room.out).splitlines() if line != line.rstrip()
    ] == []


def test_one_answer_that_runs_wild_spoils_no_other(headwright: Headwright) -> None:
    Path("wild.md").write_text(
        "## averaging-two\n\n$q = " + "(" * 5000 + "$\n\n"
        "## averaging-two\n\n"
        + "$q = k_a$ " * 10_000
        + "\n\n## averaging-two\n\n$$ q = \\frac{1}{ \n\n"
        + RIGHT
    )
    ran = headwright("check", "wild.md", "--json")
    assert ran.json["answers"][-1]["verdict"] == "proved"
    assert all(
        one["reason"] and one["verdict"] != "proved" for one in ran.json["answers"][:-1]
    )


HOMEWORK = """title = "Week 3"
hints = "none"
[points]
averaging-two = 4
energy = 2
"""


def test_a_class_is_graded_by_its_assignment_and_decided_by_a_person(
    headwright: Headwright,
) -> None:
    Path("week.toml").write_text(HOMEWORK)
    with zipfile.ZipFile("class.zip", "w") as archive:
        for name, text in {"Ada Ash_7": RIGHT, "Ben Birk_8": WORDS}.items():
            archive.writestr(f"{name}_assignsubmission_file_/hw.md", text)
    command = ["check", "--class", "class.zip", "--assignment", "week.toml"]
    first = headwright(*command, "--out", "class.html", "--csv", "moodle")
    assert "Participant 7,Ada Ash,4,6," in Path("class-moodle.csv").read_text()
    assert "Participant 8,Ben Birk,,6," in Path("class-moodle.csv").read_text()
    assert "1 answer is left for you" in first.err
    lines = list(csv.reader(Path("decisions.csv").read_text().splitlines()))
    assert [line[:5] for line in lines[1:]] == [
        ["Ben Birk", "averaging-two", "missing", "", "4"]
    ]
    lines[1][3], lines[1][5] = "2.5", "a good idea"
    with Path("decisions.csv").open("w") as file:
        csv.writer(file).writerows(lines)
    again = headwright(
        *command, "--out", "class.html", "--feedback", "feedback", "--anonymous"
    )
    assert "left for you" not in again.err
    assert "Ben" not in again.out + Path("class.html").read_text()
    assert "Ben Birk,,,2.5,0,0,0,2.5,2.5,0,1" in Path("class.csv").read_text()
    assert "a good idea" in Path("feedback/Ben-Birk.html").read_text()
    assert "a good idea" in Path("decisions.csv").read_text()


def test_markdown_cells_of_a_notebook_are_read(headwright: Headwright) -> None:
    cells = [
        {"cell_type": "markdown", "source": RIGHT.splitlines(keepends=True)},
        {"cell_type": "code", "source": ["## averaging-two\n", "$q = 0$"]},
    ]
    Path("mine.ipynb").write_text(json.dumps({"cells": cells}))
    ran = headwright("check", "mine.ipynb")
    assert ran.code == 0
    assert "averaging-two (line 1)" in ran.out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["right.md", "--anonymous"], "go with --class"),
        (["--class", ".", "--csv", "canvas"], "--csv needs --out"),
        (["--class", ".", "--feedback", "no/where"], "there is no folder no"),
        (["right.md", "--assignment", "none.toml"], "none.toml cannot be read"),
    ],
)
def test_options_of_a_class_that_do_not_fit_are_refused(
    headwright: Headwright, options: list[str], sentence: str
) -> None:
    ran = headwright("check", *options)
    assert ran.code == 2
    assert sentence in ran.err
