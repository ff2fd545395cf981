"""What the two kinds of statements about every text have in common: strict documents, and digests of numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from headwright.certificates.exact.keys import Malformed
from headwright.certificates.exact.values import parse_json
from headwright.errors import InputError

MOST_SHOWN = 40  # characters of a value in a message

Content = TypeVar("Content")


def read_document(text: str, kind: str, read: Callable[[Any], Content]) -> Content:
    """What is read of a JSON document; an InputError says what is wrong with it."""
    try:
        document = parse_json(text)
    except Malformed as error:
        raise InputError(f"it is not a {kind}: {error}") from error
    try:
        return read(document)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"it is not a {kind}: {error}") from error


def check_number(name: str, value: Any) -> None:
    """Refuse what is not a whole number, 0 or more: True is none."""
    if type(value) is not int or value < 0:
        raise InputError(
            f"{name} has {show_value(value)}: expected a whole number, 0 or more"
        )


def show_value(value: Any) -> str:
    """The beginning of a value, for a message."""
    return json.dumps(value)[:MOST_SHOWN]


def digest_arrays(arrays: Iterable[tuple[str, Any]]) -> str:
    """SHA-256 of the names, shapes and float64 bytes of arrays, in their order."""
    digest = hashlib.sha256()
    for name, numbers in arrays:
        array = np.ascontiguousarray(numbers, dtype="<f8")
        digest.update(f"{name} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()
