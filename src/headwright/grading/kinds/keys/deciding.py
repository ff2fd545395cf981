"""Statements about keys, queries, patterns and outputs, decided for all parameters.

Vectors are compared by their parts along the keys, outputs by the weights of the values. Where keys are merely
separated the inner product of k_1 with another key may be anything from -1 to 1/2: a score is rate * closeness, what
a comparison sees of it is y = exp(rate * closeness), and with y in place of the closeness the comparison is algebra
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Literal

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading import scalars as sc
from headwright.grading.answer import (
    MisfitError,
    UndeterminedError,
    compared,
    comparisons,
    full_name,
    names_in,
    speaks_of_moments,
)
from headwright.grading.decision import Decision, Tending, decide, decide_all, denied
from headwright.grading.exercise import parsed
from headwright.grading.judging import Claim, shown
from headwright.grading.kinds.keys import laws
from headwright.grading.kinds.keys import scene as s
from headwright.grading.kinds.keys.conditions import (
    BENT,
    SLACK,
    check_common,
    given_as,
)
from headwright.grading.kinds.keys.meaning import Reader, Value, scalars_in
from headwright.grading.kinds.tending import Way, way
from headwright.grading.scalars.assumptions import MIRRORED, checked
from headwright.grading.scalars.numbers import Symbol


def bounded(scene: s.Scene, link: t.Relation) -> Mapping[str, sc.Range]:
    """What is known of such names once a comparison is told: lambda < 0 makes lambda negative, not positive."""
    (left, right), (sign,) = link.terms, link.comparisons
    for one, other, turned in (
        (left, right, sign),
        (right, left, MIRRORED[checked(sign)]),
    ):
        if (
            not isinstance(one, t.Name)
            or scene.gives(one)
            or full_name(one) in scene.definitions
        ):
            continue
        value, name = t.number_of(other), full_name(one)
        if value is None:
            continue
        said = sc.Range(
            value if turned in (">", ">=", "=") else None,
            value if turned in ("<", "<=", "=") else None,
            lower_open=turned == ">",
            upper_open=turned == "<",
        )
        try:
            return {**scene.own, name: scene.own.get(name, sc.REAL).within(said)}
        except InputError:
            raise MisfitError(
                f"no {name} satisfies this and what was said before", link
            ) from None
    return scene.own


TIED = "at the means of the keys the two sides may be equal, and noise can tip that either way, however small it is"
ORDER = "what else goes where, and whether before or after, is not said"
CLOSEST, FARTHEST = Fraction(1, 2), Fraction(-1)
NAME, SCORE = s.closeness_name(s.REST), s.score_name(s.REST)


def bent(scene: s.Scene) -> tuple[s.Scene, tuple[s.Hypothesis, ...]] | None:
    """The scene with y in place of the closeness, and what is known of y; None where scores are not of that form."""
    try:
        score = scene.scores(Reader(scene, {}).query(scene.queries[0]))[s.REST]
    except UndeterminedError:
        return None
    rate = score.put({NAME: 1}) - score.put({NAME: 0})
    if rate == s.ZERO or NAME in rate.names() or score.put({NAME: 0}) != s.ZERO:
        return None
    where = sc.Where(
        {
            **scene.ranges,
            **{name: scene.range_of(name) for name in rate.names() - set(scene.ranges)},
        }
    )
    low, high = sc.exp(rate * FARTHEST), sc.exp(rate * CLOSEST)
    if sc.prove(rate, ">=", s.ZERO, where) is None:
        if sc.prove(rate, "<=", s.ZERO, where) is None:
            return None
        low, high = high, low
    y = sc.parameter(BENT, sc.POSITIVE)
    known = replace(scene, ranges={**scene.ranges, BENT: sc.POSITIVE}).knowing(
        **{NAME: sc.ln(y) / rate}
    )
    return known, ((y, ">=", low), (y, "<=", high))


def coordinates(
    scene: s.Scene, link: t.Relation, left: Value, right: Value
) -> dict[str, tuple[sc.Scalar, sc.Scalar]]:
    """The coordinates of two vectors that are compared, each by what it is called; numbers have one.

    A class with no members has no coordinate: with two keys, nothing is added by the sum of the others.
    """
    if isinstance(left, sc.Scalar) and isinstance(right, sc.Scalar):
        return {"": (left, right)}
    known = left if isinstance(left, s.Vec) else right
    sides: list[s.Vec] = []
    for side in (left, right):
        if isinstance(side, s.Vec):
            sides.append(side)
        elif isinstance(known, s.Vec) and side == s.ZERO:
            sides.append(s.Vec(known.space, {}, known.row))
        else:
            raise MisfitError("a number is compared with a vector", link)
    a, b = sides
    if a.space != b.space:
        raise MisfitError("the two sides are vectors of different kinds", link)
    if link.comparisons[0] not in ("=", "~", "->", "!="):
        raise MisfitError(
            "vectors are compared by size",
            link,
            fix="compare their lengths, or write =",
        )
    what, letter, each = (
        ("weight of", "v", "values")
        if a.space == "value"
        else ("part along", "k", "keys")
    )
    groups = {s.REST: f"all other {each}", s.FIRST: f"the first {each}"}
    pairs: dict[str, tuple[sc.Scalar, sc.Scalar]] = {}
    for name in sorted({*a.coordinates, *b.coordinates}):
        count = scene.classes.count(name)
        pairs[f"the {what} {groups.get(name, f'{letter}_{name}')}"] = (
            count * a.of(name),
            count * b.of(name),
        )
    return pairs


LARGER = "the condition says nothing of the other scores: they may be larger still"
MOST_HINTS = 5  # integers of an answer that are tried


@dataclass(frozen=True)
class CaseFinding:
    """One comparison of a statement and what was found about it, in the scene where it was decided."""

    link: t.Relation
    decision: Decision
    scene: s.Scene
    vanishing: frozenset[str] = frozenset()  # names that go to 0

    @property
    def case(self) -> dict[str, Fraction]:
        """The lengths in the case at hand, where they are one of several."""
        known = {name: value.rational for name, value in self.scene.fixed.items()}
        return {name: value for name, value in known.items() if value is not None}


Moving = Literal["sent", "told", "free"]
WAYS: tuple[Moving, ...] = ("sent", "told", "free")


@dataclass(frozen=True)
class Decider:
    """Decides statements in a scene under hypotheses; free names go to infinity unless the answer bounds them."""

    scene: s.Scene
    hypotheses: tuple[t.Relation, ...] = ()
    bounded: frozenset[str] = frozenset()  # free names with a stated range
    solved: tuple[s.Hypothesis, ...] = ()  # hypotheses that are scalars already
    assumed: tuple[
        t.Relation, ...
    ] = ()  # conditions on scores: on that of every other key
    growing: frozenset[str] = frozenset()  # names that are said to go to infinity
    vanishing: frozenset[str] = frozenset()  # names that are said to go to 0
    sent: frozenset[str] = (
        frozenset()
    )  # the names in which a claim states a limit: then no tolerance goes to 0 unsaid
    spoken: frozenset[str] = (
        frozenset()
    )  # the indices in a claim: a condition on k_i is on that key then
    moving: Moving = (
        "free"  # what else moves then: nothing, what is said to, all free names
    )

    def under(self, *conditions: t.Node) -> Decider:
        """The same under further conditions."""
        here = self
        for condition in conditions:
            match condition:
                case t.Logic("and", items):
                    here = here.under(*items)
                case t.Quantified(t.Relation() as body, inner) if (
                    self.scene.setting.are == "any"
                ):
                    if not all(
                        isinstance(one, t.Relation) and s.about_indices(one, self.scene)
                        for one in inner
                    ):
                        raise MisfitError("this condition is not understood", condition)
                    here = reduce(Decider.assume, comparisons(body), here)
                case t.Relation():
                    for link in comparisons(condition):
                        others = set(s.free_indices(link, self.scene))
                        if (
                            others
                            and not others & self.spoken
                            and self.scene.setting.are == "any"
                        ):
                            here = here.assume(link)
                        elif not s.about_indices(link, self.scene):
                            here = here._told(link)
                case t.Name():
                    pass  # 'for all n'
                case _:
                    raise MisfitError("this condition is not understood", condition)
        return here

    def _told(self, link: t.Relation) -> Decider:
        """The same under one further comparison."""
        sign = link.comparisons[0]
        if laws.is_vanishing_noise(link, self.scene):
            return self  # that is given
        found = way(link, self._still, self.scene.definitions)
        if found is not None:
            return self._tending(found)
        if sign == "~":
            raise MisfitError(
                "how near is not said: a condition must be exact",
                link,
                fix="write =, < or >",
            )
        names = [node for node in t.walk(link) if isinstance(node, t.Name)]
        own = {full_name(name) for name in names if not self.scene.gives(name)}
        scene = replace(self.scene, own=bounded(self.scene, link))
        match link:
            case t.Relation((t.Name() as name, t.Number(value)), ("=",)) if (
                full_name(name) in scene.random
            ):
                scene = scene.knowing(**{full_name(name): sc.number(value)})
        return replace(
            self,
            scene=scene,
            hypotheses=(*self.hypotheses, link),
            bounded=self.bounded | own,
        )

    def assume(self, relation: t.Relation) -> Decider:
        """The same under a condition on the scores of all other keys."""
        (a, b), (sign,) = relation.terms, relation.comparisons
        others = set(s.free_indices(relation, self.scene))
        reader = Reader(self.scene, dict.fromkeys(others, s.MEMBER))
        try:
            left, right = reader.value(a), reader.value(b)
        except UndeterminedError as error:
            raise MisfitError(
                str(error), relation, fix="compare scores: k_j^\\top q and k_i^\\top q"
            ) from error
        if isinstance(left, s.Vec) or isinstance(right, s.Vec):
            raise MisfitError("a condition on numbers was expected", relation)
        if sign not in ("=", ">", ">=", ">>", "<", "<=", "<<"):
            raise MisfitError(
                f"a condition with {sign} is not understood",
                relation,
                fix="write >, \\ge or \\gg",
            )
        if not (left - right).names() - set(self.scene.exercise.parameters):
            raise MisfitError("this says nothing of the scores", relation)
        if others:
            check_common(Reader(replace(self.scene, fixed={}), reader.bound), relation)
        here = replace(self, assumed=(*self.assumed, relation))
        return given_as(here, left, sign, right, self.scene.classes.named[0])

    def _tending(self, found: Way) -> Decider:
        """The same with a name that goes somewhere."""
        if found.name in (self.vanishing if found.to == "infinity" else self.growing):
            raise MisfitError(
                f"{found.name} is said to go to 0 and to infinity", t.Name(found.name)
            )
        if found.to == "infinity":
            return replace(self, growing=self.growing | {found.name})
        if found.to == "0":
            return replace(self, vanishing=self.vanishing | {found.name})
        if found.name in self.scene.own:
            raise MisfitError(
                f"{found.name} is said to be bounded and to go to -infinity",
                t.Name(found.name),
            )
        minus = sc.parameter(Symbol("minus", found.name, f"-{found.name}"), sc.POSITIVE)
        return replace(self, scene=self.scene.knowing(**{found.name: -minus}))

    def _still(self, name: t.Name) -> bool:
        """Whether the exercise gives a name, and it does not go to infinity."""
        known = self.scene.exercise.parameters.get(full_name(name))
        return self.scene.gives(name) and (known is None or not known.large)

    def findings(self, claim: Claim) -> Iterator[CaseFinding]:
        """What is found about a claim, for every kind of key and every length that it speaks of."""
        scene, letters = self.scene, s.free_indices(claim.link, self.scene)
        here = replace(self, spoken=frozenset(letters))
        here = here.under(
            *(one for one in claim.under if not s.places_keys(one, letters))
        )
        if claim.link.comparisons and claim.link.comparisons[0] not in ("~", "->"):
            here = replace(
                here,
                growing=here.growing
                - {name for one in claim.under for name in _from_some_value(one)},
            )
        if (
            claim.said is not None
        ):  # names that nothing said before speaks of may be anything, and need not be large
            before = (
                *scene.definitions.values(),
                *self.hypotheses,
                *self.assumed,
                *claim.under,
            )
            known = {*scene.definitions, *self.growing, *self.vanishing, *scene.own}
            known |= {full_name(name) for node in before for name in names_in(node)}
            own = {
                full_name(name)
                for name in names_in(claim.link)
                if not scene.gives(name)
            }
            here = replace(here, bounded=here.bounded | (own - known))
        here = replace(here, sent=self._sent(claim))
        for finding in (
            each
            for one in s.meant(claim.link, claim.under, scene)
            for each in here._limits(one)
        ):
            yield (
                replace(finding, decision=denied(finding.decision))
                if claim.negated
                else finding
            )

    def _sent(self, claim: Claim) -> frozenset[str]:
        """The names in which a claim states a limit, 'as n grows'.

        Noise vanishes anyway, and what is 'about' so is so up to a tolerance: a limit is in the noise alone.
        """
        if not {"~", "->"} & set(claim.link.comparisons):
            return frozenset()
        links = [
            part
            for one in claim.under
            for part in t.walk(one)
            if isinstance(part, t.Relation)
        ]
        going = [(one, one.terms[0]) for one in links if one.comparisons == ("->",)]
        sent = {
            s.VARIANCE if laws.is_vanishing_noise(one, self.scene) else full_name(name)
            for one, name in going
            if isinstance(name, t.Name)
        }
        return frozenset(
            sent if "->" in claim.link.comparisons else sent - {s.VARIANCE}
        )

    def _limits(self, one: s.Meant) -> Iterator[CaseFinding]:
        """What is found of a comparison; 'as n grows' sends n alone, and all else that is fixed stays where it is.

        What is said to grow too may do so at the same time. A name of which nothing is said may be fixed or large:
        what fails for a fixed one only is not refuted, and what holds for a large one only is not proved.
        """
        if not self.sent - {s.VARIANCE}:
            yield from self._cases(one)
            return
        ways: list[Iterator[CaseFinding]] = [
            replace(self, moving=moving)._cases(one) for moving in WAYS
        ]
        for sent, told, free in zip(*ways, strict=True):
            finding = told if told.decision.word == "proved" else sent
            otherwise = {told.decision.word, free.decision.word}
            if finding.decision.word == "refuted" and otherwise != {"refuted"}:
                finding = replace(finding, decision=Decision("undecided", ORDER))
            yield finding

    def _cases(self, one: s.Meant) -> Iterator[CaseFinding]:
        """What is found for every value of the lengths that are one of several."""
        scene, (link, homes) = self.scene, one
        for index, home in homes.items():
            scene = scene.picking(index, home)
        for case in scene.cases():
            here = replace(self, scene=case, solved=(*self.solved, *scene.there_are))
            for index in homes:
                here = here._bound(index)
            decision = here._decided(link)
            if decision is not None:
                found = here._cautious(link, here._near_the_means(link, decision))
                yield CaseFinding(link, found, here.scene, self.vanishing)

    def _bound(self, index: str) -> Decider:
        """The conditions on scores hold for a key that was picked, too."""
        here = self
        for relation in self.assumed:
            scene = here.scene
            unpicked = replace(scene, classes=replace(scene.classes, picked={}))
            reader = Reader(
                scene, dict.fromkeys(s.free_indices(relation, unpicked), index)
            )
            left, right = (reader.scalar(term) for term in relation.terms)
            if (
                s.score_name(index) in (left - right).names()
            ):  # else it is not about this key
                here = given_as(here, left, relation.comparisons[0], right, index)
        return here

    def _near_the_means(self, link: t.Relation, decision: Decision) -> Decision:
        """Where keys are noisy, an inequality must be strict at their means."""
        sign = link.comparisons[0]
        if decision.word not in ("proved", "holds") or sign not in ("<=", ">="):
            return decision
        if self.scene.setting.noise != "vanishing" or not laws.is_random(
            link, self.scene
        ):
            return decision
        found = self._decided(
            t.Relation(link.terms, (">" if sign == ">=" else "<",), span=link.span)
        )
        if found is None or found.word == "proved":
            return found or decision
        return (
            found
            if decision.word == found.word == "holds"
            else Decision("undecided", TIED)
        )

    def _cautious(self, link: t.Relation, decision: Decision) -> Decision:
        """Where a tolerance is tied to a bounded name, 'about' is about its going to 0: nothing fixed refutes it."""
        if decision.word != "refuted" or link.comparisons[0] not in ("~", "->"):
            return decision
        spoken: list[t.Relation | s.Hypothesis] = [*self.hypotheses, *self.solved]
        names = [_names_of(one, self.scene) for one in spoken]
        if any(
            one & set(self.scene.small) and one - set(self.scene.ranges)
            for one in names
        ):
            return Decision("undecided", "the limit could not be found")
        return decision

    def _decided(self, link: t.Relation) -> Decision | None:
        """The decision in one case; None where the hypotheses exclude the case."""
        (left, right), (sign,), scene = link.terms, link.comparisons, self.scene
        reader = Reader(scene, {})
        if isinstance(left, t.Call) and left.function == "P":
            return laws.decide_event(self, left, sign, right)
        if speaks_of_moments(link) or laws.speaks_of_variance(link, scene):
            return self._moments(link)
        chance = self._almost_surely(link)
        if chance is not None:
            return chance
        try:
            a, b = reader.value(left), reader.value(right)
            given = self.given(reader)
        except UndeterminedError as error:
            return Decision("undecided", str(error))
        if given is None:
            return None
        where, large = self.where(scalars_in(a) + scalars_in(b), given)
        tending = self._tending_names(given, large)
        pairs = coordinates(scene, link, a, b)
        if scene.setting.are == "any" and sign in ("~", "->"):
            return self._uniformly(pairs, sign, where, tending)
        if isinstance(a, sc.Scalar) and isinstance(b, sc.Scalar):
            return self._decided_numbers(link, a, b, where, tending)
        decision = decide_all(pairs, sign, where, tending)
        are_outputs = any(
            isinstance(side, s.Vec) and side.space == "value" for side in (a, b)
        )
        if sign == "!=" and are_outputs and decision.word == "proved":
            reason = "the mixtures differ, but the values may be alike, or 0"
            return Decision("undecided", reason)
        return decision

    def _tending_names(
        self, given: Sequence[s.Hypothesis], large: tuple[str, ...]
    ) -> Tending:
        """What moves in a limit: large names, vanishing ones, and tolerances where something is 'about' so.

        A tolerance does not go to 0 where its value, or a limit in another name, is spoken of.
        """
        vanishing = self.vanishing
        if self.moving == "sent":
            vanishing = vanishing & self.sent
        held: set[str] = set()
        for left, _, right in given:
            names = left.names() | right.names()
            if names <= set(self.scene.ranges):
                held |= names
        small = tuple(name for name in self.scene.small if name not in held)
        parameters = frozenset(self.scene.exercise.parameters)
        return Tending(large, vanishing, () if self.sent else small, parameters)

    def _decided_numbers(
        self,
        link: t.Relation,
        left: sc.Scalar,
        right: sc.Scalar,
        where: sc.Where,
        tending: Tending,
    ) -> Decision:
        """Two numbers."""
        sign, large = link.comparisons[0], tending.large
        if self.scene.setting.are == "separated" and not large:
            decision = self._decided_bent(link)
            if decision is not None and decision.word == "proved":
                return decision
        is_about_others = SCORE in left.names() | right.names()
        if self.scene.setting.are == "any" and large and is_about_others:
            moving = [where.name(name) for name in large]
            still = replace(tending, vanishing=frozenset())
            return _outgrown({"": (left, right)}, sign, where, still, moving)
        return decide(left, sign, right, where, tending)

    def _decided_bent(self, link: t.Relation) -> Decision | None:
        """The same with y = exp(rate * closeness) in place of the closeness, where scores are of that form."""
        if BENT in self.scene.ranges:
            return None
        turned = bent(self.scene)
        if turned is None:
            return None
        scene, known = turned
        there = replace(self, scene=scene, solved=(*self.solved, *known))
        return there._decided(link)

    def _moments(self, link: t.Relation) -> Decision | None:
        """What is said of means, variances and covariances: of weights as queries grow, else exactly."""
        (left, right), (sign,) = link.terms, link.comparisons
        weighed = (
            isinstance(left, t.Call)
            and laws.speaks_of_output(left)
            and not speaks_of_moments(right)
        )
        if self.sent - {s.VARIANCE} and not (weighed and self.scene.setting.scales):
            return Decision("undecided", ORDER)  # the noise may vanish before, or after
        if isinstance(left, t.Call) and weighed:
            return laws.decide_moment(self, left, sign, right)
        given = self.given(Reader(self.scene, {}))
        if given is None:
            return None
        where, _ = self.where([], given)
        return laws.decide_exactly(self.scene, link, given, where)

    def _almost_surely(self, link: t.Relation) -> Decision | None:
        """c ~ x, where a length is random and nothing is said of it: that is meant but for cases of probability 0."""
        random = {
            scale.name
            for scale in self.scene.setting.scales.values()
            if scale.normal is not None
        }
        if (
            not random
            or link.comparisons[0] not in ("~", "->")
            or not laws.is_output(link.terms[0])
        ):
            return None
        spoken = {
            name for one in self.hypotheses for name in _names_of(one, self.scene)
        } | set(self.scene.fixed)
        if spoken & random or laws.speaks_of_output(link.terms[1]):
            return None
        asked = self.under(*(parsed(source) for source in self.scene.setting.given))
        found = laws.decide_event(
            asked, t.Call("P", (link,)), "->", t.Number(Fraction(1))
        )
        if found.word == "refuted" and found.left is not None:
            return Decision(
                "refuted", f"{plain(link)} with probability {shown(found.left)} only"
            )
        return found

    def _uniformly(
        self,
        pairs: Mapping[str, tuple[sc.Scalar, sc.Scalar]],
        sign: t.Comparison,
        where: sc.Where,
        tending: Tending,
    ) -> Decision:
        """Limits where only scores are known: what conditions leave open may depend on what moves.

        A difference that rises or falls with such a score, or slack, is small for all of its values if it is so at
        both ends of them. Otherwise nothing is proved.
        """
        found = decide_all(pairs, sign, where, tending)
        moving = [where.name(name) for name in tending.large] + [
            -sc.ln(where.name(name)) for name in tending.small
        ]
        if found.word != "proved" or not moving:
            return found
        for a, b in pairs.values():
            gaps = [a - b]
            for name in sorted(gaps[0].names()):
                if isinstance(name, Symbol) and name.kind in (
                    "score",
                    SLACK,
                ):  # which conditions leave open
                    gaps = [end for gap in gaps for end in _ends(gap, name, where)]
            if any(
                decide(gap, sign, s.ZERO, where, tending).word != "proved"
                for gap in gaps
            ):
                return _outgrown(pairs, sign, where, tending, moving)
        return found

    def given(self, reader: Reader) -> list[s.Hypothesis] | None:
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

    def where(
        self, scalars: list[sc.Scalar], given: Sequence[s.Hypothesis]
    ) -> tuple[sc.Where, tuple[str, ...]]:
        """What is known of the names in some scalars, and which of them are large."""
        names = set().union(
            *(one.names() for one in scalars),
            *(x.names() | y.names() for x, _, y in given),
        )
        ranges = dict(self.scene.ranges)
        large = {
            name
            for name, known in self.scene.exercise.parameters.items()
            if known.large
        }
        for name in names - set(ranges):
            if isinstance(name, Symbol) and name.kind == "closeness":
                ranges[name] = s.SEPARATED
            elif isinstance(name, Symbol) and name.kind == "score":
                ranges[name] = sc.REAL
            else:
                ranges[name] = self.scene.range_of(name)
                if name not in self.bounded and self.moving == "free":
                    large.add(name)
        large = (large | self.growing) & (
            names | set(self.scene.exercise.parameters)
        ) - self.vanishing
        large &= self.sent if self.moving == "sent" else large
        written = (
            part for node in self.scene.definitions.values() for part in t.walk(node)
        )
        values = {
            part.value for part in written if isinstance(part, t.Number)
        }  # |n - 123457| is 0 where n is that
        hints = sorted(
            value for value in values if value.denominator == 1 and value > 1
        )[:MOST_HINTS]
        return sc.Where(ranges, hints=tuple(hints)).given(*given), tuple(sorted(large))


def _ends(gap: sc.Scalar, name: str, where: sc.Where) -> Iterator[sc.Scalar]:
    """A number at the ends of what a name may be, between which it rises or falls; 1 where that is not known."""
    if name not in gap.names():
        yield gap
        return
    slope, known, away = sc.derivative(gap, name), where.range(name).lower, sc.number(1)
    if name in where.tied() or all(
        sc.prove(slope, comparison, s.ZERO, where) is None
        for comparison in (">=", "<=")
    ):
        yield away
        return
    below = (
        gap.put({name: -sc.parameter(name, sc.POSITIVE)}),
        sc.Where({**where.ranges, name: sc.POSITIVE}),
    )
    low = sc.limit(*below, (name,)) if known is None else gap.put({name: known})
    high = sc.limit(gap, where, (name,))
    yield from (end if isinstance(end, sc.Scalar) else away for end in (low, high))


def _outgrown(
    pairs: Mapping[str, tuple[sc.Scalar, sc.Scalar]],
    sign: t.Comparison,
    where: sc.Where,
    tending: Tending,
    moving: Sequence[sc.Scalar],
) -> Decision:
    """Refuted where the other scores grow along with what is large, and no condition binds them."""
    for mover in moving if SCORE not in where.tied() else ():
        along: dict[str, sc.Scalar] = {SCORE: where.name(SCORE) + 2 * mover}
        moved = {name: (a.put(along), b.put(along)) for name, (a, b) in pairs.items()}
        found = decide_all(moved, sign, where, tending)
        if found.word == "refuted":  # these scores have no value to be shown
            values = {
                name: value for name, value in found.values.items() if name != SCORE
            }
            return replace(found, reason=LARGER, values=values, left=None, right=None)
    return Decision(
        "undecided", "how large is large enough depends on the other scores"
    )


def _from_some_value(condition: t.Node) -> Iterator[str]:
    """'as soon as lambda >= ln n': from there on, and not only for the large ones that lambda may be said to be."""
    match condition:
        case t.Relation((t.Name() as name, bound), (">" | ">=",)) | t.Relation(
            (bound, t.Name() as name), ("<" | "<=",)
        ) if bound != t.Number(Fraction(0)):
            yield full_name(name)


def _names_of(condition: t.Relation | s.Hypothesis, scene: s.Scene) -> set[str]:
    """All names in a condition, in definitions too."""
    if not isinstance(condition, t.Relation):
        return set(condition[0].names() | condition[2].names())
    reader = Reader(scene, {})
    return set().union(*(reader.scalar(term).names() for term in condition.terms))
