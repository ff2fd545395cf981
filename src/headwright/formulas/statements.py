"""Statements put together from parts: lines, implications, 'or', conditions, 'and' and commas, relations.

The parser reads a statement into one flat list of parts; here they are joined, from the loosest join to the tightest.
What people write in several ways becomes one tree: i not in {a, b} is i != a and i != b, x in [0, 1] is 0 <= x <= 1,
q perp k is <q, k> = 0, and what is said for i = a or i in {a, b} is said of k_a and k_b themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Final, Literal, NoReturn, cast, get_args

from headwright.formulas import tree as t
from headwright.formulas.errors import LARGEST, FormulaError

_COMPARISONS: Final = frozenset(get_args(t.Comparison))
_SPREAD: Final = ("!=", "<", ">", "<=", ">=", "<<", ">>", "perp")
_RISING: Final = ("<", "<=", "<<")
_FALLING: Final = (">", ">=", ">>")
_JOINS: Final = ("comma", "and", "quad")
MOST_VALUES: Final = 20  # of an index, that a statement is said of one by one


@dataclass(frozen=True)
class Part:
    """A term, or what stands between terms."""

    tag: str
    span: t.Span
    text: str = ""
    node: t.Node | None = None


@dataclass(frozen=True)
class Interval(t.Node):
    """The numbers from low to high, after 'in': it becomes inequalities, and no tree holds it."""

    low: t.Node
    signs: tuple[t.Comparison, t.Comparison]
    high: t.Node


@dataclass(frozen=True)
class Item:
    """Terms with signs between them; how often 'not' came first; what came before."""

    terms: list[t.Node]
    signs: list[str]
    negated: int
    joint: str

    @property
    def is_bare(self) -> bool:
        """A term alone, which may be part of a list."""
        return (
            not self.signs
            and not self.negated
            and not isinstance(self.terms[0], t.STATEMENTS)
        )


_Conditions = list[tuple[str, list[Part]]]  # each with the word before it


def refuse(message: str, span: t.Span, fix: str = "") -> NoReturn:
    """Say what is wrong, and where; whoever parses adds the source."""
    raise FormulaError(message, "", span, fix=fix)


def both(items: Sequence[t.Node]) -> t.Node:
    """All of the statements."""
    return (
        items[0]
        if len(items) == 1
        else t.Logic("and", tuple(items), span=items[0].span.to(items[-1].span))
    )


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
        count = _taken(terms[0], follow, ends) if follow and signs else 0
        said = terms if not signs else []
        if (
            count
            and signs[-1] in _SPREAD
            and not isinstance(terms[0], t.Listing)
            and not item.negated
        ):
            if isinstance(terms[-2], t.Gap):
                refuse(
                    "a list follows a relation that goes on from the formula before",
                    follow[0].span,
                    "write both sides",
                )
            pairs = [
                chain([terms[-2], other], [signs[-1]]) for other in follow[:count]
            ]  # i != a, b
            said = [*chain(terms, signs), *(part for pair in pairs for part in pair)]
        elif count:  # a, b = c, d
            said = chain([*terms[:-1], _listed([terms[-1], *follow[:count]])], signs)
        elif signs:
            said = chain(terms, signs)
        place += count
        for _ in range(item.negated):
            said = [t.Logic("not", (both(said),), span=both(said).span)]
        found.extend(said)
    if bare:
        found.append(_listed(bare))
    return found


def _indices(nodes: Sequence[t.Node]) -> set[t.Node]:
    """All that stands in an index."""
    return {
        part
        for name in t.every_name(*nodes)
        if name.index is not None
        for part in t.walk(name.index)
    }


def _with_ranges(nodes: list[t.Node]) -> list[t.Node]:
    """In 'x_i = 0, i != a, b' i != a and i != b say for which i the statement before them is meant.

    Only a letter counts that is an index of that statement: otherwise i != a is a statement as good as any.
    """
    found: list[t.Node] = []
    under: list[t.Node] = []
    for node in [*nodes, t.Gap()]:
        inside = (
            node.items[0] if isinstance(node, t.Logic) and node.word == "not" else node
        )
        match inside:
            case t.Relation((letter, t.Name() | t.Number()), ("!=",)) | t.Bond(
                "in", letter
            ):
                ranged = t.is_letter(letter)
            case t.Relation((_, letter, _), ("<=" | "<", "<=" | "<")):
                ranged = t.is_letter(letter)
            case _:
                ranged = False
        if (
            ranged
            and found
            and isinstance(found[-1], t.Relation)
            and letter in _indices([found[-1]])
        ):
            under.append(node)
            continue
        if under:
            found[-1:] = said_for([found[-1]], under, found[-1].span.to(under[-1].span))
            under = []
        found.append(node)
    return found[:-1]


def _listed(items: list[t.Node]) -> t.Node:
    return (
        items[0]
        if len(items) == 1
        else t.Listing(tuple(items), span=items[0].span.to(items[-1].span))
    )


def _following(items: list[Item], place: int) -> tuple[list[t.Node], bool]:
    """The bare terms that follow with commas, and whether nothing comes after them."""
    stop = place
    while stop < len(items) and items[stop].is_bare and items[stop].joint == "comma":
        stop += 1
    return [item.terms[0] for item in items[place:stop]], stop == len(items)


def _taken(left: t.Node, follow: list[t.Node], ends: bool) -> int:
    """How many of the terms that follow belong to the right side: as many as the left side has, or all."""
    wanted = len(t.listed(left)) - 1
    if wanted:
        return wanted if len(follow) >= wanted else 0
    dots = next(
        (place for place, part in enumerate(follow) if isinstance(part, t.Dots)), None
    )
    if dots is not None and t.is_letter(left):
        return min(dots + 2, len(follow))  # i = 1, ..., n
    return len(follow) if ends else 0


def _brackets(item: Item, other: Item, terms: list[t.Node]) -> bool:
    """0 <= s, t < 1: both lie between, when a number is on the left and the signs point the same way."""
    if (
        item.negated
        or other.negated
        or other.joint != "comma"
        or len(item.signs) != 1
        or not other.signs
    ):
        return False
    match terms[0], terms[-1], other.terms[0]:
        case t.Number(), t.Name() as one, t.Name() as two if one != two:
            return any(
                item.signs[0] in signs and other.signs[0] in signs
                for signs in (_RISING, _FALLING)
            )
    return False


def _relation(terms: Sequence[t.Node], signs: Sequence[str]) -> t.Relation:
    comparisons = cast("tuple[t.Comparison, ...]", tuple(signs))
    return t.Relation(tuple(terms), comparisons, span=terms[0].span.to(terms[-1].span))


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
        case (t.Cases(branches), _, other) | (other, _, t.Cases(branches)) if (
            not isinstance(other, t.Cases)
        ):
            found: list[t.Node] = []
            for row in branches:
                pair = (row.body, right) if right is other else (left, row.body)
                found += said_for(chain(pair, [sign]), row.conditions, span)
            return found
        case _, "in", _:
            return _member(left, right, span)
        case (_, "!in", t.Listing(items)) | (_, "!=", t.Listing(items)) if (
            not t.has_dots(items)
            and (sign == "!in" or (alone and not isinstance(left, t.Listing)))
        ):
            return [_relation([left, other], ["!="]) for other in items]
        case _, "!in", _:
            return [t.Logic("not", (both(_member(left, right, span)),), span=span)]
        case _, "perp", _:
            zero = replace(t.ZERO, span=right.span)
            return [
                _relation([t.Inner(one, right, span=span), zero], ["="])
                for one in t.listed(left)
            ]
        case _, "propto", _:
            return [t.Bond("propto", left, right, span=span)]
        case _, "~", t.Call("N"):
            return [t.Bond("drawn", left, right, span=span)]
        case t.Name(_, None), "=", t.Listing() if ends := _ends(right):
            return [_relation([ends[0], left, ends[1]], ["<=", "<="])]
    if isinstance(bounded := for_every(_relation([left, right], [sign])), t.Quantified):
        return said_for([bounded.body], bounded.conditions, span)
    if sign not in _COMPARISONS:  # a denied one, such as !~
        return [t.Logic("not", (both(chain([left, right], [sign[1:]])),), span=span)]
    return None


def for_every(link: t.Relation) -> t.Node:
    """x > max_i y_i + z as x > y_i + z for all i; anything else as it stands."""
    (left, right), (sign, *_) = link.terms, link.comparisons
    tops = {
        right: "max" if sign in _FALLING else "min",
        left: "max" if sign in _RISING else "min",
    }
    for side, most in tops.items() if sign in (*_RISING, *_FALLING) else ():
        terms = side.terms if isinstance(side, t.Sum) else (side,)
        bigs = [
            (term, term.body if isinstance(term, t.Negative) else term)
            for term in terms
        ]
        found = [(term, big) for term, big in bigs if isinstance(big, t.BigCall)]
        if len(found) != 1:
            continue
        term, big = found[0]
        most = (
            most if term is big else {"max": "min", "min": "max"}[most]
        )  # x - max_i y_i > z
        others = [
            right if side is left else left,
            *(one for one in terms if one is not term),
        ]
        if (
            big.word != most
            or isinstance(big.body, t.BigCall)
            or not big.conditions
            or t.speaks_of(both(others), big.index)
        ):
            continue  # or that index is another one there
        body = big.body if term is big else t.Negative(big.body, span=term.span)
        each = tuple(body if one is term else one for one in terms)
        said = each[0] if len(each) == 1 else t.Sum(each, span=side.span)
        conditions = big.conditions
        if big.lower is not None and big.upper is not None:
            between = _relation(
                [big.lower, t.Name(big.index, span=big.span), big.upper], ["<=", "<="]
            )
            conditions = (between, *conditions)
        return t.Quantified(
            _relation([left, said] if side is right else [said, right], [sign]),
            conditions,
            span=link.span,
        )
    return link


def _ends(items: t.Listing) -> tuple[t.Node, t.Node] | None:
    """1 and n of '1, ..., n' and of '1, 2, ..., n'."""
    places = [
        place for place, part in enumerate(items.items) if isinstance(part, t.Dots)
    ]
    counted = (
        [part.value for part in items.items[: places[0]] if isinstance(part, t.Number)]
        if places
        else []
    )
    steps = all(later == earlier + 1 for earlier, later in pairwise(counted))
    if (
        len(places) != 1
        or places[0] != len(items.items) - 2
        or len(counted) != places[0]
        or not counted
        or not steps
    ):
        return None
    return items.items[0], items.items[-1]


def _member(left: t.Node, right: t.Node, span: t.Span) -> list[t.Node]:
    """x in [0, 1) as 0 <= x < 1; several names in a set one by one."""
    if not isinstance(right, Interval):
        lefts = t.listed(left) if not t.has_dots(t.listed(left)) else (left,)
        return [t.Bond("in", one, right, span=span) for one in lefts]
    if right.low != t.INFINITY and t.INFINITY not in right.low.children():
        if right.high != t.INFINITY:
            return [t.Relation((right.low, left, right.high), right.signs, span=span)]
        return [
            t.Relation(
                (left, right.low), (">" if right.signs[0] == "<" else ">=",), span=span
            )
        ]
    return refuse(
        "this interval has no lower end", span, "write x < 1, or x \\in \\mathbb{R}"
    )


def otherwise(others: Sequence[t.Quantified]) -> list[t.Node]:
    """What is left when none of the branches applies."""
    found: list[t.Node] = []
    for branch in others:
        match branch.conditions:
            case ():
                pass
            case (t.Bond("in", left, t.Listing(items)),) if not t.has_dots(items):
                found += [_relation([left, item], ["!="]) for item in items]
            case (t.Relation((_, _), (sign,)) as only,) if sign in t.FLIPPED:
                found.append(t.flipped(only))
            case conditions:
                whole = both(conditions)
                found.append(t.Logic("not", (whole,), span=whole.span))
    return found


# Conditions


def said_for(
    nodes: list[t.Node], conditions: Sequence[t.Node], span: t.Span
) -> list[t.Node]:
    """Statements with what they are said for; for some values of an index they are said of each.

    An index in {1, ..., n} lies between 1 and n: it is a whole number anyway. In R^d lies any value of a name.
    """
    kept: list[t.Node] = []
    for condition in conditions:
        indices = _indices(nodes)
        values: tuple[t.Node, ...] = ()
        match condition:
            case t.Relation((t.Name(base, None, 0) as letter, right), ("=",)) if (
                letter in indices
            ):
                values = t.listed(right)
            case t.Bond("in", t.Name(base) as letter, t.Listing(items) as right) if (
                letter in indices
            ):
                values = items if t.is_letter(letter) and not letter.primes else ()
                if ends := _ends(right):
                    condition = t.Relation(
                        (ends[0], letter, ends[1]), ("<=", "<="), span=condition.span
                    )
            case t.Bond(
                "in", t.Name() as letter, t.Domain("R") | t.Power(t.Domain("R"), _)
            ):
                if any(
                    letter in t.walk(other)
                    for other in conditions
                    if other is not condition
                ):
                    continue
                condition = letter
        if (
            values
            and all(isinstance(one, t.Name | t.Number) for one in values)
            and fits(nodes, len(values))
        ):
            nodes = [t.put(node, base, value) for value in values for node in nodes]
        else:
            kept.append(condition)
    return [t.Quantified(both(nodes), tuple(kept), span=span)] if kept else nodes


def fits(nodes: Sequence[t.Node], times: int) -> bool:
    """Whether nodes may be written out so many times: what is said of few values, and small."""
    if len(nodes) * times > MOST_VALUES:
        return False
    return times * sum(1 for node in nodes for _ in t.walk(node)) <= LARGEST


# From parts


def assembled(parts: list[Part]) -> t.Node:
    """All parts as one node: several statements become one 'and'."""
    if all(
        part.tag in ("term", "relation") for part in parts
    ):  # a = b <= c, which most formulas are
        terms = [part.node for part in parts if part.node is not None]
        return both(
            chain(terms, [part.text for part in parts if part.tag == "relation"])
            if len(terms) > 1
            else terms
        )
    statements: list[t.Node] = []
    for statement, _ in _split(parts, ("semi", "line")):
        node = _implied(statement)
        # items joined by commas are already one 'and': the whole is one list of statements
        statements.extend(t.conjuncts(node) if len(statement) > 1 else [node])
    return both(statements)


def _split(
    parts: list[Part], tags: Collection[str]
) -> Iterator[tuple[list[Part], Part | None]]:
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
    arrows = [
        place for place, part in enumerate(parts) if part.tag in ("implies", "iff")
    ]
    cut = _last_join(parts[arrows[0] : arrows[1]]) if len(arrows) > 1 else None
    if (
        cut is not None
    ):  # the last comma between the first two arrows: there a new implication begins
        return both(
            [_implied(parts[: arrows[0] + cut]), _implied(parts[arrows[0] + cut + 1 :])]
        )
    sides: list[t.Node] = []
    for side, _ in _split(parts, ("implies", "iff")):
        runs = [run for run, _ in _split(side, ("or",))]
        items = [
            both([node for chunk in _chunks(run) for node in _quantified(*chunk)])
            for run in runs
        ]
        sides.append(
            items[0]
            if len(items) == 1
            else t.Logic("or", tuple(items), span=items[0].span.to(items[-1].span))
        )
    if not arrows:
        return sides[0]
    words = [cast("Literal['implies', 'iff']", parts[place].tag) for place in arrows]
    pairs = list(zip(words, pairwise(sides), strict=True))
    return both(
        [t.Logic(word, (x, y), span=x.span.to(y.span)) for word, (x, y) in pairs]
    )


def _chunks(parts: list[Part]) -> list[tuple[list[Part], _Conditions]]:
    """The statements with their conditions: where those of one end and the next statement begins.

    'x = 1 for c = 3/2, x = 2 for c = 1/2' are two: the same word comes again, so the item before it is new.
    """
    chunks: list[tuple[list[Part], _Conditions]] = [([], [])]
    for place, part in enumerate(parts):
        body, conditions = chunks[-1]
        ends = part.tag in _JOINS and bool(body) and _binds_letters(conditions)
        if ends and _states_more(parts[place + 1 :]):
            chunks.append(([], []))
            continue
        if part.tag == "condition":
            words = [word for word, _ in conditions]
            if (
                part.text in words
                and (cut := _last_join(conditions[-1][1])) is not None
            ):
                run = conditions[-1][1]
                chunks.append((run[cut + 1 :], []))
                del run[cut:]
            chunks[-1][1].append((part.text, []))
        elif part.tag == "aside":
            conditions.append(("(", [Part("term", part.span, node=part.node)]))
        elif conditions and conditions[-1][0] == "(":
            if part.tag not in _JOINS:
                refuse(
                    "a condition in brackets ends a statement",
                    part.span,
                    "write the condition at the end",
                )
            chunks.append(([], []))
        elif conditions:
            if part.tag == "continued":
                message = "this line continues a chain that ended with a condition"
                refuse(message, part.span, "move the condition to the end")
            conditions[-1][1].append(part)
        else:
            body.append(part)
    return [chunk for chunk in chunks if chunk[0] or chunk[1]]


def _binds_letters(conditions: _Conditions) -> bool:
    """Whether all that was said after a statement is 'for all i'."""
    return bool(conditions) and all(
        word == "for"
        and run
        and all(part.node is not None and t.is_letter(part.node) for part in run)
        for word, run in conditions
    )


def _states_more(parts: list[Part]) -> bool:
    """Whether what follows 'for all i,' is a statement of its own, and no range of i: 'sum_i x_i = 1'."""
    statement = next(run for run, _ in _split(parts, (*_JOINS, "condition")))
    signs = [part.text for part in statement if part.tag == "relation"]
    first = statement[0].node if statement else None
    return (
        bool(signs)
        and first is not None
        and any(
            isinstance(part, t.BigSum | t.Call)
            or (isinstance(part, t.Name) and part.index is not None)
            for part in t.walk(first)
        )
    )


def _last_join(parts: list[Part]) -> int | None:
    return next(
        (place for place in reversed(range(len(parts))) if parts[place].tag in _JOINS),
        None,
    )


def _quantified(body: list[Part], conditions: _Conditions) -> list[t.Node]:
    """The statement with its conditions; several statements where it has none."""
    if not body:
        body, conditions = _prefixed(conditions)
    items = _items(body)
    if not conditions:
        for before, item in pairwise(items):
            sets = (
                item.joint == "quad"
                and item.signs == ["="]
                and not [*t.every_name(item.terms[1])]
            )
            if sets and before.signs and not isinstance(before.terms[0], t.Name):
                refuse(
                    "this may be a condition of what stands before it",
                    item.terms[0].span,
                    "write 'for c = 3/2'",
                )
        found = related(items)
        return (
            found if any(item.joint == "and" for item in items) else _with_ranges(found)
        )
    nodes = related(items)
    if (
        len(nodes) == 1 and isinstance(nodes[0], t.Quantified) and len(body) > 1
    ):  # a limit that has further conditions
        conditions = [
            *(
                (("as", [Part("term", part.span, node=part)]))
                for part in nodes[0].conditions
            ),
            *conditions,
        ]
        nodes = [nodes[0].body]
    for _, group in groupby(
        conditions, lambda one: id(one) if one[0] == "some" else 0
    ):  # 'for some' stands alone
        some, runs = zip(*group, strict=True)
        said = [part for run in runs for part in _conditions(run)]
        span = t.Span(
            min(nodes[0].span.start, said[0].span.start),
            max(nodes[-1].span.stop, said[-1].span.stop),
        )
        nodes = (
            [t.Exists(both(nodes), tuple(said), span=span)]
            if "some" in some
            else said_for(nodes, said, span)
        )
    return nodes


def _conditions(run: list[Part]) -> list[t.Node]:
    """What a condition says, one thing each."""
    found: list[t.Node] = []
    for node in related(_items(run)):
        if isinstance(node, t.Quantified) and isinstance(
            node.body, t.Gap
        ):  # (for all i != a), in brackets
            found.extend(node.conditions)
        else:
            found.extend(item for part in t.conjuncts(node) for item in t.listed(part))
    return found


def _prefixed(conditions: _Conditions) -> tuple[list[Part], _Conditions]:
    """'for all i != j: x > 0', 'if c = 1 then x > 0', 'for all i != j, x > 0': the statement, and its conditions.

    Where no statement comes, the conditions belong to the formula before.
    """
    cuts = [_cut(run) for _, run in conditions]
    place = next((place for place, cut in enumerate(cuts) if cut is not None), None)
    if place is None:
        start = conditions[0][1][0].span.start if conditions[0][1] else 0
        return [
            Part("term", t.Span(start, start), node=t.Gap(span=t.Span(start, start)))
        ], conditions
    (word, run), cut = conditions[place], cuts[place]
    if not cut or not run[cut + 1 :]:
        where = run[0].span if run else t.Span(0, 0)
        refuse(
            "a condition stands here without the statement it belongs to",
            where,
            "write 'x > 0 for all i != j'",
        )
    before, after = [*conditions[:place], (word, run[:cut])], conditions[place + 1 :]
    if any(
        word == "some" for word, _ in conditions
    ):  # what comes first is said last, of all that follows
        return run[cut + 1 :], [*after, *reversed(before)]
    return run[cut + 1 :], [*before, *after]


def _cut(run: list[Part]) -> int | None:
    """Where the statement begins that follows a condition."""
    cut = next(
        (place for place, part in enumerate(run) if part.tag in ("colon", "then")), None
    )
    if (
        cut is None
        and (cut := _last_join(run)) is not None
        and len(run) == cut + 2
        and run[cut + 1].tag == "term"
    ):
        kinds = {part.text for part in run[:cut] if part.tag == "relation"}
        dots = any(isinstance(part.node, t.Dots) for part in run)
        return (
            None if (kinds and kinds <= {"!=", "in", "!in"}) or dots else cut
        )  # for all i != a, b
    if (
        cut is not None
        and run[cut].tag in _JOINS
        and run[cut + 1 :]
        and run[cut + 2 :][:1]
    ):
        same = {part.node for part in run[:cut]} & {run[cut + 1].node}
        if same and run[cut + 2].text in (
            "!=",
            "in",
            "!in",
        ):  # for all i != a and i != b
            return None
    return cut


def _limits(
    terms: list[t.Node], signs: list[str], limits: list[tuple[int, t.Node]]
) -> list[t.Node]:
    """lim x = y says x -> y under the condition; lim x = lim y = z says it of both, and x = z = w that z = w."""
    condition = limits[0][1]
    sides = {side for side, _ in limits}
    values = [place for place in range(len(terms)) if place not in sides]
    first, last = sides == {*range(len(sides))}, min(sides) > 0 and len(terms) == 2
    is_plain = (
        len(limits) == len(sides)
        and all(other == condition for _, other in limits)
        and values
        and (first or last)
        and all(sign in ("=", "->", "~") for sign in signs[: len(sides)])
    )
    if not is_plain:
        refuse(
            "limits are read at the beginning of an equation",
            condition.span,
            "write \\lim_{x \\to a} y = z",
        )
    value = terms[values[0]]
    tending: list[t.Node] = [
        _relation([terms[side], value], ["->"]) for side in sorted(sides)
    ]
    span = condition.span.to(terms[-1].span)
    found: list[t.Node] = [t.Quantified(both(tending), (condition,), span=span)]
    if len(values) > 1:
        found += chain(terms[values[0] :], signs[values[0] :])
    return [both(found)]


def _items(parts: list[Part]) -> list[Item]:
    """The items between commas, each a term or a relation."""
    found: list[Item] = []
    joint = ""
    for run, end in _split(parts, _JOINS):
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
                shown = part.tag if part.tag != "colon" else ":"
                refuse(f"{shown} cannot stand here", part.span, "write two statements")
        if len(terms) != len(signs) + 1:
            place = run[0].span if run else parts[0].span if parts else t.Span(0, 0)
            refuse("a statement is not complete", place, "write both sides")
        if limits:
            terms, signs = _limits(terms, signs, limits), []
        found.append(Item(terms, signs, negated, joint))
        joint = end.tag if end is not None else ""
    return found
