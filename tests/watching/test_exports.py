"""Files that other programs read, read in the way that they do."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headwright as hw
from headwright.errors import InputError
from headwright.watching.exports import (
    kvpress_ratios,
    save_duo_attention,
    save_heads,
)
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


@pytest.mark.parametrize("ratio", [0.0, 0.25, 0.6, 0.95])
def test_ratios_by_layer_have_the_mean_that_was_asked_for(
    ratio: float, tmp_path: Path
) -> None:
    model, inputs = tiny("llama"), batch(None)
    how: dict[str, Any] = {"ends": (1, 2), "keep": "means"}
    with torch.no_grad(), hw.watch(model, ["middle"], **how) as seen:
        model(**inputs)
    ratios = kvpress_ratios(seen, ratio, file=tmp_path / "ratios.json")
    assert json.loads((tmp_path / "ratios.json").read_text()) == ratios
    assert np.mean(ratios) == pytest.approx(ratio)
    assert all(0 <= value <= 1 for value in ratios)
    middle = seen.summary()["middle"].reshape(2, -1).mean(1)
    kept = 1 - np.array(ratios)
    if kept.max() < 1:
        np.testing.assert_allclose(kept / kept.sum(), middle / middle.sum())
    else:  # the layer with more of it keeps all
        assert kept.argmax() == middle.argmax() or ratio == 0
    with pytest.raises(InputError, match=r"compression_ratio = 1.0: expected"):
        kvpress_ratios(seen, 1.0)


def test_a_table_of_heads_has_their_means(tmp_path: Path) -> None:
    model, inputs = tiny("llama"), batch("left")
    inputs["input_ids"][1, 3] = 7
    with torch.no_grad(), hw.watch(model, keep="means") as seen:
        model(**inputs)
    save_heads(seen, tmp_path / "heads.csv")
    with (tmp_path / "heads.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    summary = seen.summary()
    assert list(lines[0]) == list(summary)
    for name in ("layer", "head", "rows", "entropy", "first", "largest_score"):
        values = [float(line[name]) for line in lines]
        np.testing.assert_array_equal(values, summary[name])
    with pytest.raises(InputError, match=r"has the suffix '.txt'"):
        save_heads(seen, tmp_path / "heads.txt")
    assert seen.units["entropy"] == "nat"
