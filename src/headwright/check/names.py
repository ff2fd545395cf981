"""Names: given ones that an answer spells otherwise, and those of the answer's own.

Statements are put into the names of the exercise first (`in_given_names`): alpha_{2j} has two indices, 'Phi_s' may be
the row of the other position, s_i is the score of a key, 'i in S' is i <= m. What is left is the answer's own: it may
define such a name, or say that it is large (`Names`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from headwright.check.answer import OWN, MisfitError, comparisons, full_name, full_names, named
from headwright.check.exercise import Exercise, Front
from headwright.check.text import OTHERS, Statement, is_index
from headwright.formula import tree as t
from headwright.formula.show import plain

Patterns = Mapping[str, tuple[str, t.Node]]  # s_i = k_i^T q: of s the letter i, and the value


def in_given_names(
    statements: Sequence[Statement], exercise: Exercise, gives: Callable[[t.Name], bool]
) -> list[Statement]:
    """The statements of an answer in the names of the exercise."""
    changes: list[Callable[[t.Node], t.Node]] = [_paired_indices]
    first = None if exercise.keys is None else exercise.keys.first
    if first is not None and first.set:
        changes.append(lambda node: _without_sets(node, t.Name(first.set), t.Name(first.size)))
    if exercise.integers is not None:
        rows = exercise.integers.rows
        changes += [lambda node: _primes_of_rows(node, rows), _without_domains]
    if exercise.keys is not None:
        keys = exercise.keys
        labels = [named(f"k_{label}").index for label in keys.named]
        changes.append(lambda node: _other(node, tuple(one for one in labels if one is not None), keys.first))
    if exercise.condition:  # the other keys may lie anywhere, and c is all that is known of sums over them
        changes += [_output, lambda node: renamed(node, _singled_out(statements, exercise))]
    found = list(statements)
    for change in changes:
        found = [_everywhere(one, change) for one in found]
    return _spelled_out(_with_own_names(found, exercise, gives), exercise, gives)


def _singled_out(statements: Sequence[Statement], exercise: Exercise) -> dict[str, t.Name]:
    """'k_i^T q >> k_l^T q for l != i': i is the key that the exercise names j, if no j is spoken of."""
    labels = () if exercise.keys is None else exercise.keys.named
    nodes = [node for one in statements for node in (one.node, *one.under) if node is not None]
    if len(labels) != 1 or t.speaks_of(t.Listing(tuple(nodes)), labels[0]):
        return {}
    parts = [part for node in nodes for part in t.walk(node)]
    for part in parts:
        match part:
            case t.Relation((t.Name(letter, None, 0), t.Name(other, None, 0)), ("!=",)) if len(letter + other) == 2:
                return {other: t.Name(labels[0])}
    return {}


def _everywhere(one: Statement, change: Callable[[t.Node], t.Node]) -> Statement:
    """A statement with all of it changed: what it says, and what it is said for."""
    node = None if one.node is None else change(one.node)
    return replace(one, node=node, under=tuple(map(change, one.under)), earlier=tuple(map(change, one.earlier)))


def _without_sets(node: t.Node, called: t.Name, size: t.Name) -> t.Node:
    """The same with i <= m for 'i in S', and m for |S|, where the exercise calls the first m indices S."""
    match node:
        case t.Bond("in", left, right) if right == called:
            return t.Relation((left, size), ("<=",), span=node.span)
        case t.Logic("not", (t.Bond("in", left, right),)) if right == called:
            return t.Relation((left, size), (">",), span=node.span)
        case t.Norm(body) if body == called:
            return size
        case _:
            return t.mapped(node, lambda part: _without_sets(part, called, size))


def _other(node: t.Node, labels: tuple[t.Node, ...], first: Front | None) -> t.Node:
    """'for all other i': for all i that are none of the named keys."""
    match node:
        case t.Relation((letter, right), ("!=",)) if right == OTHERS and first is not None:
            return t.Relation((letter, t.Name(first.size)), (">",), span=node.span)
        case t.Relation((letter, right), ("!=",)) if right == OTHERS and labels:
            meant = labels[0] if len(labels) == 1 else t.Listing(labels)
            return t.Relation((letter, meant), ("!=",), span=node.span)
        case _:
            return t.mapped(node, lambda part: _other(part, labels, first))


def _paired_indices(node: t.Node) -> t.Node:
    """alpha_{2j} has two indices, 2 and j: nobody multiplies them."""
    match node:
        case t.Name("alpha", t.Product((t.Number() | t.Name() as one, t.Number() | t.Name() as other)) as index):
            return replace(node, index=t.Listing((one, other), span=index.span))
        case _:
            return t.mapped(node, _paired_indices)


def _primes_of_rows(node: t.Node, rows: str) -> t.Node:
    r"""\Phi_t' is the row of t': there is one table of positions, and no other."""
    match node:
        case t.Name(base, t.Name() as index, primes) if primes and base == rows:
            return replace(node, index=replace(index, primes=index.primes + primes), primes=0)
        case _:
            return t.mapped(node, lambda part: _primes_of_rows(part, rows))


def _without_domains(node: t.Node) -> t.Node:
    """k is an integer here anyway: 't - t' = 2 pi k, k in Z' says no more than the first half."""
    if not isinstance(node, t.Logic):
        return node
    items = [_without_domains(item) for item in node.items]
    if node.word == "and":
        items = [item for item in items if not (isinstance(item, t.Bond) and item.right == t.Domain("Z"))] or items[:1]
        return items[0] if len(items) == 1 else replace(node, items=tuple(items))
    return replace(node, items=tuple(items))


