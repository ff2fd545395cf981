"""Changes of a certificate about whole heads that know its structure."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import numpy as np

from tests.referee.heads import question_of, seen
from tests.referee.mutate_keys import (
    HAIRS,
    POWERS,
    THIRDS,
    Change,
    factor,
    odd_leaf,
    times,
)
from tests.referee.numbers import hexed, number, spelled, vector


def layers(document: Any) -> list[Any]:
    return document["statement"].get("layers", [document["statement"]])


def evidence_of(document: Any, layer: Any) -> Any:
    if "layers" in document["statement"]:
        return document["evidence"]["layers"][
            next(k for k, one in enumerate(layers(document)) if one is layer)
        ]
    return document["evidence"]


def rows(
    matrix: list[list[str]], by: Fraction, *, floats: bool = True
) -> list[list[str]]:
    return [times(row, by, floats=floats) for row in matrix]


def scale_weights(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """One matrix; sometimes another one the other way, so that scores stay."""
    layer = chance.choice(layers(document))
    if not layer.get("heads"):
        return False
    by, floats = factor(chance), chance.random() < 0.8
    for head in (
        layer["heads"] if chance.random() < 0.3 else [chance.choice(layer["heads"])]
    ):
        name = chance.choice(["W_Q", "W_K", "W_V"])
        head[name] = rows(head[name], by, floats=floats)
        if name == "W_Q" and chance.random() < 0.7:
            head["b_Q"] = times(head["b_Q"], by, floats=floats)
        if name != "W_V" and chance.random() < 0.4:
            other = {"W_Q": "W_K", "W_K": "W_Q"}[name]
            head[other] = rows(head[other], 1 / by, floats=floats)
            if other == "W_Q":
                head["b_Q"] = times(head["b_Q"], 1 / by, floats=floats)
    return True


def nudge_weight(document: Any, chance: random.Random, _: list[Any]) -> bool:
    layer = chance.choice(layers(document))
    if not layer.get("heads"):
        return False
    head = chance.choice(layer["heads"])
    row = chance.choice(head[chance.choice(["W_Q", "W_K", "W_V"])])
    k = chance.randrange(len(row))
    row[k] = chance.choice(
        [
            hexed(-number(row[k])),
            float(number(row[k]) * factor(chance)).hex(),
            "0",
            "-0",
            "1",
        ]
    )
    return True


def swap_heads(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Heads in another order, one of them twice, rules that name another one, queries and keys exchanged."""
    layer = chance.choice(layers(document))
    if not layer.get("heads"):
        return False
    heads = layer["heads"]
    way = chance.randrange(5)
    if way == 0:
        heads.append(json.loads(json.dumps(chance.choice(heads))))
        if layer["bias"]:
            layer["bias"].append(chance.choice(layer["bias"]))
    elif way == 1 and len(heads) > 1:
        heads.reverse()
    elif way == 2:
        head = chance.choice(heads)
        head["W_Q"], head["W_K"] = head["W_K"], head["W_Q"]
    elif way == 3:
        rule = chance.choice(layer["rules"])
        rule["head"] = chance.choice(["sum", *range(len(heads))])
    else:
        head = chance.choice(heads)
        order = list(range(len(head["W_Q"])))
        chance.shuffle(order)
        for name in ("W_Q", "W_K"):
            head[name] = [head[name][k] for k in order]
        head["b_Q"] = [head["b_Q"][k] for k in order] if head["b_Q"] else []
    return True


def scale_tokens(document: Any, chance: random.Random, _: list[Any]) -> bool:
    layer = chance.choice(layers(document))
    by, X = factor(chance), chance.choice(layer["sequences"])
    if chance.random() < 0.5:
        k = chance.randrange(len(X))
        X[k] = times(X[k], by, floats=True)
        return True
    for n, Y in enumerate(layer["sequences"]):
        layer["sequences"][n] = rows(Y, by)
    for head in layer.get("heads", []) if chance.random() < 0.6 else []:
        for name in ("W_Q", "W_K", "W_V"):
            head[name] = rows(head[name], 1 / by)
        layer["uncertainty"]["ball"] = hexed(number(layer["uncertainty"]["ball"]) * by)
    return True


