"""Request bodies: read strictly, within limits of size and time; errors are sentences."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

MOST_BYTES = 4 * 2**20
SECONDS = 15.0  # for a body to arrive


class RefusedError(Exception):
    """A request that is refused: the HTTP status, a sentence, and the field it is about."""

    def __init__(self, status: int, sentence: str, where: str | None = None) -> None:
        """Keep what the reply will say."""
        super().__init__(sentence)
        self.status, self.sentence, self.where = status, sentence, where


def reply(content: Any, status: int = 200) -> Response:
    """A JSON reply: no NaN, no infinities, plain ASCII."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def refusal(error: RefusedError) -> Response:
    """The error as JSON."""
    return reply({"error": error.sentence, "where": error.where}, error.status)


async def read_json(request: Request) -> Any:
    """The body as JSON; duplicate names, NaN and numbers that overflow are refused."""
    if (
        request.headers.get("content-type", "").partition(";")[0].strip().lower()
        != "application/json"
    ):
        raise RefusedError(415, "expected a body of the type application/json")
    parts, size = [], 0
    try:
        async with asyncio.timeout(SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > MOST_BYTES:
                    raise RefusedError(
                        413,
                        f"the request is too large: expected at most {MOST_BYTES} bytes",
                    )
                parts.append(part)
    except TimeoutError:
        raise RefusedError(
            408, f"the request did not arrive within {SECONDS:g} s"
        ) from None
    try:
        return json.loads(
            b"".join(parts),
            parse_constant=_no,
            parse_float=_finite,
            object_pairs_hook=_once,
        )
    except RecursionError:
        raise RefusedError(400, "the body is nested too deeply") from None
    except ValueError as error:
        raise RefusedError(400, f"the body is not JSON: {str(error)[:200]}") from None


def _no(name: str) -> float:
    raise ValueError(f"{name} is not valid JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is too large for a number")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found
