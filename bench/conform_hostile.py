"""Right kernels on random and hostile inputs: python -m bench.conform_hostile [SECONDS] [SEED].

Sizes from 2^-140 to 2^10, entries spread over many powers of 2, any mask; with sinks, biases and softcaps in a third of
them. Prints how many inputs were tried, and the largest ratio of each contract and type: above 1 is an error of the
theorem, and then the exit code is 1.
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
from headwright.conformance.reading import Question, read_output, read_problem

SCALE = 0.3


def tensors(rng: np.random.Generator, dtype: str, rows: int, keys: int, dim: int) -> list[torch.Tensor]:
    """Queries, keys and values of one case."""
    spread = rng.choice([0.0, 1.0, 4.0])
    exponents = (rng.choice([-12, -2, 0, 2, 3]), rng.choice([-12, -2, 0, 2]), rng.choice([-140, -24, -14, -10, 0, 10]))
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
            "sinks": torch.from_numpy(rng.standard_normal(2) * rng.choice([1, 10, 100])).float(),
            "bias": torch.from_numpy(rng.standard_normal((2, rows, keys)) * rng.choice([0, 1, 20, 500])).float(),
            "softcap": float(rng.choice([1, 5, 50])) if rng.random() < 0.5 else None,
        }
        described |= more
        out = kernel(q, k, v, mask=mask, scale=SCALE, weights_to=lambda w: w.to(q.dtype).float(), **more)
    else:
        names = sorted(implementations.FUSED)
        out = implementations.FUSED[names[rng.integers(len(names))]](q, k, v, mask, SCALE)
    question = Question(**described)
    problem = read_problem(q, k, v, question)
    verdict = judge(problem, read_output(out, problem, question), (contract,), np.arange(rows), explain=False)
    more_words = ", with sinks, bias, softcap" if kind == "described" else ""
    return f"{contract.name}, {dtype}{more_words}", verdict.ratio


def main() -> None:
    """Try cases until the time is over."""
    torch.set_num_threads(1)
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    largest: dict[str, float] = {}
    tried: dict[str, int] = {}
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        name, ratio = one_case(rng)
        largest[name] = max(largest.get(name, 0.0), ratio)
        tried[name] = tried.get(name, 0) + 1
    for name in sorted(largest):
        print(f"{name}: {largest[name]:.4f} on {tried[name]} inputs")
    sys.exit(int(max(largest.values()) > 1))


if __name__ == "__main__":
    main()
