"""What a mask says is read off its definition, or refused."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import masking_utils as masks

from headwright.errors import InputError
from headwright.models.blockwise_attention import read_mask
from headwright.models.kernel_arguments import sees


@settings(deadline=None, max_examples=40)
@given(
    count=st.integers(1, 40),
    window=st.integers(1, 45),
    causal=st.booleans(),
    local=st.booleans(),
)
def test_a_mask_is_told_by_two_numbers(
    count: int, window: int, causal: bool, local: bool
) -> None:
    if local:
        function = (
            masks.sliding_window_causal_mask_function(window)
            if causal
            else masks.sliding_window_bidirectional_mask_function(window)
        )
    else:
        function = (
            masks.causal_mask_function if causal else masks.bidirectional_mask_function
        )
    rule = read_mask(q_length=count, kv_length=count, mask_function=function)
    places = torch.arange(count)
    truth = function(
        torch.tensor(0), torch.tensor(0), places[:, None], places[None]
    ).expand(count, count)
    assert torch.equal(sees(places, places, rule.causal, rule.window), truth)


def test_a_mask_of_another_shape_is_refused() -> None:
    chunked = masks.chunked_causal_mask_function(4, torch.zeros(1, dtype=torch.long))
    with pytest.raises(InputError, match="neither causal nor full"):
        read_mask(q_length=9, kv_length=9, mask_function=chunked)


def test_a_hole_in_a_long_mask_is_found() -> None:
    def holed(
        batch: torch.Tensor, head: torch.Tensor, row: torch.Tensor, key: torch.Tensor
    ) -> torch.Tensor:
        return (key <= row) & ~((row == 700) & (key == 3))

    with pytest.raises(InputError, match="neither causal nor full"):
        read_mask(q_length=1100, kv_length=1100, mask_function=holed)


def test_a_mask_that_only_runs_element_by_element_is_refused() -> None:
    with pytest.raises(InputError, match="a mask of its own"):
        read_mask(
            q_length=4,
            kv_length=4,
            mask_function=masks.causal_mask_function,
            use_vmap=True,
        )


def test_padding_becomes_the_mask_of_the_keys() -> None:
    padded = torch.tensor([[1, 1, 0]])
    rule = read_mask(
        q_length=3,
        kv_length=3,
        mask_function=masks.causal_mask_function,
        attention_mask=padded,
    )
    assert rule.key_mask is not None
    assert rule.key_mask.tolist() == [True, True, False]
