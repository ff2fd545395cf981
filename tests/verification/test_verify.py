"""Two checkers must agree: what each says of a certificate, combined."""

from __future__ import annotations  # noqa: I001

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright import InputError, verify
from headwright.certificates import proved_checker
from headwright.certificates.checkers import (
    MOST_ENTRIES,
    Opinion,
    CertificateVerdict,
    combine,
    in_words,
    which,
)
from headwright.certificates.formats import FIRST_LAYER, NEXT_TOKEN
from headwright.verification.verify import model_named
from headwright.models import load_model
from headwright.text_bounds import statement
from headwright.text_bounds.induction import statement as induction_statement
from headwright.text_bounds.every_text import every_text
from headwright.text_bounds.make_statement import statement_of
from headwright.text_bounds.read_layer import first_layer
from tests.certificates.floating.making import document, entry

FOLDER = Path(__file__).parents[1] / "certificates" / "corpus"
YES, NO, NEVER = (
    ("verified", "For these keys"),
    ("rejected", "not certain"),
    ("rejected", "not certain", True),
)
BROKEN, MALFORMED = (
    ("rejected", "which proves nothing: the checker stopped", False, True),
    ("unreadable", "not JSON"),
)
COMBINED = [
    (YES, YES, "verified", ["For these keys"]),
    (NO, NO, "rejected", ["not certain"]),
    (NO, NEVER, "rejected", ["not certain"]),
    (NEVER, NEVER, "rejected", ["not certain"]),
    (
        NO,
        ("rejected", "another reason"),
        "rejected",
        ["exact checker cannot accept it: not certain", "another reason"],
    ),
    (
        YES,
        NO,
        "not confirmed",
        [
            "the exact checker accepts it: For",
            "floating-point checker cannot accept it: not",
        ],
    ),
    (
        NO,
        YES,
        "not confirmed",
        [
            "the exact checker cannot accept it: not",
            "floating-point checker accepts it: For",
        ],
    ),
    (
        YES,
        NEVER,
        "internal error",
        ["report", "sha256 is 1234", "the exact checker accepts", "proves it false"],
    ),
    (
        NEVER,
        YES,
        "internal error",
        ["report", "sha256 is 1234", "the exact checker proves it false", "accepts it"],
    ),
    (YES, BROKEN, "internal error", ["report", "sha256 is 1234", "stopped"]),
    (NO, BROKEN, "internal error", ["report", "stopped"]),
    (
        YES,
        ("not covered", "random keys"),
        "not confirmed",
        ["does not cover it: random keys"],
    ),
    (
        NO,
        ("undecided", "out of time"),
        "not confirmed",
        ["cannot accept it: out of time"],
    ),
    (MALFORMED, NO, "unreadable", ["not JSON"]),
    (YES, MALFORMED, "unreadable", ["not JSON"]),
]


@pytest.mark.parametrize(("exact", "floats", "word", "words"), COMBINED)
def test_what_two_checkers_say_makes_one_verdict(
    exact: Any, floats: Any, word: str, words: list[str]
) -> None:
    verdict = combine([Opinion("exact", *exact), Opinion("float", *floats)], "1234")
    assert (verdict.word, verdict.checkers) == (word, ("exact", "float"))
    said = verdict.words.lower()
    assert all(part.lower() in said for part in words), verdict.words


@pytest.mark.parametrize(
    ("said", "word"),
    [(YES, "verified"), (NO, "rejected"), (NEVER, "rejected")],
)
def test_one_checker_alone_is_named(said: Any, word: str) -> None:
    verdict = combine([Opinion("exact", *said)], "1234")
    assert verdict == CertificateVerdict(word, said[1], ("exact",))


@pytest.mark.parametrize(
    ("choice", "entries", "ran"),
    [
        (None, MOST_ENTRIES, ("exact", "float")),
        (None, MOST_ENTRIES + 1, ("exact",)),
        ("both", 10**9, ("exact", "float")),
        ("exact", 4, ("exact",)),
        ("float", 10**9, ("float",)),
        ("proved", 4, ("proved",)),
    ],
)
def test_who_runs(choice: str | None, entries: int, ran: tuple[str, ...]) -> None:
    assert which(choice, entries) == ran


