"""What is particular to exercises about keys and queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading.answer import Answer, full_name
from headwright.grading.judging import Outcome, Prover, undecided
from headwright.grading.kinds.keys.table import Keys
from headwright.grading.kinds.kind import ExerciseKind

if TYPE_CHECKING:
    from headwright.grading.judge import Finding, Session
    from headwright.grading.kinds.keys.prover import KeysProver
    from headwright.grading.recheck.sequences import InstanceDrawer
    from headwright.grading.verdict import AskedPart, Verdict


@dataclass(frozen=True)
class KeysKind(ExerciseKind[Keys]):
    """An exercise about keys."""

    model = Keys
    has_limits = True
    has_own_numbers = True

    def check(self) -> None:
        """A number of keys, and labels that belong to one."""
        exercise, keys = self.exercise, self.table
        first = keys.first
        if (first is None) == (not keys.named) or (
            first is not None and keys.are != "orthonormal"
        ):
            raise InputError(
                "keys: expected the names of some keys (named), or the first of orthonormal ones (first)"
            )
        if first is not None and first.size not in exercise.parameters:
            raise InputError(f"keys.first: {first.size} is not one of the parameters")
        for field, labels in (
            ("scales", keys.scales),
            ("directions", keys.directions.values()),
        ):
            for label in labels:
                if label not in keys.named:
                    raise InputError(
                        f"keys.{field}: there is no key {label!r} in keys.named"
                    )
        number = exercise.parameters.get("n")
        least = max(1, len(keys.named))
        remedy = (
            f"add n = {{ integer = true, at_least = {max(2, least)} }} to [parameters]"
        )
        if number is None:
            raise InputError(
                f"the parameter n, the number of keys, is missing: {remedy}"
            )
        if not number.integer or number.at_least is None:
            raise InputError(
                f"the parameter n, the number of keys, must be an integer with a lower bound: {remedy}"
            )
        if number.at_least < least:
            names = ", ".join(keys.named) or "one of the first"
            raise InputError(
                f"the parameter n, the number of keys, must be at least {least}: the keys include {names}"
            )

    def names_by_field(self) -> Iterator[tuple[str, str]]:
        """Letters and names for directions, lengths, and the set of the first indices."""
        keys = self.table
        for letter in keys.also:
            yield "keys.also", letter
        for name in keys.directions:
            yield "keys.directions", name
        for scale in keys.scales.values():
            yield "keys.scales", scale.name
        if keys.first is not None:
            yield "keys.first", keys.first.set

    def drawn_numbers(self) -> dict[str, tuple[Fraction, ...]]:
        """The lengths of keys."""
        return {scale.name: scale.one_of for scale in self.table.scales.values()}

    def trivial_answers(self) -> Iterator[tuple[str, list[str]]]:
        """A multiple of one key, where a mean of several is asked for."""
        keys, asked = self.table, self.exercise.answer
        if not asked or len(keys.named) < 2 or keys.directions:
            return
        letter = keys.also[0] if keys.also else "k"
        for which in keys.named:
            direction = rf"\lambda {letter}_{which}"
            yield "one direction", [f"{name} = {direction}" for name in asked]

    def labels(self) -> tuple[str, ...]:
        """Those of the keys with a name."""
        return self.table.named

    def split_names(self) -> Iterator[str]:
        """k_a, v_a and other letters for keys."""
        for letter in ("k", "v", *self.table.also):
            for which in self.table.named:
                yield f"{letter}_{which}"

    def outputs(self) -> tuple[str, ...]:
        """c, unless that is the length of a key."""
        return () if "c" in self.drawn_numbers() else ("c",)

    def short_names(self) -> dict[str, tuple[str, t.Node]]:
        """s_i is a score, where there is one query."""
        if any(name.startswith("q_") for name in self.exercise.answer):
            return {}
        key = t.Transpose(t.Name("k", t.Name("i")))
        return {"s": ("i", t.Product((key, t.Name("q"))))}

    def normalise(self, node: t.Node) -> t.Node:
        """S is the set of the first m keys, and 'all other i' are those without a name."""
        from headwright.grading.kinds.keys.notation import normalise

        return normalise(node, self.table)

    def is_given(self, node: t.Relation) -> bool:
        """A relation that says what the set of the first keys is."""
        first = self.table.first
        return first is not None and t.Name(first.set) in node.terms

    def states_condition(self, node: t.Node) -> bool:
        """Whether it is a condition on scores."""
        from headwright.grading.kinds.keys.conditions import states_condition

        return states_condition(node)

    def is_claim(self, node: t.Node) -> bool:
        """What is said of weights implies nothing that is not about them."""
        match node:
            case t.Logic("implies", (condition, body)) | t.Quantified(
                body, (condition, *_)
            ):
                about_weights = t.speaks_of(condition, "alpha")
                return not about_weights or t.speaks_of(body, "alpha")
        return True

    def gives(self, name: t.Name) -> bool:
        """Whether the exercise gives this name."""
        from headwright.grading.kinds.keys import scene

        if self.table.noise == "vanishing" and full_name(name) == scene.VARIANCE:
            return True
        return scene.opening(self.exercise, self.table).gives(name)

    def prover(self, answer: Answer) -> KeysProver:
        """With what the answer defines, what it says of its own names, and the conditions it states."""
        from headwright.grading.kinds.keys.prover import KeysProver

        return KeysProver.of(self.exercise, self.table, answer)

    def drawer(self) -> InstanceDrawer:
        """Keys that are written out."""
        from headwright.grading.kinds.keys.recheck import KeysDrawer

        return KeysDrawer(self.exercise, self.table)

    def recheck(
        self, answer: Answer, outcomes: Sequence[Outcome], seed: int
    ) -> list[Outcome]:
        """On keys that are written out; what is said of one value alone may be none of those that were tried."""
        rechecked = super().recheck(answer, outcomes, seed)
        return [_unless_pinned(outcome) for outcome in rechecked]

    def statement_part(
        self, findings: Sequence[Finding], session: Session
    ) -> AskedPart | None:
        """What holds for weights and for nothing else, where that is asked for."""
        from headwright.grading.kinds.keys.weights import weights_part

        return (
            weights_part(self.table, session, findings)
            if self.table.otherwise
            else None
        )

    def advise(
        self, verdict: Verdict, prover: Prover, outcomes: Sequence[Outcome]
    ) -> Verdict:
        """With thresholds, and what would mend a query that is too short."""
        from headwright.grading.kinds.keys.advice import advised
        from headwright.grading.kinds.keys.prover import KeysProver

        if not isinstance(prover, KeysProver):
            return verdict
        return advised(self.exercise, prover.decider, verdict, outcomes)


UNTRIED = "it is said for one value only, and whether that is among those that were tried is not certain"


def _unless_pinned(outcome: Outcome) -> Outcome:
    """'For n = 3 and epsilon = 1/3, ...': what holds in plain instances need not meet that."""
    conditions = outcome.claim.under
    pinned = any(
        isinstance(node, t.Relation) and "=" in node.comparisons for node in conditions
    )
    holds = outcome.word == "holds"
    return undecided(outcome, UNTRIED) if holds and pinned else outcome
