"""What a configuration says about the sizes of a model, by the names that families have for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from headwright.errors import InputError
from headwright.value_ranges.arithmetic import LARGEST_WIDTH, LEAST_EPS
from headwright.value_ranges.config_numbers import Config, number_of, size_of
from headwright.value_ranges.families import (
    FAMILIES,
    NOT_BOUNDED,
    SCALE_KEYS,
    WRAPPER,
    ModelFamily,
    ProjectionLayout,
)
from headwright.value_ranges.layer import RotaryPairs
from headwright.value_ranges.rotations import (
    latent_rotary,
    latent_scaling,
    rotary_pairs,
)

MOST_LAYERS = 4096
# Of numbers that the configuration multiplies by.
LARGEST_FACTOR = 2.0**40
# What configurations call a layer with attention, and one without.
ATTENTION_KINDS = ("full_attention", "sliding_attention", "attention")
OTHER_KINDS = ("linear_attention", "mamba", "conv")
EPS_NAMES = (
    "rms_norm_eps",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "norm_epsilon",
    "norm_eps",
)
UNSCALED = ("default", "linear", "dynamic", "llama3")
EPS_NAMES = (
    "rms_norm_eps",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "norm_epsilon",
    "norm_eps",
)


@dataclass(frozen=True)
class LatentSizes:
    """The sizes of latent attention: of latent vectors, and of the parts of a head."""

    key_rank: int
    query_rank: int | None  # None: queries are projected from what the layer reads
    unrotated: int
    rotated: int
    rotary: RotaryPairs  # of the rotated part alone


@dataclass(frozen=True)
class Factors:
    """By what the attention multiplies what it reads, its keys and its values."""

    reads: float = 1.0
    keys: float = 1.0
    values: float = 1.0


@dataclass(frozen=True)
class ModelDescription:
    """A model's family and sizes."""

    family_name: str
    family: ModelFamily
    layers: int
    width: int
    embedding_width: int
    heads: int
    key_heads: int
    head_dim: int
    value_dim: int
    has_head_norms: bool  # of queries and keys
    rotary: RotaryPairs | None
    scales: tuple[float, ...]  # of the scores, layer by layer
    attention_layers: tuple[int, ...]  # the layers that have attention
    latent: LatentSizes | None
    factors: Factors

    @property
    def numbers(self) -> str:
        """All that ranges depend on beside the weights, as a digest has it."""
        sizes = self.layers, self.width, self.embedding_width
        heads = self.heads, self.key_heads, self.head_dim, self.has_head_norms
        rotary = None
        if self.rotary is not None:
            rotary = (
                self.rotary.channels,
                self.rotary.arrangement,
                self.rotary.scaling,
            )
        numbers = f"{self.family_name} {sizes} {heads} {rotary} {self.scales}"
        # What came later is added where there is any, so that digests stay what they were.
        if self.latent is not None:
            numbers += f" latent {self.latent} {self.value_dim}"
        if self.factors != Factors():
            numbers += f" {self.factors}"
        if self.attention_layers != tuple(range(self.layers)):
            numbers += f" attention in {self.attention_layers}"
        return numbers


