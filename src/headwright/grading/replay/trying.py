"""Decisions tried again in explicit worlds; a world that contradicts a decision is an internal error.

The worlds of a claim are random admissible ones, or those at the values of its counterexample. A claim about large or
small names is looked at along a sequence in which they grow or vanish.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Literal

from flint import arb, arb_mat

from headwright.errors import ContradictionError
from headwright.formulas import tree as t
from headwright.formulas.evaluate import ball, precision
from headwright.formulas.show import plain
from headwright.grading.answer import Answer, full_name, label, redefined
from headwright.grading.decision import Decision, Path
from headwright.grading.exercise import Exercise, Parameter, parsed
from headwright.grading.judging import Outcome, at
from headwright.grading.kinds.keys.table import Keys
from headwright.grading.replay import matrices
from headwright.grading.replay import worlds as w
from headwright.grading.scalars.numbers import Symbol

CHANCE = ("P", "E", "Var", "Cov")
SEARCHED = (
    200  # sequences in which a counterexample is sought, where only scores are known
)
TRIED = 10  # sequences of worlds for one decision
IDLE = 40  # worlds in which a claim must fail once to say something
INTEGERS = 60
FALLS = arb("0.98")  # by so much at least a distance shrinks that may go to 0
SOME = ("k", "m")  # names of integers that may be claimed to exist
REACH = 8  # how far such an integer is looked for
UNCONFIRMED = "a counterexample was found, and explicit instances do not confirm it"
NOISE = "the keys are random: with probability 1 the two sides differ; write \\approx if it is meant up to the noise"
STAGES = 3  # of a sequence
MOST_KEYS = 40  # that are written out
WHOLE = (0, 1, 2, 5, 11, 28)  # steps above the least integer
SHARES = tuple(
    Fraction(*pair) for pair in ((1, 2), (1, 10), (9, 10), (1, 1000), (999, 1000))
)
USUAL = tuple(
    Fraction(*pair) for pair in ((1, 2), (1, 1), (2, 1), (1, 10), (5, 1), (30, 1))
)
LENGTHS = tuple(
    Fraction(*pair)
    for pair in ((1, 3), (2, 1), (9, 10), (11, 10), (-1, 1), (1, 1), (4, 1), (20, 1))
)
TOPS = tuple(
    Fraction(*pair)
    for pair in ((-3, 1), (-1, 10), (0, 1), (1, 10), (1, 1), (3, 1), (8, 1), (40, 1))
)
KNOWN = ("pi", "e", "infinity", "I", "I_d", "I_D")
LIMITS = ("~", "->")
WIDEST = 32  # row of a position embedding that is drawn
NO_VALUES: Mapping[str, Fraction] = {}
NO_PATHS: Mapping[str, Path] = {}


def looked_at_twice(
    exercise: Exercise, answer: Answer, judgements: Sequence[Outcome], seed: int
) -> list[Outcome]:
    """The same decisions; a ContradictionError where a world contradicts one.

    A claim that is decided case by case, and fails in one case, is looked at again there only: the worlds for a proof
    are of all cases.
    """
    failing = [one.claim for one in judgements if one.decision.word == "refuted"]
    return [
        one
        if one.decision.word == "proved"
        and any(one.claim is claim for claim in failing)
        else _again(exercise, answer, one, Random(seed))  # noqa: S311
        for one in judgements
    ]


def _again(exercise: Exercise, answer: Answer, one: Outcome, random: Random) -> Outcome:
    decision, keys = one.decision, exercise.keys
    wanted, proved = (
        (decision.word == "proved") != one.claim.negated,
        decision.word == "proved",
    )
    if exercise.matrices is not None:
        if decision.word not in ("proved", "refuted"):
            return one
        said, at_random = (
            matrices.tried(exercise, answer, one, random),
            decision.example is None,
        )
        if not proved and wanted not in said and (at_random or None in said):
            return _instead(one, Decision("undecided", UNCONFIRMED))
        return _weighed(
            one, said, wanted, lenient=at_random
        )  # sizes that do not fit may do so by chance
    question = _question(exercise, answer, one)
    if decision.word == "undecided" and keys is not None and keys.are == "any":
        return _broken(question, one, random)
    if (
        one.claim.role == "condition"
        or decision.beyond
        or decision.word in ("undecided", "holds")
    ):
        return one
    if exercise.integers is not None:
        given, different = decision.values, exercise.integers.different
        if (
            not proved
            and isinstance(question.node, t.Relation)
            and any(given.get(x, x) == given.get(y) for x, y in different)
        ):
            raise _contradiction(one)  # what is given sets these integers aside
        return _weighed(
            one,
            [_with_some(question.node, world) for world in _integers(question, random)],
            proved,
        )
    if any(
        isinstance(part, t.Call) and part.function in CHANCE
        for part in t.walk(one.link)
    ):
        return one  # a probability, a mean or a variance has no instance
    said = []
    for worlds in _admissible(question, random, TRIED):
        said.append(_in_the_end(question, worlds))
        if (
            proved
            and said[-1] is None
            and all(w.undefined(one.link, world) for world in worlds)
        ):
            where = {
                name: Fraction(str(worlds[0].numbers[name]))
                for name in exercise.parameters
            }
            reason = f"{plain(question.node)} is not defined for {at(where)}"
            taken = _no_logarithm(question, worlds[0])
            if taken:
                reason = f"right wherever it is defined; but it takes {taken} for {at(where)}"
            return _instead(one, Decision("refuted", reason))
    if (
        proved
        and keys is not None
        and keys.noise == "vanishing"
        and _noise_breaks(question, one, random)
    ):
        return _instead(one, Decision("refuted", NOISE))
    return _weighed(one, said, wanted, lenient=keys is not None and keys.are == "any")


def _weighed(
    one: Outcome, said: Sequence[bool | None], wanted: bool, *, lenient: bool = False
) -> Outcome:
    """Of a proof every world must agree; of a refutation one at least: a false statement may well hold in others."""
    agree, against = said.count(wanted), said.count(not wanted)
    if against and (wanted or not (agree or lenient)):
        raise _contradiction(one)
    return replace(one, part=replace(one.part, replayed=agree))


def _contradiction(one: Outcome) -> ContradictionError:
    return ContradictionError(
        f"{plain(one.link)} was {one.decision.word}, and explicit instances say the opposite"
    )


def _instead(one: Outcome, decision: Decision) -> Outcome:
    counterexample = {"words": decision.reason} if decision.word == "refuted" else None
    part = replace(
        one.part,
        word=decision.word,
        reason=decision.reason,
        counterexample=counterexample,
    )
    return replace(one, part=part, decision=decision)


def _question(exercise: Exercise, answer: Answer, one: Outcome) -> Question:
    node = one.link if exercise.integers is None else one.claim.node
    if one.decision.word != "refuted":
        return asked(exercise, answer, node, one.claim.under)
    return asked(
        exercise, answer, node, one.claim.under, one.decision.values, one.decision.along
    )


def _admissible(
    question: Question, random: Random, count: int
) -> Iterator[list[w.World]]:
    """Sequences of worlds in the last of which all that is assumed certainly holds."""
    for worlds in sequences(question, random, count):
        if all(
            _met(condition, worlds[-1], question) is True
            for condition in question.conditions
        ):
            yield worlds


def _met(condition: t.Node, world: w.World, question: Question) -> bool | None:
    """Whether a condition holds there: one on k_i for every key without a name."""
    letters = (
        letters_in(condition, world.setting) if isinstance(world, w.KeysWorld) else ()
    )
    if condition in question.under and isinstance(world, w.KeysWorld):
        letters = tuple(
            letter for letter in letters if letter not in world.places
        )  # it is about the key of the claim
    if len(letters) != 1 or not isinstance(world, w.KeysWorld):
        return w.holds(condition, world)
    body = (
        condition.body if isinstance(condition, t.Quantified) else condition
    )  # which keys are meant is said already
    others = range(len(world.setting.named) + 1, len(world.keys) + 1)
    said = [
        w.holds(body, world.moved(places={**world.places, letters[0]: place}))
        for place in others
    ]
    return False if False in said else None if None in said else True


def _in_the_end(question: Question, worlds: Sequence[w.World]) -> bool | None:
    """What is said of the last world of which anything is; of a sequence only if the one before agrees."""
    node = question.node
    said = [answer for world in worlds if (answer := w.holds(node, world)) is not None]
    if not said or len(worlds) == 1:
        return said[-1] if said else None
    if question.comparison in LIMITS and isinstance(node, t.Relation):
        try:
            before, after = (
                w.gap(*(world.value(term) for term in node.terms))
                for world in worlds[-2:]
            )
        except w.NONE:
            return None
        if said[-1] != bool(after < before * FALLS or after < w.EQUAL):
            return None  # log(t) grows slowly: the two come closer, and it is not known where to; or near, and no nearer  # noqa: E501
    if "n" in question.moving and not said[-1]:
        return None  # thirty keys are not many: e^(1/tau)/(e^(1/tau) + n - 1) goes to 0 all the same
    return said[-1] if len(said) > 1 and said[-1] == said[-2] else None


def _no_logarithm(question: Question, world: w.World) -> str:
    """The logarithm in what the answer defines that is taken of no positive number there: 'ln((n - 2)/epsilon)'."""
    for definition in question.definitions.values():
        for part in t.walk(definition):
            if not isinstance(part, t.Call) or part.function != "ln":
                continue
            (inner,) = part.arguments
            if w.holds(t.Relation((inner, t.ZERO), (">",)), world) is False:
                zero = w.holds(t.Relation((inner, t.ZERO), ("=",)), world) is True
                return f"{plain(part)} = ln 0" if zero else plain(part)
    return ""


def _noise_breaks(question: Question, one: Outcome, random: Random) -> bool:
    """Whether an equation between random keys holds at their means only: every key is moved a little."""
    if question.comparison != "=" or one.claim.role == "goal":
        return False
    for world, *_ in sequences(question, random, TRIED):
        if isinstance(world, w.KeysWorld):
            rows = world.keys[0].nrows()
            keys = [
                key + arb_mat([[random.gauss(0, 0.1)] for _ in range(rows)])
                for key in world.keys
            ]
            if w.holds(question.node, world.moved(keys=keys)) is False:
                return True
    return False


def _broken(question: Question, one: Outcome, random: Random) -> Outcome:
    """Where only scores are known: scores that satisfy all conditions, and for which the claim fails."""
    if any(
        isinstance(part, t.Relation) and set(part.comparisons) & {">>", "<<"}
        for part in t.walk(question.node)
    ):
        return one  # how much larger 'much larger' is was said of no claim
    for worlds in _admissible(question, random, SEARCHED):
        world = worlds[0]
        met = all(
            _met(condition, each, question) is True
            for each in worlds
            for condition in question.conditions
        )
        if (
            met
            and isinstance(world, w.KeysWorld)
            and all(w.holds(question.node, each) is False for each in worlds)
        ):
            scores = ", ".join(key[0, 0].str(4, radius=False) for key in world.keys)
            said = (
                f"with the scores {scores} (that of k_{next(iter(world.places))} first)"
            )
            values = {
                name: Fraction(str(world.numbers[name]))
                for name in question.exercise.parameters
            }
            return _instead(
                one,
                Decision(
                    "refuted", f"{said}, {at(values)}: {plain(question.node)} is false"
                ),
            )
    return one


def _integers(
    question: Question, random: Random, count: int = INTEGERS, *, same: bool = False
) -> Iterator[w.IntegersWorld]:
    """Worlds of integers that are as given."""
    setting = question.exercise.integers
    given = [parsed(source) for source in setting.given] if setting is not None else []
    for world in integers(question, random, count, same=same):
        if all(w.holds(one, world) is True for one in given):
            yield world


def _with_some(node: t.Node, world: w.IntegersWorld) -> bool | None:
    """A statement, in which an integer that only its conclusion names may be any: one such is claimed to exist."""
    some: set[str] = set()
    if isinstance(node, t.Logic) and node.word == "implies":
        before, after = (set(map(full_name, names_in(side))) for side in node.items)
        some = (after - before) & set(SOME)
    if not some:
        return w.holds(node, world)
    reach = range(-REACH, REACH + 1)
    said = [
        w.holds(
            node, world.moved(numbers={**world.numbers, **dict.fromkeys(some, value)})
        )
        for value in reach
    ]
    return (
        True if True in said else False if world.same and set(said) == {False} else None
    )


def says_something(exercise: Exercise, answer: Answer, one: Outcome) -> bool:
    """Whether a true claim would be false were the question idle: for another query, other tokens, rows all alike."""
    if one.decision.vacuous:
        return False
    node = one.link if exercise.integers is None else one.claim.node
    question, random = asked(exercise, answer, node, one.claim.under), Random(0)  # noqa: S311
    fails = (
        (one.claim.negated, None)
        if question.comparison == "!="
        else (one.claim.negated,)
    )  # equal, or nearly so
    if exercise.integers is not None:
        plainly = _waveless(node)
        return any(
            _with_some(plainly, each) in fails
            for each in _integers(question, random, 10 * IDLE, same=True)
        )
    own = [
        each.node for each in answer.conditions
    ]  # on its own names: they restrict no query
    given = [condition for condition in question.conditions if condition not in own]
    for worlds in sequences(question, random, IDLE):
        other = idle(question, worlds[-1], random)
        if (
            all(_met(condition, other, question) is not False for condition in given)
            and w.holds(node, other) in fails
        ):
            return True
    return False


def _waveless(node: t.Node) -> t.Node:
    """Where the question is idle, every sine is 0 and every cosine 1."""
    if isinstance(node, t.Call) and node.function in ("sin", "cos"):
        return t.Number(Fraction(int(node.function == "cos")))
    return t.mapped(node, _waveless)


NO_WEIGHTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "scaled": (
        ("1/4", "1/2"),
        ("1/2", "1/2", "1/100"),
        ("1/1000", "1/1000"),
        ("3/10", "3/10", "3/10"),
        ("2", "3"),
    ),
    "signed": (
        ("-1/10", "11/10"),
        ("3/5", "3/5", "-1/5"),
        ("-3", "2", "2"),
        ("1/2", "-1/1000", "501/1000"),
    ),
}


def rules_out(
    exercise: Exercise,
    answer: Answer,
    links: Sequence[t.Relation],
    kind: Literal["scaled", "signed"],
) -> bool:
    """Whether statements about the weights fail for all numbers of a kind that are none: of another total, or negative.

    Every letter stands for each of the keys in turn, and two letters for two keys.
    """

    def false(link: t.Relation, weights: tuple[Fraction, ...]) -> bool:
        question = asked(exercise, answer, link, values={"n": Fraction(len(weights))})
        letters = sorted(
            {
                *question.letters,
                *(exercise.keys.named if exercise.keys is not None else ()),
            }
        )
        for worlds in sequences(question, Random(0), 1):  # noqa: S311
            for places in permutations(
                range(1, len(weights) + 1), min(len(letters), len(weights))
            ):
                there = dict(zip(letters, places, strict=False))
                if (
                    w.holds(link, worlds[-1].moved(weights=weights, places=there))
                    is False
                ):
                    return True
        return False

    kinds = (tuple(map(Fraction, written)) for written in NO_WEIGHTS[kind])
    return all(any(false(link, weights) for link in links) for weights in kinds)


# Worlds for a claim


@dataclass(frozen=True)
class Question:
    """What a claim is about, and what is known: all that a world is made for."""

    exercise: Exercise
    answer: Answer
    node: t.Node
    under: tuple[t.Node, ...]
    values: Mapping[str, Fraction]  # of a counterexample
    along: Mapping[str, Path]  # names that grow with others there
    comparison: str  # the sign of the claim
    definitions: Mapping[str, t.Node]
    conditions: Sequence[t.Node]  # what must hold where the claim is looked at
    own: frozenset[str]  # the names that the answer brings along
    letters: tuple[str, ...]  # those that stand for keys without a name
    moving: Mapping[str, int]  # where names go: 1 to infinity, -1 to -infinity, 0 to 0


def asked(
    exercise: Exercise,
    answer: Answer,
    node: t.Node,
    under: tuple[t.Node, ...] = (),
    values: Mapping[str, Fraction] = NO_VALUES,
    along: Mapping[str, Path] = NO_PATHS,
) -> Question:
    """The question that a claim is."""
    instead, tokens, keys = redefined(under, exercise), exercise.tokens, exercise.keys
    given: dict[str, str] = (
        {} if tokens is None else {**tokens.tokens, **tokens.weights}  # type: ignore[dict-item]
    )
    definitions = {
        name: parsed(source)
        for name, source in {**given, **exercise.definitions}.items()
    }
    definitions |= {name: said.node for name, said in answer.definitions.items()}
    definitions |= {name: part.terms[1] for name, part in instead.items()}
    comparison = (
        node.comparisons[0] if isinstance(node, t.Relation) and node.comparisons else ""
    )
    own = [one.node for one in answer.conditions]
    said = [*(part for part in under if part not in instead.values()), *own]
    if keys is not None and keys.are == "any":
        said += [
            one.node for one in answer.claims if _about_scores(one.node, definitions)
        ]
    if (
        keys is not None and comparison in LIMITS and not under
    ):  # the cases that the exercise sets aside do not count
        said += [parsed(source) for source in keys.given]
    going = [
        part
        for one in (*under, *own)
        for part in t.walk(one)
        if _sends(part, definitions)
    ]
    apart = [
        one for one in (*under, *own) if keys is not None and _says_which_keys(one)
    ]
    conditions = [
        one
        for one in said
        if not (isinstance(one, t.Name) or one in going or one in apart)
    ]
    letters = letters_in(node, keys)
    nodes = [
        node,
        *(one for one in (*under, *own) if one not in apart),
        *definitions.values(),
    ]
    mine = _own(exercise, nodes, {*definitions, *letters})
    question = Question(
        exercise,
        answer,
        node,
        under,
        values,
        along,
        comparison,
        definitions,
        conditions,
        mine,
        letters,
        {},
    )
    stated = {part for one in under for part in t.walk(one) if part in going}
    return replace(question, moving=_moving(question, going, stated))


def _sends(node: t.Node, definitions: Mapping[str, t.Node]) -> bool:
    """x -> infinity, t >> n; a condition on scores with >>, or on what is defined, is another thing."""
    if (
        not isinstance(node, t.Relation)
        or not node.comparisons
        or node.comparisons[0] not in ("->", ">>", "<<")
    ):
        return False
    big = node.terms[1] if node.comparisons[0] == "<<" else node.terms[0]
    return isinstance(big, t.Name) and full_name(big) not in definitions


def _about_scores(node: t.Node, definitions: Mapping[str, t.Node]) -> bool:
    """Whether a statement is about scores alone, by what its names are defined to be, too."""
    spoken = list(names_in(node))
    spoken += [
        n for name in spoken for n in names_in(definitions.get(full_name(name), name))
    ]
    names = {name.base for name in spoken}
    return (
        {"k", "q"} <= names
        and not names & {"alpha", "c", "v"}
        and not isinstance(node, t.Name | t.Negative)
    )


def _says_which_keys(node: t.Node) -> bool:
    """i != a."""
    return (
        isinstance(node, t.Relation)
        and node.comparisons == ("!=",)
        and all(
            isinstance(x, t.Number) or (isinstance(x, t.Name) and x.index is None)
            for x in node.terms
        )
    )


def _moving(
    question: Question, going: Sequence[t.Node], stated: Collection[t.Node]
) -> dict[str, int]:
    """Where names go: as is said, and as is meant where nothing is."""
    exercise, given = question.exercise, question.exercise.parameters
    noisy = exercise.keys is not None and exercise.keys.noise == "vanishing"
    if noisy and w.VARIANCE in map(full_name, names_in(question.node)):
        return {w.VARIANCE: 0}  # for any query
    moving: dict[str, int] = {}
    spoken = [set(map(full_name, names_in(one))) for one in question.conditions]
    held = set().union(*spoken)
    limited = False  # 'as n grows': then n moves, what else is said to move, and nothing besides
    for part in going:
        assert isinstance(part, t.Relation)  # noqa: S101
        big, other = part.terms if part.comparisons[0] != "<<" else reversed(part.terms)
        assert isinstance(big, t.Name)  # noqa: S101
        small = isinstance(other, t.Number) and part.comparisons[0] == "->"
        moving[full_name(big)] = (
            0 if small else -1 if isinstance(other, t.Negative) else 1
        )
        limited |= (
            part in stated
            and part.comparisons == ("->",)
            and full_name(big) != w.VARIANCE
        )
    if not (limited and question.comparison in LIMITS):
        if question.comparison not in ("=", "!="):
            large = {name for name, known in given.items() if known.large}
            moving = {
                name: 1 for name in sorted(question.own | large) if name not in held
            } | moving
        if question.comparison in LIMITS:
            fixed = set().union(
                *(names for names in spoken if names <= set(given))
            )  # a value of it is spoken of
            moving |= {
                name: 0
                for name, known in given.items()
                if known.small and name not in fixed
            }
    return {name: way for name, way in moving.items() if name not in question.values}


def _own(
    exercise: Exercise, nodes: Sequence[t.Node], given: set[str]
) -> frozenset[str]:
    """The names that an answer brings along."""
    letters = {"k", "v", "alpha", "c", "q"}
    known = given | {*exercise.parameters, *exercise.answer, *KNOWN}
    known |= {
        part.index
        for node in nodes
        for part in t.walk(node)
        if isinstance(part, t.BigSum | t.BigCall)
    }
    if exercise.keys is not None:
        letters |= set(exercise.keys.also)
        known |= {
            *exercise.keys.directions,
            *(scale.name for scale in exercise.keys.scales.values()),
            "c",
            "q",
        }
    if exercise.tokens is not None:
        letters.add(exercise.tokens.letter)
    found = [
        name
        for node in nodes
        for name in names_in(node)
        if name.base not in letters or name.index is None
    ]
    return frozenset(map(full_name, found)) - known


def letters_in(node: t.Node, setting: Keys | None) -> tuple[str, ...]:
    """The letters that stand for keys without a name."""
    if setting is None:
        return ()
    bound = {
        part.index for part in t.walk(node) if isinstance(part, t.BigSum | t.BigCall)
    }
    found: set[str] = set()
    for part in t.walk(node):
        if (
            isinstance(part, t.Name)
            and part.base in ("k", "v", "alpha", *setting.also)
            and part.index is not None
        ):
            last = t.listed(part.index)[-1]
            found |= {label(last)} if isinstance(last, t.Name) else set()
    return tuple(sorted(found - set(setting.named) - bound))


def names_in(node: t.Node) -> Iterator[t.Name]:
    """The names in a formula, but for those in an index, and those that say over which keys a sum runs."""
    if isinstance(node, t.Name):
        yield node
        return
    big = isinstance(node, t.BigSum | t.BigCall)
    for part in (node.body, node.lower, node.upper) if big else node.children():  # type: ignore[attr-defined]
        yield from names_in(part) if part is not None else ()


def sequences(
    question: Question, random: Random, count: int
) -> Iterator[list[w.World]]:
    """So many sequences of worlds; of one world where nothing grows or vanishes."""
    strained = any(
        isinstance(part, t.Relation) and set(part.comparisons) & {">>", "<<"}
        for condition in question.conditions
        for part in t.walk(condition)
    )
    stages = range(STAGES) if question.moving or strained else range(1)
    for place in range(count):
        seed = random.randrange(2**32)
        with precision():
            worlds = [_world(question, Random(seed), place, stage) for stage in stages]  # noqa: S311
        found = [
            replace(world, tends=len(worlds) > 1)
            for world in worlds
            if world is not None
        ]
        if len(found) == len(worlds):
            yield found


def _world(
    question: Question, random: Random, place: int, stage: int
) -> w.World | None:
    exercise, keys = question.exercise, question.exercise.keys
    numbers = {
        name: _parameter(known, random, place)
        for name, known in exercise.parameters.items()
    }
    numbers |= {name: random.choice(USUAL) for name in sorted(question.own)}
    far = Fraction(10 ** (1 + 2 * stage))
    for name, way in question.moving.items():
        numbers[name] = (
            1 / far
            if way == 0
            else Fraction((5, 12, 30)[stage])
            if name == "n"
            else way * far
        )
    for condition in question.conditions:  # 'let lambda = 1'
        match condition:
            case t.Relation((t.Name(index=None) as pinned, other), ("=",)) if (
                value := t.number_of(other)
            ) is not None:
                numbers[full_name(pinned)] = value
    numbers |= question.values
    numbers |= {
        name: path.times * numbers[path.lead] ** path.power
        for name, path in question.along.items()
    }
    if exercise.tokens is not None:
        return w.TokensWorld(question.definitions, numbers, setting=exercise.tokens)
    if keys is None:
        return None
    for scale in (
        keys.scales.values()
    ):  # one after the other: what is said for one length only is seen too
        lengths = scale.one_of or LENGTHS
        numbers.setdefault(scale.name, lengths[place % len(lengths)])
    if (
        keys.first is not None
        and keys.first.size not in question.values
        and "n" in numbers
    ):
        numbers[keys.first.size] = Fraction(
            random.randint(1, max(1, int(numbers["n"]) - 1))
        )
    return _keys(question, keys, numbers, random, Fraction(10 ** (1 + stage)))


def _parameter(known: Parameter, random: Random, place: int) -> Fraction:
    limits = known.range()
    low = limits.lower if isinstance(limits.lower, Fraction) else Fraction(0)
    if known.integer:
        steps = [
            step
            for step in WHOLE
            if not isinstance(limits.upper, Fraction) or low + step <= limits.upper
        ] or [0]
        return low + (steps[place] if place < len(steps) else random.choice(steps))
    if isinstance(limits.upper, Fraction):
        return low + (limits.upper - low) * random.choice(SHARES)
    return low + random.choice(USUAL)


def _keys(
    question: Question,
    setting: Keys,
    numbers: dict[str, Fraction],
    random: Random,
    much: Fraction,
) -> w.KeysWorld | None:
    n, letters = numbers["n"], question.letters
    if n.denominator != 1 or not len(setting.named) + len(letters) <= n <= MOST_KEYS:
        return None
    if setting.first is not None and not numbers[setting.first.size] < n:
        return None
    order = list(range(1, int(n) + 1))
    if setting.first is not None:
        random.shuffle(
            order
        )  # a letter may stand for one of the first keys, or for one of the others
    places = dict(zip((*setting.named, *letters), order, strict=False))
    keys = [w.unit(int(n), place) for place in range(int(n))]
    for which, scale in setting.scales.items():
        keys[places[which] - 1] *= ball(numbers[scale.name])
    queries: dict[str, arb_mat] = {}
    if (
        setting.are == "separated"
    ):  # unit vectors with a given inner product with the first
        for place in range(1, int(n)):
            drawn = random.choice(
                (
                    Fraction(1, 2),
                    Fraction(1, 2),
                    Fraction(0),
                    Fraction(-1),
                    Fraction(1, 3),
                )
            )
            mine = Symbol(
                "closeness", letters[place - 1] if place <= len(letters) else ""
            )
            close = numbers.get(mine, numbers.get(Symbol("closeness"), drawn))
            keys[place] = (
                keys[0] * ball(close) + keys[place] * ball(1 - close**2).sqrt()
            )
    if setting.are == "any":
        usual = (Fraction(0), Fraction(-1), Fraction(1, 3), Fraction(2), -much, much)
        alike, one = random.random() < 0.5, random.choice(usual)
        others = [one if alike else random.choice(usual) for _ in keys[1:]]
        above = random.choice((*TOPS, 2 * much, 3 * much, 3 * much))
        keys = [w.number(score) for score in (max(others) + above, *others)]
        queries = {"q": w.number(1)}
    heads = [
        name
        for name in (*question.exercise.answer, *question.exercise.definitions)
        if name.split("_")[0] == "q"
    ]
    return w.KeysWorld(
        question.definitions,
        numbers,
        much,
        setting=setting,
        keys=keys,
        places=places,
        queries=queries,
        heads=tuple(sorted(heads)) or ("q",),
    )


def idle(question: Question, world: w.World, random: Random) -> w.World:
    """The same were the question idle: another query, other tokens, no mask."""
    if isinstance(world, w.KeysWorld):
        rows = world.keys[0].nrows()
        drawn = {
            head: arb_mat([[random.randint(-2, 2)] for _ in range(rows)])
            for head in world.heads
        }
        return world.moved(queries=drawn)
    if not isinstance(world, w.TokensWorld):
        return world
    if world.setting.mask == "causal":
        return world.moved(setting=world.setting.model_copy(update={"mask": "none"}))
    single: list[t.Node] = [
        t.Name(world.setting.letter, t.Name(which))
        for which in world.setting.directions
    ]
    some = [
        *single,
        *(t.Product((t.Number(Fraction(2)), one)) for one in single),
        t.Sum((single[0], single[-1])),
    ]
    same, alike = random.choice(some), random.random() < 0.5
    other = {
        token: same if alike else random.choice(some) for token in world.setting.tokens
    }
    return world.moved(definitions={**question.definitions, **other})


def integers(
    question: Question, random: Random, count: int, *, same: bool = False
) -> Iterator[w.IntegersWorld]:
    """Integers at random, small ones mostly, that are as given."""
    setting = question.exercise.integers
    for _ in range(count if setting is not None else 0):
        assert setting is not None  # noqa: S101
        drawn = {
            name: Fraction(
                random.choice((random.randint(0, 14), random.randint(-3, 3)))
            )
            for name in setting.integers
        }
        for name, known in question.exercise.parameters.items():
            drawn[name] = _parameter(known, random, len(WHOLE)) + random.randint(0, 40)
        if "d" in drawn:  # the width of a row is even
            drawn["d"] = Fraction(2 * random.randint(1, WIDEST // 2))
        drawn |= question.values
        width = int(drawn["d"]) if drawn.get("d", 0) in range(2, WIDEST + 1, 2) else 4
        if all(drawn[x] != drawn[y] for x, y in setting.different):
            yield w.IntegersWorld({}, drawn, rows=setting.rows, width=width, same=same)
