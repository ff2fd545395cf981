"""An answer that says that there is no such query: proved or refuted by a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwright.formulas import tree as t
from headwright.grading.answer import UndeterminedError
from headwright.grading.decision import Decision
from headwright.grading.exact_arrays.prover import ArrayProver
from headwright.grading.judging import Claim, Outcome, judged
from headwright.grading.kinds.numeric_design.possible import Possible


@dataclass(frozen=True)
class NoneProver(ArrayProver):
    """Decides whether no query meets the goals."""

    possible: Possible = field(kw_only=True)
    chosen: frozenset[str] = frozenset()  # what depends on the query

    def decide(self, claim: Claim) -> list[Outcome]:
        """Every goal is met by what is said if no query meets all of them."""
        if claim.role != "goal":
            bases = {name.base for name in t.every_name(claim.node)}
            if bases & self.chosen:
                raise UndeterminedError("no query is given: what one would do is open")
            return super().decide(claim)
        words = self.possible.words
        match self.possible.is_possible:
            case True:
                decision = Decision("refuted", words)
            case False:
                decision = Decision("proved", words, used="a certificate")
            case None:
                words = "whether there is such a query is not known"
                decision = Decision("undecided", words)
        return [judged(claim, decision, words)]
