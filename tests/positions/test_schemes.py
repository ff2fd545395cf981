"""How a position enters a layer: the formulas of the papers, for arrays of every kind."""

from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from headwright.errors import InputError
from headwright.positions import (
    Alibi,
    Learned,
    Rotary,
    Scheme,
    Sinusoidal,
    closest_pair,
    report,
)

even = st.integers(1, 12).map(lambda half: 2 * half)
bases = st.floats(1.0, 1e6)


@given(dim=even, base=bases, t=st.integers(0, 10_000))
def test_rows_are_the_sines_and_cosines_of_the_definition(
    dim: int, base: float, t: int
) -> None:
    with mpmath.workprec(200):
        angles = [
            t * mpmath.mpf(base) ** (-2 * mpmath.mpf(i) / dim) for i in range(dim // 2)
        ]
        expected = [
            float(f(angle)) for angle in angles for f in (mpmath.sin, mpmath.cos)
        ]
    assert_allclose(
        Sinusoidal(dim, base).rows(np.array([float(t)]))[0], expected, atol=1e-10
    )
    assert_array_equal(
        Rotary(dim, base).rows(np.array([float(t)])),
        Sinusoidal(dim, base).rows(np.array([float(t)])),
    )


@pytest.mark.parametrize(
    "scheme", [Sinusoidal(6), Learned(np.arange(30.0).reshape(5, 6))]
)
def test_embedding_adds_the_rows_to_every_batch(scheme: Scheme) -> None:
    X = np.random.default_rng(0).normal(size=(2, 3, 5, 6))
    assert_allclose(
        scheme.embed(X) - X,
        np.broadcast_to(scheme.rows(np.arange(5.0)), X.shape),
        atol=1e-14,
    )
    assert scheme.rotate(X) is X
    assert scheme.bias(5, 5) is None


def test_rotary_and_alibi_leave_the_tokens_alone() -> None:
    X = np.ones((4, 6))
    assert Rotary(6).embed(X) is X
    assert Alibi(3).embed(X) is X
    assert Rotary(6).bias(4, 4) is None
    assert Alibi(3).rotate(X) is X


@given(
    half=st.integers(1, 6),
    base=bases,
    shift=st.integers(0, 50),
    seed=st.integers(0, 99),
)
def test_rotated_scores_depend_on_the_difference_alone(
    half: int, base: float, shift: int, seed: int
) -> None:
    q, k = np.random.default_rng(seed).normal(size=(2, 2 * half))
    Q, K = (Rotary(2 * half, base).rotate(np.tile(x, (60, 1))) for x in (q, k))
    scores = Q @ K.T
    rows = np.arange(60 - shift)
    assert_allclose(scores[rows, rows + shift], scores[0, shift], atol=1e-9)
    assert_allclose(np.linalg.norm(Q, axis=1), np.linalg.norm(q), rtol=1e-12)
    assert_array_equal(Q[0], q)


def test_rotation_is_multiplication_by_a_unit_complex_number() -> None:
    x = np.random.default_rng(1).normal(size=(7, 4))
    turned = Rotary(4).rotate(x)
    by_hand = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(
        1j * np.arange(7)[:, None] * [1.0, 0.01]
    )
    assert_allclose(turned[:, 0::2] + 1j * turned[:, 1::2], by_hand, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "act", [Sinusoidal(4).embed, Learned(np.eye(4)).embed, Rotary(4).rotate]
)
def test_torch_tensors_keep_kind_and_type(
    dtype: str, act: Callable[[Any], Any]
) -> None:
    X = torch.arange(24, dtype=getattr(torch, dtype)).reshape(2, 3, 4) / 32
    result = act(X)
    assert isinstance(result, torch.Tensor)
    assert result.dtype == X.dtype
    reference = act(X.double().numpy())
    assert_allclose(result.double().numpy(), reference, atol=0.02)


def test_other_arrays_keep_kind_and_type() -> None:
    X = strict.asarray(np.ones((3, 4)), dtype=strict.float32)
    for result in (
        Sinusoidal(4).embed(X),
        Rotary(4).rotate(X),
        Alibi(2).bias(3, 3, like=X),
    ):
        assert isinstance(result, type(X))
        assert result.dtype == strict.float32
    assert Sinusoidal(4).embed(np.ones((3, 4), dtype=np.float32)).dtype == np.float32
    assert Sinusoidal(4).embed(np.ones((3, 4), dtype=int)).dtype == np.float64


def test_gradients_pass_through_an_embedding() -> None:
    X = torch.ones((3, 4), requires_grad=True)
    (Sinusoidal(4).embed(X).sum() + Rotary(4).rotate(X).sum()).backward()
    assert X.grad is not None
    assert bool(torch.isfinite(X.grad).all())


def _slopes_of_the_paper(n: int) -> list[float]:
    """The code that the ALiBi authors published, retold."""
    if n & (n - 1) == 0:
        start = 2 ** (-(2 ** -(np.log2(n) - 3)))
        return [float(start * start**i) for i in range(n)]
    closest = 2 ** int(np.floor(np.log2(n)))
    return (
        _slopes_of_the_paper(closest)
        + _slopes_of_the_paper(2 * closest)[0::2][: n - closest]
    )


@pytest.mark.parametrize("heads", range(1, 50))
def test_alibi_slopes_are_those_of_the_paper(heads: int) -> None:
    assert_allclose(Alibi(heads).slopes, _slopes_of_the_paper(heads), rtol=1e-12)
    assert len(Alibi(heads).slopes) == heads


def test_alibi_bias_falls_with_the_distance_and_the_last_query_is_at_the_last_key() -> (
    None
):
    bias = Alibi(2).bias(2, 4)
    assert bias.shape == (2, 2, 4)
    assert_array_equal(
        bias[0] * 16, -np.array([[2.0, 1.0, 0.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
    )
    like = Alibi(2).bias(2, 4, like=torch.zeros(1, dtype=torch.bfloat16))
    assert like.dtype == torch.bfloat16
    assert like.shape == (2, 2, 4)


def test_a_learned_table_is_a_copy_of_numbers_even_from_a_trained_tensor() -> None:
    table = torch.nn.Parameter(torch.ones(3, 2, dtype=torch.bfloat16))
    scheme = Learned(table)  # type: ignore[arg-type]
    with torch.no_grad():
        table.add_(1)
    assert_array_equal(scheme.table, np.ones((3, 2)))
    with pytest.raises(ValueError, match="read-only"):
        scheme.table[0, 0] = 5.0


def test_a_scheme_of_ones_own_can_be_examined() -> None:
    class Squares(Scheme):
        def rows(self, index: np.ndarray) -> np.ndarray:
            squares: np.ndarray = ((index - 3) ** 2)[:, None]
            return squares

    assert report(Squares(), 7).first_pair == (2, 4)
    assert closest_pair(Squares(), 4).pair == (2, 3)


WRONG: dict[str, Callable[[], object]] = {
    "dim is 3: expected an even number, a sine and a cosine for each wave": lambda: (
        Sinusoidal(3)
    ),
    "dim is 0: expected a whole number from 2 to 1048576": lambda: Rotary(0),
    "dim is 4.0: expected a whole number from 2 to 1048576": lambda: Sinusoidal(4.0),  # type: ignore[arg-type]
    "dim is True: expected a whole number from 2 to 1048576": lambda: Sinusoidal(True),
    "base is 0.5: expected a finite number of at least 1": lambda: Sinusoidal(4, 0.5),
    "base is nan: expected a finite number of at least 1": lambda: Rotary(
        4, float("nan")
    ),
    "heads is 0: expected a whole number from 1 to 1048576": lambda: Alibi(0),
    "rows is 0: expected a whole number from 1 to 2147483648": lambda: Alibi(1).bias(
        0, 3
    ),
    "the table: has shape (3,), expected 2 axes": lambda: Learned(np.zeros(3)),
    "the table: has shape (0, 2), which is empty": lambda: Learned(np.zeros((0, 2))),
    "the table: entry (1, 0) is nan, expected a finite number": lambda: Learned(
        np.array([[1.0], [np.nan]])
    ),
    "the table holds a number of size 1e+200: expected at most 1e+100": lambda: Learned(
        np.array([[1e200]])
    ),
    "the table: holds str32, expected real numbers": lambda: Learned([["a"]]),  # type: ignore[arg-type]
    "X has shape (3, 5): expected (*batch, T, 4)": lambda: Sinusoidal(4).embed(
        np.ones((3, 5))
    ),
    "x has shape (4,): expected (*batch, T, 4)": lambda: Rotary(4).rotate(np.ones(4)),
    "X is a list: expected an array (NumPy, torch, ...)": lambda: Sinusoidal(4).embed(
        [[1.0]]
    ),
    "X is of type complex128: expected real numbers": lambda: Sinusoidal(4).embed(
        np.ones((3, 4)) * 1j
    ),
    "the index holds 2: expected whole numbers from 0 to 1, the rows of the table": lambda: (
        Learned(np.eye(2)).embed(np.ones((3, 2)))
    ),
    "the index holds 0.5: expected whole numbers from 0 to 1, the rows of the table": lambda: (
        Learned(np.eye(2)).rows(np.array([0.5]))
    ),
    "the index has shape (1, 1): expected one axis of finite numbers": lambda: (
        Sinusoidal(2).rows(np.ones((1, 1)))
    ),
    "the index has shape (1,): expected one axis of finite numbers": lambda: Alibi(
        2
    ).rows(np.array([np.inf])),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_used_is_refused_in_plain_words(message: str) -> None:
    with pytest.raises(InputError) as refusal:
        WRONG[message]()
    assert str(refusal.value) == message
