"""Means, variances and covariances of scores: exact, at every length of the query."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.formulas import parse, tree
from headwright.formulas.show import plain
from headwright.grading.answer import UndeterminedError
from headwright.grading.exercise import load_exercises, parsed
from headwright.grading.kinds.keys.laws import SMALL, drawn_as_moments, moment
from headwright.grading.kinds.keys.scene import VARIANCE, opening
from headwright.grading.scalars import Scalar
from tests.grading.kinds.bench import Found, check

EXERCISES = load_exercises()
NOISY, SCALED = EXERCISES["averaging-gaussian"], EXERCISES["averaging-scaled"]
QUERY = r"q = \lambda(\mu_a + \mu_b)"
CASE = r"g > 1 \Rightarrow c \approx v_a"


def _noisy(*claims: str) -> Found:
    return check(NOISY, *(QUERY, *claims))


def _scaled(*claims: str) -> Found:
    return check(SCALED, *(QUERY, CASE, *claims))


@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3))
def test_moments_are_those_of_the_sum_of_independent_parts(
    x: int, y: int, s: int, t: int
) -> None:
    scene = opening(SCALED, SCALED.kind.table).defining(
        {"q": parsed(rf"{x}\mu_a + {y}\mu_b")}
    )
    scene = replace(scene, ranges={**scene.ranges, VARIANCE: SMALL})
    form = parsed(rf"{s} k_a^\top q + {t} k_b^\top q + 5")
    mean, variance = (moment(tree.Call(word, (form,)), scene) for word in ("E", "Var"))
    assert isinstance(mean, Scalar)
    assert isinstance(variance, Scalar)
    there = {"a": Fraction(1, 8)}
    assert float(mean.value(there)) == s * x + t * y + 5
    assert (
        float(variance.value(there))
        == (s * s + t * t) * (x * x + y * y) / 8 + (s * x) ** 2 / 2
    )


def test_noise_of_all_other_directions_counts() -> None:
    scene = opening(NOISY, NOISY.kind.table).defining(
        {"q": parsed(r"\sum_{i \ne a, b} \mu_i")}
    )
    scene = replace(scene, ranges={**scene.ranges, VARIANCE: SMALL})
    variance = moment(tree.Call("Var", (parsed(r"k_a^\top q"),)), scene)
    assert isinstance(variance, Scalar)
    assert variance == scene.scalar(VARIANCE) * (scene.scalar("n") - 2)


@pytest.mark.parametrize(
    "claim",
    [
        r"\sum_{a} k_a^\top q",  # the index of the sum is named as a key is
        r"\sum_{i=1}^n k_i^\top q",
        r"k_a^\top k_a",
        r"\alpha_a",
    ],
)
def test_moments_are_not_told_of_what_is_not_linear_in_single_keys(claim: str) -> None:
    scene = opening(NOISY, NOISY.kind.table).defining(
        {"q": parsed(r"\mu_a"), "s": parsed(claim)}
    )
    for source in (claim, "s"):
        with pytest.raises(UndeterminedError):
            moment(
                tree.Call("Var", (parsed(source),)),
                replace(scene, ranges={**scene.ranges, VARIANCE: SMALL}),
            )


@pytest.mark.parametrize(
    "claim",
    [
        r"\operatorname{Var}(k_a^\top q) = 2 a \lambda^2",
        r"\operatorname{Var}(k_a^\top q) = a \|q\|^2",
        r"k_a^\top q - k_b^\top q \sim N(0, 4 a \lambda^2)",
        r"\operatorname{Cov}(k_a^\top q, k_b^\top q) = 0",
        r"\operatorname{Cov}(k_a^\top q, k_a^\top \mu_a) = a \lambda",
        r"\mathbb{E}[k_i^\top q] = 0 \text{ for all } i \ne a, b",
        r"\operatorname{Var}(k_a^\top q) > 0",
    ],
)
def test_what_is_true_of_the_law_of_a_score_is_proved(claim: str) -> None:
    found = _noisy(claim)
    assert found.word == "proved"


@pytest.mark.parametrize(
    "claim",
    [
        r"k_a \sim N(\mu_b, a I)",
        r"\operatorname{Var}(k_a^\top q) = a \lambda^2",
        r"\operatorname{Cov}(k_a^\top q, k_b^\top q) = a \lambda^2",
        r"\mathbb{E}[k_i^\top q] = 0 \text{ for all } i",
    ],
)
def test_another_law_is_refuted(claim: str) -> None:
    assert _noisy(claim).word == "refuted"


def test_the_length_of_a_key_has_its_share() -> None:
    assert (
        _scaled(r"\operatorname{Cov}(g, k_a^\top q) = \frac{\lambda}{2}").word
        == "proved"
    )
    assert _scaled(r"g \sim N(1, \frac12)").word == "proved"
    assert _scaled(r"g \sim N(1, \frac14)").word == "refuted"
    under = r"g = 1 \Rightarrow \operatorname{Var}(k_a^\top q) = 2 a \lambda^2"  # true: the length is no longer random
    assert _scaled(under).word == "undecided"


@pytest.mark.parametrize(
    "claim",
    [
        r"k_a \sim N(\mu_a, a I)",  # true: covariances are known of numbers only
        r"k_a \sim N(\mu_a, 2 a I)",
        r"\operatorname{Var}(k_a^\top q) = 2 a t^2",
        r"\operatorname{Var}(k_a^\top q) = 0",  # up to the noise
        r"\operatorname{Var}(k_a^\top q) < 1",  # for small noise
        r"\mathbb{E}[(k_a^\top q)^2] = \lambda^2 + 2 a \lambda^2",  # true, and not linear
        r"\alpha_a \sim N(\frac12, a)",
    ],
)
def test_what_is_not_known_exactly_is_left_open(claim: str) -> None:
    assert _noisy(claim).word == "undecided"


def test_as_the_noise_vanishes_variances_of_scores_do() -> None:
    assert (
        _noisy(r"\operatorname{Var}(k_a^\top q) = 2 a \lambda^2 \to 0").word == "proved"
    )


def test_the_mean_output_is_found_as_queries_grow() -> None:
    varies = EXERCISES["averaging-varies"]
    about = r"\operatorname{Var}(\alpha_a) \to \frac14"
    for mean, word in (
        (r"\frac12(v_a + v_b)", "proved"),
        ("v_a", "refuted"),
        (r"\frac13(v_a + v_b)", "refuted"),
    ):
        assert check(varies, about, rf"\mathbb{{E}}[c] \to {mean}").word == word


def test_a_law_is_what_it_says_of_mean_and_variance() -> None:
    said = drawn_as_moments(parse(r"k_i \sim N(\mu_i, a I) \text{ for all } i \ne a"))
    assert plain(said) == "(E[k_i] = mu_i and Var(k_i) = a I) for i != a"


def test_keys_that_are_given_have_no_law() -> None:
    found = check("averaging-two", r"q = \lambda(k_a + k_b)", r"\mathbb{E}[k_a] = 0")
    assert found.word == "unreadable"
    assert "keys with normal noise only" in found.reason


def test_the_variance_of_the_noise_is_given() -> None:
    assert _noisy("a > 0", r"a \to 0").word == "proved"
    assert _noisy("a = 0").word == "undecided"
    assert _noisy("a > 1").word != "proved"


def test_a_value_without_noise_is_not_said_to_do_where_the_exact_one_is_asked() -> None:
    said = check(
        "score-varies", r"\operatorname{Var}(k_a^\top q) = \frac{\lambda^2}{2}"
    ).reason
    assert (
        said
        == "it leaves out the noise, whose variance is small and not 0: the exact value is asked for"
    )


def test_both_sides_are_told_without_the_noise_where_keys_are_noisy() -> None:
    said = check(
        "score-varies",
        r"k_a^\top q = \lambda(k_a^\top \mu_a + k_a^\top \mu_b), "
        r"\operatorname{Var}(k_a^\top q) = (\frac12 + 2a)\lambda^2",
    )
    assert said.word == "proved"
    reasons = [part.reason for part in said.parts]
    assert reasons == [
        "without the noise both sides are g lambda",
        "both sides are (4 a + 1) lambda^2/2",
    ]


def test_the_equality_of_vectors_is_not_told_by_one_coordinate() -> None:
    parts = check("causal-mask", "c_1 = u_a").parts
    assert [part.reason for part in parts] == ["both sides are equal, part by part"]


@pytest.mark.parametrize(("length", "word"), [("1", "proved"), ("2", "refuted")])
def test_a_moment_for_one_length_is_looked_at_again_for_that_length(
    length: str, word: str
) -> None:
    claim = rf"\operatorname{{Var}}(k_a^\top q) = 2a + \frac{{1}}{{2}} \text{{ if }} \lambda = {length}"
    verdict = check(
        "score-varies",
        r"\operatorname{Var}(k_a^\top q) = \lambda^2 (2a + \frac{1}{2})",
        claim,
    )
    assert verdict.word == word, verdict.reason
