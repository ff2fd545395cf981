"""Whole documents: which part answers which exercise, and what is only asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.sheets.document import parse_document, read_document
from headwright.grading.sheets.outline import MOST_SECTIONS
from headwright.grading.sheets.sheet import Sheet

EXERCISES = load_exercises()
DOCUMENTS = Path(__file__).parents[1] / "documents"


def _read(text: str, *, latex: bool = False) -> Sheet:
    return parse_document(text, "homework.txt", EXERCISES, latex=latex)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "student.md",
            {
                9: "copying",
                19: "averaging-two",
                30: "averaging-gaussian",
                38: "two-heads",
                46: "energy",
                54: "kth-singular-value",
            },
        ),
        (
            "lazy.txt",
            {
                3: "copying",
                5: "averaging-two",
                11: "averaging-gaussian",
                15: "permutation",
                23: "positions-unique",
            },
        ),
        ("teacher.tex", {13: "taking-apart", 31: "kth-singular-value", 33: "low-rank"}),
    ],
)
def test_the_parts_of_a_document_answer_these_exercises(
    name: str, parts: dict[int, str]
) -> None:
    sheet = read_document(DOCUMENTS / name, EXERCISES)
    assert {answer.line: answer.exercise_id for answer in sheet.answers} == parts
    assert not sheet.problems
    assert all(answer.chosen for answer in sheet.answers)


@pytest.mark.parametrize("name", ["student.md", "lazy.txt", "teacher.tex"])
def test_every_line_of_an_answer_stands_where_it_is_said_to(name: str) -> None:
    lines = (DOCUMENTS / name).read_text().split("\n")
    for answer in read_document(DOCUMENTS / name, EXERCISES).answers:
        for number, line in enumerate(
            answer.written.text.split("\n"), answer.written.line
        ):
            assert line.strip() in lines[number - 1]


def test_a_formula_without_words_is_not_judged() -> None:
    (note,) = read_document(DOCUMENTS / "lazy.txt", EXERCISES).notes
    assert note.line == 25
    assert "not judged ((3) q = 7 k_a): " in note.sentence


QUESTIONS = """\
1. The keys are orthonormal. Find a query whose output is the average of two values, $c \\approx \\frac12 (v_a + v_b)$.
2. Are the position embeddings of two different positions ever the same, $\\Phi_t = \\Phi_{t'}$?
"""


def test_a_document_that_only_asks_holds_no_answer() -> None:
    sheet = _read(QUESTIONS)
    assert not sheet.answers
    assert "only questions" in sheet.problems[0].sentence


def test_answers_are_paired_with_questions_by_their_labels() -> None:
    text = (
        QUESTIONS
        + "\nSolution:\n\n1. $q = \\lambda (k_a + k_b)$\n2. No, they are never the same.\n"
    )
    assert [(each.exercise_id, each.line) for each in _read(text).answers] == [
        ("averaging-two", 6),
        ("positions-unique", 7),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# Questions\n1. Find the average of two values.\n2. Project onto the subspace.\n\n# Answers\n"
        "1. $q = 9 (k_a + k_b)$\n2. $M = A A^\\top$\n",
        "3 (a) Average of two values [5 points]\nSet $q = 9 (k_a + k_b)$.\n"
        "3 (b) Subspaces [5 points]\nSet $M = A A^\\top$.\n",
        "### Question 1\nFind the average of two values.\n### Answer\n$q = 9 (k_a + k_b)$\n"
        "### Question 2\nProject onto the subspace.\n### Answer\n$M = A A^\\top$\n",
    ],
)
def test_two_answers_are_found_however_they_are_laid_out(text: str) -> None:
    answers = _read(text).answers
    assert [each.exercise_id for each in answers] == ["averaging-two", "taking-apart"]
    assert "q = 9 (k_a + k_b)" in answers[0].written.text
    assert "M = A A^\\top" in answers[1].written.text
    assert "M" not in answers[0].written.text


def test_problems_and_solutions_in_latex_are_read() -> None:
    text = (
        "\\begin{problem}[Averages]\nFind the average of two values.\n\\begin{solution}\n\\[ q = 9 (k_a + k_b) \\]\n"
        "\\end{solution}\n\\end{problem}\n\\begin{problem}\nProject onto the subspace.\n"
        "\\paragraph{Solution.} $M = A A^\\top$\n\\end{problem}\n"
    )
    assert [
        (each.exercise_id, each.line) for each in _read(text, latex=True).answers
    ] == [("averaging-two", 3), ("taking-apart", 9)]


def test_nothing_of_an_answer_with_two_marks_is_lost() -> None:
    text = "## 1 Average two values\n\nSolution: Take $q = 9 (k_a + k_b)$.\n\nProof: $k_a^\\top q = 9$.\n"
    (answer,) = _read(text).answers
    assert "q = 9" in answer.written.text
    assert "= 9$" in answer.written.text


def test_an_answer_below_several_questions_answers_all_of_them() -> None:
    text = (
        "(i) Under which condition is almost all of its weight on one $\\alpha_j$?\n\n"
        "(ii) Describe the output then.\n\n"
        "Answer: If $k_j^\\top q \\gg k_i^\\top q$. Then $c \\approx v_j$.\n"
    )
    (answer,) = _read(text).answers
    assert (answer.exercise_id, answer.line) == ("copying", 5)


def test_what_an_earlier_part_defines_is_taken_over() -> None:
    text = (
        "(i) With covariances $\\Sigma_i$ that vanish, $q = 9 (\\mu_a + \\mu_b)$ gives the average.\n\n"
        "(ii) For $\\Sigma_a = \\alpha I + \\frac12 \\mu_a \\mu_a^\\top$ the magnitude of $k_a$ varies: "
        "$c \\approx v_a$ or $c \\approx v_b$.\n"
    )
    first, second = _read(text).answers
    assert (first.exercise_id, second.exercise_id) == (
        "averaging-gaussian",
        "averaging-scaled",
    )
    assert second.chosen.endswith("q is taken from line 1")
    assert second.written.line == 1
    assert "\n\nFor $" in second.written.text


def test_steps_of_an_answer_are_no_answers_of_their_own() -> None:
    text = (
        "(a) Show that the layer is permutation equivariant, $Z_p = P Z$.\n\nProof:\n\n"
        "1. $Q_p = P Q$ and $K_p = P K$.\n2. $H_p = P H$ since softmax is permuted along.\n3. So $Z_p = P Z$.\n"
    )
    (answer,) = _read(text).answers
    assert answer.exercise_id == "permutation"
    assert (answer.written.line, answer.written.lines) == (5, 3)


def test_a_heading_with_an_id_wins_and_the_rest_stays_a_document() -> None:
    text = (
        "Question 1: Average two values\n\nAnswer: $q = \\lambda (k_a + k_b)$ for orthonormal keys.\n\n"
        "Question 2: Average two values\n\n## averaging-gaussian\n\n"
        "Answer: $q = \\lambda (k_a + k_b)$ for orthonormal keys.\n"
    )
    assert [each.exercise_id for each in _read(text).answers] == [
        "averaging-two",
        "averaging-gaussian",
    ]


def test_an_option_wins_over_everything() -> None:
    text = "Question 1: Average two values\n\nAnswer: $q = \\lambda (k_a + k_b)$.\n"
    sheet = parse_document(text, "homework.txt", EXERCISES, "averaging-gaussian")
    assert {each.exercise_id for each in sheet.answers} == {"averaging-gaussian"}


def test_an_id_or_a_title_alone_in_a_line_is_a_heading() -> None:
    text = "copying\n\n$k_j^\\top q \\gg k_i^\\top q$\n\nAverage two values\n\n$q = 9 (k_a + k_b)$\n"
    assert [(each.exercise_id, each.line) for each in _read(text).answers] == [
        ("copying", 1),
        ("averaging-two", 5),
    ]


def test_there_are_no_more_answers_than_one_may_hand_in() -> None:
    text = "".join(
        f"Question {number % 90 + 1}: Average two values\n\nAnswer: $q = k_a + k_b$\n\n"
        for number in range(1200)
    )
    sheet = _read(text)
    assert len(sheet.answers) < MOST_SECTIONS
    assert "more than 1000 sections" in sheet.problems[-1].sentence


HOSTILE = {
    "labels": "(a) $q = k_a$\n\n" * 6000,
    "headings": "# 1\n" * 19_000,
    "marks": "Solution:\n" * 19_000,
    "one long line": "(a) average " + "q = " * 200_000,
    "stars": "**" * 400_000,
    "braces": "\\textbf{" * 100_000,
    "displays": "$$\n" * 19_000,
    "questions": "Why? " * 180_000,
    "spaces": " " * 900_000 + "Solution:",
    "dashes": "(a)-" * 200_000,
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_documents_are_read(name: str) -> None:
    assert len(_read(HOSTILE[name]).answers) <= MOST_SECTIONS


WORDS = st.sampled_from(
    [
        "Find $q$.",
        "(a) Average of two",
        "(b) Copying",
        "Solution:",
        "$q = k_a + k_b$",
        "$c \\approx v_j$",
        "",
        "## copying",
        "average",
        "orthonormal keys",
        "(i) x",
        "(ii) y",
        "Question 3",
        "\\item z",
        "\\begin{enumerate}",
        "$$",
        "Proof.",
        "two heads $q_1 = k_a$",
    ]
)


@settings(max_examples=60)
@given(
    st.lists(
        WORDS | st.text(max_size=15).filter(lambda line: not re.search(r"\r|\n", line)),
        max_size=30,
    ),
    st.booleans(),
)
def test_any_document_is_read_and_every_line_is_true(
    lines: list[str], latex: bool
) -> None:
    text = "\n".join(lines)
    sheet = _read(text, latex=latex)
    told = [*(one.line for one in sheet.answers), *(one.line for one in sheet.problems)]
    assert all(
        1 <= line <= len(lines) + 1
        for line in [*told, *(one.line for one in sheet.notes)]
    )
    for answer in sheet.answers:
        assert answer.exercise_id in EXERCISES
        assert (
            1
            <= answer.written.line
            <= answer.written.line + answer.written.lines - 1
            <= len(lines) + 1
        )


def test_commands_of_the_preamble_are_put_in_before_sections_are_matched() -> None:
    text = (
        "\\newcommand{\\kk}[1]{\\mathbf{k}_{#1}}\n\\newcommand{\\qq}{\\vec}\n\\def\\loop{\\loop\\loop}\n\\begin{document}\n"
        "\\section{Averages}\nThe keys are orthonormal. Find the average of two values.\n\n"
        "\\textbf{Solution.} $q = \\lambda(\\kk{a} + \\kk{b})$\n\\loop\n\\end{document}\n"
    )
    (answer,) = _read(text, latex=True).answers
    assert (answer.exercise_id, answer.line) == ("averaging-two", 8)
    assert "\\mathbf{k}_{a} + \\mathbf{k}_{b}" in answer.written.text


def test_a_question_below_a_named_heading_is_no_part_of_the_answer() -> None:
    (answer,) = _read(
        "## averaging-two\n\nFind a query $q = k_a$?\n\nSolution: $q = 9 (k_a + k_b)$\n"
    ).answers
    assert (answer.written.text, answer.written.line) == ("$q = 9 (k_a + k_b)$", 5)


def test_macros_of_the_preamble_go_with_every_answer() -> None:
    text = (
        "\\documentclass{article}\n\\newcommand{\\vq}{\\mathbf{q}}\n\\begin{document}\n\\section{averaging-two}\n"
        "$\\vq = \\lambda (k_a + k_b)$\n\\section{copying}\n$k_j^\\top \\vq \\gg k_i^\\top \\vq$\n\\end{document}\n"
    )
    answers = _read(text, latex=True).answers
    assert [(each.exercise_id, each.line) for each in answers] == [
        ("averaging-two", 4),
        ("copying", 6),
    ]
    assert all("newcommand" in each.written.macros for each in answers)
    words = [grade(EXERCISES[each.exercise_id], each.written).word for each in answers]
    assert words == ["proved", "proved"]


@pytest.mark.parametrize(
    "heading",
    [
        "## averaging-two",
        "# AVERAGING-TWO",
        "## 2b. averaging-two (5 points)",
        "### Exercise 3: `averaging-two`",
        "averaging-two\n-------------",
        "> ## averaging-two",
        "   ###### averaging-two ######",
        "**averaging-two**",
        "averaging-two",
        "## averaging_two",
        "## Average two values",
    ],
)
def test_a_heading_with_an_id_or_a_title_says_it(heading: str) -> None:
    (answer,) = _read(f"{heading}\n\n$q = k_a$\n").answers
    assert (answer.exercise_id, answer.line, answer.chosen) == ("averaging-two", 1, "")
    assert "q = k_a" in answer.written.text


def test_deeper_headings_belong_to_the_answer_and_others_end_it() -> None:
    sheet = _read(
        "## copying\n$a = 1$\n### Step-by-step\n$b = 1$\n\n1. $d = 1$\n\n(a) $e = 1$\n## Notes\n$c = 1$\n"
    )
    assert [name in sheet.answers[0].written.text for name in "abdec"] == [
        True,
        True,
        True,
        True,
        False,
    ]
    assert len(sheet.notes) == 1


def test_a_heading_with_nothing_below_it_is_an_answer_that_is_missing() -> None:
    (answer,) = _read("## averaging-two\n").answers
    assert grade(EXERCISES["averaging-two"], answer.written).word == "missing"


def test_two_headings_with_one_id_are_two_answers() -> None:
    assert [
        answer.line for answer in _read("# copying\n$a=1$\n# copying\n$b=1$").answers
    ] == [1, 3]


def test_a_formula_above_the_first_heading_is_reported() -> None:
    (note,) = _read("$z = 1$\n\n## copying\n$k_j^\\top q \\gg k_i^\\top q$\n").notes
    assert note.line == 1
    assert not _read(
        "Let $n$ be given.\n\n## copying\n$k_j^\\top q \\gg k_i^\\top q$\n"
    ).notes


def test_sections_that_answer_nothing_are_reported() -> None:
    sheet = _read(
        "## copying\n$k_j^\\top q \\gg k_i^\\top q$\n\n## Zebras\n\nThey have $s = 3$ stripes.\n"
    )
    assert len(sheet.answers) == 1
    assert [note.line for note in sheet.notes] == [4]
