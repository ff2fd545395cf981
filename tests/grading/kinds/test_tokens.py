"""Tokens: a causal mask hides what comes later."""

from __future__ import annotations

import pytest

from headwright.grading.exercise import BUILT_IN, load_exercises, parse_exercise
from tests.grading.kinds.bench import check

EXERCISE = load_exercises()["causal-mask"]
UNMASKED = parse_exercise(
    (BUILT_IN / "causal-mask.toml").read_text().replace('mask = "causal"', "")
)


@pytest.mark.parametrize(
    "claim",
    [
        r"\alpha_{11} = 1",
        r"\alpha_{12} = 0",
        r"\alpha_{21} + \alpha_{22} = 1",
        r"\alpha_{23} = 0",
        r"\alpha_{33} \approx 1",
        "c_1 = x_1",
    ],
)
def test_a_causal_mask_hides_what_comes_later(claim: str) -> None:
    part = check(EXERCISE, claim).parts[0]
    assert part.word == "proved"
    assert part.replayed
    if claim != r"\alpha_{33} \approx 1":
        assert check(UNMASKED, claim).parts[0].word == "refuted"


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (r"\alpha_{22} = e^{\beta^2}/(e^{\beta^2} + 2)", "proved"),
        (r"c_2 \not\approx u_b", "proved"),
        (r"c_2 \not\approx u_a", "refuted"),
    ],
)
def test_weights_and_outputs_are_decided(claim: str, word: str) -> None:
    (part,) = check(load_exercises()["self-attention-copy"], claim).parts
    assert part.word == word
    assert part.replayed


@pytest.mark.parametrize(
    ("end", "word"), [("u_a + u_d", "proved"), ("u_b", "refuted"), ("u_a", "refuted")]
)
def test_another_token_may_be_assumed(end: str, word: str) -> None:
    exercise = load_exercises()["self-attention-copy"]
    claim = rf"x_2 = u_a + u_d \Rightarrow c_2 \approx {end}"
    part = check(exercise, r"c_2 \approx u_a", claim).parts[-1]
    assert part.word == word
    assert part.replayed


def test_the_value_of_a_parameter_is_no_place_of_a_token() -> None:
    exercise = load_exercises()["self-attention-copy"]
    claim = r"\alpha_{22} = \frac{e}{e+2} \text{ for } \beta = 1"
    assert [part.word for part in check(exercise, claim).parts] == ["proved"]
    assert [part.word for part in check(exercise, claim.replace("1", "2")).parts] == [
        "refuted"
    ]


PREVIOUS = (r"K = I", r"Q = u_a u_b^\top + u_b u_c^\top")


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (r"\lim_{\beta \to 0} c_3 = u_b", "undecided"),
        (r"\lim_{\beta \to 0} c_3 = 5 u_a", "undecided"),
        (r"\lim_{\beta \to 0} c_3 = \frac13(u_a + u_b + u_c)", "undecided"),
        (r"\lim_{\beta \to \infty} c_3 = u_b", "proved"),
    ],
)
def test_what_becomes_0_with_all_vectors_tends_to_none_of_them(
    claim: str, word: str
) -> None:
    verdict = check("causal-previous", *PREVIOUS, claim)
    assert verdict.word == word, verdict.reason


def test_a_matrix_that_is_the_identity_on_the_directions_alone_is_not_the_identity() -> (
    None
):
    """It was proved, and the second look stopped the whole check."""
    directions = r"\frac{1}{\beta^2}(u_a u_a^\top + u_b u_b^\top + u_c u_c^\top)"
    assert check("causal-previous", *PREVIOUS, f"I = {directions}").word == "refuted"
    assert (
        check("causal-previous", *PREVIOUS, f"I u_a = {directions} u_a").word
        == "proved"
    )