def _output(node: t.Node) -> t.Node:
    """With c for sum_i alpha_i v_i, which is its definition, and without what is multiplied by 0."""
    match node:
        case t.BigSum(index, t.Product(factors), None | t.Number(Fraction(numerator=1, denominator=1)), _, ()) if set(
            factors
        ) == {t.Name("alpha", t.Name(index)), t.Name("v", t.Name(index))} and node.upper in (None, t.Name("n")):
            return t.Name("c", span=node.span)
        case t.Inner(left, t.Number() as number) | t.Inner(t.Number() as number, left):
            return left if number.value == 1 else t.Product((number, left), span=node.span)
        case t.Sum(terms):
            kept = [term for term in map(_output, terms) if not _is_nothing(term)]
            return kept[0] if len(kept) == 1 else t.Sum(tuple(kept) or node.terms, span=node.span)
        case _:
            return t.mapped(node, _output)


def _is_nothing(term: t.Node) -> bool:
    body = term.body if isinstance(term, t.BigSum) else term
    return isinstance(body, t.Product) and any(isinstance(one, t.Number) and one.value == 0 for one in body.factors)


# Names that stand for others.


def _with_own_names(
    statements: Sequence[Statement], exercise: Exercise, gives: Callable[[t.Name], bool]
) -> list[Statement]:
    """The statements with names renamed: those the answer makes its own in words, and other names for given ones."""
    said = [one.node for one in statements if one.node is not None]
    own = {term.base for one in statements if one.role == "size" and isinstance(one.node, t.Relation)
           for term in one.node.terms[:1] if isinstance(term, t.Name)}  # fmt: skip
    own |= {name for node in said for name in _proportional(node)}
    labels = set(() if exercise.keys is None else exercise.keys.named)
    free = {name for name in own - labels if name not in exercise.parameters and name not in exercise.answer}
    defined = {name for node in said for name in defined_names(node)}
    plain_ones = {name.base for name in defined if name.index is None}
    names = {other: named(given) for other, given in exercise.also.items() if other not in plain_ones}
    names |= {name: t.Name(name + OWN) for name in free if gives(t.Name(name))}
    names |= _two_places(statements, exercise)
    bounded = _bounded(statements, exercise, {full_name(name) for name in defined})
    names |= {name: t.Name(name + OWN) for name in bounded}
    statements = _own_output(statements, exercise)
    if not names:
        return list(statements)
    meant = [
        replace(one, node=t.Relation((named(name), names[name]), ("=",)), role="claim", under=(), lets=True)
        for name, one in bounded.items()
    ]
    return meant + [_everywhere(one, lambda node: renamed(node, names)) for one in statements]


