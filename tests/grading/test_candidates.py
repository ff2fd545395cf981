r"""Candidates and their ranks, bounds on own names, objects by cases, names of one's own."""

from __future__ import annotations

import pytest

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written
from headwright.grading.verdict import Verdict

EXERCISES = load_exercises()
RIGHT, WRONG = r"$q = \ln(n/\epsilon)(k_a + k_b)$", r"$q = k_a + k_b$"
LARGE = r"$q = \lambda(k_a + k_b)$"


def verdict(exercise: str, text: str) -> Verdict:
    return grade(EXERCISES[exercise], Written(text))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"Take {RIGHT}.", "proved"),
        (f"Take {WRONG}.", "refuted"),
        (f"Take {RIGHT}. A common slip is {WRONG}.", "proved"),
        (f"One might try {WRONG}, but that is too short. Take {RIGHT}.", "proved"),
        (f"At first I wrote {WRONG}. Take {RIGHT}.", "proved"),
        (f"Take {WRONG}. Take {RIGHT}.", "undecided"),  # which one is meant?
        (f"Take {WRONG}. By symmetry one obtains {RIGHT}.", "undecided"),
        (
            f"Take {RIGHT}. Symmetric experts prefer {WRONG}.",
            "undecided",
        ),  # a later answer that differs
        (f"Perhaps {RIGHT}.", "undecided"),  # it is only quoted
        ("The query points between the two keys.", "missing"),
        (r"$\alpha_a = \alpha_b$", "missing"),
        (
            f"Take {RIGHT}. If $n = 3$ and $\\epsilon = \\frac13$, then $q = \\ln(9)(k_a + k_b)$.",
            "proved",
        ),
        (
            r"First $q = \lambda(k_a + k_b)$. It suffices to take $\lambda = \ln(n/\epsilon)$.",
            "proved",
        ),
    ],
)
def test_candidates_of_the_highest_rank_agree(text: str, word: str) -> None:
    assert verdict("averaging-two", text).word == word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"Take {LARGE}.", "proved"),  # a name that is nowhere bounded is large
        (f"Take {LARGE} with $\\lambda \\ge \\ln(n/\\epsilon)$.", "proved"),
        (f"Take {LARGE} with $\\lambda \\ge 1$.", "refuted"),
        (f"Take {LARGE} with $\\lambda > 0$.", "refuted"),
        (f"Take {LARGE} where $\\lambda > 0$ is large.", "proved"),
        (f"Take {LARGE}, $\\lambda \\gg 1$.", "proved"),
        (f"Take {LARGE} with $\\lambda = \\ln n$.", "refuted"),
        (
            f"Take {LARGE} with large $\\lambda$. With $\\lambda = 0$ all weights are $1/n$.",
            "proved",
        ),
        (f"Take {LARGE}. With $\\lambda = 0$ all weights would be $1/n$.", "proved"),
        (r"Take $q = \ln(N)(k_a + k_b)$ with $N = n/\epsilon$.", "proved"),
        (r"Let $e^t = n/\epsilon$. Take $q = t(k_a + k_b)$.", "proved"),
        (r"Let $\epsilon = 2\delta$ and $q = \ln(n/(2\delta))(k_a + k_b)$.", "proved"),
        (
            r"Take $q = c(k_a + k_b)$ with a large constant $c$. Then $c \approx \frac12(v_a + v_b)$.",
            "proved",
        ),
        (
            r"Define $\lambda = \ln(n/\epsilon)$ for $n < 10$ and $\lambda = n/\epsilon$ for $n \ge 10$. "
            r"Take $q = \lambda(k_a + k_b)$.",
            "undecided",
        ),  # own names by cases are not read
        (
            r"Define $\lambda = \ln(n/\epsilon)$ for $n < 10$ and $\lambda = 1$ for $n \ge 10$. "
            r"Take $q = \lambda(k_a + k_b)$.",
            "undecided",
        ),
    ],
)
def test_names_of_ones_own_are_what_is_said_of_them(text: str, word: str) -> None:
    assert verdict("averaging-two", text).word == word


