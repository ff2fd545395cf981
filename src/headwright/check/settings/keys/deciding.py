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
from itertools import islice
from typing import Literal

from headwright.check.answer import MisfitError, compared, comparisons, full_name, number_of
from headwright.check.decision import Decision, Tending, decide, decide_all, denied
from headwright.check.exercise import parsed
from headwright.check.judging import Claim, shown
from headwright.check.scalars import (
    POSITIVE,
    REAL,
    Range,
    Scalar,
    Where,
    derivative,
    exp,
    limit,
    ln,
    number,
    parameter,
    prove,
)
from headwright.check.scalars.assumptions import MIRRORED, checked
from headwright.check.scalars.forms import Function, of_atom
from headwright.check.scalars.functions import roundings
from headwright.check.scalars.instances import allowed, choices, put_in, reach_large
from headwright.check.scalars.numbers import Symbol
from headwright.check.scalars.proving import linear
from headwright.check.settings.keys.chance import (
    STEP,
    TIED,
    TIPPED,
    decide_event,
    decide_moment,
    is_output,
    shaken,
    speaks_of_output,
    stepping,
    with_any_keys,
)
from headwright.check.settings.keys.conditions import BENT, SLACK, check_common, given_as
from headwright.check.settings.keys.indices import (
    Meant,
    Order,
    about_indices,
    extremes,
    free_indices,
    meant,
    places_keys,
)
from headwright.check.settings.keys.laws import (
    decide_exactly,
    is_vanishing_noise,
    speaks_of_moments,
    speaks_of_variance,
)
from headwright.check.settings.keys.meaning import UNLIKE, Reader, Value, scalars_in
from headwright.check.settings.keys.scene import (
    FIRST,
    MEMBER,
    REST,
    SEPARATED,
    VARIANCE,
    ZERO,
    Hypothesis,
    Scene,
    UndeterminedError,
    Vec,
    closeness_name,
    score_name,
)
from headwright.check.settings.matrices.known import names_in
from headwright.check.settings.tending import Way, way
from headwright.errors import InputError
from headwright.formula import tree as t
from headwright.formula.show import plain


def bounded(scene: Scene, link: t.Relation) -> Mapping[str, Range]:
    """What is known of such names once a comparison is told: lambda < 0 makes lambda negative, not positive."""
    (left, right), (sign,) = link.terms, link.comparisons
    for one, other, turned in ((left, right, sign), (right, left, MIRRORED[checked(sign)])):
        if not isinstance(one, t.Name) or scene.gives(one) or full_name(one) in scene.definitions:
            continue
        value, name = number_of(other), full_name(one)
        if value is not None:
            before = scene.own.get(name, REAL)
            try:
                return {**scene.own, name: _cut(before, turned, value)}
            except InputError:
                raise MisfitError(f"no {name} satisfies this and what was said before", link) from None
    return scene.own


def _cut(known: Range, sign: str, value: Fraction) -> Range:
    opened = sign in ("<", ">")
    if sign in (">", ">=", "="):
        low = known.lower
        if not isinstance(low, Fraction) or value > low or (value == low and opened):
            known = replace(known, lower=value, lower_open=opened)
    if sign in ("<", "<=", "="):
        high = known.upper
        if not isinstance(high, Fraction) or value < high or (value == high and opened):
            known = replace(known, upper=value, upper_open=opened)
    return known


ORDER = "what else goes where, and whether before or after, is not said"
CLOSEST, FARTHEST = Fraction(1, 2), Fraction(-1)
NAME, SCORE = closeness_name(REST), score_name(REST)


