"""Is a statement about whole heads true? Rules are tried at the tokens' places, exactly, and around them."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np

from tests.referee.answer import TRUE, Answer, together
from tests.referee.numbers import (
    Vector,
    as_float,
    is_float,
    matrix,
    number,
    real,
    vector,
)
from tests.referee.weights import (
    Aim,
    Lookup,
    fewer_rows,
    hopeless,
    keeps,
    smaller,
    some_weights,
)

HAIR = mpmath.mpf(10) ** -40
CLEAR = 1e-8  # by how much floats must be off to say that a rule is broken somewhere in the uncertainty
LARGEST = 1e100  # numbers beyond this are not searched with


@dataclass(frozen=True, eq=False)
class Head:
    """Exactly, and in floats."""

    W_Q: list[Vector]
    W_K: list[Vector]
    W_V: list[Vector]
    b_Q: Vector  # noqa: N815
    b_V: Vector  # noqa: N815
    bias: list[Vector]
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    q: np.ndarray
    v: np.ndarray
    added: np.ndarray


@dataclass(frozen=True, eq=False)
class Question:
    """A layer, or what is asked of one."""

    sequences: list[list[Vector]]
    places: list[np.ndarray]
    mask: Any
    rules: list[Any]
    heads: list[Head]
    ball: Fraction
    scale: tuple[Fraction, Fraction]

    @property
    def uncertain(self) -> bool:
        return bool(self.ball) or self.scale[0] != 1 or self.scale[1] != 1


def floats(rows: list[Vector]) -> np.ndarray:
    return np.array([[as_float(x) for x in row] for row in rows])


def question_of(statement: Any) -> Question:
    sequences = [matrix(X) for X in statement["sequences"]]
    heads = []
    for number_, head in enumerate(statement.get("heads", [])):
        W_Q, W_K, W_V = (matrix(head[name]) for name in ("W_Q", "W_K", "W_V"))
        b_Q = vector(head["b_Q"]) or [Fraction(0)] * len(W_Q)
        b_V = vector(head["b_V"]) or [Fraction(0)] * len(W_V)
        bias = matrix(statement["bias"][number_]) if statement["bias"] else []
        heads.append(
            Head(
                W_Q,
                W_K,
                W_V,
                b_Q,
                b_V,
                bias,
                floats(W_Q),
                floats(W_K),
                floats(W_V),
                floats([b_Q])[0],
                floats([b_V])[0],
                floats(bias),
            )
        )
    low, high = vector(statement["uncertainty"]["scale"])
    return Question(
        sequences,
        [floats(X) for X in sequences],
        statement["mask"],
        statement["rules"],
        heads,
        number(statement["uncertainty"]["ball"]),
        (low, high),
    )


def seen(mask: Any, token: int, T: int) -> list[int]:
    if mask == "none":
        return list(range(T))
    return [
        j
        for j in range(T)
        if (j <= token if mask == "causal" else mask[token][j] == "1")
    ]


def judge(statement: Any) -> Answer:
    """True, false or unknown; numbers beyond floats make it unknown."""
    with np.errstate(all="ignore"):
        return _judge(statement)


def _judge(statement: Any) -> Answer:
    if statement["claim"] == "circuit":
        return _circuit(statement["layers"])
    question = question_of(statement)
    if statement["claim"] == "no heads":
        return _no_heads(statement, question)
    answers = [_of_type(statement)]
    answers += [_kept(question, rule) for rule in question.rules]
    if all(answer.word != "false" for answer in answers):
        answers += [
            _bounded(statement, question, bound) for bound in statement["bounds"]
        ]
    return together(answers)


def _of_type(statement: Any) -> Answer:
    for head in statement["heads"]:
        for row in [*head["W_Q"], *head["W_K"], *head["W_V"], head["b_Q"], head["b_V"]]:
            if not all(_is_of(number(x), statement["dtype"]) for x in row):
                return Answer("false", f"a weight is no {statement['dtype']}")
    return TRUE


def _is_of(x: Fraction, dtype: str) -> bool:
    if not is_float(x):
        return False
    if dtype == "float64" or x == 0:
        return True
    digits = {"float32": 23, "bfloat16": 7}[dtype]
    power = max(math.frexp(float(x))[1] - 1, -126)
    exponent = struct.unpack("<Q", struct.pack("<d", abs(float(x))))[0] >> 52
    return (
        exponent < 1023 + 128 and (x / Fraction(2) ** (power - digits)).denominator == 1
    )


def _of(rule: Any, question: Question) -> list[Head]:
    return question.heads if rule["head"] == "sum" else [question.heads[rule["head"]]]


def _pattern(
    head: Head, X: np.ndarray, i: int, places: list[int]
) -> tuple[np.ndarray, float]:
    """Weights of what a token sees, and how far off a score may be."""
    query = head.Q @ X[i] + head.q
    scores = X[places] @ (head.K.T @ query)
    if head.bias:
        scores = scores + head.added[i, places]
    size = np.abs(X[places]) @ (
        np.abs(head.K).T @ (np.abs(head.Q) @ np.abs(X[i]) + np.abs(head.q))
    )
    off = 1e-15 * (3 * X.shape[1] + 8) * float(size.max()) + 1e-15 * float(
        np.abs(scores).max()
    )
    e = np.exp(scores - scores.max())
    return e / e.sum(), off


def _kept(question: Question, rule: Any) -> Answer:
    X, i = question.places[rule["sequence"]], rule["token"]
    with np.errstate(all="ignore"):
        word = _at_places(question, rule, X)
    if word is None:
        word = _exactly(question, rule)
    if word != "true" or not question.uncertain:
        return (
            TRUE
            if word == "true"
            else Answer(word, f"rule of token {i}: {word} at the tokens' places")  # type: ignore[arg-type]
        )
    if np.abs(X).max() > LARGEST:
        return Answer("unknown", "tokens are too large to search with")
    with np.errstate(all="ignore"):
        where = _broken_somewhere(question, rule)
    return (
        Answer("unknown", "in an uncertainty")
        if where is None
        else Answer("false", where)
    )


def _at_places(question: Question, rule: Any, X: np.ndarray) -> str | None:
    """By floats, where these decide."""
    places, answers, error, slack = (
        seen(question.mask, rule["token"], len(X)),
        [],
        0.0,
        0.0,
    )
    miss = -np.array([as_float(number(x)) for x in rule["output"]])
    for head in _of(rule, question):
        alpha, off = _pattern(head, X, rule["token"], places)
        if not off < 0.1:
            return None
        for name, sign in (("attend", 1), ("at_most", -1)):
            for a, p in rule[name].items():
                at = places.index(int(a)) if int(a) in places else None
                weight = alpha[at] if at is not None else 0.0
                rest = 1 - weight if weight < 0.9 else float(np.delete(alpha, at).sum())  # type: ignore[arg-type]
                allowed = as_float(1 - number(p))
                answers.append(
                    _compared(
                        sign * (allowed - rest),
                        (3 * off + 1e-13) * max(rest, allowed, 1e-280),
                    )
                )
        if rule["output"]:
            values = X[places] @ head.V.T + head.v
            miss = miss + alpha @ values
            size = float(np.abs(values).max(initial=0)) + float(
                (np.abs(head.V) @ np.abs(X[places]).T).max(initial=0)
            )
            slack += (4 * off + 1e-13) * math.sqrt(len(miss)) * size
            error = float(np.linalg.norm(miss))
    if rule["output"]:
        answers.append(
            _compared(
                as_float(number(rule["tolerance"])) - error,
                slack + 1e-13 * error + 1e-290,
            )
        )
    if "false" in answers:
        return "false"
    return None if None in answers else "true"


def _compared(difference: float, off: float) -> str | None:
    if not math.isfinite(difference):
        return None
    return "true" if difference > off else "false" if difference < -off else None


def _times(W: list[Vector], x: Vector) -> Vector:
    return [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in W]


def _exactly(question: Question, rule: Any) -> str:
    """At the tokens' places, in sixty digits from exact scores."""
    X, i = question.sequences[rule["sequence"]], rule["token"]
    places, words = seen(question.mask, i, len(X)), []
    with mpmath.workdps(60):
        miss = [real(-number(x)) for x in rule["output"]]
        size = mpmath.mpf(0)
        for head in _of(rule, question):
            query = [
                x + y for x, y in zip(_times(head.W_Q, X[i]), head.b_Q, strict=True)
            ]
            toward = [
                sum(
                    (W[k] * q for W, q in zip(head.W_K, query, strict=True)),
                    Fraction(0),
                )
                for k in range(len(X[i]))
            ]
            scores = [
                _times([toward], X[j])[0] + (head.bias[i][j] if head.bias else 0)
                for j in places
            ]
            top = max(scores)
            e = [mpmath.exp(real(s - top)) for s in scores]
            equal = len(set(scores)) == 1
            total = mpmath.fsum(e)
            for name, sign in (("attend", 1), ("at_most", -1)):
                for a, p in rule[name].items():
                    at = places.index(int(a)) if int(a) in places else None
                    if equal or at is None:
                        weight = (
                            Fraction(1, len(places)) if at is not None else Fraction(0)
                        )
                        words.append(
                            "true" if sign * (weight - number(p)) >= 0 else "false"
                        )
                        continue
                    rest, allowed = (
                        mpmath.fsum(x for k, x in enumerate(e) if k != at) / total,
                        real(1 - number(p)),
                    )
                    words.append(_near(sign * (allowed - rest), max(rest, allowed)))
            if rule["output"]:
                values = [
                    [
                        x + y
                        for x, y in zip(_times(head.W_V, X[j]), head.b_V, strict=True)
                    ]
                    for j in places
                ]
                size += max(
                    (abs(real(x)) for v in values for x in v), default=mpmath.mpf(0)
                )
                miss = [
                    m
                    + mpmath.fsum(
                        w * real(v[k]) for w, v in zip(e, values, strict=True)
                    )
                    / total
                    for k, m in enumerate(miss)
                ]
        if rule["output"]:
            tolerance = real(number(rule["tolerance"]))
            words.append(_near(tolerance - mpmath.norm(miss), tolerance + size))
    return "false" if "false" in words else "unknown" if "unknown" in words else "true"


