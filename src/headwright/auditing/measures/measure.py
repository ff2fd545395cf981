"""What a measure is: its name and meaning, how it is shown, how it is computed, summed and concluded.

A measure looks at a layer on a document, or at the weights of a layer, and gives arrays with an entry for each head.
These are added over documents (see `summary`); at the end the measure concludes from the sums what is reported of a
head. The measures there are stand in `table`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from headwright.auditing.documents import Document
from headwright.auditing.measures.circuits import (
    OutputShare,
    Spectrum,
    circuit_spectra,
    output_products,
    output_shares,
    weight_products,
)
from headwright.auditing.measures.composition import (
    NOT_COMPOSED,
    LargestComposition,
    largest_compositions,
)
from headwright.auditing.measures.first_token import (
    AwayFromFirst,
    duplicate_weight,
    rows_away,
)
from headwright.auditing.measures.key_ranges import (
    LargestSize,
    bound_of,
    shown_sizes,
)
from headwright.auditing.measures.rounding import (
    BOUND,
    FLIP,
    FORMATS,
    TV,
    Buffers,
    RoundingEffect,
    rounding,
    sample_rows,
)
from headwright.auditing.measures.shuffling import ShuffleEffect
from headwright.auditing.measures.summary import (
    Draws,
    Mean,
    Quantiles,
    Summary,
    bin_counts,
    mean_of,
    quantile,
    ratio_sums,
)
from headwright.models.model import Circuits, LayerActivations, numbers

Rows = Float[np.ndarray, "heads rows"]
Result = (
    Mean
    | Quantiles
    | RoundingEffect
    | Spectrum
    | OutputShare
    | ShuffleEffect
    | LargestSize
    | LargestComposition
)

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
OUTPUT_PRODUCTS = "output products"  # sums that the share of the output is made of
WEIGHT_PRODUCTS = "weight products"
# How far the keys are back whose weights are always taken.
OWN = 0
PREVIOUS = 1


@dataclass(frozen=True, eq=False)
class MeasuredLayer:
    """A layer on a document, with what several measures look at."""

    document: Document
    layer: LayerActivations
    rows: AwayFromFirst

    @classmethod
    def of(cls, layer: LayerActivations, document: Document) -> MeasuredLayer:
        """The rows of a layer that ran on this document."""
        return cls(document, layer, rows_away(layer, (OWN, PREVIOUS)))

    @cached_property
    def weight_on_duplicates(self) -> Rows:
        """The weight on earlier positions of the row's own token, away from the first."""
        return duplicate_weight(self.rows, self.document.tokens)

    @cached_property
    def weight_after_duplicates(self) -> Rows:
        """The weight on the positions after these."""
        return duplicate_weight(self.rows, self.document.tokens, after=1)

    @cached_property
    def sampled(self) -> SampledHeads:
        """What needs scores of all keys, from some rows of each head."""
        values = numbers(self.layer.values)
        buffers = Buffers()
        effects = []
        products = []
        # One head at a time: the sampled rows of all heads would take the most memory.
        for head in range(self.rows.scoring.heads):
            sample = sample_rows(self.rows, head, buffers=buffers)
            effects.append(rounding(self.rows, head, sample, buffers))
            of_head = values[self.rows.key_head[head]]
            products.append(output_products(sample, of_head))
        return SampledHeads(np.stack(effects), np.stack(products))


@dataclass(frozen=True, eq=False)
class SampledHeads:
    """What `rounding` and `output_products` found on the sampled rows of each head."""

    rounding: Float[np.ndarray, "heads formats 3 rows"]
    output_products: Float[np.ndarray, "heads e e"]


@dataclass(frozen=True)
class Display:
    """How a measure is shown: a column of the table of heads, and a map if it has a caption."""

    heading: str  # of the column: a word or two
    decimals: int = 2
    percent: bool = False
    caption: str = ""  # of the map
    full_colour: float | None = 1.0  # in a map; None: the largest value there is
    least_full_colour: float = 0.0  # where the largest value is less
    terminal: bool = False  # whether the table on a terminal has the column
    example: str = ""  # title of the head that has most of it, among the examples

    def text(self, value: float) -> str:
        """A value with the decimals of its column."""
        return f"{value:{self.number_format}}"

    @property
    def number_format(self) -> str:
        """As `format` takes it."""
        return f".{self.decimals}{'%' if self.percent else 'f'}"


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """One number of each head, with what is known of it."""

    name: str  # in JSON and in tables of numbers
    title: str
    meaning: str
    unit: str = "weight"
    display: Display | None = None
    # the random tokens that it is measured on (see `Document.induction`); None: the other documents
    repeated: str | None = None

    kind: ClassVar[str] = "number"  # what its results are: a word for scripts
    # Whether its column is left out where no head has a result.
    is_left_out_if_missing: ClassVar[bool] = False

    @property
    def blind_to_sinks(self) -> bool:
        """Whether it says nothing of a head that has nearly all its attention on the first token."""
        return False

    def is_measured_on(self, document: Document) -> bool:
        """Whether a document counts."""
        if self.repeated is None:
            return document.everything
        return document.induction == self.repeated

    def of_rows(self, layer: MeasuredLayer) -> Summary:
        """What one document adds."""
        del layer
        return Summary()

    def of_weights(self, circuits: Circuits) -> Summary:
        """What the weights of a layer add, once."""
        del circuits
        return Summary()

    def of_layers(self, earlier: Sequence[Circuits], circuits: Circuits) -> Summary:
        """What the weights of a layer and of those before it add, once."""
        del earlier, circuits
        return Summary()

    @abstractmethod
    def conclude(self, totals: Summary, head: int, draws: Draws) -> Result | None:
        """The result of a head from the totals of its layer; None where there was nothing to measure it on.

        `draws` says what the documents are.
        """


