"""What README and overview say of Python holds: expressions run, and a type checker knows what they give."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headwright as hw
from headwright.files import read_array
from headwright.text_bounds.every_text import every_length

ROOT = Path(__file__).parents[1]
EXPRESSION = re.compile(r"^\|[^|]*\|[^|`]*`([^`|]+)`", re.MULTILINE)
GIVEN = f"""
import numpy as np
from headwright import *
from headwright import head_design, positions
keys, queries, values = np.eye(4), np.eye(4)[:1], np.eye(4)
uncertain, targets, matrix = Uncertainty(), (0, 1), np.arange(12.0).reshape(4, 3)
rules = head_design.read_rules({str(ROOT / "examples/heads/previous.toml")!r})
text, model = "{{}}", load_model("builtin:induction")
scheme, length, precision = Sinusoidal(8), 16, Precision()
q = k = np.random.default_rng(0).normal(size=(1, 8, 4))
X, module = np.random.default_rng(0).normal(size=(3, 4)), random_layer(4)
"""


def _expressions() -> list[str]:
    table = (
        (ROOT / "docs/reference/overview.md")
        .read_text()
        .partition("## What is here")[2]
        .partition("\n## ")[0]
    )
    return [found for found in EXPRESSION.findall(table) if "(" in found]


def test_the_table_of_the_overview_runs_in_python() -> None:
    given: dict[str, object] = {}
    exec(GIVEN, given)
    expressions = _expressions()
    assert len(expressions) >= 10
    for expression in expressions:
        assert eval(expression, dict(given)) is not None, expression


def test_the_table_of_the_overview_is_known_to_a_type_checker(tmp_path: Path) -> None:
    typed = tmp_path / "table.py"
    typed.write_text(
        GIVEN
        + "\n".join(
            f"made_{number} = {text}" for number, text in enumerate(_expressions())
        )
        + "\n"
    )
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file",
            str(ROOT / "pyproject.toml"),
            str(typed),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert ran.returncode == 0, ran.stdout


def test_what_the_readme_does_in_python_is_known_to_a_type_checker(
    tmp_path: Path,
) -> None:
    session = (
        (ROOT / "README.md")
        .read_text()
        .partition("**In Python**")[2]
        .partition("## ")[0]
    )
    lines = re.findall(r"^>>> (.*)$", session, re.MULTILINE)
    assert any("hw.verify(found.certificate)" in line for line in lines)
    typed = tmp_path / "session.py"
    typed.write_text("\n".join(lines) + "\n")
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file",
            str(ROOT / "pyproject.toml"),
            str(typed),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert ran.returncode == 0, ran.stdout


COMMANDS = (
    "audit",
    "check",
    "conform",
    "design",
    "every_text",
    "heads",
    "ranges",
    "simulate",
    "truncate",
    "verify",
)


def test_the_commands_are_plain_functions_whatever_was_imported_before() -> None:
    code = (
        "import types, headwright.grading.verdict, headwright.query_design.targets, headwright.auditing.auditor, headwright as hw\n"  # noqa: E501
        f"print([name for name in {COMMANDS} if not isinstance(getattr(hw, name), types.FunctionType)])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_function_says_by_its_own_name_what_is_missing(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) missing"):
        getattr(hw, name)()


def test_lists_are_taken_for_arrays() -> None:
    given = hw.attend([[1, 0], [0, 1]], [1, 0]).pattern
    assert np.array_equal(given, hw.attend(np.eye(2), np.array([1.0, 0.0])).pattern)


def test_ragged_lists_are_refused_in_a_sentence() -> None:
    with pytest.raises(hw.InputError, match="a list that is no array"):
        hw.attend([[1, 0], [0]], [1, 0])


def test_a_number_for_a_targets_is_refused_with_the_remedy() -> None:
    with pytest.raises(hw.InputError, match=r"expected one such as copy\(3\)"):
        hw.design(np.eye(4), 3)  # type: ignore[arg-type]


def test_attention_keeps_gradients() -> None:
    torch = pytest.importorskip("torch")
    keys = torch.nn.Parameter(torch.eye(3, dtype=torch.float64))
    assert hw.attend(keys, torch.ones(3, dtype=torch.float64)).output.requires_grad


def test_a_module_that_returns_a_tuple_is_asked_for_its_first_part() -> None:
    layer = hw.random_layer(4)
    tokens = np.random.default_rng(0).normal(size=(3, 4))
    whole = hw.equivariance_defect(layer, tokens)
    assert (
        hw.equivariance_defect(lambda X: (layer(X), None), tokens).absolute
        == whole.absolute
    )


def test_a_module_that_wants_a_batch_is_told_of() -> None:
    def module(X: np.ndarray) -> np.ndarray:
        _batch, _T, _D = X.shape
        return X

    with pytest.raises(
        hw.InputError, match=r"if it expects a batch, give it X\[None\]"
    ):
        hw.equivariance_defect(module, np.eye(3))


class _Frame:
    """A data frame, as far as NumPy can tell: neither list nor array, but it holds one."""

    def __init__(self, rows: object) -> None:
        self.rows = np.array(rows, dtype=float)

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.rows


def _forms() -> list[object]:
    import ml_dtypes
    import torch

    eye = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    parameter, coarse = (
        torch.nn.Parameter(torch.eye(3)),
        torch.eye(3, dtype=torch.bfloat16),
    )
    return [
        eye,
        tuple(map(tuple, eye)),
        _Frame(eye),
        np.eye(3, dtype=int),
        np.eye(3).astype(ml_dtypes.bfloat16),
        parameter,
        coarse,
    ]


MODEL = hw.load_model("builtin:induction")
UNCERTAINTY = hw.Uncertainty({0: hw.Noise(scale=hw.uncertainty.Normal(1.0, 0.1))})
TAKERS: dict[str, Callable[[Any], Any]] = {
    "attend": lambda given: hw.attend(given, given).pattern,
    "design": lambda given: hw.design(given, hw.copy(0)).word,
    "simulate": lambda given: (
        hw.simulate(given, given, UNCERTAINTY, [0], samples=9).near_average
    ),
    "targets_met": lambda given: (
        hw.simulation.targets_met(
            given, given, UNCERTAINTY, {0: Fraction(1, 9)}, samples=9
        ).probability
    ),
    "exact": lambda given: (
        hw.simulation.exact(given, given, UNCERTAINTY, [0]).near_average
    ),
    "sample_weights": lambda given: next(
        hw.simulation.sample_weights(given, given, UNCERTAINTY, [0], 9)
    ),
    "why_not_exact": lambda given: hw.simulation.why_not_exact(
        given, given, UNCERTAINTY
    ),
    "truncate": lambda given: hw.truncate(given, rank=1).rank,
    "Learned": lambda given: hw.Learned(given).table,
    "equivariance_defect": lambda given: (
        hw.equivariance_defect(lambda X: X, given).absolute
    ),
    "permute": lambda given: hw.permute(given, [2, 0, 1]),
    "pattern_bars": lambda given: hw.pictures.pattern_bars(given),
    "Covariance": lambda given: hw.uncertainty.Covariance(given).matrix,
    "scenarios": lambda given: hw.Uncertainty(scenarios=(given,)).scenarios[0],
}


@pytest.mark.parametrize("taker", TAKERS)
def test_what_holds_numbers_is_taken_for_an_array(taker: str) -> None:
    for given in _forms():
        assert TAKERS[taker](given) is not None


@pytest.mark.parametrize(
    "taker", [name for name in TAKERS if name not in ("pattern_bars", "permute")]
)
@pytest.mark.parametrize("given", [[["a", "b"]], np.eye(3) * 1j, None, 3], ids=str)
def test_what_holds_none_is_refused_in_a_sentence(taker: str, given: object) -> None:
    with pytest.raises(hw.InputError):
        TAKERS[taker](given)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: hw.copy("3"),  # type: ignore[arg-type]
        lambda: hw.average(3),  # type: ignore[arg-type]
        lambda: hw.at_least([0.5]),  # type: ignore[arg-type]
        lambda: hw.design(np.eye(3), hw.copy(0), uncertainty="w.toml"),  # type: ignore[arg-type]
        lambda: hw.simulate(np.eye(3), np.ones(3), hw.Uncertainty(), 0),  # type: ignore[arg-type]
        lambda: hw.simulate(np.eye(3), np.ones(2), hw.Uncertainty(), [0]),
        lambda: hw.audit("builtin:induction"),  # type: ignore[arg-type]
        lambda: hw.every_text("builtin:induction", 4),  # type: ignore[arg-type]
        lambda: every_length("builtin:induction", 4),  # type: ignore[arg-type]
        lambda: hw.permute(np.eye(2), [2, 0]),
        lambda: hw.causal([1.0, 2.0]),
        lambda: hw.check("averaging-two", 3),  # type: ignore[arg-type]
        lambda: hw.check(["averaging-two"], "q = k_a"),  # type: ignore[arg-type]
        lambda: hw.closest_pair(64, 1000),  # type: ignore[arg-type]
        lambda: hw.positions.report("sinusoidal", 1000),  # type: ignore[arg-type]
        lambda: hw.head_design.build("rules.toml"),  # type: ignore[arg-type]
        lambda: hw.read_uncertainty(3),  # type: ignore[arg-type]
        lambda: hw.load_model(3),
        lambda: hw.audit(MODEL, text=3),  # type: ignore[arg-type]
        lambda: hw.audit(MODEL, tokens="many"),  # type: ignore[arg-type]
        lambda: hw.audit(MODEL, tokens=50, layers=3),  # type: ignore[arg-type]
        lambda: hw.every_text(MODEL, "long"),  # type: ignore[arg-type]
        lambda: hw.pictures.render(None, ".svg"),
        lambda: hw.pictures.render(hw.pictures.pattern_bars(np.eye(2)), ".gif"),
        lambda: hw.verify(3),  # type: ignore[arg-type]
        lambda: hw.verify("{}", "keys.npy"),  # type: ignore[arg-type]
        lambda: hw.heads(3),  # type: ignore[call-overload]
        lambda: hw.head_design.read_rules(3),  # type: ignore[arg-type]
        lambda: hw.design(np.eye(3), hw.copy(0), heads="2"),  # type: ignore[arg-type]
        lambda: hw.simulate(np.eye(3), np.ones(3), hw.Uncertainty(), [0], samples="9"),  # type: ignore[arg-type]
        lambda: hw.random_layer("4"),  # type: ignore[arg-type]
        lambda: hw.random_layer(4, seed="a"),  # type: ignore[arg-type]
        lambda: hw.audit(None),  # type: ignore[arg-type]
        lambda: hw.audit(MODEL, layers=[None]),  # type: ignore[list-item]
        lambda: hw.audit(MODEL, tokens=50, keep="folder"),  # type: ignore[arg-type]
        lambda: hw.every_text(3, 4),  # type: ignore[arg-type]
        lambda: hw.every_text(MODEL, 4, sweeper=3),  # type: ignore[arg-type]
        lambda: hw.row_statistics(np.ones((1, 3, 2)), np.ones((1, 3, 2)), offsets=3),  # type: ignore[arg-type]
        lambda: hw.attend(np.eye(3), np.eye(3), scale="x"),  # type: ignore[arg-type]
        lambda: hw.attend(np.eye(3), np.eye(3), mask=3),
        lambda: hw.equivariance_defect(lambda X: X, np.eye(3), tries=None),  # type: ignore[arg-type]
        lambda: hw.Uncertainty(scenarios=3),  # type: ignore[arg-type]
        lambda: hw.Sinusoidal(8, base="x"),  # type: ignore[arg-type]
        lambda: hw.uncertainty.parse_uncertainty(3),  # type: ignore[arg-type]
        lambda: hw.positions.report(hw.Sinusoidal(8), 32, "half"),  # type: ignore[arg-type]
        lambda: hw.head_design.parse_rules(None),  # type: ignore[arg-type]
        lambda: hw.pictures.spectrum(None),  # type: ignore[arg-type]
        lambda: hw.pictures.told(""),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(
    asked: Callable[[], object],
) -> None:
    with pytest.raises(hw.InputError, match=r"expected|differ"):
        asked()


def test_a_ragged_file_is_refused_by_the_row_that_differs(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text("[[1, 2], [3, 4], [5]]")
    with pytest.raises(hw.InputError, match="row 0 has 2 numbers, and row 2 has 1"):
        read_array(tmp_path / "keys.json", what="keys")


def test_nothing_is_logged_unless_asked_for() -> None:
    assert [
        type(handler).__name__ for handler in logging.getLogger("headwright").handlers
    ] == ["NullHandler"]


def test_a_program_that_asks_for_it_is_told_what_is_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "headwright"):
        hw.design(np.eye(2), hw.copy(0))
    assert "designed, for 2 keys" in caplog.messages


def test_indices_may_be_of_numpy() -> None:
    index: Any = np.int64(1)
    both: Any = np.array([0, 1])
    assert (
        hw.design(np.eye(3), hw.copy(index)).certificate
        == hw.design(np.eye(3), hw.copy(1)).certificate
    )
    watched = hw.simulate(np.eye(3), np.ones(3), UNCERTAINTY, both, samples=9)
    assert [target.key for target in watched.targets] == [0, 1]


def test_one_query_is_one_head_wherever_queries_are_taken() -> None:
    query = np.array([1.0, 2.0, 0.0])
    for taker in (
        hw.simulation.why_not_exact,
        lambda K, q, W: hw.simulation.exact(K, q, W, [0]),
    ):
        assert taker(np.eye(3), query, UNCERTAINTY) == taker(
            np.eye(3), query[None], UNCERTAINTY
        )
