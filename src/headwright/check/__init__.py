"""Check: read an answer, and prove it or refute it with the smallest counterexample.

    exercises/    the exercises, as data; exercise: what such a file says; linting: whether it is fit for use
    sheets/       what was handed in: which formulas answer which exercise, and where they stand
    reading/      sentences with formulas in them, as statements: what is said, of what, and under which assumption
    checker       one answer: read -> claims -> decide -> replay -> earn -> tell; hearing: all that an answer says
    widening      what is said for more than is given
    answer        an answer taken apart: what it defines, what it says of its own names, what it claims; sorting does it
                  with naming (whose name is it) and variants (cases, and answers of which one is meant)
    judging       the seam: a claim, the court that decides it, what was found; the verdict from its parts
    settings/     keys and queries, self-attention, matrices, integers: what names mean, and claims decided
    scalars/      exact algebra and proofs about numbers with parameters; decision: proved, refuted or open
    replay/       every decision looked at twice, on explicit keys, tokens and integers
    earning       whether what is true is also an answer; doubts: what was not judged, and is left open
    verdict       what is said of an answer, and as JSON
    running/      many answers, in parallel, each within its time and memory
    telling/      verdicts as a page, as text, as JSON
    autograder/   verdicts as Gradescope's results, and the folder to upload

The package can be called: headwright.check(exercise, formula) is headwright.check.check(exercise, formula).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwright.verb import make_callable

if TYPE_CHECKING:
    from headwright.check.verdict import Verdict

__all__ = ["check"]


def check(exercise: str, *formulas: str, exercises: Path | None = None, seed: int = 0) -> Verdict:
    r"""The verdict on an answer, given as one or several formulas, to an exercise, given by its id.

    Further exercises are read from a folder. The seed is that of the random instances on which a proof is
    looked at again.

    >>> verdict = check("averaging-two", r"q = \lambda(k_a + k_b)")
    >>> verdict.word, verdict.threshold
    ('proved', 'lambda >= ln((n - 2)/epsilon), for n > 2')
    >>> verdict = check("averaging-two", r"q = \frac{1}{\sqrt 2}(k_a + k_b)")
    >>> verdict.word, verdict.counterexample["n"], verdict.counterexample["left"]
    ('refuted', 3, '0.4011')
    """
    from headwright.check.catalogue import load_exercises
    from headwright.check.checker import Formula, check_answer
    from headwright.errors import InputError

    for text in (exercise, *formulas):
        if not isinstance(text, str):
            raise InputError(f"given was {text!r}: expected the id of an exercise and formulas, each as text")
    known = load_exercises(exercises)
    if exercise not in known:
        raise InputError(f"there is no exercise {exercise!r}: expected one of {', '.join(sorted(known))}")
    return check_answer(known[exercise], [Formula(text, k) for k, text in enumerate(formulas, 1)], seed=seed)


make_callable(__name__)
