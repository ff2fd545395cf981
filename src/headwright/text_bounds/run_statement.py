"""Run texts that a statement is about in the model: those with the smallest margin, and random ones.

The checker looks at every token at every place of a layer that was read off the weights. Whether the network does what
the layer does is another question, and the network answers it: run in float64 on texts of the statement's length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from headwright.models.model import Model
from headwright.text_bounds.compare_with_model import (
    RANDOM_TEXTS,
    assert_run_within,
    run_patterns,
)
from headwright.text_bounds.first_layer import FirstLayer, token_indices
from headwright.text_bounds.search.extreme_texts import extremes, witness
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.occurrences import occurrences
from headwright.text_bounds.search.texts import TextFamily, texts_of
from headwright.text_bounds.statement import FirstLayerStatement

# Query tokens, or pairs, the tightest text of which is run; the others are as the checker says.
QUERIES_SEARCHED = 64

Text = Int[np.ndarray, " length"]  # tokens, as the layer counts them


def run_against(model: Model, layer: FirstLayer, statement: FirstLayerStatement) -> int:
    """On how many texts the model was run, none of which contradicts the statement; else a ContradictionError."""
    texts = texts_of(layer, statement.length, statement.place)
    count = 0
    for text in _Sampler(layer, statement, texts).texts_to_run():
        places = set(statement.places)
        if statement.token is not None:
            (asked,) = token_indices(layer, [statement.token])
            own_and_free = (*texts.free, texts.place)
            places |= {at for at in own_and_free if int(text[at]) == asked}
        pattern = run_patterns(model, layer.tokens[text], texts)[statement.head]
        run = float(pattern[[at in places for at in texts.seen]].sum())
        what = f"head {statement.head}, texts of {texts.length}"
        assert_run_within(run, float(statement.bound), statement.extreme, what)
        count += 1
    return count


class _Sampler:
    """The text that is tightest, as far as a search over some query tokens finds it, and random ones."""

    def __init__(
        self, layer: FirstLayer, statement: FirstLayerStatement, texts: TextFamily
    ) -> None:
        self.layer = layer
        self.statement = statement
        self.texts = texts
        self.head = head_of(layer, statement.head)
        self.free_places = np.array(texts.free, dtype=int)
        self.rng = np.random.default_rng(0)

    def texts_to_run(self) -> Iterator[Text]:
        """Of the kind that the statement is about."""
        if self.statement.pairs:
            return self._with_pairs()
        queries = self.rng.permutation(self.head.free)[:QUERIES_SEARCHED]
        if self.statement.query is not None:
            queries = token_indices(self.layer, [self.statement.query])
        if self.statement.token is None:
            return self._about_places(queries)
        (token,) = token_indices(self.layer, [self.statement.token])
        return self._about_occurrences(queries, int(token))

    def _random_text(self, query: int) -> Text:
        text = self.rng.integers(self.head.free, size=self.texts.length)
        text[self.texts.place] = query
        for at, token in self.texts.held.items():
            text[at] = token
        return text

    def _with_pairs(self) -> Iterator[Text]:
        """For some pairs: the tightest text, and a random one."""
        places = self.statement.places
        extreme = self.statement.extreme
        pairs = self.rng.permutation(np.array(self.statement.pairs))[:RANDOM_TEXTS]
        for pair in pairs.tolist():
            query, key = token_indices(self.layer, pair)
            held = {**self.texts.held, places[0]: int(key)}
            texts = replace(self.texts, held=held)
            yield witness(self.head, texts, int(query), places, extreme)
            text = self._random_text(int(query))
            text[places[0]] = key
            yield text

    def _about_places(self, queries: Text) -> Iterator[Text]:
        """The text of the query token whose weight is extreme, and random ones."""
        places = self.statement.places
        extreme = self.statement.extreme
        (of_head,) = extremes(self.layer, [self.head.number], self.texts, queries)
        inside = np.isin(self.texts.seen, places)
        if extreme == "least":
            odds = _log_sum(of_head.low[inside]) - _log_sum(of_head.high[~inside])
            row = odds.argmin()
        else:
            odds = _log_sum(of_head.high[inside]) - _log_sum(of_head.low[~inside])
            row = odds.argmax()
        yield of_head.text(int(row), places, extreme)
        for query in self.rng.choice(queries, RANDOM_TEXTS):
            yield self._random_text(int(query))

    def _about_occurrences(self, queries: Text, token: int) -> Iterator[Text]:
        """The tightest text, and random ones with the token at some place."""
        if self.statement.extreme == "least":
            bounds = occurrences(self.head, self.texts, token, queries)
            row = int(bounds.least.lower.argmin())
            yield bounds.text(self.head, self.texts, row, token)
        else:
            text = self._random_text(int(queries[0]))
            text[self.free_places] = token
            yield text
        for query in self.rng.choice(queries, RANDOM_TEXTS):
            text = self._random_text(int(query))
            text[self.rng.choice(self.free_places)] = token
            yield text


def _log_sum(scores: np.ndarray) -> np.ndarray:
    """ln of the sum of exp, by column."""
    largest = scores.max(axis=0, initial=-1e300)
    log_sum: np.ndarray = largest + np.log(np.exp(scores - largest).sum(axis=0))
    return log_sum
