"""The formulas of an answer, each with the kind of its sentence and the conditions that bind it.

A sentence is neutral (connectives and verbs of stating only) or worded. A clause with a turning word (not, never,
would, ...) is quoted, and so is what follows from a hypothetical one. Brackets are sentences of their own. Words are
never judged; sentences with words beyond connectives are listed to read.

Binding words are syntax: 'for all i', 'if g > 1', 'where lambda > 0', 'Case c = 1/2:'. Where a binding word is followed
by something that is not read, its formula carries a `doubt`: nothing is proved for a wider range than was written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from headwright.formulas import FormulaError, goes_on, joined, macros, parse_each
from headwright.formulas import tree as t
from headwright.formulas.parse import Macro
from headwright.grading.clauses import IMPLIES, Clause, clauses_of, without_brackets
from headwright.grading.markdown import Written
from headwright.grading.phrases import (
    NUMBERS,
    is_letter,
    is_name,
    joined_phrases,
    lead_of,
    name_of,
    trail_of,
)
from headwright.grading.sentences import Sentence, Token, sentences
from headwright.grading.tidying import tidy, without_reasons
from headwright.grading.wording import is_neutral, turns, word_list, words_of

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
    earlier: tuple[
        t.Node, ...
    ] = ()  # conditions that were stated before it in its paragraph
    clouded: bool = False  # one of these is in words, or quoted
    picked: str = ""  # words that may pick out or change what it is about


@dataclass(frozen=True)
class LeftOver:
    """Words that may restrict or change what is written, and that no formula of the answer stands for.

    `names`: what they are about; empty where they are about all that their sentence gives.
    """

    line: int
    sentence: int
    words: str
    names: frozenset[str] = frozenset()
    of_given: bool = False  # a size of something given: 'for small n'
    unless_bounded: bool = False  # nothing is left if the names are bounded elsewhere
    of_own: bool = False  # names are meant only where they are open


@dataclass(frozen=True)
class Text:
    """What was read: formulas in order, words that are left over, and the sentences that a person has to read."""

    statements: tuple[Statement, ...]
    to_read: tuple[tuple[int, str], ...] = ()
    left_over: tuple[LeftOver, ...] = ()
    described: frozenset[str] = (
        frozenset()
    )  # names that are described in words: 'let S' be S without its last row'
    determined: Mapping[str, tuple[int, str]] = field(
        default_factory=dict
    )  # ... with words that may say what it is


def read(
    written: Written, names: Collection[str] = (), given: Collection[str] = ()
) -> Text:
    """The statements of an answer; `names` are words of several letters that the exercise knows.

    `given` are the numbers that the exercise leaves open: 'for n = 4, m = 3' are two conditions.
    """
    reader = _Reader(
        tuple(names), frozenset(given), macros(written.macros + "\n" + written.text)
    )
    for number, sentence in enumerate(without_brackets(sentences(written))):
        reader.hear(sentence, number)
        if len(reader.found) > MOST_STATEMENTS:
            break
    found = [
        replace(one, number=number)
        for number, one in enumerate(reader.found[:MOST_STATEMENTS])
    ]
    return Text(
        tuple(found),
        tuple(reader.to_read),
        tuple(reader.left_over),
        frozenset(reader.described),
        reader.determined,
    )


# Binding.

_BINDERS = words_of(
    "for if when whenever where with as once provided assuming given case"
)
_REASONS = words_of("as since because")
_CONDITIONAL = words_of("if when whenever provided assuming case")
_BEGINNING_CONDITION = words_of("for if when whenever unless once")
_CONNECTING = words_of("and but so then also")
_SUPPOSING = words_of("suppose assume assuming")
_FIXING = words_of("let fix set assume consider")
_INTRODUCING = words_of("let where with call denote")
_EVERY = words_of("all every each any both")
_SOME = words_of("some one a an")
_LARGE, _SMALL = words_of("large big huge"), words_of("small tiny")
_FILL = (
    words_of(
        "the other others remaining index indices number numbers integer integers fixed constant scalar real positive"
        " value values sufficiently enough parameter two three factor that of choice arbitrary different and very"
        " arbitrarily non-negative dot product inner score scores weight weights query vector matrix ratio norm length"
        " temperature sum"
    )
    | _EVERY
    | _SOME
    | _LARGE
    | _SMALL
)
_THINGS = words_of(
    "key keys token tokens head heads values value cases positions queries others"
)
_CHOOSING = words_of("we i one you take took choose chose set put let use used")
_HARMLESS = words_of(
    "this these such choice choices reason same instance example our my general now here definition it its we have get"
    " obtain find gives first second third head token part term pair take choose set"
)
_LETS = words_of(
    "let set take choose define put pick write call denote with where use consider propose query assume suppose"
)
_FOLLOWS = words_of(
    "so then hence thus therefore gives get yields follows consequently obtain"
)
_EXAMPLE = words_of("example instance e.g. say")
_NARROWING = words_of("for if when whenever unless except otherwise only")
_STATING = _LETS | _FOLLOWS | words_of("is are have has means holds")
_DESCRIBING = words_of(
    "is be lies depends must should has equals denotes being taken chosen set"
)
_APPROXIMATE = words_of(
    "about around roughly approximately near close comparable proportional like"
)
_HARMLESS_DESCRIPTION = (
    _FILL
    | _DESCRIBING
    | words_of(
        "in to be chosen later below above determined free strictly real-valued which will we can choose specified yet"
        " any scale scaling sharpness strength gain multiplier coefficient knob hyperparameter inverse it this not"
        " freely as for so then and at our disposal fix is are enough"
    )
)
_SPELLED = words_of("alpha beta gamma lambda tau mu kappa eta")
_LATER = words_of("later below end determined chosen choose find first")
_EQUAL_TO = re.compile(r"^(?:is )?(?:equal to|equals|=) (?:\d|one|zero|unity)")
_TO_ZERO = re.compile(
    r"\b(?:less than|below|to|towards?|approaching|for) (?:zero|one)\b"
)
_EVERY_CHOICE = words_of("arbitrary any every")
_GIVING_A_VALUE = words_of(
    "a the is being value number constant of for in place instead as into equal to just simply"
)
_PRONOUNS = words_of("then this that it here")
_ANNOUNCING = words_of("part step line claim case question head")
_GROWING = words_of("is are being grows chosen taken which has must be")
_WITHDRAWN = re.compile(
    r"\b(?:scrap|discard|retract|withdraw) (?:that|this|it|the above)\b"
    r"|\b(?:that|this|it) (?:is|was) (?:(?:wrong|false|incorrect)(?! to| that)|a mistake|no good|not enough)\b"
    r"|\b(?:that|this|it) (?:fails|failed|does not work|doesn't work|did not work|didn't work)\b"
)


def _withdrawing(tokens: Sequence[Token]) -> int:
    """Where the words that withdraw something begin."""
    for at in range(len(tokens)):
        words = [one.text for one in tokens[at:] if one.kind == "word"]
        if tokens[at].kind == "word" and _WITHDRAWN.match(" ".join(words)):
            return at
    return len(tokens)


class _Bound(NamedTuple):
    """How a formula is bound by the words before it."""

    binder: str
    some: bool = False
    size: str = ""


def _bound(tokens: Sequence[Token], at: int) -> tuple[_Bound | None, str]:
    """What binds the formula at a place; else the words of a binding that was not read."""
    lead = lead_of(tokens, at)
    places = [place for place, word in enumerate(lead) if word in _BINDERS]
    if not places:
        return None, ""
    place = next((one for one in places if set(lead[one + 1 :]) <= _FILL), places[-1])
    binder, middle = lead[place], set(lead[place + 1 :])
    if binder == "case":
        named = not middle and set(lead[:place]) <= {
            "in",
            "the",
            "special",
            "and",
            "for",
            "a",
        }
        return (_Bound("case"), "") if named else (None, " ".join(lead))
    if middle <= (_FILL | _CHOOSING if binder in ("if", "when") else _FILL):
        size = "large" if _LARGE & middle else "small" if _SMALL & middle else ""
        return _Bound(
            binder,
            bool(_SOME & middle) and not _EVERY & middle and binder == "for",
            size,
        ), ""
    likely = binder == "with" and not {"probability", "chance"} & middle
    harmless = middle <= _HARMLESS | _FILL or binder in ("as", "where") or likely
    return None, "" if harmless else " ".join(lead[place:])


def _behind(tokens: Sequence[Token], at: int) -> str:
    """The words of a binding right behind a formula that were not read."""
    trail = trail_of(tokens, at)
    if trail == ["or"] and at + 2 < len(tokens) and tokens[at + 2].kind == "term":
        return "or"
    if not trail or trail[0] not in (*_NARROWING, "with"):
        return ""
    stop, rest = at + 1 + len(trail), set(trail[1:])
    if (
        trail[0] != "otherwise"
        and stop < len(tokens)
        and tokens[stop].kind in ("formula", "term")
    ):
        bound, unread = _bound(tokens, stop)
        return unread if bound is None and trail[0] in _NARROWING else ""
    if trail[0] == "with":
        return " ".join(trail) if {"probability", "chance"} & rest else ""
    universal = bool(_EVERY & set(trail[1:2])) and rest <= _FILL | _THINGS
    harmless = trail[0] == "for" and bool(rest) and rest <= _HARMLESS | _FILL - _SOME
    return "" if universal or harmless else " ".join(trail[:8])


class _Reader:
    """Reads one sentence after the other, and keeps what is assumed."""

    def __init__(
        self,
        names: tuple[str, ...],
        given: frozenset[str],
        commands: Mapping[str, Macro],
    ) -> None:
        self.names, self.given, self.commands = names, given, commands
        self.found: list[Statement] = []
        self.to_read: list[tuple[int, str]] = []
        self.left_over: list[LeftOver] = []
        self.described: set[str] = set()
        self.determined: dict[str, tuple[int, str]] = {}
        self.paragraph = -1
        self.supposed: tuple[
            t.Node, ...
        ] = ()  # 'Suppose ...', to the end of the paragraph
        self.quoting = False  # a supposition that was not read
        self.hypothetical = False  # whether the sentence before was
        self.case: tuple[t.Node, ...] = ()  # 'Case c = 1/2:'
        self.fixed: tuple[t.Node, ...] = ()  # 'Let n = 2.', to the end of the answer
        self.earlier: list[t.Node] = []
        self.clouded = False
        self.other_case = False  # 'Otherwise ...'
        self.chain: int | None = None  # the claim that a leading '=' goes on from
        # Of the sentence that is heard:
        self.tokens: list[Token] = []
        self.sentence, self.number = Sentence((), 0), 0
        self.kind: Kind = "neutral"
        self.front: list[t.Node] = []  # conditions that stand before what they bind
        self.doubt, self.strict = "", False  # a condition in words that stands there
        self.after: list[int] = []  # the claims that a condition behind them may bind
        self.label = ""  # words before a colon
        self.one: t.Name | None = None  # 'for one i'

    def hear(self, sentence: Sentence, number: int) -> None:
        """One sentence, after those before it, clause by clause."""
        goes_on = self.sentence.end == ";"
        self.sentence, self.number = sentence, number
        self.tokens = joined_phrases(sentence.tokens)
        tokens = self.tokens
        words = [one.text for one in tokens if one.kind == "word"]
        self._close_scopes(words)
        neutral = is_neutral([word for word in words if not turns(word)])
        self.kind = "neutral" if neutral else "worded"
        turned = any(map(turns, words))
        if words and not sentence.heading and (not neutral or turned):
            self.to_read.append((sentence.tokens[0].line, sentence.text))
        self.front, self.after, self.one = [], [], None
        self.doubt, self.strict = "", False
        self.label = self._opening_label()
        self.other_case = bool(tokens) and (
            tokens[0].text == "otherwise" or (self.other_case and goes_on)
        )
        if self.other_case:  # 'Otherwise F, hence G; so H'
            self.doubt, self.strict = "otherwise", True
        self._keep_changes(words)
        self._keep_contrary(words)
        opening = {one.text for one in tokens[:2]}
        continues = self.hypothetical and bool(_PRONOUNS & opening)
        self._clauses(continues or sentence.end in ("?", "|"))
        self._narrow_to_one()
        self._withdraw(words)
        if {"contradiction", "absurd"} & set(words):
            self.supposed, self.quoting = (), False
        goes_on_so = self.hypothetical and bool(_PRONOUNS & set(words[:1]))
        self.hypothetical = (
            bool(word_list()["hypothetical"] & set(words))
            or goes_on_so
            or sentence.end == "?"
        )

    def _close_scopes(self, words: Sequence[str]) -> None:
        """A paragraph, or 'in general', closes what was supposed in the one before."""
        sentence = self.sentence
        is_new = sentence.paragraph != self.paragraph
        if is_new or words[:2] == ["in", "general"]:
            self.supposed, self.quoting, self.hypothetical = (), False, False
            self.earlier, self.clouded, self.case = [], False, ()
            self.fixed = self.fixed if is_new else ()
        if sentence.item or sentence.heading:
            self.case = ()
        self.paragraph = sentence.paragraph

    def _opening_label(self) -> str:
        """'Equal keys: ...': words before a colon, which may be a case."""
        marks = [one.text if one.kind == "mark" else "" for one in self.tokens]
        opening = self.tokens[: marks.index(":")] if ":" in marks else []
        label = [one.text for one in opening if one.kind == "word"]
        if not opening or len(label) > 5:
            return ""
        if any(one.kind in ("formula", "term") for one in opening):
            return ""
        announced = len(label) < 2 or label[0] in _ANNOUNCING
        worded = not is_neutral(label) and not any(map(turns, label))
        is_case = worded or not (announced or _STATING & set(label))
        return " ".join(label) if is_case else ""

    def _narrow_to_one(self) -> None:
        """'For one i' narrows what is said, unless that is said for all j != i."""
        if self.one is None:
            return
        for at in self.after:
            said = self.found[at]
            compared = [part for part in said.under if isinstance(part, t.Relation)]
            if any(part.terms[1] == self.one for part in compared):
                kept = tuple(part for part in said.under if part != self.one)
                self.found[at] = replace(said, under=kept)
            else:
                self.found[at] = replace(said, doubt="for some", strict=True)

    def _withdraw(self, words: Sequence[str]) -> None:
        """'That is wrong' withdraws the formulas of the sentence before it, or of its own."""
        text = " ".join(words)
        if not _WITHDRAWN.search(text) or _BINDERS & words_of(text):
            return
        tokens = self.tokens
        before = tokens[: _withdrawing(tokens)]
        own = tokens[0].kind == "word" and any(one.kind == "formula" for one in before)
        earlier = [one.sentence for one in self.found if one.sentence < self.number]
        # 'one would try F, but that is not enough' is about F
        last = self.number if own else max(earlier, default=-1)
        self.found = [
            replace(one, kind="turned") if one.sentence == last else one
            for one in self.found
        ]

    def _keep_changes(self, words: Sequence[str]) -> None:
        """Words that change what is written, 'scaled to unit length', 'normalise q': they are left over."""
        changing = [
            word
            for word in words
            if word in word_list()["changing"] | word_list()["dividing"]
            or word.startswith(("normalis", "normaliz", "renormal"))
        ]
        if not changing:
            return
        line = self.sentence.tokens[0].line
        tokens = self.tokens
        at = next(n for n, one in enumerate(tokens) if one.text == changing[0])
        commas = [n for n, one in enumerate(tokens) if one.text == ","]
        if tokens[0].text in _REASONS | {"given"} and commas and at < commas[0]:
            return  # 'given the unit norm of the keys, ...' is about what is given
        before = [one for one in tokens[:at] if one.kind == "formula"]
        gives = any(one.kind == "formula" for one in tokens)
        describing = changing[0] not in word_list()["dividing"]
        names = {
            name_of(token)
            for place, token in enumerate(tokens)
            if is_name(token) and lead_of(tokens, place)[-1:] != ["by"]
        }
        if (
            before
        ):  # it is about the formula before it: 'u = ..., which is a unit vector'
            names |= {before[-1].text.partition("=")[0].strip(" $&:\\{}")}
        elif gives and describing:  # about all that the sentence gives
            self.left_over.append(LeftOver(line, self.number, changing[0]))
        if names:
            said = LeftOver(line, self.number, changing[0], frozenset(names))
            self.left_over.append(said)

    def _keep_contrary(self, words: Sequence[str]) -> None:
        """'a large negative $M$', 'any fixed lambda', 'lambda equal to 1': these do not leave a name large."""
        if " not large" in " ".join(["", *words]):
            line = self.sentence.tokens[0].line
            self.left_over.append(LeftOver(line, self.number, "not large"))
        for at, token in enumerate(self.tokens):
            spelled = token.kind == "word" and token.text in _SPELLED
            if not (spelled or is_name(token)):
                continue
            lead = lead_of(self.tokens, at)[-3:]
            trail = trail_of(self.tokens, at)[:6]
            near = {*lead, *trail}
            equal = spelled and _EQUAL_TO.search(" ".join(trail))
            contrary = near & word_list()["contrary"]
            contrary |= set(_TO_ZERO.findall(" ".join(trail)))
            holding = word_list()["holding"] | _SMALL
            held = near & holding and not near & (_LARGE | _LATER)
            if not (contrary or held or equal):
                continue
            shown = token.text if spelled else f"${token.text}$"
            said = LeftOver(
                token.line,
                self.number,
                " ".join([*lead, shown, *trail]),
                frozenset({name_of(token)}),
                unless_bounded=not contrary,
                of_own=True,
            )
            self.left_over.append(said)
            if spelled and _SMALL & set(lead) and {"for", "when"} & set(lead):
                self.left_over.append(replace(said, of_own=False, of_given=True))

    def _clauses(self, all_quoted: bool) -> None:
        """The clauses of a sentence, one after the other."""
        tokens, clauses = self.tokens, clauses_of(self.tokens)
        supposed_at = next(
            (at for at, token in enumerate(tokens) if token.text in _SUPPOSING), None
        )
        there_is = any(clause.some for clause in clauses)
        is_quoted_before = False
        for clause in clauses:
            first_words = [one.text for one in tokens[clause.start : clause.start + 3]]
            follows_quoted = is_quoted_before and "then" in first_words
            quoted = clause.quoted or all_quoted or follows_quoted or self.quoting
            before = len(self.found)
            self._doubt_unread_condition(clause)
            for at in self._places(clause):
                # 'suppose that there is an i with F' supposes nothing that is read
                supposed = supposed_at is not None and supposed_at < at and not there_is
                self._formula_or_term(at, clause, quoted, supposed)
            if quoted and len(self.found) > before:
                self.clouded = True
            is_quoted_before = quoted
        if supposed_at is not None:
            rest = tokens[supposed_at:]
            if there_is or all(one.kind in ("word", "mark") for one in rest):
                self.quoting = True  # what is supposed was not read
        if self.front and not self.after:
            self._keep_front()

    def _places(self, clause: Clause) -> list[int]:
        """Where the formulas and terms of a clause stand."""
        return [
            at
            for at in range(clause.start, clause.stop)
            if self.tokens[at].kind in ("formula", "term")
        ]

    def _doubt_unread_condition(self, clause: Clause) -> None:
        """'If the key is too short, ...': a condition in words alone."""
        words = [word for word in clause.words if word not in _CONNECTING]
        if not words or words[0] not in _BEGINNING_CONDITION:
            return
        if not self._places(clause) and not set(words[1:]) <= _HARMLESS | _FILL:
            self.doubt, self.clouded = " ".join(words[:8]), True

    def _formula_or_term(
        self, at: int, clause: Clause, quoted: bool, supposed: bool
    ) -> None:
        """One formula or term of a clause; `supposed`: it stands behind 'suppose'."""
        token = self.tokens[at]
        bound, unread = _bound(self.tokens, at)
        if token.kind == "term":
            self._term(token, at, bound, unread, quoted)
            return
        made = self._parsed(token, at, quoted)
        if supposed and made and bound is None and not self.supposed:
            kind: Kind = "turned" if quoted else self.kind
            self.found += [
                replace(one, role="condition", binder="suppose", kind=kind)
                for one in made
            ]
            nodes = [one.node for one in made]
            self.supposed = tuple(node for node in nodes if node is not None)
        else:
            self._formula(made, at, bound, unread, quoted, clause)

    def _keep_front(self) -> None:
        """A condition before nothing that it binds: a case for what comes below, or what is fixed from here on."""
        last = self.tokens[-1].text
        sentence = self.sentence
        if sentence.end == ":" or last == ":" or sentence.item or sentence.heading:
            self.case = (*self.case, *self.front)
        elif _FIXING & {one.text for one in self.tokens}:
            self.fixed = tuple(self.front)

    # Formulas.

    def _parsed(self, token: Token, at: int, quoted: bool) -> list[Statement]:
        """A formula as its statements; one that begins with a relation goes on from the claim before."""
        found: list[Statement] = []
        base = Statement(
            token.text,
            token.line,
            None,
            display=token.display,
            sentence=self.number,
            paragraph=self.paragraph,
        )
        subject = set(lead_of(self.tokens, at)) - words_of(
            "and so or which is hence thus then finally"
        )
        said = None if self.chain is None else self.found[self.chain]
        text, reasons = without_reasons(token.text)
        given = [
            replace(base, node=node, text=reason, reason=True)
            for reason in reasons
            for node in parse_each(tidy(reason), names=self.names, macros=self.commands)
            if isinstance(node, t.Relation) and not goes_on(node)
        ]
        for node in parse_each(tidy(text), names=self.names, macros=self.commands):
            concluded = None if isinstance(node, FormulaError) else _concluded(node)
            if isinstance(node, FormulaError):
                found.append(replace(base, problem=node))
            elif concluded is not None and (said is None or _names_a_value(concluded)):
                for part in t.conjuncts(concluded):  # '=> q = ...' says q = ...
                    span = part.span
                    text = span.source[span.start : span.stop].strip(" ,;.&\n")
                    found.append(replace(base, node=part, text=text, follows=True))
            elif not goes_on(node):
                span = node.span
                text = (
                    span.source[span.start : span.stop].strip(" ,;.&\n") or token.text
                )
                line = token.line + token.text.count("\n", 0, max(0, span.start))
                found.append(replace(base, node=node, text=text, line=line))
            elif found and found[-1].node is not None:
                found[-1] = replace(found[-1], node=joined(found[-1].node, node))
            elif (
                said is not None
                and said.node is not None
                and not quoted
                and not subject
                and self.chain is not None
            ):
                whole = joined(said.node, node)
                kind = self.kind if said.kind == "neutral" else said.kind
                self.found[self.chain] = replace(
                    said, node=whole, text=f"{said.text} {tidy(token.text)}", kind=kind
                )
                self.after.append(self.chain)
            elif (
                isinstance(node, t.Relation) and len(node.terms) > 2
            ):  # what it goes on from was not read
                found.append(
                    replace(
                        base,
                        node=t.Relation(
                            node.terms[1:], node.comparisons[1:], span=node.span
                        ),
                    )
                )
        return found + given

    def _formula(
        self,
        made: list[Statement],
        at: int,
        bound: _Bound | None,
        unread: str,
        quoted: bool,
        clause: Clause,
    ) -> None:
        """One formula: a condition, a case, or a claim."""
        limit = any(
            isinstance(one.node, t.Relation) and "->" in one.node.comparisons
            for one in made
        )
        if bound is not None and bound.binder in _REASONS and not limit:
            bound = None
        if (
            bound is not None and clause.some
        ):  # 'there is an i with F': neither F nor what it is said of is claimed for all
            bound, unread = None, "there is"
        spoken = {name.base for one in made for name in t.every_name(one.node)}
        given = (
            bool(spoken)
            and spoken <= self.given
            and all(_plain_condition(one.node) for one in made)
        )
        verbs = [
            n for n in range(at + 1, clause.stop) if self.tokens[n].text in IMPLIES
        ]
        implying = bool(verbs) and any(
            one.kind == "formula" for one in self.tokens[verbs[0] : clause.stop]
        )
        if made and bound is None and implying:  # 'A implies B' claims neither
            bound = _Bound("if")
        if made and (bound is not None or self._conjoined(at, made, given)):
            self._conditions(made, bound, at, quoted)
        elif made and given and not _FOLLOWS & set(lead_of(self.tokens, at)):
            # 'g > 1: ...', 'Say g > 1.': what is given, and not always so, is a case and no claim
            if self._is_announced(at):
                self._conditions(made, _Bound("case"), at, quoted)
            else:  # 'we must survive c = 1/2': neither claimed nor a condition
                self.earlier += [one.node for one in made if one.node is not None]
        else:
            self._claims(made, at, unread, quoted, clause)

    def _claims(
        self,
        made: Sequence[Statement],
        at: int,
        unread: str,
        quoted: bool,
        clause: Clause,
    ) -> None:
        lead = lead_of(self.tokens, at)
        if unread:
            self.doubt = self.doubt or unread
            self.clouded = True
        behind = _behind(self.tokens, at) or next(
            (word for word in ("otherwise", "or") if word in lead[:2]), ""
        )
        behind = "there is" if clause.some else behind
        if (
            lead[:1] == ["or"]
            and self.after
            and self.found[self.after[-1]].node is not None
        ):
            self.found[self.after[-1]] = replace(
                self.found[self.after[-1]], doubt="or", strict=True
            )
        before = {
            one.text for one in self.tokens[clause.start : at] if one.kind == "word"
        }
        other = {"a", "an"} & set(clause.words[:1])  # 'a longer query has ...'
        picked = (word_list()["picking"] & before) | other | ({self.label} - {""})
        reason = bool(_REASONS & set(lead[:1] + lead[-1:]))
        if any(_denies(one.node, part) for one in made for part in self.supposed):
            self.supposed = ()  # 'Suppose F. ... Hence not F.'
        for one in made:
            self.after.append(len(self.found))
            self.found.append(
                replace(
                    one,
                    kind="turned" if quoted else self.kind,
                    role="wanted" if clause.wanted and not one.follows else "claim",
                    doubt=behind or self.doubt,
                    strict=bool(behind) or self.strict,
                    lets=bool(_LETS & before),
                    under=(*self.supposed, *self.fixed, *self.case, *self.front),
                    reason=reason or one.reason,
                    follows=one.follows or bool(_FOLLOWS & before),
                    example=bool(_EXAMPLE & before),
                    size=self._size(at, lead),
                    earlier=tuple(self.earlier),
                    clouded=self.clouded,
                    picked=" ".join(sorted(picked)),
                )
            )
            if not (reason or one.reason):
                self.chain = self.after[-1]

    # Conditions.

    def _conjoined(self, at: int, made: Sequence[Statement], given: bool) -> bool:
        """'for m = 1 and n = 2': a further condition; 'F, i != j': a range."""
        lead = lead_of(self.tokens, at)
        before = at - 1 - len(lead)
        if before < 0 or any(one.node is None for one in made):
            return False
        ranges = all(
            isinstance(one.node, t.Relation | t.Bond | t.Logic) and is_index(one.node)
            for one in made
        )
        if ranges and not lead and bool(self.after):
            return True
        last = self.found[-1] if self.found else None
        if last is None or last.role != "condition" or last.sentence != self.number:
            return False
        bound_itself = trail_of(self.tokens, at)[:1] in (
            ["for"],
            ["if"],
            ["when"],
        )  # 'x = 1 for n = 2 and x = 2 for ...'
        if (
            lead == ["and"]
            and self.tokens[before].kind == "formula"
            and not bound_itself
        ):
            return given or (
                not self.after and all(_plain_condition(one.node) for one in made)
            )
        return not lead and self.tokens[before].text == "," and given

    def _is_announced(self, at: int) -> bool:
        """Whether a case opens a sentence or a clause, or is followed by what holds in it."""
        lead, follower = lead_of(self.tokens, at), self.tokens[at + 1 : at + 2]
        words = words_of("say let fix either or and set take consider assume for")
        opens = at == len(lead) or self.tokens[at - 1].kind == "mark"
        holds = bool(follower) and follower[0].text in (
            ":",
            "gives",
            "yields",
            "means",
            "we",
        )
        return (
            holds or (opens and set(lead) <= words) or bool(lead and lead[-1] in words)
        )

    def _conditions(
        self, made: Sequence[Statement], bound: _Bound | None, at: int, quoted: bool
    ) -> None:
        """Formulas that a binding word makes conditions: of what stands before them, or of what follows."""
        binder = bound.binder if bound is not None else "and"
        kind: Kind = "turned" if quoted else self.kind
        for one in made:
            size = (bound.size if bound is not None else "") or self._size(at, [])
            under = (*self.supposed, *self.case, *self.front)
            lets = binder in ("with", "where")
            made_so = replace(
                one,
                role="condition",
                binder=binder,
                kind=kind,
                size=size,
                under=under,
                lets=lets,
            )
            self.found.append(made_so)
            if one.node is None:
                self._narrow(at, f"{binder} ${one.text}$")
                continue
            apart = (
                isinstance(one.node, t.Relation) and "!=" in one.node.comparisons
            )  # 'for some t != t''
            some = (
                bound is not None
                and bound.some
                and (is_index(one.node) or apart)
                and not size
            )
            self._bind(one.node, some, at, binder)
            self.earlier.append(one.node)
            if bound is not None and bound.some and not some and not size:
                self._keep_some(one)

    def _bind(self, node: t.Node, some: bool, at: int, binder: str) -> None:
        """A condition bound to what it stands beside."""
        opens = not self.after or self._opens(at)
        if opens and self._ends_a_clause(at):
            return
        if some and opens and isinstance(node, t.Name):
            self.one = node
        elif some:
            self._narrow(at, "for some", strict=True)
        if opens:
            if binder != "and" and self.after:
                self.front.clear()
            self.front.append(node)
            return
        places = [
            n
            for n in range(at - len(lead_of(self.tokens, at)))
            if self.tokens[n].kind in ("formula", "term")
        ]
        last = self.tokens[places[-1]] if places else None
        value = places != [] and lead_of(self.tokens, places[-1]) in (["and"], ["i.e."])
        if (
            last is not None
            and last.kind == "term"
            and (value or not re.fullmatch(r"\\?[a-zA-Z]+", last.text))
        ):
            return  # 'F, that is $x$ for n = 2 and $y$ for n = 3': the conditions are those of x and y
        about = t.listed(node.terms[0] if isinstance(node, t.Relation) else node)
        letters = (
            [item.base for item in about if isinstance(item, t.Name)]
            if is_index(node)
            else []
        )
        for place in reversed(self.after):
            self.found[place] = replace(
                self.found[place], under=(*self.found[place].under, node)
            )
            earlier = self.found[place - 1].node if place - 1 in self.after else None
            if earlier is None or not t.speaks_of(earlier, *letters):
                break

    def _ends_a_clause(self, at: int) -> bool:
        """'The claim holds if F, so G': the condition belongs to words before it, and G is said without it."""
        lead = lead_of(self.tokens, at)
        place = next((n for n, word in enumerate(lead) if word in _BINDERS), 0)
        opening = _FOLLOWS | words_of("and but also now even only in general note that")
        main_clause = [word for word in lead[:place] if word not in opening]
        following = self.tokens[at + 1 : at + 3]
        concludes = (
            len(following) == 2
            and following[0].kind == "mark"
            and following[1].text in _FOLLOWS
        )
        return concludes and len(main_clause) > 1 and lead[place - 1] != "that"

    def _opens(self, at: int) -> bool:
        """Whether a condition opens a clause and something follows it: it binds that, and not what stands before."""
        lead, trail = lead_of(self.tokens, at), trail_of(self.tokens, at)
        place = at - 1 - len(lead)
        before = self.tokens[place] if place >= 0 else None
        mark = before.text if before is not None and before.kind == "mark" else ""
        opens = (
            before is None
            or mark in (";", ":")
            or (mark == "," and lead[:1] in (["if"], ["when"]))
        )
        opens |= (
            lead[:1] in (["and"], ["then"], ["so"], ["but"], ["hence"], ["while"])
            and lead[1:] != []
        )
        following = self.tokens[at + 1 :]
        if (
            mark == ","
            and trail[1:]
            and not _BINDERS & set(trail)
            and trail[0] not in ("and", "or")
        ):
            opens |= (
                following[len(trail) : len(trail) + 1] != []
                and following[len(trail)].kind == "formula"
            )
        return (opens or lead[:1] == ["or"]) and any(
            one.kind == "formula" for one in following
        )

    def _narrow(self, at: int, words: str, *, strict: bool = False) -> None:
        """A binding that was not read: it may narrow what stands before it, or what follows."""
        if self.after and not self._opens(at):
            last = self.found[self.after[-1]]
            strict = strict or words.split()[0] in _NARROWING
            self.found[self.after[-1]] = replace(
                last, doubt=last.doubt or words, strict=last.strict or strict
            )
        else:
            self.doubt, self.strict = self.doubt or words, self.strict or strict
        self.clouded |= words != "for some"

    # Terms and sizes.

    def _term(
        self, token: Token, at: int, bound: _Bound | None, unread: str, quoted: bool
    ) -> None:
        """A term: 'for all $i$', 'for some $k$', 'a large $lambda$'."""
        if unread:
            self._narrow(at, unread)
            return
        lead, trail = lead_of(self.tokens, at), trail_of(self.tokens, at)
        size = (bound.size if bound is not None else "") or self._size(at, lead)
        self._note_description(token, at, lead, trail, size)
        self._keep_limits(token, lead, trail, size)
        if not size:
            self._keep_choices(token, at)
        names = self._names_of_term(token)
        is_condition = bound is not None and bound.binder in _CONDITIONAL
        if not names or (is_condition and not size):
            if is_condition:
                self._narrow(at, " ".join([*lead, f"${token.text}$", *trail][:9]))
            return
        if size and not quoted:
            self._send(token, names, size)
        elif bound is not None and bound.binder in ("for", "whenever"):
            self._bind_letters(names, lead, bound, at)

    def _names_of_term(self, token: Token) -> list[t.Name]:
        """The names in a term that is a name or a list of names; none where it is anything else."""
        nodes = parse_each(tidy(token.text), names=self.names, macros=self.commands)
        items = [
            item
            for node in nodes
            if isinstance(node, t.Node)
            for item in t.listed(node)
        ]
        names = [item for item in items if isinstance(item, t.Name)]
        return names if len(names) == len(items) else []

    def _note_description(
        self,
        token: Token,
        at: int,
        lead: Sequence[str],
        trail: Sequence[str],
        size: str,
    ) -> None:
        """'where $R$ is the matrix ...' describes a name, 'beta is the constant of the lecture' may determine one."""
        name = re.sub(r"[\\{}\s]", "", token.text)
        introduces = bool(_INTRODUCING & set(lead)) or lead[-1:] == ["and"]
        goes_on = bool(trail[1:]) or self.tokens[at + 1 + len(trail) :][:1] != []
        is_told = trail[:1] in (["be"], ["is"], ["denotes"])
        if introduces and is_told and goes_on and not size:
            self.described.add(name)
        if trail == [] or trail[0] not in _DESCRIBING | _APPROXIMATE:
            return
        if size and not any(turns(word) or word == "too" for word in trail):
            return  # 'lambda is large'
        of_another = trail[-1:] == ["of"] and goes_on  # 'is the norm of $x$'
        if of_another or not set(trail) <= _HARMLESS_DESCRIPTION:
            self.determined.setdefault(name, (token.line, " ".join(trail[:8])))

    def _send(self, token: Token, names: Sequence[t.Name], size: str) -> None:
        """'a large lambda' goes to infinity, 'a small tau' to 0."""
        end = t.INFINITY if size == "large" else t.ZERO
        for name in names:
            node = t.Relation((name, end), ("->",), span=name.span)
            sent = Statement(
                token.text, token.line, node, role="size", size=size, lets=True
            )
            sent = replace(sent, sentence=self.number, paragraph=self.paragraph)
            self.found.append(sent)

    def _bind_letters(
        self, names: Sequence[t.Name], lead: Sequence[str], bound: _Bound, at: int
    ) -> None:
        """'for all $i$', 'for some $k$', 'for the other $i$'."""
        if not all(map(t.is_letter, names)):
            return
        of_others = bool({"other", "others", "remaining"} & set(lead))
        if not (bound.some or of_others or _EVERY & set(lead)):
            return
        for name in names:
            letter: t.Node = name
            if of_others:
                letter = t.Relation((name, OTHERS), ("!=",), span=name.span)
            self._bind(letter, bound.some and not of_others, at, "for")

    def _keep_limits(
        self, token: Token, lead: Sequence[str], trail: Sequence[str], size: str
    ) -> None:
        """Words that hold a name back, 'a moderate lambda', 'whatever lambda is', 'for small n': they are left over."""
        if not is_name(token):
            return
        name, limiting = name_of(token), word_list()["limiting"]
        relative = trail[1:] if trail[:1] in (["that"], ["which"]) else trail
        independent = {"not", "depend"} <= set(relative) or "independent" in relative
        words = ""
        if lead[-1:] == ["whatever"]:
            words = f"whatever ${token.text}$ is"
        elif set(lead[-2:]) & limiting:
            words = f"{' '.join(lead[-2:])} ${token.text}$"
        elif independent or set(relative[:3]) & limiting:
            words = f"${token.text}$ {' '.join(trail[:6])}"
        numbers = [word for word in trail if word.isdigit() or word in NUMBERS]
        if numbers and {"norm", "length", "size"} & set(trail[:4]):
            words = f"${token.text}$ {' '.join(trail[:6])}"  # 'q has norm 1'
        if words:
            said = LeftOver(token.line, self.number, words, frozenset({name}))
            self.left_over.append(said)
        if size and lead[:1] in (["for"], ["when"], ["if"], ["with"]):
            said_behind = [] if (_LARGE | _SMALL) & set(lead) else trail[:4]
            words = " ".join([*lead, f"${token.text}$", *said_behind])
            said = LeftOver(
                token.line, self.number, words, frozenset({name}), of_given=True
            )
            self.left_over.append(said)

    def _keep_choices(self, token: Token, at: int) -> None:
        """'for arbitrary beta', 'beta between $1$ and $10$', '$1$ in place of beta' do not leave beta large."""
        if not is_letter(token):
            return
        lead, trail = lead_of(self.tokens, at), trail_of(self.tokens, at)
        said = trail[1:3] if set(trail[:1]) & _DESCRIBING else trail[:1]
        free = {"arbitrary"} & set(lead[-2:]) or _EVERY_CHOICE & set(said)
        ranges = trail[:1] in (["between"], ["of"])
        if not (free or ranges or self._has_number_beside(at)):
            return
        words = " ".join([*lead[-3:], f"${token.text}$", *trail[:4]])
        names = frozenset({name_of(token)})
        self.left_over.append(
            LeftOver(token.line, self.number, words, names, unless_bounded=True)
        )

    def _has_number_beside(self, at: int) -> bool:
        """Whether a number stands beside the name at a place, with words between that may give it to the name."""
        for step in (-1, 1):
            words: set[str] = set()
            place = at + step
            while 0 <= place < len(self.tokens):
                other = self.tokens[place]
                if other.kind in ("formula", "term"):
                    is_number = re.fullmatch(r"[\d./]+", other.text.strip()) is not None
                    if is_number and words and words <= _GIVING_A_VALUE:
                        return True
                    break
                words |= {other.text} if other.kind == "word" else set()
                place += step
        return False

    def _keep_some(self, one: Statement) -> None:
        """'for some lambda > 0' does not say which: that is left over, unless more is said of lambda."""
        names = frozenset(name.base for name in t.every_name(one.node))
        words = f"for some ${one.text}$"
        said = LeftOver(one.line, self.number, words, names, unless_bounded=True)
        self.left_over.append(said)

    def _size(self, at: int, lead: Sequence[str]) -> str:
        """'large' or 'small', where words beside a formula say so."""
        trail = trail_of(self.tokens, at)
        after = self.tokens[at + 1 : at + 3]
        if (
            not trail
            and len(after) == 2
            and after[0].text == ","
            and after[1].kind == "word"
        ):
            trail = trail_of(self.tokens, at + 1)
            trail = trail if trail[0] in (*word_list()["size"], "which") else []
        stop = next(
            (
                n
                for n, word in enumerate(trail)
                if word in ("and", "so", "then", "we", "for", "if", "in")
            ),
            6,
        )
        trail = (
            trail[:stop] if trail and trail[0] in _GROWING | word_list()["size"] else []
        )
        words = {*lead[-3:], *trail}
        return (
            "large"
            if words & _LARGE or trail[:1] == ["grows"]
            else "small"
            if words & _SMALL
            else ""
        )


# Nodes.


def is_index(node: t.Node | None) -> bool:
    """Whether a condition speaks of indices: i != a, b; i in S; or for all i."""
    match node:
        case t.Name(base, None, _):
            return len(base) == 1
        case t.Listing(items):
            return all(map(is_index, items))
        case t.Relation((t.Name(("i" | "j" | "l"), None, _), *others), _) | t.Relation(
            (_, t.Name(("i" | "j" | "l"), None, _), *others), _
        ):
            parts = [part for term in (node.terms[0], *others) for part in t.walk(term)]
            plain = t.Name | t.Number | t.Listing | t.Sum | t.Negative | t.Dots
            return all(
                isinstance(part, plain) and getattr(part, "index", None) is None
                for part in parts
            )
        case t.Bond("in", left, _) | t.Logic("not", (t.Bond("in", left, _),)):
            return is_index(left)
        case _:
            return False


def _concluded(node: t.Node) -> t.Node | None:
    """What stands behind an arrow that begins a formula: '=> q = ...'."""
    match node:
        case t.Logic("implies", (t.Gap(), conclusion)):
            return conclusion
        case _:
            return None


def _denies(node: t.Node | None, supposed: t.Node) -> bool:
    """Whether one of two comparisons says that two things are equal, and the other that they differ."""
    body = None if node is None else t.unquantified(node)
    if not isinstance(body, t.Relation) or not isinstance(supposed, t.Relation):
        return False
    signs = {*body.comparisons, *supposed.comparisons}
    return signs == {"=", "!="} and set(body.terms) == set(supposed.terms)


def _names_a_value(node: t.Node) -> bool:
    """Whether an equation has one name on its left, as a definition has, which is no weight and no output."""
    match t.conjuncts(node)[0]:
        case t.Relation((t.Name(base), *_), ("=", *_)):
            return base not in ("alpha", "c")
        case _:
            return False


def _plain_condition(node: t.Node | None) -> bool:
    """Whether names and numbers alone are compared: n = 4."""
    terms = node.terms if isinstance(node, t.Relation) else ()
    flat = [item for term in terms for item in t.listed(term)]
    return bool(flat) and all(
        t.is_letter(item) or not list(t.every_name(item)) for item in flat
    )
