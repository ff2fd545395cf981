"""Comparisons of exact arrays: entry by entry, for every value of the letters in their indices.

Exactly, or within a tolerance where the exercise allows one: then the distance of the two sides is enclosed in a ball,
and the comparison is proved where all of the ball is within the tolerance, refuted where none of it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import ClassVar

from flint import arb

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading import answer as an
from headwright.grading import scalars
from headwright.grading.decision import Decision, Tending, decide, most_telling
from headwright.grading.exact_arrays.angles import vanishes
from headwright.grading.exact_arrays.array import (
    ZERO,
    ExactArray,
    MisshapenError,
    in_words,
)
from headwright.grading.exact_arrays.reader import ArrayReader
from headwright.grading.judging import SIGNS, Claim, Outcome, at, contrasted, judged
from headwright.grading.scalars import Scalar, Where
from headwright.grading.scalars.numbers import ball_of, ends

BITS = 256
MOST_INSTANCES = 400  # of the letters in indices
ABOUT = Fraction(1, 100)  # how near 'approximately' is, relative, where nothing is said
NOT_ABOUT = Fraction(1, 10)  # from here on it is certainly wrong
DUST = Fraction(1, 10**30)  # a number that may be 0, and is smaller, is shown as 0


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from what was asked for."""

    absolute: Fraction | None = None
    relative: Fraction | None = None

    def allowed(self, right: Scalar) -> Scalar:
        """The largest distance from the right side."""
        if self.relative is not None:
            return scalars.number(self.relative) * scalars.absolute(right)
        return scalars.number(self.absolute or Fraction(0))

    def __str__(self) -> str:
        if self.relative is not None:
            return f"{float(100 * self.relative):g}%"
        return f"{float(self.absolute or 0):g}"


@dataclass(frozen=True)
class Entry:
    """One number on each side of a comparison, and where it stands."""

    left: Scalar
    right: Scalar
    place: str = ""  # 'entry 2', 'i = 1 and j = 2'


