"""Which groups of texts two attention layers get right: searched, checked, and run.

What `next_token` claims counts as proved when `checker.next_token` has verified it. The worst text that was found is
run in the model itself. If the model predicts another token there, or gives at most half to the place, the group is
false. If the run contradicts what was proved, that is an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from jaxtyping import Float

from headwright.enclosure import held_to
from headwright.errors import InputError
from headwright.files import write_whole
from headwright.models.loading.model import Model, Tokens
from headwright.models.texts.checker.error_bounds import DoubtError
from headwright.models.texts.checker.next_token import check_claims
from headwright.models.texts.next_token import Goal, Group, Tables, claim, groups, worst_text
from headwright.models.texts.next_token_statement import DECIMAL, Claim, NextToken, Weights, weights_digest, weights_of
from headwright.workers import available_memory, code

MOST = 4096  # bounds that are tried for a group
SHORTEST = 4
LONGEST = 64  # tables grow with the length
BYTES_OF_SCORES, BYTES_OF_LOGITS = 130, 8  # of memory for each number of the tables, measured: copies are made
RUNS = 64  # groups, a random text of which is run beside a certificate

Progress = Callable[[float], None]


class Predicts(Model, Protocol):
    """A model with logits, which all have that `weights_of` takes."""

    def logits(self, tokens: Tokens) -> Float[np.ndarray, "places tokens"]:
        """The scores of the next token at each place."""


@dataclass(frozen=True)
class Predicted:
    """What is known of a group: proved with a bound, or false with a text, or open; and the worst text found."""

    a: int
    b: int
    c: int | None
    j: int
    head: int | None  # of the second layer, whose weight on j it is about; None: the margin of b
    least: str | None  # proved: it is not less
    cuts: Any
    text: tuple[int, ...]
    run: float  # the model's own, on that text, in float64

    @property
    def word(self) -> str:
        """Proved, false or open."""
        return "proved" if self.least is not None else "false" if self.run <= Goal(self.head).wanted else "open"

    @property
    def group(self) -> Group:
        """Of texts."""
        return Group(self.a, self.b, self.j, self.c)


@dataclass(frozen=True)
class PartAsked:
    """The question that a part of a run answers: groups of texts of one length, and one goal for all of them."""

    groups: Sequence[Group]
    goal: Goal
    length: int
    tokens: int
    opening: int | None

    def why_not(self, found: Sequence[Predicted]) -> str | None:
        """Why these results are no answer to it; None if they are one: each group once, with a text that lies in it."""
        groups = [one.group for one in found]
        if groups != list(self.groups) or any(
            type(number) is not int for one in groups for number in (one.a, one.b, one.j)
        ):
            return "holds other groups than were asked about"
        for one in found:
            if one.head != self.goal.head:
                return f"is about head {one.head}, and head {self.goal.head} was asked about"
            if not self._holds_text(one):
                return f"has the text {list(one.text)}, which is none of the group ({one.a}, {one.b}, {one.c}, {one.j})"
            if one.least is not None and not self._is_wanted(one.least):
                return f"claims a bound of {one.least!r}, and more than {self.goal.wanted:g} was asked about"
        return None

    def _holds_text(self, one: Predicted) -> bool:
        """Whether each place holds one of the tokens that the group lets stand there."""
        allowed = one.group.allowed(self.length, self.tokens, self.opening)
        if len(one.text) != self.length:
            return False
        return all(type(token) is int and token in there for token, there in zip(one.text, allowed, strict=True))

    def _is_wanted(self, least: object) -> bool:
        """Whether it is a decimal above what makes a group proved."""
        return isinstance(least, str) and DECIMAL.fullmatch(least) is not None and float(least) > self.goal.wanted


@dataclass(frozen=True, eq=False)
class Kept:
    """Finished parts, in files of a folder: `resume` takes those that are there."""

    folder: Path | None = None
    resume: bool = False
    names: list[Path] = field(default_factory=list)

    def get(self, name: str, asked: PartAsked) -> list[Predicted] | None:
        """The part of that name; None if it is not there, or was not written to its end.

        A part that answers another question is refused: what was proved would not be what was asked.
        """
        if self.folder is None or not self.resume:
            return None
        path = self.folder / f"{name}.json"
        try:
            rows = json.loads(path.read_text())
            found = [Predicted(**(row | {"text": tuple(row["text"])})) for row in rows]
        except (OSError, ValueError, TypeError, KeyError):
            return None  # it will be done again
        reason = asked.why_not(found)
        if reason is not None:
            raise InputError(f"{path}: this part of an interrupted run {reason}; delete the file and run again")
        self.names.append(path)
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


@dataclass(frozen=True, eq=False)
class _Searched:
    """A model as it is searched: its numbers, and the tables for texts of one length."""

    model: Model
    weights: Weights
    opening: int | None
    tables: Tables
    most: int


def all_groups(model: Model, length: int) -> list[Group]:
    """All groups in which no token before the end is named."""
    return list(groups(length, len(weights_of(model)["embed"]), opening_of(model)))


def opening_of(model: Model) -> int | None:
    """The token that every text begins with, if there is one."""
    return next((int(token) for token in model.opening()), None)


def predictions(
    model: Model,
    length: int,
    asked: Iterable[Group] | None = None,
    *,
    heads: Sequence[int | None] = (None,),
    most: int = MOST,
    kept: Kept | None = None,
    progress: Progress | None = None,
) -> list[Predicted]:
    """Of some groups, or all: the margins of b (None), or the weights on j in heads of the second layer."""
    weights, opening = weights_of(model), opening_of(model)
    longest = LONGEST if model.longest is None else min(LONGEST, model.longest)
    if not SHORTEST <= length <= longest:
        raise InputError(f"texts of {length} tokens: expected {SHORTEST} to {longest} for {model.name}")
    some = all_groups(model, length) if asked is None else list(asked)
    for one in some:
        _check_group(one, length, len(weights["embed"]), opening)
    for head in heads:
        if head is not None and not 0 <= head < weights["query"].shape[1]:
            raise InputError(f"head {head} of the second layer: expected 0 to {weights['query'].shape[1] - 1}")
    _check_memory(weights, length, some, opening)
    # Where weights are so large that float32 overflows, bounds of the search are worth nothing, and so is their claim:
    # proved is what the checker accepts.
    with np.errstate(all="ignore"):
        try:
            return _predicted(model, length, some, heads, most, kept or Kept(), progress)
        except MemoryError as error:
            raise InputError(_too_large(weights, length, "there is not enough memory for its tables")) from error


def _predicted(
    model: Model,
    length: int,
    some: Sequence[Group],
    heads: Sequence[int | None],
    most: int,
    kept: Kept,
    progress: Progress | None,
) -> list[Predicted]:
    weights, opening = weights_of(model), opening_of(model)
    ways = [(head, a) for head in heads for a in sorted({one.a for one in some})]
    parts = [(head, [one for one in some if one.a == a]) for head, a in ways]
    searched = _Searched(model, weights, opening, Tables(weights, length), most)
    found: list[Predicted] = []
    for head, part in parts:
        about = ["next token", code(), weights_digest(weights), length, most, head, [asdict(one) for one in part]]
        name = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        done = kept.get(name, PartAsked(part, Goal(head), length, len(weights["embed"]), opening))
        if done is None:
            before, whole = len(found), len(some) * len(heads)

            def told(share: float, before: int = before, part: int = len(part), whole: int = whole) -> None:
                if progress is not None:
                    progress((before + share * part) / whole)

            done = _search(searched, part, Goal(head), told)
            kept.put(name, done)
        found += _checked_part(searched, done)
        if progress is not None:
            progress(len(found) / len(some) / len(heads))
    return found


def _check_memory(weights: Weights, length: int, some: Sequence[Group], opening: int | None) -> None:
    """Refuse tables that are larger than the memory that is free, before any of them is made."""
    needed = max((_table_bytes(weights, length, one, opening) for one in some), default=0)
    free = available_memory()
    if free is not None and needed > free:
        why = f"its tables take about {needed / 1e9:.0f} GB of memory, and {free / 1e9:.0f} GB are free"
        raise InputError(_too_large(weights, length, why))


def _too_large(weights: Weights, length: int, why: str) -> str:
    return (
        f"texts of {length} tokens of a model with {len(weights['embed'])} tokens: {why}; "
        "expected shorter texts or fewer tokens (tables grow with the cube of the tokens)"
    )


def _table_bytes(weights: Weights, length: int, group: Group, opening: int | None) -> int:
    """About as many bytes as the largest tables of the checker take; those of the search take a third of them.

    For each token at the end's row, spot and head, and for each pair of tokens that two neighbouring places may hold,
    there is a number; as there is for each place, each other token and each such pair.
    """
    allowed = group.allowed(length, len(weights["embed"]), opening)
    pairs = max(len(before) * len(after) for before, after in pairwise(allowed))
    tokens, heads = len(weights["embed"]), int(weights["query"].shape[1])
    spots = length if len(weights["place"]) else 1
    return pairs * tokens * (BYTES_OF_SCORES * heads * spots + BYTES_OF_LOGITS * length)


def _check_group(one: Group, length: int, tokens: int, opening: int | None) -> None:
    named = (one.a, one.b) if one.c is None else (one.a, one.b, one.c)
    first = 0 if opening is None else 1
    if one.a in named[1:] or any(not 0 <= token < tokens or token == opening for token in named):
        raise InputError(f"the tokens {named}: expected two different tokens from {first} to {tokens - 1}, and before "
                         "the end one that is not the first of them")  # fmt: skip
    if not first + 1 <= one.j <= length - 2 or (one.c is not None and one.j == length - 2):
        raise InputError(f"place {one.j} of the pair's second token: expected {first + 1} to {length - 2}, and at the "
                         "last of these no other token before the end")  # fmt: skip


def _search(searched: _Searched, part: Sequence[Group], goal: Goal, told: Progress) -> list[Predicted]:
    """The worst text that was found of each group, and what is claimed of it: nothing is proved yet."""
    found, digits = [], 1000 if goal.head is None else 10000
    for number, group in enumerate(part):
        text = worst_text(searched.tables, group, goal, searched.opening)
        run = run_group(searched.model, text, group, goal.head)
        made = claim(searched.tables, group, goal, searched.most, searched.opening) if run > goal.wanted else None
        least = None if made is None else f"{np.floor(made[0] * digits) / digits:.{len(str(digits)) - 1}f}"
        cuts = None if made is None else made[1]
        said = group.a, group.b, group.c, group.j, goal.head
        found.append(Predicted(*said, least, cuts, tuple(map(int, text)), run))
        told((number + 1) / len(part) / 2)  # to check it is about half of the work
    return found


def _checked_part(searched: _Searched, found: Sequence[Predicted]) -> list[Predicted]:
    """What was claimed, now or before an interruption: run again, and verified."""
    ran = [replace(one, run=run_group(searched.model, one.text, one.group, one.head)) for one in found]
    proved = _verified(searched.model, searched.tables.length, ran)
    for one in proved:
        if one.least is not None:
            held_to(one.run, _what(one.b, one.head, one.text), least=float(one.least))
    return proved


def _what(b: int, head: int | None, text: Sequence[int]) -> str:
    what = f"the margin of token {b}" if head is None else f"the weight that head 1.{head} gives to token {b}"
    return f"{what} on {list(text)}, run in float64"


def _verified(model: Model, length: int, found: list[Predicted]) -> list[Predicted]:
    """What the checker does not accept is not proved."""
    try:
        claimed = statement_of(model, length, found)
        if claimed is not None:
            check_claims(claimed, weights_of(model))
    except DoubtError:
        if len(found) > 1:
            return [kept for one in found for kept in _verified(model, length, [one])]
        return [replace(one, least=None, cuts=None) for one in found]
    return found


def statement_of(model: Model, length: int, found: Iterable[Predicted]) -> NextToken | None:
    """What is proved, as a statement; None if nothing is."""
    claims = tuple(
        Claim(one.a, one.b, one.c, one.j, one.head, one.least, one.cuts) for one in found if one.least is not None
    )
    if not claims:
        return None
    weights = weights_of(model)
    return NextToken(model.name, weights_digest(weights), length, len(weights["embed"]), opening_of(model), claims)


def run_group(model: Model, text: Sequence[int] | np.ndarray, group: Group, head: int | None) -> float:
    """The logit of b at the end less the largest other, or the weight on j, as the model itself computes it."""
    tokens = np.asarray(text)
    if head is None:
        logits = cast("Predicts", model).logits(tokens)[-1]
        return float(logits[group.b] - np.delete(logits, group.b).max())
    layer = list(model.run(tokens))[1]
    scores = layer.keys[head] @ layer.queries[head, -1] * layer.scoring.scale
    pattern = np.exp(scores - scores.max())
    return float(pattern[group.j] / pattern.sum())


def run_against_claims(model: Model, statement: NextToken) -> int:
    """On how many random texts the model was run, none of which contradicts; else a ContradictionError."""
    rng = np.random.default_rng(0)
    some = rng.permutation(len(statement.claims))[:RUNS]
    for one in (statement.claims[index] for index in some):
        group = Group(one.a, one.b, one.j, one.c)
        allowed = group.allowed(statement.length, statement.tokens, statement.opening)
        text = np.array([rng.choice(tokens) for tokens in allowed])
        found = run_group(model, text, group, one.head)
        held_to(found, _what(one.b, one.head, text.tolist()), least=float(one.least))
    return len(some)
