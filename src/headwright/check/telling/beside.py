"""An answer beside a right one, at numbers of one's choice: what both do as the number of keys grows.

Both are evaluated as they were written, on explicit keys, from the definition of attention: what a picture shows. It is
floating-point, and nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.check.answer import Answer, MisfitError, label, of_formulas, read_answer
from headwright.check.exercise import Exercise, Keys, parsed
from headwright.check.reading.statements import read
from headwright.check.reading.written import Formula, Written
from headwright.check.replay.draws import Question
from headwright.check.replay.saying import holds, value
from headwright.check.replay.worlds import KeysWorld, heads_of, unit
from headwright.check.settings.keys.court import KeysSetting, without_sets
from headwright.errors import InputError
from headwright.formula.evaluate import precision
from headwright.formula.tree import Listing, Name, Node, Number, Quantified, Relation, walk

MOST_KEYS = 40
DRAWN = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40)


class NoPictureError(InputError):
    """There is nothing to draw, and why."""


@dataclass(frozen=True)
class Traced:
    """What one answer does: its pattern at n keys, and one side of the goal at each number of keys.

    >>> Traced(("lambda",), (0.5, 0.5), (0.5,)).names
    ('lambda',)
    """

    names: tuple[str, ...]  # names of its own, which were given the number for what is large
    pattern: tuple[float | None, ...]  # None where it has no value
    left: tuple[float | None, ...]


@dataclass(frozen=True)
class Beside:
    """Two answers to one exercise, and what is wanted of both.

    >>> Beside("alpha_a >= 1/2", ">=", (2,), (0.5,), Traced((), (), ()), Traced((), (), ())).numbers
    (2,)
    """

    goal: str  # as the exercise writes it
    sign: str  # >= or <=
    numbers: tuple[int, ...]  # of keys
    wanted: tuple[float | None, ...]  # the other side of the goal
    yours: Traced
    right: Traced


def beside(
    exercise: Exercise, given: Sequence[Formula] | Written, *, n: int, others: Mapping[str, Fraction], large: Fraction
) -> Beside:
    r"""An answer and a right one, with n keys and with the other parameters as they are said; own names are `large`.

    >>> from headwright.check.exercise import load_exercises
    >>> two = load_exercises()["averaging-two"]
    >>> eps = {"epsilon": Fraction(1, 10)}
    >>> found = beside(two, [Formula("q = k_a + k_b", 1)], n=4, others=eps, large=Fraction(10))
    >>> [round(weight, 3) for weight in found.yours.pattern], round(found.right.pattern[0], 3)
    ([0.366, 0.366, 0.134, 0.134], 0.5)
    """
    keys = exercise.keys
    if keys is None or keys.are != "orthonormal" or keys.scales:
        raise NoPictureError("there is no picture of answers to this exercise")
    goals = [(source, node) for source in exercise.goals for node in _goals(parsed(source))]
    if not goals:
        raise NoPictureError("there is no picture of answers to this exercise")
    missing = [name for name in exercise.parameters if name != "n" and name not in others]
    if missing:
        raise InputError(f"others: {missing[0]} is missing")
    others = {name: number for name, number in others.items() if name in exercise.parameters}
    least = max(len(keys.named), 1 if keys.first is None else int(others[keys.first.size]) + 1)
    if not max(2, least) <= n <= MOST_KEYS:
        raise InputError(f"n is {n}: expected {max(2, least)} to {MOST_KEYS}")
    numbers = tuple(sorted({n, *(each for each in DRAWN if each >= least)}))
    right = [Formula(text, line + 1) for line, text in enumerate(exercise.samples.right[0])]
    yours = _answer(exercise, keys, given)
    if yours.by_cases or yours.elsewhere:
        raise NoPictureError("there is no picture of an answer by cases")
    with precision():
        tried = [
            (source, goal, *_traced(yours, exercise, keys, goal, numbers, n, others, large)) for source, goal in goals
        ]
        source, goal, traced, wanted = max(tried, key=lambda one: _short(one[1], one[2], one[3], numbers.index(n)))
        other, _ = _traced(_answer(exercise, keys, right), exercise, keys, goal, numbers, n, others, large)
    return Beside(source, _comparison(goal), numbers, wanted, traced, other)


def _short(goal: Relation | Quantified, traced: Traced, wanted: Sequence[float | None], place: int) -> float:
    """By how much an answer misses a goal: the picture is of the one that it misses most."""
    left, right = traced.left[place], wanted[place]
    if left is None or right is None:
        return float("inf")
    return right - left if _comparison(goal) == ">=" else left - right


def _goals(node: Node) -> Iterator[Relation | Quantified]:
    """The goals in it that compare a weight with a number."""
    body = node.body if isinstance(node, Quantified) else node
    if (
        isinstance(node, Quantified | Relation)
        and isinstance(body, Relation)
        and len(body.terms) == 2
        and isinstance(body.terms[0], Name)
        and body.terms[0].base == "alpha"
        and body.comparisons[0] in (">=", "<=")
    ):
        yield node


def _answer(exercise: Exercise, keys: Keys, given: Sequence[Formula] | Written) -> Answer:
    names = (*exercise.parameters, *(f"{base}_{which}" for base in ("k", "v", *keys.also) for which in keys.named))
    try:
        said = read(given, names) if isinstance(given, Written) else of_formulas(given, names)
        return read_answer(exercise, without_sets(said, exercise), KeysSetting(exercise, keys).knows)
    except MisfitError as error:
        raise NoPictureError(str(error)) from None


def _traced(
    answer: Answer, exercise: Exercise, keys: Keys, goal: Relation | Quantified, numbers: Sequence[int], n: int,
    others: Mapping[str, Fraction], large: Fraction,
) -> tuple[Traced, tuple[float | None, ...]]:  # fmt: skip
    question = Question(exercise, answer, goal, ())
    own = sorted(question.own)
    heads = heads_of(exercise)
    missing = [name for name in heads if name not in question.definitions]
    if missing:
        raise NoPictureError(f"no formula defines {missing[0]}")
    left: list[float | None] = []
    wanted: list[float | None] = []
    pattern: tuple[float | None, ...] = ()
    for size in numbers:
        known = {**others, **dict.fromkeys(own, large), "n": Fraction(size)}
        places = {name: place + 1 for place, name in enumerate(keys.named)}
        world = KeysWorld(
            question.definitions, known, setting=keys, keys=[unit(size, place) for place in range(size)],
            places=places, heads=heads,
        )  # fmt: skip
        sides = _sides(goal, world, size)
        left.append(sides[0])
        wanted.append(sides[1])
        if size == n:
            pattern = tuple(_number(Name("alpha", Number(Fraction(place + 1))), world) for place in range(size))
    return Traced(tuple(own), pattern, tuple(left)), tuple(wanted)


def _sides(goal: Relation | Quantified, world: KeysWorld, size: int) -> tuple[float | None, float | None]:
    """Both sides of a goal; of one about many keys, those of the key that does worst."""
    if isinstance(goal, Relation):
        return _number(goal.terms[0], world), _number(goal.terms[1], world)
    body = _comparing(goal)
    letter = _letter(body)
    found: list[tuple[float, float | None]] = []
    for place in range(1, size + 1):
        here = KeysWorld(
            world.definitions, world.numbers, setting=world.setting, keys=world.keys,
            places={**world.places, letter: place}, heads=world.heads, _values=world._values,
        )  # fmt: skip
        if all(holds(one, here) is not False for one in goal.conditions if not isinstance(one, Name)):
            left, right = _number(body.terms[0], here), _number(body.terms[1], here)
            if left is not None:
                found.append((left, right))
    worst = min if _comparison(goal) == ">=" else max
    return worst(found, key=lambda pair: pair[0]) if found else (None, None)


def _comparing(goal: Relation | Quantified) -> Relation:
    body = goal.body if isinstance(goal, Quantified) else goal
    if not isinstance(body, Relation):
        raise NoPictureError("there is no picture of answers to this exercise")
    return body


def _comparison(goal: Relation | Quantified) -> str:
    return _comparing(goal).comparisons[0]


def _letter(body: Node) -> str:
    """The letter that stands for a key."""
    weight = next(node for node in walk(body) if isinstance(node, Name) and node.base == "alpha")
    return label(weight.index.items[-1] if isinstance(weight.index, Listing) else weight.index)


def _number(node: Node, world: KeysWorld) -> float | None:
    """The value of a term in floating point, or None where it has none."""
    try:
        found = value(node, world)
    except (InputError, ValueError, OverflowError):  # not defined there, or too large
        return None
    number = float(found[0, 0].mid())
    return number if abs(number) < float("inf") else None
