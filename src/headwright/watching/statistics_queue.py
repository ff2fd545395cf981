"""Statistics of calls are computed at once, those of decode steps many together.

What Triton's kernels have written on a GPU waits too: statistics are made of it for all layers of
a model together, since each operation has to be launched, which takes longer than the operation.

A decode step keeps its query, and the keys of the last step hold those of all steps before
it. That is so as long as the cache only grows, which is checked before each step.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from headwright.errors import InputError
from headwright.models.attention_calls import AttentionCall
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.table import SETS
from headwright.statistics.triton_backend import KernelResult, together
from headwright.watching.recorded import RecordedStack, Run
from headwright.watching.rows_request import RowsRequest
from headwright.watching.statistics import (
    Step,
    finish_statistics,
    start_statistics,
    steps_together,
    wanted_of,
)
from headwright.watching.weights import weights_of

MOST_STEPS = 128  # decode steps of a layer whose statistics are computed at once
MOST_LAUNCHED = 2**28  # bytes that kernels have written and that wait


@dataclass(eq=False)
class HeldKeys:
    """The keys that a cache holds for a layer, at some time."""

    index: int
    keys: Tensor
    # Counts changes in place; in inference mode they are not counted.
    version: int | None

    @classmethod
    def of(cls, cache: Any, index: int) -> HeldKeys | None:
        """None if it is not known where the cache holds them."""
        keys = _keys_in(cache, index)
        return None if keys is None else cls(index, keys, _version(keys))

    def same(self, cache: Any) -> bool:
        """Whether the cache holds just these still."""
        now = _keys_in(cache, self.index)
        if now is None or not share_memory(now, self.keys):
            return False
        return _version(now) == self.version

    def changed_in_place(self) -> bool:
        """Whether something was written into the keys since they were noted."""
        return self.version is not None and self.keys._version != self.version


def _keys_in(cache: Any, index: int) -> Tensor | None:
    """Where a cache holds the keys of a layer; None if that is not known."""
    layers = getattr(getattr(cache, "self_attention_cache", cache), "layers", ())
    return getattr(layers[index], "keys", None) if index < len(layers) else None


def _version(keys: Tensor) -> int | None:
    return None if keys.is_inference() else keys._version


@dataclass(eq=False)
class Steps:
    """Decode steps of one layer whose statistics are not computed yet."""

    stack: str
    part: RecordedStack
    run: Run
    index: int
    cache: Any
    start: int  # the position of the first
    last: AttentionCall
    held: HeldKeys
    rows: list[Step]

    def kept_by(self, cache: Any) -> bool:
        """Whether a cache holds the same keys as after the last step: the next step can only add to them."""
        return cache is self.cache and self.held.same(cache)

    def goes_on_with(self, run: Run, call: AttentionCall) -> bool:
        """Whether a step is of the same run, and its scores are made the same way."""
        return (
            run is self.run
            and call.scale == self.last.scale
            and call.softcap == self.last.softcap
        )

    def together(self) -> AttentionRows:
        """All steps as one call."""
        call = self.last
        stop = self.start + len(self.rows)
        last = AttentionRows(
            call.queries,
            call.keys,
            call.scale,
            softcap=call.softcap,
            padding=self.run.padding,
            row_position=self.start,
            key_position=first_key_position(stop, call.keys.shape[2]),
        )
        rows = steps_together(self.rows, last)
        return replace(rows, counted=unless_all(rows.counted))


@dataclass(frozen=True, eq=False)
class LaunchedLayer:
    """What kernels have written for a layer, of which no statistics are made yet."""

    part: RecordedStack
    run: Run
    index: int
    result: KernelResult
    wanted: StatisticsRequest
    start: int  # the position of the first row
    rows_of_a_call: int
    stream: Any  # of the GPU, on which the kernels were launched

    def goes_with(self, other: LaunchedLayer) -> bool:
        """Whether statistics of both are made together: the same rows of the same run."""
        return (
            self.part is other.part
            and self.run is other.run
            and self.start == other.start
            and self.rows_of_a_call == other.rows_of_a_call
            and self.wanted is other.wanted
            and self.result.is_like(other.result)
        )


@dataclass(frozen=True)
class KeySets:
    """The keys that the statistics `special` and `keys` are about."""

    special: tuple[int, ...] = ()  # ids of tokens
    positions: tuple[int, ...] = ()

    def members(
        self, names: Sequence[str], run: Run | None, call: AttentionRows
    ) -> dict[str, Tensor]:
        """By statistic, which keys of a call are in its set: (batch, keys)."""
        batch, count, device = len(call.query), call.key.shape[2], call.key.device
        start, stop = call.key_position, call.key_position + count
        sets: dict[str, Tensor] = {}
        if "keys" in names:
            chosen = torch.as_tensor(self.positions, dtype=torch.long, device=device)
            at = torch.arange(start, stop, device=device)
            sets["keys"] = torch.isin(at, chosen)[None].expand(batch, -1)
        if "special" in names:
            if run is None or run.tokens is None:
                raise InputError(
                    "the model was not given the tokens (input_ids) of all keys, or beam search has moved "
                    "them, and special ones are not known: leave the statistic special out"
                )
            ids = torch.as_tensor(self.special, dtype=torch.long, device=device)
            known = torch.isin(run.tokens.to(device), ids)[:, start:stop]
            # A static cache has empty keys behind those of tokens.
            known = torch.nn.functional.pad(known, (0, count - known.shape[1]))
            # Beams of a text are side by side.
            sets["special"] = known.repeat_interleave(batch // len(known), 0)
        return sets


class StatisticsQueue:
    """Computes statistics and adds them to parts; decode steps wait for `finish`.

    Who records and what was recorded share it, and it knows neither.
    """

    def __init__(
        self,
        wanted: StatisticsRequest,
        sets: KeySets,
        chosen_rows: RowsRequest | None = None,
    ) -> None:
        """For these statistics and sets of keys, and the weights of some rows."""
        self.wanted, self.sets, self.chosen_rows = wanted, sets, chosen_rows
        self.lock = threading.RLock()  # while it is held, nothing is recorded
        self.waiting: dict[tuple[str, int], Steps] = {}  # by part and layer
        self.launched: dict[tuple[str, int], LaunchedLayer] = {}  # likewise
        self.launched_bytes = 0
        self.asks_for_sets = wanted.asks(SETS)

    def add_step(
        self,
        stack: str,
        part: RecordedStack,
        run: Run,
        index: int,
        cache: Any,
        call: AttentionCall,
        held: HeldKeys,
        counted: Tensor | None,
    ) -> None:
        """A decode step of a layer: it joins those before it.

        They were made by the same run with the same scale, or are finished first.
        """
        place = part.name, index
        step = call.queries, call.mask, counted
        with self.lock:
            steps = self.waiting.get(place)
            if steps is not None and not steps.goes_on_with(run, call):
                self.finish()
                steps = None
            if steps is None:
                start = run.end - 1
                steps = Steps(stack, part, run, index, cache, start, call, held, [step])
                self.waiting[place] = steps
            else:
                steps.last = call
                steps.held = held
                steps.rows.append(step)
            if len(steps.rows) == MOST_STEPS:
                self._compute(self.waiting.pop(place))

    def finish_unless_kept(self, stack: str, cache: Any) -> None:
        """Finish, unless a cache holds the keys of all steps of a stack as they were."""
        with self.lock:
            for steps in tuple(self.waiting.values()):
                if steps.stack == stack and not steps.kept_by(cache):
                    self.finish_steps()

    def finish(self) -> None:
        """Add all that waits."""
        with self.lock:
            self.finish_steps()
            self.finish_launched()

    def finish_steps(self) -> None:
        """Compute the statistics of all decode steps that wait."""
        with self.lock:
            while self.waiting:
                self._compute(self.waiting.popitem()[1])

    def finish_launched(self) -> None:
        """Make statistics of what the kernels have written, for layers that are alike together."""
        with self.lock:
            layers = list(self.launched.values())
            self.launched.clear()
            self.launched_bytes = 0
            while layers:
                first = layers[0]
                alike = [layer for layer in layers if layer.goes_with(first)]
                layers = [layer for layer in layers if not layer.goes_with(first)]
                _add_together(alike)

    def close(self) -> None:
        """Finish, and hold no cache, even if an error ends it."""
        with self.lock:
            try:
                self.finish()
            finally:
                self.waiting.clear()
                self.launched.clear()

    def _compute(self, steps: Steps) -> None:
        if steps.held.changed_in_place():
            raise InputError(
                "the keys in the cache were changed in place between decode steps, and the rows of those "
                "steps are not known any more: replace the tensors instead"
            )
        with torch.no_grad():
            call = steps.together()
            self.compute(steps.part, steps.run, steps.index, call, steps.run, 1)

    def compute(
        self,
        part: RecordedStack,
        run: Run,
        index: int,
        call: AttentionRows,
        key_run: Run | None,
        rows_of_a_call: int,
    ) -> None:
        """Add the statistics of a layer, or launch them; its keys are of the tokens of `key_run`."""
        if self.asks_for_sets or call.padding is not None:
            sets = self.sets.members(self.wanted.names, key_run, call)
            first = None if call.padding is None else call.padding.int().argmax(1)
            call = replace(call, sets=sets, first=first)
        place = part.name, index
        if place in self.launched:  # an earlier call of the layer comes first
            self.finish_launched()
        statistics: dict[str, Tensor] | KernelResult = {}
        if self.wanted.names:
            statistics = start_statistics(call, self.wanted)
        if isinstance(statistics, KernelResult):
            self.launched[place] = LaunchedLayer(
                part,
                run,
                index,
                statistics,
                wanted_of(call, self.wanted),
                call.row_position,
                rows_of_a_call,
                _stream_of(statistics.rows),
            )
            self.launched_bytes += statistics.nbytes
            if self.launched_bytes > MOST_LAUNCHED:
                self.finish_launched()
        else:
            part.add(run, index, statistics, call.key_position, rows_of_a_call)
        if self.chosen_rows is not None:
            self._add_weights(part, run, index, call, rows_of_a_call == 1)

    def _add_weights(
        self,
        part: RecordedStack,
        run: Run,
        index: int,
        call: AttentionRows,
        each_row_is_a_step: bool,
    ) -> None:
        chosen = self.chosen_rows
        if chosen is None or not chosen.asks_for_layer(index, part.names.get(index)):
            return
        weights = weights_of(call, chosen, each_row_is_a_step)
        if weights is not None:
            part.add_weights(run, index, weights, chosen.last)


def _add_together(layers: Sequence[LaunchedLayer]) -> None:
    """The statistics of layers that are alike."""
    first = layers[0]
    with torch.no_grad():
        for layer in layers:
            _wait_for(layer)
        result = together([layer.result for layer in layers])
        statistics = finish_statistics(result, first.wanted)
        indices = [layer.index for layer in layers]
        first.part.add_layers(
            first.run, indices, statistics, result.key_position, first.rows_of_a_call
        )


def _stream_of(array: Tensor) -> Any:
    """The stream on which a GPU works on it; None in ordinary memory."""
    if array.device.type != "cuda":
        return None
    return torch.cuda.current_stream(array.device)


def _wait_for(layer: LaunchedLayer) -> None:
    """If statistics are made on another stream than the kernels': what these wrote is there first, and stays."""
    arrays = [layer.result.rows, layer.result.of_keys, layer.result.counted]
    here = _stream_of(layer.result.rows)
    if here == layer.stream:
        return
    here.wait_stream(layer.stream)
    for array in arrays:
        if array is not None:
            array.record_stream(here)


