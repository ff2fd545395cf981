"""Which modules are of attention, by their names and by what they hold."""

from __future__ import annotations

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
    name = type(module).__name__.lower()
    projections = [
        child
        for child in module.children()
        if isinstance(child, nn.Linear | nn.Conv1d | nn.Conv2d)
    ]
    return ("attention" in name or "attn" in name) and len(projections) > 1
