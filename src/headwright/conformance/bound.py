"""The theorem: how far an output under a contract can be from exact attention.

docs/explanation/conform.md states and proves it; the steps here have its numbers. The
reference is itself an implementation, with the arithmetic of float64: as step 9 says,
its unit in the last place is added to that of the contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from headwright.conformance.arrays import (
    Array,
    Namespace,
    namespace_of,
    power_of_two_below,
    replace_where,
)
from headwright.conformance.contracts import Contract
from headwright.conformance.description import AddedScores
from headwright.conformance.reference import ExactOutput, ExactRows
from headwright.numerics.float_formats import FLOAT64, TF32, FloatFormat

ADDENDS_OF_A_BLOCK = 4  # at least so many products are added at once by tensor cores
# The bound is computed in float64 from weights that have errors of their own. Wherever
# it is below the mean of |v| (else nothing is judged), both stay far below this.
BOUND_SLACK = 1 + 2.0**-20
# Some kernels raise the maximum only when a score exceeds it by 8 powers of 2.
LARGEST_EXPONENTIAL = 2.0**8
LAZY_MAXIMUM = 16.0  # above the logarithm of that, with its errors


class Vacuity(StrEnum):
    """Why the bound says nothing of an element."""

    SCORE_OVERFLOW = "score overflow"  # a score may be too large for its type
    OUTPUT_OVERFLOW = "output overflow"  # and so may the output
    TINY_VALUES = "tiny values"  # values so small that they may be flushed to zero
    TINY_WEIGHTS = "tiny weights"  # and so may the weights, beside a key or a sink
    LARGE_BIAS = "large bias"  # a bias so large that a score loses its digits
    LARGE_SCORES = "large scores"  # rounding a score changes its weight by as much


@dataclass(frozen=True, eq=False)
class OutputBound:
    """For each element of some rows: a bound on the error, and whether it says much."""

    bound: Array
    # True where the bound is no smaller than the mean of |v|: zeros would be within.
    vacuous: Array
    before_rounding: Array


@dataclass(frozen=True)
class Units:
    """The relative errors that a contract allows, with those of the reference."""

    ulp: float  # of one operation in the working type
    sum_ulp: float  # of one operation in a sum over keys
    operand: float  # of rounding a query or a key before their product
    score: float  # of rounding a score after an operation on it
    weight: float
    value: float
    exp: float
    tanh: float


def units_of(contract: Contract, inputs: FloatFormat) -> Units:
    """The relative errors of one contract for inputs of one type."""
    working = contract.working_format(inputs)
    ulp = working.ulp + FLOAT64.ulp
    return Units(
        ulp=ulp,
        sum_ulp=max(ulp, contract.resolve(contract.sum_format, inputs).ulp),
        operand=_rounding_unit(contract, contract.operand_format, inputs),
        score=_rounding_unit(contract, contract.score_format, inputs),
        weight=_rounding_unit(contract, contract.weight_format, inputs),
        value=_rounding_unit(contract, contract.value_format, inputs),
        exp=contract.exp_ulps * ulp,
        tanh=contract.tanh_ulps * ulp,
    )


def _rounding_unit(contract: Contract, name: str | None, inputs: FloatFormat) -> float:
    """The relative error of rounding to a format; 0 where nothing is rounded."""
    if name is None:
        return 0.0
    number_format = contract.resolve(name, inputs)
    if number_format.precision >= contract.working_format(inputs).precision:
        return 0.0
    if number_format is TF32:
        return TF32.ulp  # hardware may truncate
    return number_format.unit_roundoff


def gamma(operations: Array | float, ulp: float) -> Array | float:
    """(1 + ulp)^operations - 1, from above; infinite where the sum is too long."""
    total = operations * ulp
    if isinstance(total, float):
        return total / (1 - total) if total < 1 else np.inf
    xp = namespace_of(total)
    shrinking = xp.where(total < 1, 1 - total, xp.zeros_like(total))
    return total / shrinking


def sum_operations(addends: Array | float) -> Array | float:
    """Operations that a sum counts as: one for each product, one for each block.

    Step 1: tensor cores align the products of a block with the largest and cut them
    off, one ulp for each, and cut off the sum of the block, one ulp more.
    """
    return addends * (1 + 1 / ADDENDS_OF_A_BLOCK) + 1


def bound_rows(
    contract: Contract, inputs: FloatFormat, exact: ExactRows, dim: int
) -> OutputBound:
    """The theorem, for the rows of a block."""
    xp = namespace_of(exact.weights)
    score_error = bound_scores(contract, inputs, exact, dim)
    worst_error = worst_score_error(contract, inputs, exact, score_error)
    log_error = bound_log_weights(contract, inputs, exact, score_error, worst_error)
    weight_error = bound_weights(contract, inputs, exact, worst_error, log_error)
    return _bound_output(contract, inputs, exact, weight_error, xp)


def bound_scores(
    contract: Contract, inputs: FloatFormat, exact: ExactRows, dim: int
) -> Array:
    """Steps 1 to 4: how far each computed score may be off."""
    xp = namespace_of(exact.weights)
    units = units_of(contract, inputs)
    working = contract.working_format(inputs)
    scores = contract.resolve(contract.score_format, inputs)
    tiny = working.tiny_error
    if contract.operand_format is not None:
        tiny = max(tiny, contract.resolve(contract.operand_format, inputs).tiny_error)

    # Step 1: the dot product, and step 2: scaling. The scale, log2(e) and their product
    # are rounded, and so is the product with it: four operations.
    operations = float(sum_operations(float(dim))) + 4
    relative = (1 + units.operand) ** 2 * (1 + gamma(operations, units.ulp)) - 1
    error = relative * exact.magnitude
    # What is flushed to zero: operands, products, partial sums.
    error = error + 2 * tiny * exact.flushable
    # In a narrow type the product is rounded, and then the scaled product.
    twice_rounded = (1 + units.score) ** 2 - 1
    error = error + twice_rounded * (xp.abs(exact.linear) + error)
    error = error + 2 * scores.tiny_error

    operation = (1 + units.ulp) * (1 + units.score) - 1
    if exact.softcap is not None:
        # Step 3: the softcap has slope at most 1, so an error before it stays one;
        # the argument is rounded twice, tanh errs, its product with the cap is rounded.
        argument = (1 + operation) ** 2 - 1
        error = error + argument * (xp.abs(exact.linear) + error)
        capped = (1 + units.tanh) * (1 + operation) ** 2 - 1
        error = error + capped * (xp.abs(exact.capped) + error)
        if contract.tanh_from_exp:
            # tanh x = 2 / (1 + e^-2x) - 1: the fraction has slope at most 1/4 in the
            # exponent, and four operations round numbers of at most 2.
            of_fraction = -np.log1p(-min(units.exp, 0.5)) / 2
            of_fraction = of_fraction + 2 * gamma(4.0, units.ulp)
            error = error + of_fraction * (1 + operation) ** 2 * exact.softcap
        error = error + 4 * scores.tiny_error
    if exact.added is not None:
        error = _add_bias_error(contract, units, exact, exact.added, error)
        error = error + 2 * exact.added.terms * scores.tiny_error

    # Where a number may overflow, the contract promises nothing.
    # A hidden key counts, too: infinity plus a mask can be NaN.
    products = exact.largest_product * (1 + relative) * (1 + units.score)
    overflows = products > min(working.largest, scores.largest)
    if exact.added is not None:
        overflows = overflows | (exact.scores + error > scores.largest)
        # A score that overflows downwards is minus infinity or the least number: its
        # key has no weight, if another key of the row has a score that is finite.
        finite = exact.visible & (exact.scores - error >= -scores.largest)
        overflows = overflows | ~xp.any(finite, axis=-1, keepdims=True)
    error = xp.where(overflows, xp.full_like(error, np.inf), error)
    return xp.where(exact.visible, error, xp.zeros_like(error))


def _add_bias_error(
    contract: Contract, units: Units, exact: ExactRows, added: AddedScores, error: Array
) -> Array:
    """Step 4: the error of a score after bias and ALiBi are added to it."""
    xp = namespace_of(exact.weights)
    # Each is rounded (slope, distance, their product, log2(e)).
    rounded = (1 + gamma(4.0, units.ulp)) * (1 + units.score) - 1
    error = error + rounded * added.magnitude
    # Each sum is rounded. If there are two, the first may be larger than the last.
    partial_sum = xp.abs(exact.scores)
    if added.terms > 1:
        partial_sum = xp.abs(exact.capped) + added.magnitude
    operation = (1 + units.ulp) * (1 + units.score) - 1
    sums = (1 + operation) ** added.terms - 1
    error = error + sums * (partial_sum + error)
    if contract.alibi_by_key and added.alibi_of_row is not None:
        # The slope times the number of the key is at most the sum of these two: it is
        # rounded as a bias is, and so are two sums with it.
        by_key = added.alibi_of_row + added.magnitude
        error = error + gamma(6.0, units.ulp) * by_key
    return error


def row_shift(contract: Contract, exact: ExactRows) -> Array | float:
    """By how much all scores of a row may be larger than those of the definition."""
    if not contract.alibi_by_key or exact.added is None:
        return 0.0
    if exact.added.alibi_of_row is None:
        return 0.0
    return exact.added.alibi_of_row


def bound_log_weights(
    contract: Contract,
    inputs: FloatFormat,
    exact: ExactRows,
    score_error: Array,
    worst_error: Array,
) -> Array:
    """Step 5: how far the logarithm of each computed exponential may be off.

    It is relative to one number for the whole row, which cancels in the division.
    """
    xp = namespace_of(exact.weights)
    units = units_of(contract, inputs)
    error = _log_error(contract, units, exact, exact.scores, score_error, worst_error)
    return xp.where(exact.visible, error, xp.zeros_like(error))


def _log_error(
    contract: Contract,
    units: Units,
    exact: ExactRows,
    scores: Array,
    score_error: Array,
    worst_error: Array,
) -> Array:
    """Step 5, for keys or for sinks, whose scores these are."""
    xp = namespace_of(exact.weights)
    # The number that is subtracted lies between the key's score and the final maximum.
    # It is rounded when it is scaled. The log-sum-exp of a split is at most ln(keys)
    # above a score, and is rounded, too.
    key_size = xp.abs(scores) + score_error
    largest_size = xp.abs(exact.largest_score) + worst_error
    shift_size = xp.maximum(key_size, largest_size) + xp.log(exact.seen + 1)
    shift_size = shift_size + row_shift(contract, exact)
    shift = gamma(4.0, units.ulp) * (shift_size + LAZY_MAXIMUM)
    # The arguments of exp, from the key to the final maximum, telescope over tiles.
    distance = exact.largest_score - scores + 2 * worst_error + LAZY_MAXIMUM
    argument = gamma(4.0, units.ulp) * xp.abs(distance)
    # One exp for the key, one for each time that its tile is rescaled, two for a split.
    exponentials = count_rescalings(contract, exact) + 3
    exponential = -exponentials * np.log1p(-min(units.exp, 1.0))
    return score_error + shift + argument + exponential


def worst_score_error(
    contract: Contract, inputs: FloatFormat, exact: ExactRows, score_error: Array
) -> Array:
    """How far the largest computed score may be off: the worst of those that count.

    A key that has no weight in float64 is far below the largest.
    """
    xp = namespace_of(exact.weights)
    relevant = xp.where(exact.weights > 0, score_error, xp.zeros_like(score_error))
    worst = xp.max(relevant, axis=-1, keepdims=True)
    if exact.sink_scores is None:
        return worst
    units = units_of(contract, inputs)
    return xp.maximum(worst, _sink_score_error(contract, units, exact))


def _sink_score_error(contract: Contract, units: Units, exact: ExactRows) -> Array:
    """A sink is given: it is rounded as a bias is, and raised with the other scores."""
    xp = namespace_of(exact.weights)
    rounded = (1 + gamma(4.0, units.ulp)) * (1 + units.score) - 1
    raised = gamma(6.0, units.ulp) * row_shift(contract, exact)
    return rounded * xp.abs(exact.sink_scores) + raised


def count_rescalings(contract: Contract, exact: ExactOutput) -> Array:
    """How often weights are multiplied because a later tile has a larger score."""
    tiles = exact.span / contract.tile + 2
    return namespace_of(tiles).where(exact.seen < tiles, exact.seen, tiles)


def bound_weights(
    contract: Contract,
    inputs: FloatFormat,
    exact: ExactRows,
    worst_error: Array,
    log_error: Array,
) -> Array:
    """Steps 6 and 7: |computed - exact| weight of each key, after the division."""
    xp = namespace_of(exact.weights)
    units = units_of(contract, inputs)
    rescalings = count_rescalings(contract, exact)
    log_below, log_above = bound_log_sum(
        contract, inputs, exact, worst_error, log_error
    )

    # Step 7: a weight of the numerator may also be rounded, and its product with the
    # value; the sum of the products and the division err as the other sum does.
    operations = sum_operations(exact.seen) + rescalings + 8
    log_numerator = log_error - log_one_minus(gamma(operations, units.sum_ulp), xp)
    log_numerator = log_numerator - np.log1p(-units.value)
    least_log = -log_error - log_above - worst_error
    rounding = _bound_weight_rounding(contract, inputs, exact, least_log)
    raised = raise_weights(exact, log_numerator - log_below, xp)
    too_large = raised + rounding * (exact.weights + raised)
    lowered = -exact.weights * xp.expm1(-log_numerator - log_above)
    too_small = lowered + rounding * (exact.weights - lowered)
    error = xp.maximum(too_large, too_small)
    return xp.where(exact.visible, error, xp.zeros_like(error))


def bound_log_sum(
    contract: Contract,
    inputs: FloatFormat,
    exact: ExactRows,
    worst_error: Array,
    log_error: Array,
) -> tuple[Array, Array]:
    """Step 6: the logarithm of computed / exact sum of exponentials lies between these."""
    xp = namespace_of(exact.weights)
    units = units_of(contract, inputs)
    rescalings = count_rescalings(contract, exact)
    operations = sum_operations(exact.seen + 1) + rescalings + 4
    sum_error = -log_one_minus(gamma(operations, units.sum_ulp), xp)
    below = xp.sum(exact.weights * xp.expm1(-log_error), axis=-1, keepdims=True)
    above = xp.sum(raise_weights(exact, log_error, xp), axis=-1, keepdims=True)
    if exact.sink_scores is not None:
        sinks = exact.sink_scores
        sink_weight = xp.exp(sinks - exact.log_sum_exp)
        sink_error = _sink_score_error(contract, units, exact)
        sink_error = _log_error(contract, units, exact, sinks, sink_error, worst_error)
        below = below + sink_weight * xp.expm1(-sink_error)
        above = above + sink_weight * xp.expm1(sink_error)
    return xp.log1p(below) - sum_error, xp.log1p(above) + sum_error


def log_one_minus(relative: Array, xp: Namespace) -> Array:
    """log(1 - relative); minus infinity where nothing is left."""
    left = xp.where(relative < 1, relative, xp.ones_like(relative))
    return xp.log1p(-left)


def raise_weights(exact: ExactRows, log_error: Array, xp: Namespace) -> Array:
    """weight * (e^log_error - 1), also where one is tiny and the other is large."""
    usual = exact.weights * xp.expm1(log_error)
    if not bool(xp.any(log_error >= 1)):
        return usual
    exponent = exact.scores - exact.log_sum_exp + log_error
    extreme = xp.where(exact.visible, xp.exp(exponent), xp.zeros_like(usual))
    return xp.where(log_error < 1, usual, extreme)


def _bound_weight_rounding(
    contract: Contract, inputs: FloatFormat, exact: ExactRows, least_log: Array
) -> Array:
    """The relative error of rounding a weight to its type: never more than all of it.

    A number below the type's smallest may be off by `tiny_error`. What is rounded is at
    least the exact weight times e^least_log.
    """
    xp = namespace_of(exact.weights)
    unit = units_of(contract, inputs).weight
    tiny_error = contract.resolve(contract.weight_format, inputs).tiny_error
    least = exact.weights * xp.exp(least_log)
    least = xp.where(least > 0, least, xp.full_like(least, 2.0**-1000))
    relative = unit + tiny_error / least
    return xp.where(relative < 1, relative, xp.ones_like(relative))


def _bound_output(
    contract: Contract,
    inputs: FloatFormat,
    exact: ExactRows,
    weight_error: Array,
    xp: Namespace,
) -> OutputBound:
    """Step 8: the mean of the values, and the rounding of the output."""
    before_rounding = xp.matmul(weight_error, xp.abs(exact.values))
    if contract.value_format == "float8_e4m3":
        # Values are scaled so that the largest is the format's largest.
        values = contract.resolve(contract.value_format, inputs)
        largest = xp.max(xp.abs(exact.values), axis=-2, keepdims=True)
        step = largest / values.largest * values.tiny_error
        kept = 1 + xp.sum(weight_error, axis=-1, keepdims=True)
        before_rounding = before_rounding + step * kept
    too_large = _sums_may_overflow(contract, inputs, exact)
    return round_output(contract, inputs, exact, before_rounding, too_large)


def round_output(
    contract: Contract,
    inputs: FloatFormat,
    exact: ExactOutput,
    mean_error: Array,
    too_large: Array,
) -> OutputBound:
    """Step 8, from the error of the mean: flushes to zero, and one rounding."""
    xp = namespace_of(exact.output)
    working = contract.working_format(inputs)
    output_format = contract.resolve(contract.output_format, inputs)
    # What is flushed to zero: values, products, partial sums, rescaled sums, each
    # divided by a sum of at least nearly 1.
    sums = contract.resolve(contract.sum_format, inputs)
    tiny_error = max(working.tiny_error, sums.tiny_error)
    before_rounding = mean_error + (5 * exact.seen + 4) * tiny_error
    before_rounding = before_rounding * BOUND_SLACK
    before_rounding = replace_where(too_large, np.inf, before_rounding)

    # Rounded to nearest: half a unit in the last place of the largest possible result.
    size = xp.abs(exact.output) + before_rounding
    half_ulp = power_of_two_below(size) * output_format.unit_roundoff
    bound = before_rounding + half_ulp + output_format.tiny_error
    vacuous = (before_rounding >= exact.mean_magnitude) & (exact.mean_magnitude > 0)
    if bool(2 * xp.max(size) < output_format.largest):
        return OutputBound(bound, vacuous, before_rounding)
    overflows = ~(size + half_ulp < output_format.largest)
    bound = replace_where(overflows, np.inf, bound)
    return OutputBound(bound, vacuous | ~xp.isfinite(bound), before_rounding)


def _sums_may_overflow(
    contract: Contract, inputs: FloatFormat, exact: ExactRows
) -> Array:
    """Step 8: where a sum may overflow before it is divided: (pairs, 1 or group, ...).

    In whatever order keys come, each exponential is at most 1 when its tile is added,
    or 2^8 in the working type, where the maximum may be late.
    """
    xp = namespace_of(exact.weights)
    magnitudes = xp.abs(exact.values)
    largest_value = xp.max(magnitudes, axis=-2, keepdims=True)
    all_values = xp.sum(magnitudes, axis=-2, keepdims=True)
    return sums_may_overflow(contract, inputs, exact.seen, largest_value, all_values)


def sums_may_overflow(
    contract: Contract,
    inputs: FloatFormat,
    seen: Array,
    largest_value: Array,
    all_values: Array,
) -> Array:
    """The same, from the largest |v| and the sum of all."""
    xp = namespace_of(all_values)
    sums = contract.resolve(contract.sum_format, inputs)
    largest_exponential = 1.0
    if sums is contract.working_format(inputs):
        largest_exponential = LARGEST_EXPONENTIAL
    # Where the sum of all |v_j| does not overflow, columns need not be looked at.
    of_row = xp.maximum(xp.max(all_values, axis=-1, keepdims=True), seen)
    overflows = 2 * largest_exponential * of_row >= sums.largest
    if not bool(xp.any(overflows)):
        return overflows
    of_products = xp.minimum(seen * largest_value, all_values)
    of_exponentials = xp.broadcast_to(seen, of_products.shape)
    largest_sum = largest_exponential * xp.maximum(of_products, of_exponentials)
    # Each addend and each sum err by less than twice, altogether.
    return 2 * largest_sum >= sums.largest


def find_vacuity(
    contract: Contract, inputs: FloatFormat, exact: ExactRows, bound: OutputBound
) -> dict[Vacuity, Array]:
    """For each reason the elements of which the bound says nothing for this reason."""
    xp = namespace_of(exact.weights)
    working = contract.working_format(inputs)
    scores = contract.resolve(contract.score_format, inputs)
    magnitude = exact.mean_magnitude
    left = bound.vacuous
    reasons = {}

    largest = min(working.largest, scores.largest)
    reasons[Vacuity.SCORE_OVERFLOW] = left & (exact.largest_product * 2 > largest)
    left = left & ~reasons[Vacuity.SCORE_OVERFLOW]
    too_wide = ~(bound.before_rounding < magnitude)
    output_overflows = _sums_may_overflow(contract, inputs, exact) | ~too_wide
    reasons[Vacuity.OUTPUT_OVERFLOW] = left & output_overflows
    left = left & ~output_overflows
    # Most of the output is of weights that their type may lose.
    least_weight = contract.resolve(contract.weight_format, inputs).tiny_error
    kept = xp.where(exact.weights > 2 * least_weight, exact.weights, 0 * exact.weights)
    magnitude_kept = xp.matmul(kept, xp.abs(exact.values))
    reasons[Vacuity.TINY_WEIGHTS] = left & (2 * magnitude_kept < magnitude)
    left = left & ~reasons[Vacuity.TINY_WEIGHTS]
    tiny = (5 * exact.seen + 4) * working.tiny_error
    reasons[Vacuity.TINY_VALUES] = left & (2 * tiny > magnitude)
    left = left & ~reasons[Vacuity.TINY_VALUES]
    if exact.added is not None:
        # Whose rounding is larger in the row: that of the bias or of the products?
        nothing = xp.zeros_like(exact.magnitude)
        biases = xp.where(exact.visible, exact.added.magnitude, nothing)
        products = xp.where(exact.visible, exact.magnitude, nothing)
        largest_bias = xp.max(biases, axis=-1, keepdims=True)
        of_bias = largest_bias > xp.max(products, axis=-1, keepdims=True)
        reasons[Vacuity.LARGE_BIAS] = left & of_bias
        left = left & ~of_bias
    reasons[Vacuity.LARGE_SCORES] = left
    return reasons
