"""The site builds, its links lead somewhere, it fetches nothing, and the architecture's drawing is up to date."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.lab.browser import browser_type_launch_args  # noqa: F401 - Debian's Chromium for this module, too

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"


class _Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loads += [
            given[name]
            for name in ("src", "href")
            if name in given and tag in ("script", "link", "img")
        ]


def _build(
    folder: Path, config: Path = ROOT / "mkdocs.yml"
) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--config-file",
        str(config),
        "--site-dir",
        str(folder),
    ]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, _Page]:
    pytest.importorskip("mkdocs", reason="the extra 'site' is not installed")
    folder = tmp_path_factory.mktemp("site")
    ran = _build(folder)
    assert ran.returncode == 0, ran.stderr
    return {
        path: _Page(path.read_text())
        for path in folder.rglob("*.html")
        if path.name != "404.html"
    }


def test_links_and_anchors_lead_somewhere(pages: dict[Path, _Page]) -> None:
    assert len(pages) > 30
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (
                (path.parent / unquote(parts.path)).resolve() if parts.path else path
            )
            assert target.is_file(), f"{path.name}: {link}"
            if parts.fragment and target.suffix == ".html":
                assert parts.fragment in pages[target].anchors, f"{path.name}: {link}"


def test_pages_load_nothing_from_elsewhere(pages: dict[Path, _Page]) -> None:
    for path, page in pages.items():
        for loaded in page.loads:
            assert not urlsplit(loaded).netloc, f"{path.name}: {loaded}"
            assert (path.parent / urlsplit(loaded).path).exists(), (
                f"{path.name}: {loaded}"
            )


@pytest.mark.parametrize("width", [390, 1200])
def test_a_page_from_the_disk_can_be_searched_and_turned_dark(
    page: Page, pages: dict[Path, _Page], width: int
) -> None:
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(
        next(path for path in pages if path.name == "3-check-an-answer.html").as_uri()
    )
    if width < 700:
        icon = (
            page.locator("#navbar-collapse")
            .locator("xpath=..")
            .locator(".navbar-toggler-icon")
        )
        ink = page.evaluate("getComputedStyle(document.body).color")
        assert (
            icon.evaluate("icon => getComputedStyle(icon).backgroundColor") == ink
        )  # it was white on white
        icon.click()
    page.locator("#theme-menu").click()
    page.locator('[data-bs-theme-value="dark"]').click()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    page.locator('[data-bs-target="#mkdocs_search_modal"]').click()
    for words, found in (
        ("gradescope", "Gradescope"),
        ("regrade", "Teachers|Grade a class|Decide"),
        ("partial credit", "Teachers|Grade a class|Decide"),
    ):
        page.locator("#mkdocs-search-query").fill("")
        page.locator("#mkdocs-search-query").press_sequentially(words)
        results = page.locator("#mkdocs-search-results")
        expect(results).to_contain_text(re.compile(found, re.IGNORECASE))
        expect(results.locator("article").first).to_be_visible()
    assert wrong == []


def test_no_page_is_wider_than_a_telephone(
    page: Page, pages: dict[Path, _Page]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    too_wide = {}
    for path in sorted(pages):
        page.goto(path.as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            too_wide[path.name] = width
    assert too_wide == {}


def test_mathematics_is_typeset(pages: dict[Path, _Page]) -> None:
    page = next(path for path in pages if path.name == "theorems.html").read_text()
    assert page.count("<math ") > 100
    assert "$" not in page


def test_every_chapter_is_a_notebook_too(pages: dict[Path, _Page]) -> None:
    chapters = [path for path in pages if path.parent.name == "tutorial"]
    written = list((ROOT / "docs" / "tutorial").glob("*.md"))
    assert len(chapters) == len(written) >= 6
    assert all(path.with_suffix(".ipynb").is_file() for path in chapters)


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra 'site' is not installed")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[there](nowhere.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: a test\nstrict: true\n")
    ran = _build(tmp_path / "out", tmp_path / "mkdocs.yml")
    assert ran.returncode != 0
    assert "nowhere.md" in ran.stderr


def test_the_architecture_is_drawn_as_it_is() -> None:
    drawn = runpy.run_path(str(SITE / "architecture.py"))["drawing"]()
    assert (ROOT / "docs" / "contributing" / "architecture.svg").read_text() == drawn, (
        "draw it anew: python docs/site/architecture.py"
    )


def test_every_package_is_described() -> None:
    told = (ROOT / "docs" / "contributing" / "architecture.md").read_text()
    module = runpy.run_path(str(SITE / "architecture.py"))
    packages = module["packages"]()
    assert packages == set(module["PURPOSES"])
    assert [package for package in sorted(packages) if f"`{package}`" not in told] == []


def test_the_table_of_public_names_is_up_to_date() -> None:
    made = runpy.run_path(str(SITE / "api_table.py"))
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    assert made["with_table"](page) == page, "run python docs/site/api_table.py"
    assert all(f"| `{name}` |" in page for name in ("design", "verify", "watch"))
