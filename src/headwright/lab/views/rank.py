"""Rank: low-rank approximation of a matrix, with a certified error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View
from headwright.lab.views.design import matrix

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

MOST_SIDE = 128
LARGEST = 1e300  # above this a norm may overflow
Row = Annotated[list[float], Field(min_length=1, max_length=MOST_SIDE)]


class HeadMatrix(RequestModel):
    """A matrix of a head of the built-in model.

    >>> HeadMatrix(layer=0, head=1).circuit
    'qk'
    """

    layer: int = Field(ge=0, le=1)
    head: int = Field(ge=0, le=1)
    circuit: Literal["qk", "ov"] = Field(
        "qk", description="QK (scores) or OV (output)."
    )


class FactorsRequest(RequestModel):
    """A matrix: its rows, or a head.

    >>> FactorsRequest(matrix=[[1.0]]).head is None
    True
    """

    matrix: list[Row] | None = Field(
        None, min_length=1, max_length=MOST_SIDE, description="The rows."
    )
    head: HeadMatrix | None = Field(None, description="A head of the built-in model.")


class LowRankRequest(FactorsRequest):
    """The options of `headwright lowrank`, with the matrix itself in place of a file.

    >>> LowRankRequest(matrix=[[1.0]], rank=1).rank
    1
    """

    rank: int | None = Field(None, ge=1, le=MOST_SIDE)
    tolerance: float | None = Field(None, ge=0)


def lowrank(request: LowRankRequest) -> dict[str, Any]:
    """The output of `headwright lowrank --json`.

    >>> round(lowrank(LowRankRequest(matrix=[[3.0, 0.0], [0.0, 1.0]], rank=1))["error_upper_bound"], 6)
    1.0
    """
    from headwright.lowrank import truncate

    found = truncate(_matrix(request), rank=request.rank, tolerance=request.tolerance)
    return found.to_json()


def factors(request: FactorsRequest) -> dict[str, Any]:
    """The matrix and its singular value decomposition in floating point.

    >>> factors(FactorsRequest(matrix=[[3.0, 0.0], [0.0, 1.0]]))["singular_values"]
    [3.0, 1.0]
    """
    import numpy as np

    A = _matrix(request)
    top = float(np.max(np.abs(A))) or 1.0
    left, values, right = np.linalg.svd(
        A / top, full_matrices=False
    )  # no square of an entry is too large then
    return {
        "matrix": A.tolist(),
        "singular_values": (values * top).tolist(),
        "left": left.round(6).tolist(),
        "right": right.round(6).tolist(),
    }


def _matrix(request: FactorsRequest) -> Float[np.ndarray, "n d"]:
    if (request.matrix is None) == (request.head is None):
        raise InputError("matrix: expected either a matrix or a head", field="matrix")
    if request.matrix is not None:
        if any(abs(entry) > LARGEST for row in request.matrix for entry in row):
            raise InputError(
                f"matrix: expected entries of at most {LARGEST:g} in absolute value",
                field="matrix",
            )
        return matrix(request.matrix, "matrix")
    if request.head is None:
        raise InputError("head: expected one", field="head")
    from headwright.models.induction import VOCABULARY, induction_model

    model = induction_model()
    parts = model.circuits(request.head.layer)
    which = request.head.head
    embedded = model.embed[1 : len(VOCABULARY)]  # all but the opening token
    if request.head.circuit == "qk":
        found: Float[np.ndarray, "n d"] = (
            embedded @ parts.query[which] @ (embedded @ parts.key[which]).T
        )
    else:
        found = (embedded @ parts.value[which] @ parts.output[which] @ model.unembed)[
            :, 1:
        ]
    return found


VIEW = View(
    "rank",
    "Rank",
    "Approximate a matrix by one of small rank, with a certified error.",
    (
        ApiCall(
            "lowrank",
            LowRankRequest,
            lowrank,
        ),
        ApiCall(
            "factors",
            FactorsRequest,
            factors,
        ),
    ),
)
