r"""Sentences: words, marks and formulas in order, cut where sentences end, with the lines they stand in."""

from __future__ import annotations

import pytest

from headwright.check.reading.sentences import sentences
from headwright.check.reading.written import Written


def said(text: str, form: str = "markdown") -> list[str]:
    return [sentence.text for sentence in sentences(Written(text, form=form))]  # type: ignore[arg-type]


def test_a_sentence_goes_on_over_a_display() -> None:
    assert said("We choose\n\n$$q = x$$\n\nwhere $x > 0$. Done.") == ["we choose $q = x$ where $x > 0$", "done"]


def test_two_displays_are_two_sentences() -> None:
    assert said("$$a = b$$\n\n$$c = d$$") == ["$a = b$", "$c = d$"]


def test_a_display_that_begins_with_a_relation_goes_on() -> None:
    assert said("$$a = b$$\n\n$$= c$$") == ["$a = b$ $= c$"]


def test_abbreviations_end_no_sentence() -> None:
    assert said("Large, e.g. $x = 3$, i.e. $y = 4$.") == ["large, e.g. $x = 3$, i.e. $y = 4$"]


def test_items_of_a_list_are_sentences_of_their_own() -> None:
    found = sentences(Written("Then:\n\n- $a = b$\n- $c = d$"))
    assert [(one.text, one.item) for one in found] == [("then:", False), ("$a = b$", True), ("$c = d$", True)]


def test_lines_are_those_of_the_file() -> None:
    found = sentences(Written("One.\n\nTwo $a$ and\n$b = c$.", 10))
    assert [token.line for one in found for token in one.tokens if token.kind == "formula"] == [13]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("q = t*(k_a + k_b), where t is large", ["q = t*(k_a + k_b)"]),
        ("We set q = log(n/eps)*(k_a + k_b) and get c = v_a.", ["q = log(n/eps)*(k_a + k_b)", "c = v_a"]),
        ("q = λ(kₐ + k_b)", ["q = λ(kₐ + k_b)"]),
        ("    a = b\n    = c", ["a = b\n= c"]),
        ("```\nc = 3/2: x = 1\nc = 1/2: x = 2\n```", ["c = 3/2", "x = 1", "c = 1/2", "x = 2"]),
    ],
)
def test_formulas_are_found_without_marks(text: str, formulas: list[str]) -> None:
    found = [token.text for one in sentences(Written(text)) for token in one.tokens if token.kind == "formula"]
    assert found == formulas


def test_code_and_what_is_crossed_out_is_not_said() -> None:
    assert said("Not `$a = b$` and ~~$c = d$~~ but $e = f$") == ["not and but $e = f$"]


def test_latex_items_and_emphasis_are_plain() -> None:
    text = "\\begin{itemize}\n\\item \\textbf{First} $a = b$.\n\\item $c = d$\n\\end{itemize}"
    assert said(text, "latex") == ["first $a = b$", "$c = d$"]


def test_a_set_with_a_condition_in_its_index_states_nothing() -> None:
    found = sentences(Written(r"all keys $\{k_i\}_{i \ne j}$"))
    assert [token.kind for token in found[0].tokens] == ["word", "word", "term"]


def test_words_in_brackets_are_no_factor_of_a_formula_in_plain_text() -> None:
    assert said("x = alpha_2 (the second weight). x < 1.", "text") == [
        "$x = alpha_2$ (the second weight)",
        "$x < 1$",
    ]
    assert said("x = t (k_a + k_b) (where t is large), so x > 0.", "text") == [
        "$x = t (k_a + k_b)$ (where $t$ is large), so $x > 0$"
    ]


def test_keys_that_are_left_out_stay_together_in_plain_text() -> None:
    assert said("x_i = 0 for all i != a, b, c. So y = 1.", "text") == ["$x_i = 0$ for all $i !=a,b,c$", "so $y = 1$"]
    assert said("x != y, z = 2", "text") == ["$x != y$, $z = 2$"]
