"""Sums of weights where only scores are known, and what is said of weights at all."""

from __future__ import annotations

import pytest

from headwright.grading.exercise import load_exercises, parse_exercise
from tests.grading.kinds.bench import Found, check

EXERCISES = load_exercises()
DISTRIBUTION = EXERCISES["weights-distribution"]


def _verdict(exercise: str, *formulas: str) -> Found:
    return check(EXERCISES[exercise], *formulas)


@pytest.mark.parametrize(
    "claim",
    [
        r"\sum_i \alpha_i = 1",
        r"\sum_{i \ne j} \alpha_i = 1 - \alpha_j",
        r"\sum_i 2 \alpha_i = 2",
        r"\sum_i \alpha_i \alpha_j = \alpha_j",
        r"\sum_i (\alpha_i + 1) = n + 1",
    ],
)
def test_a_sum_that_is_linear_in_the_weights_is_known(claim: str) -> None:
    found = _verdict("weights-distribution", claim)
    assert found.parts[0].word == "proved"
    assert found.parts[0].replayed


@pytest.mark.parametrize(
    "claim",
    [
        r"\sum_{i \ne j} \alpha_i^2 = \frac{(1 - \alpha_j)^2}{n - 1}",  # true where the other scores are all the same
        r"\sum_{i \ne j} \alpha_i e^{k_i^\top q} = \frac{1 - \alpha_j}{n - 1} \sum_{i \ne j} e^{k_i^\top q}",
        r"\alpha_i = \frac{1 - \alpha_j}{n - 1}",
        r"\sum_i i \alpha_i = i",
        r"\sum_i \alpha_i \sum_i \alpha_i^2 = \sum_i \alpha_i",
        r"\sum_i \alpha_i k_i^\top q = k_i^\top q",
        r"\sum_{i \ne j} \sqrt{\alpha_i} = \sqrt{(n - 1)(1 - \alpha_j)}",
    ],
)
def test_other_keys_are_not_taken_to_be_alike(claim: str) -> None:
    assert (
        _verdict(
            "weights-distribution", r"\alpha_i > 0", r"\sum_i \alpha_i = 1", claim
        ).word
        != "proved"
    )


@pytest.mark.parametrize(
    "formulas",
    [
        [r"\alpha_i \ge 0", r"\sum_i \alpha_i \ge 1", r"\sum_i \alpha_i \le 1"],
        [r"|\alpha_i| = \alpha_i", r"\sum_{i=1}^n \alpha_i = 1"],
        [r"\alpha_j \ge 0 \text{ for all } j", r"1 - \sum_{i=1}^n \alpha_i = 0"],
        [r"\alpha_i > 0 \text{ for } i = 1, \dots, n", r"\sum_{i=1}^n \alpha_i = 1"],
    ],
)
def test_a_distribution_may_be_told_in_other_words(formulas: list[str]) -> None:
    found = _verdict("weights-distribution", *formulas)
    assert found.word == "proved", found.reason


def test_a_sum_that_starts_at_two_leaves_out_the_first_key() -> None:
    # this ended in a ValueError while a key was picked out of the others
    assert (
        _verdict("averaging-all-but-one", r"q = \lambda \sum_{i=2}^n k_i").word
        == "proved"
    )


def test_a_number_of_keys_with_an_upper_end_is_kept_in_the_second_look() -> None:
    found = _verdict("convex-hull", r"r = \alpha_2", r"s = \alpha_3")
    assert found.word == "proved"
    assert all(part.replayed for part in found.parts)


def test_a_claim_that_fails_in_one_case_is_no_bug_in_the_other() -> None:
    found = _verdict("two-heads-discrete", "q_1 = t u", "q_2 = t k_2")
    assert found.word == "refuted"
    assert [part.word for part in found.parts] == [
        "refuted",
        "proved",
        "proved",
        "proved",
    ]


MOMENTS = EXERCISES["averaging-varies"]


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (r"\operatorname{Var}(\alpha_a) \to \frac14", "proved"),
        (r"\mathbb{E}[\alpha_b] \to \frac12", "proved"),
        (r"\mathbb{E}[\alpha_a] \approx 0.505", "proved"),  # within 1/100
        (r"\mathbb{E}[\alpha_a] \to 0.505", "refuted"),
        (r"\operatorname{Var}(\alpha_b) \to \frac13", "refuted"),
        (
            r"\mathbb{E}[\alpha_a] \to \lambda",
            "refuted",
        ),  # which grows beyond all bounds
        (
            r"\operatorname{Var}(\alpha_a) = \frac14",
            "undecided",
        ),  # at no length of the query
        (r"\operatorname{Var}(\alpha_a) \to \frac14 \text{ for } g > 1", "undecided"),
    ],
)
def test_moments_of_weights_are_decided_in_the_limit(claim: str, word: str) -> None:
    parts = _verdict("averaging-varies", claim).parts
    assert [part.word for part in parts] == [word]


def test_the_mean_is_that_of_another_law_where_there_is_one() -> None:
    """With g ~ N(2, 1) the key is longer than the other with probability Phi(1) = 0.841345."""
    law = 'normal = { mean = 2, variance = "1" }'
    path = 'normal = { mean = 1, variance = "1/2" }'
    from headwright.grading.exercise import BUILT_IN

    exercise = parse_exercise(
        (BUILT_IN / "averaging-varies.toml").read_text().replace(path, law)
    )
    for claim, word in (
        (r"\mathbb{E}[\alpha_a] \approx 0.8413", "proved"),
        (r"\mathbb{E}[\alpha_a] \to 0.84", "refuted"),
    ):
        assert [part.word for part in check(exercise, claim).parts] == [word]


def test_a_vector_of_ones_is_no_number() -> None:
    found = _verdict(
        "weights-distribution", r"\alpha^\top \mathbf{1} = 1", r"\alpha_i \ge 0"
    )
    assert found.word in ("undecided", "unreadable")  # it was refuted, with ones = 2


@pytest.mark.parametrize(
    ("last", "word"), [("3", "proved"), ("n", "proved"), ("2", "unreadable")]
)
def test_a_sum_may_end_at_the_number_of_keys(last: str, word: str) -> None:
    total = rf"\sum_{{j=1}}^{{{last}}} e^{{k_j^\top q}}"
    weights = [
        rf"{name} = e^{{k_{which}^\top q}} / {total}"
        for name, which in (("r", 2), ("s", 3))
    ]
    assert _verdict("convex-hull", *weights).word == word
