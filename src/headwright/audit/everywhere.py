"""What the report says of every text: proven for the heads of a first layer, where that takes seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwright.audit.models.model import Model, may_hold
from headwright.audit.texts.every_text import Attained, HeadOnEveryText, OnPlaces, every_text
from headwright.audit.texts.reading import turning
from headwright.errors import InputError

LENGTH = 16  # of the texts
SECONDS = 2**32  # about how many couples of tokens and places are a matter of seconds


@dataclass(frozen=True)
class Extreme:
    """A proven bound of a weight over every text, the text that attains it, and what the model does there."""

    bound: float
    text: tuple[str, ...]
    run: float


@dataclass(frozen=True)
class OnEveryText:
    """The weight that one head gives to one place in every text of a length, special tokens where they always stand."""

    head: int
    length: int
    at: int  # the place of the row: the last that holds no special token
    place: str
    queries: int  # tokens that the row may have
    never_half: int  # those for which no text lets the head give this place 1/2
    always_half: int  # and for which every text does
    least: Extreme
    most: Extreme


def everywhere(
    model: Model, layers: Sequence[int], heads: Sequence[int], length: int = LENGTH
) -> tuple[tuple[OnEveryText, ...], str]:
    """All that is proven of the first layer; or why nothing is said.

    >>> from headwright.audit.models import load_model
    >>> found, _ = everywhere(load_model("builtin:induction"), [0], [0])
    >>> [(one.place, one.least.bound > 0.5) for one in found]
    [('self', False), ('previous', True), ('first', False)]
    """
    if 0 not in layers:
        return (), "the first layer was left out"
    try:
        turning(model, 0)  # refuses a family that is not covered, at no cost
    except InputError as error:
        return (), str(error)
    tokens = len(may_hold(model))
    if (tokens * length) ** 2 * len(heads) > SECONDS:
        return (), (f"with {tokens} tokens this takes minutes to hours, and is left to "
                    f"'headwright audit {model.name} --every-text {length}'")  # fmt: skip
    try:
        found = every_text(model, min(length, model.longest or length), heads=heads)
    except InputError as error:
        return (), str(error)
    return tuple(_on(model, one, places) for one in found for places in one.places), ""


def _on(model: Model, one: HeadOnEveryText, found: OnPlaces) -> OnEveryText:
    return OnEveryText(
        one.head, one.length, one.place, found.name, one.queries, found.never_half, found.always_half,
        _extreme(model, found.least), _extreme(model, found.most),
    )  # fmt: skip


def _extreme(model: Model, found: Attained) -> Extreme:
    return Extreme(found.bound, tuple(model.words(found.text)), found.run)
