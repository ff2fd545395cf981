"""One example of each small function: what it gives for what."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from headwright.check.answer import compared, comparisons, full_name, full_names, named, number_of
from headwright.check.autograder.assignment import Assignment, awards, read_points
from headwright.check.autograder.gradescope import grade
from headwright.check.decision import decide
from headwright.check.exercise import load_exercises, parse_exercise, parsed
from headwright.check.judging import at, claims, contrasted, plain_number, shown
from headwright.check.linting import lint
from headwright.check.markdown import (
    Piece,
    Written,
    blocks,
    closing,
    compares,
    find_formulas,
    is_table,
    of_formulas,
    of_lines,
)
from headwright.check.report.page import prose
from headwright.check.report.text import said_with
from headwright.check.report.typeset import lettered, typeset
from headwright.check.scalars import POSITIVE, Range, Where, exp, ln, number, parameter
from headwright.check.scalars.limits import eventually
from headwright.check.scalars.proving import prove
from headwright.check.scalars.text import written
from headwright.check.sentences import sentences
from headwright.check.settings.matrices.deciding import decide as decide_matrices
from headwright.check.settings.matrices.known import Given
from headwright.check.sheets.files import clean, student_of
from headwright.check.sheets.sheet import find
from headwright.check.text import is_neutral, read, tidy
from headwright.check.verdict import AskedPart, Formula, Verdict, from_json, overall, to_json, worst
from headwright.errors import InputError
from headwright.formula import parse
from headwright.formula import tree as t
from headwright.formula.shapes import Shape
from headwright.formula.show import plain


def _relation(source: str) -> t.Relation:
    node = parse(source)
    assert isinstance(node, t.Relation)
    return node


def test_comparisons() -> None:
    assert [plain(link) for link in comparisons(_relation("a, b = c <= d"))] == ["a = c", "b = c", "c <= d"]


def test_compared() -> None:
    assert compared(Fraction(1), "<=", Fraction(2))


def test_full_name() -> None:
    assert full_name(t.Name("alpha", t.Listing((t.Name("i"), t.Name("j"))))) == "alpha_i,j"


def test_full_names() -> None:
    assert sorted(full_names(t.Name("k", t.Name("a")))) == ["a", "k_a"]


def test_named() -> None:
    assert named("q_1") == t.Name("q", t.Number(Fraction(1)))


def test_number_of() -> None:
    assert repr(number_of(t.Negative(t.Quotient(t.Number(Fraction(1)), t.Number(Fraction(2)))))) == "Fraction(-1, 2)"


def test_awards() -> None:
    part, claim = AskedPart("q", "proved", 1, "q = k_a", ""), Formula(2, "1 = 2", "false", "claim", True)
    verdict = Verdict("proved", "", (part,), (claim,))
    assert [str(award) for award in awards([verdict], "copying", Assignment(points={"copying": 4}))] == [
        "object: 3 of 3 points",
        "formulas: 0 of 1 points (1 of 1 is false)",
    ]


def test_read_points() -> None:
    assert read_points("copying=2, Energy", ["copying", "energy"]) == {"copying": 2.0, "energy": 1.0}


def test_grade() -> None:
    assert (
        grade([], assignment=Assignment(points={"copying": 2}))["tests"][0]["output"]
        == "There is no answer to 'copying' in the submission: write a heading '## copying' and the formulas below it."
    )


def test_load_exercises() -> None:
    assert sorted(load_exercises())[:2] == ["averaging-all-but-one", "averaging-gaussian"]


def test_decide() -> None:
    where = Where({"n": Range(2, integer=True)})
    n = where.name("n")
    assert decide(n * n, ">=", 2 * n, where).word == "proved"
    found = decide(n, "<=", number(3), where)
    assert repr((found.word, found.values)) == "('refuted', {'n': Fraction(4, 1)})"


def test_parsed() -> None:
    assert parsed("n") is parsed("n")


def test_exercise() -> None:
    exercise = load_exercises()["averaging-two"]
    assert (exercise.answer, exercise.goals[0]) == (("q",), "\\alpha_a \\ge \\frac{1}{2 + \\epsilon}")


def test_exercise_sheet() -> None:
    assert load_exercises()["averaging-two"].sheet == "## averaging-two\n\n$$q = $$"


def test_claims() -> None:
    assert [plain(claim.node) for claim in claims(parse("a = b <= c"), "statement")] == ["a = b", "b <= c"]


def test_plain_number() -> None:
    assert (plain_number(Fraction(3)), plain_number(Fraction(1, 10))) == (3, "1/10")


def test_shown() -> None:
    assert shown(arb(1) / 3) == "0.3333"


def test_contrasted() -> None:
    assert contrasted(arb(1) / 3, ">=", arb(1) / 2) == "0.3333, not at least 0.5"
    assert contrasted(arb("0.999995"), ">=", arb("0.999999")) == "0.999995, not at least 0.999999"


def test_at() -> None:
    assert at({"n": Fraction(3), "epsilon": Fraction(1, 10)}) == "n = 3 and epsilon = 1/10"


def test_lint() -> None:
    assert lint(load_exercises()["taking-apart"]) == []


def test_written() -> None:
    assert Written("Take $q = k_a$.", 3).lines == 1


def test_piece() -> None:
    assert Piece("n = 2", 4).start == 4


def test_compares() -> None:
    assert (compares("n = 2"), compares("n"), compares(r"\{k_i\}_{i \ne j}")) == (True, False, False)


def test_closing() -> None:
    assert (closing(r"\["), closing(r"\begin{align}"), closing("$$$")) == ("\\]", "\\end{align}", None)


def test_find_formulas() -> None:
    found, open_ended = find_formulas(r"Take $q = k_a$, or \(q = k_b\); `$x$` is code, \$5 is money; $n")
    assert ([piece.text for piece in found], [piece.text for piece in open_ended]) == (["q = k_a", "q = k_b"], ["$"])


def test_blocks() -> None:
    assert [(token.type, token.map) for token in blocks("# a\n\n- $$x\n  + y$$\n")] == [
        ("heading_open", [0, 1]),
        ("inline", [0, 1]),
        ("inline", [2, 4]),
    ]


def test_is_table() -> None:
    assert (is_table("| a | b |\n|---|---|\n| 1 | 2 |"), is_table("a | b")) == (True, False)


def test_of_formulas() -> None:
    assert of_formulas(["q = k_a"]).text == "$$q = k_a$$"


def test_of_lines() -> None:
    assert (
        repr(of_lines([(3, ""), (4, "a"), (6, "b")], "markdown", ""))
        == "Written(text='a\\n\\nb', line=4, form='markdown', macros='')"
    )


def test_prose() -> None:
    assert prose("a < b") == "<p>a &lt; b</p>\n"


def test_said_with() -> None:
    assert (said_with("it is too short", {"n": 3}), said_with("with n = 3 it is too short", {"n": 3})) == (
        "with n = 3: it is too short",
        "with n = 3 it is too short",
    )


def test_typeset() -> None:
    assert typeset("n") == '<math display="inline"><mrow><mi>n</mi></mrow></math>'
    assert typeset(r"\text{<script>}") == '<math display="inline"><mrow><mtext>&lt;script&gt;</mtext></mrow></math>'


def test_lettered() -> None:
    assert (
        lettered("alpha_{1,1} is 0.8, not <= n^2, with <k_1, q> = sqrt(epsilon) in large_lambda.md")
        == "α<sub>1,1</sub> is 0.8, not ≤ n<sup>2</sup>, with ⟨k<sub>1</sub>, q⟩ = √(ε) in large_lambda.md"
    )


def test_eventually() -> None:
    n, eps, x = parameter("n"), parameter("epsilon"), parameter("lambda")
    where = Where({"n": Range(2, integer=True), "epsilon": Range(0, 1, True, True), "lambda": POSITIVE})
    found = eventually(exp(x) / (2 * exp(x) + n - 2), ">=", 1 / (2 + eps), where, ("lambda",))
    assert found is not None
    assert repr((found.threshold["lambda"], found.condition)) == "(<ln((n - 2)/epsilon)>, (<n - 2>, '>', <0>))"


def test_prove() -> None:
    n, where = parameter("n"), Where({"n": Range(2, integer=True)})
    proof = prove(1 / n, "<=", 1 / (n - 1), where)
    assert proof is not None
    assert proof.reason == "cleared of denominators it says 1 >= 0"
    assert prove(n, ">", 2, where) is None


def test_written_of_text() -> None:
    n, eps = parameter("n", Range(2)), parameter("epsilon", Range(0, 1, True, True))
    assert (written(2 * ln((n - 2) / eps)), written(n / (2 * n + eps))) == (
        "2 ln((n - 2)/epsilon)",
        "n/(epsilon + 2 n)",
    )


def test_sentences() -> None:
    assert [one.text for one in sentences(Written("Take $q = k_a$. Then\n\n$$c = v_a$$\n\nwhere all is well."))] == [
        "take $q = k_a$",
        "then $c = v_a$ where all is well",
    ]


def test_decide_matrices() -> None:
    given = Given(
        {"P": Shape("T", "T"), "X": Shape("T", "T")}, facts={"P": frozenset({"permutation"})}, sizes={"T": (2, 3)}
    )
    moved = _relation(r"\operatorname{softmax}(P X P^\top) = P \operatorname{softmax}(X) P^\top")
    assert decide_matrices(moved, given).word == "proved"
    found = decide_matrices(_relation(r"P X = X P"), given)
    assert found.example is not None
    assert (found.word, [[int(entry) for entry in row] for row in found.example.matrices["P"]]) == (
        "refuted",
        [[0, 1], [1, 0]],
    )


def test_clean() -> None:
    assert clean("q = \x1b[31mk_a") == "q = �[31mk_a"


def test_student_of() -> None:
    assert (student_of("ada/answers.md"), student_of("ben.md")) == ("ada", "ben")


def test_read() -> None:
    found = read(Written(r"If $g > 1$ then $c \approx v_a$. It is not $c = 0$."))
    assert [(one.role, one.kind, one.text, len(one.under)) for one in found.statements] == [
        ("condition", "neutral", "g > 1", 0),
        ("claim", "neutral", "c \\approx v_a", 1),
        ("claim", "turned", "c = 0", 0),
    ]


def test_is_neutral() -> None:
    assert (is_neutral(["take", "a", "large"]), is_neutral(["by", "symmetry"])) == (True, False)


def test_tidy() -> None:
    assert (tidy(r"\beta \in \mathbb{R}^+"), tidy(r"\Delta s = 1. \tag{3}")) == ("\\beta > 0", "\\Delta_{s} = 1")


def test_overall() -> None:
    part = AskedPart("q", "proved", 1, "q = k_a", "")
    assert overall([part, AskedPart("c", "missing", 0, "", "", optional=True)]) == "proved"
    assert overall([part, AskedPart("c", "missing", 0, "", "")]) == "undecided"


def test_worst() -> None:
    assert worst(["proved", "refuted", "undecided"]) == "refuted"


def test_to_json() -> None:
    assert to_json(Verdict("refuted", "too small", (AskedPart("q", "refuted", 3, "q = k_a", "", {"n": 10}),)))["asked"][
        0
    ] == {"part": "q", "verdict": "refuted", "line": 3, "latex": "q = k_a", "reason": "", "counterexample": {"n": 10}}


def test_from_json() -> None:
    assert from_json(to_json(Verdict("proved", "for all n"))) == Verdict("proved", "for all n")


def test_what_is_meant_by_an_unknown_id_is_told() -> None:
    with pytest.raises(InputError, match="no exercise coping; did you mean copying"):
        find("coping", {"copying": 1})
    with pytest.raises(InputError, match="title is missing"):
        parse_exercise('id = "x"')
