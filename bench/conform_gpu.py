"""Verdicts of conform on a GPU: python -m bench.conform_gpu [--out FOLDER] [--device cpu].

Right kernels by length, dimension, type and size of scores; what a verdict costs beside
attention itself, in time and memory; seeded mistakes. Each section is written into
FOLDER/conform-gpu.json and FOLDER/conform-gpu.md as soon as it is there, so that a run
which is stopped keeps what it has. Sections that --seconds leaves no time for are named.
`--device cpu` runs all of it at small sizes, so that it can be tried without a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

import headwright as hw

Kernel = Callable[[Tensor, Tensor, Tensor], Tensor]
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cuDNN": SDPBackend.CUDNN_ATTENTION,
    "memory-efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}
FLEX = "FlexAttention, compiled"
SOFTCAP = 30.0
BY_KEY = "fused, ALiBi by key"
NARROW = ("bfloat16", "float16")
HOSTILE = ("outliers", "sinks", "equal scores", "extreme scores", "nearly equal")


@dataclass(frozen=True)
class Sizes:
    """What is tried: all of it on a GPU, little of it on a CPU."""

    lengths: tuple[int, ...] = (1024, 4096, 16384)
    dims: tuple[int, ...] = (64, 128, 256)
    deviations: tuple[int, ...] = (1, 2, 4, 8)  # of the scores
    heads: int = 2
    hostile_length: int = 2048
    gradient_lengths: tuple[int, ...] = (1024, 4096)
    timed_lengths: tuple[int, ...] = (1024, 2048, 4096, 8192, 16384)
    timed_target: int = 4096  # the length at which the types and backends are compared
    timed_heads: int = 32
    timed_dim: int = 128
    mistakes_length: int = 4096
    windows: tuple[int, ...] = (16, 128, 1024, 2048, 4000)


SMALL = Sizes(
    lengths=(64, 128),
    dims=(16,),
    deviations=(1, 8),
    hostile_length=64,
    gradient_lengths=(64,),
    timed_lengths=(64, 128),
    timed_target=128,
    timed_heads=2,
    timed_dim=16,
    mistakes_length=256,
    windows=(16, 128),
)


@dataclass(frozen=True)
class RightKernel:
    """A kernel that is right, on one input."""

    implementation: str
    dtype: str
    tokens: int
    dim: int
    kind: str
    deviation: float
    contract: str
    word: str
    ratio: float


@dataclass(frozen=True)
class Cost:
    """What a verdict costs beside the attention that it judges."""

    implementation: str
    dtype: str
    tokens: int
    heads: int
    dim: int
    attention_ms: float
    verdict_ms: float
    multiple: float
    attention_mib: float  # peak above the inputs
    verdict_mib: float  # peak above inputs and output


@dataclass(frozen=True)
class SeededMistake:
    """A kernel that is wrong, and what was said of it."""

    name: str
    word: str
    ratio: float
    named: str
    expected: bool  # found and named as the catalogue says


@dataclass
class Report:
    """All that was measured; written after every section."""

    machine: str
    folder: Path
    deadline: float
    start: float = field(default_factory=time.monotonic)
    right: list[RightKernel] = field(default_factory=list)
    gradients: list[RightKernel] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    catalogue: list[SeededMistake] = field(default_factory=list)
    long_mistakes: list[SeededMistake] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, sentence: str) -> None:
        """Something that could not be measured, and why."""
        if sentence not in self.notes:
            self.notes.append(sentence)
            print(sentence, flush=True)

    def out_of_time(self, section: str) -> bool:
        """Whether the time is over; then the section is noted as cut short."""
        if time.monotonic() < self.deadline:
            return False
        self.note(f"{section}: cut short, the time was over")
        return True

    def write(self) -> None:
        """Both files, from what there is."""
        seconds = round(time.monotonic() - self.start)
        data = {
            "machine": self.machine,
            "seconds": seconds,
            "right": [asdict(entry) for entry in self.right],
            "gradients": [asdict(entry) for entry in self.gradients],
            "costs": [asdict(entry) for entry in self.costs],
            "catalogue": [asdict(entry) for entry in self.catalogue],
            "long_mistakes": [asdict(entry) for entry in self.long_mistakes],
            "notes": self.notes,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "conform-gpu.json"
        path.write_text(json.dumps(data, indent=1) + "\n")
        text = "\n\n".join(markdown(self)) + "\n"
        (self.folder / "conform-gpu.md").write_text(text)


# Attention


def sdpa(backend: SDPBackend) -> Kernel:
    """Causal attention by one backend of PyTorch."""

    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=True
            )

    return attention


def masked(added: Tensor) -> Kernel:
    """Attention with numbers that are added to the scores."""

    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, attn_mask=added
            )

    return attention


def with_softcap(score: Any, _batch: Any, _head: Any, _row: Any, _key: Any) -> Any:
    """For FlexAttention."""
    return SOFTCAP * torch.tanh(score / SOFTCAP)


def with_alibi(slopes: Tensor) -> Callable[..., Any]:
    """For FlexAttention: by the number of the key, as is usual there."""

    def add(score: Any, _batch: Any, head: Any, _row: Any, key: Any) -> Any:
        return score + slopes[head] * key

    return add


def flex(
    tokens: int, device: str, score_mod: Callable[..., Any] | None = None
) -> Kernel:
    """Causal FlexAttention: compiled on a GPU, plain on a CPU."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def see_no_later_key(_batch: Any, _head: Any, row: Any, key: Any) -> Any:
        return row >= key

    block_mask = create_block_mask(
        see_no_later_key, None, None, tokens, tokens, device=device
    )
    function: Any = flex_attention
    if device != "cpu":
        torch._dynamo.reset()
        function = torch.compile(flex_attention, dynamic=False)
    return lambda q, k, v: function(q, k, v, score_mod=score_mod, block_mask=block_mask)


