"""Two additions to Markdown: mathematics between dollars as MathML, and examples in docstrings as code.

MathML is typeset by the browser, without a script or a network. Code is left alone, since Markdown has taken it out
before. A formula that cannot be read ends the build.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latex2mathml.converter import convert
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

if TYPE_CHECKING:
    from markdown import Markdown

DISPLAYED = r"(?<!\\)\$\$(?P<formula>.+?)\$\$"
INLINE = r"(?<![\\$\w])\$(?=[^\s$])(?P<formula>[^$\n]*?[^\s$\\]|[^\s$\\])\$(?![\w$])"
NAMED = re.compile(
    r"(<mi>(?:ln|exp|tanh|sin|cos)</mi>)(?!<mo stretchy=\"false\">&#x00028;)"
)
SPACE = r'\1<mspace width="0.17em"/>'  # ln p, not lnp
AFTER_CODE = 185  # Markdown's own patterns: code 190, backslashes 180


class Formula(InlineProcessor):
    """One kind of formula: in the line, or displayed."""

    def __init__(self, pattern: str, display: str, md: Markdown) -> None:
        """`display` is MathML's word for it."""
        super().__init__(pattern, md)
        self.compiled_re = re.compile(pattern, re.DOTALL)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: ARG002, N802
        """The formula, put where Markdown does not look at it again."""
        typeset = convert(m["formula"].strip(), display=self.display)
        return self.md.htmlStash.store(NAMED.sub(SPACE, typeset)), m.start(0), m.end(0)


class Mathematics(Extension):
    """$...$ and $$...$$."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Both kinds; the displayed one first, since its dollars look like two of the other."""
        md.inlinePatterns.register(
            Formula(DISPLAYED, "block", md), "displayed formula", AFTER_CODE + 1
        )
        md.inlinePatterns.register(
            Formula(INLINE, "inline", md), "inline formula", AFTER_CODE
        )


class Sessions(Preprocessor):
    """Examples of a docstring (>>> ...) become fenced code; Markdown would read a quotation."""

    def run(self, lines: list[str]) -> list[str]:
        """A fence around each paragraph that begins with >>>."""
        made: list[str] = []
        fenced = inside = False
        for line in [*lines, ""]:
            fenced ^= line.startswith("```")
            if not inside and not fenced and line.startswith(">>> "):
                made.append("```pycon")
                inside = True
            elif inside and not line.strip():
                made.append("```")
                inside = False
            made.append(line)
        return made


class Examples(Extension):
    """Sessions, before Markdown's own preprocessors."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Fenced code is taken out at 25."""
        md.preprocessors.register(Sessions(md), "sessions", 26)
