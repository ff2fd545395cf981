"""What was seen of a model while it was watched: by part (encoder, decoder, cross), layer and run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headwright.errors import InputError
from headwright.models.watching.names import RECEIVED, SPOILT, WHOLE, Wanted

KEEP = ("rows", "means", "both")
SMALLEST_PIECE, LARGEST_PIECE = 2**16, 2**24  # bytes that are asked for at once to keep rows in
ALIGNED = 64  # bytes
ROW_COUNT = "rows"  # beside the names of statistics


@dataclass(eq=False)
class Run:
    """One text of each place of the batch: a first call, and the calls that extend it by way of a cache."""

    batch: int
    start: int  # the position of its first row; above 0 if the cache was filled before
    end: int  # behind its last row
    cache: Any = None  # a weak reference to the cache
    tokens: Tensor | None = None  # batch, positions; -1 where it was not told
    padding: Tensor | None = None  # batch, positions: False for padding
    held: Any = None  # the keys of a layer that the cache held after the last call
    thread: int = field(default_factory=threading.get_ident)  # in which it began


class KeptArray:
    """An array in a piece of memory of `RowStorage`: where it lies, and no tensor or array of its own."""

    __slots__ = ("dtype", "piece", "shape", "start", "stop")

    def __init__(self, piece: np.ndarray, start: int, stop: int, array: np.ndarray) -> None:
        """A copy of an array, in the bytes from `start` to before `stop` of a piece."""
        self.piece, self.start, self.stop, self.dtype, self.shape = piece, start, stop, array.dtype, array.shape
        self._view()[...] = array

    def _view(self) -> np.ndarray:
        return self.piece[self.start : self.stop].view(self.dtype).reshape(self.shape)

    def tensor(self) -> Tensor:
        """The array, as a tensor that shares its memory."""
        return torch.from_numpy(self._view())


class RowStorage:
    """Memory for what is kept, in few large pieces.

    A model asks for large arrays in each layer, and frees them. Whatever is kept in between, be it the few bytes of a
    tensor's description, would lie in the gaps; the next large array would not fit there any more, and the memory of
    the process would grow by such arrays in each layer.
    """

    def __init__(self) -> None:
        """Nothing is asked for before something is kept."""
        self.piece = np.empty(0, dtype=np.uint8)
        self.used = 0

    def keep(self, value: Tensor) -> KeptArray | Tensor:
        """A copy of a tensor; one on a GPU, which has a storage of its own, is kept as it is."""
        if value.device.type != "cpu":
            return value
        array = value.numpy()
        start = -(-self.used // ALIGNED) * ALIGNED
        if start + array.nbytes > len(self.piece):
            next_size = min(max(2 * len(self.piece), SMALLEST_PIECE), LARGEST_PIECE)
            self.piece = np.empty(max(next_size, array.nbytes), dtype=np.uint8)
            start = 0
        self.used = start + array.nbytes
        return KeptArray(self.piece, start, self.used, array)


def tensor_of(kept: KeptArray | Tensor) -> Tensor:
    """What was kept, as a tensor."""
    return kept.tensor() if isinstance(kept, KeptArray) else kept


@dataclass(eq=False)
class LayerRun:
    """What is kept of one layer in one run."""

    rows: list[dict[str, KeptArray | Tensor]] = field(default_factory=list)  # one after the other
    keys: dict[str, Tensor] = field(default_factory=dict)  # by the position of the key

    def back_to(self, count: int) -> None:
        """Only the first so many rows: a cache was cropped, and what comes next stands in their place."""
        self.join()
        self.rows[:] = [{name: tensor_of(value)[:, :, :count] for name, value in self.rows[0].items()}]

    def join(self) -> None:
        """Make one part of all."""
        count = len(self.rows)  # another thread may add to them
        if count > 1:
            parts = self.rows[:count]
            joined: dict[str, KeptArray | Tensor] = {}
            for name in parts[0]:
                joined[name] = torch.cat([tensor_of(part[name]) for part in parts], dim=2)
            self.rows[:count] = [joined]

    def receive(self, found: dict[str, Tensor], start: int, rows: int) -> None:
        """Add what keys from position `start` on received. The last rows are those of the last call of several rows."""
        for name in RECEIVED:
            if name not in found or (name == "received_last" and name in self.keys and rows == 1):
                continue
            new = torch.nn.functional.pad(found[name], (start, 0))
            old = self.keys.get(name)
            if old is not None and name != "received_last":
                wide = max(old.shape[2], new.shape[2])
                old, new = (torch.nn.functional.pad(each, (0, wide - each.shape[2])) for each in (old, new))
                new = torch.maximum(old, new) if name == "received_most" else old + new
            self.keys[name] = new


@dataclass(eq=False)
class Sums:
    """Running sums of one layer: constant memory for each head."""

    storage: RowStorage = field(default_factory=RowStorage)
    total: dict[str, KeptArray | Tensor] = field(default_factory=dict)
    count: dict[str, KeptArray | Tensor] = field(default_factory=dict)

    def add(self, found: dict[str, Tensor]) -> None:
        """Take some rows in. Rows without a number (padding) do not count; of the largest score the largest is kept.

        A row of text whose scores are NaN or +inf makes the mean NaN, and the largest score too.
        """
        spoilt = found[SPOILT]
        spoilt_heads = spoilt.any(2).any(0)
        for name, value in found.items():
            if name == SPOILT or name in RECEIVED or name in WHOLE or value.ndim != 3:
                continue
            finite = torch.isfinite(value)
            if name == "largest_score":
                most = value.masked_fill(value.isnan() & ~spoilt, -torch.inf).amax((0, 2)).double()
                if name in self.total:
                    most = torch.maximum(tensor_of(self.total[name]), most)
                self._write(self.total, name, most)
                self._write(self.count, name, torch.ones_like(most))
                continue
            sums = value.masked_fill(~finite, 0.0).sum((0, 2), dtype=torch.float64)
            sums = sums.masked_fill(spoilt_heads, torch.nan)
            count = finite.sum((0, 2))
            if name in self.total:
                sums = sums + tensor_of(self.total[name])
                count = count + tensor_of(self.count[name])
            self._write(self.total, name, sums)
            self._write(self.count, name, count)
        shown = next((value for name, value in found.items() if name != SPOILT and name not in RECEIVED), None)
        if shown is not None:
            shown = shown[..., 0] if shown.ndim == 4 else shown
            counted = ~shown.isnan() if shown.is_floating_point() else shown != -1
            rows = (counted | spoilt)[:, 0].sum()
            if ROW_COUNT in self.count:
                rows = rows + tensor_of(self.count[ROW_COUNT])
            self._write(self.count, ROW_COUNT, rows)

    def _write(self, where: dict[str, KeptArray | Tensor], name: str, value: Tensor) -> None:
        old = where.get(name)
        if isinstance(old, KeptArray):
            old.tensor().copy_(value)
        else:
            where[name] = self.storage.keep(value)


class LayerSeen:
    """One layer in one run. Each statistic is an attribute: an array (batch, heads, rows), or of keys or the top k."""

    def __init__(self, kept: LayerRun, run: Run, keys: int | None) -> None:
        """Of a run; it has so many keys, or as many as were seen."""
        self._kept, self._keys = kept, keys
        self.first_position = run.start

    def __getattr__(self, name: str) -> np.ndarray:
        kept = self.__dict__["_kept"] if "_kept" in self.__dict__ else LayerRun()
        if name in kept.keys:
            return _array(kept.keys[name][:, :, : self._keys])
        if kept.rows and name in kept.rows[0] and name != SPOILT:
            kept.join()
            return _array(tensor_of(kept.rows[0][name]))
        raise AttributeError(f"{name} was not kept: {', '.join(self.names) or 'no statistic'} was")

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics that were kept."""
        rows = self._kept.rows[0] if self._kept.rows else {}
        return (*(name for name in rows if name != SPOILT), *self._kept.keys)


