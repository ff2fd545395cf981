"""Scales of an 8-bit cache, from the proof, and the files in which runtimes read them.

A cache in e4m3 keeps k / scale, whose size may be 448 at most. With scale = bound (1 + 2^-20) / 448, rounded up to
float32, k / scale stays below 448 for every text, also if the runtime multiplies by a rounded 1 / scale: two roundings
in float32 change the quotient by less than 2^-22. Rounded to bfloat16 or float16 it stays at most 448, which both have.

vllm      one tensor of one number for each layer, `...self_attn.k_scale` and `...self_attn.v_scale`, as checkpoints of
          compressed-tensors have them, and `quantization_config.json`, which goes into config.json under this name
modelopt  the same numbers as `...self_attn.k_proj.k_scale` and `...self_attn.v_proj.v_scale`, and
          `hf_quant_config.json`
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import headwright
from headwright.errors import InputError
from headwright.files import write_whole
from headwright.value_ranges.result import Ranges
from headwright.value_ranges.verdicts import E4M3_LARGEST

FORMATS = ("vllm", "modelopt")
SLACK = 1 + 2.0**-20
QUANTIZATION_CONFIG = {
    "quant_method": "compressed-tensors",
    "format": "dense",
    "config_groups": {},
    "ignore": [],
    "kv_cache_scheme": {
        "num_bits": 8,
        "type": "float",
        "strategy": "tensor",
        "dynamic": False,
        "symmetric": True,
    },
}


@dataclass(frozen=True)
class LayerScales:
    """The scales of a layer, and what runtimes call its attention."""

    attention: str
    key: float
    value: float


def cache_scales(ranges: Ranges) -> tuple[LayerScales, ...]:
    """For each layer the smallest scales with which no key or value is clipped, on every text.

    >>> cache_scales(Ranges("no layers", "llama", "", "bfloat16", (), ()))
    ()
    """
    scales = []
    for layer, name in zip(ranges.layers, ranges.tensor_names, strict=True):
        # Runtimes keep latent vectors with the scale of keys.
        key = scale_for(max(layer.largest_key, layer.largest_latent))
        value = scale_for(layer.largest_value)
        if key is None or value is None:
            raise InputError(
                f"{ranges.model}: the keys or values of layer {layer.index} are not bounded in "
                f"{ranges.number_type}, so that there is no scale for them"
            )
        scales.append(LayerScales(name, key, value))
    return tuple(scales)


def scale_for(bound: float) -> float | None:
    """The scale of an e4m3 cache for numbers up to a bound; None if there is none.

    >>> scale_for(448.0) > 1, scale_for(0.0), scale_for(math.inf)
    (True, 1.0, None)
    """
    if not math.isfinite(bound):
        return None
    exact = bound * SLACK / E4M3_LARGEST
    scale = np.float32(exact)
    if float(scale) < exact:
        scale = np.nextafter(scale, np.float32(np.inf))
    # Runtimes take 0 for a scale that is missing; numbers this small need none.
    if scale < np.finfo(np.float32).tiny:
        return 1.0
    return float(scale) if np.isfinite(scale) else None


def write_scales(ranges: Ranges, path: Path, file_format: str) -> tuple[Path, ...]:
    """Write the scales and the configuration that goes with them; the files that were written.

    >>> write_scales(Ranges("a model", "llama", "", "bfloat16", (), ()), Path("scales.safetensors"), "onnx")
    Traceback (most recent call last):
    headwright.errors.InputError: format onnx: expected one of vllm, modelopt
    """
    from safetensors.numpy import save

    if file_format not in FORMATS:
        raise InputError(f"format {file_format}: expected one of {', '.join(FORMATS)}")
    if path.suffix != ".safetensors":
        raise InputError(f"scales {path}: expected a name that ends with .safetensors")
    key_name, value_name = "k_scale", "v_scale"
    if file_format == "modelopt":
        key_name, value_name = "k_proj.k_scale", "v_proj.v_scale"
    tensors = {}
    for scales in cache_scales(ranges):
        tensors[f"{scales.attention}.{key_name}"] = _one_number(scales.key)
        tensors[f"{scales.attention}.{value_name}"] = _one_number(scales.value)
    content = save(tensors, {"format": "pt", "digest": ranges.digest})
    write_whole(path, content)
    beside, config = _configuration(file_format)
    config_path = path.parent / beside
    write_whole(config_path, (json.dumps(config, indent=2) + "\n").encode())
    return path, config_path


def _one_number(scale: float) -> np.ndarray:
    return np.array([scale], dtype=np.float32)


def _configuration(file_format: str) -> tuple[str, dict[str, Any]]:
    if file_format == "vllm":
        return "quantization_config.json", QUANTIZATION_CONFIG
    quantization: dict[str, Any] = {
        "quant_algo": None,
        "kv_cache_quant_algo": "FP8",
        "exclude_modules": [],
    }
    # ModelOpt writes its own name here, by which runtimes know the format.
    producer = {"name": "modelopt", "version": f"headwright {headwright.__version__}"}
    return "hf_quant_config.json", {"producer": producer, "quantization": quantization}
