"""The first m keys of n: a class of its own, with as many members as a parameter says."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.grading.exercise import load_exercises, parse_exercise, parsed
from headwright.grading.kinds.keys.meaning import Reader
from headwright.grading.kinds.keys.scene import FIRST, REST, Vec, opening
from tests.grading.kinds.bench import Found, check

MANY = load_exercises()["averaging-many"]
RIGHT = r"q = \lambda \sum_{i \in S} k_i"


def _verdict(*formulas: str) -> Found:
    return check(MANY, *formulas)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(-3, 3), st.integers(-3, 3))
def test_patterns_are_those_of_keys_written_out(
    m: int, others: int, x: int, y: int
) -> None:
    scene = opening(MANY, MANY.kind.table).defining(
        {"q": parsed(rf"{x} \sum_{{i=1}}^{{m}} k_i + {y} \sum_{{i=m+1}}^{{n}} k_i")}
    )
    pattern = scene.pattern(Reader(scene, {}).query("q"))
    total = m * exp(x) + others * exp(y)
    there = {"m": Fraction(m), "n": Fraction(m + others)}
    assert isclose(float(pattern[FIRST].value(there)), exp(x) / total)
    assert isclose(float(pattern[REST].value(there)), exp(y) / total)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(-2, 2), st.integers(-2, 2))
def test_inner_products_and_double_sums_count_every_key_once(
    m: int, others: int, x: int, y: int
) -> None:
    scene = opening(MANY, MANY.kind.table)
    reader = Reader(
        scene.defining(
            {"q": parsed(rf"{x} \sum_{{i \le m}} k_i + {y} \sum_{{i > m}} k_i")}
        ),
        {},
    )
    there = {"m": Fraction(m), "n": Fraction(m + others)}
    square = reader.scalar(parsed(r"q^\top q"))
    double = reader.scalar(
        parsed(r"\sum_{i=1}^{n} \sum_{j=1}^{n} (k_i^\top q)(k_i^\top k_j)")
    )
    assert float(square.value(there)) == m * x**2 + others * y**2
    assert float(double.value(there)) == m * x + others * y
    total = reader.value(parsed(r"\sum_{i=1}^{n} k_i"))
    assert isinstance(total, Vec)
    assert {
        name: coordinate.rational for name, coordinate in total.coordinates.items()
    } == {FIRST: 1, REST: 1}


@pytest.mark.parametrize(
    "claim",
    [
        r"\alpha_i > \alpha_j \text{ for all } i \le m, j > m",
        r"\alpha_i > \alpha_j \text{ for all } i \in S, j \notin S",
        r"\alpha_i = \frac{e^\lambda}{m e^\lambda + n - m} \text{ for all } i \le m",
        r"\alpha_i = \frac{1}{m e^\lambda + n - m} \text{ for all } i > m",
        r"\sum_{i \in S} \alpha_i \to 1",
        r"\sum_{i=1}^{n} \alpha_i = 1",
        r"\|q\| = \lambda \sqrt{|S|}",
        r"k_i^\top k_j = 0 \text{ for all } i \ne j",
        r"\alpha_i > 0 \text{ for all } i",
        r"c \approx \frac1m \sum_{i=1}^{m} v_i",
        r"k_i^\top q = \lambda \text{ for } i = 1, \dots, m",
    ],
)
def test_what_is_true_of_the_first_keys_is_proved_and_replayed(claim: str) -> None:
    found = _verdict(RIGHT, claim)
    assert found.word == "proved"
    assert all(part.replayed for part in found.parts)


@pytest.mark.parametrize(
    "claim",
    [
        r"\alpha_i = \alpha_j \text{ for all } i \le m, j > m",
        r"\alpha_i > \frac1n \text{ for all } i",
        r"\sum_{i \in S} \alpha_i = 1",
        r"\|q\| = \lambda m",
        r"\alpha_i \approx \frac1m \text{ for all } i > m",
        r"c \approx \frac1n \sum_{i=1}^{m} v_i",
        r"k_i^\top k_j = 0 \text{ for all } i \le m, j \le m",  # i may be j
    ],
)
def test_what_is_false_of_them_is_refuted(claim: str) -> None:
    assert _verdict(RIGHT, claim).word == "refuted"


@pytest.mark.parametrize(
    "claim",
    [
        r"\alpha_i \to \frac1m",
        r"\alpha_1 \to \frac1m",
        r"\alpha_i > 0 \text{ for all } i < m",
    ],
)
def test_where_it_is_not_said_which_keys_are_meant_nothing_is_judged(
    claim: str,
) -> None:
    assert _verdict(RIGHT, claim).word in ("undecided", "unreadable")


def test_the_threshold_is_told_with_the_number_of_the_other_keys() -> None:
    assert _verdict(RIGHT).threshold == "lambda >= ln((n - m)/epsilon)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('first = { size = "m", set = "S" }', ""),
        ('first = { size = "m", set = "S" }', 'first = { size = "r" }'),
        ('are = "orthonormal"', 'are = "any"'),
        ('also = ["mu", "u"]', 'named = ["a"]'),
    ],
)
def test_keys_have_names_or_the_first_ones_play_a_part(old: str, new: str) -> None:
    from headwright.grading.exercise import BUILT_IN

    text = (BUILT_IN / "averaging-many.toml").read_text()
    assert old in text
    with pytest.raises(InputError, match="keys"):
        parse_exercise(text.replace(old, new))


def test_where_only_the_length_is_wrong_that_is_told() -> None:
    found = _verdict(r"q = \sum_{i=1}^{m} k_i")
    assert found.hint == "the direction is right, the length is not"
    assert (
        "lambda (the sum of k_1, ..., k_m) works from lambda >= ln((n - m)/epsilon)"
        in (found.suggestion or "")
    )


@pytest.mark.parametrize(
    "formulas",
    [
        (r"q = \ln(n/\epsilon) \sum_{i=1}^m i k_i",),
        (r"q = \sum_{i=1}^m \ln(n i/\epsilon) k_i",),
        (
            r"q = \ln(n/\epsilon) \sum_{i=1}^m k_i",
            r"\alpha_i \le \frac{1}{i} \text{ for all } i \le m",
        ),
    ],
)
def test_the_number_of_a_key_is_not_a_number_of_ones_own(
    formulas: tuple[str, ...],
) -> None:
    # i was taken for a large number, the same for all keys; only the second look saw that
    verdict = check("averaging-many", *formulas)
    assert verdict.word == "undecided"
    assert "the number of a key" in verdict.reason
