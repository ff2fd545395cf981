"""The words about heads say everything that the statement says."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headwright.certificates.exact.verify import verify
from headwright.head_design import build, parse_rules

CORPUS = Path(__file__).parents[2] / "corpus" / "head-accept"
KINDS = [
    "route-designed",
    "uncertainty-ball",
    "at-most",
    "sum-of-heads",
    "mask-window",
    "biases",
    "alibi",
    "two-sequences",
    "route-bfloat16",
    "no-heads-opposite-ends",
    "no-heads-output-relation",
    "circuit",
]


def words(document: Any) -> tuple[str, str]:
    """The verdict, and its words without the digest of the whole statement."""
    verdict = verify(json.dumps(document))
    return verdict.word, re.sub(
        r" \(Statement: sha256 [0-9a-f]{64}\.\)", "", verdict.words
    )


def leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = (
        part.items()
        if isinstance(part, dict)
        else enumerate(part)
        if isinstance(part, list)
        else ()
    )
    if not isinstance(part, dict | list):
        yield path
    for name, value in entries:
        yield from leaves(value, (*path, name))


def other(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [1 - value if value in (0, 1) else value + 1]
    swapped = {
        "none": "causal",
        "causal": "none",
        "frobenius": "nuclear",
        "float64": "float32",
        "bfloat16": "float32",
    }
    if value in swapped:
        return [swapped[value]]
    return ["7", "0.75", "1/1000", "0", "1000", "-3"]


@pytest.mark.parametrize("kind", KINDS)
def test_any_field_changed_changes_the_words_or_the_verdict(kind: str) -> None:
    original = json.loads((CORPUS / f"{kind}.json").read_text())
    before = words(original)
    assert before[0] == "verified"
    for path in leaves(original["statement"]):
        *steps, last = path
        for value in other(_at(original["statement"], path)):
            document = copy.deepcopy(original)
            place = _at(document["statement"], tuple(steps))
            if _same(place[last], value):
                continue
            place[last] = value
            assert words(document) != before, (path, value)


def test_the_words_end_with_the_digest_of_the_statement() -> None:
    text = (CORPUS / "at-most.json").read_text()
    statement = json.loads(text)["statement"]
    digest = hashlib.sha256(
        json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()
    assert verify(text).words.endswith(f"(Statement: sha256 {digest}.)")
    turned = dict(reversed(list(statement.items())))  # the order of names says nothing
    assert (
        verify(json.dumps({**json.loads(text), "statement": turned})).words
        == verify(text).words
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[[rule]]\ntoken = 0\noutput = [1.0, -0.5]\ntolerance = 0.1",
            "outputs (1, -1/2) within 0.1",
        ),
        (f"[[rule]]\ntoken = 0\noutput = {[0.1] * 40}", "outputs (sha256 "),
        (
            "[[rule]]\ntoken = 0\nat_most = { 1 = '1/3' }",
            "attends to token 1 with at most 0.333333 (1/3)",
        ),
        (
            "[[rule]]\ntoken = 0\nattend = { 1 = '1/3' }",
            "attends to token 1 with at least 0.333333 (1/3)",
        ),
        (
            "[uncertainty]\nball = 0.01\n[[rule]]\ntoken = 0\ncopy = 1",
            "any c x + e with 1 <= c <= 1 and |e| <= 1/100",
        ),
        (
            "[uncertainty]\nscale = [0.9, 1]\n[[rule]]\ntoken = 0\ncopy = 1",
            "any c x + e with 9/10 <= c <= 1 and |e| <= 0",
        ),
        ("mask = 'causal'\n[[rule]]\ntoken = 1\ncopy = 0", "under a causal mask"),
        ("mask = ['10', '11']\n[[rule]]\ntoken = 1\ncopy = 0", "under the mask 10 11"),
        (
            "biases = true\n[[rule]]\ntoken = 1\ncopy = 0",
            "no W_K^T (W_Q | b_Q) whose frobenius norm is below",
        ),
        (
            "alibi = 1.0\n[[rule]]\ntoken = 1\ncopy = 0",
            "with biases of places in the scores (sha256 ",
        ),
        (
            "[[rule]]\ntoken = 1\ncopy = 0",
            "For these 2 tokens in R^2 (float64, sha256 ",
        ),
    ],
)
def test_what_is_said(text: str, said: str) -> None:
    found = build(parse_rules("tokens = [[1.0, 0.0], [0.0, 1.0]]\n" + text))
    assert found.word == "designed"
    assert said in found.words


def test_one_token_is_told_as_one() -> None:
    found = build(parse_rules("tokens = [[1.0, 0.0]]\n[[rule]]\ntoken = 0\ncopy = 0"))
    assert found.words.startswith("For this one token in R^2 (float64, sha256 ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no-heads-floor-just-above-half", "with at least 0.50000001."),
        ("no-heads-tolerance-just-below-one", "outputs (1) within 0.99999999; "),
        (
            "bound-of-a-floor-just-above-half",
            "with at least 0.50000001; no W_K^T W_Q whose frobenius norm is below",
        ),
    ],
)
def test_what_nothing_does_is_not_rounded(name: str, said: str) -> None:
    """Heads give each of two equal tokens 1/2, and output (0) where (1) and (-1) are wanted within 1."""
    assert said in verify((CORPUS / f"{name}.json").read_text()).words


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"attend": {"0": "9/10"}}, "at least 0.9."),
        ({"attend": {"0": "0.899999999999999999"}}, "at least 0.899999..."),
        ({"at_most": {"1": "1/3"}}, "at most 0.333333 (1/3)."),
        ({"at_most": {"1": "0.299999999999999999"}}, "at most 0.299999..."),
        (
            {"output": ["9"], "tolerance": "9.000000000000000001"},
            "(9) within 9.00000...",
        ),
    ],
)
def test_a_number_is_told_exactly_or_with_dots(
    changed: dict[str, Any], said: str
) -> None:
    document = json.loads((CORPUS / "nothing-to-do.json").read_text())
    rule = {
        "sequence": 0,
        "token": 0,
        "head": 0,
        "attend": {},
        "at_most": {},
        "output": [],
        "tolerance": "0",
    }
    document["statement"] |= {
        "sequences": [[["1", "0"], ["0", "1"]]],
        "mask": "none",
        "rules": [{**rule, **changed}],
    }
    document["statement"]["heads"] = [
        {
            "W_Q": [["9", "0"]],
            "W_K": [["9", "0"]],
            "W_V": [["1", "0"]],
            "b_Q": [],
            "b_V": [],
        }
    ]
    document["statement"]["bounds"], document["evidence"] = [], {"bounds": []}
    assert said in words(document)[1]


def test_a_long_mask_is_named_by_its_digest() -> None:
    found = build(
        parse_rules(
            f"tokens = {[[float(i), 1.0] for i in range(12)]}\nwindow = 2\n[[rule]]\ntoken = 3\ncopy = 4"
        )
    )
    assert "under the mask sha256 " in found.words


def test_numbers_too_long_for_words_do_not_stop_the_checker() -> None:
    document = json.loads((CORPUS / "route-published.json").read_text())
    document["statement"]["rules"][0]["output"][0] = "0x1/0x1" + "0" * 5000  # nearly 0
    document["statement"]["uncertainty"]["ball"] = "0x1/0x1" + "0" * 5000
    verdict = verify(json.dumps(document))
    assert verdict.word == "verified", verdict.words


def _at(part: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        part = part[step]
    return part


def _same(one: Any, two: Any) -> bool:
    from tests.referee.numbers import number

    try:
        return bool(number(one) == number(two))
    except (ValueError, AttributeError, TypeError):
        return bool(one == two)