def _near(difference: Any, size: Any) -> str:
    if abs(difference) <= HAIR * size:
        return "unknown"
    return "true" if difference > 0 else "false"


def _measures(
    question: Question, rule: Any
) -> list[tuple[str, Callable[[np.ndarray], float]]]:
    """What must not be above 0, for tokens anywhere: logits against what they may be, and errors less tolerances."""
    heads, i = _of(rule, question), rule["token"]
    found: list[tuple[str, Callable[[np.ndarray], float]]] = []

    def logit(X: np.ndarray, at: int, sign: float, limit: float) -> float:
        places = seen(question.mask, i, len(X))
        query = heads[0].Q @ X[i] + heads[0].q
        scores = X[places] @ (heads[0].K.T @ query)
        if heads[0].bias:
            scores = scores + heads[0].added[i, places]
        x = np.delete(scores, places.index(at)) - scores[places.index(at)]
        rivals = (
            float(x.max() + np.log(np.exp(x - x.max()).sum())) if len(x) else -1e300
        )
        return sign * (rivals - limit)

    def error(X: np.ndarray) -> float:
        places, total, size = seen(question.mask, i, len(X)), 0.0, 0.0
        for head in heads:
            alpha, off = _pattern(head, X, i, places)
            values = X[places] @ head.V.T + head.v
            total = total + alpha @ values
            size += float(np.abs(values).max(initial=0)) * (1 + 1e11 * off)
        tolerance = as_float(number(rule["tolerance"]))
        rounding = 1e-11 * (size + float(np.linalg.norm(wanted)))
        return (float(np.linalg.norm(total - wanted)) - tolerance - rounding) / (
            tolerance + rounding + 1e-300
        )

    for name, sign in (("attend", 1.0), ("at_most", -1.0)):
        for a, p in rule[name].items():
            if 0 < (least := number(p)) <= 1:
                left = 1 / least - 1  # in floats it would be lost
                limit = (
                    math.log(left.numerator) - math.log(left.denominator)
                    if left
                    else -800.0
                )
                found.append(
                    (f"{name} {a}", partial(logit, at=int(a), sign=sign, limit=limit))
                )
    if rule["output"]:
        wanted = np.array([as_float(number(x)) for x in rule["output"]])
        found.append(("output", error))
    return found


