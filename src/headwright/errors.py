"""What can go wrong, as types. Every message names what was given and what was expected."""

from __future__ import annotations


class HeadwrightError(Exception):
    """The root of all errors that Headwright raises on purpose.

    >>> issubclass(InputError, HeadwrightError)
    True
    """


class InputError(HeadwrightError, ValueError):
    """What was given cannot be used: a shape, a number, an index, a file.

    `field` is the argument or the field of a request that it is about, where it is about one.

    >>> raise InputError("rank is 0, expected at least 1", field="rank")
    Traceback (most recent call last):
    headwright.errors.InputError: rank is 0, expected at least 1
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        """With the sentence that is shown, and the argument or field that it is about."""
        super().__init__(message)
        self.field = field


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
