"""Verify a certificate about every text: the model's weights decide, and then the model itself is run.

Each function returns 'verified', 'rejected' or 'unreadable'; what was proved, or why not; and on how many texts the
model was run. It raises a ContradictionError if the model, run on a text, does not do what was proved.
"""

from __future__ import annotations

from collections.abc import Callable

from headwright.errors import InputError
from headwright.models.loading import Model, load_model
from headwright.models.texts import next_token_statement, statement
from headwright.models.texts.checker import DoubtError, judged
from headwright.models.texts.checker.next_token import check_claims
from headwright.models.texts.next_token_proof import run_against_claims
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.run_statement import run_against

Progress = Callable[[float], None]
Result = tuple[str, str, int]


def verify_first_layer(text: str, model: str | Model, progress: Progress | None = None) -> Result:
    """A statement about the first layer: every token at every place is looked at again."""
    try:
        claim = statement.read(text)
    except InputError as error:
        return "unreadable", str(error), 0
    loaded = load_model(model) if isinstance(model, str) else model
    length = min(claim.length, loaded.longest or claim.length)  # a statement about longer texts is rejected
    layer = first_layer(loaded, length)
    word, words = judged(claim, layer, progress)
    if word != "verified":
        return word, words, 0
    return word, words, run_against(loaded, layer, claim)


def verify_next_token(text: str, model: str | Model, progress: Progress | None = None) -> Result:
    """A statement about induction through two layers: every group is bounded again, part by part."""
    try:
        claims = next_token_statement.read(text)
    except InputError as error:
        return "unreadable", str(error), 0
    loaded = load_model(model) if isinstance(model, str) else model
    weights = next_token_statement.weights_of(loaded)
    try:
        check_claims(claims, weights, progress)
    except DoubtError as error:
        return "rejected", str(error), 0
    return "verified", claims.words(), run_against_claims(loaded, claims)
