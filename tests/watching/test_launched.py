"""What Triton's kernels write waits until statistics are made of it for all layers: they are those of a CPU.

Without a GPU, Triton's interpreter stands in for it.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from headwright.models.module_paths import paths_of_modules
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.request import StatisticsRequest
from headwright.watching.recorded import RecordedStack, Recording, Run
from headwright.watching.statistics_queue import KeySets, StatisticsQueue
from tests.statistics.on_gpu import on_gpu

ROWS = ("entropy", "largest_score", "lse", "first")
TRACKED = (*ROWS, "winner", "previous", "margin")


def _recording(statistics: tuple[str, ...], keep: str) -> Recording:
    queue = StatisticsQueue(StatisticsRequest.of(statistics), KeySets())
    return Recording(queue, keep, None)


def _begin_run(seen: Recording) -> Run:
    part = seen.computed.get("model")
    if part is None:
        part = RecordedStack("model", seen.wanted, seen.keep, seen.storage)
        seen.computed["model"] = part
    seen.queue.finish()
    run = Run(2, 0, 20)
    part.open(run)
    return run


def _call(seen: Recording, run: Run, layer: int, seed: int, gpu: bool) -> None:
    """A layer is called; the last one has one head, the others have two, of keys that both share."""
    generator = torch.Generator().manual_seed(10 * seed + layer)
    heads = 1 if layer == 2 else 2
    query = torch.randn(2, heads, 20, 16, generator=generator)
    key = torch.randn(2, 1, 20, 16, generator=generator)
    if gpu:
        query = on_gpu(query)
        key = on_gpu(key)
    rows = AttentionRows(query, key, 0.25 - 0.5 * layer, causal=True)
    seen.queue.compute(seen.computed["model"], run, layer, rows, run, 20)


def _watched(statistics: tuple[str, ...], keep: str, gpu: bool) -> Recording:
    """Two runs of a model of three layers."""
    seen = _recording(statistics, keep)
    for seed in range(2):
        run = _begin_run(seen)
        for layer in range(3):
            _call(seen, run, layer, seed, gpu)
        assert len(seen.queue.launched) == (3 if gpu else 0)
    return seen


@pytest.mark.parametrize("statistics", [ROWS, TRACKED])
def test_rows_of_all_runs_are_those_of_a_cpu(statistics: tuple[str, ...]) -> None:
    found = _watched(statistics, "rows", gpu=True)
    truth = _watched(statistics, "rows", gpu=False)
    for run in range(2):
        for layer in range(3):
            for name in statistics:
                value = getattr(found.layer(layer, run), name)
                true = getattr(truth.layer(layer, run), name)
                assert value.shape == true.shape and value.dtype == true.dtype
                np.testing.assert_allclose(value, true, atol=2e-4, err_msg=name)


def test_means_and_what_keys_receive_are_those_of_a_cpu() -> None:
    statistics = ("entropy", "largest_score", "received", "received_most")
    found = _watched(statistics, "both", gpu=True)
    truth = _watched(statistics, "both", gpu=False)
    summary = found.summary()
    for name, true in truth.summary().items():
        if true.dtype.kind == "f":
            np.testing.assert_allclose(summary[name], true, rtol=1e-5, err_msg=name)
        else:
            assert summary[name].tolist() == true.tolist(), name
    for layer in range(3):
        for name in ("received", "received_most"):
            value = getattr(found.layer(layer), name)
            true = getattr(truth.layer(layer), name)
            np.testing.assert_allclose(value, true, atol=1e-4, err_msg=name)


def test_it_can_be_read_between_runs_and_a_layer_may_be_called_again() -> None:
    seen = _recording(("entropy",), "rows")
    run = _begin_run(seen)
    _call(seen, run, 0, seed=0, gpu=True)
    first = seen.layer(0).entropy
    assert not seen.queue.launched and first.shape == (2, 2, 20)
    _call(seen, run, 0, seed=1, gpu=True)
    _call(seen, run, 0, seed=2, gpu=True)
    assert len(seen.queue.launched) == 1
    joined = seen.layer(0).entropy
    assert joined.shape == (2, 2, 60)
    np.testing.assert_array_equal(joined[:, :, :20], first)
    truth = _recording(("entropy",), "rows")
    same_run = _begin_run(truth)
    for seed in range(3):
        _call(truth, same_run, 0, seed, gpu=False)
    np.testing.assert_allclose(joined, truth.layer(0).entropy, atol=1e-5)


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above so many bytes, statistics are made before the run ends."""
    from headwright.watching import statistics_queue

    monkeypatch.setattr(statistics_queue, "MOST_LAUNCHED", 1)
    seen = _recording(("entropy",), "rows")
    run = _begin_run(seen)
    for layer in range(3):
        _call(seen, run, layer, seed=0, gpu=True)
        assert not seen.queue.launched and seen.queue.launched_bytes == 0
    assert seen.layer(2).entropy.shape == (2, 1, 20)


def test_paths_are_those_of_torch() -> None:
    shared = nn.Linear(2, 2)
    model = nn.Sequential(
        nn.Sequential(shared, nn.ReLU()), shared, nn.ModuleDict({"a": nn.ReLU()})
    )
    model.register_module("empty", None)
    truth = [(module, path) for path, module in model.named_modules()]
    assert list(paths_of_modules(model).items()) == truth
