"""`ExerciseKind`: all that the rest of grading asks of one kind of exercise, and the only way in.

A kind is a folder beside this file, named for the table that belongs to it in an exercise file: [keys] is `kinds/keys`.
Its `__init__.py` has one object, `KIND`, a subclass of `ExerciseKind`. Kinds are found by listing the folder, and are
imported when an exercise has their table: one is added without touching another file (docs/contributing/kinds.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from headwright.errors import InputError
from headwright.grading.fields import Strict

if TYPE_CHECKING:
    from headwright.formulas.tree import Name
    from headwright.grading.answer import Answer
    from headwright.grading.exercise import Exercise
    from headwright.grading.judging import Outcome, Prover
    from headwright.grading.text import Text
    from headwright.grading.verdict import Verdict

FOLDER = Path(__file__).parent
Table = TypeVar("Table", bound=Strict)


@dataclass(frozen=True)
class ExerciseKind(Generic[Table]):
    """One exercise, with what its kind knows about it. Only `model` and `prover` have to be defined."""

    exercise: Exercise
    table: Table

    model: ClassVar[type[Strict]]  # of the table: its fields, their types and defaults
    whole: ClassVar[bool] = False  # a statement is one claim; only chains are split
    has_limits: ClassVar[bool] = False  # a blank may be asked for as a parameter -> 0

    # The exercise file

    def check(self) -> None:
        """InputError, with a remedy, where the table cannot be used."""

    def names_by_field(self) -> Iterable[tuple[str, str]]:
        """The names that the table gives, each with the field it stands in: ('keys.scales', 'c')."""
        return ()

    def numbers(self) -> Iterable[str]:
        """The names of numbers that the table leaves open, besides [parameters]: sizes, lengths."""
        return ()

    def trivial_answers(self) -> Iterable[tuple[str, list[str]]]:
        """Answers that must not pass, each as what it is and its formulas: the linter tries them."""
        return ()

    # Names

    def gives(self, name: Name) -> bool:
        """Whether the exercise says what this name is; any other one is the answer's own."""
        from headwright.grading.answer import full_name

        given = {
            *self.exercise.parameters,
            *self.exercise.definitions,
            *self.exercise.answer,
            *self.numbers(),
            "e",
            "pi",
        }
        return full_name(name) in given

    # Claims

    def prover(self, answer: Answer) -> Prover:
        """What proves or refutes claims, once an answer has defined what it defines."""
        raise NotImplementedError(f"{type(self).__name__} has no prover and no grade")

    def recheck(
        self, answer: Answer, outcomes: Sequence[Outcome], seed: int
    ) -> list[Outcome]:
        """The same outcomes, looked at again by other means; here they stay as they are.

        ContradictionError where an explicit instance contradicts one.
        """
        del answer, seed
        return list(outcomes)

    # Verdicts

    def advise(
        self, verdict: Verdict, prover: Prover, outcomes: Sequence[Outcome]
    ) -> Verdict:
        """The verdict with what a teacher would add: a threshold, a hint, a suggestion, a curve to draw."""
        del prover, outcomes
        return verdict

    def grade(self, text: Text, seed: int) -> Verdict | None:
        """The whole verdict, where a kind does not judge claim by claim; None: the usual steps."""
        del text, seed
        return None


@lru_cache(maxsize=1)
def kind_names() -> tuple[str, ...]:
    """The kinds there are: the folders beside this file."""
    return tuple(
        sorted(module.name for module in iter_modules([str(FOLDER)]) if module.ispkg)
    )


def load_kind(name: str) -> type[ExerciseKind[Any]]:
    """A kind by the name of its table."""
    kind: type[ExerciseKind[Any]] = import_module(f"{__package__}.{name}").KIND
    return kind


def kind_in(document: Iterable[str]) -> str:
    """The kind of an exercise, given the fields of its file: it has exactly one table of a kind."""
    names = kind_names()
    tables = sorted(set(document) & set(names))
    if len(tables) != 1:
        listed = ", ".join(f"[{name}]" for name in names)
        raise InputError(
            f"expected exactly one of the tables {listed}{_misspelt(document)}"
        )
    return tables[0]


def _misspelt(document: Iterable[str]) -> str:
    """A field that is nearly the name of a kind."""
    for field in document:
        near = get_close_matches(field, kind_names(), n=1)
        if near and field not in kind_names():
            return f"; did you mean [{near[0]}] where it says {field}?"
    return ""
