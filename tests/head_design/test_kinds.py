"""Rules of every kind, from the file to verified weights: at most, sums of heads, masks, biases."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.certificates.exact.verify import verify
from headwright.errors import InputError
from headwright.head_design import (
    Head,
    HeadLayer,
    HeadsResult,
    Rule,
    Rules,
    build,
    outputs,
    parse_rules,
    patterns,
)
from headwright.head_design.assignment import divide_sum_outputs
from headwright.head_design.certify import certificate
from tests.head_design.test_builder import DIRECTIONS

TOKENS = "tokens = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]\n"


def designed(text: str, **options: object) -> HeadsResult:
    """The rules are kept in floating point too, by the layer as it runs."""
    found = build(parse_rules(text), **options)  # type: ignore[arg-type]
    assert found.word == "designed", found.words
    assert found.layer is not None
    assert verify(found.certificate or "").word == "verified"
    for rule in found.rules.rules:
        X = found.rules.sequences[rule.sequence]
        if rule.head is None:
            total = outputs(found.layer, X)[rule.token]
            assert np.linalg.norm(
                total - np.array(list(map(float, rule.output or ())))
            ) <= float(rule.tolerance)
            continue
        pattern = patterns(found.layer, X)[rule.head, rule.token]
        assert set(np.flatnonzero(pattern)) <= set(found.rules.seen(rule))
        assert all(
            pattern[a] >= float(p) * (1 - 1e-12) for a, p in (rule.attend or {}).items()
        )
        assert all(
            pattern[a] <= float(p) * (1 + 1e-12)
            for a, p in (rule.at_most or {}).items()
        )
    return found


def test_at_most_alone_moves_weights_no_more_than_it_must() -> None:
    found = designed(
        DIRECTIONS + "[[rule]]\ntoken = 0\nat_most = { 0 = 0.2, 1 = 0.1 }\n"
    )
    assert found.layer is not None
    np.testing.assert_allclose(
        patterns(found.layer, found.rules.sequences[0])[0, 0],
        [0.2, 0.1, 0.7],
        atol=1e-6,
    )
    assert found.assignment == ()


@pytest.mark.parametrize(
    "uncertainty",
    ["", "[uncertainty]\nscale = [0.9, 1.1]\n", "[uncertainty]\nball = 0.02\n"],
)
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_at_most_beside_a_floor(uncertainty: str, dtype: str) -> None:
    rule = "[[rule]]\ntoken = 0\nattend = { 2 = 0.5 }\nat_most = { 1 = 0.01 }\n"
    designed(DIRECTIONS + uncertainty + rule, dtype=dtype)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_at_most_is_kept_or_not_claimed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, 3)).round(2)
    chosen = [
        Rule(
            i,
            attend={int(rng.integers(4)): Fraction(2, 5)},
            at_most={int(rng.integers(4)): Fraction(9, 20)},
        )
        for i in range(3)
    ]
    found = build(Rules((X,), tuple(chosen)))
    if found.layer is not None:
        alpha = patterns(found.layer, X)[0]
        assert all(
            alpha[r.token, a] <= 0.45 + 1e-9 for r in chosen for a in r.at_most or {}
        )
        assert all(
            alpha[r.token, a] >= 0.4 - 1e-9 for r in chosen for a in r.attend or {}
        )


HEADS = "[[rule]]\ntoken = 0\ncopy = 1\n[[rule]]\ntoken = 0\nhead = 1\ncopy = 2\n"


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_heads_share_an_output(dtype: str) -> None:
    found = designed(
        DIRECTIONS + HEADS + '[[rule]]\ntoken = 0\nhead = "sum"\noutput = "a - c"\n',
        dtype=dtype,
    )
    assert [rule.head for rule in found.claims] == [0, 1, None]
    assert found.claims[0].output is None  # what a head makes of it is not claimed
    assert 0 < found.outputs[2] <= 0.01


def test_an_output_of_one_head_counts_in_the_sum() -> None:
    own = '[[rule]]\ntoken = 0\noutput = "2 a"\n'
    text = (
        DIRECTIONS
        + HEADS
        + own
        + '[[rule]]\ntoken = 0\nhead = "sum"\noutput = "a - c"\ntolerance = 0.1\n'
    )
    found = designed(text)
    assert found.layer is not None
    X = found.rules.sequences[0]
    alone = patterns(found.layer, X)[0, 0] @ X @ found.layer.heads[0].W_V.T
    assert np.linalg.norm(alone - [4.0, 0, 0, 0]) <= 0.01


def test_what_one_head_should_attend_to_may_be_impossible_whatever_the_sum() -> None:
    text = "tokens = [[0.0], [1.0], [0.0]]\n" + "".join(
        f"[[rule]]\ntoken = 0\nhead = {h}\ncopy = 2\n" for h in (0, 1)
    )
    found = build(
        parse_rules(text + '[[rule]]\ntoken = 0\nhead = "sum"\noutput = [1.0]\n')
    )
    assert found.word == "impossible"


def test_shares_that_do_not_fit_are_undecided() -> None:
    text = "tokens = [[1.0], [0.0]]\n" + "".join(
        f"[[rule]]\ntoken = 0\nhead = {h}\ncopy = 1\n" for h in (0, 1)
    )
    rules = parse_rules(text + '[[rule]]\ntoken = 0\nhead = "sum"\noutput = [1.0]\n')
    assert divide_sum_outputs(rules) is None
    found = build(rules)
    assert found.word == "undecided"
    assert "no W_V side by side make what the sum of heads should output" in found.words


@pytest.mark.parametrize(
    ("mask", "rows"),
    [
        ('mask = "causal"\nwindow = 2', ("1000", "1100", "0110", "0011")),
        ("window = 2", ("1100", "1110", "0111", "0011")),
        ('mask = ["1000", "1100", "1010", "0001"]', ("1000", "1100", "1010", "0001")),
    ],
)
def test_masks(mask: str, rows: tuple[str, ...]) -> None:
    found = designed(
        f'{TOKENS}{mask}\n[[rule]]\ntoken = 2\naverage = "all"\n[[rule]]\ntoken = 1\ncopy = 0\n'
    )
    assert found.rules.mask == rows
    assert found.frobenius <= found.lower_bound * (1 + 1e-6)


def test_a_window_lets_one_token_be_found_twice() -> None:
    """Without the window token 3 could not tell the two copies of the token before it apart."""
    text = 'tokens = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]\nmask = "causal"\n%s[[rule]]\ntoken = 3\ncopy = 2\n'  # noqa: E501
    assert build(parse_rules(text % "")).word == "impossible"
    designed(text % "window = 3\n")


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize(
    "uncertainty",
    ["", "[uncertainty]\nscale = [0.9, 1.1]\n", "[uncertainty]\nball = 0.02\n"],
)
def test_biases_let_the_token_0_ask(uncertainty: str, dtype: str) -> None:
    tokens = (
        "tokens = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]\nbiases = true\n"
    )
    found = designed(
        f"{tokens}{uncertainty}[[rule]]\ntoken = 0\ncopy = 1\noutput = [3.0]\ntolerance = 0.5\n",
        dtype=dtype,
    )
    assert found.layer is not None and found.layer.heads[0].b_Q is not None


@pytest.mark.parametrize("minimise", ["size", "rank"])
def test_biases_of_places_are_reckoned_with(minimise: str) -> None:
    causal = f'{TOKENS}mask = "causal"\nalibi = 2.0\n'
    found = designed(causal + "[[rule]]\ntoken = 3\ncopy = 0\n", minimise=minimise)
    plain = designed(
        causal.replace("alibi = 2.0\n", "") + "[[rule]]\ntoken = 3\ncopy = 0\n",
        minimise=minimise,
    )
    assert found.frobenius > plain.frobenius  # 0 is far away
    if minimise == "size":
        assert found.frobenius <= found.lower_bound * (1 + 1e-9)
    steep = designed(
        causal.replace("2.0", "9.0") + '[[rule]]\ntoken = "*"\ncopy = "self"\n'
    )
    assert steep.frobenius == 0  # places alone do it


def test_each_head_has_a_slope_of_its_own() -> None:
    text = f'{TOKENS}mask = "causal"\nalibi = [9.0, -9.0]\n[[rule]]\ntoken = 3\ncopy = "self"\n'
    found = designed(text + "[[rule]]\ntoken = 3\nhead = 1\ncopy = 0\n")
    assert found.frobenius == 0


def test_a_table_of_biases_averages_and_is_thin() -> None:
    table = "bias = [[0, 0, 0, 0], [0, 0, 0, 0], [1, 2, 0.5, 0], [0, 0, 0, 0]]\n"
    designed(f"{TOKENS}{table}[[rule]]\ntoken = 2\naverage = [0, 1]\neps = 1e-6\n")


@pytest.mark.parametrize(
    "uncertainty",
    ["", "[uncertainty]\nball = 0.01\n", "[uncertainty]\nscale = [0.97, 1.02]\n"],
)
def test_all_kinds_together(uncertainty: str) -> None:
    designed(
        f"{TOKENS}mask = ['1111', '1110', '1111', '1101']\nbiases = true\nalibi = 0.5\n{uncertainty}"
        "[[rule]]\ntoken = 0\nattend = { 1 = 0.6 }\nat_most = { 2 = 0.1 }\n"
        "[[rule]]\ntoken = 0\nhead = 1\ncopy = 3\neps = 0.1\n"
        "[[rule]]\ntoken = 0\nhead = 'sum'\noutput = [1.0, 0.0]\ntolerance = 0.9\n"
    )


def test_certificates_are_about_the_layer_as_it_is() -> None:
    rule = Rule(0, attend={0: Fraction(1, 3)})
    X, head = np.eye(2), Head(np.eye(2), np.eye(2), np.eye(2))
    with pytest.raises(InputError, match="different masks"):
        certificate(
            Rules((X,), (rule,), mask=("11", "11")),
            [rule],
            HeadLayer((head,), False, "float64"),
            [],
        )
    with pytest.raises(InputError, match="different biases"):
        certificate(
            Rules((X,), (rule,), biases=True),
            [rule],
            HeadLayer((head,), False, "float64"),
            [],
        )


def test_tokens_are_rounded_once() -> None:
    """0.1 + 0.2 is the float64 nearest to 3/10, not the sum of two that are rounded."""
    rules = parse_rules(
        "tokens = [[0.1], [1.0]]\npositions = [[0.2], [0.0]]\n[[rule]]\ntoken = 0\ncopy = 1\n"
    )
    assert rules.sequences[0][0, 0] == 0.3 != 0.1 + 0.2
