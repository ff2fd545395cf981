"""Running means while a model serves requests: a line of JSON every so many tokens, in constant memory."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.watching.api import watch
from headwright.watching.module_hook import ModuleHook, unwrapped
from headwright.watching.names import DEFAULT
from headwright.watching.recorded import Recording

__all__ = ["log_means"]

PLACE = ("part", "layer", "head", "rows", "module")
TOKENS = (
    "input_ids",
    "inputs_embeds",
    "decoder_input_ids",
)  # whose axes are batch, rows


@contextmanager
def log_means(
    model: Any,
    write: Callable[[str], Any],
    *,
    every: int = 10_000,
    statistics: Sequence[str] = DEFAULT,
) -> Iterator[Recording]:
    """While it lasts, a line of JSON for every so many tokens that the model reads, in any thread.

    A line has the time, the number of tokens and of calls since the line before, and for each statistic its mean of
    every head over these: a list of heads for each layer, null where it is no finite number. What is left at the end
    is a line too.

    Args:
        model: as `watch` takes it.
        write: is called with each line, as `file.write`; in the thread whose call was the last one.
        every: how many tokens, padding included. Calls are never divided.
        statistics: names of statistics of rows.

    >>> import torch, transformers as hf
    >>> model = hf.GPT2LMHeadModel(hf.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=9))
    >>> lines = []
    >>> with log_means(model, lines.append, every=4, statistics=["entropy"]):
    ...     for _ in range(3):
    ...         logits = model(input_ids=torch.tensor([[1, 2, 3]])).logits
    >>> [json.loads(line)["tokens"] for line in lines]
    [6, 3]
    """
    if every < 1:
        raise InputError(f"every = {every}: expected a number of tokens above 0")
    with watch(model, statistics, keep="means") as seen:
        log = _MeansLog(seen, write, every)
        hook = unwrapped(model).register_forward_hook(
            ModuleHook(log.after_call), with_kwargs=True
        )
        try:
            yield seen
        finally:
            hook.remove()
            log.write_line()


class _MeansLog:
    """Counts tokens, and writes the means of those since the last line."""

    def __init__(
        self, seen: Recording, write: Callable[[str], Any], every: int
    ) -> None:
        self.seen, self.write, self.every = seen, write, every
        self.lock = threading.Lock()
        self.tokens = self.calls = 0

    def after_call(
        self, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], output: Any
    ) -> None:
        """The model has read some tokens."""
        del model, output
        with self.lock:
            self.tokens += _count_tokens(args, kwargs)
            self.calls += 1
            if self.tokens >= self.every:
                self._write_line()

    def write_line(self) -> None:
        """What was read since the last line, if anything was."""
        with self.lock:
            if self.calls:
                self._write_line()

    def _write_line(self) -> None:
        # Nothing is recorded in between, whatever thread runs the model.
        with self.seen.queue.lock:
            summary = self.seen.summary()
            self.seen.reset()
        line = {
            "time": round(time.time(), 3),
            "tokens": self.tokens,
            "calls": self.calls,
            **_by_layer(summary),
        }
        self.tokens = self.calls = 0
        self.write(json.dumps(line, allow_nan=False) + "\n")


def _count_tokens(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """Texts times rows, of the first argument that has both."""
    named = [kwargs.get(name) for name in TOKENS]
    for value in (*named, *args):
        shape: Sequence[int] = getattr(value, "shape", ())
        if len(shape) >= 2:
            return int(shape[0]) * int(shape[1])
    return 1


def _by_layer(summary: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """For each part and statistic, a list of heads for each layer; of an only part, without its name."""
    lines: dict[str, Any] = {}
    parts = list(dict.fromkeys(summary["part"].tolist()))
    for part in parts:
        of_part = summary["part"] == part
        layers = list(dict.fromkeys(summary["layer"][of_part].tolist()))
        means: dict[str, list[list[float | None]]] = {}
        for name in summary:
            if name in PLACE:
                continue
            means[name] = []
            for layer in layers:
                of_layer = of_part & (summary["layer"] == layer)
                values = summary[name][of_layer].tolist()
                means[name].append(
                    [value if math.isfinite(value) else None for value in values]
                )
        if len(parts) == 1:
            lines = {"layers": layers, **means}
        else:
            lines[part] = {"layers": layers, **means}
    return lines
