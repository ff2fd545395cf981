"""Watch a model of the transformers library: who visits its attention calls, and from when until when.

A recorder visits the calls, whatever thread the model runs in, and learns from hooks on
stacks of layers what they are called with. In the end the model is as it was.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils.weak import WeakIdKeyDictionary
from transformers import AttentionInterface, AttentionMaskInterface

from headwright.errors import InputError
from headwright.models.compiled_calls import run_uncompiled
from headwright.models.module_paths import paths_of_modules
from headwright.models.transformers_calls import (
    ObservedAttention,
    kernels_behind,
    transformers_calls,
)
from headwright.statistics.request import StatisticsRequest
from headwright.watching.module_hook import ModuleHook
from headwright.watching.names import DEFAULT
from headwright.watching.recorded import KEEP, Recording
from headwright.watching.recorder import Recorder, StackInputs
from headwright.watching.rows_request import RowsRequest
from headwright.watching.statistics_queue import KeySets, StatisticsQueue

NAME = "headwright"  # of the implementation that `seen` is about
QUANTISED_MODULES = ("torch.ao.nn.quantized", "bitsandbytes", "torchao")
SPECIAL_TOKENS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "cls_token_id",
    "sep_token_id",
)


@contextmanager
def watching(
    model: Any,
    wanted: StatisticsRequest,
    keep: str,
    special: Sequence[int] | None,
    keys: Sequence[int],
    memory: int | None,
    weights: RowsRequest | None = None,
    given: Any = None,
) -> Iterator[Recording]:
    """`watch`, with the statistics as one thing; `given` is what torch.compile made of the model, if so."""
    if keep not in KEEP:
        raise InputError(f"keep = {keep}: expected one of {', '.join(KEEP)}")
    paths = paths_of_modules(model)
    _check_model(model, paths)
    token_ids = _special_tokens(model) if special is None else special
    queue = StatisticsQueue(wanted, KeySets(tuple(token_ids), tuple(keys)), weights)
    seen = Recording(queue, keep, _main_part(model, paths))
    recorder = Recorder(paths, seen, memory)
    with ExitStack() as undo:
        undo.callback(queue.close)
        if type(given).__name__ == "OptimizedModule":
            # Versions of torch differ in what they trace of a model whose attention is another one.
            undo.enter_context(run_uncompiled())
        before = ModuleHook(recorder.before)
        for stack in recorder.stacks:
            hook = stack.register_forward_pre_hook(before, with_kwargs=True)
            undo.callback(hook.remove)
        undo.enter_context(transformers_calls(paths, recorder.record))
        try:
            yield seen
        finally:
            seen.unseen = recorder.unseen()
    if seen.unseen:
        names = " and ".join(seen.unseen)
        warnings.warn(
            f"the attention of {names} of {type(model).__name__} was not seen, since it is computed in a way "
            "of its own: the summary is of the other parts alone",
            stacklevel=4,
        )


def _check_model(model: Any, paths: Mapping[nn.Module, str]) -> None:
    """Refuse by name what cannot be watched."""
    family = type(model).__name__
    for module in paths:
        if module._compiled_call_impl is not None:
            _refuse_compiled(family)
    for kind in {type(module) for module in paths}:
        if kind.__name__ == "OptimizedModule":
            _refuse_compiled(family)
        if kind.__module__.startswith(QUANTISED_MODULES):
            raise InputError(
                f"{family} holds a quantised module ({kind.__name__}): expected floating-point "
                "weights"
            )
    if _is_quantised(model, paths):
        raise InputError(f"{family} is quantised: expected floating-point weights")
    own_attention = getattr(model.config, "reorder_and_upcast_attn", False)
    if own_attention or not model._can_set_attn_implementation():
        raise InputError(
            f"{family} computes its attention in a way of its own, which transformers cannot exchange"
        )


def _refuse_compiled(family: str) -> None:
    raise InputError(
        f"{family} holds a compiled module, which does not call its attention: watch the model "
        "before it is compiled"
    )


def _is_quantised(model: Any, paths: Mapping[nn.Module, str]) -> bool:
    types: set[torch.dtype] = set()
    for module in paths:
        for parameter in module._parameters.values():
            if parameter is not None:
                types.add(parameter.dtype)
    if any(not dtype.is_floating_point or dtype.itemsize == 1 for dtype in types):
        return True
    # The numbers of a GGUF file were read out of their quantised blocks.
    config = getattr(model.config, "quantization_config", None)
    if "gguf" in str(getattr(config, "quant_method", "")).lower():
        return False
    return bool(
        getattr(model, "is_quantized", False) or getattr(model, "hf_quantizer", None)
    )


def _main_part(model: Any, paths: Mapping[nn.Module, str]) -> str | None:
    """The name of the part that reads text, of a model with several parts; None where none is the main one."""
    if model.config.is_encoder_decoder or not hasattr(model, "get_decoder"):
        return None
    path = paths.get(model.get_decoder())
    return None if path is None else path.rpartition(".")[2] or "model"


def _special_tokens(model: Any) -> list[int]:
    """The ids that the configurations give to special tokens."""
    token_ids: set[int] = set()
    for config in (model.config, getattr(model, "generation_config", None)):
        for name in SPECIAL_TOKENS:
            token_id = getattr(config, name, None)
            if isinstance(token_id, list | tuple):
                token_ids.update(token_id)
            elif token_id is not None:
                token_ids.add(token_id)
    return sorted(token_ids)


class _Cache:
    """Stands for the cache where it is not known."""


_ANY_CACHE = _Cache()
_lock = threading.Lock()


@dataclass(frozen=True, eq=False)
class StandingWatch:
    """What watches a model that was loaded with the implementation NAME."""

    observed: ObservedAttention
    recorder: Recorder


# By the configuration of the model.
_standing: WeakIdKeyDictionary = WeakIdKeyDictionary()


def standing(model: Any) -> Recording:
    """What `seen` gives."""
    return _standing_of(model.config).recorder.seen


def _standing_of(config: Any) -> StandingWatch:
    with _lock:
        watch: StandingWatch | None = _standing.get(config, None)  # type: ignore[no-untyped-call]
        if watch is None:
            if config._attn_implementation != NAME or config.is_encoder_decoder:
                raise InputError(
                    f"the model was not loaded with attn_implementation={NAME!r}, or has an encoder and a "
                    "decoder: use watch(model)"
                )
            queue = StatisticsQueue(StatisticsRequest.of(DEFAULT), KeySets())
            recorder = Recorder({}, Recording(queue, "both", None))
            kernel = _kernel_for(config)
            observed = ObservedAttention(kernel, kernel, [recorder.record])
            watch = _standing[config] = StandingWatch(observed, recorder)
        return watch


def _kernel_for(config: Any) -> str:
    """SDPA, unless it does not know what the model asks for: softcaps and sinks."""
    softcap = getattr(config, "attn_logit_softcapping", None)
    return "sdpa" if softcap is None and config.model_type != "gpt_oss" else "eager"


def _standing_kernel(config: Any) -> str:
    return _standing_of(config).observed.kernel


def _standing_mask(**arguments: Any) -> Any:
    watch = _standing_of(arguments["config"])
    watch.recorder.inputs[""] = StackInputs(
        padding=arguments.get("attention_mask"),
        cache=_ANY_CACHE,
        past=int(arguments.get("q_offset", 0)),
    )
    return watch.observed.mask(**arguments)


def _standing_attention(module: nn.Module, *tensors: Any, **arguments: Any) -> Any:
    watch = _standing_of(module.config)
    return watch.observed.attention(module, *tensors, **arguments)


AttentionInterface.register(NAME, _standing_attention)
AttentionMaskInterface.register(NAME, _standing_mask)
kernels_behind[NAME] = _standing_kernel
