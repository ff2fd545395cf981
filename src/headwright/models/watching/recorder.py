"""Computes the statistics of each call of a watched model's attention, and keeps them by run.

A run is a call of the model and the calls that extend it by way of a cache. The rows of decode steps are computed
later, many at once: a step keeps its query, and the keys of the last step hold those of all steps before it. That is so
as long as the cache only grows, which is checked before each step.
"""

from __future__ import annotations

import inspect
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicLayer

from headwright.errors import InputError
from headwright.models.watching.names import RECEIVED, TOP
from headwright.models.watching.recorded import Part, Run, Seen
from headwright.models.watching.statistics import Attention, Step, statistics_of, steps_together

CROSS = ("encoder_attn", "crossattention", "encdecattention", "cross_attn", "encoder_attention", "cross_attention")
RECENT = 8  # runs that a call may go on with: caches that are used in turn
MOST_STEPS = 128  # decode steps of a layer whose statistics are computed at once


@dataclass(eq=False)
class StackInputs:
    """What a stack of layers was called with."""

    tokens: Tensor | None = None
    padding: Tensor | None = None  # batch, positions: False for padding
    encoder_padding: Tensor | None = None
    cache: Any = None
    past: int = 0
    moved: bool = False  # whether texts have changed places in the cache (beam search)
    run: Run | None = None  # once a layer has been called
    calls: dict[str, int] = field(default_factory=dict)
    layers: set[tuple[str, int]] = field(default_factory=set)  # that have been called


@dataclass(eq=False)
class HeldKeys:
    """The keys that a cache holds for a layer, at some time."""

    index: int
    keys: Tensor
    version: int | None  # counts changes in place; in inference mode they are not counted

    @classmethod
    def of(cls, cache: Any, index: int) -> HeldKeys | None:
        """None if it is not known where the cache holds them."""
        layers = getattr(getattr(cache, "self_attention_cache", cache), "layers", ())
        keys = getattr(layers[index], "keys", None) if index < len(layers) else None
        return None if keys is None else cls(index, keys, None if keys.is_inference() else keys._version)

    def same(self, cache: Any) -> bool:
        """Whether the cache holds just these still."""
        now = HeldKeys.of(cache, self.index)
        return now is not None and now.version == self.version and _one(now.keys, self.keys)


@dataclass(eq=False)
class Steps:
    """Decode steps of one layer whose statistics are not computed yet."""

    stack: str
    part: Part
    run: Run
    index: int
    cache: Any
    start: int  # the position of the first
    last: Attention
    held: HeldKeys
    rows: list[Step] = field(default_factory=list)

    def go_on(self, cache: Any) -> bool:
        """Whether the cache holds the same keys as after the last step: the next step can only add to them."""
        return cache is self.cache and self.held.same(cache)


