"""What was seen of a model while it was watched: by part (encoder, decoder, cross), layer and run."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from headwright.errors import InputError
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.table import (
    OF_KEYS,
    TABLE,
    OverBlocks,
    OverRows,
    PerWhat,
)
from headwright.watching.names import SPOILT
from headwright.watching.weights import ChosenWeights

if TYPE_CHECKING:
    from headwright.watching.spans import Span, SpanWeights
    from headwright.watching.statistics_queue import StatisticsQueue

KEEP = ("rows", "means", "both")
# Bytes that are asked for at once to keep rows in.
SMALLEST_PIECE = 2**16
LARGEST_PIECE = 2**24
ALIGNED = 64  # bytes
MOST_WAITING = 2**28  # bytes of statistics on a GPU that are added to means together
ROW_COUNT = "rows"  # beside the names of statistics
WEIGHTS = ("weights", "weight_rows", "first_tokens")  # of rows that were chosen


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

    def __init__(
        self, piece: np.ndarray, start: int, stop: int, array: np.ndarray
    ) -> None:
        """A copy of an array, in the bytes from `start` to before `stop` of a piece."""
        self.piece, self.start, self.stop = piece, start, stop
        self.dtype, self.shape = array.dtype, array.shape
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

    # Statistics of rows, one call after the other.
    rows: list[dict[str, KeptArray | Tensor]] = field(default_factory=list)
    # Statistics of keys, by the position of the key.
    keys: dict[str, Tensor] = field(default_factory=dict)
    # Weights of chosen rows, one call after the other.
    weights: list[ChosenWeights] = field(default_factory=list)

    def back_to(self, end: int, start: int) -> None:
        """Only rows before `end` of those from `start` on: a cache was cropped, and other rows will stand there."""
        self.weights[:] = [weights.before(end) for weights in self.weights]
        if not self.rows:
            return
        self.join()
        cut: dict[str, KeptArray | Tensor] = {}
        for name, value in self.rows[0].items():
            cut[name] = tensor_of(value)[:, :, : end - start]
        self.rows[:] = [cut]

    def add_weights(self, weights: ChosenWeights, last: int) -> None:
        """Add the weights of a later call; only the last so many rows stay, or all if it is 0."""
        self.weights.append(weights)
        if last:
            self.weights[:] = [self.joined_weights().last(last)]

    def joined_weights(self) -> ChosenWeights:
        """The weights of all calls."""
        count = len(self.weights)  # another thread may add to them
        joined = self.weights[0]
        for weights in self.weights[1:count]:
            joined = joined.joined(weights)
        self.weights[:count] = [joined]
        return joined

    def join(self) -> None:
        """Make one part of all."""
        count = len(self.rows)  # another thread may add to them
        if count > 1:
            parts = self.rows[:count]
            joined: dict[str, KeptArray | Tensor] = {}
            for name in parts[0]:
                joined[name] = torch.cat(
                    [tensor_of(part[name]) for part in parts], dim=2
                )
            self.rows[:count] = [joined]

    def receive(self, found: dict[str, Tensor], start: int, rows: int) -> None:
        """Add what keys from position `start` on received. The last rows are those of the last call of several rows."""
        pad = torch.nn.functional.pad
        for name in OF_KEYS:
            of_last_rows = name == "received_last"
            if name not in found or (of_last_rows and name in self.keys and rows == 1):
                continue
            new = pad(found[name], (start, 0))
            old = self.keys.get(name)
            if old is not None and not of_last_rows:
                wide = max(old.shape[2], new.shape[2])
                old = pad(old, (0, wide - old.shape[2]))
                new = pad(new, (0, wide - new.shape[2]))
                largest = TABLE[name].over_blocks is OverBlocks.LARGEST
                new = torch.maximum(old, new) if largest else old + new
            self.keys[name] = new


@dataclass(eq=False)
class LayerMeans:
    """Running sums of one layer, for each head."""

    total: dict[str, Tensor] = field(default_factory=dict)
    count: dict[str, Tensor] = field(default_factory=dict)

    @property
    def heads(self) -> int:
        """How many heads there are means of."""
        any_total = next(iter(self.total.values()), None)
        return 0 if any_total is None else len(any_total)

    @property
    def rows(self) -> int:
        """How many rows the means are over."""
        return int(self.count[ROW_COUNT]) if ROW_COUNT in self.count else 0

    def mean(self, name: str) -> list[float]:
        """The mean of a statistic, or its largest, for each head; NaN over no rows."""
        if name not in self.total:
            return [np.nan] * self.heads
        mean = self.total[name] / self.count[name]
        numbers: list[float] = mean.masked_fill(
            torch.isneginf(mean), torch.nan
        ).tolist()
        return numbers

    def with_more(self, other: LayerMeans) -> LayerMeans:
        """Over the rows of both."""
        total = dict(self.total)
        for name, value in other.total.items():
            if name not in total:
                total[name] = value
            elif TABLE[name].over_rows is OverRows.LARGEST:
                total[name] = torch.maximum(total[name], value)
            else:
                total[name] = total[name] + value
        count = dict(self.count)
        for name, value in other.count.items():
            counts_rows = name == ROW_COUNT or (
                TABLE[name].over_rows is not OverRows.LARGEST
            )
            if name not in count:
                count[name] = value
            elif counts_rows:
                count[name] = count[name] + value
        return LayerMeans(total, count)


@dataclass(eq=False)
class RunningMeans:
    """Running sums of some layers together: constant memory for each head."""

    storage: RowStorage = field(default_factory=RowStorage)
    total: dict[str, KeptArray | Tensor] = field(default_factory=dict)
    count: dict[str, KeptArray | Tensor] = field(default_factory=dict)

    def add(self, found: dict[str, Tensor]) -> None:
        """Take some rows in: of statistics (layers, batch, heads, rows), or also the top k.

        Rows without a number (padding) do not count; of the largest score the largest is kept. A row of text whose
        scores are NaN or +inf makes the mean NaN, and the largest score too.
        """
        spoilt = found[SPOILT]
        spoilt_heads = spoilt.any(3).any(1)
        for name, value in found.items():
            if name == SPOILT or TABLE[name].over_rows is OverRows.NOTHING:
                continue
            if TABLE[name].over_rows is OverRows.LARGEST:
                self._add_largest(name, value, spoilt)
            else:
                self._add_to_mean(name, value, spoilt_heads)
        self._add_rows(found, spoilt)

    def _add_largest(self, name: str, value: Tensor, spoilt: Tensor) -> None:
        without_padding = value.masked_fill(value.isnan() & ~spoilt, -torch.inf)
        most = without_padding.amax((1, 3)).double()
        if name in self.total:
            most = torch.maximum(tensor_of(self.total[name]), most)
        else:
            self._write(self.count, name, torch.ones_like(most))
        self._write(self.total, name, most)

    def _add_to_mean(self, name: str, value: Tensor, spoilt_heads: Tensor) -> None:
        finite = torch.isfinite(value)
        sums = value.masked_fill(~finite, 0.0).sum((1, 3), dtype=torch.float64)
        sums = sums.masked_fill(spoilt_heads, torch.nan)
        count = finite.sum((1, 3))
        if name in self.total:
            sums = sums + tensor_of(self.total[name])
            count = count + tensor_of(self.count[name])
        self._write(self.total, name, sums)
        self._write(self.count, name, count)

    def _add_rows(self, found: dict[str, Tensor], spoilt: Tensor) -> None:
        """How many rows there were, without padding, by any statistic of rows."""
        of_rows = [
            value
            for name, value in found.items()
            if name != SPOILT and TABLE[name].per is not PerWhat.KEY
        ]
        if not of_rows:
            return
        shown = of_rows[0][..., 0] if of_rows[0].ndim == 5 else of_rows[0]
        counted = ~shown.isnan() if shown.is_floating_point() else shown != -1
        rows = (counted | spoilt)[:, :, 0].sum((1, 2))
        if ROW_COUNT in self.count:
            rows = rows + tensor_of(self.count[ROW_COUNT])
        self._write(self.count, ROW_COUNT, rows)

    def of_layer(self, place: int) -> LayerMeans:
        """The sums of one of the layers."""
        return LayerMeans(
            {name: tensor_of(value)[place] for name, value in self.total.items()},
            {name: tensor_of(value)[place] for name, value in self.count.items()},
        )

    def _write(
        self, where: dict[str, KeptArray | Tensor], name: str, value: Tensor
    ) -> None:
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
        raise AttributeError(
            f"{name} was not kept: {', '.join(self.names) or 'no statistic'} was"
        )

    @property
    def weights(self) -> np.ndarray:
        """The weights of the rows that were chosen: (batch, heads, rows, keys). NaN for rows of padding."""
        return _array(self._chosen_weights().weights[..., : self._keys])

    @property
    def weight_rows(self) -> np.ndarray:
        """The position of each row of `weights`: (batch, rows); -1 where a text has fewer rows than others."""
        return _array(self._chosen_weights().positions)

    @property
    def first_tokens(self) -> np.ndarray:
        """The position of the first token of each text that `weights` are about."""
        return _array(self._chosen_weights().first)

    def _chosen_weights(self) -> ChosenWeights:
        if not self._kept.weights:
            raise AttributeError("weights were not kept")
        return self._kept.joined_weights()

    @property
    def names(self) -> tuple[str, ...]:
        """What was kept: the names of statistics, and of what is known of chosen rows."""
        rows = self._kept.rows[0] if self._kept.rows else {}
        of_weights = WEIGHTS if self._kept.weights else ()
        of_rows = [name for name in rows if name != SPOILT]
        return (*of_rows, *self._kept.keys, *of_weights)

    def __dir__(self) -> list[str]:
        """With the statistics that were kept."""
        return sorted({*super().__dir__(), *self.names})

    def __repr__(self) -> str:
        """What was kept, with the shape of each."""
        phrases = []
        for name in self.names:
            shape = " x ".join(str(size) for size in getattr(self, name).shape)
            phrases.append(f"{name} {shape}")
        return f"LayerSeen({', '.join(phrases) or 'running means alone'})"


@dataclass(eq=False)
class RecordedStack:
    """The layers of one stack: of the model, or its encoder, its decoder, or the attention from one to the other."""

    name: str
    wanted: StatisticsRequest
    keep: str
    storage: RowStorage = field(default_factory=RowStorage)
    runs: list[Run] = field(default_factory=list)
    layers: dict[int, list[LayerRun]] = field(default_factory=dict)  # as many as runs
    # By the numbers of the layers that are added together.
    means: dict[tuple[int, ...], RunningMeans] = field(default_factory=dict)
    # By layer, what is not added to means yet.
    waiting: dict[int, dict[str, Tensor]] = field(default_factory=dict)
    # The modules that layers are, where any module may be one.
    names: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Asked in each call of each layer."""
        self.keeps_rows = self.keep != "means" and bool(self.wanted.rows)

    def at(self, run: Run) -> int:
        """Which of the runs it is, -1 if it is not there; late ones are looked at first."""
        for at in range(len(self.runs) - 1, -1, -1):
            if self.runs[at] is run:
                return at
        return -1

    def open(self, run: Run) -> None:
        """A new run; without rows of all runs to keep, it takes the place of the last one of its thread."""
        if self.keep != "rows":
            alive = {thread.ident for thread in threading.enumerate()}
            for at in range(len(self.runs) - 1, -1, -1):
                if (
                    self.runs[at].thread == run.thread
                    or self.runs[at].thread not in alive
                ):
                    self._drop(at)
        self.runs.append(run)

    def _drop(self, at: int) -> None:
        del self.runs[at]
        for index, runs in list(self.layers.items()):
            del runs[
                at : at + 1
            ]  # a layer that was not called yet in that run has none
            if not runs:
                del self.layers[index]

    def add(
        self,
        run: Run,
        index: int,
        found: dict[str, Tensor],
        key_position: int,
        count: int,
    ) -> None:
        """The statistics of the attention in a run, where each call had `count` rows."""
        if self.keep != "rows" and self.wanted.names:
            self._add_to_means(index, found)
        self._add_rows(run, index, found, key_position, count)

    def add_layers(
        self,
        run: Run,
        indices: Sequence[int],
        found: dict[str, Tensor],
        key_position: int,
        count: int,
    ) -> None:
        """As `add`, of several layers: an axis of them is in front of each array."""
        if self.keep != "rows" and self.wanted.names:
            self.finish_means()
            means = self.means.setdefault(tuple(indices), RunningMeans(self.storage))
            means.add(found)
        names = [name for name in found if self.keeps_rows or name in OF_KEYS]
        by_layer = zip(*(found[name].unbind(0) for name in names), strict=True)
        layers = list(by_layer) if names else [()] * len(indices)
        for index, of_layer in zip(indices, layers, strict=True):
            named = dict(zip(names, of_layer, strict=True))
            self._add_rows(run, index, named, key_position, count)

    def _add_rows(
        self,
        run: Run,
        index: int,
        found: dict[str, Tensor],
        key_position: int,
        count: int,
    ) -> None:
        """What is kept of each row and key."""
        layer_run = self._layer_run(run, index)
        if self.keeps_rows:
            of_rows = {
                name: self.storage.keep(value)
                for name, value in found.items()
                if name not in OF_KEYS
            }
            layer_run.rows.append(of_rows)
        layer_run.receive(found, key_position, count)

    def add_weights(
        self, run: Run, index: int, weights: ChosenWeights, last: int
    ) -> None:
        """The weights of chosen rows in a run."""
        self._layer_run(run, index).add_weights(weights, last)

    def _layer_run(self, run: Run, index: int) -> LayerRun:
        layer_runs = self.layers.setdefault(index, [])
        while len(layer_runs) < len(self.runs):
            layer_runs.append(LayerRun())
        return layer_runs[self.at(run)]

    def __repr__(self) -> str:
        """How much was seen."""
        return f"RecordedStack({self.name}: {len(self.layers)} layers, {len(self.runs)} runs)"

    def _add_to_means(self, index: int, found: dict[str, Tensor]) -> None:
        """On a CPU at once. On a GPU all layers of a run together, since each operation has to be launched."""
        if not found[SPOILT].is_cuda:
            self._add_together((index,), [found])
            return
        if index in self.waiting:  # the next run
            self.finish_means()
        self.waiting[index] = found
        bytes_of_a_layer = sum(value.nbytes for value in found.values())
        if len(self.waiting) * bytes_of_a_layer > MOST_WAITING:
            self.finish_means()

    def finish_means(self) -> None:
        """Add what waits; layers whose statistics have the same shapes together."""
        alike: dict[Any, list[int]] = {}
        for index, found in self.waiting.items():
            shapes = tuple((name, value.shape) for name, value in found.items())
            alike.setdefault(shapes, []).append(index)
        for indices in alike.values():
            self._add_together(
                tuple(indices), [self.waiting[index] for index in indices]
            )
        self.waiting.clear()

    def _add_together(
        self, indices: tuple[int, ...], layers: list[dict[str, Tensor]]
    ) -> None:
        means = self.means.setdefault(indices, RunningMeans(self.storage))
        if len(layers) == 1:
            means.add({name: value[None] for name, value in layers[0].items()})
            return
        names = layers[0]
        means.add(
            {name: torch.stack([layer[name] for layer in layers]) for name in names}
        )

    def layer(self, index: int | str, run: int = -1) -> LayerSeen:
        """What was kept of a layer, in the last run unless another one is asked for by its number."""
        index = self.number_of_layer(index)
        if index not in self.layers:
            known = (
                f"{min(self.layers)} to {max(self.layers)}"
                if self.layers
                else "none: nothing was run"
            )
            raise InputError(
                f"layer {index} of {self.name} was not seen: expected {known}"
            )
        if not -len(self.runs) <= run < len(self.runs):
            raise InputError(
                f"run {run}: expected a number from 0 to {len(self.runs) - 1}"
            )
        held = self.runs[run]
        kept = self.layers[index]
        last = run if run >= 0 else len(self.runs) + run
        if last >= len(kept):
            raise InputError(
                f"layer {self.names.get(index, index)} called no attention in run {run}"
            )
        # A static cache has more keys than were seen. Layers that are modules of their
        # own may have keys of several texts.
        keys = None if self.name == "cross" or self.names else held.end
        return LayerSeen(kept[last], held, keys)

    def number_of_layer(self, name: int | str) -> int:
        """The number of the layer that is the module of this name, or the only one that ends with it."""
        if not isinstance(name, str):
            return name
        numbers = [index for index, known in self.names.items() if known == name]
        if not numbers:
            numbers = [
                index
                for index, known in self.names.items()
                if known.endswith("." + name)
            ]
        if len(numbers) != 1:
            known_names = ", ".join(self.names.values()) or "a number"
            raise InputError(f"layer {name!r}: expected one of {known_names}")
        return numbers[0]

    def summaries(self) -> Iterator[tuple[int, LayerMeans]]:
        """The means of each layer: those kept, or of the rows kept."""
        self.finish_means()
        for index in sorted(self.layers):
            if self.keep == "rows":
                yield index, self._means_of_rows(index)
                continue
            means = LayerMeans()
            for indices, together in self.means.items():
                if index in indices:
                    place = indices.index(index)
                    means = means.with_more(together.of_layer(place))
            yield index, means

    def _means_of_rows(self, index: int) -> LayerMeans:
        means = RunningMeans()
        for run in self.layers[index]:
            for kept in run.rows:
                rows = {name: tensor_of(value)[None] for name, value in kept.items()}
                means.add(rows)
        return means.of_layer(0)


