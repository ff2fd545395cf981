"""The checker: true statements are accepted, and nothing else."""

from __future__ import annotations

import copy as copying
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from headwright.design.certify import designed, impossible
from headwright.design.statement import Question
from headwright.design.wish import at_least, average, copy
from headwright.noise import (
    Ball,
    Between,
    Covariance,
    Ellipsoid,
    Isotropic,
    Noise,
    Normal,
    OneOf,
    World,
)
from headwright.trusted.verify import verify
from tests.trusted.making import ask, certificate

RNG = np.random.default_rng(11)
K = RNG.normal(size=(9, 8))  # affinely independent: every wish that adds up is possible
E = 0.05 * RNG.normal(size=(8, 2))
QUESTIONS: dict[str, Question] = {
    "copy": ask(K, copy(3)),
    "copy with eps 1e-30": ask(K, copy(3, eps="1e-30")),
    "copy at scale -1/2": ask(K, copy(3), scale="-1/2"),
    "average of two": ask(K, average([1, 4], eps=0.5)),
    "lower bounds": ask(np.eye(4), at_least({0: 0.5, 2: "2/5"})),
    "orthonormal keys": ask(np.eye(5), average([0, 1])),
    "scenarios": ask(K, copy(3), World(scenarios=(K, K + 0.1 * RNG.normal(size=K.shape)))),
    "scale between": ask(K, copy(3), World({3: Noise(scale=Between(0.5, 1.5)), 5: Noise(scale=Between(0.9, 1.1))})),
    "scale one of": ask(np.eye(4), average([0, 1], eps=1), World({0: Noise(scale=OneOf((0.9, 1.0, 1.1)))})),
    "ball": ask(K, copy(3), World({3: Noise(spread=Ball(0.05))}, others=Noise(spread=Ball(0.01)))),
    "ellipsoid": ask(K, copy(3), World({3: Noise(spread=Ellipsoid(E))})),
    "gaussian key": ask(K, copy(3), World({3: Noise(spread=Isotropic(1e-4))})),
    "gaussian length": ask(K, copy(3), World({3: Noise(scale=Normal(1.0, 0.01), spread=Isotropic(1e-4))})),
    "all gaussian": ask(K, average([1, 4], eps=0.5), World(others=Noise(spread=Covariance(E @ E.T)))),
}
MADE = {name: certificate(question) for name, question in QUESTIONS.items()}


@pytest.mark.parametrize("name", MADE)
def test_true_statements_are_verified_in_words(name: str) -> None:
    verdict = verify(MADE[name])
    assert verdict.word == "verified", verdict.words
    assert "a weight of at least" in verdict.words
    assert "shorter than" in verdict.words
    assert ("with probability at least 0.9" in verdict.words) == ("gaussian" in name)


def _shorter(document: dict[str, Any]) -> None:
    query = document["evidence"]["queries"][0]
    document["evidence"]["queries"][0] = [(float.fromhex(x) * (1 - 1e-3)).hex() for x in query]


def _longer_bound(document: dict[str, Any]) -> None:
    bound = Fraction(document["statement"]["none_shorter"])
    document["statement"]["none_shorter"] = repr(float(bound * (1 + Fraction(1, 1000))))


def _greedier(document: dict[str, Any]) -> None:
    for key, p in document["statement"]["wish"].items():
        document["statement"]["wish"][key] = str(1 - (1 - Fraction(p)) * Fraction(99, 100))


def _flip_sign(document: dict[str, Any]) -> None:
    query = document["evidence"]["queries"][0]
    largest = max(range(len(query)), key=lambda j: abs(float.fromhex(query[j])))
    query[largest] = (-float.fromhex(query[largest])).hex()


def _no_multiplier(document: dict[str, Any]) -> None:
    document["evidence"]["bound"]["constraints"] = []


def _other_target(document: dict[str, Any]) -> None:
    wish = document["statement"]["wish"]
    first = next(iter(wish))
    free = next(str(k) for k in range(8) if str(k) not in wish)
    wish[free] = wish.pop(first)
    for constraint in document["evidence"]["bound"]["constraints"]:
        if constraint["target"] == int(first):
            constraint["target"] = int(free)


def _foreign_digest(document: dict[str, Any]) -> None:
    document["statement"]["keys"][0]["sha256"] = "0" * 64
    document["statement"]["keys"][0]["rows"] = None


