"""Mistakes about scores and weights: scale, softcap, bias, sinks, the division."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headwright.conformance.arrays import Array, namespace_of, to_numpy
from headwright.conformance.candidates import (
    Explanation,
    WrongOutput,
    change_spec,
    exact_blocks,
)
from headwright.conformance.judging import RowScale
from headwright.conformance.reference import (
    AttentionProblem,
    Block,
    ExactRows,
    exact_rows,
    take_rows,
)

ROWS_OF_A_FIT = 6  # on which a factor is estimated


def scales(case: WrongOutput) -> Iterator[Explanation]:
    """A usual scale in place of the right one."""
    dim = case.problem.shape.dim
    value_dim = case.problem.shape.value_dim
    padded = 2 ** math.ceil(math.log2(dim))
    usual = (
        ("1", 1.0),
        ("1 / dim", 1 / dim),
        ("1 / sqrt(dim)", dim**-0.5),
        (f"1 / sqrt({padded}), of a padded dim", padded**-0.5),
        ("1 / sqrt(value dim)", value_dim**-0.5),
        ("1 / sqrt(heads * dim)", (case.problem.shape.heads * dim) ** -0.5),
        ("applied twice", case.spec.scale**2),
        ("log2(e) missing: exp2 for exp", case.spec.scale * math.log(2)),
        ("log2(e) twice", case.spec.scale / math.log(2)),
        ("with its sign turned", -case.spec.scale),
    )
    # Reasons for the same number are one hypothesis.
    reasons: dict[float, list[str]] = {}
    for reason, scale in usual:
        if not math.isclose(scale, case.spec.scale, rel_tol=1e-9):
            number = next((n for n in reasons if math.isclose(n, scale)), scale)
            reasons.setdefault(number, []).append(reason)
    for scale, names in reasons.items():
        sentence = f"another scale, {scale:.6g} instead of {case.spec.scale:.6g}"
        yield change_spec(
            case,
            f"scale {names[0]}",
            f"{sentence} ({', or '.join(names)})",
            scale=scale,
        )


def estimated_scale(case: WrongOutput) -> Iterator[Explanation]:
    """A scale that is off by any factor: the one that fits the worst rows best."""
    if case.spec.scale == 0:
        return
    small = replace(case, rows=case.rows[:ROWS_OF_A_FIT])
    factor = _best_factor(small)
    if factor is None:
        return
    scale = case.spec.scale * factor
    yield change_spec(
        case,
        "scale estimated",
        f"a scale of {scale:.6g}, {factor:.5g} times {case.spec.scale:.6g}",
        scale=scale,
    )


def _best_factor(case: WrongOutput) -> float | None:
    """By a grid over powers of 2, then by thirds of the interval around the best."""
    grid = np.linspace(-4, 4, 33)
    errors = [_squared_error(case, 2.0**exponent) for exponent in grid]
    best = int(np.argmin(errors))
    low, high = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    for _ in range(30):
        third = (high - low) / 3
        left = _squared_error(case, 2.0 ** (low + third))
        right = _squared_error(case, 2.0 ** (high - third))
        if left < right:
            high -= third
        else:
            low += third
    factor = 2.0 ** float((low + high) / 2)
    return None if abs(factor - 1) < 1e-6 else factor


def _squared_error(case: WrongOutput, factor: float) -> float:
    spec = replace(case.spec, scale=case.spec.scale * factor)
    problem = replace(case.problem, spec=spec)
    total = 0.0
    for expected, actual in _rows_side_by_side(problem, case):
        total += float(((expected - actual) ** 2).sum())
    return total if math.isfinite(total) else math.inf


def _rows_side_by_side(
    problem: AttentionProblem, case: WrongOutput
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for block, exact in exact_blocks(problem, case.rows):
        yield to_numpy(exact.output), to_numpy(take_rows(problem, block, case.out))


def softcaps(case: WrongOutput) -> Iterator[Explanation]:
    """A softcap before the scale; or on the wrong side of the bias."""
    if case.spec.softcap is None:
        return
    # scale * cap * tanh(q . k / cap) is a softcap of scale * cap on scaled scores.
    yield change_spec(
        case,
        "softcap before scale",
        "a softcap that is applied before the scale",
        softcap=case.spec.softcap * abs(case.spec.scale),
    )
    yield change_spec(
        case,
        "softcap doubled",
        "a softcap twice as large",
        softcap=2 * case.spec.softcap,
    )


def biases(case: WrongOutput) -> Iterator[Explanation]:
    """A bias or slopes with another sign or scale; slopes of other heads."""
    spec = case.spec
    if spec.bias is not None:
        yield change_spec(
            case,
            "bias scaled",
            "the bias being scaled, too",
            bias=spec.bias * spec.scale,
        )
        xp = namespace_of(spec.bias)
        yield change_spec(
            case, "bias doubled", "the bias being added twice", bias=2 * spec.bias
        )
        if spec.bias.shape[2] == spec.bias.shape[3]:
            yield change_spec(
                case,
                "bias transposed",
                "a bias with rows and keys exchanged",
                bias=xp.matrix_transpose(spec.bias),
            )
        turned = xp.where(spec.bias > -np.inf, -spec.bias, spec.bias)
        yield change_spec(case, "bias sign", "the bias being subtracted", bias=turned)
        yield change_spec(
            case, "first head's bias", "one head's bias for all", bias=spec.bias[:, :1]
        )
    if spec.alibi is not None:
        slopes = np.asarray(spec.alibi)
        yield change_spec(case, "alibi sign", "slopes of the other sign", alibi=-slopes)
        yield change_spec(
            case,
            "alibi reversed",
            "the slopes of the heads reversed",
            alibi=slopes[::-1],
        )
        yield change_spec(
            case, "alibi scaled", "slopes that are scaled", alibi=slopes * spec.scale
        )
    if spec.sinks is not None:
        yield change_spec(
            case, "sinks sign", "sinks of the other sign", sinks=-np.asarray(spec.sinks)
        )
        yield change_spec(
            case,
            "sinks scaled",
            "sinks that are scaled",
            sinks=np.asarray(spec.sinks) * spec.scale,
        )
        yield change_spec(
            case,
            "sinks of 0",
            "1 added to the sum of the exponentials, as a sink of 0 is",
            sinks=np.zeros_like(np.asarray(spec.sinks)),
        )


def normalisers(case: WrongOutput) -> Iterator[Explanation]:
    """Outputs that are not divided by the sum of the exponentials, or otherwise."""

    def sum_of_exponentials(exact: ExactRows, _block: Block) -> Array:
        xp = namespace_of(exact.output)
        return xp.exp(exact.log_sum_exp - exact.largest_score)

    def raw_sum(exact: ExactRows, _block: Block) -> Array:
        return namespace_of(exact.output).exp(exact.log_sum_exp)

    def inverse_sum(exact: ExactRows, block: Block) -> Array:
        return 1 / sum_of_exponentials(exact, block)

    def over_count(exact: ExactRows, block: Block) -> Array:
        return sum_of_exponentials(exact, block) / exact.seen

    def seen_of_all(exact: ExactRows, block: Block) -> Array:
        every_key = replace(block, keys=slice(0, case.problem.shape.keys))
        unmasked = exact_rows(_unmasked(case.problem), every_key)
        return namespace_of(exact.output).exp(exact.log_sum_exp - unmasked.log_sum_exp)

    factors = {
        "not normalised": ("no division by the sum", sum_of_exponentials),
        "exp not normalised": ("no maximum and no division by the sum", raw_sum),
        "normalised twice": ("a division by the sum twice", inverse_sum),
        "divided by count": ("a division by the number of keys", over_count),
        "masked after softmax": (
            "a mask that is applied after the softmax, which saw all keys",
            seen_of_all,
        ),
    }
    if case.spec.sinks is None:
        yield change_spec(
            case,
            "one added to the sum",
            "1 added to the sum of the exponentials, as a sink of score 0 is",
            sinks=np.zeros(case.problem.shape.heads),
        )
    for name, (sentence, factor) in factors.items():
        yield Explanation(
            name, sentence, case.problem, case.out, row_scale=RowScale(factor)
        )


def _unmasked(problem: AttentionProblem) -> AttentionProblem:
    """The same scores, and all keys seen."""
    spec = replace(
        problem.spec,
        causal=False,
        keys_before=None,
        keys_after=None,
        key_padding=None,
        documents=None,
        mask=None,
    )
    return replace(problem, spec=spec)


def estimated_factor(case: WrongOutput) -> Iterator[Explanation]:
    """An output that is a multiple of the right one."""
    products = squares = 0.0
    for expected, actual in _rows_side_by_side(case.problem, case):
        products += float((expected * actual).sum())
        squares += float((expected * expected).sum())
    if squares == 0 or not math.isfinite(products):
        return
    factor = products / squares
    if abs(factor) < 1e-3 or abs(factor - 1) < 1e-6:
        return

    def constant(exact: ExactRows, _block: Block) -> Array:
        return namespace_of(exact.seen).full_like(exact.seen, factor)

    yield Explanation(
        "output scaled",
        f"an output multiplied by {factor:.5g}",
        case.problem,
        case.out,
        row_scale=RowScale(constant),
    )
