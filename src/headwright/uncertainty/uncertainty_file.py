"""An uncertainty as a TOML file.

    [[noise]]
    key = 0                              # an index, a list of them, or "*": every key not named otherwise
    scale = { normal = [1.0, 0.5] }      # mean and variance; or { between = [0.5, 1.5] }, { one_of = [0.5, 1.5] }
    isotropic = 1e-6                     # variance; or ball = 0.1, covariance = "S.npy", ellipsoid = "E.npy"

or `scenarios = ["K1.npy", "K2.npy"]`. Files are looked for beside the TOML file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, create_model

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import parse_file, read_array
from headwright.uncertainty.scales import SCALES
from headwright.uncertainty.spreads import SPREADS
from headwright.uncertainty.uncertainty import Noise, Uncertainty
from headwright.validation import StrictModel, sentence

Index = Annotated[int, Field(ge=0)]


class _Keyed(StrictModel):
    key: Index | list[Index] | Literal["*"]


class _Scenarios(StrictModel):
    scenarios: list[str] = Field([])


# The kinds say their own names: an entry for each, none of which has to be there.
_SCALES: dict[str, Any] = dict.fromkeys(SCALES, (list[float] | None, None))
_SPREADS: dict[str, Any] = {
    name: ((str if kind.from_file else float) | None, None)
    for name, kind in SPREADS.items()
}
_Scale = create_model("_Scale", __base__=StrictModel, **_SCALES)
_Noise = create_model(
    "_Noise", __base__=_Keyed, **{"scale": (_Scale | None, None), **_SPREADS}
)
_UncertaintyFile = create_model(
    "_UncertaintyFile",
    __base__=_Scenarios,
    noise=(list[_Noise], []),  # type: ignore[valid-type]
)


def read_uncertainty(path: str | Path) -> Uncertainty:
    """The uncertainty that a TOML file describes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "uncertainty.toml"
    >>> _ = path.write_text('[[noise]]\\nkey = "*"\\nisotropic = 1e-6')
    >>> read_uncertainty(path).others
    Noise(scale=None, spread=Isotropic(variance=1e-06))
    """
    check_argument("path", path, str | Path)
    return parse_file(
        path, lambda text: parse_uncertainty(text, Path(path).parent), "uncertainty"
    )


def parse_uncertainty(text: str, folder: Path = Path()) -> Uncertainty:
    """The uncertainty that TOML text describes; files it names are looked for in the folder.

    >>> parse_uncertainty('[[noise]]\\nkey = 0\\nscale = { one_of = [0.5, 1.5] }').of(0).scale
    OneOf(values=(0.5, 1.5))
    """
    check_argument("text", text, str)
    try:
        entries: Any = _UncertaintyFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}") from error
    except ValidationError as error:
        raise InputError(sentence(error, _UncertaintyFile)) from error
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
            raise InputError(
                f"noise entry {number} names no key: expected at least one"
            )
        for key in [entry.key] if isinstance(entry.key, int) else entry.key:
            if int(key) in noise:
                raise InputError(f"noise is given twice for key {key}")
            noise[int(key)] = this
    scenarios = tuple(
        read_array(folder / name, what="scenario", axes=2) for name in entries.scenarios
    )
    return Uncertainty(noise, others or Noise(), scenarios)


def _noise(entry: Any, folder: Path, number: int) -> Noise:
    spreads = entry.model_dump(exclude_none=True, include=SPREADS.keys())
    matrices = {
        name: read_array(folder / path, what=name, axes=2)
        for name, path in spreads.items()
        if type(path) is str
    }
    try:
        return Noise.read(
            entry.scale and entry.scale.model_dump(exclude_none=True),
            spreads | matrices,
        )
    except InputError as error:
        raise InputError(f"noise entry {number}: {error}") from error
