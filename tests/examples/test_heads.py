"""Each rules file under examples/heads becomes weights that the checker accepts and that torch runs as they should."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from headwright.certificates.exact.verify import verify
from headwright.head_design import HeadsResult, build, read_rules
from headwright.head_design.export import (
    load_torch,
    run_torch,
    to_torch,
    torch_shape,
    write_torch,
)
from headwright.head_design.export.numbers import float_error

EXAMPLES = Path(__file__).parents[2] / "examples" / "heads"
NAMES = ["first", "induction", "lookup", "majority", "previous", "route"]


@cache
def built(name: str, dtype: str) -> HeadsResult:
    return build(read_rules(EXAMPLES / f"{name}.toml"), dtype=dtype)


def test_every_file_is_tested() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.toml")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_certificate_verifies(name: str) -> None:
    found = built(name, "float32")
    assert found.word == "designed", found.words
    assert found.certificate is not None
    assert verify(found.certificate).word == "verified"


@pytest.mark.parametrize("name", NAMES)
def test_smallest_norm_is_proven(name: str) -> None:
    """No matrix of scores with the claimed patterns is smaller, by more than rounding to float64 costs."""
    found = built(name, "float64")
    assert 0 < found.lower_bound <= found.frobenius <= found.lower_bound * (1 + 1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch_keeps_every_rule(name: str, dtype: str, tmp_path: Path) -> None:
    found = built(name, dtype)
    assert found.layer is not None
    module, shape = load_torch(write_torch(found.layer, tmp_path))
    ran = [run_torch(module, shape, X) for X in found.rules.sequences]
    for rule in found.rules.rules:
        out, pattern = ran[rule.sequence]
        allowed = float_error(found.layer, found.rules.sequences[rule.sequence], dtype)
        for key, least in (rule.attend or {}).items():
            assert pattern[rule.head, rule.token, key] >= float(least) - allowed.pattern
        if rule.output is not None:
            missed = out[rule.token] - np.array([float(x) for x in rule.output])
            # the bound is on each entry; the tolerance is on the distance
            assert np.linalg.norm(missed) <= float(
                rule.tolerance
            ) + allowed.output * np.sqrt(len(missed))


@pytest.mark.parametrize("name", NAMES)
def test_error_of_float32_is_far_below_the_tolerance(name: str) -> None:
    found = built(name, "float32")
    assert found.layer is not None
    assert (
        max(
            float_error(found.layer, X, "float32").output for X in found.rules.sequences
        )
        < 1e-3
    )


@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_weights_keep_every_rule_in_float32(name: str) -> None:
    found = built(name, "bfloat16")
    assert found.layer is not None, found.words
    assert found.certificate is not None
    assert verify(found.certificate).word == "verified"
    module = to_torch(found.layer)  # runs in float32
    for rule in found.rules.rules:
        X = found.rules.sequences[rule.sequence]
        out, _ = run_torch(module, torch_shape(found.layer), X)
        if rule.output is not None:
            missed = out[rule.token] - np.array([float(x) for x in rule.output])
            allowed = float_error(found.layer, X, "float32").output * np.sqrt(
                len(missed)
            )
            assert np.linalg.norm(missed) <= float(rule.tolerance) + allowed
