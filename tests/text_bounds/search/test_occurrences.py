"""The weight on all occurrences of a token, against brute force over all texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.text_bounds.search.occurrences import occurrences
from headwright.text_bounds.search.texts import TextFamily
from tests.text_bounds.test_every_text import KINDS, V, all_texts, heads, pattern


@pytest.mark.parametrize("texts", KINDS)
@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([0.1, 1.0, 5.0]),
    token=st.integers(0, V - 1),
)
def test_least_and_most_are_those_of_all_texts(
    texts: TextFamily, seed: int, size: float, token: int
) -> None:
    for head in heads(seed, size):
        found = occurrences(head, texts, token)
        for query in range(V):
            weights = {}
            for text in all_texts(texts, query):
                places = [at for at in (*texts.free, texts.place) if text[at] == token]
                if places:
                    weights[text] = sum(pattern(head, texts, text)[at] for at in places)
            for bounds, truth in (
                (found.least, min(weights.values())),
                (found.most, max(weights.values())),
            ):
                assert bounds.lower[query] <= truth * (
                    1 + 1e-12
                ) and truth <= bounds.upper[query] * (1 + 1e-12)
                assert bounds.upper[query] - bounds.lower[query] < 1e-9
            shown = tuple(int(t) for t in found.text(head, texts, query, token))
            places = [at for at in (*texts.free, texts.place) if shown[at] == token]
            assert sum(
                pattern(head, texts, shown)[at] for at in places
            ) == pytest.approx(min(weights.values()))


def test_refuses_a_token_that_no_place_may_hold() -> None:
    with pytest.raises(InputError, match="any place may hold"):
        occurrences(heads(0, 1.0)[0], TextFamily(4, 3), V)


def test_refuses_texts_without_a_free_place() -> None:
    with pytest.raises(InputError, match="no free place"):
        occurrences(heads(0, 1.0)[0], TextFamily(2, 1, {0: 1}), 0, np.array([0]))
