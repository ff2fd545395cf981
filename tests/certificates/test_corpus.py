"""The corpus: certificates that both checkers accept, reject or cannot read, and mutations of those they accept."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from headwright import fast
from headwright.trusted.verify import verify

FOLDER = Path(__file__).parent
WORDS = {"accept": "verified", "reject": "rejected", "malformed": "unreadable"}
CHECKERS: dict[str, Callable[[str], Any]] = {"trusted": verify, "fast": fast.verify}


def _files(kind: str) -> list[Path]:
    return sorted((FOLDER / kind).glob("*.json"))


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize(
    "path", [path for kind in WORDS for path in _files(kind)], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_corpus_gets_its_verdict_from_both_checkers(path: Path, checker: str) -> None:
    verdict = CHECKERS[checker](path.read_text())
    assert verdict.word == WORDS[path.parent.name], verdict.words
    assert verdict.words


def test_corpus_is_there() -> None:
    assert all(len(_files(kind)) >= 19 for kind in WORDS)


def _places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
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
def test_whatever_is_changed_the_checkers_never_disagree_on_accepting(path: Path) -> None:
    """Each place in turn: sign flipped, nudged, replaced by nonsense. Fast accepts only what trusted accepts."""
    original = json.loads(path.read_text())
    places = [(place, value) for place, value in _places(original) if "rows" not in place]
    accepted = tried = 0
    for place, value in places[:: max(1, len(places) // 40)]:
        for changed in _changes(value):
            document = copy.deepcopy(original)
            _set(document, place, changed)
            text = json.dumps(document)
            slow, quick = verify(text).word, fast.verify(text).word
            assert quick != "verified" or slow == "verified", (place, changed)
            tried, accepted = tried + 1, accepted + (slow == "verified")
            if place[0] == "statement" and place[1] in ("claim", "keys") and changed != value:
                assert slow != "verified", (place, changed)
    assert 2 * accepted < tried  # most changes are noticed; harmless ones (evidence, a weaker claim) are not


def _changes(value: Any) -> list[Any]:
    if isinstance(value, bool) or value is None:
        return [not value, "0"]
    if isinstance(value, int):
        return [value + 1, -1, str(value), float(value)]
    changes: list[Any] = ["", "nan", f"-{value}", 0]
    try:
        number = float.fromhex(value) if "0x" in value and "/" not in value else float(Fraction(value))
    except (ValueError, OverflowError):
        return changes
    return [*changes, (number * (1 + 1e-6)).hex(), (number * (1 - 1e-6)).hex(), (number + 1).hex()]


@pytest.mark.parametrize("name", ["copy", "average", "lower-bounds", "world-balls", "heads"])
def test_dropping_any_name_makes_a_document_unreadable(name: str) -> None:
    original = json.loads((FOLDER / "accept" / f"{name}.json").read_text())
    for part in (
        original,
        original["statement"],
        original["evidence"],
        original["evidence"]["bound"],
        original["statement"]["keys"][0],
    ):
        for entry in list(part):
            kept = part.pop(entry)
            assert verify(json.dumps(original)).word == fast.verify(json.dumps(original)).word == "unreadable"
            part[entry] = kept
    assert verify(json.dumps(original)).word == "verified"
