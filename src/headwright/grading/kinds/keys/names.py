"""What a name stands for, as an exercise about keys gives it; its value is a matter of who evaluates it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from headwright.formulas import tree as t
from headwright.grading.answer import full_name, label
from headwright.grading.kinds.keys.table import Keys


@dataclass(frozen=True)
class Key:
    """k_a; `which` is the label of a key, or a letter that stands for one."""

    which: str


@dataclass(frozen=True)
class Direction:
    """mu_a: that of a key, of length 1."""

    which: str


@dataclass(frozen=True)
class KeyValue:
    """v_a."""

    which: str


@dataclass(frozen=True)
class Weight:
    """alpha_a; alpha_{1,a} is that of the first head, and the mean over all heads has none."""

    which: str
    head: str = ""


@dataclass(frozen=True)
class Output:
    """c; c_1 is that of the first head, and the mean over all heads has none."""

    head: str = ""


def meaning_of(
    name: t.Name, table: Keys, queries: Collection[str]
) -> Key | Direction | KeyValue | Weight | Output | None:
    """What a name stands for; None: a definition, a query, a number, or nothing that is known."""
    full, which = full_name(name), label(name.index)
    if full in table.directions:
        return Direction(table.directions[full])
    if full == "c":
        return Output()
    if name.index is None:
        return None
    if name.base == "k":
        return Key(which)
    if name.base in table.also:
        return Direction(which)
    if name.base == "v":
        return KeyValue(which)
    if name.base == "alpha":
        match name.index:
            case t.Listing((query, key)):
                return Weight(label(key), f"q_{label(query)}")
            case _:
                return Weight(which)
    head = f"q_{which}"
    is_output = name.base == "c" and not name.primes and head in queries
    return Output(head) if is_output else None
