"""Chapters about token order, positions and low-rank approximation."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from headwright import layer, lowrank, pictures, positions
from headwright.enclosure import shown_above, shown_below
from headwright.tour.chapter import Chapter, save

ORDER = (
    "import numpy as np, headwright as hw; X = np.random.default_rng(0).normal(size=(5, 16)); "
    "[print(hw.equivariance_defect(hw.random_layer(16, positions=p), X)) for p in (None, hw.Sinusoidal(16))]"
)


def order() -> Chapter:
    """A layer without positions commutes with permutations of its tokens."""
    tokens = np.random.default_rng(0).normal(size=(5, 16))
    scheme = positions.Sinusoidal(16)
    without = layer.equivariance_defect(layer.random_layer(16), tokens)
    placed = layer.equivariance_defect(layer.random_layer(16, positions=scheme), tokens)
    return Chapter(
        "Token order and positions",
        f"A layer without positions has $Z(PX) = P\\,Z(X)|Z(PX) = P Z(X)$ for every permutation P of its tokens. "
        f"Over all «{without.tried}» other orders of 5 tokens, the largest relative difference is "
        f"«{without.relative:.0e}», which is rounding. With sinusoidal positions it is "
        f"«{placed.relative:.2f}», for the "
        f"permutation {list(placed.permutation)}.",
        pictures.order_picture(
            {
                "without positions": _defects(layer.random_layer(16), tokens),
                "with sinusoidal positions": _defects(layer.random_layer(16, positions=scheme), tokens),
            },
            without.epsilon,
            "Does the order of the tokens matter?",
            f"relative difference of Z(PX) and P Z(X), for all {without.tried} permutations P but the identity",
        ),
        "order",
        (f"python -c '{ORDER}'",),
    )


def _defects(module: layer.Layer, tokens: np.ndarray) -> list[float]:
    """The relative difference for each permutation but the identity."""
    orders = itertools.islice(itertools.permutations(range(len(tokens))), 1, None)
    return [layer.equivariance_defect(module, tokens, np.array(order)).relative for order in orders]


def coinciding() -> Chapter:
    """Positions that are equal after rounding."""
    scheme, length, start = positions.Sinusoidal(64), 4096, 240
    coarse = positions.Precision(index="bfloat16")
    exact, rounded = positions.report(scheme, length), positions.report(scheme, length, coarse)
    first = rounded.first_pair or (0, 0)
    return Chapter(
        "Positions after rounding",
        f"If the position index is stored in bfloat16, «{rounded.collisions}» of {length} sinusoidal "
        f"positions are equal "
        f"to an earlier one. The first pair is «{first[0]}» and «{first[1]}». Without rounding, any two "
        f"positions have a "
        f"distance of at least «{shown_below(exact.distance.lower, 4)}@2» (proved).",
        pictures.position_picture(
            positions.preview(scheme, length, coarse, start),
            "Sinusoidal positions, index in bfloat16",
            f"{rounded.collisions} of {length} positions are equal to an earlier one",
            rounded.first_pair,
        ),
        "positions",
        (
            f"headwright positions --length {length} --dim 64 --index-dtype bfloat16",
            f"headwright positions --length {length} --dim 64",
        ),
    )


def rank(out: Path) -> Chapter:
    """A low-rank approximation with a certified error."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(96, 8)) @ rng.normal(size=(8, 64)) + 0.1 * rng.normal(size=(96, 64))
    save(out, "matrix.npy", matrix)
    result = lowrank.truncate(matrix, rank=8)
    return Chapter(
        "Low-rank approximation with a certified error",
        f"The approximation of a 96 x 64 matrix by rank 8 has an error of at most "
        f"«{shown_above(result.error_upper_bound, 4)}» in spectral norm (proved, without relying on the SVD). "
        f"The bound "
        f"for any matrix with the same Frobenius norm is «{shown_above(result.guarantee, 4)}».",
        pictures.spectrum(result, "Singular values"),
        "rank",
        (f"headwright lowrank {out}/matrix.npy --rank 8",),
    )
