"""What it costs to check_statement a statement about every text: python bench/texts_check.py [vocabulary] [length].

Random weights of SmolLM2's sizes (width 576, d = 64, rotary). Processor time of the search, of the checker, and of a
matrix product in float64 over the same vocabulary and places.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from headwright.numerics.enclosure import shown_below
from headwright.text_bounds.checker import check_statement
from headwright.text_bounds.first_layer import FirstLayer, Projection, VectorNorm
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.sweep import band, sweep
from headwright.text_bounds.search.texts import texts_of
from headwright.text_bounds.statement import (
    FirstLayerStatement,
    tokens_digest,
    weights_digest,
)

WIDTH, D = 576, 64


def main(tokens: int, length: int) -> None:
    rng = np.random.default_rng(0)
    query, key = (Projection(rng.standard_normal((WIDTH, D)) * 0.08) for _ in range(2))
    layer = FirstLayer(
        np.arange(tokens),
        rng.standard_normal((tokens, WIDTH)) * 0.1,
        (query,),
        (key,),
        D**-0.5,
        norm=VectorNorm("rms", np.ones(WIDTH), eps=1e-5),
        angles=10000.0 ** (-np.arange(D // 2) / (D // 2)),
    )
    texts = texts_of(layer, length)
    previous = [texts.place - 1]
    swept, took = timed(lambda: sweep(head_of(layer, 0), texts, {"previous": previous}))
    print(f"search: {took:.2f} s of processor time")
    bound = shown_below(float(band(swept, "previous").least.lower.min()), 8)
    statement = FirstLayerStatement(
        "random",
        weights_digest(layer),
        0,
        length,
        texts.place,
        {},
        tokens_digest(layer),
        tokens,
        tuple(previous),
        None,
        (),
        "least",
        bound,
    )
    _, took = timed(lambda: check_statement(statement, layer))
    print(f"check:  {took:.2f} s, accepted: at least {bound}")
    rows = rng.standard_normal((tokens, D))

    def product() -> None:
        for _ in range(length - 1):
            for at in range(0, tokens, 512):
                rows[at : at + 512] @ rows.T

    print(f"matrix product in float64: {timed(product)[1]:.2f} s")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


if __name__ == "__main__":
    main(*[int(number) for number in sys.argv[1:]] or [8192, 16])
