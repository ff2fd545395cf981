"""How much the output of a head depends on the order of the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.models.findings.first_token import capped
from headwright.models.findings.rounding import softmax
from headwright.models.loading.model import Layer, Model, Tokens, numbers

SHUFFLES = 4
LONGEST = 128  # tokens; order needs no long text


@dataclass(frozen=True, eq=False)
class Order:
    """How far outputs move, relatively, when tokens are shuffled: the largest of several shuffles, floating-point."""

    moved: Float[np.ndarray, "layers heads"]
    tokens: int
    shuffles: int


def order(model: Model, tokens: Tokens, opening: int, layers: tuple[int, ...], seed: int) -> Order:
    """The defects of these layers on these tokens; of many tokens the first 128 are taken."""
    tokens = np.asarray(tokens)[:LONGEST]
    fixed, rng = max(1, opening), np.random.default_rng(seed)
    shuffled = []
    for _ in range(SHUFFLES):
        middle = rng.permutation(np.arange(fixed, len(tokens) - 1))
        shuffled.append(tokens[np.concatenate([np.arange(fixed), middle, [len(tokens) - 1]]).astype(int)])

    moved = _defects([list(_last(model.run(each), max(layers))) for each in (tokens, *shuffled)])
    return Order(moved[list(layers)], len(tokens), SHUFFLES)


def _last(run: Iterator[Layer], last: int) -> Iterator[Float[np.ndarray, "heads e"]]:
    """What each head writes at the last place, before W_O, layer after layer."""
    for layer in run:
        scoring = layer.scoring
        q, k, v = (numbers(array).astype(np.float64) for array in (layer.queries, layer.keys, layer.values))
        mine = np.arange(scoring.heads) * scoring.key_heads // scoring.heads
        s = capped(scoring.scale * np.einsum("hd,hjd->hj", q[:, -1], k[mine]), scoring)
        seen = np.broadcast_to(scoring.sees(scoring.keys - 1, np.arange(scoring.keys)), s.shape)
        alpha = np.stack([
            softmax(s[h : h + 1], seen[h : h + 1], None if scoring.sinks is None else float(scoring.sinks[h]))[0][0]
            for h in range(scoring.heads)
        ])  # fmt: skip
        yield np.einsum("hj,hje->he", alpha, v[mine])
        if layer.index == last:
            return


def _defects(runs: list[list[Float[np.ndarray, "heads e"]]]) -> Float[np.ndarray, "layers heads"]:
    plain = np.stack(runs[0])
    worst = np.max([np.linalg.norm(np.stack(run) - plain, axis=2) for run in runs[1:]], axis=0)
    size = np.linalg.norm(plain, axis=2)
    result: Float[np.ndarray, "layers heads"] = np.divide(worst, size, out=np.zeros_like(worst), where=size > 0)
    return result