@dataclass(frozen=True, kw_only=True)
class RowMean(Measure):
    """The mean of a number of each row, over all rows."""

    row_values: Callable[[MeasuredLayer], Rows]
    most: float = 1.0  # no value is larger

    kind: ClassVar[str] = "mean"

    def contribution(self, layer: MeasuredLayer) -> Rows:
        """What each row adds to the sum."""
        return self.row_values(layer)

    def weight(self, layer: MeasuredLayer) -> Rows:
        """What each row counts."""
        return np.ones_like(layer.rows.rest)

    def of_rows(self, layer: MeasuredLayer) -> Summary:
        """The sums of both. Rows of the first period of repeated tokens have nothing to repeat, and are left out."""
        contribution = self.contribution(layer)
        weight = self.weight(layer)
        if self.repeated is not None:
            second_period = layer.document.opening + layer.document.period
            later = layer.rows.positions >= second_period
            contribution = contribution[:, later]
            weight = weight[:, later]
        return Summary({self.name: ratio_sums(contribution, weight)})

    def conclude(self, totals: Summary, head: int, draws: Draws) -> Mean | None:
        """The mean, with its interval; of repeated tokens over these, whatever the other documents are."""
        if self.name not in totals.sums:
            return None
        sums = totals.sums[self.name][head]
        if self.repeated is not None:
            mean = mean_of(sums, "random sequences")
        else:
            mean = mean_of(sums, draws.over, alike=draws.alike)
        return None if mean is None else mean.clipped(self.most)


@dataclass(frozen=True, kw_only=True)
class MeanAway(RowMean):
    """The mean away from the first token: each row counts with its attention that is not on the first token."""

    @property
    def blind_to_sinks(self) -> bool:
        """It is about this attention alone; but on repeated tokens a head may use the first one less than on texts."""
        return self.repeated is None

    def contribution(self, layer: MeasuredLayer) -> Rows:
        """The number of a row, of its pattern away from the first token, times this attention."""
        product: Rows = layer.rows.rest * self.row_values(layer)
        return product

    def weight(self, layer: MeasuredLayer) -> Rows:
        """This attention."""
        return layer.rows.rest


@dataclass(frozen=True, kw_only=True)
class RowQuantiles(Measure):
    """Quantiles over rows of a number of each row."""

    row_values: Callable[[AwayFromFirst], Rows]
    chosen: Callable[[AwayFromFirst], Bool[np.ndarray, "heads rows"]] | None = None

    kind: ClassVar[str] = "quantiles"

    def of_rows(self, layer: MeasuredLayer) -> Summary:
        """Counts of rows by value, of those that are chosen."""
        chosen = None if self.chosen is None else self.chosen(layer.rows)
        return Summary({self.name: bin_counts(self.row_values(layer.rows), chosen)})

    def conclude(self, totals: Summary, head: int, draws: Draws) -> Quantiles | None:
        """Some quantiles; None where no row was chosen."""
        del draws
        if self.name not in totals.sums:
            return None
        counts = totals.sums[self.name][head]
        values = {share: quantile(counts, share) for share in QUANTILES}
        known = {share: value for share, value in values.items() if value is not None}
        return Quantiles(int(counts.sum()), known) if known else None


