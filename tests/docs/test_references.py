"""Every module and file that a page, a docstring or a comment names in backticks is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.references import ROOT, exists, references, texts, without_blocks

# Names of what a reader makes, or what a command or a build writes; and examples of names.
MADE = re.compile(
    r"out/|wheels/|results/results\.json|proofs/build/|huggingface/|mine/|autograder/|.*NAME|owner/name|a/b"
    r"|headwright\.(x\.y|json)|flint/__init__\.py|static/thumbs/|d\w/d\w"
)


def test_what_is_named_is_there() -> None:
    missing = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, line, name in references()
        if not MADE.match(name) and not exists(name, path)
    ]
    assert missing == []


def test_files_that_are_named_without_backticks_are_there() -> None:
    """Python files in sentences of pages, docstrings and comments; bench/tracr.py speaks of tracr's own."""
    named = re.compile(r"(?<![\w/.<>{}*-])[a-z0-9][a-z_0-9]*(?:/[a-z_0-9]+)*\.py\b")
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, _, text in texts()
        for name in named.findall(without_blocks(text))
        if path.name != "tracr.py" and not MADE.match(name) and not exists(name, path)
    ]
    assert missing == []


def test_plenty_is_found() -> None:
    assert len(list(references())) > 100


def test_what_is_not_there_is_noticed() -> None:
    page = ROOT / "docs" / "guides" / "check.md"
    for name in (
        "headwright.trusted",
        "headwright.grading.reader",
        "trusted/verify.py",
        "multipliers.py",
        "src/headwright/check/",
    ):
        assert not exists(name, page), name
    for name in (
        "headwright.grading",
        "headwright.attention.scores",
        "headwright.design(...)",
        "certificates/exact/verify.py",
        "grading/",
        "verify.py",
        "recipes.md",
    ):
        assert exists(name, page), name


def test_links_to_the_project_in_code_lead_somewhere() -> None:
    """Paths of pages, tests and benches, also without backticks, in Python, shell and proofs."""
    named = re.compile(r"\b(?:docs|tests|bench|proofs|examples)/[\w./-]+\.[a-z]+\b")
    missing = []
    for suffix in ("py", "v", "sh", "ml"):
        for folder in ("src", "tests", "bench", "fuzz", "training", "docs", "proofs"):
            for path in (ROOT / folder).rglob(f"*.{suffix}"):
                for name in named.findall(path.read_text()):
                    missing += _missing(name, path)
    assert missing == []


def _missing(name: str, path: Path) -> list[str]:
    """The name, unless it is there or is made by a test or a run."""
    in_test = path.is_relative_to(ROOT / "tests") and path.parent.name in (
        "docs",
        "referee",
    )
    if (ROOT / name).exists() or "DATE" in name or in_test:
        return []
    return [f"{path.relative_to(ROOT)}: {name}"]
