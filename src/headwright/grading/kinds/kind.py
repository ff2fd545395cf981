"""`ExerciseKind`: all that the rest of grading asks of one kind of exercise, and the only way in.

A kind is a folder beside this file, named for the table that belongs to it in an exercise file: [keys] is `kinds/keys`.
Its `__init__.py` has one object, `KIND`, a subclass of `ExerciseKind`. Kinds are found by listing the folder, and are
imported when an exercise has their table: one is added without touching another file (docs/contributing/kinds.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from headwright.errors import InputError
from headwright.grading.fields import Strict

if TYPE_CHECKING:
    from headwright.formulas.tree import Name, Node, Relation
    from headwright.grading.answer import Answer
    from headwright.grading.candidates import Claimed
    from headwright.grading.exercise import Exercise
    from headwright.grading.judge import Finding, Session
    from headwright.grading.judging import Outcome, Prover
    from headwright.grading.markdown import Written
    from headwright.grading.recheck.sequences import InstanceDrawer
    from headwright.grading.text import Statement, Text
    from headwright.grading.verdict import AskedPart, Verdict

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
        """The names of numbers that the table leaves open, besides [parameters]: sizes."""
        return ()

    def names_in_goals(self) -> Iterable[str]:
        """Names that only goals may use, for what the kind works out: no answer knows them."""
        return ()

    def drawn_numbers(self) -> Mapping[str, Sequence[Fraction]]:
        """The names of random numbers, each with its values where it has finitely many."""
        return {}

    def trivial_answers(self) -> Iterable[tuple[str, list[str]]]:
        """Answers that must not pass, each as what it is and its formulas: the linter tries them."""
        return ()

    # Names

    def labels(self) -> Iterable[str]:
        """The indices that name one given thing each: a and b of k_a, k_b."""
        return ()

    def split_names(self) -> Iterable[str]:
        """Names with an index that people also write without: k_a as ka, R_t as Rt."""
        return ()

    def outputs(self) -> Iterable[str]:
        """Names of what attention computes; where an answer defines something by one, it means a name of its own."""
        return ()

    def short_names(self) -> Mapping[str, tuple[str, Node]]:
        """Names with an index for a formula of it, as people write them: s_i for k_i^T q; each (index, formula)."""
        return {}

    def other_names(self, statements: Sequence[Statement]) -> Mapping[str, Name]:
        """Names in these statements that stand for given ones."""
        del statements
        return {}

    def normalise(self, node: Node) -> Node:
        """One node in the names of the exercise, its parts being so already: i in S as i <= m."""
        return node

    def gives(self, name: Name) -> bool:
        """Whether the exercise says what this name is; any other one is the answer's own."""
        from headwright.grading.answer import full_name

        given = {
            *self.exercise.parameters,
            *self.exercise.definitions,
            *self.exercise.answer,
            *self.numbers(),
            *self.drawn_numbers(),
            "e",
            "pi",
        }
        return full_name(name) in given

    # What was written

    def prepare(self, written: Written) -> Written:
        """The answer before its formulas are read: units as names."""
        return written

    def arrange(self, statements: Sequence[Statement]) -> Sequence[Statement]:
        """What was read, before anything is made of it: partial L / partial z as the name for it."""
        return statements

    # Conditions and definitions

    has_own_numbers: ClassVar[bool] = False  # an answer may choose some: lambda, tau
    has_own_matrices: ClassVar[bool] = (
        False  # words may say what one is: 'without a row'
    )
    redefines_in_place: ClassVar[bool] = False  # 'if x_2 = u_a': for a paragraph only

    def given_facts(self) -> Sequence[Relation]:
        """Relations that hold by what is given, and that an answer may repeat: t != t'."""
        return ()

    def is_given(self, node: Relation) -> bool:
        """Whether a relation only introduces notation of the exercise: S = {1, ..., m}."""
        del node
        return False

    def given_value(self, name: str) -> Node | None:
        """What a name stands for as long as the answer does not define it anew."""
        del name
        return None

    def states_condition(self, node: Node) -> bool:
        """Whether a statement is such a condition as the exercise may ask for."""
        del node
        return False

    def put_under(self, node: Node, conditions: tuple[Node, ...]) -> Node:
        """A statement with what it is said for."""
        from headwright.formulas.tree import said_under

        return said_under(node, conditions)

    def is_claim(self, node: Node) -> bool:
        """Whether a statement can be judged by itself."""
        del node
        return True

    def why_not_false(self, claimed: Claimed, node: Node) -> str:
        """Why a refuted statement is not called false: it may be meant for less; '' where nothing speaks for that."""
        from headwright.formulas.tree import unquantified
        from headwright.grading.answer import about_the_given

        del claimed
        is_case = about_the_given(unquantified(node), self.exercise)
        return "it is a case, and not always so" if is_case else ""

    # Claims

    def prover(self, answer: Answer) -> Prover:
        """What proves or refutes claims, once an answer has defined what it defines."""
        raise NotImplementedError(f"{type(self).__name__} has no prover and no grade")

    def drawer(self) -> InstanceDrawer | None:
        """What draws explicit instances; None: there are none."""
        return None

    def recheck(
        self, answer: Answer, outcomes: Sequence[Outcome], seed: int
    ) -> list[Outcome]:
        """The same outcomes, looked at again on explicit instances, where these are drawn.

        ContradictionError where one contradicts an outcome.
        """
        drawer = self.drawer()
        if drawer is None:
            return list(outcomes)
        from headwright.grading.recheck.outcomes import recheck_each
        from headwright.grading.recheck.sequences import recheck

        return recheck_each(
            outcomes, lambda one, random: recheck(drawer, answer, one, random), seed
        )

    # Parts of what was asked for

    def says_something(self, answer: Answer, prover: Prover, outcome: Outcome) -> bool:
        """Whether a true claim would be false were the question idle: true of this exercise, and not of any."""
        from headwright.grading.answer import speaks_of_chance
        from headwright.grading.recheck.sequences import says_something

        del prover
        drawer = self.drawer()
        if drawer is None or speaks_of_chance(outcome.link):
            return True
        return says_something(drawer, answer, outcome)

    def statement_part(
        self, findings: Sequence[Finding], session: Session
    ) -> AskedPart | None:
        """What was said of what was asked for; None: a true formula about it that says something."""
        del findings, session
        return None

    def derivation_part(
        self, findings: Sequence[Finding], session: Session, *, quoted: bool
    ) -> AskedPart:
        """A derivation; `quoted`: some formulas were not read, or only quoted."""
        from headwright.grading.verdict import AskedPart

        del findings, session, quoted
        reason = f"derivations are not read for [{self.exercise.kind_name}]"
        return AskedPart("derivation", "undecided", 0, "", reason)

    # Verdicts

    def advise(
        self, verdict: Verdict, prover: Prover, outcomes: Sequence[Outcome]
    ) -> Verdict:
        """The verdict with what a teacher would add: a threshold, a hint, a suggestion, a curve to draw."""
        del prover, outcomes
        return verdict

    def finish(self, verdict: Verdict) -> Verdict:
        """The verdict with its sentences to read: undecided, where words beside an answer were not used."""
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
