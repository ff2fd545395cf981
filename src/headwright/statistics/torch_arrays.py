"""The operations of row statistics with torch: on a GPU, and Q K^T of torch's tensors on a CPU."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from headwright.statistics.arrays import NumpyBackend
from headwright.statistics.attention_rows import AttentionRows


@dataclass(frozen=True)
class NumpyBesideTorch(NumpyBackend):
    """NumPy's, but for Q K^T, which is torch's.

    NumPy's product and torch's have threads of their own. In a program that computes with torch, both would wait for
    each other's at every block, which takes longer than the product itself.
    """

    def product(self, queries: Any, keys: Any, out: Any) -> None:
        """In the arrays' own memory."""
        with torch.no_grad():
            torch.matmul(
                torch.from_numpy(queries),
                torch.from_numpy(keys).mT,
                out=torch.from_numpy(out),
            )


@dataclass(frozen=True)
class TorchBackend:
    """Torch's, on one device; nothing waits for a GPU where it need not."""

    device: torch.device
    xp = torch

    def arange(self, start: int, stop: int) -> Tensor:
        """On the device."""
        return torch.arange(start, stop, device=self.device)

    def full(self, shape: tuple[int, ...], value: float | int | bool) -> Tensor:
        """Numbers with a point are of float64, where the device has it."""
        if not isinstance(value, float):
            return torch.full(shape, value, device=self.device)
        return torch.full(shape, value, device=self.device, dtype=self._widest())

    def buffer(self, size: int, like: Tensor) -> Tensor:
        """Not written to yet."""
        return torch.empty(size, dtype=like.dtype, device=self.device)

    def lowest(self, like: Tensor) -> float:
        """By torch's table."""
        return torch.finfo(like.dtype).min

    def bounded(self, queries: Tensor, keys: Tensor, bound: float) -> bool:
        """Not looked at on a GPU: one would wait for it, and a pass costs little there."""
        if self.device.type != "cpu":
            return False
        return bool(queries.abs().max() * keys.abs().max() < bound)

    def product(self, queries: Tensor, keys: Tensor, out: Tensor) -> None:
        """A stack at once."""
        torch.matmul(queries, keys.mT, out=out)

    def fill(self, array: Tensor, mask: Tensor, value: float) -> None:
        """The mask is broadcast."""
        array.masked_fill_(mask, value)

    def clip_below(self, array: Tensor, bound: float) -> None:
        """In place."""
        array.clamp_min_(bound)

    def exp(self, array: Tensor, out: Tensor) -> Tensor:
        """Into memory that was there before."""
        return torch.exp(array, out=out)

    def argmax(self, scores: Tensor) -> Tensor:
        """Any of equal ones."""
        return scores.argmax(-1)

    def max(self, array: Tensor, axis: int) -> Tensor:
        """Without where it is."""
        return array.amax(axis)

    def take(self, array: Tensor, index: Tensor) -> Tensor:
        """By index."""
        index = index.long().expand(array.shape[:-1])
        return array.gather(-1, index[..., None])[..., 0]

    def put(self, array: Tensor, index: Tensor, values: Tensor | float) -> None:
        """By index."""
        if isinstance(values, Tensor):
            array.scatter_(-1, index[..., None], values[..., None])
        else:
            array.scatter_(-1, index[..., None], values)

    def largest(self, scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Any of equal ones."""
        values, index = scores.topk(count, -1)
        return values, index

    def dot(self, left: Tensor, right: Tensor) -> Tensor:
        """By an array of products."""
        return (left * right).sum(-1)

    def precise(self, array: Tensor) -> Tensor:
        """In float64, or float32 on a device that has no other."""
        return array.to(self._widest())

    def cast(self, array: Tensor, like: Tensor) -> Tensor:
        """Copied where the types differ."""
        return array.to(like.dtype)

    def _widest(self) -> torch.dtype:
        return torch.float32 if self.device.type == "mps" else torch.float64


def widen(call: AttentionRows) -> AttentionRows:
    """The same with queries and keys of one type, float32 or wider."""
    wide = torch.promote_types(call.query.dtype, call.key.dtype)
    wide = torch.promote_types(wide, torch.float32)
    query = call.query.detach().to(wide)
    key = call.key.detach().to(wide)
    return replace(call, query=query, key=key)


def masks_as_tensors(call: AttentionRows) -> AttentionRows:
    """The same with sinks, masks and sets on the device of the queries."""
    nothing = call.sinks is None and call.key_mask is None and call.first is None
    if nothing and not call.sets:
        return call
    changed: dict[str, Any] = {}
    for name in ("sinks", "key_mask", "first"):
        value = getattr(call, name)
        if value is not None:
            changed[name] = torch.as_tensor(value, device=call.query.device)
    sets = {
        name: torch.as_tensor(members, device=call.query.device)
        for name, members in call.sets.items()
    }
    return replace(call, sets=sets, **changed)
