"""The house as a drawing: its rooms from the import contract, its arrows from the imports that are there.

    python docs/site/house.py     draw it anew

An arrow that follows from two others is left out, so that what is drawn is what one has to know. A room stands one
floor above the highest room that it knows; a floor of many rooms is drawn as two rows.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path

from headwright import theme

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "headwright"
DRAWING = ROOT / "docs" / "house.svg"
TELLS = {
    "cli": "the command line",
    "widgets": "the lab in a notebook",
    "lab": "a page on this machine",
    "tour": "the story of make demo",
    "check": "answers, proved or refuted",
    "weights": "rules to whole heads",
    "models": "what trained heads do",
    "queries": "wish, query, certificate",
    "verification": "two checkers must agree",
    "fast": "the floating-point checker",
    "pictures": "results as charts",
    "layer": "self-attention, order",
    "positions": "which coincide",
    "noise": "worlds",
    "lowrank": "certified cuts",
    "attention": "the definition",
    "files": "arrays in, files out",
    "enclosure": "numbers from both sides",
    "formula": "the formula language",
    "running": "bounded processes",
    "rocq": "certificates for a kernel",
    "workers": "workers of a cluster",
    "cards": "results in notebooks",
    "errors": "what can go wrong",
    "trusted": "the exact checker",
    "theme": "colours and type, once",
}
WIDE, HIGH, GAP, LIFT, EDGE = 192, 52, 22, 44, 14
MOST = 5  # rooms beside each other: more, and nobody could read them on a page
STYLE = f"""
:root {{{theme.properties(theme.LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{{theme.properties(theme.DARK)} }} }}
text {{ font: 600 17px var(--font); fill: var(--ink); text-anchor: middle }}
.tell {{ font-weight: 400; font-size: 13px; fill: var(--quiet) }}
rect {{ fill: var(--code); stroke: var(--key) }}
.trusted rect {{ stroke: var(--target-deep); stroke-width: 3 }}
path {{ fill: none; stroke: var(--quiet); stroke-width: 1; marker-end: url(#tip) }}
#tip path {{ fill: var(--quiet); stroke: none; marker-end: none }}
"""


def rooms() -> set[str]:
    """All rooms, as the import contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    house = next(contract for contract in contracts if contract["id"] == "house")
    return {room.strip().removeprefix("headwright.") for floor in house["layers"] for room in floor.split("|")}


def imports(known: set[str]) -> dict[str, set[str]]:
    """Which rooms each room imports, anywhere in it; what only type checkers read does not count."""
    found: dict[str, set[str]] = {room: set() for room in known}
    for room in known:
        files = (PACKAGE / room).rglob("*.py") if (PACKAGE / room).is_dir() else [PACKAGE / f"{room}.py"]
        for file in files:
            names = {name for node in _running(ast.parse(file.read_text())) for name in _imported(node)}
            found[room] |= names & known - {room}
    return found


def _running(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _running(child)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("headwright.")]
    if isinstance(node, ast.ImportFrom) and node.module:
        if node.module == "headwright":
            return [alias.name for alias in node.names]
        if node.module.startswith("headwright."):
            return [node.module.split(".")[1]]
    return []


def arrows(known: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Those that do not follow from others.

    >>> arrows({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    [('a', 'b'), ('b', 'c')]
    """

    def reach(room: str) -> set[str]:
        return known[room].union(*(reach(other) for other in known[room]))

    return sorted((a, b) for a in known for b in known[a] if not any(b in reach(c) for c in known[a] if c != b))


def floors(known: dict[str, set[str]]) -> list[list[str]]:
    """Rooms floor by floor from the top; on each floor, above the middle of what they know, so that few arrows cross.

    >>> floors({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    [['a'], ['b'], ['c']]
    """

    def height(room: str) -> int:
        return 1 + max(map(height, known[room]), default=-1)

    levels = [sorted(room for room in known if height(room) == floor) for floor in range(len(known))]
    levels = [level for level in levels if level]
    at = {room: number - (len(level) - 1) / 2 for level in levels for number, room in enumerate(level)}
    below = dict.fromkeys(known, ()) | {a: tuple(b for x, b in arrows(known) if x == a) for a in known}
    above = {b: tuple(a for a, x in arrows(known) if x == b) for b in known}
    for near in (below, above) * 4:
        for level in levels:
            level.sort(key=lambda room: (sum(at[o] for o in near[room]) / (len(near[room]) or 1), room))
            at |= {room: number - (len(level) - 1) / 2 for number, room in enumerate(level)}
    return levels[::-1]


def drawing() -> str:
    """The house as SVG."""
    known = imports(rooms())
    rows = [row for floor in floors(known) for row in _narrow(floor)]
    width = 2 * EDGE + MOST * WIDE + (MOST - 1) * GAP
    place = {}
    for floor, (row, aside) in enumerate(rows):
        left = (width - len(row) * WIDE - (len(row) - 1) * GAP) / 2 + aside
        for number, room in enumerate(row):
            place[room] = (left + number * (WIDE + GAP), EDGE + floor * (HIGH + LIFT))
    lines = [_arrow(place[a], place[b]) for a, b in arrows(known)]
    boxes = [_box(room, *place[room], known[room]) for room in place]
    tip = '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    height = 2 * EDGE + len(rows) * (HIGH + LIFT) - LIFT
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            "<title>The rooms of the house; arrows say which room knows which</title>",
            f'<style>{STYLE}</style><defs>{tip}<path d="M0 0L8 4L0 8z"/></marker></defs>',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


def _narrow(floor: list[str]) -> list[tuple[list[str], float]]:
    """A floor in one row, or in two that stand between each other's rooms; and how far to the right of the middle."""
    if len(floor) <= MOST:
        return [(floor, 0.0)]
    step = (WIDE + GAP) / 4 if len(floor) % 2 == 0 else 0.0
    return [(floor[::2], -step), (floor[1::2], step)]


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (u, v) = (start[0] + WIDE / 2, start[1] + HIGH), (end[0] + WIDE / 2, end[1])
    bend = min(60, (v - y) / 2)
    if x == u and v - y > LIFT:  # around the rooms in between
        aside = x - (WIDE + GAP) * 2 / 3
        return f'<path d="M{x:g} {y:g}C{aside:g} {y + bend:g} {aside:g} {v - bend:g} {u:g} {v:g}"/>'
    return f'<path d="M{x:g} {y:g}C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}"/>'


def _box(room: str, x: float, y: float, knows: set[str]) -> str:
    said = f"{room} knows {', '.join(sorted(knows)) or 'nobody'}"
    middle = x + WIDE / 2
    return (
        f'<g class="{room}"><title>{escape(said)}</title>'
        f'<rect x="{x:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="6"/>'
        f'<text x="{middle:g}" y="{y + 22:g}">{room}</text>'
        f'<text class="tell" x="{middle:g}" y="{y + 41:g}">{escape(TELLS.get(room, ""))}</text></g>'
    )


if __name__ == "__main__":
    DRAWING.write_text(drawing())
