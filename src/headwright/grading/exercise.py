"""Exercises: what is given, what an answer names, and the goals, as one TOML file each.

A file has a head (id, title, statement, answer, goals, parameters, definitions) and one table that belongs to a kind
of exercises (kinds/): [keys], [tokens], [matrices], [integers]. docs/guides/exercises.md describes every field.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, ValidationError, create_model

from headwright.errors import InputError
from headwright.grading.fields import Parameter, Source, Strict, parsed
from headwright.grading.fitness import check_exercise
from headwright.grading.kinds.kind import ExerciseKind, kind_in, load_kind
from headwright.validation import sentence

BUILT_IN = Path(__file__).parent / "exercises"  # a file is named for the id in it
MOST_FILES = 200
__all__ = [
    "Exercise",
    "Parameter",
    "load_exercises",
    "parse_exercise",
    "parsed",
    "read_exercise",
]
MOST_BYTES = 100_000


class Blank(Strict):
    """What an answer must give the value of: '... = value', with one of these on the left, in one case or in all."""

    of: tuple[Source, ...] = Field(min_length=1)
    case: Source | None = None
    optional: bool = False


class Samples(Strict):
    """Answers, each a list of formulas, that show whether the exercise is fit for use; no verdict is read from them."""

    right: tuple[tuple[str, ...], ...] = ()
    wrong: tuple[tuple[str, ...], ...] = ()


class Exercise(Strict):
    """The head of an exercise; `exercise_model` adds the table of its kind."""

    kind_name: ClassVar[str]
    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
    title: str
    statement: str
    answer: tuple[str, ...] = ()  # the names that an answer must define
    about: tuple[
        Source, ...
    ] = ()  # or what it must speak of: one of these, with all the names in it
    blanks: tuple[Blank, ...] = ()  # or what it must say the value of, case by case
    reasons: bool = False  # a false reason makes the answer wrong
    condition: bool = False  # an answer states the condition under which the goals hold
    redefines: tuple[str, ...] = ()  # given names that an answer may define anew
    also: dict[str, str] = Field(
        {}
    )  # other names for given ones: X_perm for X_p; Sigma for S, unless an answer defines it
    skeleton: str = ""
    goals: tuple[Source, ...] = ()
    derive: tuple[
        tuple[Source, Source], ...
    ] = ()  # a derivation must lead from one side to the other of such a pair
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    definitions: dict[str, Source] = Field(default_factory=dict)
    samples: Samples = Samples()
    may_repeat: tuple[
        Source, ...
    ] = ()  # what is given, as formulas: an answer may say it, and nothing is judged of it

    @property
    def kind(self) -> ExerciseKind[Any]:
        """What is particular to exercises of this kind."""
        return load_kind(self.kind_name)(self, getattr(self, self.kind_name))

    def missing(self, defined: Collection[str]) -> list[str]:
        """What an answer that defines these names leaves undefined."""
        return [name for name in self.answer if name not in defined]

    @property
    def names(self) -> tuple[str, ...]:
        """What an answer names, for a table."""
        filled = tuple(blank.of[0] for blank in self.blanks if not blank.optional)
        return self.answer or (
            ("a condition",)
            if self.condition
            else self.about or tuple(dict.fromkeys(filled))
        )

    @property
    def sheet(self) -> str:
        """The beginning of an answer sheet, to copy."""
        formula = self.skeleton or "\n".join(f"{name} = " for name in self.names)
        return f"## {self.id}\n\n" + "\n".join(
            f"$${line}$$" for line in formula.strip("\n").split("\n")
        )

    def as_json(self) -> dict[str, Any]:
        """What `headwright exercises --json` says of it."""
        return {
            "id": self.id,
            "title": self.title,
            "statement": self.statement.strip(),
            "names": list(self.names),
            "goals": list(self.goals),
            "sheet": self.sheet,
        }


@lru_cache
def exercise_model(kind_name: str) -> type[Exercise]:
    """What the files of one kind are read into: the head, and the table of the kind as one more field."""
    table: Any = (load_kind(kind_name).model, ...)
    model = create_model("Exercise", __base__=Exercise, **{kind_name: table})
    model.kind_name = kind_name
    return model


def load_exercises(folder: Path | None = None) -> dict[str, Exercise]:
    """The exercises that come with Headwright, and those in a folder, by id; the latter win where ids agree."""
    own: list[Path] = []
    if folder is not None:
        if not folder.is_dir():
            raise InputError(
                f"{folder} is not a folder: expected one with exercises (.toml)"
            )
        own = sorted(folder.glob("*.toml"))[:MOST_FILES]
        if not own:
            raise InputError(
                f"{folder} has no exercises: expected files that end in .toml"
            )
    return {
        exercise.id: exercise
        for exercise in map(
            read_exercise,
            (*sorted(BUILT_IN.glob("*.toml"), key=lambda path: path.stem), *own),
        )
    }


def read_exercise(path: Path) -> Exercise:
    """One exercise from its file."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if len(text) > MOST_BYTES:
        raise InputError(
            f"{path} is longer than {MOST_BYTES} bytes: expected one exercise"
        )
    try:
        return parse_exercise(text.decode())
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def parse_exercise(text: str) -> Exercise:
    """One exercise from TOML."""
    try:
        given: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        remedy = ""
        if "\\" in str(error):  # of LaTeX in a text that TOML reads as escaped
            remedy = ": put text with LaTeX in 'single quotes'"
        raise InputError(f"not valid TOML: {error}{remedy}") from error
    model = exercise_model(kind_in(given))
    try:
        exercise = model.model_validate(given)
    except ValidationError as error:
        raise InputError(sentence(error, model, "the exercise")) from error
    check_exercise(exercise)
    return exercise
