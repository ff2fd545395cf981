"""Turns of phrase mean what the plainer words mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.paraphrase import paraphrased
from headwright.check.reading.sentences import Token, sentences

EXERCISES = load_exercises()
TWO = r"$q = \lambda (k_a+k_b)$ with $\lambda = \ln(n/\epsilon)$. "


def plainly(text: str, names: tuple[str, ...] = ("n", "epsilon")) -> str:
    (one,) = sentences(Written(text))
    return " ".join(token.text for token in paraphrased(one.tokens, names))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("In no case is $a > b$", "in any case it cannot happen that a > b"),
        ("Under no circumstances is $a$ larger than $b$", "in any case it cannot happen that a larger than b"),
        ("For no $n$ is $a > b$", "for all n , it cannot happen that a > b"),
        ("For all $n$ is $a > b$", "for all n , a > b"),
        ("Only for $n = 2$ is $a > b$", "a > b only if n = 2"),
        ("Suppose, for contradiction, that $a > b$", "suppose that a > b"),
        ("For the sake of contradiction, assume $a > b$", "suppose that a > b"),
        ("Any temperature with $x < 1$ will do", "any x < 1 will do"),
        ("Then $a = b$, which contradicts the assumption", "then a = b , a contradiction"),
        ("We may take $q = 1$", "take q = 1"),
        ("The point $x$ lies between $0$ and $1$", r"the point 0 \le x \le 1"),
        ("$a = b$, which is exactly what we wanted", "a = b"),
    ],
)
def test_a_turn_of_phrase_is_put_plainly(said: str, meant: str) -> None:
    assert plainly(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        r"for no $\lambda$ is $a > b$",  # of the answer's own it is not known which values are meant
        "for no query does it work",
        "any key with $x < 1$ will do",
        "adding $u_d$ gives $c_2 = u_a$",
        r"$\pi = \sqrt{2}$ would be rational",
    ],
)
def test_what_is_not_certain_stays_as_it_was_written(said: str) -> None:
    assert plainly(said) == " ".join(token.text for token in sentences(Written(said))[0].tokens)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"In no case is $\alpha_a$ larger than $1/2$.", r"In no case is $\alpha_a$ at least $1/3$."),
        (r"For no $i$ is $\alpha_i > \alpha_a$.", r"For no $n$ is $\alpha_a = 1/2$."),
        (r"Never is $\alpha_a < \alpha_b$.", r"Never is $\alpha_a = \alpha_b$."),
    ],
)
def test_what_is_denied_in_every_case_is_judged(right: str, wrong: str) -> None:
    assert check_answer(EXERCISES["averaging-two"], Written(TWO + right)).word == "proved"
    assert check_answer(EXERCISES["averaging-two"], Written(TWO + wrong)).word == "refuted"


def test_what_is_true_anyway_contradicts_nothing() -> None:
    said = r"Suppose not, so $x_t + \phi_t = x_k + \phi_k$. This gives $@$, a contradiction."
    same = EXERCISES["same-word"]
    assert check_answer(same, Written(said.replace("@", r"\phi_t = \phi_k"))).word == "proved"
    assert check_answer(same, Written(said.replace("@", "x_t = x_k"))).word == "undecided"


def test_words_between_the_lines_of_a_display_are_words() -> None:
    first = r"\alpha_a &= \frac{e^\lambda}{2e^\lambda + n - 2} \\"
    said = f"\\begin{{align*}}\n{first}\n\\intertext{{and so}}\n&= @\n\\end{{align*}}"
    two, right = EXERCISES["averaging-two"], r"\frac{1}{2 + (n-2) e^{-\lambda}}"
    assert check_answer(two, Written(TWO + "Then\n" + said.replace("@", right))).word == "proved"
    assert check_answer(two, Written(TWO + "Then\n" + said.replace("@", r"\frac12"))).word == "refuted"


WORDS = st.sampled_from(
    ["in", "no", "case", "is", "for", "all", "any", "with", "the", "mean", "of", "and", "take", "we", ",", "§1F"]
)


@given(
    st.lists(
        st.one_of(
            WORDS.map(lambda word: Token("word", word, 1)),
            st.just(Token("term", "x", 1)),
            st.just(Token("formula", "a = b", 1)),
        )
    )
)
def test_any_row_of_words_is_read(tokens: list[Token]) -> None:
    assert all(one.kind in ("word", "mark", "term", "formula") for one in paraphrased(tokens, ("n",)))
