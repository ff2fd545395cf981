"""The page's questions, answered in the browser: JSON in, JSON out.

`check` and `verify` are those of the command line; `design` proves what the page's JavaScript proposes,
and `simulate` the probability of what it draws. A document is
checked answer by answer, so that the page can stop one of them: `sheet` counts the answers, `verdict` checks one,
`document` puts the verdicts together. A question that needs the solver z3, which is large, is refused with NEEDS; the
page then loads it and asks again.
"""

from __future__ import annotations  # noqa: I001

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.abc import MetaPathFinder
from itertools import accumulate
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from headwright.verification.verify import model_named, verify
from headwright.errors import HeadwrightError, InputError
from headwright.grading.sheets.sheet import AnswerText, Checked, Sheet
from headwright.grading.verdict import Verdict, from_json, to_json
from headwright.lab.views.check import (
    MOST_ANSWERS,
    CheckRequest,
    alone,
    check,
    read,
    text_of,
    told,
)
from headwright.page import noise, proposal
from headwright.validation import sentence

SOLVER = "z3"
STEPS = ("none", "direction", "full")
SETTINGS = Path(__file__).with_name(
    "settings.json"
)  # written by the build: the most that hints may show
MOST_CERTIFICATE, DEEPEST = 3_000_000, 50  # characters, brackets in brackets
BROWSER_BUDGET = 60.0  # estimated seconds of the command line: a browser is slower, and has less memory
NO_CURVES = "the report made in a browser has no curves: these need NumPy (headwright check SHEET --out report.html)"
Given = dict[str, Any]


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


def solver_loaded() -> None:
    """Import z3, which has been unpacked. What failed to be imported before is forgotten.

    >>> solver_loaded()
    """
    import importlib

    importlib.invalidate_caches()
    importlib.import_module(SOLVER)


def _answer(job: Given) -> Given:
    try:
        return {"answer": CALLS[job["call"]](job["given"])}
    except HeadwrightError as error:
        return {
            "error": str(error),
            "where": "text" if str(error).startswith("text ") else None,
        }
    except ValidationError as error:
        return {"error": sentence(error, CheckRequest, "the question"), "where": None}
    except RecursionError:
        return {"error": "this is nested too deeply to be read", "where": None}
    except MemoryError:
        return {
            "error": "the browser's memory is too small for this; the command line has no such limit",
            "where": None,
        }
    except Exception as error:  # noqa: BLE001  an internal error is named as one, and the page goes on
        return {
            "error": f"internal error ({type(error).__name__}): this is a bug in Headwright",
            "where": None,
        }


def _request(given: Given) -> CheckRequest:
    """The question, with no more hints than the assignment shows."""
    most = (
        json.loads(SETTINGS.read_text(encoding="utf-8"))["hints"]
        if SETTINGS.exists()
        else STEPS[-1]
    )
    hints = min(
        str(given.get("hints", most)),
        most,
        key=lambda step: STEPS.index(step) if step in STEPS else 0,
    )
    return CheckRequest.model_validate({**given, "hints": hints})


def _sheet(given: Given) -> tuple[CheckRequest, Sheet]:
    request = _request(given)
    sheet = read(text_of(request), request.exercise, latex=request.latex)
    if len(sheet.answers) > MOST_ANSWERS:
        raise InputError(
            f"text has {len(sheet.answers)} answers: expected at most {MOST_ANSWERS}"
        )
    return request, sheet


def _verdict(given: Given) -> Given:
    number = given.pop("number")
    request, sheet = _sheet(given)
    return {"verdict": to_json(alone(sheet.answers[number], request.seed).verdict)}


def _document(given: Given) -> Given:
    verdicts = given.pop("verdicts")
    request, sheet = _sheet(given)
    checked = [_checked(*pair) for pair in zip(sheet.answers, verdicts, strict=True)]
    found = told(request.model_copy(update={"report": False}), sheet, checked)
    plain = [
        replace(each, verdict=replace(each.verdict, curve=None)) for each in checked
    ]
    if plain != checked:
        found["notes"].append({"file": "", "line": 0, "sentence": NO_CURVES})
    return {**found, "report": told(request, sheet, plain)["report"]}


def _checked(answer: AnswerText, verdict: Given | str) -> Checked:
    """An answer with its verdict, or with the reason why there is none."""
    return Checked(
        answer,
        Verdict("undecided", verdict)
        if isinstance(verdict, str)
        else from_json(verdict),
    )


def _verify(given: Given) -> Given:
    text = str(given["certificate"])
    if len(text) > MOST_CERTIFICATE:
        raise InputError(
            f"the certificate has {len(text)} characters: expected at most {MOST_CERTIFICATE} in a browser"
        )
    if (
        max(
            accumulate(
                (1 if sign in "[{" else -1 for sign in re.findall(r"[][{}]", text)),
                initial=0,
            )
        )
        > DEEPEST
    ):
        raise InputError(
            "the certificate is nested too deeply"
        )  # a browser's stack is small
    model = model_named(text)
    if model is not None:
        raise InputError(
            f"the certificate is about a model, which is not here: use headwright verify --model {model}"
        )
    return verify(text, checker="exact", budget=BROWSER_BUDGET).to_json()


CALLS: dict[str, Callable[[Given], Given]] = {
    "check": lambda given: check(_request(given)),
    "sheet": lambda given: {"answers": len(_sheet(given)[1].answers)},
    "verdict": _verdict,
    "document": _document,
    "verify": _verify,
    "design": proposal.design,
    "simulate": noise.simulate,
}
