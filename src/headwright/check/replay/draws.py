"""Explicit worlds for a claim: random admissible ones, or those at the values of a counterexample.

A claim about large or small names is looked at along a sequence in which they grow or vanish.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from random import Random

from flint import arb, arb_mat

from headwright.check.answer import Answer, full_name, label, number_of, redefined
from headwright.check.decision import Path
from headwright.check.exercise import Exercise, Keys, Parameter, parsed
from headwright.check.replay.worlds import (
    VARIANCE,
    IntegersWorld,
    KeysWorld,
    TokensWorld,
    World,
    column,
    heads_of,
    unit,
)
from headwright.check.scalars.numbers import Symbol
from headwright.formula import tree as t
from headwright.formula.evaluate import ball, precision

STAGES = 3  # of a sequence
MOST_KEYS = 40  # that are written out
WHOLE = (0, 1, 2, 5, 11, 28)  # steps above the least integer
SHARES = tuple(Fraction(*pair) for pair in ((1, 2), (1, 10), (9, 10), (1, 1000), (999, 1000)))
USUAL = tuple(Fraction(*pair) for pair in ((1, 2), (1, 1), (2, 1), (1, 10), (5, 1), (30, 1)))
LENGTHS = tuple(Fraction(*pair) for pair in ((1, 3), (2, 1), (9, 10), (11, 10), (-1, 1), (1, 1), (4, 1), (20, 1)))
TOPS = tuple(Fraction(*pair) for pair in ((-3, 1), (-1, 10), (0, 1), (1, 10), (1, 1), (3, 1), (8, 1), (40, 1)))
KNOWN = ("pi", "e", "infinity", "I", "I_d", "I_D")


@dataclass(frozen=True)
class Question:
    """What a claim is about, and what is known: all that a world is made for."""

    exercise: Exercise
    answer: Answer
    node: t.Node
    under: tuple[t.Node, ...]
    values: Mapping[str, Fraction] = field(default_factory=dict)  # of a counterexample
    along: Mapping[str, Path] = field(default_factory=dict)  # names that grow with others there

    @cached_property
    def definitions(self) -> dict[str, t.Node]:
        """What is given, and what the answer defines."""
        tokens = self.exercise.tokens
        given: dict[str, str] = {} if tokens is None else {**tokens.tokens, **tokens.weights}  # type: ignore[dict-item]
        known = {name: parsed(source) for name, source in {**given, **self.exercise.definitions}.items()}
        known |= {name: said.node for name, said in self.answer.definitions.items()}
        return known | {name: part.terms[1] for name, part in redefined(self.under, self.exercise).items()}

    @cached_property
    def conditions(self) -> list[t.Node]:
        """What must hold where the claim is looked at, but for what grows and which keys are meant."""
        instead = redefined(self.under, self.exercise).values()
        said = [part for part in self.under if part not in instead] + [one.node for one in self.answer.conditions]
        if self.exercise.keys is not None and self.exercise.keys.are == "any":
            said += [one.node for one in self.answer.claims if self._about_scores(one.node)]
        said += self._set_aside()
        return [one for one in said if not (isinstance(one, t.Name) or self._tends(one) or self._places(one))]

    def _tends(self, node: t.Node) -> bool:
        """x -> infinity, t >> n; a condition on scores with >>, or on what is defined, is another thing."""
        if not isinstance(node, t.Relation) or not node.comparisons or node.comparisons[0] not in ("->", ">>", "<<"):
            return False
        big = node.terms[1] if node.comparisons[0] == "<<" else node.terms[0]
        return isinstance(big, t.Name) and full_name(big) not in self.definitions

    def _about_scores(self, node: t.Node) -> bool:
        """Whether a statement is about scores alone, by what its names are defined to be, too."""
        names = {name.base for name in names_in(node)}
        for full in {full_name(name) for name in names_in(node)} & set(self.definitions):
            names |= {name.base for name in names_in(self.definitions[full])}
        return {"k", "q"} <= names and not names & {"alpha", "c", "v"} and not isinstance(node, t.Name | t.Negative)

    def _set_aside(self) -> list[t.Node]:
        """Where a length is random and nothing is said of it, the cases that the exercise sets aside do not count."""
        setting = self.exercise.keys
        if setting is None or self.comparison not in ("~", "->") or self.under:
            return []
        return [parsed(source) for source in setting.given]

    def _places(self, node: t.Node) -> bool:
        return (
            isinstance(node, t.Relation)
            and node.comparisons == ("!=",)
            and self.exercise.keys is not None
            and all(isinstance(x, t.Number) or (isinstance(x, t.Name) and x.index is None) for x in node.terms)
        )

    @cached_property
    def pinned(self) -> dict[str, Fraction]:
        """The names that are said to be one number: 'let lambda = 1'."""
        found: dict[str, Fraction] = {}
        for node in self.conditions:
            match node:
                case t.Relation((t.Name() as name, other), ("=",)):
                    value = number_of(other)
                    found |= {} if value is None or name.index is not None else {full_name(name): value}
        return found

    @cached_property
    def falling(self) -> frozenset[str]:
        """The names that go to -infinity."""
        return frozenset(_name(part.terms[0]) for part in self._going if _name(part.terms[1]) == "-infinity")

    @cached_property
    def strained(self) -> frozenset[str]:
        """The names of the answer's own in what is said to be large: e^t >> n."""
        return frozenset(_name(name) for part in self.much for name in names_in(part)) & self.own

    @cached_property
    def much(self) -> list[t.Relation]:
        """What is said to be much larger than something else."""
        said = (part for condition in self.conditions for part in t.walk(condition) if isinstance(part, t.Relation))
        return [part for part in said if set(part.comparisons) & {">>", "<<"}]

    @cached_property
    def _going(self) -> list[t.Relation]:
        """What is said of where names go."""
        said = (*self.under, *(one.node for one in self.answer.conditions))
        return [part for one in said for part in t.walk(one) if isinstance(part, t.Relation) and self._tends(part)]

    @cached_property
    def tending(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names that grow, and those that vanish."""
        noisy = self.exercise.keys is not None and self.exercise.keys.noise == "vanishing"
        if noisy and VARIANCE in map(_name, names_in(self.node)):
            return frozenset(), frozenset({VARIANCE})  # for any query
        grows: set[str] = set()
        shrinks: set[str] = set()
        for part in self._going:
            big, other = part.terms if part.comparisons[0] != "<<" else reversed(part.terms)
            (shrinks if isinstance(other, t.Number) and part.comparisons[0] == "->" else grows).add(_name(big))
        held = {_name(n) for one in self.conditions for n in names_in(one)}
        if self._states_limit:
            return frozenset(grows - shrinks - set(self.values)), frozenset(shrinks - set(self.values))
        if self.comparison not in ("=", "!="):
            grows |= self.own - held
            grows |= {name for name, known in self.exercise.parameters.items() if known.large and name not in held}
        if self.comparison in ("~", "->"):
            given = self.exercise.parameters
            spoken = [{_name(n) for n in names_in(one)} for one in self.conditions]
            fixed = {name for names in spoken if names <= set(given) for name in names}  # a value of it is spoken of
            shrinks |= {name for name, known in given.items() if known.small and name not in fixed}
        return frozenset(grows - shrinks - set(self.values)), frozenset(shrinks - set(self.values))

    @property
    def _states_limit(self) -> bool:
        """'as n grows': then n moves, what else is said to move, and nothing besides; noise vanishes anyway."""
        said = [
            part for one in self.under for part in t.walk(one) if isinstance(part, t.Relation) and self._tends(part)
        ]
        sent = [part for part in said if part.comparisons == ("->",) and _name(part.terms[0]) != VARIANCE]
        return bool(sent) and self.comparison in ("~", "->")

    @property
    def comparison(self) -> str:
        """The sign of the claim."""
        return self.node.comparisons[0] if isinstance(self.node, t.Relation) and self.node.comparisons else ""

    @cached_property
    def own(self) -> set[str]:
        """The names that the answer brings along."""
        exercise, defined = self.exercise, self.definitions
        letters = {"k", "v", "alpha", "c", "q"}
        known = {*exercise.parameters, *defined, *exercise.answer, *KNOWN}
        if exercise.keys is not None:
            letters |= set(exercise.keys.also)
            scales = (scale.name for scale in exercise.keys.scales.values())
            known |= {*exercise.keys.directions, *scales, "c", "q"}
        if exercise.tokens is not None:
            letters.add(exercise.tokens.letter)
        under = [node for node in self.under if not self._places(node)]
        nodes = [self.node, *under, *defined.values(), *(one.node for one in self.answer.conditions)]
        found = [name for node in nodes for name in names_in(node)]
        bound = {part.index for node in nodes for part in t.walk(node) if isinstance(part, t.BigSum | t.BigCall)}
        given = known | bound | self.letters(exercise.keys)
        return {_name(n) for n in found if _name(n) not in given and not (n.base in letters and n.index is not None)}

    def letters(self, setting: Keys | None) -> set[str]:
        """The letters that stand for keys without a name."""
        if setting is None:
            return set()
        bound = {part.index for part in t.walk(self.node) if isinstance(part, t.BigSum | t.BigCall)}
        bases = ("k", "v", "alpha", *setting.also)
        found: set[str] = set()
        for part in t.walk(self.node):
            if isinstance(part, t.Name) and part.base in bases and part.index is not None:
                last = part.index.items[-1] if isinstance(part.index, t.Listing) else part.index
                found |= {label(last)} if isinstance(last, t.Name) else set()
        return found - set(setting.named) - bound


def names_in(node: t.Node) -> Iterator[t.Name]:
    """The names in a formula, but for those in an index, and those that say over which keys a sum runs."""
    if isinstance(node, t.Name):
        yield node
    elif isinstance(node, t.BigSum | t.BigCall):
        for part in (node.body, node.lower, node.upper):
            yield from names_in(part) if part is not None else ()
    else:
        for part in node.children():
            yield from names_in(part)


def _name(node: t.Node) -> str:
    """The name that a node is, perhaps with a minus in front."""
    if isinstance(node, t.Negative) and isinstance(node.body, t.Name):
        return f"-{full_name(node.body)}"
    return full_name(node) if isinstance(node, t.Name) else ""


def sequences(question: Question, random: Random, count: int) -> Iterator[list[World]]:
    """So many sequences of worlds; of one world where nothing grows or vanishes."""
    grows, shrinks = question.tending
    stages = range(STAGES) if grows or shrinks or question.much else range(1)
    for number in range(count):
        seed = random.randrange(2**32)
        with precision():
            worlds = [_world(question, Random(seed), number, stage, grows, shrinks) for stage in stages]  # noqa: S311
        if all(world is not None for world in worlds):
            yield [replace(world, tends=len(worlds) > 1) for world in worlds if world is not None]


def _world(
    question: Question, random: Random, number: int, stage: int, grows: frozenset[str], shrinks: frozenset[str]
) -> KeysWorld | TokensWorld | None:
    exercise = question.exercise
    numbers: dict[str, Fraction] = {}
    for name, known in exercise.parameters.items():
        numbers[name] = _parameter(known, random, number)
    for name in sorted(question.own):
        numbers[name] = random.choice(USUAL)
    for name in grows:
        numbers[name] = Fraction((5, 12, 30)[stage]) if name == "n" else Fraction(10 ** (1 + 2 * stage))
    for name in shrinks:
        numbers[name] = Fraction(1, 10 ** (1 + 2 * stage))
    for name in sorted(question.strained):
        far = Fraction(10 ** (1 + 2 * stage))
        numbers[name] = random.choice((far, 1 / far, -far))
    for name in question.falling:
        numbers[name] = -Fraction(10 ** (1 + 2 * stage))
    numbers |= question.pinned | dict(question.values)
    numbers |= {name: path.times * numbers[path.lead] ** path.power for name, path in question.along.items()}
    if exercise.keys is not None:
        for scale in exercise.keys.scales.values():  # one after the other: what is said for one length only is seen too
            lengths = scale.one_of or LENGTHS
            numbers.setdefault(scale.name, lengths[number % len(lengths)])
        first = exercise.keys.first
        if first is not None and first.size not in question.values and "n" in numbers:
            numbers[first.size] = Fraction(random.randint(1, max(1, int(numbers["n"]) - 1)))
        return _keys(question, exercise.keys, numbers, random, Fraction(10 ** (1 + stage)))
    if exercise.tokens is not None:
        return TokensWorld(question.definitions, numbers, setting=exercise.tokens, tokens=tuple(exercise.tokens.tokens))
    return None


def _parameter(known: Parameter, random: Random, number: int) -> Fraction:
    limits = known.range()
    low = limits.lower if isinstance(limits.lower, Fraction) else Fraction(0)
    if known.integer:
        steps = [step for step in WHOLE if not isinstance(limits.upper, Fraction) or low + step <= limits.upper] or [0]
        return low + (steps[number] if number < len(steps) else random.choice(steps))
    if isinstance(limits.upper, Fraction):
        return low + (limits.upper - low) * random.choice(SHARES)
    return low + random.choice(USUAL)


def _keys(
    question: Question, setting: Keys, numbers: dict[str, Fraction], random: Random, much: Fraction
) -> KeysWorld | None:
    n = numbers["n"]
    letters = sorted(question.letters(setting))
    if n.denominator != 1 or not len(setting.named) + len(letters) <= n <= MOST_KEYS:
        return None
    if setting.first is not None and not numbers[setting.first.size] < n:
        return None
    size = int(n)
    order = list(range(1, size + 1))
    if setting.first is not None:
        random.shuffle(order)  # a letter may stand for one of the first keys, or for one of the others
    places = dict(zip((*setting.named, *letters), order, strict=False))
    keys = [unit(size, place) for place in range(size)]
    for which, scale in setting.scales.items():
        keys[places[which] - 1] = keys[places[which] - 1] * ball(numbers[scale.name])
    queries: dict[str, arb_mat] = {}
    if setting.are == "separated":
        keys = [apart(size, place, _closeness(numbers, letters, place, random)) for place in range(size)]
    if setting.are == "any":
        usual = (Fraction(0), Fraction(-1), Fraction(1, 3), Fraction(2), -much, much)
        alike, one = random.random() < 0.5, random.choice(usual)
        others = [one if alike else random.choice(usual) for _ in keys]
        top = max(others[1:])
        above = random.choice((*TOPS, 2 * much, 3 * much, 3 * much))
        keys = [column([ball(score)]) for score in (top + above, *others[1:])]
        queries = {"q": column([arb(1)])}
    heads = heads_of(question.exercise)
    definitions = {name: node for name, node in question.definitions.items() if name not in queries}
    return KeysWorld(
        definitions, numbers, ball(much), setting=setting, keys=keys, places=places, queries=queries, heads=heads
    )


def _closeness(numbers: Mapping[str, Fraction], letters: list[str], place: int, random: Random) -> Fraction:
    drawn = random.choice((Fraction(1, 2), Fraction(1, 2), Fraction(0), Fraction(-1), Fraction(1, 3)))
    mine = Symbol("closeness", letters[place - 1] if 0 < place <= len(letters) else "")
    return numbers.get(mine, numbers.get(Symbol("closeness"), drawn))


def apart(size: int, place: int, closeness: Fraction) -> arb_mat:
    """A unit vector with this inner product with the first."""
    if place == 0:
        return unit(size, 0)
    rest = ball(1 - closeness**2).sqrt()
    return unit(size, 0) * ball(closeness) + unit(size, place) * rest


def noisy(world: KeysWorld, random: Random, size: arb | float = 0.1) -> KeysWorld:
    """The same with every key moved a little, as its variance allows."""
    moved = [key + column([arb(random.gauss(0, 1)) * size for _ in range(key.nrows())]) for key in world.keys]
    return replace(world, keys=moved, _values={})


def idle(question: Question, world: World, random: Random) -> World:
    """The same were the question idle: another query, other tokens, no mask."""
    if isinstance(world, KeysWorld):
        size = world.keys[0].nrows()
        drawn = {head: column([arb(random.randint(-2, 2)) for _ in range(size)]) for head in world.heads}
        return replace(world, queries=drawn, _values={})
    if isinstance(world, TokensWorld) and world.setting is not None and world.setting.mask == "causal":
        return replace(world, setting=world.setting.model_copy(update={"mask": "none"}), _values={})
    if isinstance(world, TokensWorld) and world.setting is not None:
        single: list[t.Node] = [t.Name(world.setting.letter, t.Name(which)) for which in world.setting.directions]
        some = [*single, *(t.Product((t.Number(Fraction(2)), one)) for one in single), t.Sum((single[0], single[-1]))]
        same, alike = random.choice(some), random.random() < 0.5
        other: dict[str, t.Node] = {token: same if alike else random.choice(some) for token in world.tokens}
        return replace(world, definitions={**question.definitions, **other}, _values={})
    return world


WIDEST = 32  # row of a position embedding that is drawn


def integers(question: Question, random: Random, count: int, *, same: bool = False) -> Iterator[IntegersWorld]:
    """Integers at random, small ones mostly."""
    setting = question.exercise.integers
    if setting is None:
        return
    for _ in range(count):
        drawn = {
            name: Fraction(random.choice((random.randint(0, 14), random.randint(-3, 3)))) for name in setting.integers
        }
        for name, known in question.exercise.parameters.items():
            drawn[name] = _parameter(known, random, len(WHOLE)) + random.randint(0, 40)
        if "d" in drawn:  # the width of a row is even
            drawn["d"] = Fraction(2 * random.randint(1, WIDEST // 2))
        drawn |= question.values
        width = int(drawn["d"]) if drawn.get("d", 0) in range(2, WIDEST + 1, 2) else 4
        yield IntegersWorld({}, drawn, rows=setting.rows, width=width, same=same)


def waveless(node: t.Node) -> t.Node:
    """Where the question is idle, every sine is 0 and every cosine 1."""
    if isinstance(node, t.Call) and node.function in ("sin", "cos"):
        return t.Number(Fraction(int(node.function == "cos")))
    return t.mapped(node, waveless)


def existential(node: t.Node, some: tuple[str, ...]) -> set[str]:
    """The integers that only a conclusion names: one such is claimed to exist."""
    if not isinstance(node, t.Logic) or node.word != "implies":
        return set()
    before, after = ({_name(n) for n in names_in(side)} for side in node.items)
    return {name for name in after - before if name in some}
