"""Mistakes that are often made, each tried as an explanation of a wrong output.

A hypothesis changes the problem (another mask, scale, rounded keys) so that a right
kernel would give the wrong output. It fits if the output is within the bound of the
changed problem. To add one, write a function that yields candidates in the module that
it belongs to, and put it into the table here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from headwright.conformance.arrays import Array, to_numpy
from headwright.conformance.candidates import (
    Explanation,
    Strength,
    WrongOutput,
    exact_blocks,
    make_case,
)
from headwright.conformance.contracts import Contract
from headwright.conformance.estimated_keys import estimated_keys
from headwright.conformance.judging import Comparison, compare
from headwright.conformance.mask_hypotheses import (
    causal_masks,
    ignored_parts,
    lost_tiles,
    masks_misread,
    windows,
)
from headwright.conformance.reference import AttentionProblem, take_rows
from headwright.conformance.rounding_hypotheses import (
    coarser_arithmetic,
    prescaled_operands,
    rounded_inputs,
)
from headwright.conformance.tensor_hypotheses import (
    exchanged_axes,
    exchanged_tensors,
    trivial_outputs,
    unwritten_rows,
)
from headwright.conformance.verdict import FittingHypothesis
from headwright.conformance.weight_hypotheses import (
    biases,
    estimated_factor,
    estimated_scale,
    normalisers,
    scales,
    softcaps,
)

FIRST_ROWS = 4  # the worst rows, on which most candidates fail at once
WORST_ROWS = 12  # of those on which candidates are tried
SPREAD_ROWS = 20  # and so many evenly spread ones
MOST_REPORTED = 4

# By strength: weaker ones are tried only where no stronger one fits.
HYPOTHESES: dict[
    Strength, tuple[Callable[[WrongOutput], Iterator[Explanation]], ...]
] = {
    Strength.SPECIFIC: (
        trivial_outputs,
        windows,
        causal_masks,
        ignored_parts,
        masks_misread,
        lost_tiles,
        scales,
        softcaps,
        biases,
        exchanged_axes,
        exchanged_tensors,
        normalisers,
        prescaled_operands,
        rounded_inputs,
    ),
    Strength.ESTIMATED: (
        unwritten_rows,
        estimated_factor,
        estimated_scale,
        estimated_keys,
    ),
    Strength.LENIENT: (coarser_arithmetic,),
}


def fitting_hypotheses(
    problem: AttentionProblem,
    out: Array,
    contracts: Sequence[Contract],
    comparison: Comparison,
    rows: np.ndarray,
) -> tuple[FittingHypothesis, ...]:
    """The strongest hypotheses that fit, under the strictest contract that allows it."""
    worst_rows, rows_to_try = _rows_to_try(comparison, rows)
    case = make_case(problem, out, comparison, rows, rows_to_try)
    tried_rows = (worst_rows, rows_to_try, rows)
    for strength, proposals in HYPOTHESES.items():
        candidates: list[Explanation] = []
        # What overflows under a hypothesis does not fit: NumPy need not warn of it.
        with np.errstate(all="ignore"):
            for propose in proposals:
                candidates.extend(propose(case))
        # What widens the bound is not added to what a lenient contract allows.
        allowed = contracts[:1] if strength is Strength.LENIENT else contracts
        for contract in allowed:
            fitting = _fitting(case, candidates, contract, tried_rows, strength)
            if fitting:
                return tuple(fitting[:MOST_REPORTED])
    return ()


def _fitting(
    case: WrongOutput,
    candidates: Sequence[Explanation],
    contract: Contract,
    tried_rows: Sequence[np.ndarray],
    strength: Strength,
) -> list[FittingHypothesis]:
    """The candidates that fit under a contract; of a family the first."""
    fitting: list[FittingHypothesis] = []
    margins: dict[str, float] = {}
    families: set[str] = set()
    for candidate in candidates:
        family = candidate.family or candidate.name
        if family in families:
            continue
        # First where most fail at once; where it fits, on all rows that were judged.
        ratio = margin = math.inf
        for rows in tried_rows:
            ratio, margin = _ratio_and_margin(case, candidate, contract, rows)
            if ratio > 1:
                break
        if ratio > 1 or not _has_typical_size(case, candidate):
            continue
        families.add(family)
        margins[candidate.name] = margin
        hypothesis = FittingHypothesis(
            candidate.name,
            candidate.sentence,
            contract.name,
            ratio,
            len(tried_rows[-1]),
            lenient=strength is Strength.LENIENT,
        )
        fitting.append(hypothesis)
    if strength is Strength.LENIENT:
        # Those that widen the bound least come first.
        fitting.sort(key=lambda hypothesis: margins[hypothesis.name])
    return fitting


def _has_typical_size(case: WrongOutput, candidate: Explanation) -> bool:
    """Whether errors are, on average, no larger than where roundings are independent.

    A bound that allows all roundings to be the same way fits mistakes of other kinds.
    """
    if candidate.typical_error is None:
        return True
    errors = typical = 0.0
    with np.errstate(all="ignore"):
        for block, exact in exact_blocks(candidate.problem, case.rows):
            values = to_numpy(take_rows(candidate.problem, block, candidate.out))
            errors += float(np.abs(values - to_numpy(exact.output)).sum())
            typical += float(to_numpy(candidate.typical_error(exact)).sum())
    return errors <= typical


def _ratio_and_margin(
    case: WrongOutput, candidate: Explanation, contract: Contract, rows: np.ndarray
) -> tuple[float, float]:
    """Error / bound under a hypothesis, and bound / |v|; infinite where it says nothing."""
    if candidate.contract is not None:
        contract = candidate.contract(contract)
    same_rows = candidate.problem.shape == case.problem.shape
    if not same_rows:
        rows = np.arange(candidate.problem.shape.rows)
    comparison = compare(
        candidate.problem,
        candidate.out,
        [contract],
        rows,
        row_scale=candidate.row_scale,
    )[0]
    if comparison.unjudged:
        return math.inf, math.inf
    # A row to which the hypothesis leaves no key is not judged. It is explained if it
    # is what kernels return then: zeros or NaN.
    emptied = comparison.empty
    if same_rows:
        emptied = emptied & ~case.empty[:, :, rows]
    if emptied.any():
        values = to_numpy(candidate.out)[:, :, rows][emptied]
        if not bool(((values == 0) | np.isnan(values)).all()):
            return math.inf, math.inf
    return comparison.ratio, comparison.margin


def _rows_to_try(
    comparison: Comparison, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The very worst rows; and the worst ones with some that are evenly spread."""
    by_row = np.nan_to_num(comparison.ratios, nan=0.0).max(axis=(0, 1, 3))
    worst = np.argsort(-by_row, kind="stable")[:WORST_ROWS]
    spread = np.linspace(0, len(rows) - 1, min(len(rows), SPREAD_ROWS)).astype(int)
    both = np.unique(np.concatenate((worst, spread)))
    return np.sort(rows[worst[:FIRST_ROWS]]), rows[both]
