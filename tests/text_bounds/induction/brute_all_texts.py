"""Every text of every group, run on one core: the least margin of b in each, from the raw weights alone.

    python tests/text_bounds/induction/brute_all_texts.py WEIGHTS.safetensors LENGTH OUT.json [--groups N]

The same as brute_induction.py, place by place: what the first layer makes of a place depends on the tokens up to it,
so texts that begin alike share it. Needs numba, which is no part of any extra; float32, so margins are right to about
1e-4. Shares no code with what proves; brute_induction.py, which runs the model as it is defined, agrees on short texts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from safetensors.numpy import load_file

TOKENS, D = 16, 16
WIDTH = (
    2 * D + 2 * TOKENS
)  # query, key, moved logits, logits: constants, for the compiler
SearchTables = tuple[np.ndarray, ...]


def tables(weights: dict[str, np.ndarray], length: int) -> SearchTables:
    """exp of first-layer scores; and by place and token: query, key, moved logits and logits, from x and from o."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    x = w["embed"][None] + w["place"][:length, None]
    o = x @ w["value"][0] @ w["output"][0]
    scale = w["query"].shape[-1] ** -0.5
    scores = np.einsum("rud,mtd->rumt", x @ w["query"][0], x @ w["key"][0]) * scale
    moved = w["value"][1] @ w["output"][1] @ w["unembed"]
    parts = (w["query"][1] * scale, w["key"][1], moved, w["unembed"])
    found = [np.exp(scores - scores.max(axis=(2, 3), keepdims=True))]
    found += [
        np.concatenate([each @ part for part in parts], axis=-1) for each in (x, o)
    ]
    return tuple(np.ascontiguousarray(array, dtype=np.float32) for array in found)


@njit(fastmath=True, error_model="numpy")  # type: ignore[untyped-decorator]
def least_margin(
    scores: Any, of_x: Any, of_o: Any, a: int, b: int, j: int
) -> tuple[float, Any]:
    """Over all texts of a group; and the text that has it."""
    length = of_x.shape[0]
    y, row_sum = (
        np.zeros((length, WIDTH), dtype=np.float32),
        np.zeros(WIDTH, dtype=np.float32),
    )
    text = np.full(length, -1, dtype=np.int64)
    text[length - 1] = a
    attention, logits = (
        np.zeros(length, dtype=np.float32),
        np.zeros(TOKENS, dtype=np.float32),
    )
    worst, least, place = text.copy(), np.float32(np.inf), 0
    while place >= 0:
        token = text[place] + 1
        if place == j - 1 or place == j:
            held = a if place == j - 1 else b
            token = held if text[place] < 0 else TOKENS
        elif token == a:
            token += 1
        if token >= TOKENS:
            text[place] = -1
            place -= 1
            continue
        text[place] = token
        for row in range(place, length if place == length - 2 else place + 1):
            total, own = np.float32(0.0), text[row]
            row_sum[:] = np.float32(0.0)
            for m in range(row + 1):
                token = text[m]
                weight, values = scores[row, own, m, token], of_o[m, token]
                total += weight
                for c in range(WIDTH):
                    row_sum[c] += weight * values[c]
            share, values, into = np.float32(1.0) / total, of_x[row, own], y[row]
            for c in range(WIDTH):
                into[c] = row_sum[c] * share + values[c]
        if place < length - 2:
            place += 1
            continue
        largest, end = np.float32(-np.inf), y[length - 1]
        for m in range(length):
            score, there = np.float32(0.0), y[m]
            for c in range(D):
                score += end[c] * there[D + c]
            attention[m] = score
            largest = max(largest, score)
        total = np.float32(0.0)
        for m in range(length):
            attention[m] = np.exp(attention[m] - largest)
            total += attention[m]
        for c in range(TOKENS):
            logits[c] = end[2 * D + TOKENS + c]
        for m in range(length):
            share, there = attention[m] / total, y[m]
            for c in range(TOKENS):
                logits[c] += share * there[2 * D + c]
        other = np.float32(-np.inf)
        for c in range(TOKENS):
            if c != b:
                other = max(other, logits[c])
        if logits[b] - other < least:
            least = logits[b] - other
            worst[:] = text
    return float(least), worst


def main() -> None:
    """Run them, and write the least margin of each group."""
    parser = argparse.ArgumentParser()
    parser.add_argument("weights", type=Path)
    parser.add_argument("length", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--groups", type=int, help="so many, drawn with seed 0")
    given = parser.parse_args()
    weights = load_file(given.weights)
    tokens = range(len(weights["embed"]))
    made = tables(weights, given.length)
    groups = [
        (a, b, j)
        for a in tokens
        for b in tokens
        if a != b
        for j in range(1, given.length - 1)
    ]
    if given.groups is not None:
        order = np.random.default_rng(0).permutation(len(groups))[: given.groups]
        groups = [groups[index] for index in order]
    found: list[list[Any]] = []
    start = time.process_time()
    for a, b, j in groups:
        margin, text = least_margin(*made, a, b, j)
        found.append([a, b, j, float(margin), text.tolist()])
        if len(found) % 20 == 0 or len(found) == len(groups):
            given.out.write_text(json.dumps(found))
            sys.stdout.write(
                f"{len(found)} of {len(groups)} groups, {time.process_time() - start:.0f} s\n"
            )
            sys.stdout.flush()
    true = sum(row[3] > 0 for row in found)
    sys.stdout.write(
        f"length {given.length}: {true} of {len(found)} true, least {min(row[3] for row in found):.4f}\n"
    )


if __name__ == "__main__":
    main()
