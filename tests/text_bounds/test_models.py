"""First layers of real models: brute force over all texts of tiny ones, run by the library itself."""

from __future__ import annotations

import copy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import transformers

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.model import Model
from headwright.text_bounds.every_text import every_text
from headwright.text_bounds.read_layer import first_layer

V, LENGTH = 7, 4
SMALL: dict[str, Any] = {
    "vocab_size": V,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}
TINY: dict[str, tuple[Any, Any]] = {
    "llama": (
        transformers.LlamaModel,
        transformers.LlamaConfig(
            **SMALL,
            num_key_value_heads=1,
            intermediate_size=8,
            max_position_embeddings=8,
        ),
    ),
    "mistral": (
        transformers.MistralModel,
        transformers.MistralConfig(
            **SMALL,
            num_key_value_heads=1,
            intermediate_size=8,
            max_position_embeddings=8,
            sliding_window=3,
        ),
    ),
    "gemma3": (
        transformers.Gemma3TextModel,
        transformers.Gemma3TextConfig(
            **SMALL,
            num_key_value_heads=1,
            head_dim=8,
            intermediate_size=8,
            max_position_embeddings=8,
            sliding_window=3,
            layer_types=["sliding_attention"],
        ),
    ),
    "qwen3": (
        transformers.Qwen3Model,
        transformers.Qwen3Config(
            **SMALL,
            num_key_value_heads=1,
            head_dim=8,
            intermediate_size=8,
            max_position_embeddings=8,
        ),
    ),
    "qwen2": (
        transformers.Qwen2Model,
        transformers.Qwen2Config(
            **SMALL,
            num_key_value_heads=1,
            intermediate_size=8,
            max_position_embeddings=8,
        ),
    ),
    "gpt2": (
        transformers.GPT2Model,
        transformers.GPT2Config(
            vocab_size=V, n_embd=16, n_layer=1, n_head=2, n_positions=8
        ),
    ),
    "neox": (
        transformers.GPTNeoXModel,
        transformers.GPTNeoXConfig(
            **SMALL, intermediate_size=8, max_position_embeddings=8
        ),
    ),
    "bert": (
        transformers.BertModel,
        transformers.BertConfig(
            **SMALL, intermediate_size=8, max_position_embeddings=8
        ),
    ),
    "bert decoder": (
        transformers.BertModel,
        transformers.BertConfig(
            **SMALL, intermediate_size=8, max_position_embeddings=8, is_decoder=True
        ),
    ),
}


def tiny(family: str, folder: Path) -> tuple[Model, Any]:
    """A model for the audit, read from a folder, and the network that was saved there, with eager attention."""
    kind, config = TINY[family]
    torch.manual_seed(0)
    network = kind._from_config(
        copy.deepcopy(config), attn_implementation="eager"
    ).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    network.save_pretrained(folder)
    if (
        family == "gemma3"
    ):  # transformers would make a tokenizer of special tokens alone
        words = tokenizers.models.WordLevel(
            {letter: number for number, letter in enumerate("abcdefg")}, unk_token="a"
        )
        made = transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizers.Tokenizer(words)
        )  # type: ignore[no-untyped-call]
        made.save_pretrained(folder)
    return load_model(folder), network.double()


@pytest.mark.parametrize(
    "family", ["llama", "mistral", "gemma3", "qwen2", "qwen3", "gpt2"]
)
def test_extremes_are_those_of_all_texts_in_the_library_itself(
    family: str, tmp_path: Path
) -> None:
    model, eager = tiny(family, tmp_path)
    texts = torch.tensor(list(product(range(V), repeat=LENGTH)))
    with torch.no_grad():
        weights = eager(input_ids=texts, output_attentions=True).attentions[0][
            :, :, -1
        ]  # texts, heads, places
    for found in every_text(model, LENGTH):
        for places in found.places:
            mass = weights[:, found.head, list(places.places)].sum(-1).numpy()
            assert places.least.bound == pytest.approx(mass.min(), rel=1e-5)
            assert places.least.bound <= mass.min() * (
                1 + 1e-5
            )  # the library turns in float32
            assert places.most.bound == pytest.approx(mass.max(), rel=1e-5)
            row = texts.tolist().index([int(token) for token in places.least.text])
            assert mass[row] == pytest.approx(places.least.run, rel=1e-5)


def test_special_tokens_of_an_encoder_stand_where_they_are_and_every_place_sees_all(
    tmp_path: Path,
) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(vocab=str(tmp_path / "vocab.txt")).save_pretrained(
        tmp_path
    )
    model, eager = tiny("bert", tmp_path)
    texts = torch.tensor(
        [[2, *inner, 3] for inner in product([1, 4, 5, 6], repeat=3)]
    )  # [UNK] is in texts, too
    with torch.no_grad():
        weights = eager(input_ids=texts, output_attentions=True).attentions[0][
            :, :, 3
        ]  # from the last place but [SEP]
    for found in every_text(model, 5):
        assert found.queries == 4
        for places in found.places:
            mass = weights[:, found.head, list(places.places)].sum(-1).numpy()
            assert places.least.bound == pytest.approx(mass.min(), rel=1e-5)
            assert places.most.bound == pytest.approx(mass.max(), rel=1e-5)
            assert [int(token) for token in places.least.text][::4] == [2, 3]


