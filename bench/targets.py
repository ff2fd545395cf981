"""Is every plausible target decided, and rightly? Many kinds are drawn; Clarabel is the referee where keys lie in sets.

A target is decided if the verdict is not 'undecided'. It is decided wrongly if the referee, a general solver,
disagrees: it finds a query where design says 'impossible', or none where design says 'designed', or a shorter one; for
random keys, if a design holds less often in a sample than was proven. Every verdict is verified by both checkers.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.measure import Contender
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

TITLE = "Targets of every kind: how many are decided, and how many of these wrongly"
COUNT = 60
FARTHEST = 1e4  # the referee looks no farther: scores of this size


@dataclass(frozen=True)
class Drawn:
    keys: np.ndarray
    targets: Targets
    uncertainty: Uncertainty = field(default_factory=Uncertainty)
    more: dict[str, Any] = field(default_factory=dict)


def _keys(rng: np.random.Generator) -> np.ndarray:
    d = int(rng.integers(2, 7))
    n = int(rng.integers(2, 3 * d))
    if rng.random() < 0.3:
        return np.eye(max(n, 2))
    return rng.normal(size=(n, d)) + (rng.random() < 0.3) * 3.0


def _targets(rng: np.random.Generator, n: int, alone: float = 0.5) -> Targets:
    eps = float(rng.choice([0.001, 0.01, 0.1, 0.5, 1.0]))
    m = 1 if n < 3 or rng.random() < alone else int(rng.integers(2, min(n, 4)))
    return average(rng.choice(n, m, replace=False).tolist(), eps)


def _plain(
    make: Callable[[np.random.Generator, np.ndarray], np.ndarray],
) -> Callable[[np.random.Generator], Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        keys = make(rng, _keys(rng))
        return Drawn(keys, _targets(rng, len(keys)))

    return draw


def _noisy(
    make: Callable[[np.random.Generator, int], Noise], **targets: float
) -> Callable[[np.random.Generator], Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        keys = _keys(rng)
        n, d = keys.shape
        if rng.random() < 0.5:
            uncertainty = Uncertainty(others=make(rng, d))
        else:
            some = rng.choice(n, int(rng.integers(1, n + 1)), replace=False).tolist()
            uncertainty = Uncertainty({i: make(rng, d) for i in some})
        return Drawn(keys, _targets(rng, n, **targets), uncertainty)

    return draw


def _size(rng: np.random.Generator) -> float:
    return float(10 ** rng.uniform(-3, 0))


def _copies(rng: np.random.Generator) -> Drawn:
    keys = _keys(rng)
    return Drawn(
        keys, copy(int(rng.integers(len(keys))), float(10 ** rng.uniform(-12, 0)))
    )


def _averages(rng: np.random.Generator) -> Drawn:
    keys = _keys(rng)
    m = min(len(keys) - 1, int(rng.integers(2, 4))) or 1
    return Drawn(keys, average(range(m), f"1e-{rng.integers(1, 8)}"))


def _mixtures(rng: np.random.Generator) -> Drawn:
    keys = _keys(rng)
    shares = rng.dirichlet(np.ones(len(keys)))[: max(1, len(keys) - 1)] * rng.uniform(
        0.5, 0.999
    )
    return Drawn(
        keys,
        at_least(
            {i: f"{x:.6f}" for i, x in enumerate(shares[:4]) if x > 1e-4} or {0: "0.5"}
        ),
    )


def _integers(rng: np.random.Generator, keys: np.ndarray) -> np.ndarray:
    return rng.integers(-2, 3, size=keys.shape).astype(float)


def _near(rng: np.random.Generator, keys: np.ndarray) -> np.ndarray:
    keys[-1] = keys[0] + 10.0 ** -rng.integers(1, 9) * rng.normal(size=keys.shape[1])
    return keys


def _middle(rng: np.random.Generator) -> Drawn:
    keys = _keys(rng)
    others = rng.choice(len(keys), 2, replace=False)
    return Drawn(
        np.vstack([keys[others].mean(axis=0), keys + (rng.random() < 0.5) * 0.1]),
        copy(0, 0.1),
    )


def _sizes(rng: np.random.Generator, keys: np.ndarray) -> np.ndarray:
    return keys * 10.0 ** rng.integers(-200, 200)


def _scenarios(rng: np.random.Generator) -> Drawn:
    keys = _keys(rng)
    more = tuple(
        keys + _size(rng) * rng.normal(size=keys.shape)
        for _ in range(int(rng.integers(1, 3)))
    )
    return Drawn(keys, _targets(rng, len(keys)), Uncertainty(scenarios=(keys, *more)))


def _between(rng: np.random.Generator, _: int) -> Noise:
    low = float(rng.choice([-0.5, 0.0, 0.3, 0.8]))
    return Noise(scale=Between(low, low + float(rng.choice([0.2, 0.5, 1.5]))))


def _one_of(rng: np.random.Generator, _: int) -> Noise:
    return Noise(scale=OneOf(tuple(rng.choice([0.0, 0.5, 1.0, 1.5, 2.0], 2).tolist())))


def _ellipsoid(rank: int | None) -> Callable[[np.random.Generator, int], Noise]:
    def draw(rng: np.random.Generator, d: int) -> Noise:
        return Noise(spread=Ellipsoid(_size(rng) * rng.normal(size=(d, rank or d))))

    return draw


def _covariance(rng: np.random.Generator, d: int) -> Noise:
    E = _size(rng) * rng.normal(size=(d, int(rng.integers(1, d + 1))))
    C = E @ E.T
    return Noise(spread=Covariance((C + C.T) / 2))


def _heads(rng: np.random.Generator) -> Drawn:
    keys = _keys(rng)
    uncertainty = (
        Uncertainty()
        if rng.random() < 0.5
        else Uncertainty({0: Noise(scale=Between(0.5, 1.5))})
    )
    return Drawn(
        keys,
        _targets(rng, len(keys), 0.2),
        uncertainty,
        {"heads": int(rng.integers(2, 4))},
    )


KINDS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "copies, eps down to 1e-12": _copies,
    "averages, eps down to 1e-7": _averages,
    "mixtures": _mixtures,
    "integer keys": _plain(_integers),
    "near-duplicates": _plain(_near),
    "midpoints": _middle,
    "keys of 1e-200 to 1e200": _plain(_sizes),
    "scenarios": _scenarios,
    "balls": _noisy(lambda rng, _: Noise(spread=Ball(_size(rng)))),
    "scales between": _noisy(_between),
    "scales one of": _noisy(_one_of),
    "ellipsoids": _noisy(_ellipsoid(None)),
    "rank-one ellipsoids": _noisy(_ellipsoid(1)),
    "Gaussian scales": _noisy(lambda rng, _: Noise(scale=Normal(1.0, _size(rng)))),
    "isotropic, copy": _noisy(
        lambda rng, _: Noise(spread=Isotropic(_size(rng) ** 2)), alone=1.0
    ),
    "isotropic, average": _noisy(
        lambda rng, _: Noise(spread=Isotropic(_size(rng) ** 2)), alone=0.0
    ),
    "covariances, copy": _noisy(_covariance, alone=1.0),
    "covariances, average": _noisy(_covariance, alone=0.0),
    "several heads": _heads,
}
CONTENDERS = [Contender(kind, "decide", {"kind": kind}, repeats=1) for kind in KINDS]


def decide(
    kind: str, count: int = COUNT, seed: int = 0, tell: bool = False
) -> Callable[[], str]:
    def work() -> str:
        said: Counter[str] = Counter()
        for number in range(count):
            drawn = KINDS[kind](np.random.default_rng([seed, number, *kind.encode()]))
            found = design(
                drawn.keys, drawn.targets, uncertainty=drawn.uncertainty, **drawn.more
            )
            said[found.word] += 1
            wrong = _wrong(drawn, found)
            said["wrong"] += bool(wrong)
            if tell and (wrong or found.word == "undecided"):
                print(
                    f"  {kind} {number}: {found.word} {wrong} {found.words[-150:]}",
                    file=sys.stderr,
                )
        words = ("designed", "impossible", "longer", "undecided", "wrong")
        return ", ".join(
            f"{said[word]} {word}"
            for word in words
            if said[word] or word in ("undecided", "wrong")
        )

    return work


def _wrong(drawn: Drawn, found: Design) -> str:
    """What the referee says against the verdict; nothing where it cannot tell."""
    if found.question.random:
        wrong = (
            found.probability is not None
            and found.probability.interval[1] < 0.95 - 0.005
        )
        return f"holds with probability {found.probability}" if wrong else ""
    if (
        found.question.heads > 1
        or found.word == "undecided"
        or not 1e-2 < np.abs(drawn.keys).max() < 1e2
    ):
        return ""
    miss, length = referee(found)
    near = found.norm * float(np.abs(drawn.keys).max()) < FARTHEST / 10
    if found.word == "designed" and near and miss > 1e-4:
        return f"designed, and the referee misses it by {miss:.2g}"
    if found.word == "impossible" and miss < -1e-4:
        return f"{found.word}, and the referee meets it with {-miss:.2g} to spare"
    if (
        found.word == "designed"
        and length is not None
        and found.norm > length * (1 + 1e-3) + 1e-4
    ):
        return f"length {found.norm}, and the referee has {length}"
    return ""


def referee(found: Design) -> tuple[float, float | None]:
    """By how much ln(sum / slack) is missed at least, and the shortest query's length, by Clarabel; inf if it fails."""
    import cvxpy as cp

    question = found.question
    q, t = cp.Variable(question.keys[0].shape[1]), cp.Variable()
    misses = []
    for keys in question.keys:
        m = float(question.scale) * (keys @ q)
        up, low = [m[i] for i in range(question.n)], [m[i] for i in range(question.n)]
        for entry in question.entries:
            a, b = entry.scale
            reach = entry.ball * cp.norm(q) + (
                cp.norm(entry.factor.T @ q) if entry.width else 0
            )
            for i in entry.keys.tolist():
                up[i], low[i] = (
                    cp.maximum(a * m[i], b * m[i]) + reach,
                    cp.minimum(a * m[i], b * m[i]) - reach,
                )
        for target, p in question.targets.least.items():
            rivals = [up[i] - low[target] for i in range(question.n) if i != target]
            if rivals:
                misses.append(
                    cp.log_sum_exp(cp.hstack(rivals)) - float(np.log(float(1 / p - 1)))
                )
    if not misses:
        return -np.inf, 0.0
    size = FARTHEST / max(float(np.abs(keys).max()) for keys in question.keys)
    try:
        nearest = cp.Problem(
            cp.Minimize(t),
            [miss <= t for miss in misses] + [cp.norm(q) <= size, t >= -1],
        )
        nearest.solve(solver=cp.CLARABEL)
        missed = float(t.value) if nearest.status == "optimal" else np.nan
        if not missed < -1e-6:
            return missed, None
        shortest = cp.Problem(cp.Minimize(cp.norm(q)), [miss <= 0 for miss in misses])
        shortest.solve(solver=cp.CLARABEL)
        return missed, float(shortest.value) if shortest.status == "optimal" else None
    except cp.error.SolverError:
        return np.nan, None


if __name__ == "__main__":
    names, numbers = (
        [a for a in sys.argv[1:] if not a.isdigit()],
        [int(a) for a in sys.argv[1:] if a.isdigit()],
    )
    count, seed = (*numbers, COUNT, 0)[:2] if len(numbers) != 1 else (numbers[0], 0)
    for name in KINDS:
        if not names or any(part in name for part in names):
            print(f"{name:30s} {decide(name, count, seed, tell=True)()}", flush=True)
