"""The formula language: LaTeX, plain text and Python's spelling, into one tree. Nothing is ever evaluated as code.

tree       what a formula is made of
reading/   words (spellings, lexer), terms (parser, dots) and what is said of them (statements)
parse      the source into a tree, with errors that point; macros; formulas that go on from the one before
shapes     numbers, vectors and matrices told apart, products given their meaning
evaluate   the value of a tree in ball arithmetic: a proof, not an estimate
show       a tree written out again: LaTeX, plain text
errors     what is said of a formula that cannot be read; how much a formula may hold
"""

from headwright.formula.errors import FormulaError
from headwright.formula.parse import goes_on, joined, macros, parse, parse_each, parse_lines, texts
from headwright.formula.show import latex, plain

__all__ = [
    "FormulaError", "goes_on", "joined", "latex", "macros", "parse", "parse_each", "parse_lines", "plain",
    "texts",
]  # fmt: skip
