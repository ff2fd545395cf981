"""Clauses: a sentence cut where a word of the lexicon changes what the formulas after it are.

'If $g > 1$ then $c = v_a$, since $s_a > s_b$' has three clauses: a case, a claim and a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from headwright.check.reading.cases import looks_like_a_case
from headwright.check.reading.lexicon import LONGEST_PHRASE, lexicon
from headwright.check.reading.predicates import spoken
from headwright.check.reading.sentences import Sentence, Token, shown, words_from

# These begin something new: a word before them that may turn a meaning does not reach beyond.
STRONG = ("claim", "define", "suppose", "general", "example", "goal", "deny", "suffices")
FRESH = frozenset({"but", "so", "hence", "thus", "therefore", "then", "consequently", "and so"})
# What is supposed is that something said before is not so; which that is follows: 'suppose not, so $a > b$'.
_DENIALS = frozenset({"suppose not", "suppose otherwise", "assume not", "assume otherwise"})
# What follows says the same once more.
SAME = frozenset({"i.e.", "ie", "that is to say", "namely", "in other words"})
IMPLIES = frozenset({"implies", "would imply", "forces", "would force", "would mean"})
# Without a formula after them these are plain words: 'for simplicity', 'with this', 'as in part (b)'.
LIGHT = frozenset(
    {"for", "at", "with", "by", "using", "from", "as", "given", "here", "case", "over all", "use", "under"}
)


_SET_DOWN = re.compile(r"\s*q(?:_\w|_\{\w\})?\s*=(?!.*[=<>≤≥≈])")
_LIMIT = re.compile(r"\\(?:to|(?:long)?rightarrow|downarrow|searrow|infty)(?![a-zA-Z])|->|→")


@dataclass
class Clause:
    """A stretch of a sentence whose formulas play one part."""

    part: str
    cue: str = ""
    tokens: list[Token] = field(default_factory=list)
    after: str = ""  # what stands right before it: ',' or 'and', '' for the start, or something else
    turned: str = ""  # a word that may turn its meaning
    inside: bool = False  # in brackets
    closed: str = ""  # the mark that ended it: ',' or ':'

    @property
    def formulas(self) -> list[Token]:
        """What it states."""
        return [token for token in self.tokens if token.kind == "formula"]

    @property
    def words(self) -> list[str]:
        """Its words alone."""
        return [token.text for token in self.tokens if token.kind == "word"]

    @property
    def mentions(self) -> bool:
        """Whether a term stands in it."""
        return any(token.kind == "term" for token in self.tokens)

    @property
    def text(self) -> str:
        """For showing: with the words that opened it."""
        return f"{self.cue} {shown(self.tokens)}".rstrip(" ,:")


def clauses(sentence: Sentence) -> list[Clause]:
    r"""The clauses of a sentence, in order.

    >>> from headwright.check.reading.sentences import sentences
    >>> from headwright.check.reading.written import Written
    >>> one, = sentences(Written("If $g > 1$ then $c = v_a$, since $s_a > s_b$"))
    >>> [(clause.part, clause.formulas[0].text) for clause in clauses(one)]
    [('if', 'g > 1'), ('claim', 'c = v_a'), ('reason', 's_a > s_b')]
    """
    return _Cutter(spoken(sentence.tokens)).cut()


class _Cutter:
    """Goes through the tokens of a sentence once."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._done: list[Clause] = []
        self._now = Clause("claim")
        self._outer: list[Clause] = []

    def cut(self) -> list[Clause]:
        at = 0
        while at < len(self._tokens):
            token = self._tokens[at]
            if token.kind == "word":
                at += self._word(at)
                continue
            if token.kind == "mark":
                self._mark(token, at)
            else:
                self._formula(token, at)
            at += 1
        for clause in (*self._outer, self._now):
            if not any(one is clause for one in self._done):
                self._done.append(clause)
        found = [
            one for one in self._done if one.tokens or one.turned or one.part in ("general", "absurd", "otherwise")
        ]
        _spread(found)
        return found

    def _words_at(self, at: int) -> list[str]:
        return words_from(self._tokens[: at + LONGEST_PHRASE + 1], at)

    def _word(self, at: int) -> int:
        """Take a word, or the phrase of the lexicon that begins with it; how many words that were."""
        words = self._words_at(at)
        phrase = lexicon().part(words)
        if phrase is None:
            self._now.tokens.append(self._tokens[at])
            return 1
        size, cue = phrase.words, " ".join(words[: phrase.words])
        if at == 0 and cue in ("no", "yes") and self._text(1) in (",", ":"):
            return 1
        if phrase.part == "claim" and self._denies_only():
            return size  # 'suppose not, so $a > b$': that is what is supposed
        if phrase.part == "turning":
            self._now.turned = self._now.turned or cue
        if phrase.part == "turning" or self._is_plain(phrase.part, cue, at, size):
            self._now.tokens += self._tokens[at : at + size]
            return size
        claimed = self._now.part == "claim" and not self._now.inside
        if cue in IMPLIES and claimed and self._tokens[at - 1].kind == "formula":
            self._now.part = "if"  # '$a = b$ implies $c = d$' claims neither
        self._open("if" if cue == "as" and self._is_limit(at + 1) else phrase.part, cue, at)
        return size

    def _is_plain(self, part: str, cue: str, at: int, size: int) -> bool:
        """Whether a phrase that may open a clause is made of plain words here."""
        if part == "idle" or (cue in LIGHT and not self._formula_follows(at + size)):
            return True
        if self._now.part == "goal" and cue in SAME and self._now.formulas:
            return True  # 'we need A, i.e. B': B is needed too
        if cue == "then" and at > 0 and self._text(at - 1) in ("is", "are"):
            return True  # 'the mean of $a$ and $b$ is then $c$' says it of the mean
        return cue == "here" and part == "where" and at > 0

    def _text(self, at: int) -> str:
        return self._tokens[at].text if at < len(self._tokens) else ""

    def _open(self, part: str, cue: str, at: int) -> None:
        before = self._tokens[at - 1] if at else None
        after = "" if before is None else before.text if before.kind in ("mark", "word") else "formula"
        inside = self._now.inside
        if self._now.tokens or self._now.turned or self._now.part in ("general", "absurd", "otherwise"):
            self._push()
        self._now = Clause(part, cue, after=after, inside=inside)

    def _push(self) -> None:
        if not any(one is self._now for one in self._done):
            self._done.append(self._now)

    def _formula_follows(self, at: int) -> bool:
        """Whether a formula or a term comes before the next mark or word of the lexicon."""
        while at < len(self._tokens):
            token = self._tokens[at]
            if token.kind in ("formula", "term"):
                return True
            if token.kind == "mark":
                return False
            phrase = lexicon().part(self._words_at(at))
            if phrase is not None and phrase.part not in ("idle", "turning"):
                return False
            at += phrase.words if phrase is not None else 1
        return False

    def _is_limit(self, at: int) -> bool:
        for place, token in enumerate(self._tokens[at : at + 6], at):
            if token.kind == "formula":
                return _LIMIT.search(token.text) is not None
            if token.kind == "term":
                words = self._words_at(place + 1)
                return any(lexicon().adjective(words[start:]) for start in range(min(3, len(words))))
            if token.kind == "mark":
                return False
        return False

    def _mark(self, token: Token, at: int) -> None:
        now = self._now
        if token.text == "(":
            self._push()
            self._outer.append(now)
            self._now = Clause("claim", inside=True)
        elif token.text == ")":
            if self._outer:
                self._push()
                outer, told = self._outer.pop(), now.tokens
                following = self._tokens[at + 1].text if at + 1 < len(self._tokens) else ","
                case = len(told) == 1 and looks_like_a_case(told[0].text) and following in (",", "and", "while", "but")
                if outer.part == "claim" and outer.formulas and case:
                    # '$c = v_a$ ($g > 1$), $c = v_b$ ($g < 1$)': the case is that of what stands before it
                    self._now = Clause("claim", after=")", inside=outer.inside)
                else:
                    self._now = outer
        elif token.text in (",", ":"):
            if token.text == ":" and not now.cue and len(now.tokens) == 1 and looks_like_a_case(now.tokens[0].text):
                now.part, now.cue = "if", "case"  # '... . $c = 3/2$: ...'
            now.tokens.append(token)
            if self._ends(token.text, at) or (token.text == ":" and self._sets_down(at)):
                now.closed = token.text
                self._push()
                self._now = Clause("claim", after=token.text, inside=now.inside)

    def _sets_down(self, at: int) -> bool:
        """'$q_1 = 2 t u$: the score of ...' begins with an object; what is said of it behind the colon is no part."""
        if at != 1 or _SET_DOWN.match(self._tokens[0].text) is None:
            return False
        ahead = range(at + 1, len(self._tokens))
        found = [lexicon().part(self._words_at(place)) for place in ahead if self._tokens[place].kind == "word"]
        return all(one is None or one.part not in ("turning", "absurd", "example", "goal") for one in found)

    def _ends(self, mark: str, at: int) -> bool:
        now = self._now
        something = any(token.kind in ("formula", "term") for token in now.tokens)
        if now.part == "goal":
            return something and now.cue.startswith(("to ", "in order"))
        if now.part == "if" and not something:
            return True  # in words alone: 'if all keys are orthogonal, ...'
        if self._denies_only():
            return False
        following = self._tokens[at + 1] if at + 1 < len(self._tokens) else None
        if now.part == "define":
            return something and mark == "," and following is not None and following.kind == "word"
        if now.part not in ("if", "where", "suppose", "reason", "example", "deny", "only", "suffices"):
            return False
        if mark == ":":
            return True
        if now.part == "suppose" and following is not None and following.kind == "formula":
            return False
        if now.part == "if" and following is not None and following.kind == "formula" and self._then_follows(at + 1):
            return False
        return something or now.part in ("reason", "suppose")

    def _denies_only(self) -> bool:
        """Whether the clause so far is 'suppose not'."""
        return self._now.cue in _DENIALS and not self._now.formulas

    def _then_follows(self, at: int) -> bool:
        """Whether 'then' comes before another case is opened."""
        for place in range(at, len(self._tokens)):
            words = self._words_at(place)
            phrase = lexicon().part(words)
            if words[:1] == ["then"]:
                return True
            if phrase is not None and phrase.part in ("if", "claim", "otherwise", "suppose"):
                return False
        return False

    def _formula(self, token: Token, at: int) -> None:
        after = self._claimed_behind(token, at)
        if after:
            self._now.closed = after
            self._push()
            self._now = Clause("claim", after=after, inside=self._now.inside)
        self._now.tokens.append(token)

    def _claimed_behind(self, token: Token, at: int) -> str:
        """What stands before a formula that is a claim again, and no part of a condition; '' where it is one."""
        now, before = self._now, self._tokens[at - 1] if at else None
        if before is None or now.part in ("claim", "define"):
            return ""
        ranging = [one.text for one in now.tokens if one.kind in ("formula", "term")]  # 'for every $i$ and $a = b$'
        joined = before.text in ("and", "while", "even") and token.kind == "formula"
        if joined and ranging and now.part in ("if", "only"):
            # 'A for i != a and B for i = a': what follows 'and' is a claim again, unless it looks like a condition.
            alike = any(looks(token.text) and looks(ranging[-1]) for looks in (is_condition, looks_like_a_case))
            first = not any(one.formulas for one in self._done)
            both = now.part == "if" and first and self._then_follows(at + 1)  # 'if A and B then C'
            return before.text if not (alike or both) or self._own_case(at + 1) else ""
        if token.goes_on in ("end", "instead"):  # 'for $c = 1$ that gives $x$'
            return "formula"
        display = token.display and before.kind == token.kind == "formula"  # 'hence for $i \\le m$', and a display
        return "formula" if display and now.part == "if" and not is_condition(token.text) else ""

    def _own_case(self, at: int) -> bool:
        phrase = lexicon().part(self._words_at(at))
        return phrase is not None and phrase.part in ("if", "otherwise")


