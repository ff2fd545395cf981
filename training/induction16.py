"""Train the second built-in model: 16 tokens, two layers of one attention head each, learned positions, nothing else.

    python training/induction16.py --out DIRECTORY      (extra `torch`; a minute or two on one core)

A text has 4 to 10 tokens. A token a stands at a random place j - 1 and at the end, and nowhere else; any other token b
stands at j; every other place holds any token but a. The model is trained to predict b at the end, and nothing is asked
of it at other places. The recipe was written down before any statement about the model was proved or measured.

Writes induction16.safetensors and induction16-loss.json. One thread and a seed: the same machine and release of torch
give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

TOKENS, WIDTH, D, LAYERS, SHORTEST, LONGEST = 16, 32, 16, 2, 4, 10
SEED, STEPS, BATCH, RATE, DECAY = 0, 8000, 512, 3e-3, 1e-3


class Attention(nn.Module):
    """x = embed + place; twice x += softmax(<x query, x key> / sqrt(D), causal) x value output; logits = x unembed."""

    def __init__(self, generator: torch.Generator) -> None:
        """Normal numbers, the variance 1 over the number of rows."""
        super().__init__()

        def normal(*shape: int) -> nn.Parameter:
            return nn.Parameter(
                torch.randn(shape, generator=generator) * shape[-2] ** -0.5
            )

        self.embed, self.place = normal(TOKENS, WIDTH), normal(LONGEST, WIDTH)
        self.query, self.key, self.value = (normal(LAYERS, WIDTH, D) for _ in range(3))
        self.output, self.unembed = normal(LAYERS, D, WIDTH), normal(WIDTH, TOKENS)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the token after the last."""
        x = self.embed[tokens] + self.place[: tokens.shape[1]]
        for query, key, value, output in zip(
            self.query, self.key, self.value, self.output, strict=True
        ):
            x = (
                x
                + scaled_dot_product_attention(
                    x @ query, x @ key, x @ value, is_causal=True
                )
                @ output
            )
        return x[:, -1] @ self.unembed


def texts(generator: torch.Generator, count: int, length: int) -> tuple[Tensor, Tensor]:
    """Texts of that many tokens, and the token b that follows."""

    def chosen(choices: int, *shape: int) -> Tensor:
        return torch.randint(choices, shape, generator=generator)

    a, rows = chosen(TOKENS, count, 1), torch.arange(count)
    tokens = (a + 1 + chosen(TOKENS - 1, count, length)) % TOKENS  # any but a
    at = 1 + chosen(length - 2, count)
    tokens[rows, at - 1] = tokens[:, -1] = a[:, 0]
    return tokens, tokens[rows, at]


def train(steps: int, seed: int) -> tuple[Attention, list[tuple[int, float]]]:
    """The trained model, and the loss in nats every 100 steps."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    generator = torch.Generator().manual_seed(seed)
    model = Attention(generator)
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=steps, pct_start=0.05
    )
    curve = []
    for step in range(steps):
        length = int(torch.randint(SHORTEST, LONGEST + 1, (), generator=generator))
        tokens, wanted = texts(generator, BATCH, length)
        loss = cross_entropy(model(tokens), wanted)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            curve.append((step, round(loss.item(), 6)))
            sys.stderr.write(f"\rstep {step + 1} of {steps}: {loss:.4f} nats")
    sys.stderr.write("\n")
    return model, curve


def main() -> None:
    """Train, and write what was learned."""
    parser = argparse.ArgumentParser(
        description="Train the built-in model of 16 tokens."
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="the directory to write to"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args()
    model, curve = train(given.steps, given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "induction16.safetensors"
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
    (given.out / "induction16-loss.json").write_text(json.dumps(how) + "\n")
    sys.stdout.write(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path}\n")


if __name__ == "__main__":
    main()
