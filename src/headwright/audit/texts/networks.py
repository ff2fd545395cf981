"""The first layers of networks that the transformers library makes, family by family.

Numbers are the network's own, as float64: weights, the gains and eps of its norms, the angles of its rotary positions
(float32 numbers, taken as exact). What a family does beyond that is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from headwright.audit.models.model import Model
from headwright.audit.texts.first import FirstLayer, Norm, Projection
from headwright.errors import InputError


def of_network(model: Model, network: Any) -> FirstLayer:
    """The first layer of a network; an InputError that names the family where it is not covered."""
    family = network.config.model_type
    reader = READERS.get(family)
    if reader is None:
        raise InputError(f"{model.name}: for every text, its family ({family}) is not covered: expected one of "
                         f"{', '.join(sorted(READERS))}, or builtin:induction")  # fmt: skip
    return reader(model, network)


def _llama(model: Model, network: Any) -> FirstLayer:
    """Llama, SmolLM2, Mistral: RMSNorm, rotary positions, heads that share keys."""
    config, layer = network.config, network.layers[0]
    attention = layer.self_attn
    heads, key_heads = config.num_attention_heads, config.num_key_value_heads
    window = getattr(config, "sliding_window", None)
    tokens, only_held, opening = _tokens(model)
    rotary = network.rotary_emb
    if float(getattr(rotary, "attention_scaling", 1.0)) != 1.0:
        raise InputError(f"{model.name}: its rotary positions scale scores, which is not covered for every text")
    return FirstLayer(
        tokens, _numbers(network.embed_tokens.weight)[tokens],
        _projections(attention.q_proj, heads), _projections(attention.k_proj, key_heads), float(attention.scaling),
        norm=Norm("rms", _numbers(layer.input_layernorm.weight), eps=float(layer.input_layernorm.variance_epsilon)),
        angles=_numbers(rotary.inv_freq), only_held=only_held, opening=opening, window=window,
    )  # fmt: skip


def _gpt2(model: Model, network: Any) -> FirstLayer:
    """GPT-2: learned positions, a norm with a mean, queries and keys side by side in one matrix."""
    config, block = network.config, network.h[0]
    heads, width = config.n_head, config.n_embd
    tokens, only_held, opening = _tokens(model)
    matrix, bias = _numbers(block.attn.c_attn.weight), _numbers(block.attn.c_attn.bias)
    parts = [_split(matrix[:, start : start + width], bias[start : start + width], heads) for start in (0, width)]
    scale = (width // heads) ** -0.5 if config.scale_attn_weights else 1.0
    return FirstLayer(
        tokens, _numbers(network.wte.weight)[tokens], parts[0], parts[1], scale,
        norm=Norm("layer", _numbers(block.ln_1.weight), _numbers(block.ln_1.bias), float(block.ln_1.eps)),
        places=_numbers(network.wpe.weight), only_held=only_held, opening=opening,
    )  # fmt: skip


def _bert(model: Model, network: Any) -> FirstLayer:
    """BERT, MiniLM: learned positions and a token type, normed; [CLS] first, [SEP] last; every place sees all."""
    config, embeddings = network.config, network.embeddings
    attention = network.encoder.layer[0].attention.self
    if config.embedding_size if hasattr(config, "embedding_size") else False:
        raise InputError(f"{model.name}: embeddings of another width are not covered for every text")
    tokens, only_held, opening = _tokens(model)
    closing = tuple(int(token) for token in model.encode("a")[len(opening) :] if int(token) not in model.ordinary())
    if closing:
        more = [token for token in closing if token not in tokens]
        tokens, only_held = np.concatenate([tokens, np.array(more, dtype=np.int64)]), only_held + len(more)
    heads = config.num_attention_heads
    return FirstLayer(
        tokens, _numbers(embeddings.word_embeddings.weight)[tokens],
        _projections(attention.query, heads), _projections(attention.key, heads), float(attention.scaling),
        norm=Norm("layer", _numbers(embeddings.LayerNorm.weight), _numbers(embeddings.LayerNorm.bias),
                  float(embeddings.LayerNorm.eps)),
        places=_numbers(embeddings.position_embeddings.weight),
        always=_numbers(embeddings.token_type_embeddings.weight)[0],
        only_held=only_held, opening=opening, closing=closing, causal=False,
    )  # fmt: skip


READERS: dict[str, Callable[[Model, Any], FirstLayer]] = {
    "bert": _bert, "gpt2": _gpt2, "llama": _llama, "mistral": _llama,
}  # fmt: skip


def _tokens(model: Model) -> tuple[Any, int, tuple[int, ...]]:
    """The tokens that a text may hold, then those it begins with, unless they are among them; how many; and those."""
    ordinary, opening = model.ordinary(), model.opening()
    more = np.setdiff1d(opening, ordinary)
    return np.concatenate([ordinary, more]), len(more), tuple(int(token) for token in opening)


def _projections(linear: Any, heads: int) -> tuple[Projection, ...]:
    bias = getattr(linear, "bias", None)
    return _split(_numbers(linear.weight).T, None if bias is None else _numbers(bias), heads)


def _split(matrix: Float[np.ndarray, "width out"], bias: Any, heads: int) -> tuple[Projection, ...]:
    biases = [None] * heads if bias is None else np.split(bias, heads)
    return tuple(
        Projection(np.ascontiguousarray(part), shift)
        for part, shift in zip(np.split(matrix, heads, axis=1), biases, strict=True)
    )


def _numbers(tensor: torch.Tensor) -> Any:
    return tensor.detach().to(torch.float64).cpu().numpy()
