"""Flash attention in Triton, run by its interpreter: python triton_kernel.py IN.npz OUT.npy with TRITON_INTERPRET=1."""
# mypy: ignore-errors

from __future__ import annotations

import sys

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def attention(
    q,
    k,
    v,
    out,
    tokens,
    scale,
    DIM: tl.constexpr,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
):
    """A block of rows of one head: causal, online softmax with exp2, weights in the type of v."""
    block = tl.program_id(0)
    head = tl.program_id(1) * tokens * DIM
    rows = block * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, DIM)
    places = head + rows[:, None] * DIM + columns[None, :]
    queries = tl.load(q + places, mask=rows[:, None] < tokens, other=0.0)
    maximum = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, DIM], tl.float32)
    for start in range(0, (block + 1) * ROWS, KEYS):
        keys = start + tl.arange(0, KEYS)
        there = head + keys[:, None] * DIM + columns[None, :]
        key = tl.load(k + there, mask=keys[:, None] < tokens, other=0.0)
        value = tl.load(v + there, mask=keys[:, None] < tokens, other=0.0)
        scores = tl.dot(queries, tl.trans(key)) * (scale * 1.4426950408889634)
        seen = (keys[None, :] <= rows[:, None]) & (keys[None, :] < tokens)
        scores = tl.where(seen, scores, -float("inf"))
        new_maximum = tl.maximum(maximum, tl.max(scores, 1))
        weights = tl.exp2(scores - new_maximum[:, None])
        rescale = tl.exp2(maximum - new_maximum)
        total = total * rescale + tl.sum(weights, 1)
        sums = sums * rescale[:, None] + tl.dot(weights.to(value.dtype), value)
        maximum = new_maximum
    tl.store(
        out + places,
        (sums / total[:, None]).to(out.dtype.element_ty),
        mask=rows[:, None] < tokens,
    )


def main() -> None:
    arrays = np.load(sys.argv[1])
    q, k, v = (torch.from_numpy(arrays[name]) for name in ("q", "k", "v"))
    out = torch.zeros_like(q)
    heads, tokens, dim = q.shape[1:]
    attention[(triton.cdiv(tokens, 16), heads)](
        q, k, v, out, tokens, dim**-0.5, dim, 16, 32
    )
    np.save(sys.argv[2], out.numpy())


if __name__ == "__main__":
    main()
