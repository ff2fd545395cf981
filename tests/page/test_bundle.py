"""What a page takes along suffices, without NumPy: answers are checked and certificates verified by it alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import headwright as hw
from headwright.page.build import OURS, PACKAGE

ASK = """
import json, sys
for name in ("numpy", "scipy", "altair", "typer", "rich"):
    sys.modules[name] = None
from headwright.page.answering import CALLS
question = json.loads(sys.argv[1])
print(json.dumps([CALLS["verdict"](question["check"]), CALLS["verify"](question["verify"])]))
"""


def test_what_a_page_takes_along_answers_its_questions(tmp_path: Path) -> None:
    for name in OURS:
        source = PACKAGE / name
        target = tmp_path / "headwright" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copyfile(source, target)
    answer = "## averaging-two\n\n$$q = \\frac{1}{\\sqrt 2}(k_a + k_b)$$\n"
    question = {
        "check": {"text": answer, "number": 0},
        "verify": {"certificate": hw.design(np.eye(2), hw.copy(0)).certificate},
    }
    ran = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(question)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        text=True,
        capture_output=True,
    )
    assert ran.returncode == 0, ran.stderr
    checked, verified = json.loads(ran.stdout)
    assert checked["verdict"]["verdict"] == "refuted"
    assert verified["verdict"] == "verified"
