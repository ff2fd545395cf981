"""The certificate: a statement, and evidence for it, as a JSON document of one exact form.

Numbers in it are strings that are read exactly ('100/101', '0.05', '0x1.8p+1'); indices and sizes are whole numbers.
Anything else is refused: an unknown or missing or repeated name, a float, NaN, a version other than 2.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from math import copysign
from typing import NoReturn

from headwright.trusted.keys import Keys
from headwright.trusted.numbers import Malformed, Reject, rational

FORMAT, VERSION = "headwright certificate", 2
Json = dict[str, "Json"] | list["Json"] | str | int | bool | None
Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class KeysName:
    """Which keys a statement is about: shape, type and digest; and the rows themselves where they are written out."""

    n: int
    d: int
    dtype: str
    digest: str
    rows: Keys | None


@dataclass(frozen=True)
class Spread:
    """What some keys may be: c mu + e, low <= c <= high, e^T q <= sqrt(ball^2 |q|^2 + stretch^2 <mu, q>^2 + |E^T q|^2).

    With `random`, ball, stretch and E are standard deviations of a Gaussian instead, times the statement's deviations.
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

    claim: str  # "designed" or "impossible"
    keys: tuple[KeysName, ...]  # one matrix for each scenario
    scale: Fraction
    wish: dict[int, Fraction]  # target -> the least weight that it must get
    world: tuple[Spread, ...]
    deviations: Fraction  # how many standard deviations of a Gaussian are guarded against; 0 if nothing is random
    confidence: Fraction  # the wish is granted with at least this probability; 1 if nothing is random
    none_shorter: Fraction  # no query shorter than this grants the wish (of several, not all are shorter)


@dataclass(frozen=True)
class Constraint:
    """One target in one scenario, with its multiplier; and, to prove impossibility, a distribution over the keys."""

    scenario: int
    target: int
    multiplier: Fraction
    distribution: dict[int, Fraction]


@dataclass(frozen=True)
class Certificate:
    """A statement with its evidence."""

    statement: Statement
    constraints: tuple[Constraint, ...]
    queries: tuple[Vector, ...] = ()
    bound_query: Vector = ()
    scales: dict[int, Fraction] | None = None  # of rivals in the bound, where not those that the score's sign asks for
    own_scales: dict[int, Fraction] | None = None  # the same for targets in their own constraint


def document(text: str) -> tuple[Json, Json]:
    """The statement and the evidence in a document, or Reject with the reason.

    >>> document('{"version": 1}')
    Traceback (most recent call last):
    headwright.trusted.numbers.Malformed: the document has the names version, expected evidence, format, ...
    """
    try:
        read = json.loads(text, object_pairs_hook=_once, parse_float=_bare, parse_constant=_bare)
    except (ValueError, RecursionError) as error:
        raise Reject(f"the document is not JSON: {error}") from error
    top = named(read, "the document", "format", "version", "statement", "evidence")
    if top["format"] != FORMAT or type(top["version"]) is not int or top["version"] != VERSION:
        raise Reject(f"the document is {top['format']!r}, version {top['version']!r}: expected {FORMAT!r}, {VERSION}")
    return top["statement"], top["evidence"]


def about_heads(said: Json) -> bool:
    """The statement is about whole heads, so that head.py reads it."""
    return isinstance(said, dict) and said.get("claim") in ("heads", "no heads", "circuit")


def parse(text: str) -> Certificate:
    """The certificate about keys in a document, or Reject with the reason."""
    return read(*document(text))


def read(said: Json, shown: Json) -> Certificate:
    """The certificate about keys that this statement and this evidence make."""
    statement = _statement(said)
    n, d = statement.keys[0].n, statement.keys[0].d
    if statement.claim == "impossible":
        evidence = named(shown, "the evidence", "constraints")
        return Certificate(statement, _constraints(evidence["constraints"], statement, "distribution"))
    evidence = named(shown, "the evidence", "queries", "bound")
    queries = tuple(vector(query, d, "a query") for query in listed(evidence["queries"], "queries", 1))
    bound = named(evidence["bound"], "the bound", "query", "scales", "own_scales", "constraints")
    constraints = _constraints(bound["constraints"], statement)
    scales, own = (table(bound[name], n, name) for name in ("scales", "own_scales"))
    return Certificate(statement, constraints, queries, vector(bound["query"], d, "the bound's query"), scales, own)


def _statement(given: Json) -> Statement:
    names = ("claim", "keys", "scale", "wish", "world", "deviations", "confidence", "none_shorter")
    s = named(given, "the statement", *names)
    if s["claim"] not in ("designed", "impossible"):
        raise Reject(f"the claim is {s['claim']!r}: expected 'designed' or 'impossible'")
    keys = tuple(_keys_name(entry) for entry in listed(s["keys"], "keys", 1))
    if len({(k.n, k.d) for k in keys}) != 1:
        raise Reject("the scenarios are not key matrices of one shape")
    wish = table(s["wish"], keys[0].n, "the wish")
    if not wish or not all(0 < p <= 1 for p in wish.values()):
        raise Reject("the wish is not a set of targets with least weights above 0 and at most 1")
    scale, deviations, confidence, none_shorter = (rational(s[name]) for name in (names[2], *names[5:]))
    if scale == 0 or none_shorter < 0 or (s["claim"] == "impossible" and none_shorter != 0):
        raise Reject("the scale is 0, or the length below 0, or there is a length though no query is claimed")
    world = tuple(_spread(entry, keys[0].n, keys[0].d) for entry in listed(s["world"], "the world"))
    keyed = [key for spread in world for key in ([-1] if spread.keys is None else spread.keys)]
    if len(keyed) != len(set(keyed)):
        raise Reject("the world says twice what a key may be")
    random = any(spread.random for spread in world)
    if not (0 < confidence < 1 and deviations >= 0 if random else confidence == 1 and deviations == 0):
        raise Reject("deviations and confidence do not fit the world: 0 and 1 if nothing is random")
    return Statement(str(s["claim"]), keys, scale, wish, world, deviations, confidence, none_shorter)


