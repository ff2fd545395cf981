"""Statements about keys, queries, patterns and outputs, decided for all parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from headwright.check.answer import full_name
from headwright.check.claims import Claim
from headwright.check.decision import Decision, decide
from headwright.check.judging import shown
from headwright.check.links import compared, comparisons
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.classes import ZERO, UndeterminedError, Vec
from headwright.check.rooms.keys.event import decide_event, is_output, speaks_of_output
from headwright.check.rooms.keys.indices import about_indices, free_indices, meant
from headwright.check.rooms.keys.meaning import Reader, scalars_in
from headwright.check.rooms.keys.own import bounded
from headwright.check.rooms.keys.scene import SEPARATED, Hypothesis, Scene
from headwright.check.rooms.keys.separated import BENT, bent, worst_end
from headwright.check.rooms.keys.vectors import decide_vectors
from headwright.check.scalars import REAL, Scalar, Where, number
from headwright.formula import parse
from headwright.formula.show import plain
from headwright.formula.tree import Call, Comparison, Logic, Name, Node, Number, Relation, walk

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

    def findings(self, claim: Claim) -> Iterator[Finding]:
        """What is found about a claim, for every kind of key and every length that it speaks of."""
        here = self.under(*claim.under)
        for link in meant(claim.link, claim.under, self.scene):
            for finding in here._link(link):
                yield _denied(finding) if claim.negated else finding

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

    def _decided(self, link: Relation) -> Decision | None:
        """The decision in one case; None where the hypotheses exclude the case."""
        (left, right), (sign,) = link.terms, link.comparisons
        reader = Reader(self.scene, {})
        if isinstance(left, Call) and left.function == "P":
            return decide_event(self, left, sign, right)
        if self._leaves_to_chance(link):
            return self._almost_surely(link)
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
        return decide(a, sign, b, where, large, self.small(given), self.vanishing)

    def _leaves_to_chance(self, link: Relation) -> bool:
        """c ~ x, where a length is random and nothing is said of it: that is meant but for cases of probability 0."""
        random = [scale.name for scale in self.scene.setting.scales.values() if scale.normal is not None]
        if not random or link.comparisons[0] not in ("~", "->") or not is_output(link.terms[0]):
            return False
        spoken = {name for one in self.hypotheses for name in _names_of(one, self.scene)} | set(self.scene.fixed)
        return not spoken & set(random) and not speaks_of_output(link.terms[1])

    def _almost_surely(self, link: Relation) -> Decision:
        asked = self.under(*(parse(source) for source in self.scene.setting.given))
        found = decide_event(asked, Call("P", (link,)), "->", Number(Fraction(1)))
        if found.word == "refuted" and found.left is not None:
            return Decision("refuted", f"{plain(link)} with probability {shown(found.left)} only")
        return found

    def small(self, given: Sequence[Hypothesis]) -> tuple[str, ...]:
        """The names that go to 0 where something is 'about' so: tolerances, unless their value is spoken of."""
        held = [names for x, _, y in given if (names := x.names() | y.names()) <= set(self.scene.ranges)]
        fixed: set[str] = set().union(*held)
        return tuple(name for name in self.scene.small if name not in fixed)

    def _relative(self, a: Scalar, sign: Comparison, b: Scalar, where: Where, large: tuple[str, ...]) -> Decision:
        """Scores of the others that the condition does not bind: they may grow along with what is large."""
        for name in large:
            along = {"score": where.name("score") + 2 * where.name(name)}
            if any("score" in x.names() | y.names() for x, _, y in where.all_hypotheses()):
                break  # a condition binds them: they may not
            found = decide(a.put(along), sign, b.put(along), where, large, self.scene.small)
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
        return decide(a, sign, b, where, small=small, vanishing=self.vanishing)

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
        return Where(ranges, hints=self.scene.hints).given(*given), tuple(sorted(large))


def _denied(finding: Finding) -> Finding:
    said = finding.decision
    if said.word == "refuted":
        return replace(finding, decision=Decision("proved", said.reason or "they tend to different limits"))
    if said.word == "proved":
        return replace(finding, decision=Decision("refuted", "the two tend to the same limit"))
    return finding


def _names_of(condition: Relation | Hypothesis, scene: Scene) -> set[str]:
    """All names in a condition, in definitions too."""
    if not isinstance(condition, Relation):
        return set(condition[0].names() | condition[2].names())
    reader = Reader(scene, {})
    return set().union(*(reader.scalar(term).names() for term in condition.terms))
