"""Watch a model of the transformers library: its attention runs as before, and statistics are computed beside it.

Each configuration of a watched model gets an attention implementation of its own name, registered with transformers.
It calls the implementation that was there before, with the mask that it would have had, so that the output is the same
to the last bit; then it computes statistics of the queries and keys under what that implementation makes of the mask.
Recording is keyed by the model, whatever thread it runs in. On exit the names are as they were.

The rows of decode steps are computed later, many at once: a step keeps its query, and the keys of the last step hold
those of all steps before it. That is so as long as the cache only grows, which is checked before each step.
"""

from __future__ import annotations

import inspect
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.cache_utils import DynamicLayer
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

from headwright.errors import InputError
from headwright.models.loading.attention_hook import HARMLESS, visible
from headwright.models.watching.names import DEFAULT, RECEIVED, TOP, Wanted
from headwright.models.watching.recorded import KEEP, Part, Run, Seen
from headwright.models.watching.statistics import Attention, Step, statistics_of, steps_together

NAME = "headwright"
CROSS = ("encoder_attn", "crossattention", "encdecattention", "cross_attn", "encoder_attention", "cross_attention")
# Arguments that models pass along and that change no score, beside those that an audit knows.
NO_MATTER = HARMLESS | {
    "num_items_in_batch", "encoder_hidden_states", "encoder_attention_mask", "head_mask", "past_key_values",
    "token_type_ids", "labels", "sliding_window", "dropout", "output_router_logits",
}  # fmt: skip
RECENT = 8  # runs that a call may go on with: caches that are used in turn
MOST_STEPS = 128  # decode steps of a layer whose statistics are computed at once
_lock = threading.RLock()
_numbers = itertools.count()


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


@dataclass(eq=False)
class Watched:
    """A configuration whose attention is watched, by one recorder or several."""

    original: str  # the implementation that is called
    kind: str  # the one that says what is made of a mask: the same, but for that of `seen`
    recorders: list[Recorder] = field(default_factory=list)
    padding: Tensor | None = None  # of the mask made last
    made: int = 0  # the id of that mask


class _Cache:
    """Stands for the cache where it is not known."""


_ANY_CACHE = _Cache()
_watched: dict[int, tuple[Any, str, Watched]] = {}  # by the configuration's id: it, the name it had, and who watches


class Recorder:
    """Computes the statistics of each call, and keeps them in `seen`."""

    def __init__(
        self, model: nn.Module, seen: Seen, special: Sequence[int] = (), keys: Sequence[int] = (),
        free: int | None = None,
    ) -> None:  # fmt: skip
        """For a model, or a module without stacks if the model is not known."""
        self.seen, self.special, self.keys, self.free = seen, tuple(special), tuple(keys), free
        self.stacks = {module: name for name, module in model.named_modules() if isinstance(module, PreTrainedModel)}
        self.inputs: dict[str, StackInputs] = {}
        self.owner: dict[nn.Module, str] = {}
        self.cross: dict[nn.Module, bool] = {}
        self.steps: dict[tuple[str, int], Steps] = {}  # by part and layer
        self.signatures = {stack: inspect.signature(stack.forward) for stack in self.stacks}
        self.layers = {stack: getattr(stack.config, "num_hidden_layers", None) for stack in self.stacks}
        self.lock = threading.RLock()
        seen.finish = self.finish
        for path, module in model.named_modules():
            name = path.lower()
            inside = [path for path in self.stacks.values() if not path or (name + ".").startswith(path.lower() + ".")]
            self.owner[module] = max(inside, key=len, default="")
            self.cross[module] = any(word in name for word in CROSS)

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
        if not all(steps.go_on(cache) for steps in self.steps.values() if steps.stack == path):
            self.finish()
        past = 0 if cache is None or not hasattr(cache, "get_seq_length") else int(cache.get_seq_length())
        if not (isinstance(mask, Tensor) and mask.ndim == 2):  # it was made before, of a mask of two dimensions
            held = _watched.get(id(stack.config))
            ours = {id(each) for each in (mask.values() if isinstance(mask, dict) else [mask])}
            mask = held[2].padding if held is not None and held[2].made in ours else None
        tokens, behind = given.get("input_ids"), given.get("encoder_attention_mask")
        moved = False
        if "special" in self.seen.wanted.names:
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
            part = self.seen.computed.setdefault(name, Part(name, self.seen.wanted, self.seen.keep))
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
        return part.runs[-1] if part is not None and part.runs else None

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


