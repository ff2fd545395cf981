"""Which groups of texts a model of two layers of one head predicts rightly: searched, checked, and run.

What `next_token` claims counts as proved when `checker.next_token` has verified it. The worst text that was found is
run in the model itself. If the model predicts another token there, the group is false. If the run contradicts what was
proved, that is an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from headwright.enclosure import held_to
from headwright.errors import InputError
from headwright.files import write_whole
from headwright.models.loading.induction16 import Induction16
from headwright.models.loading.model import Model
from headwright.models.texts.checker.error_bounds import DoubtError
from headwright.models.texts.checker.next_token import check_margins
from headwright.models.texts.next_token import Group, Tables, claim, groups, worst_text
from headwright.models.texts.next_token_statement import Margin, NextToken, weights_digest, weights_of
from headwright.workers import code

MOST = 4096  # bounds that are tried for a group
SHORTEST = 4
RUNS = 64  # groups, a random text of which is run beside a certificate

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Predicted:
    """What is known of a group: proved with a margin, or false with a text, or open; and the worst text found."""

    a: int
    b: int
    j: int
    least: str | None  # proved: the margin is not less
    cuts: Any
    text: tuple[int, ...]
    run: float  # the model's own margin on that text, in float64

    @property
    def word(self) -> str:
        """Proved, false or open."""
        return "proved" if self.least is not None else "false" if self.run <= 0 else "open"


@dataclass(frozen=True, eq=False)
class Kept:
    """Finished parts, in files of a folder: `resume` takes those that are there."""

    folder: Path | None = None
    resume: bool = False
    names: list[Path] = field(default_factory=list)

    def get(self, name: str) -> list[Predicted] | None:
        """The part of that name; None if it is not there, or was not written to its end."""
        if self.folder is None or not self.resume:
            return None
        try:
            rows = json.loads((self.folder / f"{name}.json").read_text())
            found = [Predicted(**(row | {"text": tuple(row["text"])})) for row in rows]
        except (OSError, ValueError, TypeError, KeyError):
            return None  # it will be done again
        self.names.append(self.folder / f"{name}.json")
        return found

    def put(self, name: str, part: Sequence[Predicted]) -> None:
        """Where there is no room, it would be done again after a kill."""
        if self.folder is not None:
            with suppress(OSError, InputError):
                self.folder.mkdir(parents=True, exist_ok=True)
                write_whole(self.folder / f"{name}.json", json.dumps([asdict(one) for one in part]).encode())
                self.names.append(self.folder / f"{name}.json")

    def clear(self) -> None:
        """All is done."""
        for path in self.names:
            path.unlink(missing_ok=True)


def predictions(
    model: Model,
    length: int,
    pairs: Iterable[tuple[int, int]] | None = None,
    *,
    most: int = MOST,
    kept: Kept | None = None,
    progress: Progress | None = None,
) -> list[Predicted]:
    """Every group of a length, or those of some pairs (a, b)."""
    found_model = _checked(model, length)
    wanted = None if pairs is None else set(pairs)
    tokens = len(found_model.embed)
    for a, b in wanted or ():
        if a == b or not (0 <= a < tokens and 0 <= b < tokens):
            raise InputError(f"the pair ({a}, {b}): expected two different tokens from 0 to {tokens - 1}")
    asked = [group for group in groups(length, tokens) if wanted is None or (group.a, group.b) in wanted]
    parts = [[group for group in asked if group.a == a] for a in sorted({group.a for group in asked})]
    tables, kept = Tables(found_model, length), kept or Kept()
    found: list[Predicted] = []
    for part in parts:
        about = ["next token", code(), found_model.digest, length, most, [[one.a, one.b, one.j] for one in part]]
        name = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        done = kept.get(name)
        if done is None:
            before, whole = len(found), len(asked)

            def told(share: float, before: int = before, part: int = len(part), whole: int = whole) -> None:
                if progress is not None:
                    progress((before + share * part) / whole)

            done = _searched(found_model, tables, part, most, told)
            kept.put(name, done)
        found += _checked_part(found_model, length, done)
        if progress is not None:
            progress(len(found) / len(asked))
    return found


def _checked(model: Model, length: int) -> Induction16:
    weights_of(model)
    if not isinstance(model, Induction16):
        raise InputError(f"{model.name}: expected builtin:induction16, or a model of its kind")
    if not SHORTEST <= length <= model.longest:
        raise InputError(f"texts of {length} tokens: expected {SHORTEST} to {model.longest} for {model.name}")
    return model


def _searched(model: Induction16, tables: Tables, part: Sequence[Group], most: int, told: Progress) -> list[Predicted]:
    """The worst text that was found of each group, and what is claimed of it: nothing is proved yet."""
    found = []
    for number, group in enumerate(part):
        text = worst_text(tables, group)
        run = run_margin(model, text, group.b)
        made = claim(tables, group, most) if run > 0 else None
        least = None if made is None else f"{np.floor(made[0] * 1000) / 1000:.3f}"
        cuts = None if made is None else made[1]
        found.append(Predicted(group.a, group.b, group.j, least, cuts, tuple(map(int, text)), run))
        told((number + 1) / len(part) / 2)  # to check it is about half of the work
    return found


def _checked_part(model: Induction16, length: int, found: Sequence[Predicted]) -> list[Predicted]:
    """What was claimed, now or before an interruption: run again, and verified."""
    ran = [replace(one, run=run_margin(model, one.text, one.b)) for one in found]
    proved = _verified(model, length, ran)
    for one in proved:
        if one.least is not None:
            what = f"the margin of token {one.b} on {list(one.text)}, run in float64"
            held_to(one.run, what, least=float(one.least))
    return proved


def _verified(model: Induction16, length: int, found: list[Predicted]) -> list[Predicted]:
    """What the checker does not accept is not proved."""
    weights = weights_of(model)
    try:
        claimed = statement_of(model, length, found)
        if claimed is not None:
            check_margins(claimed, weights)
    except DoubtError:
        if len(found) > 1:
            return [kept for one in found for kept in _verified(model, length, [one])]
        return [Predicted(one.a, one.b, one.j, None, None, one.text, one.run) for one in found]
    return found


def statement_of(model: Model, length: int, found: Iterable[Predicted]) -> NextToken | None:
    """What has a margin, as a statement; None if nothing has."""
    margins = tuple(Margin(one.a, one.b, one.j, one.least, one.cuts) for one in found if one.least is not None)
    if not margins:
        return None
    weights = weights_of(model)
    return NextToken(model.name, weights_digest(weights), length, len(weights["embed"]), margins)


def run_margin(model: Induction16, text: Sequence[int] | np.ndarray, b: int) -> float:
    """The logit of b at the end less the largest other, as the model itself computes it."""
    logits = model.logits(np.asarray(text))[-1]
    return float(logits[b] - np.delete(logits, b).max())


def run_against_margins(model: Model, statement: NextToken) -> int:
    """On how many random texts the model was run, none of which contradicts; else a ContradictionError."""
    found, rng = _checked(model, statement.length), np.random.default_rng(0)
    some = rng.permutation(len(statement.margins))[:RUNS]
    for one in (statement.margins[index] for index in some):
        allowed = Group(one.a, one.b, one.j).allowed(statement.length, statement.tokens)
        text = np.array([rng.choice(tokens) for tokens in allowed])
        what = f"the margin of token {one.b} on {text.tolist()}, run in float64"
        held_to(run_margin(found, text, one.b), what, least=float(one.least))
    return len(some)
