"""The proof, then the search for a counterexample; and whether the steps of a derivation lead where they should."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from headwright.check.answer import named
from headwright.check.settings.matrices import inequalities
from headwright.check.settings.matrices.forms import Algebra, Form, Integers, minus, number, plus, scaled, size_form
from headwright.check.settings.matrices.instances import (
    Instance,
    Trial,
    extremes,
    foundations,
    instances,
    plainly,
    shown,
    spread,
)
from headwright.check.settings.matrices.known import Decision, Given, Known, NoForm, NoMember, names_in
from headwright.check.settings.matrices.normal import Normal, links
from headwright.errors import InputError
from headwright.formula.evaluate import Budget, TooMuch
from headwright.formula.shapes import mapped, plain
from headwright.formula.tree import BigSum, Comparison, Name, Node, Relation

MOST_INSTANCES = 300
SUSPECTS = 40  # instances that are tried at sizes where an inequality may fail
LARGER = (4, 5, 6, 8, 26, 101)  # sizes in which only extremal spectra are tried
SMALL = 8  # up to here several of them, and matrices are written out
PATIENT = 40_000_000  # operations on all of them
SECOND_LOOK = 4  # instances on which a proof is looked at again
FORMS = "normal forms"
GIVEN_DIFFERENT = "a given difference"
CONTRADICTED = "an instance contradicts the proof that was found: this is a bug worth reporting"
NOT_AN_IDENTITY = "not an identity: an instance where the sides differ"


def decide(statement: Relation, given: Given, *, strict: bool = False) -> Decision:
    r"""Whether one comparison holds for all matrices that satisfy what is given.

    FormulaError where shapes do not fit; of a chain, decide each link by itself. It is about sizes for which all
    members that it speaks of exist; NoMember where it is strict and these are not all sizes.

    >>> from headwright.formula.parse import parse
    >>> from headwright.formula.shapes import Shape
    >>> given = Given({"P": Shape("T", "T"), "X": Shape("T", "T")}, facts={"P": frozenset({"permutation"})},
    ...               sizes={"T": (2, 3)})
    >>> decide(parse(r"\operatorname{softmax}(P X P^\top) = P \operatorname{softmax}(X) P^\top"), given).word
    'proved'
    >>> found = decide(parse(r"P X = X P"), given)
    >>> found.word, found.counterexample["names"]["P"]
    ('refuted', [[0, 1], [1, 0]])
    """
    if len(statement.terms) != 2:
        raise InputError(f"one comparison can be decided at a time, {len(statement.comparisons)} were given")
    known = Known(given, statement)
    typed = known.typed(statement)
    if not isinstance(typed, Relation):  # typed keeps the kind of a statement
        raise InputError("a comparison was expected")
    ((left, _, right),) = links(typed)
    found = _Case(known, typed, left, typed.comparisons[0], right).decided()
    if strict and known.doubts and found.word != "refuted":
        raise NoMember(known.doubts[0])
    return found


@dataclass(frozen=True)
class _Case:
    known: Known
    statement: Relation
    left: Node
    comparison: Comparison
    right: Node

    def decided(self) -> Decision:
        if self.comparison not in ("=", "!=", "<", ">", "<=", ">="):
            return Decision("open", f"{self.comparison} between matrices is not decided")
        why = ""
        try:
            decision = self.proved()
        except (NoForm, TooMuch) as error:
            decision, why = None, str(error)
        if decision is not None:
            return self.looked_at_again(decision) if decision.word == "proved" else decision
        return self.searched(why)

    # Proofs

    def proved(self) -> Decision | None:
        normal = prepared(self.known)
        for side in (self.left, self.right) if self.known.families else ():  # which members of families have to exist
            try:
                normal.of(side)
            except (NoForm, TooMuch):
                continue
        left, right = normal.of(self.left), normal.of(self.right)
        if self.comparison in ("=", "!="):
            return self.equal(left, right, normal)
        low, high = (left, right) if self.comparison in ("<", "<=") else (right, left)
        strict = self.comparison in ("<", ">")
        how = inequalities.at_most(low, high, normal.algebra, strict=strict)
        if how is not None:
            return Decision("proved", "holds for all sizes and values", used=how)
        for sizes in inequalities.suspects(low, high, normal.algebra, strict=strict):
            for trial in islice(self.trials(sizes), SUSPECTS):
                if self.outcome(trial) is False:
                    return self.refuted(trial)
        return None

    def equal(self, left: Form, right: Form, normal: Normal) -> Decision | None:
        gap = difference(left, right, normal.algebra)
        if gap.is_zero:
            if self.comparison == "=":
                return Decision("proved", "both sides have the same normal form, for all sizes", used=FORMS)
            return Decision("refuted", "the two sides are always equal: they have the same normal form", used=FORMS)
        if self.comparison == "=" and gap.is_scalar:
            how = [
                inequalities.at_most(*sides, normal.algebra, strict=False) for sides in ((left, right), (right, left))
            ]
            if None not in how:
                return Decision("proved", "each side is at most the other, for all sizes", used=how[0] or "")
        if self.comparison == "!=":
            for first, second in self.known.given.different:
                sides = self.known.typed(Relation((first, second), ("=",)))
                if not isinstance(sides, Relation):
                    continue
                apart = difference(normal.of(sides.terms[0]), normal.of(sides.terms[1]), normal.algebra)
                if not apart.is_zero and gap in (apart, scaled(apart, -1)):
                    return Decision("proved", "the sides differ by what is given not to be 0", used=GIVEN_DIFFERENT)
        return None

    def looked_at_again(self, decision: Decision) -> Decision:
        """A proof that an instance contradicts is no proof: never believe it."""
        looked = 0
        for trial in islice(self.trials(), SECOND_LOOK):
            if self.outcome(trial) is False:
                return Decision("open", CONTRADICTED, self.example(trial), decision.used)
            looked += 1
        return replace(decision, confirmed=looked)

    # Instances

    def trials(self, fixed: Mapping[str, int] | None = None) -> Iterator[Trial]:
        names, integers = foundations(self.known, self.statement)
        every = (Trial(self.known, instance) for instance in instances(self.known, names, integers, fixed))
        yield from islice((trial for trial in every if trial.admissible()), MOST_INSTANCES)

    def larger(self) -> Iterator[Trial]:
        """Extremal spectra in larger sizes: what holds for small matrices may fail from some size on."""
        if not any(family.kind == "singular values" for family in self.known.families.values()):
            return
        names, integers = foundations(self.known, self.statement)
        budget = Budget(PATIENT)
        for size in LARGER:
            for place in dict.fromkeys((size, 2 + size // 3)):  # k, say
                fixed = {name: size if name in self.known.dimensions else place for name in self.known.sized}
                spectra = extremes(size) if size <= SMALL else extremes(size)[:2]
                for instance in spread(self.known, names, integers, fixed, spectra):
                    trial = Trial(self.known, instance, budget)
                    if trial.admissible():
                        yield trial

    def outcome(self, trial: Trial) -> bool | None:
        try:
            return trial.said(self.statement)
        except InputError:  # a division by 0, an index out of range: the instance says nothing
            return None

    def searched(self, why: str) -> Decision:
        tried: list[Instance] = []
        confirmed = 0
        for trial in self.trials():
            tried.append(trial.instance)
            answer = self.outcome(trial)
            confirmed += answer is True
            if self.comparison == "!=" and answer is True:
                return Decision("proved", NOT_AN_IDENTITY, self.example(trial), "a certified instance")
            if self.comparison != "!=" and answer is False:
                return self.refuted(trial)
        for trial in self.larger() if self.comparison != "!=" else ():
            tried.append(trial.instance)
            if self.outcome(trial) is False:
                return self.refuted(trial)
        sizes = list(dict.fromkeys(_sizes(instance.sizes) for instance in tried))
        where = f" ({sizes[0]} to {sizes[-1]})" if sizes and sizes[0] else ""
        said = f"neither proved nor refuted; {len(tried)} instances were tried{where}"
        return Decision("open", f"{said}; {why}" if why else said, confirmed=confirmed)

    def refuted(self, trial: Trial) -> Decision:
        said = f"false for {_sizes(trial.instance.sizes)}" if trial.instance.sizes else "false for these values"
        if max(trial.instance.sizes.values(), default=0) > SMALL:
            said += self._along_the_axes(trial)
        return Decision("refuted", said, self.example(trial), "a certified instance")

    def _along_the_axes(self, trial: Trial) -> str:
        """', with the singular values 1, 0, ..., 0 along the axes'."""
        for family in self.known.families.values():
            rows = trial.instance.values.get(family.of)
            if family.kind == "singular values" and rows is not None:
                return f", with the singular values {rows[0][0]}, {rows[1][1]}, ..., {rows[-1][-1]} along the axes"
        return ""

    def example(self, trial: Trial) -> Mapping[str, object]:
        again = Trial(self.known, trial.instance, Budget(trial.budget.allowed))  # with all of its budget
        sides = [again.value(side) for side in (self.left, self.right)]
        names = plainly({name: rows for name, rows in trial.instance.values.items() if len(rows) <= SMALL})
        return {"sizes": dict(trial.instance.sizes), "names": names, "left": shown(sides[0]), "right": shown(sides[1])}


def difference(left: Form, right: Form, algebra: Algebra) -> Form:
    """left - right without denominators: 0 if and only if the two have one form."""
    if left.is_scalar and left.is_zero:  # a written 0 fits any shape
        left = scaled(right, 0)
    elif right.is_scalar and right.is_zero:
        right = scaled(left, 0)
    return algebra.cleared(minus(left, right))


def prepared(known: Known) -> Normal:
    """What brings formulas to forms, with the assumptions about sizes taken in."""
    positive = frozenset({*known.dimensions, *known.given.sizes})
    integers = Integers(set(known.integers), positive, frozenset(known.sized), doubts=known.doubts)
    for name, facts in known.given.facts.items():
        shape = known.given.shapes.get(name)
        if shape is not None and "orthonormal columns" in facts:
            integers.assume_at_most(size_form(shape.columns), size_form(shape.rows))
    normal = Normal(known, Algebra(known, integers))
    for relation in known.given.assume:
        typed = known.typed(relation)
        for left, sign, right in links(typed) if isinstance(typed, Relation) else ():
            low, high = normal.of(left), normal.of(right)
            if sign in (">", ">="):
                low, high = high, low
            gap = number(1) if sign in ("<", ">") else number(0)
            if sign in ("<", ">", "<=", ">=", "="):
                integers.assume_at_most(plus(low, gap), high)
            if sign == "=":
                integers.assume_at_most(high, low)
    return normal


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sorted(sizes.items()))


ALONG = {"=": ("=",), "<=": ("=", "<=", "<"), ">=": ("=", ">=", ">")}  # steps from which a comparison follows
TURNED = {"=": "=", "<=": ">=", ">=": "<="}
Ends = tuple[Node, Node]


def bare(given: Given) -> Given:
    """Without definitions, and without knowing that S holds the singular values: algebra that is done in passing."""
    known = Known(given)
    shapes = {name: shape for name in given.definitions if (shape := known.shape_of(named(name))) is not None}
    facts = {name: facts - {"diagonal"} for name, facts in given.facts.items()}
    return replace(given, definitions={}, facts=facts, shapes={**shapes, **given.shapes})


def is_leap(link: Relation, ends: Ends, given: Given) -> bool:
    """Whether a step says what was to be shown, up to algebra in passing and a number in front."""
    if _term_by_term(link, given):
        return False
    passing = bare(given)
    mine, whole = _gap(link.terms, passing), _gap(ends, passing)
    if mine is None or whole is None or mine.is_zero or whole.is_zero:
        return False
    factor = mine.terms[0][2] / whole.terms[0][2]
    return mine.terms[0][:2] == whole.terms[0][:2] and mine == scaled(whole, factor)


def _term_by_term(link: Relation, given: Given) -> bool:
    """Whether two sums are equal because their terms are: sum |A v_i|^2 = sum |sigma_i u_i|^2."""
    match link.terms:
        case (BigSum(i, x, low, high, ()), BigSum(j, y, other_low, other_high, ())):
            place = next((name for name in given.shapes if name in Known(given)._assumed()), None)  # 1 <= k <= d
            if (low, high) != (other_low, other_high) or place is None:
                return False
            terms = _renamed(x, i, place), _renamed(y, j, place)
            return terms[0] != terms[1] and _proved(Relation(terms, ("=",)), given)
        case _:
            return False


def _renamed(node: Node, old: str, new: str) -> Node:
    """The same with another name for an index."""
    if isinstance(node, Name):
        if node.base == old and node.index is None:
            return Name(new, span=node.span)
        return node if node.index is None else replace(node, index=_renamed(node.index, old, new))
    return mapped(node, lambda part: _renamed(part, old, new))


def _proved(statement: Relation, given: Given) -> bool:
    try:
        return decide(statement, given).word == "proved"
    except InputError:
        return False


def follows(ends: Ends, steps: Sequence[Relation], given: Given) -> bool:
    """Whether what was to be shown is a small step once the others are taken: H_p = P H, and then Z_p = P Z."""
    passing = bare(given)
    spoken = {plain(name) for end in ends for name in names_in(end)}
    equal = [link.terms for link in steps if link.comparisons == ("=",)]
    shown: dict[str, Node] = {}
    for name, definition in given.definitions.items():
        if name not in spoken:
            found = _reached(named(name), equal, replace(given, definitions={}))
            new = [last for last in found if last not in (named(name), definition)]
            if new:
                shown[name] = new[-1]
    opened = {name: given.definitions[name] for name in spoken if name in given.definitions}
    try:
        taken = replace(passing, definitions={**opened, **shown})
        return bool(shown) and decide(Relation(ends, ("=",)), taken).word == "proved"
    except InputError:
        return False


def _gap(sides: tuple[Node, ...], given: Given) -> Form | None:
    statement = Relation((sides[0], sides[1]), ("=",))
    try:
        known = Known(given, statement)
        typed = known.typed(statement)
        if not isinstance(typed, Relation):
            return None
        normal = prepared(known)
        return difference(normal.of(typed.terms[0]), normal.of(typed.terms[1]), normal.algebra)
    except InputError:  # it has no form: then it is no copy of what has one
        return None


def leads(start: Node, end: Node, steps: Sequence[Relation], given: Given) -> bool:
    """Whether steps connect the two, in either direction: none of them goes against what is to be shown."""
    wanted, passing = _wanted(start, end, given), replace(given, definitions={})
    for first, last, signs in ((start, end, ALONG[wanted]), (end, start, ALONG[TURNED[wanted]])):
        links = [link.terms for link in steps if link.comparisons[0] in signs]
        if any(_same(place, last, passing) for place in _reached(first, links, passing)):
            return True
    return False


def _reached(first: Node, links: Sequence[tuple[Node, ...]], passing: Given) -> list[Node]:
    """Where links lead to, one after the other."""
    reached = [link[0] for link in links if _same(link[0], first, passing)]
    for place in reached:  # grows while it is read
        reached += [link[1] for link in links if link[0] == place and link[1] not in reached]
    return reached


def _wanted(start: Node, end: Node, given: Given) -> str:
    """How the two ends of a derivation compare: the strongest comparison that is true of them."""
    for sign in ("=", "<=", ">="):
        if decide(Relation((start, end), (sign,)), given).word == "proved":
            return sign
    return "="


def _same(x: Node, y: Node, passing: Given) -> bool:
    """Written alike, up to algebra that needs no definition: an index named otherwise, factors in another order."""
    if x == y:
        return True
    return _proved(Relation((x, y), ("=",)), passing)
