"""The page's questions, answered in the browser: JSON in, JSON out.

`check` and `verify` are those of the command line. A question that needs the solver z3, which is large, is refused with
SOLVER; the page then loads it and asks again.
"""

from __future__ import annotations

import json
import sys
from importlib.abc import MetaPathFinder
from typing import Any

from headwright.errors import HeadwrightError
from headwright.trusted.verify import verify as verify_exactly

SOLVER = "z3"


class NeedsSolverError(BaseException):
    """z3 is not loaded yet. Not an Exception: nothing between here and the page may swallow it."""


class _Asked(MetaPathFinder):
    """Raises when z3 is imported before it is there."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name == SOLVER:
            raise NeedsSolverError


def answer(question: str) -> str:
    """The answer to a question, as {"answer": ...}, {"error": ...} or {"needs": "z3"}.

    >>> json.loads(answer('{"call": "verify", "given": {"certificate": "{}"}}'))["answer"]["verdict"]
    'unreadable'
    """
    finder = _Asked()
    if SOLVER not in sys.modules:
        sys.meta_path.insert(0, finder)
    try:
        return json.dumps(_answer(json.loads(question)), allow_nan=False)
    except NeedsSolverError:
        return json.dumps({"needs": SOLVER})
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    from headwright.lab.views import check

    calls = {call.name: call for call in check.VIEW.calls}
    given = job["given"]
    try:
        if job["call"] == "verify":
            found = verify_exactly(str(given["certificate"]))
            return {"answer": {"verdict": found.word, "words": found.words, "checkers": ["exact"]}}
        call = calls[job["call"]]
        answer = check.one_by_one if job["call"] == "document" else call.answer
        return {"answer": answer(call.request.model_validate(given))}
    except HeadwrightError as error:
        return {"error": str(error), "where": None}
    except Exception as error:  # noqa: BLE001  an internal error is named as one, and the page goes on
        return {"error": f"internal error ({type(error).__name__}): please report it", "where": None}
