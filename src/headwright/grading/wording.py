"""The words that sentences are sorted by: neutral ones, turning ones, and the others of words.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def word_list() -> Mapping[str, frozenset[str]]:
    """The words by their sections."""
    given = tomllib.loads((Path(__file__).parent / "words.toml").read_text())
    return {name: frozenset(words.split()) for name, words in given.items()}


def turns(word: str) -> bool:
    """Whether a word turns its clause: what stands in it is not asserted."""
    return (
        word in word_list()["turned"]
        or word in word_list()["hypothetical"]
        or word.endswith("n't")
    )


def is_neutral(words: Collection[str]) -> bool:
    """Whether these words are connectives, verbs of stating and names of things only."""
    known = frozenset[str]().union(
        *(
            word_list()[one]
            for one in ("neutral", "size", "binding", "relation", "wanted")
        )
    )
    return all(word in known or len(word) == 1 or word.isdigit() for word in words)


def words_of(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())
