"""What is accepted is true: nobody finds a shorter query, and queries meet the targets when they are tried."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from headwright.certificates.floating import verify
from tests.certificates.floating.making import FORMS, draw, hexed, tightened
from tests.certificates.floating.referee import Referee, number


class Problem:
    """The targets of a certificate in floats: worst cases of sets, and of chance within a guard of some deviations."""

    def __init__(self, made: dict[str, Any]) -> None:
        self.referee, self.said = Referee(made), made["statement"]
        self.keys = [
            np.array([[float.fromhex(x) for x in row] for row in name["rows"]])
            for name in self.said["keys"]
        ]
        self.n, self.d = self.keys[0].shape
        self.scale = float(number(self.said["scale"]))
        self.targets = {
            int(a): float(number(p)) for a, p in self.said["targets"].items()
        }
        self.confidence = float(number(self.said["confidence"]))
        self.random = np.array([self.referee.random(i) for i in range(self.n)])
        self.spreads = [self._of(i) for i in range(self.n)]
        self.low, self.high, self.ball, self.stretch = (
            np.array(column)
            for column in zip(*(s[:4] for s in self.spreads), strict=True)
        )
        self.grams = np.array([s[4].T @ s[4] for s in self.spreads])

    def _of(self, i: int) -> tuple[float, float, float, float, np.ndarray]:
        w = self.referee.spread(i)
        low, high, ball, stretch = (
            float(number(x)) for x in (*w["scale"], w["ball"], w["stretch"])
        )
        columns = np.array(
            [[float(number(x)) for x in column] for column in w["factor"]]
        ).reshape(-1, self.d)
        return low, high, ball, stretch, columns

    def misses(self, q: np.ndarray, z: float) -> np.ndarray:
        """ln sum_{i != a} exp(x_i) - ln(1/p - 1) for each scenario and target: at most 0 where the targets are met."""
        found = []
        for keys in self.keys:
            m = self.scale * (keys @ q)
            square = (
                self.scale**2
                * (self.ball**2 * (q @ q) + np.maximum(self.grams @ q @ q, 0))
                + (self.stretch * m) ** 2
            )
            reach = np.sqrt(square) * np.where(self.random, z, 1.0)
            up = np.maximum(self.low * m, self.high * m) + reach
            down = np.minimum(self.low * m, self.high * m) - reach
            for a, p in self.targets.items():
                x = np.delete(up, a) - down[a]
                found.append(
                    x.max() + math.log(np.exp(x - x.max()).sum()) - math.log(1 / p - 1)
                )
        return np.array(found)

    def shortest(self, z: float) -> np.ndarray | None:
        """The shortest query that SLSQP finds, if it finds one."""
        best, rng = None, np.random.default_rng(0)
        for _ in range(3):
            start = rng.normal(size=self.d) * 5 / np.abs(self.keys[0]).max()
            found = minimize(  # type: ignore[call-overload]
                lambda q: q @ q,
                start,
                method="SLSQP",
                options={"maxiter": 300, "ftol": 1e-14},
                constraints={"type": "ineq", "fun": lambda q: -self.misses(q, z)},
            )
            if np.isfinite(found.x).all() and self.misses(found.x, z).max() < 1e-9:
                best = (
                    found.x if best is None or found.x @ found.x < best @ best else best
                )
        return best

    def part_at(self, q: np.ndarray, targets: list[int]) -> dict[str, Any]:
        """The best evidence that a query is known to suggest, where nothing is random."""
        lifts, moves = [], []
        for w in self.said["uncertainty"]:
            image = (
                np.array(
                    [[float(number(x)) for x in column] for column in w["factor"]]
                ).reshape(-1, self.d)
                @ q
            )
            u = (
                image
                / max(float(np.linalg.norm(image)), 1e-300)
                * np.sign(self.scale)
                * (1 - 1e-15)
            )
            lift = abs(self.scale) * (
                float(number(w["ball"])) * float(np.linalg.norm(q))
                + float(np.linalg.norm(image))
            )
            lifts.append("0" if w["random"] else lift.hex())
            moves.append([] if w["random"] else hexed(u))
        constraints = [
            {"scenario": s, "target": a, "multiplier": "1", "distribution": None}
            for s in range(len(self.keys))
            for a in targets
        ]
        return {
            "query": hexed(q),
            "lifts": lifts,
            "moves": moves,
            "push": None,
            "constraints": constraints,
        }

    def tried(self, q: list[np.ndarray], rng: np.random.Generator) -> bool:
        """Is the targets met in one realization, drawn at random and often from its border?"""
        worst = dict.fromkeys(self.targets, math.inf)
        for keys in self.keys:
            uncertainty = np.empty_like(keys)
            for i in range(self.n):
                low, high, ball, stretch, columns = self.spreads[i]
                c = rng.choice([low, high, rng.uniform(low, high)])
                if self.random[i]:
                    e = (
                        ball * rng.normal(size=self.d)
                        + stretch * rng.normal() * keys[i]
                    )
                    e = e + rng.normal(size=len(columns)) @ columns
                else:
                    u, v = rng.normal(size=len(columns)), rng.normal(size=self.d)
                    e = (
                        ball * v / np.linalg.norm(v)
                        + (u / max(float(np.linalg.norm(u)), 1e-300)) @ columns
                    )
                uncertainty[i] = c * keys[i] + e
            weights = np.zeros(self.n)
            for one in q:
                s = self.scale * (uncertainty @ one)
                weights += np.exp(s - s.max()) / np.exp(s - s.max()).sum() / len(q)
            worst = {a: min(x, weights[a]) for a, x in worst.items()}
        return all(worst[a] >= p * (1 - 1e-12) for a, p in self.targets.items())


@pytest.mark.parametrize("form", FORMS)
def test_nobody_finds_a_shorter_query(form: str) -> None:
    """The bound is taken at the shortest query that was found, where it is nearly tight."""
    tightest, compared = 0.0, 0
    for seed in range(40, 60):
        made = draw(seed, form, claim="longer", n=5)
        target = next(iter(made["statement"]["targets"]))
        made["statement"]["targets"] = {target: "9/10"}
        problem = Problem(made)
        # A query that is safe up to three deviations in every key succeeds with more than the confidence of 9/10.
        q = problem.shortest(3.0)
        if q is None or np.abs(problem.keys[0]).max() > 1e4 or compared == 4:
            continue
        compared += 1
        made["evidence"]["bound"] |= {
            "parts": [problem.part_at(q, [int(target)])],
            "scales": {},
            "own_scales": {},
        }
        for gap in ("1e-9", "-1e-4"):
            tight = tightened(made, gap)
            if verify(json.dumps(tight)).word == "verified":
                ratio = float(number(tight["statement"]["none_shorter"])) / float(
                    np.linalg.norm(q)
                )
                tightest = max(tightest, ratio)
                assert ratio <= 1 + 1e-6
    assert tightest > {"certain": 0.999, "sets": 0.999, "scenarios": 0.9}.get(form, 0.6)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_accepted_queries_meet_the_targets(form: str, heads: int) -> None:
    accepted = 0
    for seed in range(60, 63):
        made = tightened(draw(seed, form, heads), "1e-9")
        if verify(json.dumps(made)).word != "verified":
            continue
        accepted += 1
        problem, rng = Problem(made), np.random.default_rng(seed)
        queries = [
            np.array([float.fromhex(x) for x in q])
            for q in made["statement"]["queries"]
        ]
        met = [problem.tried(queries, rng) for _ in range(200)]
        # 200 draws of a probability of 9/10 or more: below 160 is five deviations away.
        assert sum(met) >= (160 if problem.random.any() else 200)
    assert accepted
