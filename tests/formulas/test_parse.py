r"""Formulas into trees: every spelling, every ambiguity, and the errors; commands of a document's own."""

from __future__ import annotations

import pickle

import pytest

from headwright.errors import InputError
from headwright.formulas import FormulaError, macros, parse, plain
from headwright.formulas.errors import WIDEST, caret
from headwright.formulas.tree import Logic, Name, Relation, Span, conjuncts, walk
from tests.formulas.reading import compact, corpus


@pytest.mark.parametrize(("source", "tree"), corpus())
def test_corpus(source: str, tree: str) -> None:
    assert compact(parse(source)) == tree


def test_the_corpus_is_large() -> None:
    assert len(corpus()) > 300


SAME = [
    [
        r"\log(t)(k_a + k_b)",
        "log(t)*(k_a + k_b)",
        r"\log t (k_a+k_b)",
        r"\ln\left(t\right)\left(k_a+k_b\right)",
    ],
    [
        r"\frac{1}{\sqrt{2}}(k_a + k_b)",
        "1/sqrt(2) (k_a + k_b)",
        "1/√2 (kₐ + k_b)",
        r"\frac1{\sqrt2}(k_a+k_b)",
    ],
    [
        r"e^\lambda/(2e^\lambda+(n-2))",
        r"\frac{e^\lambda}{2e^\lambda+(n-2)}",
        "exp(lambda)/(2*exp(lambda) + (n - 2))",
    ],
    [
        "QK^T/sqrt d",
        r"\frac{QK^\top}{\sqrt{d}}",
        "Q @ K.T / sqrt(d)",
        r"\frac{Q K^\mathsf{T}}{\sqrt d}",
    ],
    [
        r"\alpha_i = 0 \quad (i \neq a, b)",
        "alpha_i = 0 for all i != a, b",
        r"\alpha_i = 0 \text{ for } i \notin \{a, b\}",
    ],
    [
        r"q_1 = u, q_2 = v",
        "q_1 = u; q_2 = v",
        "q_1 = u\nq_2 = v",
        r"q_1 = u \\ q_2 = v",
        "q_1 = u and q_2 = v",
    ],
    [
        r"\forall i \ne j: x_i < x_j",
        "x_i < x_j for all i != j",
        r"x_i < x_j \quad \forall i \neq j",
    ],
    [
        r"\lim_{n \to \infty} x = y",
        "x -> y as n -> oo",
        r"y = \lim_{n\to\infty} x",
        r"x \xrightarrow{n \to \infty} y",
        r"x \xrightarrow[n \to \infty]{} y",
        r"x \overset{n \to \infty}{\longrightarrow} y",
        r"x \underset{n \to \infty}{\to} y",
    ],
    [
        r"\lim_{n \to 1} x = \lim_{n \to 1} y = 2",
        "(x -> 2 and y -> 2) for n -> 1",
    ],
    [
        r"\sum_ie^{x_i} = \sum_jt k_j",
        r"\sum_i e^{x_i} = \sum_{j} t k_j",
    ],
    [
        r"\nabla_zL = x^\top\Sigma_aq",
        r"\nabla_{z} L = x^\top \Sigma_{a} q",
    ],
    [
        r"\underbrace{x_k + \dots + x_k}_{k\text{ times}} = y",
        "k x_k = y",
    ],
    [
        r"x_i > 0 \quad \forall i, \qquad \sum_i x_i = 1",
        r"x_i > 0\ \forall i \quad\text{and}\quad \sum_i x_i = 1",
        r"x_i > 0 \text{ for all } i; \sum_i x_i = 1",
    ],
    [r"q = \lambda k \qquad\blacksquare", "q = λ k ∎", "q = lambda k"],
]


@pytest.mark.parametrize("sources", SAME)
def test_spellings_of_one_formula_are_one_tree(sources: list[str]) -> None:
    assert len({compact(parse(source)) for source in sources}) == 1


def test_trees_are_equal_wherever_they_were_written() -> None:
    assert parse("a + b") == parse("  a+b")
    assert hash(parse("a + b")) == hash(parse("  a+b"))


def test_names_of_the_exercise_are_one_name() -> None:
    assert compact(parse("tol x", names={"tol"})) == "(* tol x)"
    assert compact(parse("PQ", names={"PQ"})) == "PQ"


