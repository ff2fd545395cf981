"""What a view is: a page of the lab, and the API calls that it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict

from headwright.validation import StrictModel

SECONDS = 20.0


class RequestModel(StrictModel):
    """The base of all request bodies: strict types, and unknown fields are refused.

    >>> RequestModel()
    RequestModel()
    """

    model_config = ConfigDict(allow_inf_nan=False)


@dataclass(frozen=True)
class ApiCall:
    """One API call, at `POST /api/NAME`; a worker computes the answer.

    >>> def answer(request: RequestModel) -> dict[str, Any]:
    ...     return {"sum": 0}
    >>> ApiCall("empty", RequestModel, answer).seconds
    20.0
    """

    name: str
    request: type[RequestModel]
    answer: Callable[
        ..., dict[str, Any]
    ]  # called with the request; imports what it needs when it runs
    seconds: float = SECONDS  # time limit: the worker is stopped after this


@dataclass(frozen=True)
class View:
    """A view: its page is /NAME, with the module static/views/NAME.js; without a summary it has calls only.

    >>> View("design", "Design", "Find the shortest query.").calls
    ()
    """

    name: str
    title: str
    summary: str = ""  # the sentence on the front page
    calls: tuple[ApiCall, ...] = ()
