"""The fast checker accepts nothing that the trusted one does not, and all that is ordinary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from headwright.design.certify import designed
from headwright.design.wish import average, copy
from headwright.fast import verify
from headwright.noise.world import (
    Ball,
    Between,
    Covariance,
    Ellipsoid,
    Isotropic,
    Noise,
    Normal,
    World,
)
from headwright.trusted.verify import verify as slowly
from tests.fast.making import make, npy, question

ORDINARY = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))


def both(certificate: str, files: list[bytes] = []) -> str:  # noqa: B006
    """The common verdict."""
    fast, slow = verify(certificate, files), slowly(certificate, files)
    assert fast.word == slow.word, (fast, slow)
    if fast.word == "verified":
        assert fast.words == slow.words
    return fast.word


def gaussian(seed: int, n: int = 6, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


NOISES = {
    "scale": Noise(scale=Between(0.9, 1.1)),
    "ball": Noise(spread=Ball(0.05)),
    "both": Noise(scale=Between(0.95, 1.0), spread=Ball(0.02)),
    "ellipsoid": Noise(spread=Ellipsoid(np.array([[0.1, 0.0, 0.0], [0.05, 0.02, 0.0], [0.0, 0.0, 0.03]]))),
    "normal scale": Noise(scale=Normal(1.0, 0.001)),
    "isotropic": Noise(spread=Isotropic(1e-4)),
    "covariance": Noise(spread=Covariance(np.diag([1e-3, 1e-4, 0.0]))),
}
WORLDS = {name: World(others=noise) for name, noise in NOISES.items()} | {
    "none": World(),
    "some": World({0: NOISES["scale"], 3: NOISES["ball"], 4: NOISES["ellipsoid"]}),
    "mixed": World({0: NOISES["isotropic"], 2: NOISES["normal scale"]}, others=NOISES["both"]),
}


WISHES = {"copy": copy(0), "average": average([0, 1], 3), "tiny": copy(2, "1e-12")}


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(-3, 7)])
def test_ordinary_certificates_are_accepted_and_false_ones_are_not(world: str, wish: str, scale: Fraction) -> None:
    keys = np.vstack([2 * np.eye(3), 0.4 * gaussian(1, 5, 3) - 0.5])
    made = make(question(keys, wish=WISHES[wish], world=WORLDS[world], scale=scale))
    assert made is not None
    assert made.bound > 0.999 * np.linalg.norm(made.solution.query)
    room = 1e-9 if world in ("none", "ball", "isotropic", "ellipsoid", "covariance") else 1e-7  # worst cases with kinks
    assert both(made.certificate(room, -room)) == "verified"
    assert both(made.certificate(-1e-6, -room)) == "rejected"
    assert both(made.certificate(room, 1e-6)) == "rejected"


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 4), st.data())
@ORDINARY
def test_whatever_is_accepted_is_accepted_by_the_trusted_checker(
    seed: int, n: int, d: int, data: st.DataObject
) -> None:
    keys = gaussian(seed, n, d)
    if data.draw(st.booleans()):
        keys = np.round(2 * keys) / 2 + 0.0  # ties and duplicates
    keys = keys * 10.0 ** data.draw(st.sampled_from([0, 0, -5, 8, -150, 140]))
    keys[:, 0] += data.draw(st.sampled_from([0.0, 0.0, 1e6])) * np.abs(keys).max()
    m = data.draw(st.integers(1, min(n, 3)))
    wish = average(range(m), data.draw(st.sampled_from(["0.01", "0.3", "1e-30"])))
    made = make(question(keys, wish=wish, scale=data.draw(st.sampled_from([Fraction(1), Fraction(1, 3)]))))
    assume(made is not None)
    assert made is not None
    stretch, raised = (data.draw(st.sampled_from([1e-9, 1e-13, 1e-15, 0.0, -1e-15, -1e-13, -1e-6])) for _ in "12")
    certificate = made.certificate(stretch, -raised)
    if verify(certificate).word == "verified":
        assert slowly(certificate).word == "verified"
    elif stretch == raised == 1e-9:
        assert slowly(certificate).word == "rejected"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_keys_in_files(dtype: type[np.floating]) -> None:
    import hashlib
    import json

    keys = gaussian(3, 200, 8)
    keys[0] *= 2
    keys = keys.astype(dtype)
    made = make(question(keys.astype(np.float64), wish=copy(0)))
    assert made is not None
    document = json.loads(made.certificate())
    digest = hashlib.sha256(keys.tobytes()).hexdigest()
    document["statement"]["keys"][0] |= {"dtype": keys.dtype.name, "sha256": digest, "rows": None}
    text, right, other = json.dumps(document), npy(keys), npy(keys[::-1].copy())
    assert both(text, [right]) == "verified"
    assert both(text, [other, right]) == "verified"
    for wrong in ([], [other], [npy(keys[:-1])], [npy(np.asfortranarray(keys))], [right[:-1]], [b"no numbers"]):
        assert both(text, wrong) == "rejected"
    keys[7, 3] = np.nan
    document["statement"]["keys"][0]["sha256"] = hashlib.sha256(keys.tobytes()).hexdigest()
    assert both(json.dumps(document), [npy(keys)]) == "rejected"


def test_scenarios() -> None:
    first = gaussian(5)
    first[0] += 1.0
    asked = question(first, first + 0.05 * gaussian(6), wish=average([0, 1], 1), world=World())
    made = make(asked)
    assert made is not None
    assert made.bound > 0.99 * np.linalg.norm(made.solution.query)
    assert both(made.certificate()) == "verified"
    assert both(made.certificate(stretch=-1e-6)) == "rejected"
    assert both(made.certificate(raised=1e-6)) == "rejected"


def test_several_heads() -> None:
    keys = np.eye(3)
    asked = question(keys, wish=average([0, 1], "1"))
    queries = 6.0 * keys[:2]
    one = np.array([[1.0, 0.0]])
    assert both(designed(asked, queries, queries[0] / 6, one, Fraction(0))) == "verified"
    assert both(designed(asked, -queries, queries[0] / 6, one, Fraction(0))) == "rejected"
    assert both(designed(asked, queries, queries[0] / 6, np.array([[0.5, 0.5]]), Fraction(1, 100))) == "rejected"


def test_the_deviations_must_cover_every_head() -> None:
    import json

    asked = question(np.eye(3), wish=copy(0, 1), world=World(others=Noise(spread=Isotropic(1e-6))))
    one = designed(asked, np.array([[9.0, 0, 0]]), np.zeros(3), np.ones((1, 1)), Fraction(0))
    assert verify(one).word == "verified"
    document = json.loads(one)
    document["evidence"]["queries"] *= 2
    assert verify(json.dumps(document)).word == "rejected"


@pytest.mark.parametrize("distance", [1e-4, 1e-6, 1e-8])
def test_a_near_duplicate_of_the_target(distance: float) -> None:
    keys = np.abs(gaussian(7, 40, 8))
    keys[:, 7], keys[0, 0] = 0.3, 9.0
    keys[1] = keys[0] - distance * np.eye(8)[7]
    turn = np.linalg.qr(gaussian(8, 8, 8))[0]  # so that large parts of every score cancel, and not exactly
    q = turn @ np.array([40.0, 0, 0, 0, 0, 0, 0, np.log(200) / distance])
    asked = question(keys @ turn.T, wish=copy(0))
    one = np.ones((1, 1))
    assert both(designed(asked, q[None], q, one, Fraction(0))) == "verified"
    assert both(designed(asked, q[None] * (np.log(99) / np.log(200)), q, one, Fraction(0))) == "rejected"


def test_a_single_key_and_all_keys_as_targets() -> None:
    asked = question(np.array([[2.0]]), wish=copy(0))
    assert both(designed(asked, np.zeros((1, 1)), np.zeros(1), np.ones((1, 1)), Fraction(0))) == "verified"
    asked = question(np.eye(3), wish=average([0, 1, 2], "1e-3"))
    weights = np.ones((1, 3)) / 3
    assert both(designed(asked, np.zeros((1, 3)), np.zeros(3), weights, Fraction(0))) == "verified"
    assert both(designed(asked, np.zeros((1, 3)), np.zeros(3), weights, Fraction(1, 10**6))) == "rejected"
    assert both(designed(asked, np.ones((1, 3)) * [1, 0, 0], np.zeros(3), weights, Fraction(0))) == "rejected"


def test_an_even_share_is_had_from_no_query_at_all() -> None:
    for world in ("none", "both"):
        asked = question(gaussian(1, 4, 3), wish=copy(0, 3), world=WORLDS[world])
        assert both(designed(asked, np.zeros((1, 3)), np.zeros(3), np.ones((1, 1)), Fraction(0))) == "verified"
        asked = question(gaussian(1, 4, 3), wish=copy(0, "2.999999999999999999"), world=WORLDS[world])
        assert both(designed(asked, np.zeros((1, 3)), np.zeros(3), np.ones((1, 1)), Fraction(0))) == "rejected"


def test_numbers_beyond_doubles_are_left_to_the_trusted_checker() -> None:
    asked = question(np.array([[1.0], [0.0]]), wish=copy(0), scale=Fraction(1, 10**390))
    q = np.array([1e301])
    assert both(designed(asked, q[None], q, np.ones((1, 1)), Fraction(0))) == "rejected"
    asked = question(np.array([[1.0], [0.0]]), wish=copy(0), scale=Fraction(1, 10**280))
    q = np.array([1e281])
    assert both(designed(asked, q[None], q, np.ones((1, 1)), Fraction(0))) == "verified"
