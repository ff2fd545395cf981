"""The verdict as data. Its sentences are made in `sentences`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from headwright.conformance.judging import Comparison, Element


class Word(StrEnum):
    """What is said of an output."""

    WITHIN = "within"
    OUTSIDE = "outside"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class ContractResult:
    """What one contract says of an output."""

    contract: str
    word: Word
    ratio: float


@dataclass(frozen=True)
class FittingHypothesis:
    """A mistake that would explain an output: with it, the output is within a bound."""

    name: str
    sentence: str
    contract: str
    ratio: float
    rows: int  # on so many rows it was tried


@dataclass(frozen=True, eq=False)
class ConformanceVerdict:
    """Whether an output of attention is right up to the roundings of a contract.

    `ratios` is error / bound, (batch, heads, rows, dim), over the rows of `rows`.
    """

    word: Word
    contract: str
    ratio: float
    worst: Element
    results: tuple[ContractResult, ...]
    hypotheses: tuple[FittingHypothesis, ...]
    number_type: str
    rows: np.ndarray
    total_rows: int
    unjudged: int
    empty_rows: int
    ratios: np.ndarray

    @property
    def explanation(self) -> str:
        """The reasons in one or two sentences."""
        from headwright.conformance.sentences import explain

        return explain(self)

    def __str__(self) -> str:
        from headwright.conformance.sentences import summarise

        return summarise(self)

    def __repr__(self) -> str:
        return f"<{self}>"

    def to_json(self) -> dict[str, Any]:
        """What scripts read; a number that is not finite is null."""
        worst = {
            "batch": self.worst.batch,
            "head": self.worst.head,
            "row": self.worst.row,
            "column": self.worst.column,
            "value": _finite(self.worst.value),
            "exact": _finite(self.worst.exact),
            "error": _finite(self.worst.error),
            "bound": _finite(self.worst.bound),
        }
        return {
            "verdict": str(self.word),
            "contract": self.contract,
            "ratio": _finite(self.ratio),
            "explanation": self.explanation,
            "worst": worst,
            "contracts": [
                {
                    "contract": result.contract,
                    "verdict": str(result.word),
                    "ratio": _finite(result.ratio),
                }
                for result in self.results
            ],
            "hypotheses": [
                {
                    "name": hypothesis.name,
                    "sentence": hypothesis.sentence,
                    "contract": hypothesis.contract,
                    "ratio": _finite(hypothesis.ratio),
                    "rows": hypothesis.rows,
                }
                for hypothesis in self.hypotheses
            ],
            "type": self.number_type,
            "rows_judged": len(self.rows),
            "rows": self.total_rows,
            "elements_not_judged": self.unjudged,
            "rows_that_see_no_key": self.empty_rows,
            "kinds": {"verdict": "proven", "ratio": "floating-point"},
        }


def word_of(comparison: Comparison) -> Word:
    """Outside if one element is; undecided if the bound says nothing of some."""
    if comparison.ratio > 1:
        return Word.OUTSIDE
    if comparison.unjudged > 0:
        return Word.UNDECIDED
    return Word.WITHIN


def decide(comparisons: list[Comparison]) -> tuple[Word, Comparison]:
    """The word, and the comparison that it rests on: the strictest that holds.

    Outside is outside every contract that was tried; the strictest one is shown.
    """
    words = [word_of(comparison) for comparison in comparisons]
    if Word.WITHIN in words:
        return Word.WITHIN, comparisons[words.index(Word.WITHIN)]
    if Word.UNDECIDED in words:
        return Word.UNDECIDED, comparisons[words.index(Word.UNDECIDED)]
    return Word.OUTSIDE, comparisons[0]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
