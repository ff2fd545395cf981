"""The sections of a document, by headings and labels in any form: what each asks, and what it answers.

'Solution:', 'Answer:' and 'Proof:' mark what answers; so does a label that comes again in its list.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby

from headwright.grading.markdown import (
    ROMANS,
    left_open,
    structure_as_markdown,
    without_comments,
)
from headwright.grading.sentences import asks

Line = tuple[int, str]  # its number in the file, and its words without label and mark
MOST_SECTIONS, LONGEST_TITLE, LONGEST = 1000, 120, 5000
TITLED, DIGIT, LETTER, ROMAN = 7, 9, 10, 11  # ranks below the six levels of Markdown
_ONE = r"(?:\d{1,2}(?!\d)|[ivx]{2,5}(?![a-z\d])|[a-z](?![a-z\d]))"
_LABEL = re.compile(
    r"(?i)(?P<word>(?:(?:question|problem|exercise|task|(?:sub-?)?part)s?(?![a-z])|(?:q|ex)(?=[.\s]?[\d(]))[.\s]{0,2}"
    rf"(?=[(\d]|[a-z]\b))?(?P<labels>(?:\({_ONE}\)|{_ONE})(?:[.\- ]?\({_ONE}\)|[.\-]{_ONE}|(?<=\d){_ONE}){{0,3}})"
    r"(?P<end>\s?[:.)\]–—]+(?=\s|$|[A-Z$*\\])|(?<=\))|\s*$|(?=\*\*|__|\}))"
)
_LEAD = re.compile(r"[\s>]*(?:[-+*•]\s+)?(#{1,6}\s+|)(.*?)\s*#*\s*$")
_BOLD = re.compile(
    r"(?:\*\*|__|\\(?:textbf|underline)\{)([^*$={}]{1,120})(?:\*\*|__|\})[.:]?(?:\\\\)?"
)
_POINTS = re.compile(
    r"(?i)[\s,:;(\[\-–—]*\d{1,3}\s*(?:pts?|points?|marks?)\b[.)\]]*\s*"
)
_MARK = re.compile(
    r"(?i)(?:(?:my|our|the|your|model|sample|short|full)\s+)?(?:answers?|solutions?|ans|soln?|response|proof)\b"
    r"(?:\s+(?:sketch|steps|idea))?(?:(?:\s+(?:to|of|for))?\s+(?:(?:question|problem|part|exercise|q)\s*)?(?=[(\d])"
    r"|\s*(?:[:.–—](?:\*\*|__|\})?|(?:\*\*|__|\})\s*[:.]?)\s*|\s*$)|A:[*_]*\s*"
)


@dataclass(eq=False)
class Section:
    """A heading or label, and the lines directly below it: those that ask, and those that answer."""

    line: int
    rank: int = 0
    label: str = ""
    title: str = ""
    exercise: str = ""  # that it answers: its heading names it, or it was found
    answers: int = 0  # the line from which on it answers; 0 where nothing says so
    path: tuple[
        Section, ...
    ] = ()  # the sections it lies in, from the outermost, and itself
    key: tuple[
        str, ...
    ] = ()  # what a question and its answer have in common: the labels and titles of the path
    asked: list[Line] = field(default_factory=list)
    said: list[Line] = field(default_factory=list)
    named: bool = False
    why: str = ""  # it was taken for an answer to the exercise, or to none


@dataclass(frozen=True)
class Heading:
    """What a line begins with; `rank` 0: no heading."""

    rest: str  # what the line says besides
    rank: int = 0
    labels: tuple[str, ...] = ()
    marks_answer: bool = False
    title: str = ""

    @property
    def is_label(self) -> bool:
        """A label of a list, which has no rank in Markdown."""
        return self.rank >= DIGIT


def heading(line: str) -> Heading:
    """What a line begins with: a heading of Markdown, a label, a mark of an answer, a title in bold."""
    lead = _LEAD.match(line[:LONGEST])
    rank, text = (len(lead[1].strip()), lead[2] + line[LONGEST:]) if lead else (0, "")
    bold = _BOLD.fullmatch(text[: 2 * LONGEST_TITLE])
    if bold:
        text = bold[1]
    else:
        text = re.sub(r"^(?:\*\*|__|\\(?:textbf|emph|underline)\{)\s*", "", text)
    mark = _MARK.match(text)
    if mark:
        text = text[mark.end() :].lstrip("* ")
    is_emphasised = bool(rank or bold or mark)
    label = _label_of(text, is_emphasised)
    if label is not None:
        return _labelled(text, label, rank, bool(bold), bool(mark))
    if mark:
        marked_rank = rank or (TITLED + 1 if bold and not text else 0)
        return Heading(text, marked_rank, marks_answer=True)
    if rank or bold or _ends_in_points(text):
        title = _POINTS.sub("", text[:LONGEST_TITLE]).strip(" .:*")
        return Heading("", rank or TITLED + bool(bold), title=title)
    return Heading(line)


def _label_of(text: str, is_emphasised: bool) -> re.Match[str] | None:
    """The label at the beginning; a bare number is one only where the line is emphasised."""
    label = None if text.startswith("i.e") else _LABEL.match(text)
    if label is None:
        return None
    certain = label["word"] or label[0][0] == "(" or label["end"].strip()
    return label if certain or (is_emphasised and label[0][0].isdigit()) else None


def _labelled(
    text: str, label: re.Match[str], rank: int, bold: bool, marks_answer: bool
) -> Heading:
    """A line with a label, perhaps with points and a title behind it."""
    start = label.end()
    points = _POINTS.search(text[:100])
    if points and points.start() == start:
        start = points.end()
    rest = text[start:].strip().removeprefix("**").lstrip(" :.–—-")
    title = re.split(r"\*\*|__|\. |$", rest, maxsplit=1)[0][:LONGEST_TITLE]
    parts = re.findall(_ONE, label["labels"], re.IGNORECASE)
    labels = tuple(one.lower() for one in parts)
    level = rank or (TITLED if label["word"] and labels[0].isdigit() else DIGIT)
    besides = "" if rank or bold else rest
    return Heading(besides, level, labels, marks_answer, title.strip(" *}:"))


def _ends_in_points(text: str) -> bool:
    """'Average two values (5 points)'."""
    points = _POINTS.search(text[:100])
    if points is None or "$" in text:
        return False
    return 1 < points.start() < points.end() == len(text)


def outline(
    text: str,
    *,
    latex: bool = False,
    named: Callable[[str], str] = lambda _: "",
    titled: Callable[[str], str] = lambda _: "",
) -> list[Section]:
    """The sections of a document.

    `named` tells the exercise that a heading names, `titled` the one whose id or title
    the words behind a label are.
    """
    text = re.sub(
        r"\A---\n(?s:.{0,3000}?)\n---(?=\n)",
        lambda yaml: "\n" * yaml[0].count("\n"),
        without_comments(text),
    )
    text = re.sub(
        r"(?m)^(?!\s*[=-]+\s*$)([^$\n]{1,79})\n(?:={3,}|-{3,})[ \t]*$", r"## \1\n", text
    )
    lines = list(structure_as_markdown(text.split("\n"))) if latex else text.split("\n")
    sections, until, before = [Section(1)], "", ""
    sections[0].path = (sections[0],)
    for number, line in enumerate(lines, 1):
        rest = line
        if until and (
            until[0] in "`~" or not re.match(r"[\s>]*#{1,6}\s", line)
        ):  # code; or a formula without an end
            until = "" if until in line else until
        else:
            fence = line.lstrip(" >")[:3]
            until = fence if fence in ("```", "~~~") else left_open(line) or ""
            rest = line
            if not until:
                rest = _begin(sections, number, line, before, named, titled)
        sections[-1].said.append((number, rest))
        before = line.strip()
    for each in sections:  # what follows a mark, or the last question, answers
        asking = [
            one[-1][0]
            for one in paragraphs(each.said)
            if asks("\n".join(text for _, text in one))
        ]
        start = each.answers or max(asking, default=-1) + 1
        each.asked = [line for line in each.said if line[0] < start]
        each.said = each.said[len(each.asked) :]
    return sections


def _begin(
    sections: list[Section],
    number: int,
    line: str,
    before: str,
    named: Callable[[str], str],
    titled: Callable[[str], str],
) -> str:
    """Begin the sections that a line begins; returns what it says besides."""
    here, found = sections[-1], heading(line)
    exercise = _exercise_named(line, found, named, titled)
    if exercise:
        title = found.title or line.strip()
        new = Section(number, found.rank or TITLED, "", title, exercise, number)
        new.named = True
        _add(sections, new)
        if found.is_label:
            return found.rest.partition(found.title)[2].lstrip(" .:*")
        return ""
    within = next((each for each in here.path if each.named), None)
    if within and not (0 < found.rank <= within.rank):
        return _step_of_answer(within, number, line, found)
    if found.labels and _is_next_label(here, found, before):
        _begin_labelled(sections, number, found)
        return found.rest
    if found.labels:
        return line
    if found.rank and not (found.marks_answer and found.rank == here.rank):
        answers = number * found.marks_answer
        general = found.title.lower() in ("questions", "problems", "exercises")
        title = "" if found.marks_answer or general else found.title
        _add(sections, Section(number, found.rank, "", title, "", answers))
        return found.rest
    if found.marks_answer and (here.rank or found.rest or not line.strip().isalpha()):
        here.answers = here.answers or number
        return found.rest
    return line


def _exercise_named(
    line: str,
    found: Heading,
    named: Callable[[str], str],
    titled: Callable[[str], str],
) -> str:
    """The exercise that a line names; '3) Copy one value' is that exercise."""
    if found.is_label:
        return titled(_POINTS.sub("", found.title))
    if len(line) < 2 * LONGEST_TITLE:
        return named(found.title if found.rank else line.strip())
    return ""


def _step_of_answer(within: Section, number: int, line: str, found: Heading) -> str:
    """A line below a heading that names an exercise: a step, or the mark below the question."""
    begins_answer = found.marks_answer and "proof" not in line.lower()
    if begins_answer and any(asks(text) for _, text in within.said):
        within.answers = number
    return found.rest if found.labels or found.marks_answer else line


def _is_next_label(here: Section, found: Heading, before: str) -> bool:
    """Whether labels begin a section, and are not words of a sentence: '(a)' in the middle of a paragraph."""
    if not found.is_label:
        return True
    begins_paragraph = (
        not before
        or found.marks_answer
        or len(found.labels) > 1
        or before.endswith((":", "$$"))
        or heading(before).rank > 0
    )
    return _in_list(here, found.labels[0], begins_paragraph)


def _begin_labelled(sections: list[Section], number: int, found: Heading) -> None:
    """A section for each label, '2(b)' two of them, but for those that the line lies in already."""
    last_place = len(found.labels) - 1
    for at, label in enumerate(found.labels):
        level = found.rank if at == 0 and not found.is_label else _rank(label)
        path = [(each.label, each.rank) for each in sections[-1].path]
        is_last = at == last_place
        if is_last or (label, level) not in path:
            title = found.title if is_last else ""
            _add(sections, Section(number, level, label, title))
    sections[-1].answers = sections[-1].answers or number * found.marks_answer


def _rank(label: str) -> int:
    """The rank of a label in a list: digits, letters, Roman numbers."""
    return DIGIT if label.isdigit() else ROMAN if label in ROMANS else LETTER


def _in_list(here: Section, label: str, fresh: bool) -> bool:
    """Whether a label begins a list or goes on with one; digits in an answer are its steps."""
    rank = _rank(label)
    steps = rank == DIGIT and any(
        each.rank > DIGIT or (each.answers and each.key) for each in here.path
    )
    return any(each.rank == rank for each in here.path) or (
        not steps and fresh and (rank != DIGIT or label == "1")
    )


def _add(sections: list[Section], section: Section) -> None:
    if len(sections) < MOST_SECTIONS:
        above = next(
            each
            for each in reversed(sections[-1].path)
            if not each.rank or each.rank < section.rank
        )
        alike = [
            one
            for one in sections[-99:]
            if section.label and one.label == section.label
        ]
        again = any(one.path[:-1] == above.path for one in alike)
        section.answers = section.answers or (
            section.line if again or above.answers else 0
        )
        section.path = (*above.path, section)
        section.key = (
            *above.key,
            *filter(None, [section.label or section.title.lower()]),
        )
        sections.append(section)


def paragraphs(lines: list[Line]) -> list[list[Line]]:
    """Lines that stand together."""
    return [
        list(some)
        for blank, some in groupby(lines, lambda line: not line[1].strip())
        if not blank
    ]
