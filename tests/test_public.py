"""What the README says of Python holds: its expressions run, and a type checker knows what they give."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import headwright as hw

ROOT = Path(__file__).parents[1]
EXPRESSION = re.compile(r"^\|[^|]*\|[^|`]*`([^`|]+)`", re.MULTILINE)
GIVEN = f"""
import numpy as np
from headwright import *
from headwright import weights, positions
keys, queries, values = np.eye(4), np.eye(4)[:1], np.eye(4)
world, targets, matrix = World(), (0, 1), np.arange(12.0).reshape(4, 3)
rules = weights.read_rules({str(ROOT / "examples/heads/previous.toml")!r})
text, model = "{{}}", load_model("builtin:induction")
scheme, length, precision = Sinusoidal(8), 16, Precision()
q = k = np.random.default_rng(0).normal(size=(1, 8, 4))
X, module = np.random.default_rng(0).normal(size=(3, 4)), random_layer(4)
"""


def _expressions() -> list[str]:
    table = (ROOT / "README.md").read_text().partition("## What is here")[2].partition("\n## ")[0]
    return [found for found in EXPRESSION.findall(table) if "(" in found]


def test_the_table_of_the_readme_runs_in_python() -> None:
    given: dict[str, object] = {}
    exec(GIVEN, given)
    expressions = _expressions()
    assert len(expressions) >= 10
    for expression in expressions:
        assert eval(expression, dict(given)) is not None, expression


def test_the_table_of_the_readme_is_known_to_a_type_checker(tmp_path: Path) -> None:
    typed = tmp_path / "table.py"
    typed.write_text(GIVEN + "\n".join(f"made_{number} = {text}" for number, text in enumerate(_expressions())) + "\n")
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), str(typed)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert ran.returncode == 0, ran.stdout


def test_a_verb_is_its_package_whichever_way_it_was_imported() -> None:
    import headwright.design.wish

    assert hw.design is headwright.design
    assert getattr(hw.design, "copy") is hw.copy  # noqa: B009  (for a type checker `design` is the function)


@pytest.mark.parametrize("name", ["design", "check", "audit"])
def test_a_verb_can_be_called(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) missing"):
        getattr(hw, name)()


def test_lists_are_taken_for_arrays() -> None:
    given = hw.attend([[1, 0], [0, 1]], [1, 0]).pattern
    assert np.array_equal(given, hw.attend(np.eye(2), np.array([1.0, 0.0])).pattern)


def test_ragged_lists_are_refused_in_a_sentence() -> None:
    with pytest.raises(hw.InputError, match="a list that is no array"):
        hw.attend([[1, 0], [0]], [1, 0])


def test_a_number_for_a_wish_is_refused_with_the_remedy() -> None:
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
    assert hw.equivariance_defect(lambda X: (layer(X), None), tokens).absolute == whole.absolute


def test_a_module_that_wants_a_batch_is_told_of() -> None:
    def module(X: np.ndarray) -> np.ndarray:
        _batch, _T, _D = X.shape
        return X

    with pytest.raises(hw.InputError, match=r"if it expects a batch, give it X\[None\]"):
        hw.equivariance_defect(module, np.eye(3))
