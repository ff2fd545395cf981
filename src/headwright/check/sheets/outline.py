r"""The outline of a document: headings in whatever form, numbered parts, and marks such as 'Solution:'.

A heading is a Markdown heading, a `\section`, a bold line, 'Question 3 (b)', 'Part (a): ...', '(ii) ...', '2. ...', an
`\item` of an enumeration, or a title with points. Lines stay where they are: a part knows its own lines, and of each
of them whether it stands below a mark.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from headwright.check.reading.blocks import as_markdown, left_open, without_comments

Kind = Literal["", "digit", "letter", "roman"]
LONGEST_TITLE = 120
WORDED, TITLED, LISTED = 7, 8, 9  # ranks below the six levels of Markdown: 'Question 2', a bold line, '(a)'

_ONE = r"(?:\d{1,2}(?!\d)|[ivxIVX]{2,5}(?![A-Za-z0-9])|[a-zA-Z](?![A-Za-z0-9]))"
_FIRST = re.compile(rf"\(({_ONE})\)|({_ONE})")
_NEXT = re.compile(rf"\s?[.\-]?\s?\(({_ONE})\)|[.\-]?({_ONE})")
_AFTER = re.compile(r"\s?[:.)\]–—]+(?=\s|$|[A-Z$*\\])|\s*$|(?=\*\*|__|\})")
_WORD = re.compile(
    r"(?:(?:questions?|problem|exercise|task|sub-?part|part)(?![a-z])|(?:q|ex)(?=[.\s]?\s?[\d(]))\s*[.#]?\s*(?=[(\d]|[a-z]\b)",
    re.IGNORECASE,
)
ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


def labels(text: str) -> tuple[tuple[str, ...], int]:
    """The labels that a text begins with, and how many characters they take: '3 (b)', 'Q1-2', '(ii)', '2a'.

    >>> labels("Question 3 (b): why"), labels("Q1-2. Copying"), labels("(ii) thus"), labels("i.e. this")
    ((('3', 'b'), 15), (('1', '2'), 5), (('ii',), 4), ((), 0))
    """
    word = _WORD.match(text)
    at = word.end() if word else 0
    first = _FIRST.match(text, at)
    if first is None or text[at:].startswith("i.e"):
        return (), 0
    found = [first[1] or first[2]]
    enclosed = first[1] is not None
    at = first.end()
    while len(found) < 4 and (further := _NEXT.match(text, at)):
        if further[2] is not None and not (further[0] != further[2] or found[-1].isdigit()):
            break
        found.append(further[1] or further[2])
        enclosed = enclosed or further[1] is not None
        at = further.end()
    after = _AFTER.match(text, at)
    if after is None and not (enclosed or word):
        return (), 0
    return tuple(label.lower() for label in found), after.end() if after and after[0].strip() else at


@dataclass(frozen=True)
class Heading:
    """What the beginning of a line says: its labels, a mark, a title, and the words that are left."""

    rank: int = 0
    labels: tuple[str, ...] = ()
    mark: str = ""
    title: str = ""
    rest: str = ""


_LEAD = re.compile(r"([\s>]*)((?:[-+*•]\s+)?)")
_ATX = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BOLD = re.compile(r"(?:\*\*|__|\\(?:textbf|emph|underline|textit|textsc)\{)\s*")
_ALL_BOLD = re.compile(
    r"(?:\*\*|__)([^*$=]{1,120})(?:\*\*|__)[.:]?|\\(?:textbf|underline)\{([^{}$=]{1,120})\}[.:]?(?:\\\\)?"
)
_LEADING_BOLD = re.compile(r"(?:\*\*|__)?([^*$]{1,120}?)(?:\*\*|__)")
_POINTS = re.compile(r"([^$=]{2,70}?)[\s,:;(\[\-–—]+\d{1,3}\s*(?:pts?|points?|marks?)\b[.)\]]*\s*", re.IGNORECASE)
_POINTS_AWAY = re.compile(r"[(\[]\s*\d{1,3}\s*(?:pts?|points?|marks?)[.\s]*[)\]]", re.IGNORECASE)
_MARK = re.compile(
    r"(?:(?:my|our|the|your|model|sample|short|full)\s+)?(answers?|solutions?|ans|soln?|response|proof)\b"
    r"(?:\s+(?:sketch|steps|idea))?((?:\s+(?:to|of|for))?\s+(?:(?:question|problem|part|exercise|q)\s*)?(?=[(\d])|)",
    re.IGNORECASE,
)
_MARK_ENDS = re.compile(r"\s*(?:[:.–—](?:\*\*|__|\})?|(?:\*\*|__|\})\s*[:.]?)\s*|\s*$")
_ASKED = re.compile(r"(?:question|problem(?: statement)?|q)\s*:\s*(?:\*\*|__|\})?\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+([A-Z][^$=\\]{2,80}[^.,;:?!$=\\\s])\s*")
SIGNS = re.compile(r"[=<>$\\≈≤≥≠^]")


def heading(line: str) -> Heading:
    """What a line begins with; nothing, and the line itself as the rest, where it is no heading.

    >>> heading("### Part (b): An average of two")
    Heading(rank=3, labels=('b',), mark='', title='An average of two', rest='')
    >>> heading("Solution: take the sum").mark, heading("**Answer.**").mark, heading("The answer is no.").mark
    ('solution', 'solution', '')
    """
    lead = _LEAD.match(line)
    start = lead.end() if lead else 0
    text = line[start:]
    atx = _ATX.match(text)
    rank, whole = (len(atx[1]), True) if atx else (0, False)
    if atx:
        text = atx[2]
    bold = _ALL_BOLD.fullmatch(text.strip())
    if bold is not None:
        text, whole = bold[1] or bold[2], True
        rank = rank or TITLED
    elif _BOLD.match(text) and not atx:
        text = _BOLD.sub("", text, count=1)
    mark, text = _marked(text.lstrip(), whole)
    given, end = labels(text)
    if given and _is_label(text, end, whole or bool(mark)):
        worded = bool(_WORD.match(text))
        rest = _POINTS_AWAY.sub("", text[end:]).strip().removeprefix("**").lstrip(" :.–—-")
        rank = rank if atx else WORDED if worded and given[0].isdigit() else LISTED
        if whole or (worded and len(rest) <= LONGEST_TITLE and not SIGNS.search(rest) and len(rest.split()) <= 12):
            return Heading(rank, given, mark, rest.strip("* }"), "")
        titled = _LEADING_BOLD.match(_POINTS_AWAY.sub("", text[end:]).strip()) if "**" in text or "__" in text else None
        title = titled[1] if titled else rest.split(". ")[0][:LONGEST_TITLE]
        return Heading(rank, given, mark, title.strip(), rest)
    if mark:
        return Heading(rank if atx else 0, (), mark, "", text)
    if whole:
        return Heading(rank, (), "", _POINTS_AWAY.sub("", text).strip(" .:"), "")
    numbered = _NUMBERED.fullmatch(line)
    if numbered is not None:
        return Heading(WORDED, tuple(numbered[1].split(".")), "", numbered[2], "")
    points = _POINTS.fullmatch(text.strip())
    if points is not None and not (lead and lead[2]):
        return Heading(WORDED, (), "", points[1].strip(), "")
    return Heading(rest=line)


def _is_label(text: str, end: int, whole: bool) -> bool:
    """Whether what looks like a label is one: '(a)', 'b)', '2.', 'Part a'; not the 'A' of 'A layer'."""
    if _WORD.match(text):
        return True
    if text[:1].isupper() and text[1:2] not in (".", ")"):
        return False
    return text[:1] == "(" or text[end - 1 : end] in (")", ".", ":", "]") or (whole and text[:1].isdigit())


def _marked(text: str, whole: bool) -> tuple[str, str]:
    """The mark at the beginning of a line, and what follows it."""
    asked = _ASKED.match(text)
    if asked:
        return "question", text[asked.end() :]
    if text[:2] in ("A:", "A."):
        return ("solution", text[2:].lstrip("* ")) if text[1] == ":" else ("", text)
    found = _MARK.match(text)
    if found is None:
        return "", text
    mark = "proof" if found[1].lower() == "proof" else "solution"
    if found[2].strip() or (found[2] and text[found.end() : found.end() + 1] in ("(",)):
        return mark, text[found.end() :]
    ends = _MARK_ENDS.match(text, found.end())
    if ends is not None and (ends[0].strip() or not text[ends.end() :]):
        return mark, text[ends.end() :]
    return (mark, "") if whole and len(text.split()) <= 6 else ("", text)


def ordinal(kind: Kind, label: str) -> int:
    """The number of a label.

    >>> ordinal("letter", "c"), ordinal("roman", "iv"), ordinal("digit", "7")
    (3, 4, 7)
    """
    if kind == "digit":
        return int(label)
    if kind == "roman":
        return ROMAN.index(label) + 1
    return ord(label) - ord("a") + 1


def written(kind: Kind, count: int) -> str:
    """The label with a number.

    >>> written("letter", 3), written("roman", 4)
    ('c', 'iv')
    """
    if kind == "roman" and count <= len(ROMAN):
        return ROMAN[count - 1]
    return chr(ord("a") + count - 1) if kind == "letter" and count <= 26 else str(count)


def is_atx(line: str) -> bool:
    """Whether a line is a heading of Markdown."""
    return _ATX.match(line.lstrip(" >")) is not None


MOST_PARTS = 2000
DEEPEST = 20
DEEPEST_ATX = 6
NAMED = 30  # the rank of headings that name an exercise: below any other


@dataclass(frozen=True)
class Line:
    """A line of a part: its number in the file, its words without label and mark, and the mark it stands below."""

    number: int
    text: str
    mark: str = ""  # 'solution' or 'proof', where it stands below one


@dataclass(eq=False)
class Part:
    r"""A heading or label, the lines directly below it, and the parts it has.

    >>> part = outline("(a) Why?\n\n(b) Find $q$.\nSolution: $q = k_a$").parts[1]
    >>> part.label, [(line.number, line.text.strip(), line.mark) for line in part.lines]
    ('b', [(3, 'Find $q$.', ''), (4, '$q = k_a$', 'solution')])
    """

    line: int
    rank: int = 0
    kind: Kind = ""
    label: str = ""
    title: str = ""
    above: Part | None = field(default=None, repr=False)
    mark: str = ""
    marked_at: int = 0  # the line of a mark of its own
    named: int = 0  # the level of a heading that names an exercise
    lines: list[Line] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    @property
    def path(self) -> tuple[Part, ...]:
        """The parts it lies in, from the outermost, and itself."""
        return (*(self.above.path if self.above else ()), self)

    @property
    def name(self) -> str:
        r"""How one would call it.

        >>> outline("Question 3\n\n(b) $q = 1$").parts[0].parts[0].name
        '3 (b)'
        """
        labels = [part.label for part in self.path if part.label]
        return " ".join(
            label if number == 0 and label.isdigit() else f"({label})" for number, label in enumerate(labels)
        )

    def walk(self) -> Iterator[Part]:
        """Itself and all parts below it, in their order."""
        yield self
        for part in self.parts:
            yield from part.walk()


def outline(
    text: str,
    *,
    latex: bool = False,
    titles: Callable[[str], bool] = lambda _: False,
    named: Callable[[str], object] = lambda _: False,
) -> Part:
    r"""The parts of a document, below one that is the document itself.

    `titles` tells lines that are titles of exercises, `named` headings that name one: such a heading is put above an
    answer by someone who knows, and does not end the part in which it stands.

    >>> [part.label for part in outline("Part (a): One\n\ntext\n\nPart (b): Two\n\ntext").parts]
    ['a', 'b']
    """
    lines = without_comments(text).split("\n")
    if latex:
        lines = [_PARAGRAPH.sub(r"**\1** ", as_markdown(line)) for line in lines]
    builder = _Builder(lines, titles, named)
    for number in range(len(lines)):
        builder.take(number)
    return builder.root


def _displays(lines: list[str]) -> set[int]:
    """The lines (from 0) that go on with a displayed formula or a block of code, where no heading can be."""
    places: dict[str, list[int]] = {}
    opening = [left_open(line) for line in lines]
    wanted = {mark for mark in opening if mark}
    for number, line in enumerate(lines):
        for mark in wanted:
            if mark in line:
                places.setdefault(mark, []).append(number)
    walls = [number for number, line in enumerate(lines) if is_atx(line)]  # a heading in between: the end was forgotten
    inside: set[int] = set()
    fence = ""
    for number, line in enumerate(lines):
        start = line.lstrip(" >")[:3]
        if fence or start in ("```", "~~~"):
            inside.add(number)
            fence = "" if fence and start == fence else fence or start
        end = opening[number]
        if end is None or number in inside:
            continue
        later = places.get(end, [])
        at = bisect_right(later, number)
        if at < len(later) and bisect_right(walls, later[at]) == bisect_right(walls, number):
            inside.update(range(number + 1, later[at] + 1))
    return inside


_PARAGRAPH = re.compile(r"^\\(?:sub)?paragraph\*?\{([^{}]{1,120})\}")
_BEGIN = re.compile(r"\s*\\begin\{(\w+)\*?\}(?:\[([^\]]*)\])?")
_END = re.compile(r"\s*\\end\{(\w+)\*?\}")
_ITEM = re.compile(r"\s*\\(item|question|part|subpart)\b\s*(?:\[([^\]]*)\])?\s*")
_MARKING = {"solution": "solution", "answer": "solution", "soln": "solution", "proof": "proof"}
_TASKS = ("question", "problem", "exercise", "task")
_TEX_KINDS: tuple[Kind, ...] = ("digit", "letter", "roman", "letter")
_EXAM: dict[str, tuple[int, Kind]] = {
    "question": (WORDED, "digit"), "part": (LISTED, "letter"), "subpart": (LISTED + 1, "roman")
}  # fmt: skip


@dataclass
class _List:
    """An enumeration of LaTeX that is open: how its items are counted, and how many there were."""

    kind: Kind
    above: Part
    count: int = 0


class _Builder:
    """Puts lines into parts, one after the other."""

    def __init__(self, lines: list[str], titles: Callable[[str], bool], named: Callable[[str], object]) -> None:
        self.root = Part(1)
        self._lines, self._titles, self._named = lines, titles, named
        self._inside = _displays(lines)
        self._open = self.root
        self._lists: list[_List] = []
        self._environments: list[tuple[str, Part, str]] = []
        self._count = 0
        self._front = len(lines) if lines and lines[0].strip() == "---" else 0  # of YAML above the text
        if self._front:
            ends = [number for number, line in enumerate(lines[1:60], 1) if line.strip() == "---"]
            self._front = ends[0] + 1 if ends else 0

    def take(self, number: int) -> None:
        line = self._lines[number]
        if number < self._front:
            return
        if number in self._inside or not line.strip():
            self._own(number, line)
        elif not self._latex(number, line) and not self._setext(number, line):
            self._headed(number, line)

    def _headed(self, number: int, line: str) -> None:
        found = heading(line)
        if self._titles(line) and not found.labels:
            found = Heading(found.rank or WORDED, (), "", line.strip(" #*:"), "")
        if found.title and (found.rank <= DEEPEST_ATX or self._titles(line)) and self._named(found.title):
            self._push(Part(number + 1, NAMED, title=found.title[:LONGEST_TITLE], named=found.rank or WORDED))
            return
        inside = next((part for part in self._open.path if part.named), None)
        step = inside is not None and inside.named < found.rank <= DEEPEST_ATX and not found.labels
        empty = inside is not None and not inside.parts and not any(line.text.strip() for line in inside.lines)
        if inside is not None and (step or (found.labels and empty)):
            if found.mark:
                self._mark(found.mark, number)
            inside.label = inside.label or (found.labels[-1] if found.labels and is_atx(line) else "")
            self._own(number, found.rest)  # a step of the answer, or the label that the heading was put above
            return
        if found.labels and self._accepts(found, number, line):
            self._label(found, number)
        elif found.labels or not (found.mark or found.title):
            self._own(number, line)
            return
        elif found.title:
            self._push(Part(number + 1, found.rank, title=found.title[:LONGEST_TITLE]))
        elif found.mark == "question":  # 'Q: ... A: ... Q: ...'
            self._push(Part(number + 1, TITLED))
        if found.mark:
            self._mark(found.mark, number, found.labels)
        if found.rest.strip():
            self._own(number, found.rest)

    def _setext(self, number: int, line: str) -> bool:
        """A title underlined with === or ---."""
        below = self._lines[number + 1].strip() if number + 1 < len(self._lines) else ""
        underlined = len(below) >= 3 and below in ("=" * len(below), "-" * len(below))
        if underlined and len(line) <= LONGEST_TITLE and not SIGNS.search(line):
            self._headed(number, f"{'#' if below[0] == '=' else '##'} {line.strip()}")
            return True
        return line.strip() == "=" * len(line.strip())

    def _latex(self, number: int, line: str) -> bool:
        """Environments and items of LaTeX; whether the line was one."""
        begin, end, item = _BEGIN.match(line), _END.match(line), _ITEM.match(line)
        if begin and begin[1] == "enumerate":
            if len(self._lists) < DEEPEST:
                self._lists.append(_List(_counted(begin[2] or "", len(self._lists)), self._open))
        elif end and end[1] == "enumerate":
            if self._lists:
                self._open = self._lists.pop().above
        elif begin and begin[1] in _MARKING:
            self._environments.append((begin[1], self._open, self._open.mark))
            self._mark(_MARKING[begin[1]], number)
            self._own(number, line[begin.end() :])
        elif begin and begin[1] in _TASKS:
            self._push(Part(number + 1, WORDED, title=begin[2] or ""))
        elif end and end[1] in _MARKING and self._environments:
            _, part, before = self._environments.pop()
            part.mark = before
            self._open = part
        elif item and item[1] == "item" and self._lists:
            self._item(number, line[item.end() :], item[2] or "")
        elif item and item[1] in _EXAM:
            rank, kind = _EXAM[item[1]]
            at = self._above(rank)
            count = 1 + sum(part.kind == kind for part in at.parts)
            self._push(Part(number + 1, rank, kind, written(kind, count), line[item.end() :][:LONGEST_TITLE]))
            self._own(number, line[item.end() :])
        else:
            return bool(end and end[1] in _TASKS)
        return True

    def _item(self, number: int, rest: str, given: str) -> None:
        open_list = self._lists[-1]
        open_list.count += 1
        named, _ = labels(given)
        self._open = open_list.above
        rank = max(open_list.above.rank + 1, LISTED)
        label = named[-1] if named else written(open_list.kind, open_list.count)
        found = heading(rest)
        self._push(Part(number + 1, rank, open_list.kind, label, found.title or rest.strip()[:LONGEST_TITLE]))
        if found.mark:
            self._mark(found.mark, number)
        if rest.strip():
            self._own(number, found.rest if found.mark else rest)

    def _accepts(self, found: Heading, number: int, line: str) -> bool:
        """Whether a label can be one here: it begins a list or goes on with one, at the start of a paragraph."""
        before = self._lines[number - 1].strip() if number else ""
        after = self._lines[number + 1].strip() if number + 1 < len(self._lines) else ""
        if _NUMBERED.fullmatch(line):
            return not (before or after)
        if found.rank < LISTED or found.mark or len(found.labels) > 1:
            return True
        first = found.labels[0]
        lead = _LEAD.match(line)
        bulleted = lead is not None and bool(lead[2])
        headed = number in (part.line for part in self._open.path if part.rank)
        fresh = not before or bulleted or headed or is_atx(before) or before.endswith((":", "$$"))
        kind = self._kind(first)
        last = self._last(kind)
        expected = ordinal(kind, first) == 1 or (last > 0 and ordinal(kind, first) == last + 1)
        if kind == "digit" and not _WORD.match(line.strip(" *#")):
            return fresh and expected
        return (fresh and (expected or bulleted or "(" in line.strip()[:3])) or (expected and last > 0)

    def _kind(self, label: str) -> Kind:
        if label.isdigit():
            return "digit"
        if label not in ROMAN:
            return "letter"
        roman, letter = self._last("roman"), self._last("letter")
        if roman and ordinal("roman", label) == roman + 1:
            return "roman"
        if len(label) == 1 and letter and ordinal("letter", label) == letter + 1:
            return "letter"
        return "roman" if label == "i" or len(label) > 1 or roman else "letter"

    def _last(self, kind: Kind) -> int:
        """The number of the last label of a kind in the lists that are open; 0 where there is none."""
        return next((ordinal(kind, part.label) for part in self._alike(kind)), 0)

    def _alike(self, kind: Kind) -> Iterator[Part]:
        """The last labels of a kind in the lists that are open, the innermost first."""
        for part in reversed(self._open.path):
            yield from (one for one in (part, *part.parts[-1:]) if one.kind == kind)

    def _label(self, found: Heading, number: int) -> None:
        for place, label in enumerate(found.labels):
            kind = self._kind(label)
            rank = found.rank if place == 0 and found.rank < LISTED else self._listed(kind)
            last = place == len(found.labels) - 1
            if not last and self._is_open(kind, label):
                continue  # '3 (b)' below '3'
            self._push(Part(number + 1, rank, kind, label, found.title[:LONGEST_TITLE] if last else ""))

    def _is_open(self, kind: Kind, label: str) -> bool:
        here = next((part for part in self._open.path if part.kind == kind and part.label == label), None)
        if here is not None:
            self._open = here
        return here is not None

    def _listed(self, kind: Kind) -> int:
        """The rank of a label in a list: that of its siblings, or one below what is open."""
        ranks = (part.rank for part in self._alike(kind) if part.rank >= LISTED)
        return next(ranks, max(self._open.rank + 1, LISTED))

    def _above(self, rank: int) -> Part:
        at = self._open
        while at.above is not None and at.rank >= rank:
            at = at.above
        return at

    def _push(self, part: Part) -> None:
        if self._count >= MOST_PARTS:
            return
        self._count += 1
        above = self._above(part.rank)
        again = part.label and any(each.label == part.label and each.kind == part.kind for each in above.parts)
        waiting = next((each for each in reversed(self._open.path) if each.mark), None)
        if again and waiting is not None and waiting is not above and above in waiting.path and _bare(waiting):
            # 'Solution:' and then (a) once more: all answers follow
            waiting.mark, waiting.marked_at, above.mark = "", 0, above.mark or "solution"
        part.above, part.mark = above, above.mark or ("solution" if part.named else "")
        above.parts.append(part)
        self._open = part

    def _mark(self, mark: str, number: int, given: tuple[str, ...] = ()) -> None:
        here = self._open
        here.mark, here.marked_at = ("", 0) if mark == "question" else (mark, number + 1)
        above = here.above
        if given and above is not None and any(each.label == here.label for each in above.parts[:-1]):
            above.mark = above.mark or here.mark  # 'Solution: (a)', after the questions: (b) will be an answer too

    def _own(self, number: int, text: str) -> None:
        self._open.lines.append(Line(number + 1, text, self._open.mark))


def _bare(part: Part) -> bool:
    """Whether nothing stands below the mark of a part yet."""
    return not any(line.text.strip() and line.mark for line in part.lines) and not any(
        line.text.strip() for each in part.parts for line in each.lines if line.mark
    )


def _counted(option: str, depth: int) -> Kind:
    """How an enumeration counts: as it says, [label=(\\roman*)] or [a)], or as LaTeX does at this depth."""
    bare = re.sub(r"[\W_]", "", option).lower()
    if "roman" in bare or bare == "i":
        return "roman"
    if "alph" in bare or bare == "a":
        return "letter"
    return "digit" if "arabic" in bare or bare == "1" else _TEX_KINDS[min(depth, 3)]
