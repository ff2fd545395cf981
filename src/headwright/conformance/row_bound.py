"""The theorem where all errors of scores are small: a bound from the sums of a row.

docs/explanation/conform.md states and proves it as a corollary. e^x - 1 is convex, so
up to x = x_max it is at most the chord, x (e^x_max - 1) / x_max. That makes the theorem's
bound linear in the errors of the scores, which are a multiple of A_j = |scale| sum |q_l
k_jl|, one of B_j = |bias| + |ALiBi|, and a number for the whole row. It is never below
that of `bound`, and hardly above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
LARGEST_SHARE_OF_ADDED = 1 / 8  # see `NO_WEIGHT_BELOW`
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
    scores = _bound_scores(contract, inputs, units, sums, dim)
    logs = _bound_logs(contract, units, sums, scores)

    # Step 6. By Jensen's inequality -ln X^- is at most ln X^+, which is at most the mean
    # of e^error - 1.
    rescalings = count_rescalings(contract, sums)
    operations = sum_operations(sums.seen + 1) + rescalings + 4
    sum_error = -log_one_minus(gamma(operations, units.sum_ulp), xp)
    mean_log_error = logs.mean(sums)
    largest_log_error = logs.largest(sums)
    if sums.sink_scores is not None:
        sink_weight = xp.exp(sums.sink_scores - sums.log_sum_exp)
        of_sink = _sink_error(contract, units, sums)
        of_sink = of_sink + 2 * gamma(4.0, units.ulp) * xp.abs(sums.sink_scores)
        mean_log_error = mean_log_error + sink_weight * of_sink
        largest_log_error = largest_log_error + of_sink
    of_normaliser = STEEPEST_CHORD * mean_log_error + sum_error

    # Step 7: what the logarithms of all weights err by in common, and the most that one
    # of them errs by.
    operations = sum_operations(sums.seen) + rescalings + 8
    numerator = -log_one_minus(gamma(operations, units.sum_ulp), xp)
    numerator = numerator - math.log1p(-units.value)
    common = logs.constant + numerator + of_normaliser
    largest_log = largest_log_error + numerator + of_normaliser
    chord = xp.expm1(largest_log) / largest_log
    growth = xp.exp(largest_log)
    of_mean = chord * common + growth * units.weight
    error = of_mean * sums.mean_magnitude
    error = error + chord * logs.of_products * sums.value_magnitude
    if sums.added is not None:
        error = error + chord * logs.of_added * sums.added.value_magnitude
    error = error + growth * _lost_weights(contract, inputs, sums)

    # Where this says nothing.
    small = (largest_log <= LARGEST_LOG) & (scores.largest(sums) <= LARGEST_LOG)
    small = small & (sums.largest_magnitude <= LARGEST_SCORE)
    small = small & (xp.abs(sums.log_sum_exp) <= LARGEST_SCORE)
    small = small & (sums.largest_product <= LARGEST_PRODUCT)
    if sums.sink_scores is not None:
        small = small & (xp.abs(sums.sink_scores) <= LARGEST_SCORE)
    small = small & (logs.of_added <= LARGEST_SHARE_OF_ADDED)
    too_large = ~small | sums_may_overflow(
        contract, inputs, sums.seen, sums.largest_value, sums.value_sums
    )
    return round_output(contract, inputs, sums, error, too_large)


@dataclass(frozen=True, eq=False)
class LinearError:
    """For key j at most of_products * A_j + of_added * B_j + constant."""

    of_products: float
    of_added: float
    constant: Array  # (pairs, group, rows, 1)

    def largest(self, sums: RowSums) -> Array:
        """Above those of all keys of a row that can have a weight."""
        error = self.constant + self.of_products * sums.largest_magnitude
        if sums.added is not None:
            error = error + self.of_added * sums.added.largest_magnitude
        return error

    def mean(self, sums: RowSums) -> Array:
        """The mean over the keys of a row, by their weights."""
        error = self.constant + self.of_products * sums.score_magnitude
        if sums.added is not None:
            error = error + self.of_added * sums.added.score_magnitude
        return error


def _bound_scores(
    contract: Contract, inputs: FloatFormat, units: Units, sums: RowSums, dim: int
) -> LinearError:
    """Steps 1 to 4: the error of a score."""
    tiny = contract.working_format(inputs).tiny_error
    if contract.operand_format is not None:
        tiny = max(tiny, contract.resolve(contract.operand_format, inputs).tiny_error)
    tiny_score = contract.resolve(contract.score_format, inputs).tiny_error

    # Steps 1 and 2: the product, and what is flushed to zero.
    operations = float(sum_operations(float(dim))) + 4
    of_products = (1 + units.operand) ** 2 * (1 + gamma(operations, units.ulp)) - 1
    constant = 2 * tiny * sums.flushable + 2 * tiny_score

    # Step 3: neither the product nor what the softcap leaves of it is above A_j.
    if sums.softcap is not None:
        argument = (1 + units.ulp) ** 2 - 1
        capped = (1 + units.tanh) * (1 + units.ulp) ** 2 - 1
        for relative in (argument, capped):
            of_products = of_products + relative * (1 + of_products)
            constant = constant * (1 + relative)
        if contract.tanh_from_exp:
            of_fraction = -math.log1p(-min(units.exp, 0.5)) / 2
            of_fraction = of_fraction + 2 * gamma(4.0, units.ulp)
            constant = constant + of_fraction * (1 + units.ulp) ** 2 * sums.softcap
        constant = constant + 4 * tiny_score
    if sums.added is None:
        return LinearError(float(of_products), 0.0, constant)

    # Step 4: what is added is rounded; no partial sum is above A_j + B_j.
    rounded = float(gamma(4.0, units.ulp))
    relative = (1 + units.ulp) ** sums.added.terms - 1
    of_products = of_products + relative * (1 + of_products)
    of_added = rounded + relative * (1 + rounded)
    constant = constant * (1 + relative) + 2 * sums.added.terms * tiny_score
    if contract.alibi_by_key and sums.added.alibi_of_row is not None:
        by_key = float(gamma(6.0, units.ulp))
        of_added = of_added + by_key
        constant = constant + by_key * sums.added.alibi_of_row
    return LinearError(float(of_products), of_added, constant)


def _bound_logs(
    contract: Contract, units: Units, sums: RowSums, scores: LinearError
) -> LinearError:
    """Step 5: the error of the logarithm of an exponential."""
    xp = namespace_of(sums.output)
    score_error = scores.largest(sums)
    if sums.sink_scores is not None:
        score_error = xp.maximum(score_error, _sink_error(contract, units, sums))

    # |s_j| <= A_j + B_j. The largest score is at most the log-sum-exp, which is at most
    # the logarithm of the number of terms above it. With M its size and D the largest
    # error of a score, max(|s_j|, M) + D and M - s_j + 2 D, which are rounded, are
    # together at most 2 M + 2 (A_j + B_j) + 4 D.
    logarithm = xp.log(sums.seen + 1)
    least_largest = sums.log_sum_exp - logarithm
    largest_size = xp.maximum(xp.abs(sums.log_sum_exp), xp.abs(least_largest))
    length = 2 * largest_size + 4 * score_error + logarithm + 2 * LAZY_MAXIMUM
    length = length + _row_shift(contract, sums)
    exponentials = count_rescalings(contract, sums) + 3
    exponential = -exponentials * np.log1p(-min(units.exp, 1.0))
    arguments = float(gamma(4.0, units.ulp))
    return LinearError(
        of_products=scores.of_products + 2 * arguments,
        of_added=scores.of_added + 2 * arguments,
        constant=scores.constant + arguments * length + exponential,
    )


def _row_shift(contract: Contract, sums: RowSums) -> Array | float:
    """By how much all scores of a row may be larger than those of the definition."""
    if not contract.alibi_by_key or sums.added is None:
        return 0.0
    if sums.added.alibi_of_row is None:
        return 0.0
    return sums.added.alibi_of_row


def _sink_error(contract: Contract, units: Units, sums: RowSums) -> Array:
    """A sink is given: it is rounded as a bias is, and raised with the other scores."""
    size = namespace_of(sums.output).abs(sums.sink_scores)
    raised = gamma(6.0, units.ulp) * _row_shift(contract, sums)
    return gamma(4.0, units.ulp) * size + raised


def _lost_weights(contract: Contract, inputs: FloatFormat, sums: RowSums) -> Array:
    """Step 7: what weights below the smallest number of their type may lose."""
    least = least_weight(contract, inputs)
    if least is not None:
        return sums.tiny_weights[least]
    tiny_error = contract.resolve(contract.weight_format, inputs).tiny_error
    return 2 * tiny_error * sums.value_sums