@contextmanager
def watching(
    model: Any, wanted: Wanted, keep: str, special: Sequence[int] | None, keys: Sequence[int], memory: int | None
) -> Iterator[Seen]:
    """`watch`, with the statistics as one thing."""
    if keep not in KEEP:
        raise InputError(f"keep = {keep}: expected one of {', '.join(KEEP)}")
    _check_model(model)
    ids = _special(model) if special is None else special
    recorder = Recorder(model, Seen(wanted, keep, _main(model)), ids, keys, memory)
    with ExitStack() as undo:
        undo.callback(setattr, recorder.seen, "finish", lambda: None)  # so that `seen` does not hold the model
        undo.callback(recorder.finish)
        for stack in recorder.stacks:
            undo.callback(stack.register_forward_pre_hook(recorder.before, with_kwargs=True).remove)
        configs = {id(held): held for held in (getattr(module, "config", None) for module in model.modules())}
        for config in configs.values():
            if isinstance(getattr(config, "_attn_implementation", None), str):
                _watch(config, recorder)
                undo.callback(_unwatch, config, recorder)
        yield recorder.seen


def _check_model(model: Any) -> None:
    if not isinstance(model, PreTrainedModel):
        what = "a compiled module" if type(model).__name__ == "OptimizedModule" else type(model).__name__
        raise InputError(f"the model is {what}: expected a model of the transformers library, as it is before it is "
                         "compiled or wrapped")  # fmt: skip
    family = type(model).__name__
    for module in model.modules():
        if getattr(module, "_compiled_call_impl", None) is not None or type(module).__name__ == "OptimizedModule":
            raise InputError(f"{family} holds a compiled module, which does not call its attention: watch the model "
                             "before it is compiled")  # fmt: skip
        if type(module).__module__.startswith(("torch.ao.nn.quantized", "bitsandbytes", "torchao")):
            raise InputError(f"{family} holds a quantised module ({type(module).__name__}): expected floating-point "
                             "weights")  # fmt: skip
    method = str(getattr(getattr(model.config, "quantization_config", None), "quant_method", "")).lower()
    wide = all(each.is_floating_point() and each.element_size() > 1 for each in model.parameters())
    read_out = "gguf" in method and wide  # the numbers of a GGUF file were read out of their quantised blocks
    if not read_out and (getattr(model, "is_quantized", False) or getattr(model, "hf_quantizer", None) or not wide):
        raise InputError(f"{family} is quantised: expected floating-point weights")
    if not model._can_set_attn_implementation() or getattr(model.config, "reorder_and_upcast_attn", False):
        raise InputError(f"{family} computes its attention in a way of its own, which transformers cannot exchange")


def _main(model: Any) -> str | None:
    """The name of the part that reads text, of a model with several parts; None where none is the main one."""
    if model.config.is_encoder_decoder:
        return None
    decoder = model.get_decoder() if hasattr(model, "get_decoder") else None
    return next(
        (name.rpartition(".")[2] or "model" for name, module in model.named_modules() if module is decoder), None
    )


def _special(model: Any) -> list[int]:
    found: set[int] = set()
    for config in (model.config, getattr(model, "generation_config", None)):
        for name in ("bos_token_id", "eos_token_id", "pad_token_id", "cls_token_id", "sep_token_id"):
            number = getattr(config, name, None)
            found |= set(number if isinstance(number, list | tuple) else [] if number is None else [number])
    return sorted(found)


