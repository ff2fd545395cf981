r"""A formula read: LaTeX, plain text or Python's spelling into one tree, or an error that points at the source.

A formula may go on from the one before: '= P Z', '\implies a = b', 'for all i \ne j'. It is read with a Gap where the
one before belongs; `goes_on` tells it, and `joined` closes the gap. Commands that a document defines with \newcommand
are put in place of their uses before all that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from headwright.argument_types import check_argument
from headwright.formulas import tree as t
from headwright.formulas.dots import chains_written_out
from headwright.formulas.errors import LARGEST, LONGEST, TALLEST, FormulaError
from headwright.formulas.lexer import arranged, words
from headwright.formulas.parser import Parser
from headwright.formulas.statements import Interval

DEEPEST: Final = 10  # definitions that use one another
_START = re.compile(
    r"\\(?:(?:re|provide)?newcommand\*?|def|(DeclareMathOperator)\*?)\s*"
    r"(?:\{\s*\\([A-Za-z]+)\s*\}|\\([A-Za-z]+))\s*(?:\[([1-9])\])?\s*\{"
)
_USE = re.compile(r"\\([A-Za-z]+)")
_PARAMETER = re.compile(r"#([1-9])")
_ARGUMENT = re.compile(r"\s*(?:(\{)|(\\[A-Za-z]+|[^\s\\{}]))")


@dataclass(frozen=True)
class Macro:
    """What a command stands for, with #1 and #2 for what follows it."""

    body: str
    arguments: int = 0


def macros(text: str) -> dict[str, Macro]:
    r"""The commands that a text defines.

    >>> list(macros(r"\newcommand{\R}{\mathbb{R}}"))
    ['R']
    """
    start = text[: 10 * LONGEST]
    return (
        {name: macro for name, macro, _ in _definitions(start)}
        if _START.search(start)
        else {}
    )


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
        found.append(
            (one or other, Macro(body, int(count or 0)), (match.start(), stop + 1))
        )
        at = stop + 1
    return found


def _closing(text: str, opener: int) -> int | None:
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, opener):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            return match.start()
    return None


def expanded(source: str, known: Mapping[str, Macro]) -> str:
    r"""The source with every macro in its place, without its own definitions; bounded in depth and length."""
    own = _definitions(source) if _START.search(source) else []
    known = {**known, **{name: macro for name, macro, _ in own}}
    for _, _, (start, stop) in reversed(own):
        source = source[:start] + source[stop:]
    for _ in range(DEEPEST + 1):
        if not any(name in known for name in _USE.findall(source)):
            return source
        pieces: list[str] = []
        at = put_in = 0
        for match in _USE.finditer(source):
            macro = known.get(match.group(1))
            if macro is None or match.start() < at:
                continue
            pieces.append(source[at : match.start()])
            at = match.end()
            given: list[str] = []
            while len(given) < macro.arguments and (
                opener := _ARGUMENT.match(source, at)
            ):
                end = (
                    _closing(source, opener.start(1))
                    if opener.group(1)
                    else opener.end() - 1
                )
                if end is None:
                    break
                given.append(opener.group(2) or source[opener.end() : end])
                at = end + 1
            if len(given) < macro.arguments:
                message = f"{match.group()} needs {macro.arguments} arguments in braces"
                raise FormulaError(
                    message, source, t.Span(*match.span()), fix="write it out"
                )
            parts = _PARAMETER.split(
                macro.body
            )  # text, number, text, number, ..., text
            parts[1::2] = [
                given[int(mark) - 1] if int(mark) <= len(given) else f"#{mark}"
                for mark in parts[1::2]
            ]
            pieces.extend(parts)
            put_in += sum(map(len, parts)) + 1
            if put_in > LONGEST:
                message = f"with its commands put in, the formula has more than {LONGEST} characters"
                raise FormulaError(
                    message, source, t.Span(*match.span()), fix="write it out"
                )
        source = "".join([*pieces, source[at:]])
        if len(source) > LONGEST:
            break
    message = f"its commands are defined by themselves, or put in they have more than {LONGEST} characters"
    raise FormulaError(message, source[:LONGEST], t.Span(0, 1), fix="write it out")


def parse(
    source: str,
    *,
    names: Collection[str] = (),
    macros: Mapping[str, Macro] | None = None,
) -> t.Node:
    r"""The tree of a formula. `names` are words of several letters that the exercise knows, `macros` its \newcommands.

    Several statements become one: a Logic 'and'. Nothing is evaluated.

    >>> parse(r"\frac{1}{2}") == parse("1/2")
    True
    >>> parse("tol", names=["tol"])
    Name(span=Span(start=0, stop=3), base='tol', index=None, primes=0)
    >>> parse("q = k_a +")
    Traceback (most recent call last):
    headwright.formulas.errors.FormulaError: q = k_a +
                                                    ^
    the formula ends after +, where a number, a name or a bracket was expected
    fix: add what comes after the sign, or remove the sign
    """
    check_argument("source", source, str)
    if len(source) > LONGEST:
        message = (
            f"the formula has {len(source)} characters, and at most {LONGEST} are read"
        )
        raise FormulaError(
            message,
            source,
            t.Span(LONGEST, len(source)),
            fix="split it into several formulas",
        )
    text = expanded(source, macros or {})
    try:
        parser = Parser(arranged(words(text, names), text), text)
        node = parser.inside()
        if parser.next.kind != "end":
            parser.unexpected()
        _check(node, text)
    except FormulaError as error:
        raise error.moved(replace(error.span, source=text)) from None
    except RecursionError:  # only where the caller has used up the stack already
        raise FormulaError(
            "the formula is nested too deeply",
            source,
            t.Span(0, 1),
            fix="name a part of it",
        ) from None
    return chains_written_out(node)


