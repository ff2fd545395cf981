"""Arguments of public functions: does a value fit a type, and if not, an error that names both.

A public function calls `check_argument` for what would otherwise fail somewhere inside, with an error that names no
argument. Arrays are read by `arrays` and `files.finite`, which say what is wrong with them.
"""

from __future__ import annotations

import functools
import inspect
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar, cast

from headwright.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])
MAX_ENTRIES = 100  # of a list whose types are looked at
WORDS: dict[object, str] = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    str: "text",
    Path: "a path",
    type(None): "None",
    Callable: "a function",
}


def check_argument(name: str, value: object, kind: Any) -> None:
    """Refuse a value that is not of this type; whole numbers of NumPy are whole numbers, and True is none.

    >>> check_argument("tries", 200, int)
    >>> check_argument("tries", "many", int | None)
    Traceback (most recent call last):
    headwright.errors.InputError: tries is 'many': expected a whole number or None
    """
    if not fits(value, kind):
        raise InputError(
            f"{name} is {reprlib.repr(value)}: expected {describe(kind)}", field=name
        )


def checked_arguments(function: F) -> F:
    """Let a function refuse arguments that do not fit their annotations before it runs.

    For functions to which text such as 'no' would be as good as True.

    >>> @checked_arguments
    ... def switch(on: bool = False) -> bool:
    ...     return not on
    >>> switch("no")
    Traceback (most recent call last):
    headwright.errors.InputError: on is 'no': expected True or False
    """

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        complaint = misfit(function, positional, named)
        if complaint is not None:
            raise InputError(complaint)
        return function(*positional, **named)

    return cast("F", call)


def misfit(
    function: Callable[..., object],
    positional: tuple[object, ...],
    named: dict[str, object],
) -> str | None:
    """The first argument that does not fit its annotation, and what is expected; None if all fit.

    >>> def shout(text: str, times: int = 1) -> str:
    ...     return text.upper() * times
    >>> misfit(shout, (3,), {}), misfit(shout, ("no",), {"times": 2})
    ('text is 3: expected text', None)
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*positional, **named)
    except TypeError:  # too few or too many arguments, which Python reports by itself
        return None
    for name, argument in bound.arguments.items():
        hint = _hint(function, name)
        is_list = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        for value in argument if is_list else (argument,):
            if not fits(value, hint):
                return f"{name} is {reprlib.repr(value)}: expected {describe(hint)}"
    return None


def _hint(function: Callable[..., object], name: str) -> Any:
    """The type of a parameter; its name as text where it is imported for type checkers alone."""
    annotation = function.__annotations__.get(name, Any)
    alone = types.SimpleNamespace(__annotations__={name: annotation})
    names = getattr(function, "__globals__", {})
    try:
        return typing.get_type_hints(alone, globalns=names)[name]
    except NameError:
        return annotation


def fits(value: object, hint: Any) -> bool:
    """Whether a value may have this type; a type that cannot be judged here fits.

    >>> fits(True, int), fits([1, 2], list[float]), fits("a", int | None), fits(None, int | None)
    (False, True, False, True)
    """
    if isinstance(hint, str):
        return _fits_unknown_class(value, hint)
    origin = typing.get_origin(hint)
    inner = typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return any(fits(value, choice) for choice in inner)
    if origin is typing.Literal:
        return isinstance(value, str | int) and value in inner
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if origin is not None and issubclass(origin, Iterable):
        return _fits_list(value, inner[0])
    kind = origin or hint
    if kind is bool and type(value).__module__ == "numpy":
        return type(value).__name__ in ("bool", "bool_")
    if kind in (int, float):
        number = Integral if kind is int else Real
        return isinstance(value, number) and not isinstance(value, bool)
    if getattr(kind, "_is_protocol", False):
        return _fits_protocol(value, kind)
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _fits_unknown_class(value: object, name: str) -> bool:
    """A class that is not imported here is no built-in type and no array; anything may fit an expression."""
    if not name.isidentifier():
        return True
    return type(value).__module__ != "builtins" and not hasattr(value, "ndim")


def _fits_list(value: object, entry: Any) -> bool:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        return False
    if isinstance(value, Sequence):
        return all(fits(item, entry) for item in value[:MAX_ENTRIES])
    # An array or another iterable: a list of numbers or texts has one axis.
    return entry not in (int, float, str) or getattr(value, "ndim", 1) == 1


def _fits_protocol(value: object, protocol: Any) -> bool:
    names = {*vars(protocol), *protocol.__annotations__}
    public = {name for name in names if not name.startswith("_")}
    if "__call__" in vars(protocol) and not callable(value):
        return False
    return all(hasattr(value, name) for name in public)


def describe(hint: Any) -> str:
    """A type in words.

    >>> describe(int | None), describe(list[float]), describe(Path)
    ('a whole number or None', 'a list', 'a path')
    """
    if isinstance(hint, str):
        return hint
    origin = typing.get_origin(hint)
    inner = typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(dict.fromkeys(describe(choice) for choice in inner))
    if origin is typing.Literal:
        return " or ".join(repr(choice) for choice in inner)
    kind = origin or hint
    if kind in WORDS:
        return WORDS[kind]
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return "a mapping"
    if isinstance(kind, type) and issubclass(kind, Iterable):
        return "a list"
    return getattr(kind, "__name__", str(kind))
