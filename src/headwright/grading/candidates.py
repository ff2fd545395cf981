"""What the formulas of an answer are: candidates for what was asked for, own names with their bounds, claims.

A candidate is a formula that defines an asked-for name and is not quoted; where a condition is asked for, a relation
between scores alone. Displays and neutral sentences outrank worded ones. A definition for a case ('for n = 2 take ...')
is a case of one candidate; after a general definition it is a claim. A bound on a name of one's own counts from a
neutral sentence, a display, or the sentence that defines the object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from headwright.formulas import tree as t
from headwright.grading.answer import (
    Said,
    about_the_given,
    comparisons,
    full_name,
    full_names,
    given_numbers,
    named,
)
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.names import Gives, names_on_the_left, tends
from headwright.grading.text import LeftOver, Statement, is_index

_SUPPOSING = re.compile(r"\b(?:if|when|whenever|unless)\b")
QUOTED, WORDED, NEUTRAL, NAMED = 0, 1, 2, 3  # ranks of candidates
_ORDER = ("<", ">", "<=", ">=", "<<", ">>", "->")
COUNTS = (
    "i",
    "j",
    "k",
    "l",
    "m",
    "N",
    "M",
    "K",
)  # integers, as a rule: 'let n = 2 r' is about even ones


@dataclass(frozen=True)
class Definition:
    """A name with its value, for a case perhaps."""

    name: str
    value: t.Node
    statement: Statement
    rank: int
    case: tuple[t.Node, ...] = ()
    soft: bool = False  # 'with lambda = 0 ...': a definition only if nothing else is said of the name
    conditions: tuple[
        t.Relation, ...
    ] = ()  # on names of the answer's own: 'where beta = 1', 'for lambda > 0'

    def says_the_same(self, other: Definition) -> bool:
        """Whether it gives the same name the same value."""
        return (self.name, self.value) == (other.name, other.value)


@dataclass(frozen=True)
class Claimed:
    """A formula to be judged: the statement it was written in, and what it says."""

    statement: Statement
    node: t.Node
    under: tuple[t.Node, ...] = ()
    again: bool = False  # a name in it is defined twice


@dataclass(frozen=True)
class Candidate:
    """One answer to what was asked for: a value for each name, case by case where cases are given."""

    cases: tuple[
        tuple[tuple[t.Node, ...], Mapping[str, Definition]], ...
    ]  # what is assumed, and the definitions
    rank: int


@dataclass
class Contents:
    """An answer sorted."""

    asked: list[Definition] = field(default_factory=list)
    own: list[Definition] = field(default_factory=list)
    bounds: list[tuple[Said, Statement]] = field(default_factory=list)
    claims: list[Claimed] = field(default_factory=list)
    conditions: list[tuple[Claimed, int]] = field(
        default_factory=list
    )  # where one is asked for, with their ranks
    quoted: list[Statement] = field(default_factory=list)
    unread: list[Statement] = field(default_factory=list)
    given: list[Statement] = field(default_factory=list)  # repeated from the exercise
    unclear: set[str] = field(
        default_factory=set
    )  # own names that are defined for a case, or by an example
    several: set[str] = field(default_factory=set)  # own names with several values
    contradictory: set[str] = field(
        default_factory=set
    )  # ... that are said outright, not 'with lambda = 0 ...'
    in_words: dict[str, tuple[int, str]] = field(
        default_factory=dict
    )  # own names that words may determine: line, words
    mentioned: dict[str, tuple[Statement, t.Node]] = field(
        default_factory=dict
    )  # own names with a value in a remark
    examples: dict[str, Definition] = field(
        default_factory=dict
    )  # own names with a value that is an example, in the sentence of the object
    left_over: tuple[LeftOver, ...] = ()  # words that may restrict what is written
    several_bounds: dict[str, tuple[int, ...]] = field(
        default_factory=dict
    )  # ... with several bounds, on these lines


def sorted_out(
    exercise: Exercise, statements: Sequence[Statement], gives: Gives
) -> Contents:
    """Each statement taken for what it is, once it is known which names the answer defines."""
    first = _Sorter(exercise, statements, gives).sorted(statements)
    defined = frozenset(one.name for one in (*first.own, *first.asked) if one.rank)
    return _Sorter(exercise, statements, gives, defined, first.own).sorted(statements)


class _Sorter:
    def __init__(
        self,
        exercise: Exercise,
        statements: Sequence[Statement],
        gives: Gives,
        defined: frozenset[str] = frozenset(),
        own: Sequence[Definition] = (),
    ) -> None:
        self.exercise, self.gives, self.defined, self.contents = (
            exercise,
            gives,
            defined,
            Contents(),
        )
        self.scored = {
            one.name for one in own if t.speaks_of(one.value, "q")
        }  # names that stand for scores
        self.given = [parsed(source) for source in exercise.may_repeat]
        self.given += exercise.kind.given_facts()
        made = [
            (one.sentence, self._defined(one.node))
            for one in statements
            if one.kind != "turned" and one.node
        ]
        self.defining = {sentence for sentence, found in made if found}
        self.objects = {
            sentence
            for sentence, found in made
            if any(name in exercise.answer for name, _ in found)
        }
        self.assumed: list[t.Node] = []  # 'let n = 2'
        self.instead: tuple[t.Node, ...] = ()  # a given name that was defined anew
        self.instead_in = -1, -1  # in which paragraph, and in which sentence

    def sorted(self, statements: Sequence[Statement]) -> Contents:
        """Everything taken for what it is; what only seemed to define a name is a condition."""
        contents = self.contents
        for statement in statements:
            self._sort(statement)
        self._take_later_bounds(statements)
        self._note_mentioned_values(statements)
        bounded = {
            name for said, _ in contents.bounds for name in full_names(said.node)
        }
        for name in {made.name for made in contents.own}:
            self._choose_definition(name, is_bounded=name in bounded)
        contents.own.sort(key=lambda made: made.statement.number)
        contents.claims.sort(key=lambda claim: claim.statement.number)
        self._drop_used_conditions()
        return contents

    def _sort(self, one: Statement) -> None:
        """One statement, by its role and by the kind of its sentence."""
        contents = self.contents
        if one.node is None:
            contents.unread.append(one)
        elif one.role == "size":
            if any(map(self._is_own, t.every_name(one.node))):
                contents.bounds.append((Said(one.node, one.text, one.line), one))
        elif one.role == "condition":
            self._condition(one, one.node)
        elif one.kind == "turned" or (
            one.role == "wanted" and not self.exercise.condition
        ):
            self._quote(one, one.node)
        else:
            self._claim(one, one.node, one.under)

    def _choose_definition(self, name: str, *, is_bounded: bool) -> None:
        """One definition for a name of the answer's own: the first that is firm; the others are claims."""
        contents = self.contents
        made = [one for one in contents.own if one.name == name]
        firm = [one for one in made if not one.soft]
        is_several = len({one.value for one in made}) > 1
        chosen = firm[:1]
        if not firm and not is_bounded and not is_several:
            chosen = made[:1]
        others = [one for one in contents.own if one.name != name]
        contents.own = [*others, *chosen]
        if is_several:
            contents.several.add(name)
        for other in firm[1:]:
            if other.value == firm[0].value:
                continue
            contents.contradictory.add(name)
            terms = (named(name), other.value)
            link = t.Relation(terms, ("=",), span=other.value.span)
            under = other.statement.under
            contents.claims.append(Claimed(other.statement, link, under, True))

    def _drop_used_conditions(self) -> None:
        """A condition that was taken as a definition restricts no claim."""
        contents = self.contents
        values = {(made.name, made.value) for made in (*contents.own, *contents.asked)}
        for place, claim in enumerate(contents.claims):
            kept = []
            for part in claim.under:
                pairs = set(self._defined(part))
                if not pairs or pairs - values:
                    kept.append(part)
            contents.claims[place] = replace(claim, under=tuple(kept))

    def _take_later_bounds(self, statements: Sequence[Statement]) -> None:
        """'Let lambda > 0. ... So any lambda >= ln(n/epsilon) works': the later bound says how lambda is chosen.

        Only a name whose sign alone was said so far, or nothing at all, is bounded so. Several bounds that differ are
        not put together: 'any lambda >= 1 works' must not profit from what is said of larger ones.
        """
        used = full_names(
            *(made.value for made in (*self.contents.asked, *self.contents.own))
        )
        for name in sorted(used):
            earlier = [
                (said, one)
                for said, one in self.contents.bounds
                if name in full_names(said.node)
            ]
            if not all(is_sign(said.node) for said, _ in earlier):
                continue
            later = self._later_bounds(name, statements, with_conditions=bool(earlier))
            links = {link for link, _ in later}
            if len(links) == 1:
                link, one = later[0]
                self.contents.bounds.append((Said(link, one.text, one.line), one))
            elif links:
                self.contents.several_bounds[name] = tuple(
                    sorted({one.line for _, one in later})
                )

    def _note_mentioned_values(self, statements: Sequence[Statement]) -> None:
        """'This holds if beta = ln(m/epsilon)', 'when gamma = 1 ...': it may be how a name is chosen."""
        for one in statements if self.exercise.kind.has_own_numbers else ():
            if (
                one.node is None
                or one.example
                or not (one.role == "condition" or one.kind == "turned")
            ):
                continue
            for name, value in self._defined(one.node):
                if name not in self.exercise.answer and value != t.ZERO:
                    self.contents.mentioned.setdefault(name, (one, value))

    def _later_bounds(
        self, name: str, statements: Sequence[Statement], *, with_conditions: bool
    ) -> list[tuple[t.Relation, Statement]]:
        """What statements say how large a name must be, in words that are not 'let'."""
        found: list[tuple[t.Relation, Statement]] = []
        for one in statements:
            stated = one.role in ("claim", "wanted") or (
                one.role == "condition" and with_conditions
            )
            if one.node is None or one.kind == "turned" or one.reason or not stated:
                continue
            body = t.unquantified(one.node)
            links = [
                link
                for item in t.conjuncts(body)
                if isinstance(item, t.Relation)
                for link in comparisons(item)
            ]
            for link in links:
                own = [
                    term
                    for term in link.terms
                    if isinstance(term, t.Name) and full_name(term) == name
                ]
                others = [term for term in link.terms if term not in own]
                bounds = (
                    len(own) == 1
                    and self._is_own(own[0])
                    and link.comparisons[0] in _ORDER
                )
                if bounds and not is_sign(link) and name not in full_names(*others):
                    found.append((link, one))
        return found

    def _defined(
        self, node: t.Node, *, asked: bool = False
    ) -> list[tuple[str, t.Node]]:
        """The names that the equations of a statement define, with their values; with `asked` the asked-for ones."""
        while isinstance(node, t.Quantified | t.Exists):
            node = node.body
        found: list[tuple[str, t.Node]] = []
        for item in t.conjuncts(node):
            if isinstance(item, t.Relation) and self._defines(item):
                names, right = names_on_the_left(item), item.terms[1]
                values = (
                    right.items
                    if len(names) > 1 and isinstance(right, t.Listing)
                    else (right,) * len(names)
                )
                found += [
                    (full_name(name), value)
                    for name, value in zip(names, values, strict=True)
                ]
        return (
            [pair for pair in found if pair[0] in self.exercise.answer]
            if asked
            else found
        )

    def _quote(self, one: Statement, node: t.Node) -> None:
        self.contents.quoted.append(one)
        self._note(one, node)
        if self._states(node):
            self.contents.conditions.append(
                (Claimed(one, t.said_under(node, one.under)), QUOTED)
            )

    def _note(self, one: Statement, node: t.Node) -> None:
        """What may be an answer, and is only mentioned."""
        self.contents.asked += [
            Definition(name, value, one, QUOTED)
            for name, value in self._defined(node, asked=True)
        ]

    def _states(self, node: t.Node) -> bool:
        """Whether a condition on scores is asked for, and this is one."""
        if not self.exercise.condition:
            return False
        scored = bool(self.scored & full_names(node)) and not t.speaks_of(
            node, "alpha", "c", "v"
        )
        return self.exercise.kind.states_condition(node) or (
            scored and isinstance(t.unquantified(node), t.Relation)
        )

    def _condition(self, one: Statement, node: t.Node) -> None:
        """A condition: it may define or bound a name of the answer's own, or be what was asked for."""
        if self._states(node):
            rank = QUOTED if one.kind == "turned" else NEUTRAL
            self.contents.conditions.append(
                (Claimed(one, t.said_under(node, one.under)), rank)
            )
            return
        if one.kind == "turned" or one.binder in (
            "if",
            "when",
            "whenever",
            "suppose",
            "case",
        ):
            self._note(one, node)
            return
        object_here = any(
            other.statement.sentence == one.sentence for other in self.contents.asked
        )
        if one.binder not in ("with", "where") and not object_here:
            if one.binder == "for" and self._defined(
                node, asked=True
            ):  # 'this holds for tau = 1'
                self._claim(replace(one, kind="worded"), node, one.under)
            return
        for item in t.conjuncts(t.unquantified(node)):
            if not isinstance(item, t.Relation):
                continue
            made = (
                self._tied(one, item)
                if self._redefines(item) or not self._defines(item)
                else item
            )
            if made is not None:
                self._define(one, made, one.under)
            elif any(self._chosen(item)):
                self._bound(one, item)
            elif self._restricts_own(item):
                self.contents.bounds.append((Said(item, one.text, one.line), one))

    def _restricts_own(self, link: t.Relation) -> bool:
        are_bounds = set(link.comparisons) <= {"<", ">", "<=", ">="}
        return are_bounds and bool(own_names_among_numbers(link, self.exercise))

    def _redefines(self, node: t.Relation) -> bool:
        return any(
            full_name(name) in self.exercise.redefines
            for name in names_on_the_left(node)
        )

    def _claim(self, one: Statement, node: t.Node, under: tuple[t.Node, ...]) -> None:
        """What is claimed: a definition, a bound, what is given, or a claim."""
        if node in self.given:
            self.contents.given.append(one)
            return
        match node:
            case t.Quantified(body, conditions):
                self._quantified(one, node, body, conditions, under)
            case t.Logic("and", items):
                for item in items:
                    self._claim(one, item, under)
            case t.Logic("implies", (condition, conclusion)):
                self._implication(one, node, condition, conclusion, under)
            case t.Bond("in", _, t.Domain("R") | t.Power(t.Domain("R"), _)):
                self.contents.given.append(one)
            case t.Relation():
                self._relation(one, node, under)
            case t.Exists(body) if self._states(body) or self._defined(
                body, asked=True
            ):
                self._quote(one, node)
            case _:
                self._add(one, node, under)

    def _quantified(
        self,
        one: Statement,
        node: t.Node,
        body: t.Node,
        conditions: tuple[t.Node, ...],
        under: tuple[t.Node, ...],
    ) -> None:
        """'F for C': C may give the object, F may define a name, C may bound one."""
        if any(self._defined(part, asked=True) for part in conditions):
            self._object_in_condition(one, body, conditions, under)
        elif self._defines(body) or isinstance(body, t.Logic):
            for part in conditions:
                if isinstance(part, t.Relation) and any(self._chosen(part)):
                    self._bound(one, part)
            self._claim(one, body, (*under, *conditions))
        else:
            self._add(one, node, under)

    def _implication(
        self,
        one: Statement,
        node: t.Node,
        condition: t.Node,
        conclusion: t.Node,
        under: tuple[t.Node, ...],
    ) -> None:
        """'q = ... implies F' gives q and claims F; 'n = 2 implies q = ...' gives q for a case."""
        if self._defined(condition, asked=True):
            self._claim(one, condition, under)
            self._claim(one, conclusion, under)
        elif self._defined(conclusion, asked=True):
            if about_the_given(condition, self.exercise):
                under = (*under, condition)
            else:
                self._claim(replace(one, kind="worded"), condition, under)
            self._claim(one, conclusion, under)
        else:
            self._add(one, node, under)

    def _relation(
        self, one: Statement, link: t.Relation, under: tuple[t.Node, ...]
    ) -> None:
        """A comparison: it defines a name, restricts what is given, bounds a name, or is a claim."""
        kind = self.exercise.kind
        if kind.is_given(link):
            self.contents.given.append(one)
            return
        if kind.redefines_in_place and self._redefines(link):
            self._anew(one, link, under)
            return
        definition = link if self._defines(link) else self._tied(one, link)
        if definition is not None:
            self._define(one, definition, under)
        elif one.lets and self._is_about_given(link):
            self.assumed.append(link)  # 'let epsilon = 1/m': some values are left out
            self.contents.given.append(one)
        elif any(self._chosen(link)) and self._may_bound(one):
            self._bound(one, link)
        else:
            self._add(one, link, under)

    def _is_about_given(self, link: t.Relation) -> bool:
        """Whether a comparison restricts what is given."""
        if full_names(link) <= given_numbers(self.exercise):
            return True
        start = link.terms[0]
        if link.comparisons != ("=",) or not isinstance(start, t.Name):
            return False
        return full_name(start) in self.exercise.parameters

    def _may_bound(self, one: Statement) -> bool:
        """Whether a statement says how names are chosen, and not what follows."""
        is_firm = one.kind == "neutral" or one.display or one.lets
        return not one.reason and (is_firm or one.sentence in self.defining)

    def _object_in_condition(
        self,
        one: Statement,
        body: t.Node,
        conditions: Sequence[t.Node],
        under: tuple[t.Node, ...],
    ) -> None:
        """'c -> v_a for q = ..., lambda >> 0' gives q; with 'if' it only mentions q."""
        hypothetical = _SUPPOSING.search(one.text) is not None
        for part in conditions:
            if hypothetical:
                self._note(one, part)
            elif not isinstance(part, t.Name):
                self._claim(replace(one, kind="worded"), part, under)
        self._add(one, body, under)

    def _tied(self, one: Statement, link: t.Relation) -> t.Relation | None:
        """'1/tau = ln(n/epsilon)', 'epsilon = 2 delta', 'n/epsilon = e^t': an equation solved for the one unknown."""
        if link.comparisons != ("=",) or not self.exercise.kind.has_own_numbers:
            return None
        for inside, value in (link.terms, link.terms[::-1]):
            unknown = self._unknowns(inside)
            scaled = [x for x in self.exercise.answer if _is_scaled(inside, x)]
            unknown = set(scaled) or unknown  # 'q/lambda = k_a + k_b' tells q
            asked = bool(unknown & set(self.exercise.answer))
            if len(unknown) != 1 or (
                not asked and not (one.lets and one.kind == "neutral")
            ):
                continue
            (name,) = unknown
            if asked and self._is_consequence(one, name):
                continue
            if (
                name in COUNTS
                or name in full_names(value)
                or isinstance(inside, t.Name)
            ):
                continue
            numbers = {name, "e", "pi", *self.exercise.parameters}
            solvable = full_names(inside, value) <= numbers or _is_scaled(inside, name)
            found = _solved(inside, name, value) if solvable else None
            if found is not None:
                return t.Relation((named(name), found), ("=",), span=link.span)
        return None

    def _unknowns(self, node: t.Node) -> set[str]:
        """The names in a node, without an index, that are asked for or are not given."""
        return {
            full_name(name)
            for name in t.every_name(node)
            if full_name(name) not in ("e", "pi")
            and name.index is None
            and (full_name(name) in self.exercise.answer or not self.gives(name))
        }

    def _is_consequence(self, one: Statement, name: str) -> bool:
        """'tau = a, because then e^(1/tau) is b': what is said of a name that has its definition, is no second one."""
        has_definition = any(
            made.name == name and made.rank for made in self.contents.asked
        )
        return has_definition and (one.reason or one.follows)

    def _anew(
        self, one: Statement, link: t.Relation, under: tuple[t.Node, ...]
    ) -> None:
        """A given token defined anew: it holds in its paragraph."""
        (name, *_) = names_on_the_left(link)
        if self.exercise.kind.given_value(full_name(name)) == link.terms[1]:
            self._add(one, link, under)
            return
        self.instead = (t.Relation(link.terms[:2], ("=",), span=link.span),)
        self.instead_in = one.paragraph, one.sentence
        self.contents.quoted.append(one)

    def _bound(self, one: Statement, chain: t.Relation) -> None:
        for link, mine in zip(comparisons(chain), self._chosen(chain), strict=True):
            if not mine:
                self._add(one, link, ())
                continue
            name = next((term for term in link.terms if self._is_own(term)), None)
            end: t.Node | None = None
            if one.size:  # 'beta > 0 is large' is large, not every beta > 0
                end = t.INFINITY if one.size == "large" else t.ZERO
            match link:  # tau << 1 is tau -> 0
                case t.Relation((t.Name(), t.Number(value)), ("<<",)) | t.Relation(
                    (t.Number(value), t.Name()), (">>",)
                ):
                    end = replace(t.ZERO, span=link.span) if 0 < value <= 1 else end
            made = (
                link
                if end is None or name is None
                else t.Relation((name, end), ("->",), span=link.span)
            )
            self.contents.bounds.append((Said(made, one.text, one.line), one))

    def _define(
        self, one: Statement, link: t.Relation, under: tuple[t.Node, ...]
    ) -> None:
        contents, terms = self.contents, link.terms
        narrowing, conditions = self._sorted_conditions(under, t.Listing(terms[1:]))
        case = (*narrowing, *self.assumed)
        case = tuple(part for part in case if not self._defined(part, asked=True))
        every = any(
            isinstance(part, t.Name) and self._is_own(part) for part in under
        )  # 'for any lambda'
        rank = (
            QUOTED
            if one.doubt or every
            else NEUTRAL
            if one.kind == "neutral" or one.display
            else WORDED
        )
        for name, value in self._defined(link):
            made = Definition(name, value, one, rank, case, conditions=conditions)
            if name in self.exercise.answer:
                general = [
                    other
                    for other in contents.asked
                    if other.name == name and not other.case and other.rank
                ]
                if case and general:
                    self._add(one, t.Relation(terms[:2], ("=",), span=link.span), under)
                else:
                    contents.asked.append(made)
            elif one.example:
                contents.quoted.append(one)
                self._note_example(one, made)
            elif not case:
                contents.own.append(
                    replace(
                        made,
                        soft=one.role == "condition"
                        and one.sentence not in self.objects,
                    )
                )
            elif one.role != "condition":
                contents.unclear.add(name)
                contents.quoted.append(one)
        for condition in conditions:
            self._define_in_condition(one, condition, rank)
        for part in under:
            known = any(
                other.text == one.text and said.node == part
                for said, other in contents.bounds
            )
            if isinstance(part, t.Relation) and any(self._chosen(part)) and not known:
                self._bound(one, part)
        if len(terms) > 2:  # q = a = b: q is a, and that a = b is a claim
            self._claim(
                one, t.Relation(terms[1:], link.comparisons[1:], span=link.span), under
            )

    def _add(self, one: Statement, node: t.Node, under: tuple[t.Node, ...]) -> None:
        anew = bool(self.instead) and one.paragraph == self.instead_in[0]
        kept = (
            *under,
            *(self.instead if anew else ()),
            *(part for part in self.assumed if part not in under),
        )
        if self._states(
            node
        ):  # one that is said to follow from another is none of its own
            neutral = (one.kind == "neutral" or one.display) and not one.follows
            rank = NAMED if one.role == "wanted" else NEUTRAL if neutral else WORDED
            self.contents.conditions.append(
                (Claimed(one, t.said_under(node, kept)), rank)
            )
        else:
            self.contents.claims.append(
                Claimed(one, node, kept, anew and one.sentence != self.instead_in[1])
            )

    # Names of the answer's own.

    def _is_own(self, node: t.Node) -> bool:
        """A name that is neither given nor defined."""
        return (
            isinstance(node, t.Name)
            and not self.gives(node)
            and full_name(node) not in self.defined
        )

    def _defines(self, node: t.Node) -> bool:
        """Whether an equation defines what is asked for, or a name of the answer's own."""
        if not isinstance(node, t.Relation) or node.comparisons[0] != "=":
            return False
        names, right = names_on_the_left(node), node.terms[1]
        for name in names:
            full = full_name(name)
            wanted = full in self.exercise.answer or full in self.exercise.redefines
            inside = full in full_names(right) or (
                name.index is None and t.speaks_of(right, name.base)
            )
            if not wanted and (inside or self.gives(name)):
                return False
        return len(names) == 1 or (
            len(names) > 1
            and isinstance(right, t.Listing)
            and len(right.items) == len(names)
        )

    def _bounds_own(self, node: t.Node) -> bool:
        """Whether a link speaks of a name of the answer's own, alone on a side: lambda > 0, t >> n, e^t >> n."""
        if not isinstance(node, t.Relation) or node.comparisons[0] in ("=", "~"):
            return False
        if self.exercise.condition and t.speaks_of(node, "q"):
            return False  # a condition on the scores is what is asked for
        if node.comparisons[0] in (">>", "<<"):
            names = list(t.every_name(node.terms[node.comparisons[0] == "<<"]))
            own = [name for name in names if self._is_own(name)]
            if own and all(
                name in own or full_name(name) in ("e", "pi") for name in names
            ):
                return True
        return any(map(self._is_own, node.terms))

    def _chosen(self, chain: t.Relation) -> list[bool]:
        """Which links of a chain say how a name of the answer's own is chosen.

        In 'k_a^T q = lambda > 0' lambda > 0 is a result: a name is chosen at the ends of a chain, or all along it.
        """
        links = list(comparisons(chain))
        own = [self._bounds_own(link) for link in links]
        if all(own):
            return own
        ends = [
            term
            for term in (chain.terms[0], chain.terms[-1])
            if isinstance(term, t.Name | t.Listing | t.Call)
        ]
        at_an_end = {item for end in ends for item in (end, *t.listed(end))}
        return [
            mine and bool(at_an_end & set(link.terms))
            for mine, link in zip(own, links, strict=True)
        ]

    def _note_example(self, one: Statement, made: Definition) -> None:
        """'q = beta (k_a + k_b), e.g. beta = 1': an example of the object, where it is given."""
        if one.sentence in self.objects and made.name not in self.exercise.answer:
            self.contents.examples.setdefault(made.name, made)

    def _define_in_condition(self, one: Statement, part: t.Relation, rank: int) -> None:
        """'q = beta (k_a + k_b) where beta = 1', and the same with 'if', 'for' or brackets, say what beta is."""
        if one.example:
            for name, value in self._defined(part):
                self._note_example(one, Definition(name, value, one, rank))
        if rank == QUOTED or one.example:
            return
        known = {(made.name, made.value) for made in self.contents.own}
        for name, value in self._defined(part):
            if name not in self.exercise.answer and (name, value) not in known:
                self.contents.own.append(Definition(name, value, one, rank))

    def _sorted_conditions(
        self, under: Sequence[t.Node], value: t.Node
    ) -> tuple[tuple[t.Node, ...], tuple[t.Relation, ...]]:
        """What is assumed of the given, and what is said of names of the value's own.

        Indices and 'for all n' are neither. In 'beta = gamma/2, gamma = 1' gamma is a name of the value's own too.
        """
        narrowing: list[t.Node] = []
        about_own: list[t.Relation] = []
        for part in under:
            if isinstance(part, t.Relation) and self.exercise.kind.is_given(part):
                continue
            if isinstance(part, t.Relation) and (
                self._defines(part) or any(map(self._bounds_own, comparisons(part)))
            ):
                about_own.append(part)
            elif not isinstance(part, t.Name | t.Listing) and not is_index(part):
                narrowing.append(part)
        names = full_names(value)
        used: list[t.Relation] = []
        waiting = about_own
        while waiting:
            reached = [
                part for part in waiting if full_names(part) & names or tends(part)
            ]
            if not reached:
                break
            used += reached
            names |= full_names(*reached)
            waiting = [part for part in waiting if part not in reached]
        return (*narrowing, *waiting), tuple(used)


