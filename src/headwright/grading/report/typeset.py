"""Formulas for the eye: as MathML, which browsers typeset by themselves, and in plain spelling for terminals.

latex2mathml reads the LaTeX; what it makes is not trusted. Every text is escaped here, only elements and attributes of
formulas pass, and what it cannot read is shown as it was written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from xml.etree.ElementTree import Element  # only the type: nothing is parsed as XML

from headwright.formulas import parse
from headwright.formulas.show import latex
from headwright.formulas.spellings import LETTERS
from headwright.grading.verdict import readable

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
_MACROS = re.compile(
    r"\\(?:def|let|(?:re)?new|provide|input|include)"
)  # a macro may grow without bound
_AROUND = re.compile(
    r"\\(?:begin|end)\{(?:aligned|align|gathered|gather|split|equation|multline|eqnarray)\*?\}"
)
GREEK = {word: sign for sign, word in reversed(LETTERS.items())} | {"infinity": "∞"}
_GREEK = re.compile(rf"(?<![A-Za-z_\\])({'|'.join(GREEK)})(?![A-Za-z])")
_SIGNS = {
    r"<(?=\S)([^<>=]{1,60}, [^<>=]{1,60})(?<=\S)>": r"⟨\1⟩"
}  # 'x < 3, y > 2' is no inner product
_SIGNS |= {
    ">=": "≥",
    "<=": "≤",
    "!=": "≠",
    "->": "→",
    "<<": "≪",
    ">>": "≫",
    r"\bsqrt\(": "√(",
}
_MARKED = re.compile(r"\$\$?([^$]+)\$\$?")
_BELOW = re.compile(
    r"(?<=(?<![^\W_])[^\W\d_])_(\{[^{}]*\}|[A-Za-z0-9]+|∞|[α-ω])"
)  # of a letter: not in a file's name
_ABOVE = re.compile(r"(?<=[\w)\]>|])\^(-?\d+(?:\.\d+)?|[^\W\d_]+|\([^()^]*\))")


def typeset(formula: str, *, display: bool = False) -> str:
    """A formula as HTML: MathML where it can be read, and the source where it cannot."""
    from latex2mathml.converter import Converter

    bare = _AROUND.sub("", formula[:LONGEST]) if display else formula[:LONGEST]
    bare = bare.replace("&", " ") if bare != formula else bare
    made = ""
    if len(formula) <= LONGEST and not _MACROS.search(formula):
        with suppress(
            Exception
        ):  # it raises whatever comes to hand for text that is not LaTeX
            given = bare if "\\" in bare else latex(parse(bare))
            made = _markup(
                Converter(display="block" if display else "inline").convert_to_element(
                    given
                )
            )
    if not made:
        return f"<code>{html.escape(formula if len(formula) <= LONGEST else formula[:LONGEST] + ' ...')}</code>"
    return f'<div class="formula">{made}</div>' if display else made


def _markup(element: Element) -> str:
    inside = html.escape(html.unescape(element.text or "")) + "".join(
        map(_markup, element)
    )
    if not _TAGS.fullmatch(element.tag):
        return inside
    attributes = "".join(
        f' {name}="{value}"'
        for name, value in element.attrib.items()
        if (_ATTRIBUTES.fullmatch(name) and _VALUE.fullmatch(value))
        or (element.tag == "mspace" and name == "width" and _SPACE.fullmatch(value))
    )
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"


def lettered(said: str) -> str:
    """A sentence in plain spelling as HTML: alpha_a as a letter with its index below, >= as one sign."""
    said = _MARKED.sub(lambda found: readable(found[1]), said)
    for pattern, sign in _SIGNS.items():
        said = re.sub(pattern, sign, said)
    said = _GREEK.sub(lambda found: GREEK[found[1]], said)
    said = _BELOW.sub(
        lambda found: f"<sub>{found[1].strip('{}')}</sub>", html.escape(said)
    )
    return _ABOVE.sub(lambda found: f"<sup>{found[1].strip('()')}</sup>", said)


_BLANK = re.compile(r"(\s+)")
_LETTERS = re.compile(r"[A-Za-z]+")
_INDEX = re.compile(r"_(?:\{[^{}]*\}|\w+)")
_SYMBOL = re.compile(r"[=<>≤≥≠≈^_+*/√|\d]|->|^-$")
_CALL = re.compile(r"[(\[]*(?:ln|log|exp|sqrt|max|min|norm)\(")
_WORDS_OF_FORMULAS = {*GREEK, "ln", "log", "exp", "sqrt", "max", "min"}
_UNFINISHED = re.compile(r"^[=<>≤≥≠≈^_*/](?!\w)|[=≤≥≠≈^_+*/-]$")
_ENDS = ",.;:"
_PRONOUNS = ("a", "A", "I")


def typeset_sentence(said: str) -> str:
    """A sentence in plain spelling as HTML, with the formulas in it typeset.

    A formula is a run of symbols, numbers and names without a word between them that
    can be read as a formula; where in doubt, it stays as it was written.

    >>> typeset_sentence("take n > 2").count("<math"), typeset_sentence("and so on").count("<math")
    (1, 0)
    """
    shown = ""
    for place, piece in enumerate(_MARKED.split(said)):
        if place % 2:
            shown += typeset(piece)
        else:
            shown += _typeset_runs(piece)
    return shown


def _typeset_runs(said: str) -> str:
    """Words as they are, and each run of symbols between them as a formula."""
    shown, run, blank = "", "", ""
    for place, piece in enumerate(_BLANK.split(said)):
        if place % 2:
            blank = piece
            continue
        inside = _is_open(run)
        if run and (inside or _is_symbolic(piece)):
            run += blank + piece
        else:
            shown += _typeset_run(run) + blank
            run = piece if _is_symbolic(piece) else ""
            shown += "" if run else lettered(piece)
        blank = ""
        if run and run[-1] in _ENDS and not _is_open(run):
            shown += _typeset_run(run)
            run = ""
    return shown + _typeset_run(run) + blank


def _is_open(run: str) -> bool:
    """Whether a bracket of a run is still to be closed, that of an inner product too."""
    product = re.search(r"<(?=\w)[^>]*$", run)
    return bool(product) or run.count("(") > run.count(")")


def _is_symbolic(piece: str) -> bool:
    bare = piece.strip("()" + _ENDS)
    is_letter = len(bare) == 1 and bare.isalpha() and bare not in _PRONOUNS
    is_named = bare in _WORDS_OF_FORMULAS
    return bool(is_letter or is_named or _SYMBOL.search(piece) or _CALL.match(piece))


def _typeset_run(run: str) -> str:
    bare = run.rstrip(_ENDS)
    opened = bare.count("(") - bare.count(")")
    before = ""
    if opened == 1 and bare.startswith("("):  # of a remark in brackets
        before, bare = "(", bare[1:]
    after = run[len(before) + len(bare) :]
    if opened == -1 and bare.endswith(")"):
        bare, after = bare[:-1], ")" + after
    words = _LETTERS.findall(_INDEX.sub("", bare))
    known = all(len(word) == 1 or word in _WORDS_OF_FORMULAS for word in words)
    whole = not _UNFINISHED.search(bare)
    if not (words and known and whole):  # a number alone stays text
        return lettered(run)
    made = typeset(bare)
    return before + made + after if made.startswith("<math") else lettered(run)


def readable_text(markdown: str) -> str:
    """Prose with its formulas in plain spelling."""
    return " ".join(_MARKED.sub(lambda found: readable(found[1]), markdown).split())


SIDES = {"left": "left side", "right": "right side"}
ELSEWHERE = ("words", "shapes", "weights")  # what the reason says, or a picture


def instance(counterexample: Mapping[str, Any] | None) -> dict[str, Any]:
    """The names and numbers of a counterexample in one list; what is only told in words is left to the reason."""
    found: dict[str, Any] = {}
    for name, value in (counterexample or {}).items():
        if name not in ELSEWHERE:
            found |= (
                value if isinstance(value, Mapping) else {SIDES.get(name, name): value}
            )
    return found


def in_words(values: Mapping[str, Any]) -> str:
    """Named values in a line."""
    return ", ".join(
        f"{name} = {value_in_words(value)}" for name, value in values.items()
    )


def value_in_words(value: Any) -> str:
    """A number to six digits, a list in brackets, a matrix row by row, anything else as it is."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        if value and all(isinstance(row, list | tuple) for row in value):
            return (
                f"[{'; '.join(', '.join(map(value_in_words, row)) for row in value)}]"
            )
        return f"({', '.join(map(value_in_words, value))})"
    return f"({in_words(value)})" if isinstance(value, Mapping) else str(value)
