"""Results about the first layer on every text: in words, as data and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.cli.console import DIGITS, OUT, show_line
from headwright.numerics.enclosure import shown_above, shown_below

if TYPE_CHECKING:
    from headwright.models.model import Model
    from headwright.text_bounds.compare_with_model import Attained
    from headwright.text_bounds.every_text import (
        Guarantee,
        HeadOnEveryText,
        KeptByPair,
        LengthCurve,
        OnPlaces,
    )
    from headwright.text_bounds.search.logits import OnLogit
    from headwright.text_bounds.search.occurrences import OnToken

MOST_TOKENS = 24  # of a text that attains a bound
MOST_PAIRS = 20  # on a screen
MOST_BROKEN = 3  # pairs of the text that keep least
COLUMNS = ("head", "place", "least", "most", "never 1/2", "always 1/2")


@dataclass(frozen=True, eq=False)
class EveryTextResult:
    """What was proved about every text, for each question that was asked."""

    heads: Sequence[HeadOnEveryText]
    pairs: Sequence[KeptByPair]
    token: Sequence[OnToken]
    logit: Sequence[OnLogit]
    curves: Sequence[LengthCurve]
    estimated_seconds: float  # before it began


def print_result(model: Model, result: EveryTextResult, queries: str) -> None:
    """On the screen; `queries` says which query tokens were looked at."""
    first = result.heads[0]
    texts = f"every text of {first.length} tokens, seen from place {first.place}"
    tokens = "token" if first.queries == 1 else "tokens"
    show_line(f"{model.name}, first layer, {texts}: {first.queries} {tokens} {queries}")
    _print_table(result.heads)
    best, places = strongest(result.heads)
    OUT.print()
    show_line(
        f"The text that gives head 0.{best.head} least on its {places.name} place:"
    )
    _print_attained(model, places.least)
    for head in result.heads:
        if head.guarantee is not None:
            _print_guarantee(model, head.head, head.guarantee)
    _print_pairs(model, result.pairs)
    _print_occurrences(model, result.token)
    _print_logits(model, result.logit)
    _print_curves(result.curves)
    _print_basis(model, result.heads)


def _print_table(heads: Sequence[HeadOnEveryText]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in COLUMNS:
        justify = "left" if name == "place" else "right"
        table.add_column(name, no_wrap=True, justify=justify)  # type: ignore[arg-type]
    for head in heads:
        for places in head.places:
            table.add_row(
                f"0.{head.head}",
                places.name,
                shown_below(places.least.bound, DIGITS),
                shown_above(places.most.bound, DIGITS),
                f"{places.never_half} of {head.queries}",
                f"{places.always_half} of {head.queries}",
            )
    OUT.print(table)


def _print_attained(model: Model, attained: Attained) -> None:
    cut = "... " if len(attained.text) > MOST_TOKENS else ""
    show_line(f"  {cut}{' '.join(model.token_strings(attained.text[-MOST_TOKENS:]))}")
    show_line(
        f"  proved: at least {shown_below(attained.bound, 8)}; the model, run on it in float64: {attained.run:.8g}"
    )


def _print_guarantee(model: Model, head: int, guarantee: Guarantee) -> None:
    kept_pairs = (
        f"{guarantee.kept} of {guarantee.pairs} pairs of the text keep more than 1/2"
    )
    show_line(
        f"Head 0.{head}: {kept_pairs} on the previous token, whatever the rest is."
    )
    for query, previous, floor in guarantee.broken[:MOST_BROKEN]:
        before, after = model.token_strings(np.array([previous, query]))
        show_line(f"  not {before} {after}: {shown_below(floor, DIGITS)}")


def _print_pairs(model: Model, pairs: Sequence[KeptByPair]) -> None:
    for result in pairs[:MOST_PAIRS]:
        query, key = model.token_strings(np.array([result.pair.query, result.pair.key]))
        least = shown_below(result.least.bound, DIGITS)
        most = shown_above(result.most.bound, DIGITS)
        show_line(
            f"Head 0.{result.head}: {key}, {result.pair.distance} before a final {query}, keeps "
            f"{least} to {most} whatever else the text holds."
        )
    if len(pairs) > MOST_PAIRS:
        show_line(f"and {len(pairs) - MOST_PAIRS} more: --json has them all")


def _print_occurrences(model: Model, results: Sequence[OnToken]) -> None:
    for result in results:
        name = model.token_strings(np.array([result.token]))[0]
        show_line(
            f"Head 0.{result.head}: all occurrences of {name} together, where there is one, keep at least "
            f"{shown_below(result.least.bound, DIGITS)} (run: {result.least.run:.4g}) and at most "
            f"{shown_above(result.most, DIGITS)}."
        )


def _print_logits(model: Model, effects: Sequence[OnLogit]) -> None:
    for effect in effects:
        name = model.token_strings(np.array([effect.token]))[0]
        show_line(
            f"Head 0.{effect.head}: its direct effect on the logit of {name}, before the final norm, is "
            f"{shown_below(effect.least.bound, DIGITS)} (run: {effect.least.run:.4g}) to "
            f"{shown_above(effect.most.bound, DIGITS)} (run: {effect.most.run:.4g})."
        )


def _print_curves(curves: Sequence[LengthCurve]) -> None:
    for curve in curves:
        points = ", ".join(
            f"{point.length}: {shown_below(point.least, 3)} to {shown_above(point.most, 3)}"
            for point in curve.points
        )
        show_line(f"Head 0.{curve.head}, {curve.name}, by length: {points}.")


def _print_basis(model: Model, heads: Sequence[HeadOnEveryText]) -> None:
    """What is proved of what."""
    from headwright.text_bounds.statement import RUN_AT_ONCE

    slack = max(head.slack for head in heads)
    if heads[0].one_pass:
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


def strongest(heads: Sequence[HeadOnEveryText]) -> tuple[HeadOnEveryText, OnPlaces]:
    """The head and places with the highest floor."""
    candidates = [(head, places) for head in heads for places in head.places]
    return max(candidates, key=lambda pair: pair[1].least.bound)


def as_data(model: Model, result: EveryTextResult) -> dict[str, Any]:
    """Everything, for JSON."""
    document: dict[str, Any] = {"model": model.name, "digest": model.digest}
    document["heads"] = [_plain(model, asdict(head)) for head in result.heads]
    optional: dict[str, Sequence[Any]] = {
        "pairs": result.pairs,
        "token": result.token,
        "logit": result.logit,
        "curves": result.curves,
    }
    for name, items in optional.items():
        if items:
            document[name] = [_plain(model, asdict(item)) for item in items]
    document["estimated_seconds"] = result.estimated_seconds
    return document


def _plain(model: Model, value: Any) -> Any:
    """Lists and numbers, with texts in words too."""
    if isinstance(value, dict):
        plain = {name: _plain(model, item) for name, item in value.items()}
        if "text" in value:
            plain["words"] = list(model.token_strings(value["text"]))
        return plain
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(model, item) for item in value]
    return value


def length_curves(model: Model, curves: Sequence[LengthCurve]) -> Any:
    """A picture of bands by length."""
    from headwright.pictures import length_picture

    bands = []
    for curve in curves:
        lengths = [point.length for point in curve.points]
        least = [point.least for point in curve.points]
        most = [point.most for point in curve.points]
        bands.append((f"0.{curve.head}", curve.name, lengths, least, most))
    return length_picture(
        bands,
        f"{model.name}: the first layer on every text",
        "where a head's weight lies, proved",
    )
