"""An audit from end to end on a model made by hand: what is refused, what is chosen, what is explained."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.models.auditor import audit
from headwright.models.documents import text_documents
from headwright.models.explain import explain, parse_head
from headwright.models.loading.model import Circuits, Layer, Tokens
from headwright.models.report.data import data
from headwright.models.report.page import page
from headwright.models.rows.scoring import Scoring
from headwright.trusted.verify import verify
from tests.models.handmade import Handmade

MODEL = Handmade()
TEXT = " ".join(f"word{k % 13}" for k in range(60))


def test_only_what_is_wanted_is_told() -> None:
    found = audit(MODEL, text=TEXT, layers=[1], heads_wanted=[0, 2])
    assert [head.name for head in found.heads] == ["1.0", "1.2"]
    assert found.layers == (1,)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"layers": [2]}, "there is no layer 2: expected 0 to 1"),
        ({"heads_wanted": [-1]}, "there is no head -1: expected 0 to 3"),
        ({"layers": []}, "no layer: expected at least one of 0 to 1"),
        ({"text": "too short"}, "expected at least 16"),
        ({"text": TEXT, "tokens": 99}, "expected one of them"),
        ({"max_length": 1000}, "has 64 positions: expected at most 64"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(how: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        audit(MODEL, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(("epoch", "date"), [("0", "1970-01-01 00:00 UTC"), ("1700000000", "2023-11-14 22:13 UTC")])
def test_the_date_of_a_report_is_that_of_source_date_epoch(
    epoch: str, date: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    found = audit(MODEL, text=TEXT, layers=[1], heads_wanted=[0], every_text=False)
    assert found.date == date
    assert date in page(found)
    assert data(found)["reproduce"]["date"] == date


@pytest.mark.parametrize("epoch", ["yesterday", "1e9", str(10**30)])
def test_another_source_date_epoch_is_refused(epoch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(InputError, match="expected seconds since 1970"):
        audit(MODEL, text=TEXT)


def test_a_model_without_weights_is_audited_without_ranks() -> None:
    class Closed(Handmade):
        def circuits(self, layer: int) -> Circuits:
            raise InputError("its weights are not at hand")

        def run(self, tokens):  # type: ignore[no-untyped-def]
            return MODEL.run(tokens)

    found = audit(Closed(), text=TEXT)
    assert found.not_measured["rank, share"] == "its weights are not at hand"
    assert all(head.share is None and not head.spectra for head in found.heads)


def test_twice_the_same_audit_gives_the_same_numbers() -> None:
    one, two = (audit(MODEL, text=TEXT, seed=5) for _ in range(2))
    assert [head.means for head in one.heads] == [head.means for head in two.heads]
    assert one.examples == two.examples


def test_the_shortest_query_is_verified_and_no_longer_than_the_heads_own() -> None:
    document = text_documents(MODEL, TEXT, "words")[0]
    for row in explain(MODEL, document, 0, 0).rows:
        assert row.best[0].position == row.position - 1
        short = row.shortest
        assert short is not None
        assert short.verdict == "designed"
        assert short.length is not None
        assert short.bound is not None
        assert short.own is not None
        assert short.bound <= short.length <= short.own * (1 + 1e-9)
        assert verify(short.certificate or "").word == "verified"


def test_scores_that_a_design_does_not_know_are_not_asked_about() -> None:
    class Capped(Handmade):
        def run(self, tokens):  # type: ignore[no-untyped-def]
            for layer in super().run(tokens):
                shape = layer.queries.shape
                yield Layer(
                    layer.index, *(layer.queries, layer.keys, layer.values), Scoring.of(shape, shape, softcap=9.0)
                )

    document = text_documents(MODEL, TEXT, "words")[0]
    short = explain(Capped(), document, 0, 0, rows=1).rows[0].shortest
    assert short is not None
    assert short.verdict == "not asked"
    assert "softcap" in short.words


@pytest.mark.parametrize("text", ["1", "1.2.3", "a.b", "-1.0", "", "1.", "\u0661.0"])
def test_a_head_is_layer_dot_head(text: str) -> None:
    with pytest.raises(InputError, match=r"expected LAYER\.HEAD"):
        parse_head(text, MODEL)


def test_a_head_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="layer 7, and handmade has 2"):
        parse_head("7.0", MODEL)
    with pytest.raises(InputError, match="head 4, and handmade has 4"):
        parse_head("0.4", MODEL)


def test_a_model_that_never_rests_has_a_sink_of_nothing() -> None:
    found = audit(MODEL, text=TEXT, layers=[0], heads_wanted=[0])
    sink = found.heads[0].means["sink"]
    assert sink is not None
    assert sink.value < 1e-9
    assert np.isfinite(sink.value)


class Long(Handmade):
    """Heads of 8 dimensions over texts of any length."""

    def run(self, tokens: Tokens) -> Iterator[Layer]:
        q, k = np.random.default_rng(0).normal(size=(2, self.heads, len(tokens), 8)).astype(np.float32)
        for index in range(self.layers):
            yield Layer(index, q, k, k, Scoring.of(q.shape, k.shape))

    def circuits(self, layer: int) -> Circuits:
        raise InputError("its weights are not at hand")


def test_memory_grows_in_proportion_to_the_text() -> None:
    """Stored patterns would take four times as much for each doubling: 8, 34 and 134 MB for one head in float64."""
    peaks = []
    audit(Long(longest=None), tokens=64, max_length=64, every_text=False)  # what is loaded once
    for length in (1024, 2048, 4096):
        tracemalloc.start()
        found = audit(Long(longest=None), tokens=length, max_length=length, every_text=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert found.context == length
        assert f"contexts of up to {length} tokens" in repr(found)
    assert peaks[2] < 2.3 * peaks[1] < 2.3**2 * peaks[0]
    assert peaks[2] < 40e6


def test_token_ids_are_audited() -> None:
    ids = np.random.default_rng(0).integers(1, 40, 60)
    found = audit(MODEL, tokens=ids, text_name="ids.npy")
    assert found.text == "ids.npy"
    assert found.context == 60
    assert found.to_dict()["measured_on"]["documents"][0] == {
        "name": "ids.npy", "tokens": 60, "period": None, "repeats": None
    }  # fmt: skip
