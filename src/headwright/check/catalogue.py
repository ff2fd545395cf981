"""Which exercises there are; each is read when it is first looked at, so that one answer costs one exercise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.check.exercise import Exercise

BUILT_IN = Path(__file__).parent / "exercises"  # a file is named for the id in it
MOST_FILES = 200


class Exercises(Mapping[str, "Exercise"]):
    """Exercises by their ids: of those that come with Headwright only the file names are known at first."""

    def __init__(self, own: Mapping[str, Exercise]) -> None:
        """Those that come with Headwright, and some of one's own, which win where ids agree."""
        self._read = dict(own)
        files = sorted(BUILT_IN.glob("*.toml"), key=lambda path: path.stem)
        self._files = {path.stem: path for path in files if path.stem not in own}

    def __getitem__(self, wanted: str) -> Exercise:
        if wanted not in self._read:
            from headwright.check.exercise import read_exercise

            self._read[wanted] = read_exercise(self._files[wanted])
        return self._read[wanted]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._files, **self._read})

    def __len__(self) -> int:
        return len({**self._files, **self._read})


def load_exercises(folder: Path | None = None) -> Exercises:
    """The exercises that come with Headwright, and those in a folder; the latter win where ids agree."""
    if folder is None:
        return Exercises({})
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: expected one with exercises (.toml)")
    files = sorted(folder.glob("*.toml"))[:MOST_FILES]
    if not files:
        raise InputError(f"{folder} has no exercises: expected files that end in .toml")
    from headwright.check.exercise import read_exercise

    return Exercises({exercise.id: exercise for exercise in map(read_exercise, files)})
