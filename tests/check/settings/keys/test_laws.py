"""Means, variances and covariances of scores: exact, at every length of the query."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.check.exercise import load_exercises, parsed
from headwright.check.settings.keys.laws import Laws, drawn_as_moments
from headwright.check.settings.keys.scene import opening
from headwright.formula import parse
from headwright.formula.show import plain
from tests.check.settings.bench import Found, check

EXERCISES = load_exercises()
NOISY, SCALED = EXERCISES["averaging-gaussian"], EXERCISES["averaging-scaled"]
QUERY = r"q = \lambda(\mu_a + \mu_b)"
CASE = r"g > 1 \Rightarrow c \approx v_a"


def _noisy(*claims: str) -> Found:
    return check(NOISY, *(QUERY, *claims))


def _scaled(*claims: str) -> Found:
    return check(SCALED, *(QUERY, CASE, *claims))


@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3))
def test_moments_are_those_of_the_sum_of_independent_parts(x: int, y: int, s: int, t: int) -> None:
    assert SCALED.keys is not None
    laws = Laws(opening(SCALED, SCALED.keys).defining({"q": parsed(rf"{x}\mu_a + {y}\mu_b")}))
    form = laws.form(parsed(rf"{s} k_a^\top q + {t} k_b^\top q + 5"))
    there = {"a": Fraction(1, 8)}
    variance = laws.covariance(form, form)
    assert float(form.constant.value(there)) == s * x + t * y + 5  # type: ignore[union-attr]
    assert float(variance.value(there)) == (s * s + t * t) * (x * x + y * y) / 8 + (s * x) ** 2 / 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "claim",
    [
        r"k_a \sim N(\mu_a, a I)",
        r"k_i \sim N(\mu_i, a I)",
        r"\operatorname{Var}(k_a) = a I",
        r"\operatorname{Var}(k_a^\top q) = 2 a \lambda^2",
        r"\operatorname{Var}(k_a^\top q) = a \|q\|^2",
        r"k_a^\top q - k_b^\top q \sim N(0, 4 a \lambda^2)",
        r"\operatorname{Cov}(k_a^\top q, k_b^\top q) = 0",
        r"\operatorname{Cov}(k_a, k_b) = 0",
        r"\operatorname{Cov}(k_a^\top q, k_a^\top \mu_a) = a \lambda",
        r"\mathbb{E}[k_i^\top q] = 0 \text{ for all } i \ne a, b",
        r"\operatorname{Var}(k_a^\top q) > 0",
    ],
)
def test_what_is_true_of_the_law_of_a_score_is_proved_and_replayed(claim: str) -> None:
    found = _noisy(claim)
    assert found.word == "proved"
    assert all(part.replayed for part in found.parts)


@pytest.mark.parametrize(
    "claim",
    [
        r"k_a \sim N(\mu_a, 2 a I)",
        r"k_a \sim N(\mu_b, a I)",
        r"k_a \sim N(\mu_a, a I + \frac12 \mu_a \mu_a^\top)",
        r"\operatorname{Var}(k_a^\top q) = a \lambda^2",
        r"\operatorname{Cov}(k_a^\top q, k_b^\top q) = a \lambda^2",
        r"\mathbb{E}[k_i^\top q] = 0 \text{ for all } i",
        r"\operatorname{Var}(\alpha_a) \to \frac14",
    ],
)
def test_another_law_is_refuted(claim: str) -> None:
    assert _noisy(claim).word == "refuted"


def test_the_length_of_a_key_has_its_share() -> None:
    assert _scaled(r"k_a \sim N(\mu_a, a I + \frac12 \mu_a \mu_a^\top)").word == "proved"
    assert _scaled(r"\operatorname{Cov}(g, k_a^\top q) = \frac{\lambda}{2}").word == "proved"
    assert _scaled(r"g \sim N(1, \frac12)", r"k_b \sim N(\mu_b, a I)").word == "proved"
    assert _scaled(r"g \sim N(1, \frac14)").word == "refuted"
    assert _scaled(r"k_a \sim N(\mu_a, a I)").word == "refuted"
    under = r"g = 1 \Rightarrow \operatorname{Var}(k_a^\top q) = 2 a \lambda^2"  # true: the length is no longer random
    assert _scaled(under).word == "undecided"


@pytest.mark.parametrize("name", [r"\alpha", r"\sigma^2", "s"])
def test_the_variance_may_have_another_name(name: str) -> None:
    law = rf"k_i \sim N(\mu_i, {name} I)"
    assert _noisy(law, rf"\operatorname{{Var}}(k_a^\top q) = 2 {name} \lambda^2").word == "proved"
    assert _noisy(law, rf"\operatorname{{Var}}(k_a^\top q) = {name} \lambda^2").word == "refuted"


@pytest.mark.parametrize(
    "claim",
    [
        r"k_i \sim N(\mu_i, 2 \alpha I)",  # what alpha is may be chosen so
        r"\operatorname{Var}(k_a^\top q) = 2 a t^2",
        r"\operatorname{Var}(k_a^\top q) = 0",  # up to the noise
        r"\operatorname{Var}(k_a^\top q) < 1",  # for small noise
        r"\mathbb{E}[(k_a^\top q)^2] = \lambda^2 + 2 a \lambda^2",  # true, and not linear
        r"\alpha_a \sim N(\frac12, a)",
    ],
)
def test_what_is_not_known_exactly_is_left_open(claim: str) -> None:
    assert _noisy(claim).word == "undecided"


def test_as_the_noise_vanishes_moments_of_weights_are_those_at_the_means() -> None:
    assert _noisy(r"\mathbb{E}[c] \approx \frac12(v_a + v_b)", r"\operatorname{Var}(\alpha_a) \to 0").word == "proved"
    assert _noisy(r"\mathbb{E}[c] \approx v_a").word == "refuted"
    assert _noisy(r"\operatorname{Var}(k_a^\top q) = 2 a \lambda^2 \to 0").word == "proved"


def test_the_mean_output_is_found_as_queries_grow() -> None:
    varies = EXERCISES["averaging-varies"]
    about = r"\operatorname{Var}(\alpha_a) \to \frac14"
    for mean, word in ((r"\frac12(v_a + v_b)", "proved"), ("v_a", "refuted"), (r"\frac13(v_a + v_b)", "refuted")):
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
    said = check("score-varies", r"\operatorname{Var}(k_a^\top q) = \frac{\lambda^2}{2}").reason
    assert said == "it leaves out the noise, whose variance is small and not 0: the exact value is asked for"


def test_both_sides_are_told_without_the_noise_where_keys_are_noisy() -> None:
    said = check(
        "score-varies",
        r"k_a^\top q = \lambda(k_a^\top \mu_a + k_a^\top \mu_b), "
        r"\operatorname{Var}(k_a^\top q) = (\frac12 + 2a)\lambda^2",
    )
    assert said.word == "proved"
    reasons = [part.reason for part in said.parts]
    assert reasons == ["without the noise both sides are g lambda", "both sides are (2 a + 1/2) lambda^2"]


def test_the_equality_of_vectors_is_not_told_by_one_coordinate() -> None:
    parts = check("causal-mask", "c_1 = u_a").parts
    assert [part.reason for part in parts] == ["both sides are equal, part by part"]


@pytest.mark.parametrize(("length", "word"), [("1", "proved"), ("2", "refuted")])
def test_a_moment_for_one_length_is_looked_at_again_for_that_length(length: str, word: str) -> None:
    claim = rf"\operatorname{{Var}}(k_a^\top q) = 2a + \frac{{1}}{{2}} \text{{ if }} \lambda = {length}"
    verdict = check("score-varies", r"\operatorname{Var}(k_a^\top q) = \lambda^2 (2a + \frac{1}{2})", claim)
    assert verdict.word == word, verdict.reason
