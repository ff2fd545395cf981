"""Nothing exceeds a bound, in the model's own arithmetic; and inputs of the norm come close to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from headwright.models.attention_calls import AttentionCall
from headwright.models.transformers_calls import transformers_calls
from headwright.value_ranges.arithmetic import arithmetic_of
from headwright.value_ranges.bounds import AffineHead, affine_head, normed_head
from headwright.value_ranges.layer import HeadWeights, LayerWeights, NormWeights
from headwright.value_ranges.measure import ranges
from headwright.value_ranges.open_model import open_model
from headwright.value_ranges.read_layers import read_layers
from headwright.value_ranges.result import LayerRange
from tests.effort import tried
from tests.value_ranges.small_models import (
    CONFIGS,
    Vectors,
    small_model,
    vectors_from,
    vectors_of_text,
)

LARGE = 4000.0  # inputs beside which positions, token types and eps are nothing
TYPES = ("float32", "bfloat16", "float16")
# A part of the bound without rounding that inputs must reach.
SHARE = 0.8


def first_layer(model: Any) -> LayerWeights:
    opened = open_model(model)
    return next(read_layers(opened.description, opened.reader(None)))


def parts(layer: LayerWeights, bounds: LayerRange, vectors: Vectors) -> Any:
    """The weights, bounds and numbers of queries, keys and values of each head."""
    for part, heads, numbers in (
        (layer.query, bounds.queries, vectors.queries),
        (layer.key, bounds.keys, vectors.keys),
        (layer.value, bounds.values, vectors.values),
    ):
        for head, bound in enumerate(heads):
            yield part, head, bound, numbers[head]


def assert_within(layer: LayerWeights, bounds: LayerRange, vectors: Vectors) -> None:
    for _, _, bound, rows in parts(layer, bounds, vectors):
        assert (np.abs(rows) <= bound.after.channels).all()
        assert (np.linalg.norm(rows, axis=1) <= bound.after.length).all()
    for head, rows in enumerate(vectors.queries):
        products = np.abs(rows @ vectors.keys[layer.key_head(head)].T)
        assert products.max() <= bounds.scores[head].product
        assert products.max() * layer.scale <= bounds.scores[head].score


def norm_of(layer: LayerWeights) -> NormWeights:
    """All of these families have one."""
    assert layer.norm is not None
    return layer.norm


def affine(layer: LayerWeights, part: HeadWeights, head: int, name: str) -> AffineHead:
    arithmetic = arithmetic_of(name)
    if part.norms is not None:
        return normed_head(part.norms[0], arithmetic)
    bias = None if part.bias is None else part.bias[head]
    return affine_head(norm_of(layer), part.weight[head], bias, arithmetic)


def inputs_for(layer: LayerWeights, part: HeadWeights, head: int) -> np.ndarray:
    """Inputs of the norm that make the channels of a head large, both ways, and its length."""
    plain = affine(layer, HeadWeights(part.weight, part.bias), head, "float32")
    channels = np.concatenate([plain.matrix, -plain.matrix])
    if part.norms is not None:
        channels = before_norm(
            plain, normed_head(part.norms[0], arithmetic_of("float32"))
        )
    u = np.linalg.svd(plain.matrix)[2][0]
    for _ in range(50):
        unit = u / np.linalg.norm(u)
        u = plain.matrix.T @ (plain.matrix @ unit * plain.radius + plain.centre)
    both = np.concatenate([channels, u[None], -u[None]])
    lengths = np.linalg.norm(both, axis=1, keepdims=True)
    return both / np.where(lengths > 0, lengths, 1) * np.sqrt(both.shape[1])


def before_norm(plain: AffineHead, normed: AffineHead) -> np.ndarray:
    """Inputs whose projection points where a channel after its norm is largest: A u + c = t w for a large t."""
    inverse = np.linalg.pinv(plain.matrix)
    offset = inverse @ plain.centre
    inputs = []
    for wanted in np.concatenate([normed.matrix, -normed.matrix]):
        step = inverse @ wanted
        # |t step - offset| = radius
        half = step @ offset / (step @ step)
        rest = (plain.radius**2 - offset @ offset) / (step @ step)
        t = half + np.sqrt(max(half**2 + rest, 0.0))
        inputs.append(t * step - offset)
    return np.array(inputs)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", CONFIGS)
def test_no_input_of_the_norm_exceeds_a_bound(name: str, dtype: str) -> None:
    model = small_model(name, dtype=dtype)
    layer = first_layer(model)
    bounds = ranges(model).layers[0]
    rng = np.random.default_rng(5)
    width = norm_of(layer).width
    kinds = [
        rng.standard_normal((16, width)),
        # A few channels have it all, as in trained models.
        rng.standard_normal((16, width)) ** 5,
        np.sign(rng.standard_normal((8, width))),
        np.eye(width)[:8],
    ]
    for part, head, _, _ in parts(layer, bounds, vectors_from(model, kinds[0])):
        if layer.mapping is None:
            kinds.append(inputs_for(layer, part, head)[-8:])
    for inputs in kinds:
        for size in (1.0, LARGE / 10):
            vectors = vectors_from(model, np.clip(inputs * size, -6e4, 6e4)[:60])
            assert_within(layer, bounds, vectors)


@pytest.mark.parametrize("name", [name for name in CONFIGS if name != "albert"])
def test_inputs_of_the_norm_come_close_to_every_bound(name: str) -> None:
    model = small_model(name)
    if name == "phi-norms":
        # Beside a large bias the projection cannot point everywhere; the bound of a norm does not ask where it points.
        layer = model.layers[0]
        for module in (layer.self_attn.q_proj, layer.self_attn.k_proj):
            module.bias.data.zero_()
        layer.input_layernorm.bias.data.zero_()
    weights = first_layer(model)
    bounds = ranges(model).layers[0]
    probe = vectors_from(model, np.ones((1, norm_of(weights).width)))
    for kind, (part, head, bound, _) in enumerate(parts(weights, bounds, probe)):
        inputs = inputs_for(weights, part, head) * LARGE
        # Each alone, at position 0, where nothing is rotated.
        rows = []
        for row in inputs:
            vectors = vectors_from(model, row[None])
            rows.append(list(parts(weights, bounds, vectors))[kind][3][0])
        numbers = np.array(rows)
        assert (
            np.abs(numbers).max(axis=0) >= SHARE * bound.before.exact_channels
        ).all()
        longest = np.linalg.norm(numbers, axis=1).max()
        if part.norms is None:
            assert longest >= SHARE * bound.before.exact_length
        assert longest <= bound.after.length


@pytest.mark.parametrize("name", ["llama", "llama-bias", "llama-yarn", "phi", "cohere"])
def test_rotated_channels_come_close_to_their_bound(name: str) -> None:
    """A channel of a rotated pair has the length of the pair at some position."""
    model = small_model(name)
    layer = first_layer(model)
    bounds = ranges(model).layers[0]
    assert layer.rotary is not None
    head = bounds.keys[0]
    first, second = layer.rotary.pairs(len(head.after.channels))[0]
    plain = affine(layer, layer.key, 0, "float32")
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    best = 0.0
    for angle in angles:
        turned = (
            np.cos(angle) * plain.matrix[first] - np.sin(angle) * plain.matrix[second]
        )
        for sign in (1, -1):
            inputs = np.tile(sign * turned * LARGE, (60, 1))
            rows = vectors_from(model, inputs).keys[0]
            best = max(best, float(np.abs(rows[:, [first, second]]).max()))
    assert best >= SHARE * head.after.exact_channels[first]
    assert best <= head.after.channels[first]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", CONFIGS)
def test_no_text_exceeds_a_bound_in_any_layer(name: str, dtype: str) -> None:
    model = small_model(name, seed=1, dtype=dtype)
    opened = open_model(model)
    layers = list(read_layers(opened.description, opened.reader(None)))
    bounds = ranges(model).layers
    rng = np.random.default_rng(2)
    for _ in range(tried(8)):
        tokens = rng.integers(1, 40, 24).tolist()
        for number, layer in enumerate(layers):
            vectors = vectors_of_text(model, tokens, number)
            assert_within(layer, bounds[number], vectors)


@pytest.mark.parametrize("name", ["llama", "qwen3", "gpt2", "albert", "gemma3"])
def test_no_text_of_all_exceeds_a_bound(name: str) -> None:
    """Every text of four tokens from eight: 4,096 texts, and the bounds of both layers."""
    model = small_model(name, seed=3)
    opened = open_model(model)
    layers = list(read_layers(opened.description, opened.reader(None)))
    bounds = ranges(model).layers
    texts = torch.cartesian_prod(*[torch.arange(1, 9)] * 4)
    calls: list[AttentionCall] = []
    with torch.no_grad(), transformers_calls(model, calls.append):
        model(input_ids=texts)
    for layer, bound, call in zip(layers, bounds, calls, strict=True):
        numbers = [
            tensor.float().transpose(0, 1).flatten(1, 2).numpy().astype(np.float64)
            for tensor in (call.queries, call.keys, call.values)
        ]
        for _, _, head, rows in parts(layer, bound, Vectors(*numbers)):
            assert (np.abs(rows) <= head.after.channels).all()
            assert (np.linalg.norm(rows, axis=1) <= head.after.length).all()
        copies = call.queries.shape[1] // call.keys.shape[1]
        keys = call.keys.repeat_interleave(copies, dim=1)
        products = (call.queries @ keys.transpose(2, 3)).abs().amax(dim=(0, 2, 3))
        for product, score in zip(products.tolist(), bound.scores, strict=True):
            assert product <= score.product


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["llama-bias", "gemma", "qwen3", "gpt2"])
def test_rounding_does_not_carry_an_input_over_its_bound(name: str, dtype: str) -> None:
    """Climbs from the worst input of exact arithmetic by changes of single numbers, in the model's own type."""
    model = small_model(name, dtype=dtype)
    layer = first_layer(model)
    bounds = ranges(model).layers[0]
    rng = np.random.default_rng(7)
    best = inputs_for(layer, layer.value, 0)[0] * 10
    largest = 0.0
    for _ in range(tried(160)):
        changed = best * (1 + rng.standard_normal((40, len(best))) * 2.0**-7)
        vectors = vectors_from(model, changed)
        assert_within(layer, bounds, vectors)
        numbers = np.abs(vectors.values[0][:, 0])
        if numbers.max() > largest:
            largest = float(numbers.max())
            best = changed[int(numbers.argmax())]
    assert largest >= SHARE * bounds.values[0].before.exact_channels[0]
