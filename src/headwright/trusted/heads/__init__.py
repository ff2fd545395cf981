"""The checker of whole heads, as exact as that of queries: W_Q, W_K and W_V that keep rules.

In the order in which to read them:

matrices      exact matrices
run           bounds of the weights and outputs of a head, for tokens that may be elsewhere
dimension     why no head of a smaller dimension attends as much
cost          what checking it will take, estimated before any of it is checked
head          weights that keep rules, bounds of their size, rules that no head keeps, circuits
"""
