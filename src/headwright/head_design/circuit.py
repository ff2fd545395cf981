"""Circuits: layers of heads, each designed for the outputs of the one before.

A layer adds its output to its tokens. What it makes of each token is known up to an error that is proved; the next
layer is designed for tokens that may be anywhere within that error: a ball. So the circuit is proved as a whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import add
from pathlib import Path
from typing import Any, overload

import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.certificates.exact.numbers import sqrt_above
from headwright.certificates.exact.verify import verify
from headwright.certificates.formats import certificate_text
from headwright.errors import InputError
from headwright.files import parse_file
from headwright.head_design.builder import build
from headwright.head_design.certify import certificate
from headwright.head_design.exact_bounds import proven_facts
from headwright.head_design.head import HeadLayer, outputs
from headwright.head_design.heads_result import HeadsResult
from headwright.head_design.rendering import (
    circuit_as_json,
    circuit_card,
    circuit_lines,
)
from headwright.head_design.result import DesignedCircuit
from headwright.head_design.rules import Rule, Rules
from headwright.head_design.rules_file import document, read_rules, rules_from
from headwright.numerics.enclosure import printed_above

Sequences = tuple[Float[np.ndarray, "T D"], ...]
Progress = Callable[[float], None]
MOST_LAYERS = 16
BALL_DIGITS = 3  # of the radius of a ball, which is rounded up to so many
# What the file says of the first layer alone.
OF_FIRST_LAYER = ("tokens", "sequences", "positions", "uncertainty", "dimension")


class Circuit(DesignedCircuit):
    """What `build_circuit` found.

    >>> Circuit("undecided", "nothing was found").layers
    ()
    """

    def to_json(self, certificate: str | None = None) -> dict[str, Any]:
        """All of it in JSON's own types; the caller says where the certificate is."""
        return circuit_as_json(self, certificate)

    def __repr__(self) -> str:
        """The verdict and the sizes in a few lines, never the weights."""
        return circuit_lines(self)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card."""
        return circuit_card(self)


@dataclass(frozen=True)
class CircuitRules:
    """The rules of the first layer, and what the file says of the others, whose tokens come out of it.

    >>> CircuitRules(Rules((np.eye(2),), (Rule(0, attend={1: Fraction(1, 2)}),)), ({"mask": "causal"},)).others
    ({'mask': 'causal'},)
    """

    first: Rules
    others: tuple[dict[str, Any], ...]


def parse_circuit(text: str) -> CircuitRules | None:
    """A circuit in TOML text: tokens, and [[layer]] with what is said of each; None where there are no layers.

    >>> parse_circuit("tokens = [[1.0]]") is None
    True
    """
    check_argument("text", text, str)
    fields = document(text)
    layers = fields.pop("layer", None)
    if layers is None:
        return None
    are_tables = isinstance(layers, list) and all(isinstance(x, dict) for x in layers)
    if not are_tables:
        raise InputError("layer: expected [[layer]] before each of them")
    if not 2 <= len(layers) <= MOST_LAYERS:
        raise InputError(
            f"a circuit of {len(layers)} layers: expected 2 to {MOST_LAYERS}"
        )
    for number, layer in enumerate(layers[1:], 1):
        for name in OF_FIRST_LAYER:
            if name in layer:
                raise InputError(
                    f"layer {number} has {name}: expected it of the first one alone; its tokens come out "
                    "of the layer before"
                )
    directions = {"directions": fields.get("directions", {})}
    others = tuple({**directions, **layer} for layer in layers[1:])
    return CircuitRules(rules_from({**fields, **layers[0]}), others)


def read_circuit(path: str | Path) -> CircuitRules | None:
    """The circuit in a TOML file; None where it has no layers.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rules.toml"
    >>> first = "{ rule = [{ token = 0, copy = 1 }] }"
    >>> _ = path.write_text(f"tokens = [[1.0], [2.0]]\\nlayer = [{first}, {{ mask = 'causal' }}]")
    >>> read_circuit(path).others
    ({'directions': {}, 'mask': 'causal'},)
    """
    check_argument("path", path, str | Path)
    return parse_file(path, parse_circuit, "rules")


@overload
def heads(
    rules: Rules,
    *,
    minimise: str = ...,
    head_dim: int | None = ...,
    dtype: str = ...,
    progress: Progress | None = ...,
) -> HeadsResult: ...
@overload
def heads(
    rules: CircuitRules,
    *,
    minimise: str = ...,
    head_dim: int | None = ...,
    dtype: str = ...,
    progress: Progress | None = ...,
) -> Circuit: ...
@overload
def heads(
    rules: str | Path,
    *,
    minimise: str = ...,
    head_dim: int | None = ...,
    dtype: str = ...,
    progress: Progress | None = ...,
) -> HeadsResult | Circuit: ...
def heads(
    rules: Rules | CircuitRules | str | Path,
    *,
    minimise: str = "size",
    head_dim: int | None = None,
    dtype: str = "float64",
    progress: Progress | None = None,
) -> HeadsResult | Circuit:
    """The weights of whole heads that keep rules, with a certificate; several layers where the rules have [[layer]].

    `rules` are rules that were read, or the path of a TOML file. `minimise` is 'size' or 'rank'; `head_dim` is the
    largest head dimension allowed, and `dtype` the type of the weights: 'float64', 'float32' or 'bfloat16'.

    >>> from headwright.head_design.rules_file import parse_rules
    >>> heads(parse_rules("tokens = [[1.0, 0.0], [0.0, 1.0]]\\n[[rule]]\\ntoken = 0\\ncopy = 1")).word
    'designed'
    """
    check_argument("rules", rules, Rules | CircuitRules | str | Path)
    if isinstance(rules, str | Path):
        rules = read_circuit(rules) or read_rules(rules)
    if not isinstance(rules, CircuitRules):
        return build(
            rules, minimise=minimise, head_dim=head_dim, dtype=dtype, progress=progress
        )
    if head_dim is not None:
        raise InputError(
            f"head_dim is {head_dim}: expected it with rules for one layer, and these have several"
        )
    return build_circuit(rules, minimise=minimise, dtype=dtype, progress=progress)


def build_circuit(
    circuit: CircuitRules,
    *,
    minimise: str = "size",
    dtype: str = "float64",
    progress: Callable[[float], None] | None = None,
) -> Circuit:
    """Layers that keep their rules one after the other; verified as a whole.

    >>> circuit = parse_circuit('''
    ... directions = { x = 1.0, y = 1.0, after_x = 1.0 }
    ... tokens = ["x", "y", "x"]
    ... [[layer]]
    ... mask = "causal"
    ... rule = [{ token = 1, copy = 0, output = "after_x" }]
    ... [[layer]]
    ... rule = [{ token = 2, copy = 1 }]
    ... ''')
    >>> found = build_circuit(circuit)
    >>> found.word, len(found.layers)
    ('designed', 2)
    """
    check_argument("circuit", circuit, CircuitRules)
    report = progress or (lambda _: None)
    result = _built(circuit, minimise, dtype, report, as_wanted=True)
    if result.word == "undecided":
        result = _built(circuit, minimise, dtype, report, as_wanted=False)
    return result


def _built(
    circuit: CircuitRules,
    minimise: str,
    dtype: str,
    report: Callable[[float], None],
    *,
    as_wanted: bool,
) -> Circuit:
    """With tokens of the next layer where rules want them, or where they really come out, which is nearer."""
    rules = circuit.first
    layers: list[HeadsResult] = []
    claims: list[tuple[Rule, ...]] = []
    errors = []
    last = len(circuit.others)
    for number in range(last + 1):
        report(number / (last + 1))
        result = build(rules, minimise=minimise, dtype=dtype)
        if result.layer is None:
            return _without_layer(number, result)
        layers.append(result)
        if number == last:
            claims.append(result.claims)
            break
        outputs_of_layer = _outputs_made(result, result.layer, as_wanted=as_wanted)
        claims.append((*result.claims, *outputs_of_layer))
        sequences, ball = _handed_on(rules, outputs_of_layer)
        errors.append(printed_above(ball))
        rules = next_rules(circuit.others[number], sequences, ball, number + 1)
    text = _certificate(layers, claims)
    verdict = verify(text)
    if verdict.word != "verified":
        why = f"layers were found, and the checker does not agree: {verdict.words}"
        return Circuit("undecided", why)
    report(1.0)
    return Circuit("designed", verdict.words, text, tuple(layers), tuple(errors))


def _without_layer(number: int, result: HeadsResult) -> Circuit:
    """Only the first layer's tokens are given: those of later ones are as this design made them."""
    words = f"layer {number}: {result.words}"
    if number == 0:
        return Circuit(result.word, words, result.certificate)
    return Circuit("undecided", words)


