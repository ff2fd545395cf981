"""How far statements through two layers reach.

python bench/texts_reach.py [length ...]                          builtin:induction, sampled triples (a, b, c)
    --samples N         so many triples for each place of b, drawn with seed 0
    --most N            bounds that are tried for each
python bench/texts_reach.py --predict [length ...]                builtin:induction16: proved, false and open triples
    --pairs N           of N pairs (a, b) a length, drawn with seed 0; all unless given
    --truth FILE        a file of tests/text_bounds/induction/brute_all_texts.py: how far proved margins are below
                        the truth
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from headwright.models import load_model
from headwright.text_bounds.induction.groups import InductionGoal, TextGroup
from headwright.text_bounds.induction.prove import all_groups, prove_groups
from headwright.text_bounds.induction.results import GroupResult
from headwright.text_bounds.induction.search import SearchTables
from headwright.text_bounds.induction.weights import weights_of

EDGES = (0, 0.25, 0.5, 1, 2, 4, 8, 16, 1000)  # of the histogram of margins
ODDS = (0, 0.1, 0.25, 0.5, 1, 2, 4, 1000)  # of that of weights: nats of log-odds
ENUMERATED = 2**19  # texts of a group, or fewer, are all run


def repeated(lengths: list[int], samples: int, most: int) -> None:
    """Weights and margins of sampled triples; a true one is one for which no text was found that makes it false."""
    model = load_model("builtin:induction")
    for length in lengths:
        tables, total = (
            SearchTables(weights_of(model), length),
            {"weights": [0, 0], "margins": [0, 0]},
        )
        for head in (0, 1, None):
            for at in sorted({2, length // 2, length - 2}):
                rng, start = np.random.default_rng(0), time.process_time()
                drawn = [
                    (1 + rng.choice(47, 3, replace=False)).tolist()
                    for _ in range(samples)
                ]
                some = [
                    TextGroup(a, b, at, None if at == length - 2 else c)
                    for a, b, c in drawn
                ]
                found = prove_groups(
                    model, length, some, heads=[head], most_bounds=most
                )
                free = sum(len(tokens) > 1 for tokens in some[0].allowed(length, 48, 0))
                every = 46**free <= ENUMERATED
                least = {one.group: one.run for one in found if one.verdict != "false"}
                if every:
                    least = {
                        group: least_of_all(tables, group, InductionGoal(head))
                        for group in least
                    }
                true = {
                    group: run
                    for group, run in least.items()
                    if run > InductionGoal(head).target
                }
                proved = [one for one in found if one.least is not None]
                kind = total["margins" if head is None else "weights"]
                kind[0], kind[1] = kind[0] + len(proved), kind[1] + len(true)
                print(
                    f"T = {length}, {'margin' if head is None else f'weight, head 1.{head}'}, b at {at}: "
                    f"{len(proved)} proved of {len(true)} true of {samples} (truth by "
                    f"{'running every text' if every else 'search'}), {sum(one.cuts == 0 for one in proved)} by one "
                    f"bound; {time.process_time() - start:.0f} s of processor time",
                    flush=True,
                )
                if every and proved:
                    gaps, edges = below(proved, true, head)
                    counts, _ = np.histogram(gaps, edges)
                    print(
                        f"    below the truth by {histogram(edges, counts)}; {(gaps < -1e-3).sum()} above",
                        flush=True,
                    )
        for name, (all_proved, all_true) in total.items():
            print(
                f"T = {length}, {name} in all: {all_proved} proved of {all_true} true",
                flush=True,
            )


def below(
    proved: list[GroupResult], true: dict[TextGroup, float], head: int | None
) -> tuple[np.ndarray, tuple[float, ...]]:
    least = np.array([float(one.least or 0) for one in proved])
    truth = np.array([true[one.group] for one in proved])
    if head is None:
        return truth - least, EDGES
    return np.log(truth / (1 - truth)) - np.log(least / (1 - least)), ODDS


def histogram(edges: tuple[float, ...], counts: np.ndarray) -> str:
    return "; ".join(
        f"{low} to {high}: {n}"
        for low, high, n in zip(edges, edges[1:], counts, strict=False)
    )


def least_of_all(tables: SearchTables, group: TextGroup, goal: InductionGoal) -> float:
    """Over every text of the group, in float32."""
    allowed = group.allowed(tables.length, tables.tokens, 0)
    return min(
        float(tables.runs(some, group, goal).min()) for some in every_text(allowed)
    )


def every_text(allowed: list[np.ndarray], at_once: int = 2**13) -> Iterator[np.ndarray]:
    count = int(np.prod([len(tokens) for tokens in allowed]))
    for start in range(0, count, at_once):
        number, texts = np.arange(start, min(start + at_once, count)), []
        for tokens in allowed:
            texts.append(tokens[number % len(tokens)])
            number = number // len(tokens)
        yield np.stack(texts, axis=1)


def predicted(lengths: list[int], count: int | None, truth: Path | None) -> None:
    model = load_model("builtin:induction16")
    pairs = [(a, b) for a in range(16) for b in range(16) if a != b]
    if count is not None:
        pairs = [
            pairs[index]
            for index in np.random.default_rng(0).permutation(len(pairs))[:count]
        ]
    for length in lengths:
        start = time.process_time()
        found = prove_groups(
            model,
            length,
            [one for one in all_groups(model, length) if (one.a, one.b) in set(pairs)],
        )
        told(length, found, time.process_time() - start)
        if truth is not None:
            compared(found, json.loads(truth.read_text()))


def told(length: int, found: list[GroupResult], seconds: float) -> None:
    count = {
        word: sum(one.verdict == word for one in found)
        for word in ("proved", "false", "open")
    }
    whole = sum(one.cuts == 0 for one in found)
    worst = min(found, key=lambda one: one.run)
    print(
        f"T = {length}, next token: {count['proved']} of {len(found)} proved ({whole} by one bound), {count['false']} "
        f"false, {count['open']} open; {seconds:.0f} s of processor time; the worst text found is "
        f"{' '.join(map(str, worst.text))} for ({worst.a}, {worst.b}, {worst.j}), margin {worst.run:.4f}",
        flush=True,
    )


def compared(found: list[GroupResult], truth: list[list[float]]) -> None:
    """Beside the least margin over all texts: violations, and a histogram of the distance."""
    true = {tuple(row[:3]): row[3] for row in truth}
    known = [one for one in found if (one.a, one.b, one.j) in true]
    right = [one for one in known if true[one.a, one.b, one.j] > 0]
    gaps = np.array(
        [
            true[one.a, one.b, one.j] - float(one.least)
            for one in known
            if one.least is not None
        ]
    )
    exact = sum(one.run - true[one.a, one.b, one.j] < 1e-3 for one in known)
    counts, _ = np.histogram(gaps, EDGES)
    print(
        f"all texts of {len(known)} triples: {len(right)} true, {len(gaps)} proved, {(gaps < 0).sum()} contradicted; "
        f"the search found the worst text of {exact}; proved margins are below the truth by "
        + histogram(EDGES, counts),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("lengths", type=int, nargs="*")
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--truth", type=Path)
    given = parser.parse_args()
    if given.predict:
        predicted(given.lengths or [6, 8], given.pairs, given.truth)
    else:
        repeated(given.lengths or [7, 8], given.samples, given.most)


if __name__ == "__main__":
    main()
