"""An answer taken apart: what it defines, what it says of its own names, and what it claims; `sorting` does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

from headwright.check.exercise import Exercise, parsed
from headwright.check.reading.statements import FLIPPED, Statement
from headwright.check.reading.written import Formula
from headwright.errors import InputError
from headwright.formula import FormulaError
from headwright.formula.shapes import spelt
from headwright.formula.tree import (
    Call,
    Listing,
    Name,
    Negative,
    Node,
    Number,
    Quotient,
    Relation,
    Sum,
    walk,
)

OWN = "_own"  # a name of the answer's own that the exercise has too: 'with a large constant c'


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


def redefined(under: Sequence[Node], exercise: Exercise) -> dict[str, Relation]:
    """The given names for which something else is assumed, with what is: 'if x_2 = u_a + u_d, then ...'."""
    said = [part for part in under if isinstance(part, Relation) and part.comparisons == ("=",)]
    return {full_name(one.terms[0]): one for one in said
            if isinstance(one.terms[0], Name) and full_name(one.terms[0]) in exercise.redefines}  # fmt: skip


@dataclass(frozen=True)
class Said:
    """One statement of an answer, and the formula it stands in.

    `perhaps` is what it may be said for, and `unknown` the words of a condition that was not understood: with either,
    it counts only where that makes no difference.
    """

    node: Node
    formula: Formula
    perhaps: tuple[Node, ...] = ()
    unknown: str = ""
    granted: bool = False  # 'with A = B': if that is not always so, it is a condition and no claim
    statement: Statement | None = None


@dataclass(frozen=True)
class Variant:
    """What is asked for, defined for a case ('for n = 2') or as an example ('for instance')."""

    definitions: dict[str, Said]
    conditions: tuple[Said, ...]
    under: tuple[Node, ...]
    said: Said
    example: bool = False


@dataclass
class Answer:
    """An answer taken apart."""

    definitions: dict[str, Said] = field(default_factory=dict)
    conditions: list[Said] = field(default_factory=list)  # on names of the answer's own: lambda > 0, t >> n
    claims: list[Said] = field(default_factory=list)
    assumptions: list[Said] = field(default_factory=list)  # on what the exercise gives: assume n >= 3
    variants: list[Variant] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    elsewhere: list[tuple[dict[str, Said], list[Said]]] = field(default_factory=list)  # a given name defined anew
    by_cases: bool = False  # what is asked for is given case by case only
    terse: bool = False  # nothing is said in words that may change what the formulas say


@dataclass(frozen=True)
class Unread:
    """A statement that is not judged, and why; `error` where it is a formula that cannot be read."""

    statement: Statement
    why: str
    error: FormulaError | None = None
    decides: bool = False  # what it says may change what other statements mean


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
    if isinstance(name.index, Sum):
        return spelt(name)  # A_{k-1}
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
    if index.startswith("{") and isinstance(found := parsed(full), Name):
        return found
    return Name(base, Number(Fraction(index)) if index.isdigit() else Name(index))


def number_of(node: Node) -> Fraction | None:
    """The number that is written out; None where something else is written.

    >>> number_of(Negative(Quotient(Number(Fraction(1)), Number(Fraction(2)))))
    Fraction(-1, 2)
    """
    match node:
        case Number(value):
            return value
        case Negative(body):
            inner = number_of(body)
            return None if inner is None else -inner
        case Quotient(Number(over), Number(under)) if under != 0:
            return over / under
        case _:
            return None


def about_parameters(node: Node, exercise: Exercise) -> bool:
    """Whether a condition restricts the parameters of the exercise, and nothing else: n >= 3."""
    names, given = [part for part in walk(node) if isinstance(part, Name)], given_numbers(exercise)
    return bool(names) and all(full_name(name) in given for name in names)


def given_numbers(exercise: Exercise) -> set[str]:
    """The numbers that an exercise leaves open: its parameters, and the sizes of its matrices."""
    shapes = () if exercise.matrices is None else exercise.matrices.shapes.values()
    return {*exercise.parameters, *(size for shape in shapes for size in shape if isinstance(size, str))}


def about_the_given(node: Node, exercise: Exercise) -> bool:
    """Whether a relation speaks of given numbers only, n = 2 or g > 1: then it is a case, or a truth, and no result."""
    names = {full_name(part) for part in walk(node) if isinstance(part, Name)}
    if any(isinstance(part, Call) and part.function in ("E", "Var", "Cov") for part in walk(node)):
        return False  # a moment is the same in all cases
    given = given_numbers(exercise)
    if exercise.keys is not None:
        given |= {scale.name for scale in exercise.keys.scales.values()}
    if exercise.matrices is not None:
        given |= {full_name(part) for source in exercise.matrices.assume for part in walk(parsed(source))
                  if isinstance(part, Name)}  # fmt: skip
    return bool(names) and names <= given


def flips(node: Node) -> bool:
    """Whether its opposite is one comparison too: that of n >= 3 is n < 3."""
    return isinstance(node, Relation) and len(node.terms) == 2 and node.comparisons[0] in FLIPPED
