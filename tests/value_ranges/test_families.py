"""Further families: what their attention gets, and what their caches keep, by texts and by gradients.

An input of the norm is put in its place by a hook. It is climbed by gradients, in float32, towards each channel of each
head; then it is given to the model in its own type.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from headwright.value_ranges.description import ModelDescription
from headwright.value_ranges.measure import ranges
from headwright.value_ranges.open_model import open_model
from headwright.value_ranges.result import HeadRange, LayerRange
from tests.effort import tried
from tests.value_ranges.small_models import MORE_CONFIGS, small_model

TYPES = ("float32", "bfloat16", "float16")
LARGE = 1000.0  # inputs beside which eps is nothing
STEPS = 60
# A part of the largest bound of each head that inputs must reach.
SHARE = 0.8
RECORDING = "headwright-recording"
FIRST_ALONE = "headwright-first-alone"
# Projections that are clipped stay below their bounds; beside a bias, a projection cannot point everywhere.
NOT_REACHED = {"olmo-clipped": 0.02}


class EnoughError(Exception):
    """The first attention was recorded: what the model computes after it does not matter."""


def record_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Any,
    **said: Any,
) -> tuple[Tensor, None]:
    """Attention that returns zeros, and keeps what it gets, with the gradients."""
    recorded.append((query, key, value, said["scaling"]))
    batch, heads, tokens, _ = query.shape
    return query.new_zeros(batch, tokens, heads, value.shape[-1]), None


def record_first(*tensors: Any, **said: Any) -> Any:
    """The same, and ends the model's run."""
    record_attention(*tensors, **said)
    raise EnoughError


recorded: list[tuple[Tensor, Tensor, Tensor, float]] = []
AttentionInterface.register(RECORDING, record_attention)
AttentionInterface.register(FIRST_ALONE, record_first)
AttentionMaskInterface.register(RECORDING, eager_mask)
AttentionMaskInterface.register(FIRST_ALONE, eager_mask)


def read_module(model: Any, description: ModelDescription) -> Any:
    """What the first attention reads from: its norm, or the attention itself where there is none."""
    family = description.family
    layer = description.attention_layers[0]
    if family.norm is None:
        return model.get_submodule(
            f"{family.stem}{family.attention}".format(layer=layer).rstrip(".")
        )
    if family.first_norm is not None:
        return model.get_submodule(family.first_norm)
    return model.get_submodule(f"{family.stem}{family.norm}".format(layer=layer))


