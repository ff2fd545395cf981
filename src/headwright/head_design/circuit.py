"""Circuits: layers of heads, each designed for the outputs of the one before.

A layer adds its output to its tokens. What it makes of each token is known up to an error that is proved; the next
layer is designed for tokens that may be anywhere within that error: a ball. So the circuit is proved as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, overload

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.certificate import FORMAT, VERSION
from headwright.certificates.exact.numbers import sqrt_above
from headwright.certificates.exact.verify import verify
from headwright.errors import InputError, typed_errors
from headwright.files import parse_file
from headwright.head_design.builder import HeadsResult, build
from headwright.head_design.certify import certificate
from headwright.head_design.exact_bounds import proven_facts
from headwright.head_design.head import HeadLayer, outputs
from headwright.head_design.rules import Rule, Rules
from headwright.head_design.rules_file import document, read_rules, rules_from
from headwright.notebook import card, lines
from headwright.numerics.enclosure import printed_above

Sequences = tuple[Float[np.ndarray, "T D"], ...]
Progress = Callable[[float], None]
MOST_LAYERS = 16


@dataclass(frozen=True, eq=False)
class Circuit:
    """What `build_circuit` found.

    >>> Circuit("undecided", "nothing was found").layers
    ()
    """

    word: str  # "designed", "impossible" (a layer's rules are) or "undecided"
    words: str  # what was proved, or why nothing was
    certificate: str | None = None  # JSON, as the checker accepted it
    layers: tuple[HeadsResult, ...] = ()
    errors: tuple[
        float, ...
    ] = ()  # between two layers: how far tokens may be from where the second expects them

    @property
    def checkers(self) -> tuple[str, ...]:
        """Who verified the certificate: the exact checker, which is the one that circuits have."""
        return () if self.certificate is None else ("exact",)

    def to_json(self, certificate: str | None = None) -> dict[str, Any]:
        """All of it in JSON's own types; the caller says where the certificate is."""
        return {
            "verdict": self.word,
            "errors": list(self.errors),
            "layers": [
                {
                    "frobenius": built.frobenius,
                    "head_dim": built.head_dim,
                    "heads": built.layer.to_json() if built.layer else [],
                }
                for built in self.layers
            ],
            "checkers": list(self.checkers),
            "certificate": certificate,
            "words": self.words,
            "kinds": {
                "errors": "proven",
                "layers.frobenius": "proven",
                "layers.heads": "exact",
            },
        }

    def __repr__(self) -> str:
        """The verdict and the sizes in a few lines, never the weights."""
        return lines(self.word, self.words, [("layers", str(len(self.layers)))])

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card."""
        return card(
            self.word,
            self.words,
            [("layers", str(len(self.layers)))],
            certificate=self.certificate,
        )


@dataclass(frozen=True)
class CircuitRules:
    """The rules of the first layer, and what the file says of the others, whose tokens come out of it.

    >>> CircuitRules(Rules((np.eye(2),), (Rule(0, attend={1: Fraction(1, 2)}),)), ({"mask": "causal"},)).others
    ({'mask': 'causal'},)
    """

    first: Rules
    others: tuple[dict[str, Any], ...]


@typed_errors
def parse_circuit(text: str) -> CircuitRules | None:
    """A circuit in TOML text: tokens, and [[layer]] with what is said of each; None where there are no layers.

    >>> parse_circuit("tokens = [[1.0]]") is None
    True
    """
    given = document(text)
    layers = given.pop("layer", None)
    if layers is None:
        return None
    if not isinstance(layers, list) or not all(
        isinstance(layer, dict) for layer in layers
    ):
        raise InputError("layer: expected [[layer]] before each of them")
    if not 2 <= len(layers) <= MOST_LAYERS:
        raise InputError(
            f"a circuit of {len(layers)} layers: expected 2 to {MOST_LAYERS}"
        )
    for number, layer in enumerate(layers[1:], 1):
        if wrong := [
            name
            for name in ("tokens", "sequences", "positions", "uncertainty", "dimension")
            if name in layer
        ]:
            raise InputError(
                f"layer {number} has {wrong[0]}: expected it of the first one alone; its tokens come out "
                "of the layer before"
            )
    axes = {"directions": given.get("directions", {})}
    return CircuitRules(
        rules_from({**given, **layers[0]}),
        tuple({**axes, **layer} for layer in layers[1:]),
    )


@typed_errors
def read_circuit(path: str | Path) -> CircuitRules | None:
    """The circuit in a TOML file; None where it has no layers.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rules.toml"
    >>> first = "{ rule = [{ token = 0, copy = 1 }] }"
    >>> _ = path.write_text(f"tokens = [[1.0], [2.0]]\\nlayer = [{first}, {{ mask = 'causal' }}]")
    >>> read_circuit(path).others
    ({'directions': {}, 'mask': 'causal'},)
    """
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
@typed_errors
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


@typed_errors
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
    for wanted in (True, False):
        found = _built(
            circuit, minimise, dtype, progress or (lambda _: None), wanted=wanted
        )
        if found.word != "undecided":
            break
    return found


def _built(
    circuit: CircuitRules,
    minimise: str,
    dtype: str,
    report: Callable[[float], None],
    *,
    wanted: bool,
) -> Circuit:
    """With tokens of the next layer where rules want them, or where they really come out, which is nearer."""
    rules, built, claims, errors = circuit.first, [], [], []
    for number in range(1 + len(circuit.others)):
        report(number / (1 + len(circuit.others)))
        found = build(rules, minimise=minimise, dtype=dtype)
        if found.layer is None:
            verdict = (
                found.word if number == 0 else "undecided"
            )  # later tokens are as this design made them
            return Circuit(
                verdict,
                f"layer {number}: {found.words}",
                found.certificate if number == 0 else None,
            )
        built.append(found)
        if number == len(circuit.others):
            claims.append(found.claims)
            break
        made = _made(found, found.layer, wanted=wanted)
        sequences, ball = _handed_on(rules, made)
        claims.append((*found.claims, *made))
        errors.append(printed_above(ball))
        rules = next_rules(circuit.others[number], sequences, ball, number + 1)
    text = _certificate(built, claims)
    judgement = verify(text)
    if judgement.word != "verified":
        return Circuit(
            "undecided",
            f"layers were found, and the checker does not agree: {judgement.words}",
        )
    report(1.0)
    return Circuit("designed", judgement.words, text, tuple(built), tuple(errors))


def _made(found: HeadsResult, layer: HeadLayer, *, wanted: bool) -> tuple[Rule, ...]:
    """What the layer makes of each token, with the error that is proved; all heads together."""
    rules, made = found.rules, []
    told = {
        rule.place[:2]: rule
        for rule in rules.rules
        if rule.output and (rule.head is None or rules.heads == 1)
    }
    for s, X in enumerate(rules.sequences):
        real = outputs(layer, X)
        if real.shape[1] != rules.dimension:
            raise InputError(
                f"a layer outputs {real.shape[1]} numbers, and tokens have {rules.dimension}: expected as "
                "many, since it adds one to the other"
            )
        for t, y in enumerate(real.tolist()):
            rule = told.get((s, t)) if wanted else None
            output = rule.output if rule is not None else tuple(map(Fraction, y))
            made.append(Rule(t, s, None, output=output))
    errors = [error for error, _ in proven_facts(rules, made, layer)]
    return tuple(
        replace(rule, tolerance=Fraction(error))
        for rule, error in zip(made, errors, strict=True)
    )


def _handed_on(rules: Rules, made: Sequence[Rule]) -> tuple[Sequences, Fraction]:
    """The tokens with what is made of them, and a ball that holds them: a short number."""
    found, off = [X.copy() for X in rules.sequences], Fraction(0)
    stretch = max(1 - rules.scale[0], rules.scale[1] - 1)
    for rule in made:
        x = [Fraction(v) for v in rules.sequences[rule.sequence][rule.token].tolist()]
        exactly = [a + b for a, b in zip(x, rule.output or (), strict=True)]
        found[rule.sequence][rule.token] = [float(v) for v in exactly]
        rounded = sum((v - Fraction(float(v))) ** 2 for v in exactly)
        room = rules.ball + stretch * sqrt_above(sum((v * v for v in x), Fraction(0)))
        off = max(off, rule.tolerance + sqrt_above(Fraction(rounded)) + room)
    digits = (
        Fraction(10) ** (3 - len(str(int(1 / off)))) if 0 < off < 1 else Fraction(1)
    )
    ball = (
        off if off == 0 else -((-off / (digits / 1000)) // 1) * (digits / 1000)
    )  # rounded up to a few digits
    return tuple(found), ball


def next_rules(
    entry: dict[str, Any], sequences: Sequences, ball: Fraction, number: int
) -> Rules:
    """The rules of a later layer, for the tokens that come out of the one before, within a ball."""
    tokens = [[[float(v) for v in x] for x in X] for X in sequences]
    try:
        return replace(rules_from({**entry, "sequences": tokens}), ball=ball, names=())
    except InputError as error:
        raise InputError(f"layer {number}: {error}") from error


def _certificate(
    built: Sequence[HeadsResult], claims: Sequence[tuple[Rule, ...]]
) -> str:
    """One document of all layers. Their bounds are left out: they are about single layers."""
    documents = [
        json.loads(certificate(found.rules, mine, found.layer, []))
        for found, mine in zip(built, claims, strict=True)
        if found.layer is not None
    ]
    statement = {
        "claim": "circuit",
        "layers": [document["statement"] for document in documents],
    }
    evidence = {"layers": [document["evidence"] for document in documents]}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "statement": statement,
        "evidence": evidence,
    }
    return json.dumps(document, indent=1) + "\n"
