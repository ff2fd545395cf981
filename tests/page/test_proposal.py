"""Designs in the tab: what JavaScript proposes is proved by the exact checker, or is undecided."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headwright as hw
from headwright.errors import InputError
from headwright.page.proposal import design, exact_shares, read_proposal

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwright"
SOLVER = SOURCE / "page" / "static" / "shortest.js"
PROGRAM = """
import {{ shortestQuery }} from "{module}";
import {{ readFileSync }} from "node:fs";
const questions = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(questions.map(({{ keys, least, scale }}) => shortestQuery(keys, least, scale))));
"""
PAIR: dict[str, Any] = {"keys": [[1.0], [-1.0]], "copy": 0, "eps": "1", "scale": "1"}
INSIDE = {"keys": [[1.0], [-1.0], [0.25]], "copy": 2, "eps": "1", "scale": "1"}


def _solved(questions: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """What the page's own solver finds."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("NO NODE HERE: the page's solver is not tested")
    shutil.copytree(SOURCE / "lab" / "static" / "common", folder / "common")
    shutil.copy(SOLVER, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    program = folder / "solve.js"
    program.write_text(PROGRAM.format(module="./shortest.js"))
    asked = [
        {
            "keys": question["keys"],
            "least": _least(question),
            "scale": float(Fraction(question["scale"])),
        }
        for question in questions
    ]
    ran = subprocess.run(
        [node, program], input=json.dumps(asked), capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return list(json.loads(ran.stdout))


def _least(question: dict[str, Any]) -> list[tuple[int, float]]:
    named = question.get("average") or [question["copy"]]
    return [(key, 1 / (len(named) + float(question["eps"]))) for key in named]


def _random_questions() -> list[dict[str, Any]]:
    rng = np.random.default_rng(20261119)
    questions = []
    for number in range(40):
        n, d = int(rng.integers(2, 40)), int(rng.integers(1, 17))
        keys = rng.normal(size=(n, d)).round(3)
        eps = ("0.1", "0.01", "1", "0.000001")[number % 4]
        targets = sorted({int(key) for key in rng.integers(0, n, 1 + number % 3)})
        target = {"copy": targets[0]} if len(targets) == 1 else {"average": targets}
        scale = ("1", "1/8", "-2")[number % 3]
        questions.append({"keys": keys.tolist(), "eps": eps, "scale": scale, **target})
    return questions


def test_the_solver_of_the_page_agrees_with_design_and_its_proposals_are_proved(
    tmp_path: Path,
) -> None:
    questions = _random_questions()
    words = []
    for question, proposal in zip(questions, _solved(questions, tmp_path), strict=True):
        answer = design({**question, "proposal": proposal})
        keys = np.array(question["keys"])
        named = question.get("average") or [question["copy"]]
        target = hw.average(named, eps=question["eps"])
        peer = hw.design(keys, target, scale=question["scale"])
        assert answer["verdict"] == peer.word
        words.append(peer.word)
        assert hw.verify(answer["certificate"], checker="both").word == "verified"
        if peer.word == "designed":
            assert answer["norm"] == pytest.approx(peer.norm, rel=1e-6)
            assert answer["norm_lower_bound"] == pytest.approx(peer.norm, rel=1e-5)
            assert answer["norm_lower_bound"] <= answer["norm"]
    assert words.count("designed") > 10
    assert words.count("impossible") > 5


@given(
    query=st.floats(-50, 50),
    multiplier=st.floats(-1, 1e6),
    pattern=st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
@settings(max_examples=100)
def test_no_proposal_is_proved_that_is_false(
    query: float, multiplier: float, pattern: list[float]
) -> None:
    # One half of the weight on key 0 of 1, -1 takes a query of at least 0.
    found = design(
        {**PAIR, "proposal": {"query": [query], "multipliers": [multiplier]}}
    )
    if query < 0:
        assert found["verdict"] == "undecided"
    elif query == 0 or query > 1e-9:  # between, the weight is too close to one half
        assert found["verdict"] == "designed"
    assert not found["norm_lower_bound"]
    # The third key lies between the others.
    none = {"multipliers": [multiplier], "pattern": pattern}
    found = design({**INSIDE, "proposal": none})
    assert found["verdict"] in ("impossible", "undecided")
    # The first key does not: whatever is proposed, it is not impossible.
    found = design({**INSIDE, "copy": 0, "proposal": none})
    assert found["verdict"] == "undecided"


@given(
    shares=st.lists(st.floats(0.01, 1), min_size=5, max_size=5),
    seed=st.integers(0, 1000),
)
@settings(max_examples=100)
def test_shares_are_made_exact(shares: list[float], seed: int) -> None:
    keys = np.random.default_rng(seed).normal(size=(5, 2)).round(3)
    keys[0] = 0.25 * keys[1:].sum(0)  # a mean of the others
    total = sum(shares[1:])
    pattern = [0.5, *(0.5 * share / total for share in shares[1:])]
    asked = {"keys": keys.tolist(), "copy": 0, "eps": "1", "scale": "1"}
    proposal = {"multipliers": [1.0], "pattern": pattern}
    found = exact_shares(read_proposal({**asked, "proposal": proposal}))
    if found is None:  # the change would have made a share negative
        return
    assert sum(found.distribution.values()) == 1
    for axis in range(2):
        mean = sum(
            share * Fraction(float(keys[key, axis]))
            for key, share in found.distribution.items()
        )
        assert mean == Fraction(float(keys[0, axis]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"keys": [[1.0], [1.0, 2.0]]}, "rows of one length"),
        ({"keys": [[float("nan")], [1.0]]}, "is not finite"),
        ({"keys": [["1"], [2.0]]}, "is not a number"),
        ({"keys": [[1.0]] * 61}, "expected 1 to 60"),
        ({"keys": [[1.0] * 61] * 2}, "of 1 to 60 numbers"),
        ({"copy": 2}, "there is no such key"),
        ({"eps": "0"}, "expected a positive number"),
        ({"eps": "1/0"}, "is not a number such as"),
        ({"scale": "9" * 61}, "is not a number such as"),
        ({"scale": "1e99999999"}, "is not a number such as"),
        ({"average": []}, "targets"),
        ({"at_least": {"0": "2"}}, "expected 0 to 1"),
        ({"proposal": {"query": [1.0], "multipliers": []}}, "one for each target"),
        ({"proposal": {"query": [1.0, 2.0], "multipliers": [1.0]}}, "1 numbers"),
        ({"proposal": {"multipliers": [1.0], "pattern": [1.0]}}, "for each key"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    change: dict[str, Any], sentence: str
) -> None:
    proposal = {"query": [1.0], "multipliers": [1.0]}
    if "average" in change:
        change = {**change, "copy": None}
    with pytest.raises(InputError, match=sentence):
        design({**PAIR, "proposal": proposal, **change})
