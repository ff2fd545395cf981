"""The certificate, version 2: a statement, and evidence for it, as a JSON document of one form.

Numbers in it are strings that are read exactly ('100/101', '0.05', '0x1.8p+1'); indices and sizes
are whole numbers. Anything else is refused: an unknown or missing or repeated name, a float, NaN,
another version. docs/reference/certificate.md says what each name means.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import copysign, lcm
from typing import NoReturn

from headwright.trusted.keys import Keys, Malformed, affordable

FORMAT, VERSION = "headwright certificate", 2
Json = dict[str, "Json"] | list["Json"] | str | int | bool | None
Vector = tuple[Fraction, ...]
_RATIONAL = re.compile(r"-?[0-9]{1,400}(/[1-9][0-9]{0,400}|(\.[0-9]{1,400})?(e-?[0-9]{1,3})?)")
_HEX_RATIONAL = re.compile(r"(-?0x[0-9a-f]{1,20000})/(0x[1-9a-f][0-9a-f]{0,20000})")
_HEX_FLOAT = re.compile(r"(-?0x[01]\.?[0-9a-f]{0,13})p([+-]?[0-9]{1,4})")


@dataclass(frozen=True)
class KeysName:
    """Which keys a statement is about: shape, digest, and the rows if they are written out."""

    n: int
    d: int
    digest: str
    rows: Keys | None

    def __str__(self) -> str:
        return f"{self.n} x {self.d} keys with sha256 {self.digest[:16]}..."


@dataclass(frozen=True)
class Spread:
    """What some keys may be: c mu + e, low <= c <= high, with |e| <= ball or e = E u, |u| <= 1.

    With `random`, e is Gaussian with covariance ball^2 I + stretch^2 mu mu^T + E E^T instead.
    """

    keys: frozenset[int] | None  # None: every key that no other entry names
    low: Fraction
    high: Fraction
    ball: Fraction
    stretch: Fraction
    factor: tuple[Vector, ...]  # the columns of E
    random: bool


CERTAIN = Spread(frozenset(), Fraction(1), Fraction(1), Fraction(0), Fraction(0), (), random=False)


@dataclass(frozen=True)
class Statement:
    """What is claimed."""

    claim: str  # "designed", "impossible" or "longer"
    heads: int
    keys: tuple[KeysName, ...]  # one matrix for each scenario
    scale: Fraction
    wish: dict[int, Fraction]  # target -> the least weight that it must get
    world: tuple[Spread, ...]
    confidence: Fraction  # the probability of granting the wish, at least; 1 if nothing is random
    queries: tuple[Vector, ...]  # one for each head if the claim is "designed", none otherwise
    none_shorter: Fraction  # no query shorter than this grants the wish (of several, not all)
    digest: str  # of the JSON with sorted names and no spaces, and null for the rows of keys


@dataclass(frozen=True)
class Guard:
    """How chance is dealt with: by keys or by pairs of keys, to so many standard deviations."""

    kind: str  # "keys" or "pairs"
    deviations: Fraction


@dataclass(frozen=True)
class Constraint:
    """One target in one scenario, with its multiplier, and a distribution if it is written out."""

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
    """Why no shorter query grants the wish. With several heads: a part for each of `among`."""

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


def parsed(text: str) -> Json:
    """A JSON document, read strictly: no name twice, no bare float, no NaN; or Malformed.

    >>> parsed('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    headwright.trusted.keys.Malformed: a name is given twice
    """
    try:
        given: Json = json.loads(
            text, object_pairs_hook=_once, parse_float=_bare, parse_constant=_bare
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise Malformed(f"the document is not JSON: {error}") from error
    return given


def document(text: str) -> tuple[Json, Json]:
    """The statement and the evidence in a document, or Malformed with the reason.

    >>> document('{"version": 1}')
    Traceback (most recent call last):
    headwright.trusted.keys.Malformed: the document has the names 'version', expected evidence, ...
    """
    top = named(parsed(text), "the document", "format", "version", "statement", "evidence")
    try:
        has = f"{str(top['format'])[:40]!r}, version {ascii(top['version'])[:40]}"
    except RecursionError as error:
        raise Malformed("the document is nested too deeply") from error
    expected = f"{FORMAT!r}, version {VERSION}"
    _need(has == expected, f"the document is {has}: expected {expected}")
    return top["statement"], top["evidence"]


def about_heads(said: Json) -> bool:
    """The statement is about whole heads, so that heads/ reads it."""
    return isinstance(said, dict) and said.get("claim") in ("heads", "no heads", "circuit")


def read(said: Json, shown: Json) -> Certificate:
    """The certificate about keys that this statement and this evidence make."""
    s, e = _statement(said), named(shown, "the evidence", "guard", "bound")
    random, needed = any(w.random for w in s.world), s.claim == "impossible" or s.none_shorter > 0
    guard = None if e["guard"] is None else _guard(e["guard"])
    bound = None if e["bound"] is None else _bound(e["bound"], s)
    fits = (guard is not None, bound is not None) == (random and s.claim == "designed", needed)
    _need(fits, "a guard or a bound is missing, or is there where the claim needs none")
    z = bound.deviations if bound else 0
    _need(z == 0 or (random and z > 0), "the bound's deviations are below 0, or of certain keys")
    return Certificate(s, guard, bound)


def _statement(given: Json) -> Statement:
    names = ("claim", "heads", "keys", "scale", "wish", "world", "confidence", "queries")
    s = named(given, "the statement", *names, "none_shorter")
    claim, heads = str(s["claim"])[:40], whole(s["heads"], 1, 2**20, "the number of heads")
    entries = [named(k, "keys", "n", "d", "sha256", "rows") for k in listed(s["keys"], "keys", 1)]
    keys = tuple(map(_keys_name, entries))
    n, d = keys[0].n, keys[0].d
    _need(len({(k.n, k.d) for k in keys}) == 1, "the scenarios are not key matrices of one shape")
    wish = table(s["wish"], n, "the wish")
    fits = bool(wish) and all(0 < p <= 1 for p in wish.values())
    _need(fits, "the wish is not a set of targets with least weights above 0 and at most 1")
    world = tuple(_spread(entry, n, d) for entry in listed(s["world"], "the world"))
    told = [key for spread in world for key in ([-1] if spread.keys is None else spread.keys)]
    _need(len(told) == len(set(told)), "the world says twice what a key may be")
    _need(not world or len(keys) == 1, "there are several scenarios and a world besides")
    scale, confidence, least = (rational(s[x]) for x in ("scale", "confidence", "none_shorter"))
    _need(scale != 0, "the scale is 0")
    fits = 0 < confidence < 1 if any(spread.random for spread in world) else confidence == 1
    _need(fits, "the confidence is not 1 for certain keys, or not between 0 and 1 for random ones")
    lengths = {"designed": least >= 0, "impossible": least == 0, "longer": least > 0}
    _need(lengths.get(claim, False), f"the claim is {claim!r}, or none_shorter does not fit it")
    queries = tuple(vector(query, d, "a query") for query in listed(s["queries"], "queries"))
    _need(all(_is_float(x) for query in queries for x in query), "a query is not made of floats")
    _need(len(queries) == heads * (claim == "designed"), "not as many queries as the claim needs")
    unheld: list[Json] = [{**entry, "rows": None} for entry in entries]
    written = json.dumps({**s, "keys": unheld}, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(written.encode()).hexdigest()
    return Statement(claim, heads, keys, scale, wish, world, confidence, queries, least, digest)


def _keys_name(k: dict[str, Json]) -> KeysName:
    n, d, digest = whole(k["n"], 1, 2**40, "n"), whole(k["d"], 1, 2**40, "d"), str(k["sha256"])
    _need(bool(re.fullmatch("[0-9a-f]{64}", digest)), "sha256 of keys is not 64 hex digits")
    if k["rows"] is None:
        return KeysName(n, d, digest, None)
    matrix = [listed(row, "a key") for row in listed(k["rows"], "rows")]
    rows = Keys.of_rows([[_signed(x) for x in row] for row in matrix])
    _need((rows.n, rows.d, rows.digest) == (n, d, digest), "the rows are not the keys named")
    return KeysName(n, d, digest, rows)


def _signed(x: Json) -> float:
    exact = rational(x)
    _need(_is_float(exact), f"a key holds {str(x)[:40]}, which is not a float")
    return copysign(float(exact), -1 if str(x).startswith("-") else 1)  # -0.0 has its own digest


def _is_float(x: Fraction) -> bool:
    return abs(x) < 2**1024 and float(x) == x


def _spread(given: Json, n: int, d: int) -> Spread:
    w = named(given, "a world's entry", "keys", "scale", "ball", "stretch", "factor", "random")
    every, random = w["keys"] == "*", w["random"]
    keys = [] if every else [whole(key, 0, n - 1, "a key") for key in listed(w["keys"], "keys")]
    _need(len(set(keys)) == len(keys), "an entry of the world names a key twice")
    (low, high), ball = vector(w["scale"], 2, "a scale"), rational(w["ball"])
    stretch, columns = rational(w["stretch"]), listed(w["factor"], "a factor")
    factor = tuple(vector(column, d, "a column of a factor") for column in columns)
    common_denominator(x for column in factor for x in column)
    if type(random) is not bool or low > high or ball < 0 or stretch < 0:
        raise Malformed("an entry of the world is not a scale from low to high, and sizes from 0")
    _need(random or not (stretch or (ball and factor)), "a stretch, or two sizes, of certain keys")
    return Spread(None if every else frozenset(keys), low, high, ball, stretch, factor, random)


def _guard(given: Json) -> Guard:
    g = named(given, "the guard", "kind", "deviations")
    kind, z = str(g["kind"]), rational(g["deviations"])
    _need(kind in ("keys", "pairs") and z >= 0, "the guard is not of keys or pairs, from 0 on")
    return Guard(kind, z)


def _bound(given: Json, s: Statement) -> Bound:
    b = named(given, "the bound", "among", "deviations", "scales", "own_scales", "parts")
    n, several = s.keys[0].n, b["among"] is not None
    among = [whole(a, 0, n - 1, "among") for a in listed(b["among"] if several else [], "among")]
    parts = tuple(_part(part, s) for part in listed(b["parts"], "parts", 1))
    used = [(c.scenario, c.target) for part in parts for c in part.constraints]
    _need(several == (s.heads > 1), "a bound is among targets for several heads, and only then")
    same = [(used[0][0], a) for a in among]
    fits = not several or (used == same and len(parts) == len(among) == len(set(among)))
    _need(fits, "with several heads each part has one constraint, for its target, in one scenario")
    scales, own = table(b["scales"], n, "scales"), table(b["own_scales"], n, "own_scales")
    return Bound(tuple(among) if several else None, rational(b["deviations"]), scales, own, parts)


def _part(given: Json, s: Statement) -> Part:
    p, d = named(given, "a part", "query", "lifts", "moves", "push", "constraints"), s.keys[0].d
    constraints = tuple(_constraint(c, s) for c in listed(p["constraints"], "constraints", 1))
    used = {(c.scenario, c.target) for c in constraints}
    alike = len({c.distribution is None for c in constraints}) == 1
    fits = len(used) == len(constraints) and alike
    _need(fits, "a constraint is used twice, or some have a distribution and some have none")
    moves, sizes = listed(p["moves"], "moves"), [0 if w.random else len(w.factor) for w in s.world]
    _need(len(moves) == len(sizes), "a part does not have a move for each entry of the world")
    moved = tuple(vector(u, size, "a move") for u, size in zip(moves, sizes, strict=True))
    query, lifts = vector(p["query"], d, "a part's query"), vector(p["lifts"], len(sizes), "lifts")
    push = None if p["push"] is None else vector(p["push"], d, "a push")
    return Part(query, lifts, moved, push, constraints)


def _constraint(given: Json, s: Statement) -> Constraint:
    c = named(given, "a constraint", "scenario", "target", "multiplier", "distribution")
    scenario, n = whole(c["scenario"], 0, len(s.keys) - 1, "a scenario"), s.keys[0].n
    target, multiplier = whole(c["target"], 0, n - 1, "a target"), rational(c["multiplier"])
    written = c["distribution"] is not None
    shares = table(c["distribution"], n, "a distribution") if written else {}
    fits = target in s.wish and multiplier >= 0 and all(x >= 0 for x in shares.values())
    _need(fits, "a constraint has a target without a wish, or a negative multiplier or share")
    return Constraint(scenario, target, multiplier, shares if written else None)


def named(given: Json, what: str, *names: str) -> dict[str, Json]:
    """An object with exactly these names."""
    if not isinstance(given, dict) or set(given) != set(names):
        found = sorted(given) if isinstance(given, dict) else [type(given).__name__]
        has = ", ".join(map(ascii, found))[:200]
        raise Malformed(f"{what} has the names {has}, expected {', '.join(sorted(names))}")
    return given


def listed(given: Json, what: str, least: int = 0) -> list[Json]:
    """A list of at least so many entries."""
    if not isinstance(given, list) or len(given) < least:
        raise Malformed(f"{what}: expected a list{' that is not empty' if least else ''}")
    return given


def vector(given: Json, d: int, what: str) -> Vector:
    """So many exact numbers."""
    _need(len(numbers := listed(given, what)) == d, f"{what} has {len(numbers)} numbers, not {d}")
    common_denominator(found := tuple(map(rational, numbers)))
    return found


def common_denominator(numbers: Iterable[Fraction]) -> int:
    """The least whole number whose products with all of these are whole; Reject if it is long."""
    below, count = 1, max(len(numbers := list(numbers)), 2**16)
    for x in numbers:
        affordable((below := lcm(below, x.denominator)).bit_length() * count)
    return below


def table(given: Json, n: int, what: str) -> dict[int, Fraction]:
    """Numbers by index; as a name an index is written in decimal digits."""
    if not isinstance(given, dict):
        raise Malformed(f"{what}: expected indices and numbers")
    for name in given:
        fits = re.fullmatch("0|[1-9][0-9]{0,14}", name) is not None and int(name) < n
        _need(fits, f"{what}: {name[:40]!r} is not an index from 0 to {n - 1}")
    numbers = vector(list(given.values()), len(given), what)
    return dict(zip(map(int, given), numbers, strict=True))


def whole(given: Json, least: int, most: int, what: str) -> int:
    """A whole number in a range."""
    if type(given) is not int or not least <= given <= most:
        raise Malformed(f"{what} is {ascii(given)[:40]}: no whole number from {least} to {most}")
    return given


def rational(text: object) -> Fraction:
    """An exact number: '3', '100/101', '0.05', '1e-30', in hexadecimal '0x1.8p+1' or '0x3/0x2'."""
    if isinstance(text, str) and len(text) <= 50_000:
        if _RATIONAL.fullmatch(text):
            return Fraction(text)
        if parts := _HEX_FLOAT.fullmatch(text):  # as one, what is too small would be rounded
            return Fraction(float.fromhex(parts[1])) * Fraction(2) ** int(parts[2])
        if ratio := _HEX_RATIONAL.fullmatch(text):
            return Fraction(int(ratio[1], 16), int(ratio[2], 16))
    raise Malformed(f"{str(text)[:40]!r} is not a number of the format")


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Malformed(otherwise)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    _need(len(entries := dict(pairs)) == len(pairs), "a name is given twice")
    return entries


def _bare(text: str) -> NoReturn:
    raise Malformed(f"{text[:40]} is a bare number: expected a string that is read exactly")
