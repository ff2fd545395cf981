"""Charts as files, and as notebooks show them."""

from __future__ import annotations

import json

import numpy as np

from headwright.design import copy, design


def test_a_notebook_is_given_a_drawing_that_needs_no_network() -> None:
    chart = design(np.eye(2), copy(0)).picture()
    shown = chart._repr_mimebundle_(None, None)  # type: ignore[attr-defined]
    data = shown[0] if isinstance(shown, tuple) else shown
    assert "<svg" in data["image/svg+xml"]
    assert "http" not in json.dumps(data).replace("http://www.w3.org", "")
