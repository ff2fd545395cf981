"""An answer as it was written: its text, words and formulas mixed, and where it stands.

Formulas stand in running text between the marks $ $, $$ $$, \\( \\), \\[ \\] and in environments; people set numbers
and remarks beside them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from headwright.check.reading.lexicon import lexicon

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


# Formulas as people set them.

IMPLIED = re.compile(
    r"(?:&|\\quad|\\qquad|\\;|\\,|\s)*\\?(?:implies|Rightarrow|Longrightarrow|therefore|⇒|⟹)(?![a-zA-Z])"
)
_LEADING = re.compile(
    r"(?:&|\\quad|\\qquad|\\;|\\,|\s)*(?:[=<>≤≥≈≠]|\\(?:leq?|geq?|approx|neq?|ll|gg|to|sim|equiv|implies|Rightarrow|Longrightarrow"
    r"|iff|Leftrightarrow)(?![a-zA-Z]))"
)
_COMMENT = re.compile(
    r"\s*(?:&&?|\\q?quad)\s*(?:\(\s*)?\\(?:text|textrm|mbox)\{\s*\(?([^{}$()]*)\)?\s*\}(?:\s*\))?\s*(?=\\\\|$)"
)
_NUMBERED = re.compile(r"\s*(?:\\q?quad|\\tag|\\hfill|\s{2,})\s*(?:\(\d{1,3}[a-z]?\)|\{\d{1,3}[a-z]?\})\s*$")
_REMARK = re.compile(r"\s*\\q?quad\s*\(\s*\\(?:text|textrm|mbox)\{([^{}]*)\}((?:[^()]|\([^()]*\))*)\)\s*$")
_POSITIVE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*(?:[\^_]\s*\{?\s*\+\s*\}?|_\s*\{\s*>\s*0\s*\})")
_CONNECTIVE = re.compile(r"^\\text\{\s*(?:then|so|hence|thus|therefore)\s*,?\s*\}\s*", re.IGNORECASE)
_CHANGE = re.compile(r"\\Delta\s+([a-z])(?![a-zA-Z])")


def leads_on(text: str) -> bool:
    """Whether a formula begins with a relation, so that it continues the one before."""
    return _LEADING.match(text) is not None


def tidy(text: str) -> str:
    r"""Without the mark that ends a sentence, and with two habits spelled out.

    >>> tidy(r"\beta \in \mathbb{R}^+"), tidy(r"\Delta s = 1.")
    ('\\beta > 0', '\\Delta_{s} = 1')
    """
    text = re.sub(r"[.,;:]\s*$", "", _CONNECTIVE.sub("", text.strip(), count=1))
    return _CHANGE.sub(r"\\Delta_{\1}", _POSITIVE.sub("> 0", text))


def remarks(text: str) -> Iterator[tuple[str, bool]]:
    r"""A formula without its number and without a remark in brackets behind it; then what the remark states.

    >>> list(remarks(r"a = b \quad (\text{since } P^T P = I) \quad (20)"))
    [('a = b', False), ('P^T P = I', True)]
    """
    text = _COMMENT.sub(_without_comment, _NUMBERED.sub("", text))
    found = _REMARK.search(text)
    phrase = lexicon().part(re.findall(r"[\w'.]+", found[1].lower())) if found is not None else None
    if found is None or phrase is None or phrase.part != "reason":
        yield text, False
        return
    yield text[: found.start()], False
    if found[2].strip():
        yield found[2].strip(), True


def _without_comment(found: re.Match[str]) -> str:
    """A step without the words beside it that say how it is made, if they claim nothing themselves."""
    words = re.findall(r"[\w'-]+", found[1].lower())
    parts = [lexicon().part(words[at:]) for at in range(len(words))]
    idle = all(one is None or one.part in ("idle", "reason", "claim") for one in parts)
    return "" if idle and lexicon().claims_nothing(words) else found[0]
