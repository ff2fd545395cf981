"""What is kept of rows lies together, and is read as it was."""

from __future__ import annotations

import numpy as np
import torch

from headwright.statistics.request import StatisticsRequest
from headwright.watching.names import SPOILT
from headwright.watching.recorded import (
    LARGEST_PIECE,
    KeptArray,
    RecordedStack,
    RowStorage,
    Run,
    tensor_of,
)


def test_arrays_of_any_type_are_kept_in_few_pieces() -> None:
    storage, rng = RowStorage(), np.random.default_rng(0)
    given = [
        torch.from_numpy(rng.normal(size=(2, 3, 7 + count))) for count in range(200)
    ]
    given += [
        torch.arange(5),
        torch.tensor([[True, False]]),
        torch.tensor(3),
        torch.ones(0),
        torch.ones(2, 3).mT,
    ]
    kept = [storage.keep(each) for each in given]
    for before, after in zip(given, kept, strict=True):
        assert isinstance(after, KeptArray)
        assert (
            torch.equal(before, tensor_of(after))
            and before.dtype == tensor_of(after).dtype
        )
    assert len({id(each.piece) for each in kept if isinstance(each, KeptArray)}) <= 5
    large = storage.keep(torch.ones(LARGEST_PIECE // 4 + 1))
    assert bool((tensor_of(large) == 1).all())


def test_rows_and_means_of_a_layer_are_no_tensors_of_their_own() -> None:
    part, run = (
        RecordedStack("model", StatisticsRequest.of(("entropy",)), "both"),
        Run(1, 0, 3),
    )
    part.open(run)
    for _ in range(2):
        found = {
            SPOILT: torch.zeros(1, 2, 3, dtype=torch.bool),
            "entropy": torch.ones(1, 2, 3),
        }
        part.add(run, 0, found, 0, 3)
    rows, sums = part.layers[0][0].rows, part.means[(0,)]
    kept = [
        *rows[0].values(),
        *rows[1].values(),
        *sums.total.values(),
        *sums.count.values(),
    ]
    assert all(isinstance(each, KeptArray) for each in kept)
    assert part.layer(0).entropy.shape == (1, 2, 6)
    assert tensor_of(sums.total["entropy"]).tolist() == [[6.0, 6.0]]


def test_means_of_layers_that_wait_are_those_of_layers_added_at_once() -> None:
    """As on a GPU, where a run's layers are added together; of several shapes, and after means were read."""
    wanted = StatisticsRequest.of(("entropy", "largest_score", "top_weights"))
    at_once, later = (
        RecordedStack("model", wanted, "means"),
        RecordedStack("model", wanted, "means"),
    )
    heads = {0: 2, 1: 2, 2: 3}
    for number in range(5):
        for index, count in heads.items():
            found = {
                SPOILT: torch.zeros(2, count, 4, dtype=torch.bool),
                "entropy": torch.rand(2, count, 4),
                "largest_score": torch.randn(2, count, 4),
                "top_weights": torch.rand(2, count, 4, 8),
            }
            if number == 1:  # a row of padding
                found["entropy"][:, :, 0] = torch.nan
                found["largest_score"][:, :, 0] = torch.nan
            if number == 3 and index == 0:
                found[SPOILT][0, 1, 2] = True
                found["largest_score"][0, 1, 2] = torch.nan
            for part in (at_once, later):
                part.layers.setdefault(index, [])
            at_once._add_together((index,), [found])
            if index in later.waiting:
                later.finish_means()
            later.waiting[index] = found
        if number == 2:
            later.finish_means()
    for (index, truth), (same, means) in zip(
        at_once.summaries(), later.summaries(), strict=True
    ):
        assert index == same and truth.rows == means.rows == 38
        assert truth.heads == means.heads == heads[index]
        for name in ("entropy", "largest_score"):
            np.testing.assert_allclose(means.mean(name), truth.mean(name), rtol=1e-6)
