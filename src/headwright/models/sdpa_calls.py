"""The calls of torch's scaled_dot_product_attention in any code of a model.

A mode of torch sees each call, whoever makes it and by whatever name. Which module made it
is read from Python's own stack of calls; in code that torch.compile traces there is none, and
`compiled_calls` tells.

`nn.MultiheadAttention` reaches that function from within a function that torch calls
outside of all modes. Here it runs as a copy whose `scaled_dot_product_attention` is one
that visits. Its fast path, which calls no such function, is switched off by the mode.
"""

from __future__ import annotations

import sys
import types as python_types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from headwright.errors import InputError
from headwright.models.attention_calls import (
    AttentionCall,
    CallVisitor,
    StopForwardError,
    without_autocast,
)
from headwright.models.compiled_calls import call_place, detached, see_attention
from headwright.models.flex_calls import FLEX, flex_in_a_graph
from headwright.models.packaged_kernels import Describe, watched_thread

PARAMETERS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
CALL_OF_A_MODULE = nn.Module._call_impl.__code__
SDPA = nn.functional.scaled_dot_product_attention
UNFLATTEN = Tensor.unflatten
MULTI_HEAD: Any = nn.functional.multi_head_attention_forward


@contextmanager
def sdpa_calls(model: nn.Module, visit: CallVisitor) -> Iterator[None]:
    """While it lasts, the calls of this thread are visited, also those of no module."""
    with SdpaMode(model, visit, others=True):
        yield


