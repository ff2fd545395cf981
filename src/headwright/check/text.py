"""The formulas of an answer, each with the kind of its sentence and the conditions that bind it.

A sentence is neutral (connectives and verbs of stating only), or worded. A clause with a turning word (not, never,
would, ...) is quoted, and so is what follows from it. Brackets are sentences of their own. Words are never judged.

Binding words are syntax: 'for all i', 'if g > 1', 'where lambda > 0', 'Case c = 1/2:'. Where a binding word is followed
by something that is not read, its formula carries a `doubt`: nothing is proved for a wider range than was written.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from headwright.check.markdown import Written
from headwright.check.sentences import Sentence, Token, sentences, shown
from headwright.formula import FormulaError, goes_on, joined, macros, parse_each
from headwright.formula import tree as t
from headwright.formula.parse import Macro

Kind = Literal["neutral", "turned", "worded"]
Role = Literal["claim", "condition", "wanted", "size"]
MOST_STATEMENTS = 400


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
    example: bool = False  # 'for instance'
    size: str = ""  # said to be 'large' or 'small'
    number: int = 0
    sentence: int = 0
    paragraph: int = 0
    earlier: tuple[t.Node, ...] = ()  # conditions that were stated before it in its paragraph
    clouded: bool = False  # one of these is in words, or quoted


@dataclass(frozen=True)
class Text:
    """What was read: the formulas in order, and the sentences that a person has to read."""

    statements: tuple[Statement, ...]
    to_read: tuple[tuple[int, str], ...] = ()


@lru_cache(maxsize=1)
def word_list() -> Mapping[str, frozenset[str]]:
    """The words by their sections."""
    given = tomllib.loads((Path(__file__).parent / "words.toml").read_text())
    return {name: frozenset(words.split()) for name, words in given.items()}


def kind_of(words: Collection[str]) -> Kind:
    """The kind of a sentence with these words.

    >>> kind_of(["take", "a", "large"]), kind_of(["it", "is", "not", "true"]), kind_of(["by", "symmetry"])
    ('neutral', 'turned', 'worded')
    """
    lists = word_list()
    if any(turns(word) for word in words):
        return "turned"
    known = lists["neutral"] | lists["size"] | lists["binding"] | lists["relation"] | lists["wanted"]
    return "neutral" if all(word in known or len(word) == 1 or word.isdigit() for word in words) else "worded"


def turns(word: str) -> bool:
    """Whether a word turns its clause: what stands in it is not asserted."""
    return word in word_list()["turned"] or word.endswith("n't")


def read(written: Written, names: Collection[str] = (), given: Collection[str] = ()) -> Text:
    r"""The statements of an answer; `names` are words of several letters that the exercise knows.

    `given` are the numbers that the exercise leaves open: 'for n = 4, m = 3' are two conditions.

    >>> found = read(Written(r"If $g > 1$ then $c \approx v_a$. It is not $c = 0$."))
    >>> [(one.role, one.kind, one.text, len(one.under)) for one in found.statements]
    [('condition', 'neutral', 'g > 1', 0), ('claim', 'neutral', 'c \\approx v_a', 1), ('claim', 'turned', 'c = 0', 0)]
    """
    reader = _Reader(tuple(names), frozenset(given), macros(written.macros + "\n" + written.text))
    for number, sentence in enumerate(_apart(sentences(written))):
        reader.sentence(sentence, number)
        if len(reader.found) > MOST_STATEMENTS:
            break
    found = [replace(one, number=number) for number, one in enumerate(reader.found[:MOST_STATEMENTS])]
    return Text(tuple(found), tuple(reader.to_read))


# Brackets.


def _apart(given: Sequence[Sentence]) -> Iterator[Sentence]:
    """Brackets with words in them as sentences of their own, after the one they stand in; '(i != a)' is a condition."""
    for sentence in given:
        outer: list[Token] = []
        inner: list[list[Token]] = []
        held: list[Token] | None = None
        for token in sentence.tokens:
            if token.kind == "mark" and token.text == "(" and held is None:
                held = []
            elif token.kind == "mark" and token.text == ")" and held is not None:
                words = [one.text for one in held if one.kind == "word"]
                if held and outer and outer[-1].kind == "formula" and _binds(held, words):
                    outer += [Token("word", "for", held[0].line), *(held if not words else held[1:])]
                elif held and (any(one.kind == "formula" for one in held) or words):
                    inner.append(held)
                held = None
            elif token.kind == "mark" and token.text == ")":
                continue
            else:
                (outer if held is None else held).append(token)
        if held:
            inner.append(held)
        if outer:
            yield replace(sentence, tokens=tuple(outer))
        for tokens in inner:
            yield Sentence(tuple(tokens), sentence.paragraph)


def _binds(held: Sequence[Token], words: Sequence[str]) -> bool:
    formulas = [one for one in held if one.kind in ("formula", "term")]
    if not formulas:
        return False
    return not words or (words[0] in ("for", "if", "when") and held[0].kind == "word")


# Clauses.

_OPENERS = frozenset(
    "but however although though because since so hence thus therefore whereas while which whose yet then".split()
)
_HYPOTHETICAL = frozenset("might could would try tried tempting suppose naive perhaps maybe".split())
_CONTINUES = frozenset("then this that it these they here".split())


@dataclass(frozen=True)
class _Clause:
    """A run of tokens, from one mark or connective to the next."""

    start: int
    stop: int
    kind: Kind
    wanted: bool


def _clauses(tokens: Sequence[Token]) -> list[_Clause]:
    """The clauses of a sentence; one that consists of formulas only belongs to the one before it."""
    cuts = [0]
    for at, token in enumerate(tokens):
        opens = token.kind == "word" and token.text in _OPENERS and at > cuts[-1]
        marks = token.kind == "mark" and token.text in ",;:"
        if (opens or marks) and at not in cuts:
            cuts.append(at)
    cuts.append(len(tokens))
    found: list[_Clause] = []
    for start, stop in pairwise(cuts):
        words = [one.text for one in tokens[start:stop] if one.kind == "word"]
        bare = all(word in ("and", "or") for word in words) and tokens[start].text != ":"
        wanted = bool(word_list()["wanted"] & set(words))
        kind = kind_of([word for word in words if not (wanted and word == "would")])
        if bare and found:
            found.append(replace(found[-1], start=start, stop=stop))
        else:
            found.append(_Clause(start, stop, kind, wanted))
    return found


# Relation phrases: words between two formulas that are signs.

_SIGNS = {
    "is": "=", "are": "=", "equals": "=", "is equal to": "=", "are equal to": "=", "becomes": "=",
    "is at most": r"\le", "is at least": r"\ge", "are at most": r"\le", "are at least": r"\ge", "is less than": "<",
    "is smaller than": "<", "is larger than": ">", "is greater than": ">", "is more than": ">",
    "is much larger than": r"\gg", "is much greater than": r"\gg", "is about": r"\approx", "is close to": r"\approx",
    "is approximately": r"\approx", "tends to": r"\to", "goes to": r"\to", "converges to": r"\to",
    "tend to": r"\to", "go to": r"\to", "approaches": r"\to",
}  # fmt: skip
_PREPOSITIONS = frozenset(
    "of in for to from by on at between than with against over key token head row column position index entry "
    "and or when if times key's".split()
)


def _with_signs(tokens: Sequence[Token]) -> list[Token]:
    """'$x$ is at most $y$' as one formula, where x is what is spoken of."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        previous = found[-1] if found else None
        stop = at
        while stop < len(tokens) and tokens[stop].kind == "word":
            stop += 1
        phrase = " ".join(one.text for one in tokens[at:stop])
        before = found[-2].text if len(found) > 1 and found[-2].kind == "word" else ""
        joins = previous is not None and previous.kind in ("term", "formula") and phrase in _SIGNS
        if joins and previous is not None and stop < len(tokens) and tokens[stop].kind in ("term", "formula"):
            follower = tokens[stop]
            number = previous.kind == "formula" and phrase in ("is", "are")
            if before not in _PREPOSITIONS and not number and not previous.display and not follower.display:
                text = f"{previous.text.rstrip('.,;')} {_SIGNS[phrase]} {follower.text}"
                found[-1] = Token("formula", text, previous.line)
                at = stop + 1
                continue
        found.append(token)
        at += 1
    return found


