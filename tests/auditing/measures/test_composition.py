"""Compositions of heads are those of whole matrices, and the built-in model shows its induction circuit."""

from __future__ import annotations

import numpy as np
import pytest

import headwright as hw
from headwright.auditing.measures.composition import (
    LargestComposition,
    compositions,
    largest_compositions,
)
from headwright.models.model import Circuits

WIDTH = 24


def _circuits(seed: int, heads: int = 4, key_heads: int = 2) -> Circuits:
    rng = np.random.default_rng(seed)
    return Circuits(
        rng.normal(size=(heads, WIDTH, 3)),
        rng.normal(size=(key_heads, WIDTH, 3)),
        rng.normal(size=(key_heads, WIDTH, 5)),
        rng.normal(size=(heads, 5, WIDTH)),
    )


def _ov(circuits: Circuits, head: int) -> np.ndarray:
    group = len(circuits.query) // len(circuits.key)
    product: np.ndarray = circuits.value[head // group] @ circuits.output[head]
    return product


def _qk(circuits: Circuits, head: int) -> np.ndarray:
    group = len(circuits.query) // len(circuits.key)
    product: np.ndarray = circuits.query[head] @ circuits.key[head // group].T
    return product


def _brute(earlier: Circuits, later: Circuits, side: str) -> np.ndarray:
    """With matrices of width x width."""
    ratios = np.empty((len(later.query), len(earlier.query)))
    for head in range(len(later.query)):
        qk, ov = _qk(later, head), _ov(later, head)
        read = {"q": qk, "k": qk.T, "v": ov}[side]
        for before in range(len(earlier.query)):
            written = _ov(earlier, before)
            size = np.linalg.norm(written) * np.linalg.norm(read)
            ratios[head, before] = np.linalg.norm(written @ read) / size
    return ratios


@pytest.mark.parametrize("side", ["q", "k", "v"])
def test_compositions_are_those_of_whole_matrices(side: str) -> None:
    earlier, later = [_circuits(0), _circuits(1)], _circuits(2)
    truth = [_brute(circuits, later, side) for circuits in earlier]
    for circuits, expected in zip(earlier, truth, strict=True):
        found = compositions(circuits, later, side)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    together = np.concatenate(truth, axis=1)
    largest = largest_compositions(earlier, later, side)
    np.testing.assert_allclose(largest[:, 0], together.max(axis=1), rtol=1e-10)
    best = together.argmax(axis=1)
    np.testing.assert_array_equal(largest[:, 1:], np.stack([best // 4, best % 4], 1))


def test_the_mean_square_of_random_matrices_is_one_over_the_width() -> None:
    squares = [
        compositions(_circuits(seed), _circuits(seed + 1000), "k") ** 2
        for seed in range(60)
    ]
    assert np.mean(squares) == pytest.approx(1 / WIDTH, rel=0.05)


def test_heads_that_write_nothing_compose_with_none() -> None:
    silent = Circuits(
        *(np.zeros_like(matrix) for matrix in list(vars(_circuits(0)).values())[:4])
    )
    assert not compositions(silent, _circuits(1), "q").any()
    assert not compositions(_circuits(1), silent, "v").any()


def test_the_built_in_model_shows_its_induction_circuit() -> None:
    """The induction head's keys read what the head of the previous token writes."""
    found = hw.audit(hw.load_model("builtin:induction"), every_text=False)
    induction = max(found.heads, key=lambda head: head.value("induction_away") or 0.0)
    previous = max(found.heads, key=lambda head: head.value("previous_away") or 0.0)
    keys = induction.result("k_composition", LargestComposition)
    queries = induction.result("q_composition", LargestComposition)
    assert keys is not None and queries is not None
    assert (keys.layer, keys.head) == (previous.layer, previous.head)
    assert keys.value > 2 / 64**0.5 and keys.value > 1.5 * queries.value
    for row in found.table():
        for name in ("q_composition", "k_composition", "v_composition"):
            assert (row[name] is None) == (row["layer"] == 0)
