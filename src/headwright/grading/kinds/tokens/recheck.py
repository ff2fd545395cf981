"""Tokens written out: directions along the axes, and attention from its definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

from flint import arb, arb_mat

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.evaluate import identity, softmax
from headwright.grading.answer import full_name, label
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
        full, which, setting = full_name(name), label(name.index), self.setting
        size = len(setting.directions) + 1
        if name.base == setting.letter and which in setting.directions:
            return (
                unit(size, setting.directions.index(which))
                * number(self.numbers[setting.length])[0, 0]
            )
        if full in ("I", "I_d", "I_D"):
            return identity(size)
        found = super().value_of(name)
        if (
            found is not None
            and full in ("Q", "K", "V", *setting.tokens)
            and found.nrows() == 1
        ):
            return (
                identity(size) * found[0, 0]
                if full in ("Q", "K", "V")
                else arb_mat(size, 1)
            )
        if (
            found is not None
            or name.index is None
            or name.base not in ("alpha", "c", "q", "k", "v")
        ):
            return found
        parts = [label(item) for item in t.listed(name.index)]
        parts = (
            list(parts[0]) if len(parts) == 1 and name.base == "alpha" else parts
        )  # alpha_21 is alpha_{2,1}
        places = [
            list(setting.tokens).index(f"x_{part}")
            for part in parts
            if f"x_{part}" in setting.tokens
        ]
        if len(places) != len(parts) or len(parts) not in (
            (1, 2) if name.base == "alpha" else (1,)
        ):
            return None
        if name.base in ("q", "k", "v"):
            return self._projected(name.base.upper(), which)
        weights = self._weights(parts[0])
        if name.base == "c":
            values = [
                self._projected("V", token.partition("_")[2])
                for token in setting.tokens
            ]
            return sum(
                (x * weight for x, weight in zip(values, weights, strict=True)),
                arb_mat(size, 1),
            )
        return arb_mat([weights]) if len(parts) == 1 else number(weights[places[1]])

    def _projected(self, weights: str, which: str) -> arb_mat:
        """Q x_i and so on."""
        matrix, token = (
            self.value_of(t.Name(weights)),
            self.value_of(t.Name("x", t.Name(which))),
        )
        if matrix is None or token is None:
            raise InputError(f"{weights} is not defined")
        return matrix * token

    def _weights(self, which: str) -> list[arb]:
        """The weights that one token gives to all; those that a mask hides get none."""
        query, tokens = self._projected("Q", which), list(self.setting.tokens)
        seen = (
            tokens[: tokens.index(f"x_{which}") + 1]
            if self.setting.mask == "causal"
            else tokens
        )
        keys = [self._projected("K", token.partition("_")[2]) for token in seen]
        weights = softmax([[(key.transpose() * query)[0, 0] for key in keys]]).entries()
        return [*weights, *[arb(0)] * (len(tokens) - len(seen))]


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
