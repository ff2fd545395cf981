"""Statements about tiny layers against all of their texts: what is true is accepted, what is a hair more is not."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from headwright.text_bounds.checker import (
    DoubtError,
    check_statement,
    max_scores,
    verify,
)
from headwright.text_bounds.checker.question import question_of
from headwright.text_bounds.first_layer import FirstLayer, Projection, VectorNorm
from headwright.text_bounds.statement import (
    FirstLayerStatement,
    held_by,
    tokens_digest,
    weights_digest,
)

LENGTH, HAIR = 4, 1e-9


@pytest.fixture(params=["at once", "in parts"], autouse=True)
def parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large vocabularies and long texts are cut, and many rows are looked at in every way: here, small ones are."""
    if request.param == "in parts":
        for name, size in (("BLOCK", 1), ("TABLE", 9), ("KEPT", 0)):
            monkeypatch.setattr(verify, name, size)
        monkeypatch.setattr(max_scores, "CHUNK", 2)


def tiny(kind: str, seed: int) -> FirstLayer:
    """Four tokens that a text may hold, and one that is held first where the layer has one."""
    rng = np.random.default_rng(seed)
    more: dict[str, object] = {}
    if kind == "rotary":
        more = {
            "angles": np.array([0.7]),
            "norm": VectorNorm("rms", rng.standard_normal(3), eps=1e-3),
        }
    if kind == "placed":
        more = {
            "places": rng.standard_normal((6, 3)),
            "norm": VectorNorm("layer", np.ones(3), rng.standard_normal(3), 1e-3),
        }
    if kind == "both ways":
        more = {"causal": False, "closing": (4,), "always": rng.standard_normal(3)}
    if kind == "windowed":
        more = {"window": 3, "angles": np.array([0.3])}
    tokens = np.array([11, 12, 13, 14, 4])
    opening = () if kind == "placed" else (4,)
    one, two = (
        tuple(Projection(rng.standard_normal((3, 2))) for _ in range(2))
        for _ in range(2)
    )
    return FirstLayer(
        tokens,
        rng.standard_normal((5, 3)),
        one,
        two,
        0.7,
        only_held=1,
        opening=opening,
        **more,  # type: ignore[arg-type]
    )


def scores(
    layer: FirstLayer, head: int, text: tuple[int, ...], place: int
) -> dict[int, float]:
    """By place, as the definition has them."""
    index = [layer.tokens.tolist().index(token) for token in text]
    x = layer.embedding[index].copy()
    if layer.always is not None:
        x += layer.always
    if layer.places is not None:
        x += layer.places[: len(text)]
    if layer.norm is not None:
        x = x - x.mean(1, keepdims=True) if layer.norm.kind == "layer" else x
        x = (
            x
            / np.sqrt((x**2).mean(1, keepdims=True) + layer.norm.eps)
            * layer.norm.gain
        )
        x = x if layer.norm.bias is None else x + layer.norm.bias
    queries, keys = x @ layer.queries[head].weight, x @ layer.keys[head].weight
    if layer.angles is not None:
        turned = np.arange(len(text)) * layer.angles[0]
        spin = np.array(
            [[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]]
        ).transpose(2, 0, 1)
        queries, keys = (
            np.einsum("tij,tj->ti", spin, each) for each in (queries, keys)
        )
    seen = [
        at
        for at in range(len(text))
        if (not layer.causal or at <= place)
        and (layer.window is None or abs(at - place) < layer.window)
    ]
    return {at: float(queries[place] @ keys[at]) * layer.scale for at in seen}


def weight_on(
    layer: FirstLayer, head: int, text: tuple[int, ...], place: int, places: set[int]
) -> float:
    terms = {
        at: np.exp(score) for at, score in scores(layer, head, text, place).items()
    }
    return float(
        sum(term for at, term in terms.items() if at in places) / sum(terms.values())
    )


def all_texts(layer: FirstLayer) -> list[tuple[int, ...]]:
    held = held_by(layer, LENGTH)
    return list(
        itertools.product(
            *([held[at]] if at in held else [11, 12, 13, 14] for at in range(LENGTH))
        )
    )


