"""`attention_with_statistics` returns what torch returns, and the statistics of that call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import headwright as hw
from headwright.errors import InputError
from tests.watching import own_models as own


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"attn_mask": torch.ones(7, 9, dtype=torch.bool).tril(2)},
        {"scale": 0.3, "enable_gqa": True},
    ],
)
def test_output_and_statistics_of_a_call(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    heads = 2 if "enable_gqa" in options else 4
    q = torch.randn(2, 4, 7, 8, requires_grad=True)
    k, v = torch.randn(2, heads, 9, 8), torch.randn(2, heads, 9, 5)
    plain = functional.scaled_dot_product_attention(q, k, v, **options)
    output, statistics = hw.attention_with_statistics(
        q, k, v, statistics=["entropy", "received", "top_keys"], top=3, **options
    )
    assert torch.equal(output, plain) and output.requires_grad
    options["mask"] = options.pop("attn_mask", None)
    with own.stored_patterns() as patterns:
        own.attend(q, k, v, **options)
    pattern = patterns[0]
    logs = np.log(np.where(pattern > 0, pattern, 1.0))
    entropy = -(pattern * logs).sum(-1)
    np.testing.assert_allclose(statistics["entropy"].numpy(), entropy, atol=1e-5)
    received = pattern.sum(2)
    np.testing.assert_allclose(
        statistics["received"].numpy()[..., :7], received[..., :7], atol=1e-5
    )
    assert statistics["top_keys"].shape == (2, 4, 7, 3)
    assert not any(value.requires_grad for value in statistics.values())


def test_a_statistic_that_is_not_there_is_refused() -> None:
    q = torch.randn(1, 1, 3, 4)
    with pytest.raises(InputError, match="there is no statistic entropi"):
        hw.attention_with_statistics(q, q, q, statistics=["entropi"])
    with pytest.raises(
        InputError, match="expected other statistics than special, keys"
    ):
        hw.attention_with_statistics(q, q, q, statistics=["keys"])
