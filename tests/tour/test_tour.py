"""The tour: commands print the numbers that lead to them; its page in a browser, narrow or wide, light or dark."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from headwright.tour.chapter import numbers, plain
from tests.cli.running import run_here
from tests.lab.browser import browser_type_launch_args  # noqa: F401 - Debian's Chromium for this module, too
from tests.tour.conftest import Tour

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def _printed(command: str) -> str:
    name, *arguments = shlex.split(command)
    if name == "headwright":
        code, printed = run_here(arguments)
    else:
        ran = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True
        )
        code, printed = ran.returncode, ran.stdout
    assert code == (1 if "check" in arguments or "--copy 5" in command else 0), printed
    return printed


def _says(output: str, number: str) -> bool:
    """The output holds the number, with as many digits or more, rounded either way."""
    digits = number.partition("e")[0].partition(".")[2]
    unit = 10.0 ** (-len(digits) + int(number.partition("e")[2] or 0))
    return any(
        abs(float(found) - float(number)) <= unit * (1 + 1e-9)
        for found in NUMBER.findall(output)
    )


@pytest.mark.parametrize("place", range(11))
def test_commands_give_the_numbers_that_lead_to_them(tour: Tour, place: int) -> None:
    chapter = tour.story[place]
    linked = numbers(chapter.text)
    assert linked
    printed = [_printed(command) for command in chapter.commands]
    for number, command in linked:
        assert _says(printed[command], number), (
            f"{chapter.commands[command]}\ndoes not say {number}"
        )


def test_a_number_that_is_not_printed_is_found_out() -> None:
    assert _says("proven: 0.0323316", "0.03233")
    assert _says("length 18.90693713", "18.9070")  # rounded up
    assert not _says("proven: 0.0323316", "0.03236")


def test_every_chapter_is_told_in_plain_words_too(tour: Tour) -> None:
    for chapter in tour.story:
        assert not set(plain(chapter.text)) & set("$«»\\")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1100])
def test_nothing_serious_keeps_anybody_from_reading(
    page: Page, tour: Tour, width: int, scheme: str
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto((tour.folder / "index.html").as_uri())
    found = Axe().run(page).response["violations"]
    assert [
        (one["id"], one["nodes"][0]["html"])
        for one in found
        if one["impact"] in ("serious", "critical")
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert all(url.startswith(tour.folder.as_uri()) for url in asked)
    assert len(asked) == 12  # the page and its pictures


def test_every_number_leads_to_a_command_and_every_picture_is_told(tour: Tour) -> None:
    text = (tour.folder / "index.html").read_text()
    for target in re.findall(r'href="#([^"]+)"', text):
        assert f'id="{target}"' in text, target
    told = re.findall(r'<img src="([^"]+)" alt="([^"]{40,})"', text)
    assert len(told) == 11
    assert all((tour.folder / name).exists() for name, _ in told)
    assert text.count("<math") > 10


def test_the_page_counts_its_chapters(tour: Tour) -> None:
    assert len(tour.story) == 11
    text = " ".join((tour.folder / "index.html").read_text().split())
    assert "These are eleven demonstrations" in text
    opening = text.index('<section id="1-')
    assert opening < text.index('class="first"') < text.index('<section id="2-')


def test_formulas_are_read(tour: Tour) -> None:
    text = (tour.folder / "index.html").read_text()
    assert "\\frac" not in text
    assert "$" not in text


def test_what_a_reader_sees_is_lettered(tour: Tour) -> None:
    shown = re.sub(
        r"<(pre|style|img)\b.*?(?:</\1>|>)",
        "",
        (tour.folder / "index.html").read_text(),
        flags=re.DOTALL,
    )
    assert re.findall(r"\b(?:lambda|epsilon)\b|k_a|&gt;=", shown) == []
