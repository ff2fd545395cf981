"""Place labels beside their points, inside the picture, without overlaps where possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

# In pixels.
HALF_LETTER = 3.3  # half the width of a letter
HALF_LINE = 7.5  # half the height of a line
HALF_POINT = 6.0  # half the size of a point
# The gap between a point and its name.
ASIDE = 9  # sideways
OVER = 7  # up or down
FURTHER = 16  # the larger gap of names for which there is no room beside the point
DOTS = 60  # by which a line is known, when names keep away from it
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
        across = abs(box[0] - self.middle[0]) + box[2]
        along = abs(box[1] - self.middle[1]) + box[3]
        return across < self.reach and along < self.reach

    def axes(
        self, first: str | None = None, second: str | None = None
    ) -> tuple[alt.X, alt.Y]:
        """Axes that show just this, alike in both directions."""
        x = alt.X("x:Q", title=first, scale=self._scale(self.middle[0]))
        y = alt.Y("y:Q", title=second, scale=self._scale(self.middle[1]))
        return x.axis(tickCount=6), y.axis(tickCount=6)

    def _scale(self, middle: float) -> alt.Scale:
        domain = [middle - self.reach, middle + self.reach]
        return alt.Scale(domain=domain, nice=False)


def beside(
    points: Sequence[tuple[float, float, str]],
    lines: Sequence[tuple[Place, Place]],
    frame: Frame,
    marks: Sequence[Place] = (),
) -> list[Place]:
    """Where the middle of each name goes, for (x, y, name); lines are given by their ends, curves by marks."""
    unit = frame.unit
    half_point = HALF_POINT * unit
    taken: list[Box] = [(x, y, half_point, half_point) for x, y, _ in points]
    drawn: list[Box] = []
    for (x0, y0), (x1, y1) in lines:
        for part in np.linspace(0, 1, DOTS).tolist():
            drawn.append((x0 + part * (x1 - x0), y0 + part * (y1 - y0), unit, unit))
    for x, y in marks:
        if frame.holds((x, y, 0.0, 0.0)):
            drawn.append((x, y, 2 * unit, 2 * unit))
    middles = []
    for x, y, name in points:
        half_width = HALF_LETTER * len(name) * unit
        half_height = HALF_LINE * unit
        spots = _spots((x, y), half_width, half_height, unit)
        boxes: list[Box] = [(a, b, half_width, half_height) for a, b in spots]
        best = _best(boxes, taken, drawn, frame)
        taken.append(best)
        middles.append(best[:2])
    return middles


def _spots(
    point: Place, half_width: float, half_height: float, unit: float
) -> list[Place]:
    """Where the middle of a name may go, the best place first: away from the origin, sideways before up and down."""
    x, y = point
    out = 1 if x >= 0 else -1
    up = 1 if y >= 0 else -1
    aside = half_width + ASIDE * unit
    over = half_height + OVER * unit
    spots = [
        (x + out * aside, y),
        (x, y + up * over),
        (x, y - up * over),
        (x - out * aside, y),
    ]
    for side in (out, -out):
        for end in (up, -up):
            spots.append((x + side * aside, y + end * over))
    spots.append((x, y + up * 2.2 * over))
    spots.append((x, y - up * 2.2 * over))
    further = aside + FURTHER * unit
    for side in (out, -out):
        for rise in (0, 1.6 * up, -1.6 * up):
            spots.append((x + side * further, y + rise * over))
    return spots


def _best(
    boxes: Sequence[Box], taken: Sequence[Box], drawn: Sequence[Box], frame: Frame
) -> Box:
    """The first box that meets nothing; else one that meets no other name; else one inside; else the first."""
    inside = [box for box in boxes if frame.holds(box)]
    free = [box for box in inside if not _meets_any(box, taken)]
    for box in free:
        if not _meets_any(box, drawn):
            return box
    return (free or inside or boxes)[0]


def _meets_any(box: Box, others: Sequence[Box]) -> bool:
    x, y, half_width, half_height = box
    for other_x, other_y, other_half_width, other_half_height in others:
        meets_across = abs(x - other_x) < half_width + other_half_width
        meets_along = abs(y - other_y) < half_height + other_half_height
        if meets_across and meets_along:
            return True
    return False
