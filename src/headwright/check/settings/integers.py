"""Exercises about integers and angles: position embeddings at integer places, decided exactly with z3.

Rows of position embeddings are equal when all their entries are; the first frequency is 1, so for integers that is so
only if the positions are the same.

A statement is decided as a whole here, and not as cases of `decision.decide`: 't - t' = 2 pi k for some k implies
t = t'' is no comparison of two numbers for all values of their names, and that a polynomial in pi is 0 only where its
coefficients are is unknown to the real arithmetic behind `prove`. What comes out is a Decision as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Any

from headwright.check.answer import Answer, MisfitError, Said, comparisons, full_name, pairs
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, Integers, parsed
from headwright.check.judging import Claim, Judged, at, judged
from headwright.check.scalars import Range, Scalar, absolute, cos, exp, ln, number, parameter, pi, sin, sqrt
from headwright.check.scalars.forms import ONE as UNDER
from headwright.check.scalars.forms import Atom, Function, interval, of_atom
from headwright.check.scalars.numbers import Symbol
from headwright.check.scalars.solver import NotWhole, Whole
from headwright.check.verdict import Verdict
from headwright.formula import tree as t
from headwright.formula.show import plain

TWO = t.Number(Fraction(2))
WAVES = ("sin", "cos")
REAL_NAMES = ("x", "y", "z", "theta", "phi")  # of angles, which need not be integers
MOST = 6  # power of a sine
WIDEST = 64  # rows whose entries are all looked at
NEAR = t.Number(Fraction(1, 20))  # as near as numbers are that are said to be about equal


@dataclass
class Encoder:
    """Makes z3 formulas of statements."""

    whole: Whole
    integers: Mapping[str, Range]
    rows: str
    given: tuple[t.Node, ...] = ()  # what is known of some of the integers
    defined: list[Any] = field(default_factory=list)  # where what was read so far has a value

    def statement(self, node: t.Node) -> Any:
        """A statement as a z3 formula."""
        z3 = self.whole.z3
        match node:
            case t.Logic("and", items):
                return z3.And(*(self.statement(item) for item in items))
            case t.Logic("or", items):
                return z3.Or(*(self.statement(item) for item in items))
            case t.Logic("not" | "iff", items):
                done = len(self.defined)
                first, *rest = (self.statement(item) for item in items)
                return z3.And(*self.defined[done:], first == rest[0] if rest else z3.Not(first))
            case t.Logic("implies", (condition, conclusion)):
                return self._implies(condition, conclusion)
            case t.Quantified(body, conditions):
                given = [self.statement(c) for c in conditions if not isinstance(c, t.Name)]
                return z3.Implies(z3.And(*given), self.statement(body))
            case t.Exists(body, conditions):
                return self._some(body, conditions, node)
            case t.Bond("in", member, t.Domain("Z")):
                return self._multiple(member, number(1), node)
            case t.Bond("in", member, t.Product((*factors, t.Domain("Z")))):
                return self._multiple(member, prod((self.value(factor) for factor in factors), start=number(1)), node)
            case t.Relation():
                return z3.And(*(self._link(link) for link in comparisons(node)))
            case _:
                raise MisfitError("this is not a statement", node, fix="write a comparison, or ... \\Rightarrow ...")

    def _implies(self, condition: t.Node, conclusion: t.Node) -> Any:
        """An integer that only the conclusion names is claimed to exist: t = t' + 2 pi k for some k."""
        given, claimed = self.statement(condition), self.statement(conclusion)
        new = sorted((_names(conclusion) - _names(condition)) & set(self.integers) & {"k", "m"})
        z3 = self.whole.z3
        return z3.Implies(given, z3.Exists([self.whole.name(name) for name in new], claimed) if new else claimed)

    def _some(self, body: t.Node, conditions: tuple[t.Node, ...], node: t.Node) -> Any:
        """t = t' + 2 pi k for some integer k; Phi_t = Phi_t' for some t != t', which are as given."""
        bare = [one.left if isinstance(one, t.Bond) and one.right == t.Domain("Z") else one for one in conditions]
        said = [one for one in bare if isinstance(one, t.Relation)]
        spoken = {name for one in bare for name in _names(one)} & set(self.integers)
        if not spoken or any(not isinstance(one, t.Name | t.Relation) for one in bare):
            raise MisfitError("what is said to exist is not understood", node, fix="write 'for some integer k'")
        given = [one for one in self.given if _names(one) & spoken]
        done = len(self.defined)
        inner = self.whole.z3.And(*(self.statement(one) for one in (*given, *said, body)))
        found = self.whole.z3.Exists([self.whole.name(name) for name in sorted(spoken)], inner)
        if self.defined[done:]:
            raise MisfitError("a quotient of what is said to exist", node)
        return found

    def _multiple(self, node: t.Node, of: Scalar, said: t.Node) -> Any:
        """That a number is a whole multiple of another: t - t' in 2 pi Z."""
        return self._linked(lambda: self._turning(lambda m: [self.value(node) - m * of]), said)

    def _link(self, link: t.Relation) -> Any:
        (left, right), (sign,) = link.terms, link.comparisons
        if sign == "~" and _names(link) <= {"pi"}:  # 2 pi ~ 6.28: numbers are near within 1/20
            gap, near = self.value(left) - self.value(right), self.value(NEAR)
            return self.whole.z3.And(self.whole.compared(near - gap, ">="), self.whole.compared(near + gap, ">="))
        if sign in ("~", "->", "<<", ">>"):
            raise MisfitError(f"'{sign}' has no meaning for integers", left)
        return self._linked(lambda: self._compared(left, sign, right), link)

    def _linked(self, said: Callable[[], Any], node: t.Node) -> Any:
        """What is said, which is false where it has no value."""
        done = len(self.defined)
        try:
            found = said()
        except NotWhole as error:
            raise MisfitError("this is not understood about integers", node) from error
        return self.whole.z3.And(*self.defined[done:], found)

    def _compared(self, left: t.Node, sign: t.Comparison, right: t.Node) -> Any:
        z3 = self.whole.z3
        if sign not in ("=", "!="):
            return self._ordered(left, sign, right)
        items = pairs(left, right)
        if items:  # (a, b) != (c, d): in one place at least
            return z3.Not(z3.And(*(self._compared(a, "=", b) for a, b in items)))
        lengths = [node for node in (left, right) if isinstance(node, t.Norm) and self._is_row(node.body)]
        if len(lengths) == 1 and (level := self.value(left if lengths[0] is right else right).rational) is not None:
            equal = self._vanishes(self._length() - number(level) ** 2) if level >= 0 else z3.BoolVal(False)
            return equal if sign == "=" else z3.Not(equal)
        nought = t.Number(Fraction(0))
        one = left if right == nought else right if left == nought else None
        squares = _squares(one) if one is not None else []
        if self._is_row(left) and self._is_row(right):
            equal = self._place(left) == self._place(right)
        elif squares:  # |x|^2 + |y|^2 = 0 where both are 0
            equal = z3.And(*(self._is_nought(square) for square in squares))
        elif one is not None:
            equal = self._is_nought(one)
        else:
            equal = self._vanishes(self.value(left) - self.value(right))
        return equal if sign == "=" else z3.Not(equal)

    def _is_nought(self, node: t.Node) -> Any:
        """That a number is 0, or the difference of two rows, which is so where they are equal."""
        match node:
            case t.Sum((one, t.Negative(other))) if self._is_row(one) and self._is_row(other):
                return self._place(one) == self._place(other)
            case t.Norm(body):
                return self._is_nought(body)
            case _:
                return self._vanishes(self.value(node))

    def _ordered(self, left: t.Node, sign: t.Comparison, right: t.Node) -> Any:
        big, small = (left, right) if sign in (">", ">=") else (right, left)
        squares = _squares(big) if sign in ("<", ">") and small == t.Number(Fraction(0)) else []
        if squares:  # a sum of squares is positive where one of them is not 0
            return self.whole.z3.Not(self.whole.z3.And(*(self._is_nought(one) for one in squares)))
        gap = _linear(self.value(big) - self.value(small))
        waves = any(isinstance(atom, Function) and atom.kind in WAVES for atom in gap.atoms())
        if sign in ("<", ">") and waves and interval(gap).low == 0:
            return self.whole.z3.Not(self._vanishes(gap))  # 1 - cos x, and no cosine is above 1
        return self.whole.compared(gap, ">" if sign in ("<", ">") else ">=")

    def _is_row(self, node: t.Node) -> bool:
        return isinstance(node, t.Name) and node.base == self.rows and node.index is not None

    def _are_rows(self, one: t.Node, other: t.Node) -> bool:
        return self._is_row(one) and self._is_row(other)

    def _length(self) -> Scalar:
        """The square of the length of a row: sin^2 + cos^2 is 1 for each of the d/2 frequencies, and d is even."""
        self.whole.conditions.append(self.whole.name("d") == 2 * self.whole.z3.Int("half of d"))
        return parameter("d", self.integers["d"]) / 2

    def _distance(self, one: t.Node, other: t.Node) -> Scalar:
        """The square of the distance of two rows: 2 - 2 cos(t - t') for the first frequency, 0 to 4 for each other."""
        gap = self.value(_index(one)) - self.value(_index(other))
        if gap == 0:
            return number(0)
        places, values = gap.names() | {"d"}, self.whole.values
        if places <= set(values) and values["d"] <= WIDEST:
            bases = (number(10000) ** Fraction(-2 * place, values["d"]) for place in range(values["d"] // 2))
            return sum((2 - 2 * cos(base * gap.put(dict(values))) for base in bases), number(0))
        self.whole.opaque |= places
        key = min(str(gap), str(-gap))  # the cosine is even
        rest = parameter(Symbol("others", key, "what the other frequencies add"), Range(0))
        self.whole.conditions.append(self.whole.compared(4 * self._length() - 4 - rest, ">="))
        return 2 - 2 * cos(gap) + rest

    def _place(self, node: t.Node) -> Any:
        return self.whole.whole(self.value(node.index)) if isinstance(node, t.Name) and node.index is not None else None

    def _vanishes(self, value: Scalar) -> Any:
        """That a number is 0; cos x = cos y means x - y = 2 pi m or x + y = 2 pi m for some integer m."""
        value = _linear(_cleared(value))
        waves = [
            (atom, coefficient)
            for monomial, coefficient in value.over.items()
            for atom, exponent in monomial
            if isinstance(atom, Function) and atom.kind in WAVES and len(monomial) == 1 and exponent == 1
        ]
        rest = value - sum((coefficient * of_atom(atom) for atom, coefficient in waves), number(0))
        match waves:
            case [(Function(kind=kind, body=x), a)] if (level := (-rest / a).rational) in QUARTERS[kind]:
                return self._same_wave(kind, x, QUARTERS[kind][level] * pi() / 2)  # 1 = cos 0, -1 = sin(3 pi/2)
            case [(Function(kind=kind, body=x), a), (Function(kind=other, body=y), b)] if kind == other and rest == 0:
                if a == -b or (a == b and kind == "sin"):
                    return self._same_wave(kind, x, y if a == -b else -y)
        constant, most = rest.over.get((), Fraction(0)), sum(abs(factor) for _, factor in waves)
        others = (rest - constant) * (1 if constant > 0 else -1)
        low = interval(others).low
        if waves and abs(constant) == most and isinstance(low, Fraction) and low >= 0:
            # 2 - cos x - cos y + z, where z is not below 0, is 0 where each wave is at its end, and z is 0
            ends = [(wave, Fraction(-1 if factor * constant > 0 else 1)) for wave, factor in waves]
            said = [self._same_wave(one.kind, one.body, QUARTERS[one.kind][end] * pi() / 2) for one, end in ends]
            return self.whole.z3.And(*said, self.whole.compared(others, "<="))
        try:
            return self.whole.vanishes(value)
        except NotWhole:
            return self.whole.z3.And(*(self.whole.compared(value, sign) for sign in (">=", "<=")))

    def _same_wave(self, kind: str, x: Scalar, y: Scalar) -> Any:
        """sin x = sin y means x - y = 2 pi m or x + y = (2 m + 1) pi."""
        return self._turning(lambda m: [x - y - 2 * m * pi(), x + y - (2 * m + int(kind == "sin")) * pi()])

    def _turning(self, said: Callable[[Scalar], list[Scalar]]) -> Any:
        """That one of some numbers is 0, for some integer."""
        m = parameter(Symbol("turns", str(len(self.whole.names))), Range(integer=True))
        found, z3 = list[Any](), self.whole.z3
        unknown: NotWhole | None = None
        for value in said(m):
            try:
                found.append(self.whole.vanishes(_cleared(value)))
            except NotWhole as error:
                unknown = error
        name = next(iter(m.names()))
        turns = self.whole.names.pop(name) if name in self.whole.names else z3.Int(name)
        some = z3.Exists([turns], z3.Or(*found))
        if unknown is None:
            return some
        if not found or not self.whole.unsatisfiable([z3.Not(some)], SECONDS):
            raise unknown
        return z3.BoolVal(True)  # sin(pi - x) = sin(x), for every real x

    def value(self, node: t.Node) -> Scalar:
        """The value of a formula."""
        match node:
            case t.Number(value):
                return number(value)
            case t.Name():
                return self._name(node)
            case t.Negative(body):
                return -self.value(body)
            case t.Sum(terms):
                return sum((self.value(term) for term in terms), number(0))
            case t.Inner(one, other) | t.Product((t.Transpose(one), other)) if self._are_rows(one, other):
                return self._length() - self._distance(one, other) / 2
            case t.Product((*others, t.Transpose(one), other)) if self._are_rows(one, other):
                return self.value(t.Product(tuple(others))) * self.value(t.Inner(one, other))
            case t.Product(factors):
                return prod((self.value(factor) for factor in factors), start=number(1))
            case t.Inner(left, right):
                return self.value(left) * self.value(right)
            case t.Quotient(over, under):
                divisor = self.value(under)
                if not interval(divisor).positive:
                    self.defined.append(self.whole.z3.Not(self._vanishes(divisor)))
                return self.value(over) / divisor
            case t.Power(t.Norm(t.Sum((one, t.Negative(other)))), two) if two == TWO and self._are_rows(one, other):
                return self._distance(one, other)
            case t.Power(t.Norm(body), two) if two == TWO and self._is_row(body):
                return self._length()
            case t.Norm(body) if self._is_row(body):
                return sqrt(self._length())
            case t.Norm(body):
                return absolute(self.value(body))
            case t.Power(base, t.Number(value)) if value.denominator == 1 and value >= 0:
                return self.value(base) ** value
            case t.Power(base, exponent):
                return self._defined(base) ** self.value(exponent)
            case t.Call("sin" | "cos" | "exp" as function, (argument,)):
                return {"sin": sin, "cos": cos, "exp": exp}[function](self.value(argument))
            case t.Call("ln" | "sqrt" as function, (argument,)):
                return {"ln": ln, "sqrt": sqrt}[function](self._defined(argument))
            case _:
                raise MisfitError("this is not understood about integers", node)

    def _defined(self, node: t.Node) -> Scalar:
        """What is under a root: simplifying must not hide where that has no value."""
        value = self.value(node)
        if not interval(value).positive:
            raise MisfitError("this need not be above 0", node)
        return value

    def _name(self, node: t.Name) -> Scalar:
        full = full_name(node)
        if full in ("pi", "e", "w_0"):
            return {"pi": pi(), "e": exp(1), "w_0": number(1)}[full]
        if node.base == "w" and node.index is not None and "d" in self.integers:
            rate = -2 * self.value(node.index) / self.value(t.Name("d"))
            return number(10000) ** rate
        if full in REAL_NAMES and full not in self.integers:
            return parameter(full)
        if full not in self.integers:
            raise MisfitError(
                f"{full} is not a name of this exercise", node, fix=f"it has {', '.join(sorted(self.integers))}"
            )
        self.whole.name(full)
        return parameter(full, self.integers[full])


QUARTERS: Mapping[str, Mapping[Fraction | None, int]] = {  # of half a turn, where sines and cosines are 0, 1 and -1
    "cos": {Fraction(1): 0, Fraction(0): 1, Fraction(-1): 2},
    "sin": {Fraction(0): 0, Fraction(1): 1, Fraction(-1): 3},
}


def _cleared(value: Scalar) -> Scalar:
    """What is 0 where a number is; it is divided by nothing that is 0."""
    whole, below = Scalar(value.over, UNDER), dict[Atom, Fraction]()
    for atom, exponent in (pair for monomial in value.over for pair in monomial):
        below[atom] = min(exponent, below.get(atom, Fraction(0)))
    return prod((of_atom(atom) ** -exponent for atom, exponent in below.items()), start=whole)


def _linear(value: Scalar) -> Scalar:
    """With sums of waves in place of their products: 2 sin x sin y = cos(x - y) - cos(x + y)."""
    total = number(0)
    for monomial, coefficient in value.over.items():
        waves = [atom for atom, exponent in monomial if _is_wave(atom, exponent) for _ in range(int(exponent))]
        others = [of_atom(atom) ** exponent for atom, exponent in monomial if not _is_wave(atom, exponent)]
        rest = prod(others, start=number(coefficient))
        if len(waves) < 2:
            total += rest * prod(map(of_atom, waves), start=number(1))
            continue
        one, other, *further = (atom for atom in waves if isinstance(atom, Function))
        x, y = one.body, other.body
        if one.kind == other.kind:
            joined = cos(x - y) + cos(x + y) * (1 if one.kind == "cos" else -1)
        else:
            joined = sin(x + y) + sin(x - y) * (1 if one.kind == "sin" else -1)
        total += _linear(rest * joined / 2 * prod(map(of_atom, further), start=number(1)))
    return total / Scalar(value.under, UNDER)


def _is_wave(atom: object, exponent: Fraction) -> bool:
    return isinstance(atom, Function) and atom.kind in WAVES and exponent.denominator == 1 and 0 < exponent <= MOST


def _index(row: t.Node) -> t.Node:
    return row.index if isinstance(row, t.Name) and row.index is not None else row


def _with_multiple(node: t.Node) -> t.Node:
    """t - t' = 2 pi k for t - t' in 2 pi Z: for any k where it is assumed, for some k where it follows."""
    match node:
        case t.Bond("in", member, t.Product((*factors, t.Domain("Z")))):
            return t.Relation((member, t.Product((*factors, t.Name("k")))), ("=",), span=node.span)
        case t.Bond("in", member, t.Domain("Z")):
            return t.Relation((member, t.Name("k")), ("=",), span=node.span)
        case _:
            return node


def _squares(node: t.Node) -> list[t.Node]:
    """What is squared, or stands between bars, in a sum of nothing else."""
    found: list[t.Node] = []
    for term in node.terms if isinstance(node, t.Sum) else (node,):
        match term:
            case t.Power(base, t.Number(value)) if value.denominator == 1 and value > 0 and value.numerator % 2 == 0:
                found.append(base)
            case t.Norm(body):
                found.append(body)
            case _:
                return []
    return found


SECONDS = 5
BOUNDS = (1, 2, 3, 5, 7, 10, 20, 50, 100, 1000, 10**4, 10**6, 10**7)  # sizes within which a counterexample is sought
POWERS = (2, 4, 8, 64, 512)  # values of a parameter in numbers that are no polynomials
TURNS = (6, 44, 710, 103993, 312689, 4272943)  # close to multiples of 2 pi: its convergents
USED = "z3, and that pi is transcendental"


@dataclass(frozen=True)
class IntegersSetting:
    """An exercise about integers."""

    exercise: Exercise
    setting: Integers
    whole = True

    def gives(self, name: t.Name) -> bool:
        """Every name is given here, or bound by a statement."""
        del name
        return True

    def opened(self, answer: Answer) -> IntegersCourt:
        """Nothing is defined by an answer here; what implies something, and is so, is said with it."""
        court = IntegersCourt(self.exercise, self.setting)
        return replace(court, claims=tuple(replace(said, node=court.joined(said.node)) for said in answer.claims))


@dataclass(frozen=True)
class IntegersCourt:
    """Decides statements about integers."""

    exercise: Exercise
    setting: Integers
    claims: tuple[Said, ...] = ()
    conditions: tuple[Judged, ...] = ()

    def advised(self, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
        """There is nothing to add."""
        del judgements
        return verdict

    def decide(self, claim: Claim) -> list[Judged]:
        """A proof, or integers for which it fails."""
        decision = self._decision(claim.node, {}, claim.scope)
        if decision.word == "undecided":
            opaque = sorted(self._encoded(claim.node, {})[0].whole.opaque)
            further = (self._decision(claim.node, here, claim.scope) for here in _values_of(opaque))
            decision = next((one for one in further if one.word == "refuted"), decision)
        return [judged(claim, decision, self._words(claim.node, decision))]

    def joined(self, node: t.Node) -> t.Node:
        """'x != 0, so the rows differ' of 'x != 0 implies that the rows differ', where x is never 0."""
        match node:
            case t.Logic("implies", (t.Relation(_, (*_, "!=" | ">" | "<")) as reason, conclusion)):
                try:
                    rows = any(name.base == self.setting.rows for name in t.every_name(conclusion))
                    known = rows and self._decision(reason, {}, node).word == "proved"
                except MisfitError:
                    known = False
                return t.Logic("and", (reason, conclusion), span=node.span) if known else node
            case t.Logic("implies", items) if any(isinstance(item, t.Bond) for item in items):
                return t.Logic("implies", tuple(map(_with_multiple, items)), span=node.span)
            case _:
                return node

    def _encoded(self, node: t.Node, values: Mapping[str, int]) -> tuple[Encoder, Any]:
        integers = dict.fromkeys(self.setting.integers, Range(integer=True))
        integers |= {name: known.range() for name, known in self.exercise.parameters.items()}
        encoder = Encoder(Whole(values), integers, self.setting.rows, tuple(map(parsed, self.setting.given)))
        return encoder, encoder.statement(node)

    def _decision(self, node: t.Node, values: Mapping[str, int], scope: t.Node) -> Decision:
        encoder, claim = self._encoded(node, values)
        own = set(encoder.whole.names)
        given = [*self._given(node, encoder, scope), *self._ranges(encoder.whole)]
        found = _decide(claim, given, encoder)
        some = any(isinstance(part, t.Exists) and _names(part) - {"k", "m", "pi"} for part in t.walk(node))
        if found.word == "refuted" and some and not encoder.whole.unsatisfiable([*given, claim], SECONDS):
            found = Decision("undecided", "whether there are such integers depends on the others")
        if found.word == "proved":
            premises = [encoder.statement(premise) for premise in _premises(node)]
            vacuous = bool(premises) and encoder.whole.unsatisfiable([*given, *premises], SECONDS)
            found = replace(found, vacuous=vacuous)
        shown = {name: value for name, value in found.values.items() if name in own}
        return replace(found, values={**shown, **{n: Fraction(v) for n, v in values.items()}})

    def _given(self, node: t.Node, encoder: Encoder, scope: t.Node) -> list[Any]:
        """What is given about what the statement speaks of: different integers, unless it says what were if not."""
        given: list[Any] = []
        for source in self.setting.given:
            condition = parsed(source)
            if _names(condition) <= _names(scope):
                given.append(encoder.statement(condition))
        if isinstance(node, t.Logic) and node.word == "iff" and not _claims_difference(node):
            return given
        names = encoder.whole.names
        apart = [names[x] != names[y] for x, y in self.setting.different if x in names and y in names]
        premises = [encoder.statement(premise) for premise in _premises(node)]
        if encoder.whole.unsatisfiable([*given, *apart, *premises], SECONDS):
            return given  # it speaks of integers that may be the same
        return [*given, *apart]

    def _ranges(self, whole: Whole) -> list[Any]:
        given: list[Any] = []
        for name, known in self.exercise.parameters.items():
            if name in whole.names:
                variable, limits = whole.names[name], known.range()
                given += [] if limits.lower is None else [variable >= int(limits.lower)]  # type: ignore[arg-type]
                given += [] if limits.upper is None else [variable <= int(limits.upper)]  # type: ignore[arg-type]
        return given

    def _words(self, node: t.Node, decision: Decision) -> str:
        if decision.word == "proved":
            if any(isinstance(n, t.Norm | t.Inner) for n in t.walk(node)):
                return "for each frequency the squares of sine and cosine add up to 1"
            if self.setting.rows in {n.base for n in t.walk(node) if isinstance(n, t.Name)}:
                return (
                    "equal rows would make t - t' a multiple of 2 pi, as the first frequency is 1, and pi is irrational"
                )
            if any(isinstance(n, t.Call) and n.function in ("sin", "cos") for n in t.walk(node)):
                return "equal sines and cosines mean a difference of 2 pi m with an integer m"
            if isinstance(node, t.Relation) and node.comparisons[0] not in ("=", "!="):
                return "it follows from what is given"
            return "an equation between integers and multiples of pi splits, since pi is transcendental"
        if decision.word == "refuted":
            return f"{plain(node)} is false{' for ' + at(decision.values) if decision.values else ''}"
        return decision.reason


def _values_of(names: list[str]) -> Iterator[dict[str, int]]:
    """Values for names in numbers that are no polynomials; some of them may have to be different."""
    for value in POWERS:
        yield {name: value + place for place, name in enumerate(names)}
    for value in TURNS if len(names) == 2 else ():
        yield dict(zip(names, (value, 0), strict=True))


def _names(node: t.Node) -> set[str]:
    return {full_name(n) for n in t.walk(node) if isinstance(n, t.Name)}


def _premises(node: t.Node) -> list[t.Node]:
    match node:
        case t.Logic("implies", (condition, conclusion)):
            return [condition, *_premises(conclusion)]
        case t.Quantified(body, conditions):
            return [*(part for part in conditions if not isinstance(part, t.Name)), *_premises(body)]
        case _:
            return []


def _claims_difference(node: t.Node) -> bool:
    match node:
        case t.Relation(_, signs):
            return signs[-1] == "!="
        case t.Logic("not", (t.Relation(_, signs),)):
            return signs[-1] == "="
        case t.Logic("implies", (_, conclusion)):
            return _claims_difference(conclusion)
        case t.Logic("iff" | "and", items):
            return any(_claims_difference(item) for item in items)
        case t.Quantified(body, _):
            return _claims_difference(body)
        case _:
            return False


def _decide(claim: Any, given: list[Any], encoder: Encoder) -> Decision:
    whole = encoder.whole
    denied = whole.z3.Not(claim)
    if whole.unsatisfiable([*given, denied], SECONDS):
        return Decision("proved", "", used=USED)
    given = [*given, *encoder.defined]  # what has no value somewhere is not proved, and not refuted by that
    for bound in BOUNDS:
        small = [whole.z3.And(x <= bound, x >= -bound) for x in whole.names.values()]
        values = whole.model([*given, *small, denied], SECONDS)
        if values is None:
            continue
        here = [whole.names[name] == value for name, value in values.items()]
        if whole.unsatisfiable([*given, *here, claim], SECONDS):  # for every admissible value of the rest, pi included
            return Decision("refuted", "", values={name: Fraction(v) for name, v in values.items()}, used=USED)
    return Decision("undecided", "neither a proof nor a counterexample was found")
