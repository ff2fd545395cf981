"""Documents, questions and answers mixed: which section answers which exercise.

An id in a heading, or --exercise, says it; else sections are compared with the exercises (tf-idf, and the names that an
exercise asks for), and the choice is shown. A section that fits two about as well, or none, is reported and counted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from headwright.grading.exercise import Exercise
from headwright.grading.markdown import (
    Form,
    Written,
    find_formulas,
    of_lines,
    without_preamble,
)
from headwright.grading.sheets.files import clean, read_text, shortened
from headwright.grading.sheets.outline import (
    DIGIT,
    MOST_SECTIONS,
    Line,
    Section,
    outline,
    paragraphs,
)
from headwright.grading.sheets.sheet import AnswerText, Problem, Sheet

NOTHING = "no answer was found, or only questions: write '## ', an exercise's id, and the answer below it"
LIMIT = f"more than {MOST_SECTIONS} sections: what comes later was read as a part of the last of them"
ENOUGH, AHEAD, SHARED = (
    0.28,
    0.035,
    3,
)  # the least score, how much more than the next, and words in common
WEIGHTS = {"heading": 1.5, "asked": 1.0, "said": 0.7, "around": 0.3}
ALL_DEFINED, NONE_DEFINED, KEYS_NAMED = 0.15, -0.2, 0.05
LONGEST = 20_000  # characters that are looked at
_PLAIN = re.compile(
    r"\\(?:text|mathrm|mathbf|boldsymbol|operatorname|textbf|emph|mathcal|bm)\*?\s*\{([^{}]*)\}"
    r"|\\(?:begin|end)\{\w+\*?\}|\\(?:left|right|quad|[dt]?frac|tag|cdot|l?dots|item)(?![a-z])|[$*]"
)
_TOKEN = re.compile(
    r"\\?[A-Za-z]+_(?:\{[\w,']{1,6}\}|\w)'?|\\?[A-Za-z]{3,}|\b[A-Zb-hj-z]\b|\\(?:ll|gg|ge|le|ne)"
)
_COMMON = re.compile(
    "the|and|for|with|that|this|which|are|from|its|where|then|what|all|one|has|have|let|can|not|but|such|each|every|when"
    "|will|would|than|there|their|them|they|must|may|most|more|some|any|only|also|both|into|our|you|your|see|say|show|find"
    "|give|name|write|how|since|thus|hence|well|same|others?|becomes?|rightarrow|approx|top|sum|k_i|v_i|alpha_i|notin"
)
_DEFINES = re.compile(
    r"(?:^|[,;&]|quad|\\\\|\band\b|\})\s*([A-Za-z]+(?:_\{?\w+\}?|\d)?)\s*&?\s*(?::?=|\\propto)"
)


def read_document(
    source: str | Path,
    exercises: Mapping[str, Exercise],
    exercise: str | None = None,
    others: Mapping[str, Exercise] | None = None,
) -> Sheet:
    """The answers in a file (`-` is standard input); see `parse_document`."""
    name = clean(str(source)) if str(source) != "-" else "standard input"
    return parse_document(
        read_text(source),
        name,
        exercises,
        exercise,
        latex=Path(str(source)).suffix == ".tex",
        others=others,
    )


def parse_document(
    text: str,
    file: str,
    exercises: Mapping[str, Exercise],
    exercise: str | None = None,
    *,
    latex: bool = False,
    others: Mapping[str, Exercise] | None = None,
) -> Sheet:
    """The answers in a text; with `exercise`, all of it answers that one.

    Sections are matched among `exercises`. One that names an exercise among `others`,
    which was not set, is reported and matched with none.
    """
    others = others or {}
    matcher = Matcher(exercises, others)
    macros, text = without_preamble(text) if latex else ("", text)
    form: Form = "latex" if latex else "markdown"
    sections = outline(text, latex=latex, named=matcher.named, titled=matcher.titled)
    if exercise is not None and not any(
        each.named and each.exercise == exercise for each in sections
    ):
        return Sheet(
            file, (AnswerText(file, 1, exercise, Written(text, 1, form, macros)),)
        )
    found = _matched(matcher, sections)
    answers, notes = [], []
    for place, each in enumerate(found):
        line = each.answers or each.line
        if not each.exercise:
            what = (
                f"({each.label}) {each.title}"
                if each.label
                else each.title or _text(each.said)
            )
            notes.append(
                Problem(file, line, f"not judged ({shortened(what, 60)}): {each.why}")
            )
        elif each.exercise in others:
            title = shortened(each.title, 60)
            sentence = f"not judged ({title}): {each.exercise} was not set"
            notes.append(Problem(file, line, sentence))
        elif exercise in (None, each.exercise):
            lines, more = _carried(each, found[:place], exercises[each.exercise])
            answers.append(
                AnswerText(
                    file,
                    line,
                    each.exercise,
                    of_lines(lines, form, macros),
                    each.why + more,
                )
            )
    problems = [] if answers or notes else [Problem(file, 1, NOTHING)]
    problems += (
        [Problem(file, sections[-1].line, LIMIT)]
        if len(sections) >= MOST_SECTIONS
        else []
    )
    return Sheet(file, tuple(answers), tuple(problems), tuple(notes))


def _matched(matcher: Matcher, sections: Sequence[Section]) -> list[Section]:
    """The sections that may be answers, each with its exercise; items of a list that answer one exercise are one."""
    _take_as_given(sections)
    matched: list[Section] = []
    for section in sections:
        title = section.title.lower().replace("_", "-")
        by_id = section.named and section.exercise in title
        if not by_id and not re.search(r"\w", _text(section.said)):
            continue
        before: list[Section] = []
        if not section.named:
            before = _list_before(section, matched)
            _match(matcher, section, sections, before)
        for other in before:
            if other.exercise and other.exercise == section.exercise:
                other.said += section.said
                break
        else:
            matched.append(section)
    return matched


def _take_as_given(sections: Sequence[Section]) -> None:
    """What stands above a list, or is answered below, asks and does not answer."""
    parents = {id(section.path[-2]) for section in sections[1:]}
    answered_below = {section.key for section in sections if section.answers}
    formulas = find_formulas(_text(sections[0].said))[0]
    states = any(not formula.mention for formula in formulas)
    is_sheet = states and any(section.named for section in sections)
    # Formulas above the headings of a sheet are no question.
    for section in sections[1:] if is_sheet else sections:
        is_given = id(section) in parents or section.key in answered_below
        if is_given and not section.answers:
            section.asked = [*section.asked, *section.said]
            section.said = []


def _list_before(section: Section, matched: Sequence[Section]) -> list[Section]:
    """The items before this one in its list."""
    if section.rank < DIGIT:
        return []
    return [
        other
        for other in matched[-8:]
        if other.rank >= DIGIT and other.path[:-1] == section.path[:-1]
    ]


def _match(
    matcher: Matcher,
    section: Section,
    sections: Sequence[Section],
    before: Sequence[Section],
) -> None:
    """Find the exercise that a section answers, by its question, its text, and what is around it."""
    questions = [
        other
        for other in sections
        if other is section or (other.key == section.key and other.asked)
    ][:8]
    around = [f"{one.title}\n{_text(one.asked)}" for one in section.path[1:-1]]
    texts = {
        "heading": " ".join(one.title for one in questions),
        "asked": "\n".join(_text(one.asked) for one in questions),
        "said": _text(section.said),
        "around": "\n".join(around),
    }
    said_before = "\n".join(_text(one.said) for one in before)
    carried = defined(said_before, matcher.names)
    answered = {one.exercise for one in before}
    section.exercise, section.why = matcher.match(texts, carried, answered)


def _carried(
    each: Section, before: Sequence[Section], exercise: Exercise
) -> tuple[list[Line], str]:
    """The lines of an answer, with paragraphs of the answer before it that define what it uses; and a word on them."""
    missing = exercise.missing(defined(_text(each.said), exercise.answer))
    for other in reversed(before if missing and not each.named else ()):
        lines = [
            line
            for one in paragraphs(other.said)
            if defined(_text(one), missing)
            for line in one
        ]
        if other.path[:-1] == each.path[:-1] and len(
            defined(_text(lines), missing)
        ) == len(missing):
            return [
                *lines,
                *each.said,
            ], f"; {', '.join(missing)} is taken from line {lines[0][0]}"
    return each.said, ""


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(text for _, text in lines)


def tokens(text: str) -> Counter[str]:
    """The words of a text without their endings, and the names of its formulas."""
    found: Counter[str] = Counter()
    for token in _TOKEN.findall(_PLAIN.sub(r"\1", text[:LONGEST])):
        word = re.sub(r"[\\{}]", "", token)
        stem = word.lower() if "_" not in word and len(word) > 1 else word
        if not _COMMON.fullmatch(stem):
            found[
                re.sub(r"(?:ations?|ings?|ed|es|s|ly|al|e)$", "", stem)[:8]
                if "_" not in stem[:-1]
                else stem
            ] += 1
    return found


def defined(text: str, names: Collection[str]) -> tuple[str, ...]:
    """Which of these names a text defines: they stand on the left of an equation."""
    text = text[:LONGEST]
    pieces = [
        *(piece.text for piece in find_formulas(text)[0]),
        *(line[:500] for line in text.split("\n")),
    ]
    found = {
        re.sub("[{}]", "", side)
        for piece in pieces
        for side in _DEFINES.findall(_PLAIN.sub(r"\1", piece))
    }
    return tuple(
        name for name in names if name in found or name.replace("_", "") in found
    )


def _blank_names(exercise: Exercise) -> set[str]:
    """What the blanks of an exercise ask for, as written."""
    return {source for blank in exercise.blanks for source in blank.of}


class Matcher:
    """Compares sections with exercises."""

    def __init__(
        self,
        exercises: Mapping[str, Exercise],
        others: Mapping[str, Exercise] | None = None,
    ) -> None:
        """Each exercise as a vector of the words of its title, statement, goals and right samples.

        `others` are named by headings alone; nothing is compared with them.
        """
        self.exercises = dict(exercises)
        self._by_name = {**(others or {}), **self.exercises}
        self.names = tuple(
            dict.fromkeys(
                name for each in self.exercises.values() for name in each.answer
            )
        )
        told: dict[str, Counter[str]] = {}
        for name, each in self.exercises.items():
            right = [formula for answer in each.samples.right for formula in answer]
            told[name] = tokens(
                "\n".join(
                    [
                        each.title,
                        each.title,
                        each.statement,
                        *each.goals,
                        *each.answer,
                        *right,
                    ]
                )
            )
        count = Counter(word for words in told.values() for word in words)
        self._rare = {
            word: math.log(1 + len(told) / number) for word, number in count.items()
        }
        self._told = {
            name: self._vector({"asked": words}) for name, words in told.items()
        }

    def named(self, heading: str) -> str:
        """The exercise that a heading names by its id, or that has this title; '' where there is none."""
        words = re.findall(
            r"\w+(?:-\w+)*",
            re.sub(r"\([^)]*\)", " ", heading[:300].lower().replace("_", "-")),
        )
        for word in words:
            if word in self._by_name and (
                "-" in word or all(other == word or len(other) < 3 for other in words)
            ):
                return str(word)
        return self.titled(heading)

    def titled(self, label: str) -> str:
        """The exercise whose id or title this is, and nothing else; '' where there is none."""
        title = label.strip(" .:#*").lower()
        for name, exercise in self._by_name.items():
            if title in (name, exercise.title.lower()):
                return name
        return ""

    def match(
        self,
        texts: dict[str, str],
        before: Collection[str] = (),
        done: Collection[str] = (),
    ) -> tuple[str, str]:
        """The exercise that a section answers, or '', and why; `done` are exercises answered before."""
        given = self._vector({kind: tokens(text) for kind, text in texts.items()})
        defines = {*defined(texts["said"], self.names)}
        known = {*defines, *(before if texts["said"].strip() else self.names)}
        indices = {word.partition("_")[2] for word in given}
        scores: dict[str, float] = {}
        for name, each in self.exercises.items():
            wanted, keys = set(each.answer), set(each.kind.labels())
            scores[name] = sum(
                weight * self._told[name].get(word, 0.0)
                for word, weight in given.items()
            )
            scores[name] += KEYS_NAMED if keys and indices.issuperset(keys) else 0.0
            if wanted and (wanted <= defines or wanted.isdisjoint(known)):
                scores[name] += ALL_DEFINED if wanted <= defines else NONE_DEFINED
            elif each.condition and defines - _blank_names(each):
                scores[name] += NONE_DEFINED  # a condition is asked for, and no name
        best = sorted(scores, key=lambda name: -scores[name])
        near = [
            name
            for name in best
            if scores[name] > scores[best[0]] - AHEAD and scores[name] >= ENOUGH
        ]
        near = [name for name in near if name not in done] or near
        if not near or len(given.keys() & self._told[near[0]].keys()) < SHARED:
            return (
                "",
                "it is like no exercise; write '## ' and an exercise's id above it",
            )
        if len(near) > 1:
            return (
                "",
                f"it may answer {' or '.join(near[:4])}; write '## {near[0]}' above it",
            )
        second = "".join(
            [f"; next {name} {scores[name]:.2f}" for name in best if name != near[0]][
                :1
            ]
        )
        return near[
            0
        ], f"by similarity with the exercise (score {scores[near[0]]:.2f}{second})"

    def _vector(self, words: Mapping[str, Counter[str]]) -> dict[str, float]:
        """The known words with their weights, of length 1; of a word in several texts, the largest weight counts."""
        found: dict[str, float] = {}
        for kind, several in words.items():
            for word in several.keys() & self._rare.keys():
                weight = (
                    WEIGHTS[kind] * self._rare[word] * (1 + math.log(several[word]))
                )
                found[word] = max(weight, found.get(word, 0.0))
        length = math.hypot(*found.values())
        return {word: weight / length for word, weight in found.items()}
