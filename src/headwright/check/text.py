"""The formulas of an answer, each with the kind of its sentence and the conditions that bind it.

A sentence is neutral (connectives and verbs of stating only) or worded. A clause with a turning word (not, never,
would, ...) is quoted, and so is what follows from a hypothetical one. Brackets are sentences of their own. Words are
never judged; sentences with words beyond connectives are listed to read.

Binding words are syntax: 'for all i', 'if g > 1', 'where lambda > 0', 'Case c = 1/2:'. Where a binding word is followed
by something that is not read, its formula carries a `doubt`: nothing is proved for a wider range than was written.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Literal

from headwright.check.markdown import Written
from headwright.check.sentences import Sentence, Token, sentences
from headwright.formula import FormulaError, goes_on, joined, macros, parse_each
from headwright.formula import tree as t
from headwright.formula.parse import Macro

Kind = Literal["neutral", "turned", "worded"]
Role = Literal["claim", "condition", "wanted", "size"]
MOST_STATEMENTS = 400
OTHERS = t.Name("others")  # 'for all other i': i is none of the things that have a name


@dataclass(frozen=True)
class Statement:
    """One formula of an answer."""

    text: str
    line: int
    node: t.Node | None
    kind: Kind = "neutral"
    role: Role = "claim"
    problem: FormulaError | None = field(default=None, compare=False)
    display: bool = False
    under: tuple[t.Node, ...] = ()  # what it is said for
    doubt: str = ""  # words of a condition that was not read
    strict: bool = False  # ... and they may narrow it: nothing is proved of it
    binder: str = ""  # the word that made it a condition
    lets: bool = False  # introduced by 'let', 'take', 'with', ...
    follows: bool = False  # introduced by 'so', 'then', 'hence', ...
    reason: bool = False  # introduced by 'since', 'because', 'as'
    example: bool = False  # 'for instance'
    size: str = ""  # said to be 'large' or 'small'
    number: int = 0
    sentence: int = 0
    paragraph: int = 0
    earlier: tuple[t.Node, ...] = ()  # conditions that were stated before it in its paragraph
    clouded: bool = False  # one of these is in words, or quoted
    picked: str = ""  # words that may pick out or change what it is about


@dataclass(frozen=True)
class Text:
    """What was read: the formulas in order, and the sentences that a person has to read."""

    statements: tuple[Statement, ...]
    to_read: tuple[tuple[int, str], ...] = ()
    described: frozenset[str] = frozenset()  # names that are described in words: 'let S' be S without its last row'


def read(written: Written, names: Collection[str] = (), given: Collection[str] = ()) -> Text:
    r"""The statements of an answer; `names` are words of several letters that the exercise knows.

    `given` are the numbers that the exercise leaves open: 'for n = 4, m = 3' are two conditions.

    >>> found = read(Written(r"If $g > 1$ then $c \approx v_a$. It is not $c = 0$."))
    >>> [(one.role, one.kind, one.text, len(one.under)) for one in found.statements]
    [('condition', 'neutral', 'g > 1', 0), ('claim', 'neutral', 'c \\approx v_a', 1), ('claim', 'turned', 'c = 0', 0)]
    """
    reader = _Reader(tuple(names), frozenset(given), macros(written.macros + "\n" + written.text))
    for number, sentence in enumerate(_apart(sentences(written))):
        reader.hear(sentence, number)
        if len(reader.found) > MOST_STATEMENTS:
            break
    found = [replace(one, number=number) for number, one in enumerate(reader.found[:MOST_STATEMENTS])]
    return Text(tuple(found), tuple(reader.to_read), frozenset(reader.described))


# Words.


@lru_cache(maxsize=1)
def word_list() -> Mapping[str, frozenset[str]]:
    """The words by their sections."""
    given = tomllib.loads((Path(__file__).parent / "words.toml").read_text())
    return {name: frozenset(words.split()) for name, words in given.items()}


def kind_of(words: Collection[str]) -> Kind:
    """The kind of a sentence or clause with these words.

    >>> kind_of(["take", "a", "large"]), kind_of(["it", "is", "not", "true"]), kind_of(["by", "symmetry"])
    ('neutral', 'turned', 'worded')
    """
    lists = word_list()
    if any(map(turns, words)):
        return "turned"
    known = lists["neutral"] | lists["size"] | lists["binding"] | lists["relation"] | lists["wanted"]
    return "neutral" if all(word in known or len(word) == 1 or word.isdigit() for word in words) else "worded"


def turns(word: str) -> bool:
    """Whether a word turns its clause: what stands in it is not asserted."""
    return word in word_list()["turned"] or word in word_list()["hypothetical"] or word.endswith("n't")


_PHRASES = {
    "at first": "naive", "first idea": "naive", "i thought": "naive", "would like": "want", "no matter": "for all",
    "not only": "also", "if and only if": "iff", "common slip": "mistake", "at most": "about", "at least": "about",
}  # fmt: skip
_PHRASE = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\b")


def words_of(tokens: Sequence[Token]) -> list[str]:
    """The words of some tokens, with phrases that change what their words do put into one word.

    >>> words_of([Token("word", "at", 1), Token("word", "first", 1)])
    ['naive']
    """
    text = " ".join(one.text for one in tokens if one.kind == "word")
    return _PHRASE.sub(lambda found: _PHRASES[found[0]], text).split()


def _lead(tokens: Sequence[Token], at: int) -> list[str]:
    """The words right before a place."""
    return [one.text for one in takewhile(lambda one: one.kind == "word", reversed(tokens[:at]))][::-1]


def _trail(tokens: Sequence[Token], at: int) -> list[str]:
    """The words right after a place."""
    return [one.text for one in takewhile(lambda one: one.kind == "word", tokens[at + 1 :])]


_AS_ONE = {
    ("as", "long", "as"): "if", ("as", "soon", "as"): "if", ("in", "the", "event"): "if", ("in", "case"): "if",
    ("on", "the", "event"): "if", ("provided", "that"): "if", ("such", "that"): "with", ("the", "only"): "the",
    ("its", "only"): "its",
    ("so", "long", "as"): "if", ("if", "and", "only", "if"): "iff", ("for", "which"): "with", ("that", "is"): "i.e.",
}  # fmt: skip


def _as_one(tokens: Sequence[Token]) -> list[Token]:
    """Phrases that bind as one word does."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        texts = tuple(one.text if one.kind == "word" else "" for one in tokens[at : at + 4])
        length = next((n for n in (4, 3, 2) if texts[:n] in _AS_ONE), 0)
        if length and texts[:2] == ("that", "is") and at and tokens[at - 1].kind != "mark":
            length = 0  # 'a number that is large'
        found.append(replace(tokens[at], text=_AS_ONE[texts[:length]]) if length else tokens[at])
        at += length or 1
    return found


