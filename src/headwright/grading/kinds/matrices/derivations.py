"""Whether the steps of a derivation lead where they should, and none of them is what was to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from headwright.formulas import FormulaError
from headwright.formulas import tree as t
from headwright.formulas.shapes import Shape, spelt
from headwright.grading.answer import named, names_in
from headwright.grading.kinds.matrices.known import LAWS, Given, Known
from headwright.grading.kinds.matrices.normal import adds_up
from headwright.grading.kinds.matrices.prover import (
    gap,
    multiple,
    prepared,
    proves,
)
from headwright.grading.kinds.matrices.written import (
    Combination,
    Written,
    in_span,
    is_multiple,
)

ORDERS = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Aim:
    """What is to be shown: how the two ends compare."""

    start: t.Node
    end: t.Node
    given: Given

    @cached_property
    def bare(self) -> Given:
        """Without knowing what the two ends mean, or that S holds the singular values: for algebra in passing.

        S stays diagonal, and the singular values are on the diagonal of some other matrix.
        """
        given, shapes = self.passing, dict(self.passing.shapes)
        facts = {
            about: facts
            for about, facts in given.facts.items()
            if "singular values" not in facts
        }
        for family in (
            one
            for one in Known(given).families.values()
            if one.kind == "singular values"
        ):
            other = f"values beside {family.of}"  # no formula can mean it
            shapes[other] = given.shapes[family.of]
            facts |= {
                other: frozenset({"diagonal"}),
                f"{other},{family.base}_*": frozenset({"singular values"}),
            }
        others = {
            name: meant
            for name, meant in self.given.definitions.items()
            if name not in self.spoken
        }
        return replace(given, definitions=others, facts=facts, shapes=shapes)

    @cached_property
    def passing(self) -> Given:
        """Without definitions."""
        known, given = Known(self.given), self.given
        shapes: dict[str, Shape] = {}
        for name in given.definitions:
            with suppress(
                FormulaError
            ):  # of a definition that speaks of unknown names nothing follows
                shape = known.shape_of(named(name))
                shapes |= {} if shape is None else {name: shape}
        return replace(given, definitions={}, shapes={**shapes, **given.shapes})

    @cached_property
    def spoken(self) -> frozenset[str]:
        """The names in what is to be shown."""
        return frozenset(
            spelt(name) for end in (self.start, self.end) for name in names_in(end)
        )

    @cached_property
    def wanted(self) -> str:
        """How the two ends compare: the strongest comparison that is true of them."""
        whole = gap((self.start, self.end), self.given)
        if whole is not None and whole.is_zero:
            return "="
        if proves(t.Relation((self.start, self.end), ("<=",)), self.given):
            return "<="
        return (
            ">="
            if proves(t.Relation((self.start, self.end), (">=",)), self.given)
            else "="
        )

    @cached_property
    def written(self) -> Written:
        """Reads steps as they are written, with all definitions put in."""
        return Written(Known(self.given), self.given.definitions)

    @cached_property
    def goal(self) -> Combination:
        """What is to be shown, as it is written."""
        return self.written.difference(t.Relation((self.start, self.end), ("=",)))

    @cached_property
    def is_built_in(self) -> bool:
        """Whether algebra in passing already knows what is to be shown: |A x|^2 = x^T A^T A x.

        Then it would accept anything as a derivation, and steps count as they are written.
        """
        whole = gap((self.start, self.end), self.passing)
        return whole is not None and whole.is_zero

    @cached_property
    def is_one_law(self) -> bool:
        """Whether both ends are one softmax or relu, perhaps permuted: then a law of it is what is to be shown."""
        turning = {
            name for name, facts in self.given.facts.items() if "permutation" in facts
        }
        for end in (self.start, self.end):
            parts = self.written.combination(end)
            body = next(iter(parts), None)
            factors = body.factors if isinstance(body, t.Product) else (body,)
            calls = [
                part
                for part in factors
                if isinstance(part, t.Call) and part.function in ("softmax", "relu")
            ]
            others = [
                part.body if isinstance(part, t.Transpose) else part
                for part in factors
                if part not in calls
            ]
            permuted = all(
                isinstance(part, t.Name) and spelt(part) in turning for part in others
            )
            if len(parts) != 1 or len(calls) != 1 or not permuted:
                return False
        return True

    @cached_property
    def without_a_law(self) -> list[Given]:
        """What is given less one law of softmax or relu, for each law that what is to be shown needs."""
        found: list[Given] = []
        if not self._is_shown((self.start, self.end), self.given):
            return found
        for law in sorted(LAWS):
            less = replace(self.given, laws=LAWS - {law})
            if not self._is_shown((self.start, self.end), less):
                found.append(less)
        return found

    def _needs_all_laws(self, link: t.Relation) -> bool:
        """Whether whatever proves a step proves what is to be shown: it needs the same laws of softmax and relu."""
        if not self.without_a_law or not self._is_shown(link.terms, self.given):
            return False
        return not any(self._is_shown(link.terms, less) for less in self.without_a_law)

    def _is_shown(self, sides: tuple[t.Node, ...], given: Given) -> bool:
        found = gap(sides, given)
        return found is not None and found.is_zero

    def is_idle(self, link: t.Relation) -> bool:
        """Whether both sides of a step are written alike: Z_p = I Z_p."""
        return not Written(Known(self.given)).difference(link)

    def is_leap(self, link: t.Relation) -> bool:
        """Whether a step says what was to be shown, up to algebra in passing and a number in front."""
        if self.is_built_in:
            restated = is_multiple(self.written.difference(link), self.goal)
            return restated or (self.is_one_law and self._needs_all_laws(link))
        if len(self.without_a_law) > 1 and self._needs_all_laws(link):
            return True  # relu(H_p W_1 + 1 b_1) W_2 + 1 b_2 = P Z is Z_p = P Z with Z_p written out
        mine = gap(link.terms, self.bare)
        wholes = (
            gap(sides, self.bare) for sides in self._times((self.start, self.end))
        )
        if not any(multiple(mine, whole) not in (None, 0) for whole in wholes):
            return False
        kept = frozenset(
            {"columns", "singular values", "diagonal", "positive"}
        )  # they make no product shorter
        loose = {about: said & kept for about, said in self.given.facts.items()}
        opened = gap(link.terms, replace(self.given, facts=loose))
        return (
            opened is None or not opened.is_zero
        )  # ||A|| = ||U S V^T|| only says what A is

    def _times(self, sides: tuple[t.Node, ...]) -> list[tuple[t.Node, ...]]:
        """The two, and the two times a matrix that has an inverse."""
        turning = [
            t.Name(name)
            for name, facts in self.given.facts.items()
            if facts & {"permutation", "orthogonal"}
        ]
        factors = [factor for name in turning for factor in (name, t.Transpose(name))]
        return [
            sides,
            *(tuple(t.Product((factor, side)) for side in sides) for factor in factors),
        ]

    def leads(self, steps: Sequence[t.Relation]) -> bool:
        """Whether what is to be shown is a sum of multiples of steps: a chain is, and so is one with a term moved.

        An equation may be taken any number of times, also less than none; an inequality not less than none.
        """
        if self.is_built_in:
            equations = [step for step in steps if step.comparisons == ("=",)]
            return bool(self.goal) and in_span(
                self.goal, map(self.written.difference, equations)
            )
        passing = self.passing
        whole = gap((self.start, self.end), passing)
        equal, above = [], []
        for step in steps:
            sign = step.comparisons[0]
            if sign == "=":
                equal += [
                    one
                    for sides in self._times(step.terms)
                    if (one := gap(sides, passing)) is not None
                ]
            elif sign in ORDERS and self.wanted != "=":
                sides = step.terms if sign[0] == self.wanted[0] else step.terms[::-1]
                above += [one for one in (gap(sides, passing),) if one is not None]
        sizes = [
            prepared(Known(passing)).algebra.sizes.of(size)
            for size in Known(passing).sized
        ]
        return whole is not None and adds_up(whole, equal, above, sizes)

    def follows(self, steps: Sequence[t.Relation]) -> bool:
        """Whether a leap is a small step once the others are taken: H_p = P H, and then Z_p = P Z."""
        if self.is_built_in:
            return False
        given = self.given
        equal = [
            sides
            for link in steps
            if link.comparisons == ("=",)
            for sides in self._times(link.terms)
        ]
        shown: dict[str, t.Node] = {}
        for name, definition in given.definitions.items():
            if name not in self.spoken:
                found = _reached(named(name), equal, self.passing)
                new = [last for last in found if last not in (named(name), definition)]
                if new and (len(found) > 2 or self._is_plain(name, new[-1])):
                    shown[name] = new[-1]
        opened = {
            name: given.definitions[name]
            for name in self.spoken
            if name in given.definitions
        }
        taken = replace(self.bare, definitions={**opened, **shown})
        return bool(shown) and proves(t.Relation((self.start, self.end), ("=",)), taken)

    def _is_plain(self, name: str, value: t.Node) -> bool:
        """Whether a name has a value by linear algebra alone: Q_p = P Q has, H_p = P H needs a law of softmax.

        What needs a law is shown by its steps: 'H_p = P H' alone says what is to be shown one layer further down.
        """
        if not self.without_a_law:
            return True
        return self._is_shown(
            (named(name), value), replace(self.given, laws=frozenset())
        )


def _reached(
    first: t.Node, links: Sequence[tuple[t.Node, ...]], passing: Given
) -> list[t.Node]:
    """Where links lead to, one after the other, from what is written alike up to algebra that needs no definition."""
    gaps = {
        link[0]: None if link[0] == first else gap((link[0], first), passing)
        for link in links
    }
    reached = [
        x
        for x, found in gaps.items()
        if x == first or (found is not None and found.is_zero)
    ]
    for place in reached:  # grows while it is read
        reached += [
            link[1] for link in links if link[0] == place and link[1] not in reached
        ]
    return reached
