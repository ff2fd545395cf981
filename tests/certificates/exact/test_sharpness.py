"""Where a statement turns from true to false, the checker turns with it: exact borders, from both sides."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from headwright.certificates.exact.verify import verify
from tests.certificates.exact.making import (
    both,
    bound,
    certificate,
    deviations,
    of,
    part,
    spread,
)

LINE = np.array([[1.0], [-1.0]])
TWINS = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
TARGETS = {0: "8/9"}  # exp(up_1 - low_0) <= 1/8
HALF = {"0": "1", "1": "1"}
NEAR = (
    (1 - 1e-9, "verified"),
    (1 + 1e-9, "rejected"),
)  # of a length that none falls short of
NOTHING: dict[str, Any] = {"lifts": ["0"], "moves": [[]]}


def _impossible(
    keys: np.ndarray, targets: dict[int, str], *constraints: Any, **more: Any
) -> dict[str, Any]:
    still: dict[str, Any] = {
        "lifts": ["0"] * len(more.get("uncertainty", ())),
        "moves": [[] for _ in more.get("uncertainty", ())],
    }
    return certificate(
        keys,
        targets,
        claim="impossible",
        bound=bound(part([0] * keys.shape[1], *constraints, **still)),
        **more,
    )


@pytest.mark.parametrize(
    "shares",
    [
        {"0": "3", "1": "3"},
        {"0": "1/7", "1": "1/7"},
        {"0": "0x1.8p+1", "1": "3", "2": "0"},
    ],
)
def test_shares_are_normalised(shares: dict[str, str]) -> None:
    for least, word in (
        ("0.5000001", "verified"),
        ("1/2", "rejected"),
        ("0.4999999", "rejected"),
    ):
        assert both(_impossible(TWINS, {0: least}, of(0, shares, "7"))) == word


def test_different_denominators_are_added_up_exactly() -> None:
    keys, targets = (
        np.array([[0.0], [3.0], [-0.5], [1.0]]),
        {0: "0.99"},
    )  # 1/7 * 3 - 6/7 * 1/2 = 0
    assert (
        both(_impossible(keys, targets, of(0, {"1": "1/7", "2": "6/7"}))) == "verified"
    )
    assert (
        both(_impossible(keys, targets, of(0, {"1": "1/7", "2": "5/7", "0": "1/7"})))
        == "rejected"
    )
    assert (
        both(_impossible(keys, targets, of(0, {"1": "1/14", "2": "3/7", "0": "1/2"})))
        == "verified"
    )


def test_keys_that_balls_can_bring_together_are_twins() -> None:
    for own, others in (("1/4", "1/2"), ("1/2", "1/4")):
        uncertainty = [spread([0], ball=own), spread(ball=others)]
        for distance, word in ((0.75, "verified"), (0.7500001, "rejected")):
            assert (
                both(
                    _impossible(
                        np.array([[0.0], [distance], [9.0]]),
                        {0: "0.51"},
                        of(0, HALF),
                        uncertainty=uncertainty,
                    )
                )
                == word
            )


def test_room_of_several_constraints_adds_up() -> None:
    keys, uncertainty, targets = (
        np.array([[0.0], [1.0], [9.0]]),
        [spread(ball="1/2")],
        {0: "0.51", 1: "0.489"},
    )
    assert (
        both(
            _impossible(
                keys, targets, of(0, HALF), of(1, HALF), uncertainty=uncertainty
            )
        )
        == "rejected"
    )  # ln 0.51 + ln 0.489
    assert (
        both(_impossible(keys, targets, of(0, HALF), uncertainty=uncertainty))
        == "verified"
    )
    assert (
        both(
            _impossible(
                keys,
                {0: "0.51", 1: "0.491"},
                of(0, HALF),
                of(1, HALF),
                uncertainty=uncertainty,
            )
        )
        == "verified"
    )


@pytest.mark.parametrize(
    ("noise", "reach"),
    [
        # Key 1 is at a distance of key 0; with W = 1/2 each, V = distance / 2.
        (spread([1], ball="1/2", random=True), 0.5),
        (spread([0], ball="1/2", random=True), 0.5),
        (spread(ball="1/2", random=True), 0.5 * math.sqrt(2)),
        (spread([1], factor=[["3/10"], ["2/5"]], random=True), 0.5),
        (spread([1], ball="0.3", factor=[["2/5"]], random=True), 0.5),
        (spread([0], factor=[["1/2"]], random=True), 0.5),
    ],
)
def test_random_keys_come_together_as_far_as_the_confidence_says(
    noise: Any, reach: float
) -> None:
    """P(s_0 > s_1) is Phi(distance / reach) for a query towards key 0: below 0.95 none gives key 0 more than half."""
    z = deviations(0.05)
    for factor, word in NEAR:
        distance = z * reach * factor
        push = (
            [str(-2 * Fraction(distance) / Fraction(reach) ** 2)]
            if noise["factor"]
            else None
        )  # W^2 E E^T p = -V, W = 1/2
        pushed = part([0], of(0, HALF), **NOTHING, push=push)
        document = certificate(
            np.array([[0.0], [distance], [99.0]]),
            {0: "0.500001"},
            claim="impossible",
            uncertainty=[noise],
            confidence="0.95",
            bound=bound(pushed, deviations=repr(z - 1e-12)),
        )
        assert both(document) == word, factor


def test_random_lengths_come_together_as_far_as_the_confidence_says() -> None:
    z = deviations(0.05)
    for stretch, word in ((1 / z + 1e-9, "verified"), (1 / z - 1e-9, "rejected")):
        # Key 1, at 1, is stretched by t: V = 1/2, pushed = t^2 p / 4, used = t^2 p^2 / 4 <= z^2.
        exact = Fraction(repr(stretch))
        pushed = part([0], of(0, HALF), **NOTHING, push=[str(-2 / exact**2)])
        document = certificate(
            np.array([[0.0], [1.0], [99.0]]),
            {0: "0.500001"},
            claim="impossible",
            confidence="0.95",
            uncertainty=[spread([1], stretch=repr(stretch), random=True)],
            bound=bound(pushed, deviations=repr(z - 1e-12)),
        )
        assert both(document) == word


@pytest.mark.parametrize(
    ("uncertainty", "scale", "needed"),
    [
        # Keys 1 and -1: 2q, less what the uncertainty takes away, must reach ln 8.
        ([], "1", math.log(8) / 2),
        ([], "-2", -math.log(8) / 4),
        ([spread([0], scale=("1/2", "3"))], "1", math.log(8) / 1.5),
        ([spread([1], scale=("1/2", "3"))], "1", math.log(8) / 1.5),
        ([spread([0], scale=("1/2", "3"))], "-2", -math.log(8) / 3.0),
        ([spread([0], ball="1/4")], "1", math.log(8) / 1.75),
        ([spread(ball="1/4")], "1", math.log(8) / 1.5),
        ([spread(ball="1/4")], "-2", -math.log(8) / 3.0),
        ([spread([1], factor=[["0.3"], ["0.4"]])], "1", math.log(8) / 1.5),
        ([spread([0], factor=[["0.3"], ["0.4"]])], "-2", -math.log(8) / 3.0),
        ([spread([0], scale=("1/2", "3"), ball="1/4")], "1", math.log(8) / 1.25),
        (
            [spread([0], scale=("1/3", "1/2")), spread([1], scale=("-1/7", "-1/9"))],
            "1",
            math.log(8) / (1 / 3 - 1 / 7),
        ),
    ],
)
def test_meeting_turns_where_the_closed_form_says(
    uncertainty: list[Any], scale: str, needed: float
) -> None:
    for factor, word in ((1 + 1e-9, "verified"), (1 - 1e-9, "rejected")):
        assert (
            both(
                certificate(
                    LINE, TARGETS, needed * factor, uncertainty=uncertainty, scale=scale
                )
            )
            == word
        )


@pytest.mark.parametrize("kind", ["keys", "pairs"])
@pytest.mark.parametrize(
    ("noise", "sizes"),
    [
        (spread([0], stretch="0.1", random=True), (0.1, 0)),
        (spread([0], ball="0.1", random=True), (0.1, 0)),
        (spread([0], ball="0.03", stretch="0.04", random=True), (0.05, 0)),
        (spread([0], factor=[["0.03"], ["0.04"]], random=True), (0.05, 0)),
        (spread([1], ball="0.03", stretch="0.04", random=True), (0, 0.05)),
        (spread(ball="0.03", stretch="0.04", random=True), (0.05, 0.05)),
        (spread(factor=[["0.05"]], random=True), (0.05, 0.05)),
    ],
)
def test_random_keys_are_guarded_to_the_stated_deviations(
    noise: Any, sizes: tuple[float, float], kind: str
) -> None:
    ways = sum(size > 0 for size in sizes) if kind == "keys" else 1
    z = deviations(0.1 / ways) + 1e-9
    needed = math.log(8) / (
        2 - z * (sum(sizes) if kind == "keys" else math.hypot(*sizes))
    )
    for factor, more, word in (
        (1 + 1e-8, 0, "verified"),
        (1 - 1e-8, 0, "rejected"),
        (1 + 1e-3, -2e-9, "rejected"),
    ):
        guard = {"kind": kind, "deviations": repr(z + more)}
        text = certificate(
            LINE,
            TARGETS,
            needed * factor,
            uncertainty=[noise],
            confidence="0.9",
            guard=guard,
        )
        assert both(text) == word, (factor, more)


@pytest.mark.parametrize(
    ("keys", "random", "targets", "by_keys", "by_pairs"),
    [
        (3, "*", [0], 3, 2),
        (3, "*", [0, 1], 5, 4),
        (3, [0], [0], 1, 1),  # the target sinks: one way, whoever the rivals are
        (3, [1], [0], 1, 1),
        (3, [1], [0, 2], 1, 2),
        (3, [0, 1], [0], 2, 2),  # the random rival; and the certain one
        (3, [0, 1], [0, 1], 4, 4),
        (4, [3], [0, 1, 2], 1, 3),
        (2, [0], [0, 1], 2, 2),
    ],
)
def test_ways_to_fail_are_counted(
    keys: int, random: Any, targets: list[int], by_keys: int, by_pairs: int
) -> None:
    """A query of 0 needs no guard, so that only the probability decides: exactly, at the number of ways."""
    K, least, uncertainty = (
        np.eye(keys),
        dict.fromkeys(targets, "1/5"),
        [spread(random, ball="1", random=True)],
    )
    for kind, ways in (("keys", by_keys), ("pairs", by_pairs)):
        for heads in (1, 3):
            for tail, word in (
                (0.2 * (1 + 1e-9), "verified"),
                (0.2 * (1 - 1e-9), "rejected"),
            ):
                guard = {
                    "kind": kind,
                    "deviations": repr(deviations(0.2 / ways / heads)),
                }
                queries, sure = [np.zeros(keys)] * heads, repr(1 - tail)
                assert (
                    both(
                        certificate(
                            K,
                            least,
                            *queries,
                            uncertainty=uncertainty,
                            confidence=sure,
                            guard=guard,
                        )
                    )
                    == word
                )


def test_bound_turns_where_the_closed_form_says() -> None:
    best = math.log(8) / 2  # reached with pi the pattern at that query
    for scale, unit in (("1", 1.0), ("-2", -0.5), ("1/3", 3.0)):
        q = best * unit
        for factor, word in NEAR:
            proof = bound(part(q, of(multiplier="5")))
            more: dict[str, Any] = {
                "scale": scale,
                "none_shorter": repr(abs(q) * factor),
                "bound": proof,
            }
            assert both(certificate(LINE, TARGETS, q * (1 + 1e-12), **more)) == word
            assert both(certificate(LINE, TARGETS, claim="longer", **more)) == word
            explicit = bound(part(0, of(shares={"0": "8", "1": "1"}, multiplier="3")))
            assert (
                both(
                    certificate(
                        LINE, TARGETS, claim="longer", **{**more, "bound": explicit}
                    )
                )
                == word
            )


@pytest.mark.parametrize(
    ("uncertainty", "scale", "needed", "lifts", "moves"),
    [
        (
            [spread([0], ball="1/4"), spread(ball="1/2")],
            "1",
            1.25,
            [0.25, 0.5],
            [[], []],
        ),
        (
            [spread([0], ball="1/4"), spread(ball="1/2")],
            "-1",
            -1.25,
            [0.25, 0.5],
            [[], []],
        ),
        ([spread([1], factor=[["0.3"], ["0.4"]])], "1", 1.5, [0.5], [["0.6", "0.8"]]),
        ([spread([0], factor=[["0.3"], ["0.4"]])], "1", 1.5, [0.5], [["0.6", "0.8"]]),
        ([spread([0], factor=[["0.5"]])], "-2", -3.0, [1.0], [["1"]]),
        ([spread([0], scale=("1/2", "3"))], "1", 1.5, [0], [[]]),
        (
            [spread([1], scale=("1/2", "3")), spread([0], ball="1/2")],
            "1",
            1.0,
            [0, 0.5],
            [[], []],
        ),
    ],
)
def test_bound_in_uncertainties_turns_where_the_closed_form_says(
    uncertainty: list[Any],
    scale: str,
    needed: float,
    lifts: list[float],
    moves: list[list[str]],
) -> None:
    q = math.log(8) / needed
    proof = part(q, lifts=[repr(abs(q) * lift) for lift in lifts], moves=moves)
    for factor, word in NEAR:
        more: dict[str, Any] = {
            "uncertainty": uncertainty,
            "scale": scale,
            "bound": bound(proof),
            "none_shorter": repr(abs(q) * factor),
        }
        assert both(certificate(LINE, TARGETS, q * (1 + 1e-12), **more)) == word


@pytest.mark.parametrize("sizes", [(0.1, 0.0), (0.0, 0.1), (0.06, 0.08)])
def test_bound_for_random_keys_turns_where_the_closed_form_says(
    sizes: tuple[float, float],
) -> None:
    """Two keys: the target is s_0 - s_1 >= ln 8, of mean 2q and deviation q hypot(sizes): q >= ln 8 / (2 - z hypot)."""
    z = deviations(0.05)
    q = math.log(8) / (2 - z * math.hypot(*sizes))
    uncertainty = [
        spread([i], ball=repr(size), random=True)
        for i, size in enumerate(sizes)
        if size
    ]
    proof = part(
        0,
        of(shares={"0": "8", "1": "1"}),
        lifts=["0"] * len(uncertainty),
        moves=[[] for _ in uncertainty],
    )
    for factor, word in NEAR:
        more: dict[str, Any] = {
            "uncertainty": uncertainty,
            "confidence": "0.95",
            "bound": bound(proof, deviations=repr(z - 1e-12)),
        }
        assert (
            both(
                certificate(
                    LINE, TARGETS, claim="longer", none_shorter=repr(q * factor), **more
                )
            )
            == word
        )


def test_bound_by_scores_gives_random_keys_their_room_and_push() -> None:
    """The same by scores, in two dimensions, with distractors that are random in length, in a factor and all round."""
    keys = np.array([[1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]])
    uncertainty = [
        spread([1], ball="0.1", random=True),
        spread([2], stretch="0.2", random=True),
        spread([3], factor=[["0.3", "0"]], random=True),
    ]
    z, q = deviations(0.05), math.log(24) / 2
    # pi is 8/9 and three times 1/27: W_j^2 = 1/729, and the deviations are 0.1, 0.2 and 0.3.
    reach = z * math.sqrt(0.14) / 27
    push = 27 * z / math.sqrt(0.14)  # of which the share of the ball is left as room
    best = 2 / 9 * q / (2 / 9 - reach)
    proof = part([q, 0], lifts=["0"] * 3, moves=[[]] * 3, push=[repr(push), "0"])
    for factor, word in ((1 - 1e-6, "verified"), (1 + 1e-6, "rejected")):
        more: dict[str, Any] = {
            "uncertainty": uncertainty,
            "confidence": "0.95",
            "bound": bound(proof, deviations=repr(z - 1e-12)),
        }
        assert (
            both(
                certificate(
                    keys,
                    TARGETS,
                    claim="longer",
                    none_shorter=repr(best * factor),
                    **more,
                )
            )
            == word
        )


def test_a_bound_from_a_query_that_proves_nothing_is_rejected() -> None:
    assert (
        both(
            certificate(
                LINE, TARGETS, 2.0, none_shorter="0.0001", bound=bound(part(40.0))
            )
        )
        == "rejected"
    )


def test_scenarios_each_count() -> None:
    scenarios, needed = [LINE, np.array([[1.0], [0.0]])], math.log(8)
    for factor, word in ((1 + 1e-9, "verified"), (1 - 1e-9, "rejected")):
        assert both(certificate(scenarios, TARGETS, needed * factor)) == word
    for multipliers, factor, word in (
        (("0", "1"), 1 - 1e-9, "verified"),
        (("1", "0"), 1 - 1e-9, "rejected"),
        (("0", "1"), 1 + 1e-9, "rejected"),
    ):
        constraints = [
            of(0, None, multiplier, scenario)
            for scenario, multiplier in enumerate(multipliers)
        ]
        more: dict[str, Any] = {
            "none_shorter": repr(needed * factor),
            "bound": bound(part(needed, *constraints)),
        }
        assert (
            both(certificate(scenarios, TARGETS, needed * (1 + 1e-12), **more)) == word
        )


def test_each_of_several_targets_is_measured_from_its_own_score() -> None:
    keys = np.array([[2.0], [1.0], [0.0]])
    weights = np.exp([2.0, 1.0, 0.0]) / np.exp([2.0, 1.0, 0.0]).sum()
    for target in (0, 1):
        for factor, word in ((1 - 1e-12, "verified"), (1 + 1e-12, "rejected")):
            least = {0: "0.1", 1: "0.1", target: repr(float(weights[target]) * factor)}
            assert both(certificate(keys, least, 1.0)) == word


def test_far_distractors_cost_nothing_and_many_are_counted() -> None:
    far = np.array([[1.0], [-1.0], *[[-1000.0]] * 50])
    many = np.array([[1.0], *[[-1.0]] * 1500])
    for keys, count in ((far, 1), (many, 1500)):
        needed = math.log(8 * count) / 2
        assert both(certificate(keys, TARGETS, needed * (1 + 1e-9))) == "verified"
        assert both(certificate(keys, TARGETS, needed * (1 - 1e-9))) == "rejected"
        for factor, word in NEAR:
            more: dict[str, Any] = {
                "none_shorter": repr(needed * factor),
                "bound": bound(part(needed)),
            }
            assert (
                both(certificate(keys, TARGETS, needed * (1 + 1e-12), **more)) == word
            )


def test_heads_share_their_targets_to_the_last_digit() -> None:
    """Each head gives its own target e^4 / (e^4 + 3) and the other 1 / (e^4 + 3): on average half of their sum."""
    keys, big = np.eye(4), math.exp(4)
    for factor, word in ((1 - 1e-12, "verified"), (1 + 1e-12, "rejected")):
        least = repr((big + 1) / (big + 3) / 2 * factor)
        assert (
            both(certificate(keys, {0: least, 1: least}, 4 * keys[0], 4 * keys[1]))
            == word
        )


@pytest.mark.parametrize("among", [[0], [0, 1], [1, 0]])
def test_bound_for_heads_turns_where_the_closed_form_says(among: list[int]) -> None:
    """Rivals outside `among` sum to m (1 - P) / P: on np.eye the shortest is ln(rivals P / (m (1 - P))) / sqrt(...)."""
    keys, m = np.eye(5), len(among)
    P = 0.45 * m
    floor = P / (P + m * (1 - P))
    rivals = [i for i in range(5) if i not in among]
    margin = math.log(len(rivals) * floor / (1 - floor))
    parts = []
    for a in among:
        direction = keys[a] - keys[rivals].mean(axis=0)
        parts.append(part(margin * direction / (direction @ direction), of(a)))
    best = margin / math.sqrt(1 + 1 / len(rivals))
    for factor, word in NEAR:
        more: dict[str, Any] = {
            "none_shorter": repr(best * factor),
            "bound": bound(*parts, among=among),
        }
        assert (
            both(
                certificate(
                    keys, {0: "0.45", 1: "0.45"}, claim="longer", heads=2, **more
                )
            )
            == word
        )


def test_all_of_the_weight_can_only_be_had_by_a_key_that_is_alone() -> None:
    assert both(certificate(np.array([[1.0]]), {0: "1"}, 3.0)) == "verified"
    assert both(certificate(LINE, {0: "1"}, 600.0)) == "rejected"


def test_equal_scores_are_exactly_equal() -> None:
    for keys in (3, 7):
        K = np.full((keys, 2), 0.1)
        for least, word in (
            (f"1/{keys}", "verified"),
            (f"{10**30 + 1}/{keys * 10**30}", "rejected"),
        ):
            assert both(certificate(K, {0: least, 2: least}, [0.7, -3.1])) == word
            assert both(certificate(K, {0: least}, [0.7, -3.1], scale="-2/7")) == word


def test_many_targets_cost_no_more_than_their_number() -> None:
    """A constraint for each of 60 targets under uncertainty: fractions of as many denominators would not end."""
    keys = np.vstack([np.eye(60), np.zeros((1, 60))])
    uncertainty = [spread(scale=("0.999", "1.001"))]
    constraints = [of(a) for a in range(60)]
    proof = bound(part(np.full(60, 0.05), *constraints, **NOTHING))
    targets = dict.fromkeys(range(60), "0.0165")
    document = certificate(
        keys,
        targets,
        np.full(60, 3.0),
        uncertainty=uncertainty,
        bound=proof,
        none_shorter="1e-9",
    )
    assert verify(json.dumps(document)).word == "verified"


def test_parts_are_added_up_by_their_multipliers() -> None:
    """Key 0 is at 1 or at -1 and its rival at 0: each part leaves half of that over, and together nothing."""
    scenarios = [np.array([[1.0], [0.0]]), np.array([[-1.0], [0.0]])]
    for multipliers, word in (
        (("3", "3"), "verified"),
        (("3", "3.0000001"), "rejected"),
        (("3", "0"), "rejected"),
    ):
        parts = [
            part(0, of(0, HALF, multiplier, scenario))
            for scenario, multiplier in enumerate(multipliers)
        ]
        assert (
            both(
                certificate(
                    scenarios, {0: "0.51"}, claim="impossible", bound=bound(*parts)
                )
            )
            == word
        )


def test_each_part_has_a_push_and_a_room_of_its_own() -> None:
    """Two targets on either side of a random key that comes as near to each as z says, but not to both at once."""
    z, targets = deviations(0.05), {0: "0.5001", 1: "0.4"}
    for factor, word in NEAR:
        keys = np.array([[1.0], [-1.0], [1.0 + z * factor]])
        # Key 2 is a rival of key 0 at a distance of z deviations: V = z/2, pushed back by W^2 p = -z/2.
        exact = -2 * Fraction(keys[2, 0] - 1.0)
        pushed = part(0, of(0, {"0": "1", "2": "1"}), **NOTHING, push=[str(exact)])
        twice = bound(pushed, pushed, deviations=repr(z - 1e-12))
        uncertainty = [spread([2], factor=[["1"]], random=True)]
        more: dict[str, Any] = {
            "claim": "impossible",
            "uncertainty": uncertainty,
            "confidence": "0.95",
        }
        assert both(certificate(keys, targets, bound=twice, **more)) == word
        other = part(0, of(0, {"0": "1", "2": "1"}), **NOTHING, push=[str(exact * 2)])
        idle = part(0, of(0, {"0": "1", "2": "1"}), **NOTHING)
        uneven = bound(
            other, idle, deviations=repr(z - 1e-12)
        )  # V adds up to 0, but one push is beyond the deviations
        assert both(certificate(keys, targets, bound=uneven, **more)) == "rejected"
