"""What the formulas of an answer are: candidates for what was asked for, own names with their bounds, claims.

A candidate is a formula that defines an asked-for name and is not quoted; where a condition is asked for, a relation
between scores alone. Displays and neutral sentences outrank worded ones. A definition for a case ('for n = 2 take ...')
is a case of one candidate; after a general definition it is a claim. A bound on a name of one's own counts from a
neutral sentence, a display, or the sentence that defines the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from headwright.check.answer import Said, about_parameters, comparisons, full_name, full_names, named
from headwright.check.exercise import Exercise, parsed
from headwright.check.names import Names, names_on_the_left, tends
from headwright.check.settings.keys.conditions import states_condition
from headwright.check.text import Statement
from headwright.formula import tree as t

QUOTED, WORDED, NEUTRAL, NAMED = 0, 1, 2, 3  # ranks of candidates


@dataclass(frozen=True)
class Definition:
    """A name with its value, for a case perhaps."""

    name: str
    value: t.Node
    statement: Statement
    rank: int
    case: tuple[t.Node, ...] = ()
    soft: bool = False  # 'with lambda = 0 ...': a definition only if nothing else is said of the name

    @property
    def said(self) -> Said:
        """For the provers."""
        return Said(self.value, self.statement.text, self.statement.line)


@dataclass(frozen=True)
class Claimed:
    """A formula to be judged: the statement it was written in, and what it says."""

    statement: Statement
    node: t.Node
    under: tuple[t.Node, ...] = ()
    again: bool = False  # a name in it is defined twice

    @property
    def said(self) -> Said:
        """For the provers."""
        return Said(self.node, self.statement.text, self.statement.line, True)


@dataclass(frozen=True)
class Candidate:
    """One answer to what was asked for: a value for each name, case by case where cases are given."""

    cases: tuple[tuple[tuple[t.Node, ...], Mapping[str, Definition]], ...]  # what is assumed, and the definitions
    rank: int

    @property
    def definitions(self) -> Mapping[str, Definition]:
        """Those of the first case."""
        return self.cases[0][1]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Where it was written."""
        return tuple(one.statement for _, found in self.cases for one in found.values())


@dataclass
class Contents:
    """An answer sorted."""

    asked: list[Definition] = field(default_factory=list)
    own: list[Definition] = field(default_factory=list)
    bounds: list[tuple[Said, Statement]] = field(default_factory=list)
    claims: list[Claimed] = field(default_factory=list)
    conditions: list[tuple[Claimed, int]] = field(default_factory=list)  # where one is asked for, with their ranks
    by_case: list[Definition] = field(default_factory=list)  # own names that are defined for a case
    examples: list[Definition] = field(default_factory=list)  # values of own names: 'for instance lambda = 5'
    quoted: list[Statement] = field(default_factory=list)
    unread: list[Statement] = field(default_factory=list)
    given: list[Statement] = field(default_factory=list)  # repeated from the exercise


def sorted_out(
    exercise: Exercise, statements: Sequence[Statement], names: Names, own: Sequence[Definition] = ()
) -> Contents:
    """Each statement taken for what it is; `own` are the definitions of own names, as far as they are known."""
    sorter = _Sorter(exercise, statements, names, own)
    for one in statements:
        sorter.take(one)
    return sorter.finished()


