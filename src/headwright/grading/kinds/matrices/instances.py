"""Small matrices that satisfy what is given, and statements at them, in balls: a difference is certain.

They refute what is false, and an outcome that they contradict is an error. What they are made of is what is given
(`known`), and nothing that proves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, permutations, product
from random import Random
from typing import Self

from flint import arb_mat, ctx, fmpq, fmpq_mat

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.errors import ShapeError
from headwright.formulas.evaluate import (
    DEFAULT_BITS,
    Budget,
    NoValue,
    ball,
    evaluate,
    precision,
    scalar,
)
from headwright.formulas.shapes import Shape, spelt
from headwright.grading.answer import comparisons, names_in
from headwright.grading.decision import Decision, Example
from headwright.grading.judging import Outcome, decided_instead
from headwright.grading.kinds.matrices.known import Given, Known
from headwright.grading.recheck.instances import ExplicitInstance, holds
from headwright.grading.recheck.outcomes import (
    UNCONFIRMED,
    confirmed,
)

Values = list[list[Fraction]]
MOST_COMBINATIONS = 40
MOST_CHOICES = 20_000
VARIANTS = 12
INSTANCES = 12  # at which a proof is looked at
LISTED_PERMUTATIONS = 4  # up to this size every permutation is tried


def examples(
    known: Known,
    names: frozenset[str],
    integers: frozenset[str],
    fixed: Mapping[str, int] | None = None,
    random: Random | None = None,
) -> Iterator[Example]:
    """Values for names without a definition and for integers; all facts hold exactly. Assumptions are not looked at.

    Small sizes come first, unless the order is random; those that are fixed may be larger than is usual.
    """
    choices = [
        (sizes, variant)
        for sizes in _sizes_to_try(known, integers, fixed)
        for variant in range(max(VARIANTS, max(sizes.values(), default=0) + 5))
    ]
    if random is not None:
        random.shuffle(choices)
    for sizes, variant in choices:
        used: dict[int, int] = {}
        values: dict[str, Values] = {}
        has_room = True
        for name in sorted(names):
            rows, columns = sized(known.given.shapes[name], sizes)
            values[name] = _value(known, name, rows, columns, variant, used)
            has_room = has_room and len(values[name][0]) == columns
        if has_room:
            yield Example(sizes, values)


def _sizes_to_try(
    known: Known, integers: frozenset[str], fixed: Mapping[str, int] | None
) -> list[dict[str, int]]:
    """Combinations of sizes in which matrices with the facts exist, the smallest first."""
    usual = [size for sizes in known.given.sizes.values() for size in sizes]
    every: Sequence[int] = range(1, max(usual, default=3) + 1)
    ranges = {name: known.given.sizes.get(name, every) for name in sorted(integers)}
    if fixed:
        upto = range(1, max(fixed.values()) + 1)
        ranges = {name: (fixed[name],) if name in fixed else upto for name in ranges}
    combinations: list[dict[str, int]] = []
    for choice in islice(product(*ranges.values()), MOST_CHOICES):
        sizes = dict(zip(ranges, choice, strict=True))
        if _allowed(known, sizes):
            combinations.append(sizes)
    combinations.sort(key=lambda sizes: (sum(sizes.values()), sorted(sizes.items())))
    return combinations[:MOST_COMBINATIONS]


def _allowed(known: Known, sizes: Mapping[str, int]) -> bool:
    """Whether matrices with the facts exist in these sizes."""
    for about, facts in known.given.facts.items():
        shapes = [known.given.shapes.get(name.strip()) for name in about.split(",")]
        if all(shape is not None and {*_names(shape)} <= {*sizes} for shape in shapes):
            (rows, columns), *others = (
                sized(shape, sizes) for shape in shapes if shape is not None
            )
            wide = columns + others[0][1] if "orthogonal ranges" in facts else columns
            if rows < wide and {*facts} & {"orthonormal columns", "orthogonal ranges"}:
                return False
    return True


def _names(shape: Shape) -> list[str]:
    return [size for size in (shape.rows, shape.columns) if isinstance(size, str)]


def sized(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Rows and columns in numbers."""
    rows, columns = (
        size if isinstance(size, int) else sizes[size]
        for size in (shape.rows, shape.columns)
    )
    return rows, columns


