"""A small certificate that would take hours or gigabytes is refused at once, or answered with a weaker bound."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from headwright.certificates import floating
from headwright.certificates.exact.certificate import VERSION
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.numbers import ln_below, normal_tail
from headwright.certificates.exact.verify import verify
from tests.certificates.exact.making import bound, certificate, of, part, spread

LONG = "f" * 19999
TINY, NEAR_ONE = f"0x1/0x{LONG}", f"0x{LONG}/0x1{'0' * 19999}"


def _longer(keys: np.ndarray, *parts: Any, **more: Any) -> Any:
    return certificate(
        keys, {0: "0.9"}, claim="longer", none_shorter="1", bound=bound(*parts), **more
    )


def _denominators() -> Any:
    found = _longer(np.ones((2, 8000)), part([0.0]))
    found["evidence"]["bound"]["parts"][0]["query"] = [
        f"1/{10**12 + i}" for i in range(8000)
    ]
    return found


def _heads(tokens: int, rules: int, **rule: Any) -> Any:
    targets = {
        "sequence": 0,
        "token": 0,
        "head": 0,
        "attend": {},
        "at_most": {},
        "output": [],
        "tolerance": "0",
        **rule,
    }
    weights = {"W_Q": [["0"]], "W_K": [["0"]], "W_V": [["1"]], "b_Q": [], "b_V": []}
    said = {
        "claim": "heads",
        "mask": "none",
        "sequences": [[["1"]] * tokens],
        "uncertainty": {"ball": "0", "scale": ["1/2", "2"]},
        "biases": False,
        "bias": [],
        "rules": [targets] * rules,
        "dtype": "float64",
        "heads": [weights],
        "bounds": [],
    }
    return {
        "format": "headwright certificate",
        "version": VERSION,
        "statement": said,
        "evidence": {"bounds": []},
    }


HOSTILE: dict[str, Callable[[], Any]] = {
    "a query over many denominators": _denominators,
    "scales over a long number": lambda: _longer(
        np.ones((20_000, 1)),
        part([1.0], lifts=[TINY], moves=[[]]),
        uncertainty=[spread(scale=["0", NEAR_ONE])],
    ),
    "shares over many denominators": lambda: _longer(
        np.ones((25, 10)),
        part([0.0] * 10, of(0, {str(i): f"0x1/0x{LONG[9 * i :]}" for i in range(25)})),
    ),
    "many queries": lambda: certificate(
        np.zeros((60_000, 1)), {0: "0.0001"}, *[[0.0]] * 2000
    ),
    "many parts": lambda: _longer(np.zeros((60_000, 1)), *[part([0.0])] * 2000),
    "many targets with a stretch": lambda: certificate(
        np.arange(4000.0).reshape(-1, 1),
        dict.fromkeys(range(4000), "0.0001"),
        [0.001],
        uncertainty=[spread(stretch="0.1", random=True)],
        confidence="0.5",
        guard={"kind": "keys", "deviations": "5"},
    ),
    "long deviations": lambda: certificate(
        np.eye(2),
        {0: "0.3"},
        [0.1, 0.0],
        uncertainty=[spread(ball="0.1", random=True)],
        confidence="0.5",
        guard={"kind": "keys", "deviations": NEAR_ONE},
    ),
    "rules that see everything": lambda: _heads(1000, 1000, attend={"0": "0.0001"}),
    "at most, of everything": lambda: _heads(
        1000, 1, at_most={str(i): "0.9" for i in range(1000)}
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_too_much_work_is_refused(name: str) -> None:
    verdict = verify(json.dumps(HOSTILE[name]()))
    assert verdict.word == "rejected"
    reasons = ("too much time or memory", "at most 600 digits", "too expensive: ")
    assert any(reason in verdict.words for reason in reasons), verdict.words


@pytest.mark.parametrize(
    "name", ["a query over many denominators", "many queries", "many parts"]
)
def test_what_is_refused_when_read_is_refused_by_both(name: str) -> None:
    assert floating.verify(json.dumps(HOSTILE[name]())).word == "rejected"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_logarithm_very_near_one_is_a_weaker_bound(sign: int) -> None:
    off = Fraction(sign, 16**19999)
    assert Fraction(-1, 10**400) < ln_below(1 + off) <= min(off, Fraction(0))


def test_a_tail_is_of_a_short_number() -> None:
    with pytest.raises(Reject, match="600 digits"):
        normal_tail(Fraction(1, 2**2048))


def test_nesting_anywhere_is_unreadable() -> None:
    for depth in (100, 900, 100_000):
        inside = "[" * depth + "]" * depth
        text = f'{{"format": "headwright certificate", "version": {inside}, "statement": {{}}, "evidence": {{}}}}'
        assert verify(text).word == floating.verify(text).word == "unreadable"
