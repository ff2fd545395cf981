"""Heads and layers: shapes are checked, and they do what attention does."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from headwright.attention import attend
from headwright.errors import InputError
from headwright.head_design import Head, HeadLayer, outputs, patterns

RNG = np.random.default_rng(0)
PLAIN = Head(np.eye(2), np.eye(2), np.eye(2))
BIASED = Head(np.eye(2), np.eye(2), np.eye(2), np.zeros(2), np.zeros(2))


def a_head(r: int = 2, D: int = 3, m: int = 4) -> Head:
    return Head(
        RNG.normal(size=(r, D)), RNG.normal(size=(r, D)), RNG.normal(size=(m, D))
    )


def test_a_layer_is_attention_with_outputs_added_up() -> None:
    layer = HeadLayer((a_head(), a_head(r=1)), causal=False, dtype="float64")
    X = RNG.normal(size=(5, 3))
    expected = np.zeros((5, 4))
    for head in layer.heads:
        for i, x in enumerate(X):
            expected[i] += attend(X @ head.W_K.T, head.W_Q @ x, X @ head.W_V.T).output
    np.testing.assert_allclose(outputs(layer, X), expected, rtol=1e-12)


def test_a_causal_layer_does_not_see_what_comes_later() -> None:
    layer = HeadLayer((a_head(),), causal=True, dtype="float64")
    X = RNG.normal(size=(5, 3))
    Y = X.copy()
    Y[3:] = 7.0
    np.testing.assert_array_equal(outputs(layer, X)[:3], outputs(layer, Y)[:3])
    assert np.triu(patterns(layer, X)[0], 1).max() == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: Head(np.ones((2, 3)), np.ones((1, 3)), np.ones((2, 3))),
            "expected \\(r, D\\)",
        ),
        (
            lambda: Head(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 4))),
            "expected \\(r, D\\)",
        ),
        (
            lambda: Head(np.ones(3), np.ones((2, 3)), np.ones((2, 3))),
            "W_Q: expected a matrix",
        ),
        (
            lambda: Head(np.full((2, 3), np.nan), np.ones((2, 3)), np.ones((2, 3))),
            "finite",
        ),
        (lambda: HeadLayer((), causal=True, dtype="float64"), "without heads"),
        (
            lambda: HeadLayer((a_head(),), causal=True, dtype="int8"),
            "expected one of float64",
        ),
        (
            lambda: HeadLayer((a_head(), a_head(m=2)), causal=True, dtype="float64"),
            "expected one",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            lambda: Head(np.eye(2), np.eye(2), np.eye(2), np.zeros(2)),
            "expected both or neither",
        ),
        (
            lambda: Head(np.eye(2), np.eye(2), np.eye(2), np.zeros(3), np.zeros(2)),
            "b_Q has the shape",
        ),
        (
            lambda: Head(
                np.eye(2), np.eye(2), np.eye(2), np.zeros(2), np.full(2, np.inf)
            ),
            "expected 2 finite numbers",
        ),
        (lambda: HeadLayer((PLAIN, BIASED), False, "float64"), "expected all or none"),
        (
            lambda: HeadLayer((PLAIN,), False, "float64", bias=((), ())),
            "expected all or none",
        ),
        (
            lambda: patterns(
                HeadLayer((PLAIN,), False, "float64", mask=("1",)), np.eye(2)
            ),
            "mask is for 1",
        ),
        (
            lambda: patterns(
                HeadLayer((PLAIN,), False, "float64", bias=(((Fraction(0),),),)),
                np.eye(2),
            ),
            "for 1 places",
        ),
    ],
)
def test_masks_and_biases_that_do_not_fit_are_refused(
    made: Callable[[], object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        made()


def test_biases_and_masks_are_run() -> None:
    head = Head(
        np.zeros((1, 2)),
        np.array([[1.0, 0.0]]),
        np.eye(2),
        np.array([2.0]),
        np.array([10.0, 0.0]),
    )
    table = tuple(
        tuple(Fraction(x) for x in row) for row in ((0, 0, 0), (0, 0, 5), (0, 0, 0))
    )
    layer = HeadLayer((head,), False, "float64", ("100", "101", "111"), (table,))
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    A = patterns(layer, X)[0]
    np.testing.assert_allclose(A[0], [1, 0, 0])
    np.testing.assert_allclose(
        A[1], np.array([np.exp(2), 0, np.exp(5)]) / (np.exp(2) + np.exp(5))
    )
    np.testing.assert_allclose(outputs(layer, X)[0], [11, 0])