class Recording:
    """What was seen of a model."""

    def __init__(self, queue: StatisticsQueue, keep: str, main: str | None) -> None:
        """What computes them, how they are kept, and the part that `layer` is about."""
        self.queue, self.keep, self._main = queue, keep, main
        self.wanted = queue.wanted
        self.computed: dict[
            str, RecordedStack
        ] = {}  # without the decode steps that wait to be computed together
        self.storage = RowStorage()
        self.unseen: tuple[
            str, ...
        ] = ()  # stacks that ran, or modules, whose attention cannot be seen
        # How many modules of attention there are, where any module may be a layer.
        self.of_modules = 0

    @property
    def parts(self) -> dict[str, RecordedStack]:
        """All that was seen so far, by the name of the part."""
        self.queue.finish()
        return self.computed

    def reset(self) -> None:
        """Forget all that was seen so far: running means start anew, and rows are given back.

        A text that is being generated goes on as a run whose `first_position` is above 0.
        """
        with self.queue.lock:
            self.queue.finish()
            self.computed.clear()
            self.storage = RowStorage()

    def __repr__(self) -> str:
        """The parts, their layers and runs."""
        phrases = [
            f"{name}: {len(part.layers)} layers, {len(part.runs)} runs"
            for name, part in self.parts.items()
        ]
        if self.of_modules and self.unseen:
            phrases.append(self.unseen_phrase())
        else:
            phrases += [f"{name}: cannot be seen" for name in self.unseen]
        return f"Recording({'; '.join(phrases) or 'nothing yet'})"

    @property
    def units(self) -> dict[str, str]:
        """The unit of each statistic that is kept: weight, nat, score, position."""
        return {name: TABLE[name].unit for name in self.wanted.names}

    def unseen_phrase(self) -> str:
        """In how many modules of attention, of how many, no call was seen; and which."""
        shown = ", ".join(name or "the model itself" for name in self.unseen[:3])
        more = ", ..." if len(self.unseen) > 3 else ""
        return (
            f"no attention call was seen in {len(self.unseen)} of {self.of_modules} "
            f"modules of attention ({shown}{more})"
        )

    def part(self, name: str) -> RecordedStack:
        """A part by its name: `encoder`, `decoder`, `cross`, or the name of the module."""
        if name in self.unseen:
            raise InputError(
                f"{name} computes its attention in a way of its own, which cannot be seen: expected "
                f"{' or '.join(self.parts) or 'another model'}"
            )
        if name not in self.parts:
            raise InputError(
                f"{name} was not seen: expected {' or '.join(self.parts) or 'a run of the model first'}"
            )
        return self.parts[name]

    @property
    def encoder(self) -> RecordedStack:
        """The encoder of a model that has one."""
        return self.part("encoder")

    @property
    def decoder(self) -> RecordedStack:
        """The decoder's attention to its own text."""
        return self.part("decoder")

    @property
    def cross(self) -> RecordedStack:
        """The decoder's attention to the encoder's text."""
        return self.part("cross")

    @property
    def modules(self) -> tuple[str, ...]:
        """The names of the modules that called attention, in order; empty for models of transformers."""
        names: list[str] = []
        for part in self.parts.values():
            names += part.names.values()
        return tuple(names)

    def layer(self, index: int | str, run: int = -1) -> LayerSeen:
        """A layer of the only part, or of the one that reads text."""
        if len(self.parts) == 1:
            return next(iter(self.parts.values())).layer(index, run)
        if self._main in self.parts:
            return self.parts[self._main].layer(index, run)
        raise InputError(
            f"layer {index}: expected {' or '.join(f'{name}.layer({index})' for name in self.parts)}"
            if self.parts
            else f"layer {index} was not seen: nothing was run"
        )

    def attention_to(
        self,
        spans: Mapping[str, Span] | Sequence[Mapping[str, Span]],
        *,
        layers: Sequence[int | str] | None = None,
        part: str | None = None,
        run: int = -1,
    ) -> SpanWeights:
        """The weights of the chosen rows, summed over named spans of keys.

        The weight on the first token of each text, to which many heads attend whatever the text, is counted apart, and
        in no span.

        Args:
            spans: by name, (start, stop) or positions; one dictionary for each text, or one for all.
            layers: all whose weights were kept unless given.
            part: `encoder`, `decoder` or `cross`, where there are several.
            run: the last one unless given.
        """
        from headwright.watching.spans import sum_over_spans

        if part is None:
            parts = self.parts
            alone = next(iter(parts), "the model")
            part = alone if len(parts) < 2 else self._main or "decoder"
        return sum_over_spans(self.part(part), spans, layers, run)

    def summary(self) -> dict[str, np.ndarray]:
        """Columns with one entry for each head: its place, the number of rows, and the mean of each statistic.

        The mean is over rows where the statistic is a finite number; of the largest score it is the largest. If a row
        of text has scores that are NaN or +inf, both are NaN.
        """
        with self.queue.lock:
            return self._summary()

    def _summary(self) -> dict[str, np.ndarray]:
        columns: dict[str, list[Any]] = {
            "part": [],
            "layer": [],
            "head": [],
            "rows": [],
        }
        if self.modules:
            columns["module"] = []
        means: dict[str, list[Any]] = {}
        for name, part in self.parts.items():
            for index, of_layer in part.summaries():
                heads = of_layer.heads
                if part.names:
                    columns["module"] += [part.names[index]] * heads
                columns["part"] += [name] * heads
                columns["layer"] += [index] * heads
                columns["head"] += range(heads)
                columns["rows"] += [of_layer.rows] * heads
                for statistic in self.wanted.rows:
                    if TABLE[statistic].over_rows is not OverRows.NOTHING:
                        mean = of_layer.mean(statistic)
                        means.setdefault(statistic, []).extend(mean)
        return {name: np.array(values) for name, values in (columns | means).items()}


def _array(value: Tensor) -> np.ndarray:
    return value.detach().cpu().numpy()
