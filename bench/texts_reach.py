"""How far statements through two layers reach.

python bench/texts_reach.py [length ...]                          the weight on a repeated pair, of sampled triples
python bench/texts_reach.py --predict [length ...]                the next token: proved, false and open triples
    --pairs N           of N pairs (a, b) a length, drawn with seed 0; all unless given
    --truth FILE        a file of tests/models/texts/brute_all_texts.py: how far the proved margins are below the truth
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from headwright.models.loading import load_model
from headwright.models.texts.next_token_proof import Predicted, predictions
from headwright.models.texts.two_layers import Bounds, Named, two_layers

SAMPLES = 40  # triples (a, b, c) of different tokens, seed 0
EDGES = (0, 0.25, 0.5, 1, 2, 4, 8, 16, 1000)  # of the histogram


def repeated(lengths: list[int]) -> None:
    layers = two_layers(load_model("builtin:induction"))
    for length in lengths:
        for head in range(layers.query.shape[1]):
            bounds, rng = Bounds(layers, head, length), np.random.default_rng(0)
            for at in sorted({2, length // 2, length - 2}):
                triples = [rng.choice(layers.opening, 3, replace=False) for _ in range(SAMPLES)]
                found = [bounds.floor(Named(length, at, a, b, b if at == length - 2 else c)) for a, b, c in triples]
                least = np.array([floor.least for floor in found])
                print(f"T = {length}, head 1.{head}, b at {at}: over 1/2 for {(least > 0.5).sum()} of {SAMPLES}, "
                      f"over 1/10 for {(least > 0.1).sum()}, median {np.median(least):.3f}", flush=True)  # fmt: skip


def predicted(lengths: list[int], count: int | None, truth: Path | None) -> None:
    pairs = [(a, b) for a in range(16) for b in range(16) if a != b]
    if count is not None:
        pairs = [pairs[index] for index in np.random.default_rng(0).permutation(len(pairs))[:count]]
    for length in lengths:
        start = time.process_time()
        found = predictions(load_model("builtin:induction16"), length, pairs)
        told(length, found, time.process_time() - start)
        if truth is not None:
            compared(found, json.loads(truth.read_text()))


def told(length: int, found: list[Predicted], seconds: float) -> None:
    count = {word: sum(one.word == word for one in found) for word in ("proved", "false", "open")}
    whole = sum(one.cuts == 0 for one in found)
    worst = min(found, key=lambda one: one.run)
    print(
        f"T = {length}, next token: {count['proved']} of {len(found)} proved ({whole} by one bound), {count['false']} "
        f"false, {count['open']} open; {seconds:.0f} s of processor time; the worst text found is "
        f"{' '.join(map(str, worst.text))} for ({worst.a}, {worst.b}, {worst.j}), margin {worst.run:.4f}",
        flush=True,
    )


def compared(found: list[Predicted], truth: list[list[float]]) -> None:
    """Beside the least margin over all texts: violations, and a histogram of the distance."""
    true = {tuple(row[:3]): row[3] for row in truth}
    known = [one for one in found if (one.a, one.b, one.j) in true]
    right = [one for one in known if true[one.a, one.b, one.j] > 0]
    gaps = np.array([true[one.a, one.b, one.j] - float(one.least) for one in known if one.least is not None])
    exact = sum(one.run - true[one.a, one.b, one.j] < 1e-3 for one in known)
    counts, _ = np.histogram(gaps, EDGES)
    print(
        f"all texts of {len(known)} triples: {len(right)} true, {len(gaps)} proved, {(gaps < 0).sum()} contradicted; "
        f"the search found the worst text of {exact}; proved margins are below the truth by "
        + "; ".join(f"{low} to {high}: {n}" for low, high, n in zip(EDGES, EDGES[1:], counts, strict=False)),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("lengths", type=int, nargs="*")
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--truth", type=Path)
    given = parser.parse_args()
    if given.predict:
        predicted(given.lengths or [6, 8], given.pairs, given.truth)
    else:
        repeated(given.lengths or [5, 6, 8])


if __name__ == "__main__":
    main()
