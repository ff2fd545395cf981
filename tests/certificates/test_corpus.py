"""The corpus: certificates that both checkers accept, reject or cannot read, and mutations of those they accept."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.certificates import floating
from headwright.certificates.exact.verify import verify
from tests.referee.queries import judge

FOLDER = Path(__file__).parent / "corpus"
WORDS = {"accept": "verified", "reject": "rejected", "malformed": "unreadable"}
CHECKERS: dict[str, Callable[[str], Any]] = {"exact": verify, "float": floating.verify}
ALONE: dict[
    str, tuple[str, str]
] = {}  # accepted certificates that one checker cannot accept: which one, and why


def _verdict(path: Path, checker: str) -> str:
    if ALONE.get(path.stem, ("", ""))[0] == checker:
        return "rejected"
    return WORDS[path.parent.name]


def _files(kind: str) -> list[Path]:
    return sorted((FOLDER / kind).glob("*.json"))


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize(
    "path",
    [path for kind in WORDS for path in _files(kind)],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_corpus_gets_its_verdict_from_both_checkers(path: Path, checker: str) -> None:
    verdict = CHECKERS[checker](path.read_text())
    assert verdict.word == _verdict(path, checker), verdict.words
    assert "stopped" not in verdict.words


def _contradict(exact: Any, floats: Any) -> bool:
    """One accepts what the other proves false."""
    return (exact.word == "verified" and floats.excluded) or (
        floats.word == "verified" and exact.excluded
    )


def test_corpus_is_there() -> None:
    assert all(len(_files(kind)) >= 50 for kind in WORDS)


@pytest.mark.parametrize("path", _files("accept"), ids=lambda path: path.stem)
def test_what_is_accepted_is_true(path: Path) -> None:
    assert judge(json.loads(path.read_text())["statement"]).word != "false"


def _places(
    document: Any, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every number, text and name of a document, by its path."""
    if isinstance(document, dict):
        for name, value in document.items():
            yield from _places(value, (*path, name))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from _places(value, (*path, index))
    else:
        yield path, document


def _set(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


@pytest.mark.parametrize("path", _files("accept"), ids=lambda path: path.stem)
def test_whatever_is_changed_both_checkers_accept_only_truth(path: Path) -> None:
    """Each place in turn: sign flipped, nudged, replaced by nonsense."""
    original = json.loads(path.read_text())
    places = [
        (place, value) for place, value in _places(original) if "rows" not in place
    ]
    accepted = tried = 0
    for place, value in places[:: max(1, len(places) // 15)]:
        for changed in _changes(value):
            document = copy.deepcopy(original)
            _set(document, place, changed)
            text = json.dumps(document)
            exact, floats = verify(text), floating.verify(text)
            assert (exact.word == "unreadable") == (floats.word == "unreadable"), (
                place,
                changed,
            )
            assert not _contradict(exact, floats), (place, changed)
            some = "verified" in (exact.word, floats.word)
            tried, accepted = tried + 1, accepted + some
            if some and place[0] == "statement":
                assert changed == value or place[1] not in ("claim", "keys"), (
                    place,
                    changed,
                )
                assert judge(document["statement"]).word != "false", (place, changed)
    assert (
        3 * accepted < 2 * tried
    )  # most changes are noticed; harmless ones (evidence, a weaker claim) are not


def _changes(value: Any) -> list[Any]:
    if isinstance(value, bool) or value is None:
        return [not value, "0"]
    if isinstance(value, int):
        return [value + 1, -1, str(value), float(value)]
    changes: list[Any] = ["", "nan", f"-{value}", 0]
    try:
        number = (
            float.fromhex(value)
            if "0x" in value and "/" not in value
            else float(Fraction(value))
        )
    except (ValueError, OverflowError):
        return changes
    return [
        *changes,
        (number * (1 + 1e-6)).hex(),
        (number * (1 - 1e-6)).hex(),
        (number + 1).hex(),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "copy",
        "average",
        "uncertainty-balls",
        "heads",
        "gaussian-pairs",
        "gaussian-impossible-pushed",
    ],
)
def test_dropping_any_name_makes_a_document_unreadable(name: str) -> None:
    original = json.loads((FOLDER / "accept" / f"{name}.json").read_text())
    statement, evidence = original["statement"], original["evidence"]
    part = evidence["bound"]["parts"][0]
    objects = [
        original,
        statement,
        evidence,
        evidence["bound"],
        part,
        part["constraints"][0],
        statement["keys"][0],
    ]
    for thing in [
        *objects,
        *statement["uncertainty"],
        *([evidence["guard"]] if evidence["guard"] else []),
    ]:
        for entry in list(thing):
            kept = thing.pop(entry)
            assert (
                verify(json.dumps(original)).word
                == floating.verify(json.dumps(original)).word
                == "unreadable"
            )
            thing[entry] = kept
    assert verify(json.dumps(original)).word == "verified"


ODD = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "1/2",
    "1e999",
    "1e-999",
    "0x1p+1023",
    "0x1p-1074",
    "1/3",
    "0x1/0x3",
    "0.99",
    "5000",
    "*",
    "keys",
    "pairs",
    "designed",
    "impossible",
    "longer",
    0,
    1,
    2,
    5,
    True,
    False,
    None,
    [],
    [0],
    ["1"],
    ["0", "1"],
    {},
    {"0": "1/2"},
    {"1": "1", "0": "1"},
]


@settings(max_examples=100)
@given(st.data())
def test_any_leaves_replaced_by_odd_ones_leave_only_truth_accepted(
    data: st.DataObject,
) -> None:
    """Up to four places at once, with values that are near a border, or that stood elsewhere in the document."""
    document: Any = json.loads(data.draw(st.sampled_from(_files("accept"))).read_text())
    places = [
        (place, value) for place, value in _places(document) if "rows" not in place
    ]
    others = [value for _, value in places]
    for _ in range(data.draw(st.integers(1, 4))):
        place, value = data.draw(st.sampled_from(places))
        try:
            _set(
                document,
                place,
                data.draw(st.sampled_from([*ODD, *others, *_changes(value)])),
            )
        except (
            TypeError,
            KeyError,
            IndexError,
        ):  # an earlier change took the place away
            continue
    text = json.dumps(document)
    exact, floats = verify(text), floating.verify(text)
    assert (exact.word == "unreadable") == (floats.word == "unreadable")
    assert not _contradict(exact, floats)
    assert "stopped" not in exact.words + floats.words
    if "verified" in (exact.word, floats.word):
        assert judge(document["statement"]).word != "false"
