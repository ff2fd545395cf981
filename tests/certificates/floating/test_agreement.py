"""Three ways to one verdict: both checkers, and the referee, who follows docs/reference/certificate.md."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from headwright.certificates.exact.verify import verify as slowly
from headwright.certificates.floating import checker, verify
from tests.certificates.floating.making import (
    FORMS,
    bound,
    document,
    draw,
    entry,
    keys_name,
    npy,
    part,
    tightened,
)
from tests.certificates.floating.referee import margin

KINDS = [
    (form, heads, claim)
    for form in FORMS
    for heads in (1, 2)
    for claim in ("designed", "longer")
]


def both(made: dict[str, Any], *files: bytes) -> str:
    """The common verdict of both checkers, in the same words if it is a good one."""
    text = json.dumps(made)
    fast, slow = verify(text, files), slowly(text, files)
    assert fast.word == slow.word, (fast, slow)
    if fast.word == "verified":
        assert fast.words == slow.words
    return fast.word


@pytest.mark.parametrize(("form", "heads", "claim"), KINDS)
def test_evidence_of_every_kind_proves_what_the_referee_says(
    form: str, heads: int, claim: str
) -> None:
    decided = set()
    for seed in range(4):
        made = draw(seed, form, heads, claim)
        for gap in ("1e-11", "-1e-11"):
            tight = tightened(made, gap)
            if claim == "designed" or tight["evidence"]["bound"] is not None:
                word = both(tight)
                assert word == ("verified" if margin(tight) >= 0 else "rejected")
                decided.add(word)
    assert decided == {"verified", "rejected"}


@pytest.mark.parametrize(("form", "heads", "claim"), KINDS)
def test_floats_alone_are_as_sound(
    form: str, heads: int, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "FEW", 0)
    for seed in (11, 12):
        made = draw(seed, form, heads, claim, n=30, d=4)
        for gap in ("1e-5", "-1e-11"):
            tight = tightened(made, gap)
            if claim == "designed" or tight["evidence"]["bound"] is not None:
                assert both(tight) == ("verified" if margin(tight) >= 0 else "rejected")


def _numbers(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all numbers but those of the keys."""
    if isinstance(node, dict | list):
        for name, value in node.items() if isinstance(node, dict) else enumerate(node):
            if name not in ("keys", "kind", "claim", "format"):
                yield from _numbers(value, (*path, name))
    elif isinstance(node, str):
        yield path


@pytest.mark.parametrize(("form", "heads", "claim"), KINDS)
def test_no_changed_number_makes_it_accept_what_does_not_follow(
    form: str, heads: int, claim: str
) -> None:
    rng = np.random.default_rng(1)
    verdicts = set()
    for seed in (21, 22):
        original = tightened(draw(seed, form, heads, claim), "1e-4")
        if claim == "longer" and original["evidence"]["bound"] is None:
            continue
        paths = list(_numbers(original))
        for index in rng.permutation(len(paths))[:12]:
            changed = copy.deepcopy(original)
            node: Any = changed
            for step in paths[index][:-1]:
                node = node[step]
            node[paths[index][-1]] = str(
                rng.choice(["0", "1", "1/2", "-1/3", "2", "0.9999"])
            )
            verdict = verify(json.dumps(changed))
            verdicts.add(verdict.word)
            if verdict.word == "verified":
                assert margin(changed) >= -1e-12, (paths[index], changed)
                assert slowly(json.dumps(changed)).word == "verified"
    assert verdicts >= {"verified", "rejected"}


def test_few_keys_are_judged_as_sharply_as_the_trusted_checker_does() -> None:
    twins = np.array([[0.1, 0.7], [0.1, 0.7], [0.3, 0.9]])
    q = np.array(
        [2.0, -2.0]
    )  # all three scores are equal, and only almost so in floats
    assert both(document(twins[:2], {0: "1/2"}, queries=[q])) == "verified"
    assert (
        both(document(twins[:2], {0: "0.5000000000000000000001"}, queries=[q]))
        == "rejected"
    )
    for seed in range(3):
        assert both(tightened(draw(seed, "certain"), "1e-18")) == "verified"
        assert both(tightened(draw(seed, "certain"), "-1e-18")) == "rejected"


def large(seed: int = 3, n: int = 200, d: int = 8) -> tuple[np.ndarray, dict[str, Any]]:
    """Keys that are not written out, and a statement about them."""
    keys = np.round(np.random.default_rng(seed).normal(size=(n, d)) * 8) / 8
    keys[0] = 5.0
    made = document(keys, {0: "0.99"}, queries=[np.full(d, 0.5)])
    made["statement"]["keys"] = [keys_name(keys, rows=False)]
    return keys, made


@pytest.mark.parametrize("form", [np.float32, np.int64, ">f8", "other order"])
def test_keys_are_read_as_rows_of_float64_and_nothing_else(form: Any) -> None:
    keys, made = large()
    assert both(made, npy(keys)) == "verified"
    assert both(made, npy(keys[::-1].copy())) == "rejected"
    assert (
        both(
            made,
            npy(
                np.asfortranarray(keys) if form == "other order" else keys.astype(form)
            ),
        )
        == "unreadable"
    )


