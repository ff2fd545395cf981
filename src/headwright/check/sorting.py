"""Statements sorted into an answer: definitions, bounds on own names, cases and examples, claims.

Names are brought to those of the exercise first; then every statement is taken for what it is (`_Sorter.take`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from headwright.check.answer import (
    OWN,
    Answer,
    MisfitError,
    Said,
    Unread,
    Variant,
    about_parameters,
    comparisons,
    flips,
    full_name,
    named,
)
from headwright.check.exercise import Exercise, parsed
from headwright.check.reading.statements import Read, Statement, flipped, is_index, with_index
from headwright.check.reading.written import MOST_FORMULAS, Formula
from headwright.check.widening import widened
from headwright.formula import FormulaError, parse_lines
from headwright.formula.show import plain
from headwright.formula.tree import (
    BigCall,
    BigSum,
    Bond,
    Call,
    Domain,
    Exists,
    Inner,
    Listing,
    Logic,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quantified,
    Quotient,
    Relation,
    Sum,
    Transpose,
    mapped,
    walk,
)


def of_formulas(formulas: Sequence[Formula], names: Sequence[str]) -> Read:
    """Bare formulas as statements: each is a claim, or defines something."""
    if len(formulas) > MOST_FORMULAS:
        raise MisfitError(f"there are {len(formulas)} formulas, expected at most {MOST_FORMULAS}", Name("q"))
    found: list[Statement] = []
    for formula in formulas:
        try:
            nodes = parse_lines(formula.text, names=tuple(names))
        except FormulaError as error:
            found.append(Statement("claim", formula.text, formula.line, problem=error))
            continue
        found += [Statement("claim", formula.text, formula.line, node) for node in nodes]
    return Read(tuple(replace(one, number=number) for number, one in enumerate(found)))


def read_answer(exercise: Exercise, read: Read, gives: Callable[[Name], bool]) -> Answer:
    """Sort the statements that were read; `gives` tells which names the exercise gives.

    A name that the exercise does not give is defined by 'name = ...', and bounded by 'name >> ...' or 'name > ...'.
    """
    sorter = _Sorter(exercise, gives)
    read = replace(read, statements=tuple(_with_pairs(one) for one in read.statements))
    if exercise.integers is not None:
        read = replace(read, statements=tuple(_with_primes(one, exercise.integers.rows) for one in read.statements))
    if exercise.condition:  # the other keys may lie anywhere, and c is all that is known of sums over them
        read = replace(read, statements=tuple(_with_output(one) for one in read.statements))
    for statement in sorter.spelled_out(_with_own_names(read, exercise, gives)):
        sorter.take(statement)
    answer = sorter.finished()
    answer.terse = read.terse and not answer.unread
    return answer


_FIRST_NAME = re.compile(r"\s*\\?([A-Za-z]+)\s*(?![\s_^'({[A-Za-z])")
WITNESSES = ("k", "m")  # names of integers that may be claimed to exist


def _with_pairs(statement: Statement) -> Statement:
    """alpha_{2j} has two indices, 2 and j: nobody multiplies them."""
    return statement if statement.node is None else replace(statement, node=_paired_indices(statement.node))


def _with_primes(statement: Statement, rows: str) -> Statement:
    r"""\Phi_t' is the row of t': there is one table of positions, and no other."""

    def moved(node: Node) -> Node:
        match node:
            case Name(base, Name() as index, primes) if primes and base == rows:
                return replace(node, index=replace(index, primes=index.primes + primes), primes=0)
            case _:
                return mapped(node, moved)

    nodes = None if statement.node is None else moved(statement.node)
    under, perhaps = (tuple(map(moved, one)) for one in (statement.under, statement.perhaps))
    return replace(statement, node=nodes, under=under, perhaps=perhaps)


def _paired_indices(node: Node) -> Node:
    match node:
        case Name("alpha", Product((Number() | Name() as one, Number() | Name() as other)) as index):
            return replace(node, index=Listing((one, other), span=index.span))
        case _:
            return mapped(node, _paired_indices)


def _with_output(statement: Statement) -> Statement:
    return statement if statement.node is None else replace(statement, node=_output(statement.node))


def _output(node: Node) -> Node:
    """With c for sum_i alpha_i v_i, which is its definition, and without what is multiplied by 0."""
    match node:
        case BigSum(index, Product(factors), None | Number(Fraction(numerator=1, denominator=1)), _, ()) if set(
            factors
        ) == {Name("alpha", Name(index)), Name("v", Name(index))} and node.upper in (None, Name("n")):
            return Name("c", span=node.span)
        case Inner(left, Number() as number) | Inner(Number() as number, left):
            return left if number.value == 1 else Product((number, left), span=node.span)
        case Sum(terms):
            kept = [term for term in map(_output, terms) if not _is_nothing(term)]
            return kept[0] if len(kept) == 1 else Sum(tuple(kept) or node.terms, span=node.span)
        case _:
            return mapped(node, _output)


def _is_nothing(term: Node) -> bool:
    body = term.body if isinstance(term, BigSum) else term
    return isinstance(body, Product) and any(isinstance(one, Number) and one.value == 0 for one in body.factors)


def _with_own_names(read: Read, exercise: Exercise, gives: Callable[[Name], bool]) -> tuple[Statement, ...]:
    """The statements with names renamed: those the answer makes its own in words, and other names for given ones."""
    own_names = read.own | {name for one in read.statements for name in _proportional(one.node)}
    free = {name for name in own_names if name not in exercise.parameters and name not in exercise.answer}
    defined = {name.base for one in read.statements for name in _defined(one.node) if name.index is None}
    names = {other: named(given) for other, given in exercise.also.items() if other not in defined}
    names |= {name: Name(name + OWN) for name in free if gives(Name(name))}
    names |= _two_places(read, exercise)
    bounded = _bounded(read, exercise)
    names |= {name: Name(name + OWN) for name in bounded}
    if not names:
        return read.statements

    def own(node: Node) -> Node:
        return _renamed(node, names)

    meant = [replace(one, node=Relation((named(name), names[name]), ("=",)), role="definition", under=())
             for name, one in bounded.items()]  # fmt: skip
    return tuple(meant) + tuple(
        replace(
            one,
            node=None if one.node is None else own(one.node),
            under=tuple(own(node) for node in one.under),
            perhaps=tuple(own(node) for node in one.perhaps),
        )
        for one in read.statements
    )


def _bounded(read: Read, exercise: Exercise) -> dict[str, Statement]:
    """What is asked for and only bounded, 'tau >= n/epsilon': then every value within the bound is meant to do."""
    found: dict[str, Statement] = {}
    for one in read.statements:
        for link in comparisons(one.node) if isinstance(one.node, Relation) and not one.why else ():
            for name in (full_name(term) for term in link.terms if isinstance(term, Name)):
                if name in exercise.answer and link.comparisons[0] in ("<", ">", "<=", ">="):
                    found.setdefault(name, one)
    defined = {full_name(name) for one in read.statements for name in _defined(one.node)}
    sent = {full_name(one.node.terms[0]) for one in read.statements
            if isinstance(one.node, Relation) and _tends(one.node) and isinstance(one.node.terms[0], Name)}  # fmt: skip
    return {name: one for name, one in found.items() if name not in defined | sent}


def _two_places(read: Read, exercise: Exercise) -> dict[str, Name]:
    """'Phi_t != Phi_s': s is the other position, if the answer speaks of no third one and does not say what s is."""
    setting = exercise.integers
    if setting is None or not setting.different:
        return {}
    nodes = [node for one in read.statements for node in (one.node, *one.under, *one.perhaps) if node is not None]
    spoken = [part for node in nodes for part in walk(node) if isinstance(part, Name)]
    rows = {setting.rows, *(other for other, given in exercise.also.items() if given == setting.rows)}
    places = {full_name(part.index) for part in spoken if part.base in rows and isinstance(part.index, Name)}
    used = {full_name(part) for part in spoken}
    set_to = {full_name(name) for one in read.statements if isinstance(one.node, Relation) and not one.under
              for link in comparisons(one.node) if link.comparisons == ("=",)
              for name in link.terms if isinstance(name, Name)}  # fmt: skip
    bound = {part.index for node in nodes for part in walk(node) if isinstance(part, BigSum | BigCall)}
    for pair in setting.also:
        third = (places | (set(setting.different[0]) & used)) - set(pair)
        if set(pair) <= places and not third and not set(pair) & (set_to | bound):
            return {mine: named(given) for mine, given in zip(pair, setting.different[0], strict=True) if mine != given}
    return {}


def _proportional(node: Node | None) -> Iterator[str]:
    """What is said to be proportional to something, 'A \\propto Q K^T', is the answer's own: a factor is left open."""
    for part in walk(node) if node is not None else ():
        if isinstance(part, Bond) and part.word == "propto" and isinstance(part.left, Name) and part.left.index is None:
            yield part.left.base


