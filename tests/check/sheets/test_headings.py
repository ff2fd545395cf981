"""What a line begins with: labels, marks and titles in the forms that people write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.check.sheets.outline import heading, labels


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
