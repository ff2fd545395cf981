"""Proofs that no query does, where there is nothing to prove."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from headwright.query_design import copy
from headwright.query_design.certify import Checker
from headwright.query_design.program import program, solved
from headwright.query_design.proving.impossible import prove_impossible
from headwright.query_design.statement import DesignQuestion
from headwright.uncertainty import Uncertainty


def test_a_key_alone_gets_everything_and_nothing_is_proved_impossible() -> None:
    question = DesignQuestion(
        (np.zeros((1, 2)),), copy(0, eps=0.5), Uncertainty(), Fraction(1), Fraction(1)
    )
    problem = program(question)
    proof = prove_impossible(question, Checker(question), problem, solved(problem))
    assert proof is None
