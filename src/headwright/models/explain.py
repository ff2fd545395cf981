"""One head, row by row: its pattern, its scores, and the shortest query that does the same; and examples to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from headwright.enclosure import held_to
from headwright.errors import InputError
from headwright.models.documents import Document
from headwright.models.findings.first_token import duplicate_weight, rows_away
from headwright.models.findings.heads import ENOUGH, Head
from headwright.models.findings.rounding import RowSample, sample_rows
from headwright.models.loading.model import Layer, Model
from headwright.models.rows.map import AttentionMap, attention_map
from headwright.queries import at_least, design

KEYS = 6  # of a row that are shown
LEAST = 5e-4  # weight of a key that is shown
WINDOW = 12  # tokens before a row that are shown
HAIR = 1e-6  # of the weight that is given away, so that the head's own query grants the wish too
MOST_KEYS = 4096  # among which the shortest query is looked for
ROWS = 2
BINS = 128  # of a map
LEAST_SHOWN = 0.1  # of a measure, for a head to be worth looking at


@dataclass(frozen=True)
class KeyWeight:
    """A key as a row sees it."""

    position: int
    token: str
    score: float
    weight: float


@dataclass(frozen=True)
class Shortest:
    """The shortest query that gives the winner the weight it got, against the head's own; or why there is none."""

    verdict: str
    words: str
    length: float | None = None  # proven to grant the wish
    bound: float | None = None  # proven: none shorter does
    own: float | None = None  # the length of the head's own query
    certificate: str | None = None


@dataclass(frozen=True)
class Row:
    """One row of a head: its token, the tokens before it, the keys that get most."""

    position: int
    token: str
    before: tuple[str, ...]
    first: float  # the weight of the first token
    best: tuple[KeyWeight, ...]
    shortest: Shortest | None = None


@dataclass(frozen=True)
class Explained:
    """A head on one document."""

    layer: int
    head: int
    document: str
    rows: tuple[Row, ...]


def parse_head(text: str, model: Model) -> tuple[int, int]:
    """LAYER.HEAD as numbers that the model has."""
    parts = text.split(".")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 9 for part in parts):
        raise InputError(f"head {text!r}: expected LAYER.HEAD, such as 1.3")
    layer, head = (int(part) for part in parts)
    for number, count, what in ((layer, model.layers, "layer"), (head, model.heads, "head")):
        if number >= count:
            raise InputError(f"{what} {number}, and {model.name} has {count}: expected 0 to {count - 1}")
    return layer, head


def explain(model: Model, document: Document, layer: int, head: int, rows: int = 3) -> Explained:
    """Rows of a head that show what it does: those that give one key, not the first, the most; spread over the text.

    Each says how short a query could be that does the same.
    """
    return explain_layer(model, document, _layer(model, document, layer), head, rows=rows)


def explain_layer(
    model: Model,
    document: Document,
    layer: Layer,
    head: int,
    *,
    rows: int = 3,
    queries: bool = True,
    clarity: Float[np.ndarray, " rows"] | None = None,
) -> Explained:
    """The same, of a layer that has run already; `clarity` says of each row from position 2 on how much it shows."""
    found = rows_away(layer, (0,))
    words = tuple(model.words(document.tokens))
    shown = found.rest[head] * found.away.largest[head] if clarity is None else clarity
    looked = sample_rows(found, head, _clearest_rows(shown, rows))
    explained = tuple(_row(layer, looked, index, words, queries) for index in range(len(looked.positions)))
    return Explained(layer.index, head, document.name, explained)


def _layer(model: Model, document: Document, index: int) -> Layer:
    for layer in model.run(document.tokens):
        if layer.index == index:
            return layer
    raise InputError(f"layer {index}, and {model.name} ran {model.layers}: expected 0 to {model.layers - 1}")


def _clearest_rows(shown: Float[np.ndarray, " rows"], count: int) -> list[int]:
    """The row that shows most in each of `count` stretches; of equals the last."""
    stretches = np.array_split(np.arange(len(shown)), count)
    return [int(part[::-1][np.argmax(shown[part[::-1]])]) for part in stretches if len(part)]


def _row(layer: Layer, looked: RowSample, index: int, words: Sequence[str], queries: bool) -> Row:
    alpha = looked.pattern[index]
    position = int(looked.positions[index])
    order = [int(j) for j in np.argsort(-alpha, kind="stable")[:KEYS] if alpha[j] >= LEAST]
    best = tuple(KeyWeight(j, words[j], float(looked.scores[index, j]), float(alpha[j])) for j in order)
    shortest = _shortest(layer, looked, index, best[0]) if queries and best else None
    before = tuple(words[max(0, position - WINDOW) : position])
    return Row(position, words[position], before, float(alpha[0]), best, shortest)


