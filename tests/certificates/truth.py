"""Is a statement about heads true? Another way to the answer: mpmath with sixty digits, no code of the checker's."""

from __future__ import annotations

import json
import math
import random
import struct
from fractions import Fraction
from functools import cache
from typing import Any

import cvxpy as cp
import mpmath
import numpy as np

from headwright.weights.rank import by_chance, factored, on_a_curve
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
    if statement["claim"] == "no heads":
        return _none_is_found(statement)
    if statement["claim"] == "circuit":
        return all(is_true(layer, worlds) for layer in statement["layers"]) and _circuit_runs(
            statement["layers"], worlds
        )
    for head in statement["heads"]:
        rows = [row for name in ("W_Q", "W_K", "W_V") for row in matrix(head[name])]
        for x in (x for row in [*rows, *matrix([head["b_Q"], head["b_V"]])] for x in row):
            if not _of_type(x, statement["dtype"]):
                return False
    places = [[matrix(X) for X in statement["sequences"]]]
    places += [_moved(places[0], statement["world"], seed) for seed in range(worlds) if _uncertain(statement["world"])]
    rules, mask, tables = statement["rules"], statement["mask"], statement["bias"]
    heads = [{**head, "bias": tables[h] if tables else []} for h, head in enumerate(statement["heads"])]
    with mpmath.workdps(60):
        kept = all(
            _kept(rule, heads if rule["head"] == "sum" else [heads[rule["head"]]], X, mask)
            for X in places
            for rule in rules
        )
    floors = [{**rule, "at_most": {}, "output": [], "tolerance": "0"} for rule in rules]  # all of a bound
    return kept and all(
        _bounded(json.dumps([bound, floors, statement["sequences"], mask, tables, statement["biases"]]))
        for bound in statement["bounds"]
    )


def _circuit_runs(layers: Any, worlds: int) -> bool:
    """Run one after the other, from the tokens' places and some others, each layer keeps its rules."""
    start = [matrix(X) for X in layers[0]["sequences"]]
    for tokens in [start, *(_moved(start, layers[0]["world"], seed) for seed in range(worlds))]:
        now = tokens
        with mpmath.workdps(60):
            for layer in layers:
                heads = [
                    {**head, "bias": layer["bias"][h] if layer["bias"] else []} for h, head in enumerate(layer["heads"])
                ]
                for rule in layer["rules"]:
                    if not _kept(rule, heads if rule["head"] == "sum" else [heads[rule["head"]]], now, layer["mask"]):
                        return False
                now = [[_plus_output(X, i, heads, layer["mask"]) for i in range(len(X))] for X in now]
    return True


def _plus_output(X: list[Vector], i: int, heads: Any, mask: Any) -> Vector:
    total = [_mp(v) for v in X[i]]
    for head in heads:
        alpha, values = _pattern(X, i, head, mask)
        total = [t + mpmath.fsum(a * _mp(v[k]) for a, v in zip(alpha.values(), values, strict=True))
                 for k, t in enumerate(total)]  # fmt: skip
    return [Fraction(int(t * mpmath.mpf(2) ** 180), 2**180) for t in total]  # as good as exact


def _none_is_found(statement: Any) -> bool:
    """Neither another solver nor trial and error finds weights that keep the rules at the tokens' places."""
    told = [rule for rule in statement["rules"] if rule["attend"]]
    if (
        told
        and _least_violation(json.dumps([told, *(statement[name] for name in ("sequences", "mask", "bias", "biases"))]))
        > -1e-6
    ):
        return True
    rng = np.random.default_rng(0)
    sizes = (0.0, 0.1, 1.0, 10.0, 100.0)
    wanted = [rule for rule in statement["rules"] if rule["output"]]
    return bool(wanted) and not any(_outputs_are_met(statement, wanted, size, rng) for size in sizes for _ in range(20))


@cache
def _least_violation(given: str) -> float:
    rules, sequences, mask, tables, biases = json.loads(given)
    arrays = [np.array([[_held(number(x)) for x in row] for row in X]) for X in sequences]
    D = arrays[0].shape[1]
    M, t, held = cp.Variable((D, D + biases)), cp.Variable(), []
    for rule in rules:
        X, places = arrays[rule["sequence"]], seen(mask, rule["token"], len(arrays[rule["sequence"]]))
        x, row = np.append(X[rule["token"]], [1.0] * biases), _row(tables, rule)
        for a, p in rule["attend"].items():
            by = np.array([_held(row[j] - row[int(a)]) for j in places])
            held.append(cp.log_sum_exp((X[places] - X[int(a)]) @ M @ x + by) + math.log(number(p)) <= t)
    problem = cp.Problem(cp.Minimize(t), [*held, cp.norm(M, "fro") <= 1e4])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def _held(given: Fraction) -> float:
    """A number as a float; beyond a million it decides alone, and floats need not hold it."""
    return float(min(max(given, Fraction(-(10**6))), Fraction(10**6)))


