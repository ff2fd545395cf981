"""Libraries that are extras: loaded when they are needed, and missed with a sentence that says how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from headwright.errors import InputError, install_line


def load_extra(name: str, extra: str) -> Any:
    """The module of that name, which the extra brings.

    >>> load_extra("no_such_library", "export")
    Traceback (most recent call last):
    headwright.errors.InputError: no_such_library is not installed: pip install '.[export]' in a clone of Headwright
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != name.partition(".")[0]:
            raise  # it is there, and what it needs itself is not
        package = name.partition(".")[0]
        raise InputError(f"{package} is not installed: {install_line(extra)}") from error
