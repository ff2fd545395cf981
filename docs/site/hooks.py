"""Hooks that MkDocs calls by name: theme, mathematics, notebooks, navigation, and the generated reference pages."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from markdown.extensions.toc import slugify
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

import headwright
from headwright import cli, theme
from mathematics import Examples, Mathematics
from notebooks import CHAPTERS, DOCS, written

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((\.\./[^)\s]*)\)")
PAGE = re.compile(r"\[([^\]]+)\]\((?!\.\.|https?:)([^)#]+\.md)\)")
BOOTSTRAP = {
    "body-bg": "var(--paper)",
    "body-color": "var(--ink)",
    "body-font-family": "var(--font)",
    "heading-color": "var(--ink)",
    "font-monospace": "var(--mono)",
    "code-color": "var(--ink)",
    "border-color": "var(--line)",
    "tertiary-bg": "var(--card)",
    "secondary-color": "var(--quiet)",
    "emphasis-color": "var(--ink)",
}
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Mathematics, for every page; and the navigation."""
    config.markdown_extensions += [
        Mathematics(),
        Examples(),
    ]  # Markdown takes instances too
    config.mdx_configs["toc"]["slugify"] = anchor
    config.nav = navigation(Path(DOCS, "README.md").read_text())
    return config


def anchor(heading: str, between: str) -> str:
    """The name of a heading in addresses; it begins with a letter, since scripts of the theme look it up as a selector.

    >>> anchor("3. Check an answer", "-")
    'check-an-answer'
    """
    made: str = slugify(heading, between)
    return made.lstrip("0123456789-") or made


def navigation(contents: str) -> list[dict[str, Any]]:
    """The pages that lists under headings link to, each once and under its heading.

    >>> navigation("## Verbs\\n- [Check](check.md), [for teachers](teachers.md)\\n## Words\\nnone")
    [{'Start': 'README.md'}, {'Verbs': [{'Check': 'check.md'}, {'For teachers': 'teachers.md'}]}]
    """
    found: list[dict[str, Any]] = [{"Start": "README.md"}]
    for section in re.split(r"^## ", contents, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        links = {
            page: name[0].upper() + name[1:]
            for name, page in reversed(PAGE.findall(text))
        }
        if links:
            found.append(
                {heading: [{name: page} for page, name in reversed(links.items())]}
            )
    return found


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The colours of charts, reports and the lab; and beside each chapter of the tutorial, the same as a notebook."""
    files.append(File.generated(config, "site/theme.css", content=themed()))
    for chapter in CHAPTERS:
        name = f"tutorial/{chapter.with_suffix('.ipynb').name}"
        files.append(File.generated(config, name, content=written(chapter)))
    return files


def themed() -> str:
    """The theme where Bootstrap says by an attribute whether it is dark, and Bootstrap's own colours made of it.

    >>> "--bs-body-bg: var(--paper);" in themed(), themed().count("--ink: ")
    (True, 2)
    """
    modes = "".join(
        f'[data-bs-theme="{name}"] {{{theme.properties(mode)} }}\n'
        for name, mode in (("light", theme.LIGHT), ("dark", theme.DARK))
    )
    return f"{modes}[data-bs-theme] {{{''.join(f' --bs-{name}: {value};' for name, value in BOOTSTRAP.items())} }}\n"


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links to files outside the pages (sources, examples) become names of files: the site does not hold them."""
    here = Path(DOCS, page.file.src_uri).parent
    parts = FENCED.split(markdown)
    parts[::2] = [
        LINK.sub(lambda link: _within(here, link), part) for part in parts[::2]
    ]
    text = "".join(parts).replace("```python\n>>>", "```pycon\n>>>")
    text = text.replace("<!-- commands -->", commands()).replace(
        "<!-- names -->", names()
    )
    if Path(DOCS, page.file.src_uri) in CHAPTERS:
        name = Path(page.file.src_uri).with_suffix(".ipynb").name
        text += f"\n\n*This chapter [as a notebook]({name}).*\n"
    return text


def commands() -> str:
    """Every command with its options, from the code.

    >>> "### `headwright verify`" in commands()
    True
    """
    group = typer.main.get_command(cli.app)
    text = get_docs_for_click(
        obj=group, ctx=typer.Context(group, info_name="headwright"), name="headwright"
    )
    _, _, listed = text.partition("**Commands**:")
    return re.sub(
        r"^## ", "### ", listed.replace("```console", "```text"), flags=re.MULTILINE
    )


def names() -> str:
    """A directive of mkdocstrings for each public function, then for each class.

    >>> "::: headwright.attention.attend" in names()
    True
    """
    things = [
        thing
        for name in headwright.__all__
        if hasattr(thing := getattr(headwright, name), "__qualname__")
    ]
    things.sort(key=inspect.isclass)
    return "\n\n".join(
        f"::: {thing.__module__}.{thing.__qualname__}" for thing in things
    )


def on_post_page(output: str, **_: Any) -> str:
    """The theme's switch between light and dark looks for style sheets of highlight.js, and stops without them."""
    return output.replace(
        "</head>",
        '<style id="hljs-light"></style><style id="hljs-dark"></style></head>',
        1,
    )


def on_post_build(config: MkDocsConfig) -> None:
    """What is searched, as a script: a page that is read from the disk may fetch no JSON."""
    index = Path(config.site_dir, "search", "search_index.json")
    index.with_suffix(".js").write_text(f"var SEARCH_INDEX = {index.read_text()};\n")


def _within(here: Path, link: re.Match[str]) -> str:
    target = (here / link[2].partition("#")[0]).resolve()
    if target.is_relative_to(DOCS):
        return link[0]
    name = f"`{target.relative_to(DOCS.parent)}`"
    return link[1] if link[1].strip("`") in name else f"{link[1]} ({name})"
