"""Two layers: what induction does in every text of a kind, the next token (--predict) or weights (--repeat)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from headwright.cli.console import OUT, progress, resumable, say, show_json, show_line
from headwright.cli.every_text.reading import EveryTextOptions, not_with, spelt
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.loading.model import Model
    from headwright.models.texts.next_token import Group
    from headwright.models.texts.next_token_proof import Predicted

ALL = "all"
LISTED = 8  # groups that are false or open, on a screen
FIRST_LAYER = ("query", "key", "logit", "text", "pairs", "plot")


def predicted(model: Model, asked: EveryTextOptions, words: str) -> None:
    """Whether b is predicted: no token before the end is named, unless it is given."""
    not_with(asked, "--predict", (*FIRST_LAYER, "heads", "repeat"))
    _proved(model, asked, "--predict", words, [None])


def repeated(model: Model, asked: EveryTextOptions, words: str) -> None:
    """The weights on b, for each token before the end, unless it is given."""
    not_with(asked, "--repeat", FIRST_LAYER)
    _proved(model, asked, "--repeat", words, range(model.heads) if asked.heads is None else asked.heads)


def _proved(model: Model, asked: EveryTextOptions, option: str, words: str, heads: Sequence[int | None]) -> None:
    """Search, check, print; and write the certificate of the longest texts."""
    from headwright.models.engine.part_cache import cache_folder
    from headwright.models.texts.next_token_proof import SHORTEST, Kept, predictions
    from headwright.models.texts.next_token_statement import weights_of

    weights_of(model)  # others are refused before anything is read
    tokens = None if words == ALL and heads == [None] else _tokens(model, option, words)
    lengths = sorted({*range(SHORTEST, asked.length, 2), asked.length}) if asked.curve else [asked.length]
    kept, found = Kept(cache_folder() / "texts", asked.resume), {}
    with resumable():
        for length in lengths:
            some = _groups(model, asked, length, tokens, each=option == "--repeat")
            with progress(f"every text of {length} tokens") as fraction:
                found[length] = predictions(model, length, some, heads=heads, kept=kept, progress=fraction)
    if asked.json:
        show_json({"model": model.name, "digest": model.digest, "lengths": {
            str(length): [_data(model, one) for one in some] for length, some in found.items()
        }})  # fmt: skip
    else:
        _print(model, found)
    if asked.out is not None:
        _write(model, asked.length, found[asked.length], asked.out)
    kept.clear()
    verdicts = {one.word for some in found.values() for one in some}
    raise typer.Exit(1 if "false" in verdicts else 3 if "open" in verdicts else 0)


def _tokens(model: Model, option: str, words: str) -> list[int]:
    spelt(model, words, option)
    opening = {int(token) for token in model.opening()}
    tokens = [int(token) for token in model.encode(words) if int(token) not in opening]
    if not 2 <= len(tokens) <= 3 or tokens[0] in tokens[1:]:
        raise InputError(f"{option} {words!r}: expected two different tokens of {model.name}, and perhaps the one "
                         f"before the first of them comes again{', or all' * (option == '--predict')}")  # fmt: skip
    return tokens


def _groups(model: Model, asked: EveryTextOptions, length: int, tokens: list[int] | None, *, each: bool) -> list[Group]:
    from headwright.models.texts.next_token import Group
    from headwright.models.texts.next_token_proof import all_groups

    some = all_groups(model, length)
    if asked.offset is not None:
        some = [one for one in some if one.j == length - 1 - asked.offset]
        if not some:
            raise InputError(f"--offset {asked.offset}: expected 1 to {length - 2 - len(model.opening())}")
    if tokens is None:
        return some
    a, b, *named = tokens
    some = [one for one in some if (one.a, one.b) == (a, b)]
    before: list[int | None] = [*named] or ([int(c) for c in model.ordinary() if c != a] if each else [None])
    return [Group(a, b, one.j, c) for one in some for c in (before if one.j != length - 2 else [None])]


def _data(model: Model, one: Predicted) -> dict[str, Any]:
    a, b = model.words(np.array([one.a, one.b]))
    return {
        "a": a, "b": b, "c": None if one.c is None else model.words(np.array([one.c]))[0], "j": one.j,
        "head": one.head, "verdict": one.word, "least": one.least, "text": _text(model, one).split(), "run": one.run,
    }  # fmt: skip


def _print(model: Model, found: dict[int, list[Predicted]]) -> None:
    from rich.table import Table

    first = next(iter(found.values()))[0]
    opened = f"{model.words(model.opening())[0]} at place 0, " if len(model.opening()) else ""
    named = ", c before the end" if any(one.c is not None for some in found.values() for one in some) else ""
    what = (
        "is b predicted at the end"
        if first.head is None
        else "does a head of the second layer give b more than 1/2, seen from the end"
    )
    show_line(
        f"{model.name}: {what} of every text with {opened}a at place j - 1, b at j, a at the end and nowhere "
        f"else{named}, and any token but a at the other places?"
    )
    table = Table(box=None, pad_edge=False)
    kind = ("pairs proved for all j", "least margin") if first.head is None else ("least proved",)
    for name in ("tokens", *(() if first.head is None else ("head",)), "groups", "proved", "false", "open", *kind):
        table.add_column(name, no_wrap=True, justify="right")
    for length, some in found.items():
        for head in dict.fromkeys(one.head for one in some):
            mine = [one for one in some if one.head == head]
            words, pairs = Counter(one.word for one in mine), {(one.a, one.b) for one in mine}
            safe = pairs - {(one.a, one.b) for one in mine if one.word != "proved"}
            least = min((one.least for one in mine if one.least is not None), key=float, default="")
            counts = [str(len(mine)), *(str(words[word]) for word in ("proved", "false", "open"))]
            last = [f"{len(safe)} of {len(pairs)}", least] if head is None else [least]
            table.add_row(str(length), *([] if head is None else [f"1.{head}"]), *counts, *last)
    OUT.print(table)
    for length, some in found.items():
        _print_places(model, some)
        _print_texts(model, length, some)
    said = (
        "the logit of b is ahead of every other by the margin of its group or more. False: the model, run on a text, "
        "predicts another token." if first.head is None else
        "b has the weight of its group or more. False: the model, run on a text, gives it 1/2 or less."
    )  # fmt: skip
    show_line(f"Proved by the checker, for the weights in exact arithmetic: {said} Open: neither is known.")


def _print_places(model: Model, some: Sequence[Predicted]) -> None:
    """For a weight, by head and place of b: for how many tokens before the end."""
    for head, j in dict.fromkeys((one.head, one.j) for one in some if one.head is not None):
        mine = [one for one in some if (one.head, one.j) == (head, j)]
        words, worst = Counter(one.word for one in mine), min(mine, key=lambda one: one.run)
        a, b = model.words(np.array([worst.a, worst.b]))
        counted = (
            f"is {worst.word}" if len(mine) == 1
            else f"proved for {words['proved']} of {len(mine)} tokens before the last {a}, false for {words['false']}"
        )  # fmt: skip
        show_line(
            f"Head 1.{head}, {b} at place {j}: more than 1/2 {counted}. The least found: {_text(model, worst)}, "
            f"{worst.run:.4g}"
        )


def _print_texts(model: Model, length: int, some: Sequence[Predicted]) -> None:
    """The worst text, and the groups that are not proved."""
    worst = min(some, key=lambda one: one.run)
    proved = "" if worst.least is None else f"; proved for ({_name(model, worst)}): at least {worst.least}"
    b = model.words(np.array([worst.b]))[0]
    what = f"the logit margin of {b} is" if worst.head is None else f"head 1.{worst.head} gives {b}"
    text = _text(model, worst)
    show_line(f"The worst text found of {length} tokens: {text}. Run in float64, {what} {worst.run:.4g}{proved}.")
    for word in ("false", "open"):
        named = [one for one in some if one.word == word]
        if named:
            listed = "; ".join(f"{_name(model, one)} ({_text(model, one)}: {one.run:.3g})" for one in named[:LISTED])
            more = f"; and {len(named) - LISTED} more (--json has all)" if len(named) > LISTED else ""
            show_line(f"{word.capitalize()} at {length} tokens: {listed}{more}.")


def _text(model: Model, one: Predicted) -> str:
    return " ".join(model.words(np.array(one.text)))


def _name(model: Model, one: Predicted) -> str:
    named = [one.a, one.b] if one.c is None else [one.a, one.b, one.c]
    return f"{', '.join(model.words(np.array(named)))}, {one.j}"


def _write(model: Model, length: int, found: Sequence[Predicted], path: Path) -> None:
    from headwright.files import write_whole
    from headwright.models.texts.next_token_proof import statement_of
    from headwright.models.texts.next_token_statement import written

    statement = statement_of(model, length, found)
    if statement is None:
        say(f"Nothing was proved of texts of {length} tokens: no certificate is written.")
        return
    write_whole(path, written(statement).encode())
    say(f"The certificate is in {path}. Verify it:", f"headwright verify {path} --model {model.name}")
