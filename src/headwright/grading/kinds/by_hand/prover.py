"""Values that were worked out by hand, compared with what the steps give; a wrong one is traced to its step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.exact_arrays import ArrayReader
from headwright.grading.exact_arrays.prover import ArrayProver
from headwright.grading.exact_arrays.written import is_worked_out
from headwright.grading.judging import Claim, Outcome
from headwright.grading.kinds.by_hand.mistakes import name_slip

EXACTLY = Fraction(1, 10**30)  # two numbers this near count as one for naming a slip


@dataclass(frozen=True)
class ByHandProver(ArrayProver):
    """Decides comparisons of given numbers, and says which step went wrong."""

    steps: Mapping[str, t.Node] = field(kw_only=True)  # the right ones
    right: ArrayReader = field(kw_only=True)  # without what the answer defines
    answered: Mapping[str, t.Node] = field(kw_only=True)

    def decide(self, claim: Claim) -> list[Outcome]:
        """One comparison of arrays; a value that was asked for has to be worked out."""
        asked = claim.link.terms[0]
        if claim.role == "goal" and not is_worked_out(asked, self.answered):
            raise an.MisfitError("this is a formula: its value is asked for", asked)
        outcomes = super().decide(claim)
        return [self.explained(outcome, claim) for outcome in outcomes]

    def explained(self, outcome: Outcome, claim: Claim) -> Outcome:
        """A value that is wrong, with the slip that gives it."""
        if outcome.word != "refuted":
            return outcome
        slip = self.slip(claim)
        if not slip:
            return outcome
        words = f"{slip} ({outcome.reason})"
        return replace(outcome, reason=words)

    def slip(self, claim: Claim) -> str:
        """Which slip makes a goal or a step wrong; '' where that is not known."""
        left, right = claim.link.terms
        is_step = isinstance(left, t.Name) and an.full_name(left) in self.steps
        if claim.role == "goal":
            value, goal = self.reader.value(left), right
        elif is_step:
            value, goal = self.reader.value(right), left
        else:
            return ""
        return name_slip(value, goal, self.steps, self.right, self.nearness())

    def nearness(self) -> Fraction:
        """How near a value must be to count as the one that a slip gives."""
        if self.tolerance is None or self.tolerance.absolute is None:
            return EXACTLY
        return self.tolerance.absolute
