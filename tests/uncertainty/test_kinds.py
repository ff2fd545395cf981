"""Every kind of scale and spread, whichever there are: what is drawn, proven and certified of it is one thing."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright.certificates.exact.values import read_fraction
from headwright.lab.views.uncertainties import Noisy, uncertainty_of
from headwright.query_design.statement import uncertainty_entries
from headwright.simulation import exact, simulate, why_not_exact
from headwright.simulation.sampling import ScoreLaw
from headwright.uncertainty import Noise, Uncertainty, parse_uncertainty
from headwright.uncertainty.scales import SCALES, Scale, read_scale
from headwright.uncertainty.spreads import SPREADS, Spread

ROOT = Path(__file__).parents[2]
KEYS, QUERY = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.75, -0.5]])
SAMPLES = 20_000


def _scale(name: str) -> Scale:
    return read_scale(name, [0.5, 1.5, 2.0][: SCALES[name].count])


def _spread(name: str) -> Spread:
    given: Any = (
        np.array([[1.0, 0.25], [0.25, 0.5]]) if SPREADS[name].from_file else 0.25
    )
    return SPREADS[name](given)


def _drawn(noise: Noise) -> np.ndarray:
    law = ScoreLaw.of(KEYS, QUERY, Uncertainty({0: noise}), SAMPLES, scale=1.0)
    return np.concatenate(list(law.draw(0, 0, SAMPLES)))[:, 0, 0]


@pytest.mark.parametrize("name", SCALES)
def test_a_scale_is_drawn_within_what_a_certificate_says_of_it(name: str) -> None:
    scale, drawn = _scale(name), _drawn(Noise(scale=_scale(name))) / QUERY[0, 0]
    entry = uncertainty_entries(Uncertainty({0: Noise(scale=scale)}), 2, 2)[0]
    low, high, stretch = (
        float(read_fraction(x)) for x in (*entry["scale"], entry["stretch"])
    )
    if scale.random:
        assert stretch == pytest.approx(drawn.std(), rel=0.05)
        assert (
            low == high == pytest.approx(drawn.mean(), abs=5 * stretch / SAMPLES**0.5)
        )
    else:
        assert stretch == 0
        assert low <= drawn.min()
        assert drawn.max() <= high
    assert entry["random"] == scale.random


@pytest.mark.parametrize("name", SPREADS)
def test_a_spread_is_drawn_within_what_a_certificate_says_of_it(name: str) -> None:
    spread, off = _spread(name), _drawn(Noise(spread=_spread(name))) - QUERY[0, 0]
    entry = uncertainty_entries(Uncertainty({0: Noise(spread=spread)}), 2, 2)[0]
    ball, columns = (
        float(read_fraction(entry["ball"])),
        [[float.fromhex(x) for x in c] for c in entry["factor"]],
    )
    most = np.sqrt(
        ball**2 * (QUERY**2).sum()
        + sum(float(QUERY[0] @ column) ** 2 for column in columns)
    )
    if spread.random:
        assert off.std() == pytest.approx(most, rel=0.05)
    else:
        assert np.abs(off).max() <= most * (1 + 1e-12)
        assert np.abs(off).max() >= most / 2
    assert entry["random"] == spread.random


@pytest.mark.parametrize("name", [*SCALES, *SPREADS])
def test_what_is_proven_of_a_kind_is_what_is_sampled_or_it_says_why_not(
    name: str,
) -> None:
    uncertainty = Uncertainty(
        {
            0: Noise(scale=_scale(name))
            if name in SCALES
            else Noise(spread=_spread(name))
        }
    )
    found = simulate(KEYS, QUERY, uncertainty, [0], samples=SAMPLES)
    if reason := why_not_exact(KEYS, QUERY, uncertainty):
        assert reason in (
            f"key 0 is uncertain in more than its length ({name})",
            f"the law of the length of key 0 is not known exactly ({name})",
        )
        return
    proven = exact(KEYS, QUERY, uncertainty, [0])
    slack = 5 * found.targets[0].deviation / SAMPLES**0.5 + 1e-12
    assert (
        proven.means[0].lower - slack
        <= found.targets[0].mean
        <= proven.means[0].upper + slack
    )


@pytest.mark.parametrize("name", SCALES)
def test_a_scale_reads_the_same_from_a_file_and_in_the_lab(name: str) -> None:
    numbers = [0.5, 1.5, 2.0][: SCALES[name].count]
    uncertainty = parse_uncertainty(
        f"[[noise]]\nkey = 0\nscale = {{ {name} = {numbers} }}"
    )
    assert (
        uncertainty
        == uncertainty_of([Noisy(key=0, scale={name: numbers})])
        == Uncertainty({0: Noise(scale=_scale(name))})
    )


@pytest.mark.parametrize("name", SPREADS)
def test_a_spread_reads_the_same_from_a_file_and_in_the_lab(
    name: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "M.npy", [[1.0, 0.25], [0.25, 0.5]])
    given = '"M.npy"' if SPREADS[name].from_file else 0.25
    uncertainty = parse_uncertainty(f'[[noise]]\nkey = "*"\n{name} = {given}', tmp_path)
    assert type(uncertainty.others.spread) is SPREADS[name]
    if not SPREADS[name].from_file:
        assert uncertainty == uncertainty_of([Noisy(key="*", **{name: given})])


@pytest.mark.parametrize("name", [*SCALES, *SPREADS])
def test_a_kind_is_public_documented_and_can_be_sent_to_a_worker(name: str) -> None:
    import headwright.uncertainty

    kind = {**SCALES, **SPREADS}[name]
    assert getattr(headwright.uncertainty, kind.__name__) is kind
    assert kind.__name__ in headwright.uncertainty.__all__
    page = (ROOT / "docs/guides/noise.md").read_text()
    assert f"`scale = {{ {name} = " in page or f"`{name} = " in page
    made = _scale(name) if name in SCALES else _spread(name)
    assert type(pickle.loads(pickle.dumps(made))) is kind
