"""Tells which run of a watched model each call of its attention belongs to.

A run is a call of the model and the calls that extend it by way of a cache. Before a stack
of layers runs, the recorder notes its tokens, padding and cache; then it visits the calls
of attention of the stack, and hands what their statistics need to the queue.
"""

from __future__ import annotations

import inspect
import re
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from headwright.errors import InputError
from headwright.models.attention_calls import AttentionCall
from headwright.models.transformers_calls import padding_of
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.table import OF_KEYS
from headwright.watching.attention_modules import CROSS, attention_modules
from headwright.watching.memory import check_memory
from headwright.watching.recorded import RecordedStack, Recording, Run
from headwright.watching.statistics_queue import (
    HeldKeys,
    first_key_position,
    growing_keys,
    unless_all,
)

CROSS_PATH = re.compile("|".join(CROSS))
RECENT = 8  # runs that a call may go on with: caches that are used in turn


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
    counted: Tensor | None = None  # batch, rows: False for padding; of that run
    calls: dict[str, int] = field(default_factory=dict)  # how many, by part
    layers: set[tuple[str, int]] = field(default_factory=set)  # that have been called


class InputsOfThread(threading.local):
    """What the stacks were called with last, in this thread: the model may run in several at once."""

    def __init__(self) -> None:
        """No stack was called yet."""
        self.inputs: dict[str, StackInputs] = {}


@dataclass(frozen=True)
class ModulePlace:
    """Where a module of attention is in the model."""

    path: str  # of the stack that it is in
    stack: str  # the name of that stack
    part: str  # the name of the part that its calls belong to
    cross: bool  # whether its keys are those of another text


