"""What can go wrong, as types. Every message names what was given and what was expected."""


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


def install_line(extra: str) -> str:
    """How to get the libraries of an extra. No registry has Headwright, so it is a line for a clone of it.

    >>> install_line("lab")
    "pip install '.[lab]' in a clone of Headwright"
    """
    return f"pip install '.[{extra}]' in a clone of Headwright"
