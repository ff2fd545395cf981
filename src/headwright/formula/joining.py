r"""Formulas that go on from the one before: '= P Z', '\implies a = b', 'for all i \ne j'.

Such a formula is read with a Gap where the one before belongs; `goes_on` tells it, and `joined` closes the gap.
"""

from __future__ import annotations

import re

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


def texts(source: str) -> tuple[str, ...]:
    r"""The words in \text{...} of a formula, as they are written.

    >>> texts(r"x = y \quad \text{(since the keys are orthonormal)}")
    ('(since the keys are orthonormal)',)
    """
    return tuple(found for found in (match.strip() for match in _TEXT.findall(source)) if found)