# Brackets, clauses, relation phrases.


def _apart(given: Sequence[Sentence]) -> Iterator[Sentence]:
    """Brackets as sentences of their own, after the one they stand in; 'x > 0 (i != a)' has a condition in them."""
    for sentence in given:
        outer: list[Token] = []
        inner: list[list[Token]] = []
        held: list[Token] | None = None
        for at, token in enumerate(sentence.tokens):
            mark = token.text if token.kind == "mark" else ""
            if mark == "(" and held is None:
                held = []
            elif mark == ")" and held is not None:
                next_one = sentence.tokens[at + 1] if at + 1 < len(sentence.tokens) else Token("mark", "", 0)
                leads = next_one.kind == "formula" and not (outer and outer[-1].kind in ("formula", "word"))
                case = next_one.text == ":" or leads or (bool(outer) and _conditional(outer))
                formula = bool(outer) and outer[-1].kind == "formula"
                if _binds(held) and (formula or (case and all(map(_names_a_case, held)))):
                    outer += [Token("word", "for", held[0].line), *(held[1:] if held[0].kind == "word" else held)]
                elif held:
                    inner.append(held)
                held = None
            elif mark != ")":
                (outer if held is None else held).append(token)
        inner += [held] if held else []
        if outer:
            yield replace(sentence, tokens=tuple(outer))
        yield from (Sentence(tuple(tokens), sentence.paragraph) for tokens in inner)


_CASE = re.compile(r"\s*\\?[a-zA-Z]+(?:_\w)?\s*(?:=|<|>|\\[lg]eq?|\\[lg]t)\s*(?:\\[td]?frac)?[\s\d./{}-]+\s*")


def _names_a_case(token: Token) -> bool:
    """c = 1/2, g > 1."""
    return token.kind == "formula" and _CASE.fullmatch(token.text) is not None


def _conditional(outer: Sequence[Token]) -> bool:
    """'when the key is short (c = 1/2)': the bracket is the condition."""
    return bool({"if", "when", "for"} & set(_lead(outer, len(outer))))


def _binds(held: Sequence[Token]) -> bool:
    """Whether a bracket behind a formula is a condition: (i != a, b), (for all i)."""
    first = next((at for at, one in enumerate(held) if one.kind in ("formula", "term")), None)
    if first is None or any(one.kind == "word" for one in held[first:]):
        return False
    return first == 0 or (held[0].kind == "word" and held[0].text in ("for", "if", "when"))


_OPENERS = frozenset(
    ("but", "however", "although", "though", "because", "since", "so", "hence", "thus", "therefore", "whereas", "while",
     "which", "whose", "yet", "then")
)  # fmt: skip


@dataclass(frozen=True)
class _Clause:
    """A run of tokens, from one mark or connective to the next."""

    start: int
    stop: int
    words: tuple[str, ...]
    quoted: bool
    wanted: bool


def _clauses(tokens: Sequence[Token]) -> list[_Clause]:
    """The clauses of a sentence; one that consists of formulas only belongs to the one before it."""
    cuts = [0]
    for at, token in enumerate(tokens):
        opens = token.kind == "word" and token.text in _OPENERS
        if at > cuts[-1] and (opens or (token.kind == "mark" and token.text in ",;:")):
            cuts.append(at)
    found: list[_Clause] = []
    for start, stop in pairwise((*cuts, len(tokens))):
        words = words_of(tokens[start:stop])
        listed = bool(found) and any(one.kind == "formula" for one in tokens[found[-1].start : found[-1].stop])
        if listed and all(word in ("and", "or") for word in words) and tokens[start].text != ":":
            found.append(replace(found[-1], start=start, stop=stop))
            continue
        more = words[:1] in (["i.e."], ["namely"], ["equivalently"])
        announced = bool(found) and tokens[start].text == ":" and found[-1].quoted and len(found[-1].words) < 3
        if found and (more or announced):
            found.append(replace(found[-1], start=start, stop=stop))
            continue
        first = next((at for at in range(start, stop) if tokens[at].kind == "formula"), stop)
        wanted = bool(word_list()["wanted"] & set(words_of(tokens[start:first])))
        quoted = any(turns(word) for word in words if not (wanted and word == "would"))
        found.append(_Clause(start, stop, tuple(words), quoted or ("were" in words and "if" in words), wanted))
    return found


_SIGNS = {
    "is": "=", "are": "=", "equals": "=", "is equal to": "=", "becomes": "=", "is at most": r"\le",
    "is at least": r"\ge", "is less than": "<", "is smaller than": "<", "is below": "<", "is larger than": ">",
    "is greater than": ">", "is above": ">", "is much larger than": r"\gg", "is about": r"\approx",
    "is close to": r"\approx", "implies": r"\implies", "implies that": r"\implies", "tends to": r"\to",
    "goes to": r"\to", "approaches": r"\to", "converges to": r"\to", "tend to": r"\to",
}  # fmt: skip
_NOT_SUBJECTS = frozenset(
    ("of", "in", "for", "to", "from", "by", "on", "at", "between", "than", "with", "against", "over", "key", "token",
     "head", "row", "column", "position", "index", "entry", "and", "or", "times")
)  # fmt: skip


