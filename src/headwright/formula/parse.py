r"""A formula read: LaTeX, plain text or Python's spelling into one tree, or an error that points at the source.

A formula may go on from the one before: '= P Z', '\implies a = b', 'for all i \ne j'. It is read with a Gap where the
one before belongs; `goes_on` tells it, and `joined` closes the gap. `parse_each` reads row by row what cannot be read
as a whole. Commands that a document defines with \newcommand are put in place of their uses before all that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from headwright.formula import tree as t
from headwright.formula.dots import chains_written_out
from headwright.formula.errors import LARGEST, LONGEST, TALLEST, FormulaError
from headwright.formula.lexer import arranged, words
from headwright.formula.parser import Parser
from headwright.formula.spellings import MATRICES
from headwright.formula.statements import Interval

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
    places: tuple[t.Span, ...] = ()

    def original(self, span: t.Span, source: str) -> t.Span:
        """The place in the source as it was written."""
        if not self.places:
            return t.Span(span.start, span.stop, source)
        end = t.Span(len(source), len(source))
        first, last = (self.places[at] if at < len(self.places) else end for at in (span.start, max(0, span.stop - 1)))
        return t.Span(first.start, max(first.start, last.stop if span.stop > span.start else first.start), source)


def macros(text: str) -> dict[str, Macro]:
    r"""The commands that a text defines.

    >>> list(macros(r"\newcommand{\R}{\mathbb{R}}"))
    ['R']
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
    r"""The source with every macro in its place, its own definitions passed over."""
    own = _definitions(source) if _START.search(source) else []
    if not own and not any(match in known for match in _USE.findall(source)):
        return Expanded(source)
    known = {**known, **{name: macro for name, macro, _ in own}}
    blank = source
    for _, _, (start, stop) in own:
        blank = blank[:start] + " " * (stop - start) + blank[stop:]
    places = [t.Span(at, at + 1) for at in range(len(source))]
    expansion = _Expansion(known, source)
    expansion.put(blank, places, 0)
    return Expanded("".join(expansion.characters), tuple(expansion.places))


class _Expansion:
    """Characters and their places, as they are put in; bounded in depth and length."""

    def __init__(self, known: Mapping[str, Macro], source: str) -> None:
        self.known = known
        self.source = source
        self.characters: list[str] = []
        self.places: list[t.Span] = []
        self.done = 0

    def put(self, text: str, places: list[t.Span], depth: int) -> None:
        at = 0
        for match in _USE.finditer(text):
            macro = self.known.get(match.group(1))
            if macro is None or match.start() < at:
                continue
            self.add(text[at : match.start()], places[at : match.start()])
            if depth >= DEEPEST:
                self.fail(f"\\{match.group(1)} is defined by itself, or too deep", places[match.start()])
            at, arguments = self.arguments(text, match.end(), macro.arguments)
            use = t.Span(places[match.start()].start, places[at - 1].stop)
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

    def add(self, text: str, places: list[t.Span]) -> None:
        self.done += len(text) + (not text)
        if self.done > LONGEST:
            self.fail(f"with its commands put in, the formula has more than {LONGEST} characters", places[0])
        self.characters.extend(text)
        self.places.extend(places[: len(text)])

    def fail(self, message: str, place: t.Span) -> None:
        raise FormulaError(message, self.source, place, fix="write it out")


def _argument(given: list[str], mark: re.Match[str]) -> str:
    place = int(mark.group(1)) - 1
    return given[place] if place < len(given) else mark.group()


def parse(source: str, *, names: Collection[str] = (), macros: Mapping[str, Macro] | None = None) -> t.Node:
    r"""The tree of a formula. `names` are words of several letters that the exercise knows, `macros` its \newcommands.

    Several statements become one: a Logic 'and'. Nothing is evaluated.

    >>> parse(r"\frac{1}{2}") == parse("1/2")
    True
    >>> parse("tol", names=["tol"])
    Name(span=Span(start=0, stop=3), base='tol', index=None, primes=0)
    >>> parse("q = k_a +")
    Traceback (most recent call last):
    headwright.formula.errors.FormulaError: q = k_a +
                                                    ^
    the formula ends after +, where a number, a name or a bracket was expected
    understood so far: q =
    fix: add what comes after the sign, or remove the sign
    """
    if len(source) > LONGEST:
        message = f"the formula has {len(source)} characters, and at most {LONGEST} are read"
        raise FormulaError(message, source, t.Span(LONGEST, len(source)), fix="split it into several formulas")
    written = expanded(source, macros or {})
    reader: Parser | None = None
    try:
        reader = Parser(arranged(words(written.text, names), written.text), written.text)
        node = reader.whole()
        _check(node, source, written)
    except FormulaError as error:
        raise error.moved(written.original(error.span, source), _understood(reader, error)) from None
    except RecursionError:  # only where the caller has used up the stack already
        raise FormulaError("the formula is nested too deeply", source, t.Span(0, 1), fix="name a part of it") from None
    return chains_written_out(node)


