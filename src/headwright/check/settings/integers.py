"""Exercises about integers and angles: position embeddings at integer places, decided exactly with z3.

For integers, p(pi) = 0 with rational coefficients holds only if every coefficient is 0, since pi is transcendental
(Lindemann). cos x = cos y means x - y = 2 pi m or x + y = 2 pi m for some integer m; sin x = sin y means x - y = 2 pi m
or x + y = (2 m + 1) pi. Rows of position embeddings are equal when all their entries are; the first frequency is 1, so
for integers that is so only if the positions are the same. Inequalities use 40 digits of pi from both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import z3
from flint import arb, arb_mat

from headwright.check.answer import Answer, MisfitError, Said, comparisons, full_name, pairs
from headwright.check.claims import Claim
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, Integers, parsed
from headwright.check.judging import Judged, at, judged
from headwright.check.scalars.numbers import above, below
from headwright.check.verdict import Verdict
from headwright.errors import InputError
from headwright.formula.evaluate import evaluate
from headwright.formula.show import plain
from headwright.formula.tree import (
    Bond,
    Call,
    Comparison,
    Domain,
    Exists,
    Logic,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quantified,
    Quotient,
    Relation,
    Sum,
    walk,
)

PI_LOW = Fraction("3.1415926535897932384626433832795028841971")
PI_HIGH = PI_LOW + Fraction(1, 10**40)
HIGHEST = 6  # power of pi
Powers = dict[int, Any]  # power of pi: z3 term


@dataclass
class Encoder:
    """Makes z3 formulas; remembers the names it met, and the side conditions that bound pi and opaque numbers."""

    integers: frozenset[str]
    rows: str
    names: dict[str, Any] = field(default_factory=dict)
    conditions: list[Any] = field(default_factory=list)
    opaque: set[str] = field(default_factory=set)  # names inside numbers that are no polynomials
    values: Mapping[str, int] = field(default_factory=dict)  # names that are numbers for now

    def __post_init__(self) -> None:
        self.pi = z3.Real("pi")
        self.conditions += [self.pi > _rational(PI_LOW), self.pi < _rational(PI_HIGH)]

    def statement(self, node: Node) -> Any:
        """A statement as a z3 formula."""
        match node:
            case Logic("and", items):
                return z3.And(*(self.statement(item) for item in items))
            case Logic("or", items):
                return z3.Or(*(self.statement(item) for item in items))
            case Logic("not", (item,)):
                return z3.Not(self.statement(item))
            case Logic("implies", (condition, conclusion)):
                return self._implies(condition, conclusion)
            case Logic("iff", (left, right)):
                return self.statement(left) == self.statement(right)
            case Quantified(body, conditions):
                given = [self.statement(c) for c in conditions if not isinstance(c, Name)]
                return z3.Implies(z3.And(*given), self.statement(body))
            case Exists(body, conditions):
                return self._some(body, conditions, node)
            case Relation():
                return z3.And(*(self._link(link) for link in comparisons(node)))
            case _:
                raise MisfitError("this is not a statement", node, fix="write a comparison, or ... \\Rightarrow ...")

    def _implies(self, condition: Node, conclusion: Node) -> Any:
        """An integer that only the conclusion names is claimed to exist: t = t' + 2 pi k for some k."""
        given = self.statement(condition)
        before = {full_name(n) for n in walk(condition) if isinstance(n, Name)}
        new = {full_name(n) for n in walk(conclusion) if isinstance(n, Name)} - before
        claimed = self.statement(conclusion)
        some = [self.names[name] for name in sorted(new) if name in self.integers and name in ("k", "m")]
        return z3.Implies(given, z3.Exists(some, claimed) if some else claimed)

    def _some(self, body: Node, conditions: tuple[Node, ...], node: Node) -> Any:
        """t = t' + 2 pi k for some integer k; only of numbers that nothing else is known of."""
        some = []
        for condition in conditions:
            name = condition.left if isinstance(condition, Bond) and condition.right == Domain("Z") else condition
            if name not in (Name("k"), Name("m")) or not isinstance(name, Name) or name.base not in self.integers:
                raise MisfitError("what is said to exist is not understood", node, fix="write 'for some integer k'")
            some.append(self._name(name))
        return z3.Exists(some, self.statement(body))

    def _link(self, link: Relation) -> Any:
        (left, right), (sign,) = link.terms, link.comparisons
        if sign in ("~", "->", "<<", ">>"):
            raise MisfitError(f"'{sign}' has no meaning for integers", left)
        items = pairs(left, right)
        if items:  # (a, b) != (c, d): in one place at least
            return z3.Not(z3.And(*(self._link(Relation(pair, ("=",))) for pair in items)))
        wave = _same_wave(left, right)
        if wave is not None and sign in ("=", "!="):
            equal = self._waves(*wave)
        elif self._is_row(left) and self._is_row(right) and sign in ("=", "!="):
            equal = self._integer(left) == self._integer(right)
        elif sign in ("=", "!="):
            equal = self._equal(left, right)
        else:
            return self._compared(left, sign, right)
        return equal if sign == "=" else z3.Not(equal)

    def _is_row(self, node: Node) -> bool:
        return isinstance(node, Name) and node.base == self.rows and node.index is not None

    def _integer(self, node: Node) -> Any:
        if not isinstance(node, Name) or node.index is None:
            raise MisfitError("a row of the embedding was expected", node)
        powers = self.powers(node.index)
        if set(powers) - {0}:
            raise MisfitError("the place of a row must be an integer", node)
        return powers.get(0, z3.IntVal(0))

    def _waves(self, function: str, x: Node, y: Node) -> Any:
        m = z3.FreshInt("m")
        a, b = self.powers(x), self.powers(y)
        turns: Powers = {1: 2 * m}
        apart = _vanishes(_minus(_minus(a, b), turns))
        mirrored = _plus(a, b)
        other = _minus(mirrored, turns if function == "cos" else {1: 2 * m + 1})
        return z3.Exists([m], z3.Or(apart, _vanishes(other)))

    def _equal(self, left: Node, right: Node) -> Any:
        return _vanishes(_minus(self.powers(left), self.powers(right)))

    def _compared(self, left: Node, sign: Comparison, right: Node) -> Any:
        wave = _same_wave(left, right) if sign == "<" else _same_wave(right, left) if sign == ">" else None
        if wave is not None and wave[0] == "cos" and (left if sign == ">" else right) == Number(Fraction(1)):
            return z3.Not(self._waves(*wave))  # no cosine is above 1
        a, b = self._real(left), self._real(right)
        match sign:
            case "<":
                return a < b
            case ">":
                return a > b
            case "<=":
                return a <= b
            case _:
                return a >= b

    def _real(self, node: Node) -> Any:
        try:
            powers = self.powers(node)
        except MisfitError:
            return self._opaque(node)
        total = z3.RealVal(0)
        for power, factor in powers.items():
            value = z3.ToReal(factor) if z3.is_int(factor) else factor
            for _ in range(power):
                value = value * self.pi
            total = total + value
        return total

    def _opaque(self, node: Node) -> Any:
        """A number that is no polynomial, such as a period 10000^(1 - 2/d): enclosed, once its names are numbers."""
        value = z3.Real(f"[{plain(node)}]")
        names = {full_name(n) for n in walk(node) if isinstance(n, Name)} - {"pi"}
        self.opaque |= names
        if names - self.integers:
            raise MisfitError("this is not understood about integers", node)
        for name in (part for part in walk(node) if isinstance(part, Name) and full_name(part) != "pi"):
            self._name(name)  # what is given of it counts, although only its values are seen
        if names <= set(self.values):
            low, high = _enclosed(node, self.values)
            self.conditions += [value >= _rational(low), value <= _rational(high)]
        return value

    def powers(self, node: Node) -> Powers:
        """A number as a polynomial in pi with coefficients that are linear, or at least polynomial, in the integers."""
        match node:
            case Number(value):
                return {0: z3.IntVal(value.numerator) if value.denominator == 1 else _rational(value)}
            case Name(base="pi", index=None):
                return {1: z3.IntVal(1)}
            case Name():
                return {0: self._name(node)}
            case Negative(body):
                return _minus({}, self.powers(body))
            case Sum(terms):
                total: Powers = {}
                for term in terms:
                    total = _plus(total, self.powers(term))
                return total
            case Product(factors):
                product: Powers = {0: z3.IntVal(1)}
                for factor in factors:
                    product = _times(product, self.powers(factor), node)
                return product
            case Norm(body) if set(inside := self.powers(body)) <= {0}:
                return {power: z3.If(x >= 0, x, -x) for power, x in inside.items()}
            case Quotient(over, Number(value)) if value != 0:
                return {p: _real_of(x) / _rational(value) for p, x in self.powers(over).items()}
            case Power(base, Number(value)) if value.denominator == 1 and 0 <= value <= HIGHEST:
                product = {0: z3.IntVal(1)}
                for _ in range(int(value)):
                    product = _times(product, self.powers(base), node)
                return product
            case _:
                raise MisfitError("this is not understood about integers", node)

    def _name(self, node: Name) -> Any:
        full = full_name(node)
        if full == "w_0":
            return z3.IntVal(1)
        if full not in self.integers:
            raise MisfitError(
                f"{full} is not a name of this exercise", node, fix=f"it has {', '.join(sorted(self.integers))}"
            )
        if full not in self.names:
            self.names[full] = z3.Int(full)
            if full in self.values:
                self.conditions.append(self.names[full] == self.values[full])
        return self.names[full]


