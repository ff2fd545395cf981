"""The form of certificates at its borders: what is just within is read, and what is just beyond is not."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from headwright.certificates.exact.verify import verify
from tests.certificates.exact.making import (
    CORPUS,
    bound,
    certificate,
    of,
    part,
    spread,
    words,
)

LINE = np.array([[1.0], [-1.0]])


def _sized(n: int, d: int) -> Any:
    made = certificate(LINE, {0: "0.1"}, 0.0, inline=False)
    made["statement"]["keys"][0] |= {"n": n, "d": d}
    return made


@pytest.mark.parametrize(
    ("n", "d", "said"),
    [
        (2**40, 1, "it is about 1099511627776 x 1 keys"),
        (2**40 + 1, 1, "n is 1099511627777: no whole number from 1 to 1099511627776"),
        (2, 2**40, "a query has 1 numbers, not 1099511627776"),
        (2, 2**40 + 1, "d is 1099511627777: no whole number from 1 to 1099511627776"),
        (0, 1, "n is 0: no whole number"),
        (2, 0, "d is 0: no whole number"),
    ],
)
def test_sizes_of_keys(n: int, d: int, said: str) -> None:
    assert said in words(_sized(n, d))


def test_keys_of_many_dimensions_are_read() -> None:
    assert (
        verify(json.dumps(certificate(np.eye(100), {0: "0.001"}, np.zeros(100)))).word
        == "verified"
    )


@pytest.mark.parametrize("number", ["0x1p+1024", "0x1p+1025", "-0x1p+1024"])
def test_numbers_beyond_all_floats_are_called_so(number: str) -> None:
    made = certificate(LINE, {0: "0.1"}, 0.0)
    made["statement"]["queries"] = [[number]]
    assert words(made) == "a query is not made of floats"
    made = certificate(LINE, {0: "0.1"}, 0.0)
    made["statement"]["keys"][0]["rows"][0] = [number]
    assert words(made) == f"a key holds {number}, which is not a float"


@pytest.mark.parametrize(
    ("key", "word"),
    [(1, "verified"), (2, "unreadable"), (3, "unreadable"), (-1, "unreadable")],
)
def test_a_uncertainty_names_keys_that_there_are(key: int, word: str) -> None:
    assert (
        verify(
            json.dumps(
                certificate(
                    LINE, {0: "0.1"}, 0.0, uncertainty=[spread([key], ball="1")]
                )
            )
        ).word
        == word
    )


@pytest.mark.parametrize(
    ("target", "word"), [(1, "verified"), (2, "unreadable"), (3, "unreadable")]
)
@pytest.mark.parametrize("heads", [1, 2])
def test_bounds_are_about_targets_that_there_are(
    target: int, word: str, heads: int
) -> None:
    proof = bound(
        part(0, of(target, {"0": "1", "1": "8"})),
        among=[target] if heads == 2 else None,
    )
    made = certificate(
        LINE, {1: "8/9"}, claim="longer", heads=heads, none_shorter="1", bound=proof
    )
    assert verify(json.dumps(made)).word == word


@pytest.mark.parametrize("proof", [bound(), bound(part(0) | {"constraints": []})])
def test_a_bound_without_parts_or_constraints_is_unreadable(proof: Any) -> None:
    made = certificate(LINE, {0: "8/9"}, claim="longer", none_shorter="1", bound=proof)
    assert verify(json.dumps(made)).word == "unreadable"
    assert "expected a list that is not empty" in words(made)


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        (41, "not as many queries as the claim needs"),
        (2**20, "not as many queries as the claim needs"),
        (
            2**20 + 1,
            "the number of heads is 1048577: no whole number from 1 to 1048576",
        ),
    ],
)
def test_numbers_of_heads(heads: int, said: str) -> None:
    assert said in words(certificate(LINE, {0: "0.1"}, 0.0, heads=heads))


def test_a_statement_without_keys_is_unreadable() -> None:
    made = certificate(LINE, {0: "0.1"}, 0.0)
    made["statement"]["keys"] = []
    assert words(made) == "keys: expected a list that is not empty"


def test_other_claims_are_unreadable() -> None:
    assert (
        verify(json.dumps(certificate(LINE, {0: "0.1"}, claim="other"))).word
        == "unreadable"
    )


def test_nothing_is_claimed_of_queries_that_are_longer_than_nothing() -> None:
    assert (
        verify(json.dumps(certificate(LINE, {0: "0.1"}, claim="longer"))).word
        == "unreadable"
    )


@pytest.mark.parametrize("number", ["0.5", "NaN", "-Infinity", "1e3"])
def test_bare_numbers_are_called_so(number: str) -> None:
    text = json.dumps(certificate(LINE, {0: "0.1"}, 0.0)).replace(
        '"scale": "1"', f'"scale": {number}'
    )
    assert (
        verify(text).words
        == f"{number} is a bare number: expected a string that is read exactly"
    )


@pytest.mark.parametrize(
    ("target", "word"), [("1", "verified"), ("2", "unreadable"), ("3", "unreadable")]
)
def test_a_table_has_indices_below_its_size(target: str, word: str) -> None:
    made = certificate(LINE, {0: "0.1"}, 0.0)
    made["statement"]["targets"] = {target: "0.1"}
    assert verify(json.dumps(made)).word == word


@pytest.mark.parametrize(
    ("evidence", "said"),
    [(None, "NoneType"), ([1], "list"), ([[], 2], "list"), (7, "int")],
)
def test_evidence_that_is_no_object_is_unreadable(evidence: Any, said: str) -> None:
    heads = json.loads((CORPUS / "head-accept" / "two-heads.json").read_text())
    for made in (certificate(LINE, {0: "0.1"}, 0.0), heads):
        made["evidence"] = evidence
        verdict = verify(json.dumps(made))
        assert verdict.word == "unreadable"
        assert verdict.words.startswith(
            f"the evidence has the names '{said}', expected "
        )
