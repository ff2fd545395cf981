"""What closes a design: the verdict of all checkers that run, and nothing less."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from headwright.query_design import copy
from headwright.query_design.certify import Checker
from headwright.query_design.statement import DesignQuestion
from headwright.uncertainty import Uncertainty
from tests.verification.test_verify import only_exact


@pytest.mark.parametrize(
    ("choice", "word"),
    [(None, "not confirmed"), ("exact", "verified"), ("float", "rejected")],
)
def test_what_one_checker_alone_accepts_closes_no_design_of_both(
    choice: str | None, word: str
) -> None:
    question = DesignQuestion(
        (np.eye(2),), copy(0), Uncertainty(), Fraction(1), Fraction(1)
    )
    checker = Checker(question, choice)
    assert checker.verify(json.dumps(only_exact())).word == word
    assert len(checker.unconfirmed) == (word == "not confirmed")


@pytest.mark.parametrize(("n", "names"), [(500, ("exact", "float")), (501, ("exact",))])
def test_many_key_entries_are_left_to_the_exact_checker(
    n: int, names: tuple[str, ...]
) -> None:
    keys = np.zeros((n, 1000))
    question = DesignQuestion(
        (keys, keys), copy(0), Uncertainty(), Fraction(1), Fraction(1)
    )
    assert Checker(question).names == names
    assert Checker(question, "both").names == ("exact", "float")
