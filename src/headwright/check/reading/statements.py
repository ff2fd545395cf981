"""Statements: what an answer says, each with its role and with what it is said under.

An assumption holds for its sentence ('if $g > 1$ then ...'), for its paragraph ('Case $c = 1/2$: ...') or until the
argument is closed ('Suppose ...'). Where it is not certain whether it is still meant, a statement carries it as
`perhaps`: then only what is so on both readings is said. What is not understood is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from headwright.check.reading.cases import as_cases, looks_like_a_case
from headwright.check.reading.chains import bounded, resumed
from headwright.check.reading.clauses import Clause, clauses, is_condition
from headwright.check.reading.grammar import in_words
from headwright.check.reading.leading import leading
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.paraphrase import paraphrased
from headwright.check.reading.predicates import VERBS, not_understood
from headwright.check.reading.references import differences, phrases, weights_named, with_heads
from headwright.check.reading.sentences import LONGEST, Loose, Sentence, Token, leads_on, sentences
from headwright.check.reading.things import Objects
from headwright.check.reading.words import ends_in_words, said_in_words
from headwright.check.reading.written import Written
from headwright.formula import FormulaError, macros, parse_each, parse_lines
from headwright.formula.parse import Macro
from headwright.formula.show import plain
from headwright.formula.tree import Bond, Listing, Logic, Name, Node, Number, Quantified, Relation, walk

Role = Literal["definition", "claim", "reason", "where", "assumption", "condition", "example", "goal", "unclear"]
MOST_STATEMENTS = 400
BESIDE = -1  # the number of what is said in words alone: it has no place among the statements
# A noun begins with these: what follows is said beside a formula, not of it ('$q = k_a$ the scores are large').
STATING = frozenset({"sum", "add", "vanish", "differ", "commute", "coincide", "agree", "depend", "depends"})
OPENING = frozenset({"the", "both", "all", "each", "every", "this", "these", "a", "an", "we", "it", "and"})
INDICES = frozenset("ijklmn")
FOLLOWING = frozenset(
    {
        "then",
        "so",
        "so that",
        "hence",
        "thus",
        "therefore",
        "consequently",
        "it follows",
        "implies",
        "gives",
        "in particular",
    }
)
FLIPPED = {"=": "!=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
INFINITY, ZERO = Name("infinity"), Number(0)  # type: ignore[arg-type]


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
    node: Node | None = None
    under: tuple[Node, ...] = ()
    perhaps: tuple[Node, ...] = ()
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
    resumes: tuple[Node, ...] = ()  # what it goes on with: then it is a claim, even if of given numbers only


@dataclass(frozen=True)
class Read:
    """What was read: the statements in order, and the names that the answer makes its own in words."""

    statements: tuple[Statement, ...]
    own: frozenset[str] = frozenset()
    terse: bool = True  # next to no words: what the formulas say is all that is said
    beside: tuple[Statement, ...] = ()  # what is said in words alone, which is not judged
    sizes: tuple[str, ...] = ()  # sentences that call something large or small, and how was not read


FEW_WORDS = {"the", "condition", "is", "for", "all", "every", "each", "any", "and", "we", "need"}


def _is_terse(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", re.sub(r"\$[^$]*\$", " ", text))
    return all(word.lower() in FEW_WORDS for word in words)


def read(written: Written, names: Collection[str] = (), objects: Objects | None = None) -> Read:
    r"""The statements of an answer; `names` are words of several letters that the exercise knows.

    `objects` are the things of the exercise that words may refer to.

    >>> found = read(Written(r"If $g > 1$ then $c \approx v_a$. To show: $c = 0$."))
    >>> [(one.role, one.text, len(one.under)) for one in found.statements]
    [('claim', 'c \\approx v_a', 1), ('goal', 'c = 0', 0)]
    """
    discourse = _Discourse(tuple(names), macros(written.text), objects or Objects())
    for sentence in sentences(written):
        if len(discourse.found) > MOST_STATEMENTS:
            break
        discourse.hear(sentence)
    found = discourse.found[:MOST_STATEMENTS]
    if len(discourse.found) > MOST_STATEMENTS:
        why = f"there are more than {MOST_STATEMENTS} statements, and the rest is not read"
        found.append(replace(discourse.found[MOST_STATEMENTS], role="unclear", why=why))
    if len(written.text) > LONGEST:
        why = f"there are more than {LONGEST} characters, and the rest is not read"
        found.append(Statement("unclear", "...", written.line, sentence="...", why=why))
    numbered = tuple(replace(one, number=number) for number, one in enumerate(found))
    return Read(
        numbered,
        frozenset(discourse.own),
        _is_terse(written.text),
        tuple(discourse.beside),
        tuple(discourse.sizes),
    )


@dataclass(frozen=True)
class _Condition:
    """A condition that is in force: nodes, or words that were not understood."""

    nodes: tuple[Node, ...] = ()
    unknown: str = ""
    absurd: bool = False  # it has led to a contradiction


class _Discourse:
    """Keeps the assumptions that are open while sentences go by."""

    def __init__(self, names: tuple[str, ...], own_commands: Mapping[str, Macro], objects: Objects) -> None:
        self.found: list[Statement] = []
        self.own: set[str] = set()
        self.heads: dict[str, int] = {}  # names that were given to the weights of heads
        self.beside: list[Statement] = []
        self._names = names
        self._commands = own_commands
        self._objects = objects
        self.sizes: list[str] = []
        self._supposed: list[_Condition] = []  # 'Suppose ...'
        self._case: list[_Condition] = []  # 'Case c = 1/2:'
        self._case_paragraph = -1
        self._recent: list[_Condition] = []  # of a sentence before
        self._chain: int | None = None  # the statement that a leading '=' continues
        self._resumed: Node | None = None  # what was gone on with last

    def hear(self, sentence: Sentence) -> None:
        text = sentence.text
        plain_words = paraphrased(sentence.tokens, self._names)
        told = in_words(resumed(plain_words), self._objects, [one.text for one in self.found[-4:]])
        named, kept = weights_named(as_cases(phrases(bounded(told))))
        self.heads |= named
        sentence = replace(sentence, tokens=differences(kept, [one.text for one in self.found[-2:]]))
        found = clauses(sentence)
        formulas = [token for token in sentence.tokens if token.kind == "formula"]
        if sentence.heading and not formulas:
            self._supposed, self._case, self._recent = [], [], []
        if sentence.item or (sentence.paragraph != self._case_paragraph and not self._goes_on(sentence)):
            self._case = []
        if sentence.item or sentence.heading:
            self._recent = []
        spoken = {word for clause in found for word in clause.words}
        heading = sentence.heading and not spoken & (VERBS | STATING)
        for said, line in said_in_words(found) if not heading else ():
            self.beside.append(
                Statement(
                    "unclear",
                    said,
                    line,
                    sentence=sentence.text,
                    why="it is said in words",
                    number=BESIDE,
                    paragraph=sentence.paragraph,
                )
            )
        before = len(self.found)
        _Sentence(self, sentence, found).say()
        self.found[before:] = [replace(one, paragraph=sentence.paragraph) for one in self.found[before:]]
        if len(_SIZES.findall(text)) > sum(_is_limit(one.node) for one in self.found[before:]):
            self.sizes.append(text)

    def _goes_on(self, sentence: Sentence) -> bool:
        """A case that ended in a colon alone goes on below it, up to the next one."""
        return (
            bool(self._case) and not sentence.heading and self._case_paragraph + 1 == sentence.paragraph and self._open
        )

    _open = False


def _is_limit(node: Node | None) -> bool:
    return isinstance(node, Relation) and "->" in node.comparisons


ERRORS = ("up to a small error", "up to small errors", "up to a tiny error")
_COUNTERFACTUAL = re.compile(r"\bwould (?:all |both |just |only |then )?(?:be|have|become)\b")
_VERB = r"(?:is|are|does|do|did|can|could|will|would|has|have|was|were)"
_NOUN = r"(?:\$[^$]*\$|[\w']+)"
# The verb before its subject: 'in no case is $a > b$', 'only for $n = 2$ is ...', 'for each $i$ is ...'.
_INVERTED = re.compile(
    r"(?:^|[,;:(] |\b(?:and|but|so|hence|then|thus|because|since|that) )(?P<front>"
    r"(?:in|for|under|at|on|by|with) (?:no|neither|none)\b"
    rf"|only (?:if|for|when|in|with|at)\b(?=[^,;]* {_VERB} (?:\$|the\b|it\b|this\b))"
    r"|(?:for|in|at|under|with) (?:all|each|every|any|large|small|most|some|such) "
    rf"{_NOUN}(?: of {_NOUN})? {_VERB}\b(?= \$)"
    rf"|never\b(?= {_VERB})|nowhere\b)",
    re.IGNORECASE,
)
_SIZES = re.compile(
    r"\b(?:large|larger|big|bigger|huge|small|smaller|tiny|grows?|growing|enough|sufficiently|necessary|needed|limit|better)\b",
    re.IGNORECASE,
)


class _Sentence:
    """One sentence while it is being read."""

    def __init__(self, discourse: _Discourse, sentence: Sentence, found: list[Clause]) -> None:
        self.all = discourse
        self.sentence = sentence
        self.clauses = found
        self.front: list[_Condition] = []
        self.fresh = True  # no claim since the last condition in front
        self.last: list[int] = []  # statements of the claim clause before: a condition that follows is theirs
        self.complement: tuple[Node, ...] = ()
        self.asked = sentence.end in ("?", "...")
        self.start = len(discourse.found)
        self.supposing = False  # the clause before was 'suppose ...'
        self.around: list[_Condition] = []  # what the sentence begins with, and may be meant for
        self.cases = 0  # how many ranges of an index came one after the other

    def say(self) -> None:
        if self.clauses and self.clauses[0].part in ("where", "if") and _COUNTERFACTUAL.search(self.sentence.text):
            for clause in self.clauses:  # 'with $lambda = 0$ all weights would be equal'
                clause.turned = clause.turned or "would"
        claimed = any(clause.formulas for clause in self.clauses if clause.part not in ("if", "reason"))
        for clause in self.clauses if not claimed else ():
            if (
                clause.cue == "for"
                and clause.tokens[0].text in ("the", "this", "these", "that")
                and not any(map(_is_case, clause.formulas))
            ):
                clause.part = "claim"  # 'for the moved pair $a = b$, because ...': nothing else is said
        inverted = _INVERTED.search(self.sentence.text)
        if inverted is not None:  # 'in no case is $a > b$'
            self._unclear(f"'{inverted.group('front')}' was not understood", self.sentence.line)
            for clause in self.clauses:
                clause.turned = clause.turned or inverted.group("front")
        self._listen()
        self.start = len(self.all.found)
        for place, clause in enumerate(self.clauses):
            self._notes(clause)
            self.supposing = self.supposing and clause.part == "where"
            following = self.clauses[place + 1 :]
            match clause.part:
                case "general":
                    self.all._supposed, self.all._case, self.all._recent, self.front = [], [], [], []
                    self._claims(clause, "claim")
                case "absurd":
                    self._absurd(clause)
                case "if":
                    self._condition(clause, following)
                case "suppose":
                    self._suppose(clause)
                case "where":
                    self._where(clause)
                case "otherwise":
                    self._otherwise(clause)
                case "only":
                    self._only(clause)
                case "goal":
                    self._add(clause, "goal", "what is wanted, not claimed")
                case "example":
                    self._add(clause, "example")
                case "suffices":
                    self._add(clause, "example")
                case "deny":
                    self._claims(clause, "claim", denied=True)
                case "define":
                    self._claims(clause, "definition")
                case "reason":
                    self._claims(clause, "reason")
                case _:
                    self._claims(clause, "claim")
        if {one.role for one in self.all.found[self.start :]} == {
            "reason"
        }:  # 'by part (a), $a = b$': it is all that is said
            self.all._chain = len(self.all.found) - 1
        if self.front and self.start == len(self.all.found):
            every = any(clause.cue in EVERY and not all(map(is_index, self._nodes(clause))) for clause in self.clauses)
            if every or LIMITING & set(re.findall(r"[a-z]+", self.sentence.text)):  # 'it works for $n > 2$ only'
                self._unclear("for what it is said was not understood", self.sentence.line)
            for unknown in (
                one.unknown for one in self.front if one.unknown.startswith(EVERY)
            ):  # 'it works for any $lambda$'
                self._unclear(f"'{unknown}' was not understood", self.sentence.line)
            for node in _joined(self.front):  # a condition and nothing under it: 'it does so when $a > b$'
                if isinstance(node, Name) and not self._ranges(node):  # 'this works for any $lambda$'
                    self._unclear("it is not certain whether every value of a name is meant", self.sentence.line)
                elif not isinstance(node, Name):
                    said = Statement("condition", plain(node), self.sentence.line, node, sentence=self.sentence.text)
                    self.all.found.append(said)
        if self.front:
            self.all._recent = [one for one in self.front if one.nodes]
            if self.sentence.end == ":" or any(one.part == "if" and one.closed == ":" for one in self.clauses):
                self.all._case, self.all._case_paragraph = self.front, self.sentence.paragraph
                self.all._open = self.sentence.end == ":"
                self.all._recent = []

    def _ranges(self, name: Name) -> bool:
        """Whether all values of a name are meant anyway: of a given number, or of a length where all is exact."""
        given = name.base in INDICES or (name.base in ("epsilon", "delta") and name.base in self.all._names)
        exact = all(
            set(node.comparisons) == {"="}
            for one in self.all.found
            for node in (one.node,)
            if isinstance(node, Relation)
        )
        return given or (exact and self.all._objects.tokens > 0 and name.base in self.all._names)

    def _listen(self) -> None:
        """What the words around formulas and terms say of them: where that is not understood, it is not judged."""
        for place, clause in enumerate(self.clauses):
            if clause.part == "goal":
                continue
            told = bool(clause.turned) or self._said_in_words(clause)  # then nothing in it is judged anyway
            for token, words in () if told else not_understood(clause.tokens):
                opening = words.split()[0]  # 'let $S$ be ...', 'where $S_k$ is $S$ with zeros'
                named = (clause.part == "define" and opening == "be") or (
                    clause.part == "where" and token.kind == "term" and opening in ("is", "are", "denotes", "be")
                )
                why = f"what '{words}' says of ${token.text}$ was not understood"
                self._unclear(why, token.line, "definition" if named else "unclear")
                if token.kind == "formula" and clause.part == "claim" and words.split()[0] not in OPENING:
                    clause.turned = clause.turned or words
            plain_words = not clause.formulas and not _mentions(clause)
            resumed = place > 0 and clause.words[:1] != [] and clause.words[0] in VERBS  # '$a$, unlike $b$, is prime'
            if plain_words and resumed and not lexicon().adds_nothing(clause.words):
                self._unclear("it is said in words", self.sentence.line)
            if place and clause.turned and clause.cue == "but" and plain_words:  # 'but not exactly'
                self._unclear(f"'{clause.turned}' was not understood", self.sentence.line)

    def _unclear(self, why: str, line: int, role: Role = "unclear") -> None:
        said = self.sentence.text
        self.all.found.append(Statement(role, said, line, sentence=said, why=why))

    # What each kind of clause adds.

    def _claims(self, clause: Clause, role: Role, *, denied: bool = False) -> None:
        if clause.inside and clause.formulas and role == "claim" and not clause.cue and self._qualifies(clause):
            self._attach(self._nodes(clause), "")
            return
        before = len(self.all.found)
        if role == "claim" and _says_also(clause):  # '$q = k_a$ works too': another choice, not the same one
            at = max(number for number, token in enumerate(clause.tokens) if token.kind == "formula")
            self._add(replace(clause, tokens=clause.tokens[:at]), role)
            self._add(replace(clause, tokens=clause.tokens[at:]), "example")
        else:
            self._add(clause, role, denied=denied)
        if len(self.all.found) > before:
            self.last = list(range(before, len(self.all.found)))
            self.fresh = False
        elif clause.cue == "" and not clause.inside and len(clause.words) > 2:
            self.last = []  # a clause in words: a condition after it is not about what was said before it

    def _qualifies(self, clause: Clause) -> bool:
        """Brackets right after a formula with a condition in them: (i != a, b)."""
        nodes = self._nodes(clause)
        place = next(number for number, one in enumerate(self.clauses) if one is clause)
        if any(one.inside and one.part in ("if", "otherwise") for one in self.clauses[place + 1 : place + 2]):
            return False  # ($B = 0$ if $k = 1$): it has a case of its own
        return bool(self.last) and bool(nodes) and all(_plain_condition(node) for node in nodes)

    def _add(self, clause: Clause, role: Role, why: str = "", *, denied: bool = False) -> None:
        if role != "goal" and self._said_in_words(clause):
            said = self._words(clause).strip()
            why = why or "it is said in words"
            self.all.found.append(
                Statement("unclear", said, clause.tokens[0].line, None, sentence=self.sentence.text, why=why)
            )
        if self.asked and not why:
            role, why = "unclear", "a question" if self.sentence.end == "?" else "the sentence is too long"
        elif clause.turned and role != "goal" and not self._softly(clause):
            role, why = "unclear", f"'{clause.turned}' was not understood"
        for number, token in enumerate(clause.formulas):
            for text, reason in _remarks(token.text):
                first = denied and number == 0
                part: Role = "reason" if reason else role
                after = leading(self.sentence.tokens, token)
                self._formula(replace(token, text=text), part, why, clause, first, after, remark=reason)

    def _said_in_words(self, clause: Clause) -> bool:
        """'$c$ is not $v_a$', '$c$ is $v_a$': terms are compared, and not by a sign that is read."""
        kinds = [token.kind if token.kind != "word" else token.text for token in clause.tokens]
        terms = kinds.count("term")
        if terms > 1 and clause.turned in lexicon().denying and not clause.formulas:
            return True
        stated = any(one.formulas for one in self.clauses)
        doubtful = clause.turned and not (clause.turned.startswith("there") and stated)  # 'there is an $i$ with ...'
        if terms and doubtful and not clause.formulas and clause.part in ("claim", "where", "reason"):
            return True
        joined = " ".join(kinds)
        return "term is term" in joined or "term is not term" in joined or "term are term" in joined

    def _softly(self, clause: Clause) -> bool:
        """'approximately' beside a formula that says so itself turns nothing."""
        soft = clause.turned in (
            "approximately",
            "roughly",
            "about",
            "nearly",
            "almost",
            "ignoring",
            "neglecting",
            *ERRORS,
        )
        return soft and all(re.search(r"\\approx|\\to|\\sim|≈|→|\\gg|\\ll", token.text) for token in clause.formulas)

    def _formula(
        self, token: Token, role: Role, why: str, clause: Clause, denied: bool, after: str, *, remark: bool = False
    ) -> None:
        text = token.text
        if leads_on(text) and role in ("claim", "reason", "definition"):
            implied = _IMPLIED.match(text)
            if implied:
                text = text[implied.end() :]
            elif self._goes_on(token, clause):
                if self._continue(text, token.line):
                    return
            elif self._resumes(token, clause):
                return
            else:
                role, why = "unclear", "it begins with a relation, and it is not certain what it goes on with"
        sure, perhaps, unknown = self._in_force()
        if role == "claim" and clause.cue:
            perhaps = (*_joined(self.around), *perhaps)
        if self.cases and clause.cue in FOLLOWING and not self.fresh:
            unknown = unknown or clause.cue  # 'for $i \\le m$ A, for $i > m$ B, so C': in which case is not said
        follows = role == "claim" and (clause.cue in FOLLOWING or any(one.nodes for one in self.front))
        inside = remark or clause.inside or role in ("goal", "example", "unclear")
        parts = self._parsed(text)
        for node, problem in parts:
            shown = _source(node, text) if len(parts) > 1 else text
            line = token.line + _newlines(node)
            if denied and node is not None:
                node = flipped(node)
            self.all.found.append(
                Statement(
                    role,
                    shown,
                    line,
                    node,
                    sure,
                    perhaps,
                    unknown,
                    self.sentence.text,
                    why,
                    problem,
                    token.loose,
                    after=after,
                    follows=follows,
                )
            )
        inside = inside or token.goes_on == "aside"
        if not inside and role in ("claim", "definition", "reason") and not (role == "reason" and clause.cue):
            self.all._chain = len(self.all.found) - 1

    def _goes_on(self, token: Token, clause: Clause) -> bool:
        """A display goes on with the chain before it; within a line, only what stands right behind another formula."""
        if clause.inside or self.all._chain is None:
            return False
        at = next((number for number, one in enumerate(clause.tokens) if one.text.startswith(token.text)), 0)
        return token.display or (at > 0 and clause.tokens[at - 1].kind == "formula")

    def _resumes(self, token: Token, clause: Clause) -> bool:
        """After words ('which is at most $c$', 'so $\\le c$') the chain goes on in a statement of its own."""
        at = next((number for number, one in enumerate(clause.tokens) if one.text.startswith(token.text)), 0)
        bare = at == 0 or clause.tokens[at - 1].kind == "mark" or clause.tokens[at - 1].text in OPENING
        if clause.inside or self.all._chain is None or clause.turned or not (token.goes_on or bare):
            return False
        before = self.all.found[self.all._chain]
        sure, perhaps, unknown = self._in_force()
        left = _resumable(before, sure, start=self.all._objects.condition)
        if token.goes_on == "instead":  # another value of what had one for another case
            left = self.all._resumed if before.resumes else _resumable(replace(before, under=()), (Name("case"),))
        if left is None or before.why:
            return False
        parts = self._parsed(f"{_source(left, '')} {token.text}")
        if any(node is None for node, _ in parts):
            return False
        other = any(is_index(part) for part in sure)  # 'for $i > m$ it is ...' is not said for $i \\le m$ too
        tied = tuple(part for part in before.under if part not in sure and ((is_index(part) and not other) or not sure))
        tied = () if token.goes_on == "instead" else tied
        with_it = (*before.resumes, before.node) if before.node is not None else before.resumes
        said = Statement("claim", "", token.line, None, (*tied, *sure), perhaps, unknown, self.sentence.text,
                         loose=token.loose, resumes=with_it)  # fmt: skip
        self.all.found += [replace(said, text=_source(node, token.text), node=node) for node, _ in parts]
        self.all._chain, self.all._resumed = len(self.all.found) - 1, left
        return True

    def _continue(self, text: str, line: int) -> bool:
        """A formula that begins with a relation goes on with the chain before it; its lines stay where they are."""
        chain = self.all._chain
        if chain is None or self.all.found[chain].why:
            return False
        before = self.all.found[chain]
        gap = "\n" * max(0, line - before.line - before.text.count("\n"))
        whole = f"{before.text} \\\\{gap} {text}"
        parts = self._parsed(whole)
        if any(problem is not None for _, problem in parts):
            return False
        first, *more = parts
        self.all.found[chain] = replace(before, text=whole, node=first[0])
        for node, problem in more:
            at = before.line + _newlines(node)
            again = replace(before, text=_source(node, text), line=at, node=node, problem=problem)
            self.all.found.append(again)
        return True

    def _in_force(self) -> tuple[tuple[Node, ...], tuple[Node, ...], str]:
        sure = [*self.all._case, *self.front, *(one for one in self.all._supposed if not one.absurd)]
        perhaps = [*([] if self.front else self.all._recent), *(one for one in self.all._supposed if one.absurd)]
        unknown = next((one.unknown for one in (*sure, *perhaps) if one.unknown), "")
        return _joined(sure), _joined(perhaps), unknown

    def _parsed(self, text: str) -> list[tuple[Node | None, FormulaError | None]]:
        found = parse_each(_tidy(text), names=self.all._names, macros=self.all._commands)
        heads = self.all.heads
        return [(None, one) if isinstance(one, FormulaError) else (with_heads(one, heads), None) for one in found]

    def _nodes(self, clause: Clause) -> tuple[Node, ...]:
        found: list[Node] = []
        for token in clause.tokens:
            if token.kind == "term" and OTHERS & set(clause.words):
                continue  # 'for all other $i$': of those that were not named, as a bare $i$ is
            every = clause.cue in EVERY and _letters(token.text)
            if token.kind == "formula" or (token.kind == "term" and (every or _LETTER.fullmatch(token.text))):
                found += [node for node, _ in self._parsed(token.text) if node is not None]
        return tuple(found)

    def _unread(self, clause: Clause) -> str:
        """The words of a condition that was not understood; '' where it was."""
        said = self._words(clause)
        if clause.turned and clause.part != "suppose":
            return said
        if any(problem for token in clause.formulas for _, problem in self._parsed(token.text)):
            return said
        over = clause.cue.startswith(("for", "over")) and any(map(is_index, self._nodes(clause)))
        if over and any(word not in lexicon().table("ranging") for word in clause.words):
            return said  # 'for one $i \\ne a$', 'for all even $i$'
        noted = any(True for _ in _notes(clause))
        letters = any(token.kind == "term" and _letters(token.text) for token in clause.tokens)
        ranging = letters and clause.cue.startswith(("for", "over")) and lexicon().adds_nothing(clause.words)
        return "" if clause.formulas or noted or ranging else said

    def _words(self, clause: Clause) -> str:
        said = " ".join(f"${t.text}$" if t.kind in ("formula", "term") else t.text for t in clause.tokens)
        return f"{clause.cue} {said}".rstrip(" ,:")

    def _condition(self, clause: Clause, following: Sequence[Clause]) -> None:
        nodes, unknown = self._nodes(clause), self._unread(clause)
        nodes = (*nodes, *_notes(clause))
        if clause.cue == "unless":
            turned = len(nodes) == 1 and isinstance(nodes[0], Relation) and _flips(nodes[0])
            nodes, unknown = ((flipped(nodes[0]),), unknown) if turned else ((), unknown or self._words(clause))
            self._unclear("'unless' may deny it for the rest", self.sentence.line)
        nodes = tuple(part for node in nodes for part in (node.items if isinstance(node, Listing) else (node,)))
        self.complement = nodes
        claimed = any(one.part in ("claim", "define", "otherwise", "deny") and one.formulas for one in following)
        in_front = not self.last or (
            claimed
            and clause.after in (",", "and", "but", "while", ":", "or", "so", "then", "that", "because", "since", "as")
        )
        if clause.turned:
            if in_front:
                self.front = [_Condition((), unknown)]
            else:
                self._void(clause.turned)
            return
        if in_front:
            if not self.fresh:
                self.cases += any(map(is_index, _joined(self.front)))
                self.front = []
                self.fresh = True
            if clause.closed == ":" or _names(nodes) & _names(_joined(self.all._case)):
                self.all._case = []  # the next case
            if any(is_index(node) for node in nodes) and self.front and self.fresh:
                # 'if k_j^T q > k_i^T q for all i != j, then': the second says for which i the first is meant.
                self.front[-1] = _Condition(_said_for(self.front[-1].nodes, nodes), self.front[-1].unknown or unknown)
            else:
                self.front.append(_Condition(nodes, unknown))
        elif self._after_words(clause):  # '$V = a + b$, which vanishes as $a -> 0$'
            for number in self.last:
                one = self.all.found[number]
                self.all.found[number] = replace(one, perhaps=(*one.perhaps, *nodes), unknown=one.unknown or unknown)
        else:
            self._attach(nodes, unknown)

    def _after_words(self, clause: Clause) -> bool:
        place = next(number for number, one in enumerate(self.clauses) if one is clause)
        return place > 0 and ends_in_words(self.clauses[place - 1])

    def _attach(self, nodes: tuple[Node, ...], unknown: str) -> None:
        """A condition after what it is about: surely about the last statement, perhaps about those before it."""
        for number in reversed(self.last):
            one = self.all.found[number]
            mine = tuple(node for node in nodes if not is_index(node) or _speaks_of(one.node, node))
            if number == self.last[-1]:
                # 'for g > 1 we get A, while B for g < 1': the second case is not within the first.
                front, about = _joined(self.front), _names(mine)
                one = replace(one, under=tuple(u for u in one.under if u not in front or not about & _names((u,))))
                self.all.found[number] = replace(one, under=(*one.under, *mine), unknown=one.unknown or unknown)
            else:
                loose = tuple(node for node in mine if not is_index(node))
                tied = tuple(node for node in mine if is_index(node))
                self.all.found[number] = replace(one, under=(*one.under, *tied), perhaps=(*one.perhaps, *loose))
        if not self.last and unknown:
            self.front.append(_Condition((), unknown))

    def _void(self, word: str) -> None:
        for number in self.last:
            one = self.all.found[number]
            self.all.found[number] = replace(one, role="unclear", why=f"'{word}' was not understood")

    def _suppose(self, clause: Clause) -> None:
        nodes, unknown = self._nodes(clause), self._unread(clause)
        if clause.turned:
            nodes, unknown = (), unknown or clause.turned
        for token in clause.formulas:
            for node, problem in self._parsed(token.text):
                why = "" if node is not None else "it cannot be read"
                said, text = self.sentence.text, _source(node, token.text)
                found = Statement("assumption", text, token.line, node, sentence=said, why=why, problem=problem)
                self.all.found.append(found)
        if not clause.formulas and not _mentions(clause):
            return  # 'we assume the setting above'
        self.all._supposed.append(_Condition(nodes, unknown))
        self.last, self.supposing = [], True

    def _where(self, clause: Clause) -> None:
        if clause.cue == "here":  # 'here $alpha_a > 1/2$' is claimed
            self._claims(clause, "claim")
            return
        if clause.turned:
            self._add(clause, "where")
            self._void(clause.turned)
            return
        if self.supposing and clause.formulas and not self._unread(replace(clause, part="if", cue="if")):
            last = self.all._supposed.pop()  # 'suppose a = b with c > 0'
            self.all._supposed.append(replace(last, nodes=(*last.nodes, *self._nodes(clause))))
            return
        case = clause.formulas and not any(_nearly(node) for node in self._nodes(clause))
        if self.front and not self.last and case and not self._unread(replace(clause, part="if", cue="if")):
            self.front.append(_Condition(self._nodes(clause)))  # 'if a = b with c > 0, then'
            return
        before, opens = len(self.all.found), not self.last
        self._add(clause, "where")
        if len(self.all.found) > before:
            self.last = list(range(before, len(self.all.found)))
            if opens:  # 'with $q = 0$ we get ...'
                tried = (node for node in self._nodes(clause) if isinstance(node, Relation))
                self.around = [_Condition(tuple(node for node in tried if isinstance(node.terms[-1], Number)))]

    def _otherwise(self, clause: Clause) -> None:
        """In the other cases: of what was said last, turned round."""
        argued = self.clauses[: self.clauses.index(clause)][-1:]
        if _COUNTERFACTUAL.search(self.sentence.text) or (argued and argued[0].closed == ":"):
            self.front = [_Condition((), "otherwise")]  # 'A for B: otherwise C would be so' speaks of what is not so
            self._claims(clause, "claim")
            return
        before = self.complement
        if not before and self.last and isinstance(self.all.found[self.last[-1]].node, Logic):
            implied = self.all.found[self.last[-1]].node
            before = implied.items[:1] if isinstance(implied, Logic) and implied.word == "implies" else ()
        left_out = _left_out(before)
        if left_out and self.last and not clause.formulas:
            self._instead(*left_out)
            return
        nodes = tuple(flipped(node) for node in before if _turns(node))
        nodes = nodes if len(before) == 1 and not left_out else ()
        unknown = "" if nodes or not (before or clause.formulas) else "otherwise"
        if clause.formulas:
            self.front = [_Condition(nodes, unknown)]
            self._claims(clause, "claim")
        elif self.last:
            one = self.all.found[self.last[-1]]
            free = one.node is not None and any(True for _ in _free_letters(one.node))
            self._attach(nodes, unknown or ("" if nodes or free else "otherwise"))

    def _instead(self, letter: str, others: Sequence[Node]) -> None:
        """'0 for i != a, b and 1 otherwise': the second is said of a and of b."""
        one = self.all.found[self.last[-1]]
        if one.node is None:
            return
        for other in others:
            said = with_index(one.node, letter, other)
            self.all.found.append(replace(one, node=said, text=plain(said)))
        del self.all.found[self.last[-1]]
        self.last = list(range(len(self.all.found) - len(others), len(self.all.found)))

    def _only(self, clause: Clause) -> None:
        """'A only for B' says that A implies B."""
        nodes = self._nodes(clause)
        if not self.last or not nodes or clause.turned or self._unread(replace(clause, part="if", cue="if")):
            self._void("only")
            if not self.last:  # 'this works only if $a > b$'
                self._unclear("'only' was not understood", self.sentence.line)
            return
        one = self.all.found[self.last[-1]]
        if one.node is None:
            return
        goal = nodes[0] if len(nodes) == 1 else Logic("and", nodes)
        said = Logic("implies", (one.node, goal), span=one.node.span)
        self.all.found[self.last[-1]] = replace(one, node=said)

    def _absurd(self, clause: Clause) -> None:
        """A contradiction: what was supposed, or what the sentence began with, is said never to be so."""
        supposed = next((one for one in (*self.front[-1:], *self.all._supposed[-1:]) if not one.unknown), None)
        if supposed is not None and not clause.turned:
            if self.all._supposed and supposed is self.all._supposed[-1]:
                self.all._supposed[-1] = replace(supposed, absurd=True)
            else:
                self.front.remove(supposed)
            self._contradicted(supposed)
            self._claims(clause, "claim")
            node = supposed.nodes[0] if len(supposed.nodes) == 1 else None
            if isinstance(node, Relation) and _flips(node):
                never, said = flipped(node), self.sentence
                self.all.found.append(Statement("claim", plain(never), said.line, never, sentence=said.text))
        else:
            clause.turned = clause.turned or "impossible"
            self._add(clause, "unclear", f"'{clause.turned}' was not understood")
            if not clause.formulas:  # '$a > b$ is impossible'
                self._void(clause.turned)
            for later in self.clauses:
                if not (later.part in ("claim", "define") and later.cue):
                    later.turned = later.turned or clause.turned

    def _contradicted(self, supposed: _Condition) -> None:
        """What was derived last is said to be false: where it is true anyway, there is no contradiction."""
        last = self.all.found[-1] if self.all.found else None
        if last is None or last.role != "claim" or last.why or last.node is None or last.unknown:
            return
        if isinstance(last.node, Relation) and _flips(last.node) and set(supposed.nodes) <= set(last.under):
            never, under = flipped(last.node), tuple(node for node in last.under if node not in supposed.nodes)
            self.all.found.append(replace(last, text=plain(never), node=never, under=under, tentative=True))

    def _notes(self, clause: Clause) -> None:
        """Names that are said to be large or small, and names of the answer's own."""
        for name in _introduced(clause):
            self.all.own.add(name)
        if clause.part in ("if", "goal"):
            return  # a case: it becomes a condition there
        for node in _notes(clause):
            shown = plain(node)
            weight = (
                isinstance(node.terms[0], Name) and node.terms[0].base == "alpha" and node.terms[0].index is not None
            )
            role: Role = "claim" if weight else "where"  # 'then $alpha_a$ vanishes'
            self.all.found.append(Statement(role, shown, clause.tokens[0].line, node, sentence=self.sentence.text))


