"""Where a worker process gets a model from, and whether it is the model that the work began with.

A worker is told the name of the model and loads it once. It refuses if what it loaded, or its own code, is not what the
work began with: a number from another model would look like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headwright import workers
from headwright.errors import InputError
from headwright.models.load import load_model
from headwright.models.model import Model


@dataclass(frozen=True)
class Source:
    """Where a worker gets the model from, and what it must be."""

    name: str
    device: str = "cpu"
    dtype: str | None = None

    def model(self) -> Model:
        """The model, loaded in the process that asks."""
        return _loaded(self)


def expected_model(source: Source, expected: tuple[str, str, str]) -> Model:
    """On a worker: the model, if it and the code here are those that the work began with (digest, settings, code)."""
    digest, settings, code_digest = expected
    workers.same_code(code_digest)
    model = source.model()
    if model.digest != digest:
        raise InputError(
            f"{source.name} is another model on a worker: its parameters have the sha256 "
            f"{model.digest[:12]}..., expected {digest[:12]}..."
        )
    if model.settings != settings:
        raise InputError(
            f"{source.name} has another configuration on a worker than where the audit was started: "
            "copy the folder as a whole"
        )
    return model


@lru_cache(maxsize=1)
def _loaded(source: Source) -> Model:
    return load_model(source.name, device=source.device, dtype=source.dtype)