def _shortest(layer: Layer, looked: RowSample, index: int, winner: KeyWeight) -> Shortest:
    own = float(np.linalg.norm(looked.queries[index]))
    scoring = layer.scoring
    seen = np.flatnonzero(looked.seen[index])
    if scoring.softcap is not None or scoring.sinks is not None:
        return Shortest(
            "not asked", "the head's scores have a softcap or a sink, which a design does not know", own=own
        )
    if len(seen) > MOST_KEYS:
        return Shortest("not asked", f"the row sees {len(seen)} keys, and more than {MOST_KEYS} take long", own=own)
    keys: Float[np.ndarray, "n d"] = looked.keys[seen]
    target = int(np.flatnonzero(seen == winner.position)[0])
    weight = min(winner.weight * (1 - HAIR), 1 - 1e-12)
    result = design(keys, at_least({target: float(f"{weight:.12g}")}), scale=scoring.scale)
    if result.word != "designed":
        return Shortest(result.word, result.words, own=own)
    if winner.weight * (1 - HAIR / 2) > weight:  # then its own query does it, and is no shorter than the bound
        held_to(own, "the head's own query", least=result.norm_lower_bound)
    return Shortest("designed", result.words, result.norm, result.norm_lower_bound, own, result.certificate)


@dataclass(frozen=True)
class Example:
    """The head that is most of something, how much, and rows of it."""

    title: str
    measure: str
    value: float
    layer: int
    head: int
    document: str
    rows: tuple[Row, ...]
    map: AttentionMap = field(compare=False)  # of the whole document
    words: tuple[str, ...]  # of the document


KINDS = (
    ("most on the first token", "sink"),
    ("most on the previous token", "previous_away"),
    ("most on its own token", "self_away"),
    ("most on earlier equal tokens", "duplicate_away"),
    ("most on what followed the same token", "induction_away"),
    ("sharpest", "largest_away"),
    ("most spread", "entropy_away"),
    ("looks farthest back", "distance_away"),
)


def gallery(model: Model, documents: Sequence[Document], found: Sequence[Head]) -> tuple[Example, ...]:
    """One example of each kind, where there is one; induction on random tokens that repeat, else the first document.

    What a head does away from the first token counts only where a tenth of its attention is.
    """
    repeated = next((document for document in documents if document.period), documents[0])
    wanted = [
        (title, measure, best, repeated if measure == "induction_away" else documents[0])
        for title, measure in KINDS
        if (best := _most(found, measure)) is not None
    ]
    made: dict[str, Example] = {}
    for document in {id(document): document for *_, document in wanted}.values():
        mine = [one for one in wanted if one[3] is document]
        last = max(best.layer for _, _, best, _ in mine)
        for layer in model.run(document.tokens):
            for title, measure, best, _ in mine:
                if best.layer == layer.index:
                    made[title] = _example(model, document, layer, title, measure, best)
            if layer.index == last:
                break
    return tuple(made[title] for title, *_ in wanted)


def _example(model: Model, document: Document, layer: Layer, title: str, measure: str, head: Head) -> Example:
    clarity = _row_clarity(document, layer, measure)[head.head]
    rows = explain_layer(model, document, layer, head.head, rows=ROWS, queries=False, clarity=clarity).rows
    scoring, one = layer.scoring, head.head
    shared = one * scoring.key_heads // scoring.heads
    sinks = None if scoring.sinks is None else scoring.sinks[one : one + 1]
    alone = replace(scoring, heads=1, key_heads=1, sinks=sinks)
    drawn = attention_map(layer.queries[one : one + 1], layer.keys[shared : shared + 1], BINS, **alone.options)
    words = tuple(model.words(document.tokens))
    value = head.value(measure) or 0.0
    return Example(title, measure, value, head.layer, one, document.name, rows, drawn, words)


def _row_clarity(document: Document, layer: Layer, measure: str) -> Float[np.ndarray, "heads rows"]:
    """How much each row shows of a measure."""
    rows = rows_away(layer, (0, 1))
    away = rows.away
    if measure == "sink":
        return rows.first
    weights: dict[str, Callable[[], Float[np.ndarray, "heads rows"]]] = {
        "previous_away": lambda: away.offsets[1],
        "self_away": lambda: away.offsets[0],
        "duplicate_away": lambda: duplicate_weight(rows, document.tokens),
        "induction_away": lambda: duplicate_weight(rows, document.tokens, after=1),
        "largest_away": lambda: away.largest,
        "entropy_away": lambda: away.entropy,
        "distance_away": lambda: away.distance,
    }
    shown: Float[np.ndarray, "heads rows"] = rows.rest * weights[measure]()
    return shown


def _most(found: Sequence[Head], measure: str) -> Head | None:
    fit = [
        head
        for head in found
        if (head.value(measure) or 0.0) >= LEAST_SHOWN
        and (measure == "sink" or 1 - (head.value("sink") or 0.0) >= ENOUGH)
    ]
    return max(fit, key=lambda head: head.value(measure) or 0.0, default=None)