class Recorder:
    """Visits the calls of one model; their statistics come to be in `seen`."""

    def __init__(
        self,
        paths: Mapping[nn.Module, str],
        seen: Recording,
        free: int | None = None,
    ) -> None:
        """For the modules of a model by their paths, or for none if the model is not known."""
        self.seen, self.queue, self.free = seen, seen.queue, free
        self.paths = paths
        self.asks_for_special = "special" in seen.wanted.names
        self.stacks: dict[PreTrainedModel, str] = {
            module: path
            for module, path in self.paths.items()
            if isinstance(module, PreTrainedModel)
        }
        self.local = InputsOfThread()
        self.ran: set[str] = set()  # stacks that were called
        self.recorded: set[str] = set()  # stacks whose attention was
        self.places: dict[nn.Module, ModulePlace] = {}  # of modules that were called
        self.layer_counts = {
            path: getattr(stack.config, "num_hidden_layers", None)
            for stack, path in self.stacks.items()
        }

    @property
    def inputs(self) -> dict[str, StackInputs]:
        """What the stacks were called with last, in this thread."""
        return self.local.inputs

    def _stack_around(self, module: nn.Module) -> str:
        """The path of the innermost stack that a module is in."""
        path = self.paths.get(module, "").lower() + "."
        around = [
            stack
            for stack in self.stacks.values()
            if not stack or path.startswith(stack.lower() + ".")
        ]
        return max(around, key=len, default="")

    def _place_of(self, module: nn.Module) -> ModulePlace:
        """Where a module is: looked up once."""
        path = self._stack_around(module)
        stack = path.rpartition(".")[2] or "model"
        own_path = self.paths.get(module, "").lower()
        cross = CROSS_PATH.search(own_path) is not None or bool(
            getattr(module, "is_cross_attention", False)
        )
        place = ModulePlace(path, stack, "cross" if cross else stack, cross)
        if (
            module in self.paths
        ):  # others may outlive their model, if they were held here
            self.places[module] = place
        return place

    def unseen(self) -> tuple[str, ...]:
        """The stacks that ran and have attention of their own, none of which came by here."""
        missing = self.ran - self.recorded
        if not missing:
            return ()
        not_called = self.paths.keys() - self.places.keys()
        with_attention = {
            self._stack_around(module) for module in attention_modules(not_called)
        }
        paths = sorted(missing & with_attention)
        return tuple(path.rpartition(".")[2] or "model" for path in paths)

    def before(
        self, stack: PreTrainedModel, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Called before a stack runs: which tokens, which padding, which cache."""
        arguments = dict(zip(_parameters_of(stack), args, strict=False)) | kwargs
        self._refuse_inputs(stack, arguments)
        cache = arguments.get("past_key_values")
        path = self.stacks[stack]
        with self.queue.lock:
            self.ran.add(path)
            self.queue.finish_launched()
            self.queue.finish_unless_kept(path, cache)
        past = 0
        if cache is not None and hasattr(cache, "get_seq_length"):
            past = int(cache.get_seq_length())
        padding = _padding_in(arguments.get("attention_mask"))
        self.inputs[path] = StackInputs(
            tokens=_of_two_axes(arguments.get("input_ids")),
            padding=None if padding is None else padding.bool(),
            encoder_padding=_booleans(arguments.get("encoder_attention_mask")),
            cache=cache,
            past=past,
            moved=self._texts_moved(cache, past),
        )

    def _refuse_inputs(
        self, stack: PreTrainedModel, arguments: Mapping[str, Any]
    ) -> None:
        config = stack.config
        if arguments.get("output_attentions") or getattr(
            config, "output_attentions", False
        ):
            raise InputError(
                "output_attentions=True stores every pattern, and a watched model does not: expected one "
                "of them"
            )
        if (
            getattr(config, "num_hidden_layers", None)
            != self.layer_counts[self.stacks[stack]]
        ):
            raise InputError(
                "the model runs with fewer layers (assistant_early_exit), which is not known here: give "
                "another model as the assistant"
            )

    def _texts_moved(self, cache: Any, past: int) -> bool:
        """Whether a cache that a run was to go on with holds other keys than after its last call."""
        if not self.asks_for_special:
            return False
        with self.queue.lock:
            for part in self.seen.computed.values():
                for run in part.runs[-RECENT:]:
                    goes_on = run.cache and run.cache() is cache and past == run.end
                    if goes_on and run.held and not run.held.same(cache):
                        return True
        return False

    def record(self, call: AttentionCall) -> None:
        """Visit a call: its statistics are added now, or later if it is a decode step."""
        if call.from_first_key:
            call = call.to_last_key()
        module = call.module
        place = self.places.get(module) or self._place_of(module)
        inputs = self.local.inputs.get(place.path)
        if inputs is None:
            inputs = self.local.inputs[place.path] = StackInputs()
        with self.queue.lock:
            self.recorded.add(place.path)
            run = inputs.run or self._begin_run(inputs, place.stack, call)
            index = self._layer_of(inputs, place.part, call)
            part = self._part_of(place.part, run)
            if self.asks_for_special and len(inputs.layers) == 1:
                run.held = HeldKeys.of(inputs.cache, index)
            rows = call.queries.shape[2]
            if rows == 1 and inputs.past and not place.cross:
                held = growing_keys(inputs.cache, index, call)
                if held is not None:
                    self.queue.add_step(
                        *(place.path, part, run, index, inputs.cache),
                        *(call, held, inputs.counted),
                    )
                    return
            self.queue.finish_steps()
            attention = _attention(call, run, place.cross, inputs)
            key_run = self._run_of_encoder() if place.cross else run
            self.queue.compute(part, run, index, attention, key_run, rows)
            if len(inputs.layers) == self.layer_counts.get(place.path):
                self.queue.finish_launched()

    def _begin_run(self, inputs: StackInputs, stack: str, call: AttentionCall) -> Run:
        """The run of the first call of a stack, and of those after it."""
        batch, _, rows, _ = call.queries.shape
        part = self.seen.computed.get(stack)
        inputs.run = run = self._begin(inputs, part, batch, rows)
        if run.padding is not None:
            inputs.counted = run.padding[:, run.end - rows : run.end]
        if rows > 1:
            config = getattr(call.module, "config", None)
            layers = int(getattr(config, "num_hidden_layers", 1) or 1)
            check_memory(call, layers, self.seen, self.free)
        return run

    def _layer_of(self, inputs: StackInputs, name: str, call: AttentionCall) -> int:
        """The layer of a call: the number that its module has, or else that of the call."""
        order = inputs.calls.get(name, 0)
        inputs.calls[name] = order + 1
        layer_index = call.layer_index
        index = order if layer_index is None else layer_index
        if self.stacks and (name, index) in inputs.layers:
            raise InputError(
                f"{type(call.module).__name__} calls its attention more than once a layer, which is not "
                "known here"
            )
        inputs.layers.add((name, index))
        return index

    def _part_of(self, name: str, run: Run) -> RecordedStack:
        part = self.seen.computed.get(name)
        if part is None:
            part = RecordedStack(
                name, self.seen.wanted, self.seen.keep, self.seen.storage
            )
            self.seen.computed[name] = part
        if part.at(run) < 0:
            self.queue.finish()
            part.open(run)
        return part

    def _begin(
        self, inputs: StackInputs, part: RecordedStack | None, batch: int, rows: int
    ) -> Run:
        """The run that a call belongs to: the last one, if it goes on with the same cache, else a new one."""
        end = inputs.past + rows
        run = None if part is None else _run_with_cache(part, inputs.cache)
        goes_on = run is not None and run.batch == batch and 0 < inputs.past <= run.end
        if run is None or not goes_on:
            cache = None if inputs.cache is None else weakref.ref(inputs.cache)
            run = Run(batch, inputs.past, end, cache)
        else:
            if inputs.moved:
                run.tokens = None  # which token a key is of is not known any more
            if inputs.past < run.end:
                self._crop(run, inputs, end)
            run.end = end
        padding = inputs.padding
        run.padding = None
        if padding is not None and padding.shape[1] == end:
            # Asked once for all layers; not for each of many decode steps.
            run.padding = padding if rows == 1 else unless_all(padding)
        tokens = inputs.tokens
        if tokens is None or tokens.shape[1] != rows:
            run.tokens = None
        elif inputs.past == 0:
            run.tokens = tokens
        elif run.tokens is not None:
            before = run.tokens[:, : inputs.past]
            run.tokens = torch.cat([before, tokens], dim=1)
        return run

    def _crop(self, run: Run, inputs: StackInputs, end: int) -> None:
        """Take back the rows that a run has behind the keys that its cache holds."""
        padding = inputs.padding
        if padding is not None and padding.shape[1] > end:
            raise InputError(
                "the cache holds fewer keys than the mask, since it has dropped some, which is "
                "not known here"
            )
        if self.seen.keep != "rows" or self.seen.wanted.asks(OF_KEYS):
            raise InputError(
                "the cache was cropped (assisted decoding), and rows that count no more cannot be taken "
                "out of running means or received weights: expected keep='rows' and statistics of rows"
            )
        chosen = self.queue.chosen_rows
        if chosen is not None and not chosen.positions:
            raise InputError(
                "the cache was cropped (assisted decoding), and which rows are the last ones is not known "
                "any more: expected weights=rows([...]) with positions"
            )
        for part in self.seen.computed.values():
            at = part.at(run)
            if at >= 0:
                for layers in part.layers.values():
                    layers[at].back_to(inputs.past, run.start)

    def _run_of_encoder(self) -> Run | None:
        """The last run of the encoder, of this thread if there is one."""
        part = self.seen.computed.get("encoder")
        if part is None or not part.runs:
            return None
        thread = threading.get_ident()
        of_thread = [run for run in part.runs if run.thread == thread]
        return (of_thread or part.runs)[-1]


def _parameters_of(stack: PreTrainedModel) -> tuple[str, ...]:
    """The names of the arguments that a stack takes by their order."""
    function = getattr(stack.forward, "__func__", None)
    if function is None:  # one that was put in the place of the method
        return _names_of_parameters(stack.forward)
    return _names_of_method(function)


def _names_of_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    )


@lru_cache(maxsize=64)
def _names_of_method(function: Callable[..., Any]) -> tuple[str, ...]:
    return _names_of_parameters(function)[1:]  # without self


def _run_with_cache(part: RecordedStack, cache: Any) -> Run | None:
    """The latest of the recent runs that used a cache."""
    if cache is None:
        return None
    for run in reversed(part.runs[-RECENT:]):
        if run.cache is not None and run.cache() is cache:
            return run
    return None


def _attention(
    call: AttentionCall, run: Run, cross: bool, inputs: StackInputs
) -> AttentionRows:
    """A call with what its run says of rows and keys."""
    start = run.end - call.queries.shape[2]
    return AttentionRows(
        call.queries,
        call.keys,
        call.scale,
        softcap=call.softcap,
        sinks=call.sinks,
        mask=call.mask,
        bias=call.bias,
        causal=call.causal,
        window=call.window,
        key_mask=call.key_mask,
        counted=inputs.counted,
        padding=inputs.encoder_padding if cross else run.padding,
        row_position=start,
        key_position=0 if cross else first_key_position(run.end, call.keys.shape[2]),
        cross=cross,
    )


def _padding_in(mask: Any) -> Tensor | None:
    """The padding (batch, positions) in the mask that a stack gets, or that it was made of."""
    plain = _of_two_axes(mask)
    if plain is not None:
        return plain
    masks = mask.values() if isinstance(mask, dict) else [mask]
    for made in masks:
        padding = padding_of(made)
        if padding is not None:
            return padding
    return None


def _of_two_axes(value: Any) -> Tensor | None:
    return value if isinstance(value, Tensor) and value.ndim == 2 else None


def _booleans(value: Any) -> Tensor | None:
    plain = _of_two_axes(value)
    return None if plain is None else plain.bool()