def _own_output(statements: Sequence[Statement], exercise: Exercise) -> Sequence[Statement]:
    """q = c (k_a + k_b), c = 5: the output c cannot be a factor of a query, so this c is the answer's own."""
    keys = exercise.keys
    if keys is None or "c" in exercise.parameters or any(scale.name == "c" for scale in keys.scales.values()):
        return statements
    own = {"c": t.Name("c" + OWN)}

    def is_factor(node: t.Node) -> bool:
        match node:
            case t.Relation((t.Name() as asked, value, *_), ("=", *_)):
                return full_name(asked) in exercise.answer and _bare(value)
            case _:
                return any(is_factor(item) for item in t.conjuncts(t.unquantified(node)) if item is not node)

    def is_number(node: t.Node) -> bool:
        return isinstance(node, t.Relation) and not t.speaks_of(node, "v", "alpha", "k", "q")

    if not any(one.node is not None and is_factor(one.node) for one in statements):
        return statements
    return [
        _everywhere(one, lambda node: renamed(node, own) if is_factor(node) or is_number(node) else node)
        for one in statements
    ]


def _bare(node: t.Node) -> bool:
    """Whether c occurs, and not as an index."""
    if isinstance(node, t.Name):
        return node == t.Name("c")
    return any(map(_bare, node.children())) if not isinstance(node, t.BigSum) else _bare(node.body)


def renamed(node: t.Node, names: Mapping[str, t.Name]) -> t.Node:
    """The same with other names; Sigma_k is renamed as Sigma is, but not to a name of the answer's own."""
    if isinstance(node, t.Name) and full_name(node) in names:
        return replace(names[full_name(node)], span=node.span)
    if isinstance(node, t.Name) and node.index is not None and node.base in names and OWN not in names[node.base].base:
        return replace(node, base=names[node.base].base, index=renamed(node.index, names))
    return t.mapped(node, lambda part: renamed(part, names))


def _bounded(statements: Sequence[Statement], exercise: Exercise, defined: set[str]) -> dict[str, Statement]:
    """What is asked for and only bounded, 'tau >= n/epsilon': then every value within the bound is meant to do."""
    found: dict[str, Statement] = {}
    limits = [one.node for one in statements if isinstance(one.node, t.Relation) and tends(one.node)]
    sent = {full_name(node.terms[0]) for node in limits if isinstance(node.terms[0], t.Name)}
    for one in statements:
        for link in comparisons(one.node) if isinstance(one.node, t.Relation) and one.kind != "turned" else ():
            names = {full_name(term) for term in link.terms if isinstance(term, t.Name)} - defined - sent
            for name in exercise.answer if link.comparisons[0] in ("<", ">", "<=", ">=") else ():
                if name in names:
                    found.setdefault(name, one)
    return found


def _two_places(statements: Sequence[Statement], exercise: Exercise) -> dict[str, t.Name]:
    """'Phi_t != Phi_s': s is the other position, if the answer speaks of no third one and does not say what s is."""
    setting = exercise.integers
    if setting is None or not setting.different:
        return {}
    nodes = [node for one in statements for node in (one.node, *one.under, *one.earlier) if node is not None]
    rows = {setting.rows, *(other for other, given in exercise.also.items() if given == setting.rows)}
    places = {full_name(n.index) for n in t.every_name(*nodes) if n.base in rows and isinstance(n.index, t.Name)}
    set_to = {full_name(name) for one in statements
              if isinstance(one.node, t.Relation) and one.role == "claim" and not one.under
              for link in comparisons(one.node) if link.comparisons == ("=",)
              for name in link.terms if isinstance(name, t.Name)}  # fmt: skip
    bound = {part.index for node in nodes for part in t.walk(node) if isinstance(part, t.BigSum | t.BigCall)}
    for pair in setting.also:
        third = (places | (set(setting.different[0]) & full_names(*nodes))) - set(pair)
        if set(pair) <= places and not third and not set(pair) & (set_to | bound):
            return {mine: named(given) for mine, given in zip(pair, setting.different[0], strict=True) if mine != given}
    return {}


