"""Answer sheets: Markdown in which a heading names an exercise and the formulas below it are the answer.

    ## averaging-two
    Any $\\lambda$ that is large enough:
    $$q = \\lambda (k_a + k_b)$$

The words are read with the formulas: they say what is defined, assumed or claimed. Names among them ($n$) that state
nothing are no answer. Every line number is that of the file. A sheet may be hostile: what it can cost is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches

from markdown_it.token import Token

from headwright.check.reading.blocks import blocks
from headwright.check.reading.written import MOST_FORMULAS, Form, Formula, Piece, Written, find_formulas
from headwright.check.sheets.text import Complaint, Handed, Note

MOST_ANSWERS = 500
MOST_COMPLAINTS = 20
NOTHING = (
    "no answer was found: write a heading with an exercise's id, such as '## averaging-two', and the formula below it "
    "between $ signs"
)
MATHEMATICS = ("", "math", "latex", "tex")  # what a fenced block with formulas may be called
_WORD = re.compile(r"\w+(?:-\w+)*")


@dataclass(frozen=True)
class Sheet:
    """What was found on a sheet."""

    file: str
    answers: tuple[Handed, ...]
    complaints: tuple[Complaint, ...]
    notes: tuple[Note, ...] = ()  # what is not judged, and why


def parse_sheet(
    text: str, file: str, ids: Collection[str], exercise: str | None = None, *, latex: bool = False
) -> Sheet:
    """The answers in a text. With `exercise`, sections without an id answer that one, and other answers are left out.

    >>> sheet = parse_sheet("## 1. Copying\\n\\nTake\\n$q = k_j$", "sheet.md", ["copying"])
    >>> sheet.answers[0].exercise_id, sheet.answers[0].formulas
    ('copying', (Formula(text='q = k_j', line=4),))
    >>> parse_sheet("## coping\\n$q = k_j$", "sheet.md", ["copying"]).complaints[0].sentence
    'no exercise coping; did you mean copying?'
    """
    reader = _Reader(file, {each.lower(): each for each in ids}, exercise, text, "latex" if latex else "markdown")
    heading = 0
    for token in blocks(text, latex=latex):
        line = (token.map or [0])[0] + 1
        if token.type == "heading_open":
            heading = int(token.tag[1])
            continue
        if token.type in ("fence", "code_block"):
            if token.type == "fence" and (token.info.split() or [""])[0].lower() not in MATHEMATICS:
                continue
            found, open_ended = _from_code(token)
            line += token.type == "fence"
        else:
            found, open_ended = find_formulas(token.content)
        found = _joined(token.content, found)
        stated = [piece for piece in found if not piece.mention][: MOST_FORMULAS + 1]
        mentioned = [piece for piece in found if piece.mention][: MOST_FORMULAS + 1]
        words = _without(token.content, found) if heading else ""
        if words:
            reader.heading(heading, words, line)
        for formula in _with_lines(token.content, line, stated):
            reader.formula(formula)
        for formula in _with_lines(token.content, line, mentioned):
            reader.mention(formula)
        for mark in _with_lines(token.content, line, open_ended[:MOST_COMPLAINTS]):
            reader.open_ended(mark)
        heading = 0
    return reader.sheet()


@dataclass
class _Section:
    """What stands below a heading, as long as it is being read."""

    line: int
    level: int
    exercise: str | None
    missing: str | None = None  # the complaint to make if there are formulas here
    formulas: list[Formula] = field(default_factory=list)
    mentions: list[Formula] = field(default_factory=list)


class _Reader:
    """Puts formulas into sections and sections into answers."""

    def __init__(self, file: str, ids: dict[str, str], only: str | None, text: str, form: Form) -> None:
        self._file, self._ids, self._only = file, ids, only
        self._lines, self._form = text.split("\n"), form
        self._section = _Section(1, 0, only, None if only else "a formula before any heading that names an exercise: "
                                 "write '## ' and the exercise's id above it, or give --exercise ID")  # fmt: skip
        self._answers: list[Handed] = []
        self._complaints: list[Complaint] = []
        self._full = False

    def heading(self, level: int, words: str, line: int) -> None:
        named = list(dict.fromkeys(self._ids[word] for word in _words(words) if word in self._ids))
        if len(named) > 1:
            self._complain(line, f"the heading names {' and '.join(named[:5])}: expected one exercise for each heading")
        if named:
            self._start(_Section(line, level, named[0]))
            return
        below = level > self._section.level and (self._section.exercise is not None or bool(self._section.formulas))
        guess = self._guess(words, below)
        if self._only is not None:
            if not (below and self._section.formulas):  # a part of what is being answered
                self._start(_Section(line, level, self._only))
        elif guess is not None or not below:
            self._start(_Section(line, level, None, guess or self._unknown(words)))

    def formula(self, formula: Formula) -> None:
        section = self._section
        if section.exercise is None:
            if section.missing:
                self._complain(formula.line, section.missing)
                section.missing = None
            return
        if len(section.formulas) == MOST_FORMULAS:
            self._complain(formula.line, f"more than {MOST_FORMULAS} formulas in one answer: the rest is not read")
        if len(section.formulas) <= MOST_FORMULAS:
            section.formulas.append(formula)

    def mention(self, formula: Formula) -> None:
        """A name in prose: it is no answer, unless there is nothing else."""
        if self._section.exercise is not None and len(self._section.mentions) < MOST_FORMULAS:
            self._section.mentions.append(formula)

    def open_ended(self, mark: Formula) -> None:
        if self._section.exercise is not None:
            self._complain(mark.line, f"{mark.text} begins a formula that never ends: close it in the same paragraph")

    def sheet(self) -> Sheet:
        self._close(len(self._lines) + 1)
        if self._only is not None and not any(answer.formulas for answer in self._answers):
            whole = Written("\n".join(self._lines), 1, self._form)  # a formula without marks is read from it
            self._answers = self._answers[:1] or [Handed(self._file, 1, self._only, (), whole)]
        if not self._answers and not self._complaints:
            self._complain(1, NOTHING)
        return Sheet(self._file, tuple(self._answers), tuple(self._complaints))

    def _start(self, section: _Section) -> None:
        self._close(section.line)
        self._section = section

    def _close(self, until: int) -> None:
        section = self._section
        wanted = section.exercise is not None and (self._only is None or section.exercise == self._only)
        # With --exercise a section may well hold prose alone; without, a heading that names an exercise answers it.
        given = section.formulas or section.mentions
        if not wanted or not (given or self._only is None):
            return
        if len(self._answers) == MOST_ANSWERS:
            if not self._full:
                self._complain(section.line, f"more than {MOST_ANSWERS} answers on one sheet: the rest is not read")
            self._full = True
            return
        line = section.line if section.level or not given else given[0].line
        formulas = tuple(given[:MOST_FORMULAS])
        start = section.line + (section.level > 0)
        written = Written("\n".join(self._lines[start - 1 : until - 1]), start, self._form)
        self._answers.append(Handed(self._file, line, section.exercise or "", formulas, written))

    def _guess(self, words: str, below: bool) -> str | None:
        """A complaint about a heading that was meant to name an exercise, most likely."""
        given = _words(words)
        for word in [word for word in given if "-" in word] if below else [*given, "-".join(given)]:
            for near in get_close_matches(word.replace("_", "-")[:60], list(self._ids), n=1, cutoff=0.85):
                return f"no exercise {word}; did you mean {self._ids[near]}?"
        return None

    def _unknown(self, words: str) -> str | None:
        for word in _words(words):
            if "-" in word and not word.replace("-", "").isdigit():
                near = get_close_matches(word[:60], list(self._ids), n=1, cutoff=0.6)
                hint = f"did you mean {self._ids[near[0]]}?" if near else "'headwright exercises' lists them"
                return f"no exercise {word[:60]}; {hint}"
        return None

    def _complain(self, line: int, sentence: str) -> None:
        if len(self._complaints) < MOST_COMPLAINTS:
            self._complaints.append(Complaint(self._file, line, sentence))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text[:500])]


def _without(text: str, found: list[Piece]) -> str:
    """The words of a heading; empty when there is nothing but formulas, as in a formula underlined with dashes."""
    for piece in found[:20]:
        text = text.replace(piece.text, " ", 1)
    return text if _WORD.search(text) else ""


_FOR_ALL = re.compile(r"\s*(?:\$+|\\\))\s*,?\s*for (?:all|every|each|any)\s*(?:\$+|\\\()\s*")
_INDEX = re.compile(r"_(?:\w|\{[^{}]{1,20}\})")
_WHICH = re.compile(r"([a-zA-Z](?:\s*,\s*[a-zA-Z]){0,3})\s*(?:(?:\\neq?(?![a-zA-Z])|!=|≠)[\s\w,]{1,20})?")


def _joined(text: str, found: list[Piece]) -> list[Piece]:
    r"""'$A$ for all $i \ne a$' as one formula: it says for which keys A is meant.

    >>> text = r"$k_i = 0$ for all $i \ne a$"
    >>> [piece.text for piece in _joined(text, find_formulas(text)[0])]
    ['k_i = 0 \\text{ for all } i \\ne a']
    """
    joined: list[Piece] = []
    end = 0
    for piece in found:
        which = _WHICH.fullmatch(piece.text)
        if joined and which and _FOR_ALL.fullmatch(text[end : piece.start]) and _is_index(which[1], joined[-1].text):
            before = joined.pop()
            joined.append(Piece(rf"{before.text} \text{{ for all }} {piece.text}", before.start))
        else:
            joined.append(piece)
        end = piece.start + len(piece.text)
    return joined


def _is_index(letters: str, formula: str) -> bool:
    """Whether all of these letters stand in an index of the formula."""
    places = "".join(_INDEX.findall(formula))
    return all(letter.strip() in places for letter in letters.split(","))


def _from_code(token: Token) -> tuple[list[Piece], list[Piece]]:
    """A block of formulas is one formula of several lines, unless it has marks of its own inside."""
    found, open_ended = find_formulas(token.content)
    if found:
        return found, open_ended
    text = token.content.strip()
    return ([Piece(text, token.content.index(text))] if text else []), []


def _with_lines(text: str, line: int, pieces: list[Piece]) -> Iterator[Formula]:
    seen = 0
    for piece in pieces:
        line += text.count("\n", seen, piece.start)
        seen = piece.start
        yield Formula(piece.text, line)
