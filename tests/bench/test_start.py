"""Every script of bench/ starts: what it imports is there, also inside its functions; those for a GPU say so."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
ON_GPU = ("rows_gpu", "texts_gpu", "watch_gpu")
SCRIPTS = sorted(
    path.stem for path in BENCH.glob("*.py") if not path.stem.startswith("__")
)


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in ON_GPU])
def test_a_script_can_be_imported(name: str) -> None:
    import_module(f"bench.{name}")


@pytest.mark.parametrize("name", [*SCRIPTS, "__main__"])
def test_what_functions_import_is_there(name: str) -> None:
    for node in ast.walk(ast.parse((BENCH / f"{name}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            ("headwright", "bench")
        ):
            module = import_module(str(node.module))
            for imported in node.names:
                is_module = (
                    find_spec(f"{node.module}.{imported.name}")
                    if hasattr(module, "__path__")
                    else None
                )
                assert hasattr(module, imported.name) or is_module, (
                    f"{node.module}.{imported.name}"
                )


@pytest.mark.parametrize("name", ON_GPU)
def test_a_script_for_a_gpu_says_that_it_needs_one(name: str) -> None:
    pytest.importorskip("triton")
    pytest.importorskip("transformers")
    environment = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": str(BENCH.parent / "src"),
    }
    ran = subprocess.run(
        [sys.executable, BENCH / f"{name}.py"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert ran.stderr == f"bench/{name}.py needs a CUDA device\n"
