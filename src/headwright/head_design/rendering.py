"""Designed heads and circuits for people and programs: lines of text, a card, a picture, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headwright.certificates.checkers import in_words
from headwright.errors import InputError
from headwright.extras import install_line, is_installed
from headwright.head_design.exact_bounds import frobenius_above
from headwright.head_design.head import HeadLayer
from headwright.head_design.result import DesignedCircuit, DesignedHeads
from headwright.head_design.rules import Rule
from headwright.notebook import card, lines
from headwright.numerics.enclosure import shown_above

if TYPE_CHECKING:
    from headwright.pictures import Chart

COARSE = (
    "The certificate is about these bfloat16 weights in exact arithmetic. Sums that are themselves rounded to bfloat16 "
    "may miss tight tolerances; exports run these weights in float32."
)
# By what the numbers in the JSON are known.
KINDS = {
    "frobenius": "proven",
    "nuclear": "proven",
    "lower_bound": "proven",
    "outputs": "proven",
    "patterns": "proven",
    "heads": "exact",
}


def heads_as_json(
    result: DesignedHeads, certificate: str | None, exported: Sequence[str]
) -> dict[str, Any]:
    """All of it in JSON's own types; the caller says where the certificate and the exports are."""
    fields: dict[str, Any] = {
        "verdict": result.word,
        "head_dim": None,
        "head_dim_lower_bound": None,
        "frobenius": None,
        "nuclear": None,
        "minimised": result.minimise,
        "lower_bound": None,
        "outputs": _outputs_as_json(result),
        "patterns": _patterns_as_json(result),
        "assignment": list(result.assignment),
        "dtype": None,
        "heads": [],
        "checkers": list(result.checkers),
        "certificate": certificate,
        "exported": list(exported),
        "note": None,
        "words": result.words,
        "kinds": KINDS,
    }
    if result.layer is not None:
        fields["head_dim"] = result.head_dim
        fields["head_dim_lower_bound"] = result.head_dim_lower_bound
        fields["frobenius"] = result.frobenius
        fields["nuclear"] = result.nuclear
        fields["lower_bound"] = result.lower_bound
        fields["dtype"] = result.layer.dtype
        fields["heads"] = layer_as_json(result.layer)
        if result.layer.dtype == "bfloat16":
            fields["note"] = COARSE
    return fields


def _outputs_as_json(result: DesignedHeads) -> list[dict[str, Any]]:
    """The claims that want an output, with its error."""
    entries = []
    for rule, error in zip(result.claims, result.outputs, strict=True):
        if rule.output is not None:
            entries.append({**_place(rule), "error": error})
    return entries


def _patterns_as_json(result: DesignedHeads) -> list[dict[str, Any]]:
    """All claims, with what each target gets at least."""
    entries = []
    for rule, pattern in zip(result.claims, result.patterns, strict=True):
        weights = {str(token): least for token, least in pattern.items()}
        entries.append({**_place(rule), "least": weights})
    return entries


def _place(rule: Rule) -> dict[str, Any]:
    return {"sequence": rule.sequence, "token": rule.token, "head": rule.head}


def layer_as_json(layer: HeadLayer) -> list[dict[str, Any]]:
    """The matrices of each head, and its biases where there are any, in JSON's own types."""
    heads = []
    for head in layer.heads:
        matrices = {}
        for name in ("W_Q", "W_K", "W_V", "b_Q", "b_V"):
            matrix = getattr(head, name)
            if matrix is not None:
                matrices[name] = matrix.tolist()
        heads.append(matrices)
    return heads


def heads_lines(result: DesignedHeads) -> str:
    """The verdict and the sizes in a few lines, never the weights."""
    return lines(result.word, result.words, _facts(result))


def heads_card(result: DesignedHeads) -> str:
    """The same as a card, with the picture of the first head."""
    facts = _facts(result)
    if result.layer is None:
        return card(result.word, result.words, facts, certificate=result.certificate)
    if not is_installed("plots"):
        facts.append(("picture", install_line("plots")))
        return card(result.word, result.words, facts, certificate=result.certificate)
    from headwright.pictures import render, told

    chart = heads_picture(result)
    drawn = render(chart, ".svg")
    return card(
        result.word, result.words, facts, drawn, told(chart), result.certificate
    )


def _facts(result: DesignedHeads) -> list[tuple[str, str]]:
    """What a card shows."""
    facts = []
    if result.certificate is not None:
        verifiers = in_words(result.checkers)
        facts.append(("certificate", f"verified by the {verifiers}"))
    if result.layer is None:
        return facts
    facts.append(("head dimension", str(result.head_dim)))
    norm = shown_above(result.frobenius, 4)
    facts.append(("norm of W_K^T W_Q, at most", norm))
    if any(rule.output is not None for rule in result.claims):
        error = shown_above(max(result.outputs), 4)
        facts.append(("errors of outputs, at most", error))
    return facts


def heads_picture(result: DesignedHeads, head: int = 0, sequence: int = 0) -> Chart:
    """One head as a chart: its pattern for one sequence, and its queries and keys."""
    from headwright.head_design.picture import picture

    if result.layer is None:
        raise InputError(
            f"there is no head to draw, since the verdict is {result.word}: {result.words}"
        )
    norm = shown_above(frobenius_above(result.layer.heads[head]), 3)
    subtitle = f"norm of W_K^T W_Q at most {norm}"
    errors = []
    with_rule = set()
    for rule, error in zip(result.claims, result.outputs, strict=True):
        if rule.output and rule.head == head:
            errors.append(error)
        if rule.sequence == sequence and rule.head in (head, None):
            with_rule.add(rule.token)
    if errors:
        subtitle += f"; outputs proven to be within {shown_above(max(errors), 3)}"
    X = result.rules.sequences[sequence]
    free = set(range(len(X))) - with_rule
    labels = result.rules.labels(sequence)
    return picture(result.layer, X, head, labels, subtitle, free)


def circuit_as_json(result: DesignedCircuit, certificate: str | None) -> dict[str, Any]:
    """All of it in JSON's own types; the caller says where the certificate is."""
    return {
        "verdict": result.word,
        "errors": list(result.errors),
        "layers": [
            {
                "frobenius": built.frobenius,
                "head_dim": built.head_dim,
                "heads": layer_as_json(built.layer) if built.layer else [],
            }
            for built in result.layers
        ],
        "checkers": list(result.checkers),
        "certificate": certificate,
        "words": result.words,
        "kinds": {
            "errors": "proven",
            "layers.frobenius": "proven",
            "layers.heads": "exact",
        },
    }


def circuit_lines(result: DesignedCircuit) -> str:
    """The verdict and the sizes in a few lines, never the weights."""
    return lines(result.word, result.words, [("layers", str(len(result.layers)))])


def circuit_card(result: DesignedCircuit) -> str:
    """The same as a card."""
    facts = [("layers", str(len(result.layers)))]
    return card(result.word, result.words, facts, certificate=result.certificate)
