"""A document with an odd piece is verified, rejected or unreadable: no checker stops, nor does the comparison."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from headwright import copy
from headwright.verification.compare import compare
from headwright.verification.comparison import Expected
from headwright.verification.verify import verify
from tests.effort import tried
from tests.referee.odd_documents import CORPUS, LONG, odd_documents

MUTANTS = tried(2400)


@pytest.mark.parametrize("folder", ["accept", "head-accept"])
def test_no_checker_stops_on_an_odd_document(folder: str) -> None:
    words: Counter[str] = Counter()
    for text in odd_documents((folder,), MUTANTS, seed=0):
        verdict = verify(text)
        assert verdict.word != "internal error", (verdict.words, text[:2000])
        words[verdict.word] += 1
        if verdict.word == "verified":
            compare(text, Expected(targets=copy(0)))
    assert words["verified"] and words["rejected"] and words["unreadable"]


def text_of(name: str, **statement: Any) -> str:
    document = json.loads((CORPUS / f"{name}.json").read_text())
    document["statement"] |= statement
    return json.dumps(document)


@pytest.mark.parametrize(
    "asked",
    [
        Expected(targets=copy(0)),
        Expected(scale=Fraction(1)),
        Expected(scale=Fraction(1, 10**5000)),
    ],
)
def test_a_scale_of_very_many_digits_is_compared(asked: Expected) -> None:
    text = text_of("accept/copy", scale=LONG)
    assert verify(text).word == "verified"
    compared = compare(text, asked)
    assert all(
        len(words) < 200
        for words in (*compared.differences, *compared.notes, *compared.unasked)
    )
    assert any("scale" in words for words in (*compared.differences, *compared.unasked))


@pytest.mark.parametrize(
    "asked", [Expected(targets=copy(0)), Expected(confidence=Fraction(1, 2))]
)
def test_a_confidence_of_very_many_digits_is_compared(asked: Expected) -> None:
    text = text_of(
        "accept/gaussian-pairs", confidence=f"0x{'8' * 5000}/0x{'9' * 4999}7"
    )
    compared = compare(text, asked)
    told = [*compared.differences, *compared.notes, *compared.unasked]
    assert any("0.88888" in words for words in told)
    assert all(len(words) < 200 for words in told)


@pytest.mark.parametrize(
    "entry",
    [
        {"rule": 0, "multipliers": {}, "distribution": {}},
        {"rule": 0, "multipliers": {"0": "1"}, "distribution": {}},
        {"rule": 0, "multipliers": {}, "distribution": {"0": "1"}},
    ],
)
def test_no_heads_without_multipliers_or_shares_is_rejected(
    entry: dict[str, Any],
) -> None:
    path = next(
        path
        for path in sorted((CORPUS / "head-accept").glob("*.json"))
        if '"no heads"' in path.read_text()
    )
    document = json.loads(path.read_text())
    document["evidence"] = {"attend": [entry], "output": []}
    assert verify(json.dumps(document)).word == "rejected"


def test_a_score_of_very_many_digits_is_rejected() -> None:
    document = json.loads((CORPUS / "accept/copy.json").read_text())
    part = document["evidence"]["bound"]["parts"][0]
    part["query"][0] = f"0x{'f' * 20_000}/0x1"
    assert verify(json.dumps(document), checker="exact").word == "rejected"
