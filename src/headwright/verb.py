"""Packages named for a verb can be called: headwright.design(keys, wish) is headwright.queries.design(keys, wish)."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Verb(ModuleType):
    """A package that is also the function of its name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **options)


def make_callable(package: str) -> None:
    """Let a package be called for the function that it holds under its own name.

    >>> import headwright.check
    >>> headwright.check("averaging-two", r"q = \\lambda (k_a + k_b)").word
    'proved'
    """
    sys.modules[package].__class__ = _Verb