_COMPARED = re.compile(
    r"(?:is|are|must be|should be|has to be|have to be) (?:(?P<much>much|significantly|far|considerably|a lot) )?"
    r"(?:(?P<more>larger|greater|bigger|higher)|(?P<less>smaller|less|lower)) than(?P<rest>(?: \w+)*)"
    r"|(?:is|must be|should be|has to be) (?:very )?(?P<large>large) (?:relative to|compared (?:to|with))"
    r"(?P<also>(?: \w+)*)"
)
_SCORES = frozenset(
    ("dot", "product", "products", "score", "scores", "inner", "scalar", "all", "any", "every", "each", "the", "that",
     "those", "other", "others", "remaining", "of", "ones")
)  # fmt: skip


def _sign(phrase: str) -> str | None:
    r"""The sign that words between two formulas stand for.

    >>> _sign("is at most"), _sign("is significantly larger than all other scores"), _sign("is nicer than")
    ('\\le', '\\gg', None)
    """
    if phrase in _SIGNS:
        return _SIGNS[phrase]
    found = _COMPARED.fullmatch(phrase)
    if found is None or not set((found["rest"] or found["also"] or "").split()) <= _SCORES:
        return None
    if found["large"] or (found["more"] and found["much"]):
        return r"\gg"
    return r"\ll" if found["much"] else ">" if found["more"] else "<"


