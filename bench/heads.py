"""Heads from rules, beside tracr's construction of the same heads: how wrong, how large, how wide.

tracr (google-deepmind/tracr, Apache-2.0) compiles a selector into a head with hand-set constants, which are taken
from its code as published:

    craft/chamber/categorical_attn.py   scores 100 (softmax_coldness) for a match of one-hot directions, 0 otherwise; a
                                        token 'bos' at the front that everyone scores 50, for when nothing matches; a
                                        direction 'one' that every token has, which asks for it; W_OV copies
    compiler/assemble.py                key_size = the largest side of W_QK and of W_OV; W_K a projection, W_Q the rest
    transformer/attention.py            scores are divided by sqrt(key_size)

It needs jax and haiku to run, so its matrices are rebuilt here, and judged by the same arithmetic as ours: the worst
error is proven for both. Its tokens are ours with 'one' added and 'bos' at the front; coefficients of directions are
1, as it has them. `python -m bench.heads` prints the table with all figures, and then how long the smallest head
dimension takes for longer sequences (one-hot positions; seconds of CPU time).
"""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.measure import Contender
from headwright.weights import Built, Head, HeadLayer, Rule, Rules, build, read_rules
from headwright.weights.proven import errors_above, frobenius_above

TITLE = "Heads from rules: proven worst error, norm of W_K^T W_Q and head dimension"

EXAMPLES = Path(__file__).parents[1] / "examples" / "heads"
COLDNESS, BOS = 100.0, 0.5


@dataclass(frozen=True)
class Selector:
    """What tracr would be told: one-hot variables, and which value of the query matches which of the key."""

    queries: str
    keys: str
    pairs: str
    values: str  # copied; a sign in front where the rules want one, which tracr would leave to an MLP


SELECTORS = {
    "route": Selector("a d", "c d", "d>c a>d", "b -c"),
    "previous": Selector("p0 p1 p2 p3 p4", "p0 p1 p2 p3 p4", "p1>p0 p2>p1 p3>p2 p4>p3", "x y z"),
    "first": Selector("start x y z w", "start x y z w", "start>start x>start y>start z>start w>start", "start x y z w"),
    "induction": Selector("x y z", "after_x after_y after_z", "x>after_x y>after_y z>after_z", "x y z"),
    "majority": Selector("member guest ask", "member guest ask", "ask>member", "yes no"),
    "lookup": Selector("ask_ann ask_bob ask_cy", "ann bob cy", "ask_ann>ann ask_bob>bob ask_cy>cy", "oslo rome lima"),
}


@dataclass(frozen=True)
class Figures:
    error: float  # the worst over the rules, proven
    norm: float  # |W_K^T W_Q|_F with scores at scale 1
    head_dim: int

    def __str__(self) -> str:
        return f"error <= {_up(self.error)}, norm {self.norm:.3f}, head dimension {self.head_dim}"


def ours(task: str, minimise: str = "size") -> Callable[[], Figures]:
    rules = read_rules(EXAMPLES / f"{task}.toml")
    return lambda: _figures(build(rules, minimise=minimise))


LONG = {"previous token, causal": (24, 64, 128), "next token in a ring, no mask": (24, 64)}


def long(task: str, T: int) -> Callable[[], str]:
    """The smallest dimension for T one-hot positions, each copying one other with at least 100/101."""
    causal, most = task.endswith("causal"), Fraction(100, 101)
    copies = {i: i - 1 for i in range(1, T)} if causal else {i: (i + 1) % T for i in range(T)}
    rules = Rules((np.eye(T),), tuple(Rule(i, attend={a: most}) for i, a in copies.items()), causal=causal)

    def work() -> str:
        built = build(rules, minimise="rank")
        proven = "proven smallest" if built.head_dim == built.head_dim_lower_bound else "smallest found"
        return f"{built.verdict}, head dimension {built.head_dim}, {proven}"

    return work


def as_exact(task: str) -> Callable[[], Figures]:
    """Ours, with W_Q turned up until its proven error is no more than tracr's."""
    rules = read_rules(EXAMPLES / f"{task}.toml")
    goal = tracr(task)().error

    def turned_up(head: Head, factor: float) -> tuple[float, Head]:
        louder = Head(factor * head.W_Q, head.W_K, head.W_V)
        layer = HeadLayer((louder,), rules.causal, "float64")
        return max(errors_above(rules, rules.rules, layer)), louder

    def work() -> Figures:
        built = build(rules)
        head = _layer(built).heads[0]
        low, high = 1.0, 2.0
        while turned_up(head, high)[0] > goal:
            low, high = high, 2 * high
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (low, middle) if turned_up(head, middle)[0] <= goal else (middle, high)
        error, louder = turned_up(head, high)
        return Figures(error, frobenius_above(louder), built.head_dim)

    return work


