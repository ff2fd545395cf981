"""Tensors for Triton's kernels: on a GPU where there is one; else its interpreter computes in ordinary memory."""

from __future__ import annotations

import torch


class OnGpu(torch.Tensor):
    """A tensor in ordinary memory that says that it is on a GPU, for the interpreter to compute with."""

    is_cuda = True


def on_gpu(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers, for the kernels."""
    return tensor.cuda() if torch.cuda.is_available() else tensor.as_subclass(OnGpu)
