"""The Heads view: rules to weights, in a real browser and behind it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from headwright.errors import InputError
from headwright.lab import STATIC
from headwright.lab.views.heads import HeadsRequest, heads
from tests.lab.browser import View

EXAMPLES = Path(__file__).parents[2] / "examples" / "heads"
PRESETS = {path.stem: path.read_text() for path in (STATIC / "rules").glob("*.toml")}


def test_the_presets_are_the_examples() -> None:
    assert {path.stem: path.read_text() for path in EXAMPLES.glob("*.toml")} == PRESETS


def test_rules_with_layers_are_left_to_the_command_line() -> None:
    layer = "[[layer]]\n[[layer.rule]]\ntoken = 0\ncopy = 1\n"
    with pytest.raises(InputError, match=r"^rules with layers"):
        heads(HeadsRequest(rules="tokens = [[1.0, 0.0], [0.0, 1.0]]\n" + 2 * layer))


def test_rules_that_are_nested_too_deeply_are_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match=r"^rules: is nested too deeply"):
        heads(HeadsRequest(rules="tokens = " + 9000 * "["))


def test_rules_are_chosen_and_the_weights_are_downloaded(
    view: View, tmp_path: Path
) -> None:
    page = view.enter("/heads")
    page.get_by_role("button", name="Previous token").click()
    view.settled()
    expect(page.locator("#field-rules")).to_have_value(PRESETS["previous"])
    expect(page.locator("#verdict .badge")).to_have_text("Designed.")
    with page.expect_download() as taken:
        page.locator("#away").get_by_role("button", name="torch").click()
    taken.value.save_as(tmp_path / "weights.zip")
    assert sorted(zipfile.ZipFile(tmp_path / "weights.zip").namelist()) == [
        "README.md",
        "torch.safetensors",
    ]


def test_an_impossible_targets_is_said_to_be_so_and_undone(view: View) -> None:
    page = view.enter("/heads")
    view.settled()
    expect(page.locator("#verdict .badge")).to_have_text("Designed.")
    expect(page.locator("#sizes tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Impossible").click()
    view.settled()
    expect(page.locator("#verdict .badge")).to_have_text("Impossible.")
    expect(page.locator("#verdict")).to_contain_text(
        "0.5 of token 0 (a) and 0.5 of token 1 (b)"
    )
    expect(page.locator("#geometry line.pull")).to_have_count(2)
    expect(page.locator("#away")).to_be_hidden()
    page.get_by_role("button", name="Undo").click()
    view.settled()
    expect(page.locator("#verdict .badge")).to_have_text("Designed.")


def test_rules_that_cannot_be_read_are_complained_about_beside_them(view: View) -> None:
    page = view.enter("/heads")
    view.settled()
    page.locator("#field-rules").fill("tokens = [")
    expect(page.locator("#error-rules")).to_contain_text("is not TOML")
    assert [
        said for said in view.said if "422" not in said
    ] == []  # the browser itself reports the refusal
    view.said.clear()
