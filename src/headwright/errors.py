"""What can go wrong, as types. Every message names what was given and what was expected."""

import functools
import inspect
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
LOOKED_AT = 100  # entries of a list whose types are looked at
WORDS: dict[object, str] = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    str: "text",
    Path: "a path",
    type(None): "None",
    Callable: "a function",
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
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except HeadwrightError:
            raise
        except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
            _refuse_misfit(function, given, named, error)
            raise

    return cast("F", call)


def _refuse_misfit(
    function: Callable[..., object], given: tuple[object, ...], named: dict[str, object], error: Exception
) -> None:
    """Raise `InputError` for the first argument that does not fit its annotation, if there is one."""
    try:
        bound = inspect.signature(function).bind(*given, **named)
    except TypeError:  # a call with too few or too many arguments, which Python reports by itself
        return
    for name, value in bound.arguments.items():
        hint, several = _hint(function, name), bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        for one in value if several else (value,):
            if not _fits(one, hint):
                raise InputError(f"{name} is {reprlib.repr(one)}: expected {_described(hint)}") from error


def _hint(function: Callable[..., object], name: str) -> Any:
    """The type of a parameter; its name as text where it is imported for type checkers alone."""
    written = function.__annotations__.get(name, Any)
    only = types.SimpleNamespace(__annotations__={name: written})
    try:
        return typing.get_type_hints(only, globalns=getattr(function, "__globals__", {}))[name]
    except NameError:
        return written


def _fits(value: object, hint: Any) -> bool:
    """Whether a value may have this type; a type that cannot be judged here fits."""
    if isinstance(hint, str):  # a class that is not imported here: no built-in type, and no array
        return not hint.isidentifier() or not (type(value).__module__ == "builtins" or hasattr(value, "ndim"))
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, one) for one in inner)
    if origin is typing.Literal:
        return isinstance(value, str | int) and value in inner
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if origin is not None and issubclass(origin, Iterable):
        if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
            return False
        if not isinstance(value, Sequence):
            return inner[0] not in (int, float, str) or getattr(value, "ndim", 1) == 1
        return all(_fits(one, inner[0]) for one in value[:LOOKED_AT])
    kind = origin or hint
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    if getattr(kind, "_is_protocol", False):
        wanted = {name for name in (*vars(kind), *kind.__annotations__) if not name.startswith("_")}
        return all(hasattr(value, name) for name in wanted) and ("__call__" not in vars(kind) or callable(value))
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _described(hint: Any) -> str:
    """A type in words.

    >>> _described(int | None), _described(list[float]), _described(InputError)
    ('a whole number or None', 'a list', 'InputError')
    """
    if isinstance(hint, str):
        return hint
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(dict.fromkeys(map(_described, inner)))
    if origin is typing.Literal:
        return " or ".join(map(repr, inner))
    kind = origin or hint
    if kind is not Callable and isinstance(kind, type) and issubclass(kind, Iterable) and kind not in WORDS:
        return "a mapping" if issubclass(kind, Mapping) else "a list"
    return WORDS.get(kind, getattr(kind, "__name__", str(kind)))


def install_line(extra: str) -> str:
    """How to get the libraries of an extra. No registry has Headwright, so it is a line for a clone of it.

    >>> install_line("lab")
    "pip install '.[lab]' in a clone of Headwright"
    """
    return f"pip install '.[{extra}]' in a clone of Headwright"