def _swapped_keys(document: dict[str, Any]) -> None:
    rows = document["statement"]["keys"][0]["rows"]
    rows[0], rows[1] = rows[1], rows[0]


def _nudged_key(document: dict[str, Any]) -> None:
    rows = document["statement"]["keys"][0]["rows"]
    rows[0][0] = np.nextafter(float.fromhex(rows[0][0]), np.inf).hex()


def _negative_multiplier(document: dict[str, Any]) -> None:
    constraint = document["evidence"]["bound"]["constraints"][0]
    constraint["multiplier"] = "-" + constraint["multiplier"]


def _twice(document: dict[str, Any]) -> None:
    constraints = document["evidence"]["bound"]["constraints"]
    constraints.append(copying.deepcopy(constraints[0]))


def _inadmissible_scale(document: dict[str, Any]) -> None:
    target = document["evidence"]["bound"]["constraints"][0]["target"]
    document["evidence"]["bound"]["own_scales"] = {str(target): "17"}


FALSE = [
    _shorter, _longer_bound, _greedier, _flip_sign, _no_multiplier, _other_target, _foreign_digest, _swapped_keys,
    _nudged_key, _negative_multiplier, _twice, _inadmissible_scale,
]  # fmt: skip


@pytest.mark.parametrize("mutate", FALSE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", MADE)
def test_false_statements_and_broken_evidence_are_not_verified(
    name: str, mutate: Callable[[dict[str, Any]], None]
) -> None:
    document = json.loads(MADE[name])
    mutate(document)
    verdict = verify(json.dumps(document))
    assert verdict.word != "verified"
    assert verdict.words


def test_a_weaker_statement_is_still_true() -> None:
    document = json.loads(MADE["copy"])
    document["statement"]["wish"]["3"] = "1/2"
    document["statement"]["none_shorter"] = "0"
    assert verify(json.dumps(document)).word == "verified"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("scale between", lambda w: w[0].__setitem__("scale", ["1/4", "3/2"])),
        ("ball", lambda w: w[0].__setitem__("ball", "0.06")),
        ("ellipsoid", lambda w: w[0].__setitem__("factor", [["1"] + ["0"] * 7])),
        ("ball", lambda w: w[1].__setitem__("ball", "0.02")),
        ("gaussian length", lambda w: w[0].__setitem__("stretch", "0.2")),
    ],
)
def test_a_wider_world_is_another_statement(name: str, change: Callable[[list[dict[str, Any]]], None]) -> None:
    document = json.loads(MADE[name])
    change(document["statement"]["world"])
    document["statement"]["none_shorter"] = "0"
    assert verify(json.dumps(document)).word == "rejected"


def test_confidence_beyond_the_deviations_is_rejected() -> None:
    document = json.loads(MADE["gaussian key"])
    for confidence, word in (("0.9000001", "rejected"), ("0.8999999", "verified")):
        document["statement"]["confidence"] = confidence
        assert verify(json.dumps(document)).word == word


def test_several_heads_share_the_targets() -> None:
    question = ask(np.eye(4), average([0, 1], eps=0.1))
    queries = 6.0 * np.eye(4)[:2]
    text = designed(question, queries, queries[0] / 12, np.array([[1.0, 0.0]]), Fraction("0.1"))
    assert verify(text).word == "verified"
    assert "these 2 queries give, on average over the heads" in verify(text).words
    lopsided = designed(question, queries[[0, 0]], queries[0], np.array([[1.0, 0.0]]), Fraction(0))
    assert verify(lopsided).word == "rejected"
    two = designed(question, queries, queries[0] / 12, np.array([[0.5, 0.5]]), Fraction("0.1"))
    assert "one target" in verify(two).words


TWINS = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])


def _proof(**changes: Any) -> list[dict[str, Any]]:
    constraint = {"scenario": 0, "target": 0, "multiplier": "1", "distribution": {"0": "1/2", "1": "1/2"}}
    return [{**constraint, **changes}]