def is_condition(text: str) -> bool:
    """Whether a formula looks like a condition rather than a result: names and numbers on both sides.

    >>> is_condition("i \\\\ne a, b"), is_condition("k_i^T q = 0")
    (True, False)
    """
    plain = "".join(text.split())
    return len(plain) < 24 and not any(sign in plain for sign in ("^", "(", "frac", "sum", "+", "v_", "alpha", "k_"))


TRIED = frozenset(
    {"might", "may", "could", "try", "tried", "tempting", "naive", "naively", "attempt", "guess", "think"}
)


def _spread(found: Sequence[Clause]) -> None:
    """A word that may turn a meaning reaches over the clauses that hang on its own."""
    turned, bare = "", False
    for clause in found:
        if clause.inside:  # brackets keep to themselves; with a word of their own, what is outside does not reach in
            clause.turned = clause.turned or ("" if clause.cue else turned)
            continue
        hangs = bare and clause.after not in (",", ":") and clause.cue not in FRESH
        hangs = hangs or (turned in TRIED and clause.cue in ("but", "then"))  # 'one might try $a$, but then $b$'
        if clause.part in STRONG and clause.cue and not hangs:
            turned = ""
        turned = clause.turned or turned
        clause.turned = turned
        bare = bool(clause.turned) and not clause.formulas  # 'do not' before 'take'
