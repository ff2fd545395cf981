"""Weights between tokens have two indices, and an index stands for the tokens that it is said for."""

from __future__ import annotations

import pytest

from tests.check.settings.bench import check

OBJECTS = (
    r"V = (1/\beta^2)(u_b u_b^\top - u_c u_c^\top)",
    "K = I",
    r"Q = (1/\beta^2)(u_c u_d^\top + u_d u_a^\top)",
)
MORE, LESS = r"\frac{\exp(\beta^2)}{\exp(\beta^2)+2}", r"\frac{1}{\exp(\beta^2)+2}"


def _word(claim: str) -> str:
    return check("self-attention-route", *OBJECTS, claim).word


@pytest.mark.parametrize("name", [r"\alpha_{13}", r"\alpha_{1,3}"])
def test_a_weight_has_two_indices(name: str) -> None:
    assert _word(f"{name} = {MORE}") == "proved"
    assert _word(f"{name} = 1") == "refuted"


def test_cases_of_an_index_are_the_tokens() -> None:
    cases = rf"\alpha_{{1,j}} = \begin{{cases}} {MORE} & j = 3 \\ {LESS} & j \neq 3 \end{{cases}}"
    assert _word(cases) == "proved"
    assert _word(cases.replace(r"\neq 3", r"\neq 2")) == "refuted"
    assert _word(cases.replace("+2} & j = 3", "+3} & j = 3")) == "refuted"


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (r"\sum_{j=1}^3 \alpha_{1,j} = 1", "proved"),
        (r"\sum_{j \ne 3} \alpha_{1,j} \to 0", "proved"),
        (r"\alpha_{1,j} \le \alpha_{1,3} \text{ for all } j", "proved"),
        (r"\alpha_{1,j} < \alpha_{1,3} \text{ for all } j", "refuted"),
        (r"k_i^\top q_j = 0 \text{ for all } i \ne j", "refuted"),
        ("v_2 = 0", "proved"),
        ("v_1 = 0", "refuted"),
    ],
)
def test_sums_run_over_the_tokens(claim: str, word: str) -> None:
    assert _word(claim) == word
