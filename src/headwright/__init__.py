"""Headwright: a workbench for attention.

    >>> import headwright as hw
    >>> hw.check("averaging-two", r"q = \\lambda (k_a + k_b)").word
    'proved'
    >>> hw.design([[1, 0], [0, 1]], hw.copy(0)).word
    'designed'

The public names are those of `__init__.pyi`; each loads its module on first use, so that `import headwright` is quick.
The functions have the names of the commands; each lives in the package of what it is about, which has another name
(`design` in `query_design`, `check` in `grading`): docs/contributing/architecture.md has all packages, and the
functions that a request passes. Optional packages are listed in `extras.py`.

Nothing is logged unless the program that imports this asks for it: the logger is called `headwright`.
"""

import logging

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
logging.getLogger(__name__).addHandler(logging.NullHandler())
