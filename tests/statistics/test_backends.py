"""NaN, infinite, very low and missing scores mean the same to every backend of the row statistics.

The torch backend of `watch` leaves out the rows that see nothing, so of those it is asked for nothing here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from headwright.statistics import gpu_kernel, row_statistics
from headwright.statistics.arrays import NumpyBackend
from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.compute import (
    ON_A_CPU,
    ComputedStatistics,
    compute_in_blocks,
)
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.results import RowStatistics
from headwright.statistics.row_block import BlockSize
from headwright.statistics.table import RECEIVED
from headwright.statistics.torch_arrays import (
    NumpyBesideTorch,
    TorchBackend,
    masks_as_tensors,
)
from headwright.statistics.triton_backend import launch
from headwright.watching.statistics import statistics_of
from tests.statistics.on_gpu import on_gpu

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NAMES = (
    "lse",
    "largest",
    "winner",
    "margin",
    "entropy",
    "first",
    "distance",
    "sensitivity",
    "largest_score",
)
INF, NAN = np.inf, np.nan
Table = dict[str, np.ndarray]


REQUEST = StatisticsRequest.of((*NAMES, "self", "previous"))
WITH_TOP = StatisticsRequest.of((*REQUEST.names, "top_keys"), top=2)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what NumPy says of NaN: Triton's interpreter is made of it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _public(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    found: RowStatistics = row_statistics(q, k, **scoring.options)
    rows = {name: getattr(found, name)[0] for name in NAMES}
    return rows | {"self": found.offsets[0][0], "previous": found.offsets[1][0]}


def _public_on_gpu(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    query, key = on_gpu(torch.from_numpy(q)), on_gpu(torch.from_numpy(k))
    with _quiet():
        found = row_statistics(query, key, **scoring.options)
    rows = {name: getattr(found, name)[0] for name in NAMES}
    return rows | {"self": found.offsets[0][0], "previous": found.offsets[1][0]}


def _call(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> AttentionRows:
    """The one head of a text."""
    mask = None if scoring.key_mask is None else scoring.key_mask[None]
    return AttentionRows(
        q[None],
        k[None],
        scoring.scale,
        sinks=scoring.sinks,
        causal=scoring.causal,
        key_mask=mask,
        first=None if mask is None else mask.argmax(1),
        row_position=scoring.shift,
    )


def _tensors(call: AttentionRows) -> AttentionRows:
    query, key = torch.from_numpy(call.query), torch.from_numpy(call.key)
    return masks_as_tensors(replace(call, query=query, key=key))


def _rows(computed: ComputedStatistics) -> Table:
    return {
        name: np.asarray(computed.values[name][0, 0], dtype=float)
        for name in REQUEST.names
    }


def _numpy(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    call = _call(q, k, scoring)
    return _rows(compute_in_blocks(call, REQUEST, NumpyBackend(), ON_A_CPU))


def _small_blocks(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    call = _call(q, k, scoring)
    return _rows(compute_in_blocks(call, REQUEST, NumpyBackend(), BlockSize(1)))


def _numpy_top(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    call = _call(q, k, scoring)
    return _rows(compute_in_blocks(call, WITH_TOP, NumpyBackend(), ON_A_CPU))


def _beside_torch(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    call = _call(q, k, scoring)
    return _rows(compute_in_blocks(call, REQUEST, NumpyBesideTorch(), ON_A_CPU))


def _torch(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    call, backend = _tensors(_call(q, k, scoring)), TorchBackend(torch.device("cpu"))
    return _rows(compute_in_blocks(call, WITH_TOP, backend, ON_A_CPU))


def _triton(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    tensors = (torch.from_numpy(array).to(DEVICE) for array in (q, k))
    with _quiet():
        found = gpu_kernel.statistics(*tensors, offsets=(0, 1), **scoring.options)
    rows = {name: found[name][0].double().cpu().numpy() for name in NAMES}
    places = {
        name: found[f"offset {offset}"][0]
        for offset, name in enumerate(("self", "previous"))
    }
    return rows | {
        name: weight.double().cpu().numpy() for name, weight in places.items()
    }


def _kernel(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    call = _tensors(_call(q, k, scoring))
    with _quiet():
        values, sees, spoilt = launch(call, REQUEST).values(REQUEST)
    assert bool((sees | spoilt)[values["winner"] >= 0].all())
    return {name: values[name][0, 0].double().numpy() for name in REQUEST.names}


def _watched(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> Table:
    """As `watch` computes it."""
    found = statistics_of(_tensors(_call(q, k, scoring)), REQUEST)
    return {name: found[name][0, 0].double().numpy() for name in REQUEST.names}


BACKENDS: dict[str, Callable[[np.ndarray, np.ndarray, AttentionConfig], Table]] = {
    "row_statistics": _public,
    "row_statistics on a GPU": _public_on_gpu,
    "NumPy": _numpy,
    "NumPy, row by row": _small_blocks,
    "NumPy, top keys": _numpy_top,
    "NumPy beside torch": _beside_torch,
    "torch": _torch,
    "Triton": _triton,
    "Triton, by the names of the table": _kernel,
    "watch": _watched,
}
WATCHING = ("watch",)

ALL_NAN = dict.fromkeys(NAMES, NAN) | {"winner": -1, "self": NAN, "previous": NAN}
SEES_NOTHING = dict.fromkeys(NAMES, 0.0) | {
    "winner": -1,
    "lse": -INF,
    "largest_score": -INF,
    "self": 0.0,
    "previous": 0.0,
}
ONE_KEY = {
    "largest": 1.0,
    "winner": 0,
    "margin": INF,
    "entropy": 0.0,
    "first": 1.0,
    "distance": 0.0,
    "self": 1.0,
    "previous": 0.0,
}

# Scores of a causal head of dimension 1 and scale 1, as queries and keys; then what each row has to be.
CASES: dict[
    str, tuple[list[float], list[float], dict[str, Any], list[dict[str, float]]]
] = {
    "a query that is NaN": (
        [1, NAN, 1],
        [0, 0, 0],
        {},
        [ONE_KEY, ALL_NAN, {"entropy": np.log(3)}],
    ),
    "a key that is NaN": ([1, 1, 1], [0, NAN, 0], {}, [ONE_KEY, ALL_NAN, ALL_NAN]),
    "a masked key that is NaN": (
        [1, 1, 1],
        [0, NAN, 0],
        {"key_mask": np.array([True, False, True])},
        [
            ONE_KEY,
            ONE_KEY | {"distance": 1.0, "self": 0.0, "previous": 1.0},
            {"entropy": np.log(2), "margin": 0.0},
        ],
    ),
    "a score of plus infinity": (
        [1, 1, 1],
        [0, INF, 0],
        {},
        [ONE_KEY, ALL_NAN, ALL_NAN],
    ),
    "products that overflow to plus infinity": (
        [1, 1e30, 1],
        [0, 1e30, 0],
        {},
        [ONE_KEY, ALL_NAN, {"largest_score": 1e30, "winner": 1, "margin": 1e30}],
    ),
    "a score of minus infinity": (
        [1, 1, 1],
        [0, -INF, 0],
        {},
        [
            ONE_KEY,
            ONE_KEY | {"distance": 1.0, "self": 0.0, "previous": 1.0},
            {"entropy": np.log(2), "previous": 0.0},
        ],
    ),
    "nothing but scores of minus infinity": (
        [1, 1],
        [-INF, 0],
        {},
        [SEES_NOTHING, {"winner": 1, "largest": 1.0}],
    ),
    "a score of -1e30": (
        [1],
        [-1e30],
        {},
        [ONE_KEY | {"lse": -1e30, "largest_score": -1e30}],
    ),
    "scores of -1e30 and less": (
        [1, 1, 1],
        [-3e30, -1e30, -2e30],
        {},
        [
            ONE_KEY | {"lse": -3e30},
            {"winner": 1, "lse": -1e30},
            {"winner": 1, "lse": -1e30, "margin": 1e30},
        ],
    ),
    "a row that sees no key": (
        [1, 1],
        [0, 0],
        {"key_mask": np.array([False, True])},
        [SEES_NOTHING, {"winner": 1}],
    ),
    "a row that sees no key but a sink": (
        [1, 1],
        [0, 0],
        {"key_mask": np.array([False, True]), "sinks": np.array([2.5])},
        [SEES_NOTHING | {"lse": 2.5}, {"winner": 1, "lse": np.log(1 + np.exp(2.5))}],
    ),
    "a sink of minus infinity": (
        [1, 1],
        [0, 0],
        {"sinks": np.array([-INF])},
        [ONE_KEY | {"lse": 0.0}, {"entropy": np.log(2), "distance": 0.5}],
    ),
    "a sink of minus infinity and no key": (
        [1, 1],
        [0, 0],
        {"sinks": np.array([-INF]), "key_mask": np.array([False, True])},
        [SEES_NOTHING, {"winner": 1}],
    ),
    "a sink that is NaN": (
        [1, 1],
        [0, 0],
        {"sinks": np.array([NAN])},
        [ALL_NAN, ALL_NAN],
    ),
    "a scale of 0 beside a sink": (
        [1, 1],
        [3, 4],
        {"scale": 0.0, "sinks": np.array([0.0])},
        [{"lse": np.log(2)}, {"entropy": np.log(3)}],
    ),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES)
def test_scores_that_are_no_ordinary_numbers_mean_the_same_everywhere(
    case: str, backend: str
) -> None:
    queries, keys, how, expected = CASES[case]
    q, k = (
        np.array(numbers, dtype=np.float32)[None, :, None]
        for numbers in (queries, keys)
    )
    scoring = AttentionConfig.of(q.shape, k.shape, **({"scale": 1.0} | how))
    found = BACKENDS[backend](q, k, scoring)
    for row, fields in enumerate(expected):
        sees_nothing = fields.get("winner") == -1
        if sees_nothing and backend in WATCHING:
            fields = ALL_NAN
        for name, true in fields.items():
            np.testing.assert_allclose(
                found[name][row],
                true,
                rtol=1e-5,
                atol=1e-6,
                err_msg=f"{name} of row {row}",
            )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_key_that_is_nan_in_a_late_block_spoils_only_the_rows_that_see_it(
    backend: str,
) -> None:
    rng = np.random.default_rng(0)
    q, k = (rng.normal(size=(1, 700, 8)).astype(np.float32) for _ in range(2))
    k[0, 600] = NAN
    scoring = AttentionConfig.of(q.shape, k.shape)
    found, clean = (
        BACKENDS[backend](q, k, scoring),
        _numpy(q, np.nan_to_num(k), scoring),
    )
    for name, values in found.items():
        np.testing.assert_allclose(
            values[:600], clean[name][:600], rtol=1e-4, atol=2e-3, err_msg=name
        )
        spoilt = values[600:] == -1 if name == "winner" else np.isnan(values[600:])
        assert spoilt.all(), name


def _received_by_rows(q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor) -> Table:
    found = row_statistics(q, k, scale=1.0, key_mask=mask, received=True, last_rows=2)
    return {name: np.asarray(getattr(found, name))[0] for name in RECEIVED}


def _received_by_kernel(q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor) -> Table:
    with _quiet():
        found = gpu_kernel.statistics(
            q.to(DEVICE),
            k.to(DEVICE),
            scale=1.0,
            key_mask=mask.to(DEVICE),
            received=True,
            last_rows=2,
        )
    return {name: found[name][0].double().cpu().numpy() for name in RECEIVED}


def _received_by_torch(q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor) -> Table:
    call = AttentionRows(q[None], k[None], 1.0, causal=True, key_mask=mask[None])
    found = statistics_of(call, StatisticsRequest.of(RECEIVED, last_rows=2))
    return {name: found[name][0, 0].numpy() for name in RECEIVED}


@pytest.mark.parametrize(
    "compute", [_received_by_rows, _received_by_kernel, _received_by_torch]
)
def test_a_row_that_is_nan_gives_nan_to_the_keys_that_it_sees_and_to_no_others(
    compute: Any,
) -> None:
    q, k = torch.ones(1, 5, 1), torch.zeros(1, 5, 1)
    q[0, 2] = NAN
    found = compute(q, k, torch.tensor([True, False, True, True, True]))
    truth = {
        "received": [NAN, 0, NAN, 1 / 3 + 1 / 4, 1 / 4],
        "received_last": [1 / 3 + 1 / 4, 0, 1 / 3 + 1 / 4, 1 / 3 + 1 / 4, 1 / 4],
        "received_most": [NAN, 0, NAN, 1 / 3, 1 / 4],
    }
    for name, expected in truth.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-6, err_msg=name)
