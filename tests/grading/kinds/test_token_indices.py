"""Weights between tokens have two indices."""

from __future__ import annotations

import pytest

from tests.grading.kinds.bench import check

OBJECTS = (
    r"V = (1/\beta^2)(u_b u_b^\top - u_c u_c^\top)",
    "K = I",
    r"Q = (1/\beta^2)(u_c u_d^\top + u_d u_a^\top)",
)
MORE = r"\frac{\exp(\beta^2)}{\exp(\beta^2)+2}"


def _word(claim: str) -> str:
    return check("self-attention-route", *OBJECTS, claim).word


@pytest.mark.parametrize("name", [r"\alpha_{13}", r"\alpha_{1,3}"])
def test_a_weight_has_two_indices(name: str) -> None:
    assert _word(f"{name} = {MORE}") == "proved"
    assert _word(f"{name} = 1") == "refuted"


@pytest.mark.parametrize(
    ("claim", "word"), [("v_2 = 0", "proved"), ("v_1 = 0", "refuted")]
)
def test_a_value_has_one_index(claim: str, word: str) -> None:
    assert _word(claim) == word


@pytest.mark.parametrize(
    "claim",
    [
        r"\alpha_{1,j} \le \alpha_{1,3} \text{ for all } j",
        r"\sum_{j=1}^3 \alpha_{1,j} = 1",
    ],
)
def test_what_ranges_over_tokens_is_not_read(claim: str) -> None:
    assert _word(claim) not in ("proved", "refuted")
