"""The bound from sums over keys is never below that of the whole theorem, and close."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headwright as hw
from headwright.conformance.bound import bound_rows
from headwright.conformance.contracts import (
    EAGER,
    FP8,
    FUSED,
    TENSOR_FLOAT,
    Contract,
)
from headwright.conformance.inputs import as_type
from headwright.conformance.judging import compare
from headwright.conformance.reading import AttentionOptions, read_problem
from headwright.conformance.reference import (
    AttentionProblem,
    blocks,
    exact_rows,
    whole_block,
)
from headwright.conformance.row_bound import bound_sums, is_linear, least_weights_of
from headwright.conformance.row_sums import sum_rows
from headwright.numerics.float_formats import BFLOAT16, FLOAT32

TYPES = ("float64", "float32", "bfloat16", "float16")
NARROW_WEIGHTS = replace(FUSED, name="weights in float16", weight_format="float16")
NARROW_SUMS = replace(FUSED, name="sums in bfloat16", sum_format="bfloat16")
BY_KEY = replace(FUSED, name="ALiBi by key", alibi_by_key=True)
FRACTION = replace(FUSED, name="tanh from exp", tanh_from_exp=True)
CONTRACTS = (FUSED, TENSOR_FLOAT, NARROW_WEIGHTS, NARROW_SUMS, BY_KEY, FRACTION)


def _both_bounds(
    problem: AttentionProblem, contract: Contract
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Output, bound and what is vacuous: from sums, and key by key."""
    inputs, dim = problem.input_format, problem.shape.dim
    rows = np.arange(problem.shape.rows)
    least = least_weights_of([contract], inputs)
    with np.errstate(all="ignore"):
        sums = sum_rows(problem, list(blocks(problem, rows)), rows, least, None)
        by_sums = bound_sums(contract, inputs, sums, dim)
        exact = exact_rows(problem, whole_block(problem, rows))
        by_key = bound_rows(contract, inputs, exact, dim)
    return (
        {"output": sums.output, "bound": by_sums.bound, "vacuous": by_sums.vacuous},
        {"output": exact.output, "bound": by_key.bound, "vacuous": by_key.vacuous},
    )


def _draw_description(
    data: st.DataObject, rows: int, keys: int, heads: int
) -> dict[str, Any]:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    described: dict[str, Any] = {
        "causal": data.draw(st.booleans()),
        "corner": data.draw(st.sampled_from(("end", "start"))),
        "window": data.draw(st.sampled_from((None, 1, 3, (2, 1)))),
    }
    if data.draw(st.booleans()):
        described["scale"] = data.draw(st.sampled_from((0.0, -0.3, 2.0)))
    if data.draw(st.booleans()):
        described["sinks"] = rng.standard_normal(heads) * 4
    if data.draw(st.booleans()):
        described["mask"] = rng.random((2, heads, rows, keys)) < 0.6
    if data.draw(st.booleans()):
        described["key_padding"] = rng.random((2, keys)) < 0.8
    if data.draw(st.booleans()):
        described["documents"] = np.sort(rng.integers(0, 3, keys))
    if data.draw(st.booleans()):
        described["softcap"] = data.draw(st.sampled_from((0.5, 5.0, 50.0)))
    if data.draw(st.booleans()):
        described["bias"] = _draw_bias(data, rng, (heads, rows, keys))
    if data.draw(st.booleans()):
        steepest = data.draw(st.sampled_from((0.01, 0.5, 40.0)))
        described["alibi"] = rng.standard_normal(heads) * steepest
    return described


def _draw_bias(
    data: st.DataObject, rng: np.random.Generator, size: tuple[int, int, int]
) -> np.ndarray:
    """Small or large numbers, of which some may hide their key or leave it no weight."""
    bias = rng.standard_normal(size) * data.draw(st.sampled_from((0.1, 2.0, 30.0)))
    hidden = rng.random(size) < 0.3
    low = data.draw(st.sampled_from((0.0, -np.inf, -1e4, -700.0, -3e38)))
    return np.where(hidden, low, bias)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_it_is_never_below_the_theorem(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(TYPES))
    rows, keys = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 40))
    heads, key_heads = data.draw(st.sampled_from(((2, 2), (4, 2), (1, 1))))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    dim = data.draw(st.integers(1, 24))
    sizes = (
        (2, heads, rows, dim),
        (2, key_heads, keys, dim),
        (2, key_heads, keys, data.draw(st.integers(1, 9))),
    )
    spread = data.draw(st.sampled_from((0.0, 1.0, 3.0)))
    exponents = [data.draw(st.sampled_from((-9, -2, 0, 2, 4))) for _ in sizes]
    tensors = []
    for size, exponent in zip(sizes, exponents, strict=True):
        spread_out = rng.standard_normal(size) * spread
        numbers = rng.standard_normal(size) * 2.0 ** (exponent + spread_out)
        tensors.append(np.clip(numbers, -6e4, 6e4))
    described = _draw_description(data, rows, keys, heads)
    q, k, v = (as_type(t, dtype, "numpy", "cpu") for t in tensors)
    problem = read_problem(q, k, v, AttentionOptions(**described))
    contract = data.draw(st.sampled_from(CONTRACTS))
    by_sums, by_key = _both_bounds(problem, contract)
    # Where it says nothing, the theorem is asked.
    judged = ~by_sums["vacuous"]
    assert not by_key["vacuous"][judged].any()
    outputs = by_sums["output"][judged], by_key["output"][judged]
    assert np.allclose(*outputs, rtol=1e-9, atol=1e-12 * 2.0 ** exponents[2])
    above = by_sums["bound"][judged] / by_key["bound"][judged]
    assert not len(above) or above.min() > 1 - 1e-9


