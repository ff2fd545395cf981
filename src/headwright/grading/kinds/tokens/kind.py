"""What is particular to exercises about self-attention on tokens made of directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading.answer import Answer, full_name, label
from headwright.grading.fields import parsed
from headwright.grading.kinds.kind import ExerciseKind
from headwright.grading.kinds.tokens.table import Tokens

if TYPE_CHECKING:
    from headwright.grading.kinds.tokens.prover import TokensProver
    from headwright.grading.recheck.sequences import InstanceDrawer


@dataclass(frozen=True)
class TokensKind(ExerciseKind[Tokens]):
    """An exercise about tokens."""

    model = Tokens
    has_own_numbers = True
    has_limits = True
    redefines_in_place = True

    def check(self) -> None:
        """The length of the directions is a parameter."""
        tokens = self.table
        if tokens.length not in self.exercise.parameters:
            name = tokens.length
            remedy = f"add {name} = {{ above = 0 }} to [parameters]"
            raise InputError(
                f"the parameter {name}, the length of the directions, is missing: {remedy}"
            )

    def names_by_field(self) -> Iterator[tuple[str, str]]:
        """The letter of the directions, and the tokens."""
        yield "tokens.letter", self.table.letter
        for name in self.table.tokens:
            yield "tokens.tokens", name

    def labels(self) -> set[str]:
        """u_a and u_b are given, so P_b = u_b u_b^T says nothing of P_c."""
        tokens = map(parsed, self.table.tokens.values())
        return {label(name.index) for name in t.every_name(*tokens) if name.index}

    def given_value(self, name: str) -> t.Node | None:
        """That of a token."""
        source = self.table.tokens.get(name)
        return None if source is None else parsed(source)

    def gives(self, name: t.Name) -> bool:
        """Whether the exercise gives this name."""
        full = full_name(name)
        given = {
            *self.exercise.parameters,
            *self.table.tokens,
            *self.table.weights,
            *self.exercise.answer,
        }
        if full in given or full in ("I", "pi", "e", "infinity", "Q", "K", "V"):
            return True
        return (
            name.base in (self.table.letter, "c", "alpha", "q", "k", "v")
            and name.index is not None
        )

    def prover(self, answer: Answer) -> TokensProver:
        """With what the answer defines, and what it says of its own names."""
        from headwright.grading.kinds.tokens.prover import TokensProver

        return TokensProver.of(self.exercise, self.table, answer)

    def drawer(self) -> InstanceDrawer:
        """Tokens that are written out."""
        from headwright.grading.kinds.tokens.recheck import TokensDrawer

        return TokensDrawer(self.exercise, self.table)
