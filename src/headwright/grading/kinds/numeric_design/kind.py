"""Exercises that ask for numbers: a query, a matrix of queries or a key, so that the output is what it should be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.candidates import Claimed
from headwright.grading.exact_arrays import ArrayReader
from headwright.grading.exact_arrays.prover import ArrayProver, Tolerance
from headwright.grading.exact_arrays.written import entries_together, values_last
from headwright.grading.fields import parsed
from headwright.grading.judging import Outcome, Prover
from headwright.grading.kinds.kind import ExerciseKind
from headwright.grading.kinds.numeric_design.possible import (
    Possible,
    targets_in,
    what_is_possible,
)
from headwright.grading.kinds.numeric_design.prover import NoneProver
from headwright.grading.kinds.numeric_design.table import NumericDesign
from headwright.grading.markdown import Written
from headwright.grading.text import Statement
from headwright.grading.verdict import Verdict

WEIGHTS = "alpha"
NONE = t.Name("none")  # what an answer says where there is no query
_NONE = re.compile(r"\\(?:text|textrm|mathrm|mbox)\{\s*(?:none|impossible)\s*\}")


def as_column(node: t.Node) -> t.Node:
    """A vector that is written as a row, (6, -6)^T, as the column that is meant."""
    match node:
        case t.Transpose(t.Listing() as listing):
            return listing
        case t.Matrix((row,)) if len(row.items) > 1:
            return t.Transpose(node, span=node.span)
        case _:
            return node


@dataclass(frozen=True)
class NumericDesignKind(ExerciseKind[NumericDesign]):
    """An exercise whose answer is a query or a key, as numbers."""

    model: ClassVar[type[NumericDesign]] = NumericDesign
    has_own_numbers: ClassVar[bool] = True  # 'q = lambda (1, 0) with lambda large'

    def check(self) -> None:
        """What is given must have a value."""
        reader = self.reader()
        for name in self.table.given:
            try:
                reader.value(an.named(name))
            except an.MisfitError as error:
                raise InputError(f"numeric_design: {name}: {error.message}") from None
        if self.table.keys and self.table.keys not in self.table.given:
            raise InputError(f"numeric_design.keys: {self.table.keys} is not given")

    def names_by_field(self) -> Iterable[tuple[str, str]]:
        """Given arrays and steps."""
        yield from (("numeric_design.given", name) for name in self.table.given)
        yield from (("numeric_design.steps", name) for name in self.table.steps)

    def names_in_goals(self) -> tuple[str, ...]:
        """The steps, which an answer may use as well."""
        return tuple(self.table.steps)

    def gives(self, name: t.Name) -> bool:
        """Given arrays, steps, and the entries of both."""
        known = {"none", *self.table.given, *self.table.steps, *self.exercise.answer}
        full = an.full_name(name)
        return full in known or name.base in known or super().gives(name)

    def why_not_false(self, claimed: Claimed, node: t.Node) -> str:
        """Numbers are what they are: nothing is meant for less."""
        del claimed, node
        return ""

    def reader(self) -> ArrayReader:
        """What is given, and the steps."""
        formulas = {
            **self.table.given,
            **self.table.steps,
            **self.exercise.definitions,
        }
        parameters = self.exercise.parameters
        return ArrayReader(
            definitions={name: parsed(source) for name, source in formulas.items()},
            parameters={name: known.range() for name, known in parameters.items()},
            free_numbers=True,
        )

    def prepare(self, written: Written) -> Written:
        """'q = none' says that there is no such query."""
        return replace(written, text=_NONE.sub(r"\\mathrm{none}", written.text))

    def arrange(self, statements: Sequence[Statement]) -> Sequence[Statement]:
        """Entries that are given one by one are a vector; the value at the end of a chain is the answer."""
        keys = self.table.keys
        sizes = {}
        if keys:
            width = self.reader().value(an.named(keys)).shape[1]
            sizes = dict.fromkeys(self.exercise.answer, width)
        together = entries_together(statements, sizes)
        return values_last(together, self.exercise.answer, about=False)

    def prover(self, answer: an.Answer) -> ArrayProver:
        """What the answer chooses, and what comes of it."""
        given = self.reader()
        answered = {
            name: as_column(said.node) for name, said in answer.definitions.items()
        }
        reader = replace(
            given, definitions={**answered, **given.definitions}, memory={}
        )
        tolerance = None
        if self.table.within is not None:
            tolerance = Tolerance(absolute=self.table.within)
        prover = ArrayProver(
            reader,
            tolerance,
            under=tuple(said.node for said in answer.conditions),
            claims=tuple(answer.claims),
        )
        if NONE not in answered.values():
            return prover
        possible = self.possible() or Possible(None)
        return NoneProver(
            reader,
            tolerance,
            under=prover.under,
            claims=prover.claims,
            possible=possible,
            chosen=frozenset({*self.exercise.answer, *self.table.steps}),
        )

    def possible(self) -> Possible | None:
        """Whether some query meets the goals; None where they are not about weights and length alone."""
        if not self.table.keys:
            return None
        goals = [parsed(goal) for goal in self.exercise.goals]
        targets = targets_in(goals, WEIGHTS, self.exercise.answer[0])
        if targets is None:
            return None
        return what_is_possible(self.reader().value(an.named(self.table.keys)), targets)

    def advise(
        self, verdict: Verdict, prover: Prover, outcomes: Sequence[Outcome]
    ) -> Verdict:
        """Of a wrong query, which queries there are: a proved bound on their length."""
        del prover, outcomes
        possible = self.possible() if verdict.word == "refuted" else None
        if possible is None or not possible.words:
            return verdict
        return replace(verdict, suggestion=possible.words)
