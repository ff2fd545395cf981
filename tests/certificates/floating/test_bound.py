"""Bounds: exact cancelling, rooms of balls and of chance, and evidence that its uncertainty does not allow."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.certificates.floating.making import bound, document, entry, part
from tests.certificates.floating.test_agreement import both

TWINS = np.array([[0.1, 0.7], [0.1, 0.7], [3.0, -1.0]])
INSIDE = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [0.0, -2.0]])
LINE = np.array([[0.0], [-1.0], [3.0]])


def impossible(
    keys: np.ndarray, least: str, shares: dict[int, str] | None, **more: Any
) -> dict[str, Any]:
    """A claim about key 0, from one distribution."""
    table = None if shares is None else {str(key): x for key, x in shares.items()}
    uncertainty, evidence = more.pop("uncertainty", []), more.pop("evidence", {})
    moves = [["0"] * (0 if w["random"] else len(w["factor"])) for w in uncertainty]
    one = {
        **part(np.zeros(keys.shape[1]), [0], len(uncertainty)),
        "moves": moves,
        **more.pop("part", {}),
    }
    one["constraints"][0] |= {"distribution": table, "multiplier": "7/3"}
    confidence = "9/10" if any(w["random"] for w in uncertainty) else "1"
    return document(
        keys,
        {0: least},
        claim="impossible",
        uncertainty=uncertainty,
        confidence=confidence,
        bound=bound(one, **evidence),
        **more,
    )


def test_a_twin_of_the_target_takes_half() -> None:
    assert both(impossible(TWINS, "0.51", {0: "1/2", 1: "1/2"})) == "verified"
    assert (
        both(impossible(TWINS, "0.51", {0: "5", 1: "5"})) == "verified"
    )  # shares need not sum to 1
    assert (
        both(impossible(TWINS, "1/2", {0: "1/2", 1: "1/2"})) == "rejected"
    )  # exactly half can be had
    assert (
        both(impossible(TWINS, "0.51", {0: "1/2", 1: "1/2", 2: "1e-300"})) == "rejected"
    )


def test_a_target_inside_the_others() -> None:
    assert both(impossible(INSIDE, "1/3", dict.fromkeys(range(4), "1/4"))) == "verified"
    assert (
        both(impossible(INSIDE, "1/3", None)) == "verified"
    )  # the same shares, from a query of 0
    assert (
        both(impossible(INSIDE, "1/3", {0: "1/4", 1: "1/4", 2: "1/4", 3: "1/5"}))
        == "rejected"
    )
    assert both(impossible(INSIDE + 1e-9 * np.eye(4)[:, :2], "1/3", None)) == "rejected"


@pytest.mark.parametrize("shares", [{}, {0: "0"}])
def test_a_distribution_without_mass(shares: dict[int, str]) -> None:
    assert both(impossible(TWINS, "0.9", shares)) == "rejected"


def test_sizes_far_apart_are_exact() -> None:
    keys = np.array([[1e300, 1e-300], [1e300, 1e-300], [5e-324, 1.0]])
    assert both(impossible(keys, "2/3", {0: "1/2", 1: "1/2"})) == "verified"
    keys[1, 1] = np.nextafter(keys[1, 1], 1)
    assert both(impossible(keys, "2/3", {0: "1/2", 1: "1/2"})) == "rejected"


def test_a_ball_is_as_wide_as_it_is() -> None:
    """V = (k_1 - k_0) / 2 has length 1/2, and the room is r (1/2 + 1/2)."""
    shares = {0: "1/2", 1: "1/2"}
    assert (
        both(impossible(LINE, "0.51", shares, uncertainty=[entry("*", ball="1/2")]))
        == "verified"
    )
    assert (
        both(
            impossible(
                LINE,
                "0.51",
                shares,
                uncertainty=[entry("*", ball="0.4999999999999999999999")],
            )
        )
        == "rejected"
    )
    assert (
        both(impossible(LINE, "0.51", shares, uncertainty=[entry([1], ball="1")]))
        == "verified"
    )
    assert (
        both(impossible(LINE, "0.51", shares, uncertainty=[entry([2], ball="1")]))
        == "rejected"
    )


def test_a_factor_moves_as_far_as_its_columns() -> None:
    uncertainty = [entry([0, 1], factor=[["3/5"], ["4/5"]])]
    moved = {"moves": [["3/10", "4/10"]]}  # by 1/2 towards each other
    assert (
        both(
            impossible(
                LINE, "0.51", {0: "1/2", 1: "1/2"}, uncertainty=uncertainty, part=moved
            )
        )
        == "verified"
    )
    assert (
        both(impossible(LINE, "0.51", {0: "1/2", 1: "1/2"}, uncertainty=uncertainty))
        == "rejected"
    )
    far = [[-2.0], [2.0], [5.0]]
    too_far = {"moves": [["-6/5", "-8/5"]]}
    assert (
        both(
            impossible(
                np.array(far),
                "0.51",
                {0: "1/2", 1: "1/2"},
                uncertainty=uncertainty,
                part=too_far,
            )
        )
        == "rejected"
    )


def test_scales_may_bring_keys_together() -> None:
    keys = np.array([[1.0], [2.0], [-1.0]])
    uncertainty, shares = [entry([1], ("1/2", "1"))], {0: "1/2", 1: "1/2"}
    assert (
        both(
            impossible(
                keys,
                "0.51",
                shares,
                uncertainty=uncertainty,
                evidence={"scales": {"1": "1/2"}},
            )
        )
        == "verified"
    )
    assert (
        both(impossible(keys, "0.51", shares, uncertainty=uncertainty)) == "verified"
    )  # low, as the score at 0 is not above 0
    assert (
        both(
            impossible(
                keys,
                "0.51",
                shares,
                uncertainty=uncertainty,
                evidence={"scales": {"1": "1"}},
            )
        )
        == "rejected"
    )
    assert (
        both(
            impossible(
                keys,
                "0.51",
                shares,
                uncertainty=uncertainty,
                evidence={"scales": {"1": "1/3"}},
            )
        )
        == "rejected"
    )
    own = [entry([0], ("1", "2"))]
    assert (
        both(impossible(keys, "0.51", shares, uncertainty=own)) == "verified"
    )  # high, for the target itself
    assert (
        both(
            impossible(
                keys,
                "0.51",
                shares,
                uncertainty=own,
                evidence={"own_scales": {"0": "3/2"}},
            )
        )
        == "rejected"
    )


def test_chance_moves_random_keys_together_as_far_as_the_deviations() -> None:
    """W = (-1/2, 1/2): V = -1/2, and z sqrt(r^2 / 4 + r^2 / 4) = z r / sqrt(2)."""
    shares, z = {0: "1/2", 1: "1/2"}, "1.28"  # P(N > 1.28) is above 1/10
    wide, narrow = (
        [entry("*", ball="0.5525", random=True)],
        [entry("*", ball="0.5523", random=True)],
    )
    assert (
        both(
            impossible(
                LINE, "0.51", shares, uncertainty=wide, evidence={"deviations": z}
            )
        )
        == "verified"
    )
    assert (
        both(
            impossible(
                LINE, "0.51", shares, uncertainty=narrow, evidence={"deviations": z}
            )
        )
        == "rejected"
    )
    assert (
        both(
            impossible(
                LINE, "0.51", shares, uncertainty=wide, evidence={"deviations": "1.29"}
            )
        )
        == "rejected"
    )
    by_factor = [
        entry("*", factor=[["0.6"]], random=True)
    ]  # pushed: W^2 0.36 p, twice, is 1/2
    pushed = {"push": ["25/9"]}
    assert (
        both(
            impossible(
                LINE,
                "0.51",
                shares,
                uncertainty=by_factor,
                evidence={"deviations": z},
                part=pushed,
            )
        )
        == "verified"
    )
    assert (
        both(
            impossible(
                LINE,
                "0.51",
                shares,
                uncertainty=by_factor,
                evidence={"deviations": "1.17"},
                part=pushed,
            )
        )
        == "rejected"
    )
    by_length = [entry([1], stretch="1", random=True)]  # W^2 <-1, p> (-1) is 1/2
    pushed = {"push": ["2"]}
    assert (
        both(
            impossible(
                LINE,
                "0.51",
                shares,
                uncertainty=by_length,
                evidence={"deviations": "1"},
                part=pushed,
            )
        )
        == "verified"
    )
    assert (
        both(
            impossible(
                LINE,
                "0.51",
                shares,
                uncertainty=by_length,
                evidence={"deviations": "0.99"},
                part=pushed,
            )
        )
        == "rejected"
    )


def test_parts_of_one_head_are_added_up_by_their_multipliers() -> None:
    """V is 1/2 in the first part and -1/2 in the second; each has room of r (1/2 + 1/2)."""
    parts = [part(np.zeros(1), [a]) for a in (0, 1)]
    for one in parts:
        one["constraints"][0] |= {
            "distribution": {"0": "1/2", "1": "1/2"},
            "multiplier": "7/3",
        }
    keys, least = np.array([[0.0], [1.0]]), {0: "0.6", 1: "0.6"}

    def verdict(*used: Any, uncertainty: Any = ()) -> str:
        return both(
            document(
                keys,
                least,
                claim="impossible",
                uncertainty=list(uncertainty),
                bound=bound(*used),
            )
        )

    assert verdict(*parts) == "verified"
    assert verdict(parts[0]) == "rejected"
    parts[1]["constraints"][0]["multiplier"] = (
        "7/2"  # V is (7/3 - 7/2) / 2 over 7/3 + 7/2, that is -1/10
    )
    assert verdict(*parts) == "rejected"
    for one in parts:
        one |= {"lifts": ["0"], "moves": [[]]}
    assert verdict(*parts, uncertainty=[entry("*", ball="1/10")]) == "verified"
    assert (
        verdict(*parts, uncertainty=[entry("*", ball="0.0999999999999999999999")])
        == "rejected"
    )
    parts[1]["constraints"][0]["multiplier"] = "0"
    assert verdict(*parts, uncertainty=[entry("*", ball="1")]) == "rejected"


def longer(
    least: dict[int, str],
    length: str,
    *parts: Any,
    keys: np.ndarray = INSIDE + [[5.0, 0.0]] * 4,
    **more: Any,
) -> Any:
    evidence = more.pop("evidence", {})
    return document(
        keys,
        least,
        claim="longer",
        none_shorter=length,
        bound=bound(*parts, **evidence),
        **more,
    )


def test_multipliers_of_zero_prove_nothing_and_do_no_harm() -> None:
    one = part(np.zeros(2), [0, 1])
    assert (
        both(longer({0: "0.9", 1: "0.05"}, "1e-6", one)) == "rejected"
    )  # ln 0.05 is too much
    one["constraints"][1]["multiplier"] = "0"
    assert both(longer({0: "0.9", 1: "0.05"}, "1e-6", one)) == "verified"
    one["constraints"][0]["multiplier"] = "0"
    assert both(longer({0: "0.9", 1: "0.05"}, "1e-6", one)) == "rejected"


def test_several_heads_are_bounded_by_what_they_give_together() -> None:
    parts = [part(np.zeros(2), [a]) for a in (1, 2)]
    evidence = {"among": [1, 2]}
    least = {
        1: "0.45",
        2: "0.45",
    }  # p = 0.9 / (0.9 + 2 / 10) = 9/11, of three keys: ln 3 + ln 9/11 = 0.8979
    V = np.linalg.norm([[1 / 3 * (0 + 0) - 2 / 3 * 1, 1 / 3 * (0 - 2) - 2 / 3 * 1]])
    length = Fraction(float((np.log(3) + np.log(9 / 11)) / V))
    assert (
        both(
            longer(
                least,
                str(float(length * Fraction("0.99999999"))),
                *parts,
                heads=2,
                evidence=evidence,
            )
        )
        == "verified"
    )
    assert (
        both(
            longer(
                least,
                str(float(length * Fraction("1.00000001"))),
                *parts,
                heads=2,
                evidence=evidence,
            )
        )
        == "rejected"
    )
    shared = part(np.zeros(2), [1])
    shared["constraints"][0]["distribution"] = {
        "0": "1",
        "1": "1",
        "2": "1",
    }  # another target has no share
    other = part(np.zeros(2), [2])
    other["constraints"][0]["distribution"] = {"0": "1", "2": "1"}
    assert (
        both(longer(least, "1e-9", shared, other, heads=2, evidence=evidence))
        == "rejected"
    )
    shared["constraints"][0]["distribution"] = {"0": "1", "1": "1"}
    assert (
        both(longer(least, "1e-9", shared, other, heads=2, evidence=evidence))
        == "verified"
    )


@pytest.mark.parametrize(
    ("change", "evidence"),
    [({"moves": [["1/2"], []]}, {}), ({}, {"own_scales": {"0": "1"}})],
)
def test_what_is_said_about_one_uncertainty_moves_nothing_in_it(
    change: dict[str, Any], evidence: dict[str, Any]
) -> None:
    uncertainty = [
        entry([0, 1], ("1/2", "2"), factor=[["0.1", "0"]]),
        entry("*", ball="0.1", random=True),
    ]
    one = {**part(np.zeros(2), [0, 1], 2), "moves": [["0"], []]}
    plain: dict[str, Any] = {
        "uncertainty": uncertainty,
        "confidence": "9/10",
        "evidence": {"deviations": "1"},
    }
    assert both(longer({0: "0.5", 1: "0.45"}, "1e-6", one, **plain)) == "verified"
    plain["evidence"] = {"deviations": "1", **evidence}
    assert (
        both(longer({0: "0.5", 1: "0.45"}, "1e-6", {**one, **change}, **plain))
        == "rejected"
    )


def test_where_random_keys_have_no_share_the_deviations_do_not_matter() -> None:
    keys, least = (
        np.vstack([INSIDE, [[0.0, 7.0]]]) + np.array([5.0, 0.0]),
        {1: "0.45", 2: "0.45"},
    )
    uncertainty = [entry([4], ball="0.1", random=True)]
    parts = [part(np.full(2, 0.1), [a], 1) for a in (1, 2)]
    made = longer(
        least,
        "1e-6",
        *parts,
        keys=keys,
        uncertainty=uncertainty,
        heads=2,
        confidence="1/10",
        evidence={"among": [1, 2], "deviations": "3"},
    )
    assert both(made) == "verified"
    made["statement"] |= {"heads": 1, "confidence": "9/10"}
    made["evidence"]["bound"] |= {"among": None, "parts": parts[:1]}
    made["statement"]["targets"] = {"1": "9/10"}
    assert both(made) == "rejected"
    made["evidence"]["bound"]["deviations"] = "1"
    assert both(made) == "verified"
