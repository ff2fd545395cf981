"""Statements put together from parts: lines, implications, 'or', conditions, 'and' and commas, relations.

The parser reads a statement into one flat list of parts; here they are joined, from the loosest join to the tightest.
What people write in several ways becomes one tree: i not in {a, b} is i != a and i != b, x in [0, 1] is 0 <= x <= 1,
q perp k is <q, k> = 0, and what is said for i = a or i in {a, b} is said of k_a and k_b themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Final, Literal, NoReturn, cast, get_args

from headwright.formula import tree as t
from headwright.formula.errors import LARGEST, FormulaError

_COMPARISONS: Final = frozenset(get_args(t.Comparison))
_SPREAD: Final = ("!=", "<", ">", "<=", ">=", "<<", ">>", "perp")
_RISING: Final = ("<", "<=", "<<")
_FALLING: Final = (">", ">=", ">>")
_OPPOSITE: Final[dict[str, t.Comparison]] = {"=": "!=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_JOINS: Final = ("comma", "and", "quad")
MOST_PAIRS: Final = 100  # that are said to be orthogonal at once
MOST_VALUES: Final = 20  # of an index, that a statement is said of one by one
INFINITY: Final = t.Name("infinity")


@dataclass(frozen=True)
class Part:
    """A term, or what stands between terms."""

    tag: str
    span: t.Span
    text: str = ""
    node: t.Node | None = None


@dataclass(frozen=True)
class Interval(t.Node):
    """The numbers from low to high, after 'in': it becomes two inequalities, and no tree holds it."""

    low: t.Node
    signs: tuple[t.Comparison, t.Comparison]
    high: t.Node


@dataclass(frozen=True)
class Item:
    """Terms with signs between them; the sides that are limits; how often 'not' came first; what came before."""

    terms: list[t.Node]
    signs: list[str]
    limits: list[tuple[int, t.Node]]
    negated: int
    joint: str

    @property
    def is_bare(self) -> bool:
        """A term alone, which may be part of a list."""
        return not self.signs and not self.negated and not self.limits and not isinstance(self.terms[0], t.STATEMENTS)


@dataclass
class _Chunk:
    """A statement with its conditions, as parts."""

    body: list[Part]
    conditions: list[tuple[str, list[Part]]]


def spanned(nodes: Sequence[t.Node]) -> t.Span:
    """From the first to the last."""
    return nodes[0].span.to(nodes[-1].span)


def refuse(message: str, span: t.Span, fix: str = "") -> NoReturn:
    """Say what is wrong, and where; whoever parses adds the source."""
    raise FormulaError(message, "", span, fix=fix)


def both(items: Sequence[t.Node]) -> t.Node:
    """All of the statements."""
    return items[0] if len(items) == 1 else t.Logic("and", tuple(items), span=spanned(items))


# Relations


def related(items: list[Item]) -> list[t.Node]:
    """The statements that the items make; one list where they make none."""
    found: list[t.Node] = []
    bare: list[t.Node] = []
    place = 0
    while place < len(items):
        item = items[place]
        place += 1
        if bare and item.joint != "comma":
            found.append(_listed(bare))
            bare = []
        if item.is_bare:
            bare.append(item.terms[0])
            continue
        terms, signs = list(item.terms), list(item.signs)
        if bare and signs:
            terms[0] = _listed([*bare, terms[0]])
            bare = []
        if not bare and place < len(items) and _brackets(item, items[place], terms):
            other = items[place]
            terms[-1] = _listed([terms[-1], other.terms[0]])
            terms += other.terms[1:]
            signs += other.signs
            place += 1
        follow, ends = _following(items, place)
        if len(follow) and signs and (count := _taken(terms[0], follow, ends)):
            found.extend(_with_list(terms, signs, follow[:count], item))
            place += count
        else:
            said = _limits(terms, signs, item.limits) if item.limits else chain(terms, signs) if signs else terms
            found.extend(_negated(said, item.negated))
    if bare:
        found.append(_listed(bare))
    return found


def index_conditions(items: list[Item], start: int) -> tuple[int, int] | None:
    """In 'x_i = 0, i != a, b' the places of i != a, b: they say for which i the statement before them is meant.

    Only an index of that statement counts, and only after a comma: otherwise i != a is a statement as good as any.
    After a wide space it may be any name that is set to a number: 'x/y = z \\quad c = 3/2'.
    """
    for place in range(start + 1, len(items)):
        before = items[place - 1]
        claimed = before.signs and not isinstance(
            before.terms[0], t.Name
        )  # 'q = ...' defines, 'q_1/q_2 = ...' does not
        if items[place].joint == "quad" and _sets(items[place]) and claimed:
            return place, place + 1
        if not _is_apart(items, place):
            continue
        first = place
        while first > start + 1 and items[first - 1].is_bare and t.is_letter(items[first - 1].terms[0]):
            first -= 1  # s, t in {0, ..., T - 1}
        letters = {item.terms[0] for item in items[first : place + 1]}
        if items[first - 1].signs and letters <= {part for term in items[first - 1].terms for part in _indices(term)}:
            stop = place + 1
            while stop < len(items) and _is_apart(items, stop):
                stop += 1
            more, ends = _following(items, stop)
            return first, stop + len(more) * (ends or t.has_dots(more))
    return None


def _indices(node: t.Node) -> set[t.Node]:
    """All that stands in an index."""
    names = (part for part in t.walk(node) if isinstance(part, t.Name) and part.index is not None)
    return {part for name in names for part in t.walk(name.index or name)}


def _is_apart(items: list[Item], place: int) -> bool:
    """i != a, i in {a, b} or i = 1, ..., n after a comma, with a letter on the left."""
    item = items[place]
    if item.joint not in ("comma", "quad") or item.negated or len(item.signs) != 1 or not t.is_letter(item.terms[0]):
        return False
    match item.signs[0], item.terms[1]:
        case ("in" | "!in", _) | ("!=", t.Name() | t.Number() | t.Listing()):
            return True
        case "=", _:
            return t.has_dots(_following(items, place + 1)[0])
    return False


def _sets(item: Item) -> bool:
    """c = 3/2: a name and a number."""
    if item.signs != ["="] or item.negated or item.limits or not t.is_letter(item.terms[0]):
        return False
    return not any(isinstance(part, t.Name | t.Dots) for part in t.walk(item.terms[1]))


def _listed(items: list[t.Node]) -> t.Node:
    return items[0] if len(items) == 1 else t.Listing(tuple(items), span=spanned(items))


def _following(items: list[Item], place: int) -> tuple[list[t.Node], bool]:
    """The bare terms that follow with commas, and whether nothing comes after them."""
    stop = place
    while stop < len(items) and items[stop].is_bare and items[stop].joint == "comma":
        stop += 1
    return [item.terms[0] for item in items[place:stop]], stop == len(items)


def _taken(left: t.Node, follow: list[t.Node], ends: bool) -> int:
    """How many of the terms that follow belong to the right side: as many as the left side has, or all."""
    wanted = len(left.items) - 1 if isinstance(left, t.Listing) else 0
    if wanted:
        return wanted if len(follow) >= wanted else 0
    dots = next((place for place, part in enumerate(follow) if isinstance(part, t.Dots)), None)
    if dots is not None and t.is_letter(left):
        return min(dots + 2, len(follow))  # i = 1, ..., n
    return len(follow) if ends else 0


def _with_list(terms: list[t.Node], signs: list[str], more: list[t.Node], item: Item) -> list[t.Node]:
    """'a, b = c, d' compares lists; 'i != a, b' says the same of a and of b."""
    if signs[-1] in _SPREAD and not isinstance(terms[0], t.Listing) and not item.negated:
        if isinstance(terms[-2], t.Gap):
            refuse("a list follows a relation that goes on from the formula before", more[0].span, "write both sides")
        first = chain(terms, signs)
        return [*first, *(part for other in more for part in chain([terms[-2], other], [signs[-1]]))]
    return _negated(chain([*terms[:-1], _listed([terms[-1], *more])], signs), item.negated)


def _brackets(item: Item, other: Item, terms: list[t.Node]) -> bool:
    """0 <= s, t < 1: both lie between, when a number is on the left and the signs point the same way."""
    return (
        other.joint == "comma"
        and len(item.signs) == 1
        and bool(other.signs)
        and not (item.limits or other.limits or item.negated or other.negated)
        and isinstance(terms[0], t.Number)
        and isinstance(terms[-1], t.Name)
        and isinstance(other.terms[0], t.Name)
        and terms[-1] != other.terms[0]
        and any(item.signs[0] in signs and other.signs[0] in signs for signs in (_RISING, _FALLING))
    )


def _negated(nodes: list[t.Node], times: int) -> list[t.Node]:
    for _ in range(times):
        nodes = [t.Logic("not", (both(nodes),), span=spanned(nodes))]
    return nodes


def _limits(terms: list[t.Node], signs: list[str], limits: list[tuple[int, t.Node]]) -> list[t.Node]:
    """lim x = y says x -> y under the condition; lim x = lim y = z = w says x -> z, y -> z and z = w."""
    under = dict(limits)
    span = limits[0][1].span
    if len(under) < len(limits):
        refuse("a limit of a limit is not read: the order counts", span, "write \\lim_{x \\to a} y = z")
    if len(under) == 1 and len(terms) == 2 and signs[0] in ("=", "->", "~"):
        (side, condition), *_ = limits
        return [_tends(terms[side], terms[1 - side], condition, terms[-1])]
    values = terms[len(under) :]
    moving = {part for condition in under.values() for part in t.walk(condition) if t.is_letter(part)} - {INFINITY}
    if not values or set(under) != set(range(len(under))) or set(signs) != {"="}:
        refuse("limits are read at the beginning of an equation", span, "write \\lim_{x \\to a} y = z")
    if any(part in moving for value in values for part in t.walk(value)):
        refuse("what a limit is equal to does not depend on what tends to something", span, "write x \\to y instead")
    found: list[t.Node] = [_tends(terms[side], values[0], condition, values[0]) for side, condition in under.items()]
    return [*found, *(chain(values, signs[len(under) :]) if len(values) > 1 else [])]


def _tends(body: t.Node, value: t.Node, condition: t.Node, last: t.Node) -> t.Node:
    relation = _relation([body, value], ["->"])
    return t.Quantified(relation, t.conjuncts(condition), span=condition.span.to(last.span))


def _relation(terms: Sequence[t.Node], signs: Sequence[str]) -> t.Relation:
    comparisons = cast("tuple[t.Comparison, ...]", tuple(signs))
    return t.Relation(tuple(terms), comparisons, span=spanned(terms))


def chain(terms: Sequence[t.Node], signs: Sequence[str]) -> list[t.Node]:
    """a = b <= c as one relation; a link that is no comparison is a statement of its own, and breaks the chain."""
    found: list[t.Node] = []
    start = 0
    for place, sign in enumerate(signs):
        made = _link(terms[place], sign, terms[place + 1], len(signs) == 1)
        if made is not None:
            if place > start:
                found.append(_relation(terms[start : place + 1], signs[start:place]))
            found.extend(made)
            start = place + 1
    if start < len(signs):
        found.append(_relation(terms[start:], signs[start:]))
    return found


def _link(left: t.Node, sign: str, right: t.Node, alone: bool) -> list[t.Node] | None:
    """What a link says that is more than a comparison of two terms; None where it is one."""
    span = left.span.to(right.span)
    match left, sign, right:
        case (t.Cases(branches), _, other) | (other, _, t.Cases(branches)) if not isinstance(other, t.Cases):
            found: list[t.Node] = []
            for row in branches:
                pair = (row.body, right) if right is other else (left, row.body)
                found += said_for(chain(pair, [sign]), row.conditions, row.span)
            return found
        case _, "in", _:
            return _member(left, right, span)
        case _, "!in", t.Listing(items) if not t.has_dots(items):
            return _apart(left, items)
        case _, "!in", _:
            return [t.Logic("not", (both(_member(left, right, span)),), span=span)]
        case _, "perp", _:
            return _orthogonal(left, right, span)
        case _, "->+" | "->-", _:
            return _from_a_side(left, sign, right)
        case _, "propto", _:
            return [t.Bond("propto", left, right, span=span)]
        case _, "~", t.Call("N"):
            return [t.Bond("drawn", left, right, span=span)]
    if (bounded := _bounded(left, sign, right)) is not None:
        return said_for([bounded[0]], bounded[1], span)
    if sign not in _COMPARISONS:  # a denied one, such as !~
        return [t.Logic("not", (both(chain([left, right], [sign[1:]])),), span=span)]
    if isinstance(right, t.Listing) and not isinstance(left, t.Listing):
        if sign == "!=" and alone:
            return _apart(left, right.items)
        if sign == "=" and t.is_letter(left) and (ends := _ends(right)):
            return [_relation([ends[0], left, ends[1]], ["<=", "<="])]
    return None


def _from_a_side(left: t.Node, sign: str, right: t.Node) -> list[t.Node]:
    """x -> 0^+ says that x tends to 0 and is above it; to infinity everything comes from below."""
    to = _relation([left, right], ["->"])
    if sign == "->-" and right == INFINITY:
        return [to]
    if not t.is_letter(left) or not isinstance(right, t.Number):
        refuse("from which side something tends to a value is read of a letter only", to.span, "write x \\to 0")
    return [to, _relation([left, right], [">" if sign == "->+" else "<"])]


def _apart(left: t.Node, others: Sequence[t.Node]) -> list[t.Node]:
    return [_relation([left, other], ["!="]) for other in others]


def _orthogonal(left: t.Node, right: t.Node, span: t.Span) -> list[t.Node]:
    lefts, rights = (side.items if isinstance(side, t.Listing) else (side,) for side in (left, right))
    if len(lefts) * len(rights) > MOST_PAIRS:
        refuse(f"more than {MOST_PAIRS} pairs are said to be orthogonal", span, "say it for all i \\ne j")
    zero = t.Number(Fraction(0), span=right.span)
    return [_relation([t.Inner(x, y, span=span), zero], ["="]) for x in lefts for y in rights]


def _bounded(left: t.Node, sign: str, right: t.Node) -> tuple[t.Node, list[t.Node]] | None:
    """x > max_i y_i + z says that x > y_i + z for all i; None where the largest or smallest is not bounded so."""
    if sign not in (*_RISING, *_FALLING):
        return None
    for side, other, most in (
        (right, left, "max" if sign in _FALLING else "min"),
        (left, right, "max" if sign in _RISING else "min"),
    ):
        terms = side.terms if isinstance(side, t.Sum) else (side,)
        places = [place for place, term in enumerate(terms) if isinstance(_positive(term), t.BigCall)]
        if len(places) != 1:
            continue
        term, big = terms[places[0]], _positive(terms[places[0]])
        most = most if term is big else {"max": "min", "min": "max"}[most]  # x - max_i y_i > z
        if not isinstance(big, t.BigCall) or big.word != most or not big.conditions:
            continue
        others = [other, *(one for one in terms if one is not term)]
        if any(part == t.Name(big.index) for one in others for part in t.walk(one)):
            continue  # that index is another one there
        body = big.body if term is big else t.Negative(big.body, span=term.span)
        each = tuple(body if one is term else one for one in terms)
        said = each[0] if len(each) == 1 else t.Sum(each, span=side.span)
        conditions: list[t.Node] = list(big.conditions)
        if big.lower is not None and big.upper is not None:
            between = _relation([big.lower, t.Name(big.index, span=big.span), big.upper], ["<=", "<="])
            conditions = [between, *big.conditions]
        return _relation([left, said] if side is right else [said, right], [sign]), conditions
    return None


def for_every(link: t.Relation) -> t.Node:
    """x > max_i y_i as x > y_i for all i; anything else as it stands."""
    found = _bounded(link.terms[0], link.comparisons[0], link.terms[1])
    return link if found is None else t.Quantified(found[0], tuple(found[1]), span=link.span)


def _positive(term: t.Node) -> t.Node:
    return term.body if isinstance(term, t.Negative) else term


def _ends(items: t.Listing) -> tuple[t.Node, t.Node] | None:
    """1 and n of '1, ..., n' and of '1, 2, ..., n'."""
    places = [place for place, part in enumerate(items.items) if isinstance(part, t.Dots)]
    counted = [part.value for part in items.items[: places[0]] if isinstance(part, t.Number)] if places else []
    steps = all(later == earlier + 1 for earlier, later in pairwise(counted))
    if len(places) != 1 or places[0] != len(items.items) - 2 or len(counted) != places[0] or not counted or not steps:
        return None
    return items.items[0], items.items[-1]


def _member(left: t.Node, right: t.Node, span: t.Span) -> list[t.Node]:
    if not isinstance(right, Interval):
        lefts = left.items if isinstance(left, t.Listing) and not t.has_dots(left.items) else (left,)
        return [t.Bond("in", one, right, span=span) for one in lefts]
    low = right.low != INFINITY and INFINITY not in right.low.children()
    high = right.high != INFINITY
    if low and high:
        return [t.Relation((right.low, left, right.high), right.signs, span=span)]
    if low:
        return [t.Relation((left, right.low), (">" if right.signs[0] == "<" else ">=",), span=span)]
    if high:
        return [t.Relation((left, right.high), right.signs[1:], span=span)]
    return refuse("this interval holds every number", span, "write x \\in \\mathbb{R}")


def otherwise(others: Sequence[t.Quantified]) -> list[t.Node]:
    """What is left when none of the branches applies."""
    return [part for branch in others for part in _denied(branch.conditions)]


def _denied(conditions: tuple[t.Node, ...]) -> list[t.Node]:
    match conditions:
        case ():
            return []
        case (t.Relation((left, right), (sign,)),) if sign in _OPPOSITE:
            return [_relation([left, right], [_OPPOSITE[sign]])]
        case (t.Bond("in", left, t.Listing(items)),) if not t.has_dots(items):
            return _apart(left, items)
    whole = both(conditions)
    unlike = [part.terms for part in conditions if isinstance(part, t.Relation) and part.comparisons == ("!=",)]
    if len(unlike) == len(conditions) and len({terms[0] for terms in unlike}) == 1:  # neither a nor b: one of them
        apart = t.Listing(tuple(terms[1] for terms in unlike), span=whole.span)
        return [t.Bond("in", unlike[-1][0], apart, span=whole.span)]
    return [t.Logic("not", (whole,), span=whole.span)]


# Conditions


def said_for(nodes: list[t.Node], conditions: Sequence[t.Node], span: t.Span) -> list[t.Node]:
    """Statements with what they are said for; for some values of an index they are said of each."""
    kept: list[t.Node] = []
    for condition in conditions:
        letter, values = _values(condition)
        indices = {part for node in nodes for part in _indices(node)}
        if values and letter in indices and fits(nodes, len(values)):
            nodes = [t.put(node, letter.base, value) for value in values for node in nodes]
        else:
            said = _counted(condition, indices)
            spoken = isinstance(said, t.Name) and said is not condition
            if not spoken or not any(said in t.walk(other) for other in conditions if other is not condition):
                kept.append(said)
    if not kept:
        return nodes
    return [t.Quantified(both(nodes), tuple(kept), span=span)]


def fits(nodes: Sequence[t.Node], times: int) -> bool:
    """Whether nodes may be written out so many times: what is said of few values, and small."""
    if len(nodes) * times > MOST_VALUES:
        return False
    return times * sum(1 for node in nodes for _ in t.walk(node)) <= LARGEST


def _values(condition: t.Node) -> tuple[t.Name, tuple[t.Node, ...]]:
    """The letter and the values that i = a, i = 1, 2 or i in {a, b} give it."""
    match condition:
        case t.Relation((t.Name(index=None, primes=0) as letter, right), ("=",)):
            values = right.items if isinstance(right, t.Listing) else (right,)
        case t.Bond("in", t.Name(index=None, primes=0) as letter, t.Listing(values)):
            pass
        case _:
            return t.Name(""), ()
    simple = all(isinstance(value, t.Name | t.Number) for value in values)
    return letter, values if simple else ()


def _counted(condition: t.Node, indices: set[t.Node]) -> t.Node:
    """An index in {1, ..., n} lies between 1 and n: it is a whole number anyway. In R^d lies any value of a name."""
    match condition:
        case t.Bond("in", t.Name() as letter, t.Domain("R") | t.Power(t.Domain("R"), _)):
            return letter
        case t.Bond("in", t.Name() as letter, t.Listing() as items) if letter in indices and (ends := _ends(items)):
            return t.Relation((ends[0], letter, ends[1]), ("<=", "<="), span=condition.span)
        case _:
            return condition


# From parts


def assembled(parts: list[Part]) -> t.Node:
    """All parts as one node: several statements become one 'and'. Reasons are statements too, after the others."""
    if all(part.tag in ("term", "relation") for part in parts):  # a = b <= c, which most formulas are
        terms = [part.node for part in parts if part.node is not None]
        return both(chain(terms, [part.text for part in parts if part.tag == "relation"]) if len(terms) > 1 else terms)
    parts, reasons = _without_reasons(parts)
    statements: list[t.Node] = []
    for statement, _ in _split(parts, ("semi", "line")):
        node = _implied(statement)
        # items joined by commas are already one 'and': the whole is one list of statements
        statements.extend(t.conjuncts(node) if len(statement) > 1 else [node])
    for run in reasons:
        node = _implied(run)
        if isinstance(node, t.STATEMENTS):
            statements.append(node)
        elif not isinstance(node, t.Number):  # by (5): another equation
            refuse("what follows is no statement, and no reason", node.span, "write a statement after 'since'")
    return both(statements)


def _without_reasons(parts: list[Part]) -> tuple[list[Part], list[list[Part]]]:
    """The parts without those after 'since', which end where the line ends."""
    kept: list[Part] = []
    reasons: list[list[Part]] = []
    inside = False
    for part in parts:
        if part.tag == "reason":
            inside = bool(kept)
            reasons.extend([[]] if inside else [])
        elif part.tag in ("continued", "line", "semi"):
            inside = False
            kept.append(part)
        else:
            (reasons[-1] if inside else kept).append(part)
    return kept, [run for run in reasons if run]


def _split(parts: list[Part], tags: Collection[str]) -> Iterator[tuple[list[Part], Part | None]]:
    """The runs between parts of these tags, each with the part that ends it."""
    run: list[Part] = []
    for part in parts:
        if part.tag in tags:
            yield run, part
            run = []
        else:
            run.append(part)
    yield run, None


def _implied(parts: list[Part]) -> t.Node:
    """A => B <=> C: each step is a statement; A => B, C => D are two implications."""
    arrows = [place for place, part in enumerate(parts) if part.tag in ("implies", "iff")]
    cut = _last_join(parts[arrows[0] : arrows[1]]) if len(arrows) > 1 else None
    if cut is not None:  # the last comma between the first two arrows: there a new implication begins
        return both([_implied(parts[: arrows[0] + cut]), _implied(parts[arrows[0] + cut + 1 :])])
    sides = [_either(run) for run, _ in _split(parts, ("implies", "iff"))]
    if not arrows:
        return sides[0]
    words = [cast("Literal['implies', 'iff']", parts[place].tag) for place in arrows]
    return both([t.Logic(word, pair, span=spanned(pair)) for word, pair in zip(words, pairwise(sides), strict=True)])


def _either(parts: list[Part]) -> t.Node:
    items = [both([node for chunk in _chunks(run) for node in _quantified(chunk)]) for run, _ in _split(parts, ("or",))]
    return items[0] if len(items) == 1 else t.Logic("or", tuple(items), span=spanned(items))


def _chunks(parts: list[Part]) -> list[_Chunk]:
    """Where one statement's conditions end and the next statement begins.

    'x = 1 for c = 3/2, x = 2 for c = 1/2' are two: the same word comes again, so the item before it is new.
    """
    chunks = [_Chunk([], [])]
    for part in parts:
        chunk = chunks[-1]
        if part.tag == "condition":
            words = [word for word, _ in chunk.conditions]
            if part.text in words and (cut := _last_join(chunk.conditions[-1][1])) is not None:
                run = chunk.conditions[-1][1]
                chunks.append(_Chunk(run[cut + 1 :], []))
                del run[cut:]
            chunks[-1].conditions.append((part.text, []))
        elif part.tag == "aside":
            chunk.conditions.append(("(", [Part("term", part.span, node=part.node)]))
        elif chunk.conditions and chunk.conditions[-1][0] == "(":
            if part.tag not in _JOINS:
                refuse("a condition in brackets ends a statement", part.span, "write the condition at the end")
            chunks.append(_Chunk([], []))
        elif chunk.conditions:
            if part.tag == "continued":
                message = "this line continues a chain that ended with a condition"
                refuse(message, part.span, "move the condition to the end")
            chunk.conditions[-1][1].append(part)
        else:
            chunk.body.append(part)
    return [chunk for chunk in chunks if chunk.body or chunk.conditions]


def _last_join(parts: list[Part]) -> int | None:
    return next((place for place in reversed(range(len(parts))) if parts[place].tag in _JOINS), None)


def _quantified(chunk: _Chunk) -> list[t.Node]:
    """The statement with its conditions; several statements where it has none."""
    body, conditions = chunk.body, chunk.conditions
    if not conditions:
        body, conditions = _cased(body)
    if not body:
        body, conditions = _prefixed(conditions)
    items = _items(body)
    if not conditions:
        return _with_indices(items)
    nodes = related(items)
    if len(nodes) == 1 and isinstance(nodes[0], t.Quantified) and len(body) > 1:  # a limit that has further conditions
        conditions = [*((("as", [Part("term", part.span, node=part)])) for part in nodes[0].conditions), *conditions]
        nodes = [nodes[0].body]
    for _, group in groupby(conditions, lambda one: id(one) if one[0] == "some" else 0):  # 'for some' stands alone
        some, runs = zip(*group, strict=True)
        found = [part for run in runs for part in _conditions(run)]
        span = t.Span(min(nodes[0].span.start, found[0].span.start), max(nodes[-1].span.stop, found[-1].span.stop))
        nodes = [t.Exists(both(nodes), tuple(found), span=span)] if "some" in some else said_for(nodes, found, span)
    return nodes


def _conditions(run: list[Part]) -> list[t.Node]:
    """What a condition says, one thing each."""
    found: list[t.Node] = []
    for node in related(_items(run)):
        if isinstance(node, t.Quantified) and isinstance(node.body, t.Gap):  # (for all i != a), in brackets
            found.extend(node.conditions)
            continue
        for part in t.conjuncts(node):
            found.extend(part.items if isinstance(part, t.Listing) else (part,))
    return found


def _with_indices(items: list[Item]) -> list[t.Node]:
    """Statements, where 'x_i = 0, i != a' says for which i it is meant."""
    nodes: list[t.Node] = []
    start = 0
    while (found := index_conditions(items, start)) is not None:
        *others, last = related(items[start : found[0]])
        named = related(items[found[0] : found[1]])
        nodes += [*others, *said_for([last], named, last.span.to(named[-1].span))]
        start = found[1]
    return nodes + related(items[start:])


def _cased(body: list[Part]) -> tuple[list[Part], list[tuple[str, list[Part]]]]:
    """'c = 3/2: x > 0' says it for that c, where a name is set to a number."""
    cut = next((place for place, part in enumerate(body) if part.tag == "colon"), None)
    before = [part.node for part in body[:cut] if part.tag == "term"] if cut else []
    if cut is None or len(before) != 2 or len(body[:cut]) != 3 or body[1].text != "=":
        return body, []
    name, value = before
    literal = value is not None and not any(isinstance(part, t.Name) for part in t.walk(value))
    return (body[cut + 1 :], [("if", body[:cut])]) if literal and isinstance(name, t.Name) else (body, [])


def _prefixed(conditions: list[tuple[str, list[Part]]]) -> tuple[list[Part], list[tuple[str, list[Part]]]]:
    """'for all i != j: x > 0', 'if c = 1 then x > 0', 'for all i != j, x > 0': the statement, and its conditions.

    Where no statement comes, the conditions belong to the formula before.
    """
    cuts = [_cut(run) for _, run in conditions]
    place = next((place for place, cut in enumerate(cuts) if cut is not None), None)
    if place is None:
        start = conditions[0][1][0].span.start if conditions[0][1] else 0
        return [Part("term", t.Span(start, start), node=t.Gap(span=t.Span(start, start)))], conditions
    (word, run), cut = conditions[place], cuts[place]
    if not cut or not run[cut + 1 :]:
        where = run[0].span if run else t.Span(0, 0)
        refuse("a condition stands here without the statement it belongs to", where, "write 'x > 0 for all i != j'")
    before, after = [*conditions[:place], (word, run[:cut])], conditions[place + 1 :]
    if any(word == "some" for word, _ in conditions):  # what comes first is said last, of all that follows
        return run[cut + 1 :], [*after, *reversed(before)]
    return run[cut + 1 :], [*before, *after]


def _cut(run: list[Part]) -> int | None:
    """Where the statement begins that follows a condition."""
    cut = next((place for place, part in enumerate(run) if part.tag in ("colon", "then")), None)
    if cut is None and (cut := _last_join(run)) is not None and len(run) == cut + 2 and run[cut + 1].tag == "term":
        kinds = {part.text for part in run[:cut] if part.tag == "relation"}
        dots = any(isinstance(part.node, t.Dots) for part in run)
        return None if (kinds and kinds <= {"!=", "in", "!in"}) or dots else cut  # for all i != a, b
    if cut is not None and run[cut].tag in _JOINS and run[cut + 1 :] and run[cut + 2 :][:1]:
        same = {part.node for part in run[:cut]} & {run[cut + 1].node}
        if same and run[cut + 2].text in ("!=", "in", "!in"):  # for all i != a and i != b
            return None
    return cut


def _items(parts: list[Part]) -> list[Item]:
    """The items between commas, each a term or a relation."""
    runs = list(_split(parts, _JOINS))
    joints = ["", *(end.tag for _, end in runs if end is not None)]
    return [_item(run, joint) for (run, _), joint in zip(runs, joints, strict=True)]


def _item(run: list[Part], joint: str) -> Item:
    terms: list[t.Node] = []
    signs: list[str] = []
    limits: list[tuple[int, t.Node]] = []
    negated = 0
    for part in run:
        if part.tag == "term" and part.node is not None:
            terms.append(part.node)
        elif part.tag in ("relation", "continued"):
            signs.append(part.text)
        elif part.tag == "limit" and part.node is not None:
            limits.append((len(terms), part.node))
        elif part.tag == "not" and not terms:
            negated += 1
        else:
            refuse(f"{part.tag if part.tag != 'colon' else ':'} cannot stand here", part.span, "write two statements")
    if len(terms) != len(signs) + 1:
        refuse("a statement is not complete", run[0].span if run else t.Span(0, 0), "write both sides")
    return Item(terms, signs, limits, negated, joint)
