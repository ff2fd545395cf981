"""Exercises about how much there is of something: parameters, bytes, operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.candidates import Claimed
from headwright.grading.exact_arrays import ArrayReader, ExactArray
from headwright.grading.exact_arrays.prover import Tolerance
from headwright.grading.exact_arrays.written import (
    as_undecided,
    object_in,
    values_last,
)
from headwright.grading.fields import parsed
from headwright.grading.kinds.counting.conventions import unused_words
from headwright.grading.kinds.counting.counts import Counting, Counts, count_pieces
from headwright.grading.kinds.counting.prover import CountingProver
from headwright.grading.kinds.counting.units import (
    every_unit,
    units_of,
    with_units_inside,
)
from headwright.grading.kinds.kind import ExerciseKind
from headwright.grading.markdown import Written
from headwright.grading.scalars import Scalar
from headwright.grading.text import Statement
from headwright.grading.verdict import AskedPart, ToRead, Verdict

TOTAL = "total"  # the name of the whole count in goals


@dataclass(frozen=True)
class CountingKind(ExerciseKind[Counting]):
    """An exercise about how much there is of something."""

    model: ClassVar[type[Counting]] = Counting

    def check(self) -> None:
        """Everything that is counted must be a number in the parameters."""
        try:
            self.counted()
        except an.MisfitError as error:
            raise InputError(f"counting: {error.message}") from None
        for name in self.exercise.parameters:
            if self.table.unit == "bytes" and name == "B":
                raise InputError(
                    "counting: B is a parameter, and the sign of bytes; choose another name"
                )

    def gives(self, name: t.Name) -> bool:
        """Parameters and units."""
        return an.full_name(name) in every_unit() or super().gives(name)

    def names_in_goals(self) -> set[str]:
        """The total, its pieces, and the total for other values."""
        return {TOTAL, *self.table.pieces, *self.table.at}

    def why_not_false(self, claimed: Claimed, node: t.Node) -> str:
        """A false equation of counts is false; only a value of a parameter, T = 1024, is a case."""
        match t.unquantified(node):
            case t.Relation((t.Name() as name, *_), _) if (
                an.full_name(name) in self.exercise.parameters
            ):
                return super().why_not_false(claimed, node)
        return ""

    def prepare(self, written: Written) -> Written:
        """The answer with units as names in its formulas."""
        text = with_units_inside(written.text, self.exercise.answer)
        return replace(written, text=text)

    def arrange(self, statements: Sequence[Statement]) -> Sequence[Statement]:
        """Where a rounded number is asked for, the value that is given last is what is judged."""
        if self.table.within is None:
            return statements
        return values_last(statements, self.exercise.answer, about=True)

    def finish(self, verdict: Verdict) -> Verdict:
        """The verdict, undecided where words beside the answer change what is counted."""
        for part in verdict.asked:
            unused = self.unused_beside(part, verdict.to_read)
            if unused and part.word in ("proved", "refuted"):
                return as_undecided(verdict, part, unused)
        return verdict

    def unused_beside(self, part: AskedPart, to_read: Sequence[ToRead]) -> str:
        """Words beside the formula that gives what was asked for, which were not used."""
        for sentence in to_read:
            found = object_in(sentence.text, part.part)
            if sentence.line > part.line or found is None:
                continue
            before, after = found
            words = unused_words(
                before, after, self.table.includes, self.table.leaves_out
            )
            for phrase in words:
                return f"line {sentence.line} says '{phrase}', which was not used"
        return ""

    def reader(self) -> ArrayReader:
        """What is given, without units and without the counts."""
        given = self.exercise
        return ArrayReader(
            definitions={
                name: parsed(source) for name, source in given.definitions.items()
            },
            parameters={
                name: known.range() for name, known in given.parameters.items()
            },
        )

    def counted(self) -> tuple[Counts, dict[str, Scalar]]:
        """The pieces as numbers; and every name that goals may use."""
        reader = self.reader()
        counts = count_pieces(self.table, reader)
        values = {TOTAL: counts.total, **counts.pieces}
        for name, changes in self.table.at.items():
            instead = {of: parsed(new) for of, new in changes.items()}
            numbers = {
                of: new for of, new in instead.items() if of in reader.definitions
            }
            changed = replace(
                reader, definitions={**reader.definitions, **numbers}, memory={}
            )
            total = count_pieces(self.table, changed).total
            open_ones = instead.keys() - numbers.keys()
            values[name] = total.put(
                {of: reader.scalar(instead[of]) for of in open_ones}
            )
        return counts, values

    def prover(self, answer: an.Answer) -> CountingProver:
        """What the answer defines, in units, beside what is counted."""
        counts, values = self.counted()
        reader = self.reader()
        taken = {*reader.parameters, *reader.definitions, *self.exercise.answer}
        units = {
            name: size
            for name, size in units_of(self.table.unit).items()
            if name not in taken
        }
        sizes = {name: ExactArray.number(size) for name, size in units.items()}
        answered = {name: said.node for name, said in answer.definitions.items()}
        answering = replace(
            reader, arrays=sizes, definitions={**reader.definitions, **answered}
        )
        counted = {name: ExactArray.number(value) for name, value in values.items()}
        counting = replace(reader, arrays=counted)
        declared = {
            words: counting.scalar(parsed(source))
            for words, source in self.table.mistakes.items()
        }
        tolerance = None
        if self.table.within is not None:
            tolerance = Tolerance(relative=self.table.within)
        return CountingProver(
            answering,
            tolerance,
            self.table.large,
            under=tuple(said.node for said in answer.conditions),
            claims=tuple(answer.claims),
            counting=counting,
            table=self.table,
            counts=counts,
            declared=declared,
        )
