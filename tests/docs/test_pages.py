"""The documentation cannot drift: its sessions run, its commands and public names are all there."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from headwright.cli import app
from tests.cli.running import run_here

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
COMMANDS = [
    command.callback.__name__.replace("_", "-")
    for command in app.registered_commands
    if command.callback
]


def _sessions(page: Path) -> list[tuple[str, str]]:
    """Pairs of a command and what it is said to print."""
    pairs = []
    for block in SESSION.findall(page.read_text()):
        for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = entry.replace("\\\n", " ").partition("\n")
            pairs.append((command, output))
    return pairs


TOUR = "headwright tour --out out > tour.txt"  # most pages use its files: it is run once for all of them
# A command that needs a shell for nothing but its exit code
PLAIN = re.compile(
    r"""headwright ((?:'[^']*'|[^'"|<>*$`;&])+?)( \|\| echo "exit code \$\?")?\s*"""
)


@pytest.fixture(scope="module")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toured")
    assert _in_a_shell(TOUR, folder) == (0, "")
    assert "out/index.html" in (folder / "tour.txt").read_text()
    assert len(list((folder / "out").glob("*.svg"))) == 11
    return folder


def _in_a_shell(command: str, folder: Path) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    ran = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return ran.returncode, ran.stdout


def _printed(command: str, folder: Path) -> tuple[int, str]:
    """The exit code and what is printed; plain commands run in this process, where nothing is imported anew."""
    plain = PLAIN.fullmatch(command)
    if plain is None:
        return _in_a_shell(command, folder)
    code, printed = run_here(shlex.split(plain[1]))
    return (0, f"{printed}exit code {code}\n") if plain[2] and code else (code, printed)


def _complaint(command: str, expected: str, code: int, printed: str) -> str:
    if code:
        return f"$ {command}\n{printed}exit code {code}"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    same = doctest.OutputChecker().check_output(expected, printed, flags)
    return "" if same else f"$ {command}\nsaid:\n{expected}\nprinted:\n{printed}"


@pytest.mark.parametrize(
    "source", [page for page in PAGES if _sessions(page)], ids=lambda page: page.name
)
def test_sessions_print_what_the_page_says(
    source: Path, toured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for command, expected in _sessions(source):
        if command == TOUR:
            shutil.copytree(toured, tmp_path, dirs_exist_ok=True)
            assert expected == ""
            continue
        assert not (
            complaint := _complaint(command, expected, *_printed(command, tmp_path))
        ), complaint


@pytest.mark.parametrize(
    "command",
    [
        "echo truth",
        "headwright exercises --json > file; cat file",
        "headwright nothing",
    ],
)
def test_a_session_that_lies_is_found_out(tmp_path: Path, command: str) -> None:
    assert _complaint(command, "lie", *_printed(command, tmp_path))


def test_a_command_in_this_process_prints_what_a_shell_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for command in (
        "headwright doctor --nothing",
        'headwright verify nowhere.json || echo "exit code $?"',
    ):
        assert PLAIN.fullmatch(command)
        assert _printed(command, tmp_path) == _in_a_shell(command, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert any(f"headwright {command}" in page.read_text() for page in PAGES)


def _public_names() -> list[tuple[str, str]]:
    sources = sorted((ROOT / "src/headwright").glob("*/__init__.py"))
    rooms = [
        f"headwright.{source.parent.name}"
        for source in sources
        if "__all__" in source.read_text()
    ]
    rooms += ["headwright", "headwright.head_design.export"]
    return [(room, name) for room in rooms for name in import_module(room).__all__]


@pytest.mark.parametrize(("room", "name"), _public_names())
def test_every_public_function_and_class_has_an_example(room: str, name: str) -> None:
    thing = getattr(import_module(room), name)
    if (
        inspect.isclass(thing) or inspect.isfunction(thing)
    ) and thing.__module__.startswith("headwright"):
        assert ">>>" in (thing.__doc__ or "")


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs/README.md").read_text()
    assert [
        page.name
        for page in (ROOT / "docs").rglob("[a-z0-9]*.md")
        if f"/{page.name})" not in contents
    ] == []


@pytest.mark.parametrize("source", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(source: Path) -> None:
    prose = re.sub(
        r"^```.*?^```$|`[^`\n]+`(?!\])",
        "",
        source.read_text(),
        flags=re.DOTALL | re.MULTILINE,
    )
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose):
        assert (source.parent / target).exists(), target


def test_contributing_names_targets_that_exist() -> None:
    named = set(
        re.findall(
            r"^make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
        )
    )
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )
    assert {"quick", "test", "test-all", "site", "bench"} <= named <= targets


def test_what_make_quick_runs_is_there() -> None:
    (listed,) = re.findall(
        r"^QUICK := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    assert [path for path in listed.split() if not list(ROOT.glob(path))] == []
