"""From the source to the tree: words, lines, then terms and statements.

macros       what a document defines, put in place of its uses
spellings    the words and signs of the language, in all their ways of being written
lexer        the source cut into words
lines        words in their order: brackets, spaces and breaks
parser       words into a tree; statements joins what is said, dots writes sums with dots out
"""
