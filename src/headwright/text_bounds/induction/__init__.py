"""Induction through two attention layers, in every text of a group (a, b, c, j).

weights    the numbers of a model of two attention layers and nothing else
groups     groups of texts, and what is asked of them
search     tables in float32: the worst text, and how to cut a group so that a bound of each part suffices
statement  what is claimed of groups, as a document
checker    verifies a statement, by tables and arithmetic of its own
results    what was found of groups, as data
prove      groups of a model: searched, checked, and run in the model
parts      finished parts of a long run, in files
"""
