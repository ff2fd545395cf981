"""transformers, in a process of its own that never imports headwright; one for all tests, since it starts slowly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

needs_transformers = pytest.mark.skipif(
    find_spec("transformers") is None, reason="transformers is not installed"
)

RUN = """
import json, sys
from pathlib import Path
import numpy as np, torch
from transformers import AutoModel

def run(orders, to):
    found = {}
    for number, (folder, dtype, attention) in enumerate(orders):
        settings = {} if dtype is None else {"dtype": getattr(torch, dtype)}
        if attention is not None:
            settings["attn_implementation"] = attention
        model, info = AutoModel.from_pretrained(folder, output_loading_info=True, **settings)
        assert type(model).__name__ == "OPTModel" and not any(info.values()), info
        about = json.loads((Path(folder) / "headwright.json").read_text())
        for s, ids in enumerate(about["input_ids"]):
            with torch.no_grad():
                run = model(input_ids=torch.tensor([ids]), output_attentions=attention is None)
            if attention is None:
                found[f"{number}.{s}.pattern"] = run.attentions[0][0].double().numpy()
            out = run.last_hidden_state[0]
            assert out.dtype == model.dtype
            found[f"{number}.{s}.output"] = out[:, slice(*about["output"])].double().numpy()
    np.savez(to, **found)

for line in sys.stdin:
    run(*json.loads(line))
    print("done", flush=True)
assert "headwright" not in sys.modules
"""
Order = tuple[
    Path, str | None, str | None
]  # the folder, the type it is run in, the implementation of attention


class Run(Protocol):
    """What transformers makes of the folders; files go to the path."""

    def __call__(self, path: Path, orders: list[Order]) -> dict[str, np.ndarray]: ...


@contextmanager
def transformers_process(talk: Path) -> Iterator[Run]:
    """What it says besides goes to the file `talk`, and is shown where it fails."""
    with (
        talk.open("w") as says,
        subprocess.Popen(
            [sys.executable, "-c", RUN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=says,
            text=True,
            cwd=talk.parent,
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        orderly, answers = process.stdin, process.stdout

        def run(path: Path, orders: list[Order]) -> dict[str, np.ndarray]:
            order = [
                (str(folder), dtype, attention) for folder, dtype, attention in orders
            ]
            orderly.write(json.dumps([order, str(path / "found.npz")]) + "\n")
            orderly.flush()
            assert answers.readline() == "done\n", talk.read_text()
            with np.load(path / "found.npz") as found:
                return dict(found)

        yield run
        orderly.close()
        assert process.wait(30) == 0, talk.read_text()
