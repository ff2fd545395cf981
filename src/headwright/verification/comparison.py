"""Compare the statement of a certificate with what was expected of it, in exact numbers.

A statement may say more than was asked for: a higher least weight, a higher confidence, other targets besides. That is
agreed to, and told. Where it says less, or something else, the certificate does not answer the question. Where it says
that something is impossible, more and less change places. What it speaks of beside, and nobody asked about
(uncertainty, a probability, a scale, several heads), is neither: it is told, since without it the answer may differ.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.certificates.exact.certificate import (
    CERTAIN,
    KeyStatement,
    Spread,
    about_heads,
    document,
    read,
)
from headwright.certificates.exact.keys import Malformed
from headwright.certificates.exact.values import Json, rational
from headwright.certificates.exact.words import six_digits
from headwright.query_design.statement import rounded_deviations, uncertainty_entries

if TYPE_CHECKING:
    from headwright.head_design import Rules
    from headwright.head_design.circuit import CircuitRules
    from headwright.query_design import Targets
    from headwright.uncertainty import Uncertainty

NEARBY = 1e-12  # covariances are rounded when they are written as E E^T: relative to their largest entry
SHOWN = 3  # differences of keys that are told one by one


@dataclass(frozen=True)
class Expected:
    """What a certificate is expected to prove; None where nothing was said."""

    targets: Targets | None = None
    uncertainty: Uncertainty | None = None
    scale: Fraction | None = None
    confidence: Fraction | None = None
    rules: Rules | CircuitRules | None = None


@dataclass
class StatementComparison:
    """Where the statement differs from what was asked, where it says more, and what it speaks of that nobody asked."""

    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)


def compare(text: str, asked: Expected) -> StatementComparison:
    """The statement of a certificate that was verified, against what was asked."""
    said, proof = document(text)
    if isinstance(said, dict) and about_heads(said):
        return _compare_heads(said, asked)
    if asked.rules is not None:
        return StatementComparison(
            ["it is about keys, and not about the tokens and weights of whole heads"]
        )
    return _compare_keys(read(said, proof).statement, asked)


def _compare_keys(statement: KeyStatement, asked: Expected) -> StatementComparison:
    found = StatementComparison()
    if asked.scale is not None and asked.scale != statement.scale:
        found.differences.append(
            f"its scores have the scale {_size(statement.scale)}, and {_size(asked.scale)} was asked for"
        )
    if asked.uncertainty is not None:
        _compare_uncertainty(statement, asked.uncertainty, found)
    if asked.targets is not None:
        _compare_targets(statement, asked.targets.least, found)
    if asked.confidence is not None:
        _compare_confidence(statement, asked.confidence, found)
    if found.notes and statement.claim == "designed" and statement.none_shorter:
        found.notes.append(
            "that no shorter query does it is said of the statement's question, not of the one asked"
        )
    found.unasked += _unasked(statement, asked)
    return found


def _unasked(statement: KeyStatement, asked: Expected) -> Iterator[str]:
    """What the statement speaks of and the question does not, though the answer may depend on it."""
    if asked.targets is None:
        yield "its targets"
    if asked.uncertainty is None and (statement.uncertainty or len(statement.keys) > 1):
        yield "what its keys may be (--uncertainty)"
    if asked.confidence is None and statement.confidence != 1:
        yield f"its probability, {_size(statement.confidence)} (--confidence)"
    if asked.scale is None and statement.scale != 1:
        yield f"the scale of its scores, {_size(statement.scale)} (--scale)"
    if statement.heads > 1:
        yield f"that it is about {statement.heads} heads together"


def _compare_targets(
    statement: KeyStatement, asked: Mapping[int, Fraction], found: StatementComparison
) -> None:
    """More is a higher weight, or a further target; where nothing meets the targets, a lower one, or a target fewer."""
    designed = statement.claim == "designed"
    for key in sorted({*statement.targets, *asked}):
        said, wanted = statement.targets.get(key), asked.get(key)
        if said == wanted:
            continue
        words = f"it gives key {key} {_least(said)}, and {_least(wanted)} was asked for"
        (
            found.notes
            if ((said or 0) > (wanted or 0)) == designed
            else found.differences
        ).append(words)


def _least(p: Fraction | None) -> str:
    if p is None:
        return "nothing"
    return f"at least {p}" if _is_short(p) else f"at least {six_digits(p)}"


def _compare_confidence(
    statement: KeyStatement, asked: Fraction, found: StatementComparison
) -> None:
    if statement.confidence == 1:
        found.notes.append("in it nothing is random: what it says is certain")
    elif statement.confidence != asked:
        more = (statement.confidence > asked) == (statement.claim == "designed")
        words = f"it has the confidence {_size(statement.confidence)}, and {_size(asked)} was asked for"
        (found.notes if more else found.differences).append(words)


def _described(spread: Spread) -> str:
    """What one key may be."""
    parts = []
    if not spread.low == spread.high == 1:
        low, high = _size(spread.low), _size(spread.high)
        parts.append(
            f"scale {low} to {high}" if spread.low < spread.high else f"scale {low}"
        )
    size = "standard deviation" if spread.random else "radius"
    parts += [f"{size} {_size(spread.ball)} around its place"] if spread.ball else []
    parts += (
        [f"standard deviation {_size(spread.stretch)} of its scale"]
        if spread.stretch
        else []
    )
    parts += [f"a factor of {len(spread.factor)} columns"] if spread.factor else []
    return ", ".join(parts) or "certain"


def _size(x: Fraction) -> str:
    return str(x) if _is_short(x) else f"{six_digits(x)}..."


def _is_short(x: Fraction) -> bool:
    """It has fewer than 16 characters; bits are counted first, since Python does not write numbers of many digits."""
    bits = x.numerator.bit_length() + x.denominator.bit_length()
    return bits < 64 and len(str(x)) < 16


def _compare_uncertainty(
    statement: KeyStatement, uncertainty: Uncertainty, found: StatementComparison
) -> None:
    digests = [digest(scenario) for scenario in uncertainty.scenarios]
    if Counter(digests) != Counter(name.digest for name in statement.keys) and (
        digests or len(statement.keys) > 1
    ):
        found.differences.append(
            f"it is about {_many(len(statement.keys))}, and the uncertainty about {_many(max(1, len(digests)))}"
            + (", which differ" if len(digests) == len(statement.keys) else "")
        )
    if uncertainty.lists_scales and (
        statement.heads > 1 or any(spread.random for spread in statement.uncertainty)
    ):
        words = "it is about every scale in a range, and the uncertainty lists a few, which is less"
        bounded = statement.claim != "designed" or statement.none_shorter > 0
        (found.differences if bounded else found.notes).append(words)
    if rounded_deviations(uncertainty):
        found.notes.append(
            "a standard deviation of the uncertainty is no ratio of whole numbers, and is the next float above"
        )
    n = statement.keys[0].n
    said, others_said = _by_key(statement.uncertainty)
    asked, others_asked = _by_key(
        map(_spread, uncertainty_entries(uncertainty, n, statement.keys[0].d))
    )
    named = sorted({*said, *asked})
    pairs = [
        (f"key {i}", said.get(i, others_said), asked.get(i, others_asked))
        for i in named
    ]
    if len(named) < n:
        pairs.append(
            ("every other key" if named else "every key", others_said, others_asked)
        )
    different = [pair for pair in pairs if not _same(*pair, found)]
    for who, mine, theirs in different[:SHOWN]:
        said_so, asked_so = _described(mine), _described(theirs)
        also = " (with other numbers)" if said_so == asked_so else ""
        found.differences.append(
            f"for {who} its uncertainty says: {said_so}, and the one asked for: {asked_so}{also}"
        )
    if len(different) > SHOWN:
        found.differences.append(
            f"and its uncertainty differs for {len(different) - SHOWN} keys more"
        )


def _same(who: str, said: Spread, asked: Spread, found: StatementComparison) -> bool:
    if said == asked:
        return True
    sizes = [
        (e.low, e.high, e.ball, e.stretch, e.random, len(e.factor))
        for e in (said, asked)
    ]
    if sizes[0] != sizes[1] or not said.random:
        return False
    apart, largest = _covariances_apart(said, asked)
    if not apart <= NEARBY * largest:
        return False
    from headwright.numerics.enclosure import shown_above

    found.notes.append(
        f"the covariance of {who} is within {shown_above(apart, 2)} of the one asked for, by rounding"
    )
    return True


def _covariances_apart(said: Spread, asked: Spread) -> tuple[float, float]:
    """How far two covariances E E^T are apart at most, and how large the second is, by their largest entries."""
    from flint import arb, arb_mat, ctx, fmpq

    from headwright.numerics.enclosure import Enclosure

    def square(entry: Spread) -> arb_mat:
        E = arb_mat(
            [
                [arb(fmpq(x.numerator, x.denominator)) for x in column]
                for column in entry.factor
            ]
        )
        return E.transpose() * E

    with ctx.workprec(256):
        one, other = square(said), square(asked)
        apart = max(Enclosure.of(abs(x)).upper for x in (one - other).entries())
        return apart, max(Enclosure.of(abs(x)).lower for x in other.entries())


def _by_key(uncertainty: Iterable[Spread]) -> tuple[dict[int, Spread], Spread]:
    """What each named key may be, and what the others may be."""
    named: dict[int, Spread] = {}
    others = CERTAIN
    for spread in uncertainty:
        alone = replace(spread, keys=frozenset())
        if spread.keys is None:
            others = alone
        else:
            named.update(dict.fromkeys(spread.keys, alone))
    return named, others


def _spread(w: dict[str, Any]) -> Spread:
    low, high = map(rational, w["scale"])
    factor = tuple(tuple(map(rational, column)) for column in w["factor"])
    keys = None if w["keys"] == "*" else frozenset(w["keys"])
    return Spread(
        keys,
        low,
        high,
        rational(w["ball"]),
        rational(w["stretch"]),
        factor,
        w["random"],
    )


def _many(matrices: int) -> str:
    return "one matrix of keys" if matrices == 1 else f"{matrices} scenarios"


def digest(keys: np.ndarray) -> str:
    """The digest by which a statement names keys."""
    return hashlib.sha256(np.ascontiguousarray(keys, "<f8").tobytes()).hexdigest()


def _compare_heads(said: dict[str, Any], asked: Expected) -> StatementComparison:
    from headwright.head_design import Rules

    claim, rules = said["claim"], asked.rules
    if rules is None:
        return StatementComparison(
            ["it is about whole heads, and keys were asked about"]
        )
    if claim != "circuit" and isinstance(rules, Rules):
        return _compare_rules(said, rules)
    if isinstance(rules, Rules):
        return StatementComparison(
            ["it is about a circuit, and the rules are about a single layer"]
        )
    if claim == "heads":
        return StatementComparison(
            ["it is about a single layer, and the rules are about a circuit"]
        )
    if claim == "no heads":  # without a first layer there is no circuit
        return _compare_rules(said, rules.first)
    return _compare_circuit(said, rules)


def _compare_circuit(
    said: dict[str, Any], circuit: CircuitRules
) -> StatementComparison:
    """Layer by layer. The tokens of later ones are what comes out of those before: those of the statement, verified."""
    from headwright.head_design.circuit import next_rules

    layers, found = said["layers"], StatementComparison()
    if len(layers) != 1 + len(circuit.others):
        return StatementComparison(
            [
                f"it is a circuit of {len(layers)} layers, and the rules have {1 + len(circuit.others)}"
            ]
        )
    for number, layer in enumerate(layers):
        rules = circuit.first
        if number:
            tokens = tuple(
                np.array([[float(rational(x)) for x in row] for row in X])
                for X in layer["sequences"]
            )
            rules = next_rules(
                circuit.others[number - 1],
                tokens,
                rational(layer["uncertainty"]["ball"]),
                number,
            )
            found.differences += _unproved_places(
                rules, circuit.others[number - 1], number
            )
        one = _compare_rules(layer, rules)
        found.differences += [f"in layer {number} {words}" for words in one.differences]
        found.notes += [f"in layer {number} {words}" for words in one.notes]
    return found


def _unproved_places(rules: Rules, written: dict[str, Any], number: int) -> list[str]:
    """The checker knows where tokens are that rules are about, or see; an output may be told by another one."""
    known = {
        (rule.sequence, j)
        for rule in rules.rules
        for j in (rule.token, *rules.seen(rule))
    }
    by_token = any(
        "token" in str(entry.get("output")) for entry in written.get("rule", ())
    )
    if by_token and len(known) < sum(map(len, rules.sequences)):
        return [
            f"in layer {number} an output is told by a token, and where all of these are was not proved"
        ]
    return []


def _compare_rules(said: dict[str, Any], rules: Rules) -> StatementComparison:
    """Tokens, mask and uncertainty must be the same; the rules of the file must follow from those of the statement.

    Where the statement is that no heads keep its rules, these must follow from those of the file.
    """
    from headwright.head_design.certify import about

    found, wanted = StatementComparison(), about(str(said["claim"]), rules, rules.rules)
    for name in ("bias", "biases", "mask", "sequences", "uncertainty"):
        mine, theirs = said[name], wanted[name]
        if mine != theirs and (
            name == "mask" or _exactly(mine) != _exactly(theirs)
        ):  # a row of a mask is no number
            found.differences.append(
                f"its {name} {'are' if name.endswith('s') else 'is'} not that of the rules"
            )
    if any(rule.head is None for rule in rules.rules) and len(
        said.get("heads", ())
    ) not in (0, rules.heads):
        found.differences.append(
            f"it has {len(said['heads'])} heads, and the rules are about the sum of {rules.heads}"
        )
    mine, theirs = _by_place(said["rules"]), _by_place(wanted["rules"])
    strong, weak = (mine, theirs) if said["claim"] == "heads" else (theirs, mine)
    for place, less in weak.items():
        who = "token {1} of sequence {0} in head {2}".format(*place)
        if place not in strong:
            found.differences.append(
                f"{'it' if weak is theirs else 'the file'} has no rule for {who}"
            )
        elif (why := _what_is_less(strong[place], less)) is not None:
            found.differences.append(
                f"for {who} {'it' if weak is theirs else 'the file'} says less: {why}"
            )
    if not found.differences and mine != theirs:
        found.notes.append(
            "its rules say more than those of the file"
            if weak is theirs
            else "it needs fewer rules"
        )
    return found


@dataclass
class _Place:
    """All that rules say of one token in one head: of several floors the highest counts, of ceilings the lowest."""

    attend: dict[str, Fraction] = field(default_factory=dict)
    at_most: dict[str, Fraction] = field(default_factory=dict)
    outputs: dict[tuple[Fraction, ...], Fraction] = field(
        default_factory=dict
    )  # with the least tolerance of each


def _by_place(rules: list[Any]) -> dict[tuple[object, ...], _Place]:
    found: dict[tuple[object, ...], _Place] = {}
    for rule in map(_exactly, rules):
        place = found.setdefault(
            tuple(rule[name] for name in ("sequence", "token", "head")), _Place()
        )
        for key, p in rule["attend"].items():
            place.attend[key] = max(p, place.attend.get(key, p))
        for key, p in rule["at_most"].items():
            place.at_most[key] = min(p, place.at_most.get(key, p))
        if output := rule["output"]:
            place.outputs[output] = min(
                rule["tolerance"], place.outputs.get(output, rule["tolerance"])
            )
    return found


def _what_is_less(strong: _Place, weak: _Place) -> str | None:
    """Why what is said of a place does not follow from something else, or None where it does."""
    if any(p > strong.attend.get(key, 0) for key, p in weak.attend.items()):
        return f"attend {_told(strong.attend)} instead of {_told(weak.attend)}"
    if any(p < strong.at_most.get(key, 1) for key, p in weak.at_most.items()):
        return f"at most {_told(strong.at_most)} instead of {_told(weak.at_most)}"
    for output, tolerance in weak.outputs.items():
        if output not in strong.outputs:
            return f"output {'another' if strong.outputs else 'nothing'}"
        if strong.outputs[output] > tolerance:
            return f"tolerance {_size(strong.outputs[output])} instead of {_size(tolerance)}"
    return None


def _told(weights: dict[str, Fraction]) -> str:
    return ", ".join(f"{key}: {_size(p)}" for key, p in weights.items()) or "nothing"


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
