"""Verdicts in the terminal and as JSON; exit codes; hints."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written, of_formulas
from headwright.grading.report.text import as_json, as_text, code, hinted, results
from headwright.grading.sheets.sheet import AnswerText, Checked, Problem
from headwright.grading.verdict import (
    WORST_FIRST,
    AskedPart,
    Formula,
    Status,
    ToRead,
    Verdict,
    Word,
    from_json,
)

EXERCISES = load_exercises()
ANSWER = AnswerText("sheet.md", 12, "averaging-two", Written(""))
FALSE = Formula(
    17, r"\alpha_a = \frac{1}{2}", "false", "claim", True, "", {"n": 3, "left": 0.4223}
)


def _checked(word: Word, *formulas: Formula, failed: bool = False) -> Checked:
    return Checked(ANSWER, Verdict(word, "so", (), formulas), 0.1, failed)


def test_an_answer_is_reported_part_by_part_then_its_formulas_then_what_to_read() -> (
    None
):
    verdict = Verdict(
        "proved",
        "it works",
        (
            AskedPart(
                "q", "proved", 14, r"q = \lambda(k_a + k_b)", "both weights are large"
            ),
            AskedPart(
                "c", "missing", 0, "", "no formula says what c is", optional=True
            ),
        ),
        (
            Formula(14, "q = x", "true", "definition", False),
            Formula(15, "q = k_a", "quoted", "claim", False),
            FALSE,
            Formula(
                16, "1 +", "open", "unread", False, "1 +\n  ^\na number was expected"
            ),
            Formula(18, "2 = 3", "false", "claim", False, "read the sentence"),
        ),
        (ToRead(15, "words"), ToRead(18, "more words")),
    )
    assert "\n".join(as_text(Checked(ANSWER, verdict), file=False, verbose=True)) == (
        "averaging-two (line 12)\n"
        "  proved     q = lambda (k_a + k_b) (line 14): both weights are large\n"
        "  missing    c (optional): no formula says what c is\n"
        "  formulas   1 true, 2 false, 1 open, 1 quoted (1 false only as it stands: read the sentence)\n"
        "    line 17  false   alpha_a = 1/2: with n = 3, left side = 0.4223\n"
        "    line 18  false   2 = 3: read the sentence\n"
        "    line 16  open    1 +\n"
        "                       ^\n"
        "                     a number was expected\n"
        "    line 15  quoted  q = k_a\n"
        "  to read    line 15: words\n"
        "             line 18: more words"
    )
    short = as_text(Checked(ANSWER, verdict), file=False)
    assert not any(" open " in line or " quoted " in line for line in short[4:])


@pytest.mark.parametrize(
    ("checked", "problems", "notes", "expected"),
    [
        ([_checked("proved")], [], [], 0),
        ([_checked("proved", FALSE)], [], [], 1),
        ([_checked("proved", Formula(1, "1 = 2", "false", "claim", False))], [], [], 0),
        ([_checked("refuted")], [], [], 1),
        ([_checked("missing")], [], [], 1),
        ([_checked("undecided")], [], [], 3),
        ([_checked("undecided", FALSE)], [], [], 1),
        ([_checked("undecided", failed=True)], [], [], 4),
        ([], [], [], 2),
        ([_checked("proved")], [Problem("a", 0, "")], [], 2),
        (
            [_checked("refuted"), _checked("undecided", failed=True)],
            [Problem("a", 0, "")],
            [],
            4,
        ),
        ([_checked("refuted"), _checked("undecided")], [], [], 1),
        ([_checked("proved"), _checked("undecided")], [], [], 3),
        ([_checked("proved")], [], [Problem("a", 1, "")], 3),
    ],
)
def test_exit_codes(
    checked: list[Checked], problems: list[Problem], notes: list[Problem], expected: int
) -> None:
    assert code(checked, problems, notes) == expected


def test_json_has_what_the_contract_says() -> None:
    answer = of_formulas([r"q = \lambda(k_a + k_b)", r"\alpha_a = 1"])
    found = as_json(Checked(ANSWER, grade(EXERCISES["averaging-two"], answer)))
    assert (found["line"], found["exercise"], found["verdict"]) == (
        12,
        "averaging-two",
        "proved",
    )
    assert {"part", "verdict", "line", "latex", "reason"} <= set(found["asked"][0])
    false = next(one for one in found["formulas"] if one["status"] == "false")
    assert {"line", "latex", "status", "role", "counts", "counterexample"} <= set(false)
    assert results([], seed=7)["seed"] == 7
    assert results([])["version"] == 2
    assert json.dumps(found, allow_nan=False)


STATUSES: tuple[Status, ...] = ("true", "false", "open", "quoted")


@given(
    st.sampled_from(WORST_FIRST),
    st.lists(
        st.builds(
            AskedPart,
            st.text(max_size=5),
            st.sampled_from(WORST_FIRST),
            st.integers(0, 9),
            st.text(max_size=9),
            st.text(max_size=20),
        )
    ),
    st.lists(
        st.builds(
            Formula,
            st.integers(1, 9),
            st.text(max_size=9),
            st.sampled_from(STATUSES),
            st.sampled_from(["claim", "definition"]),
            st.booleans(),
            st.text(max_size=20),
        )
    ),
)
def test_any_verdict_is_reported_at_every_level_of_hints(
    word: Word, asked: list[AskedPart], formulas: list[Formula]
) -> None:
    each = Checked(ANSWER, Verdict(word, "so", tuple(asked), tuple(formulas)))
    for hints in ("none", "direction", "full"):
        shown = hinted(each, hints)
        assert "\x1b" not in "".join(as_text(shown))
        assert shown.verdict.word == word
        assert code([shown]) == code([each])


def _hinted(name: str, *formulas: str, hints: str) -> str:
    checked = Checked(ANSWER, grade(EXERCISES[name], of_formulas(formulas)))
    return json.dumps(as_json(hinted(checked, hints)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "formulas", "secret"),
    [
        ("averaging-two", ["q = k_a + k_b"], "lambda"),
        ("averaging-two", ["q = 2 (k_a + k_b)"], "ln("),
        ("self-attention-copy", [r"c_2 \to u_b"], "u_a"),
        ("averaging-varies", [r"\operatorname{Var}(\alpha_a) \to 0"], "1/4"),
        ("taking-apart", ["M = I"], "A A"),
    ],
)
def test_a_hint_does_not_show_what_would_mend_it(
    name: str, formulas: list[str], secret: str
) -> None:
    for hints in ("none", "direction"):
        assert secret not in _hinted(name, *formulas, hints=hints)


def test_a_direction_names_the_instance_and_none_does_not() -> None:
    assert '"n": 3' in _hinted("averaging-two", "q = k_a + k_b", hints="direction")
    assert "counterexample" not in _hinted(
        "averaging-two", "q = k_a + k_b", hints="none"
    )


def test_json_crosses_over_and_back() -> None:
    verdict = grade(EXERCISES["averaging-two"], of_formulas(["q = k_a"]))
    given = as_json(Checked(ANSWER, verdict))
    for name in ("file", "line", "exercise", "chosen", "seconds"):
        del given[name]
    assert from_json(given).word == verdict.word
