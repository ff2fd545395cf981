"""The GPU's kernels agree with the definition: on a GPU where there is one, else in Triton's interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.gpu_kernel import cells, received, statistics
from tests.statistics.reference import reference

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# Sums of up to hundreds of places; products with scores; a runner-up that is known up to 2^-18 of its size.
LOOSE = {"distance": 2e-4, "sensitivity": 1e-4, "margin": 5e-5}
KINDS: dict[str, dict[str, Any]] = {
    "causal": {},
    "full": {"causal": False},
    "window": {"window": 37},
    "narrow window": {"window": 1},
    "full window": {"causal": False, "window": 70},
    "softcap": {"softcap": 2.0},
    "sinks": {"sinks": np.array([0.5, -3.0, 9.0, 0.0])},
    "negative scale": {"scale": -0.3},
    "mask": {"key_mask": "left"},
    "all of it": {
        "window": 50,
        "softcap": 3.0,
        "sinks": np.array([0.5, -3.0, 9.0, 0.0]),
        "key_mask": "some",
    },
}


def _given(
    rows: int, keys: int, d: int, kind: str
) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    generator = torch.Generator().manual_seed(rows + keys)
    q, k = (
        torch.randn(4, rows, d, generator=generator),
        torch.randn(2, keys, d, generator=generator),
    )
    how = dict(KINDS[kind])
    if how.get("key_mask") == "left":
        how["key_mask"] = np.arange(keys) >= keys // 3
    elif how.get("key_mask") == "some":
        how["key_mask"] = np.random.default_rng(0).random(keys) < 0.4
    return q, k, how


def _tensors(how: dict[str, Any], d: int) -> dict[str, Any]:
    return {"scale": d**-0.5} | {
        name: torch.from_numpy(value).to(DEVICE)
        if isinstance(value, np.ndarray)
        else value
        for name, value in how.items()
    }


def _agrees(found: dict[str, torch.Tensor], truth: Any, loose: float = 1.0) -> None:
    for name, values in found.items():
        true = (
            truth.offsets[int(name.split()[1])]
            if name.startswith("offset")
            else getattr(truth, name, None)
        )
        if true is not None:
            close = LOOSE.get(name, 1e-5) * loose
            np.testing.assert_allclose(
                values.double().cpu().numpy(),
                true,
                atol=close,
                rtol=1e-5 * loose,
                err_msg=name,
            )


@pytest.mark.parametrize(
    ("rows", "keys", "d", "kind"),
    [(70, 200, 32, kind) for kind in KINDS]
    + [
        (1, 1, 64, "causal"),
        (3, 129, 48, "causal"),
        (64, 64, 48, "all of it"),
        (3, 129, 64, "full window"),
    ],
)
def test_kernels_agree_with_the_definition(
    rows: int, keys: int, d: int, kind: str
) -> None:
    q, k, how = _given(rows, keys, d, kind)
    scoring = AttentionConfig.of(tuple(q.shape), tuple(k.shape), **how)
    truth = reference(q.numpy(), k.numpy(), scoring, offsets=(0, 1, 7), last_rows=9)
    found = statistics(
        q.to(DEVICE),
        k.to(DEVICE),
        offsets=(0, 1, 7),
        received=True,
        last_rows=9,
        **_tensors(how, d),
    )
    _agrees(found, truth)


@pytest.mark.parametrize("kind", ["causal", "full window", "all of it"])
def test_what_keys_receive_and_maps_are_sums_of_the_pattern(kind: str) -> None:
    rows, keys, d = 128, 256, 32
    q, k, how = _given(rows, keys, d, kind)
    given = q.to(DEVICE), k.to(DEVICE)
    pattern = _pattern(q, k, AttentionConfig.of(tuple(q.shape), tuple(k.shape), **how))
    found = statistics(*given, received=True, last_rows=9, **_tensors(how, d))
    np.testing.assert_allclose(
        found["received_last"].cpu(), pattern[:, -9:].sum(axis=1), atol=1e-4
    )
    np.testing.assert_allclose(
        found["received_most"].cpu(), pattern.max(axis=1), atol=1e-5
    )
    lse = found["lse"].clone()
    lse[:, ::2] = torch.inf
    half = received(*given, lse, **_tensors(how, d))["received"]
    np.testing.assert_allclose(half.cpu(), pattern[:, 1::2].sum(axis=1), atol=1e-4)
    for high, wide in ((1, 1), (8, 4), (64, 128), (128, 256), (16, 256)):
        means = pattern.reshape(4, rows // high, high, keys // wide, wide).mean(
            axis=(2, 4)
        )
        np.testing.assert_allclose(
            cells(*given, high, wide, **_tensors(how, d)).cpu(), means, atol=1e-6
        )


def _pattern(q: torch.Tensor, k: torch.Tensor, scoring: AttentionConfig) -> np.ndarray:
    s = (
        torch.einsum(
            "hid,hjd->hij", q.double(), k.double().repeat_interleave(2, 0)
        ).numpy()
        * scoring.scale
    )
    if scoring.softcap is not None:
        s = scoring.softcap * np.tanh(s / scoring.softcap)
    positions = np.arange(scoring.rows)[:, None] + scoring.shift
    seen = scoring.sees(positions, np.arange(scoring.keys))
    e = np.where(seen, np.exp(s), 0.0)
    extra = 0.0 if scoring.sinks is None else np.exp(scoring.sinks)[:, None, None]
    total = e.sum(axis=2, keepdims=True)
    return np.where(total > 0, e / np.where(total > 0, total + extra, 1.0), 0.0)


def test_a_batch_is_its_texts_one_by_one() -> None:
    q, k = (
        torch.randn(3, 4, 70, 32, device=DEVICE),
        torch.randn(3, 2, 70, 32, device=DEVICE),
    )
    mask = (
        torch.arange(70, device=DEVICE)
        >= torch.tensor([0, 5, 40], device=DEVICE)[:, None]
    )
    together = statistics(q, k, scale=0.2, key_mask=mask, offsets=(1,), received=True)
    for text in range(3):
        alone = statistics(
            q[text],
            k[text],
            scale=0.2,
            key_mask=mask[text],
            offsets=(1,),
            received=True,
        )
        for name, values in alone.items():
            torch.testing.assert_close(
                together[name][text], values, msg=name, atol=0, rtol=0
            )


def test_the_few_that_a_map_needs_are_the_same_without_the_rest() -> None:
    q, k = torch.randn(1, 70, 32, device=DEVICE), torch.randn(1, 70, 32, device=DEVICE)
    few, all_ = (
        statistics(q, k, scale=0.3, causal=True, track=track) for track in (False, True)
    )
    assert set(few) == {"lse", "entropy", "first", "largest"}
    for name, values in few.items():
        torch.testing.assert_close(values, all_[name], atol=1e-5, rtol=0)


def test_large_scores_keep_their_winner() -> None:
    q = (
        torch.randn(1, 100, 32, generator=torch.Generator().manual_seed(0)).to(DEVICE)
        * 10
    )
    found = statistics(q, q, scale=1.0, causal=True)
    assert (found["winner"][0] == torch.arange(100, device=DEVICE)).all()
    torch.testing.assert_close(
        found["largest"], torch.ones(1, 100, device=DEVICE), atol=5e-3, rtol=0
    )


def test_of_equal_scores_one_wins_with_no_margin() -> None:
    q = torch.ones(1, 40, 32, device=DEVICE)
    found = statistics(q, q, scale=1.0, causal=True)
    assert (
        (found["winner"] >= 0) & (found["winner"] <= torch.arange(40, device=DEVICE))
    ).all()
    assert (found["margin"][0, 1:].abs() < 1e-3).all()


@pytest.mark.skipif(
    DEVICE == "cpu",
    reason="Triton's interpreter has float32 alone: these need a CUDA GPU",
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("d", [32, 64, 80, 96, 128, 192, 256])
@pytest.mark.parametrize("kind", ["causal", "all of it"])
def test_numbers_of_two_bytes_at_every_width(
    dtype: torch.dtype, d: int, kind: str
) -> None:
    q, k, how = _given(300, 500, d, kind)
    q, k = q.to(dtype), k.to(dtype)
    scoring = AttentionConfig.of(tuple(q.shape), tuple(k.shape), **how)
    truth = reference(
        q.float().numpy(), k.float().numpy(), scoring, offsets=(0, 1), last_rows=64
    )
    found = statistics(
        q.to(DEVICE), k.to(DEVICE), offsets=(0, 1), received=True, **_tensors(how, d)
    )
    _agrees(found, truth, loose=10.0)