def _first(node: t.Node) -> t.Node:
    """What stands at the very beginning of what is said: there a Gap may be."""
    while isinstance(node, t.Quantified | t.Exists | t.Relation | t.Logic):
        node = next(node.children())
    return node


def _check(node: t.Node, source: str) -> None:
    """Refuse a tree that is too large or too tall, and statements where only values can stand."""
    first = _first(node)
    waiting: list[tuple[t.Node, int]] = [(node, 1)]
    count = 0
    while waiting:
        current, height = waiting.pop()
        count += 1
        if count > LARGEST:
            fix = "split it into several statements"
            raise FormulaError(
                f"the formula has more than {LARGEST} parts", "", current.span, fix=fix
            )
        if height > TALLEST:
            fix = "give a part of it a name of its own"
            raise FormulaError(
                f"the formula is built more than {TALLEST} levels high",
                "",
                current.span,
                fix=fix,
            )
        if isinstance(current, Interval | t.Cases):
            fix = "write x \\in [0, 1), or x = and the cases, and nothing more on that side"
            raise FormulaError(
                "an interval or cases must be alone on a side",
                "",
                current.span,
                fix=fix,
            )
        if isinstance(current, t.Call) and current.function == "partial":
            fix = "write \\frac{\\partial L}{\\partial z}"
            raise FormulaError("a differential stands alone", "", current.span, fix=fix)
        # From here on every part can point at its own source.
        object.__setattr__(current, "span", replace(current.span, source=source))
        conditions = (
            current.conditions if isinstance(current, t.BigSum | t.BigCall) else ()
        )
        chance = isinstance(current, t.Call) and current.function == "P"
        holds = chance or isinstance(current, t.Logic | t.Quantified | t.Exists)
        for child in current.children():
            message, fix = "", "join statements with 'and', ';' or a new line"
            if isinstance(child, t.Dots) and not isinstance(
                current, t.Listing | t.Relation | t.Call
            ):
                message, fix = (
                    "dots leave open what is meant",
                    "write the sum with \\sum, or list every term",
                )
            elif isinstance(child, t.Gap) and child is not first:
                message = "a condition stands here without the statement it belongs to"
            elif (
                isinstance(child, t.STATEMENTS)
                and not holds
                and not any(child is part for part in conditions)
            ):
                message = "a statement stands where a number, a vector or a matrix was expected"
            if message:
                raise FormulaError(message, "", child.span, fix=fix)
            waiting.append((child, height + 1))


def goes_on(node: t.Node) -> bool:
    r"""Whether a formula goes on from the one before.

    >>> goes_on(parse("= P Z")), goes_on(parse("a = b"))
    (True, False)
    """
    return isinstance(_first(node), t.Gap)


def joined(before: t.Node, node: t.Node) -> t.Node:
    r"""A formula with what stood before it in its gap: a chain is made longer, 'for all i' is said of it.

    >>> joined(parse("a = b"), parse("= c")).comparisons
    ('=', '=')
    """
    match node:
        case t.Relation((t.Gap(), *terms)):
            return _chained(before, tuple(terms), node)
        case t.Logic(word, (first, *others)):
            return t.Logic(word, (joined(before, first), *others), span=node.span)
        case t.Quantified(body) | t.Exists(body):
            return replace(node, body=joined(before, body))
        case t.Gap():
            return before
        case _:
            return node


def _chained(before: t.Node, terms: tuple[t.Node, ...], node: t.Relation) -> t.Node:
    match before:
        case t.Relation(first, signs):
            return t.Relation(
                (*first, *terms), (*signs, *node.comparisons), span=node.span
            )
        case t.Logic("and" | "implies" | "iff" as word, (*items, last)):
            return t.Logic(word, (*items, _chained(last, terms, node)), span=node.span)
        case (
            t.Logic() | t.Quantified() | t.Exists()
        ):  # which part it goes on from is not certain
            return node
        case _:
            return t.Relation((before, *terms), node.comparisons, span=node.span)


def parse_each(
    source: str,
    *,
    names: Collection[str] = (),
    macros: Mapping[str, Macro] | None = None,
) -> tuple[t.Node | FormulaError, ...]:
    r"""The statements of a source, in order, or the error that says why it cannot be read.

    They are lines, and what is joined by commas, semicolons or 'and'. A line that begins with a relation continues the
    chain before it.

    >>> [len(chain.terms) for chain in parse_each(r"a &= b \\ &= c \\ d &= e")]
    [3, 2]
    """
    try:
        return t.conjuncts(parse(source, names=names, macros=macros))
    except FormulaError as error:
        return (error,)
