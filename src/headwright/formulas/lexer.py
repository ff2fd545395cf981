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
from fractions import Fraction
from functools import cached_property
from typing import Final, NoReturn

from headwright.formulas import spellings
from headwright.formulas import tree as t
from headwright.formulas.errors import (
    DEEPEST,
    LARGEST_EXPONENT,
    MOST_DIGITS,
    FormulaError,
)
from headwright.formulas.spellings import ACCENTS, COMMANDS, FUNCTIONS, NAMES

_INVISIBLE = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\ufeff\u00ad"
_END_OF_PROOF = "\u220e\u25a0\u25a1\u25fb\u25fc\u2713\u2714"
_EQUATION = r"\\q?quad\s*\((?:[0-9]{1,3}[a-z]?|\*)\)(?=[\s.,;&]*(?:\\\\|\\end\b|\Z))"  # its number, at the end
_WORD = re.compile(
    rf"""(?P<space>(?:[^\S\n]|[{_INVISIBLE}{_END_OF_PROOF}$]|%[^\n]*|\\[,;:!>\s/()\[\]-]|{_EQUATION})+)
    |(?P<soft>\n)
    |(?P<line>\\\\\*?(?:\[\s*-?[0-9.]{{1,9}}\s*(?:pt|em|ex|mm|cm|in)\s*\])?)
    |(?P<command>\\[A-Za-z]+)
    |(?P<number>(?:[0-9]{{1,3}}(?:(?:\{{,\}}|\\,)[0-9]{{3}})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<letters>[A-Za-z]+)
    |(?P<transposed>\.T(?![A-Za-z0-9_]))
    |(?P<angle><(?=[^\s<>=,][^<>=,]*,[^<>=,]*[^\s<>=,-]>(?![A-Za-z0-9(\[]|\\(?!(?:[lgn]eq?|ll|gg|approx|to|q?quad)\b|\W))))
    |(?P<sign>{"|".join(sorted(map(re.escape, spellings.SIGNS), key=len, reverse=True))})
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_SMALLEST = Fraction(1, 10**LARGEST_EXPONENT)
_NAMED = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_LETTERS = re.compile(r"[A-Za-z]+")
_PHRASES: Final = tuple(
    (re.compile(pattern), meaning) for pattern, meaning in spellings.PHRASES
)
_KNOWN_WORDS: Final = sorted({*NAMES, *FUNCTIONS, *spellings.SPOKEN})
_STARTS: Final = tuple({*FUNCTIONS, *spellings.GREEK} - {"Pr", "Pi", "Xi"})
_PLAIN_ARGUMENT = re.compile(r"\s*\{([^{}\\$]*)\}")
_SHORT_ARGUMENT = re.compile(r"\s*\{\s*(\\?[A-Za-z]+|[01])\s*\}")
_ONE = re.compile(r"\s*(?:\{\s*([01])\s*\}|([01])(?![0-9]))")
_ACCENTED = re.compile(
    rf"\s*(?:\{{\s*(?:\\(?:{'|'.join(sorted(spellings.STYLES))})\s*)?(?:\{{\s*(\\[A-Za-z]+|[A-Za-z])\s*\}}"
    r"|(\\[A-Za-z]+|[A-Za-z]))\s*\}|(\\[A-Za-z]+|[A-Za-z]))"
)
_CAPITAL = re.compile(r"\s*(?:\{\s*([EPRZN])\s*\}|([EPRZN])(?![A-Za-z]))")
_BRACKET = re.compile(
    r"\s*\}?\s*(?:\\(?:left|[bB]igg?l?)\s*)?(?:[(\[]|\\\{)"
)  # that comes next
_SAID_OF = re.compile(
    r"\s*\}\s*(?:[=<>_^]|\\(?:leq?|geq?|approx|to|gg|ll|neq?|sim)(?![A-Za-z]))"
)
_TAG = re.compile(
    r"\\(?:label|tag|[hv]space|color|[hv]?phantom)\*?(?:\s*\{[^{}\\$]*\})?(?![A-Za-z])"
)  # it says nothing
_OPENER = re.compile(r"\s*\{")
_LABEL = re.compile(r"\s*[_^]\s*(?:\{|\\text\s*\{|\\mathrm\s*\{|\\[A-Za-z]+|[^\s\\{}])")
_OPTION = re.compile(r"\s*\[([^\[\]]*)\]")
_STATES = re.compile(
    r"\\(?:to|rightarrow|longrightarrow|gg|ll|geq?|leq?|neq?)(?![A-Za-z])|[→≫≪≥≤<>]|[a-z}]\s*=\s*\S"
)
_PLUS = re.compile(r"\+")
_DOTS = re.compile(r"\s*(?:\\(?:l|c)?dots[cbm]?|\.\.\.|…|⋯)\s*")
_TIMES = re.compile(
    r"\s*([A-Za-z0-9]{1,9})\s*\\(?:text|textrm|mathrm|mbox)\{\s*(?:times|terms|summands|copies)\s*\}\s*"
)
_DENIED = re.compile(r"\s*(=|<|>|\\[A-Za-z]+)")
_ENVIRONMENT = re.compile(r"\s*\{([A-Za-z]+)\*?\}")
_SIDED = re.compile(r"\s*(?:\\\||\\[Vv]ert|‖|\|\|?|[<>.])?")
_SIDES: Final = {
    "\\|": "||",
    "\\Vert": "||",
    "‖": "||",
    "||": "||",
    "|": "|",
    "\\vert": "|",
    "<": "<",
    ">": "<",
}
_KNOWN_COMMANDS: Final = sorted(
    {
        *COMMANDS,
        *ACCENTS,
        *spellings.STYLES,
        *spellings.TEXTS,
        "left",
        "right",
        "begin",
        "end",
    }
)


@dataclass(frozen=True)
class Word:
    """One word: its kind, its one spelling (the base of a name, the sign of a relation), where, and whether spaced."""

    kind: str
    text: str
    span: t.Span
    spaced: bool = False

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of these signs."""
        return self.kind == "sign" and self.text in signs


def words(source: str, names: Collection[str] = ()) -> list[Word]:
    r"""All words of the source, in order, ending with one of the kind 'end'."""
    lexer = _Lexer(source, names)
    while lexer.at < len(source):
        lexer.step()
    lexer.add("end", "", 0)
    return lexer.found


# letters that may be a second index without braces: \\alpha_ij
_COMMON_INDICES = frozenset("abcdijklmnprst")


class _Lexer:
    """Reads a source, word by word; every method reads what comes next, and moves on."""

    def __init__(self, source: str, names: Collection[str]) -> None:
        self.source = source
        self.names = {
            part
            for name in names
            for part in name.split("_")
            if len(part) > 1 and part.isascii()
        }
        self.glued = {
            name.replace("_", ""): name for name in names if name.count("_") == 1
        }  # ka for k_a
        self.at = 0
        self.spaced = False
        self.begin: int | None = (
            None  # where the next word begins, if a wrapping such as \\mathbf{ came before it
        )
        self.found: list[Word] = []
        self.angles: set[int] = set()  # where <a, b> is closed
        self.jumps: dict[
            int, int
        ] = {}  # over braces that group nothing, \mathbf{x}, and labels: \underbrace{x}_{y}

    def add(self, kind: str, text: str, length: int) -> None:
        """A word that is written in the next `length` characters."""
        if (
            kind == "name"
            and text in ("O", "o", "Theta", "Omega")
            and _BRACKET.match(self.source, self.at + length)
        ):
            self.fail(
                "orders of magnitude are not read",
                length,
                "write a bound, or what it tends to",
            )
        start = self.at if self.begin is None else self.begin
        self.found.append(
            Word(kind, text, t.Span(start, self.at + length), self.spaced)
        )
        self.begin = None
        self.at += length
        self.spaced = False

    def skip(self, length: int) -> None:
        """Pass over characters that count as a space."""
        self.at += length
        self.spaced = True

    def fail(self, message: str, length: int, fix: str = "") -> NoReturn:
        """Say what is wrong with the next characters."""
        raise FormulaError(
            message, self.source, t.Span(self.at, self.at + length), fix=fix
        )

    def last(self) -> tuple[str, str]:
        """Kind and spelling of the word before."""
        return (self.found[-1].kind, self.found[-1].text) if self.found else ("", "")

    def is_after(self, *texts: str) -> bool:
        """Whether the last words are these signs."""
        found = [
            word.text if word.kind in ("sign", "open", "command") else ""
            for word in self.found[-len(texts) :]
        ]
        return found == list(texts)

    def step(self) -> None:
        """One word, or a space."""
        source, at = self.source, self.at
        if at in self.jumps:
            if self.found and self.found[-1].span.stop == at:
                self.found[-1] = replace(
                    self.found[-1],
                    span=t.Span(self.found[-1].span.start, self.jumps[at]),
                )
            self.at = self.jumps[at]
            return
        match = _WORD.match(source, at)
        kind, text = (
            (match.lastgroup or "", match.group()) if match else ("other", source[at])
        )
        tied = (
            text == "~"
            and "\\" in source
            and not self.spaced
            and not source[at + 1 : at + 2].isspace()
        )
        if (
            kind == "space" or tied
        ):  # LaTeX's tied space, where it is tight in a formula with commands
            self.skip(len(text))
        elif kind in ("soft", "line", "transposed"):
            self.add(kind, kind, len(text))
        elif kind == "angle":
            self.angles.add(source.index(">", at))
            self.add("open", "<", 1)
        elif at in self.angles:
            self.add("close", "<", 1)
        elif kind == "sign":
            self.add(*spellings.SIGNS[text], len(text))
        else:
            {
                "command": self.command,
                "number": self.number,
                "letters": self.letters,
                "other": self.other,
            }[kind](text)

    # Letters

    def letters(self, run: str) -> None:
        """A run of letters, perhaps with the digits of a name that the exercise gives."""
        match = _NAMED.match(self.source, self.at)
        named = match.group() if match else run
        if named in self.names:
            self.add("name", named, len(named))
        elif named in self.glued and not self.source.startswith(
            "_", self.at + len(named)
        ):
            base, index = self.glued[named].split("_")
            self.add("name", base, len(base))
            self.found.append(Word("sign", "_", t.Span(self.at, self.at)))
            self.add("number" if index.isdigit() else "name", index, len(index))
        elif run == "E" and self.source.startswith(("[", "("), self.at + 1):
            self.add("function", "E", 1)
        elif (
            run == "N"
            and self.last() == ("relation", "~")
            and _BRACKET.match(self.source, self.at + 1)
        ):
            self.add("function", "N", 1)
        elif run in self.names or len(run) == 1:
            self.add("name", run, len(run))
        elif not self.is_known(run):
            self.running(run)

    def is_known(self, run: str) -> bool:
        """Whether it is a word that was read: a function, a Greek letter, 'for', or several such as 'as long as'."""
        for pattern, meaning in _PHRASES:
            if match := pattern.match(self.source, self.at):
                self.add(*meaning, len(match.group()))
                return True
        if run == "log" and self.source[self.at + 3 : self.at + 4].isdigit():
            self.fail(
                "log directly before a digit can mean a base or an argument",
                4,
                "write log_2(x) or log(2)",
            )
        kind, text = spellings.SPOKEN.get(run, ("name", NAMES.get(run, "")))
        if run in FUNCTIONS:
            kind, text = "function", FUNCTIONS[run]
        if text:
            self.add(kind, text, len(run))
        return bool(text)

    def running(self, run: str) -> None:
        """Letters side by side: a name each, unless they look like a word."""
        after = self.source[self.at + len(run) : self.at + len(run) + 1]
        is_latex = "\\" in self.source
        alone = self.is_after("^") and (
            run[0] == "T" or is_latex
        )  # x^Ty; in LaTeX x^nk is x^n k
        product = is_latex and _COMMON_INDICES.isdisjoint(run[1:])  # \\nabla_zL
        given = (
            len(self.found) > 1
            and f"{self.found[-2].text}_{run[0]}" in self.glued.values()
        )
        bound = self.is_after("sum", "_")  # \\sum_ie^{x_i} is \\sum_i e^{x_i}
        if alone or (
            self.is_after("_") and (after == "_" or given or bound or product)
        ):  # u_bu_b is u_b u_b, R_tq is R_t q
            self.add("name", run[0], 1)
        elif self.is_after("_", "{") and len(run) > 2 and after == "}":
            self.add("name", run, len(run))
        elif self.is_after("^") or self.is_after("_") or self.is_after("**"):
            mark = self.found[-1].text
            fix = f"write {mark}{{{run}}} for all of it, or {mark}{{{run[0]}}} {run[1:]} for a product"
            self.fail(
                f"{mark}{run} without braces can be read in two ways", len(run), fix
            )
        else:
            self.refuse_prose(run)
            for letter in run:
                self.add("name", letter, 1)

    def refuse_prose(self, run: str) -> None:
        """Refuse letters that look like a word."""
        fix = ""
        if run in COMMANDS and run != "cr":
            fix = f"write \\{run}, or spaces for a product"
        elif run.startswith(_STARTS) or run.endswith(tuple(FUNCTIONS)):
            fix = "write a space between the function or the Greek letter and what stands beside it"
        elif run in spellings.PROSE or (len(run) > 3 and run[1:].islower()):
            near = get_close_matches(run[:40], [*_KNOWN_WORDS, *self.names], 1, 0.75)
            fix = (
                f"did you mean {near[0]}?"
                if near
                else "write formulas only; a product of letters needs spaces"
            )
        if fix:
            self.fail(f"{run[:40]} is not a known word", len(run), fix)

    # Commands

    def command(self, written: str) -> None:
        """What a command stands for."""
        name, length = written[1:], len(written)
        if name in COMMANDS:
            self.add(*COMMANDS[name], length)
        elif name in spellings.DROPPED:
            self.skip(length)
        elif tag := _TAG.match(self.source, self.at):
            self.skip(len(tag.group()))
        else:
            length += name in spellings.TEXTS and self.source.startswith(
                "*", self.at + length
            )
            known = (
                ((*spellings.LEFTS, *spellings.RIGHTS), self.sided),
                (spellings.TEXTS, self.text),
                (spellings.STYLES, self.styled),
                (ACCENTS, self.accented),
                (("begin", "end"), self.environment),
                (("not",), self.denied),
                (("underbrace", "overbrace"), self.braced),
                (("overset", "stackrel", "underset"), self.stacked),
                (spellings.LONG_ARROWS, self.arrow),
            )
            next((read for names, read in known if name in names), self.unknown)(
                name, length
            )

    def unknown(self, name: str, length: int) -> NoReturn:
        """Refuse a command, with the closest known one."""
        near = get_close_matches(name[:40], _KNOWN_COMMANDS, 1)
        fix = (
            f"did you mean \\{near[0]}?"
            if near
            else "write a name as a single letter, with an index if need be"
        )
        if name in FUNCTIONS or name in NAMES or name in self.names:
            fix = f"write {name} without the backslash, or \\operatorname{{{name}}}"
        self.fail(
            f"\\{name[:40]} is not a command of the formula language", length, fix
        )

    def denied(self, _: str, length: int) -> None:
        r"""\not before a relation: \not=, \not\approx, \not\in."""
        rest = _DENIED.match(self.source, self.at + length)
        sign = rest.group(1).lstrip("\\") if rest else ""
        sign = spellings.RELATIONS.get(sign, sign)
        if (
            rest is None
            or sign not in ("=", "<", ">", *spellings.RELATIONS.values())
            or sign.startswith("!")
        ):
            self.fail(
                "\\not is read only before a relation",
                length,
                "write \\neq, or the opposite relation",
            )
        self.add("relation", f"!{sign}", length + len(rest.group()))

    def braced(self, name: str, length: int) -> None:
        r"""\underbrace{x}_{label} is x; \underbrace{x + \dots + x}_{k \text{ times}} is (k)(x)."""
        content = self.group(self.at + length)
        if content is None:
            self.fail(
                f"\\{name} needs its argument in braces", length, "add the braces"
            )
        self.skip(length)
        mark = _LABEL.match(self.source, content.stop + 1)
        if mark is None:
            return
        stop = self.braces.get(mark.end() - 1, mark.end() - 1) + 1
        counted = self.counted(content, self.source[mark.end() : stop - 1])
        if counted:
            self.found += counted
            self.at = stop
        else:
            self.jumps[content.stop + 1] = stop

    def counted(self, content: t.Span, label: str) -> list[Word]:
        """The words of (k)(x), where equal terms are counted by a label; else none."""
        terms = _PLUS.split(self.source[content.start : content.stop])
        count = _TIMES.fullmatch(label)
        dots = [term for term in terms if _DOTS.fullmatch(term)]
        others = {re.sub(r"\s", "", term) for term in terms if term not in dots}
        if count is None or not dots or len(others) != 1:
            return []
        product: list[Word] = []
        for factor in (count[1], terms[0]):
            inside = words(factor, self.names)[:-1]
            product += [
                Word("open", "(", content),
                *(replace(word, span=content) for word in inside),
                Word("close", "(", content),
            ]
        return product

    def stacked(self, name: str, length: int) -> None:
        r"""\overset{label}{=} is =; \overset{x \to 0}{\to} is an arrow with its condition."""
        label = self.group(self.at + length)
        base = None if label is None else self.group(label.stop + 1)
        if label is None:
            self.fail(
                f"\\{name} needs its argument in braces", length, "add the braces"
            )
        if base is not None and self.says_something(label):
            inside = words(self.source[base.start : base.stop], self.names)[:-1]
            place = t.Span(self.at, base.stop + 1)
            self.found += [replace(word, span=place) for word in inside]
            self.add_label(label)
            self.at = base.stop + 1
            return
        self.skip(length)
        self.at = label.stop + 1
        self.unwrap(0)

    def arrow(self, name: str, length: int) -> None:
        r"""\xrightarrow[x \to 0]{y \to 1}: an arrow with what it is said for."""
        start = self.at
        self.add("relation", "->", length)
        option = _OPTION.match(self.source, self.at)
        if option is not None:
            label = t.Span(option.start(1), option.end(1))
            if self.says_something(label):
                self.add_label(label)
            self.at = option.end()
        above = self.group(self.at)
        if above is None:
            self.at = start
            self.fail(f"\\{name} needs its label in braces", length, "add the braces")
        if self.says_something(above):
            self.add_label(above)
        elif _NAMED.search(self.source[above.start : above.stop]):
            self.at = start  # convergence in law, in probability
            self.fail(f"what \\{name} stands for is not read", length, "write \\to")
        self.at = above.stop + 1

    def says_something(self, label: t.Span) -> bool:
        """Whether a label is a statement: n \\to \\infty."""
        return _STATES.search(self.source[label.start : label.stop]) is not None

    def add_label(self, label: t.Span) -> None:
        """The words of a label, in brackets of their own kind."""
        inside = words(self.source[label.start : label.stop], self.names)[:-1]
        moved = [
            replace(
                word,
                span=t.Span(
                    label.start + word.span.start, label.start + word.span.stop
                ),
            )
            for word in inside
        ]
        self.found.append(Word("open", "label", t.Span(label.start, label.start)))
        self.found += moved
        self.found.append(Word("close", "label", t.Span(label.stop, label.stop)))

    def group(self, start: int) -> t.Span | None:
        """What stands in the braces that come next."""
        opener = _OPENER.match(self.source, start)
        closer = None if opener is None else self.braces.get(opener.end() - 1)
        if opener is None or closer is None:
            return None
        return t.Span(opener.end(), closer)

    def unwrap(self, length: int) -> None:
        """Drop a command and the braces of its argument, but keep what is inside."""
        self.skip(length)
        opener = _OPENER.match(self.source, self.at)
        if (
            opener is not None
            and (closer := self.braces.get(opener.end() - 1)) is not None
        ):
            self.jumps |= {opener.end() - 1: opener.end(), closer: closer + 1}

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

    def sided(self, name: str, length: int) -> None:
        r"""\left( and \right): the size says nothing, but a bar now has a side."""
        self.skip(length)
        match = _SIDED.match(self.source, self.at)
        mark = match.group().lstrip() if match else ""
        self.at = match.end() - len(mark) if match else self.at
        if mark in _SIDES:
            self.add(
                "open" if name in spellings.LEFTS else "close", _SIDES[mark], len(mark)
            )
        else:
            self.skip(len(mark))

    def environment(self, name: str, length: int) -> None:
        r"""\begin and \end: a matrix, or lines that are read as they are."""
        argument = _ENVIRONMENT.match(self.source, self.at + length)
        if argument is None:
            self.fail(
                f"\\{name} needs the name of an environment",
                length,
                f"write \\{name}{{aligned}}",
            )
        environment, length = argument.group(1), argument.end() - self.at
        if environment in ("cases", "dcases", "rcases"):
            self.add("open" if name == "begin" else "close", "cases", length)
        elif environment in spellings.MATRICES:
            self.add("open" if name == "begin" else "close", "matrix", length)
        elif environment in spellings.DROPPED_ENVIRONMENTS:
            self.skip(length)
        else:
            self.fail(
                f"the environment {environment[:40]} is not read",
                length,
                "use aligned, cases or pmatrix",
            )

    # Text, styles and accents

    def text(self, name: str, length: int) -> None:
        r"""\text{for all }, \operatorname{tr}, \mathrm{T}: the words inside, without their braces."""
        argument = _PLAIN_ARGUMENT.match(self.source, self.at + length)
        if argument is None:
            self.unwrap(length)
            return
        start, word, stop = self.at, argument.group(1).strip(), argument.end()
        self.skip(argument.start(1) - start)
        if _LETTERS.fullmatch(word):
            self.skip(argument.group(1).index(word))
            self.single(name, word)
            if self.found and self.found[-1].span.start > start:
                self.found[-1] = replace(self.found[-1], span=t.Span(start, stop))
            self.at = stop
        else:
            self.jumps[stop - 1] = stop

    def single(self, command: str, word: str) -> None:
        r"""One word in a \text: known, a label of an index or exponent, a name before a relation: \text{Output} = x."""
        if command == "operatorname" and word in ("E", "P"):
            self.add("function", word, len(word))
        elif word in self.names or not self.is_known(word):
            if command == "operatorname" and word not in self.names and len(word) > 1:
                near = get_close_matches(word[:40], FUNCTIONS, 1) or ["tr"]
                self.fail(
                    f"{word[:40]} is not a known function",
                    len(word),
                    f"use one that is, such as {near[0]}",
                )
            label = any(
                self.is_after(*signs)
                for signs in (("_",), ("_", "{"), ("^",), ("^", "{"))
            )
            alone = self.last()[0] in (
                "",
                "relation",
                "logic",
                "line",
                "quad",
                "soft",
                "sign",
            )
            said_of = (
                alone
                and word.lower() not in spellings.PROSE
                and _SAID_OF.match(self.source, self.at + len(word))
            )
            if (
                command.startswith(("text", "mbox"))
                and word not in self.names
                and not label
                and not said_of
            ):
                self.refuse_prose(word)
            self.add("name", word, len(word))

    def styled(self, name: str, length: int) -> None:
        r"""\mathbf{K} is K; \mathbf{1} is the vector of ones; \mathbb{E} and \mathbb{P} are the mean and the chance."""
        start, after = self.at, self.at + length
        if digit := _ONE.match(self.source, after):
            one = "1" in digit.group()
            self.add(
                "name" if one else "number", "ones" if one else "0", digit.end() - start
            )
            return
        if special := _CAPITAL.match(self.source, after):
            letter = special.group(1) or special.group(2)
            called = bool(_BRACKET.match(self.source, special.end()))
            board = name in ("mathbb", "mathds", "mathbbm")
            mean = board and (letter == "E" or (letter == "P" and called))
            normal = name in ("mathscr", "mathcal") and letter == "N" and called
            if mean or normal or (board and letter in "RZN"):
                self.add(
                    "function" if mean or normal else "domain",
                    letter,
                    special.end() - start,
                )
                return
        self.skip(length)
        if short := _SHORT_ARGUMENT.match(self.source, after):
            opener = self.source.index("{", after)
            self.jumps |= {opener: opener + 1, short.end() - 1: short.end()}
            self.begin = start

    def accented(self, name: str, length: int) -> None:
        r"""\hat{x} is a name of its own."""
        match = _ACCENTED.match(self.source, self.at + length)
        letter = next((group for group in match.groups() if group), "") if match else ""
        base = NAMES.get(letter[1:], "") if letter.startswith("\\") else letter
        if match is None or not base:
            self.fail(
                f"\\{name} is read over a single letter only",
                length,
                f"write \\{name}{{x}}",
            )
        self.add("name", base + ACCENTS[name], match.end() - self.at)

    # Numbers and signs

    def number(self, text: str) -> None:
        """A number; refused where it is glued to a name, or too long or too large to be written out."""
        if self.is_after("_"):
            text = re.split(r"[^0-9]", text, maxsplit=1)[0] or text
        length = len(text)
        text = text.replace("{,}", "").replace("\\,", "")  # 1{,}000 is 1000
        last = self.found[-1] if self.found else None
        fraction = len(self.found) > 1 and (
            self.found[-2].kind,
            self.found[-2].text,
        ) == ("command", "frac")
        if (
            last is not None
            and last.span.stop == self.at
            and last.kind == "name"
            and not fraction
        ):  # but \frac n2
            name, shown = self.source[last.span.start : last.span.stop], text[:9]
            fix = f"write {name}_{shown} for the index, or {name} * {shown} for the product"
            place = t.Span(last.span.start, self.at + len(text))
            raise FormulaError(
                f"{name}{shown} can mean an index or a product",
                self.source,
                place,
                fix=fix,
            )
        power = text.lower().partition("e")[2].lstrip("+-0")
        value = (
            Fraction(text) if len(text) <= MOST_DIGITS + 6 and len(power) <= 4 else None
        )
        digits = sum(c.isdigit() for c in text.lower().partition("e")[0])
        if (
            digits > MOST_DIGITS
            or value is None
            or (value and not _SMALLEST <= value < 10 / _SMALLEST)
        ):
            message = f"a number has more than {MOST_DIGITS} digits, or is outside 1e-400 to 1e400"
            self.fail(
                message,
                len(text),
                "write it as a power, such as 10^{1000}, or round it",
            )
        self.add("number", text, length)

    def other(self, c: str) -> None:
        """A letter that is not ASCII, or raised or lowered characters (x², k₁, Kᵀ)."""
        simple = unicodedata.normalize("NFKC", c)
        letter = spellings.LETTERS.get(c) or spellings.LETTERS.get(simple)
        form = unicodedata.decomposition(c).partition(" ")[0]
        if letter or (
            len(simple) == 1
            and simple.isascii()
            and simple.isalpha()
            and form == "<font>"
        ):
            self.add("name", letter or simple, 1)
        elif form in ("<super>", "<sub>"):
            stop = self.at + 1
            while unicodedata.decomposition(
                self.source[stop : stop + 1] or " "
            ).startswith(form):
                stop += 1
            place = t.Span(self.at, stop)
            inside = words(unicodedata.normalize("NFKC", self.source[self.at : stop]))[
                :-1
            ]
            mark = Word(
                "sign", "^" if form == "<super>" else "_", t.Span(self.at, self.at)
            )
            braced = [
                Word("open", "{", place),
                *(replace(word, span=place) for word in inside),
                Word("close", "{", place),
            ]
            self.found += [mark, *braced]
            self.at = stop
        else:
            shown = c if c.isprintable() else f"U+{ord(c):04X}"
            self.fail(f"{shown} is not a sign of the formula language", 1, "remove it")


_INFIX = ("+", "-", "*", "/", ".", "⊙", ",", ";", ":", "^", "_")
_JOINS = ("relation", "logic", "condition", "then")
_PAUSES = (*_JOINS, "line", "end", "quad")


def partners(found: list[Word], source: str) -> dict[int, int]:
    """The place of the closing word for that of each opening word."""
    waiting: list[int] = []
    pairs: dict[int, int] = {}
    for place, word in enumerate(found):
        if word.kind == "open":
            waiting.append(place)
            if len(waiting) > DEEPEST:
                fix = "give a part of the formula a name of its own"
                raise FormulaError(
                    f"brackets are nested more than {DEEPEST} deep",
                    source,
                    word.span,
                    fix=fix,
                )
        elif word.kind == "close":
            shown = source[word.span.start : word.span.stop]
            if not waiting:
                fix = f"remove {shown}, or open a bracket before it"
                raise FormulaError(
                    f"{shown} closes nothing: no bracket is open here",
                    source,
                    word.span,
                    fix=fix,
                )
            opener = found[waiting[-1]]
            before = found[waiting[-1] - 1] if waiting[-1] else word
            half_open = (before.kind, before.text[-2:]) == ("relation", "in") and {
                opener.text,
                word.text,
            } <= {"(", "["}
            if opener.text != word.text and not half_open:  # x in [0, 1)
                message = f"the bracket {source[opener.span.start : opener.span.stop]} meets {shown} before it is closed"  # noqa: E501
                raise FormulaError(
                    message, source, opener.span, fix="close it before that"
                )
            pairs[waiting.pop()] = place
    if waiting:
        opener = found[waiting[-1]]
        message = f"the bracket {source[opener.span.start : opener.span.stop]} is never closed"
        raise FormulaError(
            message, source, opener.span, fix="add its partner where the bracket ends"
        )
    return pairs


def arranged(found: list[Word], source: str) -> list[Word]:
    """The words without the spaces and the line breaks that mean nothing."""
    pairs = partners(found, source)
    hard = any(word.kind == "line" for word in found)
    kept: list[Word] = []
    inside: list[str] = []  # the brackets that are open
    for place, word in enumerate(found):
        if word.kind == "soft":
            # A line break of the text is one of the formula where a new statement begins.
            if inside or hard or not kept:
                continue
            if not _breaks(found, place + 1, pairs, kept[-1]):
                continue
            word = Word("line", "line", t.Span(word.span.start, word.span.start))
        if word.kind == "open":
            inside.append(word.text)
        elif word.kind == "close":
            inside.pop()
        if _means_nothing(word, kept[-1:], _next_word(found, place), inside):
            continue
        ends_line = word.kind in ("line", "end") and not _in_table(inside)
        if ends_line and word.kind == "line" and _continues(found, place + 1):
            continue
        if ends_line:
            while kept and _is_stop(kept[-1]):
                kept.pop()
        if ends_line and word.kind == "line" and not kept:
            continue
        kept.append(word)
    for word in kept:
        if word.kind == "stop":
            message = "a full stop stands inside the formula"
            fix = "remove it, or write \\cdot"
            raise FormulaError(message, source, word.span, fix=fix)
    return kept


def _in_table(inside: list[str]) -> bool:
    return inside[-1:] in (["cases"], ["matrix"])


def _next_word(found: list[Word], place: int) -> Word:
    """The word behind a place, line breaks of the text aside; the last one behind the last."""
    following = min(place + 1, len(found) - 1)
    while found[following].kind == "soft":
        following += 1
    return found[following]


def _means_nothing(
    word: Word, before: list[Word], after: Word, inside: list[str]
) -> bool:
    """Marks of an alignment outside of tables, line breaks in brackets, spaces beside signs, stops in cells."""
    table = _in_table(inside)
    if word.kind == "amp" or (word.kind == "line" and inside):
        return not table
    if word.kind == "quad":
        beside = [*before, after]
        paused = any(one.kind in _PAUSES or one.is_sign(*_INFIX) for one in beside)
        return bool(inside) or not before or paused
    return word.kind == "stop" and table and after.kind in ("line", "close", "amp")


def _is_stop(word: Word) -> bool:
    """The full stop or comma at the end of a line."""
    return word.kind in ("stop", "quad", "line") or word.is_sign(",", ";")


def _breaks(found: list[Word], start: int, pairs: dict[int, int], last: Word) -> bool:
    """Whether a new statement begins after a line break."""
    first = found[start]
    if last.kind in (*_JOINS, "line") or last.is_sign(*_INFIX):
        return False
    if first.kind in ("soft", "end"):
        return first.kind == "soft"  # an empty line ends a statement
    if first.kind in (*_JOINS, "close") or first.is_sign(*_INFIX):
        return False
    while found[start].kind not in ("soft", "end", "relation"):
        start = pairs.get(start, start) + 1
    return found[start].kind == "relation"


def _continues(found: list[Word], place: int) -> bool:
    """Whether a line goes on with the line before: it begins with + or *, or with - and has no relation."""
    first = found[place]
    if not first.is_sign("+", "-", "*", "/", ".", "⊙"):
        return False
    while first.text == "-" and found[place].kind not in ("line", "end"):
        if found[place].kind == "relation":
            return False
        place += 1
    return True