# Names that are large, small, or the answer's own.


def _notes(clause: Clause) -> Iterator[Relation]:
    """'large $lambda$', '$t$ is large enough': lambda -> infinity."""
    tokens = clause.tokens
    table = lexicon()
    until = 0
    for at, token in enumerate(tokens):
        if token.kind != "word" or at < until:
            continue
        words = [one.text for one in tokens[at : at + 7]]
        found = table.adjective(words)
        if found is None:
            continue
        until = at + found.words
        for named in _described(tokens, at, until):
            if found.part == "positive":
                yield Relation((named, ZERO), (">",))
            else:
                yield Relation((named, INFINITY if found.part == "large" else ZERO), ("->",))


def _described(tokens: Sequence[Token], start: int, stop: int) -> list[Name]:
    """The names that an adjective describes: the next ones after it, or those before it."""
    for places in (range(stop, len(tokens)), range(start - 1, -1, -1)):
        for at in places:
            token = tokens[at]
            if token.kind in ("formula", "term"):
                names = _bare_names(token.text)
                if names:
                    return names
                break
            if token.text not in lexicon().between:
                break
    return []


_NAME = r"(?:\\?[a-zA-Z]+)(?:_(?:\w|\{\w+\}))?"
_NAMES = re.compile(
    rf"\s*({_NAME}(?:\s*,\s*{_NAME})*)\s*(?:(?:[<>≥≤∈]|\\(?:geq?|leq?|gt|lt|in|gg)(?![a-zA-Z])).*)?", re.DOTALL
)


