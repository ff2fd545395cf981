"""Order: a layer without positions does not see in which order its tokens come; and what rounding does to positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.asking import Tell
from headwright.lab.room import Call, RequestBody, Room

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from headwright.layer import Layer
    from headwright.positions import Scheme

MOST_TOKENS = 16
SHOWN, MOST_DIFFERENCES = 96, 512  # what a picture shows
Word = Annotated[str, Field(min_length=1, max_length=24)]
Name = Literal["sinusoidal", "rotary", "alibi"]
Number = Literal["exact", "float32", "float16", "bfloat16"]


class OrderRequest(RequestBody):
    """Tokens, another order of them, and the layer.

    >>> OrderRequest(tokens=["the", "dog"], order=[1, 0]).dim
    8
    """

    tokens: list[Word] = Field(min_length=2, max_length=MOST_TOKENS, description="The words; equal words, equal rows.")
    order: list[Annotated[int, Field(ge=0, lt=MOST_TOKENS)]] = Field(
        max_length=MOST_TOKENS, description="Row i of P X is row order[i] of X."
    )
    dim: int = Field(8, ge=2, le=32, multiple_of=2, description="Numbers in a row.")
    scheme: Name = Field("sinusoidal", description="How positions enter the layer that has them.")
    causal: bool = Field(False, description="Each token sees only those before it, and itself.")
    seed: int = Field(0, ge=0, le=10**6, description="Random seed.")


class PositionsRequest(RequestBody):
    """The options of `headwright positions`.

    >>> PositionsRequest(length=4096, dim=64, index_dtype="bfloat16").dtype
    'exact'
    """

    scheme: Name = "sinusoidal"
    length: int = Field(ge=2, le=65536, description="Number of positions.")
    dim: int = Field(ge=2, le=256, multiple_of=2, description="Numbers in a row; for alibi, the heads.")
    base: float = Field(10000.0, gt=1, le=1e9, description="Base of the frequencies.")
    dtype: Number = Field("exact", description="Number type of the encodings.")
    index_dtype: Number = Field("exact", description="Number type of the position index.")
    angle_dtype: Number = Field("exact", description="Number type of the angles.")


def order(asked: OrderRequest) -> dict[str, Any]:
    """X, P X, Z(P X) and P Z(X), without positions and with; all in floating point.

    >>> found = order(OrderRequest(tokens=["a", "dog", "bit"], order=[2, 1, 0]))
    >>> found["without"]["relative"] < 1e-12 < found["with"]["relative"]
    True
    """
    import numpy as np

    from headwright.layer import permute, random_layer

    if sorted(asked.order) != list(range(len(asked.tokens))):
        raise InputError(f"order is {asked.order}: expected each of 0 to {len(asked.tokens) - 1} once")
    rng = np.random.default_rng([asked.seed, 1])
    rows = {word: rng.normal(size=asked.dim) for word in sorted(set(asked.tokens))}
    X = np.stack([rows[word] for word in asked.tokens])
    permutation = np.array(asked.order)
    found: dict[str, Any] = {"X": X.tolist(), "PX": permute(X, permutation).tolist()}
    for name, scheme in (("without", None), ("with", _scheme(asked.scheme, asked.dim, 10000.0, heads=1))):
        layer = random_layer(asked.dim, positions=scheme, causal=asked.causal, seed=asked.seed)
        found[name] = _compared(layer, X, permutation)
    return found


def _compared(layer: Layer, X: Float[np.ndarray, "T D"], permutation: np.ndarray) -> dict[str, Any]:
    from headwright.layer import equivariance_defect, permute

    defect = equivariance_defect(layer, X, permutation)
    return {
        "ZPX": layer(permute(X, permutation)).tolist(),
        "PZX": permute(layer(X), permutation).tolist(),
        "absolute": defect.absolute,
        "relative": defect.relative,
        "epsilon": defect.epsilon,
    }


def positions(asked: PositionsRequest, progress: Tell | None = None) -> dict[str, Any]:
    """What `headwright positions --json` says, with rows and distances for a picture.

    >>> positions(PositionsRequest(length=300, dim=8, index_dtype="bfloat16"))["first_pair"]
    [256, 257]
    """
    from headwright.positions import Precision, preview, report

    scheme = _scheme(asked.scheme, asked.dim, asked.base, heads=asked.dim)
    precision = Precision(index=asked.index_dtype, angle=asked.angle_dtype, rows=asked.dtype)
    found = report(scheme, asked.length, precision, progress=progress)
    start = max(0, found.first_pair[1] - 16) if found.first_pair else 0
    drawn = preview(scheme, asked.length, precision, start)
    return {
        **found.to_json(),
        "start": start,
        "rows": [[_or_none(x) for x in row] for row in drawn.rows[:SHOWN, :SHOWN].tolist()],
        "distances": [_or_none(x) for x in drawn.distances.tolist()[:MOST_DIFFERENCES]],
    }


def _or_none(x: float) -> float | None:
    return x if abs(x) < float("inf") else None


def _scheme(name: str, dim: int, base: float, *, heads: int) -> Scheme:
    from headwright.positions import Alibi, Rotary, Sinusoidal

    if name == "alibi":
        return Alibi(heads)
    return Rotary(dim, base) if name == "rotary" else Sinusoidal(dim, base)


ROOM = Room(
    "order",
    "Order",
    "Shuffle a sentence: without positions a layer gives every token the same result wherever it stands.",
    (
        Call(
            "order",
            "A layer on tokens in another order, without positions and with.",
            OrderRequest,
            order,
            {
                "X": "a row for each token",
                "PX": "the same rows in the other order",
                "without": "Z(P X) and P Z(X) without positions, and their largest difference: floating-point",
                "with": "the same with positions",
            },
        ),
        Call(
            "positions",
            "Which positions coincide after rounding, and how close the closest two come.",
            PositionsRequest,
            positions,
            {
                "collisions": "how many positions coincide with an earlier one",
                "first_pair": "the first of them, behind the one it repeats",
                "min_distance": "of the closest two",
                "min_distance_enclosure": "from both sides",
                "min_difference": "of their positions",
                "closest_pair": "the closest two",
                "overflow_from": "the first position whose numbers are not finite",
                "lost": "how many such positions there are",
                "how_collisions": "how the first is known",
                "how_distance": "how the distance is known",
                "kinds": "what each number is: proven, sampled, floating-point, exact or given",
                "start": "the first position that is shown",
                "rows": "rows from there on, for a picture",
                "distances": "distances for a picture",
            },
            seconds=60.0,
            tells=True,
        ),
    ),
)