def _broken_somewhere(question: Question, rule: Any) -> str | None:
    """From some places, uphill to the border of the uncertainty a few times; then every length of the token itself."""
    X0, i = question.places[rule["sequence"]], rule["token"]
    ball, low, high = (
        as_float(question.ball),
        as_float(question.scale[0]),
        as_float(question.scale[1]),
    )
    rng = np.random.default_rng(0)
    about = sorted({*seen(question.mask, i, len(X0)), i})
    if (
        not ball
        and rule["head"] != "sum"
        and (found := _worst_lengths(question, rule)) is not None
    ):
        return found
    for name, measure in _measures(question, rule):
        for start in range(2):
            c, e = np.ones(len(X0)), np.zeros_like(X0)
            if start:
                c = rng.uniform(low, high, len(X0))
            for _ in range(3):
                X = c[:, None] * X0 + e
                if not math.isfinite(measure(X)):
                    break
                slope = _slope(measure, X, about)
                c = np.where((slope * X0).sum(axis=1) > 0, high, low)
                lengths = np.linalg.norm(slope, axis=1, keepdims=True)
                e = ball * (1 - 1e-9) * slope / np.where(lengths > 0, lengths, 1.0)
            for own in (c[i], *np.linspace(low, high, 17)):
                c[i] = own
                value = measure(c[:, None] * X0 + e)
                if math.isfinite(value) and CLEAR < value < 1e200:
                    return f"token {i}, {name}: broken by {value} with lengths {c.tolist()}"
    return None


