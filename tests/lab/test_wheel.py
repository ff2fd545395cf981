"""What is installed from the wheel has all that the lab's pages ask for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from headwright.lab.calls import VIEWS

ROOT = Path(__file__).parents[2]
CODE = "import headwright, sys; print(headwright.__file__, file=sys.stderr); from headwright.cli import main; main()"


def fetched(address: str) -> str:
    with urllib.request.urlopen(address, timeout=60) as page:
        assert page.status == 200
        return str(page.read().decode())


@pytest.mark.slow
def test_the_lab_of_a_wheel_serves_every_view_with_all_its_modules(
    tmp_path: Path,
) -> None:
    building = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(building, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("headwright-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(
            tmp_path / "site"
        )  # a wheel of pure Python is installed by unpacking it
    command = [sys.executable, "-P", "-c", CODE, "lab", "--port", "0", "--no-open"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline().startswith(
            str(tmp_path / "site")
        )  # and not the tree around these tests
        address = process.stdout.readline().strip().rstrip("/")
        todo = [
            "/",
            "/static/error.js",
            *(f"/{view.name}" for view in VIEWS if view.summary),
        ]
        seen: set[str] = set()
        while todo:
            path = todo.pop()
            seen.add(path)
            text = fetched(address + path)
            found = re.findall(r'(?:src|href)="(/static/[^"]+)"', text)
            found += [
                os.path.normpath(f"{path}/../{name}")
                for name in re.findall(r'from "(\.[^"]+\.js)"', text)
                if ".js" in path
            ]
            todo += [
                each
                for each in dict.fromkeys(found)
                if each not in seen and each not in todo
            ]
        static = {
            f"/static/{each.relative_to(ROOT / 'src/headwright/lab/static')}"
            for each in (ROOT / "src/headwright/lab/static").rglob("*.js")
        }
        assert static <= seen
        assert any(path.endswith(".css") for path in seen)
    finally:
        process.terminate()
        process.communicate(timeout=120)