@dataclass(eq=False)
class Part:
    """The layers of one stack: of the model, or its encoder, its decoder, or the attention from one to the other."""

    name: str
    wanted: Wanted
    keep: str
    storage: RowStorage = field(default_factory=RowStorage)
    runs: list[Run] = field(default_factory=list)
    layers: dict[int, list[LayerRun]] = field(default_factory=dict)  # as many as runs
    sums: dict[int, Sums] = field(default_factory=dict)

    def at(self, run: Run) -> int:
        """Which of the runs it is, -1 if it is not there; late ones are looked at first."""
        return next((at for at in range(len(self.runs) - 1, -1, -1) if self.runs[at] is run), -1)

    def open(self, run: Run) -> None:
        """A new run; without rows of all runs to keep, it takes the place of the last one of its thread."""
        if self.keep != "rows":
            alive = {thread.ident for thread in threading.enumerate()}
            for at in range(len(self.runs) - 1, -1, -1):
                if self.runs[at].thread == run.thread or self.runs[at].thread not in alive:
                    self._drop(at)
        self.runs.append(run)

    def _drop(self, at: int) -> None:
        del self.runs[at]
        for index, runs in list(self.layers.items()):
            del runs[at : at + 1]  # a layer that was not called yet in that run has none
            if not runs:
                del self.layers[index]

    def add(self, run: Run, index: int, found: dict[str, Tensor], key_position: int, count: int) -> None:
        """The statistics of the attention in a run, where each call had `count` rows."""
        mine = self.layers.setdefault(index, [])
        mine += [LayerRun() for _ in range(len(self.runs) - len(mine))]
        at = self.at(run)
        rows = {} if not self.wanted.rows else {n: value for n, value in found.items() if n not in RECEIVED}
        self.sums.setdefault(index, Sums(self.storage))
        if self.keep != "rows":
            self.sums[index].add(found)
        if self.keep != "means" and rows:
            mine[at].rows.append({name: self.storage.keep(value) for name, value in rows.items()})
        mine[at].receive(found, key_position, count)

    def layer(self, index: int, run: int = -1) -> LayerSeen:
        """What was kept of a layer, in the last run unless another one is asked for by its number."""
        if index not in self.layers:
            known = f"{min(self.layers)} to {max(self.layers)}" if self.layers else "none: nothing was run"
            raise InputError(f"layer {index} of {self.name} was not seen: expected {known}")
        if not -len(self.runs) <= run < len(self.runs):
            raise InputError(f"run {run}: expected a number from 0 to {len(self.runs) - 1}")
        held = self.runs[run]  # a static cache has more keys than were seen
        return LayerSeen(self.layers[index][run], held, None if self.name == "cross" else held.end)

    def summaries(self) -> Iterator[tuple[int, Sums]]:
        """The sums of each layer: those kept, or of the rows kept."""
        for index in sorted(self.layers):
            sums = self.sums[index]
            if self.keep == "rows":
                sums = Sums()
                for run in self.layers[index]:
                    for rows in run.rows:
                        sums.add({name: tensor_of(value) for name, value in rows.items()})
            yield index, sums


