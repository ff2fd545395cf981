"""The referee itself: what is known to be true is never called false, and what is known to be false is."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.referee import heads, queries
from tests.referee.attack import judge
from tests.referee.numbers import digest, number, spelled

CORPUS = Path(__file__).parent.parent / "certificates" / "corpus"


def read(name: str) -> Any:
    return json.loads((CORPUS / f"{name}.json").read_text())


@pytest.mark.parametrize("folder", ["accept", "head-accept"])
def test_nothing_that_is_accepted_is_called_false(folder: str) -> None:
    words = [
        judge(json.loads(path.read_text())).word
        for path in sorted((CORPUS / folder).glob("*.json"))
    ]
    assert "false" not in words
    assert words.count("true") > len(words) / 3


@pytest.mark.parametrize("scale", ["1e999", "0x1p-1074", "-1e-300"])
def test_random_keys_are_not_drawn_at_scales_beyond_floats(scale: str) -> None:
    """Whether there is a query at all does not depend on the scale; floats would say anything."""
    statement = read("accept/gaussian-two-parts")["statement"]
    assert statement["claim"] == "impossible"
    statement["scale"] = scale
    assert queries.judge(statement).word == "unknown"


@pytest.mark.parametrize(
    "name",
    [
        "query-halved",
        "two-heads-one-a-fraction-of-the-other",
        "query-shortened-and-the-parts-over-three",
        "query-shortened-by-a-billionth",
        "targets-raised",
        "bound-raised-by-a-millionth",
        "possible-called-impossible",
        "claimed-longer-than-the-shortest",
        "balls-widened",
        "ellipsoid-widened",
        "ellipsoid-shrunk",
        "uncertainty-widened",
        "one-head-used-twice",
        "heads-targets-raised",
        "gaussian-key-wider",
        "gaussian-key-called-certain-ball",
        "stretched-less",
        "pushed-less",
        "scale-turned-round",
        "all-of-the-weight",
    ],
)
def test_false_statements_about_keys_are_called_false(name: str) -> None:
    assert queries.judge(read(f"reject/{name}")["statement"]).word == "false"


@pytest.mark.parametrize(
    "name",
    [
        "bound-raised-by-a-billionth",
        "nuclear-bound-raised",
        "nuclear-bound-called-frobenius",
        "biases-bound-raised",
        "dimension-raised",
        "dimension-with-a-rule-dropped",
        "dimension-from-what-is-not-seen",
        "ball-widened",
        "uncertainty-ball-and-wider-scale",
        "at-most-in-a-wider-uncertainty",
        "at-most-lowered-by-a-billionth",
        "floor-raised-by-a-trillionth",
        "tolerance-lowered",
        "sum-tolerance-lowered",
        "not-bfloat16",
        "mask-dropped",
        "alibi-steeper",
        "alibi-dropped-from-a-bound",
        "no-heads-with-biases",
        "no-heads-one-rule-is-enough",
        "no-heads-output-twins-of-other-sight",
        "circuit-layers-turned-round",
        "circuit-second-layer-broken",
        "scale-worst-inside-the-range",
        "eps-1e-31",
    ],
)
def test_false_statements_about_heads_are_called_false(name: str) -> None:
    assert heads.judge(read(f"head-reject/{name}")["statement"]).word == "false"


def test_numbers_are_the_same_in_every_spelling() -> None:
    chance = random.Random(0)
    for x in map(
        Fraction, ("0", "1", "-3/7", "1/1024", "100/101", "-0.1", "123456789/8")
    ):
        assert {number(spelled(x, chance)) for _ in range(60)} == {x}
    assert len({spelled(Fraction(1, 8), chance) for _ in range(60)}) > 5


def test_a_digest_is_that_of_the_corpus() -> None:
    keys = read("accept/negative-zero")["statement"]["keys"][0]
    assert digest(keys["rows"]) == keys["sha256"]


def test_a_weight_near_one_in_a_uncertainty_is_not_lost_in_floats() -> None:
    statement = read("head-accept/eps-1e-30")["statement"]
    statement["uncertainty"]["scale"][1] = (
        "0x1.000010c6f7a0bp+0"  # longer tokens only help here
    )
    assert heads.judge(statement).word != "false"
