"""Mistakes that round: inputs, operands, weights, sums or outputs in narrower types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from headwright.conformance.arrays import Array, like, namespace_of, to_numpy
from headwright.conformance.candidates import Explanation, WrongOutput
from headwright.conformance.contracts import NAMED_FORMATS, Contract, FormatName
from headwright.conformance.reference import AttentionProblem, ExactRows
from headwright.numerics.float_formats import E4M3, FLOAT32, FloatFormat

# Far above an error of float64, and far below what a number in 16 bits can differ by.
HALF_BROKEN_BY = 2.0**-40


def rounded_inputs(case: WrongOutput) -> Iterator[Explanation]:
    """Keys, values or queries rounded to eight bits, or to bfloat16."""
    roundings: list[tuple[str, Callable[[np.ndarray], np.ndarray]]] = [
        ("float8_e4m3", _to_e4m3),
        ("float8_e4m3 with one scale", _to_scaled_e4m3),
        ("float8_e5m2", _to_e5m2),
    ]
    # Halves are rounded to even; or, if the scale errs, all to zero or all away from it.
    for shrinking in (1.0, 1 - HALF_BROKEN_BY, 1 + HALF_BROKEN_BY):
        with_one_scale = partial(_to_int8, axes=None, shrinking=shrinking)
        by_token = partial(_to_int8, axes=-1, shrinking=shrinking)
        roundings.append(("int8 with one scale", with_one_scale))
        roundings.append(("int8 with a scale for each token", by_token))
    if case.problem.input_format.name in ("float32", "float16"):
        roundings.append(("bfloat16", _to_bfloat16))
    if case.problem.input_format.name in ("float32", "bfloat16"):
        roundings.append(("float16", _to_float16))
    parts = {
        "keys": ("k",),
        "values": ("v",),
        "keys and values": ("k", "v"),
        "queries": ("q",),
        "queries and keys": ("q", "k"),
        "queries, keys and values": ("q", "k", "v"),
    }
    for format_name, rounding in roundings:
        for part_name, fields in parts.items():
            changes = {}
            for field in fields:
                array = getattr(case.problem, field)
                with np.errstate(all="ignore"):
                    changes[field] = like(rounding(to_numpy(array)), array)
            finite = [
                bool(np.isfinite(to_numpy(array)).all()) for array in changes.values()
            ]
            if not all(finite):
                continue
            yield Explanation(
                f"{part_name} in {format_name}",
                f"{part_name} rounded to {format_name}",
                replace(case.problem, **changes),
                case.out,
            )


def prescaled_operands(case: WrongOutput) -> Iterator[Explanation]:
    """Queries, or both operands, that were scaled and rounded before their product."""
    scale = case.spec.scale
    if scale <= 0:
        return
    problem = case.problem
    log2e = math.log2(math.e)
    yield Explanation(
        "queries scaled first",
        "queries that were scaled and rounded before the product",
        replace(problem, q=_scaled_and_rounded(problem, problem.q, scale)),
        case.out,
    )
    yield Explanation(
        "queries scaled for exp2",
        "queries that were scaled with log2(e) and rounded before the product",
        replace(problem, q=_scaled_and_rounded(problem, problem.q, scale * log2e)),
        case.out,
    )
    root = math.sqrt(scale)
    yield Explanation(
        "queries and keys scaled first",
        "queries and keys that were scaled and rounded before their product",
        replace(
            problem,
            q=_scaled_and_rounded(problem, problem.q, root),
            k=_scaled_and_rounded(problem, problem.k, root),
        ),
        case.out,
    )


def _scaled_and_rounded(
    problem: AttentionProblem, array: Array, factor: float
) -> Array:
    """The numbers whose multiples by the factor the input type has."""
    name = problem.input_format.name
    scaled = to_numpy(array) * factor
    if name == "bfloat16":
        rounded = _through(scaled, name)
    else:
        rounded = scaled.astype(name).astype(np.float64)
    return like(rounded / factor, array)


def _through(array: np.ndarray, name: str) -> np.ndarray:
    import ml_dtypes

    narrow = array.astype(getattr(ml_dtypes, name))
    return np.asarray(narrow.astype(np.float64))


def _to_e4m3(array: np.ndarray) -> np.ndarray:
    return _through(np.clip(array, -448, 448), "float8_e4m3fn")


def _to_scaled_e4m3(array: np.ndarray) -> np.ndarray:
    scale = max(float(np.abs(array).max()), 1e-300) / 448
    return _through(array / scale, "float8_e4m3fn") * scale


def _to_e5m2(array: np.ndarray) -> np.ndarray:
    return _through(array, "float8_e5m2")


def _to_bfloat16(array: np.ndarray) -> np.ndarray:
    return _through(array, "bfloat16")


def _to_float16(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float16).astype(np.float64)


def _to_int8(array: np.ndarray, axes: int | None, shrinking: float) -> np.ndarray:
    largest = np.abs(array).max(axis=axes, keepdims=True)
    scale = np.maximum(largest, 1e-300) / 127
    return np.asarray(np.round(array / scale * shrinking) * scale)


def coarser_arithmetic(case: WrongOutput) -> Iterator[Explanation]:
    """An output in a narrower type, weights in eight bits, sums in float16."""
    inputs = case.problem.input_format
    values = to_numpy(case.out)
    for name, rounding in NARROWER_OUTPUTS.items():
        if NAMED_FORMATS[name].precision >= inputs.precision:
            continue
        if not bool((rounding(values) == values).all()):
            continue  # it has digits that this type has not
        weights: FormatName = "input"
        if inputs is FLOAT32 and name != "float8_e4m3":
            weights = name
        yield Explanation(
            f"output in {name}",
            f"an output rounded to {name}",
            case.problem,
            case.out,
            contract=_changing(output_format=name, weight_format=weights),
        )
    yield Explanation(
        "weights in float8",
        "weights rounded to float8_e4m3 before their product with the values",
        case.problem,
        case.out,
        contract=_changing(weight_format="float8_e4m3"),
        typical_error=_error_of_weights_in_eight_bits,
    )
    for name in ("float16", "bfloat16"):
        yield Explanation(
            f"sums in {name}",
            f"sums kept in {name}",
            case.problem,
            case.out,
            contract=_changing(sum_format=name, weight_format=name),
            typical_error=partial(_error_of_sums, NAMED_FORMATS[name]),
        )


def _error_of_sums(sums: FloatFormat, exact: ExactRows) -> Array:
    """Of two sums over the keys that are seen, with a rounding for each key.

    Roundings that are independent of one another add up to the root of their number
    (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019).
    """
    xp = namespace_of(exact.weights)
    return xp.sqrt(2 * exact.seen + 1) * sums.unit_roundoff * exact.mean_magnitude


def _error_of_weights_in_eight_bits(exact: ExactRows) -> Array:
    """Each weight is rounded, before or after the division, and most are small then."""
    xp = namespace_of(exact.weights)
    after_division = E4M3.unit_roundoff * exact.weights + E4M3.tiny_error
    lost = xp.minimum(exact.weights, after_division)
    return xp.sqrt(xp.matmul(lost**2, exact.values**2))


def _changing(**changes: Any) -> Callable[[Contract], Contract]:
    def change(contract: Contract) -> Contract:
        return replace(contract, **changes)

    return change


NARROWER_OUTPUTS: dict[FormatName, Callable[[np.ndarray], np.ndarray]] = {
    "float8_e4m3": _to_e4m3,
    "bfloat16": _to_bfloat16,
    "float16": _to_float16,
}
