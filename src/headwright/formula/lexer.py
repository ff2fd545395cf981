r"""The source of a formula cut into words, whatever their spelling: \lambda, lambda and λ are one word.

A word knows where it was written and whether a space came before it. Running letters are cut here too: PQ is two
names, unless the exercise knows PQ; a word of prose is refused, since it is never a product of its letters.
Brackets find their partners, and spaces and line breaks that mean nothing are passed over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Final, NoReturn

from headwright.formula import spellings
from headwright.formula import tree as t
from headwright.formula.errors import DEEPEST, LARGEST_EXPONENT, MOST_DIGITS, FormulaError
from headwright.formula.spellings import ACCENTS, COMMANDS, FUNCTIONS, NAMES, UNREAD

_NAMED = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_LETTERS = re.compile(r"[A-Za-z]+")
_PHRASES: Final = tuple((re.compile(pattern), meaning) for pattern, meaning in spellings.PHRASES)
_EVERY = frozenset({"all", "every", "each", "any", "some"})
_KNOWN_WORDS: Final = sorted({*NAMES, *FUNCTIONS, *spellings.SPOKEN})
_STARTS: Final = sorted({*FUNCTIONS, *spellings.GREEK} - {"Pr", "Pi", "Xi"}, reverse=True)  # longer ones first
_PLAIN_ARGUMENT = re.compile(r"\s*\{([^{}\\$]*)\}")
_SHORT_ARGUMENT = re.compile(r"\s*\{\s*(\\?[A-Za-z]+|[01])\s*\}")
_ONE = re.compile(r"\s*(?:\{\s*([01])\s*\}|([01])(?![0-9]))")
_ACCENTED = re.compile(
    rf"\s*(?:\{{\s*(?:\\(?:{'|'.join(sorted(spellings.STYLES))})\s*)?(?:\{{\s*(\\[A-Za-z]+|[A-Za-z])\s*\}}"
    r"|(\\[A-Za-z]+|[A-Za-z]))\s*\}|(\\[A-Za-z]+|[A-Za-z]))"
)
_CAPITAL = re.compile(r"\s*(?:\{\s*([EPRZN])\s*\}|([EPRZN])(?![A-Za-z]))")
_BLACKBOARD = ("mathbb", "mathds", "mathbbm")
_NORMAL = re.compile(r"N\s*(?:\\left\s*)?\(")
_BRACKET_AHEAD = re.compile(r"\s*(?:\\(?:left|big|Big|bigg|Bigg|bigl|Bigl|biggl|Biggl)\s*)?(?:[(\[]|\\\{)")
_ORDER = re.compile(r"\s*\}?\s*(?:\\(?:left|big|Big|bigl|Bigl)\s*)?\(")  # what follows the O of O(n)
_REASON = re.compile(
    r"\s*\(?\s*(?:since|because|using|by|from|via|see)\s"
    r"(?!.*\b(?:not|no|never|unless|except|or|only|if|when|but|nor|neither|without)\b)[^()]*(?:\([^()]*\)[^()]*)?\)?\s*"
)
_SAID_OF = re.compile(r"\s*\}\s*(?:[=<>_^]|\\(?:leq?|geq?|approx|to|gg|ll|neq?|sim)(?![A-Za-z]))")
_OPENER = re.compile(r"\s*\{")
_LABEL = re.compile(r"\s*[_^]\s*(?:\{|\\text\s*\{|\\mathrm\s*\{|\\[A-Za-z]+|[^\s\\{}])")
_FROM_A_SIDE = re.compile(r"0\s*(?:\^\s*(?:\{\s*([+-])\s*\}|([+-]))|([⁺⁻])|([+-])(?=\s*(?:[,;.)}$]|$)))")  # 0^+, 0+
_TENDS = re.compile(r"\\(?:to|rightarrow|infty)(?![A-Za-z])|->|→|∞")
_AN_ARROW = re.compile(r"\s*\{\s*(?:\\(?:to|(?:long)?rightarrow)|→|->)\s*\}")
_DENIED = re.compile(r"\s*(=|<|>|\\[A-Za-z]+)")
_MOST = re.compile(r"\s*(?:\\,|\\!|\\;)?\s*\\?(max|min)(?![A-Za-z])")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?")
_ENVIRONMENT = re.compile(r"\s*\{([A-Za-z]+)\*?\}")
_ROW_END = re.compile(r"\\\\\*?(?:\[\s*-?[0-9.]{1,9}\s*(?:pt|em|ex|mm|cm|in)\s*\])?")
_SIDED = re.compile(r"\s*(?:\\\||\\[Vv]ert|‖|\|\|?|[<>.])?")
_SIDES: Final = {"\\|": "||", "\\Vert": "||", "‖": "||", "||": "||", "|": "|", "\\vert": "|", "<": "<", ">": "<"}
_ESCAPED_SPACES = frozenset(",;:!> /-\t\n\r()[]")
_KNOWN_COMMANDS: Final = sorted(
    {*COMMANDS, *ACCENTS, *spellings.STYLES, *spellings.TEXTS, "left", "right", "begin", "end"}
)
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+")
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\ufeff\u00ad")
_STRANGE: Final = {
    "!": "factorials are not read; write the number", '"': "remove it", "#": "remove it", "?": "remove it",
    "`": "remove it, or write $ around the formula", "∫": UNREAD["int"], "±": UNREAD["pm"],
}  # fmt: skip


@dataclass(frozen=True)
class Word:
    """One word: its kind, its one spelling (the base of a name, the sign of a relation), where, and whether spaced."""

    kind: str
    text: str
    span: t.Span
    spaced: bool = False

    def is_sign(self, signs: str) -> bool:
        """Whether it is one of these signs, which are a character each."""
        return self.kind == "sign" and self.text in tuple(signs)


def words(source: str, names: Collection[str] = ()) -> list[Word]:
    r"""All words of the source, in order, ending with one of the kind 'end'."""
    lexer = _Lexer(source, names)
    while lexer.at < len(source):
        lexer.step()
    lexer.add("end", "", 0)
    return lexer.found


class _Lexer:
    """Reads a source, word by word; every method reads what comes next, and moves on."""

    def __init__(self, source: str, names: Collection[str]) -> None:
        self.source = source
        self.names = {part for name in names for part in name.split("_") if len(part) > 1 and part.isascii()}
        self.glued = {name.replace("_", ""): name for name in names if name.count("_") == 1}  # ka for k_a
        self.at = 0
        self.spaced = False
        self.begin: int | None = None  # where the next word begins, if a wrapping such as \\mathbf{ came before it
        self.found: list[Word] = []
        self.ghosts: set[int] = set()  # braces of \mathbf{x}, \text{if $x$}: they group nothing
        self.jumps: dict[int, int] = {}  # from the end of an \underbrace{...} to the end of its label

    def add(self, kind: str, text: str, length: int) -> None:
        """A word that is written in the next `length` characters."""
        start = self.at if self.begin is None else self.begin
        self.found.append(Word(kind, text, t.Span(start, self.at + length), self.spaced))
        self.begin = None
        self.at += length
        self.spaced = False

    def skip(self, length: int) -> None:
        """Pass over characters that count as a space."""
        self.at += length
        self.spaced = True

    def fail(self, message: str, length: int, fix: str = "", *, start: int | None = None) -> NoReturn:
        """Say what is wrong with the next characters."""
        begin = self.at if start is None else start
        raise FormulaError(message, self.source, t.Span(begin, begin + length), fix=fix)

    def last(self) -> tuple[str, str]:
        """Kind and spelling of the word before."""
        return (self.found[-1].kind, self.found[-1].text) if self.found else ("", "")

    def is_after(self, *texts: str) -> bool:
        """Whether the last words are these signs."""
        found = [word.text if word.kind in ("sign", "open") else "" for word in self.found[-len(texts) :]]
        return found == list(texts)

    def step(self) -> None:
        """One word, or a space."""
        source, at = self.source, self.at
        c = source[at]
        if at in self.jumps:
            self.skip(self.jumps[at] - at)
        elif c == "\n":
            self.add("soft", "\n", 1)
            self.spaced = True
        elif at in self.ghosts:
            self.at += 1
            if c == "}" and self.found and self.found[-1].span.stop == at:
                self.found[-1] = replace(self.found[-1], span=t.Span(self.found[-1].span.start, at + 1))
        elif c.isspace() or c in _INVISIBLE or c == "$":
            self.skip(1)
        elif c == "%":
            end = source.find("\n", at)
            self.skip((len(source) if end < 0 else end) - at)
        elif c == "\\":
            self.command()
        elif self.last() == ("relation", "->") and (sided := _FROM_A_SIDE.match(source, at)):
            side = "-" if any(part in ("-", "⁻") for part in sided.groups()) else "+"
            self.found[-1] = replace(self.found[-1], text=f"->{side}")
            self.add("number", "0", len(sided.group()))
        elif _NUMBER.match(source, at):
            self.number()
        elif c.isascii() and c.isalpha():
            self.letters()
        elif c == "." and re.match(r"\.T(?![A-Za-z0-9_])", source[at : at + 3]):
            self.add("transposed", ".T", 2)
        elif c == "." and not source.startswith("..", at):
            self.add("stop", ".", 1)
        elif c == "~" and "\\" in source and not self.spaced and not source[at + 1 : at + 2].isspace():
            self.skip(1)  # LaTeX's tied space, where it is tight in a formula with commands
        elif c == "~":
            self.add("relation", "~", 1)
        elif c in spellings.RAISED or c in spellings.LOWERED:
            self.shifted()
        else:
            self.sign(c)

    # Letters

    def letters(self) -> None:
        """A run of letters, perhaps with the digits of a name that the exercise gives."""
        named, run = (_matched(pattern, self.source, self.at) for pattern in (_NAMED, _LETTERS))
        if named in self.names:
            self.add("name", named, len(named))
        elif run in ("O", "o"):
            self.refuse_order(1)
            self.add("name", run, 1)
        elif named in self.glued and not self.source.startswith("_", self.at + len(named)):
            base, index = self.glued[named].split("_")
            self.add("name", base, len(base))
            self.found.append(Word("sign", "_", t.Span(self.at, self.at)))
            self.add("number" if index.isdigit() else "name", index, len(index))
        elif run == "E" and self.source.startswith(("[", "("), self.at + 1):
            self.add("function", "E", 1)
        elif run == "N" and self.last() == ("relation", "~"):
            self.add("function" if _NORMAL.match(self.source, self.at) else "name", "N", 1)
        elif run in self.names or len(run) == 1:
            self.add("name", run, len(run))
        elif not self.is_known(run):
            self.running(run)

    def refuse_order(self, length: int) -> None:
        """Refuse O(n), which is no product: it stands for something of that size."""
        if _ORDER.match(self.source, self.at + length):
            self.fail("orders of magnitude are not read", length, "write a bound, or what it tends to")

    def is_known(self, run: str) -> bool:
        """Whether it is a word that was read: a function, a Greek letter, 'for', or several such as 'as long as'."""
        if run in _EVERY and self.last() == ("condition", "for"):
            if run == "some":
                self.found[-1] = replace(self.found[-1], text="some")
            self.skip(len(run))
            return True
        for pattern, meaning in _PHRASES:
            if match := pattern.match(self.source, self.at):
                self.add(*meaning, len(match.group()))
                return True
        if run == "log" and self.source[self.at + 3 : self.at + 4].isdigit():
            self.fail("log directly before a digit can mean a base or an argument", 4, "write log_2(x) or log(2)")
        kind, text = spellings.SPOKEN.get(run, ("name", NAMES.get(run) or _accented(run)))
        if run in FUNCTIONS:
            kind, text = "function", FUNCTIONS[run]
        if kind == "reason":
            self.at += len(run)
            self.reason(len(run))
        elif text:
            self.add(kind, text, len(run))
        return bool(text)

    def running(self, run: str) -> None:
        """Letters side by side: a name each, unless they look like a word."""
        after = self.source[self.at + len(run) : self.at + len(run) + 1]
        alone = self.is_after("^") and (run[0] == "T" or "\\" in self.source)  # x^Ty; in LaTeX x^nk is x^n k
        if alone or (
            self.is_after("_") and (after == "_" or self.is_given(run[0]))
        ):  # u_bu_b is u_b u_b, R_tq is R_t q
            self.add("name", run[0], 1)
        elif self.is_after("_", "{") and len(run) > 2 and after == "}":
            self.add("name", run, len(run))
        elif self.is_after("^") or self.is_after("_") or self.is_after("**"):
            mark = self.found[-1].text
            fix = f"write {mark}{{{run}}} for all of it, or {mark}{{{run[0]}}} {run[1:]} for a product"
            self.fail(f"{mark}{run} without braces can be read in two ways", len(run), fix)
        else:
            self.refuse_prose(run)
            for letter in run:
                self.add("name", letter, 1)

    def is_given(self, index: str) -> bool:
        """Whether the name that is being written, with this index, is one that the exercise gives."""
        return len(self.found) > 1 and f"{self.found[-2].text}_{index}" in self.glued.values()

    def refuse_prose(self, run: str) -> None:
        """Refuse letters that look like a word."""
        message, fix = f"{run} is not a known word", ""
        if run in UNREAD:
            message, fix = f"{run} is not read", UNREAD[run]
        elif run in COMMANDS and run != "cr":
            message, fix = f"{run} without a backslash is not read", f"write \\{run}, or spaces for a product"
        elif start := next((start for start in _STARTS if run.startswith(start)), None):
            fix = f"write {start} {run[len(start) :]} if that is what is meant"
        elif end := next((end for end in FUNCTIONS if run.endswith(end)), None):
            fix = f"write {run[: -len(end)]} {end} if that is what is meant"
        elif run in spellings.PROSE or (len(run) > 3 and run[1:].islower()):
            near = get_close_matches(run, [*_KNOWN_WORDS, *self.names], 1, 0.75)
            fix = f"did you mean {near[0]}?" if near else "write formulas only; a product of letters needs spaces"
        if fix:
            self.fail(message, len(run), fix)

    def reason(self, length: int) -> None:
        """'since', and brackets around it and what it says are passed over: a reason is a statement of its own."""
        start = self.at - length
        if self.last() == ("open", "("):
            self.ghosts.add(self.parentheses.get(self.found.pop().span.stop - 1, -1))
        self.found.append(Word("reason", "since", t.Span(start, self.at), True))
        self.spaced = True

    # Commands

    def command(self) -> None:
        """A command, or the end of a row."""
        if row := _ROW_END.match(self.source, self.at):
            self.add("line", "line", len(row.group()))
            return
        written = _matched(_COMMAND, self.source, self.at)
        if not written:
            self.escaped(self.source[self.at + 1 : self.at + 2])
            return
        name = written[1:].rstrip("*")
        starred = written.endswith("*") and (name in spellings.TEXTS or name in spellings.DROPPED_WITH_ARGUMENT)
        length = len(name) + 1 + starred
        if name in COMMANDS:
            if name in ("Theta", "Omega"):
                self.refuse_order(length)
            self.add(*COMMANDS[name], length)
        elif name in spellings.DROPPED:
            self.skip(length)
        elif name == "not":
            self.denied(length)
        elif name == "arg" and (most := _MOST.match(self.source, self.at + length)):
            self.add("command", "arg" + most.group(1), length + len(most.group()))
        elif name == "xrightarrow":
            self.add("relation", "->", length)
        elif name in ("underset", "overset", "stackrel") and (over := self.under_an_arrow(length)):
            self.jumps[over[0]] = over[1]
            self.add("relation", "->", length)
        elif name in ("underbrace", "overbrace", "overset", "stackrel"):
            self.labelled(name, length)
        elif name in spellings.DROPPED_WITH_ARGUMENT:
            self.skip(length + len(_matched(_PLAIN_ARGUMENT, self.source, self.at + length)))
        else:
            sides = spellings.LEFTS | spellings.RIGHTS
            known = ((sides, self.sided), (spellings.TEXTS, self.text), (spellings.STYLES, self.styled),
                     (ACCENTS, self.accented), (("begin", "end"), self.environment))  # fmt: skip
            next((read for names, read in known if name in names), self.unknown)(name, length)

    def unknown(self, name: str, length: int) -> NoReturn:
        """Refuse a command, with the closest known one."""
        if name in UNREAD:
            self.fail(f"\\{name} is not read", length, UNREAD[name])
        near = get_close_matches(name[:40], _KNOWN_COMMANDS, 1, 0.6)
        fix = f"did you mean \\{near[0]}?" if near else "write a name as a single letter, with an index if need be"
        if name in FUNCTIONS or name in NAMES or name in self.names:
            fix = f"write {name} without the backslash, or \\operatorname{{{name}}}"
        self.fail(f"\\{name[:40]} is not a command of the formula language", length, fix)

    def escaped(self, character: str) -> None:
        """A backslash before a sign: a brace, a bar, a space."""
        if character in ("{", "}"):
            self.add("open" if character == "{" else "close", "\\{", 2)
        elif character == "|":
            self.add("bar", "||", 2)
        elif character in _ESCAPED_SPACES:
            self.skip(2)
        else:
            message = f"\\{_printed(character)} is not a command of the formula language"
            self.fail(message, 1 + len(character), "remove the backslash")

    def denied(self, length: int) -> None:
        r"""\not before a relation: \not=, \not\approx, \not\in."""
        rest = _DENIED.match(self.source, self.at + length)
        sign = rest.group(1).lstrip("\\") if rest else ""
        sign = spellings.RELATIONS.get(sign, sign)
        if rest is None or sign not in ("=", "<", ">", *spellings.RELATIONS.values()) or sign.startswith("!"):
            self.fail("\\not is read only before a relation", length, "write \\neq, or the opposite relation")
        self.add("relation", f"!{sign}", length + len(rest.group()))

    def labelled(self, name: str, length: int) -> None:
        r"""\underbrace{x}_{label} is x, and \overset{label}{=} is =."""
        self.skip(length)
        opener = _OPENER.match(self.source, self.at)
        closer = self.braces.get(opener.end() - 1) if opener else None
        if closer is None:
            self.fail(f"\\{name} needs its argument in braces", length, "add the braces", start=self.at - length)
        if name in ("overset", "stackrel"):
            self.at = closer + 1
            self.unwrap(0)
        elif mark := _LABEL.match(self.source, closer + 1):
            self.jumps[closer + 1] = self.braces.get(mark.end() - 1, mark.end() - 1) + 1

    def under_an_arrow(self, length: int) -> tuple[int, int] | None:
        r"""In \underset{x \to a}{\longrightarrow} where the first argument ends, and the second one."""
        opener = _OPENER.match(self.source, self.at + length)
        closer = self.braces.get(opener.end() - 1) if opener else None
        if opener is None or closer is None or not _TENDS.search(self.source, opener.end(), closer):
            return None
        arrow = _AN_ARROW.match(self.source, closer + 1)
        return (closer + 1, arrow.end()) if arrow else None

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

    def sided(self, name: str, length: int) -> None:
        r"""\left( and \right): the size says nothing, but a bar now has a side."""
        self.skip(length)
        written = _matched(_SIDED, self.source, self.at)
        mark = written.lstrip()
        self.at += len(written) - len(mark)
        if mark in _SIDES:
            self.add("open" if name in spellings.LEFTS else "close", _SIDES[mark], len(mark))
        else:
            self.skip(len(mark))

    def environment(self, name: str, length: int) -> None:
        r"""\begin and \end: a matrix, or lines that are read as they are."""
        argument = _ENVIRONMENT.match(self.source, self.at + length)
        if argument is None:
            self.fail(f"\\{name} needs the name of an environment", length, f"write \\{name}{{pmatrix}}")
        environment, length = argument.group(1), length + len(argument.group())
        if environment in spellings.MATRICES or environment in ("cases", "dcases", "rcases"):
            kind = "cases" if environment.endswith("cases") else "matrix"
            self.add("open" if name == "begin" else "close", kind, length)
        elif environment in spellings.DROPPED_ENVIRONMENTS:
            self.skip(length)
        else:
            near = get_close_matches(environment[:40], sorted(spellings.MATRICES | spellings.DROPPED_ENVIRONMENTS), 1)
            fix = f"did you mean {near[0]}?" if near else "use aligned or pmatrix"
            self.fail(f"the environment {environment[:40]} is not read", length, UNREAD.get(environment) or fix)

    # Text, styles and accents

    def text(self, name: str, length: int) -> None:
        r"""\text{for all }, \operatorname{tr}, \mathrm{T}: the words inside, without their braces."""
        argument = _PLAIN_ARGUMENT.match(self.source, self.at + length)
        if argument is None:
            self.unwrap(length)
            return
        start, inside, stop = self.at, argument.group(1), argument.end()
        self.skip(argument.start(1) - start)
        word = inside.strip()
        if _REASON.fullmatch(inside):
            self.at = stop - 1
            self.ghosts.add(stop - 1)
            self.reason(len(inside))
        elif _LETTERS.fullmatch(word):
            self.skip(inside.index(word))
            self.single(name, word)
            if self.found and self.found[-1].span.start > start:
                self.found[-1] = replace(self.found[-1], span=t.Span(start, stop))
            self.at = stop
        else:
            self.ghosts.add(stop - 1)

    def single(self, command: str, word: str) -> None:
        r"""One word in a \text: known, or a name of its own."""
        if command == "operatorname" and word in ("E", "P"):
            self.add("function", word, len(word))
        elif word in self.names or not self.is_known(word):
            if command == "operatorname" and word not in self.names and len(word) > 1:
                near = get_close_matches(word, sorted(FUNCTIONS), 1, 0.6)
                fix = UNREAD.get(word) or (f"did you mean {near[0]}?" if near else "use a known function")
                self.fail(f"{word} is not a known function", len(word), fix)
            if command.startswith(("text", "mbox")) and word not in self.names and not self.is_label(word):
                self.refuse_prose(word)
            self.add("name", word, len(word))

    def is_label(self, word: str) -> bool:
        r"""Whether a word is a label in an index or exponent, or stands alone before a relation: \text{Output} = x."""
        if any(self.is_after(*signs) for signs in (("_",), ("_", "{"), ("^",), ("^", "{"))):
            return True
        alone = self.last()[0] in ("", "relation", "logic", "line", "quad", "soft", "sign")
        return alone and word.lower() not in spellings.PROSE and bool(_SAID_OF.match(self.source, self.at + len(word)))

    def styled(self, name: str, length: int) -> None:
        r"""\mathbf{K} is K; \mathbf{1} is the vector of ones; \mathbb{E} and \mathbb{P} are the mean and the chance."""
        start, after = self.at, self.at + length
        if digit := _ONE.match(self.source, after):
            one = "1" in digit.group()
            self.add("name" if one else "number", "ones" if one else "0", digit.end() - start)
            return
        if special := _CAPITAL.match(self.source, after):
            letter = special.group(1) or special.group(2)
            called = bool(_BRACKET_AHEAD.match(self.source, special.end()))
            domain = name in _BLACKBOARD and letter in "RZN"
            mean = name in _BLACKBOARD and (letter == "E" or (letter == "P" and called))
            normal = name in ("mathscr", "mathcal") and letter == "N" and called
            if domain or mean or normal:
                self.add("domain" if domain else "function", letter, special.end() - start)
                return
        self.skip(length)
        if short := _SHORT_ARGUMENT.match(self.source, after):
            self.ghosts |= {self.source.index("{", after), short.end() - 1}
            self.begin = start

    def accented(self, name: str, length: int) -> None:
        r"""\hat{x} is a name of its own."""
        match = _ACCENTED.match(self.source, self.at + length)
        letter = next((group for group in match.groups() if group), "") if match else ""
        base = NAMES.get(letter[1:], "") if letter.startswith("\\") else letter
        if match is None or not base:
            self.fail(f"\\{name} is read over a single letter only", length, f"write \\{name}{{x}}")
        self.add("name", base + ACCENTS[name], length + len(match.group()))

    # Numbers and signs

    def number(self) -> None:
        """A number; refused where it is glued to a name."""
        text = _matched(_DIGITS, self.source, self.at) if self.is_after("_") else ""
        text = text or _matched(_NUMBER, self.source, self.at)
        last = self.found[-1] if self.found else None
        fraction = len(self.found) > 1 and (self.found[-2].kind, self.found[-2].text) == ("command", "frac")
        if last is not None and last.span.stop == self.at and last.kind == "name" and not fraction:  # but \frac n2
            name, shown = self.source[last.span.start : last.span.stop], text[:9]
            fix = f"write {name}_{shown} for the index, or {name} * {shown} for the product"
            length = len(name) + len(text)
            self.fail(f"{name}{shown} can mean an index or a product", length, fix, start=last.span.start)
        self.check_size(text)
        self.add("number", text, len(text))

    def check_size(self, text: str) -> None:
        """Refuse a number that is too long or too large to be written out, before it is."""
        mantissa, _, exponent = text.lower().partition("e")
        digits = sum(c.isdigit() for c in mantissa)
        if digits > MOST_DIGITS:
            message = f"a number has {digits} digits, and at most {MOST_DIGITS} are read"
            self.fail(message, len(text), "write it as a power, or round it")
        whole, _, part = mantissa.partition(".")
        significant = (whole + part).lstrip("0")
        power = int(exponent or 0) if len(exponent.lstrip("+-0")) <= 4 else 2 * LARGEST_EXPONENT
        place = len(significant) - 1 - len(part) + power if significant else 0  # of the first digit that is not 0
        if abs(power) > LARGEST_EXPONENT or abs(place) > LARGEST_EXPONENT:
            message = f"a number is outside 1e-{LARGEST_EXPONENT} to 1e{LARGEST_EXPONENT}"
            self.fail(message, len(text), "write it as a power, such as 10^{1000}")

    def sign(self, c: str) -> None:
        """A sign, or a letter that is not ASCII."""
        simple = unicodedata.normalize("NFKC", c)
        pieces = (self.source[self.at : self.at + length] for length in (3, 2, 1))
        piece = next((piece for piece in pieces if piece in spellings.SIGNS), None)
        if c == "⊤" and not (self.is_after("^") or self.is_after("^", "{")):
            self.add("transposed", ".T", 1)  # K⊤, without a caret
        elif piece is not None:
            self.add(*spellings.SIGNS[piece], len(piece))
        elif c in spellings.FRACTIONS:
            self.fraction(*spellings.FRACTIONS[c])
        elif letter := spellings.LETTERS.get(c) or spellings.LETTERS.get(simple):
            self.add("name", letter, 1)
        elif len(simple) == 1 and simple.isascii() and simple.isalpha():
            self.add("name", simple, 1)
        else:
            self.fail(f"{_printed(c)} is not a sign of the formula language", 1, _STRANGE.get(c, ""))

    def fraction(self, over: str, under: str) -> None:
        """½, in brackets of its own."""
        if self.last()[0] == "number":
            self.fail("a number before a fraction can mean a sum or a product", 1, "write + or * between them")
        place = t.Span(self.at, self.at + 1)
        for kind, text in (("open", "("), ("number", over), ("sign", "/"), ("number", under), ("close", "(")):
            self.found.append(Word(kind, text, place, self.spaced and kind == "open"))
        self.at += 1
        self.spaced = False

    def shifted(self) -> None:
        """A run of raised or lowered characters: x², k₁, Kᵀ."""
        table = spellings.RAISED if self.source[self.at] in spellings.RAISED else spellings.LOWERED
        start = stop = self.at
        while self.source[stop : stop + 1] in table:
            stop += 1
        self.add("sign", "^" if table is spellings.RAISED else "_", 0)
        self.add("open", "{", 0)
        for text in re.findall(r"[0-9]+|.", "".join(table[c] for c in self.source[start:stop])):
            if text.isdigit():
                self.check_size(text)
            kind, spelling = spellings.SIGNS.get(text, ("number" if text.isdigit() else "name", text))
            self.add(kind, spelling, len(text))
        self.add("close", "{", 0)


def _closers(source: str, opener: str, closer: str) -> dict[int, int]:
    waiting: list[int] = []
    pairs: dict[int, int] = {}
    for match in re.finditer(rf"\\.|[{opener}{closer}]", source, re.DOTALL):
        if match.group() == opener:
            waiting.append(match.start())
        elif match.group() == closer and waiting:
            pairs[waiting.pop()] = match.start()
    return pairs


def _matched(pattern: re.Pattern[str], source: str, at: int) -> str:
    """What the pattern matches there, or nothing."""
    match = pattern.match(source, at)
    return match.group() if match else ""


def _printed(character: str) -> str:
    """A character, or its number where it cannot be seen."""
    return character if not character or character.isprintable() else f"U+{ord(character):04X}"


def _accented(run: str) -> str:
    """xhat, alphabar: what \\hat{x} and \\bar{\\alpha} become, so that they can be written without LaTeX too."""
    for accent in ("hat", "tilde", "bar", "star"):
        stem = run.removesuffix(accent)
        if stem != run and (len(stem) == 1 or stem in NAMES) and run not in ("what", "that", "chat"):
            return NAMES.get(stem, stem) + accent
    return ""


_CLOSER = {
    "(": ")", "[": "]", "{": "}", "\\{": "\\}", "<": "\\rangle", "|": "\\right|", "||": "\\right\\|", "matrix": "\\end",
    "cases": "\\end{cases}", "ceil": "\\rceil", "floor": "\\rfloor",
}  # fmt: skip
_EQUATION = re.compile(r"\((?:[0-9][a-z]?|\*)\)")
_INFIX = "+-*/.,;:^_"
_JOINS = ("relation", "logic", "condition", "then")
_PAUSES = (*_JOINS, "line", "end", "quad", "reason")


def arranged(found: list[Word], source: str) -> list[Word]:
    """The words without the spaces that mean nothing."""
    kept = _tidy(_lines(found, partners(found, source)))
    for word in kept:
        if word.kind == "stop":
            fix = "remove it, or write \\cdot"
            raise FormulaError("a full stop stands inside the formula", source, word.span, fix=fix)
    return kept


def partners(found: list[Word], source: str) -> dict[int, int]:
    """The place of the closing word for that of each opening word."""
    waiting: list[int] = []
    pairs: dict[int, int] = {}
    for place, word in enumerate(found):
        if word.kind == "open":
            waiting.append(place)
            if len(waiting) > DEEPEST:
                fix = "give a part of the formula a name of its own"
                raise FormulaError(f"brackets are nested more than {DEEPEST} deep", source, word.span, fix=fix)
        elif word.kind == "close":
            shown = source[word.span.start : word.span.stop]
            if not waiting:
                fix = f"remove {shown}, or open a bracket before it"
                raise FormulaError(f"{shown} closes nothing: no bracket is open here", source, word.span, fix=fix)
            opener = found[waiting[-1]]
            before = found[waiting[-1] - 1] if waiting[-1] else word
            half_open = (before.kind, before.text[-2:]) == ("relation", "in") and {opener.text, word.text} <= {"(", "["}
            if opener.text != word.text and not half_open:  # x in [0, 1)
                raise _unclosed(opener, source, f"meets {shown} before it is closed")
            pairs[waiting.pop()] = place
    if waiting:
        raise _unclosed(found[waiting[-1]], source, "is never closed")
    return pairs


def _unclosed(opener: Word, source: str, what: str) -> FormulaError:
    message = f"the bracket {source[opener.span.start : opener.span.stop]} {what}"
    return FormulaError(message, source, opener.span, fix=f"add {_CLOSER[opener.text]} where the bracket ends")


def _lines(found: list[Word], pairs: dict[int, int]) -> list[Word]:
    """Line breaks of the source become lines, or nothing."""
    hard = any(word.kind == "line" for word in found)
    kept: list[Word] = []
    until = -1  # inside a bracket up to here
    for place, word in enumerate(found):
        until = max(until, pairs.get(place, -1))
        if word.kind != "soft":
            kept.append(word)
        elif place > until and not hard and kept and _breaks(found, place + 1, pairs, kept[-1]):
            kept.append(Word("line", "line", t.Span(word.span.start, word.span.start)))
    return kept


def _breaks(found: list[Word], start: int, pairs: dict[int, int], last: Word) -> bool:
    """Whether a new statement begins after a line break."""
    first = found[start]
    if last.kind in (*_JOINS, "line") or last.is_sign(_INFIX):
        return False
    if first.kind in ("soft", "end"):
        return first.kind == "soft"  # an empty line ends a statement
    if first.kind in (*_JOINS, "close") or first.is_sign(_INFIX):
        return False
    while found[start].kind not in ("soft", "end", "relation"):
        start = pairs.get(start, start) + 1
    return found[start].kind == "relation"


def _tidy(found: list[Word]) -> list[Word]:
    kept: list[Word] = []
    inside: list[str] = []
    passed = -1  # up to here it is the number of an equation
    for place, word in enumerate(found):
        if place <= passed:
            continue
        if word.kind == "quad" and not inside and (count := _numbered(found, place + 1)):
            passed = place + count
            continue
        if word.kind == "open":
            inside.append(word.text)
        elif word.kind == "close":
            inside.pop()
        in_matrix = bool(inside) and inside[-1] in ("matrix", "cases")
        matters = {"quad": not inside, "amp": in_matrix, "line": in_matrix or not inside}
        if not matters.get(word.kind, True):
            continue
        if word.kind == "quad" and (not kept or _is_pause(kept[-1]) or _is_pause(found[place + 1])):
            continue
        if word.kind == "stop" and in_matrix and found[place + 1].kind in ("line", "close", "amp"):
            continue
        if word.kind in ("line", "end") and not in_matrix:
            if word.kind == "line" and _continues(found, place + 1):
                continue
            while kept and (kept[-1].kind in ("stop", "quad", "line") or kept[-1].is_sign(",;")):
                kept.pop()  # the full stop or comma at the end of a line
            if word.kind == "line" and not kept:
                continue
        kept.append(word)
    return kept


def _numbered(found: list[Word], place: int) -> int:
    """How many words the number of an equation at the end of a line has: \\quad (5)."""
    start = place
    while found[place].kind == "quad":
        place += 1
    brackets = {"open": "(", "close": ")"}
    label = _EQUATION.match("".join(brackets.get(word.kind, word.text[:1]) for word in found[place : place + 4]))
    place += len(label.group()) if label else 0
    ends = found[place].kind in ("line", "end", "stop", "soft") or found[place].is_sign(",;")
    return place - start if label and ends else 0


def _continues(found: list[Word], place: int) -> bool:
    """Whether a line goes on with the line before: it begins with + or *, or with - and has no relation."""
    first = found[place]
    if not first.is_sign("+-*/."):
        return False
    while first.text == "-" and found[place].kind not in ("line", "end"):
        if found[place].kind == "relation":
            return False
        place += 1
    return True


def _is_pause(word: Word) -> bool:
    return word.kind in _PAUSES or word.is_sign(_INFIX)
