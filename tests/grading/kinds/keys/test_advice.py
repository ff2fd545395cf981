"""What a teacher would add."""

from __future__ import annotations

import pytest

from tests.grading.kinds.bench import check


def test_large_enough_has_a_threshold() -> None:
    assert (
        check("averaging-two", r"q = \lambda(k_a + k_b)").threshold
        == "lambda >= ln((n - 2)/epsilon), for n > 2"
    )
    assert (
        check("averaging-two", r"q = \log(t)(k_a + k_b)").threshold
        == "t >= (n - 2)/epsilon"
    )


def test_a_wrong_number_is_told_from_which_number_on_it_works() -> None:
    said = check("averaging-two", r"q = \frac{1}{\sqrt 2}(k_a + k_b)").suggestion or ""
    assert "works from lambda >= ln((n - 2)/epsilon)" in said
    assert "yours is 0.7071, and no length that is the same for every n does" in said
    grows = check("averaging-two", "q = n(k_a + k_b)").suggestion or ""
    assert "works from" in grows
    assert "no length that is the same" not in grows


def test_a_length_without_a_value_somewhere_is_hinted_at_without_the_remedy() -> None:
    verdict = check("averaging-two", r"q = \ln((n-2)/\epsilon)(k_a + k_b)")
    assert verdict.hint is not None
    assert "for some of what is given it has none" in verdict.hint


def test_both_cases_of_a_length_share_one_threshold() -> None:
    said = (
        check(
            "two-heads-discrete", r"q_1 = \ln(n/\epsilon) u, q_2 = \ln(n/\epsilon) k_2"
        ).suggestion
        or ""
    )
    assert (
        "q_1 = lambda (u), q_2 = lambda (k_2) works from lambda >= 2 ln((n - 1)/epsilon);"
        in said
    )


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("averaging-many", r"q = -\ln(n/\epsilon)\sum_{i=1}^m k_i"),
        ("averaging-all-but-one", r"q = \ln(\epsilon) \sum_{i=2}^n k_i"),
        ("averaging-gaussian", r"q = -\ln(n)(\mu_a + \mu_b)"),
    ],
)
def test_a_query_that_points_the_other_way_is_told_so(
    exercise: str, answer: str
) -> None:
    verdict = check(exercise, answer)
    assert verdict.hint == "the direction is the opposite of one that works"
    assert "yours is -" in (verdict.suggestion or "")


def test_a_query_that_is_too_long_is_told_the_bound() -> None:
    verdict = check("averaging-two-bounded", r"q = 3\ln(n/\epsilon)(k_1 + k_2)")
    assert verdict.hint == "the direction is right, and the query is too long"
    assert "as long as norm(q) <= 2 sqrt(2) ln(n/epsilon); yours is 4.159" in (
        verdict.suggestion or ""
    )


def test_a_number_of_unknown_sign_is_not_said_to_point_right() -> None:
    verdict = check("averaging-two", r"q = \ln(n - 2)(k_a + k_b)")
    assert verdict.hint is None
    assert (verdict.suggestion or "").startswith("q = lambda (k_a + k_b) works from")


def test_the_smallest_counterexample_comes_in_plain_words() -> None:
    verdict = check("averaging-two", r"q = \frac{1}{\sqrt 2}(k_a + k_b)")
    assert verdict.reason == (
        "with n = 3 and epsilon = 1/10: alpha_a is 0.4011, not at least 0.4762"
    )


def test_the_first_bad_line_of_a_derivation_is_shown() -> None:
    verdict = check(
        "kth-singular-value",
        r"\|A\|_F^2 \ge \sum_{i \le k} \sigma_i^2 \ge k \sigma_1^2 \ge k \sigma_k^2",
    )
    assert [part.word for part in verdict.parts] == ["proved", "refuted", "proved"]
    assert "sum_{i <= k} sigma_i^2 >= k sigma_1^2" in verdict.reason
