"""Headwright: a workbench for attention.

    >>> import headwright as hw
    >>> hw.check("averaging-two", r"q = \\lambda (k_a + k_b)").word
    'proved'
    >>> hw.design([[1, 0], [0, 1]], hw.copy(0)).word
    'designed'

Each verb is a command, a function and a folder: design, verify, check, audit, lab. `trusted` is the checker of
certificates, on the standard library alone. docs/contributing/architecture.md draws the architecture.

The public names are those of __init__.pyi; each loads its module on first use, so that `import headwright` is quick.
"""

import sys

import lazy_loader

__version__ = "0.1.0"
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    _load(name)
    # `design` is always the package, which can be called, and not its function: what stands in it stays in reach.
    globals()[name] = sys.modules.get(f"{__name__}.{name}", globals()[name])
    return globals()[name]
