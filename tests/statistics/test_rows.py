"""The blocked path agrees with the definition, whatever mask, cap or sink a head has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.statistics import row_statistics
from headwright.statistics.attention_config import AttentionConfig
from tests.statistics.reference import reference

FIELDS = (
    "lse",
    "largest",
    "entropy",
    "first",
    "distance",
    "sensitivity",
    "margin",
    "largest_score",
)
MORE = (
    "top",
    "top_weights",
    "start",
    "middle",
    "recent",
    "received",
    "received_last",
    "received_most",
)


def _agree(
    q: np.ndarray, k: np.ndarray, tolerance: float, *, top: int = 3, **how: object
) -> None:
    chosen = np.arange(k.shape[1]) % 3 == 1
    found = row_statistics(
        q,
        k,
        offsets=(0, 1, 3),
        top=top,
        received=True,
        ends=(2, 3),
        key_sets={"chosen": chosen},
        last_rows=4,
        **how,  # type: ignore[arg-type]
    )
    scoring = AttentionConfig.of(q.shape, k.shape, **how)  # type: ignore[arg-type]
    truth = reference(q, k, scoring, (0, 1, 3), top, key_set=chosen)
    size = (
        1 + np.abs(q).max() * np.abs(k).max() * q.shape[2]
    )  # scores are known up to their size
    for name in FIELDS:
        got, true = getattr(found, name), getattr(truth, name)
        np.testing.assert_allclose(
            got,
            true,
            atol=tolerance * size * q.shape[1],
            rtol=tolerance * size,
            err_msg=name,
        )
    for offset, weight in truth.offsets.items():
        np.testing.assert_allclose(found.offsets[offset], weight, atol=tolerance * size)
    np.testing.assert_allclose(
        found.sets["chosen"], truth.sets["chosen"], atol=tolerance * size
    )
    for name in MORE:
        got, true = getattr(found, name), getattr(truth, name)
        np.testing.assert_allclose(
            got, true, atol=tolerance * size * q.shape[1], err_msg=name
        )
    assert found.top_weights is not None
    apart = np.diff(found.top_weights, axis=2, append=0.0) < -tolerance * size
    clear_top = apart & np.roll(
        apart | (np.arange(apart.shape[2]) == apart.shape[2] - 1), 1, axis=2
    )
    assert found.top_keys is not None and truth.top_keys is not None
    assert np.equal(found.top_keys, truth.top_keys)[
        clear_top
    ].all()  # where neither neighbour is as large
    clear = truth.margin > tolerance * size
    assert (found.winner == truth.winner)[clear].all()


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 40),
    more=st.integers(0, 30),
    causal=st.booleans(),
    window=st.none() | st.integers(1, 20),
    softcap=st.none() | st.floats(0.5, 50),
    sinks=st.booleans(),
    masked=st.booleans(),
    size=st.sampled_from([0.1, 1.0, 8.0]),
)
def test_every_way_of_scoring_agrees_with_the_definition(
    seed: int,
    rows: int,
    more: int,
    causal: bool,
    window: int | None,
    softcap: float | None,
    sinks: bool,
    masked: bool,
    size: float,
) -> None:
    rng = np.random.default_rng(seed)
    q, k = size * rng.normal(size=(4, rows, 5)), rng.normal(size=(2, rows + more, 5))
    mask = rng.random(rows + more) < 0.7 if masked else None
    _agree(
        q,
        k,
        1e-12,
        causal=causal,
        window=window,
        softcap=softcap,
        sinks=rng.normal(size=4) if sinks else None,
        key_mask=mask,
    )


def test_several_blocks_in_float32_agree_with_the_definition() -> None:
    rng = np.random.default_rng(0)
    q, k = (rng.normal(size=(2, 1300, 16)).astype(np.float32) for _ in range(2))
    _agree(q, k, 2e-6)


def test_a_batch_is_its_texts_one_after_the_other() -> None:
    rng = np.random.default_rng(5)
    q, k, masks = (
        rng.normal(size=(3, 4, 20, 8)),
        rng.normal(size=(3, 2, 20, 8)),
        rng.random((3, 20)) < 0.8,
    )
    one = masks[0]
    found = row_statistics(
        q, k, key_mask=masks, received=True, top=2, ends=(1, 2), key_sets={"one": one}
    )
    for i in range(3):
        alone = row_statistics(
            q[i],
            k[i],
            key_mask=masks[i],
            received=True,
            top=2,
            ends=(1, 2),
            key_sets={"one": one},
        )
        for name in (*FIELDS, *MORE, "winner", "top_keys"):
            np.testing.assert_array_equal(
                getattr(found, name)[i], getattr(alone, name), err_msg=name
            )
        np.testing.assert_array_equal(found.sets["one"][i], alone.sets["one"])
        np.testing.assert_array_equal(found.offsets[1][i], alone.offsets[1])
    assert "4 heads, 20 rows each" in repr(found)
    with pytest.raises(InputError, match="expected \\(keys,\\) or \\(batch, keys\\)"):
        row_statistics(q, k, key_mask=masks[:2])
    with pytest.raises(InputError, match="one batch"):
        row_statistics(q, k[:2])


def test_of_equal_scores_the_first_keys_are_the_top_ones() -> None:
    found = row_statistics(
        np.zeros((1, 5, 2)), np.zeros((1, 5, 2)), top=3, received=True, ends=(1, 1)
    )
    assert (
        found.top_keys is not None
        and found.start is not None
        and found.recent is not None
    )
    assert found.top_keys[0].tolist() == [[0, -1, -1], [0, 1, -1], *[[0, 1, 2]] * 3]
    np.testing.assert_allclose(found.start[0], [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    np.testing.assert_allclose(found.recent[0], [0, 1 / 2, 1 / 3, 1 / 4, 1 / 5])


@pytest.mark.parametrize("top", [1, 2, 5])
def test_the_sum_of_the_largest_weights_is_of_as_many_as_asked_for(top: int) -> None:
    rng = np.random.default_rng(3)
    _agree(rng.normal(size=(1, 40, 4)), rng.normal(size=(1, 700, 4)), 1e-12, top=top)


def test_rows_of_more_queries_than_keys_agree() -> None:
    rng = np.random.default_rng(4)
    _agree(
        rng.normal(size=(2, 30, 4)),
        rng.normal(size=(1, 9, 4)),
        1e-12,
        causal=False,
        window=4,
    )


def test_blocks_of_a_window_that_start_in_the_middle_agree() -> None:
    rng = np.random.default_rng(1)
    _agree(
        rng.normal(size=(1, 900, 4)), rng.normal(size=(1, 1700, 4)), 1e-12, window=700
    )


def test_a_row_that_sees_nothing_has_no_weights() -> None:
    found = row_statistics(
        np.ones((1, 2, 1)), np.ones((1, 2, 1)), key_mask=np.array([False, True])
    )
    assert found.lse[0, 0] == -np.inf
    assert (found.winner[0, 0], found.largest[0, 0], found.first[0, 0]) == (
        -1,
        0.0,
        0.0,
    )
    assert (found.winner[0, 1], found.largest[0, 1], found.margin[0, 1]) == (
        1,
        1.0,
        np.inf,
    )


@pytest.mark.parametrize(
    "mask",
    [
        np.array([0, 0, 1, 1, 1]),
        np.array([0.0, 0.0, 1.0, 1.0, 1.0]),
        [False, False, True, True, True],
    ],
)
def test_behind_padding_the_first_key_is_the_first_that_is_seen(mask: Any) -> None:
    q = np.zeros((1, 5, 2))
    found = row_statistics(q, q, key_mask=mask)
    np.testing.assert_allclose(found.first, [[0, 0, 1, 1 / 2, 1 / 3]])
    np.testing.assert_allclose(
        reference(q, q, AttentionConfig.of(q.shape, q.shape, key_mask=mask)).first,
        found.first,
    )
    near = row_statistics(q, q, key_mask=mask, window=2)
    np.testing.assert_allclose(near.first, [[0, 0, 1, 1 / 2, 0]])


def test_scores_of_any_size_neither_overflow_nor_warn() -> None:
    q = np.array([[[1e4], [-1e4]]])
    found = row_statistics(q, np.array([[[1e4], [-1e4]]]), scale=1.0)
    assert found.largest.tolist() == [[1.0, 1.0]]
    assert found.winner.tolist() == [[0, 1]]
    assert found.entropy.tolist() == [[0.0, 0.0]]


def test_no_weight_is_above_1_however_large_scores_are() -> None:
    rng = np.random.default_rng(0)
    q, k = (
        rng.normal(size=(2, 300, 64)).astype(np.float32) * np.float32(1e12)
        for _ in range(2)
    )
    found = row_statistics(
        q, k, offsets=(0, 1), received=True
    )  # their rounding alone is far above 700
    assert found.received is not None
    for weights in (found.first, found.largest, *found.offsets.values()):
        assert np.isfinite(weights).all() and weights.max() <= 1.0
    assert np.isfinite(found.received).all() and found.received.max() <= 300


@pytest.mark.parametrize(
    ("queries", "keys", "how", "words"),
    [
        ((2, 3), (1, 3, 2), {}, "expected \\(heads, rows, d\\)"),
        ((3, 3, 2), (2, 3, 2), {}, "divides"),
        ((1, 3, 2), (1, 2, 2), {}, "a key for each row"),
        ((1, 3, 2), (1, 3, 2), {"window": 0}, "window = 0"),
        ((1, 3, 2), (1, 3, 2), {"softcap": 0.0}, "softcap = 0"),
        ((1, 3, 2), (1, 3, 2), {"scale": np.inf}, "scale = inf"),
        ((2, 3, 2), (1, 3, 2), {"sinks": np.zeros(1)}, "each of the 2 heads"),
        ((1, 3, 2), (1, 3, 2), {"key_mask": np.ones(2, dtype=bool)}, "for 3 keys"),
        (
            (1, 3, 2),
            (1, 3, 2),
            {"key_mask": np.array([0.0, 0.0, -1e9])},
            "holds -1e\\+09: expected booleans or 0 and 1",
        ),
        (
            (1, 3, 2),
            (1, 3, 2),
            {"key_mask": np.array([0.0, -np.inf, 0.0])},
            "holds -inf",
        ),
        ((1, 3, 2), (1, 3, 2), {"key_mask": np.array([1, 2, 1])}, "holds 2"),
        ((1, 3, 2), (1, 3, 2), {"key_mask": np.zeros(3)}, "zeros hides every key"),
        (
            (1, 3, 2),
            (1, 3, 2),
            {"key_mask": np.array(["a", "b", "c"])},
            "a key mask of str",
        ),
        ((1, 3, 2), (1, 3, 2), {"offsets": (-1,)}, "from 0"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(
    queries: tuple[int, ...], keys: tuple[int, ...], how: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        row_statistics(np.zeros(queries), np.zeros(keys), **how)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
def test_a_row_that_is_nan_is_nan_in_what_needs_a_second_pass_too() -> None:
    q, k = np.ones((1, 4, 1)), np.zeros((1, 4, 1))
    q[0, 2] = np.nan
    found = row_statistics(
        q, k, top=2, ends=(1, 1), key_sets={"all": np.ones(4, dtype=bool)}
    )
    rows: list[Any] = [
        found.top,
        found.top_weights,
        found.start,
        found.middle,
        found.recent,
        found.sets["all"],
    ]
    for values in rows:
        assert np.isnan(values[0, 2]).all() and np.isfinite(values[0, [0, 1, 3]]).all()
    assert found.top_keys is not None
    assert found.top_keys[0, 2].tolist() == [-1, -1]


@pytest.mark.parametrize("ends", [(1,), (1, 2, 3), 4, (-1, 2), (1, 2.5), "ab"])
@pytest.mark.parametrize("make", [np.ones, torch.ones])
def test_ends_that_are_no_two_numbers_are_refused_by_their_name(
    make: Any, ends: Any
) -> None:
    with pytest.raises(
        InputError, match=r"^ends = .*: expected two whole numbers from 0"
    ):
        row_statistics(make((1, 3, 2)), make((1, 3, 2)), ends=ends)


def test_tensors_give_what_arrays_give() -> None:
    rng = np.random.default_rng(7)
    q, k, mask = (
        rng.normal(size=(2, 4, 30, 8)),
        rng.normal(size=(2, 2, 30, 8)),
        np.arange(30) > 3,
    )
    tensors = torch.from_numpy(q).requires_grad_(), torch.from_numpy(k)
    how: dict[str, Any] = {
        "received": True,
        "ends": (2, 3),
        "top": 2,
        "sinks": np.ones(4),
    }
    found = row_statistics(*tensors, key_mask=torch.from_numpy(mask), **how)
    truth = row_statistics(q, k, key_mask=mask, **how)
    for name in (*FIELDS, *MORE):
        np.testing.assert_allclose(
            getattr(found, name),
            getattr(truth, name),
            rtol=1e-9,
            atol=1e-12,
            err_msg=name,
        )