def _bare_names(text: str) -> list[Name]:
    """The names of 'lambda', 's, t' or 'lambda > 0'."""
    found = _NAMES.fullmatch(text)
    if found is None:
        return []
    names: list[Name] = []
    for part in found[1].split(","):
        try:
            parsed = parse_lines(part)
        except FormulaError:
            return []
        if len(parsed) != 1 or not isinstance(parsed[0], Name) or parsed[0] == INFINITY:
            return []
        names.append(parsed[0])
    return names


def _introduced(clause: Clause) -> Iterator[str]:
    """'a large constant $c$', '$c$ is a constant': from here on c is the answer's own."""
    table = lexicon()
    for at, token in enumerate(clause.tokens):
        if token.kind not in ("term", "formula"):
            continue
        before: list[str] = []
        for one in reversed(clause.tokens[max(0, at - 5) : at]):
            if one.kind != "word":
                break
            before.insert(0, one.text)
        after: list[str] = []
        for one in clause.tokens[at + 1 : at + 7]:
            if one.kind != "word":
                break
            after.append(one.text)
        # 'k_1 has a random factor $c$' speaks of the one that is given
        given = {"the", "this", "that", "its", "has", "random"} & set(before)
        noun = bool(before) and before[-1] in table.nouns and not given
        told = after[:2] in (["is", "a"], ["is", "an"], ["is", "some"], ["is", "any"])
        if noun or (told and any(word in table.nouns for word in after[2:])):
            yield from (name.base for name in _bare_names(token.text) if name.index is None)


