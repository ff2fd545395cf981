"""Conform: a kernel with a seeded mistake, and whether its output is within the bound."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from headwright.conformance.contracts import CONTRACTS
from headwright.conformance.demonstration import (
    MOST_DIM,
    MOST_TOKENS,
    Demonstration,
    Seeded,
)
from headwright.conformance.inputs import DTypeName, Kind
from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View

MOST_CELLS = 64  # in each direction of the map
TOLERANCES = (1e-3, 1e-2, 2e-2)  # atol = rtol, as tests of kernels have them


class ConformRequest(RequestModel):
    """The settings of `headwright conform builtin:MISTAKE`, and how it is judged.

    >>> ConformRequest(mistake="zeros").rows
    128
    """

    mistake: Seeded = Field("none", description="What the kernel does wrong.")
    rows: int = Field(128, ge=1, le=MOST_TOKENS)
    keys: int = Field(128, ge=1, le=MOST_TOKENS)
    dim: int = Field(32, ge=1, le=MOST_DIM)
    dtype: DTypeName = Field("bfloat16", description="The type of q, k, v and output.")
    kind: Kind = Field("gaussian", description="What the inputs are like.")
    window: int | None = Field(None, ge=1, le=MOST_TOKENS)
    percent: float = Field(1.0, ge=0, le=100, description="The scale's error.")
    seed: int = Field(0, ge=0, le=10**6)
    contract: str | None = Field(None, description="None: the strictest that holds.")


def conform(request: ConformRequest) -> dict[str, Any]:
    """The output of `headwright conform --json`, with a map of error / bound.

    >>> answer = conform(ConformRequest(mistake="future", rows=32, keys=32, dim=8))
    >>> answer["verdict"], answer["hypotheses"][0]["name"]
    ('outside', 'future key seen')
    """
    from headwright.conformance.checking import conform as judge
    from headwright.conformance.demonstration import demonstrate
    from headwright.pictures.cells import worst_cells

    if request.contract is not None and request.contract not in CONTRACTS:
        raise InputError(
            f"contract is {request.contract!r}: expected one of {', '.join(CONTRACTS)}",
            field="contract",
        )
    settings = request.model_dump(exclude={"contract"})
    demonstration = Demonstration(**settings)
    q, k, v, out = demonstrate(demonstration)
    verdict = judge(
        out, q, k, v, contract=request.contract, **demonstration.described()
    )
    ratios = verdict.ratios[verdict.worst.batch, verdict.worst.head]
    cells = worst_cells(ratios, MOST_CELLS, MOST_CELLS)
    by_row = np.nan_to_num(ratios, nan=0.0, posinf=math.inf).max(axis=1)
    return {
        **verdict.to_json(),
        "map": {
            "ratios": [[_finite(ratio) for ratio in row] for row in cells.ratios],
            "rows": cells.rows,
            "columns": cells.columns,
        },
        "by_row": [_finite(ratio) for ratio in by_row],
        "tolerances": _tolerances(demonstration, out),
    }


def _finite(ratio: float) -> float | None:
    """A ratio with few digits; None where it is infinite."""
    return float(f"{ratio:.4g}") if math.isfinite(ratio) else None


def _tolerances(demonstration: Demonstration, out: np.ndarray) -> dict[str, bool]:
    """Which tolerances of allclose an output meets beside the right kernel's."""
    from headwright.conformance.demonstration import demonstrate

    *_, right = demonstrate(replace(demonstration, mistake="none"))
    expected, actual = right.astype(np.float64), out.astype(np.float64)
    passes = {}
    for tolerance in TOLERANCES:
        close = np.allclose(actual, expected, atol=tolerance, rtol=tolerance)
        passes[f"{tolerance:g}"] = bool(close)
    return passes


VIEW = View(
    "conform",
    "Conform",
    "Is a difference between attention kernels rounding, or a mistake?",
    (
        ApiCall(
            "conform",
            ConformRequest,
            conform,
        ),
    ),
)
