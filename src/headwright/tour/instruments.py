"""Chapters about order, positions and rank."""

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
    """A layer sees the order only through positions."""
    tokens = np.random.default_rng(0).normal(size=(5, 16))
    scheme = positions.Sinusoidal(16)
    without = layer.equivariance_defect(layer.random_layer(16), tokens)
    placed = layer.equivariance_defect(layer.random_layer(16, positions=scheme), tokens)
    return Chapter(
        "Order enters only through positions",
        f"A layer without positions has $Z(PX) = P\\,Z(X)|Z(PX) = P Z(X)$ for every permutation P of its tokens: over "
        f"all «{without.tried}» other orders of 5 tokens the worst defect is «{without.relative:.0e}» of its output, "
        f"which is rounding. With sinusoids added it is «{placed.relative:.2f}», at the permutation "
        f"{list(placed.permutation)}.",
        pictures.order_picture(
            {
                "without positions": _defects(layer.random_layer(16), tokens),
                "with sinusoids": _defects(layer.random_layer(16, positions=scheme), tokens),
            },
            without.epsilon,
            "Does the order of the tokens matter?",
            f"how far Z(PX) is from P Z(X), for all {without.tried} permutations P that move a token",
        ),
        "order",
        (f"python -c '{ORDER}'",),
    )


def _defects(module: layer.Layer, tokens: np.ndarray) -> list[float]:
    """The relative defect of each permutation but the identity."""
    orders = itertools.islice(itertools.permutations(range(len(tokens))), 1, None)
    return [layer.equivariance_defect(module, tokens, np.array(order)).relative for order in orders]


def coinciding() -> Chapter:
    """Positions that rounding makes equal."""
    scheme, length, start = positions.Sinusoidal(64), 4096, 240
    coarse = positions.Precision(index="bfloat16")
    exact, rounded = positions.report(scheme, length), positions.report(scheme, length, coarse)
    first = rounded.first_pair or (0, 0)
    return Chapter(
        "Positions that coincide",
        f"With the index kept in bfloat16, «{rounded.collisions}» of {length} sinusoidal positions coincide with an "
        f"earlier one; the first two to do so are «{first[0]}» and «{first[1]}». Exactly, any two of them are at least "
        f"«{shown_below(exact.distance.lower)}@2» apart (proven).",
        pictures.position_picture(
            positions.preview(scheme, length, coarse, start),
            "Sinusoidal positions, index in bfloat16",
            f"{rounded.collisions} of {length} positions coincide with an earlier one",
            rounded.first_pair,
        ),
        "positions",
        (
            f"headwright positions --length {length} --dim 64 --index-dtype bfloat16",
            f"headwright positions --length {length} --dim 64",
        ),
    )


def rank(out: Path) -> Chapter:
    """A matrix cut to small rank."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(96, 8)) @ rng.normal(size=(8, 64)) + 0.1 * rng.normal(size=(96, 64))
    save(out, "matrix.npy", matrix)
    result = lowrank.truncate(matrix, rank=8)
    return Chapter(
        "A cut to small rank, with its error certified",
        f"A 96 x 64 matrix cut to rank 8 is missed by at most «{shown_above(result.error_upper_bound)}» in spectral "
        f"norm, a bound that does not trust the SVD. Theory alone promises «{shown_above(result.guarantee)}».",
        pictures.spectrum(result, "Singular values"),
        "rank",
        (f"headwright lowrank {out}/matrix.npy --rank 8",),
    )