@dataclass(frozen=True)
class ArrayProver:
    """Decides comparisons of arrays."""

    reader: ArrayReader
    tolerance: Tolerance | None = None
    large: tuple[str, ...] = ()  # given names that go to infinity
    given: Sequence[tuple[Scalar, str, Scalar]] = ()  # of the parameters
    under: tuple[t.Node, ...] = ()  # what the answer says of its own names
    claims: tuple[an.Said, ...] = ()
    conditions: ClassVar[tuple[Outcome, ...]] = ()
    letters: tuple[str, ...] = ()  # that stand for places, in indices

    def decide(self, claim: Claim) -> list[Outcome]:
        """One comparison: proved if it is for every entry, refuted if it is not for one."""
        link = claim.link
        decisions: list[Decision] = []
        try:
            entries = list(self.entries(link, claim.under))
        except MisshapenError as error:
            words = str(error)
            return [judged(claim, Decision("refuted", words), words)]
        if not entries:
            raise an.MisfitError("this is said of no case that can occur", link)
        for entry in entries:
            decision = self.decide_entry(entry, link, claim)
            decisions.append(decision)
            if decision.word == "refuted":
                break
        worst = without_dust(most_telling(decisions))
        entry = entries[len(decisions) - 1]
        words = self.in_words(link, entry, worst)
        if worst.word == "proved" and len(entries) > 1:
            words = self.of_all_entries(decisions, link)
        if claim.negated:
            raise an.MisfitError("that two things differ is not judged here", link)
        return [judged(claim, worst, words)]

    # Which numbers are compared

    def entries(self, link: t.Relation, under: tuple[t.Node, ...]) -> Iterator[Entry]:
        """The numbers of both sides, for all values of the letters that meet the conditions."""
        letters = self.free_letters(link)
        ranges = [range(1, letters[letter] + 1) for letter in letters]
        count = 1
        for places in ranges:
            count *= len(places)
        if count > MOST_INSTANCES:
            raise an.MisfitError("too many cases of the indices", link)
        for values in product(*ranges):
            here = dict(zip(letters, values, strict=True))
            reader = replace(self.reader, indices={**self.reader.indices, **here})
            conditions = [part for part in under if self.is_about(part, here)]
            if not all(reader.holds(part) for part in conditions):
                continue
            told = ", ".join(f"{letter} = {value}" for letter, value in here.items())
            yield from self.pairs(reader, link, told)

    @staticmethod
    def is_about(condition: t.Node, letters: Collection[str]) -> bool:
        """Whether a condition chooses values of the letters; 'for all i' chooses all."""
        if isinstance(condition, t.Name):
            return False
        names = an.full_names(condition)
        return bool(names) and names <= set(letters)

    def pairs(
        self, reader: ArrayReader, link: t.Relation, place: str
    ) -> Iterator[Entry]:
        """The numbers of both sides, for one value of each letter."""
        left, right = (reader.value(term) for term in link.terms)
        left, right = fitted(left, right)
        if left.shape != right.shape:
            raise MisshapenError(
                f"{plain(link.terms[0])} is {in_words(left.shape)}, "
                f"{plain(link.terms[1])} is {in_words(right.shape)}"
            )
        columns = left.shape[1]
        for number, (x, y) in enumerate(zip(left.entries, right.entries, strict=True)):
            told = place
            if not left.is_number:
                row, column = divmod(number, columns)
                told = f"entry {number + 1}"
                if not left.is_vector:
                    told = f"row {row + 1}, column {column + 1}"
            yield Entry(x, y, told)

    def free_letters(self, link: t.Relation) -> dict[str, int]:
        """The letters in indices that stand for any place, with the number of their values."""
        bound = {node.index for node in t.walk(link) if isinstance(node, t.BigSum)}
        letters: dict[str, int] = {}
        for name in t.every_name(link):
            if name.index is None or an.full_name(name) in self.reader.definitions:
                continue
            for letter in letters_of(name.index):
                if letter not in self.letters or letter in bound or letter in letters:
                    continue
                sizes = self.reader.sizes_of(letter, link)
                if len(sizes) != 1:
                    raise an.MisfitError(
                        f"which values {letter} has, is not known", name
                    )
                letters[letter] = sizes.pop()
        return letters

    # One number on each side

    def decide_entry(self, entry: Entry, link: t.Relation, claim: Claim) -> Decision:
        """Proved, refuted or left open."""
        sign = link.comparisons[0]
        where = self.where(entry, claim.under)
        large = self.growing(entry)
        constant = not (entry.left.names() | entry.right.names())
        if constant and sign in ("=", "~"):
            return self.decide_constant(entry, sign)
        if sign == "~" and large and not constant:
            return self.decide_ratio(entry, where, large)
        if constant and sign in ("<", ">", "<=", ">="):
            ordered = self.decide_order(entry, sign)
            if ordered is not None:
                return ordered
        tending = Tending(large, given=frozenset(self.reader.parameters))
        if sign == "=" and not constant and vanishes(entry.left - entry.right):
            return Decision("proved", "both sides are equal", used="exact algebra")
        if sign != "=" or self.tolerance is None:
            return decide(entry.left, sign, entry.right, where, tending)
        exact = decide(entry.left, "=", entry.right, where)
        if exact.word == "proved":
            return exact
        gap = scalars.absolute(entry.left - entry.right)
        allowed = self.tolerance.allowed(entry.right)
        return decide(gap, "<=", allowed, where, tending)

    def decide_constant(self, entry: Entry, sign: str) -> Decision:
        """Two numbers: the same, within the tolerance, or not."""
        gap = entry.left - entry.right
        if gap == ZERO:
            return Decision("proved", "both sides are equal", used="exact algebra")
        left, right = entry.left.value(bits=BITS), entry.right.value(bits=BITS)
        distance = abs(gap.value(bits=BITS))
        tolerance = self.tolerance
        if sign == "~" and tolerance is None:
            tolerance = Tolerance(relative=ABOUT)
        if tolerance is None:
            if not distance.contains(0):
                return Decision("refuted", "", left=left, right=right)
            return decide(entry.left, "=", entry.right, Where())
        allowed = tolerance.allowed(entry.right).value(bits=BITS)
        if certainly_at_most(distance, allowed):
            near = f"within {tolerance} of {shown_value(right)}"
            return Decision("proved", near, used="enclosures")
        refutes = certainly_at_most(allowed, distance)
        if sign == "~" and refutes:
            far = ball_of(NOT_ABOUT) * abs(right)
            refutes = certainly_at_most(far, distance)
        if refutes:
            return Decision("refuted", "", left=left, right=right)
        return Decision("undecided", f"it is about as far off as {tolerance}")

    @staticmethod
    def decide_order(entry: Entry, sign: str) -> Decision | None:
        """Which of two numbers is larger; None where they may be equal."""
        left, right = entry.left.value(bits=BITS), entry.right.value(bits=BITS)
        if left.overlaps(right) or not (left.is_finite() and right.is_finite()):
            return None
        holds = bool(left > right) == (sign in (">", ">="))
        if not holds:
            return Decision("refuted", "", left=left, right=right)
        return Decision("proved", "", used="enclosures", left=left, right=right)

    def decide_ratio(
        self, entry: Entry, where: Where, large: tuple[str, ...]
    ) -> Decision:
        """left ~ right as names grow: their quotient tends to 1."""
        if entry.right == ZERO:
            return decide(entry.left, "=", entry.right, where)
        ratio = entry.left / entry.right
        given = frozenset(self.reader.parameters)
        return decide(
            ratio, "->", scalars.number(1), where, Tending(large, given=given)
        )

    def where(self, entry: Entry, under: tuple[t.Node, ...]) -> Where:
        """What is known of the names: ranges, what is given, what the claim is said for."""
        names = entry.left.names() | entry.right.names()
        hypotheses = list(self.given)
        for condition in (*self.under, *under):
            hypotheses += self.hypotheses(condition)
        for left, _, right in hypotheses:
            names |= left.names() | right.names()
        # an open variable is any number; one of the answer's own is positive
        other = scalars.POSITIVE if self.reader.free_numbers else scalars.REAL
        ranges = {name: self.reader.parameters.get(name, other) for name in names}
        return Where(ranges).given(*hypotheses)

    def hypotheses(self, condition: t.Node) -> list[tuple[Scalar, str, Scalar]]:
        """A condition as comparisons of numbers; one that chooses values of letters says nothing of numbers."""
        if isinstance(condition, t.Name) and self.may_grow(condition):
            return []  # 'as T grows', 'with lambda large'
        if self.is_about(condition, self.letters) or self.chooses_all(condition):
            return []
        if not isinstance(condition, t.Relation):
            raise an.MisfitError("this condition is not understood", condition)
        found: list[tuple[Scalar, str, Scalar]] = []
        for link in an.comparisons(condition):
            (sign,) = link.comparisons
            if sign == "->" and self.sends_large(link):
                continue
            if sign not in ("=", "<", ">", "<=", ">="):
                raise an.MisfitError("this condition is not understood", link)
            left, right = (self.reader.scalar(term) for term in link.terms)
            found.append((left, sign, right))
        return found

    def chooses_all(self, condition: t.Node) -> bool:
        """'for all i', 'for all L'."""
        known = {*self.letters, *self.reader.parameters}
        return isinstance(condition, t.Name) and an.full_name(condition) in known

    def sends_large(self, link: t.Relation) -> bool:
        """'as T -> infinity', of a name that the exercise sends there."""
        name, end = link.terms
        return isinstance(name, t.Name) and self.may_grow(name) and end == t.INFINITY

    def may_grow(self, name: t.Name) -> bool:
        """Whether a name goes to infinity: one that the exercise sends there, or one of the answer's own."""
        full = an.full_name(name)
        own = self.reader.free_numbers and full not in self.reader.definitions
        return full in self.large or (own and full not in self.reader.parameters)

    def growing(self, entry: Entry) -> tuple[str, ...]:
        """The names that go to infinity: given ones that are large, and the answer's own that nothing bounds."""
        names = entry.left.names() | entry.right.names()
        bounded: set[str] = set()
        for condition in self.under:
            if self.hypotheses(condition):
                bounded |= an.full_names(condition)
        own = names - set(self.reader.parameters) - bounded
        return tuple(sorted((set(self.large) & names) | own))

    def of_all_entries(self, decisions: Sequence[Decision], link: t.Relation) -> str:
        """Why a comparison of arrays holds."""
        exact = all(decision.used != "enclosures" for decision in decisions)
        if link.comparisons[0] not in ("=", "~"):
            return most_telling(decisions).reason
        if exact:
            return "both sides are equal, entry by entry"
        return f"every entry is within {self.tolerance}"

    def in_words(self, link: t.Relation, entry: Entry, decision: Decision) -> str:
        """What was decided, with the place where it fails."""
        sign = link.comparisons[0]
        if decision.word != "refuted":
            if decision.left is None or decision.reason:
                return decision.reason
            told = f"{plain(link.terms[0])} is {shown_value(decision.left)}"
            return f"{told}, {SIGNS[sign]} {plain(link.terms[1])}"
        where = at(decision.values) if decision.values else ""
        where = " and ".join(part for part in (entry.place, where) if part)
        where = f"{where}: " if where else ""
        left = plain(link.terms[0])
        if entry.place.startswith(("entry", "row")):
            where = f"with {at(decision.values)}: " if decision.values else ""
            left = f"{entry.place} of {left}"
        if decision.left is None or decision.right is None:
            because = f": {decision.reason}" if decision.reason else ""
            return f"{where}{plain(link)} is false{because}"
        return f"{where}{left} is {contrasted(decision.left, sign, decision.right)}"


