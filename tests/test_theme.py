"""One style: what is read stands out, in the light and in the dark; and no page has colours of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwright import theme

ROOT = Path(theme.__file__).parent
SHEETS = sorted(ROOT.rglob("*.css"))


def _luminance(colour: str) -> float:
    parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    red, green, blue = (
        x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", [theme.LIGHT, theme.DARK])
@pytest.mark.parametrize("name", theme.TEXT)
def test_what_is_read_stands_out(name: str, mode: int) -> None:
    for ground in ("paper", "card", "code"):
        assert _contrast(theme.colour(name, mode), theme.colour(ground, mode)) >= 4.5, (
            ground
        )


@pytest.mark.parametrize("mode", [theme.LIGHT, theme.DARK])
@pytest.mark.parametrize("name", ["key", "meet", "output", "target-deep", "accent"])
def test_what_is_drawn_stands_out(name: str, mode: int) -> None:
    assert _contrast(theme.colour(name, mode), theme.colour("card", mode)) >= 3


@pytest.mark.parametrize(
    "ground", ["#ffffff", "#111111", theme.colour("card", theme.DARK)]
)
@pytest.mark.parametrize("name", theme.EITHER)
def test_a_verdict_in_a_notebook_stands_out_on_light_and_on_dark(
    name: str, ground: str
) -> None:
    assert _contrast(theme.EITHER[name], ground) >= 3.3


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_a_sheet_uses_only_names_that_the_theme_has(sheet: Path) -> None:
    known = {*theme.COLOURS, *theme.OTHERS}
    text = sheet.read_text()
    given = set(
        re.findall(r"(?:^|[\s{;])--([\w-]+):", text)
    )  # by a rule, or by a script as --w and --weight are
    used = set(re.findall(r"var\(--([\w-]+)\)", text))
    assert used <= known | given
    assert not given & known, "a colour is said twice"
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=\s*[;,)}])", text) == [], (
        "a colour of its own"
    )


def test_no_module_has_a_colour_of_its_own() -> None:
    own = {
        path.name: found
        for path in [*ROOT.rglob("*.py"), *ROOT.rglob("*.js")]
        if path.name != "theme.py"
        and (found := re.findall(r"[\"':(]#[0-9a-fA-F]{6}\b", path.read_text()))
    }
    assert own == {}


def test_there_are_sheets() -> None:
    assert len(SHEETS) >= 3
