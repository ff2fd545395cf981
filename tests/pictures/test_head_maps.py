"""Maps of layers and heads."""

from __future__ import annotations

from xml.etree import ElementTree

from headwright.pictures.head_maps import head_map


def _cells(text: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(text).iter("g"))


def test_the_more_the_darker_and_each_cell_says_its_number() -> None:
    cells = _cells(head_map([[0.0, 0.5], [1.0, None]], [0, 1], [0, 1], "first"))
    opaque = [g.find("rect").get("fill-opacity") for g in cells]  # type: ignore[union-attr]
    assert opaque == ["0.000", "0.500", "1.000", None]
    assert [g.findtext("title") for g in cells] == [
        "head 0.0: 0.00",
        "head 0.1: 0.50",
        "head 1.0: 1.00",
        "head 1.1: no number",
    ]


def test_what_is_more_than_the_most_has_the_full_colour() -> None:
    assert 'fill-opacity="1.000"' in head_map([[9.0]], [0], [0], "x", full_colour=3.0)
    assert 'fill-opacity="0.000"' in head_map([[-9.0]], [0], [0], "x", full_colour=3.0)
    assert 'fill-opacity="0.000"' in head_map([[0.0]], [0], [0], "x", full_colour=0.0)


def test_a_large_map_is_valid_and_has_no_numbers_in_its_cells() -> None:
    text = head_map([[0.1] * 12] * 30, range(30), range(12), "x < y")
    assert all(g.find("text") is None for g in _cells(text))
    assert "x &lt; y" in text
