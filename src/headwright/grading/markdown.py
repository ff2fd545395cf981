r"""Answers as text: blocks of Markdown or LaTeX (by markdown-it), and the formulas in them.

Formulas stand in running text between the marks $ $, $$ $$, \\( \\), \\[ \\] and in environments. Displayed formulas
stay whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from headwright.formulas import FormulaError
from headwright.formulas.parse import expanded, macros

Form = Literal["markdown", "latex", "plain"]


@dataclass(frozen=True)
class Written:
    """The text that answers one exercise, and the line of its file at which the text begins (counted from 1)."""

    text: str
    line: int = 1
    form: Form = "markdown"
    macros: str = (
        ""  # definitions of a LaTeX preamble, which hold for the whole document
    )

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n") + 1


ENVIRONMENTS = "equation|align|gather|multline|eqnarray|displaymath|math"
_MARK = re.compile(
    rf"\\[\\()\[\]$]|\\(?:begin|end)\{{(?:{ENVIRONMENTS})\*?\}}|\$+|\\?`+"
)
_COMPARES = re.compile(
    r"[=<>≤≥≠≈∼~≪≫→≡∈∉⊥]|\\(?:leq?|geq?|leqslant|geqslant|neq?|ll|gg|lt|gt|approx|sim|simeq|cong|equiv|propto|to"
    r"|(?:long)?(?:left)?rightarrow|(?:Long)?(?:Left)?[Rr]ightarrow|implies|iff|lesssim|gtrsim|in|notin|perp|not"
    r"|(?:down|up|se|ne|left|longleft)arrow|x(?:right|left|mapsto|Right)arrow|lessapprox|gtrapprox|prec|succ|preceq|succeq"
    r"|asymp|doteq|triangleq|coloneqq|mapsto|longmapsto|subset|subseteq|ni|lll|ggg|nless|ngtr|nleq|ngeq|leadsto|gets"
    r"|leqq|geqq|varpropto)(?![a-zA-Z])"
)
_INDICES = re.compile(
    r"[_^]\s*\{[^{}]*\}"
)  # what is compared in an index states nothing
_CLOSING = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}


@dataclass(frozen=True)
class Piece:
    """A formula found in text: what stands between its marks, and at which character of the text it starts."""

    text: str
    start: int
    mention: bool = (
        False  # a name or term in running prose, such as $n$, which states nothing
    )
    begin: int = 0  # where the mark before it stands
    end: int = 0  # ... and where the one behind it ends


def compares(text: str) -> bool:
    """Whether a formula compares things; a name or a term states nothing."""
    return _COMPARES.search(_INDICES.sub("", text)) is not None


def closing(mark: str) -> str | None:
    """The mark that ends a formula begun with this one; None if it begins none."""
    if mark.startswith("\\begin"):
        return mark.replace("begin", "end")
    return _CLOSING.get(mark)


def find_formulas(text: str) -> tuple[list[Piece], list[Piece]]:
    """The formulas of a text, and the marks that begin a formula which never ends. Code spans are left alone."""
    marks = [(match[0], match.start()) for match in _MARK.finditer(text)]
    places: dict[str, list[int]] = {}
    for number, (mark, _) in enumerate(marks):
        places.setdefault(mark.lstrip("\\") if mark.endswith("`") else mark, []).append(
            number
        )
    found, open_ended = [], []
    number = 0
    while number < len(marks):
        mark, start = marks[number]
        code = mark.startswith("`")
        end = mark if code else closing(mark)
        if end is not None:
            later = places.get(end, [])
            at = bisect_right(later, number)
            if at < len(later):
                inner = start + len(mark)
                if not code:
                    inside, stop = (
                        text[inner : marks[later[at]][1]],
                        marks[later[at]][1] + len(end),
                    )
                    if len(inside) > 1 and inside[0] == inside[-1] == "`":  # $`..`$
                        inside, inner = inside[1:-1], inner + 1
                    mention = mark in ("$", r"\(") and not compares(inside)
                    first = inner + len(inside) - len(inside.lstrip())
                    found.append(Piece(inside.strip(), first, mention, start, stop))
                number = later[at]
            elif not code:
                open_ended.append(Piece(mark, start))
        number += 1
    return [piece for piece in found if piece.text], open_ended


_LEADING = re.compile(
    r"(?:&|\\quad|\\qquad|\\;|\\,|\s)*(?:[=<>≤≥≈≠]|\\(?:leq?|geq?|approx|neq?|ll|gg|to|sim|equiv|implies|Rightarrow|Longrightarrow"
    r"|iff|Leftrightarrow)(?![a-zA-Z]))"
)


def leads_on(text: str) -> bool:
    """Whether a formula begins with a relation, so that it continues the one before."""
    return _LEADING.match(text) is not None


DEEPEST = 20  # quotes within lists within quotes; what is nested deeper is left out
_DISPLAY = re.compile(
    rf"\\\\|\$\$|\\\[|\\\]|\\(?:begin|end)\{{(?:{ENVIRONMENTS})\*?\}}"
)
_HEADING = re.compile(r"[\s>]*#{1,6}\s")
_OTHER = re.compile(
    r">|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|#{1,6}(?:\s|$)|```|~~~"
)  # begins a block of another kind
_SECTION = re.compile(r"\s*\\((?:sub){0,2})section\*?\{(.*)\}\s*")


def blocks(text: str, *, latex: bool = False) -> Iterator[Token]:
    """Tokens of headings (an opening one, then its words), paragraphs and code, in order."""
    text = without_comments(text)
    lines = text.split("\n")
    if latex:
        lines = [as_markdown(line) for line in lines]
    marks: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        for mark in set(_DISPLAY.findall(line)):
            marks.setdefault(mark, []).append(number)
    environment = {
        "marks": marks,
        "walls": [number for number, line in enumerate(lines) if _HEADING.match(line)],
    }
    for token in _PARSER.parse("\n".join(lines), environment):
        if token.type in ("heading_open", "inline", "fence", "code_block"):
            yield token


def _display(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start):
        return False
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    wanted = None if _OTHER.match(line) else left_open(line)
    if wanted is None:
        return False
    env: dict[str, Any] = dict(state.env)
    places: list[int] = env["marks"].get(wanted, [])
    at = bisect_right(places, start)
    if at == len(places) or places[at] >= end:
        return False
    last, walls = places[at], env["walls"]
    if bisect_left(walls, last + 1) > bisect_right(
        walls, start
    ):  # a heading in between: the end was forgotten
        return False
    if not silent:
        state.line = last + 1
        token = state.push("inline", "", 0)
        token.content = state.getLines(start, last + 1, state.blkIndent, False)
        token.map = [start, last + 1]
    return True


def left_open(line: str) -> str | None:
    """The mark that would end a displayed formula which starts in this line and goes on in the next."""
    if "$$" not in line and "\\" not in line:
        return None
    wanted: str | None = None
    for mark in _DISPLAY.findall(line):
        if wanted is None:
            wanted = closing(mark)
        elif mark == wanted:
            wanted = None
    return wanted


def as_markdown(line: str) -> str:
    """A line of LaTeX: sections are headings, and what follows a % is a comment."""
    section = _SECTION.fullmatch(line)
    if section:
        return f"{'#' * (2 + len(section[1]) // 3)} {section[2]}"
    return re.sub(
        r"(?<!\\)%.*", "", line
    ).lstrip()  # in LaTeX, indentation means nothing


ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_LISTS = (
    [str(number) for number in range(1, 100)],
    "abcdefgh",
    ROMANS,
)  # labels of LaTeX, by depth
_STRUCTURE = re.compile(
    r"\\(?:(begin|end)\{(enumerate|solution|answer|proof|problem|exercise)\*?\}|item\b)\s*(?:\[([^\]]*)\])?\s*"
)


def structure_as_markdown(lines: list[str]) -> Iterator[str]:
    """Sections, items and solutions as they would be in Markdown; one line for each line."""
    lists: list[list[str]] = []  # the labels that are left, for each list that is open
    for given in lines:
        line = re.sub(
            r"^\\(?:sub)?paragraph\*?\{([^{}]{1,120})\}", r"**\1** ", as_markdown(given)
        )
        found, opening = _STRUCTURE.match(line), ""
        if found and found[2] == "enumerate":
            lists = (
                [*lists[-20:], list(_LISTS[len(lists) % 3])]
                if found[1] == "begin"
                else lists[:-1]
            )
        elif found and found[2] is None and lists and lists[-1]:
            opening = f"({lists[-1].pop(0)})"
        elif found and found[1] == "begin":
            opening = (
                "Solution:"
                if found[2] in ("solution", "answer", "proof")
                else f"**{found[3] or found[2]}**"
            )
        yield f"{opening} {line[found.end() :]}".strip() if found else line


def without_preamble(text: str) -> tuple[str, str]:
    """The preamble of a LaTeX document, and its body with the commands of the preamble put in; lines stay."""
    preamble, begins, body = text.partition("\\begin{document}")
    if not begins:
        return "", text
    commands, lines = macros(preamble), body.split("\n")
    for number, line in enumerate(lines):
        with suppress(
            FormulaError
        ):  # a command that is defined by itself, or grows without bound
            lines[number] = expanded(line, commands)
    return preamble, "\n" * preamble.count("\n") + "\n".join(lines)


def without_comments(text: str) -> str:
    """Comments blanked out: a teacher's hints in them are not answers. Lines stay where they are."""
    parts, done = [], 0
    while (start := text.find("<!--", done)) >= 0 and (
        stop := text.find("-->", start + 4)
    ) >= 0:
        parts += [text[done:start], re.sub(r"[^\n]", " ", text[start : stop + 3])]
        done = stop + 3
    return "".join([*parts, text[done:]])


_PARSER = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).disable(
    ["reference", "html_block"]
)
_PARSER.core.ruler.enableOnly(
    ["normalize", "block"]
)  # formulas are found in the text as it was written
_PARSER.block.ruler.before(
    "code", "display", _display, {"alt": ["paragraph", "blockquote", "list"]}
)


_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")


def is_table(text: str) -> bool:
    """Whether a paragraph is a table: a row of names, a rule, and rows below it."""
    rows = text.strip("\n").split("\n")
    return (
        len(rows) > 2
        and "|" in rows[0]
        and _RULE.fullmatch(rows[1]) is not None
        and "|" in rows[1]
    )


def of_formulas(formulas: Sequence[str]) -> Written:
    """Bare formulas as a text, one to a line."""
    return Written("\n".join(f"$${formula}$$" for formula in formulas))


def of_lines(lines: Sequence[tuple[int, str]], form: Form, macros: str) -> Written:
    """Lines with their numbers as a text; those between them are empty."""
    first = next((number for number, text in lines if text.strip()), lines[-1][0])
    words = dict(lines)
    text = "\n".join(words.get(number, "") for number in range(first, lines[-1][0] + 1))
    return Written(text.rstrip(), first, form, macros)
