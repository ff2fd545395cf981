"""Place labels beside their points, inside the picture, without overlaps where possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

LETTER, LINE = (
    3.3,
    7.5,
)  # half the width of a letter and half the height of a line, in pixels
POINT = 6.0  # half the size of a point
Place = tuple[float, float]
Box = tuple[float, float, float, float]  # middle and half sizes


@dataclass(frozen=True)
class Frame:
    """The square piece of the plane that a picture shows, and how many pixels it is wide."""

    middle: Place
    reach: float
    size: int

    @property
    def unit(self) -> float:
        """What one pixel is."""
        return 2 * self.reach / self.size

    def holds(self, box: Box) -> bool:
        """The box lies inside."""
        return all(
            abs(box[k] - self.middle[k]) + box[k + 2] < self.reach for k in (0, 1)
        )

    def axes(
        self, first: str | None = None, second: str | None = None
    ) -> tuple[alt.X, alt.Y]:
        """Axes that show just this, alike in both directions."""
        x, y = (
            axis(
                f"{name}:Q",
                title=title,
                scale=alt.Scale(domain=[at - self.reach, at + self.reach], nice=False),
            )
            for axis, name, title, at in zip(
                (alt.X, alt.Y), "xy", (first, second), self.middle, strict=True
            )
        )
        return x.axis(tickCount=6), y.axis(tickCount=6)


def beside(
    points: Sequence[tuple[float, float, str]],
    lines: Sequence[tuple[Place, Place]],
    frame: Frame,
    marks: Sequence[Place] = (),
) -> list[Place]:
    """Where the middle of each name goes, for (x, y, name); lines are given by their ends, curves by marks."""
    unit = frame.unit
    taken: list[Box] = [(x, y, POINT * unit, POINT * unit) for x, y, _ in points]
    drawn: list[Box] = [
        (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), unit, unit)
        for a, b in lines
        for part in np.linspace(0, 1, 60).tolist()
    ]
    drawn += [
        (x, y, 2 * unit, 2 * unit) for x, y in marks if frame.holds((x, y, 0.0, 0.0))
    ]
    found = []
    for x, y, name in points:
        half, high = LETTER * len(name) * unit, LINE * unit
        out, up = (1 if at >= 0 else -1 for at in (x, y))
        aside, over = half + 9 * unit, high + 7 * unit
        spots = [
            (x + out * aside, y),
            (x, y + up * over),
            (x, y - up * over),
            (x - out * aside, y),
        ]
        spots += [
            (x + side * aside, y + end * over)
            for side in (out, -out)
            for end in (up, -up)
        ]
        spots += [(x, y + up * 2.2 * over), (x, y - up * 2.2 * over)]
        further = aside + 16 * unit
        spots += [
            (x + side * further, y + end * over)
            for side in (out, -out)
            for end in (0, 1.6 * up, -1.6 * up)
        ]
        boxes = [box for a, b in spots if frame.holds(box := (a, b, half, high))]
        free = [box for box in boxes if not any(_meet(box, other) for other in taken)]
        clear = [box for box in free if not any(_meet(box, other) for other in drawn)]
        best = (clear or free or boxes or [(*spots[0], half, high)])[0]
        taken.append(best)
        found.append(best[:2])
    return found


def _meet(one: Box, other: Box) -> bool:
    return (
        abs(one[0] - other[0]) < one[2] + other[2]
        and abs(one[1] - other[1]) < one[3] + other[3]
    )
