"""An answer beside a right one, at numbers of one's choice: what both do as the number of keys grows.

Both are evaluated as they were written, on explicit keys, from the definition of attention: what a picture shows. It is
floating-point, and nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb_mat

from headwright.check.answer import Answer, MisfitError, label
from headwright.check.exercise import Exercise, Keys, parsed
from headwright.check.reading.statements import read
from headwright.check.reading.written import Formula, Written
from headwright.check.replay.draws import Question, apart
from headwright.check.replay.worlds import VARIANCE, KeysWorld, heads_of, holds, unit, value
from headwright.check.settings.keys.court import KeysSetting, without_sets
from headwright.check.sorting import of_formulas, read_answer
from headwright.errors import InputError
from headwright.formula.evaluate import ball, precision
from headwright.formula.show import latex
from headwright.formula.tree import Listing, Name, Node, Number, Quantified, Relation, walk

MOST_KEYS = 40
VARIANCE_DRAWN = Fraction(1, 100)  # of noise that vanishes, where a claim speaks of it
OTHER = "this is not about the weights of n keys: where an answer fails is told in numbers, not drawn"
ANY = "the keys may be any here, so none can be drawn for all of them: a counterexample names its own"
NOTHING = "this answer gives no query, and no number as a formula, that could be drawn beside the right one"
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

    goal: str  # as the exercise writes it; or the answer's own claim; or, where no goal has one, the weight drawn
    sign: str  # >= or <=; = for a claim, of which `yours` is the formula and `right` the truth; "" without a goal
    numbers: tuple[int, ...]  # of keys
    wanted: tuple[float | None, ...]  # the other side of the goal
    yours: Traced
    right: Traced


@dataclass(frozen=True)
class _Frame:
    """What answers are drawn with: the exercise, numbers of keys, and the one of them that is looked at closely."""

    exercise: Exercise
    keys: Keys
    numbers: tuple[int, ...]
    n: int
    others: Mapping[str, Fraction]
    large: Fraction


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
    if keys is None or keys.are == "any":
        raise NoPictureError(OTHER if keys is None else ANY)
    known = {name: others.get(name, large) for name in exercise.parameters if name != "n"}
    known |= {scale.name: others.get(scale.name, Fraction(1, 2)) for scale in keys.scales.values()}
    least = max(len(keys.named), 1 if keys.first is None else int(known[keys.first.size]) + 1)
    if not max(2, least) <= n <= MOST_KEYS:
        raise InputError(f"n is {n}: expected {max(2, least)} to {MOST_KEYS}")
    numbers = tuple(sorted({n, *(each for each in DRAWN if each >= least)}))
    yours = _answer(exercise, keys, given)
    if yours.by_cases or yours.elsewhere:
        raise NoPictureError("there is no picture of an answer by cases")
    right = _answer(exercise, keys, [Formula(text, i + 1) for i, text in enumerate(exercise.samples.right[0])])
    goals = [(source, node) for source in exercise.goals for node in _goals(parsed(source))]
    frame = _Frame(exercise, keys, numbers, n, known, large)
    with precision():
        if goals:
            tried = [(source, goal, *_traced(frame, yours, goal)) for source, goal in goals]
            source, goal, traced, wanted = max(tried, key=lambda one: _short(one[1], one[2], one[3], numbers.index(n)))
            other, _ = _traced(frame, right, goal)
            return Beside(source, _comparison(goal), numbers, wanted, traced, other)
        if not set(heads_of(exercise)) <= {*exercise.answer, *exercise.definitions}:
            raise NoPictureError(NOTHING)
        if set(heads_of(exercise)) <= set(exercise.answer):
            weight = Name("alpha", Name(keys.named[0]))
            traced, wanted = _traced(frame, yours, weight)
            other, _ = _traced(frame, right, weight)
            return Beside(latex(weight), "", numbers, wanted, traced, other)
        return _claimed(frame, yours)


def _claimed(frame: _Frame, answer: Answer) -> Beside:
    """The first claim of an answer that equates what is asked about with a formula: the truth beside the formula."""
    for claim in answer.claims:
        node = claim.node
        if not isinstance(node, Relation) or node.comparisons != ("=",):
            continue
        traced, formula = _traced(frame, answer, node)
        here = frame.numbers.index(frame.n)
        if traced.left[here] is not None and formula[here] is not None:
            mine = Traced(traced.names, traced.pattern, formula)
            return Beside(latex(node), "=", frame.numbers, (None,) * len(frame.numbers), mine, traced)
    raise NoPictureError(NOTHING)


def _short(goal: Relation | Quantified, traced: Traced, wanted: Sequence[float | None], place: int) -> float:
    """By how much an answer misses a goal: the picture is of the one that it misses most."""
    left, right = traced.left[place], wanted[place]
    if left is None or right is None:
        return float("inf")
    return right - left if _comparison(goal) == ">=" else left - right


def _goals(node: Node) -> Iterator[Relation | Quantified]:
    """The goals in it that compare a weight with a number."""
    match node:
        case Relation((Name("alpha"), _), (">=" | "<=",)) | Quantified(Relation((Name("alpha"), _), (">=" | "<=",))):
            yield node


def _answer(exercise: Exercise, keys: Keys, given: Sequence[Formula] | Written) -> Answer:
    names = (*exercise.parameters, *(f"{base}_{which}" for base in ("k", "v", *keys.also) for which in keys.named))
    try:
        said = read(given, names) if isinstance(given, Written) else of_formulas(given, names)
        return read_answer(exercise, without_sets(said, exercise), KeysSetting(exercise, keys).gives)
    except MisfitError as error:
        raise NoPictureError(str(error)) from None


def _traced(
    frame: _Frame, answer: Answer, goal: Relation | Quantified | Name
) -> tuple[Traced, tuple[float | None, ...]]:
    question, keys = Question(frame.exercise, answer, goal, ()), frame.keys
    own = sorted(question.own)
    heads = heads_of(frame.exercise)
    missing = [name for name in heads if name not in question.definitions]
    if missing:
        raise NoPictureError(f"no formula defines {missing[0]}")
    left: list[float | None] = []
    wanted: list[float | None] = []
    pattern: tuple[float | None, ...] = ()
    for size in frame.numbers:
        known = {**frame.others, **dict.fromkeys(own, frame.large), "n": Fraction(size)}
        if keys.noise == "vanishing":
            known.setdefault(VARIANCE, VARIANCE_DRAWN)
        places = {name: place + 1 for place, name in enumerate(keys.named)}
        world = KeysWorld(
            question.definitions, known, setting=keys, keys=_explicit(keys, size, places, known), places=places,
            heads=heads,
        )  # fmt: skip
        sides = _sides(goal, world, size)
        left.append(sides[0])
        wanted.append(sides[1])
        if size == frame.n:
            pattern = tuple(_number(Name("alpha", Number(Fraction(place + 1))), world) for place in range(size))
    return Traced(tuple(own), pattern, tuple(left)), tuple(wanted)


def _explicit(keys: Keys, size: int, places: Mapping[str, int], known: Mapping[str, Fraction]) -> list[arb_mat]:
    """The keys written out: along the axes, as long as is said; where they are only kept apart, as near as may be."""
    if keys.are == "separated":
        return [apart(size, place, Fraction(1, 2)) for place in range(size)]
    found = [unit(size, place) for place in range(size)]
    for which, scale in keys.scales.items():
        found[places[which] - 1] = found[places[which] - 1] * ball(known[scale.name])
    return found


def _sides(goal: Relation | Quantified | Name, world: KeysWorld, size: int) -> tuple[float | None, float | None]:
    """Both sides of a goal, and a weight without one; of a goal about many keys, those of the key that does worst."""
    if isinstance(goal, Name):
        return _number(goal, world), None
    if isinstance(goal, Relation):
        return _number(goal.terms[0], world), _number(goal.terms[1], world)
    body = _comparing(goal)
    letter = _letter(body)
    found: list[tuple[float, float | None]] = []
    for place in range(1, size + 1):
        here = replace(world, places={**world.places, letter: place})
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
