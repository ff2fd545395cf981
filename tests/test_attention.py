"""The definition: what a pattern is, for every kind of array."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from headwright import (
    FullyMaskedError,
    InputError,
    attend,
    causal,
    output,
    pattern,
    scores,
)

finite = st.floats(-1e300, 1e300, allow_subnormal=True)
moderate = st.floats(-50, 50)
score_rows = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=3, max_side=6), elements=finite
)
small_rows = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=moderate
)


@given(score_rows)
def test_pattern_is_a_distribution_for_scores_of_any_finite_size(s: np.ndarray) -> None:
    alpha = pattern(s)
    assert (alpha >= 0).all()
    np.testing.assert_allclose(alpha.sum(axis=-1), 1, rtol=1e-14)


@given(small_rows, moderate)
def test_shifting_all_scores_changes_nothing(s: np.ndarray, shift: float) -> None:
    np.testing.assert_allclose(pattern(s + shift), pattern(s), rtol=1e-12)


@given(small_rows, st.randoms())
def test_permuting_keys_permutes_the_pattern(s: np.ndarray, random: Any) -> None:
    order = list(range(s.shape[-1]))
    random.shuffle(order)
    np.testing.assert_allclose(pattern(s[:, order]), pattern(s)[:, order], rtol=1e-14)


@given(small_rows)
def test_pattern_agrees_with_the_formula(s: np.ndarray) -> None:
    for row, alpha in zip(s, pattern(s), strict=True):
        total = math.fsum(math.exp(x) for x in row)
        np.testing.assert_allclose(
            alpha, [math.exp(x) / total for x in row], rtol=1e-13
        )


def test_pattern_survives_the_largest_numbers_without_a_warning() -> None:
    largest = np.finfo(np.float64).max
    np.testing.assert_array_equal(
        pattern(np.array([[largest, -largest], [-largest, -largest]])),
        [[1, 0], [0.5, 0.5]],
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_pattern_keeps_the_number_type(dtype: type) -> None:
    largest = np.finfo(dtype).max
    s: np.ndarray = np.array([[largest, 0, -largest]], dtype=dtype)
    alpha = pattern(s)
    assert alpha.dtype == dtype
    np.testing.assert_array_equal(alpha, [[1, 0, 0]])


def _torch(a: np.ndarray) -> Any:
    return torch.from_numpy(a)


def _strict(a: np.ndarray) -> Any:
    return array_api_strict.asarray(a)


@pytest.mark.parametrize("kind", [_torch, _strict])
def test_every_kind_of_array_comes_back_as_its_kind(kind: Any) -> None:
    rng = np.random.default_rng(0)
    K, Q, V = (
        rng.normal(size=(2, 5, 3)),
        rng.normal(size=(2, 4, 3)),
        rng.normal(size=(2, 5, 7)),
    )
    expected = attend(K, Q, V, scale=0.5)
    found = attend(kind(K), kind(Q), kind(V), scale=0.5)
    assert type(found.output) is type(kind(K))
    for part in ("scores", "pattern", "output"):
        np.testing.assert_allclose(
            np.asarray(getattr(found, part)), getattr(expected, part), rtol=1e-12
        )


def test_gradients_flow_through_torch() -> None:
    q = torch.zeros((1, 3), dtype=torch.float64, requires_grad=True)
    attend(torch.eye(3, dtype=torch.float64), q).pattern[0, 0].backward()
    np.testing.assert_allclose(q.grad.numpy(), [[2 / 9, -1 / 9, -1 / 9]], rtol=1e-12)  # type: ignore[union-attr]


def test_output_of_several_heads_is_their_mean() -> None:
    rng = np.random.default_rng(1)
    K, Q, V = rng.normal(size=(6, 4)), rng.normal(size=(3, 4)), rng.normal(size=(6, 2))
    each = [attend(K, Q[h], V).output for h in range(3)]
    np.testing.assert_allclose(
        attend(K, Q, V).output, np.mean(each, axis=0), rtol=1e-12
    )


def test_mask_gives_exactly_zero_to_hidden_keys() -> None:
    mask = np.array([[True, False, True]])
    np.testing.assert_array_equal(
        pattern(np.array([[0.0, 1e300, 0.0]]), mask), [[0.5, 0, 0.5]]
    )


@pytest.mark.parametrize(("rows", "n"), [(3, 3), (1, 4), (2, 5)])
def test_causal_shows_the_last_row_every_key(rows: int, n: int) -> None:
    mask = causal(np.zeros((rows, n)))
    assert mask[-1].all()
    assert mask.sum(axis=1).tolist() == list(range(n - rows + 1, n + 1))


def test_fully_masked_row_is_named() -> None:
    mask = np.ones((2, 3, 2), dtype=bool)
    mask[1, 2] = False
    with pytest.raises(
        FullyMaskedError, match=r"row \(1, 2\) of the scores is fully masked"
    ):
        pattern(np.zeros((2, 3, 2)), mask)


def test_integers_are_read_as_numbers() -> None:
    np.testing.assert_allclose(
        attend(np.eye(2, dtype=int), np.array([[0, 0]])).pattern, [[0.5, 0.5]]
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: attend(np.ones((3, 2)), np.ones((1, 4))), r"\(3, 2\).*\(1, 4\)"),
        (
            lambda: attend(np.ones((0, 2)), np.ones((1, 2))),
            r"\(0, 2\).*none of them empty",
        ),
        (
            lambda: attend(np.eye(2) * 1e200, np.ones((1, 2)) * 1e200),
            "row 0 .*too large",
        ),
        (lambda: attend(np.eye(2), torch.eye(2)), "ndarray, Tensor"),
        (lambda: attend(np.eye(2).astype(complex), np.eye(2)), "complex"),
        (lambda: scores(np.array([[np.nan]]), np.ones((1, 1))), "not finite"),
        (lambda: pattern(np.array([[np.inf, 0]])), "inf or nan"),
        (lambda: pattern(np.array([[np.nan, 0]])), "inf or nan"),
        (lambda: pattern(np.zeros((2, 2)), np.zeros((2, 2))), "expected booleans"),
        (lambda: pattern(np.zeros((2, 2)), np.zeros((3, 2), dtype=bool)), r"\(3, 2\)"),
        (
            lambda: output(np.ones((1, 3)) / 3, np.ones((2, 2))),
            "3 keys and there are 2 values",
        ),
    ],
)
def test_bad_input_is_refused_in_words(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()