def parse_lines(
    source: str, *, names: Collection[str] = (), macros: Mapping[str, Macro] | None = None
) -> tuple[t.Node, ...]:
    r"""The statements of a source, in order: lines, and what is joined by commas, semicolons or 'and'.

    A line that begins with a relation continues the chain before it.

    >>> len(parse_lines(r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_b"))
    2
    >>> [len(chain.terms) for chain in parse_lines(r"a &= b \\ &= c \\ d &= e")]
    [3, 2]
    """
    return t.conjuncts(parse(source, names=names, macros=macros))


def _understood(reader: Parser | None, error: FormulaError) -> str:
    """What was read before the place of the error, if that is more than nothing."""
    if reader is None or not reader.parts_read:
        return ""
    first, last = reader.parts_read[0].span, reader.parts_read[-1].span
    return " ".join(reader.source[first.start : min(last.stop, error.span.start)].split())[-60:]


def _check(node: t.Node, source: str, written: Expanded) -> None:
    """Refuse a tree that is too large or too tall, and statements where only values can stand."""
    first = node  # where a Gap may stand: at the very beginning of what is said
    while isinstance(first, t.Quantified | t.Exists | t.Relation | t.Logic):
        first = next(first.children())
    waiting: list[tuple[t.Node, int]] = [(node, 1)]
    count = 0
    while waiting:
        current, height = waiting.pop()
        count += 1
        if count > LARGEST:
            fix = "split it into several statements"
            raise FormulaError(f"the formula has more than {LARGEST} parts", "", current.span, fix=fix)
        if height > TALLEST:
            fix = "give a part of it a name of its own"
            raise FormulaError(f"the formula is built more than {TALLEST} levels high", "", current.span, fix=fix)
        # The tree is not shared yet: from here on every part can point at its own source.
        object.__setattr__(current, "span", written.original(current.span, source))
        for child in current.children():
            _check_part(current, child, child is first)
            waiting.append((child, height + 1))


def _check_part(node: t.Node, child: t.Node, first: bool) -> None:
    message, fix = "", ""
    if isinstance(child, Interval):
        message, fix = "an interval is read after 'in', alone", "write x \\in [0, 1), and nothing more on that side"
    elif isinstance(child, t.Dots) and not isinstance(node, t.Listing | t.Relation | t.Call):
        message, fix = "dots leave open what is meant", "write the sum with \\sum, or list every term"
    elif isinstance(child, t.Gap) and not first:
        message = "a condition stands here without the statement it belongs to"
        fix = "write 'x > 0 for all i != j'"
    elif isinstance(child, t.STATEMENTS) and not isinstance(node, t.Logic | t.Quantified | t.Exists | t.Cases):
        conditions = node.conditions if isinstance(node, t.BigSum | t.BigCall) else ()
        chance = isinstance(node, t.Call) and node.function == "P"
        if not chance and not any(child is part for part in conditions):
            message = "a statement stands where a number, a vector or a matrix was expected"
            fix = "join statements with 'and', ';' or a new line"
    if message:
        raise FormulaError(message, "", child.span, fix=fix)


_TEXT = re.compile(r"\\(?:text|textrm|textit|textbf|textnormal|mbox)\s*\{([^{}]*)\}")


def goes_on(node: t.Node) -> str:
    r"""The sign or word with which a formula goes on from the one before; nothing where it stands by itself.

    >>> goes_on(parse("= P Z"))
    '='
    """
    match node:
        case t.Relation((t.Gap(), *_), (sign, *_)):
            return sign
        case t.Logic("implies" | "iff" as word, (t.Gap(), _)):
            return word
        case t.Quantified(t.Gap()):
            return "for"
        case t.Exists(t.Gap()):
            return "some"
        case t.Logic("and", (first, *_)) | t.Quantified(first) | t.Exists(first):
            return goes_on(first)
        case _:
            return ""


def joined(before: t.Node, node: t.Node) -> t.Node:
    r"""A formula with what stood before it in its gap: a chain is made longer, 'for all i' is said of it.

    >>> joined(parse("a = b"), parse("= c")).comparisons
    ('=', '=')
    """
    match node:
        case t.Relation((t.Gap(), *terms)):
            return _chained(before, tuple(terms), node)
        case t.Logic("implies" | "iff" as word, (t.Gap(), conclusion)):
            return t.Logic(word, (before, conclusion), span=node.span)
        case t.Logic("and", (first, *others)):
            return t.Logic("and", (joined(before, first), *others), span=node.span)
        case t.Quantified(body) | t.Exists(body):
            return replace(node, body=joined(before, body))
        case t.Gap():
            return before
        case _:
            return node


