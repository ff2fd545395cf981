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
    LATENT = "latent"  # MLA: from latent vectors


class HeadNormScope(StrEnum):
    """What the norms of queries and keys norm, and with which gains."""

    ONE_GAIN = "one gain"  # each head alone, all with the same gain
    OWN_GAINS = "own gains"  # each head alone, with a gain of its own
    ALL_HEADS = "all heads"  # all heads together, as one vector


@dataclass(frozen=True)
class ModelFamily:
    """Names of tensors are relative to the stem of a layer, `{layer}` being its number."""

    stem: str = "layers.{layer}."
    attention: str = "self_attn."
    # None: queries and keys are normed, and values come from the residual stream.
    norm: str | None = "input_layernorm"
    norm_kind: Literal["rms", "layer"] = "rms"
    norms_have_gains: bool = True
    gain_offset: float = 0.0  # of all norms: Gemma holds gains less 1
    layout: ProjectionLayout = ProjectionLayout.SEPARATE
    projections: tuple[str, ...] = ("q_proj", "k_proj", "v_proj")
    is_transposed: bool = False  # (in, out), as GPT-2 holds matrices
    # The matrix of queries has as many rows again, head by head, for a gate of what attention returns.
    has_gated_queries: bool = False
    query_norm: str | None = None
    key_norm: str | None = None
    # These norms are there only if this key of the configuration says so.
    optional_norms: str | None = None
    head_norm_kind: Literal["rms", "layer"] = "rms"
    head_norm_scope: HeadNormScope = HeadNormScope.ONE_GAIN
    # Queries and keys are rotated first, and normed then: a rotation keeps the ball that a norm reads from.
    norms_follow_rotation: bool = False
    arrangement: Literal["halves", "neighbours"] | None = "halves"
    # Latent attention: rotated pairs are neighbours that are written in halves, unless this key of the configuration
    # says no.
    moves_pairs: str | None = None
    rotary_share: float = 1.0
    # Whether the configuration may say another share.
    has_partial_rotary: bool = False
    # Some of its layers do not rotate.
    may_skip_rotation: bool = False
    # What of `SCALE_KEYS` the family reads.
    scale_keys: tuple[str, ...] = ()
    # Keys of the configuration that have a factor of what attention reads, of keys, and of values.
    input_factor: str | None = None
    key_factor: str | None = None
    value_factor: str | None = None
    # Some of its layers have no attention: the configuration says which.
    has_other_layers: bool = False
    # Post-norm: a layer reads what the norm at the end of the layer before it returns.
    first_norm: str | None = None
    # A linear map after that first norm, whose width is then the embeddings' own.
    first_mapping: str | None = None
    # Whether that map is there, too, where both widths are the same.
    maps_equal_widths: bool = True
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
SKIPS_ROTATION = replace(LLAMA, may_skip_rotation=True)
WITH_OWN_SCALE = replace(
    LLAMA,
    scale_keys=("attention_multiplier",),
    required=("attention_multiplier",),
)
WITH_SINKS = replace(LLAMA, others=(*LLAMA.others, "sinks"))
GRANITE_SWA = replace(WITH_OWN_SCALE, may_skip_rotation=True, others=WITH_SINKS.others)
LAYER_NORM = replace(LLAMA, norm_kind="layer")
NEIGHBOURS = replace(LLAMA, arrangement="neighbours")
GLM = replace(NEIGHBOURS, rotary_share=0.5, has_partial_rotary=True)
QWEN3 = replace(LLAMA, query_norm="q_norm", key_norm="k_norm")
QWEN3_SKIPS_ROTATION = replace(QWEN3, may_skip_rotation=True)
NORMS_ALL_HEADS = replace(QWEN3, head_norm_scope=HeadNormScope.ALL_HEADS)
OLMO2 = replace(NORMS_ALL_HEADS, norm=None)
GEMMA = replace(LLAMA, gain_offset=1.0)
GEMMA2 = replace(
    GEMMA,
    scale_keys=("query_pre_attn_scalar",),
    required=("head_dim", "query_pre_attn_scalar"),
)
QWEN3_NEXT = replace(
    QWEN3,
    gain_offset=1.0,
    rotary_share=0.25,
    has_partial_rotary=True,
    has_gated_queries=True,
    has_other_layers=True,
    required=("head_dim",),
)
HUNYUAN = replace(
    LLAMA,
    query_norm="query_layernorm",
    key_norm="key_layernorm",
    norms_follow_rotation=True,
)
LFM2 = replace(
    LLAMA,
    norm="operator_norm",
    query_norm="q_layernorm",
    key_norm="k_layernorm",
    has_other_layers=True,
    others=("out_proj",),
)
COHERE = replace(
    LAYER_NORM,
    arrangement="neighbours",
    query_norm="q_norm",
    key_norm="k_norm",
    optional_norms="use_qk_norm",
    head_norm_kind="layer",
    head_norm_scope=HeadNormScope.OWN_GAINS,
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
DEEPSEEK = ModelFamily(
    layout=ProjectionLayout.LATENT,
    projections=("kv_a_proj_with_mqa", "kv_b_proj"),
    arrangement="neighbours",
    required=("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
)
DEEPSEEK_V3 = replace(DEEPSEEK, moves_pairs="rope_interleave")
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
PRE_NORM_BERT = replace(BERT, first_norm=None)
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
    "afmoe": replace(QWEN3_SKIPS_ROTATION, others=(*LLAMA.others, "gate_proj")),
    "albert": ALBERT,
    "apertus": replace(QWEN3, norm="attention_layernorm"),
    "arcee": LLAMA,
    "aria_text": LLAMA,
    "axk1": DEEPSEEK_V3,
    "bamba": replace(
        LLAMA,
        rotary_share=0.5,
        has_partial_rotary=True,
        has_other_layers=True,
    ),
    "bert": BERT,
    "bert-generation": BERT,
    "camembert": BERT,
    "cohere": COHERE,
    "cohere2": replace(LAYER_NORM, arrangement="neighbours", may_skip_rotation=True),
    "cwm": LLAMA,
    "data2vec-text": BERT,
    "deepseek_v2": DEEPSEEK,
    "deepseek_v3": DEEPSEEK_V3,
    "distilbert": replace(
        BERT,
        stem="transformer.layer.{layer}.",
        attention="attention.",
        norm="output_layer_norm",
        projections=("q_lin", "k_lin", "v_lin"),
        others=("out_lin",),
    ),
    "dots1": QWEN3,
    "electra": replace(
        BERT,
        first_mapping="embeddings_project",
        maps_equal_widths=False,
        required=("embedding_size",),
    ),
    "ernie": BERT,
    "ernie4_5": NEIGHBOURS,
    "ernie4_5_moe": NEIGHBOURS,
    "eurobert": LLAMA,
    "exaone4": replace(QWEN3_SKIPS_ROTATION, norm=None),
    "exaone_moe": QWEN3_SKIPS_ROTATION,
    "falcon_h1": replace(
        LLAMA,
        input_factor="attention_in_multiplier",
        key_factor="key_multiplier",
        required=("attention_in_multiplier", "key_multiplier"),
    ),
    "flex_olmo": OLMO2,
    "flint": replace(
        # Its files have another name for sinks.
        QWEN3_SKIPS_ROTATION,
        others=(*WITH_SINKS.others, "softmax_offset"),
    ),
    "gemma": GEMMA,
    "gemma2": GEMMA2,
    "gemma3_text": replace(GEMMA2, query_norm="q_norm", key_norm="k_norm"),
    "glm": GLM,
    "glm4": GLM,
    "glm4_moe": replace(
        QWEN3,
        optional_norms="use_qk_norm",
        rotary_share=0.5,
        has_partial_rotary=True,
    ),
    "glm4_moe_lite": DEEPSEEK_V3,
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
    "gpt_oss": WITH_SINKS,
    "granite": WITH_OWN_SCALE,
    "granite_swa": GRANITE_SWA,
    "granitemoe": WITH_OWN_SCALE,
    "granitemoe_swa": GRANITE_SWA,
    "granitemoehybrid": replace(
        WITH_OWN_SCALE,
        may_skip_rotation=True,
        has_other_layers=True,
        required=("attention_multiplier",),
    ),
    "granitemoeshared": WITH_OWN_SCALE,
    "helium": NEIGHBOURS,
    "hunyuan_v1_dense": HUNYUAN,
    "hunyuan_v1_moe": HUNYUAN,
    "hy_v3": QWEN3,
    "hyperclovax": WITH_OWN_SCALE,
    "jais2": LAYER_NORM,
    "jamba": replace(LLAMA, arrangement=None, has_other_layers=True),
    "kolibri1": QWEN3_SKIPS_ROTATION,
    "lfm2": LFM2,
    "lfm2_moe": LFM2,
    "llama": LLAMA,
    "mellum": QWEN3,
    "minicpm3": replace(DEEPSEEK, arrangement="halves"),
    "minimax_m2": replace(NORMS_ALL_HEADS, has_partial_rotary=True),
    "ministral": LLAMA,
    "mistral": LLAMA,
    "mixtral": LLAMA,
    "nanochat": replace(QWEN3, norms_have_gains=False, norms_follow_rotation=True),
    "nemotron": replace(
        LAYER_NORM, gain_offset=1.0, rotary_share=0.5, has_partial_rotary=True
    ),
    "olmo": replace(LAYER_NORM, norms_have_gains=False),
    "olmo2": OLMO2,
    "olmo3": OLMO2,
    "olmoe": NORMS_ALL_HEADS,
    "persimmon": replace(
        PHI, layout=ProjectionLayout.BY_HEAD, projections=("query_key_value",)
    ),
    "phi": PHI,
    "phi3": replace(
        LLAMA,
        layout=ProjectionLayout.STACKED,
        projections=("qkv_proj",),
        has_partial_rotary=True,
    ),
    "phimoe": LAYER_NORM,
    "qwen2": LLAMA,
    "qwen2_moe": LLAMA,
    "qwen3": QWEN3,
    "qwen3_5_moe_text": QWEN3_NEXT,
    "qwen3_5_text": QWEN3_NEXT,
    "qwen3_moe": QWEN3,
    "qwen3_next": QWEN3_NEXT,
    "roberta": BERT,
    "roberta-prelayernorm": replace(PRE_NORM_BERT, norm="attention.LayerNorm"),
    "roc_bert": BERT,
    "seed_oss": LLAMA,
    "smollm3": SKIPS_ROTATION,
    "solar_open": LLAMA,
    "stablelm": replace(
        LLAMA,
        norm_kind="layer",
        rotary_share=0.25,
        has_partial_rotary=True,
        refused=(("qk_layernorm", "norms of queries and keys for each head"),),
    ),
    "starcoder2": LAYER_NORM,
    "vaultgemma": GEMMA2,
    "xlm-roberta": BERT,
    "xlm-roberta-xl": replace(PRE_NORM_BERT, norm="attention.self_attn_layer_norm"),
    "youtu": DEEPSEEK_V3,
}

# Why the ranges of other families are not proved.
ADDS_TO_SCORES = "it adds a number to its scores that depends on the distance"
CROSS = (
    "its decoder has a second attention, to another text, whose keys are not read here"
)
NO_ATTENTION = "it has no attention, and no keys and values to bound"
SCALED_BY_POSITION = (
    "its queries are multiplied by a number that grows with the position"
)
INDEXER = "an indexer keeps further keys, which are not read here"
OWN_MIXING = "its keys and values are mixed over positions before they are kept"
NO_NORM = "its attention reads numbers that no norm has made"
LINEAR = "some of its layers keep a state instead of keys and values, which is not bounded here"
SHARED_LAYERS = "some of its layers read the keys of others, which is not read here"
NOT_READ = "how its attention makes keys and values is not read here"
WRAPPER = "it is one model around another: ask for the text model inside it"

NOT_BOUNDED: dict[str, str] = {
    "axk2": INDEXER,
    "bailing_hybrid": LINEAR,
    "bart": CROSS,
    "beam": SCALED_BY_POSITION,
    "big_bird": "its attention is sparse, in blocks that are not read here",
    "bigbird_pegasus": CROSS,
    "biogpt": NOT_READ,
    "bitnet": "its weights are ternary, with activations rounded to 8 bits",
    "blenderbot": CROSS,
    "blenderbot-small": CROSS,
    "bloom": ADDS_TO_SCORES,
    "blt": "it is made of several models with attention to each other",
    "codegen": NOT_READ,
    "cohere_compass_text": NOT_READ,
    "cohere2_moe": NOT_READ,
    "convbert": "its keys are convolved over positions",
    "cpmant": ADDS_TO_SCORES,
    "ctrl": NOT_READ,
    "dbrx": "its projections are clipped, and its tensors named as in no other family",
    "deberta": "its scores have further terms for relative positions",
    "deberta-v2": "its scores have further terms for relative positions",
    "deepseek_v32": INDEXER,
    "deepseek_v4": "its keys are compressed over positions",
    "diffllama": "its attention is a difference of two patterns, which is not read here",
    "doge": "its scores have further terms that are computed from values",
    "falcon": "its sizes differ in how they hold keys, and in what they add to scores",
    "falcon_mamba": NO_ATTENTION,
    "fnet": NO_ATTENTION,
    "gemma3n_text": SHARED_LAYERS,
    "gemma4_text": SHARED_LAYERS,
    "gemma4_unified_text": SHARED_LAYERS,
    "git": NOT_READ,
    "glm_moe_dsa": INDEXER,
    "gpt_bigcode": NOT_READ,
    "gpt_neo": NOT_READ,
    "gpt_neox_japanese": "its biases are kept apart from its projections",
    "gptj": NOT_READ,
    "hrm_text": "its layers are run several times, and have no norm with a gain",
    "hy_v4": INDEXER,
    "inkling_text": "its scores have further terms for relative positions",
    "jetmoe": "its queries come from experts that are chosen for each token",
    "kimi_linear": LINEAR,
    "laguna": "its layers have different numbers of heads",
    "llama4_text": SCALED_BY_POSITION,
    "longcat_flash": "each of its layers has two attentions",
    "mamba": NO_ATTENTION,
    "mamba2": NO_ATTENTION,
    "marian": CROSS,
    "mbart": CROSS,
    "megatron-bert": NOT_READ,
    "mimo_v2_flash": "its layers have different numbers of key heads",
    "minimax": LINEAR,
    "minimax_m3_vl_text": INDEXER,
    "ministral3": SCALED_BY_POSITION,
    "modernbert-decoder": "its first layer has no norm of its own, which is not read here",
    "moshi": "its projections are held in layers of their own",
    "mpnet": ADDS_TO_SCORES,
    "mpt": ADDS_TO_SCORES,
    "musicgen": CROSS,
    "musicgen_melody": CROSS,
    "mvp": CROSS,
    "nemotron_h": LINEAR,
    "olmo_hybrid": LINEAR,
    "openai-gpt": NO_NORM,
    "opt": "some of its sizes have no norm before their attention",
    "pegasus": CROSS,
    "phi4_multimodal": "it has adapters for images and speech beside its projections",
    "plbart": CROSS,
    "prophetnet": CROSS,
    "qwen4_exp_text": NOT_READ,
    "recurrent_gemma": LINEAR,
    "reformer": "its queries are its keys, and are hashed",
    "roformer": "it rotates inputs of its own, which are not read here",
    "rembert": NOT_READ,
    "rwkv": NO_ATTENTION,
    "t5": "its encoder has cross-attention beside it, whose keys are not read here",
    "trocr": CROSS,
    "whisper": CROSS,
    "xglm": NOT_READ,
    "xlm": NOT_READ,
    "xlnet": "its scores have further terms for relative positions",
    "xlstm": NO_ATTENTION,
    "xmod": "it has adapters for languages, and its norms differ with its size",
    "zamba": "its attention reads two vectors at once, and is shared by layers",
    "zamba2": "its attention reads two vectors at once, and is shared by layers",
    "zaya": OWN_MIXING,
}