@dataclass(frozen=True, kw_only=True)
class KeyRounding(Measure):
    """What one format of the keys does to the pattern."""

    number_format: str  # of `FORMATS`

    kind: ClassVar[str] = "rounding"

    def of_rows(self, layer: MeasuredLayer) -> Summary:
        """The sums of total variation, bound and flips, and the largest total variation."""
        index = list(FORMATS).index(self.number_format)
        effects = layer.sampled.rounding[:, index]
        ones = np.ones_like(effects[:, TV])
        sums = [ratio_sums(effects[:, what], ones) for what in (TV, BOUND, FLIP)]
        return Summary(
            {self.name: np.stack(sums, axis=1)}, {self.name: effects[:, TV].max(axis=1)}
        )

    def conclude(
        self, totals: Summary, head: int, draws: Draws
    ) -> RoundingEffect | None:
        """All four."""
        if self.name not in totals.sums:
            return None
        sums = totals.sums[self.name][head]
        tv = mean_of(sums[TV], draws.over, alike=draws.alike)
        bound = mean_of(sums[BOUND])
        flips = mean_of(sums[FLIP])
        if tv is None or bound is None or flips is None:
            return None
        # What adding floats may lose is less than the factor adds.
        bound_above = min(1.0, bound.value * (1 + 1e-12))
        worst = float(totals.peaks[self.name][head])
        return RoundingEffect(tv.clipped(1.0), bound_above, worst, flips.value)


@dataclass(frozen=True, kw_only=True)
class CircuitRank(Measure):
    """The rank of a circuit, from its singular values."""

    circuit: str  # qk or ov

    kind: ClassVar[str] = "rank"

    def of_weights(self, circuits: Circuits) -> Summary:
        """The enclosures of the singular values."""
        return Summary({self.name: circuit_spectra(circuits, self.circuit)})

    def conclude(self, totals: Summary, head: int, draws: Draws) -> Spectrum | None:
        """The singular values; None where the model has no weights to look at."""
        del draws
        if self.name not in totals.sums:
            return None
        lower, upper = totals.sums[self.name][head]
        return Spectrum(lower, upper)


@dataclass(frozen=True, kw_only=True)
class ComposedWith(Measure):
    """How much a head reads of what an earlier head writes, by its queries, its keys or its values."""

    side: str  # q, k or v

    kind: ClassVar[str] = "composition"

    def of_layers(self, earlier: Sequence[Circuits], circuits: Circuits) -> Summary:
        """The largest of each head; NOT_COMPOSED if there is no layer before, or too much to multiply."""
        if not earlier:
            unknown = np.full((len(circuits.query), 3), NOT_COMPOSED)
            return Summary({self.name: unknown})
        return Summary({self.name: largest_compositions(earlier, circuits, self.side)})

    def conclude(
        self, totals: Summary, head: int, draws: Draws
    ) -> LargestComposition | None:
        """None in the first layer."""
        del draws
        if self.name not in totals.sums:
            return None
        value, layer, earlier_head = totals.sums[self.name][head]
        if value == NOT_COMPOSED:
            return None
        return LargestComposition(float(value), int(layer), int(earlier_head))


@dataclass(frozen=True, kw_only=True)
class ShareOfOutput(Measure):
    """The part of what the layer writes that comes from the head, from sampled rows and weights."""

    def of_rows(self, layer: MeasuredLayer) -> Summary:
        """C of each head, see `circuits`."""
        return Summary({OUTPUT_PRODUCTS: layer.sampled.output_products})

    def of_weights(self, circuits: Circuits) -> Summary:
        """G of each head."""
        return Summary({WEIGHT_PRODUCTS: weight_products(circuits)})

    def conclude(self, totals: Summary, head: int, draws: Draws) -> OutputShare | None:
        """The share, of all heads of the layer."""
        del draws
        of_rows = totals.sums.get(OUTPUT_PRODUCTS)
        of_weights = totals.sums.get(WEIGHT_PRODUCTS)
        if of_rows is None or of_weights is None:
            return None
        shares = output_shares(of_rows, of_weights)
        return OutputShare(float(shares[head]), len(shares))


@dataclass(frozen=True, kw_only=True)
class OrderEffect(Measure):
    """How far the output moves when tokens are shuffled. Runs of its own: see `shuffling.measure_order`."""

    def conclude(
        self, totals: Summary, head: int, draws: Draws
    ) -> ShuffleEffect | None:
        """The largest of several shuffles."""
        del draws
        if self.name not in totals.peaks:
            return None
        return ShuffleEffect(float(totals.peaks[self.name][head]))


@dataclass(frozen=True, kw_only=True)
class SizeRange(Measure):
    """How large keys or values can be. The bounds are proved apart: see `key_ranges.prove_sizes`."""

    kind: ClassVar[str] = "range"
    is_left_out_if_missing: ClassVar[bool] = True

    def of_rows(self, layer: MeasuredLayer) -> Summary:
        """The largest number on a document."""
        return Summary(peaks={self.name: shown_sizes(layer.layer, self.name)})

    def conclude(self, totals: Summary, head: int, draws: Draws) -> LargestSize | None:
        """The bound, and the largest number of all documents beside it."""
        del draws
        bounds = totals.sums.get(bound_of(self.name))
        if bounds is None:
            return None
        shown = totals.peaks.get(self.name)
        largest = None if shown is None else float(shown[head])
        return LargestSize(float(bounds[head]), largest)
