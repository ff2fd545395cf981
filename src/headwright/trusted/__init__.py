"""Read this to believe us: the checker of certificates. Standard library only, no tolerance anywhere.

numbers       exact rationals; exp, ln, square root and the normal tail, from the sides that are asked for
keys          the keys as exact integers, bound to the certificate by their digest
certificate   the JSON document as data: anything not exactly of the format is refused
world         what the keys may be, and how they look through a query
passes        one pass over the keys for all sums that are needed, in several processes
bound         why no query is shorter, or why there is none
words         what was proved, as a sentence that says all of the statement
verify        accepts a certificate only where its statement is certainly true
heads         the same for whole heads: a folder of its own
"""
