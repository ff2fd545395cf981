"""All measures of an audit, in one table.

An entry says what a measure is called, what it means, how it is shown and how it is computed. The report, the JSON, the
tables of numbers, the command line and the lab read it; nothing else names a measure but where it is used by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from headwright.auditing.measures.first_token import AwayFromFirst
from headwright.auditing.measures.key_ranges import KEY_RANGE, VALUE_RANGE
from headwright.auditing.measures.measure import (
    OWN,
    PREVIOUS,
    CircuitRank,
    ComposedWith,
    Display,
    KeyRounding,
    MeanAway,
    Measure,
    MeasuredLayer,
    OrderEffect,
    RowMean,
    RowQuantiles,
    ShareOfOutput,
    SizeRange,
)
from headwright.auditing.measures.robustness import relative_radius
from headwright.auditing.measures.shuffling import ORDER

Rows = Float[np.ndarray, "heads rows"]

# A row attends to one key if that key has at least this weight: the target of copying up to eps = 1/10.
ONE_KEY = 10 / 11
# A row is diffuse if it uses that many keys, the largest weight within that factor of an even share.
SEVERAL_KEYS = 3.0
EVEN = 2.0

# What holds of several measures.
DEFINITIONS = {
    "away": "Away from the first token: the pattern without the first token, scaled to sum 1; a mean weighs each row "
    "by its attention that is not on the first token. In many heads the first token is an attention sink, which would "
    "otherwise hide what they do.",
    "intervals": "95 %, by Student's t over documents; given where there are at least 8. They speak of other documents "
    "like these: of texts of the kind that were given, of more passages of the one text that was cut into documents, "
    "or of other random sequences. With fewer documents there is no interval: the mean is that of what was measured, "
    "and how far other texts differ is not known.",
    "rounding": "keys rounded as a cache in few bits would (int8: multiples of a 127th of the largest number of a key; "
    "int4: 16 even steps from the smallest to the largest number of a key or channel; fp8: e4m3, unscaled): mean and "
    "largest total variation between the patterns before and after, the proven bound tanh(delta / 2) for score errors "
    "of half-range delta (its mean), and the part of rows that another key wins; on at most 64 rows of each document, "
    "spread evenly",
}
TV = "mean total variation between the patterns before and after the keys are rounded to {}; see rounding"
RANK = (
    "the smallest rank that certainly keeps 90 % of sum sigma^2 of the circuit (proven, for the matrices as they are; "
    "positions and biases apart). No sigma_k exceeds |A|_F / sqrt(k)"
)
COMPOSITION = (
    "how much the {} read of what a head of an earlier layer writes: the largest |W_A W_B|_F / (|W_A|_F |W_B|_F) over "
    "these heads; for random matrices about 1 / sqrt(width of the residual stream) (floating-point; norms between the "
    "heads, biases and positions apart). Left out in the first layer, and beyond 10^12 multiplications a layer"
)
INDUCTION = (
    "on repeated random tokens, 64 of them four times where there is room: mean weight of the tokens that followed "
    "earlier positions of the same token"
)
LONG_INDUCTION = (
    "on repeated random tokens that fill the longest context (a quarter of it, four times, or what the vocabulary "
    "allows, more often): mean weight of the tokens that followed earlier positions of the same token"
)


def weight_on_previous(layer: MeasuredLayer) -> Rows:
    """The weight of the token before, away from the first."""
    return layer.rows.away.offsets[PREVIOUS]


def weight_on_self(layer: MeasuredLayer) -> Rows:
    """The weight of the row's own token, away from the first."""
    return layer.rows.away.offsets[OWN]


def attends_to_one_key(layer: MeasuredLayer) -> Rows:
    """1 for rows that give one key, not the first, at least 10/11; else 0."""
    return as_numbers(layer.rows.away.largest >= ONE_KEY)