@pytest.mark.parametrize("kind", ["gaussian", "outliers", "sinks", "extreme scores"])
@pytest.mark.parametrize(
    ("dtype", "contract", "above"),
    [
        ("bfloat16", FUSED, 1.04),
        ("float16", FUSED, 1.12),
        ("float32", FUSED, 1.2),
        ("float32", TENSOR_FLOAT, 1.15),
        ("float64", FUSED, 1.2),
    ],
)
def test_it_is_close_to_the_theorem(
    dtype: Any, contract: Contract, above: float, kind: Any
) -> None:
    q, k, v = hw.attention_inputs(kind, rows=200, dim=32, dtype=dtype)
    problem = read_problem(q, k, v, AttentionOptions(causal=True))
    by_sums, by_key = _both_bounds(problem, contract)
    if contract is not TENSOR_FLOAT or kind == "gaussian":
        assert not by_sums["vacuous"].any()
    judged = ~by_sums["vacuous"]
    wide, tight = by_sums["bound"][judged].sum(), by_key["bound"][judged].sum()
    # Of a single element half a unit in the last place may double.
    assert wide <= above * tight


HIDDEN = np.triu(np.ones((200, 200)), 1) > 0
SLOPES = np.array([0.5, 0.01])
DESCRIBED: dict[str, dict[str, Any]] = {
    "softcap": {"softcap": 30.0},
    "bias": {"bias": np.random.default_rng(0).standard_normal((2, 200, 200))},
    "bias of minus infinity": {"bias": np.where(HIDDEN, -np.inf, 0.0)},
    "bias of the least float32": {"bias": np.where(HIDDEN, -3.4e38, 0.0)},
    "bias of -10,000": {"bias": np.where(HIDDEN, -1e4, 0.0)},
    "ALiBi": {"alibi": SLOPES},
    "ALiBi and bias": {"alibi": SLOPES, "bias": np.where(HIDDEN, -1e4, 0.25)},
}


@pytest.mark.parametrize("name", DESCRIBED)
@pytest.mark.parametrize("contract", [FUSED, BY_KEY, FRACTION], ids=lambda c: c.name)
@pytest.mark.parametrize(
    ("dtype", "above"), [("bfloat16", 1.02), ("float16", 1.06), ("float32", 1.2)]
)
def test_all_that_changes_scores_is_summed(
    name: str, contract: Contract, dtype: Any, above: float
) -> None:
    q, k, v = hw.attention_inputs(rows=200, dim=32, dtype=dtype)
    problem = read_problem(q, k, v, AttentionOptions(**DESCRIBED[name]))
    by_sums, by_key = _both_bounds(problem, contract)
    assert not by_sums["vacuous"].any()
    assert np.allclose(by_sums["output"], by_key["output"], rtol=1e-9, atol=1e-12)
    wide, tight = by_sums["bound"].sum(), by_key["bound"].sum()
    assert tight * (1 - 1e-9) <= wide <= above * tight


@pytest.mark.parametrize("low", [-1e4, -3e38])
def test_a_row_of_low_scores_alone_is_looked_at_key_by_key(low: float) -> None:
    """The weights of its keys are as ever, although each exponential is 0."""
    q, k, v = hw.attention_inputs(rows=20, dim=8, dtype="float32")
    bias = np.zeros((20, 20))
    bias[7] = low
    problem = read_problem(q, k, v, AttentionOptions(bias=bias))
    by_sums, by_key = _both_bounds(problem, FUSED)
    open_rows = np.argwhere(by_sums["vacuous"].all(axis=-1))[:, 2]
    assert set(open_rows.tolist()) == {7}
    comparison = compare(problem, _as_output(by_key), [FUSED], np.arange(20))
    assert comparison[0].ratio < 1e-6


def _as_output(bound: dict[str, np.ndarray]) -> np.ndarray:
    """Without groups: (batch, heads, rows, value dim)."""
    return np.asarray(bound["output"][:, 0][None])


def test_rows_of_large_scores_are_looked_at_key_by_key() -> None:
    """One row of one head has scores of some thousands: the others need not care."""
    q, k, v = hw.attention_inputs(rows=40, dim=16, dtype="float32")
    q[0, 1, 30] *= 1000
    problem = read_problem(q, k, v, AttentionOptions(causal=True))
    by_sums, by_key = _both_bounds(problem, FUSED)
    open_rows = np.asarray(by_sums["vacuous"].any(axis=-1))
    assert np.argwhere(open_rows[:, 0]).tolist() == [[1, 30]]
    comparison = compare(problem, _as_output(by_key), [FUSED], np.arange(40))
    assert comparison[0].ratio < 1e-6 and not comparison[0].unjudged


def test_contracts_that_round_scores_are_not_linear() -> None:
    assert is_linear(FUSED, BFLOAT16) and is_linear(TENSOR_FLOAT, FLOAT32)
    assert not is_linear(EAGER, BFLOAT16)
    assert not is_linear(FP8, BFLOAT16)
