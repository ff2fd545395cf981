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
from headwright.models.loading.model import Model, may_hold
from headwright.models.texts.first_layer import FirstLayer, Norm, Projection


def of_network(model: Model, network: Any, length: int) -> FirstLayer:
    """The first layer of a network on texts of a length; an InputError that names the family if it is not covered."""
    family = _covered(model, network)
    rotary = hasattr(network, "rotary_emb")
    _ran(model, 1)
    of_shortest = _angles(model, network) if rotary else None
    _ran(model, length)
    layer = READERS[family](model, network)
    # Where frequencies depend on the length, those of a text that is decoded with a cache are not those of one pass:
    # the keys of its first places were turned when it was shorter.
    if layer.angles is None or of_shortest is None:
        return layer
    return replace(layer, one_pass=not np.array_equal(of_shortest, layer.angles))


def _covered(model: Model, network: Any) -> str:
    family = str(network.config.model_type)
    if family not in READERS:
        raise InputError(f"{model.name}: for every text, its family ({family}) is not covered: expected one of "
                         f"{', '.join(sorted(READERS))}, or builtin:induction")  # fmt: skip
    return family


def _ran(model: Model, length: int) -> None:
    """Run it on a text of a length: rotary frequencies may depend on it, and a network holds those of its last run."""
    next(iter(model.run(np.resize(may_hold(model), max(1, length)))))


def _angles(model: Model, network: Any) -> Any:
    """By how much pairs turn from one place to the next, as the network has it after a run."""
    rotary, kinds = network.rotary_emb, getattr(network.config, "layer_types", None)
    own = f"{kinds[0]}_" if kinds else ""  # where a kind of layer has frequencies of its own
    prefix = own if hasattr(rotary, f"{own}inv_freq") else ""
    if float(getattr(rotary, f"{prefix}attention_scaling", 1.0)) != 1.0:
        raise InputError(f"{model.name}: its rotary positions scale scores, which is not covered for every text")
    return _numbers(getattr(rotary, f"{prefix}inv_freq"))


def _llama(model: Model, network: Any) -> FirstLayer:
    """Llama, SmolLM2, Mistral, Qwen: RMSNorm, rotary positions, heads that share keys, perhaps normed and windowed."""
    config, layer = network.config, network.layers[0]
    gemma = config.model_type == "gemma3_text"  # scales its embeddings, and holds its gains less 1
    gain, times = (1.0, float(network.embed_tokens.embed_scale)) if gemma else (0.0, 1.0)
    attention = layer.self_attn
    heads, key_heads = config.num_attention_heads, config.num_key_value_heads
    # A layer that has a window of its own says so, in a model where others may have none.
    window = getattr(attention, "sliding_window", getattr(config, "sliding_window", None))
    tokens, only_held, opening = _tokens(model)

    def norm(module: Any) -> Norm:
        eps = module.eps if hasattr(module, "eps") else module.variance_epsilon
        return Norm("rms", _numbers(module.weight) + gain, eps=float(eps))

    def inner(name: str) -> Norm | None:
        return norm(getattr(attention, name)) if hasattr(attention, name) else None

    return FirstLayer(
        tokens, _numbers(network.embed_tokens.weight)[tokens] * times,
        _projections(attention.q_proj, heads, inner("q_norm")),
        _projections(attention.k_proj, key_heads, inner("k_norm")), float(attention.scaling),
        norm=norm(layer.input_layernorm), angles=_angles(model, network), only_held=only_held, opening=opening,
        window=None if window is None else int(window),
    )  # fmt: skip


def _gemma(model: Model, network: Any) -> FirstLayer:
    """Gemma 3: as Llama, with scaled embeddings, gains beside 1, normed queries and keys, windows in most layers."""
    config = network.config
    if config.attn_logit_softcapping is not None or config.use_bidirectional_attention:
        raise InputError(f"{model.name}: a softcap, or attention both ways, is not covered for its family")
    return _llama(model, network)


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
    """BERT, MiniLM: learned positions and a token type, normed; [CLS] first, [SEP] last; every place sees all.

    A configuration that makes a decoder of it lets a place see what is before it, and itself.
    """
    config, embeddings = network.config, network.embeddings
    attention = network.encoder.layer[0].attention.self
    if config.embedding_size if hasattr(config, "embedding_size") else False:
        raise InputError(f"{model.name}: embeddings of another width are not covered for every text")
    tokens, only_held, opening = _tokens(model)
    free = {int(token) for token in may_hold(model)}
    closing = tuple(int(token) for token in model.encode("a")[len(opening) :] if int(token) not in free)
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
        only_held=only_held, opening=opening, closing=closing, causal=bool(config.is_decoder),
    )  # fmt: skip


READERS: dict[str, Callable[[Model, Any], FirstLayer]] = {
    "bert": _bert, "gemma3_text": _gemma, "gpt2": _gpt2, "llama": _llama, "mistral": _llama, "qwen2": _llama,
    "qwen3": _llama,
}  # fmt: skip


def _tokens(model: Model) -> tuple[Any, int, tuple[int, ...]]:
    """The tokens that a text may hold, then those it begins with, unless they are among them; how many; and those."""
    held, opening = may_hold(model), model.opening()
    more = np.setdiff1d(opening, held)
    return np.concatenate([held, more]), len(more), tuple(int(token) for token in opening)


def _projections(linear: Any, heads: int, norm: Norm | None = None) -> tuple[Projection, ...]:
    bias = getattr(linear, "bias", None)
    return _split(_numbers(linear.weight).T, None if bias is None else _numbers(bias), heads, norm)


def _split(
    matrix: Float[np.ndarray, "width out"], bias: Any, heads: int, norm: Norm | None = None
) -> tuple[Projection, ...]:
    biases = [None] * heads if bias is None else np.split(bias, heads)
    return tuple(
        Projection(np.ascontiguousarray(part), shift, norm)
        for part, shift in zip(np.split(matrix, heads, axis=1), biases, strict=True)
    )


def _numbers(tensor: torch.Tensor) -> Any:
    return tensor.detach().to(torch.float64).cpu().numpy()
