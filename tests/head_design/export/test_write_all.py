"""export: every format that can be written is, and what is left out is said."""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.head_design import HeadsResult, Rule, Rules
from headwright.head_design.export import export, write_all
from tests.head_design.export.making import random_layer, random_tokens


def test_writes_every_format(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    written = export(
        random_layer(0), tmp_path / "new" / "folder", tokens=random_tokens(0)
    )
    names = [path.name for path in written]
    assert names == [
        "weights.safetensors",
        "weights.json",
        "torch.safetensors",
        "model.onnx",
        "huggingface",
        "README.md",
    ]
    assert all(path.exists() for path in written)
    assert "Left out" not in written[-1].read_text()


def test_takes_several_sequences(tmp_path: Path) -> None:
    tokens = [random_tokens(0), random_tokens(1, T=2)]
    assert (
        export(random_layer(0), tmp_path, tokens=tokens, formats=["huggingface"])[
            0
        ].name
        == "huggingface"
    )


def test_says_what_is_left_out_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    written = export(random_layer(0), tmp_path)
    assert {"model.onnx", "huggingface"}.isdisjoint(path.name for path in written)
    words = written[-1].read_text()
    assert (
        "- onnx: the export needs onnx, which is not installed: pip install '.[export]' in a clone of Headwright"
        in words
    )
    assert "- huggingface: a Hugging Face model has a table of its tokens" in words


def test_a_format_that_was_asked_for_and_cannot_be_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected tokens="):
        export(random_layer(0), tmp_path, formats=["huggingface"])


@pytest.mark.parametrize("formats", [["gguf"], []])
def test_refuses_formats_it_does_not_know(tmp_path: Path, formats: list[str]) -> None:
    with pytest.raises(
        InputError, match="expected some of arrays, torch, onnx, huggingface"
    ):
        export(random_layer(0), tmp_path, formats=formats)


def test_refuses_what_is_no_layer(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a str cannot be exported: expected a layer"):
        export("route", tmp_path)  # type: ignore[arg-type]


def test_refuses_a_build_that_found_nothing(tmp_path: Path) -> None:
    rules = Rules((np.eye(2),), (Rule(token=0, attend={1: Fraction(1, 2)}),))
    with pytest.raises(InputError, match="the verdict is undecided, expected designed"):
        export(HeadsResult(rules, "undecided", "nothing was found"), tmp_path)


def test_refuses_a_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="expected a folder"):
        export(random_layer(0), tmp_path / "file")


def test_the_code_in_the_readme_runs(tmp_path: Path) -> None:
    for module in ("onnxruntime", "onnx", "transformers"):
        pytest.importorskip(module)
    tokens = random_tokens(0)
    readme = export(random_layer(0), tmp_path, tokens=tokens)[-1].read_text()
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert len(blocks) == 4
    scope: dict[str, Any] = {"tokens": tokens[None].astype(np.float32)}
    with chdir(tmp_path), warnings.catch_warnings(action="ignore"):
        for block in blocks:
            exec(block, scope)
    assert scope["output"].shape == (6, 3)


def test_every_format_has_a_writer() -> None:
    assert tuple(write_all._WRITERS) == write_all.FORMATS
