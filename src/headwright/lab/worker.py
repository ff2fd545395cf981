"""The process in which questions are answered, one after the other: `python -m headwright.lab.worker MEMORY`.

It reads a job a line as JSON and writes a reply a line, like the process that checks answers, whose loop it uses.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from typing import Any

from headwright.errors import HeadwrightError
from headwright.lab.asking import Tell
from headwright.lab.rooms import CALLS
from headwright.running.worker import Handle, listen

WARM = (  # what most calls need
    "headwright.queries.designer", "headwright.queries.proving.impossible", "headwright.noise.simulation",
    "headwright.layer", "headwright.positions.collisions",
)  # fmt: skip
SELDOM = 0.2  # seconds between two words about how much is done
OUT_OF_MEMORY = "this ran out of memory: try it smaller, or on the command line, which has no limit"


def handle(job: dict[str, Any], tell: Tell = lambda _: None) -> dict[str, Any]:
    """The answer to a job, as {"answer": ...}, or {"error": ...} as a sentence, with the field it is about.

    >>> handle({"call": "verify", "given": {"certificate": "{}"}})["answer"]["verdict"]
    'unreadable'
    >>> handle({"call": "design", "given": {"keys": [[1.0], [2.0]], "copy": 5}})["error"]
    'target 5, and there are 2 keys: expected 0 to 1'
    """
    call = CALLS[job["call"]]
    try:
        asked = call.asks.model_validate(job["given"])
        found = call.answer(asked, progress=seldom(tell)) if call.tells else call.answer(asked)
        return {"answer": json.loads(json.dumps(found, allow_nan=False))}  # or it is no answer
    except HeadwrightError as error:
        return {"error": str(error), "kind": "unusable", "where": about(str(error), call.asks)}
    except MemoryError:
        return {"error": OUT_OF_MEMORY, "kind": "memory", "where": None}
    except Exception as error:  # noqa: BLE001  (a mistake of ours is told as one, and without its insides)
        return {"error": f"internal error in headwright ({type(error).__name__})", "kind": "bug", "where": None}


def seldom(tell: Tell) -> Tell:
    """Tell at most so often: some work could say a thousand times a second how far it is.

    >>> told = []
    >>> often = seldom(told.append)
    >>> for step in range(100):
    ...     often(step / 100)
    >>> told
    [0.0]
    """
    last = -SELDOM

    def telling(done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SELDOM:
            last = now
            tell(float(done))

    return telling


def about(sentence: str, asks: type[Any]) -> str | None:
    """The field that a sentence is about: the one it begins with.

    >>> from headwright.lab.rooms.design import DesignRequest
    >>> about("eps is 0: expected more than 0", DesignRequest)
    'eps'
    """
    first = sentence.replace(":", " ").replace(",", " ").split(" ", 1)[0]
    return first if first in asks.model_json_schema()["properties"] else None


def prepared() -> Handle:
    """The function that answers, with what most answers need already loaded."""
    for name in WARM:
        import_module(name)
    return handle


if __name__ == "__main__":
    listen(prepared, int(sys.argv[1]))
