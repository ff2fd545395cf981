"""The formula language: LaTeX, plain text and Python's spelling, into one tree. Nothing is ever evaluated as code.

tree       what a formula is made of
spellings  the words and signs of the language, in all their ways of being written
lexer      the source cut into words, in their order: brackets, spaces and breaks
parser     words into a tree; dots: sums with dots written out
statements what is said of terms, joined
parse      the source into a tree, with errors that point; macros; formulas that go on from the one before
shapes     numbers, vectors and matrices told apart, products given their meaning
evaluate   the value of a tree in ball arithmetic: a proof, not an estimate
show       a tree written out again: LaTeX, plain text
errors     what is said of a formula that cannot be read; how much a formula may hold
"""

from headwright.formulas.errors import FormulaError
from headwright.formulas.parse import goes_on, joined, macros, parse, parse_each
from headwright.formulas.show import latex, plain

__all__ = [
    "FormulaError",
    "goes_on",
    "joined",
    "latex",
    "macros",
    "parse",
    "parse_each",
    "plain",
]
