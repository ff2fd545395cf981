"""Certificates that are dropped on a page, checked by the trusted checker."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from headwright.lab.asking import Tell
from headwright.lab.room import Asked, Call, Room

MOST_CHARACTERS = 3_000_000


class AskedToVerify(Asked):
    """A certificate that holds its keys.

    >>> AskedToVerify(certificate="{}").certificate
    '{}'
    """

    certificate: str = Field(max_length=MOST_CHARACTERS, description="The certificate, as text.")


def verify(asked: AskedToVerify, progress: Tell | None = None) -> dict[str, Any]:
    """The trusted checker's verdict, as `headwright verify --json` says it.

    >>> verify(AskedToVerify(certificate="{}"))["verdict"]
    'unreadable'
    """
    from headwright.trusted.verify import verify as trusted

    found = trusted(asked.certificate, progress=progress)
    return {"verdict": found.word, "words": found.words, "checker": "trusted"}


ROOM = Room(
    "verify",
    "Verify",
    calls=(
        Call(
            "verify",
            "Check a certificate with the trusted checker.",
            AskedToVerify,
            verify,
            {
                "verdict": "verified, rejected or unreadable",
                "words": "what was proved, or why nothing was",
                "checker": "always 'trusted'",
            },
            seconds=60.0,
            tells=True,
        ),
    ),
)
