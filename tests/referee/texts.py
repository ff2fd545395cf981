"""Is a statement about every text true? All texts of tiny models are run, by the models themselves."""

from __future__ import annotations

import json
import random
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headwright.errors import HeadwrightError
from headwright.models import load_model
from headwright.text_bounds import make_statement as certified
from headwright.text_bounds.checker import judge_statement
from headwright.text_bounds.every_text import every_text
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.occurrences import on_token
from headwright.text_bounds.statement import (
    read_statement,
    tokens_digest,
    weights_digest,
    write_statement,
)
from tests.referee.answer import TRUE, Answer
from tests.text_bounds.test_models import TINY, tiny

INDUCTION = "builtin:induction"
FAMILIES = ("llama", "mistral", "gpt2", "qwen3")
CLEAR = 1e-9  # relative; patterns are run in float64
LENGTHS = {INDUCTION: (2, 3), **dict.fromkeys(FAMILIES, (2, 3, 4))}


@dataclass(frozen=True, eq=False)
class Known:
    """A model, its first layer as the checker reads it, and its patterns on all texts of some lengths."""

    name: str
    layer: Any
    free: list[int]  # tokens that a free place may hold
    held: dict[int, int]
    patterns: dict[
        int, tuple[np.ndarray, np.ndarray]
    ]  # length -> texts, patterns (texts, heads, T, T)


@cache
def known(name: str) -> Known:
    if name == INDUCTION:
        model: Any = load_model(name)
        layer = first_layer(model, max(LENGTHS[name]))
        return Known(
            name,
            layer,
            list(range(1, len(model.embed))),
            {0: 0},
            {T: _induction(model, T) for T in LENGTHS[name]},
        )
    with tempfile.TemporaryDirectory() as folder:
        model, network = tiny(name, Path(folder))
        layer = first_layer(model, max(LENGTHS[name]))
    size = TINY[name][1].vocab_size
    free = [int(t) for t in layer.tokens[: len(layer.tokens) - layer.only_held]]
    return Known(
        name, layer, free, {}, {T: _network(network, size, T) for T in LENGTHS[name]}
    )


