"""Induction over two layers: below brute force over every text of the kind, on random models and the built-in one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from flint import arb, arb_mat, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.models.loading import load_model
from headwright.models.texts.two_layers import Bounds, Named, TwoLayers, repeated_pair, two_layers

V, WIDTH, D = 4, 6, 4


def tiny(seed: int, size: float, heads: int = 2) -> TwoLayers:
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) * size

    return TwoLayers(
        np.arange(V + 1), numbers(V + 1, WIDTH), numbers(2, heads, WIDTH, D), numbers(2, heads, WIDTH, D),
        numbers(2, heads, WIDTH, D), numbers(2, heads, D, WIDTH), np.array([1.3, 0.2]),
    )  # fmt: skip


def patterns(layers: TwoLayers, layer: int, x: np.ndarray) -> np.ndarray:
    """heads x places x places, by the definition."""
    angles = np.arange(len(x))[:, None] * layers.angles
    cos, sin = np.cos(angles), np.sin(angles)

    def turned(v: np.ndarray) -> np.ndarray:
        a, b = np.split(v, 2, axis=-1)
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

    scores = turned(x @ layers.query[layer]) @ turned(x @ layers.key[layer]).swapaxes(1, 2) * layers.scale
    scores = np.where(np.tril(np.ones((len(x), len(x)), dtype=bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def weight(layers: TwoLayers, head: int, text: np.ndarray, place: int) -> float:
    x = layers.embed[text]
    first = patterns(layers, 0, x)
    x = x + sum(p @ x @ v @ o for p, v, o in zip(first, layers.value[0], layers.output[0], strict=True))
    return float(patterns(layers, 1, x)[head, -1, place])


def texts(layers: TwoLayers, named: Named) -> list[np.ndarray]:
    """Every text of the kind."""
    free = [at for at in range(1, named.length) if at not in named.known]
    others = [token for token in range(layers.opening) if token != named.a]
    found = []
    for choice in product(others, repeat=len(free)):
        placed = {0: layers.opening} | named.known | dict(zip(free, choice, strict=True))
        found.append(np.array([placed[at] for at in range(named.length)]))
    return found


@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([0.1, 0.4, 0.7, 1.0]),
    kind=st.sampled_from([(4, 2), (5, 2), (5, 3), (6, 2), (6, 3), (6, 4), (7, 3)]),
    tokens=st.permutations(range(V)),
)
@settings(max_examples=60)
def test_the_bound_is_below_every_text_of_the_kind(
    seed: int, size: float, kind: tuple[int, int], tokens: list[int]
) -> None:
    layers, (length, at), (a, b, c, _) = tiny(seed, size), kind, tokens
    named = Named(length, at, a, b, b if at == length - 2 else c)
    for head in (0, 1):
        floor = Bounds(layers, head, length).floor(named)
        weights = [weight(layers, head, text, at) for text in texts(layers, named)]
        assert floor.least <= min(weights) * (1 + 1e-12)
        assert any(np.array_equal(floor.text, text) for text in texts(layers, named))


def exactly(layers: TwoLayers, head: int, text: np.ndarray, place: int) -> arb:
    """The weight by the definition, in balls of 300 bits: the weights are exact numbers, and nothing rounds."""

    def matrix(numbers: np.ndarray) -> arb_mat:
        return arb_mat([[arb(float(number)) for number in row] for row in numbers])

    def turned(row: list[arb], at: int) -> list[arb]:
        half = len(layers.angles)
        turns = [(arb(float(angle)) * at).sin_cos() for angle in layers.angles]
        pairs = [(row[i], row[half + i], *turns[i]) for i in range(half)]
        return [a * c - b * s for a, b, s, c in pairs] + [a * s + b * c for a, b, s, c in pairs]

    def pattern(layer: int, which: int, x: arb_mat, at: int) -> list[arb]:
        asking, asked = x * matrix(layers.query[layer, which]), x * matrix(layers.key[layer, which])
        query = turned([asking[at, i] for i in range(asking.ncols())], at)
        powers = []
        for m in range(at + 1):
            key = turned([asked[m, i] for i in range(asked.ncols())], m)
            powers.append((sum((a * b for a, b in zip(query, key, strict=True)), arb(0)) * arb(layers.scale)).exp())
        return [power / sum(powers, arb(0)) for power in powers]

    with ctx.workprec(300):
        x = matrix(layers.embed[text])
        out = x
        for which in range(layers.query.shape[1]):
            rows = [pattern(0, which, x, at) + [arb(0)] * (len(text) - at - 1) for at in range(len(text))]
            out = out + arb_mat(rows) * x * matrix(layers.value[0, which]) * matrix(layers.output[0, which])
        return pattern(1, head, out, len(text) - 1)[place]


@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([0.1, 0.5, 0.9, 1.2]),
    kind=st.sampled_from([(4, 2), (5, 2), (5, 3), (6, 2), (6, 4)]),
    heads=st.integers(1, 3),
)
@settings(max_examples=25, deadline=None)
def test_the_bound_is_below_the_least_of_all_texts_in_exact_arithmetic(
    seed: int, size: float, kind: tuple[int, int], heads: int
) -> None:
    layers, (length, at) = tiny(seed, size, heads), kind
    named = Named(length, at, 0, 1, 1 if at == length - 2 else 2)
    bounds = Bounds(layers, 0, length)
    floor = bounds.floor(named)
    assert all(bool(exactly(layers, 0, text, at) >= arb(floor.least)) for text in texts(layers, named))


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_what_rounding_does_is_well_below_the_slack(heads: int) -> None:
    """Where every token is named nothing but rounding separates the bound from the truth."""
    for seed in range(6):
        layers, named = tiny(seed, 0.5, heads), Named(5, 2, 0, 1, 2)
        bounds = Bounds(layers, 0, 5)
        floor, truth = bounds.floor(named).least, exactly(layers, 0, texts(layers, named)[0], 2)
        odds = float((truth / (1 - truth)).log() - (arb(floor) / (1 - arb(floor))).log())
        rounding = odds - bounds.slack  # the last steps of the chain lose up to 2^-38 more
        assert abs(rounding) < bounds.slack / 20 + 1e-11


def test_where_every_token_is_named_the_bound_is_the_weight_itself() -> None:
    for seed in range(20):
        layers = tiny(seed, 0.6)
        for named in (Named(4, 2, 0, 1, 1), Named(5, 2, 0, 1, 2)):
            truth = weight(layers, 0, texts(layers, named)[0], 2)
            assert Bounds(layers, 0, named.length).floor(named).least == pytest.approx(truth, rel=1e-6)


def test_the_built_in_model_keeps_a_repeated_pair_and_its_worst_text_keeps_more() -> None:
    model = load_model("builtin:induction")
    a, b = (int(token) for token in model.encode("th")[1:])
    found = repeated_pair(model, 6, (a, b), heads=[0], places=[2])[0]
    assert found.before == 46
    assert 0 < found.least.bound <= found.least.run
    assert len(found.kept) > 20
    assert [int(token) for token in found.least.text[[1, 2, 5]]] == [a, b, a]
    rng = np.random.default_rng(0)
    for _ in range(50):
        free = rng.choice([token for token in model.ordinary() if token != a], 2)
        text = np.array([0, a, b, *free, a])
        layer = list(model.run(text))[1]
        scores = layer.keys[0] @ layer.queries[0, -1] * layer.scoring.scale
        pattern = np.exp(scores - scores.max())
        assert found.least.bound <= pattern[2] / pattern.sum()


def test_bad_pairs_have_their_sentence() -> None:
    model = load_model("builtin:induction")
    for given_, sentence in (
        ({"pair": (1, 1)}, "two different"), ({"pair": (0, 1)}, "may hold"), ({"places": [1]}, "expected 2 to 6"),
        ({"heads": [2]}, "expected 0 to 1"), ({"before": [1]}, "another"), ({"length": 3}, "expected 4 to 256"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=sentence):
            repeated_pair(model, **({"length": 8, "pair": (1, 2)} | given_))  # type: ignore[arg-type]


def test_other_models_are_refused() -> None:
    class Other:
        name = "other"

    with pytest.raises(InputError, match="two attention layers"):
        two_layers(Other())  # type: ignore[arg-type]
