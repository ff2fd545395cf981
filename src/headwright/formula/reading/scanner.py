"""A place in the source, and the words found before it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from headwright.formula.errors import FormulaError
from headwright.formula.tree import Span


@dataclass(frozen=True)
class Word:
    """One word: its kind, its one spelling (the base of a name, the sign of a relation), where, and whether spaced."""

    kind: str
    text: str
    span: Span
    spaced: bool = False


class Scanner:
    """One pass over the source."""

    def __init__(self, source: str, names: Collection[str]) -> None:
        """Begin at the first character."""
        self.source = source
        self.names = {part for name in names for part in name.split("_") if len(part) > 1 and part.isascii()}
        self.at = 0
        self.spaced = False
        self.begin: int | None = None  # where the next word begins, if a wrapping such as \\mathbf{ came before it
        self.found: list[Word] = []
        self.ghosts: set[int] = set()  # braces of \mathbf{x}, \text{if $x$}: they group nothing
        self.has_commands = "\\" in source

    def add(self, kind: str, text: str, length: int) -> None:
        """A word that is written in the next `length` characters."""
        start = self.at if self.begin is None else self.begin
        self.found.append(Word(kind, text, Span(start, self.at + length), self.spaced))
        self.begin = None
        self.at += length
        self.spaced = False

    def skip(self, length: int) -> None:
        """Pass over characters that count as a space."""
        self.at += length
        self.spaced = True

    def error(self, message: str, length: int, fix: str = "", *, start: int | None = None) -> FormulaError:
        """What is wrong with the next characters."""
        begin = self.at if start is None else start
        return FormulaError(message, self.source, Span(begin, begin + length), fix=fix)

    def before(self, back: int = 1) -> Word | None:
        """An earlier word, if there is one."""
        return self.found[-back] if len(self.found) >= back else None

    def is_after(self, *texts: str) -> bool:
        """Whether the last words are these signs."""
        return len(self.found) >= len(texts) and all(
            word.text == text and word.kind in ("sign", "open")
            for word, text in zip(self.found[-len(texts) :], texts, strict=True)
        )


def matched(pattern: re.Pattern[str], source: str, at: int) -> str:
    """What the pattern matches there, or nothing."""
    match = pattern.match(source, at)
    return match.group() if match else ""


def printed(character: str) -> str:
    """A character, or its number where it cannot be seen."""
    return character if character.isprintable() else f"U+{ord(character):04X}"
