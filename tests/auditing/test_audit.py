"""An audit from end to end on a model made by hand: what is refused, what is chosen, what is explained."""

from __future__ import annotations

import html
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headwright.auditing.auditor import audit
from headwright.auditing.documents import text_documents
from headwright.auditing.explain import explain, parse_head
from headwright.auditing.head_findings import HeadFindings
from headwright.auditing.measures.summary import Mean
from headwright.auditing.report.data import head_table
from headwright.auditing.report.page import page
from headwright.auditing.report.sentences import describe_intervals, headline
from headwright.certificates.exact.verify import verify
from headwright.errors import InputError
from headwright.models.model import Circuits, LayerActivations, LayerVisitor, Tokens
from headwright.statistics.attention_config import AttentionConfig
from tests.auditing.handmade import Handmade

MODEL = Handmade()
TEXT = " ".join(f"word{k % 13}" for k in range(60))


def test_only_what_is_wanted_is_told() -> None:
    found = audit(MODEL, text=TEXT, layers=[1], heads=[0, 2])
    assert [head.name for head in found.heads] == ["1.0", "1.2"]
    assert found.layers == (1,)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"layers": [2]}, "there is no layer 2: expected 0 to 1"),
        ({"heads": [-1]}, "there is no head -1: expected 0 to 3"),
        ({"layers": []}, "no layer: expected at least one of 0 to 1"),
        ({"text": "too short"}, "expected at least 16"),
        ({"text": TEXT, "tokens": 99}, "expected one of them"),
        ({"max_length": 1000}, "has 64 positions: expected at most 64"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    how: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        audit(MODEL, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("epoch", "date"),
    [("0", "1970-01-01 00:00 UTC"), ("1700000000", "2023-11-14 22:13 UTC")],
)
def test_the_date_of_a_report_is_that_of_source_date_epoch(
    epoch: str, date: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    found = audit(MODEL, text=TEXT, layers=[1], heads=[0], every_text=False)
    assert found.date == date
    assert date in page(found)
    assert found.to_dict()["reproduce"]["date"] == date


@pytest.mark.parametrize("epoch", ["yesterday", "1e9", str(10**30)])
def test_another_source_date_epoch_is_refused(
    epoch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(InputError, match="expected seconds since 1970"):
        audit(MODEL, text=TEXT)


def test_a_model_without_weights_is_audited_without_ranks() -> None:
    class Closed(Handmade):
        def circuits(self, layer: int) -> Circuits:
            raise InputError("its weights are not at hand")

        def visit_layers(
            self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
        ) -> None:
            MODEL.visit_layers(tokens, visit, last)

    found = audit(Closed(), text=TEXT)
    assert found.not_measured["rank, output share"] == "its weights are not at hand"
    for head in found.heads:
        assert all(
            head.results[name] is None
            for name in ("output_share", "qk_rank", "ov_rank")
        )


def _means(head: HeadFindings) -> dict[str, Mean]:
    return {
        name: result
        for name, result in head.results.items()
        if isinstance(result, Mean)
    }


def test_twice_the_same_audit_gives_the_same_numbers() -> None:
    one, two = (audit(MODEL, text=TEXT, seed=5) for _ in range(2))
    assert [_means(head) for head in one.heads] == [_means(head) for head in two.heads]
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
        def visit_layers(
            self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
        ) -> None:
            def visit_capped(layer: LayerActivations) -> None:
                shape = layer.queries.shape
                visit(
                    replace(
                        layer, scoring=AttentionConfig.of(shape, shape, softcap=9.0)
                    )
                )

            super().visit_layers(tokens, visit_capped, last)

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


def test_a_model_that_never_attends_to_the_first_token_has_a_sink_of_nothing() -> None:
    found = audit(MODEL, text=TEXT, layers=[0], heads=[0])
    sink = found.heads[0].result("sink", Mean)
    assert sink is not None
    assert sink.value < 1e-9
    assert np.isfinite(sink.value)


class Long(Handmade):
    """Heads of 8 dimensions over texts of any length."""

    def visit_layers(
        self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
    ) -> None:
        q, k = (
            np.random.default_rng(0)
            .normal(size=(2, self.heads, len(tokens), 8))
            .astype(np.float32)
        )
        for index in range(self.layers):
            visit(
                LayerActivations(index, q, k, k, AttentionConfig.of(q.shape, k.shape))
            )
            if index == last:
                return

    def circuits(self, layer: int) -> Circuits:
        raise InputError("its weights are not at hand")


def test_memory_grows_in_proportion_to_the_text() -> None:
    """Stored patterns would take four times as much for each doubling: 8, 34 and 134 MB for one head in float64."""
    peaks = []
    audit(
        Long(max_length=None), tokens=64, max_length=64, every_text=False
    )  # what is loaded once
    for length in (1024, 2048, 4096):
        tracemalloc.start()
        found = audit(
            Long(max_length=None), tokens=length, max_length=length, every_text=False
        )
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
        "name": "ids.npy",
        "tokens": 60,
        "period": None,
        "repeats": None,
    }


SEVERAL = [" ".join(f"word{(7 * k + n) % 13}" for k in range(30 + n)) for n in range(8)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT, "One text: no interval"),
        (SEVERAL[:3], "3 texts: at least 8 are needed for an interval"),
        (SEVERAL, "95 % intervals over 8 texts, for others like these"),
        (
            " ".join(SEVERAL) + " " + " ".join(SEVERAL),
            "95 % intervals over 9 passages of one text, for others",
        ),
    ],
)
def test_an_audit_says_what_its_intervals_are_about_or_why_there_are_none(
    text: str | list[str], said: str
) -> None:
    found = audit(MODEL, text=text, every_text=False)
    assert describe_intervals(found).startswith(said)
    told = found.to_dict()
    assert told["measured_on"]["intervals"].startswith(said)
    assert html.escape(said) in page(found)
    given = "95 %" in said
    for head in told["heads"]:
        assert (head["entropy"]["low"] is not None) == given
        assert (
            head["induction"]["low"] is not None
        )  # 8 random sequences are a sample of random sequences
        assert (head["tv_bf16"]["tv"]["low"] is not None) == given
    roles = [
        role
        for head in found.heads
        for role in head.roles
        if role.name in ("previous token", "self")
    ]
    assert roles and all((role.sure is None) == (not given) for role in roles)


