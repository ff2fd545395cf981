"""Statements about keys, queries, patterns and outputs, decided for all parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from headwright.check.answer import full_name
from headwright.check.decision import Decision, decide
from headwright.check.keys.classes import ZERO, UndeterminedError, Vec
from headwright.check.keys.event import decide_event
from headwright.check.keys.indices import about_indices, free_indices
from headwright.check.keys.meaning import Reader, scalars_in
from headwright.check.keys.scene import SEPARATED, Hypothesis, Scene
from headwright.check.keys.separated import bent, worst_end
from headwright.check.keys.vectors import decide_vectors
from headwright.check.links import compared, comparisons
from headwright.check.misfit import MisfitError
from headwright.check.scalars import POSITIVE, REAL, Scalar, Where
from headwright.formula.tree import Call, Comparison, Logic, Name, Node, Quantified, Relation, walk

GROWS = ("->", ">>", "<<")  # conditions that make a name large


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
                links = [
                    link
                    for link in comparisons(condition)
                    if link.comparisons[0] not in GROWS and not about_indices(link, self.scene)
                ]
                names = [node for link in links for node in walk(link) if isinstance(node, Name)]
                own = {full_name(name) for name in names if not self.scene.gives(name)}
                return replace(self, hypotheses=(*self.hypotheses, *links), bounded=self.bounded | own)
            case Name():
                return self  # 'for all n'
            case _:
                raise MisfitError("this condition is not understood", condition)

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
                yield Finding(link, decision, case)

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
            return decide_vectors(self.scene, link, (a, b), where, large)
        if self.scene.setting.are == "separated" and not large:
            return self._separated(link, a, sign, b, where)
        if self.scene.setting.are == "any" and large and "score" in a.names() | b.names():
            return self._relative(a, sign, b, where, large)
        return decide(a, sign, b, where, large, self.scene.small, self.scene.seed)

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
        if turned is not None and "y" not in self.scene.ranges:
            scene, known = turned
            found = replace(self, scene=scene, solved=(*self.solved, *known))._decided(link)
            if found is not None and found.word == "proved":
                return found
        return decide(a, sign, b, where, seed=self.scene.seed)

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
            given.append((left, "=" if sign == "~" else sign, right))
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
                ranges[name] = POSITIVE
                if name not in self.bounded:
                    large.add(name)
        return Where(ranges).given(*given), tuple(sorted(large))