# Nodes.


def flipped(node: Node) -> Node:
    """The opposite of a statement.

    >>> from headwright.formula import parse
    >>> plain(flipped(parse("a = b")))
    'a != b'
    """
    match node:
        case Relation((a, b), (sign,)) if sign in FLIPPED:
            return Relation((a, b), (FLIPPED[sign],), span=node.span)  # type: ignore[arg-type]
        case Quantified(body, conditions):
            return Quantified(flipped(body), conditions, span=node.span)
        case _:
            return Logic("not", (node,), span=node.span)


def _flips(node: Relation) -> bool:
    return len(node.terms) == 2 and node.comparisons[0] in FLIPPED and not isinstance(node.terms[1], Listing)


def _turns(node: Node) -> bool:
    """Whether 'otherwise' turns a condition round: i <= m, i in S."""
    return _flips(node) if isinstance(node, Relation) else isinstance(node, Bond) and node.word == "in"


def _joined(conditions: Sequence[_Condition]) -> tuple[Node, ...]:
    return tuple(node for one in conditions for node in one.nodes)


def _names(nodes: Sequence[Node]) -> set[str]:
    return {part.base for node in nodes for part in walk(node) if isinstance(part, Name)}


def _left_out(conditions: Sequence[Node]) -> tuple[str, tuple[Node, ...]] | None:
    """Of 'i != a' and 'i != b' the letter i, and a and b; None where it is not of that form."""
    letter, others = "", []
    for node in conditions:
        match node:
            case Relation((Name(base, None, 0), (Name() | Number()) as other), ("!=",)) if letter in ("", base):
                letter = base
                others.append(other)
            case _:
                return None
    return (letter, tuple(others)) if letter and is_index(conditions[0]) else None


