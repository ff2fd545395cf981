"""What instances say of an outcome: they confirm it, or raise a ContradictionError."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from headwright.errors import ContradictionError
from headwright.formulas.show import plain
from headwright.grading.judging import Outcome

UNCONFIRMED = "a counterexample was found, and explicit instances do not confirm it"


def recheck_each(
    outcomes: Sequence[Outcome],
    recheck: Callable[[Outcome, Random], Outcome],
    seed: int,
) -> list[Outcome]:
    """Every outcome looked at again.

    A claim that is decided case by case, and fails in one case, is looked at again there only: the instances for a
    proof are of all cases.
    """
    failing = [one.claim for one in outcomes if one.word == "refuted"]
    found: list[Outcome] = []
    for one in outcomes:
        is_proved = one.word == "proved"
        fails_elsewhere = any(one.claim is claim for claim in failing)
        if is_proved and fails_elsewhere:
            found.append(one)
        else:
            found.append(recheck(one, Random(seed)))  # noqa: S311
    return found


def confirmed(
    outcome: Outcome,
    said: Sequence[bool | None],
    wanted: bool,
    *,
    lenient: bool = False,
) -> Outcome:
    """Of a proof every instance must agree; of a refutation one at least: a false statement may hold in others."""
    agree, against = said.count(wanted), said.count(not wanted)
    if against and (wanted or not (agree or lenient)):
        raise contradiction(outcome)
    return replace(outcome, replayed=agree)


def contradiction(outcome: Outcome) -> ContradictionError:
    """An internal error: prover and instances disagree."""
    return ContradictionError(
        f"{plain(outcome.link)} was {outcome.word}, and explicit instances say the opposite"
    )
