"""The verdict on an answer about self-attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from headwright.check.answer import Answer, Said, full_name, label
from headwright.check.decision import Decision, decide, most_telling
from headwright.check.exercise import Exercise, Tokens
from headwright.check.judging import SIGNS, Judged, at, composed, judged, shown
from headwright.check.links import comparisons
from headwright.check.misfit import MisfitError
from headwright.check.rooms.tokens.grid import ONE, Grid
from headwright.check.rooms.tokens.meaning import Reader
from headwright.check.rooms.tokens.told import Told, tending
from headwright.check.scalars import POSITIVE, Scalar, Where, limit, prove
from headwright.check.verdict import Verdict
from headwright.formula import parse
from headwright.formula.show import plain
from headwright.formula.tree import Logic, Name, Node, Quantified, Relation

SAME = "the two tend to the same"
Role = Literal["goal", "statement", "step"]


@dataclass(frozen=True)
class TokensRoom:
    """An exercise about tokens."""

    exercise: Exercise
    setting: Tokens
    seed: int = 0
    under: tuple[Node, ...] = ()  # conditions: 'as beta -> infinity', 'for beta = 1', 's > 0'

    def knows(self, name: Name) -> bool:
        """Whether the exercise gives this name."""
        full = full_name(name)
        given = {*self.exercise.parameters, *self.setting.tokens, *self.setting.weights, *self.exercise.answer}
        if full in given or full in ("I", "pi", "e", "infinity", "Q", "K", "V"):
            return True
        return name.base in (self.setting.letter, "c", "alpha", "q", "k", "v") and label(name.index) != ""

    def verdict(self, answer: Answer) -> Verdict:
        """The verdict on a complete answer."""
        weights: dict[str, str] = {**self.setting.weights}  # type: ignore[dict-item]
        given = {**self.setting.tokens, **weights, **self.exercise.definitions}
        definitions: dict[str, Node] = {name: parse(source) for name, source in given.items()}
        definitions |= {name: said.node for name, said in answer.definitions.items()}
        reader = Reader(self.exercise, self.setting, definitions)
        here = replace(self, under=tuple(said.node for said in answer.conditions))
        return here._verdict(reader, answer)

    def _verdict(self, reader: Reader, answer: Answer) -> Verdict:
        found: list[Judged] = []
        for said in answer.conditions:
            try:
                self._told(reader, said.node, own=True)
            except MisfitError as error:
                raise error.shown_in(said.formula.text) from error
        for source in self.exercise.goals:
            found += self._statement(reader, parse(source), "goal", None)
        for said in answer.claims:
            try:
                steps = isinstance(said.node, Relation) and len(said.node.terms) > 2
                found += self._statement(reader, said.node, "step" if steps else "statement", said)
            except MisfitError as error:
                raise error.shown_in(said.formula.text) from error
        return composed(found)

    def _statement(self, reader: Reader, node: Node, role: Role, said: Said | None) -> Iterator[Judged]:
        match node:
            case Logic("and", items):
                for item in items:
                    yield from self._statement(reader, item, role, said)
            case Quantified(body, conditions):
                yield from replace(self, under=(*self.under, *conditions))._statement(reader, body, role, said)
            case Logic("not", (Relation((_, _), ("~" | "->",)) as near,)):
                for one in self._statement(reader, near, role, said):
                    yield _opposite(one, said)
            case Relation():
                for link in comparisons(node):
                    decision = self._link(reader, link)
                    yield judged(link, decision, role, said, self._words(reader, link, decision))
            case _:
                raise MisfitError(
                    "this is not a statement", node, fix="write a comparison: ... = ..., ... \\approx ..."
                )

    def _link(self, reader: Reader, link: Relation) -> Decision:
        left, right = (reader.value(term) for term in link.terms)
        sign = link.comparisons[0]
        if left.shape != right.shape:
            raise MisfitError("the two sides have different shapes", link)
        pairs = list(zip(left.flat, right.flat, strict=True))
        told = [self._told(reader, condition) for condition in self.under]
        given = [one for each in told for one in each.given]
        held = set().union(*(x.names() | y.names() for x, _, y in given))
        where, large = self._where(set().union(held, *(x.names() for pair in pairs for x in pair)))
        vanishing = {name for each in told for name in each.vanishing}
        growing = {name for each in told for name in each.growing}
        large = tuple(name for name in large if name not in (held | vanishing) - growing)
        where = where.given(*given)
        if len(pairs) > 1 and sign not in ("=", "~", "->", "!="):
            raise MisfitError("vectors are compared by size", link)
        found = [decide(a, sign, b, where, large, seed=self.seed, vanishing=vanishing) for a, b in pairs]
        if sign == "!=" and len(pairs) > 1:
            return self._different(pairs, found, where)
        return most_telling(found)

    def _different(self, pairs: list[tuple[Scalar, Scalar]], found: list[Decision], where: Where) -> Decision:
        """Vectors differ where one entry does; they are the same only if all entries are."""
        if all(prove(a, "=", b, where) is not None for a, b in pairs):
            return Decision("refuted", "the two are the same")
        return next((one for one in found if one.word == "proved"), Decision("undecided", "they may coincide"))

    def _told(self, reader: Reader, condition: Node, own: bool = False) -> Told:
        """What a condition says; one on a name of the answer's own may only bound it from below, by a number."""
        if isinstance(condition, Name):
            return Told()  # 'for all beta'
        if not isinstance(condition, Relation):
            raise MisfitError("this condition is not understood", condition)
        told = Told()
        for link in comparisons(condition):
            told = told.and_(tending(link) or self._bounding(reader, link, own))
        return told

    def _bounding(self, reader: Reader, link: Relation, own: bool) -> Told:
        left, right = (reader.scalar(term) for term in link.terms)
        sign = link.comparisons[0]
        if sign not in ("=", "<", ">", "<=", ">="):
            raise MisfitError("this condition is not understood", link, fix="write =, < or >")
        if own:
            low = right if sign in (">", ">=") else left
            if sign == "=" or low.rational is None:
                raise MisfitError("this condition is not understood", link, fix="state a number: s > 0")
        return Told(given=((left, sign, right),))

    def _where(self, names: set[str]) -> tuple[Where, tuple[str, ...]]:
        given = self.exercise.parameters
        ranges = {name: given[name].range() if name in given else POSITIVE for name in names}
        large = sorted(name for name in names if name not in given or given[name].large)
        return Where(ranges), tuple(large)

    def _words(self, reader: Reader, link: Relation, decision: Decision) -> str:
        if decision.word != "refuted":
            return decision.reason
        left, sign = link.terms[0], link.comparisons[0]
        value = reader.value(left)
        if value.shape[1] == 1 and value.shape[0] > 1:
            end = self._end(value)
            if end is not None:
                return f"{plain(left)} tends to {end}, not to {plain(link.terms[1])}"
            return f"{plain(link)} is false"
        where = f"with {at(decision.values)}: " if decision.values else ""
        if decision.left is None or decision.right is None:
            return f"{where}{plain(link)} is false{': ' + decision.reason if decision.reason else ''}"
        return f"{where}{plain(left)} is {shown(decision.left)}, not {SIGNS[sign]} {shown(decision.right)}"

    def _end(self, value: Grid) -> str | None:
        """The limit of a vector as a combination of the directions."""
        length = Reader(self.exercise, self.setting, {}).scalar(Name(self.setting.length))
        parts = []
        for direction, (entry,) in zip(self.setting.directions, value.entries, strict=True):
            where, large = self._where(set(entry.names()) | {self.setting.length})
            end = limit(entry / length, where, large)
            if not isinstance(end, Scalar):
                return None
            if end.rational != 0:
                parts.append(f"{'' if end == ONE else f'{end} '}{self.setting.letter}_{direction}")
        return " + ".join(parts).replace("+ -", "- ") or "0 (next to the directions)"


def _opposite(one: Judged, said: Said | None) -> Judged:
    word = one.decision.word
    if word == "refuted":
        return judged(one.link, Decision("proved", one.part.reason), one.part.role, said, one.part.reason)
    if word == "proved":
        return judged(one.link, Decision("refuted", SAME), one.part.role, said, SAME)
    return one