def with_index(node: Node, letter: str, other: Node) -> Node:
    """A statement with another index in place of a letter: k_i with a for i is k_a.

    >>> from headwright.formula import parse
    >>> plain(with_index(parse("k_i^T q = i"), "i", Name("a")))
    'k_a^T q = i'
    """
    changed: dict[str, Any] = {}
    for item in fields(node):
        value = getattr(node, item.name)
        if item.name == "index" and isinstance(node, Name) and isinstance(value, Node):
            changed["index"] = _put(value, letter, other)
        elif isinstance(value, Node):
            changed[item.name] = with_index(value, letter, other)
        elif isinstance(value, tuple):
            parts = (with_index(part, letter, other) if isinstance(part, Node) else part for part in value)
            changed[item.name] = tuple(parts)
    return replace(node, **changed) if changed else node


def _put(index: Node, letter: str, other: Node) -> Node:
    match index:
        case Name(base, None, 0) if base == letter:
            return other
        case Listing(items):
            return replace(index, items=tuple(_put(item, letter, other) for item in items))
        case _:
            return index


def is_index(node: Node) -> bool:
    """Whether a condition speaks of indices: i != a, b; or for all i."""
    match node:
        case Name(base, None, _):
            return len(base) == 1
        case Listing(items):
            return all(is_index(item) for item in items)
        case Relation((Name(base, None, _), *_), _):
            return base in "ijlm" and len(base) == 1
        case _:
            return False


