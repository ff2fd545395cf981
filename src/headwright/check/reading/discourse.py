"""What an answer has said so far: statements with their roles, and the assumptions that are still open.

An assumption holds for its sentence ('if $g > 1$ then ...'), for its paragraph ('Case $c = 1/2$: ...') or until the
argument is closed ('Suppose ...'). Where it is not certain whether it is still meant, a statement carries it as
`perhaps`: then only what is so on both readings is said. What is not understood is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from headwright.check.reading.references import with_heads
from headwright.check.reading.sentences import Loose, Sentence
from headwright.check.reading.things import Objects
from headwright.check.reading.written import tidy
from headwright.formula import FormulaError, parse_each
from headwright.formula import tree as t
from headwright.formula.parse import Macro

Role = Literal["definition", "claim", "reason", "where", "assumption", "condition", "example", "goal", "unclear"]
WHICH_CASE = "which case is meant"  # as a condition that was not understood: what follows from several cases


@dataclass(frozen=True)
class Statement:
    """One thing that is said.

    `under` is what it is said for; `perhaps` what it may be said for; `unknown` the words of a condition that was not
    understood; `why` tells why it is not judged, '' where it is; `problem` is the error of a formula that cannot be
    read.
    """

    role: Role
    text: str
    line: int
    node: t.Node | None = None
    under: tuple[t.Node, ...] = ()
    perhaps: tuple[t.Node, ...] = ()
    unknown: str = ""
    sentence: str = ""
    why: str = ""
    problem: FormulaError | None = field(default=None, compare=False)
    loose: Loose = ""  # how loosely it was put together from words
    number: int = 0  # its place among all statements
    paragraph: int = 0  # the block that its sentence begins in
    after: str = ""  # the words right before it that were not understood: what it is said of may be in them
    follows: bool = False  # 'then ..., so ...': it is said to follow from what stands before it
    tentative: bool = False  # it counts only where it is false: then what was built on it is not certain
    resumes: tuple[t.Node, ...] = ()  # what it goes on with: then it is a claim, even if of given numbers only


@dataclass(frozen=True)
class Read:
    """What was read: the statements in order, and the names that the answer makes its own in words."""

    statements: tuple[Statement, ...]
    own: frozenset[str] = frozenset()
    terse: bool = True  # next to no words: what the formulas say is all that is said
    beside: tuple[Statement, ...] = ()  # what is said in words alone, which is not judged
    sizes: tuple[str, ...] = ()  # sentences that call something large or small, and how was not read


@dataclass(frozen=True)
class Condition:
    """A condition that is in force: nodes, or words that were not understood."""

    nodes: tuple[t.Node, ...] = ()
    unknown: str = ""
    absurd: bool = False  # it has led to a contradiction


def joined(conditions: Sequence[Condition]) -> tuple[t.Node, ...]:
    """All that is said by some conditions."""
    return tuple(node for one in conditions for node in one.nodes)


class Scope(NamedTuple):
    """What is surely assumed, what is perhaps, and the words of an assumption that was not understood."""

    sure: tuple[t.Node, ...]
    perhaps: tuple[t.Node, ...]
    unknown: str


@dataclass
class Discourse:
    """Keeps what was said, and the assumptions that are open, while sentences go by."""

    names: tuple[str, ...]  # words of several letters that the exercise knows
    commands: Mapping[str, Macro]
    objects: Objects
    found: list[Statement] = field(default_factory=list)
    beside: list[Statement] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    sizes: list[str] = field(default_factory=list)
    heads: dict[str, int] = field(default_factory=dict)  # names that were given to the weights of heads
    supposed: list[Condition] = field(default_factory=list)  # 'Suppose ...'
    case: list[Condition] = field(default_factory=list)  # 'Case c = 1/2:'
    case_paragraph: int = -1
    case_goes_on: bool = False  # it ended in a colon alone: then it goes on below it, up to the next one
    recent: list[Condition] = field(default_factory=list)  # of a sentence before
    chain: int | None = None  # the statement that a leading '=' continues
    resumed: t.Node | None = None  # what was gone on with last

    def close(self) -> None:
        """Nothing is assumed any longer."""
        self.supposed, self.case, self.recent = [], [], []

    def turn_to(self, sentence: Sentence) -> None:
        """A heading closes what was supposed; a new paragraph the case, and an item what was said right before."""
        if sentence.heading and not any(token.kind == "formula" for token in sentence.tokens):
            self.close()
        below = self.case_goes_on and not sentence.heading and self.case_paragraph + 1 == sentence.paragraph
        if sentence.item or (sentence.paragraph != self.case_paragraph and not below):
            self.case = []
        if sentence.item or sentence.heading:
            self.recent = []

    def in_force(self, front: Sequence[Condition]) -> Scope:
        """What is assumed where a sentence has these conditions in front."""
        sure = [*self.case, *front, *(one for one in self.supposed if not one.absurd)]
        perhaps = [*([] if front else self.recent), *(one for one in self.supposed if one.absurd)]
        return Scope(joined(sure), joined(perhaps), next((o.unknown for o in (*sure, *perhaps) if o.unknown), ""))

    def parsed(self, text: str) -> list[tuple[t.Node | None, FormulaError | None]]:
        """The statements of a formula, each read or with the reason why it cannot be."""
        found = parse_each(tidy(text), names=self.names, macros=self.commands)
        return [(None, one) if isinstance(one, FormulaError) else (with_heads(one, self.heads), None) for one in found]


# Conditions as nodes.


def is_index(node: t.Node) -> bool:
    """Whether a condition speaks of indices: i != a, b; or for all i."""
    match node:
        case t.Name(base, None, _):
            return len(base) == 1
        case t.Listing(items):
            return all(is_index(item) for item in items)
        case t.Relation((t.Name(base, None, _), *_), _):
            return base in "ijlm" and len(base) == 1
        case _:
            return False


def has_letter_of(node: t.Node | None, condition: t.Node) -> bool:
    """Whether a statement has the letter of which a condition speaks."""
    about = condition.terms[0] if isinstance(condition, t.Relation) else condition
    letters = [item.base for item in t.listed(about) if isinstance(item, t.Name)]
    return node is not None and t.speaks_of(node, *letters)


def turns(node: t.Node) -> bool:
    """Whether 'otherwise' turns a condition round: i <= m, i in S."""
    return t.flips(node) or (isinstance(node, t.Bond) and node.word == "in")


def bases(nodes: Sequence[t.Node]) -> set[str]:
    """The names in some nodes, without their indices."""
    return {name.base for name in t.every_name(*nodes)}


def left_out_of(conditions: Sequence[t.Node]) -> tuple[str, tuple[t.Node, ...]] | None:
    """Of 'i != a' and 'i != b' the letter i, and a and b; None where it is not of that form."""
    letter, others = "", []
    for node in conditions:
        match node:
            case t.Relation((t.Name(base, None, 0), (t.Name() | t.Number()) as other), ("!=",)) if letter in ("", base):
                letter = base
                others.append(other)
            case _:
                return None
    return (letter, tuple(others)) if letter and is_index(conditions[0]) else None


def said_for(nodes: tuple[t.Node, ...], conditions: tuple[t.Node, ...]) -> tuple[t.Node, ...]:
    """'k_j^T q > k_i^T q for all i != j': the last of some conditions, said for others."""
    if not nodes or not conditions:
        return (*nodes, *conditions)
    return (*nodes[:-1], t.Quantified(nodes[-1], conditions, span=nodes[-1].span))


def plain_condition(node: t.Node) -> bool:
    """Whether names and numbers alone are compared: i != a, b."""
    terms = node.terms if isinstance(node, t.Relation) else (node,)
    flat = [item for term in terms for item in t.listed(term)]
    return isinstance(node, t.Relation) and all(isinstance(item, t.Name | t.Number) for item in flat)


# Statements as they were written.


def resumable(said: Statement, sure: tuple[t.Node, ...], *, start: bool = False) -> t.Node | None:
    """What a chain goes on with: its end; for a case that it is not said for its start, if all of it is equal.

    With `start` its start in any case: then what is said of $alpha_j$ is not taken for a condition on the scores.
    """
    node = None if said.node is None else t.unquantified(said.node)
    if not isinstance(node, t.Relation) or isinstance(node.terms[-1], t.Listing):
        return None
    equal = set(node.comparisons) <= {"=", "~"} and not isinstance(node.terms[0], t.Listing)
    if all(part in said.under for part in sure) and not (start and equal):
        return node.terms[-1]
    return node.terms[0] if equal else None


def newlines(node: t.Node | None) -> int:
    """How many lines below the start of a formula a statement begins."""
    return 0 if node is None else node.span.source.count("\n", 0, node.span.start)


def source_of(node: t.Node | None, text: str) -> str:
    """The part of a formula that a statement was read from."""
    if node is None or not node.span.source:
        return text
    return node.span.source[node.span.start : node.span.stop].strip() or text
