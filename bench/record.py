"""Keep a run of make bench: its figures among the records, its chart and its table in the documentation.

    python -m bench.record [out/bench.json]

Writes bench/results/DATE-cpu-all.json, docs/pictures/bench.svg, and the part of docs/reference/performance.md between
its two marks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.table import chart, compared

ROOT = Path(__file__).parents[1]
BEGIN, END = (
    "<!-- measured: written by python -m bench.record -->",
    "<!-- end of what was measured -->",
)


def written(measured: dict[str, Any]) -> str:
    """The run as Markdown: when and on what, the chart, a table, and what was left out.

    >>> row = {"name": "theirs | slow", "is": "peer", "compared_with": "ours", "ratio": 3.0, "peak_mb": 7.0, "said": ""}
    >>> ours = {"name": "ours", "is": "ours", "compared_with": None, "ratio": 1.0, "peak_mb": 1.0, "said": ""}
    >>> run = {"date": "2026-01-01", "quick": False, "skipped": [], "versions": {}, "machine": {"python": "3.11"},
    ...        "topics": {"one": {"title": "A topic", "contenders": [ours, row]}}}
    >>> print(written(run).splitlines()[-1])
    | A topic | theirs \\| slow | peer | 3 | ours | 7 |
    """
    how = "python -m bench --quick" if measured["quick"] else "python -m bench"
    libraries = ", ".join(
        f"{name} {version}" for name, version in measured["versions"].items()
    )
    lines = [
        f"Measured on {measured['date']} by `{how}` on one machine, with Python {measured['machine']['python']}"
        f"{', ' + libraries if libraries else ''}.",
        "",
        "![Ratios of times, topic by topic: right of the line something takes longer than what it is compared with. "
        "The table below has the numbers.](pictures/bench.svg)",
        "",
    ]
    if measured["skipped"]:
        lines += [
            "Not measured in this run:",
            "",
            *(f"- {_cell(sentence)}" for sentence in measured["skipped"]),
            "",
        ]
    lines += [
        "| topic | who | is | times as long | as | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for name, rows in compared(measured).items():
        for place, row in enumerate(rows):
            topic = measured["topics"][name]["title"] if place == 0 else ""
            cells = (
                topic,
                row["name"],
                row["is"],
                _short(row["ratio"]),
                row["compared_with"],
                _memory(row),
            )
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines)


def _short(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _memory(row: dict[str, Any]) -> str:
    return (
        f"{row['peak_mb']:,.0f}" if row["peak_mb"] else ""
    )  # that of a whole process is not measured


def _cell(text: str) -> str:
    """Text that stays inside its cell, and is no Markdown."""
    for sign in "\\|*_<`":
        text = text.replace(sign, f"\\{sign}")
    return text


def renewed(page: str, part: str) -> str:
    """The page with another part between its marks.

    >>> renewed(f"before\\n{BEGIN}\\nold\\n{END}\\nafter", "new").splitlines()[2]
    ''
    """
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{part}\n\n{END}{after}"


def main() -> None:
    given = Path(sys.argv[1] if len(sys.argv) > 1 else "out/bench.json")
    measured = json.loads(given.read_text())
    record = ROOT / "bench" / "results" / f"{measured['date']}-cpu-all.json"
    record.write_text(json.dumps(measured, indent=2) + "\n")
    (ROOT / "docs" / "pictures" / "bench.svg").write_bytes(chart(measured))
    page = ROOT / "docs" / "reference" / "performance.md"
    page.write_text(renewed(page.read_text(), written(measured)))
    print(f"Wrote {record}, docs/pictures/bench.svg and docs/reference/performance.md.")


if __name__ == "__main__":
    main()
