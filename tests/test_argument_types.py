"""Arguments of a wrong type are refused by their names; what fits passes, whichever library it is of."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pytest

from headwright.argument_types import check_argument, checked_arguments
from headwright.errors import FullyMaskedError, InputError

if TYPE_CHECKING:
    from headwright.auditing import Audit


class Named(Protocol):
    name: str


KINDS: dict[str, Any] = {
    "number": int,
    "text": str | None,
    "path": str | Path,
    "share": float,
    "several": Sequence[int],
    "table": Mapping[int, float] | None,
    "kind": Literal["size", "rank"],
    "call": Callable[[float], None] | None,
    "named": Named | None,
    "anything": Any,
}


@checked_arguments
def checked(
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
    error: Exception | None = None,
) -> None:
    if error is not None:
        raise error


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("number", "3", "number is '3': expected a whole number"),
        ("number", True, "number is True: expected a whole number"),
        ("number", None, "number is None: expected a whole number"),
        ("text", 3, "text is 3: expected text or None"),
        ("path", 3, "path is 3: expected text or a path"),
        ("share", "half", "share is 'half': expected a number"),
        ("several", "12", "several is '12': expected a list"),
        ("several", [1, None], "several is .*: expected a list"),
        ("several", np.eye(2), "several is .*: expected a list"),
        ("table", [1], "table is .*: expected a mapping or None"),
        ("kind", "length", "kind is 'length': expected 'size' or 'rank'"),
        ("call", 3, "call is 3: expected a function or None"),
        ("named", 3, "named is 3: expected Named or None"),
    ],
)
def test_the_argument_that_does_not_fit_is_named(
    name: str, value: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        check_argument(name, value, KINDS[name])
    assert caught.value.field == name
    with pytest.raises(InputError, match=words):
        checked(**{name: value})


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
        },
    ],
)
def test_what_fits_passes(given: dict[str, Any]) -> None:
    for name, value in given.items():
        check_argument(name, value, KINDS[name])
    checked(**given)


def test_an_error_from_within_is_kept() -> None:
    with pytest.raises(FullyMaskedError):
        checked(error=FullyMaskedError("no key"))
    with pytest.raises(ValueError, match="inside") as caught:
        checked(error=ValueError("inside"))
    assert not isinstance(caught.value, InputError)


def test_a_call_that_python_refuses_is_refused_by_python() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        checked(other=3)  # type: ignore[call-arg]


def test_the_field_of_an_error_comes_out_of_another_process() -> None:
    error = InputError("eps is 0: expected more than 0", field="eps")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.field) == (str(error), "eps")
