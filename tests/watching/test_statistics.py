"""The statistics of a call are those of `row_statistics`, whatever way they are computed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from headwright.statistics import row_statistics
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.compute import (
    ON_A_CPU,
    ComputedStatistics,
    compute_in_blocks,
)
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.table import ENDS, RECEIVED, SETS, TABLE, TOP
from headwright.statistics.torch_arrays import TorchBackend
from headwright.statistics.triton_backend import launch
from headwright.watching import statistics as watched_statistics
from headwright.watching.names import SPOILT
from headwright.watching.statistics import read_mask, statistics_of

ALL = tuple(TABLE)

KINDS: dict[str, dict[str, Any]] = {
    "causal": {"causal": True},
    "full": {},
    "window": {"causal": True, "window": 7},
    "softcap": {"causal": True, "softcap": 2.0},
    "sinks": {"causal": True, "sinks": torch.tensor([0.5, -3.0, 9.0, 0.0])},
    "key mask": {
        "causal": True,
        "key_mask": torch.arange(70).expand(2, -1) >= torch.tensor([[0], [9]]),
    },
}
WANTED = StatisticsRequest.of(ALL, top=3, ends=(2, 5), last_rows=6)


def _call(
    kind: str, dtype: torch.dtype = torch.float64, size: float = 1.0
) -> AttentionRows:
    generator = torch.Generator().manual_seed(0)
    q = size * torch.randn(2, 4, 70, 16, generator=generator, dtype=torch.float64)
    k = torch.randn(2, 2, 70, 16, generator=generator, dtype=torch.float64)
    chosen = (torch.arange(70) % 3 == 1).expand(2, -1)
    first = torch.tensor([0, 9]) if kind == "key mask" else None
    sets = {"special": chosen, "keys": ~chosen}
    return AttentionRows(
        q.to(dtype), k.to(dtype), 0.25, **KINDS[kind], first=first, sets=sets
    )


def _truth(call: AttentionRows) -> dict[str, Any]:
    mask = None if call.key_mask is None else call.key_mask.numpy()
    found = row_statistics(
        call.query.double().numpy(),
        call.key.double().numpy(),
        scale=call.scale,
        causal=call.causal,
        window=call.window,
        softcap=call.softcap,
        sinks=None if call.sinks is None else call.sinks.numpy(),
        key_mask=mask,
        top=3,
        ends=(2, 5),
        last_rows=6,
        received=True,
        key_sets={name: members.numpy() for name, members in call.sets.items()},
    )
    rows = (
        vars(found)
        | found.sets
        | {"self": found.offsets[0], "previous": found.offsets[1]}
    )
    nothing = np.isneginf(found.lse)
    told = {}
    for name in ALL:
        value = np.asarray(rows[name], dtype=float)
        if name not in RECEIVED and name not in ("winner", "top_keys"):
            value = np.where(
                nothing[..., None] if value.ndim == 4 else nothing, np.nan, value
            )
        told[name] = value
    return told


def _agrees(
    found: dict[str, torch.Tensor], truth: dict[str, Any], tolerance: float
) -> None:
    for name, value in found.items():
        np.testing.assert_allclose(
            value.double().numpy(),
            truth[name],
            atol=tolerance * (100 if name == "distance" else 1),
            rtol=tolerance,
            err_msg=name,
        )


def _by_torch(call: AttentionRows, wanted: StatisticsRequest) -> ComputedStatistics:
    """As on a GPU, where the kernel does not know what is asked for."""
    return compute_in_blocks(call, wanted, TorchBackend(torch.device("cpu")), ON_A_CPU)


def _by_kernel(call: AttentionRows, wanted: StatisticsRequest) -> ComputedStatistics:
    return ComputedStatistics(*launch(call, wanted).values(wanted))


@pytest.mark.parametrize("size", [1.0, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_each_statistic_is_that_of_row_statistics(kind: str, size: float) -> None:
    call = _call(kind, size=size)
    found = statistics_of(call, WANTED)
    assert not found.pop(SPOILT).any()
    assert set(found) == set(ALL)
    truth = _truth(call)
    if (
        kind == "softcap" and size > 1
    ):  # many scores are equal to the cap, and the slope there is lost
        found = {
            name: value
            for name, value in found.items()
            if name not in ("winner", "top_keys", "sensitivity")
        }
    if size > 1:  # weights that vanish are no top ones
        found.pop("top_keys", None)
    _agrees(found, truth, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", [_by_torch, _by_kernel])
def test_every_way_gives_the_same(
    kind: str, way: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_statistics, "compute_statistics", way)
    call = _call(kind, torch.float32)
    left_out = (*TOP, *ENDS, *SETS) if way is _by_kernel else ()
    wanted = StatisticsRequest.of(
        [name for name in ALL if name not in left_out], top=3, ends=(2, 5), last_rows=6
    )
    found = statistics_of(call, wanted)
    assert not found.pop(SPOILT).any()
    assert set(found) == set(wanted.names)
    _agrees(found, _truth(call), 2e-5)


def _read(
    call: AttentionRows, mask: torch.Tensor
) -> tuple[bool, int | None, torch.Tensor]:
    """The causal mask, the window and the key mask of which a mask is made."""
    read = read_mask(AttentionRows(call.query, call.key, 1.0, mask=mask))
    assert read is not None and read.mask is None and read.key_mask is not None
    return read.causal, read.window, read.key_mask


def test_a_mask_is_known_for_what_it_says() -> None:
    call = _call("causal", torch.float32)
    place = torch.arange(70)
    apart, padding = place[:, None] - place, place >= torch.tensor([[0], [9]])
    causal = ((apart >= 0) & padding[:, None])[:, None]
    *told, key_mask = _read(call, causal)
    assert told == [True, 70] and torch.equal(key_mask, padding)
    window = causal & (apart < 7)
    *told, key_mask = _read(call, torch.where(window, 0.0, -torch.inf))
    assert told == [True, 7] and torch.equal(key_mask, padding)
    *told, key_mask = _read(call, padding[:, None, None])
    assert told == [False, None] and torch.equal(key_mask, padding)
    packed = causal & ((place[:, None] < 30) == (place < 30))
    for mask in (
        packed,
        torch.where(causal, 0.5, -torch.inf),
        causal.expand(-1, 4, -1, -1),
    ):
        assert read_mask(AttentionRows(call.query, call.key, 1.0, mask=mask)) is None


def test_any_mask_is_one_of_these_or_is_taken_as_it_is() -> None:
    """Packed texts, of which no rule is read, are texts of their own."""
    call = _call("causal")
    place = torch.arange(70)
    packed = (place[:, None] >= place) & ((place[:, None] < 30) == (place < 30))
    wanted = StatisticsRequest.of(
        ("entropy", "margin", "received", "start"), ends=(2, 5)
    )
    together = statistics_of(
        AttentionRows(call.query, call.key, 0.25, mask=packed[None, None]), wanted
    )
    for part in (slice(0, 30), slice(30, 70)):
        query, key = call.query[:, :, part], call.key[:, :, part]
        alone = statistics_of(AttentionRows(query, key, 0.25, causal=True), wanted)
        for name, value in alone.items():
            torch.testing.assert_close(together[name][:, :, part], value, msg=name)


def test_one_key_equal_scores_and_rows_that_see_nothing() -> None:
    one = AttentionRows(torch.ones(1, 1, 1, 2), torch.ones(1, 1, 1, 2), 1.0)
    found = statistics_of(
        one,
        StatisticsRequest.of(
            ("largest", "margin", "entropy", "top_keys", "top_weights"), top=2
        ),
    )
    assert not found.pop(SPOILT).any()
    assert {name: value.flatten().tolist() for name, value in found.items()} == {
        "largest": [1.0],
        "margin": [torch.inf],
        "entropy": [0.0],
        "top_keys": [0, -1],
        "top_weights": [1.0, 0.0],
    }
    equal = AttentionRows(
        torch.zeros(1, 1, 3, 2), torch.zeros(1, 1, 3, 2), 1.0, causal=True
    )
    found = statistics_of(
        equal, StatisticsRequest.of(("entropy", "winner", "received"))
    )
    np.testing.assert_allclose(
        found["entropy"].numpy(), [[np.log([1, 2, 3])]], rtol=1e-6
    )
    np.testing.assert_allclose(
        found["received"].numpy(),
        [[[1 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3]]],
        rtol=1e-6,
    )
    hidden = torch.tensor([[True, True], [False, False]])[None, None]
    blind = AttentionRows(
        torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2), 1.0, mask=hidden
    )
    found = statistics_of(
        blind, StatisticsRequest.of(("entropy", "winner", "received", "start"))
    )
    assert found["winner"].tolist() == [[[0, -1]]]
    assert np.isnan(found["entropy"].numpy()[0, 0]).tolist() == [False, True]
    assert found["received"].tolist() == [[[0.5, 0.5]]]


def test_a_mask_that_is_changed_in_place_is_read_anew() -> None:
    query = torch.randn(1, 2, 80, 8)
    mask = torch.ones(1, 1, 80, 80, dtype=torch.bool).tril()
    call = AttentionRows(query, query, 1.0, mask=mask)
    names = StatisticsRequest.of(("entropy",))
    for change in (lambda: None, lambda: mask[..., :3].fill_(False), lambda: None):
        change()
        truth = replace(call, mask=mask.clone())
        computed = statistics_of(call, names)["entropy"]
        expected = statistics_of(truth, names)["entropy"]
        torch.testing.assert_close(computed, expected, equal_nan=True)
    assert bool(computed[:, :, :3].isnan().all())
    # A mask of other rows and keys than before.
    short = replace(call, query=query[:, :, -70:], mask=mask[:, :, -70:])
    for _ in range(2):
        read = read_mask(short)
        assert read is None or read.key_mask is not None
