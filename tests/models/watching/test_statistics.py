"""The statistics of a call are those of `row_statistics`, whatever way they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from headwright.models import row_statistics
from headwright.models.watching.names import ALL, ENDS, RECEIVED, SETS, SPOILT, TOP, Wanted
from headwright.models.watching.statistics import Attention, _as_scoring, _by_kernel, _compiled, statistics_of

KINDS: dict[str, dict[str, Any]] = {
    "causal": {"causal": True},
    "full": {},
    "window": {"causal": True, "window": 7},
    "softcap": {"causal": True, "softcap": 2.0},
    "sinks": {"causal": True, "sinks": torch.tensor([0.5, -3.0, 9.0, 0.0])},
    "key mask": {"causal": True, "key_mask": torch.arange(70).expand(2, -1) >= torch.tensor([[0], [9]])},
}
WANTED = Wanted.of(ALL, top=3, ends=(2, 5), last_rows=6)


def _call(kind: str, dtype: torch.dtype = torch.float64, size: float = 1.0) -> Attention:
    generator = torch.Generator().manual_seed(0)
    q = size * torch.randn(2, 4, 70, 16, generator=generator, dtype=torch.float64)
    k = torch.randn(2, 2, 70, 16, generator=generator, dtype=torch.float64)
    chosen = (torch.arange(70) % 3 == 1).expand(2, -1)
    first = torch.tensor([0, 9]) if kind == "key mask" else None
    sets = {"special": chosen, "keys": ~chosen}
    return Attention(q.to(dtype), k.to(dtype), 0.25, **KINDS[kind], first=first, sets=sets)


def _truth(call: Attention) -> dict[str, Any]:
    mask = None if call.key_mask is None else call.key_mask.numpy()
    found = row_statistics(
        call.query.double().numpy(), call.key.double().numpy(), scale=call.scale, causal=call.causal,
        window=call.window, softcap=call.softcap, sinks=None if call.sinks is None else call.sinks.numpy(),
        key_mask=mask, top=3, ends=(2, 5), last_rows=6, received=True,
        key_sets={name: members.numpy() for name, members in call.sets.items()},
    )  # fmt: skip
    rows = vars(found) | found.sets | {"self": found.offsets[0], "previous": found.offsets[1]}
    nothing = np.isneginf(found.lse)
    told = {}
    for name in ALL:
        value = np.asarray(rows[name], dtype=float)
        if name not in RECEIVED and name not in ("winner", "top_keys"):
            value = np.where(nothing[..., None] if value.ndim == 4 else nothing, np.nan, value)
        told[name] = value
    return told


def _agrees(found: dict[str, torch.Tensor], truth: dict[str, Any], tolerance: float) -> None:
    for name, value in found.items():
        np.testing.assert_allclose(
            value.double().numpy(), truth[name], atol=tolerance * (100 if name == "distance" else 1), rtol=tolerance,
            err_msg=name,
        )  # fmt: skip


@pytest.mark.parametrize("size", [1.0, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_each_statistic_is_that_of_row_statistics(kind: str, size: float) -> None:
    call = _call(kind, size=size)
    found = statistics_of(call, WANTED)
    assert not found.pop(SPOILT).any()
    assert set(found) == set(ALL)
    truth = _truth(call)
    if kind == "softcap" and size > 1:  # many scores are equal to the cap, and the slope there is lost
        found = {name: value for name, value in found.items() if name not in ("winner", "top_keys", "sensitivity")}
    if size > 1:  # weights that vanish are no top ones
        found.pop("top_keys", None)
    _agrees(found, truth, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", [_compiled, _by_kernel])
def test_every_way_gives_the_same(kind: str, way: Any) -> None:
    call = _call(kind, torch.float32)
    left_out = (*TOP, *((*ENDS, *SETS) if way is _by_kernel else ()))
    wanted = Wanted.of([name for name in ALL if name not in left_out], ends=(2, 5), last_rows=6)
    scoring = _as_scoring(call)
    assert scoring is not None
    found = way(call, wanted, *scoring)
    assert not found.pop(SPOILT).any()
    assert set(found) == set(wanted.names)
    _agrees(found, _truth(call), 2e-5)


def test_a_mask_is_known_for_what_it_says() -> None:
    call = _call("causal", torch.float32)
    place = torch.arange(70)
    apart, padding = place[:, None] - place, place >= torch.tensor([[0], [9]])
    causal = ((apart >= 0) & padding[:, None])[:, None]
    told = _as_scoring(Attention(call.query, call.key, 1.0, mask=causal))
    assert told is not None and told[:2] == (True, 70) and torch.equal(told[2], padding)  # type: ignore[arg-type]
    window = causal & (apart < 7)
    told = _as_scoring(Attention(call.query, call.key, 1.0, mask=torch.where(window, 0.0, -torch.inf)))
    assert told is not None and told[:2] == (True, 7) and torch.equal(told[2], padding)  # type: ignore[arg-type]
    told = _as_scoring(Attention(call.query, call.key, 1.0, mask=padding[:, None, None]))
    assert told is not None and told[:2] == (False, None)
    packed = causal & ((place[:, None] < 30) == (place < 30))
    for mask in (packed, torch.where(causal, 0.5, -torch.inf), causal.expand(-1, 4, -1, -1)):
        assert _as_scoring(Attention(call.query, call.key, 1.0, mask=mask)) is None


def test_one_key_equal_scores_and_rows_that_see_nothing() -> None:
    one = Attention(torch.ones(1, 1, 1, 2), torch.ones(1, 1, 1, 2), 1.0)
    found = statistics_of(one, Wanted.of(("largest", "margin", "entropy", "top_keys", "top_weights"), top=2))
    assert not found.pop(SPOILT).any()
    assert {name: value.flatten().tolist() for name, value in found.items()} == {
        "largest": [1.0], "margin": [torch.inf], "entropy": [0.0], "top_keys": [0, -1], "top_weights": [1.0, 0.0],
    }  # fmt: skip
    equal = Attention(torch.zeros(1, 1, 3, 2), torch.zeros(1, 1, 3, 2), 1.0, causal=True)
    found = statistics_of(equal, Wanted.of(("entropy", "winner", "received")))
    np.testing.assert_allclose(found["entropy"].numpy(), [[np.log([1, 2, 3])]], rtol=1e-6)
    np.testing.assert_allclose(found["received"].numpy(), [[[1 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3]]], rtol=1e-6)
    hidden = torch.tensor([[True, True], [False, False]])[None, None]
    blind = Attention(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2), 1.0, mask=hidden)
    found = statistics_of(blind, Wanted.of(("entropy", "winner", "received", "start")))
    assert found["winner"].tolist() == [[[0, -1]]]
    assert np.isnan(found["entropy"].numpy()[0, 0]).tolist() == [False, True]
    assert found["received"].tolist() == [[[0.5, 0.5]]]
