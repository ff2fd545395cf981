"""Formulas about tokens into exact grids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headwright.check.answer import full_name, label, named
from headwright.check.exercise import Exercise, Tokens
from headwright.check.misfit import MisfitError, MissingError
from headwright.check.rooms.tokens.grid import ONE, ZERO, Grid, column, identity, number_grid
from headwright.check.scalars import POSITIVE, Scalar, absolute, exp, ln, number, parameter, pi, sqrt
from headwright.formula.tree import (
    Call,
    Inner,
    Listing,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Transpose,
)

DEEPEST = 20
INTERNAL = ("gone", "inverse")  # names of the checker's own
ELEMENTARY = {"exp": exp, "ln": ln, "sqrt": sqrt, "abs": absolute}
PROJECTED = {"q": "Q", "k": "K", "v": "V"}  # q_i is Q x_i, and so on


@dataclass(frozen=True)
class Reader:
    """Reads formulas; definitions are tokens, weights, and what the answer defines."""

    exercise: Exercise
    setting: Tokens
    definitions: Mapping[str, Node]
    depth: int = 0
    memo: dict[str, Grid] = field(default_factory=dict, compare=False)  # definitions, once read

    @property
    def tokens(self) -> list[str]:
        """The names of the tokens, in order."""
        return list(self.setting.tokens)

    def scalar(self, node: Node) -> Scalar:
        """The value of a formula that is a number."""
        value = self.value(node)
        if value.shape != (1, 1):
            raise MisfitError("this is not a number", node)
        return value.scalar

    def value(self, node: Node) -> Grid:
        """The value of a formula."""
        match node:
            case Number(value):
                return number_grid(number(value))
            case Name():
                return self.name(node)
            case Sum(terms):
                return self._sum(terms)
            case Negative(body):
                return self.value(body).times(number(-1))
            case Product(factors):
                return self._product(factors)
            case Quotient(over, under):
                below = self.scalar(under)
                if below == ZERO:
                    raise MisfitError("this is 0, and something is divided by it", under)
                return self.value(over).times(ONE / below)
            case Power(base, exponent):
                return number_grid(self.scalar(base) ** self.scalar(exponent))
            case Transpose(body):
                return self.value(body).turned()
            case Inner(left, right):
                return self._inner(node, self.value(left), self.value(right))
            case Norm(body):
                return number_grid(self._norm(self.value(body)))
            case Call(function, (argument,)) if function in ELEMENTARY:
                return number_grid(ELEMENTARY[function](self.scalar(argument)))
            case _:
                what = node.function if isinstance(node, Call) else type(node).__name__.lower()
                raise MisfitError(f"a {what} has no meaning in this exercise", node)

    def name(self, node: Name) -> Grid:
        """The value of a name."""
        full = full_name(node)
        if full in self.definitions:
            if self.depth > DEEPEST:
                raise MisfitError(f"{full} is defined by itself", node)
            if full not in self.memo:
                self.memo[full] = replace(self, depth=self.depth + 1).value(self.definitions[full])
            return self.memo[full]
        if full in self.exercise.parameters:
            return number_grid(parameter(full, self.exercise.parameters[full].range()))
        directions = self.setting.directions
        if node.base == self.setting.letter and label(node.index) in directions:
            return column(len(directions), directions.index(label(node.index)), self._length())
        if full in ("I", "I_d", "I_D"):
            return identity(len(directions))
        found = self._attention(node)
        if found is not None:
            return found
        if full in ("pi", "e"):
            return number_grid(pi() if full == "pi" else exp(ONE))
        if full in ("Q", "K", "V"):
            raise MissingError(f"{full} is used, and no formula defines it", node, fix=f"write {full} = ...")
        if full == "infinity":
            raise MisfitError("infinity is not a number", node)
        if node.base.startswith(INTERNAL):
            raise MisfitError(f"{full} has a meaning of its own here", node, fix="choose another name")
        if node.index is None and node.base.islower():
            return number_grid(parameter(full, POSITIVE))  # 'a large number': a name of the answer's own
        known = ", ".join(f"{self.setting.letter}_{name}" for name in directions)
        raise MisfitError(
            f"{full} is not a name of this exercise", node, fix=f"it has {known}, {', '.join(self.tokens)}"
        )

    def _length(self) -> Scalar:
        name = self.setting.length
        return parameter(name, self.exercise.parameters[name].range())

    def _attention(self, node: Name) -> Grid | None:
        if node.base == "alpha":
            first, second = self._pair(node)
            return number_grid(self.pattern(first)[second])
        if node.base in ("c", *PROJECTED) and label(node.index).isdigit():
            place = self._place(node, label(node.index))
            return self.output(place) if node.base == "c" else self._projected(PROJECTED[node.base], place)
        return None

    def _pair(self, node: Name) -> tuple[int, int]:
        index = node.index
        parts = [label(item) for item in index.items] if isinstance(index, Listing) else list(label(index))
        if len(parts) != 2:
            raise MisfitError("expected two indices: alpha_{21} is the weight that token 2 gives to token 1", node)
        return self._place(node, parts[0]), self._place(node, parts[1])

    def _place(self, node: Name, which: str) -> int:
        for place, token in enumerate(self.tokens):
            if token.partition("_")[2] == which:
                return place
        raise MisfitError(f"there is no token {which}", node, fix=f"the tokens are {', '.join(self.tokens)}")

    def _projected(self, weights: str, place: int) -> Grid:
        token, size = self.name(named(self.tokens[place])), len(self.setting.directions)
        if token.shape == (1, 1) and token.scalar == ZERO:
            token = column(size, 0, ZERO)
        if token.shape != (size, 1):
            raise MisfitError(f"{self.tokens[place]} is not a vector", named(self.tokens[place]))
        return self._square(weights).on(token)

    def _square(self, weights: str) -> Grid:
        value = self.name(Name(weights))
        size = len(self.setting.directions)
        if value.shape == (1, 1):
            value = identity(size).times(value.scalar)  # V = 2 is read as 2 I
        if value.shape != (size, size):
            raise MisfitError(f"{weights} is not a square matrix", Name(weights))
        return value

    def pattern(self, place: int) -> list[Scalar]:
        """The weights that one token gives to all."""
        query = self._projected("Q", place)
        scores = [self._projected("K", j).turned().on(query).scalar for j in range(len(self.tokens))]
        weights = [exp(score) for score in scores]
        total = ZERO
        for weight in weights:
            total = total + weight
        return [weight / total for weight in weights]

    def output(self, place: int) -> Grid:
        """The output of one token."""
        total: Grid | None = None
        for j, weight in enumerate(self.pattern(place)):
            part = self._projected("V", j).times(weight)
            total = part if total is None else total.plus(part)
        if total is None:
            raise MisfitError("there are no tokens", Name("c"))
        return total

    def _sum(self, terms: tuple[Node, ...]) -> Grid:
        total = self.value(terms[0])
        for term in terms[1:]:
            value = self.value(term)
            if value.shape != total.shape:
                raise MisfitError("these two cannot be added: their shapes differ", term)
            total = total.plus(value)
        return total

    def _product(self, factors: tuple[Node, ...]) -> Grid:
        total = self.value(factors[0])
        for factor in factors[1:]:
            value = self.value(factor)
            if total.shape == (1, 1):
                total = value.times(total.scalar)
            elif value.shape == (1, 1):
                total = total.times(value.scalar)
            elif total.shape[1] != value.shape[0]:
                raise MisfitError(
                    "these two cannot be multiplied: their shapes do not fit", factor, fix="transpose one"
                )
            else:
                total = total.on(value)
        return total

    def _inner(self, node: Node, left: Grid, right: Grid) -> Grid:
        if (1, 1) in (left.shape, right.shape):
            return right.times(left.scalar) if left.shape == (1, 1) else left.times(right.scalar)
        if left.shape != right.shape or left.shape[1] != 1:
            raise MisfitError("an inner product of two vectors was expected", node)
        return left.turned().on(right)

    def _norm(self, value: Grid) -> Scalar:
        if value.shape == (1, 1):
            return absolute(value.scalar)
        if value.shape[1] != 1:
            raise MisfitError("the norm of a matrix has no meaning here", Name("x"))
        return sqrt(value.turned().on(value).scalar)
