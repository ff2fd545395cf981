"""Formulas as MathML, which browsers typeset by themselves.

latex2mathml reads the LaTeX; what it makes is not trusted. Every text is escaped here, only elements and attributes of
formulas pass, and what it cannot read is shown as it was written.
"""

from __future__ import annotations

import html
import re
from xml.etree.ElementTree import Element  # only the type: nothing is parsed as XML

LONGEST = 2000  # characters of a formula that is typeset
MOST_LINES = 60
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
_ROW_END = re.compile(r"\\\\(?:\[[^\]]*\])?|\n")
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
    lines = _lines(formula) if display else [formula]
    if len(formula) > LONGEST or len(lines) > MOST_LINES or _MACROS.search(formula):
        return as_written(formula)
    made = [_line(line, display) for line in lines]
    if any(line is None for line in made):
        return as_written(formula)
    if not display:
        return made[0] or ""
    return "".join(f'<div class="formula">{line}</div>' for line in made)


def as_written(formula: str) -> str:
    """The source of a formula as HTML, shortened where it is very long.

    >>> as_written("a < b")
    '<code>a &lt; b</code>'
    """
    return f"<code>{html.escape(formula if len(formula) <= LONGEST else formula[:LONGEST] + ' ...')}</code>"


def _lines(formula: str) -> list[str]:
    """One for each line of a derivation; the rows of a matrix stay together."""
    bare = _AROUND.sub("", formula)
    if "\\begin" in bare:
        return [bare]
    return [line.replace("&", " ").strip() for line in _ROW_END.split(bare.replace(r"\&", "")) if line.strip(" &")]


def _line(latex: str, display: bool) -> str | None:
    from latex2mathml.converter import Converter

    try:
        given = latex if "\\" in latex else _as_latex(latex)
        return _markup(Converter(display="block" if display else "inline").convert_to_element(given))
    except Exception:  # noqa: BLE001  (it raises whatever comes to hand for text that is not LaTeX)
        return None


def _as_latex(formula: str) -> str:
    """Plain spelling, such as log(t)*(k_a + k_b), in LaTeX if it can be read."""
    from headwright.formula import FormulaError, parse
    from headwright.formula.show import latex

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
    """A sentence in plain spelling as HTML: alpha_a as a letter with its index below, >= as one sign.

    >>> lettered("alpha_{1,1} is 0.8, not <= n^2, with <k_1, q> = sqrt(epsilon) in large_lambda.md")
    'α<sub>1,1</sub> is 0.8, not ≤ n<sup>2</sup>, with ⟨k<sub>1</sub>, q⟩ = √(ε) in large_lambda.md'
    """
    for pattern, sign in _SIGNS:
        said = pattern.sub(sign, said)
    said = _GREEK.sub(lambda found: GREEK[found[1]], said)
    said = _BELOW.sub(lambda found: f"<sub>{found[1].strip('{}')}</sub>", html.escape(said))
    return _ABOVE.sub(lambda found: f"<sup>{found[1].strip('()')}</sup>", said)
