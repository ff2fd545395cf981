"""Results about every text as statements for the checker, with bounds rounded to the safe side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from headwright.errors import InputError
from headwright.numerics.enclosure import shown_above, shown_below
from headwright.text_bounds.every_text import HeadOnEveryText, OnPlaces
from headwright.text_bounds.first_layer import FirstLayer
from headwright.text_bounds.search.occurrences import OnToken
from headwright.text_bounds.search.sweep import Extreme
from headwright.text_bounds.search.texts import texts_of
from headwright.text_bounds.statement import (
    FirstLayerStatement,
    held_by,
    tokens_digest,
    weights_digest,
)

DIGITS = 8
LONGEST_NAME = 200


def statement_of(
    model: str,
    layer: FirstLayer,
    head: HeadOnEveryText,
    places: OnPlaces,
    extreme: Extreme,
) -> FirstLayerStatement:
    """What was found about places, for all query tokens or one."""
    return FirstLayerStatement(
        **_common_fields(model, layer, head.head, head.length),
        places=places.places,
        query=_query(layer, head.queries, places.least.query),
        pairs=(),
        extreme=extreme,
        bound=_rounded(extreme, places.least.bound, places.most.bound),
    )


def pairs_statement(
    model: str,
    layer: FirstLayer,
    head: HeadOnEveryText,
    pairs: Sequence[tuple[int, int]],
    distance: int,
    least: float,
) -> FirstLayerStatement:
    """Pairs (query token, token so many places before it), each of which keeps no less than `least` there."""
    if not pairs:
        raise InputError(
            f"head {head.head}: no pair keeps what is asked for, so there is nothing to certify"
        )
    return FirstLayerStatement(
        **_common_fields(model, layer, head.head, head.length),
        places=(head.place - distance,),
        query=None,
        pairs=tuple(dict.fromkeys(pairs)),
        extreme="least",
        bound=shown_below(least, DIGITS),
    )


def token_statement(
    model: str, layer: FirstLayer, length: int, result: OnToken, extreme: Extreme
) -> FirstLayerStatement:
    """What was found about the occurrences of a token, for all query tokens or one."""
    return FirstLayerStatement(
        **_common_fields(model, layer, result.head, length),
        places=(),
        query=_query(layer, result.queries, result.least.query),
        pairs=(),
        extreme=extreme,
        bound=_rounded(extreme, result.least.bound, result.most),
        token=result.token,
    )


def _common_fields(
    model: str, layer: FirstLayer, head: int, length: int
) -> dict[str, Any]:
    """What every statement names: the weights, the head, the texts and the tokens that they may hold."""
    name = re.sub(r"[^\w./:-]", "_", model, flags=re.ASCII)
    return {
        "model": name[-LONGEST_NAME:],
        "weights": weights_digest(layer),
        "head": head,
        "length": length,
        "place": texts_of(layer, length).place,
        "held": held_by(layer, length),
        "tokens": tokens_digest(layer),
        "choices": layer.free,
        "one_pass": layer.one_pass,
    }


def _query(layer: FirstLayer, rows: int, query: int) -> int | None:
    """The one query token that was looked at; None for all."""
    if rows == layer.free:
        return None
    if rows == 1:
        return query
    raise InputError(
        f"{rows} of {layer.free} query tokens were looked at: expected all, or one, for a "
        "certificate; or pairs of a text, --text FILE"
    )


def _rounded(extreme: Extreme, least: float, most: float) -> str:
    """To the safe side."""
    if extreme == "least":
        return shown_below(least, DIGITS)
    return shown_above(most, DIGITS)
