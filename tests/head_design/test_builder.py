"""From rules to heads: what is built keeps its rules, and what is said of it is true."""

from __future__ import annotations

import json
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.certificates.exact.verify import verify
from headwright.errors import InputError
from headwright.head_design import (
    HeadsResult,
    Rule,
    Rules,
    build,
    outputs,
    parse_rules,
    patterns,
)
from headwright.head_design.exact_bounds import frobenius_above
from tests.certificates.exact.heads.test_head import published, wanted

DIRECTIONS = 'directions = { a = 2.0, b = 2.0, c = 2.0, d = 2.0 }\ntokens = ["d + b", "a", "c + b"]\n'
ROUTE = (
    DIRECTIONS
    + '[[rule]]\ntoken = 0\noutput = "b - c"\n[[rule]]\ntoken = 1\noutput = "b"\n'
)


def kept(found: HeadsResult) -> None:
    """The deployed layer keeps the rules in floating point, and its certificate is verified."""
    assert found.word == "designed", found.words
    assert found.layer is not None and found.certificate is not None
    assert verify(found.certificate).word == "verified"
    for rule in found.rules.rules:
        assert rule.head is not None
        X = found.rules.sequences[rule.sequence]
        pattern = patterns(found.layer, X)[rule.head, rule.token]
        assert all(
            pattern[a] >= float(p) - 1e-12 for a, p in (rule.attend or {}).items()
        )
        if rule.output is not None:
            alone = pattern @ X @ found.layer.heads[rule.head].W_V.T
            assert (
                np.linalg.norm(alone - np.array(list(map(float, rule.output))))
                <= float(rule.tolerance) + 1e-12
            )
    assert found.lower_bound <= (
        found.frobenius if found.minimise == "size" else found.nuclear
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("minimise", ["size", "rank"])
def test_the_route_is_designed_in_every_type(minimise: str, dtype: str) -> None:
    found = build(parse_rules(ROUTE), minimise=minimise, dtype=dtype)
    kept(found)
    assert found.layer is not None
    kind = {
        "float64": np.float64,
        "float32": np.float32,
        "bfloat16": ml_dtypes.bfloat16,
    }[dtype]
    for head in found.layer.heads:
        for W in (head.W_Q, head.W_K, head.W_V):
            np.testing.assert_array_equal(W.astype(kind).astype(np.float64), W)
    assert found.head_dim == (2 if minimise == "size" else 1)
    if minimise == "size":
        assert found.frobenius <= found.lower_bound * (
            1 + {"float64": 1e-9, "float32": 1e-5, "bfloat16": 0.02}[dtype]
        )


@pytest.mark.parametrize(
    ("b", "tolerance", "factor"), [(2, "0.0791", 1.63), (3, "0.00083", 1.55)]
)
def test_designed_weights_are_smaller_than_the_published_ones_by_a_proven_factor(
    b: int, tolerance: str, factor: float
) -> None:
    X, theirs = published(b)
    rules = Rules(
        (X,),
        tuple(
            Rule(i, output=w, tolerance=Fraction(tolerance))
            for i, w in enumerate(wanted(b))
        ),
    )
    found = build(rules)
    kept(found)
    assert np.linalg.norm(theirs.M) ** 2 == pytest.approx(2)
    assert (
        2**0.5 / found.frobenius > factor
    )  # frobenius is rounded up, so this is proven
    as_theirs = tuple(
        Rule(
            r.token,
            attend={2 - 2 * r.token: Fraction(9, 10)},
            output=r.output,
            tolerance=r.tolerance,
        )
        for r in rules.rules
    )
    same_way = build(Rules((X,), as_theirs))
    kept(same_way)
    assert frobenius_above(theirs) > same_way.frobenius * factor


def test_head_dimensions_are_kept_and_smaller_ones_cost_more() -> None:
    names = [f"p{i}" for i in range(6)]
    text = f"directions = {{ {', '.join(f'{n} = 2.0' for n in names)} }}\ntokens = {names}\nmask = 'causal'\n"
    rules = parse_rules(text + "[[rule]]\ntoken = '*'\ncopy = 'previous'\neps = 0.1\n")
    sizes = []
    for most in (5, 3, 2, 1):
        found = build(rules, head_dim=most)
        kept(found)
        assert found.head_dim <= most
        sizes.append(found.frobenius)
    assert sizes == sorted(sizes)
    smallest = build(rules, minimise="rank")
    kept(smallest)
    assert smallest.head_dim == 1


def test_the_search_says_who_attends_to_whom() -> None:
    found = build(parse_rules(ROUTE))
    assert found.assignment == (
        "token 0 attends to token 0",
        "token 1 attends to token 2",
    )
    assert [sorted(claim.attend or {}) for claim in found.claims] == [[0], [2]]
    told = build(
        parse_rules(ROUTE.replace('output = "b"\n', 'output = "b"\ncopy = 0\n'))
    )
    kept(told)
    assert told.assignment == (
        "token 0 attends to token 2",
        "token 1 attends to token 0",
    )


def test_mixtures_are_found_where_single_tokens_do_not_do() -> None:
    tokens = "tokens = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]\n"
    rules = tokens + "".join(
        f"[[rule]]\ntoken = {i}\noutput = {w}\n"
        for i, w in enumerate(([1.0, 0.0], [0.0, 1.0], [0.5, 0.5]))
    )
    kept(build(parse_rules(rules)))
    causal = 'tokens = [[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]\nmask = "causal"\n'
    mixed = build(
        parse_rules(
            causal
            + "".join(
                f"[[rule]]\ntoken = {i}\noutput = {w}\n"
                for i, w in enumerate(([1.0], [-1.0], [0.0]))
            )
        )
    )
    kept(mixed)


def test_a_token_that_is_0_attends_to_all_alike() -> None:
    found = build(
        parse_rules(
            "tokens = [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [0.0, 5.0]]\n[[rule]]\ntoken = 0\noutput = [1.0]\n"
        )
    )
    kept(found)
    assert found.assignment == ("token 0 attends to tokens 0, 1, 2 and 3",)


def test_copies_of_a_token_share() -> None:
    found = build(
        parse_rules(
            "tokens = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]\n[[rule]]\ntoken = 2\noutput = [3.0, 1.0]\n"
        )
    )
    kept(found)
    assert found.assignment in (
        ("token 2 attends to tokens 0 and 1",),
        ("token 2 attends to token 2",),
    )


def test_several_sequences_are_served_by_the_same_weights() -> None:
    text = 'directions = { a = 2.0, b = 2.0, c = 2.0, d = 2.0 }\nsequences = [["d + b", "a", "c + b"], ["a", "b", "c"]]\n'  # noqa: E501
    found = build(
        parse_rules(
            text
            + "[[rule]]\ntoken = 0\ncopy = 2\n[[rule]]\nsequence = 1\ntoken = 1\ncopy = 0\n"
        )
    )
    kept(found)
    assert verify(found.certificate or "").words.startswith(
        "For these 3 and 3 tokens in R^4"
    )


def test_several_heads_have_rules_of_their_own() -> None:
    text = (
        DIRECTIONS
        + '[[rule]]\ntoken = 0\noutput = "b"\n[[rule]]\nhead = 2\ntoken = 0\noutput = "c"\n'
    )
    found = build(parse_rules(text))
    kept(found)
    assert found.layer is not None
    assert len(found.layer.heads) == 3
    assert not found.layer.heads[1].W_V.any()  # no rule names it, so it does nothing
    total = outputs(found.layer, found.rules.sequences[0])[0]
    assert np.linalg.norm(total - [0.0, 2.0, 2.0, 0.0]) <= 0.02


def test_without_outputs_values_are_the_tokens_themselves() -> None:
    found = build(parse_rules(DIRECTIONS + "[[rule]]\ntoken = 0\naverage = [1, 2]\n"))
    kept(found)
    assert found.layer is not None
    np.testing.assert_array_equal(found.layer.heads[0].W_V, np.eye(4))


@pytest.mark.parametrize(
    "uncertainty",
    ["ball = 0.05", "scale = [0.95, 1.05]", "ball = 0.01\nscale = [0.98, 1.1]"],
)
def test_in_a_uncertainty_sampled_tokens_keep_the_rules(uncertainty: str) -> None:
    rule = '[[rule]]\ntoken = 0\ncopy = 2\n[[rule]]\ntoken = 1\noutput = "b"\ntolerance = 0.4\n'
    found = build(parse_rules(DIRECTIONS + f"[uncertainty]\n{uncertainty}\n" + rule))
    kept(found)
    assert found.layer is not None
    rng, X = np.random.default_rng(0), found.rules.sequences[0]
    low, high = map(float, found.rules.scale)
    for _ in range(200):
        e = rng.normal(size=X.shape)
        moved = (
            X * rng.uniform(low, high, size=(3, 1))
            + float(found.rules.ball) * e / np.linalg.norm(e, axis=1)[:, None]
        )
        assert patterns(found.layer, moved)[0, 0, 2] >= 100 / 101
        assert np.linalg.norm(outputs(found.layer, moved)[1] - [0, 2, 0, 0]) <= 0.4


def test_too_wide_a_uncertainty_is_undecided() -> None:
    found = build(
        parse_rules(
            DIRECTIONS + "[uncertainty]\nball = 5.0\n[[rule]]\ntoken = 0\ncopy = 2\n"
        )
    )
    assert found.word == "undecided"
    assert found.layer is None


def test_impossible_is_proven() -> None:
    twins = build(
        parse_rules(
            "tokens = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]\n[[rule]]\ntoken = 2\ncopy = 0\n"
        )
    )
    assert twins.word == "impossible"
    assert "token 2" in twins.words
    assert verify(twins.certificate or "").word == "verified"
    middle = build(
        parse_rules(
            "tokens = [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]]\n[[rule]]\ntoken = 1\ncopy = 0\n"
        )
    )
    assert middle.word == "impossible"


def test_what_cannot_be_assigned_is_undecided() -> None:
    text = "tokens = [[1.0], [2.0]]\n" + "".join(
        f"[[rule]]\ntoken = {i}\noutput = [{w}.0]\n" for i, w in ((0, 1), (1, -1))
    )
    found = build(parse_rules(text))
    assert found.word == "undecided"
    assert found.certificate is None
    with pytest.raises(InputError, match="no head to draw"):
        found.picture()


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"minimise": "speed"}, "expected one of size, rank"),
        ({"head_dim": 0}, "head_dim is 0"),
        ({"dtype": "float8"}, "expected one of float64, float32, bfloat16"),
    ],
)
def test_bad_options_get_their_sentence(option: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        build(parse_rules(ROUTE), **option)  # type: ignore[arg-type]


def test_progress_goes_from_0_to_1_and_a_picture_is_drawn() -> None:
    told: list[float] = []
    found = build(parse_rules(ROUTE), progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0
    assert len(found.picture().to_dict()["vconcat"]) == 2


def test_tokens_in_many_dimensions_are_a_small_problem() -> None:
    X = np.random.default_rng(0).normal(size=(6, 200)).round(2)
    rules = Rules(
        (X,),
        (
            Rule(0, attend={3: Fraction(99, 100)}),
            Rule(1, output=(Fraction(1), Fraction(2))),
        ),
    )
    found = build(rules)
    kept(found)
    assert found.head_dim <= 2


@settings(max_examples=8)
@given(
    st.integers(0, 10**6),
    st.integers(2, 5),
    st.booleans(),
    st.sampled_from(["float64", "float32", "bfloat16"]),
)
def test_random_rules_are_kept_or_not_claimed(
    seed: int, T: int, causal: bool, dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(T, 3)).astype(float)
    chosen = [
        Rule(i, attend={int(rng.integers(i + 1)): Fraction(4, 5)})
        if rng.random() < 0.5
        else Rule(
            i,
            output=tuple(Fraction(int(x)) for x in rng.integers(-1, 2, size=2)),
            tolerance=Fraction(1, 10),
        )
        for i in range(T)
    ]
    try:
        found = build(Rules((X,), tuple(chosen), causal=causal), dtype=dtype)
    except InputError:
        return
    if found.word == "designed":
        kept(found)
    else:
        assert found.layer is None
        assert (found.certificate is None) == (found.word == "undecided")


def test_the_certificate_names_what_it_relies_on() -> None:
    found = build(parse_rules(ROUTE))
    statement = json.loads(found.certificate or "")["statement"]
    assert [list(rule["attend"]) for rule in statement["rules"]] == [["0"], ["2"]]
    assert [bound["norm"] for bound in statement["bounds"]] == ["frobenius"]
    assert (
        "no W_K^T W_Q whose frobenius norm is below 1.36562 makes head 0 attend as much"
        in found.words
    )


@pytest.mark.parametrize("minimise", ["size", "rank"])
@pytest.mark.parametrize(
    "text",
    [
        "tokens = [[1.0], [2.0]]\nrule = [{ token = 0, attend = { 0 = 0.5, 1 = 0.5 } }]",
        "tokens = [[1.0], [1.0]]\nrule = [{ token = 0, attend = { 0 = 0.5 } }]",
        "tokens = [[0.0], [1.0]]\nrule = [{ token = 0, attend = { 1 = 0.5 }, at_most = { 0 = 0.5 } }]",
        'mask = "causal"\ntokens = [[1.0], [1.0]]\n'
        "rule = [{ token = 0, attend = { 0 = 1 } }, { token = 1, copy = 0, eps = 1.0 }]",
    ],
    ids=["two", "twins", "a token that is 0", "one alone"],
)
def test_rules_that_scores_of_0_keep_exactly_need_no_scores(
    text: str, minimise: str
) -> None:
    found = build(parse_rules(text), minimise=minimise)
    assert (found.word, found.frobenius) == ("designed", 0.0)
    assert (
        found.certificate is not None and verify(found.certificate).word == "verified"
    )
