"""Certificates made by hand to fool the exact checker: statement, evidence or spelling is wrong by a little."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from headwright.certificates.exact.certificate import VERSION
from headwright.certificates.exact.verify import verify
from tests.certificates.exact.making import bound, certificate, of, part, spread

LINE = np.array([[1.0], [-1.0]])
THREE = np.array([[1.0], [-1.0], [0.0]])
TWINS = np.array([[1.0], [1.0]])
QUERY = np.log(8) / 2 * (1 + 1e-9)  # gives key 0 of LINE its weight of 8/9
EVEN = {"0": "1/2", "1": "1/2"}
GAUSSIAN = [spread(ball="1/4", random=True)]
Change = Callable[[Any], None]


def honest() -> Any:
    """What is changed: verified as it is."""
    proof = bound(part(QUERY))
    return certificate(LINE, {0: "8/9"}, QUERY, none_shorter="0.1", bound=proof)


def longer(proof: Any, none_shorter: str, **more: Any) -> Any:
    return certificate(
        LINE,
        {0: "0.9"},
        claim="longer",
        none_shorter=none_shorter,
        bound=proof,
        **more,
    )


def impossible(keys: np.ndarray, least: str, *constraints: Any) -> Any:
    proof = bound(part([0.0], *constraints))
    return certificate(keys, {0: least}, claim="impossible", bound=proof)


def heads(rule: Any = (), evidence: Any = None, **more: Any) -> Any:
    """A head that gives token 0 of two the weight 1 / (1 + e^-2) = 0.8807970..."""
    plain = {
        "sequence": 0,
        "token": 0,
        "head": 0,
        "attend": {"0": "0.8"},
        "at_most": {},
        "output": [],
        "tolerance": "0",
    }
    weights = {"W_Q": [["1"]], "W_K": [["1"]], "W_V": [["1"]], "b_Q": [], "b_V": []}
    statement = {
        "claim": "heads",
        "mask": "none",
        "sequences": [[["1"], ["-1"]]],
        "uncertainty": {"ball": "0", "scale": ["1", "1"]},
        "biases": False,
        "bias": [],
        "rules": [plain | dict(rule)],
        "dtype": "float64",
        "heads": [weights],
        "bounds": [],
    }
    return {
        "format": "headwright certificate",
        "version": VERSION,
        "statement": statement | more,
        "evidence": evidence or {"bounds": []},
    }


def no_heads(rule: Any, evidence: Any) -> Any:
    made = heads(rule, evidence, claim="no heads")
    for name in ("dtype", "heads", "bounds"):
        del made["statement"][name]
    return made


def dimension(least: str, evidence: Any) -> Any:
    claim = {"head": 0, "norm": "dimension", "least": least}
    return heads(bounds=[claim], evidence={"bounds": [evidence]})


def norm(least: str) -> Any:
    claim = {"head": 0, "norm": "frobenius", "least": least}
    constraint = {"rule": 0, "target": 0, "multiplier": "1"}
    evidence = {"W_Q": None, "W_K": None, "constraints": [constraint]}
    return heads(bounds=[claim], evidence={"bounds": [evidence]})


TRUE = {
    "as it is": honest(),
    "twins": impossible(TWINS, "0.9", of(0, EVEN)),
    "a head": heads(),
    "at most": heads({"attend": {}, "at_most": {"1": "0.119202923"}}),
    "an output": heads({"attend": {}, "output": ["1"], "tolerance": "0.239"}),
}

WRONG = {
    "flipped rival": certificate(
        LINE, {0: "0.6"}, 3.0, uncertainty=[spread([1], scale=("-1", "1"))]
    ),
    "flipped target": certificate(
        LINE, {0: "0.6"}, 3.0, uncertainty=[spread([0], scale=("-1", "1"))]
    ),
    "balls that touch": certificate(
        LINE, {0: "0.5000001"}, 3.0, uncertainty=[spread(ball="1")]
    ),
    "weights above 1 together": certificate(LINE, {0: "0.6", 1: "0.6"}, 0.0),
    "twins but for the last bit": impossible(
        np.array([[1.0], [1.0 - 2.0**-52]]), "0.9"
    ),
    "twins at one half": impossible(TWINS, "0.5", of(0, EVEN)),
    "all shares to the target": longer(bound(part(1.0, of(0, {"0": "1"}))), "0.1"),
    "all shares to the rival": longer(bound(part(1.0, of(0, {"1": "1"}))), "0.1"),
    "a scale of a certain key": longer(bound(part(1.0), scales={"1": "0"}), "2"),
    "deviations above the confidence": longer(
        bound(part(1.0, moves=[[]], lifts=["0"]), deviations="3"),
        "0.01",
        uncertainty=GAUSSIAN,
        confidence="0.6",
    ),
    "pushed too far": longer(
        bound(
            part(1.0, of(0, EVEN), moves=[[]], lifts=["0"], push=["-5"]),
            deviations="1",
        ),
        "0.01",
        uncertainty=[spread(factor=[["1"]], random=True)],
        confidence="0.9999",
    ),
    "moved too far": longer(
        bound(part(1.0, moves=[["1.0000001"]], lifts=["0"])),
        "0.01",
        uncertainty=[spread(factor=[["1/10"]])],
    ),
    "too few deviations": certificate(
        LINE,
        {0: "0.5"},
        5.0,
        uncertainty=GAUSSIAN,
        confidence="0.999",
        guard={"kind": "pairs", "deviations": "3.0"},
    ),
    "heads among one of two targets": certificate(
        THREE,
        {0: "0.4", 1: "0.4"},
        5.0,
        -5.0,
        none_shorter="4.9",
        bound=bound(part(1.0, of(0)), among=[0]),
    ),
    "a weight in the eighth digit": heads({"attend": {"0": "0.88079708"}}),
    "at most in the ninth digit": heads(
        {"attend": {}, "at_most": {"1": "0.119202922"}}
    ),
    "an output in the third digit": heads(
        {"attend": {}, "output": ["1"], "tolerance": "0.238"}
    ),
    "a norm that the head has": norm("1.01"),
    "a walk there and back": dimension(
        "2", {"walk": [{"rule": 0, "target": 0, "rival": 1}] * 2}
    ),
    "a dimension that is no number of rows": dimension(
        "5/2", {"rules": [0], "tokens": [0, 1]}
    ),
    "a ball that swallows the tokens": heads(
        uncertainty={"ball": "1", "scale": ["1", "1"]}
    ),
    "a scale down to nearly 0": heads(
        uncertainty={"ball": "0", "scale": ["1/100", "1"]}
    ),
    "a bfloat16 of too many bits": heads(
        dtype="bfloat16",
        heads=[
            {
                "W_Q": [["0x1.01p+0"]],
                "W_K": [["1"]],
                "W_V": [["1"]],
                "b_Q": [],
                "b_V": [],
            }
        ],
    ),
    "no heads, where there is one": no_heads(
        {},
        {
            "attend": [
                {"rule": 0, "multipliers": {"0": "1"}, "distribution": {"0": "1"}}
            ],
            "output": [],
        },
    ),
    "no heads by a multiplier of 0": no_heads(
        {"attend": {}, "output": ["1"]},
        {"attend": [], "output": [{"rule": 0, "multiplier": "0"}]},
    ),
}


def _statement(**fields: Any) -> Change:
    return lambda document: document["statement"].update(fields)


def _constraint(**fields: Any) -> Change:
    return lambda document: document["evidence"]["bound"]["parts"][0]["constraints"][
        0
    ].update(fields)


NOT_OF_THE_FORMAT: dict[str, Change] = {
    "digits of another script": _statement(none_shorter="٠.١"),
    "a newline after a number": _statement(none_shorter="0.1\n"),
    "true for one": _statement(heads=True),
    "a list for a claim": _statement(claim=["designed"]),
    "an index with a sign": _statement(targets={"+0": "8/9"}),
    "an index with two zeros": _statement(targets={"00": "8/9"}),
    "minus zero": _constraint(target=-0.0),
    "a float for an index": _constraint(target=0.0),
    "a share below 0": _constraint(distribution={"0": "-1", "1": "2"}),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_nearly_as_bold_and_true_is_verified(name: str) -> None:
    verdict = verify(json.dumps(TRUE[name]))
    assert verdict.word == "verified", verdict.words


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_by_a_little_is_rejected(name: str) -> None:
    verdict = verify(json.dumps(WRONG[name]))
    assert (verdict.word, verdict.stopped) == ("rejected", False), verdict.words


@pytest.mark.parametrize("name", NOT_OF_THE_FORMAT)
def test_another_spelling_is_unreadable(name: str) -> None:
    document = honest()
    NOT_OF_THE_FORMAT[name](document)
    assert verify(json.dumps(document)).word == "unreadable"