def _speaks_of(node: Node | None, condition: Node) -> bool:
    """Whether a statement has the letter of which a condition speaks."""
    match condition:
        case Name():
            letters = {condition.base}
        case Listing(items):
            letters = {item.base for item in items if isinstance(item, Name)}
        case Relation((Name() as name, *_), _):
            letters = {name.base}
        case _:
            return True
    return node is not None and any(isinstance(part, Name) and part.base in letters for part in walk(node))


def _free_letters(node: Node) -> Iterator[str]:
    """Letters that stand in an index."""
    for part in walk(node):
        if isinstance(part, Name) and part.index is not None:
            yield from (inner.base for inner in walk(part.index) if isinstance(inner, Name))


def _said_for(nodes: tuple[Node, ...], conditions: tuple[Node, ...]) -> tuple[Node, ...]:
    if not nodes or not conditions:
        return (*nodes, *conditions)
    return (*nodes[:-1], Quantified(nodes[-1], conditions, span=nodes[-1].span))


def _resumable(said: Statement, sure: tuple[Node, ...], *, start: bool = False) -> Node | None:
    """What a chain goes on with: its end; for a case that it is not said for its start, if all of it is equal.

    With `start` its start in any case: then what is said of $alpha_j$ is not taken for a condition on the scores.
    """
    node = said.node.body if isinstance(said.node, Quantified) else said.node
    if not isinstance(node, Relation) or isinstance(node.terms[-1], Listing):
        return None
    equal = set(node.comparisons) <= {"=", "~"} and not isinstance(node.terms[0], Listing)
    if all(part in said.under for part in sure) and not (start and equal):
        return node.terms[-1]
    return node.terms[0] if equal else None


