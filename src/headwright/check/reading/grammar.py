r"""Clauses in words as formulas: 'the scores of a and b are $\lambda$' says $k_a^\top q, k_b^\top q = \lambda$.

A clause is a subject (`things`), a predicate and a value, from the closed tables of lexicon.toml. What fits becomes a
formula, which is judged like any other; what does not stays as it was, and is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from headwright.check.reading.cases import looks_like_a_case
from headwright.check.reading.constructs import Constructs
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.rules import BEGIN_BARE
from headwright.check.reading.sentences import GoesOn, Loose, Token
from headwright.check.reading.things import (
    ALL,
    KINDS,
    MENTIONS,
    ORDINALS,
    REST,
    Objects,
    Subject,
    UnfitError,
    mentioned,
)
from headwright.check.reading.written import leads_on

PREDICATES = (r"\ge 0", "> 0", "< 0", "= 0", r"\approx 0", r"\ne 0")
OPENS_A_CASE = ("for", "if", "when", "whenever", "once", "as")
BOUNDS = (r"\le", r"\ge", "<", ">")
COUNTS = ("first", "firstly", "second", "secondly", "third", "next", "finally")


def in_words(tokens: Sequence[Token], objects: Objects, before: Sequence[str] = ()) -> tuple[Token, ...]:
    r"""The tokens of a sentence, with formulas for its clauses in words; `before` is what was stated before it.

    >>> said = [*(Token("word", w, 1) for w in "every other score is".split()), Token("term", "0", 1)]
    >>> [one.text for one in in_words(said, Objects(keys=("a", "b"), queries=("q",)))]
    ['k_{i}^\\top q = 0 \\text{ for all } i \\ne a, b']
    """
    return tuple(_Reader(_without_contrast(_without_number(tokens)), objects, before).read())


def _without_number(tokens: Sequence[Token]) -> Sequence[Token]:
    """'First, ...' without the word that counts; 'the first ...' and 'first we ...' stay as they are."""
    counts = len(tokens) > 2 and tokens[0].text in COUNTS and tokens[1].text == "," and tokens[2].kind == "formula"
    return tokens[2:] if counts and tokens[0].kind == "word" else tokens


def _without_contrast(tokens: Sequence[Token]) -> Sequence[Token]:
    """'Instead of pulling towards the others we push away: ...' without what is not done, if that is all words."""
    if [one.text for one in tokens[:2]] != ["instead", "of"]:
        return tokens
    stop = next((at for at, one in enumerate(tokens) if one.kind != "word" or one.text in ("we", "i")), len(tokens))
    told = stop < len(tokens) and (tokens[stop].kind == "word" or tokens[stop].text == ",")
    return tokens[stop:] if told else tokens


class _Reader(Constructs):
    """Goes through a sentence once; where a clause may begin, it is tried."""

    def read(self) -> list[Token]:
        while self.at < len(self.tokens):
            said = self._try() if self._may_begin() else None
            if said is None and (self._introduced() or self._passed_over()):
                continue
            if said and self.out and self.out[-1].kind in ("formula", "term"):
                self.out.append(Token("mark", ",", said[0].line))  # 'for $g > 1$ the output is ...'
            self.out += said or []
            if not said and self._of_the_output():
                continue
            if not said:
                if self._behind_a_case():
                    self.out.append(Token("mark", ",", self.tokens[self.at].line))
                self._hear(self.tokens[self.at])
                self.out.append(self.tokens[self.at])
                self.at += 1
        return self.out

    def _behind_a_case(self) -> bool:
        """'as $a \\to 0$ the key ...': what is said for a case begins here, and is no condition."""
        case = len(self.out) > 1 and self.out[-1].kind == "formula" and self.out[-2].text in OPENS_A_CASE
        return case and self.word() in ("the", "both", "each", "every", "all")

    def _of_the_output(self) -> bool:
        """'for $g > 1$ the output goes to $v_a$, for $g < 1$ it goes to $v_b$': 'it' is the output."""
        token, last = self.tokens[self.at], self.last
        if not (token.goes_on == "end" and token.loose == "room" and last and last.kind == "output" and last.terms):
            return False
        self.out += [Token("mark", ",", token.line)] * (self.out[-1].kind == "formula")
        self.out.append(replace(token, text=f"{last.terms[0][0]} {token.text}", goes_on=""))
        self.at += 1
        return True

    def _hear(self, token: Token) -> None:
        """Which keys a formula names: 'k_a^T q = lambda and all others are 0'; which head: '$q_1 = u$: the score'."""
        whose = _QUERY.match(self.out[0].text) if token.text == ":" and len(self.out) == 1 else None
        if whose is not None and self.objects.heads > 1 and self.out[0].kind == "formula":
            self.head = int(whose[1])
        for kind in MENTIONS if token.kind == "formula" else ():
            found = mentioned(kind, token.text)
            if found and not leads_on(token.text):
                self.mention(kind, found)
                self.last, self.sign = Subject(kind, (), refs=tuple(found)), "="

    def _may_begin(self) -> bool:
        if not self.out:
            return True
        last = self.out[-1]
        if self.kind() == "term" and len(self.out) > 1 and self.out[-2].kind == "term":
            return False  # 'the sum of $a$ and $b$ is ...'
        if last.kind == "mark":
            return last.text in (",", ":", "(") or (last.text == ")" and self.word() in BEGIN_BARE)
        if self._preamble():
            return True
        if last.kind in ("formula", "term"):
            asks = self.word(1) if self.word() == "which" else self.word()
            told = self.objects.tokens and asks in lexicon().table("attending")  # '$q_1 = u_c$ looks at token 3'
            does = self.just_set() and ((self.word(),) in lexicon().acts or self.word() == "turns")
            again = self.word() == "to" and self.sign == r"\to" and self._in_a_case()
            of_it = last.kind == "formula" and (self.word() in ("this", "that") or self._of_answer())
            return again or of_it or bool(told) or does or self.word() in BEGIN_BARE
        if last.text in ("it", "these"):
            return len(self.out) > 1 and self.out[-2].text == "with"  # 'with it the scores are ...'
        if last.text in ("let", "where"):
            return self.kind() == "term" and self.text() in {self.objects.set, self.objects.asked} - {""}
        if last.text == "that":
            return len(self.out) > 1 and self.out[-2].text in lexicon().table("claiming")
        return last.text in lexicon().table("begins")

    def _of_answer(self) -> bool:
        """'$q = k_a$ gives ...', '$q = k_a$ has ...': what is said of the object that is asked for."""
        asked = self.objects.asked
        told = self.word() in (*lexicon().table("gives"), *lexicon().table("moves"), "has")
        return told and bool(asked and re.match(rf"\s*\\?{asked}\s*=", self.out[-1].text))

    def _preamble(self) -> bool:
        """'by orthonormality the scores are ...': words before a clause that say where it comes from."""
        words: list[str] = []
        for one in reversed(self.out):
            if one.kind != "word":
                break
            words.insert(0, one.text)
            if " ".join(words) in lexicon().table("preambles"):
                before = self.out[len(self.out) - len(words) - 1] if len(self.out) > len(words) else None
                return before is None or before.kind == "mark" or before.text in lexicon().table("begins")
        return False

    def _introduced(self) -> bool:
        """'the score of $j$ has to be much larger than all others:' is said more precisely behind the colon."""
        start = self.at
        try:
            self.need(self.objects.condition and self._may_begin())
            self.subject()
            if not self.take_from("must beat"):
                self.need(self.take_from("must"))
                self.skip("adverbs")
                self.need(self.phrase({**lexicon().signs, **lexicon().nearly}))
            self.need(self.take_from("rest", "others") or self.subject())
            self.take_from("by a margin")
            self.need(self.text() == ":")
            self.at += 1
        except UnfitError:
            self.at = start
        return self.at > start

    def _passed_over(self) -> bool:
        """What claims nothing of the answer, where a clause may begin: a fact, a step, what the exercise gives."""
        passed = self._may_begin() and self.passed_over()
        if passed and self.text() == "," and self.out and self.out[-1].text in ("as", "since", "because"):
            self.out.pop()  # 'as $\\pi$ is irrational, ...': the reason is given, and what follows stands alone
            self.at += 1
        return passed

    def _try(self) -> list[Token] | None:
        start, line = self.at, self.tokens[self.at].line
        state = (self.last, self.sign, self.head)
        named = {kind: list(refs) for kind, refs in self.named.items()}
        for attempt in self._attempts():
            try:
                text, loose = attempt()
                # 'as the keys are orthonormal the scores are ...'
                bare = attempt in (self._property, self._given) and self.word() in ("the", "both", "all", "every")
                self.need(bare or self.ends() or (self.under and not text))
                aside: GoesOn = "aside" if attempt == self._of_matrices else ""
                also = [Token("formula", part, line, goes_on="aside") for part in self.also]
                if self.under:
                    under = Token("word", "if", line), Token("formula", self.under, line), Token("mark", ",", line)
                    also = [*under, *also]
                self.also, self.under = [], ""
                return also + [Token("formula", part, line, loose=loose, goes_on=aside) for part in text]
            except UnfitError:
                self.at = start
                self.last, self.sign, self.head = state
                self.also, self.under = [], ""
                self.named = {kind: list(refs) for kind, refs in named.items()}
        return None

    def _attempts(self) -> tuple[Callable[[], tuple[list[str], Loose]], ...]:
        return (
            self._clause, self._named, self.meant, self._head_clause, self._having, self._property, self._ellipsis,
            self._case, self._differ, self._of_matrices, self._given, self.weights_all, self.functional, self.acting,
            self.summands, self.contributing, self.of_token, self.positive, self.projecting, self.previous,
            self.cancelling, self.equality, self.same_for,
        )  # fmt: skip

    # A subject, a sign and a value.

    def _clause(self) -> tuple[list[str], Loose]:
        """'the score of a is at most $x$', 'the scores are $x$ and $y$', 'all other weights $-> 0$'."""
        if self.take("in"):  # 'in the first head the score of $k_a$ is $x$'
            self.head = self.head_named()
        subject = self.subject()
        if not self.out and self.text() == ":" and subject.terms and subject.kind in ("score", "weight"):
            self.at += 1  # 'score of any other key: $0$', on a line of its own
            return self.valued(subject, self.is_said(subject), False)
        self.skip("adverbs")
        sums = self.take_from("sums")
        if sums:
            subject = self.in_sum(subject)
            return self.valued(subject, self.sign_said() or self.is_said(subject), sums.endswith("exactly"))
        sign, strict = self._predicate(subject)
        return self.valued(subject, sign, strict)

    def _predicate(self, subject: Subject) -> tuple[str, bool]:
        """A sign, or a sign and its right side; and whether it is meant exactly."""
        if self.kind() == "formula" and leads_on(self.text()):
            return "", True
        table = lexicon()
        verb = self.take_from("being")
        self.skip("adverbs")
        strict = bool(self.take("exactly", "precisely"))
        if verb in ("isn't", "aren't") or self.word() in ("not", "never"):
            self.take("not", "never")
            self.need(self.take("zero", "0") or (self.text() == "0" and self.next("term")))
            return r"\ne 0", True
        if verb:
            one = self.phrase(table.of_ones, closed=True)
            if one:
                self.need(one in PREDICATES and self.text() != "(" and not (strict and "approx" in one))
                return one, strict
            two = self.phrase(table.of_twos, closed=True) if len(subject.terms) > 1 else ""
            if two:
                return f"each {two}", strict
        elif self.take("vanishes", "vanish"):
            return ("= 0", True) if self.take_from("exactly") else (r"\to 0", False)
        sign = self.sign_said()
        self.need(sign or verb)
        strict = strict or bool(self.take("exactly", "precisely"))
        self.skip("adverbs")
        return sign or self.is_said(subject, strict), strict or sign in BOUNDS

    def _ellipsis(self) -> tuple[list[str], Loose]:
        """'..., those of the others about $0$'; '... nearly $1$ for $g > 1$ and nearly $0$ for $g < 1$'."""
        self.need(
            self.last is not None and self.sign and " " not in self.sign and self.sign not in ("output", "attends")
        )
        back, subject = self.at, self.last
        try:
            subject = self.subject()
            self.need(subject.terms)
        except UnfitError:
            self.at = back
            subject = self._keys_left(subject)
            self.need(self.out and (self.out[-1].text in ("and", "but") or self._in_a_case()))
            if self._in_a_case() and self.take("it"):  # 'for $g < 1$ it is about $x$'
                self.take_from("being")
        self.need(subject)
        self.skip("adverbs")
        sign = self.sign_said() or self.sign
        if self.sign == r"\to":  # 'tends to $x$ for $g > 1$ and to $y$ for $g < 1$'
            self.take("to")
        value = self._other_value() if subject is not None and subject.kind == "output" else self.value()
        back = self.at
        named = subject is not None and set(subject.refs) & set(self.objects.keys)
        behind = [one.text for one in self.out[-2:] if one.kind == "formula"]
        if subject is not None and named and behind and not looks_like_a_case(behind[0]) and self.take("otherwise"):
            subject = self.of_keys(subject.kind, (REST,), True)  # 'the scores are $x, x$ and $0$ otherwise'
        elif subject is not None and self.take("for", "on", "at"):
            try:
                subject = self.said_for(subject.kind)
            except UnfitError:
                self.at = back
        self.need(subject is not None and subject.terms and self.ends())
        self.last = subject
        room = subject is None or subject.guessed
        return ([] if subject is None else self.for_each(subject, sign, value)), "room" if room else "nearly"

    def _keys_left(self, last: Subject | None) -> Subject | None:
        """'$k_a$ has the score $x$ and the other keys $0$': the same of other keys."""
        back = self.at
        try:
            self.need(last is not None and last.kind in KINDS and last.refs)
            found = self.of_keys(last.kind, *self.indices()) if last is not None else None
            self.need(self.kind() == "term" or self.word() in ("zero", "0"))
        except UnfitError:
            self.at = back
            return last
        return found

    def _in_a_case(self) -> bool:
        """Behind 'for $g > 1$', with or without a comma, where something was said before it."""
        said = self.out[:-1] if self.out and self.out[-1].text == "," else self.out
        case = len(said) > 2 and said[-1].kind == "formula" and looks_like_a_case(said[-1].text)
        return case and said[-2].text in ("for", "if", "when") and self.last is not None

    def _named(self) -> tuple[list[str], Loose]:
        r"""'for $g > 1$ the output $c \approx v_a$': a thing, and the formula that speaks of it."""
        self.need(self.out and self.out[-1].kind == "formula" and self.take("the", "its"))
        noun = next((kind for kind in ("score", "weight") if self.take_from(kind)), "")
        noun = noun or ("output" if self.take("output", "attention output", "result") else "")
        self.need(noun and self.kind() == "formula")
        starts = {"output": r"\s*c(?![a-zA-Z])", "score": r"\s*(?:k_|s_)", "weight": r"\s*\\?alpha_"}
        self.need(re.match(starts[noun], self.text()) and not leads_on(self.text()))
        return [self.next("formula")], ""

    def _other_value(self) -> str:
        """What an output is, where there are two values: 'to the other', 'to the second one'."""
        number = next((n for n, word in enumerate(ORDINALS) if word and self.take(f"the {word}")), 0)
        if not number and not self.take("the other"):
            return self.value()
        self.take("value", "one")
        outputs = [text for text in self.stated() if re.match(r"c(?![a-z_])", text)]
        said = [key for key in self.objects.keys if re.search(rf"v_\{{?{key}", "".join(outputs[-1:]))]
        self.need(len(self.objects.keys) == 2 and self.objects.heads == 1 and (number or len(said) == 1))
        return f"v_{self.ordinal(number) if number else next(key for key in self.objects.keys if key not in said)}"

    def _case(self) -> tuple[list[str], Loose]:
        """'$a = x$. For $c = 1/2$ this is $y$': of what was stated last."""
        subject = self.case_of_before()
        self.need(self.take_from("being", "giving"))
        self.skip("adverbs")
        sign = self.sign_said() or "="
        last, self.sign = self.last, ""
        found = self.for_each(subject, sign, self.value())
        self.last = last
        return found, "room"

    def _differ(self) -> tuple[list[str], Loose]:
        """'Yes, they are different', before anything else is said: of what is asked about."""
        self.need(self.objects.pair and not self.before and not any(one.kind == "formula" for one in self.out))
        subject = self.take_from("the pair")
        verb = self.take_from("being")
        self.take("all", "always", "indeed", "pairwise")
        sign = self.phrase(lexicon().of_twos, closed=True)
        self.need(sign and (subject or not verb))
        return [f" {sign} ".join(self.objects.pair or ())], "room"

    def _given(self) -> tuple[list[str], Loose]:
        """What the exercise says itself: 'let $S$ be the first $m$ indices', 'the noise vanishes'."""
        if self.objects.set and self.kind() == "term":
            self.need(self.next("term") == self.objects.set and self.take("be", "is", "denotes"))
            self.take("the set of")
            self.need(self.front() and self.take("indices", "keys", "numbers"))
            return [rf"{self.objects.set} = \{{1, \dots, {self.objects.first}\}}"], ""
        self.need(self.objects.noise)
        if not self.take_from("no noise"):
            self.need(self.take_from("the keys"))
            self.at += self.kind() == "term" and self.text() in ("k_i", "k_{i}")
            self.skip("adverbs")
            self.need(self.take_from("become their means"))
        return [r"k_i \approx \mu_i"], "room"

    def _of_matrices(self) -> tuple[list[str], Loose]:
        """'$U$ and $V$ have orthonormal columns', '$R_m$ is orthogonal'."""
        self.need(self.objects.matrices)
        names = [self.next("term")]
        while self.word() == "and" and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].kind == "term":
            self.at += 1
            names.append(self.next("term"))
        said = self.take_from("orthogonal")
        self.need(all(_MATRIX.fullmatch(one) for one in names) and said)
        tall = any("orthonormal columns" in self.objects.facts.get(name, ()) for name in names)
        decomposed = any("singular values" in facts for facts in self.objects.facts.values())
        # An orthogonal matrix is square; U of a decomposition is, for whoever fills it up.
        self.need(decomposed or not tall or not ("matri" in said or said == "is orthogonal"))
        return [rf"{name}^\top {name} = I" for name in names], ""

    # Heads, keys, all weights together.

    def _head_clause(self) -> tuple[list[str], Loose]:
        """'head 1 copies $v_a$', 'the softmax puts nearly all its weight on $k_a$', 'head 2 gives $c_2 = v_b$'."""
        guessed = self.word() in ("one", "it") or self.word(1) == "other"
        self.head = head = self._who()
        self.skip("adverbs")
        output = f"c_{{{head}}}" if head else "c"
        outputs = self.take_from("outputs") or ("gives" if self.sign == "output" else "")  # '..., the other $v_b$'
        only = self.take_from("only") if self.objects.tokens else ""
        attends = only or self.take_from("attends") or (self.sign == "attends" and self.take("to", "on", "at", "for"))
        self.need(outputs or attends)
        nearly = self.take_from("almost")
        self.sign, self.last = "output" if outputs else "attends", Subject("output", ((output, ""),))
        if outputs and not nearly and self.kind() == "formula":
            text = self.next("formula")
            self.need(re.match(rf"\s*c_\{{?{head}\}}?(?!\w)" if head else r"\s*c(?![\w_])", text))
            return [text], ""
        if outputs and self.kind() == "term" and _VALUE.search(self.text()):
            return [rf"{output} \approx {self.next('term')}"], "room" if guessed else "nearly"
        back = self.at
        refs = (str(head),) if self.objects.tokens and self.take("itself") else self.indices()[0]
        if len(refs) > 1:  # '$x_1$ attends to $x_3$ and $x_2$ attends to $x_1$'
            self.at = back
            self.skip("a key")
            refs = tuple(self.labels())
        self.need(len(refs) == 1 and refs[0] not in (REST, ALL))
        sign = "=" if only else r"\approx"
        return [rf"{self.of_keys('weight', refs, True).terms[0][0]} {sign} 1"], "room"

    def _who(self) -> int:
        """The head of which something is said; 0 where there is only one."""
        behind = _QUERY.match(self.out[-1].text) if self.out and self.out[-1].kind in ("formula", "term") else None
        if self.objects.tokens and behind:
            self.take("which")
            if self.word() in lexicon().table("attending"):
                return int(behind[1])
        if self.take("it"):
            self.need(self.head)
            return self.head
        if self.head and self.out and self.out[-1].text == "and" and self.word() in lexicon().table("outputs"):
            return self.head  # 'head 2 ..., and outputs $v_b$'
        if self.objects.heads == 1 and (self.take_from("head") or (self.text() == r"\alpha" and self.next("term"))):
            return 0
        return self.head_named()

    def _having(self) -> tuple[list[str], Loose]:
        """'key 1 gets the score $x$', 'every other key has weight about $0$', 'head 1 has score $x$ for $k_a$'."""
        if self.take("it has", "it is of", "which has"):
            return self._of_asked()
        refs: tuple[str, ...] = ()
        if self.take("in"):  # 'in the second head $k_b$ has the score $x$'
            self.head = self.head_named()
        guessed, back = True, self.at
        try:
            self.head = self.head_named()
        except UnfitError:
            self.at = back
            refs, guessed = self.indices()
        if refs and self.take("is orthogonal to", "are orthogonal to", "is perpendicular to", "are perpendicular to"):
            stated = [text for text in self.stated() if not _SIZE.match(text)][-1:]
            just = self.objects.asked == "q" and any(_ASKED.match(text) for text in stated)
            self.need((self.text() in self.objects.queries and self.next("term")) or (just and self.take("it")))
            subject = self.of_keys("score", refs, guessed)
            self.last, self.sign = subject, "="
            return self.for_each(subject, self.is_said(subject), "0"), "room"
        self.skip("adverbs")
        scoring = "score" if refs and self.take_from("scoring") else ""  # 'the three keys score $x$ each'
        self.need(scoring or self.take_from("having"))
        self.skip("adverbs", "articles")
        if refs and (self.take_from("almost no") or self.take("no")):  # 'the first value gets almost no weight'
            sign = "=" if self.tokens[self.at - 2].text in lexicon().table("having") else r"\approx"
            self.need(self.take("weight", "attention"))
            return self.for_each(self.of_keys("weight", refs, guessed), sign, "0"), "room"
        sign = self.sign_said()
        if refs and self.take_from("exponential"):  # 'the wanted keys have exponentials $x$ each'
            self.take("of")
            scores = self.of_keys("score", refs, guessed)
            wrapped = Subject("term", tuple((f"e^{{{term}}}", where) for term, where in scores.terms), guessed=True)
            return self.valued(wrapped, sign or self.sign_said() or "=", False)
        kind = scoring or next((kind for kind in ("score", "weight") if self.take_from(kind)), "")
        if not kind and refs and self.last is not None:
            kind = self.last.kind
        self.need(kind in ("score", "weight") and (self.head or not self.objects.tokens))
        self.take("of")
        subject = self.of_keys(kind, refs, guessed) if refs else Subject(kind, (), guessed=True)
        return self.valued(subject, sign or self.sign_said() or self.is_said(subject), False)

    def _of_asked(self) -> tuple[list[str], Loose]:
        """'it has rank at most $k - 1$', 'it has length $x$': of what is asked for, where that is one thing."""
        sign = self.sign_said()
        noun = self.take("rank", "norm", "length")
        self.need((noun == "rank") == (self.objects.asked == "B") and self.objects.asked in ("q", "B") and noun)
        term = r"\operatorname{rank}(B)" if noun == "rank" else r"\|q\|"
        return self.valued(Subject("term", ((term, ""),), guessed=True), sign or self.sign_said() or "=", False)

    def _property(self) -> tuple[list[str], Loose]:
        """'the keys are orthonormal', 'the weights sum to one'."""
        pair = (
            self.out[-1:]
            and self.out[-1].text == "and"
            and any(_TWO_KEYS.fullmatch(one.text) for one in self.out[-2:-1])
        )
        if self.take_from("the keys") or (pair and self.take("both")):
            self.need(self.objects.keys or self.objects.first)
            self.take("are", "all have", "have")
            self.skip("adverbs")
            return self._of_vectors(), "room"
        whole = self.last is not None and self.last.kind == "weight" and self.last.refs in ((), (ALL,), ("i",))
        self.need(self.take_from("the weights") or (whole and self.take("they")))
        self.skip("adverbs")
        self.need(self.take_from("sums") and self.objects.heads == 1)
        return [rf"\sum_{{i=1}}^{{n}} \alpha_i = {self.value()}"], "room"

    def _of_vectors(self) -> list[str]:
        """'orthogonal and of unit length', the longest stretch that is understood."""
        most = next((ahead for ahead in range(12) if not self.word(ahead)), 12)
        for length in range(most, 0, -1):
            kinds = lexicon().of_vector([self.word(ahead) for ahead in range(length)])
            if kinds:
                self.at += length
                return [text for kind, text in _KEYS.items() if kind in kinds]
        raise UnfitError


_KEYS = {"orthogonal": r"k_i^\top k_j = 0 \text{ for all } i \ne j", "unit": r"\|k_i\| = 1"}
_MATRIX = re.compile(r"[A-Z](?:_(?:\w|\{\w+\}))?")
_TWO_KEYS = re.compile(r"\s*k_\w\s*\\perp\s*k_\w\s*")
_ASKED = re.compile(r"\s*q\s*=")
_SIZE = re.compile(r"\s*\\?(?:lambda|gamma|beta|[tL])(?![a-zA-Z_])")
_QUERY = re.compile(r"\s*(?:Q\s*)?[qx]_\{?(\d)")
_VALUE = re.compile(r"(?<![a-zA-Z])[vu]_\w")
