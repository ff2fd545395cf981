"""Decisions tried again in explicit worlds; a world that contradicts a decision is an internal error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Literal

from flint import arb, arb_mat

from headwright.check.answer import Answer, full_name
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Judged, at
from headwright.check.replay import matrices
from headwright.check.replay.draws import LIMITS, Question, asked, idle, integers, letters_in, names_in, sequences
from headwright.check.replay.worlds import (
    EQUAL,
    NONE,
    IntegersWorld,
    KeysWorld,
    World,
    gap,
    holds,
    undefined,
)
from headwright.errors import ContradictionError
from headwright.formula import tree as t
from headwright.formula.show import plain

CHANCE = ("P", "E", "Var", "Cov")
SEARCHED = 200  # sequences in which a counterexample is sought, where only scores are known
TRIED = 10  # sequences of worlds for one decision
IDLE = 40  # worlds in which a claim must fail once to say something
INTEGERS = 60
FALLS = arb("0.98")  # by so much at least a distance shrinks that may go to 0
SOME = ("k", "m")  # names of integers that may be claimed to exist
REACH = 8  # how far such an integer is looked for
UNCONFIRMED = "a counterexample was found, and explicit instances do not confirm it"
NOISE = "the keys are random: with probability 1 the two sides differ; write \\approx if it is meant up to the noise"


def looked_at_twice(exercise: Exercise, answer: Answer, judgements: Sequence[Judged], seed: int) -> list[Judged]:
    """The same decisions; a ContradictionError where a world contradicts one.

    A claim that is decided case by case, and fails in one case, is looked at again there only: the worlds for a proof
    are of all cases.
    """
    failing = [one.claim for one in judgements if one.decision.word == "refuted"]
    return [
        one
        if one.decision.word == "proved" and any(one.claim is claim for claim in failing)
        else _again(exercise, answer, one, Random(seed))  # noqa: S311
        for one in judgements
    ]


def _again(exercise: Exercise, answer: Answer, one: Judged, random: Random) -> Judged:
    decision, keys = one.decision, exercise.keys
    wanted, proved = (decision.word == "proved") != one.claim.negated, decision.word == "proved"
    if exercise.matrices is not None:
        if decision.word not in ("proved", "refuted"):
            return one
        said, at_random = matrices.tried(exercise, answer, one, random), decision.example is None
        if not proved and wanted not in said and (at_random or None in said):
            return _instead(one, Decision("undecided", UNCONFIRMED))
        return _weighed(one, said, wanted, lenient=at_random)  # sizes that do not fit may do so by chance
    question = _question(exercise, answer, one)
    if decision.word == "undecided" and keys is not None and keys.are == "any":
        return _broken(question, one, random)
    if decision.tie:
        return _instead(one, Decision("undecided", UNCONFIRMED))
    if one.claim.role == "condition" or decision.beyond or decision.word in ("undecided", "holds"):
        return one
    if exercise.integers is not None:
        given, different = decision.values, exercise.integers.different
        if (
            not proved
            and isinstance(question.node, t.Relation)
            and any(given.get(x, x) == given.get(y) for x, y in different)
        ):
            raise _contradiction(one)  # what is given sets these integers aside
        return _weighed(one, [_with_some(question.node, world) for world in _integers(question, random)], proved)
    if any(isinstance(part, t.Call) and part.function in CHANCE for part in t.walk(one.link)):
        return one  # a probability, a mean or a variance has no instance
    said = []
    for worlds in _admissible(question, random, TRIED):
        said.append(_in_the_end(question, worlds))
        if proved and said[-1] is None and all(undefined(one.link, world) for world in worlds):
            where = {name: Fraction(str(worlds[0].numbers[name])) for name in exercise.parameters}
            return _instead(one, Decision("refuted", f"{plain(question.node)} is not defined for {at(where)}"))
    if proved and keys is not None and keys.noise == "vanishing" and _noise_breaks(question, one, random):
        return _instead(one, Decision("refuted", NOISE))
    return _weighed(one, said, wanted, lenient=keys is not None and keys.are == "any")


def _weighed(one: Judged, said: Sequence[bool | None], wanted: bool, *, lenient: bool = False) -> Judged:
    """Of a proof every world must agree; of a refutation one at least: a false statement may well hold in others."""
    agree, against = said.count(wanted), said.count(not wanted)
    if against and (wanted or not (agree or lenient)):
        raise _contradiction(one)
    return replace(one, part=replace(one.part, replayed=agree))


def _contradiction(one: Judged) -> ContradictionError:
    return ContradictionError(f"{plain(one.link)} was {one.decision.word}, and explicit instances say the opposite")


def _instead(one: Judged, decision: Decision) -> Judged:
    counterexample = {"words": decision.reason} if decision.word == "refuted" else None
    part = replace(one.part, word=decision.word, reason=decision.reason, counterexample=counterexample)
    return replace(one, part=part, decision=decision)


def _question(exercise: Exercise, answer: Answer, one: Judged) -> Question:
    node = one.link if exercise.integers is None else one.claim.node
    if one.decision.word != "refuted":
        return asked(exercise, answer, node, one.claim.under)
    return asked(exercise, answer, node, one.claim.under, one.decision.values, one.decision.along)


def _admissible(question: Question, random: Random, count: int) -> Iterator[list[World]]:
    """Sequences of worlds in the last of which all that is assumed certainly holds."""
    for worlds in sequences(question, random, count):
        if all(_met(condition, worlds[-1], question) is True for condition in question.conditions):
            yield worlds


def _met(condition: t.Node, world: World, question: Question) -> bool | None:
    """Whether a condition holds there: one on k_i for every key without a name."""
    letters = letters_in(condition, world.setting) if isinstance(world, KeysWorld) else ()
    if condition in question.under and isinstance(world, KeysWorld):
        letters = tuple(letter for letter in letters if letter not in world.places)  # it is about the key of the claim
    if len(letters) != 1 or not isinstance(world, KeysWorld):
        return holds(condition, world)
    body = condition.body if isinstance(condition, t.Quantified) else condition  # which keys are meant is said already
    others = range(len(world.setting.named) + 1, len(world.keys) + 1)
    said = [holds(body, world.moved(places={**world.places, letters[0]: place})) for place in others]
    return False if False in said else None if None in said else True


def _in_the_end(question: Question, worlds: Sequence[World]) -> bool | None:
    """What is said of the last world of which anything is; of a sequence only if the one before agrees."""
    node = question.node
    said = [answer for world in worlds if (answer := holds(node, world)) is not None]
    if not said or len(worlds) == 1:
        return said[-1] if said else None
    if question.comparison in LIMITS and isinstance(node, t.Relation):
        try:
            before, after = (gap(*(world.value(term) for term in node.terms)) for world in worlds[-2:])
        except NONE:
            return None
        if said[-1] != bool(after < before * FALLS or after < EQUAL):
            return (
                None  # log(t) grows slowly: the two come closer, and it is not known where to; or near, and no nearer
            )
    return said[-1] if len(said) > 1 and said[-1] == said[-2] else None


def _noise_breaks(question: Question, one: Judged, random: Random) -> bool:
    """Whether an equation between random keys holds at their means only: every key is moved a little."""
    if question.comparison != "=" or one.claim.role == "goal":
        return False
    for world, *_ in sequences(question, random, TRIED):
        if isinstance(world, KeysWorld):
            rows = world.keys[0].nrows()
            keys = [key + arb_mat([[random.gauss(0, 0.1)] for _ in range(rows)]) for key in world.keys]
            if holds(question.node, world.moved(keys=keys)) is False:
                return True
    return False


def _broken(question: Question, one: Judged, random: Random) -> Judged:
    """Where only scores are known: scores that satisfy all conditions, and for which the claim fails."""
    if any(isinstance(part, t.Relation) and set(part.comparisons) & {">>", "<<"} for part in t.walk(question.node)):
        return one  # how much larger 'much larger' is was said of no claim
    for worlds in _admissible(question, random, SEARCHED):
        world = worlds[0]
        met = all(_met(condition, each, question) is True for each in worlds for condition in question.conditions)
        if met and isinstance(world, KeysWorld) and all(holds(question.node, each) is False for each in worlds):
            scores = ", ".join(key[0, 0].str(4, radius=False) for key in world.keys)
            said = f"with the scores {scores} (that of k_{next(iter(world.places))} first)"
            values = {name: Fraction(str(world.numbers[name])) for name in question.exercise.parameters}
            return _instead(one, Decision("refuted", f"{said}, {at(values)}: {plain(question.node)} is false"))
    return one


def _integers(
    question: Question, random: Random, count: int = INTEGERS, *, same: bool = False
) -> Iterator[IntegersWorld]:
    """Worlds of integers that are as given."""
    setting = question.exercise.integers
    given = [parsed(source) for source in setting.given] if setting is not None else []
    for world in integers(question, random, count, same=same):
        if all(holds(one, world) is True for one in given):
            yield world


def _with_some(node: t.Node, world: IntegersWorld) -> bool | None:
    """A statement, in which an integer that only its conclusion names may be any: one such is claimed to exist."""
    some: set[str] = set()
    if isinstance(node, t.Logic) and node.word == "implies":
        before, after = (set(map(full_name, names_in(side))) for side in node.items)
        some = (after - before) & set(SOME)
    if not some:
        return holds(node, world)
    reach = range(-REACH, REACH + 1)
    said = [holds(node, world.moved(numbers={**world.numbers, **dict.fromkeys(some, value)})) for value in reach]
    return True if True in said else False if world.same and set(said) == {False} else None


def says_something(exercise: Exercise, answer: Answer, one: Judged) -> bool:
    """Whether a true claim would be false were the question idle: for another query, other tokens, rows all alike."""
    if one.decision.vacuous:
        return False
    node = one.link if exercise.integers is None else one.claim.node
    question, random = asked(exercise, answer, node, one.claim.under), Random(0)  # noqa: S311
    fails = (one.claim.negated, None) if question.comparison == "!=" else (one.claim.negated,)  # equal, or nearly so
    if exercise.integers is not None:
        plainly = _waveless(node)
        return any(_with_some(plainly, each) in fails for each in _integers(question, random, 10 * IDLE, same=True))
    own = [each.node for each in answer.conditions]  # on its own names: they restrict no query
    given = [condition for condition in question.conditions if condition not in own]
    for worlds in sequences(question, random, IDLE):
        other = idle(question, worlds[-1], random)
        if all(_met(condition, other, question) is not False for condition in given) and holds(node, other) in fails:
            return True
    return False


def _waveless(node: t.Node) -> t.Node:
    """Where the question is idle, every sine is 0 and every cosine 1."""
    if isinstance(node, t.Call) and node.function in ("sin", "cos"):
        return t.Number(Fraction(int(node.function == "cos")))
    return t.mapped(node, _waveless)


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

    def false(link: t.Relation, weights: tuple[Fraction, ...]) -> bool:
        question = asked(exercise, answer, link, values={"n": Fraction(len(weights))})
        letters = sorted({*question.letters, *(exercise.keys.named if exercise.keys is not None else ())})
        for worlds in sequences(question, Random(0), 1):  # noqa: S311
            for places in permutations(range(1, len(weights) + 1), min(len(letters), len(weights))):
                there = dict(zip(letters, places, strict=False))
                if holds(link, worlds[-1].moved(weights=weights, places=there)) is False:
                    return True
        return False

    kinds = (tuple(map(Fraction, written)) for written in NO_WEIGHTS[kind])
    return all(any(false(link, weights) for link in links) for weights in kinds)
