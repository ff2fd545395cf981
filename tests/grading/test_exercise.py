from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headwright.errors import InputError
from headwright.grading import check
from headwright.grading.exercise import BUILT_IN, load_exercises, parse_exercise

COPY = r"""
id = "copy-first"
title = "Copy the first value"
statement = "Copy."
answer = ["q"]
goals = ['\alpha_1 \ge 1 - \delta']
[parameters]
n = { integer = true, at_least = 2 }
delta = { above = 0, below = 1 }
[keys]
are = "orthonormal"
named = ["1"]
"""

LISTED = (
    "copying copying-separated averaging-two averaging-two-bounded averaging-gaussian averaging-scaled "
    "averaging-scaled-discrete two-heads two-heads-scaled two-heads-discrete taking-apart self-attention-copy "
    "self-attention-route permutation positions-help positions-unique energy kth-singular-value low-rank "
    "averaging-three averaging-many averaging-all-but-one averaging-varies score-varies temperature-cold "
    "temperature-hot convex-hull weights-distribution causal-mask causal-previous same-word relative-positions "
    "count-attention-flops count-dominant-term count-forward-flops count-gpt-parameters count-"
    "gpt2-xl count-grouped-cache count-kv-cache count-layer-parameters count-linear-attention "
    "count-longer-context count-low-rank-adapters count-optimizer-state count-training-flops "
    "design-impossible design-length design-one-key design-output design-queries design-"
    "replace-key design-too-short gradient-attention-scores gradient-attention-values gradient-"
    "cross-entropy gradient-layer-norm gradient-linear gradient-negative-sampling gradient-"
    "output-query gradient-sigmoid gradient-softmax hand-alibi hand-attention hand-causal hand-"
    "softmax hand-two-heads hand-weights layer-norm-length linear-attention rope-angle "
    "rotation-length scaled-query-weights sinusoid-shift softmax-order softmax-shift zero-key-"
    "weights "
)


def test_every_exercise_is_there() -> None:
    exercises = load_exercises()
    assert set(LISTED.split()) <= set(exercises)
    assert set(exercises) == {path.stem for path in BUILT_IN.glob("*.toml")}


def test_an_exercise_needs_no_code(tmp_path: Path) -> None:
    (tmp_path / "copy-first.toml").write_text(COPY)
    assert (
        check("copy-first", r"q = \ln((n-1)/\delta) k_1", exercises=tmp_path).word
        == "proved"
    )
    assert (
        check("copy-first", r"q = \ln(1/\delta) k_1", exercises=tmp_path).word
        == "refuted"
    )


def test_an_own_exercise_replaces_a_built_in_one_of_the_same_id(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(COPY.replace("copy-first", "averaging-two"))
    assert load_exercises(tmp_path)["averaging-two"].title == "Copy the first value"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("are = ", "were = "), "keys were: there is no such field"),
        (("[keys]", "[kyes]"), "kyes"),
        ((r"\ge 1 - \delta", r"\ge 1 - \dleta"), "dleta"),
        (('answer = ["q"]', 'answer = "q"'), "answer"),
        (
            ("at_least = 2", 'at_least = "two"'),
            "parameters n at_least is 'two': expected a number",
        ),
        (('id = "copy-first"', 'id = "Copy First"'), "id"),
        (('named = ["1"]', "named = []"), "named"),
        (("[keys]", "[keys"), "not valid TOML"),
        (
            ('[keys]\nare = "orthonormal"\nnamed = ["1"]', ""),
            "exactly one of the tables",
        ),
        (
            ("n = { integer = true, at_least = 2 }\n", ""),
            "the parameter n, the number of keys, is missing: add n = ",
        ),
        (
            ("integer = true, at_least = 2", "integer = true"),
            "must be an integer with a lower bound: add n = ",
        ),
        (
            ("integer = true, at_least = 2", "at_least = 2"),
            "must be an integer with a lower bound",
        ),
        (
            ('named = ["1"]', 'named = ["1", "2", "3"]'),
            "n, the number of keys, must be at least 3: the keys include",
        ),
        (
            ("goals = ['\\alpha_1 \\ge 1 - \\delta']\n", ""),
            "goals is missing: say in goals what the answer q must",
        ),
    ],
)
def test_a_bad_file_is_told_where_and_why(change: tuple[str, str], said: str) -> None:
    assert change[0] in COPY
    with pytest.raises(InputError) as caught:
        parse_exercise(COPY.replace(*change))
    assert said in str(caught.value)


