"""Examples of small functions: what each gives for what."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from headwright.formulas import parse
from headwright.formulas import tree as t
from headwright.formulas.shapes import Shape
from headwright.formulas.show import plain
from headwright.grading.answer import comparisons, full_name, named
from headwright.grading.assignment import Assignment
from headwright.grading.autograder.points import awards, read_points
from headwright.grading.decision import decide
from headwright.grading.judging import at, claims, plain_number
from headwright.grading.kinds.matrices.known import Given
from headwright.grading.kinds.matrices.prover import decide as decide_matrices
from headwright.grading.markdown import (
    Written,
    blocks,
    closing,
    compares,
    find_formulas,
    is_table,
    of_lines,
)
from headwright.grading.report.page import prose
from headwright.grading.report.text import said_with
from headwright.grading.scalars import (
    POSITIVE,
    Range,
    Where,
    exp,
    ln,
    number,
    parameter,
)
from headwright.grading.scalars.limits import eventually
from headwright.grading.scalars.proving import prove
from headwright.grading.scalars.text import written
from headwright.grading.sentences import sentences
from headwright.grading.sheets.files import student_of
from headwright.grading.text import read
from headwright.grading.tidying import tidy
from headwright.grading.verdict import (
    AskedPart,
    Formula,
    Verdict,
    overall,
    to_json,
    worst,
)
from headwright.grading.wording import is_neutral

N, EPS = parameter("n", Range(2)), parameter("epsilon", Range(0, 1, True, True))
MINUS_HALF = t.Negative(t.Quotient(t.Number(Fraction(1)), t.Number(Fraction(2))))


@pytest.mark.parametrize(
    ("function", "given", "result"),
    [
        (
            full_name,
            [t.Name("alpha", t.Listing((t.Name("i"), t.Name("j"))))],
            "alpha_i,j",
        ),
        (named, ["q_1"], t.Name("q", t.Number(Fraction(1)))),
        (t.number_of, [MINUS_HALF], Fraction(-1, 2)),
        (
            read_points,
            ["copying=2, Energy", ["copying", "energy"]],
            {"copying": 2.0, "energy": 1.0},
        ),
        (plain_number, [Fraction(3)], 3),
        (plain_number, [Fraction(1, 10)], "1/10"),
        (
            at,
            [{"n": Fraction(3), "epsilon": Fraction(1, 10)}],
            "n = 3 and epsilon = 1/10",
        ),
        (compares, ["n = 2"], True),
        (compares, ["n"], False),
        (compares, [r"\{k_i\}_{i \ne j}"], False),
        (closing, [r"\["], r"\]"),
        (closing, [r"\begin{align}"], r"\end{align}"),
        (closing, ["$$$"], None),
        (is_table, ["| a | b |\n|---|---|\n| 1 | 2 |"], True),
        (is_table, ["a | b"], False),
        (
            of_lines,
            [[(3, ""), (4, "a"), (6, "b")], "markdown", ""],
            Written("a\n\nb", 4, "markdown", ""),
        ),
        (prose, ["a < b"], "<p>a &lt; b</p>\n"),
        (said_with, ["it is too short", {"n": 3}], "with n = 3: it is too short"),
        (
            said_with,
            ["with n = 3 it is too short", {"n": 3}],
            "with n = 3 it is too short",
        ),
        (written, [2 * ln((N - 2) / EPS)], "2 ln((n - 2)/epsilon)"),
        (written, [N / (2 * N + EPS)], "n/(epsilon + 2 n)"),
        (student_of, ["ada/answers.md"], "ada"),
        (student_of, ["ben.md"], "ben"),
        (is_neutral, [["take", "a", "large"]], True),
        (is_neutral, [["by", "symmetry"]], False),
        (tidy, [r"\beta \in \mathbb{R}^+"], r"\beta > 0"),
        (tidy, [r"\Delta s = 1. \tag{3}"], r"\Delta_{s} = 1"),
        (worst, [["proved", "refuted", "undecided"]], "refuted"),
    ],
)
def test_a_function_gives_this_for_that(
    function: Callable[..., Any], given: list[Any], result: object
) -> None:
    assert function(*given) == result


def _relation(source: str) -> t.Relation:
    node = parse(source)
    assert isinstance(node, t.Relation)
    return node


def test_comparisons_and_claims() -> None:
    assert [plain(link) for link in comparisons(_relation("a, b = c <= d"))] == [
        "a = c",
        "b = c",
        "c <= d",
    ]
    assert [
        plain(claim.node) for claim in claims(parse("a = b <= c"), "statement")
    ] == ["a = b", "b <= c"]


def test_awards() -> None:
    part, claim = (
        AskedPart("q", "proved", 1, "q = k_a", ""),
        Formula(2, "1 = 2", "false", "claim", True),
    )
    verdict = Verdict("proved", "", (part,), (claim,))
    assert [
        str(award)
        for award in awards([verdict], "copying", Assignment(points={"copying": 4}))
    ] == [
        "object: 3 of 3 points",
        "formulas: 0 of 1 points (1 of 1 is false)",
    ]


def test_decide() -> None:
    where = Where({"n": Range(2, integer=True)})
    n = where.name("n")
    assert decide(n * n, ">=", 2 * n, where).word == "proved"
    found = decide(n, "<=", number(3), where)
    assert (found.word, found.values) == ("refuted", {"n": Fraction(4)})


def test_find_formulas() -> None:
    found, open_ended = find_formulas(
        r"Take $q = k_a$, or \(q = k_b\); `$x$` is code, \$5 is money; $n"
    )
    assert ([piece.text for piece in found], [piece.text for piece in open_ended]) == (
        ["q = k_a", "q = k_b"],
        ["$"],
    )


def test_blocks() -> None:
    assert [(token.type, token.map) for token in blocks("# a\n\n- $$x\n  + y$$\n")] == [
        ("heading_open", [0, 1]),
        ("inline", [0, 1]),
        ("inline", [2, 4]),
    ]


def test_eventually() -> None:
    n, eps, x = parameter("n"), parameter("epsilon"), parameter("lambda")
    where = Where(
        {
            "n": Range(2, integer=True),
            "epsilon": Range(0, 1, True, True),
            "lambda": POSITIVE,
        }
    )
    found = eventually(
        exp(x) / (2 * exp(x) + n - 2), ">=", 1 / (2 + eps), where, ("lambda",)
    )
    assert found is not None
    assert (
        repr((found.threshold["lambda"], found.condition))
        == "(<ln((n - 2)/epsilon)>, (<n - 2>, '>', <0>))"
    )


def test_prove() -> None:
    n, where = parameter("n"), Where({"n": Range(2, integer=True)})
    proof = prove(1 / n, "<=", 1 / (n - 1), where)
    assert proof is not None
    assert proof.reason == "cleared of denominators it says 1 >= 0"
    assert prove(n, ">", 2, where) is None


def test_sentences() -> None:
    assert [
        one.text
        for one in sentences(
            Written("Take $q = k_a$. Then\n\n$$c = v_a$$\n\nwhere all is well.")
        )
    ] == [
        "take $q = k_a$",
        "then $c = v_a$ where all is well",
    ]


def test_decide_matrices() -> None:
    given = Given(
        {"P": Shape("T", "T"), "X": Shape("T", "T")},
        facts={"P": frozenset({"permutation"})},
        sizes={"T": (2, 3)},
    )
    moved = _relation(
        r"\operatorname{softmax}(P X P^\top) = P \operatorname{softmax}(X) P^\top"
    )
    assert decide_matrices(moved, given).word == "proved"
    found = decide_matrices(_relation(r"P X = X P"), given)
    assert found.word == "refuted" and found.example is not None
    assert [[int(entry) for entry in row] for row in found.example.matrices["P"]] == [
        [0, 1],
        [1, 0],
    ]


def test_read() -> None:
    found = read(Written(r"If $g > 1$ then $c \approx v_a$. It is not $c = 0$."))
    assert [
        (one.role, one.kind, one.text, len(one.under)) for one in found.statements
    ] == [
        ("condition", "neutral", "g > 1", 0),
        ("claim", "neutral", "c \\approx v_a", 1),
        ("claim", "turned", "c = 0", 0),
    ]


def test_overall() -> None:
    part = AskedPart("q", "proved", 1, "q = k_a", "")
    assert (
        overall([part, AskedPart("c", "missing", 0, "", "", optional=True)]) == "proved"
    )
    assert overall([part, AskedPart("c", "missing", 0, "", "")]) == "undecided"


def test_to_json() -> None:
    asked = AskedPart("q", "refuted", 3, "q = k_a", "", {"n": 10})
    expected = {
        "part": "q",
        "verdict": "refuted",
        "line": 3,
        "latex": "q = k_a",
        "reason": "",
    }
    assert to_json(Verdict("refuted", "too small", (asked,)))["asked"] == [
        expected | {"counterexample": {"n": 10}}
    ]
