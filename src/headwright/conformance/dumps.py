"""Tensors that were saved from any framework: q, k, v, out, and what describes them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from headwright.errors import InputError
from headwright.numerics.float_formats import INPUT_FORMATS

REQUIRED = ("q", "k", "v", "out")
# Tensors that say what was asked for, by the names of the arguments of `hw.conform`.
DESCRIBING = (
    "sinks",
    "bias",
    "alibi",
    "key_padding",
    "documents",
    "mask",
)
GRADIENTS = ("dout", "dq", "dk", "dv")  # all of them, or none is judged


def read_dump(path: Path, dtype: str | None = None) -> dict[str, np.ndarray]:
    """The tensors of a .safetensors or .npz file that have a meaning here.

    `dtype` is the type that q, k, v and out have if they were saved in a wider one.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    if path.suffix == ".safetensors":
        tensors = _read_safetensors(path)
    elif path.suffix == ".npz":
        tensors = _read_npz(path)
    else:
        raise InputError(
            f"{path}: has the suffix '{path.suffix}', expected .safetensors or .npz"
        )
    missing = [name for name in REQUIRED if name not in tensors]
    if missing:
        names = ", ".join(sorted(tensors)[:8]) or "nothing"
        raise InputError(
            f"{path}: has no tensor {', '.join(missing)}; it holds {names}; expected "
            "q, k, v and out"
        )
    if dtype is not None:
        for name in (*REQUIRED, *GRADIENTS):
            if name in tensors:
                tensors[name] = _narrow(tensors[name], name, dtype)
    present = [name for name in GRADIENTS if name in tensors]
    if present and len(present) < len(GRADIENTS):
        absent = [name for name in GRADIENTS if name not in tensors]
        raise InputError(
            f"{path}: has {', '.join(present)} and no {', '.join(absent)}: gradients are "
            "judged where all four are there"
        )
    known = {}
    for name in (*REQUIRED, *DESCRIBING, *GRADIENTS):
        if name in tensors:
            known[name] = tensors[name]
    return known


def _read_safetensors(path: Path) -> dict[str, np.ndarray]:
    import ml_dtypes  # noqa: F401  (teaches NumPy bfloat16, which safetensors then reads)
    from safetensors import SafetensorError, safe_open

    tensors = {}
    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118  (no dictionary)
                tensors[name] = np.asarray(file.get_tensor(name))
    except (SafetensorError, OSError, TypeError, KeyError) as error:
        raise InputError(f"{path}: is not a safetensors file ({error})") from error
    return tensors


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    tensors = {}
    try:
        with np.load(path, allow_pickle=False) as file:
            for name in file.files:
                tensors[name] = np.asarray(file[name])
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: is no .npz file of plain numbers") from error
    return tensors


def _narrow(array: np.ndarray, name: str, dtype: str) -> np.ndarray:
    """The same numbers in a narrower type, or InputError where it has them not."""
    import ml_dtypes

    if dtype not in INPUT_FORMATS:
        raise InputError(f"{dtype}: expected one of {', '.join(INPUT_FORMATS)}")
    target = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    with np.errstate(all="ignore"):
        narrow = array.astype(target)
    same = narrow.astype(np.float64) == array.astype(np.float64)
    if not bool((same | ~np.isfinite(array.astype(np.float64))).all()):
        raise InputError(f"{name} holds numbers that {dtype} does not have")
    return narrow
