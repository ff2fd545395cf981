"""Files that other programs read, read in the way that they do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import headwright as hw
from headwright.errors import InputError
from headwright.watching.exports import save_duo_attention
from tests.watching.eager import batch, stored, tiny


def test_duo_attention_reads_the_weight_between_both_ends(tmp_path: Path) -> None:
    model, inputs = tiny("llama"), batch(None)
    with (
        torch.no_grad(),
        hw.watch(model, ["middle"], ends=(2, 3), keep="means") as seen,
    ):
        model(**inputs)
    scores = save_duo_attention(seen, model, tmp_path / "pattern")
    # As DuoAttention's load_attn_pattern reads them.
    read = np.loadtxt(
        tmp_path / "pattern" / "full_attention_heads.tsv", dtype=float, delimiter="\t"
    )
    sizes = json.loads((tmp_path / "pattern" / "config.json").read_text())
    assert sizes == {"sink_size": 2, "recent_size": 3}
    np.testing.assert_allclose(read, scores, atol=1e-6)
    with stored(model) as patterns:
        model(**inputs, use_cache=False)
    row, key = np.arange(12)[:, None], np.arange(12)
    between = (key >= 2) & (key <= row - 3)
    for layer, pattern in enumerate(patterns):
        of_heads = (pattern * between).sum(-1).mean((0, 2))
        of_key_heads = of_heads.reshape(2, 2).max(1)
        np.testing.assert_allclose(read[layer], of_key_heads, atol=1e-5)


def test_what_duo_attention_cannot_use_is_refused(tmp_path: Path) -> None:
    model, inputs = tiny("llama"), batch(None)
    with torch.no_grad(), hw.watch(model, ["entropy"]) as seen:
        model(**inputs)
    with pytest.raises(InputError, match="middle was not recorded"):
        save_duo_attention(seen, model, tmp_path)