def inputs(
    device: str, tokens: int, dim: int, heads: int, dtype: str, kind: Any = "gaussian"
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values on the device; Gaussian ones are made there."""
    if kind == "gaussian":
        generator = torch.Generator(device).manual_seed(tokens + dim)
        size = (1, heads, tokens, dim)
        q, k, v = (
            torch.randn(size, generator=generator, device=device) for _ in range(3)
        )
        number_type = getattr(torch, dtype)
        return q.to(number_type), k.to(number_type), v.to(number_type)
    return hw.attention_inputs(
        kind,
        rows=tokens,
        dim=dim,
        heads=heads,
        dtype=dtype,  # type: ignore[arg-type]
        framework="torch",
        device=device,
    )


# Right kernels


def judge_right_kernel(
    report: Report,
    name: str,
    kernel: Kernel,
    tensors: tuple[Tensor, Tensor, Tensor],
    kind: str,
    deviation: float,
    contract: str = "fused",
) -> None:
    """One line of the table; a backend that is not there is a note."""
    q, k, v = tensors
    dtype = str(q.dtype).removeprefix("torch.")
    try:
        out = kernel(q, k, v)
    except Exception as error:  # noqa: BLE001 - backends raise what they like
        reason = " ".join(str(error).split())[:200]
        report.note(f"{name}, {dtype}, dim {q.shape[3]}: not available ({reason})")
        return
    verdict = hw.conform(out, q, k, v, causal=True, contract=contract, explain=False)
    entry = RightKernel(
        name,
        dtype,
        q.shape[2],
        q.shape[3],
        kind,
        deviation,
        verdict.contract,
        str(verdict.word),
        verdict.ratio,
    )
    report.right.append(entry)
    if verdict.word != "within":
        report.note(f"{name}, {dtype}, {tuple(q.shape)}, {kind}: {verdict}")


def right_kernels(report: Report, sizes: Sizes, device: str) -> None:
    """Backends of PyTorch by length, dimension, type and deviation of scores."""
    for dtype in NARROW:
        for tokens in sizes.lengths:
            for dim in sizes.dims:
                if report.out_of_time("right kernels"):
                    return
                tensors = inputs(device, tokens, dim, sizes.heads, dtype)
                for deviation, scaled in deviations(tensors, sizes):
                    for name, backend in BACKENDS.items():
                        judge_right_kernel(
                            report, name, sdpa(backend), scaled, "gaussian", deviation
                        )
            print(f"{dtype} {tokens}: {elapsed(report)}", flush=True)


def deviations(
    tensors: tuple[Tensor, Tensor, Tensor], sizes: Sizes
) -> Iterator[tuple[int, tuple[Tensor, Tensor, Tensor]]]:
    """The same inputs with scores of each standard deviation, a power of 2."""
    q, k, v = tensors
    for deviation in sizes.deviations:
        yield deviation, (q * deviation, k, v)


def hostile_inputs(report: Report, sizes: Sizes, device: str) -> None:
    """Inputs that show errors best; float32 also with tf32 switched on."""
    for dtype in (*NARROW, "float32"):
        for kind in HOSTILE:
            if report.out_of_time("hostile inputs"):
                return
            tensors = inputs(device, sizes.hostile_length, 64, 2, dtype, kind)
            for name, backend in BACKENDS.items():
                judge_right_kernel(report, name, sdpa(backend), tensors, kind, 1)
    if device == "cpu":
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    for kind in HOSTILE:
        tensors = inputs(device, sizes.hostile_length, 64, 2, "float32", kind)
        for name in ("memory-efficient", "math"):
            kernel = sdpa(BACKENDS[name])
            judge_right_kernel(
                report, f"{name}, tf32", kernel, tensors, kind, 1, "tf32"
            )
    torch.set_float32_matmul_precision(before)


def gradient_kernels(report: Report, sizes: Sizes, device: str) -> None:
    """dq, dk and dv of the backends, and how long judging them takes."""
    for dtype in NARROW:
        for tokens in sizes.gradient_lengths:
            for kind in ("gaussian", "sinks", "extreme scores"):
                if report.out_of_time("gradients"):
                    return
                q, k, v = inputs(device, tokens, 64, 2, dtype, kind)
                for name, backend in BACKENDS.items():
                    judge_gradients_of(report, name, sdpa(backend), (q, k, v), kind)
            print(f"gradients {dtype} {tokens}: {elapsed(report)}", flush=True)


def judge_gradients_of(
    report: Report,
    name: str,
    kernel: Kernel,
    tensors: tuple[Tensor, Tensor, Tensor],
    kind: str,
) -> None:
    """Three lines of the table; a backend that is not there is a note."""
    q, k, v = tensors
    dtype = str(q.dtype).removeprefix("torch.")
    try:
        verdict = hw.conform(
            kernel, q, k, v, causal=True, gradients=True, rows=64, explain=False
        )
    except Exception as error:  # noqa: BLE001 - backends raise what they like
        reason = " ".join(str(error).split())[:200]
        report.note(f"gradients of {name}, {dtype}, {q.shape[2]} tokens: {reason}")
        return
    for gradient in verdict.gradients:
        entry = RightKernel(
            f"{name}, {gradient.name}",
            dtype,
            q.shape[2],
            q.shape[3],
            kind,
            1,
            gradient.contract,
            str(gradient.word),
            gradient.ratio,
        )
        report.gradients.append(entry)
        if gradient.word != "within" or gradient.contract != "fused":
            report.note(f"{name}, {dtype}, {q.shape[2]} tokens, {kind}: {gradient}")


def flex_kernels(report: Report, sizes: Sizes, device: str) -> None:
    """FlexAttention, which is compiled anew for each size."""
    for tokens in sizes.lengths:
        for dim in sizes.dims:
            for dtype in NARROW:
                if report.out_of_time("FlexAttention"):
                    return
                kernel = flex(tokens, device)
                tensors = inputs(device, tokens, dim, sizes.heads, dtype)
                for deviation, scaled in deviations(tensors, sizes):
                    judge_right_kernel(
                        report, FLEX, kernel, scaled, "gaussian", deviation
                    )
            print(f"flex {tokens} {dim}: {elapsed(report)}", flush=True)


# Costs


def costs(report: Report, sizes: Sizes, device: str) -> None:
    """By type and backend at one length, then by length for one backend."""
    target = sizes.timed_target
    for dtype in NARROW:
        for name, backend in BACKENDS.items():
            measure_cost(report, sizes, device, name, sdpa(backend), dtype, target)
    for name, kernel, described in with_other_scores(sizes, device):
        measure_cost(report, sizes, device, name, kernel, "bfloat16", target, described)
    for tokens in sizes.timed_lengths:
        if tokens == target or report.out_of_time("costs by length"):
            continue
        kernel = sdpa(BACKENDS["flash"])
        measure_cost(report, sizes, device, "flash", kernel, "bfloat16", tokens)


def with_other_scores(
    sizes: Sizes, device: str
) -> Iterator[tuple[str, Kernel, dict[str, Any]]]:
    """Kernels whose scores are not products alone, and what describes them."""
    tokens, heads = sizes.timed_target, sizes.timed_heads
    ones = torch.ones(tokens, tokens, dtype=torch.bool, device=device)
    hidden = ones.triu(1)[None, None]
    infinite = torch.zeros(1, 1, tokens, tokens, device=device, dtype=torch.bfloat16)
    infinite = infinite.masked_fill(hidden, -torch.inf)
    yield "memory-efficient, mask of 0 and -inf", masked(infinite), {"bias": infinite}
    lowest = infinite.clamp(min=torch.finfo(torch.bfloat16).min)
    yield "memory-efficient, mask of least numbers", masked(lowest), {"bias": lowest}

    slopes = 0.5 ** torch.linspace(1, 8, heads)
    positions = torch.arange(tokens, device=device)
    distance = (positions[:, None] - positions[None, :]).abs()
    alibi = -slopes.to(device)[None, :, None, None] * distance
    alibi = alibi.to(torch.bfloat16).masked_fill(hidden, -torch.inf)
    yield "memory-efficient, bias of each head", masked(alibi), {"bias": alibi}
    kernel = flex(tokens, device, with_softcap)
    yield f"{FLEX}, softcap", kernel, {"causal": True, "softcap": SOFTCAP}
    kernel = flex(tokens, device, with_alibi(slopes.to(device)))
    described = {"causal": True, "alibi": slopes.tolist(), "contract": BY_KEY}
    yield f"{FLEX}, ALiBi", kernel, described


def measure_cost(
    report: Report,
    sizes: Sizes,
    device: str,
    name: str,
    kernel: Kernel,
    dtype: str,
    tokens: int,
    described: dict[str, Any] | None = None,
) -> None:
    """Time and memory of the attention and of its verdict; causal unless described."""
    q, k, v = inputs(device, tokens, sizes.timed_dim, sizes.timed_heads, dtype)

    def attend() -> Tensor:
        return kernel(q, k, v)

    def judge() -> object:
        options: dict[str, Any] = {"contract": "fused", "explain": False}
        options.update(described or {"causal": True})
        return hw.conform(out, q, k, v, **options).word

    try:
        out = attend()
        attention_ms, attention_mib = measure(attend, device, repeats=20)
        verdict_ms, verdict_mib = measure(judge, device, repeats=9)
    except Exception as error:  # noqa: BLE001 - backends raise what they like
        reason = " ".join(str(error).split())[:200]
        report.note(
            f"cost of {name}, {dtype}, {tokens} tokens: not measured ({reason})"
        )
        return
    entry = Cost(
        name,
        dtype,
        tokens,
        sizes.timed_heads,
        sizes.timed_dim,
        attention_ms,
        verdict_ms,
        verdict_ms / attention_ms,
        attention_mib,
        verdict_mib,
    )
    report.costs.append(entry)
    print(f"{entry}: {elapsed(report)}", flush=True)


def measure(
    work: Callable[[], object], device: str, repeats: int
) -> tuple[float, float]:
    """Median milliseconds after one call to warm up, and peak memory in MiB."""
    synchronise(device)
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    work()
    synchronise(device)
    mib = 0.0
    if device != "cpu":
        mib = (torch.cuda.max_memory_allocated() - before) / 2**20
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        synchronise(device)
        seconds.append(time.perf_counter() - start)
    return 1000 * median(seconds), mib


def synchronise(device: str) -> None:
    """Wait until the GPU has done what was asked of it."""
    if device != "cpu":
        torch.cuda.synchronize()


# Mistakes


def seeded_catalogue(report: Report, device: str) -> None:
    """The mistakes of tests/conformance/catalogue.py, with tensors on the device."""
    from tests.conformance.catalogue import INDISTINGUISHABLE, MISTAKES

    for mistake in MISTAKES:
        if report.out_of_time("catalogue"):
            return
        tensors = [tensor.to(device) for tensor in mistake.tensors()]
        try:
            with torch.device(device):
                out = mistake.kernel(*tensors)
            verdict = hw.conform(out, *tensors, contract="fused", **mistake.described)
        except Exception as error:  # noqa: BLE001 - the others shall still be judged
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            report.note(f"mistake '{mistake.name}': {reason}")
            continue
        names = [hypothesis.name for hypothesis in verdict.hypotheses]
        if mistake.explained_by == INDISTINGUISHABLE:
            expected = verdict.word == "within"
        elif mistake.explained_by:
            expected = mistake.explained_by in names
        else:
            expected = verdict.word == "outside" and not names
        entry = SeededMistake(
            mistake.name,
            str(verdict.word),
            verdict.ratio,
            ", ".join(names),
            expected,
        )
        report.catalogue.append(entry)
        if not expected:
            report.note(f"mistake '{mistake.name}': {verdict}")


def long_mistakes(report: Report, sizes: Sizes, device: str) -> None:
    """Mistakes in bfloat16 where a key more or less has little weight."""
    tokens = sizes.mistakes_length
    q, k, v = inputs(device, tokens, 128, 1, "bfloat16")
    ones = torch.ones(tokens, tokens, dtype=torch.bool, device=device).tril()
    scale = 128**-0.5

    def record(name: str, out: Tensor, window: int | None = None) -> None:
        verdict = hw.conform(out, q, k, v, causal=True, window=window, contract="fused")
        named = ", ".join(hypothesis.name for hypothesis in verdict.hypotheses)
        entry = SeededMistake(name, str(verdict.word), verdict.ratio, named, True)
        report.long_mistakes.append(entry)
        print(f"{entry}: {elapsed(report)}", flush=True)

    right = attend_in_float32(q, k, v, ones, scale)
    record("none", right)
    for window in sizes.windows:
        if report.out_of_time("mistakes in long sequences"):
            return
        too_wide = ones.triu(-window)
        out = attend_in_float32(q, k, v, too_wide, scale)
        record(f"window of {window + 1:,} keys, not {window:,}", out, window)
    eight_bits = torch.float8_e4m3fn
    record(
        "keys in fp8",
        attend_in_float32(q, k.to(eight_bits).to(q.dtype), v, ones, scale),
    )
    record(
        "values in fp8",
        attend_in_float32(q, k, v.to(eight_bits).to(q.dtype), ones, scale),
    )
    for percent in (0.1, 0.5, 2.0):
        if report.out_of_time("mistakes in long sequences"):
            return
        factor = 1 + percent / 100
        out = attend_in_float32(q, k, v, ones, scale * factor)
        record(f"scale {percent:g}% too large", out)
    one_ulp = (right.view(torch.int16) + 1).view(torch.bfloat16)
    record("every output one ulp too large", one_ulp)
    future = torch.ones_like(ones).tril(1)
    record("one future key seen", attend_in_float32(q, k, v, future, scale))
    record("zeros", torch.zeros_like(right))


def attend_in_float32(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float
) -> Tensor:
    """A right kernel: float32 inside, one rounding of the output."""
    scores = q.float() @ k.float().mT * scale
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    return (weights @ v.float()).to(q.dtype)


# Tables


def markdown(report: Report) -> Iterator[str]:
    """The report as paragraphs of Markdown."""
    yield f"# Verdicts on a GPU\n\n{report.machine}."
    if report.right:
        yield "## Right kernels: error / bound, from the least to the largest"
        yield _ratios(report.right)
        worst = max(report.right, key=lambda entry: entry.ratio)
        yield (
            f"{len(report.right)} outputs; the largest ratio is {worst.ratio:.4f} "
            f"({worst.implementation}, {worst.dtype}, {worst.tokens} tokens, dimension "
            f"{worst.dim}, {worst.kind}, deviation {worst.deviation:g})."
        )
    if report.gradients:
        yield "## Gradients: error / bound, from the least to the largest"
        yield _ratios(report.gradients)
    if report.costs:
        yield "## What a verdict costs"
        yield _table(
            ["attention", "type", "tokens", "attention", "verdict", "times", "memory"],
            [
                [
                    f"{cost.implementation}, {cost.heads} heads of {cost.dim}",
                    cost.dtype,
                    f"{cost.tokens:,}",
                    f"{cost.attention_ms:.3f} ms",
                    f"{cost.verdict_ms:.1f} ms",
                    f"{cost.multiple:.0f}",
                    f"{cost.verdict_mib:,.0f} MiB",
                ]
                for cost in report.costs
            ],
        )
    for title, mistakes in (
        ("Mistakes in long sequences", report.long_mistakes),
        ("The catalogue of mistakes", report.catalogue),
    ):
        if mistakes:
            as_expected = sum(mistake.expected for mistake in mistakes)
            yield f"## {title}"
            yield f"{as_expected} of {len(mistakes)} as expected."
            lines = [
                [entry.name, entry.word, f"{entry.ratio:.3g}", entry.named]
                for entry in mistakes
            ]
            yield _table(["mistake", "verdict", "ratio", "named"], lines)
    if report.notes:
        yield "## Notes"
        yield "\n".join(f"- {' '.join(note.split())}" for note in report.notes)


def _ratios(entries: list[RightKernel]) -> str:
    """A line for each implementation and type, a column for each length."""
    lengths = sorted({entry.tokens for entry in entries})
    ratios: dict[tuple[str, str, int], list[float]] = {}
    for entry in entries:
        place = (entry.implementation, entry.dtype, entry.tokens)
        ratios.setdefault(place, []).append(entry.ratio)
    table = []
    for name, dtype in dict.fromkeys((name, dtype) for name, dtype, _ in ratios):
        line = [name, dtype]
        for tokens in lengths:
            known = ratios.get((name, dtype, tokens), [])
            line.append(f"{min(known):.3f}-{max(known):.3f}" if known else "")
        table.append(line)
    headings = ["implementation", "type", *(f"{tokens:,}" for tokens in lengths)]
    return _table(headings, table)


def _table(headings: list[str], table: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *table]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def elapsed(report: Report) -> str:
    """How long it has run."""
    return f"{time.monotonic() - report.start:.0f} s"


def main() -> int:
    """Run the sections, the short ones first. Exit 1 if a right kernel is outside."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "out")))
    parser.add_argument("--seconds", type=float, default=440.0)
    options = parser.parse_args()
    device: str = options.device
    sizes = SMALL if device == "cpu" else Sizes()
    machine = f"CPU, torch {torch.__version__}"
    if device == "cuda":
        if not torch.cuda.is_available():
            sys.exit("there is no GPU here: use --device cpu")
        machine = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    report = Report(machine, options.out, time.monotonic() + options.seconds)
    sections: tuple[tuple[str, Callable[[], None]], ...] = (
        ("costs", lambda: costs(report, sizes, device)),
        ("right kernels", lambda: right_kernels(report, sizes, device)),
        ("hostile inputs", lambda: hostile_inputs(report, sizes, device)),
        ("long mistakes", lambda: long_mistakes(report, sizes, device)),
        ("gradients", lambda: gradient_kernels(report, sizes, device)),
        ("catalogue", lambda: seeded_catalogue(report, device)),
        ("FlexAttention", lambda: flex_kernels(report, sizes, device)),
    )
    for name, run_section in sections:
        try:
            run_section()
        except Exception as error:  # noqa: BLE001 - the other sections shall still run
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:400]
            report.note(f"{name}: stopped by {reason}")
        report.write()
        print(f"{name}: done, {elapsed(report)}", flush=True)
    judged = (*report.right, *report.gradients)
    return int(any(entry.word == "outside" for entry in judged))


if __name__ == "__main__":
    sys.exit(main())
