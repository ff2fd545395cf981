"""Pages for users import only what is public: modules that docs/reference/support.md lists, and what they export."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PUBLIC = tuple(
    re.findall(
        r"^\| `(headwright[a-z_.]*)` \|",
        (ROOT / "docs" / "reference" / "support.md").read_text(),
        re.MULTILINE,
    )
)
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "docs" / "README.md",
        *(ROOT / "docs" / "guides").glob("*.md"),
        *(ROOT / "docs" / "tutorial").glob("*.md"),
        *(ROOT / "docs" / "reference").glob("*.md"),
        *(ROOT / "docs" / "explanation").glob("*.md"),
    ]
)
BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"python3? -c '([^']*)'|python3? -c \"([^\"]*)\"")


def _snippets(page: str) -> Iterator[str]:
    """The Python of a page: its sessions, its blocks without prompts, and what its shell commands run."""
    parser = doctest.DocTestParser()
    for block in BLOCK.findall(page):
        if ">>>" not in block:
            yield block
    yield "".join(example.source for example in parser.get_examples(page))
    for single, double in COMMAND.findall(page):
        yield single or double


def _private_uses(code: str) -> list[str]:
    """Imports and attributes of headwright that are no public names."""
    tree = ast.parse(code)
    aliases = {"headwright": "headwright"}
    private = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.partition(".")[0] == "headwright":
                    aliases[name.asname or "headwright"] = (
                        name.name if name.asname else "headwright"
                    )
                    if name.name not in PUBLIC:
                        private.append(name.name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "headwright"
        ):
            for name in node.names:
                if not _is_public(f"{node.module}.{name.name}"):
                    private.append(f"{node.module}.{name.name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            root, dot, rest = owner.partition(".")
            module = f"{aliases[root]}{dot}{rest}" if root in aliases else ""
            if module in PUBLIC and not _is_public(f"{module}.{node.attr}"):
                private.append(f"{module}.{node.attr}")
    return private


def _is_public(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if name in PUBLIC or attribute == "__version__":
        return True
    return module in PUBLIC and attribute in import_module(module).__all__


def test_the_modules_that_are_listed_exist() -> None:
    assert "headwright" in PUBLIC
    assert len(PUBLIC) > 5
    for module in PUBLIC:
        assert import_module(module).__all__, module


def test_modules_that_headwright_exports_are_public() -> None:
    headwright = import_module("headwright")
    modules = {
        f"headwright.{name}"
        for name in headwright.__all__
        if hasattr(getattr(headwright, name), "__path__")
        or getattr(headwright, name).__class__.__name__ == "module"
    }
    assert modules <= set(PUBLIC)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_uses_public_names_alone(page: Path) -> None:
    for code in _snippets(page.read_text()):
        assert _private_uses(code) == [], code


@pytest.mark.parametrize(
    "code",
    [
        "import headwright.models.load",
        "from headwright.models import load_model",
        "from headwright.positions import no_such_name",
        "import headwright as hw\nhw.statistics.gpu_kernel",
        "import headwright as hw\nhw.positions.schemes",
        "import headwright.positions as p\np.schemes",
    ],
)
def test_a_private_name_is_found(code: str) -> None:
    assert _private_uses(code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_prose_are_public(page: Path) -> None:
    """`headwright.x.y` in backticks, with or without a call."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    named = re.findall(r"`(headwright(?:\.\w+)+)", prose)
    internal = {
        "headwright.certificates.exact",
        "headwright.certificates.proved_checker",
        "headwright.json",  # a file
    }
    assert [
        name for name in named if name not in internal and not _is_public(name)
    ] == []
