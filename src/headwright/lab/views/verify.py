"""Verification of certificates, as `headwright verify` does."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View

MOST_CHARACTERS = 3_000_000
BUILT_IN = ("builtin:induction", "builtin:induction16")


class VerifyRequest(RequestModel):
    """A certificate that contains its keys, or is about all texts of a built-in model.

    >>> VerifyRequest(certificate="{}").certificate
    '{}'
    """

    certificate: str = Field(
        max_length=MOST_CHARACTERS, description="The certificate, as text."
    )


def verify(request: VerifyRequest) -> dict[str, Any]:
    """The verdict, as in `headwright verify --json`.

    >>> verify(VerifyRequest(certificate="{}"))["verdict"]
    'unreadable'
    """
    from headwright.verification.verify import model_named
    from headwright.verification.verify import verify as checked

    model = model_named(request.certificate)
    if model is not None and model not in BUILT_IN:
        raise InputError(
            f"certificate: it is about {model}, and the lab has {' and '.join(BUILT_IN)} only; "
            f"use headwright verify FILE --model {model}",
            field="certificate",
        )
    return checked(request.certificate, model=model).to_json()


VIEW = View(
    "verify",
    "Verify",
    calls=(
        ApiCall(
            "verify",
            VerifyRequest,
            verify,
            seconds=60.0,
        ),
    ),
)
