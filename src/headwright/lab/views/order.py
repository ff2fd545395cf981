"""Order: a layer on permuted tokens, without and with positions; and positions after rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from headwright.layer import Layer
    from headwright.positions import Scheme

MOST_TOKENS = 16
SHOWN, MOST_DIFFERENCES = 96, 512  # in a picture
Word = Annotated[str, Field(min_length=1, max_length=24)]
Name = Literal["sinusoidal", "rotary", "alibi"]
Number = Literal["exact", "float32", "float16", "bfloat16"]


class OrderRequest(RequestModel):
    """Tokens, a permutation of them, and the layer.

    >>> OrderRequest(tokens=["the", "dog"], order=[1, 0]).dim
    8
    """

    tokens: list[Word] = Field(
        min_length=2,
        max_length=MOST_TOKENS,
        description="The words; equal words have equal rows.",
    )
    order: list[Annotated[int, Field(ge=0, lt=MOST_TOKENS)]] = Field(
        max_length=MOST_TOKENS, description="Row i of P X is row order[i] of X."
    )
    dim: int = Field(
        8, ge=2, le=32, multiple_of=2, description="Dimension of the rows."
    )
    scheme: Name = Field(
        "sinusoidal", description="Position scheme of the layer that has positions."
    )
    causal: bool = Field(False, description="Whether the layer has a causal mask.")
    seed: int = Field(
        0, ge=0, le=10**6, description="Random seed of the rows and the parameters."
    )


class PositionsRequest(RequestModel):
    """The options of `headwright positions`.

    >>> PositionsRequest(length=4096, dim=64, index_dtype="bfloat16").dtype
    'exact'
    """

    scheme: Name = "sinusoidal"
    length: int = Field(ge=2, le=65536, description="Number of positions.")
    dim: int = Field(
        ge=2,
        le=256,
        multiple_of=2,
        description="Dimension; for alibi, the number of heads.",
    )
    base: float = Field(10000.0, gt=1, le=1e9, description="Base of the frequencies.")
    dtype: Number = Field("exact", description="Number type of the rows.")
    index_dtype: Number = Field(
        "exact", description="Number type of the position index."
    )
    angle_dtype: Number = Field("exact", description="Number type of the angles.")


def order(request: OrderRequest) -> dict[str, Any]:
    """X, P X, Z(P X) and P Z(X), without positions and with; all in floating point.

    >>> found = order(OrderRequest(tokens=["a", "dog", "bit"], order=[2, 1, 0]))
    >>> found["without"]["relative"] < 1e-12 < found["with"]["relative"]
    True
    """
    import numpy as np

    from headwright.layer import permute, random_layer

    if sorted(request.order) != list(range(len(request.tokens))):
        raise InputError(
            f"order is {request.order}: expected each of 0 to {len(request.tokens) - 1} once",
            field="order",
        )
    rng = np.random.default_rng([request.seed, 1])
    rows = {word: rng.normal(size=request.dim) for word in sorted(set(request.tokens))}
    X = np.stack([rows[word] for word in request.tokens])
    permutation = np.array(request.order)
    found: dict[str, Any] = {"X": X.tolist(), "PX": permute(X, permutation).tolist()}
    for name, scheme in (
        ("without", None),
        ("with", _scheme(request.scheme, request.dim, 10000.0, heads=1)),
    ):
        layer = random_layer(
            request.dim, positions=scheme, causal=request.causal, seed=request.seed
        )
        found[name] = _compared(layer, X, permutation)
    return found


def _compared(
    layer: Layer, X: Float[np.ndarray, "T D"], permutation: np.ndarray
) -> dict[str, Any]:
    from headwright.layer import equivariance_defect, permute

    defect = equivariance_defect(layer, X, permutation)
    return {
        "ZPX": layer(permute(X, permutation)).tolist(),
        "PZX": permute(layer(X), permutation).tolist(),
        "absolute": defect.absolute,
        "relative": defect.relative,
        "epsilon": defect.epsilon,
    }


def positions(request: PositionsRequest) -> dict[str, Any]:
    """The output of `headwright positions --json`, with rows and distances for a picture.

    >>> positions(PositionsRequest(length=300, dim=8, index_dtype="bfloat16"))["first_pair"]
    [256, 257]
    """
    from headwright.positions import Precision, preview, report

    scheme = _scheme(request.scheme, request.dim, request.base, heads=request.dim)
    precision = Precision(
        index=request.index_dtype, angle=request.angle_dtype, rows=request.dtype
    )
    found = report(scheme, request.length, precision)
    start = max(0, found.first_pair[1] - 16) if found.first_pair else 0
    drawn = preview(scheme, request.length, precision, start)
    return {
        **found.to_json(),
        "start": start,
        "rows": [
            [_or_none(x) for x in row] for row in drawn.rows[:SHOWN, :SHOWN].tolist()
        ],
        "distances": [_or_none(x) for x in drawn.distances.tolist()[:MOST_DIFFERENCES]],
    }


def _or_none(x: float) -> float | None:
    return x if abs(x) < float("inf") else None


def _scheme(name: str, dim: int, base: float, *, heads: int) -> Scheme:
    from headwright.positions import Alibi, Rotary, Sinusoidal

    if name == "alibi":
        return Alibi(heads)
    return Rotary(dim, base) if name == "rotary" else Sinusoidal(dim, base)


VIEW = View(
    "order",
    "Order",
    "Permute a sentence: without positions a layer cannot see the order. See which positions rounding makes equal.",
    (
        ApiCall(
            "order",
            OrderRequest,
            order,
        ),
        ApiCall(
            "positions",
            PositionsRequest,
            positions,
            seconds=60.0,
        ),
    ),
)
