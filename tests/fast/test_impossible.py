"""Impossibility: exact cancelling, and entropies from below."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from headwright.design.certify import impossible
from headwright.design.statement import Question
from headwright.design.wish import average, copy
from headwright.fast import verify
from headwright.noise.world import Between, Noise, World
from headwright.trusted.verify import verify as slowly

TWINS = np.array([[0.1, 0.7], [0.1, 0.7], [3.0, -1.0]])
INSIDE = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [0.0, -2.0]])


def ask(keys: np.ndarray, eps: str, world: World | None = None, targets: list[int] | None = None) -> Question:
    return Question((keys,), average(targets or [0], eps), world or World(), Fraction(1), Fraction(1))


def proof(target: int = 0, multiplier: str = "1", **shares: str) -> list[dict[str, object]]:
    distribution = {key[1:]: x for key, x in shares.items()}
    return [{"scenario": 0, "target": target, "multiplier": multiplier, "distribution": distribution}]


def both(certificate: str) -> str:
    fast, slow = verify(certificate), slowly(certificate)
    assert fast.word == slow.word, (fast, slow)
    return fast.word


def test_a_twin_of_the_target_takes_half() -> None:
    assert both(impossible(ask(TWINS, "0.99"), proof(k0="1/2", k1="1/2"))) == "verified"
    assert both(impossible(ask(TWINS, "1"), proof(k0="1/2", k1="1/2"))) == "rejected"  # exactly half can be had
    assert both(impossible(ask(TWINS, "0.99"), proof(k0="1/2", k1="1/2", k2="1e-300"))) == "rejected"


def test_shares_need_not_sum_to_one() -> None:
    assert both(impossible(ask(TWINS, "0.99"), proof(multiplier="7/3", k0="5", k1="5"))) == "verified"


def test_a_target_inside_the_others() -> None:
    certificate = impossible(ask(INSIDE, "2"), proof(k0="1/4", k1="1/4", k2="1/4", k3="1/4"))
    assert both(certificate) == "verified"
    uneven = impossible(ask(INSIDE, "2"), proof(k0="1/4", k1="1/4", k2="1/4", k3="1/5"))
    assert both(uneven) == "rejected"


@pytest.mark.parametrize("wrong", [proof(), proof(k0="0"), proof(multiplier="0", k0="1/2", k1="1/2"), []])
def test_empty_proofs(wrong: list[dict[str, object]]) -> None:
    assert both(impossible(ask(TWINS, "0.1"), wrong)) == "rejected"


def test_a_key_that_cannot_be_at_its_given_place() -> None:
    moved = World({1: Noise(scale=Between(1.5, 2.0))})
    assert both(impossible(ask(TWINS, "0.1", moved), proof(k0="1/2", k1="1/2"))) == "rejected"
    around = World({1: Noise(scale=Between(0.5, 2.0))})
    assert both(impossible(ask(TWINS, "0.1", around), proof(k0="1/2", k1="1/2"))) == "verified"


def test_sizes_far_apart_are_exact() -> None:
    keys = np.array([[1e300, 1e-300], [1e300, 1e-300], [5e-324, 1.0]])
    assert both(impossible(ask(keys, "0.5"), proof(k0="1/2", k1="1/2"))) == "verified"
    keys[1, 1] = np.nextafter(keys[1, 1], 1)
    assert both(impossible(ask(keys, "0.5"), proof(k0="1/2", k1="1/2"))) == "rejected"


@pytest.mark.parametrize("text", ["", "{}", "[1]", "NaN", '{"version": 1e999}'])
def test_documents_that_are_none(text: str) -> None:
    assert both(text) == "unreadable"


def test_any_entry_of_the_keys_matters() -> None:
    document = json.loads(
        impossible(Question((TWINS,), copy(0), World(), Fraction(1), Fraction(1)), proof(k0="1", k1="1"))
    )
    assert both(json.dumps(document)) == "verified"
    document["statement"]["keys"][0]["sha256"] = "0" * 64
    assert both(json.dumps(document)) == "unreadable"