def _value(
    known: Known, name: str, rows: int, columns: int, variant: int, used: dict[int, int]
) -> Values:
    """A matrix that satisfies what is known of a name.

    `used` tells, for each number of rows, the columns of one orthogonal matrix that are taken.
    """
    random = Random(f"{name} {variant}")  # noqa: S311
    if name == "ones":
        return [[Fraction(1)] * columns for _ in range(rows)]
    if known.fact(name, "permutation"):
        place = variant if name == "P" else variant + random.randrange(24)
        return _permutation(rows, place)
    if known.has_orthogonal_range(name):
        start = used.get(rows, 0)
        used[rows] = start + columns
        shared = _orthogonal(rows, variant, Random(variant))  # noqa: S311
        return [row[start : start + columns] for row in shared]
    if known.fact(name, "orthogonal", "orthonormal columns"):
        return [row[:columns] for row in _orthogonal(rows, variant, random)]
    if known.fact(name, "diagonal") and known.is_spectrum(name):
        return _diagonal(falling(rows, variant))
    entries = _integers(rows, columns, variant, random)
    if known.fact(name, "diagonal"):
        entries = _diagonal([entries[place][place] for place in range(rows)])
    if known.fact(name, "positive"):
        entries = [[abs(entry) + 1 for entry in row] for row in entries]
    return entries


