"""Gradients beside the theorem of `gradients`: dq, dk and dv of a kernel, judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from headwright.conformance.arrays import Array, as_array, like, to_float64, to_numpy
from headwright.conformance.contracts import Contract
from headwright.conformance.gradients import BoundedGradient, bound_gradients
from headwright.conformance.judging import Element
from headwright.conformance.reading import AttentionOptions, to_four_axes
from headwright.conformance.reference import AttentionProblem
from headwright.conformance.verdict import GradientVerdict, VerdictWord
from headwright.errors import InputError
from headwright.numerics.float_formats import input_format

GRADIENTS = ("dq", "dk", "dv")
SEED = 0  # of the gradient that is sent back, where none is given


def differentiate(
    attention: Callable[..., Any], q: Any, k: Any, v: Any, dout: Any
) -> tuple[Any, Any, dict[str, Any]]:
    """The output of a function of PyTorch's tensors, what is sent back, and gradients."""
    import torch

    tensors = {"q": q, "k": k, "v": v}
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            kind = type(tensor).__name__
            raise InputError(f"{name} is {kind}: gradients need tensors of PyTorch")
    leaves = [tensor.detach().clone().requires_grad_() for tensor in tensors.values()]
    with torch.enable_grad():
        out = attention(*leaves)
        if isinstance(out, tuple | list) and out:
            out = out[0]
        if not isinstance(out, torch.Tensor) or not out.requires_grad:
            raise InputError("the output has no gradient: PyTorch recorded no step")
        if dout is None:
            generator = torch.Generator().manual_seed(SEED)
            dout = torch.randn(out.shape, generator=generator).to(out)
        elif tuple(dout.shape) != tuple(out.shape):
            raise InputError(
                f"dout has shape {tuple(dout.shape)}: expected that of the output, "
                f"{tuple(out.shape)}"
            )
        returned = torch.autograd.grad(out, leaves, dout, allow_unused=True)
    gradients = {}
    for name, leaf, gradient in zip(GRADIENTS, leaves, returned, strict=True):
        # A tensor that nothing depends on has a gradient of zeros.
        gradients[name] = torch.zeros_like(leaf) if gradient is None else gradient
    return out.detach(), dout, gradients


def judge_gradients(
    problem: AttentionProblem,
    out: Array,
    dout: Any,
    gradients: Mapping[str, Any],
    contracts: Sequence[Contract],
    question: AttentionOptions,
) -> tuple[GradientVerdict, ...]:
    """A verdict on each of dq, dk and dv, by the strictest contract that holds."""
    shape = problem.shape
    if problem.spec.softcap is not None:
        raise InputError("softcap: gradients are judged without one only")
    row_size = (shape.batch, shape.heads, shape.rows)
    key_size = (shape.batch, shape.key_heads, shape.keys)
    sizes = {
        "dq": (*row_size, shape.dim),
        "dk": (*key_size, shape.dim),
        "dv": (*key_size, shape.value_dim),
    }
    sent = _read(dout, "dout", (*row_size, shape.value_dim), problem, question)
    if not bool(np.isfinite(to_numpy(sent)).all()):
        raise InputError("dout holds a number that is not finite")
    arrays = {}
    for name, size in sizes.items():
        if name not in gradients:
            raise InputError(f"gradients has no {name}: expected dq, dk and dv")
        arrays[name] = to_numpy(_read(gradients[name], name, size, problem, question))
    bounds = [bound_gradients(problem, out, sent, contract) for contract in contracts]
    verdicts = []
    for name, values in arrays.items():
        results = []
        for contract, bounded in zip(contracts, bounds, strict=True):
            results.append(_judge(name, values, bounded[name], contract.name))
        words = [result.word for result in results]
        shown = results[0]
        for word in (VerdictWord.WITHIN, VerdictWord.UNDECIDED):
            if word in words:
                shown = results[words.index(word)]
                break
        verdicts.append(shown)
    return tuple(verdicts)


def _read(
    values: Any,
    name: str,
    size: tuple[int, ...],
    problem: AttentionProblem,
    question: AttentionOptions,
) -> Array:
    array = as_array(values, name)
    if input_format(array.dtype, name) is not problem.input_format:
        raise InputError(
            f"{name} holds {array.dtype} numbers: expected "
            f"{problem.input_format.name}, as q"
        )
    array = to_four_axes(array, name, question.layout)
    if tuple(array.shape) != size:
        raise InputError(
            f"{name} has shape {tuple(array.shape)} as (batch, heads, tokens, dim): "
            f"expected {size}"
        )
    return to_float64(like(array, problem.q))


def _judge(
    name: str, values: np.ndarray, bounded: BoundedGradient, contract: str
) -> GradientVerdict:
    finite = np.isfinite(bounded.bound)
    with np.errstate(all="ignore"):
        ratios = np.abs(values - bounded.exact) / bounded.bound
    ratios = np.where(np.isfinite(values), ratios, np.inf)
    ratios = np.where(finite, ratios, np.nan)
    judged = np.where(finite, ratios, -1.0)
    place = np.unravel_index(int(judged.argmax()), judged.shape)
    batch, head, token, column = (int(index) for index in place)
    worst = Element(
        batch=batch,
        head=head,
        row=token,
        column=column,
        value=float(values[place]),
        exact=float(bounded.exact[place]),
        bound=float(bounded.bound[place]),
    )
    ratio = max(0.0, float(judged[place]))
    insensitive = int((bounded.insensitive & finite).sum())
    unjudged = int((~finite).sum())
    word = VerdictWord.WITHIN
    if ratio > 1:
        word = VerdictWord.OUTSIDE
    elif unjudged or insensitive == ratios.size:
        word = VerdictWord.UNDECIDED
    return GradientVerdict(
        name=name,
        word=word,
        contract=contract,
        ratio=ratio,
        worst=worst,
        unjudged=unjudged,
        insensitive=insensitive,
        elements=ratios.size,
        ratios=ratios,
    )