class _Sorter:
    def __init__(
        self, exercise: Exercise, statements: Sequence[Statement], names: Names, own: Sequence[Definition]
    ) -> None:
        self.exercise, self.names, self.contents = exercise, names, Contents()
        self.scored = {one.name for one in own if t.speaks_of(one.value, "q")}  # names that stand for scores
        self.given = [parsed(source) for source in exercise.may_repeat]
        self.defining = {
            one.sentence
            for one in statements
            if one.kind != "turned" and one.node is not None and self._defines_any(one)
        }
        self.objects = {one.sentence for one in statements if one.kind != "turned" and self._defines_asked(one)}
        self.assumed: list[t.Node] = []  # 'let n = 2'
        self.instead: tuple[t.Node, ...] = ()  # a given name that was defined anew
        self.instead_in = -1, -1  # in which paragraph, and in which sentence

    def finished(self) -> Contents:
        """The answer once everything was taken: what only seemed to define a name is a condition."""
        contents = self.contents
        bounded = {name for said, _ in contents.bounds for name in full_names(said.node)}
        for name in {one.name for one in contents.own}:
            mine = [one for one in contents.own if one.name == name]
            firm = [one for one in mine if not one.soft]
            soft = [] if firm or name in bounded or len({one.value for one in mine}) > 1 else mine[:1]
            contents.own = [one for one in contents.own if one.name != name] + (firm[:1] or soft)
            for one in firm[1:]:
                link = t.Relation((named(name), one.value), ("=",), span=one.value.span)
                if one.value != firm[0].value:
                    contents.claims.append(Claimed(one.statement, link, one.statement.under, True))
        contents.own.sort(key=lambda one: one.statement.number)
        contents.claims.sort(key=lambda one: one.statement.number)
        values = {(one.name, one.value) for one in (*contents.own, *contents.asked)}

        def kept(part: t.Node) -> bool:
            made = list(_values(part)) if isinstance(part, t.Relation) and self.names.defines(part) else []
            return not made or any(pair not in values for pair in made)

        contents.claims = [replace(one, under=tuple(filter(kept, one.under))) for one in contents.claims]
        return contents

    def _defines_any(self, one: Statement) -> bool:
        node = None if one.node is None else t.unquantified(one.node)
        return any(self.names.defines(item) for item in t.conjuncts(node)) if node is not None else False

    def _defines_asked(self, one: Statement) -> bool:
        items = [] if one.node is None else t.conjuncts(_body(one.node))
        made = [item for item in items if isinstance(item, t.Relation) and self.names.defines(item)]
        return any(name in self.exercise.answer for item in made for name, _ in _values(item))

    def take(self, one: Statement) -> None:
        """One statement."""
        contents = self.contents
        if one.node is None:
            contents.unread.append(one)
        elif one.role == "size":
            if any(map(self.names.is_own, t.every_name(one.node))):
                contents.bounds.append((self._said(one, one.node), one))
        elif one.role == "condition":
            self._condition(one, one.node)
        elif one.kind == "turned" or (one.role == "wanted" and not self.exercise.condition):
            self._quote(one, one.node)
        else:
            self._claim(one, one.node, one.under)

    @staticmethod
    def _said(one: Statement, node: t.Node) -> Said:
        return Said(node, one.text, one.line)

    def _quote(self, one: Statement, node: t.Node) -> None:
        self.contents.quoted.append(one)
        self._note(one, node)
        if self._states(_body(node)):
            self.contents.conditions.append((Claimed(one, t.said_under(node, one.under)), QUOTED))

    def _states(self, node: t.Node) -> bool:
        """Whether a condition on scores is asked for, and this is one."""
        if not self.exercise.condition:
            return False
        scored = bool(self.scored & full_names(node)) and not t.speaks_of(node, "alpha", "c", "v")
        return states_condition(node) or (scored and isinstance(t.unquantified(node), t.Relation))

    def _note(self, one: Statement, node: t.Node) -> None:
        """What may be an answer, and is only mentioned."""
        for item in t.conjuncts(_body(node)):
            if isinstance(item, t.Relation) and self.names.defines(item):
                for name, value in _values(item):
                    if name in self.exercise.answer:
                        self.contents.asked.append(Definition(name, value, one, QUOTED))

    def _condition(self, one: Statement, node: t.Node) -> None:
        """A condition: it may define or bound a name of the answer's own, or be what was asked for."""
        if self._states(node):
            rank = QUOTED if one.kind == "turned" else NEUTRAL
            self.contents.conditions.append((Claimed(one, t.said_under(node, one.under)), rank))
            return
        if one.kind == "turned" or one.binder in ("if", "when", "whenever", "suppose", "case"):
            self._note(one, node)
            return
        object_here = any(other.statement.sentence == one.sentence for other in self.contents.asked)
        introduces = one.binder in ("with", "where") or object_here
        if not introduces and one.binder == "for" and self._opens(_body(node)):  # 'this holds for tau = 1'
            self._claim(replace(one, kind="worded"), node, one.under)
            return
        body = t.unquantified(node)
        for item in t.conjuncts(body):
            if (
                isinstance(item, t.Relation)
                and introduces
                and self._redefines(item) is None
                and self.names.defines(item)
            ):
                self._define(one, item, one.under)
            elif isinstance(item, t.Relation) and introduces and (tied := self._tied(one, item)) is not None:
                self._define(one, tied, one.under)
            elif isinstance(item, t.Relation) and introduces and any(self.names.chosen(item)):
                self._bound(one, item)

    def _redefines(self, node: t.Relation) -> str | None:
        names = [full_name(name) for name in names_on_the_left(node)]
        return next((name for name in names if name in self.exercise.redefines), None)

    def _claim(self, one: Statement, node: t.Node, under: tuple[t.Node, ...]) -> None:
        if any(node == given for given in self.given):
            self.contents.given.append(one)
            return
        match node:
            case t.Quantified(body, conditions) if self.names.defines(body) or isinstance(body, t.Logic):
                for part in conditions:
                    if isinstance(part, t.Relation) and any(self.names.chosen(part)):
                        self._bound(one, part)
                self._claim(one, body, (*under, *conditions))
            case t.Logic("and", items):
                for item in items:
                    self._claim(one, item, under)
            case t.Logic("implies", (condition, conclusion)) if self._opens(condition):
                self._claim(one, condition, under)
                self._claim(one, conclusion, under)
            case t.Bond("in", _, t.Domain("R") | t.Power(t.Domain("R"), _)):
                self.contents.given.append(one)
            case t.Relation(terms) if any(isinstance(term, t.Name) and self.names.is_set(term) for term in terms):
                self.contents.given.append(one)
            case t.Relation() as link if self._redefines(link) is not None:
                self._anew(one, link, under)
            case t.Relation() as link if self.names.defines(link):
                self._define(one, link, under)
            case t.Relation() as link if (tied := self._tied(one, link)) is not None:
                self._define(one, tied, under)
            case t.Relation((t.Name() as given, _), ("=",)) as link if one.lets and self._ties(given):
                self.assumed.append(link)  # 'let epsilon = 1/m': some values are left out
                self.contents.given.append(one)
            case t.Relation() as chain if one.lets and about_parameters(chain, self.exercise):
                self.assumed.append(chain)
                self.contents.given.append(one)
            case t.Relation() as chain if self._bounds(one, chain):
                self._bound(one, chain)
            case t.Exists(body) if self._states(_body(body)) or self._opens(_body(body)):
                self._quote(one, node)
            case _:
                self._add(one, node, under)

    def _opens(self, node: t.Node) -> bool:
        items = [item for item in t.conjuncts(node) if isinstance(item, t.Relation)]
        wanted = [name for item in items if self.names.defines(item) for name, _ in _values(item)]
        return any(name in self.exercise.answer for name in wanted)

    def _tied(self, one: Statement, link: t.Relation) -> t.Relation | None:
        """'1/tau = ln(n/epsilon)', 'epsilon = 2 delta', 'n/epsilon = e^t': an equation solved for the one unknown."""
        if link.comparisons != ("=",):
            return None
        for inside, value in (link.terms, link.terms[::-1]):
            names = [name for name in t.every_name(inside) if full_name(name) not in ("e", "pi")]
            unknown = {full_name(name) for name in names if name.index is None and self._is_unknown(name)}
            asked = bool(unknown & set(self.exercise.answer))
            if len(unknown) != 1 or (not asked and not (one.lets and one.kind == "neutral")):
                continue
            (name,) = unknown
            numbers = {name, "e", "pi", *self.exercise.parameters}
            if name in COUNTS or name in full_names(value) or isinstance(inside, t.Name):
                continue
            if self.exercise.keys is None or not full_names(inside, value) <= numbers:
                continue
            found = _solved(inside, name, value)
            if found is not None:
                return t.Relation((named(name), found), ("=",), span=link.span)
        return None

    def _ties(self, name: t.Name) -> bool:
        return full_name(name) in self.exercise.parameters

    def _is_unknown(self, name: t.Name) -> bool:
        return full_name(name) in self.exercise.answer or not self.names.gives(name)

    def _anew(self, one: Statement, link: t.Relation, under: tuple[t.Node, ...]) -> None:
        """A given name defined anew: for tokens it holds in its paragraph, else for the whole answer."""
        if self.exercise.tokens is None:
            self._define(one, link, under)
            return
        given = self.exercise.tokens.tokens.get(full_name(names_on_the_left(link)[0]))
        if given is not None and parsed(given) == link.terms[1]:
            self._add(one, link, under)
            return
        self.instead = (t.Relation(link.terms[:2], ("=",), span=link.span),)
        self.instead_in = one.paragraph, one.sentence
        self.contents.quoted.append(one)

    def _bounds(self, one: Statement, chain: t.Relation) -> bool:
        """Whether a formula says how a name of the answer's own is chosen."""
        if not any(self.names.chosen(chain)):
            return False
        return not one.reason and (one.kind == "neutral" or one.display or one.lets or one.sentence in self.defining)

    def _bound(self, one: Statement, chain: t.Relation) -> None:
        for link, mine in zip(comparisons(chain), self.names.chosen(chain), strict=True):
            if not mine:
                self._add(one, link, ())
                continue
            made = _small(link)
            if one.size:  # 'beta > 0 is large' is large, not every beta > 0
                name = next((term for term in link.terms if self.names.is_own(term)), None)
                if name is not None:
                    end: t.Node = t.INFINITY if one.size == "large" else t.ZERO
                    made = t.Relation((name, end), ("->",), span=link.span)
            self.contents.bounds.append((self._said(one, made), one))

    def _define(self, one: Statement, link: t.Relation, under: tuple[t.Node, ...]) -> None:
        contents = self.contents
        case = (*self.names.case(under, t.Listing(link.terms[1:])), *self.assumed)
        case = tuple(part for part in case if not self._opens(part))
        rank = NEUTRAL if one.kind == "neutral" or one.display else WORDED
        every = any(isinstance(part, t.Name) and self.names.is_own(part) for part in under)  # 'for any lambda'
        rank = QUOTED if one.doubt or every else rank
        terms = link.terms
        for name, value in _values(link):
            made = Definition(name, value, one, rank, case)
            if name in self.exercise.answer:
                general = [other for other in contents.asked if other.name == name and not other.case and other.rank]
                if case and general:
                    self._add(one, t.Relation(terms[:2], ("=",), span=link.span), under)
                else:
                    contents.asked.append(made)
            elif one.example:
                contents.examples.append(made)
            elif not case:
                contents.own.append(replace(made, soft=one.role == "condition" and one.sentence not in self.objects))
            elif one.role != "condition":
                contents.by_case.append(made)
        for part in under:
            known = any(other.text == one.text and said.node == part for said, other in contents.bounds)
            if isinstance(part, t.Relation) and any(self.names.chosen(part)) and not known:
                self._bound(one, part)
        if len(terms) > 2:  # q = a = b: q is a, and that a = b is a claim
            rest = t.Relation(terms[1:], link.comparisons[1:], span=link.span)
            self._claim(one, rest, under)

    def _add(self, one: Statement, node: t.Node, under: tuple[t.Node, ...]) -> None:
        kept = list(under)
        anew = bool(self.instead) and one.paragraph == self.instead_in[0]
        kept += self.instead if anew else ()
        kept += [part for part in self.assumed if part not in kept]
        claim = Claimed(one, node, tuple(kept), anew and one.sentence != self.instead_in[1])
        if self._states(node):
            self.contents.conditions.append(
                (replace(claim, node=t.said_under(node, tuple(kept)), under=()), _rank(one))
            )
            return
        self.contents.claims.append(claim)


