"""What ranges of a model of 8 billion parameters cost: python -m bench.ranges_size [--layers N] [--keep FOLDER].

A checkpoint with the sizes of Llama 3 8B is written, in four files of bfloat16: what attention reads is random, and
what ranges never read (MLPs and embeddings) are holes in the files, which take no room on a disk. Then
`headwright ranges` runs in a process of its own, and its time, its processor time and the most memory that it held are
printed, file pages included; then `headwright verify` checks the certificate.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

WIDTH, HEADS, KEY_HEADS, HEAD_DIM = 4096, 32, 8, 128
MLP_WIDTH, VOCABULARY = 14336, 128256
SHARDS = 4
BYTES = 2  # of a number in bfloat16
SPREAD = 0.02
CONFIG = {
    "model_type": "llama",
    "hidden_size": WIDTH,
    "intermediate_size": MLP_WIDTH,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KEY_HEADS,
    "vocab_size": VOCABULARY,
    "rms_norm_eps": 1e-5,
    "torch_dtype": "bfloat16",
}


@dataclass(frozen=True)
class Tensor:
    """A tensor of the checkpoint; a hole has no numbers of its own."""

    name: str
    shape: tuple[int, ...]
    is_hole: bool = False

    @property
    def size(self) -> int:
        """In bytes."""
        return int(np.prod(self.shape)) * BYTES


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m bench.ranges_size", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--keep", type=Path, help="a folder for the checkpoint")
    asked = parser.parse_args()
    if asked.keep is not None:
        asked.keep.mkdir(parents=True, exist_ok=True)
        run(asked.keep, asked.layers)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), asked.layers)


def run(folder: Path, layers: int) -> None:
    """Write, bound and verify."""
    size = write_checkpoint(folder, layers)
    on_disk = sum(path.stat().st_blocks for path in folder.iterdir()) * 512
    print(
        f"{layers} layers, {size / 2e9:.2f} billion parameters, {size / 1e9:.1f} GB of files "
        f"({on_disk / 1e9:.1f} GB on the disk), load {os.getloadavg()[0]:.1f}"
    )
    certificate = folder / "ranges.json"
    measure_command("ranges", str(folder), "--out", str(certificate))
    measure_command("verify", str(certificate), "--model", str(folder))
    print(f"load {os.getloadavg()[0]:.1f}")


def write_checkpoint(folder: Path, layers: int) -> int:
    """The bytes of its tensors."""
    rng = np.random.default_rng(0)
    shards: list[list[Tensor]] = [[] for _ in range(SHARDS)]
    for layer in range(layers):
        shards[layer * SHARDS // layers].extend(tensors_of_layer(layer))
    outer = ("model.embed_tokens.weight", "lm_head.weight")
    shards[0].append(Tensor(outer[0], (VOCABULARY, WIDTH), is_hole=True))
    shards[-1].append(Tensor(outer[1], (VOCABULARY, WIDTH), is_hole=True))
    weight_map = {}
    size = 0
    for number, tensors in enumerate(shards, start=1):
        name = f"model-{number:05}-of-{SHARDS:05}.safetensors"
        write_shard(folder / name, tensors, rng)
        for tensor in tensors:
            weight_map[tensor.name] = name
            size += tensor.size
    index = {"metadata": {"total_size": size}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    config = CONFIG | {"num_hidden_layers": layers}
    (folder / "config.json").write_text(json.dumps(config))
    return size


def tensors_of_layer(layer: int) -> list[Tensor]:
    """By name."""
    stem = f"model.layers.{layer}."
    keys = KEY_HEADS * HEAD_DIM
    return [
        Tensor(f"{stem}input_layernorm.weight", (WIDTH,)),
        Tensor(f"{stem}self_attn.q_proj.weight", (HEADS * HEAD_DIM, WIDTH)),
        Tensor(f"{stem}self_attn.k_proj.weight", (keys, WIDTH)),
        Tensor(f"{stem}self_attn.v_proj.weight", (keys, WIDTH)),
        Tensor(f"{stem}self_attn.o_proj.weight", (WIDTH, WIDTH), is_hole=True),
        Tensor(f"{stem}post_attention_layernorm.weight", (WIDTH,), is_hole=True),
        Tensor(f"{stem}mlp.gate_proj.weight", (MLP_WIDTH, WIDTH), is_hole=True),
        Tensor(f"{stem}mlp.up_proj.weight", (MLP_WIDTH, WIDTH), is_hole=True),
        Tensor(f"{stem}mlp.down_proj.weight", (WIDTH, MLP_WIDTH), is_hole=True),
    ]


def write_shard(path: Path, tensors: list[Tensor], rng: np.random.Generator) -> None:
    """A safetensors file: the length of its header, the header, and the numbers."""
    entries = {}
    end = 0
    for tensor in tensors:
        offsets = [end, end + tensor.size]
        entries[tensor.name] = {
            "dtype": "BF16",
            "shape": list(tensor.shape),
            "data_offsets": offsets,
        }
        end += tensor.size
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little"))
        file.write(header)
        for tensor in tensors:
            if tensor.is_hole:
                file.seek(tensor.size, os.SEEK_CUR)
                continue
            numbers = rng.standard_normal(tensor.shape, dtype=np.float32) * SPREAD
            if len(tensor.shape) == 1:
                numbers += 1
            file.write(numbers.astype(ml_dtypes.bfloat16).tobytes())
        file.truncate(8 + len(header) + end)


def measure_command(*arguments: str) -> None:
    """Runs headwright in a process of its own, and prints what it says last and what it cost."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # On a machine that is busy, idle threads of a matrix library cost more than they bring.
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "headwright", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    took = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{arguments[0]}: exit code {done.returncode}, {took:.0f} s ({processor:.0f} s of processors), "
        f"at most {after.ru_maxrss / 1e6:.2f} GB in memory"
    )
    lines = (done.stdout + done.stderr).strip().splitlines()
    for line in lines[-6:]:
        print(f"    {line}")


if __name__ == "__main__":
    main()