def permute_tokens(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Tokens of a sequence in another order; half the time rules follow."""
    layer = chance.choice(layers(document))
    n = chance.randrange(len(layer["sequences"]))
    X = layer["sequences"][n]
    order = list(range(len(X)))
    if chance.random() < 0.5:
        chance.shuffle(order)
    else:
        i, j = chance.randrange(len(X)), chance.randrange(len(X))
        order[i], order[j] = order[j], order[i]
    layer["sequences"][n] = [X[i] for i in order]
    if chance.random() < 0.6:
        new = {old: at for at, old in enumerate(order)}
        for rule in layer["rules"]:
            if rule["sequence"] == n:
                rule["token"] = new[rule["token"]]
                for name in ("attend", "at_most"):
                    rule[name] = {str(new[int(a)]): p for a, p in rule[name].items()}
    return True


def nudge_token(document: Any, chance: random.Random, _: list[Any]) -> bool:
    layer = chance.choice(layers(document))
    X = chance.choice(layer["sequences"])
    k = chance.randrange(len(X))
    if chance.random() < 0.3:
        X[k] = list(chance.choice(X))
        return True
    j = chance.randrange(len(X[k]))
    X[k][j] = chance.choice(
        [
            hexed(-number(X[k][j])),
            float(number(X[k][j]) * factor(chance)).hex(),
            "0",
            "1",
        ]
    )
    return True


def border(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """A least or largest weight, or a tolerance, just across what the head does at the tokens' places, or itself."""
    layer = chance.choice(layers(document))
    rule = chance.choice(layer["rules"])
    by = chance.choice([*HAIRS, Fraction(1)])
    alpha, error = (
        _really(layer, rule)
        if layer.get("heads") and chance.random() < 0.6
        else ({}, None)
    )
    names = [name for name in ("attend", "at_most") if rule[name]]
    if rule["output"] and (not names or chance.random() < 0.5):
        now = number(rule["tolerance"]) if error is None else Fraction(error)
        rule["tolerance"] = hexed(now * by)
    elif names:
        name = chance.choice(names)
        a = chance.choice(list(rule[name]))
        p = Fraction(alpha[int(a)]) if int(a) in alpha else number(rule[name][a])
        p = chance.choice([p * by, 1 - (1 - p) * by])
        rule[name][a] = hexed(p) if 0 < p <= 1 else "1"
    else:
        return False
    return True


def _really(layer: Any, rule: Any) -> tuple[dict[int, float], float | None]:
    question = question_of(layer)
    X, i = question.places[rule["sequence"]], rule["token"]
    places = seen(question.mask, i, len(X))
    heads = (
        question.heads
        if rule["head"] == "sum"
        else question.heads[rule["head"] : rule["head"] + 1]
    )
    total, alpha = 0.0, np.zeros(0)
    with np.errstate(all="ignore"):
        for head in heads:
            s = X[places] @ (head.K.T @ (head.Q @ X[i] + head.q)) + (
                head.added[i, places] if head.bias else 0.0
            )
            alpha = np.exp(s - s.max())
            alpha = alpha / alpha.sum()
            total = total + alpha @ (X[places] @ head.V.T + head.v)
        wanted = np.array([float(number(x)) for x in rule["output"]])
        error = float(np.linalg.norm(total - wanted)) if len(wanted) else None
    if not np.isfinite(alpha).all() or (error is not None and not np.isfinite(error)):
        return {}, None
    return dict(zip(places, alpha.tolist(), strict=True)), error


def change_rules(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Rules dropped, doubled, exchanged, about another token or target."""
    layer = chance.choice(layers(document))
    rules = layer["rules"]
    rule = chance.choice(rules)
    T = len(layer["sequences"][rule["sequence"]])
    way = chance.randrange(7)
    if way == 0 and len(rules) > 1:
        rules.remove(rule)
    elif way == 1:
        rules.append(json.loads(json.dumps(rule)))
    elif way == 2:
        chance.shuffle(rules)
    elif way == 3:
        rule["token"] = chance.randrange(T)
    elif way == 4 and rule["attend"]:
        a = chance.choice(list(rule["attend"]))
        rule["attend"][str(chance.randrange(T))] = rule["attend"].pop(a)
    elif way == 5 and rule["output"]:
        k = chance.randrange(len(rule["output"]))
        rule["output"][k] = hexed(
            number(rule["output"][k]) * factor(chance)
            + chance.choice([Fraction(0), Fraction(1, 1000)])
        )
    elif way == 6:
        rule["at_most"][str(chance.randrange(T))] = chance.choice(
            ["1/2", "1/10", "99/100", "1"]
        )
    else:
        return False
    return True


def change_bounds(document: Any, chance: random.Random, others: list[Any]) -> bool:
    """What no smaller head does, by a hair or another norm; and the evidence for it."""
    layer = chance.choice(layers(document))
    if not layer.get("bounds"):
        return False
    k = chance.randrange(len(layer["bounds"]))
    bound, proof = layer["bounds"][k], evidence_of(document, layer)["bounds"][k]
    way = chance.randrange(8)
    if way <= 1:
        least = number(bound["least"])
        bound["least"] = (
            str(least + 1)
            if bound["norm"] == "dimension"
            else hexed(least * chance.choice([*HAIRS, Fraction(2), Fraction(1, 2)]))
        )
    elif way == 2:
        bound["norm"] = chance.choice(["frobenius", "nuclear"])
    elif way == 3 and proof.get("W_Q"):
        name = chance.choice(["W_Q", "W_K"])
        proof[name] = rows(proof[name], factor(chance, THIRDS), floats=False)
    elif way == 4 and proof.get("constraints"):
        c = chance.choice(proof["constraints"])
        c["multiplier"] = hexed(
            number(c["multiplier"])
            * factor(chance, THIRDS, [Fraction(0), Fraction(-1)])
        )
    elif way == 5 and proof.get("constraints"):
        c = chance.choice(proof["constraints"])
        c["rule"] = chance.randrange(len(layer["rules"]))
    elif way == 6:
        for one in (layer["bounds"], evidence_of(document, layer)["bounds"]):
            one.append(json.loads(json.dumps(one[k])))
    elif way == 7 and proof.get("constraints") is not None and layer.get("heads"):
        head = layer["heads"][bound["head"]]
        by = chance.choice(POWERS + THIRDS + [Fraction(1)])
        joined = head["W_Q"]
        if layer["biases"]:
            joined = [
                [*row, b] for row, b in zip(head["W_Q"], head["b_Q"], strict=True)
            ]
        proof["W_Q"], proof["W_K"] = (
            rows(joined, by, floats=False),
            rows(head["W_K"], Fraction(1), floats=False),
        )
    else:
        proofs = [
            o["evidence"]["bounds"] for o in others if o["evidence"].get("bounds")
        ]
        if not proofs:
            return False
        evidence_of(document, layer)["bounds"][k] = json.loads(
            json.dumps(chance.choice(chance.choice(proofs)))
        )
    return True


def change_walk(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Evidence for a dimension: steps, tokens or rules dropped, doubled or exchanged."""
    proofs = [
        proof
        for layer in layers(document)
        for proof in evidence_of(document, layer).get("bounds", [])
    ]
    found = [
        proof[name]
        for proof in proofs
        for name in ("walk", "tokens", "rules")
        if proof.get(name)
    ]
    if not found:
        return False
    steps = chance.choice(found)
    way = chance.randrange(4)
    if way == 0:
        steps.pop(chance.randrange(len(steps)))
    elif way == 1:
        steps.append(json.loads(json.dumps(chance.choice(steps))))
    elif way == 2:
        chance.shuffle(steps)
    else:
        step = chance.choice(steps)
        if isinstance(step, dict):
            step["target"], step["rival"] = step["rival"], step["target"]
    return True


def change_none(document: Any, chance: random.Random, others: list[Any]) -> bool:
    """Evidence that there are no heads: multipliers, shares, entries."""
    evidence = document["evidence"]
    if "attend" not in evidence:
        return False
    entries = evidence["attend"] or evidence["output"]
    entry = chance.choice(entries)
    way = chance.randrange(6)
    if way == 0 and "multiplier" in entry:
        entry["multiplier"] = hexed(
            number(entry["multiplier"])
            * factor(chance, THIRDS, [Fraction(-1), Fraction(0)])
        )
    elif way == 0:
        a = chance.choice(list(entry["multipliers"]))
        entry["multipliers"][a] = hexed(
            number(entry["multipliers"][a]) * factor(chance, THIRDS, [Fraction(-1)])
        )
    elif way == 1 and "distribution" in entry:
        i, j = (
            chance.choice(list(entry["distribution"])),
            chance.choice(list(entry["distribution"])),
        )
        shift = number(entry["distribution"][i]) * chance.choice(
            [Fraction(1, 10**9), Fraction(1, 2), Fraction(1)]
        )
        entry["distribution"][i] = hexed(number(entry["distribution"][i]) - shift)
        entry["distribution"][j] = hexed(number(entry["distribution"][j]) + shift)
    elif way == 2:
        entry["rule"] = chance.randrange(len(document["statement"]["rules"]))
    elif way == 3:
        entries.append(json.loads(json.dumps(entry)))
    elif way == 4 and len(entries) > 1:
        entries.remove(entry)
    elif way == 5:
        found = [o["evidence"] for o in others if "attend" in o["evidence"]]
        document["evidence"] = (
            json.loads(json.dumps(chance.choice(found))) if found else evidence
        )
    else:
        return False
    return True


def change_uncertainty(document: Any, chance: random.Random, _: list[Any]) -> bool:
    uncertainty = chance.choice(layers(document))["uncertainty"]
    way = chance.randrange(4)
    by = chance.choice([*HAIRS, Fraction(2), Fraction(1, 2), Fraction(10)])
    if way == 0:
        uncertainty["ball"] = hexed(number(uncertainty["ball"]) * by)
    elif way == 1:
        low, high = vector(uncertainty["scale"])
        uncertainty["scale"] = [
            hexed(1 - abs(1 - low) * by),
            hexed(1 + abs(high - 1) * by),
        ]
    elif way == 2:
        uncertainty["ball"] = chance.choice(["0", "1/1000", "1/50", "1/10"])
    else:
        uncertainty["scale"] = chance.choice(
            [["1", "1"], ["9/10", "11/10"], ["1", "11/10"], ["99/100", "1"]]
        )
    return True


def change_mask(document: Any, chance: random.Random, _: list[Any]) -> bool:
    layer = chance.choice(layers(document))
    T = max(len(X) for X in layer["sequences"])
    way = chance.randrange(3)
    if way == 0:
        layer["mask"] = chance.choice(["none", "causal"])
    else:
        now = layer["mask"]
        written = [
            ["1" if j in seen(now, i, T) else "0" for j in range(T)] for i in range(T)
        ]
        for _flip in range(0 if way == 1 else chance.choice([1, 3])):
            i = chance.choice(
                [rule["token"] for rule in layer["rules"]] + [chance.randrange(T)]
            )
            j = chance.randrange(T)
            written[i][j] = "1" if written[i][j] == "0" else "0"
        layer["mask"] = ["".join(row) for row in written]
    return True


def change_biases(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Tables that are added to scores, b_Q and b_V."""
    layer = chance.choice(layers(document))
    heads = layer.get("heads", [])
    T = max(len(X) for X in layer["sequences"])
    way = chance.randrange(5)
    if way == 0 and layer["bias"]:
        row = chance.choice(chance.choice(layer["bias"]))
        j = chance.randrange(len(row))
        row[j] = hexed(
            number(row[j]) * factor(chance, [Fraction(-1)])
            + chance.choice([Fraction(0), Fraction(1, 10)])
        )
    elif way == 1 and layer["bias"]:
        table = chance.choice(layer["bias"])
        table[:] = [
            [hexed(number(x) + c) for x in row]
            for row, c in zip(
                table, [Fraction(chance.randrange(-3, 4))] * len(table), strict=True
            )
        ]
    elif way == 2 and not layer["bias"] and T < 12:
        layer["bias"] = [[["0"] * T for _ in range(T)] for _ in heads or [0]]
    elif way == 3 and layer["biases"] and heads:
        head = chance.choice(heads)
        name = chance.choice(["b_Q", "b_V"])
        head[name] = times(
            head[name], factor(chance, [Fraction(-1), Fraction(0)]), floats=True
        )
    elif way == 4 and heads and not layer["biases"]:
        layer["biases"] = True
        for head in heads:
            head["b_Q"], head["b_V"] = (
                ["0"] * len(head["W_Q"]),
                ["0"] * len(head["W_V"]),
            )
    else:
        return False
    return True


def change_layers(document: Any, chance: random.Random, others: list[Any]) -> bool:
    """Layers of a circuit exchanged, doubled, or from another circuit."""
    if "layers" not in document["statement"]:
        return False
    found, proofs = document["statement"]["layers"], document["evidence"]["layers"]
    way = chance.randrange(3)
    if way == 0:
        found.reverse()
        proofs.reverse()
    elif way == 1:
        k = chance.randrange(len(found))
        found.append(json.loads(json.dumps(found[k])))
        proofs.append(json.loads(json.dumps(proofs[k])))
    else:
        other = chance.choice([o for o in others if "layers" in o["statement"]])
        k = chance.randrange(min(len(found), len(other["statement"]["layers"])))
        found[k], proofs[k] = json.loads(
            json.dumps(
                [other["statement"]["layers"][k], other["evidence"]["layers"][k]]
            )
        )
    return True


def change_dtype(document: Any, chance: random.Random, _: list[Any]) -> bool:
    layer = chance.choice(layers(document))
    if "dtype" not in layer:
        return False
    layer["dtype"] = chance.choice(["float64", "float32", "bfloat16"])
    if chance.random() < 0.5:
        for head in layer["heads"]:
            for name in ("W_Q", "W_K", "W_V"):
                head[name] = [
                    [_rounded(x, layer["dtype"]) for x in row] for row in head[name]
                ]
    return True


def _rounded(text: str, dtype: str) -> str:
    with np.errstate(all="ignore"):
        x = np.float64(float(number(text)))
        if dtype == "float64":
            return float(x).hex()
        single = np.float32(x)
        if dtype == "bfloat16":
            single = (single.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return float(single).hex()


def transplant(document: Any, chance: random.Random, others: list[Any]) -> bool:
    """Heads, rules, tokens or evidence of another certificate."""
    other = chance.choice(others)
    mine, its = chance.choice(layers(document)), chance.choice(layers(other))
    way = chance.randrange(4)
    if (
        way == 0
        and "layers" not in document["statement"]
        and "layers" not in other["statement"]
    ):
        document["evidence"] = json.loads(json.dumps(other["evidence"]))
    elif way == 1 and mine.get("heads") and its.get("heads"):
        mine["heads"] = json.loads(json.dumps(its["heads"]))
    elif way == 2:
        mine["rules"] = json.loads(json.dumps(its["rules"]))
    else:
        mine["sequences"] = json.loads(json.dumps(its["sequences"]))
    return True


def respell(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Numbers in other spellings: nothing changes."""
    for layer in layers(document):
        for head in layer.get("heads", []):
            for name in ("W_Q", "W_K", "W_V"):
                head[name] = [
                    [spelled(number(x), chance) for x in row] for row in head[name]
                ]
        for rule in layer["rules"]:
            rule["tolerance"] = spelled(number(rule["tolerance"]), chance)
            rule["attend"] = {
                a: spelled(number(p), chance) for a, p in rule["attend"].items()
            }
            rule["output"] = [spelled(number(x), chance) for x in rule["output"]]
        for bound in layer.get("bounds", []):
            if bound["norm"] != "dimension":
                bound["least"] = spelled(number(bound["least"]), chance)
        for proof in evidence_of(document, layer).get("bounds", []):
            for name in ("W_Q", "W_K"):
                if proof.get(name):
                    proof[name] = [
                        [spelled(number(x), chance) for x in row] for row in proof[name]
                    ]
    return True


CHANGES: list[Change] = [
    scale_weights,
    scale_weights,
    scale_weights,
    nudge_weight,
    swap_heads,
    swap_heads,
    scale_tokens,
    scale_tokens,
    permute_tokens,
    nudge_token,
    border,
    border,
    border,
    change_rules,
    change_rules,
    change_bounds,
    change_bounds,
    change_walk,
    change_none,
    change_none,
    change_uncertainty,
    change_uncertainty,
    change_mask,
    change_biases,
    change_layers,
    change_dtype,
    transplant,
    respell,
    odd_leaf,
]
