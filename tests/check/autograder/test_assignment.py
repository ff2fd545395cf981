"""Points: for the whole of an answer, or part by part."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.check.autograder.assignment import Worth, awards, most, read_assignment
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
