"""The calls of flash_attn's functions and of xformers' memory_efficient_attention, in any code of a model.

Other modules hold these functions by names of their own. While a block lasts, each of these names stands for a
function that calls the one that was there, and then tells whoever watches the thread. What a function is called with
is described as a call of attention, or refused by its name.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from headwright.errors import InputError
from headwright.models.attention_calls import AttentionCall

FLASH = "flash_attn"
XFORMERS = "xformers.ops"
# Arguments that change no score.
HARMLESS = frozenset(
    {
        "deterministic",
        "return_attn_probs",
        "max_seqlen_q",
        "max_seqlen_k",
        "op",
        "output_dtype",
    }
)
OF_FLASH = HARMLESS | {
    "dropout_p",
    "softmax_scale",
    "causal",
    "window_size",
    "softcap",
    "alibi_slopes",
}
REFUSED = (
    "flash_attn_with_kvcache",
    "flash_attn_varlen_qkvpacked_func",
    "flash_attn_varlen_kvpacked_func",
)

# Of a module that is called, the arguments by name, and the output.
Describe = Callable[[Any, Mapping[str, Any], Tensor], AttentionCall]
KernelVisitor = Callable[[Describe, Mapping[str, Any], Tensor], None]


class WatchedThread(threading.local):
    """Who is told of the calls of a thread."""

    def __init__(self) -> None:
        """Nobody."""
        self.visitors: list[KernelVisitor] = []
        self.inside = False  # whether such a function is being called


watched_thread = WatchedThread()


@dataclass(frozen=True, eq=False)
class ReplacedName:
    """A name that stands for a function in a module."""

    names: dict[str, Any]  # of the module
    name: str
    function: Any


_lock = threading.Lock()
_blocks = 0
_replaced: list[ReplacedName] = []


@contextmanager
def packaged_kernels() -> Iterator[None]:
    """While it lasts, the functions of packages that are imported tell of their calls; blocks may end in any order."""
    global _blocks
    with _lock:
        if not _blocks:
            _replaced.extend(_replace_functions())
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks:
                for name in _replaced:
                    name.names[name.name] = name.function
                _replaced.clear()


def _replace_functions() -> list[ReplacedName]:
    """Each name of a function, in all modules that are imported."""
    functions = _functions()
    if not functions:
        return []
    telling = {
        id(function): _telling(function, describe) for function, describe in functions
    }
    names: list[ReplacedName] = []
    for module in list(sys.modules.values()):
        known = getattr(module, "__dict__", {})
        for name, value in list(known.items()):
            if id(value) in telling:
                names.append(ReplacedName(known, name, value))
                known[name] = telling[id(value)]
    return names


def _functions() -> list[tuple[Any, Describe]]:
    """The functions of the packages that are imported, and how their calls are described."""
    described: dict[tuple[str, str], Describe] = {
        (FLASH, "flash_attn_func"): _flash,
        (FLASH, "flash_attn_qkvpacked_func"): _flash_of_packed,
        (FLASH, "flash_attn_kvpacked_func"): _flash_of_packed,
        (FLASH, "flash_attn_varlen_func"): _flash_of_lengths,
        (XFORMERS, "memory_efficient_attention"): _xformers,
    }
    for name in REFUSED:
        described[FLASH, name] = functools.partial(_refuse, name)
    functions = []
    for (package, name), describe in described.items():
        function = getattr(sys.modules.get(package), name, None)
        if inspect.isfunction(function):
            functions.append((function, describe))
    return functions


def _telling(function: Any, describe: Describe) -> Any:
    """A function that calls another one, and tells of it."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not watched_thread.visitors or watched_thread.inside:
            return function(*args, **kwargs)
        if torch.compiler.is_compiling():
            raise InputError(
                f"{function.__name__} is being compiled, and then its calls are not seen: run the model "
                'uncompiled in the block, with torch.compiler.set_stance("force_eager")'
            )
        arguments = _named(signature, args, kwargs)
        watched_thread.inside = True
        try:
            result = function(*args, **kwargs)
        finally:
            watched_thread.inside = False
        output = result[0] if isinstance(result, tuple) else result
        for visit in tuple(watched_thread.visitors):
            visit(describe, arguments, output)
        return result

    return call


