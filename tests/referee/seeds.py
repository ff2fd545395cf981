"""Certificates to begin with: the accepted corpus, and fresh designs, some with 50 keys or tokens and more."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from headwright.errors import HeadwrightError
from headwright.head_design import Rule, Rules, build, build_circuit, parse_circuit
from headwright.query_design import at_least, average, copy, design
from headwright.query_design.targets import Targets
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

CORPUS = Path(__file__).parent.parent / "certificates" / "corpus"
KEYS = (
    "certain",
    "scenarios",
    "scales",
    "balls",
    "ellipsoids",
    "gaussian",
    "several heads",
)
HEADS = ("whole heads", "heads in an uncertainty", "no heads", "circuits")
MANY = 50


@dataclass(frozen=True)
class Seed:
    kind: str
    text: str
    large: bool  # 50 keys or tokens, or more


def kind_of(document: Any) -> str:
    statement = document["statement"]
    claim = statement["claim"]
    if claim in ("circuit", "no heads", "heads"):
        if claim != "heads":
            return {"circuit": "circuits", "no heads": "no heads"}[claim]
        return (
            "whole heads"
            if statement["uncertainty"] == {"ball": "0", "scale": ["1", "1"]}
            else "heads in an uncertainty"
        )
    if statement["heads"] > 1:
        return "several heads"
    uncertainty = statement["uncertainty"]
    if any(entry["random"] for entry in uncertainty):
        return "gaussian"
    if len(statement["keys"]) > 1:
        return "scenarios"
    named = [
        ("ellipsoids", any(e["factor"] for e in uncertainty)),
        ("balls", any(e["ball"] != "0" for e in uncertainty)),
    ]
    return next(
        (kind for kind, holds in named if holds), "scales" if uncertainty else "certain"
    )


def is_large(document: Any) -> bool:
    statement = document["statement"]
    if "keys" in statement:
        return bool(statement["keys"][0]["n"] >= MANY)
    layers = statement.get("layers", [statement])
    return sum(len(X) for X in layers[0]["sequences"]) >= MANY


def seeds(
    kinds: tuple[str, ...] = KEYS + HEADS, seed: int = 0, fresh: int = 4
) -> list[Seed]:
    """The corpus, and so many fresh designs of each size and kind."""
    texts = [
        path.read_text()
        for folder in ("accept", "head-accept")
        for path in sorted((CORPUS / folder).glob("*.json"))
    ]
    for kind in kinds:
        rng = np.random.default_rng([seed, (KEYS + HEADS).index(kind)])
        for large in (False, True):
            made = 0
            for _ in range(4 * fresh):
                text = (_about_keys if kind in KEYS else _about_heads)(kind, rng, large)
                if text is not None:
                    texts.append(text)
                    made += 1
                if made == fresh:
                    break
    found = []
    for text in texts:
        document = json.loads(text)
        if kind_of(document) in kinds:
            found.append(
                Seed(kind_of(document), json.dumps(document), is_large(document))
            )
    return found


def _about_keys(kind: str, rng: np.random.Generator, large: bool) -> str | None:
    n = int(rng.integers(MANY, MANY + 6)) if large else int(rng.integers(3, 9))
    d = int(rng.integers(2, 5))
    K = rng.normal(size=(n, d)) * float(rng.choice([0.3, 1.0, 4.0]))
    claim = str(rng.choice(["designed"] * 4 + ["impossible", "longer"]))
    heads = 2 if kind == "several heads" else 1
    if claim != "designed" and heads == 1:
        K[0] = (
            (K[1] + K[2]) / 2 if claim == "impossible" else (K[1] + K[2]) * (0.5 + 1e-9)
        )
        K = np.round(K * 2**20) / 2**20 if claim == "impossible" else K
        targets: Targets = copy(0)
    else:
        K[:2] *= (
            (2 if large else 1.2)
            * float(np.linalg.norm(K, axis=1).max())
            / np.linalg.norm(K[:2], axis=1)[:, None]
        )
        targets = [copy(0), average([0, 1], eps=0.1), at_least({0: Fraction(3, 5)})][
            int(rng.integers(3))
        ]
        targets = average([0, 1], eps=Fraction(1, 2)) if heads == 2 else targets
    options: dict[str, Any] = {
        "scale": [1, Fraction(1, 2), Fraction(-3, 7)][int(rng.integers(3))],
        "heads": heads,
    }
    try:
        found = design(K, targets, uncertainty=_uncertainty(kind, rng, K), **options)
    except HeadwrightError:
        return None
    return found.certificate


def _uncertainty(kind: str, rng: np.random.Generator, K: np.ndarray) -> Uncertainty:
    n, d = K.shape
    size = 0.02 * float(np.abs(K).max())
    few = [int(key) for key in rng.permutation(n)[:2]]
    noise: Callable[[], Noise]
    if kind == "scenarios":
        return Uncertainty(
            scenarios=tuple(
                K + size * rng.normal(size=K.shape) * (i > 0) for i in range(2)
            )
        )
    if kind == "scales":
        noise = lambda: (
            Noise(scale=Between(0.9, 1.2))
            if rng.random() < 0.7
            else Noise(scale=OneOf((0.8, 1.0, 1.1)))
        )
    elif kind == "balls":
        noise = lambda: Noise(
            spread=Ball(size), scale=Between(0.95, 1.05) if rng.random() < 0.3 else None
        )
    elif kind == "ellipsoids":
        noise = lambda: Noise(
            spread=Ellipsoid(size * rng.normal(size=(d, int(rng.integers(1, 3)))))
        )
    elif kind == "gaussian":
        E = size * rng.normal(size=(d, 1))
        noise = [
            lambda: Noise(spread=Isotropic(size**2 / 4)),
            lambda: Noise(scale=Normal(1.0, 0.001)),
            lambda: Noise(spread=Covariance(E @ E.T + size**2 / 9 * np.eye(d))),
        ][int(rng.integers(3))]
    else:
        return (
            Uncertainty()
            if rng.random() < 0.7
            else Uncertainty({few[0]: Noise(scale=Between(0.9, 1.1))})
        )
    return (
        Uncertainty(others=noise())
        if rng.random() < 0.5
        else Uncertainty({key: noise() for key in few})
    )


def _about_heads(kind: str, rng: np.random.Generator, large: bool) -> str | None:
    T = MANY if large else int(rng.integers(3, 6))
    D = 3
    try:
        if kind == "circuits":
            return _circuit(rng, large)
        X = np.round(rng.normal(size=(T, D)) * 64) / 64
        X[:3] *= 3
        if kind == "no heads":
            return _none(X, rng)
        near = tuple(
            "".join("1" if i - 4 < j <= i or j < 2 else "0" for j in range(T))
            for i in range(T)
        )
        slopes = tuple(
            tuple(Fraction(-abs(i - j), 4) for j in range(T)) for i in range(T)
        )
        options: list[dict[str, Any]] = [
            {"causal": True},
            {"biases": True},
            {"mask": near},
            {"bias": (slopes,)},
            {},
        ]
        given = options[int(rng.integers(len(options)))]
        if kind == "heads in an uncertainty":
            uncertainties: list[dict[str, Any]] = [
                {"ball": Fraction(1, 200)},
                {"scale": (Fraction(49, 50), Fraction(51, 50))},
            ]
            given |= uncertainties[
                0 if large and rng.random() < 0.8 else int(rng.integers(2))
            ]
        last = T - 1
        wanted = [
            Rule(last, attend={0: Fraction(9, 10)}),
            Rule(last, attend={0: Fraction(2, 5), 1: Fraction(2, 5)}),
            Rule(
                last,
                attend={1: Fraction(4, 5)},
                output=tuple(map(Fraction, X[1].tolist())),
                tolerance=Fraction(3),
            ),
            Rule(last, attend={0: Fraction(1, 2)}, at_most={1: Fraction(1, 10)}),
        ]
        if large and kind == "heads in an uncertainty":
            wanted = wanted[:2]  # others take seconds to check
        rules = [
            wanted[int(rng.integers(len(wanted)))],
            Rule(2, attend={0: Fraction(3, 4)}),
        ]
        if rng.random() < 0.25 and "bias" not in given:
            rules[1] = Rule(2, head=1, attend={0: Fraction(3, 4)})
        made = build(
            Rules((X,), tuple(rules), **given),
            dtype=str(rng.choice(["float64", "float32"])),
            minimise=str(rng.choice(["size", "size", "rank"])),
        )
    except HeadwrightError:
        return None
    return made.certificate if made.word == "designed" else None


def _none(X: np.ndarray, rng: np.random.Generator) -> str | None:
    """A token in the middle of two others, copied; or one that two rules of equal tokens want differently."""
    X[0] = (X[1] + X[2]) / 2
    rules = [Rule(2, attend={0: Fraction(3, 4)}), Rule(1, attend={1: Fraction(1, 2)})]
    if rng.random() < 0.4:
        X[-1] = X[1]
        rules = [
            Rule(1, output=(Fraction(1), Fraction(2)), tolerance=Fraction(1, 10)),
            Rule(
                len(X) - 1, output=(Fraction(2), Fraction(2)), tolerance=Fraction(1, 4)
            ),
        ]
    return build(Rules((X,), tuple(rules), biases=bool(rng.random() < 0.3))).certificate


def _circuit(rng: np.random.Generator, large: bool) -> str | None:
    """Induction over a few letters; with many tokens only the last few are seen."""
    letters = [str(rng.choice(["x", "y", "z"])) for _ in range(3)]
    text = (
        "directions = { x = 2.0, y = 2.5, z = 2.0, m = 3.0 }\n"
        f"tokens = {json.dumps(['x', 'y', *letters[:2]])}\n"
        'layer = [{ mask = "causal", rule = [{ token = 1, copy = 0, output = "m" }] }, '
        "{ rule = [{ token = 3, copy = 1 }] }]\n"
    )
    circuit = parse_circuit(text)
    made = None if circuit is None else build_circuit(circuit).certificate
    return None if made is None else _padded(made, rng) if large else made


def _padded(text: str, rng: np.random.Generator) -> str:
    """The same circuit with tokens after its own, which nobody that a rule is about sees."""
    document = json.loads(text)
    for layer in document["statement"]["layers"]:
        (X,) = layer["sequences"]
        T, more = len(X), MANY - len(X)
        rows = [
            "".join(
                "1" if j < T and (layer["mask"] != "causal" or j <= i) else "0"
                for j in range(T + more)
            )
            for i in range(T + more)
        ]
        layer["mask"] = rows
        X += [
            [float(x).hex() for x in row] for row in rng.normal(size=(more, len(X[0])))
        ]
    return json.dumps(document)


def pick(found: list[Seed], kind: str, large: bool, chance: random.Random) -> Seed:
    some = [seed for seed in found if seed.kind == kind and seed.large == large]
    return chance.choice(some or [seed for seed in found if seed.kind == kind])