def _watch(config: Any, recorder: Recorder) -> None:
    with _lock:
        if id(config) not in _watched:
            original = config._attn_implementation
            kind = _stands(config).kind if original == NAME else original
            watched, name = Watched(original, kind), f"{NAME}-{next(_numbers)}-{original}"
            AttentionInterface.register(name, partial(_attention, watched))
            if original == "eager" or original in ALL_MASK_ATTENTION_FUNCTIONS:
                AttentionMaskInterface.register(name, partial(_mask, watched))
            _watched[id(config)] = (config, name, watched)
            config._attn_implementation_internal = name
        _watched[id(config)][2].recorders.append(recorder)


def _unwatch(config: Any, recorder: Recorder) -> None:
    with _lock:
        _, name, watched = _watched[id(config)]
        watched.recorders.remove(recorder)
        if not watched.recorders:
            config._attn_implementation_internal = watched.original
            AttentionInterface._global_mapping.pop(name)
            AttentionMaskInterface._global_mapping.pop(name, None)
            del _watched[id(config)]


def _mask(watched: Watched, **given: Any) -> Any:
    """The mask of the implementation that was there before; and its padding is noted."""
    if "flash" in watched.original:
        _check_flash(**given)
    made = ALL_MASK_ATTENTION_FUNCTIONS[watched.original](**given)
    watched.padding, watched.made = given.get("attention_mask"), id(made)
    return made


def _check_flash(
    *, q_length: int, kv_length: int, mask_function: Callable[..., Any], q_offset: Any = 0, kv_offset: Any = 0,
    device: Any = "cpu", **_: object,
) -> None:  # fmt: skip
    """Flash attention reads no mask function: it is causal or full, with a window. Anything else is refused."""
    keys = torch.arange(kv_length, device=device) + int(kv_offset)
    nought = torch.zeros((), dtype=torch.long, device=device)
    allowed = partial(mask_function, nought, nought)
    rows = torch.arange(q_length, device=device) + int(q_offset)

    def seen(part: Tensor) -> Tensor:
        found: Tensor = allowed(part[:, None], keys[None])
        return found.expand(len(part), kv_length)

    last = seen(rows[-1:])[0]
    causal = q_length == 1 or not bool(seen(rows[:1])[0, -1])
    reach = int(last.sum())
    window = None if reach == kv_length else reach
    for start in range(0, q_length, 512):
        part = rows[start : start + 512]
        if not torch.equal(seen(part), visible(part, keys, causal, window)):
            raise InputError("flash attention does not read the model's mask (packed, chunked or with a prefix), and "
                             "statistics would be of another one: load the model with attn_implementation='sdpa'"
                             )  # fmt: skip


def _attention(
    watched: Watched, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Any, **given: Any
) -> Any:
    """The attention that was there before; then its statistics, for those who watch."""
    if torch.compiler.is_compiling():
        raise InputError("the model is being compiled, and then it cannot be watched: generate(disable_compile=True), "
                         "or a cache that grows")  # fmt: skip
    result = _as_before(watched.original, module, query, key, value, attention_mask, given)
    if torch._C._current_graph_task_id() == -1:  # else it is computed again for the gradient (checkpointing)
        with torch.no_grad():
            call = described(watched.kind, module, query.detach(), key.detach(), attention_mask, given)
            for recorder in watched.recorders:
                recorder.record(module, call)
    return result


def _as_before(
    original: str, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Any, given: dict[str, Any]
) -> Any:
    """What the module would have called: its own eager attention, or an implementation that is registered."""
    family: Any = type(module)
    registry, eager = _around(family)
    function = registry.get_interface(original, eager)
    if "flash" not in original:
        return function(module, query, key, value, mask, **given)
    config: Any = module.config  # flash attention asks it for its kernel
    name = config._attn_implementation
    config._attn_implementation_internal = original
    try:
        return function(module, query, key, value, mask, **given)
    finally:
        config._attn_implementation_internal = name


