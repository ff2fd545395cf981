"""Exercises as a page: statements with typeset formulas, and a sheet to start from."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headwright.check.telling.report import page
from headwright.check.telling.typeset import typeset

if TYPE_CHECKING:
    from headwright.check.exercise import Exercise


def statements(exercises: Sequence[Exercise]) -> str:
    """A page with the statements of these exercises.

    >>> from headwright.check.exercise import load_exercises
    >>> "<math" in statements([load_exercises()["averaging-two"]])
    True
    """
    cards = "\n".join(_card(exercise) for exercise in exercises)
    return page("Exercises", f"<header><h1>Exercises</h1></header>\n<main>\n{cards}\n</main>")


def sheet(exercise: Exercise) -> str:
    """The beginning of an answer sheet, to copy.

    >>> from headwright.check.exercise import load_exercises
    >>> print(sheet(load_exercises()["averaging-two"]))
    ## averaging-two
    <BLANKLINE>
    $$q = $$
    """
    formula = exercise.skeleton or "\n".join(f"{name} = " for name in exercise.names)
    return f"## {exercise.id}\n\n" + "\n".join(f"$${line}$$" for line in formula.strip("\n").split("\n"))


def as_json(exercise: Exercise) -> dict[str, Any]:
    """What `headwright exercises --json` says of one."""
    return {
        "id": exercise.id,
        "title": exercise.title,
        "statement": exercise.statement.strip(),
        "names": list(exercise.names),
        "goals": list(exercise.goals),
        "sheet": sheet(exercise),
    }


def _card(exercise: Exercise) -> str:
    goals = "".join(f"<li>{typeset(goal)}</li>" for goal in exercise.goals)
    checked = f'<p class="where">What is checked</p><ul>{goals}</ul>' if goals else ""
    name = html.escape(exercise.id)
    return (
        f'<article id="{name}" aria-labelledby="title-{name}"><h2 id="title-{name}">{html.escape(exercise.title)}</h2>'
        f'<p class="where"><code>{name}</code></p><div class="statement">{prose(exercise.statement)}</div>'
        f'{checked}<details class="source"><summary>an answer sheet</summary>'
        f"<pre>{html.escape(sheet(exercise))}</pre></details></article>"
    )


def prose(markdown: str) -> str:
    """Markdown as HTML; what looks like HTML in it is text.

    >>> prose("a < b")
    '<p>a &lt; b</p>\\n'
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(latex: str, how: dict[str, Any]) -> str:
        return typeset(latex, display=bool(how["display_mode"]))

    parser = MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, double_inline=True, renderer=formula)
    return str(parser.render(markdown))