def _defined(node: Node | None) -> Iterator[Name]:
    """The names on the left of equations: what an answer may define."""
    for part in () if node is None else walk(node):
        if isinstance(part, Relation) and part.comparisons and part.comparisons[0] == "=":
            yield from _names(part.terms[0])


def _renamed(node: Node, names: Mapping[str, Name]) -> Node:
    if isinstance(node, Name) and full_name(node) in names:
        return replace(names[full_name(node)], span=node.span)
    if isinstance(node, Name) and node.index is not None and node.base in names and OWN not in names[node.base].base:
        return replace(node, base=names[node.base].base, index=_renamed(node.index, names))  # Sigma_k, as Sigma
    return mapped(node, lambda part: _renamed(part, names))


def _at_place(node: Node, letter: str, place: int) -> Node:
    if node == Name(letter):
        return Number(Fraction(place), span=node.span)
    return mapped(node, lambda part: _at_place(part, letter, place))


class _Sorter:
    """Sorts statements, one after the other, into what they are for the answer."""

    def __init__(self, exercise: Exercise, gives: Callable[[Name], bool]) -> None:
        self.exercise, self.gives = exercise, gives
        self.answer = Answer()
        self._cases: list[tuple[str, Said, tuple[Node, ...]]] = []  # definitions of what is asked for, with their case
        self._examples: list[tuple[str, Said]] = []
        self._ranges: list[tuple[str, Said]] = []  # bounds that are said to be enough
        self._bounds: list[tuple[Said, tuple[Node, ...]]] = []  # bounds on own names, with their case
        self._witnesses: dict[str, Node] = {}
        self._hypothesis: tuple[Node, ...] = ()  # what was assumed last: 'if Phi_t = Phi_t' then ... . So t = t'.'
        self._order: tuple[Node, ...] = ()  # 'let t < t'': of two integers one is the smaller
        self._last: Said | None = None

    def spelled_out(self, statements: Sequence[Statement]) -> list[Statement]:
        """With s_i = k_i^T q in place of s_a, s_1, s_j, where the answer defines s_i so."""
        patterns: dict[str, tuple[str, Node]] = {}
        found: list[Statement] = []
        if self.exercise.integers is not None:
            statements = [
                one if one.node is None else replace(one, node=_without_domains(one.node)) for one in statements
            ]
        for one in statements:
            made = None if one.why or one.node is None else self._pattern(one.node)
            if made is not None and made[0] not in patterns:
                patterns[made[0]] = made[1:]
                continue
            found.append(one)
        if not any(name.base == "s" for one in statements for name in _defined(one.node)):
            patterns |= self._scores()
        if not patterns:
            return list(statements)

        def written(node: Node) -> Node:
            return _written_out(node, patterns)

        out: list[Statement] = []
        for one in found:
            try:
                node = None if one.node is None else written(one.node)
                out.append(replace(one, node=node, under=tuple(written(part) for part in one.under)))
            except MisfitError as error:
                out.append(replace(one, role="unclear", why=error.message))
        return out

    def _scores(self) -> dict[str, tuple[str, Node]]:
        """s_i is the score of key i, unless the exercise or the answer says otherwise."""
        one_query = self.exercise.keys is not None and not any(name.startswith("q_") for name in self.exercise.answer)
        if not one_query or self.gives(Name("s", Name("i"))) or self.gives(Name("s")):
            return {}
        return {"s": ("i", Product((Transpose(Name("k", Name("i"))), Name("q"))))}

    def _pattern(self, node: Node) -> tuple[str, str, Node] | None:
        """The name, the letter and the value of a definition such as s_i = k_i^T q."""
        match node:
            case Quantified(body, conditions) if all(is_index(part) for part in conditions):
                return self._pattern(body)
            case Relation((Name(base, Name(letter, None, 0), 0) as name, value), ("=",)) if not self.gives(name):
                used = any(isinstance(n, Name) and n.index == Name(letter) for n in walk(value))
                recursive = any(isinstance(n, Name) and n.base == base for n in walk(value))
                return (base, letter, value) if used and not recursive and not self._names_a_key(letter) else None
            case _:
                return None

    def _names_a_key(self, letter: str) -> bool:
        return self.exercise.keys is not None and letter in self.exercise.keys.named

    def take(self, one: Statement) -> None:
        if one.role in ("goal", "condition") and not self._states_condition(one):
            if one.role == "condition" and self._reaches_beyond(one):
                self._set_aside(replace(one, why="it is said for more than is given"))
            return
        one = replace(one, why="") if one.role == "goal" else one
        if one.why or one.node is None:
            self._set_aside(one)
            return
        said = Said(one.node, Formula(one.text, one.line), one.perhaps, one.unknown, statement=one)
        ranged = self._ranged(one)
        if ranged and (self.answer.definitions or one.role == "example" or ranged in self.exercise.answer):
            self._ranges.append((ranged, said))
        elif one.role == "assumption":
            self._assume(said)
        elif one.role == "example":
            self._example(said, self._case(one.under))
        else:
            self._sort(said, one.under, one.role)

    def _reaches_beyond(self, one: Statement) -> bool:
        """'this works for all epsilon > 0', where epsilon < 1 is given."""
        links = list(comparisons(one.node)) if isinstance(one.node, Relation) else []
        every = _EVERY.search(one.sentence) is not None
        return every and self.exercise.integers is None and widened(self.exercise, links, "") is not None

    def _states_condition(self, one: Statement) -> bool:
        """Where one is asked for, 'when $k_j^T q > ...$' or 'we need $k_j^T q > ...$' is the answer."""
        return self.exercise.condition and one.node is not None and _speaks_of(one.node, "q")

    def _set_aside(self, one: Statement) -> None:
        error = one.problem
        decides = one.role in ("definition", "where", "assumption") or (error is not None and self._opens_own(one.text))
        self.answer.unread.append(Unread(one, one.why or "it cannot be read", error, decides))

    def _opens_own(self, text: str) -> bool:
        """Whether a formula that cannot be read begins with a name of the answer's own: it may say how to choose it."""
        found = _FIRST_NAME.match(text)
        name = Name(found[1]) if found else Name("e")
        full = full_name(name)
        return not self.gives(name) and full not in self.exercise.answer and full not in self.answer.definitions

    def _assume(self, said: Said) -> None:
        node = said.node
        if self._bounds_own(node):
            self.answer.conditions.append(said)
        elif about_parameters(node, self.exercise):
            self.answer.assumptions.append(said)

    def _example(self, said: Said, case: tuple[Node, ...]) -> None:
        node = said.node
        if said.unknown:
            self._set_aside_said(said, f"'{said.unknown}' was not understood", decides=True)
            return
        if isinstance(node, Relation) and node.comparisons == ("=",) and isinstance(node.terms[0], Name):
            full = full_name(node.terms[0])
            if full in self.exercise.answer or not self.gives(node.terms[0]):
                one = replace(said, node=node.terms[1])
                if case and full in self.exercise.answer:
                    self._cases.append((full, one, case))  # 'for n = 2 take e.g. q = 0'
                else:
                    self._examples.append((full, one))
                return
        self._set_aside_said(said, "an example that defines nothing")

    def _sort(self, said: Said, under: tuple[Node, ...], role: str) -> None:
        if any(said.node == parsed(source) for source in self.exercise.may_repeat):
            return  # it is given: repeating it neither helps nor harms
        match said.node:
            case Relation((Name() as asked, _), ("->",)) if full_name(asked) in self.exercise.missing(
                self.answer.definitions
            ):
                wanted = full_name(asked)
                self._set_aside_said(said, f"it tells no value of {wanted}, write {wanted} = ...", decides=True)
                return
            case Quantified(body, (Relation((Name(letter, None, 0), Number(value)), ("=" | "!=" as sign,)),)) if (
                self.exercise.tokens is not None and letter not in self.exercise.parameters
            ):  # 'for j != 3': there are so many tokens
                for place in range(1, len(self.exercise.tokens.tokens) + 1):
                    if (place == value) == (sign == "="):
                        self._sort(replace(said, node=_at_place(body, letter, place)), under, role)
            case Quantified(body, conditions) if self._defines(body) or isinstance(body, Logic):
                self._sort(replace(said, node=body), (*under, *conditions), role)
            case Logic("and", items):
                for item in items:
                    self._sort(replace(said, node=item), under, role)
            case Logic("implies", (condition, conclusion)) if self._opens(condition):
                self._sort(replace(said, node=condition), under, role)  # q = ..., hence ...
                self._sort(replace(said, node=conclusion), under, role)
            case Bond("in", _, Domain("R") | Power(Domain("R"), _)):
                pass  # lambda is a real number: what else?
            case Relation() if self._defines(said.node):
                self._define(said, said.node, under)
            case Relation() as equation if not under and not _follows(said) and self._renames(equation):
                self._rename(said, equation)
            case Relation() as chain if role != "reason" and any(self._chosen(chain)):
                # Of 'n <= 2 <= lambda' only the second half is about lambda: the first must not restrict the exercise.
                for link, chosen in zip(comparisons(chain), self._chosen(chain), strict=True):
                    if chosen:
                        self._bound(said, link, under)
                    else:
                        self._claim(replace(said, node=link), under, role)
            case _:
                self._claim(said, under, role)

    def _claim(self, said: Said, under: tuple[Node, ...], role: str) -> None:
        node = said.node
        if role == "definition" and about_parameters(node, self.exercise):
            self.answer.assumptions.append(said)  # 'Let n = 2'
            return
        if role == "definition" and self._restricts(node):
            if self._orders(node):
                self._order = (node,)
            else:
                self._set_aside_said(said, "it is said of some of the integers only", decides=True)
            return
        if role == "where" and self._picks_keys(node):
            self._set_aside_said(said, "it leaves out some of the keys", decides=True)
            return
        if role == "where" and not under:
            if is_index(node) and self._last is not None and self._last in self.answer.claims:
                self.answer.claims[self.answer.claims.index(self._last)] = self._under(self._last, (node,))
                self._last = None
                return
            if about_parameters(node, self.exercise) and (self._last is None or self._last not in self.answer.claims):
                self.answer.assumptions.append(said)
                return
            if self._last is not None and self._last in self.answer.claims:
                place = self.answer.claims.index(self._last)
                self.answer.claims[place] = replace(self._last, perhaps=(*self._last.perhaps, node))
            said = replace(said, granted=True)
        if any(self._supposes(part) for part in under):
            self._set_aside_said(said, "it is said of an object that is only supposed")
            return
        exact = isinstance(node, Relation) and set(node.comparisons) == {"="}
        if self._every(under) and not exact:
            self._set_aside_said(said, "it is not certain whether every value of a name is meant")
            return
        if self.exercise.condition and said.unknown:  # '... for half of the $i$': which condition it is, is not known
            self._set_aside_said(said, f"'{said.unknown}' was not understood", decides=True)
            return
        if self.exercise.condition:
            conditions = [part for part in under if _speaks_of(part, "q")]
            some = [part for part in conditions if not isinstance(part, Quantified)]  # one for all i leaves out none
            if _speaks_of(node, "q") and any(self._letters(part) & self._letters(node) for part in some):
                self._set_aside_said(said, "it leaves out some of the keys", decides=True)
                return
            for part in conditions:
                firm = None if said.statement is None else replace(said.statement, follows=False)
                stated = Said(part, said.formula, statement=firm)
                if not any(other.node == part for other in self.answer.claims):
                    self.answer.claims.append(stated)
            under = tuple(part for part in under if part not in conditions)
        if not under and not said.unknown and self._lacks_its_assumption(said):
            under, said = said.perhaps or self._hypothesis, replace(said, perhaps=())
            if not under:
                self._set_aside_said(said, "under which assumption it is said was not understood")
                return
        self._hypothesis = under or self._hypothesis
        said = self._under(said, (*self._order, *self._with_witnesses(node, under)))
        (self.answer.elsewhere[-1][1] if self.answer.elsewhere else self.answer.claims).append(said)
        self._last = said

    def _picks_keys(self, node: Node) -> bool:
        """'k_j^T q > ... for all i != j with k_i^T q > 0': for which keys a condition on scores is meant."""
        last = self._last.node if self._last is not None else None
        if not self.exercise.condition or not isinstance(last, Quantified) or isinstance(node, Quantified):
            return False
        ranging = {part.base for one in last.conditions for part in walk(one) if isinstance(part, Name)}
        return _speaks_of(node, "q") and bool(self._letters(node) & ranging)

    def _letters(self, node: Node) -> set[str]:
        """The letters that stand for keys without a name."""
        found = {part.index.base for part in walk(node) if isinstance(part, Name) and isinstance(part.index, Name)}
        return found - set(() if self.exercise.keys is None else self.exercise.keys.named)

    def _restricts(self, node: Node) -> bool:
        """'let t = 0', 'let t < t'': a choice among the given integers, and no claim about all of them."""
        given = self.exercise.integers
        if given is None or not isinstance(node, Relation):
            return False
        names = {full_name(part) for part in walk(node) if isinstance(part, Name)}
        return bool(names & {name for pair in given.different for name in pair})

    def _orders(self, node: Node) -> bool:
        """Whether it only says which of two different integers is the smaller: that loses nothing."""
        given = self.exercise.integers
        return (
            given is not None
            and isinstance(node, Relation)
            and set(node.comparisons) <= {"<", ">", "!="}
            and any(
                node.terms in ((named(one), named(other)), (named(other), named(one))) for one, other in given.different
            )
        )

    def _lacks_its_assumption(self, said: Said) -> bool:
        """'this gives t - t' = 2 pi k', 'hence t = t'': of different integers it is meant under something not heard."""
        given, node = self.exercise.integers, said.node
        body = node.body if isinstance(node, Exists) else node
        if given is None or said.statement is None or not isinstance(body, Relation) or set(body.comparisons) != {"="}:
            return False
        if any(isinstance(part, Call) or (isinstance(part, Name) and part.base == given.rows) for part in walk(body)):
            return False
        names = {full_name(part) for part in walk(body) if isinstance(part, Name)}
        words = re.sub(r"\$[^$]*\$", "", said.statement.sentence)
        open_ended = names & set(WITNESSES) or any({one, other} <= names for one, other in given.different)
        return bool(open_ended) and re.search(r"[a-z]{2}", words) is not None

    def _with_witnesses(self, node: Node, under: tuple[Node, ...]) -> tuple[Node, ...]:
        """'so t - t' = 2 pi k ... hence k = 0': the k that was said to exist."""
        if self.exercise.integers is None or not under:
            return under
        letters = {part.base for part in walk(node) if isinstance(part, Name) and part.base in WITNESSES}
        if any(isinstance(part, Name) and part.base in letters for one in under for part in walk(one)):
            return under
        more = tuple(self._witnesses[letter] for letter in sorted(letters) if letter in self._witnesses)
        for letter in letters:
            self._witnesses.setdefault(letter, node)
        return (*under, *more)

    def _set_aside_said(self, said: Said, why: str, *, decides: bool = False) -> None:
        if said.statement is not None:
            self.answer.unread.append(Unread(said.statement, why, None, decides))

    def _under(self, said: Said, under: tuple[Node, ...]) -> Said:
        """The statement with what it is said for."""
        if not under:
            return said
        if self.exercise.integers is not None:  # an integer that only the conclusion names is claimed to exist
            given = under[0] if len(under) == 1 else Logic("and", under)
            names = [part for part in under if isinstance(part, Name | Listing)]
            return said if names else replace(said, node=Logic("implies", (given, said.node), span=said.node.span))
        body, before = (said.node.body, said.node.conditions) if isinstance(said.node, Quantified) else (said.node, ())
        return replace(said, node=Quantified(body, (*before, *under), span=said.node.span))

    def _supposes(self, node: Node) -> bool:
        """Whether a condition gives what is asked for a value: suppose q = k_a."""
        if self.exercise.condition:
            return False
        return isinstance(node, Relation) and any(
            isinstance(term, Name) and full_name(term) in self.exercise.answer for term in node.terms
        )

    def _chosen(self, chain: Relation) -> list[bool]:
        """Which links of a chain say how a name of the answer's own is chosen.

        In 'k_a^T q = lambda > 0' lambda > 0 is a result: a name is chosen at the ends of a chain, or all along it.
        """
        links = list(comparisons(chain))
        own = [self._bounds_own(link) for link in links]
        if all(own):
            return own
        ends = [term for term in (chain.terms[0], chain.terms[-1]) if isinstance(term, Name | Listing | Call)]
        return [
            mine and any(end in link.terms or _holds(end, link) for end in ends)
            for mine, link in zip(own, links, strict=True)
        ]

    def _case(self, under: tuple[Node, ...]) -> tuple[Node, ...]:
        """What is assumed of the given: not of indices, not of names of the answer's own, not 'for all n'."""
        return tuple(p for p in under if not is_index(p) and not self._is_own(p) and not isinstance(p, Name | Listing))

    def _every(self, under: tuple[Node, ...]) -> bool:
        """'for any $lambda$': more than that all large ones are meant."""
        large = {full_name(p.terms[0]) for p in under if _tends(p) and isinstance(p.terms[0], Name)}  # type: ignore[attr-defined]
        own = [p for p in under if isinstance(p, Name) and not self.gives(p) and not self._is_letter(p)]
        return any(full_name(name) not in large for name in own)

    def _is_letter(self, name: Name) -> bool:
        """Letters that stand for keys, rows or tokens."""
        return name.base in ("i", "j", "l", "m", "k", "r") and name.index is None

    def _refuse_the_output(self, value: Node) -> None:
        """q = c (k_a + k_b), and c is the output here: then it is said what c is."""
        keys = self.exercise.keys
        if keys is None or "c" in self.exercise.parameters or any(s.name == "c" for s in keys.scales.values()):
            return
        indices = {id(part.index) for part in walk(value) if isinstance(part, Name)}
        sums = [part for part in walk(value) if isinstance(part, BigSum)]
        indices |= {id(part) for one in sums for condition in one.conditions for part in walk(condition)}
        for part in walk(value):
            if part == Name("c") and id(part) not in indices:  # k_c is a key
                fix = "call the number otherwise, or introduce it: 'with a large constant c'"
                raise MisfitError("c is the output in this exercise, the mean of the values", part, fix=fix)

    def _bound(self, said: Said, link: Relation, under: tuple[Node, ...]) -> None:
        case = self._case(under)
        for part in under:
            if self._is_own(part):
                self._sort(replace(said, node=part), (), "where")
        said = replace(said, node=_small(link))
        if said.unknown:
            self._set_aside_said(said, f"'{said.unknown}' was not understood", decides=True)
        elif case:
            self._bounds.append((said, case))
        else:
            self.answer.conditions.append(said)

    def _is_own(self, node: Node) -> bool:
        """Whether a condition is about a name of the answer's own: lambda > 0, lambda -> infinity, lambda = 2."""
        match node:
            case Relation():
                return any(self._bounds_own(link) for link in comparisons(node)) or self._defines(node)
            case _:
                return False

    def _opens(self, node: Node) -> bool:
        """Whether what stands before 'hence' defines something that was asked for."""
        items = node.items if isinstance(node, Logic) and node.word == "and" else (node,)
        return any(self._defines(item) and self._wanted(item) for item in items)

    def _wanted(self, node: Node) -> bool:
        return isinstance(node, Relation) and any(full_name(n) in self.exercise.answer for n in _names(node.terms[0]))

    def _defines(self, node: Node) -> bool:
        if not isinstance(node, Relation) or node.comparisons[0] != "=":
            return False
        names = _names(node.terms[0])
        if not names:
            return False
        for name in names:
            full = full_name(name)
            wanted = full in self.exercise.answer or full in self.exercise.redefines
            new = full not in self.answer.definitions
            own = not self.gives(name) and new and not _mentions(node.terms[1], full)
            if not (wanted or own) or not new:
                return False
        right = node.terms[1]
        return len(names) == 1 or (isinstance(right, Listing) and len(right.items) == len(names))

    def _renames(self, node: Relation) -> str:
        """The one name of the answer's own in an equation for a given number: 'let epsilon = 2 delta'."""
        if node.comparisons != ("=",) or not any(_is_parameter(term, self.exercise) for term in node.terms):
            return ""
        names = [part for part in walk(node) if isinstance(part, Name) and part.base not in ("e", "pi")]
        own = [full_name(name) for name in names if not self.gives(name) and name.index is None]
        given = all(full_name(name) in (*own, *self.exercise.parameters) for name in names)
        new = len(own) == 1 and own[0] not in self.answer.definitions and own[0] not in self.exercise.answer
        return own[0] if new and given else ""

    def _rename(self, said: Said, node: Relation) -> None:
        """delta = epsilon/2 is what 'let epsilon = 2 delta' says, if delta may be any number."""
        own = self._renames(node)
        left, right = node.terms if _mentions(node.terms[1], own) else reversed(node.terms)
        whole = any(_is_parameter(term, self.exercise) and self.exercise.parameters[full_name(term)].integer
                    for term in node.terms if isinstance(term, Name))  # fmt: skip
        value = None if own in COUNTS or whole else _solved(right, own, left)  # 'let n = 2r' is about even ones
        if value is None:
            self._set_aside_said(said, "it ties a name to what is given in a way that is not understood", decides=True)
        else:
            self.answer.definitions[own] = replace(said, node=value)

    def _define(self, said: Said, node: Relation, under: tuple[Node, ...]) -> None:
        terms = node.terms
        names = _names(terms[0])
        wanted = any(full_name(name) in self.exercise.answer for name in names)
        if wanted:
            self._refuse_the_output(terms[1])
        case = self._case(under)
        if self._every(under):
            self._set_aside_said(said, "it is not certain whether every value of a name is meant", decides=True)
            return
        if any(self._supposes(part) for part in case) or (said.unknown and wanted):
            why = f"'{said.unknown}' was not understood" if said.unknown else "it is only supposed"
            self._set_aside_said(said, why, decides=True)
            return
        if case and not wanted:
            self._set_aside_said(said, "a name is defined for a case only", decides=True)
            return
        under = (*under, *(part for part in said.perhaps if self._is_own(part)))
        said = replace(said, perhaps=self._case(said.perhaps))
        values = terms[1].items if len(names) > 1 and isinstance(terms[1], Listing) else (terms[1],)
        for name, value in zip(names, values, strict=True):
            one = replace(said, node=value)
            if case:
                self._cases.append((full_name(name), one, case))
            elif full_name(name) in self.exercise.redefines and (self.answer.claims or self.answer.elsewhere):
                self.answer.elsewhere.append(({full_name(name): one}, []))
            else:
                self.answer.definitions[full_name(name)] = one
        for part in under:
            if self._is_own(part):
                self._sort(replace(said, node=part, perhaps=(), unknown=""), (), "where")
        if len(terms) > 2:  # q = a = b: q is a, and that a = b is a claim
            rest = Relation(terms[1:], node.comparisons[1:], span=node.span)
            self._sort(replace(said, node=rest), under, "claim")
        self._last = None

    def _bounds_own(self, node: Node) -> bool:
        """Whether a link speaks of a name of the answer's own, alone on a side: lambda > 0, t >> n, e^t >> n."""
        if not isinstance(node, Relation) or node.comparisons[0] in ("=", "~"):
            return False
        if self.exercise.condition and _speaks_of(node, "q"):
            return False  # a condition on the scores is what is asked for

        def own(term: Node) -> bool:
            return isinstance(term, Name) and not self.gives(term) and full_name(term) not in self.answer.definitions

        if node.comparisons[0] in (">>", "<<"):
            names = [part for part in walk(node.terms[node.comparisons[0] == "<<"]) if isinstance(part, Name)]
            if any(map(own, names)) and all(own(name) or full_name(name) in ("e", "pi") for name in names):
                return True
        return any(map(own, node.terms))

    def finished(self) -> Answer:
        """The answer, once everything was said."""
        answer = self.answer
        early = [said for said in answer.conditions if not self._bounds_own(said.node)]
        # What was said of a name before its definition came is a claim about what was defined.
        answer.conditions = [said for said in answer.conditions if said not in early]
        answer.claims += [said for said in early if not _tends(said.node)]
        for said in [one for one in answer.claims if self._says_indirectly(one.node)]:
            answer.claims.remove(said)
            wanted = ", ".join(self.exercise.missing(answer.definitions))
            self._set_aside_said(said, f"it tells {wanted} indirectly, write {wanted} = ...", decides=True)
        self._made_small()
        used = {full_name(part) for one in (*answer.definitions.values(), *answer.claims) for part in walk(one.node)
                if isinstance(part, Name)}  # fmt: skip
        answer.conditions = [said for said in answer.conditions if _used(said.node, used, self.gives)]
        self._variants()
        for said in answer.assumptions:
            answer.claims = [self._under(one, (said.node,)) if _governs(said, one) else one for one in answer.claims]
        return answer

    def _made_small(self) -> None:
        """'q = k/tau, and alpha -> 1 as tau -> 0' says for which tau it is meant, if nothing else does."""
        answer = self.answer
        spoken = {full_name(part) for said in answer.conditions for part in walk(said.node) if isinstance(part, Name)}
        found: dict[str, list[tuple[Relation, Said]]] = {}
        for said in answer.claims:
            for part in said.node.conditions if isinstance(said.node, Quantified) else ():
                if isinstance(part, Relation) and _tends(part) and self._bounds_own(part):
                    found.setdefault(plain(part.terms[0]), []).append((part, said))
        for name, ways in found.items():
            small = Number(Fraction(0)) in {part.terms[1] for part, _ in ways}
            if name in spoken or not small or not any(_divides(name, one.node) for one in answer.definitions.values()):
                continue  # 'q = t k, and alpha -> 1/n as t -> 0' tells what happens there, and not which t is meant
            part, said = ways[0]
            if len({part.terms[1] for part, _ in ways}) == 1:
                answer.conditions.append(replace(said, node=part, perhaps=(), unknown=""))
            else:
                self._set_aside_said(said, f"it is not certain whether {name} is meant to be small", decides=True)

    def _says_indirectly(self, node: Node) -> bool:
        """1/tau = ln(n/epsilon): what is asked for, and defined nowhere, stands within one side of an equation."""
        cases = {full for full, _, _ in self._cases} | {full for full, _ in self._examples}
        missing = set(self.exercise.missing(self.answer.definitions)) - cases
        body = node.body if isinstance(node, Quantified) else node
        if not missing or not isinstance(body, Relation) or body.comparisons[0] != "=":
            return False

        def names(term: Node) -> set[str]:
            return {full_name(part) for part in walk(term) if isinstance(part, Name)} - {"e", "pi"}

        left, right = body.terms[:2]
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Power | Product | Quotient | Call) and len(names(one)) == 1 and names(one) <= missing:
                if any(isinstance(part, Norm) for part in walk(one)):
                    return False  # its length alone does not tell it
                return not names(one) & names(other)
        return False

    def _variants(self) -> None:
        """Definitions for a case, bounds for a case, examples."""
        answer, conditions = self.answer, tuple(self.answer.conditions)
        for full, said, case in self._cases:
            variant = Variant({**answer.definitions, full: said}, conditions, case, said, full in answer.definitions)
            answer.variants.append(variant)
        first = {full: said for full, said, _ in reversed(self._cases)}
        answer.by_cases = bool(first.keys() - answer.definitions.keys())
        covered = not first
        answer.definitions = {**first, **answer.definitions}
        for said, case in self._bounds:
            if len(case) != 1 or not flips(case[0]) or len(self._bounds) > 1 or not covered:
                self._set_aside_said(said, "a bound for a case only", decides=True)
                continue
            with_it = (*conditions, said)
            answer.variants.append(Variant(dict(answer.definitions), with_it, case, said))
            answer.variants.append(Variant(dict(answer.definitions), conditions, (flipped(case[0]),), said))
            answer.by_cases = True
        for full, said in self._examples:
            if full in self.exercise.answer and full not in answer.definitions:
                answer.definitions[full] = said
            else:
                fixed = tuple(one for one in conditions if not (_tends(one.node) and _mentions(one.node, full)))
                answer.variants.append(Variant({**answer.definitions, full: said}, fixed, (), said, example=True))
        for full, said in self._ranges:
            self._range(full, said)
        for said in [one for one in answer.claims if self._is_range(one)]:
            answer.claims.remove(said)
            self._set_aside_said(said, "it gives a range, and only one value of it was judged")

    def _range(self, full: str, said: Said) -> None:
        """'any lambda >= 1 will do', beside what else is said of lambda: then all of these are meant to do."""
        answer, own = self.answer, Name(full + OWN)
        links = (
            [replace(said, node=link) for link in comparisons(said.node)] if isinstance(said.node, Relation) else [said]
        )
        bounds = tuple(replace(one, node=_renamed(one.node, {full: own})) for one in links)
        others = tuple(one for one in answer.conditions if not _mentions(one.node, full))
        if full in self.exercise.answer:
            definitions = {**answer.definitions, full: replace(said, node=own)}
            answer.variants.append(Variant(definitions, (*others, *bounds), (), said, example=True))
        elif full in answer.definitions or len(others) < len(answer.conditions):
            definitions = {name: one for name, one in answer.definitions.items() if name != full}
            answer.variants.append(Variant(definitions, (*others, *links), (), said, example=True))
        else:
            answer.conditions += links

    def _ranged(self, one: Statement) -> str:
        """The name whose bound is said to be enough: 'any $tau <= 1$ works', 'it suffices that $tau <= 1$'; or ''."""
        node = one.node
        if not isinstance(node, Relation) or not set(node.comparisons) <= {"<", "<=", ">", ">="} or one.under:
            return ""
        names = [full_name(term) for term in node.terms if isinstance(term, Name)]
        names = [full for full in names if full in self.exercise.answer or not self.gives(named(full))]
        before, found, after = one.sentence.partition(f"${one.text}$")
        words = one.role == "example" or (found and (_ANY.search(before) or _ENOUGH.match(after)))
        example = found and _EXAMPLE.match(after) is not None
        return names[0] if len(names) == 1 and (words or example) else ""

    def _is_range(self, said: Said) -> bool:
        """'temperatures with $tau <= 1$ are fine': perhaps said of more than the one that is defined."""
        node = said.node.body if isinstance(said.node, Quantified) else said.node
        if not isinstance(node, Relation) or not set(node.comparisons) <= {"<", "<=", ">", ">="}:
            return False
        asked = {full_name(term) for term in node.terms if isinstance(term, Name)} & set(self.exercise.answer)
        sentence = "" if said.statement is None else re.sub(r"\$[^$]*\$", "", said.statement.sentence)
        return bool(asked) and _RANGES.search(sentence) is not None