def _worst_lengths(question: Question, rule: Any) -> str | None:
    """Lengths alone: for each of the token's own, the others are worst at one end or the other."""
    X, i = question.places[rule["sequence"]], rule["token"]
    places, (head,) = seen(question.mask, i, len(X)), _of(rule, question)
    s, t = X[places] @ (head.K.T @ (head.Q @ X[i])), X[places] @ (head.K.T @ head.q)
    added = head.added[i, places] if head.bias else np.zeros(len(places))
    low, high = as_float(question.scale[0]), as_float(question.scale[1])
    for c in np.linspace(low, high, 129):
        ends = np.stack([low * (c * s + t), high * (c * s + t)]) + added
        for at, j in enumerate(places):
            if j == i:
                ends[:, at] = c * c * s[at] + c * t[at] + added[at]
        for name, sign in (("attend", 1), ("at_most", -1)):
            for a, p in rule[name].items():
                if int(a) not in places or not 0 < number(p) < 1:
                    continue
                at = places.index(int(a))
                others = np.delete(
                    ends.max(axis=0) if sign > 0 else ends.min(axis=0), at
                )
                x = others - (ends.min(axis=0) if sign > 0 else ends.max(axis=0))[at]
                if len(x) and float(np.abs(x).max()) < 1e4:
                    rivals = float(x.max() + np.log(np.exp(x - x.max()).sum()))
                    if sign * (rivals - math.log(as_float(1 / number(p) - 1))) > CLEAR:
                        return (
                            f"token {i}, {name} {a}: broken where its own length is {c}"
                        )
    return None


def _slope(
    measure: Callable[[np.ndarray], float], X: np.ndarray, about: list[int]
) -> np.ndarray:
    slope, step = np.zeros_like(X), 1e-6 * max(1.0, float(np.abs(X).max()))
    for j in about:
        for k in range(X.shape[1]):
            moved = X.copy()
            moved[j, k] += step
            ahead = measure(moved)
            moved[j, k] -= 2 * step
            slope[j, k] = (ahead - measure(moved)) / (2 * step)
    return np.nan_to_num(slope)


def _lookup(statement: Any, question: Question, head: int | None) -> Lookup:
    """What bounds are about: the least weights of one head's rules."""
    aims, name = [], []
    for rule in question.rules:
        if rule["attend"] and (head is None or rule["head"] == head):
            X = question.sequences[rule["sequence"]]
            places = seen(question.mask, rule["token"], len(X))
            added = (
                vector(statement["bias"][rule["head"]][rule["token"]])
                if statement["bias"]
                else [Fraction(0)] * len(X)
            )
            x = X[rule["token"]] + ([Fraction(1)] if statement["biases"] else [])
            floors = {int(a): number(p) for a, p in rule["attend"].items()}
            aims.append(
                Aim(
                    x,
                    [X[j] for j in places],
                    [added[j] for j in places],
                    {places.index(a): p for a, p in floors.items() if a in places},
                )
            )
            name.append([rule["sequence"], rule["token"], rule["attend"], rule["head"]])
    said = [
        statement["sequences"],
        statement["mask"],
        statement["bias"],
        statement["biases"],
        name,
    ]
    return Lookup(aims, json.dumps(said))


def _bounded(statement: Any, question: Question, bound: Any) -> Answer:
    least = number(bound["least"])
    if any(np.abs(X).max() > LARGEST for X in question.places):
        return Answer("unknown", "tokens are too large to search with")
    lookup = _lookup(statement, question, bound["head"])
    head = question.heads[bound["head"]]
    begin = head.K.T @ (np.c_[head.Q, head.q] if statement["biases"] else head.Q)
    if bound["norm"] == "dimension":
        found = fewer_rows(lookup, int(least) - 1)
        return (
            Answer("unknown", "no head of fewer rows was found")
            if found is None
            else Answer("false", f"{found}")
        )
    shown, sure = smaller(lookup, begin, bound["norm"], least)
    if shown is not None:
        return Answer("false", f"smaller weights: {shown}")
    return TRUE if sure else Answer("unknown", "no smaller weights were found")


