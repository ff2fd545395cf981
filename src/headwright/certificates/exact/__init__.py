"""The checker of certificates: standard library only, no tolerance anywhere.

To follow one certificate through the code, read in this order:

keys          the keys as exact numbers, bound to the certificate by their digest
values        JSON and numbers, read strictly and exactly
certificate   the JSON document as data: anything not exactly of the format is refused
cost          what checking it will take, estimated before any of it is checked
words         what was proved, as a sentence that says all of the statement
numbers       bounds of exp, ln, the square root and the normal tail
scores        the scores that one query gives the keys, as whole numbers
targets_met       these queries meet the targets: the least weight of each target
weights       how multipliers and distributions weigh keys
bound         no shorter query meets the targets, or none at all
verify        the verdict: accepts a certificate only where its statement is certainly true
heads         the same for whole heads: a folder of its own

Each function's docstring states what it establishes, and its comments name the inequality that is
used. Bounds are named for their side: `low`, `below` and `least` are at most the number that is
meant, `high`, `above` and `most` at least. What is rounded is rounded so that a bound stays one.
"""
