"""A witness or an instance that contradicts what was proved: an internal error, and nothing is printed as proved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from headwright.errors import ContradictionError
from headwright.models import load_model
from headwright.text_bounds.every_text import every_text
from tests.cli.running import Headwright
from tests.text_bounds.test_compare_with_model import LONG, SWITCH, changed, looks_back


@pytest.mark.parametrize("length", [12, SWITCH, SWITCH + 1, LONG])
def test_no_witness_contradicts_its_bound_where_frequencies_switch(
    length: int, tmp_path: Path, headwright: Headwright
) -> None:
    looks_back(tmp_path)
    path = tmp_path / "floor.json"
    about = ("every-text", str(tmp_path), "--length", str(length), "--heads", "0")
    ran = headwright(*about, "--json")
    assert ran.code == 0
    previous = ran.json["heads"][0]["places"][1]
    assert previous["least"]["bound"] <= previous["least"]["run"] + 1e-9
    assert (previous["least"]["bound"] > 0.5) == (length <= SWITCH)
    written = headwright(*about, "--out", str(path))
    assert written.code == 0
    verified = headwright("verify", str(path), "--model", str(tmp_path), "--json")
    assert (verified.code, verified.json["verdict"], verified.json["runs"]) == (
        0,
        "verified",
        5,
    )
    # With a cache, keys of the first places are turned by the frequencies of shorter texts: said, where these differ.
    at_once = [
        ran.json["heads"][0]["one_pass"],
        "in one forward pass over the whole text" in " ".join(written.out.split()),
        "in one forward pass over the whole text" in verified.json["words"],
    ]
    assert at_once == [length > SWITCH] * 3


def test_a_statement_about_one_length_is_not_one_about_another(
    tmp_path: Path, headwright: Headwright
) -> None:
    looks_back(tmp_path)
    path = tmp_path / "floor.json"
    headwright(
        "every-text",
        str(tmp_path),
        "--length",
        str(SWITCH),
        "--heads",
        "0",
        "--out",
        str(path),
    )
    document = json.loads(path.read_text())
    document["statement"] |= {
        "length": LONG,
        "place": LONG - 1,
        "places": [LONG - 2],
        "bound": "0.1",
    }
    path.write_text(json.dumps(document))
    ran = headwright("verify", str(path), "--model", str(tmp_path))
    assert ran.code == 1 and "other weights" in ran.out


def test_a_witness_that_contradicts_its_bound_is_an_error_and_nothing_is_printed(
    tmp_path: Path, headwright: Headwright
) -> None:
    looks_back(tmp_path)
    about = ("every-text", str(tmp_path), "--length", str(SWITCH))
    path = tmp_path / "floor.json"
    assert headwright(*about, "--out", str(path)).code == 0
    with changed(
        "Linear", lambda given: len(torch.unique(given[0], dim=0)) <= 3
    ):  # as no random text has
        with pytest.raises(
            ContradictionError,
            match=r"run in float64: at \w+ .* was proved, and an instance",
        ):
            every_text(load_model(tmp_path), SWITCH)
        for command in (
            about,
            (*about, "--json"),
            ("verify", str(path), "--model", str(tmp_path)),
        ):
            ran = headwright(*command)
            assert (ran.code, ran.out) == (4, "") and "nothing is claimed" in ran.err
