"""Two layers: whether b is predicted after the second a, in every text of a length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.cli.console import OUT, progress, resumable, say, show_json, show_line
from headwright.cli.every_text.reading import EveryTextOptions, not_with, spelt
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.loading.model import Model
    from headwright.models.texts.next_token_proof import Predicted

ALL = "all"
LISTED = 8  # triples that are false or open, on a screen
FIRST_LAYER = ("heads", "offset", "query", "key", "logit", "text", "pairs", "repeat", "plot")


def predicted(model: Model, asked: EveryTextOptions, words: str) -> None:
    """Search, check, print; and write the certificate of the longest texts."""
    from headwright.models.engine.work import cache_folder
    from headwright.models.texts.next_token_proof import SHORTEST, Kept, predictions
    from headwright.models.texts.next_token_statement import weights_of

    not_with(asked, "--predict", FIRST_LAYER)
    weights_of(model)  # others are refused before anything is read
    pairs = None if words == ALL else [_pair(model, words)]
    lengths = sorted({*range(SHORTEST, asked.length, 2), asked.length}) if asked.curve else [asked.length]
    kept, found = Kept(cache_folder() / "texts", asked.resume), {}
    with resumable():
        for length in lengths:
            with progress(f"every text of {length} tokens") as fraction:
                found[length] = predictions(model, length, pairs, kept=kept, progress=fraction)
    if asked.json:
        show_json({"model": model.name, "digest": model.digest, "lengths": {
            str(length): [_data(model, one) for one in some] for length, some in found.items()
        }})  # fmt: skip
    else:
        _print(model, found)
    if asked.out is not None:
        _write(model, asked.length, found[asked.length], asked.out)
    kept.clear()


def _pair(model: Model, words: str) -> tuple[int, int]:
    spelt(model, words, "--predict")
    tokens = [int(token) for token in model.encode(words)]
    if len(tokens) != 2 or tokens[0] == tokens[1]:
        raise InputError(f"--predict {words!r}: expected two different tokens of {model.name}, or {ALL}")
    return tokens[0], tokens[1]


def _data(model: Model, one: Predicted) -> dict[str, Any]:
    a, b = model.words(np.array([one.a, one.b]))
    return {
        "a": a, "b": b, "j": one.j, "verdict": one.word, "margin": one.least, "text": _text(model, one).split(),
        "run": one.run,
    }  # fmt: skip


def _print(model: Model, found: dict[int, list[Predicted]]) -> None:
    from rich.table import Table

    show_line(
        f"{model.name}: is b predicted at the end of every text with a at place j - 1, b at j, a at the end and "
        "nowhere else, and any token but a at the other places?"
    )
    table = Table(box=None, pad_edge=False)
    for name in ("tokens", "triples a, b, j", "proved", "false", "open", "pairs proved for all j", "least margin"):
        table.add_column(name, no_wrap=True, justify="right")
    for length, some in found.items():
        words = Counter(one.word for one in some)
        pairs = {(one.a, one.b) for one in some}
        safe = pairs - {(one.a, one.b) for one in some if one.word != "proved"}
        least = min((one.least for one in some if one.least is not None), key=float, default="")
        table.add_row(
            str(length), str(len(some)), str(words["proved"]), str(words["false"]), str(words["open"]),
            f"{len(safe)} of {len(pairs)}", least,
        )  # fmt: skip
    OUT.print(table)
    for length, some in found.items():
        _print_texts(model, length, some)
    show_line(
        "Proved by the checker, for the weights in exact arithmetic: the logit of b is ahead of every other by the "
        "margin of its triple or more. False: the model, run on a text, predicts another token. Open: neither is known."
    )


def _print_texts(model: Model, length: int, some: Sequence[Predicted]) -> None:
    """The worst text, and the triples that are not proved."""
    worst = min(some, key=lambda one: one.run)
    proved = "" if worst.least is None else f"; proved for ({_name(model, worst)}): at least {worst.least}"
    b = model.words(np.array([worst.b]))[0]
    show_line(
        f"The worst text found of {length} tokens: {_text(model, worst)}. Run in float64, {b} is ahead by "
        f"{worst.run:.4g}{proved}."
    )
    for word in ("false", "open"):
        named = [one for one in some if one.word == word]
        if named:
            listed = "; ".join(f"{_name(model, one)} ({_text(model, one)}: {one.run:.3g})" for one in named[:LISTED])
            more = f"; and {len(named) - LISTED} more (--json has all)" if len(named) > LISTED else ""
            show_line(f"{word.capitalize()} at {length} tokens: {listed}{more}.")


def _text(model: Model, one: Predicted) -> str:
    return " ".join(model.words(np.array(one.text)))


def _name(model: Model, one: Predicted) -> str:
    return f"{', '.join(model.words(np.array([one.a, one.b])))}, {one.j}"


def _write(model: Model, length: int, found: Sequence[Predicted], path: Path) -> None:
    from headwright.files import write_whole
    from headwright.models.texts.next_token_proof import statement_of
    from headwright.models.texts.next_token_statement import written

    statement = statement_of(model, length, found)
    if statement is None:
        raise InputError(f"nothing was proved of texts of {length} tokens: there is no certificate to write to {path}")
    write_whole(path, written(statement).encode())
    say(f"{path}:", f"headwright verify {path} --model {model.name}")
