"""A statement about ranges against the weights: every head is bounded again, and every claim compared exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from headwright.value_ranges.checker.allowances import Allowances
from headwright.value_ranges.checker.layers import bound_layer
from headwright.value_ranges.layer import LayerWeights
from headwright.value_ranges.statement import (
    LATENTS,
    PARTS,
    LayerClaims,
    RangesStatement,
)

Progress = Callable[[float], None]


class RejectedClaimError(Exception):
    """A claim that does not follow from the weights; the message says which."""


def check_statement(
    statement: RangesStatement,
    layers: Iterator[LayerWeights],
    progress: Progress | None = None,
) -> None:
    """Raises a RejectedClaimError unless every claim follows from the weights."""
    allow = Allowances(statement.arithmetic)
    count = len(statement.layers)
    checked = 0
    for layer in layers:
        if checked == count:
            raise RejectedClaimError(f"the model has more layers than {count}")
        check_layer(statement.layers[checked], layer, allow)
        checked += 1
        if progress is not None:
            progress(checked / count)
    if checked < count:
        raise RejectedClaimError(f"the model has {checked} layers, fewer than {count}")


def check_layer(claims: LayerClaims, layer: LayerWeights, allow: Allowances) -> None:
    """Every claim about one layer."""
    bounds = bound_layer(layer, allow)
    for part in (*PARTS, LATENTS):
        claims_of_part = getattr(claims, part)
        bounds_of_part = getattr(bounds, part)
        _compare(claims_of_part, bounds_of_part, f"{part} of layer {layer.index}")


def _compare(claims: tuple[str | None, ...], bounds: list[float], what: str) -> None:
    """A claim holds if it is not below the bound; decimals are compared as fractions."""
    if len(claims) != len(bounds):
        raise RejectedClaimError(
            f"{what}: the model has {len(bounds)} heads, and {len(claims)} are claimed"
        )
    for head, (claim, bound) in enumerate(zip(claims, bounds, strict=True)):
        if claim is None:
            continue
        follows = math.isfinite(bound) and Fraction(claim) >= Fraction(bound)
        if not follows:
            raise RejectedClaimError(
                f"{what}, head {head}: at most {claim} is claimed, and it may be {bound:.7g}"
            )