def _is_scaled(node: t.Node, own: str) -> bool:
    """Whether a node is a name divided by other names, or multiplied by 1 over them: q/lambda."""
    match node:
        case t.Quotient(t.Name() as name, below):
            divided = own not in full_names(below)
            return full_name(name) == own and divided
        case t.Product((t.Quotient(t.Number(), below), t.Name() as name)):
            divided = own not in full_names(below)
            return full_name(name) == own and divided
        case _:
            return False


def _solved(node: t.Node, own: str, value: t.Node) -> t.Node | None:
    """What a name is, that occurs once in a node of that value: delta = epsilon/2 where 2 delta is epsilon."""
    match node:
        case t.Name() if full_name(node) == own:
            return value
        case t.Product((factor, inner)) if own not in full_names(factor):
            return _solved(inner, own, t.Quotient(value, factor))
        case t.Quotient(over, below) if own not in full_names(below):
            return _solved(over, own, t.Product((value, below)))
        case t.Quotient(over, below) if own not in full_names(over):
            return _solved(below, own, t.Quotient(over, value))
        case t.Call("exp", (power,)):
            return _solved(power, own, t.Call("ln", (value,)))
        case _:
            return None


def candidates(
    exercise: Exercise, contents: Contents, *, quoted: bool = False
) -> list[Candidate]:
    """The candidates for the names that were asked for, in order, equal ones once; with `quoted` those are too."""
    live = [one for one in contents.asked if quoted or one.rank > QUOTED]
    wanted = set(exercise.answer)
    found: list[Candidate] = []
    by_case: dict[tuple[t.Node, ...], dict[str, Definition]] = {}
    current: dict[str, Definition] = {}
    for place, one in enumerate(live):
        following = live[place + 1 : place + 2]
        if one.case and not wanted <= set(current):
            by_case.setdefault(one.case, dict(current))[one.name] = one
        elif not one.case:
            current[one.name] = one
            together = (
                following and following[0].statement.sentence == one.statement.sentence
            )
            if wanted <= set(current) and not (
                together and not following[0].case and following[0].name != one.name
            ):
                found.append(
                    Candidate(
                        (((), dict(current)),),
                        min(each.rank for each in current.values()),
                    )
                )
    if by_case and all(wanted <= set(made) for made in by_case.values()):
        rank = min(each.rank for made in by_case.values() for each in made.values())
        found.append(Candidate(tuple(by_case.items()), rank))
    unique: dict[object, Candidate] = {}
    for each in found:
        key = tuple(
            (case, *((name, made[name].value) for name in sorted(made)))
            for case, made in each.cases
        )
        if key not in unique or unique[key].rank < each.rank:
            unique[key] = each
    return list(unique.values())


