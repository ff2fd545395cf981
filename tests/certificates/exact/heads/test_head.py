"""The checker of whole heads: true statements are accepted, and nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.certificates.exact.heads.head_statement import read_matrix
from headwright.certificates.exact.heads.matrices import spectral_norm_at_most
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.verify import verify
from headwright.head_design.certify import NormBound, certificate
from headwright.head_design.head import Head, HeadLayer
from headwright.head_design.rules import Rule, Rules

EYE = np.eye(2)
CORPUS = Path(__file__).parents[2] / "corpus" / "head-accept"
OWN_WITNESS = CORPUS / "bound-of-a-floor-just-above-half.json"
WITNESS = (
    np.array([[1.0, 0.0]]),
    np.array([[1.1, -1.1]]),
)  # nearly the smallest for a floor of 9/10


def layer(*heads: Head, causal: bool = False, dtype: str = "float64") -> HeadLayer:
    return HeadLayer(heads, causal, dtype)


def says(rules: Rules, made: HeadLayer, *bounds: NormBound) -> str:
    return verify(certificate(rules, rules.rules, made, bounds)).word


def published(b: int) -> tuple[np.ndarray, Head]:
    """The tokens and the published answer of the route exercise: x = (d + b, a, c + b), for directions of length b."""
    ua, ub, uc, ud = b * np.eye(4)
    X = np.array([ud + ub, ua, uc + ub])
    V = (np.outer(ub, ub) - np.outer(uc, uc)) / b**2
    Q = (np.outer(uc, ud) + np.outer(ud, ua)) / b**2
    return X, Head(Q, np.eye(4), V)


def wanted(b: int) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    zero, one = Fraction(0), Fraction(b)
    return (zero, one, -one, zero), (zero, one, zero, zero)


@pytest.mark.parametrize(
    ("b", "tolerance"), [(2, "0.0791"), (3, "0.00083"), (4, "1.01e-6")]
)
def test_the_published_matrices_of_the_route_exercise_are_verified(
    b: int, tolerance: str
) -> None:
    X, head = published(b)
    first, second = (
        Rule(i, output=w, tolerance=Fraction(tolerance))
        for i, w in enumerate(wanted(b))
    )
    assert says(Rules((X,), (first, second)), layer(head)) == "verified"
    assert (
        says(Rules((X,), (first, second), causal=True), layer(head, causal=True))
        == "rejected"
    )
    tighter = [
        Rule(r.token, output=r.output, tolerance=r.tolerance * Fraction(98, 100))
        for r in (first, second)
    ]
    assert says(Rules((X,), tuple(tighter)), layer(head)) == "rejected"


def alpha(X: np.ndarray, head: Head, token: int, seen: int) -> list[Any]:
    """The pattern with sixty digits, by another library."""
    with mpmath.workdps(60):
        exact = [[mpmath.mpf(x) for x in row] for row in X.tolist()]
        M = mpmath.matrix(head.W_K.T.tolist()) * mpmath.matrix(head.W_Q.tolist())
        scores = [
            (mpmath.matrix([x]) * M * mpmath.matrix(exact[token]))[0]
            for x in exact[:seen]
        ]
        e = [mpmath.exp(s) for s in scores]
        return [x / mpmath.fsum(e) for x in e]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_floors_and_tolerances_are_judged_to_25_digits(seed: int, causal: bool) -> None:
    rng = np.random.default_rng(seed)
    X, head = (
        rng.normal(size=(5, 3)),
        Head(*(rng.normal(size=(k, 3)) for k in (2, 2, 4))),
    )
    token = int(rng.integers(1, 5))
    seen = token + 1 if causal else 5
    with mpmath.workdps(60):
        pattern = alpha(X, head, token, seen)
        values = [
            mpmath.matrix(head.W_V.tolist()) * mpmath.matrix(x)
            for x in X[:seen].tolist()
        ]
        output = sum(
            (p * v for p, v in zip(pattern[1:], values[1:], strict=True)),
            pattern[0] * values[0],
        )
        error = mpmath.norm(output - mpmath.matrix([1, 0, -1, 2]))
        for sign, verdict in ((-1, "verified"), (1, "rejected")):
            floor = Fraction(mpmath.nstr(pattern[0] + sign * mpmath.mpf(10) ** -25, 40))
            assert (
                says(
                    Rules((X,), (Rule(token, attend={0: floor}),), causal),
                    layer(head, causal=causal),
                )
                == verdict
            )
            within = Fraction(mpmath.nstr(error - sign * mpmath.mpf(10) ** -25, 40))
            rule = Rule(
                token, output=tuple(map(Fraction, (1, 0, -1, 2))), tolerance=within
            )
            assert (
                says(Rules((X,), (rule,), causal), layer(head, causal=causal))
                == verdict
            )


@given(st.integers(0, 10**6))
def test_in_a_uncertainty_no_sample_breaks_what_was_verified(seed: int) -> None:
    from headwright.head_design.exact_bounds import proven_facts
    from headwright.numerics.enclosure import float_above, float_below

    rng = np.random.default_rng(seed)
    X, head = (
        rng.normal(size=(4, 3)),
        Head(*(rng.normal(size=(k, 3)) / 2 for k in (2, 2, 2))),
    )
    ball, low, high = 0.02, Fraction("0.95"), Fraction("1.02")
    plain = Rule(
        1,
        attend={0: Fraction(1, 10**9)},
        output=(Fraction(1), Fraction(0)),
        tolerance=Fraction(100),
    )
    rules = Rules((X,), (plain,), ball=Fraction(str(ball)), scale=(low, high))
    off, least = proven_facts(rules, [plain], layer(head))[0]
    floor, error = Fraction(least[0]), Fraction(off)
    tight = Rule(1, attend={0: floor}, output=plain.output, tolerance=error)
    assert (
        says(Rules((X,), (tight,), ball=rules.ball, scale=(low, high)), layer(head))
        == "verified"
    )
    over = Rule(1, attend={0: Fraction(float_above(floor * (1 + Fraction(1, 10**9))))})
    assert (
        says(Rules((X,), (over,), ball=rules.ball, scale=(low, high)), layer(head))
        == "rejected"
    )
    for _ in range(20):
        e = rng.normal(size=X.shape)
        moved = (
            X * rng.uniform(float(low), float(high), size=(4, 1))
            + ball * e / np.linalg.norm(e, axis=1)[:, None]
        )
        s = moved @ head.M @ moved[1]
        p = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
        assert p[0] >= float_below(floor) * (1 - 1e-12)
        assert np.linalg.norm(p @ moved @ head.W_V.T - [1, 0]) <= float_above(error) * (
            1 + 1e-12
        )


def reference(X: np.ndarray, rules: tuple[Rule, ...], norm: str) -> float:
    """The smallest norm by another solver."""
    M = cp.Variable((X.shape[1], X.shape[1]))
    held = [
        cp.log_sum_exp((X - X[a]) @ M @ X[rule.token]) <= float(np.log(float(1 / p)))
        for rule in rules
        for a, p in (rule.attend or {}).items()
    ]
    problem = cp.Problem(cp.Minimize(cp.norm(M, norm)), held)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@pytest.mark.parametrize("norm", ["frobenius", "nuclear"])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_those_of_another_solver_and_not_more(seed: int, norm: str) -> None:
    from headwright.head_design.attention_plan import AttentionPlan, TokenSpace
    from headwright.head_design.head_design import lower_bound

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, 5))
    chosen = tuple(
        Rule(i, attend={int(rng.integers(4)): Fraction(19, 20)}) for i in (0, 2, 3)
    )
    rules = Rules((X,), chosen)
    plans = tuple(
        AttentionPlan(r, dict.fromkeys(r.attend or {}, Fraction(1)), Fraction(1, 20))
        for r in chosen
    )
    found = lower_bound(TokenSpace.of(rules), plans, range(3), 0, norm)
    assert found is not None and found.witness is not None
    witness = Head(1.001 * found.witness[0], 1.001 * found.witness[1], np.eye(5))
    truth = reference(X, chosen, "fro" if norm == "frobenius" else "nuc")
    near = 1e-7 if norm == "frobenius" else 5e-3
    assert float(found.least) <= truth * (1 + 1e-6)
    assert float(found.least) >= truth * (1 - near)

    def claim(least: float) -> str:
        raised = NormBound(0, norm, Fraction(least), found.witness, found.multipliers)
        return says(rules, layer(witness), raised)

    assert claim(float(found.least) * (1 - 1e-10)) == "verified"
    assert claim(float(found.least) * (1 + 1e-10)) == "rejected"


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 5))
def test_spectral_norms_are_told_apart_to_nine_digits(
    seed: int, rules: int, D: int
) -> None:
    rng = np.random.default_rng(seed)
    L, R = (np.round(rng.normal(size=(rules, D)), 3) for _ in range(2))
    L[-1] = L[0]  # dependent parts
    size = float(np.linalg.norm(L.T @ R, 2))
    A, B = (
        [
            [
                sum(
                    (Fraction(x) * Fraction(y) for x, y in zip(u, v, strict=True)),
                    Fraction(0),
                )
                for v in rows.tolist()
            ]
            for u in rows.tolist()
        ]
        for rows in (L, R)
    )
    assert spectral_norm_at_most(A, B, Fraction(size * (1 + 1e-9)))
    assert size < 1e-9 or not spectral_norm_at_most(A, B, Fraction(size * (1 - 1e-9)))


def test_a_bound_counts_only_rules_of_its_head_and_floors_that_are_stated() -> None:
    rule, other = (
        Rule(0, attend={0: Fraction(9, 10)}),
        Rule(1, head=1, attend={0: Fraction(9, 10)}),
    )
    rules = Rules((EYE,), (rule, other))
    made = layer(
        Head(3 * EYE, 3 * EYE, EYE),
        Head(np.array([[0.0, 3.0]]), np.array([[3.0, 0.0]]), EYE),
    )
    assert says(rules, made) == "verified"
    assert (
        says(
            rules,
            made,
            NormBound(0, "frobenius", Fraction("1.55"), WITNESS, {(0, 0): 1.0}),
        )
        == "verified"
    )
    itself = layer(Head(*WITNESS, EYE), made.heads[1])
    assert (
        says(
            rules,
            itself,
            NormBound(0, "frobenius", Fraction("1.55"), None, {(0, 0): 1.0}),
        )
        == "verified"
    )
    for wrong in ({(1, 0): 1.0}, {(0, 1): 1.0}, {(0, 0): 1.0, (1, 0): 1.0}):
        assert (
            says(
                rules, made, NormBound(0, "frobenius", Fraction(1, 100), WITNESS, wrong)
            )
            == "rejected"
        )


@pytest.mark.parametrize(
    ("dtype", "number", "verdict"),
    [
        ("float64", 0.1, "verified"),
        ("float32", 0.1, "rejected"),
        ("float32", float(np.float32(0.1)), "verified"),
        ("bfloat16", float(np.float32(0.1)), "rejected"),
        ("bfloat16", 0.10009765625, "verified"),
        ("float32", 1e300, "rejected"),
    ],
)
def test_weights_must_be_numbers_of_their_type(
    dtype: str, number: float, verdict: str
) -> None:
    rule = Rule(0, attend={0: Fraction(1, 100)})
    assert (
        says(Rules((EYE,), (rule,)), layer(Head(EYE, EYE, number * EYE), dtype=dtype))
        == verdict
    )


def _good() -> dict[str, Any]:
    rules = Rules(
        (EYE, 2 * EYE),
        (
            Rule(0, attend={0: Fraction(9, 10)}),
            Rule(1, sequence=1, output=(Fraction(0), Fraction(2))),
        ),
    )
    made = layer(Head(3 * EYE, 3 * EYE, EYE))
    found: dict[str, Any] = json.loads(
        certificate(
            rules,
            rules.rules,
            made,
            [NormBound(0, "frobenius", Fraction("1.55"), WITNESS, {(0, 0): 1.0})],
        )
    )
    return found


Change = Callable[[dict[str, Any], dict[str, Any]], Any]
HOSTILE: dict[str, Change] = {
    "a negative multiplier": lambda s, e: e["bounds"][0]["constraints"][0].update(
        multiplier="-1"
    ),
    "a multiplier of 0": lambda s, e: e["bounds"][0]["constraints"][0].update(
        multiplier="0"
    ),
    "a constraint used twice": lambda s, e: e["bounds"][0]["constraints"].append(
        e["bounds"][0]["constraints"][0]
    ),
    "no constraints": lambda s, e: e["bounds"][0].update(constraints=[]),
    "a bound without evidence": lambda s, e: e.update(bounds=[]),
    "evidence without a bound": lambda s, e: s.update(bounds=[]),
    "a bound raised": lambda s, e: s["bounds"][0].update(least="1.6"),
    "a bound below 0": lambda s, e: s["bounds"][0].update(least="-1"),
    "an unknown norm": lambda s, e: s["bounds"][0].update(norm="spectral"),
    "a norm that is a list": lambda s, e: s["bounds"][0].update(norm=["frobenius"]),
    "a bound of another head": lambda s, e: s["bounds"][0].update(head=1),
    "a bound for a target without a floor": lambda s, e: e["bounds"][0]["constraints"][
        0
    ].update(target=1),
    "a witness of another shape": lambda s, e: e["bounds"][0].update(W_Q=[["1"]]),
    "a witness that scores otherwise": lambda s, e: e["bounds"][0].update(
        W_Q=[["0", "1"], ["1", "0"]]
    ),
    "no rules": lambda s, e: s.update(rules=[]),
    "a rule without a target": lambda s, e: s["rules"][0].update(attend={}),
    "a floor raised": lambda s, e: s["rules"][0].update(attend={"0": "0.99999"}),
    "a floor above 1": lambda s, e: s["rules"][0].update(attend={"0": "1.5"}),
    "a floor of 0": lambda s, e: s["rules"][0].update(attend={"0": "0"}),
    "a target that is not there": lambda s, e: s["rules"][0].update(
        attend={"2": "0.1"}
    ),
    "a target written otherwise": lambda s, e: s["rules"][0].update(
        attend={"00": "0.1"}
    ),
    "a causal mask that hides the target": lambda s, e: (
        s.update(mask="causal"),
        s["rules"][0].update(attend={"1": "1/99999"}),
    ),
    "a mask that is a number": lambda s, e: s.update(mask=0),
    "a token that is not there": lambda s, e: s["rules"][0].update(token=2),
    "a token below 0": lambda s, e: s["rules"][0].update(token=-1),
    "a token that is true": lambda s, e: s["rules"][0].update(token=True),
    "a sequence that is not there": lambda s, e: s["rules"][0].update(sequence=2),
    "a head that is not there": lambda s, e: s["rules"][0].update(head=1),
    "an output that is too short": lambda s, e: s["rules"][1].update(output=["0"]),
    "an output that is too long": lambda s, e: s["rules"][1].update(
        output=["0", "2", "0"]
    ),
    "another output": lambda s, e: s["rules"][1].update(output=["0", "-2"]),
    "a tolerance below 0": lambda s, e: s["rules"][1].update(tolerance="-1"),
    "a tolerance that is null": lambda s, e: s["rules"][1].update(tolerance=None),
    "a tolerance that is nan": lambda s, e: s["rules"][1].update(tolerance="nan"),
    "a tighter tolerance": lambda s, e: s["rules"][1].update(tolerance="1e-20"),
    "a weight that is nan": lambda s, e: s["heads"][0]["W_Q"][0].__setitem__(0, "nan"),
    "a weight that is infinite": lambda s, e: s["heads"][0]["W_Q"][0].__setitem__(
        0, "0x1p+1024"
    ),
    "a weight that is a float": lambda s, e: s["heads"][0]["W_Q"][0].__setitem__(
        0, 3.0
    ),
    "a weight that is not a float": lambda s, e: s["heads"][0]["W_Q"][0].__setitem__(
        0, "1/3"
    ),
    "a weight that is too long": lambda s, e: s["heads"][0]["W_Q"][0].__setitem__(
        0, "9" * 60_000
    ),
    "a token that is not a float": lambda s, e: s["sequences"][0][0].__setitem__(
        0, "1/3"
    ),
    "a witness that is empty": lambda s, e: e["bounds"][0].update(W_Q=[]),
    "a witness that is a text": lambda s, e: e["bounds"][0].update(W_Q=""),
    "half a witness": lambda s, e: e["bounds"][0].update(W_Q=None),
    "a ragged W_Q": lambda s, e: s["heads"][0]["W_Q"][0].append("0"),
    "an empty W_K": lambda s, e: s["heads"][0].update(W_K=[]),
    "W_Q and W_K of different heights": lambda s, e: s["heads"][0].update(
        W_K=[["3", "0"]]
    ),
    "no heads": lambda s, e: s.update(heads=[]),
    "an unknown type": lambda s, e: s.update(dtype="float16"),
    "no sequences": lambda s, e: s.update(sequences=[]),
    "an empty sequence": lambda s, e: s["sequences"].__setitem__(1, []),
    "an empty token": lambda s, e: s.update(sequences=[[[]]]),
    "tokens of two lengths": lambda s, e: s["sequences"][1][0].append("0"),
    "more tokens than are read": lambda s, e: s["sequences"].append(
        [["0", "0"]] * 4097
    ),
    "a ball below 0": lambda s, e: s["uncertainty"].update(ball="-1"),
    "a ball that is too wide": lambda s, e: s["uncertainty"].update(ball="1"),
    "a scale without 1": lambda s, e: s["uncertainty"].update(scale=["2", "3"]),
    "a scale from 0": lambda s, e: s["uncertainty"].update(scale=["0", "1"]),
    "a scale of one end": lambda s, e: s["uncertainty"].update(scale=["1"]),
    "an unknown name": lambda s, e: s.update(more="0"),
    "an unknown name in the evidence": lambda s, e: e.update(more="0"),
    "a missing name": lambda s, e: s.pop("uncertainty"),
    "another claim": lambda s, e: s.update(claim="many heads"),
    "a claim that is a list": lambda s, e: s.update(claim=["heads"]),
    "turned queries": lambda s, e: s["heads"][0].update(W_Q=[["-3", "0"], ["0", "-3"]]),
    "turned values": lambda s, e: s["heads"][0].update(W_V=[["0", "1"], ["1", "0"]]),
}


def test_the_certificate_that_is_tampered_with_is_good() -> None:
    verdict = verify(json.dumps(_good()))
    assert verdict.word == "verified"
    assert (
        "no W_K^T W_Q whose frobenius norm is below 1.55 makes head 0 attend as much"
        in verdict.words
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_certificates_are_not_accepted(name: str) -> None:
    document = copy.deepcopy(_good())
    HOSTILE[name](document["statement"], document["evidence"])
    verdict = verify(json.dumps(document))
    assert verdict.word in ("rejected", "unreadable")
    assert verdict.words


ORDINARY: dict[str, tuple[Change, str]] = {
    "no evidence for a bound": (
        lambda s, e: e.update(bounds=[]),
        "evidence for 0 bounds: expected it for 1",
    ),
    "an unknown type": (
        lambda s, e: s.update(dtype="float16"),
        "type 'float16': expected float64, float32, bfloat16",
    ),
    "a type that is a list": (
        lambda s, e: s.update(dtype=["float64"]),
        "expected float64, float32, bfloat16",
    ),
    "tables for another number of heads": (
        lambda s, e: s.update(bias=[[["0"] * 2] * 2] * 2),
        "for each head, or none",
    ),
    "a token in words": (
        lambda s, e: s["rules"][0].update(token="\x1b[2K\ud800"),
        r"'\x1b[2K\ud800'",
    ),
    "a name in words": (lambda s, e: s.update({"\x1b[2K": "0"}), r"'\x1b[2K'"),
    "a mask of other rows": (
        lambda s, e: s.update(mask=["11", "11", "no"]),
        "or 2 rows of 2 digits 0 and 1",
    ),
    "a token that sees nothing": (
        lambda s, e: s.update(mask=["00", "11"]),
        "what its token does not see",
    ),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_mistakes_get_a_sentence_of_plain_characters(name: str) -> None:
    document = copy.deepcopy(_good())
    change, said = ORDINARY[name]
    change(document["statement"], document["evidence"])
    verdict = verify(json.dumps(document))
    assert verdict.word in ("rejected", "unreadable")
    assert said in verdict.words
    assert verdict.words.isprintable()


def test_a_rule_that_is_broken_by_a_trillionth_is_rejected() -> None:
    head = Head(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]), EYE)
    with mpmath.workdps(40):
        truth = mpmath.e / (mpmath.e + 1)
        for off, verdict in ((-1e-12, "verified"), (1e-12, "rejected")):
            floor = Fraction(mpmath.nstr(truth + off, 30))
            assert (
                says(Rules((EYE,), (Rule(0, attend={0: floor}),)), layer(head))
                == verdict
            )


def test_scores_of_any_size_are_read() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    head = Head(1e150 * EYE, 1e150 * EYE, EYE)
    assert (
        says(Rules((X,), (Rule(0, attend={0: Fraction("0.999999")}),)), layer(head))
        == "verified"
    )
    assert (
        says(Rules((X,), (Rule(0, attend={1: Fraction("1e-300")}),)), layer(head))
        == "rejected"
    )
    tiny = Head(5e-324 * EYE, EYE, EYE)
    assert (
        says(Rules((X,), (Rule(0, attend={1: Fraction("0.4999999")}),)), layer(tiny))
        == "verified"
    )


def test_every_number_of_a_row_is_of_the_type_and_those_after_a_zero_too() -> None:
    rows: list[Any] = [["0", "1/2"], ["-0x0.0p+0", "3"]]
    assert read_matrix(rows, 2, "W_Q")[0][1] == Fraction(1, 2)
    wrong: list[Any] = [["0", "1/3"], ["1", "0x1.00000001p+0"]]
    for row in wrong:
        with pytest.raises(Reject, match="not a number of type float32"):
            read_matrix([*rows, row], 2, "W_Q", "float32")


def test_a_witness_is_two_matrices_or_none() -> None:
    """Where the head is its own witness, half of another one beside it is unreadable, and not passed over."""
    document = json.loads(OWN_WITNESS.read_text())
    bound = document["evidence"]["bounds"][0]
    assert (bound["W_Q"], bound["W_K"]) == (None, None)
    assert verify(json.dumps(document)).word == "verified"
    head = document["statement"]["heads"][0]
    for name in ("W_Q", "W_K"):
        bound.update(W_Q=None, W_K=None)
        bound[name] = head[name]
        assert verify(json.dumps(document)).word == "unreadable"
