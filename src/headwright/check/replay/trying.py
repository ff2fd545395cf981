"""Decisions tried again in explicit worlds; a world that contradicts a decision is an internal error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Literal

from flint import arb

from headwright.check.answer import Answer, full_name
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Judged, at
from headwright.check.replay.draws import Question, existential, idle, integers, names_in, noisy, sequences, waveless
from headwright.check.replay.matrices import drawn, free_names, world_of
from headwright.check.replay.worlds import (
    EQUAL,
    FINE,
    VARIANCE,
    IntegersWorld,
    KeysWorld,
    World,
    difference,
    distance,
    holds,
    holds_on_average,
    undefined,
)
from headwright.errors import ContradictionError
from headwright.formula import tree as t
from headwright.formula.evaluate import ball, precision
from headwright.formula.show import plain

CHANCE = ("P", "E", "Var", "Cov")
SEARCHED = 200  # sequences in which a counterexample is sought, where only scores are known
TRIED = 10  # sequences of worlds for one decision
MOMENTS, FEW = 4, 8  # worlds in which moments are computed, and the most keys of such
IDLE = 40  # worlds in which a claim must fail once to say something
INTEGERS = 60
MATRICES = 12  # explicit instances
FALLS = arb("0.98")  # by so much at least a distance shrinks that may go to 0
SOME = ("k", "m")  # names of integers that may be claimed to exist
REACH = 8  # how far such an integer is looked for
UNCONFIRMED = "a counterexample was found, and explicit instances do not confirm it"
NOISE = "the keys are random: with probability 1 the two sides differ; write \\approx if it is meant up to the noise"
HAIR = Fraction(1, 2**200)  # how far keys are moved to see in which direction a comparison tips
STEEP, STRAIGHT = arb("1e-9"), arb("1e-6")


def looked_at_twice(exercise: Exercise, answer: Answer, judgements: Sequence[Judged], seed: int) -> list[Judged]:
    """The same decisions; a ContradictionError where a world contradicts one.

    A claim that is decided case by case, and fails in one case, is looked at again there only: the worlds for a proof
    are of all cases.
    """
    failing = [one.claim for one in judgements if one.decision.word == "refuted"]
    return [
        one
        if one.decision.word == "proved" and any(one.claim is claim for claim in failing)
        else _again(exercise, answer, one, seed)
        for one in judgements
    ]


def _again(exercise: Exercise, answer: Answer, one: Judged, seed: int) -> Judged:
    if exercise.matrices is not None:
        return _matrices(exercise, answer, one, Random(seed))  # noqa: S311
    question = _question(exercise, answer, one)
    random = Random(seed)  # noqa: S311
    if one.decision.word == "undecided" and exercise.keys is not None and exercise.keys.are == "any":
        return _broken(question, one, random) or one
    if one.claim.role == "condition" or one.decision.beyond or one.decision.word == "undecided":
        return one
    nowhere = None if one.decision.word == "refuted" else _undefined(question, random)
    if nowhere is not None:
        return _instead(one, Decision("refuted", nowhere))
    if one.decision.word == "holds":
        return one
    if exercise.integers is not None:
        return _integers(question, one, random)
    if any(isinstance(part, t.Call) and part.function in CHANCE for part in t.walk(one.link)):
        return _on_average(question, one, random)
    again = _tried(question, one, random)
    if again.decision.word == "proved" and _noise_breaks(question, one, random):
        return _instead(one, Decision("refuted", NOISE))
    return again


def _weighed(one: Judged, said: Sequence[bool | None], wanted: bool, *, lenient: bool = False) -> Judged:
    """Of a proof every world must agree; of a refutation one at least: a false statement may well hold in others."""
    agree, against = said.count(wanted), said.count(not wanted)
    if against and (wanted or not (agree or lenient)):
        raise _contradiction(one)
    return replace(one, part=replace(one.part, replayed=agree))


def _contradiction(one: Judged) -> ContradictionError:
    return ContradictionError(f"{plain(one.link)} was {one.decision.word}, and explicit instances say the opposite")


def _matrices(exercise: Exercise, answer: Answer, one: Judged, random: Random) -> Judged:
    """A counterexample must satisfy all that is given and break the claim; a proof must hold at random matrices."""
    decision = one.decision
    if decision.word not in ("proved", "refuted"):
        return one
    wanted = (decision.word == "proved") != one.claim.negated
    under = [part for part in one.claim.under if isinstance(part, t.Relation)]
    if decision.example is not None:
        world = world_of(exercise, answer, decision.example)
        if world.too_large:
            return one
        met = world.admissible() and all(world.says(part) is True for part in under)
        there = world.says(one.link) if met else None
        if there is (not wanted):
            raise _contradiction(one)
        if there is None:
            return _instead(one, Decision("undecided", UNCONFIRMED))
        return replace(one, part=replace(one.part, replayed=1))
    said = [
        False if (found := world.says(one.link)) is None and world.misshapen(one.link) else found
        for world in drawn(exercise, answer, random, MATRICES, free_names(one.link, exercise))
        if all(world.says(part) is not False for part in under)
    ]
    agree, against = said.count(wanted), said.count(not wanted)
    if against:
        raise _contradiction(one)
    if decision.word == "refuted" and not agree:
        return _instead(one, Decision("undecided", UNCONFIRMED))
    return replace(one, part=replace(one.part, replayed=agree))


def _question(exercise: Exercise, answer: Answer, one: Judged) -> Question:
    values, along = (one.decision.values, one.decision.along) if one.decision.word == "refuted" else ({}, {})
    node = one.link if exercise.integers is None else one.claim.node
    return Question(exercise, answer, node, one.claim.under, values, along)


def _instead(one: Judged, decision: Decision) -> Judged:
    counterexample = {"words": decision.reason} if decision.word == "refuted" else None
    part = replace(one.part, word=decision.word, reason=decision.reason, counterexample=counterexample)
    return replace(one, part=part, decision=decision)


def _tried(question: Question, one: Judged, random: Random) -> Judged:
    """In worlds that meet all conditions: random ones for a proof, those at its values for a refutation."""
    said = [
        _in_the_end(question, worlds) for worlds in sequences(question, random, TRIED) if _admits(question, worlds[-1])
    ]
    free = question.exercise.keys is not None and question.exercise.keys.are == "any"
    return _weighed(one, said, (one.decision.word == "proved") != one.claim.negated, lenient=free)


def _on_average(question: Question, one: Judged, random: Random) -> Judged:
    """Moments of what is linear in the keys, computed from the definition; a probability has no instance."""
    setting, own = question.exercise.keys, question.own - {VARIANCE}
    defined = {full_name(name) for node in question.definitions.values() for name in names_in(node)}
    if setting is None or setting.noise != "vanishing" or own - defined or question.comparison in ("~", "->"):
        return one
    said = [
        holds_on_average(question.node, worlds[0], setting, variance)
        for worlds in sequences(replace(question, values={}), random, MOMENTS)
        if isinstance(worlds[0], KeysWorld) and isinstance(question.node, t.Relation) and len(worlds[0].keys) <= FEW
        if _admits(question, worlds[0])
        for variance in (Fraction(1, 7), Fraction(1, 1000))
    ]
    return _weighed(one, said, one.decision.word == "proved")


def _undefined(question: Question, random: Random) -> str | None:
    """Where a side of the claim has no value, although all that is assumed holds."""
    if not isinstance(question.node, t.Relation) or question.exercise.matrices or question.exercise.integers:
        return None
    for worlds in sequences(question, random, TRIED):
        if _admits(question, worlds[-1]) and all(undefined(question.node, world) for world in worlds):
            given = {name: Fraction(str(worlds[0].numbers[name])) for name in question.exercise.parameters}
            return f"{plain(question.node)} is not defined for {at(given)}"
    return None


def _broken(question: Question, one: Judged, random: Random) -> Judged | None:
    """Where only scores are known: scores that satisfy all conditions, and for which the claim fails."""
    if any(isinstance(part, t.Relation) and set(part.comparisons) & {">>", "<<"} for part in t.walk(question.node)):
        return None  # how much larger 'much larger' is was said of no claim
    for worlds in sequences(question, random, SEARCHED):
        world = worlds[0]
        broken = _admits(question, *worlds) and all(holds(question.node, each) is False for each in worlds)
        if broken and isinstance(world, KeysWorld):
            scores = [key[0, 0].str(4, radius=False) for key in world.keys]
            said = f"with the scores {', '.join(scores)} (that of k_{next(iter(world.places))} first)"
            values = {name: Fraction(str(world.numbers[name])) for name in question.exercise.parameters}
            return _instead(one, Decision("refuted", f"{said}, {at(values)}: {plain(question.node)} is false"))
    return None


def _admits(question: Question, *worlds: World) -> bool:
    """Whether all that is assumed certainly holds in these worlds."""
    return all(_met(condition, world, question) is True for world in worlds for condition in question.conditions)


def _met(condition: t.Node, world: World, question: Question) -> bool | None:
    """Whether a condition holds there: one on k_i for every key without a name."""
    if not isinstance(world, KeysWorld) or world.setting is None:
        return holds(condition, world)
    letters = sorted(replace(question, node=condition).letters(world.setting))
    if condition in question.under:
        letters = [letter for letter in letters if letter not in world.places]  # it is about the key of the claim
    if len(letters) != 1:
        return holds(condition, world)
    body = condition.body if isinstance(condition, t.Quantified) else condition  # which keys are meant is said already
    named = len(world.setting.named)
    said = [
        holds(body, replace(world, places={**world.places, letters[0]: place}, _values={}))
        for place in range(named + 1, len(world.keys) + 1)
    ]
    return False if False in said else None if None in said else True


def _in_the_end(question: Question, worlds: Sequence[World]) -> bool | None:
    """What is said of the last world of which anything is; of a sequence only if the one before agrees."""
    said = [answer for world in worlds if (answer := holds(question.node, world)) is not None]
    if said and question.comparison in ("~", "->") and len(worlds) > 1 and said[-1] != _closing_in(question, worlds):
        return None  # log(t) grows slowly: the two come closer, and it is not known where to; or near, and no nearer
    if not said or (len(worlds) > 1 and len(said) == 1):
        return None
    return said[-1] if len(said) == 1 or said[-1] == said[-2] else None


def _closing_in(question: Question, worlds: Sequence[World]) -> bool:
    """Whether the two sides come closer still at the end of a sequence."""
    if len(worlds) < 2 or not isinstance(question.node, t.Relation):
        return False
    before, after = (distance(question.node, world) for world in worlds[-2:])
    return before is not None and after is not None and bool(after < before * FALLS or after < EQUAL)


def _noise_breaks(question: Question, one: Judged, random: Random) -> bool:
    """Whether an equation between random keys holds at their means only."""
    setting = question.exercise.keys
    if setting is None or setting.noise != "vanishing" or question.comparison != "=" or one.claim.role == "goal":
        return False
    for worlds in sequences(question, random, TRIED):
        world = worlds[0]
        if isinstance(world, KeysWorld) and holds(question.node, noisy(world, random)) is False:
            return True
    return False


def _tips(question: Question, random: Random) -> bool:
    """Whether, where both sides are equal, their difference changes at first order as the keys move.

    The difference is then a normal variable of mean 0 in the limit of small noise, and as often negative as positive.
    """
    for worlds in sequences(question, random, TRIED):
        world = worlds[0]
        if (
            not isinstance(world, KeysWorld)
            or not isinstance(question.node, t.Relation)
            or not _admits(question, world)
        ):
            continue
        seed = random.randrange(2**32)
        with precision(FINE):
            hair = ball(HAIR)
            there, back = (noisy(world, Random(seed), size) for size in (hair, -hair))  # noqa: S311
            rest, up, down = (difference(question.node, each) for each in (world.afresh(), there, back))
            if rest is None or up is None or down is None or not abs(rest) < EQUAL * hair:
                continue
            rate, other = up / hair, -down / hair
            if abs(rate) > STEEP and abs(rate - other) < STRAIGHT * abs(rate):
                return True
    return False


def _integers(question: Question, one: Judged, random: Random) -> Judged:
    proved = one.decision.word == "proved"
    if not proved and isinstance(question.node, t.Relation) and _alike(question):
        raise _contradiction(one)  # what is given sets these integers aside
    worlds = (world for world in integers(question, random, INTEGERS) if _admissible(question, world))
    return _weighed(one, [_with_some(question.node, world) for world in worlds], proved)


def _alike(question: Question) -> bool:
    """Whether a counterexample has the same value for integers that are different."""
    setting, values = question.exercise.integers, question.values
    return setting is not None and any(
        x in values and y in values and values[x] == values[y] for x, y in setting.different
    )


def _admissible(question: Question, world: IntegersWorld) -> bool:
    setting = question.exercise.integers
    if setting is None:
        return False
    if not all(holds(parsed(source), world) is True for source in setting.given):
        return False
    return not any(world.numbers[x] == world.numbers[y] for x, y in setting.different)


def _with_some(node: t.Node, world: IntegersWorld) -> bool | None:
    """A statement, in which an integer that only its conclusion names may be any."""
    some = sorted(existential(node, SOME))
    if not some:
        return holds(node, world)
    said = [
        holds(node, replace(world, numbers={**world.numbers, **dict.fromkeys(some, value)}, _values={}))
        for value in range(-REACH, REACH + 1)
    ]
    return True if True in said else False if all(one is False for one in said) and world.same else None


def says_something(exercise: Exercise, answer: Answer, one: Judged) -> bool:
    """Whether a true claim would be false were the question idle: for another query, other tokens, rows all alike."""
    if one.decision.vacuous:
        return False
    question = replace(_question(exercise, answer, one), values={})
    random = Random(0)  # noqa: S311
    fails = (one.claim.negated, None) if question.comparison == "!=" else (one.claim.negated,)  # equal, or nearly so
    return any(said in fails for said in _idly(question, random))


NO_WEIGHTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "scaled": (("1/4", "1/2"), ("1/2", "1/2", "1/100"), ("1/1000", "1/1000"), ("3/10", "3/10", "3/10"), ("2", "3")),
    "signed": (("-1/10", "11/10"), ("3/5", "3/5", "-1/5"), ("-3", "2", "2"), ("1/2", "-1/1000", "501/1000")),
}


def rules_out(
    exercise: Exercise, answer: Answer, links: Sequence[t.Relation], kind: Literal["scaled", "signed"]
) -> bool:
    """Whether statements about the weights fail for all numbers of a kind that are none: of another total, or negative.

    Every letter stands for each of the keys in turn, and two letters for two keys.
    """
    for written in NO_WEIGHTS[kind]:
        weights = tuple(map(Fraction, written))
        if not any(_false_of(exercise, answer, link, weights) for link in links):
            return False
    return True


def _false_of(exercise: Exercise, answer: Answer, link: t.Relation, weights: tuple[Fraction, ...]) -> bool:
    question, setting = Question(exercise, answer, link, (), {"n": Fraction(len(weights))}), exercise.keys
    letters = sorted(question.letters(setting) | set(() if setting is None else setting.named))
    for worlds in sequences(question, Random(0), 1):  # noqa: S311
        world = worlds[-1]
        for places in permutations(range(1, len(weights) + 1), min(len(letters), len(weights))):
            there = dict(zip(letters, places, strict=False))
            other = replace(world, weights=weights, places=there, _values={}) if isinstance(world, KeysWorld) else None
            if other is not None and holds(link, other) is False:
                return True
    return False


def _idly(question: Question, random: Random) -> Iterator[bool | None]:
    if question.exercise.integers is not None:
        node = waveless(question.node)
        for world in integers(question, random, 10 * IDLE, same=True):
            if _admissible(question, world):
                yield _with_some(node, world)
        return
    for worlds in sequences(question, random, IDLE):
        other = idle(question, worlds[-1], random)
        own = [one.node for one in question.answer.conditions]  # on its own names: they restrict no query
        given = [condition for condition in question.conditions if condition not in own]
        if all(_met(condition, other, question) is not False for condition in given):
            yield holds(question.node, other)
