"""A whole audit of tiny models of many families agrees with the patterns that transformers stores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from headwright.auditing import audit
from headwright.auditing.measures.first_token import FROM
from headwright.models import load_model
from tests.models.tiny import eager, saved


@pytest.mark.parametrize(
    "family", ["llama", "gpt2", "mistral", "gemma2", "gpt-oss", "bert"]
)
def test_findings_are_those_of_the_stored_patterns(family: str, tmp_path: Path) -> None:
    folder = saved(family, tmp_path)
    found = audit(load_model(folder), tokens=120, max_length=40)
    first, previous, equal, followed, rest, later = (np.zeros((2, 4)) for _ in range(6))
    rows = 0
    for document in found.documents:
        tokens = document.tokens
        with torch.no_grad():
            truth = eager(folder)(
                input_ids=torch.tensor(tokens)[None], output_attentions=True
            ).attentions
        alpha = np.stack([layer[0].double().numpy() for layer in truth])[
            :, :, FROM:
        ]  # layers, heads, rows, keys
        places = np.arange(FROM, len(tokens))
        rows += len(places)
        first += alpha[..., 0].sum(axis=2)
        rest += (1 - alpha[..., 0]).sum(axis=2)
        for row, place in enumerate(places):
            same = [j for j in range(1, place) if tokens[j] == tokens[place]]
            previous += alpha[:, :, row, place - 1]
            equal += alpha[:, :, row, same].sum(axis=2)
            if place >= document.opening + document.period:
                after = [
                    place - m * document.period + 1 for m in range(1, document.repeats)
                ]
                followed += alpha[:, :, row, [j for j in after if j > 0]].sum(axis=2)
                later += 1 - alpha[:, :, row, 0]
    for head in found.heads:
        at = head.layer, head.head
        for name, value in (
            ("sink", first[at] / rows),
            ("previous_away", previous[at] / rest[at]),
            ("duplicate_away", equal[at] / rest[at]),
            ("induction_away", followed[at] / later[at]),
        ):
            assert head.value(name) == pytest.approx(value, abs=2e-5), (head.name, name)
