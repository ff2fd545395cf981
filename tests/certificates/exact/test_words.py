"""The words say what was proved: whatever of a statement is changed, they change or the verdict does."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright.certificates.exact.certificate import read_certificate, read_document
from headwright.certificates.exact.keys import Malformed
from headwright.certificates.exact.values import read_fraction
from headwright.certificates.exact.verify import verify
from headwright.certificates.exact.words import in_words, number_in_words, six_digits
from headwright.query_design import design, targets
from tests.certificates.exact.making import (
    CORPUS,
    accepted,
    bound,
    certificate,
    named,
    of,
    part,
    spread,
    words,
)

ACCEPTED = sorted((CORPUS / "accept").glob("*.json"))
OTHERS = {
    "designed": ["impossible", "longer"],
    "impossible": ["designed", "longer"],
    "longer": ["designed", "impossible"],
}


def _readable(said: str) -> str:
    """Without the digest of the statement, which any change shows in."""
    sentence, digest = said.split(" Statement sha256 ")
    assert len(digest) == 65
    return sentence


def _changes(value: Any) -> list[Any]:
    """Other values of one field that a reader would call other, and none that means the same."""
    if value in OTHERS:
        return [*OTHERS[value]]
    if value == "*":
        return [[0], [0, 1]]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if len(value) == 64 and not value.startswith("0x"):
        return [hashlib.sha256(value.encode()).hexdigest()]
    number, factors = (
        read_fraction(value),
        map(Fraction, ("1.001", "0.999", "0", "-1", "2", "1/2")),
    )
    return (
        [str(number * factor) for factor in factors]
        if number
        else ["1/1000", "1", "-1"]
    )


def _fields(
    said: Any, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(said, dict | list):
        for name, value in said.items() if isinstance(said, dict) else enumerate(said):
            if name != "rows":
                yield from _fields(value, (*path, name))
    else:
        yield path, said


def _changed(original: Any) -> Iterator[tuple[Any, Any]]:
    """The document with one field of its statement changed, for each field and change; targets and lists too."""
    for path, value in _fields(original["statement"]):
        vector = (
            path[0] == "queries" or "factor" in path
        )  # of which two entries will do
        for other in _changes(value) if not vector or path[-1] < 2 else ():
            made = copy.deepcopy(original)
            place = made["statement"]
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = other
            yield (*path, other), made
    n = original["statement"]["keys"][0]["n"]
    for target in original["statement"]["targets"]:
        made = copy.deepcopy(original)
        targets = made["statement"]["targets"]
        other = next(str(a) for a in range(n + 1) if str(a) not in targets)
        targets[other] = targets.pop(target)
        yield ("targets", target, "another"), made
        made = copy.deepcopy(original)
        del made["statement"]["targets"][target]
        yield ("targets", target, "dropped"), made
    for name in ("keys", "queries", "uncertainty"):
        for i in range(len(original["statement"][name])):
            made = copy.deepcopy(original)
            del made["statement"][name][i]
            yield (name, i, "dropped"), made
    for i, entry in enumerate(original["statement"]["uncertainty"]):
        for j in range(len(entry["factor"])):
            made = copy.deepcopy(original)
            del made["statement"]["uncertainty"][i]["factor"][j]
            yield ("uncertainty", i, "factor", j, "dropped"), made


def _hidden(given: Any) -> Any:
    """With keys by digest only, as large ones are: a changed digest is then another statement, no contradiction."""
    hidden = copy.deepcopy(given)
    for keys in hidden["statement"]["keys"]:
        keys["rows"] = None
    return hidden


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_whatever_is_changed_in_a_statement_its_words_change_or_its_verdict_does(
    path: Path,
) -> None:
    original = json.loads(path.read_text())
    said = verify(json.dumps(original)).words
    readings = 0
    for what, changed in _changed(original):
        verdict = verify(json.dumps(changed))
        assert verdict.word != "verified" or _readable(verdict.words) != _readable(
            said
        ), what
        assert (
            verdict.word != "verified" or verdict.words.split()[-1] != said.split()[-1]
        ), what
    for what, changed in _changed(
        _hidden(original)
    ):  # the same for words alone, proved or not
        try:
            now = in_words(
                read_certificate(*read_document(json.dumps(changed))).statement
            )
        except Malformed:
            continue
        readings += 1
        assert _readable(now) != _readable(said), what
    assert readings > 6


def test_a_simple_statement_makes_a_simple_sentence() -> None:
    said = words(accepted("copy"))
    assert said.startswith(
        "For these 7 keys in R^6 (sha256 38ec8dac398d4240...), the query of length 2.90821 (sha256 "
    )
    assert (
        "...) gives key 2 a weight of at least 0.990099 (100/101); no query shorter than 2.90820 does. Statement"
        in said
    )


def test_one_key_is_told_as_one() -> None:
    found = design(np.array([[1.0, 0.0]]), targets.copy(0))
    assert found.certificate is not None
    assert verify(found.certificate).words.startswith(
        "For this one key in R^2 (sha256 "
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "twins",
            "no query whatever gives key 0 a weight of at least 0.990099 (100/101).",
        ),
        ("longer", "a query that gives key 0 a weight of at least 0.888888 (8/9)"),
        (
            "longer-two-heads",
            "2 queries that give, on average over the heads, each of keys 0, 1 a weight of",
        ),
        (
            "longer-two-heads",
            "0.444444 (4/9), if there are such, are not all shorter than 1.69.",
        ),
        (
            "heads-twins",
            "no 2 queries whatever give, on average over the heads, key 0 a weight of at least 0.51.",
        ),
        ("scenarios-that-cancel", "For these 2 scenarios of 2 keys in R^1 (sha256 "),
        (
            "scenarios-that-cancel",
            "no query whatever gives key 0 a weight of at least 0.51 in every scenario.",
        ),
        ("scale-negative", " and scores scaled by -2, the query of length 0.519861 "),
        (
            "balls-on-all",
            "where key 0 is within 0.25 of its place and every other key is within 0.5 of its place, the",
        ),
        (
            "balls-that-meet",
            "no query whatever gives key 0 a weight of at least 0.51 wherever they are.",
        ),
        (
            "scale-through-zero",
            "where every key is scaled by any from 0 to 1, no query",
        ),
        (
            "ellipsoid-of-a-rival",
            "where key 1 is off its place by E u, |u| <= 1, E of 2 columns and size 0.5 (sha256 ",
        ),
        (
            "gaussian-pairs",
            "every key is Gaussian about its place, with deviations of 0.173205... in every direction,",
        ),
        (
            "gaussian-pairs",
            " with probability at least 0.95 over the independent Gaussian keys; no query",
        ),
        (
            "gaussian-impossible-room",
            "gives key 0 a weight of at least 0.51 with probability at least 0.95",
        ),
        (
            "gaussian-length-kink",
            "deviations of 0.707106... times its length along itself, the query",
        ),
        (
            "gaussian-covariance-average",
            "with deviations of E of 8 columns and size 0.",
        ),
        (
            "gaussian-and-scale",
            "key 5 is scaled by any from 0.9 to 1.1 and key 6 is within 0.05 of its place,",
        ),
        (
            "gaussian-and-scale",
            " wherever they are with probability at least 0.9 over the independent Gaussian keys;",
        ),
        ("more-than-one-together", "each of keys 0, 1 a weight of at least 0.6."),
        (
            "lower-bounds",
            "gives key 0 a weight of at least 0.5 and key 4 a weight of at least 0.2; no query",
        ),
    ],
)
def test_every_kind_of_statement_is_told(name: str, said: str) -> None:
    assert said in words(accepted(name))


def test_the_probability_is_told_however_small_it_is() -> None:
    made = certificate(
        np.eye(2),
        {0: "0.1"},
        np.zeros(2),
        uncertainty=[spread([0], ball="1", random=True)],
        confidence="1/100000",
        guard={"kind": "keys", "deviations": "0"},
    )
    assert (
        " with probability at least 0.00001 over the independent Gaussian keys"
        in words(made)
    )


def test_entries_without_a_deviation_and_scales_that_are_fixed_are_told() -> None:
    uncertainty = [spread([0], random=True), spread([1], scale=("2", "2")), spread()]
    made = certificate(
        np.eye(3),
        {0: "0.1"},
        np.zeros(3),
        uncertainty=uncertainty,
        confidence="1/2",
        guard={"kind": "pairs", "deviations": "0"},
    )
    said = words(made)
    assert (
        "where key 0 is Gaussian about its place, with deviations of 0 and key 1 is scaled by 2 and every other"
        in said
    )
    assert "every other key is scaled by 1, the query" in said


def test_long_lists_are_told_by_their_digests() -> None:
    K, many = np.eye(20), list(range(15))
    made = certificate(
        K,
        dict.fromkeys(many, "1/100"),
        *[np.ones(20)] * 14,
        uncertainty=[spread(many, ball="1/100")],
    )
    said = words(made)
    assert "where each of 15 keys (sha256 " in said
    assert "give, on average over the heads, each of 15 keys (sha256 " in said
    assert "the queries of lengths " + "4.47214, " * 12 + "... (sha256 " in said


def test_lists_are_told_one_by_one_up_to_twelve() -> None:
    keys = list(range(12))
    made = certificate(
        np.eye(13),
        dict.fromkeys(keys, "1/100"),
        *[np.ones(13)] * 12,
        uncertainty=[spread(keys, ball="0.1")],
    )
    said = words(made)
    assert (
        f"where each of keys {', '.join(map(str, keys))} is within 0.1 of its place"
        in said
    )
    assert f"the queries of lengths {', '.join(['3.60556'] * 12)} (sha256 " in said
    many = certificate(np.eye(14), dict.fromkeys(range(13), "1/100"), np.ones(14))
    digest = hashlib.sha256(repr(list(range(13))).encode()).hexdigest()[:16]
    assert f"gives each of 13 keys (sha256 {digest}...) a weight" in words(many)


def test_two_are_told_as_several() -> None:
    made = certificate(np.eye(2), {0: "0.1"}, np.zeros(2), np.ones(2))
    assert words(made).startswith("For these 2 keys in R^2 (")
    assert "the queries of lengths 0, 1.41422 (sha256 " in words(made)
    assert "; no 2 queries all shorter than " in words(accepted("heads"))
    assert " do. Statement sha256 " in words(accepted("heads"))


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ("2/3", "0.666666"),
        ("-2/3", "-0.666667"),
        ("1/8", "0.125"),
        ("1e9", "1.00000e+9"),
    ],
)
def test_numbers_in_reasons_are_rounded_down(x: str, said: str) -> None:
    assert six_digits(read_fraction(x)) == said


def test_the_digest_of_queries_is_that_of_their_floats() -> None:
    queries = [np.array([0.5, -1.0]), np.array([0.25, 3.0])]
    made = certificate(np.eye(2), {0: "0.01"}, *queries)
    assert hashlib.sha256(np.stack(queries).tobytes()).hexdigest()[:16] in words(made)


def test_the_digest_of_a_statement_is_that_of_its_json_without_rows() -> None:
    made = accepted("copy")
    digest = words(made).split()[-1]
    for keys in made["statement"]["keys"]:
        keys["rows"] = None
    written = json.dumps(made["statement"], sort_keys=True, separators=(",", ":"))
    assert digest == hashlib.sha256(written.encode()).hexdigest() + "."


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ("0", "0"),
        ("1/8", "0.125"),
        ("-2", "-2"),
        ("100/101", "0.990099 (100/101)"),
        ("0.3333339999", "0.3333339999"),
        ("0.33333399991234", "0.333333..."),
        ("-1/3", "-0.333333 (-1/3)"),
        ("1e400", "1e+400"),
        ("1e-400", "1e-400"),
        (f"1/{3**400}", "1.41741e-191..."),
        ("500009/1000003", "0.500007 (500009/1000003)"),
        ("1000003/1000033", "0.999970..."),  # of 40 bits
        ("0.123456789012", "0.123456789012"),
        ("0.1234567890123", "0.123456..."),
    ],
)
def test_numbers_are_told_exactly_or_by_their_first_digits(x: str, said: str) -> None:
    assert number_in_words(read_fraction(x)) == said


def test_lengths_are_rounded_up_and_bounds_down() -> None:
    made = certificate(
        np.array([[1.0], [-1.0]]),
        {0: "8/9"},
        1.23456789,
        none_shorter="1.0397199999999",
        bound=bound(part(0, of(shares={"0": "8", "1": "1"}))),
    )
    assert "the query of length 1.23457 (" in words(made)
    assert "no query shorter than 1.03971 does" in words(made)


def test_keys_given_beside_the_certificate_make_the_same_words() -> None:
    made = certificate(np.eye(2), {0: "0.1"}, np.zeros(2))
    hidden = copy.deepcopy(made)
    hidden["statement"]["keys"] = [named(np.eye(2), inline=False)]
    assert in_words(
        read_certificate(*read_document(json.dumps(hidden))).statement
    ) == words(made)
