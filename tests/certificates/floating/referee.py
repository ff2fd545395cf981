"""docs/reference/certificate.md in mpmath with sixty digits, with no code of either checker: by how much is it true?

Nothing here is rigorous and nothing is fast; what it says is right to some fifty digits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
from mpmath import mpf

DIGITS = 60
Row = list[Any]


def number(text: str) -> Fraction:
    """As the page has it, read by hand."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if not digits.startswith("0x"):
        return sign * Fraction(digits)
    if "/" in digits:
        top, bottom = digits.split("/")
        return sign * Fraction(int(top, 16), int(bottom, 16))
    whole, _, power = digits[2:].partition("p")
    before, _, after = whole.partition(".")
    return (
        sign
        * Fraction(int(before + after, 16), 16 ** len(after))
        * Fraction(2) ** int(power)
    )


def real(x: Fraction | str) -> Any:
    exact = number(x) if isinstance(x, str) else x
    return mpf(exact.numerator) / exact.denominator


def dot(x: Row, y: Row) -> Any:
    return mpmath.fsum(a * b for a, b in zip(x, y, strict=True))


def norm(x: Row) -> Any:
    return mpmath.sqrt(dot(x, x))


def above(z: Any) -> Any:
    """P(N(0, 1) > z)."""
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


CERTAIN = {
    "scale": ["1", "1"],
    "ball": "0",
    "stretch": "0",
    "factor": [],
    "random": False,
}


