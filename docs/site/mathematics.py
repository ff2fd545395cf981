"""Mathematics between dollars as MathML: typeset by the browser, without a script or a network.

Code is left alone, since Markdown has taken it out before this looks. A formula that cannot be read ends the build.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latex2mathml.converter import convert
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

if TYPE_CHECKING:
    from markdown import Markdown

DISPLAYED = r"(?<!\\)\$\$(?P<formula>.+?)\$\$"
INLINE = r"(?<![\\$\w])\$(?=[^\s$])(?P<formula>[^$\n]*?[^\s$\\]|[^\s$\\])\$(?![\w$])"
NAMED = re.compile(r"(<mi>(?:ln|exp|tanh|sin|cos)</mi>)(?!<mo stretchy=\"false\">&#x00028;)")
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
        md.inlinePatterns.register(Formula(DISPLAYED, "block", md), "displayed formula", AFTER_CODE + 1)
        md.inlinePatterns.register(Formula(INLINE, "inline", md), "inline formula", AFTER_CODE)
