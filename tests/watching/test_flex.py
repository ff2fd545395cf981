"""FlexAttention: the statistics are of the masks and scores that its functions say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import headwright as hw
from headwright.errors import InputError

flex = pytest.importorskip("torch.nn.attention.flex_attention")

pytestmark = pytest.mark.filterwarnings("ignore")
TEXTS, HEADS, ROWS, WIDTH = 2, 4, 160, 16
DOCUMENTS = torch.stack([torch.arange(ROWS) // 70, torch.arange(ROWS) // 50])
SLOPES = torch.tensor([0.1, 0.2, 0.4, 0.8])


class FlexLayer(nn.Module):
    """Two heads share a key head."""

    def __init__(self, attention: Callable[..., Any]) -> None:
        super().__init__()
        self.queries, self.attention = nn.Linear(WIDTH, WIDTH), attention

    def forward(self, x: Tensor, mask: Any = None, change: Any = None) -> Tensor:
        keys = x[:, :2]
        out: Tensor = self.attention(
            self.queries(x), keys, keys, change, mask, enable_gqa=True
        )
        return out


class FlexModel(nn.Module):
    """Two such layers."""

    def __init__(self, attention: Callable[..., Any]) -> None:
        super().__init__()
        self.h = nn.ModuleList([FlexLayer(attention), FlexLayer(attention)])

    def forward(self, x: Tensor, mask: Any = None, change: Any = None) -> Tensor:
        for layer in self.h:
            x = layer(x, mask, change)
        return x


def in_document(text: Tensor, head: Tensor, row: Tensor, key: Tensor) -> Tensor:
    """Packed documents."""
    return (DOCUMENTS[text, row] == DOCUMENTS[text, key]) & (row >= key)


def near(text: Tensor, head: Tensor, row: Tensor, key: Tensor) -> Tensor:
    """Each head as far as its number says, the first one not at all."""
    return (row - key).abs() < 20 * head


def alibi(
    score: Tensor, text: Tensor, head: Tensor, row: Tensor, key: Tensor
) -> Tensor:
    """A slope for each head."""
    return score + SLOPES[head] * (key - row)


def softcap(
    score: Tensor, text: Tensor, head: Tensor, row: Tensor, key: Tensor
) -> Tensor:
    """A function of the score that adds nothing."""
    return 2 * torch.tanh(score / 2)


def truth(model: FlexModel, x: Tensor, visible: Any, change: Any) -> Tensor:
    """The pattern of the first layer, by the definition."""
    queries, keys = model.h[0].queries(x).double(), x[:, :2].double()  # type: ignore[operator]
    scores = queries @ keys.repeat_interleave(2, 1).mT / WIDTH**0.5
    text = torch.arange(TEXTS)[:, None, None, None]
    head = torch.arange(HEADS)[None, :, None, None]
    row, key = torch.arange(ROWS)[:, None], torch.arange(ROWS)
    if change is not None:
        scores = change(scores, text, head, row, key)
    if visible is not None:
        scores = scores.masked_fill(~visible(text, head, row, key), -torch.inf)
    return scores.softmax(-1)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("visible", "axes", "change"),
    [
        (None, (None, None), None),
        (in_document, (TEXTS, None), None),
        (in_document, (TEXTS, None), alibi),
        (near, (None, HEADS), softcap),
    ],
)
def test_statistics_are_of_what_the_functions_say(
    compiled: bool, visible: Any, axes: tuple[int | None, int | None], change: Any
) -> None:
    torch.manual_seed(0)
    torch._dynamo.reset()
    attention = flex.flex_attention
    if compiled:
        attention = torch.compile(attention, backend="aot_eager")
    model, x = FlexModel(attention), 2 * torch.randn(TEXTS, HEADS, ROWS, WIDTH)
    mask = None
    if visible is not None:
        mask = flex.create_block_mask(visible, *axes, ROWS, ROWS, device="cpu")
    with torch.no_grad():
        expected = model(x, mask, change)
        pattern = truth(model, x, visible, change)
        names = ["entropy", "received"]
        with hw.watch(model, names, weights=hw.rows([3, ROWS - 1])) as seen:
            out = model(x, mask, change)
    assert torch.equal(out, expected)
    assert seen.modules == ("h.0", "h.1")
    layer = seen.layer("h.0")
    entropy = -(pattern * pattern.clamp_min(1e-300).log()).sum(-1)
    np.testing.assert_allclose(layer.entropy, entropy, atol=1e-5)
    np.testing.assert_allclose(layer.received, pattern.nan_to_num().sum(2), atol=1e-4)
    chosen = pattern[:, :, [3, ROWS - 1]]
    np.testing.assert_allclose(layer.weights, chosen, atol=1e-5)


def test_blocks_that_contradict_the_mask_are_refused() -> None:
    mask = flex.create_block_mask(near, None, HEADS, ROWS, ROWS, device="cpu")
    fewer = flex.BlockMask.from_kv_blocks(
        torch.ones_like(mask.kv_num_blocks),
        mask.kv_indices,
        BLOCK_SIZE=128,
        mask_mod=None,
        seq_lengths=(ROWS, ROWS),
    )
    model = FlexModel(flex.flex_attention)
    x = torch.randn(TEXTS, HEADS, ROWS, WIDTH)
    with (
        torch.no_grad(),
        pytest.raises(InputError, match="say different things"),
        hw.watch(model),
    ):
        model(x, fewer)
