"""Watch any PyTorch model: which modules can be watched, and from when until when."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DataParallel, DistributedDataParallel

from headwright.errors import InputError
from headwright.models.compiled_calls import compiled_runs, run_hooks
from headwright.models.packaged_kernels import packaged_kernels
from headwright.statistics.request import StatisticsRequest
from headwright.watching.module_recorder import ModuleRecorder
from headwright.watching.recorded import KEEP, Recording
from headwright.watching.rows_request import RowsRequest
from headwright.watching.statistics_queue import KeySets, StatisticsQueue


class ModuleHook:
    """A hook of a module that calls a function. A copy of it does nothing."""

    def __init__(self, function: Callable[..., None]) -> None:
        """For one function."""
        self.function = function

    def __call__(self, *arguments: Any) -> None:
        """Called by torch: the hook returns nothing, and so changes nothing."""
        self.function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and files: a function of the standard library that takes three arguments and does nothing."""
        return getattr, (nullcontext(), "__exit__")


@contextmanager
def watching_module(
    model: nn.Module,
    wanted: StatisticsRequest,
    keep: str,
    special: Sequence[int] | None,
    keys: Sequence[int],
    memory: int | None,
    weights: RowsRequest | None = None,
    given: Any = None,
) -> Iterator[Recording]:
    """`watch` for a module that is no model of transformers; `given` is what torch.compile made of it, if so."""
    if keep not in KEEP:
        raise InputError(f"keep = {keep}: expected one of {', '.join(KEEP)}")
    _check_module(model)
    if "special" in wanted.names or special is not None:
        raise InputError(
            "the tokens that a module reads are not known: expected other statistics than special"
        )
    queue = StatisticsQueue(wanted, KeySets((), tuple(keys)), weights)
    seen = Recording(queue, keep, None)
    recorder = ModuleRecorder(model, seen, memory)
    seen.of_modules = len(recorder.attention)
    with ExitStack() as undo:
        undo.callback(queue.close)
        undo.enter_context(packaged_kernels())
        undo.enter_context(run_hooks(model, recorder.before, recorder.after))
        compiled = given if type(given).__name__ == "OptimizedModule" else model
        undo.enter_context(compiled_runs(compiled, recorder.before_compiled))
        recorder.watch_this_thread()
        undo.callback(recorder.leave_this_thread)
        try:
            yield seen
        finally:
            ran = recorder.ran or recorder.compiled_ran
            if ran or recorder.callers:
                seen.unseen = recorder.unseen()
    why = _why_unseen(recorder)
    if seen.unseen:
        warnings.warn(f"{seen.unseen_phrase()}: {why}", stacklevel=4)
    elif ran and not recorder.callers:
        warnings.warn(
            f"no attention call was seen in {type(model).__name__}: {why}",
            stacklevel=4,
        )


def _why_unseen(recorder: ModuleRecorder) -> str:
    """Why calls of a model that ran may not have been seen."""
    why = "a call of scaled_dot_product_attention is seen, matrices that are multiplied are not"
    may_be_lost = recorder.compiled_ran or recorder.mode.unplaced
    if recorder.callers or not may_be_lost:
        return why
    return (
        f"{why}; or torch {torch.__version__} has compiled the model without what tells of its calls: "
        'run it uncompiled in the block, with torch.compiler.set_stance("force_eager")'
    )


def unwrapped(model: Any) -> Any:
    """The model inside of what torch.compile, DistributedDataParallel and DataParallel make of it."""
    while True:
        if type(model).__name__ == "OptimizedModule":
            model = model._orig_mod
        elif isinstance(model, DataParallel) and len(model.device_ids) > 1:
            raise InputError(
                "the model is a DataParallel on several GPUs, which runs copies of the model: watch it in "
                "DistributedDataParallel, or on one GPU"
            )
        elif isinstance(model, DistributedDataParallel | DataParallel):
            model = model.module
        else:
            return model


def is_of_transformers(model: Any) -> bool:
    """Whether it is a model of the transformers library, which need not be installed."""
    transformers = sys.modules.get("transformers")
    if transformers is None:
        return False
    return isinstance(model, transformers.PreTrainedModel)


def _check_module(model: Any) -> None:
    """Refuse by name what cannot be watched."""
    kind = type(model).__name__
    if not isinstance(model, nn.Module):
        raise InputError(f"the model is {kind}: expected a torch.nn.Module")
    if callable(getattr(model, "get_base_model", None)):
        raise InputError(
            f"the model is {kind}, which holds a model of the transformers library: "
            "watch(model.get_base_model()), and run the model as before"
        )
    if isinstance(model, torch.jit.ScriptModule):
        raise InputError(
            f"the model is {kind}, whose code is not Python: watch the module that was scripted"
        )