def describe(config: Config) -> ModelDescription:
    """What is known about a model from its configuration; refused by name where that is not enough."""
    name = str(config.get("model_type"))
    family = _find_family(name, config)
    _refuse_features(config, name, family)
    layers = size_of(config, ("num_hidden_layers", "n_layer", "n_layers"), MOST_LAYERS)
    width = size_of(config, ("hidden_size", "n_embd", "dim"), LARGEST_WIDTH)
    heads = size_of(config, ("num_attention_heads", "n_head", "n_heads"), LARGEST_WIDTH)
    key_heads = heads
    if config.get("num_key_value_heads") is not None:
        key_heads = size_of(config, ("num_key_value_heads",), heads)
    if heads % key_heads:
        raise InputError(f"{heads} heads and {key_heads} key heads: expected a divisor")
    latent = _latent_sizes(config, family)
    if latent is None:
        head_dim = _head_dim(config, width, heads)
        value_dim = head_dim
        rotary = rotary_pairs(config, family, head_dim)
    else:
        if key_heads != heads:
            raise InputError(
                f"{heads} heads and {key_heads} key heads: latent attention has as many of both"
            )
        head_dim = latent.unrotated + latent.rotated
        value_dim = size_of(config, ("v_head_dim",), LARGEST_WIDTH)
        rotary = latent.rotary
    return ModelDescription(
        family_name=name,
        family=family,
        layers=layers,
        width=width,
        embedding_width=_embedding_width(config, family, width),
        heads=heads,
        key_heads=key_heads,
        head_dim=head_dim,
        value_dim=value_dim,
        has_head_norms=_has_head_norms(config, family),
        rotary=rotary,
        scales=tuple(
            _scale(config, family, head_dim, layer) for layer in range(layers)
        ),
        attention_layers=_attention_layers(config, family, layers),
        latent=latent,
        factors=Factors(
            reads=_factor(config, family.input_factor),
            keys=_factor(config, family.key_factor),
            values=_factor(config, family.value_factor),
        ),
    )


def _find_family(name: str, config: Config) -> ModelFamily:
    if isinstance(config.get("text_config"), Mapping) and name not in FAMILIES:
        raise InputError(f"the family {name} is not covered: {WRAPPER}")
    if name not in FAMILIES:
        reason = NOT_BOUNDED.get(name, "its attention is not known here")
        raise InputError(f"the family {name} is not covered: {reason}")
    family = FAMILIES[name]
    for key in family.required:
        if config.get(key) is None:
            raise InputError(
                f"the configuration has no {key}, which the family {name} needs"
            )
    return family


def _head_dim(config: Config, width: int, heads: int) -> int:
    if config.get("head_dim") is not None:
        return size_of(config, ("head_dim",), LARGEST_WIDTH)
    if width % heads:
        raise InputError(f"{width} channels and {heads} heads: expected a divisor")
    return width // heads


def _latent_sizes(config: Config, family: ModelFamily) -> LatentSizes | None:
    if family.layout is not ProjectionLayout.LATENT:
        return None
    query_rank = None
    if config.get("q_lora_rank") is not None:
        query_rank = size_of(config, ("q_lora_rank",), LARGEST_WIDTH)
    rotated = size_of(config, ("qk_rope_head_dim",), LARGEST_WIDTH)
    return LatentSizes(
        key_rank=size_of(config, ("kv_lora_rank",), LARGEST_WIDTH),
        query_rank=query_rank,
        unrotated=size_of(config, ("qk_nope_head_dim",), LARGEST_WIDTH),
        rotated=rotated,
        rotary=latent_rotary(config, family, rotated),
    )


def _attention_layers(
    config: Config, family: ModelFamily, layers: int
) -> tuple[int, ...]:
    """Where there is attention: in every layer, unless the family has other kinds of layers."""
    if not family.has_other_layers:
        return tuple(range(layers))
    chosen = _layers_by_kind(config, layers)
    if chosen is None:
        chosen = _layers_by_number(config, layers)
    if chosen is None:
        raise InputError(
            "the configuration does not say which layers have attention (layer_types)"
        )
    if not chosen:
        raise InputError("none of its layers has attention: there is nothing to bound")
    return tuple(chosen)


def _layers_by_kind(config: Config, layers: int) -> list[int] | None:
    """From a list with the kind of each layer."""
    for key in ("layer_types", "layers_block_type"):
        kinds = config.get(key)
        if kinds is None:
            continue
        if not isinstance(kinds, list) or len(kinds) != layers:
            raise InputError(f"{key} does not have the {layers} layers of the model")
        for kind in kinds:
            if kind not in (*ATTENTION_KINDS, *OTHER_KINDS):
                raise InputError(f"{key} has a layer of the kind {kind}: not known")
        return [layer for layer in range(layers) if kinds[layer] in ATTENTION_KINDS]
    return None


