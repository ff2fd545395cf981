"""make bench: every topic side by side in one run, as one table of ratios; JSON and a chart go to out/.

    python -m bench [--quick] [TOPIC ...]

With --quick each contender runs twice at most, and is given up after a minute. What cannot be measured here is named,
with the reason: a peer that is not installed, no GPU, too little time.
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from bench.measure import Contender, measure
from bench.table import Topic, chart, data, left_out, table

TOPICS = [
    "startup",
    "sampling",
    "positions",
    "lowrank",
    "design",
    "commands",
    "targets",
    "heads",
    "check",
    "check_size",
    "page",
    "rows",
    "watch",
    "audit",
    "conform",
]
ON_A_GPU = (
    "rows_gpu",
    "texts_gpu",
    "conform_gpu",
)  # programs of their own: they run on machines that have nothing of ours


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m bench", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="each contender twice at most, for a minute at most",
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=", ".join(TOPICS))
    asked = parser.parse_args()
    if unknown := set(asked.topics) - set(TOPICS):
        parser.error(
            f"no such topic: {', '.join(sorted(unknown))}; expected some of {', '.join(TOPICS)}"
        )
    console = Console(width=160)
    out = Path("out")
    out.mkdir(exist_ok=True)
    topics: list[Topic] = []
    elsewhere = _without_a_gpu()
    for name in asked.topics or TOPICS:
        topics.append(_measured(name, asked.quick, console))
        skipped = [*left_out(topics), *elsewhere]
        found = data(topics, skipped, asked.quick)
        (out / "bench.json").write_text(
            json.dumps(found, indent=2) + "\n"
        )  # a run that is stopped leaves what it had
    (out / "bench.svg").write_bytes(chart(found))
    console.print(table(topics))
    console.print("Not measured:")
    for sentence in skipped:
        console.print(f"- {sentence}", markup=False)
    console.print("The figures are in out/bench.json, and drawn in out/bench.svg.")


def _measured(name: str, quick: bool, console: Console) -> Topic:
    module = import_module(f"bench.{name}")
    contenders: list[Contender] = module.CONTENDERS
    with console.status(module.TITLE) as status:
        measured = {}
        for c in contenders:
            status.update(f"{module.TITLE}: {c.name}")
            measured[c.name] = measure(f"bench.{name}", c, quick)
    return Topic(name, module.TITLE, tuple(contenders), measured)


def _without_a_gpu() -> list[str]:
    """What a GPU would add: measured by hand there, by programs that need nothing but torch and one file of ours."""
    here = False
    if find_spec("torch"):
        import torch

        here = torch.cuda.is_available()
    why = (
        "run it by itself: it prints its own table" if here else "there is no GPU here"
    )
    return [
        f"{name}: python bench/{name}.py: {why}; the last record is in bench/results/"
        for name in ON_A_GPU
    ]


if __name__ == "__main__":
    main()