# Binding.

_BINDERS = frozenset("for if when whenever where with as once provided given assuming case while".split())
_FILL = frozenset(
    "all every each any the a an some one other others remaining index indices key keys number numbers integer integers "
    "fixed constant scalar real positive value values large big huge sufficiently small tiny enough given parameter "
    "and two three both number factor that of choice arbitrary different non-negative nonnegative".split()
)
_CHOOSING = frozenset("we i one you take took choose chose set put let had use used pick".split())
_SOME = frozenset("some one exists exist".split())
_HARMLESS = frozenset(
    "this that these such choice choices reason same instance example our my the a an which above it its both whom "
    "general particular now here definition notation exercise".split()
)
_LARGE = frozenset("large big huge".split())
_SMALL = frozenset("small tiny".split())
_LETS = frozenset("let set take choose define put pick write call denote with where use consider propose query".split())
_FOLLOWS = frozenset("so then hence thus therefore gives give get yields follows consequently obtain implies".split())
_EXAMPLE = frozenset("example instance e.g. say".split())


@dataclass(frozen=True)
class _Bound:
    """How a formula is bound by the words before it."""

    binder: str
    some: bool = False
    size: str = ""
    others: bool = False


def _bound(tokens: Sequence[Token], at: int) -> tuple[_Bound | None, str]:
    """What binds the formula at a place; else the words of a binding that was not read."""
    lead = _lead(tokens, at)
    places = [place for place, word in enumerate(lead) if word in _BINDERS]
    if not places:
        return None, ""
    place = places[0] if set(lead[places[0] + 1 :]) <= _FILL else places[-1]
    binder, middle = lead[place], lead[place + 1 :]
    fill = _FILL | _CHOOSING if binder in ("if", "when") else _FILL
    if binder == "case" and (middle or not set(lead[:place]) <= {"in", "the", "special", "and", "for", "a"}):
        return None, "" if set(middle) <= {"we", "have"} and not lead[:place] else " ".join(lead)
    if set(middle) <= fill:
        size = "large" if _LARGE & set(middle) else "small" if _SMALL & set(middle) else ""
        return _Bound(binder, bool(_SOME & set(middle)), size, bool({"other", "others", "remaining"} & set(middle))), ""
    harmless = set(middle) <= _HARMLESS | _FILL | word_list()["neutral"]
    return None, "" if harmless or binder in ("as", "while", "where") else " ".join(lead[place:])


