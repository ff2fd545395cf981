"""Statements sorted into an answer: definitions, bounds on own names, cases and examples, claims.

Names are brought to those of the exercise first (`naming`); then every statement is taken for what it is
(`_Sorter.take`); what is given for a case or as an example is settled at the end (`variants`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from headwright.check.answer import (
    Answer,
    MisfitError,
    Said,
    Unread,
    about_parameters,
    comparisons,
    full_name,
    full_names,
    named,
)  # fmt: skip
from headwright.check.exercise import Exercise, parsed
from headwright.check.naming import Names, in_given_names, names_on_the_left
from headwright.check.reading.discourse import Read, Statement, is_index
from headwright.check.reading.saying import EVERY_VALUE
from headwright.check.reading.written import MOST_FORMULAS, Formula
from headwright.check.variants import Choices, ranged, settled
from headwright.check.widening import widened
from headwright.formula import FormulaError, parse_lines
from headwright.formula import tree as t

_FIRST_NAME = re.compile(r"\s*\\?([A-Za-z]+)\s*(?![\s_^'({[A-Za-z])")
_FOR_ALL = re.compile(r"\bfor (?:all|any|every|each|arbitrary)\b|\\forall")
WITNESSES = ("k", "m")  # names of integers that may be claimed to exist
COUNTS = ("i", "j", "k", "l", "m", "N", "M", "K", "p")  # integers, as a rule: 'let epsilon = 1/m' leaves some out
SOME_KEYS = "it leaves out some of the keys"


def of_formulas(formulas: Sequence[Formula], names: Sequence[str]) -> Read:
    """Bare formulas as statements: each is a claim, or defines something."""
    if len(formulas) > MOST_FORMULAS:
        raise MisfitError(f"there are {len(formulas)} formulas, expected at most {MOST_FORMULAS}", t.Name("q"))
    found: list[Statement] = []
    for formula in formulas:
        try:
            nodes = parse_lines(formula.text, names=tuple(names))
        except FormulaError as error:
            found.append(Statement("claim", formula.text, formula.line, problem=error))
            continue
        found += [Statement("claim", formula.text, formula.line, node) for node in nodes]
    return Read(tuple(replace(one, number=number) for number, one in enumerate(found)))


def read_answer(exercise: Exercise, read: Read, gives: Callable[[t.Name], bool]) -> Answer:
    """Sort the statements that were read; `gives` tells which names the exercise gives.

    A name that the exercise does not give is defined by 'name = ...', and bounded by 'name >> ...' or 'name > ...'.
    """
    sorter = _Sorter(exercise, gives)
    for statement in in_given_names(read, exercise, gives):
        sorter.take(statement)
    answer = sorter.finished()
    answer.terse = read.terse and not answer.unread
    return answer


class _Sorter:
    """Sorts statements, one after the other, into what they are for the answer."""

    def __init__(self, exercise: Exercise, gives: Callable[[t.Name], bool]) -> None:
        self.exercise, self.answer, self.choices = exercise, Answer(), Choices()
        self.names = Names(exercise, gives, self.answer)
        self._last: Said | None = None
        self._witnesses: dict[str, t.Node] = {}
        self._hypothesis: tuple[t.Node, ...] = ()  # what was assumed last: 'if Phi_t = Phi_t' then ... . So t = t'.'
        self._order: tuple[t.Node, ...] = ()  # 'let t < t'': of two integers one is the smaller

    def finished(self) -> Answer:
        """The answer, once everything was said."""
        settled(self.names, self.choices)
        answer = self.answer
        for said in answer.assumptions:
            answer.claims = [self._under(one, (said.node,)) if _governs(said, one) else one for one in answer.claims]
        return answer

    def take(self, one: Statement) -> None:
        """Take a statement for what it is."""
        if one.role in ("goal", "condition"):
            if not (self.exercise.condition and one.node is not None and t.speaks_of(one.node, "q")):
                if one.role == "condition" and self._reaches_beyond(one):
                    self._cannot_judge(replace(one, why="it is said for more than is given"))
                return
            if one.role == "goal":  # where one is asked for, 'we need $k_j^T q > ...$' is the answer
                one = replace(one, why="")
        if one.why or one.node is None:
            self._cannot_judge(one)
            return
        said = Said(one.node, Formula(one.text, one.line), one.perhaps, one.unknown, statement=one)
        bounded = ranged(one, self.names)
        if bounded and (self.answer.definitions or one.role == "example" or bounded in self.exercise.answer):
            self.choices.ranges.append((bounded, said))
        elif one.role == "assumption":
            if self.names.bounds_own(one.node):
                self.answer.conditions.append(said)
            elif about_parameters(one.node, self.exercise):
                self.answer.assumptions.append(said)
        elif one.role == "example":
            self._example(said, self.names.case(one.under))
        else:
            self._sort(said, one.under, one.role)

    def _reaches_beyond(self, one: Statement) -> bool:
        """'this works for all epsilon > 0', where epsilon < 1 is given."""
        links = list(comparisons(one.node)) if isinstance(one.node, t.Relation) else []
        every = _FOR_ALL.search(one.sentence) is not None
        return every and self.exercise.integers is None and widened(self.exercise, links, "") is not None

    def _cannot_judge(self, one: Statement) -> None:
        """A formula that cannot be read may say how a name of the answer's own is chosen, if it begins with one."""
        found = _FIRST_NAME.match(one.text) if one.problem is not None else None
        first = t.Name(found[1]) if found else t.Name("e")
        own = found is not None and self.names.is_own(first) and full_name(first) not in self.exercise.answer
        decides = one.role in ("definition", "where", "assumption") or own
        self.answer.unread.append(Unread(one, one.why or "it cannot be read", one.problem, decides))

    def _example(self, said: Said, case: tuple[t.Node, ...]) -> None:
        if said.unknown:
            self.answer.set_aside(said, said.doubt, decides=True)
            return
        match said.node:
            case t.Relation((t.Name() as name, value), ("=",)):
                full, one = full_name(name), replace(said, node=value)
                asked = full in self.exercise.answer
                if case and asked:
                    self.choices.cases.append((full, one, case))  # 'for n = 2 take e.g. q = 0'
                    return
                if asked or not self.names.gives(name):
                    self.choices.examples.append((full, one))
                    return
        self.answer.set_aside(said, "an example that defines nothing")

    def _sort(self, said: Said, under: tuple[t.Node, ...], role: str) -> None:
        if any(said.node == parsed(source) for source in self.exercise.may_repeat):
            return  # it is given: repeating it neither helps nor harms
        match said.node:
            case t.Relation((t.Name() as asked, _), ("->",)) if full_name(asked) in self._missing():
                why = f"it tells no value of {full_name(asked)}, write {full_name(asked)} = ..."
                self.answer.set_aside(said, why, decides=True)
            case t.Quantified(
                body, (t.Relation((t.Name(letter, None, 0), t.Number(value)), ("=" | "!=" as sign,)),)
            ) if (
                self.exercise.tokens is not None and letter not in self.exercise.parameters
            ):  # 'for j != 3': there are so many tokens
                for place in range(1, len(self.exercise.tokens.tokens) + 1):
                    if (place == value) == (sign == "="):
                        self._sort(replace(said, node=t.put(body, letter, t.Number(Fraction(place)))), under, role)
            case t.Quantified(body, conditions) if self.names.defines(body) or isinstance(body, t.Logic):
                self._sort(replace(said, node=body), (*under, *conditions), role)
            case t.Logic("and", items):
                for item in items:
                    self._sort(replace(said, node=item), under, role)
            case t.Logic("implies", (condition, conclusion)) if self.names.opens(condition):
                self._sort(replace(said, node=condition), under, role)  # q = ..., hence ...
                self._sort(replace(said, node=conclusion), under, role)
            case t.Bond("in", _, t.Domain("R") | t.Power(t.Domain("R"), _)):
                pass  # lambda is a real number: what else?
            case t.Relation() as equation if self.names.defines(equation):
                self._define(said, equation, under)
            case t.Relation() as equation if not under and not _follows(said) and (own := self._tied(equation)):
                self._rename(said, equation, own)
            case t.Relation() as chain if role != "reason" and any(chosen := self.names.chosen(chain)):
                # Of 'n <= 2 <= lambda' only the second half is about lambda: the first must not restrict the exercise.
                for link, mine in zip(comparisons(chain), chosen, strict=True):
                    if mine:
                        self._bound(said, link, under)
                    else:
                        self._claim(replace(said, node=link), under, role)
            case _:
                self._claim(said, under, role)

    def _missing(self) -> Sequence[str]:
        return self.exercise.missing(self.answer.definitions)

    # Definitions, and bounds on names of the answer's own.

    def _define(self, said: Said, node: t.Relation, under: tuple[t.Node, ...]) -> None:
        terms, names = node.terms, names_on_the_left(node)
        wanted = any(full_name(name) in self.exercise.answer for name in names)
        if wanted:
            self._refuse_the_output(terms[1])
        case = self.names.case(under)
        why = self._why_not_defined(said, under, case, wanted)
        if why:
            self.answer.set_aside(said, why, decides=True)
            return
        under = (*under, *(part for part in said.perhaps if self.names.about_own(part)))
        said = replace(said, perhaps=self.names.case(said.perhaps))
        values = terms[1].items if len(names) > 1 and isinstance(terms[1], t.Listing) else (terms[1],)
        for full, value in zip(map(full_name, names), values, strict=True):
            one = replace(said, node=value)
            if case:
                self.choices.cases.append((full, one, case))
            elif full in self.exercise.redefines and (self.answer.claims or self.answer.elsewhere):
                self.answer.elsewhere.append(({full: one}, []))
            else:
                self.answer.definitions[full] = one
        self._sort_own(replace(said, perhaps=(), unknown=""), under)
        if len(terms) > 2:  # q = a = b: q is a, and that a = b is a claim
            rest = t.Relation(terms[1:], node.comparisons[1:], span=node.span)
            self._sort(replace(said, node=rest), under, "claim")
        self._last = None

    def _why_not_defined(self, said: Said, under: tuple[t.Node, ...], case: tuple[t.Node, ...], wanted: bool) -> str:
        """Why what looks like a definition is none; '' where it is one."""
        if self.names.every_value(under):
            return EVERY_VALUE
        if said.unknown and (wanted or any(map(self.names.supposes, case))):
            return said.doubt
        if any(map(self.names.supposes, case)):
            return "it is only supposed"
        return "a name is defined for a case only" if case and not wanted else ""

    def _refuse_the_output(self, value: t.Node) -> None:
        """q = c (k_a + k_b), and c is the output here: then it is said what c is."""
        keys = self.exercise.keys
        if keys is None or "c" in self.exercise.parameters or any(s.name == "c" for s in keys.scales.values()):
            return
        indices = {id(name.index) for name in t.every_name(value)}
        sums = [part for part in t.walk(value) if isinstance(part, t.BigSum)]
        indices |= {id(part) for one in sums for condition in one.conditions for part in t.walk(condition)}
        for name in t.every_name(value):
            if name == t.Name("c") and id(name) not in indices:  # k_c is a key
                fix = "call the number otherwise, or introduce it: 'with a large constant c'"
                raise MisfitError("c is the output in this exercise, the mean of the values", name, fix=fix)

    def _sort_own(self, said: Said, under: tuple[t.Node, ...]) -> None:
        """Of what something is said for, that which is about names of the answer's own: it says how they are chosen."""
        for part in under:
            if self.names.about_own(part):
                self._sort(replace(said, node=part), (), "where")

    def _bound(self, said: Said, link: t.Relation, under: tuple[t.Node, ...]) -> None:
        case = self.names.case(under)
        self._sort_own(said, under)
        said = replace(said, node=_small(link))
        if said.unknown:
            self.answer.set_aside(said, said.doubt, decides=True)
        elif case:
            self.choices.bounds.append((said, case))
        else:
            self.answer.conditions.append(said)

    def _tied(self, node: t.Relation) -> str:
        """The one name of the answer's own in an equation for a given number: 'let epsilon = 2 delta'."""
        if node.comparisons != ("=",) or not any(_is_parameter(term, self.exercise) for term in node.terms):
            return ""
        names = [name for name in t.every_name(node) if name.base not in ("e", "pi")]
        own = [full_name(name) for name in names if not self.names.gives(name) and name.index is None]
        given = all(full_name(name) in (*own, *self.exercise.parameters) for name in names)
        new = len(own) == 1 and own[0] not in self.answer.definitions and own[0] not in self.exercise.answer
        return own[0] if new and given else ""

    def _rename(self, said: Said, node: t.Relation, own: str) -> None:
        """delta = epsilon/2 is what 'let epsilon = 2 delta' says, if delta may be any number."""
        left, right = node.terms if own in full_names(node.terms[1]) else reversed(node.terms)
        whole = isinstance(left, t.Name) and self.exercise.parameters[full_name(left)].integer
        value = None if own in COUNTS or whole else _solved(right, own, left)  # 'let n = 2r' is about even ones
        if value is None:
            why = "it ties a name to what is given in a way that is not understood"
            self.answer.set_aside(said, why, decides=True)
        else:
            self.answer.definitions[own] = replace(said, node=value)

    # Claims.

    def _claim(self, said: Said, under: tuple[t.Node, ...], role: str) -> None:
        if role == "definition" and self._restricts(said):
            return
        if role == "where":
            if self._picks_keys(said.node):
                self.answer.set_aside(said, SOME_KEYS, decides=True)
                return
            if not under:
                if self._qualifies(said):
                    return
                said = replace(said, granted=True)
        exact = isinstance(said.node, t.Relation) and set(said.node.comparisons) == {"="}
        if any(map(self.names.supposes, under)):
            self.answer.set_aside(said, "it is said of an object that is only supposed")
        elif self.names.every_value(under) and not exact:
            self.answer.set_aside(said, EVERY_VALUE)
        elif self.exercise.condition and said.unknown:  # '... for half of the $i$': which condition it is, is not known
            self.answer.set_aside(said, said.doubt, decides=True)
        elif self.exercise.condition and self._leaves_out_keys(said.node, under):
            self.answer.set_aside(said, SOME_KEYS, decides=True)
        else:
            self._judge(said, self._without_conditions(said, under) if self.exercise.condition else under)

    def _judge(self, said: Said, under: tuple[t.Node, ...]) -> None:
        """A claim, with what it is said for."""
        if not under and not said.unknown and self._lacks_its_assumption(said):
            under, said = said.perhaps or self._hypothesis, replace(said, perhaps=())
            if not under:
                self.answer.set_aside(said, "under which assumption it is said was not understood")
                return
        self._hypothesis = under or self._hypothesis
        said = self._under(said, (*self._order, *self._with_witnesses(said.node, under)))
        (self.answer.elsewhere[-1][1] if self.answer.elsewhere else self.answer.claims).append(said)
        self._last = said

    def _restricts(self, said: Said) -> bool:
        """'Let n = 2', 'let t = 0', 'let t < t'': a choice among what is given, and no claim about all of it."""
        if about_parameters(said.node, self.exercise):
            self.answer.assumptions.append(said)
            return True
        pairs = () if self.exercise.integers is None else self.exercise.integers.different
        if not isinstance(said.node, t.Relation) or full_names(said.node).isdisjoint(
            name for two in pairs for name in two
        ):
            return False
        if _orders(said.node, pairs):
            self._order = (said.node,)
        else:
            self.answer.set_aside(said, "it is said of some of the integers only", decides=True)
        return True

    def _qualifies(self, said: Said) -> bool:
        """'..., where i != a', '..., where n > 2': for what the claim before it is meant, or the whole answer."""
        last = self._last if self._last is not None and self._last in self.answer.claims else None
        place = 0 if last is None else self.answer.claims.index(last)
        if is_index(said.node) and last is not None:
            self.answer.claims[place], self._last = self._under(last, (said.node,)), None
            return True
        if about_parameters(said.node, self.exercise) and last is None:
            self.answer.assumptions.append(said)
            return True
        if last is not None:
            self.answer.claims[place] = replace(last, perhaps=(*last.perhaps, said.node))
        return False

    def _picks_keys(self, node: t.Node) -> bool:
        """'k_j^T q > ... for all i != j with k_i^T q > 0': for which keys a condition on scores is meant."""
        last = self._last.node if self._last is not None else None
        if not self.exercise.condition or not isinstance(last, t.Quantified) or isinstance(node, t.Quantified):
            return False
        ranging = {name.base for name in t.every_name(*last.conditions)}
        return t.speaks_of(node, "q") and bool(self._letters(node) & ranging)

    def _leaves_out_keys(self, node: t.Node, under: tuple[t.Node, ...]) -> bool:
        """A condition on the scores of some keys is said for those keys only; one for all i leaves out none."""
        some = [part for part in under if t.speaks_of(part, "q") and not isinstance(part, t.Quantified)]
        return t.speaks_of(node, "q") and any(self._letters(part) & self._letters(node) for part in some)

    def _without_conditions(self, said: Said, under: tuple[t.Node, ...]) -> tuple[t.Node, ...]:
        """Where a condition is asked for, one that something is said under is stated."""
        conditions = [part for part in under if t.speaks_of(part, "q")]
        firm = None if said.statement is None else replace(said.statement, follows=False)
        for part in conditions:
            if not any(other.node == part for other in self.answer.claims):
                self.answer.claims.append(Said(part, said.formula, statement=firm))
        return tuple(part for part in under if part not in conditions)

    def _letters(self, node: t.Node) -> set[str]:
        """The letters that stand for keys without a name."""
        found = {name.index.base for name in t.every_name(node) if isinstance(name.index, t.Name)}
        return found - set(() if self.exercise.keys is None else self.exercise.keys.named)

    def _lacks_its_assumption(self, said: Said) -> bool:
        """'this gives t - t' = 2 pi k', 'hence t = t'': of different integers it is meant under something not heard."""
        given, node = self.exercise.integers, said.node
        body = node.body if isinstance(node, t.Exists) else node
        if given is None or said.statement is None:
            return False
        if not isinstance(body, t.Relation) or set(body.comparisons) != {"="}:
            return False
        if any(isinstance(part, t.Call) for part in t.walk(body)) or t.speaks_of(body, given.rows):
            return False
        names = full_names(body)
        words = re.sub(r"\$[^$]*\$", "", said.statement.sentence)
        open_ended = names & set(WITNESSES) or any({one, other} <= names for one, other in given.different)
        return bool(open_ended) and re.search(r"[a-z]{2}", words) is not None

    def _with_witnesses(self, node: t.Node, under: tuple[t.Node, ...]) -> tuple[t.Node, ...]:
        """'so t - t' = 2 pi k ... hence k = 0': the k that was said to exist."""
        letters = sorted({name.base for name in t.every_name(node)} & set(WITNESSES))
        told = any(t.speaks_of(part, *letters) for part in under)
        if self.exercise.integers is None or not under or told:
            return under
        more = tuple(self._witnesses[letter] for letter in letters if letter in self._witnesses)
        for letter in letters:
            self._witnesses.setdefault(letter, node)
        return (*under, *more)

    def _under(self, said: Said, under: tuple[t.Node, ...]) -> Said:
        """The statement with what it is said for."""
        if not under:
            return said
        if self.exercise.integers is not None:  # an integer that only the conclusion names is claimed to exist
            given = under[0] if len(under) == 1 else t.Logic("and", under)
            names = [part for part in under if isinstance(part, t.Name | t.Listing)]
            return said if names else replace(said, node=t.Logic("implies", (given, said.node), span=said.node.span))
        return replace(said, node=t.said_under(said.node, under))


