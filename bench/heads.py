"""Heads from rules, beside tracr's construction of the same heads: how wrong, how large, how wide.

bench.tracr rebuilds tracr's matrices from its code. `python -m bench.heads` prints the table with all
figures, and then how long the smallest head dimension takes for longer sequences (one-hot positions; seconds of CPU
time).
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.measure import Contender
from bench.tracr import SELECTORS, Figures, published, turned_up
from headwright.head_design import (
    HeadLayer,
    HeadsResult,
    Rule,
    Rules,
    build,
    read_rules,
)
from headwright.head_design.exact_bounds import frobenius_above

TITLE = "Heads from rules: proven worst error, norm of W_K^T W_Q and head dimension"

EXAMPLES = Path(__file__).parents[1] / "examples" / "heads"


def ours(task: str, minimise: str = "size") -> Callable[[], Figures]:
    rules = read_rules(EXAMPLES / f"{task}.toml")
    return lambda: _figures(build(rules, minimise=minimise))


LONG = {
    "previous token, causal": (24, 64, 128),
    "next token in a ring, no mask": (24, 64),
}


def long(task: str, T: int) -> Callable[[], str]:
    """The smallest dimension for T one-hot positions, each copying one other with at least 100/101."""
    causal, most = task.endswith("causal"), Fraction(100, 101)
    copies = (
        {i: i - 1 for i in range(1, T)}
        if causal
        else {i: (i + 1) % T for i in range(T)}
    )
    rules = Rules(
        (np.eye(T),),
        tuple(Rule(i, attend={a: most}) for i, a in copies.items()),
        causal=causal,
    )

    def work() -> str:
        built = build(rules, minimise="rank")
        proven = (
            "proven smallest"
            if built.head_dim == built.head_dim_lower_bound
            else "smallest found"
        )
        return f"{built.word}, head dimension {built.head_dim}, {proven}"

    return work


def as_exact(task: str) -> Callable[[], Figures]:
    """Ours, with W_Q turned up until its proven error is no more than tracr's."""
    rules = read_rules(EXAMPLES / f"{task}.toml")
    goal = tracr(task)().error
    return lambda: turned_up(build(rules), goal)


def tracr(task: str) -> Callable[[], Figures]:
    rules = read_rules(EXAMPLES / f"{task}.toml")
    lengths = tomllib.loads((EXAMPLES / f"{task}.toml").read_text())["directions"]
    return lambda: published(rules, SELECTORS[task], lengths)


def _figures(built: HeadsResult) -> Figures:
    return Figures(
        max(built.outputs), frobenius_above(_layer(built).heads[0]), built.head_dim
    )


def _up(error: float) -> str:
    """Two digits, not below it: a bound is rounded up, on screen too."""
    shown = f"{error:.1e}"
    return (
        shown
        if float(shown) >= error
        else f"{error + 0.5 * float(f'1e{shown[4:]}') / 10:.1e}"
    )


def _layer(built: HeadsResult) -> HeadLayer:
    if built.layer is None:
        raise RuntimeError(built.words)
    return built.layer


CONTENDERS = [
    contender
    for task in SELECTORS
    for contender in (
        Contender(f"{task}: headwright", "ours", {"task": task}, repeats=1),
        Contender(
            f"{task}: headwright, as exact as tracr",
            "as_exact",
            {"task": task},
            1,
            f"{task}: headwright",
            kind="ours",
        ),
        Contender(
            f"{task}: tracr's construction",
            "tracr",
            {"task": task},
            1,
            f"{task}: headwright",
        ),
    )
] + [
    Contender(
        f"{task}, {T} tokens: smallest dimension",
        "long",
        {"task": task, "T": T},
        repeats=1,
    )
    for task, sizes in LONG.items()
    for T in sizes
]


def main() -> None:
    table = Table(title=TITLE, title_justify="left")
    for heading in (
        "task",
        "construction",
        "worst error <=",
        "norm",
        "tracr's over it",
        "head dimension",
    ):
        table.add_column(
            heading, justify="left" if heading in ("task", "construction") else "right"
        )
    for task in SELECTORS:
        theirs = tracr(task)()
        found = {
            "headwright, smallest norm": ours(task)(),
            "headwright, smallest dimension": ours(task, "rank")(),
            "headwright, turned up to tracr's error": as_exact(task)(),
            "tracr's": theirs,
        }
        for name, f in found.items():
            ratio = f"{theirs.norm / f.norm:.1f}"
            table.add_row(
                task, name, _up(f.error), f"{f.norm:.2f}", ratio, str(f.head_dim)
            )
        table.add_section()
    Console(width=120).print(table)
    longer = Table(
        title="The smallest head dimension for longer sequences", title_justify="left"
    )
    for heading in ("task", "tokens", "result", "seconds"):
        longer.add_column(
            heading, justify="left" if heading in ("task", "result") else "right"
        )
    for task, sizes in LONG.items():
        for T in sizes:
            work, start = long(task, T), time.process_time()
            longer.add_row(task, str(T), work(), f"{time.process_time() - start:.2f}")
    Console(width=120).print(longer)


if __name__ == "__main__":
    main()
