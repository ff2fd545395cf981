"""An answer as it was written: its text, words and formulas mixed, and where it stands.

Formulas stand in running text between the marks $ $, $$ $$, \\( \\), \\[ \\] and in environments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

Form = Literal["markdown", "latex", "plain"]
MOST_FORMULAS = 200  # of one answer


@dataclass(frozen=True)
class Formula:
    """A formula as it was written, and the line of its file (counted from 1).

    >>> Formula("q = k_a", 3).line
    3
    """

    text: str
    line: int


@dataclass(frozen=True)
class Written:
    r"""The text that answers one exercise, and the line of its file at which the text begins (counted from 1).

    >>> Written("Take $q = k_a$.", 3).lines
    1
    """

    text: str
    line: int = 1
    form: Form = "markdown"

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n") + 1


ENVIRONMENTS = "equation|align|gather|multline|eqnarray|displaymath|math"
_MARK = re.compile(rf"\\[\\()\[\]$]|\\(?:begin|end)\{{(?:{ENVIRONMENTS})\*?\}}|\$+|\\?`+")
_COMPARES = re.compile(
    r"[=<>≤≥≠≈∼~≪≫→≡∈∉⊥]|\\(?:leq?|geq?|leqslant|geqslant|neq?|ll|gg|lt|gt|approx|sim|simeq|cong|equiv|propto|to"
    r"|(?:long)?(?:left)?rightarrow|(?:Long)?(?:Left)?[Rr]ightarrow|implies|iff|lesssim|gtrsim|in|notin|perp|not"
    r"|(?:down|up|se|ne|left|longleft)arrow|x(?:right|left|mapsto|Right)arrow|lessapprox|gtrapprox|prec|succ|preceq|succeq"
    r"|asymp|doteq|triangleq|coloneqq|mapsto|longmapsto|subset|subseteq|ni|lll|ggg|nless|ngtr|nleq|ngeq|leadsto|gets"
    r"|leqq|geqq|varpropto)(?![a-zA-Z])"
)
_INDICES = re.compile(r"[_^]\s*\{[^{}]*\}")  # what is compared in an index states nothing
_CLOSING = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}


@dataclass(frozen=True)
class Piece:
    """A formula found in text: what stands between its marks, and at which character of the text it starts.

    >>> Piece("n = 2", 4).start
    4
    """

    text: str
    start: int
    mention: bool = False  # a name or term in running prose, such as $n$, which states nothing


def compares(text: str) -> bool:
    """Whether a formula compares things; a name or a term states nothing.

    >>> compares("n = 2"), compares("n"), compares(r"\\{k_i\\}_{i \\ne j}")
    (True, False, False)
    """
    return _COMPARES.search(_INDICES.sub("", text)) is not None


def closing(mark: str) -> str | None:
    r"""The mark that ends a formula begun with this one; None if it begins none.

    >>> closing(r"\["), closing(r"\begin{align}"), closing("$$$")
    ('\\]', '\\end{align}', None)
    """
    if mark.startswith("\\begin"):
        return mark.replace("begin", "end")
    return _CLOSING.get(mark)


def find_formulas(text: str) -> tuple[list[Piece], list[Piece]]:
    r"""The formulas of a text, and the marks that begin a formula which never ends. Code spans are left alone.

    >>> found, open_ended = find_formulas(r"Take $q = k_a$, or \(q = k_b\); `$x$` is code, \$5 is money; $n")
    >>> [piece.text for piece in found], [piece.text for piece in open_ended]
    (['q = k_a', 'q = k_b'], ['$'])
    """
    marks = [(match[0], match.start()) for match in _MARK.finditer(text)]
    places: dict[str, list[int]] = {}
    for number, (mark, _) in enumerate(marks):
        places.setdefault(mark.lstrip("\\") if mark.endswith("`") else mark, []).append(number)
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
                    found.append(_piece(text[inner : marks[later[at]][1]], inner, mark in ("$", r"\(")))
                number = later[at]
            elif not code:
                open_ended.append(Piece(mark, start))
        number += 1
    return [piece for piece in found if piece.text], open_ended


def _piece(inside: str, start: int, in_prose: bool) -> Piece:
    """Without the blanks around it, and without the backticks of $`..`$."""
    if len(inside) > 1 and inside[0] == inside[-1] == "`":
        inside, start = inside[1:-1], start + 1
    mention = in_prose and not compares(inside)
    return Piece(inside.strip(), start + len(inside) - len(inside.lstrip()), mention)
