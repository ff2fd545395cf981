"""The tokens of a model of transformers: with its tokenizer, or without one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from headwright.errors import InputError
from headwright.models.model import Tokens

UNUSED = re.compile(
    r"[\[<]\|?((unused|reserved|extra_id|dummy)[^\]>]*|pad|unk|cls|sep|mask)\|?[\]>]",
    re.IGNORECASE,
)
UNKNOWN = re.compile(r"[\[<]\|?unk\|?[\]>]", re.IGNORECASE)
BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))
BYTE_SPACE = "Ġ"
PIECE_SPACE = "▁"


class Vocabulary(Protocol):
    """What is known of the tokens of a model."""

    @property
    def count(self) -> int:
        """How many tokens the embedding has."""

    def encode(self, text: str) -> Tokens:
        """The tokens of a text."""

    def token_string(self, token_id: int) -> str:
        """A token as it is shown to a reader."""

    @property
    def regular_tokens(self) -> Tokens:
        """Those that stand for a part of a text."""

    @property
    def unknown_tokens(self) -> Tokens:
        """The one for what cannot be spelt, or none."""

    @property
    def bos_tokens(self) -> Tokens:
        """Those that every text begins with."""


@dataclass(frozen=True, eq=False)
class TokenizerVocabulary:
    """The tokens that a tokenizer knows, of an embedding that may have more."""

    tokenizer: Any
    count: int

    def encode(self, text: str) -> Tokens:
        """The tokens of a text, with the special ones that the tokenizer adds."""
        encoded = self.tokenizer(text, truncation=False, verbose=False)
        return _token_array(encoded["input_ids"])

    def token_string(self, token_id: int) -> str:
        """A token as the tokenizer spells it, spaces visible."""
        spelling = self.tokenizer.convert_ids_to_tokens(token_id)
        if spelling is None:
            return f"#{token_id}"
        if PIECE_SPACE in spelling:
            return str(spelling.replace(PIECE_SPACE, "␣"))
        special = token_id in self.tokenizer.all_special_ids
        if special or not self._spells_bytes:
            return str(spelling)
        text = self.tokenizer.decode([token_id])
        if "�" in text:  # a part of a character
            return str(spelling)
        return str(text.replace(" ", "␣").replace("\n", "⏎"))

    @cached_property
    def _spells_bytes(self) -> bool:
        vocabulary = self.tokenizer.get_vocab()
        return any(spelling.startswith(BYTE_SPACE) for spelling in vocabulary)

    @cached_property
    def regular_tokens(self) -> Tokens:
        """All but the special and unused ones, and those that the tokenizer has not."""
        special = {int(token_id) for token_id in self.tokenizer.all_special_ids}
        for token_id, token in self.tokenizer.added_tokens_decoder.items():
            if token.special:
                special.add(token_id)
        regular = []
        for spelling, token_id in self.tokenizer.get_vocab().items():
            used = token_id < self.count and token_id not in special
            if used and not UNUSED.fullmatch(spelling):
                regular.append(token_id)
        return _token_array(sorted(set(regular)))

    @cached_property
    def unknown_tokens(self) -> Tokens:
        """The token for what the tokenizer cannot spell, unless it can spell every byte."""
        token_id = self._unknown_id()
        if token_id is None or token_id >= self.count:
            return _token_array([])
        return _token_array([int(token_id)])

    def _unknown_id(self) -> int | None:
        token_id: int | None = self.tokenizer.unk_token_id
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            return token_id
        # The backend's model decides, whatever the list of special tokens says.
        spellings = self.tokenizer.get_vocab()
        model = backend.model
        if getattr(model, "byte_fallback", False) and spellings.keys() >= BYTES:
            return None
        if not hasattr(model, "unk_token"):
            return token_id
        return None if model.unk_token is None else spellings.get(model.unk_token)

    @property
    def bos_tokens(self) -> Tokens:
        """The special tokens that the tokenizer puts before a text."""
        special = set(self.tokenizer.all_special_ids)
        encoded = self.tokenizer("a", return_special_tokens_mask=True, verbose=False)
        before: list[int] = []
        # The token for what is unknown is special too, and may stand for the "a"; it was
        # not added.
        for token_id, added in zip(
            encoded["input_ids"], encoded["special_tokens_mask"], strict=True
        ):
            if not (added and token_id in special):
                return _token_array(before)
            before.append(token_id)
        return _token_array([])


@dataclass(frozen=True, eq=False)
class NumberedVocabulary:
    """Tokens without a tokenizer: numbers, which a list beside the model may spell."""

    model_name: str
    no_tokenizer: str  # why there is none that can be read
    count: int
    spellings: tuple[str, ...] = ()  # one a token, or none at all

    def encode(self, text: str) -> Tokens:
        """Refused."""
        del text
        raise InputError(
            f"{self.model_name} has no tokenizer that can be read ({self.no_tokenizer}): give it tokens, or "
            "measure on random ones (--tokens N)"
        )

    def token_string(self, token_id: int) -> str:
        """What the list spells, or the number."""
        return self.spellings[token_id] if self.spellings else f"#{token_id}"

    @property
    def regular_tokens(self) -> Tokens:
        """All but those that the list calls special or unused."""
        unused = self._spelt_as(UNUSED)
        return np.setdiff1d(np.arange(self.count), unused)

    @property
    def unknown_tokens(self) -> Tokens:
        """The one that the list calls unknown."""
        return _token_array(self._spelt_as(UNKNOWN)[:1])

    @property
    def bos_tokens(self) -> Tokens:
        """None."""
        return _token_array([])

    def _spelt_as(self, pattern: re.Pattern[str]) -> list[int]:
        return [
            token_id
            for token_id, spelling in enumerate(self.spellings)
            if pattern.fullmatch(spelling)
        ]


def _token_array(token_ids: Sequence[int]) -> Tokens:
    return np.array(token_ids, dtype=np.int64)
