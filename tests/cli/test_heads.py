"""headwright heads, as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import Headwright

ROUTE = """
dimension = 8
directions = { a = 2.0, b = 2.0, c = 2.0, d = 2.0 }
tokens = ["d + b", "a", "c + b"]
[[rule]]
token = 0
output = "b - c"
[[rule]]
token = 1
output = "b"
"""
TWINS = "tokens = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]\n[[rule]]\ntoken = 2\ncopy = 0\n"
# Too tight for values in bfloat16, which does not have 0.1.
OPEN = "tokens = [[1.0, 0.0], [0.0, 1.0]]\nrule = [{ token = 0, output = [0.1, 0.0], tolerance = 1e-6 }]\n"
COARSE = ("--dtype", "bfloat16")


@pytest.fixture(autouse=True)
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "route": ROUTE,
        "twins": TWINS,
        "open": OPEN,
        "bad": ROUTE.replace("b - c", "b - z"),
    }.items():
        Path(f"{name}.toml").write_text(text)
    np.save("K.npy", np.eye(3))


def test_rules_become_weights_with_a_certificate_that_verifies(
    headwright: Headwright,
) -> None:
    found = headwright("heads", "route.toml", "--out", "c.json", "--json")
    assert found.code == 0
    assert found.json["verdict"] == "designed"
    assert found.json["head_dim"] == 2
    assert (
        found.json["lower_bound"]
        <= found.json["frobenius"]
        <= found.json["lower_bound"] * (1 + 1e-9)
    )
    assert found.json["frobenius"] <= found.json["nuclear"]
    assert [output["token"] for output in found.json["outputs"]] == [0, 1]
    assert all(output["error"] <= 0.01 for output in found.json["outputs"])
    assert np.array(found.json["heads"][0]["W_Q"]).shape == (2, 8)
    assert found.json["assignment"] == [
        "token 0 attends to token 0",
        "token 1 attends to token 2",
    ]
    checked = headwright("verify", "c.json")
    assert checked.code == 0
    assert "outputs (0, 2, -2, 0, 0, 0, 0, 0) within 0.01" in checked.out


def test_in_words(headwright: Headwright) -> None:
    found = headwright("heads", "route.toml", "--plot", "p.svg")
    assert found.code == 0
    assert "head dimension 2, numbers of type float64" in found.out
    assert "proven to be at least 1.365" in found.out
    assert "token 1 attends to token 2" in found.out
    assert Path("p.svg").exists()


def test_rank_dtype_and_head_dimension(headwright: Headwright) -> None:
    small = headwright(
        "heads", "route.toml", "--minimise", "rank", "--dtype", "bfloat16", "--json"
    )
    assert (small.json["head_dim"], small.json["dtype"], small.json["minimised"]) == (
        1,
        "bfloat16",
        "rank",
    )
    assert small.json["lower_bound"] <= small.json["nuclear"]
    assert (
        headwright("heads", "route.toml", "--head-dim", "1", "--json").json["head_dim"]
        == 1
    )


def test_the_smallest_dimension_is_told_with_its_proof(headwright: Headwright) -> None:
    head = "tokens = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]\nrule = [{ token = '*', copy = 'self' }]\n"
    Path("self.toml").write_text(head)
    found = headwright("heads", "self.toml", "--minimise", "rank")
    assert (
        "head dimension 2 (no smaller one attends as much: proven), numbers of type float64"
        in found.out
    )
    assert (
        "no W_Q and W_K with fewer than 2 rows make head 0 attend as much" in found.out
    )
    told = headwright("heads", "self.toml", "--minimise", "rank", "--json").json
    assert (told["head_dim"], told["head_dim_lower_bound"]) == (2, 2)
    smaller = headwright("heads", "self.toml", "--head-dim", "1", "--out", "none.json")
    assert smaller.code == 1
    assert smaller.out.startswith(
        "impossible (exact checker): there is no head of dimension 1, and there is one of dimension 2."
    )
    assert headwright("verify", "none.json").code == 0
    one = headwright("heads", "route.toml", "--minimise", "rank")
    assert "head dimension 1 (there is no smaller one)" in one.out


def test_bfloat16_says_what_the_certificate_is_about(headwright: Headwright) -> None:
    coarse = headwright("heads", "route.toml", "--dtype", "bfloat16")
    assert (
        "in exact arithmetic" in coarse.err
        and "exports run these weights in float32" in coarse.err
    )
    assert (
        "float32"
        in headwright("heads", "route.toml", "--dtype", "bfloat16", "--json").json[
            "note"
        ]
    )
    assert headwright("heads", "route.toml", "--json").json["note"] is None


def test_json_has_every_field_whatever_the_verdict(headwright: Headwright) -> None:
    names = {
        "verdict",
        "head_dim",
        "head_dim_lower_bound",
        "frobenius",
        "nuclear",
        "minimised",
        "lower_bound",
        "outputs",
        "patterns",
        "assignment",
        "dtype",
        "heads",
        "checkers",
        "certificate",
        "exported",
        "note",
        "words",
        "kinds",
    }
    for rules, *more in (("route",), ("twins",), ("open", *COARSE)):
        assert set(headwright("heads", f"{rules}.toml", *more, "--json").json) == names


def test_more_unknowns_than_are_solved_for_are_named_with_a_remedy(
    headwright: Headwright,
) -> None:
    T = 80
    rule = f'{{ token = {list(range(1, T))}, copy = "previous" }}'
    Path("previous.toml").write_text(
        f'mask = "causal"\ntokens = {np.eye(T).tolist()}\nrule = [{rule}]\n'
    )
    found = headwright("heads", "previous.toml", "--json")
    why = "more than 6000 unknowns (80 tokens in 80 dimensions): not tried; --minimise rank"
    assert found.code == 3
    assert found.json["verdict"] == "undecided"
    assert why in found.json["words"]
    assert why in " ".join(headwright("heads", "previous.toml").out.split())


def test_impossible_and_undecided_have_their_exit_codes(headwright: Headwright) -> None:
    found = headwright("heads", "twins.toml", "--out", "c.json", "--json")
    assert found.code == 1
    assert found.json["verdict"] == "impossible"
    assert found.json["frobenius"] is None
    assert headwright("verify", "c.json").code == 0
    undecided = headwright("heads", "open.toml", *COARSE, "--out", "u.json")
    assert undecided.code == 3
    assert "undecided: " in undecided.out
    assert not Path("u.json").exists()


def test_weights_are_exported(headwright: Headwright) -> None:
    found = headwright(
        "heads", "route.toml", "--dtype", "float32", "--export", "out", "--json"
    )
    assert found.code == 0
    assert Path("out/weights.safetensors").exists()
    assert found.json["exported"]


def test_a_tampered_certificate_is_rejected(headwright: Headwright) -> None:
    headwright("heads", "route.toml", "--out", "c.json")
    document = json.loads(Path("c.json").read_text())
    document["statement"]["rules"][0]["tolerance"] = "1/1000"
    Path("t.json").write_text(json.dumps(document))
    assert headwright("verify", "t.json").code == 1
    document["statement"]["more"] = 1
    Path("t.json").write_text(json.dumps(document))
    assert headwright("verify", "t.json").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bad.toml",), "names 'z': expected one of a, b, c, d"),
        (("missing.toml",), "there is no such file"),
        (("route.toml", "--minimise", "speed"), "expected one of size, rank"),
        (("route.toml", "--dtype", "int8"), "expected one of float64"),
        (("route.toml", "--head-dim", "0"), "head_dim is 0"),
        (("route.toml", "--keys", "K.npy"), "No such option: --keys"),
        (("route.toml", "--plot", "p.txt"), "has the suffix '.txt'"),
        ((), "Missing argument 'RULES'"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_sentence_and_exit_2(
    headwright: Headwright, arguments: tuple[str, ...], words: str
) -> None:
    ran = headwright("heads", *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1
