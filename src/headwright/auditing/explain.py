"""One head, row by row: its pattern, its scores, and the shortest query that does the same; and examples to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from headwright.auditing.documents import Document
from headwright.auditing.head_findings import HeadFindings
from headwright.auditing.measures.first_token import rows_away
from headwright.auditing.measures.measure import MeasuredLayer, RowMean
from headwright.auditing.measures.roles import ENOUGH_AWAY
from headwright.auditing.measures.rounding import RowSample, sample_rows
from headwright.auditing.measures.table import MEASURES
from headwright.errors import InputError
from headwright.models.model import LayerActivations, Model, layer_at
from headwright.numerics.enclosure import assert_within
from headwright.query_design import at_least, design
from headwright.statistics.map import AttentionMap, attention_map

KEYS = 6  # of a row that are shown
LEAST_WEIGHT = 5e-4  # of a key that is shown
WINDOW = 12  # tokens before a row that are shown
CONCESSION = 1e-6  # of the weight that is given away, so that the head's own query meets the target too
MOST_KEYS = 4096  # among which the shortest query is looked for
ROWS = 2
BINS = 128  # of a map
LEAST_VALUE = 0.1  # of a measure, for a head to be worth a look


@dataclass(frozen=True)
class KeyWeight:
    """A key as a row sees it."""

    position: int
    token: str
    score: float
    weight: float


@dataclass(frozen=True)
class ShortestQuery:
    """The shortest query that gives the winner the weight it got, against the head's own; or why there is none."""

    verdict: str
    words: str
    length: float | None = None  # proven to meet the target
    bound: float | None = None  # proven: none shorter does
    own: float | None = None  # the length of the head's own query
    certificate: str | None = None


@dataclass(frozen=True)
class ExplainedRow:
    """One row of a head: its token, the tokens before it, the keys that get most."""

    position: int
    token: str
    before: tuple[str, ...]
    first: float  # the weight of the first token
    best: tuple[KeyWeight, ...]
    shortest: ShortestQuery | None = None


@dataclass(frozen=True)
class ExplainedHead:
    """A head on one document."""

    layer: int
    head: int
    document: str
    rows: tuple[ExplainedRow, ...]


@dataclass(frozen=True)
class HeadExample:
    """The head that has most of a measure, how much, and rows of it."""

    title: str
    measure: str
    value: float
    layer: int
    head: int
    document: str
    rows: tuple[ExplainedRow, ...]
    map: AttentionMap = field(compare=False)  # of the whole document
    words: tuple[str, ...]  # of the document


def parse_head(text: str, model: Model) -> tuple[int, int]:
    """LAYER.HEAD as numbers that the model has."""
    parts = text.split(".")
    if len(parts) != 2 or not all(
        part.isascii() and part.isdigit() and len(part) < 9 for part in parts
    ):
        raise InputError(
            f"head {text!r}: expected LAYER.HEAD, such as 1.3", field="head"
        )
    layer, head = (int(part) for part in parts)
    for number, count, what in (
        (layer, model.layers, "layer"),
        (head, model.heads, "head"),
    ):
        if number >= count:
            raise InputError(
                f"{what} {number}, and {model.name} has {count}: expected 0 to {count - 1}",
                field=what,
            )
    return layer, head


def explain(
    model: Model, document: Document, layer: int, head: int, rows: int = 3
) -> ExplainedHead:
    """Rows of a head that show what it does: those that give one key, not the first, the most; spread over the text.

    Each says how short a query could be that does the same.
    """
    ran = layer_at(model, document.tokens, layer)
    return explain_layer(model, document, ran, head, rows=rows)


def explain_layer(
    model: Model,
    document: Document,
    layer: LayerActivations,
    head: int,
    *,
    rows: int = 3,
    queries: bool = True,
    clarity: Float[np.ndarray, " rows"] | None = None,
) -> ExplainedHead:
    """The same, of a layer that has run already; `clarity` says of each row from position 2 on how much it shows."""
    layer_rows = rows_away(layer, (0,))
    words = tuple(model.token_strings(document.tokens))
    if clarity is None:
        clarity = layer_rows.rest[head] * layer_rows.away.largest[head]
    sample = sample_rows(layer_rows, head, _clearest_rows(clarity, rows))
    explained = tuple(
        _explain_row(layer, sample, index, words, queries)
        for index in range(len(sample.positions))
    )
    return ExplainedHead(layer.index, head, document.name, explained)


def _clearest_rows(clarity: Float[np.ndarray, " rows"], count: int) -> list[int]:
    """The row that shows most in each of `count` stretches; of equals the last."""
    chosen = []
    for stretch in np.array_split(np.arange(len(clarity)), count):
        if len(stretch):
            backwards = stretch[::-1]
            chosen.append(int(backwards[np.argmax(clarity[backwards])]))
    return chosen


def _explain_row(
    layer: LayerActivations,
    sample: RowSample,
    index: int,
    words: Sequence[str],
    queries: bool,
) -> ExplainedRow:
    alpha = sample.pattern[index]
    position = int(sample.positions[index])
    # The keys with most weight; of equals the first.
    best = []
    for key in np.argsort(-alpha, kind="stable")[:KEYS].tolist():
        if alpha[key] >= LEAST_WEIGHT:
            score = float(sample.scores[index, key])
            best.append(KeyWeight(key, words[key], score, float(alpha[key])))
    shortest = None
    if queries and best:
        shortest = _shortest_query(layer, sample, index, best[0])
    before = tuple(words[max(0, position - WINDOW) : position])
    return ExplainedRow(
        position, words[position], before, float(alpha[0]), tuple(best), shortest
    )


