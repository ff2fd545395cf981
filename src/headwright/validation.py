"""A pydantic error as one sentence: where, what was given, what is expected."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

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
}
BRANCH = re.compile(r"[\[(]|^(?:_[A-Z]|constrained-|function-|(?:bool|dict|float|int|list|none|str)$)")
Place = tuple[int | str, ...]


def sentence(error: ValidationError, model: type[BaseModel], whole: str = "the document") -> str:
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
    found = error.errors(include_url=False)
    first = field_of(found[0]["loc"])
    # Of a union, the branch that was followed deepest is the one that was meant.
    place = max((at for one in found if (at := field_of(one["loc"]))[: len(first)] == first), key=len)
    where = " ".join(map(str, place[:6])) or whole
    here = [one for one in found if field_of(one["loc"]) == place]
    if here[0]["type"] == "missing":
        misspelt = [
            one for one in found if one["type"] == "extra_forbidden" and field_of(one["loc"])[:-1] == place[:-1]
        ]
        if not misspelt:
            return f"{where} is missing"
        # A field that is not known, beside one that is missing, is a misspelling of it more often than not.
        here, place = misspelt, field_of(misspelt[0]["loc"])
        where = " ".join(map(str, place[:6]))
    if here[0]["type"] == "extra_forbidden":
        known = _names(model, place[:-1])
        near = difflib.get_close_matches(str(place[-1]), known, n=1)
        remedy = f"; did you mean {near[0]!r}?" if near else f"; expected one of {', '.join(known)}" if known else ""
        return f"{where}: there is no such field{remedy}"
    expected = dict.fromkeys(_expected(one["type"], one.get("ctx", {}), one["msg"]) for one in here)
    return f"{where} is {reprlib.repr(here[0]['input'])}: expected {', or '.join(expected)}"


def field_of(place: Sequence[int | str]) -> Place:
    """Where the error is in the document: without the names that pydantic gives the branches of a union.

    >>> field_of(("rule", 0, "copy", "constrained-int"))
    ('rule', 0, 'copy')
    """
    return tuple(part for part in place if isinstance(part, int) or not BRANCH.search(part))


def _expected(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in EXPECTED:
        return EXPECTED[kind].format(**context)
    said = message.removeprefix("Value error, ").removeprefix("Input should be ")
    return said[:1].lower() + said[1:]


def _names(model: type[BaseModel], place: Place) -> list[str]:
    """The fields of the table at this place; none where it is no table of the model."""
    for part in (part for part in place if not isinstance(part, int)):
        named = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
        inner = _model_in(named.get(part))
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part)) is not None), None)
