"""Bounds on the head dimension: what contradicts itself in so few dimensions is accepted, and nothing else."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.certificates.exact.heads.dimension import (
    HIGHEST,
    RuleView,
    check_dimension,
)
from headwright.certificates.exact.keys import Malformed, Reject
from headwright.head_design.dimension import dimension_bound
from headwright.head_design.rules import Rule, Rules

MOST, HALF, PAIR = Fraction(2, 3), Fraction(1, 2), Fraction(45, 100)
THREE = tuple(tuple(Fraction(int(i == j)) for j in range(3)) for i in range(3))


def views(*attends: dict[int, Fraction], tokens: Any = THREE) -> dict[int, RuleView]:
    """Rules of tokens 0, 1, ..., which all see all tokens."""
    return {
        i: RuleView(tokens[i], dict(enumerate(tokens)), attend)
        for i, attend in enumerate(attends)
    }


def step(rule: int, target: int, rival: int) -> dict[str, int]:
    return {"rule": rule, "target": target, "rival": rival}


COPIES = views({0: MOST}, {1: MOST}, {2: MOST})
TRIANGLE = [
    step(0, 0, 2),
    step(0, 0, 1),
    step(1, 1, 0),
    step(1, 1, 2),
    step(2, 2, 1),
    step(2, 2, 0),
]


def accepts(least: object, evidence: Any, given: dict[int, RuleView]) -> bool:
    try:
        check_dimension(Fraction(str(least)), evidence, given)
    except Reject:
        return False
    return True


def test_three_tokens_copied_from_one_seen_set_force_two_dimensions() -> None:
    assert accepts(2, {"walk": TRIANGLE}, COPIES)


def test_two_copied_tokens_force_nothing() -> None:
    assert not accepts(2, {"walk": TRIANGLE[1:3]}, COPIES)


@pytest.mark.parametrize(("p", "forced"), [("0.5", False), ("0.5000001", True)])
def test_a_weight_of_one_half_beats_nobody_and_more_does(p: str, forced: bool) -> None:
    weak = views(*({i: Fraction(p)} for i in range(3)))
    assert accepts(2, {"walk": TRIANGLE}, weak) is forced


def test_what_a_token_does_not_see_it_does_not_beat() -> None:
    hidden = {**COPIES, 1: RuleView(THREE[1], {0: THREE[0], 1: THREE[1]}, {1: MOST})}
    assert not accepts(2, {"walk": TRIANGLE}, hidden)


def test_the_order_of_a_walk_matters() -> None:
    assert not accepts(2, {"walk": TRIANGLE[1:] + TRIANGLE[:1]}, COPIES)
    assert accepts(2, {"walk": TRIANGLE[2:] + TRIANGLE[:2]}, COPIES)
    assert not accepts(2, {"walk": TRIANGLE[:-1]}, COPIES)
    assert not accepts(
        2, {"walk": TRIANGLE * 2}, COPIES
    )  # round twice: two contradictions make none
    assert accepts(2, {"walk": TRIANGLE * 3}, COPIES)


def test_one_query_that_is_the_opposite_of_another_has_the_opposite_sign() -> None:
    """Token 2 is minus twice token 1, both prefer 0 to 3, which one dimension cannot."""
    tokens = [tuple(map(Fraction, x)) for x in ((1, 0), (0, 1), (0, -2), (3, 0))]
    both = {i: RuleView(tokens[i], dict(enumerate(tokens)), {0: MOST}) for i in (1, 2)}
    walk = [step(1, 0, 3), step(2, 0, 3)]
    assert accepts(
        2, {"walk": walk}, both
    )  # no head of any dimension does: a contradiction proves every bound
    # The proof takes an even number of steps, though these hold that contradiction as well.
    assert not accepts(2, {"walk": [walk[0], *walk]}, both)
    same = {**both, 2: RuleView((Fraction(0), Fraction(2)), both[2].seen, {0: MOST})}
    assert not accepts(2, {"walk": walk}, same)


def test_the_token_0_has_no_direction() -> None:
    tokens = [tuple(map(Fraction, x)) for x in ((0, 0), (0, 0), (1, 0))]
    zero = {
        i: RuleView(tokens[i], dict(enumerate(tokens)), {i: MOST}) for i in range(2)
    }
    assert not accepts(2, {"walk": [step(0, 0, 1), step(1, 1, 0)]}, zero)
    assert not accepts(2, {"walk": [step(0, 0, 2), step(1, 1, 2)]}, zero)


@pytest.mark.parametrize("least", ["1", "3/2", "0", "-2", str(HIGHEST + 1), "3"])
def test_a_walk_proves_two_and_no_other_bound(least: str) -> None:
    assert not accepts(least, {"walk": TRIANGLE}, COPIES)


@pytest.mark.parametrize(
    "changed",
    [
        {"rule": 3},
        {"rule": -1},
        {"rule": True},
        {"target": 3},
        {"rival": 3},
        {"rival": 0},
        {"target": "0"},
    ],
)
def test_a_step_that_speaks_of_nothing_is_refused(changed: dict[str, object]) -> None:
    walk: list[Any] = copy.deepcopy(TRIANGLE)
    walk[0].update(changed)
    assert not accepts(2, {"walk": walk}, COPIES)


@pytest.mark.parametrize(
    "evidence",
    [{}, [], {"walk": []}, {"walk": TRIANGLE, "more": 1}, {"walk": [[0, 0, 1]]}],
)
def test_evidence_of_another_form_is_unreadable(evidence: object) -> None:
    with pytest.raises(Malformed):
        check_dimension(Fraction(2), evidence, COPIES)  # type: ignore[arg-type]


def shattering() -> tuple[dict[int, RuleView], dict[str, list[int]]]:
    """Four tokens: each is copied, and so are three pairs of them, so that every split in two is made."""
    tokens = tuple(tuple(Fraction(int(i == j)) for j in range(8)) for i in range(8))
    attends = [{i: MOST} for i in range(4)] + [{0: PAIR, i: PAIR} for i in (1, 2, 3)]
    return views(*attends, tokens=tokens), {
        "tokens": [0, 1, 2, 3],
        "rules": list(range(7)),
    }


def test_four_tokens_split_in_all_ways_force_three_dimensions() -> None:
    given, evidence = shattering()
    assert accepts(3, evidence, given)
    assert not accepts(4, evidence, given)
    assert not accepts(2, evidence, given)


@pytest.mark.parametrize("rule", range(7))
def test_every_split_is_needed(rule: int) -> None:
    given, evidence = shattering()
    assert not accepts(
        3, {**evidence, "rules": [i for i in range(7) if i != rule]}, given
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"tokens": [0, 1, 2]},
        {"tokens": [0, 1, 2, 3, 4]},
        {"tokens": [0, 1, 2, 2]},
        {"tokens": [0, 1, 2, 9]},
        {"rules": []},
        {"rules": [0, 1, 2, 3, 4, 5, 7]},
        {"tokens": [0, 1, 2, 4]},
    ],
)
def test_splits_of_other_tokens_prove_nothing(changed: dict[str, list[int]]) -> None:
    given, evidence = shattering()
    assert not accepts(3, {**evidence, **changed}, given)


def test_a_split_is_made_from_either_side() -> None:
    """The mean of all but one token puts that one last, which splits as well as putting it first does."""
    given, evidence = shattering()
    third = Fraction(32, 100)
    given[0] = RuleView(given[0].token, given[0].seen, {1: third, 2: third, 3: third})
    assert accepts(3, evidence, given)


def test_a_rule_more_than_there_are_splits_is_refused() -> None:
    given, evidence = shattering()
    assert not accepts(3, {**evidence, "rules": [*range(7), 0]}, given)


def test_one_rule_is_readable_and_proves_nothing() -> None:
    given, evidence = shattering()
    with pytest.raises(Reject) as found:
        check_dimension(Fraction(3), {**evidence, "rules": [0]}, given)  # type: ignore[dict-item]
    assert not isinstance(found.value, Malformed)


def test_tokens_are_numbered_as_the_first_rule_sees_them() -> None:
    given, evidence = shattering()
    view = given[1]
    given[1] = RuleView(
        view.token, {10 + i: x for i, x in view.seen.items()}, {11: MOST}
    )
    assert accepts(3, evidence, given)
    assert not accepts(3, {**evidence, "rules": [1, 0, *range(2, 7)]}, given)


def test_the_highest_bound_that_is_checked_is_proved_by_all_its_splits() -> None:
    tokens = tuple(
        tuple(Fraction(int(i == j)) for j in range(HIGHEST + 1))
        for i in range(HIGHEST + 1)
    )
    splits = [
        [a for a in range(1, HIGHEST + 1) if bits >> (a - 1) & 1]
        for bits in range(1, 2**HIGHEST)
    ]
    seen = dict(enumerate(tokens))
    given = {
        i: RuleView(tokens[0], seen, dict.fromkeys(one, Fraction(99, 100 * len(one))))
        for i, one in enumerate(splits)
    }
    evidence = {"tokens": list(seen), "rules": list(given)}
    assert accepts(HIGHEST, evidence, given)
    assert not accepts(HIGHEST, {**evidence, "rules": list(given)[1:]}, given)


def test_a_target_does_not_beat_another_that_gets_as_much() -> None:
    even = {**COPIES, 0: RuleView(THREE[0], dict(enumerate(THREE)), {0: PAIR, 1: PAIR})}
    assert not accepts(2, {"walk": TRIANGLE}, even)


def test_a_token_without_a_floor_beats_nobody() -> None:
    four = dict(enumerate((*THREE, (Fraction(1),) * 3)))
    for target in (0, 3):
        assert not accepts(
            2,
            {"walk": TRIANGLE},
            {**COPIES, 2: RuleView(THREE[2], four, {target: MOST})},
        )


def test_steps_of_a_walk_share_a_whole_direction() -> None:
    """Tokens 1 and (0, 1, 1) agree in their first number that is not 0, and not in the next."""
    more = {
        **COPIES,
        3: RuleView(
            (Fraction(0), Fraction(1), Fraction(1)), dict(enumerate(THREE)), {1: MOST}
        ),
    }
    assert not accepts(2, {"walk": [*TRIANGLE[:3], step(3, 1, 2), *TRIANGLE[4:]]}, more)
    same = {
        **more,
        3: RuleView(
            (Fraction(0), Fraction(2), Fraction(0)), dict(enumerate(THREE)), {1: MOST}
        ),
    }
    assert accepts(2, {"walk": [*TRIANGLE[:3], step(3, 1, 2), *TRIANGLE[4:]]}, same)


def test_one_half_splits_nothing() -> None:
    given, evidence = shattering()
    for p, forced in ((HALF, False), (HALF + Fraction(1, 10**9), True)):
        given[0] = RuleView(given[0].token, given[0].seen, {0: p})
        assert accepts(3, evidence, given) is forced


@pytest.mark.parametrize("size", ["1/2", "1", "-1/3", "7"])
def test_the_size_of_tokens_changes_nothing_in_a_walk(size: str) -> None:
    tokens = tuple(tuple(Fraction(size) * x for x in token) for token in THREE)
    scaled = views({0: MOST}, {1: MOST}, {2: MOST}, tokens=tokens)
    assert accepts(2, {"walk": TRIANGLE}, scaled)
    mixed = {**scaled, 1: RuleView(THREE[1], scaled[1].seen, {1: MOST})}
    assert accepts(2, {"walk": TRIANGLE}, mixed)
    assert not accepts(2, {"walk": TRIANGLE[1:3]}, mixed)


def attended(
    rng: np.random.Generator, X: np.ndarray, r: int, causal: bool
) -> list[Rule]:
    """Rules that a head of dimension r keeps: what its pattern is, and a hair less, for some of its targets."""
    loud = float(rng.choice([1.0, 3.0, 20.0]))
    Q, K = (loud * rng.normal(size=(r, X.shape[1])) for _ in range(2))
    found = []
    for i in range(len(X)):
        seen = X[: i + 1] if causal else X
        s = seen @ K.T @ (Q @ X[i])
        alpha = np.exp(s - s.max())
        alpha /= alpha.sum()
        some = [
            int(a) for a in np.argsort(-alpha)[: rng.integers(1, 4)] if alpha[a] > 1e-6
        ]
        floors = {a: Fraction(float(alpha[a]) * (1 - 1e-9)) for a in some}
        found.append(Rule(i, attend=floors))
    return found


@settings(max_examples=300)
@given(
    st.integers(0, 10**9),
    st.integers(3, 9),
    st.integers(1, 4),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
def test_no_bound_is_above_the_dimension_of_a_head_that_there_is(
    seed: int, T: int, D: int, r: int, causal: bool, whole: bool
) -> None:
    """Also with tokens that are multiples of each other, or equal, or 0."""
    rng = np.random.default_rng(seed)
    X = (
        rng.integers(-2, 3, size=(T, D)).astype(float)
        if whole
        else rng.normal(size=(T, D))
    )
    claims = attended(rng, X, r, causal)
    found = dimension_bound(Rules((X,), tuple(claims), causal=causal), claims, 0)
    assert found is None or found.least <= r


@settings(max_examples=100)
@given(st.integers(0, 10**9), st.integers(3, 6), st.integers(1, 3))
def test_no_walk_whatever_contradicts_a_head_of_one_dimension(
    seed: int, T: int, D: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(T, D)).astype(float)
    claims = attended(rng, X, 1, causal=False)
    exact = [tuple(map(Fraction, x)) for x in X.tolist()]
    given = {
        i: RuleView(exact[i], dict(enumerate(exact)), claim.attend or {})
        for i, claim in enumerate(claims)
    }
    facts = [
        (i, a, b)
        for i, view in given.items()
        for a in range(T)
        for b in range(T)
        if view.beats(a, b)
    ]
    for _ in range(50 if facts else 0):
        walk = [
            step(*facts[i])
            for i in rng.integers(len(facts), size=int(rng.choice([2, 4, 6])))
        ]
        assert not accepts(2, {"walk": walk}, given)


@pytest.mark.parametrize("rule", range(1, 7))
def test_a_rule_splits_only_what_it_sees(rule: int) -> None:
    given, evidence = shattering()
    hidden = next(i for i in range(4) if i not in given[rule].attend)
    seen = {i: x for i, x in given[rule].seen.items() if i != hidden}
    given[rule] = RuleView(given[rule].token, seen, given[rule].attend)
    assert not accepts(3, evidence, given)


def test_equals_of_a_token_elsewhere_count_as_that_token() -> None:
    """One rule sees the tokens in another order, and one of them twice, which share what it gives them."""
    given, evidence = shattering()
    view = given[4]  # the pair 0, 1
    twice = {
        0: view.seen[3],
        1: view.seen[2],
        2: view.seen[1],
        3: view.seen[0],
        4: view.seen[1],
        5: view.seen[0],
    }
    given[4] = RuleView(
        view.token, twice, dict.fromkeys((2, 3, 4, 5), Fraction(24, 100))
    )
    assert accepts(3, evidence, given)
    given[4] = RuleView(view.token, twice, {2: PAIR, 1: PAIR})
    assert not accepts(3, evidence, given)