def _shortest_query(
    layer: LayerActivations, sample: RowSample, index: int, winner: KeyWeight
) -> ShortestQuery:
    """The shortest query that gives the winner of a row its weight, among the keys that the row sees."""
    own = float(np.linalg.norm(sample.queries[index]))
    scoring = layer.scoring
    seen = np.flatnonzero(sample.seen[index])
    if scoring.softcap is not None or scoring.sinks is not None:
        return ShortestQuery(
            "not asked",
            "the head's scores have a softcap or a sink, which a design does not know",
            own=own,
        )
    if len(seen) > MOST_KEYS:
        return ShortestQuery(
            "not asked",
            f"the row sees {len(seen)} keys, and more than {MOST_KEYS} take long",
            own=own,
        )
    # The target: the weight that the winner got, among the keys that the row sees.
    keys: Float[np.ndarray, "n d"] = sample.keys[seen]
    winner_key = int(np.flatnonzero(seen == winner.position)[0])
    # A little less than it got, so that the head's own query meets the target whatever rounding does.
    target = min(winner.weight * (1 - CONCESSION), 1 - 1e-12)
    result = design(
        keys, at_least({winner_key: float(f"{target:.12g}")}), scale=scoring.scale
    )
    if result.word != "designed":
        return ShortestQuery(result.word, result.words, own=own)
    # Then its own query is an instance, and must not be shorter than what was proved.
    if winner.weight * (1 - CONCESSION / 2) > target:
        assert_within(own, "the head's own query", least=result.norm_lower_bound)
    return ShortestQuery(
        "designed",
        result.words,
        result.norm,
        result.norm_lower_bound,
        own,
        result.certificate,
    )


def find_examples(
    model: Model, documents: Sequence[Document], findings: Sequence[HeadFindings]
) -> tuple[HeadExample, ...]:
    """One example of each measure that is shown by one, where some head has enough of it.

    Induction is shown on random tokens that repeat, everything else on the first document. What a head does away from
    the first token counts only where a tenth of its attention is.
    """
    repeated = next(
        (document for document in documents if document.period), documents[0]
    )
    choices = []
    for measure in MEASURES:
        if measure.display is None or not measure.display.example:
            continue
        head = _head_with_most(findings, measure.name)
        if head is not None and isinstance(measure, RowMean):
            document = documents[0] if measure.repeated is None else repeated
            choices.append((measure, head, document))
    # The model runs once for each document, up to the last layer that is shown.
    examples: dict[str, HeadExample] = {}
    for document in {id(document): document for *_, document in choices}.values():
        on_it = [(measure, head) for measure, head, on in choices if on is document]
        examples |= _examples_on(model, document, on_it)
    return tuple(examples[measure.name] for measure, *_ in choices)


def _head_with_most(
    findings: Sequence[HeadFindings], measure: str
) -> HeadFindings | None:
    """The head with the largest value, of those for which it is enough to be shown."""
    candidates = []
    for head in findings:
        enough_away = 1 - (head.value("sink") or 0.0) >= ENOUGH_AWAY
        if (head.value(measure) or 0.0) >= LEAST_VALUE and (
            enough_away or measure == "sink"
        ):
            candidates.append(head)
    return max(candidates, key=lambda head: head.value(measure) or 0.0, default=None)


def _examples_on(
    model: Model,
    document: Document,
    choices: Sequence[tuple[RowMean, HeadFindings]],
) -> dict[str, HeadExample]:
    """The examples that are heads on one document, in one run of the model."""
    examples: dict[str, HeadExample] = {}

    def visit(layer: LayerActivations) -> None:
        for measure, head in choices:
            if head.layer == layer.index:
                examples[measure.name] = _example(model, document, layer, measure, head)

    last = max(head.layer for _, head in choices)
    model.visit_layers(document.tokens, visit, last)
    return examples


def _example(
    model: Model,
    document: Document,
    layer: LayerActivations,
    measure: RowMean,
    head: HeadFindings,
) -> HeadExample:
    index = head.head
    clarity = measure.contribution(MeasuredLayer.of(layer, document))[index]
    explained = explain_layer(
        model, document, layer, index, rows=ROWS, queries=False, clarity=clarity
    )
    # The picture of the whole pattern, of this head alone.
    scoring = layer.scoring
    key_head = index * scoring.key_heads // scoring.heads
    sinks = None if scoring.sinks is None else scoring.sinks[index : index + 1]
    only = replace(scoring, heads=1, key_heads=1, sinks=sinks)
    picture = attention_map(
        layer.queries[index : index + 1],
        layer.keys[key_head : key_head + 1],
        BINS,
        **only.options,
    )
    return HeadExample(
        title=measure.display.example if measure.display else "",
        measure=measure.name,
        value=head.value(measure.name) or 0.0,
        layer=head.layer,
        head=index,
        document=document.name,
        rows=explained.rows,
        map=picture,
        words=tuple(model.token_strings(document.tokens)),
    )