def _lead(tokens: Sequence[Token], at: int) -> list[str]:
    """The words right before a place."""
    words: list[str] = []
    for token in reversed(tokens[:at]):
        if token.kind != "word":
            break
        words.append(token.text)
    return words[::-1]


def _trail(tokens: Sequence[Token], at: int) -> list[str]:
    """The words right after a place."""
    words: list[str] = []
    for token in tokens[at + 1 :]:
        if token.kind != "word":
            break
        words.append(token.text)
    return words


class _Reader:
    """Reads one sentence after the other, and keeps what is assumed."""

    def __init__(self, names: tuple[str, ...], given: frozenset[str], commands: Mapping[str, Macro]) -> None:
        self.names, self.given, self.commands = names, given, commands
        self.found: list[Statement] = []
        self.to_read: list[tuple[int, str]] = []
        self.paragraph = -1
        self.supposed: list[t.Node] = []  # 'Suppose ...'
        self.quoting = False  # everything is quoted: a supposition in words
        self.hypothetical = False  # the sentence before was
        self.case: list[t.Node] = []  # 'Case c = 1/2:'
        self.case_doubt = ""
        self.earlier: list[t.Node] = []
        self.clouded = False
        self.chain: int | None = None

    # Sentences.

    def sentence(self, sentence: Sentence, number: int) -> None:
        """One sentence, after those before it."""
        tokens = _with_signs(sentence.tokens)
        words = [one.text for one in tokens if one.kind == "word"]
        self._turn_to(sentence, words)
        kind = kind_of([word for word in words if not turns(word)])
        if (kind == "worded" or any(map(turns, words))) and not sentence.heading and words:
            self.to_read.append((sentence.line, sentence.text))
        if len(tokens) > 1 and tokens[-1].kind == "mark" and tokens[-1].text == ":" and not self._formulas(tokens):
            self.clouded |= kind == "worded"
        supposes = bool({"suppose", "assume", "assuming"} & set(words[:4])) or "were" in words[:4]
        start = len(self.found)
        question = sentence.end == "?"
        self._statements(tokens, sentence, number, kind, question)
        made = self.found[start:]
        if supposes:
            self._suppose(made, start, tokens)
        turned = {one.text for one in tokens if one.kind == "word"} & _HYPOTHETICAL
        self.hypothetical = bool(turned) or (self.hypothetical and bool(words) and words[0] in _CONTINUES)
        if {"contradiction", "absurd"} & set(words):
            self.supposed, self.quoting = [], False

    def _turn_to(self, sentence: Sentence, words: Sequence[str]) -> None:
        general = words[:2] == ["in", "general"]
        if sentence.paragraph != self.paragraph or general:
            self.supposed, self.quoting, self.hypothetical = [], False, False
            self.earlier, self.clouded = [], False
            if not self._goes_below(sentence):
                self.case, self.case_doubt = [], ""
        if sentence.item or sentence.heading:
            self.case, self.case_doubt = [], ""
        self.paragraph = sentence.paragraph

    def _goes_below(self, sentence: Sentence) -> bool:
        return False

    @staticmethod
    def _formulas(tokens: Sequence[Token]) -> list[int]:
        return [at for at, one in enumerate(tokens) if one.kind == "formula"]

    def _suppose(self, made: Sequence[Statement], start: int, tokens: Sequence[Token]) -> None:
        """'Suppose S': what follows in the paragraph is said under S; in words, it is quoted."""
        first = next((one for one in made if one.node is not None), None)
        if first is None or first.role != "claim":
            if not any(one.kind == "formula" for one in tokens):
                self.quoting = True
            return
        self.found[start] = replace(first, role="condition", binder="suppose")
        if first.node is not None:
            self.supposed = [first.node]
            later = [replace(one, under=(*one.under, first.node)) for one in self.found[start + 1 :]]
            self.found[start + 1 :] = later

    # Formulas.

    def _statements(self, tokens: Sequence[Token], sentence: Sentence, number: int, kind: Kind, question: bool) -> None:
        clauses = _clauses(tokens)
        front: list[t.Node] = []  # conditions that stand before what they bind
        front_doubt = ""
        after: list[int] = []  # the statements that a condition behind them may bind
        continues = self.hypothetical and any(one.text in _CONTINUES for one in tokens[:2])
        for clause in clauses:
            hypothetical = continues or (
                bool(after) and self.found[after[-1]].kind == "turned"
                and tokens[clause.start : clause.start + 3] != ()
                and any(one.text == "then" for one in tokens[clause.start : clause.start + 3])
            )  # fmt: skip
            quoted = clause.kind == "turned" or question or self.quoting or hypothetical
            for at in range(clause.start, clause.stop):
                token = tokens[at]
                if token.kind not in ("formula", "term"):
                    continue
                bound, unread = _bound(tokens, at)
                if unread and token.kind == "term":
                    self._doubt(after, tokens, at, unread)
                    front_doubt = front_doubt or ("" if after else unread)
                    continue
                if token.kind == "term":
                    self._term(token, tokens, at, bound, sentence, number, front, after, quoted)
                    continue
                made = self._parsed(token, sentence, number)
                if not made:
                    continue
                chained = self._conjoined(tokens, at, made)
                if bound is not None or chained:
                    self._conditions(made, bound, tokens, at, front, after, quoted)
                    continue
                lead = _lead(tokens, at)
                if unread:
                    front_doubt = front_doubt or unread
                    self.clouded = True
                some = bool(lead) and bool(
                    {"exists", "exist"} & set(lead[-4:]) or lead[:2] in (["there", "is"], ["there", "are"])
                )
                role: Role = "wanted" if clause.wanted else "claim"
                doubt, strict = front_doubt or self.case_doubt, False
                behind = self._behind(tokens, at)
                if behind or some:
                    doubt, strict = behind or "there is", True
                said_kind: Kind = "turned" if quoted else kind
                before = set(lead) | {one.text for one in tokens[clause.start : at] if one.kind == "word"}
                size = self._size(tokens, at, lead)
                for one in made:
                    after.append(len(self.found))
                    self.found.append(
                        replace(
                            one,
                            kind=said_kind,
                            role=role,
                            doubt=doubt,
                            strict=strict,
                            under=(*one.under, *self.supposed, *self.case, *front),
                            lets=bool(_LETS & before),
                            follows=bool(_FOLLOWS & before),
                            example=bool(_EXAMPLE & before),
                            size=size,
                            earlier=tuple(self.earlier),
                            clouded=self.clouded,
                        )  # fmt: skip
                    )
            if quoted:
                self.clouded = True
        if sentence.end == ":" or (tokens and tokens[-1].text == ":"):
            self.case = [*self.case, *front] if not after else self.case
        elif front and not after and (sentence.item or sentence.heading):
            self.case = [*self.case, *front]

    def _parsed(self, token: Token, sentence: Sentence, number: int) -> list[Statement]:
        """A formula as its statements; one that begins with a relation goes on from the one before."""
        found: list[Statement] = []
        base = Statement(
            token.text, token.line, None, display=token.display, sentence=number, paragraph=sentence.paragraph
        )
        for node in parse_each(tidy(token.text), names=self.names, macros=self.commands):
            if isinstance(node, FormulaError):
                found.append(replace(base, problem=node))
                continue
            last = found[-1].node if found else self._chain_end()
            if goes_on(node):
                if last is None:
                    continue
                if not found and self.found:
                    before = self.found.pop()
                    whole = joined(last, node)
                    found.append(replace(before, node=whole, text=f"{before.text} {token.text}"))
                    self.found.append(before)
                    self.found.pop()
                else:
                    found[-1] = replace(found[-1], node=joined(last, node))
                continue
            line = token.line + token.text.count("\n", 0, max(0, node.span.start))
            found.append(replace(base, node=node, text=_source(node, token.text), line=line))
        return found

    def _chain_end(self) -> t.Node | None:
        last = self.found[-1] if self.found else None
        return None if last is None or last.role not in ("claim", "wanted") else last.node

    def _conjoined(self, tokens: Sequence[Token], at: int, made: Sequence[Statement]) -> bool:
        """'for m = 1 and n = 2': a further condition; 'F, i != j': a range."""
        last = self.found[-1] if self.found else None
        if at == 0 or any(one.node is None for one in made):
            return False
        lead, before = _lead(tokens, at), at - 1 - len(_lead(tokens, at))
        near = before >= 0 and tokens[before].kind in ("formula", "term", "mark")
        ranges = all(is_index(one.node) and isinstance(one.node, t.Relation) for one in made if one.node is not None)
        if ranges and near and not lead:
            return True
        if (
            last is None
            or last.role != "condition"
            or before < 0
            or not all(_plain_condition(one.node) for one in made)
        ):
            return False
        if lead == ["and"] and tokens[before].kind == "formula":
            return True
        spoken = {name.base for one in made for name in t.every_name(one.node)}
        return not lead and tokens[before].text == "," and bool(spoken) and spoken <= self.given

    def _conditions(
        self, made: Sequence[Statement], bound: _Bound | None, tokens: Sequence[Token], at: int,
        front: list[t.Node], after: list[int], quoted: bool,
    ) -> None:  # fmt: skip
        """Formulas that a binding word makes conditions: of what stands before them, or of what follows."""
        binder = bound.binder if bound is not None else "and"
        for one in made:
            if one.node is None:
                self._doubt(after, tokens, at, f"{binder} ${one.text}$")
                self.found.append(replace(one, kind="turned" if quoted else "neutral", role="condition", binder=binder))
                continue
            node: t.Node = one.node
            some = bound is not None and bound.some and (binder == "for" or "there" in _lead(tokens, at))
            size = bound.size if bound is not None else ""
            size = size or self._size(tokens, at, [])
            kind: Kind = "turned" if quoted else "neutral"
            under = (*self.supposed, *self.case)
            self.found.append(
                replace(one, role="condition", binder=binder, kind=kind, size=size, under=under,
                        lets=binder in ("with", "where"))
            )  # fmt: skip
            self.earlier.append(node)
            self._bind(node, some, bound, tokens, at, front, after)

    def _bind(
        self, node: t.Node, some: bool, bound: _Bound | None, tokens: Sequence[Token], at: int,
        front: list[t.Node], after: list[int],
    ) -> None:  # fmt: skip
        """A condition bound to what it stands beside."""
        binder = bound.binder if bound is not None else "and"
        behind = bool(after) and not self._opens(tokens, at)
        if not behind:
            if binder != "and" and after:
                front.clear()
            if some:
                self.case_doubt = "for some"
            front.append(node)
            return
        for place in reversed(after):
            said = self.found[place]
            if said.role == "condition":
                continue
            if some:
                if said.node is not None:
                    self.found[place] = replace(said, node=t.Exists(said.node, (node,), span=said.node.span))
            else:
                self.found[place] = replace(said, under=(*said.under, node))
            if not (
                is_index(node) and place > 0 and place - 1 in after and _shares_letter(self.found[place - 1], node)
            ):
                break

    @staticmethod
    def _opens(tokens: Sequence[Token], at: int) -> bool:
        """Whether a condition opens a clause and something follows it: it binds that, and not what stands before."""
        place = at - 1 - len(_lead(tokens, at))
        lead = _lead(tokens, at)
        opens = place < 0 or (tokens[place].kind == "mark" and tokens[place].text in ";:") or (
            bool(lead) and lead[0] in ("and", "then", "so", "while", "but", "hence", "also", "thus", "therefore")
            and tokens[place].kind in ("mark", "formula")
        ) or (tokens[place].kind == "mark" and bool(lead) and lead[0] in ("if", "when"))  # fmt: skip
        follows = any(one.kind == "formula" for one in tokens[at + 1 :])
        return opens and follows

    def _behind(self, tokens: Sequence[Token], at: int) -> str:
        """The words of a binding right behind a formula that was not read."""
        trail = _trail(tokens, at)
        if not trail or trail[0] not in (
            "for",
            "if",
            "when",
            "whenever",
            "unless",
            "except",
            "with",
            "otherwise",
            "only",
        ):
            return ""
        stop = at + 1 + len(trail)
        if stop < len(tokens) and tokens[stop].kind in ("formula", "term"):
            bound, unread = _bound(tokens, stop)
            return unread if bound is None else ""
        harmless = _HARMLESS | _FILL | {"for", "with"}
        if trail[0] == "for" and set(trail[1:]) & {"some", "one"}:
            return " ".join(trail)
        return "" if set(trail) <= harmless else " ".join(trail[:8])

    def _doubt(self, after: Sequence[int], tokens: Sequence[Token], at: int, words: str) -> None:
        """A binding that was not read, behind a formula: it may narrow that."""
        if after and not self._opens(tokens, at):
            last = self.found[after[-1]]
            self.found[after[-1]] = replace(last, doubt=words, strict=True)
        self.clouded = True

    # Terms and sizes.

    def _term(
        self, token: Token, tokens: Sequence[Token], at: int, bound: _Bound | None, sentence: Sentence, number: int,
        front: list[t.Node], after: list[int], quoted: bool,
    ) -> None:  # fmt: skip
        """A term: 'for all $i$', 'for some $k$', 'a large $lambda$'."""
        size = (bound.size if bound is not None else "") or self._size(tokens, at, _lead(tokens, at))
        made = parse_each(tidy(token.text), names=self.names, macros=self.commands)
        nodes = [node for node in made if isinstance(node, t.Node)]
        names = [item for node in nodes for item in t.listed(node)]
        if not names or not all(isinstance(item, t.Name) for item in names):
            return
        if size and not quoted:
            for name in names:
                end: t.Node = t.INFINITY if size == "large" else t.ZERO
                node = t.Relation((name, end), ("->",), span=name.span)
                self.found.append(
                    Statement(token.text, token.line, node, role="size", size=size, sentence=number,
                              paragraph=sentence.paragraph, lets=True)
                )  # fmt: skip
            return
        quantified = bound is not None and bound.binder in ("for", "whenever") and bound.size == ""
        if quantified and bound is not None and all(map(t.is_letter, names)):
            lead = _lead(tokens, at)
            every = bool({"all", "every", "each", "any"} & set(lead))
            if bound.some:
                self._bind(names[0], True, bound, tokens, at, front, after)
            elif every:
                for name in names:
                    self._bind(name, False, bound, tokens, at, front, after)

    @staticmethod
    def _size(tokens: Sequence[Token], at: int, lead: Sequence[str]) -> str:
        """'large' or 'small', where words beside a formula say so."""
        near = list(lead[-3:])
        trail = _trail(tokens, at)
        stop = next((place for place, word in enumerate(trail) if word in ("and", "so", "then", "we", "for", "if")), 9)
        comma = at + 2 < len(tokens) and tokens[at + 1].text == "," and tokens[at + 2].kind == "word"
        trail = trail[: min(stop, 5)] or (_trail(tokens, at + 1)[:2] if comma else [])
        copula = not trail or trail[0] in (
            "is", "are", "large", "big", "huge", "small", "tiny", "sufficiently", "very", "arbitrarily", "being", "grows",
            "chosen", "taken", "has", "to", "be", "must", "should", "large."
        )  # fmt: skip
        words = set(near) | (set(trail) if copula else set())
        if words & _LARGE or "grows" in trail[:1]:
            return "large"
        return "small" if words & _SMALL else ""


