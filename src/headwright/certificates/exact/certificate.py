"""The certificate, version 3: a statement, and evidence for it, as a JSON document of one form.

First the data, then how it is read. docs/reference/certificate.md says what each name means. An
unknown or missing name, another version, or numbers that do not fit together are Malformed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import copysign

from headwright.certificates.exact.keys import KeyMatrix, Malformed, Reject
from headwright.certificates.exact.values import (
    Json,
    Vector,
    common_denominator,
    digest_of_json,
    is_float,
    parse_json,
    read_fraction,
    read_integer,
    read_list,
    read_object,
    read_table,
    read_vector,
    require,
)

FORMAT = "headwright certificate"
VERSION = 3
HEAD_CLAIMS = ("heads", "no heads", "circuit")
EVERY_OTHER_KEY = -1  # in the place of an index
MOST_HEADS = 2**20
MOST_SIZE = 2**40  # of n and of d

KeyIdentity = tuple[int, int, str]  # n, d and the digest


@dataclass(frozen=True)
class KeysName:
    """Which keys a statement is about: shape, digest, and the rows if they are written out."""

    n: int
    d: int
    digest: str
    rows: KeyMatrix | None

    def identity(self) -> KeyIdentity:
        """What keys must have to be these."""
        return self.n, self.d, self.digest

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


CERTAIN = Spread(
    keys=frozenset(),
    low=Fraction(1),
    high=Fraction(1),
    ball=Fraction(0),
    stretch=Fraction(0),
    factor=(),
    random=False,
)


@dataclass(frozen=True)
class KeyStatement:
    """What is claimed of queries and keys."""

    claim: str  # "designed", "impossible" or "longer"
    heads: int
    keys: tuple[KeysName, ...]  # one matrix for each scenario
    scale: Fraction
    targets: dict[int, Fraction]  # target -> the least weight that it must get
    uncertainty: tuple[Spread, ...]
    confidence: Fraction  # the probability that the targets are met, at least
    queries: tuple[Vector, ...]  # one for each head if "designed", none otherwise
    none_shorter: Fraction  # no query shorter than this does (of several, not all)
    digest: str  # of the JSON with sorted names, no spaces, and null for rows of keys

    def has_random_keys(self) -> bool:
        """Some keys are random; if none are, the confidence is 1."""
        return any(spread.random for spread in self.uncertainty)


@dataclass(frozen=True)
class DeviationGuard:
    """How chance is dealt with: by keys or by pairs of keys, to so many standard deviations."""

    kind: str  # "keys" or "pairs"
    deviations: Fraction


@dataclass(frozen=True)
class BoundConstraint:
    """One target in one scenario, with its multiplier, and a distribution if it is written out."""

    scenario: int
    target: int
    multiplier: Fraction
    distribution: dict[int, Fraction] | None


@dataclass(frozen=True)
class BoundPart:
    """Constraints that together prove a bound, and how keys are moved in them."""

    query: Vector  # distributions that are not written out are those of the scores at this query
    lifts: Vector  # for each entry of the uncertainty, what is added to those scores
    moves: tuple[Vector, ...]  # for each entry of the uncertainty, u with |u| <= 1
    push: Vector | None
    constraints: tuple[BoundConstraint, ...]


@dataclass(frozen=True)
class LengthBound:
    """Why no shorter query does it. With several heads: a part for each target of `among`."""

    among: tuple[int, ...] | None
    deviations: Fraction
    scales: dict[int, Fraction]  # of keys, where they are not those that scores ask for
    own_scales: dict[int, Fraction]  # the same for targets in their own constraint
    parts: tuple[BoundPart, ...]


@dataclass(frozen=True)
class Certificate:
    """A statement with its evidence."""

    statement: KeyStatement
    guard: DeviationGuard | None
    bound: LengthBound | None


def read_document(text: str) -> tuple[Json, Json]:
    """The statement and the evidence in a document, or Malformed with the reason.

    >>> read_document('{"version": 1}')
    Traceback (most recent call last):
    headwright.certificates.exact.keys.Malformed: the document has the names 'version', expected evidence, ...
    """
    top = read_object(
        parse_json(text), "the document", "format", "version", "statement", "evidence"
    )
    try:
        has = f"{str(top['format'])[:40]!r}, version {ascii(top['version'])[:40]}"
    except RecursionError as error:
        raise Malformed("the document is nested too deeply") from error
    expected = f"{FORMAT!r}, version {VERSION}"
    require(has == expected, f"the document is {has}: expected {expected}")
    return top["statement"], top["evidence"]


def about_heads(statement: Json) -> bool:
    """The statement is about whole heads, so that heads/ reads it."""
    return isinstance(statement, dict) and statement.get("claim") in HEAD_CLAIMS


def choose_keys(
    names: Sequence[KeysName], files: Sequence[bytes]
) -> tuple[KeyMatrix, ...]:
    """The keys of each scenario, as written out or from a .npy file; a file of others is rejected."""
    wanted = {name.identity() for name in names}
    from_files: dict[KeyIdentity, KeyMatrix] = {}
    for content in files:
        keys = KeyMatrix.of_npy(content)
        from_files[keys.n, keys.d, keys.digest] = keys
    for identity in from_files:
        if identity not in wanted:
            about = " and ".join(map(str, names))
            other = KeysName(*identity, rows=None)
            raise Reject(f"it is about {about}, and given were {other}")
    chosen = []
    for name in names:
        if name.rows is not None:
            chosen.append(name.rows)
        elif name.identity() in from_files:
            chosen.append(from_files[name.identity()])
        else:
            raise Malformed(
                f"it is about {name}, and does not hold them: give --keys FILE.npy"
            )
    return tuple(chosen)


def read_certificate(statement_json: Json, evidence_json: Json) -> Certificate:
    """The certificate about keys that this statement and this evidence make."""
    statement = _read_statement(statement_json)
    evidence = read_object(evidence_json, "the evidence", "guard", "bound")
    guard = None
    if evidence["guard"] is not None:
        guard = _read_guard(evidence["guard"])
    bound = None
    if evidence["bound"] is not None:
        bound = _read_bound(evidence["bound"], statement)
    # A guard is there exactly where queries are claimed for random keys, and a bound exactly
    # where something is claimed about all queries.
    random = statement.has_random_keys()
    needs_guard = random and statement.claim == "designed"
    needs_bound = statement.claim == "impossible" or statement.none_shorter > 0
    fits = (guard is not None) == needs_guard and (bound is not None) == needs_bound
    require(
        fits, "a guard or a bound is missing, or is there where the claim needs none"
    )
    deviations = bound.deviations if bound else Fraction(0)
    require(
        deviations == 0 or (random and deviations > 0),
        "the bound's deviations are below 0, or of certain keys",
    )
    return Certificate(statement, guard, bound)


def _read_statement(value: Json) -> KeyStatement:
    names = (
        "claim",
        "heads",
        "keys",
        "scale",
        "targets",
        "uncertainty",
        "confidence",
        "queries",
        "none_shorter",
    )
    fields = read_object(value, "the statement", *names)
    claim = str(fields["claim"])[:40]
    heads = read_integer(fields["heads"], 1, MOST_HEADS, "the number of heads")
    entries = []
    for entry in read_list(fields["keys"], "keys", 1):
        entries.append(read_object(entry, "keys", "n", "d", "sha256", "rows"))
    keys = tuple(map(_read_keys_name, entries))
    n = keys[0].n
    d = keys[0].d
    require(
        all(name.n == n and name.d == d for name in keys),
        "the scenarios are not key matrices of one shape",
    )
    targets = read_table(fields["targets"], n, "the targets")
    require(
        bool(targets) and all(0 < least <= 1 for least in targets.values()),
        "the targets are not a set of targets with least weights above 0 and at most 1",
    )
    uncertainty = _read_uncertainty(fields["uncertainty"], n, d)
    require(
        not uncertainty or len(keys) == 1,
        "there are several scenarios and an uncertainty besides",
    )
    scale = read_fraction(fields["scale"])
    confidence = read_fraction(fields["confidence"])
    none_shorter = read_fraction(fields["none_shorter"])
    require(scale != 0, "the scale is 0")
    _check_confidence(confidence, uncertainty)
    _check_claim(claim, none_shorter)
    queries = _read_queries(fields["queries"], d)
    expected_queries = heads if claim == "designed" else 0
    require(len(queries) == expected_queries, "not as many queries as the claim needs")
    return KeyStatement(
        claim=claim,
        heads=heads,
        keys=keys,
        scale=scale,
        targets=targets,
        uncertainty=uncertainty,
        confidence=confidence,
        queries=queries,
        none_shorter=none_shorter,
        digest=_digest_without_rows(fields, entries),
    )


def _check_confidence(confidence: Fraction, uncertainty: Sequence[Spread]) -> None:
    if any(spread.random for spread in uncertainty):
        fits = 0 < confidence < 1
    else:
        fits = confidence == 1
    require(
        fits,
        "the confidence is not 1 for certain keys, or not between 0 and 1 for random ones",
    )


def _check_claim(claim: str, none_shorter: Fraction) -> None:
    fits = {
        "designed": none_shorter >= 0,
        "impossible": none_shorter == 0,
        "longer": none_shorter > 0,
    }
    require(
        fits.get(claim, False),
        f"the claim is {claim!r}, or none_shorter does not fit it",
    )


def _digest_without_rows(
    fields: dict[str, Json], key_entries: list[dict[str, Json]]
) -> str:
    """Keys are in it by their own digests, so that it is the same with and without their rows."""
    without_rows: list[Json] = [{**entry, "rows": None} for entry in key_entries]
    return digest_of_json({**fields, "keys": without_rows})


def _read_keys_name(fields: dict[str, Json]) -> KeysName:
    n = read_integer(fields["n"], 1, MOST_SIZE, "n")
    d = read_integer(fields["d"], 1, MOST_SIZE, "d")
    digest = str(fields["sha256"])
    is_digest = re.fullmatch("[0-9a-f]{64}", digest) is not None
    require(is_digest, "sha256 of keys is not 64 hex digits")
    if fields["rows"] is None:
        return KeysName(n, d, digest, None)
    row_entries = []
    for entry in read_list(fields["rows"], "rows"):
        row_entries.append(read_list(entry, "a key"))
    rows = []
    for row in row_entries:
        rows.append(list(map(_read_float, row)))
    keys = KeyMatrix.of_rows(rows)
    are_named = (keys.n, keys.d, keys.digest) == (n, d, digest)
    require(are_named, "the rows are not the keys named")
    return KeysName(n, d, digest, keys)


def _read_float(text: Json) -> float:
    """A number of a key. -0.0 has a digest of its own, so that its sign is kept."""
    exact = read_fraction(text)
    require(is_float(exact), f"a key holds {str(text)[:40]}, which is not a float")
    sign = -1 if str(text).startswith("-") else 1
    return copysign(float(exact), sign)


def _read_queries(value: Json, d: int) -> tuple[Vector, ...]:
    queries = []
    for entry in read_list(value, "queries"):
        queries.append(read_vector(entry, d, "a query"))
    for query in queries:
        require(all(map(is_float, query)), "a query is not made of floats")
    return tuple(queries)


def _read_uncertainty(value: Json, n: int, d: int) -> tuple[Spread, ...]:
    """All entries; no key is in two of them, and one entry at most is for every other key."""
    uncertainty = []
    for entry in read_list(value, "the uncertainty"):
        uncertainty.append(_read_spread(entry, n, d))
    seen: set[int] = set()
    for spread in uncertainty:
        keys = {EVERY_OTHER_KEY} if spread.keys is None else spread.keys
        require(seen.isdisjoint(keys), "the uncertainty says twice what a key may be")
        seen |= keys
    return tuple(uncertainty)


def _read_spread(value: Json, n: int, d: int) -> Spread:
    fields = read_object(
        value,
        "an uncertainty's entry",
        "keys",
        "scale",
        "ball",
        "stretch",
        "factor",
        "random",
    )
    keys = None
    if fields["keys"] != "*":
        indices = []
        for key in read_list(fields["keys"], "keys"):
            indices.append(read_integer(key, 0, n - 1, "a key"))
        keys = frozenset(indices)
        require(
            len(keys) == len(indices), "an entry of the uncertainty names a key twice"
        )
    low, high = read_vector(fields["scale"], 2, "a scale")
    ball = read_fraction(fields["ball"])
    stretch = read_fraction(fields["stretch"])
    factor = []
    for column in read_list(fields["factor"], "a factor"):
        factor.append(read_vector(column, d, "a column of a factor"))
    common_denominator(chain.from_iterable(factor))
    random = fields["random"]
    if not isinstance(random, bool) or low > high or ball < 0 or stretch < 0:
        raise Malformed(
            "an entry of the uncertainty is not a scale from low to high, and sizes from 0"
        )
    if not random:
        one_size = stretch == 0 and not (ball and factor)
        require(one_size, "a stretch, or two sizes, of certain keys")
    return Spread(keys, low, high, ball, stretch, tuple(factor), random)


def _read_guard(value: Json) -> DeviationGuard:
    fields = read_object(value, "the guard", "kind", "deviations")
    kind = str(fields["kind"])
    deviations = read_fraction(fields["deviations"])
    require(
        kind in ("keys", "pairs") and deviations >= 0,
        "the guard is not of keys or pairs, from 0 on",
    )
    return DeviationGuard(kind, deviations)


def _read_bound(value: Json, statement: KeyStatement) -> LengthBound:
    fields = read_object(
        value, "the bound", "among", "deviations", "scales", "own_scales", "parts"
    )
    n = statement.keys[0].n
    among = None
    if fields["among"] is not None:
        targets = []
        for target in read_list(fields["among"], "among"):
            targets.append(read_integer(target, 0, n - 1, "among"))
        among = tuple(targets)
    parts = []
    for entry in read_list(fields["parts"], "parts", 1):
        parts.append(_read_part(entry, statement))
    require(
        (among is not None) == (statement.heads > 1),
        "a bound is among targets for several heads, and only then",
    )
    if among is not None:
        require(
            _one_part_for_each(among, parts),
            "with several heads each part has one constraint, for its target, in one scenario",
        )
    return LengthBound(
        among=among,
        scales=read_table(fields["scales"], n, "scales"),
        own_scales=read_table(fields["own_scales"], n, "own_scales"),
        deviations=read_fraction(fields["deviations"]),
        parts=tuple(parts),
    )


def _one_part_for_each(among: tuple[int, ...], parts: list[BoundPart]) -> bool:
    """The targets are different, and part i has one constraint: for target i, in one scenario."""
    if len(parts) != len(among) or len(set(among)) != len(among):
        return False
    scenario = parts[0].constraints[0].scenario
    for target, part in zip(among, parts, strict=True):
        if [(c.scenario, c.target) for c in part.constraints] != [(scenario, target)]:
            return False
    return True


def _read_part(value: Json, statement: KeyStatement) -> BoundPart:
    fields = read_object(
        value, "a part", "query", "lifts", "moves", "push", "constraints"
    )
    d = statement.keys[0].d
    constraints = []
    for entry in read_list(fields["constraints"], "constraints", 1):
        constraints.append(_read_constraint(entry, statement))
    # Each constraint once, and all of them by tables or all by scores.
    places = {(c.scenario, c.target) for c in constraints}
    written_out = {c.distribution is not None for c in constraints}
    require(
        len(places) == len(constraints) and len(written_out) == 1,
        "a constraint is used twice, or some have a distribution and some have none",
    )
    move_entries = read_list(fields["moves"], "moves")
    require(
        len(move_entries) == len(statement.uncertainty),
        "a part does not have a move for each entry of the uncertainty",
    )
    moves = []
    for entry, spread in zip(move_entries, statement.uncertainty, strict=True):
        # Random keys are pushed together, and not moved one by one.
        length = 0 if spread.random else len(spread.factor)
        moves.append(read_vector(entry, length, "a move"))
    query = read_vector(fields["query"], d, "a part's query")
    lifts = read_vector(fields["lifts"], len(statement.uncertainty), "lifts")
    push = None
    if fields["push"] is not None:
        push = read_vector(fields["push"], d, "a push")
    return BoundPart(query, lifts, tuple(moves), push, tuple(constraints))


def _read_constraint(value: Json, statement: KeyStatement) -> BoundConstraint:
    fields = read_object(
        value, "a constraint", "scenario", "target", "multiplier", "distribution"
    )
    n = statement.keys[0].n
    scenario = read_integer(
        fields["scenario"], 0, len(statement.keys) - 1, "a scenario"
    )
    target = read_integer(fields["target"], 0, n - 1, "a target")
    multiplier = read_fraction(fields["multiplier"])
    distribution = None
    if fields["distribution"] is not None:
        distribution = read_table(fields["distribution"], n, "a distribution")
    shares = (distribution or {}).values()
    require(
        target in statement.targets
        and multiplier >= 0
        and all(share >= 0 for share in shares),
        "a constraint is about a key that is no target, or has a negative multiplier or share",
    )
    return BoundConstraint(scenario, target, multiplier, distribution)
