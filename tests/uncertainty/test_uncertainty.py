"""Uncertainty as data and as TOML: what they say, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright import InputError
from headwright.simulation import clopper_pearson, mean_interval, simulate
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
    parse_uncertainty,
    read_uncertainty,
)


def test_every_part_of_the_language_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "S.npy", np.eye(3))
    np.save(tmp_path / "E.npy", np.eye(3)[:, :2])
    path = tmp_path / "uncertainty.toml"
    path.write_text(
        """
        [[noise]]
        key = 0
        scale = { normal = [1.0, 0.5] }
        isotropic = 1e-6
        [[noise]]
        key = [1, 2]
        scale = { between = [0.5, 1] }
        covariance = "S.npy"
        [[noise]]
        key = 3
        scale = { one_of = [0.5, 1.5, 2] }
        ellipsoid = "E.npy"
        [[noise]]
        key = "*"
        ball = 0.25
        """
    )
    uncertainty = read_uncertainty(path)
    assert uncertainty.of(0) == Noise(Normal(1.0, 0.5), Isotropic(1e-6))
    assert uncertainty.of(1).scale == uncertainty.of(2).scale == Between(0.5, 1.0)
    assert isinstance(uncertainty.of(2).spread, Covariance)
    assert uncertainty.of(3).scale == OneOf((0.5, 1.5, 2.0))
    assert isinstance(uncertainty.of(3).spread, Ellipsoid)
    assert uncertainty.of(99) == Noise(spread=Ball(0.25))
    assert uncertainty.sampled_sets == ["ball", "between", "ellipsoid"]
    uncertainty.check_fits(np.zeros((4, 3)))


def test_scenarios_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 3)))
    np.save(tmp_path / "b.npy", np.ones((2, 3)))
    uncertainty = parse_uncertainty('scenarios = ["a.npy", "b.npy"]', tmp_path)
    assert len(uncertainty.scenarios) == 2
    assert not uncertainty.fixed


def test_an_empty_file_is_a_uncertainty_without_noise() -> None:
    assert parse_uncertainty("").fixed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[noise", "is not TOML"),
        ("[[noise]]", "noise 0 key is missing"),
        (
            '[[noise]]\nkey = "a"',
            r"noise 0 key is 'a': expected an integer, or a list, or '\*'",
        ),
        ("[[noise]]\nkey = 1.5", "noise 0 key is 1.5: expected an integer"),
        ("[[noise]]\nkey = true", "is True: expected an integer"),
        ("[[noise]]\nkey = []", "noise entry 0 names no key"),
        ("[[noise]]\nkey = -1", "^noise 0 key is -1: expected a number of at least 0"),
        (
            "[[noise]]\nkey = 0\ncolour = 3",
            "noise 0 colour: there is no such field; expected one of key, scale",
        ),
        ("[[noise]]\nkey = 0\n[[noise]]\nkey = 0", "twice for key 0"),
        ('[[noise]]\nkey = "*"\n[[noise]]\nkey = "*"', r'twice for "\*"'),
        ("[[noise]]\nkey = 0\nscale = {}", "has 0 laws"),
        (
            "[[noise]]\nkey = 0\nscale = { between = [0, 1], normal = [0, 1] }",
            "has 2 laws",
        ),
        (
            "[[noise]]\nkey = 0\nscale = { normal = [1.0] }",
            "expected mean and variance, 2 numbers",
        ),
        (
            "[[noise]]\nkey = 0\nscale = { normal = [1.0, -1.0] }",
            "variance of 0 or more",
        ),
        ("[[noise]]\nkey = 0\nscale = { normal = [nan, 1.0] }", "expected finite"),
        ("[[noise]]\nkey = 0\nscale = { between = [2, 1] }", "two numbers in order"),
        ("[[noise]]\nkey = 0\nscale = { one_of = [] }", "at least one finite number"),
        ("[[noise]]\nkey = 0\nscale = { one_of = [inf] }", "finite"),
        ("[[noise]]\nkey = 0\nisotropic = -1e-6", "variance of 0 or more"),
        ('[[noise]]\nkey = 0\nisotropic = "x"', "is 'x': expected a number"),
        ("[[noise]]\nkey = 0\nball = nan", "radius of 0 or more"),
        (
            "[[noise]]\nkey = 0\nball = 1\nisotropic = 1",
            "noise entry 0: there are 2 spreads",
        ),
        (
            '[[noise]]\nkey = 0\ncovariance = "missing.npy"',
            "covariance .*missing.npy: there is no such file",
        ),
        ('scenarios = ["missing.npy"]', "scenario .*there is no such file"),
    ],
)
def test_malformed_uncertainties_are_refused_in_words(
    text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        parse_uncertainty(text, tmp_path)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Covariance(np.array([[1.0, 2.0], [0.0, 1.0]])), "symmetric"),
        (lambda: Covariance(-np.eye(2)), "eigenvalue of -1"),
        (lambda: Covariance(np.ones((2, 3))), r"\(2, 3\)"),
        (lambda: Ellipsoid(np.array([1.0])), "expected 2 axes"),
        (
            lambda: Uncertainty({0: Noise(spread=Ball(1))}, scenarios=(np.eye(2),)),
            "not both",
        ),
        (lambda: Uncertainty(scenarios=(np.eye(2), np.eye(3))), "all the same"),
        (
            lambda: Uncertainty({5: Noise()}).check_fits(np.eye(2)),
            "names key 5, and there are 2 keys",
        ),
        (
            lambda: Uncertainty(scenarios=(np.eye(2),)).check_fits(np.eye(3)),
            r"shape \(2, 2\)",
        ),
        (
            lambda: Uncertainty(others=Noise(spread=Covariance(np.eye(2)))).check_fits(
                np.eye(3)
            ),
            "2 rows, .* 3 numbers",
        ),
        (lambda: read_uncertainty("missing.toml"), "no such file"),
        (lambda: clopper_pearson(5, 4), "5 successes in 4"),
        (lambda: clopper_pearson(0, 0), "0 samples"),
        (lambda: mean_interval(0, 1, 10, 1.0), "confidence 1.0"),
        (lambda: simulate(np.eye(2), np.eye(2), Uncertainty(), []), "no targets"),
        (
            lambda: simulate(np.eye(2), np.eye(2), Uncertainty(), [2]),
            "target 2, and there are 2 keys",
        ),
        (
            lambda: simulate(np.eye(2), np.eye(2), Uncertainty(), [0, 0]),
            "each key once",
        ),
        (
            lambda: simulate(np.eye(2), np.eye(2), Uncertainty(), [0], tolerance=-0.1),
            "tolerance -0.1",
        ),
        (
            lambda: simulate(np.eye(2), np.eye(2), Uncertainty(), [0], samples=0),
            "0 samples",
        ),
        (
            lambda: simulate(np.eye(2), np.eye(2), Uncertainty(), [0], samples=10**12),
            "at most",
        ),
    ],
)
def test_inadmissible_uncertainties_and_questions_are_refused(
    make: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_clopper_pearson_covers_at_least_as_often_as_it_says() -> None:
    from scipy.stats import binom

    for p in (0.02, 0.3, 0.5, 0.97):
        covered = [
            low <= p <= high
            for low, high in (clopper_pearson(k, 40, 0.9) for k in range(41))
        ]
        assert binom.pmf(np.arange(41), 40, p)[covered].sum() >= 0.9