def _body(node: t.Node) -> t.Node:
    """A statement without what it is said for."""
    return _body(node.body) if isinstance(node, t.Quantified | t.Exists) else node


def _rank(one: Statement) -> int:
    """That of a condition: one that is said to follow from another is none of its own."""
    if one.role == "wanted":
        return NAMED
    if one.follows:
        return WORDED
    return NEUTRAL if one.kind == "neutral" or one.display else WORDED


COUNTS = ("i", "j", "k", "l", "m", "N", "M", "K")  # integers, as a rule: 'let n = 2 r' is about even ones


def _solved(node: t.Node, own: str, value: t.Node) -> t.Node | None:
    """What a name is, that occurs once in a node of that value: delta = epsilon/2 where 2 delta is epsilon."""
    match node:
        case t.Name() if full_name(node) == own:
            return value
        case t.Product(factors):
            places = [place for place, one in enumerate(factors) if own in full_names(one)]
            if len(places) != 1:
                return None
            rest = factors[: places[0]] + factors[places[0] + 1 :]
            divided = t.Quotient(value, t.Product(rest) if len(rest) > 1 else rest[0])
            return _solved(factors[places[0]], own, divided)
        case t.Quotient(over, below) if own not in full_names(below):
            return _solved(over, own, t.Product((value, below)))
        case t.Quotient(over, below) if own not in full_names(over):
            return _solved(below, own, t.Quotient(over, value))
        case t.Power(base, t.Negative(t.Number(power))) if power == 1:
            return _solved(base, own, t.Quotient(t.Number(Fraction(1)), value))
        case t.Negative(body):
            return _solved(body, own, t.Negative(value))
        case t.Call("exp", (power,)):
            return _solved(power, own, t.Call("ln", (value,)))
        case _:
            return None


