"""Verify a certificate about every text: the model's weights decide, and then the model itself is run.

Each function returns 'verified', 'rejected' or 'unreadable'; what was proved, or why not; and on how many texts the
model was run. It raises a ContradictionError if the model, run on a text, does not do what was proved.
"""

from __future__ import annotations

from headwright.errors import InputError
from headwright.models import Model, load_model
from headwright.text_bounds import statement as first_layer_statement
from headwright.text_bounds.checker import DoubtError, judge_statement
from headwright.text_bounds.induction import statement as induction_statement
from headwright.text_bounds.induction.checker import check_claims
from headwright.text_bounds.induction.run import run_against_claims
from headwright.text_bounds.induction.weights import weights_of
from headwright.text_bounds.progress import Progress
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.run_statement import run_against

Result = tuple[str, str, int]


def verify_first_layer(
    text: str, model: str | Model, progress: Progress | None = None
) -> Result:
    """A statement about the first layer: every token at every place is looked at again."""
    try:
        statement = first_layer_statement.read_statement(text)
    except InputError as error:
        return "unreadable", str(error), 0
    loaded = load_model(model) if isinstance(model, str) else model
    # A statement about longer texts than the model has positions for is rejected.
    length = min(statement.length, loaded.max_length or statement.length)
    layer = first_layer(loaded, length)
    verdict, words = judge_statement(statement, layer, progress)
    if verdict != "verified":
        return verdict, words, 0
    return verdict, words, run_against(loaded, layer, statement)


def verify_next_token(
    text: str, model: str | Model, progress: Progress | None = None
) -> Result:
    """A statement about induction through two layers: every group is bounded again, part by part."""
    try:
        statement = induction_statement.read_statement(text)
    except InputError as error:
        return "unreadable", str(error), 0
    loaded = load_model(model) if isinstance(model, str) else model
    try:
        check_claims(statement, weights_of(loaded), progress)
    except DoubtError as error:
        return "rejected", str(error), 0
    return "verified", statement.words(), run_against_claims(loaded, statement)
