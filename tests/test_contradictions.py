"""Wherever a claim comes with a witness or an instance: a proof that is wrong is found out, and is an error of ours.

Each line plants a false proof where the true one is made, and asks for the result as a user would.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright.auditing.documents import repeated_documents
from headwright.auditing.explain import explain
from headwright.auditing.measures.first_token import rows_away
from headwright.auditing.measures.rounding import rounding, sample_rows
from headwright.errors import ContradictionError, HeadwrightError, InputError
from headwright.head_design import build, parse_rules
from headwright.head_design.export import write_arrays, write_onnx, write_torch
from headwright.head_design.export.write_all import read_back
from headwright.head_design.head import Head, HeadLayer
from headwright.lowrank import truncate
from headwright.models import load_model
from headwright.models.model import LayerActivations
from headwright.numerics.enclosure import Enclosure
from headwright.numerics.singular_values import SingularValues
from headwright.positions import Precision, Sinusoidal, closest_pair, report
from headwright.query_design import copy, design
from headwright.query_design.designer import chance
from headwright.query_design.statement import DesignQuestion
from headwright.simulation import simulate
from headwright.simulation.targets_met import targets_met
from headwright.statistics.attention_config import AttentionConfig
from headwright.text_bounds import make_statement
from headwright.text_bounds.every_text import Pair, every_text, kept_by_pairs
from headwright.text_bounds.induction.groups import TextGroup
from headwright.text_bounds.induction.prove import prove_groups
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.run_statement import run_against
from headwright.text_bounds.search.logits import on_logit
from headwright.text_bounds.search.occurrences import on_token
from headwright.text_bounds.search.sweep import RowBounds, WeightBand
from headwright.text_bounds.statement import FirstLayerStatement
from headwright.uncertainty import Noise, Normal, Uncertainty

MODEL = load_model("builtin:induction")
LENGTH = 8
TEXT = MODEL.encode("the quick brown fox")
RANDOM = Uncertainty({0: Noise(scale=Normal(1.0, 0.05))})
RULES = parse_rules("tokens = [[1.0, 0.0], [0.0, 1.0]]\n[[rule]]\ntoken = 0\ncopy = 1")
BETTER = 1.01


def higher(found: RowBounds) -> RowBounds:
    """Bounds of a least weight that are too good; of a most one they are wrong as well."""
    return RowBounds(1 - (1 - found.lower) / 2, found.upper)


def rounded() -> None:
    q = np.random.default_rng(0).normal(size=(1, 9, 4))
    rows = rows_away(
        LayerActivations(0, q, q, q, AttentionConfig.of(q.shape, q.shape)), (1,)
    )
    rounding(rows, 0, sample_rows(rows, 0))


def wrong(true: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *given, **how: change(true(*given, **how))


def enclosure_above(found: Any) -> Any:
    return replace(
        found,
        distance=Enclosure(
            found.distance.lower * BETTER, found.distance.upper * BETTER
        ),
    )


TABLE: dict[str, tuple[str, Callable[[Any], Any], Callable[[], object]]] = {
    "closest positions": (
        "headwright.positions.distances.separation",
        lambda d: Enclosure(d.lower * BETTER, d.upper * BETTER),
        lambda: closest_pair(Sinusoidal(8), 100),
    ),
    "closest positions after rounding": (
        "headwright.positions.collisions.closest_rows",
        enclosure_above,
        lambda: report(Sinusoidal(64), 500, Precision(rows="bfloat16")),
    ),
    "the error of a matrix of small rank": (
        "headwright.lowrank.decompose",
        lambda found: replace(
            found, enclosed=SingularValues(found.values, found.values / BETTER)
        ),
        lambda: truncate(np.diag([3.0, 2.0, 1.0]), rank=2),
    ),
    "a probability beside a sample": (
        "headwright.simulation.targets_met.probability_met",
        lambda _: Enclosure(0.0, 0.1),
        lambda: targets_met(
            np.eye(2),
            np.array([[9.0, -9.0]]),
            RANDOM,
            {0: Fraction(1, 2)},
            samples=1000,
        ),
    ),
    "a mean beside a sample": (
        "headwright.simulation.simulation.exact",
        lambda found: replace(found, means=(Enclosure(0.0, 0.1),)),
        lambda: simulate(np.eye(2), np.array([[9.0, -9.0]]), RANDOM, [0], samples=2000),
    ),
    "how often targets are near, beside a sample": (
        "headwright.simulation.simulation.exact",
        lambda found: replace(found, near_average=Enclosure(0.0, 0.1)),
        lambda: simulate(np.eye(2), np.array([[9.0, -9.0]]), RANDOM, [0], samples=2000),
    ),
    "a query that was verified": (
        "headwright.query_design.designer._norm",
        lambda found: found / 2,
        lambda: design(np.eye(3), copy(0)),
    ),
    "what can be met instead": (
        "headwright.query_design.single_query._impossible_below",
        lambda found: found * 100,
        lambda: design(np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]]), copy(2)),
    ),
    "a head's weights": (
        "headwright.head_design.builder.proven_facts",
        lambda facts: [
            fact._replace(least=dict.fromkeys(fact.least, 0.9999)) for fact in facts
        ],
        lambda: build(RULES),
    ),
    "the head's own query": (
        "headwright.auditing.explain.design",
        lambda found: replace(found, norm_lower_bound=1e3, norm=2e3),
        lambda: explain(MODEL, repeated_documents(MODEL)[0], 1, 0, rows=1),
    ),
    "total variation after rounding": (
        "headwright.auditing.measures.rounding.tv_bound",
        lambda found: 0 * found,
        rounded,
    ),
    "every text": (
        "headwright.text_bounds.every_text.band",
        lambda found: WeightBand(higher(found.least), found.most),
        lambda: every_text(MODEL, LENGTH),
    ),
    "every text, most": (
        "headwright.text_bounds.every_text.band",
        lambda found: WeightBand(
            found.least, RowBounds(found.most.lower, found.most.upper / 2)
        ),
        lambda: every_text(MODEL, LENGTH),
    ),
    "pairs": (
        "headwright.text_bounds.every_text.pair_band",
        lambda found: WeightBand(higher(found.least), found.most),
        lambda: kept_by_pairs(MODEL, LENGTH, [Pair(int(TEXT[3]), int(TEXT[2]))]),
    ),
    "occurrences": (
        "headwright.text_bounds.search.occurrences.occurrences",
        lambda found: replace(found, least=higher(found.least)),
        lambda: on_token(MODEL, LENGTH, 5),
    ),
    "a logit": (
        "headwright.text_bounds.search.logits.largest_output",
        lambda found: replace(found, bound=found.bound - 1.0),
        lambda: on_logit(MODEL, LENGTH, 5, queries=[3]),
    ),
    "two layers": (
        "headwright.text_bounds.induction.prove._verified",
        lambda found: [replace(one, least=f"{one.run + 0.01:.3f}") for one in found],
        lambda: prove_groups(MODEL, 6, [TextGroup(20, 8, 3, 1)], heads=[0]),
    ),
    "the next token": (
        "headwright.text_bounds.induction.prove._verified",
        lambda found: [replace(one, least=f"{one.run + 0.01:.3f}") for one in found],
        lambda: prove_groups(
            load_model("builtin:induction16"), 4, [TextGroup(0, 1, 1)]
        ),
    ),
}


@pytest.mark.parametrize("claim", TABLE)
def test_a_false_proof_is_an_error_and_a_true_one_is_none(
    claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, change, ask = TABLE[claim]
    ask()
    path, _, name = where.rpartition(".")
    module = sys.modules[path]
    monkeypatch.setattr(module, name, wrong(getattr(module, name), change))
    with pytest.raises(ContradictionError, match=r"was proved|eps"):
        ask()


def test_it_is_no_refusal() -> None:
    assert issubclass(ContradictionError, HeadwrightError) and not issubclass(
        ContradictionError, InputError
    )


def test_draws_that_a_confidence_excludes_are_an_error() -> None:
    question = DesignQuestion(
        (np.eye(2),), copy(0), RANDOM, Fraction(1), Fraction(999, 1000)
    )
    assert chance(question, np.array([[12.0, -12.0]])).probability > 0.99
    with pytest.raises(
        ContradictionError, match=r"how often it is met: at least 0.999 was proved"
    ):
        chance(question, np.array([[3.0, -3.0]]))


def statements() -> list[FirstLayerStatement]:
    layer = first_layer(MODEL, LENGTH)
    one, alone = (
        every_text(MODEL, LENGTH, text=TEXT)[0],
        every_text(MODEL, LENGTH, queries=[7])[0],
    )
    assert one.guarantee is not None
    pairs, least = (
        [(a, b) for a, b, _ in one.guarantee.firm],
        min(floor for *_, floor in one.guarantee.firm),
    )
    token = on_token(MODEL, LENGTH, 5)[0]
    return [
        make_statement.statement_of("a", layer, one, one.places[1], "least"),
        make_statement.statement_of("a", layer, one, one.places[1], "most"),
        make_statement.statement_of("a", layer, alone, alone.places[1], "least"),
        make_statement.pairs_statement("a", layer, one, pairs, 1, least),
        make_statement.token_statement("a", layer, LENGTH, token, "least"),
        make_statement.token_statement("a", layer, LENGTH, token, "most"),
    ]


@pytest.mark.parametrize("number", range(6))
def test_statements_about_every_text_are_run_against_the_model(number: int) -> None:
    statement, layer = statements()[number], first_layer(MODEL, LENGTH)
    assert run_against(MODEL, layer, statement) >= 5
    bound = float(statement.bound)
    wrong = 1 - (1 - bound) / 2 if statement.extreme == "least" else bound / 2
    with pytest.raises(ContradictionError, match="was proved"):
        run_against(MODEL, layer, replace(statement, bound=f"{wrong:.6f}"))


@pytest.mark.parametrize(
    ("name", "write"),
    [("arrays", write_arrays), ("torch", write_torch), ("onnx", write_onnx)],
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_an_export_that_holds_another_layer_is_an_error(
    name: str, write: Any, dtype: str, tmp_path: Path
) -> None:
    pytest.importorskip({"onnx": "onnx", "torch": "torch"}.get(name, "numpy"))
    eye, X = np.eye(2), np.array([[1.0, 0.5], [0.25, 1.0], [0.0, -1.0]])
    layer = HeadLayer((Head(eye, eye, eye),), causal=True, dtype=dtype)
    write(layer, tmp_path)
    read_back(name, layer, tmp_path, [X])
    with pytest.raises(ContradictionError, match=name):
        read_back(
            name,
            HeadLayer((Head(eye, 1.125 * eye, eye),), causal=True, dtype=dtype),
            tmp_path,
            [X],
        )
