"""Verify a statement about every text from the weights, by independent arithmetic.

It shares nothing with what found the statement but the numbers of the first layer. Every token is tried at every free
place, for every query token that the statement is about: one pass over vocabulary x vocabulary x places.

error_bounds  numbers with a bound on their distance from the exact ones, entry by entry
vectors       the queries and keys of tokens at places, with such bounds
max_scores    upper bounds on the highest score of each query with any key
question      what a statement asks: which scores, and how weights follow from them
verify        all of it: fast for all query tokens, more precisely for those that stay undecided
next_token    induction through two layers: another kind of statement, all of it
"""

from headwright.models.texts.checker.error_bounds import DoubtError
from headwright.models.texts.checker.verify import check, judged

__all__ = ["DoubtError", "check", "judged"]
