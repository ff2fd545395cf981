"""headwright audit MODEL --every-text T."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.cli.console import OUT, progress, say, show_json
from headwright.enclosure import shown_above, shown_below
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.audit.models.model import Model
    from headwright.audit.texts.every_text import HeadOnEveryText, OnPlaces

DIGITS = 4
SHOWN = 24  # tokens of a witness


def show(
    model: Model, length: int, heads: Sequence[int] | None, offset: int | None, query: str | None, text: str | None,
    certificate: Path | None, *, json: bool,
) -> None:  # fmt: skip
    """Look at every text, say what was proved, and write the strongest of it where asked."""
    from headwright.audit.texts.every_text import every_text

    queries = None if query is None else [_token(model, query)]
    tokens = None if text is None else model.encode(text)
    with progress(f"every text of {length} tokens") as fraction:
        found = every_text(
            model, length, heads=heads, offset=offset, queries=queries, text=tokens, progress=fraction
        )  # fmt: skip
    if json:
        show_json({"model": model.name, "digest": model.digest, "heads": [_data(model, one) for one in found]})
    else:
        _print(model, found)
    if certificate is not None:
        _write(model, found, certificate)


def _token(model: Model, word: str) -> int:
    """The one token that a word is, or the one with this number (#12)."""
    if word.startswith("#") and word[1:].isascii() and word[1:].isdigit():
        return int(word[1:])
    opening = {int(token) for token in model.opening()}
    ordinary = {int(token) for token in model.ordinary()}
    tokens = [int(token) for token in model.encode(word) if int(token) not in opening and int(token) in ordinary]
    if len(tokens) != 1:
        raise InputError(
            f"--query {word!r} is {len(tokens)} tokens of {model.name}: expected one, or its number as #12"
        )
    return tokens[0]


def _print(model: Model, found: Sequence[HeadOnEveryText]) -> None:
    from rich.table import Table

    first = found[0]
    where = f"every text of {first.length} tokens, seen from place {first.place}"
    OUT.print(f"[bold]{model.name}[/], first layer, {where}: {first.queries} tokens may stand there", highlight=False)
    table = Table(box=None, pad_edge=False)
    for name in ("head", "place", "least", "most", "never 1/2", "always 1/2"):
        table.add_column(name, no_wrap=True, justify="left" if name == "place" else "right")
    for one in found:
        for places in one.places:
            table.add_row(
                f"0.{one.head}", places.name, shown_below(places.least.bound, DIGITS),
                shown_above(places.most.bound, DIGITS), _share(places.never_half, one), _share(places.always_half, one),
            )  # fmt: skip
    OUT.print(table)
    strongest, places = _strongest(found)
    OUT.print()
    OUT.print(f"The text that gives head 0.{strongest.head} least on its {places.name} place:", markup=False)
    OUT.print(f"  {' '.join(model.words(places.least.text[-SHOWN:]))}", markup=False, soft_wrap=True)
    OUT.print(f"  proved: at least {shown_below(places.least.bound, 8)}; the model, run on it: {places.least.run:.8f}")
    for one in found:
        if one.guarantee is not None:
            kept = f"{one.guarantee.kept} of {one.guarantee.pairs} pairs of the text keep more than 1/2"
            OUT.print(f"Head 0.{one.head}: {kept} on the previous token, whatever the rest is.", markup=False)
            for a, b, floor in one.guarantee.broken[:3]:
                before, after = model.words(np.array([b, a]))
                OUT.print(f"  not {before} {after}: {shown_below(floor, DIGITS)}", markup=False)
    slack = max(one.slack for one in found)
    OUT.print(f"Proved for the weights in exact arithmetic (scores are known to {slack:.1e}). Never, always: tokens at "
              "the end for which no text, or every text, gives the place 1/2.", markup=False)  # fmt: skip


def _share(count: int, one: HeadOnEveryText) -> str:
    return f"{count} of {one.queries}"


def _strongest(found: Sequence[HeadOnEveryText]) -> tuple[HeadOnEveryText, OnPlaces]:
    """The head and places with the highest floor."""
    return max(((one, places) for one in found for places in one.places), key=lambda pair: pair[1].least.bound)


def _data(model: Model, one: HeadOnEveryText) -> dict[str, Any]:
    found = asdict(one)
    for places in found["places"]:
        for extreme in ("least", "most"):
            ids = places[extreme]["text"]
            places[extreme] |= {"text": [int(token) for token in ids], "words": list(model.words(ids))}
    return found


def _write(model: Model, found: Sequence[HeadOnEveryText], path: Path) -> None:
    from headwright.audit.texts.certificate import statement_of, written
    from headwright.audit.texts.reading import first_layer
    from headwright.files import write_whole

    one, places = _strongest(found)
    layer = first_layer(model)
    statement = statement_of(model.name, layer, one, places, "least")
    write_whole(path, written(statement).encode())
    say(f"{path}: {statement.words()}.")
