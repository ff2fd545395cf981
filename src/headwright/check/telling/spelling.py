"""Formulas, numbers and instances in plain spelling: for terminals, and wherever text is shown as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headwright.check.reading.marks import find_formulas
from headwright.formula import FormulaError, parse
from headwright.formula.show import plain

_SPELLED = [
    (re.compile(r"\\(?:operatorname|mathrm|mathbf|mathbb|text|boldsymbol|mathcal)\*?\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:left|right|big|Big|bigl|bigr|displaystyle|quad|qquad)(?![a-zA-Z])"), ""),
    (re.compile(r"\\sqrt\{([^{}]*)\}"), r"sqrt(\1)"),
    (re.compile(r"\\sqrt\s*(\w)"), r"sqrt(\1)"),
    (re.compile(r"\\d?frac\{(\w+)\}\{(\w+)\}"), r"\1/\2"),
    (re.compile(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}"), r"(\1)/(\2)"),
    (re.compile(r"\^\{?\\top\}?"), "^T"),
    (re.compile(r"\\geq?(?![a-zA-Z])"), ">="),
    (re.compile(r"\\leq?(?![a-zA-Z])"), "<="),
    (re.compile(r"\\neq?(?![a-zA-Z])"), "!="),
    (re.compile(r"\\(?:approx|sim)(?![a-zA-Z])"), "~"),
    (re.compile(r"\\gg(?![a-zA-Z])"), ">>"),
    (re.compile(r"\\ll(?![a-zA-Z])"), "<<"),
    (re.compile(r"\\(?:to|rightarrow)(?![a-zA-Z])"), "->"),
    (re.compile(r"\\(?:l|c)?dots(?![a-zA-Z])"), "..."),
    (re.compile(r"\\cdot(?![a-zA-Z])"), "*"),
    (re.compile(r"\\\|"), "|"),
    (re.compile(r"\\[,;:! ]"), " "),
    (re.compile(r"([_^])\{(\w+)\}"), r"\1\2"),
    (re.compile(r"\\([a-zA-Z]+)\s*"), r"\1 "),
]
ROUNDS = 4  # fractions within fractions, so deep


def readable(latex: str) -> str:
    r"""A formula in plain spelling.

    >>> readable(r"\alpha_a \ge \frac{1}{2 + \epsilon}")
    'alpha_a >= 1/(2 + epsilon)'
    """
    try:
        return plain(parse(latex))
    except FormulaError:  # words and dots, say: spelt out as well as can be
        return _spelt(latex)


def _spelt(latex: str) -> str:
    for _ in range(ROUNDS):
        before = latex
        for pattern, spelling in _SPELLED:
            latex = pattern.sub(spelling, latex)
        if latex == before:
            break
    return re.sub(r"\s+", " ", re.sub(r"\s+([_^,.)])", r"\1", latex)).strip()


def readable_text(markdown: str) -> str:
    """Prose with its formulas in plain spelling.

    >>> readable_text("Find $q$ with $x \\\\ge 0$.")
    'Find q with x >= 0.'
    """
    parts, done = [], 0
    for piece in find_formulas(markdown)[0]:
        before = markdown[done : piece.start].rstrip()
        parts += [re.sub(r"(\$\$?|\\[(\[])$", "", before), readable(piece.text)]
        done = piece.start + len(piece.text)
        done += len(re.match(r"\s*(?:\$\$?|\\[)\]])?", markdown[done:])[0])  # type: ignore[index]
    return " ".join("".join([*parts, markdown[done:]]).split())


NOTHING = 1e-12  # of the largest entry of a list: what is left of a 0 that was computed
SIDES = {"left": "left side", "right": "right side"}
WORDS = ("words", "shapes")  # a counterexample that is told in words, which the reason has already


def instance(counterexample: Mapping[str, Any] | None) -> dict[str, Any]:
    """The names and numbers of a counterexample in one list; what is only told in words is left to the reason.

    >>> instance({"sizes": {"d": 1}, "names": {"S": 3}, "left": 9, "right": 3})
    {'d': 1, 'S': 3, 'left side': 9, 'right side': 3}
    """
    found: dict[str, Any] = {}
    for name, value in (counterexample or {}).items():
        if isinstance(value, Mapping):
            found |= value
        elif name not in WORDS:
            found[SIDES.get(name, name)] = value
    return found


def in_words(values: Mapping[str, Any]) -> str:
    """Named values in a line.

    >>> in_words({"n": 10, "alpha_a": 0.16799999999})
    'n = 10, alpha_a = 0.168'
    """
    return ", ".join(f"{name} = {value_in_words(value)}" for name, value in values.items())


def value_in_words(value: Any) -> str:
    """A number to six digits, a list in brackets, a matrix row by row, anything else as it is.

    >>> value_in_words([1, 0.25, "x"]), value_in_words([[1, 0], [1e-39, 1]])
    ('(1, 0.25, x)', '[1, 0; 0, 1]')
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        value = _settled(value)
        if value and all(isinstance(row, list | tuple) for row in value):
            return f"[{'; '.join(', '.join(map(value_in_words, row)) for row in value)}]"
        return f"({', '.join(map(value_in_words, value))})"
    return f"({in_words(value)})" if isinstance(value, Mapping) else str(value)


def _settled(entries: list[Any] | tuple[Any, ...]) -> list[Any]:
    """The entries of a vector or a matrix, with 0 for what is nothing beside the largest of them."""
    rows = [row if isinstance(row, list | tuple) else [row] for row in entries]
    largest = max((abs(x) for row in rows for x in row if isinstance(x, int | float)), default=0.0)
    kept = [[0 if isinstance(x, float) and abs(x) < NOTHING * largest else x for x in row] for row in rows]
    return [row if isinstance(given, list | tuple) else row[0] for row, given in zip(kept, entries, strict=True)]
