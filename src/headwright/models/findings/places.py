"""The model's positions: how far apart they are, and which coincide in its number type, up to its length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from headwright.models.loading.model import Model
from headwright.positions import Precision, Report, Scheme, report

LENGTH = 8192  # how many positions are compared where a model has no end of them


@runtime_checkable
class Placed(Protocol):
    """A model that says how positions enter it, and where their numbers are rounded."""

    def places(self) -> tuple[Scheme, Precision]:
        """The scheme; refused with a sentence where it is none that is known here."""


@dataclass(frozen=True, eq=False)
class Places:
    """The scheme, what rounding does to its positions, and up to which length that was looked at."""

    scheme: Scheme
    precision: Precision
    length: int
    report: Report


def places(model: Model) -> Places | None:
    """What is known of the model's positions; None where it says nothing about them."""
    if not isinstance(model, Placed):
        return None
    scheme, precision = model.places()
    length = model.longest or LENGTH
    return Places(scheme, precision, length, report(scheme, length, precision))
