"""headwright design and verify, as users run them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import INTERRUPTED, Headwright


@pytest.fixture(autouse=True)
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("K.npy", np.eye(4))
    np.save(
        "P.npy",
        np.array([[1.2, 0.3], [0.2, 1.1], [-0.9, 0.6], [-0.5, -1.0], [0.3, 0.2]]),
    )
    np.save(
        "big.npy",
        np.random.default_rng(0).normal(size=(600, 8))
        * np.r_[4.0, np.ones(599)][:, None],
    )
    Path("uncertainty.toml").write_text(
        "[[noise]]\nkey = 0\nscale = { one_of = [0.5, 1.5] }\n"
    )


def test_design_writes_a_certificate_that_verifies(headwright: Headwright) -> None:
    found = headwright(
        "design",
        "--keys",
        "K.npy",
        "--copy",
        "1",
        "--eps",
        "0.1",
        "--out",
        "c.json",
        "--json",
    )
    assert found.code == 0
    assert found.json["verdict"] == "designed"
    assert found.json["certificate"] == "c.json"
    assert found.json["pattern"]["1"] == pytest.approx(1 / 1.1)
    assert found.json["norm_lower_bound"] <= found.json["norm"]
    assert found.json["gap"] < 1e-9
    assert len(found.json["queries"]) == 1
    for more in ((), ("--checker", "exact"), ("--checker", "float")):
        checked = headwright("verify", "c.json", "--json", *more)
        assert checked.code == 0
        assert checked.json["verdict"] == "verified"
        assert "key 1 a weight of at least 0.909090" in checked.json["words"]


def test_impossible_has_exit_1_and_says_what_is_possible(
    headwright: Headwright,
) -> None:
    found = headwright(
        "design", "--keys", "P.npy", "--copy", "4", "--out", "c.json", "--plot", "p.svg"
    )
    assert found.code == 1
    assert found.out.startswith("impossible (exact and floating-point checkers): ")
    assert "what is possible: eps = " in found.out
    assert headwright("verify", "c.json").code == 0
    assert headwright("verify", "c.json", "--checker", "float").code == 0
    assert Path("p.svg").exists()


def test_heads_and_uncertainties_are_told(headwright: Headwright) -> None:
    Path("range.toml").write_text(
        "[[noise]]\nkey = 0\nscale = { between = [0.5, 1.5] }\n"
    )
    found = headwright(
        "design",
        "--keys",
        "K.npy",
        "--average",
        "0,1",
        "--uncertainty",
        "range.toml",
        "--heads",
        "2",
        "--plot",
        "p.png",
    )
    assert found.code == 0
    assert "head 0 serves key 0" in found.out
    assert "head 1 serves key" in found.out
    assert "for the longest of any 2 queries" in found.out
    assert "key 0 is scaled by any from 0.5 to 1.5" in found.out


def test_a_query_of_length_0_is_the_shortest(headwright: Headwright) -> None:
    assert (
        "length 0, and nothing is shorter"
        in headwright("design", "--keys", "K.npy", "--average", "0,1,2,3").out
    )


def test_what_needs_a_length_beyond_use_is_a_no(headwright: Headwright) -> None:
    """Key 0 is a hair outside the hull of the others: a query for it exists, and is useless."""
    K = np.array([[0.3, 0.1], [0.1, 0.7], [0.0, 0.0]])
    K[2] = (K[0] + K[1]) / 2
    np.save("mid.npy", K)
    found = headwright(
        "design", "--keys", "mid.npy", "--copy", "2", "--out", "c.json", "--json"
    )
    assert found.code == 1, found.out
    assert found.json["verdict"] in ("longer", "impossible")
    assert headwright("verify", "c.json").code == 0


def test_lower_bounds_and_scale(headwright: Headwright) -> None:
    found = headwright(
        "design",
        "--keys",
        "K.npy",
        "--at-least",
        "0=0.6,2=1/4",
        "--scale",
        "1/2",
        "--json",
    )
    assert found.json["pattern"] == {"0": pytest.approx(0.6), "2": pytest.approx(0.25)}


def test_large_keys_stay_outside_and_are_asked_for(headwright: Headwright) -> None:
    assert (
        headwright("design", "--keys", "big.npy", "--copy", "0", "--out", "c.json").code
        == 0
    )
    alone = headwright("verify", "c.json")
    assert alone.code == 2
    assert "--keys" in alone.out
    assert headwright("verify", "c.json", "--keys", "big.npy").code == 0
    np.save("other.npy", np.load("big.npy") + 1)
    for more in ((), ("--checker", "exact"), ("--checker", "float")):
        other = headwright("verify", "c.json", "--keys", "other.npy", *more)
        assert other.code == 1
        assert "sha256" in other.out
        assert headwright("verify", "c.json", *more).code == 2


def test_a_tampered_certificate_is_rejected_and_nonsense_unreadable(
    headwright: Headwright,
) -> None:
    headwright("design", "--keys", "K.npy", "--copy", "1", "--out", "c.json")
    document = json.loads(Path("c.json").read_text())
    document["statement"]["none_shorter"] = "1000"
    Path("t.json").write_text(json.dumps(document))
    Path("n.json").write_text("nonsense")
    for more in ((), ("--checker", "exact"), ("--checker", "float")):
        assert headwright("verify", "t.json", *more).code == 1
        assert headwright("verify", "n.json", *more).code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("design", "--keys", "K.npy"),
            "there is no target: expected --copy, --average or --at-least",
        ),
        (
            ("design", "--keys", "K.npy", "--copy", "0", "--average", "0,1"),
            "expected one target",
        ),
        (
            ("design", "--keys", "K.npy", "--copy", "9"),
            "target 9, and there are 4 keys",
        ),
        (("design", "--keys", "K.npy", "--average", "0,0"), "each key once"),
        (("design", "--keys", "K.npy", "--average", "a"), "expected numbers"),
        (("design", "--keys", "K.npy", "--copy", "0", "--eps", "0"), "eps is 0"),
        (("design", "--keys", "K.npy", "--copy", "0", "--eps", "x"), "eps is 'x'"),
        (("design", "--keys", "K.npy", "--copy", "0", "--eps", ""), "eps is ''"),
        (
            ("design", "--keys", "K.npy", "--copy", "0", "--eps", "1e400"),
            "at most 300 digits",
        ),
        (
            ("design", "--keys", "K.npy", "--copy", "0", "--eps", "1e9999999999"),
            "at most 300 digits",
        ),
        (
            ("design", "--keys", "K.npy", "--at-least", "0=0.5", "--eps", "0.1"),
            "expected it with --copy or --average",
        ),
        (("design", "--keys", "K.npy", "--copy", "-1"), "target -1"),
        (("design", "--keys", "K.npy", "--copy", "0", "--scale", ""), "scale is ''"),
        (
            ("design", "--keys", "K.npy", "--copy", "0", "--confidence", "0.3"),
            "expected at least 1/2",
        ),
        (("design", "--keys", "K.npy", "--copy", "0", "--scale", "0"), "scale is 0"),
        (("design", "--keys", "K.npy", "--at-least", "0=0.6,1=0.6"), "1.2 in all"),
        (("design", "--keys", "K.npy", "--at-least", "0"), "expected weights such as"),
        (("design", "--keys", "K.npy", "--at-least", "0=1,0=1"), "each key once"),
        (("design", "--keys", "missing.npy", "--copy", "0"), "there is no such file"),
        (
            (
                "design",
                "--keys",
                "K.npy",
                "--copy",
                "0",
                "--uncertainty",
                "missing.toml",
            ),
            "there is no such file",
        ),
        (
            ("design", "--keys", "K.npy", "--copy", "0", "--confidence", "1"),
            "confidence is 1",
        ),
        (
            ("design", "--keys", "K.npy", "--copy", "0", "--confidence", "0.9"),
            "every key is certain: leave it out",
        ),
        (("design", "--keys", "K.npy", "--copy", "0", "--heads", "0"), "0 heads"),
        (
            ("design", "--keys", "K.npy", "--copy", "0", "--out", "no/c.json"),
            "there is no folder no",
        ),
        (
            ("design", "--keys", "K.npy", "--copy", "0", "--out", "."),
            "is a folder, expected a file",
        ),
        (("verify", "missing.json"), "there is no such file"),
        (("verify", "K.npy"), "not text"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_sentence_and_exit_2(
    headwright: Headwright, arguments: tuple[str, ...], words: str
) -> None:
    ran = headwright(*arguments)
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


SIZES = {
    "ball": "ball = 1e150",
    "isotropic": "isotropic = 1e300",
    "normal": "scale = { normal = [1e300, 1e300] }",
    "one_of": "scale = { one_of = [1.0, 1e200] }",
}


@pytest.mark.parametrize("noise", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("key", ["0", "1", '"*"'])
def test_uncertainties_that_dwarf_the_keys_are_refused(
    headwright: Headwright, noise: str, key: str
) -> None:
    Path("uncertainty.toml").write_text(f"[[noise]]\nkey = {key}\n{noise}\n")
    ran = headwright(
        "design", "--keys", "K.npy", "--copy", "0", "--uncertainty", "uncertainty.toml"
    )
    assert ran.code == 2
    assert "expected at most" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("size", "code"), [(1e308, 2), (1e299, 0), (1e-299, 0), (5e-324, 2), (0.0, 1)]
)
def test_keys_of_any_size_get_an_answer_or_a_sentence(
    headwright: Headwright, size: float, code: int
) -> None:
    np.save("K.npy", size * np.eye(3))
    ran = headwright("design", "--keys", "K.npy", "--copy", "0")
    assert ran.code == code, ran.out + ran.err
    assert code != 2 or "divide all" in ran.err or "multiply all" in ran.err


def test_an_interrupted_design_leaves_nothing_behind(tmp_path: Path) -> None:
    np.save("large.npy", np.random.default_rng(0).normal(size=(80_000, 64)))
    # A shell may have told its children to ignore Ctrl-C, and they their own: here it is listened to.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    listen += "; import headwright.query_design; from headwright.cli import main; print('ready', flush=True); main()"
    command = [
        sys.executable,
        "-c",
        listen,
        "design",
        "--keys",
        "large.npy",
        "--copy",
        "0",
        "--out",
        "c.json",
    ]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    time.sleep(0.5)  # it is reading, solving or checking now, for a second more
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, complaint = running.communicate(timeout=60)
    assert running.returncode in INTERRUPTED
    assert "interrupted; nothing was written" in complaint
    assert "Traceback" not in complaint
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "K.npy",
        "P.npy",
        "big.npy",
        "large.npy",
        "uncertainty.toml",
    ]