def _integers(rows: int, columns: int, variant: int, random: Random) -> Values:
    """Small integers, smaller ones first; a number is 1, then 2."""
    if rows == columns == 1 and variant < 2:
        return [[Fraction(variant + 1)]]
    low, high = ((0, 1), (-1, 1), (-2, 2), (-4, 4))[min(3, variant // 3)]
    return [
        [Fraction(random.randint(low, high)) for _ in range(columns)]
        for _ in range(rows)
    ]


def _permutation(size: int, place: int) -> Values:
    """A permutation that is not the identity, where there is another."""
    orders: list[tuple[int, ...]] = [(*range(1, size), 0)]
    if size <= LISTED_PERMUTATIONS:
        orders = list(permutations(range(size)))[1:] or [(0,)]
    order = orders[place % len(orders)]
    return [
        [Fraction(order[row] == column) for column in range(size)]
        for row in range(size)
    ]


def _diagonal(entries: Sequence[Fraction]) -> Values:
    size = range(len(entries))
    return [
        [entries[row] if row == column else Fraction(0) for column in size]
        for row in size
    ]


def falling(count: int, variant: int) -> list[Fraction]:
    """Singular values: d, ..., 1; steps 1, ..., 1, 0, ..., 0; all the same; a large one first; none."""
    steps = [
        [int(place < width) for place in range(count)] for width in range(1, count + 1)
    ]
    choices = [
        list(range(count, 0, -1)),
        *steps,
        [3, *[1] * (count - 1)],
        [2 ** (count - place) for place in range(count)],
        [0] * count,
        [2] * count,
    ]
    return [Fraction(entry) for entry in choices[variant % len(choices)]]


def _orthogonal(size: int, variant: int, random: Random) -> Values:
    """The identity; then unit vectors in another order, with signs; then rotations by 3/5, 4/5."""
    matrix = _diagonal([Fraction(1)] * size)
    if variant % 3 == 1:
        random.shuffle(matrix)
        matrix = [[random.choice((-1, 1)) * entry for entry in row] for row in matrix]
    for first in range(size - 1 if variant % 3 == 2 else 0):
        cosine, sine = random.sample((Fraction(3, 5), Fraction(4, 5)), 2)
        for row in matrix:
            a, b = row[first], row[first + 1]
            row[first], row[first + 1] = cosine * a - sine * b, sine * a + cosine * b
    return matrix


@dataclass
class MatricesInstance(ExplicitInstance):
    """One instance: explicit matrices and sizes, and what follows from them."""

    known: Known = field(kw_only=True)
    example: Example = field(kw_only=True)

    closer_bits = 256

    @classmethod
    def of(cls, known: Known, example: Example) -> Self:
        """The values of an example, with all that is defined by them."""
        definitions = known.given.definitions
        return cls(definitions, example.sizes, known=known, example=example)

    def admissible(self) -> bool:
        """Whether all facts, all assumptions and all given differences hold for certain."""
        given = self.known.given
        differences = [t.Relation(pair, ("!=",)) for pair in given.different]
        try:
            conditions = [
                self.known.typed(relation) for relation in (*given.assume, *differences)
            ]
        except InputError:
            return False
        return meets_facts(given.facts, self.example) and all(
            holds(condition, self) is True for condition in conditions
        )

    def value(self, node: t.Node, bits: int = 128) -> arb_mat:
        """The value of a typed term; NoValue and its like where it has none here."""
        return evaluate(node, self.value_of, budget=Budget(), bits=bits)

    def value_of(self, name: t.Name) -> arb_mat | None:
        """A matrix that is written out, what a definition comes to, a size, or a part of a matrix."""
        key = spelt(name)
        if key in self._values:
            return self._values[key]
        value: arb_mat | None
        definition = self.known.definition(name)
        if key in self.example.matrices:
            with precision(max(DEFAULT_BITS, int(ctx.prec))):
                rows = self.example.matrices[key]
                value = arb_mat([[ball(entry) for entry in row] for row in rows])
        elif definition is not None:
            defined = self.value(definition, max(DEFAULT_BITS, int(ctx.prec)))
            value = self._shaped(name, defined)
        elif key in self.example.sizes:
            value = scalar(self.example.sizes[key])
        else:
            value = self._part(name)
        if value is not None:
            self._values[key] = value
        return value

    def _part(self, name: t.Name) -> arb_mat | None:
        """An entry, a singular value, a column, or the first columns of a matrix."""
        family = self.known.family(name)
        items = t.listed(name.index or name)
        places = [int(item.value) for item in items if isinstance(item, t.Number)]
        base = name.base if family is None else family.of
        cuttable = {one.of for one in self.known.families.values()}
        if len(places) != len(items) or (len(places) != 2 and base not in cuttable):
            return None
        whole = self.value_of(t.Name(base))
        if whole is None:
            return None
        i, j = places[0] - 1, places[-1] - 1
        if not (0 <= j < whole.ncols() and 0 <= i < max(whole.nrows(), whole.ncols())):
            raise NoValue(f"there is no {spelt(name)} here")
        if len(places) == 2 or (
            family is not None and family.kind == "singular values"
        ):
            return scalar(whole[i, j])
        if family is not None:
            return arb_mat([[row[j]] for row in whole.tolist()])
        height = (
            i + 1 if self.known.fact(base, "diagonal") else whole.nrows()
        )  # U_k, S_k
        return arb_mat([row[: j + 1] for row in whole.tolist()[:height]])

    def _shaped(self, name: t.Name, value: arb_mat) -> arb_mat:
        """A written 0, or a sum of nothing, in the shape that its name has."""
        shape = self.known.shape_of(name)
        is_zero = value.nrows() * value.ncols() == 1 and value[0, 0].is_zero()
        if shape is None or not is_zero:
            return value
        return arb_mat(*sized(shape, self.example.sizes))


def meets_facts(facts: Mapping[str, frozenset[str]], example: Example) -> bool:
    """Whether what is known of matrices is so of those that are written out."""
    for about, known in facts.items():
        names = [name.strip() for name in about.split(",")]
        matrices = [
            example.matrices[name] for name in names if name in example.matrices
        ]
        if matrices and not all(_meets(fact, matrices) for fact in known):
            return False
    return True


def _meets(fact: str, matrices: Sequence[Sequence[Sequence[Fraction]]]) -> bool:
    rows, last = _exactly(matrices[0]), _exactly(matrices[-1])
    gram = rows.transpose() * rows
    is_diagonal = all(
        not entry
        for i, row in enumerate(rows.tolist())
        for j, entry in enumerate(row)
        if i != j
    )
    match fact:
        case "permutation":
            return _is_identity(gram) and {*rows.entries()} <= {0, 1}
        case "orthogonal" | "orthonormal columns":
            return _is_identity(gram)
        case "diagonal":
            return is_diagonal
        case "singular values":
            spectrum = [rows[i, i] for i in range(min(rows.nrows(), rows.ncols()))]
            return is_diagonal and spectrum == sorted(map(abs, spectrum), reverse=True)
        case "positive":
            return all(entry > 0 for entry in rows.entries())
        case "orthogonal ranges" if len(matrices) == 2:
            return not any((rows.transpose() * last).entries())
    return True


def _exactly(rows: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in rows])


def _is_identity(matrix: fmpq_mat) -> bool:
    size = matrix.nrows()
    return matrix == fmpq_mat(
        size, size, [i == j for i in range(size) for j in range(size)]
    )


# Outcomes at instances


def recheck(given: Given, outcome: Outcome, random: Random) -> Outcome:
    """An outcome at its counterexample, or at instances of all sizes: an instance that disagrees is an error."""
    decision = outcome.decision
    if decision.word not in ("proved", "refuted"):
        return outcome
    is_proved = decision.word == "proved"
    wanted = is_proved != outcome.claim.negated
    said = list(_at_instances(given, outcome, random))
    at_random = decision.example is None
    unconfirmed = wanted not in said and (at_random or None in said)
    if not is_proved and unconfirmed:
        return decided_instead(outcome, Decision("undecided", UNCONFIRMED))
    # Sizes that do not fit may do so by chance.
    return confirmed(outcome, said, wanted, lenient=at_random)


def _at_instances(
    given: Given, outcome: Outcome, random: Random
) -> Iterator[bool | None]:
    """Whether a claim holds at its counterexample, or where its conditions may hold; None: it has no value there."""
    example = outcome.decision.example
    if example is not None:
        shapes = {name: Shape(*shape) for name, shape in example.shapes.items()}
        given = replace(given, shapes={**given.shapes, **shapes})
    stated = [part for part in outcome.claim.under if isinstance(part, t.Relation)]
    given, under = given.assuming(
        [link for part in stated for link in comparisons(part)]
    )
    scope = t.Logic("and", (outcome.link, *under))
    known = Known(given, scope)
    try:
        names, integers = foundations(known, scope)
        conditions = [known.typed(part) for part in under]
        claim = known.typed(outcome.link)
    except ShapeError:
        yield False  # whatever the matrices are
        return
    except InputError:
        yield None
        return
    if example is not None:
        instance = MatricesInstance.of(known, example)
        met = instance.admissible() and all(
            holds(condition, instance) is True for condition in conditions
        )
        yield holds(claim, instance) if met else None
        return
    drawn = (
        MatricesInstance.of(known, one)
        for one in examples(known, names, integers, random=random)
    )
    met_there = (
        instance
        for instance in drawn
        if instance.admissible()
        and all(holds(condition, instance) is not False for condition in conditions)
    )
    for instance in islice(met_there, INSTANCES):
        yield holds(claim, instance)


def foundations(known: Known, node: t.Node) -> tuple[frozenset[str], frozenset[str]]:
    """What a statement rests on, behind all definitions: names without a definition, and integers."""
    found, integers, seen = set[str](), set[str](), set[str]()
    waiting = [
        node,
        *(side for pair in known.given.different for side in pair),
        *known.given.assume,
    ]
    while waiting:
        tree = waiting.pop()
        places = (
            part.index
            for part in t.walk(tree)
            if isinstance(part, t.Name) and part.index is not None
        )
        for part in (
            *names_in(tree),
            *(name for place in places for name in names_in(place)),
        ):
            key, shape = spelt(part), known.shape_of(part)
            if key in seen:
                continue
            seen.add(key)
            integers |= set() if shape is None else {*_names(shape)}
            definition, family = known.definition(part), known.family(part)
            if key in known.integers:
                integers.add(key)
            elif definition is not None:
                waiting.append(definition)
            elif family is not None or (
                key not in known.given.shapes and part.index is not None
            ):
                whole = t.Name(
                    part.base if family is None else family.of
                )  # of a column, an entry, the first columns
                waiting += [whole] if known.shape_of(whole) is not None else []
            elif key in known.given.shapes:
                found.add(key)
                integers |= {*_names(known.given.shapes[key])}
    return frozenset(found), frozenset(integers)
