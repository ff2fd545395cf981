"""Designs under uncertainty: shortest or impossible for any query, as probable as was asked for, and never a crash."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headwright
from headwright.certificates import floating
from headwright.certificates.exact.verify import verify
from headwright.errors import InputError
from headwright.query_design import Design, Targets, at_least, average, copy, design
from headwright.uncertainty import (
    Ball,
    Between,
    Covariance,
    Ellipsoid,
    Isotropic,
    Noise,
    Normal,
    OneOf,
    Uncertainty,
)
from tests.effort import tried


def _checked(found: Design) -> Design:
    """What is said is what the trusted checker says of the certificate."""
    if found.certificate is None:
        assert (found.word, found.norm_lower_bound) == ("undecided", 0.0)
        return found
    verdict = verify(found.certificate)
    assert verdict.word == "verified"
    assert verdict.words in found.words
    assert found.norm_lower_bound <= found.norm
    return found


def everywhere(noise: Noise) -> Uncertainty:
    return Uncertainty(others=noise)


def test_key_of_random_length_is_not_looked_at_and_that_is_proved_shortest() -> None:
    uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.5))})
    found = _checked(
        design(np.eye(8), copy(0), uncertainty=uncertainty, confidence="0.95")
    )
    assert found.norm == pytest.approx(math.sqrt(7) * math.log(700), rel=1e-9)
    assert found.gap < 1e-9
    assert "probability at least 0.95" in found.words


@pytest.mark.parametrize(("variance", "length"), [(0.03, 13.97), (0.05, 22.26)])
def test_independent_keys_are_guarded_against_in_pairs(
    variance: float, length: float
) -> None:
    found = _checked(
        design(
            np.eye(8),
            copy(0),
            uncertainty=everywhere(Noise(spread=Isotropic(variance))),
        )
    )
    assert found.word == "designed"
    assert found.norm == pytest.approx(length, abs=0.01)
    assert (
        found.norm_lower_bound < found.norm
    )  # about any query: a guard in pairs is not the only way


def test_two_random_keys_are_guarded_exactly() -> None:
    found = _checked(
        design(
            np.eye(2), copy(0), uncertainty=everywhere(Noise(spread=Isotropic(0.25)))
        )
    )
    assert found.word == "designed"
    assert found.gap < 1e-9
    assert found.probability is not None
    assert not found.probability.conservative


def test_average_of_random_keys_is_impossible_for_any_query() -> None:
    # A score deviates by more than 0.07, and both weights allow a difference of 0.01: each target has a half space.
    found = _checked(
        design(
            np.eye(8),
            average([0, 1]),
            uncertainty=everywhere(Noise(spread=Isotropic(1e-4))),
        )
    )
    assert found.word == "impossible"
    assert found.best_eps is not None
    low, high = found.best_eps
    assert 0.01 < low < high


def test_confidence_of_one_half_names_its_probability() -> None:
    uncertainty = Uncertainty({0: Noise(spread=Isotropic(1.0))})
    found = _checked(
        design(np.eye(3), copy(0), uncertainty=uncertainty, confidence="1/2")
    )
    assert found.word == "designed"
    assert "probability at least 0.5" in found.words


SWALLOWING = {
    "scales through 0": Noise(scale=Between(0.0, 1.5)),
    "scales of both signs": Noise(scale=Between(-0.5, 1.5)),
    "balls": Noise(spread=Ball(0.8)),
    "ellipsoids": Noise(spread=Ellipsoid(np.diag([1.0, 2.0, 1.5, 1.0]))),
    "Gaussian": Noise(spread=Isotropic(4.0)),
    "covariance": Noise(spread=Covariance(np.diag([4.0, 9.0, 4.0, 5.0]))),
    "Gaussian scale": Noise(scale=Normal(0.0, 4.0)),
}


@pytest.mark.parametrize("targets", [copy(0), average([0, 1])], ids=["copy", "average"])
@pytest.mark.parametrize("name", SWALLOWING)
def test_keys_that_may_be_anywhere_are_impossible_to_tell_apart(
    name: str, targets: Targets
) -> None:
    found = _checked(
        design(np.eye(4), targets, uncertainty=everywhere(SWALLOWING[name]))
    )
    assert found.word == "impossible"


def test_rank_one_ellipsoids_are_designed_with_their_bound() -> None:
    rng = np.random.default_rng(5)
    for _ in range(12):
        keys = rng.normal(size=(6, 5))
        uncertainty = Uncertainty(
            {0: Noise(spread=Ellipsoid(0.5 * rng.normal(size=(5, 1))))}
        )
        found = _checked(design(keys, copy(0), uncertainty=uncertainty))
        assert found.word in ("designed", "impossible")
        assert found.word == "impossible" or found.gap < 1e-8


def test_two_scenarios_are_decided_whatever_their_multipliers() -> None:
    rng = np.random.default_rng(7)
    for _ in range(15):
        keys = rng.normal(size=(5, 2))
        uncertainty = Uncertainty(
            scenarios=(keys, keys + 0.5 * rng.normal(size=keys.shape))
        )
        assert _checked(design(keys, copy(0), uncertainty=uncertainty)).word in (
            "designed",
            "impossible",
        )


def test_target_that_is_nearly_in_the_middle_needs_a_query_of_no_use() -> None:
    keys = np.array(
        [[0.1, 0.3], [0.2, 0.7], [0.15, 0.5], [0.7, -0.4]]
    )  # 0.15 is not half way between the floats
    found = _checked(design(keys, copy(2)))
    assert found.word == "longer"
    assert found.norm_lower_bound > 1e10
    assert "not shorter than" in found.words


@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize(
    ("keys", "target"),
    [
        ([[0.1, 0.3], [0.2, 0.7], [0.15, 0.5], [0.7, -0.4]], 2),
        ([[1e-15, 0.0], [0.0, 1.0], [0.0, -1.0]], 0),
    ],
)
def test_several_heads_are_told_as_much_as_one(
    keys: list[list[float]], target: int, heads: int
) -> None:
    found = _checked(design(np.array(keys), copy(target), heads=heads))
    assert found.word == "longer"
    assert found.norm_lower_bound > 1e10
    assert "shorter than" in found.words


def test_what_can_be_met_instead_is_known_from_both_sides_in_uncertainties() -> None:
    found = _checked(
        design(
            np.eye(6),
            average([0, 1], eps=1),
            uncertainty=everywhere(Noise(spread=Ball(0.1))),
        )
    )
    assert found.best_eps is not None
    low, high = found.best_eps
    assert 1 < low < high < low + 1e-3
    above = design(
        np.eye(6),
        average([0, 1], eps=high),
        uncertainty=everywhere(Noise(spread=Ball(0.1))),
    )
    assert above.word == "designed"


def test_two_heads_share_and_help_each_other() -> None:
    found = _checked(design(np.eye(8), average([0, 1]), heads=2))
    assert found.norm < 6.563  # each head alone for its target: 6.78
    assert found.norm_lower_bound == pytest.approx(5.9224, abs=1e-3)


def test_no_heads_can_tell_twins_apart() -> None:
    keys = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert _checked(design(keys, copy(0, eps=0.1), heads=3)).word == "impossible"


def test_heads_may_share_uncertainties_that_one_head_cannot_have() -> None:
    one, other = np.array([[1.0], [0.0], [0.0]]), np.array([[-1.0], [0.0], [0.0]])
    uncertainty = Uncertainty(scenarios=(one, other))
    assert (
        _checked(design(one, copy(0, eps=1.5), uncertainty=uncertainty)).word
        == "impossible"
    )
    assert (
        _checked(design(one, copy(0, eps=1.5), uncertainty=uncertainty, heads=2)).word
        != "impossible"
    )


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (None, ("exact", "float")),
        ("both", ("exact", "float")),
        ("exact", ("exact",)),
        ("float", ("float",)),
    ],
)
def test_a_design_is_closed_by_the_checkers_that_are_asked_for(
    choice: str | None, names: tuple[str, ...]
) -> None:
    found = design(np.eye(5), copy(0), checker=choice)
    assert (found.word, found.checkers) == ("designed", names)
    hopeless = design(np.zeros((2, 1)), copy(0), checker=choice)
    assert (hopeless.word, hopeless.checkers) == ("impossible", names)
    assert found.certificate is not None
    assert floating.verify(found.certificate).word == "verified"


def test_progress_grows_from_nothing_to_all() -> None:
    told: list[float] = []
    design(np.eye(30), copy(0), progress=told.append)
    assert told == sorted(set(told))
    assert told[-1] == 1.0


noises = st.one_of(
    st.builds(
        Noise,
        scale=st.sampled_from(
            [Between(0.0, 1.0), Between(0.5, 1.5), OneOf((1.0, 2.0)), Between(-1, 1)]
        ),
    ),
    st.builds(
        Noise,
        spread=st.sampled_from(
            [Ball(0.1), Ball(1.0), Ellipsoid(np.array([[0.3], [0.1]]))]
        ),
    ),
    st.builds(
        Noise,
        spread=st.sampled_from(
            [Isotropic(0.01), Isotropic(1.0), Covariance(np.diag([0.04, 0.0]))]
        ),
    ),
    st.builds(Noise, scale=st.sampled_from([Normal(1.0, 0.01), Normal(1.0, 1.0)])),
    st.just(Noise(scale=Between(0.9, 1.1), spread=Isotropic(0.01))),
)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=5),
    st.dictionaries(st.integers(0, 1), noises, max_size=2),
    noises,
    st.booleans(),
    st.sampled_from([1e-30, 1.0, 1e30]),
    st.sampled_from([1, 1, 1, 2]),
)
@settings(max_examples=tried(25), deadline=None)
def test_no_uncertainty_makes_design_crash_or_lie(
    rows: list[tuple[int, int]],
    named: dict[int, Noise],
    others: Noise,
    both: bool,
    size: float,
    heads: int,
) -> None:
    keys, targets = (
        np.array(rows, dtype=float) * size,
        average([0, 1] if both else [0], eps=0.5),
    )
    if both and len(rows) == 2:
        targets = copy(0, eps=0.5)
    found = _checked(
        design(
            keys, targets, uncertainty=Uncertainty(named, others=others), heads=heads
        )
    )
    if found.word == "designed" and found.question.random:
        assert found.probability is not None
        assert found.probability.interval[1] >= 0.95
    if found.word == "designed" and heads == 1 and not found.question.random:
        low = {i: noise.scale for i, noise in named.items()}
        nominal = keys.copy()
        for i in range(
            len(keys)
        ):  # one admissible realization: every scale at its low end
            scale = low.get(i, others.scale) if i in named else others.scale
            end = (
                scale.low
                if isinstance(scale, Between)
                else min(scale.values)
                if isinstance(scale, OneOf)
                else 1.0
            )
            nominal[i] *= end
        alpha = headwright.attend(nominal, found.queries).pattern[0]
        for a, p in targets.least.items():
            assert alpha[a] >= float(p) - 1e-9


@pytest.mark.parametrize(
    "uncertainty",
    [
        Uncertainty(),
        Uncertainty({0: Noise(scale=Between(0.5, 1.0))}),
        Uncertainty(scenarios=(np.eye(3),)),
    ],
)
def test_a_confidence_is_refused_where_nothing_is_random(
    uncertainty: Uncertainty,
) -> None:
    assert (
        "probability" not in design(np.eye(3), copy(0), uncertainty=uncertainty).words
    )
    with pytest.raises(
        InputError, match=r"confidence is 0.5, and every key is certain"
    ):
        design(np.eye(3), copy(0), uncertainty=uncertainty, confidence=Fraction(1, 2))


@pytest.mark.parametrize("least", [0.1, 0.45])
def test_nothing_is_claimed_of_a_list_of_scales_that_is_true_of_its_range_only(
    least: float,
) -> None:
    """Two heads may share out the listed scales, one for each, and fail in between: short queries do that here."""
    keys = (
        np.array([[1.0, 0.0]] + [[0.0, -1.0]] * 66)
        if least == 0.1
        else np.array([[0.1, 0.0], [-0.5, 0.0], [0.25, 0.5], [0.25, -0.5]])
    )
    uncertainty = Uncertainty({0: Noise(scale=OneOf((-30.0, 30.0)))})
    found = _checked(
        design(keys, at_least({0: least}), uncertainty=uncertainty, heads=2)
    )
    assert found.word in ("designed", "undecided")
    assert found.norm_lower_bound == 0
    ranged = design(
        keys,
        at_least({0: least}),
        uncertainty=Uncertainty({0: Noise(scale=Between(-30.0, 30.0))}),
        heads=2,
    )
    assert ranged.word == "impossible" or ranged.norm_lower_bound > 1


def test_a_key_without_mass_has_no_scale_to_be_told() -> None:
    uncertainty = Uncertainty(
        {0: Noise(scale=Between(0.0, 1.0))}, others=Noise(spread=Ball(0.1))
    )
    for rows in ([(0, 1), (1, 0)], [(1, 1), (1, 0)], [(0, 1), (2, 0)]):
        _checked(
            design(
                np.array(rows, dtype=float) * 1e-30,
                copy(0, eps=0.5),
                uncertainty=uncertainty,
            )
        )


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize(
    "noise",
    [
        Noise(),
        Noise(spread=Ball(3.0)),
        Noise(scale=Between(-1.0, 2.0)),
        Noise(spread=Isotropic(1.0)),
    ],
)
def test_one_key_alone_gets_everything_wherever_it_is(noise: Noise, heads: int) -> None:
    for targets in (at_least({0: 1}), copy(0)):
        found = design(
            np.array([[2.0, 1.0]]),
            targets,
            uncertainty=Uncertainty(others=noise),
            heads=heads,
        )
        assert (found.word, found.norm) == ("designed", 0.0)
        assert (
            found.certificate is not None
            and verify(found.certificate).word == "verified"
        )


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize(
    "noise", [Noise(), Noise(spread=Ball(3.0)), Noise(scale=Between(-1.0, 2.0))]
)
def test_what_even_attention_meets_exactly_needs_no_query(
    noise: Noise, heads: int
) -> None:
    keys = np.array([[1.0, 0.0], [2.0, 5.0], [0.3, 0.1]])
    for targets in (
        at_least({0: Fraction(1, 3)}),
        at_least({0: "0.3", 2: Fraction(1, 3)}),
    ):
        found = _checked(
            design(keys, targets, uncertainty=Uncertainty(others=noise), heads=heads)
        )
        assert (found.word, found.norm) == ("designed", 0.0)
        assert math.copysign(1.0, found.norm_lower_bound) == 1.0
    more = design(keys, at_least({0: Fraction(1, 3) + Fraction(1, 10**9)}), heads=heads)
    assert more.word == "designed" and more.norm > 0


def test_what_is_undecided_is_not_told_in_the_words_of_a_verdict() -> None:
    twins = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = design(
        twins, at_least({0: Fraction(1, 2)})
    )  # queries come as near as one likes, and none reaches it
    assert found.word == "undecided"
    assert (
        "in floating point there seems to be none" in found.words
        and "impossible" not in found.words
    )
