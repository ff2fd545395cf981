"""Which exercise a part of a document is about: by what it defines, by its words, and by those of its question.

Every exercise has cues: words and bits of formulas that speak for it, or against it, each with a weight. What is chosen
is told with its reasons; where two exercises fit about as well, none is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from headwright.check.exercise import Exercise
from headwright.check.reading.written import find_formulas

ENOUGH = 3.0  # points that an exercise must have
AHEAD = 1.0  # and so many more than the next
TELLING = 2.0  # of them, so many for cues
WORDED = 0.8  # and so many for one that is no formula, where several ask for the same: q = ... tells too little
LONGEST = 20_000  # characters that are looked at, of each kind
_WEIGHTS = {"heading": 1.2, "asked": 1.0, "said": 0.8, "around": 0.4}

_GREEK = {
    "α": "alpha", "β": "beta", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon", "λ": "lambda", "μ": "mu", "π": "pi",
    "σ": "sigma", "Σ": "sigma", "φ": "phi", "ϕ": "phi", "Φ": "phi", "∼": "~", "≈": "~",
}  # fmt: skip
_SPELLED: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile("|".join(_GREEK)), lambda found: _GREEK[found[0]]),
    (re.compile(r"\\mathcal\s*\{?N\}?"), " normal"),
    (
        re.compile(r"\\(?:text|mathrm|mathbf|mathbb|boldsymbol|operatorname|textbf|emph|mathcal)\*?\s*\{([^{}]*)\}"),
        r"\1",
    ),
    (re.compile(r"\\(?:left|right|big|Big|bigl|bigr|displaystyle|quad|qquad|cdot|,|;|!|:)(?![a-zA-Z])"), " "),
    (re.compile(r"\\var(epsilon|phi)"), r"\1"),
    (re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"\1/\2"),
    (re.compile(r"\\[dt]?frac\s*(\d)\s*(\d)"), r"\1/\2"),
    (re.compile(r"\\sqrt\s*\{([^{}]*)\}|\\sqrt\s*(\w)"), lambda found: f"sqrt({found[1] or found[2]})"),
    (re.compile(r"\^\s*(?:\{?\s*\\top\s*\}?|\{?T\}?(?![a-z]))"), "^t "),
    (re.compile(r"\\(?:lVert|rVert|Vert|lvert|rvert|\||langle|rangle)"), "|"),
    (re.compile(r"\|\|"), "|"),
    (re.compile(r"\\sim(?![a-z])"), "~"),
    (re.compile(r"\\[{}]"), ""),
    (re.compile(r"\\"), " "),
    (re.compile(r"[$*{}&]"), ""),
    (re.compile(r"\s*([+\-=/,|~<>])\s*"), r"\1"),
    (re.compile(r"\(\s+"), "("),
    (re.compile(r"\s+\)"), ")"),
    (re.compile(r"\s+"), " "),
]


_PROSE = re.compile(r"[a-z][a-z' -]{2,}")


def spelled(text: str) -> str:
    r"""A text as cues are looked for in it: small letters, formulas in a plain spelling.

    >>> spelled(r"**Average** $\frac{1}{2}(v_a + v_{b})$ with $\Sigma_a$")
    'average 1/2(v_a+v_b) with sigma_a'
    """
    for pattern, spelling in _SPELLED:
        text = pattern.sub(spelling, text)
    return text.strip().lower()


@dataclass(frozen=True)
class Words:
    """The words about a part: its heading, its question, its answer, and what stands around it."""

    heading: str = ""
    asked: str = ""
    said: str = ""
    around: str = ""


@dataclass(frozen=True)
class Match:
    """The exercise that fits, with the reasons; or none, with those that would."""

    exercise_id: str = ""
    why: str = ""
    candidates: tuple[str, ...] = ()
    score: float = 0.0


def defined(text: str, names: Collection[str]) -> tuple[str, ...]:
    r"""Which of these names a text defines.

    >>> defined(r"Set $q_1 = \lambda k_a$ and $q_{2} = k_b$, so that $k_a^\top q = 1$", ["q", "q_1", "q_2"])
    ('q_1', 'q_2')
    """
    text = text[:LONGEST]
    pieces = [piece.text for piece in find_formulas(text)[0]] if "$" in text or "\\" in text else []
    pieces += [
        re.sub(r"^\W*(?:\w+\s+)*?(?:let|set|choose|take|use|try|is|pick|define|and|with|then)\s+", "", line, flags=re.I)
        for line in text.split("\n")
    ]
    sides = re.compile(
        r"(?:^|[,;&]|\\quad|\\qquad|\\\\|\band\b|\})\s*([A-Za-z]+(?:_\{?\w+\}?|\d)?)\s*&?\s*(?::?=|\\propto|\\coloneqq)"
    )
    found = {side.replace("{", "").replace("}", "") for piece in pieces for side in sides.findall(piece)}
    found |= {f"{side[0]}_{side[1:]}" for side in found if re.fullmatch(r"[a-z]\d", side)}
    return tuple(name for name in names if name in found)


class Matcher:
    """Compares parts with exercises."""

    def __init__(self, exercises: Mapping[str, Exercise]) -> None:
        """The exercises, each with patterns made of its cues, and how rare every word of their statements is."""
        self.exercises = dict(exercises)
        self.ids = {each.lower(): each for each in exercises}
        self.names = tuple(dict.fromkeys(name for each in exercises.values() for name in each.answer))
        self._cues = {
            each.id: [(cue.lower().rstrip("*"), _pattern(cue), weight) for cue, weight in each.cues.items()]
            for each in exercises.values()
        }
        wanted = [each.answer for each in exercises.values()]
        self._alone = {each.id for each in exercises.values() if not each.answer or wanted.count(each.answer) == 1}
        told = {each.id: _content(f"{each.title} {each.statement}") for each in exercises.values()}
        count = len(told) or 1
        self._rare = {
            word: math.log((1 + count) / (1 + sum(word in words for words in told.values()))) + 0.1
            for word in set().union(*told.values())
        }
        self._told = told
        self._titles = {" ".join(sorted(_content(each.title))): each.id for each in exercises.values()}

    def named(self, heading: str) -> str:
        """The exercise that a heading names by its id; '' where it names none, or says more than an ordinary word.

        >>> from headwright.check.exercise import load_exercises
        >>> matcher = Matcher(load_exercises())
        >>> [matcher.named(title) for title in ("2b. averaging-two (5 points)", "Copying", "Copying in attention")]
        ['averaging-two', 'copying', '']
        """
        words = re.findall(r"\w+(?:-\w+)*", re.sub(r"\([^)]*\)", " ", heading[:300].lower().replace("_", "-")))
        for word in words:
            if word in self.ids and ("-" in word or all(other == word or len(other) < 3 for other in words)):
                return self.ids[word]
        return ""

    def misspelt(self, heading: str) -> bool:
        """Whether a heading is one word that was meant to be an id, most likely."""
        words = [word for word in re.findall(r"\w+(?:-\w+)*", heading[:300].lower()) if len(word) > 2]
        return len(words) == 1 and bool(get_close_matches(words[0].replace("_", "-"), list(self.ids), n=1, cutoff=0.85))

    def is_title(self, line: str) -> bool:
        """Whether a line is nothing but the id or the title of an exercise."""
        line = line.strip()
        if not 0 < len(line) <= 100 or re.search(r"[=$\\]", line):
            return False
        return line.lower().strip("#*: ") in self.ids or " ".join(sorted(_content(line))) in self._titles

    def match(self, words: Words, carried: Collection[str] = ()) -> Match:
        """The exercise that fits best, where it is certain; `carried` names were defined before."""
        texts = {kind: spelled(getattr(words, kind)[:LONGEST]) for kind in _WEIGHTS}
        defines = defined(words.said, self.names)
        scored = [(*self._score(each, texts, defines, carried), each.id) for each in self.exercises.values()]
        scored.sort(key=lambda each: -each[0])
        if not scored or scored[0][0] < ENOUGH:
            return Match(candidates=tuple(found for score, _, found in scored[:2] if score > ENOUGH - AHEAD))
        close = tuple(found for score, _, found in scored if score > scored[0][0] - AHEAD)
        best, why, chosen = scored[0]
        return Match(chosen, why, (), best) if len(close) == 1 else Match("", "", close[:4], best)

    def _score(
        self, exercise: Exercise, texts: Mapping[str, str], defines: Sequence[str], carried: Collection[str]
    ) -> tuple[float, str]:
        total, heard = 0.0, []
        everything = "\n".join(texts.values())
        for literal, pattern, weight in self._cues[exercise.id]:
            if literal not in everything:  # most are not, and this is fast
                continue
            best, words = max(
                ((_WEIGHTS[kind], found[0]) for kind, text in texts.items() if (found := pattern.search(text))),
                default=(0.0, ""),
            )
            total += weight * best
            if weight > 0 and best:
                heard.append((weight * best, words.strip("( ")))
        wanted = exercise.answer
        mine = [name for name in wanted if name in defines]
        if wanted:
            total += 2.0 if len(mine) == len(wanted) else 0.0
            if not mine and not all(name in carried for name in wanted):
                total -= 1.0 * bool(texts["said"])
                total -= 1.5 * (not any(_pattern(name).search(text) for name in wanted for text in texts.values()))
        total -= 1.5 * bool(set(defines) - set(wanted) - set(exercise.definitions) - set(exercise.redefines))
        total += self._named_keys(exercise, texts)
        words_of = _content(" ".join((texts["heading"], texts["asked"], texts["said"])))
        told = self._told[exercise.id]
        total += 1.5 * sum(self._rare[word] for word in told & words_of) / (sum(self._rare[word] for word in told) or 1)
        title = _content(exercise.title)
        if title and title <= _content(texts["heading"]):
            total += 2.5
        telling = sum(points for points, _ in heard) + 2.0 * (title <= _content(texts["heading"]))
        worded = sum(points for points, words in heard if texts["asked"] or _PROSE.fullmatch(words))
        if telling < TELLING or (worded < WORDED and exercise.id not in self._alone):
            total = min(total, ENOUGH - 1 + telling / 10)
        return total, _why(mine, heard)

    def _named_keys(self, exercise: Exercise, texts: Mapping[str, str]) -> float:
        """Points for speaking of the keys that the exercise names, k_1 or k_a."""
        if exercise.keys is None:
            return 0.0
        text = " ".join(texts[kind] for kind in ("heading", "asked", "said"))
        marks = {found[1] for found in re.finditer(r"(?<![a-z])(?:k|v|alpha|mu|s|u)_([a-z0-9])(?![a-z0-9])", text)}
        mine = set(exercise.keys.named)
        return 0.5 if mine <= marks else -1.0 if marks & {"a", "b", "j", "1", "2"} and not mine & marks else 0.0


def _why(mine: Sequence[str], heard: list[tuple[float, str]]) -> str:
    heard.sort(key=lambda each: -each[0])
    words = list(dict.fromkeys(f"'{word}'" for _, word in heard if word.count("(") == word.count(")")))[:3]
    reasons = [f"defines {_and(list(mine))}"] if mine else []
    reasons += [f"speaks of {_and(words)}"] if words else []
    return f"it {' and '.join(reasons)}" if reasons else "its words are those of the exercise"


def _and(words: list[str]) -> str:
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1]


@lru_cache(maxsize=4096)
def _pattern(cue: str) -> re.Pattern[str]:
    cue = cue.lower()
    start = r"(?<![\w^])" if cue[:1].isalnum() else ""
    if cue.endswith("*"):
        return re.compile(start + re.escape(cue[:-1]) + r"\w*")
    return re.compile(start + re.escape(cue) + (r"(?!\w)" if cue[-1:].isalnum() else ""))


_COMMON = frozenset(
    ["the", "and", "for", "with", "that", "this", "which", "are", "from", "its", "where", "then", "what", "all", "one"]
)


def _content(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in _COMMON}
