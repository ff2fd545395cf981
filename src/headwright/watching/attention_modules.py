"""Which modules are of attention, by their names and by what they hold."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn

# Parts of the path of a module whose keys are those of another text.
CROSS = (
    "encoder_attn",
    "crossattention",
    "encdecattention",
    "cross_attn",
    "encoder_attention",
    "cross_attention",
)


def is_attention(module: nn.Module) -> bool:
    """Whether it projects to queries and keys itself, by the name of its class and what it holds."""
    if isinstance(module, nn.MultiheadAttention):
        return True
    if not _named_attention(type(module)):
        return False
    projections = [
        child
        for child in module._modules.values()
        if isinstance(child, nn.Linear | nn.Conv1d | nn.Conv2d)
    ]
    return len(projections) > 1


def attention_modules(modules: Iterable[nn.Module]) -> list[nn.Module]:
    """Those that are of attention."""
    modules = list(modules)
    # A model has few classes of modules, and each class has one name.
    kinds = {kind for kind in set(map(type, modules)) if _named_attention(kind)}
    return [
        module for module in modules if type(module) in kinds and is_attention(module)
    ]


def _named_attention(kind: type) -> bool:
    if issubclass(kind, nn.MultiheadAttention):
        return True
    name = kind.__name__.lower()
    return "attention" in name or "attn" in name
