"""What is particular to exercises about integers and angles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading.answer import Answer, named
from headwright.grading.judging import Outcome, Prover
from headwright.grading.kinds.integers.table import Integers
from headwright.grading.kinds.kind import ExerciseKind

if TYPE_CHECKING:
    from headwright.grading.candidates import Claimed
    from headwright.grading.kinds.integers.prover import IntegersProver
    from headwright.grading.text import Statement


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

    def other_names(self, statements: Sequence[Statement]) -> dict[str, t.Name]:
        """Other letters for the two positions."""
        from headwright.grading.kinds.integers.notation import other_positions

        return other_positions(statements, self.table, self.exercise.also)

    def normalise(self, node: t.Node) -> t.Node:
        """Phi_t' is the row of t', and 'k in Z' says nothing."""
        from headwright.grading.kinds.integers.notation import normalise

        return normalise(node, self.table.rows)

    def given_facts(self) -> list[t.Relation]:
        """Integers that are different, in both orders."""
        pairs = [*self.table.different, *(pair[::-1] for pair in self.table.different)]
        return [t.Relation((named(one), named(other)), ("!=",)) for one, other in pairs]

    def put_under(self, node: t.Node, conditions: tuple[t.Node, ...]) -> t.Node:
        """As a conclusion: an integer that only the conclusion names is claimed to exist."""
        if not conditions:
            return node
        stated = [
            part for part in conditions if not isinstance(part, t.Name | t.Listing)
        ]
        if not stated:
            return node
        given = stated[0] if len(stated) == 1 else t.Logic("and", tuple(stated))
        return t.Logic("implies", (given, node), span=node.span)

    def why_not_false(self, claimed: Claimed, node: t.Node) -> str:
        """It may be meant under an assumption, or for some integers only."""
        from headwright.grading.kinds.integers.notation import why_not_false

        del node
        return why_not_false(claimed, self.table)

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
        from headwright.grading.kinds.integers.recheck import recheck
        from headwright.grading.recheck.outcomes import recheck_each

        del answer
        return recheck_each(
            outcomes,
            lambda one, random: recheck(self.exercise, self.table, one, random),
            seed,
        )

    def says_something(self, answer: Answer, prover: Prover, outcome: Outcome) -> bool:
        """Whether it fails for rows that are all alike."""
        from headwright.grading.kinds.integers.recheck import says_something

        del answer, prover
        return says_something(self.exercise, self.table, outcome)
