"""Brute force over all texts of tiny vocabularies gives the same numbers and the same texts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.text_bounds.search.extreme_texts import witness
from headwright.text_bounds.search.heads import (
    FirstLayerHead,
    PlacedHead,
    RotaryHead,
    TokenVectors,
)
from headwright.text_bounds.search.logits import largest_output
from headwright.text_bounds.search.sweep import Extreme, band, pair_band, sweep
from headwright.text_bounds.search.texts import TextFamily

V, D = 3, 4


def heads(seed: int, size: float) -> list[FirstLayerHead]:
    rng = np.random.default_rng(seed)

    def vectors() -> TokenVectors:
        return TokenVectors(rng.normal(size=(V, D)) * size, 0.0)

    placed = PlacedHead(
        np.arange(V),
        [vectors() for _ in range(4)].__getitem__,
        [vectors() for _ in range(4)].__getitem__,
    )
    return [
        placed,
        RotaryHead(np.arange(V), vectors(), vectors(), np.array([1.0, 0.1])),
    ]


def pattern(
    head: FirstLayerHead, texts: TextFamily, text: tuple[int, ...]
) -> dict[int, float]:
    """The definition: one query, the keys it sees."""
    a = text[texts.place]
    scores = {
        at: head.queries(texts.place, at).rows[a] @ head.keys(at).rows[text[at]]
        for at in texts.seen
    }
    total = sum(np.exp(s) for s in scores.values())
    return {at: float(np.exp(s) / total) for at, s in scores.items()}


def all_texts(texts: TextFamily, query: int) -> list[tuple[int, ...]]:
    every = product(range(V), repeat=texts.length)
    return [
        t
        for t in every
        if t[texts.place] == query and all(t[at] == b for at, b in texts.held.items())
    ]


KINDS = [
    TextFamily(4, 3),
    TextFamily(4, 3, {0: 2}),
    TextFamily(4, 1, {0: 0, 3: 1}, causal=False),
    TextFamily(4, 3, window=3),
]


@pytest.mark.parametrize("texts", KINDS)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.1, 1.0, 5.0]))
def test_bands_are_the_extremes_over_all_texts(
    texts: TextFamily, seed: int, size: float
) -> None:
    places = [texts.others[-1]]
    for head in heads(seed, size):
        found = band(sweep(head, texts, {"set": places, "own": [texts.place]}), "set")
        for query in range(V):
            weights = [
                pattern(head, texts, text)[places[0]]
                for text in all_texts(texts, query)
            ]
            assert found.least.lower[query] <= min(weights) * (1 + 1e-12)
            assert min(weights) <= found.least.upper[query] * (1 + 1e-12)
            assert found.most.lower[query] <= max(weights) * (1 + 1e-12)
            assert max(weights) <= found.most.upper[query] * (1 + 1e-12)
            assert found.least.upper[query] - found.least.lower[query] < 1e-9
            ends: dict[Extreme, float] = {"least": min(weights), "most": max(weights)}
            for side, truth in ends.items():
                text = tuple(
                    int(token) for token in witness(head, texts, query, places, side)
                )
                assert pattern(head, texts, text)[places[0]] == pytest.approx(
                    truth, rel=1e-9
                )


@given(seed=st.integers(0, 10**6))
def test_pair_bands_are_the_extremes_over_texts_with_the_pair(seed: int) -> None:
    texts = TextFamily(4, 3)
    for head in heads(seed, 2.0):
        found = sweep(head, texts, {"previous": [2]})
        pairs = np.array(list(product(range(V), range(V))))
        both = pair_band(head, found, "previous", pairs)
        for index, (a, b) in enumerate(pairs):
            weights = [
                pattern(head, texts, t)[2]
                for t in all_texts(texts, int(a))
                if t[2] == b
            ]
            for bounds, truth in (
                (both.least, min(weights)),
                (both.most, max(weights)),
            ):
                assert bounds.lower[index] <= truth * (
                    1 + 1e-12
                ) and truth <= bounds.upper[index] * (1 + 1e-12)


@given(seed=st.integers(0, 10**6))
@example(148225)  # the first ratio is next to the value of one place, and rounds to it
def test_largest_output_is_that_of_all_texts(seed: int) -> None:
    texts = TextFamily(4, 3)
    worth = np.random.default_rng(seed).normal(size=(4, V))
    for head in heads(seed, 2.0):
        found = largest_output(head, texts, 1, worth)
        outputs = [
            sum(w * worth[at, t[at]] for at, w in pattern(head, texts, t).items())
            for t in all_texts(texts, 1)
        ]
        assert found.value == pytest.approx(max(outputs))
        assert max(outputs) - 1e-12 <= found.bound <= max(outputs) + 1e-9
        off = largest_output(
            head, texts, 1, worth + 0.01, error=0.01
        ).bound  # what it is worth may be 0.01 less
        assert max(outputs) + 0.01 <= off <= max(outputs) + 0.05  # steps double


def test_bounds_hold_where_scores_are_huge() -> None:
    vectors = TokenVectors(np.array([[0.0], [40.0]]), 0.0)
    head = PlacedHead(np.arange(2), lambda _: vectors, lambda _: vectors)
    found = band(sweep(head, TextFamily(3, 2), {"previous": [1]}), "previous")
    assert found.least.lower[1] == 0.0 and 0 <= found.least.upper[1] < 1e-300
    assert found.most.upper[1] <= 1.0


def test_refuses_a_place_that_is_not_seen() -> None:
    with pytest.raises(InputError, match="not seen"):
        sweep(heads(0, 1.0)[0], TextFamily(4, 1), {"later": [3]})


def test_an_error_in_the_vectors_widens_the_band() -> None:
    def least(error: float) -> tuple[float, float]:
        vectors = TokenVectors(np.array([[0.0], [1.0]]), error)
        head = PlacedHead(np.arange(2), lambda _: vectors, lambda _: vectors)
        found = band(sweep(head, TextFamily(2, 1), {"previous": [0]}), "previous").least
        return float(found.lower[1]), float(found.upper[1])

    (low, high), (lower, higher) = least(0.0), least(0.01)
    assert lower < low <= high < higher


def test_vectors_that_are_hardly_known_say_next_to_nothing() -> None:
    vectors = TokenVectors(np.array([[0.0], [1.0]]), 50.0)
    head = PlacedHead(np.arange(2), lambda _: vectors, lambda _: vectors)
    found = band(sweep(head, TextFamily(2, 1), {"previous": [0]}), "previous")
    assert found.least.lower[1] < 1e-100 and found.least.upper[1] == 1.0