def tracr(task: str) -> Callable[[], Figures]:
    rules, selector = read_rules(EXAMPLES / f"{task}.toml"), SELECTORS[task]

    def work() -> Figures:
        head, key_size = compiled(task, selector, rules.dimension, rules.width)
        extended = with_bos(rules)
        layer = HeadLayer((head,), rules.causal, "float64")
        return Figures(max(errors_above(extended, extended.rules, layer)), frobenius_above(head), key_size)

    return work


def compiled(task: str, selector: Selector, D: int, width: int) -> tuple[Head, int]:
    """tracr's head in our conventions, and its key_size. Coordinates D and D + 1 are 'bos' and 'one'."""
    lengths = tomllib.loads((EXAMPLES / f"{task}.toml").read_text())["directions"]
    place = {name: i for i, name in enumerate(lengths)}
    M, W_V = np.zeros((D + 2, D + 2)), np.zeros((width, D + 2))  # scores are x_j^T M x_i
    for pair in selector.pairs.split():
        query, key = pair.split(">")
        M[place[key], place[query]] = COLDNESS / (lengths[key] * lengths[query])
    M[D, D + 1] = BOS * COLDNESS
    for signed in selector.values.split():
        name = signed.lstrip("-")
        W_V[place[name], place[name]] = -1.0 if signed.startswith("-") else 1.0
    queries, keys, values = (len(part.split()) for part in (selector.queries, selector.keys, selector.values))
    key_size = max(queries + 2, keys + 1, values + 1)  # with bos and one; with bos; with bos
    rows = np.flatnonzero(M.any(axis=1))  # W_K picks the keys, W_Q is the rest; rows of zeros change nothing
    return Head(M[rows] / math.sqrt(key_size), np.eye(D + 2)[rows], W_V), key_size


def with_bos(rules: Rules) -> Rules:
    """The same rules, about tokens as tracr has them."""

    def extended(X: np.ndarray) -> np.ndarray:
        tokens = np.pad(X, ((1, 0), (0, 2)))
        tokens[0, -2], tokens[:, -1] = 1.0, 1.0
        return tokens

    moved = [Rule(rule.token + 1, rule.sequence, rule.head, None, rule.output, rule.tolerance) for rule in rules.rules]
    return Rules(tuple(map(extended, rules.sequences)), tuple(moved), rules.causal)


def _figures(built: Built) -> Figures:
    return Figures(max(built.outputs), frobenius_above(_layer(built).heads[0]), built.head_dim)


def _up(error: float) -> str:
    """Two digits, not below it: a bound is rounded up, on screen too."""
    shown = f"{error:.1e}"
    return shown if float(shown) >= error else f"{error + 0.5 * float(f'1e{shown[4:]}') / 10:.1e}"


def _layer(built: Built) -> HeadLayer:
    if built.layer is None:
        raise RuntimeError(built.words)
    return built.layer


CONTENDERS = [
    contender
    for task in SELECTORS
    for contender in (
        Contender(f"{task}: headwright", "ours", {"task": task}, repeats=1),
        Contender(f"{task}: headwright, as exact as tracr", "as_exact", {"task": task}, 1, f"{task}: headwright"),
        Contender(f"{task}: tracr's construction", "tracr", {"task": task}, 1, f"{task}: headwright"),
    )
] + [
    Contender(f"{task}, {T} tokens: smallest dimension", "long", {"task": task, "T": T}, repeats=1)
    for task, sizes in LONG.items()
    for T in sizes
]


def main() -> None:
    table = Table(title=TITLE, title_justify="left")
    for heading in ("task", "construction", "worst error <=", "norm", "tracr's over it", "head dimension"):
        table.add_column(heading, justify="left" if heading in ("task", "construction") else "right")
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
            table.add_row(task, name, _up(f.error), f"{f.norm:.2f}", ratio, str(f.head_dim))
        table.add_section()
    Console(width=120).print(table)
    longer = Table(title="The smallest head dimension for longer sequences", title_justify="left")
    for heading in ("task", "tokens", "result", "seconds"):
        longer.add_column(heading, justify="left" if heading in ("task", "result") else "right")
    for task, sizes in LONG.items():
        for T in sizes:
            work, start = long(task, T), time.process_time()
            longer.add_row(task, str(T), work(), f"{time.process_time() - start:.2f}")
    Console(width=120).print(longer)


if __name__ == "__main__":
    main()
