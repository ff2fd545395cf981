"""What can go wrong, as types. Every message names what was given and what was expected."""

import reprlib
from collections.abc import Iterable
from numbers import Integral
from pathlib import Path

TYPES: dict[str, tuple[type, ...]] = {  # what is expected of an argument, and the types that are that
    "a path": (str, Path),
    "text": (str,),
    "a whole number": (Integral,),
    "a list": (Iterable,),
}


class HeadwrightError(Exception):
    """The root of all errors that Headwright raises on purpose.

    >>> issubclass(InputError, HeadwrightError)
    True
    """


class InputError(HeadwrightError, ValueError):
    """What was given cannot be used: a shape, a number, an index, a file.

    >>> raise InputError("rank is 0, expected at least 1")
    Traceback (most recent call last):
    headwright.errors.InputError: rank is 0, expected at least 1
    """


class FullyMaskedError(InputError):
    """A row of scores allows no key at all, so it has no pattern.

    >>> issubclass(FullyMaskedError, InputError)
    True
    """


class ContradictionError(HeadwrightError):
    """A witness or an instance contradicts what was proved: an error of Headwright's own, exit code 4.

    Nothing may be printed as proved. It is no InputError, so that nothing takes it for a refusal.

    >>> issubclass(ContradictionError, InputError)
    False
    """


def check_type(value: object, what: str, expected: str, *, optional: bool = False) -> None:
    """Refuse an argument of another type than is expected, by a sentence instead of an AttributeError later on.

    >>> check_type(3, "text", "text")
    Traceback (most recent call last):
    headwright.errors.InputError: text is 3: expected text
    >>> check_type(None, "tokens", "a whole number", optional=True)
    """
    if optional and value is None:
        return
    if not isinstance(value, TYPES[expected]) or (isinstance(value, bool | str) and str not in TYPES[expected]):
        raise InputError(f"{what} is {reprlib.repr(value)}: expected {expected}")


def install_line(extra: str) -> str:
    """How to get the libraries of an extra. No registry has Headwright, so it is a line for a clone of it.

    >>> install_line("lab")
    "pip install '.[lab]' in a clone of Headwright"
    """
    return f"pip install '.[{extra}]' in a clone of Headwright"
