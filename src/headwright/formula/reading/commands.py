"""Everything that begins with a backslash."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from headwright.formula.reading import spellings
from headwright.formula.reading.scanner import matched, printed
from headwright.formula.reading.wrapped import Wrapped

_COMMAND = re.compile(r"\\[A-Za-z]+\*?")
_ENVIRONMENT = re.compile(r"\s*\{([A-Za-z]+)\*?\}")
_PLAIN_ARGUMENT = re.compile(r"\s*\{([^{}\\$]*)\}")
_ROW_END = re.compile(r"\\\\\*?(?:\[\s*-?[0-9.]{1,9}\s*(?:pt|em|ex|mm|cm|in)\s*\])?")
_SPACES = frozenset(",;:!> /-\t\n\r")
_KNOWN_COMMANDS: Final = sorted(
    {*spellings.COMMANDS, *spellings.ACCENTS, *spellings.STYLES, *spellings.TEXTS, "left", "right", "begin", "end"}
)


class Commands(Wrapped):
    """Reads commands."""

    def command(self) -> None:
        """A command, or the end of a row."""
        if row := _ROW_END.match(self.source, self.at):
            self.add("line", "line", len(row.group()))
            return
        written = matched(_COMMAND, self.source, self.at)
        if not written:
            self.escaped(self.source[self.at + 1 : self.at + 2])
            return
        name = written[1:].rstrip("*")
        starred = written.endswith("*") and (name in spellings.TEXTS or name in spellings.DROPPED_WITH_ARGUMENT)
        length = len(name) + 1 + starred
        if name in spellings.COMMANDS:
            self.add(*spellings.COMMANDS[name], length)
        elif name in spellings.DROPPED or name == "not":
            self.dropped(name, length)
        elif name in spellings.LEFTS or name in spellings.RIGHTS:
            self.sided(name, length)
        elif name in spellings.TEXTS:
            self.text(name, length)
        elif name in spellings.STYLES:
            self.styled(name, length)
        elif name in spellings.ACCENTS:
            self.accented(name, length)
        elif name in ("begin", "end"):
            self.environment(name, length)
        elif name in spellings.DROPPED_WITH_ARGUMENT:
            argument = _PLAIN_ARGUMENT.match(self.source, self.at + length)
            self.skip(length + (len(argument.group()) if argument else 0))
        else:
            self.unknown(name, length)

    def unknown(self, name: str, length: int) -> None:
        """Refuse a command, with the closest known one."""
        if name in spellings.DOTS:
            self.add("dots", "...", length)
            return
        if name in spellings.UNREAD:
            raise self.error(f"\\{name} is not read", length, spellings.UNREAD[name])
        near = get_close_matches(name[:40], _KNOWN_COMMANDS, 1, 0.6)
        fix = f"did you mean \\{near[0]}?" if near else "write a name as a single letter, with an index if need be"
        if name in spellings.FUNCTIONS or name in spellings.NAMES or name in self.names:
            fix = f"write {name} without the backslash, or \\operatorname{{{name}}}"
        raise self.error(f"\\{name[:40]} is not a command of the formula language", length, fix)

    def escaped(self, character: str) -> None:
        """A backslash before a sign: a brace, a bar, a space."""
        if character in ("{", "}"):
            self.add("open" if character == "{" else "close", "\\{", 2)
        elif character == "|":
            self.add("bar", "||", 2)
        elif character in _SPACES or character in ("(", ")", "[", "]"):
            self.skip(2)
        else:
            raise self.error(
                f"\\{printed(character) if character else ''} is not a command of the formula language",
                2 if character else 1,
                "remove the backslash",
            )

    def dropped(self, name: str, length: int) -> None:
        r"""Sizes and styles say nothing; \not is read before = only."""
        if name == "not":
            rest = re.compile(r"\s*(=|\\equiv|\\approx|\\sim|\\in\b)").match(self.source, self.at + length)
            if rest is None or rest.group(1) != "=":
                raise self.error("\\not is read only before =", length, "write \\neq, or the opposite relation")
            self.add("relation", "!=", length + len(rest.group()))
        else:
            self.skip(length)

    def sided(self, name: str, length: int) -> None:
        r"""\left( and \right): the size says nothing, but a bar now has a side."""
        self.skip(length)
        while self.at < len(self.source) and self.source[self.at].isspace():
            self.at += 1
        kind = "open" if name in spellings.LEFTS else "close"
        for spelling, text in (("\\|", "||"), ("\\Vert", "||"), ("‖", "||"), ("||", "||"), ("|", "|"), ("\\vert", "|")):
            if self.source.startswith(spelling, self.at):
                self.add(kind, text, len(spelling))
                return
        if self.source[self.at : self.at + 1] in ("<", ">"):
            self.add(kind, "<", 1)
        elif self.source[self.at : self.at + 1] == ".":
            self.skip(1)

    def environment(self, name: str, length: int) -> None:
        r"""\begin and \end: a matrix, or lines that are read as they are."""
        argument = _ENVIRONMENT.match(self.source, self.at + length)
        if argument is None:
            raise self.error(f"\\{name} needs the name of an environment", length, f"write \\{name}{{pmatrix}}")
        environment, length = argument.group(1), length + len(argument.group())
        if environment in spellings.MATRICES:
            self.add("open" if name == "begin" else "close", "matrix", length)
        elif environment in spellings.DROPPED_ENVIRONMENTS:
            self.skip(length)
        else:
            near = get_close_matches(environment[:40], sorted(spellings.MATRICES | spellings.DROPPED_ENVIRONMENTS), 1)
            fix = spellings.UNREAD.get(environment) or (
                f"did you mean {near[0]}?" if near else "use aligned or pmatrix"
            )
            raise self.error(f"the environment {environment[:40]} is not read", length, fix)
