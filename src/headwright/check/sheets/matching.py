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
SHARED = 3  # words or names at least
WEIGHTS = {"heading": 1.5, "asked": 1.0, "said": 0.7, "around": 0.3}
ALL_DEFINED, NONE_DEFINED, OTHERS_DEFINED, KEYS_NAMED = 0.15, -0.2, -0.15, 0.05
LONGEST = 20_000  # characters that are looked at
_LETTERS = {"α": "alpha", "β": "beta", "δ": "delta", "ε": "epsilon", "λ": "lambda", "μ": "mu", "Σ": "Sigma", "Φ": "Phi"}
_GREEK = str.maketrans({letter: f"\\{name} " for letter, name in _LETTERS.items()} | {"ϵ": "\\epsilon ", "ϕ": "\\Phi "})
_PLAIN = re.compile(
    r"\\(?:text|mathrm|mathbf|boldsymbol|operatorname|textbf|emph|mathcal|bm)\*?\s*\{([^{}]*)\}"
    r"|\\(?:begin|end)\{\w+\*?\}|\\(?:left|right|quad|[dt]?frac|tag|cdot|l?dots|item)(?![a-z])|[$*]"
)
_TOKEN = re.compile(r"\\?[A-Za-z]+_(?:\{[\w,']{1,6}\}|\w)'?|\\?[A-Za-z]{3,}|\b[A-Zb-hj-z]\b|\\(?:ll|gg|ge|le|ne)")
_ENDING = re.compile(r"(?:ations?|ings?|ed|es|s|ly|al|e)$")
_COMMON = re.compile(
    "the|and|for|with|that|this|which|are|from|its|where|then|what|all|one|has|have|let|can|not|but|such|each|every|when"
    "|will|would|than|there|their|them|they|must|may|most|more|some|any|only|also|both|into|our|you|your|see|say|show|find"
    "|give|name|write|how|why|was|were|been|being|does|did|make|made|namely|since|because|thus|hence|well|same|others?"
    "|becomes?|rightarrow|approx|top|sum|k_i|v_i|alpha_i|notin"
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
        stem = word if "_" in word or len(word) == 1 else word.lower()
        stem = _ENDING.sub("", stem)[:8] if "_" not in stem and len(stem) > 3 else stem
        if not (_COMMON.fullmatch(stem) or _COMMON.fullmatch(word.lower())):
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
        self._told = {name: self._vector({"asked": words}) for name, words in told.items()}

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
                return str(word)
        title = heading.strip(" .:#*").lower()
        return next((name for name, each in self.exercises.items() if each.title.lower() == title), "")

    def match(self, texts: Mapping[str, str], carried: Collection[str] = (), done: Collection[str] = ()) -> Match:
        """The exercise that a section answers, by its texts (see WEIGHTS).

        `carried` names were defined before; of exercises that come near, one that is `done` is not meant again.
        """
        words = {kind: tokens(text) for kind, text in texts.items()}
        given = self._vector(words)
        asked = defined(texts["asked"], self.names)
        defines = {name for name in defined(texts["said"], self.names) if name not in asked}
        known = {*defines, *(carried if texts["said"].strip() else self.names)}
        scores = {name: self._score(each, given, defines, known) for name, each in self.exercises.items()}
        first, *rest = sorted(scores, key=lambda name: -scores[name])
        near = [name for name in (first, *rest) if scores[name] > scores[first] - AHEAD and scores[name] >= ENOUGH]
        near = [name for name in near if name not in done] or near
        shared = sorted((w for w in given if w in self._told[near[0]]), key=lambda w: -given[w]) if near else []
        if len(near) != 1 or len(shared) < SHARED:
            return Match(near=tuple(near[:4]) if len(shared) >= SHARED else ())
        best, other = self.exercises[near[0]], next(name for name in (first, *rest) if name != near[0])
        spelled = [next(found[word][0] for found in words.values() if word in found) for word in shared[:3]]
        mine = f"defines {', '.join(best.answer)} and " if best.answer and defines.issuperset(best.answer) else ""
        similar = f"(score {scores[best.id]:.2f}; next {other} {scores[other]:.2f})"
        return Match(best.id, f"{mine}shares {', '.join(map(repr, spelled))} {similar}")

    def _vector(self, words: Mapping[str, Mapping[str, list[str]]]) -> dict[str, float]:
        """The known words with their weights, of length 1; of a word in several texts, the largest weight counts."""
        found: dict[str, float] = {}
        for kind, several in words.items():
            for word, spellings in several.items():
                weight = WEIGHTS[kind] * self._rare.get(word, 0.0) * (1 + math.log(len(spellings)))
                found[word] = max(weight, found.get(word, 0.0))
        length = math.sqrt(sum(weight * weight for weight in found.values())) or 1.0
        return {word: weight / length for word, weight in found.items() if weight}

    def _score(self, each: Exercise, given: Mapping[str, float], defines: set[str], known: Iterable[str]) -> float:
        told, wanted = self._told[each.id], set(each.answer)
        score = sum(weight * told[word] for word, weight in given.items() if word in told)
        score += (
            ALL_DEFINED
            if wanted and wanted <= defines
            else NONE_DEFINED * (wanted != set() and wanted.isdisjoint(known))
        )
        marks = {word.partition("_")[2] for word in given}
        score += KEYS_NAMED if each.keys is not None and each.keys.named and marks.issuperset(each.keys.named) else 0.0
        return score + OTHERS_DEFINED * (not defines <= {*wanted, *each.definitions, *each.redefines})


def _words(each: Exercise) -> str:
    right = [formula for answer in each.samples.right for formula in answer]
    keys = [f"{letter}_{name}" for letter in each.keys.also for name in each.keys.named] if each.keys else []
    return "\n".join([each.title, each.title, each.statement, *each.goals, *each.answer, *right, *keys])
