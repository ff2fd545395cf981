"""An autograder for Gradescope: a folder of plain files, filled in for one assignment.

setup.sh          installs Headwright when Gradescope builds the assignment
wheels/           Headwright itself: the grader runs the code that was packed, and no other of that name
requirements.txt  what Headwright needs
run_autograder    checks one submission (see `headwright.check.autograder.gradescope`)
assignment.toml   the exercises expected, their points, and what students are told
exercises/        the teacher's own exercises, if there are any
README.md         what to do with it
"""

from headwright.check.autograder.assignment import make_autograder

__all__ = ["make_autograder"]
