"""Finding an exercise by its id, with a hint where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

from headwright.errors import InputError

Thing = TypeVar("Thing")


def find(given: str, known: Mapping[str, Thing]) -> Thing:
    """The exercise with this id, in whatever case it was written.

    >>> find("Copying", {"copying": 1})
    1
    >>> find("coping", {"copying": 1})
    Traceback (most recent call last):
    headwright.errors.InputError: no exercise coping; did you mean copying?
    """
    by_id = {name.lower(): name for name in known}
    wanted = given.strip().lower().replace("_", "-")
    if wanted in by_id:
        return known[by_id[wanted]]
    near = get_close_matches(wanted[:60], list(by_id), n=1, cutoff=0.6)
    hint = f"did you mean {by_id[near[0]]}?" if near else "'headwright exercises' lists them"
    raise InputError(f"no exercise {given[:60]}; {hint}")
