"""The theorem where all errors of scores are small: a bound from the sums of a row.

docs/explanation/conform.md states and proves it as a corollary. e^x - 1 is convex, so
up to x = x_max it is at most the chord, x (e^x_max - 1) / x_max. That makes the theorem's
bound linear in the errors of the scores, which are a multiple of A_j = |scale| sum |q_l
k_jl| and a number for the whole row. It is never below that of `bound`, and hardly above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headwright.conformance.arrays import Array, namespace_of
from headwright.conformance.bound import (
    LAZY_MAXIMUM,
    OutputBound,
    Units,
    count_rescalings,
    gamma,
    log_one_minus,
    round_output,
    sum_operations,
    sums_may_overflow,
    units_of,
)
from headwright.conformance.contracts import Contract
from headwright.conformance.row_sums import LARGEST_SCORE, RowSums
from headwright.numerics.float_formats import FLOAT32, FloatFormat

# The logarithms of weights may be off by so much; beyond, nothing is said here. The
# chord is then at most 3.2% above the exponential.
LARGEST_LOG = 2.0**-4
STEEPEST_CHORD = math.expm1(LARGEST_LOG) / LARGEST_LOG
LARGEST_PRODUCT = 2.0**100  # of a query and a key: far from any overflow


def is_linear(contract: Contract, inputs: FloatFormat) -> bool:
    """Whether scores are kept in the working type, and values are not in eight bits."""
    scores = contract.resolve(contract.score_format, inputs)
    wide_scores = scores.precision >= contract.working_format(inputs).precision
    return wide_scores and contract.value_format != "float8_e4m3"


def least_weight(contract: Contract, inputs: FloatFormat) -> float | None:
    """Below it a weight may be lost, with the errors it has before: see `RowSums`.

    None where it is so small that a weight of that size is nothing beside the others.
    """
    tiny_error = contract.resolve(contract.weight_format, inputs).tiny_error
    if tiny_error <= FLOAT32.tiny_error:
        return None
    return tiny_error * math.exp(2 * LARGEST_LOG)


def least_weights_of(contracts: Sequence[Contract], inputs: FloatFormat) -> set[float]:
    """Those of several contracts."""
    every = [least_weight(contract, inputs) for contract in contracts]
    return {least for least in every if least is not None}


def bound_sums(
    contract: Contract, inputs: FloatFormat, sums: RowSums, dim: int
) -> OutputBound:
    """The bound of a row; infinite where an error of a score may be large."""
    xp = namespace_of(sums.output)
    units = units_of(contract, inputs)
    slope, constant, score_error = _bound_log_errors(contract, inputs, units, sums, dim)

    # Step 6. By Jensen's inequality -ln X^- is at most ln X^+, which is at most the mean
    # of e^error - 1.
    rescalings = count_rescalings(contract, sums)
    operations = sum_operations(sums.seen + 1) + rescalings + 4
    sum_error = -log_one_minus(gamma(operations, units.sum_ulp), xp)
    mean_log_error = constant + slope * sums.score_magnitude
    largest_error = slope * sums.largest_magnitude
    if sums.sink_scores is not None:
        sink_weight = xp.exp(sums.sink_scores - sums.log_sum_exp)
        of_sink = _sink_error(units, sums.sink_scores)
        of_sink = of_sink + 2 * gamma(4.0, units.ulp) * xp.abs(sums.sink_scores)
        mean_log_error = mean_log_error + sink_weight * of_sink
        largest_error = largest_error + of_sink
    of_normaliser = STEEPEST_CHORD * mean_log_error + sum_error

    # Step 7: the logarithm of a weight errs by at most `common` and slope * A_j.
    operations = sum_operations(sums.seen) + rescalings + 8
    numerator = -log_one_minus(gamma(operations, units.sum_ulp), xp)
    numerator = numerator - math.log1p(-units.value)
    common = constant + numerator + of_normaliser
    largest_log = common + largest_error
    chord = xp.expm1(largest_log) / largest_log
    error = chord * (common * sums.mean_magnitude + slope * sums.value_magnitude)
    rounded = units.weight * sums.mean_magnitude + _lost_weights(contract, inputs, sums)
    error = error + xp.exp(largest_log) * rounded

    # Where this says nothing.
    small = (largest_log <= LARGEST_LOG) & (score_error <= LARGEST_LOG)
    small = small & (sums.largest_magnitude <= LARGEST_SCORE)
    small = small & (sums.largest_product <= LARGEST_PRODUCT)
    if sums.sink_scores is not None:
        small = small & (xp.abs(sums.sink_scores) <= LARGEST_SCORE)
    too_large = ~small | sums_may_overflow(
        contract, inputs, sums.seen, sums.largest_value, sums.value_sums
    )
    return round_output(contract, inputs, sums, error, too_large)


def _bound_log_errors(
    contract: Contract, inputs: FloatFormat, units: Units, sums: RowSums, dim: int
) -> tuple[float, Array, Array]:
    """Step 5: the logarithm of key j errs by at most slope * A_j + constant.

    The third number is above the error of every score of the row.
    """
    xp = namespace_of(sums.output)
    tiny = contract.working_format(inputs).tiny_error
    if contract.operand_format is not None:
        tiny = max(tiny, contract.resolve(contract.operand_format, inputs).tiny_error)

    # Steps 1 and 2: the product, and what is flushed to zero.
    operations = float(sum_operations(float(dim))) + 4
    relative = (1 + units.operand) ** 2 * (1 + gamma(operations, units.ulp)) - 1
    flushed = 2 * tiny * sums.flushable
    flushed = flushed + 2 * contract.resolve(contract.score_format, inputs).tiny_error
    score_error = relative * sums.largest_magnitude + flushed
    if sums.sink_scores is not None:
        score_error = xp.maximum(score_error, _sink_error(units, sums.sink_scores))

    # Step 5, with |s_j| <= A_j. The largest score is at most the log-sum-exp, which is
    # at most the logarithm of the number of terms above it. With M its size and D the
    # largest error of a score, max(|s_j|, M) + D and M - s_j + 2 D, which are rounded,
    # are together at most 2 M + 2 A_j + 4 D.
    logarithm = xp.log(sums.seen + 1)
    least_largest = sums.log_sum_exp - logarithm
    largest_size = xp.maximum(xp.abs(sums.log_sum_exp), xp.abs(least_largest))
    length = 2 * largest_size + 4 * score_error + logarithm + 2 * LAZY_MAXIMUM
    exponentials = count_rescalings(contract, sums) + 3
    exponential = -exponentials * np.log1p(-min(units.exp, 1.0))
    arguments = float(gamma(4.0, units.ulp))
    slope = float(relative) + 2 * arguments
    return slope, flushed + arguments * length + exponential, score_error


def _sink_error(units: Units, sinks: Array) -> Array:
    """A sink is given: it is rounded as a bias is."""
    return gamma(4.0, units.ulp) * namespace_of(sinks).abs(sinks)


def _lost_weights(contract: Contract, inputs: FloatFormat, sums: RowSums) -> Array:
    """Step 7: what weights below the smallest number of their type may lose."""
    least = least_weight(contract, inputs)
    if least is not None:
        return sums.tiny_weights[least]
    tiny_error = contract.resolve(contract.weight_format, inputs).tiny_error
    return 2 * tiny_error * sums.value_sums