def _keys_name(given: Json) -> KeysName:
    k = named(given, "the keys", "n", "d", "dtype", "sha256", "rows")
    n, d = (whole(k[name], 1, 2**40, name) for name in ("n", "d"))
    if k["rows"] is None:
        return KeysName(n, d, str(k["dtype"]), str(k["sha256"]), None)
    written = [[_signed(x) for x in listed(row, "a key")] for row in listed(k["rows"], "rows")]
    rows = Keys.of_rows(written, str(k["dtype"]))
    if (rows.n, rows.d, rows.digest) != (n, d, k["sha256"]):
        raise Reject("the rows written out are not the keys that the statement names")
    return KeysName(n, d, rows.dtype, rows.digest, rows)


def _signed(x: Json) -> float:
    number = copysign(exact := rational(x), -1 if str(x).startswith("-") else 1)  # the digest tells -0.0 from 0.0
    if number != exact:
        raise Reject(f"a key holds {str(x)[:40]}, which is not a float")
    return number


def _spread(given: Json, n: int, d: int) -> Spread:
    w = named(given, "an entry of the world", "keys", "scale", "ball", "stretch", "factor", "random")
    indices = None if w["keys"] == "*" else [whole(key, 0, n - 1, "a key") for key in listed(w["keys"], "keys")]
    if indices is not None and len(set(indices)) != len(indices):
        raise Reject("an entry of the world names a key twice")
    low, high = vector(w["scale"], 2, "a scale")
    ball, stretch = rational(w["ball"]), rational(w["stretch"])
    factor = tuple(vector(column, d, "a column of a factor") for column in listed(w["factor"], "a factor"))
    if low > high or ball < 0 or stretch < 0 or type(w["random"]) is not bool:
        raise Reject("an entry of the world is not admissible: a scale from low to high, sizes of 0 or more")
    return Spread(None if indices is None else frozenset(indices), low, high, ball, stretch, factor, w["random"])


def _constraints(given: Json, statement: Statement, *more: str) -> tuple[Constraint, ...]:
    found, n = [], statement.keys[0].n
    for entry in listed(given, "constraints"):
        c = named(entry, "a constraint", "scenario", "target", "multiplier", *more)
        scenario = whole(c["scenario"], 0, len(statement.keys) - 1, "a scenario")
        target, multiplier = whole(c["target"], 0, n - 1, "a target"), rational(c["multiplier"])
        shares = table(c.get("distribution", {}), n, "a distribution")
        if target not in statement.wish or multiplier < 0 or any(x < 0 for x in shares.values()):
            raise Reject("a constraint has a target without a wish, or a negative multiplier or share")
        found.append(Constraint(scenario, target, multiplier, shares))
    if len({(c.scenario, c.target) for c in found}) != len(found):
        raise Reject("a constraint is used twice")
    return tuple(found)


def named(given: Json, what: str, *names: str) -> dict[str, Json]:
    """An object with exactly these names."""
    if not isinstance(given, dict) or set(given) != set(names):
        has = ", ".join(sorted(given)) if isinstance(given, dict) else type(given).__name__
        raise Malformed(f"{what} has the names {has[:200]}, expected {', '.join(sorted(names))}")
    return given


def listed(given: Json, what: str, least: int = 0) -> list[Json]:
    """A list of at least so many entries."""
    if not isinstance(given, list) or len(given) < least:
        raise Malformed(f"{what}: expected a list{' that is not empty' if least else ''}")
    return given


def vector(given: Json, d: int, what: str) -> Vector:
    """So many exact numbers."""
    if len(numbers := listed(given, what)) != d:
        raise Malformed(f"{what} has {len(numbers)} numbers, expected {d}")
    return tuple(map(rational, numbers))


def table(given: Json, n: int, what: str) -> dict[int, Fraction]:
    """Numbers by index; as a name an index is written in decimal digits."""
    if not isinstance(given, dict):
        raise Malformed(f"{what}: expected indices and numbers")
    for name in given:
        if not (name.isascii() and name.isdigit() and len(name) < 16 and str(int(name)) == name and int(name) < n):
            raise Malformed(f"{what}: {name[:40]!r} is not an index from 0 to {n - 1}")
    return {int(name): rational(number) for name, number in given.items()}


def whole(given: Json, least: int, most: int, what: str) -> int:
    """A whole number in a range."""
    if type(given) is not int or not least <= given <= most:
        raise Malformed(f"{what} is {str(given)[:40]}: expected a whole number from {least} to {most}")
    return given


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len(entries := dict(pairs)) != len(pairs):
        raise Malformed("a name is given twice")
    return entries


def _bare(text: str) -> NoReturn:
    raise Malformed(f"{text[:40]} is a bare number: expected a string that is read exactly")
