"""Circuits: layers one after the other, designed for each other and proved as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from headwright.certificates.exact.verify import verify
from headwright.cli import app
from headwright.errors import InputError
from headwright.head_design import outputs, patterns
from headwright.head_design.circuit import (
    Circuit,
    build_circuit,
    parse_circuit,
    read_circuit,
)

INDUCTION = Path(__file__).parents[2] / "examples" / "circuits" / "induction.toml"
SMALL = """
directions = { x = 2.0, y = 2.0, after_x = 2.0 }
tokens = ["x", "y", "x"]
[[layer]]
mask = "causal"
rule = [{ token = 1, copy = 0, output = "after_x" }]
[[layer]]
rule = [{ token = 2, copy = 1 }]
"""


def built(text: str, **options: str) -> Circuit:
    circuit = parse_circuit(text)
    assert circuit is not None
    return build_circuit(circuit, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_induction_is_a_circuit_that_runs(dtype: str) -> None:
    circuit = read_circuit(INDUCTION)
    assert circuit is not None
    found = build_circuit(circuit, dtype=dtype)
    assert found.word == "designed", found.words
    assert verify(found.certificate or "").words == found.words
    first, second = (layer.layer for layer in found.layers)
    assert first is not None and second is not None
    for s, X in enumerate(circuit.first.sequences):
        handed = X + outputs(first, X)
        expected = found.layers[1].rules.sequences[s]
        assert np.linalg.norm(handed - expected, axis=1).max() <= found.errors[0]
        assert patterns(second, handed)[0, 3, 1] >= 100 / 101
        next_letter = outputs(second, handed)[3]
        assert np.linalg.norm(next_letter - 2 * np.eye(10)[(s + 1) % 3]) <= 0.2


def test_tokens_that_no_rule_speaks_of_are_followed_too() -> None:
    found = built(SMALL)
    assert found.word == "designed"
    statement = json.loads(found.certificate or "")["statement"]
    first = statement["layers"][0]
    assert {rule["token"] for rule in first["rules"] if rule["head"] == "sum"} == {
        0,
        1,
        2,
    }


def test_an_error_too_large_for_the_next_layer_is_followed_more_closely() -> None:
    """With the ball that the tolerance leaves the second layer finds nothing; with what comes out in fact it does."""
    loose = SMALL.replace(
        'copy = 0, output = "after_x"', 'output = "after_x", tolerance = 1.5'
    )
    found = built(loose)
    assert found.word == "designed"
    assert found.errors[0] < 1e-9


def test_three_layers() -> None:
    found = built(
        SMALL + '[[layer]]\nmask = "causal"\nrule = [{ token = 1, copy = 0 }]\n'
    )
    assert found.word == "designed"
    assert len(found.layers) == 3 and len(found.errors) == 2


def test_a_first_layer_that_is_impossible_is_said_to_be() -> None:
    found = built(SMALL.replace('mask = "causal"\n', ""))
    assert found.word == "impossible"
    assert found.words.startswith("layer 0: ")
    assert verify(found.certificate or "").word == "verified"


def test_a_later_layer_without_a_head_is_undecided() -> None:
    wrong = built(
        SMALL.replace(
            "[{ token = 2, copy = 1 }]",
            '[{ token = 2, copy = 1, output = "x", tolerance = 1e-25 }]',
        )
    )
    assert wrong.word == "undecided"
    assert wrong.words.startswith("layer 1: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("layer = 1", r"expected \[\[layer\]\]"),
        ("tokens = [", "is not TOML"),
        ("tokens = [[1.0]]\n[[layer]]\n", "a circuit of 1 layers: expected 2 to 16"),
        (
            SMALL + "tokens = [[1.0]]\n",
            "layer 1 has tokens: expected it of the first one alone",
        ),
        (SMALL + "bananas = 1\n", "layer 1: bananas: there is no such field"),
        (
            SMALL.replace('output = "after_x"', "output = [1.0]"),
            "a layer outputs 1 numbers, and tokens have 3",
        ),
    ],
)
def test_bad_circuits_get_their_sentence(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        built(text)


def test_the_command_designs_and_verifies_a_circuit(tmp_path: Path) -> None:
    out = tmp_path / "circuit.json"
    ran = CliRunner().invoke(app, ["heads", str(INDUCTION), "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    assert "tokens come out of layer 0 within" in ran.output
    assert CliRunner().invoke(app, ["verify", str(out)]).exit_code == 0
    told = CliRunner().invoke(app, ["heads", str(INDUCTION), "--json"])
    assert json.loads(told.stdout)["verdict"] == "designed"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_circuit(tmp_path / "missing.toml")
    (tmp_path / "bad.toml").write_text("layer = 1")
    with pytest.raises(InputError, match=r"bad\.toml"):
        read_circuit(tmp_path / "bad.toml")
