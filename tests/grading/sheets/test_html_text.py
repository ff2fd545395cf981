"""What students type into Moodle and Canvas comes as HTML, and is read as the text that they see."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.grading.exercise import load_exercises
from headwright.grading.sheets.classes import read_class
from headwright.grading.sheets.document import read_document
from headwright.grading.sheets.html_text import MATHML, PICTURE, html_text

KNOWN = load_exercises()
# As Moodle writes the file for a text that was typed into its editor.
MOODLE = r"""<!DOCTYPE html><html><head><meta charset="UTF-8"></head><body><div class="no-overflow">
<h3>averaging-two</h3>
<p dir="ltr" style="text-align: left;">For &lambda; large,&nbsp;<span class="nolink"><span
class="filter_mathjaxloader_equation">\( q = \lambda (k_a + k_b) \)</span></span>.</p></div></body></html>"""
# As Canvas does, with an equation of its editor.
CANVAS = r"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"
        "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
  <meta http-equiv="Content-Type" content="text/html;charset=utf-8" />
  <title>Average two values: Ben Birk</title>
</head>
<body>
<h1>Average two values: Ben Birk</h1>
<div style="width: 600px; margin: 20px auto; border: 1px solid #888; padding: 20px;">
  <h2>averaging-two</h2><p>With <img class="equation_image" title="\beta > 9"
  src="/equation_images/x?scale=1" alt="LaTeX: \beta > 9" data-equation-content="\beta > 9" />:</p>
  <p><img class="equation_image" alt="LaTeX: q = \beta (k_a + k_b)" data-equation-content="q = \beta (k_a + k_b)" /></p>
</div>
</body>
</html>"""


def packed(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (MOODLE, "### averaging-two\n\nFor λ large, \\( q = \\lambda (k_a + k_b) \\)."),
        (
            CANVAS,
            "## averaging-two\n\nWith $\\beta > 9$:\n\n$q = \\beta (k_a + k_b)$",
        ),
        ("<p>a</p><p>b<br>c</p>d", "a\n\nb\nc\n\nd"),
        ("a &lt; b &amp;&#955; &copy; < c", "a < b &λ © < c"),
        ("<p>$$</p><p>q = 1</p><p>$$</p>", "$$\nq = 1\n$$"),
        ("<ol><li>x<ul><li>y</li></ul></li><li>z</ol>", "1. x\n\n- y\n\n2. z"),
        ('<ol start="3"><li>x</ol><p>1</p>', "3. x\n\n1"),
        ("k<sub>a</sub>, 10<sup>-3</sup>", "k_{a}, 10^{-3}"),
        ("a<script>if (1 < 2) q = 1;</script><style>p > q {}</style>b", "ab"),
        ("q = <s>2</s> 3, <del>4</del><span style='text-decoration:line-through'>5", "q =  3,"),
        ('<img src="x.png" alt="q = 1">', PICTURE),
        ('<img class="texrender" alt="q = 1">', "$q = 1$"),
        ("<math><mi>q</mi><mo>=</mo><mn>1</mn></math>", MATHML),
        (
            "<math><semantics><mi>q</mi><annotation encoding='application/x-tex'>"
            "q = k_a</annotation></semantics></math>"
            "<span class='katex-html'>q=ka</span>",
            "$q = k_a$",
        ),
        ("<pre>a\n  b</pre>", "a\nb"),
        ("1 <!-- hidden --> 2 &lt;!-- shown --&gt;", "1  2 < !-- shown -->"),
        ("</p></div>x<unknown>y</unknown>", "x y".replace(" ", "")),
        ("", ""),
    ],
)  # fmt: skip
def test_a_page_is_read_as_the_text_that_is_seen(page: str, text: str) -> None:
    assert html_text(page) == text


def test_what_was_typed_into_moodle_and_canvas_is_an_answer(tmp_path: Path) -> None:
    moodle = packed(
        tmp_path / "m.zip",
        {
            "Ada Ash_101_assignsubmission_onlinetext/onlinetext.html": MOODLE,
            "Ada Ash_101_assignsubmission_file/more.md": "## energy\n\n$$x = 1$$\n",
            "Cleo Ce_103_assignsubmission_onlinetext_onlinetext.html": MOODLE,
            "Dan_104_assignsubmission_onlinetext/onlinetext.html": "<p> &nbsp;</p>",
        },
    )
    found = read_class([moodle], KNOWN)
    assert found.students == ("Ada Ash", "Cleo Ce", "Dan")
    assert [(one.file, one.exercise_id) for one in found.answers] == [
        ("Ada Ash/more.md", "energy"),
        ("Ada Ash/onlinetext.html", "averaging-two"),
        ("Cleo Ce/onlinetext.html", "averaging-two"),
    ]
    assert found.empty == {"Dan"}
    assert [one.sentence for one in found.problems] == ["no answer sheet"]
    canvas = packed(
        tmp_path / "c.zip",
        {
            "birkben_LATE_502_text.html": CANVAS,
            "ashada_501_9001_hw.md": "## energy\n\n$$x = 1$$\n",
            "anon_x9Kd2_text.html": CANVAS,
            "anon_x9Kd2_9002_hw.md": "## energy\n\n$$x = 1$$\n",
        },
    )
    found = read_class([canvas], KNOWN)
    assert found.students == ("anon_x9Kd2", "ashada", "birkben")
    assert dict(found.numbers) == {"anon_x9Kd2": "", "ashada": "501", "birkben": "502"}
    (ben,) = [one for one in found.answers if one.file.startswith("birkben")]
    assert ben.exercise_id == "averaging-two"
    assert ben.written.text.count("k_a + k_b") == 1
    assert found.problems == found.notes == ()


def test_a_page_is_an_answer_sheet_for_check_as_well(tmp_path: Path) -> None:
    (tmp_path / "answer.htm").write_text(MOODLE)
    (answer,) = read_document(tmp_path / "answer.htm", KNOWN).answers
    assert answer.exercise_id == "averaging-two"
    (tmp_path / "answer.htm").write_text("<p>q = 1 <a href='")
    with pytest.raises(InputError, match="a tag does not end"):
        read_document(tmp_path / "answer.htm", KNOWN)


@pytest.mark.parametrize(
    "unit",
    ["<a ", "<a b='", "</a ", "<!--", "<![CDATA[", "<script>", "<p a", "<?"],
)
def test_tags_that_do_not_end_are_refused(unit: str) -> None:
    with pytest.raises(InputError, match="a tag does not end"):
        html_text(unit * (2**20 // len(unit)))


def test_elements_within_each_other_are_bounded() -> None:
    with pytest.raises(InputError, match="more than 200 elements"):
        html_text("<b>" * 100_000)


@given(st.text("<>/abp!-='\"&; \n$", max_size=80))
@example("<math><title>a</math>b</title>")
@example("<h1>a</p></h1><h1>")
def test_any_text_is_read_or_refused(content: str) -> None:
    try:
        text = html_text(content)
    except InputError:
        return
    assert not re.search(r"\n{3}|^\s|\s$", text) or not text.strip()