def _enclosed(node: Node, values: Mapping[str, int]) -> tuple[Fraction, Fraction]:
    """A number from both sides, in ball arithmetic."""

    def value_of(name: Name) -> arb_mat | None:
        full = full_name(name)
        if full == "pi":
            return arb_mat([[arb.pi()]])
        return arb_mat([[arb(values[full])]]) if full in values else None

    try:
        ball = evaluate(node, value_of)[0, 0]
    except InputError as error:
        raise MisfitError(str(error), node) from error
    if not ball.is_finite():
        raise MisfitError("this number could not be computed", node)
    return below(ball), above(ball)


def _same_wave(left: Node, right: Node) -> tuple[str, Node, Node] | None:
    match left, right:
        case Call("sin" | "cos" as f, (x,)), Call(g, (y,)) if f == g:
            return f, x, y
        case Call("sin" | "cos" as f, (x,)), Number(value) if value == (f == "cos"):
            return f, x, Number(Fraction(0))  # 1 = cos 0, and 0 = sin 0
    return None


def _rational(value: Fraction) -> Any:
    return z3.RealVal(f"{value.numerator}/{value.denominator}")


def _real_of(term: Any) -> Any:
    return z3.ToReal(term) if z3.is_int(term) else term


def _combined(x: Any, y: Any) -> tuple[Any, Any]:
    return (x, y) if z3.is_int(x) == z3.is_int(y) else (_real_of(x), _real_of(y))


