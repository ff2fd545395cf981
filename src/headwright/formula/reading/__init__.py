"""From the source to the tree: words, then terms and statements.

spellings    the words and signs of the language, in all their ways of being written
lexer        the source cut into words, in their order: brackets, spaces and breaks
parser       words into a tree; statements joins what is said, dots writes sums with dots out
"""
