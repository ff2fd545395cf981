r"""Formulas that go on from the one before: '= P Z', '\implies a = b', 'for all i \ne j'.

Such a formula is read with a Gap where the one before belongs; `goes_on` tells it, and `joined` closes the gap.
`parse_each` reads row by row what cannot be read as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise

from headwright.formula.errors import FormulaError
from headwright.formula.parse import parse_lines
from headwright.formula.reading.macros import Macro
from headwright.formula.reading.spellings import MATRICES
from headwright.formula.tree import Exists, Gap, Logic, Node, Quantified, Relation

_TEXT = re.compile(r"\\(?:text|textrm|textit|textbf|textnormal|mbox)\s*\{([^{}]*)\}")


def goes_on(node: Node) -> str:
    r"""The sign or word with which a formula goes on from the one before; nothing where it stands by itself.

    >>> from headwright.formula import parse
    >>> [goes_on(parse(source)) for source in ("= P Z", r"\implies a = b", r"\forall i \ne j", "a = b")]
    ['=', 'implies', 'for', '']
    """
    match node:
        case Relation((Gap(), *_), (sign, *_)):
            return sign
        case Logic("implies" | "iff" as word, (Gap(), _)):
            return word
        case Quantified(Gap()):
            return "for"
        case Exists(Gap()):
            return "some"
        case Logic("and", (first, *_)) | Quantified(first) | Exists(first):
            return goes_on(first)
        case _:
            return ""


def joined(before: Node, node: Node) -> Node:
    r"""A formula with what stood before it in its gap: a chain is made longer, 'for all i' is said of it.

    >>> from headwright.formula import parse, plain
    >>> print(plain(joined(parse("Z_p = relu(P H)"), parse("= P Z"))))
    Z_p = relu(P H) = P Z
    >>> print(plain(joined(parse("x_i < x_j"), parse(r"\forall i \ne j"))))
    x_i < x_j for i != j
    """
    match node:
        case Relation((Gap(), *terms)):
            return _chained(before, tuple(terms), node)
        case Logic("implies" | "iff" as word, (Gap(), conclusion)):
            return Logic(word, (before, conclusion), span=node.span)
        case Logic("and", (first, *others)):
            return Logic("and", (joined(before, first), *others), span=node.span)
        case Quantified(body, conditions):
            return Quantified(joined(before, body), conditions, span=node.span)
        case Exists(body, conditions):
            return Exists(joined(before, body), conditions, span=node.span)
        case Gap():
            return before
        case _:
            return node


def _chained(before: Node, terms: tuple[Node, ...], node: Relation) -> Node:
    match before:
        case Relation(first, signs):
            return Relation((*first, *terms), (*signs, *node.comparisons), span=node.span)
        case Logic("and" | "implies" | "iff" as word, (*items, last)):
            return Logic(word, (*items, _chained(last, terms, node)), span=node.span)
        case Logic() | Quantified() | Exists():  # which part it goes on from is not certain
            return node
        case _:
            return Relation((before, *terms), node.comparisons, span=node.span)


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
) -> tuple[Node | FormulaError, ...]:
    r"""The statements of a source; where it cannot be read, its rows one by one, with an error for each that cannot.

    >>> from headwright.formula import plain
    >>> [one if isinstance(one, FormulaError) else plain(one) for one in parse_each(r"a = b \\ = \foo \\ c = d \\ = e")]
    ['a = b', FormulaError(...), 'c = d = e']
    """
    try:
        return parse_lines(source, names=names, macros=macros)
    except FormulaError as error:
        rows = _rows(source)
        if not 1 < len(rows) <= MOST_ROWS or not all(_begins(*pair) for pair in pairwise(rows)):
            return (error,)
    found: list[Node | FormulaError] = []
    for row in rows:
        try:
            first, *more = parse_lines(row, names=names, macros=macros)
        except FormulaError as error:
            found.append(error)
            continue
        last = found[-1] if found else None
        if goes_on(first) and isinstance(last, Node):
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

    >>> texts(r"x = y \quad \text{(since the keys are orthonormal)}")
    ('(since the keys are orthonormal)',)
    """
    return tuple(found for found in (match.strip() for match in _TEXT.findall(source)) if found)
