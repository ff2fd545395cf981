"""Whole documents, questions and answers mixed: which part answers which exercise, and what is only asked.

An id in a heading says it. Where there is none, parts are found by headings and labels in any form, questions are told
from answers, and each answer is compared with the exercises; what was chosen is told with the reason. A part that fits
two exercises about as well, or none, is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headwright.check.exercise import Exercise
from headwright.check.reading.written import Written, find_formulas
from headwright.check.sheets.matching import Match, Matcher, Words, defined
from headwright.check.sheets.outline import DEEPEST_ATX, LISTED, Line, Part, outline
from headwright.check.sheets.sheet import MOST_ANSWERS, MOST_COMPLAINTS, NOTHING, Sheet, parse_sheet
from headwright.check.sheets.text import Complaint, Handed, Note, clean, read_text, shortened
from headwright.errors import InputError

MOST_QUESTIONS = 20  # paragraphs of a part that are looked at one by one
FARTHEST = 500  # lines between an answer and the definition that it takes over


def read_document(source: str | Path, exercises: Mapping[str, Exercise], exercise: str | None = None) -> Sheet:
    """The answers in a file (`-` is standard input); see `parse_document`."""
    name = clean(str(source)) if str(source) != "-" else "standard input"
    try:
        text = read_text(source)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return parse_document(text, name, exercises, exercise, latex=Path(str(source)).suffix == ".tex")


def parse_document(
    text: str, file: str, exercises: Mapping[str, Exercise], exercise: str | None = None, *, latex: bool = False
) -> Sheet:
    r"""The answers in a text: a sheet with ids in its headings, or any document.

    >>> from headwright.check.exercise import load_exercises
    >>> text = "(a) Average two values.\n\nSolution: Set $q = \\lambda (k_a + k_b)$; the keys are orthonormal.\n"
    >>> answer = parse_document(text, "homework.txt", load_exercises()).answers[0]
    >>> answer.exercise_id, answer.line, answer.formulas[0].line
    ('averaging-two', 3, 3)
    """
    matcher = Matcher(exercises)
    root = outline(text, latex=latex, titles=matcher.is_title, named=matcher.named)
    if exercise is not None or _is_sheet(root, matcher):
        return parse_sheet(text, file, list(exercises), exercise, latex=latex)
    return _Reader(file, matcher, root, latex).sheet()


def _is_sheet(root: Part, matcher: Matcher) -> bool:
    """Whether headings name, or were meant to name, exercises, and no part is labelled in another way."""
    parts = list(root.walk())
    if any(part.rank <= DEEPEST_ATX and matcher.misspelt(part.title) for part in parts):
        return True
    outside = (part for part in parts if part.label and not any(above.named for above in part.path[:-1]))
    return any(part.named <= DEEPEST_ATX for part in parts if part.named) and not any(
        line.text.strip() for part in outside for line in part.lines
    )


@dataclass(frozen=True)
class Found:
    """An answer: the parts it stands in, its lines, and the exercise that it fits."""

    parts: tuple[Part, ...]
    lines: tuple[Line, ...]
    words: Words
    match: Match

    @property
    def text(self) -> str:
        """What it says."""
        return _text(self.lines)


class _Reader:
    """Finds the answers and the questions below the parts of a document."""

    def __init__(self, file: str, matcher: Matcher, root: Part, latex: bool) -> None:
        self._file, self._matcher, self._root, self._latex = file, matcher, root, latex
        marks = any(part.mark == "solution" and not any(each.named for each in part.path) for part in root.walk())
        self._spoken = {id(part): spoken(part, marks=marks) for part in root.walk()}
        self._asking: dict[tuple[str, ...], list[Part]] = {}
        for part in root.walk():
            if self._of(part).asked:
                self._asking.setdefault(_key(part), []).append(part)

    def sheet(self) -> Sheet:
        found = self._answers(self._root)
        answers: list[Handed] = []
        complaints: list[Complaint] = []
        notes: list[Note] = []
        for place, each in enumerate(found):
            if not each.match.exercise_id:
                notes.append(self._unjudged(each))
            elif len(answers) == MOST_ANSWERS:
                sentence = f"more than {MOST_ANSWERS} answers: the rest is not read"
                complaints.append(Complaint(self._file, _first(each), sentence))
                break
            else:
                handed, more = self._handed(each, found[:place])
                answers.append(handed)
                complaints += more
        notes += self._questions(found)
        if not (answers or notes):
            complaints.append(Complaint(self._file, 1, NOTHING))
        notes.sort(key=lambda note: note.line)
        return Sheet(self._file, tuple(answers), tuple(complaints[:MOST_COMPLAINTS]), tuple(notes[:MOST_ANSWERS]))

    def _of(self, part: Part) -> Spoken:
        return self._spoken[id(part)]

    def _answers(self, part: Part) -> list[Found]:
        """The answers in a part: those of its parts one by one, or all of it as one."""
        own = self._of(part).said
        if part.named:
            lines = [line for each in part.walk() for line in self._of(each).said]
            return [self._found((part,), lines)] if _has_words(lines) else []
        alone = [self._found((part,), own)] if _has_words(own) else []
        below = [each for inner in part.parts for each in self._answers(inner)]
        if not below:
            return alone
        fits = {each.match.exercise_id for each in below} - {""}
        if len(fits) > 1 or not part.above or not all(each.parts[0].rank >= LISTED for each in below):
            return [*(each for each in alone if each.match.exercise_id or _states(each)), *below]
        if fits:
            return self._joined(alone, below, fits.pop(), steps=bool(part.kind))
        whole = self._found((part, *(each for inner in below for each in inner.parts)), own, below)
        return [whole] if whole.match.exercise_id else [*(each for each in alone if _states(each)), *below]

    def _joined(self, alone: list[Found], below: list[Found], exercise_id: str, *, steps: bool) -> list[Found]:
        """(i) and (ii) that answer one exercise are one answer, and so are steps; two objects are two answers."""
        exercise = self._matcher.exercises[exercise_id]
        wanted = exercise.answer
        others = [name for name in self._matcher.names if name not in (*wanted, *exercise.definitions)]
        steps = steps and all(each.parts[0].kind == "digit" and not defined(each.text, others) for each in below)
        below = [*(each for each in alone if steps or each.match.exercise_id or _states(each)), *below]
        mine = [each for each in below if steps or each.match.exercise_id == exercise_id]
        if len(mine) < 2 or sum(bool(defined(each.text, wanted)) for each in mine) > 1:
            return below
        best = max(mine, key=lambda each: each.match.score)
        parts = tuple(inner for each in mine for inner in each.parts)
        joined = Found(parts, tuple(line for each in mine for line in each.lines), best.words, best.match)
        rest = [each for each in below if each not in mine]
        return sorted([joined, *rest], key=lambda each: each.parts[0].line)

    def _found(self, parts: tuple[Part, ...], own: Sequence[Line], below: Sequence[Found] = ()) -> Found:
        part = parts[0]
        lines = (*own, *(line for each in below for line in each.lines))
        asking = [other for other in self._asking.get(_key(part), []) if other is not part]
        asking += self._left_unanswered(part)
        asked = [line for other in (*asking, *parts) for line in self._of(other).asked]
        above = [other for each in (part, *asking) for other in each.path[:-1]]
        around = [other.title for other in above] + [_text(self._of(other).asked) for other in above if other.rank]
        heading = " ".join([part.title, *(other.title for other in asking)])
        words = Words(heading, _text(asked), _text(lines), "\n".join(around))
        named = next((name for each in reversed(part.path) if (name := self._matcher.named(each.title))), "")
        if named:  # an id wins
            return Found(parts, lines, words, Match(named, "the heading names it"))
        return Found(parts, lines, words, self._matcher.match(words, self._before(part)))

    def _left_unanswered(self, part: Part) -> list[Part]:
        """Questions right before this one that nothing else answers: '(i) ... (ii) ... My answer: ...' answers both."""
        if part.above is None or not part.marked_at:
            return []
        siblings = part.above.parts
        left: list[Part] = []
        for other in reversed(siblings[: siblings.index(part)]):
            if self._of(other).said or other.parts or sum(each.label == other.label for each in siblings) > 1:
                break
            left.append(other)
        return left[::-1]

    def _before(self, part: Part) -> tuple[str, ...]:
        """What the answers before this one, in the same part, define."""
        if part.above is None:
            return ()
        siblings = part.above.parts
        earlier = siblings[: siblings.index(part)][-5:]
        text = "\n".join(_text(self._of(inner).said) for other in earlier for inner in other.walk())
        return defined(text, self._matcher.names)

    def _handed(self, found: Found, earlier: Sequence[Found]) -> tuple[Handed, list[Complaint]]:
        chosen = self._matcher.exercises[found.match.exercise_id]
        missing = chosen.missing(defined(found.text, chosen.answer))
        carried = _carried(found, missing, earlier) if missing else ()
        why = found.match.why
        if carried:
            first, last = carried[0].number, carried[-1].number
            lines = f"line {first}" if len(carried) == 1 else f"lines {first}-{last}"
            why += f"; {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} taken from {lines}"
        lines_of = sorted((*carried, *found.lines), key=lambda line: line.number)
        first = next(line.number for line in lines_of if line.text.strip())
        by_number: dict[int, str] = {}
        for line in lines_of:
            before = by_number.get(line.number)
            by_number[line.number] = line.text if before is None else f"{before} {line.text}".strip()
        text = "\n".join(by_number.get(number, "") for number in range(first, lines_of[-1].number + 1))
        sheet = parse_sheet(text, self._file, (), chosen.id, latex=self._latex)
        below = (formula for answer in sheet.answers for formula in answer.formulas)
        formulas = tuple(replace(formula, line=formula.line + first - 1) for formula in below)
        written = Written(text, first, "latex" if self._latex else "markdown")
        handed = Handed(self._file, _first(found), chosen.id, formulas, written, why)
        return handed, [replace(each, line=each.line + first - 1) for each in sheet.complaints]

    def _unjudged(self, found: Found) -> Note:
        part, candidates = found.parts[0], found.match.candidates
        what = f"{part.name}: {part.title}" if part.name and part.title else part.name or part.title or found.text
        if len(candidates) > 1:
            why = f"it may answer {' or '.join(candidates)}; write '## {candidates[0]}' above it, or give --exercise"
        else:
            why = "no exercise fits it; write '## ' and an exercise's id above it if there is one"
        return Note(self._file, _first(found), f"not judged ({shortened(what, 60)}): {why}", unjudged=True)

    def _questions(self, found: Sequence[Found]) -> Iterator[Note]:
        """Which exercises are asked and not answered; of a document without answers, that it only asks."""
        answered = {each.match.exercise_id for each in found}
        parts = [part for each in found for part in each.parts]
        done = {_key(part) for part in parts} | {_key(left) for part in parts for left in self._left_unanswered(part)}
        asked = [(name, line) for name, line in self._asked(done) if name not in answered]
        known = ", ".join(f"{name} (line {line})" for name, line in asked)
        if found and asked:
            yield Note(self._file, asked[0][1], f"asked, and no answer was found: {known}")
        elif not found and any(each.asked for each in self._spoken.values()):
            told = f"these exercises: {known}" if known else "none of them is an exercise here"
            yield Note(self._file, asked[0][1] if asked else 1, f"questions only, nothing to judge; {told}")

    def _asked(self, done: Collection[tuple[str, ...]]) -> list[tuple[str, int]]:
        """The exercises that are asked, each with its line, but for those of parts that are done."""
        found: dict[str, int] = {}
        for part in self._root.walk():
            if self._of(part).asked and not part.parts and _key(part) not in done:
                for name, line in self._asked_in(part):
                    found.setdefault(name, line)
        found.pop("", None)  # what is no exercise
        return list(found.items())

    def _asked_in(self, part: Part) -> Iterator[tuple[str, int]]:
        """The exercises that one part asks, as a whole and in its paragraphs."""
        above = part.path[:-1]
        around = "\n".join([*(each.title for each in above), *(_text(self._of(each).asked) for each in above[1:])])
        asked = self._of(part).asked
        yield self._matcher.match(Words(part.title, _text(asked), "", around)).exercise_id, part.line
        for lines in paragraphs(asked)[:MOST_QUESTIONS]:
            yield self._matcher.match(Words("", _text(lines), "", around)).exercise_id, lines[0].number


def _carried(found: Found, missing: Sequence[str], before: Sequence[Found]) -> tuple[Line, ...]:
    """The paragraphs that define what an answer uses, in the answer before it in the same part."""
    here = found.parts[0]
    for other in reversed(before):
        if other.parts[0].above is not here.above or _first(found) - _first(other) > FARTHEST:
            continue
        chosen = [each for each in paragraphs(other.lines) if defined(_text(each), missing)]
        if all(defined("\n".join(_text(each) for each in chosen), [name]) for name in missing):
            return tuple(line for each in chosen for line in each)
    return ()


def _key(part: Part) -> tuple[str, ...]:
    return tuple(each.label or each.title for each in part.path[1:])


def _first(found: Found) -> int:
    """The line of its heading, or of the mark below its question."""
    part = found.parts[0]
    below = part.marked_at and not part.named and any(line.number < part.marked_at for line in part.lines)
    return part.marked_at if below else part.line


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)


def _states(found: Found) -> bool:
    """Whether there are formulas in it: words alone that fit no exercise are no answer that one would miss."""
    return bool(find_formulas(found.text)[0])


def _has_words(lines: Sequence[Line]) -> bool:
    return any(character.isalnum() for line in lines for character in line.text)


_ORDERS = (
    "find|show|prove|describe|explain|design|construct|give|derive|compute|calculate|determine|state|justify|discuss"
    "|verify|summari[sz]e|argue|write down|briefly|think about|identify|name|propose|suggest|provide"
    "|demonstrate|compare"
)
_ORDER = re.compile(
    rf"^\W{{0,20}}(?:(?:then|now|please|next|finally|also|again|hence|and)\b,?\s*)?(?:\([^)]{{0,60}}\)\s*)?\W{{0,20}}(?:{_ORDERS})\b"
    rf"|^\W{{0,20}}(?:using|based on|under|given|with|for|in|as|assuming)\b.{{0,400}}?,\W{{0,20}}(?:{_ORDERS})\b",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = re.compile(
    r"\?\W{0,20}$|\b(?:we want to (?:find|show|prove|choose)|to (?:show|prove):|(?:justify|explain) your"
    r"|do you (?:think|expect)|you (?:can|may|should) (?:ignore|assume)|should have different)\b"
    r"|^\W{0,20}(?:to (?:show|prove)|claim|want)\W*:",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"^\W{0,20}(?:yes|no)\b\W|\b(?:therefore|thus|hence|consequently|it follows|this implies)\b"
    r"|\b(?:set|choose|take|pick|let|try|use|define|put)\s+(?:the \w+ \w* ?)?\$*\s*(?:q|M|B|V|K|Q)(?:_\{?\w+\}?)?\s*"
    r"(?::?=|\\propto)",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\W{0,20}(?:sup>)?\d?\W{0,20}(?:hint|note|figure|fig|recall|remark|see|here|where|footnote|source|due|points?)\b",
    re.IGNORECASE,
)
LONGEST = 5000  # characters of a paragraph that are looked at
_SENTENCE = re.compile(r"(?<=[.?!:])[*_)\]'\"”]*\s+")
_STATES = re.compile(r"[=<>≤≥≠≈≪≫]|\\(?:approx|to|g|l|n)\w*")
_WORDS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Spoken:
    """The lines of a part that ask, and those that answer.

    >>> from headwright.check.sheets.outline import outline
    >>> found = spoken(outline("Why is it so?\\n\\nBecause $a = b$, and thus $b = a$."))
    >>> [line.text for line in found.asked], [line.number for line in found.said if line.text]
    (['Why is it so?'], [3])
    """

    asked: tuple[Line, ...] = ()
    said: tuple[Line, ...] = ()


def spoken(part: Part, *, marks: bool = False) -> Spoken:
    """What the lines of a part do; `marks` tells that answers are marked in this document, so that others are none."""
    if part.marked_at:
        before = [line for line in part.lines if line.number < part.marked_at]
        after = [line for line in part.lines if line.number >= part.marked_at]
        asked, said = _split(before)
        if asked or (said and not any(_SAYS.search(_beginning(each)) for each in paragraphs(said))):
            proof = part.mark == "proof" and not asked
            return Spoken((), (*said, *after)) if proof else Spoken(tuple(before), tuple(after))
        return Spoken((), (*said, *after))
    plain = [line for line in part.lines if not line.mark]
    below = [line for line in part.lines if line.mark]
    asked, said = _split(plain)
    if part.parts or (marks and (asked or not any(_SAYS.search(_beginning(each)) for each in paragraphs(said)))):
        asked, said = plain, []
    more, answered = _split(below)
    return Spoken(tuple(asked + more), tuple(said + answered)) if _has_words(part.lines) else Spoken()


def paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines that stand together; a bullet begins anew."""
    found: list[list[Line]] = [[]]
    for line in lines:
        if not line.text.strip() or re.match(r"\s*[-*+•]\s", line.text):
            found.append([])
        if line.text.strip():
            found[-1].append(line)
    return [each for each in found if each]


