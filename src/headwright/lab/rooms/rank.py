"""Rank: a matrix cut to a small rank, what that misses, and what it cannot miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.room import Call, RequestBody, Room
from headwright.lab.rooms.design import matrix

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

MOST_SIDE = 128
LARGEST = 1e300  # beyond, a norm may be no double any more
Row = Annotated[list[float], Field(min_length=1, max_length=MOST_SIDE)]


class Head(RequestBody):
    """A matrix of a head of the built-in model.

    >>> Head(layer=0, head=1).circuit
    'qk'
    """

    layer: int = Field(ge=0, le=1)
    head: int = Field(ge=0, le=1)
    circuit: Literal["qk", "ov"] = Field("qk", description="Which tokens attend to which, or what is written.")


class FactorsRequest(RequestBody):
    """A matrix: its rows, or a head.

    >>> FactorsRequest(matrix=[[1.0]]).head is None
    True
    """

    matrix: list[Row] | None = Field(None, min_length=1, max_length=MOST_SIDE, description="The rows.")
    head: Head | None = Field(None, description="A head of the model that is built in.")


class TruncateRequest(FactorsRequest):
    """The options of `headwright lowrank`, with the matrix itself in place of a file.

    >>> TruncateRequest(matrix=[[1.0]], rank=1).seed
    0
    """

    rank: int | None = Field(None, ge=1, le=MOST_SIDE)
    tolerance: float | None = Field(None, ge=0)
    seed: int = Field(0, ge=0, le=10**6)


def lowrank(asked: TruncateRequest) -> dict[str, Any]:
    """What `headwright lowrank --json` says.

    >>> round(lowrank(TruncateRequest(matrix=[[3.0, 0.0], [0.0, 1.0]], rank=1))["error_upper_bound"], 6)
    1.0
    """
    from headwright.lowrank import truncate

    found = truncate(_matrix(asked), rank=asked.rank, tolerance=asked.tolerance, seed=asked.seed)
    return found.to_json(asked.seed)


def factors(asked: FactorsRequest) -> dict[str, Any]:
    """The matrix and its singular value decomposition in floating point: what moves under the hand.

    >>> factors(FactorsRequest(matrix=[[3.0, 0.0], [0.0, 1.0]]))["singular_values"]
    [3.0, 1.0]
    """
    import numpy as np

    A = _matrix(asked)
    top = float(np.max(np.abs(A))) or 1.0
    left, values, right = np.linalg.svd(A / top, full_matrices=False)  # no square of an entry is too large then
    return {
        "matrix": A.tolist(),
        "singular_values": (values * top).tolist(),
        "left": left.round(6).tolist(),
        "right": right.round(6).tolist(),
    }


def _matrix(asked: FactorsRequest) -> Float[np.ndarray, "n d"]:
    if (asked.matrix is None) == (asked.head is None):
        raise InputError("matrix: expected either a matrix or a head")
    if asked.matrix is not None:
        if any(abs(entry) > LARGEST for row in asked.matrix for entry in row):
            raise InputError(f"matrix: expected entries of at most {LARGEST:g} in size")
        return matrix(asked.matrix, "matrix")
    if asked.head is None:
        raise InputError("head: expected one")
    from headwright.models.loading.induction import VOCABULARY, induction_model

    model = induction_model()
    parts = model.circuits(asked.head.layer)
    which = asked.head.head
    embedded = model.embed[1 : len(VOCABULARY)]  # all but the opening token
    if asked.head.circuit == "qk":
        found: Float[np.ndarray, "n d"] = embedded @ parts.query[which] @ (embedded @ parts.key[which]).T
    else:
        found = (embedded @ parts.value[which] @ parts.output[which] @ model.unembed)[:, 1:]
    return found


ROOM = Room(
    "rank",
    "Rank",
    "Cut a matrix to a small rank: what that misses, with a certificate, below a bound that no matrix exceeds.",
    (
        Call(
            "lowrank",
            "A matrix cut to a small rank, with a certified bound on what that misses.",
            TruncateRequest,
            lowrank,
            {
                "rank": "of the matrix that is near",
                "singular_values": "floating-point",
                "error_upper_bound": "proven: the spectral norm of what is missed is not larger",
                "guarantee": "proven: |A|_F / sqrt(rank + 1), rounded up",
                "frobenius": "proven: |A|_F, rounded up",
                "energy": "floating-point: the share of |A|_F^2 that is kept",
                "next_singular_value": "floating-point: the error of the best matrix of this rank",
                "method": "how the matrix was decomposed",
                "seed": "where chance started from, where there was any",
                "kinds": "what each number is: proven, sampled, floating-point, exact or given",
            },
        ),
        Call(
            "factors",
            "A matrix and its singular value decomposition, in floating point, for a picture.",
            FactorsRequest,
            factors,
            {
                "matrix": "its rows",
                "singular_values": "the largest first",
                "left": "the left singular vectors, as columns",
                "right": "the right singular vectors, as rows",
            },
        ),
    ),
)
