"""Counts compared; of a wrong one the mistake that gives this number is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.decision import Decision
from headwright.grading.exact_arrays import ArrayReader
from headwright.grading.exact_arrays.prover import ArrayProver, Entry
from headwright.grading.judging import Claim, Outcome, judged
from headwright.grading.kinds.counting.counts import Counting, Counts
from headwright.grading.kinds.counting.mistakes import name_mistake
from headwright.grading.scalars import Scalar


@dataclass(frozen=True)
class CountingProver(ArrayProver):
    """Decides comparisons of counts, and says which mistake a wrong one is."""

    counting: ArrayReader = field(kw_only=True)  # knows what is counted; no answer does
    table: Counting = field(kw_only=True)
    counts: Counts = field(kw_only=True)
    declared: Mapping[str, Scalar] = field(kw_only=True)

    def decide(self, claim: Claim) -> list[Outcome]:
        """One comparison of numbers; what is counted has a name in goals only."""
        if claim.role != "goal" and an.full_names(claim.link) & set(
            self.counting.arrays
        ):
            raise an.MisfitError("this is not a name of the exercise", claim.link)
        outcomes = super().decide(claim)
        return [self.explained(outcome, claim) for outcome in outcomes]

    def pairs(
        self, reader: ArrayReader, link: t.Relation, place: str
    ) -> Iterator[Entry]:
        """The numbers of both sides; a goal compares what was answered with what is counted."""
        left, right = link.terms
        counted = an.full_names(right) & set(self.counting.arrays)
        if not counted:
            yield from super().pairs(reader, link, place)
            return
        yield Entry(reader.scalar(left), self.counting.scalar(right), place)

    def explained(self, outcome: Outcome, claim: Claim) -> Outcome:
        """A goal that is not met, with the mistake that gives this number."""
        if claim.role != "goal":
            return outcome
        counted = self.reader.scalar(claim.link.terms[0])
        if self.table.one_term and len(counted.over) * len(counted.under) != 1:
            words = f"{counted} is a sum: the one term that dominates is asked for"
            return judged(claim, Decision("refuted", words), words)
        if outcome.word != "refuted":
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
        words = f"{mistake} ({outcome.reason})"
        return replace(outcome, reason=words)
