"""Is a statement about heads true? Another way to the answer: mpmath with sixty digits, no code of the checker's."""

from __future__ import annotations

import json
import math
import random
import struct
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np

from headwright.weights.smallest import Aim, smallest

HAIR = mpmath.mpf(10) ** -50
Vector = list[Fraction]


@cache
def number(text: str) -> Fraction:
    """As docs/certificate.md has it, read by hand."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if not digits.startswith("0x"):
        return sign * Fraction(digits)
    if "/" in digits:
        top, bottom = digits.split("/")
        return sign * Fraction(int(top, 16), int(bottom, 16))
    whole, _, power = digits[2:].partition("p")
    before, _, after = whole.partition(".")
    return sign * Fraction(int(before + after, 16), 16 ** len(after)) * Fraction(2) ** int(power)


def matrix(rows: list[list[str]]) -> list[Vector]:
    return [[number(x) for x in row] for row in rows]


def is_true(statement: Any, worlds: int = 6) -> bool:
    """Every weight is of the type; rules hold at the tokens' places and at some others; no smaller M is at hand."""
    for head in statement["heads"]:
        for x in (x for name in ("W_Q", "W_K", "W_V") for row in matrix(head[name]) for x in row):
            if not _of_type(x, statement["dtype"]):
                return False
    places = [[matrix(X) for X in statement["sequences"]]]
    places += [_moved(places[0], statement["world"], seed) for seed in range(worlds) if _uncertain(statement["world"])]
    rules, mask, heads = statement["rules"], statement["mask"], statement["heads"]
    with mpmath.workdps(60):
        kept = all(
            _kept(rule, heads if rule["head"] == "sum" else [heads[rule["head"]]], X, mask)
            for X in places
            for rule in rules
        )
    floors = [{**rule, "at_most": {}, "output": [], "tolerance": "0"} for rule in rules]  # all of a bound
    return kept and all(
        _bounded(json.dumps([bound, floors, statement["sequences"], mask])) for bound in statement["bounds"]
    )


def seen(mask: Any, token: int, T: int) -> list[int]:
    if mask == "none":
        return list(range(T))
    return [j for j in range(T) if (j <= token if mask == "causal" else mask[token][j] == "1")]


def _of_type(x: Fraction, dtype: str) -> bool:
    if Fraction(float(x)) != x:
        return False
    bits = struct.unpack("<Q", struct.pack("<d", float(x)))[0]
    if dtype == "float64" or x == 0:
        return True
    kept = {"float32": 23, "bfloat16": 7}[dtype]
    unit = Fraction(2) ** (max(math.frexp(float(x))[1] - 1, -126) - kept)  # of the last place
    return bits >> 52 & 2047 < 1023 + 128 and (x / unit).denominator == 1


def _uncertain(world: Any) -> bool:
    return number(world["ball"]) > 0 or any(number(end) != 1 for end in world["scale"])


def _moved(sequences: list[list[Vector]], world: Any, seed: int) -> list[list[Vector]]:
    """Some admissible places, most of them at the border."""
    chance = random.Random(seed)
    ball, (low, high) = number(world["ball"]), map(number, world["scale"])

    def place(x: Vector) -> Vector:
        c = chance.choice([low, high, low + (high - low) * Fraction(chance.random())])
        e = [Fraction(chance.gauss(0, 1)) for _ in x]
        size = Fraction(math.sqrt(float(sum(y * y for y in e)))) * (1 + Fraction(1, 10**12))
        return [c * y + ball * z / size for y, z in zip(x, e, strict=True)]

    return [[place(x) for x in X] for X in sequences]


def _times(W: list[Vector], x: Vector) -> Vector:
    return [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in W]


def _mp(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def _kept(rule: Any, heads: list[Any], sequences: list[list[Vector]], mask: Any) -> bool:
    X = sequences[rule["sequence"]]
    places = seen(mask, rule["token"], len(X))
    miss = [_mp(-number(x)) for x in rule["output"]]
    for head in heads:
        query = _times(matrix(head["W_Q"]), X[rule["token"]])
        keys, values = ([_times(matrix(head[name]), X[j]) for j in places] for name in ("W_K", "W_V"))
        scores = [_times([key], query)[0] for key in keys]
        top = max(scores)
        e = [mpmath.exp(_mp(s - top)) for s in scores]
        alpha = {j: x / mpmath.fsum(e) for j, x in zip(places, e, strict=True)}
        if any(alpha[int(a)] < _mp(number(least)) * (1 - HAIR) for a, least in rule["attend"].items()):
            return False
        if any(alpha[int(a)] > _mp(number(most)) * (1 + HAIR) for a, most in rule["at_most"].items()):
            return False
        mixed = list(zip(alpha.values(), values, strict=True))
        miss = [x + mpmath.fsum(a * _mp(v[k]) for a, v in mixed) for k, x in enumerate(miss)]
    return not miss or bool(mpmath.norm(miss) <= _mp(number(rule["tolerance"])) * (1 + HAIR) + HAIR)


@cache
def _bounded(given: str) -> bool:
    """The solver of the designs finds no M that is smaller and yet attends as much."""
    bound, rules, sequences, mask = json.loads(given)
    mine = [rule for rule in rules if rule["head"] == bound["head"] and rule["attend"]]
    aims = []
    for rule in mine:
        X = np.array([[float(number(x)) for x in row] for row in sequences[rule["sequence"]]])
        places = seen(mask, rule["token"], len(X))
        floors = {places.index(int(a)): float(number(p)) for a, p in rule["attend"].items()}
        slacks = np.array([1 / p - 1 for p in floors.values()])
        aims.append(Aim(X[places], X[rule["token"]], tuple(floors), np.maximum(slacks, 1e-300)))
    if not mine:
        return False  # a bound that rests on no floor
    with np.errstate(all="ignore"):
        found = smallest(aims)
    size = np.linalg.norm(found.matrix, "fro" if bound["norm"] == "frobenius" else "nuc")
    return not found.granted or bool(size >= float(number(bound["least"])) * (1 - 1e-9))
