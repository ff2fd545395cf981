"""The attention calls of a model of the transformers library.

Each configuration of an observed model gets an attention implementation of its own name,
registered with transformers. It calls the implementation that was there before, with the
mask that it would have had, so that the output is the same to the last bit; then visitors
get the call. Several may observe one model, and end in any order. In the end the names are
as they were.
"""

from __future__ import annotations

import inspect
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary, WeakTensorKeyDictionary
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

from headwright.errors import InputError
from headwright.models.attention_calls import CallVisitor, without_autocast
from headwright.models.kernel_arguments import describe_call, read_mask_rule
from headwright.models.module_paths import paths_of_modules

PREFIX = "headwright"  # of the names of implementations


@dataclass(eq=False)
class ObservedAttention:
    """The attention of one configuration: what computes it, and who visits its calls."""

    original: str  # the implementation that is called
    kernel: str  # what that computes with: the same, unless it calls another one
    visitors: list[CallVisitor] = field(default_factory=list)
    # What modules of a class would have called.
    functions: dict[type, Callable[..., Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Flash attention asks the configuration for its kernel."""
        self.is_flash = "flash" in self.original

    def attention(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Any,
        **arguments: Any,
    ) -> Any:
        """The attention that was there before; then the visitors."""
        if torch.compiler.is_compiling():
            raise InputError(
                "the model is being compiled, and then it cannot be watched: generate(disable_compile=True), "
                "or a cache that grows"
            )
        tensors = query, key, value, attention_mask
        if self.is_flash:
            result = call_kernel(self.original, module, tensors, arguments)
        else:
            result = self._function_of(module)(module, *tensors, **arguments)
        # Within a backward pass, a checkpointed layer is computed for a second time.
        in_backward_pass = torch._C._current_graph_task_id() != -1
        if in_backward_pass:
            return result
        device = query.device.type
        if torch.is_grad_enabled() or torch.is_autocast_enabled(device):
            with torch.no_grad(), without_autocast(device):
                self._visit(module, tensors, arguments, result[0])
        else:
            self._visit(module, tensors, arguments, result[0])
        return result

    def _function_of(self, module: nn.Module) -> Callable[..., Any]:
        """What the module would have called: looked up once for each class."""
        family = type(module)
        function = self.functions.get(family)
        if function is None:
            function = self.functions[family] = kernel_function(self.original, family)
        return function

    def _visit(
        self,
        module: nn.Module,
        tensors: tuple[Tensor, Tensor, Tensor, Any],
        arguments: dict[str, Any],
        output: Tensor,
    ) -> None:
        """Hand the call to the visitors."""
        output = output.detach().transpose(1, 2)
        call = describe_call(self.kernel, module, *tensors, arguments, output)
        for visit in tuple(self.visitors):
            visit(call)

    def mask(self, **arguments: Any) -> Any:
        """The mask that was there before; it is known of which padding it was made."""
        if "flash" in self.original:
            _check_flash(**arguments)
        mask = ALL_MASK_ATTENTION_FUNCTIONS[self.original](**arguments)
        padding = arguments.get("attention_mask")
        if isinstance(mask, Tensor) and isinstance(padding, Tensor):
            _padding_of_masks[mask] = padding
        return mask


class ImplementationName(str):
    """The name of an implementation that is registered while a model is observed.

    A copy of it is the name of the implementation that was there before: copies of an
    observed model, in memory or in a file, are not observed.
    """

    original: str

    @classmethod
    def of(cls, name: str, original: str) -> ImplementationName:
        """A name, and the one that copies have."""
        named = cls(name)
        named.original = original
        return named

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and files, which may be read where there is no Headwright."""
        return str, (self.original,)


_lock = threading.RLock()
_numbers = itertools.count()
# The observed configurations: by which name, and the attention of that name.
_observed: WeakIdKeyDictionary = WeakIdKeyDictionary()
# Of masks that live, the padding (batch, positions) that they were made of.
_padding_of_masks: WeakTensorKeyDictionary = WeakTensorKeyDictionary()
# Implementations that call another one, by name: which, is said by the configuration.
kernels_behind: dict[str, Callable[[Any], str]] = {}


@contextmanager
def transformers_calls(
    model: nn.Module | Iterable[nn.Module],
    visit: CallVisitor,
    implementation: str | None = None,
) -> Iterator[None]:
    """While it lasts, every call of attention in the model, or its modules, is visited, in any thread.

    Only parts of the model that use an implementation are visited, if it is given.
    """
    modules = paths_of_modules(model) if isinstance(model, nn.Module) else model
    with ExitStack() as undo:
        for config in _configurations(modules):
            if implementation in (None, config._attn_implementation):
                _observe(config, visit)
                undo.callback(_release, config, visit)
        yield


def padding_of(mask: Any) -> Tensor | None:
    """The padding (batch, positions) that an observed model has made a mask of."""
    if not isinstance(mask, Tensor):
        return None
    padding: Tensor | None = _padding_of_masks.get(mask, None)  # type: ignore[no-untyped-call]
    return padding


def _configurations(modules: Iterable[nn.Module]) -> list[Any]:
    """The configurations that name an implementation of attention, each once."""
    configs: dict[int, Any] = {}
    for module in modules:
        # To ask a module for what it does not have takes long, and there are many of them.
        config = module.__dict__.get("config")
        if config is None or id(config) in configs:
            continue
        if isinstance(getattr(config, "_attn_implementation", None), str):
            configs[id(config)] = config
    return list(configs.values())


def _observe(config: Any, visit: CallVisitor) -> None:
    with _lock:
        if config not in _observed:
            original = config._attn_implementation
            kernel_behind = kernels_behind.get(original)
            kernel = original if kernel_behind is None else kernel_behind(config)
            observed = ObservedAttention(original, kernel)
            name = ImplementationName.of(
                f"{PREFIX}-{next(_numbers)}-{original}", original
            )
            AttentionInterface.register(name, observed.attention)
            if original == "eager" or original in ALL_MASK_ATTENTION_FUNCTIONS:
                AttentionMaskInterface.register(name, observed.mask)
            _observed[config] = name, observed
            config._attn_implementation_internal = name
        _observed[config][1].visitors.append(visit)


def _release(config: Any, visit: CallVisitor) -> None:
    with _lock:
        name, observed = _observed[config]
        observed.visitors.remove(visit)
        if not observed.visitors:
            config._attn_implementation_internal = observed.original
            AttentionInterface._global_mapping.pop(name)
            AttentionMaskInterface._global_mapping.pop(name, None)
            del _observed[config]


def call_kernel(
    original: str,
    module: nn.Module,
    tensors: tuple[Tensor, Tensor, Tensor, Any],
    arguments: dict[str, Any],
) -> Any:
    """What the module would have called: its own eager attention, or a registered one."""
    function = kernel_function(original, type(module))
    if "flash" not in original:
        return function(module, *tensors, **arguments)
    config: Any = module.config  # flash attention asks it for its kernel
    name = config._attn_implementation
    config._attn_implementation_internal = original
    try:
        return function(module, *tensors, **arguments)
    finally:
        config._attn_implementation_internal = name


def kernel_function(original: str, family: Any) -> Callable[..., Any]:
    """What a module of a class calls under the name of an implementation."""
    beside = _names_beside(family)
    registry = beside.get("ALL_ATTENTION_FUNCTIONS")
    function: Callable[..., Any] | None = beside.get("eager_attention_forward")
    if registry is not None:
        function = registry.get_interface(original, function)
    if function is None:
        raise InputError(f"{family.__name__} has no attention {original} beside it")
    return function


@cache
def _names_beside(family: Any) -> dict[str, Any]:
    """The names in the Python module of a class: the registry, and the eager attention."""
    names: dict[str, Any] = inspect.unwrap(family.forward).__globals__
    return names


def _check_flash(
    *,
    q_length: int,
    kv_length: int,
    mask_function: Callable[..., Any],
    q_offset: Any = 0,
    kv_offset: Any = 0,
    device: Any = "cpu",
    **_: object,
) -> None:
    """Refuse what flash attention does not read: it is causal or full, with a window."""
    rows = torch.arange(q_length, device=device) + int(q_offset)
    keys = torch.arange(kv_length, device=device) + int(kv_offset)
    if read_mask_rule(mask_function, rows, keys) is None:
        raise InputError(
            "flash attention does not read the model's mask (packed, chunked or with a prefix), and "
            "statistics would be of another one: load the model with attn_implementation='sdpa'"
        )