def _outputs_made(
    result: HeadsResult, layer: HeadLayer, *, as_wanted: bool
) -> tuple[Rule, ...]:
    """What the layer makes of each token, with the error that is proved; all heads together."""
    rules = result.rules
    wanted = {}
    for rule in rules.rules:
        if rule.output and (rule.head is None or rules.heads == 1):
            wanted[rule.sequence, rule.token] = rule.output
    unproved = []
    for sequence, X in enumerate(rules.sequences):
        Y = outputs(layer, X)
        if Y.shape[1] != rules.dimension:
            raise InputError(
                f"a layer outputs {Y.shape[1]} numbers, and tokens have {rules.dimension}: expected as "
                "many, since it adds one to the other"
            )
        for token, y in enumerate(Y.tolist()):
            output = tuple(map(Fraction, y))
            if as_wanted:
                output = wanted.get((sequence, token), output)
            unproved.append(Rule(token, sequence, None, output=output))
    with_errors = []
    for rule, facts in zip(unproved, proven_facts(rules, unproved, layer), strict=True):
        with_errors.append(replace(rule, tolerance=Fraction(facts.error)))
    return tuple(with_errors)


def _handed_on(
    rules: Rules, outputs_of_layer: Sequence[Rule]
) -> tuple[Sequences, Fraction]:
    """The tokens with what is made of them, and a ball that holds them: a short number."""
    sequences = tuple(X.copy() for X in rules.sequences)
    stretch = max(1 - rules.scale[0], rules.scale[1] - 1)
    off = Fraction(0)
    for rule in outputs_of_layer:
        x = list(map(Fraction, rules.sequences[rule.sequence][rule.token].tolist()))
        next_x = list(map(add, x, rule.output or ()))
        rounded_x = list(map(float, next_x))
        sequences[rule.sequence][rule.token] = rounded_x
        # From the token as it is handed on to where it may be, by the triangle inequality: the rounding,
        # the error of the output, and how far the token was from x to begin with.
        rounding = _length_above(
            [a - Fraction(b) for a, b in zip(next_x, rounded_x, strict=True)]
        )
        before = rules.ball + stretch * _length_above(x)
        off = max(off, rule.tolerance + rounding + before)
    return sequences, _rounded_up(off)