def bent(scene: Scene) -> tuple[Scene, tuple[Hypothesis, ...]] | None:
    """The scene with y in place of the closeness, and what is known of y; None where scores are not of that form."""
    try:
        score = scene.scores(Reader(scene, {}).query(scene.queries[0]))[REST]
    except UndeterminedError:
        return None
    rate = score.put({NAME: 1}) - score.put({NAME: 0})
    if rate == ZERO or NAME in rate.names() or score.put({NAME: 0}) != ZERO:
        return None
    where = Where({**scene.ranges, **{name: scene.range_of(name) for name in rate.names() - set(scene.ranges)}})
    low, high = exp(rate * FARTHEST), exp(rate * CLOSEST)
    if prove(rate, ">=", ZERO, where) is None:
        if prove(rate, "<=", ZERO, where) is None:
            return None
        low, high = high, low
    y = parameter(BENT, POSITIVE)
    known = replace(scene, ranges={**scene.ranges, BENT: POSITIVE}).knowing(**{NAME: ln(y) / rate})
    return known, ((y, ">=", low), (y, "<=", high))


MOST_TRIED = 200


def decide_vectors(
    scene: Scene, link: t.Relation, sides: tuple[Value, Value], where: Where, tending: Tending
) -> Decision:
    """Decide a comparison of two vectors, coordinate by coordinate.

    A class with no members has no coordinate: with two keys, nothing is added by the sum of the others.
    """
    sign, values = link.comparisons[0], any(isinstance(side, Vec) and side.space == "value" for side in sides)
    found = decide_all(coordinates(scene, link, *sides), sign, where, tending)
    if sign == "!=" and values and found.word == "proved":
        return Decision("undecided", "the mixtures differ, but the values may be alike, or 0")
    return found


def coordinates(scene: Scene, link: t.Relation, left: Value, right: Value) -> dict[str, tuple[Scalar, Scalar]]:
    """The coordinates of two vectors that are compared, each by what it is called."""
    a, b = _vector(left, right, link), _vector(right, left, link)
    if a.space != b.space:
        raise MisfitError("the two sides are vectors of different kinds", link)
    if link.comparisons[0] not in ("=", "~", "->", "!="):
        raise MisfitError("vectors are compared by size", link, fix="compare their lengths, or write =")
    pairs: dict[str, tuple[Scalar, Scalar]] = {}
    for name in sorted({*a.coordinates, *b.coordinates}):
        count = scene.classes.count(name)
        pairs[_coordinate(a.space, name)] = count * a.of(name), count * b.of(name)
    return pairs


def _vector(value: Value, other: Value, link: t.Relation) -> Vec:
    if isinstance(value, Vec):
        return value
    if value == ZERO and isinstance(other, Vec):
        return Vec(other.space, {}, other.row)
    raise MisfitError("a number is compared with a vector", link)


def _coordinate(space: str, name: str) -> str:
    if space == "value":
        groups = {REST: "the weight of all other values", FIRST: "the weight of the first values"}
        return groups.get(name, f"the weight of v_{name}")
    groups = {REST: "the part along the other keys", FIRST: "the part along the first keys"}
    return groups.get(name, f"the part along k_{name}")


LARGER = "the condition says nothing of the other scores: they may be larger still"


def _elsewhere(found: Decision) -> Decision:
    """Refuted where the other scores are larger than all that is said: they have no value to be shown."""
    values = {name: value for name, value in found.values.items() if name != SCORE}
    return replace(found, reason=LARGER, values=values, left=None, right=None)


def _is_open(name: str) -> bool:
    """Whether a name stands for what conditions on scores leave open."""
    return isinstance(name, Symbol) and name.kind in ("score", SLACK)


@dataclass(frozen=True)
class Finding:
    """One comparison of a statement and what was found about it, in the scene where it was decided."""

    link: t.Relation
    decision: Decision
    scene: Scene
    vanishing: frozenset[str] = frozenset()  # names that go to 0

    @property
    def case(self) -> dict[str, Fraction]:
        """The lengths in the case at hand, where they are one of several."""
        known = {name: value.rational for name, value in self.scene.fixed.items()}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True)
