"""The documentation cannot drift: its sessions run, its commands and public names are all there."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from headwright.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
COMMANDS = [command.callback.__name__.replace("_", "-") for command in app.registered_commands if command.callback]


def _sessions(page: Path) -> list[tuple[str, str]]:
    """Pairs of a command and what it is said to print."""
    pairs = []
    for block in SESSION.findall(page.read_text()):
        for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = entry.replace("\\\n", " ").partition("\n")
            pairs.append((command, output))
    return pairs


@pytest.mark.parametrize("page", [page for page in PAGES if _sessions(page)], ids=lambda page: page.name)
def test_sessions_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    for command, expected in _sessions(page):
        ran = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert ran.returncode == 0, f"$ {command}\n{ran.stdout}"
        same = doctest.OutputChecker().check_output(
            expected, ran.stdout, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        )
        assert same, f"$ {command}\nsaid:\n{expected}\nprinted:\n{ran.stdout}"


def test_a_session_that_lies_is_found_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo truth\nlie\n```\n")
    with pytest.raises(AssertionError, match="truth"):
        test_sessions_print_what_the_page_says(page, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert any(f"headwright {command}" in page.read_text() for page in PAGES)


def _public_names() -> list[tuple[str, str]]:
    sources = sorted((ROOT / "src/headwright").glob("*/__init__.py"))
    rooms = [f"headwright.{source.parent.name}" for source in sources if "__all__" in source.read_text()]
    rooms += ["headwright", "headwright.weights.export"]
    return [(room, name) for room in rooms for name in import_module(room).__all__]


@pytest.mark.parametrize(("room", "name"), _public_names())
def test_every_public_function_and_class_has_an_example(room: str, name: str) -> None:
    thing = getattr(import_module(room), name)
    if (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("headwright"):
        assert ">>>" in (thing.__doc__ or "")


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs/README.md").read_text()
    assert [page.name for page in (ROOT / "docs").rglob("[a-z0-9]*.md") if f"/{page.name})" not in contents] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`(?!\])", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose):
        assert (page.parent / target).exists(), target


def test_contributing_names_targets_that_exist() -> None:
    named = set(re.findall(r"^make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"quick", "test", "test-all", "site", "bench"} <= named <= targets


def test_what_make_quick_runs_is_there() -> None:
    (listed,) = re.findall(r"^QUICK := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [path for path in listed.split() if not list(ROOT.glob(path))] == []
