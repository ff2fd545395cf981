"""Noise and Order in the tab: pictures at once, and proofs when Python is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, expect

import headwright as hw
from headwright.errors import InputError
from headwright.page.noise import simulate
from headwright.page.proposal import design
from headwright.simulation import exact
from headwright.uncertainty import Noise, Normal, Uncertainty
from tests.page.served import PATIENCE, Opened

SOURCE = Path(__file__).parents[2] / "src" / "headwright"
EYE = np.eye(5)
RANDOM = {"key": 0, "scale": {"normal": [1.0, 0.5]}}
ASKED: dict[str, Any] = {
    "keys": EYE.tolist(),
    "queries": [[3.0, 3.0, 0.0, 0.0, 0.0]],
    "uncertainty": [RANDOM],
    "targets": [0, 1],
    "tolerance": "0.05",
    "samples": 10,
    "near": 1,
}


@given(
    length=st.floats(0.1, 200),
    variance=st.floats(1e-3, 4),
    tolerance=st.sampled_from(["0.05", "0.001", "0.4"]),
    heads=st.integers(1, 2),
)
@settings(max_examples=25, deadline=None)
def test_the_probability_in_the_tab_is_that_of_simulate(
    length: float, variance: float, tolerance: str, heads: int
) -> None:
    rows = length * EYE[:2]
    queries = rows if heads == 2 else rows.sum(axis=0, keepdims=True)
    found = simulate(
        {
            **ASKED,
            "queries": queries.tolist(),
            "uncertainty": [{"key": 0, "scale": {"normal": [1.0, variance]}}],
            "tolerance": tolerance,
        }
    )["near_average"]["exact_enclosure"]
    uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, variance))})
    peer = exact(EYE, queries, uncertainty, [0, 1], tolerance=float(tolerance))
    assert max(found[0], peer.near_average.lower) <= min(
        found[1], peer.near_average.upper
    )
    assert found[1] - found[0] < 1e-12


def test_what_more_than_one_random_length_decides_is_not_proved() -> None:
    for noise in (
        [RANDOM, {"key": "*", "isotropic": 0.1}],
        [{**RANDOM, "isotropic": 0.1}],
    ):
        found = simulate({**ASKED, "uncertainty": noise})["near_average"]
        assert found["exact_enclosure"] is None
        assert "uncertain" in found["why_not_exact"]
        assert found["interval"][0] < 0.1 < found["interval"][1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"keys": [[1.0]] * 61}, "up to 60 keys"),
        ({"queries": [[1.0]]}, "rows of one length"),
        ({"targets": [5]}, "targets: expected keys"),
        ({"uncertainty": [{"key": 9, "scale": {"normal": [1, 1]}}]}, "expected a key"),
        ({"near": 11}, "11 successes in 10"),
        ({"queries": [["1"] * 5]}, "is not a number"),
    ],
)
def test_a_question_about_noise_that_cannot_be_read_is_refused(
    change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        simulate({**ASKED, **change})


@pytest.mark.parametrize(
    "length", [0.0, 2.0, 2.6]
)  # of the other keys' scores, of which 2.602... is enough
def test_a_design_for_a_length_between_two_is_proved_for_all_of_them_or_for_none(
    length: float,
) -> None:
    between = {"key": 0, "scale": {"between": [-1.8, 3.8]}}
    query = [0.0, 0.0, -length, -length, -length]
    asked = {
        "keys": EYE.tolist(),
        "at_least": {"0": "0.45", "1": "0.45"},
        "uncertainty": [between],
        "proposal": {"query": query, "multipliers": [1, 1]},
    }
    assert design(asked)["verdict"] == "undecided"
    enough = [0.0, 0.0, -2.6027, -2.6027, -2.6027]
    found = design({**asked, "proposal": {"query": enough, "multipliers": [1, 1]}})
    assert found["verdict"] == "designed"
    assert not found["norm_lower_bound"]  # it is not claimed that none is shorter
    assert "key 0 is scaled by any from -1.8 to 3.8" in found["words"]
    assert hw.verify(found["certificate"], checker="both").word == "verified"
    # What holds for a certain key 0 is not said of an uncertain one.
    direct = [9.0, 9.0, 0.0, 0.0, 0.0]
    asked["proposal"] = {"query": direct, "multipliers": [1, 1]}
    assert design({**asked, "uncertainty": []})["verdict"] == "designed"
    assert design(asked)["verdict"] == "undecided"


@pytest.mark.parametrize(
    "noise",
    [
        [{"key": 0, "scale": {"normal": [1, 1]}}],
        [{"key": 0, "ball": 0.1}],
        [{"key": 7, "scale": {"between": [0, 1]}}],
        [{"key": 0, "scale": {"between": [2, 1]}}],
        [{"key": 0, "scale": {"between": [1, 2]}}] * 2,
    ],
)
def test_an_uncertainty_that_the_tab_does_not_know_is_refused(
    noise: list[dict[str, Any]],
) -> None:
    asked = {"keys": [[1.0], [-1.0]], "copy": 0, "uncertainty": noise}
    with pytest.raises(InputError):
        design({**asked, "proposal": {"query": [9.0], "multipliers": [1]}})


def test_the_layer_of_the_page_commutes_with_permutations_without_positions(
    tmp_path: Path,
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("NO NODE HERE: the page's layer is not tested")
    shutil.copytree(SOURCE / "lab" / "static" / "common", tmp_path / "common")
    shutil.copy(SOURCE / "page" / "static" / "layer.js", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    program = """
