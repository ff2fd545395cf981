"""Bounds by small cases: each part of the sum is needed, and each on its own side of its rounding."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from headwright.certificates.exact.numbers import normal_tail, sqrt_between
from headwright.certificates.exact.verify import verify
from tests.certificates.exact.making import (
    bound,
    certificate,
    deviations,
    of,
    part,
    spread,
)

LINE = np.array([[1.0], [-1.0]])
EIGHT = {"0": "8", "1": "1"}
HALF = {"0": "1", "1": "1"}
NOTHING: dict[str, Any] = {"lifts": ["0"], "moves": [[]]}
NEAR = ((1 - 1e-9, "verified"), (1 + 1e-9, "rejected"))


def word(document: Any) -> str:
    return verify(json.dumps(document)).word


def _hex(x: Fraction) -> str:
    return f"{x.numerator:#x}/{x.denominator:#x}"


def _impossible(keys: Any, targets: dict[int, str], proof: Any, **more: Any) -> str:
    return word(
        certificate(
            np.array(keys), targets, claim="impossible", bound=bound(proof), **more
        )
    )


def _longer(
    keys: Any, targets: dict[int, str], least: float, proof: Any, **more: Any
) -> str:
    return word(
        certificate(
            np.array(keys),
            targets,
            claim="longer",
            none_shorter=repr(least),
            bound=proof,
            **more,
        )
    )


def test_an_entropy_of_nothing_proves_nothing() -> None:
    """A key that is alone gets all of the weight from every query."""
    assert _impossible([[1.0]], {0: "1"}, part(0, of(0, {"0": "1"}))) == "rejected"


@pytest.mark.parametrize("scales", [{}, {"1": "3/2"}])
def test_a_rival_may_be_at_the_upper_end_of_its_range(scales: dict[str, str]) -> None:
    """Keys 2 and 3/2 at most: q/2 must reach ln 8."""
    proof = bound(part(1.0, of(0, EIGHT), **NOTHING), scales=scales)
    for factor, said in NEAR:
        least = 2 * math.log(8) * factor
        assert (
            _longer(
                [[2.0], [1.0]],
                {0: "8/9"},
                least,
                proof,
                uncertainty=[spread([1], scale=("1/2", "3/2"))],
            )
            == said
        )


def test_a_target_in_one_uncertainty_has_one_scale() -> None:
    """Of two heads one gives key 0 its weight, at 1/2 as in every realization of its range."""
    proof = bound(part(0, of(0, EIGHT), **NOTHING), among=[0], scales={"0": "1/2"})
    for factor, said in NEAR:
        least, uncertainty = (
            math.log(8) / 1.5 * factor,
            [spread([0], scale=("1/2", "1"))],
        )
        assert (
            _longer(LINE, {0: "8/9"}, least, proof, heads=2, uncertainty=uncertainty)
            == said
        )


def test_where_scores_say_nothing_of_a_scale_a_rival_is_low_and_a_target_high() -> None:
    assert (
        _impossible(
            [[1.0], [2.0]],
            {0: "0.51"},
            part(0, of(0, HALF), **NOTHING),
            uncertainty=[spread([1], scale=("1/2", "1"))],
        )
        == "verified"
    )
    least = [[1 + 2.0**-52, 1.0]] * 2  # the score 2^-52 is one unit
    assert (
        _impossible(
            least,
            {0: "0.51"},
            part([1.0, -1.0], of(0, HALF), **NOTHING),
            uncertainty=[spread([1], scale=("1/2", "1"))],
        )
        == "verified"
    )


def test_a_key_too_far_below_to_have_a_share_has_none() -> None:
    """Twins cancel exactly, and the third key is 2000 below them."""
    keys = [[1.0], [1.0], [-1.0]]
    assert _impossible(keys, {0: "0.51"}, part(1000.0)) == "verified"
    assert _impossible(keys, {0: "0.51"}, part(1000.0, of(2)), heads=1) == "unreadable"
    heads = certificate(
        np.array(keys),
        {0: "0.51"},
        claim="impossible",
        heads=2,
        bound=bound(part(1000.0), among=[0]),
    )
    assert word(heads) == "verified"


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("multiplier", ["1", "1e-300", "1e300"])
def test_shares_of_almost_nothing_and_multipliers_of_any_size_count(
    heads: int, multiplier: str
) -> None:
    """No query gives key 0 all of the weight; the rival's share is e^-150, from which a length of 75 follows."""
    for least, said in ((75.0, "verified"), (76.0, "rejected")):
        proof = bound(
            part(75.0, of(0, None, multiplier)), among=[0] if heads == 2 else None
        )
        assert _longer(LINE, {0: "1"}, least, proof, heads=heads) == said


