"""Changes of a certificate about keys that know its structure: each may leave the statement true, or make it false."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath

from tests.referee.numbers import digest, hexed, number, spelled, vector
from tests.referee.problem import dots, problem_of

Change = Callable[
    [Any, random.Random, list[Any]], bool
]  # a document, chance, other documents: was it changed?
POWERS = [Fraction(2) ** k for k in (-60, -10, -3, -2, -1, 1, 2, 3, 10, 60)]
HAIRS = [1 + s * Fraction(1, 10**k) for k in (3, 6, 9, 12) for s in (1, -1)] + [
    1 + s * Fraction(1, 2**52) for s in (1, -1)
]
THIRDS = [Fraction(1, 3 * 2**k) for k in (0, 1, 5, 20)] + [
    Fraction(2, 3),
    Fraction(1, 7),
]


def factor(chance: random.Random, *more: list[Fraction]) -> Fraction:
    return chance.choice(chance.choice([POWERS, HAIRS, *more]))


def times(numbers: list[str], by: Fraction, *, floats: bool = False) -> list[str]:
    """Each number times a factor; rounded to a float where it must be one."""
    found = [number(x) * by for x in numbers]
    return [float(x).hex() if floats else hexed(x) for x in found]


def parts(document: Any) -> list[Any]:
    bound = document["evidence"]["bound"]
    return bound["parts"] if bound else []


def constraints(document: Any) -> list[Any]:
    return [c for part in parts(document) for c in part["constraints"]]


def renew(keys: Any) -> None:
    keys["n"], keys["sha256"] = len(keys["rows"]), digest(keys["rows"])


def scale_queries(document: Any, chance: random.Random, _: list[Any]) -> bool:
    queries = document["statement"]["queries"]
    if not queries:
        return False
    by = factor(chance)
    for k in (
        range(len(queries))
        if chance.random() < 0.5
        else [chance.randrange(len(queries))]
    ):
        queries[k] = times(queries[k], by, floats=True)
    return True


def shorten_with_bound(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Queries and what is said to be shortest, shortened together."""
    statement, by = document["statement"], factor(chance)
    statement["queries"] = [times(q, by, floats=True) for q in statement["queries"]]
    statement["none_shorter"] = hexed(number(statement["none_shorter"]) * by)
    return True


def scale_part(document: Any, chance: random.Random, _: list[Any]) -> bool:
    if not parts(document):
        return False
    part = chance.choice(parts(document))
    part["query"] = times(part["query"], factor(chance, THIRDS))
    return True


def part_over_other_denominator(
    document: Any, chance: random.Random, _: list[Any]
) -> bool:
    """The relatives of one bug: the numerators of the statement's query, over another denominator, in a part."""
    queries = document["statement"]["queries"]
    if not queries or not parts(document):
        return False
    query = chance.choice(queries)
    for part in (
        parts(document) if chance.random() < 0.5 else [chance.choice(parts(document))]
    ):
        part["query"] = times(query, chance.choice(POWERS + THIRDS + [Fraction(1)]))
    if chance.random() < 0.5:
        return scale_queries(document, chance, [])
    return True


