"""The verdict as data. Its sentences are made in `sentences`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from headwright.conformance.arrays import Array, to_numpy
from headwright.conformance.bound import Vacuity
from headwright.conformance.judging import Comparison, Element


class VerdictWord(StrEnum):
    """What is said of an output."""

    WITHIN = "within"
    OUTSIDE = "outside"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class ContractResult:
    """What one contract says of an output."""

    contract: str
    word: VerdictWord
    ratio: float


@dataclass(frozen=True)
class FittingHypothesis:
    """A mistake that would explain an output: with it, the output is within a bound."""

    name: str
    sentence: str
    contract: str
    ratio: float
    rows: int  # on so many rows it was tried
    lenient: bool = False  # it widens the bound, so that other mistakes fit it, too


@dataclass(frozen=True, eq=False)
class GradientVerdict:
    """Whether dq, dk or dv is right up to the roundings of a backward pass.

    Nothing is proved about `unjudged` elements, where numbers may overflow; where they
    are `insensitive`, zero would be within the bound as well.
    """

    name: str
    word: VerdictWord
    contract: str
    ratio: float
    worst: Element  # its row is a token: a key for dk and dv
    unjudged: int
    insensitive: int
    elements: int
    ratios: np.ndarray

    def __str__(self) -> str:
        from headwright.conformance.sentences import summarise_gradient

        return summarise_gradient(self)

    def to_json(self) -> dict[str, Any]:
        """What scripts read; a number that is not finite is null."""
        return {
            "gradient": self.name,
            "verdict": str(self.word),
            "contract": self.contract,
            "ratio": _finite(self.ratio),
            "worst": _element(self.worst),
            "elements": self.elements,
            "elements_not_judged": self.unjudged,
            "elements_insensitive": self.insensitive,
        }


@dataclass(frozen=True, eq=False)
class ConformanceVerdict:
    """Whether an output of attention is right up to the roundings of a contract.

    `ratios` is error / bound, (batch, heads, rows, dim), over the rows of `rows`. With
    gradients, `word` is about them as well: the worst of all.
    """

    output_word: VerdictWord
    contract: str
    ratio: float
    worst: Element
    results: tuple[ContractResult, ...]
    hypotheses: tuple[FittingHypothesis, ...]
    number_type: str
    rows: np.ndarray
    total_rows: int
    unjudged: dict[Vacuity, int]  # elements that are not judged, by the reason
    empty_rows: int
    margin: float  # the mean bound, divided by the mean of sum_j weight_j |v_j|
    ratio_array: Array  # as `ratios`, where the output is
    gradients: tuple[GradientVerdict, ...] = ()

    @cached_property
    def ratios(self) -> np.ndarray:
        """Error / bound of every element, copied when it is first asked for."""
        return to_numpy(self.ratio_array)

    @property
    def word(self) -> VerdictWord:
        """Outside if the output or a gradient is; undecided if one is; else within."""
        words = [self.output_word, *(gradient.word for gradient in self.gradients)]
        for word in (VerdictWord.OUTSIDE, VerdictWord.UNDECIDED):
            if word in words:
                return word
        return VerdictWord.WITHIN

    @property
    def elements(self) -> int:
        """How many elements were looked at."""
        return math.prod(self.ratio_array.shape)

    @property
    def unjudged_elements(self) -> int:
        """How many elements the bound says nothing of."""
        return sum(self.unjudged.values())

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
        return {
            "verdict": str(self.word),
            "output": str(self.output_word),
            "contract": self.contract,
            "ratio": _finite(self.ratio),
            "explanation": self.explanation,
            "worst": _element(self.worst),
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
                    "lenient": hypothesis.lenient,
                }
                for hypothesis in self.hypotheses
            ],
            "type": self.number_type,
            "rows_judged": len(self.rows),
            "rows": self.total_rows,
            "elements_not_judged": self.unjudged_elements,
            "reasons_not_judged": {
                str(reason): number for reason, number in self.unjudged.items()
            },
            "margin": _finite(self.margin),
            "rows_that_see_no_key": self.empty_rows,
            "gradients": [gradient.to_json() for gradient in self.gradients],
            "kinds": {"verdict": "proven", "ratio": "floating-point"},
        }


def word_of(comparison: Comparison) -> VerdictWord:
    """Outside if one element is; undecided if the bound says nothing of some."""
    if comparison.ratio > 1:
        return VerdictWord.OUTSIDE
    if comparison.unjudged:
        return VerdictWord.UNDECIDED
    return VerdictWord.WITHIN


def decide(comparisons: list[Comparison]) -> tuple[VerdictWord, Comparison]:
    """The word, and the comparison that it rests on: the strictest that holds.

    Outside is outside every contract that was tried; the strictest one is shown.
    """
    words = [word_of(comparison) for comparison in comparisons]
    if VerdictWord.WITHIN in words:
        return VerdictWord.WITHIN, comparisons[words.index(VerdictWord.WITHIN)]
    if VerdictWord.UNDECIDED in words:
        return VerdictWord.UNDECIDED, comparisons[words.index(VerdictWord.UNDECIDED)]
    return VerdictWord.OUTSIDE, comparisons[0]


def _element(element: Element) -> dict[str, int | float | None]:
    return {
        "batch": element.batch,
        "head": element.head,
        "row": element.row,
        "column": element.column,
        "value": _finite(element.value),
        "exact": _finite(element.exact),
        "error": _finite(element.error),
        "bound": _finite(element.bound),
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