def letters_of(index: t.Node) -> Iterator[str]:
    """The letters in an index: i, or i and j of 'ij' and 'i,j'."""
    for item in t.listed(index):
        text = an.label(item)
        if text.isalpha() and len(text) <= 2:
            yield from text


def fitted(left: ExactArray, right: ExactArray) -> tuple[ExactArray, ExactArray]:
    """A written 0 has any shape; a vector may be written as a row or as a column."""
    if left.is_vector and right.is_vector and left.shape == right.shape[::-1]:
        return left, right.transposed()
    if right.is_number and right.entries[0] == ZERO:
        return left, ExactArray.filled(left.shape, ZERO)
    if left.is_number and left.entries[0] == ZERO:
        return ExactArray.filled(right.shape, ZERO), right
    return left, right


def certainly_at_most(left: arb, right: arb) -> bool:
    """Whether every number of one ball is at most every number of the other."""
    return bool(left <= right)


def without_dust(decision: Decision) -> Decision:
    """A decision whose sides are shown as 0 where they are 0 to forty digits."""
    left, right = decision.left, decision.right
    return replace(decision, left=as_zero(left), right=as_zero(right))


def as_zero(value: arb | None) -> arb | None:
    """0, where a ball around 0 is that small."""
    if value is None or not abs(value) < ball_of(DUST):
        return value
    return arb(0) if value.contains(0) else value


def shown_value(value: arb) -> str:
    """A number for people: 1557611200, 0.6698."""
    low, high = ends(value)
    if low == high and low.denominator == 1 and abs(low) < 10**15:
        return str(low)
    text: str = value.str(6, radius=False)
    return text


__all__ = ["ArrayProver", "Entry", "MisshapenError", "Tolerance"]
