"""make bench: every topic, side by side in one run, as ratios and with peak memory."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.measure import Contender, Measurement, measure

TOPICS = [
    "startup",
    "sampling",
    "positions",
    "lowrank",
    "design",
    "commands",
    "wishes",
    "heads",
    "check",
    "house",
    "rows",
    "audit",
]


def main(topics: list[str]) -> None:
    console = Console(width=120)
    results: dict[str, dict[str, dict[str, object]]] = {}
    for name in topics:
        module = import_module(f"bench.{name}")
        contenders: list[Contender] = module.CONTENDERS
        with console.status(module.TITLE):
            measured = {c.name: measure(f"bench.{name}", c) for c in contenders}
        console.print(_table(module.TITLE, contenders, measured, getattr(module, "RATIO", "times ours")))
        results[name] = {key: vars(value) for key, value in measured.items()}
    out = Path("out")
    out.mkdir(exist_ok=True)
    (out / "bench.json").write_text(json.dumps(results, indent=2) + "\n")
    console.print("The figures are in out/bench.json.")


def _table(title: str, contenders: list[Contender], measured: dict[str, Measurement], ratio_to: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("", "seconds", ratio_to, "peak MB", "what it said"):
        table.add_column(heading, justify="left" if heading in ("", "what it said") else "right")
    for c in contenders:
        m = measured[c.name]
        ratio = f"{m.seconds / measured[c.peer_of].seconds:.3g}" if c.peer_of else "1"
        table.add_row(c.name, f"{m.seconds:.4g}", ratio, f"{m.peak_mb:.0f}", m.says)
    return table


if __name__ == "__main__":
    main(sys.argv[1:] or TOPICS)