def _plus(a: Powers, b: Powers) -> Powers:
    result = dict(a)
    for power, y in b.items():
        if power in result:
            x, y = _combined(result[power], y)
            result[power] = x + y
        else:
            result[power] = y
    return result


def _minus(a: Powers, b: Powers) -> Powers:
    return _plus(a, {power: -x for power, x in b.items()})


def _times(a: Powers, b: Powers, node: Node) -> Powers:
    result: Powers = {}
    for p, x in a.items():
        for q, y in b.items():
            if p + q > HIGHEST:
                raise MisfitError(f"powers of pi above {HIGHEST} are not understood", node)
            left, right = _combined(x, y)
            result = _plus(result, {p + q: left * right})
    return result


def _vanishes(powers: Powers) -> Any:
    """p(pi) = 0 with rational coefficients: every coefficient is 0, because pi is transcendental."""
    return z3.And(*(x == 0 for x in powers.values())) if powers else z3.BoolVal(True)


SECONDS = 5
BOUNDS = (1, 2, 3, 5, 7, 10, 20, 50, 100, 1000, 10**4, 10**6, 10**7)  # sizes within which a counterexample is sought
PLAIN = (2, 4, 8, 64, 512)  # values of a parameter in numbers that are no polynomials
TURNS = (6, 44, 710, 103993, 312689, 4272943)  # close to multiples of 2 pi: its convergents
USED = "z3, and that pi is transcendental"


@dataclass(frozen=True)
class IntegersSetting:
    """An exercise about integers."""

    exercise: Exercise
    setting: Integers
    whole = True

    def knows(self, name: Name) -> bool:
        """Every name is given here, or bound by a statement."""
        del name
        return True

    def opened(self, answer: Answer) -> IntegersCourt:
        """Nothing is defined by an answer here."""
        return IntegersCourt(self.exercise, self.setting, tuple(answer.claims))


