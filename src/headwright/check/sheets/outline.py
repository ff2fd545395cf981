r"""The sections of a document, by headings and labels in any form: what each asks, and what it answers.

A heading is a Markdown heading, a `\section`, a bold line, 'Question 3 (b)', '(ii) ...', '2. ...', an `\item`, or a
title with points. 'Solution:', 'Answer:' and 'Proof:' mark what answers; so does a label that comes again in its list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from headwright.check.markdown import as_markdown, left_open, without_comments

Line = tuple[int, str]  # its number in the file, and its words without label and mark
MOST_SECTIONS, LONGEST_TITLE, LONGEST = 1000, 120, 5000
TITLED, DIGIT, LETTER, ROMAN = 7, 9, 10, 11  # ranks below the six levels of Markdown
_ROMANS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_ONE = r"(?:\d{1,2}(?!\d)|[ivx]{2,5}(?![a-z\d])|[a-z](?![a-z\d]))"
_LABEL = re.compile(
    r"(?P<word>(?:(?:question|problem|exercise|task|(?:sub-?)?part)s?(?![a-z])|(?:q|ex)(?=[.\s]?[\d(]))[.\s]{0,2}"
    rf"(?=[(\d]|[a-z]\b))?(?P<labels>(?:\({_ONE}\)|{_ONE})(?:[.\- ]?\({_ONE}\)|[.\-]{_ONE}|(?<=\d){_ONE}){{0,3}})"
    r"(?P<end>\s?[:.)\]–—]+(?=\s|$|[A-Z$*\\])|(?<=\))|\s*$|(?=\*\*|__|\}))",
    re.IGNORECASE,
)
_LEAD = re.compile(r"[\s>]*(?:[-+*•]\s+)?(#{1,6}\s+|)(.*?)\s*#*\s*$")
_BOLD = re.compile(r"(?:\*\*|__|\\(?:textbf|underline)\{)([^*$={}]{1,120})(?:\*\*|__|\})[.:]?(?:\\\\)?")
_POINTS = re.compile(r"[\s,:;(\[\-–—]*\d{1,3}\s*(?:pts?|points?|marks?)\b[.)\]]*\s*", re.IGNORECASE)
_MARK = re.compile(
    r"(?:(?:my|our|the|your|model|sample|short|full)\s+)?(?:answers?|solutions?|ans|soln?|response|proof)\b"
    r"(?:\s+(?:sketch|steps|idea))?(?:(?:\s+(?:to|of|for))?\s+(?:(?:question|problem|part|exercise|q)\s*)?(?=[(\d])"
    r"|\s*(?:[:.–—](?:\*\*|__|\})?|(?:\*\*|__|\})\s*[:.]?)\s*|\s*$)|A:[*_]*\s*",
    re.IGNORECASE,
)
_LATEX = re.compile(
    r"\\(?:(begin|end)\{(enumerate|solution|answer|proof|problem|exercise)\*?\}|(item)\b)\s*(?:\[([^\]]*)\])?\s*"
)


@dataclass(eq=False)
class Section:
    """A heading or label, and the lines directly below it."""

    line: int
    rank: int = 0
    label: str = ""
    title: str = ""
    named: str = ""  # the exercise that its heading names
    answers: int = 0  # the line from which on it answers; 0 where nothing says so
    above: Section | None = field(default=None, repr=False)
    lines: list[Line] = field(default_factory=list)

    @property
    def path(self) -> tuple[Section, ...]:
        """The sections it lies in, from the outermost, and itself."""
        return (*(self.above.path if self.above else ()), self)

    @property
    def key(self) -> tuple[str, ...]:
        """What a question and its answer have in common: labels and titles."""
        return tuple(each.label or each.title.lower() for each in self.path if each.label or each.title)


def heading(line: str) -> tuple[int, tuple[str, ...], bool, str, str]:
    """What a line begins with: rank (0: no heading), labels, whether it marks an answer, title, and the rest.

    >>> heading("### Part (b): An average of two"), heading("**Solution.** Take the sum")
    ((3, ('b',), False, 'An average of two', ''), (0, (), True, '', 'Take the sum'))
    """
    lead = _LEAD.match(line[:LONGEST])
    rank, text = (len(lead[1].strip()), lead[2] + line[LONGEST:]) if lead else (0, "")
    bold = _BOLD.fullmatch(text[: 2 * LONGEST_TITLE])
    whole = bool(rank or bold)
    text = bold[1] if bold else re.sub(r"^(?:\*\*|__|\\(?:textbf|emph|underline)\{)\s*", "", text)
    mark = _MARK.match(text)
    text = text[mark.end() :].lstrip("* ") if mark else text
    label = None if text.startswith("i.e") else _LABEL.match(text)
    certain = label and (label["word"] or label[0][0] == "(" or label["end"].strip())
    if label and (certain or ((whole or mark) and label[0][0].isdigit())):
        rest = text[label.end() :]
        points = _POINTS.match(rest)
        rest = (rest[points.end() :] if points else rest).strip().removeprefix("**").lstrip(" :.–—-")
        title = re.split(r"\*\*|__|\. |$", rest, maxsplit=1)[0][:LONGEST_TITLE].strip(" *}:")
        found = tuple(one.lower() for one in re.findall(_ONE, label["labels"], re.IGNORECASE))
        short = label["word"] and len(rest.split()) <= 12 and not re.search(r"[=<>$\\≈≤≥≠^]", rest)
        rank = rank or (TITLED if label["word"] and found[0].isdigit() else DIGIT)
        return rank, found, bool(mark), title, "" if whole or short else rest
    if mark:
        return rank or (TITLED + 1 if bold and not text else 0), (), True, "", text
    points = _POINTS.search(text[:100])
    if whole or (points and 1 < points.start() < points.end() == len(text) and "$" not in text):
        return rank or TITLED + bool(bold), (), False, _POINTS.sub("", text[:LONGEST_TITLE]).strip(" .:*"), ""
    return 0, (), False, "", line


def outline(text: str, *, latex: bool = False, named: Callable[[str], str] = lambda _: "") -> list[Section]:
    r"""The sections of a document; `named` tells the exercise that a title names.

    >>> [each.label for each in outline("Part (a): One\n\ntext\n\nPart (b): Two\n\ntext")]
    ['', 'a', 'b']
    """
    lines = without_comments(text).split("\n")
    lines = list(_from_latex(lines)) if latex else lines
    ends = [number for number, line in enumerate(lines[1:60], 2) if line.strip() == "---"]
    front = ends[0] if ends and lines[0].strip() == "---" else 0  # YAML
    builder, until = _Builder(named), ""
    for number, line in enumerate(lines[front:], front + 1):
        if until and (until[0] in "`~" or not re.match(r"[\s>]*#{1,6}\s", line)):  # code; or a formula without an end
            builder.open.lines.append((number, line))
            until = "" if until in line else until
            continue
        fence, rule = line.lstrip(" >")[:3], (lines[number].strip() if number < len(lines) else "")
        until = fence if fence in ("```", "~~~") else left_open(line) or ""
        if len(line.strip()) > 2 and set(line.strip()) <= {"=", "-"}:
            line = ""
        elif len(rule) > 2 and set(rule) in ({"="}, {"-"}) and 0 < len(line.strip()) < 80 and "$" not in line:
            line = f"{'#' if rule[0] == '=' else '##'} {line.strip()}"
        builder.take(number, line, lines[number - 2].strip() if number > 1 else "", inside=bool(until))
    return builder.sections


def _from_latex(lines: list[str]) -> Iterator[str]:
    """Sections, items and solutions as they would be in Markdown; one line for each line."""
    lists: list[tuple[str, int]] = []
    body = next((number for number, line in enumerate(lines) if "\\begin{document}" in line), -1)
    for number, given in enumerate(lines):
        line = re.sub(r"^\\(?:sub)?paragraph\*?\{([^{}]{1,120})\}", r"**\1** ", as_markdown(given))
        found = None if number <= body else _LATEX.match(line)
        opening = ""
        if found and found[2] == "enumerate":
            kind = next((kind for kind in ("roman", "alph", "i", "a") if kind in (found[4] or "")), "")
            lists = [*lists, (kind[:1] or "1ai"[len(lists) % 3], 0)][-20:] if found[1] == "begin" else lists[:-1]
        elif found and found[3] and lists:
            kind, count = lists[-1][0], lists[-1][1] + 1
            lists[-1] = (kind, count)
            opening = {"a": chr(96 + min(count, 26)), "1": str(count)}.get(kind, _ROMANS[min(count, 12)]).join("()")
        elif found and found[1] == "begin":
            opening = "Solution:" if found[2] in ("solution", "answer", "proof") else f"**{found[4] or found[2]}**"
        yield "" if number <= body else f"{opening} {line[found.end() :]}".strip() if found else line


class _Builder:
    """Puts lines into sections, one after the other."""

    def __init__(self, named: Callable[[str], str]) -> None:
        self.open = Section(1)
        self.sections, self._named = [self.open], named

    def take(self, number: int, line: str, before: str, *, inside: bool) -> None:
        rank, found, marks, title, rest = (0, (), False, "", line) if inside else heading(line)
        name = self._named(title if rank else line.strip()) if rank < DIGIT and len(line) < 2 * LONGEST_TITLE else ""
        within = next((each for each in self.open.path if each.named), None)
        if name:
            self._push(Section(number, rank or TITLED, title=title or line.strip(), named=name, answers=number))
            rest = ""
        elif within and not (0 < rank <= within.rank):
            rest = rest if found or marks else line  # a step of the answer
            if marks and "proof" not in line.lower() and any(asks(text) for _, text in within.lines):
                within.answers = number  # below the question
        elif found and self._accepts(found[0], before, line, rank < DIGIT or marks or len(found) > 1):
            for place, label in enumerate(found):
                level = rank if rank < DIGIT and not place else self._listed(label)
                here = next((each for each in self.open.path if (each.label, each.rank) == (label, level)), None)
                if here and place < len(found) - 1:
                    self.open = here  # '3 (b)' below '3'
                else:
                    self._push(Section(number, level, label, title if place == len(found) - 1 else ""))
            self.open.answers = self.open.answers or number * marks
        elif (
            rank and not found and not (marks and rank == self.open.rank)
        ):  # '# Answers' and '# Questions' are no titles
            title = "" if marks or re.fullmatch("(?:questions|problems|exercises)", title, re.IGNORECASE) else title
            self._push(Section(number, rank, title=title, answers=number * marks))
        elif marks and not found and (self.open.above or rest or not line.strip().isalpha()):
            self.open.answers = self.open.answers or number
        else:
            rest = line
        self.open.lines.append((number, rest))

    def _accepts(self, label: str, before: str, line: str, headed: bool) -> bool:
        """Whether a label can be one here: it begins a list or goes on with one, at the start of a paragraph."""
        level = self._listed(label)
        last, steps = (
            self._last(level),
            any(each.rank > DIGIT or (each.answers and each.key) for each in self.open.path),
        )
        if level == DIGIT and not last and steps and not (headed and heading(line)[0] < DIGIT):
            return False  # the steps of an answer
        bulleted = re.match(r"[\s>]*[-+*•]\s", line) is not None
        fresh = not before or bulleted or before.endswith((":", "$$")) or heading(before)[0] > 0
        expected = _ordinal(label, level) in (1, _ordinal(last, level) + 1)
        listed = level != DIGIT and (bulleted or line.strip()[0] == "(")
        return headed or (fresh and (expected or listed)) or (expected and bool(last))

    def _last(self, rank: int) -> str:
        """The last label of a rank in the lists that are open."""
        within = self.open.path
        return next((e.label for e in reversed(self.sections[-50:]) if e.rank == rank and e.above in within), "")

    def _listed(self, label: str) -> int:
        """The rank of a label in a list: digits, letters, Roman numbers."""
        if label.isdigit():
            return DIGIT
        if label not in _ROMANS or (len(label) == 1 and self._last(LETTER) == chr(ord(label) - 1)):
            return LETTER
        return ROMAN if label == "i" or len(label) > 1 or self._last(ROMAN) else LETTER

    def _push(self, section: Section) -> None:
        if len(self.sections) >= MOST_SECTIONS:
            return
        above = self.open
        while above.above is not None and above.rank >= section.rank:
            above = above.above
        again = section.label and any(e.above is above and e.label == section.label for e in self.sections[-99:])
        section.above, section.answers = above, section.answers or (section.line if again or above.answers else 0)
        self.sections.append(section)
        self.open = section


def _ordinal(label: str, rank: int) -> int:
    return int(label or 0) if rank == DIGIT else _ROMANS.index(label) if rank == ROMAN else ord(label[:1] or "`") - 96


_ORDERS = (
    r"(?:find|show|prove|describe|explain|design|construct|give|derive|compute|calculate|determine|state|justify|discuss"
    r"|verify|summari[sz]e|argue|write down|briefly|think about|identify|name|propose|suggest|provide|compare)\b"
)
_ASKS = re.compile(
    r"^\W{0,20}(?:(?:then|now|please|next|finally|also|again|hence|and)\b,?\s*)?(?:\([^)]{0,60}\)\s*)?\W{0,20}"
    rf"{_ORDERS}|^\W{{0,20}}(?:using|based on|under|given|with|for|in|as|assuming)\b.{{0,400}}?,\W{{0,20}}{_ORDERS}"
    r"|\?\W{0,20}$|\b(?:we want to (?:find|show|prove|choose)|(?:justify|explain) your"
    r"|do you (?:think|expect)|you (?:can|may|should) (?:ignore|assume)|should have different)\b"
    r"|^\W{0,20}(?:hint|note|figure|fig|recall|footnote|source|due|to (?:show|prove))\b\W*[:.\d]",
    re.IGNORECASE | re.DOTALL,
)


def asks(text: str) -> bool:
    """Whether a paragraph asks: it has a question, a hint, or an order such as 'Find'.

    >>> asks("Find an expression for $q$."), asks("Since $q$ is long, we find that it works.")
    (True, False)
    """
    return any(_ASKS.search(sentence) for sentence in re.split(r"(?<=[.?!:])[*_)\]'\"”]*\s+", text[:LONGEST]))


def paragraphs(lines: list[Line]) -> list[list[Line]]:
    """Lines that stand together; a bullet begins anew."""
    found: list[list[Line]] = [[]]
    for number, text in lines:
        if not text.strip() or re.match(r"\s*[-*+•]\s", text):
            found.append([])
        if text.strip():
            found[-1].append((number, text))
    return [each for each in found if each]


def spoken(section: Section) -> tuple[list[Line], list[Line]]:
    r"""The lines of a section that ask, and those that answer: what follows a mark, or the last question.

    >>> spoken(outline("Why is it so?\n\nBecause $a = b$.")[0])
    ([(1, 'Why is it so?')], [(2, ''), (3, 'Because $a = b$.')])
    """
    start = section.answers or 10**9
    before, after = ([x for x in section.lines if (x[0] >= start) == answers] for answers in (False, True))
    asking = [each[-1] for each in paragraphs(before) if asks("\n".join(text for _, text in each))]
    number, text = asking[-1] if asking else (0, "")
    cut = text.rfind("?") + 1
    if cut and re.match(r"\W*(?:yes|no|because|since|it is|take|set|choose)\b", text[cut:], re.IGNORECASE):
        after.insert(0, (number, " " * cut + text[cut:]))  # 'Can it be? No, since ...'
    if section.answers:  # what stands before a mark is given
        return before, after
    return [line for line in before if line[0] <= number], [*after, *(line for line in before if line[0] > number)]
