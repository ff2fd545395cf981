"""What the referee says of a statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Word = Literal["true", "false", "unknown"]


@dataclass(frozen=True)
class Answer:
    """`false` only where that is certain, `true` only where nothing is left open; a witness says why."""

    word: Word
    why: str = ""


TRUE = Answer("true")


def together(answers: list[Answer]) -> Answer:
    """All of several statements: false if one is, true if all are."""
    for word in ("false", "unknown"):
        for answer in answers:
            if answer.word == word:
                return answer
    return TRUE
