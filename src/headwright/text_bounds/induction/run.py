"""Run texts of groups in the model itself: what it does may not contradict what was proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np
from jaxtyping import Float

from headwright.models.model import Model, Tokens, layer_at
from headwright.numerics.enclosure import assert_within
from headwright.text_bounds.induction.groups import TextGroup
from headwright.text_bounds.induction.results import describe_run
from headwright.text_bounds.induction.statement import InductionStatement

GROUPS_RUN = 64  # a random text of which is run beside a certificate


class ModelWithLogits(Model, Protocol):
    """A model with logits, which all have that `weights_of` takes."""

    def logits(self, tokens: Tokens) -> Float[np.ndarray, "places tokens"]:
        """The scores of the next token at each place."""


def run_group(
    model: Model, text: Sequence[int] | np.ndarray, group: TextGroup, head: int | None
) -> float:
    """The logit of b at the end less the largest other, or the weight on j, as the model itself computes it."""
    tokens = np.asarray(text)
    if head is None:
        logits = cast("ModelWithLogits", model).logits(tokens)[-1]
        return float(logits[group.b] - np.delete(logits, group.b).max())
    layer = layer_at(model, tokens, 1)
    scores = layer.keys[head] @ layer.queries[head, -1] * layer.scoring.scale
    pattern = np.exp(scores - scores.max())
    return float(pattern[group.j] / pattern.sum())


def run_against_claims(model: Model, statement: InductionStatement) -> int:
    """On how many random texts the model was run, none of which contradicts; else a ContradictionError."""
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(statement.claims))[:GROUPS_RUN]
    for index in chosen:
        claim = statement.claims[index]
        group = TextGroup(claim.a, claim.b, claim.j, claim.c)
        allowed = group.allowed(statement.length, statement.tokens, statement.opening)
        text = np.array([rng.choice(tokens) for tokens in allowed])
        run = run_group(model, text, group, claim.head)
        what = describe_run(claim.b, claim.head, text.tolist())
        assert_within(run, what, least=float(claim.least))
    return len(chosen)