def test_a_checker_that_there_is_not_is_refused() -> None:
    with pytest.raises(
        InputError, match="'fast': expected one of both, exact, float, proved"
    ):
        verify("{}", checker="fast")


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.json").read_text()


def test_a_certificate_about_keys_is_verified_by_two() -> None:
    verdict = verify(text_of("accept/copy"))
    assert (verdict.word, verdict.by) == (
        "verified",
        "exact and floating-point checkers",
    )
    assert "exact and floating-point checkers" in verdict._repr_html_()
    assert verify(text_of("accept/copy"), checker="float").checkers == ("float",)
    assert verify(text_of("reject/query-halved")).word == "rejected"


WORDS = {"accept": "verified", "reject": "rejected", "malformed": "unreadable"}


@pytest.mark.parametrize("kind", WORDS)
def test_the_corpus_gets_its_verdict_from_both_together(kind: str) -> None:
    paths = sorted((FOLDER / kind).glob("*.json"))
    found = {path.stem: verify(path.read_text()).word for path in paths}
    assert found == dict.fromkeys(found, WORDS[kind])
    assert len(found) >= 50


@pytest.mark.parametrize(
    "keys", [5, "5", None, {}, [5], [{"n": "5"}], [{"n": 5, "d": None}], [[]], True]
)
def test_keys_that_are_none_are_unreadable(keys: Any) -> None:
    made = document(np.eye(2), {0: "1/2"}, queries=[np.zeros(2)])
    made["statement"]["keys"] = keys
    assert verify(json.dumps(made)).word == "unreadable"


def test_whole_heads_have_one_checker() -> None:
    verdict = verify(text_of("head-accept/two-heads"))
    assert (verdict.word, verdict.checkers) == ("verified", ("exact",))
    for choice in ("both", "float"):
        with pytest.raises(InputError, match="whole heads"):
            verify(text_of("head-accept/two-heads"), checker=choice)


def test_above_a_million_entries_the_exact_one_runs_alone() -> None:
    made = document(np.eye(2), {0: "1/2"}, queries=[np.zeros(2)])
    for n, ran in ((500_000, ("exact", "float")), (500_001, ("exact",))):
        made["statement"]["keys"] = [{"n": n, "d": 2, "sha256": "0" * 64, "rows": None}]
        verdict = verify(json.dumps(made))
        assert (verdict.word, verdict.checkers) == (
            "unreadable",
            ran,
        )  # the keys are not given
    made["statement"]["keys"] = [
        {"n": 300_000, "d": 2, "sha256": "0" * 64, "rows": None}
    ] * 2
    assert verify(json.dumps(made)).checkers == ("exact",)  # scenarios add up


def only_exact() -> dict[str, Any]:
    """1,500 keys whose target gets its weight by the last bit of the query: floats cannot tell."""
    keys, enough = (
        np.r_[[[1.0]], np.zeros((1500, 1))],
        float(np.nextafter(np.log(99), 9)),
    )
    return document(
        keys, {0: f"{Fraction(99, 99 + 1500)}"}, queries=[np.array([enough])]
    )


def only_floats() -> dict[str, Any]:
    """A guard of 41 deviations: the exact checker goes to 40."""
    uncertainty, guard = (
        [entry("*", ball="0.001", random=True)],
        {"kind": "keys", "deviations": "41"},
    )
    return document(
        np.eye(3),
        {0: "1/2"},
        uncertainty=uncertainty,
        confidence="9/10",
        queries=[np.array([9.0, 0, 0])],
        guard=guard,
    )


@pytest.mark.parametrize(
    ("made", "who"),
    [(only_exact(), "exact"), (only_floats(), "float")],
    ids=["exact", "float"],
)
def test_what_only_one_checker_accepts_is_not_confirmed(
    made: dict[str, Any], who: str
) -> None:
    text = json.dumps(made)
    verdict = verify(text)
    assert verdict.word == "not confirmed"
    assert f"the {in_words([who])} accepts it: For these" in verdict.words
    other = {"exact": "float", "float": "exact"}[who]
    assert f"the {in_words([other])} cannot accept it: " in verdict.words
    assert verify(text, checker=who).word == "verified"
    assert verify(text, checker=other).word == "rejected"


def test_without_its_program_the_proved_checker_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEADWRIGHT_PROVED", "nowhere")
    with pytest.raises(InputError, match="make proof"):
        verify(text_of("accept/copy"), checker="proved")


