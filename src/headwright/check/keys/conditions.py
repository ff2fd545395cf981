"""Answers that are conditions on scores: 'k_j^T q >> k_i^T q for all i != j'.

The condition becomes a hypothesis. Each is solved for the score of the named key, with a slack that is at least 0, or
as large as one likes where the answer writes >>. What holds for every other key holds for their common score.
"""

from __future__ import annotations

from dataclasses import replace

from headwright.check.answer import Said
from headwright.check.keys.classes import ZERO, UndeterminedError, Vec
from headwright.check.keys.deciding import Decider
from headwright.check.keys.meaning import Reader
from headwright.check.keys.scene import MEMBER, Hypothesis, score_name
from headwright.check.misfit import MisfitError
from headwright.check.scalars import POSITIVE, Range, Scalar, parameter
from headwright.formula.show import latex
from headwright.formula.tree import Logic, Name, Quantified, Relation, walk

MARGIN, SLACK = "margin", "slack"


def assuming(decider: Decider, claims: list[Said]) -> tuple[Decider, list[Said], list[str]]:
    """The decider under the conditions among the claims, the other claims, and how conditions were read."""
    left: list[Said] = []
    readings: list[str] = []
    found = False
    for said in claims:
        relations = _score_relations(said.node)
        if not relations:
            left.append(said)
            continue
        found = True
        for relation in relations:
            try:
                decider, reading = _assumed(decider, relation)
            except MisfitError as error:
                raise error.shown_in(said.formula.text) from error
            readings += [reading] if reading else []
    if not found:
        raise MisfitError(
            "no condition on the scores was found", Name("q"), fix="write one on k_j^\\top q and k_i^\\top q"
        )
    return decider, left, list(dict.fromkeys(readings))


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
            return [Relation((a, b), (sign,), span=node.span) for a, sign, b in pairs]
        case _:
            return []


def _assumed(decider: Decider, relation: Relation) -> tuple[Decider, str]:
    (a, b), (sign,) = relation.terms, relation.comparisons
    scene = decider.scene
    others = {
        n.index.base
        for n in walk(relation)
        if isinstance(n, Name)
        and n.base == "k"
        and isinstance(n.index, Name)
        and n.index.base not in scene.classes.named
    }
    reader = Reader(scene, dict.fromkeys(others, MEMBER))
    try:
        left, right = reader.value(a), reader.value(b)
    except UndeterminedError as error:
        raise MisfitError(str(error), relation, fix="compare scores: k_j^\\top q and k_i^\\top q") from error
    if isinstance(left, Vec) or isinstance(right, Vec):
        raise MisfitError("a condition on numbers was expected", relation)
    if sign in ("<", "<=", "<<"):
        left, right, sign = right, left, {"<": ">", "<=": ">=", "<<": ">>"}[sign]  # type: ignore[assignment]
    if sign not in (">", ">=", ">>"):
        raise MisfitError(f"a condition with {sign} is not understood", relation, fix="write >, \\ge or \\gg")
    slack = parameter(MARGIN, POSITIVE) if sign == ">>" else parameter(SLACK, Range(0, lower_open=sign == ">"))
    reading = f"{latex(relation)} is read as: the difference is as large as one likes" if sign == ">>" else ""
    solved = _solved(left - right - slack, score_name(scene.classes.named[0]))
    if solved is None:
        hypothesis: Hypothesis = (left - right, "=" if sign == ">>" else sign, slack if sign == ">>" else ZERO)
        return replace(decider, solved=(*decider.solved, hypothesis)), reading
    name, value = solved
    ranges = {**scene.ranges} if sign == ">>" else {**scene.ranges, SLACK: Range(0, lower_open=sign == ">")}
    return replace(decider, scene=replace(scene, ranges=ranges).knowing(**{name: value})), reading


def _solved(gap: Scalar, name: str) -> tuple[str, Scalar] | None:
    """The gap set to 0 and solved for a score that enters it as itself."""
    rest = gap.put({name: ZERO})
    slope = gap - rest
    own = parameter(name)
    if name not in gap.names() or slope not in (own, -own):
        return None
    return name, -rest if slope == own else rest
