"""The report: whole, escaped, with the failure drawn; a class at a glance."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.grading.assignment import Assignment
from headwright.grading.classroom.pages import class_page
from headwright.grading.classroom.room import classroom, marked
from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written, of_formulas
from headwright.grading.report.page import report, statements
from headwright.grading.report.text import as_text
from headwright.grading.report.typeset import lettered, typeset
from headwright.grading.sheets.sheet import AnswerText, Checked, Problem
from headwright.grading.verdict import AskedPart, Curve, Formula, ToRead, Verdict
from headwright.pictures import curve_picture, render

CURVE = Curve(
    "n",
    (2, 10, 100),
    {"alpha_a": (0.5, 0.168, float("nan"))},
    {"wanted": 0.5},
    "It falls.",
)
EMPTY = {"meta", "br", "hr", "img", "wbr"}
ALLOWED = re.compile(
    "html|head|meta|title|style|body|header|main|footer|section|article|h1|h2|h3|p|ul|ol|li|table|caption|thead|tbody|tr|th"
    "|td|code|pre|strong|span|sub|sup|wbr|dl|dt|dd|div|details|summary|figure|figcaption|a|em|small|svg|g|path|text|defs|clippath|rect|line"
    "|math|m[a-z]+"
)


class _Strict(HTMLParser):
    """Every element is known, closed in order, and does nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert ALLOWED.fullmatch(tag), tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in ("src", "srcdoc"), name
            assert name not in ("href", "xlink:href") or (value or "").startswith(
                "#"
            ), value
            assert "url(" not in (value or "").replace("url(#", ""), value
            if name == "id":
                self.ids.append(value or "")
        self.seen.append(tag)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _parsed(page: str) -> _Strict:
    parser = _Strict()
    parser.feed(page)
    parser.close()
    assert not parser.open
    assert len(set(parser.ids)) == len(parser.ids)
    assert "@import" not in page
    return parser


def _checked(verdict: Verdict, file: str = "sheet.md") -> Checked:
    return Checked(AnswerText(file, 3, "averaging-two", Written("")), verdict, 0.1)


def test_a_refuted_answer_is_shown_with_its_counterexample_and_picture() -> None:
    asked = AskedPart(
        "q",
        "refuted",
        4,
        "q = k_a + k_b",
        "the weight is 0.168",
        {"n": 10, "alpha_a": 0.168},
    )
    verdict = Verdict("refuted", "the weight is 0.168", (asked,), curve=CURVE)
    other = Verdict("proved", "for all n", threshold="lambda >= ln((n - 2)/epsilon)")
    page = report(
        [_checked(verdict), _checked(other)], titles={"averaging-two": "Average"}
    )
    parsed = _parsed(page)
    assert parsed.seen.count("svg") == 1
    assert parsed.seen.count("article") == 2
    assert {"math", "table", "th"} <= set(parsed.seen)
    for said in (
        "refuted",
        "the weight is 0.168",
        "It falls.",
        "<mi>λ</mi>",
        "Average",
        'scope="row"',
    ):
        assert said in page


FORMULAS = (
    Formula(5, "a = b", "true", "claim", True, used="exact algebra"),
    Formula(6, "b = c", "false", "claim", True, "4 is not 2", {"b": 4, "c": 2}),
    Formula(7, "c = d", "open", "unread", False, "c =\n   ^\nsomething was expected"),
    Formula(8, "d = e", "quoted", "claim", False),
)


def test_every_formula_has_its_status_and_false_ones_are_marked() -> None:
    verdict = Verdict(
        "proved", "so", (), FORMULAS, (ToRead(9, "This is **nice**, with $x < 1$."),)
    )
    page = report([_checked(verdict)])
    _parsed(page)
    assert page.count('<li class="failing">') == 1
    assert "Formulas: 1 true, 1 false, 1 open, 1 quoted" in page
    assert "(exact algebra)" in page
    assert "<strong>nice</strong>" in page
    lines = as_text(_checked(verdict))
    assert "    line 6   false   b = c: with b = 4, c = 2: 4 is not 2" in lines
    assert "  to read    line 9: This is **nice**, with $x < 1$." in lines


HOSTILE = [
    "<script>alert(1)</script>",
    r"\text{<script>alert(1)</script>}",
    r"\text{&lt;img src=x onerror=alert(1)&gt;}",
    r"\href{javascript:alert(1)}{x}",
    r"\style{background:url(http://a)}{x}",
    r"\class{a' onclick='x}{y}",
    r"\color{red;background:url(x)}{y}",
    r"\def\a{\a\a}\a",
    r"\newcommand{\b}{\b\b}\b",
    r"\frac{1}{",
    "{" * 1500,
    "\\left(" * 300,
    "a" * 100_000,
    "x^" * 900,
    "</style></code>]]>-->",
    '"><img src=x onerror=alert(1)>',
    r"\unicode{x3c}script\unicode{x3e}",
]