def _plain_condition(node: Node) -> bool:
    match node:
        case Relation(terms, _):
            flat = [item for term in terms for item in (term.items if isinstance(term, Listing) else (term,))]
            return all(isinstance(item, Name | Number) for item in flat)
        case _:
            return False


def _nearly(node: Node) -> bool:
    """'under the condition above, where alpha_j ~ 1': no condition, which must be exact, but what follows from it."""
    return isinstance(node, Relation) and "~" in node.comparisons


_ALSO = re.compile(
    r"(?:also )?(?:works?|does|will do|would do|suffices|is fine|is possible)(?: (?:too|also|as well|equally well))?"
)


def _says_also(clause: Clause) -> bool:
    """'... works too', '... would also do' behind the last formula of a clause."""
    words: list[str] = []
    for token in reversed(clause.tokens):
        if token.kind == "formula":
            said = " ".join(words)
            return _ALSO.fullmatch(said) is not None and any(one in said for one in ("also", "too", "well"))
        if token.kind == "word":
            words.insert(0, token.text)
    return False


def _mentions(clause: Clause) -> bool:
    return any(token.kind == "term" for token in clause.tokens)


def _is_case(token: Token) -> bool:
    return is_condition(token.text) or looks_like_a_case(token.text)


def _newlines(node: Node | None) -> int:
    """How many lines below the start of a formula a statement begins."""
    return 0 if node is None else node.span.source.count("\n", 0, node.span.start)


