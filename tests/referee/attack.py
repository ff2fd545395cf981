"""The attack: mutants of true certificates, what the checkers say of them, and whether that is true.

Every mutant that a checker accepts is judged by the referee, and one in so many of the others, for the rate of true
ones that are rejected. Mutants are numbered: the same seed, kind and number make the same mutant.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from tests.referee import heads, mutate_heads, mutate_keys, queries, texts
from tests.referee.answer import Answer
from tests.referee.checkers import Checker, checkers
from tests.referee.seeds import HEADS, KEYS, Seed, pick, seeds

TEXTS = "every text"
KINDS = (*KEYS, *HEADS, TEXTS)
NEEDS_OTHERS = ("transplant", "change_bounds", "change_none", "change_layers")
SAMPLED = 25  # one in so many rejected mutants is judged
UNDONE = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    ZeroDivisionError,
    OverflowError,
    AttributeError,
    StopIteration,
)


@dataclass
class Count:
    """What came out, of one kind."""

    mutants: int = 0
    large: int = 0
    readable: int = 0  # neither unreadable to all checkers
    sampled: int = 0  # rejected by all, and judged
    true_rejected: int = 0  # of these
    stopped: int = 0  # the referee stopped with an error
    seconds: float = 0.0
    accepted: Counter[str] = field(default_factory=Counter)  # by checker
    false: Counter[str] = field(default_factory=Counter)
    true: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    crashed: Counter[str] = field(default_factory=Counter)
    found: list[Any] = field(default_factory=list)  # false ones that were accepted
    by_change: Counter[str] = field(default_factory=Counter)

    def add(self, other: Count) -> None:
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(value, Counter):
                mine.update(value)
            else:
                setattr(self, name, mine + value)

    def true_ones_rejected(self) -> float | None:
        """Of the true mutants, the share that no checker accepts, from the sample."""
        true = max(self.true.values(), default=0)
        missed = self.true_rejected * SAMPLED
        return missed / (missed + true) if missed + true else None


@cache
def of_kind(kind: str, seed: int, fresh: int) -> list[Seed]:
    return seeds((kind,), seed, fresh)


@cache
def available(kind: str) -> dict[str, Checker]:
    """The floating-point checker knows nothing of whole heads."""
    return {
        name: check
        for name, check in checkers().items()
        if kind in KEYS or name != "float"
    }


def mutant(
    kind: str, seed: int, number: int, fresh: int
) -> tuple[Any, bool, list[str]]:
    """The document, whether it has 50 keys or tokens, and what was changed."""
    chance = random.Random(f"{seed} {kind} {number}")
    begin = pick(of_kind(kind, seed, fresh), kind, number % 3 == 0, chance)
    document = json.loads(begin.text)
    changes = mutate_keys.CHANGES if kind in KEYS else mutate_heads.CHANGES
    names: list[str] = []
    wanted = chance.choice([1, 1, 1, 2, 2, 3])
    for _ in range(12):
        change, before = chance.choice(changes), json.dumps(document)
        others = []
        if change.__name__ in NEEDS_OTHERS:
            others = [
                json.loads(
                    pick(of_kind(kind, seed, fresh), kind, begin.large, chance).text
                )
            ]
        try:
            changed = change(document, chance, others)
        except UNDONE:
            changed = False
        if changed:
            names.append(change.__name__)
        else:
            document = json.loads(before)
        if len(names) == wanted:
            break
    return document, begin.large, names


def judge(document: Any) -> Answer:
    statement = document["statement"]
    if statement["claim"] in ("heads", "no heads", "circuit"):
        return heads.judge(statement)
    bound = document["evidence"]["bound"]
    return queries.judge(
        statement, [part["query"] for part in bound["parts"]] if bound else None
    )


def attack(kind: str, seed: int, numbers: range, fresh: int = 4) -> Count:
    """Mutants of these numbers: what came out."""
    count, start = Count(), time.process_time()
    for number in numbers:
        sampled = number % SAMPLED == SAMPLED // 2
        if kind == TEXTS:
            document, model, names = texts.mutant(seed, number)
            _one(
                count,
                Mutant(document, False, names),
                {"exact": partial(texts.verdict, model=model)},
                partial(texts.judge, model=model),
                sampled,
            )
        else:
            _one(
                count,
                Mutant(*mutant(kind, seed, number, fresh)),
                available(kind),
                judge,
                sampled,
            )
    count.seconds = time.process_time() - start
    return count


@dataclass(frozen=True)
class Mutant:
    document: Any
    large: bool
    changes: list[str]


def _one(
    count: Count,
    given: Mutant,
    tried: dict[str, Checker],
    referee: Callable[[Any], Answer],
    sampled: bool,
) -> None:
    """Judge one mutant, and count it."""
    count.mutants += 1
    count.large += given.large
    shown = {"changes": given.changes, "document": given.document}
    words: dict[str, str] = {}
    for name, check in tried.items():
        try:
            words[name] = check(json.dumps(given.document))
        except Exception as error:  # noqa: BLE001  a checker that stops is worth counting, not the end of the attack
            words[name] = "crashed"
            count.crashed[name] += 1
            count.found.append({"crashed": name, "error": repr(error)[:300]} | shown)
    accepted = [name for name, word in words.items() if word == "verified"]
    readable = any(word in ("verified", "rejected") for word in words.values())
    count.readable += readable
    if not accepted and not (sampled and readable):
        return
    try:
        answer = referee(given.document)
    except (*UNDONE, ArithmeticError, RuntimeError) as error:
        count.stopped += bool(accepted)
        answer = Answer("unknown", f"the referee stopped: {error!r}")
        if accepted:
            count.found.append(
                {"stopped": repr(error)[:300], "accepted": accepted} | shown
            )
    if not accepted:
        count.sampled += 1
        count.true_rejected += answer.word == "true"
    for name in accepted:
        count.accepted[name] += 1
        {"true": count.true, "false": count.false, "unknown": count.unknown}[
            answer.word
        ][name] += 1
    if accepted and answer.word == "false":
        count.by_change.update(given.changes)
        count.found.append({"accepted": accepted, "why": answer.why[:500]} | shown)


def chunks(
    kinds: tuple[str, ...], count: int, size: int = 250
) -> Iterator[tuple[str, range]]:
    """The work in pieces, all kinds by turns."""
    for begin in range(0, count, size):
        for kind in kinds:
            yield kind, range(begin, min(begin + size, count))
