r"""What words refer to: 'the scores of a and b' are $k_a^\top q$ and $k_b^\top q$, 'head 2' has the output $c_2$.

Who 'the others' are is what is left besides those that the sentence names. Where a reference is not certain, it is
marked as a guess: what is said of it may be proved, and is never called false.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headwright.check.reading.cases import looks_like_a_case
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Token

SMALL = ("zero", "one", "two", "three", "four")
ORDINALS = ("", "first", "second", "third", "fourth")
FRACTIONS = {"a half": r"\frac12", "one half": r"\frac12", "a third": r"\frac13", "one third": r"\frac13"}
KINDS = ("score", "weight", "exponential")
REST, ALL, FRONT = "rest", "all", "front"  # in place of an index: the others, every key, the first m
LONGEST = 6  # words of a phrase


@dataclass(frozen=True)
class Objects:
    """What words may refer to in an exercise.

    >>> Objects(keys=("a", "b"), queries=("q",)).heads
    1
    """

    keys: tuple[str, ...] = ()  # those that are named
    first: str = ""  # or the first m of them
    set: str = ""  # what their indices are called
    queries: tuple[str, ...] = ()  # q, or q_1 and q_2 of two heads
    tokens: int = 0  # of self-attention: then token i has the query q_i, the key k_i and the output c_i
    complete: bool = False  # there are no other keys than those that are named
    asked: str = ""  # what is asked for, if it is one thing
    condition: bool = False  # a condition on the scores is asked for
    pair: tuple[str, str] | None = None  # two things, of which is asked whether they differ
    matrices: bool = False
    nearly: bool = False  # keys are known up to vanishing noise: 'is' says 'is nearly'
    noise: bool = False  # and that is all that is uncertain of them
    facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of matrices: P is a permutation
    scaled: Mapping[str, str] = field(default_factory=dict)  # a random length, and the key that has it
    separated: bool = False  # keys at a distance of at least 1
    even: frozenset[str] = frozenset()  # cases that have probability one half, without blanks
    output: str = ""  # the output that is asked about, of tokens
    changed: tuple[str, str] = ("", "")  # the token that may be changed, and what it is
    hoped: str = ""  # what the output is hoped to become by that

    @property
    def heads(self) -> int:
        """How many heads there are."""
        return len(self.queries)


@dataclass(frozen=True)
class Subject:
    """What something is said of: terms, each with the indices it is said for ('i != a'; '' for none)."""

    kind: str  # score, weight, output or term
    terms: tuple[tuple[str, str], ...]  # none where only the kind is known: 'the scores are x and y'
    guessed: bool = False
    refs: tuple[str, ...] = ()


class UnfitError(Exception):
    """The words at hand do not fit the grammar here: something else is tried, or they stay words."""


class Cursor:
    """A place in a sentence, and what was named in it before."""

    def __init__(self, tokens: Sequence[Token], objects: Objects, before: Sequence[str]) -> None:
        """The tokens of a sentence, and the formulas that were stated before it."""
        self.tokens = list(tokens)
        self.objects = objects
        self.before = before
        self.at = 0
        self.out: list[Token] = []
        self.last: Subject | None = None
        self.sign = ""  # of the clause before, for '..., those of the others 0'
        self.named: dict[str, list[str]] = {}  # kind -> the indices that this sentence names
        self.head = 0  # the head, or the token, that is spoken of
        self.under = ""  # what is assumed by the words of a clause: 'adding $u_d$ to $x_2$ gives ...'
        self.also: list[str] = []  # formulas within a subject: 'the scores of the query $x_2 = u_a$'

    def word(self, ahead: int = 0) -> str:
        """The word at hand, or one further on; '' where there is none."""
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) and self.tokens[at].kind == "word" else ""

    def kind(self) -> str:
        """Of the token at hand; '' at the end."""
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def text(self) -> str:
        """Of the token at hand, whatever it is."""
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def take(self, *phrases: str) -> str:
        """One of these phrases, the longest that fits; '' where none does."""
        for phrase in sorted(phrases, key=lambda one: -one.count(" ")):
            words = phrase.split()
            if all(self.word(ahead) == word for ahead, word in enumerate(words)):
                self.at += len(words)
                return phrase
        return ""

    def take_from(self, *names: str) -> str:
        """A phrase of these tables of the lexicon."""
        return self.take(*(phrase for name in names for phrase in lexicon().table(name)))

    def skip(self, *names: str) -> None:
        """Phrases of these tables, as many as there are."""
        while self.take_from(*names):
            pass

    def need(self, found: object) -> None:
        """Give up where something is missing."""
        if not found:
            raise UnfitError

    def next(self, kind: str) -> str:
        """The token at hand, which must be of this kind."""
        self.need(self.kind() == kind)
        self.at += 1
        return self.tokens[self.at - 1].text.strip()

    def phrase(self, table: Mapping[tuple[str, ...], str], *, closed: bool = False) -> str:
        """What the longest phrase at hand stands for; with `closed`, a clause must end after it."""
        for length in range(LONGEST, 0, -1):
            words = tuple(self.word(ahead) for ahead in range(length))
            found = table.get(words) if "" not in words else None
            if found is not None:
                back, self.at = self.at, self.at + length
                if not closed or self.ends():
                    return found
                self.at = back
        return ""

    def ends(self) -> bool:
        """Whether a clause may end here; words that say no more are passed over."""
        self.skip("trailing")
        back = self.at
        if not (self.take_from("however long") and self.kind() == "term" and self.next("term") and self.take("is")):
            self.at = back
        return self.kind() in ("", "mark", "formula") or self.word() in lexicon().table("ends")

    def closed(self) -> bool:
        """Whether a clause ends here and nothing is added to it: neither a case, nor 'and the second'."""
        self.skip("trailing")
        if self.word() == "and":
            return self.word(1) not in ("the", "so", "also", "both", "as")
        behind = self.tokens[self.at + 1].kind if self.at + 1 < len(self.tokens) else ""
        given = self.word() == "with" and behind == "formula"
        return given or self.kind() in ("", "mark", "formula") or self.word() in lexicon().table("closes")

    def stated(self) -> list[str]:
        """The formulas before this place, in this sentence and those before it."""
        return [*self.before, *(one.text for one in self.out if one.kind == "formula")]

    def coming(self) -> list[str]:
        """The formulas behind this place, in this sentence."""
        return [one.text for one in self.tokens[self.at :] if one.kind == "formula"]

    def mention(self, kind: str, refs: Iterable[str]) -> None:
        """Remember which keys were named."""
        self.named.setdefault(kind, []).extend(ref for ref in refs if ref not in (REST, ALL, FRONT))


class Things(Cursor):
    """Reads what something is said of."""

    # Which keys.

    def indices(self) -> tuple[tuple[str, ...], bool]:
        """'$k_a$ and $k_b$', 'key 1', 'the other keys', 'both keys': indices, and whether that is a guess."""
        if self.take_from("rest") or self.leftover() or self._all_but_wanted():
            return (REST,), True
        if self.take_from("all"):
            return (ALL,), False
        if self.word() == "both" and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].kind == "term":
            self.at += 1  # 'both $k_a$ and $k_b$'
        for count, name in ((2, "two"), (3, "three"), (0, "targets")):
            if self.take_from(name):
                return self.targets(count), True
        if self.front():
            self.need(self.take("keys", "ones", "indices"))
            return (FRONT,), True
        inside = self._by_set()
        if inside:
            return (inside,), False
        self.skip("a key")
        for number, ordinal in enumerate(ORDINALS[1:], 1):
            if self.take(f"{ordinal} key", f"{ordinal} token", f"{ordinal} one", f"{ordinal} value", ordinal):
                return (self.ordinal(number),), True
        found = self.labels()
        while self.text() in ("and", ",") and self.kind() in ("word", "mark"):
            back, self.at = self.at, self.at + 1
            self.take("and")
            try:
                found += self.labels()
            except UnfitError:
                self.at = back
                break
        return tuple(found), False

    def _all_but_wanted(self) -> bool:
        """'any key other than these two', 'all keys besides $k_a$ and $k_b$'."""
        back = self.at
        try:
            if self.take_from("keys other than") and set(self.indices()[0]) == set(self.targets()):
                return True
        except UnfitError:
            pass
        self.at = back
        return False

    def _by_set(self) -> str:
        """'all keys in $S$', 'those outside': the first m, or the others."""
        back = self.at
        self.take_from("keys of a set")
        where = self.take("in", "inside", "outside", "not in") if self.objects.set and self.at > back else ""
        named = self.text() == self.objects.set and self.kind() == "term"
        self.at += named
        if where in ("outside", "not in") or (where and named):
            return REST if where in ("outside", "not in") else FRONT
        self.at = back
        return ""

    def leftover(self) -> bool:
        """'the remaining $n - 3$ keys', if it is so many that are left."""
        back = self.at
        if self.take_from("leftover") and self.kind() == "term":
            left = self.objects.first or str(len(self.objects.keys))
            if "".join(self.text().split()) == f"n-{left}" and (self.objects.first or self.objects.keys):
                self.at += 1
                self.take("keys", "ones")
                return True
        self.at = back
        return False

    def labels(self) -> list[str]:
        """'$k_a$', '$a, b$', or the letter of a key as a word."""
        if self.kind() == "term":
            parts = [_LABEL.fullmatch(part) for part in self.text().split(",")]
            labels = [one[1].strip("{}") for one in parts if one]
            self.need(len(labels) == len(parts) and all(map(self.is_key, labels)))
            self.at += 1
            return labels
        self.take("key")
        word = self.word()
        article = word == "a" and not (self.word(1) in ("and", "is", "are", "has", "gets") or self._comma_follows())
        self.need(self.is_key(word) and not article)
        self.at += 1
        return [word]

    def _comma_follows(self) -> bool:
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].text == ","

    def is_key(self, label: str) -> bool:
        """Whether a label is that of a key; i and j are any one."""
        if self.objects.tokens:
            return label.isdigit() and 1 <= int(label) <= self.objects.tokens
        return label in self.objects.keys or label in ("i", "j")

    def ordinal(self, number: int) -> str:
        """Which key is the first, the second."""
        keys = self.objects.keys
        if self.objects.tokens:
            return str(number)
        if keys and keys[0].isdigit():
            self.need(str(number) in keys)
            return str(number)
        self.need(number <= len(keys))
        return keys[number - 1]

    def front(self) -> bool:
        """'the first $m$' keys, where that many are wanted."""
        back = self.at
        self.take("the", "each of the", "every one of the", "all of the", "all the")
        if self.objects.first and self.take("first") and self.text() == self.objects.first:
            self.at += 1
            return True
        self.at = back
        return False

    def targets(self, count: int = 0) -> tuple[str, ...]:
        """The keys that the exercise is about; so many of them, where that is said."""
        if self.objects.first and not count:
            return (FRONT,)
        keys = self.objects.keys
        self.need(keys and not self.objects.tokens and count in (0, len(keys)))
        return keys

    def besides(self, kind: str) -> str:
        """Which indices are the others: all that the sentence does not name; without any, all that are not wanted."""
        self.need(not self.objects.tokens and not self.objects.complete)
        named = [ref for ref in self.named.get(kind, ()) if ref not in ("i", "j") or ref in self.objects.keys]
        if self.objects.first:
            self.need(not named)
            return f"i > {self.objects.first}"
        earlier = [[ref for ref in mentioned(kind, text) if ref in self.objects.keys] for text in reversed(self.before)]
        named = list(dict.fromkeys(named or next((refs for refs in earlier if refs), [*self.objects.keys])))
        self.need(named and set(named) <= set(self.objects.keys))
        return rf"i \ne {', '.join(named)}"

    # Scores, weights, outputs.

    def query(self, head: int) -> str:
        """The query of a head, or of a token."""
        if self.objects.tokens and head:
            return f"q_{{{head}}}"
        if self.objects.heads > 1:
            self.need(head)
            return self.objects.queries[head - 1]
        self.need(self.objects.queries)
        return self.objects.queries[0]

    def of_keys(self, kind: str, refs: tuple[str, ...], guessed: bool) -> Subject:
        """The scores, or the weights, of these keys."""
        self.head = head = self.of_head() or self.head
        if refs == (ALL,) and self.objects.complete:
            refs = self.objects.keys
        if refs == (REST,):
            guessed = not set(self.objects.keys) <= set(self.named.get(kind, ()))
        terms = []
        for ref in refs:
            where = {REST: "", ALL: "i", FRONT: rf"i \le {self.objects.first}"}.get(ref, "")
            where = self.besides(kind) if ref == REST else where
            letter = "i" if ref in (REST, ALL, FRONT) else ref
            if kind == "score":
                terms.append((rf"k_{{{letter}}}^\top {self.query(head)}", where))
            elif kind == "exponential":
                terms.append((rf"e^{{k_{{{letter}}}^\top {self.query(head)}}}", where))
            else:
                self.need(self.query(head))
                several = self.objects.heads > 1 or self.objects.tokens
                terms.append((rf"\alpha_{{{head},{letter}}}" if several else rf"\alpha_{{{letter}}}", where))
        self.mention(kind, refs)
        return Subject(kind, tuple(terms), guessed, refs)

    def said_for(self, kind: str) -> Subject:
        r"""The scores, or weights, 'for a and b', 'for $i \le m$'."""
        found = _INDEX_CASE.match(self.text()) if self.kind() == "formula" else None
        if found is None or kind not in KINDS:
            return self.of_keys(kind, *self.indices())
        self.need(self.objects.heads == 1 and not self.objects.tokens and found[1] not in self.objects.keys)
        (term, _), *_ = self.of_keys(kind, (ALL,), False).terms
        return Subject(kind, ((term.replace("{i}", f"{{{found[1]}}}"), self.next("formula")),), refs=(found[1],))

    def in_sum(self, subject: Subject) -> Subject:
        """All terms of a subject together: 'the other weights are at most $x$ in all'."""
        self.need(subject.terms)
        ranges = {"i": "i=1}^{n"}
        parts = [rf"\sum_{{{ranges.get(where, where)}}} {term}" if where else term for term, where in subject.terms]
        return Subject("term", ((" + ".join(parts), ""),), subject.guessed)

    def of_head(self) -> int:
        """'... of head 1'; 0 where nothing is said."""
        back = self.at
        try:
            return self.head_named() if self.take("of", "in", "for") else 0
        except UnfitError:
            self.at = back
            return 0

    def head_named(self) -> int:
        """'head 1', 'the first head', 'the second', 'token 2'."""
        back = self.at
        what, most = ("token", self.objects.tokens) if self.objects.tokens else ("head", self.objects.heads)
        self.take("the", "our")
        for number in range(1, most + 1) if most > 1 else ():
            names = [f"{what} {number}", f"{what} {SMALL[number]}", f"{ORDINALS[number]} {what}"]
            names += [f"{ORDINALS[number]} one", ORDINALS[number]]
            if self.take(*names):
                return number
            if self.objects.tokens and self.text() in (f"x_{number}", f"x_{{{number}}}"):
                self.at += 1
                return number
        self.at = back
        self.need(most == 2 and what == "head")
        if self.take("one head", "one"):
            return 1
        self.need(self.head == 1 and self.take("the other head", "the other one", "the other"))
        return 2

    def subject(self) -> Subject:
        """'the scores of a and b', 'all other weights', 'the output', 'the score $k_a^T q$', '$alpha_a$'."""
        if self.kind() == "term":
            return self._plain_term()
        if self.take_from("the sum of"):
            return self.in_sum(self.subject())
        if self.take_from("the total"):  # 'the total weight on the others'
            self.need(self.take_from("weight") and self.take("of", "on", "at", "for"))
            return self.in_sum(self.of_keys("weight", *self.indices()))
        if self.word() == "it" and self.ranging() and self.last is not None and self.last.refs == (self.ranging(),):
            self.at += 1
            return self.last
        if self.last is not None and self.last.kind == "output" and self.take("that of", "the one of", "the output of"):
            return Subject("output", ((f"c_{{{self.head_named()}}}", ""),))
        if self._pronoun() and self.last is not None:
            return self.last
        if self.take("which", "this"):
            return self._which(self.tokens[self.at - 1].text)
        left = self.leftover()
        kind = next((kind for kind in KINDS if left and self.take_from(kind)), "")
        if kind:  # 'the remaining $n - 3$ weights'
            return self.of_keys(kind, (REST,), True)
        if left or self.take_from("others"):
            said = [[kind for kind in MENTIONS if mentioned(kind, text)] for text in reversed(self.before)]
            kinds = [self.last.kind] if self.last is not None else next((one for one in said if one), [])
            self.need(kinds in (["score"], ["weight"], ["exponential"]))
            return self.of_keys(kinds[0], (REST,), True)
        self.take("then")
        if self.take("c"):
            self.need(not self.objects.tokens and self.objects.queries)
            return Subject("output", (("c", ""),))
        each = self.take_from("each")
        own = next((kind for kind in KINDS if each == "its" and self.last and self.take_from(kind)), "")
        if own and self.last is not None:  # 'every other key is orthogonal to $q$, so its score is $0$'
            self.need(self.last.refs and self.last.kind in KINDS)
            return self.of_keys(own, self.last.refs, True)
        own = next((kind for kind in KINDS if each in ("its", "whose") and self.take_from(kind)), "")
        if own:  # '$q = k_a$, whose score at $k_a$ is $1$'
            self.need(self.word() in ("of", "on", "for", "at"))
            return self._of_nouns(own, each, (), 0)
        if each == "their" and self.objects.heads > 1 and self.take("mean", "average"):
            return Subject("output", (("c", ""),), guessed=True)
        if each in ("its", "whose") or self.word() in ("norm", "length", "rank"):
            return self._length(each)
        if self.take_from("wanted"):
            kind = next((kind for kind in KINDS if self.take_from(kind)), "")
            self.need(kind)
            return self.of_keys(kind, self.targets(), True)
        rest = bool(self.take("other", "remaining"))
        count = SMALL.index(self.take(*SMALL[2:]) or "zero") or (2 if each.startswith("both") else 0)
        rest = bool(self.take("other", "remaining")) or rest
        self.take_from("wanted")
        front = self.front()
        number = ORDINALS.index(self.take(*ORDINALS[1:]) or "")
        kind = next((kind for kind in KINDS if self.take_from(kind)), "")
        if kind:
            refs = (FRONT,) if front else (REST,) if rest else (self.ordinal(number),) if number else ()
            return self._of_nouns(kind, each, refs, count)
        if number and each == "the" and self.last is not None and self.last.kind in KINDS:
            self.need(self.word() in lexicon().table("being") and not self.objects.tokens)
            return self.of_keys(self.last.kind, (self.ordinal(number),), True)  # 'the first score is $x$, the second'
        self.need(each == "the" and not (front or rest or count or number))
        if self.take("ratio", "quotient"):
            return self._ratio()
        if self.take_from("denominator"):
            if self.take("of"):
                self.next("term")
            term = rf"\sum_{{j=1}}^{{n}} e^{{k_j^\top {self.query(self.head)}}}"
            return Subject("term", ((term, ""),), guessed=True)
        if self.take_from("gap"):
            self.take_from("of the scores")
            return self.gap_of_wanted()
        if self.objects.pair and self.take("difference", "difference of the two", "difference between the two"):
            return Subject("term", (("({}) - ({})".format(*self.objects.pair), ""),), guessed=True)
        if self.objects.heads > 1 and self.take_from("mean", "final output"):
            return Subject("output", (("c", ""),), guessed=True)
        self.need(self.take("output", "attention output", "result"))
        return self._output()

    def _pronoun(self) -> bool:
        """'... and both tend to $x$': the scores, or weights, that were spoken of last."""
        back, last = self.at, self.last
        if last is None or last.kind not in KINDS or len(last.terms) < 2:
            return False
        said = self.take("both", "they both", "both of them")
        self.skip("adverbs")
        here = self.at
        sign = said and (self.word() in lexicon().table("being") or self.phrase(lexicon().signs))
        self.at = here if sign else back
        return bool(sign)

    def _of_nouns(self, kind: str, each: str, refs: tuple[str, ...], count: int) -> Subject:
        """What follows 'the scores', 'every other weight', 'the two weights'."""
        if self.kind() == "term" and _OBJECT.match(self.text()) and not refs:
            loosely = self.tokens[self.at - 2].text == "attention"  # 'attention scores' are weights to many
            self.need(loosely or kind not in MENTIONS or mentioned(kind, self.text()))
            return self._plain_term()
        if refs:
            self.take("of the other keys", "of the keys")
            return self.of_keys(kind, refs, True)
        if count:
            return self.of_keys(kind, self.targets(count), False)
        if self.take("of", "on", "for", "at"):
            if self._of_query():
                return Subject(kind, (), guessed=True)
            refs, guessed = self.indices()
            if self.objects.tokens and self.take("with itself"):
                self.head = int(refs[0])
            return self.of_keys(kind, refs, guessed)
        if each in ("all", "all the", "every", "each", "all of the"):
            return self.of_keys(kind, (ALL,), True)
        letter = self.ranging()
        if letter and not self.objects.tokens and self.objects.heads == 1:
            term = rf"k_{letter}^\top {self.query(0)}" if kind == "score" else rf"\alpha_{letter}"
            return Subject(kind, ((term, ""),), guessed=True, refs=(letter,))
        return Subject(kind, (), guessed=True)

    def ranging(self) -> str:
        """The letter of an index for which something was just said to be: 'for $i \\le m$ the score is ...'."""
        said = self.out[:-1] if self.out and self.out[-1].text == "," else self.out
        if len(said) < 2 or said[-1].kind != "formula" or said[-2].text not in ("for", "if", "when"):
            return ""
        opens = len(said) == 2 or said[-3].kind in (
            "mark",
            "word",
        )  # '$a = b$ for $i \\ne j$' is about what stands before
        found = _INDEX_CASE.match(said[-1].text)
        return found[1] if found is not None and opens else ""

    def _of_query(self) -> bool:
        """'the scores of the query $x_2 = u_a$': all of them, in the row of that token."""
        back = self.at
        found = None
        if self.objects.tokens and self.take("the query", "query", "the second query", "the query vector"):
            found = _ROW.match(self.text()) if self.kind() in ("term", "formula") else None
        if found is None:
            self.at = back
            return False
        self.head = int(found[1])
        self.also = [self.text()] if self.kind() == "formula" else []
        self.at += 1
        return True

    def _plain_term(self) -> Subject:
        found = [self.next("term")]
        while self.word() == "and" and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].kind == "term":
            self.at += 1
            found.append(self.next("term"))
        self.need(all(_OBJECT.match(one) for one in found))
        kinds = [kind for kind in MENTIONS if all(mentioned(kind, one) for one in found)]
        for kind in kinds:
            self.mention(kind, [ref for one in found for ref in mentioned(kind, one)])
        return Subject(kinds[0] if kinds else "term", tuple((one, "") for one in found))

    def _which(self, word: str) -> Subject:
        """'$a = b$, which is positive', '$a = b$, and this is positive': what is said of the last side."""
        between = (",",) if word == "which" else (",", "and")
        behind = [one for one in self.out[-3:] if one.text not in between][-1:]
        self.need(behind and behind[0].kind in ("formula", "term") and not looks_like_a_case(behind[0].text))
        return Subject("term", ((sides(behind[0].text)[-1], ""),), guessed=True)

    def case_of_before(self) -> Subject:
        """'for $c = 1/2$ this is ...': what was written before stands on the left of an equation."""
        self.need(self.take("this", "that", "it"))
        behind = [one for one in self.out[-2:] if one.text != ","][-1:]
        case = bool(behind) and behind[0].kind == "formula" and looks_like_a_case(behind[0].text)
        stated = [*self.before, *(one.text for one in self.out if one.kind == "formula")]
        stated = [text for text in reversed(stated) if "=" in text and not looks_like_a_case(text)]
        self.need(case and stated)
        weights = [
            text for text in stated if mentioned("weight", sides(text)[0])
        ]  # rather than a score, said as a reason
        return Subject("term", ((sides((weights or stated)[0])[0], ""),), guessed=True)

    def _ratio(self) -> Subject:
        """The quotient that was written last, on the left of what it is."""
        stated = [*self.before, *(one.text for one in self.out if one.kind == "formula")]
        written = [side for text in stated for side in sides(text)[:1] if re.search(r"/|frac", side)]
        self.need(written)
        self.take("of the weights", "of the two weights")
        return Subject("term", ((written[-1], ""),), guessed=True)

    def _length(self, each: str) -> Subject:
        noun = self.take("norm", "length", "rank")
        self.need(noun)
        if each in ("its", "whose"):
            if each == "whose":  # '$q = x$, whose norm is $y$'
                behind = [one for one in self.out[-2:] if one.text != ","][-1:]
                self.need(behind and re.match(rf"\s*{self.objects.asked}\s*=", behind[0].text))
            self.need(self.objects.asked == ("B" if noun == "rank" else "q"))
            term = r"\operatorname{rank}(B)" if noun == "rank" else r"\|q\|"
            return Subject("term", ((term, ""),), guessed=each == "its")
        self.need(self.take("of"))
        if noun == "rank":
            return Subject("term", ((rf"\operatorname{{rank}}({self.next('term')})", ""),))
        return Subject("term", ((rf"\|{self.next('term')}\|", ""),))

    def _output(self) -> Subject:
        head = self.of_head()
        name = f"c_{{{head}}}" if head else "c"
        if self.kind() == "term" and _OUTPUT.fullmatch(self.text()):
            name = self.next("term")
        self.need(self.objects.queries or head or name != "c")
        return Subject("output", ((name, ""),))

    def gap_of_wanted(self) -> Subject:
        """'the gap of the scores': of each wanted key to every other."""
        targets, query = self.targets(), self.query(self.head)
        self.need(targets != (FRONT,))
        where = self.besides("score") if len(targets) > 1 else rf"i \ne {targets[0]}"
        terms = tuple((rf"k_{{{key}}}^\top {query} - k_i^\top {query}", where) for key in targets)
        return Subject("term", terms, guessed=True)


_INDEX = r"(\w|\{\w+\})"
MENTIONS = {
    "score": re.compile(rf"k_{_INDEX}\s*\^\s*\{{?(?:\\top|T|\\intercal)\}}?\s*q(?![a-zA-Z])|(?<!\w)s_{_INDEX}"),
    "weight": re.compile(rf"(?:\\alpha|(?<![a-z\\])alpha)_{_INDEX}"),
}
_LABEL = re.compile(rf"\s*(?:(?:k|v|x|s|\\alpha|alpha|\\mu|mu)_)?{_INDEX}\s*")
_OBJECT = re.compile(r"\s*(?:\\?alpha_|k_(?:\w|\{\w+\})\s*\^|s_|c(?:_|\s*$))|\s*\\\|q")
_INDEX_CASE = re.compile(r"\s*([ij])\s*(?:[<>≤≥≠=]|\\(?:leq?|geq?|neq?|in|notin)(?![a-zA-Z]))")
_ROW = re.compile(r"\s*[xq]_\{?(\d)\}?(?!\w)")
_OUTPUT = re.compile(r"\s*c(?:_\w|_\{\w\})?\s*")
_SIGNS = re.compile(r"<=|>=|!=|->|(?<!\\)[=<>≤≥≈≠]|\\(?:leq?|geq?|approx|neq?|to|gg|ll|lt|gt)(?![a-zA-Z])")


def sides(text: str) -> list[str]:
    """The sides of a chain of relations.

    >>> sides("a = b < c")
    ['a', 'b', 'c']
    """
    found, start = [], 0
    for sign in _SIGNS.finditer(text):
        if text.count("{", 0, sign.start()) == text.count("}", 0, sign.start()):  # not in \sum_{i=1}
            found.append(text[start : sign.start()])
            start = sign.end()
    return [side.strip(" .,;&") for side in (*found, text[start:])]


def mentioned(kind: str, text: str) -> list[str]:
    r"""The keys whose scores, or weights, a formula names.

    >>> mentioned("score", r"k_a^\top q = k_{b}^T q")
    ['a', 'b']
    """
    sought = MENTIONS.get(kind)
    return [next(filter(None, one.groups())).strip("{}") for one in sought.finditer(text)] if sought else []
