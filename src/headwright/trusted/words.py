"""What was proved, in words: all that the statement says, and no more."""

from __future__ import annotations

from headwright.trusted.certificate import Statement
from headwright.trusted.numbers import shown


def in_words(s: Statement) -> str:
    """For now."""
    return f"{s.claim} {shown(s.none_shorter)}"
