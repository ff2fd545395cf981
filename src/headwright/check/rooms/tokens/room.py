"""The verdict on an answer about self-attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from headwright.check.answer import Answer, Said, full_name, label
from headwright.check.claims import Claim
from headwright.check.decision import Decision, decide, most_telling
from headwright.check.exercise import Exercise, Tokens
from headwright.check.judging import SIGNS, Judged, at, judged, shown
from headwright.check.links import comparisons
from headwright.check.misfit import MisfitError
from headwright.check.rooms.tokens.grid import ONE, Grid
from headwright.check.rooms.tokens.meaning import Reader
from headwright.check.rooms.tokens.told import Told, tending
from headwright.check.scalars import POSITIVE, Scalar, Where, limit, prove
from headwright.check.verdict import Verdict
from headwright.formula import parse
from headwright.formula.show import plain
from headwright.formula.tree import Name, Node, Relation

SAME = "the two tend to the same"
OPPOSITE: dict[str, Literal["proved", "refuted"]] = {"proved": "refuted", "refuted": "proved"}  # of what is denied


@dataclass(frozen=True)
class TokensRoom:
    """An exercise about tokens."""

    exercise: Exercise
    setting: Tokens
    whole = False

    def knows(self, name: Name) -> bool:
        """Whether the exercise gives this name."""
        full = full_name(name)
        given = {*self.exercise.parameters, *self.setting.tokens, *self.setting.weights, *self.exercise.answer}
        if full in given or full in ("I", "pi", "e", "infinity", "Q", "K", "V"):
            return True
        return name.base in (self.setting.letter, "c", "alpha", "q", "k", "v") and label(name.index) != ""

    def opened(self, answer: Answer) -> TokensCourt:
        """With what the answer defines, and what it says of its own names."""
        weights: dict[str, str] = {**self.setting.weights}  # type: ignore[dict-item]
        given = {**self.setting.tokens, **weights, **self.exercise.definitions}
        definitions: dict[str, Node] = {name: parse(source) for name, source in given.items()}
        definitions |= {name: said.node for name, said in answer.definitions.items()}
        reader = Reader(self.exercise, self.setting, definitions)
        court = TokensCourt(self.exercise, self.setting, reader, tuple(answer.claims))
        for said in answer.conditions:
            court._told(reader, said.node, own=True)
        return replace(court, under=tuple(said.node for said in answer.conditions))


@dataclass(frozen=True)
class TokensCourt:
    """Decides statements about tokens."""

    exercise: Exercise
    setting: Tokens
    reader: Reader
    claims: tuple[Said, ...] = ()
    conditions: tuple[Judged, ...] = ()
    under: tuple[Node, ...] = ()  # what the answer says of its own names: s > 0

    def told(self, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
        """There is nothing to add."""
        del judgements
        return verdict

    def decide(self, claim: Claim) -> list[Judged]:
        """One comparison, entry by entry."""
        here, link = replace(self, under=(*self.under, *claim.under)), claim.link
        decision = here._link(self.reader, link)
        words = here._words(self.reader, link, decision)
        if claim.negated and decision.word in OPPOSITE:
            decision = Decision(OPPOSITE[decision.word], words if decision.word == "refuted" else SAME)
            words = decision.reason
        return [judged(claim, decision, words)]

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
        found = [decide(a, sign, b, where, large, vanishing=vanishing) for a, b in pairs]
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
