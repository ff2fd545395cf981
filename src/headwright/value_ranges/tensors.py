"""The tensors of a model by name, one at a time: from safetensors files, or from a model in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import ml_dtypes
import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.files import plain

TYPES = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
# As safetensors and torch name them.
TYPE_NAMES = {
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "torch.float32": "float32",
    "torch.float16": "float16",
    "torch.bfloat16": "bfloat16",
}


class TensorSource(Protocol):
    """Where tensors come from."""

    @property
    def names(self) -> frozenset[str]:
        """All that there are."""

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a tensor, without reading it."""

    def number_type(self, name: str) -> str:
        """The type of its numbers, as `TYPES` names it; or the name that it has."""

    def read(self, name: str) -> np.ndarray:
        """Its numbers."""


class FileTensors:
    """The tensors of safetensors files; each is read when it is asked for."""

    def __init__(self, files: Sequence[Path]) -> None:
        """Opened, and not read."""
        from safetensors import SafetensorError, safe_open

        self._file_of: dict[str, Any] = {}
        opened: Any
        for path in files:
            try:
                opened = safe_open(path, framework="numpy")
            except (SafetensorError, OSError) as error:
                raise InputError(
                    f"{path} is not a safetensors file ({error})"
                ) from error
            for name in opened.keys():  # noqa: SIM118  (no mapping)
                if name in self._file_of:
                    raise InputError(
                        f"two files hold a tensor {name}: it is not known which one counts ({path.name})"
                    )
                self._file_of[name] = opened

    @property
    def names(self) -> frozenset[str]:
        """All that there are."""
        return frozenset(self._file_of)

    def shape(self, name: str) -> tuple[int, ...]:
        """From the header."""
        return tuple(self._file_of[name].get_slice(name).get_shape())

    def number_type(self, name: str) -> str:
        """From the header."""
        written = str(self._file_of[name].get_slice(name).get_dtype())
        return TYPE_NAMES.get(written, written)

    def read(self, name: str) -> np.ndarray:
        """From the file, which is mapped."""
        return np.asarray(self._file_of[name].get_tensor(name))


class MemoryTensors:
    """The tensors of a model in memory."""

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        """As `state_dict` has them."""
        self._tensors = tensors

    @property
    def names(self) -> frozenset[str]:
        """All that there are."""
        return frozenset(self._tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        """As the tensor says."""
        return tuple(self._tensors[name].shape)

    def number_type(self, name: str) -> str:
        """As the tensor says."""
        written = str(self._tensors[name].dtype)
        return TYPE_NAMES.get(written, written)

    def read(self, name: str) -> np.ndarray:
        """On a CPU, as NumPy's; bfloat16 as float32, which has its numbers."""
        return plain(self._tensors[name], name)


class WeightReader:
    """Reads tensors as the numbers that a model computes with, and digests them on the way."""

    def __init__(
        self, source: TensorSource, number_type: str, rounds_matrices: bool = True
    ) -> None:
        """Numbers of one of `TYPES`; matrices of another type may be rounded to it, or are refused."""
        self.source = source
        self.number_type = number_type
        self.rounds_matrices = rounds_matrices
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        """Of the names, shapes and numbers that were read so far, in this order."""
        return self._digest.hexdigest()

    def note(self, text: str) -> None:
        """Something else that the ranges depend on."""
        self._digest.update(text.encode())

    def read(self, name: str, shape: tuple[int, ...]) -> Float[np.ndarray, ...]:
        """The numbers of a tensor, rounded to the type, as float64."""
        if name not in self.source.names:
            raise InputError(f"there is no tensor {name}, which its family has")
        written = self.source.number_type(name)
        if written not in TYPES:
            expected = ", ".join(TYPES)
            raise InputError(
                f"{name} holds numbers of type {written}: expected {expected}"
            )
        is_matrix = len(shape) > 1
        if is_matrix and written != self.number_type and not self.rounds_matrices:
            raise InputError(
                f"{name} is in {written}, and other weights are in {self.number_type}: say which the model computes in "
                "(dtype)"
            )
        held = self.source.shape(name)
        if held != shape:
            raise InputError(
                f"{name} has the shape {held}, and the configuration asks for {shape}"
            )
        with np.errstate(over="ignore"):
            rounded = self.source.read(name).astype(TYPES[self.number_type])
        self._digest.update(f"{name} {shape}".encode())
        self._digest.update(np.ascontiguousarray(rounded).view(np.uint8).data)
        numbers = rounded.astype(np.float64)
        wrong = int(np.count_nonzero(~np.isfinite(numbers)))
        if wrong:
            raise InputError(
                f"{name} holds {wrong} numbers that are not finite in {self.number_type} "
                f"(NaN or infinity), of {numbers.size}: nothing is proved of such weights"
            )
        return numbers

    def read_if_there(
        self, name: str, shape: tuple[int, ...]
    ) -> Float[np.ndarray, ...] | None:
        """The same; None where there is no such tensor."""
        return self.read(name, shape) if name in self.source.names else None
