"""Every text of a kind, run: the least margin of b in each group, from the raw weights alone.

    python tests/models/texts/brute_next_token.py WEIGHTS.safetensors LENGTH OUT.json [--tokens N] [--groups N]

Written from the definition of the model in training/induction16.py, without the code that proves. A group is (a, b, j):
a at j - 1 and at the end and nowhere else, b at j, every other place any token but a. In float64, on a GPU if there is
one. `--tokens` lets texts hold the first N tokens only; `--groups` takes so many groups, drawn with seed 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

AT_ONCE = 800_000  # texts


def logits(weights: dict[str, Tensor], tokens: Tensor) -> Tensor:
    """Of the token after the last, for each row of tokens."""
    length = tokens.shape[1]
    x = weights["embed"][tokens] + weights["place"][:length]
    for layer in range(2):
        query, key, value = (x @ weights[name][layer] for name in ("query", "key", "value"))
        scores = query @ key.transpose(1, 2) * query.shape[-1] ** -0.5
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        pattern = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
        x = x + pattern @ value @ weights["output"][layer]
    return x[:, -1] @ weights["unembed"]


def texts(length: int, a: int, b: int, j: int, tokens: int, device: torch.device) -> Iterator[Tensor]:
    """All texts of a group, some at once."""
    others = torch.tensor([token for token in range(tokens) if token != a], device=device)
    free = [place for place in range(length - 1) if place not in (j - 1, j)]
    count = len(others) ** len(free)
    for start in range(0, count, AT_ONCE):
        number = torch.arange(start, min(start + AT_ONCE, count), device=device)
        text = torch.full((len(number), length), a, device=device)
        text[:, j] = b
        for place in free:
            text[:, place] = others[number % len(others)]
            number = number // len(others)
        yield text


def least_margin(weights: dict[str, Tensor], length: int, a: int, b: int, j: int, tokens: int) -> tuple[float, Tensor]:
    """Over all texts of a group: the least logit of b less that of any other token, and the text that has it."""
    least, worst = float("inf"), torch.empty(0)
    for text in texts(length, a, b, j, tokens, weights["embed"].device):
        found = logits(weights, text)
        mine = found[:, b].clone()
        found[:, b] = -torch.inf
        margin = mine - found.max(dim=1).values
        at = int(margin.argmin())
        if float(margin[at]) < least:
            least, worst = float(margin[at]), text[at].cpu()
    return least, worst


def main() -> None:
    """Run them, and write the least margin of each group."""
    parser = argparse.ArgumentParser()
    parser.add_argument("weights", type=Path)
    parser.add_argument("length", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--groups", type=int)
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    weights = {name: value.double().to(device) for name, value in load_file(given.weights).items()}
    tokens = range(given.tokens)
    groups = [(a, b, j) for a in tokens for b in tokens if a != b for j in range(1, given.length - 1)]
    if given.groups is not None:
        order = torch.randperm(len(groups), generator=torch.Generator().manual_seed(0))[: given.groups]
        groups = [groups[int(index)] for index in order]
    start = time.perf_counter()
    found: list[list[Any]] = []
    for a, b, j in groups:
        margin, text = least_margin(weights, given.length, a, b, j, given.tokens)
        found.append([a, b, j, margin, text.tolist()])
        if len(found) % 100 == 0:
            sys.stdout.write(f"{len(found)} of {len(groups)} groups, {time.perf_counter() - start:.0f} s\n")
            given.out.write_text(json.dumps(found))
    given.out.write_text(json.dumps(found))
    least = min(row[3] for row in found)
    true = sum(row[3] > 0 for row in found)
    sys.stdout.write(f"length {given.length}: {len(found)} groups, {true} true, least margin {least:.4f}\n")


if __name__ == "__main__":
    main()