def test_several_texts_have_their_names() -> None:
    found = audit(
        MODEL, text=SEVERAL[:2], text_name=["one.txt", "two.txt"], every_text=False
    )
    assert [document.name for document in found.documents[:2]] == ["one.txt", "two.txt"]
    assert found.text == "2 texts (one.txt, ..., two.txt)"
    with pytest.raises(InputError, match="2 texts and 1 names of texts"):
        audit(MODEL, text=SEVERAL[:2], text_name=["one.txt"])


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("../full/lib/models/SmolLM2.gguf", "SmolLM2.gguf"),
        ("/root/models/SmolLM2", "SmolLM2"),
        ("./SmolLM2", "SmolLM2"),
        ("models/SmolLM2", "SmolLM2"),  # a folder that is there
        ("owner/SmolLM2", "owner/SmolLM2"),  # a hub id
        ("builtin:induction", "builtin:induction"),
        ("LlamaForCausalLM", "LlamaForCausalLM"),
    ],
)
def test_a_title_has_the_name_of_a_file_or_folder_without_what_leads_to_it(
    name: str, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("models/SmolLM2").mkdir(parents=True)
    found = audit(
        Handmade(name=name), text=TEXT, layers=[0], heads=[0], every_text=False
    )
    assert found.title == title
    assert f"What the heads of {title} do" in page(found)
    assert found.to_dict()["model"]["name"] == name


class Forgetful(Handmade):
    """It follows repeats over a short context, and in a long one all its patterns are even."""

    def visit_layers(
        self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
    ) -> None:
        def visit_forgetful(layer: LayerActivations) -> None:
            queries = (
                layer.queries if len(tokens) < 100 else np.zeros_like(layer.queries)
            )
            visit(replace(layer, queries=queries))

        super().visit_layers(tokens, visit_forgetful, last)


def test_induction_over_a_long_context_is_not_taken_from_a_short_one() -> None:
    """Period and length stand beside the role in every output."""
    model = Forgetful(vocabulary=20, max_length=300)
    found = audit(model, text=TEXT, max_length=300, every_text=False)
    head = next(
        head
        for head in found.heads
        if any(role.name == "induction" for role in head.roles)
    )
    assert [role.label for role in head.roles if "induction" in role.name] == [
        "induction (period 19, 77 tokens)"
    ]
    assert (head.value("induction_away") or 0.0) > 0.9
    assert (head.value("induction_long_away") or 0.0) < 0.1
    assert "induction in contexts of 77 and 300 tokens" in headline(found)

    on = "(random tokens of period 19, contexts of 77)"
    none = "is an induction head over a long context (random tokens of period 19, contexts of 300)"
    assert on in repr(found)
    for output in (page(found), " ".join(found.to_dict()["summary"])):
        assert on in output
        assert none in output
    assert "Long induction (period 19, 300 tokens)" in page(found)

    told = found.to_dict()
    assert told["measured_on"]["induction"] == {
        "induction": {"period": 19, "context": 77, "sequences": 8},
        "induction_long": {"period": 19, "context": 300, "sequences": 1},
    }
    same = next(
        one
        for one in told["heads"]
        if (one["layer"], one["head"]) == (head.layer, head.head)
    )
    assert (same["induction_long"]["period"], same["induction_long"]["context"]) == (
        19,
        300,
    )
    assert same["induction_long"]["interval"] == "one random sequence: no interval"
    line = next(
        line
        for line in head_table(found)
        if (line["layer"], line["head"]) == (head.layer, head.head)
    )
    assert "induction (period 19, 77 tokens)" in str(line["roles"])
    assert (
        line["induction_period"],
        line["induction_context"],
        line["induction_sequences"],
    ) == (19, 77, 8)
    assert (line["induction_long_period"], line["induction_long_context"]) == (19, 300)
    assert line["induction_long_away"] == head.value("induction_long_away")
