"""Verification of certificates, as `headwright verify` does."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.view import Call, RequestModel, View

MOST_CHARACTERS = 3_000_000
BUILT_IN = "builtin:induction"


class VerifyRequest(RequestModel):
    """A certificate that contains its keys, or is about all texts of the built-in model.

    >>> VerifyRequest(certificate="{}").certificate
    '{}'
    """

    certificate: str = Field(max_length=MOST_CHARACTERS, description="The certificate, as text.")


def verify(request: VerifyRequest) -> dict[str, Any]:
    """The verdict, as in `headwright verify --json`.

    >>> verify(VerifyRequest(certificate="{}"))["verdict"]
    'unreadable'
    """
    from headwright.models.texts.statement import FORMAT
    from headwright.verification import verify as checked

    if FORMAT in request.certificate:
        return _every_text(request.certificate)
    found = checked(request.certificate)
    return {"verdict": found.word, "words": found.words, "checkers": list(found.checkers)}


def _every_text(text: str) -> dict[str, Any]:
    from headwright.models.loading import load_model
    from headwright.models.texts.checker import judged
    from headwright.models.texts.read_layer import first_layer
    from headwright.models.texts.run_statement import run_against
    from headwright.models.texts.statement import read

    try:
        statement = read(text)
    except InputError as error:
        return {"verdict": "unreadable", "words": str(error), "checkers": ["every text"]}
    if statement.model != BUILT_IN:
        raise InputError(f"certificate: it is about {statement.model}, and the lab has {BUILT_IN} only; "
                         f"use headwright verify FILE --model {statement.model}")  # fmt: skip
    model = load_model(BUILT_IN)
    layer = first_layer(
        model, min(statement.length, model.longest or statement.length)
    )  # longer statements are rejected below
    word, words = judged(statement, layer)
    if word == "verified":
        run_against(model, layer, statement)
    return {"verdict": word, "words": words, "checkers": ["every text"]}


VIEW = View(
    "verify",
    "Verify",
    calls=(Call("verify", "Verify a certificate, as `headwright verify` does.", VerifyRequest, verify, seconds=60.0),),
)
