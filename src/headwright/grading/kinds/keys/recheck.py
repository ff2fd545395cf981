"""Keys written out: a pattern is the softmax of inner products, an output a sum of weighted values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Literal

from flint import arb, arb_mat

from headwright.formulas import tree as t
from headwright.formulas.evaluate import ball, softmax
from headwright.formulas.shapes import SCALAR, Shape
from headwright.formulas.show import plain
from headwright.grading.answer import Answer, full_name, label, named
from headwright.grading.decision import Decision
from headwright.grading.exercise import parsed
from headwright.grading.judging import Outcome, at, decided_instead
from headwright.grading.kinds.keys.names import (
    Direction,
    Key,
    KeyValue,
    Output,
    Weight,
    meaning_of,
)
from headwright.grading.kinds.keys.table import Keys
from headwright.grading.recheck.instances import ExplicitInstance, holds, number, unit
from headwright.grading.recheck.sequences import (
    LIMITS,
    TRIED,
    InstanceDrawer,
    Question,
    admissible,
    ask,
    names_in,
    sequences,
)
from headwright.grading.scalars.numbers import Symbol

VARIANCE = "a"  # of noise that vanishes
SEARCHED = (
    200  # sequences in which a counterexample is sought, where only scores are known
)
NOISE = "the keys are random: with probability 1 the two sides differ; write \\approx if it is meant up to the noise"
MOST_KEYS = 40  # that are written out
LENGTHS = tuple(
    Fraction(*pair)
    for pair in ((1, 3), (2, 1), (9, 10), (11, 10), (-1, 1), (1, 1), (4, 1), (20, 1))
)
TOPS = tuple(
    Fraction(*pair)
    for pair in ((-3, 1), (-1, 10), (0, 1), (1, 10), (1, 1), (3, 1), (8, 1), (40, 1))
)


@dataclass
class KeysInstance(ExplicitInstance):
    """Keys as columns; the places (from 1) of those with a name, and of the letters that stand for others."""

    setting: Keys = field(kw_only=True)
    keys: list[arb_mat] = field(kw_only=True)
    places: Mapping[str, int] = field(kw_only=True)
    queries: Mapping[str, arb_mat] = field(default_factory=dict)
    heads: tuple[str, ...] = ("q",)
    weights: tuple[
        Fraction, ...
    ] = ()  # in place of the softmax, where the question is idle: see `rules_out`

    def range_of(self, index: str) -> tuple[int, int] | None:
        """A sum without bounds runs over all keys."""
        del index
        return 1, len(self.keys)

    def shape_of(self, name: t.Name) -> Shape | None:
        """By the letter: the index of a sum has no place yet."""
        match self._meaning_of(name):
            case Key() | Direction():
                return Shape(self.keys[0].nrows(), 1)
            case KeyValue():
                return Shape(len(self.keys), 1)
            case Weight():
                return SCALAR
        return super().shape_of(name)

    def value_of(self, name: t.Name) -> arb_mat | None:
        """Keys, directions, values, queries, weights, outputs; then what is defined."""
        full, size = full_name(name), self.keys[0].nrows()
        if full in self.queries:
            return self.queries[full]
        match self._meaning_of(name):
            case Key(which) if self._place(which):
                return self.keys[self._place(which) - 1]
            case Direction(which) if self._place(which):
                return unit(size, self._place(which) - 1)
            case KeyValue(which) if self._place(which):
                return unit(len(self.keys), self._place(which) - 1)
            case Weight(which, head):
                place = self._place(which)
                return number(self._pattern(head)[place - 1]) if place else None
            case Output(head) if "c" not in self.numbers:
                return arb_mat([[weight] for weight in self._pattern(head)])
        value = super().value_of(name)
        if value is None and full in self.places:
            return number(self.places[full])
        return value

    def _meaning_of(
        self, name: t.Name
    ) -> Key | Direction | KeyValue | Weight | Output | None:
        return meaning_of(name, self.setting, self.heads)

    def _place(self, which: str) -> int:
        """The place of a key, counted from 1; 0 where there is none."""
        place = self.places.get(which, int(which) if which.isdigit() else 0)
        return place if place <= len(self.keys) else 0

    def _pattern(self, head: str) -> list[arb]:
        """The weights of all keys, in one head or on the average over all."""
        heads = (head,) if head else self.heads
        if self.weights:
            return [ball(weight) for weight in self.weights]
        total = [arb(0)] * len(self.keys)
        for name in heads:
            query = self.value_of(named(name))
            if query is None or query.nrows() != self.keys[0].nrows():
                query = arb_mat(self.keys[0].nrows(), 1)  # a written 0
            weights = softmax(
                [[(key.transpose() * query)[0, 0] for key in self.keys]]
            ).entries()
            total = [x + y / len(heads) for x, y in zip(total, weights, strict=True)]
        return total


@dataclass(frozen=True)
class KeysDrawer(InstanceDrawer):
    """Draws keys; where only scores are known, keys are numbers and the query is 1."""

    table: Keys

    @property
    def noise(self) -> str:  # type: ignore[override]
        """The variance of the noise, where there is noise."""
        return VARIANCE if self.table.noise == "vanishing" else ""

    @property
    def is_lenient(self) -> bool:  # type: ignore[override]
        """Scores that refute may not be among those that are drawn."""
        return self.table.are == "any"

    def given_letters(self) -> tuple[str, ...]:
        """Letters for directions."""
        return self.table.also

    def given_names(self) -> set[str]:
        """Directions, lengths, the output and the query."""
        lengths = {scale.name for scale in self.table.scales.values()}
        return {*self.table.directions, *lengths, "c", "q"}

    def says_which(self, node: t.Node) -> bool:
        """i != a."""
        return _says_which_keys(node)

    def letters_in(self, node: t.Node) -> tuple[str, ...]:
        """The letters that stand for keys without a name."""
        return letters_in(node, self.table)

    def assumed(
        self,
        answer: Answer,
        comparison: str,
        under: Sequence[t.Node],
        definitions: Mapping[str, t.Node],
    ) -> list[t.Node]:
        """Where only scores are known, what is claimed of them; in a limit, not the cases that are set aside."""
        found: list[t.Node] = []
        if self.table.are == "any":
            claims = [one.node for one in answer.claims]
            found += [one for one in claims if _about_scores(one, definitions)]
        if comparison in LIMITS and not under:
            found += [parsed(source) for source in self.table.given]
        return found

    def draw(
        self,
        question: Question,
        numbers: dict[str, Fraction],
        random: Random,
        place: int,
        much: Fraction,
    ) -> KeysInstance | None:
        """Lengths one after the other: what is said for one only is seen too."""
        keys = self.table
        for scale in keys.scales.values():
            lengths = scale.one_of or LENGTHS
            numbers.setdefault(scale.name, lengths[place % len(lengths)])
        first = keys.first
        if first is not None and first.size not in question.values and "n" in numbers:
            most = max(1, int(numbers["n"]) - 1)
            numbers[first.size] = Fraction(random.randint(1, most))
        return _draw_keys(question, keys, numbers, random, much)

    def make_idle(
        self, question: Question, instance: ExplicitInstance, random: Random
    ) -> ExplicitInstance:
        """With another query."""
        del question
        if not isinstance(instance, KeysInstance):
            return instance
        rows = instance.keys[0].nrows()
        queries: dict[str, arb_mat] = {}
        for head in instance.heads:
            queries[head] = arb_mat([[random.randint(-2, 2)] for _ in range(rows)])
        return instance.moved(queries=queries)

    def meets(
        self, condition: t.Node, instance: ExplicitInstance, question: Question
    ) -> bool | None:
        """Whether a condition holds there: one on k_i for every key without a name."""
        letters = (
            letters_in(condition, instance.setting)
            if isinstance(instance, KeysInstance)
            else ()
        )
        if condition in question.under and isinstance(instance, KeysInstance):
            letters = tuple(
                letter for letter in letters if letter not in instance.places
            )  # it is about the key of the claim
        if len(letters) != 1 or not isinstance(instance, KeysInstance):
            return holds(condition, instance)
        body = (
            condition.body if isinstance(condition, t.Quantified) else condition
        )  # which keys are meant is said already
        others = range(len(instance.setting.named) + 1, len(instance.keys) + 1)
        said = [
            holds(body, instance.moved(places={**instance.places, letters[0]: place}))
            for place in others
        ]
        return False if False in said else None if None in said else True

    def refute_open(
        self, question: Question, outcome: Outcome, random: Random
    ) -> Outcome:
        """Where only scores are known: scores that satisfy all conditions, and for which the claim fails."""
        if self.table.are != "any":
            return outcome
        if any(
            isinstance(part, t.Relation) and set(part.comparisons) & {">>", "<<"}
            for part in t.walk(question.node)
        ):
            return outcome  # how much larger 'much larger' is was said of no claim
        for instances in admissible(question, random, SEARCHED):
            instance = instances[0]
            met = all(
                self.meets(condition, each, question) is True
                for each in instances
                for condition in question.conditions
            )
            if (
                met
                and isinstance(instance, KeysInstance)
                and all(holds(question.node, each) is False for each in instances)
            ):
                scores = ", ".join(
                    key[0, 0].str(4, radius=False) for key in instance.keys
                )
                said = f"with the scores {scores} (that of k_{next(iter(instance.places))} first)"
                values = {
                    name: Fraction(str(instance.numbers[name]))
                    for name in question.exercise.parameters
                }
                return decided_instead(
                    outcome,
                    Decision(
                        "refuted",
                        f"{said}, {at(values)}: {plain(question.node)} is false",
                    ),
                )
        return outcome

    def refute_proved(
        self, question: Question, outcome: Outcome, random: Random
    ) -> Outcome | None:
        """An equation between random keys that holds at their means only."""
        if not self.noise or not _noise_breaks(question, outcome, random):
            return None
        return decided_instead(outcome, Decision("refuted", NOISE, up_to_noise=True))


def _noise_breaks(question: Question, one: Outcome, random: Random) -> bool:
    """Whether an equation between random keys holds at their means only: every key is moved a little."""
    if question.comparison != "=" or one.role == "goal":
        return False
    for instance, *_ in sequences(question, random, TRIED):
        if isinstance(instance, KeysInstance):
            rows = instance.keys[0].nrows()
            keys = [
                key + arb_mat([[random.gauss(0, 0.1)] for _ in range(rows)])
                for key in instance.keys
            ]
            if holds(question.node, instance.moved(keys=keys)) is False:
                return True
    return False


def _draw_keys(
    question: Question,
    setting: Keys,
    numbers: dict[str, Fraction],
    random: Random,
    much: Fraction,
) -> KeysInstance | None:
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
    keys = [unit(int(n), place) for place in range(int(n))]
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
        keys = [number(score) for score in (max(others) + above, *others)]
        queries = {"q": number(1)}
    heads = [
        name
        for name in (*question.exercise.answer, *question.exercise.definitions)
        if name.split("_")[0] == "q"
    ]
    return KeysInstance(
        question.definitions,
        numbers,
        much,
        setting=setting,
        keys=keys,
        places=places,
        queries=queries,
        heads=tuple(sorted(heads)) or ("q",),
    )


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


def letters_in(node: t.Node, setting: Keys) -> tuple[str, ...]:
    """The letters that stand for keys without a name."""
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


# Numbers that are no weights


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
    drawer: KeysDrawer,
    answer: Answer,
    links: Sequence[t.Relation],
    kind: Literal["scaled", "signed"],
) -> bool:
    """Whether statements about the weights fail for all numbers of a kind that are none: of another total, or negative.

    Every letter stands for each of the keys in turn, and two letters for two keys.
    """

    def false(link: t.Relation, weights: tuple[Fraction, ...]) -> bool:
        question = ask(drawer, answer, link, values={"n": Fraction(len(weights))})
        letters = sorted({*question.letters, *drawer.table.named})
        for instances in sequences(question, Random(0), 1):  # noqa: S311
            for places in permutations(
                range(1, len(weights) + 1), min(len(letters), len(weights))
            ):
                there = dict(zip(letters, places, strict=False))
                if (
                    holds(link, instances[-1].moved(weights=weights, places=there))
                    is False
                ):
                    return True
        return False

    kinds = (tuple(map(Fraction, written)) for written in NO_WEIGHTS[kind])
    return all(any(false(link, weights) for link in links) for weights in kinds)
