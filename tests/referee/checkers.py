"""All checkers that are here, each by itself: what a text is to them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import headwright

Checker = Callable[[str], str]  # a certificate -> verified, rejected, unreadable, ...
PROBE = (
    Path(__file__).parent.parent / "certificates" / "corpus" / "accept" / "copy.json"
)


def checkers() -> dict[str, Checker]:
    """By name: `exact`, `float`, and `proved` where it is built."""
    if "checker" in inspect.signature(headwright.verify).parameters:
        found = {
            name: _of(headwright.verify, checker=name)
            for name in ("exact", "float", "proved")
        }
    else:
        names = {
            "exact": "headwright.certificates.exact.verify",
            "float": "headwright.certificates.floating",
        }
        found = {
            name: _of(importlib.import_module(module).verify)
            for name, module in names.items()
        }
    return {
        name: check
        for name, check in found.items()
        if name != "proved" or _is_here(check)
    }


def _of(verify: Callable[..., Any], **options: Any) -> Checker:
    def check(text: str) -> str:
        return str(verify(text, **options).word)

    return check


def _is_here(check: Checker) -> bool:
    try:
        return check(PROBE.read_text()) == "verified"
    except headwright.HeadwrightError:
        return False