COUNT = r"""
id = "count"
title = "Count the weights"
statement = "Count."
answer = ["N"]
goals = ['N = 4 h^2 m^2']
[matrices]
shapes = { N = [1, 1], h = [1, 1], m = [1, 1], X = ["T", "h"] }
sizes = { h = [1, 2], m = [1, 2], T = [1] }
"""
POSITIONS = r"""
id = "apart"
title = "Apart"
statement = "Apart."
about = ['\Phi_t']
[integers]
integers = ["t", "s"]
different = [["t", "s"]]
"""
ROUTE = r"""
id = "route"
title = "Route"
statement = "Route."
blanks = [{ of = ['c_1'] }]
parameters = { beta = { above = 0, large = true } }
[tokens]
directions = ["a", "b"]
tokens = { x_1 = 'u_a', x_2 = 'u_b' }
weights = { Q = 'I', K = 'I', V = 'I' }
"""


@pytest.mark.parametrize(
    ("text", "change", "said"),
    [
        (
            COUNT,
            ("m = [1, 1]", "e = [1, 1]"),
            "matrices.shapes: e always means the number 2.718...; choose another name",
        ),
        (
            COUNT,
            ("m = [1, 1]", "pi = [1, 1]"),
            "pi always means the number 3.141...; choose another name",
        ),
        (
            COUNT,
            ("m = [1, 1]", r"'\mathrm{e}' = [1, 1]"),
            "always means the number 2.718...",
        ),
        (
            COUNT,
            ("m = [1, 1]", "i = [1, 1]"),
            "matrices.shapes: i always means an index",
        ),
        (
            COUNT,
            ("X = ", "I = "),
            "matrices.shapes: I always means the identity matrix",
        ),
        (COUNT, ('["T", "h"]', '["e", "h"]'), "matrices.shapes: e always"),
        (COUNT, ("m = [1, 2]", "e = [1, 2]"), "matrices.sizes: e always"),
        (COUNT, ('answer = ["N"]', 'answer = ["e"]'), "answer: e always"),
        (COPY, ("delta = ", "e = "), "parameters: e always"),
        (COPY, ("delta = ", "i = "), "parameters: i always"),
        (COPY, ("[keys]", "[definitions]\npi = '3'\n[keys]"), "definitions: pi always"),
        (COPY, ('named = ["1"]', 'named = ["1"]\nalso = ["e"]'), "keys.also: e always"),
        (
            COPY,
            ('named = ["1"]', 'named = ["1"]\ndirections = { e = "1" }'),
            "keys.directions: e always",
        ),
        (
            COPY,
            (
                'named = ["1"]',
                'named = ["1"]\nscales = { 1 = { name = "e", one_of = [1, 2] } }',
            ),
            "keys.scales: e",
        ),
        (ROUTE, ("{ beta =", "{ i = { above = 0 }, beta ="), "parameters: i always"),
        (ROUTE, ("x_1 =", "e ="), "tokens.tokens: e always"),
        (ROUTE, ("[tokens]", '[tokens]\nletter = "e"'), "tokens.letter: e always"),
    ],
)
def test_a_name_with_a_fixed_meaning_is_refused(
    text: str, change: tuple[str, str], said: str
) -> None:
    parse_exercise(text)
    assert change[0] in text
    with pytest.raises(InputError) as caught:
        parse_exercise(text.replace(*change))
    assert said in str(caught.value)


@pytest.mark.parametrize("named", ['["i"]', '["e"]'])
def test_the_label_of_a_key_is_no_name(named: str) -> None:
    text = COPY.replace('["1"]', named).replace("alpha_1", f"alpha_{named[2]}")
    assert parse_exercise(text).kind_name == "keys"


