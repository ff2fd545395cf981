"""What can go wrong, as types. Every message names what was given and what was expected."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from headwright.argument_types import misfit

F = TypeVar("F", bound=Callable[..., Any])
# What a function may raise inside because an argument has a wrong type.
FAILURES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
)


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


def typed_errors(function: F) -> F:
    """Let a public function or class raise `InputError` where an argument of a wrong type made it fail inside.

    Nothing is checked unless the function fails. Then the first argument that does not fit its annotation is named.

    >>> @typed_errors
    ... def shout(text: str, times: int = 1) -> str:
    ...     return text.upper() * times
    >>> shout(3)
    Traceback (most recent call last):
    headwright.errors.InputError: text is 3: expected text
    """
    if isinstance(function, type):
        function.__init__ = typed_errors(function.__init__)  # type: ignore[misc]
        return function

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        try:
            return function(*positional, **named)
        except HeadwrightError:
            raise
        except FAILURES as error:
            complaint = misfit(function, positional, named)
            if complaint is not None:
                raise InputError(complaint) from error
            raise

    return cast("F", call)


def checked_arguments(function: F) -> F:
    """Let a function refuse arguments that do not fit their annotations before it runs, and as `typed_errors` does.

    For functions to which text such as 'no' would be as good as True.

    >>> @checked_arguments
    ... def switch(on: bool = False) -> bool:
    ...     return not on
    >>> switch("no")
    Traceback (most recent call last):
    headwright.errors.InputError: on is 'no': expected True or False
    """
    inner = typed_errors(function)

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        complaint = misfit(function, positional, named)
        if complaint is not None:
            raise InputError(complaint)
        return inner(*positional, **named)

    return cast("F", call)
