"""What is particular to exercises about matrices of any size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading.answer import Answer, full_name, full_names, given_numbers
from headwright.grading.fields import parsed
from headwright.grading.judging import Outcome, Prover, proved
from headwright.grading.kinds.kind import ExerciseKind
from headwright.grading.kinds.matrices.table import Matrices

if TYPE_CHECKING:
    from headwright.grading.judge import Finding, Session
    from headwright.grading.kinds.matrices.prover import MatricesProver
    from headwright.grading.verdict import AskedPart

_INDEXED = re.compile("[A-Za-z]_[a-z]")
_SIZE = re.compile(r"[A-Za-z]+(_[A-Za-z0-9]+)?'*")


@dataclass(frozen=True)
class MatricesKind(ExerciseKind[Matrices]):
    """An exercise about matrices of any size."""

    model = Matrices
    has_own_matrices = True

    def check(self) -> None:
        """Shapes for what is known, and sizes to try."""
        exercise, matrices = self.exercise, self.table
        shapes = matrices.shapes
        for about, facts in matrices.facts.items():
            names = [part.strip() for part in about.split(",")]
            for name in names:
                if name not in shapes:
                    raise InputError(
                        f"matrices.facts: {name} has no shape: add it to matrices.shapes"
                    )
            if (
                "orthogonal ranges" in facts
                and len({shapes[name][0] for name in names}) > 1
            ):
                raise InputError(
                    f"matrices.facts: {about} have orthogonal ranges: give them the same number of rows"
                )
        taken = {
            *exercise.definitions,
            *(name for name, shape in shapes.items() if shape != (1, 1)),
        }
        for name, shape in shapes.items():
            for size in shape:
                if isinstance(size, str) and not _SIZE.fullmatch(size):
                    raise InputError(
                        f"matrices.shapes: the size {size!r} of {name}: expected a letter or a number"
                    )
                if isinstance(size, int) and size < 1:
                    raise InputError(
                        f"matrices.shapes: {name} has the size {size}: expected at least 1"
                    )
                if size in taken:
                    raise InputError(
                        f"matrices.shapes: {size}, a size of {name}, is a matrix too; choose another name"
                    )
        for size, values in matrices.sizes.items():
            if not values or min(values) < 1:
                raise InputError(
                    f"matrices.sizes: {size}: expected some sizes to try, each at least 1"
                )

    def names_by_field(self) -> Iterator[tuple[str, str]]:
        """The matrices, and their sizes."""
        for name in (*self.table.shapes, *self.numbers()):
            yield "matrices.shapes", name
        for name in self.table.sizes:
            yield "matrices.sizes", name

    def numbers(self) -> list[str]:
        """The sizes that are letters, and what is assumed of them."""
        sizes = [size for shape in self.table.shapes.values() for size in shape]
        letters = [size for size in sizes if isinstance(size, str)]
        return [*letters, *full_names(*map(parsed, self.table.assume))]

    def split_names(self) -> Iterator[str]:
        """Matrices of one letter with an index of one: R_t."""
        for name in self.table.shapes:
            if _INDEXED.fullmatch(name):
                yield name

    def gives(self, name: t.Name) -> bool:
        """Whether the exercise gives this name."""
        full = full_name(name)
        given = {
            *self.exercise.definitions,
            *self.table.shapes,
            *given_numbers(self.exercise),
            *self.exercise.answer,
        }
        parts = {
            about.split(",")[0] for about in self.table.facts if about.endswith("_*")
        }  # U_k, S_k
        return (
            full in given
            or name.base in parts
            or f"{name.base}_*" in given
            or full in ("I", "pi", "e", "ones")
        )

    def prover(self, answer: Answer) -> MatricesProver:
        """With what the answer defines."""
        from headwright.grading.kinds.matrices.prover import MatricesProver

        return MatricesProver.of(self.exercise, self.table, answer)

    def recheck(
        self, answer: Answer, outcomes: Sequence[Outcome], seed: int
    ) -> list[Outcome]:
        """On matrices that are written out."""
        from headwright.grading.kinds.matrices.instances import recheck
        from headwright.grading.kinds.matrices.known import Given
        from headwright.grading.recheck.outcomes import recheck_each

        given = Given.of(self.exercise, self.table, answer)
        return recheck_each(
            outcomes, lambda one, random: recheck(given, one, random), seed
        )

    def given_facts(self) -> list[t.Relation]:
        """What is given to differ, in both orders."""
        pairs = [tuple(map(parsed, pair)) for pair in self.table.different]
        pairs += [pair[::-1] for pair in pairs]
        return [t.Relation(pair, ("!=",)) for pair in pairs]

    def says_something(self, answer: Answer, prover: Prover, outcome: Outcome) -> bool:
        """Whether it is neither given nor proved with the question made idle."""
        from headwright.grading.kinds.matrices.prover import MatricesProver

        del answer
        if not isinstance(prover, MatricesProver):
            return True
        for pair in self.table.different:
            if set(outcome.link.terms) == set(map(parsed, pair)):
                return False
        for idle in self.table.otherwise:
            if proved(prover.otherwise(idle).decide(outcome.claim)):
                return False
        return True

    def derivation_part(
        self, findings: Sequence[Finding], session: Session, *, quoted: bool
    ) -> AskedPart:
        """True steps that lead from one side to the other."""
        from headwright.grading.kinds.matrices.derivation_part import derivation_part

        given = self.prover(session.answer).given
        return derivation_part(given, findings, session, quoted)
