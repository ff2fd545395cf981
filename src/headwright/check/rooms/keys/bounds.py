"""What an answer says of its own names: lambda > 0, s, t >> n, beta >= ln(n/epsilon).

A name is a large positive number unless something else is said of it. A bound makes it any number within the bound.
What is said must not restrict the exercise: for every choice of what is given there must be a value that satisfies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headwright.check.answer import Said, full_name
from headwright.check.decision import Decision, decide
from headwright.check.judging import at
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.classes import UndeterminedError
from headwright.check.rooms.keys.deciding import Decider
from headwright.check.rooms.keys.meaning import Reader
from headwright.check.rooms.keys.scene import Hypothesis, Scene
from headwright.check.scalars import Scalar, Where, exp, number, prove
from headwright.check.scalars.proving import needs
from headwright.formula.show import plain
from headwright.formula.tree import Name, Relation

TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


@dataclass(frozen=True)
class Bound:
    """One thing that is said of a name: name (sign) value."""

    name: str
    sign: str
    value: Scalar
    link: Relation


@dataclass(frozen=True)
class Doubt:
    """A condition that cannot always be met, or of which that is not known."""

    link: Relation
    decision: Decision
    said: Said


def stated(decider: Decider, conditions: Sequence[Said]) -> tuple[Decider, list[Doubt]]:
    """The decider under what the answer says of its own names, and what is doubtful about that."""
    doubts: list[Doubt] = []
    bounds: list[tuple[Bound, Said]] = []
    for said in conditions:
        link = said.node
        if not isinstance(link, Relation):
            continue
        try:
            after = decider.under(link)
            if after.hypotheses == decider.hypotheses:  # it says that a name is large, or small
                decider = after
                continue
            bound = _bound(after.scene, link)
            given, doubt = _defined(after, bound)
        except UndeterminedError as error:
            raise MisfitError(str(error), link) from error
        if given is not None:
            after = replace(after, hypotheses=decider.hypotheses, solved=(*decider.solved, given))
        if doubt is not None:
            doubts.append(Doubt(link, doubt, said))
        bounds.append((bound, said))
        decider = after
    for place, (bound, said) in enumerate(bounds):
        others = [other for other, _ in bounds[:place]]
        doubts += [Doubt(bound.link, one, said) for one in _against(decider, bound, others)]
    return decider, doubts


def _own(value: Scalar, scene: Scene) -> set[str]:
    return set(value.names()) - set(scene.ranges)


def _bound(scene: Scene, link: Relation) -> Bound:
    """The link as a bound on one name by names that come before it, so that one can be chosen after the other."""
    (left, right), (sign,) = link.terms, link.comparisons
    reader = Reader(scene, {})
    for one, other, turned in ((left, right, sign), (right, left, TURNED[sign])):
        if isinstance(one, Name) and not scene.gives(one) and full_name(one) not in scene.definitions:
            value = reader.scalar(other)
            if all(name < full_name(one) for name in _own(value, scene)):
                return Bound(full_name(one), turned, value, link)
    raise MisfitError("this condition ties names to one another in a way that is not understood", link)


def _where(decider: Decider, value: Scalar) -> Where:
    where, _ = decider.where([value], ())
    return where


def _defined(decider: Decider, bound: Bound) -> tuple[Hypothesis | None, Decision | None]:
    """A bound that is not always defined, such as ln(n - 2), is one on the exponential, or doubtful."""
    where = _where(decider, bound.value)
    if all(prove(need, kind, 0, where) for need, kind in needs(bound.value)):
        return None, None
    grown = exp(bound.value)
    if all(prove(need, kind, 0, where) for need, kind in needs(grown)):
        return (exp(decider.scene.scalar(bound.name)), bound.sign, grown), None
    return None, Decision("undecided", f"{bound.value} is not known to be defined for all that is given")


def _against(decider: Decider, bound: Bound, others: Sequence[Bound]) -> list[Decision]:
    """Whether something is left between a bound and those before it, for all that is given."""
    name, known = bound.name, decider.scene.range_of(bound.name)
    if name in decider.growing and bound.sign in ("<", "<="):
        raise MisfitError(f"{name} is said to be large and to be bounded", bound.link)
    ends = [other for other in others if other.name == name]
    if known.lower is not None:
        ends.append(Bound(name, ">" if known.lower_open else ">=", number(known.lower), bound.link))  # type: ignore[arg-type]
    if known.upper is not None:
        ends.append(Bound(name, "<" if known.upper_open else "<=", number(known.upper), bound.link))  # type: ignore[arg-type]
    found: list[Decision] = []
    for end in ends:
        pair = sorted((bound, end), key=lambda one: one.sign in ("<", "<="))
        if (pair[0].sign[0], pair[1].sign[0]) != (">", "<"):
            continue
        low, high = pair[0].value, pair[1].value
        if low.rational is not None and high.rational is not None and low.rational < high.rational:
            continue
        weak = pair[0].sign == ">=" and pair[1].sign == "<="
        one = decide(low, "<=" if weak else "<", high, _where(decider, low + high))
        if one.word == "refuted":
            there = f" with {at(one.values)}" if one.values else ""
            reason = f"no {name} satisfies {plain(bound.link)} and what else is said of it{there}"
            found.append(replace(one, reason=reason, left=None, right=None))
        elif one.word != "proved":
            found.append(Decision("undecided", f"it is not known whether some {name} always meets all that is said"))
    return found
