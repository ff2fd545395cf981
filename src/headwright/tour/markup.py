r"""The words of a chapter: for a terminal as plain text, for a page with formulas typeset and numbers linked.

$q = \lambda k_a|q = lambda k_a$    a formula: in LaTeX for the page, in plain letters for the terminal
«0.168»                             a number that the chapter's first command prints
«0.168@2»                           a number that its second command prints
"""

from __future__ import annotations

import re

from headwright.check.report.typeset import lettered, typeset

FORMULA = re.compile(r"\$([^$|]+)\|([^$]+)\$")
NUMBER = re.compile(r"«([^«»@]+)(?:@(\d))?»")


def plain(text: str) -> str:
    r"""For a terminal.

    >>> plain(r"With $\lambda|lambda$ = «0.5@2» it holds.")
    'With lambda = 0.5 it holds.'
    """
    return NUMBER.sub(r"\1", FORMULA.sub(r"\2", text))


def numbers(text: str) -> list[tuple[str, int]]:
    """The linked numbers, each with the place of its command, from 0 on.

    >>> numbers("«0.5» and «3,327@2»")
    [('0.5', 0), ('3,327', 1)]
    """
    return [(number, int(place or 1) - 1) for number, place in NUMBER.findall(text)]


def as_html(text: str, chapter: int) -> str:
    """For the page: a number leads to the command that gives it.

    >>> as_html("a < «0.5»", 3)
    'a &lt; <a class="number" href="#again-3-1" title="the command that gives this">0.5</a>'
    """
    parts = FORMULA.split(text)  # words, LaTeX, plain, words, ...
    shown = []
    for words, latex in zip(parts[::3], [*parts[1::3], ""], strict=True):
        shown.append(NUMBER.sub(lambda found: _link(found, chapter), lettered(words)))
        if latex:
            shown.append(typeset(latex))
    return "".join(shown)


def _link(found: re.Match[str], chapter: int) -> str:
    place = f"again-{chapter}-{found.group(2) or 1}"
    return f'<a class="number" href="#{place}" title="the command that gives this">{found.group(1)}</a>'
