"""What rounding does to the vectors of a first layer is bounded: balls in 200 bits lie within the errors."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.text_bounds.first_layer import FirstLayer, Projection, VectorNorm
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.heads import TokenVectors
from headwright.text_bounds.search.sweep import sweep
from headwright.text_bounds.search.texts import texts_of

V, WIDTH, D, PLACES = 5, 6, 4, 3


def layer(
    seed: int, *, norm: str | None, places: bool, angles: bool, inner: bool
) -> FirstLayer:
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32).astype(np.float64)

    def projection() -> Projection:
        return Projection(
            numbers(WIDTH, D),
            numbers(D),
            VectorNorm("rms", numbers(D), eps=1e-6) if inner else None,
        )

    return FirstLayer(
        np.arange(V),
        numbers(V, WIDTH) * 100,
        (projection(), projection()),
        (projection(),),
        D**-0.5,
        norm=None
        if norm is None
        else VectorNorm(norm, numbers(WIDTH), numbers(WIDTH), 1e-5),  # type: ignore[arg-type]
        places=numbers(PLACES, WIDTH) if places else None,
        always=numbers(WIDTH) if places else None,
        angles=np.array([1.0, 0.01]) if angles else None,
    )


def exact(layer: FirstLayer, token: int, place: int, by: Projection) -> list[arb]:
    x = [arb(v) for v in layer.embedding[token].tolist()]
    if layer.always is not None and layer.places is not None:
        x = [
            a + arb(b) + arb(c)
            for a, b, c in zip(
                x, layer.always.tolist(), layer.places[place].tolist(), strict=True
            )
        ]
    if layer.norm is not None:
        x = normed(x, layer.norm)
    found = [
        sum((a * arb(w) for a, w in zip(x, column, strict=True)), arb(0))
        for column in by.weight.T.tolist()
    ]
    if by.bias is not None:
        found = [a + arb(b) for a, b in zip(found, by.bias.tolist(), strict=True)]
    return found if by.norm is None else normed(found, by.norm)


def normed(x: list[arb], norm: VectorNorm) -> list[arb]:
    if norm.kind == "layer":
        mean = sum(x, arb(0)) / len(x)
        x = [a - mean for a in x]
    size = (sum((a * a for a in x), arb(0)) / len(x) + arb(norm.eps)).sqrt()
    bias = [0.0] * len(x) if norm.bias is None else norm.bias.tolist()
    return [
        a / size * arb(g) + arb(b)
        for a, g, b in zip(x, norm.gain.tolist(), bias, strict=True)
    ]


def off(found: TokenVectors, token: int, truth: list[arb]) -> float:
    gaps = [arb(a) - b for a, b in zip(found.rows[token].tolist(), truth, strict=True)]
    return float(sum((g * g for g in gaps), arb(0)).sqrt().upper())


@given(
    st.integers(0, 10**6),
    st.sampled_from([None, "rms", "layer"]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=40)
def test_vectors_are_within_their_error(
    seed: int, norm: str | None, places: bool, inner: bool
) -> None:
    given_layer = layer(seed, norm=norm, places=places, angles=not places, inner=inner)
    head = head_of(given_layer, 1)
    with ctx.workprec(200):
        for token in range(V):
            key = exact(given_layer, token, 2, given_layer.keys[0])
            assert off(head.keys(2), token, key) <= head.keys(2).error
            query = [
                q * arb(given_layer.scale)
                for q in exact(given_layer, token, 2, given_layer.queries[1])
            ]
            assert off(head.queries(2, 2), token, query) <= head.queries(2, 2).error
            if given_layer.angles is not None:
                turned = [arb(0)] * D
                for pair, angle in enumerate(given_layer.angles.tolist()):
                    sin, cos = (arb(angle) * 4001).sin_cos()
                    a, b = query[pair], query[pair + D // 2]
                    turned[pair], turned[pair + D // 2] = (
                        a * cos - b * sin,
                        a * sin + b * cos,
                    )
                assert (
                    off(head.queries(4003, 2), token, turned)
                    <= head.queries(4003, 2).error
                )
    assert head.keys(2).error < 1e-11


def test_heads_share_keys_in_groups() -> None:
    given_layer = layer(0, norm=None, places=False, angles=False, inner=False)
    assert np.array_equal(
        head_of(given_layer, 0).keys(0).rows, head_of(given_layer, 1).keys(0).rows
    )


def test_refuses_a_head_that_is_not_there() -> None:
    with pytest.raises(InputError, match="expected 0 to 1"):
        head_of(layer(0, norm=None, places=False, angles=False, inner=False), 2)


def test_refuses_a_token_whose_vector_is_nothing() -> None:
    nothing = FirstLayer(
        np.arange(1),
        np.zeros((1, 2)),
        (Projection(np.eye(2)),),
        (Projection(np.eye(2)),),
        1.0,
        norm=VectorNorm("rms", np.ones(2)),
    )
    with pytest.raises(InputError, match="leave that token out"):
        head_of(nothing, 0)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_numbers_that_overflow_are_refused_rather_than_bounded() -> None:
    eye = np.eye(2)
    for embedding, scale in ((eye, 1e308), (eye * 1e160, 1.0)):
        layer = FirstLayer(
            np.arange(2),
            embedding * 10,
            (Projection(eye * 10),),
            (Projection(eye),),
            scale,
        )
        with pytest.raises(InputError, match="too large for float64"):
            sweep(head_of(layer, 0), texts_of(layer, 3), {"previous": [1]})
