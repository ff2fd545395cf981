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
# A part, or one that was not written to its end.
PART = re.compile(r"[0-9a-f]{64}\.npz|\.[0-9a-f]{64}\.npz\..+")


def cache_folder() -> Path:
    """Where parts are stored unless told otherwise: in the folder that the system has for such things."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return base / "headwright" / "audit"


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
    for entry in inside:
        if AUDIT.fullmatch(entry.name) and not entry.is_symlink() and entry.is_dir():
            with suppress(OSError):  # an audit that is just done has removed it
                yield _read_unfinished(entry)


def _read_unfinished(folder: Path) -> Unfinished:
    files = [
        file
        for file in sorted(folder.iterdir())
        if PART.fullmatch(file.name) and not file.is_symlink()
    ]
    states = [file.stat() for file in files]
    changed = max(state.st_mtime for state in [folder.stat(), *states])
    size = sum(state.st_size for state in states)
    return Unfinished(folder, tuple(files), size, changed)


def remove_stale(folder: Path, days: float = STALE_DAYS) -> int:
    """Remove what was left so long ago, and say how many audits it was of.

    An audit that still runs adds a part every few minutes. If one had slept for two weeks it would lose no more than
    the chance to be resumed.
    """
    removed = 0
    for audit in unfinished(folder):
        if audit.days < days:
            continue
        with suppress(OSError):
            for file in audit.files:
                file.unlink(missing_ok=True)
            audit.folder.rmdir()
            removed += 1
    return removed
