"""From a name, or a model in memory, to the tensors and the configuration that ranges are read from.

Safetensors files are read as they are: the model is not built, and neither torch nor transformers is needed. Other
files (GGUF, pickles) are loaded by the model loader first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.load import HUB_ID, INDEX, SINGLE, hub_folder, weight_files
from headwright.value_ranges.config_numbers import Config
from headwright.value_ranges.description import ModelDescription, describe
from headwright.value_ranges.read_layers import find_prefix, first_projection
from headwright.value_ranges.tensors import (
    FileTensors,
    MemoryTensors,
    TensorSource,
    WeightReader,
)


@dataclass(frozen=True)
class OpenedModel:
    """A model whose weights can be read."""

    name: str
    description: ModelDescription
    source: TensorSource
    own_type: str  # of the numbers of its projections

    def reader(self, number_type: str | None) -> WeightReader:
        """Reads it as numbers of a type: its own unless another is given."""
        if number_type is None:
            return WeightReader(self.source, self.own_type, rounds_matrices=False)
        return WeightReader(self.source, number_type)


def open_model(model: Any) -> OpenedModel:
    """A model by its name, or one in memory."""
    if hasattr(model, "named_parameters"):
        return _from_network(_name_of(model), model)
    if not isinstance(model, (str, Path)):
        network = getattr(model, "network", None)
        if network is None:
            raise _no_norm(str(getattr(model, "name", model)))
        return _from_network(str(model.name), network)
    name = str(model)
    if name.startswith("builtin:"):
        load_model(name)  # refuses a name that there is not
        raise _no_norm(name)
    folder, files = _find_files(name)
    if folder is None:
        loaded: Any = load_model(name)
        return _from_network(name, loaded.network)
    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: its config.json cannot be read ({error})") from error
    if not isinstance(config, dict):
        raise InputError(f"{name}: its config.json is no configuration")
    if config.get("quantization_config"):
        raise InputError(
            f"{name}: its weights are quantised, and ranges are read from weights in float32, bfloat16 or float16"
        )
    return _opened(name, config, FileTensors(files))


def _find_files(name: str) -> tuple[Path | None, list[Path]]:
    """The folder of a model and its safetensors files; no folder where another loader must read it."""
    path = Path(name).expanduser()
    if path.is_file() and path.suffix == ".safetensors":
        return path.parent, [path]
    if path.is_file():
        return None, []
    if not path.is_dir():
        if not HUB_ID.fullmatch(name):
            load_model(name)  # says what is expected
        path = hub_folder(name)
    if not (path / SINGLE).is_file() and not (path / INDEX).is_file():
        return None, []
    if not (path / "config.json").is_file():
        raise InputError(f"{name} is not a model: it has no config.json")
    return path, list(weight_files(name, path))


def _from_network(name: str, network: Any) -> OpenedModel:
    config = getattr(network, "config", None)
    if config is None or not hasattr(config, "to_dict"):
        raise InputError(
            f"{name}: a {type(network).__name__} has no configuration of transformers: not known here"
        )
    return _opened(name, config.to_dict(), MemoryTensors(network.state_dict()))


def _opened(name: str, config: Config, source: TensorSource) -> OpenedModel:
    try:
        description = describe(config)
        prefix = find_prefix(description, WeightReader(source, "float32"))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    own_type = source.number_type(f"{prefix}{first_projection(description)}")
    return OpenedModel(name, description, source, own_type)


def _name_of(model: Any) -> str:
    path = getattr(getattr(model, "config", None), "_name_or_path", "")
    return str(path or type(model).__name__)


def _no_norm(name: str) -> InputError:
    return InputError(
        f"{name}: there is no norm before its attention, so that its keys and values have no bound for every text"
    )