@cache
def _around(family: Any) -> tuple[Any, Any]:
    """The registry of implementations, and the eager one, in the module of a class."""
    around = inspect.unwrap(family.forward).__globals__
    return around["ALL_ATTENTION_FUNCTIONS"], around.get("eager_attention_forward")


def described(
    original: str, module: nn.Module, query: Tensor, key: Tensor, mask: Any, given: dict[str, Any]
) -> Attention:
    """Which scores an implementation makes of what it was given; refused by name if that is not known."""
    family = type(module).__name__
    known = {"scaling", "softcap", "s_aux", "position_bias", "is_causal"}
    unknown = sorted(name for name, value in given.items() if value is not None and name not in known | NO_MATTER)
    if unknown:
        raise InputError(f"{family} passes {', '.join(unknown)} to its attention, which may change scores in a way "
                         "that is not known here")  # fmt: skip
    causal = given.get("is_causal")
    causal = bool(getattr(module, "is_causal", True) if causal is None else causal)
    rows, window, key_mask = query.shape[2], None, None
    if (isinstance(mask, Tensor) and mask.ndim == 4) or (original == "eager" and mask is None):
        causal = False
    elif original == "sdpa" and mask is None:
        causal = causal and rows > 1
        key = (
            key[:, :, :rows] if causal else key
        )  # an empty static cache: torch's causal mask is that of the first keys
    elif "flash" in original and (mask is None or (isinstance(mask, Tensor) and mask.ndim == 2)):
        window = given.get("sliding_window")
        key_mask = None if mask is None else mask.bool()
        mask, causal = None, causal and rows > 1
        if key_mask is not None and key_mask.shape[1] != key.shape[2]:
            raise InputError(f"{family} gives {original} a mask of {key_mask.shape[1]} keys for {key.shape[2]} (a "
                             "static cache), which is not known here: expected a cache that grows")  # fmt: skip
    else:
        raise InputError(f"{family} uses the attention {original} with a mask of {type(mask).__name__}, which is not "
                         "known here: load the model with attn_implementation='sdpa' or 'eager'")  # fmt: skip
    scale, softcap = given.get("scaling"), given.get("softcap")
    return Attention(
        query, key, query.shape[3] ** -0.5 if scale is None else float(scale), softcap=softcap,
        sinks=None if given.get("s_aux") is None else given["s_aux"].detach(), mask=mask, causal=causal, window=window,
        bias=None if given.get("position_bias") is None else given["position_bias"].detach(), key_mask=key_mask,
    )  # fmt: skip


_standing: dict[int, tuple[Any, Watched]] = {}  # by the id of a configuration that names this implementation


def standing(model: Any) -> Seen:
    """What `seen` gives."""
    return _stands(model.config).recorders[0].seen


def _stands(config: Any) -> Watched:
    with _lock:
        held, watched = _standing.get(id(config), (None, None))
        if held is None or watched is None or held() is not config:
            if config._attn_implementation != NAME or config.is_encoder_decoder:
                raise InputError(f"the model was not loaded with attn_implementation={NAME!r}, or has an encoder and a "
                                 "decoder: use watch(model)")  # fmt: skip
            plain = getattr(config, "attn_logit_softcapping", None) is None and config.model_type != "gpt_oss"
            kind = "sdpa" if plain else "eager"
            watched = Watched(kind, kind)
            watched.recorders.append(Recorder(nn.Module(), Seen(Wanted.of(DEFAULT), "both", None)))
            _standing[id(config)] = (weakref.ref(config), watched)
        return watched


def _standing_mask(**given: Any) -> Any:
    watched = _stands(given["config"])
    inputs = StackInputs(padding=given.get("attention_mask"), cache=_ANY_CACHE, past=int(given.get("q_offset", 0)))
    watched.recorders[0].inputs[""] = inputs
    return _mask(watched, **given)


def _standing_attention(module: nn.Module, *args: Any, **given: Any) -> Any:
    return _attention(_stands(module.config), module, *args, **given)


AttentionInterface.register(NAME, _standing_attention)
AttentionMaskInterface.register(NAME, _standing_mask)
