"""Integers drawn at random, and rows of position embeddings written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from flint import arb, arb_mat

from headwright.formulas import tree as t
from headwright.formulas.evaluate import ball
from headwright.grading.answer import full_name, label
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import Outcome
from headwright.grading.kinds.integers.table import Integers
from headwright.grading.recheck.instances import ExplicitInstance, holds, number
from headwright.grading.recheck.outcomes import confirmed, contradiction
from headwright.grading.recheck.sequences import IDLE, WHOLE, draw_parameter, names_in

INTEGERS = 60
SOME = ("k", "m")  # names of integers that may be claimed to exist
REACH = 8  # how far such an integer is looked for
WIDEST = 32  # row of a position embedding that is drawn


@dataclass
class IntegersInstance(ExplicitInstance):
    """Integers, and rows (sin w t, cos w t, ...) with w_i = 10000^(-2i/d); `same`: all rows are alike."""

    rows: str = "Phi"
    width: int = 4
    same: bool = False

    def value_of(self, name: t.Name) -> arb_mat | None:
        """A row of the embedding, a frequency, an integer."""
        if name.base == self.rows and name.index is not None:
            place = arb(0) if self.same else self.value(name.index)[0, 0]
            waves = [
                arb(10000) ** ball(Fraction(-2 * k, self.width)) * place
                for k in range(self.width // 2)
            ]
            return arb_mat([[wave] for x in waves for wave in (x.sin(), x.cos())])
        if name.base == "w" and label(name.index).isdigit():
            return number(
                arb(10000) ** ball(Fraction(-2 * int(label(name.index)), self.width))
            )
        if name.base == "pi" and name.index is None:
            return number(3 if self.same else arb.pi())
        return super().value_of(name)


def recheck(
    exercise: Exercise, table: Integers, outcome: Outcome, random: Random
) -> Outcome:
    """One outcome looked at again at integers that are as given."""
    decision, node = outcome.decision, outcome.claim.node
    if outcome.role == "condition" or decision.beyond:
        return outcome
    if decision.word in ("undecided", "holds"):
        return outcome
    is_proved = decision.word == "proved"
    values = {} if is_proved else decision.values
    for x, y in table.different:
        is_same = x in values and values[x] == values.get(y)
        if isinstance(node, t.Relation) and is_same:
            raise contradiction(outcome)  # what is given sets these integers aside
    drawn = _draw_integers(exercise, table, values, random, INTEGERS)
    said = [_with_some(node, instance) for instance in drawn]
    return confirmed(outcome, said, is_proved)


def says_something(exercise: Exercise, table: Integers, outcome: Outcome) -> bool:
    """Whether a true statement fails for rows that are all alike."""
    if outcome.decision.vacuous:
        return False
    node, negated = outcome.claim.node, outcome.claim.negated
    is_difference = isinstance(node, t.Relation) and node.comparisons[:1] == ("!=",)
    fails = (negated, None) if is_difference else (negated,)
    random = Random(0)  # noqa: S311
    idle = _draw_integers(exercise, table, {}, random, 10 * IDLE, same=True)
    waveless = _waveless(node)
    return any(_with_some(waveless, instance) in fails for instance in idle)


def _with_some(node: t.Node, instance: IntegersInstance) -> bool | None:
    """A statement, in which an integer that only its conclusion names may be any: one such is claimed to exist."""
    some: set[str] = set()
    if isinstance(node, t.Logic) and node.word == "implies":
        before, after = (set(map(full_name, names_in(side))) for side in node.items)
        some = (after - before) & set(SOME)
    if not some:
        return holds(node, instance)
    reach = range(-REACH, REACH + 1)
    said = [
        holds(
            node,
            instance.moved(numbers={**instance.numbers, **dict.fromkeys(some, value)}),
        )
        for value in reach
    ]
    return (
        True
        if True in said
        else False
        if instance.same and set(said) == {False}
        else None
    )


def _waveless(node: t.Node) -> t.Node:
    """Where the question is idle, every sine is 0 and every cosine 1."""
    if isinstance(node, t.Call) and node.function in ("sin", "cos"):
        return t.Number(Fraction(int(node.function == "cos")))
    return t.mapped(node, _waveless)


def _draw_integers(
    exercise: Exercise,
    table: Integers,
    values: Mapping[str, Fraction],
    random: Random,
    count: int,
    *,
    same: bool = False,
) -> Iterator[IntegersInstance]:
    """Integers at random, small ones mostly, that are as given."""
    given = [parsed(source) for source in table.given]
    for _ in range(count):
        drawn = {
            name: Fraction(
                random.choice((random.randint(0, 14), random.randint(-3, 3)))
            )
            for name in table.integers
        }
        for name, known in exercise.parameters.items():
            drawn[name] = draw_parameter(known, random, len(WHOLE)) + random.randint(
                0, 40
            )
        if "d" in drawn:  # the width of a row is even
            drawn["d"] = Fraction(2 * random.randint(1, WIDEST // 2))
        drawn |= values
        width = int(drawn["d"]) if drawn.get("d", 0) in range(2, WIDEST + 1, 2) else 4
        if any(drawn[x] == drawn[y] for x, y in table.different):
            continue
        instance = IntegersInstance({}, drawn, rows=table.rows, width=width, same=same)
        if all(holds(one, instance) is True for one in given):
            yield instance
