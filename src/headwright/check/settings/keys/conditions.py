"""What an answer says of its own names (lambda > 0, s, t >> n), and conditions on scores that are answers themselves.

A name is a large positive number unless something else is said of it. A bound makes it any number within the bound.
What is said must not restrict the exercise: for every choice of what is given there must be a value that satisfies it.

A condition on scores (k_j^T q >> k_i^T q for all i != j) becomes a hypothesis: it is solved for the score of the named
key, with a slack that is at least 0, or as large as one likes where the answer writes >>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from headwright.check.answer import MisfitError, Said, comparisons, full_name
from headwright.check.decision import Decision, decide
from headwright.check.judging import at
from headwright.check.scalars import POSITIVE, REAL, Range, Scalar, Where, exp, ln, number, parameter, prove
from headwright.check.scalars.instances import allowed, choices
from headwright.check.scalars.proving import needs
from headwright.check.scalars.scalar import Parameter
from headwright.check.scalars.where import MIRRORED, OPPOSITE, checked
from headwright.check.settings.keys.deciding import BENT, MARGIN, SLACK, Decider, own_name, solved_for
from headwright.check.settings.keys.meaning import Reader
from headwright.check.settings.keys.scene import (
    MEMBER,
    ONE,
    REST,
    ZERO,
    Hypothesis,
    Scene,
    UndeterminedError,
    Vec,
    about_indices,
    apart,
    is_every_key,
    renamed,
    score_name,
)
from headwright.formula.show import plain
from headwright.formula.tree import Logic, Name, Node, Quantified, Relation, walk


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
        turned = _turned(after, bound)
        if turned is not None:
            after = replace(after, solved=(*after.solved, turned))
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
    for one, other, turned in ((left, right, sign), (right, left, MIRRORED[checked(sign)])):
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


def _turned(decider: Decider, bound: Bound) -> Hypothesis | None:
    """Of positive numbers, tau <= 1/x says that e^(1/tau) >= e^x; None where they need not be positive."""
    if bound.sign not in ("<", "<=", ">", ">=") or decider.scene.range_of(bound.name) != POSITIVE:
        return None
    if bound.value.rational is not None or not prove(bound.value, ">", 0, _where(decider, bound.value)):
        return None
    sign = MIRRORED[checked(bound.sign)]
    return exp(ONE / decider.scene.scalar(bound.name)), sign, exp(ONE / bound.value)


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


MOST_TRIED = 200


def assuming(
    decider: Decider, claims: tuple[Said, ...], *, terse: bool = False
) -> tuple[Decider, tuple[Said, ...], tuple[str, ...], list[Doubt]]:
    """The decider under the conditions among the claims, the other claims, how conditions were read, and what fails.

    `terse` says that nothing else was said, in words or in formulas that could not be read.
    """
    left: list[Said] = []
    readings: list[str] = []
    doubts: list[Doubt] = []
    alike = _all_alike(decider, claims) if terse else None
    if alike is not None:
        return alike, (), (), [_only_alike(said) for said in claims]
    claims = _with_the_exercises_letters(claims, decider)
    firm = any(states_condition(said.node) and not _follows(said) for said in claims)
    for said in claims:
        relations = [] if firm and _follows(said) else _score_relations(said.node)
        if not relations:
            left.append(said)
            continue
        left += [replace(said, node=one) for one in _without_scores(said.node)]
        left_out = _left_out(said.node, decider)
        for relation in relations:
            if left_out:
                reason = f"it says nothing of k_{left_out[0]}, whose score may be the largest of all"
                doubts.append(Doubt(relation, Decision("refuted", reason), said))
                continue
            decider, reading = _assumed(decider, relation)
            readings += [reading] if reading else []
    for said in claims:
        doubts += [Doubt(one, Decision("undecided", OF_ITSELF), said) for one in _of_the_named_key(said, decider)]
    if not _can_be_met(decider):
        raise MisfitError("no scores were found that meet this condition", Name("q"))
    return decider, tuple(left), tuple(dict.fromkeys(readings)), doubts


def _all_alike(decider: Decider, claims: tuple[Said, ...]) -> Decider | None:
    """Where nothing is said but equations on all scores that hold when these are 0: the decider for such scores.

    They are one case of what is said; what fails there is refuted, and nothing is proved by it.
    """
    scene = decider.scene
    relations = [relation for said in claims for relation in _score_relations(said.node)]
    if not relations or not all(_says_equal(said, scene) for said in claims):
        return None
    nought: dict[str, Scalar] = {score_name(which): ZERO for which in (*scene.classes.named, MEMBER, REST)}
    for relation in relations:
        letters = {
            part.index.base for part in walk(relation) if isinstance(part, Name) and isinstance(part.index, Name)
        }
        reader = Reader(scene, dict.fromkeys(letters - set(scene.classes.named), MEMBER))
        try:
            left, right = (reader.value(term) for term in relation.terms)
        except (MisfitError, UndeterminedError):
            return None
        if isinstance(left, Vec) or isinstance(right, Vec) or left == right or (left - right).put({**nought}) != ZERO:
            return None
    return replace(decider, scene=scene.knowing(**nought), assumed=(*decider.assumed, *relations))


def _says_equal(said: Said, scene: Scene) -> bool:
    """Whether a claim consists of equations about the named key, or about all keys; not of the other keys alone."""
    relations = _score_relations(said.node)
    if not relations or any(one.comparisons != ("=",) for one in relations):
        return False
    conditions = [one for part in walk(said.node) if isinstance(part, Quantified) for one in part.conditions]
    every = bool(conditions) and all(isinstance(one, Name) for one in conditions)
    indices = {part.index for part in walk(said.node) if isinstance(part, Name)}
    return every or (not conditions and {Name(name) for name in scene.classes.named} <= indices)


def _only_alike(said: Said) -> Doubt:
    reason = "an equation between scores was tried with scores that are all 0, and not judged beyond"
    return Doubt(_score_relations(said.node)[0], Decision("undecided", reason), said)


def _follows(said: Said) -> bool:
    """'then ..., so ...': what is claimed to follow from a condition is none."""
    return said.follows


def _without_scores(node: Node) -> Iterator[Relation]:
    """The links of a condition that speak of no scores, and so are claims: x >= ln(n/delta) >= ln(1/delta)."""
    body = node.body if isinstance(node, Quantified) else node
    for link in comparisons(body) if isinstance(body, Relation) and len(body.terms) > 2 else ():
        if not any(isinstance(part, Name) and part.base in ("k", "q") for part in walk(link)):
            yield link


def states_condition(node: Node) -> bool:
    """Whether a statement is a condition on scores."""
    return bool(_score_relations(node))


def _with_the_exercises_letters(claims: tuple[Said, ...], decider: Decider) -> tuple[Said, ...]:
    """'k_i^T q >> k_j^T q for all j != i' names the key i that the exercise names j: the letters are exchanged."""
    named = decider.scene.classes.named
    for said in claims:
        for part in walk(said.node):
            conditions = part.conditions if isinstance(part, Quantified) else ()
            for mine, yours in apart(conditions, decider.scene):
                if mine in named and len(named) == 1 and yours.isalpha() and _score_relations(said.node):
                    swap = {mine: yours, yours: mine}
                    return tuple(replace(one, node=renamed(one.node, swap)) for one in claims)
    return claims


def _left_out(node: Node, decider: Decider) -> list[str]:
    """The keys, besides the one to be copied, that a condition does not speak of."""
    found: list[str] = []
    for part in walk(node) if isinstance(node, Logic | Quantified) else ():
        conditions = part.conditions if isinstance(part, Quantified) else ()
        for condition in conditions:
            fine = isinstance(condition, Name) or (
                isinstance(condition, Relation) and about_indices(condition, decider.scene)
            )
            # 'i = 1, ..., n' would hold of i = j too, where nothing sets that aside
            fine = fine or (is_every_key(condition) and bool(apart(conditions, decider.scene)))
            if not fine:
                raise MisfitError("this leaves out some of the keys, or of what is given", condition)
        named = decider.scene.classes.named
        found += [y for x, y in apart(conditions, decider.scene) if x not in named and y not in named]
    return found


OF_ITSELF = "for all keys, it is said of the key itself too: no scores meet that"


def _of_the_named_key(said: Said, decider: Decider) -> Iterator[Relation]:
    """'k_j^T q > k_i^T q + 1 for all i' is said for i = j too: the relations that no scores meet then."""
    scene = decider.scene
    for part in [one for one in walk(said.node) if isinstance(one, Quantified)]:
        letters = [one.base for one in part.conditions if isinstance(one, Name)]
        different = {letter for pair in apart(part.conditions, scene) for letter in pair}
        for letter in letters:
            for relation in _score_relations(part.body) if letter not in different else ():
                there = renamed(relation, {letter: scene.classes.named[0]})
                if isinstance(there, Relation) and there != relation and _never_met(there, decider):
                    yield relation


def _never_met(relation: Relation, decider: Decider) -> bool:
    """Whether it is proved that no scores meet a relation, beside all that is assumed."""
    (a, b), (sign,) = relation.terms, relation.comparisons
    reader = Reader(decider.scene, {})
    try:
        left, right = reader.scalar(a), reader.scalar(b)
    except (MisfitError, UndeterminedError):
        return False
    if sign in (">>", "<<"):
        return left == right
    where, _ = decider.where([left, right], decider.solved)
    return prove(left, OPPOSITE[checked(sign)], right, where) is not None


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
        if not any(allowed({**here, **more}, where) for more in islice(choices(free, there), MOST_TRIED)):
            return False
    return True


def _score_relations(node: object) -> list[Relation]:
    match node:
        case Logic("and", items):
            return [relation for item in items for relation in _score_relations(item)]
        case Quantified(body, _):
            return _score_relations(body)
        case Relation(terms, signs):
            names = {n.base for n in walk(node) if isinstance(n, Name)}
            if {"c", "alpha", "v"} & names or not {"k", "q"} <= names:
                return []
            pairs = zip(terms[:-1], signs, terms[1:], strict=True)
            found = [Relation((a, b), (sign,), span=node.span) for a, sign, b in pairs]
            apart_from = list(_without_scores(node))
            return [one for one in found if not any(one.terms == other.terms for other in apart_from)]
        case _:
            return []


def _assumed(decider: Decider, relation: Relation) -> tuple[Decider, str]:
    (a, b), (sign,) = relation.terms, relation.comparisons
    scene = decider.scene
    indices = (part.index for part in walk(relation) if isinstance(part, Name) and part.base == "k")
    others = {index.base for index in indices if isinstance(index, Name)} - set(scene.classes.named)
    reader = Reader(scene, dict.fromkeys(others, MEMBER))
    try:
        left, right = reader.value(a), reader.value(b)
    except UndeterminedError as error:
        raise MisfitError(str(error), relation, fix="compare scores: k_j^\\top q and k_i^\\top q") from error
    if isinstance(left, Vec) or isinstance(right, Vec):
        raise MisfitError("a condition on numbers was expected", relation)
    decider = replace(decider, assumed=(*decider.assumed, relation))
    if sign in ("<", "<=", "<<"):
        left, right, sign = right, left, {"<": ">", "<=": ">=", "<<": ">>"}[sign]  # type: ignore[assignment]
    if sign not in (">", ">=", ">>"):
        raise MisfitError(f"a condition with {sign} is not understood", relation, fix="write >, \\ge or \\gg")
    _check_common(Reader(replace(scene, fixed={}), reader.bound), relation)
    known = Range(0, lower_open=sign in (">", ">>"))
    name = own_name(MARGIN if sign == ">>" else SLACK, "", scene)
    slack = parameter(name, known)
    reading = f"{plain(relation)} is read as: the difference is as large as one likes" if sign == ">>" else ""
    solved = solved_for(left - right - slack, score_name(scene.classes.named[0]))
    if solved is None:
        hypothesis: Hypothesis = (left - right, "=" if sign == ">>" else sign, slack if sign == ">>" else ZERO)
        if not (left - right).names() - set(scene.exercise.parameters):
            raise MisfitError("this says nothing of the scores", relation)
        return replace(decider, solved=(*decider.solved, hypothesis)), reading
    ranges = {**scene.ranges} if sign == ">>" else {**scene.ranges, name: known}
    return replace(decider, scene=replace(scene, ranges=ranges).knowing(**{solved[0]: solved[1]})), reading


def _check_common(reader: Reader, relation: Relation) -> None:
    """What holds for all other scores holds for their common score, if it bounds them from one side only."""
    left, right = (reader.scalar(term) for term in relation.terms)
    gap, name = left - right, score_name(MEMBER)
    bent = gap.put({name: ln(parameter(BENT, POSITIVE))})
    if not (_straight(gap, name) or _straight(bent, BENT)):
        raise MisfitError("a condition that bounds the other scores from one side was expected", relation)


def _straight(value: Scalar, name: str) -> bool:
    """Whether it is a multiple of the name plus something that does not depend on it."""
    start, one = value.put({name: ONE}), value.put({name: number(2)})
    slope = one - start
    return name not in slope.names() and value == start + slope * (parameter(name, _range(value, name)) - ONE)


def _range(value: Scalar, name: str) -> Range:
    return next((atom.range for atom in value.atoms() if isinstance(atom, Parameter) and atom.name == name), REAL)
