"""Worlds as JSON: the entries of a world's TOML file, but for those that name files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.room import Asked

if TYPE_CHECKING:
    from headwright.noise import Noise, World

MOST_ENTRIES = 64
Index = Annotated[int, Field(ge=0, le=10**6)]
Pair = Annotated[list[float], Field(min_length=2, max_length=2)]


class Scaled(Asked):
    """One law of a key's scale.

    >>> Scaled(normal=[1.0, 0.5]).normal
    [1.0, 0.5]
    """

    normal: Pair | None = Field(None, description="Mean and variance.")
    between: Pair | None = None
    one_of: list[float] | None = Field(None, min_length=1, max_length=16)


class Noisy(Asked):
    """What is uncertain about one key, or about all that are not named otherwise ("*").

    >>> Noisy(key="*", ball=0.1).ball
    0.1
    """

    key: Index | Literal["*"]
    scale: Scaled | None = None
    isotropic: float | None = Field(None, description="The variance a of N(0, a I).")
    ball: float | None = Field(None, description="The radius.")


def world_of(entries: list[Noisy]) -> World:
    """The world that the entries describe.

    >>> world_of([Noisy(key=0, scale=Scaled(normal=[1.0, 0.5]))]).of(0).scale
    Normal(mean=1.0, variance=0.5)
    """
    from headwright.noise import World

    keys = [entry.key for entry in entries]
    if len(set(keys)) < len(keys):
        raise InputError("world: noise is given twice for a key")
    noise = {entry.key: _noise(entry) for entry in entries}
    others = noise.pop("*", None)
    named = {key: one for key, one in noise.items() if isinstance(key, int)}
    return World(named) if others is None else World(named, others)


def _noise(entry: Noisy) -> Noise:
    from headwright.noise import Ball, Between, Isotropic, Noise, Normal, OneOf

    laws: dict[str, Any] = entry.scale.model_dump(exclude_none=True) if entry.scale else {}
    if len(laws) > 1 or (entry.scale and not laws):
        raise InputError("world: the scale has several laws or none: expected one of normal, between, one_of")
    if entry.isotropic is not None and entry.ball is not None:
        raise InputError("world: an entry has two spreads: expected isotropic or ball")
    makers: dict[str, Any] = {"normal": Normal, "between": Between, "one_of": lambda *values: OneOf(values)}
    scale = next((makers[law](*numbers) for law, numbers in laws.items()), None)
    if entry.isotropic is not None:
        return Noise(scale, Isotropic(entry.isotropic))
    return Noise(scale, None if entry.ball is None else Ball(entry.ball))
