"""A statement about ranges against the weights: every head is bounded again, and every claim compared exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from headwright.numerics.balls import Balls
from headwright.value_ranges.checker.allowances import Allowances
from headwright.value_ranges.checker.vectors import (
    HeadBounds,
    MappedBall,
    bound_head,
    constant,
    largest_input,
    norm_again,
    project,
    project_again,
    weights_of_head,
)
from headwright.value_ranges.layer import HeadWeights, LayerWeights
from headwright.value_ranges.statement import LayerClaims, RangesStatement

Progress = Callable[[float], None]
UNKNOWN = HeadBounds(np.full(1, math.inf), math.inf, np.full(1, math.inf))


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
    is_finite = largest_input(layer.norm, allow) <= allow.largest
    mapped = None
    if layer.mapping is not None:
        weight, bias = weights_of_head(layer.mapping, 0)
        mapped = project(layer.norm, weight, bias, allow)
        is_finite = is_finite and bool(np.all(mapped.sums <= allow.largest))
    bounds: dict[str, list[HeadBounds]] = {}
    for name, part in (
        ("queries", layer.query),
        ("keys", layer.key),
        ("values", layer.value),
    ):
        bounds[name] = []
        for head in range(len(part.weight)):
            bound = UNKNOWN
            if is_finite:
                bound = _bound(layer, part, head, mapped, name, allow)
            bounds[name].append(bound)
        largest = [float(bound.channels.max()) for bound in bounds[name]]
        _compare(getattr(claims, name), largest, f"{name} of layer {layer.index}")
    scores = []
    for head, query in enumerate(bounds["queries"]):
        key = bounds["keys"][layer.key_head(head)]
        scores.append(_bound_score(query, key, layer, allow))
    _compare(claims.scores, scores, f"scores of layer {layer.index}")


def _bound(
    layer: LayerWeights,
    part: HeadWeights,
    head: int,
    mapped: MappedBall | None,
    name: str,
    allow: Allowances,
) -> HeadBounds:
    weight, bias = weights_of_head(part, head)
    if mapped is None:
        ball = project(layer.norm, weight, bias, allow)
    else:
        ball = project_again(mapped, weight, bias, allow)
    if not np.all(ball.sums <= allow.largest):
        return UNKNOWN
    if part.norm is not None:
        # A rotation before the norm makes numbers larger by less than 4.
        if not np.all(4 * ball.sums <= allow.largest):
            return UNKNOWN
        if not largest_input(part.norm, allow) <= allow.largest:
            return UNKNOWN
        ball = norm_again(part.norm, allow)
    rotary = None if name == "values" else layer.rotary
    bounds = bound_head(ball, rotary, allow)
    return bounds if bounds.channels.max() <= allow.largest else UNKNOWN


def _bound_score(
    query: HeadBounds, key: HeadBounds, layer: LayerWeights, allow: Allowances
) -> float:
    """By lengths, or by pairs: the smaller of the two."""
    lengths = [query.length, key.length]
    if not all(math.isfinite(length) for length in lengths):
        return math.inf
    head_dim = len(query.channels)
    product = Balls.of(np.array(lengths[0])) * Balls.of(np.array(lengths[1]))
    exact = float(product.upper())
    if layer.rotary is not None:
        single = np.ones(head_dim, dtype=bool)
        for pair in layer.rotary.pairs(head_dim):
            single[list(pair)] = False
        first = np.concatenate([query.pairs, query.channels[single]])
        second = np.concatenate([key.pairs, key.channels[single]])
        by_pair = (Balls.of(first) * Balls.of(second)).sum()
        exact = min(exact, float(by_pair.upper()))
    computed = Balls.of(np.array(exact)) * constant(allow.product(head_dim))
    computed = computed + constant(allow.lost(head_dim))
    if not float(computed.upper()) <= allow.largest:
        return math.inf
    factor = Balls.of(np.array(abs(layer.scale))) * constant(allow.scaled)
    # The scale was computed in float64.
    factor = factor * constant(1 + Fraction(1, 2**50))
    return float((computed * factor + constant(allow.tiny)).upper())


def _compare(claims: tuple[str | None, ...], bounds: list[float], what: str) -> None:
    """A claim holds if it is not below the bound; decimals are compared as fractions."""
    if len(claims) != len(bounds):
        raise RejectedClaimError(
            f"{what}: the model has {len(bounds)} heads, and {len(claims)} are claimed"
        )
    for head, (claim, bound) in enumerate(zip(claims, bounds, strict=True)):
        if claim is None:
            continue
        if not math.isfinite(bound) or Fraction(claim) < Fraction(bound):
            raise RejectedClaimError(
                f"{what}, head {head}: at most {claim} is claimed, and it may be {bound:.7g}"
            )
