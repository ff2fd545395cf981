"""Shuffled tokens, in models of transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from headwright.auditing.measures.shuffling import measure_order
from headwright.models import load_model
from headwright.models.model import LayerVisitor, Tokens
from tests.models.tiny import saved, some_tokens


def test_shuffles_leave_the_first_and_the_last_token_where_they_are(
    tmp_path: Path,
) -> None:
    ran: list[np.ndarray] = []
    model = load_model(saved("llama", tmp_path))

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(model, name)

        def visit_layers(
            self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
        ) -> None:
            ran.append(np.asarray(tokens))
            model.visit_layers(tokens, visit, last)

    tokens = some_tokens()
    measure_order(Watched(), tokens, 2, (0,), seed=0)  # type: ignore[arg-type]
    assert all(
        each[0] == tokens[0] and each[1] == tokens[1] and each[-1] == tokens[-1]
        for each in ran
    )
    assert all(sorted(each) == sorted(tokens) for each in ran)
    assert any((each != tokens).any() for each in ran)
