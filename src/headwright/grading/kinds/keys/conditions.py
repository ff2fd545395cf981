"""What an answer says of its own names (lambda > 0, s, t >> n), and conditions on scores that are answers themselves.

A name is a large positive number unless something else is said of it. A bound makes it any number within the bound.
What is said must not restrict the exercise: for every choice of what is given there must be a value that satisfies it.

A condition on scores (k_j^T q >> k_i^T q for all i != j) becomes a hypothesis: it is solved for the score of the named
key, with a slack that is at least 0, or as large as one likes where the answer writes >>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice, product
from typing import TYPE_CHECKING

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.formulas.statements import for_every
from headwright.grading.answer import (
    MisfitError,
    Said,
    UndeterminedError,
    comparisons,
    full_name,
)
from headwright.grading.decision import Decision, decide
from headwright.grading.judging import Claim, Outcome, at, judged
from headwright.grading.kinds.keys import scene as s
from headwright.grading.kinds.keys.meaning import DEEPEST, Reader
from headwright.grading.scalars import (
    POSITIVE,
    Range,
    Scalar,
    Where,
    exp,
    ln,
    number,
    parameter,
    prove,
)
from headwright.grading.scalars.assumptions import MIRRORED, checked
from headwright.grading.scalars.forms import Parameter
from headwright.grading.scalars.instances import allowed, choices
from headwright.grading.scalars.numbers import Symbol
from headwright.grading.scalars.proving import isolated, linear, needs

if TYPE_CHECKING:
    from headwright.grading.kinds.keys.deciding import Decider

BENT = Symbol("exponential", shown="e^(k_i^T q)")
MARGIN, SLACK = (
    "margin",
    "slack",
)  # by how much a condition on scores is met: as much as one likes, or at all


def check_common(reader: Reader, relation: t.Relation) -> None:
    """What holds for all other scores holds for their common score, if it bounds them from one side only."""
    left, right = (reader.scalar(term) for term in relation.terms)
    gap, name = left - right, s.score_name(s.MEMBER)
    turned = gap.put({name: ln(parameter(BENT, POSITIVE))})
    if linear(gap, name) is None and linear(turned, BENT) is None:
        raise MisfitError(
            "a condition that bounds the other scores from one side was expected",
            relation,
        )


def given_as(
    decider: Decider, left: Scalar, sign: str, right: Scalar, which: str
) -> Decider:
    """The decider under left (sign) right: it is solved for the score of a key with a slack, or kept as a hypothesis.

    'Much larger' is read of the difference of scores, and of the ratio of exponentials.
    """
    scene, score = decider.scene, s.score_name(which)
    if sign in ("<", "<=", "<<"):
        left, right, sign = right, left, {"<": ">", "<=": ">=", "<<": ">>"}[sign]
    own = {
        atom.name: atom.range
        for atom in (*left.atoms(), *right.atoms())
        if isinstance(atom, Parameter)
    }
    much, where = sign == ">>", Where({**own, **scene.ranges})
    name = Symbol(MARGIN if much else SLACK, which, "the difference")
    while name in scene.ranges or any(
        name in value.names() for value in scene.fixed.values()
    ):
        name = Symbol(
            name.kind, f"{name.of}'", "the difference"
        )  # each condition has one of its own
    known = Range(0, lower_open=sign != ">=")
    slack = s.ZERO if sign == "=" else parameter(name, known)
    found = _solved_for(left - right - slack, score)
    if (
        found is None
        and much
        and all(prove(side, ">", 0, where) for side in (left, right))
    ):
        found = _solved_for(ln(left) - ln(right) - slack, score)
    for one, other in (
        () if much or found is not None else ((left, right), (exp(left), exp(right)))
    ):
        bound = isolated(one - other, checked(sign), score, where)
        if (
            found is None
            and bound is not None
            and all(prove(need, kind, 0, where) for need, kind in needs(bound[1]))
        ):
            found = bound[1] - slack if "<" in bound[0] else bound[1] + slack
    if found is None:
        hypothesis = (
            (left - right, "=", slack) if much else (left - right, sign, s.ZERO)
        )
        return replace(decider, solved=(*decider.solved, hypothesis))
    ranges = scene.ranges if much or sign == "=" else {**scene.ranges, name: known}
    return replace(
        decider, scene=replace(scene, ranges=ranges).knowing(**{score: found})
    )


def _solved_for(gap: Scalar, name: str) -> Scalar | None:
    """The gap set to 0 and solved for a score that enters it as itself."""
    found = linear(gap, name)
    return (
        -found[1] / found[0]
        if found is not None and found[0] in (s.ONE, -s.ONE)
        else None
    )


@dataclass(frozen=True)
class Bound:
    """One thing that is said of a name: name (sign) value."""

    name: str
    sign: str
    value: Scalar
    link: t.Relation


def _doubt(link: t.Relation, decision: Decision, said: Said) -> Outcome:
    """A condition that cannot always be met, or of which that is not known."""
    return judged(Claim(link, "condition", said), decision, decision.reason)


def stated(
    decider: Decider, conditions: Sequence[Said]
) -> tuple[Decider, list[Outcome]]:
    """The decider under what the answer says of its own names, and what is doubtful about that."""
    doubts: list[Outcome] = []
    bounds: list[tuple[Bound, Said]] = []
    before: dict[str, set[str]] = {}
    for said in conditions:
        link = said.node
        if not isinstance(link, t.Relation) or s.is_place(link, decider.scene):
            continue
        try:
            after = decider.under(link)
            if (
                after.hypotheses == decider.hypotheses
            ):  # it says that a name is large, or small
                decider = after
                continue
            bound = _bound(after.scene, link, before)
        except UndeterminedError as error:
            raise MisfitError(str(error), link) from error
        if bound is None:
            continue
        where, _ = after.where([bound.value], ())
        bounds.append((bound, said))
        if all(prove(need, kind, 0, where) for need, kind in needs(bound.value)):
            if bound.sign == "=":  # then it is an abbreviation
                scene = after.scene.knowing(**{bound.name: bound.value})
                decider = replace(after, hypotheses=decider.hypotheses, scene=scene)
                continue
        else:  # a bound that is not always defined, such as ln(n - 2), is one on the exponential, or doubtful
            grown = exp(bound.value)
            if bound.sign in (">", ">=") and all(
                prove(need, kind, 0, where) for need, kind in needs(grown)
            ):
                given = (exp(after.scene.scalar(bound.name)), bound.sign, grown)
                after = replace(
                    after,
                    hypotheses=decider.hypotheses,
                    solved=(*decider.solved, given),
                )
            else:
                reason = (
                    f"{bound.value} is not known to be defined for all that is given"
                )
                doubts.append(_doubt(link, Decision("undecided", reason), said))
        positive = (
            after.scene.range_of(bound.name) == POSITIVE
            and bound.value.rational is None
        )
        if (
            bound.sign in ("<", "<=", ">", ">=")
            and positive
            and prove(bound.value, ">", 0, where)
        ):
            # of positive numbers, tau <= 1/x says that e^(1/tau) >= e^x
            turned = (
                exp(s.ONE / after.scene.scalar(bound.name)),
                MIRRORED[checked(bound.sign)],
                exp(s.ONE / bound.value),
            )
            after = replace(after, solved=(*after.solved, turned))
        decider = after
    for place, (bound, said) in enumerate(bounds):
        others = [other for other, _ in bounds[:place]]
        doubts += [
            _doubt(bound.link, one, said) for one in _against(decider, bound, others)
        ]
    return decider, doubts


def _bound(
    scene: s.Scene, link: t.Relation, before: dict[str, set[str]]
) -> Bound | None:
    """The link as a bound on one name by names that are chosen before it; None where it is true of what is given.

    `before` has the names on which the choice of each depends, so far.
    """
    (left, right), (sign,) = link.terms, link.comparisons
    reader = Reader(scene, {})
    gap = reader.scalar(left) - reader.scalar(right)
    own = sorted(gap.names() - set(scene.ranges), reverse=True)
    where = Where({**scene.ranges, **{x: scene.range_of(x) for x in own}})
    if not own and prove(gap, sign, s.ZERO, where) is not None:
        return None
    alone = [
        full_name(term)
        for term in link.terms
        if isinstance(term, t.Name) and full_name(term) in own
    ]
    for name in (*alone, *own):
        found = isolated(gap, checked(sign), name, where)
        needed = set() if found is None else set(found[1].names() - set(scene.ranges))
        earlier = set(needed)
        while (
            more := set().union(*(before.get(other, set()) for other in earlier))
            - earlier
        ):
            earlier |= more
        if found is not None and name not in earlier:
            before[name] = before.get(name, set()) | needed
            return Bound(name, *found, link)
    raise MisfitError(
        "this condition ties names to one another in a way that is not understood", link
    )


def _against(decider: Decider, bound: Bound, others: Sequence[Bound]) -> list[Decision]:
    """Whether something is left between a bound and those before it, for all that is given."""
    name, known = bound.name, decider.scene.range_of(bound.name)
    if name in decider.growing and bound.sign in ("<", "<="):
        raise MisfitError(f"{name} is said to be large and to be bounded", bound.link)
    ends = [(other.sign, other.value) for other in others if other.name == name]
    ends += (
        []
        if known.lower is None
        else [(">" if known.lower_open else ">=", number(known.lower))]
    )
    ends += (
        []
        if known.upper is None
        else [("<" if known.upper_open else "<=", number(known.upper))]
    )
    found: list[Decision] = []
    for end in ends:
        (low_sign, low), (high_sign, high) = sorted(
            ((bound.sign, bound.value), end), key=lambda one: one[0][0] == "<"
        )
        if (low_sign[0], high_sign[0]) != (">", "<"):
            continue
        where, _ = decider.where([low + high], ())
        one = decide(
            low, "<=" if (low_sign, high_sign) == (">=", "<=") else "<", high, where
        )
        if one.word == "refuted":
            there = f" with {at(one.values)}" if one.values else ""
            reason = f"no {name} satisfies {plain(bound.link)} and what else is said of it{there}"
            found.append(replace(one, reason=reason, left=None, right=None))
        elif one.word != "proved":
            found.append(
                Decision(
                    "undecided",
                    f"it is not known whether some {name} always meets all that is said",
                )
            )
    return found


MOST_TRIED = 200


def assuming(
    decider: Decider, claims: tuple[Said, ...]
) -> tuple[Decider, tuple[Said, ...], list[Outcome]]:
    """The decider under the conditions among the claims, the other claims, and what fails."""
    left: list[Said] = []
    doubts: list[Outcome] = []
    claims = _with_the_exercises_letters(claims, decider)
    written = [
        replace(said, node=in_scores(said.node, decider.scene)) for said in claims
    ]
    # 'then ..., so ...': what is claimed to follow from a condition is none
    firm = any(states_condition(said.node) and not said.follows for said in written)
    for said, plainly in zip(claims, written, strict=True):
        relations = [] if firm and said.follows else _score_relations(plainly.node)
        relations = [one for one in relations if not _holds_anyway(decider, one)]
        if not relations:
            _check_understood(plainly.node)
            left.append(said)
            continue
        left += [replace(said, node=one) for one in _without_scores(plainly.node)]
        left += (
            [said]
            if isinstance(said.node, t.Logic) and said.node.word == "implies"
            else []
        )
        left_out = _left_out(plainly.node, decider)
        if left_out:
            reason = f"it says nothing of k_{left_out[0]}, whose score may be the largest of all"
            doubts += [
                _doubt(relation, Decision("refuted", reason), said)
                for relation in relations
            ]
        else:
            decider = reduce(lambda here, one: here.assume(one), relations, decider)
    for said in written:
        doubts += [
            _doubt(one, Decision("undecided", OF_ITSELF), said)
            for one in _of_the_named_key(said, decider)
        ]
    if not _can_be_met(decider):
        raise MisfitError("no scores were found that meet this condition", t.Name("q"))
    return decider, tuple(left), doubts


def in_scores(node: t.Node, scene: s.Scene) -> t.Node:
    """A statement with scores in place of the names that are defined by them: min_i (k_j - k_i)^T q for Delta."""

    def written(part: t.Node, depth: int = 0) -> t.Node:
        defined = (
            scene.definitions.get(full_name(part)) if isinstance(part, t.Name) else None
        )
        if (
            defined is not None
            and depth < DEEPEST
            and t.speaks_of(written(defined, depth + 1), "q")
        ):
            return written(defined, depth + 1)
        found = t.mapped(part, lambda one: written(one, depth))
        two = isinstance(found, t.Relation) and len(found.terms) == 2 and found != part
        return for_every(found) if two and isinstance(found, t.Relation) else found

    return written(node)


def _holds_anyway(decider: Decider, relation: t.Relation) -> bool:
    """An equation that is true whatever the scores are is no condition."""
    letters = {
        part.index.base
        for part in t.walk(relation)
        if isinstance(part, t.Name) and isinstance(part.index, t.Name)
    }
    reader = Reader(
        decider.scene,
        dict.fromkeys(letters - set(decider.scene.classes.named), s.MEMBER),
    )
    try:
        left, right = (reader.value(term) for term in relation.terms)
    except (MisfitError, UndeterminedError):
        return False
    return relation.comparisons == ("=",) and left == right


def _check_understood(node: t.Node) -> None:
    """What speaks of scores in another way, 'for some i', is no condition that can be relied on, and no claim."""
    for part in t.walk(node):
        unsure = isinstance(part, t.Exists) or (
            isinstance(part, t.Logic) and part.word == "or"
        )
        if unsure and any(
            _score_relations(one) for one in t.walk(part) if isinstance(one, t.Relation)
        ):
            raise MisfitError(
                "this condition on scores is not understood",
                part,
                fix="say it for all i \\ne j",
            )


def _without_scores(node: t.Node) -> Iterator[t.Relation]:
    """The links of a condition that speak of no scores, and so are claims: x >= ln(n/delta) >= ln(1/delta)."""
    body = node.body if isinstance(node, t.Quantified) else node
    for link in (
        comparisons(body)
        if isinstance(body, t.Relation) and len(body.terms) > 2
        else ()
    ):
        if not any(
            isinstance(part, t.Name) and part.base in ("k", "q")
            for part in t.walk(link)
        ):
            yield link


def states_condition(node: t.Node) -> bool:
    """Whether a statement is a condition on scores."""
    return bool(_score_relations(node))


def _with_the_exercises_letters(
    claims: tuple[Said, ...], decider: Decider
) -> tuple[Said, ...]:
    """'k_i^T q >> k_j^T q for all j != i' names the key i that the exercise names j: the letters are exchanged."""
    named = decider.scene.classes.named
    for said in claims:
        for part in t.walk(said.node):
            conditions = part.conditions if isinstance(part, t.Quantified) else ()
            for mine, yours in s.apart(conditions, decider.scene):
                if (
                    mine in named
                    and len(named) == 1
                    and yours.isalpha()
                    and _score_relations(said.node)
                ):
                    swap = {mine: yours, yours: mine}
                    return tuple(
                        replace(one, node=s.renamed(one.node, swap)) for one in claims
                    )
    return claims


def _left_out(node: t.Node, decider: Decider) -> list[str]:
    """The keys, besides the one to be copied, that a condition does not speak of."""
    found: list[str] = []
    scene, named = decider.scene, decider.scene.classes.named
    for part in t.walk(node) if isinstance(node, t.Logic | t.Quantified) else ():
        conditions = part.conditions if isinstance(part, t.Quantified) else ()
        different = s.apart(conditions, scene)
        for condition in conditions:
            fine = isinstance(condition, t.Relation) and s.about_indices(
                condition, scene
            )
            # 'i = 1, ..., n' would hold of i = j too, where nothing sets that aside
            if not (
                fine
                or isinstance(condition, t.Name)
                or (s.is_every_key(condition) and different)
            ):
                raise MisfitError(
                    "this leaves out some of the keys, or of what is given", condition
                )
        found += [y for x, y in different if x not in named and y not in named]
    return found


OF_ITSELF = "for all keys, it is said of the key itself too: no scores meet that"


def _of_the_named_key(said: Said, decider: Decider) -> Iterator[t.Relation]:
    """'k_j^T q > k_i^T q + 1 for all i' is said for i = j too: the relations that are not proved to hold then."""
    scene, reader = decider.scene, Reader(decider.scene, {})
    for part in [one for one in t.walk(said.node) if isinstance(one, t.Quantified)]:
        different = {
            letter for pair in s.apart(part.conditions, scene) for letter in pair
        }
        letters = [
            one.base
            for one in part.conditions
            if isinstance(one, t.Name) and one.base not in different
        ]
        for letter, relation in product(letters, _score_relations(part.body)):
            there = s.renamed(relation, {letter: scene.classes.named[0]})
            if isinstance(there, t.Relation) and there != relation:
                left, right = (reader.scalar(term) for term in there.terms)
                where, _ = decider.where([left, right], decider.solved)
                sign = there.comparisons[0]
                if sign in (">>", "<<") or prove(left, sign, right, where) is None:
                    yield relation


def _can_be_met(decider: Decider) -> bool:
    """Whether there are scores that meet all conditions, wherever that was looked for: else all would follow."""
    if not decider.solved:
        return True  # solved for a score: any value of the others will do
    where, _ = decider.where([], decider.solved)
    names = sorted(set().union(*(a.names() | b.names() for a, _, b in decider.solved)))
    given = [name for name in names if name in decider.scene.exercise.parameters]
    free = [name for name in names if name not in given]
    for here in islice(choices(given, where), MOST_TRIED):
        there = where.put(here)
        if not any(
            allowed({**here, **more}, where)
            for more in islice(choices(free, there), MOST_TRIED)
        ):
            return False
    return True


def _score_relations(node: object) -> list[t.Relation]:
    match node:
        case t.Logic("and", items):
            return [relation for item in items for relation in _score_relations(item)]
        case t.Logic("implies", (condition, conclusion)) if t.speaks_of(
            conclusion, "alpha", "c"
        ):
            return _score_relations(condition)
        case t.Quantified(body, _):
            return _score_relations(body)
        case t.Relation(terms, signs):
            names = {n.base for n in t.walk(node) if isinstance(n, t.Name)}
            if {"c", "alpha", "v"} & names or not {"k", "q"} <= names:
                return []
            pairs = zip(terms[:-1], signs, terms[1:], strict=True)
            found = [
                t.Relation((a, b), (sign,), span=node.span) for a, sign, b in pairs
            ]
            apart_from = list(_without_scores(node))
            return [
                one
                for one in found
                if not any(one.terms == other.terms for other in apart_from)
            ]
        case _:
            return []
