"""Instances for a claim, one by one or as a sequence in which names grow or vanish; outcomes looked at again there.

A claim about large or small names is looked at along a sequence in which they grow or vanish. How an instance is
drawn is said by the kind of the exercise, in an `InstanceDrawer`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from flint import arb

from headwright.formulas import tree as t
from headwright.formulas.evaluate import precision
from headwright.formulas.show import plain
from headwright.grading.answer import Answer, full_name, redefined, speaks_of_chance
from headwright.grading.decision import Decision, Path
from headwright.grading.exercise import Exercise, Parameter, parsed
from headwright.grading.judging import Outcome, at, decided_instead
from headwright.grading.recheck.instances import (
    EQUAL,
    NONE,
    ExplicitInstance,
    gap,
    holds,
    undefined,
)
from headwright.grading.recheck.outcomes import confirmed

TRIED = 10  # sequences of instances for one decision
IDLE = 40  # instances in which a claim must fail once to say something
FALLS = arb("0.98")  # by so much at least a distance shrinks that may go to 0
STAGES = 3  # of a sequence
WHOLE = (0, 1, 2, 5, 11, 28)  # steps above the least integer
SHARES = tuple(
    Fraction(*pair) for pair in ((1, 2), (1, 10), (9, 10), (1, 1000), (999, 1000))
)
USUAL = tuple(
    Fraction(*pair) for pair in ((1, 2), (1, 1), (2, 1), (1, 10), (5, 1), (30, 1))
)
KNOWN = ("pi", "e", "infinity", "I", "I_d", "I_D")
LIMITS = ("~", "->")
NO_VALUES: Mapping[str, Fraction] = {}
NO_PATHS: Mapping[str, Path] = {}


@dataclass(frozen=True)
class InstanceDrawer:
    """Draws instances of one exercise; a kind says how, and what its notation is."""

    exercise: Exercise

    noise = ""  # the name of the variance of noise that vanishes
    is_lenient = False  # a refuted statement may hold in every instance that is drawn

    def given_formulas(self) -> Mapping[str, str]:
        """What the table of the exercise defines."""
        return {}

    def given_letters(self) -> Collection[str]:
        """Letters that stand for given things with an index."""
        return ()

    def given_names(self) -> Collection[str]:
        """Names that the table gives."""
        return ()

    def letters_in(self, node: t.Node) -> tuple[str, ...]:
        """The letters that stand for things without a name: i of k_i."""
        del node
        return ()

    def says_which(self, node: t.Node) -> bool:
        """Whether a condition only says for which index something is meant: i != a."""
        del node
        return False

    def assumed(
        self,
        answer: Answer,
        comparison: str,
        under: Sequence[t.Node],
        definitions: Mapping[str, t.Node],
    ) -> list[t.Node]:
        """What holds where a claim is looked at, besides its own conditions."""
        del answer, comparison, under, definitions
        return []

    def draw(
        self,
        question: Question,
        numbers: dict[str, Fraction],
        random: Random,
        place: int,
        much: Fraction,
    ) -> ExplicitInstance | None:
        """An instance with these numbers; `much` grows along a sequence, `place` is that of the sequence."""
        raise NotImplementedError

    def make_idle(
        self, question: Question, instance: ExplicitInstance, random: Random
    ) -> ExplicitInstance:
        """The same were the question idle."""
        del question, random
        return instance

    def meets(
        self, condition: t.Node, instance: ExplicitInstance, question: Question
    ) -> bool | None:
        """Whether a condition holds there."""
        del question
        return holds(condition, instance)

    def refute_open(
        self, question: Question, outcome: Outcome, random: Random
    ) -> Outcome:
        """An outcome that is open, refuted where an instance does that."""
        del question, random
        return outcome

    def refute_proved(
        self, question: Question, outcome: Outcome, random: Random
    ) -> Outcome | None:
        """An outcome that is proved, refuted where instances show what the prover leaves out."""
        del question, outcome, random
        return None


def recheck(
    drawer: InstanceDrawer, answer: Answer, outcome: Outcome, random: Random
) -> Outcome:
    """One outcome looked at again: a proof at random admissible instances, a refutation at its own."""
    decision = outcome.decision
    is_proved = decision.word == "proved"
    question = _question(drawer, answer, outcome)
    if decision.word == "undecided":
        return drawer.refute_open(question, outcome, random)
    if outcome.role == "condition" or decision.beyond or decision.word == "holds":
        return outcome
    if speaks_of_chance(outcome.link):
        return outcome  # a probability, a mean or a variance has no instance
    said: list[bool | None] = []
    for instances in admissible(question, random, TRIED):
        said.append(_in_the_end(question, instances))
        # What has no value is not proved. Each closer look begins anew.
        if is_proved and said[-1] is None:
            no_value = all(undefined(outcome.link, one) for one in instances)
            if no_value and all(undefined(outcome.link, one) for one in instances):
                return _undefined_there(question, outcome, instances[0])
    if is_proved:
        instead = drawer.refute_proved(question, outcome, random)
        if instead is not None:
            return instead
    wanted = is_proved != outcome.claim.negated
    return confirmed(outcome, said, wanted, lenient=drawer.is_lenient)


def _no_logarithm(question: Question, instance: ExplicitInstance) -> t.Call | None:
    """The logarithm in what the answer defines that is taken of no positive number there: 'ln((n - 2)/epsilon)'."""
    for definition in question.definitions.values():
        for part in t.walk(definition):
            if not isinstance(part, t.Call) or part.function != "ln":
                continue
            (inner,) = part.arguments
            if holds(t.Relation((inner, t.ZERO), (">",)), instance) is False:
                return part
    return None


def _undefined_there(
    question: Question, outcome: Outcome, instance: ExplicitInstance
) -> Outcome:
    where = {
        name: Fraction(str(instance.numbers[name]))
        for name in question.exercise.parameters
    }
    reason = f"{plain(question.node)} is not defined for {at(where)}"
    taken = _no_logarithm(question, instance)
    if taken is not None:
        zero = t.Relation((taken.arguments[0], t.ZERO), ("=",))
        words = plain(taken)
        if holds(zero, instance):
            words += " = ln 0"
            where = _needed_for(zero, where, instance)
        reason = f"right wherever it is defined; but at {at(where)} it takes {words}"
    return decided_instead(outcome, Decision("refuted", reason))


def _needed_for(
    equation: t.Relation, where: dict[str, Fraction], instance: ExplicitInstance
) -> dict[str, Fraction]:
    """The numbers for which an equation holds, without those that make no difference when they are halved."""
    halved = {
        name: replace(
            instance, numbers={**instance.numbers, name: value / 2}, _values={}
        )
        for name, value in where.items()
    }
    needed = {
        name: value
        for name, value in where.items()
        if not holds(equation, halved[name])
    }
    return needed or where


def _question(drawer: InstanceDrawer, answer: Answer, outcome: Outcome) -> Question:
    decision, claim = outcome.decision, outcome.claim
    if decision.word != "refuted":
        return ask(drawer, answer, outcome.link, claim.under)
    return ask(
        drawer, answer, outcome.link, claim.under, decision.values, decision.along
    )


def says_something(drawer: InstanceDrawer, answer: Answer, outcome: Outcome) -> bool:
    """Whether a true claim would be false were the question idle: for another query, for other tokens."""
    if outcome.decision.vacuous:
        return False
    node, claim = outcome.link, outcome.claim
    random = Random(0)  # noqa: S311
    question = ask(drawer, answer, node, claim.under)
    fails: tuple[bool | None, ...] = (claim.negated,)
    if question.comparison == "!=":
        fails = (claim.negated, None)  # equal, or nearly so
    # Conditions on names of the answer's own restrict no query.
    own = [said.node for said in answer.conditions]
    given = [condition for condition in question.conditions if condition not in own]
    for instances in sequences(question, random, IDLE):
        idle = drawer.make_idle(question, instances[-1], random)
        met = [drawer.meets(condition, idle, question) for condition in given]
        if False not in met and holds(node, idle) in fails:
            return True
    return False


def admissible(
    question: Question, random: Random, count: int
) -> Iterator[list[ExplicitInstance]]:
    """Sequences of instances in the last of which all that is assumed certainly holds."""
    for instances in sequences(question, random, count):
        if all(
            question.drawer.meets(condition, instances[-1], question) is True
            for condition in question.conditions
        ):
            yield instances


def _in_the_end(
    question: Question, instances: Sequence[ExplicitInstance]
) -> bool | None:
    """What is said of the last instance of which anything is; of a sequence only if the one before agrees."""
    node = question.node
    said = [
        answer
        for instance in instances
        if (answer := holds(node, instance)) is not None
    ]
    if not said or len(instances) == 1:
        return said[-1] if said else None
    if question.comparison in LIMITS and isinstance(node, t.Relation):
        try:
            before, after = (
                gap(*(instance.value(term) for term in node.terms))
                for instance in instances[-2:]
            )
        except NONE:
            return None
        if said[-1] != bool(after < before * FALLS or after < EQUAL):
            return None  # log(t) grows slowly: the two come closer, and it is not known where to; or near, and no nearer  # noqa: E501
    if "n" in question.moving and not said[-1]:
        return None  # thirty keys are not many: e^(1/tau)/(e^(1/tau) + n - 1) goes to 0 all the same
    return said[-1] if len(said) > 1 and said[-1] == said[-2] else None


# Instances for a claim


@dataclass(frozen=True)
class Question:
    """What a claim is about, and what is known: all that an instance is drawn for."""

    drawer: InstanceDrawer
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

    @property
    def exercise(self) -> Exercise:
        """What is asked."""
        return self.drawer.exercise


def ask(
    drawer: InstanceDrawer,
    answer: Answer,
    node: t.Node,
    under: tuple[t.Node, ...] = (),
    values: Mapping[str, Fraction] = NO_VALUES,
    along: Mapping[str, Path] = NO_PATHS,
) -> Question:
    """The question that a claim is."""
    exercise = drawer.exercise
    instead = redefined(under, exercise)
    given = {**drawer.given_formulas(), **exercise.definitions}
    definitions = {name: parsed(source) for name, source in given.items()}
    definitions |= {name: said.node for name, said in answer.definitions.items()}
    definitions |= {name: part.terms[1] for name, part in instead.items()}
    comparison = (
        node.comparisons[0] if isinstance(node, t.Relation) and node.comparisons else ""
    )
    own = [one.node for one in answer.conditions]
    said = [*(part for part in under if part not in instead.values()), *own]
    said += drawer.assumed(answer, comparison, under, definitions)
    going = [
        part
        for one in (*under, *own)
        for part in t.walk(one)
        if _sends(part, definitions)
    ]
    apart = [one for one in (*under, *own) if drawer.says_which(one)]
    conditions = [
        one
        for one in said
        if not (isinstance(one, t.Name) or one in going or one in apart)
    ]
    letters = drawer.letters_in(node)
    nodes = [
        node,
        *(one for one in (*under, *own) if one not in apart),
        *definitions.values(),
    ]
    mine = _own(drawer, nodes, {*definitions, *letters})
    question = Question(
        drawer,
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


def _moving(
    question: Question, going: Sequence[t.Node], stated: Collection[t.Node]
) -> dict[str, int]:
    """Where names go: as is said, and as is meant where nothing is."""
    given = question.exercise.parameters
    noise = question.drawer.noise
    if noise and noise in map(full_name, names_in(question.node)):
        return {noise: 0}  # for any query
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
            part in stated and part.comparisons == ("->",) and full_name(big) != noise
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
    drawer: InstanceDrawer, nodes: Sequence[t.Node], given: set[str]
) -> frozenset[str]:
    """The names that an answer brings along."""
    exercise = drawer.exercise
    letters = {"k", "v", "alpha", "c", "q", *drawer.given_letters()}
    known = given | {
        *exercise.parameters,
        *exercise.answer,
        *KNOWN,
        *drawer.given_names(),
    }
    known |= {
        part.index
        for node in nodes
        for part in t.walk(node)
        if isinstance(part, t.BigSum | t.BigCall)
    }
    found = [
        name
        for node in nodes
        for name in names_in(node)
        if name.base not in letters or name.index is None
    ]
    return frozenset(map(full_name, found)) - known


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
) -> Iterator[list[ExplicitInstance]]:
    """So many sequences of instances; of one instance where nothing grows or vanishes."""
    strained = any(
        isinstance(part, t.Relation) and set(part.comparisons) & {">>", "<<"}
        for condition in question.conditions
        for part in t.walk(condition)
    )
    stages = range(STAGES) if question.moving or strained else range(1)
    for place in range(count):
        seed = random.randrange(2**32)
        with precision():
            instances = [
                _draw(question, Random(seed), place, stage)  # noqa: S311
                for stage in stages
            ]
        found = [
            replace(instance, tends=len(instances) > 1)
            for instance in instances
            if instance is not None
        ]
        if len(found) == len(instances):
            yield found


def _draw(
    question: Question, random: Random, place: int, stage: int
) -> ExplicitInstance | None:
    exercise = question.exercise
    numbers = {
        name: draw_parameter(known, random, place)
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
    return question.drawer.draw(
        question, numbers, random, place, Fraction(10 ** (1 + stage))
    )


def draw_parameter(known: Parameter, random: Random, place: int) -> Fraction:
    """A value in the range of a parameter; integers from the least one upwards."""
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