def test_an_index_may_be_glued_to_a_name_the_exercise_has() -> None:
    known = {"k_a", "k_b", "k_1"}
    assert (
        compact(parse("q = b*(ka + kb) + k1", names=known))
        == "(q = (+ (* b (+ k_a k_b)) k_1))"
    )
    assert compact(parse("ka^T q", names=known)) == "(* (T k_a) q)"
    assert compact(parse("ka")) == "(* k a)"


def test_every_node_points_at_its_place() -> None:
    source = r"q = \frac{1}{2}(k_a + k_b)' - \|x\|_F"
    for node in walk(parse(source)):
        written = source[node.span.start : node.span.stop]
        assert written
        if isinstance(node, Name):
            assert written.startswith(node.base)
    relation = parse(source)
    assert isinstance(relation, Relation)
    assert [source[term.span.start : term.span.stop] for term in relation.terms] == [
        "q",
        source[4:],
    ]


def test_lines_that_begin_with_a_relation_continue_the_chain() -> None:
    source = "\\begin{align*} Z_p &= relu(H_p) \\\\ &= relu(PH) \\\\[2pt] &= PZ. \\\\ X &= Y \\end{align*}"
    first, second = conjuncts(parse(source))
    assert isinstance(first, Relation)
    assert isinstance(second, Relation)
    assert (len(first.terms), len(second.terms)) == (4, 2)
    assert [source[term.span.start : term.span.stop] for term in first.terms[2:]] == [
        "relu(PH)",
        "PZ",
    ]


def test_statements_joined_by_commas_and_lines_are_one_list_statements_joined_by_commas_and_lines() -> (
    None
):
    assert [compact(node) for node in conjuncts(parse("a = b, c = d\ne = f"))] == [
        "(a = b)",
        "(c = d)",
        "(e = f)",
    ]
    assert [compact(node) for node in conjuncts(parse("a + b"))] == ["(+ a b)"]


def test_a_line_break_inside_a_formula_is_a_space() -> None:
    assert parse("q = \\lambda\n  (k_a + k_b)") == parse("q = lambda (k_a + k_b)")


def test_an_empty_line_ends_a_statement() -> None:
    assert isinstance(parse("a\n\nb"), Logic)


