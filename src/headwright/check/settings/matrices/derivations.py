"""Whether the steps of a derivation lead where they should, and none of them is what was to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwright.check.answer import named
from headwright.check.settings.matrices.deciding import difference, prepared, proves
from headwright.check.settings.matrices.forms import Form, scaled
from headwright.check.settings.matrices.known import Given, Known, names_in
from headwright.errors import InputError
from headwright.formula.shapes import plain
from headwright.formula.tree import BigSum, Call, Listing, Name, Node, Relation, put, walk

ALONG = {"=": ("=",), "<=": ("=", "<=", "<"), ">=": ("=", ">=", ">")}  # steps from which a comparison follows
TURNED = {"=": "=", "<=": ">=", ">=": "<="}
Ends = tuple[Node, Node]


def bare(given: Given) -> Given:
    """Without definitions, and without knowing that S holds the singular values: algebra that is done in passing."""
    known = Known(given)
    shapes = {name: shape for name in given.definitions if (shape := known.shape_of(named(name))) is not None}
    facts = {name: facts - {"diagonal"} for name, facts in given.facts.items()}
    return replace(given, definitions={}, facts=facts, shapes={**shapes, **given.shapes})


def is_leap(link: Relation, ends: Ends, given: Given) -> bool:
    """Whether a step says what was to be shown, up to algebra in passing and a number in front."""
    if _term_by_term(link, given):
        return False
    passing = bare(given)
    mine, whole = _gap(link.terms, passing), _gap(ends, passing)
    if mine is None or whole is None or mine.is_zero or whole.is_zero:
        return False
    factor = (mine.terms[0][1] / whole.terms[0][1]).rational
    return factor is not None and mine == scaled(whole, factor)


def _term_by_term(link: Relation, given: Given) -> bool:
    """Whether two sums are equal because their terms are: sum |A v_i|^2 = sum |sigma_i u_i|^2."""
    match link.terms:
        case (BigSum(i, x, low, high, ()), BigSum(j, y, other_low, other_high, ())):
            place = next((name for name in given.shapes if name in Known(given)._assumed()), None)  # 1 <= k <= d
            if (low, high) != (other_low, other_high) or place is None:
                return False
            terms = put(x, i, Name(place)), put(y, j, Name(place))
            return terms[0] != terms[1] and proves(Relation(terms, ("=",)), given)
        case _:
            return False


def follows(ends: Ends, steps: Sequence[Relation], given: Given) -> bool:
    """Whether what was to be shown is a small step once the others are taken: H_p = P H, and then Z_p = P Z."""
    if _written_out(steps) or _part_of_the_way(ends, steps, given):
        return True
    passing = bare(given)
    spoken = {plain(name) for end in ends for name in names_in(end)}
    equal = [link.terms for link in steps if link.comparisons == ("=",)]
    shown: dict[str, Node] = {}
    for name, definition in given.definitions.items():
        if name not in spoken:
            found = _reached(named(name), equal, replace(given, definitions={}))
            new = [last for last in found if last not in (named(name), definition)]
            if new:
                shown[name] = new[-1]
    opened = {name: given.definitions[name] for name in spoken if name in given.definitions}
    try:
        taken = replace(passing, definitions={**opened, **shown})
        return bool(shown) and proves(Relation(ends, ("=",)), taken)
    except InputError:
        return False


def _written_out(steps: Sequence[Relation]) -> bool:
    """Whether a trace is taken for a sum over entries: then it may be taken for what is known of traces."""
    return any(
        link.comparisons == ("=",)
        and any(isinstance(part, Call) and part.function == "trace" for term in link.terms for part in walk(term))
        and any(
            isinstance(part, Name) and isinstance(part.index, Listing) for term in link.terms for part in walk(term)
        )
        for link in steps
    )


def _part_of_the_way(ends: Ends, steps: Sequence[Relation], given: Given) -> bool:
    """Whether an inequality goes from one end to something between them: sum_{i <= k} sigma_i^2 >= k sigma_k^2."""
    wanted = _wanted(*ends, given)
    if wanted == "=":
        return False
    low, high = ends if wanted == "<=" else reversed(ends)
    passing = bare(given)
    for link in steps:
        if link.comparisons[0] not in ("<=", ">="):
            continue
        below, above = link.terms if link.comparisons[0] == "<=" else reversed(link.terms)
        rest = None
        if _same(below, low, passing) and not _same(above, high, passing):
            rest = above, high
        elif _same(above, high, passing) and not _same(below, low, passing):
            rest = low, below
        if rest is not None and proves(Relation(rest, ("<=",)), given):
            return True
    return False


def _gap(sides: tuple[Node, ...], given: Given) -> Form | None:
    statement = Relation((sides[0], sides[1]), ("=",))
    try:
        known = Known(given, statement)
        typed = known.typed(statement)
        if not isinstance(typed, Relation):
            return None
        normal = prepared(known)
        return difference(normal.of(typed.terms[0]), normal.of(typed.terms[1]))
    except InputError:  # it has no form: then it is no copy of what has one
        return None


def leads(start: Node, end: Node, steps: Sequence[Relation], given: Given) -> bool:
    """Whether steps connect the two, in either direction: none of them goes against what is to be shown."""
    wanted, passing = _wanted(start, end, given), replace(given, definitions={})
    for first, last, signs in ((start, end, ALONG[wanted]), (end, start, ALONG[TURNED[wanted]])):
        links = [link.terms for link in steps if link.comparisons[0] in signs]
        if any(_same(place, last, passing) for place in _reached(first, links, passing)):
            return True
    return False


def _reached(first: Node, links: Sequence[tuple[Node, ...]], passing: Given) -> list[Node]:
    """Where links lead to, one after the other."""
    reached = [link[0] for link in links if _same(link[0], first, passing)]
    for place in reached:  # grows while it is read
        reached += [link[1] for link in links if link[0] == place and link[1] not in reached]
    return reached


def _wanted(start: Node, end: Node, given: Given) -> str:
    """How the two ends of a derivation compare: the strongest comparison that is true of them."""
    for sign in ("=", "<=", ">="):
        if proves(Relation((start, end), (sign,)), given):
            return sign
    return "="


def _same(x: Node, y: Node, passing: Given) -> bool:
    """Written alike, up to algebra that needs no definition: an index named otherwise, factors in another order."""
    gap = None if x == y else _gap((x, y), passing)
    return x == y or (gap is not None and gap.is_zero)