class SdpaMode(TorchFunctionMode):
    """Hands each call of scaled_dot_product_attention to a visitor."""

    def __init__(
        self, model: nn.Module, visit: CallVisitor, others: bool = False
    ) -> None:
        """The calls of a model; with `others` also those that no module of it makes."""
        super().__init__()
        self.visit = visit
        self.others = others
        self.modules = {id(module): module for module in model.modules()}
        self.unplaced = 0  # calls in graphs of which it is not known who made them

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call the function; if it is attention, visit the call."""
        del types
        if func is SDPA:
            if torch.compiler.is_compiling():
                return self.attend_in_a_graph(args, kwargs or {})
            return self.attend(*args, **(kwargs or {}))
        if func is UNFLATTEN and torch.compiler.is_compiling():
            # A method in Python, whose call of its base class torch does not trace here.
            return torch.unflatten(*args, **(kwargs or {}))
        if func is FLEX:
            return self.flex_in_a_graph(args, kwargs or {})
        if func is MULTI_HEAD:
            if torch.compiler.is_compiling():
                return self.multi_head_outside_of_the_graph(args, kwargs)
            return self.multi_head(args, kwargs or {})
        if kwargs:
            return func(*args, **kwargs)
        return func(*args)

    def __enter__(self) -> Any:
        """From now on the calls of this thread are seen, also those in graphs."""
        entered = super().__enter__()  # type: ignore[no-untyped-call]
        call_place.visitors.append(self.visit_from_a_graph)
        watched_thread.visitors.append(self.visit_kernel)
        return entered

    def __exit__(self, *raised: Any) -> None:
        """The calls of this thread are not seen any more."""
        super().__exit__(*raised)  # type: ignore[no-untyped-call]
        call_place.visitors.remove(self.visit_from_a_graph)
        watched_thread.visitors.remove(self.visit_kernel)

    def attend(self, *args: Any, **kwargs: Any) -> Tensor:
        """The attention that was called for; then the visitor."""
        if _in_backward_pass() or watched_thread.inside:
            return SDPA(*args, **kwargs)
        module = self._calling_module()
        if module is None and not self.others:
            return SDPA(*args, **kwargs)
        arguments = self._arguments(args, kwargs)
        output = SDPA(*args, **kwargs)
        self._visit(module, arguments, output)
        return output

    def multi_head(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The attention of `nn.MultiheadAttention`; its inner call is visited."""
        arguments = dict(zip(_names_of(MULTI_HEAD), args, strict=False)) | dict(kwargs)
        if not arguments.get("need_weights", True):
            return _with_attention(self.attend)(**arguments)
        # With weights it multiplies matrices. Without them it would call the function on
        # the same queries, keys and mask: that call is described, and then ended.
        result = MULTI_HEAD(**arguments)
        without_weights = arguments | {
            "need_weights": False,
            "is_causal": False,  # the mask, which it needs, says the same
            "training": False,
        }
        with torch.no_grad(), suppress(StopForwardError):
            _with_attention(self._visit_and_stop)(**without_weights)
        return result

    def _visit_and_stop(self, *args: Any, **kwargs: Any) -> Tensor:
        module = self._calling_module()
        seen = module is not None or self.others
        if seen and not _in_backward_pass():
            self._visit(module, self._arguments(args, kwargs), None)
        raise StopForwardError

    def _arguments(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """By name; what cannot be described is refused before it is computed."""
        arguments = dict(zip(PARAMETERS, args, strict=False)) | dict(kwargs)
        if not self.others:
            check_tensor(arguments["query"])
        return arguments

    def _visit(
        self,
        module: nn.Module | None,
        arguments: Mapping[str, Any],
        output: Tensor | None,
    ) -> None:
        device = arguments["query"].device.type
        with (
            torch.no_grad(),
            torch._C.DisableTorchFunction(),
            without_autocast(device),
        ):
            self.visit(describe_sdpa(module, arguments, output))

    def _calling_module(self) -> nn.Module | None:
        """The innermost module of the model that is being called."""
        frame = sys._getframe(1)
        while frame.f_back is not None:
            frame = frame.f_back
            if frame.f_code is CALL_OF_A_MODULE:
                module = self.modules.get(id(frame.f_locals["self"]))
                if module is not None:
                    return module
        return None

    def attend_in_a_graph(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Torch traces this: the attention, and an operator that hands the call on."""
        if torch.compiler.is_exporting() or call_place.taken:
            return SDPA(*args, **kwargs)
        arguments = dict(zip(PARAMETERS, args, strict=False)) | dict(kwargs)
        query = arguments["query"]
        if self.others or type(query) not in (Tensor, nn.Parameter):
            return self.attend_outside_of_the_graph(args, kwargs)
        call_place.taken = True
        output = SDPA(*args, **kwargs)
        call_place.taken = False
        see_attention(
            query.detach(),
            arguments["key"].detach(),
            arguments["value"].detach(),
            detached(arguments.get("attn_mask")),
            arguments.get("dropout_p", 0.0),
            arguments.get("is_causal", False),
            arguments.get("scale"),
            call_place.place,
        )
        return output

    def flex_in_a_graph(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Torch traces this: FlexAttention, and an operator that hands the call on."""
        # A graph that runs calls it too: that call was handed on by the operator beside it.
        traced = torch.compiler.is_compiling() and not torch.compiler.is_exporting()
        if not traced or call_place.taken or self.others:
            return FLEX(*args, **kwargs)
        return flex_in_a_graph(args, kwargs)

    def visit_from_a_graph(
        self, module: nn.Module | None, arguments: Mapping[str, Any]
    ) -> None:
        """The operator hands a call on."""
        if module is None:
            self.unplaced += 1
        elif id(module) in self.modules and not _in_backward_pass():
            check_tensor(arguments["query"])
            self._visit(module, arguments, None)

    def visit_kernel(
        self, describe: Describe, arguments: Mapping[str, Any], output: Tensor
    ) -> None:
        """A function of flash_attn or xformers was called."""
        module = self._calling_module()
        seen = module is not None or self.others
        if seen and not _in_backward_pass():
            check_tensor(output)
            with (
                torch.no_grad(),
                torch._C.DisableTorchFunction(),
                without_autocast(output.device.type),
            ):
                self.visit(describe(module, arguments, output))

    def attend_outside_of_the_graph(self, args: Any, kwargs: Any) -> Any:
        """`attend`, between two graphs of a model that is compiled."""
        return self.attend(*args, **kwargs)

    def multi_head_outside_of_the_graph(self, args: Any, kwargs: Any) -> Any:
        """`multi_head`, between two graphs of a model that is compiled."""
        return self.multi_head(args, kwargs or {})

    # Dynamo ends a graph before such a function, and begins one behind it.
    attend_outside_of_the_graph = torch.compiler.disable(attend_outside_of_the_graph)  # type: ignore[no-untyped-call]
    multi_head_outside_of_the_graph = torch.compiler.disable(  # type: ignore[no-untyped-call]
        multi_head_outside_of_the_graph
    )


def _names_of(function: Any) -> tuple[str, ...]:
    code = function.__code__
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return names


def _with_attention(attend: Any) -> Any:
    """torch's multi_head_attention_forward, with another scaled_dot_product_attention."""
    names = MULTI_HEAD.__globals__ | {
        "scaled_dot_product_attention": attend,
        "has_torch_function": _never,
    }
    copy = python_types.FunctionType(
        MULTI_HEAD.__code__, names, MULTI_HEAD.__name__, MULTI_HEAD.__defaults__
    )
    copy.__kwdefaults__ = MULTI_HEAD.__kwdefaults__
    return copy


def _in_backward_pass() -> bool:
    """Where a checkpointed layer is computed for a second time."""
    return torch._C._current_graph_task_id() != -1


def _never(_: Any) -> bool:
    return False


def check_tensor(query: Any) -> None:
    """Refuse what holds no plain numbers, by its name."""
    kind = type(query).__name__
    if kind == "DTensor":
        raise InputError(
            "the queries are a DTensor: expected the local heads of each process "
            "(use_local_output=True), whose statistics are those of these heads"
        )
    if query.is_nested:
        raise InputError(
            "the queries are a nested tensor: expected a batch of texts with a mask"
        )
    if torch._C._functorch.is_functorch_wrapped_tensor(query):
        raise InputError(
            "attention is called within torch.func (vmap, grad), where its numbers are "
            "not at hand: call the model without it"
        )
    if query.is_meta or kind == "FakeTensor":
        raise InputError(
            "the queries are a tensor without numbers (of the device meta, or a FakeTensor): "
            "leave the block before a model is exported or measured without its numbers"
        )


def describe_sdpa(
    module: nn.Module | None, arguments: Mapping[str, Any], output: Tensor | None
) -> AttentionCall:
    """The call that scaled_dot_product_attention gets with these arguments."""
    query = arguments["query"].detach()
    scale = arguments.get("scale")
    causal = bool(arguments.get("is_causal"))
    mask = arguments.get("attn_mask")
    return AttentionCall(
        module,
        query,
        arguments["key"].detach(),
        arguments["value"].detach(),
        scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
        # Layers that share a mask share what is read of it, if it stays the same tensor.
        mask=mask.detach() if mask is not None and mask.requires_grad else mask,
        causal=causal,
        from_first_key=causal,
        dropout=float(arguments.get("dropout_p") or 0.0),
        output=None if output is None else output.detach(),
    )


def of_four_axes(call: AttentionCall) -> AttentionCall:
    """The same call with batch and heads: SDPA also takes one axis or many before rows."""
    query = call.queries
    keys = call.keys
    values = call.values
    mask = call.mask
    if query.ndim == 4:
        if mask is not None and mask.ndim < 4:
            mask = mask[(None,) * (4 - mask.ndim)]
        if keys.shape[0] != query.shape[0]:  # all texts have the same keys, or queries
            texts = max(len(query), len(keys))
            query = query.expand(texts, -1, -1, -1)
            keys = keys.expand(texts, -1, -1, -1)
            values = values.expand(texts, -1, -1, -1)
        if query.shape[1] < keys.shape[1]:  # all heads have the same queries
            query = query.expand(-1, keys.shape[1], -1, -1)
        same = query is call.queries and keys is call.keys and mask is call.mask
        if same:
            return call
        return replace(call, queries=query, keys=keys, values=values, mask=mask)
    # All axes before rows become the batch; there is one head.
    axes = query.shape[:-2]
    if mask is not None:
        mask = _one_head(mask.expand(*axes, *mask.shape[-2:]))
    return replace(
        call,
        queries=_one_head(query),
        keys=_one_head(keys.expand(*axes, -1, -1)),
        values=_one_head(values.expand(*axes, -1, -1)),
        mask=mask,
    )


def _one_head(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1, 1, *tensor.shape[-2:])
