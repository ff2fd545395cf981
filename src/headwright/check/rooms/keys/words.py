"""Decisions about patterns in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite

from headwright.check.judging import SIGNS, at, shown
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.classes import REST, ZERO, UndeterminedError
from headwright.check.rooms.keys.deciding import Finding
from headwright.check.rooms.keys.meaning import Reader
from headwright.check.rooms.keys.scene import Scene
from headwright.check.scalars import Scalar
from headwright.formula.show import plain
from headwright.formula.tree import Name, walk

NAMES = {"score": "a score of the others of", "margin": "a margin of", "slack": "a slack of"}


def described(finding: Finding) -> str:
    """What was found about one comparison, as a person would say it."""
    decision, link = finding.decision, finding.link
    if decision.word != "refuted":
        return _comes_down_to(decision.reason, plain(link))
    values = {**finding.case, **decision.values}
    where = f"with {at(values)}: " if values else ""
    free = _free(finding)
    if free and decision.left is not None:
        where = f"with {at(values)}, and {' and '.join(free)} as large as one likes: " if values else ""
    if decision.left is None or decision.right is None:
        return where + (decision.reason or f"{plain(link)} is false")
    (left, _), (sign,) = link.terms, link.comparisons
    verb = "tends to" if free else "is"
    what = f"{decision.about} in {plain(left)}" if decision.about else plain(left)
    text = f"{where}{what} {verb} {shown(decision.left)}, not {SIGNS[sign]} {shown(decision.right)}"
    return text + _others(finding, values, free)


def _comes_down_to(reason: str, statement: str) -> str:
    """'it says x >= y' with what says so: 'alpha_a >= 1/2 comes down to x >= y'."""
    before, says, what = reason.partition("it says ")
    return f"{statement} comes down to {what}" if says and before in ("", "cleared of denominators ") else reason


def _free(finding: Finding) -> list[str]:
    if not finding.decision.values and finding.decision.left is None:
        return []
    known = set(finding.scene.ranges) | set(finding.decision.values)
    try:
        reader = Reader(finding.scene, {})
        names = set().union(*(_names(reader.value(term)) for term in finding.link.terms))
    except (UndeterminedError, MisfitError):
        return []
    return sorted(names - known)


def _names(value: object) -> frozenset[str]:
    if isinstance(value, Scalar):
        return value.names()
    coordinates: Mapping[str, Scalar] = getattr(value, "coordinates", {})
    return frozenset().union(*(x.names() for x in coordinates.values()))


def _others(finding: Finding, values: Mapping[str, Fraction], free: list[str]) -> str:
    """': the other eight keys share 66% of the weight', where a pattern is spoken of and all is known."""
    scene = finding.scene
    spoken = any(isinstance(n, Name) and n.base in ("alpha", "c") for n in walk(finding.link))
    if not spoken or free or len(scene.queries) > 1:
        return ""
    try:
        weight = scene.pattern(Reader(scene, {}).query(scene.queries[0]))[REST] * scene.classes.rest
    except (UndeterminedError, MisfitError):
        return ""
    if not weight.names() | scene.classes.rest.names() <= set(values):
        return ""
    count, share = scene.classes.rest.value(values), weight.value(values)
    if not share.is_finite() or scene.classes.rest == ZERO or not (count > 0):
        return ""
    number = float(count)
    many = f"the other {number:.6g} keys" if isfinite(number) else "the other keys"
    keys = "the other key has" if number == 1 else f"{many} share"
    return f": {keys} {100 * float(share):.0f}% of the weight"


def argument(scene: Scene) -> str:
    """Why, in one sentence: the scores, class by class."""
    if scene.setting.are != "orthonormal" or scene.setting.scales:
        return ""
    said = []
    for head in scene.queries:
        scores = scene.scores(Reader(scene, {}).query(head))
        keys = [f"{'the others' if name == REST else f'k_{name}'} {score}" for name, score in scores.items()]
        said.append(f"the scores of {head} are: {', '.join(keys)}")
    return "; ".join(said)
