"""The parts of a document, in whatever form they are headed: labels, marks and titles as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.check.sheets.outline import DEEPEST, MOST_PARTS, Part, heading, labels, outline


def _labels(text: str, *, latex: bool = False) -> list[tuple[str, ...]]:
    parts = outline(text, latex=latex).walk()
    return [tuple(each.label for each in part.path if each.label) for part in parts if part.label]


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
def test_parts_are_found_in_whatever_form_they_are_headed(text: str) -> None:
    found = _labels(text)
    assert [path for path in found if path != ("1",)] == [("1", "a"), ("1", "b"), ("2",)]


def test_parts_of_latex_are_sections_items_and_environments() -> None:
    text = (
        "\\section*{Exercise 1}\n\\begin{enumerate}[label=(\\alph*)]\n\\item one % (z) no\n\\item two\n"
        "\\begin{enumerate}\n\\item deep\n\\end{enumerate}\n\\end{enumerate}\n\\section{Exercise 2}\n"
        "\\begin{solution}\nthree\n\\end{solution}\nfour\n"
    )
    assert _labels(text, latex=True) == [("1",), ("1", "a"), ("1", "b"), ("1", "b", "a"), ("2",)]
    last = outline(text, latex=True).parts[-1]
    assert [(line.text, line.mark) for line in last.lines if line.text] == [("three", "solution"), ("four", "")]


def test_a_roman_number_is_told_from_a_letter() -> None:
    romans = outline("(i) one\n\n(ii) two\n\n(iii) three\n\n(iv) four\n\n(v) five\n").parts
    assert {part.kind for part in romans} == {"roman"}
    letters = outline("".join(f"({letter}) x\n\n" for letter in "abcdefghij")).parts
    assert {part.kind for part in letters} == {"letter"}
    nested = outline("(a) one\n\n(i) in it\n\n(ii) in it too\n\n(b) two\n\n(c) three\n\n(d) four\n").parts
    assert [(part.label, len(part.parts)) for part in nested] == [("a", 2), ("b", 0), ("c", 0), ("d", 0)]


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
    assert outline(text).parts == []


def test_a_mark_after_all_questions_makes_answers_of_the_labels_that_follow() -> None:
    text = "(a) Why?\n\n(b) How?\n\nSolution:\n\n(a) So.\n\n(b) Thus.\n"
    parts = outline(text).parts
    assert [(part.label, part.mark) for part in parts] == [("a", ""), ("b", ""), ("a", "solution"), ("b", "solution")]


def test_a_mark_in_a_part_ends_with_it() -> None:
    parts = outline("(a) Why?\n\nSolution: So.\n\n(b) How?\n").parts
    assert [part.mark for part in parts] == ["solution", ""]


def test_a_forgotten_end_of_a_formula_swallows_no_heading() -> None:
    assert _labels("## 1\n\n$$ x\n\n## 2\n\n$$ y $$\n") == [("1",), ("2",)]


def test_what_is_hostile_is_bounded() -> None:
    assert sum(1 for _ in outline("(a) x\n\n" * 5000).walk()) <= MOST_PARTS + 1
    deep = outline("\\begin{enumerate}\n\\item x\n" * 500, latex=True)
    assert max(len(part.path) for part in deep.walk()) <= DEEPEST + 2


def _numbers(part: Part) -> list[int]:
    return [line.number for each in part.walk() for line in each.lines]


LINES = st.sampled_from(
    [
        "", "(a) one", "(i) two", "- (b) three", "# Head", "### 3.c", "Solution:", "**Answer.** so", "$$", "```",
        "Question 2", "1. x", "2) y", "\\begin{enumerate}", "\\item z", "\\end{enumerate}",
        "\\begin{solution}", "\\end{solution}",
        "---", "====",        "x = 1", "Proof:", "(x) y", "v. w", "\\part so", "## averaging-two", "> (a) q",
        "Find $q$.", "Attention, 4 pts",
    ]
)  # fmt: skip


@given(st.lists(LINES | st.text(max_size=12).filter(lambda line: "\n" not in line), max_size=40), st.booleans())
def test_every_line_belongs_to_one_part_and_keeps_its_number(lines: list[str], latex: bool) -> None:
    text = "\n".join(lines)
    numbers = _numbers(outline(text, latex=latex, named=lambda title: "-" in title))
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
        ("", ()),
    ],
)
def test_labels_are_found_in_many_forms(text: str, found: tuple[str, ...]) -> None:
    assert labels(text)[0] == found


@pytest.mark.parametrize(
    "line",
    [
        "Solution: so",
        "**Solution.** so",
        "Answer: so",
        "My answer: so",
        "ANSWER - ".replace(" - ", ": ") + "so",
        "**Proof.** so",
        r"\textbf{Solution:} so",
        "A: so",
        "> Answer: so",
    ],
)
def test_a_mark_is_taken_off_the_words_below_it(line: str) -> None:
    found = heading(line)
    assert found.mark
    assert found.rest.strip(" }") == "so"


@pytest.mark.parametrize(
    "line",
    [
        "The answer is no.",
        "Solutions of this equation are rare",
        "Proofs are long",
        "answering this",
        "A layer: so",
        "Ask: so",
    ],
)
def test_a_sentence_is_no_mark(line: str) -> None:
    assert not heading(line).mark


def test_a_mark_may_come_with_a_label() -> None:
    found = heading("Solution:**(a) Copying one value.**")
    assert (found.mark, found.labels) == ("solution", ("a",))
    found = heading("Answer to question 2(b): so")
    assert (found.mark, found.labels, found.rest) == ("solution", ("2", "b"), "so")


def test_points_are_no_part_of_a_title() -> None:
    assert heading("(b) (10 pts) **Averaging two values.** Assume").title == "Averaging two values."
    assert heading("Attention, 40 pts").title == "Attention"
    assert heading("We got 3 points").title in ("", "We got")
    assert heading("### 2. Noise (8 points)").title == "Noise"


@given(st.text(max_size=80) | st.from_regex(r"[\s>*#\-]{0,4}[(a-zA-Z0-9.):\\{}*_ ]{0,30}", fullmatch=True))
def test_any_line_has_a_beginning(line: str) -> None:
    found = heading(line)
    assert all(label for label in found.labels)
    assert len(found.rest) <= len(line)