def _orders(node: t.Relation, pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether it only says which of two different integers is the smaller: that loses nothing."""
    two = [{named(one), named(other)} for one, other in pairs]
    return set(node.comparisons) <= {"<", ">", "!="} and len(node.terms) == 2 and set(node.terms) in two


def _is_parameter(node: t.Node, exercise: Exercise) -> bool:
    return isinstance(node, t.Name) and full_name(node) in exercise.parameters


def _solved(node: t.Node, own: str, value: t.Node) -> t.Node | None:
    """What a name is, that occurs once in a node of that value: delta = epsilon/2 where 2 delta is epsilon."""
    match node:
        case t.Name() if full_name(node) == own:
            return value
        case t.Product(factors):
            (at,) = (place for place, one in enumerate(factors) if own in full_names(one))
            rest = factors[:at] + factors[at + 1 :]
            return _solved(factors[at], own, t.Quotient(value, t.Product(rest) if len(rest) > 1 else rest[0]))
        case t.Quotient(over, under):
            if own in full_names(over):
                return _solved(over, own, t.Product((value, under)))
            return _solved(under, own, t.Quotient(over, value))
        case t.Negative(body):
            return _solved(body, own, t.Negative(value))
        case t.Call("exp", (power,)):
            return _solved(power, own, t.Call("ln", (value,)))
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


def _small(link: t.Relation) -> t.Relation:
    """tau << 1, said of a name of the answer's own, is tau -> 0."""
    match link:
        case t.Relation((name, t.Number(value)), ("<<",)) | t.Relation((t.Number(value), name), (">>",)):
            if isinstance(name, t.Name) and 0 < value <= 1:
                return t.Relation((name, replace(t.ZERO, span=link.span)), ("->",), span=link.span)
    return link
