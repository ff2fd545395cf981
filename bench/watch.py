"""A llama of 4 layers with 16 heads (d = 64, random weights) on 2,048 tokens: watched beside not watched.

One thread, float32, the processor's time; loading is not counted. Eager attention with output_attentions=True stores
the patterns, and the entropy and largest weight are taken of them afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bench.measure import Contender

TITLE = "A model that is watched while it runs (4 layers of 16 heads, d = 64, T = 2048, one thread)"
T = 2048


def _model(implementation: str) -> tuple[Any, Any, Any]:
    import torch
    import transformers

    hf: Any = transformers

    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = hf.LlamaConfig(
        hidden_size=1024,
        num_hidden_layers=4,
        num_attention_heads=16,
        num_key_value_heads=16,
        intermediate_size=2816,
        vocab_size=1000,
        max_position_embeddings=T,
        attn_implementation=implementation,
    )
    tokens = torch.randint(0, 1000, (1, T))
    return torch, hf.LlamaForCausalLM(config).eval(), tokens


def plain() -> Callable[[], str]:
    torch, model, tokens = _model("sdpa")

    def work() -> str:
        with torch.inference_mode():
            return (
                f"logit {model(input_ids=tokens, use_cache=False).logits[0, -1, 0]:.4f}"
            )

    return work


def watched(statistics: tuple[str, ...]) -> Callable[[], str]:
    from headwright.watching import watch

    torch, model, tokens = _model("sdpa")
    with watch(model, statistics), torch.inference_mode():
        model(input_ids=tokens[:, :100], use_cache=False)  # where modules are loaded

    def work() -> str:
        with (
            threadpool_limits(1),
            torch.inference_mode(),
            watch(model, statistics) as seen,
        ):
            logit = model(input_ids=tokens, use_cache=False).logits[0, -1, 0]
        mean = seen.summary().get("entropy")
        return f"logit {logit:.4f}" + (
            "" if mean is None else f", mean entropy {mean.mean():.4f}"
        )

    return work


def stored() -> Callable[[], str]:
    torch, model, tokens = _model("eager")

    def work() -> str:
        with torch.inference_mode():
            found = model(
                input_ids=tokens, use_cache=False, output_attentions=True
            ).attentions
            entropy = torch.stack(
                [torch.special.entr(each).sum(-1).mean() for each in found]
            ).mean()
            largest = torch.stack([each.amax(-1).mean() for each in found]).mean()
        return f"mean entropy {entropy:.4f}, mean largest {largest:.4f}"

    return work


DEFAULT = ("largest", "winner", "entropy", "first", "largest_score")
NAME = "not watched (sdpa)"
ROWS = (
    "lse",
    "largest",
    "winner",
    "margin",
    "entropy",
    "first",
    "distance",
    "sensitivity",
    "largest_score",
)
CONTENDERS = [
    Contender(NAME, "plain", {}, 5, cpu=True, kind="limit"),
    Contender(
        "watched, default statistics",
        "watched",
        {"statistics": DEFAULT},
        5,
        NAME,
        cpu=True,
        kind="ours",
    ),
    Contender(
        "watched, every row statistic of the first pass",
        "watched",
        {"statistics": ROWS},
        5,
        NAME,
        cpu=True,
        kind="ours",
    ),
    Contender(
        "watched, with received weights",
        "watched",
        {"statistics": ("entropy", "received", "received_most")},
        3,
        NAME,
        cpu=True,
        kind="ours",
    ),
    Contender(
        "watched, the top 8 keys",
        "watched",
        {"statistics": ("top_keys", "top_weights")},
        3,
        NAME,
        cpu=True,
        kind="ours",
    ),
    Contender(
        "eager, patterns stored",
        "stored",
        {},
        3,
        NAME,
        cpu=True,
        limit_mb=6000,
        kind="peer",
    ),
]
