"""The HTML of each page: one frame, and what pages.toml and static/NAME.html say of it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from headwright import __version__
from headwright.grading.report.typeset import typeset

HERE = Path(__file__).parent
STATIC = HERE / "static"
FORMULA = re.compile(r"\{\{(.+?)\}\}(?!\})")  # in LaTeX
SCRIPTS = "script-src 'self'"
PYTHON_SCRIPTS = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"
LOADING = (
    '<p class="working" id="loading" role="status"><span>Loading Python</span>'
    '<progress max="1" value="0" aria-label="Loading Python"></progress></p>\n'
)
TOOLS = '<div class="tools" id="tools"></div>\n'


@dataclass(frozen=True)
class SitePage:
    """One page, as pages.toml describes it; without a title, it has the assignment's."""

    link: str
    point: str
    foot: str
    module: str
    title: str | None = None
    style: str | None = None
    runs_python: bool = True
    has_tools: bool = True


def site_pages() -> dict[str, SitePage]:
    """All pages by their names.

    >>> list(site_pages())
    ['story', 'index', 'design', 'noise', 'order', 'verify']
    """
    source = (HERE / "pages.toml").read_text(encoding="utf-8")
    return {name: SitePage(**fields) for name, fields in tomllib.loads(source).items()}


def page_html(
    name: str, pages: Mapping[str, SitePage], *, title: str, hints: str
) -> str:
    """A page with links to the others; `title`, in HTML, is the assignment's."""
    page = pages[name]
    content_file = STATIC / f"{name}.html"
    content = LOADING if page.runs_python else ""
    if content_file.exists():
        content += content_file.read_text(encoding="utf-8")
    head = ""
    if page.style is not None:
        head += f'<link rel="stylesheet" href="static/{page.style}.css">\n'
    if page.runs_python:
        head += '<script type="module" src="static/loading.js"></script>\n'
    head += f'<script type="module" src="static/{page.module}.js"></script>'
    frame = Template((STATIC / "page.html").read_text(encoding="utf-8"))
    return frame.substitute(
        name=name,
        hints=hints,
        scripts=PYTHON_SCRIPTS if page.runs_python else SCRIPTS,
        title=page.title or title,
        head=head,
        home="" if name == "index" else ' href="index.html"',
        nav=_navigation(pages, name),
        tools=TOOLS if page.has_tools else "",
        point=_with_formulas(page.point),
        content=_with_formulas(content.rstrip("\n")),
        version=__version__,
        foot=page.foot,
    )


def _with_formulas(text: str) -> str:
    return FORMULA.sub(lambda formula: typeset(formula[1]), text)


def _navigation(pages: Mapping[str, SitePage], here: str) -> str:
    """Links to all pages, of which one is the current one.

    Where answers are checked, the views of attention are one link: few stops lead to the answer.
    """
    shown = {name: page.link for name, page in pages.items()}
    if here == "index":
        shown["design"] = "Design, noise, order"
        del shown["noise"], shown["order"]
    links = ""
    for name, words in shown.items():
        if name != here:
            links += f'<a href="{name}.html">{words}</a>'
        else:
            links += f'<span aria-current="page">{words}</span>'
    return f'<nav aria-label="Views">{links}</nav>'
