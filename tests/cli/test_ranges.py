"""headwright ranges: words, exit codes, files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.running import run_here
from tests.value_ranges.small_models import small_model


@dataclass(frozen=True)
class Ran:
    code: int
    out: str


def run_command(*arguments: str) -> Ran:
    return Ran(*run_here(["ranges", *arguments]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    small_model("llama", dtype="bfloat16").save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large")
    model = small_model("llama")
    model.layers[1].self_attn.v_proj.weight.data *= 100
    model.save_pretrained(path)
    return path


def test_a_cache_that_never_clips_is_a_yes(folder: Path) -> None:
    ran = run_command(str(folder))
    assert ran.code == 0
    printed = " ".join(ran.out.split())  # a long name of a folder breaks the line
    assert "proved: an e4m3 cache at scale 1 never clips" in printed
    assert "computed in bfloat16" in printed


def test_what_is_not_known_is_three_and_scales_settle_it(
    large: Path, tmp_path: Path
) -> None:
    ran = run_command(str(large))
    assert ran.code == 3
    assert "undecided: an e4m3 cache at scale 1 may clip on some text" in ran.out
    scales = tmp_path / "scales.safetensors"
    ran = run_command(str(large), "--scales", str(scales), "--format", "modelopt")
    assert ran.code == 0
    assert "an e4m3 cache clips on no text" in ran.out
    assert scales.is_file()
    assert (tmp_path / "hf_quant_config.json").is_file()


def test_json_has_every_channel(folder: Path) -> None:
    ran = run_command(str(folder), "--json")
    assert ran.code == 0
    ranges = json.loads(ran.out)
    key = ranges["layers"][1]["keys"][0]
    assert len(key["after_rotation"]["channels"]) == 10
    assert max(key["after_rotation"]["channels"]) == key["after_rotation"]["largest"]
    assert {verdict["answer"] for verdict in ranges["verdicts"]} == {"proved"}


def test_a_picture(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "ranges.svg"
    assert run_command(str(folder), "--plot", str(picture)).code == 0
    assert "largest number" in picture.read_text()


def test_refusals(folder: Path, tmp_path: Path) -> None:
    for arguments, sentence in (
        (("builtin:induction",), "there is no norm before its attention"),
        ((str(folder), "--format", "vllm"), "expected --scales FILE with it"),
        ((str(folder), "--scales", "no/such/s.safetensors"), "there is no folder"),
        ((str(folder), "--scales", str(tmp_path / "s.json")), "ends with .safetensors"),
        ((str(folder), "--text", str(tmp_path / "no.txt")), "there is no such file"),
    ):
        ran = run_command(*arguments)
        assert ran.code == 2
        assert sentence in ran.out.replace("\n", " ")
