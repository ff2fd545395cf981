r"""Tables of Markdown, as sentences: each row is a case, and its other cells are what is said for it.

| $c$ | $\alpha_1/\alpha_2$ |
|---|---|
| $3/2$ | $\sqrt{n/\epsilon}$ |

says 'case $c = 3/2$: $\alpha_1/\alpha_2 = \sqrt{n/\epsilon}$'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from headwright.check.reading.written import compares

_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_LEADING = re.compile(r"\s*(?:[=<>≈≤≥]|\\(?:approx|to|leq?|geq?|ll|gg)(?![a-zA-Z]))")
_FORMULA = re.compile(r"\s*\$([^$\n]+)\$\s*")


def is_table(text: str) -> bool:
    r"""Whether a paragraph is a table: a row of names, a rule, and rows below it.

    >>> is_table("| a | b |\n|---|---|\n| 1 | 2 |"), is_table("a | b")
    (True, False)
    """
    rows = text.strip("\n").split("\n")
    return len(rows) > 2 and "|" in rows[0] and _RULE.fullmatch(rows[1]) is not None and "|" in rows[1]


def as_sentences(text: str) -> Iterator[str]:
    r"""One line of prose for each line of a table; lines stay where they are.

    >>> list(as_sentences("| $c$ | $x$ |\n|---|---|\n| $3/2$ | $y$ |"))
    ['', '', 'Case $c = 3/2$: $x = y$.']
    """
    names: list[str] = []
    for row in text.split("\n"):
        cells = _cells(row)
        if not cells or _RULE.fullmatch(row):
            yield ""
        elif not names:
            names = cells
            yield ""
        else:
            first, *others = [_said(name, cell) for name, cell in zip(names, cells, strict=False)]
            more = cells[len(names) :]
            opening = "Case " if "$" in first else "If "  # in words, it is not known which case it is
            yield f"{opening}{first}: {', '.join(cell for cell in (*others, *more) if cell)}."
    if not names:
        yield text


def _cells(row: str) -> list[str]:
    """What stands between the bars, but for those within formulas."""
    cells, inside = [""], False
    for sign in row.strip().removeprefix("|").removesuffix("|"):
        inside ^= sign == "$"
        if sign == "|" and not inside:
            cells.append("")
        else:
            cells[-1] += sign
    return [cell.strip() for cell in cells] if row.strip() else []


def _said(name: str, cell: str) -> str:
    """A cell under its name: '$c = 3/2$' for $3/2$ under $c$."""
    above, inside = _FORMULA.fullmatch(name), _FORMULA.fullmatch(cell)
    if above is not None and inside is not None and _LEADING.match(inside[1]):
        return f"${above[1].strip()} {inside[1].strip()}$"
    if inside is not None and not compares(inside[1]):
        return f"${above[1].strip()} = {inside[1].strip()}$" if above is not None else f"{name} is {cell}"
    return cell
