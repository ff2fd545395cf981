r"""Signs and values: what a clause in words says of its subject, 'is at most $x$', 'are $x$ and $y$', as formulas."""

from __future__ import annotations

import re

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Loose
from headwright.check.reading.things import FRACTIONS, SMALL, Subject, Things, UnfitError
from headwright.check.reading.written import leads_on


class Values(Things):
    """Reads what is said of a subject."""

    def sign_said(self) -> str:
        """'about', 'at most', 'tends to'; '' where there is none."""
        sign = self.phrase({**lexicon().signs, **lexicon().nearly})
        self.need(" " not in sign and sign not in (r"\gg", r"\perp"))
        return sign

    def is_said(self, subject: Subject, strict: bool = False) -> str:
        """What 'is' says: of what is known up to vanishing noise, 'is nearly'."""
        loosely = self.objects.nearly and not strict and subject.kind in ("score", "weight", "output")
        return r"\approx" if loosely else "="

    def valued(self, subject: Subject, sign: str, strict: bool) -> tuple[list[str], Loose]:
        """A subject with its sign, and the values behind it."""
        self.last, self.sign = subject, sign
        loose: Loose = "room" if subject.guessed else "" if strict else "nearly"
        if sign.startswith("each "):  # 'a and b are equal'
            self.need(not any(where for _, where in subject.terms))
            shared = self._apposed() if sign == "each =" else []
            return [f" {sign[5:]} ".join([*(term for term, _ in subject.terms), *shared])], loose
        if " " in sign:  # '= 0': nothing follows
            return self.for_each(subject, *sign.split(" ", 1)), loose
        if self.kind() == "formula":  # 'are then $1/tau = ln(n/epsilon)$', 'all other weights $-> 0$'
            text = self.next("formula")
            self.need(bool(sign) != leads_on(text))
            named = subject.guessed and subject.kind == "term" and _NAMED.match(text)
            self.need(not named)  # 'for $k = 1$ this is $B = 0$': what is said is all of it
            sign, loose = self.exactly(sign, loose)
            return self.for_each(subject, sign, text), loose
        if self.take_from("in all"):  # 'the others are together at most $x$'
            subject = self.in_sum(subject)
        if self.word() in lexicon().table("compared") and subject.terms:
            return self._compared(subject, sign, loose)
        values = self._values(len(subject.terms) or len(self.objects.keys) or self.objects.tokens)
        back = self.at
        if not subject.terms and len(values) == 1 and self.take("for", "on", "at"):
            subject = self.said_for(subject.kind)  # 'the scores are $x$ for a and b'
        elif not subject.terms and len(values) == 1 and len(self.objects.scaled) == 1 and self.objects.heads == 1:
            subject = self.of_keys(
                subject.kind, tuple(self.objects.scaled.values()), True
            )  # 'the weight is $1$ if ...'
        elif not subject.terms:
            keys = self.objects.keys or tuple(str(number + 1) for number in range(self.objects.tokens))
            subject = self.of_keys(subject.kind, keys, True)
            self.need(len(values) > 1)
        else:
            self.at = back
        self.last = subject
        sign, loose = self.exactly(sign, "room" if subject.guessed else loose)
        if self.take_from("in all"):
            subject = self.in_sum(subject)
        if len(values) == 1:
            return self.for_each(subject, sign, values[0]), loose
        self.need(len(values) == len(subject.terms) and not any(where for _, where in subject.terms))
        return [f"{term} {sign} {value}" for (term, _), value in zip(subject.terms, values, strict=True)], loose

    def _apposed(self) -> list[str]:
        """'are the same, namely $x$': what they are."""
        back = self.at
        self.at += self.text() in (",", ":")
        self.take("namely", "both", "i.e.", "that is")
        if self.kind() == "term":
            value = self.next("term")
            if self.kind() in ("", "mark") or self.word() in lexicon().table("ends"):
                return [value]
        self.at = back
        return []

    def exactly(self, sign: str, loose: Loose) -> tuple[str, Loose]:
        """What 'exactly' behind a value makes of a sign: an equation, also where 'is' alone says 'nearly'."""
        if not self.take_from("exactly"):
            return sign, loose
        self.need(sign in ("=", r"\approx"))
        return "=", "room" if loose == "room" else ""

    def _compared(self, subject: Subject, sign: str, loose: Loose) -> tuple[list[str], Loose]:
        """'the score of a is larger than that of b', 'than all other scores'."""
        if self.take("that of", "those of", "the one of", "that on"):
            refs, guessed = self.indices()
            other = self.of_keys(subject.kind, refs, guessed)
        else:
            other = self.subject()
        self.need(other.terms and len({term for term, _ in (*subject.terms, *other.terms)}) > 1)
        self.need(not any(where for _, where in subject.terms))
        found = [
            f"{term} {sign} {right}" + (rf" \text{{ for all }} {where}" if where else "")
            for term, _ in subject.terms
            for right, where in other.terms
        ]
        return found, "room" if other.guessed else loose

    def _values(self, most: int) -> list[str]:
        """'$x$', '$x$ and $y$', '$x, y$': as many as there are things that they may belong to."""
        values = [part.strip() for part in _COMMA.split(self.value())]
        while len(values) < most and self.text() in ("and", ",") and self.kind() in ("word", "mark"):
            back, self.at = self.at, self.at + 1
            self.take("and")
            try:
                values.append(self.value())
                self.need(self.ends() and self.word() not in ("for", "when", "if"))
            except UnfitError:
                self.at = back
                del values[1:]
                break
        return values

    def value(self) -> str:
        """A term, a number in words, or a letter that was written before."""
        self.take("the allowed", "the permitted", "the required", "the maximal", "the admissible")
        if self.kind() == "term":
            return self.next("term")
        if self.word().isdigit():
            self.at += 1
            return self.tokens[self.at - 1].text
        if _LETTER.fullmatch(self.word()) and any(
            re.search(rf"(?<![a-zA-Z_\\]){self.word()}(?![a-zA-Z_])", text) for text in self.before
        ):  # 'have the score t', of a t that was written before
            self.at += 1
            return self.tokens[self.at - 1].text
        if self.objects.matrices and self.take("the identity", "the identity matrix", "identity"):
            return "I"
        number = self.take(*SMALL[:3], *FRACTIONS)
        self.need(number)
        return FRACTIONS.get(number) or str(SMALL.index(number))

    def for_each(self, subject: Subject, sign: str, value: str) -> list[str]:
        """One value for all terms of a subject."""
        listed = [term for term, where in subject.terms if not where]
        found = [f"{', '.join(listed)} {sign} {value}"] if listed else []
        found += [rf"{term} {sign} {value} \text{{ for all }} {where}" for term, where in subject.terms if where]
        self.need(found)
        return [" ".join(one.split()) for one in found]


_LETTER = re.compile(r"[b-hj-z]")
_COMMA = re.compile(r",(?![^({\[]*[)}\]])")
_NAMED = re.compile(r"\s*\\?[a-zA-Z]+(?:_(?:\w|\{[^{}]*\}))?\s*=")
