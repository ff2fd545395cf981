"""Noise: keys of random length, and what one head, two heads and a robust design make of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from headwright.lab.asking import Tell
from headwright.lab.room import Call, RequestBody, Room
from headwright.lab.rooms.design import MOST_KEYS, Index, Number, Row, matrix
from headwright.lab.rooms.worlds import MOST_ENTRIES, Noisy, world_of

MOST_SAMPLES, MOST_HEADS = 200_000, 8


class SimulateRequest(RequestBody):
    """The options of `headwright simulate`, with keys, queries and world themselves in place of files.

    >>> SimulateRequest(keys=[[1.0]], queries=[[2.0]], world=[], targets=[0]).samples
    20000
    """

    keys: list[Row] = Field(min_length=1, max_length=MOST_KEYS, description="The keys, one a row.")
    queries: list[Row] = Field(min_length=1, max_length=MOST_HEADS, description="A query for each head.")
    world: list[Noisy] = Field(max_length=MOST_ENTRIES, description="Uncertainty model for the keys.")
    targets: list[Index] = Field(min_length=1, max_length=16, description="The keys to watch.")
    tolerance: Number = Field("0.05", description="How close to the average counts as averaging.")
    scale: Number = Field("1", description="Factor of the scores.")
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] = 20_000
    seed: int = Field(0, ge=0, le=10**6)


def simulate(asked: SimulateRequest, progress: Tell | None = None) -> dict[str, Any]:
    """What `headwright simulate --json` says, with the first draws for a picture.

    >>> eye = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> random = Noisy(key=0, scale={"normal": [1.0, 0.5]})
    >>> asked = SimulateRequest(keys=eye, queries=[[10.0, 10.0, 0.0]], world=[random], targets=[0, 1])
    >>> round(simulate(asked)["near_average"]["exact"], 6)
    0.022636
    """
    from headwright.noise import simulate as draw
    from headwright.queries.wish import exact

    keys, queries = matrix(asked.keys, "keys"), matrix(asked.queries, "queries")
    found = draw(
        keys, queries, world_of(asked.world), asked.targets, tolerance=exact(asked.tolerance, "tolerance"),
        scale=exact(asked.scale, "scale"), samples=asked.samples, seed=asked.seed, progress=progress,
    )  # fmt: skip
    return {**found.to_json(), "cloud": found.cloud.round(5).tolist()}


ROOM = Room(
    "noise",
    "Noise",
    "One key of random length: one head is brittle, two mend most of it, and one that is designed does not mind.",
    (
        Call(
            "simulate",
            "What noise in the keys does to the targets, and how often they are averaged.",
            SimulateRequest,
            simulate,
            {
                "targets": "mean, spread and quantiles of each target's weight: sampled, and proven where possible",
                "near_average": "the probability that every target is near the average: sampled, proven if possible",
                "wish": "always null here",
                "tolerance": "how near counts as near",
                "confidence": "of the intervals",
                "samples": "how many draws",
                "seed": "the random seed",
                "sampled_uniformly": "sets in the world that were given a uniform law",
                "kinds": "what each number is: proven, sampled, floating-point, exact or given",
                "cloud": "the targets' weights in the first draws, for a picture",
            },
            seconds=30.0,
            tells=True,
        ),
    ),
)
