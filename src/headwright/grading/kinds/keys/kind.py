"""What is particular to exercises about keys and queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading.answer import Answer, full_name
from headwright.grading.judging import Outcome, Prover
from headwright.grading.kinds.keys.table import Keys
from headwright.grading.kinds.kind import ExerciseKind

if TYPE_CHECKING:
    from headwright.grading.kinds.keys.prover import KeysProver
    from headwright.grading.verdict import Verdict


@dataclass(frozen=True)
class KeysKind(ExerciseKind[Keys]):
    """An exercise about keys."""

    model = Keys
    has_limits = True

    def check(self) -> None:
        """A number of keys, and labels that belong to one."""
        exercise, keys = self.exercise, self.table
        first = keys.first
        if (first is None) == (not keys.named) or (
            first is not None and keys.are != "orthonormal"
        ):
            raise InputError(
                "keys: expected the names of some keys (named), or the first of orthonormal ones (first)"
            )
        if first is not None and first.size not in exercise.parameters:
            raise InputError(f"keys.first: {first.size} is not one of the parameters")
        for field, labels in (
            ("scales", keys.scales),
            ("directions", keys.directions.values()),
        ):
            for label in labels:
                if label not in keys.named:
                    raise InputError(
                        f"keys.{field}: there is no key {label!r} in keys.named"
                    )
        number = exercise.parameters.get("n")
        least = max(1, len(keys.named))
        remedy = (
            f"add n = {{ integer = true, at_least = {max(2, least)} }} to [parameters]"
        )
        if number is None:
            raise InputError(
                f"the parameter n, the number of keys, is missing: {remedy}"
            )
        if not number.integer or number.at_least is None:
            raise InputError(
                f"the parameter n, the number of keys, must be an integer with a lower bound: {remedy}"
            )
        if number.at_least < least:
            names = ", ".join(keys.named) or "one of the first"
            raise InputError(
                f"the parameter n, the number of keys, must be at least {least}: the keys include {names}"
            )

    def names_by_field(self) -> Iterator[tuple[str, str]]:
        """Letters and names for directions, lengths, and the set of the first indices."""
        keys = self.table
        for letter in keys.also:
            yield "keys.also", letter
        for name in keys.directions:
            yield "keys.directions", name
        for scale in keys.scales.values():
            yield "keys.scales", scale.name
        if keys.first is not None:
            yield "keys.first", keys.first.set

    def numbers(self) -> list[str]:
        """The lengths of keys."""
        return [scale.name for scale in self.table.scales.values()]

    def trivial_answers(self) -> Iterator[tuple[str, list[str]]]:
        """A multiple of one key, where a mean of several is asked for."""
        keys, asked = self.table, self.exercise.answer
        if not asked or len(keys.named) < 2 or keys.directions:
            return
        letter = keys.also[0] if keys.also else "k"
        for which in keys.named:
            direction = rf"\lambda {letter}_{which}"
            yield "one direction", [f"{name} = {direction}" for name in asked]

    def gives(self, name: t.Name) -> bool:
        """Whether the exercise gives this name."""
        from headwright.grading.kinds.keys import scene

        if self.table.noise == "vanishing" and full_name(name) == scene.VARIANCE:
            return True
        return scene.opening(self.exercise, self.table).gives(name)

    def prover(self, answer: Answer) -> KeysProver:
        """With what the answer defines, what it says of its own names, and the conditions it states."""
        from headwright.grading.kinds.keys.prover import KeysProver

        return KeysProver.of(self.exercise, self.table, answer)

    def recheck(
        self, answer: Answer, outcomes: Sequence[Outcome], seed: int
    ) -> list[Outcome]:
        """On keys that are written out."""
        from headwright.grading.replay import looked_at_twice

        return looked_at_twice(self.exercise, answer, outcomes, seed)

    def advise(
        self, verdict: Verdict, prover: Prover, outcomes: Sequence[Outcome]
    ) -> Verdict:
        """With thresholds, and what would mend a query that is too short."""
        from headwright.grading.kinds.keys.prover import KeysProver

        return (
            prover.advised(verdict, outcomes)
            if isinstance(prover, KeysProver)
            else verdict
        )
