"""The statement of a certificate about whole heads or a circuit, against the rules of a file.

Statements are read as JSON here, since the checker has accepted them: numbers are compared exactly, however they are
written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.certificates.exact.keys import Malformed
from headwright.certificates.exact.values import Json, read_fraction
from headwright.verification.comparison import (
    Expected,
    StatementComparison,
    number_for_people,
)

if TYPE_CHECKING:
    from headwright.head_design import Rules
    from headwright.head_design.circuit import CircuitRules

Place = tuple[Any, ...]  # sequence, token and head: what a rule is about
ABOUT = ("bias", "biases", "mask", "sequences", "uncertainty")  # must be the same


@dataclass
class PlaceRules:
    """All that rules say of one token in one head: of several floors the highest counts, of ceilings the lowest."""

    attend: dict[str, Fraction] = field(default_factory=dict)
    at_most: dict[str, Fraction] = field(default_factory=dict)
    # Each output, with the least tolerance of it.
    outputs: dict[tuple[Fraction, ...], Fraction] = field(default_factory=dict)

    def add(self, rule: dict[str, Any]) -> None:
        """Another rule about the same place."""
        for key, weight in rule["attend"].items():
            self.attend[key] = max(weight, self.attend.get(key, weight))
        for key, weight in rule["at_most"].items():
            self.at_most[key] = min(weight, self.at_most.get(key, weight))
        output = rule["output"]
        if output:
            tolerance = rule["tolerance"]
            least = min(tolerance, self.outputs.get(output, tolerance))
            self.outputs[output] = least


def compare_heads(statement: dict[str, Any], asked: Expected) -> StatementComparison:
    """A single layer against rules, or a circuit against those of a circuit."""
    from headwright.head_design import Rules

    rules = asked.rules
    claim = statement["claim"]
    if rules is None:
        return StatementComparison(
            ["it is about whole heads, and keys were asked about"]
        )
    if isinstance(rules, Rules):
        if claim != "circuit":
            return _compare_layer(statement, rules)
        return StatementComparison(
            ["it is about a circuit, and the rules are about a single layer"]
        )
    if claim == "circuit":
        return _compare_circuit(statement, rules)
    if claim == "heads":
        return StatementComparison(
            ["it is about a single layer, and the rules are about a circuit"]
        )
    # No heads keep the rules of the first layer, and without it there is no circuit.
    return _compare_layer(statement, rules.first)


def _compare_circuit(
    statement: dict[str, Any], circuit: CircuitRules
) -> StatementComparison:
    """Layer by layer. The tokens of later ones are what comes out of those before: those of the statement, verified."""
    from headwright.head_design.circuit import next_rules

    layers = statement["layers"]
    expected_layers = 1 + len(circuit.others)
    if len(layers) != expected_layers:
        return StatementComparison(
            [
                f"it is a circuit of {len(layers)} layers, and the rules have {expected_layers}"
            ]
        )
    comparison = StatementComparison()
    for number, layer in enumerate(layers):
        rules = circuit.first
        if number > 0:
            written = circuit.others[number - 1]
            ball = read_fraction(layer["uncertainty"]["ball"])
            rules = next_rules(written, _tokens_of(layer), ball, number)
            if not _places_are_proved(rules, written):
                comparison.differences.append(
                    f"in layer {number} an output is told by a token, "
                    "and where all of these are was not proved"
                )
        of_layer = _compare_layer(layer, rules)
        for sentence in of_layer.differences:
            comparison.differences.append(f"in layer {number} {sentence}")
        for sentence in of_layer.notes:
            comparison.notes.append(f"in layer {number} {sentence}")
    return comparison


def _tokens_of(layer: dict[str, Any]) -> tuple[np.ndarray, ...]:
    """The sequences of a layer's statement, as floats."""
    sequences = []
    for X in layer["sequences"]:
        rows = [[float(read_fraction(x)) for x in row] for row in X]
        sequences.append(np.array(rows))
    return tuple(sequences)


