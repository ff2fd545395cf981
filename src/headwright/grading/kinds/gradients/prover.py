"""Derivatives compared with what was written for them; of a wrong one the slip is named: a sign, a transpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.decision import Decision
from headwright.grading.exact_arrays import ExactArray
from headwright.grading.exact_arrays.array import ONE, ZERO
from headwright.grading.exact_arrays.prover import ArrayProver, Entry, fitted
from headwright.grading.judging import Claim, Outcome, refuted
from headwright.grading.scalars import Scalar

CONSTANTS = {"e", "pi", "I", "ones", "delta", "sigma"}


@dataclass(frozen=True)
class GradientProver(ArrayProver):
    """Decides comparisons of arrays with derivatives in them."""

    simplex: Mapping[str, Scalar] = field(kw_only=True)  # y_3 = 1 - y_1 - y_2
    answered: Mapping[str, t.Node] = field(kw_only=True)
    mistakes: Mapping[str, Mapping[str, t.Node]] = field(kw_only=True)
    in_terms_of: tuple[str, ...] | None = None

    def decide(self, claim: Claim) -> list[Outcome]:
        """One comparison; what was asked for must be written without derivatives.

        A wrong value is refuted however it is written.
        """
        outcomes = super().decide(claim)
        if not refuted(outcomes):
            self.check_written(claim)
        return [self.explained(outcome, claim) for outcome in outcomes]

    def check_written(self, claim: Claim) -> None:
        """What was asked for must be without derivatives, in the names that the exercise allows."""
        asked = claim.link.terms[0]
        if claim.role != "goal" or not isinstance(asked, t.Name):
            return
        if self.has_derivatives(asked):
            raise an.MisfitError("a derivative is still to be taken in this", asked)
        if self.in_terms_of is not None:
            for name in self.names_behind(asked) - set(self.in_terms_of):
                raise an.MisfitError(f"this is written in {name}", asked)

    def names_behind(self, node: t.Node, depth: int = 0) -> set[str]:
        """The names that a formula uses, without those that the answer defines itself, and without constants."""
        names: set[str] = set()
        for name in t.every_name(node):
            meaning = self.answered.get(an.full_name(name))
            if meaning is None:
                names.add(name.base)
            elif depth <= len(self.answered):
                names |= self.names_behind(meaning, depth + 1)
        return names - CONSTANTS

    def has_derivatives(self, node: t.Node, depth: int = 0) -> bool:
        """Whether a formula, or what its names stand for, has a derivative in it."""
        for part in t.walk(node):
            if isinstance(part, t.Derivative):
                return True
            if isinstance(part, t.Name) and depth < len(self.answered):
                meaning = self.answered.get(an.full_name(part))
                if meaning is not None and self.has_derivatives(meaning, depth + 1):
                    return True
        return False

    def decide_entry(self, entry: Entry, link: t.Relation, claim: Claim) -> Decision:
        """Two numbers, where the entries of distributions sum to 1."""
        left, right = entry.left.put(self.simplex), entry.right.put(self.simplex)
        return super().decide_entry(replace(entry, left=left, right=right), link, claim)

    def explained(self, outcome: Outcome, claim: Claim) -> Outcome:
        """A wrong derivative, with its slip."""
        if claim.role != "goal" or outcome.word != "refuted":
            return outcome
        left, right = claim.link.terms
        slip = self.slip(
            an.full_name(left) if isinstance(left, t.Name) else "", left, right
        )
        if not slip:
            return outcome
        words = f"{slip} ({outcome.reason})"
        return replace(outcome, reason=words)

    def slip(self, name: str, left: t.Node, right: t.Node) -> str:
        """The slip that gives this value; '' where none is known that does."""
        wrong, true = fitted(self.reader.value(left), self.reader.value(right))
        for words, values in self.mistakes.items():
            if name in values and self.same(wrong, self.reader.value(values[name])):
                return words
        if self.same(wrong, true.scaled(-ONE)):
            return "the sign is wrong"
        if self.same(wrong, true.transposed()):
            return "this is the transpose"
        return self.factor(wrong, true)

    def same(self, left: ExactArray, right: ExactArray) -> bool:
        """Whether two arrays have the same entries."""
        left, right = fitted(left, right)
        if left.shape != right.shape:
            return False
        gaps = [entry.put(self.simplex) for entry in left.minus(right).entries]
        return all(gap == ZERO for gap in gaps)

    def factor(self, wrong: ExactArray, true: ExactArray) -> str:
        """By which number all entries are off."""
        if wrong.shape != true.shape:
            return ""
        ratios = set()
        for x, y in zip(wrong.entries, true.entries, strict=True):
            if y != ZERO:
                ratios.add((x.put(self.simplex) / y.put(self.simplex)).rational)
        ratio = ratios.pop() if len(ratios) == 1 else None
        if ratio is None or ratio == 0:
            return ""
        return f"this is {ratio} times the right value"
