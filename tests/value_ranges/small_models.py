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

# Sizes of the same models, where the norms of all heads together can be filled by one of them.
WIDE = SIZES | {"hidden_size": 32, "head_dim": 8}
WIDE_ALL_HEADS = ALL_HEADS | {"hidden_size": 32}
MOE = EXPERTS | {
    "num_experts": 4,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
}
LATENT = (
    WIDE_ALL_HEADS
    | MOE
    | {
        "num_key_value_heads": 4,
        "q_lora_rank": 12,
        "kv_lora_rank": 10,
        "qk_nope_head_dim": 6,
        "qk_rope_head_dim": 4,
        "v_head_dim": 8,
    }
)
MULTIPLIERS = {
    "attention_multiplier": 0.3,
    "embedding_multiplier": 3.0,
    "residual_multiplier": 0.5,
    "logits_scaling": 4.0,
}
LATENT_YARN = YARN | {"mscale": 1.0, "mscale_all_dim": 0.7}
LINEAR = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
HYBRID = ["linear_attention", "full_attention", "linear_attention", "full_attention"]
SLIDING = ["sliding_attention", "full_attention"]
# Further families, whose attention is tested by other means: by gradients, through hooks and caches.
MORE_CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "afmoe": ("AfmoeConfig", WIDE | MOE | {"layer_types": SLIDING}),
    "apertus": ("ApertusConfig", WIDE),
    "arcee": ("ArceeConfig", WIDE),
    "aria_text": ("AriaTextConfig", WIDE | MOE | {"moe_num_experts": 2}),
    "axk1": ("AXK1Config", LATENT),
    "bamba": (
        "BambaConfig",
        WIDE
        | {
            "num_hidden_layers": 4,
            "attn_layer_indices": [0, 3],
            "mamba_n_heads": 4,
            "mamba_d_head": 16,
            "mamba_n_groups": 1,
            "mamba_d_state": 8,
            "mamba_chunk_size": 4,
        },
    ),
    "bert-generation": ("BertGenerationConfig", WIDE_ALL_HEADS),
    "camembert": ("CamembertConfig", WIDE_ALL_HEADS),
    "cohere-norms": ("CohereConfig", WIDE | {"use_qk_norm": True}),
    "cohere2": ("Cohere2Config", WIDE | {"layer_types": SLIDING}),
    "cwm": ("CwmConfig", WIDE | {"layer_types": SLIDING}),
    "data2vec": ("Data2VecTextConfig", WIDE_ALL_HEADS),
    "deepseek_v2": ("DeepseekV2Config", LATENT),
    "deepseek_v2-plain": ("DeepseekV2Config", LATENT | {"q_lora_rank": None}),
    "deepseek_v3": ("DeepseekV3Config", LATENT),
    "deepseek_v3-yarn": ("DeepseekV3Config", LATENT | {"rope_parameters": LATENT_YARN}),
    "deepseek_v3-halves": (
        "DeepseekV3Config",
        LATENT | {"rope_interleave": False, "attention_bias": True},
    ),
    "distilbert": (
        "DistilBertConfig",
        {
            "vocab_size": 40,
            "dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "hidden_dim": 32,
            "max_position_embeddings": 64,
        },
    ),
    "dots1": ("Dots1Config", WIDE | MOE),
    "electra": ("ElectraConfig", WIDE_ALL_HEADS | {"embedding_size": 16}),
    "electra-wide": ("ElectraConfig", WIDE_ALL_HEADS | {"embedding_size": 32}),
    "ernie": ("ErnieConfig", WIDE_ALL_HEADS),
    "ernie4_5": ("Ernie4_5Config", WIDE | {"use_bias": True}),
    "ernie4_5_moe": ("Ernie4_5_MoeConfig", WIDE | MOE | {"moe_num_experts": 4}),
    "eurobert": ("EuroBertConfig", WIDE),
    "exaone4": ("Exaone4Config", WIDE | {"layer_types": SLIDING}),
    "exaone_moe": ("ExaoneMoeConfig", WIDE | MOE | {"layer_types": SLIDING}),
    "falcon_h1": (
        "FalconH1Config",
        WIDE
        | {
            "mamba_d_ssm": 64,
            "mamba_n_heads": 4,
            "mamba_d_head": 16,
            "mamba_n_groups": 1,
            "mamba_d_state": 8,
            "mamba_chunk_size": 4,
            "attention_in_multiplier": 3.0,
            "key_multiplier": 0.4,
            "embedding_multiplier": 2.0,
        },
    ),
    "flex_olmo": ("FlexOlmoConfig", WIDE | MOE | {"num_key_value_heads": 4}),
    "flint": ("FlintConfig", WIDE | MOE | {"layer_types": SLIDING}),
    "glm": ("GlmConfig", WIDE),
    "glm4": ("Glm4Config", WIDE),
    "glm4_moe": ("Glm4MoeConfig", WIDE | MOE | {"use_qk_norm": True}),
    "glm4_moe-plain": ("Glm4MoeConfig", WIDE | MOE | {"attention_bias": True}),
    "glm4_moe_lite": ("Glm4MoeLiteConfig", LATENT),
    "gpt_oss": ("GptOssConfig", WIDE | MOE | {"layer_types": SLIDING}),
    "granite_swa": ("GraniteSWAConfig", WIDE | MULTIPLIERS),
    "granitemoe_swa": ("GraniteMoeSWAConfig", WIDE | MOE | MULTIPLIERS),
    "granitemoe": ("GraniteMoeConfig", WIDE | MOE | MULTIPLIERS),
    "granitemoehybrid": (
        "GraniteMoeHybridConfig",
        WIDE
        | MOE
        | MULTIPLIERS
        | {
            "num_hidden_layers": 4,
            "layer_types": HYBRID[1:] + HYBRID[:1],
            "shared_intermediate_size": 16,
            "mamba_n_heads": 4,
            "mamba_d_head": 16,
            "mamba_n_groups": 1,
            "mamba_d_state": 8,
            "mamba_chunk_size": 4,
        },
    ),
    "granitemoeshared": (
        "GraniteMoeSharedConfig",
        WIDE | MOE | MULTIPLIERS | {"shared_intermediate_size": 16},
    ),
    "helium": ("HeliumConfig", WIDE),
    "hunyuan_moe": ("HunYuanMoEV1Config", WIDE | MOE | {"moe_topk": 1}),
    "hy_v3": ("HYV3Config", WIDE | MOE),
    "hyperclovax": ("HyperCLOVAXConfig", WIDE | MULTIPLIERS),
    "jais2": ("Jais2Config", WIDE),
    "jamba": (
        "JambaConfig",
        WIDE
        | MOE
        | {
            "num_hidden_layers": 4,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "mamba_d_state": 8,
            "mamba_dt_rank": 4,
            "use_mamba_kernels": False,
        },
    ),
    "kolibri1": ("Kolibri1Config", WIDE | MOE | {"layer_types": SLIDING}),
    "lfm2": (
        "Lfm2Config",
        WIDE
        | {
            "num_hidden_layers": 4,
            "layer_types": ["conv", "full_attention", "conv", "full_attention"],
            "block_auto_adjust_ff_dim": False,
        },
    ),
    "lfm2_moe": (
        "Lfm2MoeConfig",
        WIDE | MOE | {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    ),
    "mellum": ("MellumConfig", WIDE | MOE | {"layer_types": SLIDING}),
    "minicpm3": ("MiniCPM3Config", LATENT),
    "minimax_m2": ("MiniMaxM2Config", WIDE | MOE | {"rotary_dim": 4}),
    "ministral": ("MinistralConfig", WIDE | {"layer_types": SLIDING}),
    "nanochat": ("NanoChatConfig", WIDE | {"num_key_value_heads": 4}),
    "nemotron": ("NemotronConfig", WIDE),
    "olmo": ("OlmoConfig", WIDE),
    "olmo-clipped": ("OlmoConfig", WIDE | {"clip_qkv": 3.0}),
    "olmo2": ("Olmo2Config", WIDE),
    "olmo3": ("Olmo3Config", WIDE | {"layer_types": SLIDING}),
    "olmoe": ("OlmoeConfig", WIDE_ALL_HEADS | MOE),
    "persimmon": ("PersimmonConfig", WIDE_ALL_HEADS | {"qk_layernorm": True}),
    "persimmon-plain": ("PersimmonConfig", WIDE_ALL_HEADS | {"qk_layernorm": False}),
    "phimoe": ("PhimoeConfig", WIDE | MOE),
    "qwen3_5": (
        "Qwen3_5TextConfig",
        WIDE | LINEAR | {"num_hidden_layers": 4, "layer_types": HYBRID},
    ),
    "qwen3_5_moe": (
        "Qwen3_5MoeTextConfig",
        WIDE | MOE | LINEAR | {"num_hidden_layers": 4, "layer_types": HYBRID},
    ),
    "qwen3_next": (
        "Qwen3NextConfig",
        WIDE | MOE | LINEAR | {"num_hidden_layers": 4, "layer_types": HYBRID},
    ),
    "roberta-prelayernorm": ("RobertaPreLayerNormConfig", WIDE_ALL_HEADS),
    "roc_bert": (
        "RoCBertConfig",
        WIDE_ALL_HEADS
        | {
            "pronunciation_embed_dim": 8,
            "pronunciation_vocab_size": 40,
            "shape_embed_dim": 8,
            "shape_vocab_size": 40,
        },
    ),
    "seed_oss": ("SeedOssConfig", WIDE),
    "solar_open": ("SolarOpenConfig", WIDE | MOE),
    "vaultgemma": ("VaultGemmaConfig", WIDE | {"query_pre_attn_scalar": 12}),
    "xlm-roberta-xl": ("XLMRobertaXLConfig", WIDE_ALL_HEADS),
    "youtu": ("YoutuConfig", LATENT),
}
ALL_CONFIGS = CONFIGS | MORE_CONFIGS


def small_model(name: str, seed: int = 0, dtype: str = "float32") -> Any:
    """A model of a family whose every parameter is random, the gains and biases of its norms among them."""
    config_class, said = ALL_CONFIGS[name]
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
