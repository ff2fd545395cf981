"""The corpus of certificates about whole heads: accepted, rejected, unreadable; and mutations of those accepted."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.certificates.exact.verify import verify
from tests.certificates.test_corpus import _changes, _places, _set
from tests.referee.heads import judge
from tests.referee.numbers import number

FOLDER = Path(__file__).parent / "corpus"
WORDS = {
    "head-accept": "verified",
    "head-reject": "rejected",
    "head-malformed": "unreadable",
}


def _files(kind: str) -> list[Path]:
    return sorted((FOLDER / kind).glob("*.json"))


@pytest.mark.parametrize(
    "path",
    [path for kind in WORDS for path in _files(kind)],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_corpus_gets_its_verdict(path: Path) -> None:
    verdict = verify(path.read_text())
    assert verdict.word == WORDS[path.parent.name], verdict.words
    assert verdict.words.isprintable()
    assert "the checker stopped" not in verdict.words


def test_corpus_is_there() -> None:
    assert all(len(_files(kind)) >= 13 for kind in WORDS)


@pytest.mark.parametrize(
    "name",
    [
        "route-published",
        "route-bfloat16",
        "route-nuclear",
        "previous-token-causal",
        "two-heads",
        "uncertainty-ball",
        "at-most",
        "sum-of-heads",
        "mask-window",
        "biases",
        "alibi",
        "scale-inside",
        "no-heads-opposite-ends",
        "no-heads-output-relation",
        "no-heads-with-biases",
        "circuit",
        "dimension-two",
    ],
)
def test_whatever_is_changed_only_truth_is_accepted(name: str) -> None:
    """Each place in turn: sign flipped, nudged, replaced by nonsense."""
    original = json.loads((FOLDER / "head-accept" / f"{name}.json").read_text())
    least = [
        number(bound["least"]) for bound in original["statement"].get("bounds", [])
    ]
    accepted = tried = 0
    for place, value in _places(original):
        for changed in _changes(value):
            document = copy.deepcopy(original)
            _set(document, place, changed)
            tried += 1
            if verify(json.dumps(document)).word == "verified":
                accepted += 1
                assert judge(document["statement"]).word != "false", (place, changed)
                if (
                    place[1] == "bounds" and place[0] == "statement"
                ):  # the floors are as they were, and the bounds are nearly the best there are
                    now = [
                        number(bound["least"])
                        for bound in document["statement"]["bounds"]
                    ]
                    assert all(
                        new <= old * Fraction("1.0001")
                        for new, old in zip(now, least, strict=True)
                    ), place
    assert 2 * accepted < tried


@pytest.mark.parametrize(
    "name", ["route-designed", "two-heads", "uncertainty-scale", "biases"]
)
def test_dropping_any_name_makes_a_document_unreadable(name: str) -> None:
    original = json.loads((FOLDER / "head-accept" / f"{name}.json").read_text())
    statement, evidence = original["statement"], original["evidence"]
    for part in (
        original,
        statement,
        evidence,
        statement["heads"][0],
        statement["rules"][0],
        statement["uncertainty"],
        statement["bounds"][0],
        evidence["bounds"][0],
        evidence["bounds"][0]["constraints"][0],
    ):
        for entry in list(part):
            kept = part.pop(entry)
            assert verify(json.dumps(original)).word == "unreadable", entry
            part[entry] = kept
    assert verify(json.dumps(original)).word == "verified"


SMALL = [path for path in _files("head-accept") if path.stat().st_size < 40_000]
ODD = [
    "0",
    "-0",
    "1",
    "-1",
    "1e999",
    "1e-999",
    "0x1p+1023",
    "0x1p+9999",
    "0x1p-1074",
    "0x1.8p-1074",
    "0x1p-9999",
    "-0x0.0p+0",
    "1/3",
    "100/101",
    "0x1/0x3",
    "0.99999999999999999999999999999999",
    "1" + "0" * 399,
    f"{10**390}/3",
    "0x" + "f" * 2500 + "/0x1",
    "-0x1" + "0" * 2490 + "1/0x1",
    "0x1/0x1" + "0" * 2490,
    "frobenius",
    "nuclear",
    "float32",
    0,
    1,
    2,
    5,
    True,
    False,
    None,
    [],
    ["1"],
    {},
    {"0": "1/2"},
    {"1": "1e-70"},
]


@settings(max_examples=300)
@given(st.data())
def test_any_leaves_replaced_by_odd_ones_leave_only_truth_accepted(
    data: st.DataObject,
) -> None:
    """Up to four places at once, with values that are near a border, or that stood elsewhere in the document."""
    path = data.draw(st.sampled_from(SMALL))
    document: Any = json.loads(path.read_text())
    places = list(_places(document))
    others = [value for _, value in places]
    for _ in range(data.draw(st.integers(1, 4))):
        place, value = data.draw(st.sampled_from(places))
        pool = [*ODD, *others, *_changes(value)]
        _set(document, place, data.draw(st.sampled_from(pool)))
    if verify(json.dumps(document)).word == "verified":
        assert judge(document["statement"]).word != "false"