def asks(text: str) -> bool:
    """Whether a paragraph asks: it has a question, or an order such as 'Find'.

    >>> asks("Find an expression for $q$."), asks("Since $q$ is long, we find that it works.")
    (True, False)
    """
    return any(_ORDER.search(sentence) or _ASKS.search(sentence) for sentence in _SENTENCE.split(text))


def _split(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """What is asked first, and what is said then."""
    last = 0
    for paragraph in paragraphs(lines):
        text = _beginning(paragraph)
        if asks(text):
            last = paragraph[-1].number
        elif _SAYS.search(text):
            break
    asked = [line for line in lines if line.number <= last]
    said = [line for line in lines if line.number > last]
    if asked and not _says(said):
        return _within(list(lines), last)
    return asked, said


def _within(lines: list[Line], last: int) -> tuple[list[Line], list[Line]]:
    """'Can it be? No, since ...' in one line: the answer is what follows the last question mark."""
    for place, line in enumerate(lines):
        cut = line.text.rfind("?") + 1
        if (
            line.number == last
            and cut
            and re.match(r"\W*(?:yes|no|because|since|it is|take|set|choose)\b", line.text[cut:], re.I)
        ):
            first = replace(line, text=" " * cut + line.text[cut:])
            return [*lines[:place], replace(line, text=line.text[:cut])], [first, *lines[place + 1 :]]
    return lines, []


def _says(lines: Sequence[Line]) -> bool:
    """Whether there is an answer in these lines: not only hints, footnotes and captions."""
    return any(
        not _BESIDE.match(text) and (_SAYS.search(text) or _STATES.search(text) or len(_WORDS.findall(text)) > 3)
        for text in (_beginning(each) for each in paragraphs(lines))
    )


def _beginning(lines: Sequence[Line]) -> str:
    """The text of a paragraph, as far as it is looked at."""
    return "\n".join(line.text[:LONGEST] for line in lines)[:LONGEST]