def _proportional(node: t.Node) -> Iterator[str]:
    """What is said to be proportional to something, 'A \\propto Q K^T', is the answer's own: a factor is left open."""
    for part in t.walk(node):
        if (
            isinstance(part, t.Bond)
            and part.word == "propto"
            and isinstance(part.left, t.Name)
            and part.left.index is None
        ):
            yield part.left.base


def defined_names(node: t.Node) -> Iterator[t.Name]:
    """The names on the left of equations: what an answer may define."""
    for part in t.walk(node):
        if isinstance(part, t.Relation) and part.comparisons and part.comparisons[0] == "=":
            yield from names_on_the_left(part)


def names_on_the_left(equation: t.Relation) -> tuple[t.Name, ...]:
    """The names on the left of a definition: q, or 'q_1, q_2'; none where there is anything else."""
    items = t.listed(equation.terms[0])
    names = tuple(item for item in items if isinstance(item, t.Name))
    return names if len(names) == len(items) else ()


# Names that stand for a formula.


def _spelled_out(
    statements: Sequence[Statement], exercise: Exercise, gives: Callable[[t.Name], bool]
) -> list[Statement]:
    """With s_i = k_i^T q in place of s_a, s_1, s_j, where the answer defines s_i so."""
    patterns = _scores(statements, exercise, gives)
    told: set[str] = set()
    found: list[Statement] = []
    for one in statements:
        made = None if one.node is None else _pattern(one.node, exercise, gives)
        if made is not None and made[0] not in told:
            told.add(made[0])
            patterns[made[0]] = made[1:]
        else:
            found.append(one)
    return [_without_patterns(one, patterns) for one in found] if patterns else found


def _scores(
    statements: Sequence[Statement], exercise: Exercise, gives: Callable[[t.Name], bool]
) -> dict[str, tuple[str, t.Node]]:
    """s_i is the score of key i, unless the exercise or the answer says otherwise."""
    one_query = exercise.keys is not None and not any(name.startswith("q_") for name in exercise.answer)
    mine = {name.base for one in statements if one.node is not None for name in defined_names(one.node)}
    if not one_query or "s" in mine or gives(t.Name("s", t.Name("i"))) or gives(t.Name("s")):
        return {}
    return {"s": ("i", t.Product((t.Transpose(t.Name("k", t.Name("i"))), t.Name("q"))))}


def _pattern(node: t.Node, exercise: Exercise, gives: Callable[[t.Name], bool]) -> tuple[str, str, t.Node] | None:
    """The name, the letter and the value of a definition such as s_i = k_i^T q."""
    match node:
        case t.Quantified(body, conditions) if all(map(is_index, conditions)):
            return _pattern(body, exercise, gives)
        case t.Relation((t.Name(base, t.Name(letter, None, 0), 0) as name, value), ("=",)) if not gives(name):
            key = exercise.keys is not None and letter in exercise.keys.named
            used = any(name.index == t.Name(letter) for name in t.every_name(value))
            return (base, letter, value) if used and not key and not t.speaks_of(value, base) else None
        case _:
            return None


def _without_patterns(one: Statement, patterns: Patterns) -> Statement:
    try:
        return _everywhere(one, lambda node: _written_out(node, patterns))
    except MisfitError as error:
        return replace(one, node=None, problem=error.shown())