def is_diffuse(layer: MeasuredLayer) -> Rows:
    """1 for rows that are even over several keys, away from the first; else 0.

    exp(entropy) is how many keys a pattern uses, and 1 / (largest weight) is never more; they are equal exactly if the
    pattern is even over the keys that it uses at all.
    """
    used_keys = np.exp(layer.rows.away.entropy)
    even = layer.rows.away.largest * used_keys <= EVEN
    return as_numbers((used_keys >= SEVERAL_KEYS) & even)


def of_all_attention(
    values: Callable[[MeasuredLayer], Rows],
) -> Callable[[MeasuredLayer], Rows]:
    """A weight away from the first token, as a part of all attention."""

    def row_values(layer: MeasuredLayer) -> Rows:
        product: Rows = layer.rows.rest * values(layer)
        return product

    return row_values


def as_numbers(holds: Bool[np.ndarray, "heads rows"]) -> Rows:
    """1 where something holds, else 0."""
    numbers: Rows = holds.astype(np.float64)
    return numbers


def first_does_not_win(rows: AwayFromFirst) -> Bool[np.ndarray, "heads rows"]:
    """The rows whose largest weight is on another token."""
    return ~rows.sink_wins


MEASURES: tuple[Measure, ...] = (
    # The first token, an attention sink in many heads.
    RowMean(
        name="sink",
        title="First token",
        meaning="mean weight of the first token, which many heads use as an attention sink",
        row_values=lambda layer: layer.rows.first,
        display=Display(
            "first",
            caption="mean weight of the first token",
            terminal=True,
            example="most on the first token",
        ),
    ),
    RowMean(
        name="sink_rows",
        title="Rows that the first token wins",
        meaning="part of the rows whose largest weight is on the first token",
        unit="of rows",
        row_values=lambda layer: as_numbers(layer.rows.sink_wins),
    ),
    # Where a head attends, as a part of all attention: without a column.
    RowMean(
        name="previous",
        title="Previous token, of all attention",
        meaning="mean weight of the token before, the first one left out",
        row_values=of_all_attention(weight_on_previous),
    ),
    RowMean(
        name="self",
        title="Own token, of all attention",
        meaning="mean weight of the row's own token",
        row_values=of_all_attention(weight_on_self),
    ),
    RowMean(
        name="duplicate",
        title="Duplicate tokens, of all attention",
        meaning="mean weight of earlier positions that hold the same token, the first one left out",
        row_values=of_all_attention(lambda layer: layer.weight_on_duplicates),
    ),
    RowMean(
        name="induction",
        title="Induction, of all attention",
        meaning=INDUCTION,
        row_values=of_all_attention(lambda layer: layer.weight_after_duplicates),
        repeated="induction",
    ),
    RowMean(
        name="induction_long",
        title="Long induction, of all attention",
        meaning=LONG_INDUCTION,
        row_values=of_all_attention(lambda layer: layer.weight_after_duplicates),
        repeated="induction_long",
    ),
    RowMean(
        name="largest",
        title="Largest weight, of all attention",
        meaning="mean of the largest weight in a row",
        row_values=lambda layer: layer.rows.largest,
    ),
    RowMean(
        name="entropy",
        title="Entropy, of all attention",
        meaning="mean entropy of a row, in nats",
        unit="nats",
        row_values=lambda layer: layer.rows.entropy,
        most=math.inf,
    ),
    # Where a head attends, and how sharply, away from the first token.
    MeanAway(
        name="previous_away",
        title="Previous token",
        meaning="mean weight of the token before, away from the first token",
        row_values=weight_on_previous,
        display=Display(
            "prev.",
            caption="mean weight of the token before*",
            terminal=True,
            example="most on the previous token",
        ),
    ),
    MeanAway(
        name="self_away",
        title="Own token",
        meaning="mean weight of the row's own token, away from the first token",
        row_values=weight_on_self,
        display=Display(
            "self",
            caption="mean weight of the row's own token*",
            terminal=True,
            example="most on its own token",
        ),
    ),
    MeanAway(
        name="duplicate_away",
        title="Duplicate tokens",
        meaning="mean weight of earlier positions that hold the same token, away from the first token",
        row_values=lambda layer: layer.weight_on_duplicates,
        display=Display(
            "dupl.",
            caption="mean weight of earlier equal tokens*",
            example="most on earlier equal tokens",
        ),
    ),
    MeanAway(
        name="induction_away",
        title="Induction",
        meaning=f"{INDUCTION}, away from the first token",
        row_values=lambda layer: layer.weight_after_duplicates,
        repeated="induction",
        display=Display(
            "induct.",
            caption="on repeated random tokens: what followed the same token before*",
            terminal=True,
            example="most on what followed the same token",
        ),
    ),
    MeanAway(
        name="induction_long_away",
        title="Long induction",
        meaning=f"{LONG_INDUCTION}, away from the first token",
        row_values=lambda layer: layer.weight_after_duplicates,
        repeated="induction_long",
        display=Display(
            "long",
            caption="the same on random tokens that fill the longest context*",
            terminal=True,
        ),
    ),
    MeanAway(
        name="one_key_away",
        title="Attends to one key",
        meaning="part of the rows whose largest weight, away from the first token, is at least 10/11: these copy the "
        "value of one key up to eps = 1/10",
        unit="of rows",
        row_values=attends_to_one_key,
        display=Display("one key", caption="rows that give one key 10/11 or more*"),
    ),
    MeanAway(
        name="diffuse_away",
        title="Diffuse",
        meaning="part of the rows that are diffuse, away from the first token: they use at least 3 keys (exp of the "
        "entropy), and the largest weight is at most twice an even share",
        unit="of rows",
        row_values=is_diffuse,
        display=Display("diffuse", caption="rows that are even over 3 keys or more*"),
    ),
    MeanAway(
        name="largest_away",
        title="Largest weight",
        meaning="mean of the largest weight in a row, away from the first token",
        row_values=lambda layer: layer.rows.away.largest,
        display=Display(
            "largest", caption="mean of the largest weight*", example="sharpest"
        ),
    ),
    MeanAway(
        name="entropy_away",
        title="Entropy",
        meaning="mean entropy of a row, in nats, away from the first token",
        unit="nats",
        row_values=lambda layer: layer.rows.away.entropy,
        most=math.inf,
        display=Display(
            "entropy",
            caption="mean entropy of a row, nats*",
            full_colour=None,
            terminal=True,
            example="most spread",
        ),
    ),
    MeanAway(
        name="distance_away",
        title="Distance",
        meaning="mean number of positions between a row and what it attends to, away from the first token",
        unit="tokens",
        row_values=lambda layer: layer.rows.away.distance,
        most=math.inf,
        display=Display(
            "dist.",
            decimals=1,
            caption="mean number of positions back*",
            full_colour=None,
            example="looks farthest back",
        ),
    ),
    # Margins, and how robust the winner of a row is.
    RowQuantiles(
        name="margin",
        title="Margin, all rows",
        meaning="by how much the largest score of a row leads, in nats; quantiles over all rows",
        unit="nats",
        row_values=lambda rows: rows.margin,
    ),
    RowQuantiles(
        name="margin_away",
        title="Margin",
        meaning="by how much the largest score of a row leads, in nats; quantiles over the rows that the first token "
        "does not win",
        unit="nats",
        row_values=lambda rows: rows.margin,
        chosen=first_does_not_win,
        display=Display("margin", full_colour=None),
    ),
    RowQuantiles(
        name="robustness_radius_away",
        title="Robustness radius",
        meaning="margin / (2 scale |q|): all keys may move by less than this, in any direction, and the same key wins "
        "the row; as a part of the mean length of the head's keys, over the rows that the first token does not win",
        unit="of |k|",
        row_values=relative_radius,
        chosen=first_does_not_win,
        display=Display(
            "radius",
            percent=True,
            caption="how far all keys may move, of their length, before half of the rows may change their winner",
            full_colour=None,
            terminal=True,
        ),
    ),
    # Keys in few bits.
    KeyRounding(
        name="tv_bf16",
        title="Keys in bf16",
        meaning=TV.format("bf16"),
        unit="TV",
        number_format="bf16",
    ),
    KeyRounding(
        name="tv_int8_per_token",
        title="Keys in int8, per token",
        meaning=TV.format("int8, one scale per token"),
        unit="TV",
        number_format="int8 per token",
        display=Display("int8", decimals=3, full_colour=None),
    ),
    KeyRounding(
        name="tv_fp8_e4m3",
        title="Keys in fp8",
        meaning=TV.format("fp8 (e4m3)"),
        unit="TV",
        number_format="fp8 e4m3",
    ),
    KeyRounding(
        name="tv_int4_per_channel",
        title="Keys in int4, per channel",
        meaning=TV.format("int4, one scale per channel"),
        unit="TV",
        number_format="int4 per channel",
    ),
    KeyRounding(
        name="tv_int4_per_token",
        title="Keys in int4, per token",
        meaning=TV.format("int4, one scale per token"),
        unit="TV",
        number_format="int4 per token",
        display=Display(
            "int4",
            decimals=3,
            caption="total variation when keys are rounded to int4",
            full_colour=None,
            least_full_colour=0.05,
            terminal=True,
        ),
    ),
    # How large keys and values can be.
    SizeRange(
        name=KEY_RANGE,
        title="Largest key on every text",
        meaning="no number of the head's keys, after rotation, is larger in size on any text (proven, from the "
        "weights); an e4m3 cache at scale 1 holds 448",
        unit="size",
        display=Display(
            "key",
            caption="the largest a key's numbers can be, on every text (proven)",
            full_colour=None,
        ),
    ),
    SizeRange(
        name=VALUE_RANGE,
        title="Largest value on every text",
        meaning="the same of the head's values",
        unit="size",
        display=Display(
            "value",
            caption="the largest a value's numbers can be, on every text (proven)",
            full_colour=None,
        ),
    ),
    # Weights, and what is written.
    CircuitRank(
        name="qk_rank",
        title="QK rank",
        meaning=RANK,
        unit="rank",
        circuit="qk",
        display=Display(
            "QK",
            decimals=0,
            caption="smallest rank that keeps 90 % of QK (proven)",
            full_colour=None,
            terminal=True,
        ),
    ),
    CircuitRank(
        name="ov_rank",
        title="OV rank",
        meaning=RANK,
        unit="rank",
        circuit="ov",
        display=Display(
            "OV",
            decimals=0,
            caption="smallest rank that keeps 90 % of OV (proven)",
            full_colour=None,
            terminal=True,
        ),
    ),
    *(
        ComposedWith(
            name=f"{side}_composition",
            title=f"{side.upper()}-composition",
            meaning=COMPOSITION.format(of),
            unit="of |A| |B|",
            side=side,
        )
        for side, of in (("q", "queries"), ("k", "keys"), ("v", "values"))
    ),
    ShareOfOutput(
        name="output_share",
        title="Share of the output",
        meaning="the head's part of what its layer writes into the residual stream, by mean squared length, on at most "
        "64 rows of each document; dead: less than a hundredth of an even share",
        unit="share",
        display=Display("output", caption="share of what the layer writes"),
    ),
    # The order of the tokens.
    OrderEffect(
        name=ORDER,
        title="Order of the tokens",
        meaning="how far the head's output at the last position, before W_O, moves, relatively, when the tokens "
        "between the first (and other special ones in front) and the last are shuffled: the largest of several runs",
        unit="of |output|",
    ),
)
BY_NAME = {measure.name: measure for measure in MEASURES}
# The formats of keys, in the order of the table.
ROUNDINGS = tuple(measure for measure in MEASURES if isinstance(measure, KeyRounding))
RANKS = tuple(measure for measure in MEASURES if isinstance(measure, CircuitRank))
