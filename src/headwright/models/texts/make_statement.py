"""Results about every text as statements for the checker, with bounds rounded to the safe side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from headwright.enclosure import shown_above, shown_below
from headwright.errors import InputError
from headwright.models.texts.every_text import HeadOnEveryText, OnPlaces
from headwright.models.texts.first_layer import FirstLayer, texts_of
from headwright.models.texts.occurrences import OnToken
from headwright.models.texts.statement import Statement, held_by, tokens_digest, weights_digest
from headwright.models.texts.sweep import Extreme

DIGITS = 8


def statement_of(
    model: str, layer: FirstLayer, found: HeadOnEveryText, places: OnPlaces, extreme: Extreme
) -> Statement:
    """What was found about places, for all query tokens or one."""
    bound = _rounded(extreme, places.least.bound, places.most.bound)
    return Statement(
        **_about(model, layer, found.head, found.length), places=places.places,
        query=_query(layer, found.queries, places.least.query), pairs=(), extreme=extreme, bound=bound,
    )  # fmt: skip


def pairs_statement(
    model: str, layer: FirstLayer, found: HeadOnEveryText, pairs: Sequence[tuple[int, int]], distance: int, least: float
) -> Statement:
    """Pairs (query token, token so many places before it), each of which keeps no less than `least` there."""
    if not pairs:
        raise InputError(f"head {found.head}: no pair keeps what is asked for, so there is nothing to certify")
    return Statement(
        **_about(model, layer, found.head, found.length), places=(found.place - distance,), query=None,
        pairs=tuple(dict.fromkeys(pairs)), extreme="least", bound=shown_below(least, DIGITS),
    )  # fmt: skip


def token_statement(model: str, layer: FirstLayer, length: int, found: OnToken, extreme: Extreme) -> Statement:
    """What was found about the occurrences of a token, for all query tokens or one."""
    return Statement(
        **_about(model, layer, found.head, length), places=(), query=_query(layer, found.queries, found.least.query),
        pairs=(), extreme=extreme, bound=_rounded(extreme, found.least.bound, found.most), token=found.token,
    )  # fmt: skip


def _about(model: str, layer: FirstLayer, head: int, length: int) -> dict[str, Any]:
    """What every statement names: the weights, the head, the texts and the tokens that they may hold."""
    return {
        "model": re.sub(r"[^\w./:-]", "_", model, flags=re.ASCII)[-200:], "weights": weights_digest(layer),
        "head": head, "length": length, "place": texts_of(layer, length).place, "held": held_by(layer, length),
        "tokens": tokens_digest(layer), "choices": len(layer.tokens) - layer.only_held,
        "one_pass": layer.one_pass,
    }  # fmt: skip


def _query(layer: FirstLayer, sample_rows: int, query: int) -> int | None:
    """The one query token that was looked at; None for all."""
    free = len(layer.tokens) - layer.only_held
    if sample_rows not in (1, free):
        raise InputError(f"{sample_rows} of {free} query tokens were looked at: expected all, or one, for a "
                         "certificate; or pairs of a text, --text FILE")  # fmt: skip
    return None if sample_rows == free else query


def _rounded(extreme: Extreme, least: float, most: float) -> str:
    return shown_below(least, DIGITS) if extreme == "least" else shown_above(most, DIGITS)