def heads_of_one_query(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Several heads that are multiples of one another, without a bound."""
    statement = document["statement"]
    if not statement["queries"]:
        return False
    q = chance.choice(statement["queries"])
    by = [
        Fraction(1),
        *(
            chance.choice([*POWERS, Fraction(1)])
            for _ in range(chance.choice([1, 1, 2]))
        ),
    ]
    chance.shuffle(by)
    statement["queries"] = [times(q, f, floats=True) for f in by]
    statement["heads"], statement["none_shorter"], document["evidence"]["bound"] = (
        len(by),
        "0",
        None,
    )
    return True


def scale_keys(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """One row, one scenario or all keys; sometimes made good elsewhere, so that the statement stays true."""
    statement, by = document["statement"], factor(chance)
    every = chance.random() < 0.5
    for keys in statement["keys"] if every else [chance.choice(statement["keys"])]:
        rows = (
            range(len(keys["rows"]))
            if every or chance.random() < 0.5
            else [chance.randrange(len(keys["rows"]))]
        )
        for k in rows:
            keys["rows"][k] = times(keys["rows"][k], by, floats=True)
        renew(keys)
    if every and chance.random() < 0.7:
        way = chance.randrange(3)
        if way == 0:
            statement["scale"] = hexed(number(statement["scale"]) / by)
        else:
            statement["queries"] = [
                times(q, 1 / by, floats=True) for q in statement["queries"]
            ]
            statement["none_shorter"] = hexed(number(statement["none_shorter"]) / by)
            for part in parts(document) if way == 1 else []:
                part["query"] = times(part["query"], 1 / by)
        for entry in statement["uncertainty"]:
            entry["ball"] = hexed(number(entry["ball"]) * by)
            entry["factor"] = [times(column, by) for column in entry["factor"]]
    return True


def nudge_key(document: Any, chance: random.Random, _: list[Any]) -> bool:
    keys = chance.choice(document["statement"]["keys"])
    row = chance.choice(keys["rows"])
    if not row:
        return False
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
    renew(keys)
    return True


def copy_key(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """A key becomes equal to another: a target gets a twin, or a rival goes."""
    keys = chance.choice(document["statement"]["keys"])
    i, j = chance.randrange(len(keys["rows"])), chance.randrange(len(keys["rows"]))
    keys["rows"][i] = list(keys["rows"][j])
    renew(keys)
    return True


def add_key(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """One key more, or one fewer at the end, in every scenario."""
    statement = document["statement"]
    n = statement["keys"][0]["n"]
    more = chance.random() < 0.6 or n - 1 in map(int, statement["targets"])
    for keys in statement["keys"]:
        if more:
            keys["rows"].append(list(chance.choice(keys["rows"])))
        elif n > 2:
            keys["rows"].pop()
        renew(keys)
    return True


def permute_keys(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Keys in another order; half the time what names them is renamed as well, and the statement stays as true."""
    statement, evidence = document["statement"], document["evidence"]
    n = statement["keys"][0]["n"]
    order = list(range(n))
    if chance.random() < 0.5:
        chance.shuffle(order)
    else:
        i, j = chance.randrange(n), chance.randrange(n)
        order[i], order[j] = order[j], order[i]
    for keys in statement["keys"]:
        keys["rows"] = [keys["rows"][i] for i in order]
        renew(keys)
    if chance.random() < 0.5:
        new = {old: at for at, old in enumerate(order)}

        def renamed(table: dict[str, Any]) -> dict[str, Any]:
            return {str(new[int(name)]): value for name, value in table.items()}

        statement["targets"] = renamed(statement["targets"])
        for entry in statement["uncertainty"]:
            entry["keys"] = (
                entry["keys"]
                if entry["keys"] == "*"
                else [new[key] for key in entry["keys"]]
            )
        if evidence["bound"]:
            bound = evidence["bound"]
            bound["scales"], bound["own_scales"] = (
                renamed(bound["scales"]),
                renamed(bound["own_scales"]),
            )
            bound["among"] = bound["among"] and [new[key] for key in bound["among"]]
        for c in constraints(document):
            c["target"] = new[c["target"]]
            c["distribution"] = c["distribution"] and renamed(c["distribution"])
    return True


def negate(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """The sign of the scale, of queries, or of both."""
    statement = document["statement"]
    which = chance.randrange(3)
    if which != 0:
        statement["scale"] = hexed(-number(statement["scale"]))
    if which != 1:
        statement["queries"] = [times(q, Fraction(-1)) for q in statement["queries"]]
        for part in parts(document):
            part["query"] = times(part["query"], Fraction(-1))
    return True


def scale_scale(document: Any, chance: random.Random, _: list[Any]) -> bool:
    statement = document["statement"]
    statement["scale"] = hexed(number(statement["scale"]) * factor(chance, THIRDS))
    return True


def swap_heads(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Queries in another order, one of them twice, or one head more or fewer."""
    statement = document["statement"]
    queries = statement["queries"]
    if not queries:
        statement["heads"] = max(1, statement["heads"] + chance.choice([-1, 1]))
        return True
    way = chance.randrange(4)
    if way == 0:
        chance.shuffle(queries)
    elif way == 1:
        queries[chance.randrange(len(queries))] = list(chance.choice(queries))
    elif way == 2:
        queries.append(list(chance.choice(queries)))
    elif len(queries) > 1:
        queries.pop(chance.randrange(len(queries)))
    if statement["heads"] == 1 and len(queries) > 1 and chance.random() < 0.7:
        statement["none_shorter"], document["evidence"]["bound"] = "0", None
    statement["heads"] = len(queries)
    return True


def change_parts(document: Any, chance: random.Random, _: list[Any]) -> bool:
    found = parts(document)
    if not found:
        return False
    way = chance.randrange(4)
    if way == 0:
        chance.shuffle(found)
    elif way == 1:
        found.append(json.loads(json.dumps(chance.choice(found))))
    elif way == 2 and len(found) > 1:
        found.pop(chance.randrange(len(found)))
    else:
        part = chance.choice(found)
        part["query"] = list(chance.choice(found)["query"])
    return True


def change_constraints(document: Any, chance: random.Random, _: list[Any]) -> bool:
    if not constraints(document):
        return False
    c, statement = chance.choice(constraints(document)), document["statement"]
    way = chance.randrange(6)
    if way == 0:
        c["multiplier"] = hexed(number(c["multiplier"]) * factor(chance, THIRDS))
    elif way == 1:
        c["target"] = int(chance.choice(list(statement["targets"])))
    elif way == 2:
        c["scenario"] = chance.randrange(len(statement["keys"]))
    elif way == 3:
        c["multiplier"] = chance.choice(
            ["0", "-0", "1", "-1", "1e-300", "1e300", "1/3"]
        )
    elif way == 4 and c["distribution"]:
        j = chance.choice(list(c["distribution"]))
        c["distribution"][j] = hexed(
            number(c["distribution"][j]) * factor(chance, THIRDS, [Fraction(0)])
        )
    elif way == 5:
        n = statement["keys"][0]["n"]
        for other in constraints(document):
            other["distribution"] = {str(j): str(chance.randrange(4)) for j in range(n)}
    else:
        return False
    return True


def swap_scenarios(document: Any, chance: random.Random, _: list[Any]) -> bool:
    keys = document["statement"]["keys"]
    way = chance.randrange(4)
    if way == 0 and len(keys) > 1:
        keys.reverse()
    elif way == 1:
        keys.append(json.loads(json.dumps(chance.choice(keys))))
    elif way == 2 and len(keys) > 1:
        keys.pop(chance.randrange(len(keys)))
    elif way == 3 and len(keys) > 1:
        keys[0] = json.loads(json.dumps(keys[-1]))
    else:
        return False
    return True


def transplant(document: Any, chance: random.Random, others: list[Any]) -> bool:
    """Evidence, parts, queries or a target of another certificate."""
    other = chance.choice(others)
    mine, its = document["statement"], other["statement"]
    way = chance.randrange(6)
    if way == 0:
        document["evidence"] = json.loads(json.dumps(other["evidence"]))
    elif way == 1 and parts(document) and parts(other):
        document["evidence"]["bound"]["parts"] = json.loads(json.dumps(parts(other)))
    elif way == 2 and its["queries"] and mine["queries"]:
        mine["queries"] = json.loads(json.dumps(its["queries"]))
    elif way == 3 and len(its["keys"][0]["rows"]) == len(mine["keys"][0]["rows"]):
        mine["keys"] = json.loads(json.dumps(its["keys"]))
    elif way == 4:
        mine["targets"] = json.loads(json.dumps(its["targets"]))
    else:
        mine["none_shorter"] = its["none_shorter"]
    return True


def border_of_length(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """What is said to be shortest, just across the length of the queries, or of itself."""
    statement = document["statement"]
    if statement["claim"] == "impossible":
        return False
    now = number(statement["none_shorter"])
    if statement["queries"] and chance.random() < 0.5:
        with mpmath.workdps(30):
            now = max(
                sum((x * x for x in vector(q)), Fraction(0))
                for q in statement["queries"]
            )
            now = Fraction(
                str(mpmath.sqrt(mpmath.mpf(now.numerator) / now.denominator))
            )
    statement["none_shorter"] = hexed(
        now * chance.choice([*HAIRS, Fraction(1), Fraction(2), Fraction(3, 2)])
    )
    return True


def border_of_weight(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """A least weight just across the one that the queries give (with every key at its place), or across itself."""
    statement = document["statement"]
    a = chance.choice(list(statement["targets"]))
    p = number(statement["targets"][a])
    if statement["queries"] and chance.random() < 0.6:
        problem = problem_of(statement)
        with mpmath.workdps(40):
            total = mpmath.mpf(0)
            for q in statement["queries"]:
                m = [problem.scale * x for x in dots(problem.keys[0], vector(q))]
                x = [
                    mpmath.mpf((y - m[int(a)]).numerator) / (y - m[int(a)]).denominator
                    for y in m
                ]
                if max(x) > 1e5:
                    return False
                total += 1 / mpmath.fsum(map(mpmath.exp, x)) / len(statement["queries"])
            p = Fraction(str(total))
    room = 1 - p
    by = chance.choice(HAIRS)
    p = chance.choice([p * by, 1 - room * by, p])
    statement["targets"][a] = hexed(p) if 0 < p <= 1 else "1"
    return True


def weaken_or_strengthen(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """By one unit: the weights, the length, the confidence, the uncertainty."""
    statement = document["statement"]
    way = chance.randrange(6)
    unit = chance.choice([1, -1])
    if way == 0:
        a = chance.choice(list(statement["targets"]))
        p = number(statement["targets"][a])
        q = chance.choice(
            [
                Fraction(p.numerator, max(p.denominator + unit, p.numerator)),
                p + unit * Fraction(1, 10**12),
            ]
        )
        statement["targets"][a] = str(min(max(q, Fraction(1, 10**9)), Fraction(1)))
    elif way == 1:
        statement["none_shorter"] = hexed(
            max(Fraction(0), number(statement["none_shorter"]) * chance.choice(HAIRS))
        )
    elif way == 2 and statement["confidence"] != "1":
        risk = (1 - number(statement["confidence"])) * chance.choice(
            [*HAIRS, Fraction(1, 2), Fraction(2), Fraction(5)]
        )
        statement["confidence"] = hexed(1 - risk) if 0 < risk < 1 else "1/2"
    elif way == 3 and statement["uncertainty"]:
        entry = chance.choice(statement["uncertainty"])
        by = chance.choice([*HAIRS, Fraction(2), Fraction(1, 2), Fraction(10)])
        which = chance.choice(["ball", "stretch", "factor", "scale"])
        if which == "factor":
            entry["factor"] = [times(column, by) for column in entry["factor"]]
        elif which == "scale":
            low, high = vector(entry["scale"])
            entry["scale"] = [
                hexed(low / by if by > 1 else low * by),
                hexed(high * by if by > 1 else high / by),
            ]
        else:
            entry[which] = hexed(number(entry[which]) * by)
    elif way == 4 and document["evidence"]["guard"]:
        guard = document["evidence"]["guard"]
        guard["deviations"] = hexed(
            number(guard["deviations"]) * chance.choice([*HAIRS, Fraction(3, 4)])
        )
        if chance.random() < 0.3:
            guard["kind"] = chance.choice(["keys", "pairs"])
    elif way == 5 and document["evidence"]["bound"]:
        bound = document["evidence"]["bound"]
        bound["deviations"] = hexed(
            number(bound["deviations"]) * chance.choice([*HAIRS, Fraction(3, 2)])
        )
    else:
        return False
    return True


def change_uncertainty(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Entries dropped, their keys exchanged, what is random made certain and the other way round."""
    uncertainty = document["statement"]["uncertainty"]
    if not uncertainty:
        return False
    entry, n = chance.choice(uncertainty), document["statement"]["keys"][0]["n"]
    way = chance.randrange(6)
    if way == 0:
        uncertainty.remove(entry)
        for part in parts(document):
            part["lifts"], part["moves"] = (
                part["lifts"][: len(uncertainty)],
                part["moves"][: len(uncertainty)],
            )
    elif way == 1:
        entry["keys"] = (
            "*"
            if entry["keys"] != "*" and chance.random() < 0.5
            else [chance.randrange(n)]
        )
    elif way == 2:
        entry["random"] = not entry["random"]
    elif way == 3:
        entry["scale"] = chance.choice(
            [
                ["1", "1"],
                ["0", "1"],
                ["-1", "1"],
                ["9/10", "11/10"],
                ["1", "2"],
                ["1/2", "1"],
            ]
        )
    elif way == 4 and len(uncertainty) > 1:
        uncertainty[0]["keys"], uncertainty[1]["keys"] = (
            uncertainty[1]["keys"],
            uncertainty[0]["keys"],
        )
    else:
        entry["ball"], entry["factor"] = chance.choice(
            [
                ("0", []),
                ("1/100", []),
                ("0", [entry["factor"][0]] if entry["factor"] else []),
            ]
        )
    return True


def change_moves(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Lifts, moves, pushes and chosen scales of the bound."""
    if not parts(document):
        return False
    part, bound = chance.choice(parts(document)), document["evidence"]["bound"]
    way = chance.randrange(5)
    by = factor(chance, [Fraction(-1), Fraction(0)])
    if way == 0:
        part["lifts"] = times(part["lifts"], by)
    elif way == 1:
        part["moves"] = [times(move, by) for move in part["moves"]]
    elif way == 2 and part["push"]:
        part["push"] = times(part["push"], by)
    elif way == 3 and (bound["scales"] or bound["own_scales"]):
        table = bound["scales"] or bound["own_scales"]
        j = chance.choice(list(table))
        table[j] = hexed(number(table[j]) * chance.choice(HAIRS + POWERS[3:7]))
    elif way == 4:
        bound["scales"], bound["own_scales"] = bound["own_scales"], bound["scales"]
    else:
        return False
    return True


def change_claim(document: Any, chance: random.Random, _: list[Any]) -> bool:
    statement, evidence = document["statement"], document["evidence"]
    claim = chance.choice(["designed", "longer", "impossible"])
    if claim == "designed" and not statement["queries"]:
        d = statement["keys"][0]["d"]
        statement["queries"] = [
            times(parts(document)[0]["query"], factor(chance), floats=True)
            if parts(document)
            else ["0"] * d
        ]
    if claim != "designed":
        statement["queries"], evidence["guard"] = [], None
    statement["claim"] = claim
    statement["none_shorter"] = (
        "0" if claim == "impossible" else statement["none_shorter"]
    )
    if claim == "longer" and number(statement["none_shorter"]) == 0:
        statement["none_shorter"] = chance.choice(["1", "10", "1e6", "1e-3"])
    return True


def change_targets(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """A target more, one fewer, or another one."""
    statement = document["statement"]
    targets, n = statement["targets"], statement["keys"][0]["n"]
    a = chance.choice(list(targets))
    way = chance.randrange(3)
    if way == 0:
        targets[str(chance.randrange(n))] = chance.choice(
            ["1/3", "1/1000", targets[a], hexed(1 - number(targets[a]))]
        )
    elif way == 1 and len(targets) > 1:
        del targets[a]
    else:
        targets[str(chance.randrange(n))] = targets.pop(a)
    if chance.random() < 0.5:
        for c in constraints(document):
            c["target"] = (
                c["target"] if str(c["target"]) in targets else int(next(iter(targets)))
            )
    return True


def drop_bound(document: Any, chance: random.Random, _: list[Any]) -> bool:
    if document["statement"]["claim"] != "designed":
        return False
    document["statement"]["none_shorter"], document["evidence"]["bound"] = "0", None
    return scale_queries(document, chance, []) if chance.random() < 0.7 else True


def respell(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Numbers in other spellings: nothing changes."""
    statement = document["statement"]
    for name in ("scale", "none_shorter", "confidence"):
        statement[name] = _other(statement[name], chance)
    statement["queries"] = [
        [_other(x, chance) for x in q] for q in statement["queries"]
    ]
    statement["targets"] = {
        a: _other(p, chance) for a, p in statement["targets"].items()
    }
    for keys in statement["keys"] if chance.random() < 0.3 else []:
        keys["rows"] = [
            [
                x if x.startswith("-") and number(x) == 0 else _other(x, chance)
                for x in row
            ]
            for row in keys["rows"]
        ]
    for part in parts(document):
        part["query"] = [_other(x, chance) for x in part["query"]]
        part["moves"] = [[_other(x, chance) for x in move] for move in part["moves"]]
    for c in constraints(document):
        c["multiplier"] = _other(c["multiplier"], chance)
    return True


def _other(text: str, chance: random.Random) -> str:
    return spelled(number(text), chance)


def odd_leaf(document: Any, chance: random.Random, _: list[Any]) -> bool:
    """Any number of the document (not a key) becomes an odd one, or another one of it."""
    found: list[tuple[Any, Any]] = []

    def collect(thing: Any) -> None:
        for name, value in (
            thing.items() if isinstance(thing, dict) else enumerate(thing)
        ):
            if isinstance(value, dict | list):
                if name != "rows":
                    collect(value)
            elif isinstance(value, str | int) and name not in (
                "sha256",
                "format",
                "version",
            ):
                found.append((thing, name))

    collect(document)
    where, name = chance.choice(found)
    odd = [
        "0",
        "-0",
        "1",
        "-1",
        "2",
        "1/2",
        "1e-999",
        "0x1p-1074",
        "1/3",
        "0x1/0x3",
        "5000",
        "0.99",
        "1e300",
    ]
    other = chance.choice(found)
    value = where[name]
    if isinstance(value, int) and not isinstance(value, bool):
        where[name] = max(0, value + chance.choice([1, -1]))
    else:
        where[name] = chance.choice([*odd, other[0][other[1]]])
    return True


CHANGES: list[Change] = [
    scale_queries,
    scale_queries,
    shorten_with_bound,
    scale_part,
    part_over_other_denominator,
    heads_of_one_query,
    scale_keys,
    scale_keys,
    nudge_key,
    copy_key,
    add_key,
    permute_keys,
    permute_keys,
    negate,
    scale_scale,
    swap_heads,
    swap_heads,
    change_parts,
    change_constraints,
    swap_scenarios,
    transplant,
    transplant,
    border_of_length,
    border_of_length,
    border_of_weight,
    border_of_weight,
    weaken_or_strengthen,
    weaken_or_strengthen,
    change_uncertainty,
    change_moves,
    change_claim,
    change_targets,
    drop_bound,
    respell,
    odd_leaf,
]
