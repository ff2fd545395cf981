"""What a release needs agrees with itself: one version, and a workflow whose steps exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from headwright import __version__

ROOT = Path(__file__).parents[2]


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = (ROOT / "CITATION.cff").read_text()
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert project["version"] == __version__
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [__version__]
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__


def test_the_workflow_of_a_release_calls_targets_that_exist() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    called = re.findall(r"run: make ([a-z-]+)", workflow)
    assert called == ["dist"]
    assert set(called) <= set(targets)
