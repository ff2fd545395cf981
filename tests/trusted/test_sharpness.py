"""Where a statement turns from true to false, the checker turns with it: exact borders, from both sides."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from headwright import fast
from headwright.design.certify import designed, impossible
from headwright.design.wish import at_least, average, copy
from headwright.noise import Ball, Between, Ellipsoid, Isotropic, Noise, Normal, World
from headwright.trusted.keys import Keys
from headwright.trusted.verify import verify
from headwright.trusted.world import failure_above
from tests.trusted.making import ask


def _both(text: str) -> str:
    """The verdict of the trusted checker; the fast one must not accept more."""
    slow, quick = verify(text).word, fast.verify(text).word
    assert quick != "verified" or slow == "verified"
    return slow


def _proof(shares: dict[str, str], multiplier: str = "7", target: int = 0) -> list[dict[str, Any]]:
    return [{"scenario": 0, "target": target, "multiplier": multiplier, "distribution": shares}]


TWINS = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    "shares", [{"0": "3", "1": "3"}, {"0": "1/7", "1": "1/7"}, {"0": "0x1.8p+1", "1": "3", "2": "0"}]
)
def test_shares_are_normalised(shares: dict[str, str]) -> None:
    assert _both(impossible(ask(TWINS, at_least({0: "0.5000001"})), _proof(shares))) == "verified"
    assert _both(impossible(ask(TWINS, at_least({0: "1/2"})), _proof(shares))) == "rejected"
    assert _both(impossible(ask(TWINS, at_least({0: "0.4999999"})), _proof(shares))) == "rejected"


def test_different_denominators_are_added_up_exactly() -> None:
    keys = np.array([[0.0], [3.0], [-0.5], [1.0]])
    # 1/7 * 3 - 6/7 * 1/2 = 0.
    shares = {"1": "1/7", "2": "6/7"}
    wish = at_least({0: "0.99"})
    assert _both(impossible(ask(keys, wish), _proof(shares))) == "verified"
    assert _both(impossible(ask(keys, wish), _proof({"1": "1/7", "2": "5/7", "0": "1/7"}))) == "rejected"
    assert _both(impossible(ask(keys, wish), _proof({"1": "1/14", "2": "3/7", "0": "1/2"}))) == "verified"


def _two(distance: str, world: World, shares: dict[str, str], sure: str = "0.9") -> str:
    keys = np.array([[0.0], [float(Fraction(distance))], [9.0]])
    return impossible(ask(keys, at_least({0: "0.51"}), world, sure=sure), _proof(shares))


@pytest.mark.parametrize("shares", [{"0": "1", "1": "1"}, {"0": "5", "1": "5"}])
def test_keys_that_balls_can_bring_together_are_twins(shares: dict[str, str]) -> None:
    world = World({0: Noise(spread=Ball(0.25))}, others=Noise(spread=Ball(0.5)))
    assert _both(_two("0.75", world, shares)) == "verified"
    assert _both(_two("0.7500001", world, shares)) == "rejected"
    swapped = World({1: Noise(spread=Ball(0.5)), 2: Noise(spread=Ball(9.0))}, others=Noise(spread=Ball(0.25)))
    assert _both(_two("0.75", swapped, shares)) == "verified"
    assert _both(_two("0.7500001", swapped, shares)) == "rejected"


def test_balls_of_random_keys_reach_as_far_as_the_deviations() -> None:
    world = World({0: Noise(spread=Isotropic(1.0))})
    question = ask(np.array([[0.0], [1.0], [9.0]]), at_least({0: "0.51"}), world)
    reach = question.deviations  # one random key: the distance must be at most this
    for distance, word in ((float(reach) * 0.999, "verified"), (float(reach) * 1.001, "rejected")):
        assert _both(_two(repr(distance), world, {"0": "1", "1": "1"})) == word


def test_the_last_key_may_be_named_and_none_beyond_it() -> None:
    document = json.loads(
        designed(ask(np.eye(3), at_least({0: "0.1"})), np.zeros((1, 3)), np.zeros(3), np.ones((1, 1)), Fraction(0))
    )
    entry = {"keys": [2], "scale": ["1", "1"], "ball": "0", "stretch": "0", "factor": [], "random": False}
    for keys, word in (
        ([2], "verified"),
        ([3], "unreadable"),
        ([-1], "unreadable"),
        ([1, 1], "unreadable"),
        ([], "verified"),
    ):
        document["statement"]["world"] = [{**entry, "keys": keys}]
        assert _both(json.dumps(document)) == word
    for name, bad in (
        ("scale", ["2", "1"]),
        ("scale", ["1"]),
        ("ball", "-1"),
        ("stretch", "-1"),
        ("random", 0),
        ("random", None),
        ("factor", [["1"]]),
    ):
        document["statement"]["world"] = [{**entry, name: bad}]
        assert _both(json.dumps(document)) == "unreadable"
    document["statement"]["world"] = [{**entry, "keys": "*"}, {**entry, "keys": "*"}]
    assert _both(json.dumps(document)) == "unreadable"


def test_npy_of_version_2_is_read() -> None:
    content = io.BytesIO()
    np.lib.format.write_array(content, np.array([[1.5, 2.0]]), version=(2, 0))
    keys = Keys.of_npy(content.getvalue())
    assert [x / 2**keys.bits for x in keys.row(0)] == [1.5, 2.0]


def _line(q: float, wish: Any, world: World | None = None, keys: np.ndarray | None = None, scale: str = "1") -> str:
    """A certificate for keys on a line and a query on it, without a bound."""
    keys = np.array([[1.0], [-1.0]]) if keys is None else keys
    query, question = np.array([q]), ask(keys, wish, world, scale=scale)
    return designed(question, query[None], query, np.ones((len(question.keys), len(wish.least))), Fraction(0))


@pytest.mark.parametrize(
    ("world", "scale", "needed"),
    [
        # exp(up_1 - low_0) <= 1/8 with keys 1 and -1: 2q, less what the world takes away, must reach ln 8.
        (None, "1", np.log(8) / 2),
        (None, "-2", -np.log(8) / 4),
        (World({0: Noise(scale=Between(0.5, 3.0))}), "1", np.log(8) / 1.5),
        (World({1: Noise(scale=Between(0.5, 3.0))}), "1", np.log(8) / 1.5),
        (World({0: Noise(scale=Between(0.5, 3.0))}), "-2", -np.log(8) / 3.0),
        (World({0: Noise(spread=Ball(0.25))}), "1", np.log(8) / 1.75),
        (World(others=Noise(spread=Ball(0.25))), "1", np.log(8) / 1.5),
        (World(others=Noise(spread=Ball(0.25))), "-2", -np.log(8) / 3.0),
        (World({1: Noise(spread=Ellipsoid(np.array([[0.3, 0.4]])))}), "1", np.log(8) / 1.5),
        (World({0: Noise(scale=Between(0.5, 3.0), spread=Ball(0.25))}), "1", np.log(8) / 1.25),
    ],
)
def test_granting_turns_where_the_closed_form_says(world: World | None, scale: str, needed: float) -> None:
    wish = at_least({0: Fraction(8, 9)})
    assert _both(_line(needed * (1 + 1e-9), wish, world, scale=scale)) == "verified"
    assert _both(_line(needed * (1 - 1e-9), wish, world, scale=scale)) == "rejected"


@pytest.mark.parametrize(
    ("noise", "spread"),
    [
        (Noise(scale=Normal(1.0, 0.01)), 0.1),
        (Noise(spread=Isotropic(0.01)), 0.1),
        (Noise(scale=Normal(1.0, 0.0009), spread=Isotropic(0.0016)), 0.05),
    ],
)
def test_random_keys_are_guarded_to_the_stated_deviations(noise: Noise, spread: float) -> None:
    wish, world = at_least({0: Fraction(8, 9)}), World({0: noise})
    z = float(ask(np.array([[1.0], [-1.0]]), wish, world).deviations)
    needed = np.log(8) / (2 - z * spread)
    assert _both(_line(needed * (1 + 1e-9), wish, world)) == "verified"
    assert _both(_line(needed * (1 - 1e-9), wish, world)) == "rejected"


@pytest.mark.parametrize(("wish", "sides"), [(copy(0), 3), (average([0, 1]), 5)])
def test_failures_are_counted_by_side_and_head(wish: Any, sides: int) -> None:
    from headwright.trusted.certificate import parse

    world = World(others=Noise(spread=Isotropic(0.01)))
    question = ask(np.eye(3), wish, world)
    statement = parse(
        designed(question, np.zeros((1, 3)), np.zeros(3), np.ones((1, len(wish.least))), Fraction(0))
    ).statement
    assert question.random_sides == sides
    assert float(failure_above(statement)) == pytest.approx(0.1, rel=1e-6)
    assert failure_above(statement) <= Fraction(1, 10)


def test_bound_turns_where_the_closed_form_says() -> None:
    # Keys 1 and -1: |q| >= ln(slack^-1) / 2, reached with pi the pattern at that query.
    wish = at_least({0: Fraction(8, 9)})
    best = float(np.log(8) / 2)
    for scale, unit in (("1", 1.0), ("-2", -0.5), ("1/3", 3.0)):
        question = ask(np.array([[1.0], [-1.0]]), wish, scale=scale)
        q = np.array([best * unit])
        for factor, word in ((1 - 1e-9, "verified"), (1 + 1e-9, "rejected")):
            text = designed(
                question, q[None] * (1 + 1e-12), q, np.array([[5.0]]), Fraction(repr(abs(best * unit) * factor))
            )
            assert _both(text) == word


def test_bound_in_balls_uses_the_worst_admissible_place() -> None:
    wish, world = at_least({0: Fraction(8, 9)}), World({0: Noise(spread=Ball(0.25))}, others=Noise(spread=Ball(0.5)))
    question = ask(np.array([[1.0], [-1.0]]), wish, world)
    q = np.array([np.log(8) / 1.25])
    for factor, word in ((1 - 1e-9, "verified"), (1 + 1e-9, "rejected")):
        text = designed(question, q[None] * (1 + 1e-12), q, np.ones((1, 1)), Fraction(repr(float(q[0]) * factor)))
        assert _both(text) == word


def test_a_bound_from_a_query_that_proves_nothing_is_rejected() -> None:
    question = ask(np.array([[1.0], [-1.0]]), at_least({0: Fraction(8, 9)}))
    text = designed(question, np.array([[2.0]]), np.array([40.0]), np.ones((1, 1)), Fraction("0.0001"))
    assert _both(text) == "rejected"


def test_scenarios_each_count() -> None:
    wish = at_least({0: Fraction(8, 9)})
    near = np.array([[1.0], [0.0]])
    world = World(scenarios=(np.array([[1.0], [-1.0]]), near))
    assert _both(_line(float(np.log(8)) * (1 + 1e-9), wish, world)) == "verified"
    assert _both(_line(float(np.log(8)) * (1 - 1e-9), wish, world)) == "rejected"
    question = ask(near, wish, world)
    q = np.array([float(np.log(8))])
    for multipliers, factor, word in (
        ([[0.0], [1.0]], 1 - 1e-9, "verified"),
        ([[1.0], [0.0]], 1 - 1e-9, "rejected"),
        ([[0.0], [1.0]], 1 + 1e-9, "rejected"),
    ):
        text = designed(question, q[None] * (1 + 1e-12), q, np.array(multipliers), Fraction(repr(float(q[0]) * factor)))
        assert _both(text) == word


def test_words_round_down() -> None:
    text = designed(
        ask(np.eye(2), at_least({0: "0.3333339999"})), np.zeros((1, 2)), np.zeros(2), np.ones((1, 1)), Fraction(0)
    )
    assert "at least 0.333333." in verify(text).words


def _document(keys: tuple[np.ndarray, ...] = (np.eye(2),)) -> dict[str, Any]:
    world = World(scenarios=keys) if len(keys) > 1 else None
    text = designed(
        ask(keys[0], at_least({0: "0.1"}), world), np.zeros((1, 2)), np.zeros(2), np.ones((len(keys), 1)), Fraction(0)
    )
    document: dict[str, Any] = json.loads(text)
    return document


def test_scenarios_of_different_shapes_are_unreadable() -> None:
    document = _document((np.eye(2), np.ones((2, 2))))
    assert _both(json.dumps(document)) == "verified"
    document["statement"]["keys"][1] = _document((np.ones((3, 2)),))["statement"]["keys"][0]
    assert "one shape" in verify(json.dumps(document)).words


def test_a_query_of_other_numbers_than_floats_is_rejected() -> None:
    document = _document()
    document["evidence"]["queries"] = [["1/3", "0"]]
    assert "not made of floats" in verify(json.dumps(document)).words
    document["evidence"]["queries"] = []
    assert "not empty" in verify(json.dumps(document)).words


@pytest.mark.parametrize(
    "wish",
    [[], "0", {"0": "x"}, {"-1": "0.1"}, {"0.0": "0.1"}, {"00": "0.1"}, {"2": "0.1"}, {"9" * 20: "0.1"}, {"٠": "0.1"}],
)
def test_a_wish_that_is_no_table_of_targets_is_unreadable(wish: Any) -> None:
    document = _document()
    document["statement"]["wish"] = wish
    assert _both(json.dumps(document)) == "unreadable"


def test_another_byte_order_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.byteorder", "big")
    assert "little-endian" in verify(json.dumps(_document())).words


@pytest.mark.parametrize("rows", [[["0x1.0p+0"], ["0x1.0p+0"]], "rows", [["0x1.0p+0", "0x0.0p+0"]], [[1, 0], [0, 1]]])
def test_rows_that_are_not_the_keys_are_unreadable(rows: Any) -> None:
    document = _document()
    document["statement"]["keys"][0]["rows"] = rows
    assert _both(json.dumps(document)) == "unreadable"


def test_negative_zero_is_told_from_zero_by_the_digest() -> None:
    document = _document((np.array([[-0.0, 1.0], [1.0, 0.0]]),))
    assert document["statement"]["keys"][0]["rows"][0][0].startswith("-")
    assert _both(json.dumps(document)) == "verified"
    document["statement"]["keys"][0]["rows"][0][0] = "0x0.0p+0"
    assert _both(json.dumps(document)) == "unreadable"


def test_each_of_several_targets_is_measured_from_its_own_score() -> None:
    keys, q = np.array([[2.0], [1.0], [0.0]]), 1.0
    weights = np.exp([2.0, 1.0, 0.0]) / np.exp([2.0, 1.0, 0.0]).sum()
    for target in (0, 1):
        for factor, word in ((1 - 1e-12, "verified"), (1 + 1e-12, "rejected")):
            least = {0: "0.1", 1: "0.1", target: repr(float(weights[target]) * factor)}
            assert _both(_line(q, at_least(least), keys=keys)) == word


def test_far_distractors_cost_nothing_and_many_are_counted() -> None:
    wish = at_least({0: Fraction(8, 9)})
    far = np.array([[1.0], [-1.0], *[[-1000.0]] * 50])
    many = np.array([[1.0], *[[-1.0]] * 1500])
    for keys, count in ((far, 1), (many, 1500)):
        needed = float(np.log(8 * count)) / 2
        assert _both(_line(needed * (1 + 1e-9), wish, keys=keys)) == "verified"
        assert _both(_line(needed * (1 - 1e-9), wish, keys=keys)) == "rejected"
        q = np.array([needed])
        for factor, word in ((1 - 1e-9, "verified"), (1 + 1e-9, "rejected")):
            text = designed(ask(keys, wish), q[None] * (1 + 1e-12), q, np.ones((1, 1)), Fraction(repr(needed * factor)))
            assert _both(text) == word


def test_room_of_several_constraints_adds_up() -> None:
    # Both targets are pulled onto each other's side: each constraint alone leaves something over.
    keys, world = np.array([[0.0], [1.0], [9.0]]), World(others=Noise(spread=Ball(0.5)))
    shares = {"0": "1", "1": "1"}
    constraints = [{"scenario": 0, "target": a, "multiplier": "1", "distribution": shares} for a in (0, 1)]
    assert _both(impossible(ask(keys, at_least({0: "0.51", 1: "0.489"}), world), constraints)) == "rejected"
    assert _both(impossible(ask(keys, at_least({0: "0.51", 1: "0.489"}), world), constraints[:1])) == "verified"


def test_all_of_the_weight_can_only_be_had_by_a_key_that_is_alone() -> None:
    everything = at_least({0: "1"})
    assert _both(_line(3.0, everything, keys=np.array([[1.0]]))) == "verified"
    assert _both(_line(3000.0, everything)) == "rejected"
