"""The process that answers requests, one after the other: `python -m headwright.lab.worker MEMORY`.

It reads one JSON job a line and writes one JSON reply a line, with the same loop as the process that checks answers.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from pydantic import BaseModel

from headwright.errors import HeadwrightError, InputError
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
            "where": _field_of(error, call.request),
        }
    except MemoryError:
        return {"error": OUT_OF_MEMORY, "kind": "memory", "where": None}
    except Exception as error:  # noqa: BLE001  (reported as an internal error, without a traceback)
        return {
            "error": f"internal error ({type(error).__name__}): this is a bug in Headwright",
            "kind": "bug",
            "where": None,
        }


def _field_of(error: HeadwrightError, request: type[BaseModel]) -> str | None:
    """The field of the request that an error is about; None where it is about none of them, or about several."""
    field = error.field if isinstance(error, InputError) else None
    fields = request.model_json_schema()["properties"]
    return field if field in fields else None


def prepared() -> Handle:
    """The function that answers jobs; modules that most answers need are loaded first."""
    for name in WARM:
        import_module(name)
    return handle


if __name__ == "__main__":
    listen(prepared, int(sys.argv[1]))
