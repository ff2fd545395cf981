"""What the provers see of an answer: definitions, bounds on its own names, claims; names and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

from headwright.errors import HeadwrightError, InputError
from headwright.formulas import FormulaError
from headwright.formulas import tree as t
from headwright.formulas.shapes import spelt
from headwright.grading.exercise import Exercise, parsed

OWN = "_own"  # a name of the answer's own that the exercise has too: 'with a large constant c'


class MisfitError(InputError):
    """A name that the exercise does not know, a sum of a number and a vector; says where and how to mend it."""

    def __init__(self, message: str, node: t.Node, fix: str = "") -> None:
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


class UndeterminedError(HeadwrightError):
    """A quantity that the givens do not determine, such as how two unnamed keys lie to one another."""


SIGNS = {"=": eq, "~": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge}


def comparisons(chain: t.Relation) -> Iterator[t.Relation]:
    """The links of a chain; lists on both sides are compared item by item, a list and one thing each item with it.

    A pair is different where one of its items is: that link stays whole.
    """
    for a, sign, b in zip(
        chain.terms[:-1], chain.comparisons, chain.terms[1:], strict=True
    ):
        left, right = t.listed(a), t.listed(b)
        found = (
            [(x, y) for x in left for y in right]
            if 1 in (len(left), len(right))
            else list(pairs(a, b))
        )
        for x, y in found if found and not (sign == "!=" and pairs(a, b)) else [(a, b)]:
            yield t.Relation((x, y), (sign,), span=x.span.to(y.span))


def pairs(a: t.Node, b: t.Node) -> tuple[tuple[t.Node, t.Node], ...]:
    """Two lists of one length as pairs of their items; nothing where they are not."""
    if (
        isinstance(a, t.Listing)
        and isinstance(b, t.Listing)
        and len(a.items) == len(b.items)
    ):
        return tuple(zip(a.items, b.items, strict=True))
    return ()


def compared(left: Fraction, sign: str, right: Fraction) -> bool:
    """Whether a comparison of two numbers is true."""
    return bool(SIGNS[sign](left, right))


def redefined(under: Sequence[t.Node], exercise: Exercise) -> dict[str, t.Relation]:
    """The given names for which something else is assumed, with what is: 'if x_2 = u_a + u_d, then ...'."""
    said = [
        part
        for part in under
        if isinstance(part, t.Relation) and part.comparisons == ("=",)
    ]
    return {
        full_name(one.terms[0]): one
        for one in said
        if isinstance(one.terms[0], t.Name)
        and full_name(one.terms[0]) in exercise.redefines
    }


@dataclass(frozen=True)
class Said:
    """One statement of an answer, with its text and line; `follows`: it is said to follow from what stands before."""

    node: t.Node
    text: str = ""
    line: int = 0
    follows: bool = False


@dataclass(frozen=True)
class Answer:
    """One reading of an answer: what its names are, and what is claimed."""

    definitions: Mapping[str, Said] = field(default_factory=dict)
    conditions: tuple[
        Said, ...
    ] = ()  # on names of the answer's own: lambda > 0, t >> n
    claims: tuple[Said, ...] = ()


def label(index: t.Node | None) -> str:
    """An index as text: k_a has 'a', k_1 has '1'; '' for none or a compound one."""
    match index:
        case t.Name(base, None, primes):
            return base + "'" * primes
        case t.Number(value) if value.denominator == 1:
            return str(value)
        case _:
            return ""


def full_name(name: t.Name) -> str:
    """A name as it is known in an exercise: q, q_1, t'."""
    if isinstance(name.index, t.Sum):
        return spelt(name)  # A_{k-1}
    inner = ",".join(map(label, t.listed(name.index))) if name.index is not None else ""
    return (
        name.base + (f"_{inner}" if name.index is not None else "") + "'" * name.primes
    )


def names_in(node: t.Node) -> Iterator[t.Name]:
    """The names in a formula. Those inside an index are labels or places: W_Q does not speak of Q."""
    if isinstance(node, t.Name):
        yield node
    else:
        for part in node.children():
            yield from names_in(part)


def full_names(*nodes: t.Node | None) -> set[str]:
    """All names in some nodes, as they are known in an exercise."""
    return {full_name(name) for name in t.every_name(*nodes)}


def named(full: str) -> t.Name:
    """The name that full_name writes so."""
    base, _, index = full.partition("_")
    if not index:
        return t.Name(base.rstrip("'"), primes=base.count("'"))
    if index.startswith("{") and isinstance(found := parsed(full), t.Name):
        return found
    return t.Name(base, t.Number(Fraction(index)) if index.isdigit() else t.Name(index))


def given_numbers(exercise: Exercise) -> set[str]:
    """The numbers that an exercise leaves open: its parameters, and sizes of matrices."""
    return {*exercise.parameters, *exercise.kind.numbers()}


def given_and_drawn_numbers(exercise: Exercise) -> set[str]:
    """The same, and numbers that are random: lengths of keys."""
    return given_numbers(exercise) | set(exercise.kind.drawn_numbers())


MOMENTS = ("E", "Var", "Cov")
CHANCE = ("P", *MOMENTS)


def speaks_of_chance(node: t.Node) -> bool:
    """Whether a probability, a mean or a variance occurs."""
    calls = [part for part in t.walk(node) if isinstance(part, t.Call)]
    return any(call.function in CHANCE for call in calls)


def speaks_of_moments(node: t.Node) -> bool:
    """Whether means, variances or covariances occur."""
    calls = [part for part in t.walk(node) if isinstance(part, t.Call)]
    return any(call.function in MOMENTS for call in calls)


def about_the_given(node: t.Node, exercise: Exercise) -> bool:
    """Whether a relation speaks of given numbers only, n = 2 or g > 1: then it is a case, or a truth, and no result."""
    names = full_names(node)
    if speaks_of_moments(node):
        return False  # a moment is the same in all cases
    return bool(names) and names <= given_and_drawn_numbers(exercise)