def unless_all(mask: Tensor | None) -> Tensor | None:
    """A mask, or None if it is True everywhere; this waits for a GPU."""
    if mask is None or bool(mask.all()):
        return None
    return mask


def first_key_position(stop: int, keys: int) -> int:
    """Of so many keys before a position: keys that a window has dropped are not there."""
    return max(0, stop - keys)


def share_memory(tensor: Tensor, other: Tensor) -> bool:
    """Whether two tensors are the same numbers at the same place."""
    if tensor is other:
        return True
    return tensor.data_ptr() == other.data_ptr() and tensor.shape == other.shape


def growing_keys(cache: Any, index: int, call: AttentionCall) -> HeldKeys | None:
    """The keys of a decode step, if they are those that the cache holds, and a later step will hold them too."""
    if (
        call.bias is not None
        or call.window is not None
        or call.key_mask is not None
        or call.sinks is not None
        or call.causal
    ):
        return None
    layers = getattr(cache, "layers", ())
    if index >= len(layers) or not _is_dynamic(type(layers[index])):
        return None
    held = HeldKeys.of(cache, index)
    if held is None or not share_memory(held.keys, call.keys):
        return None
    return held


def _is_dynamic(kind: Any) -> bool:
    """Whether it is transformers' layer of a cache that grows: a subclass may do more."""
    return bool(
        kind.__name__ == "DynamicLayer"
        and kind.__module__ == "transformers.cache_utils"
    )
