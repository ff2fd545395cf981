"""The strongest result about the first layer, as a certificate in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwright.cli.console import say
from headwright.cli.every_text.printing import EveryTextResult, strongest
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.model import Model
    from headwright.text_bounds.first_layer import FirstLayer
    from headwright.text_bounds.statement import FirstLayerStatement


def write_certificate(
    model: Model, result: EveryTextResult, path: Path, *, is_about_text: bool
) -> None:
    """Into a file, after the model was run against it; and say what it states."""
    from headwright.files import write_whole
    from headwright.text_bounds.read_layer import first_layer
    from headwright.text_bounds.run_statement import run_against
    from headwright.text_bounds.statement import write_statement

    layer = first_layer(model, result.heads[0].length)
    statement = _choose_statement(model, layer, result, is_about_text)
    run_against(model, layer, statement)
    write_whole(path, write_statement(statement).encode())
    say(f"{path}: {statement.words()}.")


def _choose_statement(
    model: Model, layer: FirstLayer, result: EveryTextResult, is_about_text: bool
) -> FirstLayerStatement:
    """The head that keeps most of what was asked about: pairs, a token, the text's pairs; or any place."""
    from headwright.text_bounds.make_statement import statement_of, token_statement

    if result.pairs and result.token:
        raise InputError(
            "--pairs and --key: a certificate states one thing, expected one of these beside it"
        )
    if result.pairs:
        return _state_pairs(model, layer, result)
    if result.token:
        best = max(result.token, key=lambda on_token: on_token.least.bound)
        length = result.heads[0].length
        return token_statement(model.name, layer, length, best, "least")
    if is_about_text:
        return _state_pairs_of_text(model, layer, result)
    head, places = strongest(result.heads)
    return statement_of(model.name, layer, head, places, "least")


def _state_pairs_of_text(
    model: Model, layer: FirstLayer, result: EveryTextResult
) -> FirstLayerStatement:
    """The head in which most adjacent pairs of the text keep more than 1/2, with the least of their weights."""
    from headwright.text_bounds.make_statement import pairs_statement

    guarantees = {
        head: head.guarantee for head in result.heads if head.guarantee is not None
    }
    if not guarantees:
        raise InputError(
            "no pair of the text was looked at, so there is nothing to certify"
        )
    head, guarantee = max(guarantees.items(), key=lambda item: item[1].kept)
    pairs = [(query, key) for query, key, _ in guarantee.firm]
    least = min((floor for *_, floor in guarantee.firm), default=0.0)
    return pairs_statement(model.name, layer, head, pairs, 1, least)


def _state_pairs(
    model: Model, layer: FirstLayer, result: EveryTextResult
) -> FirstLayerStatement:
    """The head in which the least weight of all pairs is largest."""
    from headwright.text_bounds.make_statement import pairs_statement

    distances = sorted(
        {result_of_pair.pair.distance for result_of_pair in result.pairs}
    )
    if len(distances) > 1:
        raise InputError(
            f"--pairs has the distances {distances}: expected one for a certificate"
        )
    floors: dict[int, float] = {}
    for result_of_pair in result.pairs:
        floors[result_of_pair.head] = min(
            floors.get(result_of_pair.head, 1.0), result_of_pair.least.bound
        )
    best = max(result.heads, key=lambda head: floors[head.head])
    of_best = [
        result_of_pair.pair
        for result_of_pair in result.pairs
        if result_of_pair.head == best.head
    ]
    pairs = [(pair.query, pair.key) for pair in of_best]
    return pairs_statement(
        model.name, layer, best, pairs, distances[0], floors[best.head]
    )
