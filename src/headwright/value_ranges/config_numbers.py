"""Numbers that a configuration says: they are what is expected, or an InputError names the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headwright.errors import InputError

Config = Mapping[str, Any]


def size_of(config: Config, names: Sequence[str], most: int) -> int:
    """A whole number from 1 to `most`, under the first of these names that is there.

    >>> size_of({"n_layer": 12}, ("num_hidden_layers", "n_layer"), 100)
    12
    """
    for name in names:
        size = config.get(name)
        if size is None:
            continue
        is_whole = isinstance(size, int) and not isinstance(size, bool)
        if not is_whole or not 1 <= size <= most:
            raise InputError(
                f"the configuration has {name} {size}: expected 1 to {most}"
            )
        return int(size)
    raise InputError(f"the configuration has no {names[0]}")


def number_of(config: Config, name: str, most: float) -> float:
    """A number of at most this size.

    >>> number_of({"factor": 8}, "factor", 1e6)
    8.0
    """
    number = config.get(name)
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    if number is not None and is_number and -most <= number <= most:
        return float(number)
    raise InputError(
        f"the configuration has {name} {number}: expected a number of at most {most:g}"
    )
