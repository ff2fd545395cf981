"""Headwright: a workbench for attention.

    attention   the definition: scores, pattern, output, heads, masks
    layer       self-attention + feed-forward; does a module depend on the order of its tokens?
    positions   position embeddings: how far apart are two positions, and which coincide after rounding?
    noise       worlds, or what the keys may be: exact probabilities, and sampling of scores instead of keys
    lowrank     matrices of small rank, with a certified error
    pictures    results drawn as charts
    files       arrays and worlds in and out
    cli         the command line

The names below load their module on first use, so that `import headwright` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwright.attention import Attention, attend, causal, output, pattern, scores
    from headwright.errors import FullyMaskedError, HeadwrightError, InputError

__version__ = "0.1.0"

_HOME = {
    "attention": ["Attention", "attend", "causal", "output", "pattern", "scores"],
    "errors": ["FullyMaskedError", "HeadwrightError", "InputError"],
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'headwright' has no attribute {name!r}")
    return getattr(import_module(f"headwright.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
