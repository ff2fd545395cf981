"""The theorem for the backward pass: how far dq, dk and dv may be from exact gradients.

docs/explanation/conform.md states and proves it; the steps here have its letters. The
contract is that of a pass that recomputes the weights, or keeps them in the working
type: D = rowsum(dout * out) is taken from the output that was returned, or is the
weighted mean of dP.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.conformance.arrays import (
    Array,
    namespace_of,
    power_of_two_below,
    to_numpy,
)
from headwright.conformance.bound import (
    BOUND_SLACK,
    LAZY_MAXIMUM,
    bound_log_sum,
    bound_log_weights,
    bound_scores,
    gamma,
    raise_weights,
    row_shift,
    sum_operations,
    units_of,
    worst_score_error,
)
from headwright.conformance.contracts import Contract
from headwright.conformance.description import query_heads
from headwright.conformance.reference import (
    AttentionProblem,
    Block,
    ExactRows,
    blocks,
    exact_rows,
    take_rows,
)
from headwright.errors import InputError
from headwright.numerics.float_formats import FloatFormat


@dataclass(frozen=True, eq=False)
class BoundedGradient:
    """An exact gradient and a bound on the error of a computed one.

    The bound is infinite where a number may overflow. Where an element is `insensitive`
    the bound is no smaller than what is summed: zero would be within it.
    """

    exact: np.ndarray
    bound: np.ndarray
    insensitive: np.ndarray


@dataclass(frozen=True, eq=False)
class RowTerms:
    """Of some rows, arrays (pairs, group, rows, keys): P and dS with their errors."""

    weights: Array
    weights_above: Array  # P (1 + error), rounded to the input type
    scores: Array  # dS
    scores_above: Array  # |dS| + its error, rounded to the input type
    scores_before: Array  # the magnitude of dS before dP and D cancel


def bound_gradients(
    problem: AttentionProblem, out: Array, dout: Array, contract: Contract
) -> dict[str, BoundedGradient]:
    """Exact dq, dk, dv in float64 with their bounds. `out` is the output returned."""
    shape = problem.shape
    scale = abs(problem.spec.scale)
    xp = namespace_of(problem.q)
    tiny = contract.working_format(problem.input_format).tiny_error
    query_size = (shape.batch, shape.heads, shape.rows, shape.dim)
    key_size = (shape.batch, shape.heads, shape.keys, shape.dim)
    value_size = (shape.batch, shape.heads, shape.keys, shape.value_dim)
    # For each gradient: the sum, that of magnitudes, of these with errors, and of the
    # magnitudes before anything cancels.
    dq = np.zeros((4, *query_size))
    dk = np.zeros((4, *key_size))
    dv = np.zeros((4, *value_size))
    seen_keys = np.zeros(query_size[:3])
    seeing_rows = np.zeros(key_size[:3])
    for block in blocks(problem, np.arange(shape.rows)):
        with np.errstate(all="ignore"):
            exact = exact_rows(problem, block)
            row_out = take_rows(problem, block, out)
            row_dout = take_rows(problem, block, dout)
            terms = bound_row_terms(contract, problem, exact, row_out, row_dout)
            q, k = _queries_and_keys(problem, block)
        texts = (block.pairs // shape.key_heads)[:, None]
        heads = query_heads(problem.spec, shape, block.pairs)
        at_rows = (texts[:, :, None], heads[:, :, None], block.rows[None, None, :])
        ones = xp.astype(exact.visible, xp.float64)
        seen_keys[at_rows] = to_numpy(xp.sum(ones, axis=-1))
        of_scores = (
            terms.scores,
            xp.abs(terms.scores),
            terms.scores_above,
            terms.scores_before,
        )
        for index, left in enumerate(of_scores):
            # Step E: dQ = scale dS K.
            keys = _factor(k, index, tiny)
            dq[index][at_rows] = to_numpy(xp.matmul(left, keys))
            # Step F: dK = scale dS^T Q.
            queries = _factor(q, index, tiny)
            part = to_numpy(xp.matmul(xp.matrix_transpose(left), queries))
            dk[index][texts, heads, block.keys] += part
        of_weights = (
            terms.weights,
            terms.weights,
            terms.weights_above,
            terms.weights,
        )
        for index, left in enumerate(of_weights):
            # Step G: dV = P^T dO.
            right = _factor(row_dout, index, tiny)
            part = to_numpy(xp.matmul(xp.matrix_transpose(left), right))
            dv[index][texts, heads, block.keys] += part
        seeing_rows[texts, heads, block.keys] += to_numpy(xp.sum(ones, axis=-2))
    signed_scale = problem.spec.scale
    if problem.spec.sinks is None and (seen_keys == 0).any():
        raise InputError(
            "gradients: a row sees no key, and so its output has no gradient that all "
            "kernels agree on; leave such rows out"
        )
    factors = np.array([signed_scale, scale, scale, scale])
    dq *= factors[:, None, None, None, None]
    dk *= factors[:, None, None, None, None]
    narrow = problem.input_format
    # A sum that is scaled afterwards was flushed before.
    tiny_of_sum = tiny * max(1.0, scale)
    rows, keys, group = shape.rows, shape.keys, shape.group

    def bound(
        sums: np.ndarray, addends: np.ndarray, least: float, length: int, group: int
    ) -> BoundedGradient:
        return _bound_sum(
            sums, addends, contract, narrow, least, length=length, group=group
        )

    return {
        "dq": bound(dq, seen_keys, tiny_of_sum, keys, 1),
        "dk": bound(dk, seeing_rows, tiny_of_sum, rows, group),
        "dv": bound(dv, seeing_rows, tiny, rows, group),
    }


def _factor(array: Array, index: int, tiny: float) -> Array:
    """The other factor of a sum: itself, its magnitude, or what it may be at most."""
    if index == 0:
        return array
    magnitude = namespace_of(array).abs(array)
    return magnitude + tiny if index == 2 else magnitude


def _queries_and_keys(problem: AttentionProblem, block: Block) -> tuple[Array, Array]:
    shape = problem.shape
    texts = (block.pairs // shape.key_heads).tolist()
    key_heads = (block.pairs % shape.key_heads).tolist()
    keys = problem.k[texts, key_heads, block.keys][:, None]
    return take_rows(problem, block, problem.q), keys


def bound_row_terms(
    contract: Contract,
    problem: AttentionProblem,
    exact: ExactRows,
    out: Array,
    dout: Array,
) -> RowTerms:
    """Steps A to D for the rows of a block."""
    xp = namespace_of(exact.weights)
    inputs = problem.input_format
    units = units_of(contract, inputs)
    working = contract.working_format(inputs)
    narrow = contract.resolve(contract.weight_format, inputs)
    shape = problem.shape
    nothing = xp.zeros_like(exact.weights)

    # Step A: the weights, recomputed from a rounded log-sum-exp or divided by the sum.
    log_error = _bound_log_of_weights(contract, inputs, exact, shape.dim)
    visible = exact.visible
    # A weight may be flushed to zero.
    above = exact.weights + raise_weights(exact, log_error, xp) + working.tiny_error
    above = xp.where(visible, above, nothing)

    # Step B: dP = dO V^T.
    values = xp.matrix_transpose(exact.values)
    gradient = xp.matmul(dout, values)
    magnitude = xp.matmul(xp.abs(dout), xp.abs(values))
    operations = float(sum_operations(float(shape.value_dim)))
    flushes = 4.0 * shape.value_dim + 4
    gradient_error = gamma(operations, units.ulp) * magnitude
    sizes = xp.sum(xp.abs(dout), axis=-1, keepdims=True) + xp.sum(
        xp.abs(values), axis=-2, keepdims=True
    )
    gradient_error = gradient_error + working.tiny_error * (flushes + sizes)

    # Step C: D, from the output that was returned or as a mean of dP.
    mean = xp.sum(dout * exact.output, axis=-1, keepdims=True)
    of_output = xp.sum(dout * out, axis=-1, keepdims=True)
    of_magnitudes = xp.sum(xp.abs(dout * out), axis=-1, keepdims=True)
    from_output = xp.abs(of_output - mean)
    from_output = from_output + gamma(operations + 2, units.ulp) * of_magnitudes
    growth = 1 + gamma(sum_operations(exact.seen) + 2, units.sum_ulp)
    largest = xp.abs(gradient) + gradient_error
    from_weights = xp.sum(
        above * growth * largest - exact.weights * xp.abs(gradient),
        axis=-1,
        keepdims=True,
    )
    mean_error = xp.maximum(from_output, from_weights)
    output_sizes = xp.sum(xp.abs(dout) + xp.abs(out), axis=-1, keepdims=True)
    flushes_of_mean = flushes + 5 * exact.seen + output_sizes
    mean_error = mean_error + working.tiny_error * flushes_of_mean

    # Step D: dS = P (dP - D), rounded to the input type before its products.
    difference = gradient - mean
    far = xp.abs(difference) + gradient_error + mean_error
    scores = exact.weights * difference
    weights_above = above * (1 + units.weight) + narrow.tiny_error
    factor = weights_above if contract.rounds_weights_of_gradients else above
    largest_score = factor * far * (1 + units.ulp) ** 3 + working.tiny_error
    # It may be scaled before it is rounded, or flushed.
    scale = abs(problem.spec.scale) or 1.0
    tiny = max(narrow.tiny_error, 2 * working.tiny_error) / min(1.0, scale)
    error = largest_score - xp.abs(scores)
    scores_above = xp.abs(scores) * (1 + units.weight) + error * (1 + units.weight)
    scores_above = scores_above + tiny
    overflows = scores_above * max(1.0, scale) > narrow.largest
    overflows = overflows | (far > working.largest)
    scores_above = xp.where(overflows, xp.full_like(scores_above, np.inf), scores_above)
    return RowTerms(
        exact.weights,
        xp.where(visible, weights_above, nothing),
        xp.where(visible, scores, nothing),
        xp.where(visible, scores_above, nothing),
        exact.weights * (magnitude + of_magnitudes),
    )


def _bound_log_of_weights(
    contract: Contract, inputs: FloatFormat, exact: ExactRows, dim: int
) -> Array:
    """Step A: how far the logarithm of a recomputed weight may be off."""
    xp = namespace_of(exact.weights)
    units = units_of(contract, inputs)
    score_error = bound_scores(contract, inputs, exact, dim)
    worst = worst_score_error(contract, inputs, exact, score_error)
    log_error = bound_log_weights(contract, inputs, exact, score_error, worst)
    below, above = bound_log_sum(contract, inputs, exact, worst, log_error)
    # The log-sum-exp is the maximum plus a logarithm between 0 and ln(keys).
    logarithm = xp.log(exact.seen + 1) + 1
    size = xp.abs(exact.largest_score) + worst + logarithm + LAZY_MAXIMUM
    size = size + row_shift(contract, exact)
    rounded = gamma(8.0, units.ulp) * size + units.exp * (logarithm + LAZY_MAXIMUM)
    error = log_error + xp.maximum(above, -below) + rounded
    return xp.where(exact.visible, error, xp.zeros_like(error))


def _bound_sum(
    sums: np.ndarray,
    addends: np.ndarray,
    contract: Contract,
    inputs: FloatFormat,
    tiny: float,
    *,
    length: int,
    group: int,
) -> BoundedGradient:
    """Steps E to G: sums in the working type in any order, then one rounding.

    `sums` has the exact sums, those of magnitudes, and those of magnitudes with errors,
    each (batch, heads, tokens, columns); `length` is how many addends there are with
    hidden ones. Heads of a group are added for dk and dv.
    """
    units = units_of(contract, inputs)
    working = contract.working_format(inputs)
    output = contract.resolve(contract.output_format, inputs)
    exact, magnitude, above, before = sums
    operations = sum_operations(addends) + 8
    growth = np.asarray(1 + gamma(operations, units.sum_ulp))[..., None]
    error = above * growth - magnitude
    error = error + (5 * addends + 4)[..., None] * tiny
    # A partial sum may overflow where the whole one does not.
    error = np.where(above * growth < working.largest, error, np.inf)
    if contract.gradient_tile is not None:
        # A partial sum is no larger than the sum of all magnitudes with their errors.
        # It changes only in tiles that have an addend.
        tiles = np.minimum(addends, np.ceil(length / contract.gradient_tile) + 1)
        tiles = tiles[..., None]
        rounded = gamma(tiles, output.unit_roundoff)
        error = error + rounded * (magnitude + error) + tiles * output.tiny_error
    if group > 1:
        # Each head may be rounded, as where keys were repeated for the heads.
        error = error + output.unit_roundoff * (np.abs(exact) + error)
        error = error + output.tiny_error
        size = (exact.shape[0], -1, group, *exact.shape[2:])
        total = np.abs(exact).reshape(size).sum(axis=2)
        exact, before, error = (
            array.reshape(size).sum(axis=2) for array in (exact, before, error)
        )
        error = error + gamma(2.0 * group, units.ulp) * (total + error)
    error = error * BOUND_SLACK
    size = np.abs(exact) + error
    half_ulp = power_of_two_below(size) * output.unit_roundoff
    bound = error + half_ulp + output.tiny_error
    insensitive = ~(error < before) & (before > 0)
    overflows = ~(size + half_ulp < output.largest)
    return BoundedGradient(exact, np.where(overflows, np.inf, bound), insensitive)