def test_every_file_given_is_bound_to_the_statement() -> None:
    keys, made = large()
    right, other = npy(keys), npy(keys + 1)
    assert both(made, right) == "verified"
    assert both(made, right, right) == "verified"
    for wrong in ([other], [right, other], [npy(keys[:-1])]):
        assert both(made, *wrong) == "rejected"
    assert both(made) == "unreadable"
    assert "--keys" in verify(json.dumps(made)).words
    for wrong in (
        [right[:-1]],
        [b"no numbers"],
        [npy(keys.astype(complex))],
        [npy(keys[0])],
    ):
        assert both(made, *wrong) == "unreadable"
    inline = document(keys[:4], {0: "0.99"}, queries=[np.full(8, 0.5)])
    assert both(inline, npy(keys[:4])) == "verified"
    assert both(inline, npy(keys[1:5])) == "rejected"
    keys[7, 3] = np.nan
    made["statement"]["keys"] = [keys_name(keys, rows=False)]
    assert both(made, npy(keys)) == "unreadable"


def test_scenarios_find_their_files_in_any_order() -> None:
    first, made = large()
    second = first + np.linspace(0, 0.1, 8)
    made["statement"]["keys"] = [
        keys_name(first, rows=False),
        keys_name(second, rows=False),
    ]
    assert both(made, npy(first), npy(second)) == "verified"
    assert both(made, npy(second), npy(first)) == "verified"
    assert both(made, npy(second)) == "unreadable"
    assert both(made, npy(second), npy(first + 1)) == "rejected"


THIRD = {"query": ["1/3"]}  # no doubles
SMALLER = {"query": ["1e-400"]}  # 0 as a double
ODD = {"query": ["0x1/0x3"], "push": ["2/7"]}


@pytest.mark.parametrize("spelled", [THIRD, SMALLER, ODD])
def test_no_spelling_of_the_evidence_switches_this_checker_off(
    spelled: dict[str, Any],
) -> None:
    """A part's query that is not made of doubles: it is rounded, and what is proved is looked at here all the same."""
    made = longer_on_a_line(spelled, "0.1")
    assert both(made) == "verified"
    made["statement"]["none_shorter"] = (
        "9"  # the query 9 meets it; none below ln 9 = 2.197 does
    )
    assert both(made) == "rejected"


def longer_on_a_line(spelled: dict[str, Any], length: str) -> dict[str, Any]:
    made = document(
        np.array([[1.0], [0.0]]), {0: "9/10"}, claim="longer", none_shorter=length
    )
    made["evidence"]["bound"] = bound({**part(np.ones(1), [0]), **spelled})
    return made


def test_evidence_beyond_doubles_is_not_accepted_and_says_why() -> None:
    text = json.dumps(longer_on_a_line({"query": ["1e400"]}, "0.1"))
    verdict = verify(text)
    assert (verdict.word, verdict.excluded) == ("rejected", False)
    assert "beyond the range of doubles" in verdict.words


def test_whole_heads_are_not_its_business() -> None:
    verdict = verify(
        json.dumps({**document(np.eye(2), {0: "1/2"}), "statement": {"claim": "heads"}})
    )
    assert (verdict.word, "does not cover" in verdict.words) == ("rejected", True)


@pytest.mark.parametrize(
    ("scale", "size", "word"),
    [("1e-280", 1e281, "verified"), ("1e-390", 1e301, "rejected")],
)
def test_numbers_beyond_doubles_get_their_verdict(
    scale: str, size: float, word: str
) -> None:
    keys = np.array([[1.0], [0.0]])
    assert (
        both(document(keys, {0: "0.9"}, scale=scale, queries=[np.array([size])]))
        == word
    )


def test_many_keys_that_floats_cannot_tell_are_neither_accepted_nor_excluded() -> None:
    """Above 1,024 keys it has doubles alone, and 99 = exp(4.595...) is met by the last bit of the query."""
    keys, enough = (
        np.r_[[[1.0]], np.zeros((1500, 1))],
        float(np.nextafter(np.log(99), 9)),
    )
    text = json.dumps(
        document(keys, {0: f"{Fraction(99, 99 + 1500)}"}, queries=[np.array([enough])])
    )
    verdict = verify(text)
    assert (verdict.word, verdict.excluded) == ("rejected", False)
    assert slowly(text).word == "verified"


