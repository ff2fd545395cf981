"""Whether the steps of a derivation lead where they should, and none of them is what was to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from headwright.check.answer import named
from headwright.check.scalars import Scalar, Thing, number
from headwright.check.settings.matrices.deciding import difference, prepared, proves
from headwright.check.settings.matrices.forms import Form, scaled
from headwright.check.settings.matrices.known import Given, Known, names_in
from headwright.errors import InputError
from headwright.formula.shapes import spelt
from headwright.formula.tree import BigSum, Call, Listing, Name, Node, Relation, put, walk

ALONG = {"=": ("=",), "<=": ("=", "<=", "<"), ">=": ("=", ">=", ">")}  # steps from which a comparison follows
TURNED = {"=": "=", "<=": ">=", ">=": "<="}


@dataclass(frozen=True)
class Aim:
    """What is to be shown: how the two ends compare."""

    start: Node
    end: Node
    given: Given

    @cached_property
    def bare(self) -> Given:
        """Without definitions, and without knowing that S holds the singular values: for algebra in passing.

        S stays diagonal, and the singular values are on the diagonal of some other matrix.
        """
        known, given = Known(self.given), self.given
        shapes = {name: shape for name in given.definitions if (shape := known.shape_of(named(name))) is not None}
        facts = {about: facts for about, facts in given.facts.items() if "singular values" not in facts}
        for family in (one for one in known.families.values() if one.kind == "singular values"):
            other = f"values beside {family.of}"  # no formula can mean it
            shapes[other] = given.shapes[family.of]
            facts |= {other: frozenset({"diagonal"}), f"{other},{family.base}_*": frozenset({"singular values"})}
        return replace(given, definitions={}, facts=facts, shapes={**shapes, **given.shapes})

    @cached_property
    def wanted(self) -> str:
        """How the two ends compare: the strongest comparison that is true of them."""
        gap = _gap((self.start, self.end), self.given)
        if gap is not None and gap.is_zero:
            return "="
        if proves(Relation((self.start, self.end), ("<=",)), self.given):
            return "<="
        return ">=" if proves(Relation((self.start, self.end), (">=",)), self.given) else "="

    def is_leap(self, link: Relation) -> bool:
        """Whether a step says what was to be shown, up to algebra in passing and a number in front.

        Two sums that are equal term by term say no more than their terms do.
        """
        terms = _terms(link, self.given) or link.terms
        return _multiple(_gap(terms, self.bare), _gap((self.start, self.end), self.bare)) not in (None, 0)

    def leads(self, steps: Sequence[Relation]) -> bool:
        """Whether steps connect the two, in either direction: none of them goes against what is to be shown."""
        passing = replace(self.given, definitions={})
        for first, last, sign in (
            (self.start, self.end, self.wanted),
            (self.end, self.start, TURNED[self.wanted]),
        ):
            links = [link.terms for link in steps if link.comparisons[0] in ALONG[sign]]
            if any(_same(place, last, passing) for place in _reached(first, links, passing)):
                return True
        return False

    def follows(self, steps: Sequence[Relation], leaps: Sequence[Relation]) -> bool:
        """Whether a leap is a small step once the others are taken: H_p = P H, and then Z_p = P Z."""
        if _written_out(steps, leaps) or self._part_of_the_way(steps):
            return True
        given = self.given
        spoken = {spelt(name) for end in (self.start, self.end) for name in names_in(end)}
        equal = [link.terms for link in steps if link.comparisons == ("=",)]
        shown: dict[str, Node] = {}
        for name, definition in given.definitions.items():
            if name not in spoken:
                found = _reached(named(name), equal, replace(given, definitions={}))
                new = [last for last in found if last not in (named(name), definition)]
                if new:
                    shown[name] = new[-1]
        opened = {name: given.definitions[name] for name in spoken if name in given.definitions}
        taken = replace(self.bare, definitions={**opened, **shown})
        return bool(shown) and proves(Relation((self.start, self.end), ("=",)), taken)

    def _part_of_the_way(self, steps: Sequence[Relation]) -> bool:
        """Whether an inequality goes from one end to something between them: sum_{i <= k} sigma_i^2 >= k sigma_k^2.

        One that stays where it is (x <= x), or goes a fixed share of the way (half of what is to be shown), is none.
        """
        links = [link for link in steps if link.comparisons[0] in ("<=", ">=")]
        if not links or self.wanted == "=":
            return False
        low, high = (self.start, self.end) if self.wanted == "<=" else (self.end, self.start)
        for link in links:
            below, above = link.terms if link.comparisons[0] == "<=" else reversed(link.terms)
            share = _multiple(_gap((below, above), self.given), _gap((low, high), self.given))
            if share is not None and share != 1:
                continue
            ends = _same(below, low, self.bare), _same(above, high, self.bare)
            if ends == (True, False) and proves(Relation((above, high), ("<=",)), self.given):
                return True
            if ends == (False, True) and proves(Relation((low, below), ("<=",)), self.given):
                return True
        return False


def _terms(link: Relation, given: Given) -> tuple[Node, Node] | None:
    """The terms of two sums that are equal because these are: |A v_k|^2 of sum |A v_i|^2 = sum |sigma_i u_i|^2."""
    place = next((name for name in given.shapes if name in Known(given).assumed()), None)  # 1 <= k <= d
    match link.terms:
        case (BigSum(i, x, low, high, ()), BigSum(j, y, other_low, other_high, ())) if place is not None:
            terms = put(x, i, Name(place)), put(y, j, Name(place))
            if (low, high) == (other_low, other_high) and proves(Relation(terms, ("=",)), given):
                return terms
    return None


def _written_out(steps: Sequence[Relation], leaps: Sequence[Relation]) -> bool:
    """Whether a leap begins at a trace that a step has taken for a sum over entries: it may then be taken for known."""
    equal = [link.terms for link in steps if link.comparisons == ("=",)]
    for trace, other in (pair for sides in equal for pair in (sides, sides[::-1])):
        is_trace = isinstance(trace, Call) and trace.function == "trace"
        entries = any(isinstance(part, Name) and isinstance(part.index, Listing) for part in walk(other))
        if is_trace and entries and any(trace in leap.terms for leap in leaps):
            return True
    return False


def _multiple(mine: Form | None, whole: Form | None) -> Scalar | None:
    """Which multiple of a form another is, by a number made of sizes; None where it is none, or one has no form."""
    if mine is None or whole is None or whole.is_zero:
        return None
    factor = number(0) if mine.is_zero else mine.terms[0][1] / whole.terms[0][1]
    of_sizes = not any(isinstance(atom, Thing) for atom in factor.atoms())
    return factor if of_sizes and mine == scaled(whole, factor) else None


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


def _reached(first: Node, links: Sequence[tuple[Node, ...]], passing: Given) -> list[Node]:
    """Where links lead to, one after the other."""
    reached = [link[0] for link in links if _same(link[0], first, passing)]
    for place in reached:  # grows while it is read
        reached += [link[1] for link in links if link[0] == place and link[1] not in reached]
    return reached


def _same(x: Node, y: Node, passing: Given) -> bool:
    """Written alike, up to algebra that needs no definition: an index named otherwise, factors in another order."""
    gap = None if x == y else _gap((x, y), passing)
    return x == y or (gap is not None and gap.is_zero)
