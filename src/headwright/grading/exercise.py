"""Exercises: what is given, what an answer names, and the goals, as one TOML file each.

A file has a head (id, title, statement, answer, goals, parameters, definitions) and one setting: [keys], [tokens],
[matrices] or [integers]. docs/guides/exercises.md describes every field, with an example.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from headwright.errors import InputError
from headwright.formulas import FormulaError, parse
from headwright.formulas.tree import Node
from headwright.grading.fitness import check_exercise
from headwright.grading.scalars import Range
from headwright.validation import sentence

BUILT_IN = Path(__file__).parent / "exercises"  # a file is named for the id in it
MOST_FILES = 200
__all__ = [
    "Exercise",
    "Keys",
    "Parameter",
    "load_exercises",
    "parse_exercise",
    "parsed",
    "read_exercise",
]
MOST_BYTES = 100_000


@lru_cache(maxsize=4096)
def parsed(source: str) -> Node:
    """The tree of a formula of an exercise, read once."""
    return parse(source)


def _formula(source: str) -> str:
    try:
        parsed(source)
    except FormulaError as error:
        raise ValueError(str(error)) from None
    return source


def _fraction(given: object) -> Fraction:
    try:
        return Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{given!r} is not a number such as 2, 0.5 or '1/3'") from None


Source = Annotated[
    str, Field(max_length=5000), AfterValidator(_formula)
]  # a formula, as written
Ratio = Annotated[Fraction, BeforeValidator(_fraction)]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9]+$", max_length=12)]


class Strict(BaseModel):
    """Unknown fields are refused: a misspelt one would silently change the exercise."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Parameter(Strict):
    """A number that the exercise leaves open, and where it lies."""

    integer: bool = False
    at_least: Ratio | None = None
    above: Ratio | None = None
    at_most: Ratio | None = None
    below: Ratio | None = None
    large: bool = False  # it goes to infinity: statements are about its large values
    small: bool = False  # a tolerance: 'approximately' is about its going to 0

    def range(self) -> Range:
        """The same for the prover."""
        lower = self.at_least if self.above is None else self.above
        upper = self.at_most if self.below is None else self.below
        lower_open, upper_open = self.above is not None, self.below is not None
        return Range(
            lower,
            upper,
            lower_open=lower_open,
            upper_open=upper_open,
            integer=self.integer,
        )


class NormalLaw(Strict):
    """A normal distribution."""

    mean: Ratio
    variance: Ratio


class KeyScale(Strict):
    """A key is a random multiple of its direction: one of several values, or normal."""

    name: str
    one_of: tuple[Ratio, ...] = ()
    normal: NormalLaw | None = None


class Front(Strict):
    """The first keys, as many as a parameter says, play one part: sums to m, sums over S, 'for all i <= m'."""

    size: str
    set: str = ""  # a name for their indices: S


class Keys(Strict):
    """n keys, some of them named, or the first m of them; queries, patterns and outputs follow."""

    are: Literal["orthonormal", "separated", "any"]
    named: tuple[Label, ...] = ()
    first: Front | None = None  # instead of names
    also: tuple[str, ...] = ()  # letters for the directions of the keys besides k: mu_a
    directions: dict[
        str, Label
    ] = {}  # names for single directions: u = the direction of k_1
    scales: dict[Label, KeyScale] = {}
    noise: Literal["none", "vanishing"] = "none"
    given: tuple[Source, ...] = ()  # conditions under which the goals are asked
    otherwise: tuple[
        Literal["scaled", "signed"], ...
    ] = ()  # numbers that do not sum to 1, or of which one is
    # negative: what an answer says of the weights must hold for none of these


class Tokens(Strict):
    """Tokens made of orthogonal directions of one length; self-attention with given or wanted weights."""

    directions: tuple[Label, ...] = Field(min_length=1)
    letter: str = "u"
    length: str = "beta"
    tokens: dict[str, Source]
    weights: dict[Literal["Q", "K", "V"], Source] = {}
    mask: Literal["none", "causal"] = (
        "none"  # causal: a token attends to itself and to those before it
    )


class Matrices(Strict):
    """Matrices of any size, with what is known of them."""

    shapes: dict[str, tuple[int | str, int | str]]
    facts: dict[str, tuple[str, ...]] = {}
    different: tuple[tuple[Source, Source], ...] = ()
    sizes: dict[str, tuple[int, ...]]
    assume: tuple[Source, ...] = ()  # of sizes: 1 <= k <= d
    otherwise: tuple[
        dict[str, Source], ...
    ] = ()  # ways to make the question idle: what holds then too is no answer


class Integers(Strict):
    """Integers and angles: position embeddings at integer places."""

    integers: tuple[str, ...]
    different: tuple[
        tuple[str, str], ...
    ] = ()  # where a difference is claimed, these are different integers
    also: tuple[
        tuple[str, str], ...
    ] = ()  # other names for the first two different ones, where these do not occur
    given: tuple[
        Source, ...
    ] = ()  # conditions, where a statement speaks of all their names
    rows: str = "Phi"  # Phi_t is the vector of sin(w t), cos(w t) over all frequencies w, the first of which is 1


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
    """One exercise."""

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
    also: dict[
        str, str
    ] = {}  # other names for given ones: X_perm for X_p; Sigma for S, unless an answer defines it
    skeleton: str = ""
    goals: tuple[Source, ...] = ()
    derive: tuple[
        tuple[Source, Source], ...
    ] = ()  # a derivation must lead from one side to the other of such a pair
    parameters: dict[str, Parameter] = {}
    definitions: dict[str, Source] = {}
    samples: Samples = Samples()
    may_repeat: tuple[
        Source, ...
    ] = ()  # what is given, as formulas: an answer may say it, and nothing is judged of it
    keys: Keys | None = None
    tokens: Tokens | None = None
    matrices: Matrices | None = None
    integers: Integers | None = None

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
        raise InputError(f"not valid TOML: {error}") from error
    try:
        exercise = Exercise.model_validate(given)
    except ValidationError as error:
        raise InputError(sentence(error, Exercise, "the exercise")) from error
    check_exercise(exercise)
    return exercise
