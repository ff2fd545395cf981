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


def heading(line: str) -> tuple[int, tuple[str, ...], bool, str, str]:
    """What a line begins with: rank (0: no heading), labels, whether it marks an answer, title, and the rest."""
    lead = _LEAD.match(line[:LONGEST])
    rank, text = (len(lead[1].strip()), lead[2] + line[LONGEST:]) if lead else (0, "")
    bold = _BOLD.fullmatch(text[: 2 * LONGEST_TITLE])
    text = (
        bold[1]
        if bold
        else re.sub(r"^(?:\*\*|__|\\(?:textbf|emph|underline)\{)\s*", "", text)
    )
    mark = _MARK.match(text)
    text = text[mark.end() :].lstrip("* ") if mark else text
    label = None if text.startswith("i.e") else _LABEL.match(text)
    points = _POINTS.search(text[:100])
    certain = label and (label["word"] or label[0][0] == "(" or label["end"].strip())
    if label and (certain or ((rank or bold or mark) and label[0][0].isdigit())):
        start = (
            points.end() if points and points.start() == label.end() else label.end()
        )
        rest = text[start:].strip().removeprefix("**").lstrip(" :.–—-")
        title = re.split(r"\*\*|__|\. |$", rest, maxsplit=1)[0][:LONGEST_TITLE].strip(
            " *}:"
        )
        labels = tuple(
            one.lower() for one in re.findall(_ONE, label["labels"], re.IGNORECASE)
        )
        level = rank or (TITLED if label["word"] and labels[0].isdigit() else DIGIT)
        return level, labels, bool(mark), title, "" if rank or bold else rest
    if mark:
        return rank or (TITLED + 1 if bold and not text else 0), (), True, "", text
    if (
        rank
        or bold
        or (
            points
            and 1 < points.start() < points.end() == len(text)
            and "$" not in text
        )
    ):
        return (
            rank or TITLED + bool(bold),
            (),
            False,
            _POINTS.sub("", text[:LONGEST_TITLE]).strip(" .:*"),
            "",
        )
    return 0, (), False, "", line


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
    here = sections[-1]
    rank, labels, marks, title, rest = heading(line)
    name = (
        named(title if rank else line.strip())
        if rank < DIGIT and len(line) < 2 * LONGEST_TITLE
        else ""
    )
    if rank >= DIGIT and not name:  # '3) Copy one value' is that exercise
        name = titled(_POINTS.sub("", title))
    within = next((each for each in here.path if each.named), None)
    if name:
        _add(
            sections,
            Section(
                number,
                rank or TITLED,
                "",
                title or line.strip(),
                name,
                number,
                named=True,
            ),
        )
        if rank < DIGIT:
            return ""
        return rest.partition(title)[2].lstrip(" .:*")
    if within and not (0 < rank <= within.rank):  # a step of the answer
        if (
            marks
            and "proof" not in line.lower()
            and any(asks(text) for _, text in within.said)
        ):
            within.answers = number  # below the question
        return rest if labels or marks else line
    fresh = (
        not before
        or marks
        or len(labels) > 1
        or before.endswith((":", "$$"))
        or heading(before)[0] > 0
    )
    if labels and (rank < DIGIT or _in_list(here, labels[0], fresh)):
        for at, label in enumerate(labels, 1):
            level = rank if rank < DIGIT and at == 1 else _rank(label)
            if at == len(labels) or not any(
                (each.label, each.rank) == (label, level) for each in here.path
            ):
                _add(
                    sections,
                    Section(number, level, label, title if at == len(labels) else ""),
                )
        sections[-1].answers = sections[-1].answers or number * marks
    elif rank and not labels and not (marks and rank == here.rank):
        title = (
            ""
            if marks or title.lower() in ("questions", "problems", "exercises")
            else title
        )
        _add(sections, Section(number, rank, "", title, "", number * marks))
    elif marks and not labels and (here.rank or rest or not line.strip().isalpha()):
        here.answers = here.answers or number
    else:
        return line
    return rest


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
