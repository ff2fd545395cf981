"""`row_statistics` of tensors on a GPU goes to the kernel; without a GPU, Triton's interpreter stands in for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from headwright.errors import InputError
from headwright.statistics import row_statistics
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.results import RowStatistics
from headwright.statistics.triton_backend import launch
from tests.statistics.on_gpu import on_gpu

LOOSE = {
    "distance": 2e-4,
    "sensitivity": 1e-4,
    "margin": 5e-5,
    "received": 1e-4,
    "received_last": 1e-4,
}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "all of it": {
        "scale": 0.3,
        "window": 30,
        "softcap": 3.0,
        "sinks": np.array([0.5, -3.0, 9.0, 0.0]),
        "offsets": (1, 7),
        "key_mask": np.arange(70) >= 9,
        "received": True,
        "last_rows": 5,
    },
    "a mask for each text": {
        "key_mask": np.arange(70) >= np.array([[0], [9]]),
        "causal": False,
    },
}


def _tensors(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(2, 4, 70, 16, generator=generator)
    k = torch.randn(2, 2, 70, 16, generator=generator)
    return q.to(dtype), k.to(dtype)


def _agree(found: RowStatistics, truth: RowStatistics) -> None:
    for name, true in vars(truth).items():
        value = getattr(found, name)
        if isinstance(true, dict):
            assert set(value) == set(true)
            for key, weights in true.items():
                np.testing.assert_allclose(
                    value[key], weights, atol=1e-5, err_msg=f"{name} {key}"
                )
        elif true is None:
            assert value is None, name
        else:
            assert value.dtype == true.dtype, name
            np.testing.assert_allclose(
                value, true, atol=LOOSE.get(name, 1e-5), rtol=1e-5, err_msg=name
            )


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_fills_the_same_fields_with_the_same_numbers(kind: str) -> None:
    q, k = _tensors()
    _agree(
        row_statistics(on_gpu(q), on_gpu(k), **KINDS[kind]),
        row_statistics(q.numpy(), k.numpy(), **KINDS[kind]),
    )


def _from_kernel(found: RowStatistics) -> bool:
    """The kernel's numbers are of float32; elsewhere what follows from sums is of float64."""
    return bool((found.lse.astype(np.float32) == found.lse).all())


def test_tensors_on_a_gpu_are_left_to_the_kernel_and_others_are_not() -> None:
    q, k = _tensors()
    given = on_gpu(q), on_gpu(k)
    truth = row_statistics(q, k, received=True)
    found = row_statistics(*given, received=True)
    assert _from_kernel(found) and not _from_kernel(truth)
    _agree(found, truth)
    others: list[dict[str, Any]] = [
        {"top": 2, "key_mask": np.arange(70) >= np.array([[0], [9]])},
        {"ends": (1, 2)},
        {"key_sets": {"odd": np.arange(70) % 2 == 1}, "received": True},
        {"extra": ["previous"], "ends": (0, 3), "sinks": np.ones(4), "window": 9},
    ]
    for more in others:
        by_torch = row_statistics(*given, **more)
        assert not _from_kernel(by_torch)
        _agree(by_torch, row_statistics(q, k, **more))
    doubles = _tensors(torch.float64)
    assert not _from_kernel(row_statistics(*(on_gpu(tensor) for tensor in doubles)))


@pytest.mark.parametrize(
    ("keys", "how", "words"),
    [
        (slice(0, 1), {}, "one batch"),
        (
            slice(None),
            {"key_mask": np.ones((3, 70))},
            "expected \\(keys,\\) or \\(batch, keys\\)",
        ),
        (slice(None), {"key_mask": np.full(70, 2)}, "holds 2"),
        (slice(None), {"sinks": np.ones(3)}, "each of the 4 heads"),
        (slice(None), {"window": 0}, "window = 0"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_kernel_runs(
    keys: slice, how: dict[str, Any], words: str
) -> None:
    q, k = _tensors()
    with pytest.raises(InputError, match=words):
        row_statistics(on_gpu(q), on_gpu(k[keys]), **how)


def test_keys_elsewhere_than_queries_are_refused() -> None:
    q, k = _tensors()
    with pytest.raises(InputError, match="both on one device"):
        row_statistics(on_gpu(q), k.numpy())


@pytest.mark.filterwarnings("ignore:All-NaN")  # of the interpreter
@pytest.mark.parametrize("hidden", [False, True])
def test_one_launch_computes_what_two_do(hidden: bool) -> None:
    """Where no statistic needs the key that won, the largest score follows from the largest weight."""
    torch.manual_seed(0)
    query, key = torch.randn(2, 4, 21, 16) * 4, torch.randn(2, 2, 33, 16)
    key_mask = torch.ones(2, 33, dtype=torch.bool)
    key_mask[0, : 33 if hidden else 5] = False
    key[1, 1, 7] = torch.nan
    call = AttentionRows(
        on_gpu(query), on_gpu(key), 0.3, causal=True, key_mask=on_gpu(key_mask)
    )
    names = ("lse", "largest", "entropy", "first", "largest_score", "received")
    one, sees, spoilt = launch(call, StatisticsRequest.of(names)).values(
        StatisticsRequest.of(names)
    )
    both = StatisticsRequest.of((*names, "winner"))
    two, sees_there, spoilt_there = launch(call, both).values(both)
    assert torch.equal(sees.cpu(), sees_there.cpu()) and bool((~sees).any()) == hidden
    assert torch.equal(spoilt.cpu(), spoilt_there.cpu()) and bool(spoilt.any())
    for name in names:
        torch.testing.assert_close(
            one[name], two[name], rtol=1e-5, atol=1e-5, equal_nan=True
        )
