"""Circuits: what comes out of a layer must be in the uncertainty of the next, to the last digit."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from headwright.certificates.exact.certificate import FORMAT, VERSION
from headwright.certificates.exact.verify import verify

X = [["3", "4"], ["0", "1"]]  # lengths 5 and 1


def rule(token: int, head: int | str = "sum", **said: Any) -> dict[str, Any]:
    plain = {"attend": {}, "at_most": {}, "output": [], "tolerance": "0"}
    return {"sequence": 0, "token": token, "head": head, **plain, **said}


def layer(
    rules: list[Any],
    tokens: list[list[str]],
    ball: str = "0",
    low: str = "1",
    high: str = "1",
    heads: int = 1,
) -> Any:
    """Heads that do nothing: all scores and values are 0."""
    head = {
        "W_Q": [["0", "0"]],
        "W_K": [["0", "0"]],
        "W_V": [["0", "0"], ["0", "0"]],
        "b_Q": [],
        "b_V": [],
    }
    return {
        "claim": "heads",
        "mask": "none",
        "sequences": [tokens],
        "uncertainty": {"ball": ball, "scale": [low, high]},
        "biases": False,
        "bias": [],
        "rules": rules,
        "dtype": "float64",
        "heads": [head] * heads,
        "bounds": [],
    }


def word(*layers: Any) -> str:
    statement = {"claim": "circuit", "layers": list(layers)}
    evidence: dict[str, Any] = {"layers": [{"bounds": []} for _ in layers]}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "statement": statement,
        "evidence": evidence,
    }
    return verify(json.dumps(document)).word


NOTHING = [rule(t, output=["0", "0"]) for t in (0, 1)]
SEES = [rule(0, 0, attend={"1": "1/2"})]


@pytest.mark.parametrize(
    ("uncertainty", "least"),
    [
        ({}, "0"),
        ({"ball": "1/10"}, "1/10"),
        ({"low": "0.9"}, "1/2"),  # of the length 5
        ({"high": "1.2", "low": "0.9"}, "1"),
        ({"high": "1.2", "ball": "1/4"}, "5/4"),
    ],
)
def test_what_the_first_uncertainty_leaves_open_must_fit(
    uncertainty: dict[str, Any], least: str
) -> None:
    first = layer(NOTHING, X, **uncertainty)
    assert word(first, layer(SEES, X, ball=least)) == "verified"
    if least != "0":
        less = str(Fraction(least) * (1 - Fraction(1, 10**12)))
        assert word(first, layer(SEES, X, ball=less)) == "rejected"


def test_tolerance_and_distance_add_up() -> None:
    loose = [rule(t, output=["0", "0"], tolerance="1/8") for t in (0, 1)]
    moved = [["3", "5"], ["0", "1"]]  # 1 away
    assert word(layer(loose, X), layer(SEES, moved, ball="9/8")) == "verified"
    assert (
        word(layer(loose, X), layer(SEES, moved, ball="1.124999999999")) == "rejected"
    )
    wanted = [
        rule(0, output=["0", "1"], tolerance="1"),
        NOTHING[1],
    ]  # 0 is within 1 of that
    assert word(layer(wanted, X), layer(SEES, moved, ball="1")) == "verified"
    assert word(layer(wanted, X), layer(SEES, moved, ball="0.999")) == "rejected"


def test_only_the_sum_of_the_heads_counts_or_the_only_head() -> None:
    alone = [rule(t, 0, output=["0", "0"]) for t in (0, 1)]
    assert word(layer(alone, X), layer(SEES, X)) == "verified"
    assert word(layer(alone, X, heads=2), layer(SEES, X)) == "rejected"
    assert word(layer(NOTHING, X, heads=2), layer(SEES, X)) == "verified"


def test_tokens_that_nobody_looks_at_need_not_be_known() -> None:
    mine = layer([rule(0, 0, attend={"0": "1"})], X)
    mine["mask"] = ["10", "11"]
    assert word(layer(NOTHING[:1], X), mine) == "verified"
    mine["mask"] = ["11", "11"]
    mine["rules"][0]["attend"] = {"0": "1/2"}
    assert word(layer(NOTHING[:1], X), mine) == "rejected"


def test_every_pair_of_layers_must_join() -> None:
    passing = layer([*NOTHING, *SEES], X)
    assert word(passing, passing, layer(SEES, X)) == "verified"
    assert word(passing, layer(SEES, X), layer(SEES, X)) == "rejected"
    assert word(passing, passing, layer(SEES, [["3", "5"], ["0", "1"]])) == "rejected"
