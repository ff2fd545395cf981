r"""Commands with an argument that says how a word looks: \text{for all}, \mathbf{K}, \hat{x}."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property

from headwright.formula.reading import spellings
from headwright.formula.reading.letters import Letters
from headwright.formula.tree import Span

_PLAIN_ARGUMENT = re.compile(r"\s*\{([^{}\\$]*)\}")
_SHORT_ARGUMENT = re.compile(r"\s*\{\s*(\\?[A-Za-z]+|[01])\s*\}")
_ONE = re.compile(r"\s*(?:\{\s*([01])\s*\}|([01])(?![0-9]))")
_ACCENTED = re.compile(
    rf"\s*(?:\{{\s*(?:\\(?:{'|'.join(sorted(spellings.STYLES))})\s*)?(?:\{{\s*(\\[A-Za-z]+|[A-Za-z])\s*\}}"
    r"|(\\[A-Za-z]+|[A-Za-z]))\s*\}|(\\[A-Za-z]+|[A-Za-z]))"
)
_BRACKET_AHEAD = re.compile(r"\s*(?:\\(?:left|big|Big|bigg|Bigg|bigl|Bigl|biggl|Biggl)\s*)?(?:[(\[]|\\\{)")


class Wrapped(Letters):
    """Reads what is inside, mostly without the wrapping."""

    def text(self, name: str, length: int) -> None:
        r"""\text{for all }, \operatorname{tr}, \mathrm{T}: the words inside, without their braces."""
        argument = _PLAIN_ARGUMENT.match(self.source, self.at + length)
        if argument is None:
            self.unwrap(length)
            return
        inside = argument.group(1)
        self.skip(length + argument.start(1) - argument.start())
        stop = argument.end()
        pieces = list(re.finditer(r"[A-Za-z]+", inside))
        if len(pieces) == 1 and pieces[0].group() == inside.strip():
            start = self.at - (length + argument.start(1) - argument.start())
            self.skip(pieces[0].start())
            self.single(name, pieces[0].group())
            if self.found and self.found[-1].span.start > start:
                self.found[-1] = replace(self.found[-1], span=Span(start, stop))
            self.at = stop
        else:
            self.ghosts.add(stop - 1)

    def single(self, command: str, word: str) -> None:
        """One word in a \text: known, or a name of its own."""
        if command == "operatorname" and word in ("E", "P"):
            self.add("function", word, len(word))
        elif word in self.names or not (self.phrase(word) or self.known(word)):
            if command == "operatorname" and word not in self.names and len(word) > 1:
                near = get_close_matches(word, sorted(spellings.FUNCTIONS), 1, 0.6)
                fix = spellings.UNREAD.get(word) or (f"did you mean {near[0]}?" if near else "use a known function")
                raise self.error(f"{word} is not a known function", len(word), fix)
            if command.startswith(("text", "mbox")) and word not in self.names and not self.is_label():
                self.refuse_prose(word)
            self.add("name", word, len(word))

    def is_label(self) -> bool:
        """Whether we are in an index, where a word is a label."""
        return self.is_after("_") or self.is_after("_", "{")

    def unwrap(self, length: int) -> None:
        """Drop a command and the braces of its argument, but keep what is inside."""
        self.skip(length)
        opener = re.compile(r"\s*\{").match(self.source, self.at)
        if opener is not None and (closer := self.braces.get(opener.end() - 1)) is not None:
            self.ghosts |= {opener.end() - 1, closer}

    @cached_property
    def braces(self) -> dict[int, int]:
        """Where each brace of the source is closed, found once."""
        waiting: list[int] = []
        pairs: dict[int, int] = {}
        for match in re.finditer(r"\\.|[{}]", self.source, re.DOTALL):
            if match.group() == "{":
                waiting.append(match.start())
            elif match.group() == "}" and waiting:
                pairs[waiting.pop()] = match.start()
        return pairs

    def styled(self, name: str, length: int) -> None:
        r"""\mathbf{K} is K; \mathbf{1} is the vector of ones; \mathbb{E} and \mathbb{P} are the mean and the chance."""
        digit = _ONE.match(self.source, self.at + length)
        if digit is not None:
            one = (digit.group(1) or digit.group(2)) == "1"
            self.add("name" if one else "number", "ones" if one else "0", length + len(digit.group()))
            return
        special = re.compile(r"\s*(?:\{\s*([EP])\s*\}|([EP])(?![A-Za-z]))").match(self.source, self.at + length)
        if special is not None and name in ("mathbb", "mathds", "mathbbm"):
            letter = special.group(1) or special.group(2)
            stop = self.at + length + len(special.group())
            if letter == "E" or _BRACKET_AHEAD.match(self.source, stop):
                self.add("function", letter, stop - self.at)
                return
        short = _SHORT_ARGUMENT.match(self.source, self.at + length)
        start = self.at
        self.skip(length)
        if short is not None:
            self.ghosts |= {self.source.index("{", self.at), short.end() - 1}
            self.begin = start

    def accented(self, name: str, length: int) -> None:
        r"""\hat{x} is a name of its own."""
        match = _ACCENTED.match(self.source, self.at + length)
        letter = next((group for group in match.groups() if group), "") if match else ""
        base = spellings.NAMES.get(letter[1:], "") if letter.startswith("\\") else letter
        if match is None or not base:
            raise self.error(f"\\{name} is read over a single letter only", length, f"write \\{name}{{x}}")
        self.add("name", base + spellings.ACCENTS[name], length + len(match.group()))
