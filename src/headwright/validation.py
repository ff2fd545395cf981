"""A pydantic error as one sentence: where, what was given, what is expected."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

EXPECTED = {  # by pydantic's type of an error; what stands in braces is in its context
    "bool_type": "true or false",
    "dict_type": "a table",
    "finite_number": "a finite number",
    "float_type": "a number",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "int_type": "an integer",
    "less_than": "a number below {lt}",
    "less_than_equal": "a number of at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_type": "a table",
    "string_too_long": "at most {max_length} characters",
    "string_type": "text",
    "too_long": "at most {max_length} entries",
    "too_short": "at least {min_length} entries",
    "tuple_type": "a list, in [ ]",
}
BRANCH = re.compile(
    r"[\[(]|^(?:_[A-Z]|constrained-|function-|(?:bool|dict|float|int|list|none|str)$)"
)
MAX_DEPTH = 6  # names of a place that are shown
Place = tuple[int | str, ...]


class StrictModel(BaseModel):
    """The base of what files and requests are read into: exact types, and no unknown field."""

    model_config = ConfigDict(extra="forbid", strict=True)


def sentence(
    error: ValidationError, model: type[BaseModel], whole: str = "the document"
) -> str:
    """The first complaint; where a field may be one of several things, all of them are named.

    >>> from typing import Literal
    >>> from pydantic import create_model
    >>> Rule = create_model("Rule", copy_to=(int | Literal["previous", "first"], ...))
    >>> def complaint(**given: object) -> str:
    ...     try:
    ...         return str(Rule.model_validate(given, strict=True))
    ...     except ValidationError as error:
    ...         return sentence(error, Rule)
    >>> complaint(copy_to="last")
    "copy_to is 'last': expected an integer, or 'previous' or 'first'"
    >>> complaint()
    'copy_to is missing'
    """
    complaints = error.errors(include_url=False)
    place = _deepest_place(complaints)
    here = [one for one in complaints if field_of(one["loc"]) == place]
    if here[0]["type"] == "missing":
        # A field that is not known, beside one that is missing, is a misspelling of it more often than not.
        misspelt = [
            one
            for one in complaints
            if one["type"] == "extra_forbidden"
            and field_of(one["loc"])[:-1] == place[:-1]
        ]
        if not misspelt:
            return f"{_path(place) or whole} is missing"
        here = misspelt
        place = field_of(misspelt[0]["loc"])
    where = _path(place) or whole
    if here[0]["type"] == "extra_forbidden":
        known = _field_names(model, place[:-1])
        return f"{where}: there is no such field{_remedy(str(place[-1]), known)}"
    expected = dict.fromkeys(
        _expected(one["type"], one.get("ctx", {}), one["msg"]) for one in here
    )
    value = reprlib.repr(here[0]["input"])
    return f"{where} is {value}: expected {', or '.join(expected)}"


def _deepest_place(complaints: Sequence[ErrorDetails]) -> Place:
    """The place of the first complaint; of a union, the branch that was followed deepest is the one that was meant."""
    first = field_of(complaints[0]["loc"])
    places = [field_of(complaint["loc"]) for complaint in complaints]
    inside = [place for place in places if place[: len(first)] == first]
    return max(inside, key=len)


def _path(place: Place) -> str:
    return " ".join(map(str, place[:MAX_DEPTH]))


def _remedy(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    if known:
        return f"; expected one of {', '.join(known)}"
    return ""


def field_of(place: Sequence[int | str]) -> Place:
    """Where the error is in the document: without the names that pydantic gives the branches of a union.

    >>> field_of(("rule", 0, "copy", "constrained-int"))
    ('rule', 0, 'copy')
    """
    return tuple(
        part for part in place if isinstance(part, int) or not BRANCH.search(part)
    )


def _expected(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in EXPECTED:
        return EXPECTED[kind].format(**context)
    plain = message.removeprefix("Value error, ").removeprefix("Input should be ")
    return plain[:1].lower() + plain[1:]


def _field_names(model: type[BaseModel], place: Place) -> list[str]:
    """The fields of the table at this place; none where it is no table of the model."""
    for name in place:
        if isinstance(name, int):  # an entry of a list
            continue
        annotations = {
            field.alias or field_name: field.annotation
            for field_name, field in model.model_fields.items()
        }
        inner = _model_in(annotations.get(name))
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation is, or the first one inside it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        model = _model_in(part)
        if model is not None:
            return model
    return None
