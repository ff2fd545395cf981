"""An answer taken apart: what it defines, what it says of its own names, and what it claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

from headwright.check.exercise import Exercise
from headwright.errors import InputError
from headwright.formula import FormulaError, parse_lines
from headwright.formula.tree import (
    Bond,
    Domain,
    Listing,
    Logic,
    Name,
    Node,
    Number,
    Power,
    Quantified,
    Relation,
    walk,
)


class MisfitError(InputError):
    """A name that the exercise does not know, a sum of a number and a vector; says where and how to mend it."""

    def __init__(self, message: str, node: Node, fix: str = "") -> None:
        """The node is where it was seen."""
        super().__init__(message)
        self.message, self.node, self.fix = message, node, fix

    def shown(self) -> FormulaError:
        """The same with a caret under the place, in the formula where it was written."""
        return FormulaError(self.message, "", self.node.span, fix=self.fix)


class WrongKindError(MisfitError):
    """Vectors of two spaces are mixed: that is wrong, not unreadable."""


class MissingError(MisfitError):
    """What was asked for is used, and no formula defines it."""


SIGNS = {"=": eq, "~": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge}


def comparisons(chain: Relation) -> Iterator[Relation]:
    """The links of a chain; lists on both sides are compared item by item, a list and one thing each item with it.

    A pair is different where one of its items is: that link stays whole.

    >>> from headwright.formula import parse
    >>> from headwright.formula.show import plain
    >>> [plain(link) for link in comparisons(parse("a, b = c <= d"))]
    ['a = c', 'b = c', 'c <= d']
    """
    for a, sign, b in zip(chain.terms[:-1], chain.comparisons, chain.terms[1:], strict=True):
        for x, y in [(a, b)] if sign == "!=" and pairs(a, b) else _paired(a, b):
            yield Relation((x, y), (sign,), span=x.span.to(y.span))


def pairs(a: Node, b: Node) -> tuple[tuple[Node, Node], ...]:
    """Two lists of one length as pairs of their items; nothing where they are not."""
    if isinstance(a, Listing) and isinstance(b, Listing) and len(a.items) == len(b.items):
        return tuple(zip(a.items, b.items, strict=True))
    return ()


def _paired(a: Node, b: Node) -> list[tuple[Node, Node]]:
    left = a.items if isinstance(a, Listing) else (a,)
    right = b.items if isinstance(b, Listing) else (b,)
    if len(left) == len(right):
        return list(zip(left, right, strict=True))
    if len(left) == 1 or len(right) == 1:
        return [(x, y) for x in left for y in right]
    return [(a, b)]


def compared(left: Fraction, sign: str, right: Fraction) -> bool:
    """Whether a comparison of two numbers is true.

    >>> compared(Fraction(1), "<=", Fraction(2))
    True
    """
    return bool(SIGNS[sign](left, right))


MOST_FORMULAS = 200


@dataclass(frozen=True)
class Formula:
    """A formula as it was written, and the line of its file (counted from 1).

    >>> Formula("q = k_a", 3).line
    3
    """

    text: str
    line: int
    beside: str = field(default="", repr=False)  # a word near it that may turn what is meant: 'or', 'except'


@dataclass(frozen=True)
class Said:
    """One statement of an answer, and the formula it stands in."""

    node: Node
    formula: Formula


@dataclass
class Answer:
    """An answer taken apart."""

    definitions: dict[str, Said] = field(default_factory=dict)
    conditions: list[Said] = field(default_factory=list)  # on names of the answer's own: lambda > 0, t >> n
    claims: list[Said] = field(default_factory=list)


def label(index: Node | None) -> str:
    """An index as text: k_a has 'a', k_1 has '1'; '' for none or a compound one."""
    match index:
        case Name(base, None, primes):
            return base + "'" * primes
        case Number(value) if value.denominator == 1:
            return str(value)
        case _:
            return ""


def full_name(name: Name) -> str:
    """A name as it is known in an exercise: q, q_1, t'.

    >>> full_name(Name("alpha", Listing((Name("i"), Name("j")))))
    'alpha_i,j'
    """
    inner = ",".join(label(item) for item in name.index.items) if isinstance(name.index, Listing) else label(name.index)
    return name.base + (f"_{inner}" if name.index is not None else "") + "'" * name.primes


def named(full: str) -> Name:
    """The name that full_name writes so.

    >>> named("q_1") == Name("q", Number(Fraction(1)))
    True
    """
    base, _, index = full.partition("_")
    if not index:
        return Name(base.rstrip("'"), primes=base.count("'"))
    return Name(base, Number(Fraction(index)) if index.isdigit() else Name(index))


def read_answer(exercise: Exercise, formulas: Sequence[Formula], known: Callable[[Name], bool]) -> Answer:
    """Parse the formulas and sort their statements; `known` tells the names that the exercise gives.

    A name that the exercise does not give is defined by 'name = ...', and bounded by 'name >> ...' or 'name > ...'.
    """
    if len(formulas) > MOST_FORMULAS:
        raise MisfitError(f"there are {len(formulas)} formulas, expected at most {MOST_FORMULAS}", Name("q"))
    answer = Answer()
    sayings: list[Said] = []
    for formula in formulas:
        sayings += [Said(node, formula) for node in parse_lines(formula.text, names=tuple(exercise.parameters))]
    for said in sayings:
        _sort(said, exercise, answer, known)
    _judge_late(answer, known)
    return answer


def _judge_late(answer: Answer, known: Callable[[Name], bool]) -> None:
    """What was said of a name before its definition came is a claim about what was defined."""
    early = [said for said in answer.conditions if not _bounds_own(said.node, answer, known)]
    answer.conditions = [said for said in answer.conditions if said not in early]
    answer.claims += early


def _sort(said: Said, exercise: Exercise, answer: Answer, known: Callable[[Name], bool]) -> None:
    match said.node:
        case Logic("and", items):
            for item in items:
                _sort(Said(item, said.formula), exercise, answer, known)
        case Logic("implies", (condition, conclusion)) if _opens(condition, exercise, answer, known):
            _sort(Said(condition, said.formula), exercise, answer, known)  # q = ..., hence ...
            _sort(Said(conclusion, said.formula), exercise, answer, known)
        case Quantified(body, conditions) if _defines(body, exercise, answer, known):
            for item in (body, *(part for part in conditions if not isinstance(part, Name))):
                _sort(Said(item, said.formula), exercise, answer, known)
        case Bond("in", _, Domain("R") | Power(Domain("R"), _)):
            pass  # lambda is a real number: what else?
        case Relation(terms, _) if _defines(said.node, exercise, answer, known):
            _define(said, terms, exercise, answer, known)
        case Relation() if any(_bounds_own(link, answer, known) for link in comparisons(said.node)):
            # Of 'n <= 2 <= lambda' only the second half is about lambda: the first must not restrict the exercise.
            for link in comparisons(said.node):
                own = _bounds_own(link, answer, known)
                (answer.conditions if own else answer.claims).append(Said(link, said.formula))
        case _:
            answer.claims.append(said)


def _opens(node: Node, exercise: Exercise, answer: Answer, known: Callable[[Name], bool]) -> bool:
    """Whether what stands before 'hence' defines something that was asked for."""
    items = node.items if isinstance(node, Logic) and node.word == "and" else (node,)
    return any(_defines(item, exercise, answer, known) and _wanted(item, exercise) for item in items)


def _wanted(node: Node, exercise: Exercise) -> bool:
    return isinstance(node, Relation) and any(full_name(name) in exercise.answer for name in _names(node.terms[0]))


def _defines(node: Node, exercise: Exercise, answer: Answer, known: Callable[[Name], bool]) -> bool:
    if not isinstance(node, Relation) or node.comparisons[0] != "=":
        return False
    names = _names(node.terms[0])
    if not names:
        return False
    for name in names:
        full = full_name(name)
        wanted = full in exercise.answer or full in exercise.redefines
        own = not known(name) and full not in answer.definitions and not _mentions(node.terms[1], full)
        if not (wanted or own) or full in answer.definitions:
            return False
    right = node.terms[1]
    return len(names) == 1 or (isinstance(right, Listing) and len(right.items) == len(names))


def _names(node: Node) -> tuple[Name, ...]:
    """The names on the left of a definition: q, or 'q_1, q_2'."""
    items = node.items if isinstance(node, Listing) else (node,)
    return tuple(item for item in items if isinstance(item, Name)) if all(isinstance(i, Name) for i in items) else ()


def _define(
    said: Said, terms: tuple[Node, ...], exercise: Exercise, answer: Answer, known: Callable[[Name], bool]
) -> None:
    names = _names(terms[0])
    values = terms[1].items if len(names) > 1 and isinstance(terms[1], Listing) else (terms[1],)
    for name, value in zip(names, values, strict=True):
        answer.definitions[full_name(name)] = Said(value, said.formula)
    node = said.node
    if len(terms) > 2 and isinstance(node, Relation):  # q = a = b: q is a, and that a = b is a claim
        rest = Relation(terms[1:], node.comparisons[1:], span=node.span)
        _sort(Said(rest, said.formula), exercise, answer, known)


def _mentions(node: Node, full: str) -> bool:
    return any(isinstance(part, Name) and full_name(part) == full for part in walk(node))


def _bounds_own(node: Node, answer: Answer, known: Callable[[Name], bool]) -> bool:
    """Whether a link speaks of a name of the answer's own, alone on a side: lambda > 0, t >> n."""
    if not isinstance(node, Relation) or node.comparisons[0] in ("=", "~"):
        return False
    names = [term for term in node.terms if isinstance(term, Name)]
    return any(not known(name) and full_name(name) not in answer.definitions for name in names)