def _values(link: t.Relation) -> Iterable[tuple[str, t.Node]]:
    """The names that an equation defines, with their values."""
    names = [full_name(name) for name in names_on_the_left(link)]
    right = link.terms[1]
    values = right.items if len(names) > 1 and isinstance(right, t.Listing) else (right,) * len(names)
    return list(zip(names, values, strict=True))


def _small(link: t.Relation) -> t.Relation:
    """tau << 1, said of a name of the answer's own, is tau -> 0."""
    match link:
        case t.Relation((name, t.Number(value)), ("<<",)) | t.Relation((t.Number(value), name), (">>",)):
            if isinstance(name, t.Name) and 0 < value <= 1:
                return t.Relation((name, replace(t.ZERO, span=link.span)), ("->",), span=link.span)
    return link


def candidates(exercise: Exercise, contents: Contents) -> list[Candidate]:
    """The candidates for the names that were asked for, in order; equal ones once."""
    live = [one for one in contents.asked if one.rank > QUOTED]
    found: list[Candidate] = []
    current: dict[str, Definition] = {}
    for sentence in dict.fromkeys(one.statement.sentence for one in live):
        here = [one for one in live if one.statement.sentence == sentence]
        general = [one for one in here if not one.case]
        by_case = [one for one in here if one.case]
        for group in _turns(general):
            current |= {one.name: one for one in group}
            if set(exercise.answer) <= set(current) and group:
                rank = min(one.rank for one in current.values())
                found.append(Candidate((((), dict(current)),), rank))
        if by_case and not set(exercise.answer) <= set(current):
            found = _by_case(exercise, found, by_case, current)
    unique: dict[tuple[object, ...], Candidate] = {}
    for one in [_with_cases(one, contents) for one in found]:
        key = tuple((case, *((name, defs[name].value) for name in sorted(defs))) for case, defs in one.cases)
        known = unique.get(key)
        if known is None or known.rank < one.rank:
            unique[key] = one
    return list(unique.values())


