"""What a sentence says: each of its clauses plays a part, and adds statements to the discourse or a condition to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from headwright.check.reading.cases import looks_like_a_case
from headwright.check.reading.clauses import Clause, is_condition
from headwright.check.reading.discourse import (
    WHICH_CASE,
    Condition,
    Discourse,
    Role,
    Scope,
    Statement,
    bases,
    has_letter_of,
    is_index,
    joined,
    left_out_of,
    newlines,
    plain_condition,
    resumable,
    said_for,
    source_of,
    turns,
)
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.predicates import VERBS
from headwright.check.reading.sentences import Sentence, Token
from headwright.check.reading.sizes import introduced, sizes
from headwright.check.reading.words import ends_in_words, leading, not_understood
from headwright.check.reading.written import IMPLIED, leads_on, remarks
from headwright.formula import tree as t
from headwright.formula.show import plain

# A noun begins with these: what follows is said beside a formula, not of it ('$q = k_a$ the scores are large').
OPENING = frozenset({"the", "both", "all", "each", "every", "this", "these", "a", "an", "we", "it", "and"})
INDICES = frozenset("ijklmn")
# What stands before a condition that is not about what was said before it.
JOINED = frozenset({"and", "but", "while", "whereas", "yet", ","})
AGAIN = frozenset({"too", "also", "well", "likewise"})
REPEATING = frozenset({"does", "do", "is", "are", "holds", "works"})  # of what was claimed before
BEFORE_A_CASE = (",", "and", "but", "while", ":", "or", "so", "then", "that", "because", "since", "as")
LIMITING = frozenset({"only", "no", "alone", "just", "exactly", "precisely", "exclusively"})
OTHERS = frozenset({"other", "others", "remaining"})
EVERY = ("for all", "for every", "for each", "for any", "over all")
ENDS = {"?": "a question", "...": "the sentence is too long"}  # then nothing is claimed
EVERY_VALUE = "it is not certain whether every value of a name is meant"
IN_WORDS = "it is said in words"

_NEAR = re.compile(r"\\approx|\\to|\\sim|≈|→|\\gg|\\ll")
_LETTER = re.compile(r"\s*[ijlm]\s*(?:,\s*[ijlm]\s*)*")
_LETTERS = re.compile(r"\s*(?:[a-zA-Z]|\\[a-z]+)'?(?:\s*,\s*(?:[a-zA-Z]|\\[a-z]+)'?)*\s*")
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
_ALSO = re.compile(
    r"(?:also )?(?:works?|does|will do|would do|suffices|is fine|is possible)(?: (?:too|also|as well|equally well))?"
)


def say(discourse: Discourse, sentence: Sentence, clauses: list[Clause]) -> None:
    """Add what a sentence says to a discourse."""
    saying = _Saying(discourse, sentence, clauses)
    saying.prepare()
    saying.listen()
    saying.say()


class _Saying:
    """One sentence while it is being read."""

    def __init__(self, discourse: Discourse, sentence: Sentence, clauses: list[Clause]) -> None:
        self.all, self.sentence, self.clauses = discourse, sentence, clauses
        self.place = 0  # of the clause that is being read
        self.front: list[Condition] = []
        self.fresh = True  # no claim since the last condition in front
        self.last: list[int] = []  # statements of the claim clause before: a condition that follows is theirs
        self.complement: tuple[t.Node, ...] = ()  # what 'otherwise' turns round
        self.supposing = False  # the clause before was 'suppose ...'
        self.around: list[Condition] = []  # what the sentence begins with, and may be meant for
        self.cases = 0  # how many ranges of an index came one after the other

    # What the words around formulas make of them.

    def prepare(self) -> None:
        """What the form of the sentence makes of its clauses."""
        if self.clauses and self.clauses[0].part in ("where", "if") and _COUNTERFACTUAL.search(self.sentence.text):
            self._turn("would")  # 'with $lambda = 0$ all weights would be equal'
        claimed = any(clause.formulas for clause in self.clauses if clause.part not in ("if", "reason"))
        for clause in self.clauses if not claimed else ():
            named = clause.cue == "for" and clause.tokens[0].text in ("the", "this", "these", "that")
            if named and not any(is_condition(one.text) or looks_like_a_case(one.text) for one in clause.formulas):
                clause.part = "claim"  # 'for the moved pair $a = b$, because ...': nothing else is said
        inverted = _INVERTED.search(self.sentence.text)
        if inverted is not None:  # 'in no case is $a > b$'
            self._unclear(f"'{inverted['front']}' was not understood")
            self._turn(inverted["front"])

    def _turn(self, word: str) -> None:
        for clause in self.clauses:
            clause.turned = clause.turned or word

    def listen(self) -> None:
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
                if token.kind == "formula" and clause.part == "claim" and opening not in OPENING:
                    clause.turned = clause.turned or words
            plain_words = not clause.formulas and not clause.mentions
            resumed = place > 0 and clause.words[:1] != [] and clause.words[0] in VERBS  # '$a$, unlike $b$, is prime'
            if plain_words and resumed and not lexicon().adds_nothing(clause.words):
                self._unclear(IN_WORDS)
            if place and clause.turned and clause.cue == "but" and plain_words:  # 'but not exactly'
                self._unclear(f"'{clause.turned}' was not understood")

    def _said_in_words(self, clause: Clause) -> bool:
        """'$c$ is not $v_a$', '$c$ is $v_a$': terms are compared, and not by a sign that is read."""
        kinds = [token.kind if token.kind != "word" else token.text for token in clause.tokens]
        if kinds.count("term") > 1 and clause.turned in lexicon().denying and not clause.formulas:
            return True
        stated = any(one.formulas for one in self.clauses)
        doubtful = clause.turned and not (clause.turned.startswith("there") and stated)  # 'there is an $i$ with ...'
        if clause.mentions and doubtful and not clause.formulas and clause.part in ("claim", "where", "reason"):
            return True
        return re.search(r"\bterm (?:is|is not|are) term\b", " ".join(kinds)) is not None

    def _unclear(self, why: str, line: int = 0, role: Role = "unclear") -> None:
        self._put(role, self.sentence.text, line or self.sentence.line, why=why)

    def _put(self, role: Role, text: str, line: int, node: t.Node | None = None, **more: Any) -> None:
        self.all.found.append(Statement(role, text, line, node, sentence=self.sentence.text, **more))

    # What each kind of clause adds.

    def say(self) -> None:
        """Take the clauses one after the other for the parts they play."""
        start = len(self.all.found)
        for place, clause in enumerate(self.clauses):
            self.place = place
            self._notes(clause)
            self.supposing = self.supposing and clause.part == "where"
            match clause.part:
                case "general":
                    self.all.close()
                    self.front = []
                    self._claims(clause)
                case "absurd":
                    self._absurd(clause)
                case "if":
                    self._condition(clause)
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
                case "example" | "suffices":
                    self._add(clause, "example")
                    if clause.cue in lexicon().table("so does") and not clause.formulas:  # 'and so does the third'
                        self._unclear(f"'{clause.cue} {clause.text}' was not understood")
                case "define":
                    self._claims(clause, "definition")
                case "reason":
                    self._claims(clause, "reason")
                case _:
                    self._claims(clause)
        if {one.role for one in self.all.found[start:]} == {"reason"}:  # 'by part (a), $a = b$': it is all that is said
            self.all.chain = len(self.all.found) - 1
        if self.front and start == len(self.all.found):
            self._only_conditions()
        elif self.fresh:  # '$a = b$, the second at $c$': a case in words, and nothing that is said for it
            for one in self.front:
                if one.unknown:
                    self._unclear(f"'{one.unknown}' was not understood")
        if self.front:
            self.all.recent = [one for one in self.front if one.nodes]
            if self.sentence.end == ":" or any(one.part == "if" and one.closed == ":" for one in self.clauses):
                self.all.case, self.all.case_paragraph, self.all.recent = self.front, self.sentence.paragraph, []
                self.all.case_goes_on = self.sentence.end == ":"

    def _only_conditions(self) -> None:
        """Conditions and nothing under them: 'it does so when $a > b$'."""
        every = any(clause.cue in EVERY and not all(map(is_index, self._nodes(clause))) for clause in self.clauses)
        if every or LIMITING & set(re.findall(r"[a-z]+", self.sentence.text)):  # 'it works for $n > 2$ only'
            self._unclear("for what it is said was not understood")
        for one in self.front:
            if one.unknown.startswith(EVERY):  # 'it works for any $lambda$'
                self._unclear(f"'{one.unknown}' was not understood")
        for node in joined(self.front):
            if not isinstance(node, t.Name):
                self._put("condition", plain(node), self.sentence.line, node)
            elif not self._ranges(node):  # 'this works for any $lambda$'
                self._unclear(EVERY_VALUE)

    def _ranges(self, name: t.Name) -> bool:
        """Whether all values of a name are meant anyway: of a given number, or of a length where all is exact."""
        known = name.base in self.all.names
        relations = [one.node for one in self.all.found if isinstance(one.node, t.Relation)]
        exact = all(set(node.comparisons) == {"="} for node in relations)
        given = name.base in INDICES or (name.base in ("epsilon", "delta") and known)
        return given or (exact and self.all.objects.tokens > 0 and known)

    def _notes(self, clause: Clause) -> None:
        """Names that are said to be large or small, and names of the answer's own."""
        self.all.own.update(introduced(clause.tokens))
        for node in sizes(clause.tokens) if clause.part not in ("if", "goal") else ():  # there it is a condition
            name = node.terms[0]
            weight = isinstance(name, t.Name) and name.base == "alpha" and name.index is not None
            self._put("claim" if weight else "where", plain(node), clause.tokens[0].line, node)  # '$alpha_a$ vanishes'

    def _claims(self, clause: Clause, role: Role = "claim") -> None:
        if clause.inside and clause.formulas and role == "claim" and not clause.cue and self._qualifies(clause):
            self._attach(self._nodes(clause), "")
            return
        before = len(self.all.found)
        at = _another(clause) if role == "claim" else None
        if at is not None:  # '$q = k_a$ works too': another choice, not the same one
            self._add(replace(clause, tokens=clause.tokens[:at]), role)
            self._add(replace(clause, tokens=clause.tokens[at:]), "example")
        else:
            self._add(clause, role)
        if len(self.all.found) > before:
            self.last = list(range(before, len(self.all.found)))
            self.fresh = False
        elif clause.cue == "" and not clause.inside and len(clause.words) > 2:
            self.last = []  # a clause in words: a condition after it is not about what was said before it

    def _qualifies(self, clause: Clause) -> bool:
        """Brackets right after a formula with a condition in them: (i != a, b)."""
        if any(one.inside and one.part in ("if", "otherwise") for one in self.clauses[self.place + 1 : self.place + 2]):
            return False  # ($B = 0$ if $k = 1$): it has a case of its own
        nodes = self._nodes(clause)
        return bool(self.last) and bool(nodes) and all(map(plain_condition, nodes))

    def _add(self, clause: Clause, role: Role, why: str = "") -> None:
        if role != "goal" and self._said_in_words(clause):
            why = why or IN_WORDS
            self._put("unclear", clause.text.strip(), clause.tokens[0].line, why=why)
        softly = clause.turned in lexicon().table("softly")  # and the formulas say so themselves
        soft = softly and all(_NEAR.search(one.text) for one in clause.formulas)
        if self.sentence.end in ENDS and not why:
            role, why = "unclear", ENDS[self.sentence.end]
        elif clause.turned and role != "goal" and not soft:
            role, why = "unclear", f"'{clause.turned}' was not understood"
        for number, token in enumerate(clause.formulas):
            denied = clause.part == "deny" and number == 0
            for text, remark in remarks(token.text):
                said = Statement("reason" if remark else role, text, token.line, sentence=self.sentence.text, why=why)
                # What '$a$ and $b$ are equal' says was put together in its clause: its words are there.
                within = self.sentence.tokens if any(one is token for one in self.sentence.tokens) else clause.tokens
                said = replace(said, after=leading(within, token))
                self._formula(replace(token, text=text), said, clause, denied=denied, remark=remark)

    def _formula(self, token: Token, said: Statement, clause: Clause, *, denied: bool, remark: bool) -> None:
        text = token.text
        if leads_on(text) and said.role in ("claim", "reason", "definition"):
            implied = IMPLIED.match(text)
            if implied:
                text = text[implied.end() :]
            elif self._goes_on(token, clause):
                if self._continue(text, token.line):
                    return
            elif self._resumes(token, clause):
                return
            else:
                why = "it begins with a relation, and it is not certain what it goes on with"
                said = replace(said, role="unclear", why=why)
        sure, perhaps, unknown = self._in_force()
        if said.role == "claim" and clause.cue:
            perhaps = (*joined(self.around), *perhaps)
        leads = clause.cue in lexicon().table("following")
        if self.cases and leads and not self.fresh:
            unknown = unknown or WHICH_CASE  # 'for $i \\le m$ A, for $i > m$ B, so C'
        follows = said.role == "claim" and (leads or any(one.nodes for one in self.front))
        said = replace(said, under=sure, perhaps=perhaps, unknown=unknown, loose=token.loose, follows=follows)
        parts = self.all.parsed(text)
        for node, problem in parts:
            line, shown_as = token.line + newlines(node), source_of(node, text) if len(parts) > 1 else text
            node = t.flipped(node) if denied and node is not None else node
            self.all.found.append(replace(said, text=shown_as, line=line, node=node, problem=problem))
        aside = remark or clause.inside or token.goes_on == "aside"
        if not aside and (said.role in ("claim", "definition") or (said.role == "reason" and not clause.cue)):
            self.all.chain = len(self.all.found) - 1

    # What goes on with a chain.

    def _before(self, token: Token, clause: Clause) -> Token | None:
        """What stands right before a formula in its clause."""
        at = next((number for number, one in enumerate(clause.tokens) if one.text.startswith(token.text)), 0)
        return clause.tokens[at - 1] if at else None

    def _goes_on(self, token: Token, clause: Clause) -> bool:
        """A display goes on with the chain before it; within a line, only what stands right behind another formula."""
        if clause.inside or self.all.chain is None:
            return False
        before = self._before(token, clause)
        return token.display or (before is not None and before.kind == "formula")

    def _continue(self, text: str, line: int) -> bool:
        """A formula that begins with a relation goes on with the chain before it; its lines stay where they are."""
        chain = self.all.chain
        if chain is None or self.all.found[chain].why:
            return False
        before = self.all.found[chain]
        gap = "\n" * max(0, line - before.line - before.text.count("\n"))
        whole = f"{before.text} \\\\{gap} {text}"
        parts = self.all.parsed(whole)
        if any(problem is not None for _, problem in parts):
            return False
        (first, _), *more = parts
        self.all.found[chain] = replace(before, text=whole, node=first)
        for node, _ in more:
            at = before.line + newlines(node)
            self.all.found.append(replace(before, text=source_of(node, text), line=at, node=node, problem=None))
        return True

    def _resumes(self, token: Token, clause: Clause) -> bool:
        """After words ('which is at most $c$', 'so $\\le c$') the chain goes on in a statement of its own."""
        last = self._before(token, clause)
        bare = last is None or last.kind == "mark" or last.text in OPENING
        if clause.inside or self.all.chain is None or clause.turned or not (token.goes_on or bare):
            return False
        before, instead = self.all.found[self.all.chain], token.goes_on == "instead"
        sure, perhaps, unknown = self._in_force()
        left = resumable(before, sure, start=self.all.objects.condition)
        if instead:  # another value of what had one for another case
            left = self.all.resumed if before.resumes else resumable(replace(before, under=()), (t.Name("case"),))
        if left is None or before.why:
            return False
        parts = self.all.parsed(f"{source_of(left, '')} {token.text}")
        if any(node is None for node, _ in parts):
            return False
        other = any(is_index(part) for part in sure)  # 'for $i > m$ it is ...' is not said for $i \\le m$ too
        tied = [part for part in before.under if part not in sure and ((is_index(part) and not other) or not sure)]
        under = sure if instead else (*tied, *sure)
        with_it = (*before.resumes, before.node) if before.node is not None else before.resumes
        for node, _ in parts:
            self._put("claim", source_of(node, token.text), token.line, node, under=under, perhaps=perhaps,
                      unknown=unknown, loose=token.loose, resumes=with_it)  # fmt: skip
        self.all.chain, self.all.resumed = len(self.all.found) - 1, left
        return True

    # Conditions.

    def _in_force(self) -> Scope:
        return self.all.in_force(self.front)

    def _nodes(self, clause: Clause) -> tuple[t.Node, ...]:
        found: list[t.Node] = []
        for token in clause.tokens:
            if token.kind == "term" and OTHERS & set(clause.words):
                continue  # 'for all other $i$': of those that were not named, as a bare $i$ is
            every = clause.cue in EVERY and _LETTERS.fullmatch(token.text)
            if token.kind == "formula" or (token.kind == "term" and (every or _LETTER.fullmatch(token.text))):
                found += [node for node, _ in self.all.parsed(token.text) if node is not None]
        return tuple(found)

    def _unread(self, clause: Clause) -> str:
        """The words of a condition that was not understood; '' where it was."""
        if clause.turned and clause.part != "suppose":
            return clause.text
        if any(problem for token in clause.formulas for _, problem in self.all.parsed(token.text)):
            return clause.text
        over = clause.cue.startswith(("for", "over"))
        words = " ".join(clause.words)
        words = next((words.removesuffix(end) for end in lexicon().table("enough") if words.endswith(end)), words)
        known = all(word in lexicon().table("ranging") for word in words.split())
        if over and not known and any(map(is_index, self._nodes(clause))):
            return clause.text  # 'for one $i \\ne a$', 'for all even $i$'
        letters = any(token.kind == "term" and _LETTERS.fullmatch(token.text) for token in clause.tokens)
        ranging = letters and over and lexicon().adds_nothing(clause.words)
        return "" if clause.formulas or any(sizes(clause.tokens)) or ranging else clause.text

    def _is_read(self, clause: Clause) -> bool:
        """Whether what stands in a clause could be a condition."""
        return not self._unread(replace(clause, part="if", cue="if"))

    def _condition(self, clause: Clause) -> None:
        unknown = self._unread(clause)
        nodes = tuple(part for node in (*self._nodes(clause), *sizes(clause.tokens)) for part in t.listed(node))
        if clause.cue == "unless":
            turned = len(nodes) == 1 and t.flips(nodes[0])
            nodes, unknown = ((t.flipped(nodes[0]),), unknown) if turned else ((), unknown or clause.text)
            self._unclear("'unless' may deny it for the rest")
        self.complement = nodes
        following = [one for one in self.clauses[self.place + 1 :] if one.formulas]
        claimed = any(one.part in ("claim", "define", "otherwise", "deny") for one in following)
        if not self.last or (claimed and clause.after in BEFORE_A_CASE):
            self._in_front(clause, nodes, unknown)
        elif clause.turned:
            self._void(clause.turned)
        elif self._says_more(clause, nodes):
            self._unclear(f"'{clause.text}' was not understood")
        elif self.place and ends_in_words(self.clauses[self.place - 1]):  # '$V = a + b$, which vanishes as $a -> 0$'
            for number in self.last:
                one = self.all.found[number]
                self.all.found[number] = replace(one, perhaps=(*one.perhaps, *nodes), unknown=one.unknown or unknown)
        else:
            self._attach(nodes, unknown)

    def _says_more(self, clause: Clause, nodes: tuple[t.Node, ...]) -> bool:
        """'for $g < 1$ we get $a$, and for $g > 1$ as well', 'as it does for $g > 1$': a claim of its own, in words."""
        last = max((at for at, token in enumerate(clause.tokens) if token.kind == "formula"), default=-1)
        behind = [token.text for token in clause.tokens[last + 1 :] if token.kind == "word"] if last >= 0 else []
        another = clause.after in JOINED and bool(bases(nodes) & bases(joined(self.front)))
        again = clause.mentions and bool(AGAIN & set(clause.words))  # 'the score at $k_a$ is $x$, at $k_b$ too'
        return another or again or clause.after in REPEATING or not lexicon().adds_nothing(behind)

    def _in_front(self, clause: Clause, nodes: tuple[t.Node, ...], unknown: str) -> None:
        """A condition before what it is about."""
        if clause.turned:
            self.front = [Condition((), unknown)]
            return
        if not self.fresh:
            self.cases += any(map(is_index, joined(self.front)))
            self.front, self.fresh = [], True
        if clause.closed == ":" or bases(nodes) & bases(joined(self.all.case)):
            self.all.case = []  # the next case
        last = self.front[-1] if self.front and any(map(is_index, nodes)) else None
        if last is None:
            self.front.append(Condition(nodes, unknown))
        else:  # 'if k_j^T q > k_i^T q for all i != j, then': the second says for which i the first is meant.
            self.front[-1] = Condition(said_for(last.nodes, nodes), last.unknown or unknown)

    def _attach(self, nodes: tuple[t.Node, ...], unknown: str) -> None:
        """A condition after what it is about: surely about the last statement, perhaps about those before it."""
        for number in reversed(self.last):
            one = self.all.found[number]
            mine = tuple(node for node in nodes if not is_index(node) or has_letter_of(one.node, node))
            if number == self.last[-1]:
                # 'for g > 1 we get A, while B for g < 1': the second case is not within the first.
                front, about = joined(self.front), bases(mine)
                kept = [node for node in one.under if node not in front or not about & bases((node,))]
                self.all.found[number] = replace(one, under=(*kept, *mine), unknown=one.unknown or unknown)
            else:
                loose = tuple(node for node in mine if not is_index(node))
                tied = tuple(node for node in mine if is_index(node))
                self.all.found[number] = replace(one, under=(*one.under, *tied), perhaps=(*one.perhaps, *loose))
        if not self.last and unknown:
            self.front.append(Condition((), unknown))

    def _void(self, word: str) -> None:
        for number in self.last:
            why = f"'{word}' was not understood"
            self.all.found[number] = replace(self.all.found[number], role="unclear", why=why)

    def _suppose(self, clause: Clause) -> None:
        nodes, unknown = self._nodes(clause), self._unread(clause)
        if clause.turned:
            nodes, unknown = (), unknown or clause.turned
        for token in clause.formulas:
            for node, problem in self.all.parsed(token.text):
                why = "" if node is not None else "it cannot be read"
                self._put("assumption", source_of(node, token.text), token.line, node, why=why, problem=problem)
        if clause.formulas or clause.mentions:  # and not 'we assume the setting above'
            self.all.supposed.append(Condition(nodes, unknown))
            self.last, self.supposing = [], True

    def _where(self, clause: Clause) -> None:
        if clause.cue == "here":  # 'here $alpha_a > 1/2$' is claimed
            self._claims(clause)
            return
        if clause.turned:
            self._add(clause, "where")
            self._void(clause.turned)
            return
        nodes = self._nodes(clause)
        if self.supposing and clause.formulas and self._is_read(clause):  # 'suppose a = b with c > 0'
            last = self.all.supposed.pop()
            self.all.supposed.append(replace(last, nodes=(*last.nodes, *nodes)))
            return
        case = clause.formulas and not any(isinstance(node, t.Relation) and "~" in node.comparisons for node in nodes)
        if self.front and not self.last and case and self._is_read(clause):
            self.front.append(Condition(nodes))  # 'if a = b with c > 0, then'; 'where alpha_j ~ 1' is no condition
            return
        before, opens = len(self.all.found), not self.last
        self._add(clause, "where")
        if len(self.all.found) > before:
            self.last = list(range(before, len(self.all.found)))
            if opens:  # 'with $q = 0$ we get ...'
                tried = (
                    node for node in nodes if isinstance(node, t.Relation) and isinstance(node.terms[-1], t.Number)
                )
                self.around = [Condition(tuple(tried))]

    def _otherwise(self, clause: Clause) -> None:
        """In the other cases: of what was said last, turned round."""
        argued = self.place > 0 and self.clauses[self.place - 1].closed == ":"
        if _COUNTERFACTUAL.search(self.sentence.text) or argued:
            self.front = [Condition((), "otherwise")]  # 'A for B: otherwise C would be so' speaks of what is not so
            self._claims(clause)
            return
        if clause.mentions and not clause.formulas:  # '$a = x$ for $c = 1$, otherwise $y$'
            self._unclear(f"'otherwise {clause.text}' was not understood")
            return
        before, said = self.complement, self.all.found[self.last[-1]] if self.last else None
        match said.node if said is not None else None:
            case t.Logic("implies", (condition, _)) if not before:
                before = (condition,)
        left_out = left_out_of(before)
        if left_out and said is not None and not clause.formulas:
            self._instead(said, *left_out)
            return
        turned = len(before) == 1 and not left_out and turns(before[0])
        nodes = (t.flipped(before[0]),) if turned else ()
        unknown = "" if nodes or not (before or clause.formulas) else "otherwise"
        if clause.formulas:
            self.front = [Condition(nodes, unknown)]
            self._claims(clause)
        elif said is not None:
            free = any(name.index is not None and any(t.every_name(name.index)) for name in t.every_name(said.node))
            self._attach(nodes, unknown or ("" if nodes or free else "otherwise"))

    def _instead(self, said: Statement, letter: str, others: Sequence[t.Node]) -> None:
        """'0 for i != a, b and 1 otherwise': the second is said of a and of b."""
        if said.node is None:
            return
        del self.all.found[self.last[-1]]
        self.last = list(range(len(self.all.found), len(self.all.found) + len(others)))
        for node in (t.with_index(said.node, letter, other) for other in others):
            self.all.found.append(replace(said, node=node, text=plain(node)))

    def _only(self, clause: Clause) -> None:
        """'A only for B' says that A implies B."""
        nodes = self._nodes(clause)
        if not self.last or not nodes or clause.turned or not self._is_read(clause):
            self._void("only")
            if not self.last:  # 'this works only if $a > b$'
                self._unclear("'only' was not understood")
            return
        one = self.all.found[self.last[-1]]
        if one.node is not None:
            goal = nodes[0] if len(nodes) == 1 else t.Logic("and", nodes)
            self.all.found[self.last[-1]] = replace(one, node=t.Logic("implies", (one.node, goal), span=one.node.span))

    def _absurd(self, clause: Clause) -> None:
        """A contradiction: what was supposed, or what the sentence began with, is said never to be so."""
        supposed = next((one for one in (*self.front[-1:], *self.all.supposed[-1:]) if not one.unknown), None)
        if supposed is None or clause.turned:
            clause.turned = clause.turned or "impossible"
            self._add(clause, "unclear", f"'{clause.turned}' was not understood")
            if not clause.formulas:  # '$a > b$ is impossible'
                self._void(clause.turned)
            for later in self.clauses:
                if not (later.part in ("claim", "define") and later.cue):
                    later.turned = later.turned or clause.turned
            return
        if self.all.supposed and supposed is self.all.supposed[-1]:
            self.all.supposed[-1] = replace(supposed, absurd=True)
        else:
            self.front.remove(supposed)
        self._contradicted(supposed.nodes)
        self._claims(clause)
        if len(supposed.nodes) == 1 and t.flips(supposed.nodes[0]):
            never = t.flipped(supposed.nodes[0])
            self._put("claim", plain(never), self.sentence.line, never)

    def _contradicted(self, supposed: Collection[t.Node]) -> None:
        """What was derived last is said to be false: where it is true anyway, there is no contradiction."""
        last = self.all.found[-1] if self.all.found else None
        if last is None or last.node is None or last.role != "claim" or last.why or last.unknown:
            return
        if t.flips(last.node) and set(supposed) <= set(last.under):
            never, under = t.flipped(last.node), tuple(node for node in last.under if node not in supposed)
            self.all.found.append(replace(last, text=plain(never), node=never, under=under, tentative=True))


def _another(clause: Clause) -> int | None:
    """Where the last formula of a clause stands, if '... works too', '... would also do' stands behind it."""
    at = max((number for number, token in enumerate(clause.tokens) if token.kind == "formula"), default=None)
    said = " ".join(token.text for token in clause.tokens[-1 if at is None else at :] if token.kind == "word")
    also = _ALSO.fullmatch(said) is not None and any(one in said for one in ("also", "too", "well"))
    return at if also else None
