"""The first layers of networks of the transformers library, family by family.

Numbers are the network's own, as float64: weights, the gains and eps of its norms, the angles of its rotary positions
(float32 numbers, taken as exact), as they are on texts of the length asked about. What a family does beyond that is
refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from headwright.errors import InputError
from headwright.models.model import Model, layer_at, may_hold
from headwright.text_bounds.first_layer import FirstLayer, Projection, VectorNorm


def of_network(model: Model, network: Any, length: int) -> FirstLayer:
    """The first layer of a network on texts of a length; an InputError that names the family if it is not covered."""
    family = str(network.config.model_type)
    if family not in READERS:
        raise InputError(
            f"for every text, its family ({family}) is not covered: expected one of "
            f"{', '.join(sorted(READERS))}, or builtin:induction"
        )
    # A network holds the frequencies of its last run, and they may depend on the length of the text.
    is_rotary = hasattr(network, "rotary_emb")
    _run(model, 1)
    shortest_angles = _angles(network) if is_rotary else None
    _run(model, length)
    layer = READERS[family](model, network)
    if layer.angles is None or shortest_angles is None:
        return layer
    # Where frequencies depend on the length, those of a text that is decoded with a cache are not those of one pass:
    # the keys of its first places were turned when it was shorter.
    is_one_pass = not np.array_equal(shortest_angles, layer.angles)
    return replace(layer, one_pass=is_one_pass)


def _run(model: Model, length: int) -> None:
    layer_at(model, np.resize(may_hold(model), max(1, length)), 0)


def _angles(network: Any) -> Any:
    """By how much pairs turn from one place to the next, as the network has it after a run."""
    rotary = network.rotary_emb
    # Where a kind of layer has frequencies of its own, they have its name.
    kinds = getattr(network.config, "layer_types", None)
    prefix = f"{kinds[0]}_" if kinds else ""
    if not hasattr(rotary, f"{prefix}inv_freq"):
        prefix = ""
    if float(getattr(rotary, f"{prefix}attention_scaling", 1.0)) != 1.0:
        raise InputError(
            "its rotary positions scale scores, which is not covered for every text"
        )
    return _numbers(getattr(rotary, f"{prefix}inv_freq"))


def _llama(model: Model, network: Any) -> FirstLayer:
    """Llama, SmolLM2, Mistral, Qwen: RMSNorm, rotary positions, heads that share keys, perhaps normed and windowed."""
    config = network.config
    layer = network.layers[0]
    attention = layer.self_attn
    # Gemma scales its embeddings, and holds its gains less 1.
    is_gemma = config.model_type == "gemma3_text"
    gain = 1.0 if is_gemma else 0.0
    embedding_scale = float(network.embed_tokens.embed_scale) if is_gemma else 1.0
    # A layer that has a window of its own says so, in a model where others may have none.
    window = getattr(
        attention, "sliding_window", getattr(config, "sliding_window", None)
    )
    tokens, only_held, opening = _tokens(model)

    def norm(module: Any) -> VectorNorm:
        eps = module.eps if hasattr(module, "eps") else module.variance_epsilon
        return VectorNorm("rms", _numbers(module.weight) + gain, eps=float(eps))

    def inner_norm(name: str) -> VectorNorm | None:
        return norm(getattr(attention, name)) if hasattr(attention, name) else None

    return FirstLayer(
        tokens,
        _numbers(network.embed_tokens.weight)[tokens] * embedding_scale,
        _projections(
            attention.q_proj, config.num_attention_heads, inner_norm("q_norm")
        ),
        _projections(
            attention.k_proj, config.num_key_value_heads, inner_norm("k_norm")
        ),
        float(attention.scaling),
        norm=norm(layer.input_layernorm),
        angles=_angles(network),
        only_held=only_held,
        opening=opening,
        window=None if window is None else int(window),
    )


def _gemma(model: Model, network: Any) -> FirstLayer:
    """Gemma 3: as Llama, with scaled embeddings, gains beside 1, normed queries and keys, windows in most layers."""
    config = network.config
    if config.attn_logit_softcapping is not None or config.use_bidirectional_attention:
        raise InputError(
            "a softcap, or attention both ways, is not covered for its family"
        )
    return _llama(model, network)


def _gpt2(model: Model, network: Any) -> FirstLayer:
    """GPT-2: learned positions, a norm with a mean, queries and keys side by side in one matrix."""
    config = network.config
    block = network.h[0]
    heads = config.n_head
    width = config.n_embd
    tokens, only_held, opening = _tokens(model)
    matrix = _numbers(block.attn.c_attn.weight)
    bias = _numbers(block.attn.c_attn.bias)
    parts = [
        _split(matrix[:, start : start + width], bias[start : start + width], heads)
        for start in (0, width)
    ]
    scale = (width // heads) ** -0.5 if config.scale_attn_weights else 1.0
    return FirstLayer(
        tokens,
        _numbers(network.wte.weight)[tokens],
        parts[0],
        parts[1],
        scale,
        norm=VectorNorm(
            "layer",
            _numbers(block.ln_1.weight),
            _numbers(block.ln_1.bias),
            float(block.ln_1.eps),
        ),
        places=_numbers(network.wpe.weight),
        only_held=only_held,
        opening=opening,
    )


def _bert(model: Model, network: Any) -> FirstLayer:
    """BERT, MiniLM: learned positions and a token type, normed; [CLS] first, [SEP] last; every place sees all.

    A configuration that makes a decoder of it lets a place see what is before it, and itself.
    """
    config = network.config
    embeddings = network.embeddings
    attention = network.encoder.layer[0].attention.self
    if getattr(config, "embedding_size", None):
        raise InputError("embeddings of another width are not covered for every text")
    tokens, only_held, opening = _tokens(model)
    free = {int(token) for token in may_hold(model)}
    after_opening = [int(token) for token in model.encode("a")[len(opening) :]]
    closing = tuple(token for token in after_opening if token not in free)
    more = [token for token in closing if token not in tokens]
    tokens = np.concatenate([tokens, np.array(more, dtype=np.int64)])
    norm = embeddings.LayerNorm
    return FirstLayer(
        tokens,
        _numbers(embeddings.word_embeddings.weight)[tokens],
        _projections(attention.query, config.num_attention_heads),
        _projections(attention.key, config.num_attention_heads),
        float(attention.scaling),
        norm=VectorNorm(
            "layer", _numbers(norm.weight), _numbers(norm.bias), float(norm.eps)
        ),
        places=_numbers(embeddings.position_embeddings.weight),
        always=_numbers(embeddings.token_type_embeddings.weight)[0],
        only_held=only_held + len(more),
        opening=opening,
        closing=closing,
        causal=bool(config.is_decoder),
    )


READERS: dict[str, Callable[[Model, Any], FirstLayer]] = {
    "bert": _bert,
    "gemma3_text": _gemma,
    "gpt2": _gpt2,
    "llama": _llama,
    "mistral": _llama,
    "qwen2": _llama,
    "qwen3": _llama,
}


def _tokens(model: Model) -> tuple[Any, int, tuple[int, ...]]:
    """The tokens that a text may hold, then those it begins with, unless they are among them; how many; and those."""
    held = may_hold(model)
    opening = model.bos_tokens()
    more = np.setdiff1d(opening, held)
    return (
        np.concatenate([held, more]),
        len(more),
        tuple(int(token) for token in opening),
    )


def _projections(
    linear: Any, heads: int, norm: VectorNorm | None = None
) -> tuple[Projection, ...]:
    bias = getattr(linear, "bias", None)
    return _split(
        _numbers(linear.weight).T, None if bias is None else _numbers(bias), heads, norm
    )


def _split(
    matrix: Float[np.ndarray, "width out"],
    bias: Any,
    heads: int,
    norm: VectorNorm | None = None,
) -> tuple[Projection, ...]:
    biases = [None] * heads if bias is None else np.split(bias, heads)
    return tuple(
        Projection(np.ascontiguousarray(part), shift, norm)
        for part, shift in zip(np.split(matrix, heads, axis=1), biases, strict=True)
    )


def _numbers(tensor: torch.Tensor) -> Any:
    return tensor.detach().to(torch.float64).cpu().numpy()