def _with_cases(candidate: Candidate, contents: Contents) -> Candidate:
    """'lambda = 1 for n = 2, lambda = ... for n > 2': the object case by case."""
    if len(candidate.cases) != 1 or candidate.cases[0][0]:
        return candidate
    definitions = candidate.definitions
    used = full_names(*(one.value for one in definitions.values()))
    mine = [one for one in contents.by_case if one.name in used]
    if not mine or len({one.name for one in mine}) > 1 or any(one.name == mine[0].name for one in contents.own):
        return candidate
    return replace(candidate, cases=tuple((one.case, {**definitions, one.name: one}) for one in mine))


def _turns(found: Sequence[Definition]) -> list[list[Definition]]:
    """Definitions of one sentence, cut where a name comes again."""
    groups: list[list[Definition]] = []
    for one in found:
        if not groups or any(other.name == one.name for other in groups[-1]):
            groups.append([])
        groups[-1].append(one)
    return groups


def _by_case(
    exercise: Exercise, found: list[Candidate], here: Sequence[Definition], current: Mapping[str, Definition]
) -> list[Candidate]:
    """Definitions for cases, added to the candidate that is given by cases."""
    before = next((one for one in found if one.cases[0][0]), None)
    cases = list(before.cases) if before is not None else []
    for one in here:
        place = next((at for at, (case, _) in enumerate(cases) if case == one.case), None)
        if place is None:
            cases.append((one.case, {**current, one.name: one}))
        else:
            cases[place] = (one.case, {**cases[place][1], one.name: one})
    if not all(set(exercise.answer) <= set(definitions) for _, definitions in cases):
        return found
    rank = min(one.rank for _, definitions in cases for one in definitions.values())
    return [one for one in found if one is not before] + [Candidate(tuple(cases), rank)]


def relevant(bounds: Iterable[tuple[Said, Statement]], *nodes: t.Node) -> tuple[Said, ...]:
    """The bounds that matter: what is said to be large or small, of names that occur; every other bound."""
    used = full_names(*nodes)
    kept: list[Said] = []
    found = [said for said, _ in bounds]
    sent = {full_name(said.node.terms[0]) for said in found if tends(said.node) and isinstance(said.node, t.Relation)
            and isinstance(said.node.terms[0], t.Name)}  # fmt: skip
    for said in found:
        names = full_names(said.node)
        if tends(said.node) and not names & used:
            continue
        if not tends(said.node) and _is_sign(said.node) and names & sent:
            continue  # 'lambda > 0' beside 'large' is large
        if all(said.node != other.node for other in kept):
            kept.append(said)
    return tuple(kept)


def _is_sign(node: t.Node) -> bool:
    """lambda > 0."""
    match node:
        case t.Relation((t.Name(), t.Number(value)), (">" | ">=" | "!=",)) | t.Relation(
            (t.Number(value), t.Name()), ("<" | "<=",)
        ):
            return value == 0
        case _:
            return False
