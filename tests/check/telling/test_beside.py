"""An answer beside a right one: what the picture shows agrees with what was proved and refuted."""

from __future__ import annotations

from fractions import Fraction

import pytest

from headwright.check.catalogue import load_exercises
from headwright.check.checker import check_answer
from headwright.check.reading.written import Formula, Written
from headwright.check.telling.beside import Beside, NoPictureError, beside
from headwright.errors import InputError

EXERCISES = load_exercises()
DRAWN = [
    "averaging-all-but-one", "averaging-gaussian", "averaging-many", "averaging-three", "averaging-two",
    "averaging-two-bounded", "copying-separated", "temperature-cold", "temperature-hot", "two-heads",
    "two-heads-discrete",
]  # fmt: skip
OTHERS = {"epsilon": Fraction(1, 10), "m": Fraction(3)}


def _beside(exercise: str, *formulas: str, n: int = 10, large: int = 20) -> Beside:
    given = [Formula(text, 1) for text in formulas]
    return beside(EXERCISES[exercise], given, n=n, others=OTHERS, large=Fraction(large))


def _meets(found: Beside, left: tuple[float | None, ...]) -> list[bool]:
    return [
        a is not None and b is not None and (a >= b if found.sign == ">=" else a <= b)
        for a, b in zip(left, found.wanted, strict=True)
    ]


@pytest.mark.parametrize("exercise", DRAWN)
def test_right_answers_meet_the_goal_wherever_they_are_drawn(exercise: str) -> None:
    for right in EXERCISES[exercise].samples.right:
        found = _beside(exercise, *right)
        assert all(_meets(found, found.yours.left)), right
        assert all(_meets(found, found.right.left))


@pytest.mark.parametrize(
    "exercise",
    ["averaging-two", "averaging-three", "temperature-cold", "two-heads", "copying-separated", "two-heads-discrete"],
)
def test_wrong_answers_miss_it_somewhere(exercise: str) -> None:
    found = _beside(exercise, *EXERCISES[exercise].samples.wrong[0], n=40)
    assert not all(_meets(found, found.yours.left))


def test_at_a_counterexample_the_picture_says_the_same() -> None:
    text = r"q = \frac{1}{\sqrt 2}(k_a + k_b)"
    verdict = check_answer(EXERCISES["averaging-two"], [Formula(text, 1)])
    assert verdict.counterexample is not None
    found = _beside("averaging-two", text, n=3)
    assert found.yours.left[found.numbers.index(3)] == pytest.approx(float(verdict.counterexample["left"]), abs=1e-4)


def test_the_goal_that_is_missed_most_is_drawn() -> None:
    assert r"\alpha_c" in _beside("averaging-three", r"q = \lambda(k_a + k_b)").goal


def test_a_pattern_sums_to_one_and_own_names_are_told() -> None:
    found = beside(
        EXERCISES["averaging-two"], Written("Take $q = t (k_a - k_b)$ for a large $t$."), n=7, others=OTHERS,
        large=Fraction(3),
    )  # fmt: skip
    assert found.yours.names == ("t",)
    assert sum(weight or 0.0 for weight in found.yours.pattern) == pytest.approx(1)


def test_where_there_is_no_value_there_is_a_gap() -> None:
    found = _beside("averaging-two", r"q = \ln(n - 2)(k_a + k_b)", n=4)
    assert found.numbers[0] == 2
    assert found.yours.left[0] is None
    assert found.yours.left[found.numbers.index(4)] is not None


@pytest.mark.parametrize(
    ("exercise", "text"), [("permutation", "Z_p = P Z"), ("copying", "c = v_j"), ("averaging-two", r"\lambda = 3")]
)
def test_what_has_no_picture_says_so(exercise: str, text: str) -> None:
    with pytest.raises(NoPictureError):
        _beside(exercise, text)


@pytest.mark.parametrize("n", [1, 3, 41])
def test_rejects_a_number_of_keys_that_cannot_be(n: int) -> None:
    with pytest.raises(InputError, match=f"n is {n}"):
        _beside("averaging-many", "q = k_1", n=n)  # m is 3


@pytest.mark.parametrize("length", [Fraction(1, 2), Fraction(3, 2)])
def test_a_formula_for_a_weight_is_drawn_beside_the_truth(length: Fraction) -> None:
    exercise = EXERCISES["averaging-scaled-discrete"]
    others = {**OTHERS, "c": length}
    for formulas, same in ((exercise.samples.right[0], True), (exercise.samples.wrong[0], False)):
        given = [Formula(text, 1) for text in formulas]
        found = beside(exercise, given, n=10, others=others, large=Fraction(5))
        assert found.sign == "="
        assert (found.yours.left == pytest.approx(found.right.left)) is same
        assert found.yours.pattern == found.right.pattern


def test_a_key_of_uncertain_length_is_as_long_as_is_said() -> None:
    drawn = [
        beside(
            EXERCISES["averaging-scaled"], [Formula(r"q = \lambda(\mu_a + \mu_b)", 1)], n=4, others={"g": length},
            large=Fraction(8),
        )
        for length in (Fraction(1, 2), Fraction(1), Fraction(3, 2))
    ]  # fmt: skip
    assert [found.sign for found in drawn] == ["", "", ""]
    short, even, long = (found.yours.pattern[0] or 0.0 for found in drawn)
    assert short < 0.05
    assert even == pytest.approx(0.5, abs=0.01)
    assert long > 0.95
