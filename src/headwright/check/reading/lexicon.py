"""The words that decide what a sentence says: a table, kept as data in lexicon.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LONGEST_PHRASE = 9  # words


@dataclass(frozen=True)
class Phrase:
    """A phrase that was found: the part it plays, and how many words it takes.

    >>> Phrase("claim", 2).words
    2
    """

    part: str
    words: int


@dataclass(frozen=True)
class Lexicon:
    """Phrases by the part they play; a phrase is a tuple of words in lower case."""

    parts: Mapping[tuple[str, ...], str]
    turning: frozenset[tuple[str, ...]]
    denying: frozenset[str]
    adjectives: Mapping[tuple[str, ...], str]
    signs: Mapping[tuple[str, ...], str]
    loosely: Mapping[tuple[str, ...], str]
    of_vectors: Mapping[tuple[str, ...], str]
    dominates: frozenset[tuple[str, ...]]
    numbered: frozenset[str]
    verbs: frozenset[str]
    of_ones: Mapping[tuple[str, ...], str]
    of_twos: Mapping[tuple[str, ...], str]
    sums: frozenset[tuple[str, ...]]
    neutral: frozenset[tuple[str, ...]]
    beside: frozenset[tuple[str, ...]]
    things: frozenset[tuple[str, ...]]
    kinds: frozenset[tuple[str, ...]]
    claiming: frozenset[tuple[str, ...]]
    before: frozenset[str]
    after: frozenset[str]
    nouns: frozenset[str]
    between: frozenset[str]
    passing: frozenset[str]
    abbreviations: frozenset[str]
    nearly: Mapping[tuple[str, ...], str]
    functions: Mapping[tuple[str, ...], str]
    acts: Mapping[tuple[str, ...], str]
    matrix_facts: Mapping[tuple[str, ...], str]
    grammar: Mapping[str, tuple[str, ...]]

    def table(self, name: str) -> tuple[str, ...]:
        """The phrases of one table of the grammar."""
        return self.grammar[name]

    def part(self, words: Sequence[str]) -> Phrase | None:
        """The longest phrase at the start of these words, and the part it plays; 'turning' where it may turn a meaning.

        >>> lexicon().part(["so", "that", "the", "sum"])
        Phrase(part='claim', words=2)
        >>> lexicon().part(["except"]), lexicon().part(["the", "sum"])
        (Phrase(part='turning', words=1), None)
        """
        for length in range(min(LONGEST_PHRASE, len(words)), 0, -1):
            phrase = tuple(words[:length])
            if phrase in self.parts:
                return Phrase(self.parts[phrase], length)
            if phrase in self.turning:
                return Phrase("turning", length)
        return None

    def adjective(self, words: Sequence[str]) -> Phrase | None:
        """'large', 'small' or 'positive' at the start of these words."""
        return _longest(words, self.adjectives)

    def sign(self, words: Sequence[str]) -> str | None:
        r"""A relation that is said in words, with nothing else said.

        >>> lexicon().sign("is much larger than all other scores".split())
        '\\gg'
        """
        words = [word for word in words if word not in self.passing]
        start = self._fillers(words)
        found = _longest(words[start:], self.signs)
        if found is None or any(word not in self.after for word in words[start + found.words :]):
            return None
        return found.part

    def of_one(self, words: Sequence[str]) -> str | None:
        """What is said of one term, as a relation and its right side.

        >>> lexicon().of_one(["is", "negative"]), lexicon().of_one(["is", "blue"])
        ('< 0', None)
        """
        words = [word for word in words if word not in self.passing]
        return self.of_ones.get(tuple(words[self._fillers(words) :]))

    def of_two(self, words: Sequence[str]) -> str | None:
        """What is said of two terms, as a sign.

        >>> lexicon().of_two(["are", "equal"])
        '='
        """
        return self.of_twos.get(tuple(words[self._fillers(words) :]))

    def is_loose(self, words: Sequence[str]) -> bool:
        """Whether a relation said in words leaves some room: 'almost always close to'."""
        return _longest(words[self._fillers(words) :], self.loosely) is not None

    def of_vector(self, words: Sequence[str]) -> frozenset[str]:
        """What is said of vectors: 'orthogonal', 'unit', or both; nothing where something else is said too.

        >>> sorted(lexicon().of_vector("are pairwise orthogonal and have unit length".split()))
        ['orthogonal', 'unit']
        >>> lexicon().of_vector("are orthogonal and short".split())
        frozenset()
        """
        said = " ".join(words[self._fillers(words) :]).split(" and ")
        found = [self.of_vectors.get(tuple(one.split())) for one in said]
        if any(one is None for one in found):
            return frozenset()
        return frozenset(kind for one in found for kind in (("orthogonal", "unit") if one == "both" else (str(one),)))

    def adds_up(self, words: Sequence[str]) -> bool:
        """Whether two terms before these words are said to have a sum: 'add up to'.

        >>> lexicon().adds_up(["add", "up", "to"])
        True
        """
        return tuple(words[self._fillers(words) :]) in self.sums

    def adds_nothing(self, words: Sequence[str]) -> bool:
        """Whether these words behind a formula leave it as it stands.

        >>> lexicon().adds_nothing("works as required".split()), lexicon().adds_nothing("is out of reach".split())
        (True, False)
        """
        at = 0
        while at < len(words):
            rest = words[at:]
            idle = self.part(rest)
            sizes = [size for size in range(1, LONGEST_PHRASE + 1) if tuple(rest[:size]) in self.neutral]
            sizes += [idle.words] if idle is not None and idle.part == "idle" else []
            sizes += [found.words for found in (self.adjective(rest),) if found is not None]
            if not sizes:
                return False
            at += max(sizes)
        return True

    def leads_in(self, words: Sequence[str], *, sized: bool = False) -> bool:
        """Whether words before a formula leave it as it stands: 'the weight', not 'a longer query has'.

        `sized` says that a term stands among them: then 'large' is read as said of it.

        >>> lexicon().leads_in("we get for the score".split()), lexicon().leads_in("a longer query has".split())
        (True, False)
        """
        known = self.neutral | self.beside | self.things | self.kinds
        known |= {tuple(phrase.split()) for phrase in self.grammar["leading"]}
        known -= {(word,) for word in self.grammar["selecting"]}  # 'all keys have', 'the second head has'
        at = 0
        while at < len(words):
            rest = words[at:]
            sizes = [size for size in range(1, LONGEST_PHRASE + 1) if tuple(rest[:size]) in known]
            sizes += [found.words for found in (self.part(rest),) if found is not None]
            sizes += [found.words for found in (self.adjective(rest),) if found is not None and sized]
            if not sizes:
                return False
            at += max(sizes)
        return True

    def claims_nothing(self, words: Sequence[str], *, beside_a_term: bool = False, named: bool = False) -> bool:
        """Whether a stretch of words without a formula is known to claim nothing; beside a term, 'large' is read.

        `named` says that a noun would name what stands before it, and that is a claim.

        >>> lexicon().claims_nothing("this works".split()), lexicon().claims_nothing("half works".split())
        (True, False)
        """
        claims = named or _somewhere(words, self.claiming)
        known = self.beside if claims else self.beside | self.things
        known = known | self.kinds if beside_a_term or not claims else known
        sized = [self.adjective(words[at:]) for at in range(len(words))] if beside_a_term else []
        if any(one is not None and one.part == "large" for one in sized):
            known = known | {("any",), ("every",)}  # 'any $t$ that is large enough' says no more than 'a large $t$'
        at = 0
        while at < len(words):
            rest = words[at:]
            sizes = [size for size in range(1, LONGEST_PHRASE + 1) if tuple(rest[:size]) in known]
            sizes += [found.words for found in (self.adjective(rest),) if found is not None and beside_a_term]
            if not sizes:
                return False
            at += max(sizes)
        return True

    def _fillers(self, words: Sequence[str]) -> int:
        start = 0
        while start < len(words) and words[start] in self.before:
            start += 1
        return start


def _longest(words: Sequence[str], table: Mapping[tuple[str, ...], str]) -> Phrase | None:
    for length in range(min(LONGEST_PHRASE, len(words)), 0, -1):
        part = table.get(tuple(words[:length]))
        if part is not None:
            return Phrase(part, length)
    return None


def _somewhere(words: Sequence[str], phrases: frozenset[tuple[str, ...]]) -> bool:
    starts = range(len(words))
    return any(tuple(words[at : at + size]) in phrases for at in starts for size in range(1, LONGEST_PHRASE + 1))


def _table(lists: Mapping[str, Iterable[str]]) -> dict[tuple[str, ...], str]:
    return {tuple(phrase.split()): part for part, phrases in lists.items() for phrase in phrases}


@cache
def lexicon() -> Lexicon:
    """The lexicon that comes with Headwright."""
    with Path(__file__).with_name("lexicon.toml").open("rb") as file:
        given = tomllib.load(file)
    return Lexicon(
        parts=_table(given["parts"]),
        turning=frozenset(_table({"": [*given["turning"]["words"], *given["turning"]["phrases"]]})),
        denying=frozenset(given["denying"]["words"]),
        adjectives=_table(given["adjectives"]),
        signs=_table(given["signs"]) | _table(given["loosely"]),
        loosely=_table(given["loosely"]),
        of_vectors=_table(given["of_vectors"]),
        dominates=frozenset(_table({"": given["dominates"]["phrases"]})),
        verbs=frozenset(given["verbs"]["words"]),
        numbered=frozenset(given["numbered"]["words"]),
        of_ones=_table(given["of_one"]),
        of_twos=_table(given["of_two"]),
        sums=frozenset(_table({"": given["sums"]["phrases"]})),
        neutral=frozenset(_table({"": [*given["neutral"]["words"], *given["neutral"]["phrases"]]})),
        beside=frozenset(_table({"": [*given["beside"]["words"], *given["beside"]["phrases"]]})),
        things=frozenset(_table({"": given["beside"]["things"]})),
        kinds=frozenset(_table({"": given["beside"]["kinds"]})),
        claiming=frozenset(_table({"": given["beside"]["verbs"]})),
        before=frozenset(given["fillers"]["before"]),
        after=frozenset(given["fillers"]["after"]),
        nouns=frozenset(given["fillers"]["nouns"]),
        between=frozenset(given["fillers"]["between"]),
        passing=frozenset(given["fillers"]["passing"]),
        abbreviations=frozenset(given["abbreviations"]["words"]),
        nearly=_table(given["nearly"]),
        functions=_table(given["functions"]),
        acts=_table(given["acts"]),
        matrix_facts=_table(given["matrix_facts"]),
        grammar={name: tuple(phrases) for name, phrases in given["grammar"].items()},
    )