ERRORS = [
    ("", "empty", ""),
    ("$ $", "empty", ""),
    ("q = (k_a + k_b", "never closed", "("),
    ("q = k_a)", "closes nothing", ")"),
    (r"\left(a\right]", "meets", r"("),
    (r"q = \frac{1}", "denominator", r"\frac"),
    (r"\frac", "numerator", r"\frac"),
    ("q = k_a +", "ends after +", "+"),
    ("q =", "ends after =", "="),
    ("a = * b", "came after =", "*"),
    ("x_a_b", "second index", "_"),
    ("x_{a}_{b}", "second index", "_"),
    ("x^{a}^{b}^", "ends after ^", "^"),
    ("x^T^2", "second exponent", "^"),
    ("1 + ... + n", "dots", "..."),
    (r"x_1 + \dots + y_n", "dots", r"\dots"),
    (r"x_1 \dots x_n", "dots", r"\dots"),
    ("2 3", "side by side", "2 3"),
    (r"1\frac{1}{2}", "sum or a product", r"1\frac{1}{2}"),
    (r"\ln n k_1", "two places", r"\ln n k"),
    ("e^T", "transpose", "^T"),
    (r"\cos^{-1} t", "inverse", "{-1}"),
    ("|x", "never closed", "|"),
    ("()", "nothing stands inside", "()"),
    ("softmax()", "no argument", "softmax()"),
    ("softmax(a, b)", "one argument", "softmax(a, b)"),
    ("(x + 1)_2", "carry an index", "_"),
    (r"\|x\|_1", "norms 2 and F", "1"),
    ("(a = b) c", "statement stands", "(a = b)"),
    ("a + (b = c)", "statement stands", "(b = c)"),
    (r"\sum_i^n x_i", "one bound", r"\sum_i^n x_i"),
    (r"\ln_i x_i x", "two places", r"\ln_i x_i x"),
    ("x = 1; for all i != j", "without the statement", ""),
    ("x. y", "full stop", "."),
    (r"x + \lim_{n \to 1} y", "beginning of a side", r"\lim"),
    (r"x = 1 \text{ for } i = 2 \\ = 3", "chain that ended", "="),
    (r"a = 1 (i \neq a) = 2", "ends a statement", "="),
    ("e^x_ab", "two ways", "ab"),
    ("x^a_i", "either", "_"),
    ("k[1] + k[2]", "index or a product", "k["),
    ("k_a[i]", "index or a product", "a["),
    (r"x \in \mathbb{R}_+", "part of the numbers", "_"),
    (
        r"x = \begin{cases} 1 \\ 2 \end{cases}",
        "its condition",
        r"\begin{cases} 1 \\ 2 \end{cases}",
    ),
    (r"x + \dots", "dots", r"\dots"),
    (r"x \in \mathbb{R}^+", "part of the numbers", "+"),
    (
        r"x = \begin{cases} 1 \\ 0 & \text{otherwise} \end{cases}",
        "its condition",
        r"\begin{cases} 1 \\ 0 & \text{otherwise} \end{cases}",
    ),
    (r"x = \lim y", "what tends to what", r"\lim"),
    (r"a = \lim_{x = 1} y", "what tends to what", "x = 1"),
    (r"\sum_{i=1, i=2}^{n} x_i", "two lower bounds", "i=2"),
    ("1_n", "carry an index", "_"),
    ("<a, b", "a list follows", "b"),
    (r"\langle a b\rangle", "two sides", r"\langle"),
    ("sum x", "needs its index", "sum"),
    ("|x (i = j)|", "never closed", "|"),
    ("exp(x (i = j))", "where a factor was expected", "(i = j)"),
    (r"x \in (-\infty, \infty)", "no lower end", r"x \in (-\infty, \infty)"),
    (
        r"x = \begin{cases}\end{cases}",
        "there are no cases",
        r"\begin{cases}\end{cases}",
    ),
    (
        r"x = 1 + \begin{cases} 1 & c = 1 \end{cases}",
        "alone on a side",
        r"\begin{cases} 1 & c = 1 \end{cases}",
    ),
    (r"\max(a < b)", "not expected here", "<"),
    (r"K \top", "not expected here", r"\top"),
    ("^2", "^ came", "^"),
    (r"x \in [0, 1) y", "alone on a side", "[0, 1)"),
    (r"x_1/x_2 = y_1 \quad c = 3/2", "may be a condition", "c"),
    (r"\sqrt[3]{x}", "no argument", r"\sqrt[3]"),
    (
        r"\lim_{n \to 1} x = \lim_{n \to 2} y = 2",
        "limits are read at the beginning",
        r"n \to 1",
    ),
    (r"a \xrightarrow{d} b", "what \\xrightarrow stands for", r"\xrightarrow"),
    (r"\prod_i x_i", "not a command", r"\prod"),
    (r"\frac 1.5 2", "without braces", "1.5"),
    (r"\ln_{max} x", "an index on", "max"),
    ("A = [[1, 2], [3]]", "different lengths", "[[1, 2], [3]]"),
    (
        r"\begin{pmatrix} 1 & 2 \\ 3 \end{pmatrix}",
        "different lengths",
        r"\begin{pmatrix} 1 & 2 \\ 3 \end{pmatrix}",
    ),
    (
        r"\begin{pmatrix} \end{pmatrix} x",
        "the matrix is empty",
        r"\begin{pmatrix} \end{pmatrix}",
    ),
    (r"\partial L = 1", "a differential stands alone", r"\partial L"),
    (r"\frac{\partial^2 L}{2}", "stands alone", r"\partial"),
    (r"\nabla L", "by what is not said", r"\nabla"),
    ("max_^2 x", "an index was expected", "_^"),
    (r"\overset = b", "argument in braces", r"\overset"),
]


@pytest.mark.parametrize(("source", "message", "place"), ERRORS)
def test_mistakes_are_told_and_pointed_at(
    source: str, message: str, place: str
) -> None:
    with pytest.raises(FormulaError) as error:
        parse(source)
    assert message in error.value.message
    assert source[error.value.span.start : error.value.span.stop] == place
    assert error.value.fix


