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
# Between two roundings to eight bits: only the scale differs by so little.
SAME_CODES = 2.0**-16

Rounding = Callable[[np.ndarray], np.ndarray]


def rounded_inputs(case: WrongOutput) -> Iterator[Explanation]:
    """Keys, values or queries rounded to eight bits, or to bfloat16."""
    roundings: list[tuple[str, list[Rounding]]] = [
        ("float8_e4m3", [_to_e4m3]),
        ("float8_e4m3 with one scale", [_to_scaled_e4m3]),
        ("float8_e5m2", [_to_e5m2]),
        ("int8 with one scale", _roundings_to_int8(axes=None)),
        ("int8 with a scale for each token", _roundings_to_int8(axes=-1)),
    ]
    if case.problem.input_format.name in ("float32", "float16"):
        roundings.append(("bfloat16", [_to_bfloat16]))
    if case.problem.input_format.name in ("float32", "bfloat16"):
        roundings.append(("float16", [_to_float16]))
    parts = {
        "keys": ("k",),
        "values": ("v",),
        "keys and values": ("k", "v"),
        "queries": ("q",),
        "queries and keys": ("q", "k"),
        "queries, keys and values": ("q", "k", "v"),
    }
    for format_name, variants in roundings:
        for part_name, fields in parts.items():
            arrays = [to_numpy(getattr(case.problem, field)) for field in fields]
            for rounded in _different_roundings(arrays, variants):
                changes = {
                    field: like(array, getattr(case.problem, field))
                    for field, array in zip(fields, rounded, strict=True)
                }
                yield Explanation(
                    f"{part_name} in {format_name}",
                    f"{part_name} rounded to {format_name}",
                    replace(case.problem, **changes),
                    case.out,
                )


def _different_roundings(
    arrays: list[np.ndarray], variants: list[Rounding]
) -> Iterator[list[np.ndarray]]:
    """The arrays, rounded in each of these ways that gives other numbers."""
    earlier: list[list[np.ndarray]] = []
    for rounding in variants:
        with np.errstate(all="ignore"):
            rounded = [rounding(array) for array in arrays]
        if not all(np.isfinite(array).all() for array in rounded):
            continue
        if any(_are_close(rounded, others) for others in earlier):
            continue
        earlier.append(rounded)
        yield rounded


def _are_close(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    return all(
        np.allclose(array, other, rtol=SAME_CODES, atol=0)
        for array, other in zip(some, others, strict=True)
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


def _roundings_to_int8(axes: int | None) -> list[Rounding]:
    """By arithmetics that differ in last digits: they decide what halves become."""
    to_int8 = partial(_to_int8, axes=axes)
    return [
        partial(to_int8, number_type=np.float64),
        partial(to_int8, number_type=np.float64, factor=1 + HALF_BROKEN_BY),
        partial(to_int8, number_type=np.float64, factor=1 - HALF_BROKEN_BY),
        partial(to_int8, number_type=np.float64, by_reciprocal=True),
        partial(to_int8, number_type=np.float32),
        partial(to_int8, number_type=np.float32, by_reciprocal=True),
    ]


def _to_int8(
    array: np.ndarray,
    axes: int | None,
    number_type: type[np.floating[Any]],
    by_reciprocal: bool = False,
    factor: float = 1.0,
) -> np.ndarray:
    numbers = array.astype(number_type)
    largest = np.maximum(np.abs(numbers).max(axis=axes, keepdims=True), 1e-30)
    # A GPU divides by a number as it multiplies by its reciprocal.
    scale = largest * (1 / 127) if by_reciprocal else largest / 127
    scale = scale * factor
    codes = np.round(numbers / scale)
    return np.asarray(codes.astype(np.float64) * scale.astype(np.float64))


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
