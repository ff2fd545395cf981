"""Write the gallery of exercises: every exercise that comes along, with a right answer and a wrong one from its file.

    python docs/site/gallery.py     writes docs/reference/exercises.md

A test compares the page with the files.
"""

from __future__ import annotations

from pathlib import Path

from headwright.grading.exercise import Exercise, load_exercises

PAGE = Path(__file__).parents[1] / "reference" / "exercises.md"
KINDS = {
    "keys": "Keys, queries and patterns",
    "tokens": "Self-attention on given tokens",
    "matrices": "Matrices of any size",
    "integers": "Positions",
    "counting": "Counting parameters, bytes and operations",
    "by_hand": "By hand",
    "gradients": "Gradients, and values of functions of open arrays",
    "numeric_design": "Queries and keys as numbers",
}
HEAD = """# The exercises

`headwright check` knows these; `headwright exercises ID` prints one as students see it, and
[an exercise of your own](../guides/exercises.md) is one file. The answers are samples from the files: the right one is
proved, the wrong one refuted. They are for the linter, and no verdict is read from them. This page is written by
`python docs/site/gallery.py`.
"""


def gallery() -> str:
    """The page."""
    exercises = sorted(load_exercises().values(), key=lambda exercise: exercise.id)
    parts = [HEAD]
    for kind, title in KINDS.items():
        ours = [exercise for exercise in exercises if exercise.kind_name == kind]
        parts.append(f"## {title}\n\n{len(ours)} exercises of the kind `[{kind}]`.\n")
        parts += [entry(exercise) for exercise in ours]
    return "\n".join(parts)


def entry(exercise: Exercise) -> str:
    """One exercise: its statement, and an answer of each sort."""
    lines = [f"### {exercise.title}", "", f"`{exercise.id}`", ""]
    lines += [exercise.statement.strip(), ""]
    for word, answers in (
        ("Right", exercise.samples.right),
        ("Wrong", exercise.samples.wrong),
    ):
        shown = ", ".join(f"`{formula}`" for formula in answers[0])
        lines.append(f"- {word}: {shown}")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(gallery())
