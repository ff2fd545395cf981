"""Order and positions, in models of transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.findings.positions import order, places
from headwright.positions import Learned, Rotary
from tests.models.loading.tiny import saved, some_tokens


def test_positions_are_told_or_refused_by_name(tmp_path: Path) -> None:
    for family, kind in (("llama", Rotary), ("gpt2", Learned), ("bert", Learned)):
        model = load_model(saved(family, tmp_path / family))
        found = places(model)
        assert found is not None
        assert isinstance(found.scheme, kind)
        assert found.length == model.longest
        assert found.report.collisions == 0
    with pytest.raises(InputError, match="gpt_oss"):
        places(load_model(saved("gpt-oss", tmp_path / "gpt-oss")))


def test_shuffles_leave_the_first_and_the_last_token_where_they_are(tmp_path: Path) -> None:
    ran: list[np.ndarray] = []
    model = load_model(saved("llama", tmp_path))

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(model, name)

        def run(self, tokens: np.ndarray) -> object:
            ran.append(np.asarray(tokens))
            return model.run(tokens)

    tokens = some_tokens()
    order(Watched(), tokens, 2, (0,), seed=0)  # type: ignore[arg-type]
    assert all(each[0] == tokens[0] and each[1] == tokens[1] and each[-1] == tokens[-1] for each in ran)
    assert all(sorted(each) == sorted(tokens) for each in ran)
    assert any((each != tokens).any() for each in ran)
