"""Small models of every family at random, and what their attention computes from chosen inputs of a layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import transformers

from headwright.models.attention_calls import AttentionCall
from headwright.models.transformers_calls import transformers_calls

SIZES: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
ALL_HEADS = {
    name: size for name, size in SIZES.items() if name != "num_key_value_heads"
}
GPT2_SIZES = {
    "vocab_size": 40,
    "n_embd": 24,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 64,
}
WITH_OWN_SCALE = {"head_dim": 8, "query_pre_attn_scalar": 12}
EXPERTS = {
    "num_experts": 2,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "original_max_position_embeddings": 8,
}
# By a name: the configuration's class, and what it says beside the sizes.
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "albert": ("AlbertConfig", ALL_HEADS | {"embedding_size": 16}),
    "bert": ("BertConfig", ALL_HEADS),
    "cohere": ("CohereConfig", SIZES),
    "gemma": ("GemmaConfig", SIZES | {"head_dim": 8}),
    "gemma2": ("Gemma2Config", SIZES | WITH_OWN_SCALE),
    "gemma3": ("Gemma3TextConfig", SIZES | WITH_OWN_SCALE),
    "gpt2": ("GPT2Config", GPT2_SIZES),
    "gpt2-unscaled": ("GPT2Config", GPT2_SIZES | {"scale_attn_weights": False}),
    "gpt_neox": ("GPTNeoXConfig", ALL_HEADS | {"hidden_size": 32}),
    "granite": ("GraniteConfig", SIZES | {"attention_multiplier": 0.3}),
    "hunyuan": ("HunYuanDenseV1Config", SIZES | {"head_dim": 8}),
    "llama": ("LlamaConfig", SIZES | {"head_dim": 10}),
    "llama-bias": ("LlamaConfig", SIZES | {"attention_bias": True}),
    "llama-yarn": ("LlamaConfig", SIZES | {"rope_parameters": YARN}),
    "mistral": ("MistralConfig", SIZES),
    "mixtral": ("MixtralConfig", SIZES | EXPERTS),
    "phi": ("PhiConfig", SIZES | {"hidden_size": 32}),
    "phi-norms": ("PhiConfig", SIZES | {"hidden_size": 32, "qk_layernorm": True}),
    "phi3": ("Phi3Config", SIZES),
    "qwen2": ("Qwen2Config", SIZES),
    "qwen2_moe": ("Qwen2MoeConfig", SIZES | EXPERTS),
    "qwen3": ("Qwen3Config", SIZES | {"head_dim": 8}),
    "qwen3_moe": ("Qwen3MoeConfig", SIZES | EXPERTS | {"head_dim": 8}),
    "roberta": ("RobertaConfig", ALL_HEADS),
    "smollm3": ("SmolLM3Config", SIZES),
    "stablelm": ("StableLmConfig", SIZES | {"hidden_size": 32, "use_qkv_bias": True}),
    "starcoder2": ("Starcoder2Config", SIZES),
}


def small_model(name: str, seed: int = 0, dtype: str = "float32") -> Any:
    """A model of a family whose every parameter is random, the gains and biases of its norms among them."""
    config_class, said = CONFIGS[name]
    config = getattr(transformers, config_class)(**said)
    config._attn_implementation = "eager"
    generator = torch.Generator().manual_seed(seed)
    model: Any = transformers.AutoModel.from_config(config)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            numbers = torch.randn(parameter.shape, generator=generator)
            if "norm" in parameter_name.lower() or ".ln_" in parameter_name:
                numbers = 1 + numbers / 2
            parameter.copy_(numbers * spread_of(parameter_name))
    return model.to(getattr(torch, dtype)).eval()


def spread_of(name: str) -> float:
    """Biases large enough to matter."""
    return 1.0 if name.endswith("bias") else 0.7


@dataclass(frozen=True)
class Vectors:
    """What the attention of one layer gets: (heads, tokens, channels) in float64."""

    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray


def vectors_from(model: Any, inputs: np.ndarray, layer: int = 0) -> Vectors:
    """Queries, keys and values that a layer makes of vectors that stand in for embeddings, one a token.

    They are so large that positions and eps beside them do not matter.
    """
    embeddings = torch.as_tensor(inputs, dtype=torch.float32).to(model.dtype)
    return _record(model, layer, inputs_embeds=embeddings[None])


def vectors_of_text(model: Any, tokens: list[int], layer: int) -> Vectors:
    """The same of a text."""
    return _record(model, layer, input_ids=torch.tensor([tokens]))


def _record(model: Any, layer: int, **inputs: Any) -> Vectors:
    calls: list[AttentionCall] = []
    with torch.no_grad(), transformers_calls(model, calls.append):
        model(**inputs)
    call = calls[layer]
    return Vectors(
        _as_numpy(call.queries), _as_numpy(call.keys), _as_numpy(call.values)
    )


def _as_numpy(tensor: Any) -> np.ndarray:
    numbers: np.ndarray = tensor[0].float().numpy().astype(np.float64)
    return numbers
