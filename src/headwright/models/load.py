"""Load a model by its name. Code that comes with a checkpoint is never executed.

builtin:induction       in the package; needs neither torch nor transformers; so is builtin:induction16
a folder                config.json with model.safetensors (or its shards); pytorch_model.bin with tensors only
a file                  .gguf, or .safetensors with config.json beside it
owner/name              a hub id: from the local cache, else from the hub, safetensors only
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.extras import require
from headwright.models.induction import NAME, induction_model
from headwright.models.induction16 import NAME16, induction16_model
from headwright.models.model import Model

LOG = logging.getLogger(__name__)
DEVICES = ("cpu", "cuda")
DTYPES = ("float32", "bfloat16", "float16")
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLED = "pytorch_model.bin"
FROM_HUB = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model"]


def load_model(
    name: str | Path | Any,
    *,
    device: str = "cpu",
    dtype: str | None = None,
    tokenizer: Any = None,
) -> Model:
    """The model of that name, or a model of transformers that is in memory, with its tokenizer if it has one.

    The numbers of a model that is loaded are of type `dtype`: float32 unless given. One in memory stays as it is.

    >>> load_model("builtin:induction").heads
    2
    >>> load_model("builtin:deduction")
    Traceback (most recent call last):
    headwright.errors.InputError: there is no model builtin:deduction: expected builtin:induction or builtin:induction16
    """
    if hasattr(name, "named_parameters"):
        if device != "cpu" or dtype is not None:
            raise InputError(
                "the model is in memory: it stays where it is, leave device and dtype out"
            )
        return _in_memory(name, tokenizer)
    text = str(name)
    LOG.info("loading %s on %s", text, device)
    if device not in DEVICES:
        raise InputError(f"device {device}: expected one of {', '.join(DEVICES)}")
    if dtype is not None and dtype not in DTYPES:
        raise InputError(f"dtype {dtype}: expected one of {', '.join(DTYPES)}")
    if text.startswith("builtin:"):
        return _builtin(text, device, dtype)
    path = Path(text).expanduser()
    if path.is_dir():
        return _folder(text, path, device, dtype)
    if path.is_file():
        return _file(text, path, device, dtype)
    if not HUB_ID.fullmatch(text) or path.suffix in (".gguf", ".safetensors"):
        raise InputError(
            f"there is no model {text}: expected a folder, a .gguf or .safetensors file, a hub id such as "
            f"owner/name, {NAME} or {NAME16}"
        )
    return _folder(text, hub_folder(text), device, dtype)


def _in_memory(model: Any, tokenizer: Any) -> Model:
    require("audit", "a model of transformers", "transformers", "torch")
    from headwright.models.checkpoint import from_memory

    return from_memory(model, tokenizer)


def _builtin(name: str, device: str, dtype: str | None) -> Model:
    if name not in (NAME, NAME16):
        raise InputError(f"there is no model {name}: expected {NAME} or {NAME16}")
    if device != "cpu" or dtype is not None:
        raise InputError(
            f"{name} runs in NumPy, on the CPU and in float64: leave device and dtype out"
        )
    return induction_model() if name == NAME else induction16_model()


def _folder(name: str, folder: Path, device: str, dtype: str | None) -> Model:
    if not (folder / "config.json").is_file():
        raise InputError(f"{name} is not a model: it has no config.json")
    return _checkpoint(name, folder, weight_files(name, folder), device, dtype)


def _file(name: str, path: Path, device: str, dtype: str | None) -> Model:
    if path.suffix == ".gguf":
        return _checkpoint(name, path.parent, [path], device, dtype, gguf=path.name)
    if path.suffix != ".safetensors":
        raise InputError(
            f"{name} is not a model: expected a .gguf or .safetensors file, or a folder"
        )
    if not (path.parent / "config.json").is_file():
        raise InputError(
            f"{name}: a safetensors file needs the config.json of its model beside it"
        )
    with tempfile.TemporaryDirectory() as temporary:
        # A folder with this file as its only weights.
        folder = Path(temporary)
        for beside in path.parent.iterdir():
            if beside.suffix in (".json", ".txt", ".model") and beside.name != INDEX:
                (folder / beside.name).symlink_to(beside.resolve())
        (folder / SINGLE).symlink_to(path.resolve())
        return _checkpoint(name, folder, [path], device, dtype)


def weight_files(name: str, folder: Path) -> Sequence[Path]:
    """The files that hold a model's parameters."""
    if (folder / SINGLE).is_file():
        return [folder / SINGLE]
    if (folder / INDEX).is_file():
        try:
            shards = sorted(
                set(json.loads((folder / INDEX).read_text())["weight_map"].values())
            )
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise InputError(
                f"{name}: {INDEX} is not the index of a checkpoint"
            ) from error
        if not all(isinstance(shard, str) for shard in shards):
            raise InputError(f"{name}: {INDEX} is not the index of a checkpoint")
        missing = [shard for shard in shards if not (folder / shard).is_file()]
        if missing:
            raise InputError(f"{name}: {missing[0]}, which {INDEX} names, is not there")
        return [folder / shard for shard in shards]
    if (folder / PICKLED).is_file():
        return [folder / PICKLED]
    raise InputError(
        f"{name} is not a model: it holds no {SINGLE}, no {INDEX} and no {PICKLED}"
    )


def _digest(files: Sequence[Path]) -> str:
    """The sha256 of the file; of several, that of the lines that sha256sum would print for them."""
    sums = []
    for file in files:
        with file.open("rb") as content:
            sums.append(hashlib.file_digest(content, "sha256").hexdigest())
    if len(sums) == 1:
        return sums[0]
    lines = "".join(
        f"{digest}  {file.name}\n" for digest, file in zip(sums, files, strict=True)
    )
    return hashlib.sha256(lines.encode()).hexdigest()


def hub_folder(name: str) -> Path:
    """The files of a hub id: from the local cache, else from the hub."""
    require("audit", f"the model {name}", "huggingface_hub")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
    )

    try:
        return Path(
            snapshot_download(name, local_files_only=True, allow_patterns=FROM_HUB)
        )
    except (LocalEntryNotFoundError, HFValidationError):
        pass  # not in the cache
    try:
        return Path(snapshot_download(name, allow_patterns=FROM_HUB))
    except HFValidationError as error:
        raise InputError(
            f"there is no model {name}: it is neither a path nor a hub id ({error})"
        ) from error
    except (HfHubHTTPError, OSError) as error:
        first = str(error).strip().splitlines()[:1]
        raise InputError(
            f"there is no model {name}: no such path, not in the local cache, and the hub gave none "
            f"({type(error).__name__}: {''.join(first)})"
        ) from error


def _checkpoint(
    name: str,
    folder: Path,
    files: Sequence[Path],
    device: str,
    dtype: str | None,
    gguf: str | None = None,
) -> Model:
    require("audit", f"the model {name}", "transformers", "torch")
    from headwright.models.checkpoint import from_folder

    held = sum(file.stat().st_size for file in files)
    return from_folder(
        name,
        folder,
        _digest(files),
        device=device,
        dtype=dtype or "float32",
        held=held,
        gguf=gguf,
    )
