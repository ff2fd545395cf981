"""Which channels a configuration rotates with each other, and by what rotated pairs are scaled.

How far they are turned does not matter. What cos and sin are multiplied by does: some ways of stretching positions
multiply them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from headwright.errors import InputError
from headwright.value_ranges.config_numbers import Config, number_of
from headwright.value_ranges.families import ModelFamily
from headwright.value_ranges.layer import RotaryPairs

# Where a norm follows, the bound on the way to it allows for so much.
LARGEST_TURN = 2.0
LARGEST_SCALING = 1000.0
LARGEST_NUMBER = 2.0**40
UNSCALED = ("default", "linear", "dynamic", "llama3")
SCALED = ("yarn", "longrope", "su")
# Phi-3.5-MoE says what cos and sin are multiplied by, for short texts and for long ones.
SAID_SCALINGS = ("attention_factor", "short_mscale", "long_mscale")


def rotary_pairs(
    config: Config, family: ModelFamily, head_dim: int
) -> RotaryPairs | None:
    """The pairs of a head, whose scaling covers any kind of layer; None without rotation."""
    if family.arrangement is None:
        return None
    kinds = _rotations_of(config)
    share = _rotated_share(config, kinds, family, head_dim)
    scaling = max(_rotary_scaling(kind, config) for kind in kinds)
    if family.may_skip_rotation:
        # A layer that does not rotate does not scale either.
        scaling = max(scaling, 1.0)
    if family.norms_follow_rotation:
        # What is normed then has the bounds of its norm. On the way no number may overflow: see `bounds`.
        if scaling > LARGEST_TURN:
            raise InputError(f"rotary positions are scaled by {scaling}: not covered")
        return None
    channels = int(head_dim * share)
    if channels % 2 or not 0 <= channels <= head_dim:
        raise InputError(f"{channels} of {head_dim} channels are rotated")
    return RotaryPairs(channels, family.arrangement, scaling)


def latent_rotary(config: Config, family: ModelFamily, rotated: int) -> RotaryPairs:
    """In latent attention all of that part of a head that is rotated."""
    rotary = rotary_pairs(config, family, rotated)
    if rotary is None:
        raise InputError("latent attention without a rotation is not covered")
    if family.moves_pairs is None:
        return rotary
    # Pairs are neighbours, and are written in halves; or are in halves.
    arrangement: Literal["halves", "neighbours to halves"] = "neighbours to halves"
    if not config.get(family.moves_pairs, True):
        arrangement = "halves"
    return replace(rotary, arrangement=arrangement)


def latent_scaling(config: Config) -> float:
    """By what latent attention multiplies its scores, twice, where positions are stretched."""
    scaling = 1.0
    for rope in _rotations_of(config):
        if _kind_of(rope) == "default" or not rope.get("mscale_all_dim"):
            continue
        factor = number_of(rope, "factor", LARGEST_NUMBER)
        per_growth = number_of(rope, "mscale_all_dim", LARGEST_SCALING)
        scaling = max(scaling, abs(per_growth * _growth(factor) + 1))
    return scaling


def _rotations_of(config: Config) -> list[Config]:
    """What is said of rotations; kinds of layers may have their own."""
    given = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if not isinstance(given, Mapping):
        raise InputError(f"rotary positions are {given}: expected their parameters")
    if given and all(isinstance(entry, Mapping) for entry in given.values()):
        return list(given.values())
    return [given]


def _rotated_share(
    config: Config, kinds: list[Config], family: ModelFamily, head_dim: int
) -> float:
    """The share of a head's channels that is rotated, in all kinds of layers."""
    share = family.rotary_share
    for key in ("partial_rotary_factor", "rotary_pct"):
        if config.get(key) is not None:
            share = number_of(config, key, 1.0)
    if family.has_partial_rotary and config.get("rotary_dim") is not None:
        share = number_of(config, "rotary_dim", head_dim) / head_dim
    shares = set()
    for kind in kinds:
        said = kind.get("partial_rotary_factor")
        shares.add(number_of(kind, "partial_rotary_factor", 1.0) if said else share)
    # Implementations differ in whether they read a share that the family has not.
    if not family.has_partial_rotary and shares != {family.rotary_share}:
        raise InputError(
            f"partial_rotary_factor {min(shares)} is not covered: this family rotates all channels"
        )
    if len(shares) > 1:
        raise InputError(
            "layers rotate different numbers of channels, which is not covered"
        )
    return shares.pop()


def _kind_of(rope: Config) -> str:
    return str(rope.get("rope_type") or rope.get("type") or "default")


def _rotary_scaling(rope: Config, config: Config) -> float:
    """By what cos and sin are multiplied."""
    kind = _kind_of(rope)
    if kind in UNSCALED:
        return 1.0
    if kind not in SCALED:
        raise InputError(f"rotary positions of the type {kind} are not covered")
    said = []
    for key in SAID_SCALINGS:
        if rope.get(key) is not None:
            said.append(_checked_scaling(number_of(rope, key, LARGEST_SCALING)))
    if rope.get("attention_factor") is not None:
        return max(said)
    factors = _stretch_factors(rope, config)
    if not factors:
        raise InputError(f"rotary positions of the type {kind} do not say their factor")
    if kind == "yarn":
        scaling = _yarn_scaling(rope, factors[0][0])
    else:
        factor, original = max(factors)
        growth = 0.0
        if factor > 1 and original > 1:
            growth = math.log(factor) / math.log(original)
        scaling = math.sqrt(1 + growth)
    return max([_checked_scaling(scaling), *said])


def _yarn_scaling(rope: Config, factor: float) -> float:
    growth = _growth(factor)
    if not rope.get("mscale") or not rope.get("mscale_all_dim"):
        return growth + 1
    above = number_of(rope, "mscale", LARGEST_SCALING)
    below = number_of(rope, "mscale_all_dim", LARGEST_SCALING)
    divisor = growth * below + 1
    return (growth * above + 1) / divisor if divisor else math.inf


def _growth(factor: float) -> float:
    """What YaRN's scale grows by with the logarithm of the stretch."""
    return 0.1 * math.log(factor) if factor > 1 else 0.0


def _stretch_factors(rope: Config, config: Config) -> list[tuple[float, float]]:
    """By what positions are stretched, with the length that the model was made for: as it is given, then as a ratio.

    Versions of transformers differ in which of the two they take: the larger one is safe.
    """
    lengths = []
    for said, key in (
        (rope, "original_max_position_embeddings"),
        (config, "original_max_position_embeddings"),
        (config, "max_position_embeddings"),
    ):
        if said.get(key) is not None:
            lengths.append(number_of(said, key, LARGEST_NUMBER))
    if not lengths or not lengths[0] > 0:
        return []
    original = lengths[0]
    factors = []
    if rope.get("factor") is not None:
        factors.append((number_of(rope, "factor", LARGEST_NUMBER), original))
    if config.get("max_position_embeddings") is not None:
        longest = number_of(config, "max_position_embeddings", LARGEST_NUMBER)
        factors.append((longest / original, original))
    return factors


def _checked_scaling(scaling: float) -> float:
    if not 0 < scaling < LARGEST_SCALING:
        raise InputError(f"rotary positions are scaled by {scaling}: not known here")
    return scaling