def stated(layer: FirstLayer, **about: object) -> FirstLayerStatement:
    place = LENGTH - 1 - len(layer.closing)
    common = FirstLayerStatement(
        "a-model",
        weights_digest(layer),
        1,
        LENGTH,
        place,
        held_by(layer, LENGTH),
        tokens_digest(layer),
        4,
        (),
        None,
        (),
        "least",
        "0",
    )
    return replace(common, **about)  # type: ignore[arg-type]


def sharp(layer: FirstLayer, statement: FirstLayerStatement, truth: float) -> None:
    """Accepted a hair on the safe side of the truth, and not on the other."""
    safe, more = (
        truth * (1 + side * HAIR)
        for side in ((-1, 1) if statement.extreme == "least" else (1, -1))
    )
    check_statement(replace(statement, bound=f"{safe:.17e}"), layer)
    with pytest.raises(DoubtError, match="may be"):
        check_statement(replace(statement, bound=f"{more:.17e}"), layer)


KINDS = pytest.mark.parametrize(
    "kind", ["plain", "rotary", "placed", "both ways", "windowed"]
)
SIDES = pytest.mark.parametrize("extreme", ["least", "most"])


@KINDS
@SIDES
@pytest.mark.parametrize("query", [None, 13])
def test_places(kind: str, extreme: str, query: int | None) -> None:
    layer = tiny(kind, 3)
    statement = stated(
        layer, extreme=extreme, query=query, places=(LENGTH - 2 - len(layer.closing),)
    )
    texts = [
        text for text in all_texts(layer) if query in (None, text[statement.place])
    ]
    found = [
        weight_on(layer, 1, text, statement.place, set(statement.places))
        for text in texts
    ]
    sharp(layer, statement, min(found) if extreme == "least" else max(found))


@KINDS
def test_two_places_together(kind: str) -> None:
    layer = tiny(kind, 4)
    place = LENGTH - 1 - len(layer.closing)
    statement = stated(layer, places=(place - 1, place))
    sharp(
        layer,
        statement,
        min(
            weight_on(layer, 1, text, place, {place - 1, place})
            for text in all_texts(layer)
        ),
    )


@KINDS
@SIDES
def test_pairs(kind: str, extreme: str) -> None:
    layer, pairs = tiny(kind, 5), ((11, 12), (13, 13), (14, 11))
    place = LENGTH - 1 - len(layer.closing)
    statement = stated(layer, extreme=extreme, places=(place - 1,), pairs=pairs)
    texts = [
        text for text in all_texts(layer) if (text[place], text[place - 1]) in pairs
    ]
    found = [weight_on(layer, 1, text, place, {place - 1}) for text in texts]
    sharp(layer, statement, min(found) if extreme == "least" else max(found))


@KINDS
@SIDES
@pytest.mark.parametrize("query", [None, 12, 14])
def test_occurrences_of_a_token(kind: str, extreme: str, query: int | None) -> None:
    layer = tiny(kind, 6)
    statement, found = stated(layer, extreme=extreme, query=query, token=12), []
    for text in all_texts(layer):
        seen = scores(layer, 1, text, statement.place)
        places = {at for at in seen if at not in statement.held and text[at] == 12}
        if places and query in (None, text[statement.place]):
            found.append(weight_on(layer, 1, text, statement.place, places))
    sharp(layer, statement, min(found) if extreme == "least" else max(found))


@SIDES
def test_each_score_is_rounded_to_the_side_of_its_sum(extreme: str) -> None:
    """Of occurrences: the part is rounded to the side of the extreme, and the rest, held places too, to the other."""
    layer = tiny("rotary", 6)
    statement = stated(layer, extreme=extreme, token=12)
    question = question_of(statement, layer)
    part_high = extreme == "most"
    held = [request for request in question.requests if request.place == 0]
    free = [request for request in question.requests if request.place in (1, 2)]
    own = [request for request in question.requests if request.place == 3]
    assert [request.high for request in held] == [not part_high]
    assert [request.high for request in own] == [part_high, not part_high]
    with_token = [request for request in free if request.key is not None]
    assert [request.high for request in with_token] == [part_high, part_high]
    without_token = [request for request in free if request.key is None]
    assert all(request.high for request in without_token)


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"token": 4}, "token 4 is not one"),
        ({"token": 12, "places": (2,)}, "about places and about occurrences"),
        ({"token": 12, "pairs": ((11, 12),)}, "occurrences and about pairs"),
        (
            {"token": 12, "length": 1, "place": 0},
            "place to see from|held|no other place|no place",
        ),
    ],
)
def test_a_statement_about_nothing_that_can_be_asked_is_rejected(
    about: dict[str, object], reason: str
) -> None:
    layer = tiny("rotary", 8)
    with pytest.raises(DoubtError, match=reason):
        check_statement(stated(layer, **about), layer)