def test_duplicate_keys_make_copying_impossible_exactly_above_one_half() -> None:
    assert "no query whatever gives key 0" in verify(impossible(ask(TWINS, copy(0)), _proof())).words
    assert verify(impossible(ask(TWINS, at_least({0: "0.500001"})), _proof())).word == "verified"
    assert verify(impossible(ask(TWINS, at_least({0: "1/2"})), _proof())).word == "rejected"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"distribution": {"0": "1/2", "2": "1/2"}}, "cancel"),
        ({"distribution": {"0": "1"}}, "entropy"),
        ({"distribution": {}}, "no mass"),
        ({"distribution": {"0": "0"}}, "no mass"),
        ({"distribution": {"0": "1/2", "1": "-1/2"}}, "negative"),
        ({"multiplier": "0"}, "positive multiplier"),
        ({"multiplier": "-1"}, "negative"),
        ({"target": 1}, "without a wish"),
        ({"scenario": 1}, "scenario"),
    ],
)
def test_broken_proofs_of_impossibility_are_not_verified(changes: dict[str, Any], words: str) -> None:
    verdict = verify(impossible(ask(TWINS, copy(0)), _proof(**changes)))
    assert verdict.word != "verified"
    assert words in verdict.words


def test_a_key_away_from_its_given_place_proves_nothing() -> None:
    world = World({1: Noise(scale=Between(2.0, 3.0))})
    assert "not admissible" in verify(impossible(ask(TWINS, copy(0), world), _proof())).words


MALFORMED: dict[str, Callable[[str], str]] = {
    "nothing": lambda _: "",
    "not JSON": lambda text: text[:-10],
    "a list": lambda _: "[]",
    "nan": lambda text: text.replace('"version": 1', '"version": NaN'),
    "infinity": lambda text: text.replace('"version": 1', '"version": Infinity'),
    "1e999": lambda text: text.replace('"scale": "1"', '"scale": 1e999'),
    "bare float": lambda text: text.replace('"scale": "1"', '"scale": 1.0'),
    "zero scale": lambda text: text.replace('"scale": "1"', '"scale": "0"'),
    "other version": lambda text: text.replace('"version": 1', '"version": 2'),
    "version true": lambda text: text.replace('"version": 1', '"version": true'),
    "other format": lambda text: text.replace("headwright certificate", "headwright"),
    "other claim": lambda text: text.replace('"designed"', '"proved"'),
    "extra name": lambda text: text.replace('"version": 1', '"version": 1, "note": "trust me"'),
    "name twice": lambda text: text.replace('"version": 1', '"version": 1, "version": 1'),
    "huge integer": lambda text: text.replace('"n": 9', '"n": ' + "9" * 5000),
    "huge size": lambda text: text.replace('"n": 9', '"n": 1' + "0" * 14),
    "deep": lambda text: text.replace('"world": []', '"world": ' + "[" * 100_000 + "]" * 100_000),
    "target out of range": lambda text: text.replace('"3": "100/101"', '"9": "100/101"'),
    "target twice": lambda text: text.replace('"3": "100/101"', '"3": "100/101", "3": "1/2"'),
    "target 03": lambda text: text.replace('"3": "100/101"', '"03": "100/101"'),
    "weight 0": lambda text: text.replace('"100/101"', '"0"'),
    "weight above 1": lambda text: text.replace('"100/101"', '"101/100"'),
    "no wish": lambda text: text.replace('"3": "100/101"', ""),
    "negative length": lambda text: text.replace('"none_shorter": "', '"none_shorter": "-'),
    "confidence of nothing": lambda text: text.replace('"confidence": "1"', '"confidence": "0.5"'),
    "unknown world": lambda text: text.replace('"world": []', '"world": [{"kind": "ball"}]'),
    "type float16": lambda text: text.replace('"float64"', '"float16"'),
}


@pytest.mark.parametrize("how", MALFORMED)
def test_malformed_documents_are_unreadable_and_nothing_crashes(how: str) -> None:
    text = MALFORMED[how](MADE["copy"])
    assert text != MADE["copy"]
    verdict = verify(text)
    assert verdict.word == "unreadable"
    assert verdict.words


def test_keys_beside_the_certificate_are_found_by_their_digest() -> None:
    import io

    document = json.loads(MADE["copy"])
    document["statement"]["keys"][0]["rows"] = None
    text = json.dumps(document)
    mine, other = io.BytesIO(), io.BytesIO()
    np.save(mine, K)
    np.save(other, K + 1)
    assert "which were not given" in verify(text).words
    assert "other keys were given" in verify(text, [other.getvalue()]).words
    assert verify(text, [other.getvalue(), mine.getvalue()]).word == "verified"


def test_progress_is_told() -> None:
    told: list[float] = []
    verify(MADE["scenarios"], progress=told.append)
    assert told[-1] == 1.0
    assert len(told) == 2