def _layers_by_number(config: Config, layers: int) -> list[int] | None:
    """From their numbers, or from how often they come."""
    numbers = config.get("attn_layer_indices")
    if numbers is not None:
        if not isinstance(numbers, list):
            raise InputError(f"attn_layer_indices is {numbers}: expected a list")
        return [layer for layer in range(layers) if layer in numbers]
    if config.get("attn_layer_period") is not None:
        period = size_of(config, ("attn_layer_period",), MOST_LAYERS)
        offset = config.get("attn_layer_offset")
        return [layer for layer in range(layers) if layer % period == offset]
    if config.get("full_attention_interval") is not None:
        interval = size_of(config, ("full_attention_interval",), MOST_LAYERS)
        return [layer for layer in range(layers) if (layer + 1) % interval == 0]
    return None


def _factor(config: Config, key: str | None) -> float:
    """A number that the configuration says; 1 where the family has none."""
    if key is None:
        return 1.0
    factor = number_of(config, key, LARGEST_FACTOR)
    if abs(factor) < 1 / LARGEST_FACTOR:
        raise InputError(f"{key} is {factor}: expected at least {1 / LARGEST_FACTOR}")
    return factor


def _refuse_features(config: Config, name: str, family: ModelFamily) -> None:
    for key, meaning in family.refused:
        if config.get(key):
            raise InputError(f"{key} of the family {name} is not covered: {meaning}")
    # Implementations differ in whether they read what the family has not.
    for key, default in SCALE_KEYS.items():
        is_said = config.get(key) not in (None, default)
        if is_said and key not in family.scale_keys:
            raise InputError(
                f"the configuration has {key}, which the family {name} does not read: not covered"
            )
    positions = config.get("position_embedding_type")
    if family.arrangement is None and positions not in (None, "absolute"):
        raise InputError(
            f"position_embedding_type {positions} adds to scores, which is not covered"
        )
    for key in EPS_NAMES:
        eps = config.get(key)
        if eps is not None and not (
            isinstance(eps, (int, float)) and LEAST_EPS <= eps < math.inf
        ):
            raise InputError(
                f"{key} is {eps}: expected a number above 0, or an input that underflows has a norm without bound"
            )


def _embedding_width(config: Config, family: ModelFamily, width: int) -> int:
    """The width of the first norm of a post-norm model."""
    if family.first_mapping is not None:
        for key in ("num_hidden_groups", "inner_group_num"):
            if config.get(key, 1) != 1:
                raise InputError(f"{key} {config[key]} is not covered: expected 1")
        return size_of(config, ("embedding_size",), LARGEST_WIDTH)
    return width


def _has_head_norms(config: Config, family: ModelFamily) -> bool:
    if family.query_norm is None:
        return False
    return family.optional_norms is None or bool(config.get(family.optional_norms))


def _scale(config: Config, family: ModelFamily, head_dim: int, layer: int) -> float:
    """The factor of the scores."""
    said: Config = {key: config.get(key) for key in family.scale_keys}
    scale = 1 / math.sqrt(head_dim)
    if said.get("query_pre_attn_scalar") is not None:
        scalar = number_of(config, "query_pre_attn_scalar", LARGEST_FACTOR)
        if not scalar > 0:
            raise InputError(f"query_pre_attn_scalar is {scalar}: expected above 0")
        scale = 1 / math.sqrt(scalar)
    if said.get("attention_multiplier") is not None:
        scale = number_of(config, "attention_multiplier", LARGEST_FACTOR)
    if said.get("scale_attn_weights") is False:
        scale = 1.0
    if said.get("scale_attn_by_inverse_layer_idx"):
        scale /= layer + 1
    if family.layout is ProjectionLayout.LATENT:
        scale *= latent_scaling(config) ** 2
    return scale
