"""Formulas for the eye: as MathML, which browsers typeset by themselves, and in plain spelling for terminals.

latex2mathml reads the LaTeX; what it makes is not trusted. Every text is escaped here, only elements and attributes of
formulas pass, and what it cannot read is shown as it was written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element  # only the type: nothing is parsed as XML

from headwright.check.markdown import find_formulas
from headwright.formula import FormulaError, parse
from headwright.formula.show import latex, plain

LONGEST = 2000  # characters of a formula that is typeset
_TAGS = re.compile(
    "math|mrow|mi|mn|mo|mtext|mspace|msup|msub|msubsup|mfrac|msqrt|mroot|mover|munder|munderover|mtable|mtr|mtd|mstyle"
    "|mpadded|mphantom|menclose|mmultiscripts|mprescripts|none"
)
_ATTRIBUTES = re.compile(
    "display|stretchy|fence|form|separator|mathvariant|accent|accentunder|columnalign|displaystyle|scriptlevel"
    "|movablelimits|largeop|symmetric|linethickness"
)
_VALUE = re.compile(r"[a-z0-9 .-]{1,40}")
_SPACE = re.compile(r"-?(?:[0-2]|(?:[0-2])?\.\d{1,4})em")
_MACROS = re.compile(r"\\(?:def|let|(?:re)?new|provide|input|include)")  # a macro may grow without bound
_AROUND = re.compile(r"\\(?:begin|end)\{(?:aligned|align|gathered|gather|split|equation|multline|eqnarray)\*?\}")
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "lambda": "λ", "mu": "μ", "sigma": "σ",
    "tau": "τ", "theta": "θ", "Phi": "Φ", "pi": "π", "infinity": "∞",
}  # fmt: skip
_GREEK = re.compile(rf"(?<![A-Za-z_\\])({'|'.join(GREEK)})(?![A-Za-z])")
_SIGNS = [
    (re.compile(r"<(?=\S)([^<>=]{1,60}, [^<>=]{1,60})(?<=\S)>"), r"⟨\1⟩"),  # 'x < 3, y > 2' is no inner product
    *((re.compile(plain), sign) for plain, sign in ((">=", "≥"), ("<=", "≤"), ("!=", "≠"), ("->", "→"), ("<<", "≪"),
                                                    (">>", "≫"), (r"\bsqrt\(", "√("))),
]  # fmt: skip
_BELOW = re.compile(r"(?<=(?<![^\W_])[^\W\d_])_(\{[^{}]*\}|[A-Za-z0-9]+|∞|[α-ω])")  # of a letter: not in a file's name
_ABOVE = re.compile(r"(?<=[\w)\]>|])\^(-?\d+(?:\.\d+)?|[^\W\d_]+|\([^()^]*\))")


def typeset(formula: str, *, display: bool = False) -> str:
    r"""A formula as HTML: MathML where it can be read, and the source where it cannot.

    >>> typeset("n")
    '<math display="inline"><mrow><mi>n</mi></mrow></math>'
    >>> typeset(r"\text{<script>}")
    '<math display="inline"><mrow><mtext>&lt;script&gt;</mtext></mrow></math>'
    """
    if len(formula) > LONGEST or _MACROS.search(formula):
        return as_written(formula)
    bare = _AROUND.sub("", formula) if display else formula
    made = _line(bare.replace("&", " ") if bare != formula else bare, display)
    return as_written(formula) if made is None else f'<div class="formula">{made}</div>' if display else made


def as_written(formula: str) -> str:
    """The source of a formula as HTML, shortened where it is very long.

    >>> as_written("a < b")
    '<code>a &lt; b</code>'
    """
    return f"<code>{html.escape(formula if len(formula) <= LONGEST else formula[:LONGEST] + ' ...')}</code>"


def _line(formula: str, display: bool) -> str | None:
    from latex2mathml.converter import Converter

    try:
        given = formula if "\\" in formula else _as_latex(formula)
        return _markup(Converter(display="block" if display else "inline").convert_to_element(given))
    except Exception:  # noqa: BLE001  (it raises whatever comes to hand for text that is not LaTeX)
        return None


def _as_latex(formula: str) -> str:
    """Plain spelling, such as log(t)*(k_a + k_b), in LaTeX if it can be read."""
    try:
        return latex(parse(formula))
    except FormulaError:
        return formula


def _markup(element: Element) -> str:
    if not _TAGS.fullmatch(element.tag):
        return "".join([_text(element.text), *map(_markup, element)])
    attributes = "".join(
        f' {name}="{value}"'
        for name, value in element.attrib.items()
        if (_ATTRIBUTES.fullmatch(name) and _VALUE.fullmatch(value))
        or (element.tag == "mspace" and name == "width" and _SPACE.fullmatch(value))
    )
    inside = "".join([_text(element.text), *map(_markup, element)])
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"


def _text(text: str | None) -> str:
    return html.escape(html.unescape(text or ""))


def lettered(said: str) -> str:
    r"""A sentence in plain spelling as HTML: alpha_a as a letter with its index below, >= as one sign.

    >>> lettered("alpha_{1,1} is 0.8, not <= n^2, with <k_1, q> = sqrt(epsilon) in large_lambda.md")
    'α<sub>1,1</sub> is 0.8, not ≤ n<sup>2</sup>, with ⟨k<sub>1</sub>, q⟩ = √(ε) in large_lambda.md'

    What it quotes of an answer, between its marks, is lettered too.

    >>> lettered(r"line 5 was not judged: $\alpha_j \ge 1$, if so")
    'line 5 was not judged: α<sub>j</sub> ≥ 1, if so'
    """
    said = _MARKED.sub(lambda found: readable(found[1]), said)
    for pattern, sign in _SIGNS:
        said = pattern.sub(sign, said)
    said = _GREEK.sub(lambda found: GREEK[found[1]], said)
    said = _BELOW.sub(lambda found: f"<sub>{found[1].strip('{}')}</sub>", html.escape(said))
    return _ABOVE.sub(lambda found: f"<sup>{found[1].strip('()')}</sup>", said)


_MARKED = re.compile(r"\$\$?([^$\n]+)\$\$?")
_WORDS = {
    "geq?": ">=", "leq?": "<=", "neq?": "!=", "(?:approx|sim)": "~", "gg": ">>", "ll": "<<",
    "(?:to|rightarrow)": "->", "(?:l|c)?dots": "...", "cdot": "*",
}  # fmt: skip
_SPELLED = [
    (re.compile(r"\\(?:operatorname|mathrm|mathbf|mathbb|text|boldsymbol|mathcal)\*?\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:left|right|big|Big|bigl|bigr|displaystyle|quad|qquad)(?![a-zA-Z])"), ""),
    (re.compile(r"\\sqrt\{([^{}]*)\}"), r"sqrt(\1)"),
    (re.compile(r"\\sqrt\s*(\w)"), r"sqrt(\1)"),
    (re.compile(r"\\d?frac\{(\w+)\}\{(\w+)\}"), r"\1/\2"),
    (re.compile(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}"), r"(\1)/(\2)"),
    (re.compile(r"\^\{?\\top\}?"), "^T"),
    *((re.compile(rf"\\{word}(?![a-zA-Z])"), sign) for word, sign in _WORDS.items()),
    (re.compile(r"\\\|"), "|"),
    (re.compile(r"\\[,;:! ]"), " "),
    (re.compile(r"([_^])\{(\w+)\}"), r"\1\2"),
    (re.compile(r"\\([a-zA-Z]+)\s*"), r"\1 "),
]
ROUNDS = 4  # fractions within fractions, so deep


def readable(formula: str) -> str:
    r"""A formula in plain spelling.

    >>> readable(r"\alpha_a \ge \frac{1}{2 + \epsilon}")
    'alpha_a >= 1/(2 + epsilon)'
    """
    try:
        return plain(parse(formula))
    except FormulaError:  # words and dots, say: spelt out as well as can be
        return _spelt(formula)


def _spelt(text: str) -> str:
    for _ in range(ROUNDS):
        before = text
        for pattern, spelling in _SPELLED:
            text = pattern.sub(spelling, text)
        if text == before:
            break
    return re.sub(r"\s+", " ", re.sub(r"\s+([_^,.)])", r"\1", text)).strip()


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
