"""The checker of next tokens: certificates that are true, and the same changed in every field."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.models.induction import induction_model
from headwright.models.induction16 import induction16_model
from headwright.text_bounds.checker import DoubtError
from headwright.text_bounds.induction.checker import check_claims
from headwright.text_bounds.induction.groups import TextGroup
from headwright.text_bounds.induction.prove import all_groups, prove_groups
from headwright.text_bounds.induction.results import GroupResult, statement_of
from headwright.text_bounds.induction.run import run_against_claims, run_group
from headwright.text_bounds.induction.statement import (
    InductionStatement,
    read_statement,
    write_statement,
)
from headwright.text_bounds.induction.weights import weights_of

MODEL = induction16_model()
FOUND = prove_groups(
    MODEL,
    6,
    [one for one in all_groups(MODEL, 6) if (one.a, one.b) in ((0, 1), (13, 8))],
)
TWO_HEADS = induction_model()
WEIGHT, MARGIN = prove_groups(TWO_HEADS, 6, [TextGroup(20, 8, 3, 1)], heads=[0, None])


def stated() -> InductionStatement:
    statement = statement_of(MODEL, 6, FOUND)
    assert statement is not None
    return statement


STATEMENT = stated()
TEXT = write_statement(STATEMENT)


def changed(change: Callable[[dict[str, Any]], Any]) -> str:
    given = json.loads(TEXT)
    change(given)
    return json.dumps(given)


def test_what_was_proved_is_verified() -> None:
    assert read_statement(TEXT) == STATEMENT
    check_claims(read_statement(TEXT), weights_of(MODEL))
    assert run_against_claims(MODEL, read_statement(TEXT)) == len(STATEMENT.claims) == 8


def test_a_group_may_be_cut_by_hand() -> None:
    one = STATEMENT.claims[0]  # j = 1: places 2 to 4 are free
    cut = [3, [4, 2], [[4, list(range(1, 16)), [0] * 15], 0, [2, [5], [0, 0]]]]
    check_claims(
        replace(STATEMENT, claims=(replace(one, cuts=cut),)), weights_of(MODEL)
    )


def test_the_words_say_all_groups_by_a_digest() -> None:
    other = read_statement(
        changed(lambda given: given["statement"]["groups"][7].__setitem__(5, "0.5"))
    )
    assert other.words() != STATEMENT.words()


def least(given: dict[str, Any], index: int) -> None:
    given["statement"]["groups"][index][5] = f"{FOUND[index].run + 0.001:.3f}"


REJECTED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a margin above a run": lambda given: least(given, 0),
    "the last margin above a run": lambda given: least(given, 7),
    "another place": lambda given: given["statement"]["groups"][0].__setitem__(3, 5),
    "place 0": lambda given: given["statement"]["groups"][0].__setitem__(3, 0),
    "a pair of one token": lambda given: given["statement"]["groups"][0].__setitem__(
        1, 0
    ),
    "a token there is not": lambda given: given["statement"]["groups"][0].__setitem__(
        1, 16
    ),
    "longer than the model": lambda given: given["statement"].update(length=11),
    "too short": lambda given: given["statement"].update(length=2),
    "fewer tokens": lambda given: given["statement"].update(tokens=15),
    "other weights": lambda given: given["statement"].update(weights="0" * 64),
    "no cuts": lambda given: given["cuts"].__setitem__(0, None),
    "true for cuts": lambda given: given["cuts"].__setitem__(0, False),
    "an opening token": lambda given: given["statement"].update(opening=0),
    "an opening token there is not": lambda given: given["statement"].update(
        opening=16
    ),
    "a head there is not": lambda given: given["statement"]["groups"][0].__setitem__(
        4, 1
    ),
    "a weight above 1": lambda given: given["statement"]["groups"][0].__setitem__(4, 0),
    "a before the end": lambda given: given["statement"]["groups"][0].__setitem__(2, 0),
    "c where b is": lambda given: given["statement"]["groups"][3].__setitem__(2, 5),
    "a part left out": lambda given: given["cuts"].__setitem__(0, [3, [1, 2], [0, 0]]),
    "a token twice": lambda given: given["cuts"].__setitem__(0, [3, [1, 1], [0, 0, 0]]),
    "a token that it cannot have": lambda given: given["cuts"].__setitem__(
        0, [3, [0], [0, 0]]
    ),
    "a token that is none": lambda given: given["cuts"].__setitem__(
        0, [3, [True], [0, 0]]
    ),
    "no tokens": lambda given: given["cuts"].__setitem__(0, [3, [], [0]]),
    "no parts": lambda given: given["cuts"].__setitem__(0, [3, list(range(1, 16)), []]),
    "the form of version 1": lambda given: given["cuts"].__setitem__(0, [3, [0] * 15]),
    "cut where no token is free": lambda given: given["cuts"].__setitem__(
        0, [0, [0], [0]]
    ),
    "cut at no place": lambda given: given["cuts"].__setitem__(0, [6, [1], [0, 0]]),
    "cut before the first": lambda given: given["cuts"].__setitem__(
        0, [-2, [1], [0, 0]]
    ),
    "cut twice at a place": lambda given: given["cuts"].__setitem__(
        0, [3, [1], [[3, [1], [0]], 0]]
    ),
    "a part that is no part": lambda given: given["cuts"].__setitem__(
        0, [3, [1], [0, 1]]
    ),
}
UNREADABLE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another format": lambda given: given.update(
        format="headwright every-text certificate"
    ),
    "another version": lambda given: given.update(version=1),
    "true for a version": lambda given: given.update(version=True),
    "a name too many": lambda given: given.update(note="x"),
    "a name too few": lambda given: given["statement"].pop("tokens"),
    "a group twice": lambda given: given["statement"]["groups"].__setitem__(
        1, given["statement"]["groups"][0]
    ),
    "no groups": lambda given: (
        given["statement"].update(groups=[]),
        given.update(cuts=[]),
    ),
    "cuts too few": lambda given: given["cuts"].pop(),
    "a margin of 0": lambda given: given["statement"]["groups"][0].__setitem__(
        5, "0.000"
    ),
    "a margin below 0": lambda given: given["statement"]["groups"][0].__setitem__(
        5, "-1"
    ),
    "a margin that is no decimal": lambda given: given["statement"]["groups"][
        0
    ].__setitem__(5, "1e-3"),
    "a margin that is a number": lambda given: given["statement"]["groups"][
        0
    ].__setitem__(5, 1.5),
    "a token that is true": lambda given: given["statement"]["groups"][0].__setitem__(
        1, True
    ),
    "a head that is true": lambda given: given["statement"]["groups"][0].__setitem__(
        4, True
    ),
    "an opening below 0": lambda given: given["statement"].update(opening=-1),
    "a token below 0": lambda given: given["statement"]["groups"][0].__setitem__(1, -1),
    "a name that is a sentence": lambda given: given["statement"].update(
        model="all models. Verified"
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_a_changed_certificate_is_rejected(name: str) -> None:
    with pytest.raises(DoubtError):
        check_claims(read_statement(changed(REJECTED[name])), weights_of(MODEL))


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_not_of_the_format_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        read_statement(changed(UNREADABLE[name]))


@pytest.mark.parametrize(
    "name", ["embed", "place", "query", "key", "value", "output", "unembed"]
)
def test_it_is_about_these_weights(name: str) -> None:
    array = getattr(MODEL, name).copy()
    array.flat[0] = np.nextafter(array.flat[0], 9)
    with pytest.raises(DoubtError, match="other weights"):
        check_claims(STATEMENT, weights_of(replace(MODEL, **{name: array})))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (
            "unembed",
            lambda array: np.concatenate([array, 100 * array[:, :1]], axis=1),
        ),  # a logit of no token
        ("unembed", lambda array: array[:, :-1]),
        ("embed", lambda array: array.astype(complex)),
        ("key", lambda array: np.concatenate([array, array])),
        ("value", lambda array: array[..., :-1]),
        ("place", lambda array: array[:, 0]),
        ("angles", lambda array: np.ones(3)),
    ],
)
def test_weights_that_do_not_go_together_are_rejected(
    name: str, change: Callable[[Any], Any]
) -> None:
    weights = dict(weights_of(MODEL))
    weights[name] = change(weights[name])
    with pytest.raises(DoubtError, match=r"shape|angles|real numbers"):
        check_claims(STATEMENT, weights)


def claimed(**changes: Any) -> InductionStatement:
    """Of the model of two heads: the weight that head 0 gives to the h of `?th?at`, or the margin of h."""
    found = statement_of(
        TWO_HEADS, 6, [replace(WEIGHT if changes.pop("weight", True) else MARGIN)]
    )
    assert found is not None
    return replace(found, claims=(replace(found.claims[0], **changes),))


def test_weights_and_margins_of_two_heads_are_verified() -> None:
    assert (
        WEIGHT.head == 0
        and MARGIN.head is None
        and WEIGHT.verdict == MARGIN.verdict == "proved"
    )
    for weight in (True, False):
        statement = claimed(weight=weight)
        assert read_statement(write_statement(statement)) == statement
        check_claims(statement, weights_of(TWO_HEADS))
        assert run_against_claims(TWO_HEADS, statement) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"least": f"{WEIGHT.run + 0.0001:.4f}"},
        {"weight": False, "least": f"{MARGIN.run + 0.001:.3f}"},
        {"head": 2},
        {"c": 0},
        {"c": 20},
        {"c": 48},
        {"a": 0},
        {"b": 0},
        {"j": 1},
        {"j": 4},
        {"c": None, "cuts": 0},
    ],
)
def test_a_changed_claim_about_two_heads_is_rejected(changes: dict[str, Any]) -> None:
    with pytest.raises(DoubtError):
        check_claims(claimed(**changes), weights_of(TWO_HEADS))


@pytest.mark.parametrize("head", [None, 0, 1])
def test_with_no_free_place_the_checker_loses_next_to_nothing(head: int | None) -> None:
    group, text = TextGroup(20, 8, 2, 1), (0, 20, 8, 1, 20)
    run = run_group(TWO_HEADS, text, group, head)
    one = GroupResult(20, 8, 1, 2, head, None, 0, text, run)
    loss = (
        1e-6 if head is not None else 0.01
    )  # a margin: places that help more than j are left out
    for off, accepted in ((-loss, True), (1e-9, False)):
        statement = statement_of(
            TWO_HEADS, 5, [replace(one, least=f"{run + off:.11f}")]
        )
        assert statement is not None
        if accepted:
            check_claims(statement, weights_of(TWO_HEADS))
        else:
            with pytest.raises(DoubtError, match="may be less"):
                check_claims(statement, weights_of(TWO_HEADS))


def test_the_opening_token_is_part_of_the_statement() -> None:
    with pytest.raises(DoubtError):
        check_claims(replace(claimed(), opening=None), weights_of(TWO_HEADS))


def test_texts_beyond_all_tables_are_rejected() -> None:
    with pytest.raises(DoubtError, match="3 to 256"):
        check_claims(replace(claimed(), length=257), weights_of(TWO_HEADS))


def test_other_angles_are_other_weights() -> None:
    turned = replace(TWO_HEADS, angles=(1.5, *TWO_HEADS.angles[1:]))
    with pytest.raises(DoubtError, match="other weights"):
        check_claims(claimed(), weights_of(turned))
