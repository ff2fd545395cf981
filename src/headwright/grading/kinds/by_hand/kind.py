"""Exercises in which attention is worked out by hand: numbers are given, and a value is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from headwright.errors import InputError
from headwright.formulas import FormulaError, parse
from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.exact_arrays import ArrayReader, ExactArray
from headwright.grading.exact_arrays.prover import Tolerance
from headwright.grading.exact_arrays.reader import with_calls
from headwright.grading.exact_arrays.scales import with_scales_inside
from headwright.grading.exact_arrays.written import (
    entries_together,
    values_last,
    with_reason,
)
from headwright.grading.fields import parsed
from headwright.grading.kinds.by_hand.mistakes import is_near, shares
from headwright.grading.kinds.by_hand.prover import EXACTLY, ByHandProver
from headwright.grading.kinds.by_hand.table import ByHand
from headwright.grading.kinds.kind import ExerciseKind
from headwright.grading.markdown import Written
from headwright.grading.text import Statement
from headwright.grading.verdict import AskedPart, Formula, Verdict


def anticausal(scores: ExactArray) -> ExactArray:
    """The mask on the wrong side: of each row, over the entries from the diagonal on."""
    return scores.reversed().causal_softmax().reversed()


FUNCTIONS: Mapping[str, Callable[[ExactArray], ExactArray]] = {
    "causal": ExactArray.causal_softmax,
    "anticausal": anticausal,
    "shares": shares,
}


def read_formula(latex: str) -> t.Node | None:
    """A formula of a verdict; None where it is not read."""
    try:
        return parse(latex)
    except FormulaError:
        return None


@dataclass(frozen=True)
class ByHandKind(ExerciseKind[ByHand]):
    """An exercise with numbers."""

    model: ClassVar[type[ByHand]] = ByHand

    def check(self) -> None:
        """Every step must have a value."""
        reader = self.reader()
        for name in (*self.table.given, *self.table.steps):
            try:
                reader.value(an.named(name))
            except an.MisfitError as error:
                raise InputError(f"by_hand: {name}: {error.message}") from None

    def names_by_field(self) -> Iterable[tuple[str, str]]:
        """Given arrays and steps."""
        yield from (("by_hand.given", name) for name in self.table.given)
        yield from (("by_hand.steps", name) for name in self.table.steps)

    def names_in_goals(self) -> tuple[str, ...]:
        """The steps, which an answer may use as well."""
        return tuple(self.table.steps)

    def gives(self, name: t.Name) -> bool:
        """Given arrays, steps, and the entries of both."""
        known = {*self.table.given, *self.table.steps, *self.exercise.answer}
        full = an.full_name(name)
        return full in known or name.base in known or super().gives(name)

    def reader(self) -> ArrayReader:
        """What is given, and the steps."""
        formulas = {
            **self.table.given,
            **self.table.steps,
            **self.exercise.definitions,
        }
        return ArrayReader(
            definitions={name: self.formula(formulas[name]) for name in formulas},
            array_functions=FUNCTIONS,
        )

    @staticmethod
    def formula(source: str) -> t.Node:
        """A formula of the exercise, which may use the functions of masks."""
        return with_calls(parsed(source), FUNCTIONS)

    def prepare(self, written: Written) -> Written:
        """The answer with scales in words, 'percent', as names in its formulas: they are not read."""
        text = with_scales_inside(written.text, self.exercise.answer)
        return replace(written, text=text)

    def arrange(self, statements: Sequence[Statement]) -> Sequence[Statement]:
        """The value at the end of a chain is what is judged; entries that are given one by one are a vector."""
        sizes = {}
        for goal in self.exercise.goals:
            match parsed(goal):
                case t.Relation((t.Name() as name, value), _):
                    shape = self.reader().value(value)
                    if shape.is_vector:
                        sizes[an.full_name(name)] = len(shape.entries)
        together = entries_together(statements, sizes)
        about = self.table.within is not None
        return values_last(together, self.exercise.answer, about=about)

    def finish(self, verdict: Verdict) -> Verdict:
        """The verdict; of a wrong value it is told where it follows from a wrong step of the answer's own."""
        if verdict.word != "refuted" or len(self.exercise.answer) != 1:
            return verdict
        for formula in reversed(verdict.formulas):
            step = self.step_in(formula)
            if step is None or not self.follows(verdict.asked[0], *step):
                continue
            name, _ = step
            words = (
                f"this follows from your {name} (line {formula.line}), which is wrong"
            )
            if formula.reason:
                words += f": {formula.reason}"
            return with_reason(verdict, verdict.asked[0], words)
        return verdict

    def step_in(self, formula: Formula) -> tuple[str, t.Node] | None:
        """The step, and the value that a false formula gives it."""
        if formula.status != "false":
            return None
        match read_formula(formula.latex):
            case t.Relation((t.Name() as name, *_, value), signs) if an.full_name(
                name
            ) in self.table.steps and set(signs) <= {"=", "~"}:
                return an.full_name(name), value
        return None

    def follows(self, part: AskedPart, step: str, written: t.Node) -> bool:
        """Whether the value that was given is what the steps make of a wrong value of one of them."""
        goal = parsed(self.exercise.goals[0])
        given = read_formula(part.latex)
        if not isinstance(goal, t.Relation) or not isinstance(given, t.Relation):
            return False
        right = self.reader()
        instead = {**right.definitions, step: written}
        try:
            value = right.value(given.terms[-1])
            wanted = replace(right, definitions=instead, memory={}).value(goal.terms[1])
        except InputError:  # a value that uses names of the answer's own
            return False
        return is_near(value, wanted, self.table.within or EXACTLY)

    def prover(self, answer: an.Answer) -> ByHandProver:
        """What the answer gives, beside what the steps give."""
        right = self.reader()
        answered = {name: said.node for name, said in answer.definitions.items()}
        reader = replace(
            right, definitions={**answered, **right.definitions}, memory={}
        )
        tolerance = None
        if self.table.within is not None:
            tolerance = Tolerance(absolute=self.table.within)
        return ByHandProver(
            reader,
            tolerance,
            under=tuple(said.node for said in answer.conditions),
            claims=tuple(answer.claims),
            steps={name: right.definitions[name] for name in self.table.steps},
            right=right,
            answered=answered,
        )
