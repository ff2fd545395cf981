"""A world as a TOML file.

    [[noise]]
    key = 0                              # an index, a list of them, or "*": every key not named otherwise
    scale = { normal = [1.0, 0.5] }      # mean and variance; or { between = [0.5, 1.5] }, { one_of = [0.5, 1.5] }
    isotropic = 1e-6                     # variance; or ball = 0.1, covariance = "S.npy", ellipsoid = "E.npy"

or `scenarios = ["K1.npy", "K2.npy"]`. Files are looked for beside the TOML file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwright.errors import InputError
from headwright.files import read_array
from headwright.noise.world import (
    Ball,
    Between,
    Covariance,
    Ellipsoid,
    Isotropic,
    Noise,
    Normal,
    OneOf,
    Scale,
    Spread,
    World,
)

Index = Annotated[int, Field(ge=0)]
_TECHNICAL = re.compile(r"[\[-]")  # how pydantic calls the branches of a union


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Scale(_Entry):
    normal: list[float] | None = Field(None, min_length=2, max_length=2)
    between: list[float] | None = Field(None, min_length=2, max_length=2)
    one_of: list[float] | None = Field(None, min_length=1)


class _Noise(_Entry):
    key: Index | list[Index] | Literal["*"]
    scale: _Scale | None = None
    isotropic: float | None = None
    ball: float | None = None
    covariance: str | None = None
    ellipsoid: str | None = None


class _World(_Entry):
    noise: list[_Noise] = []
    scenarios: list[str] = []


def read_world(path: str | Path) -> World:
    """The world that a TOML file describes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "world.toml"
    >>> _ = path.write_text('[[noise]]\\nkey = "*"\\nisotropic = 1e-6')
    >>> read_world(path).others
    Noise(scale=None, spread=Isotropic(variance=1e-06))
    """
    path = Path(path)
    try:
        return parse_world(path.read_text(encoding="utf-8"), path.parent)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"world {path}: {reason}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"world {path}: is not text in UTF-8") from error
    except InputError as error:
        raise InputError(f"world {path}: {error}") from error


def parse_world(text: str, folder: Path = Path()) -> World:
    """The world that TOML text describes; files it names are looked for in the folder.

    >>> parse_world('[[noise]]\\nkey = 0\\nscale = { one_of = [0.5, 1.5] }').of(0).scale
    OneOf(values=(0.5, 1.5))
    """
    try:
        entries = _World.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}") from error
    except ValidationError as error:
        raise InputError(_sentence(error)) from error
    noise: dict[int, Noise] = {}
    others: Noise | None = None
    for number, entry in enumerate(entries.noise):
        this = _noise(entry, folder, number)
        if entry.key == "*":
            if others is not None:
                raise InputError('noise is given twice for "*"')
            others = this
            continue
        if entry.key == []:
            raise InputError(f"noise entry {number} names no key: expected at least one")
        for key in [entry.key] if isinstance(entry.key, int) else entry.key:
            if int(key) in noise:
                raise InputError(f"noise is given twice for key {key}")
            noise[int(key)] = this
    scenarios = tuple(read_array(folder / name, what="scenario", axes=2) for name in entries.scenarios)
    return World(noise, others or Noise(), scenarios)


def _noise(entry: _Noise, folder: Path, number: int) -> Noise:
    spreads: list[Spread] = []
    if entry.isotropic is not None:
        spreads.append(Isotropic(entry.isotropic))
    if entry.ball is not None:
        spreads.append(Ball(entry.ball))
    if entry.covariance is not None:
        spreads.append(Covariance(read_array(folder / entry.covariance, what="covariance", axes=2)))
    if entry.ellipsoid is not None:
        spreads.append(Ellipsoid(read_array(folder / entry.ellipsoid, what="ellipsoid", axes=2)))
    if len(spreads) > 1:
        raise InputError(f"noise entry {number} has {len(spreads)} spreads: expected one of "
                         "isotropic, ball, covariance, ellipsoid")  # fmt: skip
    return Noise(_scale(entry.scale, number), spreads[0] if spreads else None)


def _scale(entry: _Scale | None, number: int) -> Scale | None:
    if entry is None:
        return None
    given: dict[str, list[float]] = entry.model_dump(exclude_none=True)
    if len(given) != 1:
        raise InputError(f"the scale of noise entry {number} has {len(given)} laws: "
                         "expected one of normal, between, one_of")  # fmt: skip
    ((law, numbers),) = given.items()
    makers: dict[str, Any] = {"normal": Normal, "between": Between, "one_of": lambda *values: OneOf(values)}
    scale: Scale = makers[law](*numbers)
    return scale


def _sentence(error: ValidationError) -> str:
    """pydantic's first complaint, in one line: where, what, and what was given."""
    first = error.errors()[0]
    where = " ".join(str(part) for part in first["loc"] if not _TECHNICAL.search(str(part)))
    if first["type"] == "extra_forbidden":
        return f"{where} = {first['input']!r}: there is no such name here"
    return f"{where}: {first['msg'].lower()}, given {first['input']!r}"
