"""Statements about keys, queries, patterns and outputs, decided for all parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from headwright.check.answer import full_name
from headwright.check.decision import Decision, decide
from headwright.check.links import compared, comparisons
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.classes import ZERO, UndeterminedError, Vec
from headwright.check.rooms.keys.event import decide_event
from headwright.check.rooms.keys.indices import about_indices, free_indices
from headwright.check.rooms.keys.meaning import Reader, scalars_in
from headwright.check.rooms.keys.own import bounded
from headwright.check.rooms.keys.scene import SEPARATED, Hypothesis, Scene
from headwright.check.rooms.keys.separated import BENT, bent, worst_end
from headwright.check.rooms.keys.vectors import decide_vectors
from headwright.check.scalars import REAL, Scalar, Where, number
from headwright.formula.tree import Call, Comparison, Logic, Name, Node, Number, Quantified, Relation, walk

GROWS = ("->", ">>", "<<")  # conditions that make a name large, or small


@dataclass(frozen=True)
class Finding:
    """One comparison of a statement and what was found about it, in the scene where it was decided."""

    link: Relation
    decision: Decision
    scene: Scene

    @property
    def case(self) -> dict[str, Fraction]:
        """The lengths in the case at hand, where they are one of several."""
        known = {name: value.rational for name, value in self.scene.fixed.items()}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True)
class Decider:
    """Decides statements in a scene under hypotheses; free names go to infinity unless the answer bounds them."""

    scene: Scene
    hypotheses: tuple[Relation, ...] = ()
    bounded: frozenset[str] = frozenset()  # free names with a stated range
    solved: tuple[Hypothesis, ...] = ()  # hypotheses that are scalars already
    growing: frozenset[str] = frozenset()  # names that are said to go to infinity
    vanishing: frozenset[str] = frozenset()  # names that are said to go to 0

    def under(self, *conditions: Node) -> Decider:
        """The same under further conditions."""
        here = self
        for condition in conditions:
            here = here._under(condition)
        return here

    def _under(self, condition: Node) -> Decider:
        match condition:
            case Logic("and", items):
                return self.under(*items)
            case Relation():
                here = self
                for link in comparisons(condition):
                    if not about_indices(link, self.scene):
                        here = here._told(link)
                return here
            case Name():
                return self  # 'for all n'
            case _:
                raise MisfitError("this condition is not understood", condition)

    def _told(self, link: Relation) -> Decider:
        """The same under one further comparison."""
        sign = link.comparisons[0]
        if sign in GROWS:
            return self._tending(link)
        if sign == "~":
            raise MisfitError("how near is not said: a condition must be exact", link, fix="write =, < or >")
        names = [node for node in walk(link) if isinstance(node, Name)]
        own = {full_name(name) for name in names if not self.scene.gives(name)}
        scene = replace(self.scene, own=bounded(self.scene, link))
        match link:
            case Relation((Name() as name, Number(value)), ("=",)) if full_name(name) in scene.random:
                scene = scene.knowing(**{full_name(name): number(value)})
        return replace(self, scene=scene, hypotheses=(*self.hypotheses, link), bounded=self.bounded | own)

    def _tending(self, link: Relation) -> Decider:
        """lambda -> infinity, t >> n: a name is large; epsilon -> 0: it is small."""
        big, other = link.terms if link.comparisons[0] != "<<" else reversed(link.terms)
        if not isinstance(big, Name) or full_name(big) in self.scene.definitions:
            raise MisfitError("what this makes large is not understood", link, fix="write \\lambda \\to \\infty")
        name = full_name(big)
        if link.comparisons[0] != "->":
            if isinstance(other, Name) and not self.scene.gives(other):
                raise MisfitError(f"{full_name(other)} is said to be small: how small?", link, fix="state a bound")
            return replace(self, growing=self.growing | {name})
        if isinstance(other, Name) and full_name(other) == "infinity":
            return replace(self, growing=self.growing | {name})
        if isinstance(other, Number) and other.value == 0:
            return replace(self, vanishing=self.vanishing | {name})
        raise MisfitError("this limit is not understood", link, fix="write \\to \\infty or \\to 0")

    def findings(self, node: Node) -> Iterator[Finding]:
        """Every comparison in a statement, decided."""
        match node:
            case Logic("and", items):
                for item in items:
                    yield from self.findings(item)
            case Logic("implies", (condition, conclusion)):
                yield from self.under(condition).findings(conclusion)
            case Logic("not", (Relation((a, b), (sign,)),)) if sign in ("~", "->"):
                yield from self._not_near(Relation((a, b), (sign,), span=node.span))
            case Quantified(body, conditions):
                yield from self.under(*conditions).findings(body)
            case Relation():
                for link in comparisons(node):
                    yield from self._link(link)
            case _:
                raise MisfitError("this is not a statement", node, fix="write a comparison: ... = ..., ... \\ge ...")

    def _link(self, link: Relation) -> Iterator[Finding]:
        scene = self.scene
        picked = free_indices(link, scene)
        for index in picked:
            scene = scene.picking(index)
        there_are = () if not picked else ((scene.classes.rest, ">=", ZERO),)
        for case in scene.cases():
            here = replace(self, scene=case, solved=(*self.solved, *there_are))
            decision = here._decided(link)
            if decision is not None:
                yield Finding(link, here._cautious(link, decision), case)

    def _cautious(self, link: Relation, decision: Decision) -> Decision:
        """Where a tolerance is tied to a bounded name, 'about' is about its going to 0: nothing fixed refutes it."""
        if decision.word != "refuted" or link.comparisons[0] not in ("~", "->"):
            return decision
        spoken: list[Relation | Hypothesis] = [*self.hypotheses, *self.solved]
        names = [_names_of(one, self.scene) for one in spoken]
        if any(one & set(self.scene.small) and one - set(self.scene.ranges) for one in names):
            return Decision("undecided", "the limit could not be found")
        return decision

    def _not_near(self, link: Relation) -> Iterator[Finding]:
        for finding in self._link(link):
            said = finding.decision
            if said.word == "refuted":
                yield replace(finding, decision=Decision("proved", said.reason or "they tend to different limits"))
            elif said.word == "proved":
                yield replace(finding, decision=Decision("refuted", "the two tend to the same limit"))
            else:
                yield finding

    def _decided(self, link: Relation) -> Decision | None:
        """The decision in one case; None where the hypotheses exclude the case."""
        (left, right), (sign,) = link.terms, link.comparisons
        reader = Reader(self.scene, {})
        if isinstance(left, Call) and left.function == "P":
            return decide_event(self, left, sign, right)
        try:
            a, b = reader.value(left), reader.value(right)
            given = self.given(reader)
        except UndeterminedError as error:
            return Decision("undecided", str(error))
        if given is None:
            return None
        where, large = self.where(scalars_in(a) + scalars_in(b), given)
        if isinstance(a, Vec) or isinstance(b, Vec):
            if self.vanishing:
                return Decision("undecided", "limits of vectors are found for large names only")
            return decide_vectors(self.scene, link, (a, b), where, large, self.small(given))
        if self.scene.setting.are == "separated" and not large:
            return self._separated(link, a, sign, b, where)
        if self.scene.setting.are == "any" and large and "score" in a.names() | b.names():
            return self._relative(a, sign, b, where, large)
        return decide(a, sign, b, where, large, self.small(given), self.scene.seed, self.vanishing)

    def small(self, given: Sequence[Hypothesis]) -> tuple[str, ...]:
        """The names that go to 0 where something is 'about' so: tolerances, unless their value is spoken of."""
        held = [names for x, _, y in given if (names := x.names() | y.names()) <= set(self.scene.ranges)]
        fixed: set[str] = set().union(*held)
        return tuple(name for name in self.scene.small if name not in fixed)

    def _relative(self, a: Scalar, sign: Comparison, b: Scalar, where: Where, large: tuple[str, ...]) -> Decision:
        """Scores of the others that the condition does not bind: they may grow along with what is large."""
        for name in large:
            along = {"score": where.name("score") + 2 * where.name(name)}
            found = decide(a.put(along), sign, b.put(along), where, large, self.scene.small, self.scene.seed)
            if found.word == "refuted":
                return replace(found, reason="the condition says nothing of the other scores: they may be larger still")
        return Decision("undecided", "how large is large enough depends on the other scores")

    def _separated(self, link: Relation, a: Scalar, sign: Comparison, b: Scalar, where: Where) -> Decision:
        worst = worst_end(a, sign, b, where)
        if worst is not None:
            return Decision("refuted", "", values=worst.values, left=worst.left, right=worst.right)
        turned = bent(self.scene)
        if turned is not None and BENT not in self.scene.ranges:
            scene, known = turned
            found = replace(self, scene=scene, solved=(*self.solved, *known))._decided(link)
            if found is not None and found.word == "proved":
                return found
        small = self.small(self.given(Reader(self.scene, {})) or ())
        return decide(a, sign, b, where, small=small, seed=self.scene.seed, vanishing=self.vanishing)

    def given(self, reader: Reader) -> list[Hypothesis] | None:
        """The hypotheses as scalars; None if one is false."""
        given = list(self.solved)
        for condition in self.hypotheses:
            left, right = (reader.scalar(term) for term in condition.terms)
            sign = condition.comparisons[0]
            if left.rational is not None and right.rational is not None:
                if not compared(left.rational, sign, right.rational):
                    return None
                continue
            given.append((left, sign, right))
        return given

    def where(self, scalars: list[Scalar], given: Sequence[Hypothesis]) -> tuple[Where, tuple[str, ...]]:
        """What is known of the names in some scalars, and which of them are large."""
        names = set().union(*(s.names() for s in scalars), *(x.names() | y.names() for x, _, y in given))
        ranges = dict(self.scene.ranges)
        large = {name for name, known in self.scene.exercise.parameters.items() if known.large}
        for name in names - set(ranges):
            if name.startswith("closeness"):
                ranges[name] = SEPARATED
            elif name.startswith("score"):
                ranges[name] = REAL
            else:
                ranges[name] = self.scene.range_of(name)
                if name not in self.bounded:
                    large.add(name)
        large = (large | self.growing) & (names | set(self.scene.exercise.parameters)) - self.vanishing
        return Where(ranges).given(*given), tuple(sorted(large))


def _names_of(condition: Relation | Hypothesis, scene: Scene) -> set[str]:
    """All names in a condition, in definitions too."""
    if not isinstance(condition, Relation):
        return set(condition[0].names() | condition[2].names())
    reader = Reader(scene, {})
    return set().union(*(reader.scalar(term).names() for term in condition.terms))
