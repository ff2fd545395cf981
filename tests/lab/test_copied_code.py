"""What is copied from a page runs as it is, in Python and in a shell, whatever a link put into the page."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import chdir, redirect_stdout, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page

from headwright.errors import InputError
from headwright.lab.calls import VIEWS
from tests.cli.running import run_here
from tests.lab.browser import View

NAMES = [view.name for view in VIEWS if view.summary]
ANY_VERDICT = (0, 1, 2, 3)  # 4 is a bug


def copied(page: Page, what: str) -> str:
    page.evaluate(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    )
    page.locator(".menu summary", has_text="Export").click()
    page.get_by_role("button", name=f"Copy as {what}").click()
    return str(page.evaluate("window.copied"))


def python(code: str, folder: Path) -> str:
    """What the code prints, in a scope of its own in this process."""
    printed = io.StringIO()
    with chdir(folder), redirect_stdout(printed):
        exec(code, {"__name__": "__main__"})
    return printed.getvalue()


NOTED = f"""#!{sys.executable}
import json, sys
with open("calls", "a") as calls:
    calls.write(json.dumps([sys.argv[1:], sys.stdin.read() if "-" in sys.argv else ""]) + "\\n")
"""
DOES_NOTHING = "#!/bin/sh\ncat > /dev/null\n"


def shell(lines: str, folder: Path, headwright: str) -> None:
    """A shell that finds such a command `headwright`."""
    (folder / "bin").mkdir(exist_ok=True)
    here = folder / "bin" / "headwright"
    here.write_text(headwright)
    here.chmod(0o755)
    paths = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["/bin/sh"],
        input=lines,
        cwd=folder,
        capture_output=True,
        text=True,
        env=paths,
        timeout=120,
    )
    assert "not found" not in ran.stderr, ran.stderr


def tried(view: View, folder: Path) -> tuple[str, str]:
    """What Python prints, and what commands print that a shell was asked for, run in this process."""
    said, told = python(copied(view.page, "Python"), folder), ""
    (folder / "calls").unlink(missing_ok=True)
    shell(copied(view.page, "command line"), folder, NOTED)
    for call in (folder / "calls").read_text().splitlines():
        arguments, given = json.loads(call)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setenv("NO_COLOR", "1")
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
            code, printed = run_here(arguments)
        assert code in ANY_VERDICT, printed
        assert not any(words in printed for words in ("Usage:", "Try ", "no such")), (
            printed
        )
        told += printed
    return said, told


@pytest.mark.parametrize("name", NAMES)
def test_what_is_copied_runs_as_it_is(view: View, tmp_path: Path, name: str) -> None:
    view.enter(f"/{name}")
    view.settled()
    tried(view, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_is_copied_of_every_preset_runs_as_it_is(
    view: View, tmp_path: Path, name: str
) -> None:
    page = view.enter(f"/{name}")
    for preset in page.locator(".presets button").all():
        preset.click()
        view.settled()
        title = preset.inner_text()
        try:
            tried(view, tmp_path)
        except AssertionError as error:
            raise AssertionError(f"{title}: {error}") from error


def test_words_around_formulas_are_copied_too(view: View, tmp_path: Path) -> None:
    page = view.enter("/check")
    page.get_by_role("button", name="Correct", exact=True).click()
    view.settled()
    said, told = tried(view, tmp_path)
    assert "averaging-two proved" in said
    assert "proved" in told


@pytest.mark.parametrize(
    "path",
    [
        "/design#scale=1%3Btouch%20taken",
        "/design#scale=1%22%29%3Bopen%28%22taken%22%2C%22w%22%29%23",
        "/check#exercise=a%3Btouch%20taken&answer=q",
        "/check#exercise=&answer=%24x%24%0AEND%0Atouch%20taken%0A",
        "/audit#text=%27%3Btouch%20taken%3Becho%20%27aaaaaaaaaaaaaaaa",
        "/order#sentence=a%22%5D%3Bopen%28%22taken%22%2C%22w%22%29%23",
        "/heads#rules=a%0AEND%0Atouch%20taken%0A",
    ],
)
def test_a_link_cannot_put_commands_into_what_is_copied(
    view: View, tmp_path: Path, path: str
) -> None:
    page = view.enter(path)
    view.settled()
    with suppress(InputError):  # what the link put into the page cannot be used
        python(copied(page, "Python"), tmp_path)
    shell(
        copied(page, "command line"), tmp_path, DOES_NOTHING
    )  # what the shell itself is made to run
    assert not (tmp_path / "taken").exists()
    view.said.clear()  # what cannot be used was refused, which the browser reports
