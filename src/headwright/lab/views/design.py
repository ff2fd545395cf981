"""Design: the shortest query that meets attention targets, or a proof that there is none."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from headwright.certificates.exact.values import read_fraction
from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View
from headwright.lab.views.uncertainties import MOST_ENTRIES, Noisy, uncertainty_of

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from headwright.query_design import Design, Targets

MOST_KEYS = 2000
MOST_NUMBERS = 20_000
MOST_HEADS = 8
TARGETS = ("copy_", "average", "at_least")
# Exact: "0.01" is 1/100, and "1/8" is what it says.
Number = Annotated[str, Field(max_length=60)]
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


def answered(result: Design) -> dict[str, Any]:
    """A design as the answer of the API.

    >>> answered(find(DesignRequest(keys=[[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]], copy=2)))["mixing"]["of"]
    {'0': 0.75, '1': 0.25}
    """
    return {**result.to_json(result.certificate), "mixing": _mixing(result)}


def matrix(rows: list[list[float]], what: str) -> Float[np.ndarray, "n d"]:
    """Rows as an array; `what` begins the sentence if they are not one.

    >>> matrix([[1.0, 2.0]], "keys").shape
    (1, 2)
    """
    import numpy as np

    if len({len(row) for row in rows}) > 1:
        raise InputError(
            f"{what}: rows of different lengths, expected as many numbers in each",
            field=what,
        )
    array = np.array(rows, dtype=float)
    if array.size > MOST_NUMBERS:
        raise InputError(
            f"{what}: {array.size} numbers; the lab accepts {MOST_NUMBERS}, the command line has no limit",
            field=what,
        )
    return array


def targets_of(request: DesignRequest) -> Targets:
    """The attention target (targets) of a request.

    >>> targets_of(DesignRequest(keys=[[1.0], [2.0]], average=[0, 1])).indices
    [0, 1]
    """
    from headwright.query_design import at_least, average, copy

    present = [name for name in TARGETS if getattr(request, name) is not None]
    if len(present) != 1:
        raise InputError("expected one target: copy, average or at_least")
    if request.copy_ is not None:
        return copy(request.copy_, request.eps)
    if request.average is not None:
        return average(request.average, request.eps)
    written = request.at_least or {}
    weights = {int(key): least for key, least in written.items()}
    if len(weights) < len(written):
        raise InputError(
            f"at_least names a key twice ({', '.join(written)}): expected each once",
            field="at_least",
        )
    return at_least(weights)


def _mixing(result: Design) -> dict[str, Any] | None:
    """Why no query meets the targets, where a mean of targets is also a convex combination of keys; for a picture.

    Both are read from the verified certificate, and compared exactly.
    """
    question = result.question
    if result.word != "impossible" or not question.uncertainty.fixed:
        return None
    constraints = _constraints(result.certificate)
    if question.heads > 1 or not constraints:
        return None
    distribution = constraints[0]["distribution"]
    if any(c["distribution"] != distribution for c in constraints) or not distribution:
        return None
    multipliers = {
        int(c["target"]): read_fraction(c["multiplier"]) for c in constraints
    }
    targets = _shares(multipliers)
    weights = {int(key): read_fraction(weight) for key, weight in distribution.items()}
    if len(targets) == 1:
        # A single target is mixed of the other keys.
        weights = {key: x for key, x in weights.items() if key not in targets}
    others = _shares(weights)
    keys = question.keys[0]
    if not others or _mean(keys, targets) != _mean(keys, others):
        return None
    return {"targets": _as_floats(targets), "of": _as_floats(others)}


def _constraints(certificate: str | None) -> list[dict[str, Any]]:
    """Those of all parts of the bound in a verified certificate."""
    if certificate is None:
        return []
    bound = json.loads(certificate)["evidence"]["bound"]
    constraints: list[dict[str, Any]] = []
    for part in bound["parts"] if bound else ():
        constraints += part["constraints"]
    return constraints


def _shares(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    """Of a whole, those that are not 0; nothing if all are."""
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items() if weight}


def _as_floats(shares: dict[int, Fraction]) -> dict[str, float]:
    return {str(key): float(share) for key, share in shares.items()}


def _mean(
    keys: Float[np.ndarray, "n d"], shares: dict[int, Fraction]
) -> list[Fraction]:
    """The mean of keys, exactly."""
    mean = [Fraction(0)] * keys.shape[1]
    for key, share in shares.items():
        for i, x in enumerate(keys[key].tolist()):
            mean[i] += share * Fraction(x)
    return mean


VIEW = View(
    "design",
    "Design",
    "Choose which keys a head should attend to. See all queries that do, and the shortest one, with a proof.",
    (
        ApiCall(
            "design",
            DesignRequest,
            design,
        ),
    ),
)
