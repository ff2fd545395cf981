"""Layers above the first, on the keys of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from headwright.cli.console import DIGITS, OUT, progress, show_json, show_line
from headwright.cli.every_text.reading import EveryTextOptions, alone
from headwright.enclosure import shown_below
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.loading.model import Model


def deeper(model: Model, asked: EveryTextOptions, layers: Sequence[int]) -> None:
    """Layers above the first, on the keys of a text."""
    from headwright.models.texts.recombined_keys import recombined

    if asked.text is None:
        raise InputError(f"layer {max(layers)}: above the first layer a key depends on the text before it, and no "
                         "vocabulary holds every key; give a text whose keys may recombine, --text FILE")  # fmt: skip
    alone(asked, f"--layers {layers[0]}", ("offset", "query", "key", "logit", "pairs", "budget", "plot", "out"))
    text, ordinary = model.encode(asked.text), {int(token) for token in model.ordinary()}
    closing = len(text) - 1 - max((at for at, token in enumerate(text) if int(token) in ordinary), default=-1)
    if len(text) > asked.length:  # what closes every text closes the shorter one
        text = np.concatenate([text[: asked.length - closing], text[len(text) - closing :]])
    with progress(f"every recombination of {len(text)} keys") as fraction:
        found = []
        for turn, layer in enumerate(layers):
            found += recombined(model, layer, text, heads=asked.heads)
            fraction((turn + 1) / len(layers))
    if asked.json:
        heads = [
            asdict(one) | {"places": [asdict(places) | {"kind": places.kind} for places in one.places]} for one in found
        ]
        show_json({"model": model.name, "digest": model.digest, "heads": heads})
        return
    from rich.table import Table

    first = found[0]
    OUT.print(f"[bold]{model.name}[/], {first.tokens} tokens of the text: every place may hold any of the {first.keys} "
              "keys that the text has in that layer, turned to the place")  # fmt: skip
    table = Table(box=None, pad_edge=False)
    for name in ("head", "place", "on the text", "floor", "lowest", "keeps 1/2", ""):
        table.add_column(name, no_wrap=True, justify="left" if name in ("place", "") else "right")
    for one in found:
        for places in one.places:
            table.add_row(
                f"{one.layer}.{one.head}", places.name, f"{places.measured:.3f}", shown_below(places.floor, DIGITS),
                shown_below(places.lowest, DIGITS), f"{places.kept_half} of {places.rows}", places.kind,
            )  # fmt: skip
    OUT.print(table)
    show_line(
        "On the text: the mean over rows. Floor: the median over rows of the least weight, proved for these queries "
        "and keys as exact numbers. Held fixed: a row's query and its own key, the keys of the first place and of "
        "special tokens, and the key at the place asked about. Firm: most rows keep 1/2 whatever keys surround "
        "them; by context: most have it on the text only. Keys that the text does not have are not spoken of.",
    )
