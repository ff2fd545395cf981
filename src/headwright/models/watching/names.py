"""The names of the statistics that a watched model is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwright.errors import InputError
from headwright.models.rows.scoring import check_ends

POSITIONS = ("distance", "self", "previous")  # of no meaning where rows and keys are of different texts
WHOLE = ("winner", "top_keys")  # whole numbers: positions of keys, -1 for none
PLAIN = (
    "lse", "largest", "winner", "margin", "entropy", "first", "distance", "sensitivity", "largest_score", "self",
    "previous",
)  # fmt: skip
TOP, ENDS, SETS = ("top", "top_keys", "top_weights"), ("start", "middle", "recent"), ("special", "keys")
RECEIVED = ("received", "received_last", "received_most")
ALL = (*PLAIN, *TOP, *ENDS, *SETS, *RECEIVED)
SPOILT = "spoilt"  # beside the statistics: which rows of text have scores that are NaN or +inf
DEFAULT = ("largest", "winner", "entropy", "first", "largest_score")


@dataclass(frozen=True)
class Wanted:
    """Which statistics are kept, and their numbers.

    >>> Wanted.of(("entropy", "received")).rows
    ('entropy',)
    >>> Wanted.of(("entropi",))
    Traceback (most recent call last):
    headwright.errors.InputError: there is no statistic entropi: expected some of lse, largest, winner, margin, \
entropy, first, distance, sensitivity, largest_score, self, previous, top, top_keys, top_weights, start, middle, \
recent, special, keys, received, received_last, received_most
    """

    names: tuple[str, ...]
    top: int = 8
    ends: tuple[int, int] = (4, 64)
    last_rows: int = 64

    @classmethod
    def of(cls, names: Sequence[str], top: int = 8, ends: tuple[int, int] = (4, 64), last_rows: int = 64) -> Wanted:
        """Checked; a single name may stand for a list of one."""
        names = (names,) if isinstance(names, str) else tuple(names)
        for name in names:
            if name not in ALL:
                raise InputError(f"there is no statistic {name}: expected some of {', '.join(ALL)}")
        check_ends(ends)
        if not names or top < 1 or last_rows < 1:
            raise InputError(f"{len(names)} statistics, top = {top}, last_rows = {last_rows}: expected at least one "
                             "statistic, and numbers above 0")  # fmt: skip
        return cls(tuple(dict.fromkeys(names)), top, ends, last_rows)

    @property
    def rows(self) -> tuple[str, ...]:
        """Those of rows: the others are of keys."""
        return tuple(name for name in self.names if name not in RECEIVED)

    def asks(self, names: Sequence[str]) -> bool:
        """Whether one of these is wanted."""
        return any(name in self.names for name in names)
