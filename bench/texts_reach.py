"""How far statements about a repeated pair reach, through two layers: python bench/texts_reach.py [length ...]."""

from __future__ import annotations

import sys

import numpy as np

from headwright.models.loading import load_model
from headwright.models.texts.two_layers import Bounds, Named, two_layers

SAMPLES = 40  # triples (a, b, c) of different tokens, seed 0


def main(lengths: list[int]) -> None:
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


if __name__ == "__main__":
    main([int(length) for length in sys.argv[1:]] or [5, 6, 8])