def test_an_error_shows_the_source_the_place_and_what_was_understood() -> None:
    with pytest.raises(FormulaError) as error:
        parse("q = k_a, c = \\frac{1}")
    assert str(error.value).splitlines() == [
        "q = k_a, c = \\frac{1}",
        "             ^^^^^",
        "\\frac needs a denominator after its numerator",
        "fix: write \\frac{a}{b}",
    ]
    assert isinstance(error.value, InputError)


def test_an_error_survives_pickling() -> None:
    error = FormulaError("a", "b c", Span(2, 3), fix="d")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.span, again.fix) == (str(error), error.span, error.fix)


@pytest.mark.parametrize(
    ("source", "span", "shown"),
    [
        ("a\tb", Span(2, 3), ("a b", "  ^")),
        ("e\u0301 x", Span(3, 4), ("e\u0301 x", "  ^")),
        ("a\nbc\nd", Span(3, 4), ("bc", " ^")),
        ("a\x00b", Span(1, 2), ("a\ufffdb", " ^")),
        ("ab", Span(2, 2), ("ab", "  ^")),
        ("", Span(0, 0), ("", "^")),
    ],
)
def test_carets_stand_under_the_place(
    source: str, span: Span, shown: tuple[str, str]
) -> None:
    assert caret(source, span) == shown


def test_long_lines_are_cut_around_the_place() -> None:
    line, marks = caret("x" * 5000 + "y" + "x" * 5000, Span(5000, 5001))
    assert len(line) < WIDEST + 20
    assert line[marks.index("^")] == "y"
    assert line.startswith("... ")
    assert line.endswith(" ...")


def test_a_comma_between_two_arrows_begins_a_new_implication() -> None:
    first, second = conjuncts(
        parse(r"a > 1 \Rightarrow b = c, \qquad a < 1 \Rightarrow b = d")
    )
    assert plain(first) == "a > 1 => b = c"
    assert plain(second) == "a < 1 => b = d"


def test_several_values_may_be_excluded_from_a_sum() -> None:
    assert parse(r"\sum_{i \ne a, b} k_i") == parse(r"\sum_{i \ne a, i \ne b} k_i")


def test_a_box_says_nothing() -> None:
    assert parse(r"\boxed{q = \lambda(k_a + k_b)}") == parse(r"q = \lambda(k_a + k_b)")
    assert parse(r"q = \boxed{\lambda(k_a + k_b)}") == parse(r"q = \lambda(k_a + k_b)")


OWN = r"\newcommand{\bq}{\mathbf{q}} \newcommand\norm[1]{\left\| #1 \right\|} \DeclareMathOperator{\sm}{softmax}"

DOUBLING = [
    r"\def\x" + one + "{" + 50 * (r"\x" + other) + "}"
    for one, other in zip("abcdefgh", "bcdefghi", strict=True)
]


def test_commands_are_put_in() -> None:
    assert parse(r"\bq = \norm{k_a + \bq}_2 + \sm(x)", macros=macros(OWN)) == parse(
        "q = norm_2(k_a + q) + softmax(x)"
    )


def test_a_formula_may_hold_its_own() -> None:
    assert plain(parse(r"\def\R{\mathbb{R}} x \in \R^d")) == "x in ℝ^d"


def test_errors_show_the_source_with_the_commands_put_in() -> None:
    with pytest.raises(FormulaError) as error:
        parse(r"\bq = \norm{k_a} + \lamda", macros=macros(OWN))
    source, span = error.value.source, error.value.span
    assert source[span.start : span.stop] == r"\lamda"
    assert source.startswith(r"\mathbf{q} = ")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (r"\newcommand{\a}{\a} \a", "defined by themselves"),
        (r"\newcommand{\a}{\b} \newcommand{\b}{x \a} \b", "defined by themselves"),
        ("".join(DOUBLING) + r"\xa", "characters"),
        (r"\newcommand{\f}[2]{#1 + #2} \f{x}", "2 arguments"),
        (r"\newcommand{\f}{x", "command"),
    ],
)
def test_what_would_not_end_is_refused(source: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        parse(source)


def test_what_is_no_text_is_refused_by_a_sentence() -> None:
    with pytest.raises(InputError, match="source is 3: expected text"):
        parse(3)  # type: ignore[arg-type]
