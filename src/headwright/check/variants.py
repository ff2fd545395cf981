"""What an answer gives for a case, as an example, or as a range: each is one variant more of what is asked for.

'For $n = 2$ take $q = 0$', 'e.g. $\\lambda = 5$', 'any $\\tau \\le 1$ works': they are kept while statements are sorted
(`Choices`), and looked at once everything was said (`settled`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from headwright.check.answer import OWN, Answer, Said, Variant, comparisons, full_name, full_names, named
from headwright.check.naming import Names, renamed, tends
from headwright.check.reading.discourse import Statement
from headwright.formula import tree as t
from headwright.formula.show import plain

_ANY = re.compile(r"\b(?:any|every|all|each|whenever|as soon as|once)(?: \w+)?\s*$")
_ENOUGH = re.compile(
    r",? (?:also |already |certainly |then |too )*"
    r"(?:works?|will do|would do|suffices?|does|do|is (?:enough|fine|sufficient|good))\b"
)
_EXAMPLE = re.compile(r",? (?:for example|for instance|e\.g\.|say)")
_RANGES = re.compile(
    r"\b(?:any|every|each|anything|works?|will do|would do|suffices?|fine|enough|sufficient|all(?! (?:the )?weights))\b"
)
BOUNDS = {"<", "<=", ">", ">="}


@dataclass(frozen=True)
class Choices:
    """What is chosen besides the rule: names with what they are, or bounds, and for which case."""

    cases: list[tuple[str, Said, tuple[t.Node, ...]]] = field(default_factory=list)
    examples: list[tuple[str, Said]] = field(default_factory=list)
    ranges: list[tuple[str, Said]] = field(default_factory=list)  # bounds that are said to be enough
    bounds: list[tuple[Said, tuple[t.Node, ...]]] = field(default_factory=list)  # on own names, with their case


def ranged(one: Statement, names: Names) -> str:
    """The name whose bound is said to be enough: 'any $tau <= 1$ works', 'it suffices that $tau <= 1$'; or ''."""
    node = one.node
    if not isinstance(node, t.Relation) or not set(node.comparisons) <= BOUNDS or one.under:
        return ""
    bounded = [full_name(term) for term in node.terms if isinstance(term, t.Name)]
    chosen = [full for full in bounded if full in names.exercise.answer or not names.gives(named(full))]
    before, found, after = one.sentence.partition(f"${one.text}$")
    said = found and (_ANY.search(before) or _ENOUGH.match(after) or _EXAMPLE.match(after))
    return chosen[0] if len(chosen) == 1 and (one.role == "example" or said) else ""


def settled(names: Names, choices: Choices) -> None:
    """An answer once everything was said: its conditions are those that matter, and it has all its variants."""
    answer = names.answer
    early = [said for said in answer.conditions if not names.bounds_own(said.node)]
    # What was said of a name before its definition came is a claim about what was defined.
    answer.conditions = [said for said in answer.conditions if said not in early]
    answer.claims += [said for said in early if not tends(said.node)]
    missing = names.exercise.missing(answer.definitions)
    chosen = {full for full, *_ in (*choices.cases, *choices.examples)}
    for said in [one for one in answer.claims if _says_indirectly(one.node, set(missing) - chosen)]:
        answer.claims.remove(said)
        wanted = ", ".join(missing)
        answer.set_aside(said, f"it tells {wanted} indirectly, write {wanted} = ...", decides=True)
    _make_small(names)
    used = full_names(*(one.node for one in (*answer.definitions.values(), *answer.claims)))
    answer.conditions = [said for said in answer.conditions if _matters(said.node, used, names)]
    _add_cases(answer, choices)
    for full, said in choices.examples:
        _add_example(names, full, said)
    for full, said in choices.ranges:
        _add_range(names, full, said)
    for said in [one for one in answer.claims if _is_range(one, names)]:
        answer.claims.remove(said)
        answer.set_aside(said, "it gives a range, and only one value of it was judged")


def _says_indirectly(node: t.Node, missing: set[str]) -> bool:
    """1/tau = ln(n/epsilon): what is asked for, and defined nowhere, stands within one side of an equation."""
    body = t.unquantified(node)
    if not missing or not isinstance(body, t.Relation) or body.comparisons[0] != "=":
        return False
    left, right = body.terms[:2]
    for one, other in ((left, right), (right, left)):
        mine = full_names(one) - {"e", "pi"}
        if isinstance(one, t.Power | t.Product | t.Quotient | t.Call) and len(mine) == 1 and mine <= missing:
            length = any(isinstance(part, t.Norm) for part in t.walk(one))  # that alone does not tell it
            return not length and not mine & full_names(other)
    return False


def _make_small(names: Names) -> None:
    """'q = k/tau, and alpha -> 1 as tau -> 0' says for which tau it is meant, if nothing else does."""
    answer = names.answer
    spoken = full_names(*(said.node for said in answer.conditions))
    found: dict[str, list[tuple[t.Relation, Said]]] = {}
    for said in answer.claims:
        for part in said.node.conditions if isinstance(said.node, t.Quantified) else ():
            if isinstance(part, t.Relation) and tends(part) and names.bounds_own(part):
                found.setdefault(plain(part.terms[0]), []).append((part, said))
    for name, ways in found.items():
        ends = {part.terms[1] for part, _ in ways}
        if name in spoken or t.ZERO not in ends or not any(_divides(name, one) for one in answer.definitions.values()):
            continue  # 'q = t k, and alpha -> 1/n as t -> 0' tells what happens there, and not which t is meant
        part, said = ways[0]
        if len(ends) == 1:
            answer.conditions.append(replace(said, node=part, perhaps=(), unknown=""))
        else:
            answer.set_aside(said, f"it is not certain whether {name} is meant to be small", decides=True)


def _divides(name: str, said: Said) -> bool:
    """Whether something is divided by a name: k/tau, tau^{-1} k."""
    for part in t.walk(said.node):
        match part:
            case t.Quotient(_, below) | t.Power(below, t.Negative()) if name in full_names(below):
                return True
    return False


def _matters(node: t.Node, used: set[str], names: Names) -> bool:
    """Whether it matters that a name of the answer's own is large or small: only if the name occurs elsewhere."""
    return not tends(node) or any(full_name(one) in used and not names.gives(one) for one in t.every_name(node))


