"""Headwright: a workbench for attention.

    check       answers to exercises, proved, or refuted with the smallest counterexample
    formula     the formula language: LaTeX, plain text and Python's spelling
    weights     from rules to whole heads, W_Q, W_K and W_V, with a certificate, and files that other libraries load
    audit       what every head of a trained model does, by what margin, how fragile and of what rank
    design      from a wish to the shortest query, with a certificate, or to the proof that there is none
    trusted     the checker of certificates: standard library only. Read this to believe us
    fast        a second checker, as rigorous and far quicker
    attention   the definition: scores, pattern, output, heads, masks
    layer       self-attention + feed-forward; does a module depend on the order of its tokens?
    positions   position embeddings: how far apart are two positions, and which coincide after rounding?
    noise       worlds, or what the keys may be: exact probabilities, and sampling of scores instead of keys
    lowrank     matrices of small rank, with a certified error
    pictures    results drawn as charts
    enclosure   numbers known from both sides
    files       arrays in, files out
    tour        a story of all this, with pictures
    verb        packages named for a verb can be called
    lab         rooms to drag it, break it and share it: a page on this machine
    widgets     the lab's views in a notebook, read back in Python
    cli         the command line

The public names are those of __init__.pyi; each loads its module on first use, so that `import headwright` is quick.
"""

import sys
from typing import Any

import lazy_loader

__version__ = "0.1.0"
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    _load(name)
    # `design` is always the package, which can be called, and not its function: what stands in it stays in reach.
    globals()[name] = sys.modules.get(f"{__name__}.{name}", globals()[name])
    return globals()[name]
