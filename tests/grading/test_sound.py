"""What is proved or refuted about random queries, computed again with other means: many digits, plain sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import mpmath
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import of_formulas
from headwright.grading.verdict import Verdict

EXERCISES = load_exercises()
LARGE = 10**9  # a value of lambda beyond every threshold below
PLACES = [
    (2, "1/2"),
    (2, "1/1000000"),
    (3, "1/10"),
    (3, "99/100"),
    (10, "1/2"),
    (50, "1/1000"),
    (10**9, "999/1000"),
]
WIDE = [(2, "100"), (3, "2"), (100, "1000000")]  # where epsilon may be anything above 0
ROUNDING = mpmath.mpf(10) ** -25
NUMBERS = st.sampled_from(
    [Fraction(x) for x in ("0", "1", "-1", "2", "1/2", "3/2", "-1/2", "3")]
)


@dataclass(frozen=True)
class Factor:
    """a + b ln(n) + c ln(n/epsilon) + d lambda."""

    one: Fraction
    log: Fraction
    tolerance: Fraction
    free: Fraction

    def __str__(self) -> str:
        logs = rf"({self.log}) \ln(n) + ({self.tolerance}) \ln(n/\epsilon)"
        return f"(({self.one}) + {logs}" + (
            rf" + ({self.free}) \lambda)" if self.free else ")"
        )

    def at(self, n: int, epsilon: Fraction) -> mpmath.mpf:
        """The number, with a huge lambda."""
        log, size = mpmath.log(n), mpmath.mpf(epsilon.numerator) / epsilon.denominator
        parts = (
            (self.one, 1),
            (self.log, log),
            (self.tolerance, log - mpmath.log(size)),
            (self.free, LARGE),
        )
        return mpmath.fsum(
            mpmath.mpf(x.numerator) / x.denominator * y for x, y in parts
        )


ZERO = Fraction(0)
FACTORS = st.one_of(
    st.builds(lambda x: Factor(ZERO, ZERO, ZERO, x), NUMBERS),
    st.builds(lambda x: Factor(ZERO, ZERO, x, ZERO), NUMBERS),
    st.builds(lambda x, y: Factor(x, y, ZERO, ZERO), NUMBERS, NUMBERS),
    st.builds(lambda x, y: Factor(x, ZERO, y, ZERO), NUMBERS, NUMBERS),
    st.builds(lambda x, y: Factor(x, ZERO, ZERO, y), NUMBERS, NUMBERS),
)
NOTHING = Factor(ZERO, ZERO, ZERO, ZERO)
RESTS = st.one_of(st.just(NOTHING), FACTORS)


@st.composite
def queries(draw: st.DrawFn) -> tuple[Factor, Factor, Factor]:
    """Factors of two named keys and of the others; often the same for both, so that some queries are right."""
    first = draw(FACTORS)
    return first, draw(st.one_of(st.just(first), FACTORS)), draw(RESTS)


def weights(scores: tuple[mpmath.mpf, ...], n: int) -> tuple[mpmath.mpf, ...]:
    """The pattern of the named keys; the last score is that of all the others."""
    top = max(scores)
    powers = [mpmath.exp(score - top) for score in scores]
    total = mpmath.fsum(powers[:-1]) + (n - len(scores) + 1) * powers[-1]
    return tuple(power / total for power in powers[:-1])


def checked(exercise: str, *formulas: str) -> Verdict:
    return grade(EXERCISES[exercise], of_formulas(formulas))


def place_of(counterexample: Mapping[str, object]) -> tuple[int, Fraction] | None:
    """The instance of a counterexample, where it names one; what it does not depend on is chosen here."""
    said = str(counterexample.get("n", 3))
    n = (
        10 ** int(said.removeprefix("10^"))
        if said.startswith("10^")
        else int(said)
        if said.isdigit()
        else None
    )
    if n is None or "words" in counterexample or "huge" in str(counterexample):
        return None
    return n, Fraction(str(counterexample.get("epsilon", "1/2")))


def agrees(
    verdict: Verdict, violated: dict[tuple[int, str], bool], there: bool | None
) -> None:
    if verdict.word == "proved":
        assert not any(violated.values()), (verdict.reason, violated)
    if verdict.word == "refuted" and there is not None:
        assert there, (verdict.reason, verdict.counterexample)


def average_fails(
    factors: tuple[tuple[Factor, Factor, Factor], ...],
    n: int,
    epsilon: Fraction,
    short: bool,
) -> bool:
    """Whether one of two keys gets less than 1/(2 + epsilon), in the mean of the heads, or the query is too long."""
    with mpmath.workdps(60):
        heads = [tuple(factor.at(n, epsilon) for factor in head) for head in factors]
        patterns = [weights(scores, n) for scores in heads]
        means = [
            mpmath.fsum(pattern[key] for pattern in patterns) / len(patterns)
            for key in (0, 1)
        ]
        size = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        low = min(means) < 1 / (2 + size) - ROUNDING
        length = mpmath.sqrt(
            heads[0][0] ** 2 + heads[0][1] ** 2 + (n - 2) * heads[0][2] ** 2
        )
        return bool(
            low
            or (short and length > 2 * mpmath.sqrt(2) * mpmath.log(n / size) + ROUNDING)
        )


def query_of(names: tuple[str, str], factors: tuple[Factor, Factor, Factor]) -> str:
    first, second, rest = factors
    others = (
        ""
        if rest == NOTHING
        else rf" + {rest} \sum_{{i \ne {names[0]}, {names[1]}}} k_i"
    )
    return f"{first} k_{names[0]} + {second} k_{names[1]}{others}"


def average_agrees(
    exercise: str,
    names: tuple[str, str],
    factors: tuple[Factor, Factor, Factor],
    short: bool,
) -> None:
    verdict = checked(exercise, f"q = {query_of(names, factors)}")
    places = PLACES if short else PLACES + WIDE
    violated = {
        (n, e): average_fails((factors,), n, Fraction(e), short) for n, e in places
    }
    place = (
        place_of(verdict.counterexample or {}) if verdict.word == "refuted" else None
    )
    agrees(
        verdict,
        violated,
        None if place is None else average_fails((factors,), *place, short),
    )


@settings(max_examples=10, derandomize=True)
@given(queries())
def test_verdicts_on_averaging_two_agree_with_plain_sums(
    factors: tuple[Factor, Factor, Factor],
) -> None:
    average_agrees("averaging-two", ("a", "b"), factors, short=False)


@settings(max_examples=10, derandomize=True)
@given(queries())
def test_verdicts_on_short_queries_agree_with_plain_sums(
    factors: tuple[Factor, Factor, Factor],
) -> None:
    average_agrees("averaging-two-bounded", ("1", "2"), factors, short=True)


@settings(max_examples=6, derandomize=True)
@given(queries(), queries())
def test_verdicts_on_two_heads_agree_with_plain_sums(
    first: tuple[Factor, Factor, Factor], second: tuple[Factor, Factor, Factor]
) -> None:
    names = ("a", "b")
    verdict = checked(
        "two-heads",
        f"q_1 = {query_of(names, first)}",
        f"q_2 = {query_of(names, second)}",
    )
    heads = first, second
    violated = {
        (n, e): average_fails(heads, n, Fraction(e), False) for n, e in PLACES + WIDE
    }
    same = first[:2] == second[:2]  # for n = 2 the others do not matter
    violated[2, "the same"] = same
    place = (
        place_of(verdict.counterexample or {}) if verdict.word == "refuted" else None
    )
    agrees(
        verdict,
        violated,
        None if place is None else same or average_fails(heads, *place, False),
    )


@settings(max_examples=12, derandomize=True)
@given(FACTORS)
def test_verdicts_on_separated_keys_agree_with_plain_sums(factor: Factor) -> None:
    verdict = checked("copying-separated", f"q = {factor} k_1")

    def fails(n: int, epsilon: Fraction, closeness: Fraction) -> bool:
        with mpmath.workdps(60):
            length = factor.at(n, epsilon)
            other = length * closeness.numerator / closeness.denominator
            size = mpmath.mpf(epsilon.numerator) / epsilon.denominator
            low = weights((length, other), n)[0] < 1 / (1 + size) - ROUNDING
            return bool(low or abs(length) > 2 * mpmath.log(n / size) + ROUNDING)

    ends = [Fraction(1, 2), Fraction(-1), Fraction(0)]
    violated = {
        (n, e): any(fails(n, Fraction(e), end) for end in ends) for n, e in PLACES
    }
    place = (
        place_of(verdict.counterexample or {}) if verdict.word == "refuted" else None
    )
    end = Fraction(str((verdict.counterexample or {}).get("closeness", "1/2")))
    agrees(verdict, violated, None if place is None else fails(*place, end))


@settings(max_examples=25, derandomize=True)
@given(
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.sampled_from(["<", ">", r"\le", r"\ge", "="]),
    st.booleans(),
)
def test_verdicts_on_the_discrete_ratio_agree_with_plain_sums(
    times: Fraction, power: Fraction, by_c: Fraction, sign: str, others: bool
) -> None:
    term = " + n - 2" if others else ""
    claim = rf"\alpha_1 {sign} \alpha_2 (({times}) (n/\epsilon)^{{({power}) + ({by_c}) c}}{term})"
    (formula,) = checked("averaging-scaled-discrete", claim).formulas

    def fails(n: int, epsilon: Fraction, c: Fraction) -> bool:
        with mpmath.workdps(60):
            ratio = mpmath.mpf(n) * epsilon.denominator / epsilon.numerator
            exponent = power + by_c * c
            right = times.numerator * ratio ** (
                mpmath.mpf(exponent.numerator) / exponent.denominator
            )
            right = right / times.denominator + (n - 2 if others else 0)
            gap = ratio ** (mpmath.mpf(c.numerator) / c.denominator - 1) - right
            near = abs(gap) < ROUNDING * (1 + abs(right))
            true = {"<": gap < 0 and not near, ">": gap > 0 and not near, "=": near}
            weak = {r"\le": gap < 0 or near, r"\ge": gap > 0 or near}
            return not {**true, **weak}[sign]

    cases = [Fraction(1, 2), Fraction(3, 2)]
    violated = {(n, e): any(fails(n, Fraction(e), c) for c in cases) for n, e in PLACES}
    against = formula.counterexample or {}
    place = place_of(against) if formula.status == "false" else None
    if formula.status == "true":
        assert not any(violated.values()), (formula.reason, violated)
    if place is not None:
        assert fails(*place, Fraction(str(against.get("c", "1/2")))), (
            formula.reason,
            against,
        )
