"""What a configuration says about the sizes of a model, by the names that families have for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwright.errors import InputError
from headwright.value_ranges.arithmetic import LARGEST_WIDTH, LEAST_EPS
from headwright.value_ranges.families import (
    FAMILIES,
    NOT_BOUNDED,
    SCALE_KEYS,
    ModelFamily,
)
from headwright.value_ranges.layer import RotaryPairs

Config = Mapping[str, Any]
MOST_LAYERS = 4096
# How positions are spread does not matter, only by what cos and sin are multiplied.
LARGEST_TURN = 2.0
UNSCALED = ("default", "linear", "dynamic", "llama3")


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
    has_head_norms: bool  # of queries and keys
    rotary: RotaryPairs | None
    scales: tuple[float, ...]  # of the scores, layer by layer

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
        return f"{self.family_name} {sizes} {heads} {rotary} {self.scales}"


def describe(config: Config) -> ModelDescription:
    """What is known about a model from its configuration; refused by name where that is not enough."""
    name = str(config.get("model_type"))
    if name in NOT_BOUNDED:
        raise InputError(f"the family {name} is not covered: {NOT_BOUNDED[name]}")
    if name not in FAMILIES:
        expected = ", ".join(sorted(FAMILIES))
        raise InputError(
            f"the family {name} is not covered: expected one of {expected}"
        )
    family = FAMILIES[name]
    for key in family.required:
        if config.get(key) is None:
            raise InputError(
                f"the configuration has no {key}, which the family {name} needs"
            )
    _refuse_features(config, name, family)
    layers = _size(config, ("num_hidden_layers", "n_layer"), MOST_LAYERS)
    width = _size(config, ("hidden_size", "n_embd"), LARGEST_WIDTH)
    heads = _size(config, ("num_attention_heads", "n_head"), LARGEST_WIDTH)
    key_heads = heads
    if config.get("num_key_value_heads") is not None:
        key_heads = _size(config, ("num_key_value_heads",), heads)
    head_dim = width // heads
    if config.get("head_dim") is not None:
        head_dim = _size(config, ("head_dim",), LARGEST_WIDTH)
    elif width % heads:
        raise InputError(f"{width} channels and {heads} heads: expected a divisor")
    if heads % key_heads:
        raise InputError(f"{heads} heads and {key_heads} key heads: expected a divisor")
    return ModelDescription(
        family_name=name,
        family=family,
        layers=layers,
        width=width,
        embedding_width=_embedding_width(config, family, width),
        heads=heads,
        key_heads=key_heads,
        head_dim=head_dim,
        has_head_norms=_has_head_norms(config, family),
        rotary=_rotary_pairs(config, family, head_dim),
        scales=tuple(
            _scale(config, family, head_dim, layer) for layer in range(layers)
        ),
    )


def _size(config: Config, names: Sequence[str], most: int) -> int:
    for name in names:
        size = config.get(name)
        if size is None:
            continue
        if not isinstance(size, int) or not 1 <= size <= most:
            raise InputError(
                f"the configuration has {name} {size}: expected 1 to {most}"
            )
        return size
    raise InputError(f"the configuration has no {names[0]}")


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
    if family.first_norm is not None and positions not in (None, "absolute"):
        raise InputError(
            f"position_embedding_type {positions} adds to scores, which is not covered"
        )
    eps_names = ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon")
    for key in eps_names:
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
        return _size(config, ("embedding_size",), LARGEST_WIDTH)
    return width


def _rotary_pairs(
    config: Config, family: ModelFamily, head_dim: int
) -> RotaryPairs | None:
    """Which channels are rotated, and by what they are scaled, in any kind of layer."""
    if family.arrangement is None:
        return None
    given = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kinds = [given]
    # Kinds of layers may have rotations of their own.
    if given and all(isinstance(entry, Mapping) for entry in given.values()):
        kinds = list(given.values())
    share = family.rotary_share
    for key in ("partial_rotary_factor", "rotary_pct"):
        if config.get(key) is not None:
            share = float(config[key])
    shares = {float(kind.get("partial_rotary_factor") or share) for kind in kinds}
    # Implementations differ in whether they read a share that the family has not.
    if not family.has_partial_rotary and shares != {family.rotary_share}:
        raise InputError(
            f"partial_rotary_factor {min(shares)} is not covered: this family rotates all channels"
        )
    if len(shares) > 1:
        raise InputError(
            "layers rotate different numbers of channels, which is not covered"
        )
    scaling = max(_rotary_scaling(kind, config) for kind in kinds)
    if family.norms_follow_rotation:
        # What is normed then has the bounds of its norm. On the way no number may overflow: see `bounds`.
        if scaling > LARGEST_TURN:
            raise InputError(f"rotary positions are scaled by {scaling}: not covered")
        return None
    channels = int(head_dim * shares.pop())
    if channels % 2 or not 0 <= channels <= head_dim:
        raise InputError(f"{channels} of {head_dim} channels are rotated")
    return RotaryPairs(channels, family.arrangement, scaling)


def _rotary_scaling(rope: Config, config: Config) -> float:
    """By what cos and sin are multiplied."""
    kind = str(rope.get("rope_type") or rope.get("type") or "default")
    if kind in UNSCALED:
        return 1.0
    if kind not in ("yarn", "longrope", "su"):
        raise InputError(f"rotary positions of the type {kind} are not covered")
    if rope.get("attention_factor") is not None:
        return _checked_scaling(float(rope["attention_factor"]))
    factors = _stretch_factors(rope, config)
    if not factors:
        raise InputError(f"rotary positions of the type {kind} do not say their factor")
    if kind != "yarn":
        factor, original = max(factors)
        growth = math.log(factor) / math.log(original) if factor > 1 else 0.0
        return _checked_scaling(math.sqrt(1 + growth))
    factor, _ = factors[0]
    growth = 0.1 * math.log(factor) if factor > 1 else 0.0
    above = rope.get("mscale")
    below = rope.get("mscale_all_dim")
    if above and below:
        return _checked_scaling((growth * above + 1) / (growth * below + 1))
    return _checked_scaling(growth + 1)


def _stretch_factors(rope: Config, config: Config) -> list[tuple[float, float]]:
    """By what positions are stretched, with the length that the model was made for: as it is given, then as a ratio.

    Versions of transformers differ in which of the two they take: the larger one is safe.
    """
    longest = config.get("max_position_embeddings")
    original = rope.get("original_max_position_embeddings")
    if original is None:
        original = config.get("original_max_position_embeddings", longest)
    factors = []
    if original and rope.get("factor") is not None:
        factors.append((float(rope["factor"]), float(original)))
    if original and longest:
        factors.append((longest / original, float(original)))
    return factors


def _checked_scaling(scaling: float) -> float:
    if not 0 < scaling < 1000:
        raise InputError(f"rotary positions are scaled by {scaling}: not known here")
    return scaling


def _has_head_norms(config: Config, family: ModelFamily) -> bool:
    if family.query_norm is None:
        return False
    return family.optional_norms is None or bool(config.get(family.optional_norms))


def _scale(config: Config, family: ModelFamily, head_dim: int, layer: int) -> float:
    """The factor of the scores."""
    said: Config = {key: config.get(key) for key in family.scale_keys}
    scale = 1 / math.sqrt(head_dim)
    if said.get("query_pre_attn_scalar") is not None:
        scale = 1 / math.sqrt(float(said["query_pre_attn_scalar"]))
    if said.get("attention_multiplier") is not None:
        scale = float(said["attention_multiplier"])
    if said.get("scale_attn_weights") is False:
        scale = 1.0
    if said.get("scale_attn_by_inverse_layer_idx"):
        scale /= layer + 1
    return scale
