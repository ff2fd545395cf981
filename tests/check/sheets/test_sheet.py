"""Answer sheets: which formulas answer which exercise, on which line; and that no sheet can do harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.check.exercise import load_exercises
from headwright.check.reading.written import MOST_FORMULAS, Written, find_formulas
from headwright.check.sheets.document import read_document
from headwright.check.sheets.sheet import MOST_ANSWERS, Sheet, parse_sheet
from headwright.check.sheets.text import LARGEST_BYTES, clean
from headwright.errors import InputError

IDS = ["averaging-two", "averaging-two-bounded", "copying", "copying-separated", "low-rank", "two-heads"]


def _read(text: str, exercise: str | None = None, *, latex: bool = False) -> Sheet:
    return parse_sheet(text, "sheet.md", IDS, exercise, latex=latex)


def _found(text: str, exercise: str | None = None) -> list[tuple[str, int]]:
    """Formulas and their lines of the only answer."""
    (answer,) = _read(text, exercise).answers
    return [(formula.text, formula.line) for formula in answer.formulas]


@pytest.mark.parametrize(
    "heading",
    [
        "## averaging-two",
        "# AVERAGING-TWO",
        "## 2b. averaging-two (5 points)",
        "### Exercise 3: `averaging-two`",
        "averaging-two\n-------------",
        "> ## averaging-two",
        "- ## **averaging-two**",
        "   ###### averaging-two ######",
    ],
)
def test_a_heading_with_an_id_starts_an_answer(heading: str) -> None:
    (answer,) = _read(f"{heading}\n\n$q = k_a$\n").answers
    assert answer.exercise_id == "averaging-two"
    assert answer.line == 1
    assert [formula.text for formula in answer.formulas] == ["q = k_a"]


def test_the_longest_word_is_the_id() -> None:
    sheet = _read("## copying-separated\n$a$\n## copying\n$b$\n## averaging-two-bounded\n$c$\n")
    assert [answer.exercise_id for answer in sheet.answers] == ["copying-separated", "copying", "averaging-two-bounded"]
    assert not sheet.complaints


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Take $q = k_a$ or\n$q = k_b$.", [("q = k_a", 3), ("q = k_b", 4)]),
        ("$$q = k_a$$", [("q = k_a", 3)]),
        ("$$\nq = k_a\n+ k_b\n> 0\n$$\nend", [("q = k_a\n+ k_b\n> 0", 4)]),
        ("so $$q =\nk_a$$ and $$b$$", [("q =\nk_a", 3), ("b", 4)]),
        (r"Let \(q = k_a\) be", [("q = k_a", 3)]),
        ("\\[\nq\n- k_a\n\\]", [("q\n- k_a", 4)]),
        ("\\begin{align*}\nA &= B \\\\\n&= C\n\\end{align*}", [("A &= B \\\\\n&= C", 4)]),
        ("$$\\begin{aligned}\nA &= B\n\\end{aligned}$$", [("\\begin{aligned}\nA &= B\n\\end{aligned}", 3)]),
        ("```math\n\nq = k_a\nr = k_b\n```", [("q = k_a\nr = k_b", 5)]),
        ("```latex\nq = k_a\n```", [("q = k_a", 4)]),
        ("~~~ TeX\nq = k_a\n~~~", [("q = k_a", 4)]),
        ("```\nq = k_a\n```", [("q = k_a", 4)]),
        ("```\n$q = k_a$ and\n$r = k_b$\n```", [("q = k_a", 4), ("r = k_b", 5)]),
        ("```python\nq = k_a\n```", []),
        ("    q = k_a\n    r = k_b", [("q = k_a\nr = k_b", 3)]),
        ("\tq = k_a", [("q = k_a", 3)]),
        ("- one\n- two\n  - $q = k_a$\n    $$\n    r = k_b\n    $$", [("q = k_a", 5), ("r = k_b", 7)]),
        ("1. > a\n   > $q = k_a$", [("q = k_a", 4)]),
        ("> $$\n> q = k_a\n> + k_b\n> $$", [("q = k_a\n+ k_b", 4)]),
        ("> ```math\n> q = k_a\n> ```", [("q = k_a", 4)]),
        ("| a | b |\n|---|---|\n| $q$ | $r$ |", [("q", 5), ("r", 5)]),
        ("$q = k_a$\n---", [("q = k_a", 3)]),
        (r"It costs \$5 and `$x$`: $q$", [("q", 3)]),
        ("`` a ` $x$ `` $q$", [("q", 3)]),
        ("$`q = k_a`$", [("q = k_a", 3)]),
        ("$ q = k_a $", [("q = k_a", 3)]),
        ("<!-- for example $x$\n$y$ --> $q$", [("q", 4)]),
        (r"$a \\$ then \\(b\\) $c$", [(r"a \\", 3), ("c", 3)]),
        ("prose alone", []),
    ],
)  # fmt: skip
def test_formulas_are_found_with_their_lines(body: str, expected: list[tuple[str, int]]) -> None:
    assert _found(f"## copying\n\n{body}") == expected


def test_lines_count_alike_whatever_ends_them(tmp_path: Path) -> None:
    text = "\ufeff# Homework\n\n## copying\n\n\tq = 1\n\n$a = 1$\n"
    for ending in ("\n", "\r\n", "\r"):
        path = tmp_path / "sheet.md"
        path.write_bytes(text.replace("\n", ending).encode())
        (answer,) = read_document(path, load_exercises()).answers
        assert (answer.line, [formula.line for formula in answer.formulas]) == (3, [5, 7])


def test_two_headings_with_one_id_are_two_answers() -> None:
    assert [answer.line for answer in _read("# copying\n$a$\n# copying\n$b$").answers] == [1, 3]


def test_a_heading_without_a_formula_is_an_answer_without_formulas() -> None:
    assert _found("## copying\n\nI do not know.") == []


def test_deeper_headings_belong_to_the_answer_and_others_end_it() -> None:
    sheet = _read("## copying\n$a$\n### Step-by-step\n$b$\n## Notes\n$c$\n")
    assert [formula.text for formula in sheet.answers[0].formulas] == ["a", "b"]
    assert not sheet.complaints


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("## averging-two\n\n$q = 1$", 3, "no exercise averging-two; did you mean averaging-two?"),
        ("## Averaging two\n$q = 1$", 2, "no exercise averaging-two; did you mean averaging-two?"),
        ("## averaging_two\n$q = 1$", 2, "no exercise averaging_two; did you mean averaging-two?"),
        ("## some-thing-else\n$q = 1$", 2, "no exercise some-thing-else; 'headwright exercises' lists them"),
        ("$q = 1$\n## copying\n$a$", 1, "a formula before any heading"),
        ("## copying and two-heads\n$q$", 1, "names copying and two-heads: expected one"),
        ("## copying\n\nTake $q = k_a.\n", 3, "$ begins a formula that never ends"),
        ("## copying\n$$q = k_a\n\n## two-heads\n$$a$$\n", 2, "$$ begins a formula that never ends"),
        ("", 1, "no answer was found"),
        ("only prose", 1, "no answer was found"),
    ],
)
def test_complaints_say_where_and_what(text: str, line: int, sentence: str) -> None:
    complaint = _read(text).complaints[0]
    assert complaint.place == f"sheet.md:{line}"
    assert sentence in complaint.sentence


def test_names_in_prose_are_no_answers_unless_there_is_nothing_else() -> None:
    assert _found("## copying\nFor any $\\lambda$ and \\(n\\):\n$q = \\lambda k_a$") == [("q = \\lambda k_a", 3)]
    assert _found("## copying\nTake $\\lambda k_a$.") == [("\\lambda k_a", 2)]
    assert _found("## copying\n$$\\lambda k_a$$ and $q \\gg 1$") == [("\\lambda k_a", 2), ("q \\gg 1", 2)]


def test_a_heading_that_names_nothing_is_no_matter() -> None:
    sheet = _read("# Homework 3\nLet $n$ be given.\n## copying\n$a$\n## 1-2\n$c$")
    assert len(sheet.answers) == 1
    assert not sheet.complaints


def test_with_an_exercise_no_heading_is_needed() -> None:
    assert _found("Take\n$q = k_a$", "copying") == [("q = k_a", 2)]
    assert _found("nothing", "copying") == []
    sheet = _read(
        "# Homework\n## First try\n$a=1$\n### so\n$b=1$\n## Second try\n$c=1$\n## two-heads\n$d=1$", "copying"
    )
    assert [(answer.line, len(answer.formulas)) for answer in sheet.answers] == [(2, 2), (6, 1)]
    assert {answer.exercise_id for answer in sheet.answers} == {"copying"}


def test_latex_files_have_sections_for_headings() -> None:
    text = "\\section{Homework}\n\\subsection*{copying (2 points)}\n  Take % $x$\n  \\[ q = k_a \\]\n100\\% of $b=1$\n"
    (answer,) = _read(text, latex=True).answers
    assert [(formula.text, formula.line) for formula in answer.formulas] == [("q = k_a", 4), ("b=1", 5)]


def test_there_are_bounds_and_they_are_told() -> None:
    sheet = _read("# copying\n$a$\n" * (MOST_ANSWERS + 50))
    assert len(sheet.answers) == MOST_ANSWERS
    assert [complaint.line for complaint in sheet.complaints] == [2 * MOST_ANSWERS + 1]
    sheet = _read("# copying\n" + "$a=1$ " * (MOST_FORMULAS + 50))
    assert len(sheet.answers[0].formulas) == MOST_FORMULAS
    assert len(sheet.complaints) == 1


def test_what_steers_a_terminal_does_not_pass() -> None:
    assert clean("a\x1b[2J\x07\u202eb\tc\n\x9b") == "a\ufffd[2J\ufffd\ufffdb\tc\n\ufffd"


MEGABYTE = LARGEST_BYTES - 100
HOSTILE = {
    "quotes in one line": ">" * MEGABYTE,
    "quotes in many lines": (">" * 50 + "\n") * 19_000,
    "nested lists": "\n".join("  " * depth + "- a" for depth in range(1000)),
    "lists in lists": ("1. " * 17 + "\n") * 19_000,
    "all sorts nested": "> - > - > - 1. > x\n" * 19_000,
    "headings": "# a\n" * 19_000,
    "headings with ids": "# copying\n" * 19_000,
    "headings with nearly ids": "# a-b-averaging-tw\n$x$\n" * 9_000,
    "dollars": "$" * MEGABYTE,
    "lone dollars": "$ " * (MEGABYTE // 2),
    "open displays": "$$ a\n" * 19_000,
    "open brackets": "\\(" * (MEGABYTE // 2),
    "open environments": "\\begin{align}\n" * 19_000,
    "backticks": "".join("`" * length + " " for length in range(1, 1400)),
    "backslashes": "\\" * MEGABYTE,
    "comments": "<!--" * (MEGABYTE // 4),
    "links": "![](" * (MEGABYTE // 4),
    "one line": "a" * MEGABYTE,
    "one word in a heading": "# " + "a-" * (MEGABYTE // 2) + "\n$x$",
    "tabs": "\t" * MEGABYTE,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_sheets_are_read_in_bounded_time(name: str) -> None:
    code = "from headwright.check.sheets import sheet, text; sheet.parse_sheet(text.read_text('-'), '-', ['copying'])"
    subprocess.run([sys.executable, "-c", code], input=HOSTILE[name].encode(), timeout=30, check=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"# copying\n$a$\0", "zero byte"),
        (b"# copying\n$\xff$", "not text in UTF-8 (line 2)"),
        ("# copying".encode("utf-16"), "UTF-8"),
        (b"a" * (LARGEST_BYTES + 1), "more than 1,048,576 bytes"),
        (b"\n" * 30_000, "more than 20,000 lines"),
    ],
)
def test_what_is_no_sheet_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "sheet.md"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"sheet\.md: ") as refused:
        read_document(path, load_exercises())
    assert said in str(refused.value)


def test_what_never_ends_is_refused_unread(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.md"
    os.mkfifo(fifo)
    huge = tmp_path / "huge.md"
    with huge.open("wb") as file:
        file.truncate(10**8)
    for path in (fifo, Path("/dev/zero"), huge, tmp_path, tmp_path / "missing.md", Path("a\0b")):
        with pytest.raises(InputError):
            read_document(path, load_exercises())


@given(st.text(alphabet="#$\\()[]`> -\n1a|~:_*", max_size=80))
def test_any_text_is_read_and_every_line_is_true(text: str) -> None:
    sheet = parse_sheet("# copying\n" + text, "sheet.md", IDS)
    lines = ("# copying\n" + text).split("\n")
    for answer in sheet.answers:
        for formula in answer.formulas:
            assert formula.text.split("\n")[0].strip() in lines[formula.line - 1]


@given(st.text(alphabet="$\\()[]`ab \n", max_size=60))
def test_formulas_lie_where_they_are_said_to(text: str) -> None:
    for piece in find_formulas(text)[0]:
        assert text[piece.start :].startswith(piece.text)


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (r"$k_i = 0$ for all $i \ne a$", [r"k_i = 0 \text{ for all } i \ne a"]),
        (r"$k_i^\top k_j = 0$ for every $i, j$", [r"k_i^\top k_j = 0 \text{ for all } i, j"]),
        (r"$q = k_a$ for all $n$", ["q = k_a"]),  # n is no index
        (r"$k_i = 0$ for some $i \ne a$", ["k_i = 0", r"i \ne a"]),
    ],
)
def test_for_which_keys_a_formula_is_meant_belongs_to_it(text: str, formulas: list[str]) -> None:
    sheet = parse_sheet(f"## copying\n\n{text}\n", "sheet.md", ["copying"])
    assert [formula.text for formula in sheet.answers[0].formulas] == formulas


def test_an_answer_carries_its_text_and_the_line_where_that_begins() -> None:
    text = "# My sheet\n\n## copying\n\nTake it,\nthen $q = k_j$.\n\n## averaging-two\nNothing yet: $q = 0$"
    first, second = parse_sheet(text, "sheet.md", ["copying", "averaging-two"]).answers
    assert first.written == Written("\nTake it,\nthen $q = k_j$.\n", 4)
    assert second.written == Written("Nothing yet: $q = 0$", 9)
