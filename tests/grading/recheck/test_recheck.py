"""The second look: it runs, it agrees with what is true, and it does not let a wrong decision pass."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

from headwright.errors import ContradictionError
from headwright.formulas import parse
from headwright.formulas.tree import Relation
from headwright.grading.answer import Answer, Said, full_name
from headwright.grading.decision import Decision, Example
from headwright.grading.exercise import load_exercises
from headwright.grading.judging import Claim, Outcome, judged
from headwright.grading.kinds.integers.recheck import IntegersInstance
from headwright.grading.kinds.keys.recheck import KeysInstance
from headwright.grading.kinds.kind import ExerciseKind
from headwright.grading.recheck.instances import holds, unit
from tests.grading.kinds.bench import check

EXERCISES = load_exercises()
ANSWERS = [
    (
        "averaging-two",
        (
            r"q = \lambda(k_a + k_b)",
            r"\alpha_a = \frac{e^\lambda}{2 e^\lambda + n - 2}",
        ),
    ),
    ("averaging-two", (r"q = \frac{1}{\sqrt 2}(k_a + k_b)",)),
    ("averaging-two-bounded", (r"q = \ln(n/\epsilon)(k_1 + k_2)",)),
    ("averaging-scaled-discrete", (r"\alpha_1/\alpha_2 = e^{(c-1)t}",)),
    (
        "averaging-scaled",
        (r"q = \lambda(\mu_a + \mu_b)", r"g > 1 \Rightarrow c \approx v_a"),
    ),
    ("two-heads", (r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_b",)),
    ("two-heads-discrete", (r"q_1 = 2 t u, q_2 = t k_2",)),
    (
        "copying",
        (r"k_j^\top q \ge k_i^\top q + \ln(n/\delta)", r"\alpha_j \ge 1 - \delta"),
    ),
    ("copying", (r"k_j^\top q > k_i^\top q",)),
    ("copying-separated", (r"q = 2\ln(n/\epsilon) k_1",)),
    ("copying-separated", (r"q = \ln(n/\epsilon) k_1",)),
    (
        "self-attention-copy",
        (r"c_2 \approx u_a", r"\alpha_{22} = \frac{e^{\beta^2}}{e^{\beta^2} + 2}"),
    ),
    ("self-attention-copy", (r"c_2 \approx u_b",)),
    (
        "positions-unique",
        (r"\Phi_t \ne \Phi_{t'}", r"t - t' = 2\pi k \Rightarrow k = 0"),
    ),
    ("positions-unique", (r"\Phi_t = \Phi_{t'}",)),
    ("taking-apart", (r"M = A A^\top",)),
    ("low-rank", (r"B = A",)),
    ("energy", (r"\|A\|_F^2 = \|U S V^\top\|_F^2 = \|S\|_F^2 = \sum_i \sigma_i^2",)),
    ("energy", (r"\|A\|_F^2 = \operatorname{tr}(S)^2 = \sum_i \sigma_i^2",)),
    (
        "kth-singular-value",
        (r"\|A\|_F^2 \ge \sum_{i \le k} \sigma_i^2 \ge k \sigma_k^2",),
    ),
    ("kth-singular-value", (r"\|A\|_F^2 \ge d \sigma_k^2 \ge k \sigma_k^2",)),
    (
        "permutation",
        (
            r"H_p = \operatorname{softmax}(P Q K^\top P^\top/\sqrt{d}) P V = P H",
            "Z_p = P Z",
        ),
    ),
    ("permutation", (r"Z_p = P^\top Z",)),
    ("low-rank", (r"B = U_{k-1} S_{k-1} V_{k-1}^\top",)),
    ("taking-apart", (r"M = A^\top A",)),
    ("positions-help", (r"P X + \Phi \ne P (X + \Phi)",)),
]


BY_CHANCE = {
    "averaging-varies",
    "score-varies",
}  # a mean and a variance have no instance


WITH_INSTANCES = {
    name
    for name, exercise in EXERCISES.items()
    if exercise.kind.drawer() is not None
    or type(exercise.kind).recheck is not ExerciseKind.recheck
}


@pytest.mark.parametrize("exercise", sorted(WITH_INSTANCES - BY_CHANCE))
def test_the_second_look_runs_in_every_exercise(exercise: str) -> None:
    samples = EXERCISES[exercise].samples
    verdicts = [
        check(exercise, *answers[0]) for answers in (samples.right, samples.wrong)
    ]
    assert sum(part.replayed for verdict in verdicts for part in verdict.parts) > 0


@pytest.mark.parametrize(("exercise", "formulas"), ANSWERS)
def test_the_second_look_applies(exercise: str, formulas: tuple[str, ...]) -> None:
    verdict = check(exercise, *formulas)
    assert verdict.word in ("proved", "refuted"), verdict.reason
    chosen = [part for part in verdict.parts if part.word == verdict.word]
    assert chosen
    assert all(part.replayed > 0 for part in chosen)


def decided(
    exercise: str, claim: str, decision: Decision, *definitions: str
) -> Outcome:
    """A claim with a decision that nobody made, looked at again."""
    given = EXERCISES[exercise]
    defined = [parse(text) for text in definitions]
    known = {
        full_name(node.terms[0]): Said(node.terms[1], "", 1)  # type: ignore[arg-type]
        for node in defined
        if isinstance(node, Relation)
    }
    answer = Answer(known)
    node = parse(claim)
    said = Said(node, claim, 1)
    one = judged(Claim(node, "statement", said), decision, decision.reason)
    (found,) = given.kind.recheck(answer, [one], 0)
    return found


@pytest.mark.parametrize(
    ("exercise", "claim", "definitions"),
    [
        ("averaging-two", r"\alpha_a \ge \frac{1}{2}", (r"q = \lambda(k_a + k_b)",)),
        (
            "averaging-two",
            r"\alpha_a = \frac{e^\lambda}{2 e^\lambda + n}",
            (r"q = \lambda(k_a + k_b)",),
        ),
        ("averaging-two", r"c \approx v_a", (r"q = \lambda(k_a + k_b)",)),
        ("averaging-two", r"\alpha_a \ge \frac{1}{2 + \epsilon}", (r"q = k_a + k_b",)),
        ("self-attention-copy", r"c_2 \approx u_b", ()),
        ("positions-unique", r"t + t' \ge 4", ()),
        ("permutation", r"H_p = \operatorname{softmax}(P Q K^\top/\sqrt{d}) P V", ()),
        ("permutation", "P^2 = I", ()),
        ("permutation", r"\operatorname{relu}(H_p) = P H", ()),
        ("energy", r"\|A\|_F^2 = \sum_{i < d} \sigma_i^2", ()),
        ("energy", r"A v_i = \sigma_i u_1", ()),
        ("energy", r"U U^\top = I", ()),
        ("kth-singular-value", r"\sigma_k^2 \le \|A\|_F^2/(k + 1)", ()),
        (
            "low-rank",
            r"\operatorname{rank}(B) \le k - 1",
            (r"B = \sum_{i=1}^{k} \sigma_i u_i v_i^\top",),
        ),
        (
            "low-rank",
            r"\|A - B\|_2 \le \sigma_{k+1}",
            (r"B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top",),
        ),
        ("taking-apart", "M (v_a + v_b) = v_a", (r"M = \sum_{i=1}^{p} b_i b_i^\top",)),
        ("taking-apart", "M (v_a + v_b) = v_a", (r"M = A^\top A",)),
        ("relative-positions", r"R_t R_s = R_s R_t", ()),
    ],
)
def test_a_false_proof_does_not_pass(
    exercise: str, claim: str, definitions: tuple[str, ...]
) -> None:
    with pytest.raises(ContradictionError):
        decided(exercise, claim, Decision("proved", "trust me"), *definitions)


@pytest.mark.parametrize(
    ("exercise", "claim", "values", "definitions"),
    [
        (
            "averaging-two",
            r"\alpha_a \ge \frac{1}{2 + \epsilon}",
            {},
            (r"q = \lambda(k_a + k_b)",),
        ),
        (
            "averaging-two",
            r"c \approx \frac12(v_a + v_b)",
            {},
            (r"q = \lambda(k_a + k_b)",),
        ),
        (
            "averaging-two",
            r"\alpha_a \ge \frac{1}{n}",
            {"n": 4, "epsilon": Fraction(1, 10)},
            (r"q = k_a + k_b",),
        ),
        ("positions-unique", r"t \ge 0", {"t": 3}, ()),
    ],
)
def test_a_false_refutation_does_not_pass(
    exercise: str, claim: str, values: dict[str, int], definitions: tuple[str, ...]
) -> None:
    told = {name: Fraction(value) for name, value in values.items()}
    with pytest.raises(ContradictionError):
        decided(
            exercise, claim, Decision("refuted", "trust me", values=told), *definitions
        )


ONE, TWO = [[Fraction(1)]], [[Fraction(2)]]
SHEAR = [[Fraction(1), Fraction(1)], [Fraction(0), Fraction(1)]]


@pytest.mark.parametrize(
    ("exercise", "claim", "example"),
    [
        (
            "energy",
            r"\|A\|_F^2 = \sigma_1^2",
            Example({"n": 1, "d": 1, "k": 1}, {"U": ONE, "S": ONE, "V": ONE}),
        ),
        (
            "energy",
            r"U^\top U = I",
            Example({"n": 1, "d": 1, "k": 1}, {"U": TWO, "S": ONE, "V": ONE}),
        ),
        (
            "energy",
            r"\sigma_1 \ge 0",
            Example(
                {"n": 1, "d": 1, "k": 1}, {"U": ONE, "S": [[Fraction(-1)]], "V": ONE}
            ),
        ),
        (
            "kth-singular-value",
            r"k \sigma_k^2 \le \|A\|_F^2",
            Example({"n": 9, "d": 8, "k": 9}),
        ),
        (
            "permutation",
            "P^2 = I",
            Example({"T": 2, "D": 1, "d": 1, "f": 1, "o": 1}, {"P": SHEAR}),
        ),
        ("taking-apart", r"A^\top A = I", None),
    ],
)
def test_a_counterexample_must_be_admissible_and_break_the_claim(
    exercise: str, claim: str, example: Example | None
) -> None:
    try:
        found = decided(
            exercise, claim, Decision("refuted", "trust me", example=example)
        )
    except ContradictionError:
        return
    assert found.word == "undecided"


def test_a_true_decision_passes_with_the_number_of_worlds_that_agreed() -> None:
    found = decided(
        "averaging-two",
        r"\alpha_a \le \frac12",
        Decision("proved", "by hand"),
        r"q = \lambda(k_a + k_b)",
    )
    assert found.word == "proved"
    assert found.replayed > 0


def test_explicit_keys_follow_the_definition_of_attention() -> None:
    keys = [unit(3, place) for place in range(3)]
    setting = EXERCISES["averaging-two"].kind.table
    assert setting is not None
    world = KeysInstance(
        {"q": parse("2 k_a")}, {}, setting=setting, keys=keys, places={"a": 1, "b": 2}
    )
    assert holds(parse(r"\alpha_a = \frac{e^2}{e^2 + 2}"), world) is True
    assert holds(parse(r"\alpha_b > \alpha_a"), world) is False
    assert holds(parse(r"\sum_{i \ne a} \alpha_i = 2 \alpha_b"), world) is True
    assert holds(parse(r"c = \alpha_a v_a + \alpha_b (v_b + v_3)"), world) is True


def test_rows_of_embeddings_are_written_out() -> None:
    world = IntegersInstance({}, {"t": 3, "t'": 5})
    assert holds(parse(r"\Phi_t \ne \Phi_{t'}"), world) is True
    assert holds(parse(r"\Phi_t = \Phi_3"), world) is True
    assert holds(parse(r"\Phi_t \ne \Phi_{t'}"), replace(world, same=True)) is False


def test_what_is_not_certain_is_not_said() -> None:
    world = IntegersInstance({}, {"t": 3})
    assert holds(parse("t < x"), world) is None
    close = Relation((parse("t"), parse("t")), ("<",))
    assert holds(close, replace(world, numbers={"t": arb(3, 1)})) is None