def _no_heads(statement: Any, question: Question) -> Answer:
    if any(np.abs(X).max() > LARGEST for X in question.places):
        return Answer("unknown", "tokens are too large to search with")
    lookup = _lookup(statement, question, None)
    if hopeless(lookup):
        return TRUE
    if question.uncertain:
        return Answer("unknown", "in an uncertainty")
    if any(abs(number(x)) > 10**100 for rule in question.rules for x in rule["output"]):
        return Answer("unknown", "outputs beyond what floats can square")
    for M in some_weights(lookup, question.places[0].shape[1], statement["biases"]):
        if lookup.aims and not keeps(lookup, M):
            continue
        head = _with_values(statement, question, M)
        tried = replace(
            question,
            rules=[{**rule, "head": 0} for rule in question.rules],
            heads=[head],
        )
        if all(_kept(tried, rule).word == "true" for rule in tried.rules):
            return Answer(
                "false", f"this keeps all rules: {M.tolist()}, {head.V.tolist()}"
            )
    return Answer("unknown", "no weights were found")


def _with_values(statement: Any, question: Question, M: np.ndarray) -> Head:
    """A head of these scores, with the values that are nearest to what is wanted."""
    D, biases = question.places[0].shape[1], statement["biases"]
    number_ = question.rules[0]["head"]
    bias = matrix(statement["bias"][number_]) if statement["bias"] else []
    mixtures, wanted, scale = [], [], []
    plain = Head(
        [],
        [],
        [],
        [],
        [],
        bias,
        M[:, :D],
        np.eye(D),
        np.zeros((0, D)),
        M[:, D] if biases else np.zeros(D),
        np.zeros(0),
        floats(bias),
    )
    for rule in question.rules:
        if rule["output"]:
            X = question.places[rule["sequence"]]
            places = seen(question.mask, rule["token"], len(X))
            mixtures.append(
                np.append(
                    _pattern(plain, X, rule["token"], places)[0] @ X[places],
                    [1.0] * biases,
                )
            )
            wanted.append([as_float(number(x)) for x in rule["output"]])
            scale.append(1 / max(as_float(number(rule["tolerance"])), 1e-9))
    V = np.zeros((1, D + biases))
    if wanted:
        by = np.array(scale)[:, None]
        V = np.linalg.lstsq(np.array(mixtures) * by, np.array(wanted) * by, rcond=None)[
            0
        ].T
    exact = [[Fraction(x) for x in row] for row in M.tolist()]
    values = [[Fraction(x) for x in row] for row in V.tolist()]
    one = [[Fraction(int(j == k)) for k in range(D)] for j in range(D)]
    b_Q = [row[D] if biases else Fraction(0) for row in exact]
    b_V = [row[D] if biases else Fraction(0) for row in values]
    return Head(
        [row[:D] for row in exact],
        one,
        [row[:D] for row in values],
        b_Q,
        b_V,
        bias,
        M[:, :D],
        np.eye(D),
        V[:, :D],
        floats([b_Q])[0],
        floats([b_V])[0],
        floats(bias),
    )


def _circuit(layers: Any) -> Answer:
    """Each layer by itself, and all of them run one after the other from some places."""
    answer = together([judge(layer) for layer in layers])
    if answer.word == "false":
        return answer
    questions = [question_of(layer) for layer in layers]
    first, rng = questions[0], np.random.default_rng(0)
    low, high = as_float(first.scale[0]), as_float(first.scale[1])
    for trial in range(6 if first.uncertain else 1):
        now = []
        for X in first.places:
            c = (
                rng.choice([low, high], size=(len(X), 1))
                if trial
                else np.ones((len(X), 1))
            )
            e = rng.normal(size=X.shape)
            e *= (
                as_float(first.ball)
                * (1 - 1e-9)
                / np.linalg.norm(e, axis=1, keepdims=True)
            )
            now.append(c * X + (e if trial else 0.0))
        for depth, question in enumerate(questions):
            if [X.shape for X in now] != [X.shape for X in question.places]:
                return Answer("false", "layers of other sizes")
            for rule in question.rules:
                for name, measure in _measures(question, rule):
                    if measure(now[rule["sequence"]]) > CLEAR:
                        return Answer(
                            "false",
                            f"layer {depth}, token {rule['token']}, {name}: broken when it is run",
                        )
            now = [
                X + sum(_outputs(head, X, question.mask) for head in question.heads)
                for X in now
            ]
    return (
        answer
        if answer.word == "unknown" or not first.uncertain
        else Answer("unknown", "in an uncertainty")
    )


def _outputs(head: Head, X: np.ndarray, mask: Any) -> np.ndarray:
    rows = []
    for i in range(len(X)):
        places = seen(mask, i, len(X))
        rows.append(
            _pattern(head, X, i, places)[0] @ (X[places] @ head.V.T + head.v)
            if places
            else np.zeros(len(head.V))
        )
    return np.array(rows)
