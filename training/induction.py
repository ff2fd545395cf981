"""Train the model that ships with Headwright: two layers of attention and nothing else, on repeated random characters.

    python training/induction.py --out DIRECTORY      (extra `torch`; a few minutes on one core)

A text is the opening token, a random prefix of random length, and a random block repeated to the end. After the
block's first copy every character is determined, and is predicted by two heads in a row: one in the first layer that
carries the previous character along, one in the second that looks for the place whose previous character is the
present one. Prefixes of any length leave the first head no position to prefer.

Left to itself, training also finds heads that look two or three places back and cooperate. So one head of the first
layer starts with a preference for the previous place: its keys are its queries, turned by one place, and the embeddings
start with a part that they share. What becomes of it is up to the training.

Writes induction.safetensors, induction-loss.json and induction-loss.png. One thread and a seed: the same machine and
release of torch give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from headwright.grading.verdict import Curve
from headwright.models.induction import (
    FREQUENCIES,
    HEADS,
    LAYERS,
    LONGEST,
    VOCABULARY,
    WIDTH,
    D,
)
from headwright.pictures import Chart, curve_picture, render

SEED, STEPS, BATCH, RATE = 0, 1500, 32, 8e-3
SHORTEST_BLOCK, LONGEST_BLOCK = 20, 60
COMMON, OWN = (
    0.7,
    0.4,
)  # sizes of what all embeddings share at the start, and of what they do not
NUDGE = 2.5


class Attention(nn.Module):
    """The model of `headwright.models.induction`, with gradients."""

    def __init__(self, generator: torch.Generator) -> None:
        """As it starts."""
        super().__init__()

        def normal(*shape: int) -> nn.Parameter:
            return nn.Parameter(
                torch.randn(shape, generator=generator) * shape[-2] ** -0.5
            )

        common = COMMON * torch.randn(WIDTH, generator=generator)
        self.embed = nn.Parameter(
            common + OWN * torch.randn((len(VOCABULARY), WIDTH), generator=generator)
        )
        self.query, self.key, self.value = (
            normal(LAYERS, HEADS, WIDTH, D) for _ in range(3)
        )
        self.output = nn.Parameter(
            torch.randn((LAYERS, HEADS, D, WIDTH), generator=generator)
            * (HEADS * D) ** -0.5
        )
        self.unembed = normal(WIDTH, len(VOCABULARY))
        angles = torch.arange(LONGEST)[:, None] * torch.tensor(
            FREQUENCIES, dtype=torch.float32
        )
        self.cos, self.sin = angles.cos(), angles.sin()
        with (
            torch.no_grad()
        ):  # a first preference for the previous token; see the text above
            self.query[0, 0] *= NUDGE
            self.key[0, 0] = turned(self.query[0, 0], self.cos[1], self.sin[1])

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the next token at each place."""
        x = self.embed[tokens]  # texts, places, WIDTH
        for query, key, value, output in zip(
            self.query, self.key, self.value, self.output, strict=True
        ):
            q, k, v = (
                torch.einsum("btw,hwd->bhtd", x, matrix)
                for matrix in (query, key, value)
            )
            q, k = (
                turned(rows, self.cos[: x.shape[1]], self.sin[: x.shape[1]])
                for rows in (q, k)
            )
            mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + torch.einsum("bhtd,hdw->btw", mixed, output)
        return x @ self.unembed


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Each pair of a vector (one of the first half, one of the second), turned by its angle."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def texts(generator: torch.Generator, count: int, length: int) -> tuple[Tensor, Tensor]:
    """Texts of that many tokens, and where the next token is determined by a copy before it."""
    tokens = torch.randint(1, len(VOCABULARY), (count, length), generator=generator)
    block = torch.randint(
        SHORTEST_BLOCK, LONGEST_BLOCK + 1, (count, 1), generator=generator
    )
    prefix = 1 + torch.randint(
        0, length - 2 * LONGEST_BLOCK, (count, 1), generator=generator
    )  # opening token included
    place = torch.arange(length)
    source = torch.where(place < prefix, place, prefix + (place - prefix) % block)
    tokens = tokens.gather(1, source)
    tokens[:, 0] = 0
    return tokens, (place >= prefix + block)[:, 1:]


def train(steps: int, seed: int) -> tuple[Attention, list[tuple[int, float]]]:
    """The trained model, and the loss (nats a determined character) every 20 steps."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    generator = torch.Generator().manual_seed(seed)
    model = Attention(generator)
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=steps, pct_start=0.05
    )
    curve = []
    for step in range(steps):
        tokens, determined = texts(generator, BATCH, LONGEST)
        scores = model(tokens[:, :-1])
        loss = cross_entropy(scores[determined], tokens[:, 1:][determined])
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 20 == 0 or step == steps - 1:
            curve.append((step, round(loss.item(), 4)))
            sys.stderr.write(f"\rstep {step + 1} of {steps}: {loss:.3f} nats")
    sys.stderr.write("\n")
    return model, curve


def drawn(curve: list[tuple[int, float]]) -> Chart:
    """The loss against the steps."""
    hundreds, losses = (
        tuple(numbers)
        for numbers in zip(*((step / 100, loss) for step, loss in curve), strict=True)
    )
    words = "Nats a character, where a copy before it determines it. A block may hold a character twice: hence not 0."
    told = Curve(
        "hundreds of steps",
        hundreds,
        {"loss": losses},
        {"a guess": math.log(len(VOCABULARY) - 1)},
        words,
    )
    return curve_picture(told, "Training the built-in model")


def main() -> None:
    """Train, and write what was learned."""
    parser = argparse.ArgumentParser(description="Train the built-in induction model.")
    parser.add_argument(
        "--out", type=Path, required=True, help="the directory to write to"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args()
    model, curve = train(given.steps, given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "induction.safetensors"
    save_file(
        {name: value.detach().contiguous() for name, value in model.named_parameters()},
        path,
    )
    how = {
        "seed": given.seed,
        "steps": given.steps,
        "torch": torch.__version__,
        "loss in nats": curve,
    }
    (given.out / "induction-loss.json").write_text(json.dumps(how) + "\n")
    (given.out / "induction-loss.png").write_bytes(render(drawn(curve), ".png"))
    sys.stdout.write(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path}\n")


if __name__ == "__main__":
    main()
