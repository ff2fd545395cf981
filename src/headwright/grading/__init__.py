"""Check: read an answer, and prove it or refute it with the smallest counterexample.

exercises/    the exercises, as data
exercise      what such a file says, of fields; fitness: what it must satisfy; linting: whether it is fit for use
assignment    which exercises are set and for how many points: one file for page, class and autograder
sheets/       what was handed in: which section answers which exercise (files, classes, outline, document)
grade         one answer from its text to its verdict: the table of contents of what follows
text          Markdown to sentences with formulas, each neutral, turned or worded (markdown, sentences, clauses;
              wording: words.toml; phrases: 'is at most' as a sign; tidying: formulas before they are parsed)
candidates    formulas that may be what was asked for; answer, names: definitions, conditions, claims
account       whether all that is written about an object is used; else it is undecided
judge, goals  formulas and goals as claims, decided and looked at again; judging: the seam `Claim -> Prover -> Outcome`
rivals        what casts doubt on a proof
kinds/        keys and queries, self-attention, matrices, integers, counts, numbers, derivatives: what names mean
exact_arrays/ formulas as arrays of exact scalars, compared entry by entry
scalars/      exact algebra and proofs about numbers with parameters; decision: proved, refuted or open
recheck/      every outcome looked at again on explicit instances, by code that shares nothing with the provers
verdict       what is said of an answer, and as JSON
running       many answers, in parallel, each within its time and memory
report/       verdicts as text, as JSON, as pages
classroom/    a class: marks, decisions of a person, feedback, tables and pages
autograder/   verdicts as Gradescope's results, and the folder to upload
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.extras import require

if TYPE_CHECKING:
    from headwright.grading.verdict import Verdict

__all__ = ["check"]


def check(
    exercise: str, *formulas: str, exercises: str | Path | None = None, seed: int = 0
) -> Verdict:
    r"""The verdict on an answer, given as one or several formulas, to an exercise, given by its id.

    Further exercises are read from a folder. The seed is that of the random instances on which
    outcomes are tried.

    >>> verdict = check("averaging-two", r"q = \lambda(k_a + k_b)")
    >>> verdict.word, verdict.threshold
    ('proved', 'lambda >= ln((n - 2)/epsilon), for n > 2')
    >>> verdict = check("averaging-two", r"q = \frac{1}{\sqrt 2}(k_a + k_b)")
    >>> verdict.word, verdict.counterexample["n"], verdict.counterexample["left"]
    ('refuted', 3, '0.4011')
    """
    require("check", "check")
    from headwright.grading.exercise import load_exercises
    from headwright.grading.grade import grade
    from headwright.grading.markdown import of_formulas

    check_argument("exercise", exercise, str)
    check_argument("exercises", exercises, str | Path | None)
    for one in formulas:
        if not isinstance(one, str):
            raise InputError(f"a formula is {one!r}: expected text")
    known = load_exercises(None if exercises is None else Path(exercises))
    if exercise not in known:
        raise InputError(
            f"there is no exercise {exercise!r}: expected one of {', '.join(sorted(known))}"
        )
    return grade(known[exercise], of_formulas(formulas), seed=seed)