class Decider:
    """Decides statements in a scene under hypotheses; free names go to infinity unless the answer bounds them."""

    scene: Scene
    hypotheses: tuple[t.Relation, ...] = ()
    bounded: frozenset[str] = frozenset()  # free names with a stated range
    solved: tuple[Hypothesis, ...] = ()  # hypotheses that are scalars already
    assumed: tuple[t.Relation, ...] = ()  # conditions on scores: on that of every other key
    growing: frozenset[str] = frozenset()  # names that are said to go to infinity
    vanishing: frozenset[str] = frozenset()  # names that are said to go to 0
    sent: frozenset[str] = frozenset()  # the names in which a claim states a limit: then no tolerance goes to 0 unsaid
    spoken: frozenset[str] = frozenset()  # the indices in a claim: a condition on k_i is on that key then
    moving: Literal["sent", "told", "free"] = "free"  # what else moves then: nothing, what is said to, all free names

    def under(self, *conditions: t.Node) -> Decider:
        """The same under further conditions."""
        here = self
        for condition in conditions:
            here = here._under(condition)
        return here

    def _under(self, condition: t.Node) -> Decider:
        match condition:
            case t.Logic("and", items):
                return self.under(*items)
            case t.Quantified(t.Relation() as body, conditions) if self.scene.setting.are == "any":
                if not all(isinstance(one, t.Relation) and about_indices(one, self.scene) for one in conditions):
                    raise MisfitError("this condition is not understood", condition)
                return reduce(Decider.assume, comparisons(body), self)
            case t.Relation():
                here = self
                for link in comparisons(condition):
                    others = set(free_indices(link, self.scene))
                    if others and not others & self.spoken and self.scene.setting.are == "any":
                        here = here.assume(link)
                    elif not about_indices(link, self.scene):
                        here = here._told(link)
                return here
            case t.Name():
                return self  # 'for all n'
            case _:
                raise MisfitError("this condition is not understood", condition)

    def _told(self, link: t.Relation) -> Decider:
        """The same under one further comparison."""
        sign = link.comparisons[0]
        if is_vanishing_noise(link, self.scene):
            return self  # that is given
        found = way(link, self._still, self.scene.definitions)
        if found is not None:
            return self._tending(found)
        if sign == "~":
            raise MisfitError("how near is not said: a condition must be exact", link, fix="write =, < or >")
        names = [node for node in t.walk(link) if isinstance(node, t.Name)]
        own = {full_name(name) for name in names if not self.scene.gives(name)}
        scene = replace(self.scene, own=bounded(self.scene, link))
        match link:
            case t.Relation((t.Name() as name, t.Number(value)), ("=",)) if full_name(name) in scene.random:
                scene = scene.knowing(**{full_name(name): number(value)})
        return replace(self, scene=scene, hypotheses=(*self.hypotheses, link), bounded=self.bounded | own)

    def assume(self, relation: t.Relation) -> Decider:
        """The same under a condition on the scores of all other keys."""
        (a, b), (sign,) = relation.terms, relation.comparisons
        others = set(free_indices(relation, self.scene))
        reader = Reader(self.scene, dict.fromkeys(others, MEMBER))
        try:
            left, right = reader.value(a), reader.value(b)
        except UndeterminedError as error:
            raise MisfitError(str(error), relation, fix="compare scores: k_j^\\top q and k_i^\\top q") from error
        if isinstance(left, Vec) or isinstance(right, Vec):
            raise MisfitError("a condition on numbers was expected", relation)
        if sign not in ("=", ">", ">=", ">>", "<", "<=", "<<"):
            raise MisfitError(f"a condition with {sign} is not understood", relation, fix="write >, \\ge or \\gg")
        if not (left - right).names() - set(self.scene.exercise.parameters):
            raise MisfitError("this says nothing of the scores", relation)
        if others:
            check_common(Reader(replace(self.scene, fixed={}), reader.bound), relation)
        here = replace(self, assumed=(*self.assumed, relation))
        return given_as(left, sign, right, score_name(self.scene.classes.named[0]), "", self.scene).told(here)

    def _tending(self, found: Way) -> Decider:
        """The same with a name that goes somewhere."""
        if found.name in (self.vanishing if found.to == "infinity" else self.growing):
            raise MisfitError(f"{found.name} is said to go to 0 and to infinity", t.Name(found.name))
        if found.to == "infinity":
            return replace(self, growing=self.growing | {found.name})
        if found.to == "0":
            return replace(self, vanishing=self.vanishing | {found.name})
        if found.name in self.scene.own:
            raise MisfitError(f"{found.name} is said to be bounded and to go to -infinity", t.Name(found.name))
        minus = parameter(Symbol("minus", found.name, f"-{found.name}"), POSITIVE)
        return replace(self, scene=self.scene.knowing(**{found.name: -minus}))

    def _still(self, name: t.Name) -> bool:
        """Whether the exercise gives a name, and it does not go to infinity."""
        known = self.scene.exercise.parameters.get(full_name(name))
        return self.scene.gives(name) and (known is None or not known.large)

    def _read(self, node: t.Node, known: Range) -> Scalar:
        """A formula, where names of the answer's own lie in that range."""
        names = [full_name(name) for name in t.walk(node) if isinstance(name, t.Name) and not self.scene.gives(name)]
        return Reader(replace(self.scene, own={**self.scene.own, **dict.fromkeys(names, known)}), {}).scalar(node)

    def findings(self, claim: Claim) -> Iterator[Finding]:
        """What is found about a claim, for every kind of key and every length that it speaks of."""
        letters = free_indices(claim.link, self.scene)
        here = replace(self, spoken=frozenset(letters))
        here = here.under(*(one for one in claim.under if not places_keys(one, letters)))
        if claim.link.comparisons and claim.link.comparisons[0] not in ("~", "->"):
            here = replace(here, growing=here.growing - {name for one in claim.under for name in _from_some_value(one)})
        if claim.said is not None:
            here = replace(here, bounded=here.bounded | self._never_said(claim))
        for one in meant(claim.link, claim.under, self.scene):
            for finding in replace(here, sent=self._sent(claim))._limits(one):
                yield replace(finding, decision=denied(finding.decision)) if claim.negated else finding

    def _never_said(self, claim: Claim) -> frozenset[str]:
        """The names in a claim that nothing said before it speaks of: they may be anything, and need not be large."""
        scene = self.scene
        spoken = (*scene.definitions.values(), *self.hypotheses, *self.assumed, *claim.under)
        known = {*scene.definitions, *self.growing, *self.vanishing, *scene.own}
        known |= {full_name(name) for node in spoken for name in names_in(node)}
        own = [name for name in names_in(claim.link) if not scene.gives(name)]
        return frozenset({full_name(name) for name in own} - known)

    def _sent(self, claim: Claim) -> frozenset[str]:
        """The names in which a claim states a limit, 'as n grows'.

        Noise vanishes anyway, and what is 'about' so is so up to a tolerance: a limit is in the noise alone.
        """
        if not {"~", "->"} & set(claim.link.comparisons):
            return frozenset()
        links = [part for one in claim.under for part in t.walk(one) if isinstance(part, t.Relation)]
        going = [(one, one.terms[0]) for one in links if one.comparisons == ("->",)]
        sent = {
            VARIANCE if is_vanishing_noise(one, self.scene) else full_name(name)
            for one, name in going
            if isinstance(name, t.Name)
        }
        return frozenset(sent if "->" in claim.link.comparisons else sent - {VARIANCE})

    def _limits(self, one: Meant) -> Iterator[Finding]:
        """What is found of a comparison; 'as n grows' sends n alone, and all else that is fixed stays where it is.

        What is said to grow too may do so at the same time. A name of which nothing is said may be fixed or large:
        what fails for a fixed one only is not refuted, and what holds for a large one only is not proved.
        """
        if not self.sent - {VARIANCE}:
            yield from self._link(one)
            return
        for place, finding in enumerate(replace(self, moving="sent")._link(one)):
            if finding.decision.word == "proved":
                yield finding
                continue
            told, free = (list(replace(self, moving=moving)._link(one))[place] for moving in ("told", "free"))
            if told.decision.word == "proved":
                yield told
            elif finding.decision.word == "refuted" and {told.decision.word, free.decision.word} != {"refuted"}:
                yield replace(finding, decision=Decision("undecided", ORDER))
            else:
                yield finding

    def _link(self, one: Meant) -> Iterator[Finding]:
        for case in extremes(one, self.scene):
            for finding in self._case(case):
                yield replace(finding, link=one.link)

    def _case(self, one: Meant) -> Iterator[Finding]:
        scene, link, picked = self.scene, one.link, one.homes
        for index, home in picked.items():
            scene = scene.picking(index, home)
        none_left = tuple((scene.classes.count(home), "=", ZERO) for home in one.absent)
        for case in scene.cases():
            here = replace(self, scene=case, solved=(*self.solved, *scene.there_are, *none_left))
            for index in picked:
                here = here._bound(index)
            ordered = here._ordered(one.orders)
            decision = None if ordered is None else ordered._decided(link)
            if ordered is not None and decision is not None:
                found = ordered._cautious(link, ordered._near_the_means(link, decision))
                yield Finding(link, found, ordered.scene, self.vanishing)

    def _ordered(self, orders: Sequence[Order]) -> Decider | None:
        """The same where a key has the largest score of some; None where it cannot have."""
        given = list(self.solved)
        for order in orders:
            more = Reader(self.scene, {}).scalar(order.more)
            less = Reader(self.scene, {order.index: MEMBER} if order.index else {}).scalar(order.less)
            for name in UNLIKE & less.names() if order.index else ():
                if linear(less, name) is None:
                    raise MisfitError("which key has the largest or smallest value is not understood", order.less)
            if more.rational is not None and less.rational is not None:
                if more.rational < less.rational:
                    return None
            elif more != less:
                given.append((more, ">=", less))
        return replace(self, solved=tuple(given))

    def _bound(self, index: str) -> Decider:
        """The conditions on scores hold for a key that was picked, too."""
        here = self
        for relation in self.assumed:
            scene = here.scene
            unpicked = replace(scene, classes=replace(scene.classes, picked={}))
            reader = Reader(scene, dict.fromkeys(free_indices(relation, unpicked), index))
            (a, b), (sign,) = relation.terms, relation.comparisons
            left, right = reader.scalar(a), reader.scalar(b)
            if score_name(index) in (left - right).names():  # else it is not about this key
                here = given_as(left, sign, right, score_name(index), index, scene).told(here)
        return here

    def _near_the_means(self, link: t.Relation, decision: Decision) -> Decision:
        """Where keys are noisy, an inequality must be strict at their means, or hold for all keys."""
        sign = link.comparisons[0]
        if decision.word not in ("proved", "holds") or sign not in ("<=", ">=") or not shaken(link, self.scene):
            return decision
        found = self._decided(t.Relation(link.terms, (">" if sign == ">=" else "<",), span=link.span))
        if found is None or found.word == "proved":
            return decision if found is None else found
        anywhere = with_any_keys(link, self.scene)
        if anywhere is not None and decision.word == "proved":
            always = replace(self, scene=anywhere)._decided(link)
            if always is not None and always.word == "proved":
                return replace(always, reason="it holds for all keys")
        return self._tipped(link) or (found if decision.word == found.word == "holds" else Decision("undecided", TIED))

    def _tipped(self, link: t.Relation) -> Decision | None:
        """Refuted where both sides are equal at the means, and their difference has a slope as a key moves."""
        try:
            gap, slopes = self._gap(self.scene, link), list(self._slopes(link))
            given = self.given(Reader(self.scene, {})) or ()
        except UndeterminedError:
            return None
        where, large = self.where([gap, *slopes], given)
        names = set().union(gap.names(), *(s.names() for s in slopes), *(x.names() | y.names() for x, _, y in given))
        for values in islice(choices(sorted(names - set(large)), where), MOST_TRIED):
            here, there = where.put(values), put_in(values, gap, *slopes)
            if there and there[0] == ZERO and allowed(values, where) and reach_large(here, large):
                steep = (decide(slope, "!=", ZERO, here, Tending(large)).word == "proved" for slope in there[1:])
                return Decision("refuted", TIPPED, values=values, tie=True) if any(steep) else None
        return None

    def _slopes(self, link: t.Relation) -> Iterator[Scalar]:
        for scene in stepping(self.scene):
            try:
                yield derivative(self._gap(scene, link), STEP).put({STEP: 0})
            except InputError:
                continue  # it has none

    def _gap(self, scene: Scene, link: t.Relation) -> Scalar:
        reader = Reader(scene, {})
        return reader.scalar(link.terms[0]) - reader.scalar(link.terms[1])

    def _cautious(self, link: t.Relation, decision: Decision) -> Decision:
        """Where a tolerance is tied to a bounded name, 'about' is about its going to 0: nothing fixed refutes it."""
        if decision.word != "refuted" or link.comparisons[0] not in ("~", "->"):
            return decision
        spoken: list[t.Relation | Hypothesis] = [*self.hypotheses, *self.solved]
        names = [_names_of(one, self.scene) for one in spoken]
        if any(one & set(self.scene.small) and one - set(self.scene.ranges) for one in names):
            return Decision("undecided", "the limit could not be found")
        return decision

    def _decided(self, link: t.Relation) -> Decision | None:
        """The decision in one case; None where the hypotheses exclude the case."""
        (left, right), (sign,) = link.terms, link.comparisons
        reader = Reader(self.scene, {})
        if isinstance(left, t.Call) and left.function == "P":
            return decide_event(self, left, sign, right)
        if speaks_of_moments(link) or speaks_of_variance(link, self.scene):
            return self._moments(link)
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
        tending = self._tends(large, self.small(given))
        if self.scene.setting.are == "any" and sign in ("~", "->"):
            pairs = (
                {"": (a, b)} if isinstance(a, Scalar) and isinstance(b, Scalar) else coordinates(self.scene, link, a, b)
            )
            return self._uniformly(pairs, sign, where, tending)
        if isinstance(a, Vec) or isinstance(b, Vec):
            return decide_vectors(self.scene, link, (a, b), where, tending)
        if self.scene.setting.are == "separated" and not large:
            return self._separated(link, a, sign, b, where)
        if self.scene.setting.are == "any" and large and SCORE in a.names() | b.names():
            return self._relative(a, sign, b, where, large)
        return decide(a, sign, b, where, tending)

    def _moments(self, link: t.Relation) -> Decision | None:
        """What is said of means, variances and covariances: of weights as queries grow, else exactly."""
        (left, right), (sign,) = link.terms, link.comparisons
        moving = [part for part in t.walk(left) if isinstance(part, t.Name) and part.base in ("alpha", "c")]
        weighed = isinstance(left, t.Call) and bool(moving) and not speaks_of_moments(right)
        if self.sent - {VARIANCE} and not (weighed and self.scene.setting.scales):
            return Decision("undecided", ORDER)  # the noise may vanish before, or after
        if isinstance(left, t.Call) and weighed:
            return self._as_noise_vanishes(link, left) or decide_moment(self, left, sign, right)
        given = self.given(Reader(self.scene, {}))
        if given is None:
            return None
        where, _ = self.where([], given)
        return decide_exactly(self.scene, link, given, where)

    def _as_noise_vanishes(self, link: t.Relation, moment: t.Call) -> Decision | None:
        """Weights are bounded and continuous in the keys: where only noise is random, their moments have limits.

        As the noise vanishes, the mean tends to what the weight is at the means of the keys, and the variance to 0.
        """
        setting, sign = self.scene.setting, link.comparisons[0]
        (what,) = moment.arguments if len(moment.arguments) == 1 else (moment,)
        plainly = is_output(what) or (isinstance(what, t.Name) and what.base == "alpha")
        if setting.noise != "vanishing" or setting.scales or sign not in ("~", "->") or not plainly:
            return None
        if moment.function == "Var":
            what = t.Number(Fraction(0))
        return self._decided(t.Relation((what, link.terms[1]), link.comparisons, span=link.span))

    def _tends(self, large: tuple[str, ...], small: tuple[str, ...]) -> Tending:
        vanishing = self.vanishing & self.sent if self.moving == "sent" else self.vanishing
        return Tending(large, vanishing, small, frozenset(self.scene.exercise.parameters))

    def _leaves_to_chance(self, link: t.Relation) -> bool:
        """c ~ x, where a length is random and nothing is said of it: that is meant but for cases of probability 0."""
        random = [scale.name for scale in self.scene.setting.scales.values() if scale.normal is not None]
        if not random or link.comparisons[0] not in ("~", "->") or not is_output(link.terms[0]):
            return False
        spoken = {name for one in self.hypotheses for name in _names_of(one, self.scene)} | set(self.scene.fixed)
        return not spoken & set(random) and not speaks_of_output(link.terms[1])

    def _almost_surely(self, link: t.Relation) -> Decision:
        asked = self.under(*(parsed(source) for source in self.scene.setting.given))
        found = decide_event(asked, t.Call("P", (link,)), "->", t.Number(Fraction(1)))
        if found.word == "refuted" and found.left is not None:
            return Decision("refuted", f"{plain(link)} with probability {shown(found.left)} only")
        return found

    def small(self, given: Sequence[Hypothesis]) -> tuple[str, ...]:
        """The names that go to 0 where something is 'about' so: tolerances, unless their value is spoken of.

        Nor do they where a limit is stated in another name.
        """
        if self.sent:
            return ()
        held = [names for x, _, y in given if (names := x.names() | y.names()) <= set(self.scene.ranges)]
        fixed: set[str] = set().union(*held)
        return tuple(name for name in self.scene.small if name not in fixed)

    def _relative(self, a: Scalar, sign: t.Comparison, b: Scalar, where: Where, large: tuple[str, ...]) -> Decision:
        """Scores of the others that the condition does not bind: they may grow along with what is large."""
        for name in large:
            along: dict[str, Scalar] = {SCORE: where.name(SCORE) + 2 * where.name(name)}
            if any(SCORE in x.names() | y.names() for x, _, y in where.all_hypotheses()):
                break  # a condition binds them: they may not
            found = decide(
                a.put(along), sign, b.put(along), where, Tending(large, small=() if self.sent else self.scene.small)
            )
            if found.word == "refuted":
                return _elsewhere(found)
        return Decision("undecided", "how large is large enough depends on the other scores")

    def _uniformly(
        self, pairs: Mapping[str, tuple[Scalar, Scalar]], sign: t.Comparison, where: Where, tending: Tending
    ) -> Decision:
        """Limits where only scores are known: what conditions leave open may depend on what moves.

        A difference that rises or falls with such a score, or slack, is small for all of its values if it is so at
        both ends of them. Otherwise nothing is proved.
        """
        found = decide_all(pairs, sign, where, tending)
        moving = [where.name(name) for name in tending.large] + [-ln(where.name(name)) for name in tending.small]
        if found.word != "proved" or not moving:
            return found
        for a, b in pairs.values():
            gaps = [a - b]
            for name in sorted(name for name in gaps[0].names() if _is_open(name)):
                gaps = [end for gap in gaps for end in self._ends(gap, name, where)]
            if any(decide(gap, sign, ZERO, where, tending).word != "proved" for gap in gaps):
                return self._along(pairs, sign, where, tending, moving)
        return found

    def _ends(self, gap: Scalar, name: str, where: Where) -> Iterator[Scalar]:
        """A number at the ends of what a name may be, between which it rises or falls; 1 where that is not known."""
        if name not in gap.names():
            yield gap
            return
        slope, known, away = derivative(gap, name), where.range(name).lower, number(1)
        tied = any(name in x.names() | y.names() for x, _, y in where.all_hypotheses())
        if tied or all(prove(slope, comparison, ZERO, where) is None for comparison in (">=", "<=")):
            yield away
            return
        below = gap.put({name: -parameter(name, POSITIVE)}), Where({**where.ranges, name: POSITIVE})
        low = gap.put({name: number(known)}) if isinstance(known, Fraction) else limit(*below, (name,))
        high = limit(gap, where, (name,))
        yield from (end if isinstance(end, Scalar) else away for end in (low, high))

    def _along(
        self,
        pairs: Mapping[str, tuple[Scalar, Scalar]],
        sign: t.Comparison,
        where: Where,
        tending: Tending,
        moving: Sequence[Scalar],
    ) -> Decision:
        """Refuted where the other scores grow along with what is large, and no condition binds them."""
        bound = any(SCORE in x.names() | y.names() for x, _, y in where.all_hypotheses())
        for mover in moving if not bound else ():
            along: dict[str, Scalar] = {SCORE: where.name(SCORE) + 2 * mover}
            moved = {name: (a.put(along), b.put(along)) for name, (a, b) in pairs.items()}
            found = decide_all(moved, sign, where, tending)
            if found.word == "refuted":
                return _elsewhere(found)
        return Decision("undecided", "how near it is depends on the other scores")

    def _separated(self, link: t.Relation, a: Scalar, sign: t.Comparison, b: Scalar, where: Where) -> Decision:
        turned = bent(self.scene)
        if turned is not None and BENT not in self.scene.ranges:
            scene, known = turned
            found = replace(self, scene=scene, solved=(*self.solved, *known))._decided(link)
            if found is not None and found.word == "proved":
                return found
        small = self.small(self.given(Reader(self.scene, {})) or ())
        return decide(a, sign, b, where, self._tends((), small))

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
        given = (*given, *(one for atom in rounded(scalars, given) for one in rounding(atom)))
        names = set().union(*(s.names() for s in scalars), *(x.names() | y.names() for x, _, y in given))
        ranges = dict(self.scene.ranges)
        large = {name for name, known in self.scene.exercise.parameters.items() if known.large}
        for name in names - set(ranges):
            if isinstance(name, Symbol) and name.kind == "closeness":
                ranges[name] = SEPARATED
            elif isinstance(name, Symbol) and name.kind == "score":
                ranges[name] = REAL
            else:
                ranges[name] = self.scene.range_of(name)
                if name not in self.bounded and self.moving == "free":
                    large.add(name)
        large = (large | self.growing) & (names | set(self.scene.exercise.parameters)) - self.vanishing
        large &= self.sent if self.moving == "sent" else large
        return Where(ranges, hints=self.scene.hints).given(*given), tuple(sorted(large))