@pytest.mark.parametrize("formula", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_in_a_sheet_becomes_part_of_the_page(formula: str) -> None:
    part = AskedPart(formula, "refuted", 4, formula, formula, {formula: formula})
    other = Formula(5, formula, "false", "claim", True, formula, {formula: [formula]})
    read = ToRead(6, formula)
    verdict = Verdict(
        "refuted", formula, (part,), (other,), (read,), formula, formula, formula
    )
    page = report(
        [_checked(verdict, formula)],
        [Problem(formula, 1, formula)],
        {"averaging-two": formula},
    )
    _parsed(page)
    assert "<script" not in page


@given(st.text(alphabet="\\{}[]()^_&<>\"'ab12 \nfractextsq", max_size=60))
def test_any_formula_is_typeset_or_shown_as_written(formula: str) -> None:
    for display in (False, True):
        _parsed(typeset(formula, display=display))


def test_formulas_are_typeset_in_their_own_way() -> None:
    assert (
        typeset(r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", display=True).count(
            "<mtd"
        )
        == 4
    )
    assert "λ" in typeset("log(lambda)*k_a", display=True)
    assert "<math" in typeset(
        r"\begin{aligned} A &= B \\ &= C \end{aligned}", display=True
    )


def test_curves_with_gaps_or_without_points_are_drawn() -> None:
    for curve in (
        CURVE,
        Curve("n", (), {"a": ()}, {}),
        Curve("n", (1,), {"a": (1.0,)}, {}),
        Curve("t", (0.0, 1.0), {"a": (-3.0, 5.0), "b": (-3.0, 5.0)}, {"wanted": 5.0}),
    ):
        assert render(curve_picture(curve), ".svg").startswith(b"<svg")


def test_every_exercise_is_typeset_and_has_a_sheet_to_start_from() -> None:
    exercises = list(load_exercises().values())
    page = statements(exercises)
    parsed = _parsed(page)
    assert parsed.seen.count("article") == len(exercises)
    for exercise in exercises:
        assert exercise.sheet.startswith(f"## {exercise.id}\n")


def test_where_an_answer_stands_is_told_without_the_folder_that_all_share() -> None:
    places = ["sheets/anna/one.md", "sheets/ben-the-first/two.md"]
    checked = [_checked(Verdict("missing", "no formula"), place) for place in places]
    overview = report(checked).partition("</table>")[0]
    assert "<code>anna/one.md:3</code>" in overview
    assert "sheets" not in overview


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("x < 3, y > 2", "x &lt; 3, y &gt; 2"),
        (r"\alpha_i is no name", r"\alpha_i is no name"),
        ("<script, x>", "⟨script, x⟩"),
        ("<script>, x", "&lt;script&gt;, x"),
        ("W_Q <b>", "W<sub>Q</sub> &lt;b&gt;"),
        ("in my_pi_notes.md", "in my_pi_notes.md"),
        ("1.5^0.5 and |q|^2", "1.5<sup>0.5</sup> and |q|<sup>2</sup>"),
    ],
)
def test_plain_spelling_is_lettered_and_nothing_else(said: str, shown: str) -> None:
    assert lettered(said) == shown


EXERCISES = load_exercises()


def _of_class(file: str, exercise: str, *formulas: str) -> Checked:
    written = of_formulas(formulas)
    return Checked(
        AnswerText(file, 1, exercise, written),
        grade(EXERCISES[exercise], written),
    )


CLASS = [
    _of_class("ada/answers.md", "averaging-two", r"q = \lambda(k_a + k_b)"),
    _of_class("ben.md", "averaging-two", "q = k_a + k_b"),
    _of_class("dan.md", "averaging-two", r"q = \lambda(k_a + k_b)", r"\alpha_a = 1"),
    _of_class("dan.md", "energy", r"\|A\|_F^2 = \sum_i \sigma_i^2"),
    _of_class("ada/more.md", "averaging-two", "q = k_a"),
]


def test_students_with_false_formulas_come_first_then_those_with_the_most_to_read() -> (
    None
):
    reading = tuple(ToRead(line, "words") for line in range(3))
    more = Checked(
        AnswerText("cleo.md", 1, "copying", Written("")),
        Verdict("undecided", "so", to_read=reading),
    )
    room = classroom([*CLASS, more], ["eve"])
    assert [(one.name, one.false, one.to_read) for one in room.students] == [
        ("dan", 1, 0),
        ("cleo", 0, 3),
        ("ada", 0, 0),
        ("ben", 0, 0),
        ("eve", 0, 0),
    ]
    table = class_page(marked(room, Assignment())).partition("<tbody>")[2]
    heads = re.findall(r'<th scope="row"><a href="#student-\d">(\w+)</a>', table)
    assert heads == [
        "dan",
        "cleo",
        "ada",
        "ben",
        "eve",
    ]


def test_an_exercise_counts_with_its_worst_answer() -> None:
    ada = next(one for one in classroom(CLASS).students if one.name == "ada")
    assert (ada.word("averaging-two"), ada.word("energy")) == ("refuted", None)


def test_the_page_shows_no_markup_of_a_student() -> None:
    room = classroom([_of_class("<b>x.md", "averaging-two", "q = <i>")])
    page = class_page(marked(room, Assignment()), [Problem("<u>.md", 1, "<s>")])
    assert not any(tag in page for tag in ("<b>", "<i>", "<u>", "<s>"))
    assert "&lt;b&gt;x" in page


def test_cells_of_a_class_lead_to_the_answers() -> None:
    page = class_page(marked(classroom(CLASS), Assignment()))
    parsed = _parsed(page)
    for number in range(1, len(CLASS) + 1):
        assert f'href="#answer-{number}"' in page
        assert f"answer-{number}" in parsed.ids
    for number in range(1, len(classroom(CLASS).students) + 1):
        assert f'href="#student-{number}"' in page
        assert f"student-{number}" in parsed.ids
    assert page.count('href="#students"') == len(classroom(CLASS).students)
    assert (
        "display: none"
        not in page.partition("</style>")[0].partition("@media print")[0]
    )
