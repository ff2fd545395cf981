"""Rules: what is read is what is meant, and what cannot be meant gets its sentence."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.head_design import Rule, Rules, parse_rules, read_rules
from headwright.head_design.rules_file import read_vector
from headwright.positions import Sinusoidal

ROUTE = """
dimension = 8
directions = { a = 2.0, b = 2.0, c = 2.0, d = 2.0 }
tokens = ["d + b", "a", "c + b"]
"""
AXES = {
    "a": (Fraction(2), Fraction(0)),
    "b": (Fraction(0), Fraction(2)),
    "token 0": (Fraction(1), Fraction(1)),
}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a", (2, 0)),
        ("-a", (-2, 0)),
        ("a + b", (2, 2)),
        ("2 b - 0.5 a", (-1, 4)),
        ("1/2 a-b", (1, -2)),
        ("0.1 a", (Fraction(1, 5), 0)),
        ("3 * a", (6, 0)),
        ("a + a", (4, 0)),
        ("0", (0, 0)),
        ("token 0 - a", (-1, 1)),
        ("  a  ", (2, 0)),
    ],
)
def test_expressions_are_read_exactly(text: str, meant: tuple[Fraction, ...]) -> None:
    assert read_vector(text, AXES, 2) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "+",
        "a b",
        "a ++ b",
        "2",
        "a + 2",
        "a)",
        "__import__('os')",
        "a**2",
        "1e3 a",
        "é",
    ],
)
def test_nonsense_is_not_evaluated(text: str) -> None:
    with pytest.raises(InputError, match=r"expected"):
        read_vector(text, AXES, 2)


@given(st.text(max_size=30))
def test_any_text_is_a_vector_or_a_sentence(text: str) -> None:
    try:
        assert len(read_vector(text, AXES, 2)) == 2
    except InputError as error:
        assert "expected" in str(error)


def test_directions_are_axes_and_tokens_their_sums() -> None:
    rules = parse_rules(ROUTE + '[[rule]]\ntoken = 0\noutput = "b - c"\n')
    assert rules.sequences[0].tolist() == [
        [0, 2, 0, 2, 0, 0, 0, 0],
        [2, 0, 0, 0, 0, 0, 0, 0],
        [0, 2, 2, 0, 0, 0, 0, 0],
    ]
    assert rules.rules[0].output == tuple(map(Fraction, (0, 2, -2, 0, 0, 0, 0, 0)))
    assert rules.rules[0].tolerance == Fraction(1, 100)
    assert not rules.causal and rules.certain


def test_numbers_are_the_decimals_that_are_written() -> None:
    rules = parse_rules(
        "tokens = [[1.0], [0.5]]\n[[rule]]\ntoken = 0\nattend = { 1 = 0.1 }\noutput = [0.3]\ntolerance = 1e-3"
    )
    assert rules.rules[0].attend == {1: Fraction(1, 10)}
    assert rules.rules[0].output == (Fraction(3, 10),)
    assert rules.rules[0].tolerance == Fraction(1, 1000)


def test_many_rules_at_once() -> None:
    text = "sequences = [[[1.0], [2.0], [3.0]], [[1.0], [4.0]]]\nmask = 'causal'\n"
    rules = parse_rules(
        text + "[[rule]]\nsequence = '*'\ntoken = '*'\ncopy = 'previous'\neps = 0.5\n"
    )
    assert [(r.sequence, r.token, r.attend) for r in rules.rules] == [
        (0, 1, {0: Fraction(2, 3)}),
        (0, 2, {1: Fraction(2, 3)}),
        (1, 1, {0: Fraction(2, 3)}),
    ]
    all_seen = parse_rules(text + "[[rule]]\ntoken = [1, 2]\naverage = 'all'\n")
    assert [len(r.attend or {}) for r in all_seen.rules] == [2, 3]
    assert parse_rules(text + "[[rule]]\ntoken = 2\ncopy = 'self'\n").rules[
        0
    ].attend == {2: Fraction(100, 101)}


def test_rules_of_one_place_are_joined() -> None:
    rules = parse_rules(
        ROUTE + '[[rule]]\ntoken = 0\ncopy = 2\n[[rule]]\ntoken = 0\noutput = "b"\n'
    )
    assert len(rules.rules) == 1
    assert rules.rules[0].attend == {2: Fraction(100, 101)}
    assert rules.rules[0].output is not None


def test_positions_are_added() -> None:
    text = "tokens = [[0.0, 1.0], [0.0, 1.0]]\n%s\n[[rule]]\ntoken = 0\ncopy = 1\n"
    X = np.array([[0.0, 1.0], [0.0, 1.0]])
    sinusoids = parse_rules(text % 'positions = "sinusoidal"').sequences[0]
    np.testing.assert_array_equal(sinusoids, Sinusoidal(2).embed(X))
    np.testing.assert_array_equal(
        parse_rules(text % "positions = [[1.0, 0.0], [2.0, 0.0]]").sequences[0][:, 0],
        [1, 2],
    )
    named = 'dimension = 2\ndirections = { p = 1.0 }\npositions = ["p", "2 p"]'
    np.testing.assert_array_equal(parse_rules(text % named).sequences[0][:, 0], [1, 2])


def test_a_uncertainty() -> None:
    rules = parse_rules(
        ROUTE
        + "[uncertainty]\nball = 0.1\nscale = [0.9, 1.1]\n[[rule]]\ntoken = 0\ncopy = 2\n"
    )
    assert (rules.ball, rules.scale) == (
        Fraction(1, 10),
        (Fraction(9, 10), Fraction(11, 10)),
    )
    assert not rules.certain


RULE = "[[rule]]\ntoken = 0\n"
BAD = {
    "is not TOML": "tokens = [",
    "did you mean 'tokens'?": "tokns = [[1.0]]",
    "did you mean 'tolerance'?": ROUTE + RULE + 'output = "b"\ntolerence = 0.1',
    "there is no such field": ROUTE + RULE + "copy = 2\nbananas = 1",
    "rule 0 tokn: there is no such field; did you mean 'token'?": ROUTE
    + "[[rule]]\ntokn = 0\ncopy = 2",
    "expected one of ball, scale": ROUTE
    + "[uncertainty]\nzzz = 1\n"
    + RULE
    + "copy = 2",
    "names 'z': expected one of a, b, c, d": ROUTE + RULE + 'output = "b + z"',
    "is not a combination of directions": ROUTE + RULE + 'output = "b +"',
    "about token 3, and sequence 0 has 3 tokens: expected 0 to 2": ROUTE
    + "[[rule]]\ntoken = 3\ncopy = 0",
    "attend to token 7, and its sequence has 3 tokens": ROUTE + RULE + "copy = 7",
    "about sequence 1, and there are 1": ROUTE + RULE + "sequence = 1\ncopy = 0",
    "tolerance of token 0 is 0: expected more than 0": ROUTE
    + RULE
    + 'output = "b"\ntolerance = 0.0',
    "tolerance of token 0 is -1": ROUTE + RULE + 'output = "b"\ntolerance = -1.0',
    "tolerance and no output": ROUTE + RULE + "copy = 2\ntolerance = 0.1",
    "which contradict each other": ROUTE
    + RULE
    + 'output = "b"\n'
    + RULE
    + 'output = "c"',
    "which is one too many": ROUTE + RULE + 'output = "b"\n' + RULE + 'output = "b"',
    "the rules of token 0 contradict each other": ROUTE
    + RULE
    + "copy = 2\n"
    + RULE
    + "copy = 1",
    "1.2 in all": ROUTE + RULE + "attend = { 0 = 0.6, 1 = 0.6 }",
    "too small for 4 orthogonal directions": ROUTE.replace(
        "dimension = 8", "dimension = 3"
    )
    + RULE
    + "copy = 2",
    "which a causal mask hides from it": ROUTE
    + 'mask = "causal"\n'
    + RULE
    + "copy = 2",
    "wants nothing": ROUTE + "[[rule]]\ntoken = 0",
    "there is no rule": ROUTE,
    "has copy and average: expected one": ROUTE + RULE + "copy = 2\naverage = [1]",
    "eps without copy or average": ROUTE + RULE + "attend = { 1 = 0.5 }\neps = 0.1",
    "eps is 0": ROUTE + RULE + "copy = 2\neps = 0.0",
    "attend names 'x'": ROUTE + RULE + "attend = { x = 0.5 }",
    "averages no tokens": ROUTE + RULE + "average = []",
    "has no previous token": ROUTE + RULE + 'copy = "previous"',
    "direction b has the length 0": ROUTE.replace("b = 2.0", "b = 0.0")
    + RULE
    + "copy = 2",
    "direction 'a-b'": "directions = { 'a-b' = 1.0 }\ntokens = ['a']\n"
    + RULE
    + "copy = 0",
    "exactly one of the two": "dimension = 2\n" + RULE + "copy = 0",
    "without tokens": "tokens = []\n" + RULE + "copy = 0",
    "a vector has 2 numbers, and the dimension is 1": "tokens = [[1.0], [1.0, 2.0]]\n"
    + RULE
    + "copy = 0",
    "outputs have 1, 8 numbers": ROUTE
    + RULE
    + 'output = "b"\n[[rule]]\ntoken = 1\noutput = [1.0]',
    "1 positions for a sequence of 2": "tokens = [[1.0], [2.0]]\npositions = [[1.0]]\n"
    + RULE
    + "copy = 0",
    "a range above 0 that holds 1": ROUTE
    + "[uncertainty]\nscale = [2.0, 3.0]\n"
    + RULE
    + "copy = 2",
    "are the same and see the same": "tokens = [[1.0], [1.0]]\n"
    + RULE
    + "output = [1.0]\n"
    + "[[rule]]\ntoken = 1\noutput = [2.0]",
    "rule 0 copy is True: expected an integer, or 'previous', 'first' or 'self'": ROUTE
    + RULE
    + "copy = true",
    "rule 0 token": ROUTE + "[[rule]]\ntoken = -1\ncopy = 2",
    "expected 0 to 63": ROUTE + RULE + "copy = 2\nhead = 64",
    "give token 0 at most 0: expected a weight above 0": ROUTE
    + RULE
    + "at_most = { 0 = 0.0 }",
    "give token 0 at most 1:": ROUTE + RULE + "at_most = { 0 = 1.0 }",
    "at_most names 'x'": ROUTE + RULE + "at_most = { x = 0.5 }",
    "more than it may at most": ROUTE
    + RULE
    + "attend = { 1 = 0.5 }\nat_most = { 1 = 0.4 }",
    "only 0.9 together": ROUTE + RULE + "at_most = { 0 = 0.3, 1 = 0.3, 2 = 0.3 }",
    "the sum of heads has none": ROUTE + RULE + 'copy = 1\nhead = "sum"',
    "needs to know where token 0 attends in head 0": ROUTE
    + RULE
    + 'output = "b"\nhead = "sum"',
    "attends in head 1": ROUTE
    + RULE
    + "copy = 1\n[[rule]]\ntoken = 1\nhead = 1\ncopy = 1\n"
    + RULE
    + 'output = "b"\nhead = "sum"',
    "a mask of 2 rows for a sequence of 3": ROUTE
    + "mask = ['111', '111']\n"
    + RULE
    + "copy = 2",
    "a mask of 4 rows for a sequence of 3": ROUTE
    + "mask = ['111', '111', '111', '111']\n"
    + RULE
    + "copy = 2",
    "row 0 of the mask is '1110': expected 3 digits": ROUTE
    + "mask = ['1110', '111', '111']\n"
    + RULE
    + "copy = 2",
    "token 0 of sequence 1 is about a token that sees nothing": "sequences = [[[1.0], [2.0]], [[1.0]]]\n"
    + "mask = ['01', '11']\n"
    + RULE
    + "sequence = 1\noutput = [1.0]",
    "row 1 of the mask is '110x'": ROUTE
    + "mask = ['111', '110x', '111']\n"
    + RULE
    + "copy = 2",
    "row 2 of the mask is '000'": ROUTE
    + "mask = ['111', '110', '000']\n"
    + RULE
    + "copy = 2",
    "which the mask hides from it: expected one of 0, 1": ROUTE
    + "mask = ['110', '111', '111']\n"
    + RULE
    + "copy = 2",
    "a window beside a mask": ROUTE
    + "mask = ['110', '111', '111']\nwindow = 2\n"
    + RULE
    + "copy = 1",
    "window is 0: expected a number of at least 1": ROUTE
    + "window = 0\n"
    + RULE
    + "copy = 1",
    "bias and alibi: expected one": ROUTE
    + "alibi = 1.0\nbias = [[0.0]]\n"
    + RULE
    + "copy = 1",
    "expected a table of 3 x 3 numbers": ROUTE + "bias = [[0.0]]\n" + RULE + "copy = 1",
    "alibi has 2 slopes, and there are 1 heads": ROUTE
    + "alibi = [1.0, 2.0]\n"
    + RULE
    + "copy = 1",
    "a bias of places holds a number of size": ROUTE
    + "alibi = 1e80\n"
    + RULE
    + "copy = 1",
    "is inf: expected a number": "tokens = [[inf]]\n" + RULE + "copy = 0",
}


@pytest.mark.parametrize("words", BAD)
def test_bad_rules_get_their_sentence(words: str) -> None:
    with pytest.raises(InputError) as error:
        parse_rules(BAD[words])
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_rules(tmp_path / "missing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not text"):
        read_rules(tmp_path / "binary.toml")
    (tmp_path / "bad.toml").write_text("tokens = 1")
    with pytest.raises(InputError, match=r"bad\.toml"):
        read_rules(tmp_path / "bad.toml")


def test_a_causal_mask_beside_rows_is_refused() -> None:
    with pytest.raises(InputError, match="a causal mask and another one"):
        Rules(
            (np.eye(2),),
            (Rule(0, attend={0: Fraction(1, 2)}),),
            causal=True,
            mask=("11", "11"),
        )


def test_the_lowest_of_several_ceilings_counts() -> None:
    rules = parse_rules(
        ROUTE
        + RULE
        + "at_most = { 1 = 0.4 }\n"
        + RULE
        + "at_most = { 1 = 0.3, 2 = 0.9 }"
    )
    assert rules.rules[0].at_most == {1: Fraction(3, 10), 2: Fraction(9, 10)}


def test_no_sequences_are_refused() -> None:
    with pytest.raises(InputError, match="at least one sequence"):
        Rules((), ())
