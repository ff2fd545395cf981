"""Weights over tokens and images, and heads over time: what is drawn is what was given."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.pictures import (
    heads_over_time,
    image_picture,
    render,
    token_picture,
    told,
)
from headwright.pictures.tokens import collapse_tokens

RANDOM = np.random.default_rng(0)


def test_a_collapsed_text_keeps_every_token_and_its_weight_once() -> None:
    weights = RANDOM.dirichlet([0.05] * 300)
    names = [f" word{number}" for number in range(300)]
    spans = {"A": (10, 140), "B": (140, 200)}
    boxes = collapse_tokens(weights, names, spans, 0, 20)
    assert [box.start for box in boxes] == [0, *(box.stop for box in boxes[:-1])]
    assert boxes[-1].stop == 300
    assert sum(box.weight for box in boxes) == pytest.approx(1.0)
    alone = {box.start for box in boxes if not box.is_collapsed}
    assert set(np.argsort(-weights)[:20].tolist()) | {0} <= alone
    for box in boxes:
        assert len(boxes) < 150
        for name, (start, stop) in spans.items():
            inside = start <= box.start and box.stop <= stop
            assert inside == (box.span == name)


def test_each_token_says_its_weight_in_html_and_nothing_is_markup() -> None:
    tokens = ["<s>", " <b>bold</b>", "Ġplain", "\n", "x" * 100]
    weights = np.array([0.6, 0.2, 0.1, 0.06, 0.04])
    picture = token_picture(weights, tokens, title="a < b")
    content = picture._repr_mimebundle_()["text/html"]
    assert [float(n) for n in re.findall(r'title="token \d: ([0-9.]+)"', content)] == [
        0.6,
        0.2,
        0.1,
        0.06,
        0.04,
    ]
    assert "<b>bold" not in content
    assert "a &lt; b" in content
    assert "x" * 30 not in content
    drawing = render(picture, ".svg").decode()
    assert "&lt;b&gt;bold" in drawing
    assert told(picture).startswith("5 tokens; the first token has 0.600.")
    assert render(picture, ".png")[1:4] == b"PNG"


def test_patches_lie_row_by_row_over_the_image() -> None:
    weights = np.array([0.0, 0.1, 0.2, 0.3, 0.0, 0.0])
    image = np.zeros((20, 30, 3), dtype=np.uint8)
    for picture in (
        image_picture(weights, (2, 3)),
        image_picture(weights, (2, 3), image=image),
    ):
        assert "Most: row 1, column 0 0.300; row 0, column 2 0.200" in told(picture)
        assert render(picture, ".png")[1:4] == b"PNG"
        drawn = json.dumps(picture.to_dict())
        cell = '"row": 1, "row2": 2, "column": 0, "column2": 1, "weight": 0.3'
        assert drawn.count(cell) == 1


def test_all_heads_over_time_with_numbers_that_are_not_finite() -> None:
    table = {
        "step": [1, 1, 2, 2],
        "layer": [0, 10, 0, 10],
        "head": [3, 0, 3, 0],
        "entropy": [1.0, 2.0, np.nan, 0.5],
    }
    picture = heads_over_time(table, "entropy")
    said = "entropy of 2 heads at 2 steps, from 1 to 2. At the end the largest is 0.5 of head 10.0"
    assert told(picture).startswith(said)
    content = picture.to_dict()
    assert content["title"]["subtitle"] == ["light: 0.5, dark: 2; not finite: 1"]
    assert content["layer"][0]["encoding"]["y"]["sort"] == ["0.3", "10.0"]
    assert render(picture, ".svg").startswith(b"<svg")


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputError, match="2 tokens and 3 weights"):
        token_picture(np.ones(3), ["a", "b"])
    with pytest.raises(InputError, match="is it a row of padding"):
        token_picture(np.array([np.nan]), ["a"])
    with pytest.raises(InputError, match="those of one row"):
        token_picture(np.ones((2, 3)), ["a", "b"])
    with pytest.raises(InputError, match="5 weights on a grid of 2 by 3"):
        image_picture(np.ones(5), (2, 3))
    with pytest.raises(InputError, match=r"shape \(4, 4\)"):
        image_picture(np.ones(4), (2, 2), image=np.ones((4, 4)))
    with pytest.raises(InputError, match="the table has no entropy"):
        heads_over_time({"step": [], "layer": [], "head": []}, "entropy")
