"""The modules of a model with their paths, quickly: it is asked in every step that is watched."""

from __future__ import annotations

from torch import nn


def paths_of_modules(model: nn.Module) -> dict[nn.Module, str]:
    """By module what `model.named_modules()` gives, in its order, without a generator for each level."""
    paths: dict[nn.Module, str] = {}
    waiting: list[tuple[str, nn.Module]] = [("", model)]
    while waiting:
        path, module = waiting.pop()
        if module in paths:
            continue
        paths[module] = path
        children = module._modules
        if children:
            prefix = path + "." if path else ""
            # The last one waits longest.
            for name in reversed(children):
                child = children[name]
                if child is not None:
                    waiting.append((prefix + name, child))
    return paths