class Referee:
    """One certificate."""

    def __init__(self, document: Any) -> None:
        said = self.said = document["statement"]
        self.evidence = document["evidence"]
        self.scenarios = [
            [[real(x) for x in row] for row in keys["rows"]] for keys in said["keys"]
        ]
        self.n, self.d = len(self.scenarios[0]), len(self.scenarios[0][0])
        self.s, self.confidence = real(said["scale"]), real(said["confidence"])
        self.targets = {int(a): real(p) for a, p in said["targets"].items()}
        self.entry: list[int | None] = [None] * self.n
        named = {
            key
            for entry in said["uncertainty"]
            if entry["keys"] != "*"
            for key in entry["keys"]
        }
        for e, entry in enumerate(said["uncertainty"]):
            for key in (
                [k for k in range(self.n) if k not in named]
                if entry["keys"] == "*"
                else entry["keys"]
            ):
                self.entry[key] = e

    def spread(self, key: int) -> Any:
        e = self.entry[key]
        return CERTAIN if e is None else self.said["uncertainty"][e]

    def random(self, key: int) -> bool:
        return bool(self.spread(key)["random"])

    def along(self, key: int, q: Row) -> Any:
        """|E^T q|^2 + r^2 |q|^2."""
        w = self.spread(key)
        columns = mpmath.fsum(
            dot([real(x) for x in column], q) ** 2 for column in w["factor"]
        )
        return columns + real(w["ball"]) ** 2 * dot(q, q)

    def met(self) -> Any:
        """The least over scenarios and targets of (weight - p) / (p (1 - p)), or of what the confidence leaves."""
        queries = [[real(x) for x in q] for q in self.said["queries"]]
        guard = self.evidence["guard"]
        z = mpf(0) if guard is None else real(guard["deviations"])
        margins = (
            []
            if guard is None
            else [
                (1 - self.confidence)
                / (len(queries) * self.ways(guard["kind"]) * above(z))
                - 1
            ]
        )
        for keys in self.scenarios:
            for a, p in self.targets.items():
                weight = mpmath.fsum(
                    self.weight(keys, q, a, z, guard) for q in queries
                ) / len(queries)
                margins.append((weight - p) / (p * (1 - p)) if p < 1 else weight - p)
        return min(margins)

    def ways(self, kind: str) -> int:
        random = [key for key in range(self.n) if self.random(key)]
        if kind == "keys":
            return sum(
                2 if len(self.targets) > 1 and key in self.targets else 1
                for key in random
            )
        found = 0
        for a in self.targets:
            rivals = [key for key in range(self.n) if key != a]
            found += sum(self.random(key) for key in rivals)
            found += self.random(a) and any(not self.random(key) for key in rivals)
        return found

    def weight(self, keys: list[Row], q: Row, a: int, z: Any, guard: Any) -> Any:
        low, high, v = [], [], []
        for key in range(self.n):
            w, m = self.spread(key), self.s * dot(keys[key], q)
            reach = 0 if w["random"] else abs(self.s) * mpmath.sqrt(self.along(key, q))
            ends = [real(c) * m for c in w["scale"]]
            low.append(min(ends) - reach)
            high.append(max(ends) + reach)
            v.append(
                self.s**2 * self.along(key, q) + (real(w["stretch"]) * m) ** 2
                if w["random"]
                else mpf(0)
            )
        total = mpf(0)
        for key in range(self.n):
            if key != a:
                pair = guard is not None and guard["kind"] == "pairs"
                chance = (
                    mpmath.sqrt(v[key] + v[a])
                    if pair
                    else mpmath.sqrt(v[key]) + mpmath.sqrt(v[a])
                )
                total += mpmath.exp(high[key] - low[a] + z * chance)
        return 1 / (1 + total)

    def bounded(self) -> Any:
        """The least of (right - L |s| (|V| - room)) / |right|, of right, and of what admits the evidence."""
        b = self.evidence["bound"]
        z, chance = (
            real(b["deviations"]),
            any(w["random"] for w in self.said["uncertainty"]),
        )
        margins = (
            [above(z) / (1 - self.confidence) - 1]
            if chance and self.said["heads"] == 1
            else []
        )
        margins += [
            z * z - used
            for *_, used in (self.part(part, b, z) for part in b["parts"])
            if used > 0
        ]
        for right, V, room in self.inequalities(b, z):
            margins.append(right)
            if self.said["claim"] == "impossible":
                margins.append(room - norm(V))
            else:
                margins.append(
                    (
                        right
                        - real(self.said["none_shorter"])
                        * abs(self.s)
                        * (norm(V) - room)
                    )
                    / abs(right)
                )
        return min(margins)

    def inequalities(self, b: Any, z: Any) -> list[Any]:
        """right, V and room: of each part for several heads; for one head of all together, by their multipliers."""
        parts = [self.part(part, b, z)[:3] for part in b["parts"]]
        if self.said["heads"] > 1:
            return parts
        shares = [
            mpmath.fsum(real(c["multiplier"]) for c in part["constraints"])
            for part in b["parts"]
        ]
        right, room = (
            mpmath.fsum(x * p[i] for x, p in zip(shares, parts, strict=True))
            for i in (0, 2)
        )
        V = [
            mpmath.fsum(x * v for x, v in zip(shares, column, strict=True))
            for column in zip(*(p[1] for p in parts), strict=True)
        ]
        whole = mpmath.fsum(shares)
        return [(right / whole, [v / whole for v in V], room / whole)]

    def one_realization(self, part: Any) -> bool:
        chance = any(w["random"] for w in self.said["uncertainty"])
        return bool(self.said["heads"] > 1 or (chance and len(part["constraints"]) > 1))

    def admissible(self) -> bool:
        """The evidence of the bound stays within the uncertainty."""
        b, several = self.evidence["bound"], self.said["heads"] > 1
        for table in (b["scales"], b["own_scales"]):
            for key, c in table.items():
                low, high = (number(end) for end in self.spread(int(key))["scale"])
                if not low <= number(c) <= high:
                    return False
        for part in b["parts"]:
            if any(sum(number(x) ** 2 for x in move) > 1 for move in part["moves"]):
                return False
            still = all(number(x) == 0 for move in part["moves"] for x in move)
            if self.one_realization(part) and (b["own_scales"] or not still):
                return False
            for c in part["constraints"]:
                shares = [
                    int(j)
                    for j, x in (c["distribution"] or {"0": "0"}).items()
                    if number(x)
                ]
                out = set(b["among"] or ()) - {c["target"]}
                if (c["distribution"] is not None and not shares) or (
                    several and self.random(c["target"])
                ):
                    return False
                if several and any(self.random(j) or j in out for j in shares):
                    return False
        return all(
            any(number(c["multiplier"]) > 0 for c in part["constraints"])
            for part in b["parts"]
        )

    def part(self, part: Any, b: Any, z: Any) -> Any:
        several, one = self.said["heads"] > 1, self.one_realization(part)
        q, uncertainty = [real(x) for x in part["query"]], self.said["uncertainty"]
        whole = mpmath.fsum(real(c["multiplier"]) for c in part["constraints"])
        right, V, W, M = (
            mpf(0),
            [mpf(0)] * self.d,
            [mpf(0)] * self.n,
            [mpf(0)] * len(uncertainty),
        )
        for c in part["constraints"]:
            keys, a, lam = (
                self.scenarios[c["scenario"]],
                c["target"],
                real(c["multiplier"]) / whole,
            )
            scales = [
                self.scale(keys[j], j, q, b, own=j == a, one=one) for j in range(self.n)
            ]
            pi = self.distribution(c, keys, scales, q, part, b)
            together = mpmath.fsum(self.targets[k] for k in b["among"] or ())
            p = (
                together / (together + len(b["among"]) * (1 - together))
                if several
                else self.targets[a]
            )
            right += lam * (
                mpmath.log(p) - mpmath.fsum(x * mpmath.log(x) for x in pi if x > 0)
            )
            for j in range(self.n):
                w = pi[j] - (j == a)
                V = [
                    v + lam * w * scales[j] * k for v, k in zip(V, keys[j], strict=True)
                ]
                W[j] += lam * w
                e = self.entry[j]
                if e is not None:
                    M[e] += lam * abs(w)
        room, around, used = mpf(0), mpf(0), mpf(0)
        for e, entry in enumerate(uncertainty):
            if not entry["random"]:
                room += 0 if one else real(entry["ball"]) * M[e]
                for column, u in zip(entry["factor"], part["moves"][e], strict=True):
                    V = [
                        v + M[e] * real(u) * real(x)
                        for v, x in zip(V, column, strict=True)
                    ]
        push = (
            [real(x) for x in part["push"]]
            if part["push"] is not None
            else [mpf(0)] * self.d
        )
        for j in range(self.n):
            if self.random(j):
                w, mu = self.spread(j), self.scenarios[0][j]
                columns = [[real(x) for x in column] for column in w["factor"]]
                t = real(w["stretch"]) ** 2 * dot(mu, push)
                toward = [t * k for k in mu]
                for column in columns:
                    toward = [
                        x + dot(column, push) * y
                        for x, y in zip(toward, column, strict=True)
                    ]
                V = [v + W[j] ** 2 * x for v, x in zip(V, toward, strict=True)]
                used += W[j] ** 2 * (
                    t * dot(mu, push)
                    + mpmath.fsum(dot(column, push) ** 2 for column in columns)
                )
                around += W[j] ** 2 * real(w["ball"]) ** 2
        left = z * z - used
        return right, V, room + (mpmath.sqrt(left * around) if left > 0 else 0), used

    def scale(self, key: Row, j: int, q: Row, b: Any, *, own: bool, one: bool) -> Any:
        low, high = (real(c) for c in self.spread(j)["scale"])
        given = b["own_scales"] if own and not one else b["scales"]
        if str(j) in given:
            return real(given[str(j)])
        if one:
            return min(max(mpf(1), low), high)
        return high if (self.s * dot(key, q) > 0) != own else low

    def distribution(
        self, c: Any, keys: list[Row], scales: Row, q: Row, part: Any, b: Any
    ) -> Row:
        if c["distribution"] is not None:
            shares = [real(c["distribution"].get(str(j), "0")) for j in range(self.n)]
        else:
            out = set(b["among"] or ()) - {c["target"]}
            if self.said["heads"] > 1:
                out |= {j for j in range(self.n) if self.random(j)}
            x = []
            for j in range(self.n):
                e = self.entry[j]
                lift = mpf(0) if e is None else real(part["lifts"][e])
                x.append(
                    self.s * scales[j] * dot(keys[j], q)
                    + (-lift if j == c["target"] else lift)
                )
            top = max(x)
            shares = [
                mpf(0) if j in out else mpmath.exp(x[j] - top) for j in range(self.n)
            ]
        total = mpmath.fsum(shares)
        return [x / total for x in shares]


def margin(document: Any) -> float:
    """By how much the statement follows from the evidence, relatively; below 0 if it does not."""
    with mpmath.workdps(DIGITS):
        referee, found = Referee(document), []
        if document["statement"]["claim"] == "designed":
            found.append(referee.met())
        if document["evidence"]["bound"] is not None:
            found.append(referee.bounded() if referee.admissible() else -mpmath.inf)
        return float(min(found))