def _written_out(node: t.Node, patterns: Patterns) -> t.Node:
    if isinstance(node, t.Name) and node.index is not None and node.base in patterns and not node.primes:
        letter, value = patterns[node.base]
        bound = {part.index for part in t.walk(value) if isinstance(part, t.BigSum)}
        if t.speaks_of(node.index, *bound):
            raise MisfitError(f"the index of {plain(node)} means two things", node)
        return t.with_index(value, letter, node.index)
    return t.mapped(node, lambda part: _written_out(part, patterns))


# Names of the answer's own.


def tends(node: t.Node) -> bool:
    """'lambda is large': where a name goes."""
    return isinstance(node, t.Relation) and node.comparisons == ("->",)


@dataclass(frozen=True)
class Names:
    """Which names are whose, as far as an answer has come: it may still define more."""

    exercise: Exercise
    gives: Callable[[t.Name], bool]
    defined: frozenset[str] = frozenset()

    def is_own(self, node: t.Node) -> bool:
        """A name that is neither given nor defined."""
        return isinstance(node, t.Name) and not self.gives(node) and full_name(node) not in self.defined

    def is_set(self, name: t.Name) -> bool:
        """Whether the exercise calls some of the indices so."""
        first = None if self.exercise.keys is None else self.exercise.keys.first
        return first is not None and first.set == full_name(name)

    def defines(self, node: t.Node) -> bool:
        """Whether an equation defines what is asked for, or a name of the answer's own."""
        if not isinstance(node, t.Relation) or node.comparisons[0] != "=":
            return False
        names, right = names_on_the_left(node), node.terms[1]
        for name in names:
            full = full_name(name)
            wanted = full in self.exercise.answer or full in self.exercise.redefines
            inside = full in full_names(right) or (name.index is None and t.speaks_of(right, name.base))
            own = not self.gives(name) and not inside
            if not (wanted or own):
                return False
        return len(names) == 1 or (len(names) > 1 and isinstance(right, t.Listing) and len(right.items) == len(names))

    def bounds_own(self, node: t.Node) -> bool:
        """Whether a link speaks of a name of the answer's own, alone on a side: lambda > 0, t >> n, e^t >> n."""
        if not isinstance(node, t.Relation) or node.comparisons[0] in ("=", "~"):
            return False
        if self.exercise.condition and t.speaks_of(node, "q"):
            return False  # a condition on the scores is what is asked for
        if node.comparisons[0] in (">>", "<<"):
            names = list(t.every_name(node.terms[node.comparisons[0] == "<<"]))
            own = [name for name in names if self.is_own(name)]
            if own and all(name in own or full_name(name) in ("e", "pi") for name in names):
                return True
        return any(map(self.is_own, node.terms))

    def about_own(self, node: t.Node) -> bool:
        """Whether a condition is about a name of the answer's own: lambda > 0, lambda -> infinity, lambda = 2."""
        if not isinstance(node, t.Relation):
            return False
        return any(map(self.bounds_own, comparisons(node))) or self.defines(node)

    def chosen(self, chain: t.Relation) -> list[bool]:
        """Which links of a chain say how a name of the answer's own is chosen.

        In 'k_a^T q = lambda > 0' lambda > 0 is a result: a name is chosen at the ends of a chain, or all along it.
        """
        links = list(comparisons(chain))
        own = [self.bounds_own(link) for link in links]
        if all(own):
            return own
        ends = [term for term in (chain.terms[0], chain.terms[-1]) if isinstance(term, t.Name | t.Listing | t.Call)]
        at_an_end = {item for end in ends for item in (end, *t.listed(end))}
        return [mine and bool(at_an_end & set(link.terms)) for mine, link in zip(own, links, strict=True)]

    def case(self, under: Sequence[t.Node], value: t.Node) -> tuple[t.Node, ...]:
        """What is assumed of the given: not of indices, not of names of the value's own, not 'for all n'."""
        given = [one for one in under if not isinstance(one, t.Name | t.Listing) and not is_index(one)]
        inside = full_names(value)
        return tuple(one for one in given if not (self.about_own(one) and (full_names(one) & inside or tends(one))))