def _with_signs(tokens: Sequence[Token]) -> list[Token]:
    """'$x$ is at most $y$' as one formula, where x is what is spoken of."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        last = found[-1] if found else None
        phrase = _trail(tokens, at - 1) if at else []
        stop = at + len(phrase)
        sign = _sign(" ".join(phrase)) if phrase else None
        if last is not None and sign and last.kind in ("term", "formula") and stop < len(tokens):
            follower = tokens[stop]
            before = [one.text for one in found[-3:-1]]
            subject = before[-1:] == [] or before[-1] not in _NOT_SUBJECTS or before == ["value", "of"]
            plain = last.kind == "term" or sign != "="
            plain &= sign != r"\implies" or (last.kind == "formula" and follower.kind == "formula")
            inline = follower.kind in ("term", "formula") and not last.display and not follower.display
            if inline and plain and subject:
                found[-1] = Token("formula", f"{last.text.rstrip('.,;')} {sign} {follower.text}", last.line)
                at = stop + 1
                continue
        found.append(tokens[at])
        at += 1
    return found


# Binding.

_BINDERS = frozenset(("for", "if", "when", "whenever", "where", "with", "as", "once", "provided", "assuming", "case"))
_REASONS = frozenset(("as", "since", "because"))
_EVERY = frozenset(("all", "every", "each", "any", "both"))
_SOME = frozenset(("some", "one", "a", "an"))
_FILL = frozenset(
    ("the", "other", "others", "remaining", "index", "indices", "number", "numbers", "integer", "integers", "fixed",
     "constant", "scalar", "real", "positive", "value", "values", "sufficiently", "enough", "parameter", "two", "three",
     "factor", "that", "of", "choice", "arbitrary", "different", "large", "big", "huge", "small", "tiny", "and", "very",
     "arbitrarily", "non-negative", "dot", "product", "inner", "score", "scores", "weight", "weights", "query",
     "vector", "matrix", "ratio", "norm", "length", "temperature", "sum", *_EVERY, *_SOME)
)  # fmt: skip
_THINGS = frozenset(
    ("key", "keys", "token", "tokens", "head", "heads", "values", "value", "cases", "positions", "queries", "others")
)
_CHOOSING = frozenset(("we", "i", "one", "you", "take", "took", "choose", "chose", "set", "put", "let", "use", "used"))
_HARMLESS = frozenset(
    ("this", "these", "such", "choice", "choices", "reason", "same", "instance", "example", "our", "my", "general",
     "now", "here", "definition", "it", "its", "we", "have", "get", "obtain", "find", "gives", "first", "second",
     "third", "head", "token", "part", "term", "pair", "take", "choose", "set")
)  # fmt: skip
_LARGE, _SMALL = frozenset(("large", "big", "huge")), frozenset(("small", "tiny"))
_LETS = frozenset(
    ("let", "set", "take", "choose", "define", "put", "pick", "write", "call", "denote", "with", "where", "use",
     "consider", "propose", "query", "assume", "suppose")
)  # fmt: skip
_FOLLOWS = frozenset(
    ("so", "then", "hence", "thus", "therefore", "gives", "get", "yields", "follows", "consequently", "obtain")
)
_EXAMPLE = frozenset(("example", "instance", "e.g.", "say"))
_NARROWING = frozenset(("for", "if", "when", "whenever", "unless", "except", "otherwise", "only"))


@dataclass(frozen=True)
class _Bound:
    """How a formula is bound by the words before it."""

    binder: str
    some: bool = False
    size: str = ""


def _bound(tokens: Sequence[Token], at: int) -> tuple[_Bound | None, str]:
    """What binds the formula at a place; else the words of a binding that was not read."""
    lead = _lead(tokens, at)
    places = [place for place, word in enumerate(lead) if word in _BINDERS]
    if not places:
        return None, ""
    place = next((one for one in places if set(lead[one + 1 :]) <= _FILL), places[-1])
    binder, middle = lead[place], lead[place + 1 :]
    if binder == "case":
        if not middle and set(lead[:place]) <= {"in", "the", "special", "and", "for", "a"}:
            return _Bound("case"), ""
        return None, " ".join(lead)
    fill = _FILL | _CHOOSING if binder in ("if", "when") else _FILL
    if set(middle) <= fill:
        size = "large" if _LARGE & set(middle) else "small" if _SMALL & set(middle) else ""
        some = bool(_SOME & set(middle)) and not _EVERY & set(middle) and binder == "for"
        return _Bound(binder, some, size), ""
    likely = binder == "with" and not {"probability", "chance"} & set(middle)
    if set(middle) <= _HARMLESS | _FILL or binder in ("as", "where") or likely:
        return None, ""
    return None, " ".join(lead[place:])


def _behind(tokens: Sequence[Token], at: int) -> str:
    """The words of a binding right behind a formula that were not read."""
    trail = _trail(tokens, at)
    if trail == ["or"] and at + 2 < len(tokens) and tokens[at + 2].kind == "term":
        return "or"
    if not trail or trail[0] not in (*_NARROWING, "with"):
        return ""
    stop = at + 1 + len(trail)
    if trail[0] != "otherwise" and stop < len(tokens) and tokens[stop].kind in ("formula", "term"):
        bound, unread = _bound(tokens, stop)
        return unread if bound is None and trail[0] in _NARROWING else ""
    rest = set(trail[1:])
    if trail[0] == "with":
        return " ".join(trail) if {"probability", "chance"} & rest else ""
    universal = bool(_EVERY & set(trail[1:2])) and rest <= _FILL | _THINGS
    harmless = bool(rest) and rest <= _HARMLESS | _FILL - _SOME
    return "" if universal or (harmless and trail[0] == "for") else " ".join(trail[:8])


class _Reader:
    """Reads one sentence after the other, and keeps what is assumed."""

    def __init__(self, names: tuple[str, ...], given: frozenset[str], commands: Mapping[str, Macro]) -> None:
        self.names, self.given, self.commands = names, given, commands
        self.found: list[Statement] = []
        self.to_read: list[tuple[int, str]] = []
        self.described: set[str] = set()
        self.paragraph = -1
        self.supposed: tuple[t.Node, ...] = ()  # 'Suppose ...', to the end of the paragraph
        self.quoting = False  # a supposition that was not read
        self.hypothetical = False  # whether the sentence before was
        self.case: tuple[t.Node, ...] = ()  # 'Case c = 1/2:'
        self.fixed: tuple[t.Node, ...] = ()  # 'Let n = 2.', to the end of the answer
        self.earlier: list[t.Node] = []
        self.clouded = False
        self.chain: int | None = None  # the claim that a leading '=' goes on from

    def hear(self, sentence: Sentence, number: int) -> None:
        """One sentence, after those before it."""
        tokens = _with_signs(_as_one(sentence.tokens))
        words = words_of(tokens)
        self._turn_to(sentence, words)
        kind = kind_of([word for word in words if not turns(word)])
        if words and not sentence.heading and (kind == "worded" or any(map(turns, words))):
            self.to_read.append((sentence.line, sentence.text))
        _Heard(self, tokens, sentence, number, kind).listen()
        if {"contradiction", "absurd"} & set(words):
            self.supposed, self.quoting = (), False
        goes_on_so = self.hypothetical and bool(words) and words[0] in ("then", "this", "that", "it", "here")
        self.hypothetical = bool(word_list()["hypothetical"] & set(words)) or goes_on_so

    def _turn_to(self, sentence: Sentence, words: Sequence[str]) -> None:
        """A paragraph closes what was supposed in the one before; an item or a heading closes a case."""
        new = sentence.paragraph != self.paragraph
        if new or words[:2] == ["in", "general"]:
            self.supposed, self.quoting, self.hypothetical = (), False, False
            self.earlier, self.clouded, self.case = [], False, ()
            self.fixed = self.fixed if new else ()
        if sentence.item or sentence.heading:
            self.case = ()
        self.paragraph = sentence.paragraph

    def parsed(self, text: str) -> tuple[t.Node | FormulaError, ...]:
        """The statements of a formula, each read or with the reason why it cannot be."""
        return parse_each(tidy(text), names=self.names, macros=self.commands)


class _Heard:
    """One sentence: its formulas with what binds them."""

    def __init__(self, reader: _Reader, tokens: Sequence[Token], sentence: Sentence, number: int, kind: Kind) -> None:
        self.reader, self.tokens, self.sentence, self.number, self.kind = reader, tokens, sentence, number, kind
        self.front: list[t.Node] = []  # conditions that stand before what they bind
        self.doubt = ""  # a condition in words that stands there
        self.after: list[int] = []  # the claims that a condition behind them may bind
        self.some: list[t.Node] | None = None  # 'there is an i with ...'
        self.one: t.Name | None = None  # 'for one i'
        self.label = ""  # words before a colon
        self.values: set[int] = set()  # where terms stand that are values of what was said before
        self.meant = range(0)  # where the formulas stand that a condition in words is put into

    @property
    def found(self) -> list[Statement]:
        return self.reader.found

    def listen(self) -> None:
        """Clause by clause."""
        reader, tokens = self.reader, self.tokens
        opening = [one.text for one in tokens[:2]]
        continues = reader.hypothetical and bool({"then", "this", "that", "it", "here"} & set(opening))
        supposed_at = next((at for at, one in enumerate(tokens) if one.text in ("suppose", "assume", "assuming")), None)
        self._label()
        before_quoted = False
        for clause in _clauses(tokens):
            then = before_quoted and "then" in [one.text for one in tokens[clause.start : clause.start + 3]]
            quoted = clause.quoted or continues or then or reader.quoting or self.sentence.end == "?"
            before = len(self.found)
            self._clause(clause, quoted, supposed_at)
            if quoted and len(self.found) > before:
                reader.clouded = True
            before_quoted = quoted
        if supposed_at is not None and not self._supposes(supposed_at):
            reader.quoting = True
        self._single_out()
        ended = bool(tokens) and (self.sentence.end == ":" or tokens[-1].text == ":")
        if self.front and not self.after and (ended or self.sentence.item or self.sentence.heading):
            reader.case = (*reader.case, *self.front)
        elif self.front and not self.after and {"let", "fix", "set", "assume", "consider"} & set(words_of(tokens)):
            reader.fixed = tuple(self.front)

    def _single_out(self) -> None:
        """'for one i' narrows what is said of i, unless that is said for all others."""
        for place in self.after if self.one is not None else ():
            said = self.found[place]
            others = [part for part in said.under if isinstance(part, t.Relation) and part.comparisons == ("!=",)]
            if any(part.terms[1] == self.one for part in others):
                kept = tuple(part for part in said.under if part != self.one)
                self.found[place] = replace(said, under=kept)
            else:
                self.found[place] = replace(said, doubt="for some", strict=True)

    def _supposes(self, at: int) -> bool:
        """Whether what is supposed was read: a formula, or a size."""
        return any(one.kind in ("formula", "term") for one in self.tokens[at:]) and self.some is None

    def _label(self) -> None:
        """'Head 1, short key: ...', 'Equal keys: ...': a case in words, perhaps."""
        colon = next((at for at, one in enumerate(self.tokens) if one.kind == "mark" and one.text == ":"), None)
        if colon is None or any(one.kind in ("formula", "term") for one in self.tokens[:colon]):
            return
        words = [one.text for one in self.tokens[:colon] if one.kind == "word"]
        stating = _LETS | _FOLLOWS | {"is", "are", "have", "has", "means", "holds"}
        announced = len(words) < 2 or words[0] in ("part", "step", "line", "claim", "case", "question", "head")
        if len(words) <= 5 and (kind_of(words) == "worded" or not (announced or stating & set(words))):
            self.label = " ".join(words)

    def _clause(self, clause: _Clause, quoted: bool, supposed_at: int | None) -> None:
        self._in_words(clause)
        there = " ".join(clause.words)
        if re.search(r"\bthere (?:is|are|exists?)\b(?! no\b)|\bexists?\b|\bat least one\b", there):
            self.some = []
        for at in range(clause.start, clause.stop):
            token = self.tokens[at]
            if token.kind not in ("formula", "term"):
                continue
            bound, unread = _bound(self.tokens, at)
            supposes = supposed_at is not None and supposed_at < at and not self.reader.supposed
            if token.kind == "term":
                self._term(token, at, bound, unread, quoted)
            else:
                self._formula(token, at, bound, unread, quoted, clause, supposes)

    def _in_words(self, clause: _Clause) -> None:
        """'If the key is too short, ...': a condition in words binds what follows."""
        words = [word for word in clause.words if word not in ("and", "but", "so", "then", "also")]
        formulas = any(one.kind in ("formula", "term") for one in self.tokens[clause.start : clause.stop])
        if formulas or words[:1] not in (["for"], ["if"], ["when"], ["whenever"], ["unless"], ["once"]):
            return
        if not set(words[1:]) <= _HARMLESS | _FILL:
            self.doubt = " ".join(words[:8])
            self.reader.clouded = True
            then = [at for at in range(clause.stop, len(self.tokens)) if self.tokens[at].text == "then"]
            first = next((at for at in range(clause.stop, len(self.tokens)) if self._is_formula(at)), None)
            if then and first is not None and first < then[0]:  # 'if one score is the largest, F, then ...'
                self.meant = range(first, then[0])
                self.doubt = ""

    def _is_formula(self, at: int) -> bool:
        return self.tokens[at].kind == "formula"

    # Formulas.

    def _formula(
        self, token: Token, at: int, bound: _Bound | None, unread: str, quoted: bool, clause: _Clause, supposes: bool
    ) -> None:
        subject = set(_lead(self.tokens, at)) - {"and", "so", "or", "which", "is", "hence", "thus", "then", "finally"}
        made = self._parsed(token, quoted or bool(subject))
        if bound is not None and bound.binder in _REASONS and not any(_is_limit(one.node) for one in made):
            bound = None
        if self.some is not None and any(is_index(one.node) for one in made):
            self.some += [one.node for one in made if one.node is not None]
        elif supposes and bound is None and self.some is None and made and made[0].node is not None:
            self._suppose(made, quoted)
        elif made and self.some is None and bound is None and (at in self.meant or self._forces(at, clause)):
            self._conditions(made, _Bound("if"), at, quoted)
        elif made and self.some is None and (bound is not None or self._conjoined(at, made)):
            self._conditions(made, bound, at, quoted)
        elif made and self._is_case(made) and not _FOLLOWS & set(_lead(self.tokens, at)):
            if self._is_announced(at):
                self._conditions(made, _Bound("case"), at, quoted)
            else:  # 'we must survive c = 1/2': neither claimed nor a condition
                self.reader.earlier += [one.node for one in made if one.node is not None]
        else:
            self._claims(made, at, unread, quoted, clause)

    def _forces(self, at: int, clause: _Clause) -> bool:
        """'$A$ with an integer $m$ forces $B$': A is not claimed."""
        rest = self.tokens[at + 1 : clause.stop]
        verb = next((n for n, one in enumerate(rest) if one.text in ("forces", "implies", "entails", "requires")), None)
        formula = next((n for n, one in enumerate(rest) if one.kind == "formula"), None)
        return verb is not None and formula is not None and verb < formula

    def _claims(self, made: Sequence[Statement], at: int, unread: str, quoted: bool, clause: _Clause) -> None:
        reader, lead = self.reader, _lead(self.tokens, at)
        if unread:
            self.doubt = self.doubt or unread
            reader.clouded = True
        behind = _behind(self.tokens, at) or next((word for word in ("otherwise", "or") if word in lead[:2]), "")
        if lead[:1] == ["or"] and self.after and self.found[self.after[-1]].node is not None:
            self.found[self.after[-1]] = replace(self.found[self.after[-1]], doubt="or", strict=True)
        before = {one.text for one in self.tokens[clause.start : at] if one.kind == "word"}
        for one in made:
            node = one.node
            if node is not None and self.some is not None:
                node = t.Exists(node, tuple(self.some), span=node.span)
            self.after.append(len(self.found))
            reason = bool(lead) and bool(_REASONS & set(lead[:1] + lead[-1:]))
            other = {"a", "an"} & set(clause.words[:1])  # 'a longer query has ...'
            picked = (word_list()["picking"] & before) | other | ({self.label} - {""})
            self.found.append(
                replace(
                    one, node=node, kind="turned" if quoted else self.kind, role="wanted" if clause.wanted else "claim",
                    doubt=behind or self.doubt, strict=bool(behind), lets=bool(_LETS & before), reason=reason,
                    under=(*one.under, *reader.supposed, *reader.fixed, *reader.case, *self.front),
                    follows=bool(_FOLLOWS & before), example=bool(_EXAMPLE & before), size=self._size(at, lead),
                    earlier=tuple(reader.earlier), clouded=reader.clouded, picked=" ".join(sorted(picked)),
                )
            )  # fmt: skip
            if not reason:
                reader.chain = self.after[-1]

    def _parsed(self, token: Token, quoted: bool) -> list[Statement]:
        """A formula as its statements; one that begins with a relation goes on from the claim before."""
        found: list[Statement] = []
        paragraph = self.sentence.paragraph
        base = Statement(token.text, token.line, None, display=token.display, sentence=self.number, paragraph=paragraph)
        for node in self.reader.parsed(token.text):
            if isinstance(node, FormulaError):
                found.append(replace(base, problem=node))
            elif goes_on(node):
                chain = self.reader.chain
                if found and found[-1].node is not None:
                    found[-1] = replace(found[-1], node=joined(found[-1].node, node))
                elif chain is not None and self.found[chain].node is not None and not quoted:
                    before = self.found[chain]
                    whole = joined(before.node, node)  # type: ignore[arg-type]
                    kind = self.kind if before.kind == "neutral" else before.kind
                    self.found[chain] = replace(before, node=whole, text=f"{before.text} {token.text}", kind=kind)
                    self.after.append(chain)
                elif isinstance(node, t.Relation) and len(node.terms) > 2:  # what it goes on from was not read
                    rest = t.Relation(node.terms[1:], node.comparisons[1:], span=node.span)
                    found.append(replace(base, node=rest))
            else:
                line = token.line + token.text.count("\n", 0, max(0, node.span.start))
                found.append(replace(base, node=node, text=_source(node, token.text), line=line))
        return found

    def _suppose(self, made: Sequence[Statement], quoted: bool) -> None:
        """'Suppose S': what follows in the paragraph is said under S."""
        kind: Kind = "turned" if quoted else self.kind
        for one in made:
            self.found.append(replace(one, role="condition", binder="suppose", kind=kind))
        self.reader.supposed = tuple(one.node for one in made if one.node is not None)

    # Conditions.

    def _conjoined(self, at: int, made: Sequence[Statement]) -> bool:
        """'for m = 1 and n = 2': a further condition; 'F, i != j': a range."""
        lead = _lead(self.tokens, at)
        before = at - 1 - len(lead)
        if before < 0 or any(one.node is None for one in made):
            return False
        ranges = all(isinstance(one.node, t.Relation | t.Bond | t.Logic) and is_index(one.node) for one in made)
        if ranges and not lead and bool(self.after):
            return True
        last = self.found[-1] if self.found else None
        if last is None or last.role != "condition" or last.sentence != self.number:
            return False
        if not all(_plain_condition(one.node) for one in made):
            return False
        spoken = {name.base for one in made for name in t.every_name(one.node)}
        bound_itself = _trail(self.tokens, at)[:1] in (["for"], ["if"], ["when"])  # 'x = 1 for n = 2 and x = 2 for ...'
        if lead == ["and"] and self.tokens[before].kind == "formula" and not bound_itself:
            return not self.after or spoken <= self.reader.given
        return not lead and self.tokens[before].text == "," and bool(spoken) and spoken <= self.reader.given

    def _is_case(self, made: Sequence[Statement]) -> bool:
        """'g > 1: ...', 'Say g > 1.': what is given, and not always so, is a case and no claim."""
        spoken = {name.base for one in made for name in t.every_name(one.node)}
        plain = all(_plain_condition(one.node) for one in made)
        return plain and bool(spoken) and spoken <= self.reader.given

    def _is_announced(self, at: int) -> bool:
        """Whether a case opens a sentence or a clause, or is followed by what holds in it."""
        lead, follower = _lead(self.tokens, at), self.tokens[at + 1 : at + 2]
        words = {"say", "let", "fix", "either", "or", "and", "set", "take", "consider", "assume", "for"}
        opens = at == len(lead) or self.tokens[at - 1].kind == "mark"
        holds = bool(follower) and follower[0].text in (":", "gives", "yields", "means", "we")
        return holds or (opens and set(lead) <= words) or bool(lead and lead[-1] in words)

    def _conditions(self, made: Sequence[Statement], bound: _Bound | None, at: int, quoted: bool) -> None:
        """Formulas that a binding word makes conditions: of what stands before them, or of what follows."""
        reader, binder = self.reader, bound.binder if bound is not None else "and"
        for one in made:
            size = (bound.size if bound is not None else "") or self._size(at, [])
            self.found.append(
                replace(
                    one, role="condition", binder=binder, kind="turned" if quoted else self.kind, size=size,
                    under=(*reader.supposed, *reader.case, *self.front), lets=binder in ("with", "where"),
                )
            )  # fmt: skip
            if one.node is None:
                self._narrow(at, f"{binder} ${one.text}$")
                continue
            some = bound is not None and bound.some and is_index(one.node) and not size
            self._bind(one.node, some, at, binder)
            reader.earlier.append(one.node)

    def _bind(self, node: t.Node, some: bool, at: int, binder: str) -> None:
        """A condition bound to what it stands beside."""
        meant = [place for place in range(len(self.found)) if self.found[place].sentence == self.number]
        if at - 1 in self.meant and is_index(node) and meant:  # 'F for all i' within a condition
            said = self.found[meant[-2]] if len(meant) > 1 else None
            if said is not None and said.role == "condition" and said.node is not None and said.node in self.front:
                whole = t.said_under(said.node, (node,))
                self.front[self.front.index(said.node)] = whole
                self.found[meant[-2]] = replace(said, node=whole)
                return
        if not self.after or self._opens(at):
            if binder != "and" and self.after:
                self.front.clear()
            if some and isinstance(node, t.Name):
                self.one = node  # 'for one i, ... for all j != i': i is the one that is singled out
            elif some:
                self.doubt = "for some"
            self.front.append(node)
            return
        if self._belongs_to_a_value(at):
            return
        for place in reversed(self.after):
            said = self.found[place]
            if some and said.node is not None:
                self.found[place] = replace(said, node=t.Exists(said.node, (node,), span=said.node.span))
            else:
                self.found[place] = replace(said, under=(*said.under, node))
            before = place - 1
            if not (is_index(node) and before in self.after and _shares_letter(self.found[before], node)):
                break

    def _belongs_to_a_value(self, at: int) -> bool:
        """'F, that is $x$ for n = 2 and $y$ for n = 3': the conditions are those of x and y."""
        places = [n for n in range(at - len(_lead(self.tokens, at))) if self.tokens[n].kind in ("formula", "term")]
        last = self.tokens[places[-1]] if places and places[-1] not in self.values else None
        return last is not None and last.kind == "term" and re.fullmatch(r"\\?[a-zA-Z]+", last.text) is None

    def _opens(self, at: int) -> bool:
        """Whether a condition opens a clause and something follows it: it binds that, and not what stands before."""
        lead = _lead(self.tokens, at)
        place = at - 1 - len(lead)
        before = self.tokens[place] if place >= 0 else None
        mark = before.text if before is not None and before.kind == "mark" else ""
        opens = before is None or mark in (";", ":") or (mark == "," and lead[:1] in (["if"], ["when"]))
        opens |= lead[:1] in (["and"], ["then"], ["so"], ["but"], ["hence"], ["while"]) and lead[1:] != []
        opens |= lead[:1] == ["or"]
        return opens and any(one.kind == "formula" for one in self.tokens[at + 1 :])

    def _narrow(self, at: int, words: str) -> None:
        """A binding that was not read: it may narrow what stands before it, or what follows."""
        if self.after and not self._opens(at):
            last = self.found[self.after[-1]]
            strict = words.split()[0] in _NARROWING
            self.found[self.after[-1]] = replace(last, doubt=last.doubt or words, strict=last.strict or strict)
        else:
            self.doubt = self.doubt or words
        self.reader.clouded = True

    # Terms and sizes.

    def _term(self, token: Token, at: int, bound: _Bound | None, unread: str, quoted: bool) -> None:
        """A term: 'for all $i$', 'for some $k$', 'a large $lambda$'."""
        if bound is None and not unread and self._is_value(at):
            self._value(token, at, quoted)
            return
        if unread:
            self._narrow(at, unread)
            return
        lead = _lead(self.tokens, at)
        size = (bound.size if bound is not None else "") or self._size(at, lead)
        nodes = [node for node in self.reader.parsed(token.text) if isinstance(node, t.Node)]
        names = [item for node in nodes for item in t.listed(node)]
        named = bool({"let", "where", "with", "call", "denote"} & set(lead)) or lead[-1:] == ["and"]
        trail = _trail(self.tokens, at)
        follows = bool(trail[1:]) or self.tokens[at + 1 + len(trail) :][:1] != []
        if named and trail[:1] in (["be"], ["is"], ["denotes"]) and follows and not size:
            self.reader.described.add(re.sub(r"[\\{}\s]", "", token.text))
        conditional = bound is not None and bound.binder in ("if", "when", "whenever", "provided", "assuming", "case")
        if not names or not all(isinstance(item, t.Name) for item in names) or (conditional and not size):
            if conditional:
                self._narrow(at, " ".join([*lead, f"${token.text}$", *_trail(self.tokens, at)][:9]))
            return
        if size and not quoted:
            for name in names:
                node = t.Relation((name, t.INFINITY if size == "large" else t.ZERO), ("->",), span=name.span)
                one = Statement(token.text, token.line, node, role="size", size=size, lets=True)
                self.found.append(replace(one, sentence=self.number, paragraph=self.sentence.paragraph))
        elif self.some is not None and all(map(t.is_letter, names)):
            self.some += names
        elif bound is not None and bound.binder in ("for", "whenever") and all(map(t.is_letter, names)):
            every = bool(_EVERY & set(lead))
            others = bool({"other", "others", "remaining"} & set(lead))
            for name in names if bound.some or every or others else ():
                bound_to: t.Node = t.Relation((name, OTHERS), ("!=",), span=name.span) if others else name
                self._bind(bound_to, bound.some and not others, at, "for")

    def _is_value(self, at: int) -> bool:
        """'x = a for n = 2 and $b$ for n = 3', 'x = a, that is $b$ for n = 2'."""
        lead, trail = _lead(self.tokens, at), _trail(self.tokens, at)
        stop = at + 1 + len(trail)
        condition = stop < len(self.tokens) and self.tokens[stop].kind == "formula"
        last = self.found[self.after[-1]].node if self.after else None
        equation = isinstance(last, t.Relation) and set(last.comparisons) <= {"=", "~"}
        return lead in (["and"], ["i.e."]) and trail in (["for"], ["if"], ["when"]) and condition and equation

    def _value(self, token: Token, at: int, quoted: bool) -> None:
        """A further value of what the claim before is about."""
        said = self.found[self.after[-1]]
        nodes = [node for node in self.reader.parsed(token.text) if isinstance(node, t.Node)]
        if len(nodes) != 1 or not isinstance(said.node, t.Relation):
            return
        node = t.Relation((said.node.terms[0], nodes[0]), ("=",), span=nodes[0].span)
        kind: Kind = "turned" if quoted else said.kind
        under = (*self.reader.supposed, *self.reader.fixed, *self.reader.case)
        self.after.append(len(self.found))
        self.values.add(at)
        self.found.append(replace(said, text=token.text, line=token.line, node=node, kind=kind, under=under))

    def _size(self, at: int, lead: Sequence[str]) -> str:
        """'large' or 'small', where words beside a formula say so."""
        trail = _trail(self.tokens, at)
        after = self.tokens[at + 1 : at + 3]
        if not trail and len(after) == 2 and after[0].text == "," and after[1].kind == "word":
            trail = _trail(self.tokens, at + 1)
            trail = trail if trail[0] in (*word_list()["size"], "which") else []
        stop = next((n for n, word in enumerate(trail) if word in ("and", "so", "then", "we", "for", "if", "in")), 6)
        opening = {"is", "are", "being", "grows", "chosen", "taken", "which", "has", "must", "be", *word_list()["size"]}
        trail = trail[:stop] if trail and trail[0] in opening else []
        words = {*lead[-3:], *trail}
        if words & _LARGE or trail[:1] == ["grows"]:
            return "large"
        return "small" if words & _SMALL else ""


# Nodes.


def is_index(node: t.Node | None) -> bool:
    """Whether a condition speaks of indices: i != a, b; i in S; or for all i."""
    match node:
        case t.Name(base, None, _):
            return len(base) == 1
        case t.Listing(items):
            return all(map(is_index, items))
        case t.Relation((t.Name(base, None, _), *others), _):
            return base in ("i", "j", "l") and all(map(_is_place, others))
        case t.Relation((first, t.Name(base, None, _), *others), _):
            return base in ("i", "j", "l") and all(map(_is_place, (first, *others)))
        case t.Bond("in", left, _) | t.Logic("not", (t.Bond("in", left, _),)):
            return is_index(left)
        case _:
            return False


def _is_place(node: t.Node) -> bool:
    """Something that an index may be: a, 3, m + 1, 'a, b'."""
    return all(isinstance(part, t.Name | t.Number | t.Listing | t.Sum | t.Negative | t.Dots) and
               not (isinstance(part, t.Name) and part.index is not None) for part in t.walk(node))  # fmt: skip


def _is_limit(node: t.Node | None) -> bool:
    return isinstance(node, t.Relation) and "->" in node.comparisons


def _shares_letter(said: Statement, condition: t.Node) -> bool:
    about = condition.terms[0] if isinstance(condition, t.Relation) else condition
    letters = [item.base for item in t.listed(about) if isinstance(item, t.Name)]
    return said.node is not None and t.speaks_of(said.node, *letters)


def _plain_condition(node: t.Node | None) -> bool:
    """Whether names and numbers alone are compared: n = 4."""
    terms = node.terms if isinstance(node, t.Relation) else ()
    flat = [item for term in terms for item in t.listed(term)]
    return bool(flat) and all(t.is_letter(item) or not list(t.every_name(item)) for item in flat)


def _source(node: t.Node, text: str) -> str:
    """The part of a formula that a statement was read from."""
    if not node.span.source:
        return text
    return node.span.source[node.span.start : node.span.stop].strip(" ,;.&\n") or text


_POSITIVE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*(?:[\^_]\s*\{?\s*\+\s*\}?|_\s*\{\s*>\s*0\s*\})")
_CONNECTIVE = re.compile(r"^\\text\{\s*(?:then|so|hence|thus|therefore)\s*,?\s*\}\s*", re.IGNORECASE)
_CHANGE = re.compile(r"\\Delta\s+([a-z])(?![a-zA-Z])")
_NUMBERED = re.compile(r"\s*(?:\\q?quad|\\tag|\\hfill|\s{2,})\s*(?:\(\d{1,3}[a-z]?\)|\{\d{1,3}[a-z]?\})\s*$")


_REMARK = re.compile(r"\s*\\q?quad\s*\(\s*\\(?:text|textrm|mbox)\{[^{}]*\}(?:[^()]|\([^()]*\))*\)\s*$")
_COLUMN = re.compile(r"\s*&&\s*\\(?:text|textrm|mbox)\{(?!\s*\(?(?:for|if|when|where|as)\b)[^{}$]*\}\s*(?=\\\\|$)")
_COMMENT = re.compile(
    r"\s*(?:&&?|\\q?quad)\s*\(?\s*\\(?:text|textrm|mbox)\{\s*\(?\s*(?:by|using|since|because|as|def)\b[^{}$]*\}\s*\)?\s*(?=\\\\|$)"
)


def tidy(text: str) -> str:
    r"""Without the mark that ends a sentence and without a number, and with two habits spelled out.

    >>> tidy(r"\beta \in \mathbb{R}^+"), tidy(r"\Delta s = 1. \tag{3}")
    ('\\beta > 0', '\\Delta_{s} = 1')
    """
    text = _COLUMN.sub("", _COMMENT.sub("", _REMARK.sub("", _NUMBERED.sub("", text))))
    text = re.sub(r"[.,;:]\s*$", "", _CONNECTIVE.sub("", text.strip(), count=1))
    return _CHANGE.sub(r"\\Delta_{\1}", _POSITIVE.sub("> 0", text))
