r"""The source of a formula cut into words, whatever their spelling: \lambda, lambda and λ are one word.

A word knows where it was written and whether a space came before it. Running letters are cut here too: PQ is two
names, unless the exercise knows PQ; a word of prose is refused, since it is never a product of its letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Final

from headwright.formula.errors import LARGEST_EXPONENT, MOST_DIGITS, FormulaError
from headwright.formula.reading import spellings
from headwright.formula.tree import Span


@dataclass(frozen=True)
class Word:
    """One word: its kind, its one spelling (the base of a name, the sign of a relation), where, and whether spaced."""

    kind: str
    text: str
    span: Span
    spaced: bool = False


_WORD = re.compile(r"[A-Za-z]+")
_NAMED = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_PHRASES: Final = tuple((re.compile(pattern), meaning) for pattern, meaning in spellings.PHRASES)
_FIRST_WORDS: Final = spellings.FIRST_WORDS
_EVERY = frozenset({"all", "every", "each", "any", "some"})
_KNOWN_WORDS: Final = sorted({*spellings.NAMES, *spellings.FUNCTIONS, *spellings.SPOKEN})
_STARTS: Final = tuple({*spellings.FUNCTIONS, *spellings.GREEK} - {"Pr", "Pi", "Xi"})
_PLAIN_ARGUMENT = re.compile(r"\s*\{([^{}\\$]*)\}")
_SHORT_ARGUMENT = re.compile(r"\s*\{\s*(\\?[A-Za-z]+|[01])\s*\}")
_ONE = re.compile(r"\s*(?:\{\s*([01])\s*\}|([01])(?![0-9]))")
_ACCENTED = re.compile(
    rf"\s*(?:\{{\s*(?:\\(?:{'|'.join(sorted(spellings.STYLES))})\s*)?(?:\{{\s*(\\[A-Za-z]+|[A-Za-z])\s*\}}"
    r"|(\\[A-Za-z]+|[A-Za-z]))\s*\}|(\\[A-Za-z]+|[A-Za-z]))"
)
_CAPITAL = re.compile(r"\s*(?:\{\s*([EPRZN])\s*\}|([EPRZN])(?![A-Za-z]))")
_CAPITALS: Final = {
    **{(style, letter): "function" for style in ("mathbb", "mathds", "mathbbm") for letter in "EP"},
    **{(style, letter): "domain" for style in ("mathbb", "mathds", "mathbbm") for letter in "RZN"},
    ("mathscr", "N"): "function",  # the normal distribution, also with \mathcal
}
_NORMAL = re.compile(r"N\s*(?:\\left\s*)?\(")
_BRACKET_AHEAD = re.compile(r"\s*(?:\\(?:left|big|Big|bigg|Bigg|bigl|Bigl|biggl|Biggl)\s*)?(?:[(\[]|\\\{)")
_REASON = re.compile(
    r"\s*\(?\s*(?:since|because|using|by|from|via|see)\s"
    r"(?!.*\b(?:not|no|never|unless|except|or|only|if|when|but|nor|neither|without)\b)[^()]*(?:\([^()]*\)[^()]*)?\)?\s*"
)
_SAID_OF = re.compile(r"\s*\}\s*(?:[=<>_^]|\\(?:leq?|geq?|approx|to|gg|ll|neq?|sim)(?![A-Za-z]))")
_OPENER = re.compile(r"\s*\{")
_LABEL = re.compile(r"\s*[_^]\s*(?:\{|\\text\s*\{|\\mathrm\s*\{|\\[A-Za-z]+|[^\s\\{}])")
_DENIED = re.compile(r"\s*(=|<|>|\\[A-Za-z]+)")
_MOST = re.compile(r"\s*(?:\\,|\\!|\\;)?\s*\\?(max|min)(?![A-Za-z])")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?")
_ENVIRONMENT = re.compile(r"\s*\{([A-Za-z]+)\*?\}")
_ROW_END = re.compile(r"\\\\\*?(?:\[\s*-?[0-9.]{1,9}\s*(?:pt|em|ex|mm|cm|in)\s*\])?")
_SPACES = frozenset(",;:!> /-\t\n\r")
_KNOWN_COMMANDS: Final = sorted(
    {*spellings.COMMANDS, *spellings.ACCENTS, *spellings.STYLES, *spellings.TEXTS, "left", "right", "begin", "end"}
)
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+")
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\ufeff\u00ad")


class Lexer:
    """Reads a source, word by word."""

    def __init__(self, source: str, names: Collection[str]) -> None:
        """Begin at the first character."""
        self.source = source
        self.names = {part for name in names for part in name.split("_") if len(part) > 1 and part.isascii()}
        self.glued = {name.replace("_", ""): name for name in names if name.count("_") == 1}  # ka for k_a
        self.at = 0
        self.spaced = False
        self.begin: int | None = None  # where the next word begins, if a wrapping such as \\mathbf{ came before it
        self.found: list[Word] = []
        self.ghosts: set[int] = set()  # braces of \mathbf{x}, \text{if $x$}: they group nothing
        self.jumps: dict[int, int] = {}  # from the end of an \underbrace{...} to the end of its label
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

    def letters(self) -> None:
        """A run of letters, perhaps with the digits of a name that the exercise gives."""
        named = matched(_NAMED, self.source, self.at)
        if named in self.names:
            self.add("name", named, len(named))
            return
        if named in self.glued and self.source[self.at + len(named) : self.at + len(named) + 1] != "_":
            base, index = self.glued[named].split("_")
            self.add("name", base, len(base))
            self.found.append(Word("sign", "_", Span(self.at, self.at)))
            self.add("number" if index.isdigit() else "name", index, len(index))
            return
        run = matched(_WORD, self.source, self.at)
        if run == "E" and self.source.startswith("[", self.at + 1):
            self.add("function", "E", 1)
            return
        if run == "N" and (last := self.before()) is not None and (last.kind, last.text) == ("relation", "~"):
            self.add("function" if _NORMAL.match(self.source, self.at) else "name", "N", 1)
        elif run in self.names or len(run) == 1:
            self.add("name", run, len(run))
        elif not self.phrase(run) and not self.known(run):
            self.running(run)

    def phrase(self, run: str) -> bool:
        """Several words that mean one: for all, as long as, such that."""
        if run in _EVERY and (last := self.before()) is not None and (last.kind, last.text) == ("condition", "for"):
            if run == "some":
                self.found[-1] = replace(last, text="some")
            self.skip(len(run))
            return True
        for pattern, meaning in _PHRASES if run in _FIRST_WORDS else ():
            if match := pattern.match(self.source, self.at):
                self.add(*meaning, len(match.group()))
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
            kind, text = spellings.SPOKEN[run]
            if kind == "reason":
                self.at += len(run)
                self.reason(len(run))
            else:
                self.add(kind, text, len(run))
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
        if _REASON.fullmatch(inside):
            self.at = stop - 1
            self.ghosts.add(stop - 1)
            self.reason(stop - 1 - argument.start(1))
            return
        if len(pieces) == 1 and pieces[0].group() == inside.strip():
            start = self.at - (length + argument.start(1) - argument.start())
            self.skip(pieces[0].start())
            self.single(name, pieces[0].group())
            if self.found and self.found[-1].span.start > start:
                self.found[-1] = replace(self.found[-1], span=Span(start, stop))
            self.at = stop
        else:
            self.ghosts.add(stop - 1)

    def reason(self, length: int) -> None:
        """'since', and brackets around it and what it says are passed over: a reason is a statement of its own."""
        start = self.at - length
        if (last := self.before()) is not None and (last.kind, last.text) == ("open", "("):
            self.found.pop()
            self.ghosts.add(self.parentheses.get(last.span.stop - 1, -1))
        self.found.append(Word("reason", "since", Span(start, self.at), True))
        self.spaced = True

    def single(self, command: str, word: str) -> None:
        """One word in a \text: known, or a name of its own."""
        if command == "operatorname" and word in ("E", "P"):
            self.add("function", word, len(word))
        elif word in self.names or not (self.phrase(word) or self.known(word)):
            if command == "operatorname" and word not in self.names and len(word) > 1:
                near = get_close_matches(word, sorted(spellings.FUNCTIONS), 1, 0.6)
                fix = spellings.UNREAD.get(word) or (f"did you mean {near[0]}?" if near else "use a known function")
                raise self.error(f"{word} is not a known function", len(word), fix)
            if command.startswith(("text", "mbox")) and word not in self.names and not self.is_label(len(word)):
                self.refuse_prose(word)
            self.add("name", word, len(word))

    def is_label(self, length: int) -> bool:
        r"""Whether a word is a label in an index or exponent, or stands alone before a relation: \text{Output} = x."""
        if any(self.is_after(*signs) for signs in (("_",), ("_", "{"), ("^",), ("^", "{"))):
            return True
        word = self.source[self.at : self.at + length]
        alone = not self.found or self.found[-1].kind in ("relation", "logic", "line", "quad", "soft", "sign")
        return alone and word.lower() not in spellings.PROSE and bool(_SAID_OF.match(self.source, self.at + length))

    def unwrap(self, length: int) -> None:
        """Drop a command and the braces of its argument, but keep what is inside."""
        self.skip(length)
        opener = _OPENER.match(self.source, self.at)
        if opener is not None and (closer := self.braces.get(opener.end() - 1)) is not None:
            self.ghosts |= {opener.end() - 1, closer}

    @cached_property
    def braces(self) -> dict[int, int]:
        """Where each brace of the source is closed, found once."""
        return _closers(self.source, "{", "}")

    @cached_property
    def parentheses(self) -> dict[int, int]:
        """Where each round bracket is closed."""
        return _closers(self.source, "(", ")")

    def styled(self, name: str, length: int) -> None:
        r"""\mathbf{K} is K; \mathbf{1} is the vector of ones; \mathbb{E} and \mathbb{P} are the mean and the chance."""
        digit = _ONE.match(self.source, self.at + length)
        if digit is not None:
            one = (digit.group(1) or digit.group(2)) == "1"
            self.add("name" if one else "number", "ones" if one else "0", length + len(digit.group()))
            return
        special = _CAPITAL.match(self.source, self.at + length)
        if special is not None:
            letter = special.group(1) or special.group(2)
            stop = special.end()
            kind = _CAPITALS.get((name if name != "mathcal" else "mathscr", letter), "")
            if kind and (letter in "ERZ" or kind == "domain" or _BRACKET_AHEAD.match(self.source, stop)):
                self.add(kind, letter, stop - self.at)
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
        elif name in spellings.DROPPED:
            self.skip(length)
        elif name == "not":
            self.denied(length)
        elif name == "arg" and (most := _MOST.match(self.source, self.at + length)):
            self.add("command", "arg" + most.group(1), length + len(most.group()))
        elif name in ("underbrace", "overbrace", "overset", "stackrel"):
            self.labelled(name, length)
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

    def denied(self, length: int) -> None:
        r"""\not before a relation: \not=, \not\approx, \not\in."""
        rest = _DENIED.match(self.source, self.at + length)
        sign = rest.group(1).lstrip("\\") if rest else ""
        sign = spellings.RELATIONS.get(sign, sign)
        if rest is None or sign not in ("=", "<", ">", *spellings.RELATIONS.values()) or sign.startswith("!"):
            raise self.error("\\not is read only before a relation", length, "write \\neq, or the opposite relation")
        self.add("relation", f"!{sign}", length + len(rest.group()))

    def labelled(self, name: str, length: int) -> None:
        r"""\underbrace{x}_{label} is x, and \overset{label}{=} is =."""
        self.skip(length)
        opener = _OPENER.match(self.source, self.at)
        closer = self.braces.get(opener.end() - 1) if opener else None
        if closer is None:
            raise self.error(f"\\{name} needs its argument in braces", length, "add the braces", start=self.at - length)
        if name in ("overset", "stackrel"):
            self.at = closer + 1
            self.unwrap(0)
        elif mark := _LABEL.match(self.source, closer + 1):
            stop = self.braces.get(mark.end() - 1, mark.end() - 1)
            self.jumps[closer + 1] = stop + 1

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
        if environment in spellings.MATRICES or environment in ("cases", "dcases", "rcases"):
            kind = "cases" if environment.endswith("cases") else "matrix"
            self.add("open" if name == "begin" else "close", kind, length)
        elif environment in spellings.DROPPED_ENVIRONMENTS:
            self.skip(length)
        else:
            near = get_close_matches(environment[:40], sorted(spellings.MATRICES | spellings.DROPPED_ENVIRONMENTS), 1)
            fix = spellings.UNREAD.get(environment) or (
                f"did you mean {near[0]}?" if near else "use aligned or pmatrix"
            )
            raise self.error(f"the environment {environment[:40]} is not read", length, fix)

    def run(self) -> list[Word]:
        """All words."""
        while self.at < len(self.source):
            self.step()
        self.add("end", "", 0)
        return self.found

    def step(self) -> None:
        """One word, or a space."""
        source, at = self.source, self.at
        if at in self.jumps:
            self.skip(self.jumps[at] - at)
            return
        c = source[at]
        if c == "\n":
            self.add("soft", "\n", 1)
            self.spaced = True
        elif c.isspace() or c in _INVISIBLE or c == "$" or at in self.ghosts:
            self.at += 1
            self.spaced = self.spaced or at not in self.ghosts
            if at in self.ghosts and c == "}" and self.found and self.found[-1].span.stop == at:
                last = self.found[-1]
                self.found[-1] = replace(last, span=Span(last.span.start, at + 1))
        elif c == "%":
            end = source.find("\n", at)
            self.skip((len(source) if end < 0 else end) - at)
        elif c == "\\":
            self.command()
        elif c in "0123456789" or (c == "." and source[at + 1 : at + 2].isdecimal() and source[at + 1].isascii()):
            self.number()
        elif c.isascii() and c.isalpha():
            self.letters()
        elif c == ".":
            self.point()
        elif c == "~":
            self.tilde()
        elif c in spellings.RAISED or c in spellings.LOWERED:
            self.shifted()
        else:
            self.sign()

    def sign(self) -> None:
        """A sign, or a letter that is not ASCII."""
        c = self.source[self.at]
        for length in (3, 2, 1):
            piece = self.source[self.at : self.at + length]
            if piece == "⊤" and not (self.is_after("^") or self.is_after("^", "{")):
                self.add("transposed", ".T", 1)  # K⊤, without a caret
                return
            if piece in spellings.SIGNS:
                self.add(*spellings.SIGNS[piece], len(piece))
                return
        if c in spellings.LETTERS:
            self.add("name", spellings.LETTERS[c], 1)
            return
        if c in spellings.FRACTIONS:
            self.fraction(*spellings.FRACTIONS[c])
            return
        simple = unicodedata.normalize("NFKC", c)
        if len(simple) == 1 and simple.isascii() and simple.isalpha():
            self.add("name", simple, 1)
        elif simple in spellings.LETTERS:
            self.add("name", spellings.LETTERS[simple], 1)
        else:
            fixes = {
                "!": "factorials are not read; write the number",
                '"': "remove it",
                "#": "remove it",
                "?": "remove it",
                "`": "remove it, or write $ around the formula",
                "∫": spellings.UNREAD["int"],
                "±": spellings.UNREAD["pm"],
            }
            raise self.error(f"{printed(c)} is not a sign of the formula language", 1, fixes.get(c, ""))

    def fraction(self, over: str, under: str) -> None:
        """½, in brackets of its own."""
        place = Span(self.at, self.at + 1)
        if (last := self.before()) is not None and last.kind == "number":
            raise self.error("a number before a fraction can mean a sum or a product", 1, "write + or * between them")
        for kind, text in (("open", "("), ("number", over), ("sign", "/"), ("number", under), ("close", "(")):
            self.found.append(Word(kind, text, place, self.spaced and kind == "open"))
        self.at += 1
        self.spaced = False

    def number(self) -> None:
        """A number; refused where it is glued to a name."""
        pattern = _DIGITS if self.is_after("_") else _NUMBER
        text = matched(pattern, self.source, self.at) or matched(_NUMBER, self.source, self.at)
        last = self.before()
        if last is not None and last.span.stop == self.at and last.kind == "name" and not self.is_argument():
            name = self.source[last.span.start : last.span.stop]
            raise self.error(
                f"{name}{text[:9]} can mean an index or a product",
                len(name) + len(text),
                f"write {name}_{text[:9]} for the index, or {name} * {text[:9]} for the product",
                start=last.span.start,
            )
        check_size(text, self.source, Span(self.at, self.at + len(text)))
        self.add("number", text, len(text))

    def is_argument(self) -> bool:
        r"""Whether the last word is the first argument of \frac, as in \frac n2."""
        earlier = self.before(2)
        return earlier is not None and earlier.kind == "command" and earlier.text == "frac"

    def point(self) -> None:
        """A full stop, .T, or dots."""
        if re.match(r"\.T(?![A-Za-z0-9_])", self.source[self.at : self.at + 3]):
            self.add("transposed", ".T", 2)
        elif self.source.startswith("..", self.at):
            self.sign()
        else:
            self.add("stop", ".", 1)

    def tilde(self) -> None:
        """~ is LaTeX's tied space where it is tight in a formula with commands, and 'about' elsewhere."""
        after = self.source[self.at + 1 : self.at + 2]
        tight = not self.spaced and not after.isspace()
        if tight and self.has_commands:
            self.skip(1)
        else:
            self.add("relation", "~", 1)

    def shifted(self) -> None:
        """A run of raised or lowered characters: x², k₁, Kᵀ."""
        table = spellings.RAISED if self.source[self.at] in spellings.RAISED else spellings.LOWERED
        start = self.at
        while self.at < len(self.source) and self.source[self.at] in table:
            self.at += 1
        stop = self.at
        inner = "".join(table[c] for c in self.source[start:stop])
        self.found.append(Word("sign", "^" if table is spellings.RAISED else "_", Span(start, start), self.spaced))
        self.found.append(Word("open", "{", Span(start, start)))
        for match in re.finditer(r"[0-9]+|.", inner):
            place = Span(start + match.start(), start + match.end())
            text = match.group()
            if text.isdigit():
                check_size(text, self.source, place)
                self.found.append(Word("number", text, place))
            elif text.isalpha():
                self.found.append(Word("name", text, place))
            else:
                self.found.append(Word(*spellings.SIGNS[text], place))
        self.found.append(Word("close", "{", Span(stop, stop)))
        self.spaced = False


