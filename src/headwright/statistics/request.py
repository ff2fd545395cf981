"""Which statistics are computed, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwright.errors import InputError
from headwright.statistics.attention_config import check_ends
from headwright.statistics.row_block import StatisticsParameters
from headwright.statistics.table import OF_KEYS, TABLE, Statistic, back, of_set


@dataclass(frozen=True)
class StatisticsRequest(StatisticsParameters):
    """Names of the table, and weights at any offsets and on any sets of keys.

    >>> StatisticsRequest.of(("entropy", "received")).rows
    ('entropy',)
    >>> StatisticsRequest.of(("entropi",))
    Traceback (most recent call last):
    headwright.errors.InputError: there is no statistic entropi: expected some of lse, largest, winner, ...
    """

    names: tuple[str, ...] = ()
    offsets: tuple[int, ...] = ()
    sets: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        top: int = 8,
        ends: tuple[int, int] = (4, 64),
        last_rows: int = 64,
    ) -> StatisticsRequest:
        """Checked; a single name may stand for a list of one."""
        names = (names,) if isinstance(names, str) else tuple(names)
        check_names(names)
        check_ends(ends)
        if not names or top < 1 or last_rows < 1:
            raise InputError(
                f"{len(names)} statistics, top = {top}, last_rows = {last_rows}: expected at least one "
                "statistic, and numbers above 0"
            )
        return cls(top, ends, last_rows, tuple(dict.fromkeys(names)))

    @property
    def entries(self) -> tuple[Statistic, ...]:
        """What is computed, each under the name of its entry."""
        named = tuple(TABLE[name] for name in self.names)
        offsets = tuple(back(offset) for offset in self.offsets)
        return named + offsets + tuple(of_set(name) for name in self.sets)

    @property
    def rows(self) -> tuple[str, ...]:
        """Those of rows: the others are of keys."""
        return tuple(name for name in self.names if name not in OF_KEYS)

    def asks(self, names: Sequence[str]) -> bool:
        """Whether one of these is wanted."""
        return any(name in self.names for name in names)


def check_names(names: Sequence[str]) -> None:
    """Refuse a name that is none of the table."""
    for name in names:
        if name not in TABLE:
            raise InputError(
                f"there is no statistic {name}: expected some of {', '.join(TABLE)}"
            )