class Recorder:
    """Computes the statistics of each call, and keeps them in `seen`."""

    def __init__(
        self, model: nn.Module, seen: Seen, special: Sequence[int] = (), keys: Sequence[int] = (),
        free: int | None = None, padding_made: Callable[[Any, set[int]], Tensor | None] | None = None,
    ) -> None:  # fmt: skip
        """For a model, or a module without stacks if the model is not known."""
        self.seen, self.special, self.keys, self.free = seen, tuple(special), tuple(keys), free
        self.padding_made = padding_made  # of a configuration, if the mask that was made of it is one of these (ids)
        self.stacks = {module: name for name, module in model.named_modules() if isinstance(module, PreTrainedModel)}
        self.local = threading.local()  # what the stacks of a thread were called with
        self.ran: set[str] = set()  # stacks that were called
        self.recorded: set[str] = set()  # stacks whose attention was
        self.owner: dict[nn.Module, str] = {}
        self.cross: dict[nn.Module, bool] = {}
        self.steps: dict[tuple[str, int], Steps] = {}  # by part and layer
        self.signatures = {stack: inspect.signature(stack.forward) for stack in self.stacks}
        self.layers = {stack: getattr(stack.config, "num_hidden_layers", None) for stack in self.stacks}
        self.lock = threading.RLock()
        seen.finish, seen.exclusive = self.finish, self.lock
        for path, module in model.named_modules():
            name = path.lower()
            inside = [path for path in self.stacks.values() if not path or (name + ".").startswith(path.lower() + ".")]
            self.owner[module] = max(inside, key=len, default="")
            self.cross[module] = any(word in name for word in CROSS)

    @property
    def inputs(self) -> dict[str, StackInputs]:
        """What the stacks were called with last, in this thread: the model may run in several at once."""
        if not hasattr(self.local, "inputs"):
            self.local.inputs = {}
        inputs: dict[str, StackInputs] = self.local.inputs
        return inputs

    def unseen(self) -> tuple[str, ...]:
        """The stacks that ran and have attention of their own, none of which came by here."""
        with_attention = {self.owner[module] for module in self.owner if _is_attention(module)}
        paths = sorted((self.ran & with_attention) - self.recorded)
        return tuple(path.rpartition(".")[2] or "model" for path in paths)

    def before(self, stack: PreTrainedModel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Called before a stack runs: which tokens, which padding, which cache."""
        given = self.signatures[stack].bind_partial(*args, **kwargs).arguments
        given = given | given.pop("kwargs", {})
        if given.get("output_attentions") or getattr(stack.config, "output_attentions", False):
            raise InputError("output_attentions=True stores every pattern, and a watched model does not: expected one "
                             "of them")  # fmt: skip
        if getattr(stack.config, "num_hidden_layers", None) != self.layers[stack]:
            raise InputError("the model runs with fewer layers (assistant_early_exit), which is not known here: give "
                             "another model as the assistant")  # fmt: skip
        cache, mask = given.get("past_key_values"), given.get("attention_mask")
        path = self.stacks[stack]
        with self.lock:
            self.ran.add(path)
            if not all(steps.go_on(cache) for steps in self.steps.values() if steps.stack == path):
                self.finish()
        past = 0 if cache is None or not hasattr(cache, "get_seq_length") else int(cache.get_seq_length())
        if not (isinstance(mask, Tensor) and mask.ndim == 2):  # it was made before, of a mask of two dimensions
            masks = mask.values() if isinstance(mask, dict) else [mask]
            mask = self.padding_made(stack.config, {id(each) for each in masks}) if self.padding_made else None
        tokens, behind = given.get("input_ids"), given.get("encoder_attention_mask")
        moved = False
        if "special" in self.seen.wanted.names:
            with self.lock:
                runs = [
                    run for part in self.seen.computed.values() for run in part.runs[-RECENT:] if run.held and run.cache
                ]
            moved = any(run.cache() is cache and past == run.end and not run.held.same(cache) for run in runs)
        self.inputs[path] = StackInputs(
            tokens if isinstance(tokens, Tensor) and tokens.ndim == 2 else None, None if mask is None else mask.bool(),
            behind.bool() if isinstance(behind, Tensor) and behind.ndim == 2 else None, cache, past, moved,
        )  # fmt: skip

    def record(self, module: nn.Module, call: Attention) -> None:
        """Called after the attention of a layer has run."""
        path = self.owner.get(module, "")
        inputs = self.inputs.setdefault(path, StackInputs())
        cross = self.cross.get(module, False) or bool(getattr(module, "is_cross_attention", False))
        batch, _, rows, _ = call.query.shape
        stack = path.rpartition(".")[2] or "model"
        name = "cross" if cross else stack
        with self.lock:
            self.recorded.add(path)
            run = inputs.run
            if run is None:
                run = inputs.run = self._begin(inputs, self.seen.computed.get(stack), batch, rows)
                if rows > 1:
                    self._check_memory(module, call, rows)
            order = inputs.calls[name] = inputs.calls.get(name, -1) + 1
            index = getattr(module, "layer_idx", None)
            index = order if index is None else int(index)
            if self.stacks and (name, index) in inputs.layers:
                raise InputError(f"{type(module).__name__} calls its attention more than once a layer, which is not "
                                 "known here")  # fmt: skip
            inputs.layers.add((name, index))
            part = self.seen.computed.setdefault(name, Part(name, self.seen.wanted, self.seen.keep, self.seen.storage))
            if part.at(run) < 0:
                self.finish()
                part.open(run)
            if "special" in self.seen.wanted.names and len(inputs.layers) == 1:
                run.held = HeldKeys.of(inputs.cache, index)
            keys = HeldKeys.of(inputs.cache, index) if rows == 1 and inputs.past and not cross else None
            if keys is not None and _only_grows(inputs.cache, keys, call):
                held = self.steps.get((name, index))
                if held is not None and (held.run is not run or held.last.scale != call.scale):
                    self.finish()
                    held = None
                if held is None:
                    held = self.steps[name, index] = Steps(
                        path, part, run, index, inputs.cache, run.end - 1, call, keys
                    )
                held.last, held.held = call, keys
                counted = None if run.padding is None else run.padding[:, run.end - 1 :]
                held.rows.append((call.query, call.mask, counted))
                if len(held.rows) == MOST_STEPS:
                    self._compute(self.steps.pop((name, index)))
            else:
                self.finish()
                counted = None if run.padding is None else run.padding[:, run.end - rows :]
                padding = inputs.encoder_padding if cross else run.padding
                call = replace(call, cross=cross, counted=counted, padding=padding)
                self._add(part, run, index, call, run.end - rows, rows)

    def finish(self) -> None:
        """Compute the statistics of all decode steps that are kept."""
        with self.lock:
            while self.steps:
                self._compute(self.steps.popitem()[1])

    def _compute(self, steps: Steps) -> None:
        if steps.held.version is not None and steps.held.keys._version != steps.held.version:
            raise InputError("the keys in the cache were changed in place between decode steps, and the rows of those "
                             "steps are not known any more: replace the tensors instead")  # fmt: skip
        with torch.no_grad():
            call = replace(steps_together(steps.rows, steps.last), padding=steps.run.padding)
            self._add(steps.part, steps.run, steps.index, call, steps.start, 1)

    def _add(self, part: Part, run: Run, index: int, call: Attention, start: int, rows: int) -> None:
        """The statistics of rows from a position on, of calls that had so many rows each."""
        counted, count = call.counted, call.key.shape[2]
        key_position = 0 if call.cross else max(0, start + call.query.shape[2] - count)
        key_run = self._run_of_encoder() if call.cross else run
        call = replace(
            call, row_position=start, key_position=key_position,
            sets=self._sets(key_run, len(call.query), key_position, count, call.key.device),
            counted=None if counted is None or bool(counted.all()) else counted,
            first=None if call.padding is None else call.padding.int().argmax(1),
        )  # fmt: skip
        part.add(run, index, statistics_of(call, self.seen.wanted), key_position, rows)

    def _begin(self, inputs: StackInputs, part: Part | None, batch: int, rows: int) -> Run:
        """The run that a call belongs to: the last one, if it goes on with the same cache, else a new one."""
        runs = [] if part is None or inputs.cache is None else part.runs[-RECENT:]
        last = next((run for run in reversed(runs) if run.cache is not None and run.cache() is inputs.cache), None)
        if last is None or last.batch != batch or inputs.past == 0 or inputs.past > last.end:
            cache = None if inputs.cache is None else weakref.ref(inputs.cache)
            last = Run(batch, inputs.past, inputs.past + rows, cache)
        else:
            if inputs.moved:
                last.tokens = None  # which token a key is of is not known any more
            if inputs.past < last.end:
                if inputs.padding is not None and inputs.padding.shape[1] > inputs.past + rows:
                    raise InputError("the cache holds fewer keys than the mask, since it has dropped some, which is "
                                     "not known here")  # fmt: skip
                self._back_to(last, inputs.past)
            last.end = inputs.past + rows
        last.padding = None if inputs.padding is None or inputs.padding.shape[1] != last.end else inputs.padding
        if inputs.tokens is None or inputs.tokens.shape[1] != rows:
            last.tokens = None
        elif inputs.past == 0:
            last.tokens = inputs.tokens
        elif last.tokens is not None:
            last.tokens = torch.cat([last.tokens[:, : inputs.past], inputs.tokens], dim=1)
        return last

    def _back_to(self, run: Run, end: int) -> None:
        if self.seen.keep != "rows" or self.seen.wanted.asks(RECEIVED):
            raise InputError("the cache was cropped (assisted decoding), and rows that count no more cannot be taken "
                             "out of running means or received weights: expected keep='rows' and statistics of rows"
                             )  # fmt: skip
        for part in self.seen.computed.values():
            at = part.at(run)
            if at >= 0:
                for layers in part.layers.values():
                    layers[at].back_to(end - run.start)

    def _run_of_encoder(self) -> Run | None:
        part = self.seen.computed.get("encoder")
        if part is None or not part.runs:
            return None
        mine = [run for run in part.runs if run.thread == threading.get_ident()]
        return mine[-1] if mine else part.runs[-1]

    def _sets(self, run: Run | None, batch: int, start: int, keys: int, device: Any) -> dict[str, Tensor]:
        """Which keys are special tokens, and which are in the given set."""
        found: dict[str, Tensor] = {}
        at = torch.arange(start, start + keys, device=device)
        if "keys" in self.seen.wanted.names:
            chosen = torch.as_tensor(self.keys, dtype=torch.long, device=device)
            found["keys"] = torch.isin(at, chosen)[None].expand(batch, -1)
        if "special" in self.seen.wanted.names:
            if run is None or run.tokens is None:
                raise InputError("the model was not given the tokens (input_ids) of all keys, or beam search has moved "
                                 "them, and special ones are not known: leave the statistic special out")  # fmt: skip
            ids = torch.as_tensor(self.special, dtype=torch.long, device=device)
            known = torch.isin(run.tokens.to(device), ids)[:, start : start + keys]
            known = torch.nn.functional.pad(known, (0, keys - known.shape[1]))
            found["special"] = known.repeat_interleave(batch // len(known), 0)  # beams of a text are side by side
        return found

    def _check_memory(self, module: nn.Module, call: Attention, rows: int) -> None:
        """Refuse, before anything is computed, what would not fit: how much it needs, how much there is."""
        batch, heads, _, _ = call.query.shape
        config = getattr(module, "config", None)
        layers = int(getattr(config, "num_hidden_layers", 1) or 1)
        wanted = self.seen.wanted
        size = 8 if call.query.dtype == torch.float64 else 4
        wide = sum(wanted.top if name in TOP[1:] else 1 for name in wanted.rows) if self.seen.keep != "means" else 0
        needed = layers * batch * heads * size * rows * wide
        needed += layers * batch * heads * size * call.key.shape[2] * sum(name in RECEIVED for name in wanted.names)
        free = self.free if self.free is not None else free_memory(call.query.device)
        if free is not None and needed > free:
            raise InputError(
                f"the statistics of {rows} rows of {batch} texts, {layers} layers and {heads} heads need "
                f"{needed / 2**30:.3g} GiB, and {free / 2**30:.3g} GiB are free: take fewer statistics, or keep='means'"
            )


def _is_attention(module: nn.Module) -> bool:
    """Whether it projects to queries and keys itself, by its name and what it holds."""
    name = type(module).__name__.lower()
    projections = [held for held in module.children() if isinstance(held, nn.Linear)]
    return ("attention" in name or "attn" in name) and len(projections) > 1


def _one(tensor: Tensor, other: Tensor) -> bool:
    return tensor.data_ptr() == other.data_ptr() and tensor.shape == other.shape


def _only_grows(cache: Any, held: HeldKeys, call: Attention) -> bool:
    """Whether the keys of a decode step are those that the cache holds, and a later step will hold them too."""
    layers = getattr(cache, "layers", ())
    plain = call.bias is None and call.window is None and call.key_mask is None and call.sinks is None
    plain = plain and not call.causal and held.index < len(layers) and type(layers[held.index]) is DynamicLayer
    return plain and _one(held.keys, call.key)


def free_memory(device: torch.device) -> int | None:
    """In bytes, where the statistics are kept; None if the system does not say."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        with Path("/proc/meminfo").open() as file:
            line = next(line for line in file if line.startswith("MemAvailable"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        return None if not hasattr(os, "sysconf") else os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
