"""The commands as users run them: results, exit codes, sentences, pictures, and nothing half-written."""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from headwright.cli import EXIT_CODES, app
from tests.cli.running import Headwright

TYPER = typer.main.get_group(app)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a few good and bad files."""
    monkeypatch.chdir(tmp_path)
    np.save("K.npy", np.eye(4))
    np.save("q.npy", np.array([10.0, 10.0, 0.0, 0.0]))
    np.save("q1.npy", np.array([10.0, 0.0, 0.0, 0.0]))
    np.save("q2.npy", np.array([0.0, 10.0, 0.0, 0.0]))
    np.save("short.npy", np.ones(3))
    np.save("nan.npy", np.array([1.0, np.nan, 0.0, 0.0]))
    np.save("huge.npy", np.full(4, 1e308))
    np.save("A.npy", np.random.default_rng(0).normal(size=(9, 6)))
    np.save("zeros.npy", np.zeros((2, 3)))
    Path("K.txt").write_text("1")
    Path("pickle.npy").write_bytes(pickle.dumps(np.eye(2)))
    Path("scale.toml").write_text(
        "[[noise]]\nkey = 0\nscale = { normal = [1.0, 0.5] }\n"
    )
    Path("both.toml").write_text('[[noise]]\nkey = "*"\nisotropic = 1e-2\n')
    Path("far.toml").write_text("[[noise]]\nkey = 9\nisotropic = 1e-2\n")
    Path("bad.toml").write_text("[[noise]\n")


def test_attend_says_scores_pattern_and_output(headwright: Headwright) -> None:
    result = headwright(
        "attend", "--keys", "K.npy", "--query", "q.npy", "--query", "q1.npy", "--json"
    ).json
    assert result["scores"] == [[10, 10, 0, 0], [10, 0, 0, 0]]
    weight = math.exp(10) / (2 * math.exp(10) + 2)
    assert result["pattern"][0][:2] == pytest.approx([weight, weight])
    assert len(result["output"]) == 4


def test_attend_takes_values_and_scale(headwright: Headwright) -> None:
    np.save("V.npy", np.array([[1.0], [3.0], [0.0], [0.0]]))
    result = headwright(
        "attend",
        "--keys",
        "K.npy",
        "--query",
        "q.npy",
        "--values",
        "V.npy",
        "--scale",
        "100",
        "--json",
    ).json
    assert result["output"] == [2.0]


def test_attend_shows_a_table(headwright: Headwright) -> None:
    ran = headwright("attend", "--keys", "K.npy", "--query", "q.npy")
    assert "2.27e-05" in ran.out
    assert ran.code == 0


def test_simulate_has_the_exact_probability_inside_the_interval(
    headwright: Headwright,
) -> None:
    result = headwright(
        "simulate",
        "--keys",
        "K.npy",
        "--uncertainty",
        "scale.toml",
        "--query",
        "q1.npy",
        "--query",
        "q2.npy",
        "--targets",
        "0,1",
        "--samples",
        "20000",
        "--seed",
        "5",
        "--json",
    ).json
    near = result["near_average"]
    assert near["interval"][0] <= near["exact"] <= near["interval"][1]
    assert near["exact"] == pytest.approx(0.8284818901664960, abs=1e-15)
    assert [target["key"] for target in result["targets"]] == [0, 1]
    for target in result["targets"]:
        assert {"mean", "std", "quantiles"} <= target.keys()
        assert target["exact_mean"][0] <= target["exact_mean"][1]
    assert result["seed"] == 5


def test_simulate_says_why_there_is_no_exact_value(headwright: Headwright) -> None:
    ran = headwright(
        "simulate",
        "--keys",
        "K.npy",
        "--uncertainty",
        "both.toml",
        "--query",
        "q.npy",
        "--targets",
        "0,1",
    )
    assert "no exact value: 4 keys are uncertain" in ran.out
    assert "Seed 0" in ran.err


def test_positions_in_bfloat16_coincide(headwright: Headwright) -> None:
    result = headwright(
        "positions",
        "--scheme",
        "sinusoidal",
        "--length",
        "1024",
        "--dim",
        "32",
        "--index-dtype",
        "bfloat16",
        "--json",
    ).json
    # 0..256 are bfloat16 numbers; then every second one up to 512, then every fourth up to 1024.
    assert result["collisions"] == 1024 - 257 - 128 - 128
    assert result["first_pair"] == [256, 257]
    assert result["min_distance"] == 0
    assert result["min_difference"] == 1


def test_positions_are_apart_exactly(headwright: Headwright) -> None:
    result = headwright("positions", "--length", "1000", "--dim", "2", "--json").json
    # The nearest to a multiple of 2 pi below 1000 is 710 = 113 * 2 pi + 6e-5.
    assert result["min_difference"] == 710
    assert result["min_distance"] == pytest.approx(
        2 * math.sin(710 / 2 - 113 * math.pi), rel=1e-9
    )
    assert result["first_pair"] is None
    assert result["collisions"] == 0


def test_positions_of_a_table_that_overflow_are_counted_and_no_others(
    headwright: Headwright,
) -> None:
    np.save("T.npy", np.array([[1.0], [1e6], [5.0], [2.0], [-1e6], [7.0]]))
    ran = headwright(
        "positions", "--scheme", "learned", "--table", "T.npy", "--dtype", "float16"
    )
    assert "not finite: 2 of the positions, first 1" in ran.out
    assert " on the numbers" not in ran.out
    counted = headwright(
        "positions", "--dim", "4", "--length", "65600", "--index-dtype", "float16"
    )
    assert "from position 65520 on the numbers are not finite" in counted.out


def test_positions_of_every_scheme(headwright: Headwright) -> None:
    np.save("T.npy", np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]]))
    learned = headwright(
        "positions", "--scheme", "learned", "--table", "T.npy", "--json"
    ).json
    assert (learned["collisions"], learned["first_pair"]) == (1, [1, 2])
    assert (
        headwright(
            "positions", "--scheme", "rotary", "--length", "50", "--dim", "8", "--json"
        ).code
        == 0
    )
    alibi = headwright(
        "positions", "--scheme", "alibi", "--length", "50", "--dim", "1", "--json"
    ).json
    assert alibi["min_distance"] == pytest.approx(2**-8, rel=1e-15)


def test_lowrank_is_certified(headwright: Headwright) -> None:
    result = headwright("lowrank", "A.npy", "--rank", "2", "--json").json
    values = np.linalg.svd(np.load("A.npy"), compute_uv=False)
    assert result["rank"] == 2
    np.testing.assert_allclose(result["singular_values"], values)
    assert (
        values[2] * (1 - 1e-12) <= result["error_upper_bound"] <= values[2] * (1 + 1e-6)
    )
    assert result["guarantee"] == pytest.approx(
        np.linalg.norm(np.load("A.npy")) / math.sqrt(3)
    )
    assert result["frobenius"] == pytest.approx(np.linalg.norm(np.load("A.npy")))


def test_lowrank_to_a_tolerance(headwright: Headwright) -> None:
    values = np.linalg.svd(np.load("A.npy"), compute_uv=False)
    result = headwright(
        "lowrank", "A.npy", "--tolerance", str(values[3] * 1.01), "--json"
    ).json
    assert result["rank"] == 3
    assert "certified error" in headwright("lowrank", "A.npy", "--rank", "1").out


PLOTTED = "attend --keys K.npy --query q.npy --query q1.npy"


@pytest.mark.parametrize(
    ("command", "suffix"),
    [
        *((PLOTTED, suffix) for suffix in (".svg", ".png", ".html")),
        (
            "simulate --keys K.npy --uncertainty scale.toml --query q.npy --targets 0,1 --samples 50",
            ".svg",
        ),
        ("positions --length 300 --dim 8 --index-dtype bfloat16", ".png"),
        ("lowrank A.npy --rank 2", ".html"),
        ("lowrank zeros.npy --rank 1", ".svg"),
    ],
)
def test_every_picture_is_drawn(
    headwright: Headwright, command: str, suffix: str
) -> None:
    ran = headwright(*command.split(), "--plot", f"picture{suffix}")
    assert ran.code == 0, ran.err
    content = Path(f"picture{suffix}").read_bytes()
    begins = {".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!DOCTYPE html>"}[suffix]
    assert content.lstrip().startswith(begins)
    assert b"cdn.jsdelivr" not in content or suffix != ".html"
    assert f"picture{suffix}" in ran.err


SIMULATE = ("simulate", "--keys", "K.npy", "--query", "q.npy", "--targets", "0,1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("attend", "--keys", "missing.npy", "--query", "q.npy"),
            "keys missing.npy: there is no such file",
        ),
        (
            ("attend", "--keys", "K.txt", "--query", "q.npy"),
            "has the suffix '.txt', expected one of",
        ),
        (("attend", "--keys", "pickle.npy", "--query", "q.npy"), "plain numbers"),
        (
            ("attend", "--keys", "K.npy", "--query", "nan.npy"),
            "entry 1 is nan, expected a finite number",
        ),
        (("attend", "--keys", "K.npy", "--query", "short.npy"), "the last axes differ"),
        (
            ("attend", "--keys", "K.npy", "--query", "K.npy"),
            "has shape (4, 4), expected 1 axis",
        ),
        (
            ("attend", "--keys", "q.npy", "--query", "q.npy"),
            "has shape (4,), expected 2 axes",
        ),
        (
            ("attend", "--keys", "K.npy", "--query", "q.npy", "--query", "short.npy"),
            "4, 3 numbers",
        ),
        (
            ("attend", "--keys", "K.npy", "--query", "q.npy", "--values", "A.npy"),
            "4 keys and there are 9 values",
        ),
        (
            ("attend", "--keys", "K.npy", "--query", "huge.npy", "--scale", "1e10"),
            "too large",
        ),
        (
            ("attend", "--keys", "K.npy", "--query", "q.npy", "--scale", "nan"),
            "--scale nan",
        ),
        (
            ("attend", "--keys", "K.npy", "--query", "q.npy", "--scale", "x"),
            "--scale x",
        ),
        (
            ("attend", "--keys", "K.npy", "--query", "q.npy", "--plot", "a.gif"),
            "suffix '.gif', expected one of .svg",
        ),
        (
            ("attend", "--keys", "K.npy", "--query", "q.npy", "--plot", "no/a.svg"),
            "there is no folder no",
        ),
        (("attend", "--keys", "K.npy"), "Missing option '--query'"),
        (
            (*SIMULATE, "--uncertainty", "missing.toml"),
            "uncertainty missing.toml: there is no such file",
        ),
        ((*SIMULATE, "--uncertainty", "bad.toml"), "is not TOML"),
        ((*SIMULATE, "--uncertainty", "far.toml"), "names key 9, and there are 4 keys"),
        (
            (*SIMULATE, "--uncertainty", "scale.toml", "--samples", "0"),
            "0 samples: expected at least 1",
        ),
        (
            (*SIMULATE, "--uncertainty", "scale.toml", "--tolerance", "x"),
            "--tolerance is 'x': expected a number",
        ),
        ((*SIMULATE, "--uncertainty", "scale.toml", "--seed", "-1"), "--seed"),
        (
            (
                "simulate",
                "--keys",
                "K.npy",
                "--query",
                "q.npy",
                "--uncertainty",
                "scale.toml",
                "--targets",
                "7",
            ),
            "target 7",
        ),
        (
            (
                "simulate",
                "--keys",
                "K.npy",
                "--query",
                "q.npy",
                "--uncertainty",
                "scale.toml",
                "--targets",
                "a",
            ),
            "'a'",
        ),
        (
            (
                "simulate",
                "--keys",
                "K.npy",
                "--query",
                "q.npy",
                "--uncertainty",
                "scale.toml",
                "--targets",
                "0,0",
            ),
            "once",
        ),
        (
            ("positions", "--length", "10", "--dim", "7"),
            "dim is 7: expected an even number",
        ),
        (("positions", "--length", "10"), "--dim is missing"),
        (("positions", "--dim", "10"), "--length is missing"),
        (("positions", "--length", "0", "--dim", "8"), "0"),
        (("positions", "--length", "10", "--dim", "8", "--dtype", "float8"), "float8"),
        (("positions", "--scheme", "learned", "--length", "3"), "--table is missing"),
        (
            ("positions", "--scheme", "compass", "--length", "3", "--dim", "2"),
            "compass",
        ),
        (("lowrank", "A.npy", "--rank", "0"), "rank"),
        (("lowrank", "A.npy", "--rank", "7"), "rank"),
        (("lowrank", "A.npy"), "rank"),
        (("lowrank", "A.npy", "--rank", "1", "--tolerance", "1"), "rank"),
        (("lowrank", "A.npy", "--tolerance", "-1"), "tolerance"),
        (("lowrank", "q.npy", "--rank", "1"), "expected 2 axes"),
        (("tour", "--out", "K.npy"), "K.npy"),
        (("dance",), "No such command 'dance'"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_sentence_and_exit_2(
    headwright: Headwright, arguments: tuple[str, ...], words: str
) -> None:
    before = sorted(Path().iterdir())
    ran = headwright(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert words in ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_nothing_is_written_when_the_picture_cannot_be(headwright: Headwright) -> None:
    Path("folder.svg").mkdir()
    assert (
        headwright("lowrank", "A.npy", "--rank", "1", "--plot", "folder.svg").code == 2
    )
    assert list(Path("folder.svg").iterdir()) == []
    assert not list(Path().glob(".folder*"))


def test_version_and_help(headwright: Headwright) -> None:
    assert headwright("--version").out.startswith("headwright 0.")
    help_page = headwright("--help")
    assert help_page.code == 0
    for command in ("attend", "simulate", "positions", "lowrank", "tour"):
        assert command in help_page.out


NAMES = [command.name or "" for command in TYPER.commands.values()]


@pytest.mark.parametrize("command", NAMES)
def test_every_command_prints_json(headwright: Headwright, command: str) -> None:
    assert "--json" in headwright(command, "--help").out


def test_the_exit_codes_of_the_help_are_those_of_the_docs(
    headwright: Headwright,
) -> None:
    page = " ".join(headwright("--help").out.partition("Exit codes:")[2].split())
    docs = (
        Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
    ).read_text()
    for code, meaning in EXIT_CODES.items():
        assert f"{code} {meaning}" in page
        assert f"| {code} | {meaning} |" in docs


@pytest.mark.parametrize("command", NAMES)
def test_every_help_has_examples_with_options_that_exist(
    headwright: Headwright, command: str
) -> None:
    page = headwright(command, "-h").out
    options = set(re.findall(r"--[a-z-]+", page.partition("Examples:")[0]))
    examples = page.partition("Examples:")[2].strip().splitlines()
    assert examples
    for example in examples:
        assert example.split()[:2] == ["headwright", command]
        assert set(re.findall(r"--[a-z-]+", example)) <= options


def test_doctor_says_what_is_here_and_how_to_get_the_rest(
    headwright: Headwright,
) -> None:
    parts = {
        part["part"]: part for part in headwright("doctor", "--json").json["parts"]
    }
    assert parts["torch"]["here"].startswith("torch 2")
    assert parts["audit"]["remedy"] == "pip install '.[audit]' in a clone of Headwright"
    assert "missing: a CUDA device" in headwright("doctor").out or parts["GPU"]["here"]


def test_attend_shows_the_heaviest_of_many_keys(headwright: Headwright) -> None:
    np.save("many.npy", np.vstack([np.zeros((500, 4)), np.eye(4)]))
    ran = headwright("attend", "--keys", "many.npy", "--query", "q.npy")
    assert ran.out.count("\n") < 40
    assert "heaviest 20 of 504 keys" in ran.out


def test_a_query_may_be_a_row(headwright: Headwright) -> None:
    np.save("row.npy", np.array([[10.0, 10.0, 0.0, 0.0]]))
    row = headwright("attend", "--keys", "K.npy", "--query", "row.npy", "--json").json
    assert (
        row
        == headwright("attend", "--keys", "K.npy", "--query", "q.npy", "--json").json
    )


def test_a_formula_given_for_a_file_is_told_how_to_be_given(
    headwright: Headwright,
) -> None:
    ran = headwright("check", r"q = \lambda (k_a + k_b)")
    assert ran.code == 2
    assert "--formula" in ran.err


def test_nothing_at_all_shows_the_help_and_no_error(headwright: Headwright) -> None:
    ran = headwright()
    assert ran.code == 2
    assert "Usage" in ran.out + ran.err
    assert "error:" not in ran.err


def _python(*arguments: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, **keywords
    )


def test_help_imports_neither_scipy_nor_torch() -> None:
    code = (
        "import sys; sys.argv = ['headwright', '--help']\n"
        "from headwright.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('scipy', 'torch', 'numpy', 'altair', 'flint') if name in sys.modules])"
    )
    assert _python("-c", code).stdout.splitlines()[-1] == "[]"


def test_module_runs_and_reads_standard_input(tmp_path: Path) -> None:
    np.save(tmp_path / "K.npy", np.eye(2))
    ran = _python(
        "-m",
        "headwright",
        "attend",
        "--keys",
        "K.npy",
        "--query",
        "-",
        "--json",
        cwd=tmp_path,
        input="[0, 0]",
    )
    assert json.loads(ran.stdout)["pattern"] == [[0.5, 0.5]]


def test_no_color_is_respected(tmp_path: Path) -> None:
    environment = {**os.environ, "NO_COLOR": "1", "FORCE_COLOR": "1"}
    ran = _python("-m", "headwright", "dance", cwd=tmp_path, env=environment)
    assert "\x1b[31m" not in ran.stderr
    assert ran.returncode == 2


def test_a_bug_has_an_exit_code_of_its_own_and_one_sentence(
    headwright: Headwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        raise KeyError("of the library")

    monkeypatch.setattr(np, "load", broken)
    ran = headwright("attend", "--keys", "K.npy", "--query", "q.npy")
    assert ran.code == 4
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    for words in (
        "internal error, please report it",
        "KeyError: 'of the library'",
        "headwright attend --keys K.npy",
        "HEADWRIGHT_DEBUG=1",
    ):
        assert words in ran.err
    monkeypatch.setenv("HEADWRIGHT_DEBUG", "1")
    shown = headwright("attend", "--keys", "K.npy", "--query", "q.npy")
    assert shown.code == 4
    assert "Traceback" in shown.err


@pytest.mark.parametrize("more", ["", "--json", "--json --query q1.npy"])
def test_a_reader_who_has_gone_is_neither_a_yes_nor_a_no(more: str) -> None:
    command = f"{sys.executable} -m headwright attend --keys K.npy --query q.npy {more} | true; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert ran.stdout.strip() == "141"
    assert ran.stderr == ""


def test_help_that_nobody_reads_to_its_end_is_no_answer_either() -> None:
    command = f"{sys.executable} -m headwright --help | true; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.stderr) == ("141", "")


def test_completion_is_for_the_name_of_the_command_however_it_was_called() -> None:
    # typer asks which shell it was called from
    command = f"{sys.executable} -m headwright --show-completion; true"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert ran.stdout.endswith(
        "complete -o default -F _headwright_completion headwright\n"
    )


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_full_disk_is_said(more: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [
            sys.executable,
            "-m",
            "headwright",
            "attend",
            "--keys",
            "K.npy",
            "--query",
            "q.npy",
            *more,
        ]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 2
    assert (
        ran.stderr
        == "error: the results: cannot be read or written (No space left on device)\n"
    )
