"""headwright doctor."""

from __future__ import annotations

import platform
import shutil
import sys
from functools import cache
from importlib.metadata import (
    PackageNotFoundError,
    packages_distributions,
    version,
)
from importlib.util import find_spec

from headwright.auditing.engine.part_cache import STALE_DAYS, cache_folder, unfinished
from headwright.cli.console import show_json, show_line
from headwright.cli.options import Json
from headwright.extras import EXTRAS, install_line, is_installed

SHORT = "List what works on this machine, and how to get what is missing."
EXAMPLES = ("headwright doctor", "headwright doctor --json")
PROGRAMS = {
    "a browser": (
        "the lab",
        ("chromium", "chromium-browser", "google-chrome", "firefox"),
    ),
    "coqc": ("the checker with a machine-checked proof, make proof", ("coqc",)),
}


def doctor(json: Json = False) -> None:
    """List what works on this machine (extras, browser, GPU, Rocq), and how to get what is missing."""
    parts = [*map(_extra, EXTRAS), *map(_program, PROGRAMS), _gpu()]
    unfinished_audits = list(unfinished(cache_folder()))
    size = sum(audit.size for audit in unfinished_audits)
    count = len(unfinished_audits)
    if json:
        cache = {"folder": str(cache_folder()), "audits": count, "bytes": size}
        show_json(
            {
                "python": platform.python_version(),
                "parts": parts,
                "unfinished_audits": cache,
            }
        )
        return
    from headwright import __version__

    show_line(
        f"headwright {__version__}, Python {platform.python_version()} on {sys.platform}"
    )
    for part in parts:
        state = part["here"] or f"missing: {part['remedy']}"
        show_line(f"{part['part']:<10} {state} ({part['for']})")
    if unfinished_audits:
        plural = "s" if count != 1 else ""
        show_line(
            f"{cache_folder()} holds parts of {count} unfinished audit{plural}, "
            f"{size / 1e6:.1f} MB: the same audit with --resume goes on from them; delete the folder, or leave it to "
            f"the next audit after {STALE_DAYS} days"
        )


def _extra(name: str) -> dict[str, str]:
    extra = EXTRAS[name]
    here = _described(extra.modules[0]) if is_installed(name) else ""
    remedy = install_line(name)
    return {"part": name, "for": extra.purpose, "here": here, "remedy": remedy}


_distributions = cache(packages_distributions)  # reads the whole environment


def _described(module: str) -> str:
    """The package that has a module, with its version."""
    package = _distributions().get(module, [module])[0]
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return module


def _program(name: str) -> dict[str, str]:
    what, names = PROGRAMS[name]
    here = next((program for program in names if shutil.which(program)), "")
    remedy = (
        "apt-get install coq libcoq-coquelicot libcoq-interval"
        if name == "coqc"
        else "any browser will do"
    )
    return {"part": name, "for": what, "here": here, "remedy": remedy}


def _gpu() -> dict[str, str]:
    here = ""
    if find_spec("torch"):
        import torch

        here = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    return {
        "part": "GPU",
        "for": "--device cuda",
        "here": here,
        "remedy": "a CUDA device, and a torch built for it",
    }
