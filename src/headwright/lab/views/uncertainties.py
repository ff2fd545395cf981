"""Uncertainty models as JSON: the entries of an uncertainty's TOML file, except those that name files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from headwright.errors import InputError
from headwright.lab.view import RequestModel
from headwright.uncertainty.scales import SCALES
from headwright.uncertainty.spreads import SPREADS
from headwright.uncertainty.uncertainty import Noise, Uncertainty

MOST_ENTRIES, MOST_VALUES = 64, 16
Index = Annotated[int, Field(ge=0, le=10**6)]
_SCALES: dict[str, Any] = {
    name: (
        list[float] | None,
        Field(
            None,
            description=f"{kind.asks.capitalize()}.",
            min_length=kind.count or 1,
            max_length=kind.count or MOST_VALUES,
        ),
    )
    for name, kind in SCALES.items()
}
_SPREADS: dict[str, Any] = {
    name: (
        float | None,
        Field(None, description=f"{kind.asks[0].upper()}{kind.asks[1:]}."),
    )
    for name, kind in SPREADS.items()
    if not kind.from_file
}
_Scaled = create_model("Scaled", __base__=RequestModel, **_SCALES)
_Spread = create_model("Spread", __base__=RequestModel, **_SPREADS)


class Scaled(_Scaled):  # type: ignore[misc, valid-type]
    """The distribution or range of a key's scale.

    >>> Scaled(normal=[1.0, 0.5]).normal
    [1.0, 0.5]
    """


class Noisy(_Spread):  # type: ignore[misc, valid-type]
    """The uncertainty of one key, or of all keys without their own entry ("*").

    >>> Noisy(key="*", ball=0.1).ball
    0.1
    """

    key: Index | Literal["*"]
    scale: Scaled | None = None


def uncertainty_of(entries: list[Noisy]) -> Uncertainty:
    """The uncertainty model that the entries describe.

    >>> uncertainty_of([Noisy(key=0, scale=Scaled(normal=[1.0, 0.5]))]).of(0).scale
    Normal(mean=1.0, variance=0.5)
    """
    keys = [entry.key for entry in entries]
    if len(set(keys)) < len(keys):
        raise InputError(
            "uncertainty: noise is given twice for a key", field="uncertainty"
        )
    noise = {entry.key: _noise(entry) for entry in entries}
    others = noise.pop("*", None)
    named = {key: one for key, one in noise.items() if isinstance(key, int)}
    return Uncertainty(named) if others is None else Uncertainty(named, others)


def _noise(entry: Noisy) -> Noise:
    spreads = entry.model_dump(exclude_none=True, include=_SPREADS.keys())
    try:
        return Noise.read(
            entry.scale and entry.scale.model_dump(exclude_none=True), spreads
        )
    except InputError as error:
        raise InputError(f"uncertainty: {error}", field="uncertainty") from error