def _source(node: Node | None, text: str) -> str:
    """The part of a formula that a statement was read from."""
    if node is None or not node.span.source:
        return text
    return node.span.source[node.span.start : node.span.stop].strip() or text


LIMITING = frozenset({"only", "no", "alone", "just", "exactly", "precisely", "exclusively"})
OTHERS = frozenset({"other", "others", "remaining"})
EVERY = ("for all", "for every", "for each", "for any", "over all")
_LETTER = re.compile(r"\s*[ijlm]\s*(?:,\s*[ijlm]\s*)*")
_LETTERS = re.compile(r"\s*(?:[a-zA-Z]|\\[a-z]+)'?(?:\s*,\s*(?:[a-zA-Z]|\\[a-z]+)'?)*\s*")


def _letters(text: str) -> bool:
    return _LETTERS.fullmatch(text) is not None


# Formulas as people set them.

_IMPLIED = re.compile(
    r"(?:&|\\quad|\\qquad|\\;|\\,|\s)*\\?(?:implies|Rightarrow|Longrightarrow|therefore|⇒|⟹)(?![a-zA-Z])"
)
_NUMBERED = re.compile(r"\s*(?:\\q?quad|\\tag|\\hfill|\s{2,})\s*(?:\(\d{1,3}[a-z]?\)|\{\d{1,3}[a-z]?\})\s*$")
_REMARK = re.compile(r"\s*\\q?quad\s*\(\s*\\(?:text|textrm|mbox)\{([^{}]*)\}((?:[^()]|\([^()]*\))*)\)\s*$")


_POSITIVE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*(?:[\^_]\s*\{?\s*\+\s*\}?|_\s*\{\s*>\s*0\s*\})")
_CONNECTIVE = re.compile(r"\\text\{\s*(?:then|so|hence|thus|therefore)\s*,?\s*\}\s*", re.IGNORECASE)
_CHANGE = re.compile(r"\\Delta\s+([a-z])(?![a-zA-Z])")


def _tidy(text: str) -> str:
    r"""Without the mark that ends a sentence, and with two habits spelled out.

    >>> _tidy(r"\beta \in \mathbb{R}^+"), _tidy(r"\Delta s = 1.")
    ('\\beta > 0', '\\Delta_{s} = 1')
    """
    text = re.sub(
        r"[.,;:]\s*$",
        "",
        _CONNECTIVE.sub("", text.strip(), count=1) if _CONNECTIVE.match(text.strip()) else text.strip(),
    )
    return _CHANGE.sub(r"\\Delta_{\1}", _POSITIVE.sub("> 0", text))


_COMMENT = re.compile(
    r"\s*(?:&&?|\\q?quad)\s*(?:\(\s*)?\\(?:text|textrm|mbox)\{\s*\(?([^{}$()]*)\)?\s*\}(?:\s*\))?\s*(?=\\\\|$)"
)


def _without_comment(found: re.Match[str]) -> str:
    """A step without the words beside it that say how it is made, if they claim nothing themselves."""
    words = re.findall(r"[\w'-]+", found[1].lower())
    parts = [lexicon().part(words[at:]) for at in range(len(words))]
    idle = all(one is None or one.part in ("idle", "reason", "claim") for one in parts)
    return "" if idle and lexicon().claims_nothing(words) else found[0]


def _remarks(text: str) -> Iterator[tuple[str, bool]]:
    r"""A formula without its number and without a remark in brackets behind it; then what the remark states.

    >>> list(_remarks(r"a = b \quad (\text{since } P^T P = I) \quad (20)"))
    [('a = b', False), ('P^T P = I', True)]
    """
    text = _COMMENT.sub(_without_comment, _NUMBERED.sub("", text))
    found = _REMARK.search(text)
    if found is None:
        yield text, False
        return
    words = re.findall(r"[\w'.]+", found[1].lower())
    phrase = lexicon().part(words) if words else None
    if phrase is None or phrase.part != "reason":
        yield text, False
        return
    yield text[: found.start()], False
    if found[2].strip():
        yield found[2].strip(), True
