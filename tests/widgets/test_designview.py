"""The kernel's side of the design widget, without a page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headwright import widgets
from headwright.errors import InputError
from headwright.queries import at_least, average, copy
from headwright.trusted.verify import verify
from headwright.widgets.designview import DesignView


def asked(view: DesignView, body: dict[str, Any]) -> dict[str, Any]:
    """What the page is told when it asks."""
    told: list[dict[str, Any]] = []
    view.widget.send = told.append  # what would go to the page
    view.widget._handle_custom_msg({"id": "1", "call": "design", "body": body}, [])
    assert all(one["id"] == "1" for one in told)
    assert all(0 <= one["done"] <= 1 for one in told[:-1])  # how far it is, until it is answered
    return told[-1]


def test_what_is_given_is_read_back() -> None:
    keys = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.25]])
    for wish in (copy(2), copy(1, "0.3"), average([0, 1], "0.05"), at_least({0: "0.25", 2: "0.5"})):
        view = widgets.design(keys, wish, scale="1/2")
        assert np.array_equal(view.keys, keys)
        assert view.wish == wish
        assert view.query is None


def test_what_is_proved_is_about_what_is_shown() -> None:
    view = widgets.design(np.eye(3), copy(0))
    first = view.certificate
    told = asked(view, {"keys": [[2.0, 0.0], [0.0, 1.0]], "copy": 1, "eps": "0.1", "scale": "1", "heads": 1})
    assert told["answer"]["verdict"] == "designed"
    assert view.keys.tolist() == [[2.0, 0.0], [0.0, 1.0]]
    assert view.wish == copy(1, "0.1")
    assert view.certificate is not None
    assert view.certificate == told["answer"]["certificate"] != first
    assert verify(view.certificate).word == "verified"


def test_a_change_that_was_not_asked_about_yet_is_proved_when_python_reads_it() -> None:
    view = widgets.design(np.eye(2))
    assert view.granted
    view.widget.asked = {"keys": [[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]], "copy": 2, "eps": "0.1"}
    assert view.found is not None
    assert view.found.word == "impossible"
    assert not view.granted


def test_without_a_wish_nothing_is_found() -> None:
    view = widgets.design(np.eye(2))
    nothings: tuple[dict[str, Any], ...] = ({"average": [], "eps": "0.1"}, {"at_least": {}})
    for nothing in nothings:
        view.widget.asked = {"keys": [[1.0, 0.0], [0.0, 1.0]], **nothing}
        assert view.found is None
        assert view.wish is None
        assert view.certificate is None
        assert not view.granted


@pytest.mark.parametrize(
    ("body", "where", "words"),
    [
        ({"keys": [[1.0, 0.0], [0.0, 1.0]], "copy": 0, "eps": "0"}, "eps", "more than 0"),
        ({"keys": [[1.0, 0.0], [0.0, 1.0]], "copy": 0, "scale": "x"}, "scale", "expected a number"),
        ({"keys": "no", "copy": 0}, "keys", "list"),
    ],
)
def test_what_cannot_be_used_is_told_and_changes_nothing(body: dict[str, Any], where: str, words: str) -> None:
    view = widgets.design(np.eye(2))
    told = asked(view, body)
    assert told["where"] == where
    assert words in told["error"]
    assert view.granted


@pytest.mark.parametrize(
    "keys",
    [np.ones((1, 2)), np.ones((3, 1)), np.ones((201, 2)), np.ones((2, 17)), np.ones(4), np.array([[1.0, np.nan]])],
)
def test_keys_that_cannot_be_drawn_are_refused(keys: np.ndarray[Any, Any]) -> None:
    with pytest.raises(InputError, match=r"^keys: "):
        widgets.design(keys)


def test_a_wish_for_a_key_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="target 5"):
        widgets.design(np.eye(2), copy(5))
