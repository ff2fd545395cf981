"""Right kernels on random and hostile inputs: python -m bench.conform_hostile [SECONDS] [SEED].

Sizes from 2^-140 to 2^10, entries spread over many powers of 2, any mask; with sinks, biases and
softcaps in a third of them; and backward passes. Prints how many inputs were tried, and the largest
ratio of each contract and type: above 1 is an error of the theorem, and then the exit code is 1.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import torch
from tests.conformance import implementations
from tests.conformance.catalogue import kernel

from headwright.conformance.checking import judge
from headwright.conformance.contracts import EAGER, FUSED, Contract
from headwright.conformance.gradient_judging import judge_gradients
from headwright.conformance.reading import AttentionOptions, read_output, read_problem

SCALE = 0.3


def tensors(
    rng: np.random.Generator, dtype: str, rows: int, keys: int, dim: int
) -> list[torch.Tensor]:
    """Queries, keys and values of one case."""
    spread = rng.choice([0.0, 1.0, 4.0])
    exponents = (
        rng.choice([-12, -2, 0, 2, 3]),
        rng.choice([-12, -2, 0, 2]),
        rng.choice([-140, -24, -14, -10, 0, 10]),
    )
    made = []
    for exponent, tokens in zip(exponents, (rows, keys, keys), strict=True):
        numbers = rng.standard_normal((1, 2, tokens, dim))
        if rng.random() < 0.3:
            numbers = np.abs(numbers)
        powers = 2.0 ** (exponent + spread * rng.standard_normal(numbers.shape))
        tensor = torch.from_numpy(numbers * powers).to(getattr(torch, dtype))
        made.append(torch.nan_to_num(tensor, posinf=6e4, neginf=-6e4))
    return made


def one_case(rng: np.random.Generator) -> tuple[str, float]:
    """Which contract, type and kind of case it was, and its ratio."""
    rows, keys, dim = (int(size) for size in rng.integers(1, (24, 60, 40)))
    dtype = str(rng.choice(["float32", "bfloat16", "float16"]))
    q, k, v = tensors(rng, dtype, rows, keys, dim)
    mask = torch.from_numpy(rng.random((rows, keys)) < rng.uniform(0.1, 1))
    mask[:, 0] = True
    described: dict[str, Any] = {"mask": mask, "scale": SCALE}
    contract: Contract = FUSED
    kind = str(rng.choice(["plain", "eager", "described"]))
    if kind == "eager" and dtype != "float32":
        contract = EAGER
        out = implementations.eager(q, k, v, mask, SCALE)
    elif kind == "described":
        more: dict[str, Any] = {
            "sinks": torch.from_numpy(
                rng.standard_normal(2) * rng.choice([1, 10, 100])
            ).float(),
            "bias": torch.from_numpy(
                rng.standard_normal((2, rows, keys)) * rng.choice([0, 1, 20, 500])
            ).float(),
            "softcap": float(rng.choice([1, 5, 50])) if rng.random() < 0.5 else None,
        }
        described |= more
        out = kernel(
            q,
            k,
            v,
            mask=mask,
            scale=SCALE,
            weights_to=lambda w: w.to(q.dtype).float(),
            **more,
        )
    else:
        names = sorted(implementations.FUSED)
        out = implementations.FUSED[names[rng.integers(len(names))]](
            q, k, v, mask, SCALE
        )
    question = AttentionOptions(**described)
    problem = read_problem(q, k, v, question)
    verdict = judge(
        problem,
        read_output(out, problem, question),
        (contract,),
        np.arange(rows),
        explain=False,
    )
    more_words = ", with sinks, bias, softcap" if kind == "described" else ""
    return f"{contract.name}, {dtype}{more_words}", verdict.ratio


def gradient_case(rng: np.random.Generator) -> tuple[str, float]:
    """A backward pass of the tests, or PyTorch's in float32: its largest ratio."""
    rows, keys, dim, value_dim, tile = (
        int(size) for size in rng.integers(1, (40, 60, 40, 40, 40))
    )
    dtype = str(rng.choice(["float32", "bfloat16", "float16"]))
    heads, key_heads = ((2, 2), (4, 2), (1, 1))[int(rng.integers(3))]
    spread = rng.choice([0.0, 1.0, 3.0])
    sizes = (
        (rng.choice([-12, -2, 0, 2, 3]), heads, rows, dim),
        (rng.choice([-12, -2, 0, 2]), key_heads, keys, dim),
        (rng.choice([-20, -10, 0, 8]), key_heads, keys, value_dim),
        (rng.choice([-14, -4, 0, 6]), heads, rows, value_dim),
    )
    made = []
    for exponent, count, tokens, columns in sizes:
        numbers = rng.standard_normal((1, count, tokens, columns))
        powers = 2.0 ** (exponent + spread * rng.standard_normal(numbers.shape))
        tensor = torch.from_numpy(numbers * powers).to(getattr(torch, dtype))
        made.append(torch.nan_to_num(tensor, posinf=6e4, neginf=-6e4))
    q, k, v, dout = made
    mask = torch.from_numpy(rng.random((rows, keys)) < rng.uniform(0.1, 1))
    mask[:, 0] = True
    results: tuple[torch.Tensor, ...]
    if rng.random() < 0.5:
        results = implementations.backward(q, k, v, dout, mask, SCALE, tile)
    else:
        results = _differentiate_in_float32(q, k, v, dout, mask)
    out, dq, dk, dv = results
    question = AttentionOptions(mask=mask, scale=SCALE)
    problem = read_problem(q, k, v, question)
    verdicts = judge_gradients(
        problem,
        read_output(out, problem, question),
        dout,
        {"dq": dq, "dk": dk, "dv": dv},
        (FUSED,),
        question,
    )
    return f"gradients, {dtype}", max(verdict.ratio for verdict in verdicts)


def _differentiate_in_float32(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    dout: torch.Tensor,
    mask: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """PyTorch's own derivative of its attention in float32, then rounded."""
    leaves = [tensor.float().requires_grad_() for tensor in (q, k, v)]
    wide = [
        tensor.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
        for tensor in leaves[1:]
    ]
    out = implementations.sdpa_math(leaves[0], wide[0], wide[1], mask, SCALE)
    gradients = torch.autograd.grad(out, leaves, dout.float())
    return tuple(tensor.detach().to(q.dtype) for tensor in (out, *gradients))


def main() -> None:
    """Try cases until the time is over."""
    torch.set_num_threads(1)
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    largest: dict[str, float] = {}
    tried: dict[str, int] = {}
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        case = gradient_case if rng.random() < 0.3 else one_case
        name, ratio = case(rng)
        largest[name] = max(largest.get(name, 0.0), ratio)
        tried[name] = tried.get(name, 0) + 1
    for name in sorted(largest):
        print(f"{name}: {largest[name]:.4f} on {tried[name]} inputs")
    sys.exit(int(max(largest.values()) > 1))


if __name__ == "__main__":
    main()
