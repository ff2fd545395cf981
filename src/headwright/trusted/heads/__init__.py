"""The checker of whole heads, beside that of queries and as exact: W_Q, W_K and W_V that keep rules.

matrices      exact matrices
run           what a head does with tokens that may be elsewhere
dimension     why no head of a smaller dimension attends as much
head          weights that keep rules, bounds of their size, rules that no head keeps, circuits
"""
