"""The checker of docs/explanation/own-checker.md, run as it is: what it accepts is true, and it accepts its kind."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import headwright as hw
from headwright.certificates.exact.verify import verify
from tests.referee.queries import judge

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "certificates" / "corpus"
PAGE = ROOT / "docs" / "explanation" / "own-checker.md"


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    code = re.search(
        r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    assert code is not None
    path = tmp_path_factory.mktemp("own") / "checker.py"
    path.write_text(code[1])
    return path


def _accepted(checker: Path, certificates: list[Path]) -> list[str]:
    """The names of those accepted, by one process that has nothing but the standard library."""
    code = (
        "import sys, checker\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        checker.check(open(name).read())\n"
        "        print(name)\n"
        "    except Exception:\n"
        "        pass\n"
    )
    command = [sys.executable, "-S", "-c", code, *map(str, certificates)]
    ran = subprocess.run(
        command, cwd=checker.parent, text=True, capture_output=True, check=True
    )
    return ran.stdout.splitlines()


def _of_its_kind(path: Path) -> bool:
    said = json.loads(path.read_text())["statement"]
    return (
        said["heads"] == 1
        and not said["uncertainty"]
        and all(named["rows"] for named in said["keys"])
    )


def test_it_accepts_what_is_of_its_kind(checker: Path) -> None:
    mine = [
        path
        for path in sorted((CORPUS / "accept").glob("*.json"))
        if _of_its_kind(path)
    ]
    assert len(mine) >= 15
    assert _accepted(checker, mine) == [str(path) for path in mine]


def test_it_rejects_what_the_trusted_checker_rejects(checker: Path) -> None:
    wrong = [
        *(CORPUS / "reject").glob("*.json"),
        *(CORPUS / "head-reject").glob("*.json"),
    ]
    assert len(wrong) >= 50
    assert _accepted(checker, wrong) == []


def test_of_what_is_no_certificate_it_accepts_true_statements_only(
    checker: Path,
) -> None:
    odd = [
        *(CORPUS / "malformed").glob("*.json"),
        *(CORPUS / "head-malformed").glob("*.json"),
    ]
    for name in _accepted(checker, odd):
        assert judge(json.loads(Path(name).read_text())["statement"]).word != "false", (
            name
        )


@pytest.mark.parametrize("seed", range(3))
def test_it_rejects_a_claim_that_is_a_little_too_good(checker: Path, seed: int) -> None:
    keys = np.random.default_rng(seed).normal(size=(6, 4))
    made = hw.design(keys, hw.copy(2)).certificate
    assert made is not None
    document = json.loads(made)
    good, better = (
        checker.parent / f"good-{seed}.json",
        checker.parent / f"better-{seed}.json",
    )
    good.write_text(made)
    document["statement"]["none_shorter"] = str(
        Fraction(document["statement"]["none_shorter"]) * Fraction(1_000_001, 1_000_000)
    )
    better.write_text(json.dumps(document))
    assert verify(better.read_text()).word == "rejected"
    assert _accepted(checker, [good, better]) == [str(good)]


def test_as_a_program_it_says_what_is_proved(checker: Path) -> None:
    path = checker.parent / "certificate.json"
    path.write_text(hw.design(np.eye(10), hw.average([0, 1])).certificate or "")
    ran = subprocess.run(
        [sys.executable, "-S", checker, path], text=True, capture_output=True
    )
    assert ran.stdout.startswith("accepted: for the keys "), ran.stderr
    path.write_text(path.read_text().replace("100/201", "101/201"))
    ran = subprocess.run(
        [sys.executable, "-S", checker, path], text=True, capture_output=True
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("not accepted: ")