def _length_above(x: Sequence[Fraction]) -> Fraction:
    return sqrt_above(sum((v * v for v in x), Fraction(0)))


def _rounded_up(off: Fraction) -> Fraction:
    """To a few digits."""
    unit = Fraction(1, 10**BALL_DIGITS)
    if 0 < off < 1:
        zeros = len(str(int(1 / off))) - BALL_DIGITS
        unit /= Fraction(10) ** zeros
    return math.ceil(off / unit) * unit


def next_rules(
    entry: dict[str, Any], sequences: Sequences, ball: Fraction, number: int
) -> Rules:
    """The rules of a later layer, for the tokens that come out of the one before, within a ball."""
    tokens = [X.tolist() for X in sequences]
    try:
        return replace(rules_from({**entry, "sequences": tokens}), ball=ball, names=())
    except InputError as error:
        raise InputError(f"layer {number}: {error}") from error


def _certificate(
    layers: Sequence[HeadsResult], claims: Sequence[tuple[Rule, ...]]
) -> str:
    """One document of all layers. Their bounds are left out: they are about single layers."""
    statements = []
    evidence = []
    for result, of_layer in zip(layers, claims, strict=True):
        if result.layer is not None:
            text = certificate(result.rules, of_layer, result.layer, [])
            document_of_layer = json.loads(text)
            statements.append(document_of_layer["statement"])
            evidence.append(document_of_layer["evidence"])
    statement = {"claim": "circuit", "layers": statements}
    return certificate_text(statement, {"layers": evidence})
