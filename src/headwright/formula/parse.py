r"""A formula read: LaTeX, plain text or Python's spelling into one tree, or an error that points at the source.

>>> parse(r"q = \log(t)(k_a + k_b)") == parse("q = log(t)*(k_a + k_b)")
True
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from headwright.formula import tree as t
from headwright.formula.errors import LARGEST, LONGEST, TALLEST, FormulaError
from headwright.formula.reading.lexer import words
from headwright.formula.reading.lines import arranged
from headwright.formula.reading.macros import Expanded, Macro, expanded
from headwright.formula.reading.parser import Parser
from headwright.formula.reading.statements import Interval


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
    return node


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
