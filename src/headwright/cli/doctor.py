"""headwright doctor."""

from __future__ import annotations

import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from headwright.cli.console import show_json, show_line
from headwright.cli.options import Json
from headwright.errors import install_line
from headwright.models.engine.part_cache import STALE_DAYS, cache_folder, unfinished

SHORT = "List what works on this machine, and how to get what is missing."
EXAMPLES = ("headwright doctor", "headwright doctor --json")
# What each extra is for, and the package whose presence tells.
EXTRAS = {
    "audit": ("models of Hugging Face", "transformers"),
    "torch": ("torch tensors, exports to PyTorch", "torch"),
    "export": ("heads as ONNX", "onnx"),
    "compiled": ("row statistics, compiled", "numba"),
    "gpu": ("row statistics and every text on a GPU", "triton"),
    "cluster": ("audits on many workers", "distributed"),
    "lab": ("the lab", "starlette"),
}
PROGRAMS = {
    "a browser": ("the lab", ("chromium", "chromium-browser", "google-chrome", "firefox")),
    "coqc": ("the checker with a machine-checked proof, make proof", ("coqc",)),
}


def doctor(json: Json = False) -> None:
    """List what works on this machine (extras, browser, GPU, Rocq), and how to get what is missing."""
    parts = [*map(_extra, EXTRAS), *map(_program, PROGRAMS), _gpu()]
    left = list(unfinished(cache_folder()))
    size = sum(one.size for one in left)
    if json:
        kept = {"folder": str(cache_folder()), "audits": len(left), "bytes": size}
        show_json({"python": platform.python_version(), "parts": parts, "unfinished_audits": kept})
        return
    from headwright import __version__

    show_line(f"headwright {__version__}, Python {platform.python_version()} on {sys.platform}")
    for part in parts:
        state = part["here"] or f"missing: {part['remedy']}"
        show_line(f"{part['part']:<10} {state} ({part['for']})")
    if left:
        show_line(
            f"{cache_folder()} holds parts of {len(left)} unfinished audit{'s' if len(left) != 1 else ''}, "
            f"{size / 1e6:.1f} MB: the same audit with --resume goes on from them; delete the folder, or leave it to "
            f"the next audit after {STALE_DAYS} days"
        )


def _extra(name: str) -> dict[str, str]:
    what, package = EXTRAS[name]
    try:
        here = f"{package} {version(package)}" if find_spec(package) else ""
    except PackageNotFoundError:
        here = package
    return {"part": name, "for": what, "here": here, "remedy": install_line(name)}


def _program(name: str) -> dict[str, str]:
    what, names = PROGRAMS[name]
    here = next((one for one in names if shutil.which(one)), "")
    remedy = "apt-get install coq libcoq-coquelicot libcoq-interval" if name == "coqc" else "any browser will do"
    return {"part": name, "for": what, "here": here, "remedy": remedy}


def _gpu() -> dict[str, str]:
    here = ""
    if find_spec("torch"):
        import torch

        here = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    return {"part": "GPU", "for": "--device cuda", "here": here, "remedy": "a CUDA device, and a torch built for it"}