# Nodes.


def is_index(node: t.Node | None) -> bool:
    """Whether a condition speaks of indices: i != a, b; or for all i."""
    match node:
        case t.Name(base, None, _):
            return len(base) == 1
        case t.Listing(items):
            return all(is_index(item) for item in items)
        case t.Relation((t.Name(base, None, _), *_), _):
            return base in "ijlr" and len(base) == 1
        case t.Bond("in", left, _) | t.Logic("not", (t.Bond("in", left, _),)):
            return is_index(left)
        case _:
            return False


def _shares_letter(said: Statement, condition: t.Node) -> bool:
    about = condition.terms[0] if isinstance(condition, t.Relation) else condition
    letters = [item.base for item in t.listed(about) if isinstance(item, t.Name)]
    return said.node is not None and t.speaks_of(said.node, *letters)


def _plain_condition(node: t.Node | None) -> bool:
    """Whether names and numbers alone are compared: i != a, b."""
    terms = node.terms if isinstance(node, t.Relation) else ()
    flat = [item for term in terms for item in t.listed(term)]
    return bool(flat) and all(isinstance(item, t.Name | t.Number) and not getattr(item, "index", None) for item in flat)


def _source(node: t.Node, text: str) -> str:
    """The part of a formula that a statement was read from."""
    if not node.span.source:
        return text
    return node.span.source[node.span.start : node.span.stop].strip(" ,;.&\n") or text


