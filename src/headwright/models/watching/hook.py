"""Watch a model of the transformers library: its attention runs as before, and statistics are computed beside it.

Each configuration of a watched model gets an attention implementation of its own name, registered with transformers.
It calls the implementation that was there before, with the mask that it would have had, so that the output is the same
to the last bit; then it computes statistics of the queries and keys under what that implementation makes of the mask.
Recording is keyed by the model, whatever thread it runs in. On exit the names are as they were.
"""

from __future__ import annotations

import inspect
import itertools
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DataParallel, DistributedDataParallel
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

from headwright.errors import InputError
from headwright.models.loading.attention_hook import HARMLESS, visible
from headwright.models.watching.names import DEFAULT, Wanted
from headwright.models.watching.recorded import KEEP, Seen
from headwright.models.watching.recorder import Recorder, StackInputs
from headwright.models.watching.statistics import Attention

NAME = "headwright"
# Arguments that models pass along and that change no score, beside those that an audit knows.
NO_MATTER = HARMLESS | {
    "num_items_in_batch", "encoder_hidden_states", "encoder_attention_mask", "head_mask", "past_key_values",
    "token_type_ids", "labels", "sliding_window", "dropout", "output_router_logits",
}  # fmt: skip
_lock = threading.RLock()
_numbers = itertools.count()


@dataclass(eq=False)
class Watched:
    """A configuration whose attention is watched, by one recorder or several."""

    original: str  # the implementation that is called
    kind: str  # the one that says what is made of a mask: the same, but for that of `seen`
    recorders: list[Recorder] = field(default_factory=list)
    local: threading.local = field(default_factory=threading.local)

    def note_mask(self, padding: Tensor | None, mask: Any) -> None:
        """The mask that was made last in this thread, and the padding that it was made of."""
        self.local.padding, self.local.mask_id = padding, id(mask)

    def padding_of(self, masks: set[int]) -> Tensor | None:
        """The padding that the last mask was made of, if the id of that mask is one of these."""
        if getattr(self.local, "mask_id", None) not in masks:
            return None
        padding: Tensor | None = self.local.padding
        return padding


class WatchedName(str):
    """The name of an implementation that is registered while a model is watched.

    A copy of it is the name of the implementation that was there before: copies of a watched model, in memory or in a
    file, are not watched.
    """

    original: str

    @classmethod
    def of(cls, name: str, original: str) -> WatchedName:
        """A name, and the one that copies have."""
        made = cls(name)
        made.original = original
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and files, which may be read where there is no Headwright."""
        return str, (self.original,)


class BeforeHook:
    """Tells the recorder what a stack is called with. A copy of it does nothing."""

    def __init__(self, recorder: Recorder) -> None:
        """For one recorder."""
        self.recorder = recorder

    def __call__(self, stack: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Called by torch."""
        self.recorder.before(stack, args, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and files: a function of the standard library that takes three arguments and does nothing."""
        return getattr, (nullcontext(), "__exit__")


class _Cache:
    """Stands for the cache where it is not known."""


_ANY_CACHE = _Cache()
_watched: dict[int, tuple[Any, str, Watched]] = {}  # by the configuration's id: it, the name it had, and who watches


@contextmanager
def watching(
    model: Any, wanted: Wanted, keep: str, special: Sequence[int] | None, keys: Sequence[int], memory: int | None
) -> Iterator[Seen]:
    """`watch`, with the statistics as one thing."""
    if keep not in KEEP:
        raise InputError(f"keep = {keep}: expected one of {', '.join(KEEP)}")
    model = unwrapped(model)
    _check_model(model)
    ids = _special(model) if special is None else special
    recorder = Recorder(model, Seen(wanted, keep, _main(model)), ids, keys, memory, _padding_made)
    with ExitStack() as undo:
        undo.callback(_let_go, recorder)
        undo.callback(recorder.finish)
        for stack in recorder.stacks:
            undo.callback(stack.register_forward_pre_hook(BeforeHook(recorder), with_kwargs=True).remove)
        configs = {id(held): held for held in (getattr(module, "config", None) for module in model.modules())}
        for config in configs.values():
            if isinstance(getattr(config, "_attn_implementation", None), str):
                _watch(config, recorder)
                undo.callback(_unwatch, config, recorder)
        yield recorder.seen
    if recorder.seen.unseen:
        names = " and ".join(recorder.seen.unseen)
        warnings.warn(f"the attention of {names} of {type(model).__name__} was not seen, since it is computed in a way "
                      "of its own: the summary is of the other parts alone", stacklevel=4)  # fmt: skip


def _let_go(recorder: Recorder) -> None:
    """So that `seen` does not hold the model."""
    recorder.seen.finish = lambda: None
    recorder.seen.exclusive = nullcontext()
    recorder.seen.unseen = recorder.unseen()


def unwrapped(model: Any) -> Any:
    """The model inside of what torch.compile, DistributedDataParallel and DataParallel make of it."""
    while True:
        if type(model).__name__ == "OptimizedModule":
            model = model._orig_mod
        elif isinstance(model, DataParallel) and len(model.device_ids) > 1:
            raise InputError("the model is a DataParallel on several GPUs, which runs copies of the model: watch it in "
                             "DistributedDataParallel, or on one GPU")  # fmt: skip
        elif isinstance(model, DistributedDataParallel | DataParallel):
            model = model.module
        else:
            return model


def _check_model(model: Any) -> None:
    if not isinstance(model, PreTrainedModel):
        if callable(getattr(model, "get_base_model", None)):
            raise InputError(f"the model is {type(model).__name__}, which holds a model of the transformers library: "
                             "watch(model.get_base_model()), and run the model as before")  # fmt: skip
        raise InputError(f"the model is {type(model).__name__}: expected a model of the transformers library, alone or "
                         "in torch.compile, DistributedDataParallel or DataParallel")  # fmt: skip
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
            watched = Watched(original, kind)
            name = WatchedName.of(f"{NAME}-{next(_numbers)}-{original}", original)
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


def _padding_made(config: Any, masks: set[int]) -> Tensor | None:
    """The padding that the last mask was made of, if that mask is one of these."""
    _, _, watched = _watched.get(id(config), (None, "", None))
    return None if watched is None else watched.padding_of(masks)


def _mask(watched: Watched, **given: Any) -> Any:
    """The mask of the implementation that was there before; and its padding is noted."""
    if "flash" in watched.original:
        _check_flash(**given)
    made = ALL_MASK_ATTENTION_FUNCTIONS[watched.original](**given)
    watched.note_mask(given.get("attention_mask"), made)
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
        with torch.no_grad(), torch.autocast(query.device.type, enabled=False):
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
