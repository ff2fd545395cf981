"""transformers, in a process of its own that never imports headwright."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

needs_transformers = pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed")

RUN = """
import json, sys
from pathlib import Path
import numpy as np, torch
from transformers import AutoModel
found = {}
for number, (folder, dtype, attention) in enumerate(json.loads(sys.argv[1])):
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
np.savez(sys.argv[2], **found)
"""


def run(tmp_path: Path, orders: list[tuple[Path, str | None, str | None]]) -> dict[str, np.ndarray]:
    """What transformers makes of the folders, in a fresh process that never imports headwright."""
    order = json.dumps([(str(folder), dtype, attention) for folder, dtype, attention in orders])
    command = [sys.executable, "-c", RUN, order, str(tmp_path / "found.npz")]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    with np.load(tmp_path / "found.npz") as found:
        return dict(found)