_POSITIVE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*(?:[\^_]\s*\{?\s*\+\s*\}?|_\s*\{\s*>\s*0\s*\})")
_CONNECTIVE = re.compile(r"^\\text\{\s*(?:then|so|hence|thus|therefore)\s*,?\s*\}\s*", re.IGNORECASE)
_CHANGE = re.compile(r"\\Delta\s+([a-z])(?![a-zA-Z])")
_NUMBERED = re.compile(r"\s*(?:\\q?quad|\\tag|\\hfill|\s{2,})\s*(?:\(\d{1,3}[a-z]?\)|\{\d{1,3}[a-z]?\})\s*$")


def tidy(text: str) -> str:
    r"""Without the mark that ends a sentence and without a number, and with two habits spelled out.

    >>> tidy(r"\beta \in \mathbb{R}^+"), tidy(r"\Delta s = 1. \tag{3}")
    ('\\beta > 0', '\\Delta_{s} = 1')
    """
    text = _NUMBERED.sub("", text)
    text = re.sub(r"[.,;:]\s*$", "", _CONNECTIVE.sub("", text.strip(), count=1))
    return _CHANGE.sub(r"\\Delta_{\1}", _POSITIVE.sub("> 0", text))


def as_written(tokens: Sequence[Token]) -> str:
    """Tokens as text."""
    return shown(tokens)
