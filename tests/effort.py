"""How much is tried: `make test` tries a part of what `make test-all` tries, and the same part each time."""

from __future__ import annotations

import os

ALL = os.environ.get("HEADWRIGHT_TESTS") == "all"


def tried(number: int, part: int = 4) -> int:
    """How many of so many cases: all of them, or one in `part`.

    >>> tried(100) in (100, 25)
    True
    """
    return number if ALL else -(-number // part)