@pytest.mark.skipif(
    proved_checker.program() is None,
    reason="the proved checker is not built (make proof builds it, with Rocq and OCaml)",
)
@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("accept/copy", "verified"),
        ("reject/query-halved", "rejected"),
        ("accept/gaussian-pairs", "not confirmed"),
        ("head-accept/two-heads", "verified"),
        ("malformed/empty", "unreadable"),
    ],
)
def test_a_verdict_of_the_proved_checker_says_that_it_rests_on_a_proof(
    name: str, word: str
) -> None:
    verdict = verify(text_of(name), checker="proved")
    assert (verdict.word, verdict.checkers) == (word, ("proved",))
    assert verdict.by == "checker with a machine-checked proof"


def about_every_text() -> dict[str, Any]:
    """A certificate about every text of six tokens."""
    model = load_model("builtin:induction")
    found = every_text(model, 6)[0]
    made = statement_of(
        model.name, first_layer(model, 6), found, found.places[1], "least"
    )
    return dict(json.loads(statement.write_statement(made)))


def test_a_certificate_about_every_text_is_verified_with_its_model() -> None:
    text = json.dumps(about_every_text())
    for model in ("builtin:induction", load_model("builtin:induction")):
        verdict = verify(text, model=model)
        assert (verdict.word, verdict.checkers, verdict.by) == (
            "verified",
            ("every text",),
            "every-text checker",
        )
        assert verdict.words.startswith("in every text of 6 tokens")
        assert verdict.runs > 0 and verdict.to_json()["runs"] == verdict.runs
    assert verify(text, model="builtin:induction16").word == "rejected"


def test_a_certificate_about_every_text_that_is_not_of_its_format_is_unreadable() -> (
    None
):
    made = about_every_text()
    made["statement"]["bound"] = "almost all"
    verdict = verify(json.dumps(made), model="builtin:induction")
    assert verdict.word == "unreadable" and "expected a decimal" in verdict.words


def test_a_certificate_about_the_next_token_has_its_checker() -> None:
    made = {
        "format": NEXT_TOKEN,
        "version": 3,
        "statement": {"model": "builtin:induction16"},
        "cuts": [],
    }
    assert model_named(json.dumps(made)) == "builtin:induction16"
    verdict = verify(json.dumps(made), model="builtin:induction16")
    assert (verdict.word, verdict.checkers) == ("unreadable", ("every text",))


def test_the_formats_about_every_text_are_those_that_are_written() -> None:
    assert (FIRST_LAYER, NEXT_TOKEN) == (statement.FORMAT, induction_statement.FORMAT)


def test_without_the_model_a_certificate_about_every_text_says_what_to_pass() -> None:
    text = json.dumps(about_every_text())
    with pytest.raises(
        InputError,
        match=r"add --model builtin:induction .in Python, model=\"builtin:induction\"",
    ):
        verify(text)
    with pytest.raises(InputError, match="expected the model alone"):
        verify(text, checker="exact", model="builtin:induction")
    with pytest.raises(InputError, match="it goes with one about every text"):
        verify(text_of("accept/copy"), model="builtin:induction")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            '{"format": "headwright every\\u002dtext certificate", "statement": {"model": "mine"}}',
            "mine",
        ),
        (
            '{"format": "headwright every-text certificate", "statement": {"model": "a b"}}',
            "MODEL",
        ),
        ('{"format": "headwright every-text certificate", "statement": []}', "MODEL"),
        (
            '{"format": "headwright certificate", "statement": "headwright every-text certificate"}',
            None,
        ),
        ('{"format": ["headwright every-text certificate"]}', None),
        ('["headwright every-text certificate"]', None),
        ('{"format": "headwright every-text certificate", "format": "x"}', None),
        ('{"format": "headwright every-text certificate", "version": 4.0}', None),
        ('"headwright every-text certificate', None),
    ],
)
def test_the_format_of_a_document_says_of_what_kind_it_is_and_nothing_else_does(
    text: str, name: str | None
) -> None:
    assert model_named(text) == name
    if name is None:
        assert verify(text).word == "unreadable"


def test_where_there_is_no_certificate_it_says_so() -> None:
    with pytest.raises(InputError, match="there is no certificate"):
        verify(None)