def rounded(scalars: Sequence[Scalar], given: Sequence[Hypothesis]) -> list[Function]:
    """The rounded numbers that are spoken of, once each."""
    spoken = [*scalars, *(side for one, _, other in given for side in (one, other))]
    return list(dict.fromkeys(atom for value in spoken for atom in roundings(value)))


def rounding(atom: Function) -> Iterator[Hypothesis]:
    """x <= ceil(x) < x + 1, and x - 1 < floor(x) <= x; of e to that power likewise."""
    value, x = of_atom(atom), atom.body
    over, under = (x, x + 1) if atom.kind == "ceil" else (x - 1, x)
    above, below = (">=", "<") if atom.kind == "ceil" else (">", "<=")
    yield from ((value, above, over), (value, below, under))
    yield from ((exp(value), above, exp(over)), (exp(value), below, exp(under)))


def _from_some_value(condition: t.Node) -> Iterator[str]:
    """'as soon as lambda >= ln n': from there on, and not only for the large ones that lambda may be said to be."""
    match condition:
        case t.Relation((t.Name() as name, bound), (">" | ">=",)) | t.Relation(
            (bound, t.Name() as name), ("<" | "<=",)
        ) if bound != t.Number(Fraction(0)):
            yield full_name(name)


def _names_of(condition: t.Relation | Hypothesis, scene: Scene) -> set[str]:
    """All names in a condition, in definitions too."""
    if not isinstance(condition, t.Relation):
        return set(condition[0].names() | condition[2].names())
    reader = Reader(scene, {})
    return set().union(*(reader.scalar(term).names() for term in condition.terms))
