"""The same statistics from the patterns that eager attention stores, each by its definition."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import transformers as hf
from transformers.masking_utils import eager_mask

from tests.models.tiny import CONFIGS

SPECIAL = (0, 1, 2)
CAUSAL = (
    "llama",
    "gpt2",
    "gpt2-scaled-by-layer",
    "mistral",
    "gemma2",
    "gemma3",
    "gpt-oss",
    "qwen3",
    "opt",
    "gpt-neox",
    "phi3",
    "deepseek-v3",
)
FULL = ("bert", "roberta", "albert", "distilbert", "modernbert")


def tiny(family: str, *, loader: Any = None, implementation: str | None = None) -> Any:
    """A random model in float64, with parameters three times the usual, so that patterns are uneven."""
    torch.manual_seed(0)
    loader = loader or (hf.AutoModelForCausalLM if family in CAUSAL else hf.AutoModel)
    told = {} if implementation is None else {"attn_implementation": implementation}
    model = loader.from_config(CONFIGS[family](), **told).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1 if family == "t5" else 3)  # whose scores are not scaled
    if family == "gpt-oss":
        model.set_experts_implementation("eager")  # the fused ones know no float64
    return model.double()


def batch(
    padding: str | None, rows: int = 12, texts: int = 2
) -> dict[str, torch.Tensor]:
    """Tokens, and the mask of their padding."""
    ids = torch.as_tensor(np.random.default_rng(1).integers(3, 50, (texts, rows)))
    ids[:, 6] = 2  # a special token within the text
    mask = torch.ones_like(ids)
    if padding is not None:
        mask[0, slice(0, 4) if padding == "left" else slice(rows - 4, None)] = 0
    return {"input_ids": ids, "attention_mask": mask}


@contextmanager
def stored(model: Any) -> Iterator[list[np.ndarray]]:
    """While it lasts the model runs its own eager attention, and its patterns are kept, one for each call.

    What is hidden gets -1e9 instead of the least number, which a softmax in float32 turns into NaN.
    """
    patterns: list[np.ndarray] = []

    def attention(
        module: Any, query: Any, key: Any, value: Any, mask: Any, **more: Any
    ) -> Any:
        around = inspect.unwrap(type(module).forward).__globals__
        result = around["eager_attention_forward"](
            module, query, key, value, mask, **more
        )
        patterns.append(result[1].detach().double().numpy())
        return result

    def mask(**given: Any) -> Any:
        made = eager_mask(**given)
        return None if made is None else made.clamp_min(-1e9)

    hf.AttentionInterface.register("stored", attention)
    hf.AttentionMaskInterface.register("stored", mask)
    before = model.config._attn_implementation
    model.set_attn_implementation("stored")
    try:
        with torch.no_grad():
            yield patterns
    finally:
        model.set_attn_implementation(before)
        hf.AttentionInterface._global_mapping.pop("stored")
        hf.AttentionMaskInterface._global_mapping.pop("stored")


def from_pattern(
    alpha: np.ndarray,
    counted: np.ndarray,
    tokens: np.ndarray | None,
    first: np.ndarray,
    *,
    ends: tuple[int, int],
    top: int,
    last_rows: int,
    keys: tuple[int, ...],
) -> dict[str, np.ndarray]:
    """Statistics of patterns (batch, heads, rows, keys); rows that do not count are NaN. Sinks count."""
    texts, heads, rows, count = alpha.shape
    alpha = np.where(alpha > 1e-30, alpha, 0.0)
    sink = np.clip(1 - alpha.sum(-1), 0, 1)
    order = np.argsort(-alpha, axis=-1, kind="stable")
    high = np.take_along_axis(alpha, order, axis=-1)
    found: dict[str, np.ndarray] = {
        "largest": high[..., 0],
        "winner": order[..., 0].astype(float),
    }
    logs = np.log(np.where(alpha > 0, alpha, 1.0))
    rest = np.where(sink > 1e-6, sink * np.log(np.where(sink > 1e-6, sink, 1.0)), 0.0)
    found["entropy"] = -(alpha * logs).sum(-1) - rest
    position = np.arange(rows) + count - rows
    found["distance"] = (alpha * (position[:, None] - np.arange(count))).sum(-1)
    found["top"] = high[..., :top].sum(-1)
    found["keys"] = alpha[..., [key for key in keys if key < count]].sum(-1)
    if tokens is not None:
        found["special"] = (alpha * np.isin(tokens, SPECIAL)[:, None, None]).sum(-1)
    for name in ("first", "self", "previous", "start", "middle", "recent"):
        found[name] = np.zeros((texts, heads, rows))
    for text in range(texts):
        found["first"][text] = alpha[text, :, :, first[text]]
        for row in range(rows):
            at = text, slice(None), row
            found["self"][at] = (
                alpha[*at, position[row]] if position[row] < count else 0.0
            )
            found["previous"][at] = (
                alpha[*at, position[row] - 1] if position[row] > 0 else 0.0
            )
            seen = np.flatnonzero(alpha[*at].max(0) > 0)
            last = max(ends[0], len(seen) - ends[1])
            found["start"][at] = alpha[*at][:, seen[: ends[0]]].sum(-1)
            found["middle"][at] = alpha[*at][:, seen[ends[0] : last]].sum(-1)
            found["recent"][at] = alpha[*at][:, seen[last:]].sum(-1)
    found = {
        name: np.where(counted[:, None], value, np.nan) for name, value in found.items()
    }
    given = np.where(counted[:, None, :, None], alpha, 0.0)
    found["received"], found["received_most"] = given.sum(2), given.max(2)
    late = np.cumsum(counted[:, ::-1], axis=1)[:, ::-1] <= last_rows
    found["received_last"] = (given * late[:, None, :, None]).sum(2)
    return found


def compare(seen: Any, truth: dict[str, np.ndarray], tolerance: float = 1e-5) -> None:
    """What was seen is what the patterns say, and NaN in the same places."""
    for name, value in truth.items():
        if not hasattr(seen, name):
            continue
        got = getattr(seen, name).astype(float)
        if name == "winner":  # of nearly equal weights either may win
            got, value = np.where(got == -1, np.nan, got), value.copy()
            clear = seen.margin > 1e-4
            got, value = np.where(clear, got, 0), np.where(clear, value, 0)
        np.testing.assert_allclose(got, value, atol=tolerance, err_msg=name)