EXCLUDED = [
    ("too short", {}, 1.0, True),
    ("long enough", {}, 9.0, False),
    ("by little", {}, np.log(99) - 1e-10, True),
    ("in a ball", {"uncertainty": [entry("*", ball="0.1")]}, 1.0, True),
    (
        "in a ball that alone decides",
        {"uncertainty": [entry("*", ball="0.1")]},
        4.7,
        False,
    ),  # the given places meet it
    ("scaled", {"uncertainty": [entry([0], ("2", "3"))]}, 2.0, True),
    ("scaled enough", {"uncertainty": [entry([0], ("2", "3"))]}, 2.4, False),
    ("of several heads", {"heads": 2}, 4.0, True),
    (
        "random",
        {
            "uncertainty": [entry("*", ball="0.1", random=True)],
            "confidence": "1/2",
            "guard": {"kind": "keys", "deviations": "3"},
        },
        1.0,
        False,
    ),
]


@pytest.mark.parametrize(
    ("name", "more", "length", "excluded"), EXCLUDED, ids=[case[0] for case in EXCLUDED]
)
@pytest.mark.parametrize("n", [2, 1200])
def test_what_is_certainly_false_is_told_from_what_is_not_proved(
    name: str, more: dict[str, Any], length: float, excluded: bool, n: int
) -> None:
    """Key 0 is 1 and the others are 0: e^q of the weight, against n - 1 others."""
    least = f"{Fraction(99, 98 + n)}"  # of exp(q) = 99
    keys = np.r_[[[1.0]], np.zeros((n - 1, 1))]
    queries = [np.array([length])] * more.get("heads", 1)
    verdict = verify(json.dumps(document(keys, {0: least}, queries=queries, **more)))
    assert verdict.excluded == excluded, (name, verdict)
    assert verdict.word == ("verified" if "enough" in name else "rejected")


@pytest.mark.parametrize("distance", [1e-4, 1e-6, 1e-8])
def test_a_near_duplicate_of_the_target(
    distance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "FEW", 0)
    rng = np.random.default_rng(7)
    keys = np.abs(rng.normal(size=(40, 8)))
    keys[:, 7], keys[0, 0] = 0.3, 9.0
    keys[1] = keys[0] - distance * np.eye(8)[7]
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[
        0
    ]  # so that large parts of every score cancel, and not exactly
    q = turn @ np.array([40.0, 0, 0, 0, 0, 0, 0, np.log(200) / distance])
    assert both(document(keys @ turn.T, {0: "100/101"}, queries=[q])) == "verified"
    assert (
        both(
            document(
                keys @ turn.T, {0: "100/101"}, queries=[q * np.log(99) / np.log(200)]
            )
        )
        == "rejected"
    )


def test_an_even_share_is_had_from_no_query_at_all() -> None:
    keys, none = np.random.default_rng(1).normal(size=(4, 3)), [np.zeros(3)]
    for uncertainty in ([], [entry("*", ("0.9", "1.1"), "0.1")]):
        assert (
            both(document(keys, {0: "1/4"}, uncertainty=uncertainty, queries=none))
            == "verified"
        )
        assert (
            both(
                document(
                    keys, {0: "1/3"}, uncertainty=uncertainty, queries=none * 3, heads=3
                )
            )
            == "rejected"
        )
        assert (
            both(
                document(
                    keys[:3],
                    {0: "1/3"},
                    uncertainty=uncertainty,
                    queries=none * 3,
                    heads=3,
                )
            )
            == "verified"
        )
        assert (
            both(
                document(
                    keys,
                    {0: "0.25000000000000000001"},
                    uncertainty=uncertainty,
                    queries=none,
                )
            )
            == "rejected"
        )
    assert both(document(keys[:1], {0: "1"}, queries=none)) == "verified"
    assert (
        both(document(np.eye(3), dict.fromkeys(range(3), "1/3"), queries=none))
        == "verified"
    )


def test_a_targets_that_leaves_next_to_nothing() -> None:
    keys, least = np.eye(3), f"{10**30}/{10**30 + 1}"
    q = np.array([1.0, 0, 0]) * (np.log(2) + 30 * np.log(10))
    assert both(document(keys, {0: least}, queries=[q * (1 + 1e-12)])) == "verified"
    assert both(document(keys, {0: least}, queries=[q * (1 - 1e-12)])) == "rejected"


def test_a_targets_of_very_many_digits_is_refused_soon() -> None:
    least = "0x" + "f" * 19_000 + "/0x1" + "0" * 19_000
    verdict = verify(
        json.dumps(document(np.eye(3), {0: least}, queries=[np.array([5000.0, 0, 0])]))
    )
    assert (verdict.word, verdict.excluded) == (
        "rejected",
        True,
    )  # exp(-5000) is left to each of the others


def test_a_guard_must_cover_every_query() -> None:
    uncertainty = [entry("*", ball="0.001", random=True)]
    guard = {
        "kind": "keys",
        "deviations": "2",
    }  # three keys: 3 * 0.02275 is below 1/10, and twice that is not
    made = document(
        np.eye(3),
        {0: "1/2"},
        uncertainty=uncertainty,
        confidence="9/10",
        queries=[np.array([9.0, 0, 0])],
        guard=guard,
    )
    assert both(made) == "verified"
    made["statement"] |= {"heads": 2, "queries": made["statement"]["queries"] * 2}
    assert both(made) == "rejected"
