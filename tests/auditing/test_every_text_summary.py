"""What a report says of every text: within bounds on the work, and only what was looked at."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import torch

from headwright.auditing import every_text_summary as module
from headwright.auditing.every_text_summary import first_layer_bounds
from headwright.auditing.report.every_text import bound_sentences, headline, section
from headwright.auditing.report.page import show_token
from headwright.models import load_model
from tests.text_bounds.test_models import V, tiny


def test_a_small_vocabulary_is_looked_at_whole_whatever_the_text() -> None:
    model = load_model("builtin:induction")
    found = first_layer_bounds(
        model, [0], [0, 1], text=model.encode("the quick brown fox")
    )
    assert found.whole and found.queries == 47 and not found.left_out
    assert [(one.head, one.above_half == one.pairs) for one in found.pairs] == [
        (0, True),
        (1, False),
    ]
    assert all(len(one.least_weights) == one.pairs for one in found.pairs)
    assert (
        "In every text of 16 tokens, head 0.0 gives the previous token at least 0.87"
        in " ".join(bound_sentences(found))
    )
    assert str(headline(found)).startswith(
        "Proven: in every text of 16 tokens, head 0.0 gives the previous token at"
    )
    assert headline(first_layer_bounds(model, [1], [0])) is None


def test_pairs_are_safe_up_to_a_length_or_not() -> None:
    model = load_model("builtin:induction")
    found = first_layer_bounds(model, [0], [0], text=model.encode("thoc"))
    words = {
        (one.before, one.token): [word for _, word, _ in one.lengths]
        for one in found.safe
    }
    assert words == {
        ("t", "h"): ["proved", "false", "false"],
        ("h", "o"): [word for _, word, _ in found.safe[1].lengths],
        ("o", "c"): ["proved", "proved", "open"],  # more than one bound would prove it
    }
    for one in found.safe:
        assert [length for length, _, _ in one.lengths] == [4, 5, 6]
        assert all((run <= 0) == (word == "false") for _, word, run in one.lengths)
    page = section(found, "a text", show_token)
    assert (
        "Which pairs are safe at which length" in page
        and page.count("&#10003; proved") >= 4
    )
    assert first_layer_bounds(model, [0], [0]).safe == ()


def test_of_a_large_vocabulary_only_texts_that_end_in_a_token_of_the_text_are_spoken_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_QUERIES", 3)
    model = load_model("builtin:induction")
    text = model.encode("thehe")
    found = first_layer_bounds(model, [0], [0], text=text)
    assert (found.queries, found.choices, found.whole) == (3, 47, False)
    assert {one.queries for one in found.weights} == {3}
    assert found.pairs[0].pairs == 3  # th, he, eh
    sentences = bound_sentences(found)
    assert sentences[0].startswith(
        "In every text of 16 tokens, whichever of the 3 tokens the row has, head 0.0 gives"
    )
    assert any(
        line.startswith(
            "No text of 16 tokens, whichever of the 3 tokens the row has, lets"
        )
        for line in sentences
    )
    page = section(found, "<the text>", show_token)
    assert (
        "with any of 3 tokens there, the first that occur in &lt;the text&gt;" in page
    )
    assert "<the text>" not in page and "whichever of all" not in page


def test_without_a_text_a_large_vocabulary_has_nothing_to_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_QUERIES", 3)
    found = first_layer_bounds(load_model("builtin:induction"), [0], [0])
    assert not found.weights and "the text holds none of them" in found.missing


def test_heads_beyond_the_work_are_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "WORK", 2**10)
    model = load_model("builtin:induction")
    found = first_layer_bounds(model, [0], [0, 1], text=model.encode("some text"))
    assert found.left_out == (1,) and {one.head for one in found.weights} == {0}
    assert found.queries == module.FEWEST_QUERIES
    assert "Heads 0.1 were left out" in section(found, "the text", show_token)


def test_embeddings_that_take_too_much_memory_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_NUMBERS", 100)
    found = first_layer_bounds(load_model("builtin:induction"), [0], [0])
    assert (
        not found.weights and "numbers, more than a report should hold" in found.missing
    )


@pytest.mark.parametrize("family", ["llama", "gpt2", "qwen3", "gemma3", "mistral"])
def test_every_number_of_it_holds_in_all_texts_of_the_library_itself(
    family: str, tmp_path: Path
) -> None:
    model, eager = tiny(family, tmp_path)
    text = np.array([0, 1, 2, 3, 4, 5, 6, 0, 2, 4, 6])
    found = first_layer_bounds(model, [0], [0, 1], length=4, text=text)
    texts = torch.tensor(list(product(range(V), repeat=4)))
    with torch.no_grad():
        weights = (
            eager(input_ids=texts, output_attentions=True)
            .attentions[0][:, :, -1]
            .numpy()
        )
    ends = texts.numpy()
    for one in found.weights:
        mass = weights[:, one.head, {"self": 3, "previous": 2, "first": 0}[one.key]]
        assert one.least.bound <= mass.min() * (
            1 + 1e-5
        ) and one.most.bound >= mass.max() * (1 - 1e-5)
        by_token = [mass[ends[:, -1] == token] for token in range(V)]
        assert one.always_half <= sum(each.min() > 0.5 - 1e-6 for each in by_token)
        assert one.never_half <= sum(each.max() < 0.5 + 1e-6 for each in by_token)
    pairs = {(int(a), int(b)) for b, a in pairwise(text)}
    for kept in found.pairs:
        floors = [
            weights[(ends[:, 3] == a) & (ends[:, 2] == b), kept.head, 2].min()
            for a, b in pairs
        ]
        assert kept.pairs == len(pairs) and kept.above_half == sum(
            floor > 0.5 for floor in floors
        )
        np.testing.assert_allclose(
            kept.least_weights, sorted(floors, reverse=True), rtol=1e-5
        )


class _Tree(HTMLParser):
    """Every element is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_section_is_markup_that_closes(tmp_path: Path) -> None:
    model, _ = tiny("gpt2", tmp_path)
    tree = _Tree()
    tree.feed(
        section(
            first_layer_bounds(model, [0], [0, 1], length=8, text=np.arange(V)),
            "the text",
            show_token,
        )
    )
    assert tree.open == []