def own_names_among_numbers(node: t.Node, exercise: Exercise) -> set[str]:
    """The names of the answer's own in 'e^lambda >= n', where all others are given numbers; none where they are not."""
    own: set[str] = set()
    numbers = {*given_numbers(exercise), "e", "pi"}
    for name in t.every_name(node):
        full = full_name(name)
        if full in numbers:
            continue
        if exercise.kind.gives(name) or name.index is not None:
            return set()
        own.add(full)
    return own


def is_sign(node: t.Node) -> bool:
    """'lambda > 0': what sign a name has, and nothing more."""
    match node:
        case t.Relation((t.Name(), zero), (">" | ">=" | "!=",)) | t.Relation(
            (zero, t.Name()), ("<" | "<=" | "!=",)
        ):
            return zero == t.ZERO
        case _:
            return False


def relevant(
    bounds: Iterable[tuple[Said, Statement]], *nodes: t.Node
) -> tuple[Said, ...]:
    """The bounds that matter: what is said to be large or small, of names that occur; every other bound."""
    used = full_names(*nodes)
    found = [said for said, _ in bounds]
    ends = [
        said.node.terms[0]
        for said in found
        if isinstance(said.node, t.Relation) and tends(said.node)
    ]
    sent = {full_name(name) for name in ends if isinstance(name, t.Name)}
    kept: list[Said] = []
    for said in found:
        names = full_names(said.node)
        if is_sign(said.node) and names & sent:
            continue  # 'lambda > 0' beside 'large' is large
        if (names & used or not tends(said.node)) and all(
            said.node != other.node for other in kept
        ):
            kept.append(said)
    return tuple(kept)
