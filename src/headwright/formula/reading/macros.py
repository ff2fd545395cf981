r"""Commands that a document defines with \newcommand, put in place of their uses before a formula is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from headwright.formula.errors import LONGEST, FormulaError
from headwright.formula.tree import Span

DEEPEST: Final = 10  # definitions that use one another
_START = re.compile(
    r"\\(?:(?:re|provide)?newcommand\*?|def|(DeclareMathOperator)\*?)\s*"
    r"(?:\{\s*\\([A-Za-z]+)\s*\}|\\([A-Za-z]+))\s*(?:\[([1-9])\])?\s*\{"
)
_USE = re.compile(r"\\([A-Za-z]+)")
_PARAMETER = re.compile(r"#([1-9])")


@dataclass(frozen=True)
class Macro:
    """What a command stands for, with #1 and #2 for what follows it."""

    body: str
    arguments: int = 0


@dataclass(frozen=True)
class Expanded:
    """A source with its macros put in, and where each of its characters was written."""

    text: str
    places: tuple[Span, ...] = ()

    def original(self, span: Span, source: str) -> Span:
        """The place in the source as it was written."""
        if not self.places:
            return Span(span.start, span.stop, source)
        end = Span(len(source), len(source))
        first, last = (self.places[at] if at < len(self.places) else end for at in (span.start, max(0, span.stop - 1)))
        return Span(first.start, max(first.start, last.stop if span.stop > span.start else first.start), source)


def macros(text: str) -> dict[str, Macro]:
    r"""The commands that a text defines.

    >>> macros(r"\newcommand{\R}{\mathbb{R}} \newcommand\norm[1]{\|#1\|}")
    {'R': Macro(body='\\mathbb{R}', arguments=0), 'norm': Macro(body='\\|#1\\|', arguments=1)}
    """
    return {name: macro for name, macro, _ in _definitions(text[: 10 * LONGEST])}


def _definitions(text: str) -> list[tuple[str, Macro, tuple[int, int]]]:
    found = []
    at = 0
    while (match := _START.search(text, at)) is not None:
        stop = _closing(text, match.end() - 1)
        if stop is None:
            break
        operator, one, other, count = match.groups()
        body = text[match.end() : stop]
        body = f"\\operatorname{{{body}}}" if operator else body
        found.append((one or other, Macro(body, int(count or 0)), (match.start(), stop + 1)))
        at = stop + 1
    return found


def _closing(text: str, opener: int) -> int | None:
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, opener):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            return match.start()
    return None


def expanded(source: str, known: Mapping[str, Macro]) -> Expanded:
    r"""The source with every macro in its place, its own definitions passed over.

    >>> expanded(r"\newcommand{\vq}{\mathbf{q}} \vq = 1", {}).text.strip()
    '\\mathbf{q} = 1'
    """
    own = _definitions(source) if _START.search(source) else []
    if not own and not any(match in known for match in _USE.findall(source)):
        return Expanded(source)
    known = {**known, **{name: macro for name, macro, _ in own}}
    blank = source
    for _, _, (start, stop) in own:
        blank = blank[:start] + " " * (stop - start) + blank[stop:]
    places = [Span(at, at + 1) for at in range(len(source))]
    expansion = _Expansion(known, source)
    expansion.put(blank, places, 0)
    return Expanded("".join(expansion.characters), tuple(expansion.places))


class _Expansion:
    """Characters and their places, as they are put in; bounded in depth and length."""

    def __init__(self, known: Mapping[str, Macro], source: str) -> None:
        self.known = known
        self.source = source
        self.characters: list[str] = []
        self.places: list[Span] = []
        self.done = 0

    def put(self, text: str, places: list[Span], depth: int) -> None:
        at = 0
        for match in _USE.finditer(text):
            macro = self.known.get(match.group(1))
            if macro is None or match.start() < at:
                continue
            self.add(text[at : match.start()], places[at : match.start()])
            if depth >= DEEPEST:
                self.fail(f"\\{match.group(1)} is defined by itself, or too deep", places[match.start()])
            at, arguments = self.arguments(text, match.end(), macro.arguments)
            use = Span(places[match.start()].start, places[at - 1].stop)
            if len(arguments) < macro.arguments:
                self.fail(f"\\{match.group(1)} needs {macro.arguments} arguments in braces", use)
            body = _PARAMETER.sub(lambda mark, given=arguments: _argument(given, mark), macro.body)  # type: ignore[misc]
            self.add("", [use])
            self.put(body, [use] * len(body), depth + 1)
        self.add(text[at:], places[at:])

    def arguments(self, text: str, at: int, count: int) -> tuple[int, list[str]]:
        found: list[str] = []
        for _ in range(count):
            opener = re.compile(r"\s*(?:(\{)|(\\[A-Za-z]+|[^\s\\{}]))").match(text, at)
            stop = _closing(text, opener.start(1)) if opener and opener.group(1) else None
            if opener is None or (opener.group(1) and stop is None):
                break
            found.append(opener.group(2) or text[opener.end() : stop])
            at = opener.end() if stop is None else stop + 1
        return at, found

    def add(self, text: str, places: list[Span]) -> None:
        self.done += len(text) + (not text)
        if self.done > LONGEST:
            self.fail(f"with its commands put in, the formula has more than {LONGEST} characters", places[0])
        self.characters.extend(text)
        self.places.extend(places[: len(text)])

    def fail(self, message: str, place: Span) -> None:
        raise FormulaError(message, self.source, place, fix="write it out")


def _argument(given: list[str], mark: re.Match[str]) -> str:
    place = int(mark.group(1)) - 1
    return given[place] if place < len(given) else mark.group()
