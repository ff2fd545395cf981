"""Letters side by side: a known word, a name of the exercise, or a name for each letter; never prose."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from headwright.formula.reading import spellings
from headwright.formula.reading.scanner import Scanner, matched

_WORD = re.compile(r"[A-Za-z]+")
_NAMED = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_PHRASES = (
    (re.compile(r"as\s+long\s+as\b"), "when"),
    (re.compile(r"such\s+that\b"), "where"),
    (re.compile(r"provided(?:\s+that)?\b"), "when"),
    (re.compile(r"assuming(?:\s+that)?\b"), "given"),
)
_EVERY = frozenset({"all", "every", "each", "any"})
_KNOWN_WORDS: Final = sorted({*spellings.NAMES, *spellings.FUNCTIONS, *spellings.SPOKEN})
_STARTS: Final = tuple({*spellings.FUNCTIONS, *spellings.GREEK} - {"Pr", "Pi", "Xi"})


class Letters(Scanner):
    """Reads letters."""

    def letters(self) -> None:
        """A run of letters, perhaps with the digits of a name that the exercise gives."""
        named = matched(_NAMED, self.source, self.at)
        if named in self.names:
            self.add("name", named, len(named))
            return
        run = matched(_WORD, self.source, self.at)
        if run == "E" and self.source.startswith("[", self.at + 1):
            self.add("function", "E", 1)
            return
        if run in self.names or len(run) == 1:
            self.add("name", run, len(run))
        elif not self.phrase(run) and not self.known(run):
            self.running(run)

    def phrase(self, run: str) -> bool:
        """Several words that mean one: for all, as long as, such that."""
        if run in _EVERY and (last := self.before()) is not None and (last.kind, last.text) == ("condition", "for"):
            self.skip(len(run))
            return True
        for pattern, meaning in _PHRASES:
            if match := pattern.match(self.source, self.at):
                self.add("condition", meaning, len(match.group()))
                return True
        return False

    def known(self, run: str) -> bool:
        """A function, a Greek letter, a word such as 'for'."""
        if run in spellings.FUNCTIONS:
            if run == "log" and self.source[self.at + 3 : self.at + 4].isdigit():
                raise self.error(
                    "log directly before a digit can mean a base or an argument", 4, "write log_2(x) or log(2)"
                )
            self.add("function", spellings.FUNCTIONS[run], len(run))
        elif run in spellings.NAMES:
            self.add("name", spellings.NAMES[run], len(run))
        elif run in spellings.SPOKEN:
            self.add(*spellings.SPOKEN[run], len(run))
        elif stem := _accented(run):
            self.add("name", stem, len(run))
        else:
            return False
        return True

    def running(self, run: str) -> None:
        """Letters side by side: a name each, unless they look like a word."""
        after = self.source[self.at + len(run) : self.at + len(run) + 1]
        if self.is_after("^") and run[0] == "T":
            self.add("name", "T", 1)
            return  # x^Ty: the rest is read on its own
        if self.is_after("_") and after == "_":
            self.add("name", run[0], 1)
            return  # u_bu_b is u_b u_b
        if self.is_after("_", "{") and len(run) > 2 and after == "}":
            self.add("name", run, len(run))
            return
        if self.is_after("^") or self.is_after("_") or self.is_after("**"):
            mark = self.found[-1].text
            raise self.error(
                f"{mark}{run} without braces can be read in two ways",
                len(run),
                f"write {mark}{{{run}}} for all of it, or {mark}{{{run[0]}}} {run[1:]} for a product",
            )
        self.refuse_prose(run)
        for letter in run:
            self.add("name", letter, 1)

    def refuse_prose(self, run: str) -> None:
        """Refuse letters that look like a word."""
        if run in spellings.UNREAD:
            raise self.error(f"{run} is not read", len(run), spellings.UNREAD[run])
        if run in spellings.COMMANDS and run != "cr":
            raise self.error(
                f"{run} without a backslash is not read", len(run), f"write \\{run}, or spaces for a product"
            )
        if start := next((start for start in _STARTS if run.startswith(start)), None):
            rest = run[len(start) :]
            raise self.error(f"{run} is not a known word", len(run), f"write {start} {rest} if that is what is meant")
        if end := next((end for end in spellings.FUNCTIONS if run.endswith(end)), None):
            raise self.error(
                f"{run} is not a known word", len(run), f"write {run[: -len(end)]} {end} if that is what is meant"
            )
        if run in spellings.PROSE or (len(run) > 3 and run[1:].islower()):
            near = get_close_matches(run, [*_KNOWN_WORDS, *self.names], 1, 0.75)
            fix = f"did you mean {near[0]}?" if near else "write formulas only; a product of letters needs spaces"
            raise self.error(f"{run} is not a known word", len(run), fix)


def _accented(run: str) -> str:
    """xhat, alphabar: what \\hat{x} and \\bar{\\alpha} become, so that they can be written without LaTeX too."""
    for accent in ("hat", "tilde", "bar"):
        stem = run.removesuffix(accent)
        if stem != run and (len(stem) == 1 or stem in spellings.NAMES) and run not in ("what", "that", "chat"):
            return spellings.NAMES.get(stem, stem) + accent
    return ""