_EVERY = re.compile(r"\bfor (?:all|any|every|each|arbitrary)\b|\\forall")
_ANY = re.compile(r"\b(?:any|every|all|each|whenever|as soon as|once)(?: \w+)?\s*$")


_ENOUGH = re.compile(
    r",? (?:also |already |certainly |then |too )*"
    r"(?:works?|will do|would do|suffices?|does|do|is (?:enough|fine|sufficient|good))\b"
)


_RANGES = re.compile(
    r"\b(?:any|every|each|anything|works?|will do|would do|suffices?|fine|enough|sufficient|all(?! (?:the )?weights))\b"
)


_EXAMPLE = re.compile(r",? (?:for example|for instance|e\.g\.|say)")


COUNTS = ("i", "j", "k", "l", "m", "N", "M", "K", "p")  # integers, as a rule: 'let epsilon = 1/m' leaves some out


def _is_parameter(node: Node, exercise: Exercise) -> bool:
    return isinstance(node, Name) and full_name(node) in exercise.parameters


def _solved(node: Node, own: str, value: Node) -> Node | None:
    """What a name is, that occurs once in a node of that value: delta = epsilon/2 where 2 delta is epsilon."""
    match node:
        case Name() if full_name(node) == own:
            return value
        case Product(factors):
            (at,) = (place for place, one in enumerate(factors) if _mentions(one, own))
            rest = factors[:at] + factors[at + 1 :]
            return _solved(factors[at], own, Quotient(value, Product(rest) if len(rest) > 1 else rest[0]))
        case Quotient(over, under):
            if _mentions(over, own):
                return _solved(over, own, Product((value, under)))
            return _solved(under, own, Quotient(over, value))
        case Negative(body):
            return _solved(body, own, Negative(value))
        case Call("exp", (power,)):
            return _solved(power, own, Call("ln", (value,)))
        case _:
            return None


