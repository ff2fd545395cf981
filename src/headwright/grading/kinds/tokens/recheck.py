"""Tokens written out: directions along the axes, and attention from its definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

from flint import arb, arb_mat

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.evaluate import identity, softmax
from headwright.grading.answer import full_name, named
from headwright.grading.kinds.tokens.names import (
    Projected,
    TokenDirection,
    TokenOutput,
    TokenWeight,
    meaning_of,
    visible,
)
from headwright.grading.kinds.tokens.table import Tokens
from headwright.grading.recheck.instances import ExplicitInstance, number, unit
from headwright.grading.recheck.sequences import InstanceDrawer, Question


@dataclass
class TokensInstance(ExplicitInstance):
    """Directions along the axes, and one axis more, so that what acts elsewhere shows."""

    setting: Tokens = field(kw_only=True)

    def range_of(self, index: str) -> tuple[int, int] | None:
        """A sum without bounds runs over all tokens."""
        del index
        return 1, len(self.setting.tokens)

    def value_of(self, name: t.Name) -> arb_mat | None:
        """Directions, the identity, tokens and what is computed from them."""
        full, table = full_name(name), self.setting
        size = len(table.directions) + 1
        if full in ("I", "I_d", "I_D"):
            return identity(size)
        known = super().value_of(name)
        if known is not None:
            return self._sized(known, full)
        match meaning_of(name, table):
            case TokenDirection(place):
                return unit(size, place) * number(self.numbers[table.length])[0, 0]
            case TokenWeight(query, key):
                return number(self._weights(query)[key])
            case TokenOutput(query):
                output = arb_mat(size, 1)
                for place, weight in enumerate(self._weights(query)):
                    output += self._projected("V", place) * weight
                return output
            case Projected(matrix, place):
                return self._projected(matrix, place)
        return None

    def _sized(self, value: arb_mat, name: str) -> arb_mat:
        """V = 2 is read as 2 I, and x_1 = 0 as a vector."""
        size = len(self.setting.directions) + 1
        if value.nrows() > 1:
            return value
        if name in ("Q", "K", "V"):
            return identity(size) * value[0, 0]
        return arb_mat(size, 1) if name in self.setting.tokens else value

    def _projected(self, weights: str, place: int) -> arb_mat:
        """Q x_i and so on."""
        token_name = list(self.setting.tokens)[place]
        matrix, token = self.value_of(t.Name(weights)), self.value_of(named(token_name))
        if matrix is None or token is None:
            raise InputError(f"{weights} is not defined")
        return matrix * token

    def _weights(self, place: int) -> list[arb]:
        """The weights that one token gives to all; those that a mask hides get none."""
        query, seen = self._projected("Q", place), visible(place, self.setting)
        keys = [self._projected("K", key) for key in seen]
        weights = softmax([[(key.transpose() * query)[0, 0] for key in keys]]).entries()
        return [*weights, *[arb(0)] * (len(self.setting.tokens) - len(seen))]


@dataclass(frozen=True)
class TokensDrawer(InstanceDrawer):
    """Draws lengths and other numbers: the tokens are given."""

    table: Tokens

    def given_formulas(self) -> dict[str, str]:
        """The tokens, and matrices that are given."""
        weights: dict[str, str] = {**self.table.weights}  # type: ignore[dict-item]
        return {**self.table.tokens, **weights}

    def given_letters(self) -> tuple[str, ...]:
        """That of the directions."""
        return (self.table.letter,)

    def draw(
        self,
        question: Question,
        numbers: dict[str, Fraction],
        random: Random,
        place: int,
        much: Fraction,
    ) -> TokensInstance:
        """The tokens with these numbers."""
        del random, place, much
        return TokensInstance(question.definitions, numbers, setting=self.table)

    def make_idle(
        self, question: Question, instance: ExplicitInstance, random: Random
    ) -> ExplicitInstance:
        """Without the mask, or with other tokens."""
        if not isinstance(instance, TokensInstance):
            return instance
        if instance.setting.mask == "causal":
            return instance.moved(
                setting=instance.setting.model_copy(update={"mask": "none"})
            )
        single: list[t.Node] = [
            t.Name(instance.setting.letter, t.Name(which))
            for which in instance.setting.directions
        ]
        some = [
            *single,
            *(t.Product((t.Number(Fraction(2)), one)) for one in single),
            t.Sum((single[0], single[-1])),
        ]
        same, alike = random.choice(some), random.random() < 0.5
        other = {
            token: same if alike else random.choice(some)
            for token in instance.setting.tokens
        }
        return instance.moved(definitions={**question.definitions, **other})
