"""The sections of a document, in whatever form they are headed: labels, marks and titles as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.grading.sentences import asks
from headwright.grading.sheets.outline import MOST_SECTIONS, heading, outline


def _keys(text: str, *, latex: bool = False) -> list[tuple[str, ...]]:
    return [
        tuple(e.label for e in each.path if e.label)
        for each in outline(text, latex=latex)
        if each.label
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# Homework\n\n## 1\n\n(a) one\n\n(b) two\n\n## 2\n\nthree\n",
        "Question 1\n\na) one\n\nb) two\n\nQuestion 2: three\n\nfour\n",
        "**Problem 1**\n\n- (a) one\n- (b) two\n\n**Problem 2**\n\nthree\n",
        "Problem 1\n=========\n\na. one\n\nb. two\n\nProblem 2\n=========\n\nthree\n",
        "### 1.a\n\none\n\n### 1.b\n\ntwo\n\n### 2\n\nthree\n",
        "1a) one\n\n1b) two\n\n2) three\n",
        "Q1 (a): one\n\nQ1 (b): two\n\nQ2: three\n",
    ],
)
def test_sections_are_found_in_whatever_form_they_are_headed(text: str) -> None:
    assert [key for key in _keys(text) if key != ("1",)] == [
        ("1", "a"),
        ("1", "b"),
        ("2",),
    ]


def test_sections_of_latex_are_sections_items_and_environments() -> None:
    text = (
        "\\section*{Exercise 1}\n\\begin{enumerate}[label=(\\alph*)]\n\\item one % (z) no\n\\item two\n"
        "\\begin{enumerate}[(i)]\n\\item deep\n\\end{enumerate}\n\\end{enumerate}\n\\section{Exercise 2}\n"
        "\\begin{solution}\nthree\n\\end{solution}\nfour\n"
    )
    assert _keys(text, latex=True) == [
        ("1",),
        ("1", "1"),
        ("1", "2"),
        ("1", "2", "a"),
        ("2",),
    ]
    assert [line for line in outline(text, latex=True)[-1].said if line[1]] == [
        (11, "three"),
        (13, "four"),
    ]


def test_a_roman_number_is_told_from_a_letter() -> None:
    romans = outline("(i) one\n\n(ii) two\n\n(iii) three\n\n(iv) four\n\n(v) five\n")[
        1:
    ]
    assert len({each.rank for each in romans}) == 1
    nested = (
        "(a) one\n\n(i) in it\n\n(ii) in it too\n\n(b) two\n\n(c) three\n\n(d) four\n"
    )
    assert _keys(nested) == [("a",), ("a", "i"), ("a", "ii"), ("b",), ("c",), ("d",)]


@pytest.mark.parametrize(
    "text",
    [
        "So\n$$\n(a) x\n$$\nis it.\n",
        "```\n# a\n(b) x\n```\n",
        "\\begin{align}\n(a) &= x \\\\\n(b) &= y\n\\end{align}\n",
        "As was shown in\n(b) of the last sheet, x.\n",
        "We need two things,\n2. of which is new.\n",
        "---\ntitle: (a)\n---\ntext\n",
    ],
)
def test_what_only_looks_like_a_label_is_none(text: str) -> None:
    assert len(outline(text)) == 1


def test_a_label_that_comes_again_answers() -> None:
    text = "(a) Why?\n\n(b) How?\n\nSolution:\n\n(a) So.\n\n(b) Thus.\n"
    assert [(each.label, bool(each.answers)) for each in outline(text)[1:]] == [
        ("a", False),
        ("b", True),
        ("a", True),
        ("b", True),
    ]


def test_a_mark_in_a_section_ends_with_it() -> None:
    assert [
        bool(each.answers)
        for each in outline("(a) Why?\n\nSolution: So.\n\n(b) How?\n")[1:]
    ] == [True, False]


def test_a_forgotten_end_of_a_formula_swallows_no_heading() -> None:
    assert _keys("## 1\n\n$$ x\n\n## 2\n\n$$ y $$\n") == [("1",), ("2",)]


def test_what_is_hostile_is_bounded() -> None:
    assert len(outline("(a) x\n\n" * 5000)) <= MOST_SECTIONS


LINES = st.sampled_from(
    [
        "",
        "(a) one",
        "(i) two",
        "- (b) three",
        "# Head",
        "### 3.c",
        "Solution:",
        "**Answer.** so",
        "$$",
        "```",
        "Question 2",
        "1. x",
        "2) y",
        "\\begin{enumerate}",
        "\\item z",
        "\\end{enumerate}",
        "\\begin{solution}",
        "\\end{solution}",
        "---",
        "====",
        "x = 1",
        "Proof:",
        "(x) y",
        "v. w",
        "\\part so",
        "## averaging-two",
        "> (a) q",
        "Find $q$.",
        "Attention, 4 pts",
    ]
)


@given(
    st.lists(
        LINES | st.text(max_size=12).filter(lambda line: "\n" not in line), max_size=40
    ),
    st.booleans(),
)
def test_every_line_belongs_to_one_section_and_keeps_its_number(
    lines: list[str], latex: bool
) -> None:
    text = "\n".join(lines)
    found = outline(text, latex=latex, named=lambda title: "x" if "-" in title else "")
    numbers = [number for each in found for number, _ in (*each.asked, *each.said)]
    assert len(numbers) == len(set(numbers))
    assert all(1 <= number <= text.count("\n") + 1 for number in numbers)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(a) First", ("a",)),
        ("b) second", ("b",)),
        ("c. third", ("c",)),
        ("ii.Then", ("ii",)),
        ("3 (b) (ii): so", ("3", "b", "ii")),
        ("2a) so", ("2", "a")),
        ("Q1-2. Copying", ("1", "2")),
        ("Problem 4", ("4",)),
        ("Part (c): Noise", ("c",)),
        ("exercise 3.b", ("3", "b")),
        ("i.e. this", ()),
        ("A layer without positions", ()),
        ("a layer", ()),
        ("partly", ()),
        ("exactly one", ()),
        ("Questions", ()),
    ],
)
def test_labels_are_found_in_many_forms(text: str, found: tuple[str, ...]) -> None:
    assert heading(text).labels == found


@pytest.mark.parametrize(
    "line",
    [
        "Solution: so",
        "**Solution.** so",
        "Answer: so",
        "My answer: so",
        "**Proof.** so",
        r"\textbf{Solution:} so",
        "A: so",
        "> Answer: so",
    ],
)
def test_a_mark_is_taken_off_the_words_below_it(line: str) -> None:
    found = heading(line)
    marks, rest = found.marks_answer, found.rest
    assert marks
    assert rest.strip(" }") == "so"


@pytest.mark.parametrize(
    "line",
    [
        "The answer is no.",
        "Solutions of this equation are rare",
        "Proofs are long",
        "answering this",
        "A layer: so",
    ],
)
def test_a_sentence_is_no_mark(line: str) -> None:
    assert not heading(line).marks_answer


def test_points_are_no_part_of_a_title() -> None:
    assert (
        heading("(b) (10 pts) **Averaging two values.** Assume").title
        == "Averaging two values."
    )
    assert heading("Attention, 40 pts").title == "Attention"
    assert heading("### 2. Noise (8 points)").title == "Noise (8 points)"


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Find an expression for $q$.", True),
        ("**Describe** (in one sentence) what happens.", True),
        ("Using the basis $a_1, \\dots, a_p$, construct a matrix.", True),
        ("What must be true of $q$?", True),
        ("Consider two keys. Show that they differ.", True),
        ("To show: $Z_p = P Z$.", True),
        ("Hint: a multiple of $k_a$.", True),
        ("We find that $q$ works.", False),
        ("This shows that it holds.", False),
        ("Since the keys are orthonormal, $k_a^\\top q = 1$.", False),
        ("$$q = k_a$$", False),
    ],
)
def test_questions_are_told_from_statements(text: str, yes: bool) -> None:
    assert asks(text) == yes


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Find $q$.\n\nTake $q = k_a$.\n", [3]),
        ("Find $q$.\n\nHint: $k_a = k$.\n\nFigure 1: the keys.\n", []),
        ("The keys are orthonormal, and $n = 3$.\n\nSolution: $q = k_a$\n", [3]),
    ],
)
def test_what_follows_the_question_is_the_answer(text: str, numbers: list[int]) -> None:
    assert [number for number, line in outline(text)[0].said if line.strip()] == numbers


@given(
    st.text(max_size=80)
    | st.from_regex(r"[\s>*#\-]{0,4}[(a-zA-Z0-9.):\\{}*_ ]{0,30}", fullmatch=True)
)
def test_any_line_has_a_beginning(line: str) -> None:
    beginning = heading(line)
    found, rest = beginning.labels, beginning.rest
    assert all(found)
    assert len(rest) <= len(line)
