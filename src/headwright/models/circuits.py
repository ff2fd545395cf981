"""The parameters of an attention module as matrices W that act on rows: x W, one for each head.

Families name and store them differently; what is read here is held against what the module computes before it is
believed: its values must be its input times the matrix of the values, and what it mixes must be what the output matrix
reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from headwright.errors import InputError
from headwright.models.attention_calls import AttentionCall
from headwright.models.model import Circuits

APART = (
    ("q_proj", "k_proj", "v_proj"),
    ("query", "key", "value"),
    ("q_lin", "k_lin", "v_lin"),
    ("q", "k", "v"),
)
TOGETHER = ("c_attn", "qkv_proj", "Wqkv", "query_key_value")
OUTPUTS = (
    "o_proj",
    "out_proj",
    "dense",
    "c_proj",
    "out_lin",
    "Wo",
    "o",
    "output.dense",
)
CLOSE = 1e-2  # of what stands beside it: the module may compute in bfloat16, which rounds by 2^-9


@dataclass(frozen=True, eq=False)
class _Linear:
    """x W + b, by columns."""

    matrix: Tensor  # inputs, outputs
    bias: Tensor | None

    @classmethod
    def of(cls, module: Any) -> _Linear:
        weight = module.weight.detach().float()
        bias = getattr(module, "bias", None)
        # nn.Linear stores W^T, GPT-2's Conv1D stores W.
        return cls(
            weight.T if isinstance(module, nn.Linear) else weight,
            None if bias is None else bias.detach().float(),
        )

    def columns(self, which: Tensor) -> _Linear:
        return _Linear(
            self.matrix[:, which], None if self.bias is None else self.bias[which]
        )

    def __call__(self, x: Tensor) -> Tensor:
        y = x.float() @ self.matrix
        return y if self.bias is None else y + self.bias


def circuits_of(
    call: AttentionCall, x: Tensor, output_module: nn.Module, read: Tensor
) -> Circuits:
    """The matrices of the module that made the call: it had read x, and the module of the output had read `read`."""
    family = type(call.module).__name__
    queries = call.queries[0]
    keys = call.keys[0]
    values = call.values[0]
    heads = len(queries)
    key_heads = len(keys)
    e = values.shape[2]
    sizes = (heads * queries.shape[2], key_heads * keys.shape[2], key_heads * e)
    query, key, value = _inputs(call.module, sizes, heads, family)
    output = _Linear.of(output_module)
    widths = tuple(linear.matrix.shape[1] for linear in (query, key, value))
    if widths != sizes or output.matrix.shape[0] != heads * e:
        raise InputError(
            f"the matrices of {family} do not have the shapes of its heads: not known here"
        )
    if not _same(value(x), _flat(values)):
        raise InputError(
            f"the values of {family} are not its input times the matrices found: not known here"
        )
    if call.output is None or not _same(read.float(), _flat(call.output[0])):
        raise InputError(
            f"the output matrix of {family} does not read what its heads mix: not known here"
        )
    return Circuits(
        _heads(query.matrix, heads),
        _heads(key.matrix, key_heads),
        _heads(value.matrix, key_heads),
        output.matrix.reshape(heads, -1, output.matrix.shape[1]).cpu().numpy(),
        notes=tuple(_notes(call, x, (query, key, value, output))),
    )


def _notes(
    call: AttentionCall, x: Tensor, linears: tuple[_Linear, _Linear, _Linear, _Linear]
) -> list[str]:
    notes = []
    if any(linear.bias is not None for linear in linears):
        notes.append("biases are left out")
    for linear, rows, name in (
        (linears[0], call.queries[0], "queries"),
        (linears[1], call.keys[0], "keys"),
    ):
        by_linear = linear(x)
        used = _flat(rows)
        if _same(by_linear, used):
            continue
        lengths = [
            y.reshape(len(x), len(rows), -1).norm(dim=2) for y in (by_linear, used)
        ]
        what = (
            "turned by their positions"
            if _same(*lengths)
            else "scaled, normalised or turned"
        )
        notes.append(f"{name} are {what} after the matrix")
    return notes


def _inputs(
    module: Any, sizes: Sequence[int], heads: int, family: str
) -> tuple[_Linear, _Linear, _Linear]:
    for names in APART:
        modules = [getattr(module, name, None) for name in names]
        if all(hasattr(linear, "weight") for linear in modules):
            query, key, value = map(_Linear.of, modules)
            return query, key, value
    for name in TOGETHER:
        if not hasattr(getattr(module, name, None), "weight"):
            continue
        linear = _Linear.of(getattr(module, name))
        columns = torch.arange(linear.matrix.shape[1])
        if len(columns) != sum(sizes):
            break
        if name == "query_key_value":
            # GPT-NeoX: query, key and value of one head side by side.
            by_head = columns.reshape(heads, 3, -1).unbind(1)
            of_each = [head_columns.flatten() for head_columns in by_head]
        else:
            of_each = list(torch.split(columns, list(sizes)))
        query, key, value = map(linear.columns, of_each)
        return query, key, value
    raise InputError(
        f"the matrices of {family} are not known here: it has no ranks to tell"
    )


def output_of(module: nn.Module, around: nn.Module | None) -> nn.Module:
    """The module that holds the output matrix: part of the attention module, or of the one around it."""
    for outer in (module, around):
        for path in OUTPUTS:
            inner: Any = outer
            for name in path.split("."):
                inner = getattr(inner, name, None)
            if hasattr(inner, "weight"):
                output: nn.Module = inner
                return output
    raise InputError(
        f"the output matrix of {type(module).__name__} is not known here: it has no ranks to tell"
    )


def _heads(matrix: Tensor, heads: int) -> Float[np.ndarray, "heads width d"]:
    stacked: Float[np.ndarray, "heads width d"] = (
        matrix.reshape(matrix.shape[0], heads, -1)
        .transpose(0, 1)
        .contiguous()
        .cpu()
        .numpy()
    )
    return stacked


def _flat(rows: Tensor) -> Tensor:
    """Heads, rows, d to rows, heads x d."""
    return rows.float().transpose(0, 1).flatten(1)


def _same(a: Tensor, b: Tensor) -> bool:
    return bool((a - b).abs().max() <= CLOSE * b.abs().max())