def _named(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments that are given, by name."""
    arguments = dict(signature.bind(*args, **kwargs).arguments)
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments |= arguments.pop(name, {})
    return arguments


def _refuse(name: str, module: Any, arguments: Mapping[str, Any], output: Any) -> Any:
    del arguments, output
    raise InputError(
        f"{type(module).__name__} calls {name}, which is not known here: expected flash_attn_func, "
        "flash_attn_varlen_func or scaled_dot_product_attention"
    )


def _flash(module: Any, arguments: Mapping[str, Any], output: Tensor) -> AttentionCall:
    """Queries, keys and values are (batch, tokens, heads, d)."""
    _check_known(module, arguments, OF_FLASH | {"q", "k", "v"})
    tensors = arguments["q"], arguments["k"], arguments["v"]
    return _flash_call(module, *tensors, arguments, output)


def _flash_of_packed(
    module: Any, arguments: Mapping[str, Any], output: Tensor
) -> AttentionCall:
    """Keys and values in one array, or queries too: (batch, tokens, 2 or 3, heads, d)."""
    _check_known(module, arguments, OF_FLASH | {"q", "kv", "qkv"})
    if "qkv" in arguments:
        query, key, value = arguments["qkv"].unbind(2)
    else:
        query = arguments["q"]
        key, value = arguments["kv"].unbind(2)
    return _flash_call(module, query, key, value, arguments, output)


def _flash_of_lengths(
    module: Any, arguments: Mapping[str, Any], output: Tensor
) -> AttentionCall:
    """Several texts one behind the other: (tokens, heads, d). They become one text, whose mask keeps them apart."""
    known = OF_FLASH | {"q", "k", "v", "cu_seqlens_q", "cu_seqlens_k"}
    _check_known(module, arguments, known)
    ends = arguments["cu_seqlens_q"]
    if not torch.equal(ends, arguments["cu_seqlens_k"]):
        raise InputError(
            f"{type(module).__name__} calls flash_attn_varlen_func with keys of other lengths than "
            "queries, which is not known here: expected texts without a cache"
        )
    query, key, value = (arguments[name][None] for name in ("q", "k", "v"))
    place = torch.arange(query.shape[1], device=query.device)
    text = torch.bucketize(place, ends.to(place.dtype), right=True)
    same_text = (text[:, None] == text)[None, None]
    return _flash_call(module, query, key, value, arguments, output[None], same_text)


def _flash_call(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    arguments: Mapping[str, Any],
    output: Tensor,
    mask: Tensor | None = None,
) -> AttentionCall:
    rows, count = query.shape[1], key.shape[1]
    scale = arguments.get("softmax_scale")
    softcap = float(arguments.get("softcap") or 0.0)
    slopes = arguments.get("alibi_slopes")
    left, right = arguments.get("window_size") or (-1, -1)
    causal = bool(arguments.get("causal"))
    right = 0 if causal else right
    # The last row stands at the last key: so many keys lie before a row's own, or after it.
    apart = torch.arange(rows, device=query.device)[:, None] + (count - rows)
    apart = apart - torch.arange(count, device=query.device)
    window = None
    plain = rows <= count and (right < 0 or causal or right == left)
    if plain and (causal or right == left):
        window = left + 1 if left >= 0 else None
    elif left >= 0 or right >= 0:
        causal = False
        visible = torch.ones_like(apart, dtype=torch.bool)
        if left >= 0:
            visible &= apart <= left
        if right >= 0:
            visible &= apart >= -right
        mask = visible[None, None] if mask is None else mask & visible
    bias = None
    if slopes is not None:
        by_head = slopes.reshape(-1, query.shape[2], 1, 1).to(torch.float32)
        bias = -by_head * apart.abs()
    return AttentionCall(
        module,
        query.detach().transpose(1, 2),
        key.detach().transpose(1, 2),
        value.detach().transpose(1, 2),
        scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
        softcap=softcap or None,
        mask=mask,
        bias=bias,
        causal=causal,
        window=window,
        dropout=float(arguments.get("dropout_p") or 0.0),
        output=output.detach().transpose(1, 2),
    )


def _xformers(
    module: Any, arguments: Mapping[str, Any], output: Tensor
) -> AttentionCall:
    """Queries, keys and values are (batch, tokens, heads, d), or of one head (batch, tokens, d)."""
    known = HARMLESS | {"query", "key", "value", "attn_bias", "p", "scale"}
    _check_known(module, arguments, known)
    tensors = [arguments[name].detach() for name in ("query", "key", "value")]
    axes = tensors[0].ndim
    if axes not in (3, 4):
        raise InputError(
            f"{type(module).__name__} calls memory_efficient_attention with queries of {axes} axes, which "
            "are not known here: expected (batch, tokens, heads, d)"
        )
    output = output.detach()
    if axes == 3:
        tensors = [tensor[:, :, None] for tensor in tensors]
        output = output[:, :, None]
    query, key, value = (tensor.transpose(1, 2) for tensor in tensors)
    bias = arguments.get("attn_bias")
    if bias is not None and not isinstance(bias, Tensor):
        if not callable(getattr(bias, "materialize", None)):
            raise InputError(
                f"{type(module).__name__} calls memory_efficient_attention with a {type(bias).__name__}, "
                "which is not known here: expected a tensor, or a bias that can be materialised"
            )
        shape = (*query.shape[:3], key.shape[2])
        bias = bias.materialize(shape, dtype=torch.float32, device=query.device)
    if bias is not None:
        bias = bias.detach()
        if bias.ndim == 3:  # of one axis for batch and heads
            bias = bias.reshape(-1, query.shape[1], *bias.shape[1:])
    scale = arguments.get("scale")
    return AttentionCall(
        module,
        query,
        key,
        value,
        scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
        mask=bias,
        dropout=float(arguments.get("p") or 0.0),
        output=output.transpose(1, 2),
    )


def _check_known(
    module: Any, arguments: Mapping[str, Any], known: frozenset[str]
) -> None:
    """Refuse arguments that are given and may change scores in a way that is not known."""
    unknown = [
        name
        for name, value in arguments.items()
        if name not in known and value is not None and value is not False and value != 0
    ]
    if unknown:
        raise InputError(
            f"{type(module).__name__} passes {', '.join(unknown)} to its attention, which may change scores "
            "in a way that is not known here"
        )
