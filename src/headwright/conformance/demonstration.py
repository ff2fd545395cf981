"""A right kernel in NumPy and mistakes to seed into it: for the lab, and to try things.

The kernel is causal attention, the last row at the last key, perhaps with a window. It
computes in float32 as fused kernels do, and rounds weights and output to the type of q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from headwright.argument_types import checked_arguments
from headwright.conformance.inputs import DTypeName, Kind, attention_inputs
from headwright.errors import InputError

Seeded = Literal[
    "none",
    "window",
    "corner",
    "future",
    "scale",
    "fp8-keys",
    "fp8-values",
    "lost-key",
    "zeros",
]
HEADS = 2
PREFIX = "builtin:"
MOST_TOKENS, MOST_DIM = 512, 128


@dataclass(frozen=True)
class Demonstration:
    """What is computed, and which mistake is made.

    >>> Demonstration("window", window=16).described()
    {'causal': True, 'window': 16}
    """

    mistake: Seeded = "none"
    rows: int = 128
    keys: int = 128
    dim: int = 32
    dtype: DTypeName = "bfloat16"
    kind: Kind = "gaussian"
    window: int | None = None
    percent: float = 1.0  # by which the scale is too large
    seed: int = 0

    def described(self) -> dict[str, Any]:
        """What `hw.conform` is asked for."""
        if self.window is None:
            return {"causal": True}
        return {"causal": True, "window": self.window}


@checked_arguments
def demonstrate(
    demonstration: Demonstration,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Queries, keys, values and the output of the kernel with its mistake.

    >>> q, k, v, out = demonstrate(Demonstration("zeros", rows=16, keys=16))
    >>> out.shape, bool((out == 0).all())
    ((1, 2, 16, 32), True)
    """
    check_demonstration(demonstration)
    q, k, v = attention_inputs(
        demonstration.kind,
        heads=HEADS,
        rows=demonstration.rows,
        keys=demonstration.keys,
        dim=demonstration.dim,
        dtype=demonstration.dtype,
        seed=demonstration.seed,
    )
    kernel = Kernel(
        scale=demonstration.dim**-0.5,
        visible=_visible(demonstration),
        keys=k.astype(np.float32),
        values=v.astype(np.float32),
    )
    wrong = MISTAKES[demonstration.mistake](kernel, demonstration)
    return q, k, v, wrong.run(q)


def check_demonstration(demonstration: Demonstration) -> None:
    """Refuse sizes that are too large, and mistakes that would change nothing."""
    sizes = (("rows", MOST_TOKENS), ("keys", MOST_TOKENS), ("dim", MOST_DIM))
    for name, most in sizes:
        size = getattr(demonstration, name)
        if not 1 <= size <= most:
            raise InputError(f"{name} is {size}: expected 1 to {most}", field=name)
    if demonstration.keys < demonstration.rows:
        raise InputError(
            f"keys is {demonstration.keys}: expected at least as many as rows, "
            f"{demonstration.rows}",
            field="keys",
        )
    if demonstration.mistake == "window" and demonstration.window is None:
        raise InputError(
            "window is missing: expected one that is off by one", field="window"
        )
    if demonstration.mistake == "corner" and demonstration.keys == demonstration.rows:
        raise InputError(
            f"keys is {demonstration.keys}: expected more than rows, for then the "
            "causal corners differ",
            field="keys",
        )


