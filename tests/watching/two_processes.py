"""One of two processes that run a model together: python -m tests.watching.two_processes RANK FILE."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

import headwright as hw
from headwright.errors import InputError
from tests.watching import own_models as own

PROCESSES = 2
NAMES = ("entropy", "received")


def main(rank: int, file: str) -> None:
    """Every kind of sharing, each held against the model alone."""
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{file}", rank=rank, world_size=PROCESSES
    )
    mesh = init_device_mesh("cpu", (PROCESSES,))
    check_texts_shared(rank, "ddp", lambda model: DistributedDataParallel(model))
    check_texts_shared(rank, "fsdp", lambda model: fully_sharded(model, mesh))
    check_heads_shared(rank, mesh)
    check_distributed_tensors(mesh)
    distributed.destroy_process_group()


def fully_sharded(model: Any, mesh: Any) -> Any:
    """FSDP2: each block, then the rest."""
    for block in model.h:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def check_texts_shared(rank: int, kind: str, share: Any) -> None:
    """Each process has half of the texts, and sees the statistics of these; a training step is what it was."""
    tokens = torch.arange(48).reshape(4, 12)
    torch.manual_seed(0)
    alone = own.NanoGPT()
    with torch.no_grad(), hw.watch(alone, NAMES) as truth:
        alone(tokens)
    own_texts = slice(2 * rank, 2 * rank + 2)
    gradients = []
    for watched in (False, True):
        torch.manual_seed(0)
        shared = share(own.NanoGPT())
        if watched:
            with hw.watch(shared, NAMES) as seen:
                shared(tokens[own_texts]).sum().backward()
            for name in ("h.0.attn", "h.1.attn"):
                for statistic in NAMES:
                    expected = getattr(truth.layer(name), statistic)[own_texts]
                    actual = getattr(seen.layer(name), statistic)
                    np.testing.assert_allclose(actual, expected, atol=1e-5)
        else:
            shared(tokens[own_texts]).sum().backward()
        local: Any = [
            getattr(p.grad, "_local_tensor", p.grad) for p in shared.parameters()
        ]
        gradients.append(local)
    for plain, beside in zip(*gradients, strict=True):
        assert torch.equal(plain, beside), kind


def tensor_parallel(mesh: Any, local: bool) -> nn.Module:
    """Projections by columns: each process has half of the heads."""
    torch.manual_seed(0)
    model = own.Titan()
    for layer in model.layers.values():
        parallelize_module(
            layer,
            mesh,
            {
                "wq": ColwiseParallel(use_local_output=local),
                "wk": ColwiseParallel(use_local_output=local),
                "wv": ColwiseParallel(use_local_output=local),
                "wo": RowwiseParallel(),
            },
        )
    return model


def check_heads_shared(rank: int, mesh: Any) -> None:
    """Each process sees the statistics of its own heads."""
    torch.manual_seed(0)
    alone = own.Titan()
    x = torch.randn(2, 12, own.WIDTH, generator=torch.Generator().manual_seed(1))
    with torch.no_grad(), hw.watch(alone, NAMES) as truth:
        alone(x)
    model = tensor_parallel(mesh, local=True)
    with torch.no_grad(), hw.watch(model, NAMES) as seen:
        model(x)
    heads = slice(2 * rank, 2 * rank + 2)
    assert seen.modules == truth.modules
    for name in truth.modules:
        for statistic in NAMES:
            expected = getattr(truth.layer(name), statistic)[:, heads]
            actual = getattr(seen.layer(name), statistic)
            np.testing.assert_allclose(actual, expected, atol=1e-5)


def check_distributed_tensors(mesh: Any) -> None:
    """Queries that are distributed tensors are refused by name."""
    model = tensor_parallel(mesh, local=False)
    x = torch.randn(2, 12, own.WIDTH, generator=torch.Generator().manual_seed(1))
    try:
        with torch.no_grad(), hw.watch(model, NAMES):
            model(x)
    except InputError as error:
        assert "the queries are a DTensor" in str(error)
        return
    raise AssertionError("distributed tensors were not refused")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
