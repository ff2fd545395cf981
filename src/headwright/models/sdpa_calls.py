"""The calls of torch's scaled_dot_product_attention in any code of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from headwright.models.attention_calls import AttentionCall, CallVisitor

PARAMETERS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
SDPA = nn.functional.scaled_dot_product_attention
MULTI_HEAD = nn.functional.multi_head_attention_forward

# What is told of attention that calls no kernel: the module, and why.
MissVisitor = Callable[[nn.Module | None, str], None]


@contextmanager
def sdpa_calls(
    model: nn.Module, visit: CallVisitor, miss: MissVisitor | None = None
) -> Iterator[None]:
    """While it lasts, the calls of this thread are visited.

    `miss` is told of torch.nn.MultiheadAttention where it computes without a kernel.
    """
    with modules_that_run(model) as running, SdpaMode(visit, running, miss):
        yield


@contextmanager
def modules_that_run(model: nn.Module) -> Iterator[list[nn.Module]]:
    """While it lasts, the modules whose forward runs, the innermost last."""
    running: list[nn.Module] = []

    def enter(module: nn.Module, _: Any) -> None:
        running.append(module)

    def leave(_: nn.Module, __: Any, ___: Any) -> None:
        if running:
            running.pop()

    with ExitStack() as undo:
        for module in model.modules():
            before = module.register_forward_pre_hook(enter)
            undo.callback(before.remove)
            after = module.register_forward_hook(leave, always_call=True)
            undo.callback(after.remove)
        yield running


class SdpaMode(TorchFunctionMode):
    """Hands each call of scaled_dot_product_attention to a visitor."""

    def __init__(
        self,
        visit: CallVisitor,
        running: Sequence[nn.Module],
        miss: MissVisitor | None = None,
    ) -> None:
        """The last module of `running` makes the calls."""
        super().__init__()
        self.visit, self.running, self.miss = visit, running, miss

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call the function; if it is attention, visit the call."""
        del types
        arguments = dict(kwargs or {})
        if func is MULTI_HEAD:
            return self._multi_head(*args, **arguments)
        output = func(*args, **arguments)
        if func is not SDPA:
            return output
        if torch.compiler.is_compiling():
            return output
        arguments |= dict(zip(PARAMETERS, args, strict=False))
        module = self.running[-1] if self.running else None
        with torch.no_grad(), torch._C.DisableTorchFunction():
            self.visit(_describe(module, arguments, output))
        return output

    def _multi_head(self, *args: Any, **kwargs: Any) -> Any:
        """torch.nn.MultiheadAttention: this mode is off inside what it handles.

        So a copy of the function runs, whose calls of attention turn it on again.
        """

        def visited(*args: Any, **kwargs: Any) -> Any:
            with self:
                return SDPA(*args, **kwargs)

        names = {**MULTI_HEAD.__globals__, "scaled_dot_product_attention": visited}
        function = FunctionType(
            MULTI_HEAD.__code__,
            names,
            MULTI_HEAD.__name__,
            MULTI_HEAD.__defaults__,
            MULTI_HEAD.__closure__,
        )
        if kwargs.get("need_weights", True) and self.miss is not None:
            module = self.running[-1] if self.running else None
            self.miss(module, "it returns its weights, and so calls no kernel")
        return function(*args, **kwargs)


def _describe(
    module: nn.Module | None, arguments: Mapping[str, Any], output: Tensor
) -> AttentionCall:
    query, scale = arguments["query"].detach(), arguments.get("scale")
    causal = bool(arguments.get("is_causal"))
    mask = arguments.get("attn_mask")
    return AttentionCall(
        module,
        query,
        arguments["key"].detach(),
        arguments["value"].detach(),
        scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
        mask=None if mask is None else mask.detach(),
        causal=causal,
        from_first_key=causal,
        dropout=float(arguments.get("dropout_p") or 0.0),
        output=output.detach(),
    )
