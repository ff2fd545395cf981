"""The folder where parts of audits are kept until these are done, and what audits left there that never were.

An audit removes its own parts at its end. One that was killed leaves them, to be resumed; nobody else would ever remove
them. So the next audit removes those to which nothing was added for two weeks.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

STALE_DAYS = 14
AUDIT = re.compile(r"[0-9a-f]{32}")  # the name of the folder of one audit
PART = re.compile(r"[0-9a-f]{64}\.npz|\.[0-9a-f]{64}\.npz\..+")  # a part, or one that was not written to its end


def cache_folder() -> Path:
    """Where parts are kept unless told otherwise: in the folder that the system has for such things."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "headwright" / "audit"


@dataclass(frozen=True)
class Unfinished:
    """What an audit left that did not come to its end, or has not yet."""

    folder: Path
    files: tuple[Path, ...]
    size: int  # bytes
    changed: float  # when a part was added last, in seconds since 1970

    @property
    def days(self) -> float:
        """How long ago that was."""
        return (time.time() - self.changed) / 86400


def unfinished(folder: Path) -> Iterator[Unfinished]:
    """What audits left in the cache folder. Links, and whatever no audit wrote, are not looked at."""
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    for each in inside:
        if not AUDIT.fullmatch(each.name) or each.is_symlink() or not each.is_dir():
            continue
        with suppress(OSError):  # an audit that is just done has removed it
            files = [file for file in sorted(each.iterdir()) if PART.fullmatch(file.name) and not file.is_symlink()]
            states = [file.stat() for file in files]
            changed = max([each.stat().st_mtime, *(state.st_mtime for state in states)])
            yield Unfinished(each, tuple(files), sum(state.st_size for state in states), changed)


def remove_stale(folder: Path, days: float = STALE_DAYS) -> int:
    """Remove what was left so long ago, and say how many audits it was of.

    An audit that still runs adds a part every few minutes. If one had slept for two weeks it would lose no more than
    the chance to be resumed.
    """
    removed = 0
    for one in unfinished(folder):
        if one.days < days:
            continue
        with suppress(OSError):
            for file in one.files:
                file.unlink(missing_ok=True)
            one.folder.rmdir()
            removed += 1
    return removed
