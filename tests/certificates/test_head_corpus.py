"""The corpus of certificates about whole heads: accepted, rejected, unreadable; and mutations of those accepted."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright import fast
from headwright.trusted.verify import verify
from tests.certificates.test_corpus import _changes, _places, _set

FOLDER = Path(__file__).parent
WORDS = {"head-accept": "verified", "head-reject": "rejected", "head-malformed": "unreadable"}


def _files(kind: str) -> list[Path]:
    return sorted((FOLDER / kind).glob("*.json"))


@pytest.mark.parametrize(
    "path", [path for kind in WORDS for path in _files(kind)], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_corpus_gets_its_verdict(path: Path) -> None:
    verdict = verify(path.read_text())
    assert verdict.word == WORDS[path.parent.name], verdict.words
    assert verdict.words
    quick = fast.verify(path.read_text())
    assert quick.word != "verified" or verdict.word == "verified"


def test_corpus_is_there() -> None:
    assert all(len(_files(kind)) >= 13 for kind in WORDS)


def _number(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(Fraction(text))


def _holds(statement: Any) -> bool:
    """The rules, where tokens are as given, in plain floating point: another way to the same numbers."""

    def matrix(rows: list[list[str]]) -> np.ndarray:
        return np.array([[_number(x) for x in row] for row in rows])

    for rule in statement["rules"]:
        head = statement["heads"][rule["head"]]
        X = matrix(statement["sequences"][rule["sequence"]])
        seen = X[: rule["token"] + 1] if statement["causal"] else X
        s = (seen @ matrix(head["W_K"]).T) @ (matrix(head["W_Q"]) @ X[rule["token"]])
        alpha = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
        if any(alpha[int(a)] < _number(p) - 1e-12 for a, p in rule["attend"].items()):
            return False
        if rule["output"]:
            miss = alpha @ seen @ matrix(head["W_V"]).T - [_number(x) for x in rule["output"]]
            if np.linalg.norm(miss) > _number(rule["tolerance"]) + 1e-12:
                return False
    return True


@pytest.mark.parametrize(
    "name", ["route-published", "route-bfloat16", "route-nuclear", "previous-token-causal", "two-heads", "world-ball"]
)
def test_whatever_is_changed_only_truth_is_accepted(name: str) -> None:
    """Each place in turn: sign flipped, nudged, replaced by nonsense."""
    original = json.loads((FOLDER / "head-accept" / f"{name}.json").read_text())
    least = [_number(bound["least"]) for bound in original["statement"]["bounds"]]
    accepted = tried = 0
    for place, value in _places(original):
        for changed in _changes(value):
            document = copy.deepcopy(original)
            _set(document, place, changed)
            tried += 1
            if verify(json.dumps(document)).word == "verified":
                accepted += 1
                assert _holds(document["statement"]), (place, changed)
                if place[1] == "bounds":  # the floors are as they were, and the bounds are nearly the best there are
                    now = [_number(bound["least"]) for bound in document["statement"]["bounds"]]
                    assert all(new <= old * (1 + 1e-4) for new, old in zip(now, least, strict=True)), (place, changed)
    assert 2 * accepted < tried


@pytest.mark.parametrize("name", ["route-designed", "two-heads", "world-scale"])
def test_dropping_any_name_makes_a_document_unreadable(name: str) -> None:
    original = json.loads((FOLDER / "head-accept" / f"{name}.json").read_text())
    statement, evidence = original["statement"], original["evidence"]
    for part in (
        original, statement, evidence, statement["heads"][0], statement["rules"][0], statement["world"],
        statement["bounds"][0], evidence["bounds"][0], evidence["bounds"][0]["constraints"][0],
    ):  # fmt: skip
        for entry in list(part):
            kept = part.pop(entry)
            assert verify(json.dumps(original)).word == "unreadable", entry
            part[entry] = kept
    assert verify(json.dumps(original)).word == "verified"
