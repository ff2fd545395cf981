"""The process that answers requests, one after the other: `python -m headwright.lab.worker MEMORY`.

It reads one JSON job a line and writes one JSON reply a line, with the same loop as the process that checks answers.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from headwright.errors import HeadwrightError
from headwright.lab.calls import CALLS
from headwright.subprocesses.worker import Handle, listen

WARM = (  # what most calls need
    "headwright.query_design.designer",
    "headwright.query_design.proving.impossible",
    "headwright.simulation.simulation",
    "headwright.layer",
    "headwright.positions.collisions",
)
OUT_OF_MEMORY = (
    "out of memory: try a smaller input, or the command line, which has no limit"
)


def handle(job: dict[str, Any]) -> dict[str, Any]:
    """The answer to a job, as {"answer": ...}; or {"error": ...}, with the field that the error is about.

    >>> handle({"call": "verify", "given": {"certificate": "{}"}})["answer"]["verdict"]
    'unreadable'
    >>> handle({"call": "design", "given": {"keys": [[1.0], [2.0]], "copy": 5}})["error"]
    'target 5, and there are 2 keys: expected 0 to 1'
    """
    call = CALLS[job["call"]]
    try:
        request = call.request.model_validate(job["given"])
        found = call.answer(request)
        return {
            "answer": json.loads(json.dumps(found, allow_nan=False))
        }  # fails here if it is not JSON
    except HeadwrightError as error:
        return {
            "error": str(error),
            "kind": "unusable",
            "where": field_of(str(error), call.request),
        }
    except MemoryError:
        return {"error": OUT_OF_MEMORY, "kind": "memory", "where": None}
    except Exception as error:  # noqa: BLE001  (reported as an internal error, without a traceback)
        return {
            "error": f"internal error ({type(error).__name__}): this is a bug in Headwright",
            "kind": "bug",
            "where": None,
        }


def field_of(sentence: str, request: type[Any]) -> str | None:
    """The request field that an error is about: the one its sentence begins with.

    >>> from headwright.lab.views.design import DesignRequest
    >>> field_of("eps is 0: expected more than 0", DesignRequest)
    'eps'
    """
    first = sentence.replace(":", " ").replace(",", " ").split(" ", 1)[0]
    return first if first in request.model_json_schema()["properties"] else None


def prepared() -> Handle:
    """The function that answers jobs; modules that most answers need are loaded first."""
    for name in WARM:
        import_module(name)
    return handle


if __name__ == "__main__":
    listen(prepared, int(sys.argv[1]))
