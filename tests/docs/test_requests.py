"""The drawings of five requests in architecture.md: a run of each enters the functions that are drawn, in order."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import numpy as np
import pytest

import headwright as hw

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwright"
PAGE = (ROOT / "docs" / "contributing" / "architecture.md").read_text()
KEYS = np.array([[1.2, 0.3], [0.2, 1.1], [-0.9, 0.6], [-0.5, -1.0]])


def _drawn(request: str) -> list[tuple[int, str]]:
    """The functions of a drawing, each with how far its line is indented."""
    drawing = PAGE.partition(f"**{request}**")[2]
    block = drawing.partition("```text\n")[2].partition("```")[0]
    return [
        (len(indent), name)
        for indent, name in re.findall(r"^( *)(\S+\.\S+)", block, re.MULTILINE)
    ]


@cache
def _name(code: CodeType) -> str | None:
    """The name of a function as drawings have it; None if it is not of headwright."""
    path = Path(code.co_filename)
    if not path.is_relative_to(SOURCE):
        return None
    module = path.relative_to(SOURCE).with_suffix("").as_posix()
    return f"{module}.{code.co_qualname}"


class _Trace:
    """The functions of headwright in the order in which they are entered first, and from which others."""

    def __init__(self) -> None:
        self.entered: list[str] = []
        self.callers: dict[str, set[str]] = {}
        self._stack: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        name = _name(frame.f_code)
        if name is None or event not in ("call", "return"):
            return
        if event == "return":
            if self._stack:
                self._stack.pop()
            return
        if name not in self.callers:
            self.entered.append(name)
        self.callers.setdefault(name, set()).update(self._stack)
        self._stack.append(name)


def _traced(run: Callable[[], object]) -> _Trace:
    run()  # modules are loaded, so that their classes are not traced
    trace = _Trace()
    sys.setprofile(trace)
    try:
        run()
    finally:
        sys.setprofile(None)
    return trace


def _design() -> object:
    return hw.design(KEYS, hw.copy(0))


def _verify() -> object:
    return hw.verify(CERTIFICATE)


CERTIFICATE = hw.design(KEYS, hw.copy(0)).certificate or ""


def _check() -> object:
    return hw.check("averaging-two", r"q = \frac{1}{\sqrt 2}(k_a + k_b)")


def _audit() -> object:
    return hw.audit(hw.load_model("builtin:induction"), tokens=300)


def _watch() -> object:
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    config = transformers.LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    with hw.watch(model) as seen, torch.no_grad():
        model(torch.arange(10)[None])
    return seen.layer(0).entropy


REQUESTS = {
    "Design": _design,
    "Verify": _verify,
    "Check": _check,
    "Audit": _audit,
    "Watch": _watch,
}


@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_request_passes_the_functions_that_are_drawn(request_name: str) -> None:
    drawn = _drawn(request_name)
    assert len(drawn) > 5
    trace = _traced(REQUESTS[request_name])
    names = [name for _, name in drawn]
    assert [name for name in names if name not in trace.callers] == []
    order = [name for name in trace.entered if name in names]
    assert order == names
    for number, (indent, name) in enumerate(drawn):
        before = [other for depth, other in drawn[:number] if depth < indent]
        if indent:
            assert before[-1] in trace.callers[name], (name, before[-1])
