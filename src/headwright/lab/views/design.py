"""Design: the shortest query that meets attention targets, or a proof that there is none."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View
from headwright.lab.views.uncertainties import MOST_ENTRIES, Noisy, uncertainty_of

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from headwright.query_design import Design, Targets

MOST_KEYS, MOST_NUMBERS, MOST_HEADS = 2000, 20_000, 8
Number = Annotated[
    str, Field(max_length=60)
]  # exact: "0.01" is 1/100, and "1/8" is what it says
Index = Annotated[int, Field(ge=0, lt=MOST_KEYS)]
Row = Annotated[list[float], Field(min_length=1, max_length=256)]


class DesignRequest(RequestModel):
    """The options of `headwright design`, with the keys themselves in place of a file.

    >>> DesignRequest(keys=[[1.0, 0.0], [0.0, 1.0]], copy=0).eps
    '0.01'
    """

    keys: list[Row] = Field(
        min_length=1, max_length=MOST_KEYS, description="The keys, one a row."
    )
    copy_: Index | None = Field(
        None, alias="copy", description="Target: attend to this key."
    )
    average: list[Index] | None = Field(
        None, max_length=64, description="Targets: attend equally to these keys."
    )
    at_least: dict[Annotated[str, Field(pattern=r"^[0-9]{1,4}$")], Number] | None = (
        Field(None, max_length=64, description="Targets: required weights, by key.")
    )
    eps: Number = Field(
        "0.01",
        description="Tolerance with copy or average: each target gets at least 1/(targets + eps).",
    )
    scale: Number = Field("1", description="Factor of the scores.")
    heads: int = Field(1, ge=1, le=MOST_HEADS)
    uncertainty: list[Noisy] = Field(
        [], max_length=MOST_ENTRIES, description="Uncertainty model for the keys."
    )
    confidence: Number | None = Field(
        None,
        description="Required probability where keys are random (0.95 by default).",
    )


def design(request: DesignRequest) -> dict[str, Any]:
    """The output of `headwright design --json`, with the certificate itself in place of its file name.

    >>> found = design(DesignRequest(keys=[[1.0, 0.0], [0.0, 1.0]], copy=0))
    >>> found["verdict"], found["checkers"]
    ('designed', ['exact', 'float'])
    """
    return answered(find(request))


def find(request: DesignRequest) -> Design:
    """The design for a request, verified by both checkers.

    >>> find(DesignRequest(keys=[[1.0, 0.0], [0.0, 1.0]], copy=0)).word
    'designed'
    """
    from headwright.query_design import design as designed

    keys = matrix(request.keys, "keys")
    return designed(
        keys,
        targets_of(request),
        uncertainty=uncertainty_of(request.uncertainty),
        scale=request.scale,
        heads=request.heads,
        confidence=request.confidence,
    )


def answered(found: Design) -> dict[str, Any]:
    """A design as the answer of the API.

    >>> answered(find(DesignRequest(keys=[[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]], copy=2)))["mixing"]["of"]
    {'0': 0.75, '1': 0.25}
    """
    return {**found.to_json(found.certificate), "mixing": _mixing(found)}


def matrix(rows: list[list[float]], what: str) -> Float[np.ndarray, "n d"]:
    """Rows as an array; `what` begins the sentence if they are not one.

    >>> matrix([[1.0, 2.0]], "keys").shape
    (1, 2)
    """
    import numpy as np

    if len({len(row) for row in rows}) > 1:
        raise InputError(
            f"{what}: rows of different lengths, expected as many numbers in each"
        )
    found = np.array(rows, dtype=float)
    if found.size > MOST_NUMBERS:
        raise InputError(
            f"{what}: {found.size} numbers; the lab accepts {MOST_NUMBERS}, the command line has no limit"
        )
    return found


def targets_of(request: DesignRequest) -> Targets:
    """The attention target (targets) of a request.

    >>> targets_of(DesignRequest(keys=[[1.0], [2.0]], average=[0, 1])).indices
    [0, 1]
    """
    from headwright.query_design import at_least, average, copy

    given = [
        name
        for name in ("copy_", "average", "at_least")
        if getattr(request, name) is not None
    ]
    if len(given) != 1:
        raise InputError("expected one target: copy, average or at_least")
    if request.copy_ is not None:
        return copy(request.copy_, request.eps)
    if request.average is not None:
        return average(request.average, request.eps)
    wanted = request.at_least or {}
    if len({int(key) for key in wanted}) < len(wanted):
        raise InputError(
            f"at_least names a key twice ({', '.join(wanted)}): expected each once"
        )
    return at_least({int(key): least for key, least in wanted.items()})


def _mixing(found: Design) -> dict[str, Any] | None:
    """Why no query meets the targets, where a mean of targets is also a convex combination of keys; for a picture.

    Both are read from the verified certificate, and compared exactly.
    """
    import json

    question = found.question
    if (
        found.word != "impossible"
        or found.certificate is None
        or not question.uncertainty.fixed
        or question.heads > 1
    ):
        return None
    bound = json.loads(found.certificate)["evidence"]["bound"]
    constraints = (
        [one for part in bound["parts"] for one in part["constraints"]] if bound else []
    )
    spread = [one["distribution"] for one in constraints]
    if not spread or spread[0] is None or any(one != spread[0] for one in spread):
        return None
    targets = _shares(
        {int(one["target"]): _number(one["multiplier"]) for one in constraints}
    )
    weights = {int(key): _number(weight) for key, weight in spread[0].items()}
    of = _shares(
        {
            key: weight
            for key, weight in weights.items()
            if len(targets) > 1 or key not in targets
        }
    )
    if not of or _mean(question.keys[0], targets) != _mean(question.keys[0], of):
        return None
    return {
        name: {str(key): float(share) for key, share in shares.items()}
        for name, shares in (("targets", targets), ("of", of))
    }


def _shares(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    total = sum(weights.values())
    return (
        {key: weight / total for key, weight in weights.items() if weight}
        if total
        else {}
    )


def _mean(
    keys: Float[np.ndarray, "n d"], shares: dict[int, Fraction]
) -> list[Fraction]:
    """The mean of keys, exactly."""
    rows = [
        [share * Fraction(x) for x in keys[key].tolist()]
        for key, share in shares.items()
    ]
    return [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]


def _number(text: str) -> Fraction:
    """A number as certificates write it: hexadecimal, with or without a denominator."""
    top, slash, bottom = text.partition("/")
    if slash:
        return Fraction(int(top, 16), int(bottom, 16))
    return Fraction(float.fromhex(top))


VIEW = View(
    "design",
    "Design",
    "Choose which keys a head should attend to. See all queries that do, and the shortest one, with a proof.",
    (
        ApiCall(
            "design",
            "Find the shortest query that meets attention targets, or prove that there is none.",
            DesignRequest,
            design,
        ),
    ),
)
