"""Measurements of each head, and how they are added over texts.

summary         sums, counts and peaks that merge; means with intervals, quantiles
first_token     the rows of a layer, with the first token and without it
robustness      how far all keys may move before another one wins a row
rounding        keys in few bits: total variation measured, and its proven bound
key_ranges      the largest numbers of keys and values, proved for every text
circuits        singular values of QK and OV, enclosed; the size of a head's output: dead heads
composition     how heads of several layers compose, from the weights
shuffling       the effect of shuffling the tokens
measure         what a measure is, and the kinds there are: means, quantiles, rounding, ranks
table           all measures: names, titles, meanings, how they are shown and computed
roles           words for what a head does, each assigned by one measure
"""
