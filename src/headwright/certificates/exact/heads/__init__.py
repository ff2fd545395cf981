"""The checker of whole heads, as exact as that of queries: W_Q, W_K and W_V that keep rules.

In the order in which to read them:

matrices        exact matrices
run             bounds of the weights and outputs of a head, for tokens that may be elsewhere
head_statement  the statement as data, read from JSON
head_words      what was proved, as sentences
gram            what least weights say of W_K^T W_Q
dimension       why no head of a smaller dimension attends as much
norm_bounds     bounds of the size of W_K^T W_Q, and of its rows
no_heads        rules that no head keeps
cost            what checking it will take, estimated before any of it is checked
head            weights that keep rules, and circuits of layers
"""