class Seen:
    """What was seen of a model."""

    def __init__(self, wanted: Wanted, keep: str, main: str | None) -> None:
        """Of which statistics, how they are kept, and the part that `layer` is about."""
        self.wanted, self.keep, self._main = wanted, keep, main
        self.computed: dict[str, Part] = {}  # without the decode steps that wait to be computed together
        self.finish: Callable[[], None] = lambda: None  # computes those
        self.exclusive: AbstractContextManager[Any] = nullcontext()  # while it lasts nothing is recorded
        self.storage = RowStorage()
        self.unseen: tuple[str, ...] = ()  # stacks that ran, and whose attention cannot be seen

    @property
    def parts(self) -> dict[str, Part]:
        """All that was seen so far, by the name of the part."""
        self.finish()
        return self.computed

    def reset(self) -> None:
        """Forget all that was seen so far: running means start anew, and rows are given back.

        A text that is being generated goes on as a run whose `first_position` is above 0.
        """
        with self.exclusive:
            self.finish()
            self.computed.clear()
            self.storage = RowStorage()

    def __repr__(self) -> str:
        """The parts, their layers and runs."""
        told = [f"{name}: {len(part.layers)} layers, {len(part.runs)} runs" for name, part in self.parts.items()]
        told += [f"{name}: cannot be seen" for name in self.unseen]
        return f"Seen({'; '.join(told) or 'nothing yet'})"

    def part(self, name: str) -> Part:
        """A part by its name: `encoder`, `decoder`, `cross`, or the name of the module."""
        if name in self.unseen:
            raise InputError(f"{name} computes its attention in a way of its own, which cannot be seen: expected "
                             f"{' or '.join(self.parts) or 'another model'}")  # fmt: skip
        if name not in self.parts:
            raise InputError(f"{name} was not seen: expected {' or '.join(self.parts) or 'a run of the model first'}")
        return self.parts[name]

    @property
    def encoder(self) -> Part:
        """The encoder of a model that has one."""
        return self.part("encoder")

    @property
    def decoder(self) -> Part:
        """The decoder's attention to its own text."""
        return self.part("decoder")

    @property
    def cross(self) -> Part:
        """The decoder's attention to the encoder's text."""
        return self.part("cross")

    def layer(self, index: int, run: int = -1) -> LayerSeen:
        """A layer of the only part, or of the one that reads text."""
        if len(self.parts) == 1:
            return next(iter(self.parts.values())).layer(index, run)
        if self._main in self.parts:
            return self.parts[self._main].layer(index, run)
        raise InputError(f"layer {index}: expected {' or '.join(f'{name}.layer({index})' for name in self.parts)}"
                         if self.parts else f"layer {index} was not seen: nothing was run")  # fmt: skip

    def summary(self) -> dict[str, np.ndarray]:
        """Columns with one entry for each head: its place, the number of rows, and the mean of each statistic.

        The mean is over rows where the statistic is a finite number; of the largest score it is the largest. If a row
        of text has scores that are NaN or +inf, both are NaN.
        """
        with self.exclusive:
            return self._summary()

    def _summary(self) -> dict[str, np.ndarray]:
        columns: dict[str, list[Any]] = {"part": [], "layer": [], "head": [], "rows": []}
        means: dict[str, list[Any]] = {}
        for name, part in self.parts.items():
            for index, sums in part.summaries():
                heads = len(tensor_of(next(iter(sums.total.values())))) if sums.total else 0
                columns["part"] += [name] * heads
                columns["layer"] += [index] * heads
                columns["head"] += range(heads)
                columns["rows"] += [int(tensor_of(sums.count[ROW_COUNT]))] * heads
                for statistic in self.wanted.rows:
                    if statistic in sums.total:
                        mean = tensor_of(sums.total[statistic]) / tensor_of(sums.count[statistic])
                        mean = mean.masked_fill(torch.isneginf(mean), torch.nan)  # the largest score of no row
                        means.setdefault(statistic, []).extend(mean.tolist())
                    elif statistic not in WHOLE and statistic != "top_weights":
                        means.setdefault(statistic, []).extend([np.nan] * heads)
        return {name: np.array(values) for name, values in (columns | means).items()}


def _array(value: Tensor) -> np.ndarray:
    return value.detach().cpu().numpy()