def _closers(source: str, opener: str, closer: str) -> dict[int, int]:
    waiting: list[int] = []
    pairs: dict[int, int] = {}
    for match in re.finditer(rf"\\.|[{opener}{closer}]", source, re.DOTALL):
        if match.group() == opener:
            waiting.append(match.start())
        elif match.group() == closer and waiting:
            pairs[waiting.pop()] = match.start()
    return pairs


def matched(pattern: re.Pattern[str], source: str, at: int) -> str:
    """What the pattern matches there, or nothing."""
    match = pattern.match(source, at)
    return match.group() if match else ""


def printed(character: str) -> str:
    """A character, or its number where it cannot be seen."""
    return character if character.isprintable() else f"U+{ord(character):04X}"


def check_size(text: str, source: str, span: Span) -> None:
    """Refuse a number that is too long or too large to be written out, before it is."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = sum(c.isdigit() for c in mantissa)
    if digits > MOST_DIGITS:
        message = f"a number has {digits} digits, and at most {MOST_DIGITS} are read"
        raise FormulaError(message, source, span, fix="write it as a power, or round it")
    sizeable = len(exponent.lstrip("+-0")) <= 4 and abs(int(exponent or 0)) <= LARGEST_EXPONENT
    if not sizeable or not _leading(mantissa, int(exponent or 0)):
        message = f"a number is outside 1e-{LARGEST_EXPONENT} to 1e{LARGEST_EXPONENT}"
        raise FormulaError(message, source, span, fix="write it as a power, such as 10^{1000}")


def _leading(mantissa: str, exponent: int) -> bool:
    """Whether the first digit that is not 0 stands at a place between the bounds."""
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    place = len(digits) - 1 - len(part) + exponent
    return not digits or abs(place) <= LARGEST_EXPONENT


def value(text: str) -> Fraction:
    """The exact value of a number as written.

    >>> value("0.1"), value("1e-3")
    (Fraction(1, 10), Fraction(1, 1000))
    """
    return Fraction(text)


def _accented(run: str) -> str:
    """xhat, alphabar: what \\hat{x} and \\bar{\\alpha} become, so that they can be written without LaTeX too."""
    for accent in ("hat", "tilde", "bar", "star"):
        stem = run.removesuffix(accent)
        if stem != run and (len(stem) == 1 or stem in spellings.NAMES) and run not in ("what", "that", "chat"):
            return spellings.NAMES.get(stem, stem) + accent
    return ""


def words(source: str, names: Collection[str] = ()) -> list[Word]:
    r"""All words of the source, in order, ending with one of the kind 'end'.

    >>> [word.text for word in words(r"q = \lambda(k_a + k_b)")]
    ['q', '=', 'lambda', '(', 'k', '_', 'a', '+', 'k', '_', 'b', '(', '']
    """
    return Lexer(source, names).run()
