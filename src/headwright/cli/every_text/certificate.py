"""The strongest of what was found, as a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwright.cli.console import say
from headwright.cli.every_text.printing import Answered, strongest
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.loading.model import Model
    from headwright.models.texts.first_layer import FirstLayer
    from headwright.models.texts.statement import Statement


def write(model: Model, found: Answered, path: Path, about_pairs: bool) -> None:
    """Into a file, and say what it states."""
    from headwright.files import write_whole
    from headwright.models.texts.read_layer import first_layer
    from headwright.models.texts.run_statement import run_against
    from headwright.models.texts.statement import written

    layer = first_layer(model, found.heads[0].length)
    statement = _statement(model, layer, found, about_pairs)
    run_against(model, layer, statement)
    write_whole(path, written(statement).encode())
    say(f"{path}: {statement.words()}.")


def _statement(model: Model, layer: FirstLayer, found: Answered, about_pairs: bool) -> Statement:
    """The head that keeps most of what was asked about: pairs, a token, the text's pairs; or any place."""
    from headwright.models.texts.make_statement import pairs_statement, statement_of, token_statement

    asked = {"--pairs": found.pairs, "--key": found.token}
    named = [name for name, each in asked.items() if each]
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)}: a certificate states one thing, expected one of these beside it")
    if found.pairs:
        return _of_pairs(model, layer, found)
    if found.token:
        best = max(found.token, key=lambda one: one.least.bound)
        return token_statement(model.name, layer, found.heads[0].length, best, "least")
    if about_pairs:
        guaranteed = [(one, one.guarantee) for one in found.heads if one.guarantee is not None]
        if not guaranteed:
            raise InputError("no pair of the text was looked at, so there is nothing to certify")
        head, kept = max(guaranteed, key=lambda both: both[1].kept)
        least = min((floor for *_, floor in kept.firm), default=0.0)
        return pairs_statement(model.name, layer, head, [(a, b) for a, b, _ in kept.firm], 1, least)
    head, places = strongest(found.heads)
    return statement_of(model.name, layer, head, places, "least")


def _of_pairs(model: Model, layer: FirstLayer, found: Answered) -> Statement:
    from headwright.models.texts.make_statement import pairs_statement

    distances = {kept.pair.distance for kept in found.pairs}
    if len(distances) > 1:
        raise InputError(f"--pairs has the distances {sorted(distances)}: expected one for a certificate")
    floors = {one.head: min(kept.least.bound for kept in found.pairs if kept.head == one.head) for one in found.heads}
    best = max(found.heads, key=lambda one: floors[one.head])
    asked = [(kept.pair.query, kept.pair.key) for kept in found.pairs if kept.head == best.head]
    return pairs_statement(model.name, layer, best, asked, distances.pop(), floors[best.head])
