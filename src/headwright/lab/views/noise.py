"""Noise: random keys, and how well one head, two heads and a robust design average two of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from headwright.lab.view import ApiCall, RequestModel, View
from headwright.lab.views.design import MOST_KEYS, Index, Number, Row, matrix
from headwright.lab.views.uncertainties import MOST_ENTRIES, Noisy, uncertainty_of

MOST_SAMPLES, MOST_HEADS = 200_000, 8


class SimulateRequest(RequestModel):
    """The options of `headwright simulate`, with keys, queries and uncertainty themselves in place of files.

    >>> SimulateRequest(keys=[[1.0]], queries=[[2.0]], uncertainty=[], targets=[0]).samples
    20000
    """

    keys: list[Row] = Field(
        min_length=1, max_length=MOST_KEYS, description="The keys, one a row."
    )
    queries: list[Row] = Field(
        min_length=1, max_length=MOST_HEADS, description="A query for each head."
    )
    uncertainty: list[Noisy] = Field(
        max_length=MOST_ENTRIES, description="Uncertainty model for the keys."
    )
    targets: list[Index] = Field(
        min_length=1, max_length=16, description="The target keys."
    )
    tolerance: Number = Field(
        "0.05", description="Success: all weights are within this of the average."
    )
    scale: Number = Field("1", description="Factor of the scores.")
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] = 20_000
    seed: int = Field(0, ge=0, le=10**6)


def simulate(request: SimulateRequest) -> dict[str, Any]:
    """The output of `headwright simulate --json`, with the first samples for a picture.

    >>> eye = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> random = Noisy(key=0, scale={"normal": [1.0, 0.5]})
    >>> request = SimulateRequest(keys=eye, queries=[[10.0, 10.0, 0.0]], uncertainty=[random], targets=[0, 1])
    >>> round(simulate(request)["near_average"]["exact"], 6)
    0.022636
    """
    from headwright.query_design.targets import exact
    from headwright.simulation import simulate as draw

    keys, queries = matrix(request.keys, "keys"), matrix(request.queries, "queries")
    found = draw(
        keys,
        queries,
        uncertainty_of(request.uncertainty),
        request.targets,
        tolerance=exact(request.tolerance, "tolerance"),
        scale=exact(request.scale, "scale"),
        samples=request.samples,
        seed=request.seed,
    )
    return {**found.to_json(), "cloud": found.cloud.round(5).tolist()}


VIEW = View(
    "noise",
    "Noise",
    "Average two keys when one has a random length: compare one head, two heads and a robust design.",
    (
        ApiCall(
            "simulate",
            SimulateRequest,
            simulate,
            seconds=30.0,
        ),
    ),
)