def _follows(said: Said) -> bool:
    return said.statement is not None and said.statement.follows


def _governs(assumed: Said, said: Said) -> bool:
    """'Let n = 2' is said of what follows, and of its own sentence; 'where n = 2' of what came before."""
    one, other = assumed.statement, said.statement
    if one is None or other is None or one.role == "where":
        return True
    return other.number > one.number or (one.sentence == other.sentence and one.line == other.line)


def _holds(listing: Node, link: Relation) -> bool:
    return isinstance(listing, Listing) and any(item in link.terms for item in listing.items)


def _used(node: Node, used: set[str], gives: Callable[[Name], bool]) -> bool:
    """Whether it matters that a name of the answer's own is large or small: only if the name occurs elsewhere."""
    if not _tends(node):
        return True
    own = [full_name(part) for part in walk(node) if isinstance(part, Name) and not gives(part)]
    return any(name in used for name in own)


def _without_domains(node: Node) -> Node:
    """k is an integer here anyway: 't - t' = 2 pi k, k in Z' says no more than the first half."""
    match node:
        case Logic(word, items):
            kept = [_without_domains(item) for item in items]
            if word == "and":
                kept = [item for item in kept if not (isinstance(item, Bond) and item.right == Domain("Z"))] or kept[:1]
                return kept[0] if len(kept) == 1 else Logic(word, tuple(kept), span=node.span)
            return Logic(word, tuple(kept), span=node.span)
        case _:
            return node