def test_multipliers_by_scores_are_those_that_are_given() -> None:
    """Key 0 is at 1 or at -1 and its rival at 0: with these multipliers the shares 1/(1 + e), 1/(1 + 1/e) cancel."""
    scenarios = [np.array([[1.0], [0.0]]), np.array([[-1.0], [0.0]])]
    multipliers = [repr(1 + math.e), repr(1 + 1 / math.e)]
    proof = bound(
        part(1.0, *(of(0, None, m, scenario) for scenario, m in enumerate(multipliers)))
    )
    found = certificate(
        scenarios, {0: "0.9"}, claim="longer", none_shorter="1000000", bound=proof
    )
    assert word(found) == "verified"


@pytest.mark.parametrize("multiplier", ["1", "3", "1/7"])
@pytest.mark.parametrize(
    "noise",
    [
        {"ball": "1/2"},
        {"factor": [["3/10"], ["2/5"]]},
        {"ball": "3/10", "factor": [["2/5"]]},
        {"stretch": "1/2"},
    ],
)
def test_the_size_of_multipliers_changes_nothing(
    multiplier: str, noise: dict[str, Any]
) -> None:
    """Key 1 comes as near to key 0 as its deviation of 1/2 and the confidence say."""
    z, stretched = deviations(0.05), "stretch" in noise
    for factor, said in NEAR:
        distance = 1.0 if stretched else z / 2 * factor
        if stretched:  # of a key at 1, so that the deviation takes the factor
            noise = {"stretch": repr(1 / z / factor)}
        size = Fraction(noise["stretch"]) if stretched else Fraction(1, 2)
        push = (
            [str(-2 * Fraction(distance) / size**2)]
            if stretched or "factor" in noise
            else None
        )
        proof = part([0], of(0, HALF, multiplier), **NOTHING, push=push)
        document = certificate(
            np.array([[0.0], [distance], [99.0]]),
            {0: "0.500001"},
            claim="impossible",
            confidence="0.95",
            uncertainty=[spread([1], random=True, **noise)],
            bound=bound(proof, deviations=repr(z - 1e-12)),
        )
        assert word(document) == said, factor


@pytest.mark.parametrize(
    ("move", "said"), [(["0.5", "0.75"], "verified"), (["0.75", "0.75"], "rejected")]
)
def test_a_move_just_out_of_the_ellipsoid_is_rejected(
    move: list[str], said: str
) -> None:
    """Key 1 is moved to key 0; the squares are 13/16 and 9/8."""
    distance = -float(sum(map(Fraction, move)))
    proof = part([0], of(0, HALF), lifts=["0"], moves=[move])
    assert (
        _impossible(
            [[0.0], [distance]],
            {0: "0.51"},
            proof,
            uncertainty=[spread([1], factor=[["1"], ["1"]])],
        )
        == said
    )


def test_the_probability_of_the_deviations_is_taken_from_below() -> None:
    z = Fraction(3, 2)
    low, high = normal_tail(z)
    assert low < high
    for tail, said in (
        (low, "verified"),
        ((low + high) / 2, "rejected"),
        (high, "rejected"),
    ):
        document = certificate(
            np.array([[0.0], [0.5], [99.0]]),
            {0: "0.51"},
            claim="impossible",
            confidence=_hex(1 - tail),
            uncertainty=[spread([1], ball="1/2", random=True)],
            bound=bound(part([0], of(0, HALF), **NOTHING), deviations=str(z)),
        )
        assert word(document) == said


def test_the_room_of_random_keys_is_taken_from_below() -> None:
    """Two random keys of deviation 1/2: V = c/2 for a rival at the scale c, and the room is 3/2 sqrt(1/8)."""
    low, high = sqrt_between(Fraction(9, 4) / 8)
    assert low < high
    for V, said in ((low, "verified"), ((low + high) / 2, "rejected")):
        scale = _hex(2 * V)
        document = certificate(
            np.array([[0.0], [1.0], [99.0]]),
            {0: "0.51"},
            claim="impossible",
            confidence="0.99",
            uncertainty=[
                spread([1], scale=(scale, scale), ball="1/2", random=True),
                spread([0], ball="1/2", random=True),
            ],
            bound=bound(
                part([0], of(0, HALF), lifts=["0", "0"], moves=[[], []]),
                deviations="3/2",
            ),
        )
        assert word(document) == said
