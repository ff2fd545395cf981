"""make attack: python -m tests.referee [--kind KIND] [--count N] [--seed S] [--minutes M] [--json FILE] [--resume FILE]

The work is cut into pieces; what is done is kept in a file of lines, and a run with the same file goes on from there.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.referee.attack import KINDS, TEXTS, Count, attack, available, chunks

FRESH = 6  # designs of each kind and size
PIECE = 250


def main() -> int:
    said = _arguments()
    kinds = tuple(said.kind or KINDS)
    done = _kept(said.resume) if said.resume else {}
    work = [
        (kind, said.seed, numbers.start, numbers.stop)
        for kind, numbers in _work(kinds, said.count, said.texts)
    ]
    left = [piece for piece in work if json.dumps(piece) not in done]
    totals = {kind: Count() for kind in kinds}
    for piece in work:
        if json.dumps(piece) in done:
            totals[piece[0]].add(done[json.dumps(piece)])
    begin, ended = time.monotonic(), False
    with multiprocessing.get_context("spawn").Pool(said.processes) as pool:
        for piece, count in pool.imap_unordered(_piece, left):
            totals[piece[0]].add(count)
            if said.resume:
                with said.resume.open("a") as file:
                    file.write(json.dumps([piece, _plain(count)]) + "\n")
            minutes = (time.monotonic() - begin) / 60
            _progress(totals, sum(piece[3] - piece[2] for piece in work), minutes)
            if said.minutes and minutes > said.minutes:
                ended = True
                pool.terminate()
                break
    report = table(totals, ended)
    sys.stdout.write("\n" + report)
    if said.out:
        said.out.write_text(
            f"$ python -m tests.referee {' '.join(sys.argv[1:])}\n{report}"
        )
    if said.json:
        said.json.write_text(
            json.dumps(
                {kind: _plain(count) for kind, count in totals.items()}, indent=1
            )
        )
    for number, one in enumerate(
        one for count in totals.values() for one in count.found
    ):
        said.found.mkdir(parents=True, exist_ok=True)
        (said.found / f"{number}.json").write_text(json.dumps(one, indent=1))
    return int(any(count.false for count in totals.values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.referee",
        description="Try to get false certificates accepted.",
    )
    parser.add_argument(
        "--kind", action="append", choices=KINDS, help="only this kind; may be repeated"
    )
    parser.add_argument(
        "--count",
        type=int,
        default=20_000,
        help="mutants of each kind about keys or heads",
    )
    parser.add_argument(
        "--texts", type=int, default=2_000, help="mutants about every text"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="all counts, as JSON")
    parser.add_argument("--out", type=Path, help="the table, with its command")
    parser.add_argument(
        "--resume",
        type=Path,
        help="a file of what is done; it is made, and gone on from",
    )
    parser.add_argument(
        "--found",
        type=Path,
        default=Path("out/attack"),
        help="a folder for what was found",
    )
    return parser.parse_args()


def _work(
    kinds: tuple[str, ...], count: int, texts: int
) -> Iterator[tuple[str, range]]:
    yield from chunks(tuple(kind for kind in kinds if kind != TEXTS), count, PIECE)
    yield from chunks(tuple(kind for kind in kinds if kind == TEXTS), texts, PIECE)


def _piece(piece: tuple[str, int, int, int]) -> tuple[tuple[str, int, int, int], Count]:
    kind, seed, start, stop = piece
    return piece, attack(kind, seed, range(start, stop), FRESH)


def _plain(count: Count) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, Counter) else value
        for name, value in vars(count).items()
    }


def _kept(file: Path) -> dict[str, Count]:
    if not file.exists():
        return {}
    found = {}
    for line in file.read_text().splitlines():
        piece, plain = json.loads(line)
        counts: dict[str, Any] = {
            k: Counter(v) if isinstance(v, dict) else v for k, v in plain.items()
        }
        found[json.dumps(piece)] = Count(**counts)
    return found


def _progress(totals: dict[str, Count], whole: int, minutes: float) -> None:
    made = sum(count.mutants for count in totals.values())
    false = sum(sum(count.false.values()) for count in totals.values())
    sys.stderr.write(
        f"\r{made} of {whole} mutants, {false} false acceptances, {minutes:.1f} min "
    )
    sys.stderr.flush()


def table(totals: dict[str, Count], ended: bool = False) -> str:
    """For people: a line for each kind and checker."""
    lines = [
        f"{'kind':17} {'mutants':>7} {'n >= 50':>7} {'checker':>7} {'accepted':>8} {'true':>6} {'unknown':>7} "
        f"{'FALSE':>5} {'stopped':>7} {'true ones rejected':>18}"
    ]
    for kind, count in totals.items():
        names = (
            sorted({*available(kind), *count.accepted}) if kind != TEXTS else ["exact"]
        )
        for name in names:
            rate = count.true_ones_rejected()
            lines.append(
                f"{kind:17} {count.mutants:7} {count.large:7} {name:>7} {count.accepted[name]:8} {count.true[name]:6} "
                f"{count.unknown[name]:7} {count.false[name]:5} {count.stopped + count.crashed[name]:7} "
                f"{'-' if rate is None else f'{100 * rate:.0f}%':>18}"
            )
    seconds = sum(count.seconds for count in totals.values())
    sampled = sum(count.sampled for count in totals.values())
    false = sum(sum(count.false.values()) for count in totals.values())
    lines.append(
        f"{sum(count.mutants for count in totals.values())} mutants, {false} false acceptances, "
        f"{seconds / 60:.0f} min of processor time, {sampled} rejected ones judged"
        + (" (ended early)" if ended else "")
    )
    return "\n".join(lines) + "\n"
