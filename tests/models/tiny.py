"""Tiny random models of many families, saved as their own libraries would save them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers as hf

SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "vocab_size": 50,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
SHARED: dict[str, Any] = {**SMALL, "num_key_value_heads": 2}
GPT: dict[str, Any] = {
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "vocab_size": 50,
    "bos_token_id": 1,
    "eos_token_id": 2,
}

CONFIGS: dict[str, Any] = {
    "llama": lambda: hf.LlamaConfig(**SHARED),
    "gpt2": lambda: hf.GPT2Config(**GPT),
    "gpt2-scaled-by-layer": lambda: hf.GPT2Config(
        **GPT, scale_attn_by_inverse_layer_idx=True
    ),
    "mistral": lambda: hf.MistralConfig(**SHARED, sliding_window=5),
    "gemma2": lambda: hf.Gemma2Config(
        **SHARED, head_dim=8, sliding_window=5, attn_logit_softcapping=2.0
    ),
    "gemma3": lambda: hf.Gemma3TextConfig(
        **{**SHARED, "num_key_value_heads": 1},
        head_dim=8,
        sliding_window=5,
        layer_types=["sliding_attention", "full_attention"],
    ),
    "gpt-oss": lambda: hf.GptOssConfig(
        **SHARED,
        head_dim=8,
        num_local_experts=4,
        num_experts_per_tok=2,
        sliding_window=5,
    ),
    "qwen3": lambda: hf.Qwen3Config(**SHARED, head_dim=8),
    "opt": lambda: hf.OPTConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=32,
        vocab_size=50,
        word_embed_proj_dim=32,
    ),
    "gpt-neox": lambda: hf.GPTNeoXConfig(**SMALL),
    "phi3": lambda: hf.Phi3Config(**SHARED),
    "bert": lambda: hf.BertConfig(**SMALL),
    "roberta": lambda: hf.RobertaConfig(
        **{**SMALL, "pad_token_id": 1, "bos_token_id": 0}, max_position_embeddings=66
    ),
    "albert": lambda: hf.AlbertConfig(**SMALL, embedding_size=16),
    "distilbert": lambda: hf.DistilBertConfig(
        dim=32, n_layers=2, n_heads=4, hidden_dim=32, vocab_size=50
    ),
    "modernbert": lambda: hf.ModernBertConfig(
        **SMALL, local_attention=4, cls_token_id=1, sep_token_id=2
    ),
    "bart-encoder": lambda: hf.BartConfig(
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        vocab_size=50,
    ),
    "deepseek-v3": lambda: hf.DeepseekV3Config(
        **{**SMALL, "num_key_value_heads": 4},
        q_lora_rank=16,
        kv_lora_rank=16,
        qk_rope_head_dim=4,
        qk_nope_head_dim=4,
        v_head_dim=8,
        first_k_dense_replace=2,
        moe_intermediate_size=16,
    ),
    "t5": lambda: hf.T5Config(
        d_model=32, d_kv=8, d_ff=32, num_layers=2, num_heads=4, vocab_size=50
    ),
    "bloom": lambda: hf.BloomConfig(hidden_size=32, n_layer=2, n_head=4, vocab_size=50),
    "gptj": lambda: hf.GPTJConfig(**GPT, rotary_dim=4),
    "deberta-v2": lambda: hf.DebertaV2Config(**SMALL),
    "mpnet": lambda: hf.MPNetConfig(**SMALL),
    "llama4": lambda: hf.Llama4TextConfig(
        **SHARED,
        head_dim=8,
        num_local_experts=2,
        intermediate_size_mlp=32,
        attention_chunk_size=4,
    ),
    "vit": lambda: hf.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32
    ),
}


def saved(family: str, folder: Path) -> Path:
    """A folder with a random model of that family: parameters three times the usual, so that patterns are uneven."""
    torch.manual_seed(0)
    model = hf.AutoModel.from_config(CONFIGS[family]())  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    model.save_pretrained(folder)
    return folder


def eager(folder: Path) -> Any:
    """The same model with attention that stores its patterns, as transformers computes them."""
    model = hf.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return model.get_encoder() if model.config.is_encoder_decoder else model


def some_tokens(count: int = 20) -> np.ndarray:
    return np.random.default_rng(0).integers(3, 50, count)
