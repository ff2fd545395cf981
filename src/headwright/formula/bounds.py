"""How much a formula may hold. Whatever is larger is refused before any work is done on it."""

from typing import Final

LONGEST: Final = 20_000  # characters of a source
DEEPEST: Final = 60  # brackets, exponents, roots and signs inside one another
TALLEST: Final = DEEPEST  # levels of the tree: a/b/c/... grows by one with every stroke
LARGEST: Final = 5_000  # nodes of a tree
MOST_DIGITS: Final = 400  # digits of a number as written
LARGEST_EXPONENT: Final = 400  # numbers lie between 1e-400 and 1e401, or are 0
MOST_PRIMES: Final = 9  # primes after a name
