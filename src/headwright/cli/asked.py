"""What a stranger thinks was proved, against what the statement of a certificate says: as exact numbers.

A statement may say more than was asked for: a higher least weight, a higher confidence, other targets besides. That is
agreed to, and told. Where it says less, or something else, the certificate does not answer the question. Where it says
that something is impossible, more and less change places.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.design.statement import world_entries
from headwright.trusted.certificate import Json, Spread, Statement, document, read
from headwright.trusted.numbers import Malformed, rational, shown

if TYPE_CHECKING:
    from headwright.design import Wish
    from headwright.noise import World
    from headwright.weights import Rule, Rules

NEARBY = 1e-12  # covariances are rounded when they are written as E E^T: relative to their largest entry
SHOWN = 3  # differences of keys that are told one by one


@dataclass(frozen=True)
class Asked:
    """What is thought to be proved; None where nothing was said."""

    wish: Wish | None = None
    world: World | None = None
    scale: Fraction | None = None
    confidence: Fraction | None = None
    rules: Rules | None = None


@dataclass
class Compared:
    """Where the statement differs from what was asked, and where it says more."""

    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def compare(text: str, asked: Asked) -> Compared:
    """The statement of a certificate that was verified, against what was asked."""
    said, proof = document(text)
    if isinstance(said, dict) and "sequences" in said:
        if asked.rules is None:
            return Compared(["it is about whole heads, and keys were asked about"])
        return _compare_rules(said, asked.rules)
    statement = read(said, proof).statement
    return _compare_keys(statement, asked) if asked.rules is None else _compare_one_rule(statement, asked.rules)


def _compare_keys(statement: Statement, asked: Asked) -> Compared:
    found = Compared()
    if asked.scale is not None and asked.scale != statement.scale:
        found.differences.append(f"its scores have the scale {statement.scale}, and {asked.scale} was asked for")
    if asked.world is not None:
        _compare_world(statement, asked.world, found)
    if asked.wish is not None:
        _compare_wish(statement, asked.wish.least, found)
    if asked.confidence is not None:
        _compare_confidence(statement, asked.confidence, found)
    if found.notes and statement.claim == "designed" and statement.none_shorter:
        found.notes.append("that no shorter query does it is said of the statement's question, not of the one asked")
    return found


def _compare_wish(statement: Statement, asked: Mapping[int, Fraction], found: Compared) -> None:
    """More is a higher weight, or a further target; where nothing grants the wish, a lower one, or a target fewer."""
    designed = statement.claim == "designed"
    for key in sorted({*statement.wish, *asked}):
        said, wanted = statement.wish.get(key), asked.get(key)
        if said == wanted:
            continue
        words = f"key {key} gets {_least(said)} in its wish, and {_least(wanted)} was asked for"
        (found.notes if ((said or 0) > (wanted or 0)) == designed else found.differences).append(words)


def _least(p: Fraction | None) -> str:
    return "nothing" if p is None else f"at least {p}" if len(str(p)) < 16 else f"at least {shown(p)}"


def _compare_confidence(statement: Statement, asked: Fraction, found: Compared) -> None:
    if statement.confidence == 1:
        found.notes.append("in it nothing is random: what it says is certain")
    elif statement.confidence != asked:
        more = (statement.confidence > asked) == (statement.claim == "designed")
        words = f"it has the confidence {statement.confidence}, and {asked} was asked for"
        (found.notes if more else found.differences).append(words)


@dataclass(frozen=True)
class _Entry:
    """What one key may be."""

    low: Fraction = Fraction(1)
    high: Fraction = Fraction(1)
    ball: Fraction = Fraction(0)
    stretch: Fraction = Fraction(0)
    factor: tuple[tuple[Fraction, ...], ...] = ()
    random: bool = False

    def __str__(self) -> str:
        parts = []
        if not self.low == self.high == 1:
            parts.append(f"scale {self.low} to {self.high}" if self.low < self.high else f"scale {self.low}")
        size = "standard deviation" if self.random else "radius"
        parts += [f"{size} {_size(self.ball)} around its place"] if self.ball else []
        parts += [f"standard deviation {_size(self.stretch)} of its scale"] if self.stretch else []
        parts += [f"a factor of {len(self.factor)} columns"] if self.factor else []
        return ", ".join(parts) or "certain"


def _size(x: Fraction) -> str:
    return str(x) if len(str(x)) < 16 else f"{shown(x)}..."


def _compare_world(statement: Statement, world: World, found: Compared) -> None:
    digests = [digest(scenario) for scenario in world.scenarios]
    if Counter(digests) != Counter(name.digest for name in statement.keys) and (digests or len(statement.keys) > 1):
        found.differences.append(
            f"it is about {_many(len(statement.keys))}, and the world about {_many(max(1, len(digests)))}"
            + (", which differ" if len(digests) == len(statement.keys) else "")
        )
    n = statement.keys[0].n
    said, others_said = _by_key(_of_spreads(statement.world))
    asked, others_asked = _by_key(_of_json(world_entries(world, n)))
    named = sorted({*said, *asked})
    pairs = [(f"key {i}", said.get(i, others_said), asked.get(i, others_asked)) for i in named]
    if len(named) < n:
        pairs.append(("every other key" if named else "every key", others_said, others_asked))
    different = [pair for pair in pairs if not _same(*pair, found)]
    for who, mine, theirs in different[:SHOWN]:
        also = " (with other numbers)" if str(mine) == str(theirs) else ""
        found.differences.append(f"for {who} its world says: {mine}, and the one asked for: {theirs}{also}")
    if len(different) > SHOWN:
        found.differences.append(f"and its world differs for {len(different) - SHOWN} keys more")


def _same(who: str, said: _Entry, asked: _Entry, found: Compared) -> bool:
    if said == asked:
        return True
    sizes = [(e.low, e.high, e.ball, e.stretch, e.random, len(e.factor)) for e in (said, asked)]
    if sizes[0] != sizes[1] or not said.random:
        return False
    apart, largest = _covariances_apart(said, asked)
    if not apart <= NEARBY * largest:
        return False
    found.notes.append(f"the covariance of {who} is within {apart:.1e} of the one asked for, by rounding")
    return True


def _covariances_apart(said: _Entry, asked: _Entry) -> tuple[float, float]:
    """How far two covariances E E^T are apart at most, and how large the second is, by their largest entries."""
    from flint import arb, arb_mat, ctx, fmpq

    from headwright.enclosure import Enclosure

    def square(entry: _Entry) -> arb_mat:
        E = arb_mat([[arb(fmpq(x.numerator, x.denominator)) for x in column] for column in entry.factor])
        return E.transpose() * E

    with ctx.workprec(256):
        one, other = square(said), square(asked)
        apart = max(Enclosure.of(abs(x)).upper for x in (one - other).entries())
        return apart, max(Enclosure.of(abs(x)).lower for x in other.entries())


def _by_key(entries: Iterator[tuple[frozenset[int] | None, _Entry]]) -> tuple[dict[int, _Entry], _Entry]:
    """What each named key may be, and what the others may be."""
    named: dict[int, _Entry] = {}
    others = _Entry()
    for keys, entry in entries:
        if keys is None:
            others = entry
        else:
            named.update(dict.fromkeys(keys, entry))
    return named, others


def _of_spreads(world: tuple[Spread, ...]) -> Iterator[tuple[frozenset[int] | None, _Entry]]:
    for w in world:
        yield w.keys, _Entry(w.low, w.high, w.ball, w.stretch, w.factor, w.random)


def _of_json(entries: list[dict[str, Any]]) -> Iterator[tuple[frozenset[int] | None, _Entry]]:
    for w in entries:
        low, high = map(rational, w["scale"])
        factor = tuple(tuple(map(rational, column)) for column in w["factor"])
        keys = None if w["keys"] == "*" else frozenset(w["keys"])
        yield keys, _Entry(low, high, rational(w["ball"]), rational(w["stretch"]), factor, w["random"])


def _many(matrices: int) -> str:
    return "one matrix of keys" if matrices == 1 else f"{matrices} scenarios"


def digest(keys: np.ndarray) -> str:
    """The digest by which a statement names keys."""
    return hashlib.sha256(np.ascontiguousarray(keys, "<f8").tobytes()).hexdigest()


def _compare_rules(said: dict[str, Json], rules: Rules) -> Compared:
    """Tokens, mask and world must be the same; the rules of the file must follow from those of the statement.

    Where the statement is that no heads keep its rules, these must follow from those of the file.
    """
    from headwright.weights.certify import about

    found, wanted = Compared(), about(str(said["claim"]), rules, rules.rules)
    for name in sorted({*said, *wanted} - {"claim", "rules", "dtype", "heads", "bounds"}):
        if _exactly(said.get(name)) != _exactly(wanted.get(name)):
            found.differences.append(f"its {name} {'are' if name.endswith('s') else 'is'} not that of the rules")
    mine, theirs = _by_place(said["rules"]), _by_place(wanted["rules"])
    strong, weak = (mine, theirs) if said["claim"] == "heads" else (theirs, mine)
    for place, rule in weak.items():
        who = "token {1} of sequence {0} in head {2}".format(*place)
        if place not in strong:
            found.differences.append(f"{'it' if weak is theirs else 'the file'} has no rule for {who}")
        elif (why := _what_is_less(strong[place], rule)) is not None:
            found.differences.append(f"for {who} {'it' if weak is theirs else 'the file'} says less: {why}")
    if not found.differences and mine != theirs:
        found.notes.append("its rules say more than those of the file" if weak is theirs else "it needs fewer rules")
    return found


def _what_is_less(strong: dict[str, Any], weak: dict[str, Any]) -> str | None:
    """Why one rule does not follow from another, or None where it does."""
    for name in sorted({*strong, *weak}):
        more, less = strong.get(name, {}), weak.get(name, {})
        if more != less and not _follows(name, more, less, outputs=bool(weak.get("output"))):
            return f"{name.replace('_', ' ')} {_told(more)} instead of {_told(less)}"
    return None


def _follows(name: str, more: Any, less: Any, *, outputs: bool) -> bool:
    match name:
        case "attend":
            return all(key in more and more[key] >= p for key, p in less.items())
        case "at_most":
            return all(key in more and more[key] <= p for key, p in less.items())
        case "output":
            return not outputs
        case "tolerance":
            return not outputs or more <= less
    return False


def _told(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_told(p)}" for key, p in value.items()) or "nothing"
    return "another" if isinstance(value, tuple) else str(value)


def _compare_one_rule(statement: Statement, rules: Rules) -> Compared:
    """A single rule that no head keeps is a statement about keys: the tokens that its token sees."""
    for rule in rules.rules:
        if rule.attend is not None and rule.head is not None and _is_about(statement, rule, rules):
            return Compared(notes=[f"what {rule.name} should attend to is impossible for any head"])
    return Compared(["it is about keys, and not about the tokens and weights of a rule in the file"])


def _is_about(statement: Statement, rule: Rule, rules: Rules) -> bool:
    attend = rule.attend or {}
    alone = statement.claim == "impossible" and statement.heads == 1 and not statement.world
    same = [name.digest for name in statement.keys] == [digest(rules.tokens(rule))]
    return alone and same and all(attend.get(key, 0) >= p for key, p in statement.wish.items())


def _by_place(rules: Json) -> dict[tuple[object, ...], dict[str, Any]]:
    found = {}
    for rule in rules if isinstance(rules, list) else []:
        exact: dict[str, Any] = _exactly(rule)
        found[tuple(exact.pop(name) for name in ("sequence", "token", "head"))] = exact
    return found


def _exactly(value: Json) -> Any:
    """The same with every number read: '1/2' and '0.5' are equal."""
    if isinstance(value, dict):
        return {name: _exactly(part) for name, part in value.items()}
    if isinstance(value, list):
        return tuple(map(_exactly, value))
    try:
        return rational(value) if isinstance(value, str) else value
    except Malformed:
        return value
