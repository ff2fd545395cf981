"""Statements about matrices decided: the proof, then the search for a counterexample; and the court.

These are no cases of `decision.decide`, whose two sides are numbers in names that have ranges: the sides here are forms
over words of matrices, for all sizes, and what refutes them are matrices. What comes down to sizes and to numbers is
proved by the same `prove`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

from headwright.check.answer import Answer, MissingError, Said, comparisons, full_name, given_numbers
from headwright.check.decision import EMPTY, Decision, Example
from headwright.check.exercise import Exercise, Matrices, parsed
from headwright.check.judging import Claim, Judged, judged
from headwright.check.scalars import prove
from headwright.check.settings.matrices import inequalities
from headwright.check.settings.matrices.forms import Algebra, Form, Sizes, minus, scaled
from headwright.check.settings.matrices.instances import Trial, foundations, instances
from headwright.check.settings.matrices.known import Given, Known, NoMember, names_in
from headwright.check.settings.matrices.normal import Normal, links
from headwright.check.verdict import Verdict
from headwright.errors import InputError
from headwright.formula import tree as t
from headwright.formula.errors import FormulaError, ShapeError
from headwright.formula.evaluate import Budget
from headwright.formula.shapes import SCALAR, Shape
from headwright.formula.show import plain

_APPLIED = re.compile(r"([A-Za-z]+)\s*(?:\\(?:left|big|bigl)\s*)?\(")
MOST_INSTANCES = 300
SUSPECTS = 40  # instances that are tried at sizes where an inequality may fail
LARGER = (4, 5, 6, 8)  # sizes in which a few matrices more are tried
SMALL = 8  # up to here matrices are written out
FORMS = "matrix algebra"
ZERO, ONE = t.Number(Fraction(0)), t.Number(Fraction(1))
CUT = {"columns", "singular values"}  # of matrices whose first columns have a name
GIVEN_DIFFERENT = "a given difference"
INSTANCE = "a certified instance"
NO_IDENTITY = "no identity, for the sides differ in an instance; whether they differ in all is not known"
NOT_ALWAYS = "no identity, but the sides do not differ always: there is an instance where they are equal"


def decide(statement: t.Relation, given: Given, *, strict: bool = False) -> Decision:
    r"""Whether one comparison holds for all matrices that satisfy what is given.

    FormulaError where shapes do not fit; of a chain, decide each link by itself. It is about sizes for which all
    members that it speaks of exist; NoMember where it is strict and these are not all sizes, or where they are not
    all matrices.

    >>> from headwright.formula.parse import parse
    >>> from headwright.formula.shapes import SCALAR, Shape
    >>> given = Given({"P": Shape("T", "T"), "X": Shape("T", "T")}, facts={"P": frozenset({"permutation"})},
    ...               sizes={"T": (2, 3)})
    >>> decide(parse(r"\operatorname{softmax}(P X P^\top) = P \operatorname{softmax}(X) P^\top"), given).word
    'proved'
    >>> found = decide(parse(r"P X = X P"), given)
    >>> found.word, [[int(entry) for entry in row] for row in found.example.matrices["P"]]
    ('refuted', [[0, 1], [1, 0]])
    """
    case = _case(statement, given)
    found = case.decided()
    doubts = case.known.shrunk or (case.known.doubts if strict else [])
    if doubts and found.word != "refuted":
        raise NoMember(doubts[0])
    return found


def proves(statement: t.Relation, given: Given) -> bool:
    """Whether one comparison is proved, without a search for what refutes it."""
    try:
        found = _case(statement, given).proved()
    except InputError:
        return False
    return found is not None and found.word == "proved"


def _case(statement: t.Relation, given: Given) -> _Case:
    if len(statement.terms) != 2:
        raise InputError(f"one comparison can be decided at a time, {len(statement.comparisons)} were given")
    known = Known(given, statement)
    typed = known.typed(statement)
    if not isinstance(typed, t.Relation):  # typed keeps the kind of a statement
        raise InputError("a comparison was expected")
    ((left, _, right),) = links(typed)
    return _Case(known, typed, left, typed.comparisons[0], right)


def difference(left: Form, right: Form) -> Form:
    """left - right: 0 if and only if the two have one form."""
    if left.is_scalar and left.is_zero:  # a written 0 fits any shape
        left = scaled(right, 0)
    elif right.is_scalar and right.is_zero:
        right = scaled(left, 0)
    return minus(left, right)


def gap(sides: tuple[t.Node, ...], given: Given) -> Form | None:
    """How far two terms are apart; None where there is no form for it."""
    statement = t.Relation((sides[0], sides[1]), ("=",))
    try:
        known = Known(given, statement)
        typed = known.typed(statement)
        if not isinstance(typed, t.Relation):
            return None
        normal = prepared(known)
        return difference(normal.of(typed.terms[0]), normal.of(typed.terms[1]))
    except InputError:
        return None


def multiple(form: Form, of: Form) -> bool:
    """Whether one form is another times a number that is not 0."""
    if form.is_zero or of.is_zero or len(form.terms) != len(of.terms):
        return False
    factor = (form.terms[0][1] / of.terms[0][1]).rational
    return factor is not None and factor != 0 and form == scaled(of, factor)


def prepared(known: Known) -> Normal:
    """What brings formulas to forms, with the assumptions about sizes taken in."""
    sizes = Sizes(known)
    for name, facts in known.given.facts.items():
        shape = known.given.shapes.get(name)
        if shape is not None and "orthonormal columns" in facts:
            sizes.assume(sizes.of(shape.columns), sizes.of(shape.rows))
    normal = Normal(known, Algebra(known, sizes))
    for relation in known.given.assume:
        typed = known.typed(relation)
        for left, sign, right in links(typed) if isinstance(typed, t.Relation) else ():
            low, high = normal.of(left).scalar, normal.of(right).scalar
            if sign in (">", ">="):
                low, high = high, low
            if sign in ("<", ">", "<=", ">=", "="):
                sizes.assume(low + 1 if sign in ("<", ">") else low, high)
            if sign == "=":
                sizes.assume(high, low)
    return normal


def never(given: Given, statement: t.Relation) -> bool:
    """Whether what is assumed of sizes is never so."""
    return prove(0, ">", 1, prepared(Known(given, statement)).algebra.sizes.where()) is not None


@dataclass(frozen=True)
class _Case:
    known: Known
    statement: t.Relation
    left: t.Node
    comparison: t.Comparison
    right: t.Node

    def decided(self) -> Decision:
        if self.comparison not in ("=", "!=", "<", ">", "<=", ">="):
            return Decision("undecided", f"{self.comparison} between matrices is not decided")
        why = ""
        try:
            decision = self.proved() or self.suspected()
        except InputError as error:  # there is no form for it
            decision, why = None, str(error)
        return self.searched(why) if decision is None else decision

    # Proofs

    def proved(self) -> Decision | None:
        normal = prepared(self.known)
        if (body := self.positive()) is not None:  # what is above 0 where it is not 0
            found = replace(self, left=body, comparison="!=", right=ZERO).proved()
            if found is not None and found.word == "proved":
                return found
        for side in (self.left, self.right) if self.known.families else ():  # which members of families have to exist
            try:
                normal.of(side)
            except InputError:
                continue
        left, right = normal.of(self.left), normal.of(self.right)
        if self.comparison in ("=", "!="):
            return self.equal(left, right, normal)
        low, high = (left, right) if self.comparison in ("<", "<=") else (right, left)
        strict = self.comparison in ("<", ">")
        how = inequalities.at_most(low.scalar, high.scalar, normal.algebra, strict=strict)
        if how is not None:
            return Decision("proved", "holds for all sizes and values", used=how)
        return None

    def positive(self) -> t.Node | None:
        """The body of a norm, or of its square, that is said to be above 0."""
        big, small = (self.left, self.right) if self.comparison == ">" else (self.right, self.left)
        match big if self.comparison in ("<", ">") and small == ZERO else None:
            case t.Norm(body) | t.Power(t.Norm(body), t.Number()):
                return body
            case _:
                return None

    def suspected(self) -> Decision | None:
        """An inequality at sizes where its weights break it."""
        if self.comparison in ("=", "!="):
            return None
        normal, strict = prepared(self.known), self.comparison in ("<", ">")
        low, high = (self.left, self.right) if self.comparison in ("<", "<=") else (self.right, self.left)
        sides = normal.of(low).scalar, normal.of(high).scalar
        _, integers = foundations(self.known, self.statement)
        for one in inequalities.suspects(*sides, normal.algebra, set(integers), strict=strict):
            if max(one.sizes.values(), default=0) > SMALL:
                said = f"false for {_sizes(one.sizes)}, with the singular values {_ones(one)} along the axes"
                return Decision("refuted", said, used=INSTANCE, example=one)
            for trial in islice(self.trials(one.sizes), SUSPECTS):
                if self.outcome(trial) is False:
                    return self.refuted(trial)
        return None

    def equal(self, left: Form, right: Form, normal: Normal) -> Decision | None:
        gap = difference(left, right)
        if gap.is_zero:
            if self.comparison == "=":
                return Decision("proved", "both sides come to the same, for all sizes", used=FORMS)
            return Decision("refuted", "the two sides are always equal", used=FORMS)
        if self.comparison == "=" and gap.is_scalar:
            how = [
                inequalities.at_most(a.scalar, b.scalar, normal.algebra, strict=False)
                for a, b in ((left, right), (right, left))
            ]
            if None not in how:
                return Decision("proved", "each side is at most the other, for all sizes", used=how[0] or "")
        if self.comparison == "!=":
            for apart in self.given_apart(normal):
                if multiple(gap, apart):
                    return Decision("proved", "the sides differ by what is given not to be 0", used=GIVEN_DIFFERENT)
        return None

    def given_apart(self, normal: Normal) -> Iterator[Form]:
        """Differences that are given not to be 0, and these times a permutation, which are not 0 either."""
        turning = [t.Name(name) for name, facts in self.known.given.facts.items() if "permutation" in facts]
        before: list[tuple[t.Node, ...]] = [(), *((x,) for x in turning), *((t.Transpose(x),) for x in turning)]
        for pair in self.known.given.different:
            for factor in before:
                first, second = (t.Product((*factor, side)) if factor else side for side in pair)
                try:
                    sides = self.known.typed(t.Relation((first, second), ("=",)))
                except FormulaError:  # a permutation of another size
                    continue
                if isinstance(sides, t.Relation):
                    yield difference(normal.of(sides.terms[0]), normal.of(sides.terms[1]))

    # Instances

    def trials(self, fixed: Mapping[str, int] | None = None) -> Iterator[Trial]:
        names, integers = foundations(self.known, self.statement)
        every = (Trial(self.known, instance) for instance in instances(self.known, names, integers, fixed))
        yield from islice((trial for trial in every if trial.admissible()), MOST_INSTANCES)

    def larger(self) -> Iterator[Trial]:
        """A few matrices in larger sizes: what holds for small ones may fail from some size on."""
        for size in LARGER if self.known.families else ():
            for place in (size, 2 + size // 3):  # k, say
                fixed = {name: size if name in self.known.dimensions else place for name in self.known.sized}
                yield from islice(self.trials(fixed), size + 5)

    def outcome(self, trial: Trial) -> bool | None:
        try:
            return trial.said(self.statement)
        except InputError:  # a division by 0, an index out of range: the instance says nothing
            return None

    def searched(self, why: str) -> Decision:
        if self.comparison == "!=":
            return self.apart(why)
        tried: list[Example] = []
        confirmed = 0
        for trial in self.trials():
            tried.append(trial.instance)
            answer = self.outcome(trial)
            confirmed += answer is True
            if answer is False:
                return self.refuted(trial)
        for trial in self.larger():
            tried.append(trial.instance)
            if self.outcome(trial) is False:
                return self.refuted(trial)
        sizes = list(dict.fromkeys(_sizes(instance.sizes) for instance in tried))
        where = f" ({sizes[0]} to {sizes[-1]})" if sizes and sizes[0] else ""
        said = f"neither proved nor refuted; {len(tried)} instances were tried{where}"
        return Decision("holds" if confirmed else "undecided", f"{said}; {why}" if why else said)

    def apart(self, why: str) -> Decision:
        """A difference is claimed: no number of instances shows that the sides differ for all matrices.

        One where they are equal refutes nothing either: who writes A B != B A may mean that they are not always equal.
        """
        outcomes = {self.outcome(trial) for trial in self.trials()}
        if True in outcomes:
            return Decision("undecided", NOT_ALWAYS if False in outcomes else NO_IDENTITY)
        said = "neither proved nor refuted: no instance shows a difference"
        return Decision("undecided", f"{said}; {why}" if why else said)

    def refuted(self, trial: Trial) -> Decision:
        again = Trial(self.known, trial.instance, Budget(trial.budget.allowed))  # with all of its budget
        left, right = (again.value(side) for side in (self.left, self.right))
        said = f"false for {_sizes(trial.instance.sizes)}" if trial.instance.sizes else "false for these values"
        sides = tuple([[float(entry.mid()) for entry in row] for row in side.tolist()] for side in (left, right))
        return Decision("refuted", said, INSTANCE, example=replace(trial.instance, sides=sides))


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sorted(sizes.items()))


def _ones(example: Example) -> str:
    return {0: "0, ..., 0", 1: "1, 0, ..., 0"}.get(example.ones or 0, f"1, ..., 1 ({example.ones} times), 0, ..., 0")


# The court


@dataclass(frozen=True)
class MatricesSetting:
    """An exercise about matrices of any size."""

    exercise: Exercise
    setting: Matrices
    whole = False

    def gives(self, name: t.Name) -> bool:
        """Whether the exercise gives this name."""
        full = full_name(name)
        given = {*self.exercise.definitions, *self.setting.shapes, *given_numbers(self.exercise), *self.exercise.answer}
        cuttable = {about.split(",")[0] for about, facts in self.setting.facts.items() if {*facts} & CUT}  # U_k, S_k
        return full in given or name.base in cuttable or f"{name.base}_*" in given or full in ("I", "pi", "e", "ones")

    def opened(self, answer: Answer) -> MatricesCourt:
        """With what the answer defines."""
        definitions = {name: parsed(source) for name, source in self.exercise.definitions.items()}
        definitions |= {name: said.node for name, said in answer.definitions.items()}
        assumed = (node for source in self.setting.assume if isinstance(node := parsed(source), t.Relation))
        given = Given(
            shapes={name: Shape(*shape) for name, shape in self.setting.shapes.items()},
            definitions=definitions,
            facts={name: frozenset(facts) for name, facts in self.setting.facts.items()},
            different=tuple((parsed(x), parsed(y)) for x, y in self.setting.different),
            sizes=self.setting.sizes,
            assume=tuple(link for node in assumed for link in comparisons(node)),
        )
        return MatricesCourt(self.exercise, given, tuple(answer.claims))


@dataclass(frozen=True)
class MatricesCourt:
    """Decides statements about matrices."""

    exercise: Exercise
    given: Given
    claims: tuple[Said, ...] = ()
    conditions: tuple[Judged, ...] = ()

    def advised(self, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
        """There is nothing to add."""
        del judgements
        return verdict

    def otherwise(self, definitions: Mapping[str, str]) -> MatricesCourt:
        """The same were the question idle: with these definitions, and nothing given to be different."""
        idle = {**self.given.definitions, **{name: parsed(source) for name, source in definitions.items()}}
        return replace(self, given=replace(self.given, definitions=idle, different=()))

    def decide(self, claim: Claim) -> list[Judged]:
        """One comparison: equal forms, or an instance where it fails."""
        link = claim.link
        spoken = {plain(name) for name in names_in(link)}
        for name in self.exercise.missing(self.given.definitions):
            if name in spoken:
                raise MissingError(f"{name} is used, and no formula defines it", link, fix=f"write {name} = ...")
        given, understood = self._under(claim.under)
        try:
            found = self._decided(claim, given)
        except ShapeError as error:
            if applied := self._applied(error):
                reason = f"whether {applied} is a product or a function of what stands in the brackets is not certain"
                return [judged(claim, Decision("undecided", reason), reason)]
            if padded := self._padded(claim, given):
                reason = f"{padded} was read as the first rows and columns: if it has zeros behind them, write it out"
                return [judged(claim, Decision("undecided", reason), reason)]
            one = judged(claim, Decision("refuted", error.message), str(error))
            return [replace(one, part=replace(one.part, counterexample={"shapes": error.message}))]
        except NoMember as error:
            return [judged(claim, Decision("undecided", str(error)), str(error))]
        open_names = self._unsaid(found, claim)
        if found.word == "refuted" and not understood:
            found = self._following(link, claim.under, given)
        elif found.word == "refuted" and open_names:
            which = " and ".join(open_names)
            found = Decision("undecided", f"it is not true for every {which}: say for which it is meant, 'for all ...'")
        if found.word == "proved" and given != self.given and never(given, link):
            found = Decision("undecided", EMPTY)
        words = found.reason
        if found.word == "refuted":
            said = "is" if claim.role == "goal" and found.reason.startswith("false for") else "does not follow:"
            words = f"{plain(link)} {said} {found.reason}"
        one = judged(claim, found, words)
        if found.example is None:
            return [one]
        return [replace(one, part=replace(one.part, counterexample=shown(found)))]

    def _applied(self, error: ShapeError) -> str:
        """'Z(PX)', where Z is defined by a formula: people write so what that formula makes of PX."""
        written = error.source[error.span.start : error.span.stop]
        found = _APPLIED.match(written)
        return written if found and found[1] in self.exercise.definitions else ""

    def _padded(self, claim: Claim, given: Given) -> str:
        """S_k in U S_k V^T, if the sizes fit once it is as large as S: people write so S with zeros for the rest."""
        known, cuts = Known(given, claim.link), list[t.Name]()

        def whole(node: t.Node) -> t.Node:
            if isinstance(node, t.Name) and known.is_cut(node) and known.fact(node.base, "diagonal"):
                cuts.append(node)
                return t.Name(node.base, span=node.span)
            return t.mapped(node, whole)

        definitions = {name: whole(node) for name, node in given.definitions.items()}
        link = whole(claim.link)
        try:
            if cuts and isinstance(link, t.Relation):
                decide(link, replace(given, definitions=definitions))
        except ShapeError:
            return ""  # it does not fit so either
        except (FormulaError, NoMember):
            pass  # its sizes do
        return plain(cuts[0]) if cuts else ""

    def _decided(self, claim: Claim, given: Given) -> Decision:
        """What is found; U_k is the first columns of U, and what is false of these may be meant of the k-th alone."""
        strict, link, known = claim.role == "goal" or bool(self.exercise.derive), claim.link, Known(given, claim.link)
        cut = next((part for part in t.walk(link) if isinstance(part, t.Name) and known.is_cut(part)), None)
        other = None if cut is None else _single(link, {family.of: family.base for family in known.families.values()})
        try:
            found = decide(link, given, strict=strict)
        except ShapeError:
            if not isinstance(other, t.Relation) or self._fails(other, given):
                raise
            found = None
        if found is not None and (
            cut is None or found.word != "refuted" or not isinstance(other, t.Relation) or self._fails(other, given)
        ):
            return found
        read = f"{plain(cut or link)} was read as the first columns of a matrix; write a small letter if one is meant"
        return Decision("undecided", read)

    def _following(self, link: t.Relation, under: tuple[t.Node, ...], given: Given) -> Decision:
        """What is not always so under a condition: x >= y follows from a >= b where x - y = m (a - b) with m > 0.

        With more than an equality here, anything would follow from what is supposed and impossible.
        """
        whole, strict, equal = gap(_falling(link), given), link.comparisons[0] in ("<", ">"), link.comparisons == ("=",)
        least = {name: known.at_least or known.above for name, known in self.exercise.parameters.items()}
        sizes = [Sizes(Known(given)).name(name) for name, low in least.items() if low is not None and low > 0]
        for part in (one for node in under if isinstance(node, t.Relation) for one in comparisons(node)):
            said, sign = gap(_falling(part), given), part.comparisons[0]
            usable = sign in ("=",) if equal else sign in ("<", ">") if strict else sign in ("<", ">", "<=", ">=")
            if whole is None or whole.is_zero or said is None or not usable:
                continue
            if inequalities.adds_up(whole, [said] if equal else [], [] if equal else [said], sizes):
                return Decision("proved", f"it follows from {plain(part)}", used=FORMS)
        return Decision("undecided", "it is not always true; whether it is under this condition is not known")

    def _fails(self, link: t.Relation, given: Given) -> bool:
        try:
            return decide(link, given).word == "refuted"
        except FormulaError:
            return True

    def _unsaid(self, found: Decision, claim: Claim) -> list[str]:
        """Indices of a counterexample that the exercise does not give, and of which nothing is said: A v_i = ..."""
        given = {*self.given.sizes, *self.given.shapes, *Known(self.given).sized}
        said = {name.base for part in claim.under for name in names_in(part)}
        return sorted(name for name in (found.example.sizes if found.example else ()) if name not in given | said)

    def _under(self, under: tuple[t.Node, ...]) -> tuple[Given, bool]:
        """What is given with the conditions 'for all i <= k', and whether these are all."""
        said = [link for part in under if isinstance(part, t.Relation) for link in comparisons(part)]
        matrices = {name for name, shape in self.given.shapes.items() if shape != SCALAR}
        about = [link for link in said if not any(plain(name) in matrices or name.index for name in names_in(link))]
        about = [link for link in about if link.comparisons[0] in ("=", "<", ">", "<=", ">=")]
        others = [part for part in under if not isinstance(part, t.Name | t.Relation)]
        given = replace(self.given, assume=(*self.given.assume, *about))
        return given, len(about) == len(said) and not others


def _falling(link: t.Relation) -> tuple[t.Node, t.Node]:
    """The larger side first."""
    left, right = link.terms
    return (right, left) if link.comparisons[0] in ("<", "<=") else (left, right)


def _single(node: t.Node, members: Mapping[str, str]) -> t.Node:
    """With one column in place of the first columns: u_k for U_k."""
    if isinstance(node, t.Name) and node.index is not None and node.base in members:
        return replace(node, base=members[node.base])
    return t.mapped(node, lambda part: _single(part, members))


def shown(found: Decision) -> dict[str, Any]:
    """A counterexample in plain numbers, for people."""
    example = found.example or Example({})
    small = {name: rows for name, rows in example.matrices.items() if len(rows) <= SMALL and name != "ones"}
    told: dict[str, Any] = {"sizes": dict(example.sizes), "names": {name: _rows(rows) for name, rows in small.items()}}
    return told | dict(zip(("left", "right"), map(_rows, example.sides), strict=False))


def _rows(rows: Sequence[Sequence[Fraction | float]]) -> object:
    plainly = [[_short(float(entry)) for entry in row] for row in rows]
    return plainly[0][0] if len(plainly) == len(plainly[0]) == 1 else plainly


def _short(value: float) -> int | float:
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
