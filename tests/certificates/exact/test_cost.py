"""The work of a whole certificate is estimated before any of it is done, and held against a budget."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from headwright.certificates import floating
from headwright.certificates.exact.certificate import (
    VERSION,
    read_certificate,
    read_document,
)
from headwright.certificates.exact.cost import (
    BUDGET,
    BYTES_A_SECOND,
    Cost,
    check_cost,
    keys_cost,
)
from headwright.certificates.exact.heads.cost import heads_cost
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.verify import verify
from tests.certificates.exact.making import bound, certificate, named, of, part, spread

HOUR = 3600.0


def queries(n: int, heads: int) -> Any:
    """Every key is a target and of random length: each query compares all of them with all."""
    keys = np.arange(float(n)).reshape(-1, 1)
    return certificate(
        keys,
        dict.fromkeys(range(n), f"1/{4 * n}"),
        *[[0.001]] * heads,
        uncertainty=[spread(stretch="0.1", random=True)],
        confidence="0.5",
        guard={"kind": "keys", "deviations": "5"},
    )


def prime_shares(n: int) -> Any:
    """The sum of n shares over different prime denominators has very many digits."""
    primes = [
        p
        for p in range(10**6 + 1, 10**6 + 60 * n, 2)
        if all(p % q for q in range(3, 1010, 2))
    ][:n]
    shares = {str(key): f"1/{p}" for key, p in enumerate(primes)}
    keys = np.arange(float(n)).reshape(-1, 1) - n / 2
    proof = bound(part([0.0], of(0, shares)))
    return certificate(
        keys, {0: "0.9"}, claim="longer", none_shorter="1e-9", bound=proof
    )


def heads(tokens: int, rows: int, count: int, **more: Any) -> Any:
    """Queries and keys of all tokens are held, for all heads."""
    weights = {
        "W_Q": [["0"]] * rows,
        "W_K": [["0"]] * rows,
        "W_V": [["1"]],
        "b_Q": [],
        "b_V": [],
    }
    rule = {
        "sequence": 0,
        "token": 0,
        "head": 0,
        "attend": {"0": "1/100000"},
        "at_most": {},
        "output": [],
        "tolerance": "0",
    }
    said = {
        "claim": "heads",
        "mask": "none",
        "sequences": [[["1"]] * tokens],
        "uncertainty": {"ball": "0", "scale": ["1", "1"]},
        "biases": False,
        "bias": [],
        "rules": [rule],
        "dtype": "float64",
        "heads": [weights] * count,
        "bounds": [],
    } | more
    return {
        "format": "headwright certificate",
        "version": VERSION,
        "statement": said,
        "evidence": {"bounds": []},
    }


def in_balls(tokens: int, rows: int) -> Any:
    """Each rule needs |M|_F, for which all rows of the weights are multiplied with each other."""
    made = heads(tokens, rows, 1, uncertainty={"ball": "1/1000", "scale": ["1", "1"]})
    rule = made["statement"]["rules"][0]
    made["statement"]["rules"] = [rule | {"token": token} for token in range(tokens)]
    return made


def circuit(layers: int) -> Any:
    layer = heads(4096, 500, 10)["statement"]
    said = {"claim": "circuit", "layers": [layer] * layers}
    nothing: dict[str, Any] = {"bounds": []}
    evidence = {"layers": [nothing] * layers}
    return {
        "format": "headwright certificate",
        "version": VERSION,
        "statement": said,
        "evidence": evidence,
    }


EXPENSIVE: dict[str, Callable[[], Any]] = {
    "many queries": lambda: queries(1000, 2000),
    "fewer keys, many queries": lambda: queries(300, 400),
    "prime denominators": lambda: prime_shares(5200),
    "many heads": lambda: heads(4096, 1000, 40),
    "balls": lambda: in_balls(1000, 1000),
    "layers": lambda: circuit(8),
}


@pytest.mark.parametrize("name", EXPENSIVE)
def test_a_small_certificate_that_takes_hours_or_gigabytes_is_refused_at_once(
    name: str,
) -> None:
    text = json.dumps(EXPENSIVE[name]())
    assert len(text) < 2_000_000
    verdict = verify(text)
    assert verdict.word == "rejected"
    assert verdict.words.startswith("too expensive: checking it takes about ")
    assert "and the budget is 600 s and 4.7 GiB; raise --budget to " in verdict.words
    if name in ("many queries", "fewer keys, many queries", "prime denominators"):
        assert floating.verify(text).words == verdict.words


SMALL: dict[str, Callable[[], Any]] = {
    "a query": lambda: queries(60, 1),
    "prime denominators": lambda: prime_shares(100),
    "heads": lambda: heads(200, 20, 2),
    "balls": lambda: in_balls(10, 10),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_same_in_a_small_size_is_verified_and_the_budget_may_be_lower(
    name: str,
) -> None:
    text = json.dumps(SMALL[name]())
    assert verify(text).word == "verified"
    assert verify(text, budget=1e-5).words.startswith("too expensive: ")


def test_the_estimate_is_of_the_sum_of_all_queries_heads_and_layers() -> None:
    def seconds(made: Any) -> float:
        said, proof = read_document(json.dumps(made))
        about_keys = "queries" in made["statement"]
        cost = (
            keys_cost(read_certificate(said, proof))
            if about_keys
            else heads_cost(said, proof)
        )
        return cost.seconds

    assert seconds(queries(50, 8)) == pytest.approx(8 * seconds(queries(50, 1)))
    one, two = (
        heads_cost(*read_document(json.dumps(circuit(layers)))) for layers in (2, 4)
    )
    assert two.seconds == pytest.approx(
        2 * one.seconds
    ) and two.memory == pytest.approx(2 * one.memory)
    assert seconds(in_balls(40, 10)) > 3 * seconds(in_balls(20, 10))


@pytest.mark.parametrize(("n", "d"), [(10**6, 64), (10**6, 128), (10**5, 1024)])
def test_many_keys_are_within_the_budget(n: int, d: int) -> None:
    made = certificate(
        np.zeros((2, d)),
        {0: "0.9"},
        np.zeros(d),
        none_shorter="1",
        bound=bound(part(np.zeros(d))),
    )
    made["statement"]["keys"] = [named(np.zeros((2, d)), inline=False) | {"n": n}]
    check_cost(keys_cost(read_certificate(*read_document(json.dumps(made)))), BUDGET)


def test_a_budget_has_seconds_and_memory() -> None:
    check_cost(Cost(9.0, 9.0 * BYTES_A_SECOND), 9.0)
    for cost in (Cost(9.5, 0.0), Cost(0.0, 9.5 * BYTES_A_SECOND), Cost(math.inf, 0.0)):
        with pytest.raises(Reject, match=r"too expensive: .* raise --budget"):
            check_cost(cost, 9.0)


@pytest.mark.parametrize(
    "evidence",
    [
        None,
        [],
        {},
        {"bounds": 5},
        {"bounds": [5]},
        {"bounds": [{"constraints": [5]}]},
        {"bounds": [{"constraints": [{"rule": [], "multiplier": 5}]}]},
    ],
)
def test_evidence_of_another_form_costs_nothing_and_is_refused_later(
    evidence: Any,
) -> None:
    made = heads(4, 2, 1) | {"evidence": evidence}
    assert heads_cost(*read_document(json.dumps(made))).seconds < HOUR
    assert verify(json.dumps(made)).word in ("unreadable", "rejected")


def test_memory_that_runs_out_rejects_and_is_no_internal_error() -> None:
    code = (
        "import json, resource, sys\n"
        "from headwright.verification.verify import verify\n"
        "from tests.certificates.exact.test_cost import heads\n"
        "text = json.dumps(heads(4096, 1000, 4))\n"
        "resource.setrlimit(resource.RLIMIT_AS, (900 * 2**20, 900 * 2**20))\n"
        "verdict = verify(text, checker='exact')\n"
        "print(verdict.word, verdict.words)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "rejected there is not enough memory to check it"