@pytest.mark.parametrize(
    ("text", "case", "said"),
    [
        (COPY, r"\delta \to 0", ""),
        (COPY, r"\delta \to \infty", ""),
        (COPY, r"\delta = \frac12", ""),
        (COPY, r"n = 3", ""),
        (COPY, r"\delta \to 1", "is not understood: expected a number"),
        (COPY, r"\delta > \frac12", "is not understood: expected a number"),
        (COPY, r"\delta = n", "is not understood: expected a number"),
        (COPY, r"\delta \approx 0", "is not understood: expected a number"),
        (
            COPY,
            r"\delta \to 0 \text{ and } n = 2",
            "is not understood: expected a number",
        ),
        (COPY, r"1/\delta \to \infty", "is not understood: expected a number"),
        (COPY, r"\tau \to 0", "is about tau, which is not one of the parameters"),
        (COPY, r"\tau = 1", "is about tau, which is not one of the parameters"),
        (COUNT, r"h \to \infty", "[matrices] has no limits"),
    ],
)
def test_the_case_of_a_blank_is_a_number_or_a_limit(
    text: str, case: str, said: str
) -> None:
    blank = rf"blanks = [{{ of = ['\alpha_1'], case = '{case}' }}]"
    text = text.replace("[parameters]", f"{blank}\n[parameters]").replace(
        "[matrices]", f"{blank}\n[matrices]"
    )
    if "h " in case:
        text = text.replace(
            "[matrices]", "parameters = { h = { integer = true } }\n[matrices]"
        )
    if said:
        with pytest.raises(InputError) as caught:
            parse_exercise(text)
        assert said in str(caught.value)
    else:
        assert parse_exercise(text).blanks[0].case == case


@pytest.mark.parametrize(
    ("text", "change", "said"),
    [
        (
            ROUTE,
            ("beta = { above = 0, large = true }", ""),
            "the parameter beta, the length of the directions, is missing",
        ),
        (
            COUNT,
            ("[matrices]", '[matrices]\nfacts = { Y = ["positive"] }'),
            "matrices.facts: Y has no shape",
        ),
        (
            COUNT,
            ("[matrices]", "[matrices]\nfacts = { 'X,u_*' = ['columns'] }"),
            "matrices.facts: u_* has no shape",
        ),
        (
            COUNT,
            ('["T", "h"]', "['a \\le b', 'h']"),
            "the size 'a \\\\le b' of X: expected a letter or a number",
        ),
        (COUNT, ('["T", "h"]', '["T", 0]'), "X has the size 0: expected at least 1"),
        (COUNT, ('["T", "h"]', '["X", "h"]'), "X, a size of X, is a matrix too"),
        (
            COUNT,
            ("T = [1]", "T = [0]"),
            "matrices.sizes: T: expected some sizes to try",
        ),
        (COUNT, ("T = [1]", "T = []"), "matrices.sizes: T: expected some sizes to try"),
        (
            COUNT,
            ("[matrices]", "[matrices]\nfacts = { 'X,h' = ['orthogonal ranges'] }"),
            "the same number of rows",
        ),
        (COUNT, ('answer = ["N"]', 'answer = [""]'), "answer: '' is not a name"),
        (
            COUNT,
            ('answer = ["N"]', 'answer = ["N + 1"]'),
            "answer: 'N + 1' is not a name",
        ),
        (
            COPY,
            ('named = ["1"]', 'named = ["1"]\ndirections = { u = "2" }'),
            "keys.directions: there is no key '2'",
        ),
        (
            COPY,
            (
                'named = ["1"]',
                'named = ["1"]\nscales = { 2 = { name = "g", one_of = [1, 2] } }',
            ),
            "no key '2'",
        ),
        (
            POSITIONS,
            ('integers = ["t", "s"]', 'integers = ["t"]'),
            "integers.different: s is not one of the integers",
        ),
    ],
)
def test_what_a_setting_needs_is_named(
    text: str, change: tuple[str, str], said: str
) -> None:
    assert change[0] in text
    with pytest.raises(InputError) as caught:
        parse_exercise(text.replace(*change))
    assert said in str(caught.value)


def test_a_folder_without_exercises_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no exercises"):
        load_exercises(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        load_exercises(tmp_path / "nowhere")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "huge.toml").write_text("#" * 200_000)
    with pytest.raises(InputError, match="longer than"):
        load_exercises(tmp_path)


def test_an_unknown_exercise_is_named() -> None:
    with pytest.raises(InputError, match="no exercise 'averaging-to'"):
        check("averaging-to", "q = k_a")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"exercise": 3}, "exercise is 3: expected text"),
        ({"exercises": 3}, "exercises is 3: expected text or a path"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_a_sentence(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        check(**{"exercise": "averaging-two", **given})