@dataclass(frozen=True)
class IntegersCourt:
    """Decides statements about integers."""

    exercise: Exercise
    setting: Integers
    claims: tuple[Said, ...] = ()
    conditions: tuple[Judged, ...] = ()

    def told(self, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
        """There is nothing to add."""
        del judgements
        return verdict

    def decide(self, claim: Claim) -> list[Judged]:
        """A proof, or integers for which it fails."""
        decision = self._decision(claim.node, {}, claim.scope)
        if decision.word == "undecided":
            for here in self._plainly(sorted(self._opaque(claim.node))):
                further = self._decision(claim.node, here, claim.scope)
                if further.word == "refuted":
                    decision = further
                    break
        return [judged(claim, decision, self._words(claim.node, decision))]

    def _plainly(self, names: list[str]) -> Iterator[dict[str, int]]:
        """Values for names in numbers that are no polynomials; some of them may have to be different."""
        for value in PLAIN:
            yield {name: value + place for place, name in enumerate(names)}
        for value in TURNS if len(names) == 2 else ():
            yield dict(zip(names, (value, 0), strict=True))

    def _encoded(self, node: Node, values: Mapping[str, int]) -> tuple[Encoder, Any]:
        integers = frozenset(self.setting.integers) | frozenset(self.exercise.parameters)
        encoder = Encoder(integers, self.setting.rows, values=values)
        return encoder, encoder.statement(node)

    def _opaque(self, node: Node) -> set[str]:
        return self._encoded(node, {})[0].opaque

    def _decision(self, node: Node, values: Mapping[str, int], scope: Node) -> Decision:
        encoder, claim = self._encoded(node, values)
        own = set(encoder.names)
        given = [*self._given(node, encoder, scope), *self._ranges(encoder), *encoder.conditions]
        found = _decide(claim, given, encoder)
        if found.word == "proved":
            premises = [encoder.statement(premise) for premise in _premises(node)]
            found = replace(found, vacuous=bool(premises) and _check([*given, *premises]) == z3.unsat)
        shown = {name: value for name, value in found.values.items() if name in own}
        return replace(found, values={**shown, **{n: Fraction(v) for n, v in values.items()}})

    def _given(self, node: Node, encoder: Encoder, scope: Node) -> list[Any]:
        """What is given about what the statement speaks of: different integers, unless it says what were if not."""
        given: list[Any] = []
        for source in self.setting.given:
            condition = parsed(source)
            if _names(condition) <= _names(scope):
                given.append(encoder.statement(condition))
        if isinstance(node, Logic) and node.word == "iff" and not _claims_difference(node):
            return given
        apart = [
            encoder.names[x] != encoder.names[y]
            for x, y in self.setting.different
            if x in encoder.names and y in encoder.names
        ]
        premises = [encoder.statement(premise) for premise in _premises(node)]
        if _check([*given, *apart, *premises]) == z3.unsat:
            return given  # it speaks of integers that may be the same
        return [*given, *apart]

    def _ranges(self, encoder: Encoder) -> list[Any]:
        given: list[Any] = []
        for name, known in self.exercise.parameters.items():
            if name in encoder.names:
                variable, limits = encoder.names[name], known.range().numeric
                given += [] if limits.lower is None else [variable >= int(limits.lower)]  # type: ignore[arg-type]
                given += [] if limits.upper is None else [variable <= int(limits.upper)]  # type: ignore[arg-type]
        return given

    def _words(self, node: Node, decision: Decision) -> str:
        if decision.word == "proved":
            if self.setting.rows in {n.base for n in walk(node) if isinstance(n, Name)}:
                return (
                    "equal rows would make t - t' a multiple of 2 pi, as the first frequency is 1, and pi is irrational"
                )
            if any(isinstance(n, Call) and n.function in ("sin", "cos") for n in walk(node)):
                return "equal sines and cosines mean a difference of 2 pi m with an integer m"
            if isinstance(node, Relation) and node.comparisons[0] not in ("=", "!="):
                return "it follows from what is given"
            return "an equation between integers and multiples of pi splits, since pi is transcendental"
        if decision.word == "refuted":
            return f"{plain(node)} is false{' for ' + at(decision.values) if decision.values else ''}"
        return decision.reason


def _names(node: Node) -> set[str]:
    return {full_name(n) for n in walk(node) if isinstance(n, Name)}


def _premises(node: Node) -> list[Node]:
    match node:
        case Logic("implies", (condition, conclusion)):
            return [condition, *_premises(conclusion)]
        case Quantified(body, conditions):
            return [*(part for part in conditions if not isinstance(part, Name)), *_premises(body)]
        case _:
            return []


def _claims_difference(node: Node) -> bool:
    match node:
        case Relation(_, signs):
            return signs[-1] == "!="
        case Logic("not", (Relation(_, signs),)):
            return signs[-1] == "="
        case Logic("implies", (_, conclusion)):
            return _claims_difference(conclusion)
        case Logic("iff" | "and", items):
            return any(_claims_difference(item) for item in items)
        case Quantified(body, _):
            return _claims_difference(body)
        case _:
            return False


def _decide(claim: Any, given: list[Any], encoder: Encoder) -> Decision:
    if _check([*given, z3.Not(claim)]) == z3.unsat:
        return Decision("proved", "", used=USED)
    for bound in BOUNDS:
        small = [z3.And(x <= bound, x >= -bound) for x in encoder.names.values()]
        values = _model([*given, *small, z3.Not(claim)], encoder)
        if values is None:
            continue
        here = [encoder.names[name] == value for name, value in values.items()]
        if _check([*given, *here, claim]) == z3.unsat:  # for every admissible value of the rest, pi included
            return Decision("refuted", "", values={name: Fraction(v) for name, v in values.items()}, used=USED)
    return Decision("undecided", "neither a proof nor a counterexample was found")


def _solver(formulas: list[Any]) -> Any:
    solver = z3.Solver()
    solver.set("timeout", 1000 * SECONDS)
    solver.add(*formulas)
    return solver


def _check(formulas: list[Any]) -> Any:
    return _solver(formulas).check()


def _model(formulas: list[Any], encoder: Encoder) -> dict[str, int] | None:
    solver = _solver(formulas)
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return {name: model.eval(x, model_completion=True).as_long() for name, x in sorted(encoder.names.items())}
