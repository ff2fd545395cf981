"""All checkers that are here, each by itself: what a text is to them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import headwright

Checker = Callable[[str], str]  # a certificate -> verified, rejected, unreadable, ...


def checkers() -> dict[str, Checker]:
    """By name: `exact`, `float`, and `proved` where it is built."""
    if "checker" in inspect.signature(headwright.verify).parameters:
        found = {name: _of(headwright.verify, checker=name) for name in ("exact", "float", "proved")}
    else:
        names = {"exact": "headwright.trusted.verify", "float": "headwright.fast"}
        found = {name: _of(importlib.import_module(module).verify) for name, module in names.items()}
    return {name: check for name, check in found.items() if name != "proved" or _is_here(check)}


def _of(verify: Callable[..., Any], **options: Any) -> Checker:
    def check(text: str) -> str:
        return str(verify(text, **options).word)

    return check


PROBE = (
    '{"format": "headwright certificate", "version": 2, "statement": {"claim": "designed", "heads": 1, "keys": [{"n": 2, '
    '"d": 1, "sha256": "da9fbbbe9fdb7b07ed8eb3ba74f0a9a9d5ddc1a7c1a38de3a8e3d29df1b1c9f3", "rows": [["0x1.0p+0"], '
    '["-0x1.0p+0"]]}], "scale": "1", "wish": {"0": "1/2"}, "world": [], "confidence": "1", "queries": [["0x1.0p+0"]], '
    '"none_shorter": "0"}, "evidence": {"guard": null, "bound": null}}'
)


def _is_here(check: Checker) -> bool:
    try:
        return check(PROBE) in ("verified", "rejected", "unreadable")
    except headwright.HeadwrightError:
        return False
