"""Order: equivariance without positions, none with them, for our layer and for a user's module."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright import (
    Alibi,
    InputError,
    Learned,
    Rotary,
    Sinusoidal,
    equivariance_defect,
    permute,
    random_layer,
)


@given(st.integers(1, 6), st.integers(0, 1000))
@settings(max_examples=30)
def test_layer_without_positions_is_equivariant(T: int, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(T, 4))
    assert equivariance_defect(random_layer(4, seed=seed), X, tries=30).relative < 1e-12


@pytest.mark.parametrize(
    "scheme",
    [
        Sinusoidal(8),
        Rotary(8),
        Alibi(1),
        Learned(np.random.default_rng(0).normal(size=(9, 8))),
    ],
    ids=lambda scheme: type(scheme).__name__,
)
def test_every_position_scheme_breaks_equivariance(scheme: Any) -> None:
    X = np.random.default_rng(0).normal(size=(5, 8))
    assert equivariance_defect(random_layer(8, positions=scheme), X).relative > 1e-5


def test_causal_mask_breaks_equivariance() -> None:
    X = np.random.default_rng(0).normal(size=(4, 8))
    assert equivariance_defect(random_layer(8, causal=True), X).relative > 0.01


def test_layer_agrees_with_torch() -> None:
    X = np.random.default_rng(0).normal(size=(5, 8))
    layer = random_layer(8, head_dim=4, hidden=16, seed=3)
    W = {
        name: torch.from_numpy(getattr(layer, name))
        for name in ("W_Q", "W_K", "W_V", "W_1", "b_1", "W_2", "b_2")
    }
    x = torch.from_numpy(X)
    Q, K, V = (x @ W[name] for name in ("W_Q", "W_K", "W_V"))
    H = torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None])[0]
    Z = torch.relu(H @ W["W_1"] + W["b_1"]) @ W["W_2"] + W["b_2"]
    np.testing.assert_allclose(layer(X), Z.numpy(), rtol=1e-10)


def test_layer_takes_batches_and_torch_tensors() -> None:
    X = np.random.default_rng(0).normal(size=(3, 5, 8))
    layer = random_layer(8, positions=Sinusoidal(8))
    np.testing.assert_allclose(layer(X)[1], layer(X[1]), rtol=1e-12)


def test_torch_encoder_layer_is_found_equivariant() -> None:
    module = torch.nn.TransformerEncoderLayer(
        8, 2, 16, batch_first=True, dropout=0.5, dtype=torch.float64
    ).eval()
    defect = equivariance_defect(
        module, torch.randn(7, 8, dtype=torch.float64), tries=40
    )
    assert defect.relative < 1e-12
    assert not defect.exhaustive
    assert defect.tried <= 40


def test_a_module_that_depends_on_order_is_found_out_with_its_worst_permutation() -> (
    None
):
    weights = np.arange(1.0, 5.0)[:, None]
    X = np.array([[1.0], [0.0], [0.0], [10.0]])
    defect = equivariance_defect(lambda X: weights * X, X)
    assert defect.exhaustive
    assert defect.tried == 23
    # Row i of f(PX) - P f(X) is (w_i - w_p(i)) x_p(i): worst when the 10 of row 3 goes to row 0.
    assert defect.absolute == 30
    assert defect.permutation[0] == 3


def test_search_finds_a_worse_permutation_than_chance_alone() -> None:
    weights = np.arange(30.0)[:, None]
    X = np.zeros((30, 1))
    X[0] = 1.0
    assert (
        equivariance_defect(lambda X: weights * X, X, tries=400, seed=1).absolute == 29
    )


def test_random_module_is_refused() -> None:
    module = torch.nn.TransformerEncoderLayer(
        8, 2, 16, batch_first=True, dropout=0.5
    ).train()
    with pytest.raises(InputError, match=r"random.*eval"):
        equivariance_defect(module, torch.randn(4, 8))


def test_a_given_permutation_may_be_a_matrix() -> None:
    X = np.random.default_rng(0).normal(size=(3, 4))
    order = np.array([2, 0, 1])
    layer = random_layer(4, positions=Sinusoidal(4))
    by_order, by_matrix = (
        equivariance_defect(layer, X, order),
        equivariance_defect(layer, X, np.eye(3)[order]),
    )
    assert by_order == by_matrix
    np.testing.assert_array_equal(permute(X, order), np.eye(3)[order] @ X)


@pytest.mark.parametrize(
    "P", [np.array([0, 0, 1]), np.array([0, 1]), np.ones((3, 3)), np.eye(3) * 2]
)
def test_what_is_no_permutation_is_refused(P: np.ndarray) -> None:
    with pytest.raises(InputError, match="not a permutation"):
        equivariance_defect(random_layer(4), np.ones((3, 4)), P)


@pytest.mark.parametrize(
    "module", [lambda X: X[:2], lambda X: (X[:2], X), lambda X: 3.0]
)
def test_a_module_that_returns_no_row_for_each_token_is_refused(module: Any) -> None:
    with pytest.raises(InputError, match="one row for each token"):
        equivariance_defect(module, np.ones((3, 4)))


def test_alibi_for_several_heads_is_refused_by_a_layer_of_one() -> None:
    with pytest.raises(InputError, match="biases for 4 heads"):
        random_layer(4, positions=Alibi(4))(np.ones((3, 4)))


def test_tokens_of_another_width_are_refused() -> None:
    with pytest.raises(InputError, match=r"5 features.*takes 4"):
        random_layer(4)(np.ones((3, 5)))