def _chained(before: t.Node, terms: tuple[t.Node, ...], node: t.Relation) -> t.Node:
    match before:
        case t.Relation(first, signs):
            return t.Relation((*first, *terms), (*signs, *node.comparisons), span=node.span)
        case t.Logic("and" | "implies" | "iff" as word, (*items, last)):
            return t.Logic(word, (*items, _chained(last, terms, node)), span=node.span)
        case t.Logic() | t.Quantified() | t.Exists():  # which part it goes on from is not certain
            return node
        case _:
            return t.Relation((before, *terms), node.comparisons, span=node.span)


_SIGN = r"(?:[=<>≈≤≥→⇒]|\\(?:leq?|geq?|approx|sim|to|gg|ll|neq?|implies|Rightarrow|iff|Leftrightarrow)(?![A-Za-z]))"
_OPEN_END = re.compile(
    r"(?:[-+*/^_(\[{,:=<>|]|\\(?:cdot|times|left|not|q?quad|text\s*\{[^{}]*\})|\\(?:in|leq?|geq?|approx|to|gg|ll|neq?|sim))[\s&]*$"
)
_BEGINNING = re.compile(
    rf"[\s&]*(?:{_SIGN}|(?!\\(?:text|mbox|q?quad|forall|exists|cdot|times|land|lor|wedge|vee|neg|not|pm|mp|ast|div)\b)"
    rf"(?!(?:for|when|if|as|where|with|and|or|not|unless|except|given|else|otherwise|but|by|since|then)\b)[A-Za-z\\].*{_SIGN})",
    re.DOTALL,
)
MOST_ROWS = 50  # that are read one by one
_PIECE = re.compile(r"\\\\\*?(?:\[[^\]]{0,20}\])?|\\(begin|end)\s*\{([A-Za-z]+)\*?\}|\\.|[{}]", re.DOTALL)


def parse_each(
    source: str, *, names: Collection[str] = (), macros: Mapping[str, Macro] | None = None
) -> tuple[t.Node | FormulaError, ...]:
    r"""The statements of a source; where it cannot be read, its rows one by one, with an error for each that cannot.

    >>> len(parse_each(r"a = b \\\\ c = d"))
    2
    """
    try:
        return parse_lines(source, names=names, macros=macros)
    except FormulaError as error:
        rows = _rows(source)
        if not 1 < len(rows) <= MOST_ROWS or not all(_begins(*pair) for pair in pairwise(rows)):
            return (error,)
    found: list[t.Node | FormulaError] = []
    for row in rows:
        try:
            first, *more = parse_lines(row, names=names, macros=macros)
        except FormulaError as error:
            found.append(error)
            continue
        last = found[-1] if found else None
        if goes_on(first) and isinstance(last, t.Node):
            found.pop()
            first = joined(last, first)
        found += [first, *more]
    return tuple(found)


def _begins(before: str, row: str) -> bool:
    """Whether a row begins something new, or goes on with a relation: else it may change what the row before says."""
    return not _OPEN_END.search(before) and bool(_BEGINNING.match(row))


def _rows(source: str) -> list[str]:
    r"""The rows between \\, those of matrices and cases apart: each in its place, with spaces for the others."""
    cuts, inside = [(0, 0)], 0
    for match in _PIECE.finditer(source):
        word, environment = match.groups()
        if match.group() in "{}" or (word and environment in {*MATRICES, "cases", "dcases", "rcases"}):
            inside += 1 if word == "begin" or match.group() == "{" else -1
        elif word or (match.group().startswith("\\\\") and inside <= 0):
            cuts.append(match.span())
    cuts.append((len(source), len(source)))
    blank = re.sub(r"[^\n]", " ", source)
    rows = [(start, stop) for (_, start), (stop, _) in pairwise(cuts) if source[start:stop].strip(" \n\t&,;.$")]
    return [blank[:start] + source[start:stop] for start, stop in rows[: MOST_ROWS + 1]]


def texts(source: str) -> tuple[str, ...]:
    r"""The words in \text{...} of a formula, as they are written.

    >>> texts(r"x = y \quad \text{(since it is so)}")
    ('(since it is so)',)
    """
    return tuple(found for found in (match.strip() for match in _TEXT.findall(source)) if found)
