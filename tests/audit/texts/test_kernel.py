"""The GPU's extremes, under Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from headwright.audit.texts.kernel import extremes


@pytest.mark.parametrize(("rows", "keys", "d"), [(1, 1, 16), (70, 130, 16), (64, 300, 32)])
@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
def test_extremes_are_those_of_the_product(rows: int, keys: int, d: int, kind: torch.dtype) -> None:
    torch.manual_seed(rows)
    q, k = torch.randn(rows, d).to(kind), torch.randn(keys, d).to(kind)
    high, low = extremes(q, k)
    scores = q.double() @ k.double().T
    assert torch.allclose(high.double(), scores.amax(1), atol=1e-4)
    assert torch.allclose(low.double(), scores.amin(1), atol=1e-4)
