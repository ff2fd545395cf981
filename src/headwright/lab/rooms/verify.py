"""Certificates that are dropped on a page: checked as `headwright verify` does, those about every text as texts are."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.asking import Tell
from headwright.lab.room import Call, RequestBody, Room

MOST_CHARACTERS = 3_000_000
BUILT_IN = "builtin:induction"


class VerifyRequest(RequestBody):
    """A certificate that holds its keys, or is about every text of the model that is built in.

    >>> VerifyRequest(certificate="{}").certificate
    '{}'
    """

    certificate: str = Field(max_length=MOST_CHARACTERS, description="The certificate, as text.")


def verify(asked: VerifyRequest, progress: Tell | None = None) -> dict[str, Any]:
    """The checker's verdict, as `headwright verify --json` says it.

    >>> verify(VerifyRequest(certificate="{}"))["verdict"]
    'unreadable'
    """
    from headwright.models.texts.statement import FORMAT
    from headwright.verification import verify as checked

    if FORMAT in asked.certificate:
        return _every_text(asked.certificate, progress)
    found = checked(asked.certificate, progress=progress)
    return {"verdict": found.word, "words": found.words, "checkers": list(found.checkers)}


def _every_text(text: str, progress: Tell | None) -> dict[str, Any]:
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
        raise InputError(f"certificate: it is about every text of {statement.model}, and a page has {BUILT_IN} alone; "
                         f"headwright verify FILE --model {statement.model} looks at it")  # fmt: skip
    model = load_model(BUILT_IN)
    layer = first_layer(model, min(statement.length, model.longest or statement.length))  # or it is rejected
    word, words = judged(statement, layer, progress)
    if word == "verified":
        run_against(model, layer, statement)
    return {"verdict": word, "words": words, "checkers": ["every text"]}


ROOM = Room(
    "verify",
    "Verify",
    calls=(
        Call(
            "verify",
            "Check a certificate as `headwright verify` does, or one about every text of the model that is built in.",
            VerifyRequest,
            verify,
            {
                "verdict": "verified, rejected, not confirmed, unreadable or internal error",
                "words": "what was proved, or why nothing was",
                "checkers": "who ran: 'exact', 'float'; or 'every text' where the certificate is about every text",
            },
            seconds=60.0,
            tells=True,
        ),
    ),
)
