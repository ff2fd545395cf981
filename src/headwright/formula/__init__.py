"""The formula language: LaTeX, plain text and Python's spelling, into one tree. Nothing is ever evaluated as code.

tree       what a formula is made of
words      the source cut into words, whatever their spelling
parse      words into a tree, with errors that point at the source
shapes     numbers, vectors and matrices told apart; products given their meaning
evaluate   the value of a tree in ball arithmetic: a proof, not an estimate
show       a tree written out again: LaTeX, plain text, MathML
"""

from headwright.formula.errors import FormulaError
from headwright.formula.parse import parse, parse_lines
from headwright.formula.show import latex, mathml, plain

__all__ = ["FormulaError", "latex", "mathml", "parse", "parse_lines", "plain"]