def _places_are_proved(rules: Rules, written: dict[str, Any]) -> bool:
    """The checker knows where tokens are that rules are about, or see; an output may be told by another one."""
    known = set()
    for rule in rules.rules:
        known.add((rule.sequence, rule.token))
        for token in rules.seen(rule):
            known.add((rule.sequence, token))
    outputs = [str(entry.get("output")) for entry in written.get("rule", ())]
    by_token = any("token" in output for output in outputs)
    return not by_token or len(known) == sum(map(len, rules.sequences))


def _compare_layer(statement: dict[str, Any], rules: Rules) -> StatementComparison:
    """Tokens, mask and uncertainty must be the same; the rules of the file must follow from those of the statement.

    Where the statement is that no heads keep its rules, these must follow from those of the file.
    """
    from headwright.head_design.certify import about

    comparison = StatementComparison()
    expected = about(str(statement["claim"]), rules, rules.rules)
    for name in ABOUT:
        if not _is_same(name, statement[name], expected[name]):
            verb = "are" if name.endswith("s") else "is"
            comparison.differences.append(f"its {name} {verb} not that of the rules")
    heads = statement.get("heads", ())
    has_sums = any(rule.head is None for rule in rules.rules)
    if has_sums and heads and len(heads) != rules.heads:
        comparison.differences.append(
            f"it has {len(heads)} heads, and the rules are about the sum of {rules.heads}"
        )

    stated = _rules_by_place(statement["rules"])
    of_file = _rules_by_place(expected["rules"])
    if statement["claim"] == "heads":
        _compare_rules(stated, "it", of_file, comparison)
        note = "its rules say more than those of the file"
    else:
        _compare_rules(of_file, "the file", stated, comparison)
        note = "it needs fewer rules"
    if not comparison.differences and stated != of_file:
        comparison.notes.append(note)
    return comparison


def _is_same(name: str, stated: Json, expected: Json) -> bool:
    if stated == expected:
        return True
    # A row of a mask is no number, although it is made of digits.
    return name != "mask" and _exactly(stated) == _exactly(expected)


def _compare_rules(
    strong: dict[Place, PlaceRules],
    whose: str,
    weak: dict[Place, PlaceRules],
    comparison: StatementComparison,
) -> None:
    """The differences, unless every one of the weak rules follows from the strong ones."""
    for place, less in weak.items():
        sequence, token, head = place
        who = f"token {token} of sequence {sequence} in head {head}"
        if place not in strong:
            comparison.differences.append(f"{whose} has no rule for {who}")
            continue
        gap = _gap_between(strong[place], less)
        if gap is not None:
            comparison.differences.append(f"for {who} {whose} says less: {gap}")


def _rules_by_place(rules: list[Any]) -> dict[Place, PlaceRules]:
    by_place: dict[Place, PlaceRules] = {}
    for rule in map(_exactly, rules):
        place = (rule["sequence"], rule["token"], rule["head"])
        by_place.setdefault(place, PlaceRules()).add(rule)
    return by_place


def _gap_between(strong: PlaceRules, weak: PlaceRules) -> str | None:
    """Why what is said of a place does not follow from something else, or None where it does."""
    for key, weight in weak.attend.items():
        if weight > strong.attend.get(key, 0):
            return (
                f"attend {_in_words(strong.attend)} instead of {_in_words(weak.attend)}"
            )
    for key, weight in weak.at_most.items():
        if weight < strong.at_most.get(key, 1):
            return f"at most {_in_words(strong.at_most)} instead of {_in_words(weak.at_most)}"
    for output, tolerance in weak.outputs.items():
        if output not in strong.outputs:
            return f"output {'another' if strong.outputs else 'nothing'}"
        if strong.outputs[output] > tolerance:
            stated = number_for_people(strong.outputs[output])
            return f"tolerance {stated} instead of {number_for_people(tolerance)}"
    return None


def _in_words(weights: dict[str, Fraction]) -> str:
    entries = [f"{key}: {number_for_people(p)}" for key, p in weights.items()]
    return ", ".join(entries) or "nothing"


def _exactly(value: Json) -> Any:
    """The same with every number read: '1/2' and '0.5' are equal."""
    if isinstance(value, dict):
        return {name: _exactly(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return tuple(map(_exactly, value))
    if not isinstance(value, str):
        return value
    try:
        return read_fraction(value)
    except Malformed:
        return value
