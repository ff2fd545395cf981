"""What watching costs on a GPU, as ratios to the same model that is not watched: python bench/watch_gpu.py [--quick].

A llama of 16 layers with 16 heads, d = 64, random weights, bfloat16, SDPA. In one run: a training step of 4 x 2,048
tokens, watched always and every 100th step; prefills of 4k, 16k and 32k tokens; generation of tokens after a prompt of
8,192. Contenders take turns, and the least of each counts. Logits and tokens must be the same. With --quick there are
fewer turns and fewer new tokens, for one minute with the kernels' compilation.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

DEFAULT = ("largest", "winner", "entropy", "first", "largest_score")
RECEIVED = ("entropy", "received")
TRAINED = ("entropy", "largest_score")
LENGTHS = (4096, 16384, 32768)
PROMPT = 8192
EVERY = 100

Work = Callable[[], Any]


def main() -> None:
    """Print milliseconds and ratios, each as soon as it is known."""
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("bench/watch_gpu.py needs a CUDA device")
    quick = "--quick" in sys.argv[1:]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    model = make_model()
    measure_training(model, rounds=4 if quick else 12)
    model.eval()
    for length in LENGTHS:
        measure_prefill(model, length, rounds=3 if quick else 6)
    measure_generation(model, new=64 if quick else 512, rounds=2 if quick else 4)


def make_model() -> Any:
    """The model that all figures are about."""
    import torch
    import transformers

    hf: Any = transformers
    torch.manual_seed(0)
    config = hf.LlamaConfig(
        hidden_size=1024,
        num_hidden_layers=16,
        num_attention_heads=16,
        num_key_value_heads=16,
        intermediate_size=2816,
        vocab_size=1000,
        max_position_embeddings=LENGTHS[-1],
        attn_implementation="sdpa",
    )
    return hf.LlamaForCausalLM(config).to("cuda", torch.bfloat16)


def measure_training(model: Any, rounds: int) -> None:
    """Forward, backward and optimiser; the block is open all the time, as in a training run."""
    import torch

    from headwright.watching import watch

    tokens = random_tokens(4, 2048)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, fused=True)
    model.train()

    def step() -> None:
        loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    def watched_step() -> None:
        with watch(model, TRAINED, keep="means"):
            step()

    def watched_steps() -> float:
        """Seconds of a step within a block that stays open."""
        with watch(model, TRAINED, keep="means") as seen:
            step()
            seconds = least_seconds({"": step}, rounds)[""]
            seen.summary()
        return seconds

    step()
    watched_step()
    alone = within = opened = float("inf")
    for _ in range(3):  # in turn: a machine is slower at times
        alone = min(alone, least_seconds({"": step}, rounds)[""])
        within = min(within, watched_steps())
        opened = min(opened, least_seconds({"": watched_step}, rounds)[""])
    show("training step, 4 x 2,048, not watched", alone, alone)
    show(f"  watched every step ({', '.join(TRAINED)})", within, alone)
    show("  one block for each step", opened, alone)
    amortised = ((EVERY - 1) * alone + opened) / EVERY
    show(f"  watched every {EVERY}th step, computed of these", amortised, alone)
    del optimizer
    for parameter in model.parameters():
        parameter.grad = None


def measure_prefill(model: Any, length: int, rounds: int) -> None:
    """One text, without a cache."""
    import torch

    from headwright.watching import watch

    tokens = random_tokens(1, length)

    def run() -> Any:
        with torch.inference_mode():
            return model(input_ids=tokens, use_cache=False, logits_to_keep=1).logits

    def run_watched(statistics: Sequence[str]) -> Any:
        with watch(model, statistics):
            return run()

    contenders: dict[str, Work] = {
        "not watched": run,
        "entropy": lambda: run_watched(("entropy",)),
        "default statistics": lambda: run_watched(DEFAULT),
        "received": lambda: run_watched(RECEIVED),
    }
    truth = run()
    for name, work in contenders.items():
        if not torch.equal(work(), truth):
            raise SystemExit(f"prefill, {name}: other logits")
    seconds = least_seconds(contenders, rounds)
    alone = seconds["not watched"]
    for name, value in seconds.items():
        show(f"prefill of {length:,}, {name}", value, alone)


def measure_generation(model: Any, new: int, rounds: int) -> None:
    """Greedy tokens after a prompt, with a cache that grows; the prefill counts."""
    import torch

    from headwright.watching import watch

    tokens = random_tokens(1, PROMPT)
    mask = torch.ones_like(tokens)

    def generate(count: int) -> Any:
        with torch.inference_mode():
            return model.generate(
                input_ids=tokens,
                attention_mask=mask,
                do_sample=False,
                pad_token_id=0,
                max_new_tokens=count,
                min_new_tokens=count,
            )

    def generate_watched(statistics: Sequence[str], count: int) -> Any:
        with watch(model, statistics):
            return generate(count)

    # Some kernels add in another order each time, watched or not: then tokens of near
    # ties differ, and runs part there.
    unwatched = [generate(new)[0, PROMPT:] for _ in range(5)]
    watched = generate_watched(DEFAULT, new)[0, PROMPT:]
    same = max(count_same(watched, tokens) for tokens in unwatched)
    others = [count_same(unwatched[0], tokens) for tokens in unwatched[1:]]
    print(f"watched, the first {same} of {new} tokens are those of a run that is not;")
    print(f"of five of those, the first {others} are those of another", flush=True)
    seconds = least_seconds(
        {
            "not watched": lambda: generate(new),
            "entropy": lambda: generate_watched(("entropy",), new),
            "default statistics": lambda: generate_watched(DEFAULT, new),
        },
        rounds,
    )
    alone = seconds["not watched"]
    for name, value in seconds.items():
        show(f"generation of {new} after {PROMPT:,}, {name}", value, alone)


def count_same(some: Any, others: Any) -> int:
    """How many tokens two texts begin with alike."""
    return int((some == others).int().cumprod(0).sum())


def random_tokens(texts: int, length: int) -> Any:
    """Ids on the GPU."""
    import torch

    return torch.randint(3, 1000, (texts, length), device="cuda")


def least_seconds(contenders: dict[str, Work], rounds: int) -> dict[str, float]:
    """The least time of each; they take turns, since such machines are noisy."""
    import torch

    least = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, work in contenders.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            work()
            torch.cuda.synchronize()
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def show(name: str, seconds: float, alone: float) -> None:
    """A line of the record."""
    print(f"{name}: {1000 * seconds:.1f} ms, {seconds / alone:.3f} times", flush=True)


if __name__ == "__main__":
    main()
