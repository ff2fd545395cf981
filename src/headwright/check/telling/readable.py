"""LaTeX as a line that can be read in a terminal."""

from __future__ import annotations

import re

from headwright.check.sheets.inline import find_formulas
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
