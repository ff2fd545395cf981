"""The table of public names in docs/reference/api.md: `python docs/site/api_table.py` writes it anew."""

from __future__ import annotations

import inspect
from pathlib import Path

import headwright

PAGE = Path(__file__).parents[1] / "reference" / "api.md"
START = "<!-- table of names, made by docs/site/api_table.py -->"
STOP = "<!-- end of the table -->"


def table() -> str:
    """Every public name with the first sentence of its docstring, functions first."""
    rows = []
    for name in headwright.__all__:
        thing = getattr(headwright, name)
        order = ("function", "class", "module").index(kind_of(thing))
        first_line = (inspect.getdoc(thing) or "").partition("\n")[0]
        rows.append((order, name, kind_of(thing), first_line.replace("|", "\\|")))
    lines = ["| name | kind | what it is |", "|---|---|---|"]
    for _, name, kind, meaning in sorted(rows):
        lines.append(f"| `{name}` | {kind} | {meaning} |")
    return "\n".join(lines)


def kind_of(thing: object) -> str:
    """'function', 'class' or 'module'."""
    if inspect.ismodule(thing):
        return "module"
    return "class" if inspect.isclass(thing) else "function"


def with_table(page: str) -> str:
    """The page with the table between its two marks."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(STOP)
    return f"{before}{START}\n\n{table()}\n\n{STOP}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
