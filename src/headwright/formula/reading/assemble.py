"""The parts of a statement put together: lines, implications, conditions, lists and relations."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, cast

from headwright.formula.reading.relations import Fail, Item, index_conditions, related
from headwright.formula.tree import Comparison, Listing, Logic, Node, Quantified, Span


@dataclass(frozen=True)
class Part:
    """A term, or what stands between terms."""

    tag: str
    span: Span
    text: str = ""
    node: Node | None = None


Joined = list[Part]


def assembled(parts: Joined, fail: Fail) -> Node:
    """All parts as one node: several statements become one 'and'."""
    statements: list[Node] = []
    for statement, _ in _split(parts, ("semi", "line")):
        node = _implied(statement, fail)
        # items joined by commas are already one 'and': the whole is one list of statements
        plain = isinstance(node, Logic) and node.word == "and" and len(statement) > 1
        statements.extend(node.children() if plain else [node])
    return _both(statements)


def _both(items: list[Node]) -> Node:
    if len(items) == 1:
        return items[0]
    return Logic("and", tuple(items), span=items[0].span.to(items[-1].span))


def _split(parts: Joined, tags: Collection[str]) -> Iterator[tuple[Joined, Part | None]]:
    """The runs between parts of these tags, each with the part that ends it."""
    run: Joined = []
    for part in parts:
        if part.tag in tags:
            yield run, part
            run = []
        else:
            run.append(part)
    yield run, None


def _implied(parts: Joined, fail: Fail) -> Node:
    """A => B <=> C: each step is a statement; A => B, C => D are two implications."""
    cut = _between_arrows(parts)
    if cut is not None:
        return _both([_implied(parts[:cut], fail), _implied(parts[cut + 1 :], fail)])
    sides: list[Node] = []
    signs: list[Part] = []
    for run, sign in _split(parts, ("implies", "iff")):
        sides.append(_either(run, fail))
        if sign is not None:
            signs.append(sign)
    if not signs:
        return sides[0]
    steps: list[Node] = []
    for place, sign in enumerate(signs):
        left, right = sides[place], sides[place + 1]
        word = cast("Literal['implies', 'iff']", sign.tag)
        steps.append(Logic(word, (left, right), span=left.span.to(right.span)))
    return _both(steps)


def _between_arrows(parts: Joined) -> int | None:
    """The last comma between the first two arrows: there a new implication begins."""
    arrows = [place for place, part in enumerate(parts) if part.tag in ("implies", "iff")]
    if len(arrows) < 2:
        return None
    cut = _last_join(parts[arrows[0] : arrows[1]])
    return None if cut is None else arrows[0] + cut


def _either(parts: Joined, fail: Fail) -> Node:
    items = [_said(run, fail) for run, _ in _split(parts, ("or",))]
    if len(items) == 1:
        return items[0]
    return Logic("or", tuple(items), span=items[0].span.to(items[-1].span))


@dataclass
class _Chunk:
    """A statement with its conditions, as parts."""

    body: Joined
    conditions: list[tuple[str, Joined]]


def _said(parts: Joined, fail: Fail) -> Node:
    """Statements, each with what it is said for."""
    nodes: list[Node] = []
    for chunk in _chunks(parts, fail):
        nodes.extend(_quantified(chunk, fail))
    return _both(nodes)


def _chunks(parts: Joined, fail: Fail) -> list[_Chunk]:
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
            if part.tag not in ("comma", "and", "quad"):
                fail("a condition in brackets ends a statement", part.span, "write the condition at the end")
            chunks.append(_Chunk([], []))
        elif chunk.conditions:
            if part.tag == "continued":
                fail(
                    "this line continues a chain that ended with a condition",
                    part.span,
                    "move the condition to the end",
                )
            chunk.conditions[-1][1].append(part)
        else:
            chunk.body.append(part)
    return [chunk for chunk in chunks if chunk.body or chunk.conditions]


def _last_join(parts: Joined) -> int | None:
    return next((place for place in reversed(range(len(parts))) if parts[place].tag in ("comma", "and", "quad")), None)


def _quantified(chunk: _Chunk, fail: Fail) -> list[Node]:
    """The statement with its conditions; several statements where it has none."""
    body, conditions = chunk.body, chunk.conditions
    if not body:
        body, conditions = _prefixed(conditions, fail)
    items = _items(body, fail)
    if not conditions:
        return _with_indices(items, fail)
    nodes = related(items, fail)
    found: list[Node] = []
    for word, run in conditions:
        for node in related(_items(run, fail), fail):
            inner = isinstance(node, Logic) and node.word == "and" and word == "("
            for part in node.children() if inner else (node,):
                found.extend(part.items if isinstance(part, Listing) else (part,))
    whole = _both(nodes)
    if isinstance(whole, Quantified) and len(nodes) == 1 and len(body) > 1:  # a limit that has further conditions
        found = [*whole.conditions, *found]
        whole = whole.body
    return [Quantified(whole, tuple(found), span=nodes[0].span.to(found[-1].span))]


def _with_indices(items: list[Item], fail: Fail) -> list[Node]:
    """Statements, where 'x_i = 0, i != a' says for which i it is meant."""
    nodes: list[Node] = []
    start = 0
    while (found := index_conditions(items, start)) is not None:
        *others, last = related(items[start : found[0]], fail)
        named = related(items[found[0] : found[1]], fail)
        nodes += [*others, Quantified(last, tuple(named), span=last.span.to(named[-1].span))]
        start = found[1]
    return nodes + related(items[start:], fail)


def _prefixed(conditions: list[tuple[str, Joined]], fail: Fail) -> tuple[Joined, list[tuple[str, Joined]]]:
    """'for all i != j: x > 0', 'if c = 1 then x > 0', 'for all i != j, x > 0': the statement comes last."""
    word, run = conditions[0]
    cut = next((place for place, part in enumerate(run) if part.tag in ("colon", "then")), None)
    if cut is None:
        cut = _last_join(run)
    if cut is None or not run[:cut] or not run[cut + 1 :]:
        place = run[0].span if run else Span(0, 0)
        fail("a condition stands here without the statement it belongs to", place, "write 'x > 0 for all i != j'")
    return run[cut + 1 :], [(word, run[:cut]), *conditions[1:]]


def _items(parts: Joined, fail: Fail) -> list[Item]:
    """The items between commas, each a term or a relation."""
    items: list[Item] = []
    joint = ""
    for run, end in _split(parts, ("comma", "and", "quad")):
        items.append(_item(run, joint, fail))
        joint = end.tag if end is not None else ""
    return items


def _item(run: Joined, joint: str, fail: Fail) -> Item:
    terms: list[Node] = []
    signs: list[Comparison] = []
    limits: list[tuple[int, Node]] = []
    negated = 0
    for part in run:
        if part.tag == "term" and part.node is not None:
            terms.append(part.node)
        elif part.tag in ("relation", "continued"):
            signs.append(cast("Comparison", part.text))
        elif part.tag == "limit" and part.node is not None:
            limits.append((len(terms), part.node))
        elif part.tag == "not" and not terms:
            negated += 1
        else:
            fail(f"{part.tag if part.tag != 'colon' else ':'} cannot stand here", part.span, "write two statements")
    if len(terms) != len(signs) + 1:
        fail("a statement is not complete", run[0].span if run else Span(0, 0), "write both sides")
    return Item(terms, signs, limits, negated, joint)