import { compareOrders } from "./layer.js";
const asked = { tokens: ["a", "b", "__proto__", "a"], order: [2, 0, 3, 1], dim: 6, seed: 3 };
const found = [];
for (const scheme of ["sinusoidal", "rotary", "alibi"]) for (const causal of [false, true]) {
  const answer = compareOrders({ ...asked, scheme, causal });
  found.push([causal, answer.without.relative, answer.with.relative]);
}
console.log(JSON.stringify(found));
"""
    (tmp_path / "run.js").write_text(program)
    ran = subprocess.run(
        [node, tmp_path / "run.js"], capture_output=True, text=True, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    for causal, without, positioned in json.loads(ran.stdout):
        assert (without < 1e-12) == (not causal)
        assert positioned > 1e-6


def test_noise_is_drawn_at_once_and_proved_when_python_is_there(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    context.route("**/python/modules.zip", lambda _: None)  # never answered
    page = context.new_page()
    page.goto(f"{address}noise.html")
    known = page.locator("#one .note").first
    expect(known).to_contain_text("Not proved yet. Sampled:")
    expect(page.locator("#one svg circle").first).to_be_visible()
    expect(page.locator("#loading")).to_be_visible()
    page.close()
    context.unroute_all()
    opened = Opened(context, address, "noise.html")
    page = opened.page
    known = page.locator("#one .note").first
    expect(known).to_contain_text("Proved: between 0.03127 and", timeout=PATIENCE)
    robust = page.locator("#robust .story")
    expect(robust).to_contain_text("Proved: for every factor", timeout=PATIENCE)
    page.get_by_role("button", name="All keys random").click()
    expect(known).to_contain_text("Not proved: several keys", timeout=PATIENCE)
    assert opened.said == []
    context.close()


def test_order_is_computed_at_once_and_its_theorem_proved_in_the_tab(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    opened = Opened(context, address, "order.html")
    page = opened.page
    expect(page.locator("#without .headline")).to_contain_text("Equal")
    expect(page.locator("#with .headline")).to_contain_text("Different")
    badge = page.locator("#theorem .badge")
    expect(badge).to_have_text("proved", timeout=PATIENCE)
    page.get_by_role("button", name="Causal mask").click()
    expect(page.locator("#without .headline")).to_contain_text("Different")
    expect(page.locator("#places")).to_be_hidden()
    assert opened.said == []
    context.close()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("path", ["design.html", "noise.html", "order.html"])
def test_nothing_is_wider_than_the_screen_and_axe_finds_nothing(
    browser: Browser, address: str, path: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    context.route("**/python/**", lambda _: None)  # before there is a proof
    page = context.new_page()
    page.goto(address + path)
    page.wait_for_selector("html[data-ready=yes]")
    expect(page.locator(".panel svg, figure svg").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert found.violations_count == 0, found.generate_report()
    context.close()
