"""Running means of a model that serves: a line every so many tokens, and no more memory than before."""

from __future__ import annotations

import json
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch

import headwright as hw
from headwright.errors import InputError
from headwright.watching.serving import log_means
from tests.watching import own_models as own
from tests.watching.eager import batch, tiny


def test_lines_are_the_means_of_their_tokens() -> None:
    model, lines = tiny("llama"), list[str]()
    inputs = [batch("left", rows=rows) for rows in (8, 12, 9)]
    with torch.no_grad(), log_means(model, lines.append, every=30) as seen:
        for texts in inputs:
            model(**texts)
    assert repr(seen) == "Recording(nothing yet)"
    read = [json.loads(line) for line in lines]
    assert [line["tokens"] for line in read] == [40, 18]
    assert [line["calls"] for line in read] == [2, 1]
    for line, calls in zip(read, (inputs[:2], inputs[2:]), strict=True):
        with torch.no_grad(), hw.watch(model, keep="means") as truth:
            for texts in calls:
                model(**texts)
        summary = truth.summary()
        for name in ("entropy", "largest", "first", "largest_score"):
            np.testing.assert_allclose(np.ravel(line[name]), summary[name], atol=1e-12)
        assert line["layers"] == [0, 1]


def test_what_is_no_number_is_null() -> None:
    class Own(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return own.attend(x, x, x)

    lines: list[str] = []
    x = torch.randn(1, 2, 4, 8)
    x[0, 1, 2] = torch.nan
    with log_means(Own(), lines.append, statistics=["entropy"]):
        Own()(x)  # another model
    assert lines == []
    model = Own()
    with log_means(model, lines.append, statistics=["entropy"]):
        model(x)
    values = json.loads(lines[0])["entropy"][0]
    assert values[0] > 0
    assert values[1] is None


def test_requests_in_threads_for_long_take_constant_memory() -> None:
    model = tiny("llama").float()
    counts, sizes = list[int](), list[int]()

    def write(line: str) -> None:
        counts.append(json.loads(line)["tokens"])
        sizes.append(tracemalloc.get_traced_memory()[0])

    def serve(requests: int) -> None:
        for number in range(requests):
            ids = torch.full((1, 3 + number % 4), 5)
            model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=4,
                min_new_tokens=4,
                do_sample=False,
                pad_token_id=0,
            )

    # An hour of requests would be more rounds of the same.
    tracemalloc.start()
    try:
        with torch.no_grad(), log_means(model, write, every=60):
            threads: list[Any] = [
                threading.Thread(target=serve, args=(24,)) for _ in range(2)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            serve(24)
    finally:
        tracemalloc.stop()
    # 3 to 6 tokens of a prompt and three steps, in each of 72 requests
    assert sum(counts) == 72 * 3 + 72 // 4 * (3 + 4 + 5 + 6)
    assert all(60 <= count < 67 for count in counts[:-1])
    assert max(sizes[3:]) < min(sizes[3:]) + 400_000


def test_a_number_of_tokens_is_needed() -> None:
    with (
        pytest.raises(InputError, match="every = 0"),
        log_means(own.NanoGPT(), print, every=0),
    ):
        pass
