"""What a room is: a page with one point, and the calls that its page may make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

SECONDS = 20.0


class RequestBody(BaseModel):
    """The shape of a question: strict, and nothing in it that is not meant.

    >>> RequestBody()
    RequestBody()
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Call:
    """One thing that can be asked, at `POST /api/NAME`; the answer is worked out in a worker.

    >>> def answer(asked: RequestBody) -> dict[str, Any]:
    ...     return {"said": "nothing"}
    >>> Call("nothing", "Ask for nothing.", RequestBody, answer, {"said": "always the same"}).seconds
    20.0
    """

    name: str
    summary: str
    asks: type[RequestBody]
    answer: Callable[..., dict[str, Any]]  # of what it asks; imports what it needs when it runs
    returns: Mapping[str, str]  # the fields of the answer, and what they mean
    seconds: float = SECONDS  # more than this, and the worker is stopped
    tells: bool = False  # the answer takes `progress`, and tells it how much is done


@dataclass(frozen=True)
class Room:
    """A room: its page is /NAME, with the module static/rooms/NAME.js; without a point it has calls only.

    >>> Room("design", "Design", "The shortest query, drawn.").calls
    ()
    """

    name: str
    title: str
    point: str = ""  # the sentence on the front page
    calls: tuple[Call, ...] = ()