@contextmanager
def reading(module: Any, inputs: Tensor) -> Iterator[None]:
    """While it lasts, the module reads these numbers."""

    def replace_input(_: Any, args: Any, kwargs: Any) -> Any:
        if args:
            return (inputs, *args[1:]), kwargs
        return args, kwargs | {"hidden_states": inputs}

    hook = module.register_forward_pre_hook(replace_input, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


def attention_of_inputs(
    model: Any, description: ModelDescription, inputs: Tensor
) -> tuple[Tensor, Tensor, Tensor, float]:
    """What the first attention gets: each input is a text of one token."""
    recorded.clear()
    tokens = torch.ones(len(inputs), 1, dtype=torch.long)
    module = read_module(model, description)
    with reading(module, inputs[:, None].to(model.dtype)), suppress(EnoughError):
        model(input_ids=tokens)
    return recorded[0]


def climb(model: Any, description: ModelDescription, width: int) -> Tensor:
    """Inputs that make each channel of each query, key and value large, both ways; and inputs at random."""
    generator = torch.Generator().manual_seed(4)
    shapes = [
        part.shape
        for part in attention_of_inputs(model, description, torch.ones(1, width))[:3]
    ]
    targets = sum(shape[1] * shape[3] for shape in shapes)
    order = torch.arange(targets).repeat(2)
    signs = torch.tensor([1.0, -1.0]).repeat_interleave(targets)
    inputs = torch.randn(2 * targets, width, generator=generator)
    inputs.requires_grad_()
    optimiser = torch.optim.Adam([inputs], lr=0.3)
    for _ in range(STEPS):
        parts = attention_of_inputs(model, description, inputs)[:3]
        # Of each input one channel.
        everything = torch.cat([part.flatten(1) for part in parts], dim=1)
        chosen = everything[torch.arange(len(inputs)), order]
        loss = -(chosen * signs).sum()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    climbed = inputs.detach()
    climbed = climbed / climbed.norm(dim=1, keepdim=True) * width**0.5
    random = torch.randn(64, width, generator=generator)
    all_inputs = torch.cat([climbed, random**5, random.sign(), torch.eye(width)])
    return all_inputs.clamp(-60, 60)  # so that float16 holds them, enlarged


def heads_of(bounds: LayerRange) -> tuple[tuple[HeadRange, ...], ...]:
    return bounds.queries, bounds.keys, bounds.values


def assert_heads_within(heads: tuple[HeadRange, ...], numbers: Tensor) -> None:
    """Of (texts, heads, tokens, channels)."""
    assert numbers.shape[1] == len(heads)
    for head, bound in enumerate(heads):
        rows = numbers[:, head].detach().double().flatten(0, 1).numpy()
        assert np.isfinite(rows).all()
        assert (np.abs(rows) <= bound.after.channels).all()
        assert (np.linalg.norm(rows, axis=1) <= bound.after.length).all()


def assert_within(bounds: LayerRange, call: tuple[Any, ...]) -> None:
    query, key, value, scale = call
    for heads, numbers in zip(heads_of(bounds), (query, key, value), strict=True):
        assert_heads_within(heads, numbers)
    copies = query.shape[1] // key.shape[1]
    products = query.float() @ key.float().repeat_interleave(copies, 1).transpose(2, 3)
    largest = products.abs().amax(dim=(0, 2, 3)).tolist()
    for score, product in zip(bounds.scores, largest, strict=True):
        assert product <= score.product
        assert product * scale <= score.score


@pytest.mark.parametrize("name", MORE_CONFIGS)
def test_climbed_inputs_come_close_to_the_bounds_and_exceed_none(name: str) -> None:
    model = small_model(name)
    model.set_attn_implementation(FIRST_ALONE)
    description = open_model(model).description
    width = description.embedding_width
    if description.family.first_norm is None:
        width = description.width
    inputs = climb(model, description, width) * LARGE
    for dtype in TYPES:
        model = model.to(getattr(torch, dtype))
        bounds = ranges(model).layers[0]
        with torch.no_grad():
            for size in (1.0, 1 / LARGE):
                if description.family.norm is None and dtype == "float16" and size == 1:
                    continue  # a projection without a norm before it may overflow
                call = attention_of_inputs(model, description, inputs * size)
                assert_within(bounds, call)
            if dtype != "float32":
                continue
            call = attention_of_inputs(model, description, inputs)
        share = NOT_REACHED.get(name, SHARE)
        for heads, numbers in zip(heads_of(bounds), call[:3], strict=True):
            for head, bound in enumerate(heads):
                if np.isfinite(bound.before.exact_length):
                    reached = float(numbers[:, head].abs().max())
                    assert reached >= share * bound.before.exact_channels.max()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", MORE_CONFIGS)
def test_texts_and_caches_exceed_no_bound(name: str, dtype: str) -> None:
    """In every layer: what attention gets, and what the model's own cache keeps."""
    model = small_model(name, seed=1, dtype=dtype)
    bounds = ranges(model).layers
    generator = torch.Generator().manual_seed(2)
    tokens = torch.randint(3, 40, (tried(16), 24), generator=generator)
    recorded.clear()
    with torch.no_grad():
        before = model.config._attn_implementation
        kept = getattr(model(input_ids=tokens), "past_key_values", None)
        model.set_attn_implementation(RECORDING)
        model(input_ids=tokens)
        model.set_attn_implementation(before)
    assert len(recorded) == len(bounds)
    for layer, call in zip(bounds, recorded, strict=True):
        assert_within(layer, call)
    if kept is None:
        return
    for layer in bounds:
        held = kept.layers[layer.index]
        # A cache of latent attention keeps the latent vector as keys, and the rotated part as values.
        heads = layer.keys, layer.values
        if layer.latents:
            heads = layer.latents[:1], layer.latents[1:]
        assert_heads_within(heads[0], held.keys)
        assert_heads_within(heads[1], held.values)