@pytest.mark.parametrize("value", [r"\frac{1}{\sqrt 2}", "1"])
@pytest.mark.parametrize(
    "text",
    [
        r"$q = \beta (k_a + k_b), \quad \text{where } \beta = VALUE$",
        r"$q = \beta (k_a + k_b), \quad \text{with } \beta = VALUE$",
        r"$q = \beta (k_a + k_b) \text{ for } \beta = VALUE$",
        r"$q = \beta (k_a + k_b) \text{ if } \beta = VALUE$",
        r"$q = \beta (k_a + k_b) \text{ when } \beta = VALUE$",
        r"$q = \beta (k_a + k_b) \text{ whenever } \beta = VALUE$",
        r"$q = \beta (k_a + k_b) \qquad (\beta = VALUE)$",
        r"$q = \beta (k_a + k_b)$ if $\beta = VALUE$.",
        r"$q = \beta (k_a + k_b)$ when $\beta = VALUE$.",
        r"$q = \beta (k_a + k_b)$. We set $\beta$ to $VALUE$.",
        r"If $\beta = VALUE$ then $q = \beta (k_a + k_b)$.",
        r"q = \beta (k_a + k_b) where \beta = VALUE",
        r"$q = \beta (k_a + k_b) \text{ where } \beta = \gamma/2, \gamma = 2 \cdot VALUE$",
    ],
)
def test_a_condition_that_defines_a_name_says_what_it_is(text: str, value: str) -> None:
    assert verdict("averaging-two", text.replace("VALUE", value)).word == "refuted"
    right = text.replace("VALUE", r"\ln(n/\epsilon)").replace(r"2 \cdot \ln", r"2\ln")
    assert verdict("averaging-two", right).word == "proved"


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        (
            "two-heads",
            r"$q_1 = \lambda\mu_a, q_2 = \lambda\mu_b \text{ with } \lambda = 1$",
            "refuted",
        ),
        ("temperature-cold", r"$\tau = \frac1c \text{ where } c = 2$", "refuted"),
        (
            "temperature-cold",
            r"$\tau = c \text{ where } c = \frac{1}{\ln(n/\epsilon)}$",
            "proved",
        ),
        (
            "self-attention-route",
            r"$P_b = u_b u_b^\top/\beta^2$ and $P_c = u_d u_d^\top/\beta^2$. $V = P_b - P_c$, $K = I$, "
            r"$Q = \frac{1}{\beta^2} (u_c u_d^\top + u_d u_a^\top)$",
            "refuted",
        ),
    ],
)
def test_so_it_is_in_other_exercises(exercise: str, text: str, word: str) -> None:
    assert verdict(exercise, text).word == word


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("where $\\beta$ is 1.", "refuted"),
        ("where $\\beta$ is one.", "refuted"),
        ("with $\\beta$ equal to 1.", "refuted"),
        (". Setting $\\beta$ to 1 gives the answer.", "refuted"),
        (
            "where $\\beta$ is a positive constant.",
            "proved",
        ),  # a name that is nowhere bounded is large
        ("where $\\beta$ is the constant that was found in the lecture.", "undecided"),
        ("where $\\beta$ is of the order of $\\ln(n/\\epsilon)$.", "undecided"),
        (". This works if $\\beta = 1$.", "undecided"),
        (
            r"with $\beta = \ln(n/\epsilon)$. Since $\beta = 1$, all is well.",
            "undecided",
        ),
        ("so that $\\|q\\| = 1$, as usual.", "undecided"),
        ("with $\\beta$ at least $1$.", "refuted"),
        (r"with $\beta$ at least $\ln(n/\epsilon)$.", "proved"),
        (r"with $\beta$ about the size of $\ln(n/\epsilon)$.", "undecided"),
    ],
)
def test_words_that_may_say_what_a_name_is_are_not_dropped(
    words: str, word: str
) -> None:
    assert verdict("averaging-two", rf"$q = \beta (k_a + k_b)$ {words}").word == word


@pytest.mark.parametrize(
    ("exercise", "text", "lines"),
    [
        ("averaging-two", "{0}\n\nSo finally $q = \\lambda k_a$.", (1, 3)),
        (
            "averaging-two",
            "{0}\n\nMy final answer is the unit vector $q = \\frac{{1}}{{\\sqrt2}}(k_a+k_b)$.",
            (1, 3),
        ),
        ("averaging-two", "{0}\n\nDividing by $\\lambda$, $q = k_a + k_b$.", (1, 3)),
        (
            "taking-apart",
            "Let $M=AA^\\top$. Then $Mv_a=v_a$.\n\nHmm, I change it: $M=BB^\\top$.",
            (1, 3),
        ),
        (
            "relative-positions",
            "$M = R_t^\\top R_s$.\n\nEquivalently $M = R_s R_t^\\top$.",
            (1, 3),
        ),
    ],
)
def test_a_later_answer_that_differs_is_named(
    exercise: str, text: str, lines: tuple[int, int]
) -> None:
    judged = verdict(
        exercise, text.format(r"$q = \lambda(k_a+k_b)$ with $\lambda$ large.")
    )
    assert judged.word == "undecided"
    assert all(f"line {line}" in judged.reason for line in lines)


