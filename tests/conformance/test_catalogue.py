"""Every seeded mistake is found, and named where a hypothesis knows it."""

from __future__ import annotations

import pytest

import headwright as hw
from tests.conformance.catalogue import INDISTINGUISHABLE, MISTAKES, Mistake

FOUND = [mistake for mistake in MISTAKES if mistake.explained_by != INDISTINGUISHABLE]
HIDDEN = [mistake for mistake in MISTAKES if mistake.explained_by == INDISTINGUISHABLE]


def test_the_catalogue_is_long_enough() -> None:
    assert len(FOUND) >= 40
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize("mistake", FOUND, ids=lambda mistake: mistake.name)
def test_mistakes_are_found_and_named(mistake: Mistake) -> None:
    q, k, v = mistake.tensors()
    verdict = hw.conform(mistake.kernel, q, k, v, contract="fused", **mistake.described)
    assert verdict.word == "outside", str(verdict)
    names = [hypothesis.name for hypothesis in verdict.hypotheses]
    if mistake.explained_by:
        assert mistake.explained_by in names, f"{names} {verdict}"
    else:
        assert names == [], str(verdict)


@pytest.mark.parametrize("mistake", HIDDEN, ids=lambda mistake: mistake.name)
def test_what_rounding_explains_is_within(mistake: Mistake) -> None:
    q, k, v = mistake.tensors()
    verdict = hw.conform(mistake.kernel, q, k, v, **mistake.described)
    assert verdict.word == "within", str(verdict)