def _network(network: Any, size: int, T: int) -> tuple[np.ndarray, np.ndarray]:
    """GPT-2 by its library, in float64; the others as their papers have them, since their library rounds to float32."""
    texts = np.array(list(product(range(size), repeat=T)))
    if not hasattr(network, "rotary_emb"):
        with torch.no_grad():
            run = network(
                input_ids=torch.tensor(texts), output_attentions=True
            ).attentions[0]
        return texts, run.double().numpy()
    config, attention = network.config, network.layers[0].self_attn
    X = _weights(network.embed_tokens)[texts]
    X = _normed(X, network.layers[0].input_layernorm, config.rms_norm_eps)
    d = attention.head_dim
    angles = np.arange(T)[:, None] * network.rotary_emb.inv_freq.double().numpy()
    cos, sin = (
        np.concatenate([f(angles)] * 2, axis=-1)[None, :, None]
        for f in (np.cos, np.sin)
    )

    def rows(projection: Any, norm: str) -> np.ndarray:
        Y = (X @ _weights(projection).T).reshape(len(texts), T, -1, d)
        if projection.bias is not None:
            Y = Y + projection.bias.detach().double().numpy().reshape(-1, d)
        Y = (
            _normed(Y, getattr(attention, norm), config.rms_norm_eps)
            if hasattr(attention, norm)
            else Y
        )
        return (
            Y * cos
            + np.concatenate([-Y[..., d // 2 :], Y[..., : d // 2]], axis=-1) * sin
        )

    Q, K = rows(attention.q_proj, "q_norm"), rows(attention.k_proj, "k_norm")
    K = np.repeat(K, Q.shape[2] // K.shape[2], axis=2)
    S = np.einsum("tihd,tjhd->thij", Q, K) / np.sqrt(d)
    i, j = np.arange(T)[:, None], np.arange(T)
    window = getattr(config, "sliding_window", None) or T
    return texts, _softmax(np.where((j <= i) & (i - j < window), S, -np.inf))


def _weights(module: Any) -> np.ndarray:
    return np.asarray(module.weight.detach().double().numpy())


def _normed(X: np.ndarray, norm: Any, eps: float) -> np.ndarray:
    return np.asarray(
        X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * _weights(norm)
    )


def _softmax(S: np.ndarray) -> np.ndarray:
    e = np.exp(S - S.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _induction(model: Any, T: int) -> tuple[np.ndarray, np.ndarray]:
    """As the model's description has it: x = embed, pairs of coordinates turned by place, scores over sqrt(d)."""
    from headwright.models.induction import FREQUENCIES

    texts = np.array(
        [(0, *rest) for rest in product(range(1, len(model.embed)), repeat=T - 1)]
    )
    X = model.embed[texts]
    angles = np.arange(T)[:, None] * np.array(FREQUENCIES)
    cos, sin = np.cos(angles), np.sin(angles)
    half, found = model.query.shape[-1] // 2, []

    def turned(Y: np.ndarray) -> np.ndarray:
        a, b = Y[..., :half], Y[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    for head in range(model.query.shape[1]):
        Q, K = turned(X @ model.query[0, head]), turned(X @ model.key[0, head])
        S = np.einsum("tid,tjd->tij", Q, K) / np.sqrt(2 * half)
        found.append(
            _softmax(
                np.where(
                    np.arange(T)[None, :, None] >= np.arange(T)[None, None, :],
                    S,
                    -np.inf,
                )
            )
        )
    return texts, np.stack(found, axis=1)


def judge(document: Any, model: Known) -> Answer:
    """By brute force over all texts of that length."""
    said = document["statement"]
    if said["weights"] != weights_digest(model.layer) or said[
        "tokens"
    ] != tokens_digest(model.layer):
        return Answer("false", "other weights or tokens")
    if said["choices"] != len(model.free) or said["length"] not in model.patterns:
        return Answer(
            "false" if said["choices"] != len(model.free) else "unknown",
            "other tokens, or too long to run",
        )
    texts, patterns = model.patterns[said["length"]]
    place, held = said["place"], {int(at): token for at, token in said["held"].items()}
    if not 0 <= place < said["length"] or not 0 <= said["head"] < patterns.shape[1]:
        return Answer("false", "no such place or head")
    seen = [j for j in range(said["length"]) if patterns[0, said["head"], place, j] > 0]
    if any(j not in range(said["length"]) for j in said["places"]):
        return Answer("false", "no such place")
    fits = np.ones(len(texts), dtype=bool)
    for at in range(said["length"]):
        fits &= (
            texts[:, at] == held[at]
            if at in held
            else np.isin(texts[:, at], model.free)
        )
    weights = patterns[:, said["head"], place]
    total = weights[:, said["places"]].sum(axis=1)
    if said.get("token") is not None:
        marked = (texts == said["token"]) & np.isin(
            np.arange(said["length"]), [j for j in seen if j not in held]
        )
        fits &= marked.any(axis=1)
        total = np.where(
            marked | np.isin(np.arange(said["length"]), said["places"]), weights, 0.0
        ).sum(axis=1)
    if said["query"] is not None:
        fits &= texts[:, place] == said["query"]
    if said["pairs"]:
        if len(said["places"]) != 1:
            return Answer("false", "pairs of no place")
        rows = np.zeros(len(texts), dtype=bool)
        for a, b in said["pairs"]:
            some = (texts[:, place] == a) & (texts[:, said["places"][0]] == b)
            if not (some & fits).any():
                return Answer("unknown", "a pair that no text has")
            rows |= some
        fits &= rows
    return _compared(said, total[fits])


def _compared(said: Any, weights: np.ndarray) -> Answer:
    if not len(weights):
        return Answer("unknown", "no text is of that kind")
    bound, least = float(Fraction(said["bound"])), said["extreme"] == "least"
    extreme = float(weights.min() if least else weights.max())
    beyond = (bound - extreme) if least else (extreme - bound)
    if abs(beyond) <= CLEAR * max(bound, extreme):
        return Answer("unknown", "near")
    return TRUE if beyond < 0 else Answer("false", f"a text has {extreme}")


@cache
def text_seeds() -> list[tuple[str, str]]:
    """Documents, each with the name of its model."""
    found = []
    for name in (INDUCTION, *FAMILIES):
        model: Any
        if name == INDUCTION:
            model = load_model(name)
            found += [(name, text) for text in _documents(model, name)]
        else:
            with tempfile.TemporaryDirectory() as folder:
                model, _ = tiny(name, Path(folder))
                found += [(name, text) for text in _documents(model, name)]
    return found


def _documents(model: Any, name: str) -> list[str]:
    layer, found = first_layer(model, max(LENGTHS[name])), []
    first, second = (3, 5) if name == INDUCTION else (1, 2)
    for T in LENGTHS[name]:
        text = np.array([0 if name == INDUCTION else 3, *[second] * (T - 2), first])
        for one in every_text(model, T, text=text if T > 2 else None):
            for places in one.places:
                found += [
                    certified.statement_of(name, layer, one, places, side)
                    for side in ("least", "most")
                ]
            if one.guarantee is not None:
                pairs = one.guarantee.firm + one.guarantee.broken
                if pairs:
                    least = min(floor for *_, floor in pairs)
                    found.append(
                        certified.pairs_statement(
                            name, layer, one, [(a, b) for a, b, _ in pairs], 1, least
                        )
                    )
        for on in on_token(model, T, first) if T > 2 else []:
            found += [
                certified.token_statement(name, layer, T, on, side)
                for side in ("least", "most")
            ]
    return [write_statement(statement) for statement in found]


def verdict(text: str, model: Known) -> str:
    try:
        return judge_statement(read_statement(text), model.layer)[0]
    except HeadwrightError:
        return "unreadable"


def mutant(seed: int, number: int) -> tuple[Any, Known, list[str]]:
    """A document, the model it is looked at with, and what was changed."""
    chance = random.Random(f"{seed} texts {number}")
    name, text = chance.choice(text_seeds())
    document, model = json.loads(text), known(name)
    said, names = document["statement"], []
    for _ in range(chance.choice([1, 1, 2, 3])):
        field = chance.choice(
            [
                "bound",
                "bound",
                "bound",
                "bound",
                "head",
                "place",
                "places",
                "query",
                "extreme",
                "pairs",
                "token",
                "held",
                "model",
                "length",
            ]
        )
        names.append(field)
        _change(said, field, model, chance)
    if "model" in names:
        model = known(chance.choice([INDUCTION, *FAMILIES]))
        if chance.random() < 0.7:  # the digests of another model
            said |= {
                "weights": weights_digest(model.layer),
                "tokens": tokens_digest(model.layer),
                "choices": len(model.free),
                "held": {str(at): token for at, token in model.held.items()},
            }
    return document, model, names


def _change(said: Any, field: str, model: Known, chance: random.Random) -> None:
    tokens = [*model.free, 0, 99]
    if field == "bound":
        way = chance.randrange(4)
        value = float(said["bound"])
        by = 1 + chance.choice([1, -1]) * 10.0 ** -chance.randrange(1, 12)
        said["bound"] = repr(
            min(1.0, [value * by, 1 - (1 - value) * by, chance.random(), value][way])
        )
        if "e" in said["bound"] and way < 2:
            said["bound"] = f"{float(said['bound']):.20f}"
    elif field == "head":
        said["head"] = chance.choice(
            [0, 1, 1 - said["head"] if said["head"] < 2 else 0, 2]
        )
    elif field == "place":
        said["place"] = chance.randrange(said["length"] + 1)
    elif field == "places":
        said["places"] = sorted(
            chance.sample(
                range(said["length"]), chance.choice([1, 1, min(2, said["length"])])
            )
        )
    elif field == "query":
        said["query"] = chance.choice([None, chance.choice(tokens)])
    elif field == "extreme":
        said["extreme"] = "most" if said["extreme"] == "least" else "least"
    elif field == "pairs":
        said["pairs"] = [
            list(pair)
            for pair in {
                (chance.choice(tokens), chance.choice(tokens))
                for _ in range(chance.choice([0, 1, 3]))
            }
        ]
    elif field == "token":
        said["token"] = chance.choice([None, chance.choice(tokens)])
        said["places"] = (
            []
            if said["token"] is not None and chance.random() < 0.7
            else said["places"]
        )
    elif field == "held":
        said["held"] = chance.choice(
            [{}, {"0": 0}, {"0": chance.choice(tokens)}, {"1": chance.choice(tokens)}]
        )
    elif field == "length":
        said["length"] = max(1, said["length"] + chance.choice([1, -1]))
