"""Names of modules and files in backticks: in pages, docstrings and comments of the whole project."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwright"
CODE = ("src", "tests", "bench", "fuzz", "training", "docs", "proofs")
# What is history, and names what there was; and the recipes, which name files that the reader makes.
WITHOUT = (
    "CHANGELOG.md",
    "bench/results/",
    "docs/contributing/recipes.md",
    "docs/contributing/kinds.md",
)
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
DOTTED = re.compile(r"headwright(?:\.[A-Za-z_]\w*)+")
FILE = re.compile(
    r"[\w.-]+(?:/[\w.-]+)*\.(?:py|pyi|md|js|mjs|v|ml|sh)|(?:[\w.-]+/)+[\w.-]*"
)


def texts() -> Iterator[tuple[Path, int, str]]:
    """Each page as it is, and of code each docstring and comment, with the line where it begins."""
    for path in sorted(ROOT.glob("*.md")):
        if path.name not in WITHOUT:
            yield path, 1, path.read_text()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.relative_to(ROOT).as_posix().startswith(WITHOUT):
                continue
            if path.suffix == ".md":
                yield path, 1, path.read_text()
            elif path.suffix in (".py", ".pyi"):
                yield from _docstrings(path)
                yield from _comments(path)


def _docstrings(path: Path) -> Iterator[tuple[Path, int, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            docstring = ast.get_docstring(node)
            if docstring is not None:
                yield path, node.body[0].lineno, docstring


def _comments(path: Path) -> Iterator[tuple[Path, int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield path, token.start[0], token.string


def without_blocks(text: str) -> str:
    """A page without its code blocks, line by line as it was."""
    return re.sub(
        r"^```.*?^```",
        lambda block: "\n" * block[0].count("\n"),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )


@cache
def references() -> tuple[tuple[Path, int, str], ...]:
    """Each name of a module or of a file in backticks, with the line of its page or of its docstring."""
    named = []
    for path, line, text in texts():
        for match in QUOTED.finditer(without_blocks(text)):
            name = match[1]
            at = line + text[: match.start()].count("\n")
            if DOTTED.fullmatch(name.partition("(")[0]) or FILE.fullmatch(name):
                named.append((path, at, name))
    return tuple(named)


def exists(name: str, path: Path) -> bool:
    """Whether there is a module or a file of that name; a path may begin at any folder of the project."""
    module = name.partition("(")[0]
    if DOTTED.fullmatch(module):
        return module_exists(module)
    if (path.parent / name).exists():
        return True
    return any(known.endswith(f"/{name.rstrip('/')}") for known in _paths())


@cache
def _paths() -> frozenset[str]:
    """Every file and folder of the project, as a path that begins with a slash."""
    return frozenset(
        f"/{path.relative_to(ROOT).as_posix()}"
        for folder in (*CODE, "examples")
        for path in [ROOT / folder, *(ROOT / folder).rglob("*")]
        if "__pycache__" not in path.parts
    )


def module_exists(name: str) -> bool:
    """Whether a dotted name leads to a module, or to a name that a module defines or exports."""
    place = SOURCE
    parts = name.split(".")[1:]
    while parts:
        head = parts[0]
        if (place / head).is_dir():
            place = place / head
        elif (place / f"{head}.py").exists():
            place = place / f"{head}.py"
        else:
            break
        parts.pop(0)
    if not parts:
        return True
    files = [place] if place.is_file() else [*place.glob("__init__.py*")]
    return any(
        re.search(rf"\b{re.escape(parts[0])}\b", file.read_text()) for file in files
    )
