"""Exercises about self-attention on tokens made of orthogonal directions: exact matrices, limits as lengths grow.

All that is given lies in the span of the directions, so a matrix is its block on them, and a multiple of the identity
on whatever space is left: M = block + rest * (identity elsewhere). The dimension need not be known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading import answer as an
from headwright.grading import scalars
from headwright.grading.decision import Decision, Tending, decide, decide_all, denied
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import Claim, Outcome, at, contrasted, judged
from headwright.grading.kinds.tending import way
from headwright.grading.kinds.tokens.table import Tokens

ZERO, ONE = scalars.number(0), scalars.number(1)


@dataclass(frozen=True)
class Grid:
    """rows x columns of scalars; each side is 1 or the number of directions. 1 x 1 is a number."""

    entries: tuple[tuple[scalars.Scalar, ...], ...]
    rest: scalars.Scalar = ZERO

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.entries), len(self.entries[0])

    @property
    def flat(self) -> tuple[scalars.Scalar, ...]:
        """All entries in a row; of a number the only one."""
        return tuple(x for row in self.entries for x in row)

    def turned(self) -> Grid:
        """The transpose."""
        return Grid(tuple(zip(*self.entries, strict=True)), self.rest)

    def times(self, factor: scalars.Scalar) -> Grid:
        """A multiple."""
        return Grid(
            tuple(tuple(factor * x for x in row) for row in self.entries),
            factor * self.rest,
        )

    def plus(self, other: Grid) -> Grid:
        """The sum of two grids of one shape."""
        rows = zip(self.entries, other.entries, strict=True)
        summed = tuple(
            tuple(x + y for x, y in zip(mine, theirs, strict=True))
            for mine, theirs in rows
        )
        return Grid(summed, self.rest + other.rest)

    def on(self, other: Grid) -> Grid:
        """The matrix product; vectors have nothing outside the directions, so the rest acts on matrices only."""
        product = tuple(
            tuple(
                sum(
                    (
                        x * y
                        for x, y in zip(row, column, strict=True)
                        if x != ZERO and y != ZERO
                    ),
                    ZERO,
                )
                for column in zip(*other.entries, strict=True)
            )
            for row in self.entries
        )
        return Grid(product, self.rest * other.rest)


def number_grid(value: scalars.Scalar) -> Grid:
    """A number as a grid."""
    return Grid(((value,),))


def identity(size: int) -> Grid:
    """The identity, here and elsewhere."""
    return Grid(
        tuple(tuple(ONE if i == j else ZERO for j in range(size)) for i in range(size)),
        ONE,
    )


DEEPEST = 20
ELEMENTARY = {
    "exp": scalars.exp,
    "ln": scalars.ln,
    "sqrt": scalars.sqrt,
    "abs": scalars.absolute,
}
PROJECTED = {"q": "Q", "k": "K", "v": "V"}  # q_i is Q x_i, and so on


@dataclass(frozen=True)
class Reader:
    """Reads formulas; definitions are tokens, weights, and what the answer defines."""

    exercise: Exercise
    setting: Tokens
    definitions: Mapping[str, t.Node]
    depth: int = 0
    memo: dict[str, Grid] = field(
        default_factory=dict, compare=False
    )  # definitions, once read

    def scalar(self, node: t.Node) -> scalars.Scalar:
        """The value of a formula that is a number."""
        value = self.value(node)
        if value.shape != (1, 1):
            raise an.MisfitError("this is not a number", node)
        return value.flat[0]

    def value(self, node: t.Node) -> Grid:
        """The value of a formula."""
        match node:
            case t.Number(value):
                return number_grid(scalars.number(value))
            case t.Name():
                return self.name(node)
            case t.Sum(terms):
                return self._sum(terms)
            case t.Negative(body):
                return self.value(body).times(scalars.number(-1))
            case t.Product(factors):
                return self._product(factors)
            case t.Inner(left, right):
                return self._product(
                    (left, right)
                    if self.value(left).shape == (1, 1)
                    else (t.Transpose(left), right)
                )
            case t.Quotient(over, under):
                below = self.scalar(under)
                if below == ZERO:
                    raise an.MisfitError(
                        "this is 0, and something is divided by it", under
                    )
                return self.value(over).times(ONE / below)
            case t.Power(base, exponent):
                return number_grid(self.scalar(base) ** self.scalar(exponent))
            case t.Transpose(body):
                return self.value(body).turned()
            case t.Norm(body):
                inside = self.value(body)
                if inside.shape[1] != 1:
                    raise an.MisfitError(
                        "the norm of a matrix has no meaning here", node
                    )
                return number_grid(scalars.sqrt(inside.turned().on(inside).flat[0]))
            case t.Call(function, (argument,)) if function in ELEMENTARY:
                return number_grid(ELEMENTARY[function](self.scalar(argument)))
            case _:
                raise an.MisfitError(
                    f"{t.called(node)} has no meaning in this exercise", node
                )

    def name(self, node: t.Name) -> Grid:
        """The value of a name."""
        full, size, directions = (
            an.full_name(node),
            len(self.setting.directions),
            self.setting.directions,
        )
        if full in self.definitions:
            if self.depth > DEEPEST:
                raise an.MisfitError(f"{full} is defined by itself", node)
            if full not in self.memo:
                self.memo[full] = replace(self, depth=self.depth + 1).value(
                    self.definitions[full]
                )
            return self.memo[full]
        if full in self.exercise.parameters:
            return number_grid(
                scalars.parameter(full, self.exercise.parameters[full].range())
            )
        if node.base == self.setting.letter and an.label(node.index) in directions:
            place, length = directions.index(an.label(node.index)), self.setting.length
            long = scalars.parameter(length, self.exercise.parameters[length].range())
            return Grid(tuple((long if i == place else ZERO,) for i in range(size)))
        if full in ("I", "I_d", "I_D"):
            return identity(size)
        if node.base == "alpha":
            listed = node.index.items if isinstance(node.index, t.Listing) else ()
            parts = [an.label(item) for item in listed] or list(an.label(node.index))
            if len(parts) != 2:
                raise an.MisfitError(
                    "expected two indices: alpha_{21} is the weight that token 2 gives to token 1",
                    node,
                )
            return number_grid(
                self.pattern(self._place(node, parts[0]))[self._place(node, parts[1])]
            )
        if node.base in ("c", *PROJECTED) and an.label(node.index).isdigit():
            place = self._place(node, an.label(node.index))
            if node.base != "c":
                return self._projected(PROJECTED[node.base], place)
            outputs = [
                self._projected("V", j).times(weight)
                for j, weight in enumerate(self.pattern(place))
            ]
            return reduce(Grid.plus, outputs)
        if full in ("pi", "e"):
            return number_grid(scalars.pi() if full == "pi" else scalars.exp(ONE))
        if full in ("Q", "K", "V"):
            raise an.MissingError(
                f"{full} is used, and no formula defines it",
                node,
                fix=f"write {full} = ...",
            )
        if full != "infinity" and node.index is None and node.base.islower():
            return number_grid(
                scalars.parameter(full, scalars.POSITIVE)
            )  # 'a large number': a name of the answer's own
        known = ", ".join(
            (
                *(f"{self.setting.letter}_{name}" for name in directions),
                *self.setting.tokens,
            )
        )
        raise an.MisfitError(
            f"{full} is not a name of this exercise", node, fix=f"it has {known}"
        )

    def _place(self, node: t.Name, which: str) -> int:
        places = [
            place
            for place, token in enumerate(self.setting.tokens)
            if token.partition("_")[2] == which
        ]
        if not places:
            tokens = ", ".join(self.setting.tokens)
            raise an.MisfitError(
                f"there is no token {which}", node, fix=f"the tokens are {tokens}"
            )
        return places[0]

    def _projected(self, weights: str, place: int) -> Grid:
        """Q x_i, K x_i or V x_i; V = 2 is read as 2 I, and x_i = 0 as a vector."""
        name, size = (
            an.named(list(self.setting.tokens)[place]),
            len(self.setting.directions),
        )
        matrix, token = self.name(t.Name(weights)), self.name(name)
        if matrix.shape == (1, 1):
            matrix = identity(size).times(matrix.flat[0])
        if token.flat == (ZERO,):
            token = Grid(((ZERO,),) * size)
        if token.shape != (size, 1) or matrix.shape != (size, size):
            raise an.MisfitError(
                f"{weights} is not a square matrix, or {an.full_name(name)} not a vector",
                t.Name(weights),
            )
        return matrix.on(token)

    def pattern(self, place: int) -> list[scalars.Scalar]:
        """The weights that one token gives to all; those that a mask hides get none."""
        query, count = self._projected("Q", place), len(self.setting.tokens)
        seen = range(place + 1 if self.setting.mask == "causal" else count)
        weights = [
            scalars.exp(self._projected("K", j).turned().on(query).flat[0])
            for j in seen
        ]
        total = sum(weights, ZERO)
        return [weight / total for weight in weights] + [ZERO] * (count - len(weights))

    def _sum(self, terms: tuple[t.Node, ...]) -> Grid:
        total = self.value(terms[0]) if terms else number_grid(ZERO)
        for term in terms[1:]:
            value = self.value(term)
            if value.shape != total.shape:
                raise an.MisfitError(
                    "these two cannot be added: their shapes differ", term
                )
            total = total.plus(value)
        return total

    def _product(self, factors: tuple[t.Node, ...]) -> Grid:
        total = self.value(factors[0])
        for factor in factors[1:]:
            value = self.value(factor)
            if (1, 1) in (total.shape, value.shape):
                total = (
                    value.times(total.flat[0])
                    if total.shape == (1, 1)
                    else total.times(value.flat[0])
                )
            elif total.shape[1] != value.shape[0]:
                fix = "transpose one"
                raise an.MisfitError(
                    "these two cannot be multiplied: their shapes do not fit",
                    factor,
                    fix=fix,
                )
            else:
                total = total.on(value)
        return total


Told = tuple[
    list[tuple[scalars.Scalar, str, scalars.Scalar]], set[str], set[str]
]  # what is given, and the names that grow and that vanish


SHRINK = "both sides go to 0, as all vectors here do then: that does not say that one tends to the other"


def _sides(reader: Reader, link: t.Relation) -> tuple[Grid, Grid]:
    """What is compared; a written 0 is that of a vector too."""
    left, right = (reader.value(term) for term in link.terms)
    left = right.times(ZERO) if link.terms[0] == t.ZERO else left
    return left, left.times(ZERO) if link.terms[1] == t.ZERO else right


@dataclass(frozen=True)
class TokensProver:
    """Decides statements about tokens."""

    exercise: Exercise
    setting: Tokens
    reader: Reader
    claims: tuple[an.Said, ...] = ()
    conditions: tuple[Outcome, ...] = ()
    under: tuple[t.Node, ...] = ()  # what the answer says of its own names: s > 0

    @classmethod
    def of(cls, exercise: Exercise, setting: Tokens, answer: an.Answer) -> TokensProver:
        """With what the answer defines, and what it says of its own names."""
        weights: dict[str, str] = {**setting.weights}  # type: ignore[dict-item]
        given = {**setting.tokens, **weights, **exercise.definitions}
        definitions: dict[str, t.Node] = {
            name: parsed(source) for name, source in given.items()
        }
        definitions |= {name: said.node for name, said in answer.definitions.items()}
        reader = Reader(exercise, setting, definitions)
        prover = cls(exercise, setting, reader, tuple(answer.claims))
        for said in answer.conditions:
            prover._told(reader, (said.node,), own=True)
        return replace(prover, under=tuple(said.node for said in answer.conditions))

    def decide(self, claim: Claim) -> list[Outcome]:
        """One comparison, entry by entry."""
        instead = an.redefined(claim.under, self.exercise)
        under = tuple(part for part in claim.under if part not in instead.values())
        reader = self.reader
        if instead:  # 'if x_2 = u_a + u_d, then ...'
            new = {name: part.terms[1] for name, part in instead.items()}
            reader = replace(reader, definitions={**reader.definitions, **new}, memo={})
        decision = replace(self, under=(*self.under, *under))._link(reader, claim.link)
        words = self._words(reader, claim.link, decision)
        if claim.negated:
            decision = denied(decision, words)
            words = decision.reason
        return [judged(claim, decision, words)]

    def _link(self, reader: Reader, link: t.Relation) -> Decision:
        left, right = _sides(reader, link)
        sign = link.comparisons[0]
        if left.shape != right.shape:
            raise an.MisfitError("the two sides have different shapes", link)
        pairs = [*zip(left.flat, right.flat, strict=True)]
        pairs += (
            [(left.rest, right.rest)] if left.rest != right.rest else []
        )  # matrices may differ elsewhere
        given, growing, vanishing = self._told(reader, self.under)
        held = set().union(*(x.names() | y.names() for x, _, y in given))
        where, large = self._where(
            set().union(held, *(x.names() for pair in pairs for x in pair))
        )
        large = tuple(
            name for name in large if name not in (held | vanishing) - growing
        )
        # a parameter that is no large one moves where a condition sends it: as omega -> oo
        used = set().union(*(x.names() for pair in pairs for x in pair))
        large = tuple(sorted({*large, *(growing & used)}))
        where = where.given(*given)
        if len(pairs) > 1 and sign not in ("=", "~", "->", "!="):
            raise an.MisfitError("vectors are compared by size", link)
        tends = Tending(
            large, frozenset(vanishing), given=frozenset(self.exercise.parameters)
        )
        if len(pairs) == 1:
            return decide(pairs[0][0], sign, pairs[0][1], where, tends)
        found = decide_all(
            {str(place): pair for place, pair in enumerate(pairs)}, sign, where, tends
        )
        shrinks = self.setting.length in vanishing and left.shape == (
            len(self.setting.directions),
            1,
        )
        if (
            found.word == "proved"
            and sign in ("~", "->")
            and shrinks
            and any(y != ZERO for _, y in pairs)
        ):
            return Decision("undecided", SHRINK)
        return found

    def _told(
        self, reader: Reader, conditions: Sequence[t.Node], *, own: bool = False
    ) -> Told:
        """What conditions say; one on a name of the answer's own may only bound it from below, by a number."""
        given: list[tuple[scalars.Scalar, str, scalars.Scalar]] = []
        moving: dict[str, set[str]] = {"infinity": set(), "0": set()}
        for condition in conditions:
            if not isinstance(condition, t.Relation | t.Name):
                raise an.MisfitError("this condition is not understood", condition)
            for link in (
                an.comparisons(condition) if isinstance(condition, t.Relation) else ()
            ):  # a name: 'for all beta'
                found = way(link, self._still, reader.definitions)
                if found is not None and found.to in moving:
                    moving[found.to].add(found.name)
                    continue
                (left, right), (sign,) = (
                    map(reader.scalar, link.terms),
                    link.comparisons,
                )
                low = right if sign in (">", ">=") else left
                bounds = sign in ("=", "<", ">", "<=", ">=") and not (
                    own and (sign == "=" or low.rational is None)
                )
                if found is not None or not bounds:
                    raise an.MisfitError(
                        "this condition is not understood",
                        link,
                        fix="write s > 0, or \\to \\infty",
                    )
                given.append((left, sign, right))
        return given, moving["infinity"], moving["0"]

    def _still(self, name: t.Name) -> bool:
        known = self.exercise.parameters.get(an.full_name(name))
        return an.full_name(name) in ("pi", "e") if known is None else not known.large

    def _where(self, names: set[str]) -> tuple[scalars.Where, tuple[str, ...]]:
        given = self.exercise.parameters
        ranges = {
            name: given[name].range() if name in given else scalars.POSITIVE
            for name in names
        }
        large = sorted(name for name in names if name not in given or given[name].large)
        return scalars.Where(ranges), tuple(large)

    def _words(self, reader: Reader, link: t.Relation, decision: Decision) -> str:
        if decision.word != "refuted":
            return decision.reason
        left, sign = link.terms[0], link.comparisons[0]
        value, other = _sides(reader, link)
        if 1 in value.shape and len(value.flat) > 1:
            ends, others = self._end(value), self._end(other)
            if ends is None:
                return f"{plain(left)} does not tend to {plain(link.terms[1])}"
            if ends == others:
                return f"{plain(left)} tends to {ends}, and is not always equal to it: write \\approx"
            return f"{plain(left)} tends to {ends}, not to {plain(link.terms[1]).strip('[]')}"
        where = f"with {at(decision.values)}: " if decision.values else ""
        if decision.left is None or decision.right is None:
            return f"{where}{plain(link)} is false{': ' + decision.reason if decision.reason else ''}"
        return (
            f"{where}{plain(left)} is {contrasted(decision.left, sign, decision.right)}"
        )

    def _end(self, value: Grid) -> str | None:
        """The limit of a vector as a combination of the directions, beside their length; of a row, its entries."""
        row = value.shape[0] == 1
        length = (
            ONE
            if row
            else Reader(self.exercise, self.setting, {}).scalar(
                t.Name(self.setting.length)
            )
        )
        ends = [
            scalars.limit(
                entry / length, *self._where(set(entry.names()) | {self.setting.length})
            )
            for entry in value.flat
        ]
        if not all(isinstance(end, scalars.Scalar) for end in ends):
            return None
        if row:
            return f"({', '.join(map(str, ends))})"
        parts = [
            f"{'' if end == ONE else f'{end} '}{self.setting.letter}_{direction}"
            for direction, end in zip(self.setting.directions, ends, strict=True)
            if end != ZERO
        ]
        return (
            " + ".join(parts).replace("+ -", "- ") or "0, compared with the directions"
        )
