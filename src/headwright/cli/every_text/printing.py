"""What was found about every text, in words, as data and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.cli.console import DIGITS, OUT, show_line
from headwright.enclosure import shown_above, shown_below

if TYPE_CHECKING:
    from headwright.models.loading.model import Model
    from headwright.models.texts.check_against_model import Attained
    from headwright.models.texts.every_text import Curve, HeadOnEveryText, KeptByPair, OnPlaces
    from headwright.models.texts.logits import OnLogit
    from headwright.models.texts.occurrences import OnToken

SHOWN = 24  # tokens of a witness
LISTED = 20  # pairs on a screen


@dataclass(frozen=True, eq=False)
class EveryTextResult:
    """What was found about every text, for each question that was asked."""

    heads: Sequence[HeadOnEveryText]
    pairs: Sequence[KeptByPair]
    token: Sequence[OnToken]
    logit: Sequence[OnLogit]
    curves: Sequence[Curve]
    estimated_seconds: float  # before it began


def print_result(model: Model, result: EveryTextResult, there: str) -> None:
    """On the screen; `there` says which query tokens were looked at."""
    from rich.table import Table

    from headwright.models.texts.statement import RUN_AT_ONCE

    found = result.heads
    first = found[0]
    where = f"every text of {first.length} tokens, seen from place {first.place}"
    tokens = "token" if first.queries == 1 else "tokens"
    show_line(f"{model.name}, first layer, {where}: {first.queries} {tokens} {there}")
    table = Table(box=None, pad_edge=False)
    for name in ("head", "place", "least", "most", "never 1/2", "always 1/2"):
        table.add_column(name, no_wrap=True, justify="left" if name == "place" else "right")
    for one in found:
        for places in one.places:
            table.add_row(
                f"0.{one.head}", places.name, shown_below(places.least.bound, DIGITS),
                shown_above(places.most.bound, DIGITS), f"{places.never_half} of {one.queries}",
                f"{places.always_half} of {one.queries}",
            )  # fmt: skip
    OUT.print(table)
    best, places = strongest(found)
    OUT.print()
    show_line(f"The text that gives head 0.{best.head} least on its {places.name} place:")
    _print_attained(model, places.least)
    for one in found:
        if one.guarantee is not None:
            kept = f"{one.guarantee.kept} of {one.guarantee.pairs} pairs of the text keep more than 1/2"
            show_line(f"Head 0.{one.head}: {kept} on the previous token, whatever the rest is.")
            for a, b, floor in one.guarantee.broken[:3]:
                before, after = model.words(np.array([b, a]))
                show_line(f"  not {before} {after}: {shown_below(floor, DIGITS)}")
    _print_more(model, result)
    slack = max(one.slack for one in found)
    if first.one_pass:
        show_line(
            f"This holds {RUN_AT_ONCE}: the rotary frequencies of {model.name} depend on the length of the text, and "
            "a text that is decoded with a cache has keys that were turned by others."
        )
    show_line(
        f"Proved for the weights in exact arithmetic (scores are known to {shown_above(slack, 2)}). "
        "Never, always: tokens at the end for which no text, or every text, gives the place 1/2. "
        "A text holds special tokens only where "
        "the model's tokenizer puts them."
    )


def _print_attained(model: Model, found: Attained) -> None:
    cut = "... " if len(found.text) > SHOWN else ""
    show_line(f"  {cut}{' '.join(model.words(found.text[-SHOWN:]))}")
    show_line(f"  proved: at least {shown_below(found.bound, 8)}; the model, run on it in float64: {found.run:.8g}")


def _print_more(model: Model, found: EveryTextResult) -> None:
    for kept in found.pairs[:LISTED]:
        a, b = model.words(np.array([kept.pair.query, kept.pair.key]))
        show_line(
            f"Head 0.{kept.head}: {b}, {kept.pair.distance} before a final {a}, keeps "
            f"{shown_below(kept.least.bound, DIGITS)} to {shown_above(kept.most.bound, DIGITS)} whatever else the text "
            "holds."
        )
    if len(found.pairs) > LISTED:
        show_line(f"and {len(found.pairs) - LISTED} more: --json has them all")
    for one in found.token:
        name = model.words(np.array([one.token]))[0]
        show_line(
            f"Head 0.{one.head}: all occurrences of {name} together, where there is one, keep at least "
            f"{shown_below(one.least.bound, DIGITS)} (run: {one.least.run:.4g}) and at most "
            f"{shown_above(one.most, DIGITS)}."
        )
    for effect in found.logit:
        name = model.words(np.array([effect.token]))[0]
        show_line(
            f"Head 0.{effect.head}: its direct effect on the logit of {name}, before the final norm, is "
            f"{shown_below(effect.least.bound, DIGITS)} (run: {effect.least.run:.4g}) to "
            f"{shown_above(effect.most.bound, DIGITS)} (run: {effect.most.run:.4g})."
        )
    for curve in found.curves:
        points = ", ".join(
            f"{point.length}: {shown_below(point.least, 3)} to {shown_above(point.most, 3)}" for point in curve.points
        )
        show_line(f"Head 0.{curve.head}, {curve.name}, by length: {points}.")


def strongest(found: Sequence[HeadOnEveryText]) -> tuple[HeadOnEveryText, OnPlaces]:
    """The head and places with the highest floor."""
    return max(((one, places) for one in found for places in one.places), key=lambda pair: pair[1].least.bound)


def data(model: Model, found: EveryTextResult) -> dict[str, Any]:
    """Everything."""
    more = {
        name: [plain(model, asdict(each)) for each in getattr(found, name)]
        for name in ("pairs", "token", "logit", "curves")
    }
    heads = [plain(model, asdict(one)) for one in found.heads]
    return {"model": model.name, "digest": model.digest, "heads": heads} | {k: v for k, v in more.items() if v}


def plain(model: Model, value: Any) -> Any:
    """For JSON, texts in words too."""
    if isinstance(value, dict):
        told = {name: plain(model, each) for name, each in value.items()}
        return told | ({"words": list(model.words(value["text"]))} if "text" in value else {})
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(model, each) for each in value] if isinstance(value, (list, tuple)) else value


def picture(model: Model, curves: Sequence[Curve]) -> Any:
    """Bands by length."""
    from headwright.pictures import length_picture

    bands = [
        (f"0.{curve.head}", curve.name, [p.length for p in curve.points], [p.least for p in curve.points],
         [p.most for p in curve.points])
        for curve in curves
    ]  # fmt: skip
    return length_picture(bands, f"{model.name}: the first layer on every text", "where a head's weight lies, proved")