def read_demonstration(text: str, window: int | None = None) -> Demonstration:
    """A demonstration by its name, with settings after commas.

    >>> read_demonstration("builtin:scale,percent=2,rows=64,keys=64").percent
    2.0
    """
    mistake, *settings = text.removeprefix(PREFIX).split(",")
    if mistake not in MISTAKES:
        names = ", ".join(MISTAKES)
        raise InputError(f"there is no mistake '{mistake}': expected one of {names}")
    demonstration = replace(Demonstration(window=window), mistake=mistake)  # type: ignore[arg-type]
    readers: dict[str, Callable[[str], Any]] = {
        "rows": int,
        "keys": int,
        "dim": int,
        "seed": int,
        "percent": float,
        "dtype": _one_of(DTypeName),
        "kind": _one_of(Kind),
    }
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in readers:
            raise InputError(
                f"there is no setting '{name}': expected one of {', '.join(readers)}"
            )
        try:
            change = {name: readers[name](value)}
        except ValueError as error:
            raise InputError(f"{name} is '{value}': {error}", field=name) from error
        demonstration = replace(demonstration, **change)
    check_demonstration(demonstration)
    return demonstration


def _one_of(literal: Any) -> Callable[[str], str]:
    def read(text: str) -> str:
        names = get_args(literal)
        if text not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return text

    return read


@dataclass(frozen=True, eq=False)
class Kernel:
    """The parts of the kernel that a mistake may change."""

    scale: float
    visible: np.ndarray  # (rows, keys)
    keys: np.ndarray
    values: np.ndarray
    output_factor: float = 1.0

    def run(self, q: np.ndarray) -> np.ndarray:
        """Attention in float32, weights and output rounded to the type of q."""
        scores = q.astype(np.float32) @ np.swapaxes(self.keys, 2, 3)
        scores = scores * np.float32(self.scale)
        scores = np.where(self.visible, scores, np.float32(-np.inf))
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isfinite(largest), largest, np.float32(0))
        weights = np.exp(scores - largest)
        total = weights.sum(axis=-1, keepdims=True)
        total = np.where(total > 0, total, np.float32(1))
        narrow = weights.astype(q.dtype).astype(np.float32)
        output = narrow @ self.values / total
        return np.asarray((output * self.output_factor).astype(q.dtype))


def _visible(demonstration: Demonstration, *, corner: str = "end") -> np.ndarray:
    rows, keys = demonstration.rows, demonstration.keys
    shift = keys - rows if corner == "end" else 0
    distance = np.arange(rows)[:, None] + shift - np.arange(keys)
    visible = distance >= 0
    if demonstration.window is not None:
        visible = visible & (distance < demonstration.window)
    return np.asarray(visible)


def _no_mistake(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    del demonstration
    return kernel


def _window(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    window = (demonstration.window or 0) + 1
    return replace(kernel, visible=_visible(replace(demonstration, window=window)))


def _corner(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    return replace(kernel, visible=_visible(demonstration, corner="start"))


def _future(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    later = np.eye(
        demonstration.rows,
        demonstration.keys,
        k=demonstration.keys - demonstration.rows + 1,
        dtype=bool,
    )
    return replace(kernel, visible=kernel.visible | later)


def _scale(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    return replace(kernel, scale=kernel.scale * (1 + demonstration.percent / 100))


def _fp8_keys(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    del demonstration
    return replace(kernel, keys=_to_fp8(kernel.keys))


def _fp8_values(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    del demonstration
    return replace(kernel, values=_to_fp8(kernel.values))


def _to_fp8(array: np.ndarray) -> np.ndarray:
    import ml_dtypes

    clipped = np.clip(array, -448, 448)
    narrow = clipped.astype(ml_dtypes.float8_e4m3fn)
    return np.asarray(narrow.astype(np.float32))


def _lost_key(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    lost = np.arange(demonstration.keys) == demonstration.keys // 4
    return replace(kernel, visible=kernel.visible & ~lost)


def _zeros(kernel: Kernel, demonstration: Demonstration) -> Kernel:
    del demonstration
    return replace(kernel, output_factor=0.0)


MISTAKES: dict[str, Callable[[Kernel, Demonstration], Kernel]] = {
    "none": _no_mistake,
    "window": _window,
    "corner": _corner,
    "future": _future,
    "scale": _scale,
    "fp8-keys": _fp8_keys,
    "fp8-values": _fp8_values,
    "lost-key": _lost_key,
    "zeros": _zeros,
}
