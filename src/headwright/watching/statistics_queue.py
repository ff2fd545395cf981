"""Statistics of calls are computed at once, those of decode steps many together.

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
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.request import StatisticsRequest
from headwright.watching.recorded import RecordedStack, Run
from headwright.watching.rows_request import RowsRequest
from headwright.watching.statistics import Step, statistics_of, steps_together
from headwright.watching.weights import weights_of

MOST_STEPS = 128  # decode steps of a layer whose statistics are computed at once


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
        layers = getattr(getattr(cache, "self_attention_cache", cache), "layers", ())
        keys = getattr(layers[index], "keys", None) if index < len(layers) else None
        if keys is None:
            return None
        return cls(index, keys, None if keys.is_inference() else keys._version)

    def same(self, cache: Any) -> bool:
        """Whether the cache holds just these still."""
        now = HeldKeys.of(cache, self.index)
        return (
            now is not None
            and now.version == self.version
            and share_memory(now.keys, self.keys)
        )

    def changed_in_place(self) -> bool:
        """Whether something was written into the keys since they were noted."""
        return self.version is not None and self.keys._version != self.version


@dataclass(eq=False)
class Steps:
    """Decode steps of one layer whose statistics are not computed yet."""

    stack: str
    part: RecordedStack
    run: Run
    index: int
    cache: Any
    start: int  # the position of the first
    last: AttentionRows
    held: HeldKeys
    rows: list[Step]

    def kept_by(self, cache: Any) -> bool:
        """Whether a cache holds the same keys as after the last step: the next step can only add to them."""
        return cache is self.cache and self.held.same(cache)

    def goes_on_with(self, step: Steps) -> bool:
        """Whether a step is of the same run, and its scores are made the same way."""
        return step.run is self.run and step.last.scale == self.last.scale


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

    def add_step(self, step: Steps) -> None:
        """A decode step, as the only one of its `Steps`: it joins those of its layer.

        They were made by the same run with the same scale, or are finished first.
        """
        place = step.part.name, step.index
        with self.lock:
            steps = self.waiting.get(place)
            if steps is not None and not steps.goes_on_with(step):
                self.finish()
                steps = None
            if steps is None:
                self.waiting[place] = steps = step
            else:
                steps.last, steps.held = step.last, step.held
                steps.rows += step.rows
            if len(steps.rows) == MOST_STEPS:
                self._compute(self.waiting.pop(place))

    def finish_unless_kept(self, stack: str, cache: Any) -> None:
        """Finish, unless a cache holds the keys of all steps of a stack as they were."""
        with self.lock:
            for steps in tuple(self.waiting.values()):
                if steps.stack == stack and not steps.kept_by(cache):
                    self.finish()

    def finish(self) -> None:
        """Compute the statistics of all decode steps that wait."""
        with self.lock:
            while self.waiting:
                self._compute(self.waiting.popitem()[1])

    def close(self) -> None:
        """Finish, and hold no cache, even if an error ends it."""
        with self.lock:
            try:
                self.finish()
            finally:
                self.waiting.clear()

    def _compute(self, steps: Steps) -> None:
        if steps.held.changed_in_place():
            raise InputError(
                "the keys in the cache were changed in place between decode steps, and the rows of those "
                "steps are not known any more: replace the tensors instead"
            )
        with torch.no_grad():
            call = steps_together(steps.rows, steps.last)
            stop = steps.start + call.rows
            call = replace(
                call,
                row_position=steps.start,
                key_position=first_key_position(stop, call.keys),
                padding=steps.run.padding,
                counted=unless_all(call.counted),
            )
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
        """Add the statistics of a layer; its keys are of the tokens of `key_run`."""
        sets = self.sets.members(self.wanted.names, key_run, call)
        if sets or call.padding is not None:
            first = None if call.padding is None else call.padding.int().argmax(1)
            call = replace(call, sets=sets, first=first)
        statistics = statistics_of(call, self.wanted) if self.wanted.names else {}
        part.add(run, index, statistics, call.key_position, rows_of_a_call)
        chosen = self.chosen_rows
        if chosen is None or not chosen.asks_for_layer(index, part.names.get(index)):
            return
        weights = weights_of(call, chosen, rows_of_a_call == 1)
        if weights is not None:
            part.add_weights(run, index, weights, chosen.last)


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
    return tensor.data_ptr() == other.data_ptr() and tensor.shape == other.shape


def only_grows(cache: Any, held: HeldKeys, call: AttentionRows) -> bool:
    """Whether the keys of a decode step are those that the cache holds, and a later step will hold them too."""
    layers = getattr(cache, "layers", ())
    plain = (
        call.bias is None
        and call.window is None
        and call.key_mask is None
        and call.sinks is None
        and not call.causal
    )
    return (
        plain
        and held.index < len(layers)
        and _is_dynamic(layers[held.index])
        and share_memory(held.keys, call.key)
    )


def _is_dynamic(layer: Any) -> bool:
    """Whether it is transformers' layer of a cache that grows: a subclass may do more."""
    kind = type(layer)
    return (
        kind.__name__ == "DynamicLayer"
        and kind.__module__ == "transformers.cache_utils"
    )
