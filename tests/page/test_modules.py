"""The modules that the page takes from the package are all that it imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from headwright.page.build import PACKAGE, our_modules

QUESTION = '{"call": "verify", "given": {"certificate": "{}"}}'
PROGRAM = f"""
import headwright
from headwright.page.answering import answer
print(headwright.__file__)
print(answer({QUESTION!r}))
"""


def test_the_modules_of_the_page_answer_without_the_rest_of_the_package(
    tmp_path: Path,
) -> None:
    for path in our_modules():
        target = tmp_path / "headwright" / path.relative_to(PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    where, answer = ran.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert '"unreadable"' in answer
