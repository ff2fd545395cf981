r"""What people say of things other than that they have a value: heads that give weights, matrices that keep vectors.

'head 1 gives $k_a$ a weight of $x$', 'it keeps $v_a$ and kills $v_b$', 'the variance of $s$ is $x$', 'each of these is
at least $x$': every construct becomes formulas, which are judged like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.rules import Made, Rules
from headwright.check.reading.things import ALL, Subject, UnfitError, sides

ACTS = "acts"  # in place of a sign: what was said last is what a matrix does


class Constructs(Rules):
    """Reads clauses that are no subject with a sign and a value."""

    def functional(self) -> Made:
        """'the variance of $s$ is $x$', '$A - B$ has spectral norm $x$', 'its variance is $x$'."""
        if self.take("its", "their"):
            noun = self._noun()
            return self._predicated(Subject("term", self._applied(noun, (self._spoken_of(),)), guessed=True))
        back = self.at
        if self.take("the", "a"):
            noun = self._noun()
            self.need(self.take("of", "in"))
            inner = self._inner()
            return self._predicated(Subject("term", self._applied(noun, inner.terms), guessed=inner.guessed))
        self.at = back
        inner = self._inner()
        self.need(self.take("has", "have"))
        self.take("the", "a", "an")
        noun = self._noun()
        self.take("of")
        subject = Subject("term", self._applied(noun, inner.terms), guessed=True)
        strict = bool(self.take("exactly", "precisely"))
        return self.valued(subject, self.sign_of(subject), strict)

    def _noun(self) -> str:
        noun = self.phrase(lexicon().functions)
        self.need(noun)
        return noun

    def _inner(self) -> Subject:
        """What a norm, or a variance, is that of: a term as it stands, or a thing of the exercise."""
        if self.kind() == "term":
            return Subject("term", ((self.next("term"), ""),))
        found = self.subject()
        if not found.terms and found.kind == "score" and self.objects.asked == "" and len(self.objects.scaled) == 1:
            return self.of_keys("score", tuple(self.objects.scaled.values()), True)
        self.need(found.terms)
        return found

    def _applied(self, noun: str, terms: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple((noun.replace("X", term), where) for term, where in terms)

    def _spoken_of(self) -> tuple[str, str]:
        """What 'its' refers to: the one term, or the left side of the one formula, that stands before it."""
        stated = [one.text for one in self.out if one.kind in ("formula", "term")] or list(self.before[-1:])
        self.need(stated)
        return sides(stated[-1])[0], ""

    def _predicated(self, subject: Subject) -> Made:
        self.need(self.take_from("being"))
        self.skip("adverbs")
        strict = bool(self.take("exactly", "precisely"))
        return self.valued(subject, self.sign_of(subject), strict)

    def sign_of(self, subject: Subject) -> str:
        """The sign that is said, or what 'is' says."""
        self.skip("adverbs")
        return self.sign_said() or self.is_said(subject)

    # What heads do.

    def contributing(self) -> Made:
        """'the others contribute $n - 2$ to the denominator', 'each of them contributes $1$'."""
        self.take("together", "in total", "altogether")
        each, back = False, self.at
        if self.take("they", "these"):
            self.need(self.last is not None and self.last.kind == "score" and self.last.terms)
            subject = self.last
        else:
            each = self.word() in ("each", "every")
            refs, guessed = self.indices()
            subject = self.of_keys("score", refs, guessed)
        self.need(subject is not None)
        self.take("together", "in total", "altogether", "each")
        each = each or any(token.text == "each" for token in self.tokens[back : self.at])
        self.need(self.take("contribute", "contributes", "add", "adds"))
        self.skip("adverbs")
        value = self.value()
        each = bool(self.take("each")) or each
        self.need(self.take_from("to the denominator"))
        return self._summed(subject, value, each=each), "room"

    def _summed(self, subject: Subject | None, value: str, *, each: bool) -> list[str]:
        if subject is None:
            raise UnfitError
        made = Subject("term", tuple((f"e^{{{term}}}", where) for term, where in subject.terms))
        return self.for_each(made if each else self.in_sum(made), "=", value)

    def weights_all(self) -> Made:
        """'they are non-negative and add up to one', 'all weights are positive': of all weights."""
        self.need(self.objects.queries and self.objects.heads == 1 and not self.objects.tokens)
        if not self.take_from("the weights"):
            known = self.last is not None and self.last.kind == "weight" and self.last.refs in ((), (ALL,), ("i",))
            spoken = any("alpha" in text for text in self.before)
            self.need((known or spoken or not self.before) and self.take("they", "all of them", "these"))
        found: list[str] = []
        all_weights = r"\sum_{i=1}^{n} \alpha_i"
        while True:
            self.skip("adverbs")
            if self.take("lie between zero and one", "are between zero and one", "lie between 0 and 1"):
                found.append(r"0 \le \alpha_i \le 1")
            elif self.take_from("sums"):
                whole = " + ".join(rf"\alpha_{key}" for key in self.objects.keys) if self.objects.complete else ""
                found.append(rf"{whole or all_weights} = {self.value()}")
            else:
                self.take("are", "all are", "are all")
                self.skip("adverbs")
                one = self.phrase(lexicon().of_ones)
                self.need(one in (r"\ge 0", "> 0"))
                every = self.objects.keys if self.objects.complete else ("i",)
                found += [rf"\alpha_{key} {one}" for key in every]
            back = self.at
            if not self.take("and", "and they"):
                break
            if not (self.word() in ("are", "all") or self._more()):
                self.at = back
                break
        return found, "room"

    def _more(self) -> bool:
        """Whether another predicate follows."""
        back = self.at
        found = bool(self.take_from("sums") or self.phrase(lexicon().of_ones))
        self.at = back
        return found

    # What tokens have.

    def of_token(self) -> Made:
        """'the key of token 1 is $u_b$', 'its query is $u_a$'."""
        self.need(self.objects.tokens)
        its = bool(self.take("its"))
        self.need(its or self.take("the"))
        number = 0 if its else next((n for n, word in enumerate(("first", "second", "third"), 1) if self.take(word)), 0)
        letter = {"key": "k", "query": "q", "value": "v"}.get(self.take("key", "query", "value"), "")
        self.need(letter and (its or number or self.take("of")))
        head = number or (self.head if its else self.head_named())
        self.need(head)
        self.head = head
        return self._predicated(Subject("term", ((f"{letter}_{{{head}}}", ""),), guessed=True))

    # What matrices do, and what they are.

    def acting(self) -> Made:
        """'it keeps $v_a$ and kills $v_b$', '$M$ maps $v_a$ to itself': of the matrix that is asked for."""
        name = self.objects.asked
        self.need(self.objects.matrices and re.fullmatch("[A-Z]", name) is not None)
        if not (self.sign == ACTS and self.out and self.out[-1].text in ("and", "but", ",")):
            self.need(self.just_set() or self._the_matrix())
        self.skip("adverbs")
        verb = self.phrase(lexicon().acts)
        self.need(verb)
        found = self._in_subspace()
        if not found:
            self.take("every", "each", "all", "all the", "the")
            found = [self.next("term")]
        while self.word() == "and" and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].kind == "term":
            self.at += 1
            found.append(self.next("term"))
        self.take_from("unchanged")
        if verb == "to":
            self.need(self.take("to"))
            value = "itself" if self.take("itself", "themselves") else self.value()
        else:
            value = verb
        self.need(all(map(_NAME.fullmatch, found)))
        self.sign = ACTS
        return [f"{name} {one} = {one if value == 'itself' else value}" for one in found], "room"

    def just_set(self) -> bool:
        """'$M = A A^\\top$ keeps ...', 'Q = ... turns ...': what stands before it is the matrix."""
        last = self.out[-1] if self.out else None
        begins = rf"\s*(?:{self.objects.asked or '[QKV]'})\s*="
        return last is not None and last.kind == "formula" and re.match(begins, last.text) is not None

    def _the_matrix(self) -> str:
        """'it', 'the matrix' or its name: what is asked for."""
        named = self.text() == self.objects.asked and self.kind() == "term"
        return self.take_from("the matrix") or (self.next("term") if named else "")

    def _in_subspace(self) -> list[str]:
        """'the part in the second subspace', where there are two, with $v_a$ and $v_b$ in them."""
        if not self.take_from("the part in"):
            return []
        return [f"v_{'ab'[self._subspace() == 'B']}"]

    def _subspace(self) -> str:
        """'the first subspace', 'the span of the $a_i$', 'the columns of $A$': the matrix whose columns span it."""
        self.need("orthogonal ranges" in self.objects.facts.get("A,B", ()))
        said = self.take_from("first subspace")
        self.need(said)
        if said.endswith(("subspace", "space", "one")):
            return "B" if "second" in said else "A"
        found = _OF_COLUMNS.fullmatch(self.next("term"))
        self.need(found)
        return found[1][0].upper() if found else ""

    def projecting(self) -> Made:
        """'it is the orthogonal projection onto the first subspace', of the matrix that is asked for."""
        name = self.objects.asked
        self.need(name == "M" and self.objects.matrices)
        back = self.at
        told = self._the_matrix()
        projects = bool(told and self.take("projects"))
        if told and not projects and not self.take("is", "is just", "is then"):
            self.need(self.tokens[back].text == "the")  # 'the projection' itself
            self.at = back
        self.need(projects or self.take_from("projection"))
        if not self.take("onto", "on", "to"):
            self.need(not projects and self.closed())
            return [rf"{name}^\top = {name}", f"{name} {name} - {name} = 0"], "room"
        complement = self.take("the orthogonal complement of", "the complement of")
        space = self._subspace()
        image = rf"(I - {space} {space}^\top)" if complement else rf"{space} {space}^\top"
        self.need(self.closed())
        return [f"{image} - {name} = 0"], "room"

    def summands(self) -> Made:
        """'each of these is at least $x$', of the terms of a sum that was just written."""
        back = self.at
        if self.take("each of the", "all of the", "each of these", "all", "all of these") and self.kind() == "term":
            self.at += 1
            self.need(self.take_from("summands left"))
        else:
            self.at = back
            self.need(self.take_from("summands"))
        stated = [*self.before, *(one.text for one in self.out if one.kind == "formula")]
        for text in reversed(stated[-3:]):
            for side in reversed(sides(text)):
                found = _SUM.fullmatch(side)
                if found is not None:
                    where = rf"{found['letter']} \le {found['upper'].strip('{}')}"
                    subject = Subject("term", ((found["body"].strip(), where),), guessed=True)
                    return self._predicated(subject)
                self.need(r"\sum" not in side)  # another sum than one that is read
                found = _DOTS.fullmatch(side)
                if found is not None:
                    term = f"{found['base']}_i{found['power'] or ''}"
                    where = rf"i \le {found['upper'].strip('{}')}"
                    return self._predicated(Subject("term", ((term, where),), guessed=True))
        raise UnfitError

    # What is said of things that were just named.

    def positive(self) -> Made:
        """'$r = a$, $s = b$. Both are positive': of all names that just got a value; 'it' is the last of them."""
        said = self.take_from("defined")
        names: list[str] = []
        for text in reversed(self.stated()):
            found = _DEFINED.match(text)
            if found is None:
                break
            names.append(found[1])
        here = sum(one.kind == "formula" for one in self.out)
        if not said:  # '$r = a$, $s = b$, positive since ...'
            self.need(here and self.out[-1].text == ",")
            self.need(len(names) >= here)
            names = names[:here]
        elif said.startswith(("it", "this")):
            names = names[:1]
        else:
            self.need(len(names) > 1)
        self.skip("adverbs")
        sign = r"\ne 0" if self.take("not zero", "never zero") else self.phrase(lexicon().of_ones)
        equal = sides(self.stated()[-1]) if said.startswith(("it", "this")) and self.stated() else []
        if not names and sign == r"\ne 0" and _EQUATION.fullmatch("".join(self.stated()[-1:])):
            names = equal[-1:]  # 'a = b. It is not zero': either side
        self.need(names and sign in ("> 0", r"\ge 0", r"\ne 0"))
        self.need(self.closed())
        return [f"{name} {sign}" for name in reversed(names)], "room"

    def previous(self) -> Made:
        """'each query points at the token before it': all but the first, which has none before it."""
        self.need(self.objects.tokens and self.take_from("each token"))
        self.need(self.take_from("points at") and self.take_from("token before"))
        return [rf"\alpha_{{{at},{at - 1}}} \approx 1" for at in range(2, self.objects.tokens + 1)], "room"

    def same_for(self) -> Made:
        """'$alpha_a > x$, and the same for $b$': what was stated last, if it speaks of one key only."""
        self.need(self.take_from("the same for") and self.objects.queries and not self.objects.tokens)
        refs, _ = self.indices()
        self.need(len(refs) == 1 and refs[0] in self.objects.keys)
        stated = "".join(self.stated()[-1:])
        named = {key for key in self.objects.keys if re.search(_index(key), stated)}
        self.need(len(named) == 1 and refs[0] not in named)
        return [re.sub(_index(named.pop()), f"_{{{refs[0]}}}", stated)], "room"

    def equality(self) -> Made:
        r"""'$a \le b$, with equality for $n = 2$': of the relation that stands before it."""
        self.need(self.take_from("with equality") and self.out and self.word() in ("for", "if", "when", "at"))
        behind = [one.text for one in self.out[-2:] if one.kind == "formula"]
        self.need(behind and len(sides(behind[0])) > 1)
        return [f"{sides(behind[0])[0]} = {sides(behind[0])[-1]}"], "room"

    def cancelling(self) -> Made:
        """'the words cancel', in the difference of two words with their positions."""
        self.need(self.objects.pair is not None and self.take("the words", "the same words", "the word"))
        self.need(self.take_from("cancels"))
        first, second = self.objects.pair or ("", "")
        left, right = first.partition(" + "), second.partition(" + ")
        self.need(left[2] and right[2])
        self.need(self.closed())
        return [f"({first}) - ({second}) = {left[2]} - {right[2]}"], "room"


def _index(key: str) -> str:
    return rf"_(?:{key}(?![a-zA-Z])|\{{{key}\}})"


_SUM = re.compile(
    r"\\sum_\{?(?P<letter>[ij])\s*=\s*1\}?\s*\^\s*(?P<upper>\w|\{\w\})\s*(?P<body>\\?[a-zA-Z]+_(?:\w|\{\w\})(?:\s*\^\s*(?:\w|\{\w\}))?)"
)
_DOTS = re.compile(
    r"(?P<base>\\?[a-zA-Z]+)_(?:1|\{1\})(?P<power>\^\w|\^\{\w\})?\s*\+.*\\?(?:dots|ldots|cdots|\.\.\.)\s*\+\s*"
    r"(?P=base)_(?P<upper>\w|\{\w\})(?P=power)?"
)
_DEFINED = re.compile(r"\s*(\\?(?:tau|lambda|gamma|beta|[rstzZL])(?![a-zA-Z_]))\s*=")
_EQUATION = re.compile(r"(?:[^<>≤≥≈≠!]|\\(?!leq?|geq?|neq?|approx|to|gg|ll))*=(?:[^<>≤≥≈≠!])*")
_OF_COLUMNS = re.compile(r"\s*([AB]|[ab]_(?:\w|\{\w\}))\s*")
_NAME = re.compile(r"[vabxw]_(?:\w|\{\w\})|[AB]\s*[a-z]")
