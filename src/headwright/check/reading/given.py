r"""What an exercise gives, said again in words: '$P$ is a permutation matrix', '$g > 1$ has probability one half'.

Where it is given it says nothing new, and is passed over; where it is not, it stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.things import UnfitError
from headwright.check.reading.values import Values


class Given(Values):
    """Hears what is so anyway."""

    def is_given(self) -> bool:
        """'$P$ is a permutation matrix', '$g > 1$ has probability one half', 'there are $n - 2$ others'."""
        back = self.at
        for fact in self._facts():
            try:
                fact()
                self.need(self.ends())
            except UnfitError:
                self.at = back
            else:
                return True
        return False

    def _facts(self) -> tuple[Callable[[], None], ...]:
        return (
            self._not_negative, self._sorted, self._symmetric, self._apart, self._matrix_fact, self._even_chance,
            self._others_counted, self._on_the_circle, self._noise_goes, self._random_length, self._no_covariance,
            self._nearly_orthonormal, self._scales_the_score, self._equivariant, self._layer_sees, self._permuted,
            self._the_same_word, self._order_matters, self._turn_cancels, self._denominator_cancels, self._cut,
            self._a_head_each, self._summed_up, self._as_asked_for,
        )  # fmt: skip

    def _matrix_fact(self) -> None:
        names = [self.next("term")]
        while self.word() == "and" and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].kind == "term":
            self.at += 1
            names.append(self.next("term"))
        self.need(self.take("is", "are", "has", "have"))
        self.take("a", "an", "both")
        said = self.phrase(lexicon().matrix_facts)
        self.need(said)
        self.need(all(set(said.split("/")) & set(self.objects.facts.get(name, ())) for name in names))

    def _not_negative(self) -> None:
        """Singular values are."""
        self.need(any("singular values" in facts for facts in self.objects.facts.values()))
        self.need(self.take_from("singular values") and self.take("are", "is"))
        self.skip("adverbs")
        self.need(self.phrase(lexicon().of_ones) == r"\ge 0")

    def _sorted(self) -> None:
        self.need(any("singular values" in facts for facts in self.objects.facts.values()))
        self.need(self.take("they", "the singular values", "singular values", "the values", "the sigmas"))
        self.need(self.take_from("decreasing"))

    def _symmetric(self) -> None:
        """'$g$ is symmetric about its mean $1$'."""
        self.need(self.kind() == "term" and self.next("term") in self.objects.scaled and self.objects.even)
        self.need(self.take_from("symmetric"))
        told = bool(self.take("its mean", "the mean"))
        self.need((self.text() == "1" and self.kind() == "term" and self.passed()) or self.take("one") or told)

    def _apart(self) -> None:
        """'at distance at least $1$', where that is given."""
        self.need(self.objects.separated)
        self.take("the keys", "they", "all keys", "and")
        self.need(self.take_from("at a distance"))
        self.need((self.text() == "1" and self.kind() == "term" and self.passed()) or self.take("one"))
        self.take("apart", "from each other")

    def _even_chance(self) -> None:
        self.need(self.objects.even)
        if self.kind() == "formula":
            self.need("".join(self.next("formula").split()).replace(r"\frac12", "1/2") in self.objects.even)
            self.need(self.take("has", "holds with", "happens with", "occurs with", "with"))
        else:
            self.need(self.take_from("even cases"))
        self.take("a")
        self.need(self.take("probability", "prob", "prob."))
        self.take("of")
        self.need(
            self.value().replace(r"\tfrac", r"\frac").replace(" ", "") in (r"\frac12", "1/2", r"\frac{1}{2}", "0.5")
        )

    def _others_counted(self) -> None:
        self.need(self.take("there are", "of which there are"))
        left = self.objects.first or str(len(self.objects.keys))
        self.need((self.objects.first or self.objects.keys) and "".join(self.next("term").split()) == f"n-{left}")
        self.need(self.take_from("of the others"))

    def _on_the_circle(self) -> None:
        self.take("the point", "the pair", "the vector", "the first two entries")
        self.need(_CIRCLE.fullmatch("".join(self.next("term").split())))
        self.need(self.take_from("on the circle"))
        if self.take("at angle", "at the angle", "with angle", "with the angle"):
            self.next("term")

    def _random_length(self) -> None:
        """'the key $k_1$ has a random scaling factor $c$', where that is given."""
        self.skip("a key")
        label = self.labels()
        self.need(self.take("has", "has a", "is scaled by", "is scaled by a", "comes with a"))
        self.skip("a random factor")
        self.need(len(label) == 1 and self.objects.scaled.get(self.next("term")) == label[0])

    def _scales_the_score(self) -> None:
        """'this factor $c$ scales the score directly', as a length does."""
        self.take("this", "the")
        self.skip("a random factor")
        self.need(self.next("term") in self.objects.scaled)
        self.need(self.take("scales", "multiplies") and self.take("the", "its") and self.take_from("score"))
        self.take("directly", "linearly", "too")

    def _no_covariance(self) -> None:
        """'the covariance matrices for the $k_i$ are almost $0$', where the noise vanishes."""
        self.need(self.objects.noise and self.take_from("covariances"))
        if self.take("of", "for", "in"):
            self.take("each", "the")
            self.need(self.take("keys", "scores", "score", "key") or self.next("term"))
        self.need(self.take("is", "are"))
        self.take_from("almost")
        zero = self.text() == "0" and self.kind() == "term" and self.passed()
        self.need(zero or self.take("zero", "negligible", "tiny", "very small", "small", "vanishing"))

    def _nearly_orthonormal(self) -> None:
        """'the sampled vectors essentially form an orthonormal set up to negligible noise'."""
        self.need(self.objects.noise and self.take_from("samples"))
        self.take("will")
        self.need(self.take_from("almost"))
        self.need(self.take("form an orthonormal set", "are orthonormal", "be orthonormal", "orthonormal"))
        self.take("of vectors", "of keys")
        self.take_from("up to noise")

    def _noise_goes(self) -> None:
        self.need(self.objects.nearly and (self.take("a") or (self.text() == "a" and self.passed())))
        self.need(self.take("goes to", "tends to", "is small", "is tiny", "vanishes", "is negligible"))
        if self.tokens[self.at - 1].text == "to":
            self.need(self.take("zero") or (self.text() == "0" and self.passed()))

    # Words that move, and positions that do not.

    def _is_permuted(self) -> bool:
        return any("permutation" in facts for facts in self.objects.facts.values())

    def _equivariant(self) -> None:
        self.need(self._is_permuted() and self.take_from("the attention part") and self.take_from("equivariant"))

    def _layer_sees(self) -> None:
        r"""'after permuting the words the layer sees $PX + \Phi$'."""
        self.need(self._is_permuted())
        self.take_from("words are permuted")
        self.at += self.text() == ","
        self.need(self.take_from("the layer sees"))
        self.need(_SEEN.fullmatch(re.sub(r"[\s{}]", "", self.next("term"))))

    def _permuted(self) -> None:
        self.need(self._is_permuted() and (self.take_from("words move") or self.take_from("positions stay")))

    def _order_matters(self) -> None:
        """A conclusion from two inputs that differ, where that was stated."""
        self.need(self._is_permuted() and self.take_from("the order matters"))
        self.need(any("Phi" in text and re.search(r"\\ne|!=|≠", text) for text in self.stated()))

    def _the_same_word(self) -> None:
        self.need(self.objects.pair and self.objects.pair[0].startswith("x") and self.take_from("the same word"))

    def stated(self) -> list[str]:
        """The formulas before this place, in this sentence and those before it."""
        return [*self.before, *(one.text for one in self.out if one.kind == "formula")]

    # What cancels, what is cut off.

    def _turn_cancels(self) -> None:
        """'the common turn $R_m$ cancels': both vectors are turned by it."""
        self.need("orthogonal" in self.objects.facts.get("R_m", ()))
        if self.take_from("turn") and self.take("by"):
            self.need(self.take("m") or self.next("term") == "m")
        else:
            self.need(self.next("term") in ("R_m", "R_{m}"))
        self.need(self.take_from("cancels"))

    def _denominator_cancels(self) -> None:
        """It does in a quotient of weights."""
        self.need(self.take_from("the denominator") and self.take_from("cancels"))
        self.need(any(len(_WEIGHTS.findall(text)) > 1 and ("frac" in text or "/" in text) for text in self.stated()))

    def _cut(self) -> None:
        r"""'keep the $k - 1$ largest singular values and drop the others', where the sum goes that far."""
        self.need(self.objects.asked == "B" and self.objects.matrices)
        if self.take_from("cut the sum"):
            many = self.next("term")
            self.take("terms", "summands")
        else:
            self.need(self.take_from("keep the"))
            self.take("first", "largest", "leading")
            many = self.next("term")
            self.need(self.take_from("largest values"))
        if self.word() == "and":
            self.at += 1
            self.need(self.take_from("drop the others"))
        sums = [found for one in self.tokens[self.at :] for found in _CUT.findall(one.text) if one.kind == "formula"]
        self.need(len(sums) == 1 and sums[0].strip("{}").replace(" ", "") == many.replace(" ", ""))

    def _a_head_each(self) -> None:
        """'one head per value', where the two queries behind it are made from one key each."""
        self.need(self.objects.heads == len(self.objects.keys) == 2 and self.take_from("one head each"))
        made = [one.text for one in self.tokens[self.at :] if one.kind == "formula" and _QUERIES.match(one.text)]
        keys = [{key for key in self.objects.keys if _made_from(key, text)} for text in made]
        self.need(len(made) == 2 and all(len(one) == 1 for one in keys) and keys[0] != keys[1])

    def _summed_up(self) -> None:
        """'sum the keys we want', where the sum behind it is that."""
        self.need(self.take_from("sum the keys"))
        sums = [one.text.partition("=")[2] for one in self.tokens[self.at :] if one.kind == "formula"][:1]
        self.need(sums)
        told = re.sub(r"[\s{}]", "", sums[0])
        first = self.objects.first
        dots = rf"k_1\+(?:k_2\+)?\\?[lc]?dots\+k_{first}|\\sum_i=1\^{first}k_i|\\sum_i\\leq?{first}k_i"
        listed = self.objects.keys and set(told.split("+")) == {f"k_{key}" for key in self.objects.keys}
        self.need(listed or (first and re.fullmatch(dots, told)))

    def _as_asked_for(self) -> None:
        """'which is allowed', 'it is cold enough': that the answer does what is asked, which is judged itself."""
        self.need(self.objects.asked in ("q", "tau") and len(self.stated()) > 0)
        told = self.take_from("the answer")
        said = self.take_from("as asked for")
        self.need(said and bool(told) == said.startswith("is"))
        self.need("cold" not in said and "hot" not in said if self.objects.asked == "q" else "short" not in said)

    def passed(self) -> bool:
        """Pass over the token at hand."""
        self.at += 1
        return True


_CIRCLE = re.compile(r"\(\\?sin(?P<at>\(?[a-z]'?\)?),\\?cos(?P=at)\)")
_SEEN = re.compile(r"PX\+\\?Phi|\\?Phi\+PX")
_WEIGHTS = re.compile(r"alpha_")
_CUT = re.compile(r"B\s*=\s*\\sum_\{[ij]\s*=\s*1\}\s*\^\s*(\{[^{}]*\}|\w)\s*\\sigma_")
_QUERIES = re.compile(r"\s*q_\{?[12]\}?\s*=")


def _made_from(key: str, text: str) -> bool:
    """Whether a query has a key, or its mean, in it; the direction u is that of key 1."""
    right = text.partition("=")[2]
    direction = key == "1" and re.search(r"(?<![a-zA-Z\\])u(?![a-zA-Z_])", right) is not None
    return direction or re.search(rf"(?:k|mu)_\{{?{key}\}}?", right) is not None
