"""The certificate, version 2: a statement, and evidence for it, as a JSON document of one exact form.

Numbers in it are strings that are read exactly ('100/101', '0.05', '0x1.8p+1'); indices and sizes are whole numbers.
Anything else is refused: an unknown or missing or repeated name, a float, NaN, another version.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from math import copysign
from typing import NoReturn

from headwright.trusted.keys import Keys, Malformed

FORMAT, VERSION = "headwright certificate", 2
CLAIMS, KEYS = ("designed", "impossible", "longer"), ("n", "d", "sha256", "rows")
Json = dict[str, "Json"] | list["Json"] | str | int | bool | None
Vector = tuple[Fraction, ...]
_RATIONAL = re.compile(r"-?[0-9]{1,400}(/[1-9][0-9]{0,400}|(\.[0-9]{1,400})?(e-?[0-9]{1,3})?)")
_HEX_RATIONAL = re.compile(r"(-?0x[0-9a-f]{1,20000})/(0x[1-9a-f][0-9a-f]{0,20000})")
_HEX_FLOAT = re.compile(r"(-?0x[01]\.?[0-9a-f]{0,13})p([+-]?[0-9]{1,4})")


@dataclass(frozen=True)
class KeysName:
    """Which keys a statement is about: shape and digest; and the rows themselves where they are written out."""

    n: int
    d: int
    digest: str
    rows: Keys | None

    def __str__(self) -> str:
        return f"{self.n} x {self.d} keys with sha256 {self.digest[:16]}..."


@dataclass(frozen=True)
class Spread:
    """What some keys may be: c mu + e, low <= c <= high, with |e| <= ball or e = E u, |u| <= 1.

    With `random`, e is Gaussian instead, with covariance ball^2 I + stretch^2 mu mu^T + E E^T.
    """

    keys: frozenset[int] | None  # None: every key that no other entry names
    low: Fraction
    high: Fraction
    ball: Fraction
    stretch: Fraction
    factor: tuple[Vector, ...]  # the columns of E
    random: bool


@dataclass(frozen=True)
class Statement:
    """What is claimed."""

    claim: str  # "designed", "impossible" or "longer"
    heads: int
    keys: tuple[KeysName, ...]  # one matrix for each scenario
    scale: Fraction
    wish: dict[int, Fraction]  # target -> the least weight that it must get
    world: tuple[Spread, ...]
    confidence: Fraction  # the wish is granted with at least this probability; 1 if nothing is random
    queries: tuple[Vector, ...]  # one for each head if the claim is "designed", none otherwise
    none_shorter: Fraction  # no query shorter than this grants the wish (of several, not all are shorter)
    digest: str  # of all of this: SHA-256 of the JSON with sorted names and no spaces, and null for the rows of keys


@dataclass(frozen=True)
class Guard:
    """How chance is dealt with: by keys or by pairs of keys, to so many standard deviations."""

    kind: str  # "keys" or "pairs"
    deviations: Fraction


@dataclass(frozen=True)
class Constraint:
    """One target in one scenario, with its multiplier; and, where it is written out, a distribution over the keys."""

    scenario: int
    target: int
    multiplier: Fraction
    distribution: dict[int, Fraction] | None


@dataclass(frozen=True)
class Part:
    """Constraints that together prove a bound, and how keys are moved in them."""

    query: Vector  # distributions that are not written out are those of the scores at this query
    lifts: Vector  # for each entry of the world, what is added to those scores
    moves: tuple[Vector, ...]  # for each entry of the world, u with |u| <= 1
    push: Vector | None
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True)
class Bound:
    """Why no shorter query grants the wish, or none at all: one part, or with several heads one for each of `among`."""

    among: tuple[int, ...] | None
    deviations: Fraction
    scales: dict[int, Fraction]  # of keys, where they are not those that the scores ask for
    own_scales: dict[int, Fraction]  # the same for targets in their own constraint
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Certificate:
    """A statement with its evidence."""

    statement: Statement
    guard: Guard | None
    bound: Bound | None


def document(text: str) -> tuple[Json, Json]:
    """The statement and the evidence in a document, or Malformed with the reason.

    >>> document('{"version": 1}')
    Traceback (most recent call last):
    headwright.trusted.keys.Malformed: the document has the names 'version', expected evidence, format, ...
    """
    try:
        given = json.loads(text, object_pairs_hook=_once, parse_float=_bare, parse_constant=_bare)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the document is not JSON: {error}") from error
    top = named(given, "the document", "format", "version", "statement", "evidence")
    known = top["format"] == FORMAT and type(top["version"]) is int and top["version"] == VERSION
    is_given = f"{str(top['format'])[:40]!r}, version {ascii(top['version'])[:40]}"
    _need(known, f"the document is {is_given}: expected {FORMAT!r}, version {VERSION}")
    return top["statement"], top["evidence"]


def about_heads(said: Json) -> bool:
    """The statement is about whole heads, so that head.py reads it."""
    return isinstance(said, dict) and said.get("claim") in ("heads", "no heads", "circuit")


def read(said: Json, shown: Json) -> Certificate:
    """The certificate about keys that this statement and this evidence make."""
    statement, evidence = _statement(said), named(shown, "the evidence", "guard", "bound")
    random, claimed = (
        any(w.random for w in statement.world),
        statement.claim == "impossible" or statement.none_shorter > 0,
    )
    guard = None if evidence["guard"] is None else _guard(evidence["guard"])
    bound = None if evidence["bound"] is None else _bound(evidence["bound"], statement)
    fits = (guard is not None) == (random and statement.claim == "designed")
    _need(fits, "a guard belongs where keys are random and queries claimed, and only there")
    _need((bound is not None) == claimed, "a bound belongs where a length or impossibility is claimed, and only there")
    fits = bound is None or bound.deviations == 0 or (random and bound.deviations > 0)
    _need(fits, "the bound's deviations are below 0, or not 0 for certain keys")
    return Certificate(statement, guard, bound)


def _statement(given: Json) -> Statement:
    names = ("claim", "heads", "keys", "scale", "wish", "world", "confidence", "queries", "none_shorter")
    s = named(given, "the statement", *names)
    claim, heads = str(s["claim"])[:40], whole(s["heads"], 1, 2**20, "the number of heads")
    _need(claim in CLAIMS, f"the claim is {claim!r}: expected one of {', '.join(CLAIMS)}")
    keys = tuple(_keys_name(entry) for entry in listed(s["keys"], "keys", 1))
    n, d = keys[0].n, keys[0].d
    _need(all((k.n, k.d) == (n, d) for k in keys), "the scenarios are not key matrices of one shape")
    wish = table(s["wish"], n, "the wish")
    fits = bool(wish) and all(0 < p <= 1 for p in wish.values())
    _need(fits, "the wish is not a set of targets with least weights above 0 and at most 1")
    world = tuple(_spread(entry, n, d) for entry in listed(s["world"], "the world"))
    keyed = [key for spread in world for key in ([-1] if spread.keys is None else spread.keys)]
    _need(len(keyed) == len(set(keyed)), "the world says twice what a key may be")
    _need(not world or len(keys) == 1, "there are several scenarios and a world besides")
    scale, confidence, none_shorter = (rational(s[name]) for name in ("scale", "confidence", "none_shorter"))
    _need(scale != 0, "the scale is 0")
    fits = 0 < confidence < 1 if any(spread.random for spread in world) else confidence == 1
    _need(fits, "the confidence is not 1 for certain keys, or not above 0 and below 1 for random ones")
    queries = tuple(vector(query, d, "a query") for query in listed(s["queries"], "queries"))
    _need(len(queries) == (heads if claim == "designed" else 0), "there are not as many queries as the claim needs")
    _need(all(_is_float(x) for query in queries for x in query), "a query is not made of floats")
    fits = {"designed": none_shorter >= 0, "impossible": none_shorter == 0, "longer": none_shorter > 0}[claim]
    _need(fits, "the length that none_shorter names does not fit the claim")
    unheld: list[Json] = [{**named(k, "the keys", *KEYS), "rows": None} for k in listed(s["keys"], "keys")]
    written = json.dumps({**s, "keys": unheld}, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(written.encode()).hexdigest()
    return Statement(claim, heads, keys, scale, wish, world, confidence, queries, none_shorter, digest)


def _keys_name(given: Json) -> KeysName:
    k = named(given, "the keys", *KEYS)
    n, d, digest = whole(k["n"], 1, 2**40, "n"), whole(k["d"], 1, 2**40, "d"), str(k["sha256"])
    _need(len(digest) == 64 and set(digest) <= set("0123456789abcdef"), "sha256 of keys is not 64 hexadecimal digits")
    if k["rows"] is None:
        return KeysName(n, d, digest, None)
    rows = Keys.of_rows([[_signed(x) for x in listed(row, "a key")] for row in listed(k["rows"], "rows")])
    _need((rows.n, rows.d, rows.digest) == (n, d, digest), "the rows written out are not the keys that are named")
    return KeysName(n, d, digest, rows)


def _signed(x: Json) -> float:
    exact = rational(x)
    _need(_is_float(exact), f"a key holds {str(x)[:40]}, which is not a float")
    return copysign(float(exact), -1 if str(x).startswith("-") else 1)  # the digest tells -0.0 from 0.0


def _is_float(x: Fraction) -> bool:
    return abs(x) < 2**1024 and float(x) == x


def _spread(given: Json, n: int, d: int) -> Spread:
    w = named(given, "an entry of the world", "keys", "scale", "ball", "stretch", "factor", "random")
    keys = None if w["keys"] == "*" else [whole(key, 0, n - 1, "a key") for key in listed(w["keys"], "keys")]
    _need(len(set(keys or ())) == len(keys or ()), "an entry of the world names a key twice")
    (low, high), ball, stretch = vector(w["scale"], 2, "a scale"), rational(w["ball"]), rational(w["stretch"])
    factor = tuple(vector(column, d, "a column of a factor") for column in listed(w["factor"], "a factor"))
    random = w["random"] is True
    fits = low <= high and ball >= 0 and stretch >= 0 and type(w["random"]) is bool
    _need(fits, "an entry of the world is not admissible: a scale from low to high, sizes of 0 or more")
    fits = random or not (stretch or (ball and factor))
    _need(fits, "an entry of the world that is not random has a stretch, or both a ball and a factor")
    return Spread(None if keys is None else frozenset(keys), low, high, ball, stretch, factor, random)


def _guard(given: Json) -> Guard:
    g = named(given, "the guard", "kind", "deviations")
    kind, deviations = str(g["kind"]), rational(g["deviations"])
    _need(kind in ("keys", "pairs") and deviations >= 0, "the guard is not of keys or pairs, with deviations from 0")
    return Guard(kind, deviations)


def _bound(given: Json, statement: Statement) -> Bound:
    b, n = named(given, "the bound", "among", "deviations", "scales", "own_scales", "parts"), statement.keys[0].n
    among = None if b["among"] is None else tuple(whole(a, 0, n - 1, "among") for a in listed(b["among"], "among", 1))
    parts = tuple(_part(part, statement) for part in listed(b["parts"], "parts", 1))
    fits = (among is None) == (statement.heads == 1) and (among is None or len(parts) == len(set(among)))
    _need(fits, "with several heads a bound has one part for each of the different targets it is among, and only then")
    used = [(c.scenario, c.target) for part in parts for c in part.constraints]
    fits = among is None or used == [(used[0][0], a) for a in among]
    _need(fits, "with several heads each part has one constraint, for its target, all in one scenario")
    scales, own_scales = (table(b[name], n, name) for name in ("scales", "own_scales"))
    return Bound(among, rational(b["deviations"]), scales, own_scales, parts)


def _part(given: Json, statement: Statement) -> Part:
    p = named(given, "a part", "query", "lifts", "moves", "push", "constraints")
    world, d, moves = statement.world, statement.keys[0].d, listed(p["moves"], "moves")
    _need(len(moves) == len(world), "a part does not have a move for each entry of the world")
    columns = [0 if spread.random else len(spread.factor) for spread in world]
    constraints = tuple(_constraint(c, statement) for c in listed(p["constraints"], "constraints", 1))
    _need(len({(c.scenario, c.target) for c in constraints}) == len(constraints), "a constraint is used twice")
    fits = len({c.distribution is None for c in constraints}) == 1
    _need(fits, "some constraints of a part have a distribution, and some have none")
    query, lifts = vector(p["query"], d, "the query of a part"), vector(p["lifts"], len(world), "lifts")
    push = None if p["push"] is None else vector(p["push"], d, "a push")
    moved = tuple(vector(u, size, "a move") for u, size in zip(moves, columns, strict=True))
    return Part(query, lifts, moved, push, constraints)


def _constraint(given: Json, statement: Statement) -> Constraint:
    c, n = named(given, "a constraint", "scenario", "target", "multiplier", "distribution"), statement.keys[0].n
    scenario = whole(c["scenario"], 0, len(statement.keys) - 1, "a scenario")
    target, multiplier = whole(c["target"], 0, n - 1, "a target"), rational(c["multiplier"])
    shares = None if c["distribution"] is None else table(c["distribution"], n, "a distribution")
    fits = target in statement.wish and multiplier >= 0 and all(x >= 0 for x in (shares or {}).values())
    _need(fits, "a constraint has a target without a wish, or a negative multiplier or share")
    return Constraint(scenario, target, multiplier, shares)


def named(given: Json, what: str, *names: str) -> dict[str, Json]:
    """An object with exactly these names."""
    if not isinstance(given, dict) or set(given) != set(names):
        has = ", ".join(map(ascii, sorted(given))) if isinstance(given, dict) else type(given).__name__
        raise Malformed(f"{what} has the names {has[:200]}, expected {', '.join(sorted(names))}")
    return given


def listed(given: Json, what: str, least: int = 0) -> list[Json]:
    """A list of at least so many entries."""
    if not isinstance(given, list) or len(given) < least:
        raise Malformed(f"{what}: expected a list{' that is not empty' if least else ''}")
    return given


def vector(given: Json, d: int, what: str) -> Vector:
    """So many exact numbers."""
    _need(len(numbers := listed(given, what)) == d, f"{what} has {len(numbers)} numbers, expected {d}")
    return tuple(map(rational, numbers))


def table(given: Json, n: int, what: str) -> dict[int, Fraction]:
    """Numbers by index; as a name an index is written in decimal digits."""
    if not isinstance(given, dict):
        raise Malformed(f"{what}: expected indices and numbers")
    for name in given:
        fits = name.isascii() and name.isdigit() and len(name) < 16 and str(int(name)) == name and int(name) < n
        _need(fits, f"{what}: {name[:40]!r} is not an index from 0 to {n - 1}")
    return {int(name): rational(number) for name, number in given.items()}


def whole(given: Json, least: int, most: int, what: str) -> int:
    """A whole number in a range."""
    if type(given) is not int or not least <= given <= most:
        raise Malformed(f"{what} is {ascii(given)[:40]}: expected a whole number from {least} to {most}")
    return given


def rational(text: object) -> Fraction:
    """An exact number: '3', '100/101', '0.05', '1e-30', or in hexadecimal a float '0x1.8p+1' or a ratio '0x3/0x2'."""
    if isinstance(text, str) and len(text) <= 50_000 and (number := _rational(text)) is not None:
        return number
    raise Malformed(f"{str(text)[:40]!r} is not a number of the format")


def _rational(text: str) -> Fraction | None:
    if _RATIONAL.fullmatch(text):
        return Fraction(text)
    if parts := _HEX_FLOAT.fullmatch(text):  # in two parts: as one, what is too small for a float would be rounded
        return Fraction(float.fromhex(parts[1])) * Fraction(2) ** int(parts[2])
    if ratio := _HEX_RATIONAL.fullmatch(text):
        return Fraction(int(ratio[1], 16), int(ratio[2], 16))
    return None


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Malformed(otherwise)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    _need(len(entries := dict(pairs)) == len(pairs), "a name is given twice")
    return entries


def _bare(text: str) -> NoReturn:
    raise Malformed(f"{text[:40]} is a bare number: expected a string that is read exactly")
