"""Optional parts of Headwright: what each is for, the packages it needs, and how to install it.

The base install has NumPy and what the command line needs. Every function and command that needs more calls `require`
before it starts, so that a missing package is one sentence with the line to type, and never a failed import.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from headwright.errors import InputError


class MissingExtraError(InputError, ImportError):
    """A package that belongs to an extra is not installed.

    >>> issubclass(MissingExtraError, InputError)
    True
    """


@dataclass(frozen=True)
class Extra:
    """What an extra of pyproject.toml is for, and the modules by which one sees that it is installed."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "design": Extra("designs of queries and heads", ("scipy",)),
    "check": Extra("checked answers", ("z3", "mdit_py_plugins", "latex2mathml")),
    "plots": Extra("pictures and HTML reports", ("altair", "vl_convert")),
    "tour": Extra("the tour: design, check and plots", ("scipy", "z3", "altair")),
    "audit": Extra(
        "models of Hugging Face", ("transformers", "torch", "huggingface_hub")
    ),
    "torch": Extra("torch tensors, exports to PyTorch", ("torch",)),
    "export": Extra("heads as ONNX", ("onnx", "torch", "scipy")),
    "gpu": Extra("row statistics and every text on a GPU", ("triton", "torch")),
    "cluster": Extra("audits on many workers", ("distributed", "dask")),
    "lab": Extra("the lab", ("starlette", "uvicorn", "scipy", "z3", "altair")),
}


def require(extra: str, purpose: str, *modules: str) -> None:
    """Raise `MissingExtraError` unless the modules, or else all those of the extra, are installed.

    >>> require("check", "check", "json")
    >>> require("check", "check", "no_such_module")
    Traceback (most recent call last):
    headwright.extras.MissingExtraError: check needs no_such_module, which is not installed: pip install ...
    """
    for module in modules or EXTRAS[extra].modules:
        if find_spec(module) is None:
            raise MissingExtraError(
                f"{purpose} needs {module}, which is not installed: {install_line(extra)}"
            )


def is_installed(extra: str) -> bool:
    """Whether all the modules of an extra are there.

    >>> EXTRAS["design"].modules
    ('scipy',)
    """
    return all(find_spec(module) is not None for module in EXTRAS[extra].modules)


def install_line(extra: str) -> str:
    """How to install an extra. Headwright is in no registry, so the line is for a clone of it.

    >>> install_line("lab")
    "pip install '.[lab]' in a clone of Headwright"
    """
    return f"pip install '.[{extra}]' in a clone of Headwright"