def _outputs_are_met(statement: Any, rules: list[Any], size: float, rng: np.random.Generator) -> bool:
    """With scores by chance, and the best W_V for these."""
    arrays = [np.array([[_held(number(x)) for x in row] for row in X]) for X in statement["sequences"]]
    D, mixtures = arrays[0].shape[1], []
    M = size * rng.normal(size=(D, D + statement["biases"]))
    for rule in rules:
        X = arrays[rule["sequence"]]
        places, row = seen(statement["mask"], rule["token"], len(X)), _row(statement["bias"], rule)
        s = X[places] @ M @ np.append(X[rule["token"]], [1.0] * statement["biases"]) + [_held(row[j]) for j in places]
        e = np.exp(s - s.max())
        mixtures.append(np.append(e @ X[places] / e.sum(), [1.0] * statement["biases"]))
    scale = np.array([1 / max(_held(number(rule["tolerance"])), 1e-12) for rule in rules])[:, None]
    W = np.array([[_held(number(x)) for x in rule["output"]] for rule in rules])
    V = np.linalg.lstsq(np.array(mixtures) * scale, W * scale, rcond=None)[0]
    return bool((np.linalg.norm((mixtures @ V - W) * scale, axis=1) <= 1).all())


def _row(tables: Any, rule: Any) -> list[Fraction]:
    """What is added to the scores of a rule's token, by place."""
    return [number(x) for x in tables[rule["head"]][rule["token"]]] if tables else [Fraction(0)] * 4096


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


def _plus(x: Vector, b: list[str]) -> Vector:
    return [y + number(z) for y, z in zip(x, b, strict=True)] if b else x


def _mp(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def _kept(rule: Any, heads: list[Any], sequences: list[list[Vector]], mask: Any) -> bool:
    X = sequences[rule["sequence"]]
    miss = [_mp(-number(x)) for x in rule["output"]]
    for head in heads:
        alpha, values = _pattern(X, rule["token"], head, mask)
        if any(alpha[int(a)] < _mp(number(least)) * (1 - HAIR) for a, least in rule["attend"].items()):
            return False
        if any(alpha[int(a)] > _mp(number(most)) * (1 + HAIR) for a, most in rule["at_most"].items()):
            return False
        mixed = list(zip(alpha.values(), values, strict=True))
        miss = [x + mpmath.fsum(a * _mp(v[k]) for a, v in mixed) for k, x in enumerate(miss)]
    return not miss or bool(mpmath.norm(miss) <= _mp(number(rule["tolerance"])) * (1 + HAIR) + HAIR)


def _pattern(X: list[Vector], token: int, head: Any, mask: Any) -> tuple[dict[int, Any], list[Vector]]:
    """The weights of what a token sees, and the values."""
    places = seen(mask, token, len(X))
    query = _plus(_times(matrix(head["W_Q"]), X[token]), head["b_Q"])
    keys = [_times(matrix(head["W_K"]), X[j]) for j in places]
    values = [_plus(_times(matrix(head["W_V"]), X[j]), head["b_V"]) for j in places]
    row = [number(x) for x in head["bias"][token]] if head["bias"] else [Fraction(0)] * len(X)
    scores = [_times([key], query)[0] + row[j] for key, j in zip(keys, places, strict=True)]
    top = max(scores)
    e = [mpmath.exp(_mp(s - top)) for s in scores]
    return {j: x / mpmath.fsum(e) for j, x in zip(places, e, strict=True)}, values


@cache
def _bounded(given: str) -> bool:
    """The solver of the designs finds no M that is smaller, or of a smaller rank, and yet attends as much."""
    bound, rules, sequences, mask, tables, biases = json.loads(given)
    mine = [rule for rule in rules if rule["head"] == bound["head"] and rule["attend"]]
    aims = []
    for rule in mine:
        X = np.array([[_held(number(x)) for x in row] for row in sequences[rule["sequence"]]])
        places = seen(mask, rule["token"], len(X))
        floors = {places.index(int(a)): float(number(p)) for a, p in rule["attend"].items()}
        slacks = np.array([1 / p - 1 for p in floors.values()])
        x, row = np.append(X[rule["token"]], [1.0] * biases), _row(tables, rule)
        by = np.array([float(row[j]) for j in places])
        aims.append(Aim(X[places], x, tuple(floors), np.maximum(slacks, 1e-300), added=by))
    if not mine:
        return False  # a bound that rests on no floor
    if bound["norm"] == "dimension":
        r = int(number(bound["least"])) - 1
        with np.errstate(all="ignore"):
            return factored(aims, [on_a_curve(aims, r), *by_chance(aims, r, 2)]) is None
    with np.errstate(all="ignore"):
        found = smallest(aims)
    size = np.linalg.norm(found.matrix, "fro" if bound["norm"] == "frobenius" else "nuc")
    return not found.granted or bool(size >= float(number(bound["least"])) * (1 - 1e-9))
