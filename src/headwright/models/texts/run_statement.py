"""Run texts that a statement is about in the model: those with the smallest margin, and random ones.

The checker looks at every token at every place of a layer that was read off the weights. Whether the network does what
the layer does is another question, and the network answers it: run in float64 on texts of the statement's length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from headwright.models.loading.model import Model
from headwright.models.texts.check_against_model import RANDOM, not_beyond, run_patterns
from headwright.models.texts.every_text import counted
from headwright.models.texts.extreme_texts import extremes, witness
from headwright.models.texts.first_layer import FirstLayer, head_of, texts_of
from headwright.models.texts.head import Texts
from headwright.models.texts.occurrences import occurrences
from headwright.models.texts.statement import Statement

TRIED = 64  # query tokens, or pairs, the tightest text of which is run; the others are as the checker says

Text = Int[np.ndarray, " length"]  # tokens, as a head counts them


def run_against(model: Model, layer: FirstLayer, statement: Statement) -> int:
    """On how many texts the model was run, none of which contradicts the statement; else a ContradictionError."""
    texts = texts_of(layer, statement.length, statement.place)
    count = 0
    for text in _texts(layer, statement, texts):
        counts = set(statement.places)
        if statement.token is not None:
            asked = int(counted(layer, [statement.token])[0])
            counts |= {at for at in (*texts.free, texts.place) if int(text[at]) == asked}
        pattern = run_patterns(model, layer.tokens[text], texts)[statement.head]
        run = float(pattern[[at in counts for at in texts.seen]].sum())
        not_beyond(run, float(statement.bound), statement.extreme, f"head {statement.head}, texts of {texts.length}")
        count += 1
    return count


def _texts(layer: FirstLayer, statement: Statement, texts: Texts) -> Iterator[Text]:
    """The text that is tightest, as far as a search over some query tokens finds it, and random ones."""
    head, rng = head_of(layer, statement.head), np.random.default_rng(0)
    places, extreme, free = statement.places, statement.extreme, np.array(texts.free, dtype=int)

    def random(query: int) -> Text:
        text = rng.integers(head.free, size=texts.length)
        text[texts.place] = query
        for at, token in texts.held.items():
            text[at] = token
        return text

    if statement.pairs:
        pairs = rng.permutation(np.array(statement.pairs))[:RANDOM]
        for query, key in (counted(layer, [int(a), int(b)]) for a, b in pairs):
            held = replace(texts, held={**texts.held, places[0]: int(key)})
            yield witness(head, held, int(query), places, extreme)
            drawn = random(int(query))
            drawn[places[0]] = key
            yield drawn
    else:
        every = rng.permutation(head.free)[:TRIED]
        rows = every if statement.query is None else counted(layer, [statement.query])
        if statement.token is None:
            found = next(extremes(layer, [statement.head], texts, rows))
            inside = np.isin(texts.seen, places)
            low, high = (found.low, found.high) if extreme == "least" else (found.high, found.low)
            odds = _log_sum(low[inside]) - _log_sum(high[~inside])
            yield found.text(int(odds.argmin() if extreme == "least" else odds.argmax()), places, extreme)
            yield from (random(int(query)) for query in rng.choice(rows, RANDOM))
            return
        token = int(counted(layer, [statement.token])[0])
        if extreme == "least":
            known = occurrences(head, texts, token, rows)
            yield known.text(head, texts, int(known.least.lower.argmin()), token)
        else:
            most = random(int(rows[0]))
            most[free] = token
            yield most
        for query in rng.choice(rows, RANDOM):
            drawn = random(int(query))
            drawn[rng.choice(free)] = token  # it is about texts that have it
            yield drawn


def _log_sum(scores: np.ndarray) -> np.ndarray:
    top = scores.max(axis=0, initial=-1e300)
    found: np.ndarray = top + np.log(np.exp(scores - top).sum(axis=0))
    return found
