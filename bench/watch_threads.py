"""A forward pass watched beside not watched, with as many threads as torch takes: python bench/watch_threads.py 512.

A llama of the size of SmolLM2-135M (30 layers of 9 heads, d = 64), random weights, float32. Both take turns, since
machines are noisy, and the least of each counts: of the clock, and of the processor, whose threads wait by turning.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

ROUNDS = {512: 5, 2048: 3}


def main(length: int) -> None:
    """Print seconds, ratios and how far the memory of the process has grown at most."""
    import torch
    import transformers

    from headwright.watching import watch

    hf: Any = transformers
    torch.manual_seed(0)
    config = hf.LlamaConfig(
        hidden_size=576,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        intermediate_size=1536,
        vocab_size=49152,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
    )
    model = hf.LlamaForCausalLM(config).eval()
    tokens = torch.randint(0, 49152, (1, length))

    def plain() -> None:
        model(input_ids=tokens, use_cache=False, logits_to_keep=1)

    def watched() -> None:
        with watch(model):
            plain()

    def timed(work: Callable[[], None]) -> tuple[float, float]:
        start = time.perf_counter(), time.process_time()
        work()
        return time.perf_counter() - start[0], time.process_time() - start[1]

    with torch.no_grad():
        with watch(model):
            model(input_ids=tokens[:, :64], use_cache=False)  # where modules are loaded
        memory = [_peak()]
        for work in (plain, watched):
            work()
            memory.append(_peak())
        seconds: dict[Callable[[], None], list[tuple[float, float]]] = {
            plain: [],
            watched: [],
        }
        for _ in range(ROUNDS.get(length, 3)):
            for work, times in seconds.items():
                times.append(timed(work))
    for number, clock in enumerate(("clock", "processor")):
        alone, beside = (
            min(times[number] for times in seconds[work]) for work in (plain, watched)
        )
        print(
            f"T = {length}, {clock}: {alone:.2f} s, watched {beside:.2f} s, ratio {beside / alone:.2f}"
        )
    print(
        f"memory at most: {memory[1] - memory[0]} MB more than before, watched {memory[2] - memory[0]} MB"
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 512)
