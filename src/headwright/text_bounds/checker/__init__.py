"""Verify a statement about every text from the weights, by independent arithmetic.

It shares nothing with what found the statement but the numbers of the first layer and the arithmetic of balls
(`numerics`). Every token is tried at every free place, for every query token that the statement is about: one pass over
vocabulary x vocabulary x places.

vectors       the queries and keys of tokens at places, with bounds on their errors
max_scores    upper bounds on the highest score of each query with any key
question      what a statement asks: which scores, and how weights follow from them
verify        all of it: fast for all query tokens, more precisely for those that stay undecided
doubt         why a statement is not accepted
"""

from headwright.text_bounds.checker.doubt import DoubtError
from headwright.text_bounds.checker.verify import check_statement, judge_statement

__all__ = ["DoubtError", "check_statement", "judge_statement"]