def test_rejects_every_statement_about_weights_that_are_next_to_nothing_or_beyond_float64() -> (
    None
):
    layer = tiny("plain", 9)
    for size in (1e200, 1e300):
        large = replace(layer, embedding=layer.embedding * size)
        with pytest.raises(DoubtError, match="too large"):
            check_statement(stated(large, places=(2,)), large)
    normed = replace(
        tiny("rotary", 9),
        embedding=layer.embedding * 1e-200,
        norm=VectorNorm("rms", np.ones(3)),
    )
    with pytest.raises(DoubtError, match="next to nothing"):
        check_statement(stated(normed, places=(2,)), normed)


def test_many_rows_that_float32_leaves_open_are_decided_in_float64() -> None:
    """All tokens are alike, so that each of four places gets exactly 1/4, whatever the query token is."""
    layer = tiny("plain", 3)
    alike = np.broadcast_to(layer.embedding[:1], layer.embedding.shape)
    layer = replace(layer, embedding=np.ascontiguousarray(alike))
    sharp(layer, stated(layer, places=(2,)), 1 / 4)


def test_ties_and_equal_scores_everywhere_are_accepted() -> None:
    layer = tiny("plain", 10)
    flat = replace(layer, embedding=np.zeros_like(layer.embedding))
    for extreme, bound in (("least", "0.24999999999"), ("most", "0.25000000001")):
        check_statement(stated(flat, places=(2,), bound=bound, extreme=extreme), flat)
    for extreme, bound in (("least", "0.25000000001"), ("most", "0.24999999999")):
        with pytest.raises(DoubtError):
            check_statement(
                stated(flat, places=(2,), bound=bound, extreme=extreme), flat
            )


@pytest.mark.parametrize("scale", [1e200, 1e308])
@SIDES
def test_scores_beyond_all_numbers_prove_nothing(scale: float, extreme: str) -> None:
    layer = tiny("plain", 11)
    ones = (Projection(np.ones((3, 2))),) * 2  # every score is above all numbers
    steep = replace(
        layer,
        scale=scale,
        embedding=np.abs(layer.embedding) * 1e3,
        queries=ones,
        keys=ones,
    )
    for places in ((2,), (3,), (1, 2), (0, 1, 2, 3)):
        with pytest.raises(DoubtError, match="may be"):
            check_statement(
                stated(steep, places=places, bound="0.5", extreme=extreme), steep
            )
        with pytest.raises(DoubtError, match="may be"):
            check_statement(
                stated(steep, token=12, bound="0.5", extreme=extreme), steep
            )


def test_what_every_weight_is_needs_no_scores() -> None:
    layer = tiny("windowed", 12)
    alone = replace(layer, window=1)
    for steep in (alone, replace(layer, scale=1e150)):
        check_statement(stated(steep, places=(3,), bound="1", extreme="most"), steep)
        check_statement(stated(steep, places=(3,), bound="0"), steep)


@KINDS
@SIDES
def test_seen_from_a_place_before_the_last(kind: str, extreme: str) -> None:
    layer, place = tiny(kind, 13), LENGTH - 2 - len(tiny(kind, 13).closing)
    on_places, on_token = [], []
    for text in all_texts(layer):
        seen = scores(layer, 1, text, place)
        places = {
            at for at in seen if at not in held_by(layer, LENGTH) and text[at] == 14
        }
        on_places.append(weight_on(layer, 1, text, place, {place}))
        on_token += [weight_on(layer, 1, text, place, places)] if places else []
    best = min if extreme == "least" else max
    sharp(
        layer,
        stated(layer, place=place, extreme=extreme, places=(place,)),
        best(on_places),
    )
    if (
        len(set(range(place + 1)) - set(held_by(layer, LENGTH))) > 1
    ):  # another place than the query's own
        sharp(
            layer, stated(layer, place=place, extreme=extreme, token=14), best(on_token)
        )