def _add_cases(answer: Answer, choices: Choices) -> None:
    """Definitions for a case, and bounds for a case."""
    conditions = tuple(answer.conditions)
    for full, said, case in choices.cases:
        variant = Variant({**answer.definitions, full: said}, conditions, case, said, full in answer.definitions)
        answer.variants.append(variant)
    first = {full: said for full, said, _ in reversed(choices.cases)}
    answer.by_cases = bool(first.keys() - answer.definitions.keys())
    answer.definitions = {**first, **answer.definitions}
    for said, case in choices.bounds:
        if len(case) != 1 or not t.flips(case[0]) or len(choices.bounds) > 1 or first:
            answer.set_aside(said, "a bound for a case only", decides=True)
            continue
        answer.variants.append(Variant(dict(answer.definitions), (*conditions, said), case, said))
        answer.variants.append(Variant(dict(answer.definitions), conditions, (t.flipped(case[0]),), said))
        answer.by_cases = True


def _add_example(names: Names, full: str, said: Said) -> None:
    """What is asked for, if nothing else is said of it; one choice more otherwise."""
    answer = names.answer
    if full in names.exercise.answer and full not in answer.definitions:
        answer.definitions[full] = said
    else:
        fixed = tuple(o for o in answer.conditions if not (tends(o.node) and full in full_names(o.node)))
        answer.variants.append(Variant({**answer.definitions, full: said}, fixed, (), said, example=True))


def _add_range(names: Names, full: str, said: Said) -> None:
    """'any lambda >= 1 will do', beside what else is said of lambda: then all of these are meant to do."""
    answer, own = names.answer, t.Name(full + OWN)
    nodes = list(comparisons(said.node)) if isinstance(said.node, t.Relation) else [said.node]
    links = [replace(said, node=node) for node in nodes]
    others = tuple(one for one in answer.conditions if full not in full_names(one.node))
    if full in names.exercise.answer:
        bounds = [replace(one, node=renamed(one.node, {full: own})) for one in links]
        definitions = {**answer.definitions, full: replace(said, node=own)}
        answer.variants.append(Variant(definitions, (*others, *bounds), (), said, example=True))
    elif full in answer.definitions or len(others) < len(answer.conditions):
        definitions = {name: one for name, one in answer.definitions.items() if name != full}
        answer.variants.append(Variant(definitions, (*others, *links), (), said, example=True))
    else:
        answer.conditions += links


def _is_range(said: Said, names: Names) -> bool:
    """'temperatures with $tau <= 1$ are fine': perhaps said of more than the one that is defined."""
    node = t.unquantified(said.node)
    if not isinstance(node, t.Relation) or not set(node.comparisons) <= BOUNDS:
        return False
    asked = any(isinstance(term, t.Name) and full_name(term) in names.exercise.answer for term in node.terms)
    sentence = "" if said.statement is None else re.sub(r"\$[^$]*\$", "", said.statement.sentence)
    return asked and _RANGES.search(sentence) is not None
