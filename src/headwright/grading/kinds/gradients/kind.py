"""Exercises that ask for a derivative: a gradient, a Jacobian matrix, one step of a backward pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading import scalars
from headwright.grading.exact_arrays import ExactArray
from headwright.grading.exact_arrays.reader import sigmoid
from headwright.grading.exact_arrays.written import as_undecided, values_last
from headwright.grading.fields import parsed
from headwright.grading.kinds.gradients.prover import GradientProver
from headwright.grading.kinds.gradients.reader import (
    GradientReader,
    on_the_simplex,
    open_array,
    parameter_names,
)
from headwright.grading.kinds.gradients.spellings import (
    LETTERS,
    NamedDerivative,
    entries_put_together,
    with_names,
)
from headwright.grading.kinds.gradients.table import DerivativeOf, Gradients
from headwright.grading.kinds.kind import ExerciseKind
from headwright.grading.scalars import Range
from headwright.grading.text import Statement
from headwright.grading.verdict import Verdict

# words for some of the entries of a matrix
CASES = re.compile(
    r"\b(?:off[ -](?:the )?)?diagonal\w*|\bother entries\b|\botherwise\b|\belsewhere\b|\bsonst\b",
    re.I,
)


def without_false(verdict: Verdict, name: str) -> Verdict:
    """The verdict with false formulas for entries of an array open: they may be meant for less."""
    formulas = tuple(
        replace(one, status="open", counterexample=None)
        if one.status == "false" and one.latex.lstrip().startswith(f"{name}_")
        else one
        for one in verdict.formulas
    )
    return replace(verdict, formulas=formulas)


@dataclass(frozen=True)
class GradientsKind(ExerciseKind[Gradients]):
    """An exercise about derivatives."""

    model: ClassVar[type[Gradients]] = Gradients

    def check(self) -> None:
        """Everything that is wanted must have a value."""
        for name in (*self.table.functions, *self.table.wanted, *self.table.known):
            try:
                self.reader().value(an.named(name))
            except an.MisfitError as error:
                raise InputError(f"gradients: {name}: {error.message}") from None
        for name, pair in self.table.known.items():
            derivative = t.Derivative(parsed(pair.of), parsed(pair.by))
            if self.reader().value(derivative) != self.reader().value(an.named(name)):
                raise InputError(
                    f"gradients.known: {name} is not the derivative of {pair.of} by {pair.by}"
                )
        for name in self.table.distributions:
            if name not in self.table.variables:
                raise InputError(f"gradients.distributions: {name} is no variable")

    def names_by_field(self) -> Iterable[tuple[str, str]]:
        """Variables, functions and derivatives."""
        yield from (("gradients.variables", name) for name in self.table.variables)
        yield from (("gradients.functions", name) for name in self.table.functions)
        yield from (("gradients.known", name) for name in self.table.known)

    def numbers(self) -> Iterable[str]:
        """Variables that are numbers: a condition on one narrows what is answered."""
        return [name for name, shape in self.table.variables.items() if max(shape) == 1]

    def gives(self, name: t.Name) -> bool:
        """Variables, functions, derivatives, their entries, and sigma."""
        table = self.table
        known = {*table.variables, *table.functions, *table.known, *table.wanted}
        known |= {"sigma", "delta", "I", "ones"}
        full = an.full_name(name)
        return full in known or name.base in known or super().gives(name)

    def named_derivatives(self) -> list[NamedDerivative]:
        """The derivatives that have a name."""
        pairs = {**self.table.wanted, **self.table.known}
        return [self.named_derivative(name, pair) for name, pair in pairs.items()]

    def named_derivative(self, name: str, pair: DerivativeOf) -> NamedDerivative:
        """One of them, by the name of what is differentiated and by its formula."""
        body, by = parsed(pair.of), parsed(pair.by)
        if not isinstance(by, t.Name):
            raise InputError(f"gradients: {name}: {pair.by} is not a name")
        bodies = [body]
        if isinstance(body, t.Name) and an.full_name(body) in self.table.functions:
            bodies.append(parsed(self.table.functions[an.full_name(body)]))
        return NamedDerivative(name, tuple(bodies), by)

    def reader(self) -> GradientReader:
        """Variables, functions and derivatives, before anything is answered."""
        table = self.table
        arrays: dict[str, ExactArray] = {}
        parameters: dict[str, Range] = {}
        for name, shape in table.variables.items():
            known = scalars.POSITIVE if name in table.positive else scalars.REAL
            arrays[name] = open_array(name, shape, known)
            entries = parameter_names(arrays[name])
            parameters |= dict.fromkeys(entries, known)
        formulas = {**table.functions, **self.exercise.definitions}
        definitions = {name: parsed(source) for name, source in formulas.items()}
        for name, pair in {**table.wanted, **table.known}.items():
            derivative = t.Derivative(parsed(pair.of), parsed(pair.by))
            if name not in arrays:
                definitions.setdefault(name, derivative)
        sizes = {size for shape in table.variables.values() for size in shape} - {1}
        return GradientReader(
            definitions=definitions,
            arrays=arrays,
            parameters=parameters,
            functions={"sigma": sigmoid},
            common_size=sizes.pop() if len(sizes) == 1 else None,
        )

    def arrange(self, statements: Sequence[Statement]) -> Sequence[Statement]:
        """Derivatives as names; entries together; the value at the end of a chain."""
        known = self.named_derivatives()
        named = []
        for statement in statements:
            if statement.node is not None:
                node = with_names(statement.node, known)
                statement = replace(statement, node=node)
            named.append(statement)
        reader = self.reader()
        shapes = {}
        for goal in map(parsed, self.exercise.goals):
            match goal:
                case t.Relation((t.Name() as name, value), ("=",)):
                    shapes[an.full_name(name)] = reader.value(value).shape
        together = entries_put_together(named, shapes, reader)
        return values_last(together, self.exercise.answer, about=False)

    def finish(self, verdict: Verdict) -> Verdict:
        """The verdict, undecided where words say for which entries a refuted formula is meant."""
        for part in verdict.asked:
            for sentence in verdict.to_read:
                found = CASES.search(sentence.text)
                if found is None or part.word != "refuted":
                    continue
                words = f"line {sentence.line} says '{found[0]}', which was not used"
                return as_undecided(without_false(verdict, part.part), part, words)
        return verdict

    def prover(self, answer: an.Answer) -> GradientProver:
        """What the answer gives, beside the true derivatives."""
        given = self.reader()
        answered = {name: said.node for name, said in answer.definitions.items()}
        definitions = {**answered, **given.definitions}
        for name in self.table.wanted:
            if name in answered:
                definitions[name] = answered[name]
        reader = replace(given, definitions=definitions, memory={})
        mistakes = {
            words: {name: parsed(source) for name, source in values.items()}
            for words, values in self.table.mistakes.items()
        }
        return GradientProver(
            reader,
            under=tuple(said.node for said in answer.conditions),
            claims=tuple(answer.claims),
            letters=LETTERS,
            simplex=on_the_simplex(given.arrays, self.table.distributions),
            answered=answered,
            mistakes=mistakes,
            in_terms_of=self.table.in_terms_of,
        )
