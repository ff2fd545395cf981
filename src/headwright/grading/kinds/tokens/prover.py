"""Exercises about self-attention on tokens made of orthogonal directions: exact matrices, limits as lengths grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading import answer as an
from headwright.grading import scalars
from headwright.grading.decision import Decision, Tending, decide, decide_all, denied
from headwright.grading.exact_arrays.array import (
    ONE,
    ZERO,
    ExactArray,
    MisshapenError,
    dot,
)
from headwright.grading.exact_arrays.reader import ENTRYWISE, ArrayReader
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import Claim, Outcome, at, contrasted, judged
from headwright.grading.kinds.tending import way
from headwright.grading.kinds.tokens.names import (
    Projected,
    TokenDirection,
    TokenOutput,
    TokenWeight,
    meaning_of,
    visible,
)
from headwright.grading.kinds.tokens.table import Tokens


@dataclass(frozen=True)
class TokensReader(ArrayReader):
    """What names are: all that is given lies in the span of the directions, in any dimension.

    Arrays have one axis for each direction, and a last one that stands for whatever is orthogonal to them: vectors have
    a 0 there, and matrices a multiple of the identity. So what depends on the dimension has no value here.
    """

    setting: Tokens = field(kw_only=True)

    @property
    def size(self) -> int:
        """The number of axes."""
        return len(self.setting.directions) + 1

    def value(self, node: t.Node) -> ExactArray:
        """The value of a formula; what does not fit together is not understood."""
        try:
            return self._value(node)
        except MisshapenError as error:
            raise an.MisfitError(str(error), node, fix="transpose one") from None

    def _value(self, node: t.Node) -> ExactArray:
        if isinstance(node, t.Listing | t.Matrix | t.BigSum):
            said = f"{t.called(node)} has no meaning in this exercise"
            raise an.MisfitError(said, node)
        return super()._value(node)

    def _is_known(self, name: t.Name) -> bool:
        del name
        return False  # no entries: the dimension is not known

    def is_unsized(self, node: t.Node) -> bool:
        """The identity is that of all axes."""
        del node
        return False

    @staticmethod
    def _fitting(total: ExactArray, value: ExactArray) -> ExactArray:
        del total
        return value

    @staticmethod
    def _norm(node: t.Node, value: ExactArray, kind: str) -> ExactArray:
        if not (value.is_vector or value.is_number):
            raise an.MisfitError("the norm of a matrix has no meaning here", node)
        return ArrayReader._norm(node, value, kind)

    def _call(
        self, node: t.Node, function: str, arguments: tuple[t.Node, ...]
    ) -> ExactArray:
        if len(arguments) != 1 or function not in ENTRYWISE:
            said = f"{t.called(node)} has no meaning in this exercise"
            raise an.MisfitError(said, node)
        return ExactArray.number(ENTRYWISE[function](self.scalar(arguments[0])))

    # Names

    def name(self, node: t.Name) -> ExactArray:
        """A definition, a direction, what attention computes, or a number."""
        full = an.full_name(node)
        if full in self.definitions or full in self.parameters or full in self.arrays:
            return super().name(node)
        match meaning_of(node, self.setting):
            case TokenDirection(place):
                return self._direction(place)
            case TokenWeight(query, key):
                return ExactArray.number(self.pattern(query)[key])
            case TokenOutput(query):
                return self._output(query)
            case Projected(matrix, place):
                return self._projected(matrix, place)
        if full in ("Q", "K", "V"):
            raise an.MissingError(
                f"{full} is used, and no formula defines it",
                node,
                fix=f"write {full} = ...",
            )
        is_free = node.index is None and node.base.islower()
        if is_free and full != "infinity":
            return super().name(node)
        directions = [
            f"{self.setting.letter}_{which}" for which in self.setting.directions
        ]
        known = ", ".join((*directions, *self.setting.tokens))
        raise an.MisfitError(
            f"{full} is not a name of this exercise", node, fix=f"it has {known}"
        )

    def _direction(self, place: int) -> ExactArray:
        length = self.scalar(an.named(self.setting.length))
        return ExactArray.column(
            [length if axis == place else ZERO for axis in range(self.size)]
        )

    def _output(self, place: int) -> ExactArray:
        outputs = [
            self._projected("V", key).scaled(weight)
            for key, weight in enumerate(self.pattern(place))
        ]
        return reduce(ExactArray.plus, outputs)

    def _projected(self, weights: str, place: int) -> ExactArray:
        """Q x_i, K x_i or V x_i; V = 2 is read as 2 I, and x_i = 0 as a vector."""
        name = an.named(list(self.setting.tokens)[place])
        matrix, token = self.name(t.Name(weights)), self.name(name)
        if matrix.is_number:
            matrix = ExactArray.identity(self.size).scaled(matrix.entries[0])
        if token.entries == (ZERO,):
            token = ExactArray.filled((self.size, 1), ZERO)
        if not (token.shape == (self.size, 1) and matrix.shape == (self.size,) * 2):
            raise an.MisfitError(
                f"{weights} is not a square matrix, or {an.full_name(name)} not a vector",
                t.Name(weights),
            )
        return matrix.times(token)

    def pattern(self, place: int) -> list[scalars.Scalar]:
        """The weights that one token gives to all; those that a mask hides get none."""
        query, count = self._projected("Q", place), len(self.setting.tokens)
        seen = visible(place, self.setting)
        scores = [dot(self._projected("K", key).entries, query.entries) for key in seen]
        weights = ExactArray.of_rows([scores]).softmax().entries
        return [*weights, *[ZERO] * (count - len(weights))]


Told = tuple[
    list[tuple[scalars.Scalar, str, scalars.Scalar]], set[str], set[str]
]  # what is given, and the names that grow and that vanish


SHRINK = "both sides go to 0, as all vectors here do then: that does not say that one tends to the other"


def _sides(reader: TokensReader, link: t.Relation) -> tuple[ExactArray, ExactArray]:
    """What is compared; a written 0 is that of a vector too."""
    left, right = (reader.value(term) for term in link.terms)
    left = right.scaled(ZERO) if link.terms[0] == t.ZERO else left
    return left, left.scaled(ZERO) if link.terms[1] == t.ZERO else right


@dataclass(frozen=True)
class TokensProver:
    """Decides statements about tokens."""

    exercise: Exercise
    setting: Tokens
    reader: TokensReader
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
        identity = ExactArray.identity(len(setting.directions) + 1)
        reader = TokensReader(
            definitions,
            arrays=dict.fromkeys(("I", "I_d", "I_D"), identity),
            parameters={
                name: known.range() for name, known in exercise.parameters.items()
            },
            free_numbers=True,
            setting=setting,
        )
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
            reader = replace(
                reader, definitions={**reader.definitions, **new}, memory={}
            )
        decision = replace(self, under=(*self.under, *under))._link(reader, claim.link)
        words = self._words(reader, claim.link, decision)
        if claim.negated:
            decision = denied(decision, words)
            words = decision.reason
        return [judged(claim, decision, words)]

    def _link(self, reader: TokensReader, link: t.Relation) -> Decision:
        left, right = _sides(reader, link)
        sign = link.comparisons[0]
        if left.shape != right.shape:
            raise an.MisfitError("the two sides have different shapes", link)
        pairs = [*zip(left.entries, right.entries, strict=True)]
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
        shrinks = self.setting.length in vanishing and left.shape == (reader.size, 1)
        if (
            found.word == "proved"
            and sign in ("~", "->")
            and shrinks
            and any(y != ZERO for _, y in pairs)
        ):
            return Decision("undecided", SHRINK)
        return found

    def _told(
        self, reader: TokensReader, conditions: Sequence[t.Node], *, own: bool = False
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

    def _words(self, reader: TokensReader, link: t.Relation, decision: Decision) -> str:
        if decision.word != "refuted":
            return decision.reason
        left, sign = link.terms[0], link.comparisons[0]
        value, other = _sides(reader, link)
        if value.is_vector:
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

    def _end(self, value: ExactArray) -> str | None:
        """The limit of a vector as a combination of the directions, beside their length; of a row, its entries."""
        row = value.shape[0] == 1
        length = ONE if row else self.reader.scalar(an.named(self.setting.length))
        ends = [
            scalars.limit(
                entry / length, *self._where(set(entry.names()) | {self.setting.length})
            )
            for entry in value.entries[:-1]
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
