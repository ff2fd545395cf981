"""What is particular to exercises about integers and angles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading.answer import Answer
from headwright.grading.judging import Outcome
from headwright.grading.kinds.integers.table import Integers
from headwright.grading.kinds.kind import ExerciseKind

if TYPE_CHECKING:
    from headwright.grading.kinds.integers.prover import IntegersProver


@dataclass(frozen=True)
class IntegersKind(ExerciseKind[Integers]):
    """An exercise about integers."""

    model = Integers
    whole = True

    def check(self) -> None:
        """Different integers are integers."""
        integers = self.table
        for pair in integers.different:
            for name in pair:
                if name not in integers.integers:
                    raise InputError(
                        f"integers.different: {name} is not one of the integers: add it to integers.integers"
                    )

    def names_by_field(self) -> Iterator[tuple[str, str]]:
        """The integers, of which one may be called i, and the letter of the rows."""
        for name in self.table.integers:
            if name != "i":
                yield "integers.integers", name
        yield "integers.rows", self.table.rows

    def gives(self, name: t.Name) -> bool:
        """Every name is given here, or bound by a statement."""
        del name
        return True

    def prover(self, answer: Answer) -> IntegersProver:
        """Nothing is defined by an answer here."""
        from headwright.grading.kinds.integers.prover import IntegersProver

        return IntegersProver.of(self.exercise, self.table, answer)

    def recheck(
        self, answer: Answer, outcomes: Sequence[Outcome], seed: int
    ) -> list[Outcome]:
        """On integers and rows that are written out."""
        from headwright.grading.replay import looked_at_twice

        return looked_at_twice(self.exercise, answer, outcomes, seed)
