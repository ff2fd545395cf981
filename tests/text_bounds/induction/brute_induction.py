"""Every text of a kind, run: the least margin of b in each group, or weight on it, from the raw weights alone.

    python tests/text_bounds/induction/brute_induction.py WEIGHTS.safetensors LENGTH OUT.json [--tokens N] [--groups N]

Written from the definitions of the models in training/, without the code that proves. A group is (a, b, j): a at j - 1
and at the end and nowhere else, b at j, every other place any token but a; or with c before the end and an opening
token at place 0 and nowhere else. In float64, on a GPU if there is one. `--tokens` lets texts hold the first N tokens
only; `--groups` takes so many groups, drawn with seed 0.
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


def outcome(weights: dict[str, Tensor], tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Logits of the token after the last, and what each head of the second layer gives to places from there."""
    length = tokens.shape[1]
    x = weights["embed"][tokens]
    if "place" in weights:
        x = x + weights["place"][:length]
    pattern = x
    for layer in range(2):
        added = torch.zeros_like(x)
        patterns = []
        heads = (
            weights["query"][layer]
            if weights["query"].ndim == 4
            else weights["query"][layer][None]
        )
        for head in range(len(heads)):
            query, key, value, output = (
                weights[name][layer, head]
                if weights[name].ndim == 4
                else weights[name][layer]
                for name in ("query", "key", "value", "output")
            )
            asking, asked = (
                _turned(x @ matrix, weights.get("angles")) for matrix in (query, key)
            )
            scores = asking @ asked.transpose(1, 2) * query.shape[-1] ** -0.5
            later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(
                1
            )
            pattern = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
            added = added + pattern @ (x @ value) @ output
            patterns.append(pattern[:, -1])
        x = x + added
    return x[:, -1] @ weights["unembed"], torch.stack(patterns)


def _turned(x: Tensor, angles: Tensor | None) -> Tensor:
    """Pairs (i, i + d/2) at place r turned by r angles[i]."""
    if angles is None:
        return x
    by = torch.arange(x.shape[1], dtype=x.dtype, device=x.device)[:, None] * angles
    first, second = x.chunk(2, dim=-1)
    return torch.cat(
        [first * by.cos() - second * by.sin(), first * by.sin() + second * by.cos()],
        dim=-1,
    )


def texts(
    length: int,
    a: int,
    b: int,
    j: int,
    tokens: int,
    device: torch.device,
    c: int | None,
    opening: int | None,
) -> Iterator[Tensor]:
    """All texts of a group, some at once."""
    others = torch.tensor(
        [token for token in range(tokens) if token not in (a, opening)], device=device
    )
    held = (
        {j: b}
        | ({} if c is None else {length - 2: c})
        | ({} if opening is None else {0: opening})
    )
    free = [
        place for place in range(length - 1) if place != j - 1 and place not in held
    ]
    count = len(others) ** len(free)
    for start in range(0, count, AT_ONCE):
        number = torch.arange(start, min(start + AT_ONCE, count), device=device)
        text = torch.full((len(number), length), a, device=device)
        for place, token in held.items():
            text[:, place] = token
        for place in free:
            text[:, place] = others[number % len(others)]
            number = number // len(others)
        yield text


def least_margin(
    weights: dict[str, Tensor],
    length: int,
    a: int,
    b: int,
    j: int,
    tokens: int,
    *,
    c: int | None = None,
    opening: int | None = None,
    head: int | None = None,
) -> tuple[float, Tensor]:
    """Over all texts of a group: the least logit of b less that of any other token, and the text that has it.

    With a head of the second layer: the least weight that it gives to j.
    """
    least, worst = float("inf"), torch.empty(0)
    for text in texts(length, a, b, j, tokens, weights["embed"].device, c, opening):
        found, patterns = outcome(weights, text)
        mine = found[:, b].clone()
        found[:, b] = -torch.inf
        asked = mine - found.max(dim=1).values if head is None else patterns[head, :, j]
        at = int(asked.argmin())
        if float(asked[at]) < least:
            least, worst = float(asked[at]), text[at].cpu()
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
    weights = {
        name: value.double().to(device)
        for name, value in load_file(given.weights).items()
    }
    tokens = range(given.tokens)
    groups = [
        (a, b, j)
        for a in tokens
        for b in tokens
        if a != b
        for j in range(1, given.length - 1)
    ]
    if given.groups is not None:
        order = torch.randperm(len(groups), generator=torch.Generator().manual_seed(0))[
            : given.groups
        ]
        groups = [groups[int(index)] for index in order]
    start = time.perf_counter()
    found: list[list[Any]] = []
    for a, b, j in groups:
        margin, text = least_margin(weights, given.length, a, b, j, given.tokens)
        found.append([a, b, j, margin, text.tolist()])
        if len(found) % 100 == 0:
            sys.stdout.write(
                f"{len(found)} of {len(groups)} groups, {time.perf_counter() - start:.0f} s\n"
            )
            given.out.write_text(json.dumps(found))
    given.out.write_text(json.dumps(found))
    least = min(row[3] for row in found)
    true = sum(row[3] > 0 for row in found)
    sys.stdout.write(
        f"length {given.length}: {len(found)} groups, {true} true, least margin {least:.4f}\n"
    )


if __name__ == "__main__":
    main()
