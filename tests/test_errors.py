"""Typed errors: an argument of a wrong type is named where it made a function fail, and nothing else is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pytest

from headwright.errors import (
    FullyMaskedError,
    HeadwrightError,
    InputError,
    typed_errors,
)

if TYPE_CHECKING:
    from headwright.auditing import Audit


class Named(Protocol):
    name: str


@typed_errors
def fails(
    number: int = 1,
    *,
    text: str | None = None,
    path: str | Path = "",
    share: float = 0.5,
    several: Sequence[int] = (),
    table: Mapping[int, float] | None = None,
    kind: Literal["size", "rank"] = "size",
    call: Callable[[float], None] | None = None,
    named: Named | None = None,
    unknown: Audit | None = None,
    anything: Any = None,
    error: Exception = ValueError("inside"),  # noqa: B008
) -> None:
    raise error


@typed_errors
@dataclass(frozen=True)
class Span:
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InputError("low is above high")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"number": "3"}, "number is '3': expected a whole number"),
        ({"number": True}, "number is True: expected a whole number"),
        ({"number": None}, "number is None: expected a whole number"),
        ({"text": 3}, "text is 3: expected text or None"),
        ({"path": 3}, "path is 3: expected text or a path"),
        ({"share": "half"}, "share is 'half': expected a number"),
        ({"several": "12"}, "several is '12': expected a list"),
        ({"several": [1, None]}, "several is .*: expected a list"),
        ({"several": np.eye(2)}, "several is .*: expected a list"),
        ({"table": [1]}, "table is .*: expected a mapping or None"),
        ({"kind": "length"}, "kind is 'length': expected 'size' or 'rank'"),
        ({"call": 3}, "call is 3: expected a function or None"),
        ({"named": 3}, "named is 3: expected Named or None"),
    ],
)
def test_the_argument_that_does_not_fit_is_named(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        fails(**given)


@pytest.mark.parametrize(
    "given",
    [
        {
            "number": np.int64(3),
            "share": np.float32(1),
            "several": np.arange(3),
            "anything": object(),
        },
        {
            "share": 1,
            "several": (1, 2),
            "path": Path(),
            "named": Path("a"),
            "table": {},
            "call": print,
            "unknown": None,
        },
    ],
)
def test_an_error_that_no_argument_explains_is_kept(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="inside") as caught:
        fails(**given)
    assert not isinstance(caught.value, HeadwrightError)


def test_an_error_of_ours_is_kept() -> None:
    with pytest.raises(FullyMaskedError):
        fails("3", error=FullyMaskedError("no key"))  # type: ignore[arg-type]


def test_a_call_that_python_refuses_is_refused_by_python() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        fails(other=3)  # type: ignore[call-arg]


def test_a_class_is_checked_when_it_is_made() -> None:
    assert Span(1, 2).high == 2
    with pytest.raises(InputError, match="high is 'b': expected a number"):
        Span(1, "b")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="low is above high"):
        Span(2, 1)