def test_a_definition_is_true_by_itself_and_not_by_its_line() -> None:
    judged = verdict(
        "averaging-two",
        f"{LARGE} with large $\\lambda$. So finally $q = \\lambda k_a$.",
    )
    statuses = {
        one.latex: one.status for one in judged.formulas if one.role == "definition"
    }
    assert statuses[r"q = \lambda k_a"] == "open"


WANTED = r"\alpha_a \ge \frac{1}{2+\epsilon}"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (
            f"Let $\\lambda > 0$ be chosen later and {LARGE}. "
            "It suffices that $\\lambda \\ge \\ln(n/\\epsilon)$.",
            "proved",
        ),
        (
            f"Let $\\lambda > 0$ and {LARGE}. So any $\\lambda \\ge \\ln\\frac{{n}}{{\\epsilon}}$ works.",
            "proved",
        ),
        (
            f"Let $\\lambda > 0$ and {LARGE}. For $\\lambda \\ge \\ln(n/\\epsilon)$ we get ${WANTED}$.",
            "proved",
        ),
        (
            f"{LARGE} for some $\\lambda > 0$. As $\\lambda \\to \\infty$, $\\alpha_a \\to \\frac12$.",
            "proved",
        ),
        (
            f"Let $\\lambda > 0$ and {LARGE}. It suffices that $\\lambda \\ge 1$.",
            "refuted",
        ),
        (f"{LARGE}. Any $\\lambda \\ge 1$ works.", "refuted"),
        (
            f"Let $\\lambda > 0$ and {LARGE}. Any $\\lambda \\ge 1$ works. "
            "Any $\\lambda \\ge \\ln(n/\\epsilon)$ works.",
            "undecided",
        ),
    ],
)
def test_a_later_bound_says_how_a_name_is_chosen(text: str, word: str) -> None:
    assert verdict("averaging-two", text).word == word


LOG = r"$q = \ln\left(\frac{n-2}{\epsilon}\right)(k_1 + k_2)$"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"For $n = 2$ take $q = 0$. For $n \\ge 3$ take {LOG}.", "proved"),
        (f"For $n = 2$ take $q = 0$. For $n \\ge 4$ take {LOG}.", "undecided"),
        (f"For $n = 3$ take $q = 0$. For $n \\ne 3$ take {LOG}.", "refuted"),
        (f"For $n \\ge 3$ take {LOG}.", "undecided"),
    ],
)
def test_an_object_by_cases_is_judged_case_by_case(text: str, word: str) -> None:
    assert verdict("averaging-two-bounded", text).word == word


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        ("temperature-cold", r"$\frac{1}{\tau} = \ln(n/\epsilon)$", "proved"),
        ("temperature-hot", r"Any $\tau \ge \frac{2}{\epsilon}$ will do.", "proved"),
        (
            "two-heads",
            r"$q_1 = \lambda\mu_a$ and $q_2 = \lambda\mu_b$ with large $\lambda$.",
            "proved",
        ),
        ("two-heads", r"$q_1 = \lambda\mu_a$ with large $\lambda$.", "undecided"),
        (
            "two-heads",
            r"$q_1 = q_2 = \lambda(\mu_a + \mu_b)$ with large $\lambda$.",
            "refuted",
        ),
        (
            "relative-positions",
            r"$M = R_t^\top R_s$ (if $t = s$ this is $M = I$).",
            "proved",
        ),
        (
            "copying",
            r"$\Delta = \min_{i \ne j} (k_j - k_i)^\top q$ and $\Delta \ge \ln(n/\delta)$.",
            "proved",
        ),
        ("averaging-many", r"$q = \ln(n/\epsilon)\sum_{i \in S} k_i$", "proved"),
    ],
)
def test_what_was_asked_for_is_found_in_formulas(
    exercise: str, text: str, word: str
) -> None:
    assert verdict(exercise, text).word == word
