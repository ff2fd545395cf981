"""Counts compared; of a wrong one the mistake that gives this number is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headwright.grading.decision import Decision
from headwright.grading.exact_arrays.prover import ArrayProver
from headwright.grading.judging import Claim, Outcome, judged
from headwright.grading.kinds.counting.counts import Counting, Counts
from headwright.grading.kinds.counting.mistakes import name_mistake
from headwright.grading.scalars import Scalar


@dataclass(frozen=True)
class CountingProver(ArrayProver):
    """Decides comparisons of counts, and says which mistake a wrong one is."""

    table: Counting = field(kw_only=True)
    counts: Counts = field(kw_only=True)
    declared: Mapping[str, Scalar] = field(kw_only=True)

    def decide(self, claim: Claim) -> list[Outcome]:
        """One comparison of numbers."""
        outcomes = super().decide(claim)
        return [self.explained(outcome, claim) for outcome in outcomes]

    def explained(self, outcome: Outcome, claim: Claim) -> Outcome:
        """A goal that is not met, with the mistake that gives this number."""
        if claim.role != "goal":
            return outcome
        counted = self.reader.scalar(claim.link.terms[0])
        if self.table.one_term and len(counted.over) * len(counted.under) != 1:
            words = f"{counted} is a sum: the one term that dominates is asked for"
            return judged(claim, Decision("refuted", words), words)
        if outcome.decision.word != "refuted":
            return outcome
        mistake = name_mistake(
            counted,
            self.counts,
            self.declared,
            operations=self.table.unit == "FLOPs",
            one_term=self.table.one_term,
            within=self.table.within,
        )
        if not mistake:
            return outcome
        words = f"{mistake} ({outcome.part.reason})"
        return replace(outcome, part=replace(outcome.part, reason=words))
