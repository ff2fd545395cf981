"""Read this to believe us: the checker of certificates. Standard library only, no tolerance anywhere.

numbers       exact rationals; exp, ln, square root and the normal tail, each from the side that is asked for
keys          the keys as exact integers, bound to the certificate by their digest
certificate   the JSON document as data: anything not exactly of the format is refused
world         what the keys may be, as the sets that a statement names
matrices      exact matrices; run: what a head does with tokens that may be elsewhere
head          the same for whole heads: weights that keep rules, bounds of their size, rules that none keep, circuits
verify        accepts a certificate only where its statement is certainly true, and says it in words
"""
