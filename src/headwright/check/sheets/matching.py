"""Which exercise a section answers: similarity (tf-idf) with the exercise's statement, and the names that it defines.

Where two exercises fit about as well, none is chosen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from headwright.check.exercise import Exercise
from headwright.check.markdown import find_formulas

ENOUGH, AHEAD = 0.28, 0.04  # the similarity that an exercise must have, and how much more than the next
LONGEST = 20_000  # characters that are looked at
WEIGHTS = {"heading": 1.5, "asked": 1.0, "said": 0.7, "around": 0.3}
ALL_DEFINED, NONE_DEFINED, OTHERS_DEFINED, KEYS_NAMED = 0.15, -0.2, -0.15, 0.05
_LETTERS = {"α": "alpha", "β": "beta", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon", "λ": "lambda", "μ": "mu", "Σ": "Sigma"}
_GREEK = str.maketrans({letter: f"\\{name} " for letter, name in _LETTERS.items()} | dict.fromkeys("φϕΦ", "\\Phi "))
_PLAIN = re.compile(
    r"\\(?:text|mathrm|mathbf|boldsymbol|operatorname|textbf|emph|mathcal|bm)\*?\s*\{([^{}]*)\}"
    r"|\\(?:begin|end)\{\w+\*?\}|\\(?:left|right|quad|[dt]?frac|tag|cdot|l?dots|item)(?![a-z])|[$*]"
)
_TOKEN = re.compile(r"(?:\\?[A-Za-z]+)(?:_(?:\{[\w,']{1,6}\}|\w)'?)|\\?[A-Za-z]{3,}|\b[A-Zb-hj-z]\b|\\(?:ll|gg|ge|le|ne)")
_ENDING = re.compile(r"(?:ations?|ings?|ed|es|s|ly|al|e)$")
_COMMON = frozenset(
    "the and for with that this which are from its where then what all one has have let can not but such each every when will would "
    "than there their them they must may most more some any only also both into our you your see say show find give name write how why "
    "was were been being does did make made namely since because thus hence well same other others become becomes rightarrow approx top sum k_i v_i alpha_i notin".split()
)
_DEFINES = re.compile(
    r"(?:^|[,;&]|\\q?quad|\\\\|\band\b|\})\s*([A-Za-z]+(?:_\{?\w+\}?|\d)?)\s*&?\s*(?::?=|\\propto|\\coloneqq)"
)
_BEFORE = re.compile(r"^\W*(?:\w+\s+)*?(?:let|set|choose|take|use|try|is|pick|define|and|with|then)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Match:
    """The exercise that fits, with the reason; or none, with those that come near."""

    exercise_id: str = ""
    why: str = ""
    near: tuple[str, ...] = ()


def tokens(text: str) -> dict[str, list[str]]:
    r"""The words of a text without their endings, and the names of its formulas; each with its spellings.

    >>> list(tokens(r"Averaging: $\mathbf{k}_a + \mu_{b}$"))
    ['averag', 'k_a', 'mu_b']
    """
    found: dict[str, list[str]] = {}
    for token in _TOKEN.findall(_PLAIN.sub(r"\1", text[:LONGEST].translate(_GREEK))):
        word = re.sub(r"[\\{}]", "", token)
        stem = word if "_" in word or len(word) == 1 else _ENDING.sub("", word.lower())[:8] if len(word) > 3 else word.lower()
        if not {stem, word.lower()} & _COMMON:
            found.setdefault(stem, []).append(word)
    return found


def defined(text: str, names: Collection[str]) -> tuple[str, ...]:
    r"""Which of these names a text defines.

    >>> defined(r"Set $q_1 = \lambda k_a$ and $q_{2} = k_b$, so that $k_a^\top q = 1$", ["q", "q_1", "q_2"])
    ('q_1', 'q_2')
    """
    pieces = [piece.text for piece in find_formulas(text[:LONGEST])[0]]
    pieces += [_BEFORE.sub("", line[:500]) for line in text[:LONGEST].split("\n")]
    found = {re.sub("[{}]", "", side) for piece in pieces for side in _DEFINES.findall(_PLAIN.sub(r"\1", piece))}
    found |= {f"{side[0]}_{side[1:]}" for side in found if re.fullmatch(r"[a-z]\d", side)}
    return tuple(name for name in names if name in found)


class Matcher:
    """Compares sections with exercises."""

    def __init__(self, exercises: Mapping[str, Exercise]) -> None:
        """Each exercise as a vector of the words of its title, statement, goals and right samples."""
        self.exercises = dict(exercises)
        self.names = tuple(dict.fromkeys(name for each in self.exercises.values() for name in each.answer))
        told = {name: tokens(_words(each)) for name, each in self.exercises.items()}
        count = Counter(word for words in told.values() for word in words)
        self._rare = {word: math.log(1 + len(told) / number) for word, number in count.items()}
        self._told = {name: {word: self._weight(word, len(n)) for word, n in words.items()} for name, words in told.items()}

    def named(self, heading: str) -> str:
        """The exercise that a heading names by its id, or that has this title; '' where there is none.

        >>> from headwright.check.exercise import load_exercises
        >>> matcher = Matcher(load_exercises())
        >>> [matcher.named(title) for title in ("2b. averaging-two (5 points)", "Copying", "Copying in attention")]
        ['averaging-two', 'copying', '']
        """
        words = re.findall(r"\w+(?:-\w+)*", re.sub(r"\([^)]*\)", " ", heading[:300].lower().replace("_", "-")))
        for word in words:
            if word in self.exercises and ("-" in word or all(other == word or len(other) < 3 for other in words)):
                return word
        title = heading.strip(" .:#*").lower()
        return next((name for name, each in self.exercises.items() if each.title.lower() == title), "")

    def match(self, texts: Mapping[str, str], carried: Collection[str] = (), done: Collection[str] = ()) -> Match:
        """The exercise that a section answers, by its texts (see WEIGHTS).

        `carried` names were defined before; of exercises that come near, one that is `done` is not meant again.
        """
        given: dict[str, float] = {}
        spelled: dict[str, str] = {}
        for kind, text in texts.items():
            for word, spellings in tokens(text).items():
                if word in self._rare:
                    given[word] = max(given.get(word, 0.0), WEIGHTS[kind] * self._weight(word, len(spellings)))
                    spelled.setdefault(word, spellings[0])
        given_names = defined(texts["asked"], self.names)
        defines = [name for name in defined(texts["said"], self.names) if name not in given_names]
        length = _length(given.values())
        scored = sorted((-self._score(each, given, length, defines, carried), name) for name, each in self.exercises.items())
        near = tuple(name for score, name in scored if score < AHEAD + scored[0][0])[:4]
        near = tuple(name for name in near if name not in done) or near
        scored.sort(key=lambda one: one[1] != near[0])
        if not scored or -scored[0][0] < ENOUGH or len(near) > 1:
            return Match(near=tuple(name for score, name in scored[:4] if -score >= ENOUGH and name in near))
        best = self.exercises[scored[0][1]]
        shared = sorted((w for w in given if w in self._told[best.id]), key=lambda w: -given[w] * self._told[best.id][w])[:3]
        mine = [f"defines {', '.join(best.answer)}"] if best.answer and set(best.answer) <= set(defines) else []
        said = [*mine, f"shares {', '.join(repr(spelled[word]) for word in shared)}"] if shared else mine
        return Match(best.id, f"{' and '.join(said)} (similarity {-scored[0][0]:.2f}; next {scored[1][1]} {-scored[1][0]:.2f})")

    def _weight(self, word: str, times: int) -> float:
        return self._rare[word] * (1 + math.log(times))

    def _score(
        self, exercise: Exercise, given: Mapping[str, float], length: float, defines: Collection[str], carried: Collection[str]
    ) -> float:
        told, wanted = self._told[exercise.id], set(exercise.answer)
        score = sum(weight * told[word] for word, weight in given.items() if word in told)
        score /= (length * _length(told.values())) or 1.0
        if wanted and wanted <= set(defines):
            score += ALL_DEFINED
        elif wanted and not wanted & {*defines, *carried}:
            score += NONE_DEFINED
        marks = {word.partition("_")[2] for word in given if "_" in word}
        if exercise.keys is not None and exercise.keys.named and {*exercise.keys.named} <= marks:
            score += KEYS_NAMED
        return score + OTHERS_DEFINED * bool(set(defines) - wanted - {*exercise.definitions, *exercise.redefines})


def _words(each: Exercise) -> str:
    right = [formula for answer in each.samples.right for formula in answer]
    keys = [f"{letter}_{name}" for letter in each.keys.also for name in each.keys.named] if each.keys else []
    return "\n".join([each.title, each.title, each.statement, *each.goals, *each.answer, *right, *keys])


def _length(weights: Iterable[float]) -> float:
    return math.sqrt(sum(weight * weight for weight in weights))
