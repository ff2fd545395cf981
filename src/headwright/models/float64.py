"""Run a network in float64, whatever types its weights and its code use.

Networks round on purpose: norms and rotary angles are computed in float32 even where the weights are float64, so that
an angle at place 2,048 is off by 1e-4. Here every operation takes its floating-point inputs as exact numbers, widens
them to float64 and computes in float64; a request for a narrower type is answered with float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

# Rows of a table: only they are widened.
GATHERS = (
    torch.ops.aten.embedding.default,
    torch.ops.aten.index_select.default,
)


class InFloat64(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While it lasts, operations of this thread are in float64."""

    def __init__(self) -> None:
        """Entered with `with`."""
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """One operation, on widened inputs. Those in place keep the type of what they write into."""
        del types
        rest = tree_map(_dtype, tuple(args))
        named = tree_map(_dtype, dict(kwargs or {}))
        if func in GATHERS or func._schema.is_mutable:
            return (
                _widened(func(*rest, **named))
                if func in GATHERS
                else func(*rest, **named)
            )
        return tree_map(
            _widened, func(*tree_map(_widened, rest), **tree_map(_widened, named))
        )


def _widened(value: Any) -> Any:
    return (
        value.double()
        if isinstance(value, torch.Tensor) and _dtype(value.dtype) != value.dtype
        else value
    )


def _dtype(value: Any) -> Any:
    return (
        torch.float64
        if isinstance(value, torch.dtype) and value.is_floating_point
        else value
    )