def _small(link: Relation) -> Relation:
    """tau << 1, said of a name of the answer's own, is tau -> 0."""
    match link:
        case Relation((Name() as name, Number(value)), ("<<",)) | Relation((Number(value), Name() as name), (">>",)):
            if 0 < value <= 1:
                return Relation((name, Number(Fraction(0), span=link.span)), ("->",), span=link.span)
    return link


def _divides(name: str, node: Node) -> bool:
    """Whether something is divided by a name: k/tau, tau^{-1} k."""
    for part in walk(node):
        match part:
            case Quotient(_, below) | Power(below, Negative()):
                if any(isinstance(one, Name) and full_name(one) == name for one in walk(below)):
                    return True
    return False


def _tends(node: Node) -> bool:
    """'lambda large', said of a name that has a value: nothing to judge."""
    return isinstance(node, Relation) and node.comparisons == ("->",)


def _speaks_of(node: Node, base: str) -> bool:
    return any(isinstance(part, Name) and part.base == base for part in walk(node))


def _written_out(node: Node, patterns: dict[str, tuple[str, Node]]) -> Node:
    if isinstance(node, Name) and node.index is not None and node.base in patterns and not node.primes:
        letter, value = patterns[node.base]
        bound = {part.index for part in walk(value) if isinstance(part, BigSum)}
        if any(isinstance(part, Name) and part.base in bound for part in walk(node.index)):
            raise MisfitError(f"the index of {plain(node)} means two things", node)
        return with_index(value, letter, node.index)
    return mapped(node, lambda part: _written_out(part, patterns))


def _names(node: Node) -> tuple[Name, ...]:
    """The names on the left of a definition: q, or 'q_1, q_2'."""
    items = node.items if isinstance(node, Listing) else (node,)
    return tuple(item for item in items if isinstance(item, Name)) if all(isinstance(i, Name) for i in items) else ()


def _mentions(node: Node, full: str) -> bool:
    return any(isinstance(part, Name) and full_name(part) == full for part in walk(node))
