"""Two layers: the weight on a pair of tokens where it repeats."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from headwright.cli.console import DIGITS, progress, show_json, show_line
from headwright.cli.every_text.printing import plain
from headwright.cli.every_text.reading import EveryTextOptions, not_with, spelt
from headwright.enclosure import shown_below
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.loading.model import Model


def repeated(model: Model, asked: EveryTextOptions, words: str) -> None:
    """A pair that repeats, through two layers."""
    from headwright.models.texts.two_layers import repeated_pair

    not_with(asked, "--repeat", ("query", "key", "logit", "text", "pairs", "plot", "out", "curve", "resume"))
    spelt(model, words, "--repeat")
    opening = {int(token) for token in model.opening()}
    tokens = [int(token) for token in model.encode(words) if int(token) not in opening]
    if not 2 <= len(tokens) <= 3:
        raise InputError(f"--repeat {words!r} is {len(tokens)} tokens of {model.name}: expected the two of the pair, "
                         "and perhaps the one before its first token comes again")  # fmt: skip
    places = None if asked.offset is None else [asked.length - 1 - asked.offset]
    with progress(f"every text of {asked.length} tokens") as fraction:
        found = repeated_pair(
            model, asked.length, (tokens[0], tokens[1]), heads=asked.heads, places=places, before=tokens[2:] or None,
            progress=fraction,
        )  # fmt: skip
    if asked.json:
        show_json({
            "model": model.name, "digest": model.digest, "length": asked.length,
            "repeated": [plain(model, asdict(one)) for one in found],
        })  # fmt: skip
        return
    a, b = model.words(np.array(tokens[:2]))
    kind = f"every text of {asked.length} tokens that ends in {a}, with {a} {b} once before and no other {a}"
    show_line(f"{model.name}, two layers, {kind}")
    for one in found:
        last = one.place == asked.length - 2
        before = (
            f"{b} is before the last {a}" if last
            else f"more than 1/2 for {len(one.kept)} of {one.before} tokens before the last {a}"
        )  # fmt: skip
        words = " ".join(model.words(one.least.text))
        show_line(
            f"Head 1.{one.head} gives {b} at place {one.place} at least {shown_below(one.least.bound, DIGITS)}; "
            f"{before}. {words}: {one.least.run:.4g}"
        )
    show_line(
        "Proved for the weights in exact arithmetic, whatever the other tokens are. The text at the end of a "
        "line is where the bound is lowest, with the weight that the model has on it: a bound, not attained."
    )
