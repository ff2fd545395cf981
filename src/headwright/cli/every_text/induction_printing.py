"""Results about induction on every text, in words and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.cli.console import OUT, show_line

if TYPE_CHECKING:
    from headwright.models.model import Model
    from headwright.text_bounds.induction.results import GroupResult, GroupVerdict

    ResultsByLength = Mapping[int, Sequence[GroupResult]]

VERDICTS: tuple[GroupVerdict, ...] = ("proved", "false", "open")
LISTED = 8  # groups that are false or open, on a screen


def as_data(model: Model, results: ResultsByLength) -> dict[str, Any]:
    """For JSON."""
    lengths = {}
    for length, some in results.items():
        lengths[str(length)] = [_group_data(model, result) for result in some]
    return {"model": model.name, "digest": model.digest, "lengths": lengths}


def _group_data(model: Model, result: GroupResult) -> dict[str, Any]:
    a, b = model.token_strings(np.array([result.a, result.b]))
    c = None if result.c is None else model.token_strings(np.array([result.c]))[0]
    return {
        "a": a,
        "b": b,
        "c": c,
        "j": result.j,
        "head": result.head,
        "verdict": result.verdict,
        "least": result.least,
        "text": _text(model, result).split(),
        "run": result.run,
    }


def print_results(model: Model, results: ResultsByLength) -> None:
    """The question, a table by length and head, the worst texts, and what was proved."""
    every = [result for some in results.values() for result in some]
    of_weights = every[0].head is not None
    _print_question(model, every, of_weights)
    _print_table(results, of_weights)
    for length, some in results.items():
        _print_places(model, some)
        _print_texts(model, length, some)
    if of_weights:
        meaning = "b has the weight of its group or more. False: the model, run on a text, gives it 1/2 or less."
    else:
        meaning = (
            "the logit of b is ahead of every other by the margin of its group or more. False: the model, run on a "
            "text, predicts another token."
        )
    show_line(
        f"Proved by the checker, for the weights in exact arithmetic: {meaning} Open: neither is known."
    )


def _print_question(
    model: Model, every: Sequence[GroupResult], of_weights: bool
) -> None:
    opening = model.bos_tokens()
    opened = f"{model.token_strings(opening)[0]} at place 0, " if len(opening) else ""
    is_named = any(result.c is not None for result in every)
    named = ", c before the end" if is_named else ""
    question = "is b predicted at the end"
    if of_weights:
        question = (
            "does a head of the second layer give b more than 1/2, seen from the end"
        )
    show_line(
        f"{model.name}: {question} of every text with {opened}a at place j - 1, b at j, a at the end and nowhere "
        f"else{named}, and any token but a at the other places?"
    )


def _print_table(results: ResultsByLength, of_weights: bool) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    if of_weights:
        names = ("tokens", "head", "groups", *VERDICTS, "least proved")
    else:
        names = (
            "tokens",
            "groups",
            *VERDICTS,
            "pairs proved for all j",
            "least margin",
        )
    for name in names:
        table.add_column(name, no_wrap=True, justify="right")
    for length, some in results.items():
        for head in dict.fromkeys(result.head for result in some):
            of_head = [result for result in some if result.head == head]
            verdicts = Counter(result.verdict for result in of_head)
            counts = [str(verdicts[verdict]) for verdict in VERDICTS]
            row = [str(length)]
            if of_weights:
                row.append(f"1.{head}")
            row += [str(len(of_head)), *counts]
            if not of_weights:
                row.append(_count_safe_pairs(of_head))
            proved = [result.least for result in of_head if result.least is not None]
            row.append(min(proved, key=float, default=""))
            table.add_row(*row)
    OUT.print(table)


def _count_safe_pairs(results: Sequence[GroupResult]) -> str:
    """Pairs (a, b) that are proved wherever b stands."""
    pairs = {(result.a, result.b) for result in results}
    unsafe = {(result.a, result.b) for result in results if result.verdict != "proved"}
    return f"{len(pairs - unsafe)} of {len(pairs)}"


def _print_places(model: Model, results: Sequence[GroupResult]) -> None:
    """For a weight, by head and place of b: for how many tokens before the end."""
    places = [(result.head, result.j) for result in results if result.head is not None]
    for head, j in dict.fromkeys(places):
        here = [result for result in results if (result.head, result.j) == (head, j)]
        worst = min(here, key=lambda result: result.run)
        a, b = model.token_strings(np.array([worst.a, worst.b]))
        verdicts = Counter(result.verdict for result in here)
        counted = f"is {worst.verdict}"
        if len(here) > 1:
            counted = (
                f"proved for {verdicts['proved']} of {len(here)} tokens before the last {a}, "
                f"false for {verdicts['false']}"
            )
        show_line(
            f"Head 1.{head}, {b} at place {j}: more than 1/2 {counted}. The least found: {_text(model, worst)}, "
            f"{worst.run:.4g}"
        )


def _print_texts(model: Model, length: int, results: Sequence[GroupResult]) -> None:
    """The worst text, and the groups that are not proved."""
    worst = min(results, key=lambda result: result.run)
    proved = ""
    if worst.least is not None:
        proved = f"; proved for ({_name(model, worst)}): at least {worst.least}"
    b = model.token_strings(np.array([worst.b]))[0]
    quantity = f"the logit margin of {b} is"
    if worst.head is not None:
        quantity = f"head 1.{worst.head} gives {b}"
    show_line(
        f"The worst text found of {length} tokens: {_text(model, worst)}. Run in float64, {quantity} "
        f"{worst.run:.4g}{proved}."
    )
    for verdict in ("false", "open"):
        named = [result for result in results if result.verdict == verdict]
        if not named:
            continue
        listed = "; ".join(
            f"{_name(model, result)} ({_text(model, result)}: {result.run:.3g})"
            for result in named[:LISTED]
        )
        more = ""
        if len(named) > LISTED:
            more = f"; and {len(named) - LISTED} more (--json has all)"
        show_line(f"{verdict.capitalize()} at {length} tokens: {listed}{more}.")


def _text(model: Model, result: GroupResult) -> str:
    return " ".join(model.token_strings(np.array(result.text)))


def _name(model: Model, result: GroupResult) -> str:
    tokens = [result.a, result.b]
    if result.c is not None:
        tokens.append(result.c)
    return f"{', '.join(model.token_strings(np.array(tokens)))}, {result.j}"
