"""Draw the architecture: packages from the import contract, arrows from the actual imports.

    python docs/site/architecture.py     draws docs/contributing/architecture.svg

An arrow that follows from two others is left out. A package is drawn one layer above the highest package that it
imports; a layer of many packages is drawn as two rows.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from headwright import theme

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "headwright"
DRAWING = ROOT / "docs" / "contributing" / "architecture.svg"
PURPOSES = {
    "cli": "the command line",
    "page": "checks in a browser",
    "lab": "a page on this machine",
    "tour": "the demo",
    "grading": "answers, proved or refuted",
    "verification": "a certificate of any kind",
    "head_design": "rules to whole heads",
    "auditing": "what heads do on texts",
    "text_bounds": "what they do on every text",
    "value_ranges": "what keys and values can be",
    "watching": "statistics as a model runs",
    "query_design": "target, query, certificate",
    "models": "tokens in, Q and K out",
    "statistics": "rows without patterns",
    "certificates": "two checkers must agree",
    "pictures": "results as charts",
    "layer": "self-attention, order",
    "conformance": "a kernel, or rounding?",
    "positions": "position encodings",
    "simulation": "how often a target is met",
    "lowrank": "certified truncation",
    "uncertainty": "what keys may be",
    "attention": "the definition",
    "files": "arrays in, files out",
    "optimisation": "solvers of both designs",
    "arrays": "arrays of any library",
    "formulas": "the formula language",
    "numerics": "enclosures, balls, exp",
    "subprocesses": "bounded processes",
    "workers": "workers of a cluster",
    "notebook": "results in notebooks",
    "extras": "optional packages",
    "errors": "typed errors",
    "argument_types": "arguments that do not fit",
    "theme": "colours and fonts",
    "validation": "malformed files, in words",
}
WIDE, HIGH, GAP, LIFT, EDGE = 192, 52, 22, 44, 14
MOST = 5  # packages in a row: more would be too small to read
STYLE = f"""
:root {{{theme.properties(theme.LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{{theme.properties(theme.DARK)} }} }}
text {{ font: 600 17px var(--font); fill: var(--ink); text-anchor: middle }}
.purpose {{ font-weight: 400; font-size: 13px; fill: var(--quiet) }}
rect {{ fill: var(--code); stroke: var(--key) }}
.certificates rect {{ stroke: var(--target-deep); stroke-width: 3 }}
path {{ fill: none; stroke: var(--quiet); stroke-width: 1; marker-end: url(#tip) }}
#tip path {{ fill: var(--quiet); stroke: none; marker-end: none }}
"""


def _layers_contract() -> dict[str, Any]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    contract: dict[str, Any] = next(
        contract for contract in contracts if contract["id"] == "layers"
    )
    return contract


def packages() -> set[str]:
    """All packages that the import contract lists."""
    return {
        package.strip().removeprefix("headwright.")
        for layer in _layers_contract()["layers"]
        for package in layer.split("|")
    }


def imports(known: set[str]) -> dict[str, set[str]]:
    """The packages that each package imports.

    Imports for type checkers alone do not count, and neither do those that the contract ignores.
    """
    ignored = _layers_contract().get("ignore_imports", [])
    imported: dict[str, set[str]] = {package: set() for package in known}
    for package in known:
        place = PACKAGE / package
        files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
        for file in files:
            module = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
            allowed = [
                exception.partition(" -> ")[2]
                for exception in ignored
                if exception.startswith(f"headwright.{module} -> ")
            ]
            for node in _running(ast.parse(file.read_text())):
                if not (isinstance(node, ast.ImportFrom) and node.module in allowed):
                    imported[package] |= set(_imported(node)) & known - {package}
    return imported


def _running(node: ast.AST) -> Iterator[ast.AST]:
    if (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    ):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _running(child)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [
            alias.name.split(".")[1]
            for alias in node.names
            if alias.name.startswith("headwright.")
        ]
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

    @cache
    def reach(package: str) -> set[str]:
        return known[package].union(*(reach(other) for other in known[package]))

    return sorted(
        (a, b)
        for a in known
        for b in known[a]
        if not any(b in reach(c) for c in known[a] if c != b)
    )


def layers(known: dict[str, set[str]]) -> list[list[str]]:
    """Packages layer by layer from the top; within a layer, placed above what they import, so that few arrows cross.

    >>> layers({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    [['a'], ['b'], ['c']]
    """

    @cache
    def height(package: str) -> int:
        return 1 + max(map(height, known[package]), default=-1)

    levels = [
        sorted(package for package in known if height(package) == layer)
        for layer in range(len(known))
    ]
    levels = [level for level in levels if level]
    at = {
        package: number - (len(level) - 1) / 2
        for level in levels
        for number, package in enumerate(level)
    }
    below = dict.fromkeys(known, ()) | {
        a: tuple(b for x, b in arrows(known) if x == a) for a in known
    }
    above = {b: tuple(a for a, x in arrows(known) if x == b) for b in known}
    for near in (below, above) * 4:
        for level in levels:
            level.sort(
                key=lambda package: (
                    sum(at[o] for o in near[package]) / (len(near[package]) or 1),
                    package,
                )
            )
            at |= {
                package: number - (len(level) - 1) / 2
                for number, package in enumerate(level)
            }
    return levels[::-1]


def drawing() -> str:
    """The architecture as SVG."""
    known = imports(packages())
    rows = [row for layer in layers(known) for row in _narrow(layer)]
    width = 2 * EDGE + MOST * WIDE + (MOST - 1) * GAP
    place = {}
    for layer, (row, aside) in enumerate(rows):
        left = (width - len(row) * WIDE - (len(row) - 1) * GAP) / 2 + aside
        for number, package in enumerate(row):
            place[package] = (
                left + number * (WIDE + GAP),
                EDGE + layer * (HIGH + LIFT),
            )
    lines = [_arrow(place[a], place[b]) for a, b in arrows(known)]
    boxes = [_box(package, *place[package], known[package]) for package in place]
    tip = '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    height = 2 * EDGE + len(rows) * (HIGH + LIFT) - LIFT
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            "<title>The packages of Headwright, with an arrow from each package to those that it imports</title>",
            f'<style>{STYLE}</style><defs>{tip}<path d="M0 0L8 4L0 8z"/></marker></defs>',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


def _narrow(layer: list[str]) -> list[tuple[list[str], float]]:
    """A layer as one row, or as two staggered rows; each with its offset from the middle."""
    if len(layer) <= MOST:
        return [(layer, 0.0)]
    step = (WIDE + GAP) / 4 if len(layer) % 2 == 0 else 0.0
    return [(layer[::2], -step), (layer[1::2], step)]


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (u, v) = (start[0] + WIDE / 2, start[1] + HIGH), (end[0] + WIDE / 2, end[1])
    bend = min(60, (v - y) / 2)
    if x == u and v - y > LIFT:  # around the packages in between
        aside = x - (WIDE + GAP) * 2 / 3
        return f'<path d="M{x:g} {y:g}C{aside:g} {y + bend:g} {aside:g} {v - bend:g} {u:g} {v:g}"/>'
    return f'<path d="M{x:g} {y:g}C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}"/>'


def _box(package: str, x: float, y: float, imported: set[str]) -> str:
    said = f"{package} imports {', '.join(sorted(imported)) or 'none of the others'}"
    middle = x + WIDE / 2
    return (
        f'<g class="{package}"><title>{escape(said)}</title>'
        f'<rect x="{x:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="6"/>'
        f'<text x="{middle:g}" y="{y + 22:g}">{package}</text>'
        f'<text class="purpose" x="{middle:g}" y="{y + 41:g}">{escape(PURPOSES.get(package, ""))}</text></g>'
    )


if __name__ == "__main__":
    DRAWING.write_text(drawing())
