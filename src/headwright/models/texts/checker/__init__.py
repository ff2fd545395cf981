"""Is a statement about every text true? Looked at again from the weights, by arithmetic of its own.

It shares nothing with what found the statement but the numbers of the first layer. Every token is tried at every free
place, for every query token that the statement is about: one pass over vocabulary x vocabulary x places.

known      numbers with a bound on how far each is from the exact one, entry by entry
vectors    the queries and keys of tokens at places, so known
highest    not below the highest score of each query with any key: a fast pass, and closer ones
question   what a statement asks: which scores, and how weights come from them
looking    the table of contents: fast for all query tokens, closer for those that this leaves open
"""

from headwright.models.texts.checker.known import DoubtError
from headwright.models.texts.checker.looking import check, judged

__all__ = ["DoubtError", "check", "judged"]
