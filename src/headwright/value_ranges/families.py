"""Families of models as one table: where the tensors of a layer are, and what its arithmetic has beside them.

A family is read only if it stands here. All parameters of an attention module must have a name that its family knows:
an adapter, a gate or a sink that was added is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal


class ProjectionLayout(StrEnum):
    """How the matrices of queries, keys and values are held."""

    SEPARATE = "separate"
    STACKED = "stacked"  # one matrix: all queries, all keys, all values
    BY_HEAD = "by head"  # one matrix: queries, keys and values of each head in turn


@dataclass(frozen=True)
class ModelFamily:
    """Names of tensors are relative to the stem of a layer, `{layer}` being its number."""

    stem: str = "layers.{layer}."
    attention: str = "self_attn."
    norm: str = "input_layernorm"
    norm_kind: Literal["rms", "layer"] = "rms"
    gain_offset: float = 0.0  # of all norms: Gemma holds gains less 1
    layout: ProjectionLayout = ProjectionLayout.SEPARATE
    projections: tuple[str, ...] = ("q_proj", "k_proj", "v_proj")
    is_transposed: bool = False  # (in, out), as GPT-2 holds matrices
    query_norm: str | None = None
    key_norm: str | None = None
    # These norms are there only if this key of the configuration says so.
    optional_norms: str | None = None
    head_norm_kind: Literal["rms", "layer"] = "rms"
    # Queries and keys are rotated first, and normed then: a rotation keeps the ball that a norm reads from.
    norms_follow_rotation: bool = False
    arrangement: Literal["halves", "neighbours"] | None = "halves"
    rotary_share: float = 1.0
    # Whether the configuration may say another share.
    has_partial_rotary: bool = False
    # What of `SCALE_KEYS` the family reads.
    scale_keys: tuple[str, ...] = ()
    # Post-norm: a layer reads what the norm at the end of the layer before it returns.
    first_norm: str | None = None
    # A linear map after that first norm, whose width is then the embeddings' own.
    first_mapping: str | None = None
    # Other names in an attention module: what follows it, and buffers.
    others: tuple[str, ...] = ("o_proj", "rotary_emb.inv_freq", "k_scale", "v_scale")
    # What the configuration may not have, and what that would be.
    refused: tuple[tuple[str, str], ...] = ()
    # What it must have: without it, a default of its family would have to be guessed.
    required: tuple[str, ...] = ()


# What configurations say about the factor of the scores, with what says nothing. Most families read none of these.
SCALE_KEYS: dict[str, bool | None] = {
    "attention_multiplier": None,
    "query_pre_attn_scalar": None,
    "scale_attn_by_inverse_layer_idx": False,
    "scale_attn_weights": True,
}
CROSS_ATTENTION = ("add_cross_attention", "a second attention, to another text")

LLAMA = ModelFamily()
QWEN3 = replace(LLAMA, query_norm="q_norm", key_norm="k_norm")
GEMMA = replace(LLAMA, gain_offset=1.0)
GEMMA2 = replace(
    GEMMA,
    scale_keys=("query_pre_attn_scalar",),
    required=("head_dim", "query_pre_attn_scalar"),
)
PHI = ModelFamily(
    norm_kind="layer",
    query_norm="q_layernorm",
    key_norm="k_layernorm",
    optional_norms="qk_layernorm",
    head_norm_kind="layer",
    rotary_share=0.5,
    has_partial_rotary=True,
    others=("dense", "rotary_emb.inv_freq"),
)
BERT = ModelFamily(
    stem="encoder.layer.{layer}.",
    attention="attention.self.",
    norm="output.LayerNorm",
    norm_kind="layer",
    projections=("query", "key", "value"),
    arrangement=None,
    first_norm="embeddings.LayerNorm",
    others=(),
    refused=(CROSS_ATTENTION,),
)

ALBERT = replace(
    BERT,
    stem="encoder.albert_layer_groups.0.albert_layers.0.",
    attention="attention.",
    norm="full_layer_layer_norm",
    first_mapping="encoder.embedding_hidden_mapping_in",
    others=("dense", "LayerNorm"),
    required=("embedding_size",),
)

FAMILIES: dict[str, ModelFamily] = {
    "albert": ALBERT,
    "bert": BERT,
    "cohere": replace(
        LLAMA,
        norm_kind="layer",
        arrangement="neighbours",
        refused=(("use_qk_norm", "norms of queries and keys with a gain each"),),
    ),
    "gemma": GEMMA,
    "gemma2": GEMMA2,
    "gemma3_text": replace(GEMMA2, query_norm="q_norm", key_norm="k_norm"),
    "gpt2": ModelFamily(
        stem="h.{layer}.",
        attention="attn.",
        norm="ln_1",
        norm_kind="layer",
        layout=ProjectionLayout.STACKED,
        projections=("c_attn",),
        is_transposed=True,
        arrangement=None,
        others=("c_proj", "bias", "masked_bias"),
        scale_keys=("scale_attn_weights", "scale_attn_by_inverse_layer_idx"),
        refused=(CROSS_ATTENTION,),
    ),
    "gpt_neox": ModelFamily(
        attention="attention.",
        norm_kind="layer",
        layout=ProjectionLayout.BY_HEAD,
        projections=("query_key_value",),
        rotary_share=0.25,
        has_partial_rotary=True,
        others=("dense", "bias", "masked_bias", "rotary_emb.inv_freq"),
    ),
    "granite": replace(
        LLAMA,
        scale_keys=("attention_multiplier",),
        required=("attention_multiplier",),
    ),
    "hunyuan_v1_dense": replace(
        LLAMA,
        query_norm="query_layernorm",
        key_norm="key_layernorm",
        norms_follow_rotation=True,
    ),
    "llama": LLAMA,
    "mistral": LLAMA,
    "mixtral": LLAMA,
    "phi": PHI,
    "phi3": replace(
        LLAMA,
        layout=ProjectionLayout.STACKED,
        projections=("qkv_proj",),
        has_partial_rotary=True,
    ),
    "qwen2": LLAMA,
    "qwen2_moe": LLAMA,
    "qwen3": QWEN3,
    "qwen3_moe": QWEN3,
    "roberta": BERT,
    "smollm3": LLAMA,
    "stablelm": replace(
        LLAMA,
        norm_kind="layer",
        rotary_share=0.25,
        has_partial_rotary=True,
        refused=(("qk_layernorm", "norms of queries and keys for each head"),),
    ),
    "starcoder2": replace(LLAMA, norm_kind="layer"),
    "xlm-roberta": BERT,
}

# Families that are known, and why their ranges do not follow from the weights like this.
NOT_BOUNDED: dict[str, str] = {
    "deepseek_v2": "its keys and values come from a latent vector (MLA), which is not read here yet",
    "deepseek_v3": "its keys and values come from a latent vector (MLA), which is not read here yet",
    "olmo2": "its layers have no norm before the values: these grow with the residual stream",
    "olmo3": "its layers have no norm before the values: these grow with the residual stream",
    "opt": "some of its sizes have no norm before their attention",
    "t5": "its encoder has cross-attention beside it, whose keys are not read here",
}