def test_an_encoder_that_was_made_a_decoder_looks_back_only(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c"])
    )
    transformers.BertTokenizer(vocab=str(tmp_path / "vocab.txt")).save_pretrained(
        tmp_path
    )
    model, eager = tiny("bert decoder", tmp_path)
    texts = torch.tensor([[2, *inner, 3] for inner in product([1, 4, 5, 6], repeat=3)])
    with torch.no_grad():
        weights = eager(input_ids=texts, output_attentions=True).attentions[0][:, :, 3]
    for found in every_text(model, 5):
        for places in found.places:
            mass = weights[:, found.head, list(places.places)].sum(-1).numpy()
            assert places.least.bound == pytest.approx(mass.min(), rel=1e-5)
            assert places.most.bound == pytest.approx(mass.max(), rel=1e-5)
            row = texts.tolist().index([int(token) for token in places.most.text])
            assert mass[row] == pytest.approx(places.most.run, rel=1e-5)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_network_that_does_more_than_its_family_is_refused(
    family: str, tmp_path: Path
) -> None:
    model, _ = tiny(family, tmp_path)
    network = model.network  # type: ignore[attr-defined]
    asked = (
        network.layers[0].self_attn.q_proj if family == "llama" else network.h[0].ln_1
    )
    first_layer(model, LENGTH)
    handle = asked.register_forward_hook(lambda _module, _given, made: made * 1.1)
    with pytest.raises(InputError, match="from those that were read off its weights"):
        first_layer(model, LENGTH)
    handle.remove()
    first_layer(model, LENGTH)


def spelling(words: list[str], folder: Path, **special: str) -> None:
    model = tokenizers.models.WordLevel(
        {word: number for number, word in enumerate(words)}, unk_token="<unk>"
    )
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", **special
    ).save_pretrained(folder)  # type: ignore[no-untyped-call]


def test_texts_with_unknown_characters_are_among_every_text(tmp_path: Path) -> None:
    spelling(["<unk>", "<s>", *"abcde"], tmp_path, bos_token="<s>")
    model, eager = tiny("llama", tmp_path)
    assert model.unknown_tokens().tolist() == [0] and model.encode("bé").tolist() == [
        3,
        0,
    ]
    texts = torch.tensor(
        list(product([0, 2, 3, 4, 5, 6], repeat=LENGTH))
    )  # all but <s>
    with torch.no_grad():
        weights = eager(input_ids=texts, output_attentions=True).attentions[0][:, :, -1]
    for found in every_text(model, LENGTH):
        assert found.queries == 6
        for places in found.places:
            mass = weights[:, found.head, list(places.places)].sum(-1).numpy()
            assert places.least.bound <= mass.min() * (1 + 1e-5)
            assert places.most.bound >= mass.max() * (1 - 1e-5)
            assert places.least.bound == pytest.approx(mass.min(), rel=1e-5)


def test_an_opening_is_found_where_the_letter_tried_is_unknown(tmp_path: Path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "x", "y", "z"]  # no a
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(vocab=str(tmp_path / "vocab.txt")).save_pretrained(
        tmp_path
    )
    layer = first_layer(tiny("bert", tmp_path)[0], LENGTH)
    assert (layer.opening, layer.closing) == ((2,), (3,))
    assert sorted(layer.tokens[: len(layer.tokens) - layer.only_held].tolist()) == [
        1,
        4,
        5,
        6,
    ]


@pytest.mark.parametrize(
    "name", ["layers.0.self_attn.q_proj.weight", "embed_tokens.weight"]
)
def test_weights_that_are_not_finite_are_refused(name: str, tmp_path: Path) -> None:
    _, network = tiny("llama", tmp_path)
    with torch.no_grad():
        network.get_parameter(name)[3, 3] = float("nan")
    network.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="not finite"):
        every_text(load_model(tmp_path), LENGTH)


def test_the_previous_token_of_the_built_in_model_in_every_text() -> None:
    model = load_model("builtin:induction")
    previous = next(
        places
        for places in every_text(model, 64, heads=[0])[0].places
        if places.name == "previous"
    )
    assert previous.always_half == len(model.regular_tokens())
    assert previous.least.run == pytest.approx(previous.least.bound, abs=1e-9)
    assert previous.least.bound <= previous.least.run
    rng = np.random.default_rng(0)
    for _ in range(20):
        text = np.concatenate(
            [model.bos_tokens(), rng.choice(model.regular_tokens(), 63)]
        )
        layer = next(iter(model.run(text)))
        scores = layer.keys[0] @ layer.queries[0, -1] * layer.scoring.scale
        pattern = np.exp(scores - scores.max())
        assert (
            previous.least.bound <= pattern[-2] / pattern.sum() <= previous.most.bound
        )


def test_a_family_that_is_not_covered_is_refused_by_name(tmp_path: Path) -> None:
    model, _ = tiny("neox", tmp_path)
    with pytest.raises(InputError, match="gpt_neox"):
        first_layer(model, LENGTH)


@pytest.mark.parametrize(("length", "match"), [(1, "expected"), (300, "positions")])
def test_lengths_beyond_reach_have_their_sentence(length: int, match: str) -> None:
    with pytest.raises(InputError, match=match):
        every_text(load_model("builtin:induction"), length)


def test_pairs_of_a_text_are_counted_and_the_broken_ones_named() -> None:
    model = load_model("builtin:induction")
    text = model.encode("the quick brown fox")
    kept, broken = (found.guarantee for found in every_text(model, 16, text=text))
    assert kept is not None and kept.kept == kept.pairs > 10
    assert broken is not None and broken.kept == 0 and len(broken.broken) > 5
